"""Weights of triangles for any set of missing cells: the conditions of ext-T8 and ext-T15, in floats and in integers.

The unknown weights of the triples (a, b, d) whose corners and midpoints are given are n q for a group of odd order, so
that 1 is uniform. For one of even order there are no midpoints, and uniform is 1 off 2G, 1 + (sqrt(2) - 1) r on 2G,
with r = |G/2G|; the right sides of the conditions are x + y sqrt(2) then. Weights may be taken constant on the orbits
of the maps (a, b, d) -> (t a + x, t b + y, t d), t prime to the exponent, and the exchange of a and b, that keep the
missing cells.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from math import gcd, lcm, prod
from typing import Any

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray
from scipy import sparse

from lemmata.certificates.operations.triangles import SIX_POINTS, group_elements, triangle_law

__all__ = [
    "TriangleConditions",
    "TriangleProgramError",
    "conditions_met",
    "exact_weights",
    "inner_weights",
    "near_weights",
    "rational_solutions",
    "triangle_conditions",
]

NONE = 1e-6
"""A weight below this in the middle of all solutions counts as 0 in every one."""
MIDDLE = Fraction(1, 4)
"""The share of the middle in what is rounded; the rest is the solution nearest to the uniform one."""
GRID = 10**6
"""Free weights are rounded to multiples of 1/GRID."""

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Pair = tuple[int, int]


class TriangleProgramError(RuntimeError):
    """The solver neither found weights nor showed that there are none."""


@dataclass(frozen=True, eq=False)
class TriangleConditions:
    """The linear conditions on the weight of each orbit of allowed triples.

    Attributes:
        orders: of the cyclic factors of the group.
        missing: numbers of the cells that are not given.
        plus: the sums of the numbered elements, shape (n, n).
        orbit: of each triple (a, b, d), shape (n, n, n); -1 where one of its points is missing, and for d = 0.
        sizes: of the orbits.
        matrix: of the conditions, integers.
        right, root: their right side is right + root sqrt(2); integers, root is 0 for groups of odd order.
        doubled: whether an element is 2 x for some x, shape (n,).
    """

    orders: tuple[int, ...]
    missing: tuple[Pair, ...]
    plus: Integers
    orbit: Integers
    sizes: Integers
    matrix: sparse.csr_array
    right: Integers
    root: Integers
    doubled: NDArray[np.bool_]

    @property
    def values(self) -> Floats:
        """The right sides, rounded."""
        return self.right + np.sqrt(2) * self.root

    def uniform(self) -> Floats:
        """The weight of each orbit where no cell is missing, rounded."""
        shares = np.ones(len(self.doubled))
        if not self.doubled.all():
            shares[self.doubled] += (np.sqrt(2) - 1) * len(shares) / self.doubled.sum()
        found = np.empty(len(self.sizes))
        _, _, d, orbit = self.triples()
        found[orbit] = shares[d]
        return found

    def triples(self) -> tuple[Integers, Integers, Integers, Integers]:
        """a, b, d and the orbit of each allowed triple."""
        a, b, d = np.nonzero(self.orbit >= 0)
        return a, b, d, self.orbit[a, b, d]

    def spread(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Weights of orbits as weights of triples, shape (n, n, n)."""
        padded = np.append(weights, weights.dtype.type(0) if weights.dtype != object else 0)
        return padded[self.orbit]


def triangle_conditions(orders: Sequence[int], missing: Collection[Pair]) -> TriangleConditions:
    """The conditions of ext-T8, or of ext-T15 for a group of even order, where some cells are missing.

    Args:
        orders: of the cyclic factors of a group.
        missing: cells (a, b), by the numbers of their elements in `group_elements`.

    Raises:
        ValueError: as `group_elements`, and for cells outside of the table.
    """
    group = _Group.of(orders)
    n = group.size
    if any(not (0 <= a < n and 0 <= b < n) for a, b in missing):
        raise ValueError(f"The cells have numbers from 0 to {n - 1}, but missing are {sorted(missing)}.")
    given = np.ones((n, n), bool)
    for cell in missing:
        given[cell] = False
    a, b, d = np.indices((n, n, n))
    points = group.points(a, b, d)
    allowed = np.all([given[x, y] for x, y in points], axis=0)
    allowed[:, :, 0] = False
    orbit = _orbits(group, missing, allowed)
    a, b, d = np.nonzero(allowed)
    number = orbit[a, b, d]
    count = int(number.max(initial=-1)) + 1
    sizes = np.bincount(number, minlength=count)

    def law(x: Integers, y: Integers) -> sparse.csr_array:
        return sparse.csr_array((np.ones(len(x), np.int64), (x * n + y, number)), shape=(n * n, count))

    laws = [law(x, y) for x, y in group.points(a, b, d)]
    wrong = group.plus[group.plus[a, b], d]
    step = np.arange(n * n) % n
    margins = [law(x, d)[step > 0] for x in (a, b, wrong)]
    halves = [] if group.half is not None else [law(x, s) - law(y, t) for x, s, y, t in group.steps(a, b, d)]
    # the difference is the same on each coset of 2G
    halves = [one - one[np.arange(n * n) - step + group.coset[step]] for one in halves]
    matrix = sparse.vstack([*(one - laws[0] for one in laws[1:]), *halves, *margins]).tocsr()
    doubled = group.coset == 0
    r = n // int(doubled.sum())
    whole, root = np.full(n, n), np.zeros(n, np.int64)
    if r > 1:
        whole[doubled], root[doubled] = n * (1 - r), n * r
    zeros = np.zeros((len(laws) - 1 + len(halves)) * n * n, np.int64)
    sides = [np.concatenate([zeros, np.tile(one[step][step > 0], 3)]) for one in (whole, root)]
    both = np.unique(np.hstack([matrix.toarray(), np.stack(sides, axis=1)]), axis=0)
    both = both[np.any(both != 0, axis=1)]
    return TriangleConditions(
        tuple(orders),
        tuple(sorted(missing)),
        group.plus,
        orbit,
        sizes,
        sparse.csr_array(both[:, :-2]),
        both[:, -2],
        both[:, -1],
        doubled,
    )


