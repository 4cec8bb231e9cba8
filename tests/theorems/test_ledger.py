"""The committed ledgers agree with the catalogue; the loader, the decorators and the verdict rules reject faults."""

from collections.abc import Callable
from pathlib import Path

import pytest

from theorems.evidence import Evidence, check, counterexample
from theorems.ledger import LedgerError, Statement, catalogue_ids, load_ledger
from theorems.verdicts import (
    Check,
    contradictions,
    evidence_errors,
    merged_outcome,
    record,
    statement_grade,
)

CHAPTERS = (
    "deep_icgd",
    "feature_emergence",
    "hidden_progress",
    "induction_heads",
    "pareto_frontiers",
    "qstr",
    "rnn_sgd",
    "turing",
    "variable_creation",
)
SMALL = """\
chapter = "small"
title = "A small chapter"
document = "A document"

[[statement]]
id = "small:lemma-1"
kind = "lemma"
title = "First"
source = "lines 1-2"
verdict = "open"
reason = "Not checked yet."

[[statement]]
id = "small:lemma-2"
kind = "lemma"
title = "Second"
source = "lines 3-4"
verdict = "repaired"
erratum = "The sign is wrong."
printed = "+1"
corrected = "-1"
"""


def test_committed_ledgers_list_exactly_the_catalogue() -> None:
    ledger = load_ledger()
    listed = [statement.id for statement in ledger.statements()]
    assert tuple(chapter.name for chapter in ledger.chapters) == CHAPTERS
    assert len(listed) == len(set(listed)) == 525
    assert set(listed) == set(catalogue_ids())


def _written(directory: Path, ledger: str, catalogue: str = "small:lemma-1\nsmall:lemma-2\n") -> Path:
    (directory / "small").mkdir()
    (directory / "small" / "ledger.toml").write_text(ledger, encoding="utf-8")
    (directory / "catalogue.txt").write_text(catalogue, encoding="utf-8")
    return directory


