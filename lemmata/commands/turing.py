"""The command `lemmata turing`: compile a Turing machine into a transformer, and run its weights."""

from __future__ import annotations

import json
import os
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lemmata._machines import machine as machine_of
from lemmata.commands.console import err, interruptible, out, refusals
from lemmata.constructions.turing.compiler import TuringTransformer, compile_turing_machine, needed_bits
from lemmata.constructions.turing.evaluators.estimate import estimated_seconds
from lemmata.constructions.turing.evaluators.indexed import advance_indexed, start_indexed
from lemmata.constructions.turing.evaluators.memory import refuse_index
from lemmata.constructions.turing.evaluators.outcomes import Outcome, VerificationError, outcome_of, verify_outcome
from lemmata.constructions.turing.evaluators.registry import EVALUATORS
from lemmata.constructions.turing.evaluators.sessions import indexed_session
from lemmata.constructions.turing.invariants import violations
from lemmata.constructions.turing.layout import TuringLayout
from lemmata.constructions.turing.machine import BUSY_BEAVERS, LEFT_ENDS, NAMED_MACHINES, LeftEnd
from lemmata.numerics.turing.simulator import advance, new_tape
from lemmata.reports.turing import print_run, print_search, run_summary
from lemmata.reports.turing_margin import MarginReport, margin_report, print_margin

__all__ = ["app"]

app = typer.Typer(add_completion=False)

HELP = (
    "Compile a Turing machine into a transformer and run its weights. MACHINE is in the format of the busy-beaver "
    f"community, such as 1RB1LB_1LA1RZ, or one of {', '.join(NAMED_MACHINES)}."
)

TOLERANCE = 1e-4  # of entries that must be 0 or 1, in float64
ESTIMATED_STEPS = 500  # more of them are estimated before they run all at once
TRACE_BYTES = 2**30  # of the streams that a drawing is made from: a byte per coordinate, before and after each layer


class Evaluator(StrEnum):
    """Which code runs the weights."""

    INDEXED = "indexed"
    DENSE = "dense"
    TORCH = "torch"
    EXACT = "exact"


@app.command(help=HELP)
def turing(
    machine: Annotated[str, typer.Argument(metavar="MACHINE", help="1RB1LB_1LA1RZ or a name, see above")],
    steps: Annotated[
        int | None,
        typer.Option(metavar="T", min=1, help="time steps for which it is compiled; of bb2 to bb5 by default its own"),
    ] = None,
    word: Annotated[
        str, typer.Option("--input", metavar="WORD", help="input: one character per symbol, or names with commas")
    ] = "",
    evaluator: Annotated[
        Evaluator, typer.Option(metavar="NAME", help=f"which code runs the weights: {', '.join(Evaluator)}")
    ] = Evaluator.INDEXED,
    trace: Annotated[int, typer.Option(metavar="N", min=0, help="draw the first N steps")] = 0,
    verify: Annotated[
        bool, typer.Option("--verify", help="compare with the simulator, and check the invariants")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the result as JSON instead of a report")] = False,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="FILE", help="keep the run here, and go on from here (indexed only)")
    ] = None,
    left_end: Annotated[
        str | None, typer.Option(metavar="RULE", help=f"what is left of the first cell: {', '.join(LEFT_ENDS)}")
    ] = None,
    margin: Annotated[
        bool, typer.Option("--margin", help="bound how far the weights may move without another answer")
    ] = False,
) -> None:
    """Where the machine is after T steps, or where it halted; exit 1 when --verify fails, 2 for bad input."""
    with refusals():
        parsed = machine_of(machine)
        steps = _halting_time(machine) if steps is None else steps
        symbols = parsed.encode(word.split(",") if "," in word else word)
        rule = _left_end(left_end) or parsed.left_end
        bits = needed_bits(steps, rule)
        refuse_index(steps, TuringLayout(len(parsed.states) + 1, len(parsed.symbols), bits))  # needs the least
        transformer = compile_turing_machine(parsed, steps, left_end=rule)
        transformer.encode(symbols)
        _refuse_early(transformer, symbols, evaluator, checkpoint, trace)
    try:
        with refusals():
            if evaluator is Evaluator.INDEXED:
                outcome, pictures = _indexed(transformer, symbols, checkpoint, verify, trace)
            else:
                outcome, pictures = _whole(transformer, symbols, evaluator, verify, trace)
    except VerificationError as error:
        err.print(f"[red]not verified[/red]: {escape(str(error))}", soft_wrap=True)
        raise typer.Exit(1) from error
    if pictures is not None:
        print_search(err if as_json else out, transformer, symbols, pictures)
    bounds = _bounds(transformer, symbols, outcome) if margin else None
    if as_json:
        summary = run_summary(transformer, outcome, evaluator.value, verify)
        summary |= {} if bounds is None else {"margin": bounds.summary(transformer)}
        typer.echo(json.dumps(summary, indent=2))
        return
    print_run(out, transformer, outcome, verify)
    if bounds is not None:
        print_margin(out, transformer, bounds)


def _bounds(transformer: TuringTransformer, word: tuple[int, ...], outcome: Outcome) -> MarginReport:
    with refusals(), err.status("bounding the margin"):
        return margin_report(transformer, word, decided=outcome.accepts is not None)


