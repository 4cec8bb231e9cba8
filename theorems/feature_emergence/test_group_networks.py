"""Lemmas D.15, D.16 and theorem 7.9: the networks that attain the maximum margin of a group of real type.

For R of degree d the two neurons s (R_ij, +-R_jk, +-R_ik) add up to 4 s^3 R_ij(a) R_jk(b) R_ik(c), and these to
4 s^3 tr(R(a) R(b) R(c)^T) = 4 s^3 chi_R(a b c^-1). Unit norm means s = sqrt(d/(3n)). With total mass d^(5/2)/S in R,
S the sum of d^(5/2) over the nontrivial R, all wrong labels tie, because sum_R d chi_R = -1 off the identity; the
margin is

    gamma* = 2 (3n)^(-3/2) n/S = 2 / (3 sqrt(3n) S).

That nothing exceeds it is lemma D.13 with the class weights of lemma D.14. Exact for S_3, D_4, D_5, Z_2^3 and S_4, with
every network evaluated neuron by neuron on all triples; for S_5 exact by characters, and in floating point neuron by
neuron.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from lemmata.certificates.characters.families import symmetric_characters
from lemmata.certificates.game.equalising import equalising_class_weights, equalising_masses
from lemmata.certificates.game.margin_game import MarginGame, verify
from lemmata.constructions.groups.real_type import group_network, real_type_neurons, weights_with_scaling
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.inputs import group_blocks, group_inputs
from lemmata.constructions.representations.orthogonal import Representation, real_irreps
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul, rational, sqrt_rational, to_sympy
from lemmata.numerics.groups.tables import FiniteGroup, dihedral, symmetric
from lemmata.numerics.margins.evaluation import group_margins
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.feature_emergence.group_coordinates import (
    EPS,
    GROUPS,
    certificate_of,
    coordinates_of,
    equalising_weights,
    irreps_of,
)
from lemmata.theorems.records import Record

DEGREES = {"S_3": (1, 2), "D_4": (1, 1, 1, 2), "D_5": (1, 2, 2), "Z_2^3": (1,) * 7, "S_4": (1, 2, 3, 3)}
"""Degrees of the nontrivial irreducible representations, written down from the literature."""

exact_groups = pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)


@cache
def _logits(group: FiniteGroup) -> np.ndarray:
    """The raw output of the certificate's network, neuron by neuron on all inputs, shape (n, n, n)."""
    n = group.order
    return certificate_of(group).network.raw(group_inputs(n)).reshape(n, n, n)


def _printed_margin(order: int, degrees: tuple[int, ...]) -> sp.Expr:
    """2/(3 sqrt(3n)) / sum d^(5/2), in the numbers of SymPy."""
    return 2 / (3 * sp.sqrt(3 * order)) / sum(sp.Integer(d) ** sp.Rational(5, 2) for d in degrees)


def _four_characters_of_quotients(R: Representation) -> np.ndarray:
    """4 chi_R(a b c^-1), shape (n, n, n), from the group's table."""
    group = R.group
    return (4 * R.character)[group.table[group.table[:, :, None], group.inverse]]


def _neurons(R: Representation) -> list[tuple[tuple[int, int, int], list[np.ndarray]]]:
    """((i, j, k), [R_ij, R_jk, R_ik]) for all i, j, k."""
    entries = np.moveaxis(R.matrices, 0, 2)
    return [
        ((i, j, k), [entries[i, j], entries[j, k], entries[i, k]]) for i, j, k in product(range(R.degree), repeat=3)
    ]


def _output(u: np.ndarray, v: np.ndarray, w: np.ndarray) -> np.ndarray:
    """(u(a) + v(b))^2 w(c), shape (n, n, n)."""
    return (u[:, None, None] + v[None, :, None]) ** 2 * w


# ---- lemma D.15


