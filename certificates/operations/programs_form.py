"""One form of conic program, which every solver of this room takes.

The moments L and one number nu_g for each group g of multipliers are the variables:
    maximise  sum_g nu_g - fixed . L   subject to   norm . L = 1,   weights_j - columns_j . L - nu_g(j) >= 0,
              and for each block the matrix sum_i L_i E_i is positive semidefinite.
Its dual is what is wanted: multipliers lambda >= 0 of sum 1 in each group, and Gram matrices of the blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["ConeData", "block_rows", "lower_triangle"]


@dataclass(frozen=True)
class ConeData:
    """The data of a program.

    Attributes:
        norm: shape (L,).
        fixed: shape (L,).
        columns: shape (L, J), those of the J multipliers.
        weights: shape (J,).
        group: shape (J,), the number of the group of each multiplier, or -1 for a multiplier without a group.
        start: moments of which all blocks are positive definite, with norm . start = 1, shape (L,).
        blocks: for each block its order d and the rows of its lower triangle by columns, off-diagonal ones times
            sqrt 2, shape (d (d + 1) / 2, L).
    """

    norm: NDArray[np.float64]
    fixed: NDArray[np.float64]
    columns: sparse.csr_array
    weights: NDArray[np.float64]
    group: NDArray[np.int64]
    start: NDArray[np.float64]
    blocks: tuple[tuple[int, sparse.csr_array], ...]


def block_rows(moment_of: NDArray[np.int64], scale: NDArray[np.float64], moments: int) -> sparse.csr_array:
    """The rows of one block in which entry (i, j) is scale_i scale_j times moment number moment_of[i, j]."""
    i, j = lower_triangle(len(scale))
    values = scale[i] * scale[j] * np.where(i == j, 1.0, np.sqrt(2))
    rows = np.arange(len(i))
    return sparse.csr_array((values, (rows, moment_of[i, j])), shape=(len(i), moments))


def lower_triangle(order: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows and columns of the lower triangle, by columns."""
    j, i = np.triu_indices(order)
    return i, j
