"""Attention from a query to a memory, with biases and a learned null pair: self- and cross-attention of a decoder.

A `DecoderAttention` maps a query token z, shape (d,), and a memory of n >= 0 tokens, shape (n, d'), to

    z + sum_j p_j v_j,     j = 0, ..., n,     p = the hard maximum (ties averaged) or the softmax of b s,
    s_0 = <z W_Q + b_Q, K_0>,  v_0 = V_0,      s_j = <z W_Q + b_Q, m_j W_K + b_K>,  v_j = m_j W_V + b_V.

The memory holds the earlier tokens and z itself (self-attention of a decoder), or the encoder's outputs. Leading axes
are a batch. The null pair (K_0, V_0) stands at index 0, so that an empty memory is allowed. All weights zero is the
identity.

In exact numbers and in balls ties are decided exactly or refused. In float64 all scores within `tie_width` of the
largest count as tied: this is the exact decision for a construction whose exact scores tie or differ by at least
2 tie_width, as long as rounding moves a score by less than tie_width / 2.

Source: turing, def-transformer.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from flint import arb, fmpq

from constructions.networks.affine import Affine
from constructions.networks.feed_forward import FeedForward
from constructions.networks.head import hard_weights
from numerics.exact.balls import decided_less
from numerics.exact.systems import Array, number_system


@dataclass(frozen=True, eq=False)
class DecoderAttention:
    """One residual attention head that reads a memory and a null pair; see the head of this module.

    Attributes:
        query: W_Q, b_Q, from width d to the key dimension m.
        key: W_K, b_K, from width d' to m.
        value: W_V, b_V, from width d' to d.
        null_key: K_0, shape (m,).
        null_value: V_0, shape (d,).
        normalisation: "hardmax" (ties averaged) or "softmax".
        sharpness: b > 0, the factor on the scores of a softmax (the inverse temperature).
        tie_width: how far below the largest score a score of float64 still counts as tied.

    Raises:
        ValueError: for shapes that do not fit, another normalisation, or a sharpness or tie width that is not positive.
    """

    query: Affine
    key: Affine
    value: Affine
    null_key: Array
    null_value: Array
    normalisation: Literal["softmax", "hardmax"] = "hardmax"
    sharpness: float = 1.0
    tie_width: float = 0.5

    def __post_init__(self) -> None:
        for name in ("null_key", "null_value"):
            object.__setattr__(self, name, np.asarray(getattr(self, name)))
        q, k, v = (layer.weight.shape for layer in (self.query, self.key, self.value))
        null = self.null_key.shape, self.null_value.shape
        if not (q[1] == k[1] and k[0] == v[0] and v[1] == q[0] and null == ((q[1],), (q[0],))):
            raise ValueError(
                "Decoder attention has query (d, m), key (d', m), value (d', d), null key (m,), null value (d,), "
                f"but the shapes are {q}, {k}, {v}, {null[0]}, {null[1]}."
            )
        if self.normalisation not in ("softmax", "hardmax"):
            raise ValueError(f"The normalisation is softmax or hardmax, not {self.normalisation!r}.")
        if not (self.sharpness > 0 and self.tie_width > 0):
            raise ValueError(
                f"Sharpness and tie width must be positive, not {self.sharpness!r} and {self.tie_width!r}."
            )

    @property
    def width(self) -> int:
        """The width d of the query's stream."""
        return self.query.weight.shape[0]

    def arrays(self) -> tuple[Array, ...]:
        """All weights: query, key and value with their biases, null key, null value."""
        affine = [array for layer in (self.query, self.key, self.value) for array in layer.arrays()]
        return (*affine, self.null_key, self.null_value)

    def map(self, convert: Callable[[Array], Array]) -> DecoderAttention:
        """The head with every weight array converted."""
        layers = {name: getattr(self, name).map(convert) for name in ("query", "key", "value")}
        return replace(self, **layers, null_key=convert(self.null_key), null_value=convert(self.null_value))

    @property
    def one_norm(self) -> Any:
        """The sum of the absolute values of all weights."""
        return sum((abs(x) for array in self.arrays() for x in array.ravel().tolist()), start=0)

    def scores(self, z: Array, keys: Array) -> Array:
        """The scores s_0, ..., s_n, shape (..., n + 1), for z of shape (..., d) and *projected* keys (..., n, m)."""
        queries = self.query(z)
        null = (queries * self.null_key).sum(axis=-1, keepdims=True)
        if not keys.shape[-2]:
            return null
        rest = (keys * queries[..., None, :]).sum(axis=-1) if keys.dtype == object else _products(keys, queries)
        return np.concatenate([null, rest], axis=-1)

    def probabilities(self, scores: Array, visible: Array | None = None) -> Array:
        """The attention p_0, ..., p_n of scores (..., n + 1); memory tokens that are not visible (..., n) get 0.

        Raises:
            ValueError: for ties that balls leave undecided, or a softmax of exact numbers.
        """
        if scores.dtype == np.float64:
            if visible is not None:
                seen = np.concatenate([np.ones((*visible.shape[:-1], 1), dtype=bool), visible], axis=-1)
                scores = np.where(seen, scores, -np.inf)
            top = scores.max(axis=-1, keepdims=True)
            hard = self.normalisation == "hardmax"
            weights = (scores >= top - self.tie_width) * 1.0 if hard else np.exp(self.sharpness * (scores - top))
            return weights / weights.sum(axis=-1, keepdims=True)
        if self.normalisation == "softmax":
            raise ValueError("The softmax of a decoder runs in float64 only: use hard attention.")
        is_ball = number_system([scores]) == "ball"
        result = np.full(scores.shape, arb(0) if is_ball else fmpq(0), dtype=object)
        for index in np.ndindex(scores.shape[:-1]):
            seen = [0, *(1 + j for j in range(scores.shape[-1] - 1) if visible is None or visible[index][j])]
            row = scores[index][seen].tolist()
            result[index][seen] = hard_weights(row, decided_less if is_ball else operator.lt, is_ball)
        return result

    def combine(self, z: Array, p: Array, values: Array) -> Array:
        """z + sum_j p_j v_j, shape (..., d), for the attention p (..., n + 1) and projected values (..., n, d)."""
        result = z + p[..., :1] * self.null_value
        if not values.shape[-2]:
            return result
        if values.dtype == object or p.dtype == object:
            return result + (p[..., 1:, None] * values).sum(axis=-2)
        return result + np.matmul(p[..., None, 1:], values)[..., 0, :]

    def __call__(self, z: Array, memory: Array, visible: Array | None = None) -> Array:
        """The output, shape (..., d), for queries z (..., d) and a memory (..., n, d')."""
        p = self.probabilities(self.scores(z, self.key(memory)), visible)
        return self.combine(z, p, self.value(memory))


