"""The cone program of a CVXPY problem, with its floats as the binary fractions that they are.

CVXPY itself rewrites a problem as a cone program, and that rewriting is trusted: what it computes with the constants of
the user (0.1 * 3, the sum of two matrices) it rounds before anyone sees it. Problems whose constants are integers, or
binary fractions of few digits, lose nothing. The scaling of matrices by square roots that solvers want is not taken
part in: semidefinite constraints are read entry by entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpq, fmpq_mat

from lemmata.certificates.solutions.programs import ConeProgram

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["ReadProblem", "read_constraints", "read_problem"]


@dataclass(frozen=True, eq=False)
class ReadProblem:
    """A problem as a cone program.

    Attributes:
        program: the cone program; its value is that of the problem, or minus it if the problem is one of maximising.
        maximised: whether it is.
        places: of each variable of the problem, by its name: the coordinates of its entries, an array of its shape.
        given: the values of the variables, by coordinate, as floats; empty if some variable has none.
    """

    program: ConeProgram
    maximised: bool
    places: dict[str, np.ndarray]
    given: dict[int, float]


def read_problem(problem: cp.Problem) -> ReadProblem:
    """A linear or semidefinite problem as a cone program.

    Raises:
        TypeError: for anything but a problem of CVXPY.
        ValueError: for parameters without a value, integer or complex variables, sparse or diagonal ones, two of the
            same name, a problem that is not convex by CVXPY's rules, one that CVXPY cannot write as a
            cone program, such as one with complex constants, and constraints that need other cones.
    """
    import cvxpy as cp  # slow to import
    from cvxpy.reductions.cvx_attr2constr import CvxAttr2Constr
    from cvxpy.reductions.dcp2cone.cone_matrix_stuffing import ConeMatrixStuffing
    from cvxpy.reductions.dcp2cone.dcp2cone import Dcp2Cone
    from cvxpy.reductions.eval_params import EvalParams
    from cvxpy.reductions.flip_objective import FlipObjective

    if not isinstance(problem, cp.Problem):
        raise TypeError(f"A problem of CVXPY is certified, a cvxpy.Problem, not a {type(problem).__name__}.")
    for variable in problem.variables():
        for name in ("boolean", "integer", "complex", "imag", "hermitian", "diag", "sparsity"):
            if variable.attributes.get(name):
                raise ValueError(f"The variable {variable.name()} is {name}: only real, full variables are certified.")
    unset = [parameter.name() for parameter in problem.parameters() if parameter.value is None]
    if unset:
        raise ValueError(f"Parameters without a value: {', '.join(unset)}. Set their values, and solve the problem.")
    names = [variable.name() for variable in problem.variables()]
    if len(set(names)) < len(names):
        raise ValueError(f"Two variables have the same name: every one needs its own, not {', '.join(names)}.")
    if not problem.is_dcp():
        raise ValueError("The problem is not convex by the rules of CVXPY (DCP), so that it has no cone program.")
    maximised = isinstance(problem.objective, cp.Maximize)
    reduced: Any = problem
    reductions: list[Any] = [EvalParams()] if problem.parameters() else []
    reductions += [FlipObjective()] if maximised else []
    attributes = CvxAttr2Constr(reduce_bounds=True)
    renamed: dict[int, Any] = {}
    for reduction in (*reductions, Dcp2Cone(quad_obj=False), attributes, ConeMatrixStuffing(quad_obj=False)):
        inverse: Any
        try:
            reduced, inverse = reduction.apply(reduced)
        except Exception as error:  # of many kinds, those of CVXPY among them
            raise ValueError(f"CVXPY cannot write the problem as a real cone program: {error!r}.") from error
        if reduction is attributes:
            renamed = inverse[0] if inverse else {}
            _refuse_other_cones(reduced.constraints)
    columns = reduced.var_id_to_col
    places = {
        variable.name(): _places(variable, columns[getattr(renamed.get(variable.id), "id", variable.id)])
        for variable in problem.variables()
    }
    given = {}
    if all(variable.value is not None for variable in problem.variables()):
        for variable in problem.variables():
            values = np.asarray(variable.value, float)
            given |= dict(zip(places[variable.name()].ravel().tolist(), values.ravel().tolist(), strict=True))
    if not np.isfinite(list(given.values())).all():
        raise ValueError("The values of the variables must be finite numbers.")
    return ReadProblem(_program(reduced), maximised, places, given)


def read_constraints(problem: cp.Problem) -> ReadProblem:
    """The program of the constraints of a problem alone, with all its variables and the objective 0.

    Its coordinates are the entries of the variables if all constraints are affine: then its rows are the constraints.

    Raises:
        TypeError, ValueError: as `read_problem`.
    """
    import cvxpy as cp  # slow to import

    zero = sum((0 * cp.sum(variable) for variable in problem.variables()), start=cp.Constant(0))
    return read_problem(cp.Problem(cp.Minimize(zero), problem.constraints))


def _refuse_other_cones(constraints: list[Any]) -> None:
    """ValueError for a constraint that is none of the program's: CVXPY's last step leaves out some that it ignores."""
    for kind in (type(constraint).__name__ for constraint in constraints):
        if kind not in ("Equality", "Inequality", "Zero", "NonNeg", "NonPos", "PSD"):
            raise ValueError(
                f"The problem needs the cone {kind}: only linear and semidefinite problems are certified. Write norms "
                "and squares as semidefinite constraints."
            )


def _places(variable: cp.Variable, first: int) -> np.ndarray:
    """The coordinates of the entries of a variable: column by column, or those of the upper triangle, row by row."""
    if any(variable.attributes[name] for name in ("symmetric", "PSD", "NSD")):
        if len(variable.shape) != 2:
            raise ValueError(f"The variable {variable.name()} is a stack of symmetric matrices: use one for each.")
        places = np.zeros(variable.shape, np.int64)
        i, j = np.triu_indices(variable.shape[0])
        places[i, j] = places[j, i] = first + np.arange(len(i))
        return places
    return first + np.arange(variable.size).reshape(variable.shape, order="F")


def _program(reduced: Any) -> ConeProgram:
    """The program of CVXPY's matrices, whose rows are A x + b in the cones, one after the other."""
    cost, offset, A, b = reduced.apply_parameters()
    A, b = np.asarray(A.todense() if hasattr(A, "todense") else A), np.asarray(b).ravel()
    if not all(np.isfinite(part).all() for part in (cost, A, b)):
        raise ValueError("The constants of the problem must be finite numbers.")
    rows: dict[str, list[tuple[np.ndarray, float]]] = {"Zero": [], "NonNeg": [], "PSD": []}
    orders, start = [], 0
    for constraint in reduced.constraints:
        kind, size = type(constraint).__name__, int(constraint.size)
        part = A[start : start + size], b[start : start + size]
        if kind == "PSD":
            if constraint.args[0].ndim != 2:
                raise ValueError("A semidefinite constraint is on one matrix, not on a stack of them.")
            orders.append(int(constraint.args[0].shape[0]))
            swap = np.arange(size).reshape(orders[-1], -1).T.ravel()
            rows[kind] += zip(*_halves(part, swap), strict=True)
        else:
            rows[kind] += zip(*part, strict=True)
        start += size
    n, cone = A.shape[1], rows["NonNeg"] + rows["PSD"]
    return ConeProgram(
        tuple(_exact(x) for x in np.asarray(cost).ravel()),
        _exact(np.asarray(offset).item()),
        _matrix([row for row, _ in rows["Zero"]], n),
        tuple(-_exact(shift) for _, shift in rows["Zero"]),
        _matrix([row for row, _ in cone], n),
        tuple(_exact(shift) for _, shift in cone),
        len(rows["NonNeg"]),
        tuple(orders),
    )


def _halves(part: tuple[np.ndarray, np.ndarray], swap: np.ndarray) -> tuple[list[Any], list[Any]]:
    """The symmetric part of a matrix of affine functions, in rational numbers where floats would round."""
    A, b = part
    half = fmpq(1, 2)
    rows = [
        [_exact(x) if x == y else half * (_exact(x) + _exact(y)) for x, y in zip(A[i], A[j], strict=True)]
        for i, j in enumerate(swap)
    ]
    return rows, [half * (_exact(b[i]) + _exact(b[j])) for i, j in enumerate(swap)]


def _matrix(rows: list[Any], columns: int) -> fmpq_mat:
    return fmpq_mat(len(rows), columns, [_exact(x) for row in rows for x in row])


def _exact(x: Any) -> fmpq:
    return x if isinstance(x, fmpq) else fmpq(*float(x).as_integer_ratio())
