"""Averages over the flat prior of closed forms that contain high powers of lambda: exact numbers of Q + Q ln 2.

A closed form is a coefficient in a and b, a rational function over a power of a + b - 2, times a polynomial in lambda.
The polynomial itself appears in print as a rational function of lambda with removable poles.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from flint import fmpq
from sympy import QQ, field

from lemmata.numerics.exact.log_two import LogTwo
from lemmata.numerics.markov.flat import eigenvalue_averages

_UV, U, V = field("U,V", QQ)
a, b = 1 - U, 1 - V
"""The probabilities to stay, as rational functions of U and V."""
_LAMBDA, lam = field("lambda", QQ)
"""lambda, as a rational function of itself."""

_LONGEST = 151


def average(coefficient: Any, polynomial: Any = lam**0, power: int = 3) -> LogTwo:
    """E[coefficient(U, V) polynomial(lambda)].

    Raises:
        ValueError: if the polynomial has a pole that is not removable or too high a degree, or the coefficient is no
            polynomial over (U+V)^power.
    """
    numerator, extra = coefficient * (U + V) ** power, polynomial.denom
    if not numerator.denom.is_ground or not extra.is_ground:
        raise ValueError(f"{coefficient} times {polynomial} is no polynomial over (U+V)^{power}.")
    powers = _powers(power, tuple((key, _rational(c / numerator.denom.LC)) for key, c in numerator.numer.terms()))
    total = LogTwo()
    for (n,), c in polynomial.numer.terms():
        if n >= _LONGEST:
            raise ValueError(f"The polynomial has the degree {n}: at most {_LONGEST - 1} is prepared.")
        total = total + powers[n] * _rational(c / extra.LC)
    return total


@cache
def _powers(power: int, terms: tuple[tuple[tuple[int, int], fmpq], ...]) -> list[LogTwo]:
    return eigenvalue_averages(dict(terms), power, _LONGEST)


def _rational(x: Any) -> fmpq:
    return fmpq(int(x.numerator), int(x.denominator))
