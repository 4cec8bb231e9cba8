"""Interpolants of smooth functions: certified errors, faults that the certificates catch, and what is refused."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.numerics.functions.interpolation import _rounded, interpolant, interpolant_within, square, sup_error
from lemmata.numerics.functions.relu_sums import ReluSum, relu_derivative
from lemmata.numerics.functions.smooth import (
    SmoothFunction,
    exponential,
    sigmoid,
    sine,
    softplus,
    tanh,
)


@pytest.mark.parametrize("bits", [1, 8, 40])
@pytest.mark.parametrize("value", ["0.4", "-0.4", "0.3125", "-7.62", "1e-30", "12.654321"])
def test_values_are_rounded_to_the_nearest_multiple(value: str, bits: int) -> None:
    unit = fmpq(1, 2**bits)
    rounded = _rounded(arb(value), bits)
    assert (rounded / unit).q == 1
    assert abs(arb(value) - rounded) <= arb(unit / 2) + arb("1e-14")
    halves = [_rounded(arb(k) / 2 * arb(unit), bits) / unit for k in (-3, -1, 1, 3)]
    assert halves == [-1, 0, 1, 2]


LOGARITHM = SmoothFunction("log", lambda x: x.log())


def points(values: list[Any]) -> np.ndarray:
    return np.array(values, dtype=object)


@pytest.mark.parametrize("function", [tanh, sigmoid, softplus, sine, exponential, tanh.derivative()])
@pytest.mark.parametrize("radius", [1, 3])
def test_error_target_is_met_and_zero_is_exact(function: SmoothFunction, radius: int) -> None:
    f = interpolant_within(function, radius, "1/300")
    assert f.error <= fmpq(1, 300)
    assert f.radius == radius
    at_zero = f(points([fmpq(0)])).tolist()[0]
    if function(arb(0)).is_exact():
        assert arb(at_zero) == function(arb(0))
    # uniform knots of the same accuracy need at least as many units, up to one piece per side
    pieces = next(m for m in range(1, 400) if interpolant(function, radius, m).error <= fmpq(1, 300))
    assert f.units <= 2 * pieces + 3


def test_halved_knots_are_caught() -> None:
    good = interpolant(tanh, 2, 16)
    coarse = interpolant(tanh, 2, 8)
    forged = replace(coarse, error=good.error)
    assert sup_error(good, tanh) <= good.error
    assert sup_error(forged, tanh) > 3 * forged.error
    # and the coarse sum really is worse than the certificate that it was given
    t = np.linspace(-2, 2, 4001)
    assert np.abs(forged(t) - np.tanh(t)).max() > 3 * float(forged.error)


def test_moved_weight_is_caught() -> None:
    f = interpolant(sine, 2, 12)
    c = f.coefficients.copy()
    c[5] += f.error * 40
    assert sup_error(replace(f, coefficients=c), sine) > f.error


@pytest.mark.parametrize("error", [0, "-1/7"])
def test_error_must_be_positive(error: object) -> None:
    with pytest.raises(ValueError, match="error must be positive"):
        interpolant_within(tanh, 1, error)


def test_sup_error_is_never_below_what_is_attained() -> None:
    """t^2 misses its interpolant by h^2/4 exactly; relu(t) misses 0 by 1 at one end alone, relu(-t) at the other."""
    parabola = SmoothFunction("t^2", lambda t: t * t)
    zero = SmoothFunction("0", lambda t: 0 * t)
    for pieces in (1, 3, 8):
        S = square(2, pieces)
        assert S.error <= sup_error(S, parabola) <= S.error * fmpq(17, 16) + fmpq(1, 2**60)
    for side in (1, -1):
        one_sided = ReluSum(points([fmpq(1)]), np.array([[fmpq(side), fmpq(0)]], dtype=object), radius=fmpq(1))
        assert 1 <= sup_error(one_sided, zero) <= 1 + fmpq(1, 2**60)


def test_bad_input_is_refused() -> None:
    for radius in (0, -1):
        with pytest.raises(ValueError, match="radius must be positive"):
            interpolant(tanh, radius, 4)
    with pytest.raises(ValueError, match="radius must be an exact number"):
        interpolant(tanh, 1.5, 4)
    for pieces in (0, 2.5, True):
        with pytest.raises(ValueError, match="pieces"):
            interpolant(tanh, 1, pieces)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"log.*not finite"):
        interpolant(LOGARITHM, 1, 4)
    with pytest.raises(ValueError, match=r"log.*not finite"):
        interpolant_within(LOGARITHM, 1, "1/10")
    with pytest.raises(ValueError, match="more than"):
        interpolant_within(tanh, 3, Fraction(1, 10**12))
    with pytest.raises(ValueError, match="window"):
        sup_error(relu_derivative("1/2").on(1), tanh)
