"""The memorising perceptron (lemma A.25 and its primitives), and the two lemmas that use it (A.22, A.23).

The general statements are proved in proofs/memorising.md. Here the networks of the library are compared with bumps and
ramps as distances from intervals, without a ReLU, on all cubes by their exact ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction as Q
from itertools import pairwise, product

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.certificates.sparse.boxes import output_range
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.sparse.compiler import compile_sparse
from lemmata.constructions.sparse.functions import sparse_function
from lemmata.constructions.sparse.memorising import (
    bump_network,
    bump_sum_network,
    inner_memorising_perceptron,
    memorising_perceptron,
    printed_memorising_perceptron,
    ramp_network,
)
from lemmata.numerics.exact.balls import ball_max
from lemmata.numerics.exact.numbers import as_exact
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

RADII = (Q(1, 4), Q(1, 2), Q(1), Q(5, 2))


def clipped(x: Q) -> Q:
    return max(Q(0), min(Q(1), x))


def values(network: FeedForward, points: Sequence[Q]) -> list[fmpq]:
    return network(as_exact([[x] for x in points]))[:, 0].tolist()


def quarters(first: int, last: int, radius: Q) -> list[Q]:
    """All multiples of radius/4 from first to last times the radius."""
    return [Q(k, 4) * radius for k in range(4 * first, 4 * last + 1)]


@check(
    "variable-creation:construction-A.25nu",
    grade="exact",
    target="corrected",
    cases="radii 1/4, 1/2, 1, 5/2; all breakpoints and three points between any two, which decides a piecewise linear "
    "function up to its outer slopes, and two points beyond",
)
@proof_steps("memorising.md: 1, 2")
@pytest.mark.parametrize("radius", RADII)
def test_ramps_and_bumps_at_all_breakpoints(radius):
    points = quarters(-5, 5, radius)
    assert values(ramp_network(radius), points) == as_exact([clipped(x / radius + 1) for x in points]).tolist()
    for centre in (Q(0), Q(-7, 3)):
        expected = [clipped(2 - abs(x) / radius) for x in points]
        found = values(bump_network(radius, centre), [x + centre for x in points])
        assert found == as_exact(expected).tolist()
        assert {0, 1, fmpq(1, 2)} <= set(found)


@counterexample("variable-creation:construction-A.25nu", grade="exact")
@proof_steps("memorising.md: 2")
def test_the_printed_bump_is_a_step(record: Record):
    """nu(x) - nu(2 delta - x) and its shifted form: -1 on the left, 0 at the centre, 1 on the right."""
    for radius in RADII:
        nu = ramp_network(radius)
        points = quarters(-6, 6, radius)
        at = values(nu, points)
        mirrored = values(nu, [2 * radius - x for x in points])
        printed = [a - b for a, b in zip(at, mirrored, strict=True)]
        assert printed[points.index(radius)] == 0
        assert printed[0] == -1
        assert printed[-1] == 1
        assert printed == sorted(printed)
        units = [(1, 2, 1), (1, 1, -1), (-1, 2, -1), (-1, 1, 1)]
        shifted = [sum(sign * max(Q(0), slope * u + shift) for slope, shift, sign in units) for u in (-5, -1, 0, 1, 5)]
        assert shifted == [-1, 0, 0, 0, 1]
        if radius == 1:
            record.hypothesis("delta > 0", radius, ">", 0)
            record.violated("psi_delta(delta) = 1", printed[points.index(radius)], "=", 1)
            record.violated("psi_delta(x) = 0 for x >= 3 delta", printed[points.index(3 * radius)], "=", 0)


def separated(seed: int, k: int, n: int, radius: Q) -> list[list[Q]]:
    """Random nodes at multiples of the radius, 4 or more apart in some coordinate."""
    rng = np.random.default_rng(seed)
    nodes: list[list[int]] = []
    while len(nodes) < n:
        node = rng.integers(-9, 10, k).tolist()
        if all(max(abs(a - b) for a, b in zip(node, other, strict=True)) >= 4 for other in nodes):
            nodes.append(node)
    return [[a * radius for a in node] for node in nodes]


SIZES = [(k, n, radius) for k in (1, 2, 3) for n in (1, 2, 4) for radius in RADII]


@check(
    "variable-creation:lemma-A.25",
    grade="exact",
    target="corrected",
    cases="k = 1, 2, 3 coordinates, n = 1, 2, 4 nodes, radii 1/4, 1/2, 1, 5/2, two random sets of nodes each, with and "
    "without the outer ramps, on whole cubes; with them, points between the cubes",
)
@proof_steps("memorising.md: 3, 4")
@pytest.mark.parametrize(("k", "n", "radius"), SIZES)
def test_the_network_has_its_values_on_whole_cubes(k, n, radius):
    for seed in (0, 1):
        table = separated(seed, k, n, radius)
        nodes = as_exact(table)
        f = as_exact(np.random.default_rng(seed).integers(-9, 10, n) * 2 + 1)
        delta = as_exact([radius])
        largest = max(abs(x) for x in nodes.ravel().tolist())
        networks = memorising_perceptron(nodes, f, radius), inner_memorising_perceptron(nodes, f, radius)
        for network, reach in zip(networks, (largest + 2 * delta[0], largest), strict=True):
            low, high = output_range(network, nodes - delta, nodes + delta)
            assert low[:, 0].tolist() == high[:, 0].tolist() == f.tolist()
            first, second, last = network.layers
            assert (first.outputs, second.outputs) == (4 * n * k, 2 * n)
            assert largest_entry(first) <= max(fmpq(1), reach) / delta[0]
            assert largest_entry(second) <= k
            assert largest_entry(last) == max(abs(x) for x in f.tolist())
            if radius <= 1:  # the printed norm of the second layer
                assert largest_entry(second) <= k / delta[0]
        rng = np.random.default_rng([seed, k, n])
        points = [
            [a + radius * Q(int(b), 4) for a, b in zip(node, rng.integers(-11, 12, k), strict=True)] for node in table
        ]
        found = networks[0](as_exact(points))[:, 0].tolist()
        assert found == as_exact([by_distances(table, f.tolist(), radius, x) for x in points]).tolist()
    if radius == Q(1, 2):
        assert_ranges_are_attained(FeedForward(networks[0].layers[:2]), nodes, delta[0])


def by_distances(nodes: list[list[Q]], f: list[fmpq], radius: Q, x: list[Q]) -> Q:
    """sum_i f_i (S_i - k + 1)_+ with S_i the sum of the bumps 2 - |x_j - x_ij|/delta, clipped to [0, 1]."""
    total = Q(0)
    for node, value in zip(nodes, f, strict=True):
        bumps = [clipped(2 - abs(a - b) / radius) for a, b in zip(x, node, strict=True)]
        total += Q(int(value.p), int(value.q)) * max(Q(0), sum(bumps) - len(bumps) + 1)
    return total


def assert_ranges_are_attained(hidden: FeedForward, nodes: np.ndarray, delta: fmpq) -> None:
    """On cubes of twice the radius, where no unit is constant: between the breakpoints, at multiples of the radius.

    The nodes are such multiples, and the second layer is monotone in a sum of piecewise linear functions of one
    coordinate each, so that its extremes are attained on the grid of these multiples.
    """
    low, high = output_range(hidden, nodes - 2 * delta, nodes + 2 * delta)
    steps = as_exact(list(product(range(-2, 3), repeat=nodes.shape[1])))
    for node, least, greatest in zip(nodes, low, high, strict=True):
        found = hidden(node + steps * delta).T.tolist()
        assert [min(row) for row in found] == least.tolist()
        assert [max(row) for row in found] == greatest.tolist()
    assert (low != high).any()


def largest_entry(layer: Affine) -> fmpq:
    return max(abs(x) for array in layer.arrays() for x in as_exact(array).ravel().tolist())


@check("variable-creation:lemma-A.25", grade="exact", target="corrected", supporting=True)
@proof_steps("memorising.md: 3")
def test_beyond_the_cubes_the_values_are_not_kept():
    """A negative control of the ranges: a cube that is larger by a tenth of a per cent."""
    nodes = as_exact([[-4], [0]])
    network = memorising_perceptron(nodes, [5, 7], 1)
    low, high = output_range(network, nodes - fmpq(1001, 1000), nodes + fmpq(1001, 1000))
    assert (low != high).all()


def as_printed(nodes: list[list[Q]], f: list[int], radius: Q, x: list[Q]) -> Q:
    """sum_i f_i nu_delta(S_i - k), with the printed bumps, which are steps; nu as a number clipped to [0, 1]."""
    total = Q(0)
    for node, value in zip(nodes, f, strict=True):
        along = [(a - b) / radius for a, b in zip(x, node, strict=True)]
        S = sum((clipped(u + 2) - clipped(2 - u) for u in along), start=Q(0))
        total += value * clipped((S - len(node)) / radius + 1)
    return total


@counterexample("variable-creation:lemma-A.25", grade="exact", supporting=True)
@proof_steps("memorising.md: 6")
def test_the_printed_network_misses_almost_all_points():
    """The printed signs on the points of the cubes at -1, 0, 1 radii in every coordinate.

    The network is the printed one: its values are those of nu_delta(S - k), S the sum of nu(u + 1) - nu(1 - u).
    """
    wrong = total = 0
    for k, n, radius in SIZES:
        if n == 1 or radius > 1:
            continue
        nodes = separated(2, k, n, radius)
        f = list(range(11, 11 + n))
        network = printed_memorising_perceptron(as_exact(nodes), f, radius)
        steps = list(product((-1, 0, 1), repeat=k))
        points = [[a + radius * b for a, b in zip(node, step, strict=True)] for node in nodes for step in steps]
        expected = [value for value in f for _ in steps]
        points.append([Q(30)] * k)  # on the far side of all nodes, where no printed bump is 0
        *found, far = network(as_exact(points))[:, 0].tolist()
        assert [*found, far] == as_exact([as_printed(nodes, f, radius, x) for x in points]).tolist()
        wrong += sum(a != b for a, b in zip(found, expected, strict=True))
        total += len(found)
    assert total > 100
    assert wrong >= 9 * total / 10


@counterexample("variable-creation:lemma-A.25", grade="exact", supporting=True)
@proof_steps("memorising.md: 4")
def test_the_printed_bound_of_the_first_layer_is_exceeded():
    """Nodes -1 and 1, radius 1/2: the bumps, printed or not, have the bias 2 + 1/delta = 4; the printed bound is 2.

    Without the outer ramps it is met.
    """
    assert largest_entry(inner_memorising_perceptron([[-1], [1]], [0, 1], "1/2").layers[0]) == 2
    corrected, printed = memorising_perceptron([[-1], [1]], [0, 1], "1/2"), printed_memorising_perceptron
    assert largest_entry(corrected.layers[0]) == largest_entry(printed([[-1], [1]], [0, 1], "1/2").layers[0]) == 4


def largest_plateau(n: int, k: int, first: fmpq, second: fmpq, last: fmpq) -> fmpq:
    """What a network of the dimensions of lemma A.25 and these largest entries can have where it is constant.

    On a part of the cube where no unit changes its sign the network is affine, with the constant term sum over active
    units of w_j (b_j + sum over active i of W_2ij b_i); if it is constant there, this is its value.
    """
    return 2 * n * last * (second + 4 * n * k * second * first)


@counterexample("variable-creation:lemma-A.25", grade="exact")
@proof_steps("memorising.md: 5")
def test_no_network_meets_the_printed_norms_for_a_large_radius(record: Record, left: int = -2, right: int = 2):
    """Nodes -2 delta and 2 delta, delta = 100, values 0 and 1."""
    delta = fmpq(100)
    nodes, plateau = [left * delta, right * delta], largest_plateau(2, 1, 2 * delta / delta, 1 / delta, fmpq(1))
    assert plateau < 1
    record.hypothesis("|x_i| <= B = 2 delta", max(abs(x) for x in nodes), "<=", 2 * delta)
    record.hypothesis("||x_1 - x_2|| >= 4 delta", abs(nodes[0] - nodes[1]), ">=", 4 * delta)
    record.violated("with the printed norms the value 1 is possible on a cube: 1 <= what they allow", 1, "<=", plateau)
    network = memorising_perceptron(as_exact([[-2 * delta], [2 * delta]]), [0, 1], delta)
    norms = [largest_entry(layer) for layer in network.layers]
    assert largest_plateau(2, 1, *norms) >= 1


@counterexample("variable-creation:lemma-A.22", "variable-creation:lemma-A.23", grade="enclosed")
@proof_steps("memorising.md: 5")
def test_heads_with_many_outputs_force_a_plateau(record: Record):
    """s = 1, T = 46, gamma = 2000, B = 1000: a head with 46 outputs that need the value 1, and at most 45 pieces.

    So some piece holds two of them, is constant, and its value 1 is beyond what the printed norms allow.
    """
    T, gamma, bound, s = 46, fmpq(2000), fmpq(1000), 1
    network = compile_sparse(sparse_function(T, (0,), [0, 1]), inputs="trainable").to_balls()
    strings = np.tril(np.ones((T, T), dtype=int))  # the first bit is 1, with 0, ..., T - 1 ones elsewhere
    assert not as_exact(network.inputs.positions.rows(range(1, T))).any()  # tokens off I differ by bits alone
    outputs = [x * arb(gamma) / 2 for x in network.selected(strings)[:, 0]]
    assert all(a < b for a, b in pairwise(outputs))
    opposite = [x * arb(gamma) / 2 for x in network.selected(1 - strings)[:, 0]]
    assert all(abs(x - bound) <= gamma / 4 for x in outputs)
    assert all(abs(x + bound) <= gamma / 4 for x in opposite)
    first, second = 4 * (s + 1), 2 * (s + 1)
    assert (first + 1) * (second + 1) < T
    plateau = largest_plateau(2, 1, 8 * bound / gamma, 8 * s / gamma, fmpq(1))
    assert plateau < 1
    off = ball_max([*(abs(x - bound) for x in outputs), *(abs(x + bound) for x in opposite)])
    width = network.inputs.stream.width
    label = "the head is within gamma/4 of g (it sees the bit and the number of ones elsewhere: 2 T cases)"
    record.hypothesis(label, off, "<=", gamma / 4)
    record.hypothesis("g = -B, B is gamma-strictly monotone, and gamma-injective", 2 * bound, ">=", gamma)
    record.hypothesis("s <= d", s, "<=", width, of="variable-creation:lemma-A.23")
    record.hypothesis(
        "two of the 46 outputs with the value 1 share a piece of the network", (first + 1) * (second + 1), "<", T
    )
    record.violated("with the printed norms the value 1 is possible there: 1 <= what they allow", 1, "<=", plateau)


@counterexample("variable-creation:lemma-A.25", grade="exact", supporting=True)
@proof_steps("memorising.md: 6")
def test_the_steep_second_ramp_needs_a_small_radius():
    """With correct bumps and the printed second layer, nodes (0,0) and (0,8), radius 2, values 1 and 10: 6 at (0,0)."""
    delta = fmpq(2)
    network = memorising_perceptron([[0, 0], [0, 8]], [1, 10], delta)
    first, second, last = network.layers
    biases = np.array([1 - 2 / delta] * 2 + [-2 / delta] * 2, dtype=object)
    steep = FeedForward((first, Affine(second.weight / delta, biases), last), activations=network.activations)
    assert network(as_exact([[0, 0]]))[0, 0] == 1
    assert steep(as_exact([[0, 0]]))[0, 0] == 6


def symmetric_nodes(s: int) -> dict[str, list[fmpq]]:
    return {
        "positions": [fmpq(2 * r - s, s) for r in range(s + 1)],
        "bag": [fmpq(r - s, r + 1) for r in range(s + 1)],
        "uneven": [fmpq(r * r + r, 2) for r in range(s + 1)],
    }


@check(
    "variable-creation:lemma-A.22",
    grade="exact",
    target="corrected",
    cases="s = 1, ..., 6, three monotone g each (of positions, of a bag, r (r + 1)/2); all functions, by linearity in "
    "the last layer, and whole cubes",
)
@proof_steps("memorising.md: 7")
@pytest.mark.parametrize("s", range(1, 7))
def test_symmetric_functions_from_a_monotone_one(s):
    for name, g in symmetric_nodes(s).items():
        gamma = min(b - a for a, b in pairwise(g))
        points = np.array(g, dtype=object)[:, None]
        assert_all_functions(points, gamma, name, memorising_perceptron(points, [1] * len(g), gamma / 4))
    for name, inputs in (("positions", "trainable"), ("bag", "bag")):
        g = symmetric_nodes(s)[name]
        gamma = min(fmpq(1), *(b - a for a, b in pairwise(g)))
        network = compile_sparse(sparse_function(s + 2, range(s), [1] * (s + 1)), inputs=inputs)  # type: ignore[arg-type]
        assert_all_functions(np.array(g, dtype=object)[:, None], gamma, name, network.perceptron)


@check(
    "variable-creation:lemma-A.23",
    grade="exact",
    target="corrected",
    cases="s = 1, ..., 4, injective g of positions and of a bag; all functions, by linearity in the last layer, and "
    "whole cubes",
)
@proof_steps("memorising.md: 8")
@pytest.mark.parametrize("s", range(1, 5))
def test_all_functions_from_an_injective_one(s):
    words = as_exact(list(product((0, 1), repeat=s)))
    counts = words.sum(axis=1)[:, None]
    ones = [1] * 2**s
    for nodes, gamma, name, inputs in (
        (1 - 2 * words, fmpq(2), "positions", "trainable"),
        ((words - 1) / (counts + 1), fmpq(1, s), "bag", "bag"),
    ):
        assert_all_functions(nodes, gamma, name, memorising_perceptron(nodes, ones, gamma / 4))
        function = replace(sparse_function(s + 2, range(s), ones), symmetric=False)
        network = compile_sparse(function, inputs=inputs)  # type: ignore[arg-type]
        assert_all_functions(nodes, min(fmpq(1), gamma), name, network.perceptron)


def assert_all_functions(nodes: np.ndarray, gamma: fmpq, name: str, network: FeedForward) -> None:
    """The second layer is constant on every cube of radius gamma/4, and there tells the nodes apart; printed norms.

    On cubes that are larger by a hundredth it is not constant, so that the radius is gamma/4 and no more.
    """
    n, k = nodes.shape
    wide = gamma * fmpq(101, 400)
    low, high = output_range(FeedForward(network.layers[:2]), nodes - wide, nodes + wide)
    assert (low != high).any(axis=1).all()
    low, high = output_range(FeedForward(network.layers[:2]), nodes - gamma / 4, nodes + gamma / 4)
    assert (low == high).all()
    assert (low[:, :n] - low[:, n:] == np.eye(n, dtype=int)).all(), name
    largest = max(abs(x) for x in nodes.ravel().tolist())
    assert [layer.outputs for layer in network.layers] == [4 * n * k, 2 * n, 1]
    assert largest_entry(network.layers[0]) <= 8 * max(fmpq(1), largest) / gamma
    assert largest_entry(network.layers[1]) == k
    assert network.layers[2].weight.ravel().tolist() == [1] * n + [-1] * n


@counterexample("variable-creation:lemma-A.22", "variable-creation:lemma-A.23", grade="exact", supporting=True)
@proof_steps("memorising.md: 7, 8")
def test_an_eighth_of_gamma_does_not_tolerate_a_quarter():
    """s = 2, gamma = 1, nodes -1, 0, 1: the network of radius gamma/8 gives f/2 at 3 gamma/16, and 0 at gamma/4.

    With the printed steep ramp it gives 0 already at 3 gamma/16.
    """
    f = as_exact([5, 7, 11])
    eighth = memorising_perceptron([[-1], [0], [1]], f, "1/8")
    first, second, last = eighth.layers
    biases = np.array([fmpq(-7)] * 3 + [fmpq(-8)] * 3, dtype=object)
    steep = FeedForward((first, Affine(8 * second.weight, biases), last), activations=eighth.activations)
    for deviation, share, of_steep in (
        (fmpq(1, 8), fmpq(1), 1),
        (fmpq(3, 16), fmpq(1, 2), 0),
        (fmpq(1, 4), fmpq(0), 0),
    ):
        points = as_exact([[-1], [0], [1]]) + deviation
        assert eighth(points)[:, 0].tolist() == (share * f).tolist()
        assert steep(points)[:, 0].tolist() == (of_steep * f).tolist()
        assert memorising_perceptron([[-1], [0], [1]], f, "1/4")(points)[:, 0].tolist() == f.tolist()


@check(
    "variable-creation:remark-A.25",
    grade="exact",
    target="printed",
    cases="one coordinate, 3 nodes, radii 1/4, 1/2, 1, 5/2, whole intervals; two coordinates, 4 nodes, one W_C",
)
@proof_steps("memorising.md: 10, 11")
def test_one_hidden_layer_on_a_line_and_the_output_map_as_first_layer():
    for radius in RADII:
        nodes = as_exact([[-5 * radius], [0], [3 * radius]])
        low, high = output_range(bump_sum_network(nodes[:, 0], [4, -1, 9], radius), nodes - as_exact([radius]), nodes)
        assert low[:, 0].tolist() == high[:, 0].tolist() == [4, -1, 9]
        low, high = output_range(bump_sum_network(nodes[:, 0], [4, -1, 9], radius), nodes, nodes + as_exact([radius]))
        assert low[:, 0].tolist() == high[:, 0].tolist() == [4, -1, 9]
    network = memorising_perceptron(list(product((-1, 1), repeat=2)), [3, 1, 4, 1], "1/2")
    W_C = as_exact([[1, 2], [-1, 1], [0, "1/3"]])
    first, *rest = network.layers
    folded = FeedForward((Affine(W_C @ as_exact(first.weight), first.bias), *rest), activations=network.activations)
    mixed = as_exact(np.random.default_rng(0).integers(-9, 10, (50, 3))) / 8
    assert (folded(mixed) == network(mixed @ W_C)).all()
    assert len(set(folded(mixed)[:, 0].tolist())) > 5
