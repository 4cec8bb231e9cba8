"""The network of a certificate: representations recognised in exact character tables."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lemmata.certificates.characters.dixon import character_table
from lemmata.certificates.game.closed_form import solve_table
from lemmata.certificates.game.margin_game import MarginGame
from lemmata.certificates.saddle.optimal_network import explicit_network, rows_of
from lemmata.constructions.networks.inputs import group_blocks
from lemmata.constructions.representations.unitary import unitary_irreps
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.groups.tables import dihedral
from lemmata.numerics.margins.evaluation import group_margins


@pytest.mark.parametrize("name", ["Z2", "Z5", "D4", "Q8", "SL(2,3)", "C7:C3", "Z3xS3"])
def test_network_attains_the_certified_margin(name: str) -> None:
    group = parse_group(name)
    solution = solve_table(character_table(group))
    finite, network = explicit_network(group, solution)
    assert finite == group.to_finite_group()
    summary = group_margins(*group_blocks(network), finite, network.masses)
    assert summary.minimum * network.scale == pytest.approx(float(solution.gamma), rel=1e-12)


def test_rows_are_recognised() -> None:
    group = parse_group("SL(2,3)")
    table, finite = character_table(group), group.to_finite_group()
    irreps, game = unitary_irreps(finite), MarginGame(table)
    heads = group.classes.representative_indices.tolist()
    rows = rows_of(irreps, table, heads, game.rows)
    assert rows[0] == 0
    for irrep, row in zip(irreps, rows, strict=True):
        values = np.array([complex(value) for value in table.values[row]])
        assert table.indicators[row] == irrep.indicator
        assert np.allclose(np.real(irrep.character[heads]), values.real, atol=1e-12)


class TestRefusals:
    def test_more_factors(self) -> None:
        group = parse_group("S3")
        solution = solve_table(character_table(group))
        object.__setattr__(solution, "game", MarginGame(solution.game.table, 3))
        with pytest.raises(ValueError, match="has 3 factors"):
            explicit_network(group, solution)

    def test_table_of_another_group(self) -> None:
        group, other = parse_group("Z2xZ2xZ2"), parse_group("Z4xZ2")
        irreps = unitary_irreps(other.to_finite_group())
        table = character_table(group)
        with pytest.raises(ValueError, match="is that of 0 rows"):
            rows_of(irreps, table, list(range(8)), MarginGame(table).rows)

    @pytest.mark.parametrize("error", [1e-5, 1e-3, 0.5])
    def test_character_a_little_off(self, error: float) -> None:
        group = parse_group("S3")
        irreps, table = unitary_irreps(group.to_finite_group()), character_table(group)
        heads, rows = group.classes.representative_indices.tolist(), MarginGame(table).rows
        for moved, recognised in ((1e-8, True), (error, False)):
            character = irreps[-1].character + moved
            near: Any = SimpleNamespace(name="R2.1", character=character, group=irreps[-1].group)
            if recognised:
                assert len(rows_of([*irreps[:-1], near], table, heads, rows)) == len(irreps)
            else:
                with pytest.raises(ValueError, match=r"R2\.1 is that of 0 rows"):
                    rows_of([*irreps[:-1], near], table, heads, rows)

    def test_irrep_missing(self) -> None:
        group = parse_group("D4")
        irreps, table = unitary_irreps(group.to_finite_group()), character_table(group)
        heads = group.classes.representative_indices.tolist()
        with pytest.raises(ValueError, match="one by one"):
            rows_of(irreps[:-1], table, heads, MarginGame(table).rows)

    def test_wrong_number_of_classes(self) -> None:
        table = character_table(parse_group("Z3"))
        with pytest.raises(ValueError, match="has 3 classes, not 5"):
            rows_of(unitary_irreps(dihedral(4)), table, list(range(5)), (1,))


def test_rows_are_recognised_in_any_order() -> None:
    group = parse_group("SL(2,3)")
    table, irreps = character_table(group), unitary_irreps(group.to_finite_group())
    heads, rows = group.classes.representative_indices.tolist(), MarginGame(table).rows
    forwards = rows_of(irreps, table, heads, rows)
    assert rows_of(irreps[::-1], table, heads, rows) == forwards[::-1]
    assert rows_of([*irreps[1:], irreps[0]], table, heads, rows[::-1]) == (*forwards[1:], forwards[0])
