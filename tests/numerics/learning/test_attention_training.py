"""The compiled training of a one-layer attention network, beside the same network in torch and in plain NumPy."""

import math

import numpy as np
import pytest
import torch

from lemmata.numerics.learning import attention_kernels as kernels
from lemmata.numerics.learning.attention_training import (
    Adam,
    AttentionReader,
    attention_weights,
    initial_reader,
    loss_and_gradient,
    parameters,
    predictions,
    string_codes,
)

F = torch.nn.functional
NORMS = {"1": ("scale1", "shift1"), "2": ("scale2", "shift2"), "out": ("scale_out", "shift_out")}


def twin(p: dict[str, torch.Tensor], heads: int, bits: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """The logits and the softmax weights, with all T + 1 tokens of every string written out, in float64."""
    m, T = bits.shape
    d = p["E"].shape[1]

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        scale, shift = NORMS[name]
        return F.layer_norm(x, (d,), p[scale], p[shift])

    x = p["E"][torch.tensor(np.concatenate([bits, np.full((m, 1), 2)], axis=1))] + p["P"]
    u = norm(x, "1")
    q = (u[:, -1] @ p["WQ"] + p["bQ"]).reshape(m, heads, -1)
    k = (u @ p["WK"]).reshape(m, T + 1, heads, -1)
    v = (u @ p["WV"] + p["bV"]).reshape(m, T + 1, heads, -1)
    weights = torch.softmax(torch.einsum("mhk,mthk->mht", q, k) / math.sqrt(d // heads), dim=-1)
    y = x[:, -1] + torch.einsum("mht,mthk->mhk", weights, v).reshape(m, d) @ p["WO"] + p["bO"]
    hidden = F.gelu(norm(y, "2") @ p["W1"] + p["b1"], approximate="tanh")
    return norm(y + hidden @ p["W2"] + p["b2"], "out") @ p["W_out"], weights


def random_reader(T: int, d: int, heads: int, seed: int) -> AttentionReader:
    """A network with no parameter at 0 or 1, so that every part of the gradient is seen."""
    rng = np.random.default_rng(seed)
    reader = initial_reader(T, rng, width=d, heads=heads, deviation=0.3)
    reader.theta[:] += np.asarray(0.1 * rng.standard_normal(len(reader.theta)), np.float32)
    return reader


@pytest.mark.parametrize(("T", "d", "heads", "m"), [(7, 16, 4, 13), (8, 8, 1, 4), (1, 64, 16, 3), (10, 64, 16, 30)])
def test_loss_and_gradient_are_those_of_automatic_differentiation(T: int, d: int, heads: int, m: int) -> None:
    """Float32 against float64: scores of size 20, sums of 64 terms, are right to about 64 * 20 * 2^-24 / 8 = 1e-5."""
    reader = random_reader(T, d, heads, m)
    rng = np.random.default_rng([T, m])
    bits, labels = rng.integers(0, 2, (m, T)), rng.integers(0, 2, m)
    p = {name: torch.tensor(part.astype(np.float64), requires_grad=True) for name, part in parameters(reader).items()}
    logits, weights = twin(p, heads, bits)
    expected = F.cross_entropy(logits, torch.tensor(labels))
    expected.backward()
    loss, wrong, gradient = loss_and_gradient(reader, string_codes(bits), labels)
    assert loss == pytest.approx(expected.item(), abs=1e-5)
    assert wrong == int((logits.argmax(dim=1).numpy() != labels).sum())
    np.testing.assert_allclose(predictions(reader, string_codes(bits)), logits.detach().numpy(), atol=1e-5)
    np.testing.assert_allclose(attention_weights(reader, bits), weights.detach().numpy(), atol=1e-5)
    for name, part in parameters(AttentionReader(T, d, heads, gradient)).items():
        grad = p[name].grad
        assert grad is not None
        assert grad.abs().max() > 1e-6, f"the gradient in {name} is tried on nothing"
        np.testing.assert_allclose(part, grad.numpy(), atol=1e-5 * max(1.0, float(grad.abs().max())))


def test_steps_are_those_of_adam_with_decoupled_decay() -> None:
    reader = random_reader(6, 16, 4, 1)
    rng = np.random.default_rng(3)
    bits, labels = rng.integers(0, 2, (20, 6)), rng.integers(0, 2, 20)
    p = {name: torch.tensor(part.astype(np.float64), requires_grad=True) for name, part in parameters(reader).items()}
    matrices = [p[name] for name in ("WQ", "WK", "WV", "WO", "W1", "W2", "W_out")]
    others = [part for part in p.values() if not any(part is matrix for matrix in matrices)]
    twin_adam = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.5}, {"params": others, "weight_decay": 0.0}],
                                  lr=1e-2, betas=(0.9, 0.999))  # fmt: skip
    adam = Adam(reader, rate=1e-2, decay=0.5)
    for _ in range(10):
        loss, _ = adam.step(string_codes(bits), labels)
        twin_adam.zero_grad()
        expected = F.cross_entropy(twin(p, 4, bits)[0], torch.tensor(labels))
        expected.backward()
        twin_adam.step()
        assert loss == pytest.approx(expected.item(), abs=1e-4)
    for name, part in parameters(reader).items():
        np.testing.assert_allclose(part, p[name].detach().numpy(), atol=1e-4, err_msg=name)


