"""Section 3: Boolean circuits, their layers, and the naive network that computes them.

Lemma B.1 for all circuits follows from its gates: column j of W_1, b_1, W_2, b_2 depends on gate j alone, and the value
of column j on bits only on the bits of the gate's parents. So all cases are the four operations on all values of their
parents, equal parents included; `test_every_gate_is_two_relu_layers` runs through them, and
`test_columns_of_gates_do_not_interact` checks the columns. Lemma 3.2 is lemma B.1 applied layer by layer: each step
maps bits to bits, so the next one is again in the case of lemma B.1.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from lemmata.certificates.margins.all_layer import circuit_margin_bound, operator_norm
from lemmata.constructions.circuits.boolean import (
    BooleanCircuit,
    BooleanGate,
    LayeredCircuit,
    all_inputs,
    from_truth_table,
    layered,
)
from lemmata.constructions.circuits.relu import QUARTERS, THIRDS, circuit_network
from lemmata.constructions.circuits.verification import exact_values, verify
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.turing.circuit_families import (
    OPERATIONS,
    alternating_chain,
    identity_chain,
    parity_circuit,
    prefix_conjunction,
    random_layered,
    random_sizes,
    small_circuits,
)

NORMS = {"AND": 4, "OR": 5, "NOT": 3, "ID": 2}


def truth(operation: str, bits: list[int]) -> int:
    """The value of a gate, by arithmetic instead of logic."""
    if operation == "AND":
        return min(bits)
    return max(bits) if operation == "OR" else (1 - bits[0] if operation == "NOT" else bits[0])


def evaluate(circuit: BooleanCircuit, node: int, x: tuple[int, ...]) -> int:
    """The value of a node by recursion over its parents."""
    if node < circuit.inputs:
        return x[node]
    operation, parents = circuit.gates[node - circuit.inputs]
    return truth(operation, [evaluate(circuit, parent, x) for parent in parents])


@check("turing:definition-circuits", grade="exact", target="printed")
@proof_steps("circuits.md: 1")
def test_every_small_circuit_is_layered_by_id_gates(effort):
    """Every circuit of two inputs and at most three gates keeps its function, with s q gates added at most.

    `LayeredCircuit` refuses edges that skip a layer. In general each node is handed on from its level to the last level
    that reads it, so every gate finds its parents in the layer before: the check goes through all ways in which up to
    three gates can read each other and the inputs.
    """
    x = all_inputs(2)
    skips = 0
    for size in range(1, effort.pick(quick=3) + 1):
        for circuit in small_circuits(2, size):
            result = layered(circuit)
            expected = [evaluate(circuit, circuit.output, tuple(word)) for word in x.astype(int).tolist()]
            assert result(x).astype(int).tolist() == expected == circuit(x).astype(int).tolist()
            assert result.size <= circuit.size * (1 + result.depth)
            skips += result.size > circuit.size
    assert skips > 0


@check("turing:definition-circuits", grade="exact", target="printed", supporting=True)
@proof_steps("circuits.md: 1")
@pytest.mark.parametrize("m", [2, 3, 4, 7, 10])
def test_layering_a_prefix_conjunction_takes_quadratically_many_gates(m):
    circuit = layered(prefix_conjunction(m))
    assert circuit.size == 2 * m - 1 + (m - 1) * (m - 2) // 2
    assert circuit.depth == m
    assert circuit(all_inputs(m)).tolist() == [False] * (2**m - 1) + [True]


@check("turing:proposition-B.2", grade="exact", target="printed", supporting=True)
@proof_steps("circuits.md: 2")
def test_and_and_or_gadgets():
    for a, b in product((0, 1), repeat=2):
        assert max(a + b - 1, 0) == (a and b)
        assert 1 - max(1 - a - b, 0) == (a or b)


@check("turing:lemma-B.1", grade="exact", target="printed")
@proof_steps("circuits.md: 2")
def test_every_gate_is_two_relu_layers():
    """All operations, all places of the parents among three bits, all values: see the module."""
    seen = 0
    for operation in OPERATIONS:
        for parents in product(range(3), repeat=2 if operation in {"AND", "OR"} else 1):
            network = circuit_network(LayeredCircuit(3, ((BooleanGate(operation, parents),),), 0), "none")
            assert network.one_norm - 3 == NORMS[operation]  # the head 2 z - 1 has norm 3
            for x in product((0, 1), repeat=3):
                hidden, output = network.steps[0].hidden(np.array([x]))
                assert hidden.item() in (0, 1)
                assert output.item() == truth(operation, [x[parent] for parent in parents])
                seen += 1
    assert seen == (9 + 9 + 3 + 3) * 8


@check("turing:lemma-B.1", grade="sampled", target="printed", supporting=True, cases="50 random layers, seed 1")
@proof_steps("circuits.md: 3")
def test_columns_of_gates_do_not_interact(effort):
    """Column j of a layer is that of its gate alone, padding is zero and stays zero, and the 1-norm is at most 5 r."""
    random = np.random.default_rng(1)
    for _ in range(effort.pick(quick=50, full=400)):
        m, widths = random_sizes(random, 5, 6, 1)
        circuit = random_layered(random, m, widths)
        (gates,) = circuit.layers
        w = 2 * circuit.width
        first, second = circuit_network(circuit, "none", width=w).steps[0].layers
        for j, gate in enumerate(gates):
            alone = circuit_network(LayeredCircuit(m, ((gate,),), 0), "none").steps[0].layers
            assert (first.weight[:, [j]] == alone[0].weight).all()
            assert first.bias[j] == alone[0].bias[0]
            assert second.weight[j, j] == alone[1].weight[0, 0]
            assert second.bias[j] == alone[1].bias[0]
        assert np.count_nonzero(second.weight) == len(gates)
        assert not first.weight[:, len(gates) :].any()
        assert not first.bias[len(gates) :].any()
        assert not second.bias[len(gates) :].any()
        norm = sum(int(abs(a).sum()) for layer in (first, second) for a in layer.arrays())
        assert norm == sum(NORMS[gate.operation] for gate in gates) <= 5 * len(gates)


@check("turing:lemma-B.1", grade="exact", target="printed", supporting=True)
@proof_steps("circuits.md: 3")
def test_not_on_the_diagonal_negates_the_wrong_bit():
    """The layer (NOT x2): with -1 on the diagonal, as printed, the network computes NOT x1."""
    printed = FeedForward(
        (
            Affine(np.array([[-1, 0], [0, 0]]), np.array([1, 0])),
            Affine(np.eye(2, dtype=int), np.zeros(2, int)),
        )
    )
    values = {x: int(printed(np.array([x]))[0, 0]) for x in product((0, 1), repeat=2)}
    assert values == {(a, b): 1 - a for a, b in values}
    assert values != {(a, b): 1 - b for a, b in values}


@check("turing:lemma-3.2", grade="sampled", target="printed", supporting=True, cases="60 random circuits, seed 2")
@check("turing:theorem-3.1", grade="sampled", target="printed", supporting=True, cases="60 random circuits, seed 2")
@proof_steps("circuits.md: 4")
@pytest.mark.parametrize("corrections", ["none", "layers", "steps"])
def test_every_layer_of_the_network_equals_that_of_the_circuit(corrections, effort):
    """Random circuits on all inputs, in integers, every intermediate layer included; see the module for all."""
    random = np.random.default_rng(2)
    constant = 0
    for trial in range(effort.pick(quick=60, full=400)):
        circuit = random_layered(random, *(size := random_sizes(random, 6, 6, 6)))
        width = 2 * circuit.width + trial % 3 if trial % 2 else None
        network = circuit_network(circuit, corrections, QUARTERS if trial % 5 == 0 else THIRDS, width)
        result = verify(network)
        assert result.fault is None, (size, result.fault)
        assert result.exhaustive
        expected_layers = {"none": 1, "layers": 2, "steps": 4}[corrections] * len(circuit.layers) + 1
        assert result.layers == expected_layers
        constant += len(np.unique(circuit(all_inputs(circuit.inputs)))) == 1
    assert constant < effort.pick(quick=60, full=400)


@check("turing:lemma-3.2", grade="exact", target="printed", supporting=True)
def test_networks_of_truth_tables_and_parities():
    random = np.random.default_rng(3)
    for m in (1, 3, 6):
        table = random.integers(0, 2, 2**m)
        *_, (_, output, denominator) = exact_values(
            circuit_network(layered(from_truth_table(table.tolist()))), all_inputs(m)
        )
        assert denominator == 1
        assert output[:, 0].tolist() == (2 * table - 1).tolist()
    m = 8
    *_, (_, output, _) = exact_values(circuit_network(layered(parity_circuit(m))), all_inputs(m))
    assert output[:, 0].tolist() == [2 * (sum(word) % 2) - 1 for word in all_inputs(m).astype(int).tolist()]


@check("turing:lemma-3.2", grade="exact", target="printed", supporting=True)
@proof_steps("circuits.md: 4")
def test_verification_sees_every_flipped_sign():
    """Negative control: every nonzero weight and bias of a parity network, with its sign flipped, is noticed."""
    network = circuit_network(layered(parity_circuit(3)), "none")
    missed = moved = 0
    for number, step in enumerate(network.steps):
        for layer_number, layer in enumerate(step.layers):
            for array_number, array in enumerate(layer.arrays()):
                for place in zip(*np.nonzero(array), strict=True):
                    arrays = [a.copy() for a in layer.arrays()]
                    arrays[array_number][place] *= -1
                    layers = list(step.layers)
                    layers[layer_number] = Affine(*arrays)
                    steps = list(network.steps)
                    steps[number] = FeedForward(tuple(layers))
                    faulty = type(network)(network.circuit, "none", THIRDS, tuple(steps), (), network.head)
                    missed += verify(faulty).fault is None
                    moved += 1
    assert moved > 40
    assert missed == 0


@check("turing:theorem-3.1", grade="exact", target="printed", supporting=True)
@proof_steps("circuits.md: 8")
def test_one_or_gate_has_norm_five_and_size_three():
    circuit = LayeredCircuit(2, ((BooleanGate("OR", (0, 1)),),), 0)
    network = circuit_network(circuit, "none")
    norm = network.one_norm - 3  # without the head 2 z - 1, which the proof adds later
    assert circuit.size == 3 < norm == 5


@check("turing:theorem-3.1", grade="sampled", target="printed", supporting=True, cases="40 random circuits, seed 4")
@proof_steps("circuits.md: 8")
def test_norms_of_networks_are_linear_in_the_number_of_gates(effort):
    """5 (s - m) + 3 for the naive network, 23 (s - m) + 3 with thirds after every step; both are attained."""
    random = np.random.default_rng(4)
    for _ in range(effort.pick(quick=40, full=300)):
        circuit = random_layered(random, *random_sizes(random, 6, 8, 6))
        gates = [gate for layer in circuit.layers for gate in layer]
        total = sum(NORMS[gate.operation] for gate in gates)
        assert circuit_network(circuit, "none").one_norm == total + 3 <= 5 * (circuit.size - circuit.inputs) + 3
        assert circuit_network(circuit, "layers").one_norm == total + 9 * len(gates) + 3
        assert circuit_network(circuit, "steps").one_norm == total + 18 * len(gates) + 3 <= 23 * len(gates) + 3
        assert circuit_network(circuit, "steps", QUARTERS).one_norm == total + 14 * len(gates) + 3
    all_or = LayeredCircuit(2, ((BooleanGate("OR", (0, 1)),) * 4,) * 2, 0)
    assert circuit_network(all_or).one_norm == 23 * 8 + 3


@check("turing:theorem-3.1", grade="exact", target="printed", supporting=True)
@proof_steps("circuits.md: 8")
def test_identity_layers_reach_any_depth_and_change_nothing():
    circuit = layered(parity_circuit(3))
    for extra in (0, 1, 4):
        deeper = circuit_network(circuit.deepened(circuit.depth + extra))
        assert deeper.depth == 6 * (circuit.depth + extra - 1)
        assert deeper.one_norm == circuit_network(circuit).one_norm + 20 * extra
        assert verify(deeper).fault is None
        assert circuit_margin_bound(deeper).value == circuit_margin_bound(circuit_network(circuit)).value


@check("turing:remark-comparison", grade="numeric", target="printed", supporting=True)
def test_products_of_operator_norms_grow_exponentially_for_gates_of_two_inputs_only():
    """For (AND, OR) of two bits, W_1 = [[1, -1], [1, -1]] has norm 2: the product is 2^(q-1); for ID chains it is 1."""
    for q in (3, 6, 11):
        for circuit, factor in ((alternating_chain(q), 2), (identity_chain(q), 1)):
            norms = [operator_norm(layer.weight) for s in circuit_network(circuit, "none").steps for layer in s.layers]
            assert abs(math.prod(norms) - factor ** (q - 1)) < 1e-6 * factor ** (q - 1)
