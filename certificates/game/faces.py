"""Is the optimal pair of a margin game the only one? Decided exactly, with the dimensions of the optimal faces.

Let v > 0 be the value of the game M. The optimal masses eps form a polytope, and so do the optimal class weights t. A
pair (eps, t) of optimal vectors is *strictly complementary* if t_C > 0 exactly on the columns with (eps^T M)_C = v and
eps_R > 0 exactly on the rows with (M t)_R = v; call these columns T and rows E. With D[R, C] = d_R - Re chi_R(C), the
polytope of optimal masses has dimension |E| - rank D[E, T] and that of the optimal class weights |T| - rank D[E, T]
(OPTIMAL_FACES.md beside this file, section 2). So eps is unique exactly when the rows of D[E, T] are independent, t
exactly when its columns are.

`optimal_faces` averages optimal vertices until the pair is strictly complementary. Exact linear programs on the optimal
faces (`lemmata.certificates.game.programs`) find the vertices; each pair is verified.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from flint import arb_mat

from lemmata.certificates.game.margin_game import GameSolution, MarginGame
from lemmata.certificates.game.programs import class_weights_on_face, masses_on_face
from lemmata.certificates.game.rational import RationalGame, unfold
from lemmata.certificates.game.scaled import ScaledSolution
from lemmata.numerics.exact.balls import as_balls, precision
from lemmata.numerics.exact.linear import rank
from lemmata.numerics.exact.root_sums import RootSums

__all__ = ["OptimalFaces", "OptimalPair", "optimal_faces", "unfolded_faces"]

BITS = 192  # of the balls that prove full rank; where they do not, the rank is computed exactly


class OptimalPair(Protocol):
    """An optimal pair, as cyclotomic numbers (`GameSolution`) or as scaled square roots (`ScaledSolution`)."""

    @property
    def game(self) -> MarginGame:
        """The game."""
        ...

    @property
    def tight_rows(self) -> tuple[int, ...]:
        """The positions of the rows whose payoff is the value."""
        ...

    @property
    def tight_columns(self) -> tuple[int, ...]:
        """The positions of the columns whose margin is the value."""
        ...

    @property
    def rows_with_mass(self) -> tuple[int, ...]:
        """The positions with mass."""
        ...

    @property
    def columns_with_weight(self) -> tuple[int, ...]:
        """The positions with class weight."""
        ...

    @property
    def solution(self) -> GameSolution:
        """The pair as cyclotomic numbers."""
        ...

    def with_masses(self, y: np.ndarray) -> Self:
        """The pair with other masses, verified."""
        ...

    def with_class_weights(self, u: RootSums) -> Self:
        """The pair with other class weights, verified."""
        ...

    @staticmethod
    def average(pairs: Any) -> Any:
        """The mean of pairs, verified."""
        ...


Pair = TypeVar("Pair", bound=OptimalPair)


@dataclass(frozen=True, eq=False)
class OptimalFaces:
    """The two polytopes of optimal vectors of a solved game.

    ``rows`` and ``columns`` are the positions of the irreducible representations that have mass in some max-margin
    network, and of the classes that lie on the margin of every max-margin network. ``active_rank`` is the rank of D on
    them, rank D[E, T]. ``pair`` is a strictly complementary optimal pair of the game, or of the game that it folds to.
    """

    game: MarginGame
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    active_rank: int
    pair: OptimalPair

    @cached_property
    def interior(self) -> GameSolution:
        """A strictly complementary optimal pair: its positive entries are all that can be positive in optimal vectors.

        Raises:
            FieldError: when its square roots share no cyclotomic field of supported order.
        """
        return self.pair.solution if self.pair.game is self.game else unfold(self.pair.solution)

    @property
    def mass_dimension(self) -> int:
        """The dimension of the polytope of optimal masses; 0 means that eps is unique."""
        return len(self.rows) - self.active_rank

    @property
    def class_weight_dimension(self) -> int:
        """The dimension of the polytope of optimal class weights; 0 means that t is unique."""
        return len(self.columns) - self.active_rank

    @property
    def unique_masses(self) -> bool:
        """Whether eps is the only optimal vector of masses."""
        return self.mass_dimension == 0

    @property
    def unique_class_weights(self) -> bool:
        """Whether t is the only optimal vector of class weights."""
        return self.class_weight_dimension == 0


def optimal_faces(solution: OptimalPair) -> OptimalFaces:
    """The optimal faces of a solved game, by a strictly complementary pair and the criterion above, exactly."""
    pair = _strictly_complementary(solution)
    return _faces(pair.game, pair.tight_rows, pair.tight_columns, pair)


def unfolded_faces(solution: ScaledSolution) -> OptimalFaces:
    """The optimal faces of the whole game from a solution of the folded one.

    What is constant on the orbits of a strictly complementary pair stays so (`lemmata.certificates.game.rational`), so
    that the active rows and columns are whole orbits; only the rank is that of the whole game.

    Raises:
        ValueError: for a solution of a game that is not folded.
        FieldError: when balls do not prove full rank, and the characters share no field of supported order.
    """
    pair, game = _strictly_complementary(solution), solution.game
    if not isinstance(game, RationalGame):
        raise ValueError(f"Only a solution of a RationalGame can be unfolded, not of a {type(game).__name__}.")
    rows = tuple(i for i, orbit in enumerate(game.whole_rows) if orbit in pair.tight_rows)
    columns = tuple(i for i, orbit in enumerate(game.whole_columns) if orbit in pair.tight_columns)
    return _faces(game.whole, rows, columns, pair)


def _faces(game: MarginGame, rows: tuple[int, ...], columns: tuple[int, ...], pair: OptimalPair) -> OptimalFaces:
    return OptimalFaces(game, rows, columns, _rank(game.defects[np.ix_(rows, columns)]), pair)


def _strictly_complementary(solution: Pair) -> Pair:
    """The average of a pair with vertices of the optimal faces, until it is strictly complementary."""
    pairs, interior = [solution], solution
    while True:
        row = _missing(interior.tight_rows, interior.rows_with_mass)
        column = _missing(interior.tight_columns, interior.columns_with_weight)
        # a row that all optimal t tie has mass in some optimal eps, and conversely; so with the columns
        if row is not None:
            moved = _with_mass(solution, row) or _with_smaller_payoff(solution, row)
        elif column is not None:
            moved = _with_weight(solution, column) or _with_larger_margin(solution, column)
        else:
            return interior
        assert moved is not None, "strictly complementary pairs exist (Goldman and Tucker)"
        pairs.append(moved)
        interior = solution.average(pairs)
        assert len(pairs) <= 1 + sum(interior.game.defects.shape), "every pair settles one more row or column"


def _missing(tight: tuple[int, ...], positive: tuple[int, ...]) -> int | None:
    """The first tight position that is not positive."""
    return next((position for position in tight if position not in positive), None)


def _with_mass(solution: Pair, row: int) -> Pair | None:
    """A pair with eps_row > 0, or None if there is none."""
    moved = _other_masses(solution, _unit(solution.game.defects.shape[0], row))
    return moved if row in moved.rows_with_mass else None


def _with_larger_margin(solution: Pair, column: int) -> Pair | None:
    """A pair whose margin at the column exceeds the value, or None if there is none."""
    moved = _other_masses(solution, solution.game.defects[:, column])
    return None if column in moved.tight_columns else moved


def _with_weight(solution: Pair, column: int) -> Pair | None:
    """A pair with t_column > 0, or None if there is none."""
    moved = _other_class_weights(solution, _unit(solution.game.defects.shape[1], column))
    return moved if column in moved.columns_with_weight else None


def _with_smaller_payoff(solution: Pair, row: int) -> Pair | None:
    """A pair whose payoff of the row is below the value, or None if there is none."""
    moved = _other_class_weights(solution, -solution.game.defects[row])
    return None if row in moved.tight_rows else moved


def _other_masses(solution: Pair, objective: np.ndarray) -> Pair:
    """The pair with the optimal masses, a vertex, that maximise sum_R objective_R eps_R / w_R."""
    known, positive = solution.rows_with_mass, solution.columns_with_weight
    return solution.with_masses(
        masses_on_face(solution.game.payoff_rows, solution.tight_rows, positive, objective, known)
    )


def _other_class_weights(solution: Pair, objective: np.ndarray) -> Pair:
    """The pair with the optimal class weights that maximise the objective."""
    return solution.with_class_weights(
        class_weights_on_face(solution.game.payoff_rows, solution.tight_columns, solution.rows_with_mass, objective)
    )


def _unit(size: int, position: int) -> np.ndarray:
    return np.array([int(i == position) for i in range(size)], dtype=object)


def _rank(matrix: np.ndarray) -> int:
    """The rank of an exact real matrix: balls prove full rank, else it is computed exactly.

    A A^T is invertible exactly when the rows of the real matrix A are independent.
    """
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    with precision(BITS):
        balls = arb_mat(as_balls(wide).tolist())
        if not (balls * balls.transpose()).det().contains(0):
            return len(wide)
    return rank(matrix)
