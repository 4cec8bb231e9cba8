"""The recipe for exact arrays: what it accepts, what it refuses, and how far its floats are off."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq, fmpz
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.numerics.exact.cyclotomic.numbers import cosine, root_of_unity, sqrt_rational
from lemmata.numerics.exact.numbers import as_exact, ceiling, is_exact, sign_of, to_float


def test_every_exact_type_becomes_the_same_rational() -> None:
    half = as_exact(["1/2", Fraction(1, 2), fmpq(1, 2), "0.5"])
    assert half.dtype == object
    assert all(type(x) is fmpq and x == fmpq(1, 2) for x in half)
    whole = as_exact([[3, fmpz(3)], [np.int64(3), "3"]])
    assert whole.shape == (2, 2)
    assert all(type(x) is fmpq and x == 3 for x in whole.ravel())
    assert as_exact(np.arange(3, dtype=np.uint8)).tolist() == [0, 1, 2]
    assert as_exact(2**80)[()] == fmpq(2**80)
    root = cosine(1, 5)
    assert as_exact([root, 1])[0] is root


@pytest.mark.parametrize("array", [[1.0], [0.1, "1/2"], np.ones(2), [None], ["one"], ["1/0"], [arb(1)], [1j]])
def test_inexact_elements_are_refused(array: Any) -> None:
    with pytest.raises(ValueError, match=r"Element \[0\] is .*(not exact|must look like)"):
        as_exact(array)


def test_is_exact() -> None:
    assert is_exact(np.arange(3))
    assert is_exact(as_exact(["1/3", 2]))
    assert is_exact(np.array([cosine(1, 7), 1, Fraction(1, 2)], dtype=object))
    assert not is_exact(np.ones(3))
    assert not is_exact(np.array([1, 0.5], dtype=object))
    assert not is_exact(np.array([arb(1)], dtype=object))


@settings(max_examples=200, deadline=None)
@given(st.fractions(), st.integers(-200, 200))
def test_rationals_are_correctly_rounded(q: Fraction, exponent: int) -> None:
    x = q * Fraction(2) ** exponent
    nearest = float(x)  # Python rounds Fractions correctly
    assert to_float(np.array([x, fmpq(x.numerator, x.denominator)], dtype=object)).tolist() == [nearest] * 2


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_radicals_respect_the_stated_error(a: int, b: int) -> None:
    x = a * sqrt_rational(2) - b * sqrt_rational(3)
    value = Fraction(float(to_float(np.array(x, dtype=object))))
    eps = Fraction(1, 2**53) + Fraction(1, 2**60)
    # |value - x| <= eps |x| means that x lies between value/(1 + eps) and value/(1 - eps); decided exactly
    bounds = sorted([value / (1 + eps), value / (1 - eps)])
    assert bounds[0] <= x <= bounds[1]


def test_to_float_keeps_shape_and_refuses_what_has_no_float() -> None:
    assert to_float(np.array([[1, 2]])).dtype == np.float64
    assert to_float(as_exact([["1/4", 1]])).tolist() == [[0.25, 1.0]]
    assert to_float(np.array([arb(1) / 3, 0.5], dtype=object)).tolist() == [1 / 3, 0.5]
    for bad, message in [
        (root_of_unity(1, 3), "is not real"),
        (fmpq(10**400), "beyond the range"),
        (arb("inf"), "not finite"),
        (1j, "not a real number"),
        ("1", "not a real number"),
    ]:
        with pytest.raises(ValueError, match=rf"Element \[1\] is .*{message}"):
            to_float(np.array([0, bad], dtype=object))


def test_signs() -> None:
    assert [sign_of(x) for x in (-3, 0, fmpz(2), fmpq(-1, 2), Fraction(1, 9))] == [-1, 0, 1, -1, 1]
    assert sign_of(sqrt_rational(2) + sqrt_rational(3) - sqrt_rational(10)) == -1
    assert sign_of(sqrt_rational(2) * sqrt_rational(3) - sqrt_rational(6)) == 0
    assert (sign_of(arb(2, 1)), sign_of(arb(-2, 1)), sign_of(arb(0))) == (1, -1, 0)
    with pytest.raises(ValueError, match="undecided"):
        sign_of(arb(1, 2))
    with pytest.raises(ValueError, match="no exact sign"):
        sign_of(0.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not real"):
        sign_of(root_of_unity(1, 3))


@pytest.mark.parametrize(
    ("ball", "least"),
    [(arb(3), 3), (arb(7) / 2, 4), (arb("2.5 +/- 0.6"), 4), (-arb(1) / 3, 0), (arb(2) ** 200, 2**200)],
)
def test_the_ceiling_is_an_integer_above_every_point(ball: arb, least: int) -> None:
    assert ceiling(ball) == least
