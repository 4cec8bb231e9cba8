"""Where a machine is, as the tokens of its transformer and the classifier tell it; comparison with the simulator.

The machine's table is not asked: states, symbols and heads are read off the outputs, the tape off what the tokens of
the steps remember (`lemmata.constructions.turing.evaluators.run.recording_layer`) and the encoder's outputs, and
whether the machine has halted, and how, off the classifier.

Source: turing, setup-C.1, (C.2), construction-assembled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.evaluators.indexed import IndexedSteps
from lemmata.constructions.turing.evaluators.run import UNREADABLE, TransformerRun
from lemmata.constructions.turing.machine import TuringMachine
from lemmata.numerics.turing.simulator import Tape

_ROOM = 1 << 15  # cells by which the tape grows at least

UNREAD = -2
"""Of a cell that no token of the input or of a step tells anything about."""

UNDECIDED = 1e-4
"""How far an answer in floats may be from 0, +1 or -1."""


class VerificationError(Exception):
    """A check of --verify failed."""


@dataclass
class Outcome:
    """The machine as the tokens of a transformer and its classifier tell it; heads are counted from the start cell.

    ``cells`` begins at the head position ``origin`` and holds the symbol last written to a cell, or of the input;
    ``left`` and ``right`` bound the cells visited. ``answer`` is the classifier at the last output. The machine gives
    names to states and symbols alone.
    """

    machine: TuringMachine
    cells: NDArray[np.int16]
    state: int
    symbol: int
    steps: int = 0
    head: int = 0
    origin: int = 0
    left: int = 0
    right: int = 0
    seconds: float = 0.0
    answer: Any = 0

    @property
    def halted(self) -> bool:
        """Whether the classifier answers."""
        return not _is_answer(self.answer, 0)

    @property
    def accepts(self) -> bool | None:
        """The answer of the classifier, None as long as there is none."""
        return bool(self.answer > 0) if self.halted else None

    def cell(self, position: int) -> int:
        """The symbol at a head position, -1 or -2 where no token tells it."""
        if position == self.head:
            return self.symbol
        index = position - self.origin
        return int(self.cells[index]) if 0 <= index < len(self.cells) else UNREAD

    def visited(self) -> NDArray[np.int16]:
        """The symbols from the leftmost to the rightmost visited cell, -1 or -2 where no token tells them."""
        result = self.cells[self.left - self.origin : self.right - self.origin + 1].copy()
        result[self.head - self.left] = self.symbol
        return result

    def tape(self) -> list[str]:
        """The names of the symbols from the leftmost to the rightmost visited cell, ? where no token tells them."""
        names = [*self.machine.symbols, "?", "?"]  # the last two for -1 and -2
        return [names[a] for a in self.visited().tolist()]

    def extend(self, steps: Readings) -> None:
        """Take further steps.

        Raises:
            ValueError: for outputs that encode no state or no symbol.
        """
        if not len(steps.states):
            return
        if steps.states.min() < 0 or steps.symbols.min() < 0 or steps.states.max() >= len(self.machine.states):
            raise ValueError(f"The outputs after step {self.steps} stop being codes of states and symbols.")
        places = np.concatenate([steps.heads, steps.cells])
        left, right = min(self.left, int(places.min())), max(self.right, int(places.max()))
        self._make_room(left, right)
        self.cells[steps.cells - self.origin] = steps.written  # of equal cells the last one counts
        self.left, self.right = left, right
        self.state, self.symbol, self.head = int(steps.states[-1]), int(steps.symbols[-1]), int(steps.heads[-1])
        self.steps, self.answer = self.steps + len(steps.states), steps.answer

    def _make_room(self, left: int, right: int) -> None:
        slack = max(_ROOM, len(self.cells) // 2)  # so that growing is rare
        before = self.origin - left
        after = right - (self.origin + len(self.cells) - 1)
        pads = (before + slack if before > 0 else 0, after + slack if after > 0 else 0)
        if any(pads):
            self.cells = np.pad(self.cells, pads, constant_values=UNREAD)
            self.origin -= pads[0]


class Readings(NamedTuple):
    """What was read off the tokens of n consecutive steps, heads and cells from the start cell; the last answer."""

    states: NDArray[np.int64]
    symbols: NDArray[np.int64]
    heads: NDArray[np.int64]
    written: NDArray[np.int64]
    cells: NDArray[np.int64]
    answer: Any


def readings_of(transformer: TuringTransformer, steps: IndexedSteps) -> Readings:
    """The readings of steps of the indexed evaluator."""
    start = transformer.start_cell
    return Readings(
        steps.states.astype(np.int64),
        steps.symbols.astype(np.int64),
        steps.heads - start,
        steps.written.astype(np.int64),
        steps.cells - start,
        fmpq(int(steps.answers[-1]), steps.scale) if len(steps.answers) else 0,
    )


def initial_outcome(transformer: TuringTransformer, word: Sequence[int], first: Readings) -> Outcome:
    """The machine before its first step, as the encoder's tokens and the output of step 0 tell it.

    Raises:
        ValueError: for an output that encodes no state or no symbol.
    """
    cells = np.full(len(word) + 1, UNREAD, np.int16)
    for position, symbol in encoded_tape(transformer, word).items():
        if 0 <= position < len(word):
            cells[position] = symbol
    outcome = Outcome(transformer.machine, cells, 0, 0, steps=-1, left=int(first.heads[0]), right=int(first.heads[0]))
    outcome.extend(first._replace(written=first.written[:0], cells=first.heads[:0]))
    return outcome


def encoded_tape(transformer: TuringTransformer, word: Sequence[int]) -> dict[int, int]:
    """The symbols of the input by head position, as the encoder's outputs hold them; -1 for what is no symbol."""
    stream, result = transformer.layout.stream, dict[int, int]()
    for row in transformer.encode(word):
        symbol, place = row[stream["sym1"]], row[stream["pos1"]]
        position = int("".join(str(int(bit)) for bit in place), 2) - transformer.start_cell
        result[position] = int(symbol.argmax()) if sorted(symbol) == [0] * (len(symbol) - 1) + [1] else UNREADABLE
    return result


