"""Neurons that become good together after one gradient step, whatever the signs of their relevant weights.

A pair of ReLU neurons with signs w, bias b and read-out weights u and -u makes one step of length 1/(k |xi_{k-1}|) on
the parity of k inputs (k even, xi the coefficients of majority). Its relevant weights become s/(2k) and -s/(2k), where
s = u sign(xi_{k-1}) chi(w) w on the support and chi the parity. So the pair belongs to the class {s, -s}, one of
2^(k-1), and supplies both signs at its bias, one of 2k - 1 levels. For equal signs s = (1, ..., 1) a second layer on
the levels of the biases -1/2 + (i+1)/k, i = 0..k, gives 2 chi(x). For any s the same weights give 2 chi(s x) =
2 chi(s) chi(x), so that any class will do which has these k + 1 levels.

For k = 2 the largest of these biases, 1, is no level. But there are two classes only, and with c = s.x/4 for any s

    8 (c_+ + (-c)_+) - 2 ((1/2 + d)_+ + (1/2 - d)_+) = 8 |c| - 2 = 2 chi(s) chi(x),

where d = t.x/4 for any class t, the same or not, as |d| <= 1/2; and 4 |c| - 4 |d| is as much for different classes. So
it is enough that some class has the bias 0, and that the other one has it, too, or any class has the bias 1/2.

Source: hidden-progress, lemma-B.5 and theorem-5.5-full as their ledger entries repair them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, fmpq, fmpq_poly
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "class_readout",
    "no_class_bound",
    "no_class_probability",
    "no_readout_probability_for_two",
    "readout_weights",
]


def readout_weights(k: int) -> list[int]:
    """The second layer 8k (-1)^i for i <= k-2, -6k, 2k on the k + 1 biases of lemma B.4 as repaired.

    Raises:
        ValueError: unless k >= 4 is even.
    """
    _check_degree(k)
    return [8 * k * (-1) ** i for i in range(k - 1)] + [-6 * k, 2 * k]


def class_readout(signs: ArrayLike, readout: ArrayLike, levels: ArrayLike) -> NDArray[np.int64]:
    """A second layer for all neurons after the step, shape (2P,), that makes the first complete class the parity.

    For k = 2 it rests on the bias 0 of both classes, or on the biases 0 and 1/2.

    Args:
        signs: the P pairs' relevant weights at the start, +-1, shape (P, k).
        readout: u of the first neuron of each pair, +-1, shape (P,); the second has -u. Neuron p + P belongs to pair p.
        levels: l of each pair, shape (P,), 1 <= l <= 2k - 1, for the bias -1 + l/k.

    Raises:
        ValueError: for odd k, arrays that do not fit, or if no class has all k + 1 levels (k = 2: the needed biases).
    """
    w, u, level = (np.asarray(part, dtype=np.int64) for part in (signs, readout, levels))
    if w.ndim != 2 or u.shape != (len(w),) or level.shape != (len(w),):
        raise ValueError(
            "Give the signs of P pairs in the shape (P, k), and P read-out weights and levels; the shapes are "
            f"{w.shape}, {u.shape} and {level.shape}."
        )
    k = w.shape[1]
    if k != 2:
        _check_degree(k)
    if not (np.all(np.abs(w) == 1) and np.all(np.abs(u) == 1)):
        raise ValueError("The signs and the read-out weights must be +1 or -1.")
    if not np.all((level >= 1) & (level <= 2 * k - 1)):
        raise ValueError(f"The levels run from 1 to 2k - 1 = {2 * k - 1}.")
    # s is u w times sign(xi) chi(w), which is the same for all pairs of a class: as k is even, s and -s serve alike
    patterns = u[:, None] * w
    if k == 2:
        return _readout_for_two(np.prod(w, axis=1), level)
    found: dict[tuple[int, ...], dict[int, int]] = {}
    for p, (pattern, i) in enumerate(zip(patterns, level - k // 2 - 1, strict=True)):
        if 0 <= i <= k:
            members = found.setdefault(tuple((pattern * pattern[0]).tolist()), {})
            members.setdefault(int(i), p if pattern[0] > 0 else p + len(w))
    for pattern, members in found.items():
        if len(members) == k + 1:
            second = np.zeros(2 * len(w), dtype=np.int64)
            for i, weight in enumerate(readout_weights(k)):
                second[members[i]] = int(np.prod(pattern)) * weight
            return second
    raise ValueError(f"No class of signs has a pair at each of the {k + 1} biases.")


def _readout_for_two(characters: NDArray[np.int64], levels: NDArray[np.int64]) -> NDArray[np.int64]:
    """`class_readout` at k = 2, where the class of a pair is the product of its two signs."""
    second = np.zeros(2 * len(levels), dtype=np.int64)
    at_zero = {int(c): p for p, c in reversed(list(enumerate(characters))) if levels[p] == 2}
    halves = np.flatnonzero(levels == 3)
    if len(at_zero) == 2:
        weights = {at_zero[1]: 4, at_zero[-1]: -4}
    elif at_zero and len(halves):
        (character, p), *_ = at_zero.items()
        weights = {p: 8 * character, int(halves[0]): -2 * character}
    else:
        raise ValueError("No class of signs has the bias 0 together with another class at 0 or with any at 1/2.")
    for p, weight in weights.items():
        second[[p, p + len(levels)]] = weight
    return second


def no_readout_probability_for_two(pairs: int) -> fmpq:
    """The probability that `class_readout` finds none at k = 2, where a pair hits one of two classes, three levels.

    (2/3)^P that no pair has the bias 0, and twice (1/2)^P - (1/3)^P that one class has it, the other has not, and no
    pair has the bias 1/2.

    Args:
        pairs: P >= 1, half the width.
    """
    return fmpq(2, 3) ** pairs + 2 * (fmpq(1, 2) ** pairs - fmpq(1, 3) ** pairs)


def no_class_probability(classes: int, levels: int, needed: int, pairs: int) -> fmpq:
    """The probability that every class lacks one of its needed levels, where each pair hits one class and level.

    With y = exp(z/(classes levels)) the generating function of the counts of one class that lacks a needed level is
    f(y) = y^levels - (y - 1)^needed y^(levels - needed), and y^m stands for the number (m/(classes levels))^pairs in
    pairs! [z^pairs] f^classes.

    Args:
        classes: the number of classes, 2^(k-1) for a parity of k inputs.
        levels: the number of levels of each class, all cells being equally likely; 2k - 1 for the biases.
        needed: how many of them a class must have; k + 1.
        pairs: the number of pairs, half the width.

    Raises:
        ValueError: unless classes >= 1, 1 <= needed <= levels and pairs >= 1.
    """
    if classes < 1 or pairs < 1 or not 1 <= needed <= levels:
        raise ValueError(
            "Give at least one class and one pair, and 1 <= needed <= levels, not "
            f"{classes} classes, {pairs} pairs, {needed} of {levels} levels."
        )
    y = fmpq_poly([0, 1])
    lacking = (y**levels - (y - 1) ** needed * y ** (levels - needed)) ** classes
    cells = classes * levels
    total = fmpq(0)
    for m, count in enumerate(lacking.coeffs()):
        total += count * fmpq(m, cells) ** pairs
    return total


def no_class_bound(classes: int, levels: int, needed: int, pairs: Any) -> arb:
    """The bound (1 - (1 - exp(-h (pairs - needed)))^needed)^classes on it, h = 1/(classes levels), a ball.

    The classes are negatively associated, and a collector of coupons that come with probability h has the last of
    ``needed`` at most ``needed`` draws after the last of as many exponential times of rate h.

    Args:
        classes: the number of classes.
        levels: the number of levels of each class.
        needed: how many of them a class must have.
        pairs: a number (or ball) of at least ``needed``.

    Raises:
        ValueError: unless classes >= 1, 1 <= needed <= levels and pairs >= needed.
    """
    if classes < 1 or not 1 <= needed <= levels or not arb(pairs) >= needed:
        raise ValueError("Give at least one class, 1 <= needed <= levels, and at least as many pairs as levels needed.")
    missing = (-(arb(pairs) - needed) / (classes * levels)).exp()
    return (1 - (1 - missing) ** needed) ** classes


def _check_degree(k: int) -> None:
    if k < 4 or k % 2:
        raise ValueError(f"k must be even and at least 4, not {k}: for k = 2 the largest bias of the lemma is 1.")
