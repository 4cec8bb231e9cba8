import numpy as np
import pytest

from lemmata.certificates.operations.columns import best_network
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.training import ascended_network, neuron_spectrum, training_run
from lemmata.numerics.operations.families import named_operation
from lemmata.numerics.operations.symmetries import operation_symmetries

ADD3 = named_operation("a+b", 3)
GAMMA3 = 0.0785674201  # of the group of order 3


def test_ascent_approaches_the_maximum_from_below():
    network = ascended_network(ADD3, enough=0.999 * GAMMA3, seed=1)
    assert 0.999 * GAMMA3 < network.margin(ADD3) <= GAMMA3 * (1 + 1e-9)


def test_ascent_of_a_partial_table_uses_the_given_cells_only():
    partial = ADD3.without([(2, 2)])
    network = ascended_network(partial, starts=1, seed=1)
    assert network.margin(partial) > 0.9 * GAMMA3
    assert len(network.margins(partial)) == 16


def test_training_records_margins_that_grow_and_stay_below_the_maximum():
    run = training_run(ADD3, steps=4000, rate=0.1, record_every=400, seed=0)
    assert run.steps == tuple(range(400, 4001, 400))
    assert run.margins[-1] == pytest.approx(run.network.margin(ADD3), rel=1e-9)
    assert 0.5 * GAMMA3 < run.margins[-1] <= GAMMA3 * (1 + 1e-9)
    assert run.margins[-1] > run.margins[0]
    assert (
        training_run(ADD3, steps=10, record_every=5, seed=3).margins
        == training_run(ADD3, steps=10, record_every=5, seed=3).margins
    )


def test_neurons_of_addition_are_characters_and_those_of_max_are_not():
    table = named_operation("a+b", 5)
    network = best_network(table, symmetries=operation_symmetries(table)).network
    spectrum = neuron_spectrum(network)
    assert spectrum.purity == pytest.approx(1, abs=1e-6)
    assert spectrum.u.shape == (network.size, 3)
    assert np.allclose(spectrum.u.sum(axis=1), 1)
    largest = named_operation("max", 4)
    found = best_network(largest, symmetries=operation_symmetries(largest))
    assert neuron_spectrum(found.network).purity < 0.9


def test_a_spectrum_is_that_of_a_plain_transform():
    rng = np.random.default_rng(0)
    u, v, w = (rng.normal(size=(2, 5)) for _ in range(3))
    spectrum = neuron_spectrum(OperationNetwork(u, v, w, np.array([1.0, 3.0])))
    power = [abs(sum(u[0, a] * np.exp(-2j * np.pi * k * a / 5) for a in range(5))) ** 2 for k in range(5)]
    folded = np.array([power[0], power[1] + power[4], power[2] + power[3]]) / sum(power)
    assert np.allclose(spectrum.u[0], folded, rtol=1e-12)
    assert spectrum.masses.tolist() == [0.25, 0.75]
    assert neuron_spectrum(OperationNetwork(0 * u, v, w, np.ones(2))).u.tolist() == [[0, 0, 0], [0, 0, 0]]
    with pytest.raises(ValueError, match="as many rows as columns and labels"):
        neuron_spectrum(OperationNetwork(u[:, :4], v, w, np.ones(2)))


@pytest.mark.parametrize("bad", [{"width": 0}, {"steps": 0}, {"record_every": 0}])
def test_bad_sizes_of_training_are_refused(bad):
    with pytest.raises(ValueError, match="must be at least 1"):
        training_run(ADD3, **bad)
