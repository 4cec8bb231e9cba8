"""The conjecture after theorem C.16: under-sparse networks learn the parity, all layers trained (end to end).

Proof: proofs/under-sparse-training.md. Gradients are compared with sums over the cube; the whole training runs on
samples of the size that the theorem states, exactly until the output weights are trained.
"""

from __future__ import annotations

from itertools import combinations, product
from math import prod

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.two_layer import TwoLayerNetwork
from lemmata.constructions.parity.under_sparse import UnderSparseStart, bias_kinks, draw_under_sparse
from lemmata.constructions.parity.under_sparse_training import (
    batch_gradients,
    pattern_features,
    train_first_layer,
    training_schedule,
    truncated_step,
)
from lemmata.numerics.learning.second_layer import falling_rate_bound, falling_rate_descent
from lemmata.numerics.parity.sparse_neurons import enumerated_gradient, under_sparse_neuron, under_sparse_values
from lemmata.numerics.parity.under_sparse_sizes import good_share, slope_gradient, training_sizes
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.plugin import Effort

CONJECTURE = "pareto-frontiers:conjecture-end-to-end"
HUNDREDTH, HALF = fmpq(1, 100), fmpq(1, 2)


# ---- gradients


@check(
    CONJECTURE,
    grade="exact",
    target="printed",
    cases="(n, k, s) = (10, 4, 2), (11, 4, 2): all sets of ones; (18, 6, 2), (16, 6, 4): one for each number in S",
)
@proof_steps("under-sparse-training.md: 1")
@pytest.mark.parametrize(("n", "k", "s"), [(10, 4, 2), (11, 4, 2), (18, 6, 2), (16, 6, 4)])
def test_neurons_with_ones_outside_see_less(n: int, k: int, s: int) -> None:
    """Their largest entry is |xi_irr|, at most a quarter of what a good neuron sees on S \\ S'."""
    S, values = tuple(range(k)), under_sparse_values(n, k, s)
    sets = list(combinations(range(n), s)) if k == 4 else [(*range(t), *range(n - s + t, n)) for t in range(s + 1)]
    largest = {True: fmpq(0), False: fmpq(0)}
    for ones in sets:
        gradient = enumerated_gradient(under_sparse_neuron(n, ones, fmpq(1, 4 * n)), S)
        good = set(ones) <= set(S)
        largest[good] = max(largest[good], *(abs(entry) for entry in gradient))
    assert largest[True] == abs(values.relevant) >= 4 * abs(values.irrelevant)
    assert largest[False] == abs(values.irrelevant) > 0


@check(CONJECTURE, grade="exact", target="printed", cases="k = 2, 4, 6: all states, with one input outside of S")
@proof_steps("under-sparse-training.md: 3, 4")
@pytest.mark.parametrize("k", [2, 4, 6])
def test_the_gradient_of_a_state_points_along_it(k: int) -> None:
    """Sums over 2^(k+1) inputs: a_j G_theta on S and 0 outside, for every a with product 1; none is below 2^-k."""
    x = sign_inputs(k + 1)
    y = x[:, :k].prod(axis=1)
    for a in product((1, -1), repeat=k):
        if prod(a) == 1:
            for theta in bias_kinks(k):
                active = x[:, :k] @ np.array(a) > theta
                gradient = [fmpq(int(total), 2 ** (k + 1)) for total in (active * y) @ x]
                assert gradient == [sign * slope_gradient(k, theta) for sign in a] + [0]
    for degree in range(2, 42, 2):
        sizes = {theta: abs(slope_gradient(degree, theta)) for theta in bias_kinks(degree)}
        assert min(sizes.values()) == fmpq(1, 2**degree)
        assert all(fmpq(abs(theta), 2**degree * (degree - 1)) <= size <= HALF for theta, size in sizes.items())
        assert slope_gradient(degree, 1) == slope_gradient(degree, -1)


# ---- the first layer


def _pairs(n: int, k: int, sets: list[list[int]], epsilon: fmpq) -> UnderSparseStart:
    """Each set of ones with all kinks and both signs."""
    rows = [(ones, level, sign) for ones in sets for level in range(k) for sign in (1, -1)]
    ones, levels, signs = zip(*rows, strict=True)
    return UnderSparseStart(n, k, np.array(ones), np.array(levels), np.array(signs), epsilon)


