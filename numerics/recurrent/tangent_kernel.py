"""The tangent kernel of an Elman network in its recurrent matrix, and regression with it.

The derivative of the output y_j in W is sum_(l = 2..j) p_l h_(l-1)^T with the row p_l = B D_j W ... D_(l+1) W D_l, so
that the inner product of the derivatives at two sequences is

    K_j(x, x') = sum_(l, l') <p_l(x), p_l'(x')> <h_(l-1)(x), h_(l'-1)(x')>,

from vectors of length m, without the m^2 entries of a derivative. Regression with K_j is what training the linearised
network (equation 5.1) on the squared loss tends to; its ridge is the one of a few with the least mean modulus of the
residuals that are left when one sample at a time is left out.

Source: rnn-sgd, step-1-coupling and theorem-1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["TangentFeatures", "kernel_regression", "tangent_features", "tangent_kernel"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TangentFeatures:
    """The derivatives of y_j at n sequences, as sums of j - 1 outer products.

    Attributes:
        rows: p_2, ..., p_j, shape (j - 1, n, m).
        states: h_1, ..., h_(j-1), shape (j - 1, n, m).
        outputs: y_j, shape (n,).
    """

    rows: Floats
    states: Floats
    outputs: Floats


def tangent_features(state: Floats, token: Floats, readout: Floats, tokens: Floats, place: int) -> TangentFeatures:
    """The derivatives in W of one output at the token j.

    Args:
        state: W, shape (m, m).
        token: A, shape (m, d_x + 1).
        readout: one row of B, shape (m,).
        tokens: n sequences, shape (n, L, d_x + 1).
        place: j, from 2 to L.

    Raises:
        ValueError: for shapes that do not fit, or another place.
    """
    m = len(state)
    if np.ndim(tokens) != 3 or np.shape(token) != (m, tokens.shape[2]) or np.shape(readout) != (m,):
        raise ValueError(
            f"For W of shape ({m}, {m}) there are A of shape ({m}, d_x + 1), a row of B of shape ({m},) and sequences "
            f"(n, L, d_x + 1), not {np.shape(token)}, {np.shape(readout)} and {np.shape(tokens)}."
        )
    if not 2 <= place <= tokens.shape[1]:
        raise ValueError(f"W acts on the outputs 2, ..., {tokens.shape[1]}, not on output {place}.")
    h, states, active = np.zeros((len(tokens), m)), [], []
    for l in range(place):
        g = h @ state.T + tokens[:, l] @ token.T
        active.append(g >= 0)
        h = np.maximum(g, 0)
        states.append(h)
    p = readout * active[-1]
    rows = [p]
    for l in range(place - 1, 1, -1):
        p = (p @ state) * active[l - 1]
        rows.append(p)
    return TangentFeatures(np.stack(rows[::-1]), np.stack(states[:-1]), states[-1] @ readout)


def tangent_kernel(first: TangentFeatures, second: TangentFeatures) -> Floats:
    """K_j between n and n' sequences, shape (n, n')."""
    result = np.zeros((first.rows.shape[1], second.rows.shape[1]))
    for p, h in zip(first.rows, first.states, strict=True):
        for q, k in zip(second.rows, second.states, strict=True):
            result += (p @ q.T) * (h @ k.T)
    return result


def kernel_regression(
    kernel: Floats, labels: Floats, across: Floats, ridges: Sequence[float] = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
) -> Floats:
    """The predictions of kernel ridge regression, shape (n',).

    Args:
        kernel: K between the n samples, shape (n, n).
        labels: shape (n,).
        across: K between n' other points and the samples, shape (n', n).
        ridges: what is added to the diagonal, in units of the mean of the diagonal of K.

    Raises:
        ValueError: for shapes that do not fit, or no positive ridge.
    """
    n = len(labels)
    if np.shape(kernel) != (n, n) or np.ndim(across) != 2 or np.shape(across)[1] != n:
        raise ValueError(f"For {n} labels K is ({n}, {n}) and (n', {n}), not {kernel.shape} and {across.shape}.")
    if not ridges or not min(ridges) > 0:
        raise ValueError(f"Ridges are positive, at least one, not {list(ridges)}.")
    values, vectors = np.linalg.eigh(kernel)
    turned, unit = vectors.T @ labels, float(np.trace(kernel)) / n
    best: tuple[float, Floats] | None = None
    for ridge in ridges:
        shrunk = 1 / (np.maximum(values, 0) + ridge * unit)
        coefficients = vectors @ (shrunk * turned)
        left_out = float(np.abs(coefficients / ((vectors**2) @ shrunk)).mean())
        if best is None or left_out < best[0]:
            best = (left_out, coefficients)
    assert best is not None
    return across @ best[1]
