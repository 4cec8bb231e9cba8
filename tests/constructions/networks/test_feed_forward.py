"""Token-wise maps against loops over indices in three number systems, their norms, and what they refuse."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.numerics.exact.balls import as_balls, precision
from lemmata.numerics.exact.numbers import as_exact, to_float

SEEDS = st.integers(0, 10**6)


def random_map(seed: int, depth: int, residual: bool) -> FeedForward:
    rng = np.random.default_rng(seed)
    widths = [3, *rng.integers(1, 5, size=depth - 1).tolist(), 3]
    layers = tuple(
        Affine(as_exact(rng.integers(-4, 5, size=(d, e))) / fmpq(3), as_exact(rng.integers(-4, 5, size=e)) / fmpq(3))
        for d, e in pairwise(widths)
    )
    return FeedForward(layers, residual)


def by_loops(network: FeedForward, row: Any) -> list[fmpq]:
    z = [fmpq(x) for x in row]
    for layer in network.layers:
        W, b = layer.weight.tolist(), layer.bias.tolist()
        sums = [b[j] + sum((z[i] * W[i][j] for i in range(len(z))), fmpq(0)) for j in range(len(b))]
        z = [x if x > 0 else fmpq(0) for x in sums]
    return [fmpq(x) + y for x, y in zip(row, z, strict=True)] if network.residual else z


@given(seed=SEEDS, depth=st.integers(1, 5), residual=st.booleans())
def test_three_number_systems_agree_with_loops(seed: int, depth: int, residual: bool) -> None:
    """Float64: a layer maps numbers below x to numbers below 16/3 x + 4/3, so that 5 layers from 3 stay below 2 * 10^4,
    and 5 layers of at most 6 roundings per path are off by 30 * 2^-53 * 2 * 10^4, hence the 1e-9."""
    network = random_map(seed, depth, residual)
    z = np.random.default_rng(seed + 1).integers(-3, 4, size=(2, 4, 3))
    expected = np.array([[by_loops(network, row) for row in rows.tolist()] for rows in z], dtype=object)
    assert network.arithmetic == "exact"
    assert np.array_equal(network(z), expected)
    assert np.allclose(network.map(to_float)(z.astype(float)), to_float(expected), rtol=0, atol=1e-9)
    with precision(128):
        balls = network.map(as_balls)(as_balls(z))
        for ball, x in zip(balls.ravel(), expected.ravel(), strict=True):
            assert ball.overlaps(arb(x))
            assert ball.rad() < 1e-30


def test_named_coordinates_and_norms() -> None:
    stream = ResidualStream({"a": 1, "b": 2})
    layer = Affine(stream.matrix({("a", "b"): [[3, -4]]}), stream.rows(1, {"b": [[0, 2]]})[0])
    network = FeedForward((layer,), residual=True)
    assert network(np.array([[1, 5, 7]])).tolist() == [[1, 8, 7]]
    assert (network.one_norm, layer.operator_norm, network.lipschitz_bound) == (9, 5.0, 6.0)
    assert len(network.hidden(np.array([[1, 5, 7]]))) == 1
    assert network.arrays()[0].shape == (3, 3)


@given(seed=SEEDS)
def test_lipschitz_bound_holds_between_random_points(seed: int) -> None:
    network = random_map(seed, 3, True).map(to_float)
    a, b = np.random.default_rng(seed).normal(size=(2, 3))
    assert np.linalg.norm(network(a) - network(b)) <= network.lipschitz_bound * np.linalg.norm(a - b) * (1 + 1e-12)


def test_bad_maps_are_refused() -> None:
    eye = Affine(np.eye(2), np.zeros(2))
    with pytest.raises(ValueError, match="at least one layer"):
        FeedForward(())
    with pytest.raises(ValueError, match="Layer 1 has 2 outputs, but layer 2 has 3 inputs"):
        FeedForward((eye, Affine(np.eye(3), np.zeros(3))))
    with pytest.raises(ValueError, match="residual needs equal widths"):
        FeedForward((Affine(np.ones((2, 3)), np.zeros(3)),), residual=True)
    for weight, bias in [(np.eye(2), np.zeros(3)), (np.ones(2), np.zeros(2))]:
        with pytest.raises(ValueError, match="the shapes are"):
            Affine(weight, bias)
