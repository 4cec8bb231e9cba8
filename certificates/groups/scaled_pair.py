"""Optimal pairs of the margin game without cyclotomic numbers: scaled by the value, averaged over the Galois group.

The vectors of a document are scaled by the value v of the game and averaged over the Galois group, because then they
need no algebraic numbers but square roots:

    y_R = eps_R / (v w_R), w_R = d_R nu^((k-1)/2):  a rational number for each character,
    u_C = t_C / v:                                  a rational combination of square roots for each class.

A Galois automorphism permutes the rows of the table, and the columns; both leave the game as it is, so the averages are
optimal again. They are invariant, so they solve a game whose payoffs d_R - Re chi_R(C) are averaged and thus rational.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, lcm
from typing import TypeVar

from lemmata.certificates import kernel
from lemmata.certificates.characters.tables import CharacterTable
from lemmata.certificates.game.enclosure import GameEnclosure
from lemmata.certificates.game.margin_game import GameSolution
from lemmata.certificates.game.rational import RationalGame
from lemmata.certificates.game.scaled import ScaledSolution
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic, as_radicals, rational
from lemmata.numerics.exact.rationals import as_fraction

__all__ = ["ScaledPair", "character_terms", "enclosed_pair", "folded_pair", "galois_orbits", "scaled_pair"]

ROOT_BITS = 128  # the precision of a square root that scales enclosed class weights

Orbit = tuple[Fraction, ...]  # a label: the means of a row, or of a column, over the Galois group
Number = TypeVar("Number", Fraction, Cyclotomic)


@dataclass(frozen=True)
class ScaledPair:
    """Scaled masses y_R, one for each of the K characters, and scaled class weights u_C, one for each of the K classes.

    Both are constant on Galois orbits, and zero (an empty sum) for the trivial character and the identity. Here a pair
    of conjugate characters has two equal masses, which `lemmata.certificates.game.margin_game` adds; likewise a pair of
    inverse classes.
    """

    masses: tuple[Fraction, ...]
    weights: tuple[kernel.Radicals, ...]


def scaled_pair(solution: GameSolution) -> ScaledPair:
    """The scaled and averaged form of a solved game.

    Raises:
        ValueError: when the averages are not rational masses and weights in square roots; vertices of the optimal
            faces, the closed form, and rational combinations of them never fail.
    """
    game = solution.game
    table, size = game.table, len(game.table.class_sizes)
    inverse_value = 1 / solution.value
    y: list[Cyclotomic] = [rational(0)] * size
    for position, R in enumerate(game.rows):
        mass = solution.eps[position] * inverse_value / game.weights[position]
        for S in (R, table.conjugates[R]):
            y[S] = y[S] + mass / 2
    u: list[Cyclotomic] = [rational(0)] * size
    for position, C in enumerate(game.columns):
        for D in (C, table.inverses[C]):
            u[D] = u[D] + solution.t[position] * inverse_value / 2
    row_orbits, column_orbits = galois_orbits(table)
    masses = [as_fraction(mass.to_fmpq()) for mass in _averages(y, row_orbits)]
    weights = []
    for weight in _averages(u, column_orbits):
        sums = as_radicals(weight)
        if sums is None:
            raise ValueError(f"The class weight {weight} of {table.name} is no rational combination of square roots.")
        weights.append({m: as_fraction(q) for m, q in sums.items()})
    return ScaledPair(tuple(masses), tuple(weights))


def folded_pair(scaled: ScaledSolution) -> ScaledPair:
    """The same form of a solved game that is folded by the Galois group: every orbit shares its total equally.

    Raises:
        ValueError: for a solution of a game that is not folded.
    """
    game = scaled.game
    if not isinstance(game, RationalGame):
        raise ValueError(f"Only a solution of a RationalGame is one for each orbit, not of a {type(game).__name__}.")
    masses = {R: as_fraction(mass) for R, mass in zip(game.rows, scaled.masses, strict=True)}
    weights = {
        C: {m: as_fraction(q) for m, q in entry.items()}
        for C, entry in zip(game.columns, scaled.class_weights.sums(), strict=True)
    }
    members, partners = Counter(game.row_orbits), Counter(game.column_orbits)
    each_mass = {R: mass / members[R] for R, mass in masses.items()}
    each_weight = {C: {m: q / partners[C] for m, q in weight.items()} for C, weight in weights.items()}
    return ScaledPair(
        tuple(each_mass.get(R, Fraction(0)) for R in game.row_orbits),
        tuple(each_weight.get(C, {}) for C in game.column_orbits),
    )


def enclosed_pair(bounds: GameEnclosure) -> ScaledPair:
    """Rational masses and class weights that prove two bounds of a game, averaged over the Galois group.

    Averaging brings the bounds closer, if anything: the payoffs are linear and the game is invariant.

    Raises:
        ValueError: when the masses leave a class without a payoff, so that they prove no positive margin; those of
            `lemmata.certificates.game.enclosure.enclose` never do.
    """
    game = bounds.game
    table, count = game.table, len(game.table.class_sizes)
    y, u = [Fraction(0)] * count, [Fraction(0)] * count
    for R, z in zip(game.rows, bounds.z, strict=True):  # the row stands for others of its orbit
        y[R] = as_fraction(z)
    for C, t in zip(game.columns, bounds.t, strict=True):
        u[C] = as_fraction(t)
    row_orbits, column_orbits = galois_orbits(table)
    y, u = _averages(y, row_orbits), _averages(u, column_orbits)

    degrees, indices = table.degrees, range(count)
    least = min(sum(y[R] * (degrees[R] - row_orbits[R][C]) for R in indices) for C in indices[1:])
    if least <= 0:
        raise ValueError(f"The masses leave a class of {table.name} without a payoff, and prove no positive margin.")
    scale = None
    for R in indices[1:]:
        payoff = sum(u[C] * (degrees[R] - row_orbits[R][C]) for C in indices)
        if payoff > 0:
            [(m, q)] = kernel.payoff_scale(degrees[R], table.indicators[R], game.factors).items()
            reach = q * Fraction(isqrt(m << 2 * ROOT_BITS), 1 << ROOT_BITS) / payoff  # at most w / payoff
            scale = reach if scale is None else min(scale, reach)
    assert scale is not None
    return ScaledPair(tuple(mass / least for mass in y), tuple({1: w * scale} if w else {} for w in u))


def galois_orbits(table: CharacterTable) -> tuple[list[Orbit], list[Orbit]]:
    """A label for each row and each column, equal exactly on Galois orbits: the mean of its conjugates."""
    order, rows = character_terms(table)
    means = kernel.galois_means(order, rows)
    return [tuple(row) for row in means], list(zip(*means, strict=True))


def character_terms(table: CharacterTable) -> tuple[int, list[list[kernel.Terms]]]:
    """N and the table as integers {e: c}, the coordinates of sum c zeta^e in the power basis of Q(zeta_N).

    Raises:
        ValueError: for a value that is no algebraic integer.
    """
    distinct = table.rows.distinct
    order = lcm(*(value.minimal_order for value in distinct))
    terms = []
    for value in distinct:
        polynomial = value.minimal().lifted(order)
        if polynomial.denom() != 1:
            raise ValueError(f"A character of {table.name} has a value that is no algebraic integer.")
        terms.append({e: int(c) for e, c in enumerate(polynomial.numer().coeffs()) if c != 0})
    return order, [[terms[number] for number in row] for row in table.rows.ids.tolist()]


def _averages(entries: Sequence[Number], orbits: Sequence[Hashable]) -> list[Number]:
    """The entries, each replaced by the mean over its orbit."""
    members: dict[Hashable, list[Number]] = {}
    for entry, orbit in zip(entries, orbits, strict=True):
        members.setdefault(orbit, []).append(entry)
    means = {orbit: sum(which[1:], start=which[0]) / len(which) for orbit, which in members.items()}
    return [means[orbit] for orbit in orbits]
