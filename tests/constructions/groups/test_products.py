"""Networks for products of k factors: all inputs by brute force, faults, refusals, and the game they attain."""

from dataclasses import replace
from itertools import product
from math import factorial

import numpy as np
import pytest
from flint import fmpq

from lemmata.certificates.characters.traces import typed_characters
from lemmata.certificates.saddle.pair import judge
from lemmata.certificates.saddle.pricing import climb, pricing_tensor
from lemmata.certificates.saddle.products import certify_product, product_class_weights
from lemmata.constructions.groups.any_type import any_group_network
from lemmata.constructions.groups.products import (
    TypedIrrep,
    factor_neurons,
    neuron_count,
    phase_exponents,
    product_inputs,
    product_labels,
    product_of_factors_network,
)
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.inputs import group_inputs
from lemmata.constructions.representations.unitary import unitary_irreps
from lemmata.numerics.groups.tables import alternating, cyclic, dihedral, group_from_table, symmetric
from lemmata.theorems.feature_emergence.small_groups import typed_irreps, unit_quaternions

GROUPS = {
    "Z_2": cyclic(2),
    "Z_3": cyclic(3),
    "Z_4": cyclic(4),
    "S_3": symmetric(3),
    "Q_8": unit_quaternions(),
    "A_4": alternating(4),
}


def float_irreps(name):
    return [TypedIrrep.of(R) for R in unitary_irreps(GROUPS[name])[1:]]


@pytest.mark.parametrize("name", GROUPS)
def test_entries_off_by_more_than_rounding_are_refused(name):
    """4 n d^2 eps, the error that is granted: a tenth of it in one entry is accepted, twice as much is refused."""
    for R in float_irreps(name):
        tolerance = 4 * R.group.order * R.degree**2 * 2.0**-52
        for error in (0.1 * tolerance, 2 * tolerance, 1e3 * tolerance, 1e6 * tolerance):
            entries = R.entries.copy()
            entries[(-1, *(0,) * (entries.ndim - 1))] += error
            if error < tolerance:
                TypedIrrep(R.group, R.kind, entries, R.name)
            else:
                with pytest.raises(ValueError, match="is not a representation"):
                    TypedIrrep(R.group, R.kind, entries, R.name)


@pytest.mark.parametrize(("name", "factors"), [(name, k) for name in GROUPS for k in (2, 3)] + [("Z_3", 4), ("S_3", 4)])
def test_every_irrep_outputs_its_character(name, factors):
    """raw of the network with all mass on R is k! s^(k-1) d^(-(k+1)/2) Re chi_R(a_1 ... a_k c^-1), on every input."""
    group, irreps = GROUPS[name], float_irreps(name)
    inputs, labels = product_inputs(group.order, factors), product_labels(group, factors)
    for position, R in enumerate(irreps):
        network = product_of_factors_network(irreps, np.eye(len(irreps))[position].tolist(), factors)
        assert network.width == neuron_count(R.kind, R.degree, factors)
        s = 1.0 if R.kind == "real" else 0.5 ** ((factors - 1) / 2)
        scale = factorial(factors) * s * R.degree ** (-(factors + 1) / 2)
        expected = scale * R.character.real[group.table[labels[:, None], group.inverse]]
        # m products of at most r^((k+1)/2), each with relative error (k n + k + 2) eps; the masses add up to 1
        bound = network.norm_squared ** ((factors + 1) / 2) * (network.width + factors * group.order + 10)
        np.testing.assert_allclose(network.raw(inputs), expected, atol=float(bound * np.finfo(float).eps))


@pytest.mark.parametrize("name", GROUPS)
def test_two_factors_agree_with_the_networks_for_groups(name):
    irreps = unitary_irreps(GROUPS[name])
    shares = np.full(len(irreps) - 1, 1 / (len(irreps) - 1)).tolist()
    ours = product_of_factors_network([TypedIrrep.of(R) for R in irreps[1:]], shares, 2)
    theirs = any_group_network(irreps, shares)
    assert ours.width == theirs.width
    inputs = group_inputs(GROUPS[name].order)
    np.testing.assert_array_equal(inputs, product_inputs(GROUPS[name].order, 2))
    np.testing.assert_allclose(ours(inputs), theirs(inputs), atol=1e-14)  # outputs below 0.3, a few hundred roundings


