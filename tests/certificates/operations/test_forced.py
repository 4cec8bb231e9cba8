"""Tables that the given cells force: which are, and the weights against waves and against their labels."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from lemmata.certificates.operations.forced import forced
from lemmata.numerics.operations.families import named_operation
from lemmata.numerics.operations.operation import Operation

SUM = np.add.outer(np.arange(11), np.arange(11)) % 11
EVEN = np.add.outer(np.arange(10), np.arange(10)) % 10
FIFTEEN = np.add.outer(np.arange(15), np.arange(15)) % 15
THREES = [np.unravel_index(x, (3, 3, 3)) for x in range(27)]
CUBE = np.array([[np.ravel_multi_index(np.add(a, b) % 3, (3, 3, 3)) for b in THREES] for a in THREES])
EIGHTEEN = np.add.outer(np.arange(18), np.arange(18)) % 18
TWICE_TEN = np.kron(np.bitwise_xor.outer([0, 1], [0, 1]) * 10, np.ones((10, 10), int)) + np.tile(EVEN, (2, 2))
EXCLUSIVE_OR = np.bitwise_xor.outer(np.arange(8), np.arange(8))
FIVE = [divmod(x, 5) for x in range(25)]


def renamed(values: np.ndarray, seed: int) -> Operation:
    """The table with rows, columns and labels in another order."""
    rng = np.random.default_rng(seed)
    n = len(values)
    rows, columns, labels = (rng.permutation(n) for _ in range(3))
    return Operation.of(labels[values[np.ix_(rows, columns)]].tolist())


@pytest.mark.parametrize(
    ("values", "orders", "statement"),
    [
        (SUM, (11,), "ext-T10"),
        (FIFTEEN, (15,), "ext-T18"),
        (CUBE, (3, 3, 3), "ext-T18"),
        (EXCLUSIVE_OR, (2, 2, 2), "ext-T14"),
        (EVEN, (10,), "ext-T15"),
        (EIGHTEEN, (18,), "ext-T19"),
        (TWICE_TEN, (10, 2), "ext-T19"),
    ],
    ids=["11", "15", "3x3x3", "2x2x2", "10", "18", "2x10"],
)
def test_weights_of_a_renamed_table_pay_the_margin_and_no_more(
    values: np.ndarray, orders: tuple[int, ...], statement: str
) -> None:
    """The squares cancel, and ascents of the payoff end at gamma and not above."""
    table, n = renamed(values, 3), len(values)
    found = forced(table, table.without([(4, 7)]))
    assert found is not None
    assert found.orders == orders
    weights = found.weights / found.weights.sum()
    assert not weights[4, 7].any()
    assert all(weights[a, b, table.values[a][b]] == 0 for a, b in product(range(n), repeat=2))
    residual = -weights
    for a, b in product(range(n), repeat=2):
        residual[a, b, table.values[a][b]] += weights[a, b].sum()
    assert np.abs(residual.sum(axis=0)).max() < 1e-15  # u^2 and v^2 cancel
    assert np.abs(residual.sum(axis=1)).max() < 1e-15
    rng, best = np.random.default_rng(5), 0.0
    for _ in range(20):
        v, w = rng.normal(size=(2, n))
        size = 0.0
        for _ in range(300):
            u = np.einsum("abc,b,c->a", residual, v, w)
            u /= np.linalg.norm(u)
            v = np.einsum("abc,a,c->b", residual, u, w)
            v /= np.linalg.norm(v)
            w = np.einsum("abc,a,b->c", residual, u, v)
            size = float(np.linalg.norm(w))
            w /= size
        best = max(best, 2 * size / 3**1.5)
    assert best == pytest.approx(found.margin, rel=1e-9)
    result = found.unseen()
    assert [(one.cell, one.label, one.verdict, one.margin) for one in result.cells] == [
        ((4, 7), table.values[4][7], "right", 1.0)
    ]
    assert result.lower < found.margin < result.upper
    assert found.statement == f"feature-emergence:{statement}"
    assert found.statement in str(result.cells[0].reason)


def test_two_cells_of_a_renamed_table() -> None:
    """The weights fit the labels: the squares cancel, no mass in missing cells, and every unseen cell is right."""
    table = renamed(named_operation("a+b", 9).array(), 4)
    rows = np.argsort(table.array()[:, 0])  # rows and columns by their labels in the first column and row
    cells = next(
        [(int(rows[0]), b), (int(rows[1]), c)]
        for b, c in product(range(9), repeat=2)
        if b != c and forced(table, table.without([(int(rows[0]), b), (int(rows[1]), c)])) is not None
    )
    found = forced(table, table.without(cells))
    assert found is not None
    assert found.statement == "feature-emergence:ext-T11"
    weights = found.weights
    assert not any(weights[cell].any() for cell in cells)
    assert all(weights[a, b, table.values[a][b]] == 0 for a, b in product(range(9), repeat=2))
    residual = -weights
    for a, b in product(range(9), repeat=2):
        residual[a, b, table.values[a][b]] += weights[a, b].sum()
    assert not residual.sum(axis=0).any()
    assert not residual.sum(axis=1).any()
    result = found.unseen()
    assert [(one.cell, one.label, one.verdict, one.margin) for one in result.cells] == [
        ((a, b), table.values[a][b], "right", 1.0) for a, b in sorted(cells)
    ]
    assert "feature-emergence:ext-T11" in str(result.cells[0].reason)


def test_one_cell_of_order_seven() -> None:
    """The weights are 0 in the missing cell and at the true labels of a renamed table."""
    table = renamed(named_operation("a+b", 7).array(), 6)
    found = forced(table, table.without([(5, 2)]))
    assert found is not None
    assert not found.weights[5, 2].any()
    assert all(found.weights[a, b, table.values[a][b]] == 0 for a, b in product(range(7), repeat=2))
    (cell,) = found.unseen().cells
    assert (cell.verdict, cell.margin, cell.label) == ("right", 1.0, table.values[5][2])
    assert "feature-emergence:ext-T12" in str(cell.reason)


def test_a_product_of_groups_under_other_names() -> None:
    """Z_5 x Z_5: two generators are found, and the verdict is the whole margin."""
    values = np.array([[5 * ((a + c) % 5) + (b + d) % 5 for c, d in FIVE] for a, b in FIVE])
    table = renamed(values, 2)
    found = forced(table, table.without([(3, 3)]))
    assert found is not None
    assert found.orders == (5, 5)
    result = found.unseen()
    assert [(one.cell, one.label, one.verdict, one.margin) for one in result.cells] == [
        ((3, 3), table.values[3][3], "right", 1.0)
    ]
    assert 0 < result.gap < 1e-14
    assert result.threshold == result.cells[0].threshold == "sqrt(2/27)/(24 sqrt(25))"
    assert result.lower < np.sqrt(2 / 27) / (24 * 5) < result.upper


@pytest.mark.parametrize(
    ("name", "n", "cells"), [("a+b", 6, 1), ("a+b", 7, 2), ("a+b", 9, 2), ("a+b", 35, 2), ("a*b", 11, 1)]
)
def test_where_no_theorem_speaks(name: str, n: int, cells: int) -> None:
    """Order 6, two cells in a row of orders 7 and 9, a large order, and no group."""
    table = named_operation(name, n)
    assert forced(table, table.without([(1, b) for b in range(cells)])) is None


def test_a_group_that_is_not_abelian_is_not_forced() -> None:
    """The group of order 55, x -> 3^s x + t on Z_11: its order is prime to 6."""
    pairs = [divmod(x, 11) for x in range(55)]
    values = [[(s + r) % 5 * 11 + (t + 3**s * x) % 11 for r, x in pairs] for s, t in pairs]
    table = Operation.of(values)
    assert forced(table, table.without([(0, 0)])) is None


def test_a_given_table_of_other_labels_is_refused() -> None:
    table = named_operation("a+b", 11)
    with pytest.raises(ValueError, match="not the one of the whole table"):
        forced(table, named_operation("a-b", 11).without([(0, 0)]))
