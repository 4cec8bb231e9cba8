"""Lemmas 7.2 to 7.6: saddle pairs certify max-margin networks and describe all of them.

Everything is decided exactly, over the rationals. The models are finite games (`finite_games`): families of
tasks with two points and two unit neurons that are listed completely, degenerate ones included, and random
larger ones. There a network is a vector of masses of sum at most 1 (b = nu), and gamma*, the set of all
max-margin networks and the set of all q* come from listing vertices, not from the lemmas. Where norms and
homogeneity matter, neurons with rational weights are used.

Lemma 7.6 is repaired: its first bullet, read as printed, fails, and the equality of the weighted wrong
logits, which sections D.6.3 and D.9.1 use, is added as (d).
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.saddle.groups import certify_cyclic
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.inputs import group_inputs, sign_inputs
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.feature_emergence.finite_games import (
    FiniteGame,
    binary_game,
    binary_games,
    expectation,
    random_games,
    simplex_grid,
    tau_grid,
    ternary_games,
)
from lemmata.theorems.records import Record

STEPS = 4  # distributions and masses on grids are multiples of 1/4
HALF = fmpq(1, 2)

# --- Lemma 7.2 --------------------------------------------------------------------------------------------


@check("feature-emergence:lemma-7.2", grade="exact", target="printed", supporting=True)
@proof_steps("saddle-pairs.md: 2")
@pytest.mark.parametrize("labels", [2, 3])
def test_every_saddle_pair_is_a_max_margin_network(labels: int, effort: Any) -> None:
    """All pairs on a grid that satisfy (7.1) and (7.2) attain gamma*; neither condition alone suffices."""
    if labels == 2:
        games = binary_games(effort.pick(quick=range(-1, 3), full=range(-2, 4)))
    else:
        games = ternary_games(effort.pick(quick=(-1, 2), full=(-1, 0, 2)))
    seen: Counter[str] = Counter()
    for game in games:
        gamma, _ = game.max_margin
        networks = [game.margins(masses) for masses in simplex_grid(2, STEPS, full=False)]
        for q in simplex_grid(2, STEPS, full=True):
            largest = game.largest_expected_margin(q)
            assert gamma <= largest  # max-min inequality
            for g in networks:
                expected = expectation(q, g)
                assert min(g) <= expected <= largest
                assert min(g) <= gamma
                q_minimises, network_maximises = expected == min(g), expected == largest  # (7.1), (7.2)
                if q_minimises and network_maximises:
                    assert min(g) == gamma == expected
                    seen["saddle, gamma > 0" if gamma > 0 else "saddle, gamma = 0"] += 1
                elif min(g) < gamma:
                    seen["only (7.1)"] += q_minimises
                    seen["only (7.2)"] += network_maximises
    assert all(seen[case] for case in ("saddle, gamma > 0", "saddle, gamma = 0", "only (7.1)", "only (7.2)")), seen


@check("feature-emergence:lemma-7.2", grade="exact", target="printed", supporting=True)
@given(game=random_games())
def test_a_saddle_pair_exists_in_every_finite_game(game: FiniteGame) -> None:
    """The minimax theorem: the enumerated max-margin networks and hardest distributions are saddle pairs."""
    gamma, networks = game.max_margin
    value, hardest = game.hardest
    assert gamma == value
    for masses, Q in product(networks, hardest):
        q, tau = game.split(Q)
        g = game.margins(masses)
        assert expectation(q, g) == min(g) == gamma
        assert expectation(masses, game.neuron_values(q, tau)) == gamma


# --- Lemmas 7.3 and 7.5: single neurons and their combination ---------------------------------------------


def assert_maximisers_are_combinations_of_optimal_neurons(
    game: FiniteGame, q: np.ndarray, tau: np.ndarray, seen: Counter[str]
) -> None:
    """Compare the maximisers of E_q g' among the networks of a grid with the networks on optimal neurons."""
    values = game.neuron_values(q, tau)
    largest = max(0, *values)  # the neuron 0 has value 0
    optimal = values == largest
    reached = []
    for masses in simplex_grid(len(values), STEPS, full=False):
        expected = expectation(q, game.weighted_margins(masses, tau))
        assert expected == expectation(masses, values)  # E_q g' = sum mu_i E_q psi'(omega_i)
        reached.append((expected, masses))
    best = max(expected for expected, _ in reached)
    assert best == largest  # the objective is linear, and the grid contains every single neuron and 0
    for expected, masses in reached:
        supported = not (masses[~optimal] != 0).any()
        # For b != nu too: the norms ||omega_i||, hence ||theta||_{a,b} and sum mu_i = sum ||omega_i||^nu, may
        # be kept while all directions become optimal. That gives Gamma sum mu_i: more, unless all were so.
        assert expected <= largest * masses.sum()
        assert (expected == largest * masses.sum()) == supported
        if expected == best:
            assert supported  # single neuron optimisation
        if supported and masses.sum() == 1:
            assert expected == best  # combining neurons
        seen["excluded"] += not supported
        if supported and masses.any():
            seen["maximiser, Gamma > 0" if largest > 0 else "maximiser, Gamma = 0"] += 1


