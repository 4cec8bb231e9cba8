"""The exact evaluator of a Turing-machine transformer: rational arithmetic on the nonzero coordinates alone.

Tokens are dictionaries {coordinate: value != 0} and weights are lists of their nonzero entries, row by row, so that a
step costs little more than there are ones in the vectors. Ties of the hard attention are decided exactly.

Source: turing, def-transformer and construction-assembled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq

from constructions.networks.affine import Affine
from constructions.networks.decoder import DecoderAttention
from constructions.turing.compiler import TuringTransformer
from constructions.turing.evaluators.run import MEMORY_LIMIT, TransformerRun, check_memory, decoded_run
from numerics.exact.systems import Array

ENTRY_BYTES = 400
"""Of a nonzero entry of a key or a value, as a fraction in a dictionary: measured, rounded up."""

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
    def of(head: DecoderAttention) -> _Head:
        if head.normalisation != "hardmax":
            raise ValueError("The exact evaluator has hard attention only, since a softmax is not rational.")
        null = _sparse(head.null_key), _sparse(head.null_value)
        return _Head(_Affine.of(head.query), _Affine.of(head.key), _Affine.of(head.value), null)

    def project(self, z: Sparse) -> Pair:
        return self.key(z), self.value(z)

    def attend(self, z: Sparse, memory: Sequence[Pair]) -> tuple[Sparse, Any]:
        """The output, and the gap below the largest score (None if all scores tie)."""
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


def exact_memory(transformer: TuringTransformer, hidden: bool = False) -> int:
    """About how many bytes `run_exact` needs: arrays of outputs, and a key and a value for every step and head."""
    layout, times = transformer.layout, transformer.steps + 1
    outputs = 8 * times * layout.width * (1 + (len(transformer.layers) if hidden else 0))
    return outputs + ENTRY_BYTES * times * (layout.bits + 2) * (4 * layout.bits + 4)


def run_exact(
    transformer: TuringTransformer, word: Sequence[int], *, hidden: bool = False, memory_limit: int = MEMORY_LIMIT
) -> TransformerRun:
    """The run on one word in rational arithmetic; arrays as for a batch of one, with exact entries.

    Args:
        transformer: the compiled machine; its weights must be integers or rationals.
        word: symbol indices.
        hidden: whether to return the outputs of all layers.
        memory_limit: bytes.

    Raises:
        ValueError: for a word that cannot be encoded, weights that are floats, or too much memory.
    """
    check_memory(exact_memory(transformer, hidden), memory_limit, transformer.steps, 1, "exact")
    encoded = [_sparse(row) for row in transformer.encode(word)]
    layers = []
    for layer in transformer.layers:
        own, cross = (head and _Head.of(head) for head in (layer.self_attention, layer.cross_attention))
        memory = [cross.project(row) for row in encoded] if cross else []
        layers.append((own, cross, memory, [_Affine.of(affine) for affine in layer.feed_forward.layers]))
    T, d = transformer.steps, transformer.layout.width
    outputs = np.zeros((1, T + 1, d), dtype=object)
    inner = np.zeros((1, T + 1, len(layers), d), dtype=object) if hidden else None
    histories: list[list[Pair]] = [[] for _ in layers]
    gaps: list[Any] = []
    z = _sparse(transformer.start + transformer.beta(0))
    for time in range(T + 1):
        for number, (own, cross, memory, functional) in enumerate(layers):
            for head, pairs in ((own, histories[number]), (cross, memory)):
                if head is None:
                    continue
                if head is own and time > 0:
                    pairs.append(head.project(z))
                z, gap = head.attend(z, pairs)
                gaps += [] if gap is None else [gap]
            for affine in functional:
                z = {i: x for i, x in affine(z).items() if x > 0}
            if inner is not None:
                _write(inner[0, time, number], z)
        _write(outputs[0, time], z)
        z = _sum(z, _sparse(transformer.beta(time + 1)))
    return decoded_run(transformer, outputs, inner, min(gaps, default=np.inf))


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