def test_the_network_learns_one_bit_and_attends_to_it() -> None:
    reader = initial_reader(9, np.random.default_rng(0), heads=1)
    adam, rng = Adam(reader), np.random.default_rng(1)
    bits = rng.integers(0, 2, (200, 9))
    losses = [adam.step(string_codes(bits), bits[:, 4])[0] for _ in range(150)]
    assert losses[0] > 0.6 > 0.1 > losses[-1]
    assert attention_weights(reader, bits)[:, 0, :9].mean(axis=0).argmax() == 4


def test_the_same_seed_gives_the_same_bits() -> None:
    rows = []
    for _ in range(2):
        rng = np.random.default_rng(5)
        reader = initial_reader(10, rng)
        bits = rng.integers(0, 2, (30, 10))
        adam = Adam(reader)
        for _ in range(3):
            adam.step(string_codes(bits), bits[:, 0])
        rows.append(reader.theta)
    assert rows[0].tobytes() == rows[1].tobytes()


@pytest.mark.parametrize(("rows", "inner", "columns"), [(1, 1, 1), (4, 2, 3), (7, 5, 9), (9, 64, 16)])
def test_products(rows: int, inner: int, columns: int) -> None:
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal(shape).astype(np.float32) for shape in ((rows, inner), (inner, columns)))
    C = np.ones((rows, columns), np.float32)
    kernels.product(A, B, C)
    np.testing.assert_allclose(C, 1 + A @ B, atol=1e-4)
    D = np.ones((inner, columns), np.float32)
    tall = rng.standard_normal((rows, columns)).astype(np.float32)
    kernels.transposed_product(A, tall, D)
    np.testing.assert_allclose(D, 1 + A.T @ tall, atol=1e-4)


def test_exponentials_are_right_to_a_few_units_in_the_last_place() -> None:
    x = np.concatenate([np.linspace(-87, 88, 20_001), [0.0, -0.0]]).astype(np.float32)
    y = x.copy()
    kernels.exponentials(y)
    assert np.abs(y / np.exp(x.astype(np.float64)) - 1).max() < 4e-7
    assert y[-1] == 1
    far = np.array([-1e6, 1e6], np.float32)
    kernels.exponentials(far)
    assert 0 < far[0] < 1e-37
    assert math.isfinite(far[1])


@pytest.mark.parametrize("T", [1, 4, 6, 11])
def test_mixing_and_its_adjoint(T: int) -> None:
    rng = np.random.default_rng(T)
    bits = rng.integers(0, 2, (9, T))
    U, dN = rng.standard_normal((2 * T + 1, 5)).astype(np.float32), rng.standard_normal((9, 5)).astype(np.float32)
    N, dU = np.empty((9, 5), np.float32), np.empty_like(U)
    kernels.mix(U, string_codes(bits), T, N)
    expected = np.array([sum(U[2 * t + row[t]] for t in range(T)) + U[-1] for row in bits])
    np.testing.assert_allclose(N, expected, atol=1e-5)
    kernels.unmix(dN, string_codes(bits), T, dU)
    assert float((N * dN).sum()) == pytest.approx(float((U * dU).sum()), abs=1e-4)
    assert dU[-1] == pytest.approx(dN.sum(axis=0), abs=1e-5)


def test_the_parameters_of_the_printed_network() -> None:
    """69,696 with the 64 biases of the keys, which cancel."""
    assert len(initial_reader(300, np.random.default_rng(0)).theta) == 69_696 - 64


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"length": 0}, "length of at least 1"),
        ({"length": 5, "heads": 3}, "that its heads and 4 divide"),
        ({"length": 5, "width": 6, "heads": 3}, "that its heads and 4 divide"),
        ({"length": 5, "deviation": 0.0}, "finite positive deviation"),
        ({"length": 5, "deviation": math.nan}, "finite positive deviation"),
    ],
)
def test_networks_that_do_not_exist(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        initial_reader(rng=np.random.default_rng(0), **arguments)


def test_strings_and_rates_that_are_refused() -> None:
    reader = initial_reader(5, np.random.default_rng(0))
    for bits in ([[0, 2]], [0, 1], [[0.5]]):
        with pytest.raises(ValueError, match="zeros and ones"):
            string_codes(bits)
    with pytest.raises(ValueError, match="strings of 5 bits, not of 4"):
        attention_weights(reader, [[0, 1, 0, 1]])
    with pytest.raises(ValueError, match="of 5 bits"):
        predictions(reader, string_codes([[0, 1, 0, 1]]))
    with pytest.raises(ValueError, match="labels"):
        loss_and_gradient(reader, string_codes([[0, 1, 0, 1, 1]]), np.array([0, 1]))
    with pytest.raises(ValueError, match="labels"):
        loss_and_gradient(reader, string_codes([[0, 1, 0, 1, 1]]), np.array([2]))
    for rate, decay in ((0.0, 0.0), (math.inf, 0.0), (1e-3, -1.0), (math.nan, 0.0)):
        with pytest.raises(ValueError, match="finite rate"):
            Adam(reader, rate=rate, decay=decay)
