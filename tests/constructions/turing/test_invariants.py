"""The invariants of a compiled machine: what they refuse, and that they see every wrong entry."""

from __future__ import annotations

import numpy as np
import pytest

from lemmata.constructions.turing.compiler import compile_turing_machine
from lemmata.constructions.turing.evaluators.registry import EXACT
from lemmata.constructions.turing.invariants import expected_hidden, reference_run, violations
from lemmata.constructions.turing.machine import TuringMachine, busy_beaver, palindrome_machine, random_machine


def test_run_that_leaves_the_tape_is_refused() -> None:
    machine = busy_beaver(2)
    transformer = compile_turing_machine(machine, 6, left_end="refuse")
    with pytest.raises(ValueError, match="moves left from its first cell"):
        reference_run(transformer, ())


def test_shape_is_checked() -> None:
    transformer = compile_turing_machine(palindrome_machine(), 3)
    with pytest.raises(ValueError, match="must have shape"):
        violations(transformer, (), np.zeros((3, 3, 3)))


def test_every_single_wrong_entry_is_named() -> None:
    transformer = compile_turing_machine(palindrome_machine(), 3)
    right = expected_hidden(transformer, (1,)).astype(float)
    rng = np.random.default_rng(0)
    for _ in range(50):
        where = tuple(int(rng.integers(n)) for n in right.shape)
        wrong = right.copy()
        wrong[where] += 0.5
        (found,) = violations(transformer, (1,), wrong, tolerance=1e-9)
        assert (found.time, found.layer) == (where[0], transformer.layers[where[1]].name)
        assert transformer.layout.stream[found.block].start + found.index == where[2]
        assert found.found == found.expected + 0.5
    nan = right.copy()
    nan[1, 2, 3] = np.nan
    assert len(violations(transformer, (1,), nan, tolerance=1e-9)) == 1


def test_machines_without_terminal_states_answer_zero() -> None:
    machine: TuringMachine = random_machine(np.random.default_rng(3), 2, 2)
    transformer = compile_turing_machine(machine, 5)
    assert EXACT.run(transformer, [(1,)]).predictions.tolist() == [0]
