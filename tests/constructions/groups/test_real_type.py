"""Group networks against characters that are summed in loops, and against published margins."""

import math
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.groups.real_type import group_network, weights_with_scaling
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.inputs import group_inputs
from lemmata.constructions.representations.orthogonal import Representation, real_irreps
from lemmata.numerics.exact.cyclotomic.numbers import sqrt_rational
from lemmata.numerics.groups.tables import FiniteGroup, alternating, cyclic, dihedral, elementary_abelian, symmetric

EPS = float(np.finfo(np.float64).eps)
MAX_MARGIN = {  # published to eleven digits
    "S_3": (symmetric(3), 2.3604969310e-2),
    "S_4": (symmetric(4), 2.0766479960e-3),
    "D_4": (dihedral(4), 1.5719655150e-2),
    "D_5": (dihedral(5), 9.8846033183e-3),
    "D_6": (dihedral(6), 7.7625662922e-3),
}


def quotient(group: FiniteGroup, a: int, b: int, c: int) -> int:
    """a b c^-1, found by searching the table for the g with g c = a b."""
    product = group.table[a, b]
    return next(g for g in range(group.order) if group.table[g, c] == product)


def margins_by_class(network: HomogeneousNetwork, group: FiniteGroup) -> list[tuple[float, float]]:
    """The smallest and largest margin against the wrong labels c, for each class of a b c^-1 but the identity's."""
    n = group.order
    outputs = network(group_inputs(n)).reshape(n, n, n)
    found: list[list[float]] = [[] for _ in group.classes]
    for a in range(n):
        for b in range(n):
            right = outputs[a, b, group.table[a, b]]
            for c in range(n):
                found[int(group.class_of[quotient(group, a, b, c)])].append(float(right - outputs[a, b, c]))
    return [(min(values), max(values)) for values in found[1:]]


def margin_range(network: HomogeneousNetwork, group: FiniteGroup) -> tuple[float, float]:
    ranges = margins_by_class(network, group)
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def rounding(network: HomogeneousNetwork) -> float:
    """Entries are at most sqrt(d) <= sqrt(6), with relative error 64 eps after the products that build them."""
    return (network.width + 3 * 64) * EPS * 8 * 6**1.5 * network.scale


class TestExact:
    @pytest.mark.parametrize("group", [symmetric(3), dihedral(4), dihedral(5), elementary_abelian(2)], ids=str)
    def test_output_is_the_sum_of_characters(self, group: FiniteGroup) -> None:
        n = group.order
        irreps = real_irreps(group, exact=True)
        network = group_network(irreps, exact=True)
        nontrivial = irreps[1:]
        assert network.width == sum(2 * R.degree**3 for R in nontrivial)
        assert network.norm_squared == 3 * n
        assert network.norm_power == 1
        S = sum((sqrt_rational(R.degree) * R.degree**2 for R in nontrivial), start=fmpq(0))
        traces = [[R.degree * sum(R.matrices[g, i, i] for i in range(R.degree)) for g in range(n)] for R in nontrivial]
        outputs = network.raw(group_inputs(n)).reshape(n, n, n)
        for a in range(n):
            for b in range(n):
                for c in range(n):
                    g = quotient(group, a, b, c)
                    assert outputs[a, b, c] * S == 2 * sum(row[g] for row in traces)
                    assert outputs[a, b, c] * S == (2 * (n - 1) if g == group.identity else -2)
        # gamma*^2 = (2n / S)^2 / (3n)^3
        assert network.normalised_squared(2 * n / S) * S**2 == fmpq(4, 27 * n)

    def test_exact_masses(self) -> None:
        group = symmetric(3)
        irreps = real_irreps(group, exact=True)
        network = group_network(irreps, masses={irreps[1].name: fmpq(1, 3), irreps[2].name: fmpq(2, 3)}, exact=True)
        outputs = network.raw(group_inputs(6)).reshape(6, 6, 6)
        for a in range(6):
            for c in range(6):
                g = quotient(group, a, 3, c)
                expected = sum(
                    2 * share * sum(R.matrices[g, i, i] for i in range(R.degree)) / (R.degree * sqrt_rational(R.degree))
                    for share, R in zip((fmpq(1, 3), fmpq(2, 3)), irreps[1:], strict=True)
                )
                assert outputs[a, 3, c] == expected


