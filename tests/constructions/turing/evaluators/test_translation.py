"""Programs in machine code against their twin, the interpreter: the same numbers, and the same refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import fmpq

import lemmata.constructions.turing.evaluators.indexed as indexed
import lemmata.numerics.turing.translation as translation
from lemmata.constructions.turing.compiler import TuringTransformer, compile_turing_machine
from lemmata.constructions.turing.evaluators.indexed import IndexedRun, advance_indexed, start_indexed
from lemmata.constructions.turing.machine import busy_beaver, counter_machine, palindrome_machine, random_machine

COLUMNS = ("states", "symbols", "heads", "last_visits", "written", "cells", "answers")


def both_ways(
    transformer: TuringTransformer, word: tuple[int, ...], count: int, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> list[tuple[IndexedRun, Any]]:
    """The same steps interpreted and in machine code, in uneven pieces: the runs, and their columns or the refusal."""
    results = []
    for first in (2**62, 0):
        monkeypatch.setattr(indexed, "TRANSLATED_FROM", first)
        parts, refusal, run = [], "", None
        try:
            run = start_indexed(transformer, word)
            for size in (1, count // 3, count):
                parts.append(advance_indexed(run, size, **options))
        except ValueError as error:
            refusal = str(error)
        columns = {name: np.concatenate([getattr(part, name) for part in parts] or [[]]) for name in COLUMNS}
        results.append((run, {**columns, "refusal": refusal}))
    return results


def assert_twins(results: list[tuple[IndexedRun, Any]]) -> None:
    (mine, interpreted), (other, machine) = results
    for name, column in interpreted.items():
        assert np.array_equal(column, machine[name]), name
    if not interpreted["refusal"]:
        assert np.array_equal(mine.stream, other.stream)
        assert (mine.time, mine.walked) == (other.time, other.walked)
        for one, two in zip(mine.index, other.index, strict=True):
            assert np.array_equal(one, two)


def machines() -> dict[str, tuple[Any, tuple[int, ...]]]:
    rng = np.random.default_rng(5)
    return {
        "fifth busy beaver": (busy_beaver(5), ()),
        "counter": (counter_machine(), (3, 1, 0, 1)),
        "random, 2 states": (random_machine(rng, 2, 3), (1, 2)),
        "random, 6 symbols": (random_machine(rng, 2, 6, "stay"), (1, 2, 5)),
        "random, 9 symbols": (random_machine(rng, 2, 9), (8, 7)),
    }


@pytest.mark.parametrize("name", machines())
def test_long_runs_are_the_same_bit_by_bit(name, effort, monkeypatch):
    machine, word = machines()[name]
    count = effort.pick(quick=4_000, full=200_000)
    results = both_ways(compile_turing_machine(machine, count), word, count, monkeypatch)
    assert_twins(results)
    assert len(results[0][1]["states"]) == count + 1


def test_random_machines_on_words_are_the_same(effort, monkeypatch):
    rng = np.random.default_rng(6)
    for number in range(effort.pick(quick=8, full=300)):
        machine = random_machine(
            rng, int(rng.integers(1, 7)), int(rng.integers(2, 12)), ("two-way", "stay")[number % 2]
        )
        word = tuple(int(a) for a in rng.integers(len(machine.symbols), size=int(rng.integers(12))))
        transformer = compile_turing_machine(machine, 300)
        assert_twins(both_ways(transformer, word, 300, monkeypatch, halting=bool(number % 3)))


def test_both_stop_at_the_first_answer(monkeypatch):
    for machine, word, steps in ((busy_beaver(4), (), 107), (palindrome_machine(), (1, 2, 1), 11)):
        results = both_ways(compile_turing_machine(machine, 200), word, 200, monkeypatch, halting=True)
        assert_twins(results)
        assert len(results[1][1]["states"]) - 1 >= steps
        assert results[1][1]["answers"][steps] != 0


def moved(transformer: TuringTransformer, rng: np.random.Generator) -> TuringTransformer:
    """The transformer with one to three weights of its layers moved."""
    layers = list(transformer.layers)
    for _ in range(int(rng.integers(1, 4))):
        number = int(rng.integers(len(layers)))
        layer, amount = layers[number], (1, -1, 2, fmpq(1, 10), fmpq(-1, 2))[int(rng.integers(5))]

        def change(array: Any, amount: Any = amount) -> Any:
            result, used = array.astype(object), np.argwhere(array != 0)
            if len(used) and rng.random() < 0.8:
                place = tuple(used[int(rng.integers(len(used)))])
            else:
                place = tuple(int(rng.integers(n)) for n in array.shape)
            result[place] += amount
            return result

        own = layer.self_attention
        if own is not None and rng.random() < 0.6:
            name = ("query", "key", "value", "null")[int(rng.integers(4))]
            if name == "null":
                head = replace(own, null=(change(own.null_key), own.null_value))
            else:
                part = getattr(own, name)
                which = ("weight", "bias")[int(rng.integers(2))]
                head = replace(own, **{name: replace(part, **{which: change(getattr(part, which))})})
            layers[number] = replace(layer, self_attention=head)
            continue
        affine = list(layer.feed_forward.layers)
        which = int(rng.integers(3))
        affine[which] = replace(affine[which], weight=change(affine[which].weight))
        layers[number] = replace(layer, feed_forward=replace(layer.feed_forward, layers=tuple(affine)))
    return replace(transformer, layers=tuple(layers))


def test_faults_in_the_weights_lead_to_the_same_steps_and_the_same_refusals(effort, monkeypatch):
    rng = np.random.default_rng(7)
    cases = [(busy_beaver(3), (1, 0)), (palindrome_machine(), (1, 2, 1))]
    compiled = [(compile_turing_machine(machine, 12), word) for machine, word in cases]
    kinds = {"refused early": 0, "refused on the way": 0, "other steps": 0, "the same": 0}
    right = [both_ways(transformer, word, 12, monkeypatch)[0][1]["states"] for transformer, word in compiled]
    for number in range(effort.pick(quick=36, full=3000)):
        transformer, word = compiled[number % 2]
        results = both_ways(moved(transformer, rng), word, 12, monkeypatch)
        assert_twins(results)
        found = results[0][1]
        early = results[0][0] is None
        same = not found["refusal"] and np.array_equal(found["states"], right[number % 2])
        kinds[
            "refused early"
            if early
            else "refused on the way"
            if found["refusal"]
            else "the same"
            if same
            else "other steps"
        ] += 1
    assert min(kinds.values()) > 0, kinds


def test_programs_are_translated_once(monkeypatch):
    monkeypatch.setattr(indexed, "TRANSLATED_FROM", 0)
    translation._translated.cache_clear()
    transformer = compile_turing_machine(busy_beaver(2), 9)
    for _ in range(3):
        run = start_indexed(transformer)
        advance_indexed(run, 5)
        advance_indexed(run, 5)
    assert translation._translated.cache_info().misses == 1


def test_the_digits_of_the_place_are_put_together_once_for_all_searches(monkeypatch):
    """One number is made of the bits of the place for the step itself, one for all its searches together."""
    monkeypatch.setattr(indexed, "TRANSLATED_FROM", 0)
    made = []
    monkeypatch.setattr(
        translation._Translator,
        "text",
        lambda self, text=translation._Translator.text: made.append(text(self)) or made[-1],
    )
    translation._translated.cache_clear()
    transformer = compile_turing_machine(busy_beaver(5), 1000)
    advance_indexed(start_indexed(transformer), 3)
    places = {line.rsplit("i64 ", 1)[1] for line in made[0].splitlines() if "%last, i64" in line}
    assert len(places) == 2
    searches = sum(layer.self_attention is not None for layer in transformer.layers)
    assert searches == transformer.layout.bits + 2


def test_every_fault_is_told_by_the_interpreter(monkeypatch):
    """The machine code has no reasons of its own: what it refuses is run once more."""
    transformer = compile_turing_machine(palindrome_machine(), 8, bits=3, max_length=3, wrap=True)
    results = both_ways(transformer, (1, 2, 1), 9, monkeypatch)
    assert_twins(results)
    assert "Time 8, layer C.4: the stream does not hold the digits of the time" in results[1][1]["refusal"]


def with_query(transformer: TuringTransformer, name: str, changes: dict[tuple[int, int], Any]) -> TuringTransformer:
    """The transformer with amounts added to the query map of the self-attention of a layer."""
    layers = list(transformer.layers)
    number = [layer.name for layer in layers].index(name)
    head = layers[number].self_attention
    assert head is not None
    weight = head.query.weight.astype(object)
    for place, amount in changes.items():
        weight[place] += amount
    layers[number] = replace(layers[number], self_attention=replace(head, query=replace(head.query, weight=weight)))
    return replace(transformer, layers=tuple(layers))


def test_ties_that_depend_on_the_state_are_refused_when_they_come(monkeypatch):
    """In state B the null pair of C.4 scores as much as a match; then also where the first digit weighs 3 in A."""
    transformer = compile_turing_machine(busy_beaver(4), 30)
    state, digits = transformer.layout.stream["st"].start, transformer.layout.bits
    tie: dict[tuple[int, int], Any] = {(state + 1, digits): fmpq(1, digits - 1)}
    for changes in (tie, tie | {(state, 0): 2}):
        results = both_ways(with_query(transformer, "C.4", changes), (), 30, monkeypatch)
        assert_twins(results)
        assert "layer C.4: a full match and the null pair tie" in results[1][1]["refusal"]


def test_a_time_that_is_not_cleared_is_refused(monkeypatch):
    """The last layer turns the highest digit of the time on, and the next position adds another 1 there."""
    transformer = compile_turing_machine(busy_beaver(2), 6)
    layers, place = list(transformer.layers), transformer.layout.stream["pos1"].stop - 1
    first, *rounding = layers[-1].feed_forward.layers
    bias = first.offset.copy()
    bias[place] += 1
    parts = (replace(first, bias=bias), *rounding)
    layers[-1] = replace(layers[-1], feed_forward=replace(layers[-1].feed_forward, layers=parts))
    results = both_ways(replace(transformer, layers=tuple(layers)), (), 6, monkeypatch)
    assert_twins(results)
    assert "Time 1, " in results[1][1]["refusal"]
    assert "the positional encoding meets" in results[1][1]["refusal"]


@pytest.mark.parametrize("kept", [0, 1])
def test_a_digit_that_no_query_weighs_is_refused_even_where_the_null_pair_wins(kept, monkeypatch):
    """The score of C.4 is the same for both values of the key's first digit, and the null pair is above all of them.

    So it is always, or where the query's own digit is 0.
    """
    transformer = compile_turing_machine(busy_beaver(2), 6)
    layers = list(transformer.layers)
    number = [layer.name for layer in layers].index("C.4")
    head = layers[number].self_attention
    assert head is not None
    weight, bias = head.query.weight.copy(), head.query.offset.copy()
    weight[:, 0] *= kept
    bias[0] = 0
    null = 1000 * head.null_key, head.null_value
    layers[number] = replace(
        layers[number], self_attention=replace(head, query=replace(head.query, weight=weight, bias=bias), null=null)
    )
    results = both_ways(replace(transformer, layers=tuple(layers)), (), 6, monkeypatch)
    assert_twins(results)
    assert "layer C.4: " in results[1][1]["refusal"]
