"""Interval kernels: every operation contains the exact result, at random and at extreme operands."""

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.certificates.induction.intervals import (
    EXP_TABLE,
    add,
    as_intervals,
    down,
    exp_high,
    exp_low,
    multiply,
    up,
)
from lemmata.numerics.exact.precision import precision


def exact(x):
    numerator, denominator = float(x).as_integer_ratio()
    return fmpq(numerator, denominator)


def operands(rng, count):
    scale = 10.0 ** rng.integers(-12, 13, size=count)
    return np.sort(rng.normal(size=(count, 2)) * scale[:, None], axis=1)


def test_operations_are_enclosed():
    rng = np.random.default_rng(1)
    inside = 0
    for a, b in zip(operands(rng, 2000), operands(rng, 2000), strict=True):
        total, product = add(tuple(a), tuple(b)), multiply(tuple(a), tuple(b))
        corners = [exact(x) * exact(y) for x in a for y in b]
        assert exact(total[0]) <= exact(a[0]) + exact(b[0])
        assert exact(a[1]) + exact(b[1]) <= exact(total[1])
        assert exact(product[0]) <= min(corners)
        assert max(corners) <= exact(product[1])
        inside += exact(product[1]) <= max(corners) + abs(max(corners)) / 2**49 + fmpq(1, 10**200)
    assert inside == 2000  # and not by much


@pytest.mark.parametrize("x", [0.0, 1.0, -1.0, 5e-324, -3e-310, 1.7e300, 2.0**-1022, 1 - 2.0**-53])
def test_rounding_moves_outwards(x):
    assert down(x) < x < up(x)
    assert exact(up(x)) - exact(x) >= abs(exact(x)) / 2**53
    assert exact(x) - exact(down(x)) >= abs(exact(x)) / 2**53


def test_exponentials_are_enclosed():
    rng = np.random.default_rng(2)
    ends = [n / 128 + d for n in range(-7680, 7681, 97) for d in (-(2.0**-50), 0.0, 2.0**-50)]
    places = [*rng.uniform(-60, 60, 3000).tolist(), *rng.uniform(-0.02, 0.02, 500).tolist(), *ends, 5e-324, 60.0, -60.0]
    with precision(128):
        for x in places:
            if abs(x) > 60:
                continue
            true, low, high = arb(x).exp(), exp_low(x, EXP_TABLE), exp_high(x, EXP_TABLE)
            assert arb(low) < true < arb(high), x
            assert arb(high) - arb(low) < true / 2**48
    assert exp_low(-61.0, EXP_TABLE) == 0.0
    assert exp_high(61.0, EXP_TABLE) == np.inf
    assert exp_high(-1e9, EXP_TABLE) > 0.0
    assert exp_low(1e9, EXP_TABLE) > 0.0


def test_balls_become_intervals_that_contain_them():
    balls = np.array([[arb(1) / 3, arb(2, 0.5)], [arb(0), arb("1e-400")]], dtype=object)
    found = as_intervals(balls)
    for index in np.ndindex(2, 2):
        assert arb(found[index][0]) <= balls[index] <= arb(found[index][1])
    assert found[0, 0, 1] - found[0, 0, 0] < 1e-15
    with pytest.raises(ValueError, match="not finite"):
        as_intervals(np.array([arb("inf")], dtype=object))
