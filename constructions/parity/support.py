"""The support of a parity: the k of n inputs whose signs are multiplied."""

from __future__ import annotations

import operator
from collections.abc import Iterable

__all__ = ["Support", "checked_support"]

Support = int | Iterable[int]
"""Distinct indices in 0..n-1, or the integer k, which stands for 0..k-1."""


def checked_support(n: int, support: Support) -> list[int]:
    """The indices of the support in the given order.

    Raises:
        ValueError: if k < 1, k > n, or the support repeats an index or leaves 0..n-1.
    """
    if isinstance(support, Iterable):
        indices = [operator.index(i) for i in support]
    else:
        indices = list(range(operator.index(support)))
    k = len(indices)
    if k < 1 or k > n:
        raise ValueError(f"The parity must be taken of 1 <= k <= n inputs, but k = {k} and n = {n}.")
    outside = [i for i in indices if not 0 <= i < n]
    if outside:
        raise ValueError(f"The support must lie in 0..{n - 1}, but it contains {outside}.")
    if len(set(indices)) < k:
        repeated = sorted({i for i in indices if indices.count(i) > 1})
        raise ValueError(f"The support must not repeat an index, but it repeats {repeated}.")
    return indices
