"""What the indexed evaluator claims at one time step, checked from outside: the invariants, and its hard attention.

`broken_layers` compares the streams of a step with what the machine says they must hold, without looking at a weight.
`wrong_answers` computes every self-attention of the step once more, densely over all keys of the past.

Source: turing, (C.4) to (C.16) of setup-C.1 and lemma-C.1 to lemma-C.8.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lemmata.constructions.networks.head import Head
from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.evaluators.indexed import IndexedRun
from lemmata.constructions.turing.machine import LEFT
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.systems import Array


@dataclass(frozen=True)
class Configuration:
    """The machine after a step: its state, the symbol under the head, the head (the start cell is 0)."""

    state: int
    symbol: int
    head: int


def broken_layers(
    transformer: TuringTransformer,
    word: Sequence[int],
    time: int,
    before: Configuration,
    after: Configuration,
    last_visit: int,
    trace: NDArray[np.uint8],
) -> list[str]:
    """The names of the layers whose outputs at a time >= 1 are not what the invariants say.

    Args:
        transformer: the compiled machine.
        word: the input.
        time: the time step i >= 1.
        before: the configuration after step i - 1.
        after: the configuration after step i.
        last_visit: i'.
        trace: the streams of this step, shape (layers, 2, d), as in `IndexedSteps`.
    """
    layout, machine = transformer.layout, transformer.machine
    written, move = machine.table[before.state][before.symbol][1:]
    position = after.head
    inside = 0 <= position < len(word)
    kept = {
        "st": np.eye(layout.states)[after.state],
        "sym2": np.eye(layout.symbols)[written],
        "pos1": layout.binary(time),
        "pos2": layout.binary(before.head + transformer.start_cell),
    }
    moved = kept | {"pos3": layout.binary(after.head + transformer.start_cell)}
    visited = [int(last_visit > 0), 0, 0]
    copied = np.eye(layout.symbols)[after.symbol] * (last_visit > 0)
    read = np.eye(layout.symbols)[word[position]] if inside else np.zeros(layout.symbols)
    expected: dict[str, Mapping[str, ArrayLike]] = {
        "C.1b": kept | {"q": [int(move == LEFT), int(move != LEFT)]},
        "C.2c": moved,
        "C.4": moved | {"scr4": visited},
        "C.6": moved | {"scr4": visited, "scr1": copied},
        "C.7": moved | {"scr4": [visited[0], int(inside), 0], "scr1": copied, "scr2": read},
        "C.8c": {
            "st": kept["st"],
            "sym1": np.eye(layout.symbols)[after.symbol],
            "pos2": moved["pos3"],
        },
    }
    digits = layout.binary(last_visit)
    for j in range(layout.bits):
        found = np.where(np.arange(layout.bits) <= j, digits, 0)
        expected[f"C.5 bit {j + 1}"] = moved | {"scr4": visited, "scr3": found}
    return [
        layer.name
        for number, layer in enumerate(transformer.layers)
        if layer.name in expected and not np.array_equal(trace[number, 1], layout.vector(expected[layer.name]))
    ]


def wrong_answers(run: IndexedRun, trace: NDArray[np.uint8]) -> list[str]:
    """The names of the layers whose self-attention at the last time step is not that of dense attention.

    All keys of the past are written out, which takes O(T d) memory: for the first some thousand steps.

    Args:
        run: a run whose last step is the one of the trace.
        trace: the streams of this step, shape (layers, 2, d).
    """
    time = run.time - 1
    if time < 1:
        return []
    memory = _past(run, time)
    wrong = []
    for number, layer in enumerate(run.transformer.layers):
        head = layer.self_attention
        if head is None or layer.cross_attention is not None or number == 0:
            continue
        head, z, tokens = _exact_and_fast(head, trace[number - 1, 1].astype(np.int64), memory)
        scores = head.scores(z[None], head.key(tokens))[0]
        values = np.vstack([head.null_value, head.value(tokens)])[scores == scores.max()]
        if (values != values[0]).any() or (z + values[0] != trace[number, 0]).any():
            wrong.append(layer.name)
    return wrong


def _exact_and_fast(head: Head, z: NDArray[np.int64], memory: NDArray[np.int64]) -> tuple[Head, Array, Array]:
    """The head and its tokens in float64 where all sums are of integers below 2^53, hence exact; else as they are."""
    parts = [head.query.weight, head.query.offset, head.key.weight, head.key.offset, head.null_key]
    parts += [head.value.weight, head.value.offset, head.null_value]
    if any(part.dtype.kind not in "iu" for part in parts):
        return head, z, memory
    largest = math.prod(
        int(np.abs(part).sum(axis=0).max(initial=0)) + 1 for part in (head.query.weight, head.key.weight)
    )
    largest *= (1 + max(int(np.abs(part).max(initial=0)) for part in parts)) ** 2 * head.key_dimension
    if largest >= 2**53:
        return head, z, memory
    return head.map(to_float), z.astype(np.float64), memory.astype(np.float64)


def _past(run: IndexedRun, time: int) -> NDArray[np.int64]:
    """The indexed coordinates of the streams at the times 1, ..., time, written out; zeros elsewhere."""
    program, index = run.program, run.index
    memory = np.zeros((time + 1, run.transformer.layout.width), np.int64)

    def write(coordinates: NDArray[np.int64], times: NDArray[np.int64], codes: NDArray[np.int64] | int) -> None:
        for r, c in enumerate(coordinates[::-1]):
            memory[times, c] = (codes >> r) & 1

    for place in np.flatnonzero(index.last).tolist():
        times, t = list[int](), int(index.last[place])
        while t:
            times.append(t)
            t = int(index.previous[t])
        write(program.place, np.array(times), place)
    write(program.time, np.arange(time + 1), np.arange(time + 1))
    write(program.payload[::-1], np.arange(time + 1), index.payload[: time + 1].astype(np.int64))
    return memory[1:]