ALL_CASES = ("excluded", "maximiser, Gamma > 0", "maximiser, Gamma = 0")


@check("feature-emergence:lemma-7.3", grade="exact", target="printed", supporting=True)
@proof_steps("saddle-pairs.md: 5")
def test_binary_maximisers_are_combinations_of_optimal_neurons(effort: Any) -> None:
    """Both bullets for all q and networks of a grid; also when no neuron is useful (Gamma = 0)."""
    seen: Counter[str] = Counter()
    for game in binary_games(effort.pick(quick=range(-1, 3), full=range(-2, 4))):
        (tau,) = tau_grid(game, 1)
        for q in simplex_grid(2, STEPS, full=True):
            assert_maximisers_are_combinations_of_optimal_neurons(game, q, tau, seen)
    assert all(seen[case] for case in ALL_CASES), seen


@check("feature-emergence:lemma-7.5", grade="exact", target="printed", supporting=True)
@proof_steps("saddle-pairs.md: 5")
def test_multiclass_maximisers_are_combinations_of_optimal_neurons(effort: Any) -> None:
    """Both bullets for all q, tau and networks of a grid."""
    seen: Counter[str] = Counter()
    for game in ternary_games(effort.pick(quick=(-1, 1), full=(-1, 0, 2))):
        for q in simplex_grid(2, 2, full=True):
            for tau in tau_grid(game, 2 if q[0] == q[1] else 1):
                assert_maximisers_are_combinations_of_optimal_neurons(game, q, tau, seen)
    assert all(seen[case] for case in ALL_CASES), seen


@check("feature-emergence:lemma-7.3", grade="exact", target="printed", supporting=True)
@check("feature-emergence:lemma-7.5", grade="exact", target="printed", supporting=True)
@given(game=random_games(), data=st.data())
def test_random_maximisers_are_combinations_of_optimal_neurons(game: FiniteGame, data: st.DataObject) -> None:
    """The same for random games with up to four neurons, three points and three labels."""
    q = data.draw(st.sampled_from(list(simplex_grid(game.shape[1], 3, full=True))))
    tau = data.draw(st.sampled_from(list(tau_grid(game, 2))))
    assert_maximisers_are_combinations_of_optimal_neurons(game, q, tau, Counter())


@check("feature-emergence:lemma-7.3", grade="exact", target="printed", supporting=True)
def test_without_a_useful_neuron_the_zero_network_is_optimal_too() -> None:
    """A gap in the proof, not in the lemma: its two criteria define the maximisers only if Gamma > 0.

    The second criterion asks for norm 1, but with Gamma = 0 the network 0 is a maximiser.
    """
    game = binary_game(np.array([[1, -1], [-2, 0]]))
    q = np.array([HALF, HALF], dtype=object)
    (tau,) = tau_grid(game, 1)
    assert list(game.neuron_values(q, tau)) == [0, -1]
    zero = np.array([fmpq(0), fmpq(0)], dtype=object)
    assert expectation(q, game.margins(zero)) == 0 == game.largest_expected_margin(q)


def rational_norm(omega: np.ndarray, a: str) -> Any:
    """The L_1 or L_infinity norm, which is rational for a rational vector."""
    sizes = [abs(entry) for entry in omega]
    return sum(sizes, start=fmpq(0)) if a == "1" else max(sizes)


