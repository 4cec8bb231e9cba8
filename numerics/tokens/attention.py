"""Softmax attention over long sequences, in float64, without the matrix of all scores.

out_i = sum_j softmax_j(<q_i, k_j>) v_j. The keys are taken in tiles; for every query a kernel keeps the largest score
so far, the sum of the weights relative to it, and the weighted sum of the values, and rescales both when a larger score
comes (the online softmax of Milakov and Gimelshein). A sequence of N tokens takes memory of order N instead of N^2.

Most of the time goes into exponentials. They are computed by a series on [-log(2)/2, log(2)/2] after a reduction by
powers of two, without a branch, so that the compiler can take several at a time; arguments below -700 give 0 (a share
that no sum of float64 numbers notices).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.systems import require_finite
from lemmata.numerics.tokens.prompts import MEMORY, require_memory

__all__ = ["blocked_attention"]

_QUERIES, _KEYS = 64, 512
"""Queries and keys of a tile: 256 KiB of scores."""


def blocked_attention(queries: ArrayLike, keys: ArrayLike, values: ArrayLike) -> NDArray[np.float64]:
    """The outputs of one head, shape (M, e).

    Args:
        queries: shape (M, m), with every factor on the scores in them.
        keys: shape (N, m).
        values: shape (N, e).

    Raises:
        ValueError: for shapes that do not fit, numbers that are not finite, scores that overflow, or outputs beyond
            memory.
    """
    q, k, v = (np.ascontiguousarray(part, dtype=np.float64) for part in (queries, keys, values))
    if {part.ndim for part in (q, k, v)} != {2} or q.shape[1] != k.shape[1] or len(k) != len(v) or not k.size:
        raise ValueError(
            "Attention has queries (M, m), keys (N, m) and values (N, e), not arrays of the shapes "
            f"{q.shape}, {k.shape}, {v.shape}."
        )
    for name, part in (("queries", q), ("keys", k), ("values", v)):
        require_finite(name, part)
    largest = np.abs(q).max(initial=0.0) * np.abs(k).max() * k.shape[1]
    if not largest < 1e300:
        raise ValueError("Scores overflow float64: choose smaller queries or keys.")
    require_memory("The outputs of attention", (len(q), v.shape[1]), MEMORY)
    return _attend(q, k, v)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"}, error_model="numpy")
def _exponentials(x, shift, bits, powers):  # type: ignore[no-untyped-def]
    """exp(x - shift) in place of x, and the sum of them; x <= shift. `powers` is `bits` seen as float64."""
    total = 0.0
    for j in range(len(x)):
        y = x[j] - shift
        y = y if y > -700.0 else -700.0
        n = np.floor(y * 1.4426950408889634 + 0.5)
        bits[j] = (np.int64(n) + 1023) << 52  # the float64 number 2^n
        r = (y - n * 6.93145751953125e-1) - n * 1.42860682030941723212e-6
        series = 1.0
        for k in range(13, 0, -1):  # |r| <= log(2)/2: the remainder is below 2^-53
            series = 1.0 + r * series / k
        x[j] = series if y > -700.0 else 0.0
    for j in range(len(x)):
        x[j] *= powers[j]
        total += x[j]
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "nnan"})
def _largest(x, top):  # type: ignore[no-untyped-def]
    for j in range(len(x)):
        top = max(top, x[j])
    return top


@njit(cache=True, nogil=True)
def _attend(queries, keys, values):  # type: ignore[no-untyped-def]
    M, N, e = len(queries), len(keys), values.shape[1]
    result = np.empty((M, e))
    bits = np.empty(_KEYS, dtype=np.int64)
    powers = bits.view(np.float64)
    for start in range(0, M, _QUERIES):
        q = queries[start : start + _QUERIES]
        rows = len(q)
        best = np.full(rows, -np.inf)
        total = np.zeros(rows)
        mixed = np.zeros((rows, e))
        for first in range(0, N, _KEYS):
            scores = np.dot(q, keys[first : first + _KEYS].T)
            for i in range(rows):
                top = _largest(scores[i], best[i])
                factor = np.exp(best[i] - top)
                best[i] = top
                total[i] = total[i] * factor + _exponentials(scores[i], top, bits, powers)
                mixed[i] *= factor
            mixed += np.dot(scores, values[first : first + _KEYS])
        for i in range(rows):
            result[start + i] = mixed[i] / total[i]
    return result
