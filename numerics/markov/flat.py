"""Exact averages over two-state Markov chains whose transition probabilities are uniform.

The chain has the transition matrix [[1-U, U], [V, 1-V]] with U, V independent and uniform on (0, 1) (the flat prior).
With S = U + V its stationary law is pi = (V, U)/S, its second eigenvalue lambda = 1 - S, and
(P^n)_ij = pi_j + lambda^n (delta_ij - pi_j). Hence every average that a gradient of the minimal model needs is one of
E[U^p V^q lambda^n / S^s], a number in Q + Q ln 2:

    E[U^p V^q / S^s] = (K_s(p) + K_s(q)) / (p + q + 2 - s),    K_s(n) = integral over (0,1) of r^n / (1+r)^s dr,

by splitting the square at U = V and putting r = U/V or V/U; it is finite iff p + q + 2 > s.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from math import comb

from flint import fmpq

from lemmata.numerics.exact.log_two import LN2, LogTwo
from lemmata.numerics.exact.rationals import RationalLike

__all__ = ["Numerator", "eigenvalue_averages", "flat_average"]

Numerator = Mapping[tuple[int, int], RationalLike]
"""A polynomial in U and V: {(p, q): coefficient of U^p V^q}."""


def flat_average(numerator: Numerator, power: int = 0) -> LogTwo:
    """The average of numerator(U, V) / (U+V)^power over U, V independent and uniform on (0, 1).

    Raises:
        ValueError: if a term of the numerator has so low a degree that its average is infinite, or a negative exponent.
    """
    total = LogTwo()
    for (p, q), coefficient in numerator.items():
        total = total + _monomial(p, q, power) * coefficient
    return total


def eigenvalue_averages(numerator: Numerator, power: int, count: int) -> list[LogTwo]:
    """The averages of lambda^n numerator(U, V) / S^power for n = 0, ..., count-1, where S = U + V, lambda = 1 - S.

    Differences, without expansion: E[lambda^(n+1) F/S^s] = E[lambda^n F/S^s] - E[lambda^n F/S^(s-1)].

    Raises:
        ValueError: as for `flat_average`, or if count is negative.
    """
    if count < 0:
        raise ValueError(f"The number of averages is {count}: give an integer of at least 0.")
    row = [flat_average(numerator, power - i) for i in range(count)]
    averages = []
    while row:
        averages.append(row[0])
        row = [here - after for here, after in pairwise(row)]
    return averages


@cache
def _monomial(p: int, q: int, s: int) -> LogTwo:
    """The average E[U^p V^q / (U+V)^s]."""
    if p < 0 or q < 0:
        raise ValueError(f"U^{p} V^{q} is no monomial: give exponents of at least 0.")
    if p + q + 2 <= s:
        raise ValueError(f"The average of U^{p} V^{q} / (U+V)^{s} is infinite: it is finite iff p + q + 2 > s.")
    return (_ray(s, p) + _ray(s, q)) / (p + q + 2 - s)


@cache
def _ray(s: int, n: int) -> LogTwo:
    """The integral K_s(n) of r^n / (1+r)^s over (0, 1)."""
    if s <= 0:
        return LogTwo(sum((fmpq(comb(-s, i), n + i + 1) for i in range(-s + 1)), fmpq(0)))
    if n > 0:
        return _ray(s - 1, n - 1) - _ray(s, n - 1)
    if s == 1:
        return LN2
    return LogTwo((1 - fmpq(1, 2 ** (s - 1))) / (s - 1))
