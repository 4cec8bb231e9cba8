"""Units and multiplication heads stored without their matrices, against the layers for which they stand; refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.networks.stored import StoredFeedForward, StoredMultiplication
from lemmata.constructions.networks.stream import Directions, ResidualStream
from lemmata.constructions.networks.torch import to_torch
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.functions.activations import relu
from tests.constructions.networks.random_layers import (
    EVERY,
    STREAM,
    D,
    assert_contains,
    assert_stored_form_is_its_layer,
    random_multiplication,
    random_units,
    rational,
)

SEEDS = st.integers(0, 10**6)
OTHER = ResidualStream({"x": D}).directions()


@given(SEEDS)
def test_mlp_is_its_dense_matrices(seed: int) -> None:
    layer, z = random_units(seed), rational(np.random.default_rng(seed), 3, D)
    first, second = (affine.weight for affine in layer.dense().layers)
    assert (layer(z) == z + relu(z @ first) @ second).all()
    np.testing.assert_allclose(layer.map(to_float)(to_float(z)), to_float(layer(z)), rtol=0, atol=1e-12)
    assert_contains(layer.map(as_balls)(as_balls(z)), layer(z))


@given(SEEDS)
def test_matrices_of_the_mlp_entry_by_entry(seed: int) -> None:
    """Column u of W_1 and row u of W_2 are unit u, read off its sources one by one."""
    layer = random_units(seed)
    first, second = (affine.weight for affine in layer.dense().layers)
    for unit, (source, target) in enumerate(zip(layer.source.coordinates, layer.target.coordinates, strict=True)):
        for coordinate in range(D):
            weights = [w for s, w in zip(source, layer.weights[unit], strict=True) if s == coordinate]
            assert first[coordinate, unit] == sum(weights)
            assert second[unit, coordinate] == (layer.coefficients[unit] if coordinate == target else 0)


@given(SEEDS, st.integers(1, 4))
def test_stored_units_are_their_layer(seed: int, tokens: int) -> None:
    """Norm and count, and the blocks read, as those of the matrices where no unit reads a coordinate twice."""
    layer, z = random_units(seed), rational(np.random.default_rng(seed + 1), tokens, D)
    if any(len(set(row)) < 3 for row in layer.source.coordinates.tolist()):
        assert (layer(z) == layer.dense()(z)).all()
        assert layer.one_norm >= layer.dense().one_norm
        return
    assert_stored_form_is_its_layer(layer, z)
    assert (layer.one_norm, layer.count) == (layer.dense().one_norm, layer.dense().count)


@given(SEEDS)
def test_multiplication_is_its_dense_heads(seed: int) -> None:
    layer, z = random_multiplication(seed), rational(np.random.default_rng(seed), 3, D)
    expected = z.copy()
    for matrices in zip(*layer.dense().arrays(), strict=True):
        Q, K, V = (matrix.astype(object) for matrix in matrices)
        expected = expected + ((z @ Q) * (z @ K)).sum(axis=1)[:, None] * (z @ V)
    assert (layer(z) == expected).all()
    np.testing.assert_allclose(layer(to_float(z)), to_float(layer(z)), rtol=0, atol=1e-12)


@given(SEEDS, st.integers(1, 4))
def test_stored_multiplication_is_its_layer(seed: int, tokens: int) -> None:
    """Also by loops over the heads and their coordinates; norm and count are those of the matrices."""
    layer, z = random_multiplication(seed), rational(np.random.default_rng(seed + 1), tokens, D)
    expected = z.copy()
    for h in range(layer.head_count):
        query, key, source, target = (
            part.coordinates[h] for part in (layer.query, layer.key, layer.source, layer.target)
        )
        for i in range(tokens):
            expected[i, target] += sum(z[i, a] * z[i, b] for a, b in zip(query, key, strict=True)) * z[i, source]
    assert (layer(z) == expected).all()
    assert_stored_form_is_its_layer(layer, z)
    assert (layer.one_norm, layer.count) == (layer.dense().one_norm, layer.dense().count)


def test_units_beside_others_add_up() -> None:
    """Both read the stream before the layer, so that what they write adds up."""
    one, other, z = random_units(1), random_units(2, units=3), rational(np.random.default_rng(3), 4, D)
    both = one.beside(other)
    assert both.unit_count == 9
    assert (both(z) == one(z) + other(z) - z).all()
    with pytest.raises(ValueError, match=r"directions of the stream \(x\)"):
        one.beside(StoredFeedForward(OTHER[[[0, 1, 2]]], np.ones((1, 3)), OTHER[[0]], np.ones(1)))


def test_blocks_that_are_read_and_written() -> None:
    stream = ResidualStream({"a": 2, "b": 2, "1": 1})
    at = stream.directions()
    mlp = StoredFeedForward(at[[[0, 4]]], as_exact([[1, 0]]), at[[2]], as_exact([1]))
    assert mlp.reads(stream) == ("a",)  # the constant has weight 0
    assert mlp.writes(stream) == ("b",)
    product = StoredMultiplication(at[[[0]]], at[[[4]]], at[[2]], at[[3]])
    assert product.reads(stream) == ("a", "b", "1")
    assert product.writes(stream) == ("b",)
    assert product.count == 3


def test_torch_has_the_matrices() -> None:
    z = np.random.default_rng(3).normal(size=(2, 4, D))
    for layer, shapes in (
        (random_units(5), [(D, 6), (6, D)]),
        (random_multiplication(5), [(4, D, 2), (4, D, 2), (4, D, D)]),
    ):
        module = to_torch(layer, stream=STREAM)
        np.testing.assert_allclose(module(torch.tensor(z)).detach().numpy(), layer.map(to_float)(z), rtol=0, atol=1e-11)
        assert [tuple(part.shape) for part in module.parameters()] == shapes


def test_torch_refuses_matrices_that_would_not_fit() -> None:
    wide = ResidualStream({"x": 2**14}).directions()[[0]]
    with pytest.raises(ValueError, match="entries as matrices"):
        to_torch(StoredMultiplication(wide[None], wide[None], wide, wide))
    units = wide.repeat(2**13 + 1)
    with pytest.raises(ValueError, match="entries as matrices"):
        to_torch(StoredFeedForward(units.reshape(-1, 1), np.ones((len(units), 1)), units, np.ones(len(units))))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((EVERY[np.zeros((2, 1), int)], np.zeros((2, 2)), EVERY[[0, 0]], np.zeros(2)), "source \\(U, m\\)"),
        ((EVERY[np.zeros((2, 1), int)], np.zeros((2, 1)), EVERY[[0]], np.zeros(2)), "target \\(U,\\)"),
        ((EVERY[np.zeros((0, 1), int)], np.zeros((0, 1)), EVERY[:0], np.zeros(0)), "U >= 1"),
        ((EVERY[[[0]]], np.zeros((1, 1)), OTHER[[0]], np.zeros(1)), r"directions of the stream \(x\)"),
    ],
)
def test_mlps_that_do_not_fit_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StoredFeedForward(*arguments)


@pytest.mark.parametrize("coordinate", [D, -1])
def test_coordinates_outside_the_stream_are_refused(coordinate: int) -> None:
    with pytest.raises(ValueError, match="width 6"):
        Directions(STREAM, np.array([coordinate]))


def test_multiplications_that_do_not_fit_are_refused() -> None:
    good = (EVERY[[[0]]], EVERY[[[0]]], EVERY[[0]], EVERY[[0]])
    layer = StoredMultiplication(*good)
    with pytest.raises(ValueError, match="need query"):
        StoredMultiplication(good[0], EVERY[[[0, 0]]], *good[2:])
    with pytest.raises(ValueError, match=r"directions of the stream \(x\)"):
        StoredMultiplication(*good[:3], OTHER[[5]])
    with pytest.raises(ValueError, match="7 coordinates, but the stream has 6"):
        layer(np.zeros((2, 7)))
