"""Is the optimal pair of a margin game the only one? Decided exactly, with the dimensions of the optimal faces.

Let v > 0 be the value of the game M. The optimal masses eps form a polytope, and so do the optimal class weights t. A
pair (eps, t) of optimal vectors is *strictly complementary* if t_C > 0 exactly on the columns with (eps^T M)_C = v and
eps_R > 0 exactly on the rows with (M t)_R = v; call these columns T and rows E. With D[R, C] = d_R - Re chi_R(C), the
polytope of optimal masses has dimension |E| - rank D[E, T] and that of the optimal class weights |T| - rank D[E, T]
(OPTIMAL_FACES.md beside this file, section 2). So eps is unique exactly when the rows of D[E, T] are independent, t
exactly when its columns are.

`optimal_faces` averages optimal vertices until the pair is strictly complementary. Floating-point linear programs
propose the vertices; each is solved exactly and verified, and strict complementarity is checked exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from flint import arb_mat, fmpq

from certificates.game.margin_game import ACTIVE, GameSolution, class_weights_on, masses_on, verify
from numerics.exact.balls import as_balls, precision
from numerics.exact.linear import rank

__all__ = ["OptimalFaces", "optimal_faces"]

BITS = 192  # of the balls that prove full rank; where they do not, the rank is computed exactly
VISIBLE = 1e-7
"""The default growth: the accuracy that HiGHS promises. A smaller growth of an objective is not taken for one."""


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


def optimal_faces(solution: GameSolution, tolerance: float = ACTIVE, growth: float = VISIBLE) -> OptimalFaces:
    """The optimal faces of a solved game, by a strictly complementary pair and the criterion above, exactly.

    Args:
        solution: an optimal pair.
        tolerance: a float below it counts as zero when the active set of a vertex is guessed, as in `solve`.
        growth: how much larger than at the known pair an entry must be in floats to be looked at exactly.

    Raises:
        ValueError: when the linear programs do not lead to such a pair, with what to turn: the decision is refused, not
            guessed.
    """
    game, settings = solution.game, _Settings(tolerance, growth)
    pairs, interior = [solution], solution
    while True:
        row = _missing(interior.tight_rows, interior.eps)
        column = _missing(interior.tight_columns, interior.t)
        # a row that all optimal t tie has mass in some optimal eps, and conversely; so with the columns
        if row is not None:
            name = game.table.irrep_names[game.rows[row]]
            moved = _with_mass(solution, row, settings) or _with_smaller_payoff(solution, row, settings)
        elif column is not None:
            name = game.table.class_names[game.columns[column]]
            moved = _with_weight(solution, column, settings) or _with_larger_margin(solution, column, settings)
        else:
            break
        if moved is None:
            raise ValueError(
                f"Uniqueness for {game.table.name} stays undecided: {name} is tied, but no optimal vector with a "
                f"positive entry there was found. Pass optimal_faces a growth below {growth:g}, so that smaller "
                "entries are looked at."
            )
        pairs.append(moved)
        interior = _average(pairs)
    active = game.defects[np.ix_(interior.tight_rows, interior.tight_columns)]
    return OptimalFaces(interior, _rank(active))


@dataclass(frozen=True)
class _Settings:
    """The tolerances of `optimal_faces`."""

    tolerance: float
    growth: float


def _missing(tight: tuple[int, ...], vector: np.ndarray) -> int | None:
    """The first tight position where the vector is zero."""
    return next((position for position in tight if vector[position] == 0), None)


def _average(pairs: list[GameSolution]) -> GameSolution:
    share = fmpq(1, len(pairs))
    eps, t = (sum(getattr(pair, name) * share for pair in pairs) for name in ("eps", "t"))
    return verify(pairs[0].game, pairs[0].value, np.asarray(eps), np.asarray(t))


def _with_mass(solution: GameSolution, row: int, settings: _Settings) -> GameSolution | None:
    """A pair with eps_row > 0, or None if the linear program finds none."""
    return _other_masses(solution, np.eye(len(solution.eps))[row], settings)


def _with_larger_margin(solution: GameSolution, column: int, settings: _Settings) -> GameSolution | None:
    """A pair whose margin at the column exceeds the value, or None if the linear program finds none."""
    return _other_masses(solution, solution.game.payoff()[:, column] / float(solution.value), settings)


def _with_weight(solution: GameSolution, column: int, settings: _Settings) -> GameSolution | None:
    """A pair with t_column > 0, or None if the linear program finds none."""
    return _other_class_weights(solution, np.eye(len(solution.t))[column], settings)


def _with_smaller_payoff(solution: GameSolution, row: int, settings: _Settings) -> GameSolution | None:
    """A pair whose payoff of the row is below the value, or None if the linear program finds none."""
    return _other_class_weights(solution, -solution.game.payoff()[row] / float(solution.value), settings)


def _other_masses(solution: GameSolution, objective: np.ndarray, settings: _Settings) -> GameSolution | None:
    """The pair with the optimal masses, a vertex, that maximise the objective; None if none grows."""
    game = solution.game
    payoff = game.payoff() / float(solution.value)
    eps = _face_vertex(payoff.T, solution.tight_rows, np.flatnonzero(solution.t != 0), objective)
    if objective @ eps < objective @ solution.eps.astype(float) + settings.growth:
        return None
    support, tight = np.flatnonzero(eps > settings.tolerance), np.flatnonzero(eps @ payoff < 1 + settings.tolerance)
    with _tolerance_named(settings):
        value, exact = masses_on(game, support, tight)
        return verify(game, value, exact, solution.t)


def _other_class_weights(solution: GameSolution, objective: np.ndarray, settings: _Settings) -> GameSolution | None:
    """The pair with the optimal class weights, a vertex, that maximise the objective; None if none grows."""
    game = solution.game
    payoff = game.payoff() / float(solution.value)
    t = _face_vertex(-payoff, solution.tight_columns, np.flatnonzero(solution.eps != 0), objective)
    if objective @ t < objective @ solution.t.astype(float) + settings.growth:
        return None
    tied, support = np.flatnonzero(payoff @ t > 1 - settings.tolerance), np.flatnonzero(t > settings.tolerance)
    with _tolerance_named(settings):
        return verify(game, solution.value, solution.eps, class_weights_on(game, solution.value, tied, support))


@contextmanager
def _tolerance_named(settings: _Settings) -> Iterator[None]:
    """Errors of an exact vertex name the tolerance that guessed it."""
    try:
        yield
    except ValueError as error:
        raise ValueError(
            f"{error} This vertex of the optimal face was guessed with tolerance = {settings.tolerance:g}: pass "
            "optimal_faces a larger one if noise of the linear program counted as active, a smaller one if small "
            "entries were cut off."
        ) from error


def _face_vertex(
    constraints: np.ndarray, free: tuple[int, ...], equal: np.ndarray, objective: np.ndarray
) -> np.ndarray:
    """A float vertex x that maximises the objective over an optimal face.

    x is a distribution, zero off ``free``, with ``constraints @ x`` equal to 1 (for the other player: -1) at the rows
    ``equal`` and at least that elsewhere. Both restrictions follow from complementary slackness with an exact pair.
    """
    from scipy.optimize import linprog  # slow to import

    sign = 1.0 if constraints.sum() > 0 else -1.0
    result = linprog(
        -objective,
        A_ub=-constraints,
        b_ub=np.full(len(constraints), -sign),
        A_eq=np.vstack([constraints[equal], np.ones(constraints.shape[1])]),
        b_eq=np.r_[np.full(len(equal), sign), 1.0],
        bounds=[(0, None if position in free else 0) for position in range(constraints.shape[1])],
        method="highs-ds",
    )
    if result.status != 0:
        raise ValueError(
            f"A linear program on the optimal face was not solved: {result.message} Start from the folded game "
            "(certificates.game.rational.RationalGame), whose face is smaller."
        )
    return result.x


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
