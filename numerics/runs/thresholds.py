"""How many samples success takes, and how that grows: logistic fits of runs that succeed or fail.

With success of probability s(a m + c_0 + c_1 g) at m samples, for the logistic function s and a score g of the problem
(the logarithm of its length, say), the share q is reached at

    m = (logit(q) - c_0 - c_1 g) / a,

which is affine in g. Two scores give two models of equal size, neither a case of the other; the test of Vuong (1989)
compares their likelihoods, run by run.

The fit maximises the likelihood less 10^-4 times the square of the slope in units of the spread of m, so that it exists
when the sizes separate success from failure as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from lemmata.numerics.runs.confidence import Interval

__all__ = ["Cell", "ThresholdFit", "VuongTest", "bootstrap_cells", "percentile_interval", "threshold_fit", "vuong_test"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """Runs with a problem of one score, at one sample size: how many succeeded, of how many.

    Raises:
        ValueError: unless 0 <= successes <= trials, trials >= 1, and score and size are finite.
    """

    score: float
    size: float
    successes: int
    trials: int

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.trials or self.trials < 1:
            raise ValueError(f"A cell has 0 <= successes <= trials and a trial, not {self.successes}, {self.trials}.")
        if not math.isfinite(self.score) or not math.isfinite(self.size):
            raise ValueError(f"The score and the size of a cell are finite, not {self.score} and {self.size}.")


@dataclass(frozen=True)
class ThresholdFit:
    """A fitted model: logit = slope * m + start + rise * score."""

    slope: float
    start: float
    rise: float

    def share(self, score: float, size: float) -> float:
        """The fitted probability of success."""
        return float(special.expit(self.slope * size + self.start + self.rise * score))

    def threshold(self, score: float, share: float = 0.8) -> float:
        """The size at which the probability is ``share``; infinite if success does not grow with the size."""
        if self.slope <= 0:
            return math.inf
        return (math.log(share / (1 - share)) - self.start - self.rise * score) / self.slope

    @property
    def growth(self) -> float:
        """The growth of the threshold for one unit of the score."""
        return -self.rise / self.slope if self.slope > 0 else math.inf


@dataclass(frozen=True)
class VuongTest:
    """A positive z speaks for the first model; ``p`` is the probability of so large a z if both are equally good."""

    z: float
    p: float


def threshold_fit(cells: Sequence[Cell]) -> ThresholdFit:
    """The fit to all runs; with a single score its rise is 0.

    Raises:
        ValueError: for fewer than two sizes.
    """
    sizes = np.array([cell.size for cell in cells])
    scores = np.array([cell.score for cell in cells])
    if len(np.unique(sizes)) < 2:
        raise ValueError("A threshold is fitted to runs at two sample sizes or more.")
    spread, span = float(sizes.std()), float(scores.std()) or 1.0
    one = len(np.unique(scores)) == 1
    columns = [(sizes - sizes.mean()) / spread, np.ones(len(sizes))] + (
        [] if one else [(scores - scores.mean()) / span]
    )
    design = np.stack(columns, axis=1)
    won = np.array([cell.successes for cell in cells], dtype=np.float64)
    lost = np.array([cell.trials for cell in cells]) - won

    found = _maximum(design, won, lost)
    rise = 0.0 if one else float(found[2]) / span
    slope = float(found[0]) / spread
    return ThresholdFit(slope, float(found[1]) - slope * float(sizes.mean()) - rise * float(scores.mean()), rise)


def _maximum(design: Floats, won: Floats, lost: Floats) -> Floats:
    """The coefficients of the largest penalised likelihood, by Newton steps, halved where they overshoot."""
    penalty = np.zeros(design.shape[1])
    penalty[0] = 2e-4
    runs, c = won + lost, np.zeros(design.shape[1])

    def loss(at: Floats) -> float:
        logit = design @ at
        return float(won @ np.logaddexp(0, -logit) + lost @ np.logaddexp(0, logit) + penalty @ at**2 / 2)

    for _ in range(100):
        share = special.expit(design @ c)
        gradient = design.T @ (runs * share - won) + penalty * c
        curvature = (design.T * (runs * share * (1 - share))) @ design + np.diag(penalty + 1e-12)
        step = np.linalg.solve(curvature, gradient)
        start = loss(c)
        while loss(c - step) > start + 1e-12 * abs(start):
            step = step / 2
        c = c - step
        if np.abs(step).max() < 1e-9:
            break
    return c


def vuong_test(first: Sequence[Cell], second: Sequence[Cell]) -> VuongTest:
    """Whether the first scores explain the same runs better than the second ones, one-sided.

    Raises:
        ValueError: unless the cells agree but for their scores.
    """
    if [(c.size, c.successes, c.trials) for c in first] != [(c.size, c.successes, c.trials) for c in second]:
        raise ValueError("The two models are compared on the same runs: only the scores of their cells may differ.")
    p, q = (np.array([fit.share(c.score, c.size) for c in cells])
            for cells, fit in ((first, threshold_fit(first)), (second, threshold_fit(second))))  # fmt: skip
    won = np.array([c.successes for c in first], dtype=np.float64)
    lost = np.array([c.trials for c in first]) - won
    gain, loss = np.log(p / q), np.log((1 - p) / (1 - q))
    runs = float((won + lost).sum())
    mean = float(won @ gain + lost @ loss) / runs
    variance = float(won @ gain**2 + lost @ loss**2) / runs - mean**2
    z = math.sqrt(runs) * mean / math.sqrt(variance) if variance > 0 else 0.0
    return VuongTest(z, float(stats.norm.sf(z)))


def bootstrap_cells(cells: Sequence[Cell], draws: int, rng: np.random.Generator) -> list[list[Cell]]:
    """Samples of the runs with replacement, cell by cell.

    Raises:
        ValueError: for fewer than one draw.
    """
    if draws < 1:
        raise ValueError(f"A bootstrap needs a draw or more, not {draws}.")
    return [
        [Cell(c.score, c.size, int(rng.binomial(c.trials, c.successes / c.trials)), c.trials) for c in cells]
        for _ in range(draws)
    ]


def percentile_interval(estimate: float, values: Sequence[float], level: float = 0.95) -> Interval:
    """An estimate with the interval between two percentiles of its bootstrap values.

    Raises:
        ValueError: for no value, one that is not a number, or a level outside (0, 1).
    """
    x = np.sort(np.asarray(values, dtype=np.float64))
    if not len(x) or np.isnan(x).any() or not 0 < level < 1:
        raise ValueError("A percentile interval needs numbers, and a level between 0 and 1.")
    tail = (1 - level) / 2
    low, high = x[math.floor(tail * (len(x) - 1))], x[math.ceil((1 - tail) * (len(x) - 1))]
    return Interval(estimate, float(low), float(high), level)
