"""The verification of networks of circuits: faults that it must name, many inputs, padding."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lemmata.constructions.circuits import verification
from lemmata.constructions.circuits.boolean import BooleanGate, LayeredCircuit, from_truth_table, layered
from lemmata.constructions.circuits.relu import circuit_network, rounding
from lemmata.constructions.circuits.text import parse_circuit
from lemmata.constructions.circuits.verification import verify
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.numerics.exact.numbers import as_exact

CIRCUIT = layered(from_truth_table("01101001"))


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


def test_numerators_up_to_2_to_53_are_exact():
    """3 * 2^51 is held, 2^53 is refused."""
    layer = Affine(np.array([[2**51]]), np.array([2**51]))
    values, denominator = verification._exact_affine(layer, np.array([[2.0]]), 1)
    assert (values.tolist(), denominator) == ([[3 * 2.0**51]], 1)
    with pytest.raises(ValueError, match="beyond 2"):
        verification._exact_affine(layer, np.array([[3.0]]), 1)
