"""Signs and values of sums of square roots: against the kernel, cyclotomic fields, and near cancellations."""

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates import kernel
from lemmata.numerics.exact.cyclotomic.numbers import rational, sqrt_rational
from lemmata.numerics.exact.root_sums import (
    RootSums,
    root_sum_ball,
    root_sum_number,
    root_sum_product,
    root_sum_reciprocal,
    root_sum_sign,
    square_root,
)

RADICANDS = (1, 2, 3, 5, 6, 30)


@given(st.lists(st.fractions(max_denominator=1000), min_size=6, max_size=6))
def test_the_sign_is_that_of_the_kernel_and_of_the_field(q: list[Fraction]) -> None:
    coefficients = [fmpq(x.numerator, x.denominator) for x in q]
    sign = root_sum_sign(coefficients, RADICANDS)
    assert sign == kernel.sign({m: x for m, x in zip(RADICANDS, q, strict=True) if x})
    numbers = RootSums(np.array(coefficients, dtype=object)[:, None], RADICANDS).numbers()
    assert sign == numbers[0].sign()


@pytest.mark.parametrize("digits", [10, 100, 1000, 5000])
def test_close_to_zero_is_not_zero(digits: int) -> None:
    """sqrt(2) + sqrt(3) against decimals on either side of it."""
    scale = 10**digits
    below = fmpq(isqrt(2 * scale**2) + isqrt(3 * scale**2), scale)
    assert root_sum_sign([-below, fmpq(1), fmpq(1)], (1, 2, 3)) == 1
    assert root_sum_sign([-below - fmpq(2, scale), fmpq(1), fmpq(1)], (1, 2, 3)) == -1
    assert root_sum_sign([fmpq(0)] * 3, (1, 2, 3)) == 0


def test_numbers_and_balls_agree() -> None:
    sums = RootSums(np.array([[1, 0], [fmpq(-2, 3), 5]], dtype=object), (1, 7))
    numbers, balls = sums.numbers(), sums.balls(100)
    assert numbers.tolist() == [1 - sqrt_rational(7) * fmpq(2, 3), 5 * sqrt_rational(7)]
    for number, ball in zip(numbers, balls, strict=True):
        assert ball.overlaps(number.ball(100))
        assert ball.rel_accuracy_bits() > 90
    assert root_sum_ball([fmpq(0)], (1,), 64) == arb(0)


@given(st.integers(1, 10**9))
def test_a_square_root_is_an_integer_times_a_squarefree_one(a: int) -> None:
    f, m = square_root(a)
    assert f * f * m == a
    assert kernel.square_part(m) == 1


@given(
    st.dictionaries(
        st.sampled_from([1, 2, 3, 5, 6, 10, 15, 30, 7, 14]),
        st.fractions(max_denominator=9).filter(bool),
        min_size=1,
        max_size=6,
    )
)
def test_reciprocals_and_products_agree_with_cyclotomic_arithmetic(sums):
    x = {m: fmpq(q.numerator, q.denominator) for m, q in sums.items()}
    number = root_sum_number(x)
    assert number == sum((q * sqrt_rational(m) for m, q in x.items()), start=rational(0))
    reciprocal = root_sum_reciprocal(x)
    assert root_sum_product(x, reciprocal) == {1: 1}
    assert root_sum_number(reciprocal) * number == 1
    assert root_sum_number(root_sum_product(x, x)) == number * number


def test_zero_has_no_reciprocal():
    with pytest.raises(ZeroDivisionError, match="is 0 and has no reciprocal"):
        root_sum_reciprocal({})
