"""Learners of conjunctions and parities of few bits, and their probabilities of success, exactly.

A string has T independent bits, each 1 with probability p, and the label is the conjunction of s of them, 1 with
probability p^s. Two conjunctions that share o bits agree on a string with probability 1 - 2(p^s - p^(2s - o)).

The elimination learner keeps the bits that are 1 in every positive example. Given k positive examples another bit stays
with probability p^k, so that it finds the s bits with probability

    E[(1 - p^K)^(T - s)],   K binomial with m trials and probability p^s;

then no other conjunction of s bits fits, so that this is a lower bound on the probability that the sample identifies
the conjunction. A union over the other conjunctions bounds the probability that it does not.

A parity is found by solving linear equations over the field of two elements: m uniform strings determine each of the
2^T parities iff they span the space, which has the probability prod_{i < T} (1 - 2^(i - m)).

Source: variable-creation, experiment-fig4.2, experiment-fig4.4, remark-4.5a.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from flint import arb, fmpq, nmod_mat
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.integers import checked_integer

__all__ = [
    "agreement_probability",
    "ambiguity_bound",
    "balanced_probability",
    "consistent_conjunctions",
    "elimination_probability",
    "parity_of",
    "spanning_probability",
    "surviving_bits",
]

Bits = NDArray[np.int64]


def balanced_probability(sparsity: int) -> arb:
    """p = (1/2)^(1/s), enclosed: a conjunction of s bits is 1 with probability 1/2.

    Raises:
        ValueError: for s < 1.
    """
    return arb(fmpq(1, 2)).root(checked_integer("The number of bits", sparsity, 1))


def agreement_probability(sparsity: int, shared: int, p: Any) -> Any:
    """The probability 1 - 2(p^s - p^(2s - o)) that two conjunctions of s bits with o in common agree on a string.

    Raises:
        ValueError: unless 0 <= o <= s and 0 < p < 1.
    """
    s, o = checked_integer("The number of bits", sparsity, 1), checked_integer("The shared bits", shared, 0)
    if o > s:
        raise ValueError(f"Conjunctions of {s} bits share at most {s} bits, not {o}.")
    q = _probability(p)
    return 1 - 2 * (q**s - q ** (2 * s - o))


def elimination_probability(length: int, sparsity: int, samples: int, p: Any) -> Any:
    """The probability that the bits that are 1 in all positive examples are the s bits of the conjunction.

    Args:
        length: T.
        sparsity: s.
        samples: m.
        p: that a bit is 1, as a rational, a ball or a float; the result is of the same kind.

    Raises:
        ValueError: unless 1 <= s <= T, m >= 0 and 0 < p < 1.
    """
    T, s, m, q = _sizes(length, sparsity, samples, p)
    one = q**s
    return sum((comb(m, k) * one**k * (1 - one) ** (m - k) * (1 - q**k) ** (T - s) for k in range(m + 1)), 0 * q)


def ambiguity_bound(length: int, sparsity: int, samples: int, p: Any) -> Any:
    """The expected number of other conjunctions that fit the sample, which bounds the probability that one does.

    Raises:
        ValueError: unless 1 <= s <= T, m >= 0 and 0 < p < 1.
    """
    T, s, m, q = _sizes(length, sparsity, samples, p)
    return sum(
        (comb(s, o) * comb(T - s, s - o) * agreement_probability(s, o, q) ** m for o in range(s)), 0 * q
    )  # fmt: skip


def surviving_bits(strings: ArrayLike, labels: ArrayLike) -> list[int]:
    """The bits that are 1 in every positive example, which is what the elimination learner answers.

    Raises:
        ValueError: unless strings and labels are zeros and ones of shapes (m, T) and (m,).
    """
    x, y = _sample(strings, labels)
    return np.flatnonzero(x[y == 1].all(axis=0)).tolist()


def consistent_conjunctions(
    strings: ArrayLike, labels: ArrayLike, sparsity: int, most: int | None = None
) -> list[tuple[int, ...]]:
    """The index sets of s bits whose conjunction has the labels of the sample, in order, the first ``most`` of them.

    Raises:
        ValueError: unless strings and labels are zeros and ones of shapes (m, T) and (m,), and s >= 1.
    """
    x, y = _sample(strings, labels)
    s = checked_integer("The number of bits", sparsity, 1)
    kept = surviving_bits(x, y)
    ones = [int("".join(map(str, x[y == 0, i])) or "0", 2) for i in kept]
    found: list[tuple[int, ...]] = []

    def extend(chosen: tuple[int, ...], first: int, negatives: int) -> None:
        if most is not None and len(found) >= most:
            return
        if len(chosen) == s:
            if not negatives:
                found.append(chosen)
            return
        for j in range(first, len(kept)):
            extend((*chosen, kept[j]), j + 1, negatives & ones[j])

    extend((), 0, 2 ** int((y == 0).sum()) - 1)
    return found


def parity_of(strings: ArrayLike, labels: ArrayLike) -> list[int] | None:
    """The bits of the only parity with the labels of the sample, by elimination modulo 2; None if there are several.

    Raises:
        ValueError: unless strings and labels are zeros and ones of shapes (m, T) and (m,), or if no parity fits.
    """
    x, y = _sample(strings, labels)
    length = x.shape[1]
    reduced, rank = nmod_mat(np.column_stack([x, y]).tolist(), 2).rref()
    rows = [[int(reduced[i, j]) for j in range(length + 1)] for i in range(rank)]
    if any(not any(row[:length]) for row in rows):
        raise ValueError("No parity has these labels.")
    return None if rank < length else [j for j in range(length) if rows[j][length]]


def spanning_probability(length: int, samples: int) -> fmpq:
    """The probability prod_{i < T} (1 - 2^(i - m)) that m uniform strings of T bits span all of them modulo 2.

    Raises:
        ValueError: for T < 1 or m < 0.
    """
    T, m = checked_integer("The length of the strings", length, 1), checked_integer("The number of samples", samples, 0)
    result = fmpq(1)
    for i in range(T if m >= T else 0):
        result *= 1 - fmpq(2**i, 2**m)
    return result if m >= T else fmpq(0)


def _probability(p: Any) -> Any:
    if not p > 0 or not p < 1:
        raise ValueError(f"The probability that a bit is 1 is between 0 and 1, not {p}.")
    return p


def _sizes(length: int, sparsity: int, samples: int, p: Any) -> tuple[int, int, int, Any]:
    T, s = checked_integer("The length of the strings", length, 1), checked_integer("The number of bits", sparsity, 1)
    if s > T:
        raise ValueError(f"A conjunction of {s} bits does not fit into strings of {T} bits.")
    return T, s, checked_integer("The number of samples", samples, 0), _probability(p)


def _sample(strings: ArrayLike, labels: ArrayLike) -> tuple[Bits, Bits]:
    x, y = np.asarray(strings), np.asarray(labels)
    if x.ndim != 2 or y.shape != x.shape[:1] or not np.isin(x, (0, 1)).all() or not np.isin(y, (0, 1)).all():
        raise ValueError("A sample has zeros and ones: strings of shape (m, T) and labels of shape (m,).")
    return x.astype(np.int64), y.astype(np.int64)
