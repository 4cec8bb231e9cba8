"""Linear programs over an ordered field, solved exactly: an optimal pair, or a proof that there is none.

The program is: minimise costs . x subject to matrix @ x = right, x >= 0. Matrix and right-hand side are rational (or
real `Cyclotomic`) numbers; a cost is a rational number or a sum of square roots, given by its coordinates. The simplex
method moves from basis to basis. A basis is solved in the field of the matrix, so pivots are rational however many
roots the costs have; only the signs of reduced costs involve roots (`lemmata.numerics.exact.root_sums`).

No tolerance occurs. Bland's rule (R. G. Bland, New finite pivoting rules for the simplex method, 1977) excludes cycles,
so that every program ends. `preferred` columns are tried first for the first basis: with a good guess no pivot is left
to do, with a bad one more are. Multiplying rows, columns, the right-hand side or the costs by positive numbers of any
size changes no decision.

What is returned has been proved by `verify`, which knows nothing of bases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic, exact_matmul
from lemmata.numerics.exact.linear import inverse, pivot_columns
from lemmata.numerics.exact.numbers import as_exact, sign_of
from lemmata.numerics.exact.root_sums import root_sum_sign

__all__ = ["Infeasible", "LinearProgram", "Optimum", "Outcome", "Unbounded", "solve_program", "verify"]

Array = NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """Minimise costs . x over matrix @ x = right, x >= 0.

    Attributes:
        matrix: exact real numbers, shape (equations, unknowns).
        right: shape (equations,).
        costs: shape (unknowns,), or (roots, unknowns): unknown j costs sum_k costs[k, j] sqrt(radicands[k]).
        radicands: different squarefree integers; 1 alone for costs of shape (unknowns,).

    All three arrays are converted to `fmpq` and `Cyclotomic` elements, the costs to two axes.

    Raises:
        ValueError: for shapes that do not fit, numbers that are not exact, and several roots beside numbers that are
            not rational, whose signs could not be decided by coordinates.
    """

    matrix: Array
    right: Array
    costs: Array
    radicands: tuple[int, ...] = (1,)

    def __post_init__(self) -> None:
        matrix, right, costs = (_elements(part) for part in (self.matrix, self.right, self.costs))
        costs = costs[None, :] if costs.ndim == 1 else costs
        roots = len(self.radicands)
        if matrix.ndim != 2 or right.shape != matrix.shape[:1] or costs.shape != (roots, matrix.shape[1]):
            raise ValueError(
                f"A linear program needs a matrix (equations, unknowns), a right-hand side for each equation and "
                f"{roots} rows of costs, but the shapes are {matrix.shape}, {right.shape} and {costs.shape}."
            )
        entries = [*matrix.flat, *right, *costs.flat]
        if self.radicands != (1,) and any(isinstance(x, Cyclotomic) for x in entries):
            raise ValueError("Costs that are sums of square roots go with rational numbers only.")
        for name, value in (("matrix", matrix), ("right", right), ("costs", costs)):
            object.__setattr__(self, name, value)

    def sign(self, coordinates: Array) -> int:
        """The sign of a sum of square roots with these coordinates, shape (roots,)."""
        if self.radicands == (1,):
            return sign_of(coordinates[0])
        return root_sum_sign(coordinates.tolist(), self.radicands)


@dataclass(frozen=True, eq=False)
class Optimum:
    """``x`` is optimal, shape (unknowns,), and ``dual`` (roots, equations) proves it.

    x satisfies the program, no reduced cost costs - dual @ matrix is negative, and costs . x = dual . right. ``x`` is a
    vertex: the columns of its positive entries are independent.
    """

    x: Array
    dual: Array


@dataclass(frozen=True, eq=False)
class Infeasible:
    """No x exists: ``multipliers`` (equations,) have multipliers @ matrix <= 0 and multipliers . right > 0."""

    multipliers: Array


@dataclass(frozen=True, eq=False)
class Unbounded:
    """``x`` satisfies the program, and so does x + s ray for s >= 0: matrix @ ray = 0, ray >= 0, costs . ray < 0."""

    x: Array
    ray: Array


Outcome = Optimum | Infeasible | Unbounded


def solve_program(program: LinearProgram, preferred: Sequence[int] = ()) -> Outcome:
    """The proved outcome of a program.

    Args:
        program: the program.
        preferred: columns that are likely to be in an optimal basis, best first; they save pivots, nothing depends on
            them.
    """
    outcome = _solve(program, preferred)
    verify(program, outcome)
    return outcome


def verify(program: LinearProgram, outcome: Outcome) -> None:
    """The check of an outcome by its definition, exactly.

    Raises:
        ValueError: naming the first line that fails.
    """
    matrix, right, costs = program.matrix, program.right, program.costs
    if isinstance(outcome, Infeasible):
        if any(entry > 0 for entry in exact_matmul(outcome.multipliers[None, :], matrix)[0]):
            raise ValueError("The multipliers do not make every coefficient at most 0.")
        if not _dot(outcome.multipliers, right) > 0:
            raise ValueError("The multipliers do not make the right-hand side positive.")
        return
    _refuse_infeasible("x", matrix, right, outcome.x)
    if isinstance(outcome, Unbounded):
        _refuse_infeasible("The ray", matrix, right * 0, outcome.ray)
        if program.sign(exact_matmul(costs, outcome.ray[:, None])[:, 0]) >= 0:
            raise ValueError("The costs do not fall along the ray.")
        return
    reduced = costs - exact_matmul(outcome.dual, matrix)
    for j in range(reduced.shape[1]):
        if program.sign(reduced[:, j]) < 0:
            raise ValueError(f"The dual vector makes unknown {j} worth more than it costs.")
    if any(exact_matmul(costs, outcome.x[:, None])[:, 0] != exact_matmul(outcome.dual, right[:, None])[:, 0]):
        raise ValueError("The costs of x and the value of the dual vector differ.")


def _refuse_infeasible(name: str, matrix: Array, right: Array, x: Array) -> None:
    negative = [j for j, entry in enumerate(x) if entry < 0]
    if negative:
        raise ValueError(f"{name} has a negative entry: number {negative[0]}.")
    if any(exact_matmul(matrix, x[:, None])[:, 0] != right):
        raise ValueError(f"{name} violates an equation.")


# ---- the simplex method


def _solve(program: LinearProgram, preferred: Sequence[int]) -> Outcome:
    matrix, right = program.matrix, program.right
    equations, unknowns = matrix.shape
    first = list(dict.fromkeys(preferred))
    order = first + sorted(set(range(unknowns)) - set(first))
    basis = [order[j] for j in pivot_columns(matrix[:, order])]
    rows = pivot_columns(matrix[:, basis].T) if len(basis) < equations else list(range(equations))
    position = _Position(matrix[rows], right[rows], basis)
    for i in sorted(set(range(equations)) - set(rows)):  # equations that the others generate
        shares = exact_matmul(matrix[[i]][:, basis], position.inverse)[0]
        excess = right[i] - _dot(shares, right[rows])
        if excess != 0:
            multipliers = _filled(equations, rows, -shares)
            multipliers[i] = fmpq(1)
            return Infeasible(multipliers if excess > 0 else -multipliers)
    proof = _make_feasible(position)
    if proof is not None:
        return Infeasible(_filled(equations, rows, proof))
    ray = _improve(position, program)
    x = _filled(unknowns, position.basis, position.values)
    if ray is not None:
        return Unbounded(x, ray)
    dual = exact_matmul(program.costs[:, position.basis], position.inverse)
    return Optimum(x, np.array([_filled(equations, rows, line) for line in dual]))


class _Position:
    """A basis of independent equations: its columns, the inverse of their matrix, and the values of their unknowns."""

    def __init__(self, matrix: Array, right: Array, basis: Sequence[int]) -> None:
        self.matrix, self.basis = matrix, list(basis)
        self.inverse = inverse(matrix[:, self.basis])
        self.values = exact_matmul(self.inverse, right[:, None])[:, 0]

    def column(self, j: int) -> Array:
        """Column j in coordinates of the basis."""
        entries = self.matrix[:, j]
        rows = np.flatnonzero(entries != 0)
        return self.inverse[:, rows] @ entries[rows] if len(rows) else entries

    def exchange(self, place: int, j: int, column: Array) -> None:
        """Column j, whose coordinates are ``column``, takes this place of the basis."""
        pivot = column[place]
        line, value = self.inverse[place] / pivot, self.values[place] / pivot
        for i in np.flatnonzero(column != 0):
            self.inverse[i] = self.inverse[i] - column[i] * line
            self.values[i] = self.values[i] - column[i] * value
        self.inverse[place], self.values[place], self.basis[place] = line, value, j


def _make_feasible(position: _Position) -> Array | None:
    """Pivots until no value is negative; or multipliers that prove that there is no such basis.

    One artificial column, minus the sum of the basic columns with negative values, enters for the most negative value;
    then all values are at least 0, and the artificial unknown is minimised.
    """
    values, (equations, unknowns) = position.values, position.matrix.shape
    if not any(value < 0 for value in values):
        return None
    column = np.array([fmpq(-1 if value < 0 else 0) for value in values], dtype=object)
    artificial = exact_matmul(position.matrix[:, position.basis], column[:, None])
    whole, position.matrix = position.matrix, np.hstack([position.matrix, artificial])
    position.exchange(min(range(equations), key=lambda i: values[i]), unknowns, column)
    costs = np.array([fmpq(0)] * unknowns + [fmpq(1)], dtype=object)
    phase = LinearProgram(position.matrix, values * 0, costs)
    _improve(position, phase)  # bounded: the artificial unknown is at least 0
    position.matrix = whole
    if unknowns not in position.basis:
        return None
    place = position.basis.index(unknowns)
    line = position.inverse[place]
    if position.values[place] > 0:
        return line
    entries = exact_matmul(line[None, :], whole)[0]  # not all 0: the equations are independent
    j = next(j for j, entry in enumerate(entries) if entry != 0)
    position.exchange(place, j, position.column(j))
    return None


def _improve(position: _Position, program: LinearProgram) -> Array | None:
    """Pivots by Bland's rule until no reduced cost is negative; or a ray along which the costs fall for ever."""
    costs, matrix = program.costs, position.matrix
    unknowns, times_matrix = matrix.shape[1], _multiplier(matrix)
    reduced = costs - times_matrix(exact_matmul(costs[:, position.basis], position.inverse))
    visited = {frozenset(position.basis)}
    while True:
        entering = next((j for j in range(unknowns) if program.sign(reduced[:, j]) < 0), None)
        if entering is None:
            return None
        column = position.column(entering)
        places = [i for i in range(len(column)) if column[i] > 0]
        if not places:
            ray = _filled(unknowns, position.basis, -column)
            ray[entering] = fmpq(1)
            return ray
        leaving = min(places, key=lambda i: (position.values[i] / column[i], position.basis[i]))
        position.exchange(leaving, entering, column)
        if (basis := frozenset(position.basis)) in visited:
            raise ArithmeticError("The simplex method met a basis twice, which Bland's rule excludes.")
        visited.add(basis)
        line = times_matrix(position.inverse[[leaving]])[0]
        changed = np.flatnonzero(line != 0)
        reduced[:, changed] = reduced[:, changed] - reduced[:, [entering]] * line[changed]


