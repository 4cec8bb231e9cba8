"""Definition 4.1, equation (5.1) and the gradient of the objective: exactly, on rational Elman networks.

The printed recursion h_l = D_l W h_(l-1) lacks the input. The linear network (5.1) is the derivative of the outputs in
the direction W': on a segment on which the activation patterns are certified constant, by balls that contain all of it,
the output j is a polynomial of degree at most j - 1 in t, found here by interpolation through exact forward passes, and
its linear coefficient is f_j(W'). Oracles are loops over fractions and autograd. The proofs are in
`proofs/linearisation.md`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import torch
from flint import fmpq, fmpq_mat

from lemmata.constructions.recurrent.elman import (
    ElmanNetwork,
    back,
    constant_patterns,
    linear_change,
    random_elman,
    trace,
    weighted_gradient,
)
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

PRINTED = "rnn-sgd:definition-4.1"
LINEAR = "rnn-sgd:definition-pseudo-network"
STEP = "rnn-sgd:step-1-coupling"
OBJECTIVE = "rnn-sgd:definition-objective"
NETWORKS = "100 random rational networks, L <= 6, m <= 8, d <= 2 (seeds 0 to 99)"


@cache
def _case(seed: int) -> tuple[ElmanNetwork, np.ndarray, np.ndarray]:
    """A rational network, its tokens and a change W'."""
    rng = np.random.default_rng(seed)
    m, length, d, width = (
        int(rng.integers(1, 9)),
        int(rng.integers(1, 7)),
        int(rng.integers(1, 3)),
        int(rng.integers(1, 4)),
    )

    def matrix(*shape: int) -> np.ndarray:
        return as_exact(rng.integers(-9, 10, size=shape)) / fmpq(int(rng.integers(2, 8)))

    return ElmanNetwork(matrix(m, m), matrix(m, width), matrix(d, m)), matrix(length, width), matrix(m, m)


def _fractions(matrix: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(int(entry.p), int(entry.q)) for entry in row] for row in matrix]


def _outputs(network: ElmanNetwork, tokens: np.ndarray) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    """Preactivations and outputs, by loops over fractions."""
    W, A, B, xs = (_fractions(part) for part in (network.state, network.token, network.readout, tokens))
    h, before, outputs = [Fraction(0)] * len(W), [], []
    for x in xs:
        g = [
            sum((w * v for w, v in zip(W[k], h, strict=True)), Fraction(0))
            + sum((a * v for a, v in zip(A[k], x, strict=True)), Fraction(0))
            for k in range(len(W))
        ]
        h = [max(v, Fraction(0)) for v in g]
        before.append(g)
        outputs.append([sum((b * v for b, v in zip(row, h, strict=True)), Fraction(0)) for row in B])
    return before, outputs


@check(PRINTED, grade="exact", target="corrected", cases=NETWORKS)
@proof_steps("linearisation.md: 1, 2")
def test_states_are_those_of_the_patterns() -> None:
    """h_l = D_l (W h_(l-1) + A x_l), and y_j = sum_i Back_(i -> j) D_i A x_i; patterns and outputs as in the loops."""
    inactive = 0
    for seed in range(100):
        network, tokens, _ = _case(seed)
        run = trace(network, tokens)
        before, outputs = _outputs(network, tokens)
        assert [[bool(v >= 0) for v in row] for row in before] == run.active.tolist()
        assert _fractions(run.outputs) == outputs
        inactive += int((~run.active).sum())
        for j in range(1, len(tokens) + 1):
            g = network.state @ run.states[j - 1] + network.token @ tokens[j - 1]
            assert (run.states[j] == g * run.active[j - 1]).all()
            total = sum(
                back(network, run, i, j) @ ((network.token @ tokens[i - 1]) * run.active[i - 1])
                for i in range(1, j + 1)
            )
            assert (total == run.outputs[j - 1]).all()
    assert inactive > 300


@counterexample(PRINTED, grade="exact", cases="100 random rational networks (seeds 0 to 99): the first is enough")
def test_the_printed_recursion_lacks_the_input(record: Record) -> None:
    """D_l W h_(l-1) is 0 for l = 1, h_1 is not; and for the later l of most networks."""
    differing = 0
    for seed in range(100):
        network, tokens, _ = _case(seed)
        run = trace(network, tokens)
        for l in range(1, len(tokens) + 1):
            printed = (network.state @ run.states[l - 1]) * run.active[l - 1]
            differing += int((printed != run.states[l]).any())
    assert differing > 100
    network, tokens, _ = _case(0)
    run = trace(network, tokens)
    assert ((network.state @ run.states[0]) * run.active[0] == 0).all()
    assert (run.states[1] != 0).any()
    before, _ = _outputs(network, tokens)
    unlike = int((np.array([[g >= 0 for g in row] for row in before]) != run.active).sum())
    record.hypothesis("the patterns D_l are those of g_l >= 0: entries that differ", unlike, "=", 0)
    k = int(np.flatnonzero(run.states[1] != 0)[0])
    printed = (network.state @ run.states[0]) * run.active[0]
    record.violated("h_1 = D_1 W h_0, in the first unit that is active", run.states[1][k], "=", printed[k])


def _segment(network: ElmanNetwork, tokens: np.ndarray, change: np.ndarray) -> fmpq | None:
    """A rational end > 0 of a segment of constant patterns; None if an entry of some g is 0 (but for zero rows)."""
    for exponent in range(2, 60, 3):
        if constant_patterns(network, tokens, change, fmpq(1, 2**exponent)):
            return fmpq(1, 2**exponent)
    return None


