"""The dense evaluator of a Turing-machine transformer: float64, hard-max or softmax attention over all earlier steps.

A step costs O(T) per attention layer. Projected keys and values of every layer are kept, so that a run of T steps holds
T (P + 2) rows of width d: `dense_memory` says how many bytes. Words of different lengths run as one batch.

Source: turing, def-transformer and construction-assembled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from constructions.networks.decoder import DecoderAttention, DecoderLayer
from constructions.turing.compiler import TuringTransformer
from constructions.turing.evaluators.run import MEMORY_LIMIT, TransformerRun, check_memory, decoded_run
from numerics.exact.numbers import to_float

Floats = NDArray[np.float64]


def float_layers(transformer: TuringTransformer, softmax: float | None = None) -> tuple[DecoderLayer, ...]:
    """The layers in float64; with softmax attention of the given sharpness (inverse temperature) if not None."""

    def head(attention: DecoderAttention | None) -> DecoderAttention | None:
        if attention is None or softmax is None:
            return attention
        return replace(attention, normalisation="softmax", sharpness=softmax)

    layers = (layer.map(to_float) for layer in transformer.layers)
    return tuple(
        replace(layer, self_attention=head(layer.self_attention), cross_attention=head(layer.cross_attention))
        for layer in layers
    )


def dense_memory(transformer: TuringTransformer, words: int, hidden: bool = False) -> int:
    """The bytes that `run_dense` needs for its arrays: keys and values of all steps, outputs, and all hidden layers."""
    heads = [layer.self_attention for layer in transformer.layers if layer.self_attention is not None]
    per_step = sum(head.key.weight.shape[1] + head.width for head in heads) + transformer.layout.width
    per_step += transformer.layout.width * len(transformer.layers) if hidden else 0
    return 8 * words * (transformer.steps + 1) * per_step


def run_dense(
    transformer: TuringTransformer,
    words: Sequence[Sequence[int]],
    *,
    hidden: bool = False,
    softmax: float | None = None,
    layers: tuple[DecoderLayer, ...] | None = None,
    memory_limit: int = MEMORY_LIMIT,
) -> TransformerRun:
    """The run on a batch of words of symbol indices.

    Args:
        transformer: the compiled machine.
        words: B >= 1 words, of any lengths that the encoding allows.
        hidden: whether to return the outputs of all layers.
        softmax: if given, the sharpness of softmax attention; hard attention otherwise.
        layers: other layers in float64 to use instead (for perturbations); `softmax` is then ignored.
        memory_limit: bytes.

    Raises:
        ValueError: for no word, a word that cannot be encoded, or too much memory; before any work starts.
    """
    if not words:
        raise ValueError("A run needs at least one word; give [()] for the empty one.")
    encoded = [transformer.encode(word) for word in words]
    check_memory(dense_memory(transformer, len(words), hidden), memory_limit, transformer.steps, len(words), "dense")
    stack = float_layers(transformer, softmax) if layers is None else layers
    return _DenseDecoder(transformer, stack, encoded).run(hidden)


class _DenseDecoder:
    """The state of one run: the projected memories of all layers."""

    def __init__(
        self, transformer: TuringTransformer, layers: tuple[DecoderLayer, ...], encoded: Sequence[NDArray[np.int64]]
    ) -> None:
        self.transformer, self.layers = transformer, layers
        self.batch, d, T = len(encoded), transformer.layout.width, transformer.steps
        longest = max(len(rows) for rows in encoded)
        memory = np.zeros((self.batch, longest, d))
        self.visible = np.zeros((self.batch, longest), dtype=bool)
        for b, rows in enumerate(encoded):
            memory[b, : len(rows)], self.visible[b, : len(rows)] = rows, True
        self.own: list[tuple[Floats, Floats] | None] = []
        self.encoder: list[tuple[Floats, Floats] | None] = []
        for layer in layers:
            head, cross = layer.self_attention, layer.cross_attention
            keys = head.key.weight.shape[1] if head else 0
            self.own.append((np.zeros((self.batch, T, keys)), np.zeros((self.batch, T, d))) if head else None)
            self.encoder.append((cross.key(memory), cross.value(memory)) if cross else None)
        self.gap = np.inf

    def run(self, hidden: bool) -> TransformerRun:
        transformer, (T, d) = self.transformer, (self.transformer.steps, self.transformer.layout.width)
        outputs = np.zeros((self.batch, T + 1, d))
        inner = np.zeros((self.batch, T + 1, len(self.layers), d)) if hidden else None
        z = np.tile((transformer.start + transformer.beta(0)).astype(float), (self.batch, 1))
        for time in range(T + 1):
            for number in range(len(self.layers)):
                z = self._layer(number, time, z)
                if inner is not None:
                    inner[:, time, number] = z
            outputs[:, time] = z
            z = z + transformer.beta(time + 1)
        return decoded_run(transformer, outputs, inner, self.gap)

    def _layer(self, number: int, time: int, z: Floats) -> Floats:
        """One layer at one time; the memory of self-attention holds the layer's inputs at the times 1, ..., time."""
        layer, own, encoder = self.layers[number], self.own[number], self.encoder[number]
        if own is not None and layer.self_attention is not None:
            head, (keys, values) = layer.self_attention, own
            if time > 0:
                keys[:, time - 1], values[:, time - 1] = head.key(z), head.value(z)
            z = self._attend(head, z, keys[:, :time], values[:, :time], None)
        if encoder is not None and layer.cross_attention is not None:
            z = self._attend(layer.cross_attention, z, *encoder, self.visible)
        for affine in layer.feed_forward.layers:
            z = np.maximum(z @ affine.weight + affine.bias, 0.0)
        return z

    def _attend(
        self, head: DecoderAttention, z: Floats, keys: Floats, values: Floats, visible: NDArray[np.bool_] | None
    ) -> Floats:
        scores = head.scores(z, keys)
        if visible is not None:
            scores[:, 1:][~visible] = -np.inf
        below = np.where(scores < scores.max(axis=-1, keepdims=True) - head.tie_width, scores, -np.inf)
        self.gap = min(self.gap, float((scores.max(axis=-1) - below.max(axis=-1)).min()))
        return head.combine(z, head.probabilities(scores), values)
