"""Positions in few dimensions: what is refused, exact products of the keys, and the edge s = d = 3."""

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.sparse.compact import compact_selection
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul
from lemmata.numerics.exact.numbers import as_exact


def test_what_does_not_fit_is_refused():
    for indices in ([], [0, 0], [5], [-1]):
        with pytest.raises(ValueError, match="different numbers from 0 to 4"):
            compact_selection(5, indices, 3)
    with pytest.raises(ValueError, match="it takes s <= d"):
        compact_selection(5, range(4), 3)
    with pytest.raises(ValueError, match="at most 1"):
        compact_selection(5, [0], 3, gamma=2)
    with pytest.raises(ValueError, match="must be positive"):
        compact_selection(5, [0], 3, gamma=0)
    with pytest.raises(ValueError, match="dimension d"):
        compact_selection(5, [0], 2)
    assert compact_selection(5, range(5), 3, symmetric=True).to_float()(np.ones((1, 5), dtype=int))[0, 0] > 0.9


def test_products_of_the_keys_are_one_none_or_minus_one():
    positions = as_exact(compact_selection(6, range(5), 5).positions)
    products = exact_matmul(positions, positions.T)
    expected = np.diag([1] * 5 + [0])
    expected[2, 4] = expected[4, 2] = -1
    assert (products == as_exact(expected)).all()


def test_the_order_of_the_indices_is_that_of_the_outputs():
    word = np.array([[0, 1, 1, 0]])
    found = compact_selection(4, [2, 0, 3], 3, gamma=fmpq(1, 100)).to_float()(word)[0]
    assert np.abs(found - [-1, 1, 1]).max() < 1 / 400
