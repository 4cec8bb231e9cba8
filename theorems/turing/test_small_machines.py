"""All runs of all small machines: the compiled weights against a simulator that shares no code with the library.

A machine is written down here as plain rows, (new state, written symbol, move) for every state and symbol. The rows go
to the compiler, and the transformer is run from its weights, in integers; the reference below runs the rows on a tape
that is a dictionary. A compiler that rotated the states, exchanged symbols or reversed the moves is noticed at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from lemmata.constructions.turing.compiler import TuringTransformer, compile_turing_machine
from lemmata.constructions.turing.layout import TuringLayout
from lemmata.constructions.turing.machine import Transition, TuringMachine
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.turing.batched_runs import batched_run
from lemmata.theorems.turing.compiled_layers import integer_run

Row = tuple[int, int, int]
Rows = tuple[tuple[Row, ...], ...]
RULES = ("refuse", "stay", "two-way")


def machines(running: int, ends: int, every: int = 1) -> Iterator[Rows]:
    """All tables with two symbols over so many running states, then so many states that loop, moving right."""
    states = running + ends
    outcomes = [(z, a, move) for z in range(states) for a in (0, 1) for move in (-1, 1)]
    loops = tuple(((z, 0, 1), (z, 1, 1)) for z in range(running, states))
    tables = itertools.product(itertools.product(outcomes, repeat=2), repeat=running)
    for table in itertools.islice(tables, 0, None, every):
        yield (*table, *loops)


def reference(rows: Rows, word: Sequence[int], steps: int, rule: str) -> list[tuple[int, int, int]] | None:
    """(state, symbol under the head, head) after each step 0, ..., T; None if it leaves the tape at its cell 0."""
    tape, state, head = dict(enumerate(word)), 0, 0
    trace = [(0, tape.get(0, 0), 0)]
    for _ in range(steps):
        state, tape[head], move = rows[state][tape.get(head, 0)]
        head += move
        if head < 0 and rule == "refuse":
            return None
        if head < 0 and rule == "stay":
            head = 0
        trace.append((state, tape.get(head, 0), head))
    return trace


def faults(rows: Rows, ends: int, words: Sequence[Sequence[int]], steps: int, rule: str) -> tuple[int, int]:
    """How many runs differ from the reference in a state, symbol, head or answer, and how many runs there are."""
    yes, no = len(rows) - ends, len(rows) - ends + 1
    traces = {tuple(word): trace for word in words if (trace := reference(rows, word, steps, rule)) is not None}
    if not traces:
        return 0, 0
    machine = TuringMachine(
        name="small",
        states=tuple(f"q{z}" for z in range(len(rows))),
        symbols=("0", "1"),
        table=tuple(tuple(Transition(*step) for step in row) for row in rows),
        accept=frozenset([yes] if ends else []),
        reject=frozenset([no] if ends else []),
    )
    transformer = compile_turing_machine(machine, steps, max_length=max(map(len, words)), left_end=rule)  # type: ignore[arg-type]
    layout = transformer.layout
    wrong = 0
    for output, trace in zip(integer_run(transformer, list(traces)), traces.values(), strict=True):
        expected = [
            layout.vector(
                {
                    "st": np.eye(layout.states)[state],
                    "sym1": np.eye(2)[symbol],
                    "pos2": layout.binary(transformer.start_cell + head),
                }
            )
            for state, symbol, head in trace
        ]
        answer = {yes: 1, no: -1}.get(trace[-1][0], 0) if ends else 0
        wrong += not (np.array_equal(output, expected) and int(output[-1] @ transformer.classifier) == answer)
    return wrong, len(traces)


def wrong_runs(
    tables: Sequence[Rows], ends: int, words: Sequence[Sequence[int]], steps: int, rule: str
) -> tuple[int, int]:
    """How many runs differ from the reference in an output or an answer, and how many stay on the tape and count."""
    yes, no = len(tables[0]) - ends, len(tables[0]) - ends + 1
    transformers = [_compiled(rows, (yes, no), steps, max(map(len, words)), rule) for rows in tables]
    outputs = batched_run(transformers, words)
    layout, start_cell = transformers[0].layout, transformers[0].start_cell
    expected, answers, kept = np.zeros_like(outputs), np.zeros(outputs.shape[:2]), np.zeros(outputs.shape[:2], bool)
    vectors: dict[tuple[int, int, int], np.ndarray] = {}
    for m, rows in enumerate(tables):
        for b, word in enumerate(words):
            trace = reference(rows, word, steps, rule)
            if trace is not None:
                kept[m, b], answers[m, b] = True, {yes: 1, no: -1}.get(trace[-1][0], 0)
                for time, (state, symbol, head) in enumerate(trace):
                    if (state, symbol, head) not in vectors:
                        vectors[state, symbol, head] = _configuration(layout, state, symbol, start_cell + head)
                    expected[m, b, time] = vectors[state, symbol, head]
    found = np.array([out[:, -1] @ t.classifier for out, t in zip(outputs, transformers, strict=True)])
    right = (outputs == expected).all(axis=(2, 3)) & (found == answers)
    return int((~right & kept).sum()), int(kept.sum())


def _compiled(rows: Rows, ends: tuple[int, int], steps: int, longest: int, rule: str) -> TuringTransformer:
    machine = TuringMachine(
        name="small",
        states=tuple(f"q{z}" for z in range(len(rows))),
        symbols=("0", "1"),
        table=tuple(tuple(Transition(*step) for step in row) for row in rows),
        accept=frozenset(ends[:1]),
        reject=frozenset(ends[1:]),
    )
    return compile_turing_machine(machine, steps, max_length=longest, left_end=rule)  # type: ignore[arg-type]


def _configuration(layout: TuringLayout, state: int, symbol: int, cell: int) -> np.ndarray:
    return layout.vector({"st": np.eye(layout.states)[state], "sym1": np.eye(2)[symbol], "pos2": layout.binary(cell)})


COVERED = (
    "all 144 machines with one running, an accepting and a rejecting state and 2 symbols; T = 4 and all 63 words of at "
    "most 5 letters, all that a head can read of any input; all three rules at the left end"
)


@check("turing:theorem-4.1", grade="exact", target="printed", cases=COVERED)
@check("turing:construction-assembled", grade="exact", target="printed", cases=COVERED)
@check("turing:setup-C.1", grade="exact", target="corrected", cases=COVERED)
@check("turing:definition-tm", grade="exact", target="printed", cases=COVERED)
@check("turing:lemma-C.1", grade="exact", target="printed", cases=COVERED)
@proof_steps("machine_layers.md: 4, 17, 18", "machines.md: 2", "theorem_4_1.md: 1")
@pytest.mark.parametrize("rule", RULES)
def test_all_machines_of_one_running_state_give_their_answer(rule: str) -> None:
    """State, symbol and head after every step, all other coordinates 0, and F = 2 G - 1 once the machine has halted."""
    words = [word for length in range(6) for word in itertools.product((0, 1), repeat=length)]
    tables = list(machines(1, 2))
    assert (len(tables), len(words)) == (144, 63)
    wrong, runs = wrong_runs(tables, 2, words, 4, rule)
    assert wrong == 0
    assert runs > 144 * 63 // 3


TWO_STATES = (
    "every 1021st (full: 61st, deep: every) of the 65,536 machines with two running, an accepting and a rejecting "
    "state and 2 symbols; the 7 words of at most 2 letters; T = 6 (full: 8); all three rules at the left end"
)


@check("turing:theorem-4.1", grade="exact", target="printed", cases=TWO_STATES)
@check("turing:construction-assembled", grade="exact", target="printed", cases=TWO_STATES)
@proof_steps("theorem_4_1.md: 1")
@pytest.mark.parametrize("rule", RULES)
def test_halting_machines_of_two_running_states_give_their_answer(rule: str, effort) -> None:
    """As above, with more states; in batches of 256 machines."""
    words = [word for length in range(3) for word in itertools.product((0, 1), repeat=length)]
    tables = list(machines(2, 2, effort.pick(quick=1021, full=61, deep=1)))
    assert len(tables) == effort.pick(quick=65, full=1075, deep=65_536)
    steps = effort.pick(quick=6, full=8)
    batches = [wrong_runs(tables[i : i + 256], 2, words, steps, rule) for i in range(0, len(tables), 256)]
    assert sum(wrong for wrong, _ in batches) == 0
    assert sum(runs for _, runs in batches) > len(tables) * len(words) // 5


@check(
    "turing:theorem-4.1",
    grade="exact",
    target="printed",
    supporting=True,
    cases="every 64th (full: every) of the 4096 machines with two running states, 2 symbols; words (), 1, 101; T = 6",
)
@proof_steps("theorem_4_1.md: 1")
def test_machines_of_two_running_states(effort) -> None:
    """The rule at the left end alternates from machine to machine."""
    runs = 0
    for number, rows in enumerate(machines(2, 0, effort.pick(quick=64, full=1))):
        wrong, count = faults(rows, 0, [(), (1,), (1, 0, 1)], 6, RULES[number % 3])
        assert wrong == 0, rows
        runs += count
    assert runs > 100
