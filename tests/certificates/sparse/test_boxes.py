"""Exact ranges of ReLU networks on boxes, against dense grids of points."""

from itertools import product

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.sparse.boxes import output_range
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.numerics.exact.numbers import as_exact


def network(seed: int, layers: int = 2) -> FeedForward:
    rng = np.random.default_rng(seed)
    first = np.zeros((2, 6), dtype=int)
    first[rng.integers(0, 2, 6), np.arange(6)] = rng.integers(-2, 3, 6)
    parts = [Affine(first, rng.integers(-2, 3, 6)), Affine(rng.integers(-2, 3, (6, 3)), rng.integers(-2, 3, 3))]
    parts += [Affine(rng.integers(-2, 3, (3, 3))) for _ in range(layers - 2)]
    return FeedForward(tuple(parts), activations=("relu",) * (layers - 1) + ("identity",))


@given(seed=st.integers(0, 10**6))
def test_ranges_of_two_layers_are_those_of_a_grid_through_all_breakpoints(seed):
    """Breakpoints lie at multiples of 1/2, so that a grid of that step meets every extreme."""
    one = network(seed)
    grid = as_exact([[fmpq(a, 2), fmpq(b, 2)] for a, b in product(range(-4, 3), range(-1, 5))])
    values = one(grid)
    low, high = output_range(one, [-2, "-1/2"], [1, 2])
    assert low.tolist() == [min(column) for column in values.T.tolist()]
    assert high.tolist() == [max(column) for column in values.T.tolist()]


@given(seed=st.integers(0, 10**6))
def test_further_layers_are_enclosed(seed):
    one = network(seed, 3)
    low, high = output_range(one, [[-2, 0], [1, 1]], [[1, 2], [1, 1]])
    values = one(as_exact([[fmpq(a, 2), fmpq(b, 2)] for a, b in product(range(-4, 3), range(5))]))
    assert (low[0] <= values).all()
    assert (values <= high[0]).all()
    assert low[1].tolist() == high[1].tolist() == one(as_exact([[1, 1]]))[0].tolist()


@pytest.mark.parametrize(
    ("one", "low", "high", "message"),
    [
        (network(0), [1, 0], [0, 1], "a low exceeds its high"),
        (network(0), [0], [1], "needs low <= high in 2 coordinates"),
        (FeedForward((Affine(np.ones((2, 1), int)), Affine(np.ones((1, 1), int)))), [0, 0], [1, 1], "at most one"),
        (FeedForward((Affine(np.eye(2, dtype=int)),)), [0, 0], [1, 1], "two or more"),
        (FeedForward((Affine(np.eye(2, dtype=int)),), activations=("relu",)), [0, 0], [1, 1], "two or more"),
        (FeedForward((Affine(np.eye(2, dtype=int)),) * 2, activations=("identity",) * 2), [0, 0], [1, 1], "the first"),
        (network(0).to_float(), [0, 0], [1, 1], "must be rational"),
    ],
)
def test_what_is_not_covered_is_refused(one, low, high, message):
    with pytest.raises(ValueError, match=message):
        output_range(one, low, high)
