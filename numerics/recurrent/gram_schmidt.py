"""Gram-Schmidt with a rule for dependent vectors.

GS(v_1, ..., v_n) has the columns u_1, ..., u_n, where u_i is the part of v_i orthogonal to u_1, ..., u_(i-1), of norm
1, and any unit vector orthogonal to them if that part is 0: n vectors of length m need n <= m, even if they span less.
Here the replacement is the part of the first axis that is far enough from u_1, ..., u_(i-1). In floating point the
projections are taken twice, which makes them orthogonal up to rounding, and a part counts as 0 if it is below 10^-10 of
the vector. Exact vectors keep their lengths: the u_i are then orthogonal, not of norm 1, and the projection on the span
of the first is sum u u^T/|u|^2, without square roots.

Source: rnn-sgd, definition-notation; Giraud, Langou and Rozloznik (2005) for twice is enough.
"""

from __future__ import annotations

import numpy as np

from lemmata.numerics.exact.systems import Array, number_system

__all__ = ["gram_schmidt"]

DEPENDENT = 1e-10


def gram_schmidt(vectors: Array) -> Array:
    """GS of the rows v_1, ..., v_n, as rows, shape (n, m): orthonormal in floating point, orthogonal if exact.

    Args:
        vectors: shape (n, m), n <= m, floats or exact numbers.

    Raises:
        ValueError: for another shape, more vectors than coordinates, or balls.
    """
    v = np.asarray(vectors)
    if v.ndim != 2 or not 0 < len(v) <= v.shape[1]:
        raise ValueError(
            f"Gram-Schmidt takes n vectors of length m >= n as rows, not an array of shape {v.shape}: more "
            "vectors have no orthonormal columns."
        )
    system = number_system([v])
    if system == "ball":
        raise ValueError("Whether a ball is 0 is undecided: give floats or exact vectors.")
    exact = system == "exact"
    rows: list[Array] = []
    axes = np.eye(v.shape[1], dtype=int)
    for row in v if exact else v.astype(np.float64):
        part = _orthogonal(row, rows, exact)
        if part is None:
            part = next(p for axis in axes if (p := _orthogonal(axis + 0 * row, rows, exact)) is not None)
        rows.append(part)
    return np.stack(rows)


def _orthogonal(vector: Array, rows: list[Array], exact: bool) -> Array | None:
    """The part of a vector orthogonal to the rows, of norm 1 in floats; None if it is 0."""
    part = vector
    for _ in range(1 if exact else 2):
        for row in rows:
            part = part - ((row * part).sum() / (row * row).sum()) * row
    if exact:
        return part if any(entry != 0 for entry in part) else None
    norm, size = float(np.linalg.norm(part)), float(np.linalg.norm(vector))
    # an axis has a part of at least sqrt((m - n)/m) for some axis, so that a replacement is always found
    return None if norm <= DEPENDENT * size else part / norm
