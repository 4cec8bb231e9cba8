"""Attention and recurrent networks as circuits: beside torch, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from flint import arb, fmpq

from lemmata.constructions.circuits.architectures import attention_circuit, recurrent_circuit
from lemmata.constructions.circuits.arithmetic import UNARY, Circuit, gradient


def test_attention_and_its_gradient_agree_with_torch() -> None:
    T, d, k, e = 4, 3, 2, 2
    circuit = attention_circuit(T, d, k, e)
    inputs = np.random.default_rng(2).normal(size=circuit.inputs)
    leaf = torch.tensor(inputs, requires_grad=True)
    Z, rest = leaf[: T * d].reshape(T, d), leaf[T * d :]
    W_Q, W_K, W_V = rest[: d * k].reshape(d, k), rest[d * k : 2 * d * k].reshape(d, k), rest[2 * d * k :].reshape(d, e)
    expected = torch.softmax(Z @ W_K @ (Z[-1] @ W_Q), dim=0) @ Z @ W_V
    assert np.allclose(circuit(inputs.tolist()), expected.detach().numpy(), rtol=0, atol=1e-13)
    expected[1].backward()
    assert leaf.grad is not None
    second = Circuit(circuit.inputs, circuit.gates, circuit.outputs[1:])
    assert np.allclose(gradient(second)(inputs.tolist()), leaf.grad.numpy(), rtol=0, atol=1e-12)
    assert np.count_nonzero(leaf.grad.numpy()) > 20


def test_recurrent_networks_agree_with_torch() -> None:
    T, d, m = 5, 2, 3
    circuit = recurrent_circuit(T, d, m)
    inputs = np.random.default_rng(3).normal(size=circuit.inputs)
    Z, W, A = inputs[:10].reshape(T, d), inputs[10:19].reshape(m, m), inputs[19:].reshape(d, m)
    cell = torch.nn.RNN(d, m, nonlinearity="relu", bias=False, dtype=torch.float64)
    with torch.no_grad():
        cell.weight_hh_l0.copy_(torch.tensor(W.T.copy()))
        cell.weight_ih_l0.copy_(torch.tensor(A.T.copy()))
        expected = cell(torch.tensor(Z))[0][-1].numpy()
    assert np.allclose(circuit(inputs.tolist()), expected, rtol=0, atol=1e-13)
    assert (expected > 0).any()


@pytest.mark.parametrize("sizes", [(0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0)])
def test_sizes_are_positive(sizes: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        attention_circuit(*sizes)
    with pytest.raises(ValueError, match="at least 1"):
        recurrent_circuit(*(0 if 0 in sizes else 1, *sizes[1:3]))


def test_exponentials_and_inverses() -> None:
    exp, inverse, slope = (UNARY[name].function for name in ("exp", "inverse", "inverse_slope"))
    assert exp(0.0) == 1.0
    assert exp(arb(0)) == 1
    for number in (1, Fraction(1, 2), fmpq(1)):
        with pytest.raises(ValueError, match="not rational"):
            exp(number)
    assert inverse(4) == Fraction(1, 4)
    assert inverse(fmpq(2, 3)) == fmpq(3, 2)
    assert slope(Fraction(1, 2)) == -4
    assert slope(-2.0) == -0.25
    for number in (0, 0.0, Fraction(0), arb(0, 1)):
        with pytest.raises(ValueError, match="no inverse"):
            inverse(number)
        with pytest.raises(ValueError, match="no inverse"):
            slope(number)
