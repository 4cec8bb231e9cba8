"""Beyond theorems 7.7 and 7.9: which networks have maximum margin, and that mass shares are no choice.

Let G be a finite group whose condition sums are negative (see test_closed_form_range). A network of total mass 1 has
maximum margin if and only if

(1) each of its neurons is optimal: it lies in one irreducible representation R (with its conjugate) and attains the
    neuron-wise bound for the class weights t of the closed form, and
(2) f(a, b)[c] = F + gamma* 1[c = ab] with a constant F (which is -gamma*/n, because w has no constant part).

*If*: (2) is a margin of gamma*. *Only if*: t > 0, so complementary slackness makes every neuron optimal, and all wrong
labels tie at every input; the constant is the same for all inputs because the outputs add up to 0. Moreover the total
mass in R is eps_R: a neuron of R that attains the bound has, for each single class C as well, the average margin
2 (3n)^(-3/2) M[R, C] per mass (the equality case of the chain does not depend on t). So the masses N solve
N^T M = val for every C, and M is invertible.

For Z_n, n odd, (2) becomes a statement about phases: by expanding (cos(A + s) + cos(B + t))^2 cos(C + s + t), it holds
if and only if every frequency has mass 2/(n - 1) and its distribution of (s, t) kills the seven characters below.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.characters.dixon import character_table
from lemmata.certificates.characters.families import cyclic_characters
from lemmata.certificates.characters.traces import characters_of
from lemmata.certificates.game.closed_form import solve_table
from lemmata.certificates.game.closed_form_report import closed_form_report
from lemmata.certificates.game.margin_game import MarginGame, margin_scale
from lemmata.certificates.saddle.pair import group_task
from lemmata.constructions.groups.any_type import quaternion_group_network
from lemmata.constructions.groups.cyclic import modular_addition_network, phase_triples
from lemmata.constructions.groups.real_type import group_network
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.inputs import group_blocks
from lemmata.constructions.representations.orthogonal import Representation, real_irreps
from lemmata.numerics.exact.cyclotomic.numbers import cosine, exact_matmul, rational, root_of_unity, sqrt_rational
from lemmata.numerics.exact.linear import solve_unique
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.groups.quaternions import quaternion_group
from lemmata.numerics.groups.tables import FiniteGroup, cyclic, dihedral, elementary_abelian, symmetric
from lemmata.theorems.evidence import check
from lemmata.theorems.feature_emergence.group_coordinates import (
    expected_margin_by_targets,
    irreps_of,
    rank_one_neuron,
    unit_vectors,
)

KILLED = ((1, 1), (3, 1), (1, -1), (1, 3), (2, 2), (2, 0), (0, 2))
"""The characters (s, t) -> exp(2 pi i (p s + q t)) that a max-margin network has to kill."""

REAL_TYPE = [symmetric(3), dihedral(4), dihedral(5), elementary_abelian(3)]


def _has_two_values(network: HomogeneousNetwork, group: FiniteGroup, gamma: Any = None) -> bool:
    """Whether (2) holds: raw outputs g (1[c = ab] - 1/n) for a g > 0, which is gamma r^(3/2) if gamma is given."""
    logits = network.raw(group_task(group).inputs).reshape(-1)
    right = (group_task(group).labels[:, None] == np.arange(group.order)).reshape(-1)
    values = set(logits[right].tolist()), set(logits[~right].tolist())
    if len(values[0]) != 1 or len(values[1]) != 1:
        return False
    (high,), (low,) = values
    constant = high + (group.order - 1) * low == 0
    g = high - low
    root = sqrt_rational(network.norm_squared)
    return bool(constant and g > 0 and (gamma is None or g == gamma * network.norm_squared * root * network.norm_power))


# ---- (2), and the mass shares


@check(
    "feature-emergence:ext-E5",
    grade="exact",
    target="printed",
    cases="S_3, D_4, D_5, Z_2^3: the explicit network on all triples",
)
@pytest.mark.parametrize("group", REAL_TYPE, ids=lambda group: group.name)
def test_max_margin_networks_of_real_type_take_two_values(group: FiniteGroup) -> None:
    irreps = real_irreps(group, exact=True)
    gamma = solve_table(characters_of(group, irreps)).gamma
    assert _has_two_values(group_network(irreps, exact=True), group, gamma)


@check(
    "feature-emergence:ext-E5",
    grade="exact",
    target="printed",
    cases="Z_n with 6 or 8 neurons per frequency: (n, neurons) = (3, 6), (4, 6), (5, 6), (5, 8), (6, 8), (7, 6)",
)
@pytest.mark.parametrize(("n", "width"), [(3, 6), (4, 6), (5, 6), (5, 8), (6, 8), (7, 6)])
def test_max_margin_networks_of_cyclic_groups_take_two_values(n: int, width: int) -> None:
    """Complex type (and one real frequency for even n)."""
    gamma = solve_table(cyclic_characters(n)).gamma
    assert _has_two_values(modular_addition_network(n, width, exact=True), cyclic(n), gamma)


@check("feature-emergence:ext-E5", grade="exact", target="printed", cases="Q_8: the explicit network on all triples")
def test_max_margin_network_of_the_quaternion_group_takes_two_values() -> None:
    gamma = solve_table(character_table(parse_group("Q8"))).gamma
    assert _has_two_values(quaternion_group_network(), quaternion_group(), gamma)


@check(
    "feature-emergence:ext-E5",
    grade="exact",
    target="printed",
    cases="S_3, D_4, S_4: one neuron x, y, z for each representation, every class",
)
@pytest.mark.parametrize("group", [symmetric(3), dihedral(4), symmetric(4)], ids=lambda group: group.name)
def test_optimal_neurons_of_real_type_have_the_average_margins_of_the_game(group: FiniteGroup) -> None:
    """sqrt(d) (x^T R y, y^T R z, x^T R z) has the average margin 2 M[R, C] at the wrong labels of each class C."""
    for R in irreps_of(group)[1:]:
        u, v, w = rank_one_neuron(R, unit_vectors(R.degree))
        for members in group.classes[1:]:
            tau = np.array([fmpq(0)] * group.order, dtype=object)
            tau[members] = fmpq(1, len(members))
            expected = 2 * (R.degree - R.character[members[0]]) / (R.degree * sqrt_rational(R.degree))
            assert expected_margin_by_targets(group, u, v, w, tau) == expected


@check(
    "feature-emergence:ext-E5",
    grade="exact",
    target="printed",
    cases="Z_5 and Z_6: three pairs of phases for each frequency, every class",
)
@pytest.mark.parametrize("n", [5, 6])
def test_optimal_neurons_of_complex_type_have_the_average_margins_of_the_game(n: int) -> None:
    """Aligned cosines, of any phases: sqrt2 (1 - cos 2 pi z c/n) at the class of c, which is 2 M with s = 1/sqrt 2."""
    group, N = cyclic(n), 12 * n
    for z, (s, t) in product(range(1, (n + 1) // 2), ((0, 0), (1, 3), (2, 7))):
        u, v, w = (_cosines(n, z, phase, N) * sqrt_rational(2) for phase in (s, t, s + t))
        assert sum(u * u) == n
        for c in range(1, n):
            tau = np.array([fmpq(int(g == c)) for g in range(n)], dtype=object)
            value = expected_margin_by_targets(group, u, v, w, tau)
            assert value == sqrt_rational(2) * (1 - cosine(z * c % n, n))


def _cosines(n: int, z: int, phase: int, N: int) -> np.ndarray:
    """cos 2 pi (phase/12 + z a/n)."""
    return np.array([cosine((phase * n + 12 * z * a) % N, N) for a in range(n)], dtype=object)


@check(
    "feature-emergence:ext-E5",
    grade="exact",
    target="printed",
    cases="Q_8: the 32 quaternionic neurons of the explicit network, every class",
)
def test_optimal_neurons_of_quaternionic_type_have_the_average_margins_of_the_game() -> None:
    """The last 32 neurons of the network of Q_8, one by one: (2 - chi(C))/2 = 2 M with s = 1/sqrt 2, d = 2."""
    group, network = quaternion_group(), quaternion_group_network()
    for u, v, w in list(zip(*group_blocks(network), strict=True))[6:]:
        for members in group.classes[1:]:
            tau = np.array([fmpq(0)] * 8, dtype=object)
            tau[members] = fmpq(1, len(members))
            chi = -2 if len(members) == 1 else 0
            assert expected_margin_by_targets(group, u, v, w, tau) == fmpq(2 - chi, 2)


@check(
    "feature-emergence:ext-E5",
    grade="exact",
    target="printed",
    cases="Z_7, Z_8, S_3, D_4, Q_8, Dic_3, A_4, S_4, S_5, C_7:C_3",
)
@pytest.mark.parametrize("name", ["Z7", "Z8", "S3", "D4", "Q8", "Dic3", "A4", "S4", "S5", "C7:C3"])
def test_average_margins_force_the_mass_shares(name: str) -> None:
    """N^T M = val at every class has one solution, proportional to d^(5/2)/s: Z_7 gives 1/3 to each frequency."""
    game = MarginGame(character_table(parse_group(name)))
    solution = solve_table(game.table)
    ones = np.array([rational(1)] * len(game.columns), dtype=object)
    z = solve_unique(game.defects.T, ones)
    assert list(z * game.weights * solution.value) == list(solution.eps)
    if name == "Z7":
        assert list(solution.eps) == [fmpq(1, 3)] * 3
    if name == "Q8":
        assert list(solution.eps) == [fmpq(1, 11)] * 3 + [fmpq(8, 11)]


def _turned(irreps: list[Representation]) -> list[Representation]:
    """The same representations in another orthonormal basis, turned by the angle of (3/5, 4/5)."""
    rotation = np.array([[fmpq(3, 5), fmpq(-4, 5)], [fmpq(4, 5), fmpq(3, 5)]], dtype=object)
    turned = []
    for R in irreps:
        Q = rotation if R.degree == 2 else np.array([[fmpq(1)]], dtype=object)
        turned.append(Representation(R.group, np.stack([Q @ M @ Q.T for M in R.matrices]), R.name))
    return turned


def _shares(network: HomogeneousNetwork, irreps: list[Representation]) -> list[Any]:
    """The mass of the neurons in each irrep; every one of u, v, w must lie in a single and the same irrep."""
    totals = [rational(0)] * len(irreps)
    n = irreps[0].group.order
    for *blocks, mass in zip(*group_blocks(network), network.masses, strict=True):
        homes = set()
        for block in blocks:
            energies = [
                R.degree * (exact_matmul(block[None, :], R.matrices.reshape(n, -1)) ** 2).sum() / n for R in irreps
            ]
            assert sum(energies) == sum(block * block)  # Parseval
            homes.update(r for r, energy in enumerate(energies) if energy != 0)
        (home,) = homes
        totals[home] = totals[home] + mass
    return totals


@check(
    "feature-emergence:ext-E5", grade="exact", target="printed", cases="S_3 and D_4: two bases and one mixture of them"
)
@pytest.mark.parametrize("group", [symmetric(3), dihedral(4)], ids=lambda group: group.name)
def test_different_max_margin_networks_have_the_same_shares(group: FiniteGroup) -> None:
    """Another basis of R, and mixtures of two bases: other neurons, margin gamma*, the shares d^(5/2)/S'."""
    irreps = real_irreps(group, exact=True)
    solution = solve_table(characters_of(group, irreps))
    first, second = group_network(irreps, exact=True), group_network(_turned(irreps), exact=True)
    mixed = HomogeneousNetwork(
        np.concatenate([first.hidden, second.hidden]),
        np.concatenate([first.readout, second.readout]),
        np.concatenate([first.masses * fmpq(2, 7), second.masses * fmpq(5, 7)]),
        2,
        first.norm_squared,
    )
    names = [solution.game.table.irrep_names[R] for R in solution.game.rows]
    for network in (first, second, mixed):
        assert _has_two_values(network, group, solution.gamma)
        shares = dict(zip([R.name for R in irreps], _shares(network, irreps), strict=True))
        assert [shares[name] for name in names] == list(solution.eps)
        assert shares[irreps[0].name] == 0
    assert not np.all(first.hidden == second.hidden)


