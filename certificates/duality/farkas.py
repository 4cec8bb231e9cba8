"""Decide a system of linear inequalities: an exact solution, or a Farkas certificate that there is none.

Both sides of Motzkin's transposition theorem (`lemmata.certificates.duality.inequalities`) are linear programs, solved
exactly (`lemmata.numerics.exact.linear_programs`) for integers of any size, and the answer is checked by the plain
checker. One of them always has a solution, so every system is decided.

This refutes any claim of the form "weights exist such that ..." whose conditions are linear in free functions of the
weights, for instance that a single attention head decides a function of its tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np

from lemmata.certificates.duality.inequalities import (
    Constraint,
    FarkasCertificate,
    FeasiblePoint,
    unknowns,
    verify,
    verify_point,
)
from lemmata.numerics.exact.linear_programs import Infeasible, LinearProgram, Optimum, solve_program
from lemmata.numerics.exact.rationals import as_fraction

__all__ = [
    "Constraint",
    "FarkasCertificate",
    "FeasiblePoint",
    "InfeasibleProgramError",
    "decide",
    "find",
    "find_point",
    "verify",
    "verify_point",
]


def decide(constraints: Sequence[Constraint]) -> FarkasCertificate | FeasiblePoint:
    """The proved outcome: a certificate that the system has no solution, or a solution.

    Raises:
        ValueError: when there is no constraint, or when two have one name.
    """
    try:
        return find(constraints)
    except InfeasibleProgramError:
        return find_point(constraints)


def find(constraints: Sequence[Constraint]) -> FarkasCertificate:
    """Integer multipliers that prove that no real numbers satisfy all constraints; they pass `verify`.

    Among the vertices of all certificates, scaled so that the contradiction has size 1, one with the smallest sum of
    multipliers is taken.

    Raises:
        InfeasibleProgramError: when there is no certificate, because there is a solution.
        ValueError: as `decide`.
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
    cost = np.ones(len(columns) + 1, dtype=int)
    cost[-1] = 0
    try:
        vertex = _vertex(matrix, right, cost)
    except InfeasibleProgramError as error:
        raise InfeasibleProgramError(
            "There is no certificate that there is no solution, so there is one: call find_point, or decide, which "
            "tries both sides."
        ) from error
    scale = lcm(*(x.denominator for x in vertex))
    multipliers: dict[str, int] = {}
    for (constraint, sign), x in zip(columns, vertex, strict=False):
        multipliers[constraint.name] = multipliers.get(constraint.name, 0) + sign * int(x * scale)
    certificate = FarkasCertificate(multipliers)
    verify(constraints, certificate)
    return certificate


def find_point(constraints: Sequence[Constraint]) -> FeasiblePoint:
    """An exact solution of all constraints; it passes `verify_point`.

    The smallest excess of a strict inequality over its bound, cut off at 1, is as large as possible.

    Raises:
        InfeasibleProgramError: when there is no solution.
        ValueError: as `decide`.
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
    cost = np.zeros(matrix.shape[1], dtype=int)
    cost[2 * n] = -1
    refusal = "There is no solution, so there is a certificate of that: call find, or decide, which tries both sides."
    try:
        vertex = _vertex(matrix, right, cost)
    except InfeasibleProgramError as error:
        raise InfeasibleProgramError(refusal) from error
    if vertex[2 * n] == 0 and any(constraint.relation == ">" for constraint in constraints):
        raise InfeasibleProgramError(refusal)
    point = FeasiblePoint({u: vertex[i] - vertex[n + i] for i, u in enumerate(names)})
    verify_point(constraints, point)
    return point


class InfeasibleProgramError(ValueError):
    """The linear program has no feasible point."""


def _vertex(matrix: np.ndarray, right: np.ndarray, cost: np.ndarray) -> list[Fraction]:
    """An optimal vertex of: minimise cost . x, matrix @ x = right, x >= 0, for costs that are bounded below.

    Raises:
        InfeasibleProgramError: if there is no such x.
    """
    outcome = solve_program(LinearProgram(matrix, right, cost))
    if isinstance(outcome, Infeasible):
        raise InfeasibleProgramError("The linear program has no feasible point.")
    assert isinstance(outcome, Optimum), "the costs are bounded below"
    return [as_fraction(x) for x in outcome.x]
