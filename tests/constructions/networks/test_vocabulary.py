"""What the shared vocabulary expresses, row by row of the table of ingredients in the design: each ingredient is built
from the vocabulary and compared with a loop over indices. Weights are small integers, so that integer results of
float64 are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from constructions.networks.affine import Affine
from constructions.networks.head import Head, merged_head
from numerics.exact.balls import as_balls
from numerics.exact.numbers import as_exact, to_float

D = 3
ROUNDING = 1e-12  # a softmax of at most 6 scores below 100 and sums of at most 6 terms below 100: 100 * 100 * 2^-53 * 6


def integers(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-2, 3, size=shape)


def times(row: Any, matrix: Any) -> list[Any]:
    return [sum(row[i] * matrix[i][j] for i in range(len(row))) for j in range(len(matrix[0]))]


def dot(a: Any, b: Any) -> Any:
    return sum(x * y for x, y in zip(a, b, strict=True))


def softmax(scores: Sequence[Any]) -> list[float]:
    weights = [math.exp(float(score)) for score in scores]
    return [weight / math.fsum(weights) for weight in weights]


def hardmax(scores: Sequence[Any]) -> list[Any]:
    best = max(scores)
    return [Fraction(int(score == best), sum(other == best for other in scores)) for score in scores]


def relu_share(scores: Sequence[Any]) -> list[Any]:
    return [Fraction(max(score, 0)) / len(scores) for score in scores]


def attention(
    rows: int,
    score: Callable[[int, int], Any],
    values: Any,
    seen: Callable[[int], Sequence[int]],
    weigh: Callable[[Sequence[Any]], Any] = softmax,
) -> list[list[Any]]:
    """sum_j p_ij v_j for each row i, over the seen j alone, with p_i the weighed scores."""
    result = []
    for i in range(rows):
        places = list(seen(i))
        p = weigh([score(i, j) for j in places])
        result.append([sum(p[a] * values[j][b] for a, j in enumerate(places)) for b in range(len(values[0]))])
    return result


def close(actual: Any, expected: Any) -> bool:
    return bool(np.abs(to_float(actual) - np.array(expected, dtype=float)).max() <= ROUNDING)


def everything(T: int) -> Callable[[int], range]:
    return lambda i: range(T)


def past(i: int) -> range:
    return range(i + 1)


class TestScores:
    """<W_Q h, W_K h'> with or without biases and scaling; one merged matrix; relative keys; free key dimensions."""

    @pytest.mark.parametrize("m", [1, 2, 5])
    @pytest.mark.parametrize("biased", [False, True])
    @pytest.mark.parametrize(("b", "t"), [(1, 1), (3, 1), (1, 2), (2, 4)])
    def test_projected_scores_of_any_key_dimension(self, m: int, biased: bool, b: int, t: int) -> None:
        W, K, V, z = integers(1, D, m), integers(2, D, m), integers(3, D, 2), integers(4, 5, D)
        c, k = (integers(5, m), integers(6, m)) if biased else (np.zeros(m, int), np.zeros(m, int))
        query, key = (Affine(W, c), Affine(K, k)) if biased else (W, K)
        head = Head(query, key, V, sharpness=b, temperature_squared=t, causal=False)  # type: ignore[arg-type]

        def score(i: int, j: int) -> float:
            q, key_of = [times(z[r].tolist(), M.tolist()) for r, M in ((i, W), (j, K))]
            q, key_of = ([x + y for x, y in zip(u, v.tolist(), strict=True)] for u, v in ((q, c), (key_of, k)))
            return b * dot(q, key_of) / math.sqrt(t)

        expected = attention(5, score, (z @ V).tolist(), everything(5))
        assert close(head(z.astype(float)), expected)

    def test_one_merged_matrix(self) -> None:
        """Scores z_i W z_j^T, values the tokens themselves; the identities are no weights, and not trained."""
        W, z = integers(1, D, D), integers(2, 5, D)
        head = merged_head(W, causal=False)
        expected = attention(
            5, lambda i, j: dot(times(z[i].tolist(), W.tolist()), z[j].tolist()), z.tolist(), everything(5)
        )
        assert close(head(z.astype(float)), expected)
        assert close(head.map(as_balls)(as_balls(z)), expected)
        assert (head.count, head.one_norm) == (np.count_nonzero(W), np.abs(W).sum())
        module = head.to_torch()
        assert close(module(torch.tensor(z.astype(float))).detach().numpy(), expected)
        assert [(name, part.tolist()) for name, part in module.named_parameters()] == [("query.weight", W.tolist())]
        assert close(
            merged_head(W, integers(3, D, 2), causal=False)(z.astype(float)), np.array(expected) @ integers(3, D, 2)
        )
        memory = integers(4, 6, 2)  # from a stream of another width
        expected = attention(
            5,
            lambda i, j: dot(times(z[i].tolist(), W[:, :2].tolist()), memory[j].tolist()),
            memory.tolist(),
            everything(6),
        )
        assert close(merged_head(W[:, :2])(z.astype(float), memory.astype(float)), expected)

    def test_relative_keys(self) -> None:
        """The key of the token at distance r has v_r added, nothing beyond the table."""
        W, K, v, z = integers(1, D, 2), integers(2, D, 2), integers(3, 3, 2), integers(4, 6, D)

        def score(i: int, j: int) -> Any:
            key = times(z[j].tolist(), K.tolist())
            if i - j < 3:
                key = [x + y for x, y in zip(key, v[i - j].tolist(), strict=True)]
            return dot(times(z[i].tolist(), W.tolist()), key)

        head = Head(W, K, np.eye(D), relative_keys=v)  # type: ignore[arg-type]
        assert close(head(z.astype(float)), attention(6, score, z.tolist(), past))
        hard = attention(6, score, z.tolist(), past, hardmax)
        exact = Head(W, K, np.eye(D, dtype=int), "hardmax", relative_keys=v)  # type: ignore[arg-type]
        assert (exact(z) == as_exact(hard)).all()

    def test_relative_keys_against_the_kept_keys_of_a_decoder(self) -> None:
        """The last tokens of a sequence score all its keys as in the whole sequence."""
        head = Head(integers(1, D, 2), integers(2, D, 2), np.eye(D), relative_keys=integers(3, 3, 2))  # type: ignore[arg-type]
        z = integers(4, 6, D).astype(float)
        keys = head.key(z)
        whole = head.scores(z, keys)
        module: Any = head.to_torch()
        for count in range(1, 7):
            assert (head.scores(z[-count:], keys) == whole[-count:]).all()
            weights = module.weights(torch.tensor(z[-count:]), torch.tensor(keys)).detach().numpy()
            assert np.abs(weights - head.weights(whole[-count:])).max() <= ROUNDING