def parity_psi(omega: np.ndarray, points: np.ndarray, k: int) -> np.ndarray:
    """psi(omega, x) = (u . x)^k (w[y] - w[y']) for the parity of all coordinates, from the definition."""
    n = points.shape[1]
    labels = [0 if np.prod(x) == 1 else 1 for x in points]
    return np.array(
        [
            expectation(omega[:n], x.tolist()) ** k * (omega[n + label] - omega[n + 1 - label])
            for x, label in zip(points, labels, strict=True)
        ],
        dtype=object,
    )


@check("feature-emergence:lemma-7.3", grade="exact", target="printed", supporting=True)
@proof_steps("homogeneous-networks.md: 6", "saddle-pairs.md: 4")
@pytest.mark.parametrize("a", ["1", "infinity"])
@given(data=st.data())
def test_directions_decide_for_every_norm(a: str, data: st.DataObject) -> None:
    """E_q g = sum ||omega_i||_a^nu E_q psi(omega_i / ||omega_i||_a), and the best direction for all is best.

    Quadratic neurons with rational weights on the parity of two signs, nu = 3, arbitrary rational q.
    """
    k, n, nu = 2, 2, 3
    points = sign_inputs(n)
    entry = st.builds(fmpq, st.integers(-4, 4), st.integers(1, 3))
    vector = st.lists(entry, min_size=n + 2, max_size=n + 2).map(lambda found: np.array(found, dtype=object))
    omegas = data.draw(st.lists(vector.filter(lambda omega: omega.any()), min_size=1, max_size=4))
    weights = data.draw(st.lists(st.integers(0, 3), min_size=4, max_size=4).filter(any))
    q = np.array([fmpq(weight, sum(weights)) for weight in weights], dtype=object)

    def expected(neurons: list[np.ndarray]) -> list[Any]:
        return [expectation(q, parity_psi(omega, points, k)) for omega in neurons]

    sizes = [rational_norm(omega, a) for omega in omegas]
    units = [omega / size for omega, size in zip(omegas, sizes, strict=True)]
    values = expected(units)
    assert expected(omegas) == [size**nu * value for size, value in zip(sizes, values, strict=True)]
    best = max(values)
    improved = [size * units[values.index(best)] for size in sizes]
    assert [rational_norm(omega, a) for omega in improved] == sizes  # so ||theta||_{a,b} is kept for every b
    assert sum(expected(improved)) == best * sum(size**nu for size in sizes)
    assert (sum(expected(improved)) > sum(expected(omegas))) == any(value < best for value in values)


