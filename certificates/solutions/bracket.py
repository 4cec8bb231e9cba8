"""The bracket of the optimum of a CVXPY problem that its solution proves, exactly.

The upper bound is the value at a feasible point near the given solution, or near a solution that is sought anew where
that one is better by more than a little; the lower bound is that of multipliers, which are always sought anew, since a
proof does not depend on where it comes from. Where there is no feasible point, a direction of
the dual program proves it; where the value is unbounded, a direction of the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from flint import fmpq

from lemmata.certificates.solutions.points import inner_point, nearest_point, optimal_point, repaired
from lemmata.certificates.solutions.programs import (
    ConeProgram,
    Vector,
    block_matrices,
    dual,
    is_feasible,
    is_semidefinite,
    recession,
)
from lemmata.certificates.solutions.reading import ReadProblem, read_constraints, read_problem
from lemmata.numerics.exact.rationals import as_fraction

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["CertifiedSolution", "certify_solution", "verify"]

BETTER = 1e-9
"""Relative: by how much a point that is sought anew has to be better than the one near the given solution."""

Status = Literal["bracketed", "one bound", "infeasible", "unbounded", "nothing"]


@dataclass(frozen=True, eq=False)
class CertifiedSolution:
    """What is proved about a problem, and about the solution that it holds.

    Attributes:
        status: "bracketed" if both bounds are proved, "one bound", "infeasible", "unbounded", or "nothing".
        claimed: the value that the problem holds, a float; None if it holds none.
        lower: the optimum is at least this; None if it was not proved.
        upper: the optimum is at most this; None if it was not proved.
        slack: the solution of the problem violates no equation and no inequality by more than this, and every matrix
            is positive semidefinite after adding this to its diagonal; None if the problem holds no solution, and where
            constraints are not affine, so that CVXPY writes them with further variables.
        moved: how far the entries of the solution were moved to a feasible point; None if there is none.
        point: the entries of that point, by the names of variables, arrays of fractions; empty if there is none.
        remarks: sentences about what was not certified, and why.
        read: the program behind all this.
        constraints: the program of the constraints alone, on which the slack is measured.
        primal, multipliers: a feasible point of the program and one of its dual; the directions of unbounded and
            infeasible programs in their places; None where there is none.
        ray: the direction that proves that the problem is unbounded, where it is.
    """

    status: Status
    claimed: float | None
    lower: Fraction | None
    upper: Fraction | None
    slack: Fraction | None
    moved: Fraction | None
    point: dict[str, np.ndarray]
    remarks: tuple[str, ...]
    read: ReadProblem
    constraints: ReadProblem
    primal: Vector | None
    multipliers: Vector | None
    ray: Vector | None = None

    @property
    def gap(self) -> Fraction | None:
        """The difference of the bounds: 0 if the optimum is known exactly; None if one of them is missing."""
        return None if self.lower is None or self.upper is None else self.upper - self.lower


def certify_solution(problem: cp.Problem, *, polish: bool = True) -> CertifiedSolution:
    """The bounds of the optimum of a solved linear or semidefinite CVXPY problem that are proved in exact arithmetic.

    Solvers report "optimal" for points that violate constraints, and values on the wrong side of the optimum. Here the
    solution, or a better one, is rounded to fractions and moved into the feasible set, its value is one bound, and
    rounded multipliers give the other; both are checked in rational arithmetic. The floats of the problem count as the
    binary fractions that they are; that CVXPY writes the problem as a cone program rightly is trusted.

        problem.solve()
        found = lm.certify_solution(problem)
        found.lower, found.upper, found.slack

    Args:
        problem: after `solve`, with affine constraints, semidefinite constraints and bounds, and objectives and
            constraints that CVXPY writes with them (absolute values, maxima, sums, eigenvalues). Dense exact matrices
            are formed: meant for up to some hundred entries of variables and constraints.
        polish: whether a better feasible point is sought anew; without it the bound is what the given solution proves,
            rounded and moved as little as can be.

    Raises:
        TypeError: for anything but a problem of CVXPY.
        ValueError: for a problem that was not solved, parameters without a value, integer or complex variables, a
            problem that is not convex by CVXPY's rules, and one that needs other cones, such as that of second order.
    """
    read = read_problem(problem)
    if problem.status is None and not read.given:
        raise ValueError("The problem was not solved and its variables hold no values: call its method solve first.")
    program = read.program
    remarks: list[str] = []
    primal = _feasible(program, read.given)
    if polish and primal is not None and read.given:
        primal = _better(program, primal, _feasible(program, {}))
    proof = dual(program)
    multipliers = _feasible(proof, {})
    ray = None
    if primal is None:
        direction = _feasible(recession(proof), {})
        if direction is not None:
            return _result(problem, read, "infeasible", None, direction, None, remarks)
        remarks.append(
            "No exactly feasible point was found: its set may be empty or have no inside, or equations of floats "
            "contradict one another."
        )
    if multipliers is None:
        ray = _feasible(recession(program), {})
        if ray is not None and primal is not None:
            return _result(problem, read, "unbounded", primal, None, ray, remarks)
        remarks.append("No exactly feasible multipliers were found: their set may be empty or have no inside.")
    return _result(problem, read, _status(primal, multipliers), primal, multipliers, None, remarks)


def verify(found: CertifiedSolution) -> None:
    """The exact test of status, bounds, slack, move and point of a certified solution, from its programs alone.

    Raises:
        ValueError: naming the first claim that its points do not prove.
    """
    program = found.read.program
    proof = dual(program)
    claims: list[tuple[str, ConeProgram, Vector | None]] = []
    if found.status == "infeasible":
        claims.append(("the direction of the dual", recession(proof), found.multipliers))
    elif found.multipliers is not None:
        claims.append(("the multipliers", proof, found.multipliers))
    if found.primal is not None:
        claims.append(("the point", program, found.primal))
    if found.status == "unbounded":
        claims += [("the point", program, found.primal), ("the direction", recession(program), found.ray)]
    for what, where, point in claims:
        if point is None or not is_feasible(where, point):
            raise ValueError(f"Not proved: {what} is not feasible.")
    if found.status not in ("infeasible", "unbounded", _status(found.primal, found.multipliers)):
        raise ValueError(f"Not proved: the points prove {_status(found.primal, found.multipliers)!r} at most.")
    bounds = _bounds(found.read, found.status, found.primal, found.multipliers)
    if bounds != (found.lower, found.upper):
        raise ValueError(f"Not proved: the points prove the bounds {bounds}, not {(found.lower, found.upper)}.")
    if found.slack is not None and not _violates_at_most(found.constraints, found.slack):
        raise ValueError(f"Not proved: the solution violates a constraint by more than {found.slack}.")
    if found.moved != _moved(found.read, found.primal):
        raise ValueError(f"Not proved: the solution was not moved by {found.moved}.")
    point = _named(found.read, found.primal)
    if point.keys() != found.point.keys() or not all(np.array_equal(found.point[name], point[name]) for name in point):
        raise ValueError("Not proved: the entries by name are not those of the feasible point.")


def _violates_at_most(constraints: ReadProblem, slack: Fraction) -> bool:
    """Whether the given solution violates no constraint by more than the slack."""
    program, point, most = constraints.program, _given_point(constraints), _rational(slack)
    image = program.image(point)
    return (
        most >= 0
        and all(abs(x) <= most for x in program.residuals(point))
        and all(x + most >= 0 for x in image[: program.lines])
        and all(is_semidefinite(_raised(matrix, most)) for matrix in block_matrices(program, image))
    )


def _feasible(program: ConeProgram, given: dict[int, float]) -> Vector | None:
    """A feasible point near the given coordinates, or near the solver's optimum if none is given."""
    if len(given) == len(program.cost):
        proposal = np.array([given[place] for place in range(len(given))])
        found = repaired(program, proposal)
        if found is not None:
            return found
    floats = nearest_point(program, given) if given else optimal_point(program)
    if floats is None:  # there may be points without an optimum
        floats = inner_point(program)
    return None if floats is None else repaired(program, floats)


