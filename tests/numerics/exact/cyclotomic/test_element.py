"""Cyclotomic numbers against the field axioms, and against mpmath, SymPy and NumPy as independent oracles."""

import pickle
from fractions import Fraction
from math import gcd, isqrt
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq, fmpz
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lemmata.numerics.exact.cyclotomic.numbers import (
    Cyclotomic,
    as_radicals,
    cosine,
    rational,
    root_of_unity,
    sine,
    sqrt_rational,
)
from tests.numerics.exact.cyclotomic.strategies import MP, elements, fractions, oracle

reals = elements().map(lambda x: x.real)
quick = settings(max_examples=60, deadline=None)


@quick
@given(elements(), elements(), elements())
def test_field_axioms(x: Cyclotomic, y: Cyclotomic, z: Cyclotomic) -> None:
    assert (x + y) + z == x + (y + z)
    assert (x * y) * z == x * (y * z)
    assert x * (y + z) == x * y + x * z
    assert x + y == y + x
    assert x * y == y * x
    assert x - y == -(y - x)
    assert x + 0 == x == x * 1
    if y:
        assert x / y * y == x
        assert (1 / y) * y == 1 == y**-1 * y


@quick
@given(elements(), elements())
def test_arithmetic_agrees_with_high_precision_floats(x: Cyclotomic, y: Cyclotomic) -> None:
    # |coefficients| <= 9, at most 6 of them, products of at most two elements: values below 54^2, and 60 digits
    # leave an error below 1e-50
    for exact, approximate in [(x + y, oracle(x) + oracle(y)), (x * y, oracle(x) * oracle(y))]:
        assert abs(oracle(exact) - approximate) < MP.mpf(10) ** -50
        assert abs(complex(exact) - complex(approximate)) <= 4 * 2.0**-53 * abs(approximate)


@quick
@given(elements(), elements())
def test_conjugation_real_and_imaginary_parts(x: Cyclotomic, y: Cyclotomic) -> None:
    i = root_of_unity(1, 4)
    assert x.conjugate().conjugate() == x
    assert (x * y).conjugate() == x.conjugate() * y.conjugate()
    assert x.real.is_real()
    assert x.imag.is_real()
    assert x.real + i * x.imag == x
    assert (x * x.conjugate()).sign() == (1 if x else 0)
    assert x.is_real() == (not x.imag)


@quick
@given(elements(), st.sampled_from([1, 2, 3, 4, 5, 7]))
def test_equality_and_hash_do_not_depend_on_the_field(x: Cyclotomic, factor: int) -> None:
    spread = ["0"] * (x.order * factor)
    for e, c in enumerate(x.coefficients):
        spread[e * factor] = c
    lifted = Cyclotomic(x.order * factor, spread)
    assert lifted == x
    assert hash(lifted) == hash(x)
    assert lifted.minimal_order == x.minimal_order
    assert lifted.minimal() == x
    assert lifted + 1 != x
    assert pickle.loads(pickle.dumps(lifted)) == x


@pytest.mark.parametrize("n", [*range(1, 37), 40, 45, 60, 75, 105])
def test_every_root_of_unity_descends_to_its_own_field(n: int) -> None:
    for e in range(n):
        x, order = Cyclotomic(n, [0] * e + [1]), n // gcd(e, n)
        assert x.minimal_order == (order // 2 if order % 4 == 2 else order)
        assert x.minimal() == x
        assert hash(x) == hash(root_of_unity(e, n))
        assert hash(2 * x + 1) == hash(2 * root_of_unity(e, n) + 1)


@quick
@given(elements())
def test_minimal_order_is_the_conductor_found_by_galois_theory(x: Cyclotomic) -> None:
    # x lies in Q(zeta_d) for d | N exactly if all automorphisms zeta -> zeta^k with k = 1 mod d fix it
    fixed_in = [
        d
        for d in range(1, x.order + 1)
        if x.order % d == 0
        and all(x.galois(k) == x for k in range(1, x.order + 1) if gcd(k, x.order) == 1 and (k - 1) % d == 0)
    ]
    smallest = min(fixed_in)
    assert x.minimal_order == smallest


@given(fractions)
@quick
def test_rational_elements_are_interchangeable_with_rational_numbers(q: Fraction) -> None:
    x = rational(q)
    for twin in (q, fmpq(q.numerator, q.denominator)):
        assert x == twin
        assert twin == x
        assert hash(x) == hash(twin)
    assert x.to_fmpq() == fmpq(q.numerator, q.denominator)
    root = root_of_unity(1, 7)
    assert (root + x) - root == q
    assert ((root + x) - root).order == 1


@quick
@given(reals, reals)
def test_order_agrees_with_high_precision_floats(x: Cyclotomic, y: Cyclotomic) -> None:
    difference = oracle(x - y).real
    # the oracle errs by less than 1e-50 and must decide by itself: a difference in between would fail the test
    assert abs(difference) < MP.mpf(10) ** -50 or abs(difference) > MP.mpf(10) ** -45
    expected = 0 if abs(difference) < MP.mpf(10) ** -50 else int(MP.sign(difference))
    assert (x - y).sign() == expected
    assert (x < y, x <= y, x > y, x >= y) == (expected < 0, expected <= 0, expected > 0, expected >= 0)


def test_sign_of_a_number_below_double_precision() -> None:
    # p^2 - 2 q^2 = 1 (Pell): p - q sqrt 2 = 1/(p + q sqrt 2) > 0, here about 1e-60, and its negative
    p, q = 1, 0
    for _ in range(80):
        p, q = 3 * p + 4 * q, 2 * p + 3 * q
    tiny = p - q * sqrt_rational(2)
    assert tiny.sign() == 1
    assert (-tiny).sign() == -1
    assert float(tiny) == float(Fraction(1, p + isqrt(2 * q * q)))  # same double: they differ by 1e-60 relatively
    before = ctx.prec
    tiny.ball(400)
    assert ctx.prec == before


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 12, 14, 25, 28])
def test_cosines_sines_and_roots(n: int) -> None:
    for a in range(-n, 2 * n):
        assert cosine(a, n) ** 2 + sine(a, n) ** 2 == 1
        assert root_of_unity(a, n) == cosine(a, n) + root_of_unity(1, 4) * sine(a, n)
        assert root_of_unity(a, n) ** n == 1
        # the argument 2 pi a/n carries at most 3 roundings of relative size 2^-53, and |2 pi a/n| <= 4 pi
        assert abs(float(cosine(a, n)) - np.cos(2 * np.pi * a / n)) <= (3 * 4 * np.pi + 2) * 2.0**-53
        assert abs(float(sine(a, n)) - np.sin(2 * np.pi * a / n)) <= (3 * 4 * np.pi + 2) * 2.0**-53
    if n > 1:
        assert sum((root_of_unity(a, n) for a in range(n)), rational(0)) == 0
        assert root_of_unity(1, n) != 1


