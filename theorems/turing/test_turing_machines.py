"""Turing machines: positions and halting, the left end of the tape, and the identity that uses the last visit."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from lemmata.constructions.turing.compiler import compile_turing_machine
from lemmata.constructions.turing.evaluators.registry import EXACT
from lemmata.constructions.turing.machine import (
    RIGHT,
    Transition,
    TuringMachine,
    machine_from_table,
    palindrome_machine,
    random_machine,
)
from lemmata.numerics.turing.simulator import Run, last_visits, simulate
from lemmata.theorems.evidence import check, proof_steps


def _two_state_machines() -> Iterator[TuringMachine]:
    """All machines with two running states, two symbols and no terminal state: 8^4 = 4096 tables."""
    outcomes = [Transition(z, a, move) for z in (0, 1) for a in (0, 1) for move in (-1, 1)]
    for rows in itertools.product(outcomes, repeat=4):
        yield TuringMachine("two states", ("A", "B"), ("0", "1"), (rows[:2], rows[2:]))


def _run(machine: TuringMachine, word: tuple[int, ...], steps: int, left_end: str) -> Run:
    return simulate(machine.arrays(), word, steps, start=machine.start, blank=machine.blank, left_end=left_end)


def _leaves(machine: TuringMachine, word: tuple[int, ...], steps: int) -> bool:
    """Whether the machine moves left from its first cell."""
    return min(_run(machine, word, steps, "two-way").heads) < 0


# ---- the last visit


@check("turing:outline-4.2", grade="exact", target="printed")
@proof_steps("machines.md: 1")
def test_symbol_is_that_of_the_last_visit_or_of_the_input_or_blank() -> None:
    """All 4096 machines of two states and two symbols, 8 steps, words (), (1,), (1, 0, 1); two-way and textbook tape.

    For all machines: step t stands on cell l_(t-1) and writes there, and nothing else changes the tape, so that a cell
    holds what the last step on it wrote, else its first content. The simulator keeps the tape; here only the heads, the
    written symbols and the definition i' = max{1 <= t <= i : l_(t-1) = l_i} are used.
    """
    visited = fresh = 0
    for number, machine in enumerate(_two_state_machines()):
        word = ((), (1,), (1, 0, 1))[number % 3]
        run = _run(machine, word, 8, ("two-way", "stay")[number // 3 % 2])
        for i, last in enumerate(last_visits(run.heads)):
            cell = run.heads[i]
            first = word[cell] if 0 <= cell < len(word) else machine.blank
            assert run.symbols[i] == (run.written[last] if last else first)
            visited, fresh = visited + (last > 0), fresh + (last == 0)
    assert visited > 10_000
    assert fresh > 10_000


@check("turing:outline-4.2", grade="sampled", target="printed", supporting=True, cases="40 machines, seed 4")
def test_last_visit_of_larger_machines(effort) -> None:
    """Random machines of up to 6 states and 4 symbols, 60 steps (full: 200 machines, 200 steps)."""
    rng = np.random.default_rng(4)
    for _ in range(effort.pick(quick=40, full=200)):
        machine = random_machine(rng, int(rng.integers(1, 7)), int(rng.integers(1, 5)))
        word = tuple(rng.integers(len(machine.symbols), size=int(rng.integers(9))).tolist())
        run = _run(machine, word, effort.pick(quick=60, full=200), "two-way")
        assert run.last_visit == last_visits(run.heads)
        for i, last in enumerate(run.last_visit):
            cell = run.heads[i]
            first = word[cell] if 0 <= cell < len(word) else machine.blank
            assert run.symbols[i] == (run.written[last] if last else first)


@check("turing:outline-4.2", grade="exact", target="printed", supporting=True)
@proof_steps("machines.md: 1")
def test_first_visit_in_place_of_the_last_is_noticed() -> None:
    """A negative control: with min in place of max the identity fails on the palindrome machine."""
    machine = palindrome_machine()
    run = _run(machine, machine.encode("abba"), 15, "refuse")
    first = [min((t for t in range(1, i + 1) if run.heads[t - 1] == run.heads[i]), default=0) for i in range(16)]
    assert first != last_visits(run.heads)
    assert any(t and run.symbols[i] != run.written[t] for i, t in enumerate(first))


# ---- the left end


def _looks_left() -> TuringMachine:
    """Moves left from the first cell, then accepts if it reads 1."""
    table = {("go", c): ("read", c, -1) for c in "_12"}
    table |= {("read", c): ("yes" if c == "1" else "no", c, RIGHT) for c in "_12"}
    return machine_from_table(table, start="go", blank="_", accept={"yes"}, reject={"no"}, name="looks left")


@check("turing:definition-tm", grade="exact", target="printed", supporting=True, cases="one machine on 12, T = 3")
@proof_steps("machines.md: 2")
def test_textbook_machine_that_stays_at_the_left_end_is_not_simulated() -> None:
    """On (1, 2) the textbook machine stays on cell 1, reads 1 and accepts; the printed construction reads a blank.

    Its lemma C.2 always sets the head to l - 1 or l + 1. With the two layers of the rule it accepts as well.
    """
    machine, word = _looks_left(), (1, 2)
    textbook = _run(machine, word, 3, "stay")
    assert textbook.states[-1] in machine.accept
    assert EXACT.run(compile_turing_machine(machine, 3, left_end="refuse"), [word]).predictions.tolist() == [-1]
    with_rule = EXACT.run(compile_turing_machine(machine, 3, left_end="stay"), [word])
    assert with_rule.predictions.tolist() == [1]
    assert (with_rule.heads[0] - 1).tolist() == textbook.heads


@check("turing:definition-tm", grade="exact", target="printed")
@proof_steps("machines.md: 2")
def test_without_a_move_off_the_tape_all_conventions_agree() -> None:
    """All 4096 two-state machines, 8 steps: those that never move left from cell 1 run alike under every convention.

    For them, and for all on the two-way tape, l_i = 1 + the sum of the moves, the form that lemma C.2 computes.
    """
    staying = 0
    for machine in _two_state_machines():
        _, _, moves = machine.arrays()
        run = _run(machine, (1, 0, 1), 8, "two-way")
        made = [int(moves[z, a]) for z, a in zip(run.states[:-1], run.symbols[:-1], strict=True)]
        assert run.heads == [0, *np.cumsum(made).tolist()]
        if _leaves(machine, (1, 0, 1), 8):
            continue
        staying += 1
        assert run == _run(machine, (1, 0, 1), 8, "stay") == _run(machine, (1, 0, 1), 8, "refuse")
    assert staying > 500


@check("turing:definition-tm", grade="sampled", target="printed", supporting=True, cases="200 random machines, seed 2")
@proof_steps("machines.md: 3")
def test_terminal_states_loop_until_the_last_step() -> None:
    """Once in a terminal state a machine stays in it, moves right and writes what it reads."""
    halted = 0
    rng = np.random.default_rng(2)
    for _ in range(200):
        machine = random_machine(rng, 4, 2)
        run = _run(machine, (1, 1), 30, "two-way")
        end = next((i for i, z in enumerate(run.states) if z in machine.terminal), None)
        if end is None:
            continue
        halted += 1
        assert set(run.states[end:]) == {run.states[end]}
        assert run.heads[end:] == [run.heads[end] + i for i in range(31 - end)]
        assert run.written[end + 1 :] == run.symbols[end:-1]
    assert halted > 50
