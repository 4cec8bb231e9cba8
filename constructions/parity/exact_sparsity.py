"""Neurons with as many ones as the parity has inputs: one truncated step on the output weights selects the right ones.

At s = k a pair of ReLU neurons sigma(w.x - theta_q), w with k ones, has one of the k kinks theta_q = 2q - k - 1,
q = 1, ..., k. Before the step the network is 0, so that the gradient of the hinge loss in an output weight is the mean
of -y sigma(w.x - theta_q). Its expectation is 0 unless w is 1_S, and there, for even k,

    |E chi_S sigma(s_x - theta_q)| = 2^-k |C(k-2, q-1) - C(k-2, q-2)| >= 2^-k          (`kink_correlation`).

So a step with decay 1 that truncates entries up to 2^-(k+1) leaves output weights at the neurons w = 1_S alone, as soon
as all means are accurate to less than that. The summands lie in [-(2k-1), 2k-1]; by Hoeffding's inequality

    P >= k C(n,k) log(2k/delta) pairs and m >= 2^(2k+3) (2k-1)^2 log(4P/delta) samples       (`selection_sizes`)

suffice with probability 1 - delta: of the order k log n samples for fixed k. What is selected computes the parity:
chi_S = 1 + 2 sum_q (-1)^q (2q-1) sigma(s_x - theta_q).

Source: pareto-frontiers, remark-exact-sparsity.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.constructions.parity.activations import Ramp
from lemmata.constructions.parity.support import Support, checked_support
from lemmata.constructions.parity.two_layer import TwoLayerNetwork
from lemmata.numerics.exact.numbers import as_exact, ceiling
from lemmata.numerics.exact.rationals import as_fmpq

__all__ = ["kink_correlation", "selected_network", "selected_pairs", "selection_sizes"]


def kink_correlation(k: int, q: int) -> fmpq:
    """E chi_S sigma(s_x - theta_q), q = 1, ..., k, for even k: (-1)^q 2^-k (C(k-2, q-2) - C(k-2, q-1)).

    Raises:
        ValueError: unless k >= 2 is even and 1 <= q <= k.
    """
    _check(k)
    if not 1 <= q <= k:
        raise ValueError(f"The kinks have the numbers 1 to k = {k}, not {q}.")
    before = comb(k - 2, q - 2) if q >= 2 else 0
    return fmpq((-1) ** q * (before - comb(k - 2, q - 1)), 2**k)


def selection_sizes(n: int, k: int, delta: Any) -> tuple[int, int]:
    """The least numbers of pairs and of samples of the formulas above.

    Raises:
        ValueError: unless 2 <= k <= n, k is even, and delta is a rational number in (0, 1).
    """
    _check(k)
    failure = as_fmpq(delta)
    if k > n or failure is None or not 0 < failure < 1:
        raise ValueError(f"There must be n >= k = {k} inputs and a rational delta in (0, 1), not {n} and {delta}.")
    pairs = ceiling(k * comb(n, k) * arb(2 * k / failure).log())
    return pairs, ceiling(2 ** (2 * k + 3) * (2 * k - 1) ** 2 * arb(4 * pairs / failure).log())


def selected_pairs(rows: ArrayLike, kinks: ArrayLike, x: ArrayLike, y: ArrayLike, law: ArrayLike) -> NDArray[np.bool_]:
    """Which pairs keep an output weight after the step, shape (pairs,), decided in integers.

    Args:
        rows: w_i, 0 or 1 with k ones each, shape (pairs, n).
        kinks: the numbers q of their kinks, shape (pairs,).
        x: inputs, signs of shape (inputs, n).
        y: labels, shape (inputs,).
        law: how often each input occurs in the sample, integers, shape (inputs,).

    Raises:
        ValueError: if the rows do not have the same even number of ones.
    """
    w, inputs, counts = np.asarray(rows), np.asarray(x), np.asarray(law)
    ones = set(w.sum(axis=1).tolist())
    if len(ones) != 1:
        raise ValueError(f"All rows must have the same number of ones, not {sorted(ones)}.")
    k = ones.pop()
    _check(k)
    features = np.maximum(inputs @ w.T - (2 * np.asarray(kinks) - k - 1), 0)
    totals = (counts * np.asarray(y)) @ features
    return np.abs(totals) * 2 ** (k + 1) > counts.sum()


def selected_network(n: int, support: Support) -> TwoLayerNetwork:
    """One neuron 1_S for each kink, with the output weights (-1)^q 2 (2q-1) and the output bias 1: chi_S, exactly.

    Raises:
        ValueError: as `checked_support`, or for an odd number k of inputs of the parity.
    """
    indices = checked_support(n, support)
    k = len(indices)
    _check(k)
    row = np.zeros(n, dtype=int)
    row[indices] = 1
    bias = as_exact([k + 1 - 2 * q for q in range(1, k + 1)])
    weights = as_exact([(-1) ** q * 2 * (2 * q - 1) for q in range(1, k + 1)])
    return TwoLayerNetwork(as_exact(np.tile(row, (k, 1))), bias, weights, Ramp(), fmpq(1))


def _check(k: int) -> None:
    if k < 2 or k % 2:
        raise ValueError(f"The parity must have an even number k >= 2 of inputs, not {k}.")
