"""Smooth functions: bounds of derivatives, the library of activations, enclosures of numbers of any size."""

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.numerics.functions import smooth as smooth_functions
from lemmata.numerics.functions.smooth import (
    exponential,
    interval_ball,
    sigmoid,
    sine,
    softplus,
    tanh,
    upper_rational,
)

numbers = st.fractions(-3, 3, max_denominator=12).map(lambda x: fmpq(x.numerator, x.denominator))


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


def test_empty_intervals_are_refused() -> None:
    with pytest.raises(ValueError, match="is empty"):
        tanh.bound(1, 0)
