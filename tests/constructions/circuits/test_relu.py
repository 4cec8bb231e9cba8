"""Networks of circuits: agreement of number systems, the vector of parameters, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from lemmata.constructions.circuits import relu
from lemmata.constructions.circuits.boolean import all_inputs, from_truth_table, layered
from lemmata.constructions.circuits.relu import QUARTERS, circuit_network
from lemmata.constructions.circuits.verification import exact_values
from lemmata.numerics.exact.numbers import as_exact, to_float

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
    assert network.to_torch(dtype=torch.float32)(torch.zeros(1, 3)).dtype == torch.float32


def test_quarters_are_exact_in_float32():
    network = circuit_network(CIRCUIT, "steps", QUARTERS).to_torch(dtype=torch.float32)
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


@pytest.mark.parametrize("corrections", ["none", "layers", "steps"])
@pytest.mark.parametrize("width", [None, 16])
def test_a_network_is_refused_by_the_number_of_its_weights(corrections, width, monkeypatch):
    circuit = layered(from_truth_table("01101001"))
    network = circuit_network(circuit, corrections, width=width)
    parts = [*network.steps, *network.roundings]
    weights = sum(layer.weight.size for part in parts for layer in part.layers)
    monkeypatch.setattr(relu, "LARGEST_NETWORK", weights)
    circuit_network(circuit, corrections, width=width)
    monkeypatch.setattr(relu, "LARGEST_NETWORK", weights - 1)
    with pytest.raises(ValueError, match=f"about {weights:,} parameters, more than"):
        circuit_network(circuit, corrections, width=width)


def test_roundings_of_an_integer_slope_stay_integers():
    assert relu.rounding(2, Fraction(1, 3), Fraction(2, 3)).layers[1].weight.dtype == np.int64
    slope = relu.rounding(1, Fraction(1, 5), Fraction(4, 5)).layers[1].weight
    assert slope.tolist() == as_exact([["5/3"], ["-5/3"]]).tolist()
