"""Whether two quantities of the same runs depend on each other, and intervals for what several groups of runs show.

A rank needs an order only, so a run that never succeeded has the time infinity, a tie with others of its kind. The test
of independence is that of permutations: under independence every assignment of the second values to the first ones is
equally likely, whatever the two laws. The interval is the percentile interval of the bootstrap, which draws runs.

Sources: Spearman (1904); Fisher (1935); Efron (1979).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from lemmata.numerics.runs.confidence import Interval
from lemmata.numerics.runs.thresholds import percentile_interval

__all__ = ["RankCorrelation", "bootstrap_interval", "rank_correlation"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's correlation, and the shares of permutations with one at least as large, or at least as small.

    The observed order counts as one of the permutations, so that neither share is 0.
    """

    correlation: float
    rising: float
    falling: float


def rank_correlation(
    x: Sequence[float], y: Sequence[float], permutations: int = 9999, seed: int = 0
) -> RankCorrelation:
    """The correlation of the ranks, tied values sharing the mean of theirs, and its permutation test.

    Args:
        x: numbers; infinity is one, NaN is none.
        y: as many.
        permutations: random ones, drawn from ``seed``.
        seed: as given.

    Raises:
        ValueError: for fewer than three pairs, different lengths, NaN, all x or all y equal, or no permutation.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape or len(a) < 3 or np.isnan(a).any() or np.isnan(b).any() or permutations < 1:
        raise ValueError("Give two lists of three or more numbers each, of one length and without NaN, to permute.")
    ranks = [stats.rankdata(values) for values in (a, b)]
    centred = [r - r.mean() for r in ranks]
    lengths = [math.sqrt(float(r @ r)) for r in centred]
    if 0.0 in lengths:
        raise ValueError("All values of one list are equal, so that they have no order.")
    first, second = (r / length for r, length in zip(centred, lengths, strict=True))
    observed = float(first @ second)
    rng = np.random.default_rng(seed)
    drawn = rng.permuted(np.tile(second, (permutations, 1)), axis=1) @ first
    slack = 1e-12  # rounding must not make an equal value smaller
    rising = (1 + np.count_nonzero(drawn >= observed - slack)) / (1 + permutations)
    falling = (1 + np.count_nonzero(drawn <= observed + slack)) / (1 + permutations)
    return RankCorrelation(observed, float(rising), float(falling))


def bootstrap_interval(
    statistic: Callable[..., float],
    groups: Sequence[Sequence[float]],
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """The percentile interval of a statistic of several groups of runs, each drawn again with replacement.

    Args:
        statistic: takes one array for each group.
        groups: the values of the runs.
        level: of the interval, which holds it for large groups.
        resamples: from ``seed``.
        seed: as given.

    Raises:
        ValueError: for a group without runs, no resample, or as `lemmata.numerics.runs.thresholds.percentile_interval`.
    """
    if not groups or any(len(group) == 0 for group in groups) or resamples < 1:
        raise ValueError("Give one or more groups, none of them empty, and a resample or more.")
    rng = np.random.default_rng(seed)
    runs: list[Floats] = [np.asarray(group, dtype=np.float64) for group in groups]
    drawn = [statistic(*(group[rng.integers(0, len(group), len(group))] for group in runs)) for _ in range(resamples)]
    return percentile_interval(float(statistic(*runs)), drawn, level)
