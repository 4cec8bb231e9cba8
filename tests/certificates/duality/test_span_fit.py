"""Distances of parities from the span of features."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq

from lemmata.certificates.duality.features import feature_table
from lemmata.certificates.duality.span_fit import rank, span_residuals


def test_features_without_span_and_with_all_of_it() -> None:
    assert span_residuals(feature_table(np.zeros((8, 2), dtype=int)), 2) == [fmpq(1)] * 3
    assert span_residuals(feature_table(np.eye(8, dtype=int)), 2) == [fmpq(0)] * 3
    assert rank(feature_table(np.eye(8, dtype=int)[:, [0, 0, 1]])) == 2


def test_the_constant_fits_the_empty_parity() -> None:
    assert span_residuals(feature_table(np.full((8, 1), fmpq(1, 3))), 0) == [fmpq(0)]


@pytest.mark.parametrize("k", [-1, 4])
def test_other_sizes_are_refused(k: int) -> None:
    with pytest.raises(ValueError, match=r"The size k of the sets must be in 0, \.\.\., 3, not"):
        span_residuals(feature_table(np.eye(8, dtype=int)), k)
