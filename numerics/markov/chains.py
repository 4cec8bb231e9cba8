"""Random Markov chains and sequences drawn from them: the data of in-context learning of Markov chains.

A chain of order n - 1 on k states is an array of shape (k^(n-1), k): row u holds the law of the next symbol after the
context u. The context (x_{s-n+1}, ..., x_{s-1}), with symbols 1, ..., k, has the number
sum_m (x_{s-m} - 1) k^(m-1), so the most recent symbol is the fastest digit; for n = 2 row i - 1 is the law after the
symbol i. Batches of chains have a further axis in front. Source: section 8.2.1 of the dissertation.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.markov.predictors import as_prior
from lemmata.numerics.runs.memory import require_memory

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LARGEST_DOUBLY_STOCHASTIC = 4
_ROWS_PER_DRAW = 1 << 20


def as_chains(chains: ArrayLike) -> FloatArray:
    """The transition matrices as float64, checked.

    Args:
        chains: (..., k^(n-1), k) with n >= 2; rows are probability vectors.

    Raises:
        ValueError: if the shape is no chain of any order, an entry is negative or not finite, or a row does not sum to
            one; the message names the first such row.
    """
    P = np.asarray(chains, dtype=np.float64)
    if P.ndim < 2 or P.shape[-1] < 1 or _order(P.shape[-2], P.shape[-1]) == 0:
        raise ValueError(
            f"The shape {P.shape} is no batch of Markov chains: the last two axes must have lengths k^(n-1) and k for "
            "some n >= 2, with one row for each context."
        )
    bad = np.argwhere(~(np.isfinite(P) & (P >= 0)))
    if len(bad):
        raise ValueError(f"Entry {bad[0].tolist()} of the chains is {P[tuple(bad[0])]}: probabilities are >= 0.")
    # A row of k floats that was rounded entry by entry and summed in float64 is off by at most about k ulp of 1.
    sums = P.sum(axis=-1)
    bad = np.argwhere(np.abs(sums - 1) > 4 * P.shape[-1] * np.finfo(np.float64).eps)
    if len(bad):
        raise ValueError(
            f"Row {bad[0].tolist()} of the chains sums to {sums[tuple(bad[0])]}: every row must sum to one."
        )
    return P


def _order(contexts: int, k: int) -> int:
    """The order n - 1 such that contexts = k^(n-1), or 0 if there is none; for k = 1 the only chain has order 1."""
    order, power = 1, k
    while power < contexts and k > 1:
        order, power = order + 1, power * k
    return order if power == contexts else 0


def dirichlet_chains(k: int, size: int, rng: np.random.Generator, prior: ArrayLike = 1.0, n: int = 2) -> FloatArray:
    """Random chains whose rows are independent Dirichlet(prior) vectors; prior 1 is uniform on the simplex.

    Args:
        k: number of states.
        size: number of chains.
        rng: source of randomness.
        prior: (k,) concentration parameters, or a number for all of them.
        n: the next symbol depends on n - 1 symbols.

    Returns:
        (size, k^(n-1), k).

    Raises:
        ValueError: if k and size are no integers >= 1 or n none >= 2, a parameter of the prior is not positive, or the
            size k^n entries do not fit into the memory.
    """
    _check_size(k, size)
    n = checked_integer("The length n of an n-gram", n, 2)
    require_memory(8 * size * k**n, f"A batch of {size} chains of {n}-grams on {k} states")
    return rng.dirichlet(as_prior(prior, k), size=(size, k ** (n - 1)))


def shared_row_chains(k: int, size: int, rng: np.random.Generator, prior: ArrayLike = 1.0) -> FloatArray:
    """Random chains (size, k, k) whose rows are all equal to one Dirichlet(prior) vector: independent symbols.

    Raises:
        ValueError: as `dirichlet_chains`.
    """
    _check_size(k, size)
    rows = rng.dirichlet(as_prior(prior, k), size=(size, 1))
    return np.repeat(rows, k, axis=1)


def doubly_stochastic_chains(k: int, size: int, rng: np.random.Generator) -> FloatArray:
    """Random doubly stochastic matrices (size, k, k), uniform on their polytope; for k = 2 the symmetric chains a = b.

    Rejection: the first k - 1 rows are independent and uniform on the simplex, and are kept if no column exceeds one,
    so that the last row can complete them. The share that is kept is 1, 1/2 and 22/105 for k = 2, 3, 4.

    Raises:
        ValueError: if k is not 2, 3 or 4, or size < 1.
    """
    _check_size(k, size)
    if not 2 <= k <= LARGEST_DOUBLY_STOCHASTIC:
        raise ValueError(
            f"k = {k}: uniform doubly stochastic matrices are drawn by rejection, for k = 2, 3 and "
            f"{LARGEST_DOUBLY_STOCHASTIC} only (for larger k almost every draw is rejected)."
        )
    kept, found = [], 0
    draws = min(_ROWS_PER_DRAW, 8 * size)
    while found < size:
        rows = rng.dirichlet(np.ones(k), size=(draws, k - 1))
        last_row = 1 - rows.sum(axis=1)
        good = (last_row >= 0).all(axis=1)
        kept.append(np.concatenate([rows[good], last_row[good, None, :]], axis=1))
        found += len(kept[-1])
    return np.concatenate(kept)[:size]


def stationary_law(chains: ArrayLike) -> FloatArray:
    """The stationary law over contexts: (..., k^(n-1)) for chains (..., k^(n-1), k).

    For n > 2 this is the stationary law of the chain of contexts. It is unique if all entries are positive, which
    holds almost surely for Dirichlet rows. The closed form for k = n = 2 has full relative precision; else the error is
    about 2^-53 over the distance of the chain from one with several stationary laws.

    Raises:
        ValueError: if the argument is no batch of chains, or the stationary law of some chain is not unique.
    """
    P = as_chains(chains)
    contexts, k = P.shape[-2:]
    if contexts == k == 2:
        U, V = P[..., 0, 1], P[..., 1, 0]
        total = U + V
        _refuse(total == 0)
        return np.stack([V / total, U / total], axis=-1)
    steps = np.zeros((*P.shape[:-2], contexts, contexts))
    for j in range(k):
        steps[..., np.arange(contexts), (np.arange(contexts) * k + j) % contexts] += P[..., j]
    system = np.swapaxes(steps, -1, -2) - np.eye(contexts)
    system[..., -1, :] = 1.0  # one balance equation follows from the others: put the normalisation in its place
    # steps with probabilities of at least c bring any two laws together by the factor 1 - c contexts, so that the law
    # is unique, and far from being ambiguous where that is at most 1 - 1e-8; singular values decide the other chains
    if contexts * steps.min() < 1e-8:
        _refuse(np.linalg.matrix_rank(system) < contexts)
    right = np.zeros((*P.shape[:-2], contexts, 1))
    right[..., -1, 0] = 1.0
    return np.asarray(np.linalg.solve(system, right)[..., 0], dtype=np.float64)


def _refuse(singular: NDArray[np.bool_] | np.bool_) -> None:
    bad = np.argwhere(singular)
    if len(bad):
        raise ValueError(
            f"Chain {bad[0].tolist()} has more than one stationary law: it must have exactly one recurrent class."
        )


def sample_sequences(
    chains: ArrayLike, length: int, rng: np.random.Generator, start: str | ArrayLike = "stationary"
) -> IntArray:
    """A random sequence of symbols 1, ..., k from every chain.

    The first n - 1 symbols are a context drawn from `start`; the rest follows the chain.

    Args:
        chains: (B, k^(n-1), k).
        length: number of symbols; a loss at position t needs t + 1 of them.
        rng: source of randomness.
        start: "stationary", "uniform", or a law over the contexts, (k^(n-1),) or (B, k^(n-1)).

    Returns:
        (B, length) integers.

    Raises:
        ValueError: if the chains are not (B, k^(n-1), k) with rows that sum to one, the length is < 1, or the start is
            unknown or no law over the contexts.
    """
    P = as_chains(chains)
    if P.ndim != 3:
        raise ValueError(f"The chains have shape {P.shape}: give a batch of shape (B, k^(n-1), k).")
    length = checked_integer("The length of a sequence", length, 1)
    size, contexts, k = P.shape
    first = _start(P, start)
    order = _order(contexts, k)
    return _sample(np.cumsum(P, axis=2), np.cumsum(first, axis=1), rng.random((size, length + 1)), order, length)


def _start(P: FloatArray, start: str | ArrayLike) -> FloatArray:
    size, contexts, _ = P.shape
    if isinstance(start, str):
        if start == "stationary":
            return stationary_law(P)
        if start == "uniform":
            return np.full((size, contexts), 1 / contexts)
        raise ValueError(f"Unknown start {start!r}: give 'stationary', 'uniform', or a law over the contexts.")
    law = np.asarray(start, dtype=np.float64)
    if law.shape not in ((contexts,), (size, contexts)):
        raise ValueError(f"The start has shape {law.shape}: it must be ({contexts},) or ({size}, {contexts}).")
    eps = 4 * contexts * np.finfo(np.float64).eps
    if not (np.all(law >= 0) and np.all(np.abs(law.sum(axis=-1) - 1) <= eps)):
        raise ValueError("The start is no law over the contexts: its entries must be >= 0 and sum to one.")
    return np.broadcast_to(law, (size, contexts))


def _check_size(k: int, size: int) -> None:
    checked_integer("The number of states k", k, 1)
    checked_integer("The number of chains", size, 1)


@njit(cache=True, nogil=True)
def _sample(rows: FloatArray, first: FloatArray, uniforms: FloatArray, order: int, length: int) -> IntArray:
    """The symbols by inversion; `rows` and `first` are cumulative sums, whose last entry is taken as 1."""
    size, contexts, k = rows.shape
    x = np.empty((size, length), np.int64)
    for b in range(size):
        context = 0
        while context < contexts - 1 and uniforms[b, 0] >= first[b, context]:
            context += 1
        rest = context
        for s in range(order - 1, -1, -1):
            if s < length:
                x[b, s] = rest % k + 1
            rest //= k
        for s in range(order, length):
            symbol = 0
            while symbol < k - 1 and uniforms[b, s + 1] >= rows[b, context, symbol]:
                symbol += 1
            x[b, s] = symbol + 1
            context = (context * k + symbol) % contexts
    return x
