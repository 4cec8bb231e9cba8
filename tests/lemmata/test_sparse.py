"""Sparse functions through the front door."""

import numpy as np
import pytest

import lemmata as lm


def test_a_function_of_a_million_bits_is_proved():
    """With trainable positions, whose proof needs two scores only."""
    network = lm.compile_sparse(10**6, (3, 999_999), "0110", inputs="trainable")
    certificate = lm.certify_sparse(network)
    assert certificate.values.tolist() == [0, 1, 1, 0]
    assert certificate.error <= certificate.radius


def test_codes_in_few_dimensions():
    positions = lm.near_orthogonal_positions(300, "1/4")
    assert (positions.count, positions.dimension) == (300, 64)
    lm.certify_sparse(lm.compile_sparse(300, (1, 200), [1, 5, 2], positions=positions))
    assert lm.near_orthogonal_positions(3).dimension == 3
    with pytest.raises(ValueError, match="no 1000000 codes with a coherence of at most 1/1000"):
        lm.near_orthogonal_positions(10**6, "1/1000")
    with pytest.raises(ValueError, match="at least 0 and below 1, not 1"):
        lm.near_orthogonal_positions(10, 1)


def test_a_run_and_a_module():
    network = lm.compile_sparse(5, (0, 2), lambda a, b: 2 * a + b).to_float()
    assert abs(network([1, 0, 1, 1, 0]) - 3) < 1e-9
    module = lm.to_torch(network)
    assert sum(parameter.numel() for parameter in module.parameters()) > 100


def test_selections():
    assert lm.select_positions(np.eye(4, dtype=int), (0, 3)).possible
    square = [[1, 0], [-1, 0], [0, 1], [0, -1]]
    assert not lm.select_positions(square, (0, 1)).possible
    assert lm.select_positions(square, (2,)).squared_margin == 1


def test_too_many_orthonormal_positions_are_refused_before_they_are_stored():
    with pytest.raises(ValueError, match="at most 4096 are built"):
        lm.near_orthogonal_positions(10**6)
    assert lm.near_orthogonal_positions(10**6, "1/4").count == 10**6