def _better(program: ConeProgram, first: Vector, second: Vector | None) -> Vector:
    """The first of two feasible points, unless the second one is better by more than a little."""
    if second is None:
        return first
    value, other = float(program.value(first)), float(program.value(second))
    return second if value - other > BETTER * (1 + abs(value)) else first


def _status(primal: Vector | None, multipliers: Vector | None) -> Status:
    """What feasible points of the program and its dual prove."""
    known: Sequence[Status] = ("nothing", "one bound", "bracketed")
    return known[(primal is not None) + (multipliers is not None)]


def _bounds(
    read: ReadProblem, status: str, primal: Vector | None, multipliers: Vector | None
) -> tuple[Fraction | None, Fraction | None]:
    """The lower and the upper bound of the problem that feasible points prove."""
    if status in ("infeasible", "unbounded"):
        return None, None
    upper = None if primal is None else as_fraction(read.program.value(primal))
    lower = None if multipliers is None else -as_fraction(dual(read.program).value(multipliers))
    if not read.maximised:
        return lower, upper
    return None if upper is None else -upper, None if lower is None else -lower


def _result(
    problem: Any,
    read: ReadProblem,
    status: Status,
    primal: Vector | None,
    multipliers: Vector | None,
    ray: Vector | None,
    remarks: list[str],
) -> CertifiedSolution:
    """The certified solution, with the slack of the given one."""
    claimed = None if problem.value is None or not np.isfinite(problem.value) else float(problem.value)
    lower, upper = _bounds(read, status, primal, multipliers)
    constraints, slack = read_constraints(problem), None
    if read.given and len(constraints.given) == len(constraints.program.cost):
        slack = _slack(constraints.program, _given_point(constraints))
    elif read.given:
        remarks.append(
            "How much the solution violates the constraints was not measured, since CVXPY writes them with further "
            "variables."
        )
    if claimed is not None:
        below = 0 if lower is None else lower - Fraction(claimed)
        above = 0 if upper is None else Fraction(claimed) - upper
        if max(below, above) > 0:
            side = (
                f"below the lower bound by {float(below):.2g}"
                if below > 0
                else f"above the upper by {float(above):.2g}"
            )
            remarks.append(f"The value that the problem holds is {side}.")
    found = CertifiedSolution(
        status,
        claimed,
        lower,
        upper,
        slack,
        _moved(read, primal),
        _named(read, primal),
        tuple(remarks),
        read,
        constraints,
        primal,
        multipliers,
        ray,
    )
    verify(found)
    return found


