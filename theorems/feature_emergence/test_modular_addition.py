"""Theorem 7.7: the maximum L_{2,3} margin of modular addition is sqrt(2/27) / (sqrt(p) (p - 1)).

The verdict is a saddle pair in Q(zeta_N), with no floating point. Primal side: the explicit network of D.6.2, evaluated
on all pairs (a, b) and all labels c. Dual side: uniform q, uniform class weights, and the neuron-wise bound that is
proved in `test_cyclic_neuron_bound`. Both give gamma*^2 = 2/(27 n (n-1)^2), for every odd n here, prime or not. That
all max-margin networks have the printed structure follows from the zeros of the bound's remainders (there) and from the
three-dimensional transform (`test_fourier_of_networks`).

Every fault planted in a network must be refused, and no random network may have a larger margin.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.saddle.groups import certify_cyclic
from lemmata.certificates.saddle.pair import ClassWeights, Verdict, class_function_weights, judge
from lemmata.constructions.groups.cyclic import modular_addition_network, phase_triples, random_phase_network
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.inputs import group_blocks, group_inputs
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic, cosine, rational, root_of_unity, sqrt_rational
from lemmata.numerics.groups.tables import cyclic, relabel
from lemmata.numerics.margins.evaluation import expected_class_margins, group_margins
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.feature_emergence.group_coordinates import margin_rounding
from lemmata.theorems.records import Record

EPS = np.finfo(float).eps
MODULI = [3, 5, 7, 9, 11, 13]
SEEDS = st.integers(0, 2**32 - 1)


def _gamma_squared(n: int) -> fmpq:
    return fmpq(2, 27 * n * (n - 1) ** 2)


def _gamma(n: int) -> float:
    return float(np.sqrt(2 / (27 * n)) / (n - 1))


def _uniform_weights(n: int, exact: bool = True) -> ClassWeights:
    """Uniform q and tau = 1/(n-1) on all wrong labels."""
    tau = np.array([fmpq(0)] + [fmpq(1, n - 1)] * (n - 1), dtype=object)
    return class_function_weights(cyclic(n), tau if exact else tau.astype(float))


def _dual_squares(weights: ClassWeights) -> list[Any]:
    """The squares of the largest E psi' of unit neurons of each frequency z, for tau a function of a + b - c.

    As in steps 2 to 7 of `proofs/modular-addition.md`, with any weights tau(delta) in place of 1/(n-1): E psi' =
    2 n^-3 sum over j != 0 of (1 - sum of tau(delta) rho^(j delta)) u^(j) v^(j) w^(-j), so sqrt(2/27) n^(-3/2) |kappa_z|
    with kappa_z the bracket at j = z.
    """
    n = weights.tau.shape[1]
    a, b, delta = np.ogrid[:n, :n, :n]
    tau = weights.tau.reshape(n, n, n)[a, b, (a + b - delta) % n]
    assert np.all(tau == tau[0, 0])
    kappas = [
        1 - sum((t * root_of_unity(z * d, n) for d, t in enumerate(tau[0, 0])), start=rational(0))
        for z in range(1, (n + 1) // 2)
    ]
    return [fmpq(2, 27 * n**3) * kappa * kappa.conjugate() for kappa in kappas]


def _judge(network: HomogeneousNetwork) -> Verdict:
    """The verdict on a network for addition modulo n under the printed bound, in the network's own arithmetic."""
    n = network.readout.shape[1]
    return judge(network, _uniform_weights(n, network.arithmetic == "exact"), sqrt_rational(_gamma_squared(n)))


def _normalised_margin(network: HomogeneousNetwork) -> float:
    """min over all (a, b, wrong c) of the margin, divided by ||theta||^3; floating point."""
    u, v, w = group_blocks(network)
    summary = group_margins(u, v, w, cyclic(w.shape[1]), network.masses)
    return summary.minimum * network.scale / network.norm_power


