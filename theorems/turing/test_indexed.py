"""The assembled transformer over long runs: its weights, run by the indexed evaluator, against the reference simulator.

Hard attention is answered from an index of past keys. The evaluator refuses whenever it could be wrong: every query
must have a gap below its full match in which no other key lies, computed in integers from the weights, and the stream
must stay in {0, 1}. Here it is compared with the simulator at every step, with the invariants in every layer, and with
attention over all keys. It supports the statements; `test_machine_runs` and the modules of the lemmas decide them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lemmata.constructions.turing.compiler import TuringTransformer, compile_turing_machine
from lemmata.constructions.turing.evaluators.indexed import IndexedSteps, advance_indexed, run_indexed, start_indexed
from lemmata.constructions.turing.evaluators.indexed_checks import wrong_answers
from lemmata.constructions.turing.invariants import reference_run, violations
from lemmata.constructions.turing.machine import (
    BUSY_BEAVERS,
    TuringMachine,
    busy_beaver,
    counter_machine,
    palindrome_machine,
    random_machine,
)
from lemmata.numerics.turing.simulator import advance, new_tape
from lemmata.theorems.evidence import check


def _agrees(transformer: TuringTransformer, word: tuple[int, ...]) -> IndexedSteps:
    steps, reference = run_indexed(transformer, word, trace=True), reference_run(transformer, word)
    assert steps.states.tolist() == reference.states
    assert steps.symbols.tolist() == reference.symbols
    assert (steps.heads - transformer.start_cell).tolist() == reference.heads
    assert steps.last_visits.tolist() == reference.last_visit
    assert violations(transformer, word, steps.trace[:, :, 1].astype(np.int8)) == []
    return steps


@pytest.mark.parametrize("states", [2, 3, 4])
@check("turing:construction-assembled", grade="exact", target="corrected", supporting=True)
def test_small_busy_beavers_halt_when_they_should(states):
    machine, halts = busy_beaver(states), BUSY_BEAVERS[states][1]
    steps = _agrees(compile_turing_machine(machine, halts + 3), ())
    halted = np.isin(steps.states, list(machine.terminal))
    assert halted.argmax() == halts


@pytest.mark.parametrize(("machine", "word"), [(palindrome_machine(), "abaaba"), (counter_machine(), "#1101")])
@check("turing:construction-assembled", grade="exact", target="corrected", supporting=True)
def test_machines_on_a_one_way_tape(machine: TuringMachine, word: str):
    _agrees(compile_turing_machine(machine, 120), machine.encode(word))


@check("turing:construction-assembled", grade="exact", target="corrected", supporting=True)
def test_random_machines_in_every_layer_at_every_step(effort, record_property):
    rng = np.random.default_rng(2)
    machines, longest = effort.pick(quick=20, full=2000), effort.pick(quick=60, full=200)
    seen = visited = 0
    for number in range(machines):
        left_end = ("two-way", "stay")[number % 2]
        machine = random_machine(rng, int(rng.integers(1, 7)), int(rng.integers(2, 5)), left_end)
        steps = int(rng.integers(1, longest + 1))
        word = tuple(int(a) for a in rng.integers(len(machine.symbols), size=int(rng.integers(min(8, steps + 2)))))
        found = _agrees(compile_turing_machine(machine, steps), word)
        seen += steps
        visited += int((found.last_visits > 0).sum())
    record_property("machines", machines)
    record_property("time steps", seen)
    assert visited >= machines  # the search is not idle


@check("turing:claim-C.5", grade="exact", target="printed", supporting=True)
def test_attention_from_the_index_is_that_over_all_keys(effort, record_property):
    """Every search of every step: at full effort up to the halt of the fourth busy beaver."""
    transformer = compile_turing_machine(busy_beaver(4), 107)
    run, count = start_indexed(transformer), effort.pick(quick=36, full=108)
    record_property("time steps", count)
    for _ in range(count):
        steps = advance_indexed(run, 1, trace=True)
        assert wrong_answers(run, steps.trace[0]) == []
    assert run.walked == 0


@check("turing:lemma-C.3", grade="exact", target="printed", supporting=True)
def test_fifth_busy_beaver_over_many_steps(effort, record_property):
    machine, count = busy_beaver(5), effort.pick(quick=20_000, full=1_000_000)
    transformer = compile_turing_machine(machine, BUSY_BEAVERS[5][1])
    run, tape = start_indexed(transformer), new_tape(())
    advance_indexed(run, 1)
    steps, expected = advance_indexed(run, count), advance(tape, machine.arrays(), count)
    assert np.array_equal(steps.states, expected.states)
    assert np.array_equal(steps.symbols, expected.symbols)
    assert np.array_equal(steps.heads - transformer.start_cell, expected.heads)
    record_property("time steps", count)


@check("turing:lemma-C.1", grade="exact", target="printed", supporting=True)
def test_one_changed_weight_is_seen():
    transformer = compile_turing_machine(busy_beaver(3), 21)
    layers = list(transformer.layers)
    first, *rounding = layers[1].feed_forward.layers
    weight = first.weight.copy()
    st = transformer.layout.stream["st"]
    weight[:, [st.start, st.start + 1]] = weight[:, [st.start + 1, st.start]]
    layers[1] = replace(
        layers[1], feed_forward=replace(layers[1].feed_forward, layers=(replace(first, weight=weight), *rounding))
    )
    changed = replace(transformer, layers=tuple(layers))
    steps = run_indexed(changed, trace=True)
    assert violations(changed, (), steps.trace[:, :, 1].astype(np.int8)) != []