def test_numpy_object_arrays() -> None:
    x, y = cosine(1, 8), root_of_unity(1, 3)
    A = np.array([[x, y], [rational(2), x * y]], dtype=object)
    assert (A @ A)[0, 0] == x * x + 2 * y
    assert np.sum(A) == x + y + 2 + x * y
    assert (A + A == 2 * A).all()
    assert (A**2 == A * A).all()
    assert (np.int64(3) * A - A * np.array([[3, 3], [3, 3]]) == 0).all()
    assert (np.int64(2) * x, x * np.int32(2), x * fmpz(2), fmpq(2) * x) == (x + x,) * 4
    real = np.array([x, rational(0), -x], dtype=object)
    assert (real > 0).tolist() == [True, False, False]
    assert (real <= Fraction(1, 2)).tolist() == [False, True, True]
    assert (A - y == A - np.array([[y, y], [y, y]])).all()


FLOAT: Any = 0.5
TEXT: Any = "1/2"


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (lambda x: x + 0.5, TypeError, r"exact and does not mix with 0.5 of type float"),
        (lambda x: np.float64(0.5) * x, TypeError, "does not mix"),
        (lambda x: x == 0.5, TypeError, "does not mix"),
        (lambda x: x < 1j, TypeError, "does not mix"),
        (lambda x: x * arb(1), TypeError, "does not mix"),
        (lambda x: x + "1", TypeError, "unsupported operand"),
        (lambda x: x**0.5, TypeError, "not an integer"),
        (lambda x: x / 0, ZeroDivisionError, "divided by 0"),
        (lambda x: x / (x - x), ZeroDivisionError, "no inverse"),
        (lambda x: x.sign(), ValueError, "not real, so it has no sign"),
        (lambda x: x > 0, ValueError, "not real"),
        (lambda x: float(x), ValueError, "not real"),
        (lambda x: x.ball(), ValueError, "not real"),
        (lambda x: x.to_fmpq(), ValueError, "not rational"),
        (lambda x: x.galois(3), ValueError, "coprime"),
        (lambda x: x.lifted(4), ValueError, "give a multiple"),
        (lambda x: Cyclotomic(0, [1]), ValueError, "order 0 is not valid"),
        (lambda x: Cyclotomic(3, [FLOAT]), ValueError, r"coefficient 0.5 is not a rational"),
        (lambda x: Cyclotomic(3, ["1/0"]), ValueError, "not a rational"),
        (lambda x: root_of_unity(1, 10**9 + 7), ValueError, "out of reach"),
        (lambda x: sqrt_rational(10007), ValueError, "out of reach"),
        (lambda x: cosine(1, 0), ValueError, "n >= 1"),
        (lambda x: sqrt_rational(FLOAT), ValueError, "not rational"),
        (lambda x: rational(TEXT), ValueError, "not rational"),
        (lambda x: as_radicals(FLOAT), ValueError, "not an exact number"),
    ],
)
def test_refusals(action, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        action(root_of_unity(1, 3))


@quick
@given(elements(), elements(), st.integers(0, 5))
def test_powers_and_enclosures(x: Cyclotomic, y: Cyclotomic, n: int) -> None:
    product = rational(1)
    for _ in range(n):
        product = product * x
    assert x**n == product
    assume(bool(y))
    assert y**-n * y**n == 1
    enclosure, value = x.enclosure(100), complex(oracle(x))
    assert abs(complex(float(enclosure.real), float(enclosure.imag)) - value) <= 2.0**-51 * abs(value)
