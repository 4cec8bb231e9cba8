"""The finitely many numbers that a two-layer attention-only transformer on two symbols is.

One head per layer, relative keys, residual, logits over two symbols. The first layer sees symbols and distances alone,
so that what it does to a token x_j is one number: m_j, the mass of its attention on the symbol 2,

    u_j = E[x_j] + (1 - m_j) V[1] + m_j V[2],        V[s] the value of the symbol s.

So u_j is affine in m_j, and all that follows is read off small tables, whatever the width: the logits of layer 1

    first[s, s', r]     symbol s attends to s' at the distance r,

those of layer 2, bilinear in the numbers m and m' of the token that attends and of the one that is attended,

    pairs[s, s', 0] + pairs[s, s', 1] m + pairs[s, s', 2] m' + pairs[s, s', 3] m m' + steps[s, r, 0] + steps[s, r, 1] m,

and the difference of the two output logits (that of the symbol 2 less that of 1), with b the attention of layer 2,

    direct[s, 0] + direct[s, 1] m + sum_j b_j (copied[x_j, 0] + copied[x_j, 1] m_j).

The tables are exact but for the division of the scores by the root of the temperature: balls.
In the words of the field: `first` is the QK circuit of head 1, `pairs` and `steps` are that of head 2 with Q- and
K-composition, `copied` is the OV circuit of head 2 with V-composition, `direct` the path around head 2.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from flint import arb

from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.transformer import Transformer
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.exact.systems import Array

__all__ = ["CircuitTables", "circuit_tables", "tables_for", "two_heads"]

BITS = 128


@dataclass(frozen=True, eq=False)
class CircuitTables:
    """The tables of the module docstring as balls, for sequences of up to `context` tokens; symbols 1, 2 are 0, 1 here.

    Attributes:
        first: shape (2, 2, t).
        pairs: shape (2, 2, 4).
        steps: shape (2, t, 2).
        direct: shape (2, 2).
        copied: shape (2, 2).
    """

    first: Array
    pairs: Array
    steps: Array
    direct: Array
    copied: Array

    @property
    def context(self) -> int:
        """The largest number of tokens t."""
        return self.first.shape[2]

    @property
    def numbers(self) -> int:
        """How many numbers the tables hold."""
        return sum(getattr(self, part.name).size for part in fields(self))


def circuit_tables(model: Transformer, context: int) -> CircuitTables:
    """The tables of a transformer with two layers of one causal softmax head each, over two symbols.

    Args:
        model: its weights, float64 or exact numbers, are taken as they are; no prefix rows and no positions.
        context: the largest number of tokens t >= 1.

    Raises:
        ValueError: for another architecture, naming what differs, or a context that is no integer >= 1.
    """
    heads = two_heads(model)
    if isinstance(context, bool) or not isinstance(context, int) or context < 1:
        raise ValueError(f"The context is a number of tokens, an integer of at least 1, not {context!r}.")
    with precision(BITS):
        E = as_balls(model.embedding)
        one, two = heads
        first = _scores(one, E, one.key(E), context)
        written = _values(one, E)
        base, slope = E + written[0], (written[1] - written[0])[None]
        query, key = two.query(base), two.key(base)
        query_slope, key_slope = slope @ as_balls(two.query.weight), slope @ as_balls(two.key.weight)
        scale = arb(two.temperature_squared).sqrt() / as_balls([two.sharpness])[0]
        pairs = np.empty((2, 2, 4), dtype=object)
        for s in range(2):
            for other in range(2):
                pairs[s, other, 0] = query[s] @ key[other] / scale
                pairs[s, other, 1] = query_slope[0] @ key[other] / scale
                pairs[s, other, 2] = query[s] @ key_slope[0] / scale
                pairs[s, other, 3] = query_slope[0] @ key_slope[0] / scale
        table = _table(two, context)
        steps = np.empty((2, context, 2), dtype=object)
        for s in range(2):
            steps[s, :, 0] = table @ query[s] / scale
            steps[s, :, 1] = table @ query_slope[0] / scale
        readout = as_balls(model.readout)
        ahead = readout[:, 1] - readout[:, 0]
        values = _values(two, base)
        value_slope = _linear_values(two, slope)
        direct = np.stack([base @ ahead, np.repeat(slope @ ahead, 2)], axis=1)
        copied = np.stack([values @ ahead, np.repeat(value_slope @ ahead, 2)], axis=1)
    return CircuitTables(first, pairs, steps, direct, copied)


def tables_for(model: Transformer | CircuitTables, t: int) -> CircuitTables:
    """The tables of a model for t tokens, or those that are given, if they are long enough.

    Raises:
        ValueError: for tables for fewer than t tokens, or as for `circuit_tables`.
    """
    tables = model if isinstance(model, CircuitTables) else circuit_tables(model, t)
    if tables.context < t:
        raise ValueError(f"The tables are for {tables.context} tokens, too few for t = {t}.")
    return tables


def two_heads(model: Transformer) -> tuple[Head, Head]:
    """The heads of the two layers.

    Raises:
        ValueError: if the architecture is not the one that the tables are for.
    """
    layers = model.layers
    if model.symbols != 2 or len(model.prefix) or len(model.positions) or model.read != "tokens":
        raise ValueError("The tables are those of a transformer over two symbols, without prefix rows and positions.")
    attention = [layer for layer in layers if isinstance(layer, AttentionLayer) and layer.combination == "residual"]
    if len(layers) != 2 or len(attention) != 2 or any(len(layer.heads) != 1 for layer in attention):
        raise ValueError("The tables are those of two residual attention layers with one head each, and nothing else.")
    heads = attention[0].heads[0], attention[1].heads[0]
    if any(head.weigh != "softmax" or not head.causal or head.null is not None for head in heads):
        raise ValueError("The tables are those of causal softmax heads without a null pair.")
    if np.ndim(model.readout) != 2 or np.shape(model.readout)[1] != 2:
        raise ValueError("The tables are those of a transformer with two output logits and a linear readout.")
    return heads


def _table(head: Head, context: int) -> Array:
    """The relative keys at the distances 0, ..., t - 1, zero beyond the table, shape (t, m)."""
    keys = as_balls(head.relative_keys)[:context]
    missing = np.full((context - len(keys), keys.shape[1]), arb(0), dtype=object)
    return np.concatenate([keys, missing])


def _scores(head: Head, z: Array, keys: Array, context: int) -> Array:
    """The logits of the rows z for keys at every distance, shape (rows, keys, t)."""
    queries, table = head.query(z), _table(head, context)
    scale = arb(head.temperature_squared).sqrt() / as_balls([head.sharpness])[0]
    return ((queries @ keys.T)[:, :, None] + (queries @ table.T)[:, None, :]) / scale


def _values(head: Head, z: Array) -> Array:
    """What the head adds to the stream where it attends to z alone."""
    values = head.value(z)
    return values if head.output is None else head.output(values)


def _linear_values(head: Head, z: Array) -> Array:
    """What the head adds for a difference z of tokens: without biases."""
    values: Any = z @ as_balls(head.value.weight)
    return values if head.output is None else values @ as_balls(head.output.weight)
