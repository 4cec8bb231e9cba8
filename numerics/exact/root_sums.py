"""The sign of a sum q_1 sqrt(m_1) + .. + q_K sqrt(m_K) of rational multiples of square roots, decided without a field.

Square roots of different squarefree numbers are linearly independent over the rational numbers (A. S. Besicovitch, On
the linear independence of fractional powers of integers, 1940). So the sum is 0 only if all q_k are, and otherwise a
ball of enough bits around it leaves 0 out. No cyclotomic field that holds all the roots is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import gcd, prod
from typing import Any

import numpy as np
from flint import arb, fmpq, fmpz
from numpy.typing import NDArray

from lemmata.numerics.exact.balls import as_balls, precision
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic, rational, sqrt_rational
from lemmata.numerics.exact.rationals import RationalLike

__all__ = [
    "RootSums",
    "root_sum_ball",
    "root_sum_number",
    "root_sum_product",
    "root_sum_reciprocal",
    "root_sum_sign",
    "square_root",
]

BITS = 64  # of the first attempt; every further one doubles them


@dataclass(frozen=True, eq=False)
class RootSums:
    """A vector of sums of square roots: entry j is sum_k coordinates[k, j] sqrt(radicands[k]).

    ``coordinates`` (roots, entries) are exact numbers, rational unless 1 is the only one of the ``radicands``; these
    are different squarefree integers.
    """

    coordinates: NDArray[np.object_]
    radicands: tuple[int, ...] = (1,)

    def sums(self) -> list[dict[int, fmpq]]:
        """The entries as {m: q}, q not 0, for rational coordinates."""
        return [{m: q for m, q in zip(self.radicands, entry, strict=True) if q != 0} for entry in self.coordinates.T]

    def numbers(self) -> NDArray[np.object_]:
        """The entries as cyclotomic numbers, shape (entries,).

        Raises:
            ValueError: when the square roots share no cyclotomic field of supported order.
        """
        roots = [sqrt_rational(m) for m in self.radicands]
        sums: list[Any] = [
            sum((root * x for root, x in zip(roots, column, strict=True) if x != 0), start=rational(0))
            for column in self.coordinates.T
        ]
        return np.array(sums, dtype=object)

    def balls(self, bits: int) -> NDArray[np.object_]:
        """Balls around the entries, computed with ``bits`` bits."""
        with precision(bits):
            roots = np.array([_root(m, bits) for m in self.radicands], dtype=object)
            return roots @ as_balls(self.coordinates)


def square_root(a: int) -> tuple[int, int]:
    """(f, m) with sqrt(a) = f sqrt(m) and m squarefree, for an integer a >= 1."""
    factors = [(int(p), int(e)) for p, e in fmpz(a).factor()]
    return prod(p ** (e // 2) for p, e in factors), prod(p for p, e in factors if e % 2)


def root_sum_product(x: Mapping[int, fmpq], y: Mapping[int, fmpq]) -> dict[int, fmpq]:
    """The product of two sums of square roots, given and returned as {m: q} for q sqrt(m), m squarefree, q not 0."""
    total: dict[int, fmpq] = {}
    for (m, q), (n, r) in product(x.items(), y.items()):
        g = gcd(m, n)
        total[m * n // g**2] = total.get(m * n // g**2, fmpq(0)) + q * r * g
    return {m: q for m, q in total.items() if q != 0}


def root_sum_reciprocal(x: Mapping[int, fmpq]) -> dict[int, fmpq]:
    """1/x for a sum of square roots x that is not 0, as {m: q}: its product with conjugates becomes rational.

    For one prime p after the other, the sum is multiplied by what it becomes when sqrt(p) changes its sign.

    Raises:
        ZeroDivisionError: for the empty sum.
    """
    if not x:
        raise ZeroDivisionError("The empty sum of square roots is 0 and has no reciprocal.")
    numerator, norm = {1: fmpq(1)}, dict(x)
    for p in sorted({int(p) for m in x for p, _ in fmpz(m).factor()}):
        conjugate = {m: q if m % p else -q for m, q in norm.items()}
        numerator, norm = root_sum_product(numerator, conjugate), root_sum_product(norm, conjugate)
    return {m: q / norm[1] for m, q in numerator.items()}


def root_sum_number(x: Mapping[int, RationalLike]) -> Cyclotomic:
    """The sum of square roots {m: q} as a cyclotomic number.

    Raises:
        FieldError: when the square roots share no cyclotomic field of supported order.
    """
    return sum((sqrt_rational(m) * q for m, q in x.items()), start=rational(0))


def root_sum_sign(coefficients: Sequence[fmpq], radicands: Sequence[int]) -> int:
    """The sign -1, 0 or 1 of sum_k coefficients[k] sqrt(radicands[k]).

    Args:
        coefficients: rational q_k.
        radicands: different squarefree integers m_k >= 1; what is not squarefree is not detected here.
    """
    signs = {1 if q > 0 else -1 for q in coefficients if q != 0}
    if len(signs) < 2:
        return signs.pop() if signs else 0
    bits = BITS
    while True:
        ball = root_sum_ball(coefficients, radicands, bits)
        if not ball.contains(0):
            return 1 if ball > 0 else -1
        bits *= 2


def root_sum_ball(coefficients: Sequence[fmpq], radicands: Sequence[int], bits: int) -> arb:
    """A ball around the sum, computed with ``bits`` bits."""
    with precision(bits):
        return sum((_root(m, bits) * q for q, m in zip(coefficients, radicands, strict=True) if q != 0), start=arb(0))


@lru_cache(maxsize=4096)
def _root(m: int, bits: int) -> arb:
    with precision(bits):
        return arb(m).sqrt()
