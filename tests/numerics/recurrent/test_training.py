"""Compiled steps of SGD on an Elman network: against autograd and the plain gradient, and bad input."""

import numpy as np
import pytest
import torch

from lemmata.constructions.recurrent.elman import ElmanNetwork, random_elman, trace, weighted_gradient
from lemmata.numerics.recurrent.training import ElmanColumns, elman_columns, elman_gradient, elman_steps


def _network(seed: int, m: int, d: int = 2) -> ElmanNetwork:
    return random_elman(m, 4, d, np.random.default_rng(seed))


def _columns(network: ElmanNetwork, dtype: type = np.float64) -> ElmanColumns:
    return elman_columns(network.state, network.token, network.readout, dtype)


@pytest.mark.parametrize(("m", "length"), [(1, 1), (7, 3), (16, 2), (33, 6), (200, 5)])
def test_the_gradient_is_that_of_the_plain_form(m, length):
    network, rng = _network(m, m), np.random.default_rng(1)
    x, weights = rng.standard_normal((length, 4)), rng.standard_normal((length, 2))
    outputs, gradient = elman_gradient(_columns(network), x, weights)
    run = trace(network, x)
    np.testing.assert_allclose(outputs, run.outputs, rtol=0, atol=1e-13 * (1 + np.abs(run.outputs).max()))
    expected = weighted_gradient(network, run, weights)
    np.testing.assert_allclose(gradient.T, expected, rtol=0, atol=1e-13 * (1 + np.abs(expected).max()))
    assert m == 1 or length == 1 or np.abs(expected).max() > 0.01


@pytest.mark.parametrize("d", [1, 3])
def test_steps_are_those_of_torch(d):
    """Twelve steps, in float64, with the sum of distances from l = 3 on."""
    network, rng = _network(3, 40, d), np.random.default_rng(2)
    x, y, rate, scale = rng.standard_normal((12, 5, 4)), rng.standard_normal((12, 5, d)), 0.002, 0.7
    W = torch.tensor(network.state, requires_grad=True)
    A, B = torch.tensor(network.token), torch.tensor(network.readout)
    optimiser, expected = torch.optim.SGD([W], lr=rate), []
    for tokens, labels in zip(torch.tensor(x), torch.tensor(y), strict=True):
        h, loss = torch.zeros(40, dtype=torch.float64), torch.zeros((), dtype=torch.float64)
        for l in range(5):
            h = torch.relu(W @ h + A @ tokens[l])
            if l >= 2:
                loss = loss + torch.linalg.vector_norm(scale * (B @ h) - labels[l])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        expected.append(loss.item())
    columns = _columns(network)
    losses = elman_steps(columns, x, y, rate, scale)
    np.testing.assert_allclose(losses, expected, rtol=1e-12)
    np.testing.assert_allclose(columns.state.T, W.detach().numpy(), rtol=0, atol=1e-13)
    assert np.abs(columns.state.T - network.state).max() > 1e-3
    assert (network.token == columns.token.T).all()
    assert (network.readout == columns.readout).all()


def test_single_precision_is_near_and_repeats_itself():
    network, rng = _network(4, 100, 1), np.random.default_rng(5)
    x, y = rng.standard_normal((30, 4, 4)) / 2, rng.standard_normal((30, 4, 1))
    runs = []
    for dtype in (np.float32, np.float32, np.float64):
        columns = _columns(network, dtype)
        runs.append((elman_steps(columns, x, y, 0.001), columns.state))
    assert (runs[0][0] == runs[1][0]).all()
    assert (runs[0][1] == runs[1][1]).all()
    np.testing.assert_allclose(runs[0][0], runs[2][0], rtol=1e-4)
    assert runs[0][1].dtype == np.float32


def test_a_label_that_is_met_gives_no_step():
    network = _network(6, 20, 1)
    x = np.random.default_rng(7).standard_normal((1, 3, 4))
    columns = _columns(network)
    y = elman_gradient(columns, x[0], np.zeros((3, 1)))[0]
    before = columns.state.copy()
    assert elman_steps(columns, x, y[None], 0.1)[0] == 0
    assert (columns.state == before).all()


def test_bad_input():
    network = _network(0, 6)
    columns, x, y = _columns(network), np.zeros((3, 4, 4)), np.zeros((3, 4, 2))
    with pytest.raises(ValueError, match="W has the shape"):
        elman_columns(np.zeros((2, 3)), np.zeros((2, 4)), np.zeros((1, 2)))
    with pytest.raises(ValueError, match="A has 6 rows and B 6 columns"):
        elman_columns(network.state, network.token[:5], network.readout)
    with pytest.raises(ValueError, match="float32 or float64"):
        elman_columns(network.state, network.token, network.readout, np.float16)
    with pytest.raises(ValueError, match="L >= 3"):
        elman_steps(columns, x[:, :2], y[:, :2], 0.1)
    with pytest.raises(ValueError, match="3 sequences and 2 sequences of labels"):
        elman_steps(columns, x, y[:2], 0.1)
    with pytest.raises(ValueError, match="tokens of width 4 and has 2 outputs"):
        elman_steps(columns, x[:, :, :3], y, 0.1)
    with pytest.raises(ValueError, match="tokens of width 4 and has 2 outputs"):
        elman_gradient(columns, x[0], y[0, :3])
    for rate, scale in ((0, 1), (float("inf"), 1), (0.1, -1)):
        with pytest.raises(ValueError, match="positive and finite"):
            elman_steps(columns, x, y, rate, scale)
