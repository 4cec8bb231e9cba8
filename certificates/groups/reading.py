"""What a certificate file says, in the terms of the theorem: masses, class weights, margins by class, the condition.

Everything here follows from the numbers in the document by arithmetic on sums of square roots, because it is invariant
under the Galois group (see `certificates.groups.format`). Only the uniqueness of the optimum needs the characters
themselves: `solution_of` rebuilds the solved game for `certificates.game.faces`. Nothing is checked here that the
kernel checks.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from certificates import kernel
from certificates.characters.dixon import atlas_names
from certificates.characters.tables import CharacterTable
from certificates.game.margin_game import GameSolution, MarginGame, margin_scale, verify
from certificates.groups.format import Document, shares
from numerics.exact.cyclotomic.numbers import Cyclotomic
from numerics.groups.permutations import cycle_notation

__all__ = ["ClassReading", "IrrepReading", "Reading", "read", "solution_of", "table_of"]


@dataclass(frozen=True)
class ClassReading:
    """A nontrivial conjugacy class, or a pair of mutually inverse ones: how wrong labels in it are weighted.

    ``element`` is in cycle notation; ``size`` and ``weight`` count both classes of a pair. ``margin`` is the margin of
    the network at these wrong labels divided by the smallest one. ``condition`` is the sign of the condition sum.
    """

    name: str
    element: str
    size: int
    weight: Cyclotomic
    margin: Fraction
    condition: int


@dataclass(frozen=True)
class IrrepReading:
    """A nontrivial irreducible representation, or a conjugate pair, and its share ``mass`` of the network."""

    name: str
    degree: int
    indicator: int
    mass: Cyclotomic


@dataclass(frozen=True)
class Reading:
    """A certificate in the terms of the theorem.

    ``gamma``: the lower bound of the margin, exactly; for the grade ``exact`` the margin. ``excess``: it, divided by
    the closed form. ``condition``: ``"strict"`` when all condition sums are negative, ``"ties"`` when some vanish and
    none is positive, else ``"fails"``. ``closed_form``: whether the margin is the closed form, compared exactly.
    """

    name: str
    order: int
    class_count: int
    factors: int
    grade: str
    classes: tuple[ClassReading, ...]
    irreps: tuple[IrrepReading, ...]
    gamma: Cyclotomic
    closed_form: bool
    excess: float
    condition: str


def read(document: Document) -> Reading:
    """Return the reading of a well-formed document (`certificates.groups.format.load`, `certificate_document`)."""
    group, factors = document["group"], document["factors"]
    entries, rows = document["classes"], document["characters"]["rows"]
    order, count = group["order"], len(entries)
    value, masses, weights = shares(document)
    means = kernel.galois_means(*_terms(document))
    degrees = [row["values"][0] for row in rows]
    scales = [kernel.payoff_scale(d, row["indicator"], factors) for d, row in zip(degrees, rows, strict=True)]
    trivial = _trivial_row(means)
    nontrivial = [R for R in range(count) if trivial != R]

    class_names, irrep_names = _names(document)
    classes = []
    for C in range(1, count):
        both = sorted({C, entries[C]["inverse"]})
        if both[0] < C:
            continue
        margin = sum((Fraction(rows[R]["scaled_mass"]) * (degrees[R] - means[R][C]) for R in nontrivial), Fraction(0))
        condition: kernel.Radicals = {}
        for R in nontrivial:  # the sum over a Galois orbit of rows is the sum of the means
            condition = kernel.plus(condition, scales[R], means[R][C])
        classes.append(
            ClassReading(
                " and ".join(class_names[D] for D in both),
                cycle_notation(entries[C]["representative"]),
                sum(entries[D]["size"] for D in both),
                weights[C] * len(both),
                margin,
                kernel.sign(condition),
            )
        )

    irreps, conjugates = [], _conjugates(document)
    for R in nontrivial:
        both = sorted({R, conjugates[R]})
        if both[0] < R:
            continue
        names = " and ".join(irrep_names[S] for S in both)
        irreps.append(IrrepReading(names, degrees[R], rows[R]["indicator"], masses[R] * len(both)))

    total: kernel.Radicals = {}  # S = sum d w; the closed form has the value n / S
    for R in nontrivial:
        total = kernel.plus(total, scales[R], Fraction(degrees[R]))
    lower: kernel.Radicals = {}  # the value is 1 / this
    for R in nontrivial:
        lower = kernel.plus(lower, scales[R], Fraction(rows[R]["scaled_mass"]))
    signs = {reading.condition for reading in classes}
    return Reading(
        name=group["name"],
        order=order,
        class_count=count,
        factors=factors,
        grade=document["grade"],
        classes=tuple(classes),
        irreps=tuple(irreps),
        gamma=margin_scale(order, factors) * value,
        closed_form=document["grade"] == "exact" and kernel.plus({}, total, Fraction(1, order)) == lower,
        excess=float(value) * _float(total) / order,
        condition="fails" if 1 in signs else "ties" if 0 in signs else "strict",
    )


def table_of(document: Document) -> CharacterTable:
    """Return the character table in a document, the trivial character first.

    Raises ``ValueError`` when it is not a character table (the kernel rejects such a document).
    """
    order, terms = _terms(document)
    sequence = _trivial_first(document)
    values = np.empty((len(terms), len(terms)), dtype=object)
    for position, R in enumerate(sequence):
        for C, value in enumerate(terms[R]):
            values[position, C] = Cyclotomic(order, [value.get(e, 0) for e in range(order)]).minimal()
    class_names, irrep_names = _names(document)
    entries = document["classes"]
    return CharacterTable(
        document["group"]["name"],
        values,
        tuple(entry["size"] for entry in entries),
        tuple(entry["square"] for entry in entries),
        tuple(entry["inverse"] for entry in entries),
        class_names,
        tuple(irrep_names[R] for R in sequence),
    )


def solution_of(document: Document) -> GameSolution:
    """Return the exact optimal pair in a document, verified again.

    Raises ``ValueError`` for the grade ``enclosed``, and when the pair is not optimal.
    """
    if document["grade"] != "exact":
        raise ValueError(f"The certificate of {document['group']['name']} encloses the margin; it holds no optimum.")
    value, masses, weights = shares(document)
    game = MarginGame(table_of(document), document["factors"])
    sequence = _trivial_first(document)
    eps = [masses[sequence[R]] * (2 if game.table.indicators[R] == 0 else 1) for R in game.rows]
    t = [weights[C] * (1 if game.table.inverses[C] == C else 2) for C in game.columns]
    return verify(game, value, np.array(eps, dtype=object), np.array(t, dtype=object))


def _terms(document: Document) -> tuple[int, list[list[kernel.Terms]]]:
    order = document["characters"]["root_order"]
    return order, [
        [kernel.cyclotomic_integer(value, "values", order) for value in row["values"]]
        for row in document["characters"]["rows"]
    ]


def _names(document: Document) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return names in the style of the ATLAS: element order and letter, degree and letter."""
    orders = [_element_order(entry["representative"]) for entry in document["classes"]]
    degrees = [row["values"][0] for row in document["characters"]["rows"]]
    return atlas_names(orders, "A"), atlas_names(degrees, "a")


