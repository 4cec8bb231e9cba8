"""Why the maximum margin on some cells of an addition table is larger than on all: no weights of triangles will do.

Weights w of triangles that are an optimal strategy meet the conditions M w = r of ext-T8, are nonnegative, and pay no
neuron too much: with g(a, b, d) = u_a v_b (w_{a+b} - w_{a+b+d}), the sum of w g is at most sqrt(n^3/2) |u| |v| |w|
(ext-T11, step 26 of proofs/triangles.md). Integers y and l_j >= 0 with y M + sum l_j g_j >= 0, but
y r + sum l_j sqrt(n^3/2) |u_j| |v_j| |w_j| < 0, contradict that. Often no neuron is needed; for groups of even order,
where the conditions are those of ext-T15, only contradictions without neurons are looked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from lemmata.certificates.operations.triangle_weights import TriangleConditions

__all__ = ["Contradiction", "contradiction", "contradicts"]

SIZES = (10, 100, 1000, 10**5, 10**7)
"""Of the largest share, or of y without neurons, tried in turn."""
NEURON = 30
"""The largest entry of a neuron."""
ROUNDS, STARTS, STEPS = 12, 6, 200
"""Of the search for neurons: rounds, ascents in each, and steps of an ascent."""
ENOUGH = 1e-3
"""How much more than W, relatively, all weights pay one of the neurons when the search ends."""

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Contradiction:
    """Integers that contradict the conditions.

    Attributes:
        combination: y, one for each condition.
        neurons: (u, v, w), shape (m, 3, n).
        shares: l >= 0, shape (m,).
    """

    combination: Integers
    neurons: Integers
    shares: Integers


def contradicts(conditions: TriangleConditions, found: Contradiction) -> bool:
    """Whether integers contradict the conditions, exactly.

    Raises:
        ValueError: for integers of other shapes or too large for sums in 64 bits, and for neurons and a group of even
            order.
    """
    n = len(conditions.orbit)
    m = len(found.shares)
    if found.combination.shape != conditions.right.shape or found.neurons.shape != (m, 3, n):
        raise ValueError(
            f"There are {len(conditions.right)} conditions and functions on {n} elements, not integers of the shapes "
            f"{found.combination.shape} and {found.neurons.shape}."
        )
    if m and n % 2 == 0:
        raise ValueError(f"For a group of even order {n} no neurons can be part of a contradiction.")
    most = [max(map(abs, part.ravel().tolist()), default=0) for part in (found.combination, found.neurons)]
    if max(most[0] * int(abs(conditions.matrix).sum(axis=0).max(initial=0)), 2 * most[1] ** 3 * n**3) >= 2**63:
        raise ValueError(
            f"The combination goes to {most[0]} and the neurons to {most[1]}: their sums need over 64 bits."
        )
    y, answers = found.combination.astype(object), _answers(conditions, found.neurons).astype(object)
    left = np.array((found.combination @ conditions.matrix).tolist(), object)
    root = int(y @ conditions.root)
    size = isqrt(2 * root**2)  # root sqrt(2) is at most this and 1 for positive root, at most -size else
    right = int(y @ conditions.right) + (size + 1 if root > 0 else -size)
    for share, neuron, answer in zip(found.shares.tolist(), found.neurons.astype(object), answers, strict=True):
        left = left + share * answer
        squares = [int((part * part).sum()) for part in neuron]
        right += isqrt(share**2 * n**3 * squares[0] * squares[1] * squares[2] // 2) + 1
    return bool(min(found.shares.tolist(), default=0) >= 0 and min(left) >= 0 and right < 0)


def contradiction(conditions: TriangleConditions, *, seed: int = 0) -> Contradiction | None:
    """A contradiction, with as few neurons as the search needs; None where it finds none, which is no denial.

    Args:
        conditions: which weights.
        seed: of the starts of the ascents.
    """
    n = len(conditions.orbit)
    rng = np.random.default_rng(seed)
    neurons = np.zeros((0, 3, n), np.int64)
    for _ in range(ROUNDS):
        program = _least_payment(conditions, neurons)
        if program is None:
            return None
        payment, weights, y, shares = program
        if payment > 1 + ENOUGH:
            return _whole(conditions, y, neurons, shares)
        if n % 2 == 0:
            return None
        neurons = np.concatenate([neurons, _ascended(_payoff(conditions, weights), rng)])
    return None


def _least_payment(conditions: TriangleConditions, neurons: Integers) -> tuple[float, Floats, Floats, Floats] | None:
    """The least largest payment of the neurons over W, the weights, and the multipliers of conditions and neurons.

    Where no weights meet the conditions the payment is infinite.
    """
    count, m, n = len(conditions.sizes), len(neurons), len(conditions.orbit)
    units = np.prod(np.linalg.norm(neurons, axis=2), axis=1) * np.sqrt(n**3 / 2)
    answers = _answers(conditions, neurons) / units[:, None] if m else np.zeros((0, count))
    found: Any = linprog(
        np.append(np.zeros(count), 1.0),
        A_ub=np.hstack([answers, -np.ones((m, 1))]) if m else None,
        b_ub=np.zeros(m) if m else None,
        A_eq=np.hstack([conditions.matrix.toarray(), np.zeros((len(conditions.right), 1))]),
        b_eq=conditions.values,
        method="highs",
    )
    if found.status == 0:
        shares = -found.ineqlin.marginals / units if m else np.zeros(0)
        return float(found.x[-1]), found.x[:-1], -found.eqlin.marginals, shares
    if found.status != 2 or m:
        return None
    matrix, right = conditions.matrix.toarray(), conditions.values
    # y M >= 0 and y r < 0, up to a factor
    other: Any = linprog(
        right,
        A_ub=-matrix.T,
        b_ub=np.zeros(count),
        bounds=[(-1, 1)] * len(right),
        method="highs",
    )
    return None if other.status != 0 else (np.inf, np.zeros(count), other.x, np.zeros(0))


def _whole(conditions: TriangleConditions, y: Floats, neurons: Integers, shares: Floats) -> Contradiction | None:
    """Integers near the multipliers that contradict; None where none of the sizes is enough."""
    kept = shares > 0
    cover = (conditions.values > 0).astype(np.int64)
    least = int((cover @ conditions.matrix).min())
    answers = _answers(conditions, neurons[kept])
    for size in SIZES:
        scale = size / (shares.max() if len(shares) else np.abs(y).max())
        whole, parts = np.rint(scale * y).astype(np.int64), np.rint(scale * shares[kept]).astype(np.int64)
        low = int((whole @ conditions.matrix + parts @ answers).min())
        if low < 0:  # the uniform marginals together see every orbit
            whole += ceil(-low / least) * cover
        found = Contradiction(whole, neurons[kept], parts)
        if contradicts(conditions, found):
            return found
    return None


def _answers(conditions: TriangleConditions, neurons: Integers) -> Integers:
    """The sum over each orbit of u_a v_b (w_{a+b} - w_{a+b+d}), shape (m, orbits)."""
    a, b, d, number = conditions.triples()
    right = conditions.plus[a, b]
    u, v, w = neurons[:, 0], neurons[:, 1], neurons[:, 2]
    values = u[:, a] * v[:, b] * (w[:, right] - w[:, conditions.plus[right, d]])
    sums = np.zeros((len(conditions.sizes), len(neurons)), np.int64)
    np.add.at(sums, number, values.T)
    return sums.T


def _payoff(conditions: TriangleConditions, weights: Floats) -> Floats:
    """The sum of w u_a v_b (w_{a+b} - w_{a+b+d}) as an array over u, v, w."""
    a, b, d, number = conditions.triples()
    n = len(conditions.orbit)
    form = np.zeros((n, n, n))
    right = conditions.plus[a, b]
    np.add.at(form, (a, b, right), weights[number])
    np.add.at(form, (a, b, conditions.plus[right, d]), -weights[number])
    return form


def _ascended(form: Floats, rng: np.random.Generator) -> Integers:
    """Neurons that are paid much, in integers."""
    found = []
    for _ in range(STARTS):
        v, w = rng.normal(size=(2, len(form)))
        u = v
        for _ in range(STEPS):
            u = np.einsum("abc,b,c->a", form, v, w)
            u /= np.linalg.norm(u)
            v = np.einsum("abc,a,c->b", form, u, w)
            v /= np.linalg.norm(v)
            w = np.einsum("abc,a,b->c", form, u, v)
            w /= np.linalg.norm(w)
        found.append([np.rint(NEURON * part / np.abs(part).max()).astype(np.int64) for part in (u, v, w)])
    return np.array(found)
