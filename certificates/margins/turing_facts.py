"""What the certificate of a compiled Turing machine reads off its weights: integers, and a few operator norms.

Functionals are bounded entrywise over all bits, and their squared norms are exact integers. The certificate that uses
them is `lemmata.certificates.margins.turing_direct`.

Source: turing, theorem-4.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from lemmata.certificates.margins.all_layer import operator_norm
from lemmata.certificates.margins.direct import Squares
from lemmata.certificates.margins.turing_ones import BlockOnes, TokenOnes
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.decoder import DecoderLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.layout import rounding_layers
from lemmata.numerics.exact.balls import ball_max
from lemmata.numerics.exact.systems import Array

__all__ = ["HeadFacts", "LayerFacts", "MachineFacts", "machine_facts"]

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class HeadFacts:
    """A head on bits, by exact squares; |q|, K and K_0 are entrywise bounds over all bits."""

    cross: bool
    query_norm: arb
    key_norm: arb
    value_norm: arb
    value: arb  # ||V|| at most, on the ones that tokens have
    query: int  # |q|^2
    null_keys: int  # |K - K_0|^2
    keys: int  # |K - K'|^2
    to_null: Squares  # W_Q (K - K_0)
    to_token: Squares  # W_Q (K - K')
    by_key: Squares  # W_K q
    disjoint: bool  # whether no coordinate is read by query and key
    spacing: int  # scores of tokens differ by multiples of it


@dataclass(frozen=True)
class LayerFacts:
    """A layer: its heads, None for the identity, and its first ReLU layer, column by column."""

    name: str
    heads: tuple[HeadFacts | None, ...]
    first_norm: arb
    columns: frozenset[tuple[Squares, Squares]]  # a column w of W_1, and W_V w of the head
    read: arb  # norms of true tokens: those that are read,
    remembered: arb  # of the encoder,
    written: arb  # and those that the layer hands on


@dataclass(frozen=True)
class MachineFacts:
    """What the conditions need of a transformer, whatever rho."""

    layers: tuple[LayerFacts, ...]
    threshold: Fraction
    classifier: Squares


def machine_facts(transformer: TuringTransformer, ones: TokenOnes) -> MachineFacts:
    """The facts of all layers.

    Raises:
        ValueError: if weights before the rounding are no integers, the last two ReLU layers of a layer are no rounding,
            or a layer has two heads.
    """
    threshold = _threshold(transformer)
    layers = []
    for number, layer in enumerate(transformer.layers):
        before = ones.written[number - 1]
        layers.append(_layer_facts(transformer.layout.stream, layer, ones, number, before))
    classifier = _squares(transformer.layout.stream, np.abs(_whole(transformer.classifier)), ones.written[-1])
    return MachineFacts(tuple(layers), threshold, classifier)


def _threshold(transformer: TuringTransformer) -> Fraction:
    """The threshold of the rounding, which all layers must have."""
    value = -Fraction(str(transformer.layers[0].feed_forward.layers[1].bias[0]))
    expected = rounding_layers(transformer.layout.width, fmpq(value.numerator, value.denominator))
    for layer in transformer.layers:
        rounding = layer.feed_forward.layers[1:]
        found, wanted = ([array for part in parts for array in part.arrays()] for parts in (rounding, expected))
        if not all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True)):
            raise ValueError(f"The last two ReLU layers of {layer.name} are no rounding with the threshold {value}.")
    return value


def _layer_facts(
    stream: ResidualStream, layer: DecoderLayer, ones: TokenOnes, number: int, before: BlockOnes
) -> LayerFacts:
    heads = tuple(
        None if head is None else _head_facts(stream, head, bool(cross), ones, number, before)
        for cross, head in enumerate((layer.self_attention, layer.cross_attention))
    )
    if all(heads):
        raise ValueError(f"The certificate knows layers with one head, and {layer.name} has two.")
    first = layer.feed_forward.layers[0]
    weight = np.abs(_whole(first.weight))
    values = sum((np.abs(_whole(head.value.weight)) @ weight for head in layer.attentions()), start=0 * weight)
    mine, theirs = (_columns(stream, part, before) for part in (weight, values))
    return LayerFacts(
        name=layer.name,
        heads=heads,
        first_norm=operator_norm(first.weight),
        columns=frozenset(zip(mine, theirs, strict=True)),
        read=arb(ones.read[number].total).sqrt(),
        remembered=arb(ones.encoded.total).sqrt(),
        written=arb(ones.written[number].total).sqrt(),
    )


def _head_facts(
    stream: ResidualStream, head: Head, cross: bool, ones: TokenOnes, number: int, before: BlockOnes
) -> HeadFacts:
    query, key, value = head.query, head.key, head.value
    low, high = _range(key)
    null = np.maximum(np.abs(high - _whole(head.null_key)), np.abs(low - _whole(head.null_key)))
    q = np.max(np.abs(_range(query)), axis=0)
    reads_q, reads_k = np.abs(_whole(query.weight)), np.abs(_whole(key.weight))
    memory = ones.encoded if cross else ones.read[number]
    value_norm, read = operator_norm(value.weight), np.any(_whole(value.weight), axis=1)
    carried = sum(min(memory.blocks.get(name, 0), int(read[stream[name]].sum())) for name in stream.sizes)
    values = arb(_square(_whole(value.offset))).sqrt() + value_norm * arb(carried).sqrt()
    return HeadFacts(
        cross=cross,
        query_norm=operator_norm(query.weight),
        key_norm=operator_norm(key.weight),
        value_norm=value_norm,
        value=ball_max([values, arb(_square(_whole(head.null_value))).sqrt()]),
        query=_square(q),
        null_keys=_square(null),
        keys=_square(high - low),
        to_null=_squares(stream, reads_q @ null, before),
        to_token=_squares(stream, reads_q @ (high - low), before),
        by_key=_squares(stream, reads_k @ q, before),
        disjoint=not np.any(np.any(reads_q, axis=1) & np.any(reads_k, axis=1)),
        spacing=max(int(np.gcd.reduce(reads_k, axis=None)), 1),
    )


def _range(layer: Affine) -> tuple[Integers, Integers]:
    """The least and the largest value of each coordinate of z W + b over all bits z."""
    weight, offset = _whole(layer.weight), _whole(layer.offset)
    return np.minimum(weight, 0).sum(axis=0) + offset, np.maximum(weight, 0).sum(axis=0) + offset


def _columns(stream: ResidualStream, matrix: Integers, ones: BlockOnes) -> Sequence[Squares]:
    """`_squares` of every column of a matrix of nonnegative entries, shape (d, e)."""
    squared = matrix**2
    largest = np.zeros(matrix.shape[1], dtype=np.int64)
    for name in stream.sizes:
        if most := ones.blocks.get(name, 0):
            largest += np.sort(squared[stream[name]], axis=0)[::-1][:most].sum(axis=0)
    return [Squares(int(a), int(b)) for a, b in zip(largest, squared.sum(axis=0), strict=True)]


def _squares(stream: ResidualStream, functional: Integers, ones: BlockOnes) -> Squares:
    return _columns(stream, functional[:, None], ones)[0]


def _square(vector: Integers) -> int:
    return int((vector**2).sum())


def _whole(array: Array) -> Integers:
    if array.dtype.kind not in "iu":
        raise ValueError("The certificate needs integer weights before the rounding, so that scores are integers.")
    return array.astype(np.int64)