def default_shares(group: FiniteGroup) -> np.ndarray:
    powers = np.array([R.degree**2.5 for R in real_irreps(group)[1:]])
    return powers / powers.sum()


class TestFloat:
    @pytest.mark.parametrize("name", MAX_MARGIN)
    def test_all_margins_are_the_published_maximum(self, name: str) -> None:
        group, published = MAX_MARGIN[name]
        network = group_network(real_irreps(group))
        S = sum(R.degree**2.5 for R in real_irreps(group)[1:])
        gamma = 2 / (3 * math.sqrt(3 * group.order) * S)
        assert gamma == pytest.approx(published, rel=1e-10)
        low, high = margin_range(network, group)
        assert gamma - rounding(network) <= low <= high <= gamma + rounding(network)

    def test_alternating_group_needs_other_masses(self) -> None:
        group = alternating(5)
        irreps = real_irreps(group)
        gamma = (3 * math.sqrt(3) - 2) / (3312 * math.sqrt(5))
        share = 3 * math.sqrt(3) / (3 * math.sqrt(3) + 2)
        best = group_network(irreps, masses={"3": share / 2, "3'": share / 2, "4": 1 - share})
        assert best.width == 236
        ranges = margins_by_class(best, group)
        sizes = [int(size) for size in group.class_sizes[1:]]
        for size, (low, high) in zip(sizes, ranges, strict=True):
            expected = 4 / 3 * gamma if size == 15 else gamma  # the 15 involutions are off the margin
            assert expected - rounding(best) <= low <= high <= expected + rounding(best)
        everything = group_network(irreps)
        assert everything.width == 486
        assert margin_range(everything, group)[0] / gamma == pytest.approx(0.966911, abs=1e-6)

    def test_masses_as_a_sequence_and_float_of_exact_irreps(self) -> None:
        group = symmetric(3)
        default = group_network(real_irreps(group))
        shares = default_shares(group)
        by_number = group_network(real_irreps(group, exact=True), masses=shares)
        np.testing.assert_allclose(by_number.hidden, default.hidden, atol=16 * EPS)
        np.testing.assert_allclose(by_number.masses, default.masses, rtol=16 * EPS)


class TestScalings:
    def network(self, group: FiniteGroup, powers: tuple[float, float]) -> HomogeneousNetwork:
        return HomogeneousNetwork.from_weights(*weights_with_scaling(real_irreps(group), *powers), degree=2)

    @pytest.mark.parametrize("powers", [(0, 1 / 3), (1 / 2, -1 / 6)])
    def test_both_consistent_conventions_give_the_network(self, powers: tuple[float, float]) -> None:
        group, gamma = MAX_MARGIN["S_4"]
        network = self.network(group, powers)
        assert network.norm_power == pytest.approx(1, rel=256 * EPS)
        reference = group_network(real_irreps(group))
        np.testing.assert_allclose(network(group_inputs(24)), reference(group_inputs(24)), atol=rounding(reference))
        assert margin_range(network, group)[0] == pytest.approx(gamma, rel=1e-10)

    @pytest.mark.parametrize(("name", "low", "high"), [("S_3", 0.869, 1.108), ("D_4", 0.872, 1.289)])
    def test_their_mixture_does_not(self, name: str, low: float, high: float) -> None:
        group, gamma = MAX_MARGIN[name]
        network = self.network(group, (1 / 2, 1 / 3))
        margins = np.array(margin_range(network, group)) / network.norm_power / gamma
        np.testing.assert_allclose(margins, [low, high], atol=6e-4)  # published to three decimals

    def test_powers_do_not_matter_for_characters(self) -> None:
        group = elementary_abelian(2)
        mixture = weights_with_scaling(real_irreps(group), 1 / 2, 1 / 3)
        printed = weights_with_scaling(real_irreps(group), 0, 1 / 3)
        np.testing.assert_array_equal(mixture[0], printed[0])


