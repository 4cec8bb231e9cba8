"""The quadratic forms of a table, and the polynomials whose sums of squares bound its margin.

A *residual tensor* R of shape (|A|, |B|, C) with sum_k R[a, b, k] = 0 has the quadratic forms
x^T M_k x = sum_ab R[a, b, k] (u_a + v_b)^2 in x = (u, v), N = |A| + |B| coordinates. One neuron of norm 1 reaches
`NEURON_FACTOR` times phi(R) = max over |x| = 1 of the Euclidean norm of (x^T M_k x)_k. Multipliers q on the triples of
a table make R[a, b, k] = sum_c q_abc (delta(k, y(a, b)) - delta(k, c)).

A bound of phi is the least t such that a form t T - F is a sum of squares (`target`); what differs is the *kind*:
- 4 and 6, any number of labels: t (|x|^4 + |z|^2) - 2 sum_k z_k x^T M_k x, times |x|^(kind - 4); then phi <= t;
- "plane", at most three labels: t |x|^2 (y_0^2 + 3 y_1^2) + (y_0^2 - 3 y_1^2) x^T (M_0 - M_1) x
  + 6 y_0 y_1 x^T (M_0 + M_1) x; then phi <= t / sqrt 2.
Everything here works on arrays of any numbers: floats, integers, fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations_with_replacement
from math import factorial, prod, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lemmata.numerics.operations.operation import Operation

__all__ = [
    "NEURON_FACTOR",
    "Kind",
    "form_matrices",
    "form_values",
    "kind_for",
    "monomials",
    "multinomials",
    "plane_matrices",
    "residual",
    "scaled_phi",
]

Kind = Literal["plane", 4, 6]
"""Which program bounds phi: the small exact one for at most three labels, or the degree of the sums of squares."""

NEURON_FACTOR = 2 / (3 * sqrt(3))
"""max s^2 r over s^2 + r^2 = 1: what the best split of the norm of a neuron between (u, v) and w leaves."""


def residual(table: Operation, q: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """The tensor R[a, b, k] = sum_c q_abc (delta(k, y(a, b)) - delta(k, c)), shape (|A|, |B|, C).

    Args:
        q: one multiplier for each of `table.triples`, of any number type; the tensor has the same type.

    Raises:
        ValueError: for a wrong number of multipliers.
    """
    values = np.asarray(q)
    if values.shape != (len(table.triples),):
        raise ValueError(
            f"The table has {len(table.triples)} triples and needs as many multipliers, not {values.shape}."
        )
    tensor = np.zeros((table.rows, table.columns, table.label_count), values.dtype)
    for (a, b, c), value in zip(table.triples, values, strict=True):
        tensor[a, b, table.values[a][b]] += value
        tensor[a, b, c] -= value
    return tensor


def form_matrices(tensor: NDArray[Any]) -> NDArray[Any]:
    """The symmetric matrices M_k, shape (C, N, N), with x^T M_k x = sum_ab R[a, b, k] (u_a + v_b)^2."""
    rows, columns, labels = tensor.shape
    matrices = np.zeros((labels, rows + columns, rows + columns), tensor.dtype)
    row, column = np.arange(rows), np.arange(rows, rows + columns)
    matrices[:, row, row] = tensor.sum(axis=1).T
    matrices[:, column, column] = tensor.sum(axis=0).T
    matrices[:, :rows, rows:] = tensor.transpose(2, 0, 1)
    matrices[:, rows:, :rows] = tensor.transpose(2, 1, 0)
    return matrices


def form_values(matrices: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """The values x^T M_k x, shape (..., C), of vectors x of shape (..., N)."""
    return np.einsum("...i,kij,...j->...k", x, matrices, x)


def plane_matrices(matrices: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """M_0 - M_1 and M_0 + M_1; with a and b their values at x, |(x^T M_k x)_k|^2 = (a^2 + 3 b^2) / 2 for three labels.

    Two labels are three with M_2 = 0, where M_0 + M_1 = 0.

    Raises:
        ValueError: for more than three labels.
    """
    if len(matrices) not in (2, 3):
        raise ValueError(f"The plane program is for two and three labels, not for {len(matrices)}; take degree 4.")
    return matrices[0] - matrices[1], matrices[0] + matrices[1]


def kind_for(labels: int) -> Kind:
    """The cheapest kind that is exact as far as theorems go: "plane" for at most three labels, 4 beyond."""
    return "plane" if labels <= 3 else 4


def scaled_phi(kind: Kind, t: float) -> float:
    """The bound of phi that a sum of squares of this kind with this t proves."""
    return t / sqrt(2) if kind == "plane" else t


@lru_cache(maxsize=32)
def monomials(variables: int, degree: int) -> tuple[tuple[int, ...], ...]:
    """The monomials of a degree as increasing tuples of indices of variables, in lexicographic order."""
    return tuple(combinations_with_replacement(range(variables), degree))


def multinomials(listed: Sequence[tuple[int, ...]]) -> list[int]:
    """The coefficients of the monomials in a power of the sum of the variables."""
    return [factorial(len(m)) // prod(factorial(m.count(i)) for i in set(m)) for m in listed]
