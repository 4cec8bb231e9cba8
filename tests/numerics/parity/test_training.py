"""`lemmata.numerics.parity.training`: the gradient against PyTorch, determinism, bad input."""

import math

import numpy as np
import pytest
import torch

from lemmata.numerics.parity.training import initial_network, network_gradient, network_output, train_parity


@pytest.mark.parametrize("kind", ["relu", "power", "polynet"])
@pytest.mark.parametrize("init", ["uniform", "gaussian", "bernoulli"])
def test_the_gradient_is_that_of_autograd(kind: str, init: str) -> None:
    rng = np.random.default_rng(3)
    network = initial_network(7, 3, 5, rng, kind, init)  # type: ignore[arg-type]
    x = rng.choice([-1, 1], size=(20, 7)).astype(np.float32)
    y = np.prod(x[:, :3], axis=1)
    loss, gradient = network_gradient(network, x, y)
    w, b, u, c = (torch.tensor(part, dtype=torch.float64, requires_grad=True) for part in network.parameters())
    z = torch.tensor(x, dtype=torch.float64) @ w.T + b
    f = {"relu": lambda: torch.relu(z) @ u + c, "power": lambda: z**3 @ u + c, "polynet": lambda: z.prod(dim=1)}[kind]()
    reference = torch.relu(1 - torch.tensor(y, dtype=torch.float64) * f).mean()
    parts = torch.autograd.grad(reference, (w, b, u, c), allow_unused=True)
    assert abs(loss - reference.item()) < 1e-5
    assert np.allclose(network_output(network, x), f.detach().numpy(), atol=1e-5)
    for part, expected in zip(gradient, parts, strict=True):
        zero = np.zeros_like(part)
        assert np.allclose(part, zero if expected is None else expected.numpy(), atol=1e-5)
    assert any(np.any(part != 0) for part in gradient)


def test_a_run_learns_repeats_and_records() -> None:
    def go(seed: int) -> tuple[int | None, list[float]]:
        rng = np.random.default_rng(seed)
        run = train_parity(initial_network(12, 2, 60, rng), 2000, 32, 0.5, rng)
        assert len(run.steps) == len(run.accuracy) == len(run.relevant_move) == len(run.loss)
        assert run.train_accuracy == []
        return run.converged, run.loss

    assert go(1) == go(1)
    assert go(1) != go(2)
    converged = go(1)[0]
    assert converged is not None
    assert converged < 2000


def test_a_fixed_sample_is_fitted_before_it_generalises() -> None:
    rng = np.random.default_rng(0)
    network = initial_network(20, 3, 100, rng)
    run = train_parity(network, 3000, 32, 0.1, rng, sample=40, check_every=100, until_converged=False)
    assert run.train_accuracy[-1] == 1.0
    assert run.accuracy[-1] < 0.7


def test_the_starts_have_the_stated_sizes() -> None:
    """n = 400, r = 900: bounds 1/20 and 1/30; the largest of N uniform numbers misses its bound by about 1/N."""
    networks = {
        init: initial_network(400, 3, 900, np.random.default_rng(0), "relu", init)  # type: ignore[arg-type]
        for init in ("uniform", "gaussian", "bernoulli")
    }
    for part, bound in (("hidden", 1 / 20), ("readout", 1 / 30)):
        assert 0.98 * bound < np.abs(getattr(networks["uniform"], part)).max() <= bound * (1 + 1e-6)
        assert np.allclose(np.abs(getattr(networks["bernoulli"], part)), bound)
        # 900 numbers give their standard deviation with a relative error of 1/sqrt(1800) = 2.4 %, here four times that
        assert abs(getattr(networks["gaussian"], part).std() / (math.sqrt(2) * bound) - 1) < 0.095
    for network in networks.values():
        assert 0.98 / 20 < np.abs(network.bias).max() <= 1 / 20 * (1 + 1e-6)
        assert np.abs(network.output_bias) <= 1 / 30
    assert initial_network(6, 3, 900, np.random.default_rng(0), "polynet").hidden.shape == (3, 6)


def test_the_stated_share_of_training_labels_is_flipped() -> None:
    """An exact parity agrees with 1 - p of 20,000 labels (five standard deviations), and with all validation labels."""
    network = initial_network(6, 3, 3, np.random.default_rng(0), "polynet")
    network.hidden[:], network.bias[:] = np.eye(3, 6), 0
    for noise in (0.1, 0.3):
        run = train_parity(network, 1, 1, 1e-9, np.random.default_rng(1), noise=noise, sample=20_000)
        assert abs(run.train_accuracy[-1] - (1 - noise)) < 5 * math.sqrt(noise * (1 - noise) / 20_000)
        assert run.accuracy == [1.0]


@pytest.mark.parametrize("kind", ["relu", "polynet"])
def test_the_moves_of_relevant_and_other_weights_are_kept_apart(kind: str) -> None:
    rng = np.random.default_rng(4)
    network = initial_network(40, 3, 20, rng, kind)  # type: ignore[arg-type]
    start = network.hidden.copy()
    run = train_parity(network, 10, 4, 0.5, rng, until_converged=False)
    moved = np.abs(network.hidden - start)
    assert run.relevant_move[-1] == moved[:, :3].max()
    assert run.irrelevant_move[-1] == moved[:, 3:].max()
    assert run.irrelevant_move[-1] > run.relevant_move[-1]  # a start at which nothing is learned yet


def test_decay_shrinks_weights_and_not_biases() -> None:
    rng = np.random.default_rng(0)
    network = initial_network(4, 2, 3, rng, "polynet")
    network.readout[:] = 1
    before = [part.copy() for part in network.parameters()]
    train_parity(network, 1, 1, 1e-9, rng, decay=1e8)
    assert np.allclose(network.hidden, 0.9 * before[0], atol=1e-6)
    assert np.allclose(network.bias, before[1], atol=1e-6)


def test_a_run_that_diverges_stops() -> None:
    rng = np.random.default_rng(0)
    network = initial_network(8, 4, 50, rng, "power", "gaussian")
    with np.errstate(all="ignore"):
        run = train_parity(network, 500, 8, 50.0, rng)
    assert run.converged is None
    assert len(run.steps) < 50


def test_bad_input() -> None:
    rng = np.random.default_rng(0)
    for k in (0, 4):
        with pytest.raises(ValueError, match="1 <= k <= n"):
            initial_network(3, k, 5, rng)
    with pytest.raises(ValueError, match="kinds are"):
        initial_network(3, 2, 5, rng, "gelu")  # type: ignore[arg-type]
    network = initial_network(3, 2, 5, rng)
    with pytest.raises(ValueError, match="at least 1"):
        train_parity(network, 0, 1, 0.1, rng)
    with pytest.raises(ValueError, match="rate > 0"):
        train_parity(network, 1, 1, 0.1, rng, noise=0.6)
    for rate, decay in ((math.nan, 0.0), (math.inf, 0.0), (0.1, math.nan), (0.1, math.inf)):
        with pytest.raises(ValueError, match="finite rate > 0"):
            train_parity(network, 1, 1, rate, rng, decay=decay)
