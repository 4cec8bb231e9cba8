"""The two matrices of an attention head, for tokens (x, 1) with a constant coordinate that stands for the biases.

A head gives the token z the score q M (z, 1)^T for the query token q = (x, 1), and mixes the values (z, 1) A:

    M = (W_Q; b_Q) (W_K; b_K)^T sharpness/sqrt(temperature^2),    A = (W_V; b_V) W_O + (0; b_O).

Without the last row and column they are W_Q W_K^T and W_V W_O. Audits, measured norms and codes start from them.

Source: variable-creation, definition-4.4.2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.systems import Array, matrix_product

__all__ = ["homogeneous_matrices"]


def homogeneous_matrices(head: Head, convert: Callable[[Any], Array] = as_balls) -> tuple[Array, Array]:
    """A, shape (d' + 1, e), and M, shape (d + 1, d' + 1), for query tokens of width d and a memory of width d'.

    Args:
        head: with finite weights; how it weighs, and relative keys, play no part.
        convert: from weights to the numbers wanted; with exact ones the squared temperature must be 1.
    """
    query, key, value = (_with_bias(part, convert) for part in (head.query, head.key, head.value))
    if head.output is not None:
        value = matrix_product(value, convert(head.output.weight))
        value[-1] = value[-1] + convert(head.output.offset)
    scale = convert([head.sharpness])[0]
    if head.temperature_squared != 1:
        scale = scale / arb(int(head.temperature_squared)).sqrt()
    return value, matrix_product(query, key.T) * scale


def _with_bias(part: Affine, convert: Callable[[Any], Array]) -> Array:
    return np.concatenate([convert(part.weight), convert(part.offset)[None]])
