"""The margin of an explicit network, measured on all inputs: what the game claims, seen without characters or games.

The network of `certificates.saddle.explicit` is made of numerical representations that are found from the Cayley table
alone; the exact solution contributes its masses and nothing else. The margin is then evaluated from the weights, on all
n^k inputs and against all wrong labels, in floating point with a bound on the rounding error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certificates.game.margin_game import GameSolution
from certificates.saddle.explicit import explicit_network, rows_of
from certificates.saddle.pair import rounding_of_margin
from constructions.groups.products import (
    TypedIrrep,
    neuron_count,
    product_inputs,
    product_labels,
    product_of_factors_network,
)
from constructions.networks.homogeneous import HomogeneousNetwork
from constructions.representations.unitary import KINDS, unitary_irreps
from numerics.groups.permutations import PermutationGroup
from numerics.groups.tables import FiniteGroup
from numerics.margins.evaluation import group_margins

__all__ = ["Attainment", "attained_margin", "network_numbers", "optimal_network"]

BLOCK = 2**22  # products (inputs times neurons) evaluated at once: 32 MB


@dataclass(frozen=True)
class Attainment:
    """The smallest normalised margin of a network over all inputs, and a bound on the rounding error of that number."""

    margin: float
    rounding: float
    inputs: int
    width: int


def optimal_network(group: PermutationGroup, solution: GameSolution) -> tuple[FiniteGroup, HomogeneousNetwork]:
    """Return the Cayley table of ``group`` and the network for products of k elements with the masses of a solved game.

    As `certificates.saddle.explicit.explicit_network`, for any number of factors. Raises ``ValueError`` for an order
    above 2000 and for a game whose table does not fit the group.
    """
    game = solution.game
    if game.factors == 2:
        return explicit_network(group, solution)
    finite = group.to_finite_group()
    irreps = unitary_irreps(finite)
    rows = rows_of(irreps, game.table, group.classes.representative_indices.tolist(), game.rows)
    typed = [TypedIrrep.of(irrep) for irrep, row in zip(irreps, rows, strict=True) if row != 0]
    masses = [float(solution.eps[game.rows.index(row)]) for row in rows if row != 0]
    return finite, product_of_factors_network(typed, masses, game.factors)


def network_numbers(solution: GameSolution) -> int:
    """Return how many numbers the weights of `optimal_network` are: neurons times (k + 1) n."""
    game = solution.game
    neurons = sum(
        neuron_count(KINDS[game.table.indicators[R]], game.table.degrees[R], game.factors)
        for R, mass in zip(game.rows, solution.eps, strict=True)
        if mass > 0
    )
    return neurons * (game.factors + 1) * game.table.order


def attained_margin(network: HomogeneousNetwork, group: FiniteGroup) -> Attainment:
    """Evaluate a network for products in ``group`` on all inputs, k being its degree; see `Attainment`."""
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
