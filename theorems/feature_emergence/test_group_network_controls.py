"""Theorem 7.9 under attack: networks that should not exceed the maximum margin, and certificates that must be refused.

Random networks and disturbed optimal ones stay at or below gamma*; renaming the elements of the group changes nothing;
and whatever is wrong with a network, with class weights or with the claimed bound is found by `judge`, also when it is
as small as one weight moved by a millionth.
"""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.characters.traces import characters_of
from lemmata.certificates.game.closed_form import solve_table
from lemmata.certificates.game.margin_game import margin_scale
from lemmata.certificates.saddle.groups import game_class_weights
from lemmata.certificates.saddle.pair import class_function_weights, judge
from lemmata.constructions.groups.real_type import group_network, weights_with_scaling
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.inputs import group_blocks
from lemmata.constructions.representations.orthogonal import Representation
from lemmata.numerics.groups.tables import FiniteGroup, dihedral, relabel, symmetric
from lemmata.numerics.margins.evaluation import group_margins
from lemmata.theorems.evidence import check
from lemmata.theorems.feature_emergence.group_coordinates import EPS, GROUPS, certificate_of, irreps_of

exact_groups = pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)


@check("feature-emergence:theorem-7.9", grade="sampled", target="printed", supporting=True)
@given(
    group=st.sampled_from([symmetric(3), dihedral(4)]),
    width=st.integers(1, 60),
    noise=st.sampled_from([0.0, 1e-6, 1e-2, 0.3, 100.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_no_random_network_exceeds_the_maximum(group: FiniteGroup, width: int, noise: float, seed: int) -> None:
    """Random networks, and the optimal one under noise, with neurons left out or repeated: margin <= gamma* norm^3.

    For unit directions (u + v)^2 w <= 2, so that a normalised margin is a sum of terms of total size at most 4.
    """
    rng = np.random.default_rng(seed)
    n, gamma = group.order, float(certificate_of(group).gamma)
    u, w = weights_with_scaling(irreps_of(group, False), 1 / 2, -1 / 6)
    chosen = rng.integers(0, len(u), width)
    hidden = u[chosen] + noise * rng.normal(size=(width, 2 * n))
    readout = w[chosen] + noise * rng.normal(size=(width, n))
    network = HomogeneousNetwork.from_weights(hidden, readout, 2)
    blocks = group_blocks(network)
    ratio = group_margins(blocks[0], blocks[1], blocks[2], group, network.masses).minimum / network.norm_power
    assert ratio <= gamma + 4 * (width + 3 * n + 10) * EPS


@check("feature-emergence:theorem-7.9", grade="exact", target="printed", supporting=True)
@given(data=st.data(), group=st.sampled_from([symmetric(3), dihedral(4), dihedral(5)]))
def test_relabelled_groups_have_the_same_certificate(data: st.DataObject, group: FiniteGroup) -> None:
    """Elements renamed at random, the matrices moved along: same value, and network and class weights still match."""
    permutation = np.array(data.draw(st.permutations(range(group.order))))
    renamed = relabel(group, permutation)
    old = np.argsort(permutation)
    irreps = [Representation(renamed, R.matrices[old], R.name) for R in irreps_of(group)]
    table = characters_of(renamed, irreps)
    solution = solve_table(table)
    assert solution.gamma == certificate_of(group).gamma
    masses = {table.irrep_names[R]: mass for R, mass in zip(solution.game.rows, solution.eps, strict=True)}
    network = group_network(irreps, masses, exact=True)
    assert judge(network, game_class_weights(renamed, solution), solution.gamma).accepted


def _without(network: HomogeneousNetwork, neuron: int) -> HomogeneousNetwork:
    keep = np.arange(network.width) != neuron
    return HomogeneousNetwork(
        network.hidden[keep], network.readout[keep], network.masses[keep], network.degree, network.norm_squared
    )


@check("feature-emergence:theorem-7.9", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("group", [symmetric(3), dihedral(4), dihedral(5)], ids=["S_3", "D_4", "D_5"])
def test_wrong_networks_are_refused(group: FiniteGroup) -> None:
    """One neuron left out, mass moved between two neurons, all masses equal, the mixed scaling of D.15 and D.16."""
    certificate = certificate_of(group)
    network, weights, gamma = certificate.network, certificate.weights, certificate.gamma
    for neuron in (0, network.width // 2, network.width - 1):
        verdict = judge(_without(network, neuron), weights, gamma)
        assert not verdict.accepted
        assert verdict.primal < gamma
    masses = network.masses.copy()
    masses[0], masses[-1] = masses[0] + fmpq(1, 10**6), masses[-1] - fmpq(1, 10**6)
    equal = np.array([fmpq(1, network.width)] * network.width, dtype=object)
    cubes = np.array([fmpq(d) for R in irreps_of(group)[1:] for d in [R.degree] * (2 * R.degree**3)], dtype=object)
    for changed in (masses, equal, cubes):
        verdict = judge(
            HomogeneousNetwork(network.hidden, network.readout, changed, 2, network.norm_squared), weights, gamma
        )
        assert not verdict.accepted
        assert any(violation.startswith("(P)") for violation in verdict.violations)


@check("feature-emergence:theorem-7.9", grade="numeric", target="printed", supporting=True)
@exact_groups
def test_a_weight_moved_by_one_millionth_is_refused(group: FiniteGroup) -> None:
    """Floating point, every tenth weight in turn: the loss of margin exceeds the rounding error that `judge` grants.

    In exact arithmetic the constructor refuses the direction, because its norm is wrong.
    """
    certificate = certificate_of(group)
    network = certificate.network.to_float()
    assert judge(network, certificate.weights, certificate.gamma).accepted
    hidden, readout = network.weights()
    for index in range(0, hidden.size, hidden.size // 10):
        moved = hidden.copy()
        moved.flat[index] += 1e-6
        verdict = judge(HomogeneousNetwork.from_weights(moved, readout, 2), certificate.weights, certificate.gamma)
        assert not verdict.accepted
        assert verdict.gap > verdict.rounding
    exact = certificate.network.hidden.copy()
    exact[0, 0] = exact[0, 0] + fmpq(1, 10**6)
    with pytest.raises(ValueError, match="squared norm"):
        HomogeneousNetwork(
            exact, certificate.network.readout, certificate.network.masses, 2, certificate.network.norm_squared
        )


@check("feature-emergence:theorem-7.9", grade="exact", target="printed", supporting=True)
def test_wrong_class_weights_and_masses_are_refused() -> None:
    """S_3: uniform tau proves only 2 (3n)^(-3/2) 6/5, a third above; a negative mass or class weight is no network and
    no distribution; a bound below the margin is exposed as false."""
    group = symmetric(3)
    certificate = certificate_of(group)
    network = certificate.network
    uniform = np.array([fmpq(int(g != group.identity), 5) for g in range(6)], dtype=object)
    bound = margin_scale(6) * fmpq(6, 5)
    verdict = judge(network, class_function_weights(group, uniform), bound)
    assert not verdict.accepted
    assert verdict.gap == bound - certificate.gamma > certificate.gamma * fmpq(3, 10)
    assert any("falls short" in violation for violation in verdict.violations)

    masses = network.masses.copy()
    masses[0] = -masses[0]
    with pytest.raises(ValueError, match=r"Masses must be >= 0"):
        HomogeneousNetwork(network.hidden, network.readout, masses, 2, network.norm_squared)
    by_size = {1: fmpq(0), 2: fmpq(1), 3: fmpq(-1, 3)}
    negative = np.array([by_size[int(group.class_sizes[C])] for C in group.class_of], dtype=object)
    assert sum(negative) == 1
    with pytest.raises(ValueError, match="must be >= 0"):
        class_function_weights(group, negative)
    false_bound = certificate.gamma * fmpq(99, 100)
    verdict = judge(network, certificate.weights, false_bound)
    assert any("the bound is not one" in violation for violation in verdict.violations)
