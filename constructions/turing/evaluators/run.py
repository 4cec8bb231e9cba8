"""The interface of all evaluators of a Turing-machine transformer: `Evaluator`, and the `TransformerRun` they return.

States, symbols and cells are read off the outputs of the weights, (C.2) of the source.

Source: turing, setup-C.1, (C.2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.evaluators.memory import MEMORY_LIMIT, refuse_memory
from lemmata.constructions.turing.layout import Integers
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.systems import Array

UNREADABLE = -1

Words = Sequence[Sequence[int]]
Progress = Callable[[int], None]
"""Told every time step when it is done."""


@dataclass(frozen=True, eq=False)
class TransformerRun:
    """The run on B words.

    Attributes:
        states, symbols, heads: the machine after each step 0, ..., T, shape (B, T + 1); -1 where the output is no code.
            The extra state does not occur in a run that is right.
        written: the symbol that each step wrote, shape (B, T + 1), as the last attention of the later steps reads it
            (`recording_layer`); -1 where that is no code.
        cells: the cell where it was written, shape (B, T + 1), likewise. Step 0 is nobody's memory.
        answers: the classifier after each step, shape (B, T + 1): +1 accepts, -1 rejects, 0 has not halted.
        hidden: the outputs of all layers, shape (B, T + 1, layers, d), or None.
        smallest_gap: the least distance of the largest score from the next that does not tie, over all hard attentions
            (infinite if there was none); NaN if it was not recorded.
    """

    states: Integers
    symbols: Integers
    heads: Integers
    written: Integers
    cells: Integers
    answers: Array
    hidden: Array | None
    smallest_gap: Any

    @property
    def predictions(self) -> Array:
        """The classifier at time T, shape (B,)."""
        return self.answers[:, -1]


@dataclass(frozen=True)
class Evaluator:
    """One way to run the weights of a compiled machine.

    Attributes:
        name: "dense", "exact", "torch" or "indexed".
        needed_bytes: what the arrays of a run take, of the transformer, the number of words, and whether the outputs of
            all layers are kept.
        evaluate: the run, of the transformer, the words, and whether the outputs of all layers are kept.
        memory_limit: the bytes above which it refuses to begin, unless told otherwise.
    """

    name: str
    needed_bytes: Callable[[TuringTransformer, int, bool], int]
    evaluate: Callable[[TuringTransformer, Words, bool, Progress | None], TransformerRun]
    memory_limit: int = MEMORY_LIMIT

    def memory(self, transformer: TuringTransformer, words: int = 1, *, hidden: bool = False) -> int:
        """The bytes that `run` needs for its arrays on so many words."""
        return self.needed_bytes(transformer, words, hidden)

    def require_memory(
        self, transformer: TuringTransformer, words: int = 1, *, hidden: bool = False, memory_limit: int | None = None
    ) -> None:
        """ValueError if `run` would need more bytes than the limit."""
        limit = self.memory_limit if memory_limit is None else memory_limit
        refuse_memory(self.memory(transformer, words, hidden=hidden), limit, transformer.steps, words, self.name)

    def run(
        self,
        transformer: TuringTransformer,
        words: Words,
        *,
        hidden: bool = False,
        memory_limit: int | None = None,
        progress: Progress | None = None,
    ) -> TransformerRun:
        """The run on a batch of words of symbol indices.

        Args:
            transformer: the compiled machine, also with other layers (`TuringTransformer.softened`, `replace`).
            words: B >= 1 words, of any lengths that the encoding allows.
            hidden: whether to return the outputs of all layers.
            memory_limit: bytes; by default that of the evaluator.
            progress: told every time step when it is done; the indexed evaluator, which is fast, tells nothing.

        Raises:
            ValueError: for no word, a word that cannot be encoded, or too much memory, before any work starts; for
                weights that this evaluator does not run.
        """
        if not words:
            raise ValueError("A run needs at least one word; give [()] for the empty one.")
        for word in words:
            transformer.check_word(word)
        self.require_memory(transformer, len(words), hidden=hidden, memory_limit=memory_limit)
        return self.evaluate(transformer, words, hidden, progress)


def recording_layer(transformer: TuringTransformer) -> int:
    """The number of the last layer with self-attention, -1 if there is none.

    What a token holds at the input of this layer, in `sym2` and `pos2`, is what later steps can know of the step: the
    symbol that it wrote, and where.
    """
    looking_back = [number for number, layer in enumerate(transformer.layers) if layer.self_attention is not None]
    return looking_back[-1] if looking_back else -1


def decoded_run(
    transformer: TuringTransformer,
    outputs: Array,
    tokens: Array,
    hidden: Array | None,
    gap: Any,
    classifier: Array | None = None,
) -> TransformerRun:
    """The run, in any number system.

    Args:
        transformer: the weights.
        outputs: o_0, ..., o_T, shape (B, T + 1, d).
        tokens: the blocks of `remembered` at the input of the `recording_layer`, shape (B, T + 1, A + P).
        hidden: the outputs of all layers, or None.
        gap: the smallest gap.
        classifier: that of the transformer if None.
    """
    weights = transformer.classifier if classifier is None else classifier
    stream, symbols = transformer.layout.stream, transformer.layout.symbols
    codes, kept = _binary(outputs), _binary(tokens)
    return TransformerRun(
        states=_one_hot(codes[..., stream["st"]]),
        symbols=_one_hot(codes[..., stream["sym1"]]),
        heads=_number(codes[..., stream["pos2"]]),
        written=_one_hot(kept[..., :symbols]),
        cells=_number(kept[..., symbols:]),
        answers=outputs @ (to_float(weights) if outputs.dtype == np.float64 else weights),
        hidden=hidden,
        smallest_gap=gap,
    )


def remembered(transformer: TuringTransformer) -> Integers:
    """The coordinates of `sym2` and `pos2`: what a step wrote, and where."""
    stream = transformer.layout.stream
    return np.concatenate([stream.directions(name).coordinates for name in ("sym2", "pos2")])


def _binary(outputs: Array) -> NDArray[np.int64]:
    """0 and 1 (within 10^-4, for float32), else -1."""
    values = outputs.astype(np.float64)
    near = np.rint(values)
    good = (np.abs(values - near) < 1e-4) & ((near == 0) | (near == 1))
    return np.where(good, near, UNREADABLE).astype(np.int64)


def _one_hot(codes: NDArray[np.int64]) -> Integers:
    good = (codes >= 0).all(axis=-1) & (codes.sum(axis=-1) == 1)
    return np.where(good, codes.argmax(axis=-1), UNREADABLE)


def _number(codes: NDArray[np.int64]) -> Integers:
    powers = 2 ** np.arange(codes.shape[-1])[::-1]
    return np.where((codes >= 0).all(axis=-1), codes @ powers, UNREADABLE)
