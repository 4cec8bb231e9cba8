"""The comparator matrix: its rows, rank and norm, what it computes on average, and the null sequence beside the true.

The mean over fresh rows in lemma 5.2 is one integral in balls (`conditional_mean`), compared here with a quadrature
over window, alpha and beta. With it, the mean of what the linearised network computes is known for each network,
attenuation and cross terms included, and a z-test looks at the difference to what its own rows give. The proofs are in
`proofs/linearisation.md` and `proofs/null-sequence.md`.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, fmpq
from scipy.special import ndtr

from lemmata.constructions.recurrent.comparator import ACCURACY, comparator, conditional_mean
from lemmata.constructions.recurrent.concepts import Part, TargetFunction, input_sequence, null_sequence
from lemmata.constructions.recurrent.elman import ElmanNetwork, back, linear_change, random_elman, trace
from lemmata.constructions.recurrent.indicator import bounded_indicator
from lemmata.numerics.recurrent.complexities import complexity, polynomial, smooth_complexity
from lemmata.numerics.recurrent.separation import state_cosines
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.plugin import Effort
from lemmata.theorems.rnn_sgd.tokens import unit_tokens
from lemmata.theorems.rnn_sgd.written_out import bounded_function, bounded_supremum, of_part, part_function

MATRIX = "rnn-sgd:definition-5.3"
NORM = "rnn-sgd:claim-G.1"
FIT = "rnn-sgd:lemma-5.2"
EXISTENCE = "rnn-sgd:lemma-5.4"
NULL = "rnn-sgd:definition-null-sequence"
POSITIONS = "rnn-sgd:fact-position-adaptivity"
AXIS = np.array([1.0, 0.0, 0.0, 0.0])
LENGTH = 5


def _target() -> TargetFunction:
    """Five parts at once: z, -z, z/2, z and z^2, for five pairs of positions and outputs."""
    listed = (
        (2, 4, 0, (0, 1)),
        (3, 4, 1, (0, -1)),
        (2, 5, 1, (0, fmpq(1, 2))),
        (4, 5, 0, (0, 1)),
        (2, 3, 0, (0, 0, 1)),
    )
    return TargetFunction(LENGTH, 2, tuple(Part(i, j, s, c, AXIS) for i, j, s, c in listed))  # pyright: ignore[reportArgumentType]


@check(
    MATRIX,
    grade="numeric",
    target="printed",
    cases="m = 30, L = 5, d = 2, five parts, eps_x = 0.3, eps_c = 1 (seeds 0 to 4)",
)
@proof_steps("linearisation.md: 7")
@pytest.mark.parametrize("seed", range(5))
def test_the_matrix_is_that_of_the_definition(seed: int) -> None:
    """Row by row, with Back as a product of matrices and the bounded H written out; rank L - 2; f from both forms.

    A sixth part has two powers, z/3 - z^2/2.
    """
    rng, m, epsilon, window = np.random.default_rng(seed), 30, 0.3, 1.0
    network = random_elman(m, 5, 2, rng)
    mixed = Part(3, 5, 0, (fmpq(0), fmpq(1, 3), fmpq(-1, 2)), AXIS)
    target = TargetFunction(LENGTH, 2, (*_target().parts, mixed))
    found = comparator(network, target, epsilon, window)
    null = np.zeros((LENGTH, 5))
    null[:, 4] = [1] + [epsilon] * (LENGTH - 1)
    states, patterns = [np.zeros(m)], []
    for x in null:
        g = network.state @ states[-1] + network.token @ x
        patterns.append(np.diag((g >= 0).astype(float)))
        states.append(np.maximum(g, 0))
    expected, used = np.zeros((m, m)), 0
    for part in target.parts:
        matrix = network.readout
        for place in range(part.target, part.source, -1):
            matrix = matrix @ patterns[place - 1] @ network.state
        row, h = matrix[part.output], states[part.source - 1]
        normaliser = (row @ row) * (h @ h) / m
        for k in range(m):
            if abs(network.state[k] @ h) <= window / math.sqrt(m):
                a = math.sqrt(m / 2) * network.token[k, :4]
                value = part_function(part, a[:1], a[3:])[0] / math.erf(window / (2 * np.linalg.norm(h)))
                expected[k] += row[k] * value / (m * normaliser) * h
                used += 1
    assert used > 20
    dense = found.dense()
    assert np.abs(dense - expected).max() < 1e-10 * np.abs(expected).max()
    assert np.linalg.matrix_rank(dense) == LENGTH - 2
    assert abs(found.frobenius_norm() - np.linalg.norm(dense)) < 1e-9
    run = trace(network, input_sequence(unit_tokens(rng), epsilon))
    change = found.change(network, run)
    assert np.abs(change - linear_change(network, run, dense)).max() < 1e-9 * np.abs(change).max()


@check(
    NORM,
    grade="numeric",
    target="printed",
    supporting=True,
    cases="m = 100, 400 (full: 1600 too), 5 networks each (seeds 0 to 4), eps_x = 0.3, eps_c = 0.3",
)
@proof_steps("linearisation.md: 8")
def test_the_norm_is_within_its_bound(effort: Effort) -> None:
    """The explicit bound on every network, which sqrt(m) |W#|_F stays below; and sqrt(m) |W#|_F hardly moves with m."""
    scaled = {}
    for m in effort.pick(quick=(100, 400), full=(100, 400, 1600)):
        norms = []
        for seed in range(5):
            network = random_elman(m, 5, 2, np.random.default_rng(seed))
            found = comparator(network, _target(), 0.3, 0.3)
            assert np.linalg.norm(found.dense()) <= found.norm_bound()
            for weight in found.weights:
                assert 0.2 < weight.normaliser * 2 < 4  # of the order 1/d
                assert 0 < weight.largest <= weight.supremum
            norms.append(found.frobenius_norm() * math.sqrt(m))
        scaled[m] = np.mean(norms)
    assert max(scaled.values()) < 1.6 * min(scaled.values())  # without 1/sqrt m it would double at each step


