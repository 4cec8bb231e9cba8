"""Rational numbers of every kind as fmpq, their common denominators, and their rational roots."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from fractions import Fraction
from math import isqrt, lcm

from flint import fmpq, fmpz

RationalLike = int | fmpz | fmpq | Fraction


def as_fmpq(value: object) -> fmpq | None:
    """The rational number `value` if it is an int (NumPy's included), fmpz, fmpq or Fraction, else None."""
    if isinstance(value, fmpq):
        return value
    if isinstance(value, fmpz):
        return fmpq(value)
    if isinstance(value, int):  # these two before the abstract class, whose test takes ten times as long
        return fmpq(int(value))
    if isinstance(value, Fraction):
        return fmpq(value.numerator, value.denominator)
    if isinstance(value, numbers.Rational):  # NumPy integers
        return fmpq(int(value.numerator), int(value.denominator))
    return None


def as_fraction(value: RationalLike) -> Fraction:
    """The same rational number as a `Fraction`, for code that knows the standard library alone.

    Raises:
        ValueError: if `value` is no int, fmpz, fmpq or Fraction.
    """
    q = as_fmpq(value)
    if q is None:
        raise ValueError(f"{value!r} of type {type(value).__name__} is no rational number: give int, fmpq or Fraction.")
    return Fraction(int(q.p), int(q.q))


def common_denominator(values: Iterable[fmpq]) -> int:
    """The least positive integer that makes all these numbers integers when they are multiplied by it; 1 for none."""
    return lcm(*(int(value.q) for value in values))


def rational_root(q: fmpq) -> fmpq | None:
    """The square root of q >= 0 if it is rational, else None."""
    p, r = isqrt(int(q.p)), isqrt(int(q.q))
    return fmpq(p, r) if p * p == q.p and r * r == q.q else None
