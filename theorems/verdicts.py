"""What the evidence of a test run says about the statements of the ledger.

Pure functions: outcomes of tests and the ledger go in; the judged record (the content of `--ledger-json`) and
the sentences on missing evidence come out. The rules of the verdicts:

- `holds` needs a passing deciding check of the printed form, and no passing counterexample;
- `repaired` needs a passing deciding counterexample and a passing deciding check of the corrected form;
- `refuted` needs a passing deciding counterexample;
- `open` and `context` need nothing.

The grade of a statement is the weakest grade among its passing deciding evidence.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from theorems.evidence import GRADES, Evidence
from theorems.ledger import VERDICTS, Ledger, Statement

OUTCOMES = ("failed", "xfailed", "xpassed", "passed", "skipped", "not run")
"""Outcomes of a test, in the order of precedence among the cases of a parametrised function."""

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
    and plain value.
    """

    test: str
    file: str
    line: int
    evidence: Evidence
    outcome: str
    seconds: float
    cases: int
    measured: tuple[tuple[str, str, Any], ...] = ()

    @property
    def decides(self) -> bool:
        """Whether the check counts towards a verdict: it passed and is not merely supporting."""
        return self.outcome == "passed" and not self.evidence.supporting


def merged_outcome(outcomes: Iterable[str]) -> str:
    """Return the outcome of a test function from those of its cases: the first of `OUTCOMES` that occurs.

    A function passes when every case that ran passed, and at least one ran.
    """
    return min(outcomes, key=OUTCOMES.index, default="not run")


def evidence_errors(statement: Statement, checks: Sequence[Check]) -> list[str]:
    """Return a sentence for each piece of evidence that the verdict of `statement` lacks in `checks`."""
    errors = []
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
    """Return a sentence for each passing counterexample to a statement that is marked `holds`."""
    if statement.verdict != "holds":
        return []
    return [
        f"{statement.id} is marked holds, but {check.test} is a passing counterexample to it."
        for check in checks
        if check.evidence.kind == "counterexample" and check.outcome == "passed"
    ]


def statement_grade(checks: Iterable[Check]) -> str | None:
    """Return the weakest grade among the passing deciding checks, or None when there is none."""
    return max((check.evidence.grade for check in checks if check.decides), key=GRADES.index, default=None)


def by_statement(checks: Iterable[Check]) -> dict[str, list[Check]]:
    """Group `checks` by the id of their statement, in the order of files and lines."""
    groups: dict[str, list[Check]] = {}
    for check in sorted(checks, key=lambda check: (check.file, check.line, check.test)):
        groups.setdefault(check.evidence.statement, []).append(check)
    return groups


def record(ledger: Ledger, checks: Iterable[Check], *, effort: str, python: str) -> dict[str, Any]:
    """Return the whole ledger with its evidence as plain data: the content of `--ledger-json`.

    Every statement of the ledger is listed, whether it has checks or not; `effort` and `python` (the version)
    are copied.
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
        "version": 1,
        "effort": effort,
        "python": python,
        "chapters": chapters,
        "totals": totals(entry for chapter in chapters for entry in chapter["statements"]),
    }


def totals(entries: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Count the statement entries of a record by verdict and grade, and their checks by grade and outcome.

    A test function that is evidence for several statements counts once for each of them.
    """
    entries = list(entries)
    verdicts = Counter(entry["verdict"] for entry in entries)
    grades = Counter(entry["grade"] for entry in entries)
    checks = [check for entry in entries for check in entry["checks"]]
    by_grade = Counter(check["grade"] for check in checks)
    outcomes = Counter(check["outcome"] for check in checks)
    return {
        "statements": len(entries),
        "verdicts": {verdict: verdicts[verdict] for verdict in VERDICTS},
        "grades": {grade: grades[grade] for grade in GRADES},
        "errata": sum(entry["erratum"] is not None for entry in entries),
        "checks": len(checks),
        "checks_by_grade": {grade: by_grade[grade] for grade in GRADES},
        "outcomes": {outcome: outcomes[outcome] for outcome in OUTCOMES},
    }


def _entry(statement: Statement, checks: Sequence[Check]) -> dict[str, Any]:
    """Return one statement with its evidence as plain data."""
    return {
        **dataclasses.asdict(statement),
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
                "outcome": check.outcome,
                "seconds": round(check.seconds, 3),
                "cases": check.cases,
                "measured": [{"case": case, "name": name, "value": value} for case, name, value in check.measured],
            }
            for check in checks
        ],
    }
