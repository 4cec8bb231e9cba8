"""Boolean circuits: truth tables, functions, layers, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.circuits.boolean import (
    BooleanCircuit,
    BooleanGate,
    LayeredCircuit,
    all_inputs,
    from_truth_table,
    layered,
    operation_counts,
)
from lemmata.constructions.circuits.text import parse_circuit


@given(st.integers(1, 5).flatmap(lambda m: st.lists(st.integers(0, 1), min_size=2**m, max_size=2**m)))
def test_truth_tables_come_back(table):
    circuit = from_truth_table(table)
    x = all_inputs(circuit.inputs)
    assert circuit(x).astype(int).tolist() == table
    assert layered(circuit)(x).astype(int).tolist() == table


def test_a_function_of_twelve_bits():
    x = all_inputs(12)
    table = x.sum(1) % 3 == 1
    circuit = from_truth_table(table.astype(int))
    assert (circuit(x) == table).all()
    assert circuit.size < 300


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: from_truth_table("0120"), "entry 2 is '2'"),
        (lambda: from_truth_table("011"), "this one has 3"),
        (lambda: from_truth_table("1"), "this one has 1"),
        (lambda: from_truth_table("01" * 2**12), "with 1 <= m <= 12"),
        (lambda: BooleanCircuit(0, (), 0), "at least one input"),
        (lambda: BooleanCircuit(1, (BooleanGate("AND", (0, 1)),), 1), r"Node 1 \(AND\) reads \(0, 1\)"),
        (lambda: BooleanCircuit(1, (BooleanGate("NOT", (0, 0)),), 1), "takes 1 parent"),
        (lambda: BooleanCircuit(1, (BooleanGate("NAND", (0, 0)),), 1), "operation 'NAND'"),
        (lambda: BooleanCircuit(1, (), 1), "one of the nodes 0 to 0"),
        (lambda: LayeredCircuit(1, (), 0), "at least one layer"),
        (lambda: LayeredCircuit(1, ((BooleanGate("ID", (0,)),), ()), 0), "none empty"),
        (lambda: LayeredCircuit(1, ((BooleanGate("ID", (0,)),),), 1), "one of the 1 gates"),
        (lambda: LayeredCircuit(1, ((BooleanGate("ID", (1,)),),), 0), "Gate 0 of layer 1"),
        (lambda: layered(from_truth_table("01")).deepened(1), "has depth 2 already"),
        (lambda: from_truth_table("0110")(np.array([[0, 1, 1]])), r"2 inputs, but the array of inputs has shape"),
        (lambda: from_truth_table("0110")(np.array([[0, 2]])), "bits, 0 or 1"),
    ],
)
def test_wrong_circuits_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_layers_drop_dead_gates_and_keep_inputs():
    circuit = parse_circuit("inputs a, b, c\ndead = AND(a, b)\nx = NOT(c)\ny = AND(x, c)\noutput y")
    result = layered(circuit)
    assert (result.inputs, result.depth, result.size) == (3, 3, 3 + 2 + 1)
    assert operation_counts(result.layers) == {"AND": 1, "OR": 0, "NOT": 1, "ID": 1}
    assert layered(parse_circuit("inputs a, b\noutput b")).layers == ((BooleanGate("ID", (1,)),),)
    assert result.deepened(5)(all_inputs(3)).tolist() == result(all_inputs(3)).tolist()