@pytest.mark.parametrize("factors", range(2, 8))
def test_phases_kill_every_other_monomial(factors):
    """By enumeration of all exponents c with |c_1| + .. + |c_k| <= k of the parity of k."""
    exponents, N = phase_exponents(factors)
    survivors = []

    def walk(prefix, left, total):
        if len(prefix) == factors:
            if left % 2 == 0 and (total + sum(exponents)) % N == 0:
                survivors.append(prefix)
            return
        for c in range(-left, left + 1):
            walk((*prefix, c), left - abs(c), total + c * exponents[len(prefix)])

    walk((), factors, 0)
    assert survivors == [(-1,) * factors]


def test_no_smaller_set_of_phases_of_this_form_works_for_two_and_three_factors():
    for factors in (2, 3):
        _, N = phase_exponents(factors)
        monomials = np.array(
            [
                c
                for c in product(range(-factors, factors + 1), repeat=factors)
                if sum(map(abs, c)) <= factors and (factors - sum(map(abs, c))) % 2 == 0 and c != (-1,) * factors
            ]
        )
        for smaller in range(1, N):
            exponents = np.array(list(product(range(smaller), repeat=factors)))
            sums = exponents @ monomials.T + exponents.sum(axis=1, keepdims=True)
            assert np.all(np.any(sums % smaller == 0, axis=1))


@pytest.mark.parametrize(("name", "factors"), [("Z_3", 2), ("Z_4", 3), ("S_3", 3), ("Q_8", 2)])
def test_exact_directions_have_the_exact_norm(name, factors):
    irreps = typed_irreps(name)
    certificate = certify_product(irreps, factors)
    assert certificate.accepted
    network = certificate.network
    assert network.arithmetic == "exact"
    assert network.norm_squared == (factors + 1) * irreps[0].group.order
    assert sum(network.masses) == 1
    approximate = certify_product(irreps, factors, exact=False)
    assert approximate.accepted
    assert approximate.network.width == network.width


def test_table_from_representations():
    table = typed_characters(typed_irreps("A_4"))
    assert table.degrees == (1, 1, 1, 3)
    assert table.indicators == (1, 0, 0, 1)
    with pytest.raises(ValueError, match="classes"):
        typed_characters(typed_irreps("A_4")[:1])


class TestFaults:
    """One fault at a time in the network for three factors of S_3, judged on all 6^3 inputs."""

    def setup_method(self):
        self.certificate = certify_product(typed_irreps("S_3"), 3, exact=False)

    def judged(self, change):
        hidden, readout = (part.copy() for part in self.certificate.network.weights())
        change(hidden, readout)
        network = HomogeneousNetwork.from_weights(hidden, readout, 3)
        return judge(network, self.certificate.weights, self.certificate.gamma)

    def test_nothing_is_wrong_before_the_fault(self):
        assert self.judged(lambda hidden, readout: None).accepted

    def test_a_neuron_removed(self):
        def remove(hidden, readout):
            hidden[5], readout[5] = 0, 0

        assert any("(P)" in violation for violation in self.judged(remove).violations)

    def test_a_sign_flipped(self):
        def flip(hidden, readout):
            readout[-1] *= -1

        assert not self.judged(flip).accepted

    def test_a_weight_moved_by_a_millionth(self):
        def move(hidden, readout):
            hidden[0, 0] += 1e-6

        assert not self.judged(move).accepted

    def test_two_factors_interchanged(self):
        """S_3 is not abelian: u_1 and u_2 may not change places."""

        def swap(hidden, readout):
            hidden[:, :12] = np.concatenate([hidden[:, 6:12], hidden[:, :6]], axis=1)

        assert self.judged(swap).primal < 0

    def test_masses_of_two_factors(self):
        """The optimal masses depend on k."""
        masses = [float(mass) for mass in certify_product(typed_irreps("S_3"), 2).game.eps]
        network = product_of_factors_network([R.to_float() for R in typed_irreps("S_3")], masses, 3)
        assert any(
            "(P)" in violation
            for violation in judge(network, self.certificate.weights, self.certificate.gamma).violations
        )


def test_class_weights_of_products():
    tau = np.array([0.0, 0.25, 0.75])
    weights = product_class_weights(cyclic(3), 3, tau)
    assert weights.tau.shape == (27, 3)
    assert weights.tau[14].tolist() == [tau[(1 + 1 + 2 - c) % 3] for c in range(3)]  # 14 = (1, 1, 2)
    with pytest.raises(ValueError, match="vanish on the correct label"):
        product_class_weights(cyclic(3), 2, np.array([0.5, 0.25, 0.25]))


