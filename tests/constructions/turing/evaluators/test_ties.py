"""Ties of hard attention in floats: as exact arithmetic decides them, or refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.constructions.turing.compiler import TuringTransformer, compile_turing_machine
from lemmata.constructions.turing.evaluators.registry import DENSE, EXACT, TORCH
from lemmata.constructions.turing.evaluators.ties import TieRule
from lemmata.constructions.turing.machine import busy_beaver, palindrome_machine
from lemmata.numerics.exact.numbers import to_float


def with_part(transformer: TuringTransformer, name: str, part: str, change) -> TuringTransformer:
    """The transformer with the weight of one map of the self-attention of a layer changed, in rationals."""
    layers = list(transformer.layers)
    place = [layer.name for layer in layers].index(name)
    head = layers[place].self_attention
    assert head is not None
    old = getattr(head, part)
    new = replace(old, weight=change(old.weight.astype(object)))
    layers[place] = replace(layers[place], self_attention=replace(head, **{part: new}))
    return replace(transformer, layers=tuple(layers))


def time_digit(transformer: TuringTransformer, amount):
    """A key that also reads the last digit but one of the time; all visits of a cell have times of one parity."""

    def change(weight):
        weight[transformer.layout.stream["pos1"].stop - 2, 0] += amount
        return weight

    return change


def test_scores_that_differ_by_less_than_the_gap_are_no_ties():
    """Layer C.4 is told by its values which visit wins: with a moved key not all do."""
    machine = palindrome_machine()
    transformer = compile_turing_machine(machine, 14)
    where = transformer.layout.stream

    def tell(weight):
        weight[where["pos1"].stop - 2, where["scr4"].start] -= 1  # a value of 0 at the times 2, 3, 6, 7, ...
        return weight

    word = (1, 2, 2, 1)
    for amount in (fmpq(1, 10), fmpq(-1, 10), fmpq(1, 1000)):
        moved = with_part(transformer, "C.4", "key", time_digit(transformer, amount))
        moved = with_part(moved, "C.4", "value", tell)
        exact, dense = (evaluator.run(moved, [word], hidden=True).hidden for evaluator in (EXACT, DENSE))
        assert np.abs(to_float(exact) - dense).max() < 1e-9
        with pytest.raises(ValueError, match="are averaged by this module, and they do not tie"):
            TORCH.run(moved, [word])
    averaged = EXACT.run(with_part(transformer, "C.4", "value", tell), [word], hidden=True).hidden
    assert (averaged != exact).any()  # a tie and a difference of 1/1000 are told apart


@pytest.mark.parametrize("amount", [fmpq(1, 10**12), fmpq(1, 10**30), fmpq(-1, 10**30)])
def test_scores_too_close_to_tell_are_computed_exactly(amount):
    transformer = compile_turing_machine(palindrome_machine(), 14)
    where, word = transformer.layout.stream, (1, 2, 2, 1)

    def tell(weight):
        weight[where["pos1"].stop - 2, where["scr4"].start] -= 1
        return weight

    moved = with_part(transformer, "C.4", "key", time_digit(transformer, amount))
    moved = with_part(moved, "C.4", "value", tell)
    exact, dense = (evaluator.run(moved, [word], hidden=True).hidden for evaluator in (EXACT, DENSE))
    assert np.abs(to_float(exact) - dense).max() < 1e-9


@pytest.mark.parametrize("evaluator", [DENSE, TORCH], ids=lambda one: one.name)
def test_equal_keys_tie_under_any_query(evaluator):
    transformer = compile_turing_machine(busy_beaver(4), 40)

    def change(weight):
        weight[transformer.layout.stream["pos3"].start, 0] += fmpq(1, 10**12)
        return weight

    moved = with_part(transformer, "C.4", "query", change)
    run, right = evaluator.run(moved, [()]), EXACT.run(moved, [()])
    assert np.array_equal(run.states, right.states)
    assert np.array_equal(run.heads, right.heads)


def one_head(key: float = 2.0) -> Head:
    """Compares two bits; the null pair scores 1."""
    query = Affine(2.0 * np.eye(2, 3), np.array([-1.0, -1.0, 1.0]))
    keys = Affine(key * np.eye(2, 3), np.array([-1.0, -1.0, 0.0]))
    return Head(query, keys, np.zeros((2, 1)), "hardmax", null=(np.array([0.0, 0.0, 1.0]), np.zeros(1)), gap=1)


def test_tokens_that_are_no_bits_prove_nothing():
    rule = TieRule.of(one_head())
    z, memory = np.array([[1.0, 0.0]]), np.array([[[1.0, 0.0], [1.0, 1e-3], [1.0, 0.0]]])
    scores = np.array([[1.0, 2.0, 1.998, 2.0]])
    found = rule.ties(scores, rule.query_codes(z), rule.key_codes(memory), "here")
    assert found.tolist() == [[False, True, False, True]]
    bits = rule.key_codes(np.rint(memory))
    assert rule.ties(scores, rule.query_codes(z), bits, "here").tolist() == [[False, True, True, True]]
    near = np.array([[1.0, 2.0, 2.0 - 1e-13, 2.0]])
    with pytest.raises(ValueError, match="here: the largest scores are closer"):
        rule.ties(near, rule.query_codes(z), rule.key_codes(memory), "here")


def test_a_tie_with_the_null_pair_is_decided_by_the_weights():
    """All bits agree: the token scores 1 + 1 with keys of 2, and 1.5 + 1.5 with keys of 5/2."""
    z, memory = np.array([[1.0, 1.0]]), np.array([[[1.0, 1.0]]])
    for key, null, expected in (
        (2.0, 2, [True, True]),
        (2.5, 3, [True, True]),
        (2.5, fmpq(3) - fmpq(1, 10**20), [False, True]),
    ):
        head = one_head(key)
        rule = TieRule.of(replace(head, null=(np.array([0, 0, null], dtype=object), head.null_value)))
        scores = np.array([[float(to_float([null])[0]), 2 * key - 2]])
        assert rule.ties(scores, rule.query_codes(z), rule.key_codes(memory), "here").tolist() == [expected]


@pytest.mark.parametrize("evaluator", [DENSE, TORCH], ids=lambda one: one.name)
def test_close_scores_of_tokens_that_are_no_bits_are_refused(evaluator):
    """The value of C.4 is halved, so that a flag is 1/2, and so is what it leads to in later steps."""
    transformer = compile_turing_machine(palindrome_machine(), 14)
    layers = list(transformer.layers)
    number = [layer.name for layer in layers].index("C.4")
    head = layers[number].self_attention
    assert head is not None
    half = replace(head.value, bias=head.value.bias.astype(object) * fmpq(1, 2))
    layers[number] = replace(layers[number], self_attention=replace(head, value=half))
    moved = replace(transformer, layers=tuple(layers))
    with pytest.raises(ValueError, match=r"Time \d+, layer C\.\d.*: the largest scores are closer than floats"):
        evaluator.run(moved, [(1, 2, 2, 1)])
