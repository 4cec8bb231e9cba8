"""Entropy integrals and the bounds that follow from them, against quadrature, closed forms and hand-made values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.numerics.learning.entropy import (
    deviation_bound,
    entropy_bound,
    entropy_integral,
    generalisation_bound,
    rademacher_bound,
)

STEPS = [(0, 7), ("1/4", 3), ("5/8", 2), ("3/2", 1)]


def number(eps: float) -> int:
    return 7 if eps < 0.25 else 3 if eps < 0.625 else 2 if eps < 1.5 else 1


def close(ball: arb, value: float) -> bool:
    return abs(float(ball.mid()) - value) < 1e-9 * max(1, abs(value))


@pytest.mark.parametrize(("low", "high"), [(0, 2), ("1/8", "1/2"), ("3/4", 1), (1, 3)])
def test_the_integral_is_that_of_the_step_function(low, high):
    a, b = float(fmpq(*map(int, str(low).split("/")))), float(fmpq(*map(int, str(high).split("/"))))
    grid = np.linspace(a, b, 200001)
    middle = (grid[1:] + grid[:-1]) / 2
    expected = sum(math.sqrt(math.log(number(e)) / 5) for e in middle) * (b - a) / len(middle)
    assert abs(float(entropy_integral(STEPS, low, high, 5).mid()) - expected) < 1e-4


def test_the_integral_is_zero_without_a_range():
    assert entropy_integral(STEPS, 1, 1, 5) == 0
    assert entropy_integral(STEPS, 2, 1, 5) == 0


@pytest.mark.parametrize(("offset", "factor", "share"), [(1, 1, 1), (4, 12, "1/2"), (1, "1/5", 1), (0, 1, 1)])
def test_the_bound_is_the_least_value_on_a_fine_grid(offset, factor, share):
    top = float(fmpq(*map(int, str(share).split("/")))) * 2
    weight = float(fmpq(*map(int, str(factor).split("/"))))
    found = float(entropy_bound(STEPS, 2, 3, offset=offset, factor=factor, share=share).mid())
    grid = [top * k / 400 for k in range(401)]
    values = [
        offset * d + weight * float(entropy_integral(STEPS, fmpq(int(d * 10**6), 10**6), fmpq(int(top), 1), 3).mid())
        for d in grid
    ]
    assert found <= min(values) + 1e-5
    assert min(values) <= found + 1e-2


def test_rademacher_bounds_by_hand():
    K = math.sqrt(2 / 100)
    printed = K * (1 + math.log(3 / K))
    assert close(rademacher_bound(2, 3, 100, constant=5, form="printed"), 5 * printed)
    assert close(rademacher_bound(2, 3, 100, constant=5), 5 * printed)
    K = math.sqrt(2 / 10000)
    assert close(rademacher_bound(2, 3, 10000, form="sharp"), 12 * K * (1 + math.log(3 / (6 * K))))
    assert close(rademacher_bound(1000, 3, 1, constant=5), 15)
    assert close(rademacher_bound(50, 3, 100, form="sharp"), 3)
    assert rademacher_bound(0, 3, 100) == 0


def test_the_sharp_form_is_never_above_the_corrected_one():
    for C in (1, 10, 100, 1000, 10**4, 10**5):
        assert rademacher_bound(C, 2, 1000, form="sharp") <= rademacher_bound(C, 2, 1000)


def test_deviation_bounds_by_hand():
    root = math.sqrt(math.log(20) / 200)
    assert close(deviation_bound("1/10", 100, "1/20", lipschitz=2, loss_bound=3, form="printed"), 0.8 + 6 * root)
    root = math.sqrt(math.log(80) / 200)
    assert close(deviation_bound("1/10", 100, "1/20", lipschitz=2, loss_bound=3), 0.4 + 9 * root)
    root = math.sqrt(math.log(60) / 200)
    assert close(deviation_bound("1/10", 100, "1/20", lipschitz=2, loss_bound=3, form="sharp"), 0.4 + 9 * root)


def test_the_generalisation_bound_is_the_sum_of_both():
    found = generalisation_bound(2, 3, 100, "1/20", lipschitz=2, loss_bound=3, constant=5)
    rad = rademacher_bound(2, 3, 100, constant=5)
    assert found.overlaps(deviation_bound(rad, 100, "1/20", lipschitz=2, loss_bound=3))


def test_the_printed_form_is_refused_beyond_its_regime():
    assert rademacher_bound(9 * 100, 3, 100, form="printed") > 0
    with pytest.raises(ValueError, match=r"needs 0 < C <= A\^2 m"):
        rademacher_bound(9 * 100 + fmpq(1, 10), 3, 100, form="printed")
    with pytest.raises(ValueError, match=r"needs 0 < C <= A\^2 m"):
        generalisation_bound(10**6, 3, 100, "1/20", form="printed")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((-1, 1, 10), "entropy C"),
        ((float("inf"), 1, 10), "entropy C must be a finite number >= 0"),
        ((1, 0, 10), "bound A"),
        ((1, 1, 0), "sample size"),
        ((arb("nan"), 1, 10), "entropy C"),
    ],
)
def test_bad_entropies_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        rademacher_bound(*arguments)


@pytest.mark.parametrize("delta", [0, 1, 2, -1])
def test_bad_probabilities_are_refused(delta):
    with pytest.raises(ValueError, match="delta"):
        deviation_bound(1, 10, delta)


def test_unknown_forms_are_refused():
    with pytest.raises(ValueError, match="The form is one of"):
        rademacher_bound(1, 1, 1, form="best")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="The form is one of"):
        deviation_bound(1, 1, "1/2", form="best")  # type: ignore[arg-type]


@pytest.mark.parametrize("steps", [[], [(1, 2)], [(0, 2), (0, 1)], [(0, 1), (1, 2)], [(0, 1, 2)]])
def test_bad_steps_are_refused(steps):
    with pytest.raises(ValueError, match=r"overing numbers"):
        entropy_integral(steps, 0, 1, 3)


def test_other_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="starts at a radius"):
        entropy_integral(STEPS, -1, 1, 3)
    with pytest.raises(ValueError, match="A > 0"):
        entropy_bound(STEPS, 0, 3)
    with pytest.raises(ValueError, match="share"):
        entropy_bound(STEPS, 1, 3, share=2)
