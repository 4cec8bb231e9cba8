"""The literal width: against the inequality itself in another arithmetic, and bad input."""

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from flint import arb

from lemmata.numerics.recurrent.complexities import polynomial, sine_series
from lemmata.numerics.recurrent.feasibility import Feasibility, feasibility

CASES = [  # coefficients, L, d, p, delta, eps_e
    ((0, 1), 3, 1, 1, Fraction(1, 10), Fraction(1, 100)),
    ((0, 0, 2), 5, 2, 3, Fraction(1, 2), Fraction(1, 1000)),
    ((0, 1), 3, 1, 1, Fraction(1, 10), None),
    ((0, 1, -3), 4, 2, 2, Fraction(1, 7), None),
]


def _complexities(coefficients: tuple[int, ...], length: int, epsilon: Any) -> tuple[Any, Any]:
    """C_eps(Phi, sqrt L) and C_s(Phi, 1), K = 10^4, written out."""
    root, K, size, smooth = mpmath.sqrt(length), mpmath.mpf(10**4), mpmath.mpf(0), mpmath.mpf(0)
    for i, c in enumerate(coefficients):
        if i:
            size += abs(c) * ((K * root) ** i + (mpmath.sqrt(-mpmath.log(epsilon) / i) * K * root) ** i)
        smooth += K * mpmath.mpf(i + 1) ** 1.75 * abs(c)
    return size, smooth


def _terms(case: tuple, m: Any) -> list[Any]:
    """The three terms at the width m, itself a number of thousands of digits."""
    coefficients, L, d, p, delta, eps = case
    front = p * (100 * L * d * mpmath.log(m)) ** 11
    accuracy = mpmath.mpf(delta.numerator) / delta.denominator
    epsilon = accuracy / 3 / front if eps is None else mpmath.mpf(eps.numerator) / eps.denominator
    size, smooth = _complexities(coefficients, L, epsilon)
    scale = 1 / ((100 * L * d * mpmath.log(m)) ** 4 * size)
    if eps is None:
        scale = min(scale, (accuracy / 3 / front / smooth) ** 3)
    C = 4 * size**2 / (epsilon * scale)
    return [front * epsilon, front * smooth * mpmath.cbrt(scale), front * C * m ** (-mpmath.mpf(1) / 20)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_width_is_where_the_inequality_turns(case):
    coefficients, L, d, p, delta, eps = case
    found = feasibility(polynomial(coefficients), L, delta, eps, d, p)
    allowed = delta / (3 if eps is None else 1)
    with mpmath.workdps(50):
        width = mpmath.mpf(10) ** mpmath.mpf(float(found.width))
        before, after = (_terms(case, width ** (1 + shift))[2] for shift in (-1e-6, 1e-6))
        assert after < mpmath.mpf(allowed.numerator) / allowed.denominator < before
        for name, value in zip(found.terms, _terms(case, width), strict=True):
            assert abs(float(found.terms[name]) - float(mpmath.log10(value))) < 1e-4
    assert found.width.rad() < 1e-3
    assert abs(float(sum(found.shares.values(), arb(0)) / found.width) - 1) < 1e-6
    assert abs(float(found.window) - float(found.epsilon + found.input_scale - found.complexity) + 0.60206) < 1e-4
    if eps is None:
        assert all(float(value) <= float(mpmath.log10(float(allowed))) + 1e-4 for value in found.terms.values())


def test_the_width_of_the_simplest_target():
    """z, L = 3, d = p = 1, eps_e = 1/100, delta = 1/10: 10^2211, most of it from rho^11; with all terms 10^8068."""
    found = feasibility(polynomial([0, 1]), 3, Fraction(1, 10), Fraction(1, 100))
    assert 2211 < found.width < 2212
    assert found.dominant == "rho^11"
    assert found.terms["p rho^11 eps_e"] > 60
    assert "width m of at least 10^2211" in str(found)
    assert "most of it from: rho^11" in str(found)
    every = feasibility(polynomial([0, 1]), 3, Fraction(1, 10))
    assert 8067 < every.width < 8068
    assert every.dominant.startswith("C =")


def test_wider_for_longer_more_complex_and_more_accurate():
    def width(phi=None, length=4, accuracy=Fraction(1, 10), **more) -> Feasibility:
        return feasibility(phi or polynomial([0, 1]), length, accuracy, **more)

    base = width().width
    for other in (width(length=5), width(accuracy=Fraction(1, 20)), width(outputs=2), width(parts=3)):
        assert other.width > base
    assert width(polynomial([0, 1, 1])).width > base
    assert width(sine_series()).width > 50 * base


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, Fraction(1, 10)), "The length L"),
        ((3, Fraction(1, 10), Fraction(1, 100), 0), "The number of outputs d"),
        ((3, Fraction(1, 10), Fraction(1, 100), 1, 0), "The number of functions p"),
        ((3, 0.1), "exact and lie strictly between 0 and 1"),
        ((3, 1), "exact and lie strictly between 0 and 1"),
        ((3, Fraction(1, 10), Fraction(3, 2)), "exact and lie strictly between 0 and 1"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        feasibility(polynomial([0, 1]), *arguments)
