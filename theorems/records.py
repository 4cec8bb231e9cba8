"""Records of counterexamples: every printed hypothesis at the counterexample, and the conclusion that it violates.

A test fills the fixture `record` with numbers that it computed, and asserts nothing of its own about them:

    @counterexample("qstr:lemma-11", grade="exact")
    def test_printed_width_is_too_small(record: Record) -> None:
        record.hypothesis("1 <= q", 1, "<=", q)
        record.violated("the printed width is enough: error <= eps", error, "<=", eps)
        record.number("0.862", error)

A relation is decided by code: a hypothesis that does not hold, or a conclusion that does, fails the test. What was
recorded is committed in `counterexamples.json` of the chapter, by statement; each run compares it. A numeral of an
erratum or of a corrected form is tied to what computes it by `Record.number`: the value has to round to it.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from lemmata.numerics.runs.comparison import first_difference
from lemmata.theorems.ledger import Chapter, Statement

__all__ = [
    "FILE",
    "PROPERTY",
    "Record",
    "RecordError",
    "as_text",
    "fact_rows",
    "load_records",
    "numerals",
    "record_errors",
]

FILE = "counterexamples.json"
"""The name of the file in the folder of a chapter."""
PROPERTY = "record"
"""The name under which a test hands its record to the report of the run."""

Relation = Literal["=", "<", "<=", ">", ">="]
Rounded = Literal["nearest", "up", "down"]

_NUMERAL = re.compile(
    r"(?<![\w.^\\])(?<!\^\{)(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:e-?\d+)?(?![\w]|\.\d|,\d{3})", re.ASCII
)
_REFERENCE = re.compile(
    r"(?:theorem|lemma|corollary|proposition|definition|claim|remark|section|appendix|figure|table|equation|experiment"
    r"|informal|assumption|step|example|construction|fact|item|algorithm|line)s?\s+\(?[A-Z]?\.?\d[\w.]*\)?"
    r"(?:(?:, | and | to | or )\(?[A-Z]?\.?\d[\w.]*\)?)*|[a-z]+(?:-[a-z]+)*:[\w.-]+|[A-Z]\.\d[\w.]*",
    re.IGNORECASE,
)


class RecordError(AssertionError):
    """A record says what its numbers do not: a hypothesis fails, a conclusion holds, a numeral is another number."""


@dataclass
class Record:
    """What a test records of the statements that it is evidence for; `of` names one of them, None means all.

    Attributes:
        test: the test, as ``file::name``, with its case in brackets.
        statements: the entries of the ledger by id.
        refutes: the ids of those to which the test is a counterexample.
        facts: what was recorded so far, by statement.
    """

    test: str
    statements: Mapping[str, Statement]
    refutes: tuple[str, ...] = ()
    facts: dict[str, dict[str, list[Any]]] = field(default_factory=dict)

    def hypothesis(self, says: str, left: Any, relation: Relation, right: Any, *, of: str | None = None) -> None:
        """A hypothesis of the printed statement, which holds at the counterexample.

        Args:
            says: the hypothesis in words.
            left: a number that was computed: int, float, Fraction, fmpz, fmpq, arb, bool or a NumPy scalar.
            relation: between left and right.
            right: the other side.
            of: the id of the statement, where the test speaks of several and this of one.

        Raises:
            RecordError: if the relation does not hold, or cannot be decided.
        """
        if not decided(left, relation, right):
            raise RecordError(f"The counterexample leaves the hypothesis {says!r}: not {left} {relation} {right}.")
        self._add("hypotheses", [says, plain(left), relation, plain(right)], of, self.refutes)

    def no_hypotheses(self, why: str, *, of: str | None = None) -> None:
        """The printed statement has no hypothesis that a number could leave; ``why`` says so in words."""
        self._add("hypotheses", [why], of, self.refutes)

    def violated(self, says: str, left: Any, relation: Relation, right: Any, *, of: str | None = None) -> None:
        """A conclusion as printed, which does not hold at the counterexample; arguments as in `hypothesis`.

        Raises:
            RecordError: if the relation holds, or cannot be decided.
        """
        if decided(left, relation, right):
            raise RecordError(f"The printed conclusion {says!r} holds: {left} {relation} {right}.")
        self._add("violated", [says, plain(left), relation, plain(right)], of, self.refutes)

    def number(self, numeral: str, value: Any, *, rounded: Rounded = "nearest", of: str | None = None) -> None:
        """A numeral of the erratum or of the corrected form, and the number that it stands for.

        Args:
            numeral: as it stands in the ledger, such as "4e-10" or "1,289".
            value: what was computed.
            rounded: to the nearest, or up or down by less than one unit of the last digit.
            of: as in `hypothesis`.

        Raises:
            RecordError: if the numeral does not stand there, or is another number.
        """
        wanted = self._wanted(of, tuple(self.statements))
        found = [one for one in wanted if numeral in numerals(_texts(self.statements[one]))]
        if not found:
            raise RecordError(f"The erratum and the corrected form of {', '.join(wanted)} hold no numeral {numeral!r}.")
        if not _rounds(numeral, value, rounded):
            raise RecordError(f"The ledger says {numeral}, and the number is {value}.")
        for one in found:
            self._kept(one)["numbers"].append([numeral, plain(value)])

    def finish(self) -> None:
        """Ask whether the record is whole.

        Raises:
            RecordError: if a violated conclusion comes without hypotheses, or hypotheses without one.
        """
        for name, kept in self.facts.items():
            if bool(kept["violated"]) != bool(kept["hypotheses"]):
                missing = "hypotheses (or no_hypotheses)" if kept["violated"] else "violated conclusion"
                raise RecordError(f"{self.test}: the record of the counterexample to {name} has no {missing}.")

    def _add(self, kind: str, fact: list[Any], of: str | None, known: Sequence[str]) -> None:
        for one in self._wanted(of, known):
            self._kept(one)[kind].append(fact)

    def _wanted(self, of: str | None, known: Sequence[str]) -> Sequence[str]:
        if not known or (of is not None and of not in known):
            raise RecordError(f"{self.test} is no such evidence for {of or 'any statement'}: see its decorators.")
        return known if of is None else (of,)

    def _kept(self, name: str) -> dict[str, list[Any]]:
        return self.facts.setdefault(name, {"hypotheses": [], "violated": [], "numbers": []})


def decided(left: Any, relation: Relation, right: Any) -> bool:
    """Whether a relation between two numbers holds; balls decide it rigorously.

    Raises:
        RecordError: if a side is no real number, or balls leave it undecided.
    """
    from flint import arb

    a, b = _number(left), _number(right)
    if isinstance(a, arb) or isinstance(b, arb):
        a, b = (one if isinstance(one, arb) else _ball(one) for one in (a, b))
        less, more, equal = bool(a < b), bool(a > b), bool(a == b)
        known = {"<": (less, a >= b), "<=": (a <= b, more), ">": (more, a <= b), ">=": (a >= b, less)}
        yes, no = known.get(relation, (equal, less or more))
        if not (yes or no):
            raise RecordError(f"{left} {relation} {right} is not decided by these balls.")
        return bool(yes)
    table = {"=": a == b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}
    if relation not in table:
        raise RecordError(f"{relation!r} is no relation of a record; these are {', '.join(table)}.")
    return bool(table[relation])


def plain(value: Any) -> Any:
    """A number as JSON: exact ones as integers or texts such as "2/3", balls as texts."""
    from flint import arb

    number = _number(value)
    if isinstance(number, arb):
        return number.str(12)
    if isinstance(number, Fraction):
        if number.denominator != 1:
            return str(number)
        number = number.numerator
    if isinstance(number, int) and not isinstance(number, bool) and abs(number) > 2**53:
        return str(number)
    return number


def _number(value: Any) -> Any:
    """A bool, int, Fraction, finite float or infinity, or a ball."""
    from flint import arb, fmpq, fmpz

    value = value.item() if hasattr(value, "item") and getattr(value, "shape", None) == () else value
    if isinstance(value, fmpz):
        return int(value)
    if isinstance(value, fmpq):
        return Fraction(int(value.p), int(value.q))
    if isinstance(value, bool | int | Fraction | arb) or (isinstance(value, float) and not math.isnan(value)):
        return value
    raise RecordError(f"{value!r} is no real number, which a record needs.")


def _ball(value: Any) -> Any:
    from flint import arb, fmpq

    return arb(value) if isinstance(value, float) else arb(fmpq(*Fraction(value).as_integer_ratio()))


def _rounds(numeral: str, value: Any, rounded: Rounded) -> bool:
    """Whether a value rounds to the numeral, in units of its last digit."""
    from flint import arb

    said = Decimal(numeral.replace(",", ""))
    unit = Fraction(10) ** int(said.as_tuple().exponent)
    number = _number(value)
    if isinstance(number, arb):
        ends = (number.lower(), number.upper())
        return number.is_finite() and all(_rounds(numeral, float(one), rounded) for one in ends)
    if isinstance(number, float) and not math.isfinite(number):
        return False
    above = Fraction(said) - Fraction(number)
    # A float that ought to lie on the boundary may lie beside it by its rounding error.
    slack = abs(Fraction(said)) / 2**30 if isinstance(number, float) else Fraction(0)
    bounds = {"nearest": (-unit / 2, unit / 2), "up": (Fraction(0), unit), "down": (-unit, Fraction(0))}
    low, high = bounds[rounded]
    return low - slack <= above <= high + slack


def numerals(text: str) -> tuple[str, ...]:
    """The numerals of a text that some code has to compute: with a point or an exponent, or of three digits or more.

    Numbers of theorems, sections and the like, and ids, are no numerals.
    """
    found = []
    for match in _NUMERAL.finditer(_REFERENCE.sub(" ", text)):
        word = match[0]
        if len(re.sub(r"\D", "", word.partition("e")[0])) >= 3 or "." in word or "e" in word:
            found.append(word)
    return tuple(dict.fromkeys(found))


def _texts(statement: Statement) -> str:
    return "\n".join(text for text in (statement.erratum, statement.corrected) if text)


@functools.cache
def load_records(folder: Path) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """What is committed for the chapter in a folder: the records by statement; empty if there are none."""
    path = folder / FILE
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def as_text(records: Mapping[str, Sequence[Mapping[str, Any]]], order: Iterable[str]) -> str:
    """The text of the file: statements in the order of the ledger, one fact per line."""
    entries = []
    for name in order:
        blocks = []
        for one in records.get(name, ()):
            rows = [f'"test": {json.dumps(one["test"])}']
            for kind in ("hypotheses", "violated", "numbers"):
                lines = ",\n".join(f"  {json.dumps(fact, ensure_ascii=False)}" for fact in one[kind])
                rows.append(f'"{kind}": [\n{lines}\n ]' if lines else f'"{kind}": []')
            blocks.append("{" + ",\n ".join(rows) + "}")
        if blocks:
            entries.append(f"{json.dumps(name)}: [" + ",\n".join(blocks) + "]")
    return "{" + ",\n".join(entries) + "}\n"


def fact_rows(records: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """The rows of a table for a reader: hypothesis or conclusion, in words, and both sides with what holds of them."""
    rows = []
    for one in records:
        for says, *sides in one["hypotheses"]:
            rows.append(("hypothesis", says, f"{_sides(sides)}: holds" if sides else ""))
        rows += [("conclusion", says, f"{_sides(sides)}: violated") for says, *sides in one["violated"]]
    return rows


def _sides(sides: Sequence[Any]) -> str:
    return " ".join(f"{one:.6g}" if isinstance(one, float) else str(one) for one in sides)


def record_errors(
    chapter: Chapter,
    made: Mapping[str, Sequence[Mapping[str, Any]]],
    ran: Iterable[str],
    *,
    whole: bool,
    refuting: Mapping[str, Iterable[str]],
) -> Iterator[str]:
    """A sentence for each record that is missing or differs from what is committed, and each numeral without code.

    Args:
        chapter: with its folder.
        made: the records of this run, by statement.
        ran: the tests that passed in this run, whole functions.
        whole: whether all tests of the chapter were run; else nothing that is missing is an error.
        refuting: by statement, the tests that are deciding counterexamples.
    """
    if chapter.folder is None or not (whole or made):
        return
    committed, passed = load_records(chapter.folder), set(ran)

    def here(one: Mapping[str, Any]) -> bool:
        return one["test"].partition("[")[0] in passed

    for statement in chapter.statements:
        now = [one for one in made.get(statement.id, ()) if here(one)]
        kept = [one for one in committed.get(statement.id, ()) if here(one)]
        if difference := first_difference(_keyed(now), _keyed(kept), where=f"the records of {statement.id}"):
            yield f"{chapter.name}/{FILE}: {difference}; --write-records writes what was computed."
        if not whole:
            continue
        lost = [one["test"] for one in committed.get(statement.id, ()) if not here(one)]
        if lost:
            yield f"{statement.id}: {FILE} has a record of {lost[0]}, which did not pass here."
        if statement.fails is not None:
            tests = {one["test"].partition("[")[0] for one in now if one["violated"]}
            if not tests & set(refuting.get(statement.id, ())):
                yield f"{statement.id} is {statement.verdict}, and no deciding counterexample to it has a record."
        tied = {numeral for one in now for numeral, _ in one["numbers"]}
        if statement.fails is not None and (free := [one for one in numerals(_texts(statement)) if one not in tied]):
            yield f"{statement.id}: no code computes {', '.join(free)} in its erratum or corrected form."


def _keyed(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {one["test"]: {name: fact for name, fact in one.items() if name != "test"} for one in records}
