"""Arithmetic modulo a prime p = 1 mod N, where the field F_p holds all N-th roots of unity.

Matrices are int64 arrays with entries in 0..p-1; products and echelon forms are FLINT's and take any p below 2^63.
Functions that multiply entries in NumPy need p below 2^31, so that the product of two entries fits into int64.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from flint import fmpz, nmod_mat, nmod_poly

__all__ = [
    "LARGE",
    "SMALL",
    "krylov_matrix",
    "minimal_polynomial",
    "modular_product",
    "prime_with_roots",
    "quotients_by_roots",
    "reduced_echelon",
    "root_of_order",
]

IntArray = npt.NDArray[np.int64]

SMALL = 2**31
LARGE = 2**63


def prime_with_roots(order: int, below: int = SMALL) -> int:
    """The largest prime p = 1 mod ``order`` below ``below``, which is at most 2^63.

    Raises:
        ValueError: if there is none.
    """
    if order < 1 or not 2 < below <= LARGE:
        raise ValueError(f"There are fields for orders >= 1 below bounds from 3 to 2^63, not for {order} and {below}.")
    for k in range((below - 2) // order, 0, -1):
        if fmpz(k * order + 1).is_prime():
            return k * order + 1
    raise ValueError(f"No prime p = 1 mod {order} lies below {below}: roots of this order are out of reach.")


def root_of_order(order: int, p: int) -> int:
    """An element of order exactly ``order`` in F_p, for p = 1 mod ``order``: the power of the smallest base that works.

    Raises:
        ValueError: if p - 1 is not a multiple of the order.
    """
    if (p - 1) % order:
        raise ValueError(f"F_{p} has no root of unity of order {order}, which does not divide {p - 1}.")
    primes = [int(q) for q, _ in fmpz(order).factor()]
    for base in range(1, p):
        root = pow(base, (p - 1) // order, p)
        if all(pow(root, order // q, p) != 1 for q in primes):
            return root
    raise ValueError(f"{p} is not a prime, so its residues have no root of order {order}.")


def _flint(A: IntArray, p: int) -> nmod_mat:
    return nmod_mat(A.shape[0], A.shape[1], A.ravel().tolist(), p)


def _numpy(A: nmod_mat) -> IntArray:
    return np.array([int(x) for x in A.entries()], dtype=np.int64).reshape(A.nrows(), A.ncols())


def modular_product(A: IntArray, B: IntArray, p: int) -> IntArray:
    """A @ B mod p for A (r, s) and B (s, t)."""
    return _numpy(_flint(A, p) * _flint(B, p))


def reduced_echelon(A: IntArray, p: int) -> IntArray:
    """The nonzero rows of the reduced row echelon form of A over F_p, shape (rank, columns)."""
    form, rank = _flint(A, p).rref()
    return _numpy(form)[: int(rank)]


def krylov_matrix(u: IntArray, M: IntArray, p: int) -> IntArray:
    """The rows u, uM, .., uM^(K-1) for a vector u (K,) and M (K, K), by repeated doubling: shape (K, K)."""
    K = len(M)
    rows, power = _flint(u[None, :], p), _flint(M, p)
    found = _numpy(rows)
    while len(found) < K:
        found = np.vstack([found, _numpy(_flint(found, p) * power)])
        power = power * power
    return found[:K]


def minimal_polynomial(krylov: IntArray, M: IntArray, p: int) -> tuple[IntArray, IntArray]:
    """The monic polynomial of least degree K with u m(M) = 0, for an invertible Krylov matrix, and its roots.

    Returns the coefficients, constant term first, shape (K + 1,), and the roots in F_p in increasing order. They are K
    roots exactly when M is diagonalisable over F_p with K distinct eigenvalues.
    """
    last = modular_product(krylov[-1:], M, p)
    relation = _numpy(_flint(np.ascontiguousarray(krylov.T), p).solve(_flint(np.ascontiguousarray(last.T), p)))[:, 0]
    coefficients = np.append(-relation % p, 1)
    factors = nmod_poly(coefficients.tolist(), p).factor()[1]
    roots = sorted(-int(factor[0]) * pow(int(factor[1]), -1, p) % p for factor, _ in factors if factor.degree() == 1)
    return coefficients, np.array(roots, dtype=np.int64)


def quotients_by_roots(coefficients: IntArray, roots: IntArray, p: int) -> IntArray:
    """The coefficients of m(x)/(x - root) for every root of m, divided by the value at the root: shape (roots, K).

    They are the Lagrange polynomials, 1 at one root and 0 at the others, if all roots are given. For p below 2^31.
    """
    K = len(coefficients) - 1
    quotients = np.zeros((len(roots), K), dtype=np.int64)
    carry = np.zeros(len(roots), dtype=np.int64)
    for degree in range(K - 1, -1, -1):  # synthetic division, all roots at once
        carry = (carry * roots + coefficients[degree + 1]) % p
        quotients[:, degree] = carry
    value = np.zeros(len(roots), dtype=np.int64)
    for degree in range(K - 1, -1, -1):
        value = (value * roots + quotients[:, degree]) % p
    inverses = np.array([pow(int(v), -1, p) for v in value], dtype=np.int64)
    return quotients * inverses[:, None] % p
