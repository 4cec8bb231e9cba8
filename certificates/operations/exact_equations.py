"""Linear equations solved exactly near given numbers: in integers, and the kernel of a matrix in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

__all__ = ["echelon", "rational_kernel", "solved_near"]

Floats = NDArray[np.float64]

HIDDEN, LARGEST_DENOMINATOR, WHOLE = 1e-6, 5000, 1e-3
"""Eigenvalues below this share of the largest count as zero; the vectors of the kernel are over a common denominator
that is smaller than this, and so close to whole numbers times that one: they are first order where the eigenvalues
are second."""


def solved_near(system: list[list[int]], near: list[Fraction]) -> list[Fraction] | None:
    """A solution of linear equations whose free unknowns are those given; None without a solution.

    Args:
        system: for each equation the coefficients of the unknowns, then the right side.
        near: a number for each unknown.
    """
    reduced, denominator, rank = fmpz_mat(system).rref()
    unknowns = len(near)
    solution = list(near)
    for i in range(rank):
        row = [int(reduced[i, j]) for j in range(unknowns + 1)]
        pivot = next(j for j, entry in enumerate(row) if entry)
        if pivot == unknowns:
            return None
        rest = sum((entry * near[j] for j, entry in enumerate(row[:-1]) if entry and j != pivot), Fraction(0))
        solution[pivot] = (row[-1] - rest) / int(denominator)
    return solution


def echelon(matrix: Floats) -> Floats:
    """The reduced echelon form of the rows."""
    rows, rank = matrix.copy(), 0
    for column in range(rows.shape[1]):
        if rank == len(rows):
            break
        pivot = rank + int(np.argmax(np.abs(rows[rank:, column])))
        if abs(rows[pivot, column]) < 1e-9:
            continue
        rows[[rank, pivot]] = rows[[pivot, rank]]
        rows[rank] /= rows[rank, column]
        for i in range(len(rows)):
            if i != rank:
                rows[i] -= rows[i, column] * rows[rank]
        rank += 1
    return rows[:rank]


def rational_kernel(outside: Floats, P: Floats) -> list[list[Fraction]]:
    """A basis of the kernel of a matrix, if there is one of fractions with a small common denominator; else empty.

    Args:
        outside: an orthonormal basis (n, r) of the space that the matrix acts on.
        P: the matrix in this basis, (r, r), positive semidefinite.
    """
    sizes, vectors = np.linalg.eigh(P)
    space = outside @ vectors[:, sizes < HIDDEN * sizes[-1]]
    basis = echelon(space @ space.T)
    for denominator in range(1, LARGEST_DENOMINATOR if len(basis) else 1):
        whole = np.rint(basis * denominator)
        if np.abs(basis * denominator - whole).max() < WHOLE:
            return [[Fraction(int(z), denominator) for z in row] for row in whole]
    return []