@check("feature-emergence:lemma-7.3", grade="exact", target="printed", supporting=True)
def test_a_continuum_of_optimal_neurons() -> None:
    """y = x in {1, -1}, f = sum u x w, norm L_{1,2}, nu = 2: all optimal neurons, and all their combinations.

    psi = u (w_0 - w_1) at both points, at most |u| (|w_0| + |w_1|) <= 1/4, with equality iff |u| = 1/2 = |w_0
    - w_1| = |w_0| + |w_1| and the signs match. Checked on all neurons that are multiples of 1/8.
    """
    points, steps = sign_inputs(1), 8
    values = {}
    for entries in product(range(-steps, steps + 1), repeat=3):
        if sum(map(abs, entries)) <= steps:
            omega = np.array([fmpq(entry, steps) for entry in entries], dtype=object)
            (values[entries],) = set(parity_psi(omega, points, 1))
    optimal = {
        (u, first, second)
        for u, first, second in values
        if u * (first - second) == steps**2 // 4 and first * second <= 0 and 2 * abs(u) == steps
    }
    assert max(values.values()) == fmpq(1, 4)
    assert {entries for entries, value in values.items() if value == fmpq(1, 4)} == optimal
    assert len(optimal) == 2 * (steps // 2 + 1)
    # lambda = (3/5, 4/5) has L_2 norm 1: every such combination of two optimal neurons attains the maximum.
    for left, right in product(optimal, repeat=2):
        omegas = [
            np.array([fmpq(scale * entry, 5 * steps) for entry in entries], dtype=object)
            for scale, entries in ((3, left), (4, right))
        ]
        assert sum(rational_norm(omega, "1") ** 2 for omega in omegas) == 1
        assert sum(parity_psi(omega, points, 1)[0] for omega in omegas) == fmpq(1, 4)


# --- Lemma 7.4 --------------------------------------------------------------------------------------------


@check("feature-emergence:lemma-7.4", grade="exact", target="printed", supporting=True)
@proof_steps("saddle-pairs.md: 9")
def test_all_binary_max_margin_networks(effort: Any) -> None:
    """Every max-margin network uses optimal neurons only and has all of supp(q*) on the margin.

    The vertices of the set of max-margin networks suffice: masses on optimal neurons only and linear
    equations for the margins pass to mixtures.
    """
    seen: Counter[str] = Counter()
    for game in binary_games(effort.pick(quick=range(-2, 3), full=range(-3, 4))):
        gamma, networks = game.max_margin
        value, hardest = game.hardest
        assert value == gamma  # so a saddle pair exists
        for Q, masses in product(hardest, networks):
            q, tau = game.split(Q)
            values, g = game.neuron_values(q, tau), game.margins(masses)
            best = max(0, *values)
            assert all(value == best for value, mass in zip(values, masses, strict=True) if mass > 0)
            assert all(margin == gamma for margin, weight in zip(g, q, strict=True) if weight > 0)
            seen["gamma > 0" if gamma > 0 else "gamma = 0"] += 1
            seen["several networks"] += gamma > 0 and len(networks) > 1
            seen["a point off the margin"] += max(g) > gamma > 0
            seen["an excluded neuron"] += gamma > 0 and min(values) < gamma
    assert len(seen) == 5, seen
    assert min(seen.values()) > 0, seen


@check("feature-emergence:lemma-7.4", grade="exact", target="printed", supporting=True)
@given(game=random_games(labels=2))
def test_all_max_margin_networks_of_random_binary_games(game: FiniteGame) -> None:
    """The same for random games with up to four neurons and three points."""
    assert_description_of_all_max_margin_networks(game, Counter())


# --- Lemma 7.6 --------------------------------------------------------------------------------------------


def weighted_labels_attain_the_maximum(game: FiniteGame, masses: np.ndarray, q: np.ndarray, tau: np.ndarray) -> bool:
    """Condition C.1: at every x in supp(q), every label with tau > 0 has the largest wrong logit."""
    outputs = game.outputs(masses)
    return all(
        outputs[x, label] == max(outputs[x, other] for point, other in game.wrong if point == x)
        for x, label in game.wrong
        if q[x] > 0 and tau[x, label] > 0
    )


def assert_description_of_all_max_margin_networks(game: FiniteGame, seen: Counter[str]) -> None:
    """Check (b), (c), (d) of the corrected lemma 7.6 for all max-margin networks and all vertices (q, tau)."""
    gamma, networks = game.max_margin
    for Q in game.hardest[1]:
        q, tau = game.split(Q)
        values = game.neuron_values(q, tau)
        best = max(0, *values)
        for masses in networks:
            g = game.margins(masses)
            assert min(g) == gamma == best
            assert not (masses[values != best] != 0).any()  # (b)
            assert all(margin == gamma for margin, weight in zip(g, q, strict=True) if weight > 0)  # (c)
            assert weighted_labels_attain_the_maximum(game, masses, q, tau)  # (d)
            seen["gamma > 0" if gamma > 0 else "gamma = 0"] += 1
            seen["several wrong labels"] += gamma > 0 and ((tau > 0).sum(axis=1) > 1).any()
        for masses in simplex_grid(len(values), 2, full=False):
            # (b) as a number: a suboptimal neuron costs at least its mass times its deficit.
            deficit = expectation(masses, gamma - values) + gamma * (1 - masses.sum())
            margin = min(game.margins(masses))
            assert margin <= gamma - deficit
            seen["deficit attained"] += margin == gamma - deficit < gamma
            seen["deficit"] += deficit > 0


@check("feature-emergence:lemma-7.6", grade="exact", target="corrected", supporting=True)
@proof_steps("saddle-pairs.md: 7")
def test_premises_imply_maximum_margin(effort: Any) -> None:
    """(a): all (theta, q, tau) on a grid that satisfy (7.1), (7.3) and C.1 attain gamma*; C.1 is needed."""
    seen: Counter[str] = Counter()
    for game in ternary_games(effort.pick(quick=(-1, 2), full=(-1, 0, 2))):
        gamma, _ = game.max_margin
        networks = [(masses, game.margins(masses)) for masses in simplex_grid(2, 2, full=False)]
        for q in simplex_grid(2, 2, full=True):
            for tau in tau_grid(game, 2 if q[0] == q[1] else 1):
                values = game.neuron_values(q, tau)
                for masses, g in networks:
                    expected = expectation(masses, values)
                    assert min(g) <= expectation(q, g) <= expected
                    if expectation(q, g) != min(g) or expected != max(0, *values):  # (7.1), (7.3)
                        continue
                    if weighted_labels_attain_the_maximum(game, masses, q, tau):
                        assert min(g) == gamma == expected
                        seen["premises, gamma > 0"] += gamma > 0
                    else:
                        seen["without C.1 not optimal"] += min(g) < gamma
    assert seen["premises, gamma > 0"]
    assert seen["without C.1 not optimal"]


@check("feature-emergence:lemma-7.6", grade="exact", target="corrected", supporting=True)
@proof_steps("saddle-pairs.md: 8")
def test_all_multiclass_max_margin_networks(effort: Any) -> None:
    """(b), (c), (d) for all max-margin networks of the games with two neurons, two points, three labels."""
    seen: Counter[str] = Counter()
    for game in ternary_games(effort.pick(quick=(-1, 2), full=(-1, 0, 2))):
        assert_description_of_all_max_margin_networks(game, seen)
    assert len(seen) == 5, seen
    assert min(seen.values()) > 0, seen


@check("feature-emergence:lemma-7.6", grade="exact", target="corrected", supporting=True)
@given(game=random_games())
def test_all_max_margin_networks_of_random_games(game: FiniteGame) -> None:
    """The same for random games with up to four neurons, three points and three labels."""
    assert_description_of_all_max_margin_networks(game, Counter())


@check("feature-emergence:lemma-7.6", grade="exact", target="corrected", supporting=True)
@pytest.mark.parametrize(
    ("attribute", "planted"),
    [
        ("max_margin", (fmpq(1), [np.array([fmpq(1, 4), fmpq(3, 4)], dtype=object)])),
        ("max_margin", (fmpq(1), [np.array([fmpq(2, 5), fmpq(2, 5)], dtype=object)])),
        ("max_margin", (fmpq(101, 100), [np.array([HALF, HALF], dtype=object)])),
        ("hardest", (fmpq(1), [np.array([fmpq(1), fmpq(0)], dtype=object)])),
        ("hardest", (fmpq(1), [np.array([fmpq(51, 100), fmpq(49, 100)], dtype=object)])),
    ],
)
def test_planted_networks_and_distributions_are_noticed(attribute: str, planted: Any) -> None:
    """Negative control: masses off balance or too small, a value too large, a distribution off balance."""
    game = binary_game(np.array([[2, 0], [0, 2]]))
    assert_description_of_all_max_margin_networks(game, Counter())
    vars(game)[attribute] = planted
    with pytest.raises(AssertionError):
        assert_description_of_all_max_margin_networks(game, Counter())


@counterexample("feature-emergence:lemma-7.6", grade="exact")
def test_a_saddle_network_does_not_maximise_a_free_point(record: Record) -> None:
    """Two points compete for the norm, each neuron serves one: the saddle has margin 1, each point can get 2."""
    game = binary_game(np.array([[2, 0], [0, 2]]))
    half = np.array([HALF, HALF], dtype=object)
    (tau,) = tau_grid(game, 1)
    assert list(game.neuron_values(half, tau)) == [1, 1]  # (7.3): every network of mass 1 is a maximiser
    assert game.margins(half) == [1, 1]  # (7.1); C.1 is void, there is one wrong label
    for point in range(2):
        alone = np.eye(2, dtype=int)[point] * fmpq(1)
        assert game.margins(alone)[point] == 2
    values = game.neuron_values(half, tau)
    record.hypothesis("the saddle network has norm 1", sum(half), "<=", 1)
    record.hypothesis(
        "(7.3): its expected margin is the largest of a neuron", expectation(half, values), "=", max(values)
    )
    record.hypothesis("(7.1): both points have the least margin", max(game.margins(half)), "=", min(game.margins(half)))
    best = game.margins(np.eye(2, dtype=int)[0] * fmpq(1))[0]
    record.violated("theta* maximises g at the first point", game.margins(half)[0], ">=", best)


@counterexample("feature-emergence:lemma-7.6", grade="exact")
def test_modular_addition_refutes_the_free_point_as_well() -> None:
    """Modulo 3 one neuron has, at the point (0, 0), sqrt(96) times the margin of the certified network.

    The neuron has squared norm 3, reads a = 0 and b = 0 and writes c = 0: (16/27) / (1/162) = 96.
    """
    certificate = certify_cyclic(3)
    assert certificate.accepted
    spike = HomogeneousNetwork(
        np.array([[1, 0, 0, 1, 0, 0]], dtype=object),
        np.array([[1, 0, 0]], dtype=object),
        np.array([1], dtype=object),
        2,
        3,
    )
    output = spike.raw(group_inputs(3)[0])
    assert list(output) == [4, 0, 0]
    assert spike.norm_power == certificate.network.norm_power == 1
    at_the_point = spike.normalised_squared(output[0] - max(output[1:]))
    assert at_the_point == 96 * certificate.gamma_squared.to_fmpq()


# --- Homogeneous neurons with rational weights ------------------------------------------------------------


@st.composite
def rational_networks(draw: st.DrawFn, inputs: int, outputs: int, degree: int) -> HomogeneousNetwork:
    """Up to four neurons, rational unit directions (stereographic projection), rational masses of sum <= 1."""
    m, size = draw(st.integers(1, 4)), inputs + outputs
    directions = []
    for _ in range(m):
        t = [fmpq(draw(st.integers(-3, 3)), 2) for _ in range(size - 1)]
        square = sum((entry * entry for entry in t), start=fmpq(0))
        directions.append([2 * entry / (square + 1) for entry in t] + [(square - 1) / (square + 1)])
    omega = np.array(directions, dtype=object)[:, draw(st.permutations(range(size)))]
    parts = draw(st.lists(st.integers(0, 4), min_size=m + 1, max_size=m + 1).filter(any))
    masses = np.array([fmpq(part, sum(parts)) for part in parts[:m]], dtype=object)
    return HomogeneousNetwork(omega[:, :inputs], omega[:, inputs:], masses, degree, fmpq(1))


@check("feature-emergence:lemma-7.5", grade="exact", target="printed", supporting=True)
@check("feature-emergence:lemma-7.6", grade="exact", target="corrected", supporting=True)
@proof_steps("saddle-pairs.md: 8")
@given(network=rational_networks(6, 3, 2), data=st.data())
def test_chain_for_networks_on_addition_modulo_three(network: HomogeneousNetwork, data: st.DataObject) -> None:
    """min g <= E_q g <= E_q g' = sum mu_i E_q psi'(omega_i) for arbitrary q and tau, on quadratic networks.

    For uniform q and tau every unit neuron, and so every network, is bounded by gamma*, gamma*^2 = 1/162, with
    the deficit that its neurons have.
    """
    points = group_inputs(3)
    labels = np.array([(a + b) % 3 for a, b in product(range(3), repeat=2)])
    squares = (network.hidden @ points.T) ** 2  # (m, 9)
    game = FiniteGame(squares[:, :, None] * network.readout[:, None, :], tuple(labels.tolist()))
    assert (network.raw(points) == game.outputs(network.masses)).all()
    g = game.margins(network.masses)

    weights = data.draw(st.lists(st.integers(0, 3), min_size=9, max_size=9).filter(any))
    q = np.array([fmpq(weight, sum(weights)) for weight in weights], dtype=object)
    parts = data.draw(st.lists(st.integers(0, 2), min_size=9, max_size=9))
    tau = np.full((9, 3), fmpq(0), dtype=object)
    tau[range(9), (labels + 1) % 3] = [fmpq(part, 2) for part in parts]
    tau[range(9), (labels + 2) % 3] = [fmpq(2 - part, 2) for part in parts]
    assert min(g) <= expectation(q, g) <= expectation(network.masses, game.neuron_values(q, tau))

    tau = HALF * (np.arange(3) != labels[:, None])
    values = game.neuron_values(np.array([fmpq(1, 9)] * 9, dtype=object), tau)
    assert all(value <= 0 or value**2 <= fmpq(1, 162) for value in values)
    assert min(g) <= expectation(network.masses, values)
