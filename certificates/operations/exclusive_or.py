"""Weights of triples that force the table of the exclusive or from all of its cells but one.

The group is Z_2^k, its elements are the numbers below n = 2^k with the exclusive or as their sum, and a triple
(a, b, d), d != 0, asks whether a + b is preferred to a + b + d in the cell (a, b). There is no midpoint d/2, and none
is needed: where the corners (a, b), (a + d, b) and (a, b + d) have one law, and (a, d), (b, d), (a + b + d, d) are
uniform, every character is paid the maximum margin of the whole table. By `exclusive_or_bounds` nothing else is, for
n >= 8 (ext-T14 of the chapter feature_emergence, proofs/exclusive-or.md).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.triangles import WaveBounds

__all__ = ["exclusive_or_bounds", "exclusive_or_weights"]


def exclusive_or_weights(n: int) -> NDArray[np.int64]:
    """The integers (n - 2)(n - 3) n q(a, b, d), shape (n, n, n), 0 for d = 0, where the cell (0, 0) is missing.

    They are divided by n (n - 1)(n - 2)(n - 3) to have the sum 1. For the missing cell (x, y) take them at
    (a + x, b + y, d). Source: ext-T14.

    Raises:
        ValueError: unless n is 4, 8, 16, ...
    """
    _checked(n, 4)
    a, b, d = np.ogrid[:n, :n, :n]
    shared = (a == 0).astype(np.int64) + (b == 0) + (a ^ b == d)
    single = (a == d).astype(np.int64) + (b == d) + (a == b)
    excluded = ((a == 0) | (a == d)) & (b == 0) | (a == 0) & (b == d)
    found = np.where(excluded | (d == 0), 0, n - 5 + 2 * shared + single)
    return found.astype(np.int64)


def exclusive_or_bounds(n: int) -> WaveBounds:
    """The constants of the proof, exactly; enough for every n >= 8.

    Raises:
        ValueError: unless n is 8, 16, 32, ...
    """
    _checked(n, 8)
    return WaveBounds.of(n - 1, Fraction(1, n - 2), Fraction(n - 4, (n - 2) * (n - 3)))


def _checked(n: int, least: int) -> None:
    if n < least or n & (n - 1):
        raise ValueError(f"The order of Z_2^k must be a power of 2, at least {least}, not {n}.")
