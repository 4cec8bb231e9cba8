"""`lemmata.numerics.runs.ranks`: against all permutations, against SciPy, under independence, and bad input."""

import math
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from lemmata.numerics.runs.ranks import bootstrap_interval, rank_correlation


def test_the_correlation_is_spearmans_with_ties_and_infinities() -> None:
    x, y = [1.0, 2.0, 2.0, 5.0, 7.0], [3.0, math.inf, 1.0, math.inf, 2.0]
    expected = stats.spearmanr(x, [3.0, 9.0, 1.0, 9.0, 2.0]).statistic  # type: ignore[attr-defined]
    assert rank_correlation(x, y, 10).correlation == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("y", [[1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 1.0, 2.0, 5.0, 4.0], [5.0, 4.0, 3.0, 2.0, 1.0]])
def test_the_shares_are_those_of_all_permutations(y: list[float]) -> None:
    """Shares of 19 999 random permutations differ from those of all 120 by less than five deviations, 0.018."""
    x = [1.0, 2.0, 3.0, 4.0, 5.0]
    ranks = stats.rankdata(y)
    every = [float(np.dot(x, order)) for order in permutations(ranks)]
    observed = float(np.dot(x, ranks))
    result = rank_correlation(x, y, 19_999)
    assert abs(result.rising - np.mean([value >= observed - 1e-9 for value in every])) < 0.018
    assert abs(result.falling - np.mean([value <= observed + 1e-9 for value in every])) < 0.018
    assert result.rising > 0
    assert result.falling > 0


def test_an_equal_correlation_counts_on_both_sides() -> None:
    """Of all 40,320 orders of eight numbers 0.6 % have the observed correlation, and the next one is 0.024 away."""
    x, y = np.arange(1.0, 9.0), [3.0, 1.0, 2.0, 6.0, 5.0, 8.0, 4.0, 7.0]
    every = np.array(list(permutations(y))) @ x
    observed = float(np.dot(x, y))
    assert np.mean(every == observed) > 0.005
    result = rank_correlation(list(x), y, 99_999)
    assert abs(result.rising - np.mean(every >= observed)) < 0.002
    assert abs(result.falling - np.mean(every <= observed)) < 0.002


def test_independent_values_are_rejected_as_rarely_as_stated() -> None:
    """At the level 10 %, of 200 independent pairs of lists 20 are expected; more than 40 have probability 2e-5."""
    rng = np.random.default_rng(0)
    count = sum(
        rank_correlation(list(rng.normal(size=12)), list(rng.exponential(size=12)), 99).falling <= 0.1
        for _ in range(200)
    )
    assert 3 <= count <= 40
    assert rank_correlation(range(12), range(12)).rising == 1e-4


def test_the_interval_holds_the_value_as_often_as_stated() -> None:
    """The ratio of two means is 2; of 100 intervals of 90 % at least 80 hold it."""
    rng = np.random.default_rng(1)
    held = 0
    for seed in range(100):
        groups = (list(rng.normal(2, 0.3, size=40)), list(rng.normal(1, 0.1, size=30)))
        interval = bootstrap_interval(lambda a, b: float(a.mean() / b.mean()), groups, 0.9, 200, seed)
        held += interval.low <= 2 <= interval.high
        assert interval.low < interval.estimate < interval.high
    assert 80 <= held <= 98


def test_a_constant_group_has_no_spread() -> None:
    interval = bootstrap_interval(lambda a: float(a.max()), ([3.0, 3.0],), resamples=5)
    assert (interval.low, interval.estimate, interval.high) == (3.0, 3.0, 3.0)


def test_bad_input() -> None:
    for x, y in (([1, 2], [1, 2]), ([1, 2, 3], [1, 2]), ([1, 2, math.nan], [1, 2, 3]), ([1, 2, 3], [1, 2, math.nan])):
        with pytest.raises(ValueError, match="two lists of three or more numbers"):
            rank_correlation(x, y)
    with pytest.raises(ValueError, match="no order"):
        rank_correlation([1, 1, 1], [1, 2, 3])
    with pytest.raises(ValueError, match="to permute"):
        rank_correlation([1, 2, 3], [1, 2, 3], 0)
    for groups, resamples in (((), 10), (([],), 10), (([1.0],), 0)):
        with pytest.raises(ValueError, match="none of them empty, and a resample or more"):
            bootstrap_interval(lambda a: 0.0, groups, resamples=resamples)
    with pytest.raises(ValueError, match="level between 0 and 1"):
        bootstrap_interval(lambda a: 0.0, ([1.0],), level=1.0, resamples=3)
