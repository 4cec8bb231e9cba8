"""What one or two layers of attention over two symbols are to a proof by classes: tables of intervals.

Heads are added to a residual stream; there may be several in a layer, biases, relative keys, absolute positions, and
rows in front of all tokens. What the heads of layer 1 do to the token j is a vector f_j of means,

    u_j = b_j[x_j] + f_j B,        f_j = (mean of y_1, ..., mean of y_H),        y_h(i, x_i) a few coordinates,

each under the attention of one head: the mass on the symbol 2, and where rows differ otherwise (positions, rows in
front) the coordinates of the value of the row less that of the first token. So a head of layer 2 has the scores

    base[s, j, s'] + query[s, j, s'] f_t + key[s, s'] f_j + f_t both[s, s'] f_j,        s = x_t, s' = x_j,

of the last token for the row j, and adds value[j, s'] + slope[s'] f_j to the difference of the logits; the stream
itself adds direct[s] + direct_slope[s] f_t. A model of one layer has no coordinates. The tables of
`lemmata.certificates.induction.tables` are the case of two heads without positions: there f_j is the mass m_j.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lemmata.certificates.induction.intervals import as_intervals
from lemmata.certificates.induction.tables import BITS, CircuitTables, tables_for
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.transformer import Transformer
from lemmata.numerics.exact.balls import as_balls, ball_max
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.exact.systems import Array

__all__ = ["Layers", "Mixture", "Reader", "attention_layers", "layers_for"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Mixture:
    """A head of layer 1, on t tokens behind r rows; the last axis of length 2 is that of intervals.

    Attributes:
        weights: exp(score) of token j with the symbol s for row i with the symbol s', up to a factor for each (j, s);
            shape (t, 2, r + t, 2, 2). Rows in front have no symbol: both entries are alike.
        coordinates: y(i, s'), shape (r + t, 2, G, 2).
    """

    weights: FloatArray
    coordinates: FloatArray


@dataclass(frozen=True, eq=False)
class Reader:
    """A head of the last layer, as in the docstring of this module, with C coordinates of layer 1 in all.

    Attributes:
        base: shape (2, r + t, 2, 2).
        query: shape (2, r + t, 2, C, 2).
        key: shape (2, 2, C, 2).
        both: shape (2, 2, C, C, 2), f_t first.
        value: shape (r + t, 2, 2).
        slope: shape (2, C, 2).
    """

    base: FloatArray
    query: FloatArray
    key: FloatArray
    both: FloatArray
    value: FloatArray
    slope: FloatArray


@dataclass(frozen=True, eq=False)
class Layers:
    """One or two layers of heads.

    Attributes:
        t: the number of tokens.
        mixtures: the heads of layer 1; none if there is one layer.
        readers: those of the last layer.
        direct: shape (2, 2).
        direct_slope: shape (2, C, 2).
        front: f of the rows in front, shape (r, C, 2).
    """

    t: int
    mixtures: tuple[Mixture, ...]
    readers: tuple[Reader, ...]
    direct: FloatArray
    direct_slope: FloatArray
    front: FloatArray


def attention_layers(model: Transformer) -> tuple[AttentionLayer, ...]:
    """The one or two layers of a model over two symbols that a proof by classes takes.

    Raises:
        ValueError: for another architecture, naming what differs.
    """
    if model.symbols != 2:
        raise ValueError(
            f"Proofs by classes are for two symbols, not {model.symbols}: the classes of sequences with the same "
            f"numbers of steps grow as t^(k (k - 1)), over two symbols as t^2, over {model.symbols} as "
            f"t^{model.symbols * (model.symbols - 1)}."
        )
    layers = [layer for layer in model.layers if isinstance(layer, AttentionLayer) and layer.combination == "residual"]
    if len(layers) != len(model.layers) or len(layers) not in (1, 2) or model.read != "tokens":
        raise ValueError("Proofs by classes are for one or two residual attention layers, and nothing else.")
    heads = [head for layer in layers for head in layer.heads]
    if any(head.weigh != "softmax" or not head.causal or head.null is not None for head in heads):
        raise ValueError("Proofs by classes are for causal softmax heads without a null pair.")
    outputs = model.readout.outputs if isinstance(model.readout, Affine) else np.shape(model.readout)[1:]
    if outputs not in (2, (2,)):
        raise ValueError("Proofs by classes are for two output logits.")
    return tuple(layers)


def layers_for(model: Transformer | CircuitTables, t: int) -> Layers:
    """The tables of a model, or of circuit tables, for t tokens.

    Raises:
        ValueError: as `attention_layers`; for circuit tables for fewer tokens; as `Transformer.embed` for too few
            positions; for weights whose products are not finite.
    """
    with precision(BITS):
        return _of_tables(tables_for(model, t), t) if isinstance(model, CircuitTables) else _of_model(model, t)


def _of_tables(tables: CircuitTables, t: int) -> Layers:
    distance = np.arange(t)[:, None] - np.arange(t)
    scores = np.moveaxis(tables.first[:, :, abs(distance)], (0, 1), (1, 3))
    mass = np.zeros((t, 2, 1, 2))
    mass[:, 1] = 1.0
    back = np.arange(t - 1, -1, -1)
    pairs, steps = tables.pairs[:, None], tables.steps[:, back, None]
    return Layers(
        t,
        (Mixture(_weights(scores), mass),),
        (
            Reader(
                base=as_intervals(pairs[..., 0] + steps[..., 0]),
                query=as_intervals((pairs[..., 1] + steps[..., 1])[..., None]),
                key=as_intervals(tables.pairs[:, :, 2:3]),
                both=as_intervals(tables.pairs[:, :, 3:, None]),
                value=as_intervals(np.broadcast_to(tables.copied[:, 0], (t, 2))),
                slope=as_intervals(tables.copied[:, 1:]),
            ),
        ),
        as_intervals(tables.direct[:, 0]),
        as_intervals(tables.direct[:, 1:]),
        np.zeros((0, 1, 2)),
    )


def _of_model(model: Transformer, t: int) -> Layers:
    layers = attention_layers(model)
    x = np.stack([np.full(t, symbol) for symbol in model.alphabet])
    z = np.swapaxes(as_balls(model.embed(x)), 0, 1)  # (r + t, 2, d)
    r = len(z) - t
    differ = bool(r or len(model.positions))
    mixed = [_mixed(head, z, r, differ) for head in layers[0].heads] if len(layers) == 2 else []
    mixtures = [(scores, coordinates) for scores, coordinates, _, _ in mixed]
    written = [rows for _, _, _, rows in mixed]
    z = sum((constant for _, _, constant, _ in mixed), start=z)
    B = np.concatenate(written) if written else np.zeros((0, z.shape[-1]), dtype=object)
    front = _in_front(mixtures, r)
    readout = as_balls(model.readout.weight if isinstance(model.readout, Affine) else model.readout)
    ahead = readout[:, 1] - readout[:, 0]
    offset = as_balls(model.readout.offset) if isinstance(model.readout, Affine) else as_balls([0, 0])
    return Layers(
        t,
        tuple(Mixture(_weights(scores[r:]), as_intervals(y)) for scores, y in mixtures),
        tuple(_reader(head, z, B, ahead) for head in layers[-1].heads),
        as_intervals(z[-1] @ ahead + offset[1] - offset[0]),
        as_intervals(np.stack([B @ ahead] * 2)),
        as_intervals(front),
    )


def _mixed(head: Head, z: Array, r: int, differ: bool) -> tuple[Array, Array, Array, Array]:
    """Of a head of layer 1: its scores, its coordinates, what it adds whatever they are, and what it adds for each.

    Args:
        differ: whether rows of one symbol differ.

    Returns:
        scores (r + t, 2, r + t, 2), y (r + t, 2, G), a vector of width d, rows (G, d).
    """
    values = head.value(z)
    first = values[r, 0]
    symbol = values[r, 1] - first
    indicator = np.full((len(z), 2, 1), arb(0), dtype=object)
    indicator[r:, 1] = arb(1)
    output = head.output if head.output is not None else Affine.identity(head.value.outputs)
    rows: Any = as_balls(output.weight)
    constant = first @ rows + as_balls(output.offset)
    if not differ:
        return _scores(head, z), indicator, constant, (symbol @ rows)[None]
    y = np.concatenate([indicator, np.repeat((values[:, 0] - first)[:, None], 2, axis=1)], axis=2)
    return _scores(head, z), y, constant, np.concatenate([(symbol @ rows)[None], rows])


def _reader(head: Head, z: Array, B: Array, ahead: Array) -> Reader:
    """A head of the last layer on the stream z + f B, for the last token."""
    scale = _scale(head)
    base, query = head.query(z[-1:]), B @ as_balls(head.query.weight)
    keys, slope = head.key(z) + _relative(head, len(z))[::-1][:, None], B @ as_balls(head.key.weight)
    values, linear = head.value(z), B @ as_balls(head.value.weight)
    if head.output is not None:
        values, linear = head.output(values), linear @ as_balls(head.output.weight)
    rows, C = len(z), len(B)
    flat = keys.reshape(2 * rows, -1)
    scores = (base[0] @ flat.T / scale).reshape(2, rows, 2)
    by_query = np.moveaxis((query @ flat.T / scale).reshape(C, rows, 2), 0, -1)
    by_key = base[0] @ slope.T / scale
    return Reader(
        base=as_intervals(scores),
        query=np.stack([as_intervals(by_query)] * 2),
        key=as_intervals(np.stack([by_key] * 2, axis=1)),
        both=np.broadcast_to(as_intervals(query @ slope.T / scale), (2, 2, C, C, 2)),
        value=as_intervals(values @ ahead),
        slope=as_intervals(np.stack([linear @ ahead] * 2)),
    )


def _scores(head: Head, z: Array) -> Array:
    """The scores of all rows and symbols for all that are not later, shape (R, 2, R, 2); of later ones, any numbers."""
    rows = len(z)
    queries = head.query(z).reshape(2 * rows, -1)
    found = (queries @ head.key(z).reshape(2 * rows, -1).T).reshape(rows, 2, rows, 2)
    if len(head.relative_keys):
        moved = (queries @ _relative(head, rows).T).reshape(rows, 2, rows)
        distance = abs(np.arange(rows)[:, None] - np.arange(rows))
        found = found + np.take_along_axis(moved, distance[:, None], axis=2)[..., None]
    return found / _scale(head)


def _relative(head: Head, rows: int) -> Array:
    """The relative keys at the distances 0, ..., rows - 1, zero beyond the table."""
    keys = as_balls(head.relative_keys)[:rows]
    return np.concatenate([keys, np.full((rows - len(keys), keys.shape[1]), arb(0), dtype=object)])


def _scale(head: Head) -> arb:
    return arb(head.temperature_squared).sqrt() / as_balls([head.sharpness])[0]


def _weights(scores: Array) -> FloatArray:
    """Exponentials of the scores of each token and symbol for rows that are not later, the largest about 1.

    Shape (t, 2, R, 2, 2) for scores (t, 2, R, 2), where the tokens are the last t of R rows; 0 for later rows.
    """
    t, rows = len(scores), scores.shape[2]
    result = np.zeros((*scores.shape, 2))
    for j, s in np.ndindex(t, 2):
        seen = scores[j, s, : rows - t + j + 1]
        shift = ball_max([entry.mid() for entry in seen.ravel()])
        exponentials = [(entry - shift).exp() for entry in seen.ravel()]
        result[j, s, : len(seen)] = as_intervals(np.array(exponentials, dtype=object).reshape(seen.shape))
    return result


def _in_front(mixtures: Sequence[tuple[Array, Array]], r: int) -> Array:
    """f of the rows in front, which see one another alone, shape (r, C)."""
    found = np.zeros((r, sum(y.shape[2] for _, y in mixtures)), dtype=object)
    for row in range(r):
        means = []
        for scores, y in mixtures:
            seen = scores[row, 0, : row + 1, 0]
            shift = ball_max([entry.mid() for entry in seen])
            e = np.array([(entry - shift).exp() for entry in seen], dtype=object)
            means.append(e @ y[: row + 1, 0] / e.sum())
        found[row] = np.concatenate(means) if means else []
    return found
