"""The exact evaluator of a Turing-machine transformer: rational arithmetic on the nonzero coordinates alone.

Tokens are dictionaries {coordinate: value != 0} and weights are lists of their nonzero entries, row by row, so that a
step costs little more than there are ones in the vectors. Ties of the hard attention are decided exactly. The weights
must be integers or rationals.

Source: turing, definition-transformer and construction-assembled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.decoder import DecoderLayer
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
from lemmata.numerics.exact.systems import Array

Sparse = dict[int, Any]
Pair = tuple[Sparse, Sparse]  # a projected key and its value


@dataclass(frozen=True)
class _Affine:
    """An affine layer by its nonzero entries: row i of the weight as a list of (column, value)."""

    rows: list[list[tuple[int, Any]]]
    bias: Sparse

    @staticmethod
    def of(layer: Affine) -> _Affine:
        rows: list[list[tuple[int, Any]]] = [[] for _ in range(len(layer.weight))]
        for i, j in np.argwhere(layer.weight != 0).tolist():
            rows[i].append((j, _number(layer.weight[i, j])))
        return _Affine(rows, _sparse(layer.bias))

    def __call__(self, z: Sparse) -> Sparse:
        result = dict(self.bias)
        for i, x in z.items():
            for j, weight in self.rows[i]:
                result[j] = result.get(j, 0) + x * weight
        return {j: y for j, y in result.items() if y != 0}


@dataclass(frozen=True)
class _Head:
    """A head with its sparse projections."""

    query: _Affine
    key: _Affine
    value: _Affine
    null: Pair

    @staticmethod
    def of(head: Head) -> _Head:
        if head.weigh != "hardmax":
            raise ValueError("The exact evaluator has hard attention only, since a softmax is not rational.")
        null_key, null_value = _sparse(head.null_key), _sparse(head.null_value)
        return _Head(_Affine.of(head.query), _Affine.of(head.key), _Affine.of(head.value), (null_key, null_value))

    def project(self, z: Sparse) -> Pair:
        return self.key(z), self.value(z)

    def attend(self, z: Sparse, memory: Sequence[Pair]) -> tuple[Sparse, Any]:
        """The sum of z and the attended value, and the gap below the largest score (None if all scores tie)."""
        query = self.query(z)
        pairs = [self.null, *memory]
        scores = [sum(x * key.get(i, 0) for i, x in query.items()) for key, _ in pairs]
        top = max(scores)
        tied = [value for score, (_, value) in zip(scores, pairs, strict=True) if score == top]
        result = dict(z)
        for value in tied:
            for i, x in value.items():
                result[i] = result.get(i, 0) + fmpq(1, len(tied)) * x
        gap = min((top - score for score in scores if score != top), default=None)
        return {i: x for i, x in result.items() if x != 0}, gap


@dataclass
class _Layer:
    """A layer with the projected tokens that its two attentions remember."""

    own: _Head | None
    cross: _Head | None
    functional: list[_Affine]
    encoded: list[Pair]
    history: list[Pair] = field(default_factory=list)

    @staticmethod
    def of(layer: DecoderLayer, encoded: Sequence[Sparse]) -> _Layer:
        own, cross = (
            None if head is None else _Head.of(head) for head in (layer.self_attention, layer.cross_attention)
        )
        memory = [] if cross is None else [cross.project(row) for row in encoded]
        return _Layer(own, cross, [_Affine.of(affine) for affine in layer.feed_forward.layers], memory)

    def step(self, z: Sparse, time: int) -> tuple[Sparse, list[Any]]:
        """The output at a time, and the gaps of both attentions; the input is remembered, but not at time 0."""
        gaps = list[Any]()
        if self.own is not None and time > 0:
            self.history.append(self.own.project(z))
        for head, memory in ((self.own, self.history), (self.cross, self.encoded)):
            if head is not None:
                z, gap = head.attend(z, memory)
                gaps += [] if gap is None else [gap]
        for affine in self.functional:
            z = {i: x for i, x in affine(z).items() if x > 0}
        return z, gaps


def evaluate_exact(
    transformer: TuringTransformer, words: Words, hidden: bool, progress: Progress | None = None
) -> TransformerRun:
    """The run on B >= 1 words, arrays with exact entries; see the docstring of this module.

    Raises:
        ValueError: for weights that are floats, or softmax attention.
    """
    shape = (len(words), transformer.steps + 1)
    outputs = np.zeros((*shape, transformer.layout.width), dtype=object)
    inner = np.zeros((*shape, len(transformer.layers), transformer.layout.width), dtype=object) if hidden else None
    recording, kept = recording_layer(transformer), remembered(transformer)
    tokens, gaps = np.zeros((*shape, len(kept)), dtype=object), list[Any]()
    for b, word in enumerate(words):
        encoded = [_sparse(row) for row in transformer.encode(word)]
        layers = [_Layer.of(layer, encoded) for layer in transformer.layers]
        z = _sparse(transformer.start + transformer.beta(0))
        for time in range(transformer.steps + 1):
            for number, layer in enumerate(layers):
                if number == recording:
                    tokens[b, time] = [z.get(c, 0) for c in kept.tolist()]
                z, found = layer.step(z, time)
                gaps += found
                if inner is not None:
                    _write(inner[b, time, number], z)
            _write(outputs[b, time], z)
            z = _sum(z, _sparse(transformer.beta(time + 1)))
            if progress is not None:
                progress(time)
    return decoded_run(transformer, outputs, tokens, inner, min(gaps, default=np.inf))


def _number(x: Any) -> Any:
    if isinstance(x, float | np.floating):
        raise ValueError(f"The exact evaluator needs integers or rationals, not the float {x!r}.")
    return int(x) if isinstance(x, np.integer) else x


def _sparse(vector: Array) -> Sparse:
    return {int(i): _number(vector[i]) for i in np.flatnonzero(vector)}


def _sum(a: Sparse, b: Sparse) -> Sparse:
    return {i: total for i in a.keys() | b.keys() if (total := a.get(i, 0) + b.get(i, 0)) != 0}


def _write(row: Array, z: Sparse) -> None:
    for i, x in z.items():
        row[i] = x
