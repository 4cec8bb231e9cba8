"""The oracle for the gradients of the minimal model: all sequences, one by one, from the definition of the loss.

Nothing here knows of powers of the transition matrix, of stationary correlations or of the tensor of
`lemmata.numerics.markov.minimal_gradient`: the gradient of the margin loss of every single sequence is weighted with
its probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import comb
from typing import Any

import numpy as np
from flint import fmpq, fmpq_poly
from numpy.typing import NDArray

from lemmata.numerics.exact.log_two import LogTwo
from lemmata.numerics.markov.flat import flat_average

Chain = NDArray[np.object_]

_HALF = fmpq(1, 2)


@dataclass(frozen=True)
class Gradients:
    """Loss, and the descent directions -dL/dv, shape (t,), and -dL/dW, shape (k, k)."""

    loss: Any
    v: NDArray[Any]
    W: NDArray[Any]


def chain(a: str, b: str) -> Chain:
    """[[a, 1-a], [1-b, b]] with rational entries, as in (E.14)."""
    (p, q), (r, s) = a.split("/"), b.split("/")
    x, y = fmpq(int(p), int(q)), fmpq(int(r), int(s))
    return np.array([[x, 1 - x], [1 - y, y]], dtype=object)


def logits(x: Sequence[int], v: Sequence[Any] | NDArray[Any], W: NDArray[Any], p: int) -> list[Any]:
    """f_{p,i} for all i by the entrywise definition; p starts at 1."""
    f: list[Any] = [fmpq(0)] * len(W)
    for late in range(p):
        for s in range(late + 1):
            f[x[late]] += v[late - s] * W[x[p - 1], x[s]]
    return f


def of_sequence(
    x: Sequence[int], v: Sequence[Any] | NDArray[Any], W: NDArray[Any], delta: Any, strict: bool = False
) -> Gradients:
    """Loss and descent directions of one sequence of t + 1 symbols: the margin loss, averaged over t positions.

    A hinge max(0, z) has the derivative [z >= 0], as in (E.8), or [z > 0] if `strict`.
    """
    t, k = len(x) - 1, len(W)
    loss, dv, dW = fmpq(0), np.array([fmpq(0)] * t), np.array([[fmpq(0)] * k] * k)
    for p in range(1, t + 1):
        f, target = logits(x, v, W, p), x[p]
        hinges = {i: delta + f[i] - f[target] for i in range(k) if i != target}
        active = [i for i, z in hinges.items() if z > 0 or (z == 0 and not strict)]
        loss += sum((hinges[i] for i in active), fmpq(0)) / (t * k)
        for late in range(p):
            # df_{p,i} belongs to i = x[late]; it enters with -1 for each active i, and the target against it
            weight = fmpq(len(active) * int(x[late] == target) - int(x[late] in active), t * k)
            for s in range(late + 1):
                dv[late - s] += weight * W[x[p - 1], x[s]]
                dW[x[p - 1], x[s]] += weight * v[late - s]
    return Gradients(loss, dv, dW)


def of_chain(P: Chain, pi: NDArray[Any], v: Sequence[Any] | NDArray[Any], W: NDArray[Any], delta: Any) -> Gradients:
    """The average over all sequences of a stationary chain."""
    t, k = len(v), len(P)
    total = Gradients(fmpq(0), np.array([fmpq(0)] * t), np.array([[fmpq(0)] * k] * k))
    for x in product(range(k), repeat=t + 1):
        weight = pi[x[0]]
        for s in range(t):
            weight = weight * P[x[s], x[s + 1]]
        total = _add(total, of_sequence(x, v, W, delta), weight)
    return total


def of_flat_prior(v: Sequence[Any] | NDArray[Any], W: NDArray[Any], delta: Any) -> Gradients:
    """The average over all sequences of stationary two-state chains with uniform transition probabilities."""
    t = len(v)
    total = Gradients(LogTwo(), np.array([LogTwo()] * t), np.array([[LogTwo()] * 2] * 2))
    for x in product(range(2), repeat=t + 1):
        total = _add(total, of_sequence(x, v, W, delta), flat_probability(x))
    return total


def of_symmetric_prior(v: Sequence[Any] | NDArray[Any], W: NDArray[Any], delta: Any, spread: fmpq = _HALF) -> Gradients:
    """The average over all sequences of chains [[a, 1-a], [1-a, a]], a uniform on [1/2 - spread, 1/2 + spread]."""
    t = len(v)
    ends = (_HALF - spread, _HALF + spread)
    total = Gradients(fmpq(0), np.array([fmpq(0)] * t), np.array([[fmpq(0)] * 2] * 2))
    for x in product(range(2), repeat=t + 1):
        stay = sum(int(x[s] == x[s + 1]) for s in range(t))
        integral = (fmpq_poly([0, 1]) ** stay * fmpq_poly([1, -1]) ** (t - stay)).integral()
        weight = (integral(ends[1]) - integral(ends[0])) / (4 * spread)
        total = _add(total, of_sequence(x, v, W, delta), weight)
    return total


def flat_probability(x: Sequence[int]) -> LogTwo:
    """The probability of a sequence under the flat prior: E[pi_{x_1} (1-U)^n11 U^n12 V^n21 (1-V)^n22]."""
    moves = [(x[s], x[s + 1]) for s in range(len(x) - 1)]
    stay_first, stay_second = moves.count((0, 0)), moves.count((1, 1))
    start = (0, 1) if x[0] == 0 else (1, 0)  # pi = (V, U)/(U+V)
    numerator = {}
    for i, l in product(range(stay_first + 1), range(stay_second + 1)):
        key = (start[0] + moves.count((0, 1)) + i, start[1] + moves.count((1, 0)) + l)
        numerator[key] = (-1) ** (i + l) * comb(stay_first, i) * comb(stay_second, l)
    return flat_average(numerator, 1)


def _add(total: Gradients, one: Gradients, weight: Any) -> Gradients:
    scale = np.array(weight, dtype=object)
    return Gradients(total.loss + weight * one.loss, total.v + one.v * scale, total.W + one.W * scale)
