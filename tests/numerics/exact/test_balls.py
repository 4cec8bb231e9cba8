"""Balls: containment, maxima that stay rigorous, and comparisons that refuse to guess."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq, fmpz
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.numerics.exact.balls import as_balls, ball_max, ball_min, decided_less, decided_less_equal, precision
from lemmata.numerics.exact.cyclotomic.numbers import cosine, root_of_unity

midpoints = st.integers(-20, 20)
radii = st.integers(0, 6)
pairs = st.tuples(midpoints, radii)


def ball(pair: tuple[int, int]) -> arb:
    return arb(*pair)


@settings(max_examples=100, deadline=None)
@given(st.lists(pairs, min_size=1, max_size=5), st.data())
def test_ball_max_and_min_contain_the_extremes_of_all_points(
    values: list[tuple[int, int]], data: st.DataObject
) -> None:
    points = [m + r * data.draw(st.fractions(-1, 1)) for m, r in values]
    for enclosure, extreme in [
        (ball_max(map(ball, values)), max(points)),
        (ball_min(map(ball, values)), min(points)),
    ]:
        assert enclosure.contains(arb(fmpq(extreme.numerator, extreme.denominator)))
    # and they are tight: no further out than the ends of the balls, up to the 30-bit radius of a ball
    assert ball_max(map(ball, values)).upper() <= max(m + r for m, r in values) + 2.0**-20
    assert ball_min(map(ball, values)).lower() >= min(m - r for m, r in values) - 2.0**-20


def test_the_trap_that_ball_max_avoids() -> None:
    wide, point = arb(0, 1), arb(0.5)
    assert not wide < point
    assert not wide > point
    assert ball_max([wide, point]).contains(arb(1))
    assert ball_max([point, wide]).contains(arb(0.5))


@settings(max_examples=200, deadline=None)
@given(pairs, pairs)
def test_comparisons_are_decided_exactly_when_all_points_agree(a: tuple[int, int], b: tuple[int, int]) -> None:
    # a ball may round its radius up: unless both are points, half a unit keeps the ends from touching
    b_middle = b[0] + (0.5 if a[1] or b[1] else 0)
    low_a, high_a, low_b, high_b = a[0] - a[1], a[0] + a[1], b_middle - b[1], b_middle + b[1]
    for decide, certain, impossible in [
        (decided_less, high_a < low_b, low_a >= high_b),
        (decided_less_equal, high_a <= low_b, low_a > high_b),
    ]:
        if certain or impossible:
            assert decide(ball(a), arb(b_middle, b[1])) is certain
        else:
            with pytest.raises(ValueError, match="is undecided"):
                decide(ball(a), arb(b_middle, b[1]))


def test_comparisons_with_exact_numbers_and_nan() -> None:
    assert decided_less(cosine(1, 5), Fraction(1, 3))
    assert not decided_less(1, 1)
    assert decided_less_equal(1, 1)
    with pytest.raises(ValueError, match="undecided"):
        decided_less(arb("nan"), 1)


@settings(max_examples=60, deadline=None)
@given(st.fractions(), st.integers(2, 200))
def test_conversion_contains_the_number(q: Fraction, bits: int) -> None:
    x = fmpq(q.numerator, q.denominator)
    for converted in as_balls([q, x, str(q)], prec=bits):
        with precision(1000):
            assert (converted * q.denominator).contains(arb(q.numerator))


def test_conversion_of_floats_cyclotomics_and_shapes() -> None:
    floats = as_balls(np.array([[0.1, -2.0]]))
    assert floats.shape == (1, 2)
    assert floats[0, 0].is_exact()
    assert not floats[0, 0].contains(arb(1) / 10)  # the binary value of 0.1 is not 1/10
    assert as_balls(["1/10"])[0].contains(arb(1) / 10)
    with precision(200):
        quarter = as_balls([cosine(1, 5)])[0] * 4 + 1
        assert quarter.overlaps(arb(5).sqrt())
        assert quarter.rad() < arb(2) ** -190
    assert as_balls([[fmpz(3)]])[0, 0] == 3
    assert np.exp(as_balls([0, 1]))[0] == 1
    kept = arb(1, 2)
    assert as_balls([kept])[0] is kept


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1j, None, "x", root_of_unity(1, 3)])
def test_conversion_refuses(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"no enclosure|not real"):
        as_balls([bad])


def test_extremes_refuse_nothing_and_nan() -> None:
    with pytest.raises(ValueError, match="maximum of no balls"):
        ball_max([])
    with pytest.raises(ValueError, match="minimum of no balls"):
        ball_min([])
    with pytest.raises(ValueError, match=r"Element 1 is .*not NaN"):
        ball_max([arb(1), arb("nan")])
    number: Any = 1.0
    with pytest.raises(ValueError, match=r"Element 0 is 1\.0"):
        ball_max([number])


def test_precision_is_restored_also_after_an_error() -> None:
    before = ctx.prec
    with precision(300):
        assert ctx.prec == 300
        with pytest.raises(ZeroDivisionError), precision(17):
            raise ZeroDivisionError(ctx.prec)
        assert ctx.prec == 300
    assert ctx.prec == before
    for bits in (1, 0, 64.0, True):
        with pytest.raises(ValueError, match=r"precision .* is not valid"), precision(bits):  # type: ignore[arg-type]
            pass
