"""Subgradient descent on the second layer: the compiled loop against the plain one, bounds, bad input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.learning.second_layer import (
    last_iterate_bound,
    second_layer_sizes,
    subgradient_descent,
    uniform_deviation,
)

PHI = np.array([[1, 2], [-1, 1], [3, -1], [0, -2]])
Y = np.array([1, -1, 1, 1])


@pytest.mark.parametrize("steps", [0, 1, 2, 9])
def test_floats_exact_numbers_and_the_definition_agree(steps: int) -> None:
    exact = subgradient_descent(as_exact(PHI), Y, as_exact([fmpq(1, 4)] * 4), fmpq(1, 3), steps)
    floats = subgradient_descent(PHI.astype(float), Y, [0.25] * 4, 1 / 3, steps)
    assert to_float(exact) == pytest.approx(floats, abs=1e-12)
    w = np.zeros(2)
    for t in range(1, steps + 1):
        active = (PHI @ w) * Y < 1
        w = w - (w / 3 - (active * Y) @ PHI / 4) * 3 / t
    assert w == pytest.approx(floats, abs=1e-12)


def test_bounds_are_the_formulas() -> None:
    assert last_iterate_bound(2, "1/2", 3).contains(fmpq(4 * 4 * 2, 4) * (fmpq(11, 6) + fmpq(1, 2)))
    assert float(uniform_deviation(2, 100, "1/2")) == pytest.approx(0.5 * math.sqrt(2 * math.log(4)))
    sharp = (4 + 3 * math.sqrt(math.log(2) / 2)) / 10
    assert float(uniform_deviation(2, 100, "1/2", sharp=True)) == pytest.approx(sharp)


def test_sizes_are_the_least() -> None:
    m, steps = second_layer_sizes(1, "1/4", "1/3")
    assert m == math.ceil((4 * math.sqrt(2) + 1) ** 2 * math.log(6) * 16)
    assert steps / math.log(steps) >= 6400 > (steps - 1) / math.log(steps - 1)


GOOD: dict[str, Any] = {"features": PHI * 1.0, "labels": Y, "law": [0.25] * 4, "penalty": 0.1, "steps": 2}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": np.zeros(4)}, r"The shapes must be features \(inputs, D\)"),
        ({"labels": Y[1:]}, "The shapes must be features"),
        ({"labels": [1, 0, 1, 1]}, "The labels must be 1 or -1"),
        ({"law": [-1, 1, 1, 1]}, "the weights of the law at least 0"),
        ({"penalty": 0}, "The penalty must be positive"),
        ({"steps": -1}, "the number of steps at least 0, not 0.1 and -1"),
        ({"features": PHI * np.nan}, "must be finite numbers"),
        ({"penalty": math.inf}, "must be finite numbers"),
    ],
)
def test_bad_runs_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        subgradient_descent(**{**GOOD, **change})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: last_iterate_bound(-1, 1, 1), "The bound needs R >= 0, lambda > 0 and T >= 0"),
        (lambda: last_iterate_bound(1, 0, 1), "The bound needs R >= 0"),
        (lambda: uniform_deviation(1, 0, "1/2"), "A sample has at least one element, not 0"),
        (lambda: uniform_deviation(-1, 1, "1/2"), r"The norm must be at least 0 and delta in \(0, 1\)"),
        (lambda: uniform_deviation(1, 1, 1), r"delta in \(0, 1\), not 1 and 1"),
        (lambda: second_layer_sizes(1, "1/2", "1/4"), r"eps and delta in \(0, 1/2\)"),
        (lambda: second_layer_sizes(1, "1/4", "1/2"), r"eps and delta in \(0, 1/2\)"),
        (lambda: second_layer_sizes("1/2", "1/4", "1/4"), "a smaller read-out has a hinge loss above eps"),
        (lambda: second_layer_sizes(1, 0.25, "1/4"), "not exact"),
    ],
)
def test_bad_sizes_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
