"""The judge of saddle pairs: what it accepts, and that each planted fault is named."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.certificates.saddle import pair
from lemmata.certificates.saddle.groups import certify_cyclic, certify_real_type
from lemmata.certificates.saddle.pair import (
    ClassWeights,
    Task,
    class_function_weights,
    group_task,
    judge,
    only_wrong_label,
    parity_task,
    rounding_of_margin,
)
from lemmata.certificates.saddle.parity import certify_parity
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.numerics.exact.cyclotomic.numbers import rational, sqrt_rational
from lemmata.numerics.groups.tables import cyclic, symmetric

EPS = np.finfo(float).eps


def rationals(entries: Any) -> np.ndarray:
    """An object array of fmpq from nested lists of ints and fmpq."""
    return np.array(entries, dtype=object) * fmpq(1)


def remade(network: HomogeneousNetwork, **changes: Any) -> HomogeneousNetwork:
    """The network with some of its arrays replaced."""
    parts = {"hidden": network.hidden, "readout": network.readout, "masses": network.masses} | changes
    return HomogeneousNetwork(parts["hidden"], parts["readout"], parts["masses"], network.degree, network.norm_squared)


@pytest.fixture(scope="module")
def addition() -> Any:
    """The certificate of addition modulo 5 with 12 neurons."""
    return certify_cyclic(5)


# --- Tasks and weights ------------------------------------------------------------------------------------------------


def test_group_task_lists_the_table() -> None:
    group = symmetric(3)
    task = group_task(group)
    for row, (a, b) in enumerate(product(range(6), repeat=2)):
        assert task.inputs[row].tolist() == [int(i == a) for i in range(6)] + [int(i == b) for i in range(6)]
        assert task.labels[row] == group.table[a, b]


def test_parity_task_labels_the_product() -> None:
    task = parity_task(4, (1, 3))
    assert len({tuple(x) for x in task.inputs.tolist()}) == 16
    assert all(label == (0 if x[1] * x[3] == 1 else 1) for x, label in zip(task.inputs, task.labels, strict=True))


def test_class_function_weights_follow_the_quotient() -> None:
    group = symmetric(3)
    per_element = rationals([0] * 6)
    for members, total in zip(group.classes[1:], (fmpq(2, 3), fmpq(1, 3)), strict=True):
        per_element[members] = total / len(members)
    weights = class_function_weights(group, per_element)
    assert set(weights.q.tolist()) == {fmpq(1, 36)}
    for a, b, c in product(range(6), repeat=3):
        quotient = group.table[group.table[a, b], group.inverse[c]]
        assert weights.tau[6 * a + b, c] == per_element[quotient]


@pytest.mark.parametrize(
    ("inputs", "labels", "count", "message"),
    [
        (np.eye(2), np.array([0, -1]), 2, "point 1 has -1"),
        (np.eye(2), np.array([0, 2]), 2, "point 1 has 2"),
        (np.eye(2), np.array([0, 1, 1]), 2, "inputs of shape"),
        (np.ones(2), np.array([0, 1]), 2, "inputs of shape"),
        (np.ones((0, 2)), np.array([], dtype=int), 2, "N >= 1"),
        (np.eye(2), np.array([0, 0]), 1, "at least two labels"),
        (np.eye(2), np.array([0.0, 1.0]), 2, "numbered by integers"),
    ],
)
def test_malformed_tasks_are_refused(inputs: Any, labels: Any, count: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Task("toy", inputs, labels, count)


@pytest.mark.parametrize("support", [(), (0, 0), (3,), (-1,)])
def test_malformed_supports_are_refused(support: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"^The (parity must be taken of 1 <= k <= n|support must)"):
        parity_task(3, support)


@pytest.mark.parametrize(
    ("per_element", "message"),
    [
        ([0, 1, 0, 0, 0, 0], "constant on conjugacy classes"),
        ([0, 1], "one weight per element"),
        ([1, 0, 0, 0, 0, 0], "vanish on the correct label"),
        ([fmpq(1, 6)] * 6, "vanish on the correct label"),
        ([0] * 6, "add up to 1"),
    ],
)
def test_malformed_class_functions_are_refused(per_element: list[Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        class_function_weights(symmetric(3), rationals(per_element))


def test_only_two_labels_determine_tau() -> None:
    weights = only_wrong_label(parity_task(2, (0, 1)))
    assert weights.tau.sum() == 4
    with pytest.raises(ValueError, match="3 labels"):
        only_wrong_label(group_task(cyclic(3)))


GOOD_Q, GOOD_TAU = [fmpq(1, 2), fmpq(1, 2)], [[0, fmpq(1, 3), fmpq(2, 3)], [1, 0, 0]]


@pytest.mark.parametrize(
    ("q", "tau", "message"),
    [
        ([1], GOOD_TAU, "needs q of shape"),
        (GOOD_Q, [[0, 1], [1, 0]], "needs q of shape"),
        ([fmpq(3, 2), fmpq(-1, 2)], GOOD_TAU, "q must be >= 0, but entry 1 is -0.5"),
        ([fmpq(1, 2), fmpq(1, 3)], GOOD_TAU, "q must add up to 1"),
        (GOOD_Q, [[0, 2, -1], [1, 0, 0]], "tau at point 0 must be >= 0"),
        (GOOD_Q, [[0, fmpq(1, 3), fmpq(2, 3)], [fmpq(1, 2), 0, 0]], "tau at point 1 must add up to 1"),
        (GOOD_Q, [[0, fmpq(1, 3), fmpq(2, 3)], [fmpq(1, 2), fmpq(1, 2), 0]], "vanish on the correct label 1"),
        ([fmpq(1, 2), fmpq(1, 2) + fmpq(1, 10**30)], GOOD_TAU, "q must add up to 1"),
    ],
)
def test_malformed_weights_are_refused(q: Any, tau: Any, message: str) -> None:
    task = Task("toy", np.eye(2, dtype=int), np.array([0, 1]), 3)
    ClassWeights(task, rationals(GOOD_Q), rationals(GOOD_TAU))
    with pytest.raises(ValueError, match=message):
        ClassWeights(task, rationals(q), rationals(tau))


@pytest.mark.parametrize(
    ("q", "message"),
    [
        (np.array([np.nan, 1.0]), "q must be >= 0, but entry 0 is nan"),
        (np.array([np.inf, 0.0]), "q must add up to 1"),
        (np.array([0.5, 0.5 + 1e-12]), "q must add up to 1"),
        (np.array([0.5, 0.5 + 3 * EPS]), "q must add up to 1"),
        (np.array([0.5, 0.5 - 3 * EPS]), "q must add up to 1"),
        (np.array([arb(0.5), arb(0.5)], dtype=object), "floats or exact numbers"),
    ],
)
def test_malformed_floating_point_weights_are_refused(q: np.ndarray, message: str) -> None:
    task = Task("toy", np.eye(2, dtype=int), np.array([0, 1]), 2)
    tau = np.array([[0.0, 1.0], [1.0, 0.0]])
    ClassWeights(task, np.array([0.3, 0.7]), tau)
    with pytest.raises(ValueError, match=message):
        ClassWeights(task, q, tau)


# --- Each violation alone, on two points ------------------------------------------------------------------------------
# f(e_1) = (1, 0, -1), f(e_2) = (-1, 2, 0), correct labels 0 and 1: the margins are 1 and 2, by label (-, 1, 2) and
# (3, -, 2). Two neurons of mass 1 and 1, degree 1, norm^2 7.


def toy(exact: bool) -> HomogeneousNetwork:
    """The network above; the directions are padded to equal norms by an input that never occurs."""
    network = HomogeneousNetwork(
        rationals([[1, 0, 2], [0, 1, 1]]), rationals([[1, 0, -1], [-1, 2, 0]]), rationals([1, 1]), 1, fmpq(7)
    )
    return network if exact else network.to_float()


def toy_weights(q: list[Any], tau: list[list[Any]]) -> ClassWeights:
    inputs = np.eye(2, 3, dtype=int)
    return ClassWeights(Task("toy", inputs, np.array([0, 1]), 3), rationals(q), rationals(tau))


TIGHT = ([1, 0], [[0, 1, 0], [0, 0, 1]])
MARGIN = rational(fmpq(1, 14))  # 1 / (7 * 2)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    ("q", "tau", "bound", "named"),
    [
        (*TIGHT, MARGIN, None),
        ([0, 1], TIGHT[1], MARGIN, ["(7.1)", "(C.1)"]),
        ([fmpq(1, 2), fmpq(1, 2)], TIGHT[1], MARGIN, ["(7.1)", "(C.1)"]),
        ([1, 0], [[0, 0, 1], [0, 0, 1]], MARGIN, ["(C.1)"]),
        ([1, 0], [[0, fmpq(99, 100), fmpq(1, 100)], [0, 0, 1]], MARGIN, ["(C.1)"]),
        (*TIGHT, MARGIN * fmpq(1001, 1000), ["(P)"]),
        (*TIGHT, MARGIN * fmpq(999, 1000), ["(D)"]),
    ],
)
def test_each_violation_is_named(exact: bool, q: Any, tau: Any, bound: Any, named: list[str] | None) -> None:
    verdict = judge(toy(exact), toy_weights(q, tau), bound)
    assert [violation.split()[0] for violation in verdict.violations] == (named or [])
    assert verdict.accepted == (named is None)
    assert float(verdict.primal) == pytest.approx(1 / 14, abs=verdict.rounding + EPS)


def near_tie(excess: float) -> HomogeneousNetwork:
    """The network in floats with smallest margin 1 at point 0, and 1 + excess at label 2 of point 1."""
    network = toy(exact=False)
    return remade(network, masses=np.array([1.0, (1 + excess) / 2]))


@pytest.mark.parametrize(
    ("q", "tau", "named"),
    [
        ([0, 1], [[0, 1, 0], [0, 0, 1]], ["(7.1)", "(C.1)"]),
        ([fmpq(1, 2), fmpq(1, 2)], [[0, 1, 0], [0, 0, 1]], ["(7.1)", "(C.1)"]),
    ],
)
def test_a_tie_is_granted_the_rounding_error_of_two_margins_and_no_more(q: Any, tau: Any, named: list[str]) -> None:
    for excess in (0.0, 1e-12, 1e-9, 1e-7, 1e-4):
        bound = rational(fmpq(*(1 / (7 * (1 + (1 + excess) / 2))).as_integer_ratio()))
        verdict = judge(near_tie(excess), toy_weights(q, tau), bound)
        assert 0 < verdict.rounding < 1e-13 * float(bound)
        assert [violation.split()[0] for violation in verdict.violations] == (named if excess else [])


@pytest.mark.parametrize("miss", [2e-13, 1e-12, 1e-9, 1e-7])
def test_a_bound_is_granted_the_rounding_error_and_no_more(miss: float) -> None:
    """The rounding of the smallest margin, less than 1e-13 of it, and a few units in the last place of the bound."""
    for sign, named in ((1, "(P)"), (-1, "(D)")):
        bound = MARGIN * fmpq(*(1 + sign * miss).as_integer_ratio())
        verdict = judge(toy(exact=False), toy_weights(*TIGHT), bound)
        assert [violation.split()[0] for violation in verdict.violations] == [named]
    assert judge(toy(exact=False), toy_weights(*TIGHT), MARGIN).accepted


def test_an_unsupported_point_may_lie_anywhere() -> None:
    verdict = judge(toy(exact=True), toy_weights([1, 0], [[0, 1, 0], [1, 0, 0]]), MARGIN)
    assert verdict.accepted


# --- The certificates of the library, and faults planted in them -----------------------------------------------------


@pytest.mark.parametrize(
    "certify",
    [
        lambda exact: certify_cyclic(3, exact=exact),
        lambda exact: certify_cyclic(4, per_frequency=8, exact=exact),
        lambda exact: certify_parity(3, 2, exact=exact),
        lambda exact: certify_parity(4, (0, 2, 3), exact=exact),
        lambda exact: certify_real_type(symmetric(3), exact=exact),
    ],
    ids=["Z3", "Z4", "parity-3-2", "parity-4-3", "S3"],
)
def test_true_pairs_are_accepted_exactly_and_in_floating_point(certify: Any) -> None:
    exact, approximate = certify(True), certify(False)
    assert exact.accepted
    assert exact.verdict.gap == 0 < exact.gamma
    assert approximate.accepted
    assert 0 < approximate.verdict.rounding < 1e-11 * float(approximate.gamma)
    assert abs(approximate.verdict.primal - float(exact.gamma)) <= approximate.verdict.rounding + EPS


def test_the_total_mass_does_not_matter(addition: Any) -> None:
    network = addition.network
    verdict = judge(remade(network, masses=7 * network.masses), addition.weights, addition.gamma)
    assert verdict.accepted
    assert verdict.primal == addition.gamma


def flipped_readout(network: HomogeneousNetwork, size: Any) -> HomogeneousNetwork:
    readout = network.readout.copy()
    readout[0] = -readout[0]
    return remade(network, readout=readout)


def swapped_entries(network: HomogeneousNetwork, size: Any) -> HomogeneousNetwork:
    hidden = network.hidden.copy()
    hidden[0, [0, 1]] = hidden[0, [1, 0]]
    return remade(network, hidden=hidden)


def moved_mass(network: HomogeneousNetwork, size: Any) -> HomogeneousNetwork:
    masses = network.masses.copy()
    masses[0], masses[-1] = masses[0] + size, masses[-1] - size
    return remade(network, masses=masses)


def removed_neuron(network: HomogeneousNetwork, size: Any) -> HomogeneousNetwork:
    return remade(network, hidden=network.hidden[1:], readout=network.readout[1:], masses=network.masses[1:])


@pytest.mark.parametrize("fault", [flipped_readout, swapped_entries, moved_mass, removed_neuron])
@pytest.mark.parametrize("exact", [True, False])
def test_faults_in_the_network_are_found(addition: Any, fault: Any, exact: bool) -> None:
    """An exact verdict sees a mass of 1e-40 in the wrong place, a floating-point one a mass of 1e-9."""
    network = addition.network if exact else addition.network.to_float()
    faulty = fault(network, fmpq(1, 10**40) if exact else 1e-9)
    verdict = judge(faulty, addition.weights, addition.gamma)
    assert not verdict.accepted
    assert verdict.gap > 0
    assert any(violation.startswith("(P)") for violation in verdict.violations)


def test_a_rotated_direction_is_found_in_floating_point(addition: Any) -> None:
    """Rotations by 1e-5 lose margin to first order at some label; steps of one rounding pass."""
    rng = np.random.default_rng(7)
    hidden, readout = addition.network.weights()
    for size, accepted in ((1e-5, False), (EPS / 8, True)):
        turned = HomogeneousNetwork.from_weights(
            hidden + size * rng.standard_normal(hidden.shape), readout + size * rng.standard_normal(readout.shape), 2
        )
        assert judge(turned, addition.weights, addition.gamma).accepted == accepted


def test_tau_off_the_margin_breaks_condition_c1() -> None:
    """The 1-dimensional representation of S_3 alone: rotations are off its margin, and tau weighs them."""
    certificate = certify_real_type(symmetric(3))
    network = certificate.network
    sign_only = [i for i in range(network.width) if len({abs(float(x)) for x in network.readout[i]}) == 1]
    assert 0 < len(sign_only) < network.width
    masses = network.masses * 0
    masses[sign_only] = network.masses[sign_only]
    verdict = judge(remade(network, masses=masses), certificate.weights, certificate.gamma)
    named = [violation.split()[0] for violation in verdict.violations]
    assert named == ["(C.1)", "(P)"]
    task = certificate.weights.task
    logits = remade(network, masses=masses).to_float().raw(task.inputs)
    margins = logits[np.arange(len(logits)), task.labels][:, None] - logits
    smallest = margins[np.arange(6) != np.array(task.labels)[:, None]].min()
    weighted = certificate.weights.tau.astype(float) > 0
    (x, c), *others = np.argwhere(weighted & (margins > smallest + 1e-9))
    assert others
    assert verdict.violations[0].startswith(f"(C.1) tau gives weight to label {c} at point {x},")


def test_a_smaller_bound_is_unmasked(addition: Any) -> None:
    for network in (addition.network, addition.network.to_float()):
        verdict = judge(network, addition.weights, addition.gamma * fmpq(999999, 1000000))
        assert [violation.split()[0] for violation in verdict.violations] == ["(D)"]


def test_a_claim_below_the_rounding_error_is_not_granted() -> None:
    """Two neurons that cancel have margin 0, which no bound of 1e-20 may certify."""
    cancelling = HomogeneousNetwork(
        np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([0.5, 0.5]), 1, 2.0
    )
    weights = only_wrong_label(Task("toy", np.eye(2, dtype=int), np.array([0, 1]), 2))
    verdict = judge(cancelling, weights, rational(fmpq(1, 10**20)))
    assert verdict.primal == 0
    assert verdict.violations == ("(P) the rounding error exceeds the bound itself: use exact arithmetic",)


def test_what_cannot_be_judged_is_refused(addition: Any) -> None:
    network, weights, gamma = addition.network, addition.weights, addition.gamma
    balls = {
        name: np.array([arb(float(x)) for x in getattr(network, name).flat], dtype=object).reshape(
            getattr(network, name).shape
        )
        for name in ("hidden", "readout")
    }
    ball_network = HomogeneousNetwork(
        balls["hidden"], balls["readout"], network.masses * fmpq(0), 2, network.norm_squared
    )
    refused: list[tuple[HomogeneousNetwork, ClassWeights, Any, str]] = [
        (ball_network, weights, gamma, "network of balls"),
        (network, weights, float(gamma), "needs an exact bound"),
        (network, weights, rational(0), "must be positive"),
        (network, weights, -gamma, "must be positive"),
        (remade(network, masses=network.masses * 0), weights, gamma, "total mass 0"),
        (network, only_wrong_label(parity_task(10, (0,))), gamma, "needs logits of shape"),
    ]
    for candidate, given, bound, message in refused:
        with pytest.raises(ValueError, match=message):
            judge(candidate, given, bound)


# --- The rounding bound -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_rounding_bound_covers_the_true_normalised_margin(seed: int) -> None:
    """The stored floats, evaluated exactly and normalised by their true norms in ball arithmetic, agree."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 6)), int(rng.integers(1, 30))
    scale = 10.0 ** rng.integers(-3, 4, size=(m, 1))
    network = HomogeneousNetwork.from_weights(
        scale * rng.standard_normal((m, 2 * n)), scale * rng.standard_normal((m, n)), 2
    )
    task = group_task(cyclic(n))
    tau = np.array([0.0] + [1.0 / (n - 1)] * (n - 1))
    verdict = judge(network, class_function_weights(cyclic(n), tau), sqrt_rational(2))

    def exactly(array: np.ndarray) -> np.ndarray:
        return np.array([fmpq(*x.as_integer_ratio()) for x in array.ravel().tolist()], dtype=object).reshape(
            array.shape
        )

    hidden, readout, masses = exactly(network.hidden), exactly(network.readout), exactly(network.masses)
    logits = ((task.inputs @ hidden.T) ** 2) @ (masses[:, None] * readout)
    smallest = min(
        logits[x, label] - logits[x, other]
        for x, label in enumerate(task.labels)
        for other in range(n)
        if other != label
    )
    norms = (hidden * hidden).sum(axis=1) + (readout * readout).sum(axis=1)
    total = sum((arb(mass) * arb(norm) ** arb("1.5") for mass, norm in zip(masses, norms, strict=True)), start=arb(0))
    truth = arb(smallest) / total
    assert abs(truth - arb(verdict.primal)) <= arb(verdict.rounding)
    assert verdict.rounding < 1e-11


