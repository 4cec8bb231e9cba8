"""Plain NumPy twins of the predictors of Markov chains in context, and an integral by expansion.

They share no code with `lemmata.numerics.markov`, which they judge; exact evidences, which statements need too, are in
`lemmata.numerics.markov.enumeration`.
"""

from math import comb

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


def unit_integral(staying: int, leaving: int) -> fmpq:
    """The integral of (1-U)^staying U^leaving over (0, 1), by expansion of the polynomial."""
    return sum((fmpq((-1) ** i * comb(staying, i), leaving + i + 1) for i in range(staying + 1)), fmpq(0))


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
