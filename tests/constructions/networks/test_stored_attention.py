"""ReLU attention stored in families of heads, against its layer and against loops; what it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.stored import HeadFamily, StoredAttention
from lemmata.constructions.networks.stream import Directions, ResidualStream
from lemmata.constructions.networks.torch import to_torch
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact, to_float
from tests.constructions.networks.random_layers import (
    EVERY,
    STREAM,
    D,
    assert_contains,
    assert_stored_form_is_its_layer,
    random_attention,
    rational,
)

SEEDS = st.integers(0, 10**6)


def family(slopes: Any, offsets: Any, coefficients: Any, **directions: Any) -> HeadFamily:
    """By default the heads read the constant of the tokens that they attend to by coordinates 0 and 1, and write 2."""
    parts = {"query": EVERY[[0]], "key": EVERY[[1]], "one": EVERY[[5]], "source": EVERY[[5]], "target": EVERY[[2]]}
    return HeadFamily(**(parts | directions), slopes=slopes, offsets=offsets, coefficients=coefficients)


def by_loops(layer: StoredAttention, z: Any) -> list[list[Any]]:
    """The definition with a loop over every index, from the matrices of the heads."""
    T = len(z)
    result = [list(row) for row in z]
    for number in range(layer.head_count):
        head = layer.head(number)
        Q, K, V = (matrix.tolist() for matrix in (head.query.weight, head.key.weight, head.value.weight))
        for i in range(T):
            for s in range(T):
                score: Any = 0
                for b in range(len(Q[0])):
                    score = score + sum(z[i][a] * Q[a][b] for a in range(D)) * sum(z[s][a] * K[a][b] for a in range(D))
                if score > 0:
                    for target in range(D):
                        value = sum(z[s][a] * V[a][target] for a in range(D))
                        result[i][target] = result[i][target] + score * value / T
    return result


@given(SEEDS, st.integers(1, 4))
def test_layer_is_the_sum_of_its_heads(seed: int, tokens: int) -> None:
    """Also where the coordinate of the constant does not hold 1, and where a head reads a coordinate twice."""
    layer, z = random_attention(seed), rational(np.random.default_rng(seed + 1), tokens, D)
    expected = by_loops(layer, z.tolist())
    assert layer(z).tolist() == expected
    heads = z + sum((layer.head(number)(z) for number in range(layer.head_count)), start=0 * z)
    assert heads.tolist() == expected


@given(SEEDS)
def test_number_systems_agree(seed: int) -> None:
    layer, z = random_attention(seed), rational(np.random.default_rng(seed), 3, D)
    exact = layer(z)
    floats = layer.map(to_float)(to_float(z))
    assert floats.dtype == np.float64
    np.testing.assert_allclose(floats, to_float(exact), rtol=0, atol=1e-11)  # sums of 5 heads below 10^5
    balls = layer.map(as_balls)(as_balls(z))
    assert_contains(balls, exact)


@given(SEEDS, st.integers(1, 4))
def test_stored_form_is_its_layer(seed: int, tokens: int) -> None:
    layer = random_attention(seed)
    assert_stored_form_is_its_layer(layer, rational(np.random.default_rng(seed + 1), tokens, D))
    assert len(layer.dense().heads) == layer.head_count


def test_torch_has_the_heads_as_matrices() -> None:
    layer, z = random_attention(3), np.random.default_rng(3).normal(size=(2, 4, D))
    module = to_torch(layer, stream=STREAM)
    np.testing.assert_allclose(module(torch.tensor(z)).detach().numpy(), layer.map(to_float)(z), rtol=0, atol=1e-11)
    shapes = {name: tuple(part.shape) for name, part in module.named_parameters()}
    families = ((3, 3), (2, 2))  # so many heads, with that key dimension
    expected = {
        f"heads.{number}.{name}.weight": (D, heads * size)
        for number, (heads, m) in enumerate(families)
        for name, size in (("query", m), ("key", m), ("value", D))
    }
    assert shapes == expected


def test_batches_are_run_side_by_side() -> None:
    layer, z = random_attention(0).map(to_float), np.random.default_rng(0).normal(size=(4, 2, 3, D))
    together = layer(z)
    for index in np.ndindex(4, 2):
        np.testing.assert_allclose(together[index], layer(z[index]), rtol=0, atol=1e-12)


def test_heads_are_evaluated_in_chunks() -> None:
    """A family of more numbers than a chunk holds gives what its halves give together."""
    rng = np.random.default_rng(1)
    heads, tokens = 3000, 40
    whole = family(*rng.normal(size=(3, heads)))
    parts = [whole.map(lambda numbers, s=s: numbers[s]) for s in (slice(0, heads // 2), slice(heads // 2, heads))]
    z = rng.normal(size=(tokens, D))
    together = StoredAttention((whole,))(z)
    apart = StoredAttention(tuple(parts))(z)
    np.testing.assert_allclose(together, apart, rtol=1e-10)


@given(SEEDS)
def test_norm_and_parameters_are_those_of_the_matrices(seed: int) -> None:
    layer = random_attention(seed)
    heads = [layer.head(number) for number in range(layer.head_count)]
    stored = [matrix.weight for head in heads for matrix in (head.query, head.key, head.value)]
    assert layer.count == sum(int(np.count_nonzero(matrix != 0)) for matrix in stored) == layer.dense().count
    assert layer.one_norm == sum(abs(x) for matrix in stored for x in matrix.ravel()) == layer.dense().one_norm


def test_blocks_that_are_read_and_written() -> None:
    stream = ResidualStream({"x": 2, "p": 3, "1": 1})
    x, p, one = (stream.directions(name) for name in stream.sizes)
    layer = StoredAttention((HeadFamily(x, p[:2], one, one, p[2:], *as_exact([[1], [0], [1]])),))
    assert layer.reads(stream) == ("x", "p", "1")
    assert layer.writes(stream) == ("p",)
    assert stream.names([5, 0]) == ("x", "1")


@pytest.mark.parametrize(
    ("numbers", "reads", "writes"),
    [((0, 1, 1), ("b", "1"), ("a",)), ((1, 0, 1), ("a", "b", "1"), ("a",)), ((1, 1, 0), ("a", "b", "1"), ())],
)
def test_numbers_that_are_zero_neither_read_nor_write(numbers: Any, reads: Any, writes: Any) -> None:
    parts = {"query": EVERY[[0]], "key": EVERY[[3]], "target": EVERY[[1]]}
    layer = StoredAttention((family(*as_exact(numbers)[:, None], **parts),))
    assert (layer.reads(STREAM), layer.writes(STREAM)) == (reads, writes)
    assert (layer.dense().reads(STREAM), layer.dense().writes(STREAM)) == (reads, writes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"slopes": np.zeros(2)}, "slopes, offsets and coefficients"),
        *(
            (dict.fromkeys(("slopes", "offsets", "coefficients"), np.zeros(shape)), "H >= 1")
            for shape in ((0,), (), (1, 1))
        ),
        ({"query": EVERY[[0, 1]]}, "pairs its query with its key"),
        ({"query": EVERY[[]]}, "pairs its query with its key"),
        ({"source": EVERY[[0, 1]]}, "its source with its target"),
        ({"source": EVERY[[0, 1]], "target": EVERY[[2, 2]]}, "must differ"),
        ({"one": EVERY[[4, 5]]}, "one constant"),
        ({"target": ResidualStream({"x": 6}).directions()[[2]]}, r"directions of the stream \(x\)"),
    ],
)
def test_families_that_do_not_fit_are_refused(changes: dict[str, Any], message: str) -> None:
    good = family(np.ones(1), np.ones(1), np.ones(1))
    with pytest.raises(ValueError, match=message):
        replace(good, **changes)


def test_layers_that_do_not_fit_are_refused() -> None:
    good = family(np.ones(1), np.ones(1), np.ones(1))
    with pytest.raises(ValueError, match="at least one family"):
        StoredAttention(())
    other = ResidualStream({"x": 5})
    with pytest.raises(ValueError, match="stream of width 5"):
        Directions(other, good.one.coordinates)
    x = other.directions()
    with pytest.raises(ValueError, match=r"directions of the stream \(x\)"):
        StoredAttention((good, HeadFamily(x[:1], x[:1], x[4:], x[:1], x[:1], *np.ones((3, 1)))))
    with pytest.raises(ValueError, match="5 coordinates, but the stream has 6"):
        StoredAttention((good,))(np.ones((2, 5)))
    with pytest.raises(ValueError, match=r"heads 0\.\.0, not 1"):
        StoredAttention((good,)).head(1)


def test_a_single_head_divides_by_the_number_of_tokens() -> None:
    one = np.ones((1, 1))
    assert Head(one, one, one, weigh="relu", causal=False)(np.ones((7, 1))).tolist() == [[1.0]] * 7
    assert Head(one, -one, one, weigh="relu", causal=False)(np.ones((7, 1))).tolist() == [[0.0]] * 7
