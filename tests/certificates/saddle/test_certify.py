"""Whole certificates: accepted as built, rejected after a fault, refused for input that is not one."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.characters.families import cyclic_characters, symmetric_characters
from lemmata.certificates.characters.traces import characters_of
from lemmata.certificates.game.closed_form import solve_table
from lemmata.certificates.game.margin_game import margin_scale
from lemmata.certificates.saddle import groups
from lemmata.certificates.saddle.groups import certify_cyclic, certify_real_type, game_class_weights
from lemmata.certificates.saddle.pair import class_function_weights, judge
from lemmata.certificates.saddle.parity import certify_parity, parity_bound
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.representations.orthogonal import Representation, real_irreps
from lemmata.numerics.exact.cyclotomic.numbers import rational
from lemmata.numerics.groups.tables import alternating, cyclic, dihedral, elementary_abelian, relabel, symmetric


@pytest.mark.parametrize(
    "certify",
    [
        *(partial(certify_cyclic, n) for n in (2, 5, 6)),
        partial(certify_cyclic, 25, exact=False),
        *(partial(certify_real_type, G) for G in (symmetric(3), dihedral(4), dihedral(5), elementary_abelian(3))),
        *(partial(certify_real_type, G, exact=False) for G in (symmetric(4), alternating(5))),
    ],
)
def test_groups_are_accepted(certify):
    certificate = certify()
    assert certificate.accepted
    assert certificate.gamma > 0


@pytest.mark.parametrize(("n", "support"), [(1, 1), (3, 2), (5, (4, 1, 2)), (10, 4)])
def test_parity_is_accepted(n, support):
    certificate = certify_parity(n, support, exact=n < 9)
    assert certificate.accepted
    assert certificate.gamma_squared.is_rational()


def rebuilt(network: HomogeneousNetwork, change) -> HomogeneousNetwork:
    """Return the network of the changed float weights."""
    hidden, readout = (part.copy() for part in network.weights())
    change(hidden, readout)
    return HomogeneousNetwork.from_weights(hidden, readout, network.degree)


FAULTY = {
    "Z7": partial(certify_cyclic, 7),
    "S3": partial(certify_real_type, symmetric(3)),
    "D4": partial(certify_real_type, dihedral(4)),
}


@pytest.mark.parametrize("name", FAULTY)
class TestFaultsAreRejected:
    """Floating-point networks whose only fault is planted."""

    def judged(self, name, change):
        certificate = FAULTY[name]()
        network = rebuilt(certificate.network, change)
        return judge(network, certificate.weights, certificate.gamma)

    def test_without_a_fault_it_is_accepted(self, name):
        assert self.judged(name, lambda hidden, readout: None).accepted

    def test_one_weight_moved_by_a_millionth(self, name):
        def move(hidden, readout):
            hidden[0, 0] += 1e-6

        assert not self.judged(name, move).accepted

    def test_one_neuron_removed(self, name):
        def remove(hidden, readout):
            hidden[-1] = 0
            readout[-1] = 0

        assert not self.judged(name, remove).accepted

    def test_one_sign_flipped(self, name):
        def flip(hidden, readout):
            readout[0] *= -1

        verdict = self.judged(name, flip)
        assert any("(P)" in violation for violation in verdict.violations)

    def test_a_bound_that_is_too_small_is_noticed(self, name):
        certificate = FAULTY[name]()
        verdict = judge(certificate.network, certificate.weights, certificate.gamma * fmpq(999, 1000))
        assert any("(D)" in violation for violation in verdict.violations)


def test_exact_network_with_masses_moved_exactly():
    certificate = certify_cyclic(5)
    masses = certificate.network.masses.copy()
    masses[0], masses[6] = masses[0] + fmpq(1, 10**9), masses[6] - fmpq(1, 10**9)
    verdict = judge(replace(certificate.network, masses=masses), certificate.weights, certificate.gamma)
    assert verdict.gap > 0
    assert not verdict.accepted


def test_uniform_class_weights_do_not_certify_s3():
    certificate = certify_real_type(symmetric(3))
    uniform = np.array([rational(0)] + [rational(fmpq(1, 5))] * 5, dtype=object)
    group = symmetric(3)
    game = certificate.game.game
    totals = np.array([rational(fmpq(game.table.class_sizes[C], 5)) for C in game.columns], dtype=object)
    bound = margin_scale(6) * max(game.kappas(totals))
    verdict = judge(certificate.network, class_function_weights(group, uniform), bound)
    assert any("(P)" in violation for violation in verdict.violations)


@given(st.permutations(range(10)))
def test_relabelled_group_has_the_same_value(permutation):
    group, irreps = dihedral(5), real_irreps(dihedral(5), exact=True)
    other, old = relabel(group, permutation), np.argsort(permutation)
    moved = [Representation(other, irrep.matrices[old], irrep.name) for irrep in irreps]
    assert solve_table(characters_of(other, moved)).gamma == solve_table(characters_of(group, irreps)).gamma


def test_class_weights_of_another_group_are_refused():
    with pytest.raises(ValueError, match="has classes of sizes"):
        game_class_weights(cyclic(24), solve_table(symmetric_characters(4)))


@pytest.mark.parametrize("k", [0, -1])
def test_parity_of_no_coordinates_is_refused(k):
    with pytest.raises(ValueError, match="k >= 1"):
        parity_bound(k)


def test_parity_of_more_coordinates_than_there_are_is_refused():
    with pytest.raises(ValueError, match="k <= n"):
        certify_parity(3, 4)


@pytest.mark.parametrize(("violations", "outcome"), [((), "accepted"), (("(P)",), "rejected")])
def test_the_outcome_is_in_the_representation(violations, outcome):
    certificate = certify_cyclic(3)
    certificate = replace(certificate, verdict=replace(certificate.verdict, violations=violations))
    assert repr(certificate).endswith(f", gamma* = {float(certificate.gamma):.12g}, {outcome})")


def test_tables_that_are_not_of_real_type_are_refused(monkeypatch):
    """The explicit representations are all of real type; the table is looked at all the same."""
    monkeypatch.setattr(groups, "characters_of", lambda *_: cyclic_characters(3))
    with pytest.raises(ValueError, match=r"not of real type \(indicators \(1, 0, 0\)\)"):
        certify_real_type(symmetric(3))
