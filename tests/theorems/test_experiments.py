"""Experiments: verdicts follow from criteria, and the commands that run and show them."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from typer.testing import CliRunner

import lemmata.theorems.experiments
from lemmata.cli import app
from lemmata.numerics.runs.comparison import first_difference
from lemmata.numerics.runs.definitions import fingerprint
from lemmata.theorems.experiments import (
    PACKAGES,
    Criterion,
    Experiment,
    Findings,
    assert_begins,
    code_of,
    is_current,
    recomputed,
    repeat,
    run_experiment,
    seeds_of,
    slice_again,
    write_summary,
)
from lemmata.theorems.manifests import assert_as_run, write_manifest
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
    with pytest.raises(AssertionError, match=r"toy, a slice repeated: \['one'\]\['square'\]: 1 now, 2 before"):
        assert_begins(summary, *slice_again(summary))
    with pytest.raises(AssertionError, match="it has no number"):
        assert_begins(summary, {"square": None}, {"square": None})
    with pytest.raises(ValueError, match="has no item one"):
        slice_again(run_experiment(TOY))


def runs(settings):
    """A result with an entry for each seed, at two depths, and with one for each start, whose rows have the seeds."""
    seeds = settings["seeds"]
    times = [[100 * start + seed for seed in seeds] for start in settings["starts"]]
    return {"rate": 3, "best": [7 * seed for seed in seeds], "tried": [{"times": list(seeds)}], "starts": times}


def counted(settings):
    return {"runs": [seed**2 for seed in range(settings["seed"], settings["seed"] + settings["runs"])]}


MANY = {"seeds": [5, 6, 7, 8], "starts": [1, 2, 3]}


@pytest.mark.parametrize(
    ("work", "settings", "changes"),
    [
        (runs, MANY, {"seeds": [5, 6]}),
        (runs, MANY, {"seeds": [8]}),
        (runs, MANY, {"seeds": [5, 7, 8]}),
        (runs, MANY, {"seeds": [6, 8], "starts": [3]}),
        (runs, MANY, {"starts": [2, 3], "seeds": [7]}),
        (counted, {"seed": 4, "runs": 6}, {"runs": 2}),
        (counted, {"seed": 4, "runs": 6}, {"seed": 9, "runs": 1}),
    ],
)
def test_a_slice_at_other_seeds_is_compared_with_their_entries(work, settings, changes, monkeypatch):
    """And a work that takes the first seeds in the place of these is seen, wherever they are not the first ones."""
    full = {"all": settings}
    many = Experiment("many", STATEMENTS, "", {"quick": full, "full": full}, work, findings, ("all", changes))
    summary = {"experiment": "many", "items": {"all": {"settings": settings, "result": work(settings)}}}

    def repeated(experiment):
        monkeypatch.setattr(
            lemmata.theorems.experiments, "load_experiments", lambda: {"many": ("induction_heads", experiment)}
        )
        assert_begins(summary, *slice_again(summary))

    repeated(many)
    first = {
        key: settings[key][: len(new)] if isinstance(new, list) else settings[key] if key == "seed" else new
        for key, new in changes.items()
    }
    stuck = replace(many, work=lambda given: work({**given, **first}))
    if first == changes:
        repeated(stuck)
    else:
        with pytest.raises(AssertionError, match="a slice repeated"):
            repeated(stuck)


def test_two_slices_of_one_item_are_both_repeated(monkeypatch):
    full = {"all": MANY}
    two = Experiment("two", STATEMENTS, "", {"quick": full, "full": full}, runs, findings, ("all", {"seeds": [5]}),
                     others=(("all", {"seeds": [8]}),))  # fmt: skip
    monkeypatch.setattr(lemmata.theorems.experiments, "load_experiments", lambda: {"two": ("induction_heads", two)})
    summary = {"experiment": "two", "items": {"all": {"settings": MANY, "result": runs(MANY)}}}
    again, kept = slice_again(summary, every=True)
    assert [part["best"] for part in again.values()] == [[35], [56]]
    assert [part["best"] for part in slice_again(summary)[0].values()] == [[56]]
    assert_begins(summary, again, kept)
    summary["items"]["all"]["result"]["best"][3] += 1
    with pytest.raises(AssertionError, match=r"\['best'\]\[0\]: 56 now, 57 before"):
        assert_begins(summary, *slice_again(summary))


def test_a_slice_without_a_number_is_none(monkeypatch):
    none = replace(TOY, others=(("one", {"seed": 2}),), work=lambda given: {"time": None if given["seed"] == 2 else 1})
    monkeypatch.setattr(lemmata.theorems.experiments, "load_experiments", lambda: {"toy": ("induction_heads", none)})
    summary = {"experiment": "toy", "items": {"one": {"settings": {"seed": 1}, "result": {"time": None}}}}
    with pytest.raises(AssertionError, match=r"toy, a slice repeated: one with \{'seed': 2\} has no number"):
        slice_again(summary)


def test_seeds_are_read_off_the_settings():
    assert seeds_of({"seeds": [3, 4], "seed": 1}) == [3, 4]
    assert seeds_of({"trials": [5]}) == [5]
    assert seeds_of({"seed": 6, "runs": 2}) == [6]
    assert seeds_of({"steps": 1}) == []


HEAD = "0123456789" * 4


@pytest.fixture
def committed_toy(toy, tmp_path, monkeypatch):
    """A committed result of the toy, in a chapter of its own, made by code that has changed since."""
    monkeypatch.setattr(lemmata.theorems.experiments, "commit", lambda *_: HEAD)
    monkeypatch.setattr(lemmata.theorems.experiments, "THEOREMS", tmp_path)
    monkeypatch.setattr("lemmata.commands.experiment.load_experiments", lambda: {"toy": ("induction_heads", TOY)})
    path = tmp_path / "induction_heads" / "results" / "toy.json"
    path.parent.mkdir(parents=True)
    summary = run_experiment(TOY, "full")
    summary["origin"]["code"] = "f" * 16
    write_summary(summary, path)
    write_manifest(summary, path)
    return path


def test_a_result_is_current_if_its_code_or_that_of_its_last_repetition_is_that_of_today(committed_toy):
    summary = json.loads(committed_toy.read_text())
    assert not is_current(summary)
    found = repeat(summary)
    assert is_current(found)
    assert found["origin"]["again"] == {
        "code": fingerprint(square, PACKAGES),
        "commit": HEAD,
        "date": found["origin"]["date"],
        "python": found["origin"]["python"],
        "slices": [["one", {"seed": 1}]],
    }
    assert {**found["origin"], "again": 0} == {**summary["origin"], "again": 0}
    assert {**found, "origin": 0} == {**summary, "origin": 0} == {**recomputed(found), "origin": 0}
    found["origin"]["again"]["code"] = "e" * 16
    assert not is_current(found)
    assert repeat(found)["origin"]["again"]["code"] == code_of(TOY)
    assert is_current({**found, "origin": {"code": code_of(TOY)}})
    summary["items"]["one"]["result"]["square"] = 2
    with pytest.raises(AssertionError, match="1 now, 2 before"):
        repeat(summary)


def test_a_repetition_does_not_bless_what_no_run_gave(committed_toy):
    """A leaf outside of the slices, of the origin or of an item, and a manifest that is not there."""
    summary = json.loads(committed_toy.read_text())
    summary["items"]["one"]["result"]["extra"] = 1
    with pytest.raises(AssertionError, match=r"toy.json is not what its run gave: items/one: it has \d leaves"):
        repeat(summary)
    del summary["items"]["one"]["result"]["extra"]
    summary["origin"]["date"] = "2020-02-02"
    with pytest.raises(AssertionError, match=r"origin: the leaf \['date'\] changed, to \"2020-02-02\". Either put"):
        repeat(summary)
    committed_toy.with_suffix(".sums").unlink()
    with pytest.raises(AssertionError, match=r"toy.sums is missing beside toy.json"):
        repeat(summary)


def test_a_repetition_is_of_code_that_is_committed(committed_toy, monkeypatch):
    """The files with what the work uses are looked at, and no others."""
    asked = []
    summary = json.loads(committed_toy.read_text())
    for head in (f"{HEAD}+changes", None):
        monkeypatch.setattr(
            lemmata.theorems.experiments, "commit", lambda *given, head=head: asked.append(given) or head
        )
        with pytest.raises(ValueError, match="Commit the code of toy first"):
            repeat(summary)
    assert [path.name for path in asked[0][1]] == ["items.py"]


def test_the_command_again_writes_what_came_out(committed_toy):
    runner = CliRunner()
    before = committed_toy.read_text()
    shown = runner.invoke(app, ["experiment", "show", "toy"]).stdout
    assert (
        "(fingerprint ffffffffffffffff) has changed since; to repeat slices of it: lemmata experiment again toy"
        in shown
    )
    done = runner.invoke(app, ["experiment", "again", "toy"])
    assert (done.exit_code, done.stdout) == (0, "toy: as committed\n")
    assert committed_toy.read_text() != before
    assert is_current(json.loads(committed_toy.read_text()))
    shown = runner.invoke(app, ["experiment", "show", "toy"]).stdout
    assert "has changed since; slices of it came out again on" in shown
    assert "with the code of today" in shown
    assert runner.invoke(app, ["experiment", "again", "--stale"]).stdout == ""
    assert runner.invoke(app, ["experiment", "again"]).stdout == "toy: as committed\n"
    assert runner.invoke(app, ["experiment", "again", "nothing"]).exit_code == 2

    summary = json.loads(committed_toy.read_text())
    summary["items"]["one"]["result"]["square"] = 2
    summary["origin"]["again"]["code"] = "e" * 16
    write_summary(summary, committed_toy)
    before = committed_toy.read_text()
    assert "but the code of today is another" in runner.invoke(app, ["experiment", "show", "toy"]).stdout
    missed = runner.invoke(app, ["experiment", "again"])
    assert missed.exit_code == 1
    assert "1 now, 2 before" in missed.stdout
    assert "slices of toy do not come out as committed" in missed.stderr
    assert committed_toy.read_text() == before


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
    assert_as_run(json.loads(again.stdout), tmp_path / "toy.json")
    shown = runner.invoke(app, ["experiment", "list"]).stdout
    assert shown.split()[:3] == ["experiment", "about", "result"]
    assert "induction-heads:figure-8.3" in shown
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
