"""Bounds of all-layer margins from both sides: operator norms, attacks, replay, sharing, refusals.

Edits that change no verdict: seeds, numbers of steps, lengths of kicks after the start, aims and the denominator of the
search.
Whatever it finds is verified exactly, and that it finds the margin of a linear network is tested.
"""

import json
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.margins import all_layer, attack
from lemmata.certificates.margins.all_layer import circuit_constants, circuit_margin_bound, operator_norm
from lemmata.certificates.margins.attack import (
    MarginTarget,
    circuit_target,
    directions,
    largest_change,
    replay,
    smallest_flip,
)
from lemmata.constructions.circuits.boolean import from_truth_table, layered
from lemmata.constructions.circuits.relu import circuit_network
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact

XOR = layered(from_truth_table("0110"))


def linear(label=1):
    """F = <theta, x> at x = (3, 4), theta = (1, 1): the margin is exactly 7/5."""
    return MarginTarget(as_exact([1, 1]), lambda theta: 3 * theta[..., 0] + 4 * theta[..., 1], label)


@given(st.integers(0, 10**6))
def test_operator_norms_are_upper_bounds_and_tight(seed):
    random = np.random.default_rng(seed)
    weight = random.integers(-2, 3, random.integers(1, 7, 2)) * random.integers(0, 2)
    norm = float(np.linalg.norm(weight, 2))
    assert norm * (1 - 1e-12) <= float(operator_norm(weight).upper()) <= norm * (1 + 1e-8)


def test_operator_norms_of_exact_arrays_and_single_blocks():
    assert abs(float(operator_norm(as_exact([["1/3", 0], [0, "2/3"]]))) - 2 / 3) < 1e-8
    assert operator_norm(np.zeros((2, 3), dtype=np.int64)) == 0
    assert abs(float(operator_norm(np.ones((40, 40), dtype=np.int64))) - 40) < 1e-6


def test_the_margin_of_a_linear_network_is_found():
    flip = smallest_flip(linear(), starts=2, steps=60)
    assert 1.4 <= flip.norm < 1.4 + 1e-6
    assert flip.margin <= 0
    with pytest.raises(ValueError, match="does not predict the label 0"):
        linear(label=0)
    with pytest.raises(ValueError, match="label must be 0 or 1"):
        linear(label=2)


def test_the_search_starts_at_0_and_at_lengths_from_a_hundredth_to_one():
    met = []

    def output(theta):
        met.append(theta)
        return linear().output(theta)

    target = MarginTarget(as_exact([1, 1]), output, 1)
    met.clear()
    smallest_flip(target, starts=4, steps=1)
    starts = met[0].detach().numpy() - 1
    assert np.linalg.norm(starts, axis=1) == pytest.approx([0, 0.01, 0.1, 1])


def test_the_largest_change_of_a_linear_network():
    margins, found = largest_change(linear(), 0.5, starts=3, steps=60)
    assert abs(margins.min() - (7 - 0.5 * 5)) < 1e-3
    assert np.linalg.norm(found, axis=1).max() <= 0.5 * (1 + 1e-12)


def test_no_flip_is_reported_where_there_is_none():
    assert smallest_flip(MarginTarget(as_exact([2]), lambda t: t[..., 0] ** 2 + 1, 1), starts=3, steps=20) is None


