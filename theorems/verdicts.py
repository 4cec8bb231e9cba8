"""What the evidence of a test run says about the statements of the ledger.

Pure functions: outcomes of tests and the ledger go in; the judged record (the content of `--ledger-json`) and
the sentences on missing evidence come out. The rules of the verdicts:

- `holds` needs a passing deciding check of the printed form, and no passing counterexample;
- `repaired` needs a passing deciding counterexample and a passing deciding check of the corrected form;
- `refuted` needs a passing deciding counterexample, and no corrected form that a deciding check confirms;
- `context` claims nothing, so that nothing decides it; `open` says in its reason what is missing;
- a statement of which a deciding piece of evidence did not run (skipped, deselected), be it in one case of several,
  is `undecided` here; where it is `open` the run says so, too;
- a statement of which a deciding piece of evidence fails is `failed`, whatever the ledger says.

The grade of a statement is the weakest grade among its passing deciding evidence. Its reach must be earned: `all` by
checks that decide every parameter value by the machine alone (no numeric and no sampled one), `cases` by checks that
say which cases they cover. A deciding check runs what the statement is about: it reaches the library (see
`lemmata.theorems.reached`), unless the reach is `all` and the check proves the statement itself.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lemmata.theorems.evidence import GRADES, Evidence
from lemmata.theorems.ledger import DECIDED, REACHES, VERDICTS, Ledger, Statement

OUTCOMES = ("failed", "xfailed", "xpassed", "skipped", "not run", "passed")
"""Outcomes of a test, in the order of precedence among the cases of a parametrised function."""

FAILED = "failed"
"""What every view says of a statement of which a deciding piece of evidence fails."""
UNDECIDED = "undecided"
"""What every view says of a decided statement of which a deciding piece of evidence was skipped or did not run."""
SHOWN = (*VERDICTS, UNDECIDED, FAILED)
"""All that a view may say of a statement."""

_NEEDS = {
    "holds": (("check", "printed"),),
    "repaired": (("counterexample", "printed"), ("check", "corrected")),
    "refuted": (("counterexample", "printed"),),
    "open": (),
    "context": (),
}
_SPOKEN = {
    ("check", "printed"): "check of the printed form",
    ("check", "corrected"): "check of the corrected form",
    ("counterexample", "printed"): "counterexample to the printed form",
}


@dataclass(frozen=True)
class Check:
    """A test function in its role as evidence for one statement, with its outcome.

    `file` is relative to the folder that holds `theorems`; `seconds` is summed over the `cases`
    (parametrisations). `measured` holds what the test recorded with `record_property`, as triples of case, name
    and plain value; `reached` the names of the library at which the test ends (see `lemmata.theorems.reached`).
    """

    test: str
    file: str
    line: int
    evidence: Evidence
    outcome: str
    seconds: float
    cases: int
    measured: tuple[tuple[str, str, Any], ...] = ()
    reached: tuple[str, ...] = ()

    @property
    def decides(self) -> bool:
        """Whether the check counts towards a verdict: it passed and is not merely supporting."""
        return self.outcome == "passed" and not self.evidence.supporting

    @property
    def missing(self) -> bool:
        """Whether the check would decide, and did not run: it was skipped, or something ended the run before."""
        return self.outcome in ("skipped", "not run") and not self.evidence.supporting

    @property
    def fails(self) -> bool:
        """Whether the check takes its statement down: it is not merely supporting, and it ran and did not pass."""
        return self.outcome in ("failed", "xfailed", "xpassed") and not self.evidence.supporting


def judged_verdict(statement: Statement, checks: Iterable[Check]) -> str:
    """The verdict of the ledger; `failed` where deciding evidence fails, `undecided` where some of it is missing."""
    checks = list(checks)
    if any(check.fails for check in checks):
        return FAILED
    return UNDECIDED if statement.verdict in DECIDED and any(check.missing for check in checks) else statement.verdict


def reach_errors(statement: Statement, checks: Sequence[Check]) -> list[str]:
    """A sentence for each deciding piece of evidence that does not earn the reach of its statement, or no library."""
    errors = []
    for check in checks:
        evidence = check.evidence
        if evidence.supporting or statement.reach is None:
            continue
        if statement.reach == "all" and evidence.grade in ("numeric", "sampled"):
            errors.append(
                f"{statement.id} has the reach all, but {check.test} decides it with the grade {evidence.grade}."
            )
        if statement.reach == "all" and evidence.cases is not None:
            errors.append(f"{statement.id} has the reach all, but {check.test} decides it on cases: {evidence.cases}.")
        if statement.reach == "cases" and evidence.cases is None and evidence.kind == "check":
            errors.append(f"{statement.id} has the reach cases, but {check.test} does not say which: give it cases.")
        if evidence.kind == "check" and not check.reached and statement.reach != "all":
            errors.append(
                f"{statement.id} is decided by {check.test}, which runs no code of the library: "
                "it would pass whatever the library does, and can be supporting at most."
            )
    return errors


def merged_outcome(outcomes: Iterable[str]) -> str:
    """The outcome of a test function from those of its cases: the first of `OUTCOMES` that occurs.

    A function passes when every case that was collected ran and passed, and there is one.
    """
    return min(outcomes, key=OUTCOMES.index, default="not run")


def evidence_errors(statement: Statement, checks: Sequence[Check], cited: Iterable[str] = ()) -> list[str]:
    """A sentence for each piece of evidence that the verdict of `statement` lacks in `checks`, or that forces another.

    Args:
        statement: the entry of the ledger.
        checks: its evidence in a run of its whole chapter.
        cited: the tests whose decorators say that they decide it, as ``file::name``.
    """
    errors = []
    known = {check.test for check in checks}
    missing = [*(check.test for check in checks if check.missing), *(test for test in cited if test not in known)]
    says = "is not decided here" if statement.verdict in DECIDED else "is open, and what is known of it not shown here"
    errors += [f"{statement.id} {says}: {test} did not run, or was skipped." for test in dict.fromkeys(missing)]
    excluded = [
        check.test
        for check in checks
        if check.decides
        and (
            statement.verdict == "context" or (statement.verdict == "refuted" and check.evidence.target == "corrected")
        )
    ]
    errors += [f"{statement.id} is marked {statement.verdict}, but {test} decides it otherwise." for test in excluded]
    for kind, target in _NEEDS[statement.verdict]:
        of_this_sort = [c for c in checks if (c.evidence.kind, c.evidence.target) == (kind, target)]
        if not any(check.decides for check in of_this_sort):
            found = "; ".join(
                f"{check.test} {'is supporting only' if check.evidence.supporting else check.outcome}"
                for check in of_this_sort
            )
            errors.append(
                f"{statement.id} is marked {statement.verdict}, but no deciding "
                f"{_SPOKEN[kind, target]} passed ({found or 'there is none'})."
            )
    return errors


def contradictions(statement: Statement, checks: Sequence[Check]) -> list[str]:
    """A sentence for each passing counterexample to a statement that is marked `holds`."""
    if statement.verdict != "holds":
        return []
    return [
        f"{statement.id} is marked holds, but {check.test} is a passing counterexample to it."
        for check in checks
        if check.evidence.kind == "counterexample" and check.outcome == "passed"
    ]


def statement_grade(checks: Iterable[Check]) -> str | None:
    """The weakest grade among the passing deciding checks, or None when there is none."""
    return max((check.evidence.grade for check in checks if check.decides), key=GRADES.index, default=None)


def by_statement(checks: Iterable[Check]) -> dict[str, list[Check]]:
    """The checks by the id of their statement, in the order of files and lines."""
    groups: dict[str, list[Check]] = {}
    for check in sorted(checks, key=lambda check: (check.file, check.line, check.test)):
        groups.setdefault(check.evidence.statement, []).append(check)
    return groups


def record(
    ledger: Ledger,
    checks: Iterable[Check],
    *,
    effort: str,
    origin: Mapping[str, Any],
    partial: Sequence[str] = (),
) -> dict[str, Any]:
    """The whole ledger with its evidence as plain data: the content of `--ledger-json`.

    Every statement of the ledger is listed, whether it has checks or not.

    Args:
        ledger: all chapters.
        checks: the evidence with its outcomes.
        effort: copied.
        origin: where the record comes from, copied: version, commit, date, python.
        partial: the names of the chapters that did not run as a whole.
    """
    groups = by_statement(checks)
    chapters = [
        {
            "name": chapter.name,
            "title": chapter.title,
            "document": chapter.document,
            "statements": [_entry(statement, groups.get(statement.id, [])) for statement in chapter.statements],
        }
        for chapter in ledger.chapters
    ]
    return {
        "format": "lemmata/ledger",
        "version": 2,
        "effort": effort,
        **origin,
        "partial": list(partial),
        "chapters": chapters,
        "totals": totals(entry for chapter in chapters for entry in chapter["statements"]),
    }


def totals(entries: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The statement entries of a record by verdict and grade, and their checks by grade and outcome.

    A test function that is evidence for several statements counts once for each of them.
    """
    entries = list(entries)
    verdicts = Counter(entry["verdict"] for entry in entries)
    grades = Counter(entry["grade"] for entry in entries)
    reaches = Counter(entry["reach"] for entry in entries if entry["verdict"] != FAILED)
    checks = [check for entry in entries for check in entry["checks"]]
    by_grade = Counter(check["grade"] for check in checks)
    outcomes = Counter(check["outcome"] for check in checks)
    return {
        "statements": len(entries),
        "verdicts": {verdict: verdicts[verdict] for verdict in SHOWN},
        "reaches": {reach: reaches[reach] for reach in REACHES},
        "grades": {grade: grades[grade] for grade in GRADES},
        "checks": len(checks),
        "checks_by_grade": {grade: by_grade[grade] for grade in GRADES},
        "outcomes": {outcome: outcomes[outcome] for outcome in OUTCOMES},
    }


def _entry(statement: Statement, checks: Sequence[Check]) -> dict[str, Any]:
    """One statement with its evidence as plain data."""
    return {
        **dataclasses.asdict(statement),
        "depends": list(statement.depends),
        "verdict": judged_verdict(statement, checks),
        "claimed": statement.verdict,
        "grade": statement_grade(checks),
        "checks": [
            {
                "test": check.test,
                "file": check.file,
                "line": check.line,
                "grade": check.evidence.grade,
                "target": check.evidence.target,
                "kind": check.evidence.kind,
                "supporting": check.evidence.supporting,
                "covers": check.evidence.cases,
                "outcome": check.outcome,
                "seconds": round(check.seconds, 3),
                "cases": check.cases,
                "measured": [{"case": case, "name": name, "value": value} for case, name, value in check.measured],
            }
            for check in checks
        ],
    }
