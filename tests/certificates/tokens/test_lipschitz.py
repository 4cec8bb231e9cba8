"""The change of attention with its query-key matrices against sums, and its bound where it is attained."""

import numpy as np
import pytest

from lemmata.certificates.tokens.lipschitz import attention_change, query_key_bound
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import merged_head
from lemmata.numerics.exact.balls import as_balls


def layer(*matrices):
    return AttentionLayer(tuple(merged_head(W, causal=False) for W in matrices), combination="concatenate")


@pytest.mark.parametrize("seed", range(5))
def test_it_is_not_exceeded(seed):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(4, 3, 3))
    z = rng.normal(size=(6, 3))
    first, second = layer(W[0], W[1]), layer(W[2], W[3])
    change, bound = attention_change(first, second, z), query_key_bound(first, second, z)
    moved = z @ (W[0] - W[2]), z @ (W[1] - W[3])
    expected = (z * z).sum(axis=1).max() * np.sqrt(sum((part**2).sum(axis=1) for part in moved))
    assert np.allclose(bound, expected)
    assert (change > 0).all()
    assert (change <= bound).all()
    with pytest.raises(ValueError, match="2 and 1 heads"):
        query_key_bound(first, layer(W[2]), z)


def test_it_is_attained_at_a_tie():
    z = as_balls(np.array([[3, 4], [-3, -4]]))
    first, second = layer(np.zeros((2, 2), int)), layer(np.eye(2, dtype=int) * 1e-6)
    ratio = attention_change(first, second, z)[0] / query_key_bound(first, second, z)[0]
    assert 1 - 1e-8 < ratio <= 1
