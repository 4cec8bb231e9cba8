"""Decide a system of linear inequalities: an exact solution, or a Farkas certificate that there is none.

Both sides of Motzkin's transposition theorem (`certificates.duality.inequalities`) are linear programs. Each is solved
in floating point by the simplex method (scipy's HiGHS), whose answer is a vertex; the columns with a positive entry are
then linearly independent, so the vertex is the only solution of an exact linear system, and the exact answer is checked
by the plain checker. What is returned is proved, whatever the solver did; what cannot be settled raises.

This refutes any claim of the form "weights exist such that ..." whose conditions are linear in free functions of the
weights, for instance that a single attention head decides a function of its tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np
from flint import fmpq
from scipy.optimize import linprog
from scipy.sparse import csr_array

from certificates.duality.inequalities import (
    Constraint,
    FarkasCertificate,
    FeasiblePoint,
    unknowns,
    verify,
    verify_point,
)
from numerics.exact.linear import solve_unique
from numerics.exact.rationals import as_fraction

__all__ = [
    "Constraint",
    "FarkasCertificate",
    "FeasiblePoint",
    "InfeasibleProgramError",
    "decide",
    "exact_vertex",
    "find",
    "find_point",
    "verify",
    "verify_point",
]

ACTIVE = 1e-9
"""The default tolerance: a float below it counts as zero when the positive columns are guessed; the guess is proved."""

_SCALE = (
    "Scale the constraints so that their integers are of like size, or divide out common factors: the solver works in "
    "floating point."
)


def decide(constraints: Sequence[Constraint], tolerance: float = ACTIVE) -> FarkasCertificate | FeasiblePoint:
    """The proved outcome: a certificate that the system has no solution, or a solution.

    Args:
        constraints: the system.
        tolerance: a float below it counts as zero when the positive columns of a vertex are guessed.

    Raises:
        ValueError: when there is no constraint, when two have one name, or when neither side can be settled; the
            message then says what to turn.
    """
    try:
        return find(constraints, tolerance)
    except InfeasibleProgramError:
        pass
    try:
        return find_point(constraints, tolerance)
    except InfeasibleProgramError as error:
        raise ValueError(
            f"The solver finds neither a solution nor a certificate that there is none. {_SCALE}"
        ) from error


def find(constraints: Sequence[Constraint], tolerance: float = ACTIVE) -> FarkasCertificate:
    """Integer multipliers that prove that no real numbers satisfy all constraints; they pass `verify`.

    Among the vertices of all certificates, scaled so that the contradiction has size 1, one with the smallest sum of
    multipliers is taken. The tolerance is that of `decide`.

    Raises:
        InfeasibleProgramError: when the solver finds no certificate.
        ValueError: when its answer cannot be settled exactly; the message says what to turn.
    """
    names = unknowns(constraints)
    position = {u: i for i, u in enumerate(names)}
    # columns: one multiplier for each inequality, two of opposite sign for each equation; last s = sum lambda_i b_i
    columns = [(c, 1) for c in constraints] + [(c, -1) for c in constraints if c.relation == "="]
    matrix = np.zeros((len(names) + 2, len(columns) + 1), dtype=object)
    for j, (constraint, sign) in enumerate(columns):
        for unknown, coefficient in constraint.coefficients.items():
            matrix[position[unknown], j] = sign * coefficient
        matrix[-2, j] = sign * constraint.bound
        matrix[-1, j] = constraint.relation == ">"
    matrix[-2:, -1] = -1, 1  # sum lambda_i b_i - s = 0, and s + (sum of the strict multipliers) = 1
    right = np.zeros(len(names) + 2, dtype=object)
    right[-1] = 1
    cost = np.ones(len(columns) + 1)
    cost[-1] = 0
    try:
        vertex = exact_vertex(matrix, right, cost, tolerance)
    except InfeasibleProgramError as error:
        raise InfeasibleProgramError(
            "The solver finds no certificate that there is no solution, so there should be one: call find_point, or "
            "decide, which tries both sides."
        ) from error
    scale = lcm(*(x.denominator for x in vertex))
    multipliers: dict[str, int] = {}
    for (constraint, sign), x in zip(columns, vertex, strict=False):
        multipliers[constraint.name] = multipliers.get(constraint.name, 0) + sign * int(x * scale)
    certificate = FarkasCertificate(multipliers)
    verify(constraints, certificate)
    return certificate


def find_point(constraints: Sequence[Constraint], tolerance: float = ACTIVE) -> FeasiblePoint:
    """An exact solution of all constraints; it passes `verify_point`.

    The smallest excess of a strict inequality over its bound, cut off at 1, is as large as possible. The tolerance is
    that of `decide`.

    Raises:
        InfeasibleProgramError: when the solver finds no solution.
        ValueError: when its answer cannot be settled exactly; the message says what to turn.
    """
    names = unknowns(constraints)
    position = {u: i for i, u in enumerate(names)}
    n, m = len(names), len(constraints)
    # columns: positive parts, negative parts, the excess e, one slack for each constraint, and the slack of e <= 1
    matrix = np.zeros((m + 1, 2 * n + m + 2), dtype=object)
    right = np.array([c.bound for c in constraints] + [1], dtype=object)
    for i, constraint in enumerate(constraints):
        for unknown, coefficient in constraint.coefficients.items():
            matrix[i, position[unknown]] = coefficient
            matrix[i, n + position[unknown]] = -coefficient
        matrix[i, 2 * n] = -(constraint.relation == ">")
        matrix[i, 2 * n + 1 + i] = -(constraint.relation != "=")
    matrix[m, [2 * n, 2 * n + m + 1]] = 1
    cost = np.zeros(matrix.shape[1])
    cost[2 * n] = -1
    try:
        vertex = exact_vertex(matrix, right, cost, tolerance)
    except InfeasibleProgramError as error:
        raise InfeasibleProgramError(
            "The solver finds no solution, so there should be a certificate of that: call find, or decide, which tries "
            "both sides."
        ) from error
    point = FeasiblePoint({u: vertex[i] - vertex[n + i] for i, u in enumerate(names)})
    verify_point(constraints, point)
    return point


class InfeasibleProgramError(ValueError):
    """The solver reports that the linear program has no feasible point."""


def exact_vertex(matrix: np.ndarray, right: np.ndarray, cost: np.ndarray, tolerance: float = ACTIVE) -> list[Fraction]:
    """An optimal vertex of: minimise cost . x, matrix @ x = right, x >= 0; exact in all but the optimality.

    Args:
        matrix: Python integers of any size, shape (equations, unknowns).
        right: Python integers of any size, shape (equations,).
        cost: floats, shape (unknowns,).
        tolerance: a float below it counts as zero when the positive columns are guessed.

    Raises:
        InfeasibleProgramError: if there is no such x.
        ValueError: if the vertex cannot be settled exactly; the message says what to turn.
    """
    result = linprog(cost, A_eq=csr_array(matrix.astype(float)), b_eq=right.astype(float), method="highs-ds")
    if result.status == 2:
        raise InfeasibleProgramError("The solver reports that the linear program has no feasible point.")
    if result.status != 0:
        raise ValueError(f"The linear program was not solved: {result.message} {_SCALE}")
    support = np.flatnonzero(result.x > tolerance)
    try:
        entries = solve_unique(matrix[:, support], right)
    except ValueError as error:
        raise ValueError(
            f"The solver's vertex could not be settled exactly: {error} It was guessed with tolerance = {tolerance:g}: "
            "pass a larger one if noise of the solver counted as positive, a smaller one if small entries were cut off."
        ) from error
    vertex = [Fraction(0)] * matrix.shape[1]
    for j, x in zip(support, entries, strict=True):
        vertex[j] = as_fraction(fmpq(x))
    return vertex
