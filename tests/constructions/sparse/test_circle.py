"""Networks of one head on a circle: long strings, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from lemmata.constructions.sparse.circle import circle_nodes, circle_positions, compile_on_circle
from lemmata.constructions.sparse.functions import sparse_function


def test_a_parity_of_four_bits_of_fifty() -> None:
    """A function that turns at every node or at none; random strings, in floats with a margin far above rounding."""
    x = np.random.default_rng(0).integers(0, 2, (40, 50))
    read = (49, 3, 4, 20)
    values = [(-1) ** bin(code).count("1") for code in range(16)]
    network = compile_on_circle(sparse_function(50, read, values))
    expected = 1 - 2 * (x[:, list(read)].sum(axis=1) % 2)
    assert all(15 / 16 <= y * f <= 17 / 16 for y, f in zip(expected.tolist(), network(x)[:, 0].tolist(), strict=True))
    same = compile_on_circle(sparse_function(50, read, [1] * 16))
    assert all(f == 1 for f in same.to_float()(x)[:, 0].tolist())


def test_positions_and_nodes() -> None:
    P = np.array([[float(x.mid()) for x in row] for row in circle_positions(6, 2)])
    angles = np.pi / 3 * np.arange(6)
    assert np.allclose(P, np.stack([np.cos(angles), np.cos(2 * angles), np.sin(angles), np.sin(2 * angles)], axis=1))
    assert [float(x) for x in circle_nodes(sparse_function(3, (0, 1), [1, 1, -1]))] == [-1, 0, 1]


def test_what_does_not_fit_is_refused() -> None:
    for function in (sparse_function(4, (0,), [0, 1]), sparse_function(4, (0,), [1, -1, 1], alphabet=3)):
        with pytest.raises(ValueError, match="for functions of bits with values 1 and -1"):
            compile_on_circle(function)
    with pytest.raises(ValueError, match="length T must be an integer >= 3, not 2"):
        compile_on_circle(sparse_function(2, (0, 1), [1, -1, 1]))