def _rational(x: float | Fraction) -> fmpq:
    return fmpq(*x.as_integer_ratio())


def _given_point(read: ReadProblem) -> Vector:
    """The given solution, for a program whose coordinates are all given."""
    return tuple(_rational(read.given[place]) for place in range(len(read.program.cost)))


def _moved(read: ReadProblem, primal: Vector | None) -> Fraction | None:
    """The largest distance of an entry of the given solution from the feasible point."""
    if primal is None or not read.given:
        return None
    return as_fraction(max(abs(_rational(x) - primal[place]) for place, x in read.given.items()))


def _named(read: ReadProblem, primal: Vector | None) -> dict[str, np.ndarray]:
    """The entries of a feasible point by the names of variables; none without a point."""
    if primal is None:
        return {}
    values = np.array([as_fraction(x) for x in primal], dtype=object)
    return {name: values[places] for name, places in read.places.items()}


def _slack(program: ConeProgram, point: Vector) -> Fraction:
    """A number that bounds by how much a point violates a program, as the attribute says; tight but for rounding."""
    image = program.image(point)
    slack = max((abs(x) for x in program.residuals(point)), default=fmpq(0))
    slack = max([slack, *(-x for x in image[: program.lines])])
    for matrix in block_matrices(program, image):
        least = float(np.linalg.eigvalsh([[float(x) for x in row] for row in matrix])[0])
        shift = slack
        room = 2.0**-50 * (1 + max(abs(float(x)) for row in matrix for x in row)) * len(matrix)
        if not is_semidefinite(_raised(matrix, shift)):
            shift = max(shift, fmpq(*max(0.0, -least).as_integer_ratio()))
            while not is_semidefinite(_raised(matrix, shift)):
                shift += fmpq(*room.as_integer_ratio())
                room *= 2
        slack = shift
    return as_fraction(slack)


def _raised(matrix: list[list[fmpq]], shift: fmpq) -> list[list[fmpq]]:
    return [[x + shift if i == j else x for j, x in enumerate(row)] for i, row in enumerate(matrix)]
