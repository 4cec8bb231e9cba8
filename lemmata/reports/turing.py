"""Reports of a Turing machine that ran as a transformer: where it ended, and how it looks back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.markup import escape

from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.evaluators.outcomes import Outcome, encoded_tape

__all__ = ["print_run", "print_search", "run_summary"]

SHOWN_CELLS = 15  # on each side of the head, where there is room
LABELS = 26  # columns before the tape
MOST_SHOWN = 200  # cells of the final tape in a report
RATED_STEPS = 10_000  # fewer steps take no longer than loading the kernels


def run_summary(transformer: TuringTransformer, outcome: Outcome, evaluator: str, verify: bool) -> dict[str, Any]:
    """What ``lemmata turing --json`` prints."""
    tape = outcome.tape()
    machine = outcome.machine
    return {
        "machine": machine.name,
        "evaluator": evaluator,
        "steps": outcome.steps,
        "halted": outcome.halted,
        "accepts": outcome.accepts,
        "state": machine.states[outcome.state],
        "head": outcome.head,
        "tape": "".join(tape) if all(len(name) == 1 for name in machine.symbols) else tape,
        "leftmost": outcome.left,
        "position_bits": transformer.layout.bits,
        "layers": len(transformer.layers),
        "width": transformer.width,
        "verified": True if verify else None,
        "seconds": round(outcome.seconds, 6),
    }


def print_run(out: Console, transformer: TuringTransformer, outcome: Outcome, verify: bool) -> None:
    """The report of where the machine is, its tape, and the size and speed of the transformer."""
    machine, tape = outcome.machine, outcome.tape()
    ended = "halted" if outcome.halted else "has not halted"
    answer = {None: "", True: ", accepting", False: ", rejecting"}[outcome.accepts]
    out.print(
        f"{escape(machine.name)}: {ended} after {outcome.steps} steps in state "
        f"{escape(machine.states[outcome.state])}{answer}, head at {outcome.head} from the start cell",
        soft_wrap=True,
    )
    left = max(0, outcome.head - outcome.left - MOST_SHOWN // 2)
    shown = "".join(tape[left : left + MOST_SHOWN])
    cut = f" (cells {outcome.left + left} to {outcome.left + left + len(shown) - 1})" if len(shown) < len(tape) else ""
    out.print(f"tape, {len(tape)} cells from {outcome.left} to {outcome.right}{cut}: {escape(shown)}", soft_wrap=True)
    rate = f", {outcome.seconds / outcome.steps * 1e6:.1f} µs per step" if outcome.steps >= RATED_STEPS else ""
    out.print(
        f"transformer: {len(transformer.layers)} layers of width {transformer.width}, "
        f"{transformer.layout.bits} bits of position; {outcome.seconds:.2f} s{rate}",
        soft_wrap=True,
    )
    if verify:
        text = "steps, tape and answer equal those of the simulator, and the layers hold what the invariants say"
        out.print(f"[green]verified[/green]: {text}", soft_wrap=True)


def print_search(
    console: Console, transformer: TuringTransformer, word: tuple[int, ...], streams: NDArray[Any]
) -> None:
    """The drawing of the tape and of the binary search for the last visit, one line each per step.

    streams: the outputs of all layers at the steps 0, ..., N, shape (N + 1, layers, width), of zeros and ones.
    """
    machine = transformer.machine
    stream, names = transformer.layout.stream, [layer.name for layer in transformer.layers]
    tape, origin = encoded_tape(transformer, word), transformer.start_cell
    shown = [*machine.symbols, "?"]  # the last one for -1
    beside = max(2, min(SHOWN_CELLS, (console.width - LABELS - 3) // 2))
    indent = " " * (LABELS if console.width >= 80 else 2)
    note = "below each step: the time of the last visit to this cell as attention finds it, one binary digit a layer"
    console.print(f"{'step':>6} {'state':>10} {'head':>6}  tape around the head\n{note}", markup=False, soft_wrap=True)
    for time_step, layers in enumerate(streams.astype(int)):
        o = layers[-1]
        head = _number(o[stream["pos2"]]) - origin
        if time_step:
            moved = layers[names.index("C.1b")]
            tape[_number(moved[stream["pos2"]]) - origin] = _single(moved[stream["sym2"]])
        cells = range(head - beside, head + beside + 1)
        row = [shown[tape.get(cell, machine.blank)] for cell in cells]
        row[beside] = f"[{row[beside]}]"
        state = [*machine.states, "start", "?"][_single(o[stream["st"]])]
        console.print(f"{time_step:>6} {state:>10} {head:>6}  {''.join(row)}", markup=False, soft_wrap=True)
        if time_step:
            found = _search(layers, names, stream["scr3"], stream["scr4"])
            console.print(indent + found, markup=False, soft_wrap=True)


def _search(layers: NDArray[np.int64], names: list[str], block: slice, flags: slice) -> str:
    """The digits of the last visit as the layers find them."""
    if not layers[names.index("C.4"), flags][0]:
        return "never visited: the null pair wins"
    found = [layers[n, block] for n, name in enumerate(names) if name.startswith("C.5")]
    digits = ["".join(str(bit) for bit in row[: j + 1]) for j, row in enumerate(found)]
    return f"last visit {' '.join(digits)} = step {_number(found[-1])}"


def _single(bits: NDArray[np.int64]) -> int:
    """The position of the only 1, or -1."""
    ones = np.flatnonzero(bits)
    return int(ones[0]) if len(ones) == 1 else -1


def _number(bits: NDArray[np.int64]) -> int:
    return int("".join(str(int(bit)) for bit in bits), 2)
