"""The network that attains a solved margin game, explicitly: numerical representations with the exact masses.

The unitary irreducible representations of `lemmata.constructions.representations.unitary` are recognised in an exact
character table by their traces: distinct irreducible characters are orthogonal of norm 1, so that rounding cannot
confuse them. The masses of the game then make the network of `lemmata.constructions.groups.any_type` (two factors) or
`lemmata.constructions.groups.products` (more), in float64, whose margin over all inputs is the certified one up to
rounding (`lemmata.certificates.saddle.attainment` measures it). Nothing of the certificate rests on the network; it
exhibits what the certificate claims.

Source: feature-emergence, ext-E1 (the primal side).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lemmata.certificates.characters.tables import CharacterTable
from lemmata.certificates.game.margin_game import GameSolution
from lemmata.constructions.groups.any_type import any_group_network
from lemmata.constructions.groups.products import TypedIrrep, neuron_count, product_of_factors_network
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.representations.unitary import KINDS, UnitaryIrrep, unitary_irreps
from lemmata.numerics.groups.permutations import PermutationGroup
from lemmata.numerics.groups.tables import FiniteGroup

__all__ = ["explicit_network", "network_numbers", "optimal_network", "rows_of"]

SAME = 1e-6  # far above rounding, far below the distance of two characters (1 or more on some class)


def optimal_network(group: PermutationGroup, solution: GameSolution) -> tuple[FiniteGroup, HomogeneousNetwork]:
    """The Cayley table of ``group`` and the network for products of k elements with the masses of a solved game.

    The columns of the table of the game must be ``group.classes``, as
    `lemmata.certificates.characters.dixon.character_table` makes them. The network numbers the elements as
    ``group.elements``.

    Raises:
        ValueError: for an order above 2000, and for a table that does not fit the group.
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


def explicit_network(group: PermutationGroup, solution: GameSolution) -> tuple[FiniteGroup, HomogeneousNetwork]:
    """The Cayley table of ``group`` and the network for products of two elements; see `optimal_network`.

    O(n^3) operations for the order n.

    Raises:
        ValueError: as `optimal_network`, and for a game of more than two factors.
    """
    game = solution.game
    if game.factors != 2:
        raise ValueError(
            f"The explicit network is for products of 2 elements, but the game has {game.factors} factors."
        )
    finite = group.to_finite_group()
    irreps = unitary_irreps(finite)
    heads = [int(head) for head in group.classes.representative_indices]
    masses = {
        irrep.name: float(solution.eps[game.rows.index(row)])
        for irrep, row in zip(irreps, rows_of(irreps, game.table, heads, game.rows), strict=True)
        if row != 0
    }
    return finite, any_group_network(irreps, masses)


def network_numbers(solution: GameSolution) -> int:
    """The number of weights of `optimal_network`: its neurons times (k + 1) n."""
    game = solution.game
    neurons = sum(
        neuron_count(KINDS[game.table.indicators[R]], game.table.degrees[R], game.factors)
        for R, mass in zip(game.rows, solution.eps, strict=True)
        if mass > 0
    )
    return neurons * (game.factors + 1) * game.table.order


def rows_of(
    irreps: Sequence[UnitaryIrrep], table: CharacterTable, heads: Sequence[int], rows: Sequence[int]
) -> tuple[int, ...]:
    """The row of the table that each irrep, or its complex conjugate, has as its character.

    ``heads``: an element of the group in each class of the table. ``rows``: the rows that are looked at, besides the
    trivial row 0.

    Raises:
        ValueError: unless every irrep has one such row and every such row one irrep.
    """
    if len(heads) != len(table.class_sizes):
        raise ValueError(f"The table of {table.name} has {len(table.class_sizes)} classes, not {len(heads)}.")
    known = {row: np.array([complex(value) for value in table.values[row]]) for row in (0, *rows)}
    found = []
    for irrep in irreps:
        values = irrep.character[list(heads)]
        near = [
            row
            for row, character in known.items()
            if min(np.abs(values - character).max(), np.abs(values.conj() - character).max()) < SAME
        ]
        if len(near) != 1:
            raise ValueError(
                f"The character of {irrep.name} is that of {len(near)} rows of the table of {table.name}, not of one."
            )
        found.append(near[0])
    if sorted(found) != sorted(known):
        raise ValueError(
            f"The representations of {irreps[0].group.name} do not match the rows {sorted(known)} one by one."
        )
    return tuple(found)
