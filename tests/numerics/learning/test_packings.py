"""Packings: the examples, greedy ones, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.numerics.learning.packings import (
    ellipsoid_bound,
    ellipsoid_estimate,
    greedy_packing,
    least_squared_distance,
    minimal_vectors,
    sparse_bound,
    sparse_estimate,
    volume_bound,
)


@pytest.mark.parametrize(("lattice", "shape", "square"), [("D4", (24, 4), 2), ("E8", (240, 8), 8)])
def test_shortest_vectors_lie_in_their_lattice(lattice: Any, shape: tuple[int, int], square: int) -> None:
    vectors = minimal_vectors(lattice)
    assert vectors.shape == shape
    assert set((vectors**2).sum(axis=1).tolist()) == {square} == {int(least_squared_distance(vectors))}
    products = vectors @ vectors.T
    assert set(np.unique(2 * products // square).tolist()) == {-2, -1, 0, 1, 2}  # a root system


def test_greedy_packings_take_what_is_far_enough() -> None:
    assert greedy_packing([[0], ["1/2"], [1], ["3/2"], [2]], 1) == [0, 2, 4]
    assert greedy_packing([[0, 0], [3, 4]], 5) == [0, 1]
    assert greedy_packing([[0, 0], [3, 4]], "5001/1000") == [0]


def test_flat_directions_do_not_count() -> None:
    assert ellipsoid_bound([1, 4], "1/2").overlaps(ellipsoid_bound([1, 4, 0, 0], "1/2"))
    assert ellipsoid_estimate([1, 4], "1/2").overlaps(ellipsoid_estimate([fmpq(5)], "1/2"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: minimal_vectors("A2"), "are D4 and E8, not 'A2'"),  # type: ignore[arg-type]
        (lambda: least_squared_distance([[1, 2]]), r"at least two points, .* not the shape \(1, 2\)"),
        (lambda: least_squared_distance([[0.5], [1.0]]), "0.5"),
        (lambda: volume_bound(0, 1), "a dimension d >= 1 and a distance eps > 0, not 0 and 1"),
        (lambda: sparse_bound(2, 0), "a distance eps > 0, not 2 and 0"),
        (lambda: sparse_estimate(2, "-1"), "a distance eps > 0, not 2 and -1"),
        (lambda: ellipsoid_bound([], 1), "a dimension d >= 1|at least one axis"),
        (lambda: ellipsoid_estimate([1, -1], 1), "no square of an axis is negative"),
        (lambda: greedy_packing([1, 2], 1), r"does not have the shape \(2,\)"),
    ],
)
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
