"""The network near its initial matrix: how far from linear at worst, and the complexity of what is linear.

The proofs are in `proofs/coupling.md`. The error of the linearisation is climbed, not only sampled; the complexity is
compared with an average over signs.
"""

from __future__ import annotations

import math

import numpy as np

from lemmata.constructions.recurrent.concepts import input_sequence, input_sequences
from lemmata.constructions.recurrent.elman import ElmanNetwork, linear_change, random_elman, trace, weighted_gradient
from lemmata.numerics.recurrent.tangent_kernel import tangent_features, tangent_kernel
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.rnn_sgd.tokens import unit_tokens

STEP = "rnn-sgd:step-1-coupling"
RADEMACHER = "rnn-sgd:fact-rademacher"
LENGTH = 5


@check(
    STEP,
    grade="numeric",
    target="printed",
    supporting=True,
    cases="one network of width 60, L = 5, a random W' of norm 0.5 (seed 0)",
)
@proof_steps("coupling.md: 3")
def test_the_change_is_a_sum_over_mean_slopes() -> None:
    """Step 3: y_j(W + W') - y_j(W) = sum_i <v_i, W' h_(i-1)> with mean slopes and the states of W + W'."""
    rng = np.random.default_rng(0)
    network, x = random_elman(60, 5, 1, rng), input_sequence(unit_tokens(rng), 0.3)
    change = rng.standard_normal((60, 60))
    change *= 0.5 / np.linalg.norm(change)
    first, second = trace(network, x), trace(network.moved(change), x)
    before = first.states[:-1] @ network.state.T + x @ network.token.T
    after = second.states[:-1] @ (network.state + change).T + x @ network.token.T
    after[0] = before[0] + 1e-9  # h_0 = 0: the first preactivation does not move, and any slope serves
    slopes = (np.maximum(after, 0) - np.maximum(before, 0)) / (after - before)
    assert ((slopes > -1e-6) & (slopes < 1 + 1e-6)).all()
    assert ((slopes > 0.01) & (slopes < 0.99)).any()
    v, total = network.readout[0] * slopes[-1], 0.0
    for i in range(LENGTH, 1, -1):
        total += float(v @ change @ second.states[i - 1])
        v = (network.state.T @ v) * slopes[i - 2]
    found = float(second.outputs[-1, 0] - first.outputs[-1, 0])
    assert abs(total - found) < 1e-10
    assert abs(found) > 1e-3


def _largest_error(width: int, seed: int) -> float:
    """The largest |y_L(W + W') - y_L(W) - f_L(W')| that is found for |W'|_F = 1/sqrt m, climbing from three starts."""
    rng = np.random.default_rng(seed)
    network, x = random_elman(width, 5, 1, rng), input_sequence(unit_tokens(rng), 0.1)
    run, weights = trace(network, x), np.zeros((LENGTH, 1))
    weights[-1] = 1
    gradient, worst = weighted_gradient(network, run, weights), 0.0
    for start in (gradient, -gradient, rng.standard_normal((width, width))):
        direction = start
        for _ in range(6):
            change = direction / (np.linalg.norm(direction) * math.sqrt(width))
            moved = network.moved(change)
            there = trace(moved, x)
            error = float((there.outputs - run.outputs - linear_change(network, run, change))[-1, 0])
            worst = max(worst, abs(error))
            direction = math.copysign(1, error) * (weighted_gradient(moved, there, weights) - gradient)
    return worst


@check(
    STEP,
    grade="sampled",
    target="printed",
    cases="L = 5, eps_x = 0.1, |W'|_F = 1/sqrt m, m = 64 and 576, 5 networks each (seeds 0 to 4)",
)
@proof_steps("coupling.md: 5")
def test_the_largest_error_found_falls_with_the_width() -> None:
    """Step 5: every network of width 576 has a smaller one than every network of width 64 (without order: 0.4 %).

    It is below what f_L reaches in the direction of its gradient, and above a tenth of that: what climbs along other
    matrices finds a hundredth.
    """
    small, large = ([_largest_error(m, seed) for seed in range(5)] for m in (64, 576))
    assert max(large) < min(small)
    rng = np.random.default_rng(0)
    network, x = random_elman(576, 5, 1, rng), input_sequence(unit_tokens(rng), 0.1)
    weights = np.zeros((LENGTH, 1))
    weights[-1] = 1
    gradient = weighted_gradient(network, trace(network, x), weights)
    change = gradient / (np.linalg.norm(gradient) * 24)
    reach = linear_change(network, trace(network, x), change)[-1, 0]
    assert reach / 10 < large[0] < reach


def assert_kernel_of_gradients(network: ElmanNetwork) -> None:
    """The kernel of two sequences holds the inner products of the derivatives, by products of matrices."""
    inputs = [unit_tokens(np.random.default_rng(seed), 6) for seed in (0, 1)]
    tokens = input_sequences(np.stack(inputs), 0.5)
    assert (tokens == [input_sequence(one, 0.5) for one in inputs]).all()
    found = tangent_features(network.state, network.token, network.readout[1], tokens, 5)
    gradients = []
    for x, output in zip(tokens, found.outputs, strict=True):
        h, patterns = [np.zeros(30)], []
        for token in x[:5]:
            g = network.state @ h[-1] + network.token @ token
            patterns.append(np.diag((g >= 0).astype(float)))
            h.append(np.maximum(g, 0))
        row, total = network.readout[1], np.zeros((30, 30))
        for i in range(5, 1, -1):
            row = row @ patterns[i - 1]
            total += np.outer(row, h[i - 1])
            row = row @ network.state
        gradients.append(total)
        assert abs(output - network.readout[1] @ h[5]) < 1e-12
    wanted = np.array([[np.sum(a * b) for b in gradients] for a in gradients])
    assert np.abs(tangent_kernel(found, found) - wanted).max() < 1e-12 * np.abs(wanted).max()
    assert abs(wanted[0, 1]) > 0.01 * abs(wanted[0, 0])


@check(
    RADEMACHER,
    grade="sampled",
    target="printed",
    cases="2 networks of width 400, L = 4, 8, 12, 16, 20 sequences each, 400 draws of signs, eps_x = 0.02, omega = 1",
)
@proof_steps("coupling.md: 6, 7")
def test_the_complexity_of_the_linear_class() -> None:
    """Steps 6 and 7: E|sum xi_n Psi_n|_F/(sqrt m N) from signs lies between 1/sqrt 2 and 1 of its bound, up to four
    standard errors, and the bound is below 1.02 L/sqrt(d N), while (1 + sqrt 2)^L passes 10^6.
    """
    count = 20
    assert_kernel_of_gradients(random_elman(30, 5, 2, np.random.default_rng(3)))
    for seed in range(2):
        network = random_elman(400, 5, 2, np.random.default_rng(seed))
        for length in (4, 8, 12, 16):
            rng = np.random.default_rng(length)
            tokens = input_sequences(np.stack([unit_tokens(rng, length) for _ in range(count)]), 0.02)
            found = tangent_features(network.state, network.token, network.readout[0], tokens, length)
            kernel = tangent_kernel(found, found)
            signs = rng.choice((-1.0, 1.0), size=(400, count))
            drawn = np.sqrt(np.einsum("ij,jk,ik->i", signs, kernel, signs) / 400) / count
            error = 4 * drawn.std(ddof=1) / math.sqrt(400)
            bound = math.sqrt(np.trace(kernel) / 400) / count
            assert bound / math.sqrt(2) - error < drawn.mean() < bound + error
            assert 0 < bound < 1.02 * length / math.sqrt(2 * count)
    assert (1 + math.sqrt(2)) ** 16 > 10**6
