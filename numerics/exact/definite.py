"""Positive definiteness of a symmetric matrix of balls, for sizes where elimination ball by ball takes too long."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, arb_mat
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

__all__ = ["proved_positive_definite"]


def proved_positive_definite(matrix: NDArray[Any]) -> bool:
    """Whether all symmetric matrices in a matrix of balls are shown to be positive definite; False denies nothing.

    With X near the inverse of a Cholesky factor, a matrix of floats that is taken exactly, X M X' is near the identity.
    If its rows are diagonally dominant, it is positive definite, and so is M.

    Args:
        matrix: balls, shape (m, m), symmetric.

    Raises:
        ValueError: for a matrix that is not square.
    """
    size = len(matrix)
    if matrix.shape != (size, size):
        raise ValueError(f"A symmetric matrix is square, but the shape is {matrix.shape}.")
    try:
        factor = np.linalg.cholesky(np.array([[float(x.mid()) for x in row] for row in matrix]).reshape(size, size))
    except np.linalg.LinAlgError:
        return False
    near = solve_triangular(factor, np.eye(size), lower=True)
    X = arb_mat(near.tolist())
    product = (X * arb_mat(matrix.tolist()) * X.transpose()).tolist()
    return all(row[i] > sum((abs(x) for j, x in enumerate(row) if j != i), arb(0)) for i, row in enumerate(product))
