"""Outward decimals of rational and irrational numbers.

Edits that change no verdict: the bits that a floor begins with, which double until the enclosure decides.
"""

from fractions import Fraction

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.groups.decimals import outward_decimals, reciprocal_decimals
from lemmata.numerics.groups.names import parse_group


def unit(decimal: str) -> Fraction:
    """One in the last place."""
    digits, _, exponent = decimal.partition("e")
    return Fraction(10) ** (int(exponent or 0) - len(digits.partition(".")[2]))


@given(st.fractions(Fraction(1, 10**6), 10**6), st.integers(-40, 40), st.integers(1, 25))
def test_decimals_of_rational_numbers(number, exponent, digits):
    number *= Fraction(10) ** exponent
    x = fmpq(number.numerator, number.denominator)
    lower, upper = outward_decimals(x, x, digits)
    assert Fraction(lower) <= number <= Fraction(upper)
    assert unit(lower) == unit(upper)
    assert Fraction(upper) - Fraction(lower) == (unit(lower) if Fraction(lower) != number else 0)
    assert len(lower.partition("e")[0].replace(".", "").lstrip("0")) == digits
    reciprocal = {1: 1 / number}
    assert reciprocal_decimals(reciprocal, reciprocal, digits) == (lower, upper)


def test_decimals_of_irrational_numbers():
    """sqrt 2 times a power of ten is the reciprocal of sqrt 2 over twice that power."""

    def decimals(exponent, digits):
        reciprocal = {2: Fraction(1, 2) / Fraction(10) ** exponent}
        return reciprocal_decimals(reciprocal, reciprocal, digits)

    assert decimals(0, 12) == ("1.41421356237", "1.41421356238")
    assert decimals(-9, 3) == ("1.41e-9", "1.42e-9")
    assert decimals(40, 3) == ("1.41e40", "1.42e40")
    assert decimals(-6, 3) == ("0.00000141", "0.00000142")


def test_how_decimals_are_written():
    assert outward_decimals(fmpq(1, 8), fmpq(1, 8), 3) == ("0.125", "0.125")
    assert outward_decimals(fmpq(9999, 1000), fmpq(9999, 1000), 2) == ("9.9", "10.0")
    assert outward_decimals(fmpq(99999), fmpq(99999), 2) == ("9.9e4", "10.0e4")


@pytest.mark.parametrize("digits", [0, -1, 2.5, True])
def test_wrong_numbers_of_digits_are_refused(digits):
    with pytest.raises(ValueError, match="significant digits must be an integer >= 1"):
        certify_group(parse_group("Z3")).enclosure(digits)
    with pytest.raises(ValueError, match="positive number"):
        outward_decimals(fmpq(0), fmpq(1), 5)