def near_weights(conditions: TriangleConditions, *, middle: bool = False) -> Floats | None:
    """The nonnegative weights nearest to the uniform ones, or well inside of all; None where the solver shows none.

    Args:
        conditions: which weights.
        middle: whether to ask for a solution in the middle of all: where it is 0 (below `NONE`), all are.

    Raises:
        TriangleProgramError: where the solver does not decide.
    """
    count = len(conditions.sizes)
    if not count:
        return None
    clarabel: Any = import_module("clarabel")  # of the extra `solvers`; an extension module without types
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    sizes = conditions.sizes / conditions.sizes.mean()
    quadratic = sparse.csc_matrix((count, count)) if middle else sparse.csc_matrix(sparse.diags_array(sizes))
    matrix = sparse.csc_matrix(sparse.vstack([conditions.matrix, -sparse.eye_array(count)]))
    right = np.concatenate([conditions.values, np.zeros(count)])
    cones = [clarabel.ZeroConeT(len(conditions.right)), clarabel.NonnegativeConeT(count)]
    linear = np.zeros(count) if middle else -sizes * conditions.uniform()
    found = clarabel.DefaultSolver(quadratic, linear, matrix, right, cones, settings).solve()
    status = str(found.status)
    if "PrimalInfeasible" in status:
        return None
    if "Solved" not in status:
        raise TriangleProgramError(f"Weights of triangles were not decided: the solver ended with {status!r}.")
    return np.array(found.x)


def inner_weights(conditions: TriangleConditions) -> Floats | None:
    """Weights near those nearest to the uniform ones, exactly 0 where all solutions are; None without any.

    Raises:
        TriangleProgramError: as `near_weights`.
    """
    nearest = near_weights(conditions)
    middle = None if nearest is None else near_weights(conditions, middle=True)
    if nearest is None or middle is None:
        return None
    return np.where(middle > NONE, (1 - float(MIDDLE)) * nearest + float(MIDDLE) * middle, 0.0)


