"""The norms of weights and tokens that capacity bounds need, as upper bounds that hold for the exact numbers given.

- ``pq_norm``: the p-norm of every column, then the q-norm of these numbers, as the document defines ||M||_(p,q): the
  `lemmata.numerics.tokens.mixed_norms.mixed_norm` of another document;
- ``token_norm``: the largest norm of a row of X. That is ||X^T||_(2,inf); the document often prints ||X||_(2,inf),
  which is the largest norm of a *column*;
- ``head_norms``, ``layer_norms``: those of heads and layers. W_QK = W_Q W_K^T has all factors of the scores in it, and
  the smaller of ||W_QK||_F and the sum of the norms of its rows is taken.

Spectral norms are upper bounds, tight to a few parts in 10^9; the others are balls around the norm.

Source: variable-creation, notation-4.2, definition-4.4.2, definition-4.4.3.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from lemmata.certificates.margins.all_layer import operator_norm
from lemmata.numerics.exact.balls import as_balls, ball_min
from lemmata.numerics.exact.numbers import exact_midpoint
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.learning.attention_capacity import HeadNorms
from lemmata.numerics.learning.attention_lipschitz import largest_row_norm
from lemmata.numerics.learning.deep_capacity import LayerNorms
from lemmata.numerics.tokens.mixed_norms import Exponent, mixed_norm

__all__ = ["frobenius_norm", "head_norms", "layer_norms", "pq_norm", "score_norm", "spectral_norm", "token_norm"]


def pq_norm(matrix: ArrayLike, p: Exponent | float, q: Exponent | float) -> arb:
    """||M||_(p,q): the p-norm of every column, then the q-norm of the vector of these norms.

    Args:
        matrix: M, shape (rows, columns), floats, exact numbers or balls.
        p, q: rational numbers >= 1, or math.inf.

    Raises:
        ValueError: for another shape, entries that are not finite, or another p or q.
    """
    exponents: list[Any] = ["inf" if exponent == math.inf else exponent for exponent in (p, q)]
    return mixed_norm(_matrix(matrix), *exponents)


def token_norm(tokens: ArrayLike) -> arb:
    """The largest 2-norm of a token, for tokens of shape (..., d).

    Raises:
        ValueError: for no token, or entries that are not finite.
    """
    rows = np.asarray(tokens)
    if rows.ndim < 1 or not rows.size:
        raise ValueError(f"The tokens have the shape (..., d), at least one token and d >= 1, not {rows.shape}.")
    return largest_row_norm(rows.reshape(-1, rows.shape[-1]))


def frobenius_norm(matrix: ArrayLike) -> arb:
    """The root of the sum of the squares of all entries; errors as `pq_norm`."""
    return pq_norm(matrix, 2, 2)


def spectral_norm(matrix: ArrayLike) -> arb:
    """An upper bound of the largest singular value, tight to a few parts in 10^9; errors as `pq_norm`.

    Balls are their exact midpoints and radii, of which the Frobenius norm is added.
    """
    balls = _matrix(matrix)
    middle = np.vectorize(exact_midpoint, otypes="O")(balls)
    spread = frobenius_norm(np.vectorize(lambda x: x.rad(), otypes="O")(balls))
    return ball_min([operator_norm(middle) + spread, frobenius_norm(balls)])


def head_norms(values: ArrayLike, scores: ArrayLike) -> HeadNorms:
    """The norms of the head with W_V (d, k) and W_QK (d, d), whose scores are x_tau^T W_QK x_t.

    Raises:
        ValueError: for shapes that do not fit, or entries that are not finite.
    """
    W_V, W_QK = _matrix(values), _matrix(scores)
    if len(W_V) != W_QK.shape[1]:
        raise ValueError(f"W_V has shape (d, k) and W_QK has d columns, but the shapes are {W_V.shape}, {W_QK.shape}.")
    return HeadNorms(pq_norm(W_V, 2, 1), spectral_norm(W_V), score_norm(W_QK))


def layer_norms(values: ArrayLike, scores: ArrayLike, outputs: ArrayLike) -> LayerNorms:
    """The norms of the layer with W_V (d, k), W_Q W_K^T (d, d) and W_C (k, d).

    Raises:
        ValueError: as `head_norms`.
    """
    W_C = _matrix(outputs)
    head = head_norms(values, scores)
    if len(W_C) != np.shape(values)[1]:
        raise ValueError(f"W_V has shape (d, k) and W_C (k, d), not {np.shape(values)} and {W_C.shape}.")
    return LayerNorms(
        head.value_columns, head.value, head.scores, spectral_norm(scores), pq_norm(W_C, 2, 1), spectral_norm(W_C)
    )


def score_norm(scores: Array) -> arb:
    """The smaller of the Frobenius norm and the sum of the norms of the rows, for W_QK in balls, shape (d, d')."""
    return ball_min([frobenius_norm(scores), pq_norm(scores.T, 2, 1)])


def _matrix(matrix: Any) -> Array:
    values = np.asarray(matrix)
    if values.ndim != 2 or not values.size:
        raise ValueError(f"A matrix has the shape (rows, columns), with at least one entry, not {values.shape}.")
    balls = as_balls(values)
    if not all(x.is_finite() for x in balls.ravel().tolist()):
        raise ValueError("The entries of a matrix must be finite numbers.")
    return balls