def test_small_ledger_is_read(tmp_path: Path) -> None:
    (chapter,) = load_ledger(_written(tmp_path, SMALL)).chapters
    assert (chapter.name, chapter.title, chapter.document) == ("small", "A small chapter", "A document")
    assert chapter.statements[1] == Statement(
        id="small:lemma-2",
        kind="lemma",
        title="Second",
        source="lines 3-4",
        verdict="repaired",
        erratum="The sign is wrong.",
        printed="+1",
        corrected="-1",
    )
    assert chapter.statements[0].reason == "Not checked yet."


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('verdict = "open"', 'verdict = "true"', "unknown verdict 'true'; the verdicts are holds, repaired"),
        ('reason = "Not checked yet."\n', "", "small:lemma-1: an open statement needs a reason"),
        ('verdict = "open"', 'verdict = "holds"', "only an open statement has a reason"),
        ('erratum = "The sign is wrong."\n', "", "a repaired statement needs an erratum"),
        ('erratum = "The sign is wrong."\n', "", "printed and corrected forms belong to an erratum"),
        ('title = "Second"\n', "", "small:lemma-2: the key 'title' is missing"),
        ('title = "Second"', 'titel = "Second"', "unknown key 'titel'; the keys are id, kind, title"),
        ('title = "Second"', "title = 2", "title must be a non-empty string, not 2"),
        ('title = "Second"', 'title = " "', "title must be a non-empty string, not ' '"),
        ('kind = "lemma"\ntitle = "Second"', 'kind = "Lem."\ntitle = "Second"', "the kind 'Lem.' is not one"),
        ("small:lemma-2", "small:lemma-1", "small:lemma-1 stands in the ledger more than once"),
        ("small:lemma-2", "small:lemma-1", "small:lemma-2 of catalogue.txt is missing from the ledgers"),
        ("small:lemma-2", "small:lemma-3", "small:lemma-3 of the ledgers is not in catalogue.txt"),
        ("small:lemma-2", "other:lemma-2", 'an id of this chapter looks like "small:theorem-1.2"'),
        ('chapter = "small"', 'chapter = "large"', "says chapter = 'large', but its folder is \"small\""),
        ('chapter = "small"\n', "", "the key 'chapter' is missing"),
        ('chapter = "small"', 'chapter = "small"\nauthor = "x"', "unknown key 'author'"),
        ('chapter = "small"', "chapter =", "small/ledger.toml cannot be read"),
        (SMALL.partition("\n\n")[2], "", "needs its statements as a non-empty list"),
    ],
)
def test_loader_names_the_fault(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert SMALL.count(old) == 1
    with pytest.raises(LedgerError) as caught:
        load_ledger(_written(tmp_path, SMALL.replace(old, new)))
    assert any(message in error for error in caught.value.errors), caught.value.errors


def test_loader_names_every_fault_at_once(tmp_path: Path) -> None:
    broken = SMALL.replace('verdict = "open"', 'verdict = "true"').replace('title = "Second"\n', "")
    with pytest.raises(LedgerError) as caught:
        load_ledger(_written(tmp_path, broken, "small:lemma-1\nsmall:lemma-2\nsmall:lemma-2\nsmall:lemma-9\n"))
    # The verdict, the title, and two faults of the catalogue: a repeated id and one that no ledger has.
    assert len(caught.value.errors) == 4


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        (lambda: check("turing:theorem-3.1", grade="proved", target="printed"), "symbolic, exact, enclosed"),  # pyright: ignore[reportArgumentType]
        (lambda: check("turing:theorem-3.1", grade="exact", target="both"), "printed and corrected"),  # pyright: ignore[reportArgumentType]
        (lambda: check("turing:theorem-3.11", grade="exact", target="printed"), "close ids are turing:theorem-3.1"),
        (lambda: counterexample("Einstein", grade="exact"), "ids begin with one of deep-icgd:, feature-emergence:"),
        (lambda: counterexample("turing:theorem-3.1", grade=""), "Unknown grade ''"),  # pyright: ignore[reportArgumentType]
        (lambda: counterexample("turing:theorem-3.1", grade="exact", supporting="no"), "is no bool"),  # pyright: ignore[reportArgumentType]
        (lambda: check("turing:theorem-3.1", grade="exact", target="printed")(int), "belongs on a test function"),
    ],
)
def test_decorators_reject_what_they_do_not_know(mark: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mark()


def _check(
    kind: str = "check",
    target: str = "printed",
    grade: str = "exact",
    outcome: str = "passed",
    supporting: bool = False,
) -> Check:
    evidence = Evidence("turing:theorem-3.1", kind, grade, target, supporting)  # pyright: ignore[reportArgumentType]
    return Check("theorems/turing/test_a.py::test_a", "theorems/turing/test_a.py", 3, evidence, outcome, 0.5, 1)


def _statement(verdict: str) -> Statement:
    return Statement("turing:theorem-3.1", "theorem", "Title", "lines 1-2", verdict)


REFUTES = _check("counterexample")
CORRECTED = _check(target="corrected")


@pytest.mark.parametrize(
    ("verdict", "checks", "lacking"),
    [
        ("holds", [_check()], 0),
        ("holds", [], 1),
        ("holds", [CORRECTED], 1),
        ("holds", [_check(supporting=True)], 1),
        *(
            ("holds", [_check(outcome=outcome)], 1)
            for outcome in ("failed", "skipped", "xfailed", "xpassed", "not run")
        ),
        ("holds", [_check(outcome="failed"), _check()], 0),
        ("repaired", [REFUTES, CORRECTED], 0),
        ("repaired", [REFUTES], 1),
        ("repaired", [CORRECTED], 1),
        ("repaired", [_check()], 2),
        ("refuted", [REFUTES], 0),
        ("refuted", [_check(), CORRECTED], 1),
        ("open", [], 0),
        ("context", [], 0),
    ],
)
def test_verdicts_need_their_evidence(verdict: str, checks: list[Check], lacking: int) -> None:
    errors = evidence_errors(_statement(verdict), checks)
    assert len(errors) == lacking
    assert all(error.startswith(f"turing:theorem-3.1 is marked {verdict}, but no deciding") for error in errors)


def test_a_passing_counterexample_contradicts_holds_alone() -> None:
    assert len(contradictions(_statement("holds"), [_check(), REFUTES])) == 1
    assert not contradictions(_statement("holds"), [_check(), _check("counterexample", outcome="failed")])
    assert not contradictions(_statement("refuted"), [REFUTES])
    assert not contradictions(_statement("open"), [REFUTES])


def test_grade_is_the_weakest_of_the_deciding_evidence() -> None:
    assert statement_grade([]) is None
    assert statement_grade([_check(grade="symbolic"), _check(grade="numeric"), _check(grade="exact")]) == "numeric"
    undecided = [_check(grade="sampled", supporting=True), _check(grade="sampled", outcome="skipped")]
    assert statement_grade(undecided) is None
    assert statement_grade([*undecided, _check(grade="enclosed")]) == "enclosed"


@pytest.mark.parametrize(
    ("outcomes", "merged"),
    [
        ([], "not run"),
        (["passed", "passed"], "passed"),
        (["passed", "skipped"], "passed"),
        (["passed", "failed", "skipped"], "failed"),
        (["passed", "xfailed"], "xfailed"),
        (["skipped", "not run"], "skipped"),
    ],
)
def test_a_function_passes_when_the_cases_that_ran_passed(outcomes: list[str], merged: str) -> None:
    assert merged_outcome(outcomes) == merged


def test_record_lists_all_statements_and_counts_the_evidence() -> None:
    data = record(load_ledger(), [_check(), REFUTES], effort="quick", python="3.11.0")
    statements = [statement for chapter in data["chapters"] for statement in chapter["statements"]]
    assert [statement["id"] for statement in statements] == [one.id for one in load_ledger().statements()]
    (cited,) = [statement for statement in statements if statement["checks"]]
    assert (cited["id"], cited["grade"]) == ("turing:theorem-3.1", "exact")
    assert [one["kind"] for one in cited["checks"]] == ["check", "counterexample"]
    assert data["totals"]["statements"] == sum(data["totals"]["verdicts"].values()) == 525
    assert data["totals"]["checks"] == data["totals"]["checks_by_grade"]["exact"] == 2
