"""Any Turing machine as an encoder-decoder transformer with d = 11 + P layers, P position bits: the compiler.

The decoder runs for the time steps 0, 1, ..., T. Its input at time i is o_(i-1) + beta(i), its output o_i holds the
machine after step i: the state in `st`, the symbol under the head in `sym1`, the head in `pos2`, and zeros elsewhere.
Step 0 turns an extra state into the initial one and reads the first symbol. Of every layer only the weights before the
rounding differ; the rounding is the last two of its three ReLU layers. All weights are integers or rationals.

`TuringTransformer.table` lists what every layer reads and writes, with its norms. The evaluators of these weights are
in `lemmata.constructions.turing.evaluators.registry`.

Source: turing, construction-assembled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from flint import fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.decoder import DecoderLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.layer import Layer
from lemmata.constructions.networks.table import LayerTable, layer_table
from lemmata.constructions.turing.layers import (
    choice_layers,
    copy_layer,
    head_layers,
    input_layer,
    left_end_layers,
    search_layer,
    transition_layers,
    visited_layer,
)
from lemmata.constructions.turing.layout import Integers, TuringLayout, rounding_layers
from lemmata.constructions.turing.machine import LEFT_ENDS, LeftEnd, TuringMachine
from lemmata.numerics.exact.systems import Array

THIRD = fmpq(1, 3)

LARGEST_WEIGHTS = 16 * 2**30
"""The bytes of weights above which nothing is compiled."""


@dataclass(frozen=True, eq=False)
class TuringTransformer(Layer):
    """A compiled machine: weights over named coordinates, and the rules of its positions.

    Attributes:
        machine: the machine that it simulates.
        steps: T, the number of steps after step 0.
        layout: the named coordinates; `layout.stream` is the residual stream of width d.
        start_cell: the position of the first input symbol and of the head at the beginning, 1 on a one-way tape.
        max_length: the largest length of an input.
        left_end: the rule at the left end of the tape.
        wraps: whether position codes may wrap around modulo 2^P, which the theorem does not allow.
        embedding: E, shape (A, d): what stands for an input symbol, before its position is added.
        start: h_0, shape (d,).
        classifier: shape (d,); +1 on accepting states, -1 on rejecting ones.
        layers: the layers, first to last.
    """

    translator: ClassVar[str] = "turing.evaluators.torch"

    machine: TuringMachine
    steps: int
    layout: TuringLayout
    start_cell: int
    max_length: int
    left_end: LeftEnd
    wraps: bool
    embedding: Array
    start: Array
    classifier: Array
    layers: tuple[DecoderLayer, ...]

    @property
    def width(self) -> int:
        """The width w = 2d of the feed-forward layers: the rounding needs two hidden units per coordinate."""
        return 2 * self.layout.width

    def beta(self, time: int) -> Integers:
        """The positional encoding of a time step, shape (d,): Bin(time) in `pos1`."""
        return self.layout.vector({"pos1": self.layout.binary(time)})

    def encode(self, word: Sequence[int]) -> Array:
        """The encoder's outputs, shape (m, d), for a word of m symbol indices; symbol j stands at cell start_cell + j.

        Raises:
            ValueError: as `check_word`.
        """
        self.check_word(word)
        result = np.zeros((len(word), self.layout.width), dtype=self.embedding.dtype)
        for j, symbol in enumerate(word):
            result[j] = self.embedding[symbol]
            result[j, self.layout.stream["pos1"]] = self.layout.binary(self.start_cell + j)
        return result

    def check_word(self, word: Sequence[int]) -> None:
        """ValueError if the word is longer than the encoding allows, or has a number that is no symbol."""
        if len(word) > self.max_length and not self.wraps:
            raise ValueError(
                f"The input has {len(word)} symbols, but the machine was compiled for at most {self.max_length} "
                f"({self.layout.bits} position bits, first symbol at cell {self.start_cell}): give max_length."
            )
        count = self.layout.symbols
        if foreign := sorted({a for a in word if not (isinstance(a, int | np.integer) and 0 <= a < count)}):
            raise ValueError(f"Symbols are the integers 0, ..., {count - 1}, but the input holds {foreign[:5]}.")

    def softened(self, sharpness: float) -> TuringTransformer:
        """The transformer with softmax attention, of this sharpness (inverse temperature), for the hard maximum.

        Raises:
            ValueError: for a sharpness that is not positive.
        """

        def soft(head: Head | None) -> Head | None:
            return None if head is None else replace(head, weigh="softmax", sharpness=sharpness)

        layers = (
            replace(layer, self_attention=soft(layer.self_attention), cross_attention=soft(layer.cross_attention))
            for layer in self.layers
        )
        return replace(self, layers=tuple(layers))

    def table(self) -> LayerTable:
        """What every layer reads, writes and drops, and its norms, read off the weights.

        The further columns are to what the layer attends, the 1-norms of its attention, of the first ReLU layer ("map")
        and of the others ("rounding"), and the operator norms of its ReLU layers.
        """
        columns: dict[str, Callable[[DecoderLayer], Any]] = {
            "attends to": lambda layer: layer.attends_to,
            "attention": lambda layer: sum((head.one_norm for head in layer.attentions()), start=0),
            "map": lambda layer: layer.feed_forward.layers[0].one_norm,
            "rounding": lambda layer: sum((part.one_norm for part in layer.feed_forward.layers[1:]), start=0),
            "operator norms": lambda layer: layer.feed_forward.operator_norms,
        }
        return layer_table(self.layout.stream, self.layers, [layer.name for layer in self.layers], columns=columns)


def needed_bits(steps: int, left_end: LeftEnd = "refuse", max_length: int = 0) -> int:
    """The number P of bits with which all times, cells of the head and cells of the input have different codes.

    One-way: ceil(log2(T + 2)) if the input has at most T + 1 symbols, since the head reaches cell T + 1. Two-way: the
    head starts at cell T + 1 and reaches 2T + 1.
    """
    start = _start_cell(steps, left_end)
    largest = max(start + steps, start + max_length - 1)
    return largest.bit_length()


def compile_turing_machine(
    machine: TuringMachine,
    steps: int,
    *,
    max_length: int | None = None,
    bits: int | None = None,
    left_end: LeftEnd | None = None,
    threshold: fmpq = THIRD,
    wrap: bool = False,
) -> TuringTransformer:
    """The transformer that runs a machine for a number of steps.

    Args:
        machine: a complete machine.
        steps: T >= 1.
        max_length: the largest input length; by default as many symbols as the bits allow, at least T + 1 on a one-way
            tape and T + 1 on a two-way one, beyond which the head cannot get.
        bits: P; by default `needed_bits`.
        left_end: "stay" (two more layers) or "two-way" (starts at cell T + 1) or "refuse" (the machine must not move
            left from cell 1); by default the machine's own rule.
        threshold: t of the rounding, 0 < t < 1/2; 1/3 as in the source, 1/4 for weights that are binary fractions.
        wrap: allow too few bits, with codes modulo 2^P.

    Raises:
        ValueError: for steps, bits or lengths that are no positive integers, too few bits, another rule or threshold,
            or more than 16 GiB of weights.
    """
    rule = machine.left_end if left_end is None else left_end
    P = _checked_bits(steps, rule, max_length, bits, wrap)
    layout = TuringLayout(len(machine.states) + 1, len(machine.symbols), P)
    _refuse_size(layout)
    start, rounding = _start_cell(steps, rule), rounding_layers(layout.width, threshold)
    first = {"st": np.eye(layout.states)[-1], "sym1": np.eye(layout.symbols)[machine.blank]}
    output = [int(z in machine.accept) - int(z in machine.reject) for z in range(len(machine.states))]
    return TuringTransformer(
        machine=machine,
        steps=steps,
        layout=layout,
        start_cell=start,
        max_length=2**P - start if max_length is None else max_length,
        left_end=rule,
        wraps=wrap,
        embedding=layout.stream.rows(layout.symbols, {"sym1": np.eye(layout.symbols)}).astype(np.int64),
        start=layout.vector({**first, "pos2": layout.binary(start - 1)}),
        classifier=layout.vector({"st": [*output, 0]}),
        layers=tuple(_rounded(layer, rounding) for layer in _layers(layout, machine, stay=rule == "stay")),
    )


def _checked_bits(steps: int, rule: LeftEnd, max_length: int | None, bits: int | None, wrap: bool) -> int:
    """The number of position bits. Raises ValueError as `compile_turing_machine`."""
    if rule not in LEFT_ENDS:
        raise ValueError(f"left_end is one of {', '.join(LEFT_ENDS)}, not {rule!r}.")
    for name, number, least in (("steps", steps, 1), ("max_length", max_length, 0), ("bits", bits, 1)):
        if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < least):
            raise ValueError(f"{name} must be an integer >= {least}, not {number!r}.")
    needed = needed_bits(steps, rule, max_length or 0)
    if bits is not None and needed > bits and not wrap:
        raise ValueError(
            f"{steps} steps on inputs of up to {max_length or 0} symbols with left_end={rule!r} need {needed} bits of "
            f"position, not {bits}; wrap=True computes modulo 2^{bits} nevertheless."
        )
    return needed if bits is None else bits


def _refuse_size(layout: TuringLayout) -> None:
    """Refuse, before any of it is built, a transformer whose dense matrices would not fit."""
    d, P = layout.width, layout.bits
    needed = 8 * ((P + 11) * 5 * d**2 + (P + 3) * (d**2 + 4 * d * P))
    if needed > LARGEST_WEIGHTS:
        raise ValueError(
            f"The transformer would have {P + 11} layers of width {2 * d}, which take {needed // 2**30:,} GiB of "
            f"weights, and {LARGEST_WEIGHTS // 2**30} GiB are allowed: use fewer states, symbols or steps."
        )


def _start_cell(steps: int, left_end: LeftEnd) -> int:
    return steps + 1 if left_end == "two-way" else 1


def _layers(layout: TuringLayout, machine: TuringMachine, stay: bool) -> list[DecoderLayer]:
    """The layers of all lemmas, without the rounding."""
    return [
        *transition_layers(layout, machine, machine.blank),
        *(left_end_layers(layout) if stay else []),
        *head_layers(layout),
        visited_layer(layout),
        *(search_layer(layout, j) for j in range(layout.bits)),
        copy_layer(layout),
        input_layer(layout),
        *choice_layers(layout, machine.blank),
    ]


def _rounded(layer: DecoderLayer, rounding: tuple[Affine, Affine]) -> DecoderLayer:
    return replace(layer, feed_forward=FeedForward((*layer.feed_forward.layers, *rounding)))
