"""A lower bound on the sign rank of a matrix of signs, by Forster's theorem, in integers.

The sign rank of A is the least D for which there are vectors u_x, w_y in R^D with sign <u_x, w_y> = A_xy: the least
number of fixed features on which every column is a linear threshold function. Forster (2002): D^2 |A|^2 >= N M for an
N x M matrix with spectral norm |A|. The proof is written out in theorems/hidden_progress/proofs/fixed-features.md.

With the Gram matrix G of rows or columns, |A|^(2p) = |G^p| is at most the largest sum R of absolute values in a row of
G^p, an integer. So D^(2p) R >= (N M)^p, and the bound is the least such D. It needs no eigenvalue and no rounding; the
loss of R against |G|^p shrinks with p, and there is none if G is a multiple of the identity, as for parities.

Source: hidden-progress, unnumbered-NTK-size.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb, isqrt

import numpy as np
from flint import fmpz_mat
from numpy.typing import ArrayLike, NDArray

from lemmata.certificates.duality.features import parity_labels
from lemmata.numerics.exact.integers import smallest_integer

__all__ = ["SignRankBound", "parity_matrix", "parity_sign_rank_bound", "sign_rank_bound", "verify_sign_rank"]


@dataclass(frozen=True)
class SignRankBound:
    """A certificate: the sign rank is at least ``dimension``.

    Attributes:
        rows: N.
        columns: M.
        power: p.
        row_sum: R, the largest sum of absolute values in a row of G^p.
        dimension: the least D with D^(2p) R >= (N M)^p.
    """

    rows: int
    columns: int
    power: int
    row_sum: int
    dimension: int


def sign_rank_bound(matrix: ArrayLike, power: int = 1) -> SignRankBound:
    """The bound of Forster's theorem for a matrix of signs, with G the smaller one of A A^T and A^T A.

    Raises:
        ValueError: unless the matrix has two dimensions, is not empty and has entries 1 and -1 only, and power >= 1.
    """
    A = _signs(matrix)
    if power < 1:
        raise ValueError(f"The power of the Gram matrix must be at least 1, not {power}.")
    rows, columns = A.shape
    row_sum = _row_sum(A, power)
    total = (rows * columns) ** power
    dimension = smallest_integer(1, lambda D: D ** (2 * power) * row_sum >= total)
    return SignRankBound(rows, columns, power, row_sum, dimension)


def verify_sign_rank(matrix: ArrayLike, bound: SignRankBound) -> None:
    """Check a certificate against its matrix.

    Raises:
        ValueError: if it is not that of the matrix, its row sum is too small, or D - 1 is not excluded by it.
    """
    A = _signs(matrix)
    if A.shape != (bound.rows, bound.columns) or bound.power < 1:
        raise ValueError(f"The certificate is for another shape than {A.shape}, or has no power of 1 or more.")
    if _row_sum(A, bound.power) > bound.row_sum:
        raise ValueError("The largest row of the power of the Gram matrix has a larger sum than the certificate says.")
    excluded = max(bound.dimension - 1, 0)
    if excluded ** (2 * bound.power) * bound.row_sum >= (bound.rows * bound.columns) ** bound.power:
        raise ValueError(f"The certificate does not exclude the dimension {excluded}.")


def parity_matrix(n: int, k: int) -> NDArray[np.int64]:
    """The signs chi_S(x), one row for each of the 2^n inputs, one column for each S of size k.

    Raises:
        ValueError: unless 0 <= k <= n, or as `parity_labels` for too many inputs.
    """
    if not 0 <= k <= n:
        raise ValueError(f"The size k of the sets must be in 0, ..., {n}, not {k}.")
    return np.stack([parity_labels(S, n) for S in combinations(range(n), k)], axis=1).astype(np.int64)


def parity_sign_rank_bound(n: int, k: int) -> int:
    """The least integer that is at least the root of C(n, k): the bound for `parity_matrix`, whose G is 2^n I.

    Raises:
        ValueError: unless 0 <= k <= n.
    """
    if not 0 <= k <= n:
        raise ValueError(f"The size k of the sets must be in 0, ..., {n}, not {k}.")
    return isqrt(comb(n, k) - 1) + 1


def _signs(matrix: ArrayLike) -> NDArray[np.int64]:
    A = np.asarray(matrix)
    if A.ndim != 2 or not A.size or not np.all((A == 1) | (A == -1)):
        raise ValueError(f"The matrix must have two dimensions and entries 1 and -1 only; its shape is {A.shape}.")
    return A.astype(np.int64)


def _row_sum(A: NDArray[np.int64], power: int) -> int:
    """The largest sum of absolute values in a row of G^power, G the smaller Gram matrix."""
    gram = A @ A.T if len(A) <= A.shape[1] else A.T @ A
    result = fmpz_mat(len(gram), len(gram), gram.ravel().tolist()) ** power
    return max(sum(abs(int(entry)) for entry in row) for row in result.tolist())
