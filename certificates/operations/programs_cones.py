"""Three solvers of the programs of this room: its own interior point method, Clarabel, and SCS.

The programs are those of `lemmata.certificates.operations.programs_form`. The solvers are called directly, since
forming a program through a modelling language takes longer than solving a small one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lemmata.certificates.operations.programs_effort import Effort
from lemmata.certificates.operations.programs_form import ConeData, lower_triangle
from lemmata.certificates.operations.programs_interior import solve_interior

__all__ = ["ConeSolution", "Solver", "solve_cones"]

Solver = Literal["interior", "clarabel", "scs"]
"""The name of a solver; the first is `lemmata.certificates.operations.programs_interior`."""


@dataclass(frozen=True)
class ConeSolution:
    """What a solver gave.

    Attributes:
        multipliers: lambda, shape (J,), as the solver left them.
        grams: one symmetric matrix for each block.
        moments: L.
        status: the solver's own word.
        seconds: wall time.
    """

    multipliers: NDArray[np.float64]
    grams: tuple[NDArray[np.float64], ...]
    moments: NDArray[np.float64]
    status: str
    seconds: float


def solve_cones(
    data: ConeData, solver: Solver, *, accuracy: float, limit: int, effort: Effort | None = None
) -> ConeSolution:
    """The solution of a program.

    Args:
        accuracy: the tolerance of the solver, absolute and relative.
        limit: of its iterations.
        effort: whose limit of time the solver keeps.

    Raises:
        ValueError: for another name of a solver.
    """
    effort = effort or Effort()
    if solver == "interior":
        return _interior(data, accuracy, limit, effort)
    if solver not in ("clarabel", "scs"):
        raise ValueError(f'There is no solver {solver!r}; accepted are "interior", "clarabel" and "scs".')
    program = _stacked(data, upper=solver == "clarabel")
    began = time.perf_counter()
    primal, dual, status = (_clarabel if solver == "clarabel" else _scs)(program, accuracy, limit, effort)
    seconds = time.perf_counter() - began
    multipliers = dual[1 : 1 + len(data.weights)]
    grams, start = [], 1 + len(data.weights)
    for order in program.orders:
        count = order * (order + 1) // 2
        grams.append(_unpacked(dual[start : start + count], order, upper=solver == "clarabel"))
        start += count
    return ConeSolution(multipliers, tuple(grams), primal[: len(data.norm)], status, seconds)


def _interior(data: ConeData, accuracy: float, limit: int, effort: Effort) -> ConeSolution:
    began = time.perf_counter()
    found = solve_interior(data, data.start, accuracy=accuracy, limit=limit, effort=effort)
    seconds = time.perf_counter() - began
    return ConeSolution(found.multipliers, found.grams, found.moments, found.status, seconds)


def _upper_order(order: int) -> NDArray[np.int64]:
    """Where the entries of the upper triangle by columns stand in the lower triangle by columns."""
    i, j = lower_triangle(order)
    return np.lexsort((j, i))


def _unpacked(packed: NDArray[np.float64], order: int, *, upper: bool) -> NDArray[np.float64]:
    i, j = lower_triangle(order)
    if upper:
        turned = np.empty_like(packed)
        turned[_upper_order(order)] = packed
        packed = turned
    matrix = np.zeros((order, order))
    matrix[i, j] = packed / np.where(i == j, 1.0, np.sqrt(2))
    return matrix + np.tril(matrix, -1).T


class _Program(NamedTuple):
    """Minimise objective . v subject to right - matrix v in the cones: {0}, so many numbers >= 0, and the blocks."""

    matrix: sparse.csc_matrix
    right: NDArray[np.float64]
    objective: NDArray[np.float64]
    multipliers: int
    orders: list[int]


def _stacked(data: ConeData, *, upper: bool) -> _Program:
    groups = int(data.group.max(initial=-1)) + 1
    grouped = np.flatnonzero(data.group >= 0)
    shares = sparse.csr_array(
        (np.ones(len(grouped)), (grouped, data.group[grouped])), shape=(len(data.weights), groups)
    )
    top = sparse.hstack([sparse.csr_array(data.norm[None, :]), sparse.csr_array((1, groups))])
    middle = sparse.hstack([data.columns.T, shares])
    parts = [top, middle]
    for order, rows in data.blocks:
        turned = rows[_upper_order(order)] if upper else rows
        parts.append(sparse.hstack([-turned, sparse.csr_array((order * (order + 1) // 2, groups))]))
    right = np.zeros(1 + len(data.weights) + sum(order * (order + 1) // 2 for order, _ in data.blocks))
    right[0], right[1 : 1 + len(data.weights)] = 1.0, data.weights
    objective = np.concatenate([data.fixed, -np.ones(groups)])
    orders = [order for order, _ in data.blocks]
    return _Program(sparse.csc_matrix(sparse.vstack(parts)), right, objective, len(data.weights), orders)


def _clarabel(
    program: _Program, accuracy: float, limit: int, effort: Effort
) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
    clarabel: Any = import_module("clarabel")  # of the extra `solvers`; an extension module without types
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = limit
    if effort.limited:
        settings.time_limit = effort.seconds_left
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = accuracy
    matrix, right, objective, multipliers, orders = program
    cones = [clarabel.ZeroConeT(1)] + ([clarabel.NonnegativeConeT(multipliers)] if multipliers else [])
    cones += [clarabel.PSDTriangleConeT(order) for order in orders]
    quadratic = sparse.csc_matrix((len(objective), len(objective)))
    found = clarabel.DefaultSolver(quadratic, objective, matrix, right, cones, settings).solve()
    return np.array(found.x), np.array(found.z), str(found.status)


def _scs(
    program: _Program, accuracy: float, limit: int, effort: Effort
) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
    import scs  # of the extra `solvers`

    form = {"A": program.matrix, "b": program.right, "c": program.objective}
    cone = {"z": 1, "l": program.multipliers, "s": program.orders}
    settings = {"eps_abs": accuracy, "eps_rel": accuracy, "eps_infeas": 1e-12, "max_iters": limit}
    if effort.limited:
        settings["time_limit_secs"] = max(effort.seconds_left, 1e-3)  # for SCS 0 is no limit
    solver = scs.SCS(form, cone, verbose=False, **settings)
    found = solver.solve()
    return np.array(found["x"]), np.array(found["y"]), str(found["info"]["status"])
