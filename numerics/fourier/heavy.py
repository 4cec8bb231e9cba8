"""All large Fourier coefficients of a function on {-1, 1}^n, from its values at chosen points only.

The sets T that agree with a on the first j coordinates form a bucket, whose weight is the mean of a product:

    sum_T hat f(T)^2 = E f(u, z) f(v, z) chi_a(u) chi_a(v),    u, v in {-1, 1}^j, z in {-1, 1}^(n-j), all uniform.

The weights of the buckets of one level sum to E f^2 <= 1, so that at most 4/t^2 have weight t^2/4. Level by level,
buckets are split in two, and those whose estimated weight is below t^2/2 are dropped; at level n the weight is
hat f(T)^2 itself.

Source: Kushilevitz and Mansour, as cited in hidden-progress, appendix B.4.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.runs.memory import require_memory


def samples_needed(n: int, threshold: float, delta: float) -> int:
    """The samples for each level after which `heavy_coefficients` is right with probability at least 1 - delta.

    An estimate misses a weight by more than t^2/4 with probability at most 2 exp(-m t^4/32) (Hoeffding); while none
    does, a level examines at most 8/t^2 buckets.

    Raises:
        ValueError: unless 1 <= n <= 62, 0 < t <= 1 and 0 < delta < 1.
    """
    if not 1 <= n <= 62 or not 0 < threshold <= 1 or not 0 < delta < 1:
        raise ValueError(f"1 <= n <= 62, 0 < t <= 1 and 0 < delta < 1 are needed, not {n}, {threshold}, {delta}.")
    return math.ceil(32 / threshold**4 * math.log(2 * n * 8 / threshold**2 / delta))


def heavy_coefficients(
    function: Callable[[NDArray[Any]], ArrayLike],
    n: int,
    threshold: float,
    *,
    delta: float = 0.01,
    rng: np.random.Generator,
) -> list[int]:
    """The sets T, as increasing bit masks, that contain all with |hat f(T)| >= t and none with |hat f(T)| < t/2.

    With probability at least 1 - delta over the samples; it costs O(n log(n/(t delta))/t^4) values of the function.

    Args:
        function: from points of shape (m, n) with entries 1 and -1 to m numbers in [-1, 1].
        n: the number of inputs, at most 62.
        threshold: t, in (0, 1].
        delta: the probability of failure.
        rng: the source of the samples.

    Raises:
        ValueError: if n, t or delta is out of range, the points do not fit in memory (saying how much they need), or
            the function returns other numbers.
    """
    m = samples_needed(n, threshold, delta)
    require_memory(32 * m * n, f"A level of the search, with {m} pairs of points,")
    buckets = [0]
    for level in range(1, n + 1):
        u, v = rng.choice(np.array([-1, 1]), size=(2, m, n))
        v[:, level:] = u[:, level:]
        products = _values(function, u) * _values(function, v)
        signs = u[:, :level] * v[:, :level]
        split = sorted(buckets + [bucket | 1 << (level - 1) for bucket in buckets])
        buckets = [
            bucket
            for bucket in split
            if np.mean(products * signs[:, [i for i in range(level) if bucket >> i & 1]].prod(axis=1))
            >= threshold**2 / 2
        ]
    return buckets


def _values(function: Callable[[NDArray[Any]], ArrayLike], points: NDArray[Any]) -> NDArray[np.float64]:
    values = np.asarray(function(points), dtype=np.float64)
    if values.shape != points.shape[:1] or not np.all(np.abs(values) <= 1):
        raise ValueError(f"The function must return {len(points)} numbers in [-1, 1].")
    return values
