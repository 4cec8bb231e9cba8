"""Tables whose maximum margin is already that of the whole table, and what that forces in the cells not given.

The table is that of an abelian group of order n, under any names. One cell is missing, and n >= 11 is odd, or n >= 18
is even, or the group is Z_2^k, k >= 3: a written proof for every n (ext-T10, ext-T18 where 3 divides n, ext-T19 and
ext-T14 of the chapter feature_emergence). Any cells are missing: ext-T11 for odd n and ext-T15 for even n, whose three
conditions are computed for the table at hand: weights of triangles, found by a program and rounded to integers (and
integers times sqrt(2) for even n), whose laws are compared exactly; a quadratic form that balls prove positive
definite; a rank modulo a prime. One cell of the group of order 7 is missing, where that form is semidefinite only:
ext-T12 (`seven`). All rest on written proofs (triangles.md, divisible-by-three.md, exclusive-or.md, even-orders.md and
even-order-one-cell.md there): no kernel checks them, and there is no document.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, nan, nextafter, prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.even_cells import even_cell_weights, even_wave_bounds
from lemmata.certificates.operations.exclusive_or import exclusive_or_bounds, exclusive_or_weights
from lemmata.certificates.operations.root_weights import exact_root_weights
from lemmata.certificates.operations.seven import seven_weights
from lemmata.certificates.operations.triangle_weights import (
    TriangleProgramError,
    conditions_met,
    exact_weights,
    triangle_conditions,
)
from lemmata.certificates.operations.triangles import (
    group_elements,
    one_cell_weights,
    wave_bounds,
)
from lemmata.certificates.operations.unseen import UnseenCell, UnseenCells
from lemmata.certificates.operations.unseen_symmetry import true_labels
from lemmata.certificates.operations.wave_form import only_waves
from lemmata.certificates.operations.wave_networks import margins_decide
from lemmata.numerics.groups.tables import FiniteGroup
from lemmata.numerics.operations.classes import group_of_operation
from lemmata.numerics.operations.operation import Operation

__all__ = ["ForcedTable", "forced"]

ONE_CELL, ANY_CELLS, SEVEN, EXCLUSIVE_OR, EVEN_ORDER, THREE, EVEN_CELL = (
    f"feature-emergence:ext-T{number}" for number in (10, 11, 12, 14, 15, 18, 19)
)
"""Statements of the ledger."""
LARGEST = 33
MOST_ORBITS = 2000
"""Larger groups and systems of weights are not tried: enough for Z_13, and for one cell beyond."""


@dataclass(frozen=True, eq=False)
class ForcedTable:
    """Every network of maximum margin on the given cells has exactly that margin at every triple of every cell.

    Attributes:
        truth, given: the whole table, and the table without some cells.
        orders: the group is the product of the cyclic groups of these orders.
        weights: shape (rows, columns, labels): an optimal strategy on the triples of the given cells, up to its sum; 0
            at the cells that are not given and at the true labels. Integers, or rounded where it is ext-T15 or ext-T19.
        statement: of the ledger, which says so.
    """

    truth: Operation
    given: Operation
    orders: tuple[int, ...]
    weights: NDArray[Any]
    statement: str

    @property
    def margin(self) -> float:
        """The maximum margin, rounded: sqrt(4/27)/(sqrt(n) (r - 1 + sqrt(2) (n - r))) for r real characters."""
        n, r = prod(self.orders), self.real_characters
        return sqrt(4 / 27) / (sqrt(n) * (r - 1 + sqrt(2) * (n - r)))

    @property
    def real_characters(self) -> int:
        """Those of the group, 1 among them."""
        return 2 ** sum(order % 2 == 0 for order in self.orders)

    def unseen(self) -> UnseenCells:
        """The same as a verdict on the unseen cells, about networks of maximum margin: epsilon is 0."""
        n, zero = prod(self.orders), Fraction(0)
        r = self.real_characters
        if r in (1, n):
            threshold = f"sqrt({2 if r == 1 else 4}/27)/({n - 1} sqrt({n}))"
        else:
            threshold = f"sqrt(4/27)/(({r - 1} + {n - r} sqrt(2)) sqrt({n}))"
        source = f"a written proof ({self.statement})"
        if self.statement in (ANY_CELLS, SEVEN, EVEN_ORDER):
            source += ", with weights, balls and a rank for these cells"
        reason = f"the whole margin against every label, by {source}"
        cells = tuple(
            UnseenCell(cell, label, "right", 1.0, (nan, nan), zero, threshold, None, reason)
            for cell, label in true_labels(self.truth, self.given).items()
        )
        lower, upper = (nextafter(self.margin * (1 + sign * 2.0**-50), sign * inf) for sign in (-1, 1))
        return UnseenCells(self.truth, self.given, lower, upper, zero, threshold, cells)


def forced(truth: Operation, given: Operation) -> ForcedTable | None:
    """What says that the given cells force the whole table; None where no theorem says so, which is no denial.

    Args:
        truth: the whole table.
        given: the same table with fewer cells.

    Raises:
        ValueError: for tables that do not belong together, and no unseen cell with a known label.
    """
    true_labels(truth, given)
    n = truth.label_count
    if len(given.missing) >= n * n // 2:
        return None
    group = group_of_operation(truth)
    if group is None or (group.table != group.table.T).any():
        return None
    orders, number = _coordinates(group)
    values = truth.array()
    elements = group_elements(orders)
    steps = np.array([prod(orders[i + 1 :]) for i in range(len(orders))])
    # the label in (i, j) is x_i + y_j + a constant, where x_i stands in the first column and y_j in the first row
    row, column = given.missing[0]

    def moved(labels: NDArray[np.int64], origin: int) -> NDArray[np.int64]:
        """The numbers of the elements x - origin."""
        return (elements[number[labels]] - elements[number[origin]]) % np.array(orders) @ steps

    a, b = moved(values[:, 0], values[row, 0]), moved(values[0], values[0, column])
    found = _weights(orders, [(int(a[i]), int(b[j])) for i, j in given.missing])
    if found is None:
        return None
    integers, statement = found
    d = np.stack([moved(np.arange(n), int(label)) for label in values.ravel()]).reshape(n, n, n)
    return ForcedTable(truth, given, orders, integers[a[:, None, None], b[None, :, None], d], statement)


def _weights(orders: tuple[int, ...], missing: list[tuple[int, int]]) -> tuple[NDArray[Any], str] | None:
    """Weights that force the addition table of a group without some cells, one of them (0, 0), and what says so."""
    n = prod(orders)
    if len(missing) == 1 and n >= 11 and n % 2:
        integers, _ = one_cell_weights(orders)
        # true by the theorem, and checked nevertheless
        met = wave_bounds(n).enough and conditions_met(orders, integers, missing)
        return (integers, ONE_CELL if n % 3 else THREE) if met else None
    if len(missing) == 1 and n >= 8 and set(orders) == {2}:
        return (exclusive_or_weights(n), EXCLUSIVE_OR) if exclusive_or_bounds(n).enough else None
    if len(missing) == 1 and n >= 18 and n % 2 == 0:
        real = 2 ** sum(order % 2 == 0 for order in orders)
        return (even_cell_weights(orders).values(), EVEN_CELL) if even_wave_bounds(n, real).enough else None
    if len(missing) == 1 and n == 7:
        return None if (integers := seven_weights()) is None else (integers, SEVEN)
    if n > LARGEST:
        return None
    conditions = triangle_conditions(orders, missing)
    if len(conditions.sizes) > MOST_ORBITS:
        return None
    try:
        if n % 2:
            weights = exact_weights(conditions)
            shown = weights is not None and only_waves(orders, weights) and margins_decide(orders, weights)
            return (weights, ANY_CELLS) if weights is not None and shown else None
        found = exact_root_weights(conditions)
    except TriangleProgramError:
        return None
    if found is None or not (only_waves(orders, found.balls()) and margins_decide(orders, found.support())):
        return None
    return found.values(), EVEN_ORDER


def _coordinates(group: FiniteGroup) -> tuple[tuple[int, ...], NDArray[np.int64]]:
    """The orders of independent generators of an abelian group, and the number of each element in `group_elements`.

    A cyclic subgroup of largest order that meets the others in the identity alone is split off, until all is reached.
    """
    n, table = group.order, group.table
    identity = next(x for x in range(n) if table[x, x] == x)
    spans = []
    for x in range(n):
        span = [identity]
        while (y := int(table[span[-1], x])) != identity:
            span.append(y)
        spans.append(span)
    orders: list[int] = []
    reached = [identity]  # in the order of `group_elements`
    while len(reached) < n:
        span = max((one for one in spans if len(set(one) & set(reached)) == 1), key=len)
        orders.append(len(span))
        reached = [int(table[x, y]) for x in reached for y in span]
    number = np.empty(n, np.int64)
    number[reached] = np.arange(n)
    return tuple(orders), number
