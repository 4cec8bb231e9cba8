from fractions import Fraction

import numpy as np
import pytest

from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.numerics.operations.operation import Operation

PARTIAL = Operation.of([[0, 1, -1], [2, 0, 1]], labels=4)


def random_network(shape: tuple[int, int, int], m: int, seed: int) -> OperationNetwork:
    rng = np.random.default_rng(seed)
    return OperationNetwork(*(rng.normal(size=(m, n)) for n in shape), rng.random(m))


def random_integers(shape: tuple[int, int, int], m: int, seed: int) -> OperationNetwork:
    rng = np.random.default_rng(seed)
    parts = [np.array(rng.integers(-9, 10, (m, n)).tolist(), object) for n in shape]
    return OperationNetwork(*parts, np.array([Fraction(int(k), 7) for k in rng.integers(1, 9, m)], object))


def by_definition(network: OperationNetwork, table: Operation) -> list[float]:
    """The margins by loops over cells, labels and neurons, from the definition of a network and its norm."""
    weights = [
        [float(x) for part in (network.u, network.v, network.w) for x in part[i]] for i in range(len(network.masses))
    ]
    A, B = table.rows, table.columns
    margins = []
    for a, b, c in table.triples:
        total = norm = 0.0
        for omega, mass in zip(weights, network.masses, strict=True):
            length = sum(x * x for x in omega) ** 0.5
            hidden = (omega[a] + omega[A + b]) ** 2
            total += float(mass) * hidden * (omega[A + B + table.values[a][b]] - omega[A + B + c]) / length**3
            norm += float(mass)
        margins.append(total / norm)
    return margins


@pytest.mark.parametrize("make", [random_network, random_integers])
def test_margins_are_those_of_the_definition(make):
    network = make((2, 3, 4), 5, seed=1)
    assert len(network.margins(PARTIAL)) == 15
    assert np.allclose(network.margins(PARTIAL), by_definition(network, PARTIAL), rtol=1e-12, atol=1e-14)
    assert network.margin(PARTIAL) == pytest.approx(min(by_definition(network, PARTIAL)), rel=1e-12)


def test_weights_have_norm_one_and_give_the_outputs():
    network = random_network((2, 3, 4), 5, seed=2)
    u, v, w = network.weights()
    assert np.sum(np.sum(np.concatenate([u, v, w], axis=1) ** 2, axis=1) ** 1.5) == pytest.approx(1, rel=1e-12)
    outputs = sum(np.add.outer(u[i], v[i])[:, :, None] ** 2 * w[i] for i in range(5))
    assert np.allclose(network.outputs(), outputs, rtol=1e-12, atol=1e-14)


def test_exact_margins_agree_with_floats_and_are_bounded_below():
    network = random_integers((2, 3, 4), 6, seed=3)
    floats = network.margins(PARTIAL)
    exact = [sum(float(c) * r**0.5 for r, c in sums.items()) for sums in network.exact_margins(PARTIAL)]
    assert np.allclose(floats, exact, rtol=1e-12, atol=1e-15)
    lower = network.lower_margin(PARTIAL)
    assert float(lower) == pytest.approx(min(exact), rel=1e-12)
    coarse = network.lower_margin(PARTIAL, bits=8)
    assert coarse < lower  # and so a bound, because roots of positive terms go down and those of negative ones up
    assert network.lower_margin(PARTIAL, bits=200) >= lower


def test_integers_of_any_size_have_margins():
    network = random_integers((2, 3, 4), 3, seed=4)
    large = OperationNetwork(*(part * (7 << 900) for part in (network.u, network.v, network.w)), network.masses)
    assert np.allclose(large.margins(PARTIAL), network.margins(PARTIAL), rtol=1e-12)
    assert float(large.lower_margin(PARTIAL)) == pytest.approx(network.margin(PARTIAL), rel=1e-12)


def test_bad_networks_are_refused():
    ones, mass = np.ones((1, 2)), np.ones(1)
    with pytest.raises(ValueError, match=r"needs at least one neuron and shapes"):
        OperationNetwork(ones, ones, np.ones((2, 2)), mass)
    with pytest.raises(ValueError, match=r"nonnegative"):
        OperationNetwork(ones, ones, ones, -mass)
    with pytest.raises(ValueError, match=r"nonnegative"):
        OperationNetwork(ones, ones, ones, 0 * mass)
    with pytest.raises(ValueError, match=r"finite"):
        OperationNetwork(ones, np.nan * ones, ones, mass)
    with pytest.raises(ValueError, match=r"no direction"):
        OperationNetwork(0 * ones, 0 * ones, 0 * ones, mass)
    exact = np.array([[1, 2]], object)
    with pytest.raises(ValueError, match=r"all exact"):
        OperationNetwork(exact, exact, exact, mass)
    with pytest.raises(ValueError, match=r"Python ints"):
        OperationNetwork(exact / 2, exact, exact, np.array([Fraction(1)], object))
    network = OperationNetwork(ones, ones, ones, mass)
    with pytest.raises(ValueError, match=r"rows, columns and labels"):
        network.margins(PARTIAL)
    with pytest.raises(ValueError, match=r"Only integer neurons"):
        network.exact_margins(Operation.of([[0, 1], [1, 0]]))