@check(
    MATRIX,
    FIT,
    grade="numeric",
    target="printed",
    supporting=True,
    cases="a network of width 300, L = 5, six parts, eps_x = 0.1, eps_e = 5e-7 and the eps_c that is printed",
)
@check(
    FIT,
    grade="numeric",
    target="corrected",
    cases="a network of width 300, L = 5, six parts, eps_x = 0.1, eps_e = 5e-7 and the eps_c that is printed",
)
def test_the_function_is_within_its_range() -> None:
    """eps_e < 1/(S C_s(Phi, S)), S = sqrt(2 L - 3); |H| <= 4.1 sqrt(pi) |hz| C'^2/(eps_e eps_x), C' = S C_eps(Phi, S).

    For these targets sup|H| is also within the printed 4 C'^2/(eps_e eps_x) with C' = C_eps(Phi, sqrt L). It is not 0,
    and its bound is that of the function written out, over the probability of the window.
    """
    network, accuracy, epsilon = random_elman(300, 5, 2, np.random.default_rng(0)), fmpq(1, 2 * 10**6), fmpq(1, 10)
    states = trace(network, null_sequence(LENGTH, 4, 0.1)).states
    noisy = Part(4, 5, 1, (0, 0, 1), AXIS)  # a square under noise of variance 4
    target = TargetFunction(LENGTH, 2, (*_target().parts, noisy))
    for corrected in (True, False):
        radius = arb(2 * LENGTH - 3 if corrected else LENGTH).sqrt()
        sizes = []
        for part in target.parts:
            phi = polynomial([*part.coefficients])
            assert arb(accuracy) * radius * smooth_complexity(phi, radius) < 1
            sizes.append(complexity(phi, radius, accuracy) * (radius if corrected else 1))
        size = max(sizes, key=float)
        window = float(arb(accuracy) * arb(epsilon) / (4 * size))
        found = comparator(network, target, 0.1, window, accuracy)
        for weight in found.weights:
            norm = float(np.linalg.norm(states[weight.part.source - 1]))
            written = bounded_supremum(*of_part(weight.part)) / math.erf(window / (2 * norm))
            assert abs(weight.supremum / written - 1) < 1e-9
            factor = arb("4.1") * arb.pi().sqrt() * norm if corrected else arb(4)
            assert 0 < weight.supremum < factor * size**2 / (arb(accuracy) * arb(epsilon))


def _by_quadrature(
    power: int, null: np.ndarray, state: np.ndarray, epsilon: float, t: float, window: float, variance: int
) -> float:
    """The mean of lemma 5.2 for Phi = z or z^2, over u in the window, alpha and beta, with H written out."""
    norm = np.linalg.norm(null)
    c, half = float(state @ null) / norm, window / (math.sqrt(2) * norm)
    rest = max(float(state @ state) - c * c, 0.0) + epsilon**2 * (0.75 - t * t)
    points, weights = np.polynomial.legendre.leggauss(120)
    u_points, u_weights = np.polynomial.legendre.leggauss(24)
    positive = 4.5 * (points + 1)  # the sign of beta jumps at 0
    u = half * u_points[:, None, None]
    alpha, beta = np.meshgrid(9 * points, np.concatenate([positive, -positive]), indexing="ij")
    density = np.exp(-(u * u + alpha**2 + beta**2) / 2) / (2 * math.pi) ** 1.5
    values = (
        ndtr((c * u + epsilon * (t * alpha + beta / 2)) / math.sqrt(rest))
        * density
        * bounded_function(power, 1.0, variance, alpha, beta)
    )
    total = np.einsum("i,j,k,ijk->", half * u_weights, 9 * weights, np.tile(4.5 * weights, 2), values)
    return float(total) / math.erf(half / math.sqrt(2))


