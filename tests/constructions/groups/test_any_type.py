"""Explicit networks for any group: outputs by the formula, exactness, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.groups.any_type import (
    any_group_network,
    equalising_shares,
    neurons_of,
    quaternion_group_network,
)
from lemmata.constructions.groups.real_type import group_network
from lemmata.constructions.networks.inputs import group_blocks, group_inputs
from lemmata.constructions.representations.orthogonal import real_irreps
from lemmata.constructions.representations.unitary import unitary_irreps
from lemmata.numerics.groups.quaternions import quaternion_group
from lemmata.numerics.groups.tables import alternating, cyclic, dihedral, direct_product, symmetric
from lemmata.numerics.margins.evaluation import group_margins

Q8 = quaternion_group()
WIDTHS = {1: lambda d: 2 * d**3, 0: lambda d: 6 * d**3, -1: lambda d: 4 * d**3}
GROUPS = {
    group.name: group
    for group in (
        cyclic(2),
        cyclic(3),
        cyclic(12),
        symmetric(3),
        dihedral(4),
        Q8,
        alternating(4),
        direct_product(Q8, cyclic(3)),
        direct_product(Q8, dihedral(4)),  # has an irrep of degree 4 of quaternionic type
    )
}


@pytest.mark.parametrize("name", GROUPS)
class TestEveryGroup:
    def test_each_irrep_outputs_its_character(self, name: str) -> None:
        """Per unit mass, raw(a, b)[c] = 2 s d^(-3/2) Re chi(a b c^-1), for each irrep alone."""
        group = GROUPS[name]
        irreps = unitary_irreps(group)
        quotients = group.table[group.table.reshape(-1)[:, None], group.inverse]
        for R in irreps[1:]:
            network = any_group_network(irreps, {R.name: 1.0})
            assert network.width == WIDTHS[R.indicator](R.degree)
            s = 1 if R.indicator == 1 else np.sqrt(0.5)
            expected = 2 * s * R.degree**-1.5 * R.character.real[quotients]
            # sums of 6 d^3 terms of size <= r^(3/2) / m each; entries are good to a few eps
            assert np.abs(network.raw(group_inputs(group.order)) - expected).max() < 1e-13

    def test_directions_have_squared_norm_3n(self, name: str) -> None:
        group = GROUPS[name]
        for R in unitary_irreps(group)[1:]:
            assert np.allclose(np.sum(neurons_of(R) ** 2, axis=1), 3 * group.order, rtol=1e-14)

    def test_default_masses_make_all_wrong_labels_tie(self, name: str) -> None:
        group = GROUPS[name]
        network = any_group_network(unitary_irreps(group))
        margins = group_margins(*group_blocks(network), group, network.masses)
        assert margins.maximum - margins.minimum < 1e-12 * margins.minimum


def test_real_type_is_the_network_for_groups_of_real_type() -> None:
    group = symmetric(4)
    ours, known = any_group_network(unitary_irreps(group)), group_network(real_irreps(group))
    assert ours.width == known.width
    assert np.allclose(ours(group_inputs(24)), known(group_inputs(24)), atol=1e-15)


class TestQuaternionGroup:
    def test_table(self) -> None:
        i, j, k = (Q8.elements.index(label) for label in "ijk")
        minus = Q8.elements.index("-1")
        assert Q8.table[i, j] == k != Q8.table[j, i] == Q8.elements.index("-k")
        assert {int(Q8.table[x, x]) for x in (i, j, k)} == {minus}

    def test_exact_network(self) -> None:
        network = quaternion_group_network()
        assert (network.width, network.arithmetic, network.norm_squared) == (38, "exact", 24)
        assert all(isinstance(entry, int | fmpq) for entry in network.hidden.flat)
        logits = network.raw(group_inputs(8))
        margins = logits[np.arange(64), Q8.table.reshape(-1)][:, None] - logits
        assert sorted(set(margins.flat)) == [0, fmpq(16, 11)]
        assert list(margins.flat).count(fmpq(16, 11)) == 448

    def test_is_the_floating_point_network(self) -> None:
        floating = any_group_network(unitary_irreps(Q8))
        assert np.allclose(floating(group_inputs(8)), quaternion_group_network()(group_inputs(8)), atol=1e-15)

    def test_masses_in_the_order_of_the_characters(self) -> None:
        """Without the character that is 1 on i, the others cannot tell i from 1 so well."""
        network = quaternion_group_network([0, fmpq(1, 2), fmpq(1, 2), 0]).to_float()
        margins = group_margins(*group_blocks(network), Q8, network.masses).class_minimum
        assert margins is not None
        heads = {Q8.elements[members[0]]: margin for members, margin in zip(Q8.classes, margins, strict=True)}
        assert heads == pytest.approx({"1": 0, "-1": 0, "i": 4, "j": 2, "k": 2})

    def test_floats_are_refused(self) -> None:
        with pytest.raises(ValueError, match="needs exact masses"):
            quaternion_group_network([0.25] * 4)


class TestRefusals:
    irreps = unitary_irreps(cyclic(5))

    def refuse(self, match: str, irreps: object, masses: object = None) -> None:
        with pytest.raises(ValueError, match=match):
            any_group_network(irreps, masses)  # pyright: ignore[reportArgumentType]

    def test_groups_differ(self) -> None:
        self.refuse("must belong to one group", [*self.irreps, *unitary_irreps(Q8)])

    def test_trivial_alone(self) -> None:
        self.refuse("at least one nontrivial", self.irreps[:1])

    def test_twice_the_same(self) -> None:
        self.refuse("C1.1 and C1.1 are equivalent", [self.irreps[1], *self.irreps[1:]])

    def test_conjugate_pair(self) -> None:
        R = self.irreps[1]
        self.refuse("C1.1 and C1.1 are conjugate", [R, type(R)(R.group, R.matrices.conj(), R.name)])

    def test_masses(self) -> None:
        self.refuse("sum 1", self.irreps, [0.5, 0.6])
        self.refuse("sum 1", self.irreps, [1.5, -0.5])
        self.refuse("one mass for each of", self.irreps, [1.0])
        self.refuse("masses for H2.1", self.irreps, {"H2.1": 1.0})


def test_equalising_shares_sum_to_one() -> None:
    assert equalising_shares(unitary_irreps(Q8)[1:]) == pytest.approx([1 / 11, 1 / 11, 1 / 11, 8 / 11])