def exact_weights(conditions: TriangleConditions) -> Integers | None:
    """Integers near the weights nearest to the uniform ones that meet all conditions; None where none were found.

    For a group of odd order; `exact_root_weights` is for the others.

    Returns:
        Shape (n, n, n), indices a, b, d, nonnegative, and positive wherever a solution can be.

    Raises:
        TriangleProgramError: as `near_weights`.
    """
    target = inner_weights(conditions)
    if target is None:
        return None
    support = np.flatnonzero(target)
    solved = rational_solutions(
        conditions.matrix[:, support].toarray(), conditions.right[:, None], target[support, None]
    )
    if solved is None or solved.min() < 0:
        return None
    whole = np.zeros(len(conditions.sizes), object)
    whole[support] = solved[:, 0] // gcd(*solved[:, 0])
    if any(abs(x) >= 2**62 // len(conditions.orbit) ** 3 for x in whole):  # sums of all must fit
        return None
    found = conditions.spread(whole).astype(np.int64)
    return found if conditions_met(conditions.orders, found, conditions.missing) else None


def conditions_met(orders: Sequence[int], weights: Integers, missing: Collection[Pair]) -> bool:
    """Whether integers meet the conditions of ext-T8, where some cells are missing, exactly.

    Nonnegative, 0 for d = 0, one law on the six points, none of it in a missing cell, and uniform (a, d), (b, d) and
    (a + b + d, d).

    Raises:
        ValueError: as `triangle_law`.
    """
    laws = [triangle_law(orders, weights, point) for point in SIX_POINTS]
    n = len(weights)
    elements, steps = group_elements(orders), np.array([prod(orders[i + 1 :]) for i in range(len(orders))])
    total = (elements[:, None, None] + elements[None, :, None] + elements) % np.array(orders) @ steps
    sums = np.zeros((n, n), np.int64)
    np.add.at(sums, (total, np.broadcast_to(np.arange(n), total.shape)), weights)
    flat = [margin[:, 1:] for margin in (weights.sum(axis=0), weights.sum(axis=1), sums)]
    return bool(
        weights.min() >= 0
        and not weights[:, :, 0].any()
        and not any(laws[0][cell] for cell in missing)
        and all(np.array_equal(law, laws[0]) for law in laws)
        and flat[0][0, 0] > 0
        and all((margin == flat[0][0, 0]).all() for margin in flat)
    )


@dataclass(frozen=True, eq=False)
class _Group:
    """Sums, multiples and halves of the numbered elements of a group.

    Attributes:
        half: d/2 of each d, for odd order.
        coset: the least element of x + 2G.
    """

    orders: tuple[int, ...]
    size: int
    plus: Integers
    times: Integers
    half: Integers | None
    coset: Integers

    @classmethod
    def of(cls, orders: Sequence[int]) -> _Group:
        elements, factors = group_elements(orders), np.array(orders)
        steps = np.array([prod(orders[i + 1 :]) for i in range(len(orders))])
        multiples = np.arange(lcm(*orders))[:, None, None] * elements
        odd = bool(np.all(factors % 2))
        return cls(
            tuple(orders),
            len(elements),
            (elements[:, None] + elements[None]) % factors @ steps,
            multiples % factors @ steps,
            elements * ((factors + 1) // 2) % factors @ steps if odd else None,
            elements % np.where(factors % 2, 1, 2) @ steps,
        )

    def points(self, a: Integers, b: Integers, d: Integers) -> list[tuple[Integers, Integers]]:
        """The corners of triangles, and for odd order the midpoints of their sides, in the order of `SIX_POINTS`."""
        found = [(a, b), (self.plus[a, d], b), (a, self.plus[b, d])]
        if self.half is not None:
            h = self.half[d]
            found += [(self.plus[a, h], b), (a, self.plus[b, h]), (self.plus[a, h], self.plus[b, h])]
        return found

    def steps(self, a: Integers, b: Integers, d: Integers) -> list[tuple[Integers, Integers, Integers, Integers]]:
        """(x, s, y, t): for each x, the laws of s at x and of t at y = x differ by a function of s + 2G (ext-T15)."""
        right = self.plus[a, b]
        wrong, minus = self.plus[right, d], self.times[-1]
        row, column = (self.plus[x, x] for x in (a, b))
        return [
            (right, self.plus[a, minus[b]], wrong, self.plus[a, minus[b]]),
            (a, column, a, self.plus[column, d]),
            (b, row, b, self.plus[row, d]),
        ]


def _orbits(group: _Group, missing: Collection[Pair], allowed: NDArray[np.bool_]) -> Integers:
    """Numbers of the orbits of allowed triples under the maps that keep the missing cells."""
    n, exponent = group.size, len(group.times)
    cells = sorted(missing)
    a, b, d = np.indices((n, n, n))
    first = np.arange(n**3).reshape(n, n, n)
    minus = group.times[exponent - 1]
    units = [t for t in range(1, exponent) if gcd(t, exponent) == 1]
    for t, swap, target in [(t, swap, target) for t in units for swap in (False, True) for target in cells]:
        start = cells[0][::-1] if swap else cells[0]
        x, y = (group.plus[target[i], minus[group.times[t, start[i]]]] for i in (0, 1))

        def moved(row: Any, column: Any, t: int = t, x: int = x, y: int = y, swap: bool = swap) -> tuple[Any, Any]:
            row, column = (column, row) if swap else (row, column)
            return group.plus[group.times[t, row], x], group.plus[group.times[t, column], y]

        if {tuple(map(int, moved(*cell))) for cell in cells} == set(cells):
            row, column = moved(a, b)
            image = (row * n + column) * n + group.times[t, d]
            first = np.minimum(first, first.ravel()[image])
    # the maps are a group, so that one round of all of them finds the least element of each orbit
    orbit = np.full((n, n, n), -1)
    orbit[allowed] = np.unique(first[allowed], return_inverse=True)[1]
    return orbit


def rational_solutions(matrix: Integers, right: Integers, near: Floats) -> NDArray[Any] | None:
    """Solutions for some right sides near given ones, all times one positive integer; None where there are none.

    Args:
        matrix: shape (m, count).
        right, near: shapes (m, k) and (count, k).
    """
    count = matrix.shape[1]
    echelon, divisor, rank = fmpz_mat(np.hstack([matrix, right]).tolist()).rref()
    rows = np.array([int(x) for x in echelon.entries()], object).reshape(len(matrix), -1)[: int(rank)]
    pivots = np.array([np.flatnonzero(row)[0] for row in rows])
    if int(divisor) < 0:
        rows, divisor = -rows, -divisor
    if pivots[-1] >= count:  # the conditions contradict each other
        return None
    free = np.array([[round(float(x) * GRID) for x in row] for row in near], object)
    free[pivots] = 0
    values = free * int(divisor)
    values[pivots] = rows[:, count:] * GRID - rows[:, :count] @ free
    return values
