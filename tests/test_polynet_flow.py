"""`numerics.polynet_flow`: closed forms, and input that it refuses."""

from itertools import pairwise

import pytest
from flint import arb, fmpq

from numerics.polynet_flow import arithmetic_mean, blow_up_time, geometric_mean, growth_time, squares


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
