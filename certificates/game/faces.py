"""Is the optimal pair of a margin game the only one? Decided exactly, with the dimensions of the optimal faces.

Let v > 0 be the value of the game M. The optimal masses eps form a polytope, and so do the optimal class weights t. A
pair (eps, t) of optimal vectors is *strictly complementary* if t_C > 0 exactly on the columns with (eps^T M)_C = v and
eps_R > 0 exactly on the rows with (M t)_R = v; call these columns T and rows E. With D[R, C] = d_R - Re chi_R(C), the
polytope of optimal masses has dimension |E| - rank D[E, T] and that of the optimal class weights |T| - rank D[E, T]
(OPTIMAL_FACES.md beside this file, section 2). So eps is unique exactly when the rows of D[E, T] are independent, t
exactly when its columns are.

`optimal_faces` averages optimal vertices until the pair is strictly complementary. Exact linear programs on the optimal
faces (`certificates.game.programs`) find the vertices; each pair is verified.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import arb_mat, fmpq

from certificates.game.margin_game import GameSolution, verify
from certificates.game.programs import class_weights_on_face, masses_on_face
from numerics.exact.balls import as_balls, precision
from numerics.exact.linear import rank

__all__ = ["OptimalFaces", "optimal_faces"]

BITS = 192  # of the balls that prove full rank; where they do not, the rank is computed exactly


@dataclass(frozen=True, eq=False)
class OptimalFaces:
    """The two polytopes of optimal vectors of a solved game.

    ``interior`` is a strictly complementary optimal pair: its positive entries are all that can be positive in optimal
    vectors. ``active_rank`` is the rank of D on the active rows and columns, rank D[E, T].
    """

    interior: GameSolution
    active_rank: int

    @property
    def rows(self) -> tuple[int, ...]:
        """Positions of the irreducible representations that have mass in some max-margin network."""
        return self.interior.tight_rows

    @property
    def columns(self) -> tuple[int, ...]:
        """Positions of the classes that lie on the margin of every max-margin network."""
        return self.interior.tight_columns

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


def optimal_faces(solution: GameSolution) -> OptimalFaces:
    """The optimal faces of a solved game, by a strictly complementary pair and the criterion above, exactly."""
    game = solution.game
    pairs, interior = [solution], solution
    while True:
        row = _missing(interior.tight_rows, interior.eps)
        column = _missing(interior.tight_columns, interior.t)
        # a row that all optimal t tie has mass in some optimal eps, and conversely; so with the columns
        if row is not None:
            moved = _with_mass(solution, row) or _with_smaller_payoff(solution, row)
        elif column is not None:
            moved = _with_weight(solution, column) or _with_larger_margin(solution, column)
        else:
            break
        assert moved is not None, "strictly complementary pairs exist (Goldman and Tucker)"
        pairs.append(moved)
        interior = _average(pairs)
        assert len(pairs) <= 1 + len(interior.eps) + len(interior.t), "every pair settles one more row or column"
    active = game.defects[np.ix_(interior.tight_rows, interior.tight_columns)]
    return OptimalFaces(interior, _rank(active))


def _missing(tight: tuple[int, ...], vector: np.ndarray) -> int | None:
    """The first tight position where the vector is zero."""
    return next((position for position in tight if vector[position] == 0), None)


def _average(pairs: list[GameSolution]) -> GameSolution:
    share = fmpq(1, len(pairs))
    eps, t = (sum(getattr(pair, name) * share for pair in pairs) for name in ("eps", "t"))
    return verify(pairs[0].game, pairs[0].value, np.asarray(eps), np.asarray(t))


def _with_mass(solution: GameSolution, row: int) -> GameSolution | None:
    """A pair with eps_row > 0, or None if there is none."""
    moved = _other_masses(solution, _unit(len(solution.eps), row))
    return moved if moved.eps[row] > 0 else None


def _with_larger_margin(solution: GameSolution, column: int) -> GameSolution | None:
    """A pair whose margin at the column exceeds the value, or None if there is none."""
    moved = _other_masses(solution, solution.game.defects[:, column])
    return None if column in moved.tight_columns else moved


def _with_weight(solution: GameSolution, column: int) -> GameSolution | None:
    """A pair with t_column > 0, or None if there is none."""
    moved = _other_class_weights(solution, _unit(len(solution.t), column))
    return moved if moved.t[column] > 0 else None


def _with_smaller_payoff(solution: GameSolution, row: int) -> GameSolution | None:
    """A pair whose payoff of the row is below the value, or None if there is none."""
    moved = _other_class_weights(solution, -solution.game.defects[row])
    return None if row in moved.tight_rows else moved


def _other_masses(solution: GameSolution, objective: np.ndarray) -> GameSolution:
    """The pair with the optimal masses, a vertex, that maximise sum_R objective_R eps_R / w_R."""
    game, known = solution.game, np.flatnonzero(solution.eps != 0).tolist()
    positive = np.flatnonzero(solution.t != 0).tolist()
    y = masses_on_face(game.payoff_rows, solution.tight_rows, positive, objective, known)
    return verify(game, solution.value, y * game.weights * solution.value, solution.t)


def _other_class_weights(solution: GameSolution, objective: np.ndarray) -> GameSolution:
    """The pair with the optimal class weights that maximise the objective."""
    game, positive = solution.game, np.flatnonzero(solution.eps != 0).tolist()
    u = class_weights_on_face(game.payoff_rows, solution.tight_columns, positive, objective)
    return verify(game, solution.value, solution.eps, u.numbers() * solution.value)


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