def _multiplier(matrix: Array) -> Callable[[Array], Array]:
    """The function that maps rows to rows @ matrix; a rational matrix is converted for FLINT once only."""
    if any(isinstance(entry, Cyclotomic) for entry in matrix.flat):
        return lambda rows: exact_matmul(rows, matrix)
    factor, columns = fmpq_mat(matrix.shape[0], matrix.shape[1], matrix.ravel().tolist()), matrix.shape[1]

    def product(rows: Array) -> Array:
        if any(isinstance(entry, Cyclotomic) for entry in rows.flat):
            return exact_matmul(rows, matrix)
        result = np.empty(len(rows) * columns, dtype=object)
        result[:] = (fmpq_mat(len(rows), matrix.shape[0], rows.ravel().tolist()) * factor).entries()
        return result.reshape(len(rows), columns)

    return product


def _elements(part: Any) -> Array:
    """Exact elements; a `Cyclotomic` number that is rational becomes `fmpq`."""
    exact = as_exact(part)
    result = np.empty(exact.shape, dtype=object)
    for index, value in np.ndenumerate(exact):
        result[index] = value.to_fmpq() if isinstance(value, Cyclotomic) and value.is_rational() else value
    return result


def _filled(length: int, positions: Sequence[int], entries: Any) -> Array:
    """Zeros but for these entries at these positions."""
    result = np.array([fmpq(0)] * length, dtype=object)
    result[list(positions)] = entries
    return result


def _dot(a: Array, b: Array) -> Any:
    return exact_matmul(a[None, :], b[:, None])[0, 0]