@check(
    FIT,
    grade="numeric",
    target="corrected",
    cases="one network of width 300, L = 5 (seed 1), i and i' = 2, 3, 4, eps_x = 0.3, eps_c = 0.2",
)
@proof_steps("initial-geometry.md: 13")
@pytest.mark.parametrize("power", [1, 2])
def test_the_mean_over_fresh_rows(power: int) -> None:
    """`conditional_mean` of the bounded H against the quadrature over three variables, to 1e-8, on and off target.

    i = 2 included.
    """
    rng = np.random.default_rng(1)
    network, x = random_elman(300, 5, 2, rng), unit_tokens(rng)
    run, null = trace(network, input_sequence(x, 0.3)), trace(network, null_sequence(LENGTH, 4, 0.3))
    for i in (2, 3, 4):
        function = bounded_indicator([0] * power + [1], 2 * (i - 2), ACCURACY)
        for other in (2, 3, 4):
            t = float(x[other - 2, 0])
            found = conditional_mean(function, null.states[i - 1], run.states[other - 1], 0.3, t, 0.2)
            wanted = _by_quadrature(power, null.states[i - 1], run.states[other - 1], 0.3, t, 0.2, 2 * (i - 2))
            assert abs(float(found) - wanted) < 1e-8
            assert found.rad() < 1e-8
    assert np.array_equal(run.states[1], null.states[1])  # i = 2 has no noise at all: sigma = 0


@check(
    FIT,
    grade="sampled",
    target="corrected",
    cases="one network of width 1500, L = 6 (seed 2), z and z^2, eps_x = 0.1, 0.01, 0.001, eps_c = eps_x/20",
)
@proof_steps("initial-geometry.md: 15")
@pytest.mark.parametrize("power", [1, 2])
def test_the_error_off_target_is_of_the_order_of_the_input_scale(power: int) -> None:
    """The largest mean off target falls like eps_x for z, like eps_x^3 for z^2, whose H has a factor odd in beta, too.

    It is within sup|H_0| eps_x/s_L, s_L = sqrt(1 - c_(L-1)^2)/2 (step 15); on target the mean is near Phi, and the
    noise levels are near 2 (i - 2).
    """
    rng = np.random.default_rng(2)
    network, x, errors = random_elman(1500, 5, 1, rng), unit_tokens(rng, 6), []
    apart = math.sqrt(1 - float(state_cosines(6)[5]) ** 2) / 2
    for epsilon in (0.1, 0.01, 0.001):
        run, null = trace(network, input_sequence(x, epsilon)), trace(network, null_sequence(6, 4, epsilon))
        largest = 0.0
        for i in (2, 3, 4, 5):
            function = bounded_indicator([0] * power + [1], 2 * (i - 2), ACCURACY)
            h, hz = run.states[i - 1], null.states[i - 1]
            level = float(h @ h - (h @ hz) ** 2 / (hz @ hz)) / epsilon**2
            if epsilon == 0.001:
                assert abs(level - 2 * (i - 2)) <= 8 / math.sqrt(1500) * 2 * (i - 2) + 1e-6
                on = conditional_mean(function, hz, h, epsilon, float(x[i - 2, 0]), 0.05 * epsilon)
                assert abs(float(on) - x[i - 2, 0] ** power) < 0.1
            for other in {2, 3, 4, 5} - {i}:
                off = conditional_mean(
                    function, hz, run.states[other - 1], epsilon, float(x[other - 2, 0]), 0.05 * epsilon
                )
                assert abs(off) < bounded_supremum(power, 1.0, 2 * (i - 2)) * epsilon / apart
                largest = max(largest, abs(float(off)))
        errors.append(largest)
    assert all(0.5 < before / after / 10 ** (2 * power - 1) < 2 for before, after in pairwise(errors))


def _predicted(network: ElmanNetwork, x: np.ndarray, epsilon: float, window: float) -> tuple[np.ndarray, np.ndarray]:
    """f(W#) from the network's own rows, and its mean if every row were fresh, both of shape (L, d)."""
    found = comparator(network, _target(), epsilon, window)
    run, null = trace(network, input_sequence(x, epsilon)), trace(network, null_sequence(LENGTH, 4, epsilon))
    mean = np.zeros((LENGTH, 2))
    for weight in found.weights:
        part = weight.part
        hz, row = null.states[part.source - 1], back(network, null, part.source, part.target)[part.output]
        for i in range(2, LENGTH):
            value = float(conditional_mean(weight.function, hz, run.states[i - 1], epsilon, float(x[i - 2, 0]), window))
            for j in range(i, LENGTH + 1):
                factor = back(network, run, i, j) @ row / (network.width * weight.normaliser)
                mean[j - 1] += factor * float(run.states[i - 1] @ hz) * value
    return found.change(network, run), mean