# --- The tolerances, each against its formula -----------------------------------------------------------------------


def test_rounding_of_a_margin_is_its_formula() -> None:
    """m = 7 neurons, k = 2, D = 6, L = 3, homogeneous of degree 3: 2 (2 (7 + 12 + 6 + 4) + 3 11) eps times the size."""
    ones = np.ones((7, 6)), np.ones((7, 3)), np.full(7, 1 / 7)
    network = HomogeneousNetwork(*ones, 2, 9.0)
    assert rounding_of_margin(network, 1.0) == 182 * 2.0**-52
    assert rounding_of_margin(network, 10.0) == 1820 * 2.0**-52


def test_margins_within_twice_the_rounding_error_count_as_equal() -> None:
    margins = np.array([1.0, 1.0 + 1.9e-6, 1.0 + 2.1e-6, 2.0])
    assert pair._close(margins, 1.0, 1e-6).tolist() == [True, True, False, False]


@pytest.mark.parametrize(("halves", "accepted"), [(-9, False), (-7, True), (0, True), (8, True), (10, False)])
def test_a_rounded_bound_is_off_by_at_most_four_units(halves: int, accepted: bool, monkeypatch: Any) -> None:
    """With a network that is evaluated without error only the rounding of the bound itself is granted."""
    exact = certify_cyclic(3)
    monkeypatch.setattr(pair, "_unit_and_rounding", lambda *_: (1.0, 0.0))
    monkeypatch.setattr(pair, "_minimum", lambda _: 1.0)
    monkeypatch.setattr(pair, "_slackness_violations", lambda *_: [])
    bound = rational(1 + fmpq(halves, 2**53))  # a float
    verdict = judge(exact.network.to_float(), exact.weights, bound)
    assert verdict.accepted == accepted
    if not accepted:
        assert verdict.violations[0].startswith("(P)" if halves > 0 else "(D)")
