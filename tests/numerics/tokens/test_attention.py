"""Blocked attention against plain NumPy, across the borders of tiles, and what it refuses."""

import numpy as np
import pytest

from lemmata.numerics.tokens.attention import blocked_attention
from lemmata.numerics.tokens.prompts import MEMORY


def plain(q, k, v):
    scores = q @ k.T
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights @ v / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("M", "N"), [(1, 1), (3, 511), (65, 512), (64, 513), (130, 1300)])
@pytest.mark.parametrize("size", [0.1, 4.0, 60.0])
def test_it_is_plain_attention(M, N, size):
    rng = np.random.default_rng([M, N])
    q, k, v = rng.standard_normal((M, 7)) * size, rng.standard_normal((N, 7)), rng.standard_normal((N, 3))
    # a score of size S has the rounding error 8 S 2^-53, which is a relative one of its weight
    largest = np.abs(q @ k.T).max()
    error = 2 * 16 * (largest + 64) * 2.0**-53 * np.abs(v).max()
    assert np.abs(blocked_attention(q, k, v) - plain(q, k, v)).max() <= error


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_the_running_maximum_is_rescaled(order):
    scores = np.linspace(-900, 900, 2000)[order]
    v = np.random.default_rng(0).standard_normal((2000, 2))
    found = blocked_attention(np.ones((1, 1)), scores[:, None], v)
    assert np.abs(found - plain(np.ones((1, 1)), scores[:, None], v)).max() < 1e-12
    assert np.abs(found[0] - v[np.argmax(scores)]).max() > 0.01  # neighbours count


def test_a_hundred_thousand_keys_in_little_memory():
    rng = np.random.default_rng(1)
    k, v = rng.standard_normal((100_000, 4)), rng.standard_normal((100_000, 2))
    q = 2 * rng.standard_normal((8, 4))
    assert np.abs(blocked_attention(q, k, v) - plain(q, k, v)).max() < 1e-11


@pytest.mark.parametrize(
    ("shapes", "change", "message"),
    [
        (((2, 3), (4, 2), (4, 1)), None, "not arrays of the shapes"),
        (((2, 3), (4, 3), (5, 1)), None, "not arrays of the shapes"),
        (((2, 3), (4, 3), (4, 1)), (1, np.nan), "keys has NaN or infinity"),
        (((2, 3), (4, 3), (4, 1)), (2, np.inf), "values has NaN or infinity"),
        (((2, 3), (4, 3), (4, 1)), (0, 1e305), "overflow"),
    ],
)
def test_bad_input_is_refused(shapes, change, message):
    parts = [np.ones(shape) for shape in shapes]
    if change:
        parts[change[0]][0, 0] = change[1]
    with pytest.raises(ValueError, match=message):
        blocked_attention(*parts)


def test_outputs_beyond_memory_are_refused():
    queries, values = np.ones((MEMORY // 8 // 1000 + 1, 1)), np.ones((1, 1000))
    with pytest.raises(ValueError, match="The outputs of attention of shape"):
        blocked_attention(queries, np.ones((1, 1)), values)
