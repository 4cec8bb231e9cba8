"""Confidence intervals: against tables, and their coverage by exact summation or simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from lemmata.numerics.runs.confidence import mean_interval, median_interval, proportion_interval


def test_mean_interval_of_a_textbook_sample():
    # n = 10, mean 5.5, s = 3.02765, t_9(.975) = 2.262157 from printed tables
    interval = mean_interval(list(range(1, 11)))
    assert interval.estimate == 5.5
    assert math.isclose(interval.high - 5.5, 2.262157 * 3.0276504 / math.sqrt(10), rel_tol=1e-6)
    assert math.isclose(interval.high + interval.low, 11)


@pytest.mark.parametrize("n", [1, 7, 20])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_proportion_interval_covers_at_every_share(n, level):
    intervals = [proportion_interval(s, n, level) for s in range(n + 1)]
    for p in np.linspace(0.003, 0.997, 200):
        covered = sum(
            math.comb(n, s) * p**s * (1 - p) ** (n - s) for s, i in enumerate(intervals) if i.low <= p <= i.high
        )
        assert covered >= level - 1e-9  # 20 terms, each with an error of a few ulp
    assert intervals[0].low == 0
    assert intervals[-1].high == 1


def test_ten_of_ten():
    assert math.isclose(proportion_interval(10, 10).low, 0.025**0.1, rel_tol=1e-9)


@pytest.mark.parametrize("n", [6, 9, 10, 25])
def test_median_interval_is_the_narrowest_pair_of_order_statistics_that_covers(n):
    interval = median_interval(list(range(1, n + 1)))
    r = int(interval.low)
    assert interval.high == n + 1 - r
    miss = [2 * sum(math.comb(n, i) for i in range(s)) / 2**n for s in (r, r + 1)]
    assert miss[0] <= 0.05 < miss[1]
    assert interval.estimate == (n + 1) / 2


def test_runs_that_never_get_there_are_infinite():
    interval = median_interval([1.0, 2.0, 3.0, 4.0, 5.0, math.inf])
    assert (interval.low, interval.estimate, interval.high) == (1.0, 3.5, math.inf)
    assert median_interval([math.inf] * 6).estimate == math.inf


def test_median_interval_when_the_tail_is_met_exactly():
    assert median_interval([3.0, 1.0], 0.5).as_dict() == {"estimate": 2.0, "low": 1.0, "high": 3.0, "level": 0.5}


def test_coverage_in_a_simulation():
    rng = np.random.default_rng(0)
    samples = rng.normal(1.0, 2.0, (2000, 12))
    hits = sum(i.low <= 1 <= i.high for i in map(mean_interval, samples))
    assert stats.binomtest(hits, 2000, 0.95).pvalue > 1e-3
    hits = sum(i.low <= 1 <= i.high for i in map(median_interval, samples))
    assert hits >= 1900  # 0.9614 in truth: 2000 * 0.9614 - 2.7 standard deviations


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: mean_interval([1.0]), "2 or more finite numbers"),
        (lambda: mean_interval([1.0, math.inf]), "2 or more finite numbers"),
        (lambda: mean_interval([1.0, 2.0], 1.0), "strictly between 0 and 1"),
        (lambda: median_interval([1.0] * 5), "needs 6 numbers or more"),
        (lambda: median_interval([math.nan] * 6), "needs 6 numbers or more"),
        (lambda: proportion_interval(3, 2), "0 <= successes <= trials"),
        (lambda: proportion_interval(0, 0), "0 <= successes <= trials"),
    ],
)
def test_bad_input(call, reason):
    with pytest.raises(ValueError, match=reason):
        call()
