"""`lemmata.numerics.runs.waiting_times`: against SciPy and closed forms, level and power of the test, bad input."""

import math

import numpy as np
import pytest
from scipy import stats

from lemmata.numerics.runs.waiting_times import exponent_interval, geometric_test, group_share, with_infinity


def brute_distance(times: list[int | None], cap: int) -> tuple[float, float]:
    """The rate and the distance, by the definition, at every t = 0, ..., cap."""
    done = [t for t in times if t is not None]
    rate = len(done) / (sum(done) + cap * (len(times) - len(done)))
    gaps = [abs(sum(t <= s for t in done) / len(times) - stats.geom.cdf(s, rate)) for s in range(cap + 1)]
    return rate, max(gaps)


@pytest.mark.parametrize("cap", [5, 30, 1000])
def test_rate_and_distance_follow_the_definition(cap: int) -> None:
    rng = np.random.default_rng(cap)
    for p in (0.01, 0.1, 0.6):
        times = [int(t) if t <= cap else None for t in rng.geometric(p, size=40)]
        if not any(times):
            continue
        test = geometric_test(times, cap, rng, draws=1)
        rate, distance = brute_distance(times, cap)
        assert test.rate == pytest.approx(rate, rel=1e-12)
        assert test.distance == pytest.approx(distance, abs=1e-12)


@pytest.mark.parametrize("cap", [40, 10_000])
def test_the_level_is_kept_and_used(cap: int) -> None:
    """300 samples of geometric times: at level 10 % the number of rejections is within four deviations of 30.

    The law with a fixed rate put in the place of the fitted one would hardly ever reject.
    """
    rng = np.random.default_rng(1)
    rejected = 0
    for _ in range(300):
        times = [int(t) if t <= cap else None for t in rng.geometric(0.03, size=30)]
        rejected += geometric_test(times, cap, rng, draws=99).p_value <= 0.1
    assert abs(rejected - 30) < 4 * math.sqrt(300 * 0.1 * 0.9)


def test_times_that_have_no_early_successes_are_rejected() -> None:
    rng = np.random.default_rng(2)
    times = [int(t) for t in rng.gamma(5, 10, size=60) + 1]
    assert geometric_test(times, 10_000, rng, draws=199).p_value == 1 / 200
    heavy = [int(t) for t in np.ceil(np.exp(rng.normal(3, 2.5, size=200)))]
    assert geometric_test(heavy, 10**9, rng, draws=199).p_value == 1 / 200


def test_a_power_law_is_found() -> None:
    rng = np.random.default_rng(3)
    exact = {n: [7.0 * n**2.5] * 5 for n in (10, 20, 40)}
    assert exponent_interval(exact, rng).as_dict() == pytest.approx(
        {"estimate": 2.5, "low": 2.5, "high": 2.5, "level": 0.95}
    )
    covered = 0
    for _ in range(200):
        noisy = {n: list(n**1.5 * np.exp(rng.normal(0, 0.4, size=25))) for n in (10, 15, 20, 30)}
        interval = exponent_interval(noisy, rng, draws=200)
        covered += interval.low <= 1.5 <= interval.high
    assert covered >= 180  # 190 expected
    assert exponent_interval({1: [1, 1, 1], 2: [3, 3, None]}, rng).high == math.inf


def test_the_share_between_groups() -> None:
    rng = np.random.default_rng(4)
    own = [[100.0 * g + 1, 100.0 * g + 2, None if g == 5 else 100.0 * g + 3] for g in range(6)]
    share, p = group_share(own, rng, draws=199)
    ranks = np.arange(18).reshape(6, 3)
    between, within = 3 * ranks.mean(axis=1).var(ddof=1), 1.0
    assert share.estimate == pytest.approx((between - within) / (between + 2 * within))
    assert p == 1 / 200
    assert 0.8 < share.low <= share.estimate
    values = [group_share(rng.normal(size=(8, 5)).tolist(), rng, draws=99)[1] for _ in range(200)]
    assert abs(sum(p <= 0.1 for p in values) - 20) < 4 * math.sqrt(200 * 0.09)


def test_bad_input() -> None:
    rng = np.random.default_rng(0)
    assert with_infinity([1, None]) == [1, math.inf]
    for times in ([3], [0, 1], [1.5, 2], [3, 11]):
        with pytest.raises(ValueError, match="between 1 and 10"):
            geometric_test(times, 10, rng)
    with pytest.raises(ValueError, match="None of 3 runs"):
        geometric_test([None] * 3, 10, rng)
    with pytest.raises(ValueError, match="two or more positive sizes"):
        exponent_interval({10: [1, 2]}, rng)
    for times in ([1, None], [0, 1, 2], [-1.0, 1, 1]):
        with pytest.raises(ValueError, match="positive times"):
            exponent_interval({10: [1, 2, 3], 20: times}, rng)
    for groups in ([[1, 2], [3, 4]], [[1, 2], [3, 4], [5]], [[1], [2], [3]]):
        with pytest.raises(ValueError, match="three or more groups"):
            group_share(groups, rng)
    with pytest.raises(ValueError, match="All times are equal"):
        group_share([[1, 1], [1, 1], [1, 1]], rng)