@check(LINEAR, grade="exact", target="printed", cases=NETWORKS)
@check(STEP, grade="exact", target="printed", cases=NETWORKS)
@proof_steps("coupling.md: 5", "linearisation.md: 3")
def test_the_linear_network_is_the_derivative() -> None:
    """Interpolation of y_j(W + t W') at j + 1 points of the segment: degree at most j - 1, linear coefficient f_j."""
    decided = curved = 0
    for seed in range(100):
        network, tokens, change = _case(seed)
        end = _segment(network, tokens, change)
        if end is None:
            continue
        decided += 1
        length = len(tokens)
        points = [end * fmpq(k, length) for k in range(length + 1)]
        values = [_outputs(network.moved(t * change), tokens)[1] for t in points]
        vandermonde = fmpq_mat([[t**power for power in range(length + 1)] for t in points])
        linear = linear_change(network, trace(network, tokens), change)
        for j in range(1, length + 1):
            for s in range(len(network.readout)):
                right = fmpq_mat([[fmpq(v[j - 1][s].numerator, v[j - 1][s].denominator)] for v in values])
                coefficients = [vandermonde.solve(right)[power, 0] for power in range(length + 1)]
                assert coefficients[1] == linear[j - 1, s]
                assert not any(coefficients[max(j, 1) :])
                curved += int(j > 2 and coefficients[2] != 0)
    assert decided >= 90
    assert curved > 50


@check(LINEAR, grade="exact", target="printed", cases=NETWORKS)
@proof_steps("linearisation.md: 3")
def test_the_recursion_is_the_sum_over_back() -> None:
    """f_j = sum_(i=2..j) Back_(i -> j) D_i W' h_(i-1), term by term."""
    for seed in range(100):
        network, tokens, change = _case(seed)
        run = trace(network, tokens)
        found = linear_change(network, run, change)
        for j in range(1, len(tokens) + 1):
            expected = run.outputs[0] * 0
            for i in range(2, j + 1):
                expected = expected + back(network, run, i, j) @ ((change @ run.states[i - 1]) * run.active[i - 1])
            assert (found[j - 1] == expected).all()


@check(OBJECTIVE, grade="exact", target="printed", cases=NETWORKS)
@proof_steps("linearisation.md: 4")
def test_the_gradient_is_the_adjoint() -> None:
    """<gradient, W'> = sum_j <c_j, f_j(W')> for the f_j that the segment test compares with exact forward passes."""
    for seed in range(100):
        network, tokens, change = _case(seed)
        run = trace(network, tokens)
        rng = np.random.default_rng(seed)
        weights = as_exact(rng.integers(-5, 6, size=run.outputs.shape))
        gradient = weighted_gradient(network, run, weights)
        assert (gradient * change).sum() == (weights * linear_change(network, run, change)).sum()


@check(
    OBJECTIVE,
    grade="numeric",
    target="printed",
    cases="5 networks of width 40, L = 6, the loss |y - y*|_2 (seeds 0 to 4)",
)
@proof_steps("linearisation.md: 4")
@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_of_the_objective(seed: int) -> None:
    """Autograd through sum_(j >= 3) G(lambda F_j(W + W'), y*_j) at W' = 0, in float64: 1e-12 of its size."""
    rng = np.random.default_rng(seed)
    network, tokens, scale = random_elman(40, 4, 2, rng), rng.standard_normal((6, 4)) / 2, 0.3
    labels = rng.standard_normal((6, 2))
    W = torch.tensor(network.state, requires_grad=True)
    A, B, x, y = (torch.tensor(part) for part in (network.token, network.readout, tokens, labels))
    h, loss = torch.zeros(40, dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    for l in range(6):
        h = torch.relu(W @ h + A @ x[l])
        if l >= 2:
            loss = loss + torch.linalg.vector_norm(scale * (B @ h) - y[l])
    loss.backward()
    run = trace(network, tokens)
    away = scale * run.outputs - labels
    slopes = scale * away / np.linalg.norm(away, axis=1, keepdims=True)
    slopes[:2] = 0
    expected = W.grad.numpy()  # pyright: ignore[reportOptionalMemberAccess]
    assert np.abs(weighted_gradient(network, run, slopes) - expected).max() < 1e-12 * np.abs(expected).max()


@check(
    STEP,
    grade="sampled",
    target="printed",
    supporting=True,
    cases="m = 500, L = 5, one network (seed 7), |W'|_F = 0.1, 0.01, 0.001",
)
def test_the_error_of_the_linearisation_falls_with_the_change() -> None:
    """Relative errors in the gradient direction: each at most half of that at ten times the norm, and 1 % at last."""
    rng = np.random.default_rng(7)
    network, tokens = random_elman(500, 5, 1, rng), rng.standard_normal((5, 5)) / 3
    run = trace(network, tokens)
    direction = weighted_gradient(network, run, np.ones_like(run.outputs))
    direction = direction / np.linalg.norm(direction)
    errors = []
    for size in (0.1, 0.01, 0.001):
        linear = linear_change(network, run, size * direction)
        exact = to_float(trace(network.moved(size * direction), tokens).outputs) - run.outputs
        errors.append(np.abs(exact - linear).max() / np.abs(linear).max())
    assert errors[1] < errors[0] / 2
    assert errors[2] < errors[1] / 2
    assert errors[2] < 0.01
