"""Attention is Lipschitz in its query-key matrices, with a constant that is attained.

The Jacobian of the softmax maps l_inf to l_1 with the norm max 4 p (1 - p) = 1, the maximum over the probabilities p of
sets of indices. So |softmax(a) - softmax(b)|_1 <= |a - b|_inf, and for |z_j| <= r,

    |f(W)_i - f(W')_i| <= r |softmax(Z W^T z_i) - softmax(Z W'^T z_i)|_1 <= r^2 |(W - W')^T z_i|;

heads add up in squares. The document has the factor 2 r^2.

Source: qstr, lemma-15.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.numerics.exact.systems import Array, conversion, number_system

__all__ = ["attention_change", "query_key_bound"]


def attention_change(first: AttentionLayer, second: AttentionLayer, z: Array) -> Array:
    """|f(Theta)_i - f(Theta')_i|_2 for every position, shape (N,), for z of shape (N, D_e), floats or balls."""
    difference = first(z) - second(z)
    return np.sqrt((difference * difference).sum(axis=-1))


def query_key_bound(first: AttentionLayer, second: AttentionLayer, z: Array) -> Array:
    """max_j |z_j|^2 times |(Theta - Theta')^T z_i|_2 for every position, shape (N,): no change is larger.

    Args:
        first: merged heads (`merged_head`) whose values are the tokens, concatenated.
        second: as many of them.
        z: shape (N, D_e), floats or balls.

    Raises:
        ValueError: for different numbers of heads.
    """
    if first.head_count != second.head_count:
        raise ValueError(f"The layers have {first.head_count} and {second.head_count} heads.")
    convert = conversion(number_system([z]))
    squares = (z * z).sum(axis=-1)
    total: Any = 0
    for one, other in zip(first.heads, second.heads, strict=True):
        moved = z @ (convert(one.query.weight) - convert(other.query.weight))
        total = total + (moved * moved).sum(axis=-1)
    largest = squares[0]
    for square in squares[1:]:
        largest = max(largest, square) if squares.dtype != object else largest.max(square)
    return largest * np.sqrt(total)
