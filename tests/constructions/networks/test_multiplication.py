"""Element-wise multiplication against loops over indices, in three number systems and in torch; what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.networks.multiplication import Multiplication
from lemmata.constructions.networks.torch import to_torch
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import to_float
from tests.constructions.networks.random_layers import STREAM, D, assert_contains, rational

SEEDS = st.integers(0, 10**6)


def random_layer(seed: int, heads: int = 2, m: int = 3) -> Multiplication:
    rng = np.random.default_rng(seed)
    return Multiplication(rational(rng, heads, D, m), rational(rng, heads, D, m), rational(rng, heads, D, D))


def by_loops(layer: Multiplication, z: Any) -> list[list[Any]]:
    """The definition, entry by entry."""
    result = [list(row) for row in z]
    for Q, K, V in zip(*(part.tolist() for part in layer.arrays()), strict=True):
        for i, row in enumerate(z):
            product: Any = 0
            for b in range(len(Q[0])):
                product = product + sum(row[a] * Q[a][b] for a in range(D)) * sum(row[a] * K[a][b] for a in range(D))
            for target in range(D):
                result[i][target] = result[i][target] + product * sum(row[a] * V[a][target] for a in range(D))
    return result


@given(SEEDS)
def test_layer_is_its_definition_in_all_number_systems(seed: int) -> None:
    layer, z = random_layer(seed), rational(np.random.default_rng(seed + 1), 3, D)
    exact = layer(z)
    assert exact.tolist() == by_loops(layer, z.tolist())
    # a float64 sum of below 10^3 terms, each below 10^4
    np.testing.assert_allclose(layer.map(to_float)(to_float(z)), to_float(exact), rtol=0, atol=1e-9)
    assert_contains(layer.map(as_balls)(as_balls(z)), exact)


def test_batches_and_torch() -> None:
    layer, z = random_layer(1).map(to_float), np.random.default_rng(0).normal(size=(4, 2, 3, D))
    together, module = layer(z), to_torch(layer, stream=STREAM)
    for index in np.ndindex(4, 2):
        np.testing.assert_allclose(together[index], layer(z[index]), rtol=0, atol=1e-9)
    found = module(torch.tensor(z))
    np.testing.assert_allclose(found.detach().numpy(), together, rtol=0, atol=1e-9)
    found.sum().backward()
    assert all(bool((part.grad != 0).any()) for part in module.parameters())


def test_what_it_reads_and_writes() -> None:
    query, key = np.zeros((1, D, 1), dtype=int), np.zeros((1, D, 1), dtype=int)
    query[0, 0], key[0, 5] = 2, -1
    layer = Multiplication(query, key, 3 * np.eye(D, dtype=int)[None] * (np.arange(D) == 2))
    assert (layer.reads(STREAM), layer.writes(STREAM)) == (("a", "b", "1"), ("b",))
    assert (layer.kind, layer.head_count, layer.count, layer.one_norm) == ("multiplication", 1, 3, 6)


@pytest.mark.parametrize(
    "shapes",
    [((1, D, 2), (1, D, 3), (1, D, D)), ((1, D, 2), (1, D, 2), (1, D, 2)), ((0, D, 2), (0, D, 2), (0, D, D))],
    ids=str,
)
def test_shapes_that_do_not_fit_are_refused(shapes: Any) -> None:
    with pytest.raises(ValueError, match=r"query \(H, d, m\)"):
        Multiplication(*map(np.zeros, shapes))
