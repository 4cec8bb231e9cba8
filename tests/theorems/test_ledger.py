"""The committed ledgers agree with the catalogue; the loader, the decorators and the verdict rules reject faults."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from lemmata.theorems import ledger
from lemmata.theorems.citations import citations
from lemmata.theorems.evidence import Evidence, check, counterexample
from lemmata.theorems.ledger import (
    DECIDED,
    REACHES,
    Claim,
    LedgerError,
    Statement,
    catalogue,
    catalogue_ids,
    load_ledger,
)
from lemmata.theorems.verdicts import (
    Check,
    contradictions,
    evidence_errors,
    judged_verdict,
    merged_outcome,
    reach_errors,
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
statement = "For all $x$, $x = x$."
where = "Lemma 1, section 1, begins “First of all”"
verdict = "open"
reason = "Not checked yet."

[[statement]]
id = "small:lemma-2"
kind = "lemma"
title = "Second"
statement = "The sign is $+1$."
where = "Lemma 2, section 1, begins “The sign”"
verdict = "repaired"
reach = "cases"
depends = ["small:lemma-1"]
erratum = "The sign is wrong."
printed = "+1"
corrected = "-1"
"""


CLAIM = 'claims = [{says = "a", provided = "b", verdict = "holds", rests_on = ["small:lemma-1"]}]\n'


def test_the_sentences_of_a_summary_are_read(tmp_path: Path) -> None:
    text = SMALL.replace('erratum = "The sign', CLAIM.replace('"holds"', '"open"') + 'erratum = "The sign')
    (chapter,) = load_ledger(_written(tmp_path, text)).chapters
    assert chapter.statements[1].claims == (Claim("a", "b", "open", ("small:lemma-1",)),)


def test_committed_ledgers_list_exactly_the_catalogue() -> None:
    ledger = load_ledger()
    listed = [statement.id for statement in ledger.statements()]
    assert tuple(chapter.name for chapter in ledger.chapters) == CHAPTERS
    assert len(listed) == len(set(listed))
    assert set(listed) == set(catalogue_ids())


def test_every_entry_says_what_is_claimed_where_and_how_far_it_is_settled() -> None:
    """Of all entries; where the reach is "cases", every deciding check says which."""
    counted, vague = Counter(), []
    for chapter in load_ledger().chapters:
        for entry in chapter.statements:
            assert entry.statement.strip(), entry.id
            assert "“" in entry.where, f"{entry.id}: where it stands has no words to search for"
            decided = entry.verdict in DECIDED
            assert (entry.reach in REACHES) == decided, entry.id
            assert (entry.reason is not None) == (entry.verdict == "open"), entry.id
            counted["decided" if decided else entry.verdict] += 1
            deciding = [one for one in citations(entry.id) if not one.evidence.supporting]
            assert bool(deciding) or not decided, f"{entry.id} is decided by no test"
            vague += [
                one.node
                for one in deciding
                if entry.reach == "cases" and one.evidence.kind == "check" and not one.evidence.cases
            ]
    assert vague == []
    assert counted.total() == len(catalogue_ids())
    assert counted["decided"] >= 230


def _written(directory: Path, ledger: str, catalogue: str = "small:lemma-1\nsmall:lemma-2 false\n") -> Path:
    (directory / "small").mkdir()
    (directory / "small" / "ledger.toml").write_text(ledger, encoding="utf-8")
    (directory / "small" / "catalogue.txt").write_text(catalogue, encoding="utf-8")
    return directory


