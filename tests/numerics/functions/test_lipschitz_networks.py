"""Networks of Lipschitz functions on a ball: one wave is interpolated at its knots, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq

from lemmata.numerics.functions.lipschitz_networks import ball_network, sizes_for
from lemmata.numerics.functions.waves import wave


def test_a_wave_is_met_at_its_knots() -> None:
    a, W, b = ball_network(wave((3, 4), fmpq(1, 2), 1, 1), 10)
    assert len(a) == 29
    for s in np.linspace(-1, 1, 11):
        x = s * np.array([0.6, 0.8])
        assert abs(np.maximum(W @ x + b, 0) @ a - (np.cos(5 * s) / 2 + np.sin(5 * s))) < 1e-12


def test_sizes_are_checked() -> None:
    with pytest.raises(ValueError, match="the function 0 serves"):
        sizes_for(2, fmpq(1, 2))
    with pytest.raises(ValueError, match="number of pieces"):
        ball_network(wave((1,), 1, 0, 1), 0)
