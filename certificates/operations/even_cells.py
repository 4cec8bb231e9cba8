"""Weights in closed form that force an addition table of even order from all of its cells but one.

A triple (a, b, d), d != 0, is the question "is a + b preferred to a + b + d in the cell (a, b)". Where d is no double,
the lines of the three corners are enough; where it is one, terms in place of midpoints, which need not exist, and terms
of the subgroup of doubles are added (ext-T19 of the chapter feature_emergence, proofs/even-order-one-cell.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.triangles import WaveBounds, group_elements

__all__ = ["EvenCellWeights", "even_cell_weights", "even_wave_bounds"]

ROOT_BELOW, ROOT_ABOVE = Fraction(1393, 985), Fraction(577, 408)
"""Convergents of sqrt(2)."""


@dataclass(frozen=True, eq=False)
class EvenCellWeights:
    """The weights (x + y sqrt(2)) / scale, whose sum is n^2 (r - 1 + sqrt(2) (n - r)).

    Attributes:
        whole, root: x and y, shape (n, n, n), indices a, b, d; 0 for d = 0.
        scale: the integer that all are multiplied by.
    """

    whole: NDArray[np.int64]
    root: NDArray[np.int64]
    scale: int

    def values(self) -> NDArray[np.float64]:
        """The weights, rounded."""
        return (self.whole + np.sqrt(2) * self.root) / self.scale


def even_cell_weights(orders: Sequence[int]) -> EvenCellWeights:
    """The weights of ext-T19 where the cell (0, 0) is missing; for the cell (x, y) take them at (a - x, b - y, d).

    Raises:
        ValueError: as `group_elements`, for a group of odd order, for Z_2^k, and where one of n - r - 2 and n - r - 4
            is not positive.
    """
    e, sizes = group_elements(orders), np.array(orders)
    n, r = len(e), 2 ** sum(m % 2 == 0 for m in orders)
    if r == 1 or set(orders) == {2} or n - r <= 4:
        raise ValueError(f"These weights are for even orders and n - r > 4, not for the factors {list(orders)}.")
    P, Z = (n - r - 2) * (n - r - 4), n * n - 6 * n + 6 + r
    scale = P * Z

    def in_doubles(x: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.all((x % 2 == 0) | (sizes % 2 == 1), axis=-1)

    steps = np.array([prod(orders[i + 1 :]) for i in range(len(orders))])
    numbers = np.arange(n)
    a, b, d = (x.ravel() for x in np.meshgrid(numbers, numbers, numbers[1:], indexing="ij"))
    c = (-(e[a] + e[b] + e[d]) % sizes) @ steps
    three, minus, twice = (a, b, c), (-e % sizes @ steps)[d], (2 * e) % sizes @ steps
    pairs = ((0, 1), (0, 2), (1, 2))

    def count(*conditions: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.stack(conditions).sum(axis=0, dtype=np.int64)

    zero = [x == 0 for x in three]
    half = [twice[x] == minus for x in three]
    n1, n2, n3 = count(*zero), count(*half), count(*(x == minus for x in three))
    n4 = count(*(three[i] == three[j] for i, j in pairs))
    near = count(*(in_doubles(e[three[i]] - e[three[j]]) for i, j in pairs))
    middle = count(*(zero[k] & half[(k + 1) % 3] & half[(k + 2) % 3] for k in range(3)))
    g = count(*(in_doubles(e[x]) for x in three))
    h = (g == 3).astype(np.int64)

    # x and y of x + y sqrt(2): of tau, and of alpha / n^2 and beta / n^2, all times the scale
    taus = scale * (1 - r), scale * r
    alphas = Z * (1 - r) + (r - 1) * (r - 2), Z * r
    betas = P, 0
    parts = []
    for tau, alpha, beta in zip(taus, alphas, betas, strict=True):
        eta = n // r * (alpha + (r - 1) * beta)  # over n
        inner = tau - n * eta * middle + 2 * eta * n2 - 8 * alpha - (6 * r - 2) * beta
        inner += n * ((2 * alpha + r * beta) * n1 + alpha * (n3 + n4) + r * (alpha - beta) * n1 * h)
        inner -= r * ((2 * alpha - beta) * g + r * (alpha - beta) * h)
        outer = beta * (n * n - 6 * n + r + n * (2 * n1 + n3 + n4) - r * near)
        parts.append(np.where(n1 == 2, 0, np.where(in_doubles(e[d]), inner, outer)))
    whole, root = (np.pad(x.reshape(n, n, n - 1), ((0, 0), (0, 0), (1, 0))) for x in parts)
    return EvenCellWeights(whole, root, scale)


def even_wave_bounds(n: int, real: int) -> WaveBounds:
    """The constants for an abelian group of even order n with so many real characters, with rational bounds of sqrt(2).

    Raises:
        ValueError: for an order and a number that do not fit, and n - real <= 4.
    """
    if real < 2 or real & (real - 1) or n % real or n - real <= 4:
        raise ValueError(f"There are no bounds for the order {n} and {real} real characters.")
    share = Fraction(n - 4, n * n - 6 * n + 6 + real)
    # sqrt(2) (share + (sqrt(2) - 1 + 2 share) / (n - r - 2))
    mixed = ROOT_ABOVE * share + (2 - ROOT_BELOW + 2 * ROOT_ABOVE * share) / (n - real - 2)
    return WaveBounds.of((n + real - 2) // 2, mixed, mixed)
