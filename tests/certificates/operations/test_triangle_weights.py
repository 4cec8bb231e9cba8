"""Weights of triangles for any missing cells: solutions, contradictions, and what they are held against."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lemmata.certificates.operations.triangle_contradictions import Contradiction, contradiction, contradicts
from lemmata.certificates.operations.triangle_weights import (
    conditions_met,
    exact_weights,
    near_weights,
    triangle_conditions,
)
from lemmata.certificates.operations.triangles import one_cell_weights, wave_bounds


@pytest.mark.parametrize("orders", [(11,), (9,), (3, 3)], ids=str)
def test_the_closed_weights_meet_the_conditions_as_one_orbit_after_the_other(orders: tuple[int, ...]) -> None:
    weights, scale = one_cell_weights(orders)
    conditions = triangle_conditions(orders, [(0, 0)])
    places = np.unique(conditions.orbit, return_index=True)[1][1:]
    values = weights.ravel()[places]
    assert np.array_equal(conditions.spread(values), weights)  # they have all the symmetries
    assert np.array_equal(conditions.matrix @ values, scale * conditions.right)
    assert conditions.sizes.sum() == np.count_nonzero(conditions.orbit >= 0) == np.count_nonzero(weights)
    assert conditions_met(orders, weights, [(0, 0)])
    near = near_weights(conditions)
    assert near is not None
    assert np.abs(conditions.matrix @ near - conditions.right).max() < 1e-6


@pytest.mark.parametrize(("n", "missing"), [(9, [(0, 0), (1, 1)]), (9, [(4, 1)]), (7, [(2, 3)])])
def test_rounded_weights(n: int, missing: list[tuple[int, int]]) -> None:
    weights = exact_weights(triangle_conditions((n,), missing))
    assert weights is not None
    assert conditions_met([n], weights, missing)
    assert not conditions_met([n], weights, [*missing, (5, 5)])
    moved = weights.copy()
    a, b, d = (int(x[0]) for x in np.nonzero(weights))
    moved[a, b, d] -= 1
    moved[a, b, d % (n - 1) + 1] += 1
    assert not conditions_met([n], moved, missing)
    assert not conditions_met([n], 0 * weights, missing)


def test_no_cell_missing_has_the_uniform_weights() -> None:
    weights = exact_weights(triangle_conditions((5,), []))
    assert weights is not None
    assert np.array_equal(weights[:, :, 1:], np.full((5, 5, 4), weights[0, 0, 1]))


@pytest.mark.parametrize(
    ("missing", "neurons"), [([(0, 0), (0, 1)], False), ([(3, 1), (3, 2), (4, 4)], False), ([(0, 0), (1, 1)], True)]
)
def test_contradictions(missing: list[tuple[int, int]], neurons: bool) -> None:
    conditions = triangle_conditions((7,), missing)
    found = contradiction(conditions)
    assert found is not None
    assert contradicts(conditions, found)
    assert bool(len(found.shares)) == neurons
    assert (near_weights(conditions) is None) == (not neurons)
    assert not contradicts(conditions, replace(found, combination=-found.combination))
    large = found.combination * (2**62 // abs(found.combination).max())  # sums of it would not fit, and be of any sign
    with pytest.raises(ValueError, match="over 64 bits"):
        contradicts(conditions, replace(found, combination=large))
    if neurons:
        with pytest.raises(ValueError, match="over 64 bits"):
            contradicts(conditions, replace(found, neurons=found.neurons * (2**62 // abs(found.neurons).max())))
        assert not contradicts(conditions, replace(found, shares=-found.shares))
        assert not contradicts(conditions, Contradiction(found.combination, found.neurons[:0], found.shares[:0]))


@pytest.mark.parametrize("n", [4, 6])
def test_contradictions_of_even_orders_have_no_neurons(n: int) -> None:
    conditions = triangle_conditions((n,), [(0, 0)])
    found = contradiction(conditions)
    assert found is not None
    assert contradicts(conditions, found)
    assert not len(found.shares)
    # y r = x + y' sqrt(2) is negative by a margin that the roots decide
    value = float(found.combination @ conditions.values)
    assert value < 0
    shifted = replace(conditions, right=conditions.right + 0, root=conditions.root * 0)
    assert contradicts(shifted, found) == (int(found.combination @ conditions.right) < 0)
    with pytest.raises(ValueError, match="even order"):
        contradicts(conditions, Contradiction(found.combination, np.ones((1, 3, n), int), np.ones(1, int)))


def test_there_is_no_contradiction_where_weights_are() -> None:
    conditions = triangle_conditions((7,), [(0, 0)])
    assert contradiction(conditions) is None
    with pytest.raises(ValueError, match="conditions"):
        contradicts(conditions, Contradiction(np.zeros(3, int), np.zeros((0, 3, 7), int), np.zeros(0, int)))


@pytest.mark.parametrize(
    ("orders", "cell", "words"), [((1,), (0, 0), "at least 2"), ((5,), (0, 5), "numbers from 0 to 4")]
)
def test_what_is_refused(orders: tuple[int, ...], cell: tuple[int, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        triangle_conditions(orders, [cell])


@pytest.mark.parametrize("n", [3, 5, 8])
def test_weights_and_bounds_of_one_cell_are_for_odd_orders_from_7(n: int) -> None:
    with pytest.raises(ValueError, match="odd order 7 or more"):
        one_cell_weights([n])
    with pytest.raises(ValueError, match="odd orders of 7 or more"):
        wave_bounds(n)