class TestFaults:
    def test_wrong_masses_and_signs_lower_the_margin(self) -> None:
        group, gamma = MAX_MARGIN["D_5"]
        irreps = real_irreps(group)
        shares = default_shares(group)
        for change in ([0.02, -0.01, -0.01], [-0.01, 0.02, -0.01], [0, 0.01, -0.01]):
            assert margin_range(group_network(irreps, masses=shares + change), group)[0] < 0.999 * gamma
        good = group_network(irreps)
        for neuron in (0, 5, good.width - 1):
            readout = good.readout.copy()
            readout[neuron] *= -1
            flipped = HomogeneousNetwork(good.hidden, readout, good.masses, 2, good.norm_squared)
            assert margin_range(flipped, group)[0] < 0.999 * gamma

    def test_transposed_label_matrices_are_wrong_for_nonabelian_groups(self) -> None:
        group, gamma = MAX_MARGIN["S_3"]
        good = group_network(real_irreps(group))
        inverse = [next(h for h in range(6) if group.table[g, h] == group.identity) for g in range(6)]
        wrong = HomogeneousNetwork(good.hidden, good.readout[:, inverse], good.masses, 2, good.norm_squared)
        assert margin_range(wrong, group)[0] < 0.5 * gamma


def rotation_of_order_three() -> Representation:
    """The real irrep of Z_3 of complex type."""
    angles = 2 * np.pi * np.arange(3) / 3
    c, s = np.cos(angles), np.sin(angles)
    return Representation(cyclic(3), np.stack([c, -s, s, c], axis=1).reshape(3, 2, 2), "rotation")


def conjugated(R: Representation, P: np.ndarray) -> Representation:
    return Representation(R.group, P @ R.matrices @ np.linalg.inv(P), R.name)


class TestRefusals:
    def refused(self, message: str, irreps: list[Representation], **arguments: Any) -> None:
        with pytest.raises(ValueError, match=message):
            group_network(irreps, **arguments)

    def test_representations(self) -> None:
        irreps = real_irreps(symmetric(3))
        standard = next(R for R in irreps if R.degree == 2)
        self.refused("at least one nontrivial", irreps[:1])
        self.refused("at least one nontrivial", [])
        self.refused("squared norm 2 instead of 1", [rotation_of_order_three()])
        self.refused("are equivalent", [standard, conjugated(standard, np.array([[0.6, -0.8], [0.8, 0.6]]))])
        self.refused("squared norm", [conjugated(standard, np.diag([1.0, 2.0]))])
        self.refused("one group", [standard, *real_irreps(dihedral(4))])
        spoiled = standard.matrices.copy()
        spoiled[[1, 2]] = spoiled[[2, 1]]
        self.refused("not representations", [Representation(standard.group, spoiled, "spoiled")])
        self.refused("needs exact representations", irreps, exact=True)
        with pytest.raises(ValueError, match="squared norm 2"):
            weights_with_scaling([rotation_of_order_three()], 0, 1 / 3)

    @pytest.mark.parametrize(
        ("masses", "message"),
        [
            ([0.5, 0.4], "sum 1"),
            ([1.5, -0.5], ">= 0"),
            ([math.nan, 1.0], ">= 0"),
            ([1.0], "one mass for each"),
            ({"nobody": 1.0}, "masses for nobody"),
            ({}, "sum 1"),
        ],
    )
    def test_masses(self, masses: Any, message: str) -> None:
        self.refused(message, real_irreps(symmetric(3)), masses=masses)

    def test_exact_masses(self) -> None:
        irreps = real_irreps(symmetric(3), exact=True)
        self.refused("exact masses", irreps, masses=[0.5, 0.5], exact=True)
        self.refused("sum 1", irreps, masses=[fmpq(1, 2), fmpq(1, 2) + fmpq(1, 10**20)], exact=True)
