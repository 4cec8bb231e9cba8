"""How long a step of the Turing transformer takes: the indexed evaluator over T, and the dense one beside it.

The machine code of the weights, its interpreter, and two simulators of the machine itself are compared in steps per
second. The full run of the fifth busy beaver, 47,176,870 steps, belongs to `--effort full`.
"""

import resource

import numpy as np
import pytest

import lemmata.constructions.turing.evaluators.indexed as indexed
from lemmata.constructions.turing.compiler import compile_turing_machine
from lemmata.constructions.turing.evaluators.indexed import advance_indexed, start_indexed
from lemmata.constructions.turing.evaluators.memory import index_memory
from lemmata.constructions.turing.evaluators.registry import DENSE
from lemmata.constructions.turing.machine import BUSY_BEAVERS, busy_beaver
from lemmata.numerics.turing.simulator import advance, new_tape, simulate

FIFTH = BUSY_BEAVERS[5][1]
CHUNK = 1 << 20


@pytest.mark.parametrize("steps", [10**3, 10**4, 10**5, 10**6])
def test_indexed_steps_of_the_fifth_busy_beaver(benchmark, steps):
    machine = busy_beaver(5)
    transformer = compile_turing_machine(machine, FIFTH if steps == 10**6 else steps)
    advance_indexed(start_indexed(compile_turing_machine(machine, 2)), 2)  # compiles the kernels
    runs = []

    def fresh():
        runs[:] = [start_indexed(transformer)]
        return (runs[0], steps + 1), {}

    result = benchmark.pedantic(advance_indexed, setup=fresh, rounds=1)
    expected = advance(new_tape(()), machine.arrays(), steps)
    assert np.array_equal(result.states[1:], expected.states)
    assert np.array_equal(result.heads[1:] - transformer.start_cell, expected.heads)
    seconds = benchmark.stats.stats.min
    print(f"\nindexed, T = {steps}: {seconds:.2f} s, {seconds / steps * 1e6:.1f} us and 5 bytes per step")


@pytest.mark.parametrize("steps", [250, 500, 1000, 2000])
def test_dense_steps_of_the_fifth_busy_beaver(benchmark, steps):
    machine = busy_beaver(5)
    transformer = compile_turing_machine(machine, steps)
    run = benchmark.pedantic(DENSE.run, (transformer, [()]), rounds=1)
    assert run.states[0, 1:].tolist() == advance(new_tape(()), machine.arrays(), steps).states.tolist()
    seconds, memory = benchmark.stats.stats.min, DENSE.memory(transformer)
    print(f"\ndense, T = {steps}: {seconds:.2f} s, {seconds / steps * 1e6:.0f} us and {memory // steps} bytes per step")


COMPARED = 1_000_000
"""Steps of the fifth busy beaver, with the positions of its whole run."""


def _transformer_steps(first: int, count: int):
    """So many steps of the weights from step ``first`` on, in machine code or interpreted."""

    def run(monkeypatch):
        monkeypatch.setattr(indexed, "TRANSLATED_FROM", first)
        started = start_indexed(compile_turing_machine(busy_beaver(5), FIFTH))
        advance_indexed(started, 1)
        return lambda: advance_indexed(started, count).states

    return run


def _numba_steps(monkeypatch):
    advance(new_tape(()), busy_beaver(5).arrays(), 1)  # compiles it
    tape = new_tape(())
    return lambda: advance(tape, busy_beaver(5).arrays(), COMPARED).states


RUNNERS = {
    "weights in machine code": (_transformer_steps(0, COMPARED), COMPARED),
    "weights, interpreted": (_transformer_steps(2**62, COMPARED // 10), COMPARED // 10),
    "simulator in plain Python": (
        lambda monkeypatch: lambda: simulate(busy_beaver(5).arrays(), (), COMPARED // 10).states[1:],
        COMPARED // 10,
    ),
    "simulator in Numba": (_numba_steps, COMPARED),
}


@pytest.mark.parametrize("name", RUNNERS)
def test_steps_per_second(benchmark, name, monkeypatch):
    prepare, count = RUNNERS[name]
    states = benchmark.pedantic(prepare(monkeypatch), rounds=1)
    expected = advance(new_tape(()), busy_beaver(5).arrays(), count)
    assert np.array_equal(np.asarray(states), expected.states)
    print(f"\n{name}: {count / benchmark.stats.stats.min:,.0f} steps per second")


def test_fifth_busy_beaver_halts(benchmark, effort):
    if effort.name == "quick":
        pytest.skip("47,176,870 steps take some seconds of an idle core, and 0.3 GiB: --effort full")
    machine = busy_beaver(5)
    transformer = compile_turing_machine(machine, FIFTH)
    run, tape = start_indexed(transformer), new_tape(())
    advance_indexed(run, 1)

    def finish() -> None:
        while tape.state not in machine.terminal:
            steps = advance_indexed(run, CHUNK, halting=True)
            expected = advance(tape, machine.arrays(), CHUNK, machine.terminal)
            assert np.array_equal(steps.states, expected.states)
            assert np.array_equal(steps.symbols, expected.symbols)
            assert np.array_equal(steps.heads - transformer.start_cell, expected.heads)

    benchmark.pedantic(finish, rounds=1)
    seconds, memory = benchmark.stats.stats.min, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"\nfifth busy beaver: {run.time - 1} steps in {seconds:.0f} s, {memory:.2f} GiB resident")
    assert run.time - 1 == FIFTH
    assert run.walked == 0
    assert index_memory(transformer.steps, transformer.layout) < 16 * 2**30
    assert memory < 1