def _is_state(network: TwoLayerNetwork, x: np.ndarray, place: int, a: np.ndarray, theta: int) -> bool:
    """Whether a neuron is active exactly where <a, x> > theta."""
    before = x @ np.array([int(10**12 * w) for w in network.hidden[place] * 10**6])
    offset = int(10**12 * (network.bias[place] * 10**6))
    return bool(((before + offset > 0) == (x @ a > theta)).all())


@check(
    CONJECTURE,
    grade="exact",
    target="printed",
    cases="(n, k, s) = (7, 2, 0), (10, 4, 2), (11, 4, 2), (16, 6, 4): all kinks and signs, errors of size tau in five "
    "patterns (k = 6: one pattern, at most one of the ones outside)",
)
@proof_steps("under-sparse-training.md: 2, 5, 6, 7")
@pytest.mark.parametrize(("n", "k", "s"), [(7, 2, 0), (10, 4, 2), (11, 4, 2), (16, 6, 4)])
def test_errors_within_the_tolerances_change_no_state(n: int, k: int, s: int) -> None:
    """Each of the five steps, with gradients as bad as allowed, makes the state that the proof says, bad neurons 0."""
    sizes, S, x = training_sizes(n, k, s, HALF, HUNDREDTH), list(range(k)), sign_inputs(n)
    sets = [[*range(t), *range(n - s + t, n)] for t in range(s - 1 if k == 6 else 0, s + 1)]
    start = _pairs(n, k, sets, sizes.epsilon)
    kappa, whole = sizes.epsilon / (2 * k), np.ones(len(x), dtype=np.int64)
    sign = 1 if under_sparse_values(n, k, s).relevant > 0 else -1
    kinks, rng = np.tile(np.array(bias_kinks(k))[start.levels], 2), np.random.default_rng([n, k, s])
    good = np.tile([set(ones) <= set(S) for ones in start.ones.tolist()], 2)
    ones = np.zeros((len(kinks), n), dtype=np.int64)
    for place, row in enumerate([*start.ones.tolist(), *start.ones.tolist()]):
        ones[place, row] = 1
    inside = np.zeros(n, dtype=np.int64)
    inside[S] = 1
    for pattern in range(1 if k == 6 else 5):
        network = start.network()
        outer = np.array([int(u) for u in network.readout])
        # the direction a: 1_S, or 1_S' - 1_(S \ S')
        a = np.where((outer == sign)[:, None], inside, 2 * ones - inside)
        for number, step in enumerate(training_schedule(n, k, s, sizes.epsilon)):
            gradient = batch_gradients(network, x, whole, S)
            error = np.array([(1, 1), (-1, 1), (1, -1), (-1, -1), (0, 0)][pattern])
            away = np.where(inside, error[0], error[1]) * np.where([g >= 0 for g in gradient.ravel()], 1, -1).reshape(
                gradient.shape
            )
            if pattern == 4:
                away = rng.choice([-1, 1], gradient.shape)
            tolerance = sizes.later_tolerance if number else sizes.first_tolerance
            network = truncated_step(network, gradient + away.astype(object) * tolerance, step)
            signs = np.array([1 if slope_gradient(k, int(theta)) > 0 else -1 for theta in kinks])
            base = 1 if slope_gradient(k, 1) > 0 else -1
            factor = [np.ones_like(outer), outer * signs, base * signs, outer * base, np.ones_like(outer)][number]
            level = kinks if number in (0, 2, 4) else np.sign(kinks)
            for place in np.flatnonzero(good):
                assert _is_state(network, x, place, factor[place] * a[place], level[place])
            if number:
                assert not network.hidden[~good].any()
                assert not network.hidden[:, k:].any()
            if number in (2, 4):
                units = network.hidden[good][:, :k] / kappa * (factor[:, None] * a)[good][:, :k]
                assert max(abs(unit - 1) for unit in units.ravel()) <= fmpq(k - 1, 4 * k**4)
            assert (
                all(
                    w == kappa * (1 if one else sizes.epsilon)
                    for w, one in zip(network.hidden[~good].ravel(), ones[~good].ravel(), strict=True)
                )
                or number
            )


# ---- the whole training


