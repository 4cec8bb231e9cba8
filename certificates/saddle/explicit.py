"""The explicit network that attains a solved margin game: numerical representations with exact masses.

The unitary irreducible representations of `constructions.representations.unitary` are recognised in an exact character
table by their traces: distinct irreducible characters are orthogonal of norm 1, so that rounding cannot confuse them.
The masses of the game then make the network of `constructions.groups.any_type`, in float64, whose margin over all n^3
triples is the certified one up to rounding. Nothing of the certificate rests on the network; it exhibits what the
certificate claims.

Source: feature-emergence, ext-E1 (the primal side).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from certificates.characters.tables import CharacterTable
from certificates.game.margin_game import GameSolution
from constructions.groups.any_type import any_group_network
from constructions.networks.homogeneous import HomogeneousNetwork
from constructions.representations.unitary import UnitaryIrrep, unitary_irreps
from numerics.groups.permutations import PermutationGroup
from numerics.groups.tables import FiniteGroup

__all__ = ["explicit_network", "rows_of"]

SAME = 1e-6  # far above rounding, far below the distance of two characters (1 or more on some class)


def explicit_network(group: PermutationGroup, solution: GameSolution) -> tuple[FiniteGroup, HomogeneousNetwork]:
    """Return the Cayley table of ``group`` and the network for it with the masses of a solved game.

    The columns of the table of the game must be ``group.classes``, as `certificates.characters.dixon.character_table`
    makes them. The network numbers the elements as ``group.elements``. O(n^3) operations for the order n.

    Raises ``ValueError`` for a game of more than two factors, for an order above 2000, and for a table that does not
    fit the group.
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


def rows_of(
    irreps: Sequence[UnitaryIrrep], table: CharacterTable, heads: Sequence[int], rows: Sequence[int]
) -> tuple[int, ...]:
    """Return the row of the table that each irrep, or its complex conjugate, has as its character.

    ``heads``: an element of the group in each class of the table. ``rows``: the rows that are looked at, besides the
    trivial row 0. Raises ``ValueError`` unless every irrep has one such row and every such row one irrep.
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
