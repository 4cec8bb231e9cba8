"""Running a compiled Turing machine for the command line: in chunks, with a tape, with checks, with checkpoints."""

from __future__ import annotations

import hashlib
import io
import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.evaluators.indexed import IndexedRun, IndexedSteps, advance_indexed, start_indexed
from lemmata.constructions.turing.evaluators.indexed_checks import Configuration, broken_layers, wrong_answers
from lemmata.constructions.turing.evaluators.outcomes import (
    Outcome,
    Readings,
    VerificationError,
    compare_cells,
    initial_outcome,
    readings_of,
    verify_outcome,
)
from lemmata.numerics.runs.files import write_atomically
from lemmata.numerics.turing.simulator import Tape, advance, new_tape

CHUNK = 1 << 15
"""Time steps between two reports of progress."""
STRIDE = 1 << 12
"""Time steps between two checks of all layers under --verify; at the beginning they are closer."""
SECONDS_BETWEEN_CHECKPOINTS = 60.0
DENSE_WINDOW = 1_024
"""Attention is compared with dense attention up to this time."""


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
            ValueError: if the index cannot answer, or outputs stop being codes.
            VerificationError: for these with --verify, and if one of its checks fails.
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
        if self.reference is not None:
            verify_outcome(self.transformer, self.outcome, self.reference)

    def _chunk(self) -> None:
        began = time.perf_counter()
        if self.reference is None:
            self.outcome.extend(self._readings(advance_indexed(self.run, CHUNK, halting=True)))
        else:
            try:
                for most, trace in ((min(STRIDE - 1, self.outcome.steps), False), (1, True)):
                    count = min(most, self.transformer.steps - self.outcome.steps)
                    if not self.outcome.halted and count > 0:
                        self._compare(advance_indexed(self.run, count, halting=True, trace=trace), count)
            except ValueError as error:
                raise VerificationError(str(error)) from error
        self.outcome.seconds += time.perf_counter() - began

    def _readings(self, steps: IndexedSteps) -> Readings:
        return readings_of(self.transformer, steps)

    def _compare(self, steps: IndexedSteps, count: int) -> None:
        """Compare all steps with the simulator, and a traced one with the invariants and with dense attention."""
        assert self.reference is not None
        machine, began = self.outcome.machine, self.outcome.steps
        before = Configuration(self.outcome.state, self.outcome.symbol, self.outcome.head)
        found = self._readings(steps)
        self.outcome.extend(found)
        expected = advance(self.reference, machine.arrays(), count, machine.terminal, self.transformer.left_end)
        for what, mine, right in (
            ("state", found.states, expected.states),
            ("symbol", found.symbols, expected.symbols),
            ("head", found.heads, expected.heads),
        ):
            n = min(len(mine), len(right))
            wrong = np.flatnonzero(mine[:n] != right[:n])
            if len(wrong):
                raise VerificationError(f"The {what} after step {began + 1 + wrong[0]} is not that of the simulator.")
        if len(steps.states):
            left, right = int(expected.heads.min(initial=before.head)), int(expected.heads.max(initial=before.head))
            if len(steps.states) == len(expected.states):  # otherwise `verify_outcome` says what is wrong
                compare_cells(self.outcome, self.reference, left, right)
        if self.outcome.halted or len(steps.states) < count or len(expected.states) < len(steps.states):
            verify_outcome(self.transformer, self.outcome, self.reference)
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
        outcome.answer = fmpq(
            int(run.stream[run.program.answer] @ run.program.answer_weights), run.program.answer_scale
        )
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


def _identity(transformer: TuringTransformer, word: tuple[int, ...], run: IndexedRun) -> str:
    """A digest of the weights, and what else must be the same for a run to go on."""
    program = run.program
    arrays = (program.code, transformer.start, program.time, program.answer, program.answer_weights)
    digest = hashlib.sha256(b"|".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()
    return json.dumps(["lemmata/turing-checkpoint", 3, digest, transformer.steps, list(word)])


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
        ValueError: as `start_indexed`, `advance_indexed`, `initial_outcome` and `IndexedSession.restore`.
        VerificationError: for these, but the last one, with --verify, and if step 0 does not put out the initial
            configuration.
    """
    machine = transformer.machine
    reference = new_tape(word, start=machine.start, blank=machine.blank) if verify else None
    try:
        run = start_indexed(transformer, word)
        outcome = initial_outcome(transformer, word, readings_of(transformer, advance_indexed(run, 1)))
    except ValueError as error:
        raise (VerificationError(str(error)) if verify else error) from error
    if reference is not None:
        verify_outcome(transformer, outcome, reference)
    session = IndexedSession(transformer, word, run, outcome, checkpoint, reference)
    if checkpoint is not None and checkpoint.exists():
        session.restore()
    return session
