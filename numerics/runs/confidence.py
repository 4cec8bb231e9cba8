"""Confidence intervals for what a few seeded runs show: a mean, a proportion, a median.

All are two-sided. Sources: Student (1908); Clopper and Pearson (1934); order statistics for the median, for instance
David and Nagaraja, Order Statistics (2003), section 7.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

__all__ = ["Interval", "mean_interval", "median_interval", "proportion_interval"]


@dataclass(frozen=True)
class Interval:
    """An estimate with the interval [low, high] that covers the true value with probability ``level`` or more."""

    estimate: float
    low: float
    high: float
    level: float

    def as_dict(self) -> dict[str, float]:
        """The four numbers by name, for JSON."""
        return {"estimate": self.estimate, "low": self.low, "high": self.high, "level": self.level}


def mean_interval(values: Sequence[float], level: float = 0.95) -> Interval:
    """The mean with Student's interval; exact for independent normal values, approximate for others.

    Raises:
        ValueError: for fewer than two values, one that is not finite, or a level outside (0, 1).
    """
    x = _checked(values, 2, level)
    mean = float(x.mean())
    half = float(stats.t.ppf((1 + level) / 2, len(x) - 1) * x.std(ddof=1) / math.sqrt(len(x)))
    return Interval(mean, mean - half, mean + half, level)


def proportion_interval(successes: int, trials: int, level: float = 0.95) -> Interval:
    """The share of successes with the interval of Clopper and Pearson, which covers at every true share.

    Raises:
        ValueError: unless 0 <= successes <= trials, trials >= 1, and the level is in (0, 1).
    """
    _check_level(level)
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError(f"{successes} successes in {trials} trials: give 0 <= successes <= trials and a trial.")
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(stats.beta.ppf(tail, successes, trials - successes + 1))
    high = 1.0 if successes == trials else float(stats.beta.isf(tail, successes + 1, trials - successes))
    return Interval(successes / trials, low, high, level)


def median_interval(values: Sequence[float], level: float = 0.95) -> Interval:
    """The median with the interval between two order statistics, which covers for every continuous law.

    The true median lies below the r-th smallest of n values with probability P[Binomial(n, 1/2) < r], and likewise
    above the r-th largest; r is the largest number for which this is at most (1 - level)/2. Values may be infinite, for
    runs that never got there.

    Raises:
        ValueError: if there are too few values for such an r (six are needed for level 0.95), a value is not a number,
            or the level is outside (0, 1).
    """
    _check_level(level)
    least = math.ceil(math.log2(2 / (1 - level)))
    x = np.sort(np.asarray(values, dtype=np.float64))
    if x.ndim != 1 or len(x) < least or np.isnan(x).any():
        raise ValueError(f"{len(x)} values: an interval for the median at level {level} needs {least} numbers or more.")
    below = stats.binom.cdf(np.arange(len(x)), len(x), 0.5)
    r = max(1, int(np.count_nonzero(below <= (1 - level) / 2)))
    middle = x[[(len(x) - 1) // 2, len(x) // 2]]
    median = float(middle[0]) if middle[0] == middle[1] else float(middle.mean())
    return Interval(median, float(x[r - 1]), float(x[-r]), level)


def _checked(values: Sequence[float], least: int, level: float) -> np.ndarray:
    _check_level(level)
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or len(x) < least or not np.isfinite(x).all():
        raise ValueError(f"The interval needs a list of {least} or more finite numbers, not {list(values)!r}.")
    return x


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"A confidence level lies strictly between 0 and 1; {level} does not.")
