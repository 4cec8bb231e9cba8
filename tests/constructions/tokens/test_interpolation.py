"""Networks that interpolate: orders of points, lengths of directions, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.tokens.interpolation import (
    coded_readout,
    interpolating_network,
    interpolating_readout,
    interpolating_recurrence,
    least_gap,
    line_interpolant,
    separating_direction,
    squared_norm,
    unit_direction,
)
from lemmata.numerics.tokens.codes import PositionCodes, orthonormal_codes

RNG, CODES = np.random.default_rng(0), orthonormal_codes(4)


def test_the_order_of_the_points_does_not_matter() -> None:
    z, y = np.array([3, -1, 0, 7]), np.array([1, 2, -5, 0])
    network = line_interpolant(z, y)
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
        again = line_interpolant(z[order], y[order])
        assert all((a == b).all() for a, b in zip(network.arrays(), again.arrays(), strict=True))
    assert network(np.array([[2]]))[0, 0] == -1  # on the chord from (0, -5) to (3, 1)


def test_directions_may_have_any_length() -> None:
    X, y = [[1, 0], [0, 1], [2, 2]], [3, -1, 1]
    for scale in (fmpq(1, 7), fmpq(1), fmpq(100)):
        network = interpolating_network(X, y, [scale, 3 * scale], 5)
        assert network(np.array(X))[:, 0].tolist() == y
        assert abs(squared_norm(network) - 2 * squared_norm(network.layers[1])) < fmpq(1, 10**5)


def test_floats_count_with_their_binary_values() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 3)), rng.normal(size=6)
    found = separating_direction(X, rng)
    network = interpolating_readout(X, y, found.vector, 4, 8)
    assert np.abs(network.to_float()(X)[:, 0] - y).max() < 1e-9
    assert interpolating_recurrence(network, 2).inputs == 3


@pytest.mark.parametrize("d", [1, 2, 5, 30])
def test_unit_directions_are_rational(d: int) -> None:
    v = unit_direction(d, np.random.default_rng(d))
    assert v.shape == (d,)
    assert (v**2).sum() == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: line_interpolant([1, 2, 1], [0, 1, 2]), "Two points have the same place 1 on the line"),
        (lambda: line_interpolant([1, 2], [0]), r"not the shapes \(2,\) and \(1,\)"),
        (lambda: line_interpolant([], []), r"not the shapes \(0,\)"),
        (lambda: line_interpolant([1.0, np.inf], [0, 1]), "the places has NaN or infinity"),
        (lambda: interpolating_network([[1, 2]], [1], [1, 1], 0), "The width must be an integer >= 1, not 0"),
        (lambda: interpolating_network([[1, 2]], [1], [1]), r"has the shape \(2,\), not \(1,\)"),
        (lambda: interpolating_network([[1, 2], [2, 1]], [1, 2], [1, 1]), "the same place 3"),
        (lambda: interpolating_readout([[1, 2]], [1], [1, 1], 1), "The depth must be an integer >= 2, not 1"),
        (lambda: interpolating_recurrence(line_interpolant([1], [1]), 0), "The width of the states"),
        (lambda: separating_direction([[1, 2], [1, 2]], RNG, 3), "None of 3 directions keeps the 2"),
        (lambda: separating_direction([1, 2], np.random.default_rng(0)), r"not of the shape \(2,\)"),
        (lambda: coded_readout(CODES, [0, 0], [1, 2], 2, 1), "n different indices and n labels"),
        (lambda: coded_readout(CODES, [0, 1], [1], 2, 1), "n different indices and n labels"),
        (lambda: coded_readout(CODES, [0, 1], [1, 0], 2, 1), "A label is 0"),
        (lambda: coded_readout(CODES, [0, 4], [1, 2], 2, 1), "The positions are the integers 0, ..., 3"),
        (lambda: coded_readout(CODES, [0], [1], 1, 1), "The depth must be an integer >= 2, not 1"),
        (lambda: coded_readout(PositionCodes(np.array([[3, 4], [4, 3]]), 25), [0], [1], 2, 1), "numbers 0 and 1"),
        (lambda: unit_direction(0, np.random.default_rng(0)), "The dimension must be an integer >= 1"),
        (lambda: least_gap(0), "The number of points must be an integer >= 1"),
    ],
)  # fmt: skip
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
