"""The MLP and the element-wise multiplication layers against their dense matrices; what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from constructions.networks.feed_forward import relu
from constructions.networks.sparse_layers import MlpLayer, MultiplicationLayer
from constructions.networks.stream import ResidualStream
from numerics.exact.balls import as_balls
from numerics.exact.numbers import as_exact, to_float

SEEDS = st.integers(0, 10**6)
D = 5


def rational(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return as_exact(rng.integers(-6, 7, size=shape)) / fmpq(4)


def random_mlp(seed: int, units: int = 6) -> MlpLayer:
    """Units may read a coordinate twice and share targets."""
    rng = np.random.default_rng(seed)
    reads, targets = rng.integers(0, D, size=(units, 3)), rng.integers(0, D, size=units)
    return MlpLayer(reads, rational(rng, units, 3), targets, rational(rng, units), D)


def random_multiplication(seed: int, heads: int = 4) -> MultiplicationLayer:
    rng = np.random.default_rng(seed)
    pair = rng.integers(0, D, size=(2, heads, 2))
    return MultiplicationLayer(*pair, *rng.integers(0, D, size=(2, heads)), D)  # type: ignore[call-arg,misc,arg-type]


@given(SEEDS)
def test_mlp_is_its_dense_matrices(seed: int) -> None:
    layer, z = random_mlp(seed), rational(np.random.default_rng(seed), 3, D)
    first, second = layer.matrices()
    assert (layer(z) == z + relu(z @ first) @ second).all()
    np.testing.assert_allclose(layer.map(to_float)(to_float(z)), to_float(layer(z)), rtol=0, atol=1e-12)
    for ball, number in zip(layer.map(as_balls)(as_balls(z)).ravel(), layer(z).ravel(), strict=True):
        assert (ball * int(number.q)).contains(int(number.p))


@given(SEEDS)
def test_norms_of_the_mlp(seed: int) -> None:
    """Where no unit reads a coordinate twice, these are the norms of the matrices, transposed to columns."""
    layer = random_mlp(seed)
    if any(len(set(row)) < 3 for row in layer.reads.tolist()):
        return
    first, second = layer.matrices()
    column, coefficient, row = layer.norms()
    assert column == max(sum(abs(x) for x in line) for line in first.tolist())
    assert coefficient == max(sum(abs(x) for x in line) for line in second.tolist())
    assert row == max(sum(abs(x) for x in line) for line in first.T.tolist())
    assert layer.norm() == column + coefficient
    assert layer.parameters() == int(np.count_nonzero(first != 0)) + int(np.count_nonzero(second != 0))


@given(SEEDS)
def test_multiplication_is_its_dense_heads(seed: int) -> None:
    layer, z = random_multiplication(seed), rational(np.random.default_rng(seed), 3, D)
    expected = z.copy()
    for number in range(layer.heads):
        Q, K, V = (matrix.astype(object) for matrix in layer.head(number))
        expected = expected + ((z @ Q) * (z @ K)).sum(axis=1)[:, None] * (z @ V)
    assert (layer(z) == expected).all()
    np.testing.assert_allclose(layer(to_float(z)), to_float(layer(z)), rtol=0, atol=1e-12)
    largest = max(int(matrix.sum(axis=1).max()) for n in range(layer.heads) for matrix in layer.head(n))
    assert layer.norm() == largest


def test_blocks_that_are_read_and_written() -> None:
    stream = ResidualStream({"a": 2, "b": 2, "1": 1})
    mlp = MlpLayer(np.array([[0, 4]]), as_exact([[1, 0]]), np.array([2]), as_exact([1]), D)
    assert mlp.reads_from(stream) == ("a",)  # the constant has weight 0
    assert mlp.writes_to(stream) == ("b",)
    product = MultiplicationLayer(np.array([[0]]), np.array([[4]]), np.array([2]), np.array([3]), D)
    assert product.reads_from(stream) == ("a", "b", "1")
    assert product.writes_to(stream) == ("b",)
    assert product.parameters() == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((2, 1)), np.zeros((2, 2)), [0, 0], np.zeros(2)), "reads \\(U, m\\)"),
        ((np.zeros((2, 1)), np.zeros((2, 1)), [0], np.zeros(2)), "targets \\(U,\\)"),
        ((np.zeros((0, 1)), np.zeros((0, 1)), [], np.zeros(0)), "as many rows of reads"),
        ((np.full((1, 1), 5), np.zeros((1, 1)), [0], np.zeros(1)), "width 5"),
        ((np.zeros((1, 1)), np.zeros((1, 1)), [-1], np.zeros(1)), "width 5"),
    ],
)
def test_mlps_that_do_not_fit_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MlpLayer(*arguments, D)


def test_multiplications_that_do_not_fit_are_refused() -> None:
    good: tuple[Any, ...] = (np.zeros((1, 1)), np.zeros((1, 1)), [0], [0])
    layer = MultiplicationLayer(*good, D)
    with pytest.raises(ValueError, match="need query"):
        MultiplicationLayer(good[0], np.zeros((1, 2)), *good[2:], D)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="width 5"):
        MultiplicationLayer(*good[:3], [5], D)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"heads 0\.\.0"):
        layer.head(1)
