"""Number fields from decimals: polynomials, elements and linear algebra that are known."""

from math import isqrt

import pytest
from flint import fmpq, fmpq_poly

from lemmata.certificates.operations.number_field import NumberField, field_of, minimal_polynomial

BITS = 1500


def root(number: int) -> int:
    return isqrt(number << (2 * BITS))


def test_minimal_polynomials_of_sums_of_roots():
    assert minimal_polynomial(root(2) + root(3), BITS) == (1, 0, -10, 0, 1)
    assert minimal_polynomial((root(5) - (1 << BITS)) // 2, BITS) == (-1, 1, 1)
    assert minimal_polynomial((5 << BITS) // 7, BITS) == (-5, 7)
    assert minimal_polynomial(root(2) + (1 << (BITS - 400)), BITS, (4,)) is None  # not quite


def test_many_bits_are_used_where_few_do_not_suffice():
    """A sum of four roots over 1000, of degree 16: its polynomial has coefficients of 155 bits."""
    found = {
        bits: minimal_polynomial(sum(isqrt(k << (2 * bits)) for k in (2, 3, 5, 7)) // 1000, bits)
        for bits in (3300, 5000)
    }
    assert found[3300] is None
    assert found[5000] is not None
    assert len(found[5000]) == 17
    assert found[5000][1::2] == (0,) * 8
    whole, rest = divmod(10**48, found[5000][-1])
    assert rest == 0
    assert all(c * whole % 1000**i == 0 for i, c in enumerate(found[5000]))  # the sum itself is an algebraic integer


def test_a_field_holds_what_it_was_made_for():
    numbers = [root(2) // 3, root(6), (1 << BITS) // 5]
    found = field_of(numbers, BITS)
    assert found is not None
    field, (a, b, c) = found
    assert field.degree == 4
    assert field.times(a, a) == fmpq_poly([fmpq(2, 9)])
    assert field.times(b, b) == fmpq_poly([6])
    assert c == fmpq_poly([fmpq(1, 5)])
    assert [field.to_float(x) for x in (a, b)] == pytest.approx([2**0.5 / 3, 6**0.5])
    assert field.times(field.inverse(a), a) == fmpq_poly([1])
    with pytest.raises(ZeroDivisionError):
        field.inverse(fmpq_poly([0]))


def test_linear_algebra_over_a_field():
    field = NumberField((-2, 0, 1), root(2), BITS)
    one, theta = fmpq_poly([1]), fmpq_poly([0, 1])
    # (1, theta; theta, 2) is singular, (1, theta; theta, 1) is not: x + theta y = theta, theta x + y = 3
    assert field.nullspace([[one, theta], [theta, 2 * one]]) == [[-theta, one]]
    assert field.nullspace([[one, theta], [theta, one]]) == []
    solved = field.solve([[one, theta], [theta, one]], [theta, 3 * one])
    assert solved is not None
    x, y = solved
    assert (x + field.times(theta, y), field.times(theta, x) + y) == (theta, 3 * one)
    assert field.solve([[one, theta], [theta, 2 * one]], [theta, 3 * one]) is None
    assert field.element(root(3)) is None