def _read_out(network: TwoLayerNetwork, S: list[int], sign: int, kappa: fmpq) -> np.ndarray:
    """Twice the read-out of step 10, over kappa: the weights of a neuron for each kink, and the output bias last."""
    found = np.full(network.width + 1, fmpq(0), dtype=object)
    signs = np.array([int(u) for u in network.readout])
    for level, theta in enumerate(bias_kinks(len(S))):
        near = np.array([all(2 * abs(w - kappa) < kappa for w in row) for row in network.hidden[:, S]])
        [place, *_] = np.flatnonzero(near & (network.bias == -kappa * theta) & (signs == sign))
        found[place] = fmpq((-1) ** (level + 1) * 4 * (2 * level + 1))
    found[-1] = fmpq(2)
    return found


@check(
    CONJECTURE,
    grade="sampled",
    target="printed",
    supporting=True,
    cases="the sizes of the theorem, delta = 1/100, one sample each: (n, k, s) = (7, 2, 0), l = 1/5, to the end; "
    "(10, 4, 2), (12, 4, 2), l = 1/2, the output weights at full effort "
    "(at s = 0 no neuron is bad); 1 seed, 5 at full effort; all m are those of tau_2",
)
@proof_steps("under-sparse-training.md: 8, 9, 10, 11, 12")
@pytest.mark.parametrize(("n", "k", "s", "loss"), [(7, 2, 0, fmpq(1, 5)), (10, 4, 2, HALF), (12, 4, 2, HALF)])
def test_the_whole_network_learns_at_the_sizes_of_the_theorem(
    n: int, k: int, s: int, loss: fmpq, effort: Effort
) -> None:
    """What the first layer becomes, the read-out without loss and its norm, the norm of the features; the loss at T."""
    sizes, x = training_sizes(n, k, s, loss, HUNDREDTH), sign_inputs(n)
    kappa, patterns = sizes.epsilon / (2 * k), np.array(list(product((1, -1), repeat=k)))
    for seed in range(effort.pick(quick=1, full=5)):
        rng = np.random.default_rng([seed, n, k, s])
        S = sorted(rng.permutation(n)[:k].tolist())
        start = draw_under_sparse(n, k, s, sizes.epsilon, sizes.width, rng)
        counts = rng.multinomial(sizes.samples, np.full(2**n, 0.5**n))
        first, *_, last = train_first_layer(start.network(), x, counts, S, training_schedule(n, k, s, sizes.epsilon))
        bad = np.tile([not set(ones) <= set(S) for ones in start.ones.tolist()], 2)
        ones = np.full((sizes.width, n), sizes.epsilon * kappa, dtype=object)
        np.put_along_axis(ones, np.concatenate([start.ones, start.ones]), kappa, axis=1)
        assert (first.hidden[bad] == ones[bad]).all()
        assert not last.hidden[bad].any()
        assert s == 0 or bad.sum() > sizes.width / 2
        sign = 1 if under_sparse_values(n, k, s).relevant > 0 else -1
        best = _read_out(last, S, sign, kappa)
        features, labels = pattern_features(last, S, kappa), patterns.prod(axis=1)
        used = np.flatnonzero(best)
        values = np.array([float(v) for v in best[used]])
        margins = labels * (features[:, used] @ values)
        assert margins.min() >= 1.5  # a read-out within 1/4 of the parity, twice
        assert margins.min() < 2
        bound, slope = 4 * (1 + fmpq(4 * k * (4 * k**2 - 1), 3)), 1 + 4 * k**2 * sizes.width
        assert sum(v * v for v in best) == bound
        assert slope / 40 < (features**2).sum(axis=1).max() <= slope
        assert sizes.steps >= 4 * bound * slope / loss**2
        assert falling_rate_bound(bound, slope, sizes.rate, sizes.steps) <= loss / 2
        if k == 2 or effort.name == "full":
            codes = (x[:, S] < 0) @ (1 << np.arange(k)[::-1])
            shares = np.bincount(codes, weights=counts, minlength=2**k) / sizes.samples
            readout = falling_rate_descent(features, labels, shares, float(sizes.rate), sizes.steps)
            losses = np.maximum(1 - labels * (features @ readout), 0)
            assert losses.mean() <= float(loss)
            assert loss >= fmpq(1, 2**k) or (np.sign(features @ readout) == labels).all()