def _products(keys: Array, queries: Array) -> Array:
    """<k_j, q> for keys (..., n, m) and queries (..., m), as numbers of a machine."""
    return np.matmul(keys, queries[..., None])[..., 0]


@dataclass(frozen=True, eq=False)
class DecoderLayer:
    """One layer of a decoder: self-attention, then attention to the encoder, then a token-wise map.

    Attributes:
        name: how the layer is called in tables.
        feed_forward: the token-wise map, without a residual.
        self_attention: reads this layer's inputs at the times 1, ..., i; None is the identity (all weights zero).
        cross_attention: reads the encoder's outputs; None is the identity.
    """

    name: str
    feed_forward: FeedForward
    self_attention: DecoderAttention | None = None
    cross_attention: DecoderAttention | None = None

    def attentions(self) -> tuple[DecoderAttention, ...]:
        """The attention heads that are not the identity."""
        return tuple(head for head in (self.self_attention, self.cross_attention) if head is not None)

    @property
    def one_norm(self) -> Any:
        """The sum of the absolute values of all weights."""
        return sum((head.one_norm for head in self.attentions()), start=self.feed_forward.one_norm)

    def map(self, convert: Callable[[Array], Array]) -> DecoderLayer:
        """The layer with every weight array converted."""
        heads = [head and head.map(convert) for head in (self.self_attention, self.cross_attention)]
        return DecoderLayer(self.name, self.feed_forward.map(convert), *heads)


def identity_attention(width: int, keys: int = 1) -> DecoderAttention:
    """The head with all weights zero: all scores tie at 0, all values are 0, so that it returns its query.

    Args:
        width: d.
        keys: the key dimension.
    """

    def zero(outputs: int) -> Affine:
        return Affine(np.zeros((width, outputs), dtype=np.int64), np.zeros(outputs, dtype=np.int64))

    return DecoderAttention(zero(keys), zero(keys), zero(width), zero(keys).bias, zero(width).bias)
