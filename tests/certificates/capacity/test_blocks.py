"""Blocks of attention and their errors: against plain NumPy, negative controls, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb
from scipy.special import ndtr

from lemmata.certificates.capacity import blocks
from lemmata.certificates.capacity.blocks import AttentionBlock, block_errors, readout_errors
from lemmata.numerics.exact.numbers import to_float

SHAPES = ((3, 2), (3, 2), (3, 4), (4, 3))
ACTIVATIONS: dict[str, Any] = {
    "relu": lambda u: np.maximum(u, 0),
    "identity": lambda u: u,
    "gelu": lambda u: u * ndtr(u),
}


def network(seed: int, activation: Any = "relu", depth: int = 2) -> list[AttentionBlock]:
    rng = np.random.default_rng(seed)
    return [
        AttentionBlock(*(rng.standard_normal(shape) for shape in SHAPES), activation=activation) for _ in range(depth)
    ]


def tokens(seed: int, T: int = 4) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((T, 3))
    return X / (np.linalg.norm(X, axis=1, keepdims=True) * (1 + 1e-9))


def projected(Z: np.ndarray) -> np.ndarray:
    return Z / np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), 1)


def run(block: AttentionBlock, g: np.ndarray) -> np.ndarray:
    scores = g @ block.query @ (g @ block.key).T
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    mixed = weights / weights.sum(axis=1, keepdims=True) @ g @ block.value
    return projected(ACTIVATIONS[block.activation](projected(mixed)) @ block.mixing)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_blocks_are_their_formula_and_errors_are_distances(activation: str) -> None:
    one, other, X = network(1, activation), network(2, activation), tokens(3)
    g, g2 = X, X
    for a, b, found in zip(one, other, block_errors(one, other, X), strict=True):
        g, g2 = run(a, g), run(b, g2)
        assert abs(float(found.error.mid()) - np.linalg.norm(g - g2, axis=1).max()) < 1e-9
        assert found.error <= found.bound <= found.printed
    assert np.allclose(to_float(one[0](X)), run(one[0], X))
    assert np.allclose(to_float(one[0].score), one[0].query @ one[0].key.T)
    listed: Any = [part.tolist() for part in (one[0].query, one[0].key, one[0].value, one[0].mixing)]
    assert np.allclose(to_float(AttentionBlock(*listed, activation=one[0].activation)(X)), run(one[0], X))


def test_equal_networks_do_not_differ() -> None:
    one = network(1)
    for found in block_errors(one, one, tokens(2)):
        assert found.error.contains(0)
        assert found.bound < arb("1e-6")


def test_readouts() -> None:
    found = readout_errors([1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [1.0, 1.0])
    assert abs(found.error - 1) < arb("1e-12")
    assert abs(found.bound - 2 * arb(2).sqrt() - 1) < arb("1e-12")
    with pytest.raises(ValueError, match="rows of one length"):
        readout_errors([1.0], [1.0, 2.0], [1.0], [1.0])
    with pytest.raises(ValueError, match="finite"):
        readout_errors([float("nan")], [1.0], [1.0], [1.0])


def test_blocks_fit() -> None:
    good = [np.ones(shape) for shape in SHAPES]
    for place, shape in ((0, (3, 1)), (2, (2, 4)), (3, (3, 3)), (1, (3,))):
        parts = [*good[:place], np.ones(shape), *good[place + 1 :]]
        with pytest.raises(ValueError, match="A block has"):
            AttentionBlock(*parts)
    with pytest.raises(ValueError, match="activation is one of"):
        AttentionBlock(*good, activation="tanh")  # type: ignore[arg-type]
    good[2][0, 0] = float("inf")
    with pytest.raises(ValueError, match="matrix of the value has NaN or infinity"):
        AttentionBlock(*good)


def test_networks_fit_each_other_and_the_tokens() -> None:
    one, X = network(1), tokens(2)
    for others in ([], network(2, depth=1)):
        with pytest.raises(ValueError, match="same number of blocks"):
            block_errors(one if others else [], others, X)
    with pytest.raises(ValueError, match="do not fit"):
        block_errors(one, network(2, "gelu"), X)
    with pytest.raises(ValueError, match="do not fit"):
        block_errors(one, network(2), X[:, :2])
    with pytest.raises(ValueError, match="norm at most 1"):
        block_errors(one, network(2), 2 * X)


def test_the_slope_of_the_gelu_is_an_upper_bound() -> None:
    u = np.linspace(-5, 5, 100_001)
    slopes = np.diff(ACTIVATIONS["gelu"](u)) / np.diff(u)
    assert 1.1289 < slopes.max() < 1.13
    assert blocks.SLOPES["gelu"] == "113/100"
