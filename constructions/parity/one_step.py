"""The parity that one truncated step from an under-sparse start gives, for even and odd numbers of inputs and of ones.

The start is that of `lemmata.constructions.parity.under_sparse`, with its k biases -(epsilon/2k) theta_q, and so is the
step; the gradient of a good neuron is g = xi_rel on S \\ A and xi_irr outside of S. For odd k both have the sign of the
bias (0 counts as negative), so that the neuron of a pair that moves up on S \\ A is one at some biases and the other at
the rest. It ends with epsilon/2k on A, (epsilon/2k)(1 + epsilon) on S \\ A and epsilon^2/2k outside of S.

The kinks lie halfway between the sums -k, -k+2, ..., k of x over S for odd k as well, where the parity is -1 and not 1
at the least of them: the read-out of even k, with all signs turned, is the parity of odd k. It errs by at most
2 k (n-s) epsilon.

Source: pareto-frontiers, ext-odd-sizes; theorem C.16 where k and s are even.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import fmpq

from lemmata.constructions.parity.activations import Ramp
from lemmata.constructions.parity.frontier import sparse_start
from lemmata.constructions.parity.support import Support, checked_support
from lemmata.constructions.parity.two_layer import TwoLayerNetwork
from lemmata.constructions.parity.under_sparse import bias_kinks
from lemmata.numerics.exact.rationals import as_fmpq
from lemmata.numerics.parity.sparse_neurons import sparse_gradient, under_sparse_neuron

__all__ = ["one_step_network"]


def one_step_network(n: int, support: Support, s: int, epsilon: Any) -> TwoLayerNetwork:
    """k neurons after the step with the population's gradient, one at each kink, with their read-out; exact.

    Args:
        n: the number of inputs.
        support: S; the first s of its inputs, in increasing order, are the ones of every neuron.
        s: the number of ones, from 1 to k-1.
        epsilon: the small weight at the start, rational, in (0, 1/(n-s+1)].

    Raises:
        ValueError: as `lemmata.constructions.parity.frontier.sparse_start`, or if epsilon or the support does not fit.
    """
    S = sorted(checked_support(n, support))
    k, small = len(S), as_fmpq(epsilon)
    start = sparse_start(n, k, s)
    if start.regime != "under":
        raise ValueError(f"An under-sparse start has fewer ones than the parity has inputs, {k}, not {s}.")
    if small is None or not 0 < small * (n - s + 1) <= 1:
        raise ValueError(f"epsilon must be a rational number in (0, 1/(n-s+1)] = (0, 1/{n - s + 1}], not {epsilon}.")
    unit, gamma = small / (2 * k), start.threshold
    rate = unit / abs(start.values.relevant)
    hidden, biases, readout = [], [], []
    for q, theta in enumerate(bias_kinks(k), start=1):
        neuron = under_sparse_neuron(n, S[:s], small, -unit * theta)
        gradient = sparse_gradient(neuron, S)
        up = 1 if gradient[S[-1]] > 0 else -1  # which neuron of the pair moves up on S \ A
        kept = np.array([g if abs(g) > gamma else fmpq(0) for g in gradient.tolist()], dtype=object)
        hidden.append(unit * neuron.weights + rate * up * kept)
        biases.append(neuron.bias)
        readout.append((-1) ** (q + k) * 2 * (2 * q - 1) / unit)
    return TwoLayerNetwork(np.stack(hidden), np.array(biases), np.array(readout), Ramp(), fmpq((-1) ** k))