def test_small_ledger_is_read(tmp_path: Path) -> None:
    (chapter,) = load_ledger(_written(tmp_path, SMALL)).chapters
    assert (chapter.name, chapter.title, chapter.document) == ("small", "A small chapter", "A document")
    assert chapter.statements[1] == Statement(
        id="small:lemma-2",
        kind="lemma",
        title="Second",
        statement="The sign is $+1$.",
        where="Lemma 2, section 1, begins “The sign”",
        verdict="repaired",
        reach="cases",
        depends=("small:lemma-1",),
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
        ('title = "Second"', 'titel = "Second"', "unknown key 'titel'; the keys are id, kind, title, statement, where"),
        ('title = "Second"', "title = 2", "title must be a non-empty string, not 2"),
        ('title = "Second"', 'title = " "', "title must be a non-empty string, not ' '"),
        ('kind = "lemma"\ntitle = "Second"', 'kind = "Lem."\ntitle = "Second"', "the kind 'Lem.' is not one"),
        ('"small:lemma-2"', '"small:lemma-1"', "small:lemma-1 stands in the ledger more than once"),
        ('"small:lemma-2"', '"small:lemma-1"', "small:lemma-2 of catalogue.txt is missing from the ledgers"),
        ('"small:lemma-2"', '"small:lemma-3"', "small:lemma-3 of the ledgers is not in catalogue.txt"),
        ('"small:lemma-2"', '"other:lemma-2"', 'an id of this chapter looks like "small:theorem-1.2"'),
        ('chapter = "small"', 'chapter = "large"', "says chapter = 'large', but its folder is \"small\""),
        ('chapter = "small"\n', "", "the key 'chapter' is missing"),
        ('chapter = "small"', 'chapter = "small"\nauthor = "x"', "unknown key 'author'"),
        ('chapter = "small"', "chapter =", "small/ledger.toml cannot be read"),
        (SMALL.partition("\n\n")[2], "", "needs its statements as a non-empty list"),
        (SMALL.partition("\n\n")[2], "statement = []\n", "needs its statements as a non-empty list"),
        ('reach = "cases"\n', "", "small:lemma-2: a decided statement needs a reach, one of all, proof, cases, scaled"),
        ('reach = "cases"', 'reach = "most"', "unknown reach 'most'; the reaches are all, proof, cases, scaled"),
        ('reach = "cases"', 'reach = "proof"', "the reach proof needs the key 'proof'"),
        ('reach = "cases"', 'reach = "scaled"', "the reach scaled needs the key 'deviation'"),
        (
            'reach = "cases"',
            'reach = "proof"\nproof = "a.md"',
            "there is no written proof proofs/a.md in the folder small",
        ),
        (
            'reason = "Not',
            'reach = "all"\nreason = "Not',
            "decided statements have a reach, one of all, proof, cases, scaled, and no others",
        ),
        (
            'reach = "cases"',
            'reach = "cases"\nmachine_checked = "All of it."',
            "machine_checked names theorems as File.theorem",
        ),
        (
            'reach = "cases"',
            'reach = "cases"\nmachine_checked = "Sound.bound: "',
            "says after a colon what they prove and",
        ),
        ('depends = ["small:lemma-1"]', "depends = []", "depends must be a non-empty list of ids, not []"),
        ('["small:lemma-1"]', '["small:lemma-7"]', "small:lemma-2 depends on small:lemma-7, which is no statement"),
        ("The sign is $+1$.", "The sign is $+1.", "the number of $ is odd"),
        ('erratum = "The sign', 'claims = []\nerratum = "The sign', "claims must be a non-empty list of tables"),
        (
            'erratum = "The sign',
            'claims = [{says = "a", provided = "b", verdict = "holds"}]\nerratum = "The sign',
            "claims must be a non-empty list of tables with the texts says, provided and verdict",
        ),
        (
            'erratum = "The sign',
            CLAIM.replace("holds", "true") + 'erratum = "The sign',
            "verdict (one of holds, repaired, refuted, open)",
        ),
        (
            'erratum = "The sign',
            CLAIM.replace("lemma-1", "lemma-7") + 'erratum = "The sign',
            "the claim 'a' rests on small:lemma-7, which is no statement",
        ),
        (
            'erratum = "The sign',
            CLAIM + 'erratum = "The sign',
            "small:lemma-2, the claim 'a' cannot be 'holds', as it rests on small:lemma-1, which is open",
        ),
        ('verdict = "repaired"', 'verdict = "holds"', "catalogue.txt, so that it cannot be 'holds'"),
        (
            'verdict = "repaired"\nreach = "cases"\ndepends = ["small:lemma-1"]\nerratum = "The sign is wrong."\n'
            'printed = "+1"\ncorrected = "-1"\n',
            'verdict = "holds"\nreach = "cases"\n',
            "small:lemma-2 is false as printed says catalogue.txt, but its erratum has vanished",
        ),
        (
            'reason = "Not checked yet."\n',
            'reason = "Not checked yet."\nproof_erratum = "It skips a case."\n',
            "small:lemma-1 has an erratum that catalogue.txt does not know: write false or noted",
        ),
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
        load_ledger(_written(tmp_path, broken, "small:lemma-1\nsmall:lemma-2 false\nsmall:lemma-9\n"))
    # The verdict, the title, and an id that no ledger has.
    assert len(caught.value.errors) == 3


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("small:lemma-2 false", "catalogue.txt lists small:lemma-2 more than once"),
        ("small:lemma-3 wrong", "small/catalogue.txt, line 3: an id, and false or noted, not 'small:lemma-3 wrong'"),
        ("small:lemma-3 false noted", "small/catalogue.txt, line 3: an id, and false or noted"),
    ],
)
def test_catalogue_names_the_fault(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(LedgerError) as caught:
        load_ledger(_written(tmp_path, SMALL, f"small:lemma-1\nsmall:lemma-2 false\n{line}\n"))
    assert any(message in error for error in caught.value.errors), caught.value.errors


def test_an_erratum_that_was_noted_cannot_vanish(tmp_path: Path) -> None:
    noted = "small:lemma-1 noted\nsmall:lemma-2 false\n"
    with pytest.raises(LedgerError, match=r"small:lemma-1 has an erratum says catalogue\.txt, but it has vanished"):
        load_ledger(_written(tmp_path, SMALL, noted))
    with_note = SMALL.replace('checked yet."', 'checked yet."\nproof_erratum = "It skips a case."')
    (tmp_path / "small" / "ledger.toml").write_text(with_note, encoding="utf-8")
    catalogue.cache_clear()
    assert load_ledger(tmp_path).chapters[0].statements[0].proof_erratum == "It skips a case."


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
    cases: str | None = None,
    reached: tuple[str, ...] = ("lemmata.constructions.turing.compiler.compile_turing_machine",),
) -> Check:
    evidence = Evidence("turing:theorem-3.1", kind, grade, target, supporting, cases)  # pyright: ignore[reportArgumentType]
    place = "theorems/turing/test_a.py::test_a", "theorems/turing/test_a.py", 3
    return Check(*place, evidence, outcome, 0.5, 1, (), reached)


