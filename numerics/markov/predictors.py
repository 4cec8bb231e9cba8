"""Predictors of the next symbol of a Markov chain from counts in its context, at every position of a batch.

Sequences are integer arrays with symbols 1, ..., k, of shape (t,) or (B, t). A predictor returns, at every position p,
its law of x_{p+1} given x_1, ..., x_p, as float64 of shape (t, k) or (B, t, k):

    uniform   1/k
    unigram   (n_j + alpha_j) / (p + sum alpha),       n_j = number of j among x_1, ..., x_p
    n-gram    (c_uj + alpha_j) / (N_u + sum alpha),    u = (x_{p-n+2}, ..., x_p), c_uj = number of j after u before,
                                                       N_u = sum_j c_uj
    bigram    the n-gram with n = 2, formula (8.3) of the dissertation with the denominator corrected

An n-gram predictor gives the mean of its prior while p < n - 1. For integer parameters numerator and denominator are
exact, so every probability is correctly rounded. Each predictor is one serial pass in a Numba kernel. The Bayes
predictor of the chain with stationary start is in `lemmata.numerics.markov.bayes`.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.integers import checked_integer

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MOST_GRAMS = 1 << 24
"""The largest k^n: counts of all n-grams are kept for one sequence at a time."""

_Scalar = TypeVar("_Scalar", bound=np.generic)


def as_sequences(x: ArrayLike, k: int) -> IntArray:
    """A batch of sequences, (B, t), from integers of shape (t,) or (B, t).

    Raises:
        ValueError: if k is no integer >= 1, the shape is another one or empty (t = 0), the dtype is no integer, or a
            symbol is not among 1, ..., k; the message names the first such position.
    """
    values = np.asarray(x)
    k = checked_integer("The number of states k", k, 1)
    if values.ndim not in (1, 2):
        raise ValueError(f"The shape {values.shape} is no batch of sequences: give (t,) or (B, t).")
    if values.size == 0:
        raise ValueError(f"The shape {values.shape} has no symbol: a context needs t >= 1 (and a batch B >= 1).")
    if values.dtype.kind not in "iu":
        raise ValueError(f"Symbols are the integers 1, ..., {k}, not values of type {values.dtype}.")
    if values.min() < 1 or values.max() > k:
        where = np.argwhere((values < 1) | (values > k))[0]
        raise ValueError(f"The symbol at {where.tolist()} is {values[tuple(where)]}: symbols are 1, ..., {k}.")
    return np.ascontiguousarray(np.atleast_2d(values), dtype=np.int64)


def as_prior(prior: ArrayLike, k: int) -> FloatArray:
    """The k concentration parameters of a Dirichlet law, from one number for all or from k numbers.

    Raises:
        ValueError: if there are neither 1 nor k parameters, or one is not a positive finite number.
    """
    alpha = np.asarray(prior, dtype=np.float64)
    if alpha.shape not in ((), (k,)):
        raise ValueError(f"The prior has shape {alpha.shape}: give one number, or one for each of the {k} symbols.")
    if not np.all(np.isfinite(alpha) & (alpha > 0)):
        raise ValueError(f"The prior {alpha.tolist()} is no Dirichlet law: all parameters must be positive and finite.")
    return np.broadcast_to(alpha, (k,)).copy()


def uniform(x: ArrayLike, k: int) -> FloatArray:
    """The law 1/k at every position; shapes and errors as in the module docstring and `as_sequences`."""
    return _shaped(x, np.full((*as_sequences(x, k).shape, k), 1 / k))


def unigram(x: ArrayLike, k: int, prior: ArrayLike = 1.0) -> FloatArray:
    """The add-alpha frequencies of the symbols so far, the current one included; add-one by default.

    This is the Bayes predictor of independent symbols whose common law is Dirichlet(prior).

    Raises:
        ValueError: as `as_sequences` and `as_prior`.
    """
    return _shaped(x, _unigram(as_sequences(x, k), as_prior(prior, k)))


def bigram(x: ArrayLike, k: int, prior: ArrayLike = 1.0) -> FloatArray:
    """The posterior mean of the current row: the n-gram predictor with n = 2.

    This is the Bayes predictor of chains with Dirichlet(prior) rows if the law of x_1 does not depend on the chain.

    Raises:
        ValueError: as `as_sequences` and `as_prior`.
    """
    return ngram(x, k, 2, prior)


def ngram(x: ArrayLike, k: int, n: int, prior: ArrayLike = 1.0) -> FloatArray:
    """The posterior mean of the law after the last n - 1 symbols; n = 1 is the unigram predictor.

    Raises:
        ValueError: as `as_sequences` and `as_prior`, or if n is no integer >= 1, or k^n exceeds 2^24.
    """
    sequences, alpha = as_sequences(x, k), as_prior(prior, k)
    _check_order(k, n)
    if n == 1:
        return _shaped(x, _unigram(sequences, alpha))
    return _shaped(x, _ngram(sequences, alpha, n - 1, k ** (n - 1)))


def ngram_counts(x: ArrayLike, k: int, n: int = 2) -> IntArray:
    """The number of occurrences of every n-gram.

    Returns:
        (k^(n-1), k) for one sequence and (B, k^(n-1), k) for a batch; entry (u, j - 1) counts the symbol j after the
        context number u (`lemmata.numerics.markov.chains`); for n = 2 row i - 1 belongs to the symbol i.

    Raises:
        ValueError: as `as_sequences`, or if n is no integer >= 1, or k^n exceeds 2^24.
    """
    sequences = as_sequences(x, k)
    _check_order(k, n)
    return _shaped(x, _counts(sequences, n, k))


def kl_divergence(p: ArrayLike, q: ArrayLike) -> FloatArray:
    """The divergence sum_j p_j ln(p_j / q_j) in nats along the last axis: 0 ln 0 = 0, and infinite where q_j = 0 < p_j.

    Args:
        p: probability vectors along the last axis; the other axes broadcast.
        q: likewise.

    Raises:
        ValueError: if an entry is negative or not a number, or a vector does not sum to one.
    """
    P, Q = np.broadcast_arrays(np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64))
    for name, values in (("first", P), ("second", Q)):
        # both laws may be quotients of sums of k terms, each off by an ulp or two: 8 k ulp leaves room for these
        sums = values.sum(axis=-1)
        if np.any(~(values >= 0)) or np.any(~(np.abs(sums - 1) <= 8 * values.shape[-1] * np.finfo(np.float64).eps)):
            raise ValueError(f"The {name} argument is no array of probability vectors: entries >= 0 that sum to one.")
    ratio = np.divide(P, Q, out=np.where(P > 0, np.inf, 1.0), where=(Q > 0) & (P > 0))
    return np.sum(P * np.log(ratio), axis=-1)


def _check_order(k: int, n: int) -> None:
    n = checked_integer("The length n of an n-gram", n, 1)
    if int(k) ** n > MOST_GRAMS:
        raise ValueError(f"There are {k}^{n} different {n}-grams: the tables of counts hold at most {MOST_GRAMS}.")


def _shaped(x: ArrayLike, result: NDArray[_Scalar]) -> NDArray[_Scalar]:
    """The result for a batch, without the axis of the batch if x is a single sequence."""
    return result[0] if np.ndim(x) == 1 else result


@njit(cache=True, nogil=True)
def _unigram(x: IntArray, alpha: FloatArray) -> FloatArray:
    size, t = x.shape
    k = alpha.shape[0]
    out = np.empty((size, t, k))
    mass, weights = alpha.sum(), np.empty(k)
    for b in range(size):
        for j in range(k):  # slices would compile their error messages, which takes seconds
            weights[j] = alpha[j]
        for p in range(t):
            weights[x[b, p] - 1] += 1.0
            total = mass + (p + 1)
            for j in range(k):
                out[b, p, j] = weights[j] / total
    return out


@njit(cache=True, nogil=True)
def _ngram(x: IntArray, alpha: FloatArray, order: int, contexts: int) -> FloatArray:
    size, t = x.shape
    k = alpha.shape[0]
    out = np.empty((size, t, k))
    mass = alpha.sum()
    weights, totals = np.empty((contexts, k)), np.empty(contexts)
    for b in range(size):
        for c in range(contexts):
            totals[c] = mass
            for j in range(k):
                weights[c, j] = alpha[j]
        context = 0
        for p in range(t):
            symbol = x[b, p] - 1
            if p >= order:
                weights[context, symbol] += 1.0
                totals[context] += 1.0
            context = (context * k + symbol) % contexts
            if p >= order - 1:
                for j in range(k):
                    out[b, p, j] = weights[context, j] / totals[context]
            else:
                for j in range(k):
                    out[b, p, j] = alpha[j] / mass
    return out


@njit(cache=True, nogil=True)
def _counts(x: IntArray, n: int, k: int) -> IntArray:
    size, t = x.shape
    contexts = k ** (n - 1)
    counts = np.zeros((size, contexts, k), np.int64)
    for b in range(size):
        context = 0
        for p in range(t):
            symbol = x[b, p] - 1
            if p >= n - 1:
                counts[b, context, symbol] += 1
            context = (context * k + symbol) % contexts
    return counts
