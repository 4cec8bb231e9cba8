"""Mixed norms: against NumPy, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb

from lemmata.numerics.tokens.mixed_norms import conjugate, mixed_norm


@pytest.mark.parametrize("p", [1, 2, 3, "inf"])
@pytest.mark.parametrize("r", [1, 2, 3, "inf"])
def test_norms_agree_with_numpy(p: Any, r: Any) -> None:
    A = np.random.default_rng(0).normal(size=(4, 5))
    orders = [np.inf if exponent == "inf" else exponent for exponent in (p, r)]
    expected = np.linalg.norm(np.linalg.norm(A, orders[0], axis=0), orders[1])
    assert abs(float(mixed_norm(A, p, r)) - expected) < 1e-12


def test_zero_matrices() -> None:
    assert all(mixed_norm([[0, 0]], p, r) == 0 for p in (1, "3/2", "inf") for r in (1, 2, 7))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mixed_norm([1, 2], 1, 1), r"not of the shape \(2,\)"),
        (lambda: mixed_norm(np.zeros((2, 0)), 1, 1), r"not of the shape \(2, 0\)"),
        (lambda: mixed_norm([[1]], "1/2", 1), r"rational number >= 1 or \"inf\", not '1/2'"),
        (lambda: mixed_norm([[np.nan]], 1, 1), "nan"),
        (lambda: mixed_norm(np.array([[arb("inf")]], dtype=object), 1, 1), "NaN or infinity"),
        (lambda: conjugate(0), "rational number >= 1"),
    ],
)
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
