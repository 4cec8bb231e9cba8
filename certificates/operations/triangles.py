"""Weights of triangles that force a whole addition table from all of its cells but one.

For a finite abelian group G of odd order n a triple (a, b, d), d != 0, is the question "is a + b preferred to
a + b + d in the cell (a, b)". It is a triangle with the corners (a, b), (a + d, b), (a, b + d); with the midpoints of
its sides it has six points. If their laws agree, with uniform marginals, every wave is paid the maximum margin of the
whole table; `wave_bounds` are the constants by which nothing else is (ext-T8 to ext-T10 and, where 3 divides n, ext-T18
of the chapter feature_emergence, proofs/triangles.md and proofs/divisible-by-three.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

__all__ = ["SIX_POINTS", "WaveBounds", "group_elements", "one_cell_weights", "triangle_law", "wave_bounds"]

SIX_POINTS = ((0, 0), (2, 0), (0, 2), (1, 0), (0, 1), (1, 1))
"""Corners, then midpoints: (s, t) stands for the cell (a + s d/2, b + t d/2)."""

Integers = NDArray[np.int64]


def group_elements(orders: Sequence[int]) -> Integers:
    """The elements of Z_m x Z_m' x ..., shape (n, number of factors), 0 first; ``orders`` are m, m', ...

    Raises:
        ValueError: for no order, and orders below 2.
    """
    if not orders or min(orders) < 2:
        raise ValueError(f"A product of cyclic groups needs orders of at least 2, not {list(orders)}.")
    return np.array(list(product(*map(range, orders))), np.int64)


def triangle_law(orders: Sequence[int], weights: Integers, point: tuple[int, int]) -> Integers:
    """The mass of one of the six points in each cell, shape (n, n); ``weights`` has shape (n, n, n), indices a, b, d.

    Raises:
        ValueError: as `group_elements`, and for a group of even order, where d/2 makes no sense.
    """
    e, sizes = group_elements(orders), np.array(orders)
    if any(m % 2 == 0 for m in orders):
        raise ValueError(f"Midpoints need a group of odd order, not one with the factors {list(orders)}.")
    half, n = (sizes + 1) // 2, len(e)
    rows, columns = (_number(orders, e[:, None] + s * half * e[None]) for s in point)  # indices a, d and b, d
    law = np.zeros((n, n), np.int64)
    np.add.at(law, (rows[:, None, :], columns[None, :, :]), weights)
    return law


def one_cell_weights(orders: Sequence[int]) -> tuple[Integers, int]:
    """The integers s n q(a, b, d), shape (n, n, n), 0 for d = 0, and the scale s, where the cell (0, 0) is missing.

    The scale is D = (5n - 12)(n - 5) where 3 does not divide n, and D (r - 1)(r - 2) for n = 3 r. Divided by
    s n^2 (n - 1) they have the sum 1. For the missing cell (x, y) take them at (a - x, b - y, d). Source: ext-T9 and
    ext-T18.

    Raises:
        ValueError: as `group_elements`, and for a group of even order, or of order 3 or 5.
    """
    e, sizes = group_elements(orders), np.array(orders)
    n = len(e)
    if n % 2 == 0 or n < 7:
        raise ValueError(f"The weights are known for groups of odd order 7 or more, not for order {n}.")
    a, b, d = e[:, None, None], e[None, :, None], e[None, None, :]

    def zero(x: Integers) -> Integers:
        return np.all(x % sizes == 0, axis=-1).astype(np.int64)

    first = zero(a + 0 * b + 0 * d) + zero(b + 0 * a + 0 * d) + zero(a + b + d)
    second = zero(2 * a + d + 0 * b) + zero(2 * b + d + 0 * a) + zero(2 * (a + b) + d)
    third = zero(a + d + 0 * b) + zero(b + d + 0 * a) + zero(a + b + 0 * d)
    fourth = zero(a - b + 0 * d) + zero(2 * a + b + d) + zero(a + 2 * b + d)
    fifth = sum((zero(x * (a - b) - y * d) for x, y in ((1, 1), (1, -1), (2, 1), (2, -1))), np.zeros((n, n, n), int))
    for line in (2 * a + b, a + 2 * b):
        fifth += sum(zero(x * line + y * d) for x, y in ((1, 0), (2, 3), (2, 1), (1, 2)))
    excluded = sum(zero(2 * a + s * d + 0 * b) * zero(2 * b + t * d + 0 * a) for s, t in SIX_POINTS)
    scale = (5 * n - 12) * (n - 5)
    found = scale - 60 + n * (15 * first + 10 * second + 5 * third + 4 * fourth - fifth) - 5 * n * n * excluded
    if n % 3 == 0:
        # steps of order 3 lie on some lines twice: a share by how many of a, b, a + b are in their subgroup
        r = n // 3
        thirds = np.flatnonzero(zero(3 * e) > zero(e))
        d = e[thirds]
        within = sum(zero(x) + zero(x - d) + zero(x + d) for x in (a + 0 * b, b + 0 * a, a + b))
        found *= (r - 1) * (r - 2)
        found[:, :, thirds] += 2 * n * np.array([2, 2 - r, 0, (r - 1) * (r - 2)])[within]
        scale *= (r - 1) * (r - 2)
    found[:, :, 0] = 0
    return found, scale


@dataclass(frozen=True)
class WaveBounds:
    """The constants of steps 10 to 15 of proofs/triangles.md; with both inequalities only waves are paid the most.

    Attributes:
        mixed: delta_0, what three different frequencies add at most, relative to their norms.
        rest: delta_1, the same for frequencies other than one.
        aligned: eta, below which the sum of the products of two spectra the form is below that of a wave (step 12).
        near: the left side of step 15; less than 2 is enough.
    """

    mixed: Fraction
    rest: Fraction
    aligned: Fraction
    near: Fraction

    @classmethod
    def of(cls, frequencies: int, mixed: Fraction, rest: Fraction) -> WaveBounds:
        """The constants for so many frequencies, delta_0 and delta_1."""
        aligned = 1 - (frequencies - 1) * (mixed / (1 - mixed)) ** 2
        excess = (frequencies - 2) * rest**2
        near = 2 * mixed + 4 * mixed**2 + (mixed**2 + excess) * Fraction(2, 3)
        near += 4 * (1 + excess / 2) * mixed * Fraction(5, 6)
        return cls(mixed, rest, aligned, near)

    @property
    def enough(self) -> bool:
        """Whether the proof goes through."""
        return self.aligned >= Fraction(13, 25) and self.near < 2


def wave_bounds(n: int) -> WaveBounds:
    """The constants for an abelian group of odd order n >= 7, exactly; those of ext-T18 where 3 divides n.

    Raises:
        ValueError: for another n.
    """
    if n < 7 or n % 2 == 0:
        raise ValueError(f"The bounds are for odd orders of 7 or more, not for {n}.")
    N, scale = (n - 1) // 2, (5 * n - 12) * (n - 5)
    each, relations = Fraction(20), 6
    if n % 3 == 0:
        r = n // 3
        each, relations = each + Fraction(6 * r, (r - 1) * (r - 2)), 10
    return WaveBounds.of(N, (each * (N - 2) + relations) / scale, (each * (N - 3) + relations) / scale)


def _number(orders: Sequence[int], elements: Integers) -> Integers:
    """The places of elements in `group_elements`."""
    steps = np.array([prod(orders[i + 1 :]) for i in range(len(orders))])
    return (elements % np.array(orders)) @ steps
