"""Oracles for the Markov-chain predictors: all sequences, and exact evidences.

Nothing here shares code with `lemmata.numerics.markov.predictors`, `lemmata.numerics.markov.chains` or
`lemmata.numerics.markov.bayes`, which it is meant to judge. Exact numbers are `fmpq`, and elements q + r ln 2 of
`lemmata.numerics.exact.log_two` where the start is stationary.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise, product
from math import comb

from flint import fmpq

from lemmata.numerics.exact.log_two import LogTwo
from lemmata.numerics.markov.flat import flat_average


def all_sequences(k: int, t: int) -> list[tuple[int, ...]]:
    """The k^t sequences of t symbols 1, ..., k."""
    return list(product(range(1, k + 1), repeat=t))


def transitions(x: Sequence[int], k: int) -> list[list[int]]:
    """The numbers c[i - 1][j - 1] of steps from i to j."""
    steps = list(pairwise(x))
    return [[steps.count((i, j)) for j in range(1, k + 1)] for i in range(1, k + 1)]


def dirichlet_moment(powers: Sequence[int], prior: Sequence[int | fmpq]) -> fmpq:
    """The moment E[prod_j p_j^powers_j] for p ~ Dirichlet(prior), exactly.

    It is prod_j alpha_j^(rising powers_j) / |alpha|^(rising sum).
    """
    total, result, done = sum((fmpq(a) for a in prior), fmpq(0)), fmpq(1), 0
    for power, alpha in zip(powers, prior, strict=True):
        for i in range(power):
            result *= (alpha + i) / (total + done)
            done += 1
    return result


def independent_start_evidence(x: Sequence[int], prior: Sequence[int | fmpq]) -> fmpq:
    """The evidence P(x_2, ..., x_t | x_1) for independent Dirichlet(prior) rows that do not influence x_1."""
    result = fmpq(1)
    for row in transitions(x, len(prior)):
        result *= dirichlet_moment(row, prior)
    return result


@cache
def two_state_evidence(n11: int, n12: int, n21: int, n22: int, first: int) -> LogTwo:
    """The average E[(1-U)^n11 U^n12 V^n21 (1-V)^n22 pi_first], with pi = (V, U)/(U + V), by expansion."""
    numerator = {
        (n12 + i + (first == 2), n21 + l + (first == 1)): (-1) ** (i + l) * comb(n11, i) * comb(n22, l)
        for i in range(n11 + 1)
        for l in range(n22 + 1)
    }
    return flat_average(numerator, 1)


def stationary_evidence(x: Sequence[int]) -> LogTwo:
    """The probability of a sequence over {1, 2} for the flat prior and stationary start."""
    (n11, n12), (n21, n22) = transitions(x, 2)
    return two_state_evidence(n11, n12, n21, n22, x[0])
