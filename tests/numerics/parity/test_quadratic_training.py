"""Training of deep quadratic networks: its steps against autograd, its samples, starts and checks, and bad input."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.quadratic import QuadraticNetwork, quadratic_network
from lemmata.numerics.parity import quadratic_training
from lemmata.numerics.parity.compiled_training import next_word
from lemmata.numerics.parity.quadratic_training import (
    QuadraticLayers,
    initial_quadratic,
    quadratic_accuracy,
    train_quadratic,
)

SHAPES = [(5, (2, 1)), (4, (3, 5, 1)), (6, (4,)), (3, (2, 7, 3, 2))]


def _start(n: int, widths: tuple[int, ...], seed: int = 0, *, output_bias: bool = True) -> QuadraticLayers:
    return initial_quadratic(n, widths, np.random.default_rng(seed), output_bias=output_bias)


def _as_network(layers: QuadraticLayers) -> QuadraticNetwork:
    return QuadraticNetwork(
        tuple((W.copy(), b.copy()) for W, b in layers.layers()),
        layers.readout[: layers.widths[-1]].copy(),
        float(layers.output_bias[0]),
    )


def _split_mix(seed: int, count: int) -> list[int]:
    """The first words of SplitMix64, in Python's integers."""
    mask, words = 2**64 - 1, []
    for i in range(1, count + 1):
        z = (seed + i * 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        words.append(z ^ (z >> 31))
    return words


@pytest.mark.parametrize(("n", "widths"), SHAPES)
@pytest.mark.parametrize("output_bias", [True, False])
def test_steps_are_those_of_autograd(n: int, widths: tuple[int, ...], output_bias: bool) -> None:
    """Three steps on the words of the generator: sums of at most 10^3 terms of size about 1, in another order."""
    k, batch, rate = 2, 8, 0.05
    trained = _start(n, widths, output_bias=output_bias)
    start = deepcopy(trained)
    train_quadratic(trained, k, 3, np.random.default_rng(7), batch=batch, rate=rate)
    seed = int(np.random.default_rng(7).integers(0, 2**64, dtype=np.uint64))
    words = np.array(_split_mix(seed, 3 * batch), dtype=np.uint64).reshape(3, batch, 1)
    x = torch.tensor(1.0 - 2.0 * ((words >> np.arange(n, dtype=np.uint64)) & np.uint64(1)).astype(float))
    parameters = [torch.tensor(p.copy(), requires_grad=True) for pair in start.layers() for p in pair]
    parameters += [torch.tensor(start.readout[: widths[-1]].copy(), requires_grad=True)]
    parameters += [torch.tensor(start.output_bias.copy(), requires_grad=output_bias)]
    moved = [p for p in parameters if p.requires_grad]
    for t in range(3):
        z = x[t]
        for W, b in zip(parameters[:-2:2], parameters[1:-2:2], strict=True):
            z = (z @ W.T + b) ** 2
        loss = torch.clamp(1 - x[t][:, :k].prod(dim=1) * (z @ parameters[-2] + parameters[-1]), min=0).mean()
        for p, gradient in zip(moved, torch.autograd.grad(loss, moved), strict=True):
            p.data -= rate * gradient
    ours = [p for pair in trained.layers() for p in pair] + [trained.readout[: widths[-1]], trained.output_bias]
    for mine, theirs in zip(ours, parameters, strict=True):
        assert np.abs(mine - theirs.detach().numpy()).max() < 1e-13
    assert not np.allclose(ours[0], start.layers()[0][0])
    assert (trained.output_bias[0] == start.output_bias[0]) == (not output_bias)


def test_compiled_steps_stay_within_their_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uncompiled, where an index out of bounds is refused, they are the same; with n above all widths."""

    def after(steps: Any) -> np.ndarray:
        network = _start(6, (4, 3))
        parts = network.weights, network.bias, network.readout, network.output_bias
        steps(*parts, np.array(network.widths), 2, np.array([5], dtype=np.uint64), 2, 4, 0.05, True)
        return network.weights

    compiled = after(quadratic_training._descend)
    monkeypatch.setattr(quadratic_training, "next_word", lambda state: np.uint64(next_word(state)))
    assert np.abs(after(quadratic_training._descend.py_func) - compiled).max() < 1e-15
    assert np.abs(compiled - _start(6, (4, 3)).weights).max() > 1e-3


def test_padding_stays_zero() -> None:
    network = _start(5, (2, 4, 1))
    train_quadratic(network, 2, 20, np.random.default_rng(0))
    inside = np.zeros(network.weights.shape, dtype=bool)
    for i, (W, _) in enumerate(network.layers()):
        inside[i, : W.shape[0], : W.shape[1]] = True
    assert np.all(network.weights[~inside] == 0)
    assert np.all(network.readout[1:] == 0)


@pytest.mark.parametrize(("n", "widths"), SHAPES)
def test_accuracy_is_that_of_the_network(n: int, widths: tuple[int, ...]) -> None:
    network = _start(n, widths, seed=3)
    words = np.arange(2**n, dtype=np.uint64)
    x = 1 - 2 * ((words[:, None] >> np.arange(n, dtype=np.uint64)) & np.uint64(1)).astype(int)
    outputs = _as_network(network)(x)
    for k in range(1, n + 1):
        share = np.mean(outputs * np.prod(x[:, :k], axis=1) > 0)
        assert quadratic_accuracy(network, k, words) == share


def test_an_output_of_0_is_an_error() -> None:
    network = _start(4, (2, 1), seed=0)
    network.readout[:], network.output_bias[:] = 0, 0
    assert quadratic_accuracy(network, 2, np.arange(16, dtype=np.uint64)) == 0


def test_the_construction_has_accuracy_one_and_is_not_moved() -> None:
    """Twice the parity lies beyond the hinge, so that no step changes it; and it has converged at the first check."""
    built = quadratic_network(6, 4, 3)
    network = _start(6, built.widths)
    for i, (W, b) in enumerate(built.layers):
        network.weights[i, : W.shape[0], : W.shape[1]], network.bias[i, : len(b)] = W, b
    network.readout[:1], network.output_bias[:] = 2 * built.readout, 2 * built.output_bias
    before = deepcopy(network)
    run = train_quadratic(network, 4, 50, np.random.default_rng(1), check_every=7)
    assert (run.converged, run.accuracy, run.best) == (7, 1.0, 1.0)
    assert np.array_equal(before.weights, network.weights)
    assert quadratic_accuracy(network, 3, np.arange(64, dtype=np.uint64)) == 0.5


def test_training_learns_two_signs_and_reports_the_check() -> None:
    """The same seeds give the same run; without an output bias a last width of 1 never gets above one half."""
    runs = [train_quadratic(_start(8, (2, 1), 5), 2, 20_000, np.random.default_rng(5)) for _ in range(2)]
    assert runs[0] == runs[1]
    assert runs[0].converged is not None
    assert runs[0].converged % 1000 == 0
    without = train_quadratic(_start(8, (2, 1), 5, output_bias=False), 2, 3000, np.random.default_rng(5))
    assert without.best <= 0.5


def test_larger_inputs_are_judged_on_a_sample() -> None:
    network = _start(30, (2, 1))
    run = train_quadratic(network, 9, 10, np.random.default_rng(5), held_out=100)
    assert run.converged is None
    assert (100 * run.accuracy) % 1 == pytest.approx(0, abs=1e-9)


def test_the_accuracy_is_that_on_the_held_out_sample() -> None:
    """Which is drawn first; the network is the one after the last step."""
    network = _start(20, (2, 1))
    run = train_quadratic(network, 3, 40, np.random.default_rng(5), held_out=2000, check_every=40)
    words = np.random.default_rng(5).integers(0, 2**20, size=2000, dtype=np.uint64)
    x = 1 - 2 * ((words[:, None] >> np.arange(20, dtype=np.uint64)) & np.uint64(1)).astype(int)
    assert run.accuracy == run.best == np.mean(_as_network(network)(x) * np.prod(x[:, :3], axis=1) > 0)


def test_all_inputs_occur_in_the_samples() -> None:
    assert len(sign_inputs(6)) == 64
    network = _start(6, (1,))
    network.weights[:], network.bias[:], network.output_bias[:] = 0, 0, 0.0
    before = network.output_bias.copy()
    train_quadratic(network, 6, 1, np.random.default_rng(3), batch=4096, rate=1.0)
    assert 0 < abs(network.output_bias - before)[0] < 4 / 64  # the mean of 4096 random labels


@pytest.mark.parametrize(
    ("n", "widths", "k", "changes", "match"),
    [
        (0, (2, 1), 1, {}, "needs an input"),
        (3, (), 1, {}, "hidden layers"),
        (3, (2, 0), 1, {}, "width 1 or more"),
        (3, (2, 1), 4, {}, "1 <= k <= n"),
        (3, (2, 1), 0, {}, "1 <= k <= n"),
        (64, (2, 1), 2, {}, "n <= 63"),
        (3, (2, 1), 2, {"batch": 0}, "at least 1"),
        (3, (2, 1), 2, {"rate": float("nan")}, "positive and finite"),
    ],
)
def test_bad_input(n: int, widths: tuple[int, ...], k: int, changes: dict, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        train_quadratic(_start(n, widths), k, 1, np.random.default_rng(0), **changes)
