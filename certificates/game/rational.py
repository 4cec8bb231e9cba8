"""The margin game with rational payoffs: the same game, folded by the Galois group of the character values.

The rows of M[R, C] = (d_R - Re chi_R(C))/w_R are the irreducible real representations, by one complex character R of
each (`lemmata.certificates.game.margin_game`). An automorphism s of the field of all character values maps irreducible
characters to irreducible characters and classes to classes (g -> g^a for some a), with (s chi)(C) = s(chi(C)) =
chi(s C); degrees and indicators stay, so do the dimensions of the real representations. So s permutes the rows and
the columns of the game M and leaves M as it is. Averaging optimal strategies over the group of all s gives optimal
strategies that are constant on orbits. For these, only the averages of M over an orbit of rows and an orbit of columns
count, and these are (d_R - m)/w_R with the rational number m = mean of all conjugates of chi_R(C), which depends on the
orbits alone. So the folded game, one row and one column for each orbit (the total mass or weight of the orbit at one
member), has the same value, and `unfold` turns its optimal pairs into those optimal pairs of M that are constant on
orbits: a margin, or a payoff, of M at any member of an orbit is that of the folded game. Strictly complementary pairs
stay so.

The folded game has rational defects. Its solution needs the square roots of the row weights but no character values, so
it is exact for groups whose characters generate enormous fields.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from lemmata.certificates.characters.integral_products import IntegralProducts
from lemmata.certificates.game.margin_game import GameSolution, MarginGame
from lemmata.certificates.game.orbits import first_members, orbit_positions, spread

__all__ = ["RationalGame", "unfold"]


class RationalGame(MarginGame):
    """A `MarginGame` with one row and one column for each Galois orbit, at its first member."""

    @cached_property
    def whole(self) -> MarginGame:
        """The game that is folded."""
        return MarginGame(self.table, self.factors)

    @cached_property
    def row_orbits(self) -> list[int]:
        """The first member of the orbit of each character of the table."""
        return _permuted(first_members(self.table.rows), "characters")

    @cached_property
    def column_orbits(self) -> list[int]:
        """The first member of the orbit of each class of the table."""
        return _permuted(first_members(IntegralProducts(self.table.values.T)), "classes")

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """The nontrivial characters that are first in their orbit."""
        return tuple(R for R, first in enumerate(self.row_orbits) if R == first != 0)

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The nontrivial classes that are first in their orbit."""
        return tuple(C for C, first in enumerate(self.column_orbits) if C == first != 0)

    @cached_property
    def defects(self) -> np.ndarray:
        """d_R - m with m the mean of all conjugates of chi_R(C), rational, shape (rows, columns)."""
        means = np.array([value.mean_conjugate() for value in self.table.rows.distinct], dtype=object)
        averages = means[self.table.rows.ids[np.ix_(self.rows, self.columns)]]
        return np.array([self.table.degrees[R] for R in self.rows], dtype=object)[:, None] - averages

    @property
    def whole_rows(self) -> list[int]:
        """For each row of the whole game the position of its orbit among the rows."""
        return orbit_positions(self.whole.rows, self.row_orbits, self.rows)

    @property
    def whole_columns(self) -> list[int]:
        """For each column of the whole game the position of its orbit among the columns."""
        return orbit_positions(self.whole.columns, self.column_orbits, self.columns)


def unfold(folded: GameSolution) -> GameSolution:
    """The optimal pair of the whole game that is constant on orbits, from a solved `RationalGame`.

    Raises:
        ValueError: for the solution of another game.
    """
    small = folded.game
    if not isinstance(small, RationalGame):
        raise ValueError(f"Only the solution of a RationalGame can be unfolded, not of a {type(small).__name__}.")
    rows, columns = small.whole_rows, small.whole_columns
    return GameSolution(
        small.whole,
        folded.value,
        spread(rows, folded.eps),
        spread(columns, folded.t),
        tuple(i for i, index in enumerate(rows) if index in folded.tight_rows),
        tuple(i for i, index in enumerate(columns) if index in folded.tight_columns),
    )


def _permuted(orbits: list[int] | None, what: str) -> list[int]:
    if orbits is None:
        raise ValueError(
            f"The Galois group does not permute the {what}: this is not the character table of a group. Correct the "
            "table, or play MarginGame on it, which folds nothing."
        )
    return orbits
