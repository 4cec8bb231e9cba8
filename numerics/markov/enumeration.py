"""Oracles for the Markov-chain predictors: all sequences, exact evidences, and plain NumPy twins.

Nothing here shares code with `lemmata.numerics.markov.predictors`, `lemmata.numerics.markov.chains` or
`lemmata.numerics.markov.bayes`, which it is meant to judge. Exact numbers are `fmpq`, and elements q + r ln 2 of
`lemmata.numerics.exact.log_two` where the start is stationary.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise, product
from math import comb

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.log_two import LogTwo
from lemmata.numerics.markov.flat import flat_average

FloatArray = NDArray[np.float64]


def all_sequences(k: int, t: int) -> list[tuple[int, ...]]:
    """The k^t sequences of t symbols 1, ..., k."""
    return list(product(range(1, k + 1), repeat=t))


def transitions(x: Sequence[int], k: int) -> list[list[int]]:
    """The numbers c[i - 1][j - 1] of steps from i to j."""
    steps = list(pairwise(x))
    return [[steps.count((i, j)) for j in range(1, k + 1)] for i in range(1, k + 1)]


def dirichlet_moment(powers: Sequence[int], prior: Sequence[int | fmpq]) -> fmpq:
    """The moment E[prod_j p_j^powers_j] for p ~ Dirichlet(prior), exactly.

    It is prod_j alpha_j^(rising powers_j) / |alpha|^(rising sum).
    """
    total, result, done = sum((fmpq(a) for a in prior), fmpq(0)), fmpq(1), 0
    for power, alpha in zip(powers, prior, strict=True):
        for i in range(power):
            result *= (alpha + i) / (total + done)
            done += 1
    return result


def independent_start_evidence(x: Sequence[int], prior: Sequence[int | fmpq]) -> fmpq:
    """The evidence P(x_2, ..., x_t | x_1) for independent Dirichlet(prior) rows that do not influence x_1."""
    result = fmpq(1)
    for row in transitions(x, len(prior)):
        result *= dirichlet_moment(row, prior)
    return result


def unit_integral(staying: int, leaving: int) -> fmpq:
    """The integral of (1-U)^staying U^leaving over (0, 1), by expansion of the polynomial."""
    return sum((fmpq((-1) ** i * comb(staying, i), leaving + i + 1) for i in range(staying + 1)), fmpq(0))


@cache
def two_state_evidence(n11: int, n12: int, n21: int, n22: int, first: int) -> LogTwo:
    """The average E[(1-U)^n11 U^n12 V^n21 (1-V)^n22 pi_first], with pi = (V, U)/(U + V), by expansion."""
    numerator = {
        (n12 + i + (first == 2), n21 + l + (first == 1)): (-1) ** (i + l) * comb(n11, i) * comb(n22, l)
        for i in range(n11 + 1)
        for l in range(n22 + 1)
    }
    return flat_average(numerator, 1)


def stationary_evidence(x: Sequence[int]) -> LogTwo:
    """The probability of a sequence over {1, 2} for the flat prior and stationary start."""
    (n11, n12), (n21, n22) = transitions(x, 2)
    return two_state_evidence(n11, n12, n21, n22, x[0])


def numpy_uniform(x: ArrayLike, k: int) -> FloatArray:
    """The law 1/k at every position."""
    return np.ones((*np.shape(x), k)) / k


def numpy_unigram(x: ArrayLike, k: int, prior: ArrayLike = 1.0) -> FloatArray:
    """The add-alpha frequencies by cumulative sums of one-hot symbols, (B, t) to (B, t, k)."""
    one_hot = np.asarray(x)[..., None] == np.arange(1, k + 1)
    weights = np.cumsum(one_hot, axis=1) + np.broadcast_to(prior, k)
    return weights / weights.sum(axis=2, keepdims=True)


def numpy_ngram(x: ArrayLike, k: int, n: int, prior: ArrayLike = 1.0) -> FloatArray:
    """The n-gram predictor, n >= 2, by cumulative sums of one-hot n-grams, (B, t) to (B, t, k)."""
    x = np.asarray(x)
    size, t = x.shape
    alpha = np.broadcast_to(prior, k)
    out = np.broadcast_to(alpha / alpha.sum(), (size, t, k)).copy()
    windows = np.lib.stride_tricks.sliding_window_view(x, n - 1, axis=1) if t >= n - 1 else np.empty((size, 0, n - 1))
    contexts = ((windows - 1) @ k ** np.arange(n - 2, -1, -1)).astype(np.int64)  # (size, t - n + 2)
    now = contexts.shape[1]
    if now > 0:
        grams = np.zeros((size, now, k ** (n - 1), k))
        rows, places = np.indices((size, now - 1))
        grams[rows, places + 1, contexts[:, :-1], x[:, n - 1 :] - 1] = 1.0
        weights = np.cumsum(grams, axis=1)[(*np.indices((size, now)), contexts)] + alpha
        out[:, n - 2 :] = weights / weights.sum(axis=2, keepdims=True)
    return out


def numpy_kl(p: FloatArray, q: FloatArray) -> FloatArray:
    """The divergence sum p ln(p/q) along the last axis, for positive vectors."""
    return np.einsum("...j,...j->...", p, np.log(p) - np.log(q))
