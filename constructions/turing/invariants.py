"""What every layer of the Turing-machine transformer must hold at every time, computed from a run of the machine alone.

Nothing here looks at a weight. The run comes from the reference simulator, with its tape and its table of last visits;
`expected_hidden` writes it down in the named coordinates, layer by layer, and `violations` compares a run with it. The
equations of the source after each group of layers: (C.4) after C.1b, (C.5) after C.2c, (C.8) after C.4, (C.11) after
each bit of C.5, (C.6) after C.6, (C.15) after C.7, (C.16) = (C.2) after C.8c; the layers between them are listed too.

Source: turing, setup-C.1, lemma-C.1 to lemma-C.8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.machine import TuringMachine
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.turing.simulator import Run, simulate

Codes = NDArray[np.int8]

NO_CODE = -1
"""Stands for every digit of a number that P bits cannot write: no output is equal to it."""


@dataclass(frozen=True)
class Violation:
    """One entry of one layer at one time that is not what it must be."""

    time: int
    layer: str
    block: str
    index: int
    expected: int
    found: Any


def reference_run(transformer: TuringTransformer, word: Sequence[int]) -> Run:
    """The run of the machine by the simulator, on the tape for which the transformer was compiled.

    Raises:
        ValueError: if the machine leaves the tape to the left where that is refused.
    """
    machine = transformer.machine
    rule = transformer.left_end
    return simulate(machine.arrays(), word, transformer.steps, start=machine.start, blank=machine.blank, left_end=rule)


def expected_hidden(transformer: TuringTransformer, word: Sequence[int]) -> Codes:
    """The outputs of all layers at the times 0, ..., T, shape (T + 1, layers, d); -1 where no code exists.

    Raises:
        ValueError: as `reference_run`.
    """
    book = _Book(transformer, word)
    by_name = {
        "C.1a": book.pairs,
        "C.1b": lambda: book.moved("q"),
        "C.2 end": lambda: {**book.moved("q"), "aux": _padded(book.at_end[:, None], book.sizes["aux"])},
        "C.2 stay": lambda: book.moved("q after"),
        "C.2a": book.carries,
        "C.2b": book.halves,
        "C.2c": lambda: book.kept("pos3"),
        "C.4": lambda: book.found(0),
        "C.6": lambda: {**book.found(0), "scr1": book.last_written},
        "C.7": book.looked_up,
        "C.8a": book.choice,
        "C.8b": book.gated,
        "C.8c": book.output,
    }
    T, names = transformer.steps, [layer.name for layer in transformer.layers]
    result = np.zeros((T + 1, len(names), transformer.layout.width), dtype=np.int8)
    for number, name in enumerate(names):
        bit = name.removeprefix("C.5 bit ")
        blocks = book.found(int(bit)) if bit != name else by_name[name]()
        for block, values in blocks.items():
            result[:, number, transformer.layout.stream[block]] = values
    return result


def violations(
    transformer: TuringTransformer, word: Sequence[int], hidden: Array, *, tolerance: float = 0.0, limit: int = 20
) -> list[Violation]:
    """The first entries, by time and layer, in which a run differs from what it must hold; empty if all is right.

    Args:
        transformer: the compiled machine.
        word: the input.
        hidden: the outputs of all layers, shape (T + 1, layers, d), exact or floats.
        tolerance: how far an entry may be off, for floats.
        limit: how many to return.

    Raises:
        ValueError: for another shape of ``hidden``; as `reference_run`.
    """
    expected = expected_hidden(transformer, word)
    if hidden.shape != expected.shape:
        raise ValueError(f"The outputs of all layers must have shape {expected.shape}, not {hidden.shape}.")
    wrong = hidden != expected if not tolerance else ~(np.abs(hidden - expected) <= tolerance)
    return [
        Violation(
            int(time),
            transformer.layers[number].name,
            *_block(transformer, int(coordinate)),
            int(expected[time, number, coordinate]),
            hidden[time, number, coordinate],
        )
        for time, number, coordinate in np.argwhere(wrong)[:limit].tolist()
    ]


def _block(transformer: TuringTransformer, coordinate: int) -> tuple[str, int]:
    for name in transformer.layout.stream.sizes:
        where = transformer.layout.stream[name]
        if where.start <= coordinate < where.stop:
            return name, coordinate - where.start
    raise AssertionError("Every coordinate belongs to a block.")


class _Book:
    """The run as columns over the times 0, ..., T; cells are counted as in the transformer."""

    def __init__(self, transformer: TuringTransformer, word: Sequence[int]) -> None:
        machine, layout = transformer.machine, transformer.layout
        self.bits, self.symbols, self.sizes = layout.bits, layout.symbols, dict(layout.stream.sizes)
        run = reference_run(transformer, word)
        self.time = np.arange(transformer.steps + 1)
        state, symbol = np.array(run.states), np.array(run.symbols)
        self.head = np.array(run.heads) + transformer.start_cell
        self.old_head = np.concatenate([[transformer.start_cell - 1], self.head[:-1]])
        self.old_state = np.concatenate([[layout.states - 1], state[:-1]])
        self.old_symbol = np.concatenate([[machine.blank], symbol[:-1]])
        self.state, self.symbol = _one_hot(state, layout.states), _one_hot(symbol, self.symbols)
        written = np.array([machine.blank, *run.written[1:]])
        self.written = _one_hot(written, self.symbols)
        self.visit = np.array(run.last_visit)
        self.last_written = _one_hot(written[self.visit], self.symbols) * (self.visit > 0)[:, None]
        self._moves(machine, transformer.left_end == "stay")
        self._input(word, transformer.start_cell)
        self.blank = machine.blank

    def _moves(self, machine: TuringMachine, stays: bool) -> None:
        moves = np.array([[step.move for step in row] for row in machine.table] + [[1] * self.symbols])
        move = moves[self.old_state, self.old_symbol]
        self.raw = np.stack([move == -1, move == 1], axis=1).astype(np.int8)
        self.at_end = (self.old_head == 1).astype(np.int8)
        stopped = np.stack([self.at_end, np.zeros_like(self.at_end)], axis=1)
        self.effective = self.raw * (1 - stopped) if stays else self.raw

    def _input(self, word: Sequence[int], start: int) -> None:
        index = self.head - start
        self.within = (index >= 0) & (index < len(word))
        letters = np.array([*word, 0])[np.where(self.within, index, -1)]
        self.read = _one_hot(letters, self.symbols) * self.within[:, None]

    def code(self, numbers: NDArray[np.int64]) -> Codes:
        digits = numbers[:, None] // 2 ** np.arange(self.bits)[::-1] % 2
        fits = (numbers >= 0) & (numbers < 2**self.bits)
        return np.where(fits[:, None], digits, NO_CODE).astype(np.int8)

    def pairs(self) -> dict[str, Array]:
        pair = _one_hot(self.old_state * self.symbols + self.old_symbol, self.sizes["aux"])
        return {"aux": pair, "pos1": self.code(self.time), "pos2": self.code(self.old_head)}

    def kept(self, *more: str) -> dict[str, Array]:
        """The blocks that all searches keep; (C.5) with "pos3"."""
        blocks = {"st": self.state, "sym2": self.written, "pos1": self.code(self.time)}
        blocks["pos2"] = self.code(self.old_head)
        return blocks | ({"pos3": self.code(self.head)} if "pos3" in more else {})

    def moved(self, which: str) -> dict[str, Array]:
        """(C.4), with the move of the table, or the one that is left of it at the left end of the tape."""
        return {**self.kept(), "q": self.raw if which == "q" else self.effective}

    def _flips(self) -> tuple[Array, Array]:
        """For every digit: whether a carry comes in (all lower digits 1, right), and a borrow (all 0, left)."""
        place = 2 ** np.arange(self.bits)[::-1]
        lower = self.old_head[:, None] % place
        return (lower == place - 1) * self.effective[:, 1:], (lower == 0) * self.effective[:, :1]

    def carries(self) -> dict[str, Array]:
        return {**self.kept(), "aux": _padded(np.hstack(self._flips()), self.sizes["aux"])}

    def halves(self) -> dict[str, Array]:
        carry, borrow = self._flips()
        flip, digit = carry + borrow, self.code(self.old_head)
        halves = np.hstack([digit * (1 - flip), flip * (1 - digit)])
        return {**self.kept(), "aux": _padded(halves, self.sizes["aux"])}

    def found(self, bits: int) -> dict[str, Array]:
        """(C.8), (C.11): whether the cell was visited, and the first digits of the time of the last visit."""
        flags = np.zeros((len(self.time), 3), dtype=np.int8)
        flags[:, 0] = self.visit > 0
        digits = self.code(self.visit)
        digits[:, bits:] = 0
        return {**self.kept("pos3"), "scr4": flags, "scr3": digits}

    def looked_up(self) -> dict[str, Array]:
        """(C.15)."""
        blocks = {**self.found(0), "scr1": self.last_written, "scr2": self.read}
        blocks["scr4"][:, 1] = self.within
        return blocks

    def _choices(self) -> Array:
        old = self.visit > 0
        return np.stack([old, self.within & ~old, ~self.within & ~old], axis=1).astype(np.int8)

    def choice(self) -> dict[str, Array]:
        found = {"st": self.state, "pos3": self.code(self.head), "scr1": self.last_written, "scr2": self.read}
        return {**found, "aux": _padded(self._choices(), self.sizes["aux"])}

    def gated(self) -> dict[str, Array]:
        choices = self._choices()
        blank = choices * [0, 0, 1]
        gated = {"scr1": self.last_written * choices[:, :1], "scr2": self.read * choices[:, 1:2]}
        return {"st": self.state, "pos3": self.code(self.head), **gated, "aux": _padded(blank, self.sizes["aux"])}

    def output(self) -> dict[str, Array]:
        """(C.16) = (C.2)."""
        return {"st": self.state, "sym1": self.symbol, "pos2": self.code(self.head)}


def _one_hot(indices: NDArray[np.int64], size: int) -> Codes:
    return (indices[:, None] == np.arange(size)).astype(np.int8)


def _padded(values: Array, size: int) -> Codes:
    result = np.zeros((len(values), size), dtype=np.int8)
    result[:, : values.shape[1]] = values
    return result
