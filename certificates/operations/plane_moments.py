"""Optimal networks for tables of at most three labels, from one semidefinite program.

The output directions of neurons lie in the plane sum w = 0 (the rest changes no margin and costs length), so that a
unit w is cos(theta) e_1 + sin(theta) e_2 with an orthonormal basis e of that plane. A measure over unit neurons x and
angles has the moments

    P = E cos^2(theta/2) x x^T,   Q = E cos(theta/2) sin(theta/2) x x^T,   R = E sin^2(theta/2) x x^T,

Y = [[P, Q], [Q, R]] is positive semidefinite of trace 1, Q is symmetric, and every margin is linear in Y, because
cos(theta) x x^T has the mean P - R and sin(theta) x x^T the mean 2Q. Conversely every such Y comes from a measure: with
Y = [F; G] [F; G]^T and F of full column rank, Q = F G^T symmetric makes K = F^+ G symmetric where G = F K, and its
eigenvectors turn the columns of F and G into multiples of each other: each pair is a neuron, and they are at most N. So
the program over Y has the largest margin itself as its value, and its solution is a network. (Two labels: Q = R = 0
after a choice of signs, or simply the same program with a second direction that nobody uses.)

Source: the dual of the program of size 2N in OPERATION_MARGIN.md.
"""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.column_program import Columns

__all__ = ["label_plane", "neurons_of_moments", "plane_moments", "plane_neurons"]

Floats = NDArray[np.float64]


def label_plane(labels: int) -> Floats:
    """Two orthonormal directions of sum 0 in R^3, or for two labels the one such direction and 0; shape (2, C)."""
    if labels == 2:
        return np.array([[1.0, -1.0], [0.0, 0.0]]) / np.sqrt(2)
    if labels == 3:
        return np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]])
    raise ValueError(f"Output directions form a plane for at most three labels, not for {labels}.")


def plane_moments(columns: Columns) -> tuple[Floats, float, Floats]:
    """The moments Y (2N, 2N) of largest margin, that margin in units of 2/(3 sqrt 3), and its multipliers (orbits,).

    Raises:
        ValueError: for more than three labels.
        RuntimeError: if Clarabel does not solve the program.
    """
    table = columns.table
    N, e = table.size, label_plane(table.label_count)
    a, b, y, c = columns.indices
    t = np.arange(len(a))
    forms = np.zeros((len(a), 2, N, 2, N))
    for first, second, values in ((0, 0, e[0]), (1, 1, -e[0]), (0, 1, e[1]), (1, 0, e[1])):
        for i in (a, b):
            for j in (a, b):
                forms[t, first, i, second, j] += values[y] - values[c]
    averaged = columns.averaging.T @ forms.reshape(len(a), -1)
    Y, margin = cp.Variable((2 * N, 2 * N), PSD=True), cp.Variable()
    constraints = [averaged @ cp.vec(Y, order="C") >= margin, cp.trace(Y) == 1, Y[:N, N:] == Y[N:, :N]]
    problem = cp.Problem(cp.Maximize(margin), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of less accuracy than asked for, which is more than needed
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    if Y.value is None or margin.value is None:
        raise RuntimeError(f"Clarabel did not solve the program over moments of {table.name}: {problem.status}.")
    q = np.maximum(np.asarray(constraints[0].dual_value, float), 0.0)
    return np.asarray(Y.value), float(margin.value.item()), q / q.sum()


def neurons_of_moments(Y: Floats, cut: float = 1e-9) -> tuple[Floats, Floats, Floats]:
    """Unit vectors x (m, N), angles theta (m,) and masses (m,) with nearly the moments Y; see the module.

    It factors Y itself, so that it stays accurate for the Y of small rank that a solver returns, where
    `lemmata.certificates.operations.plane_networks.product_decomposition` inverts a block of it; that one is right for
    every rank.

    Args:
        Y: (2N, 2N), positive semidefinite with symmetric blocks.
        cut: eigenvalues of Y below this share of the largest are 0.
    """
    N = len(Y) // 2
    # any turn of the angles is as good; one in general position keeps F of full rank if one does
    turn = 0.7
    cosine, sine = np.cos(turn) * np.eye(N), np.sin(turn) * np.eye(N)
    rotation = np.block([[cosine, sine], [-sine, cosine]])
    eigenvalues, vectors = np.linalg.eigh(rotation @ (Y + Y.T) @ rotation.T / 2)
    kept = eigenvalues > cut * eigenvalues[-1]
    factor = vectors[:, kept] * np.sqrt(eigenvalues[kept])
    F, G = factor[:N], factor[N:]
    K = np.linalg.pinv(F) @ G
    _, V = np.linalg.eigh((K + K.T) / 2)
    F, G = F @ V, G @ V
    # the pair (f, g) of columns is (cos x, sin x) up to the error: take the best such pair
    x, theta, masses = [], [], []
    for f, g in zip(F.T, G.T, strict=True):
        left, size, right = np.linalg.svd(np.stack([f, g], axis=1), full_matrices=False)
        x.append(left[:, 0])
        theta.append(2 * (np.arctan2(right[0, 1], right[0, 0]) + turn))
        masses.append(size[0] ** 2)
    return np.array(x), np.array(theta), np.array(masses)


def plane_neurons(columns: Columns) -> tuple[Floats, Floats, Floats]:
    """Neurons x (m, N) and w (m, C), of length 1 each, some masses of which have the largest margin; and multipliers.

    Raises:
        ValueError, RuntimeError: as `plane_moments`.
    """
    Y, _, q = plane_moments(columns)
    x, theta, _ = neurons_of_moments(Y)
    e = label_plane(columns.table.label_count)
    w = np.cos(theta)[:, None] * e[0] + np.sin(theta)[:, None] * e[1]
    return x, w, q