@check(
    "feature-emergence:lemma-D.15",
    grade="exact",
    target="corrected",
    cases="S_3, D_4, D_5, Z_2^3, S_4: every representation, all triples",
)
@check(
    "feature-emergence:theorem-7.9",
    grade="exact",
    target="printed",
    cases="S_3, D_4, D_5, Z_2^3, S_4: every representation, all triples",
)
@proof_steps("group-networks.md: 10")
@exact_groups
def test_character_network(group: FiniteGroup) -> None:
    """Each pair gives 4 R_ij(a) R_jk(b) R_ik(c); the d^3 pairs give 4 chi_R(a b c^-1) at all triples (times s^3).

    With s = sqrt(d/(3n)) every neuron has norm 1 and tr(alpha beta gamma^T) = (d/(3n))^(3/2).
    """
    n = group.order
    for R in irreps_of(group):
        total, d = np.full((n, n, n), fmpq(0), dtype=object), R.degree
        pairs = [np.concatenate([u, sign * v, sign * w]) for _, (u, v, w) in _neurons(R) for sign in (1, -1)]
        assert np.all(real_type_neurons(R.matrices) == np.array(pairs))
        for (i, j, _), (u, v, w) in _neurons(R):
            assert sum(u * u) + sum(v * v) + sum(w * w) == fmpq(3 * n, d)
            if n <= 10:
                pair = _output(u, v, w) + _output(u, -v, -w)
                assert np.all(pair == 4 * u[:, None, None] * v[None, :, None] * w)
                total = total + pair
            for sign in (1, -1):
                alpha, beta, gamma = (coordinates_of((R,), x)[0] for x in (u, sign * v, sign * w))
                assert alpha[i, j] == 1
                assert np.trace(alpha @ beta @ gamma.T) == 1  # times s^3 = (d/(3n))^(3/2)
        if n > 10:  # the sum of 4 uvw as one matrix product; that a pair is 4 uvw is proved in `test_pair_of_neurons`
            left = np.array([(u[:, None] * v[None, :]).ravel() for _, (u, v, _) in _neurons(R)]).T
            right = np.array([4 * w for _, (_, _, w) in _neurons(R)])
            total = exact_matmul(left, right).reshape(n, n, n)
        assert np.all(total == _four_characters_of_quotients(R))


@check("feature-emergence:lemma-D.15", grade="symbolic", target="corrected", supporting=True)
@proof_steps("group-networks.md: 10")
def test_pair_of_neurons() -> None:
    """(x + y)^2 z + (x - y)^2 (-z) = 4 x y z, and d^3 pairs of unit neurons have s^3 = (d/(3n))^(3/2)."""
    x, y, z, d, n = sp.symbols("x y z d n", positive=True)
    assert sp.expand((x + y) ** 2 * z + (x - y) ** 2 * (-z) - 4 * x * y * z) == 0
    s = sp.sqrt(d / (3 * n))
    assert sp.simplify(3 * s**2 * n / d - 1) == 0
    assert sp.simplify(s**3 - (d / (3 * n)) ** sp.Rational(3, 2)) == 0


@counterexample("feature-emergence:lemma-D.15", grade="exact")
@pytest.mark.parametrize("group", [symmetric(3), dihedral(4), symmetric(4)], ids=["S_3", "D_4", "S_4"])
def test_printed_coefficients_of_lemma_D15(group: FiniteGroup, record: Record) -> None:
    """Coefficients 1/sqrt(3n) have trace (1/(3n))^(3/2), not (d/(3n))^(3/2), and squared norm 1/d: no optimal neuron.

    Their pair sum is 4 times the printed one.
    """
    s = 1 / sqrt_rational(3 * group.order)
    R = max(irreps_of(group), key=lambda R: R.degree)
    d = R.degree
    assert d > 1
    alpha, trace = np.zeros((d, d), dtype=object), s
    for _, neuron in _neurons(R):
        u, v, w = (x * s for x in neuron)
        alpha, beta, gamma = (coordinates_of((R,), x)[0] for x in (u, v, w))
        trace = np.trace(alpha @ beta @ gamma.T)
        assert trace == s**3 != (sqrt_rational(d) * s) ** 3
        assert sum(u * u) + sum(v * v) + sum(w * w) == fmpq(1, d) < 1
        # at a triple where the product does not vanish
        a, b, c = (int(np.flatnonzero(x != 0)[0]) for x in (u, v, w))
        pair = (u[a] + v[b]) ** 2 * w[c] - (u[a] - v[b]) ** 2 * w[c]
        assert pair == 4 * u[a] * v[b] * w[c] != u[a] * v[b] * w[c]
    if group.name == symmetric(3).name:
        record.hypothesis("S_3: the representation is not trivial, its degree d", d, ">", 1)
        record.hypothesis(
            "the square of the printed coefficient is 1/(3n)", (alpha**2).sum().to_fmpq(), "=", fmpq(1, 18)
        )
        record.violated("tr^2 is (d/(3n))^3", (trace**2).to_fmpq(), "=", fmpq(d, 18) ** 3)


