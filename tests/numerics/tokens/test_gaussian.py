"""Gaussian moments against expansions and even moments, and what is refused."""

import math

import pytest
from flint import arb, fmpq

from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.tokens.gaussian import norm_moment, squared_norm_variance


def test_variances_of_independent_coordinates():
    assert squared_norm_variance([0, 0, 0], as_exact([[1, 0, 0], [0, 1, 0], [0, 0, 1]])) == 6
    assert squared_norm_variance([3], [[2]]) == 2 * 4 + 4 * 9 * 2
    assert squared_norm_variance(as_exact([fmpq(1, 2), 0]), [[0, 0], [0, 5]]) == 50
    assert squared_norm_variance([1.0, 2.0], [[1.0, 0.5], [0.5, 2.0]]) == pytest.approx(2 * 5.5 + 4 * (1 + 2 + 8))


def test_even_moments_are_products():
    for d in (1, 2, 5):
        for m in (1, 2, 3):
            assert norm_moment(d, 2 * m).overlaps(arb(math.prod(d + 2 * k for k in range(m))))
    assert norm_moment(1, 1).overlaps((arb(2) / arb.pi()).sqrt())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: squared_norm_variance([1], [[1, 2]]), "a mean"),
        (lambda: squared_norm_variance([1, 2], [[1, 2], [3, 4]]), "symmetric"),
        (lambda: norm_moment(2, -2), "above -2"),
        (lambda: norm_moment(2, -3), "above -2, not for -3"),
        (lambda: norm_moment(0, 1), "dimension must be an integer >= 1"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
