"""Tests of `lemmata.constructions.turing.machine` and of the simulators in `lemmata.numerics.turing.simulator`."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from lemmata.constructions.turing.machine import (
    BUSY_BEAVERS,
    NAMED_MACHINES,
    Transition,
    TuringMachine,
    busy_beaver,
    counter_machine,
    machine_from_table,
    palindrome_machine,
    parse_machine,
    random_machine,
)
from lemmata.numerics.turing.simulator import Tape, advance, last_visits, new_tape, simulate

PARITY = {
    ("even", "0"): ("even", "0", 1),
    ("even", "1"): ("odd", "1", "R"),
    ("odd", "0"): ("odd", "0", 1),
    ("odd", "1"): ("even", "1", 1),
    ("even", "_"): ("yes", "_", 1),
    ("odd", "_"): ("no", "_", 1),
}


def run(machine: TuringMachine, word: tuple[int, ...], steps: int):
    return simulate(machine.arrays(), word, steps, start=machine.start, blank=machine.blank, left_end=machine.left_end)


def test_table_becomes_a_machine_with_looping_terminal_states():
    machine = machine_from_table(PARITY, start="even", blank="_", accept={"yes"}, reject={"no"}, name="parity")
    assert machine.states[machine.start] == "even"
    assert machine.symbols[machine.blank] == "_"
    (yes,) = machine.accept
    assert machine.table[yes] == tuple(Transition(yes, a, 1) for a in range(3))
    for word in ("", "1", "0110", "10101"):
        final = run(machine, machine.encode(word), len(word) + 1).states[-1]
        assert (final in machine.accept) == (word.count("1") % 2 == 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop(("odd", "1")), r"1 transitions are missing, namely those of \(odd, 1\)"),
        (lambda t: t.update({("yes", "0"): ("yes", "0", 1)}), r"terminal states have no transitions.*\(yes, 0\)"),
        (lambda t: t.update({("odd", "1"): ("even", "1", 0)}), r"the move of \(odd, 1\) is 0"),
    ],
)
def test_incomplete_tables_are_refused(change, message):
    table = dict(PARITY)
    change(table)
    with pytest.raises(ValueError, match=message):
        machine_from_table(table, start="even", blank="_", accept={"yes"}, reject={"no"})


def test_machines_with_impossible_tables_are_refused():
    machine = palindrome_machine()
    first, *others = machine.table
    with pytest.raises(ValueError, match="the table must have 8 rows of 4"):
        replace(machine, table=machine.table[1:])
    with pytest.raises(ValueError, match=r"the transition of \(start, _\) is \(9, 0, 1\)"):
        replace(machine, table=((Transition(9, 0, 1), *first[1:]), *others))
    with pytest.raises(ValueError, match=r"the transition of \(start, _\) is \(0, 4, 1\)"):
        replace(machine, table=((Transition(0, 4, 1), *first[1:]), *others))
    with pytest.raises(ValueError, match=r"the transition of \(start, _\) is \(0, 0, 0\)"):
        replace(machine, table=((Transition(0, 0, 0), *first[1:]), *others))
    with pytest.raises(ValueError, match="terminal state start must loop"):
        replace(machine, accept=machine.accept | {machine.start})
    with pytest.raises(ValueError, match="cannot both accept and reject"):
        replace(machine, reject=machine.accept)
    with pytest.raises(ValueError, match="left_end is one of"):
        replace(machine, left_end="wrap")
    with pytest.raises(ValueError, match="'c' at place 2"):
        machine.encode("acb")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has 1 rows, the first of 0 characters"),
        ("0RA", "has 1 rows, the first of 3 characters"),
        ("1RB1LB_1LA1R", r"Row 2 \(state B, from character 8\) of .* has 5 characters"),
        ("1RB1LB_1LA1RQ", r"Character 13 of .* is 'Q', in the transition '1RQ' of state B and symbol 1: the new state"),
        ("1RB2LB_1LA1RZ", "Character 4 of .* is '2'.*: the symbol written must be one of 0, 1"),
        ("1RB1XB_1LA1RZ", "Character 5 of .* is 'X'.*: the move must be one of L, R"),
        ("1RB1LB-1LA1RZ", "Row 1 .* has 13 characters"),
        ("1RB---_--Z1RZ", "Character 8 of"),
    ],
)
def test_malformed_strings_are_refused_with_the_place(text, message):
    with pytest.raises(ValueError, match=message):
        parse_machine(text)


def test_undefined_transition_halts_like_1RZ():
    assert parse_machine("1RB1LB_1LA---").table == parse_machine("1RB1LB_1LA1RZ").table
    assert parse_machine("1RB1LB_1LA1RH").table == parse_machine("1RB1LB_1LA1RZ").table


@pytest.mark.parametrize("states", [2, 3, 4])
def test_small_busy_beavers_run_as_long_as_known(states):
    machine, steps = busy_beaver(states), BUSY_BEAVERS[states][1]
    result = run(machine, (), steps)
    assert [i for i, z in enumerate(result.states) if z in machine.terminal] == [steps]


def test_fifth_busy_beaver_halts_at_step_47176870():
    machine = busy_beaver(5)
    tape = new_tape(())
    while tape.state not in machine.terminal:
        advance(tape, machine.arrays(), 1 << 20, machine.terminal)
    assert tape.steps == BUSY_BEAVERS[5][1]
    assert tape.visited().sum() == 4098  # the ones that it is known to leave
    with pytest.raises(ValueError, match="2 to 5"):
        busy_beaver(6)


def test_palindromes_are_accepted_and_nothing_else():
    machine = palindrome_machine()
    for length in range(7):
        for letters in product("ab", repeat=length):
            final = run(machine, machine.encode(letters), 1 + (length + 1) * (length + 2) // 2).states[-1]
            assert final in (machine.accept if letters == letters[::-1] else machine.reject)


def test_counter_counts():
    machine = counter_machine()
    for steps in range(1, 400):
        tape = new_tape(machine.encode("#"))
        advance(tape, machine.arrays(), steps)
        if machine.states[tape.state] == "carry" and tape.head == 1:
            digits = "".join(machine.symbols[a] for a in tape.visited()[1:]).replace("_", "")
            number = int(digits[::-1] or "0", 2)
            # adding 1 to n with r trailing ones takes 2 r + 2 steps from cell 1 back to it
            assert steps == 1 + sum(2 * (((n + 1) & -(n + 1)).bit_length() - 1) + 2 for n in range(number))
    assert number > 40


@pytest.mark.parametrize("left_end", ["two-way", "stay"])
def test_simulators_agree_on_random_machines(left_end):
    rng = np.random.default_rng(5)
    for _ in range(60):
        machine = random_machine(rng, int(rng.integers(1, 7)), int(rng.integers(1, 5)), left_end)
        word = tuple(int(a) for a in rng.integers(len(machine.symbols), size=int(rng.integers(6))))
        expected = run(machine, word, 90)
        assert expected.last_visit == last_visits(expected.heads)
        tape = new_tape(word)
        parts = [advance(tape, machine.arrays(), 30, left_end=left_end) for _ in range(3)]
        assert np.concatenate([part.states for part in parts]).tolist() == expected.states[1:]
        assert np.concatenate([part.symbols for part in parts]).tolist() == expected.symbols[1:]
        assert np.concatenate([part.heads for part in parts]).tolist() == expected.heads[1:]
        assert (tape.left, tape.right, tape.steps) == (min(expected.heads), max(expected.heads), 90)
        assert len(tape.visited()) == tape.right - tape.left + 1


def test_left_end_is_refused_with_the_step():
    machine = replace(parse_machine("1RB1RB_1LC1LC_1LC1LC"), left_end="refuse")
    with pytest.raises(ValueError, match="in step 3"):
        run(machine, (), 5)
    tape: Tape = new_tape(())
    with pytest.raises(ValueError, match="in step 3"):
        advance(tape, machine.arrays(), 5, left_end="refuse")
    assert (tape.steps, tape.head) == (2, 0)


def test_names_of_machines_are_known():
    assert {make().name for make in NAMED_MACHINES.values()} >= {"palindromes", "counter"}
