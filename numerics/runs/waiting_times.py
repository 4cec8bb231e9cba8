"""Tests and intervals for the times at which seeded runs succeed, where some runs never do.

A run that has not succeeded by the cap counts as longer than every other one: it is neither dropped nor given a time.
Intervals are over runs, which are independent, and not over what is seen within a run.

Sources: Lilliefors (1969) for a law with a fitted parameter, here by the parametric bootstrap; Efron (1979); the
intraclass correlation of Fisher (1925), of ranks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from lemmata.numerics.runs.confidence import Interval

__all__ = ["GeometricTest", "exponent_interval", "geometric_test", "group_share", "with_infinity"]

Times = Sequence[float | None]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GeometricTest:
    """The test of a geometric law whose rate is fitted to the same times.

    Attributes:
        rate: the fitted probability of success in one trial.
        distance: the largest difference of the two distribution functions up to the cap.
        p_value: the share of samples of the fitted law, each fitted anew, that are at least as far from their fit.
    """

    rate: float
    distance: float
    p_value: float


def with_infinity(times: Times) -> list[float]:
    """The times with infinity for None."""
    return [math.inf if time is None else float(time) for time in times]


def geometric_test(times: Times, cap: int, rng: np.random.Generator, draws: int = 499) -> GeometricTest:
    """The test that waiting times are geometric, P[T > t] = (1 - p)^t, with an unknown p.

    A time that is seen at every tenth step only is geometric in units of ten steps if it is geometric in steps.

    Args:
        times: numbers of trials 1, ..., cap, or None for no success in ``cap`` trials.
        cap: the number of trials after which runs are given up.
        rng: of the bootstrap.
        draws: the number of samples of the fitted law.

    Raises:
        ValueError: for fewer than two times, times that are not integers between 1 and the cap, no success at all, or
            no draws.
    """
    seen = np.array([time for time in times if time is not None], dtype=np.float64)
    x = np.array([cap + 1 if time is None else time for time in times], dtype=np.float64)
    if len(x) < 2 or draws < 1 or not ((seen == np.round(seen)) & (seen >= 1) & (seen <= cap)).all():
        raise ValueError(f"The test needs two or more numbers of trials between 1 and {cap}, or None, and a draw.")
    if (x > cap).all():
        raise ValueError(f"None of {len(x)} runs succeeded: no rate can be fitted.")
    rate = float(_rates(x[None], cap)[0])
    distance = float(_distances(x[None], cap)[0])
    samples = np.minimum(rng.geometric(rate, size=(draws, len(x))), cap + 1).astype(np.float64)
    samples = samples[(samples <= cap).any(axis=1)]
    as_far = int(np.count_nonzero(_distances(samples, cap) >= distance - 1e-12))
    return GeometricTest(rate, distance, (1 + as_far) / (1 + len(samples)))


def _rates(samples: Floats, cap: int) -> Floats:
    """For each row the rate of largest likelihood: successes by trials."""
    return (samples <= cap).sum(axis=1) / np.minimum(samples, cap).sum(axis=1)


def _distances(samples: Floats, cap: int) -> Floats:
    """For each row the largest difference between its distribution function and that of its fit, at 0, ..., cap."""
    runs = samples.shape[1]
    ordered = np.sort(samples, axis=1)
    log_fail = np.log1p(-np.minimum(_rates(samples, cap), 1 - 1e-16))[:, None]
    at = np.minimum(ordered, cap)  # beyond the cap nothing is seen
    done = np.arange(1, runs + 1) / runs
    after = done + np.expm1(log_fail * at)  # F_n(t) - F(t) at a success, at the last of equal times
    before = -np.expm1(log_fail * (np.minimum(ordered, cap + 1) - 1)) - (done - 1 / runs)
    ties = np.concatenate([ordered[:, 1:] == ordered[:, :-1], np.zeros((len(samples), 1), bool)], axis=1)
    after[ties | (ordered > cap)] = 0
    before[:, 1:][ordered[:, 1:] == ordered[:, :-1]] = 0
    return np.maximum(np.abs(after).max(axis=1), np.abs(before).max(axis=1))


def exponent_interval(
    times: Mapping[float, Times], rng: np.random.Generator, draws: int = 400, level: float = 0.95
) -> Interval:
    """The exponent of a power law of the median time in the size, with a bootstrap interval over runs.

    The exponent is the slope of the least squares line through (log size, log median). A resample whose median is
    infinite at some size counts as an exponent of infinity.

    Raises:
        ValueError: for fewer than two sizes, a size without runs, a size or time that is not positive, a median that
            is infinite (half of the runs never succeed), or no draws.
    """
    sizes = sorted(times)
    if len(sizes) < 2 or sizes[0] <= 0 or draws < 1 or not all(len(times[size]) for size in sizes):
        raise ValueError("An exponent needs runs at two or more positive sizes, and a draw.")
    runs = [np.array(with_infinity(times[size])) for size in sizes]
    if any((x <= 0).any() or np.isnan(x).any() or _medians(x[None])[0] == math.inf for x in runs):
        raise ValueError("An exponent needs positive times, more than half of them finite at each size.")
    x = np.log(np.array(sizes, dtype=np.float64))
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    middle = [_medians(one[None])[0] for one in runs]
    medians = np.stack([_medians(one[rng.integers(0, len(one), size=(draws, len(one)))]) for one in runs], axis=1)
    finite = np.isfinite(medians).all(axis=1)
    # The weights have the sum 0 up to rounding: with quotients by the first median, equal ones have an exponent of 0.
    estimate = float(weights @ np.log(np.array(middle) / middle[0]))
    slopes = np.full(draws, math.inf)
    slopes[finite] = np.log(medians[finite] / medians[finite, :1]) @ weights
    tail = (1 - level) / 2
    low = float(np.quantile(slopes, tail, method="lower"))
    high = float(np.quantile(slopes, 1 - tail, method="higher"))
    return Interval(estimate, low, high, level)


def _medians(samples: Floats) -> Floats:
    """The upper median of each row, so that half of the runs being infinite makes it infinite."""
    return np.sort(samples, axis=1)[:, samples.shape[1] // 2]


def group_share(
    groups: Sequence[Times], rng: np.random.Generator, draws: int = 999, level: float = 0.95
) -> tuple[Interval, float]:
    """The share of the variance of ranks that lies between groups, and a p-value for none.

    The share is the intraclass correlation (B - W)/(B + (m - 1) W) of the ranks of all times, with B and W the mean
    squares between and within groups of m runs; runs without success share the last rank. The interval resamples
    groups, the p-value permutes runs.

    Raises:
        ValueError: for fewer than three groups, groups of unequal size or of fewer than two runs, times that are all
            equal, or no draws.
    """
    size = len(groups[0]) if groups else 0
    if len(groups) < 3 or size < 2 or any(len(group) != size for group in groups) or draws < 1:
        raise ValueError("The share between groups needs three or more groups of two or more runs each, all alike.")
    ranks = stats.rankdata([with_infinity(group) for group in groups], axis=None).reshape(len(groups), size)
    if (ranks == ranks[0, 0]).all():
        raise ValueError("All times are equal: there is no variance to share out.")
    estimate = float(_correlation(ranks[None])[0])
    chosen = _correlation(ranks[rng.integers(0, len(groups), size=(draws, len(groups)))])
    shuffled = _correlation(rng.permuted(np.broadcast_to(ranks.ravel(), (draws, ranks.size)), axis=1)
                            .reshape(draws, *ranks.shape))  # fmt: skip
    tail = (1 - level) / 2
    low, high = (float(np.quantile(chosen, q)) for q in (tail, 1 - tail))
    p_value = (1 + int(np.count_nonzero(shuffled >= estimate - 1e-12))) / (1 + draws)
    return Interval(estimate, low, high, level), p_value


def _correlation(ranks: Floats) -> Floats:
    """The intraclass correlation along the last two axes (groups, runs); 0 where all ranks are equal."""
    groups, size = ranks.shape[-2:]
    means = ranks.mean(axis=-1)
    between = size * means.var(axis=-1, ddof=1)
    within = ((ranks - means[..., None]) ** 2).sum(axis=(-2, -1)) / (groups * (size - 1))
    total = between + (size - 1) * within
    return np.where(total > 0, (between - within) / np.where(total > 0, total, 1), 0.0)
