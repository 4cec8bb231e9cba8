"""Attack on the neuron-wise bound: unit neurons with an expected class-weighted margin as large as can be found.

The bound of `certificates.game` is proved; this module tries to break it. It works on the full tensor
X[a, b, c] = q(a, b) (1[c = ab] - tau(a, b)[c]) of a group task, knows nothing of representations, and climbs by blocks:
u, v and w in turn are replaced by the normalised gradient of the trilinear form, the exact maximiser of that block, so
no step ever goes down. Local maxima are common; the best of many starts is evidence for tightness, never a bound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from certificates.saddle import ClassWeights

__all__ = ["climb", "pricing_tensor"]

Floats = NDArray[np.float64]


def pricing_tensor(weights: ClassWeights) -> Floats:
    """Return X, shape (n, n, n), of a group task with n^2 points in the order a n + b.

    Raises ``ValueError`` unless the sums of X over a and over b vanish, because only then does the square in the
    neuron reduce to its cross term, E = 2 sum X[a, b, c] u(a) v(b) w(c); uniform q with class-function tau has this.
    """
    task, n = weights.task, weights.task.label_count
    if len(task.labels) != n * n:
        raise ValueError(f"A group task with {n} labels has {n * n} points, but {task.name} has {len(task.labels)}.")
    tensor = -weights.tau.astype(float)
    tensor[np.arange(n * n), task.labels] = 1.0
    tensor = (weights.q.astype(float)[:, None] * tensor).reshape(n, n, n)
    rounding = n * np.finfo(float).eps * np.abs(tensor).sum(axis=(0, 1)).max()
    if max(np.abs(tensor.sum(axis=0)).max(), np.abs(tensor.sum(axis=1)).max()) > rounding:
        raise ValueError("The sums of X over a or over b do not vanish; the squared terms of a neuron would count.")
    return tensor


def climb(tensor: Floats, starts: int, rounds: int, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Return ``starts`` climbed neurons (u, v, w), each (starts, n), of unit norm ||u||^2 + ||v||^2 + ||w||^2 = 1."""
    n = len(tensor)
    u, v, w = (_unit(rng.normal(size=(starts, n))) for _ in range(3))
    by_c = tensor.reshape(n * n, n)
    by_a = np.ascontiguousarray(tensor.reshape(n, n * n))
    for _ in range(rounds):
        slice_w = (w @ by_c.T).reshape(starts, n, n)
        u = _unit(np.einsum("sab,sb->sa", slice_w, v))
        v = _unit(np.einsum("sab,sa->sb", slice_w, u))
        slice_u = (u @ by_a).reshape(starts, n, n)
        w = _unit(np.einsum("sbc,sb->sc", slice_u, v))
    return u / np.sqrt(3), v / np.sqrt(3), w / np.sqrt(3)


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)