@counterexample("feature-emergence:lemma-D.15", grade="exact")
def test_printed_index_of_gamma() -> None:
    """S_3, degree 2: with gamma_(i,j) in place of gamma_(i,k) the sum over i, j, k is no multiple of the character.

    sum_(i,j,k) R_ij(a) R_jk(b) R_ij(c) differs between the triples (e, e, e) and (r, r^-1, e), whose a b c^-1 is e.
    """
    group = symmetric(3)
    R = next(R for R in irreps_of(group) if R.degree == 2)
    r = next(g for g in range(6) if len(group.classes[group.class_of[g]]) == 2)
    e, back = group.identity, int(group.inverse[r])

    def printed(a: int, b: int, c: int) -> Any:
        M = R.matrices
        return sum(M[a, i, j] * M[b, j, k] * M[c, i, j] for i, j, k in product(range(2), repeat=3))

    assert printed(e, e, e) == 2
    assert printed(r, back, e) != 2
    assert group.table[r, back] == e


# ---- lemma D.16


@check("feature-emergence:lemma-D.16", grade="symbolic", target="corrected", supporting=True)
@proof_steps("group-networks.md: 11")
def test_the_two_conventions_agree() -> None:
    """Unit neurons scaled by d^(-1/6)/Delta and coefficients 1/sqrt(3n) scaled by d^(1/3)/Delta are the same weights.

    Their cubes: (d/(3n))^(3/2) d^(-1/2)/Delta^3 = (1/(3n))^(3/2) d/Delta^3. The cubes of the norms, d^(-1/2)/Delta^3
    for 2 d^3 neurons each, add up to 1 for Delta^3 = 2 S; then the total mass in R is d^(5/2)/S.
    """
    d, n, Delta, S = sp.symbols("d n Delta S", positive=True)
    unit = sp.sqrt(d / (3 * n)) * d ** sp.Rational(-1, 6) / Delta
    printed = 1 / sp.sqrt(3 * n) * d ** sp.Rational(1, 3) / Delta
    assert sp.simplify(unit - printed) == 0
    mass = 2 * d**3 * (d ** sp.Rational(-1, 6) / Delta) ** 3
    assert sp.simplify(mass.subs(Delta, (2 * S) ** sp.Rational(1, 3)) - d ** sp.Rational(5, 2) / S) == 0
    # and 4 times the product of the three scaled coefficients is the coefficient of d chi_R in the output
    assert sp.simplify(4 * printed**3 - 4 * (3 * n) ** sp.Rational(-3, 2) * d / Delta**3) == 0


@check(
    "feature-emergence:lemma-D.16", grade="exact", target="corrected", cases="S_3, D_4, D_5, Z_2^3, S_4: all triples"
)
@proof_steps("group-networks.md: 11")
@exact_groups
def test_all_wrong_labels_tie(group: FiniteGroup) -> None:
    """sum_(R != 1) d chi_R = -1 off e; the network's wrong logits are all -4 (3n)^(-3/2)/Delta^3, Delta^3 = 2 S.

    `raw` is (3n)^(3/2) times the output, so that the wrong logits are -2/S there. Evaluated on all triples.
    """
    irreps, n = irreps_of(group)[1:], group.order
    column = np.array([sum(R.degree * R.character[g] for R in irreps) for g in range(n)], dtype=object)
    assert np.all(column == [n * int(g == group.identity) - 1 for g in range(n)])
    S = sum(R.degree**2 * sqrt_rational(R.degree) for R in irreps)
    network, logits = certificate_of(group).network, _logits(group)
    masses = [root / (2 * S) for R in irreps for root in [1 / sqrt_rational(R.degree)] * (2 * R.degree**3)]
    assert list(network.masses) == masses  # the cubes of the scales d^(-1/6)/Delta
    right = group.table[:, :, None] == np.arange(n)
    assert np.all(logits[~right] == -2 / S)
    assert np.all(logits[right] == 2 * (n - 1) / S)


@check("feature-emergence:lemma-D.16", grade="numeric", target="corrected", supporting=True)
@exact_groups
def test_weights_in_both_conventions(group: FiniteGroup) -> None:
    """The exported weights agree, have norm 1, and put all margins on gamma*.

    The powers of d and n in an entry carry a few roundings; 1e-13 relative is 450 eps. A margin adds m <= 126 terms.
    """
    irreps = irreps_of(group, False)
    printed, unit = weights_with_scaling(irreps, 0, 1 / 3), weights_with_scaling(irreps, 1 / 2, -1 / 6)
    for first, second in zip(printed, unit, strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-13, atol=1e-15)
    network = HomogeneousNetwork.from_weights(unit[0], unit[1], 2)
    assert abs(network.norm_power - 1) < 1e-13
    u, v, w = group_blocks(network)
    summary = group_margins(u, v, w, group, network.masses)
    gamma = float(certificate_of(group).gamma)
    assert summary.minimum == pytest.approx(gamma, rel=1e-11)
    assert summary.maximum == pytest.approx(gamma, rel=1e-11)


