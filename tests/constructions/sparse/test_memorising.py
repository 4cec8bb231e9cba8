"""The memorising perceptron against the formula of a bump in fractions, on cubes and between them."""

from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.sparse.memorising import (
    bump_network,
    bump_sum_network,
    memorising_perceptron,
    printed_memorising_perceptron,
    ramp_network,
)
from lemmata.numerics.exact.numbers import as_exact


def trapezoid(u: Q) -> Q:
    """The bump as a distance from the plateau, not as a sum of ReLUs."""
    return max(Q(0), min(Q(1), 2 - abs(u)))


def expected(nodes: list[list[int]], values: list[int], radius: Q, x: list[Q]) -> Q:
    total = Q(0)
    for node, value in zip(nodes, values, strict=True):
        bumps = [trapezoid((a - b) / radius) for a, b in zip(x, node, strict=True)]
        total += value * max(Q(0), sum(bumps) - len(bumps) + 1)
    return total


@given(
    nodes=st.lists(st.tuples(*[st.integers(-2, 2)] * 2), min_size=1, max_size=4, unique=True),
    radius=st.sampled_from([Q(1, 4), Q(1), Q(3)]),
    seed=st.integers(0, 1000),
)
def test_the_network_is_the_formula_everywhere(nodes, radius, seed):
    rng = np.random.default_rng(seed)
    scaled = [[int(4 * radius * a) for a in node] for node in nodes]
    values = rng.integers(-9, 10, len(nodes)).tolist()
    network = memorising_perceptron(scaled, values, radius)
    points = [[Q(int(a), 8) * radius for a in rng.integers(-100, 100, 2)] for _ in range(20)]
    points += [[a + b * radius for a, b in zip(node, rng.integers(-1, 2, 2).tolist(), strict=True)] for node in scaled]
    found = network(as_exact(points))[:, 0]
    assert found.tolist() == as_exact([expected(scaled, values, radius, x) for x in points]).tolist()
    assert found[20:].tolist() == values


def test_dimensions_and_ramps():
    network = memorising_perceptron([[0, 0], [0, 4], [4, 4]], [1, 2, 3], 1)
    assert [layer.outputs for layer in network.layers] == [24, 6, 1]
    line = as_exact([[-2], [-1], ["-1/2"], [0], [3]])
    assert ramp_network(1)(line)[:, 0].tolist() == as_exact([0, 0, "1/2", 1, 1]).tolist()
    assert bump_network(1, -1)(line)[:, 0].tolist() == as_exact([1, 1, 1, 1, 0]).tolist()
    assert bump_sum_network([-2, 1], [5, 7], 1)(line)[:, 0].tolist() == as_exact([5, 5, 6, 7, 0]).tolist()


def test_the_printed_network_is_another_one():
    nodes, values = [[-1], [1]], [5, 7]
    assert memorising_perceptron(nodes, values, "1/2")(as_exact(nodes))[:, 0].tolist() == values
    assert printed_memorising_perceptron(nodes, values, "1/2")(as_exact(nodes))[:, 0].tolist() != values


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0], [1]], [1, 2], "1/3"), r"The nodes 0 and 1 differ by at most 1 .* less than 4 times the radius 1/3"),
        (([[0], [4]], [1], 1), r"need a value each, but the shapes are \(2, 1\) and \(1,\)"),
        (([0, 4], [1, 2], 1), r"Nodes of shape \(n, k\)"),
        (([[0], [4]], [1, 2], 0), "The radius of the cubes must be positive, not 0"),
        (([[0], [4]], [1, 2], 0.5), "must be an exact number"),
        (([[0.5], [4]], [1, 2], 1), "is not exact"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        memorising_perceptron(*arguments)


def test_a_line_needs_three_radii():
    with pytest.raises(ValueError, match=r"The nodes 0 and 1 differ by at most 2 .* less than 3 times the radius 1"):
        bump_sum_network([0, 2], [1, 2], 1)
