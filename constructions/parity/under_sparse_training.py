"""Under-sparse networks trained end to end: from one step that finds the support to a network that reads nothing else.

After the step of `lemmata.constructions.parity.under_sparse` a neuron with its ones inside the support S reads S, and
all others still read their ones. Four further steps of the first layer, each with decay 1,

    w <- eta u trunc(g, gamma),    g = mean of y 1{w.x + b > 0} x,

get rid of these: a neuron whose activity depends on s < k - 1 signs has the population gradient 0, is truncated, and
ends with w = 0. A neuron with weights of one size along a direction a, a sign for each input of S, is active where
<a, x> > theta, and by symmetry its gradient is G_theta a,

    G_theta = (-1)^((k-1-theta)/2) 2^-k C(k-1, (k-1+theta)/2) theta/(k-1)                    (`slope_gradient`),

so that it keeps its direction up to the sign, but gets a length that depends on the kink theta. The second of two
steps mends that: if the first makes all lengths so small that every kink lies between the two values of <a, x> next to
0, activity is <a, x> > sign(theta), and all gradients have the size of G_1. Two such rounds also restore the sign:

    eta_1 = kappa (k-1) 2^k,    eta_2 = kappa/|G_1|,    gamma = 2^-(k+1),    kappa = epsilon/(2k),

leave kappa a at each neuron whose ones lie in S, kappa 1_S at those with u = sign(xi_rel), and 0 at the others. The
output weights then start at 0 and are trained alone (`falling_rate_descent` of the second layer on `pattern_features`);
as all features are functions of the k signs of S, what fits the sample is right on the cube.

Source: pareto-frontiers, the conjecture after theorem C.16 (conjecture-end-to-end);
theorems/pareto_frontiers/proofs/under-sparse-training.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.constructions.parity.support import Support, checked_support
from lemmata.constructions.parity.two_layer import TwoLayerNetwork
from lemmata.constructions.parity.under_sparse import checked_epsilon
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.rationals import common_denominator
from lemmata.numerics.parity.sparse_neurons import under_sparse_values
from lemmata.numerics.parity.under_sparse_sizes import slope_gradient

__all__ = [
    "FirstLayerStep",
    "batch_gradients",
    "pattern_features",
    "train_first_layer",
    "training_schedule",
    "truncated_step",
]

_LONGEST = 2**62


@dataclass(frozen=True)
class FirstLayerStep:
    """The numbers of a truncated step w <- (1 - decay) w + rate u trunc(g, threshold).

    Attributes:
        threshold: gamma; entries of g of at most this size are zeroed.
        rate: eta.
        decay: lambda.
    """

    threshold: fmpq
    rate: fmpq
    decay: fmpq


def training_schedule(n: int, k: int, s: int, epsilon: Any) -> tuple[FirstLayerStep, ...]:
    """The five steps of the first layer.

    Args:
        n: the number of inputs.
        k: the number of inputs of the parity, even.
        s: the number of ones at the start, even, below k.
        epsilon: the small weight at the start, rational, in (0, 1/(n-s)).

    Raises:
        ValueError: if the sizes are not under-sparse, or epsilon is out of range.
    """
    kappa = checked_epsilon(n, k, s, epsilon) / (2 * k)
    relevant = abs(under_sparse_values(n, k, s).relevant)
    half = fmpq(1, 2 ** (k + 1))
    shrink = FirstLayerStep(half, kappa * (k - 1) * 2**k, fmpq(1))
    restore = FirstLayerStep(half, kappa / abs(slope_gradient(k, 1)), fmpq(1))
    return (FirstLayerStep(relevant / 2, kappa / relevant, 1 - kappa), shrink, restore, shrink, restore)


def batch_gradients(network: TwoLayerNetwork, x: ArrayLike, counts: ArrayLike, support: Support) -> NDArray[np.object_]:
    """g of each neuron, the mean of y 1{w.x + b > 0} x over a sample of the parity, shape (r, n), fmpq.

    The hinge loss has the slope -y at each input, and its negative gradient in w_i is u_i g_i.

    Args:
        network: exact.
        x: different inputs, signs of shape (inputs, n).
        counts: how often each occurs in the sample, integers, shape (inputs,).
        support: S.

    Raises:
        ValueError: if the network is not exact, or y f(x) >= 1 at one of the inputs of the sample, where the slope of
            the hinge loss is 0.
    """
    inputs, often = np.asarray(x, dtype=np.int64), np.asarray(counts, dtype=np.int64)
    if not network.exact:
        raise ValueError("The gradients are computed for exact networks.")
    labels = inputs[:, checked_support(inputs.shape[1], support)].prod(axis=1)
    rows = [(*weights, bias) for weights, bias in zip(network.hidden.tolist(), network.bias.tolist(), strict=True)]
    place = {row: i for i, row in enumerate(dict.fromkeys(rows))}
    before, scale = _preactivations(list(place), inputs)
    outer = np.full(len(place), fmpq(0), dtype=object)
    for row, u in zip(rows, network.readout, strict=True):
        outer[place[row]] += u
    used = np.flatnonzero([u != 0 for u in outer])
    denominator = common_denominator([*outer, network.output_bias])
    tops = np.array([int(outer[i] * denominator) for i in used], dtype=object)
    values = np.maximum(before[:, used], 0).astype(object) @ tops + int(network.output_bias * denominator) * scale
    margins = (values * labels)[often > 0]
    if len(margins) and max(margins) >= scale * denominator:
        raise ValueError("The margin y f(x) is 1 or more at an input of the sample: take a smaller epsilon.")
    sums = (before > 0).T.astype(np.int64) @ (inputs * (labels * often)[:, None])
    unit = fmpq(1, int(often.sum()))
    return (sums.astype(object) * unit)[[place[row] for row in rows]]


def truncated_step(network: TwoLayerNetwork, gradients: NDArray[np.object_], step: FirstLayerStep) -> TwoLayerNetwork:
    """The network after a step of its first-layer weights; biases and output weights stay.

    Raises:
        ValueError: if the gradients have not the shape (r, n) of the weights.
    """
    g = as_exact(gradients)
    if g.shape != network.hidden.shape:
        raise ValueError(f"The gradients must have the shape {network.hidden.shape}, not {g.shape}.")
    kept = g.copy()
    kept[abs(g) <= step.threshold] = fmpq(0)
    hidden = network.hidden * (1 - step.decay) + kept * network.readout[:, None] * step.rate
    return replace(network, hidden=hidden)


def train_first_layer(
    network: TwoLayerNetwork, x: ArrayLike, counts: ArrayLike, support: Support, schedule: Sequence[FirstLayerStep]
) -> list[TwoLayerNetwork]:
    """The networks after each of the steps, all on one sample. Args and errors as `batch_gradients`."""
    found = []
    for step in schedule:
        network = truncated_step(network, batch_gradients(network, x, counts, support), step)
        found.append(network)
    return found


def pattern_features(network: TwoLayerNetwork, support: Support, kappa: fmpq) -> NDArray[np.float64]:
    """The features over kappa and the constant 1, at the 2^k patterns of signs on S in the order of `product`.

    Args:
        network: exact, with no weight outside of S.
        support: S.
        kappa: the unit.

    Returns:
        Shape (2^k, r + 1).

    Raises:
        ValueError: if a neuron reads an input outside of S.
    """
    n = network.hidden.shape[1]
    S = checked_support(n, support)
    outside = [i for i in range(n) if i not in S]
    if any(w != 0 for w in network.hidden[:, outside].ravel()):
        raise ValueError("A neuron reads an input outside of the support.")
    patterns = np.array(list(product((1, -1), repeat=len(S))), dtype=np.int64)
    units, thetas = to_float(network.hidden[:, S] / kappa), to_float(network.bias / kappa)
    return np.hstack([np.maximum(patterns @ units.T + thetas, 0), np.ones((len(patterns), 1))])


def _preactivations(rows: Sequence[tuple[fmpq, ...]], x: NDArray[np.int64]) -> tuple[NDArray[Any], int]:
    """w.x + b for all inputs and rows (w, b) times an integer, shape (inputs, rows), and that integer."""
    scale = common_denominator([number for row in rows for number in row])
    whole = np.array([[int(number * scale) for number in row] for row in rows], dtype=object)
    if abs(whole).sum(axis=1).max() < _LONGEST:
        whole = whole.astype(np.int64)
    return x @ whole[:, :-1].T + whole[:, -1], scale