@counterexample("feature-emergence:lemma-D.16", grade="numeric")
@pytest.mark.parametrize(
    ("group", "low", "high"),
    [(symmetric(3), 0.869, 1.108), (dihedral(4), 0.872, 1.289)],
    ids=["S_3", "D_4"],
)
def test_printed_scale_on_unit_neurons(group: FiniteGroup, low: float, high: float) -> None:
    """Unit neurons, as lemma D.15 claims, scaled by d^(1/3) as lemma D.16 says: masses 2 d^4, and wrong labels differ.

    Exact margins by class; their range in units of gamma*, and the same from the exported weights on all triples.
    """
    certificate = certificate_of(group)
    assert certificate.game is not None
    game = certificate.game.game
    powers = np.array([rational(2 * game.table.degrees[R] ** 4) for R in game.rows], dtype=object)
    by_class = game.class_payoffs(powers / sum(powers)) / certificate.game.value
    assert len(set(by_class)) > 1
    floats = sorted(float(value) for value in by_class)
    assert floats[0] == pytest.approx(low, abs=5e-4)
    assert floats[-1] == pytest.approx(high, abs=5e-4)
    hidden, readout = weights_with_scaling(irreps_of(group, False), 1 / 2, 1 / 3)
    network = HomogeneousNetwork.from_weights(hidden, readout, 2)
    u, v, w = group_blocks(network)
    summary = group_margins(u, v, w, group, network.masses)
    gamma = float(certificate.gamma) * network.norm_power
    # the sums have m <= 22 terms of the size of the margin
    np.testing.assert_allclose([summary.minimum / gamma, summary.maximum / gamma], [floats[0], floats[-1]], rtol=1e-12)


@counterexample("feature-emergence:lemma-D.16", grade="exact")
def test_printed_output_on_wrong_labels(record: Record) -> None:
    """S_3, coefficients 1/sqrt(3n), scale d^(1/3)/Delta: wrong logits are -4 (3n)^(-3/2)/Delta^3, not -1/Delta^3.

    Whatever Delta is, the two differ by 4/18^(3/2); taking lemma D.15's tr(...) for the output hides this factor.
    """
    group = symmetric(3)
    s3 = 1 / (18 * sqrt_rational(18))  # s^3, s = 1/sqrt(3n)
    outputs = np.full((6, 6, 6), rational(0), dtype=object)
    for R in irreps_of(group)[1:]:
        for _, (u, v, w) in _neurons(R):
            outputs = outputs + (_output(u, v, w) + _output(u, -v, -w)) * (s3 * R.degree)  # times 1/Delta^3
    wrong = set(outputs[group.table[:, :, None] != np.arange(6)].tolist())
    record.hypothesis("S_3: all wrong labels have one output, times Delta^3", len(wrong), "=", 1)
    record.violated("it is -1", float(min(wrong)), "=", -1)
    assert wrong == {-4 * s3}
    assert wrong != {rational(-1)}


# ---- theorem 7.9


@check(
    "feature-emergence:theorem-7.9",
    grade="exact",
    target="printed",
    cases="S_3, D_4, D_5, Z_2^3, S_4: all points and wrong labels",
)
@proof_steps("group-networks.md: 12")
@exact_groups
def test_maximum_margin(group: FiniteGroup) -> None:
    """The certificate is accepted, its value is the printed formula, and all n^2 (n-1) wrong labels are on the margin.

    The network has the printed width 2 sum d^3; its output is summed neuron by neuron over all inputs and labels.
    """
    certificate, n, degrees = certificate_of(group), group.order, DEGREES[group.name]
    assert certificate.accepted
    assert n == 1 + sum(d * d for d in degrees)
    assert sp.simplify(to_sympy(certificate.gamma) - _printed_margin(n, degrees)) == 0
    network = certificate.network
    assert network.width == 2 * sum(d**3 for d in degrees)
    assert network.norm_power == 1
    logits = _logits(group).reshape(n * n, n)
    margins = logits[np.arange(n * n), group.table.ravel()][:, None] - logits
    wrong = np.arange(n) != group.table.reshape(-1, 1)
    scale = sqrt_rational(3 * n) * (3 * n)
    assert np.all(margins[wrong] == certificate.gamma * scale)
    assert certificate.gamma > 0


