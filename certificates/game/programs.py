"""The linear programs of a margin game: an optimal pair, and vertices of the optimal faces, without a tolerance.

Let D[R, C] be the defects, w_R the weights of the rows, M[R, C] = D[R, C]/w_R the payoffs and v > 0 the value. Scaled
by the value, y_R = eps_R/(v w_R) and u_C = t_C/v, the two players solve dual programs, both with the optimum 1/v:

    minimise sum_R w_R y_R  subject to  sum_R y_R D[R, C] >= 1,  y >= 0;
    maximise sum_C u_C      subject to  sum_C D[R, C] u_C <= w_R,  u >= 0.

Where the defects are rational, y is rational and u a rational combination of the square roots in w, and so is every
basis: `lemmata.numerics.exact.linear_programs` solves the game in rational numbers, however far apart the weights of
the rows are, and whatever field their roots generate.

On the *optimal faces*, complementary slackness with one optimal pair leaves the following (all other entries are 0):

    y_R for rows R that are tied by u;       sum_R y_R D[R, C] = 1 where u_C > 0, else >= 1;
    u_C for columns C that y ties;           sum_C D[R, C] u_C = w_R where y_R > 0, else <= w_R.

Linear functions are maximised over them; the second face has roots on its right-hand sides, so its dual is solved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lemmata.numerics.exact.linear_programs import LinearProgram, Optimum, solve_program
from lemmata.numerics.exact.root_sums import RootSums

__all__ = ["PayoffRows", "class_weights_on_face", "masses_on_face", "optimal_pair"]

Array = NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class PayoffRows:
    """Payoffs ``defects / weights``: exact defects (rows, columns), one positive weight for each row."""

    defects: Array
    weights: RootSums


def optimal_pair(payoffs: PayoffRows) -> tuple[Array, RootSums]:
    """An optimal vertex y, shape (rows,), and optimal class weights u, one for each column.

    Raises:
        ValueError: when the value is not positive: a column in which no row pays anything.
    """
    rows, columns = payoffs.defects.shape
    weights, radicands = payoffs.weights.coordinates, payoffs.weights.radicands
    costs = np.hstack([weights, _zeros(len(weights), columns)])
    matrix = np.hstack([payoffs.defects.T, -_identity(columns)])
    program = LinearProgram(matrix, _ones(columns), costs, radicands)
    outcome = solve_program(program, range(rows, rows + columns))
    if not isinstance(outcome, Optimum):
        raise ValueError("The value of the game is not positive: there is a column in which no row has a payoff.")
    return outcome.x[:rows], RootSums(outcome.dual, radicands)


def masses_on_face(
    payoffs: PayoffRows, allowed: Sequence[int], tied: Sequence[int], objective: Array, known: Sequence[int]
) -> Array:
    """The optimal y, a vertex, that maximises objective . y.

    Args:
        payoffs: the game.
        allowed: the rows that u ties; the others have no mass.
        tied: the columns with u_C > 0, which get exactly 1.
        objective: exact numbers, shape (rows,).
        known: the rows with mass in a known optimal y.
    """
    rows, columns = payoffs.defects.shape
    above = [C for C in range(columns) if C not in set(tied)]
    matrix = np.hstack([payoffs.defects[list(allowed)].T, -_identity(columns)[:, above]])
    costs = np.concatenate([-objective[list(allowed)], _zeros(1, len(above))[0]])
    places = [place for place, R in enumerate(allowed) if R in set(known)]
    slacks = range(len(allowed), len(costs))
    outcome = solve_program(LinearProgram(matrix, _ones(columns), costs), [*places, *slacks])
    assert isinstance(outcome, Optimum), "the masses of an optimal pair lie on a bounded face"
    y = _zeros(1, rows)[0]
    y[list(allowed)] = outcome.x[: len(allowed)]
    return y


def class_weights_on_face(
    payoffs: PayoffRows, allowed: Sequence[int], tied: Sequence[int], objective: Array
) -> RootSums:
    """The optimal u, one sum of roots for each column, that maximises objective . u.

    Args:
        payoffs: the game.
        allowed: the columns that y ties; the others have no weight.
        tied: the rows with y_R > 0, whose payoff is exactly w_R.
        objective: rational numbers (exact ones of the field of the defects), shape (columns,).
    """
    columns = payoffs.defects.shape[1]
    transposed = payoffs.defects[:, list(allowed)].T
    free = list(tied)  # an equation has a multiplier of either sign
    matrix = np.hstack([transposed, -transposed[:, free], -_identity(len(allowed))])
    weights, radicands = payoffs.weights.coordinates, payoffs.weights.radicands
    costs = np.hstack([weights, -weights[:, free], _zeros(len(weights), len(allowed))])
    program = LinearProgram(matrix, objective[list(allowed)], costs, radicands)
    outcome = solve_program(program, free)
    assert isinstance(outcome, Optimum), "the class weights of an optimal pair lie on a bounded face"
    coordinates = _zeros(len(weights), columns)
    coordinates[:, list(allowed)] = outcome.dual
    return RootSums(coordinates, radicands)


def _identity(size: int) -> Array:
    return np.eye(size, dtype=int).astype(object)


def _zeros(rows: int, columns: int) -> Array:
    return np.zeros((rows, columns), dtype=int).astype(object)


def _ones(size: int) -> Array:
    return np.ones(size, dtype=int).astype(object)
