"""`lm.circuit_network`: circuits as texts, truth tables and objects."""

from fractions import Fraction

import pytest

import lemmata as lm
from lemmata.constructions.circuits.boolean import BooleanGate, LayeredCircuit, all_inputs, from_truth_table

XOR = "inputs x1, x2\ny = OR(AND(x1, NOT(x2)), AND(NOT(x1), x2))\n"


@pytest.mark.parametrize("form", ["0110", XOR, from_truth_table("0110")], ids=["table", "text", "circuit"])
def test_every_form_computes_the_same(form):
    network = lm.circuit_network(form)
    outputs = network.output(network.parameters, lm.as_exact(all_inputs(2)))
    assert outputs.ravel().tolist() == [-1, 1, 1, -1]


def test_options_reach_the_network():
    chain = LayeredCircuit(1, ((BooleanGate("ID", (0,)),),) * 3, 0)
    assert lm.circuit_network(chain, "none").corrections == "none"
    assert lm.circuit_network(chain, width=7).width == 7
    assert lm.circuit_network("01", thresholds=(Fraction(1, 4), Fraction(3, 4))).thresholds == (0.25, 0.75)
    assert lm.circuit_network("inputs x\na = ID(x)\nb = ID(a)\nc = ID(b)").circuit == chain


def test_errors_name_the_line():
    with pytest.raises(ValueError, match="Line 2"):
        lm.circuit_network("inputs x1\ny = XOR(x1, x1)")
    with pytest.raises(ValueError, match="entries"):
        lm.circuit_network("011")
