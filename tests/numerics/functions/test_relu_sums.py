"""Sums of ReLUs: the three number systems agree, the certificates bound, faults and bad input are refused."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.numerics.functions.interpolation import interpolant
from lemmata.numerics.functions.relu_sums import (
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
from lemmata.numerics.functions.smooth import (
    tanh,
)

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


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="delta"):
        relu_derivative(0)
    with pytest.raises(ValueError, match="strictly increasing"):
        piecewise_linear([0, 0], [1, 2])
    with pytest.raises(ValueError, match="1 arguments"):
        identity()(np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match="1-norm 2"):
        ReluSum(points([fmpq(1)]), points([[fmpq(1), fmpq(1)]]))
    for wrong in ({"error": fmpq(-1)}, {"radius": fmpq(0)}):
        with pytest.raises(ValueError, match="error must be >= 0 and radius > 0"):
            replace(identity(), **wrong)
    with pytest.raises(ValueError, match="weights not all 0"):
        ridge(identity(), (0, 0))


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