def _rounding(width: int) -> float:
    """Bound the rounding error of `_normalised_margin` for directions of norm 1 (or scaled to it).

    Per unit neuron (u + v)^2 |w| <= 2 (u^2 + v^2) |w| <= 1, so that a logit is a sum of `width` terms whose absolute
    values add up to at most 1; each term carries a few roundings, and a margin is the difference of two logits.
    """
    return 2 * (width + 20) * EPS


# ---- the theorem


@check(
    "feature-emergence:theorem-7.7",
    grade="exact",
    target="printed",
    cases="n = 3, 5, ..., 13; 6 and 8 neurons for each frequency, all points and labels",
)
@check(
    "feature-emergence:theorem-7.0",
    grade="exact",
    target="printed",
    cases="n = 3, 5, ..., 13; 6 and 8 neurons for each frequency, all points and labels",
)
@proof_steps("modular-addition.md: 10")
@pytest.mark.parametrize("n", MODULI)
@pytest.mark.parametrize("per_frequency", [8, 6])
def test_network_and_class_weights_certify_each_other(n: int, per_frequency: int) -> None:
    """Primal = dual, exactly, over all (a, b, c): 8 neurons per frequency as printed, and 6."""
    network = modular_addition_network(n, per_frequency, exact=True)
    assert network.width == per_frequency * (n - 1) // 2
    assert network.norm_power == 1
    verdict = _judge(network)
    assert verdict.accepted, verdict.violations
    assert verdict.primal == verdict.dual
    assert verdict.primal > 0
    assert verdict.primal * verdict.primal == _gamma_squared(n)
    # The character game, which knows neither this bound nor this network, arrives at the same number.
    certificate = certify_cyclic(n, per_frequency)
    assert certificate.accepted
    assert certificate.gamma_squared == _gamma_squared(n)
    assert certificate.game is not None
    assert all(eps == fmpq(2, n - 1) for eps in certificate.game.eps)
    # The dual side: under the class weights of both certificates no unit neuron has more than gamma* on average.
    for weights in (_uniform_weights(n), certificate.weights):
        assert len(set(weights.q.tolist())) == 1
        assert _dual_squares(weights) == [_gamma_squared(n)] * ((n - 1) // 2)


@check("feature-emergence:theorem-7.7", grade="numeric", target="printed", supporting=True)
@pytest.mark.parametrize("p", [31, 71, 113])
@pytest.mark.parametrize("per_frequency", [8, 6])
def test_every_margin_of_a_large_network(p: int, per_frequency: int) -> None:
    """All p^3 margins agree with gamma* to 1e-12 relative, which is more than the rounding of the forward pass."""
    network = modular_addition_network(p, per_frequency)
    u, v, w = group_blocks(network)
    # A logit sums m terms mass (u + v)^2 w, each with at most 8 roundings; bound the sum of their absolute values.
    squares = (u[:, :, None] + v[:, None, :]).reshape(network.width, p * p) ** 2
    absolute = (squares.T @ (network.masses[:, None] * np.abs(w))).max()
    raw_margin = 0.5 * p / (p - 1)
    assert 2 * (network.width + 8) * EPS * absolute / raw_margin < 1e-12
    summary = group_margins(u, v, w, cyclic(p), network.masses)
    for margin in (summary.minimum, summary.maximum):
        assert abs(margin * network.scale / network.norm_power / _gamma(p) - 1) < 1e-12


@check("feature-emergence:theorem-7.7", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("n", [2, 4, 6, 8])
def test_even_moduli_have_their_own_margin(n: int) -> None:
    """Addition modulo an even n is certified too, with a larger margin: the printed formula needs p odd.

    The frequency n/2 is real; its neuron beats the printed bound for uniform class weights, and the certified network
    makes the verdict say that the bound is none.
    """
    certificate = certify_cyclic(n)
    assert certificate.accepted
    assert certificate.verdict.primal == certificate.gamma
    assert certificate.gamma_squared > _gamma_squared(n)
    verdict = _judge(modular_addition_network(n, exact=True))
    assert not verdict.accepted
    assert any("exceeds the bound" in violation for violation in verdict.violations)
    sign = np.array([fmpq((-1) ** a) for a in range(n)], dtype=object)
    expected = _expected_margin(sign, sign, sign)
    assert expected > 0
    assert expected * expected / (3 * n) ** 3 > _gamma_squared(n)


def _expected_margin(u: np.ndarray, v: np.ndarray, w: np.ndarray) -> Any:
    """E psi' of one neuron by its definition, for uniform class weights, in the neuron's own numbers."""
    n = len(u)
    total = 0
    for a, b in product(range(n), repeat=2):
        right = w[(a + b) % n]
        total = total + (u[a] + v[b]) ** 2 * (right - fmpq(1, n - 1) * (sum(w) - right))
    return total / (n * n)


# ---- construction D.6.2


@check(
    "feature-emergence:construction-D.6.2",
    grade="exact",
    target="corrected",
    cases="p = 3, 5, ..., 17: all points and labels",
)
@proof_steps("modular-addition.md: 9")
@pytest.mark.parametrize("p", [*MODULI, 15, 17])
def test_outputs_of_the_printed_network(p: int) -> None:
    """With cosines of amplitude 1 the 4(p-1) neurons give 2(p-1) at the correct label and -2 at all others; so
    sum_z cos_z(a + b - c), a quarter of it, is (p-1)/2 and -1/2. All points tie, as do all wrong labels."""
    network = modular_addition_network(p, per_frequency=8, exact=True)
    assert network.width == 4 * (p - 1)
    assert all(mass == fmpq(1, 4 * (p - 1)) for mass in network.masses)
    outputs = (network.raw(group_inputs(p)) * (4 * (p - 1))).reshape(p, p, p)
    a, b, c = np.ogrid[:p, :p, :p]
    assert np.all(outputs == np.where((a + b - c) % p == 0, 2 * (p - 1), -2))
    sums = [sum(cosine(z * r, p) for z in range(1, (p - 1) // 2 + 1)) for r in range(p)]
    assert sums == [fmpq(p - 1, 2)] + [fmpq(-1, 2)] * (p - 1)


@counterexample("feature-emergence:construction-D.6.2", grade="exact")
@pytest.mark.parametrize("p", [3, 5, 7])
def test_wrong_labels_are_not_zero(p: int, record: Record) -> None:
    """sum_{z <= (p-1)/2} cos(2 pi z (a + b - c) / p) is -1/2 at every wrong label: the printed 0 never occurs."""
    half = range(1, (p - 1) // 2 + 1)
    assert sum(cosine(0, p) for _ in half) == fmpq(p - 1, 2)
    for r in range(1, p):
        value = sum(cosine(z * r, p) for z in half)
        assert value != 0
        assert value == fmpq(-1, 2)
    if p >= 7:
        record.hypothesis("p = 7 is a prime: its number of divisors", sum(p % d == 0 for d in range(1, p + 1)), "=", 2)
        wrong = sum((cosine(z, p) for z in half), start=rational(0)).to_fmpq()
        record.violated("the sum of cosines is 0 where a + b - c = 1", wrong, "=", 0)


@check(
    "feature-emergence:construction-D.6.2",
    grade="symbolic",
    target="corrected",
    cases="the eight phase triples of the construction, all angles symbolic",
)
@proof_steps("modular-addition.md: 9")
def test_each_pair_of_neurons_is_one_product() -> None:
    """cos(A + B - C) = ccc - ssc + scs + css, and each printed pair of phases gives 4 times one of the terms."""
    A, B, C = sp.symbols("A B C", real=True)
    s, c = sp.sin, sp.cos
    terms = [c(A) * c(B) * c(C), -s(A) * s(B) * c(C), s(A) * c(B) * s(C), c(A) * s(B) * s(C)]
    assert sp.expand(sp.expand_trig(sp.cos(A + B - C)) - sum(terms)) == 0
    triples = phase_triples(8)
    for term, pair in zip(terms, (triples[i : i + 2] for i in range(0, 8, 2)), strict=True):
        neurons = []
        for phases in pair:
            assert (phases[0] + phases[1] - phases[2]) % 1 == 0
            u, v, w = (sp.cos(x + 2 * sp.pi * sp.Rational(t)) for x, t in zip((A, B, C), phases, strict=True))
            neurons.append((u + v) ** 2 * w)
        assert sp.expand(sum(neurons) - 4 * term) == 0


@check("feature-emergence:construction-D.6.2", grade="exact", target="corrected", supporting=True)
def test_phases_are_the_printed_ones() -> None:
    """The phases in quarter turns, in the order of D.6.2."""
    printed = [(0, 0, 0), (0, 2, 2), (1, -1, 0), (1, 1, 2), (-1, 0, -1), (-1, 2, 1), (0, -1, -1), (0, 1, 1)]
    assert [tuple(4 * phase for phase in triple) for triple in phase_triples(8)] == printed


# ---- negative controls: what the verdict must refuse


def _changed(network: HomogeneousNetwork, **changes: Any) -> HomogeneousNetwork:
    """A copy of the network with other hidden, readout or masses."""
    fields = {name: getattr(network, name).copy() for name in ("hidden", "readout", "masses")}
    return HomogeneousNetwork(**{**fields, **changes}, degree=2, norm_squared=network.norm_squared)


def _refused(network: HomogeneousNetwork) -> bool:
    verdict = _judge(network)
    return not verdict.accepted and bool(verdict.primal < verdict.dual)


@check("feature-emergence:theorem-7.7", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("n", [5, 7])
@pytest.mark.parametrize("per_frequency", [6, 8])
def test_spoiled_networks_are_refused(n: int, per_frequency: int) -> None:
    """A wrong phase sum, a flipped sign, a missing neuron or frequency, a shifted mass: all in exact numbers."""
    network = modular_addition_network(n, per_frequency, exact=True)
    assert _judge(network).accepted
    phase = network.readout.copy()
    phase[0] = np.roll(phase[0], 1)  # th_w moves by 1/n turn
    assert _refused(_changed(network, readout=phase))
    flipped = network.readout.copy()
    flipped[0] = -flipped[0]  # th_w moves by 1/2 turn: the neuron with lambda < 0, in effect
    assert _refused(_changed(network, readout=flipped))
    for missing in ([0], [network.width - 1], list(range(per_frequency))):
        masses = network.masses.copy()
        masses[missing] = fmpq(0)
        assert _refused(_changed(network, masses=masses))
    masses = network.masses.copy()
    masses[0] += fmpq(1, 10**6)
    assert _refused(_changed(network, masses=masses))


@check("feature-emergence:theorem-7.7", grade="numeric", target="printed", supporting=True)
def test_a_weight_moved_by_a_millionth_is_refused_exactly() -> None:
    """Two entries of a neuron turned by the rational rotation of tan(angle/2) = 10^-6; a bare move is no direction."""
    network = modular_addition_network(7, exact=True)
    t = fmpq(1, 10**6)
    cos, sin = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    hidden = network.hidden.copy()
    x, y = hidden[3, 0], hidden[3, 1]
    hidden[3, 0], hidden[3, 1] = cos * x - sin * y, sin * x + cos * y
    turned = _changed(network, hidden=hidden)
    assert _refused(turned)
    assert float(_judge(turned).gap) < 1e-5 * _gamma(7)
    hidden = network.hidden.copy()
    hidden[3, 0] = hidden[3, 0] + t
    with pytest.raises(ValueError, match="squared norm"):
        _changed(network, hidden=hidden)


@check("feature-emergence:theorem-7.7", grade="sampled", target="printed", supporting=True)
@given(data=st.data())
def test_any_weight_moved_by_a_millionth_is_refused_in_floating_point(data: st.DataObject) -> None:
    """Any single exported weight of the 24 or 18 neurons for n = 7; the unmoved weights are accepted."""
    n = 7
    hidden, readout = modular_addition_network(n, data.draw(st.sampled_from([6, 8]))).weights()
    assert _judge(HomogeneousNetwork.from_weights(hidden, readout, 2)).accepted
    omega = np.concatenate([hidden, readout], axis=1)
    index = data.draw(st.tuples(st.integers(0, len(omega) - 1), st.integers(0, 3 * n - 1)))
    omega[index] += data.draw(st.sampled_from([1e-6, -1e-6]))
    assert _refused(HomogeneousNetwork.from_weights(omega[:, : 2 * n], omega[:, 2 * n :], 2))


@check("feature-emergence:theorem-7.7", grade="exact", target="printed", supporting=True)
def test_masses_and_factors_must_not_be_negative() -> None:
    """A negative mass is refused at once. A neuron with a negative factor is the worst of all: its expected margin is
    -7/12 for amplitude 1 and p = 7, minus the maximum."""
    network = modular_addition_network(7, exact=True)
    masses = network.masses.copy()
    masses[2] = -masses[2]
    with pytest.raises(ValueError, match=r"Masses must be >= 0.*neurons 2"):
        _changed(network, masses=masses)
    u, v, w = (block[0] for block in group_blocks(network))
    assert _expected_margin(u, v, w) == fmpq(7, 12)
    assert _expected_margin(-u, -v, -w) == fmpq(-7, 12)
    negative = _changed(network, hidden=-network.hidden, readout=-network.readout)
    assert _judge(negative).primal < 0
    assert _refused(negative)


@check("feature-emergence:theorem-7.7", grade="exact", target="printed", supporting=True)
def test_a_bound_a_little_off_is_refused() -> None:
    """The printed number changed by one part in 10^12, in either direction, no longer meets the network."""
    network, weights = modular_addition_network(5, exact=True), _uniform_weights(5)
    gamma = sqrt_rational(_gamma_squared(5))
    assert judge(network, weights, gamma).accepted
    for factor in (1 + fmpq(1, 10**12), 1 - fmpq(1, 10**12)):
        assert not judge(network, weights, gamma * factor).accepted


# ---- random networks, random groups


@check("feature-emergence:theorem-7.7", grade="sampled", target="printed", supporting=True)
@given(
    n=st.sampled_from([3, 5, 7, 9, 11]),
    width=st.integers(1, 60),
    kind=st.sampled_from(["gaussian", "heavy", "near"]),
    seed=SEEDS,
)
def test_no_random_network_has_a_larger_margin(n: int, width: int, kind: str, seed: int) -> None:
    """Normalised margins stay below gamma*, and even below gamma* minus the average deficit of the neurons:
    h(theta) <= sum mu_i E psi'(omega_i), for total mass 1 (lemma 7.5).

    Gaussian weights, neurons of very different sizes, and max-margin networks with noise from 1e-8 to 1 on the weights.
    """
    rng = np.random.default_rng(seed)
    if kind == "near":
        hidden, readout = modular_addition_network(n, 6 if width % 2 else 8).weights()
        noise = 10.0 ** rng.uniform(-8, 0)
        hidden = hidden + noise * rng.normal(size=hidden.shape)
        readout = readout + noise * rng.normal(size=readout.shape)
    else:
        sizes = np.exp(3 * rng.normal(size=(width, 1))) if kind == "heavy" else 1.0
        hidden, readout = sizes * rng.normal(size=(width, 2 * n)), sizes * rng.normal(size=(width, n))
    network = HomogeneousNetwork.from_weights(hidden, readout, 2)
    margin = _normalised_margin(network)
    tau = np.array([0.0] + [1 / (n - 1)] * (n - 1))
    expected = expected_class_margins(*group_blocks(network), cyclic(n), tau)
    slack = _rounding(network.width) + margin_rounding(n)
    assert margin <= float(network.masses @ expected / network.norm_power) + slack
    assert np.all(expected <= _gamma(n) + slack)
    assert margin <= _gamma(n) + slack


@check("feature-emergence:theorem-7.7", grade="exact", target="printed", supporting=True)
@given(n=st.sampled_from([3, 5, 7]), data=st.data())
def test_relabelled_groups_have_the_same_certificate(n: int, data: st.DataObject) -> None:
    """After any renaming of the elements of Z_n the renamed network and class weights certify the same number.

    The network that was not renamed is refused, unless the renaming is one that addition allows.
    """
    permutation = np.array(data.draw(st.permutations(range(n))))
    group = relabel(cyclic(n), permutation)
    network = modular_addition_network(n, 6, exact=True)
    u, v, w = (np.empty_like(block) for block in group_blocks(network))
    for renamed, block in zip((u, v, w), group_blocks(network), strict=True):
        renamed[:, permutation] = block
    tau = np.array([fmpq(g != group.identity, n - 1) for g in range(n)], dtype=object)
    weights = class_function_weights(group, tau)
    gamma = sqrt_rational(_gamma_squared(n))
    verdict = judge(_changed(network, hidden=np.concatenate([u, v], axis=1), readout=w), weights, gamma)
    assert verdict.accepted, verdict.violations
    assert verdict.primal == gamma
    if group != cyclic(n):
        assert not judge(network, weights, gamma).accepted


# ---- random phases (the analytic solutions of the related work)


@check("feature-emergence:claim-D.1", grade="sampled", target="printed", supporting=True)
@given(n=st.sampled_from([3, 5, 7, 11, 13]), width=st.sampled_from([1, 4, 48, 200, 1000]), seed=SEEDS)
def test_random_phases_stay_below_the_maximum(n: int, width: int, seed: int) -> None:
    """Aligned neurons with random phases, frequencies and masses are optimal one by one, and not together."""
    network = random_phase_network(n, width, np.random.default_rng(seed))
    tau = np.array([0.0] + [1 / (n - 1)] * (n - 1))
    expected = expected_class_margins(*group_blocks(network), cyclic(n), tau) * network.scale
    np.testing.assert_allclose(expected, _gamma(n), rtol=0, atol=margin_rounding(n))
    assert _normalised_margin(network) < _gamma(n) * (1 - 1e-3)


@check("feature-emergence:claim-D.1", grade="sampled", target="printed", supporting=True)
def test_random_phases_approach_the_maximum_slowly(record_property: Callable[[str, object], None]) -> None:
    """p = 11, seed 0: the margin grows with the width towards gamma*, with a gap of order width^(-1/2)."""
    rng = np.random.default_rng(0)
    widths = (100, 1_000, 10_000)
    ratios = [_normalised_margin(random_phase_network(11, width, rng)) / _gamma(11) for width in widths]
    record_property("ratios", ratios)
    print(f"random phases, p = 11, widths {widths}: margin / gamma* = {ratios}")
    assert ratios[0] < ratios[1] < ratios[2] < 1
    # from one width to the next the gap shrinks by about sqrt(10); a gap of order 1/width would shrink by 10
    assert 2 < (1 - ratios[1]) / (1 - ratios[2]) < 5


@check("feature-emergence:claim-D.1", grade="exact", target="printed", supporting=True)
def test_random_twelfths_are_exactly_below_the_maximum() -> None:
    """n = 5, eight aligned neurons per frequency with phases in twelfths of a turn (seed 5), equal masses, exactly."""
    n, count = 5, 8
    rng = np.random.default_rng(5)
    rows: list[list[Cyclotomic]] = []
    for z in range(1, (n - 1) // 2 + 1):
        for first, second in rng.integers(0, 12, (count, 2)).tolist():
            turns = (first, second, first + second)
            rows.append([cosine(n * turn + 12 * z * a, 12 * n) for turn in turns for a in range(n)])
    directions = np.array(rows, dtype=object)
    masses = np.array([fmpq(1, len(rows))] * len(rows), dtype=object)
    network = HomogeneousNetwork(directions[:, : 2 * n], directions[:, 2 * n :], masses, 2, fmpq(3 * n, 2))
    verdict = _judge(network)
    assert not verdict.accepted
    assert rational(0) <= verdict.dual - verdict.primal
    assert verdict.primal < verdict.dual
