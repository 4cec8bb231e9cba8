"""Networks of circuits: numbers of parameters, torch, padding, verification and its controls."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch

from constructions.circuits.boolean import BooleanGate, LayeredCircuit, all_inputs, from_truth_table, layered
from constructions.circuits.relu import QUARTERS, circuit_network, exact_values, rounding, verify
from constructions.circuits.text import parse_circuit
from constructions.networks.affine import Affine
from constructions.networks.feed_forward import FeedForward
from numerics.exact.numbers import as_exact, to_float

CIRCUIT = layered(from_truth_table("01101001"))


@pytest.mark.parametrize("corrections", ["none", "layers", "steps"])
def test_float_exact_and_torch_agree(corrections):
    network = circuit_network(CIRCUIT, corrections, width=2 * CIRCUIT.width)
    x = all_inputs(3)
    exact = network.output(network.parameters, as_exact(x.astype(int)))
    assert exact.tolist() == [-1, 1, 1, -1, 1, -1, -1, 1]
    assert np.abs(network(x) - to_float(exact)).max() < 1e-12
    module = network.to_torch()
    assert np.abs(module(torch.from_numpy(x.astype(float))).detach().numpy()[:, 0] - to_float(exact)).max() < 1e-12
    assert sum(p.numel() for p in module.parameters()) == len(network.parameters)
    assert network.to_torch(torch.float32)(torch.zeros(1, 3)).dtype == torch.float32


def test_quarters_are_exact_in_float32():
    network = circuit_network(CIRCUIT, "steps", QUARTERS).to_torch(torch.float32)
    values = network(torch.from_numpy(all_inputs(3).astype(np.float32))).detach().numpy()[:, 0]
    assert set(values.tolist()) == {-1.0, 1.0}


def test_the_vector_of_parameters_is_in_the_order_of_the_computation():
    network = circuit_network(CIRCUIT)
    theta, blocks = network.parameters, network.blocks()
    assert [name for name, _ in blocks][:3] == ["f0", "zeta0", "f1"]
    assert blocks[-1][0] == "head"
    assert blocks[-1][1].stop == len(theta)
    first = network.steps[0].layers[0]
    assert theta[blocks[0][1]].tolist() == [*first.weight.ravel().tolist(), *first.bias.tolist()]
    assert sum(abs(x) for x in theta) == int(network.one_norm)
    hidden = network.hidden(theta, as_exact(all_inputs(3).astype(int)))
    for (_, values, denominator), expected in zip(exact_values(network, all_inputs(3)), hidden, strict=True):
        assert (values / denominator).tolist() == to_float(expected).tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"corrections": "all"}, "must be one of none, layers, steps"),
        ({"thresholds": (Fraction(2, 3), Fraction(1, 3))}, "0 < low < high < 1"),
        ({"thresholds": (Fraction(0), Fraction(1, 3))}, "0 < low < high < 1"),
        ({"width": CIRCUIT.width}, "too small"),
        ({"width": 10_000}, "would have about"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        circuit_network(CIRCUIT, **arguments)


def test_verification_names_the_layer_and_the_input():
    """Faults: a gate exchanged, a rounding threshold moved beyond the bit, a head with the wrong sign."""
    network = circuit_network(CIRCUIT)
    gates = list(CIRCUIT.layers[1])
    gates[0] = BooleanGate("ID" if gates[0].operation == "NOT" else "NOT", gates[0].parents[:1])
    layers = (CIRCUIT.layers[0], tuple(gates), *CIRCUIT.layers[2:])
    assert "f2 differs" in verify(replace(network, circuit=LayeredCircuit(3, layers, CIRCUIT.output))).fault
    moved = rounding(len(CIRCUIT.layers[0]), Fraction(1, 3), Fraction(2, 3))
    bias = moved.layers[0].bias.copy()
    bias[0] = as_exact([Fraction(-5, 6)])[0]
    moved = FeedForward((Affine(moved.layers[0].weight, bias), moved.layers[1]))
    assert "zeta0 differs" in verify(replace(network, roundings=(moved, *network.roundings[1:]))).fault
    head = Affine(-network.head.weight, network.head.bias)
    assert "head differs" in verify(replace(network, head=head)).fault


def test_many_inputs_are_sampled():
    names = [f"x{i}" for i in range(20)]
    result = verify(circuit_network(layered(parse_circuit(f"inputs {' '.join(names)}\ny = AND(x0, NOT(x19))")), "none"))
    assert (result.exhaustive, result.inputs, result.fault) == (False, 2**16, None)


@pytest.mark.parametrize("amount", [-1, 1])
def test_values_too_small_and_too_large_are_seen(amount):
    """The bias of the first gate is moved down, up, and that of a padded coordinate up, where a 0 must stay."""
    circuit = LayeredCircuit(2, ((BooleanGate("ID", (0,)), BooleanGate("OR", (0, 1))), (BooleanGate("ID", (0,)),)), 0)
    network = circuit_network(circuit, "none", width=3)
    for place in (0, 2) if amount > 0 else (0,):
        (first, second), *others = (step.layers for step in network.steps)
        bias = second.bias.copy()
        bias[place] += amount
        steps = [(first, replace(second, bias=bias)), *others]
        blocks = tuple(replace(step, layers=new) for step, new in zip(network.steps, steps, strict=True))
        fault = verify(replace(network, steps=blocks)).fault
        assert fault is not None
        assert fault.startswith("f0 differs from the circuit")
    assert verify(network).fault is None
