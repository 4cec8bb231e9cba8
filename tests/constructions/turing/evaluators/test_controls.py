"""Planted faults that the indexed evaluator of Turing machines and its verification must see."""

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.turing.compiler import TuringTransformer, compile_turing_machine
from lemmata.constructions.turing.evaluators import sessions as turing_runs
from lemmata.constructions.turing.evaluators.indexed import advance_indexed, run_indexed, start_indexed
from lemmata.constructions.turing.evaluators.indexed_checks import Configuration, broken_layers
from lemmata.constructions.turing.evaluators.outcomes import VerificationError
from lemmata.constructions.turing.evaluators.sessions import indexed_session
from lemmata.constructions.turing.machine import busy_beaver, palindrome_machine, random_machine


def with_map(transformer: TuringTransformer, name: str, number: int, weight, bias) -> TuringTransformer:
    """The transformer with one ReLU layer of one layer changed; both changes add to what is there."""
    layers = list(transformer.layers)
    place = next(n for n, layer in enumerate(layers) if layer.name == name)
    parts = list(layers[place].feed_forward.layers)
    parts[number] = Affine(parts[number].weight + weight, parts[number].bias + bias)
    layers[place] = replace(layers[place], feed_forward=replace(layers[place].feed_forward, layers=tuple(parts)))
    return replace(transformer, layers=tuple(layers))


def unit(size: int, *index: int) -> np.ndarray:
    result = np.zeros((size,) * len(index), dtype=np.int64)
    result[index] = 1
    return result


def test_a_time_that_is_not_cleared_is_refused():
    """The last layer turns the highest digit of the time on, and the next position adds another 1 there."""
    transformer = compile_turing_machine(busy_beaver(2), 6)
    d, place = transformer.layout.width, transformer.layout.stream["pos1"].stop - 1
    with pytest.raises(ValueError, match=r"Time 1, .*block pos1.*the positional encoding meets"):
        run_indexed(with_map(transformer, "C.8c", 0, np.zeros((d, d), int), unit(d, place)))


def test_an_output_that_is_always_a_half_is_refused():
    transformer = compile_turing_machine(busy_beaver(2), 6)
    d = transformer.layout.width
    bias = unit(d, transformer.layout.stream["q"].start).astype(object) * fmpq(1, 2)
    zero = np.zeros((2 * d, d), int)
    with pytest.raises(ValueError, match="token-wise map puts out a number"):
        run_indexed(with_map(transformer, "C.8c", 2, zero, bias))


def test_keys_that_skip_a_digit_of_the_time_are_refused():
    transformer = compile_turing_machine(busy_beaver(3), 9)
    layers = list(transformer.layers)
    place = next(n for n, layer in enumerate(layers) if layer.name == "C.5 bit 3")
    head = layers[place].self_attention
    assert head is not None
    weight = head.key.weight.copy()
    weight[transformer.layout.stream["pos1"].start] = 0
    layers[place] = replace(layers[place], self_attention=replace(head, key=replace(head.key, weight=weight)))
    with pytest.raises(ValueError, match=r"C\.5 bit 3: its keys read digits of the time that are not the leading ones"):
        run_indexed(replace(transformer, layers=tuple(layers)))


def test_input_symbols_with_one_code_are_refused():
    transformer = compile_turing_machine(palindrome_machine(), 2, bits=2, wrap=True)
    with pytest.raises(ValueError, match="Two of the 5 input symbols have the same key"):
        run_indexed(transformer, (1, 2, 1, 2, 1))


@pytest.mark.parametrize("time", [1, 5, 9])
def test_a_wrong_bit_after_every_group_of_layers_is_seen(time):
    """Each layer that ends a lemma, each of its coordinates: `broken_layers` names that layer and no other."""
    machine, word = palindrome_machine(), (1, 2, 1)
    transformer = compile_turing_machine(machine, 12)
    run = start_indexed(transformer, word)
    before, step = advance_indexed(run, time), advance_indexed(run, 1, trace=True)
    codes = [
        Configuration(int(part.states[-1]), int(part.symbols[-1]), int(part.heads[-1]) - transformer.start_cell)
        for part in (before, step)
    ]
    trace, visit = step.trace[0], int(step.last_visits[0])
    names = [layer.name for layer in transformer.layers]
    groups = {"C.1b", "C.2c", "C.4", "C.6", "C.7", "C.8c", *(name for name in names if name.startswith("C.5"))}
    assert broken_layers(transformer, word, time, *codes, visit, trace) == []
    for number, name in enumerate(names):
        if name in groups:
            for coordinate in range(transformer.layout.width):
                trace[number, 1, coordinate] ^= 1
                assert broken_layers(transformer, word, time, *codes, visit, trace) == [name]
                trace[number, 1, coordinate] ^= 1


@pytest.mark.parametrize("check", ["broken_layers", "wrong_answers"])
def test_verification_heeds_both_checks_of_the_layers(check, monkeypatch):
    monkeypatch.setattr(turing_runs, check, lambda *arguments: ["C.6"])
    session = indexed_session(compile_turing_machine(busy_beaver(3), 9), (), None, verify=True)
    with pytest.raises(VerificationError, match=r"invariants fail in step 1, in the layers C\.6"):
        session.finish(lambda done: None)


def test_the_tape_is_what_the_attention_stored():
    """The symbol last written in every cell, as the values of layer C.6 hold it, is the tape of the report."""
    machine = busy_beaver(4)
    transformer = compile_turing_machine(machine, 107)
    session = indexed_session(transformer, (), None, verify=False)
    session.finish(lambda done: None)
    last, payload = session.run.index.last, session.run.index.payload
    visited = np.flatnonzero(last)
    stored = {int(c) - transformer.start_cell: int(payload[last[c]]).bit_length() - 1 for c in visited}
    tape = dict(enumerate(map(int, session.outcome.tape()), session.outcome.left))
    assert tape == {session.outcome.head: tape[session.outcome.head]} | stored


def test_weights_that_would_not_fit_are_refused_before_they_are_built():
    """2^600 steps need 601 bits of position; the thousand states of the other machine fill the width."""
    with pytest.raises(ValueError, match=r"612 layers of width .* GiB of weights"):
        compile_turing_machine(palindrome_machine(), 2**600)
    machine = random_machine(np.random.default_rng(0), 1000, 10)
    with pytest.raises(ValueError, match="GiB of weights, and 16 GiB are allowed"):
        compile_turing_machine(machine, 10)
