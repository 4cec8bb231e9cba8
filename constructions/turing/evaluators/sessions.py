"""Running a compiled Turing machine for the command line: in chunks, with a tape, with checks, with checkpoints."""

from __future__ import annotations

import hashlib
import io
import json
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from constructions.turing.compiler import TuringTransformer
from constructions.turing.evaluators.indexed import IndexedRun, IndexedSteps, advance_indexed, start_indexed
from constructions.turing.evaluators.indexed_checks import Configuration, broken_layers, wrong_answers
from constructions.turing.evaluators.run import TransformerRun
from constructions.turing.machine import TuringMachine
from numerics.runs.files import write_atomically
from numerics.turing.simulator import Tape, advance, new_tape

CHUNK = 1 << 15
"""Time steps between two reports of progress."""
STRIDE = 1 << 12
"""Time steps between two checks of all layers under --verify; at the beginning they are closer."""
SECONDS_BETWEEN_CHECKPOINTS = 60.0
DENSE_WINDOW = 1_024
"""Attention is compared with dense attention up to this time."""


@dataclass
class Outcome:
    """The machine as the outputs of a transformer tell it; heads are counted from the start cell.

    ``cells`` begins at the head position ``origin``; ``left`` and ``right`` bound the cells visited.
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

    @property
    def halted(self) -> bool:
        """Whether the state is terminal."""
        return self.state in self.machine.terminal

    def tape(self) -> list[str]:
        """The names of the symbols from the leftmost to the rightmost visited cell."""
        visited = self.cells[self.left - self.origin : self.right - self.origin + 1]
        return [self.machine.symbols[a] for a in visited.tolist()]

    def extend(self, states: NDArray[np.int64], symbols: NDArray[np.int64], heads: NDArray[np.int64]) -> None:
        """Take further steps, given what was read off the outputs after each of them.

        Raises:
            ValueError: for outputs that encode no state or no symbol.
        """
        if not len(states):
            return
        if states.min() < 0 or symbols.min() < 0 or states.max() >= len(self.machine.states):
            raise ValueError(f"The outputs after step {self.steps} stop being codes of states and symbols.")
        old = [np.concatenate([[first], later[:-1]]) for first, later in
               ((self.state, states), (self.symbol, symbols), (self.head, heads))]  # fmt: skip
        left, right = min(self.left, int(heads.min())), max(self.right, int(heads.max()))
        self._make_room(left, right)
        written = self.machine.arrays()[1][old[0], old[1]]
        self.cells[old[2] - self.origin] = written  # of equal cells the last one counts
        self.left, self.right = left, right
        self.state, self.symbol, self.head = int(states[-1]), int(symbols[-1]), int(heads[-1])
        self.steps += len(states)

    def _make_room(self, left: int, right: int) -> None:
        slack = max(CHUNK, len(self.cells) // 2)  # so that growing is rare
        before = self.origin - left
        after = right - (self.origin + len(self.cells) - 1)
        pads = (before + slack if before > 0 else 0, after + slack if after > 0 else 0)
        if any(pads):
            self.cells = np.pad(self.cells, pads, constant_values=self.machine.blank)
            self.origin -= pads[0]


def initial_outcome(machine: TuringMachine, word: Sequence[int]) -> Outcome:
    """The machine before its first step."""
    cells = np.array([*word, machine.blank], np.int16)
    return Outcome(machine, cells, machine.start, int(cells[0]))


def outcome_of(transformer: TuringTransformer, word: Sequence[int], run: TransformerRun) -> Outcome:
    """Where the machine is at the end of a run on one word; steps after it has halted are left out."""
    outcome = initial_outcome(transformer.machine, word)
    terminal = np.isin(run.states[0], list(transformer.machine.terminal))
    last = int(terminal.argmax()) if terminal.any() else transformer.steps
    heads = run.heads[0] - transformer.start_cell
    outcome.extend(run.states[0, 1 : last + 1], run.symbols[0, 1 : last + 1], heads[1 : last + 1])
    return outcome


@dataclass
class IndexedSession:
    """A run of the indexed evaluator with everything that a checkpoint keeps."""

    transformer: TuringTransformer
    word: tuple[int, ...]
    run: IndexedRun
    outcome: Outcome
    checkpoint: Path | None = None
    reference: Tape | None = None
    checked: list[int] = field(default_factory=list)

    def finish(self, report: Callable[[int], None]) -> None:
        """Run until the machine halts or T steps are done; ``report`` is told the steps done.

        An interrupt (Ctrl-C) waits for the end of a chunk and leaves a checkpoint.

        Raises:
            ValueError: if the index cannot answer, or a check of --verify fails.
        """
        saved = time.monotonic()
        with _deferred_interrupts() as interrupts:
            while not self.outcome.halted and self.outcome.steps < self.transformer.steps:
                self._chunk()
                report(self.outcome.steps)
                if interrupts:
                    break
                if self.checkpoint is not None and time.monotonic() - saved > SECONDS_BETWEEN_CHECKPOINTS:
                    self.save()
                    saved = time.monotonic()
        if self.checkpoint is not None:
            self.save()
        if interrupts:
            raise KeyboardInterrupt

    def _chunk(self) -> None:
        began = time.perf_counter()
        halting = self.outcome.machine.terminal
        if self.run.time == 0:
            first = advance_indexed(self.run, 1)
            if first.states[0] != self.outcome.state or first.symbols[0] != self.outcome.symbol:
                raise ValueError("Step 0 did not read the first symbol in the initial state.")
        if self.reference is None:
            self._extend(advance_indexed(self.run, CHUNK, halting))
        else:
            for count, trace in ((min(STRIDE - 1, self.outcome.steps), False), (1, True)):
                if not self.outcome.halted and self.outcome.steps < self.transformer.steps:
                    self._compare(advance_indexed(self.run, count, halting, trace), count)
        self.outcome.seconds += time.perf_counter() - began

    def _extend(self, steps: IndexedSteps) -> None:
        heads = steps.heads - self.transformer.start_cell
        self.outcome.extend(steps.states.astype(np.int64), steps.symbols.astype(np.int64), heads)

    def _compare(self, steps: IndexedSteps, count: int) -> None:
        """Compare all steps with the simulator, and a traced one with the invariants and with dense attention."""
        assert self.reference is not None
        machine, began = self.outcome.machine, self.outcome.steps
        before = Configuration(self.outcome.state, self.outcome.symbol, self.outcome.head)
        self._extend(steps)
        expected = advance(self.reference, machine.arrays(), count, machine.terminal, self.transformer.left_end)
        heads = steps.heads - self.transformer.start_cell
        for what, found, right in (
            ("state", steps.states, expected.states),
            ("symbol", steps.symbols, expected.symbols),
            ("head", heads, expected.heads),
        ):
            n = min(len(found), len(right))
            wrong = np.flatnonzero(found[:n] != right[:n])
            if len(wrong) or (len(found) != len(right) and self.outcome.steps < self.transformer.steps):
                step = began + 1 + (int(wrong[0]) if len(wrong) else n)
                raise VerificationError(f"The {what} after step {step} is not that of the simulator.")
        if len(steps.trace):
            self._check_layers(before, steps)

    def _check_layers(self, before: Configuration, steps: IndexedSteps) -> None:
        step = self.outcome.steps
        after = Configuration(self.outcome.state, self.outcome.symbol, self.outcome.head)
        last_visit = int(steps.last_visits[0])
        broken = broken_layers(self.transformer, self.word, step, before, after, last_visit, steps.trace[0])
        if step <= DENSE_WINDOW:
            broken += wrong_answers(self.run, steps.trace[0])
        if broken:
            raise VerificationError(f"The invariants fail in step {step}, in the layers {', '.join(broken)}.")
        self.checked.append(step)

    def save(self) -> None:
        """Write the checkpoint, atomically."""
        assert self.checkpoint is not None
        run, done = self.run, self.run.time
        visited = np.flatnonzero(run.index.last)
        outcome = self.outcome
        numbers = [run.time, run.walked, outcome.state, outcome.symbol, outcome.steps, outcome.head]
        numbers += [outcome.origin, outcome.left, outcome.right]
        data: dict[str, Any] = {
            "numbers": np.array(numbers, np.int64),
            "seconds": np.array(outcome.seconds),
            "stream": run.stream,
            "places": visited,
            "last": run.index.last[visited],
            "previous": run.index.previous[:done],
            "payload": run.index.payload[:done],
            "cells": outcome.cells,
            "verified": np.array(self.reference is not None),
        }
        buffer = io.BytesIO()
        np.savez(
            buffer,
            identity=np.array(_identity(self.transformer, self.word, run)),
            digest=np.array(_digest(data)),
            **data,
        )
        write_atomically(buffer.getvalue(), self.checkpoint)

    def restore(self) -> None:
        """Go on where the checkpoint stopped.

        Raises:
            ValueError: if the file is no checkpoint, was changed, belongs to another machine, input or number of steps,
                or was left by a run without --verify where this one has it.
        """
        assert self.checkpoint is not None
        try:
            with np.load(self.checkpoint, allow_pickle=False) as file:
                data = {name: file[name] for name in file.files}
            identity, digest = str(data.pop("identity")), str(data.pop("digest"))
        except (ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
            raise ValueError(f"{self.checkpoint} is no checkpoint of lemmata turing: {error}") from error
        if identity != _identity(self.transformer, self.word, self.run):
            raise ValueError(
                f"{self.checkpoint} belongs to another machine, input or number of steps; remove it first."
            )
        if digest != _digest(data):
            raise ValueError(f"{self.checkpoint} was changed after it was written; remove it first.")
        if self.reference is not None and not data["verified"]:
            raise ValueError(
                f"{self.checkpoint} was left by a run without --verify, whose steps nobody has checked: remove it "
                "first, or go on without --verify."
            )
        run, outcome = self.run, self.outcome
        numbers = [int(x) for x in data["numbers"]]
        run.time, run.walked, outcome.state, outcome.symbol, outcome.steps, outcome.head = numbers[:6]
        outcome.origin, outcome.left, outcome.right = numbers[6:]
        outcome.cells, outcome.seconds = data["cells"], float(data["seconds"])
        run.stream[:] = data["stream"]
        run.index.last[data["places"]] = data["last"]
        run.index.previous[: run.time] = data["previous"]
        run.index.payload[: run.time] = data["payload"]
        if self.reference is not None:
            advance(self.reference, outcome.machine.arrays(), outcome.steps, left_end=self.transformer.left_end)


@contextmanager
def _deferred_interrupts() -> Iterator[list[int]]:
    """Collect interrupts instead of raising them: one in the middle of a chunk would tear the run apart."""
    interrupts: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield interrupts  # signals reach the main thread only
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: interrupts.append(number))
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)


class VerificationError(Exception):
    """A check of --verify failed."""


def _identity(transformer: TuringTransformer, word: tuple[int, ...], run: IndexedRun) -> str:
    """A digest of the weights, and what else must be the same for a run to go on."""
    digest = hashlib.sha256(run.program.code.tobytes() + transformer.start.tobytes()).hexdigest()
    return json.dumps(["lemmata/turing-checkpoint", 2, digest, transformer.steps, list(word)])


def _digest(data: dict[str, NDArray[Any]]) -> str:
    """A digest of the arrays of a checkpoint, their names, types and shapes."""
    digest = hashlib.sha256()
    for name, array in sorted(data.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def indexed_session(
    transformer: TuringTransformer, word: tuple[int, ...], checkpoint: Path | None, verify: bool
) -> IndexedSession:
    """A session at its beginning, or where its checkpoint stopped.

    Raises:
        ValueError: as `start_indexed` and `IndexedSession.restore`.
    """
    machine = transformer.machine
    reference = new_tape(word, start=machine.start, blank=machine.blank) if verify else None
    session = IndexedSession(
        transformer, word, start_indexed(transformer, word), initial_outcome(machine, word), checkpoint, reference
    )
    if checkpoint is not None and checkpoint.exists():
        session.restore()
    return session
