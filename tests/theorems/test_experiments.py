"""Experiments: verdicts follow from criteria, and the commands that run and show them."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from typer.testing import CliRunner

import lemmata.theorems.experiments
from lemmata.cli import app
from lemmata.numerics.runs.comparison import first_difference
from lemmata.theorems.experiments import (
    Criterion,
    Experiment,
    Findings,
    assert_begins,
    code_of,
    recomputed,
    run_experiment,
    slice_again,
    write_summary,
)
from tests.numerics.runs.items import SETTINGS, square

STATEMENTS = ("induction-heads:figure-8.1", "induction-heads:figure-8.3")


def findings(settings, results):
    total = sum(result["square"] for result in results.values())
    criteria = (
        Criterion(STATEMENTS[0], "the squares add up to 14", total == 14),
        Criterion(STATEMENTS[0], "there are ten items", len(settings) == 10),
        Criterion(STATEMENTS[1], "there are items", len(settings) > 0),
    )
    return Findings({"sum of squares": total}, criteria)


SLICE = ("one", {"seed": 1})
TOY = Experiment("toy", STATEMENTS, "A toy", {"quick": SETTINGS, "full": {"one": {"seed": 1}}}, square, findings, SLICE)


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setattr(lemmata.theorems.experiments, "load_experiments", lambda: {"toy": ("induction_heads", TOY)})


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
        Experiment("toy", ("induction-heads:figure-9",), "", TOY.scales, square, findings, SLICE)
    with pytest.raises(ValueError, match="for each of the scales quick and full"):
        Experiment("toy", STATEMENTS, "", {"quick": SETTINGS}, square, findings, SLICE)
    for wrong in (("two", {}), ("one", {"steps": 3})):
        with pytest.raises(ValueError, match="The slice of toy needs an item of the full scale"):
            Experiment("toy", STATEMENTS, "", TOY.scales, square, findings, wrong)
    with pytest.raises(ValueError, match="There is no scale 'huge'"):
        run_experiment(TOY, "huge")


def test_a_summary_says_which_code_made_it_and_a_slice_is_repeated(toy):
    summary = run_experiment(TOY, "full")
    assert summary["origin"].keys() == {"lemmata", "commit", "date", "python", "code"}
    assert summary["origin"]["code"] == code_of(TOY)
    again, kept = slice_again(summary)
    assert again == kept
    summary["items"]["one"]["result"]["square"] = 2
    with pytest.raises(AssertionError, match=r"toy, a slice repeated: \['square'\]: 1 now, 2 before"):
        assert_begins(summary, *slice_again(summary))
    with pytest.raises(AssertionError, match="it has no number"):
        assert_begins(summary, {"square": None}, {"square": None})
    with pytest.raises(ValueError, match="has no item one"):
        slice_again(run_experiment(TOY))


@pytest.mark.parametrize(
    ("part", "whole", "begins"),
    [
        ([1.5, 2], [1.5, 2, 3], True),
        ({"times": [3]}, {"times": [3, 4], "steps": 7}, True),
        ([1.5], [1.5000000000000002], False),
        ([1], [1.0], False),
        ([1, 2, 3], [1, 2], False),
        ({"steps": 7}, {"times": [3]}, False),
        ([[1], [2]], [[1, 5], [2, 6]], True),
        ({"steps": None}, {"steps": 0}, False),
    ],
)
def test_a_beginning_agrees_bit_for_bit(part, whole, begins):
    assert (first_difference(part, whole, 0.0, begins=True) is None) is begins


def test_the_commands(tmp_path, toy, monkeypatch):
    listed = {"toy": ("induction_heads", TOY)}
    monkeypatch.setattr("lemmata.commands.experiment.load_experiments", lambda: listed)
    monkeypatch.setattr("lemmata.numerics.runs.executors.process_pool", ThreadPoolExecutor)
    runner = CliRunner()
    result = runner.invoke(app, ["experiment", "run", "toy", "--out", str(tmp_path)])
    assert result.exit_code == 0
    assert "induction-heads:figure-8.1: partly" in result.stdout
    assert "sum of squares: 14" in result.stdout
    assert "The quick scale tries the experiment out" in result.stdout
    assert (tmp_path / "toy-quick" / "seed-2.json").exists()
    again = runner.invoke(app, ["experiment", "run", "toy", "--out", str(tmp_path), "--json"])
    assert json.loads(again.stdout) == json.loads((tmp_path / "toy.json").read_text())
    assert "induction-heads:figure-8.3" in runner.invoke(app, ["experiment", "list"]).stdout
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
    broken = Experiment("broken", STATEMENTS, "", {"quick": bad, "full": bad}, square, findings, ("seed-0", {}))
    monkeypatch.setattr(
        lemmata.theorems.experiments, "load_experiments", lambda: {"broken": ("induction_heads", broken)}
    )
    monkeypatch.setattr("lemmata.numerics.runs.executors.process_pool", ThreadPoolExecutor)
    result = CliRunner().invoke(app, ["experiment", "run", "broken", "--out", str(tmp_path)])
    assert result.exit_code == 1
    assert "1 of 2 items failed" in result.stderr
    assert (tmp_path / "broken-quick" / "seed-0.json").exists()
    assert not (tmp_path / "broken.json").exists()


def test_a_run_makes_the_folder_that_it_is_given_and_writes_nothing_without_one(tmp_path, toy, monkeypatch):
    monkeypatch.setattr("lemmata.commands.experiment.load_experiments", lambda: {"toy": ("induction_heads", TOY)})
    monkeypatch.setattr("lemmata.numerics.runs.executors.process_pool", ThreadPoolExecutor)
    monkeypatch.chdir(tmp_path)
    alone = CliRunner().invoke(app, ["experiment", "run", "toy"])
    assert alone.exit_code == 0
    assert "summary in" not in alone.output
    assert list(tmp_path.iterdir()) == []
    kept = CliRunner().invoke(app, ["experiment", "run", "toy", "--out", "new/folder"])
    assert kept.exit_code == 0
    assert "summary in" in kept.output
    assert (tmp_path / "new" / "folder" / "toy.json").is_file()
