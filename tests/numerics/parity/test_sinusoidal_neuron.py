"""`lemmata.numerics.parity.sinusoidal_neuron`: its steps against autograd, its solution, its records, bad input."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.numerics.parity import sinusoidal_neuron
from lemmata.numerics.parity.sinusoidal_neuron import SinusoidalNeurons, initial_neurons, parity_shift, train_neurons


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("scale", [math.pi / 2, math.pi])
def test_the_parity_is_a_neuron(k: int, scale: float) -> None:
    n = k + 2
    x = sign_inputs(n).astype(float)
    weights = np.where(np.arange(n) < k, math.pi / 2 / scale, 0.0)[None, :]
    neuron = SinusoidalNeurons(weights, np.zeros(1), scale, parity_shift(k))
    assert np.abs(neuron.outputs(x)[0] - np.prod(x[:, :k], axis=1)).max() < 1e-14


@pytest.mark.parametrize(("k", "batch", "noise"), [(2, 5, 0.0), (3, 1, 0.0), (3, 8, 0.3)])
def test_steps_are_those_of_autograd(k: int, batch: int, noise: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """30 steps of three neurons on the samples that the trainer drew, which are kept on their way."""
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    real = sinusoidal_neuron._descend

    def keep(neurons: SinusoidalNeurons, x: np.ndarray, y: np.ndarray, rate: float) -> np.ndarray:
        kept.append((x.copy(), y.copy()))
        return real(neurons, x, y, rate)

    monkeypatch.setattr(sinusoidal_neuron, "_descend", keep)
    rng = np.random.default_rng(k)
    neurons = initial_neurons(3, 7, k, rng)
    w = torch.tensor(neurons.weights, requires_grad=True)
    b = torch.tensor(neurons.biases, requires_grad=True)
    run = train_neurons(neurons, k, rng, steps=30, batch=batch, rate=0.05, noise=noise, check_every=30)
    assert not any(np.array_equal(one[0], other[0]) for one, other in pairwise(kept))
    losses, flipped = [], 0.0
    for x, y in kept:
        labels = np.prod(x[:, :, :k], axis=2)
        flipped += float(np.mean(labels != y))
        f = torch.sin(neurons.scale * (torch.einsum("rbn,rn->rb", torch.tensor(x), w) + b[:, None]) + neurons.shift)
        loss = torch.clamp(1 - torch.tensor(y) * f, min=0).mean(dim=1)
        losses.append(loss.detach().numpy())
        loss.sum().backward()
        with torch.no_grad():
            for parameter in (w, b):
                assert parameter.grad is not None
                parameter -= 0.05 * parameter.grad
                parameter.grad = None
    assert np.abs(w.detach().numpy() - neurons.weights).max() < 1e-12
    assert np.abs(b.detach().numpy() - neurons.biases).max() < 1e-12
    assert np.abs(np.mean(losses, axis=0) - run.loss[-1]).max() < 1e-12
    assert abs(flipped / 30 - noise) < 0.15


def test_records_and_convergence() -> None:
    rng = np.random.default_rng(5)
    neurons = initial_neurons(6, 8, 2, rng)
    before = neurons.weights.copy()
    run = train_neurons(neurons, 2, rng, steps=4000, batch=32, rate=0.02, check_every=50)
    assert all(time is not None for time in run.converged)
    assert run.steps[-1] == max(time for time in run.converged if time is not None) < 4000
    assert len(run.steps) == len(run.loss) == len(run.accuracy) == len(run.movement) == len(run.least_relevant)
    assert run.steps[:3] == [0, 50, 100]
    last = np.abs(neurons.weights)
    assert np.array_equal(run.least_relevant[-1], last[:, :2].min(axis=1))
    assert np.array_equal(run.largest_irrelevant[-1], last[:, 2:].max(axis=1))
    assert np.array_equal(run.movement[-1], np.abs(neurons.weights - before).max(axis=1))
    assert (run.least_relevant[-1] > run.largest_irrelevant[-1]).all()
    assert (run.loss[-1] < run.loss[1]).all()
    assert (run.movement[0] == 0).all()


def test_labels_without_signal_teach_nothing() -> None:
    rng = np.random.default_rng(6)
    run = train_neurons(initial_neurons(6, 8, 2, rng), 2, rng, steps=1000, batch=32, rate=0.02, noise=0.5)
    assert run.converged == [None] * 6
    assert np.abs(np.array(run.accuracy) - 0.5).max() < 0.2


def test_bad_input() -> None:
    rng = np.random.default_rng(0)
    for runs, n, k, scale in ((0, 3, 2, 1.0), (1, 3, 4, 1.0), (1, 3, 0, 1.0), (1, 3, 2, 0.0), (1, 3, 2, math.nan)):
        with pytest.raises(ValueError, match="runs >= 1, 1 <= k <= n and a finite scale"):
            initial_neurons(runs, n, k, rng, scale)
    neurons = initial_neurons(2, 5, 2, rng)
    good = {"steps": 1, "batch": 1, "rate": 0.1}
    for name in ("steps", "batch", "check_every", "validation"):
        with pytest.raises(ValueError, match="must be at least 1, and k between"):
            train_neurons(neurons, 2, rng, **{**good, name: 0})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be at least 1, and k between"):
        train_neurons(neurons, 6, rng, **good)  # type: ignore[arg-type]
    for change in ({"rate": 0.0}, {"rate": math.inf}, {"rate": math.nan}, {"noise": 0.6}, {"noise": math.nan}):
        with pytest.raises(ValueError, match="finite rate > 0 and 0 <= noise"):
            train_neurons(neurons, 2, rng, **{**good, **change})  # type: ignore[arg-type]
