"""Bounds in a few digits are never better than what is proved."""

import random
from fractions import Fraction

import pytest

from lemmata.reports.bounds import rounded_down, rounded_up


@pytest.mark.parametrize(
    ("bound", "down", "up"),
    [
        (0.00849914550781, "0.00849", "0.0085"),
        (Fraction(1, 3), "0.333", "0.334"),
        (Fraction(1, 4), "0.25", "0.25"),
        (0.9996, "0.999", "1"),
        (Fraction(10**40 + 1, 10**40), "1", "1.01"),
        (8.4449e-11, "8.44e-11", "8.45e-11"),
        (0.0, "0", "0"),
    ],
)
def test_bounds_are_rounded_to_the_side_that_is_proved(bound, down, up):
    assert (rounded_down(bound), rounded_up(bound)) == (down, up)


def test_nothing_but_the_last_digit_is_lost():
    draw = random.Random(5)
    for _ in range(200):
        bound = Fraction(draw.randrange(1, 10**9), draw.randrange(1, 10**12))
        for digits in (1, 3, 6):
            low, high = Fraction(rounded_down(bound, digits)), Fraction(rounded_up(bound, digits))
            assert low <= bound <= high
            assert high - low <= bound * Fraction(10) ** (1 - digits)
