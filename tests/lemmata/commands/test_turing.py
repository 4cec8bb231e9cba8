"""Tests of the command `lemmata turing`."""

import json
import signal

import numpy as np
import pytest
from typer.testing import CliRunner

import lemmata.commands.turing as turing_command
from lemmata.cli import app
from lemmata.constructions.turing.compiler import compile_turing_machine
from lemmata.constructions.turing.evaluators import estimate
from lemmata.constructions.turing.evaluators import sessions as turing_runs
from lemmata.constructions.turing.evaluators.indexed import advance_indexed
from lemmata.constructions.turing.evaluators.indexed_checks import Configuration, broken_layers, wrong_answers
from lemmata.constructions.turing.evaluators.outcomes import VerificationError
from lemmata.constructions.turing.evaluators.registry import EVALUATORS
from lemmata.constructions.turing.evaluators.run import Evaluator
from lemmata.constructions.turing.evaluators.sessions import indexed_session
from lemmata.constructions.turing.machine import busy_beaver
from lemmata.numerics.turing.simulator import advance, new_tape


def run(*arguments: str):
    return CliRunner().invoke(app, ["turing", *arguments])


@pytest.mark.parametrize("evaluator", ["indexed", "dense", "torch", "exact"])
def test_evaluators_print_the_same_run(evaluator):
    result = run("1RB1RZ_1LB0RC_1LC1LA", "--steps", "25", "--evaluator", evaluator, "--verify", "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    tape = new_tape(())
    advance(tape, busy_beaver(3).arrays(), 25, busy_beaver(3).terminal)
    assert document["steps"] == 21
    assert document["halted"] is True
    assert document["state"] == "Z"
    assert document["head"] == tape.head
    assert document["tape"] == "".join(str(a) for a in tape.visited())
    assert document["leftmost"] == tape.left
    assert document["verified"] is True
    assert document["seconds"] > 0


@pytest.mark.parametrize(("name", "steps"), [("bb2", 6), ("bb3", 21), ("bb4", 107)])
def test_busy_beavers_run_to_their_halt_by_default(name, steps):
    document = json.loads(run(name, "--verify", "--json").stdout)
    assert (document["steps"], document["halted"], document["verified"]) == (steps, True, True)


def test_runs_that_do_not_halt_say_so():
    document = json.loads(run("counter", "--steps", "40", "--input", "#", "--json").stdout)
    assert (document["steps"], document["halted"], document["accepts"]) == (40, False, None)


def test_trace_draws_the_tape_and_the_search():
    result = run("palindromes", "--steps", "12", "--input", "aba", "--trace", "6")
    assert result.exit_code == 0
    assert "[X]" in result.stdout
    assert "tape around the head" in result.stdout
    assert "last visit 0 00 001 0010 = step 2" in result.stdout
    assert "the null pair wins" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["1RB1LX", "--steps", "4"], "Character 3 of"),
        (["1RB1LB_1LA1R", "--steps", "4"], "Row 2"),
        (["palindrome", "--steps", "4"], "Nor is it one of the names palindromes, counter"),
        (["palindromes", "--steps", "4", "--input", "abc"], "'c' at place 3"),
        (["palindromes", "--steps", "4", "--input", "abababab"], "The input has 8 symbols"),
        (["bb5", "--steps", "2000000000000"], "GiB in the indexed evaluator"),
        (["counter", "--steps", "2000000000000"], "GiB in the indexed evaluator"),  # would run, to see the left end
        (["bb2", "--steps", "1" + 40 * "0", "--evaluator", "torch"], "more than 2^"),
        (["bb5", "--steps", "2000000", "--evaluator", "dense"], "GiB in the dense evaluator"),
        (["bb5", "--steps", "2000000", "--evaluator", "exact"], "GiB in the exact evaluator"),
        (["palindromes"], "Give --steps T"),
        (["1RB1LB_1LA1RZ"], "Give --steps T"),
        (["bb2", "--steps", "4", "--trace", "5"], "--trace 5"),
        (["bb5", "--steps", "2000000", "--trace", "1000000"], "--trace 1000000 needs"),
        (["bb2", "--steps", "4", "--left-end", "wall"], "--left-end is one of"),
        (["bb2", "--steps", "4", "--left-end", "refuse"], "moves left from its first cell in step 3"),
        (["bb2", "--steps", "4", "--evaluator", "dense", "--checkpoint", "x"], "indexed evaluator only"),
        (["bb2", "--steps", "4", "--checkpoint", "/nowhere/x"], "cannot be written"),
    ],
)
def test_bad_input_is_refused_before_any_work(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr.replace("\n", " ")


def test_interrupted_runs_go_on_from_the_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setattr(turing_runs, "CHUNK", 300)
    file, machine = tmp_path / "run.npz", busy_beaver(5)
    transformer = compile_turing_machine(machine, 2000)

    def stop(done: int) -> None:
        if done >= 900:
            signal.raise_signal(signal.SIGINT)

    first = indexed_session(transformer, (), file, verify=False)
    with pytest.raises(KeyboardInterrupt):
        first.finish(stop)
    assert file.exists()
    with pytest.raises(ValueError, match="without --verify"):
        indexed_session(transformer, (), file, verify=True)
    second = indexed_session(transformer, (), file, verify=False)
    assert second.outcome.steps == first.outcome.steps < 2000
    second.finish(lambda done: None)
    tape = new_tape(())
    advance(tape, machine.arrays(), 2000)
    assert [int(a) for a in second.outcome.tape()] == tape.visited().tolist()
    assert (second.outcome.head, second.outcome.steps) == (tape.head, 2000)
    with pytest.raises(ValueError, match="another machine, input or number of steps"):
        indexed_session(compile_turing_machine(machine, 2001), (), file, verify=False)
    whole = file.read_bytes()
    for damaged in (b"", b"nothing", whole[: len(whole) // 2]):
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match="no checkpoint"):
            indexed_session(transformer, (), file, verify=False)


@pytest.mark.parametrize("name", ["numbers", "stream", "last", "previous", "payload", "cells", "verified"])
def test_changed_checkpoints_are_refused(tmp_path, name):
    file, transformer = tmp_path / "run.npz", compile_turing_machine(busy_beaver(2), 5)
    indexed_session(transformer, (), file, verify=True).finish(lambda done: None)
    with np.load(file) as stored:
        data = {key: stored[key] for key in stored.files}
    np.savez(file, **data)  # as it was
    assert indexed_session(transformer, (), file, verify=True).outcome.steps == 5
    np.savez(file, **(data | {name: ~data[name] if name == "verified" else data[name] + 1}))
    with pytest.raises(ValueError, match="was changed after it was written"):
        indexed_session(transformer, (), file, verify=False)


@pytest.mark.parametrize("evaluator", ["dense", "exact"])
def test_long_runs_are_estimated_before_they_begin(evaluator, monkeypatch):
    monkeypatch.setattr(turing_command, "ESTIMATED_STEPS", 20)
    told = run("bb4", "--steps", "30", "--evaluator", evaluator)
    assert told.exit_code == 0
    assert f"30 steps in the {evaluator} evaluator, about" in told.stderr
    assert "about" not in run("bb4", "--steps", "20", "--evaluator", evaluator).stderr


def test_an_estimate_follows_the_cost_of_the_steps(monkeypatch):
    """A clock on which step t takes 2 + 0.01 t seconds: T steps take 2 T + 0.005 T^2."""
    clock = [0.0]
    monkeypatch.setattr(estimate.time, "perf_counter", lambda: clock[0])

    def evaluate(transformer, words, hidden, progress):
        for t in range(transformer.steps + 1):
            clock[0] += 2 + 0.01 * t
            progress(t)

    fake = Evaluator("fake", lambda *arguments: 0, evaluate)
    transformer = compile_turing_machine(busy_beaver(2), 5000)
    assert estimate.estimated_seconds(fake, transformer, ()) == pytest.approx(2 * 5000 + 0.005 * 5000**2, rel=0.01)


def test_every_step_is_told_when_it_is_done():
    transformer = compile_turing_machine(busy_beaver(2), 7)
    for name in ("dense", "torch", "exact"):
        told = []
        EVALUATORS[name].run(transformer, [()], progress=told.append)
        assert told == list(range(8))


def test_verification_sees_a_wrong_run_and_wrong_streams():
    machine = busy_beaver(4)
    transformer = compile_turing_machine(machine, 60)
    session = indexed_session(transformer, (), None, verify=True)
    session.reference = new_tape((1,))  # a simulator on another input
    with pytest.raises(VerificationError, match="is not that of the simulator"):
        session.finish(lambda done: None)

    session = indexed_session(transformer, (), None, verify=False)
    before, step = advance_indexed(session.run, 39), advance_indexed(session.run, 1, trace=True)
    codes = [
        Configuration(int(part.states[-1]), int(part.symbols[-1]), int(part.heads[-1]) - transformer.start_cell)
        for part in (before, step)
    ]
    visit, trace = int(step.last_visits[0]), step.trace[0]
    assert broken_layers(transformer, (), 40, *codes, visit, trace) == []
    assert wrong_answers(session.run, trace) == []
    names = [layer.name for layer in transformer.layers]
    trace[names.index("C.5 bit 2"), 0, transformer.layout.stream["scr4"].start + 2] ^= 1
    assert wrong_answers(session.run, trace) == ["C.5 bit 2"]
    trace[names.index("C.2c"), 1, transformer.layout.stream["pos3"].start] ^= 1
    assert broken_layers(transformer, (), 40, *codes, visit, trace) == ["C.2c"]


@pytest.mark.parametrize("trace", ["1", "4"])
def test_the_limit_of_a_drawing_is_what_its_streams_take(monkeypatch, trace):
    """A byte per coordinate of the stream before and after each layer, at the first step and at those that follow."""
    transformer = compile_turing_machine(busy_beaver(2), 6)
    streams = [np.zeros(transformer.layout.width, np.int8) for _ in transformer.layers for _ in ("before", "after")]
    needed = sum(stream.nbytes for stream in streams) * len(range(int(trace) + 1))
    monkeypatch.setattr(turing_command, "TRACE_BYTES", needed)
    assert run("bb2", "--trace", trace).exit_code == 0
    monkeypatch.setattr(turing_command, "TRACE_BYTES", needed - 1)
    result = run("bb2", "--trace", trace)
    assert result.exit_code == 2
    assert f"--trace {trace} needs" in result.output
