"""Averages over the flat prior as moments of one variable: the tool behind statements for every context length.

A weight w(U, V), a polynomial over a power of S = U + V, has E[w lambda^n] = integral of h(x) x^n over (-1, 1) with
h(x) = integral of w over the segment U + V = 1 - x of the unit square; h is rational on (-1, 0) and on (0, 1). So a
moment integrates h(x) + h(-x) (even n) or h(x) - h(-x) (odd n) against x^n over (0, 1), and Sturm sequences decide the
signs of these functions there.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import sympy
from flint import fmpq

from lemmata.numerics.exact.log_two import LogTwo
from lemmata.numerics.markov.flat import eigenvalue_averages, flat_average

U, V, x = sympy.symbols("U V x")
S = U + V
_HIGHEST = 4
"""The largest power of S below a weight."""


@dataclass(frozen=True)
class Density:
    """h on the two sides, as functions of |lambda| in (0, 1): `above` is h(x), `below` is h(-x)."""

    above: Any
    below: Any

    @property
    def even(self) -> Any:
        """h(x) + h(-x), the density of the even moments."""
        return sympy.cancel(self.above + self.below)

    @property
    def odd(self) -> Any:
        """h(x) - h(-x), the density of the odd moments."""
        return sympy.cancel(self.above - self.below)


def density(weight: Any) -> Density:
    """The density h of a weight."""
    u, s = sympy.symbols("u s")
    along = sympy.expand(_polynomial(weight).subs({U: u, V: s - u}, simultaneous=True))
    upper = sympy.integrate(along, (u, 0, s)) / s**_HIGHEST
    lower = sympy.integrate(along, (u, s - 1, 1)) / s**_HIGHEST
    return Density(sympy.cancel(upper.subs(s, 1 - x)), sympy.cancel(lower.subs(s, 1 + x)))


def mean(weight: Any) -> LogTwo:
    """E[w], exact."""
    return flat_average(_numerator(weight), _HIGHEST)


def moments(weight: Any, count: int) -> list[LogTwo]:
    """E[w lambda^n], n = 0, ..., count-1, exact."""
    return eigenvalue_averages(_numerator(weight), _HIGHEST, count)


def exchanged(weight: Any) -> Any:
    """The mean of w(U, V) and w(V, U), which has the same averages, in lowest terms."""
    return sympy.cancel((weight + weight.subs({U: V, V: U}, simultaneous=True)) / 2)


def positive_inside(function: Any) -> bool:
    """Whether a rational function of x is positive on the open interval (0, 1)."""
    numerator, denominator = sympy.fraction(sympy.cancel(function))
    return (
        sympy.cancel(function).subs(x, sympy.Rational(1, 2)) > 0
        and roots_inside(numerator) == 0
        and roots_inside(denominator) == 0
    )


def roots_inside(polynomial: Any) -> int:
    """The number of distinct roots in the open interval (0, 1): sign changes of the Sturm sequence at 0 and at 1.

    Roots at the ends are divided out first.
    """
    p = sympy.Poly(polynomial, x)
    for end in (sympy.Poly(x, x), sympy.Poly(x - 1, x)):
        while p.rem(end).is_zero:
            p = p.quo(end)

    def changes(where: int) -> int:
        signs = [sympy.sign(q.eval(where)) for q in sympy.sturm(p)]
        return sum(s != r for s, r in pairwise([s for s in signs if s != 0]))

    return 0 if p.degree() == 0 else changes(0) - changes(1)


def _polynomial(weight: Any) -> Any:
    product = sympy.cancel(weight * S**_HIGHEST)
    if sympy.fraction(product)[1].has(U, V):
        raise ValueError(f"{weight} is no polynomial over (U+V)^{_HIGHEST}.")
    return sympy.expand(product)


def _numerator(weight: Any) -> dict[tuple[int, int], fmpq]:
    terms = sympy.Poly(_polynomial(weight), U, V).terms()
    return {(int(p), int(q)): fmpq(int(c.p), int(c.q)) for (p, q), c in terms}