def outcome_of(transformer: TuringTransformer, word: Sequence[int], run: TransformerRun) -> Outcome:
    """Where the machine is at the end of a run on one word; steps after the classifier has answered are left out.

    Raises:
        ValueError: for outputs that encode no state or no symbol.
    """
    last = next((i for i, answer in enumerate(run.answers[0].tolist()) if not _is_answer(answer, 0)), transformer.steps)
    start = transformer.start_cell
    columns = run.states, run.symbols, run.heads - start, run.written, run.cells - start
    places = np.concatenate([run.heads[0, : last + 1], run.cells[0, 1 : last + 1]])
    if (places == UNREADABLE).any():
        raise ValueError(f"The outputs of the first {last} steps do not all encode a cell.")

    def readings(first: int, stop: int) -> Readings:
        return Readings(*(column[0, first:stop] for column in columns), answer=run.answers[0, stop - 1])

    outcome = initial_outcome(transformer, word, readings(0, 1))
    outcome.extend(readings(1, last + 1))
    return outcome


def verify_outcome(transformer: TuringTransformer, outcome: Outcome, reference: Tape) -> None:
    """Compare state, symbol, head, tape, halting and answer with the simulator, after as many steps.

    Raises:
        VerificationError: naming the first of them that differs.
    """
    machine = transformer.machine
    accepts, rejects = reference.state in machine.accept, reference.state in machine.reject
    pairs = {
        "number of steps": (outcome.steps, reference.steps),
        "state": (outcome.state, reference.state),
        "head": (outcome.head, reference.head),
        "leftmost visited cell": (outcome.left, reference.left),
        "rightmost visited cell": (outcome.right, reference.right),
    }
    for what, (found, right) in pairs.items():
        if found != right:
            raise VerificationError(f"The {what} after step {outcome.steps} is {found}, not {right}.")
    compare_cells(outcome, reference, outcome.left, outcome.right)
    if not _is_answer(outcome.answer, accepts - rejects):
        raise VerificationError(
            f"The classifier answers {outcome.answer} after step {outcome.steps}, not {accepts - rejects}."
        )


def _is_answer(found: Any, expected: int) -> bool:
    """Whether an answer is this one: exactly, or up to rounding if it is a float."""
    return abs(found - expected) <= UNDECIDED if isinstance(found, float) else bool(found == expected)


def compare_cells(outcome: Outcome, reference: Tape, left: int, right: int) -> None:
    """VerificationError if some cell from left to right is not what the simulator has there."""
    found = outcome.cells[left - outcome.origin : right - outcome.origin + 1].copy()
    if left <= outcome.head <= right:
        found[outcome.head - left] = outcome.symbol
    expected = reference.cells[left + reference.origin : right + reference.origin + 1]
    wrong = np.flatnonzero(found != expected)
    if len(wrong):
        raise VerificationError(
            f"The tape after step {outcome.steps} holds the symbol {found[wrong[0]]} in cell {left + wrong[0]}, not "
            f"{expected[wrong[0]]} (negative: no token tells a symbol)."
        )
