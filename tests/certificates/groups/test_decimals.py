"""Outward decimals of rational and irrational numbers."""

from fractions import Fraction

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from certificates.groups.certify import certify_group
from certificates.groups.decimals import outward_decimals
from numerics.exact.cyclotomic.numbers import sqrt_rational
from numerics.groups.names import parse_group


@given(st.fractions(Fraction(1, 10**12), 10**6), st.integers(1, 25))
def test_decimals_of_rational_numbers(number, digits):
    x = fmpq(number.numerator, number.denominator)
    lower, upper = outward_decimals(x, x, digits)
    assert Fraction(lower) <= number <= Fraction(upper)
    places = len(lower.partition(".")[2])
    assert places == len(upper.partition(".")[2])
    assert Fraction(upper) - Fraction(lower) == (Fraction(1, 10**places) if Fraction(lower) != number else 0)
    assert len(lower.replace(".", "").lstrip("0")) >= digits
    assert places == 0 or len(lower.replace(".", "").lstrip("0")) == digits


def test_decimals_of_irrational_numbers():
    assert outward_decimals(sqrt_rational(2), sqrt_rational(2), 12) == ("1.41421356237", "1.41421356238")
    tiny = sqrt_rational(2) / 10**9
    assert outward_decimals(tiny, tiny, 3) == ("0.00000000141", "0.00000000142")
    assert outward_decimals(fmpq(1, 8), fmpq(1, 8), 3) == ("0.125", "0.125")


@pytest.mark.parametrize("digits", [0, -1, 2.5, True])
def test_wrong_numbers_of_digits_are_refused(digits):
    with pytest.raises(ValueError, match="significant digits must be an integer >= 1"):
        certify_group(parse_group("Z3")).enclosure(digits)
    with pytest.raises(ValueError, match="positive number"):
        outward_decimals(fmpq(0), fmpq(1), 5)
