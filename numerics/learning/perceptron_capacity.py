"""A perceptron of one hidden layer of ReLUs behind attention heads, residual connections included: its path norm.

With z_h = X^T softmax(X W_h^T x_tau) and zeta = (x_tau, z_1, ..., z_H), every such network with a linear readout is

    f = g_0.zeta + sum_j a_j relu(g_j.zeta) = (g_0 + 1/2 sum_j a_j g_j).zeta + 1/2 sum_j a_j |g_j.zeta|.

Let ||g|| be the largest norm of the H + 1 parts of g, and

    W = ||g_0 + 1/2 sum_j a_j g_j|| + sum_j |a_j| ||g_j||.

The functions with W below a bound, of any number of units, have at most twice the Rademacher complexity of linear
readers g.zeta with ||g|| below the same bound, that is the one of `read_capacity` with all its norms equal to 2 W; not
only as much, since the signs choose between readers and sizes of readers. A factor that is moved from one matrix to
another changes nothing.

Source: variable-creation, ext-perceptron (not in the document): proofs/sparse_learning.md there, steps 1 to 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import arb

from lemmata.numerics.exact.balls import as_balls, ball_max, ball_min, checked_bound
from lemmata.numerics.exact.systems import Array, matrix_product
from lemmata.numerics.learning.attention_capacity import ReadNorms, read_capacity
from lemmata.numerics.learning.attention_lipschitz import largest_row_norm
from lemmata.numerics.learning.entropy import rademacher_bound

__all__ = ["perceptron_norm", "perceptron_rademacher"]


def perceptron_norm(linear: Sequence[Any], hidden: Sequence[Any], outputs: Any) -> arb:
    """W of a network, as a ball.

    Args:
        linear: the parts of g_0, one for x_tau and for each head, of shapes (d_i,).
        hidden: those of the g_j, the columns of matrices of shapes (d_i, h), as many.
        outputs: a, shape (h,).

    Raises:
        ValueError: for other shapes, or no part.
    """
    starts, columns = [as_balls(part) for part in linear], [as_balls(part) for part in hidden]
    a = as_balls(outputs)
    shapes = [(len(part), len(a)) for part in starts]
    if not starts or a.ndim != 1 or any(part.ndim != 1 for part in starts) or [c.shape for c in columns] != shapes:
        raise ValueError(
            "A perceptron has parts of g_0 of shapes (d_i,), as many matrices (d_i, h), and h outputs, not "
            f"{[part.shape for part in starts]}, {[part.shape for part in columns]} and {a.shape}."
        )
    straight = [part + _times(matrix, a) / 2 for part, matrix in zip(starts, columns, strict=True)]
    result = _largest(straight)
    for j, size in enumerate(a.tolist()):
        result += abs(size) * _largest([matrix[:, j] for matrix in columns])
    return result


def perceptron_rademacher(
    scores: Sequence[object],
    norm: object,
    *,
    tokens: object,
    samples: int,
    length: int,
    residual: bool = True,
    kinds: int | None = None,
) -> arb:
    """A bound on the empirical Rademacher complexity of the networks with this W: min(A, 24 K (1 + log^+(A/(6 K)))).

    Args:
        scores: Q_h, a bound on ||W_h||_F or the sum of the norms of the rows of W_h, for each head, at least one.
        norm: W >= 0.
        tokens, samples, length, kinds: as for `read_capacity`.
        residual: whether the heads are added to x_tau; else zeta is (z_1, ..., z_H).

    Raises:
        ValueError: as `read_capacity`.
    """
    W, B = checked_bound("The norm W", norm), checked_bound("The bound B_X on the norms of tokens", tokens)
    sizes: dict[str, Any] = {"tokens": B, "samples": samples, "length": length, "kinds": kinds}
    capacity = read_capacity([ReadNorms(2 * W, Q) for Q in scores], residual=2 * W if residual else 0, **sizes)
    largest = W * (len(scores) + int(residual)) * B
    if largest.is_zero():
        return arb(0)
    return ball_min([largest, rademacher_bound(capacity.constant, 2 * largest, samples, form="sharp")])


def _times(matrix: Array, vector: Array) -> Array:
    if not len(vector):
        return np.array([arb(0)] * len(matrix), dtype=object)
    return matrix_product(matrix, vector[:, None])[:, 0]


def _largest(parts: Sequence[Array]) -> arb:
    """The largest norm of a part."""
    return ball_max(largest_row_norm(part[None]) if len(part) else arb(0) for part in parts)
