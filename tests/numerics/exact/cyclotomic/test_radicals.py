"""Square roots in cyclotomic fields: their squares, their fields, and sums of them."""

from fractions import Fraction

import pytest
import sympy
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.numerics.exact.cyclotomic.numbers import (
    as_radicals,
    cosine,
    radical_string,
    rational,
    root_of_unity,
    sqrt_rational,
    to_sympy,
)
from tests.numerics.exact.cyclotomic.strategies import fractions, oracle

quick = settings(max_examples=60, deadline=None)


@quick
@given(st.builds(Fraction, st.integers(-60, 60), st.integers(1, 20)))
def test_square_roots(q: Fraction) -> None:
    root = sqrt_rational(q)
    assert root * root == q
    assert (root.imag if q < 0 else root.real).sign() == (1 if q else 0)
    assert (root.real if q < 0 else root.imag) == 0
    if q > 0:
        assert arb(fmpq(q.numerator, q.denominator)).sqrt().overlaps(root.ball(53))


def test_square_roots_lie_in_the_field_of_their_discriminant() -> None:
    for m, conductor in [(2, 8), (-2, 8), (3, 12), (-3, 3), (5, 5), (6, 24), (21, 21), (-15, 15), (15, 60), (-1, 4)]:
        assert sqrt_rational(m).order == conductor == sqrt_rational(m).minimal_order
    assert sqrt_rational(2) * sqrt_rational(3) == sqrt_rational(6)
    assert sqrt_rational(2) * sqrt_rational(3) != -sqrt_rational(6)


@quick
@given(st.dictionaries(st.sampled_from([1, 2, 3, 5, 6, 7, 10, 15, 21]), fractions, max_size=4))
def test_radicals_are_recovered(radicals: dict[int, Fraction]) -> None:
    x = sum((sqrt_rational(m) * q for m, q in radicals.items()), rational(0))
    expected = {m: fmpq(q.numerator, q.denominator) for m, q in radicals.items() if q}
    assert as_radicals(x) == expected
    symbolic = sympy.Add(*(sympy.Rational(q.numerator, q.denominator) * sympy.sqrt(m) for m, q in radicals.items()))
    assert sympy.expand(to_sympy(x) - symbolic) == 0
    assert sympy.expand(sympy.sympify(radical_string(x)) - symbolic) == 0


def test_numbers_without_real_radicals_of_degree_two() -> None:
    assert as_radicals(cosine(1, 7)) is None
    assert as_radicals(cosine(1, 16)) is None  # sqrt(2 + sqrt 2)/2
    assert as_radicals(cosine(1, 5)) == {1: fmpq(-1, 4), 5: fmpq(1, 4)}
    assert radical_string(cosine(1, 5)) == "-1/4 + 1/4*sqrt(5)"
    with pytest.raises(ValueError, match="not a rational combination"):
        radical_string(cosine(1, 7))
    with pytest.raises(ValueError, match="is not real"):
        as_radicals(root_of_unity(1, 3))
    for x in (cosine(1, 7), root_of_unity(2, 7) / 3, cosine(1, 16) - 1):
        assert abs(sympy.N(to_sympy(x), 40) - sympy.sympify(oracle(x))) < sympy.Float(10) ** -35
