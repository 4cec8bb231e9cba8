"""`lemmata.numerics.parity.polynet_flow`: closed forms, and input that it refuses."""

from itertools import pairwise
from typing import Any

import pytest
from flint import arb, fmpq

from lemmata.numerics.parity.polynet_error import polynet_error
from lemmata.numerics.parity.polynet_flow import (
    arithmetic_mean,
    blow_up_time,
    geometric_mean,
    growth_time,
    plateau_end,
    plateau_share,
    squares,
)


def test_closed_forms() -> None:
    assert growth_time([1], 3).overlaps(arb(1))  # v = 1 + t
    assert growth_time([1, -1, -1], 3).overlaps(arb(1) / 2)  # v = 1/(1 - t)
    assert growth_time([2, -1, -2], 0).overlaps(arb(0))
    # v_1 = a cosh t + b sinh t with a = v_1(0), b = v_2(0)
    t = growth_time([2, 1], 5)
    assert (2 * t.cosh() + t.sinh()).overlaps(arb(3))
    assert blow_up_time([fmpq(1, 2)] * 4).overlaps(arb(2))
    assert arithmetic_mean([1, 2, 2]) == 3
    assert geometric_mean([1, 2, 2, 4]).overlaps(arb(4))


def test_the_time_grows_and_the_ball_is_narrow() -> None:
    initial = [fmpq(1, 10), fmpq(-3, 2), fmpq(-1, 7)]
    times = [growth_time(initial, c) for c in (fmpq(1, 100), 1, 100, arb(10) ** 8)]
    assert all(early < late for early, late in pairwise(times))
    assert times[-1] < blow_up_time(initial)
    assert all(t.rad() < 1e-10 for t in times)


@pytest.mark.parametrize("initial", [[], [1, 0, 1], [1, -1, 1]])
def test_bad_initial_weights(initial: list[object]) -> None:
    with pytest.raises(ValueError, match="initial weights"):
        squares(initial)


def test_floats_are_refused() -> None:
    with pytest.raises(ValueError, match="exact"):
        squares([0.5, 1, 1])


def test_bad_growth_and_too_few_blocks() -> None:
    with pytest.raises(ValueError, match="growth must be at least 0"):
        growth_time([1, 1, 1], -1)
    with pytest.raises(ValueError, match="growth must be at least 0"):
        growth_time([1, 1, 1], arb(0, 1))
    with pytest.raises(ValueError, match="k > 2"):
        blow_up_time([1, 1])


def test_the_plateau_ends_where_the_exact_error_falls() -> None:
    """b against the error itself on both sides of it, for all m <= 9 and k = 3, 4; and the share at k = 3, m = 4."""
    for k in (3, 4):
        for m in range(1, 10):
            for gamma in (fmpq(1, 100), fmpq(1, 10), fmpq(2, 5)):
                b = plateau_end(m, k, gamma)
                beyond, before = fmpq(2 * b + 1, 2), fmpq(2 * b - 1, 2)
                if b >= 0:
                    assert polynet_error([beyond] * k, [(1,) * m] * k) < fmpq(1, 2) - gamma
                if before > 0:
                    assert polynet_error([before] * k, [(1,) * m] * k) >= fmpq(1, 2) - gamma
    assert plateau_end(4, 3, fmpq(2, 5)) == 4  # P(|S| <= 2)^3 = (7/8)^3 < 4/5 < 1
    # at equality the error 1/2 - gamma is not yet below the plateau: P(S = 0)^3 = 1/8 = 2 gamma
    assert (plateau_end(2, 3, fmpq(1, 16)), plateau_end(2, 3, fmpq(1, 17))) == (2, 0)
    assert plateau_share(2, 3, fmpq(1, 17)) == plateau_share(3, 3, fmpq(1, 100)) == 0  # b <= 1: no plateau
    assert plateau_share(4, 3, fmpq(1, 10)) == fmpq(1, 2)
    assert plateau_share(4, 3, fmpq(1, 10), until_zero_error=True) == fmpq(2, 3)


@pytest.mark.parametrize(
    ("m", "k", "gamma"), [(0, 3, fmpq(1, 10)), (4, 0, fmpq(1, 10)), (4, 3, fmpq(1, 2)), (4, 3, 0.1)]
)
def test_bad_plateaus(m: int, k: int, gamma: Any) -> None:
    with pytest.raises(ValueError, match="A plateau needs"):
        plateau_end(m, k, gamma)


def test_no_share_without_a_blow_up() -> None:
    with pytest.raises(ValueError, match="k >= 3 blocks"):
        plateau_share(4, 2, fmpq(1, 10))
    with pytest.raises(ValueError, match="k >= 3 blocks, and m >= 2"):
        plateau_share(1, 3, fmpq(1, 10), until_zero_error=True)
