"""Rational numbers of every kind as fmpq."""

from __future__ import annotations

import numbers
from fractions import Fraction

from flint import fmpq, fmpz

RationalLike = int | fmpz | fmpq | Fraction


def as_fmpq(value: object) -> fmpq | None:
    """`value` as a rational if it is an int (NumPy's included), fmpz, fmpq or Fraction, else None."""
    if isinstance(value, fmpq):
        return value
    if isinstance(value, fmpz):
        return fmpq(value)
    if isinstance(value, numbers.Rational):  # int, NumPy integers, Fraction
        return fmpq(int(value.numerator), int(value.denominator))
    return None
