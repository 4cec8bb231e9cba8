"""Exhaustive search for a sparse parity by statistical queries, and the sample sizes that answer them.

The query of a set S' asks for E[y chi_S'(x)], which is 1 for S' = S and 0 for every other set. Answers with an error
below 1/2 single out S: its answer alone exceeds 1/2. C(n,k) queries take C(n,k) rounds one at a time, and
ceil(C(n,k)/r) rounds with r in parallel. With Hoeffding's inequality m = 2 log(2 C(n,k)/delta)/tau^2 samples answer all
of them within tau with probability 1 - delta. A descent has to answer more: `gradient_samples` is the sample size
for the gradients of r parameters in T steps.

Source: pareto-frontiers, sections 6.3.1 and 6.3.2, assumption 6.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.numbers import as_exact

__all__ = ["QuerySearch", "empirical_answers", "gradient_samples", "query_samples", "query_search"]

Set = tuple[int, ...]


@dataclass(frozen=True)
class QuerySearch:
    """The outcome of a search: the set found, None if no answer exceeded 1/2, and the number of rounds."""

    found: Set | None
    rounds: int


def query_search(
    answer: Callable[[Sequence[Set]], Sequence[float | fmpq]], sets: Sequence[Set], parallel: int = 1
) -> QuerySearch:
    """The only one of the sets whose query is answered with more than 1/2.

    Args:
        answer: the oracle: for up to ``parallel`` sets S' an estimate of E[y chi_S'(x)] each.
        sets: the sets to ask for: all C(n,k), or a part of them.
        parallel: r, how many queries fit in one round.

    Raises:
        ValueError: if there is no set, parallel < 1, the oracle returns another number of answers, or two answers
            exceed 1/2 (an error of 1/2 or more).
    """
    if not sets or parallel < 1:
        raise ValueError(f"A search needs at least one set and one query a round, not {len(sets)} and {parallel}.")
    large: list[Set] = []
    starts = range(0, len(sets), parallel)
    for start in starts:
        asked = sets[start : start + parallel]
        answers = answer(asked)
        if len(answers) != len(asked):
            raise ValueError(f"The oracle was asked {len(asked)} queries, but gave {len(answers)} answers.")
        large += [S for S, value in zip(asked, answers, strict=True) if 2 * value > 1]
    if len(large) > 1:
        raise ValueError(f"The answers for {large[0]} and {large[1]} both exceed 1/2: their error is not below 1/2.")
    return QuerySearch(large[0] if large else None, len(starts))


def empirical_answers(x: ArrayLike, y: ArrayLike) -> Callable[[Sequence[Set]], list[float]]:
    """The oracle that answers with the means of y chi_S'(x) over a sample.

    Args:
        x: signs, shape (m, n).
        y: labels, shape (m,).

    Raises:
        ValueError: if the shapes do not fit, or an entry is not 1 or -1.
    """
    points, labels = np.asarray(x), np.asarray(y)
    if points.ndim != 2 or not points.size or labels.shape != points.shape[:1]:
        raise ValueError(f"A sample has shapes (m, n) and (m,), not {points.shape} and {labels.shape}.")
    if not (np.all(np.abs(points) == 1) and np.all(np.abs(labels) == 1)):
        raise ValueError("The entries of a sample and its labels must be 1 or -1.")

    def answer(sets: Sequence[Set]) -> list[float]:
        return [float(np.mean(labels * _parity(points, S))) for S in sets]

    return answer


def query_samples(n: int, k: int, delta: object, tau: object = fmpq(1, 2)) -> int:
    """The number m = 2 log(2 C(n,k)/delta)/tau^2 of samples, rounded up, that answer all queries within tau.

    Raises:
        ValueError: unless 1 <= k <= n, 0 < delta < 1 and tau > 0 are exact rational numbers.
    """
    if not 1 <= k <= n:
        raise ValueError(f"Parities of k of n inputs need 1 <= k <= n, not k = {k} and n = {n}.")
    return _samples(2, 2 * comb(n, k), delta, tau)


def gradient_samples(parameters: int, steps: int, delta: object, tau: object, bound: object = 1) -> int:
    """The number m = 8 (1 + L)^2 log(2 r T/delta)/tau^2 of samples, rounded up, that the gradients of a descent need.

    With probability 1 - delta every coordinate of every empirical gradient (l_0(h) - chi_S) grad h along a trajectory
    that depends neither on the sample nor on S is within tau/2 of its mean.

    Args:
        parameters: r.
        steps: T.
        delta: the probability of failure.
        tau: twice the error allowed.
        bound: L, at least max |l_0(h)|; derivatives are at most 1.

    Raises:
        ValueError: unless the counts are at least 1, 0 < delta < 1, tau > 0 and L >= 0 are exact rational numbers.
    """
    size = as_exact([bound])[0]
    if min(parameters, steps) < 1 or size < 0:
        raise ValueError(f"There must be a parameter, a step and a bound >= 0, not {parameters}, {steps}, {bound}.")
    return _samples(8 * (1 + size) ** 2, 2 * parameters * steps, delta, tau)


def _samples(factor: object, events: int, delta: object, tau: object) -> int:
    """The least integer >= factor log(events/delta)/tau^2."""
    failure, error = as_exact([delta, tau])
    if not 0 < failure < 1 or not error > 0:
        raise ValueError(f"The failure probability must be in (0, 1) and tau positive, not {delta} and {tau}.")
    needed = as_exact([factor])[0] / error**2 * arb(events / failure).log()
    above = needed.ceil().unique_fmpz()
    if above is None:
        raise ValueError(f"The least integer above {needed} is undecided: compute with more bits.")
    return max(int(above), 1)


def _parity(points: NDArray[np.int64], members: Set) -> NDArray[np.int64]:
    if any(i not in range(points.shape[1]) for i in members):
        raise ValueError(f"The set {members} is no set of the inputs 0, ..., {points.shape[1] - 1}.")
    return points[:, list(members)].prod(axis=1)
