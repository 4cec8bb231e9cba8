"""The stretch of a vector under a rectified matrix: exact small cases and bad input."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from flint import arb

from lemmata.numerics.recurrent.rectified_norm import stretch, stretched_vector


def test_small_cases() -> None:
    W = np.array([[3.0, 0.0], [0.0, -4.0]])
    assert abs(stretch(W, np.array([1.0, 0.0])) - 3) < arb("1e-12")
    assert abs(stretch(W, np.array([3.0, 1.0])) - arb("8.1").sqrt()) < arb("1e-12")
    assert abs(stretch(W, np.array([0.0, 1.0]))) < arb("1e-12")


def test_ascent_never_falls() -> None:
    W = np.random.default_rng(0).standard_normal((30, 30))
    values = [stretch(W, stretched_vector(W, steps)) for steps in (0, 1, 5, 50)]
    assert all(after > before for before, after in pairwise(values))


def test_bad_input_is_refused() -> None:
    for W, x in ((np.ones(2), np.ones(2)), (np.eye(2), np.ones(3)), (np.eye(2), np.zeros(2))):
        with pytest.raises(ValueError, match="stretches a vector"):
            stretch(W, x)
    with pytest.raises(ValueError, match="steps"):
        stretched_vector(np.eye(2), -1)
