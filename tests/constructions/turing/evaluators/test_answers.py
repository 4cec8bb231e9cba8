"""What is reported is read off the weights: faults planted in them change the report, and --verify refuses them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from typer.testing import CliRunner

import lemmata.commands.turing as command
from lemmata.cli import app
from lemmata.constructions.turing.compiler import TuringTransformer, compile_turing_machine
from lemmata.constructions.turing.evaluators.indexed import advance_indexed, run_indexed, start_indexed
from lemmata.constructions.turing.evaluators.registry import EVALUATORS
from lemmata.constructions.turing.invariants import reference_run
from lemmata.constructions.turing.machine import palindrome_machine, parse_machine, random_machine

RIGHTWARDS = "1RB1RB_1RC0LZ_1RZ1RZ"
"""Writes 1, 1, 1 and halts: it never comes back to a cell, so that no later step depends on what it wrote."""

Fault = Callable[[TuringTransformer], TuringTransformer]


def changed_map(transformer: TuringTransformer, name: str, change: Callable[[Any], Any]) -> TuringTransformer:
    """The transformer with another weight in the first ReLU layer of one layer."""
    layers = list(transformer.layers)
    place = [layer.name for layer in layers].index(name)
    first, *rounding = layers[place].feed_forward.layers
    parts = (replace(first, weight=change(first.weight.copy())), *rounding)
    layers[place] = replace(layers[place], feed_forward=replace(layers[place].feed_forward, layers=parts))
    return replace(transformer, layers=tuple(layers))


def written_zero(transformer: TuringTransformer) -> TuringTransformer:
    def change(weight):
        weight[:, transformer.layout.stream["sym2"]] = 0
        return weight

    return changed_map(transformer, "C.1b", change)


def written_exchanged(transformer: TuringTransformer) -> TuringTransformer:
    def change(weight):
        block = transformer.layout.stream["sym2"]
        weight[:, block] = weight[:, block][:, ::-1]
        return weight

    return changed_map(transformer, "C.1b", change)


FAULTS: dict[str, tuple[Fault, dict[str, Any]]] = {
    "written symbols zeroed": (written_zero, {"tape": "???0"}),
    "written symbols exchanged": (written_exchanged, {"tape": "0000"}),
    "classifier negated": (lambda t: replace(t, classifier=-t.classifier), {"accepts": False, "halted": True}),
    "classifier zero": (lambda t: replace(t, classifier=0 * t.classifier), {"accepts": None, "halted": False}),
}


def report(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["turing", RIGHTWARDS, "--steps", "6", *arguments])


def planted(monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    monkeypatch.setattr(command, "compile_turing_machine", lambda *a, **k: fault(compile_turing_machine(*a, **k)))


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("name", FAULTS)
def test_faults_in_the_weights_change_the_report_and_fail_the_verification(name, evaluator, monkeypatch):
    fault, expected = FAULTS[name]
    planted(monkeypatch, fault)
    document = json.loads(report("--evaluator", evaluator, "--json").stdout)
    assert {key: document[key] for key in expected} == expected
    verified = report("--evaluator", evaluator, "--verify")
    assert verified.exit_code == 1
    assert "not verified" in verified.stderr


def test_the_report_without_a_fault_is_another_one():
    document = json.loads(report("--verify", "--json").stdout)
    assert (document["tape"], document["accepts"], document["halted"]) == ("1110", True, True)


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_an_answer_that_is_not_one_fails_the_verification(evaluator, monkeypatch):
    planted(monkeypatch, lambda t: replace(t, classifier=t.classifier * fmpq(51, 50)))
    document = json.loads(report("--evaluator", evaluator, "--json").stdout)
    assert document["accepts"] is True
    verified = report("--evaluator", evaluator, "--verify")
    assert verified.exit_code == 1
    assert re.search(r"classifier\s+answers\s+\S+\s+after\s+step\s+\d+,\s+not\s+1\.", verified.stderr)


BETAS: dict[str, Callable[[TuringTransformer, int], Any]] = {
    "one step ahead": lambda t, time: t.layout.vector({"pos1": t.layout.binary(time + 1)}),
    "other coordinates": lambda t, time: t.layout.vector({"pos3": t.layout.binary(time)}),
    "least digit first": lambda t, time: t.layout.vector({"pos1": t.layout.binary(time)[::-1]}),
    "lost from time 2 on": lambda t, time: t.layout.vector({"pos1": t.layout.binary(time if time < 2 else 0)}),
}
TWICE = {"twice": lambda t, time: 2 * t.layout.vector({"pos1": t.layout.binary(time)})}
"""The first rounding mends this one, so that it changes no run; the index, which needs bits, refuses it."""


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("name", BETAS)
def test_another_positional_encoding_fails_the_verification(name, evaluator, monkeypatch):
    monkeypatch.setattr(TuringTransformer, "beta", BETAS[name])
    verified = report("--evaluator", evaluator, "--verify")
    assert verified.exit_code == 1
    assert "not verified" in verified.stderr


@pytest.mark.parametrize("name", [*BETAS, *TWICE])
def test_the_indexed_evaluator_refuses_another_positional_encoding(name, monkeypatch):
    monkeypatch.setattr(TuringTransformer, "beta", (BETAS | TWICE)[name])
    with pytest.raises(
        ValueError, match=r"positional encoding beta|digit of the time in beta|leading ones|keys read other places"
    ):
        run_indexed(compile_turing_machine(parse_machine(RIGHTWARDS), 6))


def test_an_encoding_that_changes_late_is_refused_when_its_time_comes(monkeypatch):
    transformer = compile_turing_machine(parse_machine("1RA1RA"), 3000)
    run, right = start_indexed(transformer), TuringTransformer.beta
    advance_indexed(run, 1500)
    monkeypatch.setattr(TuringTransformer, "beta", lambda t, time: right(t, time if time < 1400 else time + 1))
    with pytest.raises(ValueError, match=r"beta\(1500\) does not hold the binary digits of 1500"):
        advance_indexed(run, 1)


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_written_symbols_cells_and_answers_are_those_of_the_simulator(evaluator):
    rng = np.random.default_rng(8)
    cases = [(palindrome_machine(), (1, 2, 1))]
    cases += [(random_machine(rng, 5, 3, rule), (1, 2)) for rule in ("two-way", "stay")]
    for machine, word in cases:
        transformer = compile_turing_machine(machine, 12)
        run, right = EVALUATORS[evaluator].run(transformer, [word]), reference_run(transformer, word)
        assert run.written[0, 1:].tolist() == right.written[1:]
        assert (run.cells[0, 1:] - transformer.start_cell).tolist() == right.heads[:-1]
        answers = [(z in machine.accept) - (z in machine.reject) for z in right.states]
        assert np.rint(run.answers[0].astype(float)).tolist() == answers


def test_machines_that_start_in_a_terminal_state_answer_at_once():
    from lemmata.constructions.turing.evaluators.sessions import indexed_session

    machine = replace(palindrome_machine(), start=palindrome_machine().states.index("reject"))
    session = indexed_session(compile_turing_machine(machine, 5), (1,), None, verify=True)
    session.finish(lambda done: None)
    assert (session.outcome.steps, session.outcome.accepts) == (0, False)


def test_rational_classifiers_are_evaluated_exactly():
    transformer = compile_turing_machine(parse_machine(RIGHTWARDS), 6)
    thirds = replace(transformer, classifier=transformer.classifier * fmpq(1, 3))
    assert EVALUATORS["indexed"].run(thirds, [()]).predictions.tolist() == [fmpq(1, 3)]
    assert EVALUATORS["exact"].run(thirds, [()]).predictions.tolist() == [fmpq(1, 3)]
