"""The projection on a ball and clipping against loops over coordinates in three number systems and torch."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.networks.projection import BallProjection, Clipping
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.numerics.exact.balls import as_balls, precision
from lemmata.numerics.exact.cyclotomic.numbers import root_of_unity, sqrt_rational
from lemmata.numerics.exact.numbers import as_exact, to_float

EPS = 2.0**-53
SEEDS = st.integers(0, 10**6)
PYTHAGOREAN = [(3, 4, 0), (2, 3, 6), (1, 4, 8), (0, 0, 5), (2, 1, 2), (1, 0, 0), (0, 0, 0), (1, 1, 1)]


def by_loops(row: Any, radius: Fraction) -> list[Fraction]:
    """The projection of a row with a rational norm, or inside of the ball."""
    square = sum(Fraction(int(x)) ** 2 for x in row)
    if square <= radius**2:
        return [Fraction(int(x)) for x in row]
    root = math.isqrt(int(square))
    assert root * root == square
    return [Fraction(int(x)) * radius / root for x in row]


@pytest.mark.parametrize("radius", [Fraction(5, 2), Fraction(2), Fraction(7, 4)])
def test_projection_in_three_number_systems(radius: Fraction) -> None:
    """Float64: hypot twice, a quotient and a product, hence 5 roundings; the radii are dyadic."""
    z = np.array([[[s * x for x in row] for row in PYTHAGOREAN] for s in (1, -1)])
    expected = as_exact([[by_loops(row, radius) for row in rows] for rows in z.tolist()])
    layer = BallProjection(3, radius)
    assert (layer(z) == expected).all()
    assert (expected != z).any()
    assert (layer(as_exact(z)) == expected).all()
    floats = layer(z.astype(float))
    assert (np.abs(floats - to_float(expected)) <= 5 * EPS * np.abs(to_float(expected))).all()
    for radius_of_ball in (0.0, 1e-3, 0.5):
        balls = np.array([arb(int(x), radius_of_ball) for x in z.ravel()], dtype=object).reshape(z.shape)
        for ball, x in zip(layer(balls).ravel(), expected.ravel(), strict=True):
            assert ball.overlaps(arb(x))
            assert ball.rad() <= 3 * radius_of_ball + 1e-12  # a shrinking factor times a ball, and the factor's own


@given(seed=SEEDS)
def test_projection_is_the_nearest_point_and_never_expands(seed: int) -> None:
    """Of random points in the ball none is nearer; 1-Lipschitz up to 10 roundings of numbers below 10."""
    rng = np.random.default_rng(seed)
    layer = BallProjection(4, 1.5)
    a, b = 2 * rng.normal(size=(2, 4))
    for z in (a, b):
        inside = rng.normal(size=(50, 4))
        inside *= 1.5 * rng.random((50, 1)) / np.linalg.norm(inside, axis=1, keepdims=True)
        assert (np.linalg.norm(z - layer(z)) <= np.linalg.norm(z - inside, axis=1) + 100 * EPS).all()
    assert np.linalg.norm(layer(a) - layer(b)) <= np.linalg.norm(a - b) + 100 * EPS
    assert np.array_equal(layer(layer(a) / 2), layer(a) / 2)


@given(seed=SEEDS)
def test_wide_balls_enclose_the_projection_of_their_points(seed: int) -> None:
    """Also where it is undecided whether the token lies inside, and where a coordinate contains 0."""
    rng = np.random.default_rng(seed)
    middle, width = rng.normal(size=3), rng.random(3) * 3
    layer = BallProjection(3, 2)
    with precision(80):
        enclosure = layer(np.array([arb(m, w) for m, w in zip(middle, width, strict=True)], dtype=object))
        for _ in range(20):
            point = layer(as_balls(middle + width * rng.uniform(-1, 1, size=3) * (1 - 1e-9)))
            assert all(ball.overlaps(x) for ball, x in zip(enclosure, point, strict=True))
        assert all(abs(float(ball.mid())) + float(ball.rad()) <= 4 + 1e-6 for ball in enclosure)
        inside = as_balls([fmpq(1, 8), fmpq(1, 4), 0])
        assert all(x.is_exact() for x in BallProjection(3, fmpq(1, 3))(inside))  # inside nothing is multiplied


def test_exact_projection_refuses_roots_and_decides_algebraic_norms() -> None:
    root = sqrt_rational(2)
    inside = np.array([root, fmpq(0)], dtype=object)
    assert (BallProjection(2, Fraction(3, 2))(inside) == inside).all()
    assert (BallProjection(2, 1)(np.array([root, root], dtype=object)) == np.array([root, root]) / 2).all()  # norm 2
    near = as_exact([["3003/5000", "4004/5000"], ["-1/8", "1/8"]])  # of norm 1001/1000, and inside
    assert (BallProjection(2, 1)(near) == as_exact([["3/5", "4/5"], ["-1/8", "1/8"]])).all()
    with pytest.raises(ValueError, match="root of 8, is not rational"):
        BallProjection(2, 1)(np.array([2, 2]))
    with pytest.raises(ValueError, match="not rational"):
        BallProjection(2, 1)(np.array([root, fmpq(1)], dtype=object) * root)
    with pytest.raises(ValueError, match="real"):
        BallProjection(2, 1)(np.array([root_of_unity(1, 4), fmpq(0)], dtype=object))
    with pytest.raises(ValueError, match="not exact"):
        BallProjection(2, 0.5)(np.array([2, 2]))


@given(seed=SEEDS)
def test_clipping_in_three_number_systems(seed: int) -> None:
    rng = np.random.default_rng(seed)
    z = rng.integers(-6, 7, size=(2, 5, 3))
    lower, upper = (fmpq(-3, 2), -1, -4), (1, -1, fmpq(5, 2))
    expected = as_exact(
        [
            [[max(min(fmpq(x), fmpq(u)), fmpq(l)) for x, l, u in zip(row, lower, upper, strict=True)] for row in rows]
            for rows in z.tolist()
        ]
    )
    layer = Clipping(3, lower, upper)
    assert (layer(z) == expected).all()
    assert np.array_equal(layer(z.astype(float)), to_float(expected))
    assert np.array_equal(layer.to_torch()(torch.tensor(z.astype(float))).numpy(), to_float(expected))
    balls = layer(np.array([arb(int(x), 0.75) for x in z.ravel()], dtype=object).reshape(z.shape))
    for ball, x, low, high in zip(balls.ravel(), z.ravel().tolist(), [*lower] * 10, [*upper] * 10, strict=True):
        for point in (x - fmpq(3, 4), x + fmpq(0), x + fmpq(3, 4)):
            assert ball.overlaps(arb(max(min(point, fmpq(high)), fmpq(low))))
    assert (Clipping(3, -2, 2)(z) == np.clip(z, -2, 2)).all()


@given(seed=SEEDS)
def test_torch_module_of_the_projection(seed: int) -> None:
    """A norm, a quotient and a product: width + 3 roundings on each side."""
    z = np.random.default_rng(seed).normal(size=(2, 5, 3))
    layer = BallProjection(3, Fraction(3, 2))
    module = layer.to_torch()
    tensor = torch.tensor(z, requires_grad=True)
    output = module(tensor)
    assert np.abs(output.detach().numpy() - layer(z)).max() <= 12 * EPS * 1.5
    assert list(module.parameters()) == []
    output.square().sum().backward()
    gradient = tensor.grad
    assert gradient is not None
    outside = np.linalg.norm(z, axis=-1) > 1.5
    radial = (gradient.numpy() * z).sum(axis=-1)
    assert np.abs(radial[outside]).max(initial=0) <= 100 * EPS  # the norm of the output does not change along the ray
    assert np.allclose(gradient.numpy()[~outside], 2 * z[~outside], rtol=0, atol=100 * EPS)


def test_layers_without_weights() -> None:
    stream = ResidualStream({"x": 2, "p": 1})
    for layer in (BallProjection(3, 2), Clipping(3, -1, 1)):
        assert (layer.arrays(), layer.count, layer.one_norm, layer.inputs, layer.outputs) == ((), 0, 0, 3, 3)
        assert layer.reads(stream) == layer.writes(stream) == ("x", "p")
        assert layer.map(to_float)(np.zeros((1, 3))).tolist() == [[0, 0, 0]]
        for width in (2, 4):
            with pytest.raises(ValueError, match=f"{width} coordinates, but the map takes 3"):
                layer(np.zeros((2, width)))


def test_bad_bounds_are_refused() -> None:
    for radius in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="positive radius"):
            BallProjection(2, radius)
    with pytest.raises(ValueError, match="width of at least 1"):
        BallProjection(0, 1)
    with pytest.raises(ValueError, match="must not exceed"):
        Clipping(2, (0, 2), 1)
    with pytest.raises(ValueError, match="must not exceed"):
        Clipping(2, float("nan"), 1)
    with pytest.raises(ValueError, match="bounds for each of 3"):
        Clipping(3, (0, 0), 1)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="norm of a token"):
            BallProjection(2, 1)(np.array([[1.0, bad]]))
    assert BallProjection(2, 1)(np.array([1e300, 0.0])).tolist() == [1, 0]
