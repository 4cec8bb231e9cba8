"""What a file claims, in the words of Statement.v alone, and the short file in which Coq reads this claim and no other.

The file of a proof is long, and a stranger may have written it: its names can mean anything. So the claim stands in a
file of its own (`conclusion`). There the table and the statement are read before the file of the proof is, so that
nothing in that can change what they mean; then the proof has to be one of this claim.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Claim", "claim_in", "conclusion"]

NUMBER = r"\d{1,10000}"
DIVISOR = r"[1-9]\d{0,9999}"
"""In Coq x / 0 is 0, which no reader would take it for."""
RATIONAL = rf"\(?{NUMBER} / {DIVISOR}\)?"
MARGIN = rf"{RATIONAL}|\({RATIONAL} \* sqrt {NUMBER}\)"
CELL = rf"{NUMBER} {NUMBER}"
POSSIBLE = rf"\(exists net, normalized_margin_at_least T {RATIONAL} net\)"
BOTH = (
    rf"\(exists net, normalized_margin_at_least T {RATIONAL} net /\\ right_at T {CELL} {NUMBER} net\)",
    rf"\(exists net, normalized_margin_at_least T {RATIONAL} net /\\ wrong_at T {CELL} {NUMBER} net\)",
)
STATEMENTS = (
    rf"maximum_margin_between T (?P<lower>{MARGIN}) (?P<upper>{MARGIN})",
    rf"not_given T {CELL} /\\ {RATIONAL} <= {RATIONAL} /\\ {POSSIBLE} /\\ "
    rf"\(forall net, normalized_margin_at_least T {RATIONAL} net -> (?:right|wrong)_at T {CELL} {NUMBER} net\)",
    rf"not_given T {CELL} /\\ \(forall net g, normalized_margin_at_least T g net -> g <= {RATIONAL}\) /\\ "
    rf"{BOTH[0]} /\\ {BOTH[1]}",
)
"""All that is ever claimed of a table T; every name in it is one of Statement.v or of Coq's library."""
TABLE = rf"Table {NUMBER} {NUMBER} {NUMBER} \[\({NUMBER}, {NUMBER}, {NUMBER}\)(?:; \({NUMBER}, {NUMBER}, {NUMBER}\))*\]"


@dataclass(frozen=True)
class Claim:
    """What a theorem says of a table.

    Attributes:
        theorem: the name of the theorem in the file of its proof.
        table: ``Table rows columns labels [(a, b, y); ..]``, as in Statement.v, numbers of ``nat``.
        statement: of the table T, as in Statement.v; one of `STATEMENTS`.

    Raises:
        ValueError: for a table or a statement of another form, with a cell outside of the table, or one that is given
            twice.
    """

    theorem: str
    table: str
    statement: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z_]+", self.theorem):
            raise ValueError(f"A theorem has a name in small letters, not {self.theorem[:40]!r}.")
        if not re.fullmatch(TABLE, self.table):
            raise ValueError("The table is not written as Table rows columns labels [(a, b, y); ..].")
        if not any(re.fullmatch(form, self.statement) for form in STATEMENTS):
            raise ValueError(
                f"The statement of {self.theorem} is none that this program knows, about a maximum margin or a cell "
                f"that is not given: {self.statement[:200]}"
            )
        rows, columns, labels, *numbers = map(int, re.findall(r"\d+", self.table))
        cells = list(zip(*[iter(numbers)] * 3, strict=True))
        if len({cell[:2] for cell in cells}) < len(cells):
            raise ValueError("The table has a cell twice.")
        cells += [tuple(map(int, at)) for at in re.findall(r"(?:right|wrong)_at T (\d+) (\d+) (\d+)", self.statement)]
        if any(a >= rows or b >= columns or y >= labels for a, b, y in cells):
            raise ValueError("A cell or a label is outside of the table, where the norm counts no weights.")

    @property
    def defined(self) -> str:
        """The definition of T, in lines."""
        cells = re.sub(r"(?:\([^()]*\); ){8}", lambda some: f"{some[0].rstrip()}\n   ", self.table)
        return f"Definition T : table := {cells}."

    @property
    def stated(self) -> str:
        """The statement, in lines."""
        return self.statement.replace(" /\\ ", " /\\\n  ")

    def squares(self) -> tuple[Fraction, Fraction]:
        """Of the two bounds of a maximum margin; neither is negative.

        Raises:
            ValueError: where something else is claimed.
        """
        found = re.fullmatch(STATEMENTS[0], self.statement)
        if found is None:
            raise ValueError(f"{self.theorem} is about no maximum margin.")
        return _square(found["lower"]), _square(found["upper"])


def _square(bound: str) -> Fraction:
    p, q, m = map(int, [*re.findall(r"\d+", bound), "1"][:3])
    return Fraction(p, q) ** 2 * m


def claim_in(sentences: Sequence[str]) -> Claim:
    """The claim of a file, from its sentences (`lemmata.certificates.coq.received.sentences`).

    It is what will be proved or not, whatever the file means by these words.

    Raises:
        ValueError: where they define no table T, or state not exactly one theorem.
    """
    tables = [rest for one in sentences if (rest := one.removeprefix("Definition T : table := ")) != one]
    theorems = [found for one in sentences if (found := re.fullmatch(r"Theorem (\w+) : (.*)", one))]
    if len(tables) != 1 or len(theorems) != 1:
        raise ValueError(
            f"A file of a certificate defines one table T and ends with one theorem; this one has {len(tables)} and "
            f"{len(theorems)}."
        )
    return Claim(theorems[0][1], tables[0], theorems[0][2])


def conclusion(claims: Sequence[Claim], library: str) -> str:
    """The file that concludes claims from a library: the i-th from its module ``M<i>``, one alone from the library.

    Args:
        claims: at least one.
        library: the name of a compiled file, in the folder ``Received``.
    """
    parts = [
        "(* What is claimed, in the words of Statement.v. *)",
        "From Coq Require Import Reals List.",
        "From Lemmata Require Import Statement.",
        "Import ListNotations.",
        "",
    ]
    for i, claim in enumerate(claims):
        parts += [f"Module Claim{i}.", "Local Open Scope nat_scope.", claim.defined, "Local Open Scope R_scope."]
        parts += [f"Definition claim : Prop :=\n  {claim.stated}.", f"End Claim{i}."]
    parts += [
        "",
        "(* What is read from here on cannot change what stands above. *)",
        f"From Received Require {library}.",
    ]
    for i, claim in enumerate(claims):
        place = f"Received.{library}" if len(claims) == 1 else f"Received.{library}.M{i}"
        parts += [f"Theorem proved_{i} : Claim{i}.claim.", f"Proof. exact {place}.{claim.theorem}. Qed."]
    every = ", ".join(f"proved_{i}" for i in range(len(claims)))
    return "\n".join([*parts, f"Definition proved := ({every}).", "Print Assumptions proved.", ""])
