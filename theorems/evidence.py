"""The decorators that tie a test function to the statement that it is evidence for.

A theorem test says what it decides, how sharply, and about which form of the statement:

    @check("turing:proposition-2.2", grade="exact", target="printed")
    def test_three_conditions_imply_approximation(): ...

    @counterexample("turing:lemma-3.4", grade="exact")
    def test_printed_constant_fails_at_two_layers(): ...

    @check("feature-emergence:theorem-7.7", grade="exact", target="printed", cases="n = 3, 5, 7, 11, 13")
    def test_margin_of_the_construction(): ...

A test that checks steps of a written proof names them, from which the `Check:` lines of the proof are written
(`lemmata.theorems.proofs`):

    @proof_steps("circuits.md: 1, 5")

One function may carry several decorators, next to `hypothesis.given` and `pytest.mark.parametrize` in any
order. The plugin (`lemmata.theorems.plugin`) reads the marks; the verdicts rest on them (`lemmata.theorems.verdicts`).
"""

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

from lemmata.theorems.ledger import catalogue_ids

Grade = Literal["symbolic", "exact", "enclosed", "numeric", "sampled"]
Target = Literal["printed", "corrected"]
Kind = Literal["check", "counterexample"]

GRADES: tuple[str, ...] = get_args(Grade)
"""The grades, sharpest first."""
TARGETS: tuple[str, ...] = get_args(Target)
MARK = "evidence"
_STEPS = re.compile(r"(\w[\w-]*\.md): (\d+(?:, \d+)*)")

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Evidence:
    """What one test function says about one statement.

    `supporting` evidence (a negative control, a special case, a step of a proof) is listed but decides nothing. The
    target of a counterexample is always the printed form. `cases` says which cases are covered, where not all are.
    """

    statement: str
    kind: Kind
    grade: Grade
    target: Target
    supporting: bool = False
    cases: str | None = None

    def __post_init__(self) -> None:
        if self.grade not in GRADES:
            raise ValueError(
                f"Unknown grade {self.grade!r} in the evidence for {self.statement!r}: "
                f"the grades are, sharpest first, {', '.join(GRADES)}."
            )
        if self.target not in TARGETS:
            raise ValueError(
                f"Unknown target {self.target!r} in the evidence for {self.statement!r}: "
                f"the targets are {' and '.join(TARGETS)}."
            )
        if not isinstance(self.supporting, bool):
            raise ValueError(f"supporting={self.supporting!r} in the evidence for {self.statement!r} is no bool.")
        if self.cases is not None and (not isinstance(self.cases, str) or not self.cases.strip()):
            raise ValueError(
                f"cases={self.cases!r} in the evidence for {self.statement!r}: give a text such as 'n = 3, 5, ..., 13'."
            )
        known = catalogue_ids()
        if self.statement not in known:
            raise ValueError(
                f"There is no statement {self.statement!r} in the catalogue{_hint(self.statement, known)}."
            )


def check(
    *statement_ids: str, grade: Grade, target: Target, supporting: bool = False, cases: str | None = None
) -> Callable[[_Function], _Function]:
    """Mark a test that passes when the statement, in its printed or corrected form, is true.

    Args:
        statement_ids: ids of the ledger, for instance `"qstr:theorem-4.1"`; the test is evidence for each alike.
        grade: how sharp the evidence is, one of `GRADES`; never rounded up.
        target: the form of the statement that is checked, `"printed"` or `"corrected"`.
        supporting: true for evidence that decides nothing by itself.
        cases: which cases are covered, such as ``"n = 3, 5, ..., 13"``; None if all are.

    Raises:
        ValueError: no or an unknown statement, unknown grade or target, or empty cases (at import of the test module).
    """
    return _marker([Evidence(one, "check", grade, target, supporting, cases) for one in statement_ids])


def counterexample(
    *statement_ids: str, grade: Grade, supporting: bool = False, cases: str | None = None
) -> Callable[[_Function], _Function]:
    """Mark a test that passes when the printed form of the statement is false: it exhibits a counterexample.

    Arguments and errors as in `check`.
    """
    return _marker([Evidence(one, "counterexample", grade, "printed", supporting, cases) for one in statement_ids])


def proof_steps(*places: str) -> Callable[[_Function], _Function]:
    """Say which steps of written proofs a test checks; it is read off the source, and does nothing in a run.

    Args:
        places: files in the folder `proofs` of the chapter with numbers of steps, such as ``"circuits.md: 1, 5"``.

    Raises:
        ValueError: if there is no place, or one is written otherwise (at import of the test module).
    """
    read_places(places)
    return lambda function: function


def read_places(places: Sequence[str]) -> list[tuple[str, int]]:
    """The steps that places such as ``"circuits.md: 1, 5"`` name, each as the file and the number.

    Raises:
        ValueError: if there is no place, or one is written otherwise or names a step twice.
    """
    found: list[tuple[str, int]] = []
    for place in places:
        match = _STEPS.fullmatch(place)
        if match is None:
            raise ValueError(f"Steps of a proof are named as in 'circuits.md: 1, 5', not {place!r}.")
        found += [(match[1], int(number)) for number in match[2].split(", ")]
    if not found or len(found) != len(set(found)):
        raise ValueError(f"Steps of proofs are named once each, and there is one at least, not {places!r}.")
    return found


def _marker(evidence: Sequence[Evidence]) -> Callable[[_Function], _Function]:
    """The decorator that attaches `evidence` as pytest marks, which `hypothesis.given` hands on."""
    if not evidence:
        raise ValueError("Evidence needs the id of a statement.")
    import pytest  # of the extra `test`: the ledger can be read without it

    def decorate(function: _Function) -> _Function:
        if not callable(function) or isinstance(function, type):
            raise ValueError(f"Evidence for {evidence[0].statement!r} belongs on a test function, not on {function!r}.")
        for one in evidence:
            function = getattr(pytest.mark, MARK)(one)(function)
        return function

    return decorate


def _hint(statement: object, known: tuple[str, ...]) -> str:
    """What the writer probably meant: close ids, or the prefixes that exist."""
    close = difflib.get_close_matches(str(statement), known, n=3)
    if close:
        return f"; close ids are {', '.join(close)}"
    prefixes = dict.fromkeys(name.partition(":")[0] for name in known)
    return f"; ids begin with one of {', '.join(f'{prefix}:' for prefix in prefixes)}"
