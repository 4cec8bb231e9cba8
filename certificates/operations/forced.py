"""Tables whose maximum margin is already that of the whole table, and what that forces in the cell not given.

What is known is one family (ext-T10 of the chapter feature_emergence, proofs/triangles.md): the table of an abelian
group of order n >= 11 prime to 6, under any names, without one cell. It rests on a written proof: no kernel checks it,
and there is no document. Checked here are the weights of the triples of the given cells, integers whose laws are
compared exactly, and the constants of the proof, fractions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, inf, nan, nextafter, prod, sqrt

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.triangles import (
    SIX_POINTS,
    WaveBounds,
    group_elements,
    one_cell_weights,
    triangle_law,
    wave_bounds,
)
from lemmata.certificates.operations.unseen import UnseenCell, UnseenCells
from lemmata.certificates.operations.unseen_symmetry import true_labels
from lemmata.numerics.groups.tables import FiniteGroup
from lemmata.numerics.operations.classes import group_of_operation
from lemmata.numerics.operations.operation import Cell, Operation

__all__ = ["ForcedTable", "forced"]


@dataclass(frozen=True, eq=False)
class ForcedTable:
    """Every network of maximum margin on the given cells has exactly that margin at every triple of every cell.

    Attributes:
        truth, given: the whole table, and the table without one cell.
        orders: the group is the product of the cyclic groups of these orders.
        weights: integers, shape (rows, columns, labels): an optimal strategy on the triples of the given cells, up to
            its sum; 0 at the cell that is not given and at the true labels.
        bounds: the constants by which only waves are best responses to it.
    """

    truth: Operation
    given: Operation
    orders: tuple[int, ...]
    weights: NDArray[np.int64]
    bounds: WaveBounds

    @property
    def cell(self) -> Cell:
        """The cell that is not given."""
        return self.given.missing[0]

    @property
    def margin(self) -> float:
        """The maximum margin sqrt(2/27)/(sqrt(n) (n - 1)), rounded."""
        n = prod(self.orders)
        return sqrt(2 / 27) / (sqrt(n) * (n - 1))

    def unseen(self) -> UnseenCells:
        """The same as a verdict on the unseen cell, about networks of maximum margin: epsilon is 0."""
        n, zero, (a, b) = prod(self.orders), Fraction(0), self.cell
        threshold = f"sqrt(2/27)/({n - 1} sqrt({n}))"
        reason = "the whole margin against every label, by a written proof (feature-emergence:ext-T10)"
        label = self.truth.values[a][b]
        cell = UnseenCell(self.cell, label, "right", 1.0, (nan, nan), zero, threshold, None, reason)
        lower, upper = (nextafter(self.margin * (1 + sign * 2.0**-50), sign * inf) for sign in (-1, 1))
        return UnseenCells(self.truth, self.given, lower, upper, zero, threshold, (cell,))


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
    if len(given.missing) != 1 or n < 11 or gcd(n, 6) > 1:
        return None
    group = group_of_operation(truth)
    if group is None or (group.table != group.table.T).any():
        return None
    orders, number = _coordinates(group)
    integers, _ = one_cell_weights(orders)
    bounds = wave_bounds(n)
    if not (bounds.enough and _conditions(orders, integers)):  # true by the theorem, and checked nevertheless
        return None
    values = truth.array()
    elements = group_elements(orders)
    row, column = given.missing[0]

    def moved(labels: NDArray[np.int64], origin: int) -> NDArray[np.int64]:
        """The numbers of the elements x - origin."""
        steps = [prod(orders[i + 1 :]) for i in range(len(orders))]
        return (elements[number[labels]] - elements[number[origin]]) % np.array(orders) @ np.array(steps)

    # the label in (i, j) is x_i + y_j, where x_i stands in the first column and y_j in the first row
    a, b = moved(values[:, 0], values[row, 0]), moved(values[0], values[0, column])
    steps = np.stack([moved(np.arange(n), int(label)) for label in values.ravel()]).reshape(n, n, n)
    return ForcedTable(truth, given, orders, integers[a[:, None, None], b[None, :, None], steps], bounds)


def _conditions(orders: tuple[int, ...], weights: NDArray[np.int64]) -> bool:
    """Nonnegative, one law on the six points, none of it in (0, 0), and uniform (a, d), (b, d) and (a + b + d, d)."""
    n = len(weights)
    laws = [triangle_law(orders, weights, point) for point in SIX_POINTS]
    sums = np.zeros((n, n), np.int64)
    elements, steps = group_elements(orders), np.array([prod(orders[i + 1 :]) for i in range(len(orders))])
    total = (elements[:, None, None] + elements[None, :, None] + elements) % np.array(orders) @ steps
    np.add.at(sums, (total, np.broadcast_to(np.arange(n), total.shape)), weights)
    flat = [margin[:, 1:] for margin in (weights.sum(axis=0), weights.sum(axis=1), sums)]
    return (
        weights.min() >= 0
        and not weights[:, :, 0].any()
        and laws[0][0, 0] == 0
        and all(np.array_equal(law, laws[0]) for law in laws)
        and all((margin == flat[0][0, 0]).all() for margin in flat)
    )


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