def _element_order(permutation: list[int]) -> int:
    lengths, seen = {1}, set()
    for start in range(len(permutation)):
        length, point = 0, start
        while point not in seen:
            seen.add(point)
            length, point = length + 1, permutation[point]
        lengths.add(max(length, 1))
    return lcm(*lengths)


def _trivial_first(document: Document) -> list[int]:
    """Return the rows of a document with the trivial character moved to the front."""
    order, terms = _terms(document)
    first = _trivial_row(kernel.galois_means(order, terms))
    return [first, *(R for R in range(len(terms)) if first != R)]


def _trivial_row(means: list[list[Fraction]]) -> int:
    return next(R for R, row in enumerate(means) if all(mean == 1 for mean in row))


def _conjugates(document: Document) -> list[int]:
    """Return for each character the row of its complex conjugate, whose values are those at the inverse classes.

    Floating point decides: different irreducible characters differ by more than 1 somewhere.
    """
    order, terms = _terms(document)
    roots = np.exp(2j * np.pi * np.arange(order) / order)
    values = np.array([[sum(c * roots[e] for e, c in value.items()) for value in row] for row in terms])
    conjugates = values[:, [entry["inverse"] for entry in document["classes"]]]
    return [int(np.abs(values - row).max(axis=1).argmin()) for row in conjugates]


def _float(x: kernel.Radicals) -> float:
    return sum(float(q) * m**0.5 for m, q in x.items())
