"""Points of a program in floats, as a solver proposes them, and moved into its feasible set exactly.

A proposal is rounded: to fractions with small denominators, which find vertices and other rational optima, and to a
fine grid. Each rounding is projected on the solutions of the equations, exactly. What then lies outside of the cone is
moved towards a point inside of it, which is found by maximising the distance to the boundary, by the least power of two
that serves. Nothing of a solver is trusted: a point counts if `is_feasible` accepts it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from lemmata.certificates.solutions.programs import ConeProgram, Vector, is_feasible

__all__ = ["inner_point", "nearest_point", "optimal_point", "repaired", "shifted_on_equations"]

Floats = NDArray[np.float64]

DENOMINATORS = (1, 12, 10**2, 10**4, 10**6)
"""The largest of the fractions that are tried."""
CLOSE = 1e-5
"""How far such a fraction may be from the float, relative to 1 + its absolute value: farther is another point."""
ACCURACY = 1e-12
"""Of the solver, which ends where floats allow no more; what it gives is judged in exact arithmetic."""
BITS = 48
"""Of the fine grid."""
STEPS = range(50, -1, -1)
"""The powers of 1/2 by which a point is moved towards the inside."""


def optimal_point(program: ConeProgram) -> Floats | None:
    """The solver's optimum in floats; None if it has none."""
    return _solved(program)


def inner_point(program: ConeProgram) -> Floats | None:
    """A point in floats that is as far inside of the cone as it can be, up to 1; None if there is none inside."""
    return _solved(program, inside=True)


def nearest_point(program: ConeProgram, given: Mapping[int, float]) -> Floats | None:
    """The best of the feasible points in floats that are nearest to given coordinates in the maximum norm."""
    return _solved(program, given=given)


def repaired(program: ConeProgram, proposal: Floats) -> Vector | None:
    """The best exactly feasible point near a proposal, shape (n,); None if none was found."""
    found: list[Vector] = []
    outside: list[Vector] = []
    for rounded in _roundings(proposal):
        point = shifted_on_equations(program, rounded)
        if point is None:
            return None
        (found if is_feasible(program, point) else outside).append(point)
    if outside:
        inner = inner_point(program)
        target = None if inner is None else shifted_on_equations(program, _grid(inner))
        if target is not None and is_feasible(program, target):
            found.append(_moved(program, outside[-1], target))  # the last one is on the fine grid
    return min(found, key=program.value) if found else None


def shifted_on_equations(program: ConeProgram, point: Vector) -> Vector | None:
    """The orthogonal projection of a point on the solutions of the equations, exactly; None if there is none."""
    residuals = program.residuals(point)
    if any(residuals):
        chosen, n = program.independent, len(point)
        entries = [program.equations[i, j] for i in chosen for j in range(n)]
        E = fmpq_mat(len(chosen), n, entries)
        if chosen:
            right = fmpq_mat(len(chosen), 1, [residuals[i] for i in chosen])
            step = E.transpose() * (E * E.transpose()).solve(right)
            point = tuple(x - step[i, 0] for i, x in enumerate(point))
        if any(program.residuals(point)):
            return None
    return point


def _roundings(proposal: Floats) -> Iterator[Vector]:
    """Fractions near a proposal with small denominators, then those of a fine grid."""
    values = [float(x) for x in proposal]
    seen: set[tuple[Fraction, ...]] = set()
    for largest in DENOMINATORS:
        snapped = tuple(Fraction(x).limit_denominator(largest) for x in values)
        close = all(abs(float(y) - x) <= CLOSE * (1 + abs(x)) for x, y in zip(values, snapped, strict=True))
        if close and snapped not in seen:
            seen.add(snapped)
            yield tuple(fmpq(x.numerator, x.denominator) for x in snapped)
    yield _grid(proposal)


def _grid(proposal: Floats) -> Vector:
    unit = 1 << BITS
    return tuple(fmpq(round(Fraction(float(x)) * unit), unit) for x in proposal)


def _moved(program: ConeProgram, point: Vector, target: Vector) -> Vector:
    """The point moved towards a feasible target by the least power of 1/2 that makes it feasible."""
    for power in STEPS:
        part = fmpq(1, 1 << power)
        moved = tuple((1 - part) * a + part * b for a, b in zip(point, target, strict=True))
        if is_feasible(program, moved):
            return moved
    return target


def _solved(program: ConeProgram, *, inside: bool = False, given: Mapping[int, float] | None = None) -> Floats | None:
    """The floats of a solver for the program, for its inside, or for the best of the nearest points."""
    import cvxpy as cp  # slow to import

    z, t = cp.Variable(len(program.cost)), cp.Variable()
    constraints = _constraints(program, z, t if inside else 0)
    cost = np.array([float(x) for x in program.cost]) @ z
    if inside:
        point = _minimised(-t, [*constraints, t <= 1], z)
        return None if point is None or t.value is None or float(t.value) <= 0 else point
    if not given:
        return _minimised(cost, constraints, z)
    away = cp.norm_inf(cp.hstack([z[place] - value for place, value in given.items()]))
    nearest = _minimised(away, constraints, z)
    if nearest is None:
        return None
    least = max(abs(nearest[place] - value) for place, value in given.items())
    best = _minimised(cost, [*constraints, away <= least * (1 + 1e-6) + 1e-9], z)
    return nearest if best is None else best


def _constraints(program: ConeProgram, z: Any, depth: Any) -> list[Any]:
    """The constraints of a program on a variable of CVXPY, that lies so deep in the cone."""
    import cvxpy as cp

    constraints = []
    if program.right:
        constraints.append(_floats(program.equations) @ z == np.array([float(x) for x in program.right]))
    if not program.shift:
        return constraints
    image = _floats(program.rows) @ z + np.array([float(x) for x in program.shift])
    if program.lines:
        constraints.append(image[: program.lines] >= depth)
    start = program.lines
    for order in program.orders:
        block = cp.reshape(image[start : start + order**2], (order, order), order="C")
        constraints.append(block - depth * np.eye(order) >> 0)
        start += order**2
    return constraints


def _minimised(cost: Any, constraints: list[Any], z: Any) -> Floats | None:
    """The floats of z that the solver finds, None if it finds none."""
    import cvxpy as cp

    with suppress(cp.SolverError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is inaccurate is found out in exact arithmetic
        cp.Problem(cp.Minimize(cost), constraints).solve(
            solver=cp.CLARABEL, tol_gap_abs=ACCURACY, tol_gap_rel=ACCURACY, tol_feas=ACCURACY
        )
        if z.value is not None and np.isfinite(z.value).all():
            return np.array(z.value, float)
    return None


def _floats(matrix: fmpq_mat) -> Floats:
    entries = [float(x) for x in matrix.entries()]
    return np.array(entries).reshape(matrix.nrows(), matrix.ncols())