def _statement(verdict: str, reach: str | None = None) -> Statement:
    return Statement("turing:theorem-3.1", "theorem", "Title", "Claim.", "Theorem 3.1", verdict, reach)


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
    lack = [error for error in errors if error.startswith(f"turing:theorem-3.1 is marked {verdict}, but no deciding")]
    assert len(lack) == lacking
    missing = any(check.outcome in ("skipped", "not run") for check in checks)
    assert len(errors) == lacking + missing + (verdict == "refuted" and CORRECTED in checks)


def test_evidence_forces_a_verdict_from_both_sides() -> None:
    [error] = evidence_errors(_statement("refuted"), [REFUTES, CORRECTED])
    assert error == f"turing:theorem-3.1 is marked refuted, but {CORRECTED.test} decides it otherwise."
    [error] = evidence_errors(_statement("context"), [_check()])
    assert error.startswith("turing:theorem-3.1 is marked context, but")
    assert not evidence_errors(_statement("context"), [_check(supporting=True)])


@pytest.mark.parametrize("outcome", ["skipped", "not run"])
def test_a_deciding_check_that_is_missing_leaves_its_statement_undecided(outcome: str) -> None:
    checks = [_check(), _check("counterexample", outcome=outcome)]
    [error] = evidence_errors(_statement("holds"), checks)
    assert error.startswith("turing:theorem-3.1 is not decided here")
    assert judged_verdict(_statement("holds"), checks) == "undecided"
    assert judged_verdict(_statement("open"), checks) == "open"
    [error] = evidence_errors(_statement("holds"), [_check()], ["theorems/turing/test_a.py::test_gone"])
    assert (
        error
        == "turing:theorem-3.1 is not decided here: theorems/turing/test_a.py::test_gone did not run, or was skipped."
    )


