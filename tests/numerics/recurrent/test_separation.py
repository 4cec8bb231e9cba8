"""The cosines between hidden states, against simulation and bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb

from lemmata.numerics.recurrent.separation import arc_cosine_kernel, state_cosines


def test_the_kernel_is_a_mean_of_two_rectifiers() -> None:
    """2 E[relu(u) relu(v)] from two million pairs, at four times the standard error 0.0013."""
    rng = np.random.default_rng(1)
    u, other = rng.standard_normal((2, 2_000_000))
    for c in (-0.7, 0.0, 0.5, 0.9):
        v = c * u + math.sqrt(1 - c * c) * other
        assert abs(2 * np.mean(np.maximum(u, 0) * np.maximum(v, 0)) - float(arc_cosine_kernel(arb(c)))) < 0.0052


def test_known_values() -> None:
    values = [float(c) for c in state_cosines(6)]
    assert np.allclose(values, [0, 0.3183, 0.4937, 0.6048, 0.6810, 0.7359, 0.7772], atol=6e-5)
    assert state_cosines(300)[-1].rad() < arb("1e-10")
    assert abs(arc_cosine_kernel(arb(1)) - 1) < arb("1e-12")


@pytest.mark.parametrize("cosine", [arb(2), arb("1 +/- 0.1")])
def test_what_is_no_cosine_is_refused(cosine: arb) -> None:
    with pytest.raises(ValueError, match="must certainly lie in"):
        arc_cosine_kernel(cosine)


def test_a_negative_length_is_refused() -> None:
    with pytest.raises(ValueError, match="length"):
        state_cosines(-1)
