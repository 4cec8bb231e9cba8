"""How long a step of the Turing transformer takes: the indexed evaluator over T, and the dense one beside it.

The full run of the fifth busy beaver, 47,176,870 steps, belongs to `--effort deep`.
"""

import resource

import numpy as np
import pytest

from constructions.turing.compiler import compile_turing_machine
from constructions.turing.evaluators.indexed import advance_indexed, start_indexed
from constructions.turing.evaluators.memory import index_memory
from constructions.turing.evaluators.registry import DENSE
from constructions.turing.machine import BUSY_BEAVERS, busy_beaver
from numerics.turing.simulator import advance, new_tape

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


def test_fifth_busy_beaver_halts(benchmark, effort):
    if effort.name != "deep":
        pytest.skip("47,176,870 steps take some ten minutes: --effort deep")
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
    assert memory < 16
