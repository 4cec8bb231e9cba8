"""A trend of success with a score (a width, a sample size), tested over many cells at once.

Within a stratum, runs of several groups succeed or fail, and every group has a score. Given the sizes of the groups and
the number of successes, all ways to place the successes are equally likely if the score does not matter; the statistic

    T = sum over runs that succeed of their score

then has a mean and a variance in closed form. Summed over strata and divided by its standard deviation it is close to
normal: the test of Cochran (1954), Armitage (1955) and Mantel (1963). Strata differ in everything else as they like.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scipy import stats

__all__ = ["Trend", "trend_test"]

Group = tuple[float, int, int]
"""The score of a group, its successes, its trials."""


@dataclass(frozen=True)
class Trend:
    """The result of a test.

    Attributes:
        z: how many standard deviations the statistic lies above its mean.
        rising: the probability of such a z or a larger one if the score does not matter.
        falling: that of such a z or a smaller one.
    """

    z: float
    rising: float
    falling: float


def trend_test(strata: Iterable[Sequence[Group]]) -> Trend:
    """The test for a rising and for a falling share of successes; z = 0 where no stratum can tell.

    A stratum whose runs all succeed, or all fail, or all have one score, tells nothing and counts nothing.

    Raises:
        ValueError: unless 0 <= successes <= trials in every group, and scores are finite.
    """
    difference = variance = 0.0
    for groups in strata:
        for score, successes, trials in groups:
            if not 0 <= successes <= trials or not math.isfinite(score):
                raise ValueError(
                    f"A group has a finite score and 0 <= successes <= trials, not {score}, {successes} of {trials}."
                )
        total, won = sum(group[2] for group in groups), sum(group[1] for group in groups)
        if total < 2:
            continue
        mean = sum(score * trials for score, _, trials in groups) / total
        spread = sum((score - mean) ** 2 * trials for score, _, trials in groups)
        difference += sum((score - mean) * successes for score, successes, _ in groups)
        variance += won * (total - won) * spread / (total * (total - 1))
    z = difference / math.sqrt(variance) if variance > 0 else 0.0
    return Trend(z, float(stats.norm.sf(z)), float(stats.norm.cdf(z)))