def test_a_passing_counterexample_contradicts_holds_alone() -> None:
    assert len(contradictions(_statement("holds"), [_check(), REFUTES])) == 1
    assert not contradictions(_statement("holds"), [_check(), _check("counterexample", outcome="failed")])
    assert not contradictions(_statement("refuted"), [REFUTES])
    assert not contradictions(_statement("open"), [REFUTES])


@pytest.mark.parametrize(
    ("reach", "evidence", "message"),
    [
        ("all", _check(grade="symbolic"), None),
        ("all", _check(grade="exact", reached=()), None),
        ("all", _check(grade="sampled"), "has the reach all, but .* decides it with the grade sampled"),
        ("all", _check(grade="numeric"), "has the reach all, but .* decides it with the grade numeric"),
        ("all", _check(cases="n = 2"), "has the reach all, but .* decides it on cases: n = 2"),
        ("all", _check(grade="sampled", supporting=True), None),
        ("cases", _check(), "has the reach cases, but .* does not say which"),
        ("cases", _check(cases="n = 3, 5"), None),
        ("cases", _check("counterexample", reached=()), None),
        ("cases", _check(cases="n = 3, 5", reached=()), "runs no code of the library"),
        ("proof", _check(reached=()), "runs no code of the library"),
        ("scaled", _check(grade="sampled"), None),
        ("scaled", _check(grade="sampled", reached=()), "runs no code of the library"),
        (None, _check(reached=()), None),
    ],
)
def test_reach_is_earned_and_deciding_checks_run_the_library(
    reach: str | None, evidence: Check, message: str | None
) -> None:
    errors = reach_errors(_statement("open" if reach is None else "holds", reach), [evidence])
    assert len(errors) == (message is not None)
    assert message is None or re.search(message, errors[0])


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ([], "holds"),
        ([_check()], "holds"),
        ([_check(), _check(outcome="failed")], "failed"),
        ([_check(), _check("counterexample", outcome="xfailed")], "failed"),
        ([_check(), _check(outcome="failed", supporting=True)], "holds"),
        ([_check(outcome="skipped")], "undecided"),
        ([_check(), _check(outcome="skipped", supporting=True)], "holds"),
    ],
)
def test_a_failing_deciding_check_takes_the_statement_down(checks: list[Check], verdict: str) -> None:
    assert judged_verdict(_statement("holds"), checks) == verdict


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
        (["passed", "skipped"], "skipped"),
        (["passed", "not run"], "not run"),
        (["passed", "failed", "skipped"], "failed"),
        (["passed", "xfailed"], "xfailed"),
        (["skipped", "not run"], "skipped"),
    ],
)
def test_a_function_passes_when_every_case_ran_and_passed(outcomes: list[str], merged: str) -> None:
    assert merged_outcome(outcomes) == merged


def test_record_lists_all_statements_and_counts_the_evidence() -> None:
    data = record(load_ledger(), [_check(), REFUTES], effort="quick", origin={"python": "3.11.0"})
    statements = [statement for chapter in data["chapters"] for statement in chapter["statements"]]
    assert [statement["id"] for statement in statements] == [one.id for one in load_ledger().statements()]
    (cited,) = [statement for statement in statements if statement["checks"]]
    assert (cited["id"], cited["grade"]) == ("turing:theorem-3.1", "exact")
    assert [one["kind"] for one in cited["checks"]] == ["check", "counterexample"]
    assert data["totals"]["statements"] == sum(data["totals"]["verdicts"].values()) == len(catalogue_ids())
    assert data["totals"]["checks"] == data["totals"]["checks_by_grade"]["exact"] == 2


def test_only_our_own_folder_stands_for_the_chapters_of_other_packages(tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    monkeypatch.setattr(ledger, "foreign_folders", lambda: (elsewhere,))
    assert ledger.chapter_folders()[-1] == elsewhere
    assert ledger.chapter_folders(tmp_path) == ()