def test_a_perturbation_is_replayed_from_json():
    target = circuit_target(circuit_network(XOR, "none"), [0, 1])
    flip = smallest_flip(target, starts=4, steps=80)
    assert replay(target, json.loads(json.dumps(flip.document()))) == flip
    assert sum(x * x for x in flip.delta(len(target.parameters))) == flip.norm_squared
    for document, message in [
        ({}, "all integers"),
        ({"denominator": "1", "numerators": {"0": "x"}}, "all integers"),
        ({"denominator": "0", "numerators": {}}, "must be positive"),
        ({"denominator": "1", "numerators": {"99999": "1"}}, "places must lie in"),
        ({"denominator": "1", "numerators": {}}, "still 1 > 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            replay(target, document)


def test_shared_parameters_move_together():
    """All steps of a chain share their parameters: a flip of the shared vector, repeated, flips the free network."""
    network = circuit_network(layered(from_truth_table("01")).deepened(4), "none")
    theta, blocks = network.parameters, network.blocks()
    sharing = np.arange(len(theta))
    for _, places in blocks[1:-1]:
        sharing[places] = sharing[blocks[0][1]]
    shared = smallest_flip(circuit_target(network, [1], sharing, theta), starts=4, steps=80)
    free = smallest_flip(circuit_target(network, [1]), starts=4, steps=80)
    assert shared.norm < free.norm  # one shared move acts in all layers at once
    moved = [Fraction(0)] * len(theta)
    for place, source in enumerate(sharing):
        moved[place] = shared.delta(len(theta))[source]
    assert circuit_target(network, [1]).exact_margin(moved) == shared.margin
    with pytest.raises(ValueError, match="does not give the parameters"):
        circuit_target(network, [1], sharing, theta + fmpq(1))
    with pytest.raises(ValueError, match="must name one of"):
        circuit_target(network, [1], sharing[:-1], theta)


def test_directions_are_unit_vectors_of_three_kinds():
    result = directions(np.random.default_rng(0), 30, 50)
    assert np.abs(np.linalg.norm(result, axis=1) - 1).max() < 1e-12
    assert np.abs(np.abs(result[1::3]) - 50**-0.5).max() < 1e-12
    assert (np.count_nonzero(result[2::3], axis=1) <= 8).all()


def test_naive_networks_have_no_certified_margin():
    with pytest.raises(ValueError, match="no corrections"):
        circuit_margin_bound(circuit_network(XOR, "none"))
    with pytest.raises(ValueError, match="no corrections"):
        circuit_constants(circuit_network(XOR, "none"), Fraction(1), Fraction(1))


def test_a_perturbation_by_whole_numbers_is_replayed():
    flip = replay(linear(), {"denominator": 1, "numerators": {"0": -1, "1": -1}})
    assert (flip.denominator, flip.margin) == (1, 0)
    with pytest.raises(ValueError, match="denominator must be positive"):
        replay(linear(), {"denominator": 0, "numerators": {"0": -1, "1": -1}})
    with pytest.raises(ValueError, match="places must lie in 0 to 1"):
        replay(linear(), {"denominator": 1, "numerators": {"2": -9}})
    with pytest.raises(ValueError, match="places must lie in 0 to 1"):
        replay(linear(), {"denominator": 1, "numerators": {"5": -9}})


def test_a_flip_is_shortened_to_the_first_change_of_sign():
    """Of (-3, -4) and (-30, -40) the part that reaches the plane <theta, x> = 0: 7/25 of the first."""
    for scale in (1.0, 10.0):
        short = attack._shortened(linear(), scale * np.array([-3.0, -4.0]))
        assert linear().margins(short[None])[0] <= 0
        assert np.abs(short - np.array([-0.84, -1.12])).max() < 1e-12


def test_positive_definite_matrices_are_told_from_others():
    """L D L^T for L with ones on the diagonal is positive definite if D is positive."""
    random = np.random.default_rng(4)
    for size in (2, 3, 5):
        lower = np.tril(random.integers(-3, 4, (size, size)), -1) + np.eye(size, dtype=np.int64)
        for place in range(size):
            diagonal = np.ones(size, dtype=np.int64)
            assert all_layer._positive_definite(as_balls(lower @ np.diag(diagonal) @ lower.T))
            diagonal[place] = -1
            assert not all_layer._positive_definite(as_balls(lower @ np.diag(diagonal) @ lower.T))


def test_gradients_of_several_perturbations_are_those_of_each():
    deltas = np.array([[0.5, -0.25], [0.0, 0.0], [-1.0, 2.0]])
    target = MarginTarget(as_exact([1, 2]), lambda t: t[..., 0] ** 2 * t[..., 1] + 3 * t[..., 1], 1)
    margins, gradients = attack._margin_and_gradient(target, deltas)
    for delta, margin, gradient in zip(deltas, margins, gradients, strict=True):
        x, y = 1 + delta[0], 2 + delta[1]
        assert margin == pytest.approx(x * x * y + 3 * y)
        assert gradient == pytest.approx([2 * x * y, x * x + 3])


def test_a_perturbation_is_shortened_to_the_first_that_flips():
    """Half of (-2, -2) makes the margin 0, which flips the prediction."""
    assert attack._shortened(linear(), np.array([-2.0, -2.0])).tolist() == [-1.0, -1.0]
