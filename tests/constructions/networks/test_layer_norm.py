"""Layer normalisation against torch's own, in balls, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lemmata.constructions.networks.layer_norm import LayerNorm
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.numerics.exact.balls import as_balls, precision
from lemmata.numerics.exact.numbers import as_exact


@pytest.mark.parametrize("d", [1, 2, 7])
def test_it_is_that_of_torch(d: int) -> None:
    """Deviations of order 1 and below 10 roundings in each; balls enclose the exact values, at 200 bits."""
    rng = np.random.default_rng(d)
    layer, z = LayerNorm(rng.normal(size=d), rng.normal(size=d), 1e-3), rng.normal(size=(2, 5, d))
    own = torch.nn.LayerNorm(d, eps=1e-3, dtype=torch.float64)
    with torch.no_grad():
        own.weight.copy_(torch.tensor(layer.gain))
        own.bias.copy_(torch.tensor(layer.shift))
    expected = own(torch.tensor(z)).detach().numpy()
    assert np.abs(layer(z) - expected).max() < 1e-13
    assert np.abs(layer.to_torch()(torch.tensor(z)).detach().numpy() - expected).max() < 1e-13
    with precision(200):
        balls = layer.map(as_balls)(as_balls(z))
    for ball, value in zip(balls.ravel(), expected.ravel(), strict=True):
        assert ball.rad() < 1e-40
        assert abs(ball - float(value)) < 1e-13


def test_it_reads_everything_and_drops_what_has_neither_gain_nor_shift() -> None:
    stream = ResidualStream({"a": 1, "b": 1, "c": 1})
    layer = LayerNorm(np.array([2, 0, 0]), np.array([0, 1, 0]))
    assert layer.reads(stream) == ("a", "b", "c")
    assert layer.writes(stream) == ("a", "b")
    assert layer.drops(stream) == ("c",)
    assert layer(np.array([[3.0, 1.0, 2.0]]))[0, 1:].tolist() == [1, 0]


def test_what_is_refused() -> None:
    one = np.ones(2)
    for gain, shift in ((one, np.ones(3)), (np.ones((2, 2)), np.ones((2, 2))), (np.ones(0), np.ones(0))):
        with pytest.raises(ValueError, match=r"has gain \(d,\) and shift \(d,\)"):
            LayerNorm(gain, shift)
    with pytest.raises(ValueError, match="must be positive, not 0"):
        LayerNorm(one, one, 0)
    with pytest.raises(ValueError, match="not rational"):
        LayerNorm(np.array([1, 2]), np.array([0, 1]))(as_exact([[1, 2]]))
