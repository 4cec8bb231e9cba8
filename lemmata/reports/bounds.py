"""Bounds in a few digits, rounded so that what is printed is implied by what is proved."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

__all__ = ["rounded_down", "rounded_up"]


def rounded_down(bound: Fraction | float, digits: int = 3) -> str:
    """The largest decimal of so many significant digits that is at most a bound from below, positive or zero."""
    return _rounded(bound, digits, ROUND_FLOOR)


def rounded_up(bound: Fraction | float, digits: int = 3) -> str:
    """The smallest decimal of so many significant digits that is at least a bound from above, positive or zero."""
    return _rounded(bound, digits, ROUND_CEILING)


def _rounded(bound: Fraction | float, digits: int, rounding: str) -> str:
    exact = Fraction(bound)
    quotient = Context(prec=digits, rounding=rounding).divide(Decimal(exact.numerator), Decimal(exact.denominator))
    return f"{quotient.normalize():g}"
