"""Reference losses of the strategies for two-state chains: flat prior, stationary start, without sampling.

The loss at the last of t positions is E KL(true row of x_t || prediction of x_{t+1}) in nats. It is the expected
-ln(prediction) less the entropy rate, and the first expectation is a sum over counts: the number of sequences with
the same counts times their evidence (`numerics.markov_bayes`). Terms are positive, so the sums have full precision;
subtracting the entropy rate costs an absolute error of some 1e-15.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import arb
from numpy.typing import NDArray

from numerics.markov_bayes import evidence_layer, sequence_numbers, shorter_evidence

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class ReferenceLosses:
    """Losses in nats at the last of t positions, for k = 2.

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
    """E[pi_1 h(U) + pi_2 h(V)] = 1/6 - (2/3) ln 2 + pi^2/9 - (2/3) (ln 2)^2 at the current precision."""
    ln2 = arb(2).log()
    return arb(1) / 6 - (ln2 + ln2**2) * 2 / 3 + arb.pi() ** 2 / 9


def stationary_entropy() -> arb:
    """E h(pi_1) = 2 ln 2 - pi^2/12 at the current precision."""
    return 2 * arb(2).log() - arb.pi() ** 2 / 12


def uniform_loss() -> arb:
    """The loss of the uniform prediction, ln 2 - entropy rate, at every t."""
    return arb(2).log() - entropy_rate()


def known_law_loss() -> arb:
    """The loss of predicting the true stationary law, at every t: the limit of the unigram strategy."""
    return stationary_entropy() - entropy_rate()


def reference_losses(t: int) -> ReferenceLosses:
    """The losses of the strategies at the last of t positions.

    Raises:
        ValueError: if t is not among 1, ..., 400.
    """
    if t < 1:
        raise ValueError(f"t = {t}: the loss is defined after at least one symbol.")
    longer = evidence_layer(t)
    shorter = shorter_evidence(longer)
    n11, e = np.indices((t, t))
    possible = n11 + e < t
    odd = e % 2 == 1
    n22 = np.where(possible, t - 1 - n11 - e, 0)
    weights = 2 * np.where(possible, sequence_numbers(t - 1), 0.0)  # x_1 = 1 and x_1 = 2 contribute the same
    stay = np.where(odd, longer[:t, :t], longer[1:, :t])
    change = np.where(possible, longer[:t, 1:], 0.0)

    def cross_entropy(repeat: FloatArray) -> float:
        terms = stay * np.log(repeat) + change * np.log1p(-repeat)
        return -float(np.sum(weights * np.where(possible, terms, 0.0)))

    ones, twos = n11 + e // 2 + 1, n22 + (e + 1) // 2
    stays, changes = np.where(odd, n22, n11), e // 2  # the transitions from the last symbol
    unigram = (np.where(odd, twos, ones) + 1) / (t + 2)
    bigram = (stays + 1) / (stays + changes + 2)
    bayes = np.divide(stay, shorter, out=np.full((t, t), 0.5), where=possible)
    divergence = bayes * np.log(bayes / bigram) + (1 - bayes) * np.log((1 - bayes) / (1 - bigram))
    rate = float(entropy_rate())
    return ReferenceLosses(
        t=t,
        uniform=float(uniform_loss()),
        unigram=cross_entropy(np.where(possible, unigram, 0.5)) - rate,
        bigram=cross_entropy(np.where(possible, bigram, 0.5)) - rate,
        bayes=cross_entropy(bayes) - rate,
        excess=float(np.sum(weights * shorter * np.where(possible, divergence, 0.0))),
    )
