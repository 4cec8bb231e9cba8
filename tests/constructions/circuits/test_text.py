"""Boolean circuits as text: what is read, and what is refused with its line."""

import pytest

from lemmata.constructions.circuits.boolean import (
    all_inputs,
)
from lemmata.constructions.circuits.text import parse_circuit

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


def test_names_that_python_would_normalise_are_as_they_were_typed():
    """A ligature is one letter here, and two in Python's normal form; wide letters are no operation."""
    circuit = parse_circuit("inputs \ufb01, fi\ng = AND(\ufb01, NOT(fi))\noutput g")
    assert circuit(all_inputs(2)).astype(int).tolist() == [a * (1 - b) for a, b in all_inputs(2).astype(int)]
    for text, message in (
        ("inputs x\ng = NOT(\ufb01)", "'\ufb01' is not defined above"),
        ("inputs x\ng = \uff2e\uff2f\uff34(x)", "no operation '\uff2e\uff2f\uff34'"),
        ("inputs \ufb01\ng = \ufb01", "write g = ID\\(\ufb01\\)"),
        ("inputs x\ng = NOT(x)(\ufb01)", "'NOT\\(x\\)\\(\ufb01\\)' is neither a name"),
    ):
        with pytest.raises(ValueError, match=message):
            parse_circuit(text)
