"""Random layers in their stored forms, with rational weights, and what the tests of these forms compare them with."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import fmpq

from lemmata.constructions.networks.layer import Layer
from lemmata.constructions.networks.stored import HeadFamily, StoredAttention, StoredFeedForward, StoredMultiplication
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact, to_float

STREAM = ResidualStream({"a": 2, "b": 3, "1": 1})
EVERY, D = STREAM.directions(), STREAM.width


def rational(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return as_exact(rng.integers(-6, 7, size=shape)) / fmpq(4)


def random_attention(seed: int) -> StoredAttention:
    """Two families on a stream of width 6, whose last coordinate is the constant."""
    rng = np.random.default_rng(seed)
    families = [
        HeadFamily(
            query=EVERY[rng.integers(0, D, size=m)],
            key=EVERY[rng.integers(0, D, size=m)],
            one=STREAM.directions("1"),
            source=EVERY[rng.integers(0, D, size=q)],
            target=EVERY[rng.permutation(D)[:q]],
            slopes=rational(rng, heads),
            offsets=rational(rng, heads),
            coefficients=rational(rng, heads),
        )
        for m, q, heads in ((2, 1, 3), (1, 3, 2))
    ]
    return StoredAttention(tuple(families))


def random_units(seed: int, units: int = 6) -> StoredFeedForward:
    """Units may read a coordinate twice and share targets."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, D, size=(units, 3)), rng.integers(0, D, size=units)
    return StoredFeedForward(EVERY[source], rational(rng, units, 3), EVERY[target], rational(rng, units))


def random_multiplication(seed: int, heads: int = 4) -> StoredMultiplication:
    rng = np.random.default_rng(seed)
    query, key = EVERY[rng.integers(0, D, size=(2, heads, 2))]
    source, target = EVERY[rng.integers(0, D, size=(2, heads))]
    return StoredMultiplication(query, key, source, target)


def assert_stored_form_is_its_layer(stored: Any, z: np.ndarray) -> None:
    """The same outputs in float64, exact numbers and balls; the same blocks; what to_float of either gives."""
    dense: Layer = stored.dense()
    exact = stored(z)
    assert (dense(z) == exact).all()
    floats = stored.map(to_float)
    assert floats.dense().arithmetic == floats.arithmetic
    for layer in (floats, floats.dense(), dense.map(to_float)):
        found = layer(to_float(z))
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, to_float(exact), rtol=0, atol=1e-11)  # sums of 6 terms below 10^5
    balls = stored.map(as_balls)
    for layer in (balls, balls.dense()):
        assert_contains(layer(as_balls(z)), exact)
    for touched in ("reads", "writes"):
        assert getattr(stored, touched)(STREAM) == getattr(dense, touched)(STREAM)
    assert (stored.kind, stored.head_count, stored.unit_count) == (dense.kind, dense.head_count, dense.unit_count)


def assert_contains(balls: np.ndarray, exact: np.ndarray) -> None:
    for ball, number in zip(balls.ravel(), exact.ravel(), strict=True):
        assert (ball * int(number.q)).contains(int(number.p))
