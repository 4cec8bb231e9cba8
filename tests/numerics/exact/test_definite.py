"""Positive definiteness of balls against exact eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb

from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.definite import proved_positive_definite


def with_least(least: str) -> np.ndarray:
    """A matrix of balls with the eigenvalues ``least``, 1, 2, 3 and 4, exactly: moved by a rotation of squares."""
    half = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])
    values = as_balls([least, 1, 2, 3])
    inner = (half.T * (values / 4)) @ half
    whole = np.full((5, 5), arb(0), object)
    whole[:4, :4] = inner
    whole[4, 4] = arb(4)
    return whole


def test_small_and_negative_eigenvalues() -> None:
    assert proved_positive_definite(with_least("1e-9"))
    assert not proved_positive_definite(with_least("0"))
    assert not proved_positive_definite(with_least("-1e-9"))


def test_wide_balls_prove_nothing() -> None:
    matrix = with_least("1/100")
    assert proved_positive_definite(matrix)
    matrix[0, 1] = matrix[1, 0] = matrix[0, 1] + arb(0, 0.2)
    assert not proved_positive_definite(matrix)


def test_a_matrix_that_is_not_square_is_refused() -> None:
    with pytest.raises(ValueError, match="square"):
        proved_positive_definite(with_least("1")[:3])
