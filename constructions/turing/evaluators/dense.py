"""The dense evaluator of a Turing-machine transformer: float64, hard-max or softmax attention over all earlier steps.

Ties of the hard maximum are those of exact arithmetic, or the step is refused
(`lemmata.constructions.turing.evaluators.ties`). A step costs O(T) per attention layer. Projected keys and values of
every layer are kept, so that a run of T steps holds T (P + 2) rows of width d. Words of different lengths run as one
batch. Weights of any kind are converted to float64, so that perturbed layers and softmax attention run like the
compiled ones.

Source: turing, definition-transformer and construction-assembled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lemmata.constructions.networks.head import Head
from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.evaluators.run import (
    Progress,
    TransformerRun,
    Words,
    decoded_run,
    recording_layer,
    remembered,
)
from lemmata.constructions.turing.evaluators.ties import Codes, TieRule
from lemmata.numerics.exact.numbers import to_float

Floats = NDArray[np.float64]


def evaluate_dense(
    transformer: TuringTransformer, words: Words, hidden: bool, progress: Progress | None = None
) -> TransformerRun:
    """The run on B >= 1 words; see the docstring of this module.

    Raises:
        ValueError: where floats cannot tell whether scores of hard attention tie.
    """
    return _DenseDecoder(transformer, [transformer.encode(word) for word in words]).run(hidden, progress)


@dataclass
class _Memory:
    """The projected tokens to which one head attends, and the bits that its key map reads of them.

    The arrays have the shapes (B, n, m), (B, n, d) and (B, n, .); ``rule`` and ``codes`` are None for softmax.
    """

    head: Head
    keys: Floats
    values: Floats
    rule: TieRule | None
    codes: Codes | None

    @staticmethod
    def of(head: Head, source: Head, tokens: Floats) -> _Memory:
        """The memory of known tokens, shape (B, n, d), for a head in floats, which was made from the source."""
        rule = TieRule.of(source) if head.weigh == "hardmax" else None
        return _Memory(head, head.key(tokens), head.value(tokens), rule, rule and rule.key_codes(tokens))

    @staticmethod
    def empty(head: Head, source: Head, batch: int, length: int) -> _Memory:
        """Room for the tokens of a run."""
        rule = TieRule.of(source) if head.weigh == "hardmax" else None
        keys, values = (np.zeros((batch, length, part.outputs)) for part in (head.key, head.value))
        codes = None if rule is None else np.zeros((batch, length, len(rule.key_reads)), np.int8)
        return _Memory(head, keys, values, rule, codes)

    def put(self, place: int, z: Floats) -> None:
        """Store the tokens z, shape (B, d)."""
        self.keys[:, place], self.values[:, place] = self.head.key(z), self.head.value(z)
        if self.rule is not None and self.codes is not None:
            self.codes[:, place] = self.rule.key_codes(z)


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
        pairs = list(zip(self.layers, transformer.layers, strict=True))
        own = [(layer.self_attention, source.self_attention) for layer, source in pairs]
        cross = [(layer.cross_attention, source.cross_attention) for layer, source in pairs]
        self.own = [_Memory.empty(head, source, self.batch, T) if head and source else None for head, source in own]
        self.encoder = [_Memory.of(head, source, memory) if head and source else None for head, source in cross]
        self.gap = np.inf

    def run(self, hidden: bool, progress: Progress | None) -> TransformerRun:
        transformer, (T, d) = self.transformer, (self.transformer.steps, self.transformer.layout.width)
        recording, kept = recording_layer(transformer), remembered(transformer)
        outputs, tokens = np.zeros((self.batch, T + 1, d)), np.zeros((self.batch, T + 1, len(kept)))
        inner = np.zeros((self.batch, T + 1, len(self.layers), d)) if hidden else None
        z = np.tile((transformer.start + transformer.beta(0)).astype(float), (self.batch, 1))
        for time in range(T + 1):
            for number in range(len(self.layers)):
                if number == recording:
                    tokens[:, time] = z[:, kept]
                z = self._layer(number, time, z)
                if inner is not None:
                    inner[:, time, number] = z
            outputs[:, time] = z
            z = z + transformer.beta(time + 1)
            if progress is not None:
                progress(time)
        return decoded_run(transformer, outputs, tokens, inner, self.gap)

    def _layer(self, number: int, time: int, z: Floats) -> Floats:
        """One layer at one time; the memory of self-attention holds the layer's inputs at the times 1, ..., time."""
        layer, own, encoder = self.layers[number], self.own[number], self.encoder[number]
        where = f"Time {time}, layer {layer.name}"
        if own is not None:
            if time > 0:
                own.put(time - 1, z)
            z = z + self._attended(own, z, time, None, where)
        if encoder is not None:
            z = z + self._attended(encoder, z, encoder.keys.shape[1], self.visible, where)
        return layer.feed_forward(z)

    def _attended(
        self, memory: _Memory, z: Floats, count: int, visible: NDArray[np.bool_] | None, where: str
    ) -> Floats:
        """The sum that the head adds to z, shape (B, d), from the first tokens; the gap of its scores is noted."""
        head, values = memory.head, memory.values[:, :count]
        scores = head.scores(z[:, None], memory.keys[:, :count])
        if memory.rule is None or memory.codes is None:
            return head.combine(head.weights(scores, visible), values)[:, 0]
        if visible is not None:
            scores[..., 1:][~visible] = -np.inf
        flat, codes = scores[:, 0], memory.codes[:, :count]
        tied = memory.rule.ties(flat, memory.rule.query_codes(z), codes, where)
        below = np.where(tied, -np.inf, flat)
        self.gap = min(self.gap, float((flat.max(axis=-1) - below.max(axis=-1)).min()))
        return head.combine((tied / tied.sum(axis=-1, keepdims=True))[:, None], values)[:, 0]
