"""Reference losses of the strategies for two-state chains: flat prior, stationary start, without sampling.

The loss at the last of t positions is E KL(true row of x_t || prediction of x_{t+1}) in nats. It is the expected
-ln(prediction) less the entropy rate, and the first expectation is a sum over counts: the number of sequences with
the same counts times their evidence (`lemmata.numerics.markov.bayes`). Terms are positive, so the sums have full
precision; subtracting the entropy rate costs an absolute error of some 1e-15.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.markov.bayes import evidence_layer, extensions, sequence_numbers

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class ReferenceLosses:
    """The losses in nats at the last of t positions, for k = 2.

    `excess` is the expected divergence of the Bayes prediction from the bigram prediction, bigram - bayes up to
    rounding, summed from positive terms.
    """

    t: int
    uniform: float
    unigram: float
    bigram: float
    bayes: float
    excess: float


def entropy_rate() -> arb:
    """The rate E[pi_1 h(U) + pi_2 h(V)] = 1/6 - (2/3) ln 2 + pi^2/9 - (2/3) (ln 2)^2 at the current precision."""
    ln2 = arb(2).log()
    return arb(1) / 6 - (ln2 + ln2**2) * 2 / 3 + arb.pi() ** 2 / 9


def stationary_entropy() -> arb:
    """The entropy E h(pi_1) = 2 ln 2 - pi^2/12 at the current precision."""
    return 2 * arb(2).log() - arb.pi() ** 2 / 12


def uniform_loss() -> arb:
    """The loss of the uniform prediction, ln 2 - entropy rate, at every t."""
    return arb(2).log() - entropy_rate()


def known_law_loss() -> arb:
    """The loss of predicting the true stationary law, at every t: the limit of the unigram strategy."""
    return stationary_entropy() - entropy_rate()


@dataclass(frozen=True)
class CountLogitLoss:
    """The smallest loss of softmax(slope * counts), counts c_{x_t, .} of the successors of x_t so far, for k = 2.

    That is the minimal model at its bigram solution v = (0, 1, 0, ...), W = slope I, read out by a softmax. The loss is
    convex in the slope, so that tangents at two slopes around the minimum bound it from below: `lower` is that bound,
    `loss` the value at `slope`, both up to rounding (an absolute error of some 1e-14).
    """

    t: int
    slope: float
    loss: float
    lower: float


def reference_losses(t: int) -> ReferenceLosses:
    """The losses of the strategies at the last of t positions.

    Raises:
        ValueError: if t is not among 1, ..., 400.
    """
    table = _count_table(t)
    unigram = (np.where(table.odd, table.twos, table.ones) + 1) / (t + 2)
    bigram = (table.stays + 1) / (table.stays + table.changes + 2)
    evidence = table.stay + table.change
    bayes = np.divide(table.stay, evidence, out=np.full((t, t), 0.5), where=table.possible)
    divergence = bayes * np.log(bayes / bigram) + (1 - bayes) * np.log((1 - bayes) / (1 - bigram))
    rate = float(entropy_rate())
    return ReferenceLosses(
        t=t,
        uniform=float(uniform_loss()),
        unigram=table.cross_entropy(unigram) - rate,
        bigram=table.cross_entropy(bigram) - rate,
        bayes=table.cross_entropy(bayes) - rate,
        excess=float(np.sum(table.weights * evidence * np.where(table.possible, divergence, 0.0))),
    )


def count_logit_loss(t: int, slope: float) -> tuple[float, float]:
    """The loss of softmax(slope * counts) at the last of t positions, and its derivative by the slope.

    Raises:
        ValueError: if t is not among 1, ..., 400, or the slope is not finite.
    """
    if not np.isfinite(slope):
        raise ValueError(f"The slope {slope} is not finite.")
    return _loss_at(_count_table(t), slope)


def count_logit_floor(t: int) -> CountLogitLoss:
    """The minimum of `count_logit_loss` over the slope, by bisection on the sign of the derivative.

    Raises:
        ValueError: if t is not among 2, ..., 400 (for t = 1 there are no counts).
    """
    checked_integer("The number of symbols t (after one there are no transitions to count)", t, 2)
    table, low, high = _count_table(t), 0.0, 1.0
    while _loss_at(table, high)[1] < 0:
        high *= 2
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _loss_at(table, middle)[1] < 0 else (low, middle)
    (left, falling), (right, rising) = _loss_at(table, low), _loss_at(table, high)
    lower = min(left + falling * (high - low), right - rising * (high - low))
    return CountLogitLoss(t, high, right, lower)


@dataclass(frozen=True)
class _CountTable:
    """The sequences of t symbols by the transitions n11 and e (changes), both < t: weights and counts of each class.

    `stay` and `change` are the evidences of the sequence followed by its last symbol and by the other one; a class has
    `weights` sequences. `stays` and `changes` count the transitions from the last symbol.
    """

    possible: NDArray[np.bool_]
    odd: NDArray[np.bool_]
    weights: FloatArray
    stay: FloatArray
    change: FloatArray
    ones: NDArray[np.int64]
    twos: NDArray[np.int64]
    stays: NDArray[np.int64]
    changes: NDArray[np.int64]

    def cross_entropy(self, repeat: FloatArray) -> float:
        """The expected -ln of the prediction, which is `repeat` for the last symbol."""
        safe = np.where(self.possible, repeat, 0.5)
        return -float(np.sum(self.weights * (self.stay * np.log(safe) + self.change * np.log1p(-safe))))


def _count_table(t: int) -> _CountTable:
    return _table_of(checked_integer("The number of symbols t before the prediction", t, 1))


@lru_cache(maxsize=4)
def _table_of(t: int) -> _CountTable:
    stay, change = extensions(evidence_layer(t))
    n11, e = np.indices((t, t))
    possible = n11 + e < t
    odd = e % 2 == 1
    n22 = np.where(possible, t - 1 - n11 - e, 0)
    return _CountTable(
        possible=possible,
        odd=odd,
        weights=2 * np.where(possible, sequence_numbers(t - 1), 0.0),  # x_1 = 1 and x_1 = 2 contribute the same
        stay=stay,
        change=change,
        ones=n11 + e // 2 + 1,
        twos=n22 + (e + 1) // 2,
        stays=np.where(odd, n22, n11),
        changes=e // 2,
    )


def _loss_at(table: _CountTable, slope: float) -> tuple[float, float]:
    """The loss ln(1 + e^(-+ slope gap)), gap = stays - changes in the counts, averaged; and its derivative."""
    gap = (table.stays - table.changes).astype(float)
    ahead = np.logaddexp(0, -slope * gap)
    behind = np.logaddexp(0, slope * gap)
    loss = np.sum(table.weights * (table.stay * ahead + table.change * behind))
    slopes = gap * (table.change * np.exp(-ahead) - table.stay * np.exp(-behind))
    return float(loss) - float(entropy_rate()), float(np.sum(table.weights * slopes))
