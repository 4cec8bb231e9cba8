"""The single heads for trigrams: what layer 1 writes, what layer 2 attends to, bad input.

How good they are is checked in `theorems/induction_heads/test_single_head.py`.
"""

import itertools
import math

import numpy as np
import pytest

from lemmata.constructions.induction.single_head import single_trigram_head


def test_layer_one_mixes_the_two_tokens_before():
    head = single_trigram_head().to_float()
    w = 1 / (1 + math.exp(-2))
    for x in itertools.product((1, 2), repeat=5):
        z = head.stream(np.array([x]), 1)[0]
        onehot = np.eye(2)[np.array(x) - 1]
        assert np.abs(z[:, :2] - onehot).max() == 0
        assert np.abs(z[2:, 2:4] - w * onehot[1:-1] - (1 - w) * onehot[:-2]).max() < 1e-12
        assert np.abs(z[1, 2:4] - onehot[0]).max() < 1e-12


def test_layer_two_attends_by_the_product_of_two_numbers():
    """And so to the tokens that follow both, where these agree; elsewhere rather to those that follow the last one."""
    head = single_trigram_head().to_float()
    rng = np.random.default_rng(0)
    w = 1 / (1 + math.exp(-2))
    for x in rng.integers(1, 3, (40, 60)):
        s = np.where(x == 1, 1.0, -1.0)
        m = np.concatenate([[s[0], s[0]], w * s[1:-1] + (1 - w) * s[:-2]])
        expected = np.exp((5.5 * s[-1] + 5 * m[-1]) * m)
        expected /= expected.sum()
        attention = head.layers[1].heads[0].attention(head.stream(x[None], 1))[0, -1]
        assert np.abs(attention - expected).max() < 1e-11
        after_last = np.concatenate([[False], s[:-1] == s[-1]])
        after_both = after_last & np.concatenate([[False, False], s[:-2] == s[-2]])
        chosen, factor = (after_both, 5) if s[-1] == s[-2] else (after_last, 1)
        others = ~chosen
        others[:2] = chosen[:2] = False  # there m_j is a sign: one token before, or none
        if chosen.any() and others.any():
            assert attention[chosen].min() > factor * attention[others].max()


def test_outputs_are_logits_between_zero_and_the_slope():
    logits = single_trigram_head(slope=7).to_float()(np.array([[1, 2, 2, 1, 1, 2]]))
    assert np.abs(logits.sum(axis=-1) - 7).max() < 1e-12  # frequencies sum to one
    with pytest.raises(ValueError, match=r"beta must be a rational number, not 0\.5"):
        single_trigram_head(beta=0.5)  # type: ignore[arg-type]