def _halting_time(name: str) -> int:
    """The steps after which a busy beaver halts, by its name on the command line."""
    known = {f"bb{states}": steps for states, (_, steps) in BUSY_BEAVERS.items()}
    if name not in known:
        raise ValueError(f"Give --steps T: only of {', '.join(known)} it is known here after how many steps they halt.")
    return known[name]


def _left_end(rule: str | None) -> LeftEnd | None:
    for known in ("refuse", "stay", "two-way"):
        if rule == known:
            return known
    if rule is not None:
        raise ValueError(f"--left-end is one of {', '.join(LEFT_ENDS)}, not {rule!r}.")
    return None


def _refuse_early(
    transformer: TuringTransformer, word: tuple[int, ...], evaluator: Evaluator, file: Path | None, trace: int
) -> None:
    """The refusal, before any work, of what cannot be finished."""
    steps = transformer.steps
    if trace > steps:
        raise ValueError(f"--trace {trace} asks for more steps than --steps {steps}.")
    if (traced := 2 * (trace + 1) * len(transformer.layers) * transformer.layout.width) > TRACE_BYTES:
        raise ValueError(
            f"--trace {trace} needs {traced / 2**30:.1f} GiB, and {TRACE_BYTES / 2**30:.1f} GiB are allowed: "
            "draw fewer steps."
        )
    if file is not None and evaluator is not Evaluator.INDEXED:
        raise ValueError("--checkpoint works with the indexed evaluator only.")
    if file is not None and (not file.parent.is_dir() or file.is_dir() or not os.access(file.parent, os.W_OK)):
        raise ValueError(f"{file} cannot be written: name a file in a writable directory.")
    if evaluator is not Evaluator.INDEXED:  # which runs in chunks and has been refused by the bytes of its index
        EVALUATORS[evaluator].require_memory(transformer, hidden=True)
    if transformer.left_end == "refuse":
        machine = transformer.machine
        tape = new_tape(word, start=machine.start, blank=machine.blank)
        while tape.steps < steps and tape.state not in machine.terminal:
            advance(tape, machine.arrays(), min(1 << 20, steps - tape.steps), machine.terminal, "refuse")


Streams = NDArray[Any]


def _indexed(
    transformer: TuringTransformer, word: tuple[int, ...], file: Path | None, verify: bool, trace: int
) -> tuple[Outcome, Streams | None]:
    pictures = None
    if trace:
        pictures = advance_indexed(start_indexed(transformer, word), trace + 1, trace=True).trace[:, :, 1]
    session = indexed_session(transformer, word, file, verify)

    def stopped() -> str:
        kept = "" if file is None else f"; the same command goes on from {file}"
        return f"stopped after step {session.outcome.steps}{kept}"

    with interruptible(stopped), _progress() as bar:
        task = bar.add_task("steps", total=transformer.steps, completed=session.outcome.steps)
        session.finish(lambda done: bar.update(task, completed=done))
    return session.outcome, pictures


def _whole(
    transformer: TuringTransformer, word: tuple[int, ...], evaluator: Evaluator, verify: bool, trace: int
) -> tuple[Outcome, Streams | None]:
    """All T steps at once; steps after the machine has halted are dropped."""
    keep, runner = verify or trace > 0, EVALUATORS[evaluator]
    if transformer.steps > ESTIMATED_STEPS:
        seconds = estimated_seconds(runner, transformer, word, hidden=keep)
        err.print(f"{transformer.steps} steps in the {evaluator} evaluator, about {_duration(seconds)}", soft_wrap=True)
    began = time.perf_counter()
    with _progress() as bar:
        task = bar.add_task("steps", total=transformer.steps)
        run = runner.run(transformer, [word], hidden=keep, progress=lambda done: bar.update(task, completed=done))
    seconds = time.perf_counter() - began
    try:
        outcome = outcome_of(transformer, word, run)
    except ValueError as error:
        raise (VerificationError(str(error)) if verify else error) from error
    outcome.seconds = seconds
    if verify and run.hidden is not None:
        _verify(transformer, word, evaluator, run.hidden, outcome)
    pictures = None if not trace or run.hidden is None else np.rint(run.hidden[0, : trace + 1].astype(float))
    return outcome, pictures


def _verify(
    transformer: TuringTransformer, word: tuple[int, ...], evaluator: Evaluator, hidden: Streams, outcome: Outcome
) -> None:
    """VerificationError unless all layers of all steps, and then the outcome, are those of the simulator."""
    tolerance = 0.0 if evaluator is Evaluator.EXACT else TOLERANCE
    if wrong := violations(transformer, word, hidden[0], tolerance=tolerance, limit=1):
        where = wrong[0]
        raise VerificationError(
            f"Layer {where.layer} at time {where.time}: {where.block}[{where.index}] is {where.found}, "
            f"not {where.expected}."
        )
    machine = transformer.machine
    tape = new_tape(word, start=machine.start, blank=machine.blank)
    advance(tape, machine.arrays(), transformer.steps, machine.terminal, transformer.left_end)
    verify_outcome(transformer, outcome, tape)


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=err, transient=True)


def _duration(seconds: float) -> str:
    for size, unit in ((3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"
