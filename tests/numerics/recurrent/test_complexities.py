"""Bad input of the complexities, the coefficients of the standard series, and what sums of them leave out."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from flint import arb, fmpq

from lemmata.numerics.recurrent import complexities
from lemmata.numerics.recurrent.complexities import (
    PowerSeries,
    complexity,
    exponential_series,
    polynomial,
    sine_series,
    smooth_complexity,
    taylor,
)

OUT_OF_RANGE = [(0, 1, 2), (1, 1, 2), (2, 1, 2), ("1/2", -1, 2), ("1/2", 1, -2)]


@pytest.mark.parametrize(("epsilon", "radius", "constant"), OUT_OF_RANGE)
def test_numbers_out_of_range_are_refused(epsilon: object, radius: object, constant: object) -> None:
    with pytest.raises(ValueError, match="must"):
        complexity(polynomial([0, 1]), radius, epsilon, constant)


@pytest.mark.parametrize(("radius", "constant"), [(fmpq(-1, 2), 2), (1, fmpq(-1, 2))])
def test_sizes_below_zero_have_no_smooth_complexity(radius: fmpq, constant: fmpq) -> None:
    with pytest.raises(ValueError, match="at least 0, not -1/2"):
        smooth_complexity(polynomial([0, 1]), radius, constant)


def test_an_infinite_series_needs_a_bound_on_what_is_left_out() -> None:
    with pytest.raises(ValueError, match="nothing bounds the terms"):
        PowerSeries("all ones", lambda _: fmpq(1))


@pytest.mark.parametrize("coefficients", [[], [0.5], [1, None]])
def test_polynomials_are_exact(coefficients: list) -> None:
    with pytest.raises(ValueError, match="exact coefficients"):
        polynomial(coefficients)


@pytest.mark.parametrize(("name", "degree"), [("sin", 3), ("tanh", -1)])
def test_unknown_taylor_polynomials_are_refused(name: str, degree: int) -> None:
    with pytest.raises(ValueError, match="tanh and of the sigmoid"):
        taylor(name, degree)


def test_coefficients() -> None:
    assert [sine_series().coefficient(i) for i in range(6)] == [0, 1, 0, fmpq(-1, 6), 0, fmpq(1, 120)]
    assert exponential_series().coefficient(0) == 0
    assert exponential_series().coefficient(4) == fmpq(1, 24)
    assert sine_series().truncated(3).coefficient(5) == 0
    assert polynomial([0, 1]).truncated(5).degree == 1


def test_radius_zero_leaves_the_constant() -> None:
    phi = polynomial([3, 5])
    assert complexity(phi, 0, "1/2") == 6
    assert smooth_complexity(phi, 0, 7) == 21


def test_an_infinite_series_is_enclosed_within_the_precision() -> None:
    """K R = 1 and eps = 1/e: e - 1 and the sum of i^(-i/2)/i!."""
    value = complexity(exponential_series(), 1, arb(-1).exp(), 1)
    second = sum((arb(i) ** (-fmpq(i, 2)) / math.factorial(i) for i in range(1, 40)), arb(0))
    assert value.overlaps(arb(1).exp() - 1 + second)
    assert 0 < value.rad() < arb("1e-10")


@pytest.mark.parametrize("radius", [fmpq(1, 7), fmpq(1), fmpq(6)])
def test_what_is_left_out_is_bounded_by_ratios_that_no_term_exceeds(
    monkeypatch: pytest.MonkeyPatch, radius: fmpq
) -> None:
    """The terms are written out here: R^i/i! and (R/sqrt(i))^i/i! for eps = 1/e, and (i + 1)^(7/4) R^i/i!."""
    ratios: list[Callable[[int], arb]] = []
    monkeypatch.setattr(complexities, "_sum", lambda phi, factor, ratio: ratios.append(ratio) or arb(0))
    complexity(sine_series(), radius, arb(-1).exp(), 1)
    smooth_complexity(sine_series(), radius, 1)
    R = arb(radius)
    terms: list[Callable[[int], arb]] = [
        lambda i: R**i / math.factorial(i),
        lambda i: (R / arb(i).sqrt()) ** i / math.factorial(i),
        lambda i: (arb(i + 1) ** 7).root(4) * R**i / math.factorial(i),
    ]
    for ratio, term in zip(ratios, terms, strict=True):
        for i in range(1, 40):
            assert not ratio(i) < term(i + 1) / term(i), i
            assert ratio(i + 1) < ratio(i), i
