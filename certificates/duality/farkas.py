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

ACTIVE = 1e-9  # a float below this counts as zero when the positive columns are guessed; the guess is then proved


def decide(constraints: Sequence[Constraint]) -> FarkasCertificate | FeasiblePoint:
    """Return the proved outcome: a certificate that the system has no solution, or a solution.

    Raises ``ValueError`` when there is no constraint, when two have one name, or when neither side can be settled.
    """
    try:
        return find(constraints)
    except InfeasibleProgramError:
        return find_point(constraints)


def find(constraints: Sequence[Constraint]) -> FarkasCertificate:
    """Return integer multipliers that prove that no real numbers satisfy all constraints; they pass `verify`.

    Among the vertices of all certificates, scaled so that the contradiction has size 1, one with the smallest sum of
    multipliers is taken. Raises ``ValueError`` when the solver finds no certificate (then `find_point` should succeed)
    or when its answer cannot be settled exactly.
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
    vertex = exact_vertex(matrix, right, cost)
    scale = lcm(*(x.denominator for x in vertex))
    multipliers: dict[str, int] = {}
    for (constraint, sign), x in zip(columns, vertex, strict=False):
        multipliers[constraint.name] = multipliers.get(constraint.name, 0) + sign * int(x * scale)
    certificate = FarkasCertificate(multipliers)
    verify(constraints, certificate)
    return certificate


def find_point(constraints: Sequence[Constraint]) -> FeasiblePoint:
    """Return an exact solution of all constraints; it passes `verify_point`.

    The smallest excess of a strict inequality over its bound, cut off at 1, is as large as possible. Raises
    ``ValueError`` when the solver finds no solution (then `find` should succeed) or when it cannot be settled exactly.
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
    vertex = exact_vertex(matrix, right, cost)
    point = FeasiblePoint({u: vertex[i] - vertex[n + i] for i, u in enumerate(names)})
    verify_point(constraints, point)
    return point


class InfeasibleProgramError(ValueError):
    """The solver reports that the linear program has no feasible point."""


def exact_vertex(matrix: np.ndarray, right: np.ndarray, cost: np.ndarray) -> list[Fraction]:
    """Return an optimal vertex of: minimise cost . x, matrix @ x = right, x >= 0; exact in all but the optimality.

    Raises `InfeasibleProgramError` if there is no such x, ``ValueError`` if the vertex cannot be settled exactly.
    ``matrix`` (equations, unknowns) and ``right`` (equations,) hold Python integers of any size, ``cost`` (unknowns,)
    floats.
    """
    result = linprog(cost, A_eq=csr_array(matrix.astype(float)), b_eq=right.astype(float), method="highs-ds")
    if result.status == 2:
        raise InfeasibleProgramError("The solver reports that this side of the alternative has no solution.")
    if result.status != 0:
        raise ValueError(f"The linear program was not solved: {result.message}")
    support = np.flatnonzero(result.x > ACTIVE)
    try:
        entries = solve_unique(matrix[:, support], right)
    except ValueError as error:
        raise ValueError(f"The solver's vertex could not be settled exactly (ACTIVE = {ACTIVE}): {error}") from error
    vertex = [Fraction(0)] * matrix.shape[1]
    for j, x in zip(support, entries, strict=True):
        exact = fmpq(x)
        vertex[j] = Fraction(int(exact.p), int(exact.q))
    return vertex
