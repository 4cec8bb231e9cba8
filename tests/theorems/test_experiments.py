"""Experiments: verdicts follow from criteria, and the commands that run and show them."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from typer.testing import CliRunner

import theorems.experiments
from lemmata.cli import app
from tests.numerics.runs.items import SETTINGS, square
from theorems.experiments import Criterion, Experiment, Findings, recomputed, run_experiment, write_summary

STATEMENTS = ("induction-heads:fig-8.1", "induction-heads:fig-8.3")


def findings(settings, results):
    total = sum(result["square"] for result in results.values())
    criteria = (
        Criterion(STATEMENTS[0], "the squares add up to 14", total == 14),
        Criterion(STATEMENTS[0], "there are ten items", len(settings) == 10),
        Criterion(STATEMENTS[1], "there are items", len(settings) > 0),
    )
    return Findings({"sum of squares": total}, criteria)


TOY = Experiment("toy", STATEMENTS, "A toy", {"quick": SETTINGS, "full": {"one": {"seed": 1}}}, square, findings)


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setattr(theorems.experiments, "load_experiments", lambda: {"toy": ("induction_heads", TOY)})


def test_the_verdict_follows_from_the_criteria(toy, tmp_path):
    summary = run_experiment(TOY)
    assert summary["verdicts"] == {STATEMENTS[0]: "partly", STATEMENTS[1]: "reproduced"}
    assert run_experiment(TOY, "full")["verdicts"][STATEMENTS[0]] == "not reproduced"
    write_summary(summary, tmp_path / "toy.json")
    read = json.loads((tmp_path / "toy.json").read_text())
    assert read == summary == recomputed(read)
    read["items"]["seed-3"]["result"]["square"] = 10
    assert recomputed(read)["numbers"] != read["numbers"]
    del read["items"]["seed-3"]
    with pytest.raises(ValueError, match="do not have the settings of the scale quick"):
        recomputed(read)


def test_bad_experiments_are_refused():
    with pytest.raises(ValueError, match="which the ledger lacks"):
        Experiment("toy", ("induction-heads:fig-9",), "", TOY.scales, square, findings)
    with pytest.raises(ValueError, match="for each of the scales quick and full"):
        Experiment("toy", STATEMENTS, "", {"quick": SETTINGS}, square, findings)
    with pytest.raises(ValueError, match="There is no scale 'huge'"):
        run_experiment(TOY, "huge")


def test_the_commands(tmp_path, toy, monkeypatch):
    listed = {"toy": ("induction_heads", TOY)}
    monkeypatch.setattr("lemmata.commands.experiment.load_experiments", lambda: listed)
    monkeypatch.setattr("lemmata.commands.experiment.process_pool", ThreadPoolExecutor)
    runner = CliRunner()
    result = runner.invoke(app, ["experiment", "run", "toy", "--out", str(tmp_path)])
    assert result.exit_code == 0
    assert "induction-heads:fig-8.1: partly" in result.stdout
    assert "sum of squares: 14" in result.stdout
    assert "The quick scale tries the experiment out" in result.stdout
    assert (tmp_path / "toy-quick" / "seed-2.json").exists()
    again = runner.invoke(app, ["experiment", "run", "toy", "--out", str(tmp_path), "--json"])
    assert json.loads(again.stdout) == json.loads((tmp_path / "toy.json").read_text())
    assert "induction-heads:fig-8.3" in runner.invoke(app, ["experiment", "list"]).stdout
    assert json.loads(runner.invoke(app, ["experiment", "list", "--json"]).stdout)[0]["name"] == "toy"
    shown = runner.invoke(app, ["experiment", "show", "toy"])
    assert shown.exit_code == 2
    assert "No results of toy are committed yet" in shown.stderr
    for arguments, reason in (
        (["run", "nothing"], "There is no experiment 'nothing'"),
        (["run", "toy", "--scale", "huge"], "There is no scale 'huge'"),
        (["show", "nothing"], "There is no experiment 'nothing'"),
    ):
        refused = runner.invoke(app, ["experiment", *arguments])
        assert refused.exit_code == 2
        assert reason in refused.stderr


def test_a_failed_item_ends_the_command_with_1(tmp_path, monkeypatch):
    bad = {f"seed-{seed}": {"seed": seed, "bad": 1} for seed in range(2)}
    broken = Experiment("broken", STATEMENTS, "", {"quick": bad, "full": bad}, square, findings)
    monkeypatch.setattr(theorems.experiments, "load_experiments", lambda: {"broken": ("induction_heads", broken)})
    monkeypatch.setattr("lemmata.commands.experiment.process_pool", ThreadPoolExecutor)
    result = CliRunner().invoke(app, ["experiment", "run", "broken", "--out", str(tmp_path)])
    assert result.exit_code == 1
    assert "1 of 2 items failed" in result.stderr
    assert (tmp_path / "broken-quick" / "seed-0.json").exists()
    assert not (tmp_path / "broken.json").exists()
