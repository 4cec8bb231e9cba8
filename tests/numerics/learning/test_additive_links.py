"""Sums of bumps along integer directions: what is refused, and one value by hand."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq

from lemmata.numerics.learning.additive_links import RidgeSum, directions, most_bumps


def test_one_bump_by_hand() -> None:
    g = RidgeSum(directions(1, 1), np.array([[1, -1]]))  # K = 2, R = 1: a zigzag up, and one down
    assert np.allclose(g(np.array([[0.125], [0.375], [0.625], [0.875]])), [0.125, -0.125, -0.125, 0.125], atol=1e-15)


def test_shapes_and_sizes_are_checked() -> None:
    with pytest.raises(ValueError, match="need signs"):
        RidgeSum(directions(2, 1), np.ones((2, 4), dtype=np.int64))
    with pytest.raises(ValueError, match="exact and positive"):
        most_bumps(8, 1, 0)
    with pytest.raises(ValueError, match="no further"):
        most_bumps(2, 1, fmpq(1))
