"""A second opinion on a certificate: GAP recomputes everything that it claims, by algorithms that are not ours.

GAP (the optional extra ``gap``) forms the group from the generators in the document, its conjugacy classes, irreducible
characters and Frobenius-Schur indicators, compares them with those in the document, and recomputes both bounds of the
margin from its own characters in its own exact arithmetic. The program is `second_opinion.g` beside this file; only
integers, fractions and the texts to compare with are handed to it, and no result of this toolkit. Where the closed form
is the margin, GAP finds the margin without the masses and weights of the document.

What is malformed gets no opinion: that a document has the right form is left to the kernel.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from lemmata.certificates import kernel
from lemmata.certificates.groups.format import Document
from lemmata.numerics.groups.names import gap_interpreter

__all__ = ["Finding", "second_opinion"]

PROGRAM = Path(__file__).with_suffix(".g")


@dataclass(frozen=True)
class Finding:
    """Whether GAP agrees with one part of a document.

    subject: "order", "classes", "characters", "indicators", "masses", "weights", "value", "margin" or "closed form".
    detail: what GAP found.
    """

    subject: str
    agrees: bool
    detail: str


def second_opinion(document: Document) -> tuple[Finding, ...]:
    """What GAP finds about each part of a well-formed document; the last one where nothing further can be compared.

    All parts are compared, nine findings, unless GAP finds another order, other classes or other characters.

    Raises:
        ValueError: for what is no document of the format, without GAP, and when GAP gives up (for want of memory, for
            example).
    """
    try:
        kernel.Document(document)
    except kernel.MalformedError as error:
        raise ValueError(f"There is no opinion on what is no certificate: {error}.") from error
    gap = gap_interpreter("A second opinion needs")
    found = gap.eval(PROGRAM.read_text(encoding="ascii"))(gap.eval(_record(document)))
    return tuple(Finding(str(subject), bool(agrees), str(detail)) for subject, agrees, detail in found)


def _record(document: Document) -> str:
    """The numbers of a document as a record in the language of GAP, which counts from 1."""
    group, classes, characters = document["group"], document["classes"], document["characters"]
    margin = document["margin"]
    parts: dict[str, Any] = {
        "order": group["order"],
        "factors": document["factors"],
        "generators": [_from_one(g) for g in group["generators"]],
        "representatives": [_from_one(entry["representative"]) for entry in classes],
        "sizes": [entry["size"] for entry in classes],
        "inverses": _from_one([entry["inverse"] for entry in classes]),
        "squares": _from_one([entry["square"] for entry in classes]),
        "weights": [[[int(m), Fraction(q)] for m, q in entry["scaled_weight"].items()] for entry in classes],
        "root_order": characters["root_order"],
        "values": [[_terms(value) for value in row["values"]] for row in characters["rows"]],
        "indicators": [row["indicator"] for row in characters["rows"]],
        "masses": [Fraction(row["scaled_mass"]) for row in characters["rows"]],
        "exact": document["grade"] == "exact",
        "value_lower": document["value"]["lower"],
        "value_upper": document["value"]["upper"],
        "margin_exact": margin["exact"] or "",
        "lower": Fraction(margin["lower"]),
        "upper": Fraction(margin["upper"]),
        "steps": [_step(margin["lower"]), _step(margin["upper"])],
    }
    return f"rec({', '.join(f'{name} := {_in_gap(value)}' for name, value in parts.items())})"


def _from_one(numbers: list[int]) -> list[int]:
    return [number + 1 for number in numbers]


def _terms(value: int | list[list[int]]) -> list[list[int]]:
    """Pairs [c, e] for sum c zeta^e, also for an integer."""
    return [[value, 0]] if isinstance(value, int) else value


def _step(decimal: str) -> Fraction:
    """The unit of the last place."""
    exponent = Decimal(decimal).as_tuple().exponent
    assert isinstance(exponent, int), "the format has digits only"
    return Fraction(10) ** exponent


def _in_gap(value: bool | int | Fraction | str | list[Any]) -> str:
    """A value in the language of GAP; strings are escaped as in JSON, which GAP reads alike for ASCII."""
    if isinstance(value, list):
        return f"[{','.join(map(_in_gap, value))}]"
    return json.dumps(value) if isinstance(value, bool | str) else str(value)