@check("feature-emergence:ext-E5", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("group", [symmetric(3), dihedral(4)], ids=lambda group: group.name)
def test_other_masses_lose_margin(group: FiniteGroup) -> None:
    """Negative control: a hundredth of the mass moved to another R, or within R from one neuron to another."""
    irreps = real_irreps(group, exact=True)
    solution = solve_table(characters_of(group, irreps))
    names = [solution.game.table.irrep_names[R] for R in solution.game.rows]
    moved = dict(zip(names, solution.eps, strict=True))
    moved[names[0]], moved[names[-1]] = moved[names[0]] - fmpq(1, 100), moved[names[-1]] + fmpq(1, 100)
    assert not _has_two_values(group_network(irreps, moved, exact=True), group)
    network = group_network(irreps, exact=True)
    masses = network.masses.copy()
    masses[-1], masses[-2] = masses[-1] + masses[-2] / 2, masses[-2] / 2
    unbalanced = HomogeneousNetwork(network.hidden, network.readout, masses, 2, network.norm_squared)
    assert _shares(unbalanced, irreps) == _shares(network, irreps)
    assert not _has_two_values(unbalanced, group)


@check("feature-emergence:ext-E5", grade="exact", target="printed", cases="A_5, S_6, PSL(2,7)")
@pytest.mark.parametrize("name", ["A5", "S6", "PSL(2,7)"])
def test_where_the_condition_fails_only_the_optimal_face_can_occur(name: str) -> None:
    """Rows off the face have a strictly smaller payoff against optimal t: their neurons are not optimal. Classes off
    the face lie strictly above the margin of some optimal network. On S_6 the masses are not unique."""
    report = closed_form_report(character_table(parse_group(name)))
    inside = report.faces.interior
    value, game = inside.value, inside.game
    assert not report.holds
    for R, kappa in enumerate(game.kappas(inside.t)):
        assert (kappa == value) == (R in report.used_irreps) == (inside.eps[R] > 0)
    for C, margin in enumerate(game.class_payoffs(inside.eps)):
        assert (margin == value) == (C in report.margin_classes) == (inside.t[C] > 0)
    assert len(report.used_irreps) < len(game.rows)
    vertex = report.solution
    different = any(a != b for a, b in zip(vertex.eps, inside.eps, strict=True))
    assert different == (not report.faces.unique_masses) == (name == "S6")
    assert all(mass == 0 for R, mass in enumerate(vertex.eps) if R not in report.used_irreps)


# ---- Z_n, n odd: the phases


@check("feature-emergence:ext-E5", grade="symbolic", target="printed", supporting=True)
def test_expansion_of_an_aligned_neuron() -> None:
    """(cos(A + s) + cos(B + t))^2 cos(C + s + t) is a sum of cosines of a triple of frequencies plus one character.

    For odd n and A = 2 pi z a/n etc. the nine triples of all z are different even up to sign: the zeros tell (0, 0, z),
    (2z, 0, +-z), (0, 2z, +-z) and the four (z, +-z, +-z) apart, the third entry tells z, and z = -z does not occur.
    """
    A, B, C, s, t = sp.symbols("A B C s t", real=True)
    neuron = (sp.cos(A + s) + sp.cos(B + t)) ** 2 * sp.cos(C + s + t)
    expansion = (
        sp.cos(C + s + t)
        + (sp.cos(2 * A + C + 3 * s + t) + sp.cos(2 * A - C + s - t)) / 4
        + (sp.cos(2 * B + C + s + 3 * t) + sp.cos(2 * B - C + t - s)) / 4
        + (sp.cos(A + B + C + 2 * s + 2 * t) + sp.cos(A + B - C)) / 2
        + (sp.cos(A - B + C + 2 * s) + sp.cos(A - B - C - 2 * t)) / 2
    )
    assert sp.expand((neuron - expansion).rewrite(sp.exp)) == 0
    angles = [sp.Poly(cos.args[0], A, B, C, s, t) for cos in expansion.atoms(sp.cos)]
    phases = {(angle.coeff_monomial(s), angle.coeff_monomial(t)) for angle in angles}
    assert {max((p, q), (-p, -q)) for p, q in phases} == {max((p, q), (-p, -q)) for p, q in [*KILLED, (0, 0)]}


@check("feature-emergence:ext-E5", grade="exact", target="printed", supporting=True)
def test_frequency_triples_are_different_for_odd_n_only() -> None:
    def distinct(n: int) -> bool:
        triples = [
            frozenset({tuple(x % n for x in v), tuple(-x % n for x in v)})
            for z in range(1, (n + 1) // 2)
            for v in ((0, 0, z), (2 * z, 0, z), (2 * z, 0, -z), (0, 2 * z, z), (0, 2 * z, -z))
            + tuple((z, i * z, j * z) for i in (1, -1) for j in (1, -1))
        ]
        return len(set(triples)) == len(triples)

    assert all(distinct(n) for n in range(3, 100, 2))
    assert not distinct(4)


def _phased(n: int, atoms: list[tuple[int, int, int, Any]], turns: int) -> HomogeneousNetwork:
    """Aligned neurons of frequency z with phases s/turns, t/turns and the given masses: atoms (z, s, t, mass)."""
    N = turns * n
    rows = [
        [cosine((phase * n + turns * z * a) % N, N) for phase in (s, t, s + t) for a in range(n)]
        for z, s, t, _ in atoms
    ]
    directions = np.array(rows, dtype=object)
    masses = np.array([mass for *_, mass in atoms], dtype=object)
    return HomogeneousNetwork(directions[:, : 2 * n], directions[:, 2 * n :], masses, 2, fmpq(3 * n, 2))


def _satisfies_the_moments(n: int, atoms: list[tuple[int, int, int, Any]], turns: int) -> bool:
    """Mass 2/(n - 1) of the total per frequency, and every character of KILLED has mean 0."""
    total = sum((mass for *_, mass in atoms), start=rational(0))
    for z in range(1, (n + 1) // 2):
        own = [(s, t, mass) for y, s, t, mass in atoms if y == z]
        if sum((mass for *_, mass in own), start=rational(0)) * (n - 1) != 2 * total:
            return False
        for p, q in KILLED:
            moment = sum(
                (mass * root_of_unity((p * s + q * t) % turns, turns) for s, t, mass in own), start=rational(0)
            )
            if moment != 0:
                return False
    return True


@check(
    "feature-emergence:ext-E5",
    grade="exact",
    target="printed",
    cases="n = 3, 5: the densities 1 + cos of 15 characters on the 8 x 8 grid of phases",
)
@pytest.mark.parametrize("n", [3, 5])
def test_each_killed_character_is_necessary_and_no_other(n: int) -> None:
    """The density 1 + cos 2 pi (p s + q t) on the 8 x 8 grid has all moments 0 but those of +-(p, q): exactly."""
    allowed = [(0, 0), (1, 0), (0, 1), (2, 1), (1, 2), (2, -1), (3, 3), (4, 4)]
    gamma = solve_table(cyclic_characters(n)).gamma
    for p, q in [*KILLED, *allowed]:
        atoms = [
            (z, s, t, (1 + cosine((p * s + q * t) % 8, 8)) * fmpq(1, 64) * fmpq(2, n - 1))
            for z in range(1, (n + 1) // 2)
            for s, t in product(range(8), repeat=2)
        ]
        if (p, q) == (0, 0):
            atoms = [(z, s, t, mass / 2) for z, s, t, mass in atoms]
        network = _phased(n, atoms, 8)
        assert network.norm_power == 1
        assert _has_two_values(network, cyclic(n), gamma) == _satisfies_the_moments(n, atoms, 8) == ((p, q) in allowed)


@check(
    "feature-emergence:ext-E5",
    grade="sampled",
    target="printed",
    cases="n = 3, 5, 7: 30 derandomised Hypothesis draws of shifted and spoiled designs of 6 and 8 neurons",
)
@given(
    n=st.sampled_from([3, 5, 7]),
    changes=st.lists(
        st.tuples(st.integers(0, 11), st.integers(0, 11), st.sampled_from([0, 0, 0, 1])), min_size=3, max_size=3
    ),
    design=st.sampled_from([6, 8]),
)
def test_two_values_if_and_only_if_the_moments_vanish(n: int, changes: list[tuple[int, int, int]], design: int) -> None:
    """The designs of 6 and 8 neurons, shifted by any phases in each frequency (which keeps the moments zero), and now
    and then spoiled: a third of the mass of one neuron moved, or a phase turned by 1/12."""
    atoms: list[tuple[int, int, int, Any]] = []
    for z in range(1, (n + 1) // 2):
        s0, t0, spoil = changes[z - 1]
        for index, (s, t, _) in enumerate(phase_triples(design)):
            mass = fmpq(2, (n - 1) * design) * (1 + (fmpq(1, 3) if spoil and index < 2 else 0) * (1 - 2 * (index % 2)))
            atoms.append((z, int(12 * s) + s0, int(12 * t) + t0 + (spoil and s0 % 2 and index == 3), mass))
    fits = _satisfies_the_moments(n, atoms, 12)
    assert _has_two_values(_phased(n, atoms, 12), cyclic(n)) == fits
    assert fits == (not any(spoil for *_, spoil in changes[: (n - 1) // 2]))


@check("feature-emergence:ext-E5", grade="exact", target="printed", supporting=True)
def test_unequal_frequencies_lose() -> None:
    """Negative control: perfect phases, but the masses of the two frequencies of Z_5 as 49 to 51."""
    atoms = [
        (z, int(12 * s), int(12 * t), fmpq(share, 600))
        for z, share in ((1, 49), (2, 51))
        for s, t, _ in phase_triples(6)
    ]
    assert not _satisfies_the_moments(5, atoms, 12)
    assert not _has_two_values(_phased(5, atoms, 12), cyclic(5))
    assert margin_scale(5) > 0