@check(CONJECTURE, grade="sampled", target="printed", supporting=True, cases="(n, k, s) = (10, 4, 2), one sample")
def test_each_part_of_the_schedule_is_needed() -> None:
    """One round leaves other directions, a larger threshold nothing, and too large a start margins above 1."""
    n, k, s = 10, 4, 2
    sizes, x = training_sizes(n, k, s, HALF, HUNDREDTH), sign_inputs(n)
    rng = np.random.default_rng(5)
    S = [1, 4, 5, 8]
    start = draw_under_sparse(n, k, s, sizes.epsilon, sizes.width, rng)
    counts = rng.multinomial(sizes.samples, np.full(2**n, 0.5**n))
    schedule = training_schedule(n, k, s, sizes.epsilon)
    networks = train_first_layer(start.network(), x, counts, S, schedule)
    kappa = sizes.epsilon / (2 * k)

    def upright(network: TwoLayerNetwork) -> set[int]:
        """The kinks of neurons kappa 1_S."""
        near = [all(2 * abs(w - kappa) < kappa for w in row) for row in network.hidden[:, S]]
        return {int(-b / kappa) for b, found in zip(network.bias, near, strict=True) if found}

    assert upright(networks[4]) == {-3, -1, 1, 3}
    assert upright(networks[3]) == set()
    first = 1 if slope_gradient(k, 1) > 0 else -1
    assert (
        upright(networks[2])
        == {theta for theta in (-3, -1, 1, 3) if first * slope_gradient(k, theta) > 0}
        != set(bias_kinks(k))
    )
    blind = train_first_layer(start.network(), x, counts, S, [schedule[0], *(_raised(schedule[1], 3),)])[-1]
    assert not blind.hidden.any()
    large = UnderSparseStart(n, k, start.ones, start.levels, start.signs, fmpq(1, 9))
    with pytest.raises(ValueError, match="take a smaller epsilon"):
        train_first_layer(large.network(), x, counts, S, training_schedule(n, k, s, fmpq(1, 9)))


def _raised(step, factor: int):
    return type(step)(step.threshold * factor, step.rate, step.decay)


# ---- the sizes


@check(
    CONJECTURE,
    grade="enclosed",
    target="printed",
    cases="(k, s) = (2, 0), (4, 0), (4, 2), (6, 2), (6, 4), (8, 4); n to 10^4: the four chances and the orders",
)
@proof_steps("under-sparse-training.md: 9, 10, 12, 13")
@pytest.mark.parametrize(("k", "s"), [(2, 0), (4, 0), (4, 2), (6, 2), (6, 4), (8, 4)])
def test_the_chances_add_up_and_the_orders_are_those_of_one_step(k: int, s: int) -> None:
    quotients = []
    for n in (41, 100, 1001, 10**4):
        sizes, part = training_sizes(n, k, s, HALF, HUNDREDTH), HUNDREDTH / 4
        p, half, m = good_share(n, k, s) / k, sizes.width // 2, sizes.samples
        chances = [
            k * (half * (-arb(p)).log1p()).exp(),
            n * sizes.width * (-m * arb(sizes.first_tolerance) ** 2 / 2).exp(),
            8 * n * sizes.width * (-m * arb(sizes.later_tolerance) ** 2 / 2).exp(),
        ]
        assert all(chance <= part * fmpq(1000001, 1000000) for chance in chances)
        assert max(chances[1:], key=lambda one: float(one.mid())) > part / 2
        assert 2**k * (-m * arb(fmpq(1, 2 ** (k + 3)))).exp() <= part
        assert half * sizes.epsilon / (2 * k) * k**2 * 2**k <= HALF
        assert sizes.epsilon * (n - s) <= fmpq(1, 4)
        first = 2 / sizes.first_tolerance**2 * (4 * n * sizes.width / arb(HUNDREDTH)).log()
        quotients.append(float((first / arb(n) ** (k - s - 1) / arb(n).log()).mid()))
        assert sizes.width <= 2 + 2 * k * fmpq(n, k - s + 1) ** s * arb(400 * k).log()
        assert m >= first
    assert quotients[-1] < 4 * quotients[0]
    sizes = training_sizes(86, 18, 0, HALF, HUNDREDTH)  # n r < 2^(k-3)
    assert 86 * sizes.width < 2**15
    assert 2**18 * (-sizes.samples * arb(fmpq(1, 2**21))).exp() <= HUNDREDTH / 4
    with pytest.raises(ValueError, match=f"n >= 2k \\+ s = {2 * k + s} inputs"):
        training_sizes(2 * k + s - 1, k, s, HALF, HUNDREDTH)
