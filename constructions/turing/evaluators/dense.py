"""The dense evaluator of a Turing-machine transformer: float64, hard-max or softmax attention over all earlier steps.

A step costs O(T) per attention layer. Projected keys and values of every layer are kept, so that a run of T steps holds
T (P + 2) rows of width d. Words of different lengths run as one batch. Weights of any kind are converted to float64, so
that perturbed layers and softmax attention run like the compiled ones.

Source: turing, def-transformer and construction-assembled.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from constructions.networks.head import Head
from constructions.turing.compiler import TuringTransformer
from constructions.turing.evaluators.run import TransformerRun, Words, decoded_run
from numerics.exact.numbers import to_float

Floats = NDArray[np.float64]
Pair = tuple[Floats, Floats]  # projected keys (B, n, m) and values (B, n, d)


def evaluate_dense(transformer: TuringTransformer, words: Words, hidden: bool) -> TransformerRun:
    """The run on B >= 1 words; see the docstring of this module."""
    return _DenseDecoder(transformer, [transformer.encode(word) for word in words]).run(hidden)


class _DenseDecoder:
    """The state of one run: the projected memories of all layers."""

    def __init__(self, transformer: TuringTransformer, encoded: Sequence[NDArray[np.int64]]) -> None:
        self.transformer = transformer
        self.layers = [layer.map(to_float) for layer in transformer.layers]
        self.batch, d, T = len(encoded), transformer.layout.width, transformer.steps
        longest = max(len(rows) for rows in encoded)
        memory = np.zeros((self.batch, longest, d))
        self.visible = np.zeros((self.batch, 1, longest), dtype=bool)
        for b, rows in enumerate(encoded):
            memory[b, : len(rows)], self.visible[b, 0, : len(rows)] = rows, True
        self.own: list[Pair | None] = []
        self.encoder: list[Pair | None] = []
        for layer in self.layers:
            head, cross = layer.self_attention, layer.cross_attention
            shapes = [(self.batch, T, part.outputs) for part in (head.key, head.value)] if head else []
            self.own.append((np.zeros(shapes[0]), np.zeros(shapes[1])) if shapes else None)
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
            z = z + self._attended(head, z, (keys[:, :time], values[:, :time]), None)
        if encoder is not None and layer.cross_attention is not None:
            z = z + self._attended(layer.cross_attention, z, encoder, self.visible)
        return layer.feed_forward(z)

    def _attended(self, head: Head, z: Floats, memory: Pair, visible: NDArray[np.bool_] | None) -> Floats:
        """The sum that the head adds to z, shape (B, d); the gap of its scores is noted."""
        keys, values = memory
        scores = head.scores(z[:, None], keys)
        p = head.weights(scores, visible)
        if head.weigh == "hardmax":
            if visible is not None:
                scores[..., 1:][~visible] = -np.inf
            below = np.where(p > 0, -np.inf, scores)
            self.gap = min(self.gap, float((scores.max(axis=-1) - below.max(axis=-1)).min()))
        return head.combine(p, values)[:, 0]
