"""Groups in another numbering: what was permuted is found, and what is no such group is not."""

from __future__ import annotations

import numpy as np
import pytest

from lemmata.numerics.groups.isotopy import isotopism
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.groups.tables import FiniteGroup


def group(name: str) -> FiniteGroup:
    return parse_group(name).to_finite_group()


def renumbered(table: np.ndarray, seed: int, apart: bool) -> np.ndarray:
    """The table with its elements, or its rows, columns and labels apart, numbered at random."""
    rng = np.random.default_rng(seed)
    a, b, c = (rng.permutation(len(table)) for _ in range(3))
    return c[table[np.ix_(a, b)]] if apart else np.argsort(a)[table[np.ix_(a, a)]]


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("name", ["Z2", "Z7", "Z12", "Z2xZ2xZ2", "S3", "Q8", "D6", "A4", "S4", "A5"])
def test_the_numbering_is_found(name: str, apart: bool) -> None:
    original = group(name)
    for seed in range(2):
        P = renumbered(original.table, seed, apart)
        found = isotopism(P, original)
        assert found is not None
        assert np.array_equal(original.table[np.ix_(found.rows, found.columns)], found.labels[P])
        for part in (found.rows, found.columns, found.labels):
            assert sorted(part.tolist()) == list(range(len(P)))


def test_another_group_with_elements_of_the_same_orders_is_told_apart_at_once() -> None:
    """Of exponent 3 and order 243: without counting what commutes, some 10^9 images of generators would be tried."""
    digits = np.array(np.unravel_index(np.arange(243), (3,) * 5)).T
    products = digits[:, None] + digits[None]
    products[:, :, 2] += digits[:, None, 0] * digits[None, :, 1]  # upper triangular matrices, and two more factors
    table = products % 3 @ 3 ** np.arange(4, -1, -1)
    assert isotopism(renumbered(table, 0, True), group("Z3xZ3xZ3xZ3xZ3")) is None


def test_other_tables_are_no_renumbering() -> None:
    for one, other in (("Z4", "Z2xZ2"), ("D4", "Q8"), ("Z6", "S3"), ("Z8", "Z4xZ2")):
        assert isotopism(renumbered(group(one).table, 0, True), group(other)) is None
    table = group("Z6").table
    assert isotopism(table[:5], group("Z6")) is None
    changed = table.copy()
    changed[0, 1] = 0
    assert isotopism(changed, group("Z6")) is None
    loop = np.array([[0, 1, 2, 3, 4], [1, 0, 3, 4, 2], [2, 4, 0, 1, 3], [3, 2, 4, 0, 1], [4, 3, 1, 2, 0]])
    assert isotopism(loop, group("Z5")) is None  # a Latin square that is no group
