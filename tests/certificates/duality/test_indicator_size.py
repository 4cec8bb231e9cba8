"""Lower bounds of sup|H|: an independent integral, scaling, tampered weights, bad input."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.special import ndtr

from lemmata.certificates.duality.indicator_size import _mean_modulus, least_supremum, supremum_bound

POINTS, WEIGHTS = (Fraction(-17, 20), Fraction(17, 20)), (Fraction(-5), Fraction(5))


def test_the_bound_against_an_adaptive_integral() -> None:
    """mu = (-5, 5) at the ends, Phi = z: (8.5 - 0.2)/E|5 P_0.85 - 5 P_-0.85| by SciPy's quadrature, from below."""

    def integrand(beta: float, alpha: float) -> float:
        scale = math.sqrt(0.75 - 0.85**2 + 2)
        difference = ndtr((0.85 * alpha + beta / 2) / scale) - ndtr((-0.85 * alpha + beta / 2) / scale)
        return 5 * abs(difference) * math.exp(-(alpha**2 + beta**2) / 2) / (2 * math.pi)

    mean = 2 * dblquad(integrand, 0, 8, -8, 8, epsabs=1e-8)[0]  # symmetric in alpha
    expected = (8.5 - 0.2) / mean
    found = supremum_bound([0, 1], 2, Fraction(1, 50), POINTS, WEIGHTS)
    assert 0.985 * expected < found < expected
    assert found < supremum_bound([0, 1], 2, Fraction(1, 50), POINTS, WEIGHTS, cells=4000) < expected


@pytest.mark.parametrize("t", [Fraction(-1, 2), Fraction(0), Fraction(4, 5)])
@pytest.mark.parametrize("cells", [100, 400])
def test_what_the_grid_adds_has_a_closed_form(t: Fraction, cells: int) -> None:
    """One mass: E P_t = 1/2 by symmetry, and z is normal of variance v, so that E phi(z) = 1/sqrt(2 pi (1 + v)).

    The grid moves z by a cell, a relative 2 side of it: the tolerance.
    """
    side, scale = 16 / cells, math.sqrt(0.75 - float(t) ** 2 + 2)
    variance = (float(t) ** 2 + 1 / 4) / scale**2
    step = (abs(float(t)) + 1 / 2) / scale * side / 2
    added = step / math.sqrt(2 * math.pi * (1 + variance)) + 0.25 * step**2 / 2
    assert _mean_modulus([t], [Fraction(3)], 2.0, cells) == pytest.approx(
        3 * (0.5 + added), rel=0, abs=6 * side * added
    )


def test_scaling() -> None:
    """Weights scale out, and a larger function needs a larger H."""
    once = supremum_bound([0, 1], 2, Fraction(1, 50), POINTS, WEIGHTS, cells=500)
    assert abs(supremum_bound([0, 1], 2, Fraction(1, 50), POINTS, [7 * m for m in WEIGHTS], cells=500) - once) < 1e-9
    assert abs(supremum_bound([0, 3], 2, Fraction(3, 50), POINTS, WEIGHTS, cells=500) - 3 * once) < 1e-9


def test_wrong_weights_prove_nothing_or_less() -> None:
    best = least_supremum([0, 0, 1], 2, Fraction(1, 50), Fraction(17, 20))
    assert supremum_bound([0, 0, 1], 2, Fraction(1, 50), best.points, [-m for m in best.weights], cells=400) == 0
    moved = [best.weights[0] * Fraction(6, 5), *best.weights[1:]]
    assert supremum_bound([0, 0, 1], 2, Fraction(1, 50), best.points, moved) < best.lower / 2
    assert 0.97 * best.optimum < best.lower < 1.01 * best.optimum


@pytest.mark.parametrize(
    ("coefficients", "variance", "epsilon", "reach"),
    [
        ([], 1, 0, Fraction(1, 2)),
        ([0, 1], -1, 0, Fraction(1, 2)),
        ([0, 1], 1, -1, Fraction(1, 2)),
        ([0, 1], 1, 0, 0),
        ([0, 1], 1, 0, Fraction(9, 10)),
    ],
)
def test_numbers_out_of_range_are_refused(coefficients: list, variance: int, epsilon: int, reach: Fraction) -> None:
    with pytest.raises(ValueError, match="Needed are"):
        least_supremum(coefficients, variance, epsilon, reach)


def test_weights_that_do_not_fit_are_refused() -> None:
    for points, weights in (((), ()), (POINTS, WEIGHTS[:1])):
        with pytest.raises(ValueError, match="Every point has one weight"):
            supremum_bound([0, 1], 1, 0, points, weights)
    with pytest.raises(ValueError, match="number of points"):
        least_supremum([0, 1], 1, 0, Fraction(1, 2), points=2)
    assert np.isfinite(supremum_bound([0, 1], 0, 0, [Fraction(1, 2)], [1], cells=100))


def test_a_program_that_the_solver_refuses_is_reported() -> None:
    """The solver takes a bound of 10^30 for an infinite one, and the program for an error in the model."""
    with pytest.raises(ValueError, match="was not solved"):
        least_supremum([0, 10**30], 0, Fraction(1, 50), Fraction(17, 20), points=5)
