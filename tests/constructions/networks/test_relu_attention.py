"""ReLU attention in families of heads, against single heads as matrices and against loops; what it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from constructions.networks.relu_attention import HeadFamily, ReluAttentionLayer, ReluHead
from constructions.networks.stream import ResidualStream, block_names
from numerics.exact.balls import as_balls
from numerics.exact.numbers import as_exact, to_float

SEEDS = st.integers(0, 10**6)
D = 6


def rational(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return as_exact(rng.integers(-6, 7, size=shape)) / fmpq(4)


def random_layer(seed: int) -> ReluAttentionLayer:
    """Two families on a stream of width 6, whose last coordinate is the constant."""
    rng = np.random.default_rng(seed)
    families = [
        HeadFamily(
            query=rng.integers(0, D, size=m),
            key=rng.integers(0, D, size=m),
            one=D - 1,
            source=rng.integers(0, D, size=q),
            target=rng.permutation(D)[:q],
            slopes=rational(rng, heads),
            offsets=rational(rng, heads),
            coefficients=rational(rng, heads),
        )
        for m, q, heads in ((2, 1, 3), (1, 3, 2))
    ]
    return ReluAttentionLayer(tuple(families), D)


def by_loops(layer: ReluAttentionLayer, z: Any) -> list[list[Any]]:
    """The definition with a loop over every index, from the matrices of the heads."""
    T = len(z)
    result = [list(row) for row in z]
    for number in range(layer.heads):
        head = layer.head(number)
        Q, K, V = (matrix.tolist() for matrix in (head.query, head.key, head.value))
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
    layer, z = random_layer(seed), rational(np.random.default_rng(seed + 1), tokens, D)
    expected = by_loops(layer, z.tolist())
    assert layer(z).tolist() == expected
    heads = z + sum((layer.head(number)(z) for number in range(layer.heads)), start=0 * z)
    assert heads.tolist() == expected


@given(SEEDS)
def test_number_systems_agree(seed: int) -> None:
    layer, z = random_layer(seed), rational(np.random.default_rng(seed), 3, D)
    exact = layer(z)
    floats = layer.map(to_float)(to_float(z))
    assert floats.dtype == np.float64
    np.testing.assert_allclose(floats, to_float(exact), rtol=0, atol=1e-11)  # sums of 5 heads below 10^5
    balls = layer.map(as_balls)(as_balls(z))
    for ball, number in zip(balls.ravel(), exact.ravel(), strict=True):
        assert (ball * int(number.q)).contains(int(number.p))


def test_batches_are_run_side_by_side() -> None:
    layer, z = random_layer(0).map(to_float), np.random.default_rng(0).normal(size=(4, 2, 3, D))
    together = layer(z)
    for index in np.ndindex(4, 2):
        np.testing.assert_allclose(together[index], layer(z[index]), rtol=0, atol=1e-12)


def test_heads_are_evaluated_in_chunks() -> None:
    """A family of more numbers than a chunk holds gives what its halves give together."""
    rng = np.random.default_rng(1)
    heads, tokens = 3000, 40
    family = HeadFamily([0], [1], 5, [5], [2], *rng.normal(size=(3, heads)))  # type: ignore[arg-type]
    parts = [
        replace(family, slopes=family.slopes[s], offsets=family.offsets[s], coefficients=family.coefficients[s])
        for s in (slice(0, heads // 2), slice(heads // 2, heads))
    ]
    z = rng.normal(size=(tokens, D))
    together = ReluAttentionLayer((family,), D)(z)
    apart = ReluAttentionLayer(tuple(parts), D)(z)
    np.testing.assert_allclose(together, apart, rtol=1e-10)


@given(SEEDS)
def test_norm_and_parameters_are_those_of_the_matrices(seed: int) -> None:
    """Column-vector convention: the norm of W^T is the largest absolute row sum of W."""
    layer = random_layer(seed)
    heads = [layer.head(number) for number in range(layer.heads)]

    def norm(matrix: np.ndarray) -> Any:
        return max(sum(abs(x) for x in row) for row in matrix.tolist())

    largest = max(max(norm(head.query), norm(head.key)) for head in heads)
    assert layer.norm() == largest + sum(norm(head.value) for head in heads)
    stored = sum(int(np.count_nonzero(m != 0)) for head in heads for m in (head.query, head.key, head.value))
    assert layer.parameters() == stored


def test_norm_of_a_source_that_is_read_twice() -> None:
    family = HeadFamily([0], [1], 5, [3, 3, 4], [0, 1, 2], *as_exact([[1], [0], [-2]]))  # type: ignore[arg-type]
    assert ReluAttentionLayer((family,), 6).norm() == 1 + 2 * 2


def test_blocks_that_are_read_and_written() -> None:
    stream = ResidualStream({"x": 2, "p": 3, "1": 1})
    family = HeadFamily([0, 1], [2, 3], 5, [5], [4], *as_exact([[1], [0], [1]]))  # type: ignore[arg-type]
    layer = ReluAttentionLayer((family,), 6)
    assert layer.reads_from(stream) == ("x", "p", "1")
    assert layer.writes_to(stream) == ("p",)
    assert block_names(stream, [[5], [0]]) == ("x", "1")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"slopes": np.zeros(2)}, "slopes, offsets and coefficients"),
        ({"slopes": np.zeros(0), "offsets": np.zeros(0), "coefficients": np.zeros(0)}, "H >= 1"),
        ({"query": np.array([0, 1])}, "pairs its query with its key"),
        ({"source": np.array([0, 1]), "target": np.array([2, 2])}, "must differ"),
    ],
)
def test_families_that_do_not_fit_are_refused(changes: dict[str, Any], message: str) -> None:
    family = HeadFamily([0], [1], 5, [5], [2], np.ones(1), np.ones(1), np.ones(1))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        replace(family, **changes)


def test_layers_that_do_not_fit_are_refused() -> None:
    family = HeadFamily([0], [1], 5, [5], [2], np.ones(1), np.ones(1), np.ones(1))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one family"):
        ReluAttentionLayer((), 6)
    with pytest.raises(ValueError, match="stream of width 5"):
        ReluAttentionLayer((family,), 5)
    with pytest.raises(ValueError, match=r"heads 0\.\.0, not 1"):
        ReluAttentionLayer((family,), 6).head(1)


def test_a_single_head_divides_by_the_number_of_tokens() -> None:
    one = np.ones((1, 1))
    assert ReluHead(one, one, one)(np.ones((7, 1))).tolist() == [[1.0]] * 7
    assert ReluHead(one, -one, one)(np.ones((7, 1))).tolist() == [[0.0]] * 7
