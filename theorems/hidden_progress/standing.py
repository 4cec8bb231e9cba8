"""What the deciding checks on training runs have in common: committed runs judged again, and steps beside an oracle."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from lemmata.numerics.parity.architecture_training import train_architecture
from lemmata.numerics.parity.compiled_activations import Loss
from lemmata.numerics.parity.compiled_training import train_compiled
from lemmata.numerics.parity.training import initial_network, train_parity
from lemmata.theorems.experiments import (
    Experiment,
    assert_begins,
    assert_follows,
    committed_results,
    run_experiment,
    slice_again,
)
from lemmata.theorems.hidden_progress.plain_steps import autograd_relu_steps, autograd_single_steps
from lemmata.theorems.plugin import Effort

__all__ = ["architectures_step_as_written", "power_networks_step_as_written", "relu_networks_step_as_written", "stands"]


def stands(experiment: Experiment, statement: str, effort: Effort, unmet: tuple[str, ...] = ()) -> None:
    """The committed runs meet every criterion of a statement, those of the given beginnings excepted; they follow from
    their items, and begin as they do today."""
    summary = committed_results(experiment)
    assert summary["scale"] == "full"
    assert_follows(summary)
    assert_begins(summary, *slice_again(summary))
    for judged in (summary, summary if effort.name == "quick" else run_experiment(experiment, "full")):
        found = [
            (one["text"].startswith(unmet), one["met"]) for one in judged["criteria"] if one["statement"] == statement
        ]
        assert all(met != excepted for excepted, met in found)
        assert sum(excepted for excepted, _ in found) == len(unmet) < len(found)


def relu_networks_step_as_written(sample: int | None, noise: float, decay: float) -> None:
    """20 steps of a ReLU network against autograd in float64; a step adds fewer than 100 terms of size 1 in float32."""
    network = initial_network(9, 3, 6, np.random.default_rng(1))
    before = [part.copy() for part in network.parameters()]
    expected = autograd_relu_steps(tuple(before), 3, np.random.default_rng(2), 20, 8, 0.2, decay, noise, sample, 30)
    train_compiled(network, 20, np.random.default_rng(2), batch=8, rate=0.2, decay=decay, noise=noise, sample=sample,
                   check_every=20, held_out=30, until_success=False)  # fmt: skip
    for part, wanted in zip(network.parameters(), expected, strict=True):
        assert np.abs(part - wanted).max() < 2e-5
    assert np.abs(network.hidden - before[0]).max() > 0.02


def power_networks_step_as_written(kind: str) -> None:
    """Ten steps of a network with activation z^3 or ReLU against autograd in float64, to the precision of float32."""
    network = initial_network(7, 3, 5, np.random.default_rng(1), kind)  # type: ignore[arg-type]
    start = [part.copy() for part in network.parameters()]
    W, b, u, c = (torch.tensor(part.astype(np.float64), requires_grad=True) for part in start)
    rng = np.random.default_rng(2)

    def signs(count: int) -> torch.Tensor:
        return torch.tensor(2.0 * rng.integers(0, 2, size=(count, 7), dtype=np.int8) - 1)

    signs(20)  # the validation sample
    for _ in range(10):
        x = signs(6)
        z = x @ W.T + b
        f = (z**3 if kind == "power" else torch.relu(z)) @ u + c
        loss = torch.clamp(1 - torch.prod(x[:, :3], dim=1) * f, min=0).mean()
        gradient = torch.autograd.grad(loss, (W, b, u, c))
        with torch.no_grad():
            for part, slope in zip((W, b, u, c), gradient, strict=True):
                part -= 0.1 * slope
    train_parity(network, 10, 6, 0.1, np.random.default_rng(2), check_every=10, validation=20, until_converged=False)
    for part, wanted, before in zip(network.parameters(), (W, b, u, c), start, strict=True):
        assert np.abs(part - wanted.detach().numpy()).max() < 2e-5
        assert np.abs(part - before).max() > 1e-3


def architectures_step_as_written() -> None:
    """Eight steps of four single neurons and of z^3, with each loss, against autograd in float64."""
    losses: dict[Loss, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
        "hinge": lambda f, y: torch.clamp(1 - y * f, min=0),
        "square": lambda f, y: (y - f) ** 2,
        "logistic": lambda f, y: torch.log(1 + torch.exp(-y * f)),
    }
    k = 3
    kinks = torch.arange(-k, k + 1, 2, dtype=torch.float64)

    def zigzag(z: torch.Tensor) -> torch.Tensor:
        piece = torch.clamp(torch.floor((z + k) / 2), 0, k - 1)
        return (-1.0) ** (k - piece) * (1 - (z - kinks[piece.long()]))

    activations = {
        "vii": zigzag,
        "ix": lambda z: torch.abs(4 * ((2 * z - k) / 4 - torch.floor((2 * z - k) / 4)) - 2) - 1,
        "x": lambda z: torch.sin(np.pi / 2 * (2 * z + 1 - k)),
        "iv": lambda z: z**k,
    }
    for setting, activation in activations.items():
        for name, loss in losses.items():
            network = initial_network(7, k, 10 if setting == "iv" else 1, np.random.default_rng(1))
            start = tuple(part.copy() for part in network.parameters())
            expected = autograd_single_steps(activation, loss, start, k, np.random.default_rng(2), 8, 6, 0.05, 20)
            train_architecture(setting, network, 8, np.random.default_rng(2), batch=6, rate=0.05, loss=name,
                               check_every=8, held_out=20)  # fmt: skip
            for part, wanted in zip(network.parameters(), expected, strict=True):
                assert np.abs(part - wanted).max() < 2e-5
            assert np.abs(network.hidden - start[0]).max() > 1e-3
