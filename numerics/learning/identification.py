"""How well the best learner finds out, from labelled samples, which of finitely many functions it sees: exactly.

A function i of N is drawn uniformly, and m points x_1, ..., x_m independently of it. The learner sees the points and
their labels f_i(x_1), ..., f_i(x_m), and names a function. For given points the functions with the same labels cannot
be told apart, so that the best it can do is to name one of each such class, and it is right with the probability

    (1/N) E[number of different rows of labels] <= L^m/N      for L labels,

since there are at most L^m rows. No randomness of its own helps the learner.

Source: variable-creation, remark-4.5a.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import comb
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike

from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact

__all__ = ["conjunctions", "identification_bound", "identification_probability"]

LARGEST_ENUMERATION = 2_000_000


def identification_probability(
    table: ArrayLike, samples: int, probabilities: ArrayLike | Sequence[Any] | None = None
) -> fmpq:
    """The largest probability with which a learner names the function, exactly.

    Args:
        table: labels as integers, shape (N, points), a row for each function.
        samples: m >= 0.
        probabilities: of the points, exact; uniform if None.

    Raises:
        ValueError: for shapes that do not fit, probabilities that are no distribution, or more than 2,000,000 samples.
    """
    labels, m = np.asarray(table), checked_integer("The number of samples", samples, 0)
    if labels.ndim != 2 or not labels.size or labels.dtype.kind not in "iub":
        raise ValueError(f"The labels are integers of shape (functions, points), not of the shape {labels.shape}.")
    points = labels.shape[1]
    masses = as_exact([fmpq(1, points)] * points if probabilities is None else probabilities)
    if masses.shape != (points,) or any(x < 0 for x in masses) or masses.sum() != 1:
        raise ValueError(f"The probabilities of {points} points must be nonnegative and add up to 1.")
    if points**m > LARGEST_ENUMERATION:
        raise ValueError(f"There are {points}^{m} samples, more than {LARGEST_ENUMERATION} to enumerate.")
    total = fmpq(0)
    for sample in product(np.flatnonzero(masses != 0).tolist(), repeat=m):
        mass = fmpq(1)
        for x in sample:
            mass *= masses[x]
        total += mass * len({tuple(row) for row in labels[:, list(sample)].tolist()})
    return total / len(labels)


def identification_bound(functions: int, samples: int, labels: int = 2) -> fmpq:
    """min(1, L^m/N), which no learner exceeds.

    Raises:
        ValueError: for N < 1, m < 0 or L < 1.
    """
    N = checked_integer("The number of functions", functions, 1)
    m = checked_integer("The number of samples", samples, 0)
    return min(fmpq(1), fmpq(checked_integer("The number of labels", labels, 1) ** m, N))


def conjunctions(length: int, sparsity: int) -> np.ndarray:
    """The labels of all conjunctions of s of T bits at all 2^T strings, shape (binom(T, s), 2^T).

    Raises:
        ValueError: unless 1 <= s <= T, or for more than 2,000,000 labels.
    """
    T, s = checked_integer("The length of the strings", length, 1), checked_integer("The number of bits", sparsity, 1)
    if s > T or comb(T, s) * 2**T > LARGEST_ENUMERATION:
        raise ValueError(f"There is no table of the conjunctions of {s} of {T} bits with at most 2,000,000 labels.")
    strings = np.array(list(product((0, 1), repeat=T)))
    read = np.array([chosen for chosen in product((0, 1), repeat=T) if sum(chosen) == s])
    return (strings @ read.T == s).T.astype(np.int64)
