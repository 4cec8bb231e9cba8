"""The margin of an explicit network, measured on all inputs: what the game claims, seen without characters or games.

The network of `lemmata.certificates.saddle.optimal_network` is made of numerical representations that are found from
the Cayley table alone; the exact solution contributes its masses and nothing else. The margin is then evaluated from
the weights, on all n^k inputs and against all wrong labels, in floating point with a bound on the rounding error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lemmata.certificates.saddle.pair import rounding_of_margin
from lemmata.constructions.groups.products import (
    product_inputs,
    product_labels,
)
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.numerics.groups.tables import FiniteGroup
from lemmata.numerics.margins.evaluation import group_margins

__all__ = ["Attainment", "attained_margin"]

BLOCK = 2**22  # products (inputs times neurons) evaluated at once: 32 MB


@dataclass(frozen=True)
class Attainment:
    """The smallest normalised margin of a network over all inputs, and a bound on the rounding error of that number."""

    margin: float
    rounding: float
    inputs: int
    width: int


def attained_margin(network: HomogeneousNetwork, group: FiniteGroup) -> Attainment:
    """The smallest margin of a network for products in ``group`` over all inputs, k being its degree."""
    n, k, m = group.order, network.degree, network.width
    hidden, readout, masses = network.hidden.astype(float), network.readout.astype(float), network.masses.astype(float)
    if k == 2:
        smallest = group_margins(hidden[:, :n], hidden[:, n:], readout, group, masses).minimum
    else:
        smallest = _smallest_margin(network, group)
    unit = float(network.norm_squared) ** (-network.nu / 2) / float(masses.sum())
    activations = np.abs(hidden).reshape(m, k, n).max(axis=2).sum(axis=1)  # the largest |u.x| of each neuron
    largest = float(((activations**k * masses)[:, None] * np.abs(readout)).sum(axis=0).max())
    return Attainment(smallest * unit, unit * rounding_of_margin(network, largest), n**k, m)


def _smallest_margin(network: HomogeneousNetwork, group: FiniteGroup) -> float:
    """The smallest margin over all n^k inputs of the network as it is, block by block."""
    inputs, labels = product_inputs(group.order, network.degree), product_labels(group, network.degree)
    step = max(1, BLOCK // network.width)
    smallest = np.inf
    for start in range(0, len(labels), step):
        outputs = network.raw(inputs[start : start + step])
        right = labels[start : start + step]
        margins = outputs[np.arange(len(right)), right][:, None] - outputs
        margins[np.arange(len(right)), right] = np.inf
        smallest = min(smallest, float(margins.min()))
    return smallest
