"""Certificates of group margins as JSON documents, format ``lemmata/group-margin`` version 1 (see FORMAT.md).

A document states the group by generators, its classes and characters, and one feasible vector for each player of the
margin game; `certificates.kernel` proves or refutes it without this toolkit. The vectors are scaled by the value v of
the game and averaged over the Galois group, because then they need no algebraic numbers but square roots:

    y_R = eps_R / (v w_R), w_R = d_R^((k+1)/2) / s_R^(k-1):  a rational number for each character,
    u_C = t_C / v:                                            a rational combination of square roots for each class.

A Galois automorphism permutes the rows of the table, and the columns; both leave the game as it is, so the averages are
optimal again. They are invariant, so they solve a game whose payoffs d_R - Re chi_R(C) are averaged and thus rational.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Any

from flint import arb, fmpq

from certificates import kernel
from certificates.characters.tables import CharacterTable
from certificates.game.margin_game import GameSolution
from numerics.exact.balls import precision
from numerics.exact.cyclotomic.numbers import Cyclotomic, as_radicals, rational, sqrt_rational
from numerics.groups.permutations import PermutationGroup
from numerics.runs.files import write_atomically

__all__ = [
    "FORMAT",
    "ScaledPair",
    "certificate_document",
    "closest_decimals",
    "dumps",
    "galois_orbits",
    "load",
    "scaled_pair",
    "shares",
    "write",
]

FORMAT = "lemmata/group-margin"
VERSION = 1

Document = dict[str, Any]
Radicals = dict[int, Fraction]


@dataclass(frozen=True)
class ScaledPair:
    """Scaled masses y_R, one for each of the K characters, and scaled class weights u_C, one for each of the K classes.

    Both are constant on Galois orbits, and zero (an empty sum) for the trivial character and the identity. Here a pair
    of conjugate characters has two equal masses, which `certificates.game.margin_game` adds; likewise a pair of inverse
    classes.
    """

    masses: tuple[Fraction, ...]
    weights: tuple[Radicals, ...]


def scaled_pair(solution: GameSolution) -> ScaledPair:
    """Return the scaled and averaged form of a solved game.

    Raises ``ValueError`` when the averages are not rational masses and weights in square roots; vertices of the optimal
    faces, the closed form, and rational combinations of them never fail.
    """
    game = solution.game
    table, size = game.table, len(game.table.class_sizes)
    inverse_value = 1 / solution.value
    rows = table.values[:, list(table.inverses)]  # the conjugate characters
    y: list[Cyclotomic] = [rational(0)] * size
    for position, R in enumerate(game.rows):
        mass = solution.eps[position] * inverse_value / game.weights[position]
        conjugate = R if table.indicators[R] else next(S for S in range(size) if all(table.values[S] == rows[R]))
        for S in (R, conjugate):
            y[S] = y[S] + mass / 2
    u: list[Cyclotomic] = [rational(0)] * size
    for position, C in enumerate(game.columns):
        for D in (C, table.inverses[C]):
            u[D] = u[D] + solution.t[position] * inverse_value / 2
    row_orbits, column_orbits = galois_orbits(table)
    masses = [_fraction(mass.to_fmpq()) for mass in _averages(y, row_orbits)]
    weights = []
    for weight in _averages(u, column_orbits):
        sums = as_radicals(weight)
        if sums is None:
            raise ValueError(f"The class weight {weight} of {table.name} is no rational combination of square roots.")
        weights.append({m: _fraction(q) for m, q in sums.items()})
    return ScaledPair(tuple(masses), tuple(weights))


def _fraction(q: fmpq) -> Fraction:
    return Fraction(int(q.p), int(q.q))


def galois_orbits(table: CharacterTable) -> tuple[list[tuple[Fraction, ...]], list[tuple[Fraction, ...]]]:
    """Return a label for each row and each column, equal exactly on Galois orbits: the mean of its conjugates."""
    order, rows = _terms(table)
    means = kernel.galois_means(order, rows)
    return [tuple(row) for row in means], list(zip(*means, strict=True))


def _averages(entries: Sequence[Cyclotomic], orbits: Sequence[Hashable]) -> list[Cyclotomic]:
    members: dict[Hashable, list[int]] = {}
    for index, orbit in enumerate(orbits):
        members.setdefault(orbit, []).append(index)
    means = {
        orbit: sum((entries[i] for i in which), start=rational(0)) / len(which) for orbit, which in members.items()
    }
    return [means[orbit] for orbit in orbits]


def _terms(table: CharacterTable) -> tuple[int, list[list[kernel.Terms]]]:
    """Return N and the table as integers {e: c}, the coordinates of sum c zeta^e in the power basis of Q(zeta_N)."""
    order = lcm(*(value.minimal_order for value in table.values.flat))
    rows = []
    for row in table.values:
        coefficients = [value.minimal().lifted(order).coeffs() for value in row]
        if any(c.q != 1 for value in coefficients for c in value):
            raise ValueError(f"A character of {table.name} has a value that is no algebraic integer.")
        rows.append([{e: int(c.p) for e, c in enumerate(value) if c != 0} for value in coefficients])
    return order, rows


def certificate_document(
    group: PermutationGroup, table: CharacterTable, pair: ScaledPair, factors: int = 2, digits: int = 30
) -> Document:
    """Return the document that claims the margin proved by a pair, for a table whose columns are ``group.classes``.

    The decimals have ``digits`` significant digits. The grade is ``exact`` when masses and weights prove the same
    value, else ``enclosed``. Raises ``ValueError`` when the shapes do not fit; the kernel is the judge of the rest.
    """
    classes = group.classes
    if tuple(int(size) for size in classes.sizes) != table.class_sizes:
        raise ValueError(
            f"The columns of the table of {table.name} are not the classes of {group.name} in their order."
        )
    if len(pair.masses) != len(table.class_sizes) or len(pair.weights) != len(table.class_sizes):
        raise ValueError(f"The table of {table.name} needs {len(table.class_sizes)} scaled masses and class weights.")
    if digits < 1:
        raise ValueError(f"A decimal needs at least one digit, not {digits}.")
    order, rows = _terms(table)
    indicators = table.indicators
    mass_total: Radicals = {}
    for d, indicator, mass in zip(table.degrees, indicators, pair.masses, strict=True):
        w = kernel.payoff_scale(d, indicator, factors)
        mass_total = kernel.plus(mass_total, w, mass)
    weight_total: Radicals = {}
    for weight in pair.weights:
        weight_total = kernel.plus(weight_total, weight)
    if kernel.sign(mass_total) <= 0 or kernel.sign(weight_total) <= 0:
        raise ValueError(f"The masses and the class weights of {group.name} must have positive sums.")
    exact = mass_total == weight_total
    low = kernel.reciprocal_margin(mass_total, group.order, factors)
    high = kernel.reciprocal_margin(weight_total, group.order, factors)
    lower, upper = closest_decimals(low, high, digits)
    return {
        "format": FORMAT,
        "version": VERSION,
        "group": {
            "name": group.name,
            "degree": group.degree,
            "order": group.order,
            "generators": [list(g) for g in group.generators],
        },
        "factors": factors,
        "classes": [
            {
                "representative": [int(x) for x in classes.representatives[C]],
                "size": table.class_sizes[C],
                "inverse": int(table.inverses[C]),
                "square": int(table.squares[C]),
                "scaled_weight": {str(m): str(q) for m, q in weight.items()},
            }
            for C, weight in enumerate(pair.weights)
        ],
        "characters": {
            "root_order": order,
            "rows": [
                {"values": [_written(value) for value in row], "indicator": indicator, "scaled_mass": str(mass)}
                for row, indicator, mass in zip(rows, indicators, pair.masses, strict=True)
            ],
        },
        "value": {"lower": kernel.text(mass_total), "upper": kernel.text(weight_total)},
        "margin": {"exact": kernel.text(low) if exact else None, "lower": lower, "upper": upper},
        "grade": "exact" if exact else "enclosed",
    }


def _written(terms: kernel.Terms) -> int | list[list[int]]:
    if set(terms) <= {0}:
        return terms.get(0, 0)
    return [[c, e] for e, c in terms.items()]


def closest_decimals(low: Radicals, high: Radicals, digits: int) -> tuple[str, str]:
    """Return the largest decimal <= 1/low and the smallest >= 1/high with equally many places.

    There are as many places as the lower one needs for ``digits`` significant digits.
    """
    places = digits
    while (units := _floor(low, places)) < 10 ** (digits - 1):
        places += max(1, digits - len(str(units)))
    top = _floor(high, places)
    exact = high.keys() == {1} and (10**places / high[1]).denominator == 1
    return _decimal(units, places), _decimal(top + (not exact), places)


def _decimal(units: int, places: int) -> str:
    return f"0.{units:0{places}d}"


def _floor(reciprocal: Radicals, places: int) -> int:
    """Return floor(10^places / sum q sqrt(m)), which needs a ball only where the number is irrational."""
    if reciprocal.keys() == {1}:
        return int(10**places / reciprocal[1])
    bits = 64 + 4 * places
    while True:
        with precision(bits):
            total = sum((arb(fmpq(q.numerator, q.denominator)) * arb(m).sqrt() for m, q in reciprocal.items()), arb(0))
            floor = (arb(10) ** places / total).floor().unique_fmpz()
        if floor is not None:
            return int(floor)
        bits *= 2


def shares(document: Document) -> tuple[Cyclotomic, list[Cyclotomic], list[Cyclotomic]]:
    """Return the value v, the masses eps_R of the characters and the weights t_C of the classes, of a valid document.

    eps_R = y_R w_R / (sum of all) and t_C = u_C / (sum of all) are exact and add up to 1. A pair of conjugate
    characters has two equal entries, and so has a pair of inverse classes. For ``enclosed`` v is the lower bound.
    """
    rows, k = document["characters"]["rows"], document["factors"]
    masses = [
        Fraction(row["scaled_mass"]) * _number(kernel.payoff_scale(row["values"][0], row["indicator"], k))
        for row in rows
    ]
    weights = [
        _number({int(m): Fraction(q) for m, q in entry["scaled_weight"].items()}) for entry in document["classes"]
    ]
    inverse_value, total = 1 / sum(masses, start=rational(0)), 1 / sum(weights, start=rational(0))
    return inverse_value, [mass * inverse_value for mass in masses], [weight * total for weight in weights]


def _number(x: Radicals) -> Cyclotomic:
    return sum((sqrt_rational(m) * q for m, q in x.items()), start=rational(0))


def dumps(document: Document) -> bytes:
    """Return the bytes of a document: the same for equal documents, ASCII, one line."""
    return (json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n").encode("ascii")


def write(document: Document, path: str | Path) -> None:
    """Write a document to a file as `numerics.runs.files.write_atomically` does."""
    write_atomically(dumps(document), path)


def load(path: str | Path) -> Document:
    """Return the document in a file, of the right form but not checked; run `certificates.kernel` on it for that.

    Raises ``ValueError`` for anything that is no document of this format, and ``OSError`` for an unreadable file.
    """
    with Path(path).open("rb") as file:
        data = file.read(kernel.MAX_BYTES + 1)
    try:
        document = kernel.parse(data)
        kernel.Document(document)
    except kernel.MalformedError as error:
        raise ValueError(f"{path} is no certificate of the format {FORMAT} version {VERSION}: {error}.") from error
    return document
