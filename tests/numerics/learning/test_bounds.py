"""Bounds on errors and sample sizes, computed once more in plain floats."""

import math
from fractions import Fraction

import numpy as np
import pytest

from numerics.learning.covers import chaining_bound, margin_error_bound, margin_free_bound
from numerics.learning.generalisation import erm_bound


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
    for constants, factor, scale in (("sharp", 3, 2), ("printed", 5, 4)):
        found = float(erm_bound(Fraction(1, 7), 50, delta=Fraction(1, 20), constants=constants))
        assert found == pytest.approx(factor / 7 + math.sqrt(scale * math.log(40) / 50), rel=1e-12)
    assert float(margin_error_bound(n, 3, Fraction(1, 4), p)) == pytest.approx(2 * chaining + ends, rel=1e-12)
    free = margin_free_bound(n, 3, 2, p, empirical=Fraction(1, 8), delta=Fraction(1, 50))
    assert float(free) == pytest.approx(1 / 8 + 2 * chaining + math.sqrt(math.log(600) / (2 * n)), rel=1e-12)
