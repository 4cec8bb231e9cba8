"""The scaled vectors of a solved game that is not folded, averaged over the Galois group in cyclotomic arithmetic.

`lemmata.certificates.groups.scaled_pair.folded_pair` gets the same pair from the folded game.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction

from lemmata.certificates import kernel
from lemmata.certificates.characters.tables import CharacterTable
from lemmata.certificates.game.margin_game import GameSolution
from lemmata.certificates.groups.scaled_pair import ScaledPair, character_terms
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic, as_radicals, rational
from lemmata.numerics.exact.rationals import as_fraction

Orbit = tuple[Fraction, ...]  # a label: the means of a row, or of a column, over the Galois group


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


def galois_orbits(table: CharacterTable) -> tuple[list[Orbit], list[Orbit]]:
    """A label for each row and each column, equal exactly on Galois orbits: the mean of its conjugates."""
    order, rows = character_terms(table)
    means = kernel.galois_means(order, rows)
    return [tuple(row) for row in means], list(zip(*means, strict=True))


def _averages(entries: Sequence[Cyclotomic], orbits: Sequence[Hashable]) -> list[Cyclotomic]:
    """The entries, each replaced by the mean over its orbit."""
    members: dict[Hashable, list[Cyclotomic]] = {}
    for entry, orbit in zip(entries, orbits, strict=True):
        members.setdefault(orbit, []).append(entry)
    means = {orbit: sum(which[1:], start=which[0]) / len(which) for orbit, which in members.items()}
    return [means[orbit] for orbit in orbits]
