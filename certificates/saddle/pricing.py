"""Attack on the neuron-wise bound: unit neurons with an expected class-weighted margin as large as can be found.

The bound of `lemmata.certificates.game.margin_game` is proved; this module tries to break it. It works on the full
tensor X[a_1, .., a_k, c] = q(a) (1[c = a_1 ... a_k] - tau(a)[c]) of a group task (k = 2) or of a product of k factors,
knows nothing of representations, and climbs by blocks: u_1, .., u_k and w in turn are replaced by the normalised
gradient of the multilinear form, the exact maximiser of that block, so no step ever goes down. Local maxima are common;
the best of many starts is evidence for tightness, never a bound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.saddle.pair import ClassWeights

__all__ = ["climb", "pricing_tensor"]

Floats = NDArray[np.float64]


def pricing_tensor(weights: ClassWeights) -> Floats:
    """X, shape (n, .., n) with k + 1 axes, of a group task with n^k points in lexicographic order.

    The sums of X over each a_j must vanish, because only then does the power in the neuron reduce to its term with all
    factors, E = k! sum X[a_1, .., a_k, c] u_1(a_1) ... u_k(a_k) w(c); uniform q with class-function tau has this.

    Raises:
        ValueError: unless they vanish, and for a task whose points are not n^k with k >= 2.
    """
    task, n = weights.task, weights.task.label_count
    factors = round(np.log(len(task.labels)) / np.log(n))
    if factors < 2 or len(task.labels) != n**factors:
        raise ValueError(
            f"A group task with {n} labels has {n}^k points with k >= 2, but {task.name} has {len(task.labels)}."
        )
    tensor = -weights.tau.astype(float)
    tensor[np.arange(len(tensor)), task.labels] = 1.0
    tensor = (weights.q.astype(float)[:, None] * tensor).reshape((n,) * (factors + 1))
    for axis in range(factors):
        rounding = n * np.finfo(float).eps * np.abs(tensor).sum(axis=axis).max()
        if np.abs(tensor.sum(axis=axis)).max() > rounding:
            raise ValueError("The sums of X over an input do not vanish; terms that miss a factor would count.")
    return tensor


def climb(tensor: Floats, starts: int, rounds: int, rng: np.random.Generator) -> tuple[Floats, ...]:
    """``starts`` climbed neurons (u_1, .., u_k, w), each (starts, n), of unit norm altogether."""
    axes, n = tensor.ndim, len(tensor)
    flattened = [np.ascontiguousarray(np.moveaxis(tensor, axis, 0).reshape(n, -1).T) for axis in range(axes)]
    blocks = [_unit(rng.normal(size=(starts, n))) for _ in range(axes)]
    for _ in range(rounds):
        for axis in range(axes):
            others = np.ones((starts, 1))
            for block in blocks[:axis] + blocks[axis + 1 :]:
                others = (others[:, :, None] * block[:, None, :]).reshape(starts, -1)
            blocks[axis] = _unit(others @ flattened[axis])
    return tuple(block / np.sqrt(axes) for block in blocks)


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)
