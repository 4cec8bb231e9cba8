"""Networks of maximum margin for tables of at most three labels, read off the dual of the plane program.

A solution of the dual is a positive semidefinite matrix Y = [[Y11, Y12], [Y12, Y22]] of size 2N with symmetric Y12.
Such a matrix is a sum of at most 2N matrices (e e') x (x x') with e in R^2 and x in R^N, and every summand is a neuron:
x is its embedding, and e = (alpha, beta) its output, at twice the angle of (alpha, sqrt 3 beta). So the maximum margin
is attained with at most 2N neurons (certificates/operations/OPERATION_MARGIN.md, theorem A, steps 12 to 14).
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.programs import Relaxation
from lemmata.certificates.operations.programs_template import template
from lemmata.numerics.operations.operation import Operation

__all__ = ["plane_network", "product_decomposition"]

Floats = NDArray[np.float64]

_ROTATION = 0.7
"""Any angle but finitely many: that at which the first block of the rotated Y has the range of all x."""


def product_decomposition(Y: Floats, *, tolerance: float = 1e-9) -> tuple[Floats, Floats]:
    """Vectors e (r, 2) and x (r, N) with Y = sum of (e e') x (x x'), r <= 2N.

    With a positive definite first block T T' and K = T^-1 Y12 T^-T = sum of kappa g g', Y is the sum over the g of the
    products of (1, kappa) with T g, and of the products of (0, 1) with vectors of the Schur complement.

    Args:
        Y: symmetric positive semidefinite, of size 2N, with a symmetric block Y12.
        tolerance: eigenvalues below this share of the largest count as 0.

    Raises:
        ValueError: for a matrix of odd size, or whose block Y12 is not symmetric.
    """
    size = len(Y) // 2
    if Y.shape != (2 * size, 2 * size):
        raise ValueError(f"The matrix must have 2N rows and columns, not the shape {Y.shape}.")
    if not np.allclose(Y[:size, size:], Y[size:, :size], rtol=0, atol=1e-6 * np.abs(Y).max()):
        raise ValueError("The off-diagonal block of the matrix must be symmetric.")
    turn = np.array([[np.cos(_ROTATION), np.sin(_ROTATION)], [-np.sin(_ROTATION), np.cos(_ROTATION)]])
    blocks = np.einsum("ap,bq,piqj->abij", turn, turn, Y.reshape(2, size, 2, size))
    first, cross, last = blocks[0, 0], (blocks[0, 1] + blocks[1, 0]) / 2, blocks[1, 1]
    values, vectors = np.linalg.eigh(first)
    kept = values > tolerance * values[-1]
    root = vectors[:, kept] * np.sqrt(values[kept])
    inverse = vectors[:, kept] / np.sqrt(values[kept])
    K = inverse.T @ cross @ inverse
    slopes, turned = np.linalg.eigh((K + K.T) / 2)
    rest_values, rest = np.linalg.eigh(inverse.T @ last @ inverse - K @ K)
    positive = rest_values > tolerance * max(1.0, float(np.abs(slopes).max()) ** 2)
    directions = np.vstack((np.column_stack((np.ones(len(slopes)), slopes)), np.tile((0.0, 1.0), (positive.sum(), 1))))
    points = np.vstack(((root @ turned).T, (root @ (rest[:, positive] * np.sqrt(rest_values[positive]))).T))
    return directions @ turn, points


def plane_network(table: Operation, relaxation: Relaxation, *, tolerance: float = 1e-9) -> OperationNetwork:
    """A network of nearly the maximum margin, of at most 2N neurons, in floating point.

    Args:
        table: of two or three labels.
        relaxation: of the table by the plane program.
        tolerance: as for `product_decomposition`.

    Raises:
        ValueError: for a relaxation of another kind.
    """
    if relaxation.kind != "plane":
        raise ValueError(f"The plane program gives such networks, not the one of degree {relaxation.kind}.")
    weights = template(table.rows, table.columns, table.label_count, "plane").scale
    e, x = product_decomposition(relaxation.pseudo_moments / np.outer(weights, weights), tolerance=tolerance)
    first, second = e[:, 0], sqrt(3) * e[:, 1]
    cosine, sine = first**2 - second**2, 2 * first * second  # times first^2 + second^2
    w = np.column_stack((-cosine - sine / sqrt(3), cosine - sine / sqrt(3), 2 * sine / sqrt(3))) / sqrt(2)
    if table.label_count == 2:
        w = np.column_stack((-cosine, cosine)) / sqrt(2)
    outputs, lengths = np.linalg.norm(w, axis=1), np.linalg.norm(x, axis=1)
    kept = outputs > tolerance
    u_v = sqrt(2) * x[kept] / lengths[kept, None]  # the best length against outputs of length 1
    masses = (lengths**2 * outputs)[kept]
    return OperationNetwork(u_v[:, : table.rows], u_v[:, table.rows :], w[kept] / outputs[kept, None], masses)
