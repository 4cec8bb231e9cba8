"""Evaluation of circuits, gradients beside torch, constants, and the circuits that are refused."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from flint import arb, fmpq

from lemmata.constructions.circuits.arithmetic import UNARY, Circuit, Gate, gradient, two_layer_mlp, universal_circuit


def test_constants_are_used_and_cost_no_gate_in_the_gradient():
    """f = 3 x^2 + 5: two gates pass something to constants, which is not computed."""
    gates = (Gate("square", (0,)), Gate("*", (1, 3)), Gate("+", (4, 2)))
    circuit = Circuit(1, gates, (5,), constants=(3, 5))
    assert circuit([2]) == (17,)
    assert gradient(circuit)([2]) == (12,)
    assert gradient(circuit).size == circuit.size + 3  # 1 * 3, double(x), and their product


def test_inputs_that_do_not_matter_have_derivative_zero():
    assert gradient(Circuit(3, (Gate("+", (0, 0)),), (3,)))([7, 8, 9]) == (2, 0, 0)
    assert gradient(Circuit(2, (), (1,)))([7, 8]) == (0, 1)


def test_dead_gates_are_not_differentiated():
    circuit = Circuit(2, (Gate("*", (0, 1)), Gate("step", (0,)), Gate("+", (2, 2))), (4,))
    assert circuit.counts() == {"*": 1, "+": 1}
    assert gradient(circuit)([3, 4]) == (8, 6)


def test_the_gradient_of_a_network_agrees_with_torch():
    rng = np.random.default_rng(3)
    d_in, d_hidden = 4, 6
    circuit = two_layer_mlp(d_in, d_hidden)
    inputs = rng.normal(size=circuit.inputs)
    leaf = torch.tensor(inputs, requires_grad=True)
    x, u, W = leaf[:d_in], leaf[d_in : d_in + d_hidden], leaf[d_in + d_hidden :].reshape(d_hidden, d_in)
    value = u @ torch.relu(W @ x)
    value.backward()
    assert leaf.grad is not None
    # both add up at most ten products of a few units, in different orders: some dozen roundings of 1e-16 each
    assert circuit(list(inputs))[0] == pytest.approx(value.item(), rel=0, abs=1e-13)
    np.testing.assert_allclose(gradient(circuit)(list(inputs)), leaf.grad.numpy(), rtol=0, atol=1e-13)
    assert np.count_nonzero(leaf.grad.numpy()) > d_in + d_hidden


def test_the_torch_module_is_the_circuit_and_autograd_is_its_gradient():
    """Every gate and a constant, integer inputs of which float64 rounds no value; the step passes nothing on."""
    gates = (
        Gate("relu", (0,)), Gate("square", (1,)), Gate("*", (4, 5)), Gate("+", (6, 3)), Gate("double", (2,)),
        Gate("step", (1,)), Gate("+", (7, 9)), Gate("*", (7, 0)), Gate("+", (11, 4)),
    )  # fmt: skip
    circuit = Circuit(3, gates, (10, 8, 12), constants=(7,))
    x = np.random.default_rng(4).integers(-3, 4, size=(2, 20, 3))
    module = circuit.to_torch()
    assert list(module.parameters()) == []
    expected = [[list(circuit(row)) for row in rows] for rows in x.tolist()]
    assert module(torch.from_numpy(x.astype(float))).tolist() == expected
    assert module(torch.tensor([1.0, 2, 3], dtype=torch.float64)).tolist() == list(circuit([1, 2, 3]))
    single = Circuit(3, gates, (12,), constants=(7,))
    inputs = torch.from_numpy(x[0].astype(float)).requires_grad_()
    single.to_torch()(inputs).sum().backward()
    assert inputs.grad is not None
    assert inputs.grad.tolist() == [list(gradient(single)(row)) for row in x[0].tolist()]
    assert np.count_nonzero(inputs.grad.numpy()) > 20
    assert circuit.to_torch(dtype=torch.float32)(torch.zeros(1, 3)).dtype == torch.float32
    with pytest.raises(ValueError, match="has 3 inputs, but got 2"):
        module(torch.zeros(2, 2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, (), (0,)), r"cannot have -1 inputs"),
        ((1, (Gate("-", (0, 0)),), (1,)), r"Gate 1 has the operation '-'"),
        ((1, (Gate("+", (0,)),), (1,)), r"Gate 1 \(\+\) needs 2 operands, but has 1"),
        ((1, (Gate("relu", (0, 0)),), (1,)), r"Gate 1 \(relu\) needs 1 operands, but has 2"),
        ((1, (Gate("+", (0, 1)),), (1,)), r"do not all precede it"),
        ((1, (Gate("+", (0, -1)),), (1,)), r"do not all precede it"),
        ((1, (), (1,)), r"one or more of the 1 nodes"),
        ((1, (), ()), r"one or more of the 1 nodes"),
    ],
)
def test_malformed_circuits_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Circuit(*arguments)


def test_other_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"has 2 inputs, but got 1 values"):
        Circuit(2, (), (0,))([1])
    with pytest.raises(ValueError, match=r"this one has 2"):
        gradient(Circuit(2, (), (0, 1)))
    with pytest.raises(ValueError, match=r"unary gate 'step' \(node 1\) has no derivative"):
        gradient(Circuit(1, (Gate("step", (0,)),), (1,)))
    with pytest.raises(ValueError, match=r"d_in = 0"):
        two_layer_mlp(0, 3)


def test_the_gate_of_tables_in_all_numbers():
    """Bit v of theta at 2^v (2 theta + 1), and 0 off the positive integers."""
    gate = UNARY["table"].function
    for theta in range(16):
        for v in range(4):
            z = 2**v * (2 * theta + 1)
            bit = theta >> v & 1
            for number in (z, float(z), Fraction(z), fmpq(z), arb(z)):
                assert gate(number) == bit
                assert type(gate(number)) is type(number)
    for number in (0, -3, -6.0, 2.5, Fraction(7, 2), fmpq(-1, 3), arb(fmpq(5, 2))):
        assert gate(number) == 0
    with pytest.raises(ValueError, match="undecided"):
        gate(arb(6, fmpq(1, 2)))


def test_universal_circuits_as_torch_modules():
    points = torch.tensor([[theta, a, b] for theta in range(16) for a in (0, 1) for b in (0, 1)], dtype=torch.float64)
    found = universal_circuit(2).to_torch()(points)[:, 0].tolist()
    assert found == [int(theta) >> int(a + 2 * b) & 1 for theta, a, b in points.tolist()]
    with pytest.raises(ValueError, match="cannot be -1 bits"):
        universal_circuit(-1)
    with pytest.raises(ValueError, match="no derivative"):
        gradient(universal_circuit(1))