def test_the_pricing_tensor_of_a_product():
    """Its contraction with a neuron is the expected margin without the terms that miss a factor; others are refused."""
    group, factors = symmetric(3), 3
    per_element = np.where(np.arange(6) == group.identity, 0.0, 0.2)
    weights = product_class_weights(group, factors, per_element)
    tensor = pricing_tensor(weights)
    rng = np.random.default_rng(0)
    *u, w = rng.normal(size=(4, 6))
    by_tensor = 6 * np.einsum("abcd,a,b,c,d->", tensor, *u, w)
    labels = product_labels(group, factors)
    powers = sum(u[j][np.indices((6, 6, 6)).reshape(3, -1)[j]] for j in range(3)) ** 3
    assert by_tensor == pytest.approx(np.mean(powers * (w[labels] - weights.tau @ w)), rel=1e-12)
    climbed = climb(tensor, 5, 3, rng)
    assert [block.shape for block in climbed] == [(5, 6)] * 4
    np.testing.assert_allclose(sum((block**2).sum(axis=1) for block in climbed), 1, rtol=1e-14)
    q = weights.q.copy()
    q[:2] = [0.0, 2 / 216]
    with pytest.raises(ValueError, match="do not vanish"):
        pricing_tensor(replace(weights, q=q))
    for error in (1e-12, 1e-9):
        q = weights.q.copy()
        q[:2] += [error / 216, -error / 216]
        with pytest.raises(ValueError, match="do not vanish"):
            pricing_tensor(replace(weights, q=q))
    task = weights.task
    with pytest.raises(ValueError, match=r"6 labels has 6\^k points"):
        pricing_tensor(
            replace(
                weights,
                task=replace(task, inputs=task.inputs[:100], labels=task.labels[:100]),
                q=np.full(100, 0.01),
                tau=weights.tau[:100],
            )
        )


class TestRefusals:
    def test_fewer_than_two_factors(self):
        for factors in (1, 0, 2.0, True):
            with pytest.raises(ValueError, match="number of factors must be an integer >= 2"):
                factor_neurons(float_irreps("Z_2")[0], factors)
            with pytest.raises(ValueError, match="number of factors must be an integer >= 2"):
                phase_exponents(factors)

    def test_the_quaternionic_representation_is_of_no_other_type(self):
        plane = unitary_irreps(GROUPS["Q_8"])[-1]
        with pytest.raises(ValueError, match="not irreducible of complex type"):
            TypedIrrep(GROUPS["Q_8"], "complex", plane.matrices, "H")
        d4 = unitary_irreps(dihedral(4))[-1]
        with pytest.raises(ValueError, match="not irreducible of complex type"):
            TypedIrrep(dihedral(4), "complex", d4.matrices, "R")

    def test_matrices_of_another_group_shapes_and_reducible_ones(self):
        plane = unitary_irreps(symmetric(3))[-1]
        with pytest.raises(ValueError, match="not a representation"):
            TypedIrrep(cyclic(6), "real", plane.matrices, "R")
        with pytest.raises(ValueError, match="needs entries of shape"):
            TypedIrrep(symmetric(3), "quaternionic", plane.matrices, "R")
        with pytest.raises(ValueError, match="needs entries of shape"):
            TypedIrrep(symmetric(3), "real", plane.matrices[:, :1], "R")
        with pytest.raises(ValueError, match="squared norm 2"):
            TypedIrrep(group_from_table([[0, 1], [1, 0]]), "real", np.array([np.eye(2), np.diag([1.0, -1.0])]), "R")

    def test_wrong_lists(self):
        irreps = float_irreps("S_3")
        with pytest.raises(ValueError, match="at least one"):
            product_of_factors_network([], [], 2)
        with pytest.raises(ValueError, match="one group"):
            product_of_factors_network([irreps[0], float_irreps("Z_4")[0]], [0.5, 0.5], 2)
        with pytest.raises(ValueError, match="all exact or all in floats"):
            product_of_factors_network([irreps[0], typed_irreps("S_3")[-1]], [0.5, 0.5], 2)
        with pytest.raises(ValueError, match="equivalent or conjugate"):
            product_of_factors_network([irreps[0], replace(irreps[0], name="again")], [0.5, 0.5], 2)
        trivial = TypedIrrep(GROUPS["S_3"], "real", np.ones((6, 1, 1)), "1")
        with pytest.raises(ValueError, match="trivial"):
            product_of_factors_network([trivial], [1.0], 2)
        with pytest.raises(ValueError, match="sum 1"):
            product_of_factors_network(irreps, [0.5, 0.4], 2)

    def test_exact_networks_need_exact_masses(self):
        with pytest.raises(ValueError, match="exact masses"):
            product_of_factors_network(typed_irreps("Z_3"), [1.0], 2)
        network = product_of_factors_network(typed_irreps("Z_3"), [fmpq(1)], 2)
        assert network.width == 6
