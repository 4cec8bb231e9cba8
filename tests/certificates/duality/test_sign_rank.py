"""Forster's bound: matrices by hand, certificates that are changed, bad input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpz_mat

from lemmata.certificates.duality.sign_rank import (
    parity_matrix,
    parity_sign_rank_bound,
    sign_rank_bound,
    verify_sign_rank,
)


def test_matrices_by_hand() -> None:
    """All ones: 1. Hadamard matrices of order N: the root of N, rounded up. 2I - J of order 6: norm 4, 36/16, so 2."""
    assert sign_rank_bound(np.ones((3, 5))).dimension == 1
    for order, least in ((2, 2), (4, 2), (8, 3), (16, 4)):
        assert sign_rank_bound(np.array(fmpz_mat.hadamard(order).tolist(), dtype=int)).dimension == least
    bound = sign_rank_bound(2 * np.eye(6) - np.ones((6, 6)))
    assert (bound.row_sum, bound.dimension) == (16, 2)


def test_powers_sharpen_the_row_sum() -> None:
    """The bound on the norm squared falls with p to the spectral one, here of random signs."""
    A = np.random.default_rng(1).choice([-1, 1], size=(9, 14))
    norms = [sign_rank_bound(A, p).row_sum ** (1 / p) for p in (1, 2, 4, 16, 64)]
    assert norms == sorted(norms, reverse=True)
    largest = np.linalg.norm(A, 2) ** 2
    assert largest <= norms[-1] < 1.05 * largest
    assert sign_rank_bound(A.T, 4) == replace(sign_rank_bound(A, 4), rows=14, columns=9)


def test_wide_and_tall_matrices_have_one_bound() -> None:
    A = parity_matrix(4, 2)
    wide, tall = sign_rank_bound(A.T), sign_rank_bound(A)
    assert (wide.rows, wide.columns) == (6, 16)
    assert wide.dimension == tall.dimension == parity_sign_rank_bound(4, 2) == 3


@pytest.mark.parametrize("changes", [{"dimension": 4}, {"row_sum": 15}, {"rows": 15}, {"power": 0}, {"power": 2}])
def test_wrong_certificates_are_refused(changes: dict[str, int]) -> None:
    A = parity_matrix(4, 2)
    bound = sign_rank_bound(A)
    verify_sign_rank(A, bound)
    verify_sign_rank(A, replace(bound, dimension=2))  # weaker, and true
    with pytest.raises(ValueError, match=r"\S"):
        verify_sign_rank(A, replace(bound, **changes))


def test_a_certificate_of_another_matrix_is_refused() -> None:
    bound = sign_rank_bound(parity_matrix(4, 2))
    with pytest.raises(ValueError, match="larger sum"):
        verify_sign_rank(np.ones((16, 6)), bound)


def test_the_closed_form_at_edges() -> None:
    assert [parity_sign_rank_bound(4, k) for k in range(5)] == [1, 2, 3, 2, 1]
    with pytest.raises(ValueError, match=r"in 0, \.\.\., 4"):
        parity_sign_rank_bound(4, 5)
    with pytest.raises(ValueError, match=r"in 0, \.\.\., 4"):
        parity_matrix(4, -1)


@pytest.mark.parametrize(
    ("matrix", "match"), [([1, -1], "two dimensions"), ([[1, 0]], "1 and -1 only"), ([[]], "shape")]
)
def test_bad_matrices_are_refused(matrix: list, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        sign_rank_bound(matrix)


def test_a_bad_power_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        sign_rank_bound([[1]], 0)
