"""The trend test: its mean and variance over all arrangements, its level by simulation, bad input."""

import itertools
import math

import numpy as np
import pytest

from lemmata.numerics.runs.trends import trend_test


def test_mean_and_variance_are_those_of_all_arrangements() -> None:
    """Three groups of scores 1, 2, 5 with 2, 3, 2 trials, 3 successes: all C(7, 3) placements."""
    scores, sizes = (1.0, 2.0, 5.0), (2, 3, 2)
    runs = [score for score, size in zip(scores, sizes, strict=True) for _ in range(size)]
    owner = [group for group, size in enumerate(sizes) for _ in range(size)]
    placements = list(itertools.combinations(range(7), 3))
    totals = [sum(runs[i] for i in chosen) for chosen in placements]
    mean, deviation = np.mean(totals), np.std(totals)
    for chosen, total in zip(placements, totals, strict=True):
        won = [sum(owner[i] == group for i in chosen) for group in range(3)]
        z = trend_test([list(zip(scores, won, sizes, strict=True))]).z
        assert math.isclose(z, (total - mean) / deviation, abs_tol=1e-12)


def test_strata_add_up_and_empty_ones_count_nothing() -> None:
    stratum = [(0.0, 3, 10), (1.0, 8, 10)]
    one, four = trend_test([stratum]), trend_test([stratum] * 4)
    assert math.isclose(four.z, 2 * one.z)
    silent = [[(0.0, 10, 10), (1.0, 10, 10)], [(0.0, 0, 5), (1.0, 0, 9)], [(2.0, 3, 7)], [(0.0, 1, 1)], []]
    assert trend_test([stratum, *silent]) == one
    assert trend_test(silent).z == 0
    assert trend_test([]).rising == 0.5


def test_p_values_have_the_right_side() -> None:
    up = trend_test([[(1.0, 1, 20), (2.0, 10, 20), (3.0, 19, 20)]])
    down = trend_test([[(1.0, 19, 20), (2.0, 10, 20), (3.0, 1, 20)]])
    assert up.rising < 1e-6 < 0.99 < up.falling
    assert math.isclose(up.z, -down.z)
    assert math.isclose(up.rising, down.falling)


def test_the_level_is_kept_without_a_trend() -> None:
    """4000 tables without a trend: the share with p < 0.05 is 0.05 up to five standard deviations (0.017) and the
    discreteness of 60 trials."""
    rng = np.random.default_rng(0)
    tables = rng.binomial(20, 0.4, size=(4000, 3))
    below = np.mean([trend_test([[(i, int(s), 20) for i, s in enumerate(row)]]).rising < 0.05 for row in tables])
    assert abs(below - 0.05) < 0.02


def test_bad_input() -> None:
    for group in ((1.0, 3, 2), (1.0, -1, 2), (math.inf, 1, 2), (math.nan, 1, 2)):
        with pytest.raises(ValueError, match="finite score and 0 <= successes <= trials"):
            trend_test([[group]])