@check("feature-emergence:theorem-7.9", grade="exact", target="printed", cases="S_3, D_4, D_5, Z_2^3, S_4")
@proof_steps("group-networks.md: 12")
@exact_groups
def test_every_class_and_every_representation_is_tight(group: FiniteGroup) -> None:
    """Conclusion 2 needs tau > 0 on every wrong label (then lemma 7.6 makes all wrong logits equal), conclusion 1 that
    only neurons of one irrep attain the bound (lemma D.13); all kappa_R tie, so that none is excluded. The certificate
    has uniform q, and the weights of lemma D.14 at every point and label."""
    certificate, n = certificate_of(group), group.order
    game, weights = certificate.game, certificate.weights
    assert game is not None
    quotients = group.table[group.table[:, :, None], group.inverse]
    assert np.all(weights.tau.reshape(n, n, n) == equalising_weights(group)[quotients])
    assert len(set(weights.q.tolist())) == 1
    assert all(weight > 0 for weight in game.t)
    assert all(mass > 0 for mass in game.eps)
    assert game.tight_rows == tuple(range(len(group.classes) - 1))
    assert game.tight_columns == tuple(range(len(group.classes) - 1))
    degrees = [sp.Integer(d) for d in DEGREES[group.name]]
    S = sum(d ** sp.Rational(5, 2) for d in degrees)
    shares = sorted((to_sympy(mass) for mass in game.eps), key=float)
    expected = sorted((d ** sp.Rational(5, 2) / S for d in degrees), key=float)
    assert all(sp.simplify(first - second) == 0 for first, second in zip(shares, expected, strict=True))


@check("feature-emergence:theorem-7.9", grade="numeric", target="printed", cases="S_5, from its character table")
def test_maximum_margin_of_s5_by_characters() -> None:
    """S_5, order 120, degrees 1, 4, 4, 5, 5, 6: the closed-form pair is verified exactly, with positive entries."""
    game = MarginGame(symmetric_characters(5))
    eps, t = equalising_masses(game), equalising_class_weights(game)
    degrees = (1, 4, 4, 5, 5, 6)
    S = 65 + 50 * sqrt_rational(5) + 36 * sqrt_rational(6)
    assert sorted(game.table.degrees[1:]) == list(degrees)
    solution = verify(game, 120 / S, eps, t)
    assert all(weight > 0 for weight in [*eps, *t])
    assert solution.gamma == 2 / (3 * sqrt_rational(360) * S)
    assert sp.simplify(to_sympy(solution.gamma) - _printed_margin(120, degrees)) == 0
    assert float(solution.gamma) == pytest.approx(1.3259774900e-4, rel=1e-10)


@check("feature-emergence:theorem-7.9", grade="numeric", target="printed", supporting=True)
def test_network_of_s5() -> None:
    """The 1190 neurons of S_5 over all 120^3 triples: every margin is the exact value, up to rounding.

    A raw logit is a sum of 1190 terms mass (u + v)^2 w with |u|, |v|, |w| <= sqrt 6 and masses of sum 1: the terms add
    up to at most 24 sqrt 6 < 59. Each carries the errors of three entries, at most R.tolerance relative to 1, and each
    sum at most 1190 roundings; a margin is the difference of two.
    """
    group = symmetric(5)
    irreps = real_irreps(group)
    network = group_network(irreps)
    assert network.width == 1190
    u, v, w = group_blocks(network)
    summary = group_margins(u, v, w, group, network.masses)
    exact = float(120 / (65 + 50 * sqrt_rational(5) + 36 * sqrt_rational(6))) * 2
    tolerance = 2 * 59 * (3 * max(R.tolerance for R in irreps) + 1200 * EPS)
    assert tolerance < 1e-9 * exact
    assert abs(summary.minimum - exact) <= tolerance
    assert abs(summary.maximum - exact) <= tolerance
    assert np.allclose(exact * network.scale, 1.3259774900e-4, rtol=1e-10, atol=0)


@check("feature-emergence:theorem-7.9", grade="symbolic", target="printed", supporting=True)
def test_value_of_the_formula() -> None:
    """2 (3n)^(-3/2) n/S, the bound of lemma D.13 with kappa_R = n/S, is the printed 2/(3 sqrt(3n) S)."""
    n, S = sp.symbols("n S", positive=True)
    assert sp.simplify(2 * (3 * n) ** sp.Rational(-3, 2) * n / S - 2 / (3 * sp.sqrt(3 * n) * S)) == 0
