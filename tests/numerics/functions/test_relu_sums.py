"""Sums of ReLUs: the three number systems agree, the certificates bound, faults and bad input are refused."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from numerics.functions import smooth as smooth_functions
from numerics.functions.interpolation import interpolant, interpolant_within, square, sup_error
from numerics.functions.relu_sums import (
    ReluSum,
    absolute_value,
    affine,
    identity,
    leaky_relu,
    piecewise_linear,
    relu,
    relu_derivative,
    ridge,
    squared_loss_derivative,
)
from numerics.functions.smooth import (
    SmoothFunction,
    exponential,
    interval_ball,
    sigmoid,
    sine,
    softplus,
    tanh,
    upper_rational,
)

LOGARITHM = SmoothFunction("log", lambda x: x.log())
numbers = st.fractions(-3, 3, max_denominator=12).map(lambda x: fmpq(x.numerator, x.denominator))


def points(values: list[Any]) -> np.ndarray:
    return np.array(values, dtype=object)


@given(st.lists(numbers, min_size=1, max_size=6))
def test_exact_sums_are_their_functions(values: list[fmpq]) -> None:
    t = points(values)
    assert identity()(t).tolist() == values
    assert affine("2/3", -1)(t).tolist() == [fmpq(2, 3) * x - 1 for x in values]
    assert relu()(t).tolist() == [max(x, fmpq(0)) for x in values]
    assert absolute_value()(t).tolist() == [abs(x) for x in values]
    assert leaky_relu("1/10")(t).tolist() == [x if x > 0 else x / 10 for x in values]
    step = relu_derivative("1/100")
    outside = [x for x in values if not 0 < x < fmpq(1, 100)]
    assert step(points(outside)).tolist() == [int(x > 0) for x in outside]
    assert step.weight == 201
    loss = squared_loss_derivative()
    assert loss(t, t[::-1]).tolist() == [a - b for a, b in zip(values, values[::-1], strict=True)]
    assert (loss.units, loss.weight) == (2, 4)


@given(st.lists(st.tuples(numbers, numbers), min_size=2, max_size=7, unique_by=lambda pair: pair[0]))
def test_piecewise_linear_interpolates_and_is_linear_between(pairs: list[tuple[fmpq, fmpq]]) -> None:
    pairs.sort(key=lambda pair: pair[0])
    knots, values = [t for t, _ in pairs], [v for _, v in pairs]
    f = piecewise_linear(knots, values)
    assert f(points(knots)).tolist() == values
    middles = [(a + b) / 2 for a, b in pairwise(knots)]
    assert f(points(middles)).tolist() == [(a + b) / 2 for a, b in pairwise(values)]
    assert set(f.breakpoints()) <= {*knots, fmpq(0)}  # at 0 two units may meet without a kink
    outside = [2 * knots[-1] - knots[-2], 2 * knots[0] - knots[1]]
    assert f(points(outside)).tolist() == [2 * values[-1] - values[-2], 2 * values[0] - values[1]]


def test_number_systems_agree() -> None:
    f = interpolant(tanh, 2, 5)
    t = [fmpq(i, 7) for i in range(-14, 15)]
    exact = f(points(t)).tolist()
    balls = f(points([arb(x) for x in t])).tolist()
    assert all(b.contains(arb(x)) for b, x in zip(balls, exact, strict=True))
    floats = f(np.array([int(x.p) / int(x.q) for x in t]))
    # M = 11 terms of size at most C: rounding below 2 (M + 3) 2^-53 C (2 + |t|)
    scale = 28 * 2.0**-53 * float(f.weight) * 4
    assert np.abs(floats - [int(x.p) / int(x.q) for x in exact]).max() <= scale


def test_ball_relu_encloses_both_branches() -> None:
    value = relu()(points([arb(0, 1)])).tolist()[0]
    assert value.contains(arb(0))
    assert value.contains(arb(1))
    assert value.contains(arb(fmpq(1, 3)))


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


def test_bound_encloses_the_sup_from_above_and_nearly() -> None:
    B = tanh.bound(-3, 3, 2)  # sup |tanh''| = 4 / (3 sqrt 3)
    sup = 4 / (3 * arb(3).sqrt())
    assert sup <= arb(B) <= sup * arb(17) / 16 + arb(2) ** -64
    assert sine.bound(0, 0) == 0
    assert exponential.bound(1, 1, 1) >= fmpq(27182818, 10**7)


@pytest.mark.parametrize(("low", "high"), [(-1, 1), (0, 3), (-3, -2), (-1, 5)])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_bound_is_at_least_every_value(low: int, high: int, order: int) -> None:
    """At both ends and inside; for the linear and the exponential function the sup is at an end."""
    for function in (smooth_functions.identity, exponential, tanh, softplus, sine):
        bound = function.bound(low, high, order)
        at = [arb(fmpq(low)) + fmpq(high - low, 16) * i for i in range(17)]
        assert all(abs(function.jet(t, order)[order]).lower() <= bound for t in at)


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
    with pytest.raises(ValueError, match="is empty"):
        tanh.bound(1, 0)
    with pytest.raises(ValueError, match="delta"):
        relu_derivative(0)
    with pytest.raises(ValueError, match="strictly increasing"):
        piecewise_linear([0, 0], [1, 2])
    with pytest.raises(ValueError, match="more than"):
        interpolant_within(tanh, 3, Fraction(1, 10**12))
    with pytest.raises(ValueError, match="1 arguments"):
        identity()(np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match="1-norm 2"):
        ReluSum(points([fmpq(1)]), points([[fmpq(1), fmpq(1)]]))
    with pytest.raises(ValueError, match="weights not all 0"):
        ridge(identity(), (0, 0))
    with pytest.raises(ValueError, match="window"):
        sup_error(relu_derivative("1/2").on(1), tanh)


def test_radius_is_guarded() -> None:
    f = interpolant(tanh, 2, 4)
    f.require(fmpq(2), "pre-activations")
    with pytest.raises(ValueError, match="pre-activations may reach"):
        f.require(fmpq(5, 2), "pre-activations")
    with pytest.raises(ValueError, match="radius"):
        f.on(3)
    assert ridge(f, (1, -1)).radius == 1
    with pytest.raises(ValueError, match="outside the interval"):
        ridge(f, (1, -1), 2)


def test_library_of_activations_against_numpy() -> None:
    t = [-2.0, -0.3, 0.0, 0.7, 1.9]
    for function, reference in [
        (tanh, np.tanh),
        (sigmoid, lambda x: 1 / (1 + np.exp(-x))),
        (softplus, lambda x: np.log1p(np.exp(x))),
        (smooth_functions.log_cosh, lambda x: np.log(np.cosh(x))),
        (smooth_functions.gelu, lambda x: x * (1 + np.vectorize(_erf)(x / np.sqrt(2))) / 2),
        (tanh.derivative(), lambda x: 1 / np.cosh(x) ** 2),
    ]:
        found = [float(function(arb(x))) for x in t]
        assert np.allclose(found, reference(np.array(t)), rtol=1e-14, atol=1e-15)  # 30 roundings of 2^-53


def _erf(x: float) -> float:
    import math

    return math.erf(x)


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


@given(numbers, numbers)
def test_interval_balls_contain_their_ends(a: fmpq, b: fmpq) -> None:
    low, high = min(a, b), max(a, b)
    ball = interval_ball(low, high)
    for x in (low, high):  # lower() and upper() are rounded outwards
        assert ball.lower() <= arb(x).upper()
        assert arb(x).lower() <= ball.upper()
    assert ball.upper() - ball.lower() <= arb(high - low) * fmpq(101, 100) + fmpq(1, 2**20)


def test_bounds_of_numbers_of_any_size() -> None:
    """Tiny balls are bounded by 2^-4096 (flint cannot write 2^-(10^14) as a fraction), huge ones are refused."""
    assert upper_rational(arb(-(10**14)).exp()) == fmpq(1, 2**4096)
    assert upper_rational(arb(-100).exp()) < fmpq(1, 10**43)
    assert upper_rational(arb(0)) == 0
    assert softplus.bound(-(10**14), 10**14, 1) >= 1
    with pytest.raises(ValueError, match="too large for exact arithmetic"):
        exponential.bound(0, 10**14)
