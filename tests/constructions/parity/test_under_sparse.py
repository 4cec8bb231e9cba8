"""The truncated step on an under-sparse network: weights, read-out, margins, silence, and bad input."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from flint import fmpq

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.activations import Ramp
from lemmata.constructions.parity.two_layer import TwoLayerNetwork, relu_network
from lemmata.constructions.parity.under_sparse import (
    UnderSparseStart,
    bias_kinks,
    draw_under_sparse,
    readout_error_bound,
    readout_weights,
    silent_neurons,
    under_sparse_error,
    under_sparse_margin,
    under_sparse_network,
    under_sparse_step,
)
from lemmata.numerics.parity.sparse_neurons import is_good, under_sparse_values
from lemmata.numerics.parity.sparse_samples import sampled_counts

SIZES = [(6, 4, 2), (7, 4, 2), (8, 6, 4), (9, 6, 4), (12, 6, 2)]


def parity(x: np.ndarray, support: list[int]) -> np.ndarray:
    return x[:, support].prod(axis=1)


@pytest.mark.parametrize(("n", "k", "s"), SIZES)
def test_the_read_out_is_the_parity_with_the_stated_error(n: int, k: int, s: int) -> None:
    """On the whole cube, for a support and ones in any places, and three small weights up to the largest ones."""
    rng = np.random.default_rng([n, k])
    support = rng.permutation(n)[:k].tolist()
    ones = rng.permutation(support)[:s].tolist()
    x = sign_inputs(n)
    for epsilon in (fmpq(1, 1000), fmpq(1, 4 * k * n), fmpq(9, 10 * (n - s))):
        f = under_sparse_network(n, support, s, epsilon, ones=ones, exact=True)(x)
        assert max(abs(f - parity(x, support))) == under_sparse_error(n, k, s, epsilon) == 2 * k * (n - s) * epsilon
        assert min(f * parity(x, support)) == under_sparse_margin(n, k, s, epsilon)
        in_floats = under_sparse_network(n, support, s, epsilon, ones=ones)(x)
        assert np.allclose(in_floats, f.astype(float))


def test_weights_after_the_step() -> None:
    epsilon, unit = fmpq(1, 50), fmpq(1, 50) / 12
    network = under_sparse_network(15, (1, 2, 5, 7, 8, 11), 2, epsilon, ones=(2, 7), exact=True)
    row = [unit * epsilon] * 15
    for i in (1, 5, 8, 11):
        row[i] = unit * (1 + epsilon)
    row[2] = row[7] = unit
    assert network.hidden.tolist() == [row] * 6
    assert network.bias.tolist() == [-unit * theta for theta in bias_kinks(6)]
    assert network.readout.tolist() == readout_weights(6, epsilon)
    assert sum(abs(u) for u in readout_weights(6, epsilon)) * unit == 2 * 6**2


def test_a_random_network_learns_and_its_halves_cancel() -> None:
    """The gradient of PyTorch at the start, over all inputs, is the closed form; the step finds good neurons only."""
    n, k, s, epsilon, S = 8, 4, 2, fmpq(1, 64), [0, 2, 3, 6]
    start = draw_under_sparse(n, k, s, epsilon, 200, np.random.default_rng(3))
    x = sign_inputs(n)
    network = start.network()
    assert network.width == 200
    assert not network(x).any()
    weights = torch.tensor(network.hidden.astype(float), requires_grad=True)
    hidden = torch.relu(torch.tensor(x, dtype=torch.float64) @ weights.T + torch.tensor(network.bias.astype(float)))
    output = hidden @ torch.tensor(network.readout.astype(float))
    torch.relu(1 - torch.tensor(parity(x, S)) * output).mean().backward()
    assert weights.grad is not None
    gradient = start.population_gradient(S)
    expected = -(gradient * start.signs[:, None]).astype(float)
    assert np.array_equal(weights.grad.numpy(), np.concatenate([expected, -expected]))
    step = under_sparse_step(start, gradient)
    good = np.array([is_good(neuron, S) for neuron in start.neurons])
    assert np.array_equal(step.holds(S), np.concatenate([good & (start.signs == -1), good & (start.signs == 1)]))
    f = step.read_out(S)(x)
    assert max(abs(f - parity(x, S))) == under_sparse_error(n, k, s, epsilon) < 1
    with pytest.raises(ValueError, match="No neuron with the kink"):
        step.read_out([0, 2, 3, 7])


def test_a_sampled_step_finds_the_support() -> None:
    """At 64/xi_rel^2 samples, seed 2; a flipped read-out, too few samples and another threshold fail."""
    n, k, epsilon, S = 12, 4, fmpq(1, 4000), [0, 1, 2, 3]
    start = UnderSparseStart(n, k, np.array([[0, 2]] * k), np.arange(k), np.full(k, -1), epsilon)
    x = sign_inputs(n)
    counts = sampled_counts(start.neurons, S, 64 * 200, np.random.default_rng(2))
    gradient = counts.astype(object) * fmpq(1, 64 * 200)
    step = under_sparse_step(start, gradient)
    network = step.read_out(S)
    assert np.array_equal(np.sign(network(x).astype(float)), parity(x, S))
    assert not np.array_equal(np.sign(replace(network, readout=-network.readout)(x).astype(float)), parity(x, S))
    assert not under_sparse_step(start, gradient, gamma=0).holds(S).any()
    assert not under_sparse_step(start, gradient, gamma=1).holds(S).any()
    exact, relevant = start.population_gradient(S), abs(under_sparse_values(n, k, 2).relevant)
    assert not under_sparse_step(start, exact, gamma=relevant).moved.any()  # entries of size gamma are zeroed
    assert under_sparse_step(start, exact, gamma=relevant * fmpq(99, 100)).holds(S).any()
    few = sampled_counts(start.neurons, S, 100, np.random.default_rng(2)).astype(object) * fmpq(1, 100)
    assert not under_sparse_step(start, few).holds(S).any()


def test_the_error_is_bounded_without_a_list_of_inputs() -> None:
    """Above the largest error over the cube, also after a sampled step; k times it after the population step."""
    n, k, S, epsilon = 12, 4, [1, 3, 4, 8], fmpq(1, 4000)
    x = sign_inputs(n)
    network = under_sparse_network(n, S, 2, epsilon, ones=(3, 8), exact=True)
    assert readout_error_bound(network, S, epsilon) == k * under_sparse_error(n, k, 2, epsilon)
    start = UnderSparseStart(n, k, np.array([[3, 8]] * k), np.arange(k), np.full(k, -1), epsilon)
    counts = sampled_counts(start.neurons, S, 64 * 200, np.random.default_rng(4))
    sampled = under_sparse_step(start, counts.astype(object) * fmpq(1, 64 * 200)).read_out(S)
    bound = readout_error_bound(sampled, S, epsilon)
    assert bound / 20 < max(abs(sampled(x) - parity(x, S))) <= bound
    for wrong in (
        replace(network, readout=-network.readout),
        replace(network, bias=network.bias * 2),
        replace(network, output_bias=fmpq(0)),
        under_sparse_network(n, S, 2, epsilon, ones=(3, 8)),
        start.network(),
    ):
        with pytest.raises(ValueError, match="are not those of the read-out"):
            readout_error_bound(wrong, S, epsilon)
    with pytest.raises(ValueError, match="are not those of the read-out"):
        readout_error_bound(network, S, fmpq(1, 3999))
    assert readout_error_bound(network, [1, 3, 4, 9], epsilon) > 2


def test_silent_neurons() -> None:
    """Silent by the l1 certificate exactly where the neuron vanishes on the cube, for a random start after the step."""
    start = draw_under_sparse(8, 4, 2, fmpq(1, 30), 100, np.random.default_rng(0))
    network = under_sparse_step(start, start.population_gradient(4)).network
    silent = silent_neurons(network)
    assert np.array_equal(silent, ~(network.features(sign_inputs(8)) != 0).any(axis=0))
    assert 0 < silent.sum() < 100
    assert not silent_neurons(relu_network(4, 2)).any()
    edge = TwoLayerNetwork(np.array([[1, -1], [1, -1]]), np.array([-2, -1]), np.array([1, 1]), Ramp())
    assert silent_neurons(edge).tolist() == [True, False]


def start(**changes) -> UnderSparseStart:
    parts = {"n": 8, "k": 4, "ones": [[0, 1]], "levels": [0], "signs": [1], "epsilon": fmpq(1, 9)}
    return UnderSparseStart(**(parts | changes))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: start(k=5), "even k"),
        (lambda: start(k=10), "k <= n"),
        (lambda: start(ones=[[0, 1, 2]]), "even s"),
        (lambda: start(ones=[[0, 1, 2, 3]]), "s < k"),
        (lambda: start(ones=[[0, 0]]), "different indices from 0 to 7"),
        (lambda: start(ones=[[0, 8]]), "different indices from 0 to 7"),
        (lambda: start(levels=[4]), "0 to 3"),
        (lambda: start(signs=[2]), r"\+1 and -1"),
        (lambda: start(levels=[0, 1]), "shape"),
        (lambda: start(epsilon=fmpq(1, 6)), r"\(0, 1/6\), not 1/6"),
        (lambda: start(epsilon=0), r"\(0, 1/6\), not 0"),
        (lambda: start(epsilon=0.1), "a rational number in"),
        (lambda: draw_under_sparse(8, 4, 2, fmpq(1, 9), 3, np.random.default_rng(0)), "width must be even"),
        (lambda: under_sparse_step(start(), np.zeros((2, 8), dtype=int)), r"shape \(1, 8\)"),
        (lambda: under_sparse_step(start(), np.zeros((1, 8), dtype=int), gamma=0.5), "gamma of the step"),
        (lambda: under_sparse_step(start(), np.zeros((1, 8), dtype=int)).read_out(3), "parities of 4"),
        (lambda: under_sparse_network(8, 4, 2, fmpq(1, 9), ones=(0, 4)), "2 different indices of the support"),
        (lambda: under_sparse_network(7, 6, 2, fmpq(1, 9)), "they pass the truncation"),
        (lambda: under_sparse_error(8, 4, 2, 1), r"\(0, 1/6\), not 1"),
        (lambda: readout_weights(3, 1), "even k"),
        (lambda: readout_weights(0, 1), "even k >= 2"),
        (lambda: readout_weights(4, 0), "epsilon > 0"),
    ],
)
def test_bad_input_is_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
