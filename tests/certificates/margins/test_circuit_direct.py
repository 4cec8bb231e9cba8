"""The step-by-step certificate of circuit networks: refusals, and how it depends on the inputs.

Edits that change no verdict: MOST_INPUTS, above which every gate counts as a one.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.certificates.margins import circuit_direct
from lemmata.certificates.margins.all_layer import circuit_margin_bound
from lemmata.certificates.margins.attack import directions
from lemmata.certificates.margins.circuit_direct import circuit_loads, direct_circuit_bound
from lemmata.constructions.circuits.boolean import all_inputs, from_truth_table, layered
from lemmata.constructions.circuits.relu import QUARTERS, circuit_network
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.numerics.exact.numbers import to_float

XOR = circuit_network(layered(from_truth_table("0110")))


def test_the_bound_is_sharper_than_the_uniform_one_and_grows_on_fewer_inputs():
    everywhere = direct_circuit_bound(XOR)
    assert 4 * circuit_margin_bound(XOR).value < everywhere.value
    here = [direct_circuit_bound(XOR, [x]).value for x in all_inputs(2)]
    assert min(here) >= everywhere.value
    assert direct_circuit_bound(XOR, all_inputs(2)).value == everywhere.value
    assert all(load < 1 for load in circuit_loads(XOR, everywhere.value, everywhere.sigma_h).values())


def test_gates_count_as_ones_where_there_are_too_many_inputs(monkeypatch):
    counted = direct_circuit_bound(XOR).value
    monkeypatch.setattr(circuit_direct, "MOST_INPUTS", 1)
    assert direct_circuit_bound(XOR).value < counted


def test_padding_with_zeros_hardly_changes_the_bound():
    wide = circuit_network(XOR.circuit, width=40)
    assert direct_circuit_bound(wide).value == direct_circuit_bound(XOR).value


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_no_perturbation_at_the_bound_moves_the_answer_by_one(seed):
    theta, x = to_float(XOR.parameters), all_inputs(2).astype(float)
    moves = float(direct_circuit_bound(XOR).value) * directions(np.random.default_rng(seed), 12, len(theta))
    assert np.abs(XOR.output(theta + moves, x) - XOR.output(theta, x)).max() < 1


def test_networks_and_inputs_that_the_certificate_does_not_know_are_refused():
    with pytest.raises(ValueError, match="this one has no corrections"):
        direct_circuit_bound(circuit_network(XOR.circuit, "none"))
    with pytest.raises(ValueError, match="The correction zeta0 is not the rounding with thresholds 1/4 and 3/4"):
        direct_circuit_bound(replace(XOR, thresholds=QUARTERS))
    for inputs in ([[0, 1, 1]], [[0, 2]], np.zeros((0, 2))):
        with pytest.raises(ValueError, match="must be rows of 2 bits"):
            direct_circuit_bound(XOR, inputs)
    (first,) = XOR.steps[0].layers
    half = FeedForward((Affine(first.weight / 2, first.bias),))
    with pytest.raises(ValueError, match="gates with integer weights"):
        direct_circuit_bound(replace(XOR, steps=(half, *XOR.steps[1:])))
    double = FeedForward((Affine(2 * first.weight, first.bias),))
    with pytest.raises(ValueError, match="map bits to bits"):
        direct_circuit_bound(replace(XOR, steps=(double, *XOR.steps[1:])))
    heavy = replace(XOR, head=Affine(XOR.head.weight * 10**14, XOR.head.bias))
    with pytest.raises(ValueError, match=r"No radius down to 2\^-40"):
        direct_circuit_bound(heavy)
    assert direct_circuit_bound(XOR).value > Fraction(1, 100)
