"""Boolean circuits: text, truth tables, functions, layers, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.circuits.boolean import (
    BooleanCircuit,
    BooleanGate,
    LayeredCircuit,
    all_inputs,
    from_function,
    from_truth_table,
    layered,
    operation_counts,
)
from constructions.circuits.text import parse_circuit

MULTIPLEXER = """
# y = s ? a : b
inputs s, a b

yes = AND(s, a)
y   = OR(yes, AND(NOT(s), b))
output y
"""


def test_text_is_read():
    circuit = parse_circuit(MULTIPLEXER)
    assert (circuit.inputs, circuit.size) == (3, 7)
    assert circuit(all_inputs(3)).astype(int).tolist() == [b if not s else a for s, a, b in all_inputs(3).astype(int)]
    assert parse_circuit("inputs x\ny = NOT(x)") == parse_circuit("inputs x\ny = NOT(x)\noutput y")
    assert parse_circuit("inputs x, y\noutput y").output == 1
    assert parse_circuit("inputs x, y\noutput AND(x, y)").output == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "The circuit is empty"),
        ("x = AND(a, b)", r"Line 1 .*first line must declare the inputs"),
        ("inputs", r"Line 1 .*at least one input"),
        ("inputs a\ninputs b", r"Line 2 .*declared already"),
        ("inputs a, a", r"Line 1 .*'a' is defined already"),
        ("inputs a, not-a-name", r"Line 1 .*cannot be a name"),
        ("inputs a\n\n# comment\nAND = NOT(a)", r"Line 4 .*cannot be a name"),
        ("inputs a\nx = AND(a)", r"Line 2 .*AND takes 2 operand"),
        ("inputs a\nx = XOR(a, a)", r"Line 2 .*no operation 'XOR'; known are AND, OR, NOT, ID"),
        ("inputs a\nx = and(a, a)", r"Line 2 .*cannot be read"),
        ("inputs a\nx = AND(a, b)", r"Line 2 .*'b' is not defined above; defined are a"),
        ("inputs a\nx = AND(a, 1)", r"Line 2 .*neither a name nor an operation"),
        ("inputs a\nx = AND(a, b=a)", r"Line 2 .*neither a name nor an operation"),
        ("inputs a\nx = a", r"Line 2 .*write x = ID\(a\)"),
        ("inputs a\nx AND(a, a)", r"Line 2 .*there is no '='"),
        ("inputs a\noutput a\nx = NOT(a)", r"Line 3 .*nothing may follow"),
    ],
)
def test_wrong_text_is_refused_with_its_line(text, message):
    with pytest.raises(ValueError, match=message):
        parse_circuit(text)


@given(st.integers(1, 5).flatmap(lambda m: st.lists(st.integers(0, 1), min_size=2**m, max_size=2**m)))
def test_truth_tables_come_back(table):
    circuit = from_truth_table(table)
    x = all_inputs(circuit.inputs)
    assert circuit(x).astype(int).tolist() == table
    assert layered(circuit)(x).astype(int).tolist() == table


def test_a_function_of_twelve_bits():
    circuit = from_function(lambda *bits: sum(bits) % 3 == 1, 12)
    x = all_inputs(12)
    assert circuit(x).tolist() == (x.sum(1) % 3 == 1).tolist()
    assert circuit.size < 300


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: from_truth_table("0120"), "entry 2 is '2'"),
        (lambda: from_truth_table("011"), "this one has 3"),
        (lambda: from_truth_table("1"), "this one has 1"),
        (lambda: from_truth_table("01" * 2**12), "with 1 <= m <= 12"),
        (lambda: from_function(lambda *x: 2, 2), r"at \(0, 0\) it returns 2"),
        (lambda: from_function(lambda *x: 0, 13), "not 13"),
        (lambda: BooleanCircuit(0, (), 0), "at least one input"),
        (lambda: BooleanCircuit(1, (BooleanGate("AND", (0, 1)),), 1), r"Node 1 \(AND\) reads \(0, 1\)"),
        (lambda: BooleanCircuit(1, (BooleanGate("NOT", (0, 0)),), 1), "takes 1 parent"),
        (lambda: BooleanCircuit(1, (BooleanGate("NAND", (0, 0)),), 1), "operation 'NAND'"),
        (lambda: BooleanCircuit(1, (), 1), "one of the nodes 0 to 0"),
        (lambda: LayeredCircuit(1, (), 0), "at least one layer"),
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
