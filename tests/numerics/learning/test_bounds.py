"""Bounds on errors and sample sizes, computed once more in plain floats."""

import math
from fractions import Fraction
from typing import Literal

import numpy as np
import pytest

from lemmata.numerics.learning.covers import (
    chaining_bound,
    dudley_bound,
    log_cover_size,
    margin_error_bound,
    margin_free_bound,
)
from lemmata.numerics.learning.generalisation import erm_bound


@pytest.mark.parametrize(("alpha", "gamma"), [("3", "1/4"), ("7/5", "1"), ("1", "3/2"), ("11/10", "5")])
def test_chaining_in_plain_floats_where_it_is_not_trivial(alpha, gamma):
    """Covers of (4^j kappa^2 rounded up) ln(2 p + 1) nats, of one element where 2^j kappa <= 1; below the trivial 1."""
    n, p, kappa = 10**7, 12, Fraction(alpha) / Fraction(gamma)

    def nats(j: int) -> float:
        return 0.0 if j == 0 or 4**j * kappa**2 <= 1 else math.ceil(4**j * kappa**2) * math.log(2 * p + 1)

    sums = np.cumsum([0.0, *(3 * 2.0**-j * math.sqrt(2 * (nats(j) + nats(j - 1)) / n) for j in range(1, 26))])
    expected = min(total + 2.0**-J for J, total in enumerate(sums))
    assert expected < 0.7
    assert float(chaining_bound(n, Fraction(alpha), Fraction(gamma), p)) == pytest.approx(expected, rel=1e-12)


def test_bounds_on_errors_in_plain_floats():
    n, p = 10**7, 12
    chaining = float(chaining_bound(n, 3, Fraction(1, 4), p))
    ends = math.sqrt(2 * math.log(200) / n)
    cases: list[tuple[Literal["printed", "sharp"], int, int]] = [("sharp", 3, 2), ("printed", 5, 4)]
    for constants, factor, scale in cases:
        found = float(erm_bound(Fraction(1, 7), 50, delta=Fraction(1, 20), constants=constants))
        assert found == pytest.approx(factor / 7 + math.sqrt(scale * math.log(40) / 50), rel=1e-12)
    assert float(margin_error_bound(n, 3, Fraction(1, 4), p)) == pytest.approx(2 * chaining + ends, rel=1e-12)
    free = margin_free_bound(n, 3, 2, p, empirical=Fraction(1, 8), delta=Fraction(1, 50))
    assert float(free) == pytest.approx(1 / 8 + 2 * chaining + math.sqrt(math.log(600) / (2 * n)), rel=1e-12)


def test_bounds_against_floats() -> None:
    assert abs(float(erm_bound(0, 1)) - np.sqrt(2 * np.log(200))) < 1e-12
    assert abs(float(erm_bound(Fraction(1, 10), 4, constants="printed")) - 0.5 - np.sqrt(np.log(200))) < 1e-12
    kappa, n, p = 3.0, 1000, 5

    def log_size(j: int) -> float:
        return np.ceil(4**j * kappa**2) * np.log(2 * p + 1) if j else 0.0

    by_scales = [
        2.0**-J + sum(3 * 2.0**-j * np.sqrt(2 * (log_size(j) + log_size(j - 1)) / n) for j in range(1, J + 1))
        for J in range(12)
    ]
    assert abs(float(chaining_bound(n, 3, 1, p)) - min(by_scales)) < 1e-12
    closed = 4 / n + 12 * np.sqrt(2) * kappa * np.sqrt(np.log(2 * p + 1) / n) * np.log(n)
    assert abs(float(dudley_bound(n, 3, 1, p)) - closed) < 1e-12
    assert float(log_cover_size(2, 1, 8, p)) == 0.0  # one point covers a ball of radius alpha <= gamma/4
    assert float(margin_free_bound(n, 3, 2, p)) > 2 * float(chaining_bound(n, 3, Fraction(1, 4), p))