@check(
    EXISTENCE,
    grade="sampled",
    target="corrected",
    cases="240 networks (seeds 0 to 239) of width 120 (full: 1000), L = 5, five parts, one input, eps_x = eps_c = 0.3",
)
def test_the_comparator_computes_the_target_on_average(effort: Effort, record_property) -> None:
    """All six outputs: the residual to the exact mean over fresh rows is 0 within 3.5 standard errors (0.3 % in all).

    And the slope of all outputs together on the target is that of the mean within 3.5 standard errors, and not 0.
    """
    networks, width = 240, effort.pick(quick=120, full=1000)
    own, mean, target = [], [], []
    for seed in range(networks):
        rng = np.random.default_rng(seed)
        network, x = random_elman(width, 5, 2, rng), unit_tokens(rng)
        f, expected = _predicted(network, x, 0.3, 0.3)
        own.append(f[2:].ravel())
        mean.append(expected[2:].ravel())
        target.append(_target()(x)[2:].ravel())
    f, expected, wanted = np.array(own), np.array(mean), np.array(target)
    residual = f - expected
    scores = residual.mean(axis=0) / residual.std(axis=0, ddof=1) * math.sqrt(networks)
    record_property("largest z-score", float(np.abs(scores).max()))
    assert np.abs(scores).max() < 3.5
    products = (residual * wanted).sum(axis=1)
    error = products.std(ddof=1) * math.sqrt(networks) / (wanted**2).sum()
    slope = (f * wanted).sum() / (wanted**2).sum()
    planned = (expected * wanted).sum() / (wanted**2).sum()
    record_property("slope", float(slope))
    assert abs(slope - planned) < 3.5 * error
    assert slope > 3 * error
    assert 0.5 < planned < 1.05


@check(
    NULL, grade="numeric", target="printed", cases="m = 200, L = 6, 4 networks (seeds 0 to 3), eps_x = 0.1, 0.01, 0.001"
)
@proof_steps("null-sequence.md: 2")
def test_the_null_sequence_is_near() -> None:
    """Only the last coordinate of the null sequence is not 0, with 1, eps_x, ..., eps_x; and it is near.

    |h_l - hz_l| obeys the recursion with |W| and |A|, is 0 at l = 1, and falls in proportion to eps_x.
    """
    assert null_sequence(6, 4, 0.1).tolist() == [[0, 0, 0, 0, 1]] + [[0, 0, 0, 0, 0.1]] * 5
    tokens = unit_tokens(np.random.default_rng(9), 8)
    actual = input_sequence(tokens, 0.1)
    assert actual.shape == (8, 5)
    assert np.abs(actual[1:7, :4] - 0.1 * tokens).max() < 1e-15
    assert (actual[[0, 7]] == null_sequence(8, 4, 0.1)[[0, 7]]).all()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        network, x = random_elman(200, 5, 1, rng), unit_tokens(rng, 6)
        W, A = np.linalg.norm(network.state, 2), np.linalg.norm(network.token, 2)
        distances = []
        for epsilon in (0.1, 0.01, 0.001):
            actual, null = (
                trace(network, s).states for s in (input_sequence(x, epsilon), null_sequence(6, 4, epsilon))
            )
            found, bound = np.linalg.norm(actual - null, axis=1), 0.0
            assert found[1] == 0
            for l in range(2, 6):
                bound = W * bound + A * math.sqrt(2) * epsilon
                assert 0 < found[l] <= bound
            distances.append(found[5])
        assert all(7 < before / after < 14 for before, after in pairwise(distances))


@check(
    POSITIONS,
    grade="sampled",
    target="printed",
    supporting=True,
    cases="m = 2000, L = 7, one network (seed 4), eps_x = 0.001",
)
def test_states_at_different_times_are_separate() -> None:
    """The cosines between states are c_min(l, l') of the arc-cosine recursion, within six times m^(-1/2)."""
    network = random_elman(2000, 5, 1, np.random.default_rng(4))
    states = trace(network, null_sequence(7, 4, 0.001)).states[1:]
    unit = states / np.linalg.norm(states, axis=1, keepdims=True)
    cosines = [float(c) for c in state_cosines(7)]
    for l in range(1, 8):
        for other in range(l + 1, 8):
            assert abs(unit[l - 1] @ unit[other - 1] - cosines[l]) < 6 / math.sqrt(2000)
            assert unit[l - 1] @ unit[other - 1] < 0.95
