"""`lemmata audit`: what it prints is what the files say, and a broken rule ends it with 1."""

import json
import re

import pytest

from lemmata.theorems import audit as audits
from lemmata.theorems.experiments import code_of, find_experiment
from lemmata.theorems.ledger import THEOREMS, load_ledger
from tests.lemmata.commands.runner import run


def test_numbers_of_an_entry_are_those_of_its_files():
    name = "pareto-frontiers:lemma-C.4"
    code, output, _ = run("audit", name, "--json")
    [shown] = json.loads(output)
    assert shown["statement"] == name
    assert code == int(bool(shown["errors"]))
    folder = THEOREMS / "pareto_frontiers"
    faults = [one for one in json.loads((folder / "faults.json").read_text())["faults"] if one["statement"] == name]
    assert shown["faults"]["drawn"] == len(faults) > 0
    records = json.loads((folder / "counterexamples.json").read_text())[name]
    assert shown["violated"] == sum(len(one["violated"]) for one in records) > 0
    assert shown["hypotheses"] == sum(len(one["hypotheses"]) for one in records)
    sources = "".join(path.read_text() for path in folder.glob("test_*.py"))
    assert shown["printed"] + shown["corrected"] + shown["counterexamples"] <= sources.count("lemma-C.4")
    _, output, _ = run("audit", name)
    assert f"{shown['faults']['own']} of {len(faults)} by its own checks" in re.sub(r"\s+", " ", output)


def test_experiments_are_audited_with_the_age_of_their_results():
    for path in sorted(THEOREMS.glob("hidden_progress/results/*.json"))[:3]:
        summary = json.loads(path.read_text(encoding="utf-8"))
        name, verdict = next(iter(summary["verdicts"].items()))
        _, output, _ = run("audit", name, "--json")
        [shown] = [one for one in json.loads(output) if one["statement"] == name]
        [result] = [one for one in shown["results"] if one["experiment"] == path.stem]
        assert (result["verdict"], result["date"]) == (verdict, summary["origin"]["date"][:10])
        _, experiment = find_experiment(path.stem)
        made = summary["origin"]
        known = {made["code"], made.get("again", made)["code"]}
        assert result["current"] == (code_of(experiment) in known)


def test_a_leaf_that_changed_is_a_broken_rule(monkeypatch: pytest.MonkeyPatch):
    """The last constant of the last run of an experiment, by 2 %."""
    read = audits.committed

    def changed(name: str):
        summary = read(name)
        if name == "recurrent-sgd" and summary is not None:
            summary["items"]["m2048-3"]["result"]["constant"][-1] *= 1.02
        return summary

    monkeypatch.setattr(audits, "committed", changed)
    code, output, _ = run("audit", "rnn-sgd:theorem-1")
    assert code == 1
    assert re.search(r"recurrent-sgd.json is not what its run gave: items/m2048-3: the leaf .* changed, to ", output)


def test_a_broken_rule_is_printed_and_ends_with_1(monkeypatch: pytest.MonkeyPatch):
    name = "turing:lemma-2.3"
    monkeypatch.setattr(audits, "fault_errors", lambda chapter: [f"{name}: a fault.", "turing:lemma-2.30: another."])
    code, output, _ = run("audit", name)
    assert code == 1
    assert f"{name}: a fault." in output
    assert "another" not in output
    assert "1 entry, 1 broken rule, " in output


def test_an_unknown_entry_is_refused():
    code, output, error = run("audit", "knots")
    assert (code, output) == (2, "")
    assert "no statement of the ledger" in error


@pytest.mark.parametrize("chapter", [one.name for one in load_ledger().chapters])
def test_no_chapter_breaks_a_rule(chapter: str):
    code, output, _ = run("audit", chapter.replace("_", "-") + ":")
    assert code == 0, output
