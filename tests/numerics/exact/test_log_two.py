"""The ring Q[ln 2] against ball arithmetic and its axioms, and the averages over chains against quadrature."""

from fractions import Fraction

import mpmath
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.log_two import LN2, LogTwo
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.markov.flat import eigenvalue_averages, flat_average

rationals = st.fractions(min_value=-9, max_value=9, max_denominator=12)
elements = st.lists(rationals, max_size=4).map(lambda values: LogTwo(*values))


@given(elements, elements, elements)
def test_ring_axioms(x, y, z):
    assert x + y == y + x
    assert x * y == y * x
    assert (x + y) * z == x * z + y * z
    assert (x * y) * z == x * (y * z)
    assert x - x == 0
    assert x**2 == x * x


@given(elements, elements)
def test_value_and_order_agree_with_floats_where_these_decide(x, y):
    # coefficients below 10, at most 4: every float operation below is exact to 1e-13
    assert float(x * y) == pytest.approx(float(x) * float(y), abs=1e-9)
    if abs(float(x) - float(y)) > 1e-9:
        assert (x < y) == (float(x) < float(y)) == (y > x)
    assert (x - y).sign() == -(y - x).sign()
    assert (x == y) == ((x - y).sign() == 0)


def test_sign_is_decided_far_beyond_double_precision():
    """Continued fractions: consecutive convergents of ln 2 lie on both sides of it."""
    mpmath.mp.dps = 400
    value, convergents, (p, q), (r, s) = mpmath.log(2), [], (1, 0), (0, 1)
    for _ in range(200):
        a = int(mpmath.floor(value))
        (p, q), (r, s) = (a * p + r, a * q + s), (p, q)
        convergents.append(Fraction(p, q))
        value = 1 / (value - a)
    signs = [(LN2 - c).sign() for c in convergents]
    assert signs == [1, -1] * 100
    assert 0 < abs(LN2 - convergents[-1]) < Fraction(1, 10**180)
    assert float(LN2 - convergents[-1]) != 0


@pytest.mark.parametrize("digits", [10, 30, 36, 100, 180])
def test_floats_are_right_to_the_last_bits_however_much_cancels(digits):
    """ln 2 minus a decimal fraction of so many digits, against 400 digits of mpmath."""
    with mpmath.workdps(400):
        part = Fraction(int(mpmath.floor(mpmath.log(2) * 10**digits)), 10**digits)
        for x, exact in (
            (LN2 - part, mpmath.log(2) - mpmath.mpf(part.numerator) / part.denominator),
            ((LN2 - part) * LN2, (mpmath.log(2) - mpmath.mpf(part.numerator) / part.denominator) * mpmath.log(2)),
            (part - LN2, mpmath.mpf(part.numerator) / part.denominator - mpmath.log(2)),
        ):
            assert exact != 0
            assert abs(mpmath.mpf(float(x)) / exact - 1) < 2**-52
    assert float(LogTwo()) == float(LN2 - LN2) == 0.0
    assert float(LogTwo(Fraction(1, 3))) == 1 / 3


@given(elements)
def test_arrays_are_rounded_and_enclosed(x):
    assert to_float([x, -x]).tolist() == [float(x), -float(x)]
    (ball,) = as_balls([x], 200)
    assert ball.overlaps(x.ball(400))
    assert float(ball.rad()) < 1e-50


def test_equality_hash_and_mixing():
    assert LogTwo(Fraction(1, 2)) == Fraction(1, 2)
    assert hash(LogTwo(fmpq(1, 2))) == hash(fmpq(1, 2))
    assert hash(LogTwo(3)) == hash(fmpq(3))
    assert hash(LN2 / 2) == hash(LogTwo(0, Fraction(1, 2)))
    assert LogTwo(1, -1) == 1 - LN2
    assert LogTwo(Fraction(693147, 10**6)) != LN2
    assert str(2 * LN2 - 1) == "-1 + 2*ln2"
    assert (LN2 * LN2).degree == 2
    assert LogTwo(0, 0).degree == -1


def test_refusals():
    with pytest.raises(ValueError, match=r"coefficient 0\.5 of"):
        LogTwo(1, 0.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _ = LN2 + 0.5
    with pytest.raises(ValueError, match="leaves the ring"):
        _ = LN2 / LN2
    with pytest.raises(ZeroDivisionError):
        _ = LN2 / 0
    with pytest.raises(ValueError, match="exponent -1"):
        _ = LN2**-1


@pytest.mark.parametrize(("p", "q", "s", "n"), [(0, 0, 1, 0), (1, 2, 3, 0), (2, 1, 3, 7), (3, 1, 4, 2), (0, 3, 0, 5)])
def test_averages_agree_with_quadrature(p, q, s, n):
    """U = w, V = r w below the diagonal (Jacobian w) and the mirror image: smooth if p + q + 1 >= s."""
    mpmath.mp.dps = 25

    def half(second):
        return mpmath.quad(
            lambda w, r: w ** (p + q - s + 1) * r**second * (1 + r) ** -s * (1 - w * (1 + r)) ** n, [0, 1], [0, 1]
        )

    expected = float(str(half(q) + half(p)))
    found = eigenvalue_averages({(p, q): 1}, s, n + 1)[n]
    assert abs(float(found) - expected) < 1e-14


def test_average_that_is_infinite_is_refused():
    with pytest.raises(ValueError, match="is infinite"):
        flat_average({(0, 0): 1}, 2)
    with pytest.raises(ValueError, match="no monomial"):
        flat_average({(-1, 3): 1}, 0)
    with pytest.raises(ValueError, match="at least 0"):
        eigenvalue_averages({(0, 0): 1}, 0, -1)
    assert flat_average({}, 5) == 0
