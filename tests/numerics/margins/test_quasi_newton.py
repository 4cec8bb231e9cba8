"""Limited-memory BFGS: known minima, monotone progress, and its ends."""

from __future__ import annotations

import numpy as np
import pytest

from lemmata.numerics.margins.quasi_newton import Floats, minimise


def rosenbrock(x: Floats) -> tuple[float, Floats]:
    """Minimum 0 at (1, .., 1), at the end of a curved valley."""
    a, b = 1 - x[:-1], x[1:] - x[:-1] ** 2
    return float(np.sum(a**2 + 100 * b**2)), np.r_[-2 * a - 400 * x[:-1] * b, 0] + np.r_[0, 200 * b]


@pytest.mark.parametrize("size", [2, 10, 40])
def test_curved_valley(size: int) -> None:
    start = np.full(size, 0.5)
    found = minimise(rosenbrock, start, iterations=1000)
    assert np.abs(found - 1).max() < 1e-7  # the root of the rounding error of the values
    assert np.all(start == 0.5)


def test_quadratic_with_condition_100() -> None:
    scales = np.logspace(0, 2, 30)

    def quadratic(x: Floats) -> tuple[float, Floats]:
        return float(scales @ (x - 3) ** 2 / 2), scales * (x - 3)

    assert np.abs(minimise(quadratic, np.zeros(30), iterations=500) - 3).max() < 1e-6


def test_smoothed_absolute_values() -> None:
    """Nearly nonsmooth: sum sqrt(x^2 + 10^-12)."""

    def absolute(x: Floats) -> tuple[float, Floats]:
        roots = np.sqrt(x**2 + 1e-12)
        return float(roots.sum()), x / roots

    start = np.random.default_rng(0).normal(size=5)
    assert np.abs(minimise(absolute, start, iterations=300)).max() < 1e-5


def test_values_never_increase() -> None:
    values = [rosenbrock(minimise(rosenbrock, np.full(6, -1.2), iterations=steps))[0] for steps in range(0, 60, 3)]
    assert values == sorted(values, reverse=True)
    assert values[0] == rosenbrock(np.full(6, -1.2))[0]


def test_ends_at_a_stationary_point() -> None:
    calls = 0

    def counted(x: Floats) -> tuple[float, Floats]:
        nonlocal calls
        calls += 1
        return rosenbrock(x)

    assert np.all(minimise(counted, np.ones(4), iterations=100) == 1)
    assert calls == 1


def test_infinite_values_are_stepped_back_from() -> None:
    def barrier(x: Floats) -> tuple[float, Floats]:
        if x[0] <= 0:
            return np.inf, np.array([np.nan])
        return float(x[0] - np.log(x[0])), 1 - 1 / x

    assert minimise(barrier, np.array([30.0]), iterations=100)[0] == pytest.approx(1, abs=1e-7)


def test_infinite_start_is_refused() -> None:
    with pytest.raises(ValueError, match="finite at the start"):
        minimise(lambda x: (np.inf, x), np.ones(2), iterations=1)
