"""Exact linear systems and ranks over a field given by its elements.

Entries may be of any exact type that NumPy can hold in an object array and that supports ``+ - * /`` and a
decided ``== 0``: ``int``, ``Fraction``, ``flint.fmpq``, ``lemmata.numerics.exact.cyclotomic.numbers.Cyclotomic``.
Inverses and pivots of rational matrices are left to FLINT; else the same plain elimination serves all fields.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

__all__ = ["inverse", "pivot_columns", "rank", "solve_unique"]


def solve_unique(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The only solution x of ``matrix @ x = right``, shape (unknowns,), by Gauss-Jordan elimination.

    Args:
        matrix: (equations, unknowns), with at least as many equations as unknowns.
        right: (equations,).

    Raises:
        ValueError: if the shapes do not fit, an entry is a float, or the equations do not determine all unknowns
            (naming the first) or contradict each other (naming the equation).
    """
    equations, unknowns = _shape(matrix)
    if right.shape != (equations,):
        raise ValueError(f"The right-hand side must have shape ({equations},) like the rows, but has {right.shape}.")
    rows = np.empty((equations, unknowns + 1), dtype=object)
    rows[:, :unknowns] = matrix
    rows[:, unknowns] = right
    rows = _field_elements(rows)
    origin = list(range(equations))
    for j in range(unknowns):
        pivot = next((i for i in range(j, equations) if rows[i, j] != 0), None)
        if pivot is None:
            raise ValueError(f"The system has no unique solution: unknown {j} is not determined.")
        rows[[j, pivot]] = rows[[pivot, j]]
        origin[j], origin[pivot] = origin[pivot], origin[j]
        rows[j] = rows[j] / rows[j, j]
        for i in range(equations):
            if i != j and rows[i, j] != 0:
                rows[i] = rows[i] - rows[i, j] * rows[j]
    for i in range(unknowns, equations):
        if rows[i, unknowns] != 0:
            raise ValueError(f"The system has no solution: equation {origin[i]} contradicts the others.")
    return rows[:unknowns, unknowns]


def inverse(matrix: np.ndarray) -> np.ndarray:
    """The inverse of a square matrix of exact numbers.

    Raises:
        ValueError: if the matrix is not square or not invertible, or an entry is a float.
    """
    size, columns = _shape(matrix)
    if size != columns:
        raise ValueError(f"Only a square matrix has an inverse, but the shape is {matrix.shape}.")
    rows = _field_elements(matrix)
    if _is_rational(rows):
        try:
            return _from_flint(fmpq_mat(size, size, rows.ravel().tolist()).inv())
        except ZeroDivisionError:
            raise ValueError("The matrix has no inverse: its columns are dependent.") from None
    rows = np.hstack([rows, _field_elements(np.eye(size, dtype=int))])
    for j in range(size):
        pivot = next((i for i in range(j, size) if rows[i, j] != 0), None)
        if pivot is None:
            raise ValueError("The matrix has no inverse: its columns are dependent.")
        rows[[j, pivot]] = rows[[pivot, j]]
        rows[j] = rows[j] / rows[j, j]
        for i in range(size):
            if i != j and rows[i, j] != 0:
                rows[i] = rows[i] - rows[i, j] * rows[j]
    return rows[:, size:]


def rank(matrix: np.ndarray) -> int:
    """The rank of a matrix of exact numbers, shape (rows, columns), by elimination with an exact zero test.

    Raises:
        ValueError: if the array does not have two axes or an entry is a float.
    """
    return len(pivot_columns(matrix))


def pivot_columns(matrix: np.ndarray) -> list[int]:
    """The columns of a matrix of exact numbers that no columns before them generate, increasing: a basis of its range.

    Raises:
        ValueError: if the array does not have two axes or an entry is a float.
    """
    count, columns = _shape(matrix)
    rows = _field_elements(matrix)
    if _is_rational(rows):
        reduced, found = fmpq_mat(count, columns, rows.ravel().tolist()).rref()
        return [next(j for j in range(columns) if reduced[i, j] != 0) for i in range(found)]
    pivots: list[int] = []
    for j in range(columns):
        found = len(pivots)
        pivot = next((i for i in range(found, len(rows)) if rows[i, j] != 0), None)
        if pivot is None:
            continue
        rows[[found, pivot]] = rows[[pivot, found]]
        for i in range(found + 1, len(rows)):
            if rows[i, j] != 0:
                rows[i, j:] = rows[i, j:] - (rows[i, j] / rows[found, j]) * rows[found, j:]
        pivots.append(j)
    return pivots


def _shape(matrix: np.ndarray) -> tuple[int, int]:
    if matrix.ndim != 2:
        raise ValueError(f"The matrix must have two axes (rows, columns), but has shape {matrix.shape}.")
    return matrix.shape


def _field_elements(entries: np.ndarray) -> np.ndarray:
    """A copy whose entries divide exactly; floats are refused, whose zero test decides nothing."""
    result = np.empty(entries.shape, dtype=object)
    for index, value in np.ndenumerate(entries):
        if isinstance(value, float | complex | np.inexact):
            raise ValueError(
                f"Entry {index} of the matrix (of a system: the right-hand side is the last column) is the float "
                f"{value}, but only exact numbers are accepted: integers, fractions, fmpq and cyclotomic numbers."
            )
        if isinstance(value, Fraction):
            result[index] = fmpq(value.numerator, value.denominator)
        else:
            result[index] = fmpq(int(value)) if isinstance(value, int | np.integer) else value
    return result


def _is_rational(entries: np.ndarray) -> bool:
    return all(isinstance(value, fmpq) for value in entries.flat)


def _from_flint(matrix: fmpq_mat) -> np.ndarray:
    result = np.empty(matrix.nrows() * matrix.ncols(), dtype=object)
    result[:] = matrix.entries()
    return result.reshape(matrix.nrows(), matrix.ncols())
