"""Groups of any name with their Cayley tables and exact character tables side by side, for checks on all types.

The Cayley table numbers the elements as the permutation group does, and the columns of the character table are its
conjugacy classes, so that class functions on the elements and on the columns can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from lemmata.certificates.characters.dixon import character_table
from lemmata.certificates.characters.tables import CharacterTable
from lemmata.certificates.game.margin_game import MarginGame, margin_scale
from lemmata.certificates.saddle.optimal_network import rows_of
from lemmata.certificates.saddle.pair import group_task
from lemmata.constructions.groups.any_type import any_group_network
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.representations.unitary import unitary_irreps
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.groups.tables import FiniteGroup
from lemmata.numerics.margins.descent import objective_and_gradient


@dataclass(frozen=True, eq=False)
class TabulatedGroup:
    """A group, its character table, and the column of the table for each element."""

    group: FiniteGroup
    table: CharacterTable
    class_of: np.ndarray

    @property
    def game(self) -> MarginGame:
        """The margin game of the table."""
        return MarginGame(self.table)

    def class_function(self, totals: np.ndarray) -> np.ndarray:
        """Spread total weights, one for each column of the game, evenly over the elements, shape (n,)."""
        tau = np.zeros(self.group.order)
        for total, C in zip(totals, self.game.columns, strict=True):
            members = np.isin(self.class_of, (C, self.table.inverses[C]))
            tau[members] = total / members.sum()
        return tau

    def neuron_bound(self, totals: np.ndarray) -> float:
        """2 (3n)^(-3/2) max_R kappa_R for these class weights: what no unit neuron exceeds."""
        return float(margin_scale(self.group.order)) * float((self.game.payoff() @ totals).max())

    def loss(self, hidden: np.ndarray, readout: np.ndarray, penalty: float) -> float:
        """Mean cross-entropy over all n^2 inputs plus penalty * sum ||omega_i||^3, from the weights."""
        task = group_task(self.group)
        return objective_and_gradient(task.inputs.astype(float), task.labels, hidden, readout, 2, penalty)[0]

    def network(self, masses: np.ndarray) -> HomogeneousNetwork:
        """The explicit network with the given masses N_R, one for each row of the game, not all zero."""
        irreps = unitary_irreps(self.group)
        heads = [int(np.flatnonzero(self.class_of == C)[0]) for C in range(len(self.table.class_sizes))]
        rows = rows_of(irreps, self.table, heads, self.game.rows)
        total = float(masses.sum())
        shares = {
            irrep.name: float(masses[self.game.rows.index(row)]) / total
            for irrep, row in zip(irreps, rows, strict=True)
            if row != 0
        }
        unit = any_group_network(irreps, shares)
        return HomogeneousNetwork(unit.hidden, unit.readout, unit.masses * total, 2, unit.norm_squared)


@cache
def tabulated(name: str) -> TabulatedGroup:
    """The group of a name that `lemmata.numerics.groups.names.parse_group` accepts."""
    permutations = parse_group(name)
    return TabulatedGroup(
        permutations.to_finite_group(), character_table(permutations), np.asarray(permutations.classes.class_of)
    )
