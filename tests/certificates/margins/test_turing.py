"""The certificate of compiled machines: what it refuses, and that its parts see faults."""

from dataclasses import replace

import numpy as np
import pytest

from certificates.margins.turing import machine_margin_bound, run_facts
from certificates.margins.turing_attack import filled_layers, null_key_flip, parameter_count, perturbed_layers
from constructions.turing.compiler import compile_turing_machine
from constructions.turing.machine import palindrome_machine

TRANSFORMER = compile_turing_machine(palindrome_machine(), 4, bits=3)


LONGER = compile_turing_machine(palindrome_machine(), 10, bits=4)


def with_layer(name, change, transformer=TRANSFORMER):
    layers = tuple(change(layer) if layer.name == name else layer for layer in transformer.layers)
    return replace(transformer, layers=layers)


def test_no_perturbation_changes_nothing():
    layers = filled_layers(TRANSFORMER)
    same = perturbed_layers(TRANSFORMER, np.zeros(parameter_count(layers)))
    for before, after in zip(layers, same, strict=True):
        for a, b in zip(before.feed_forward.arrays(), after.feed_forward.arrays(), strict=True):
            assert (a == b).all()
        assert len(after.attentions()) == 2


def test_values_that_differ_in_a_tie_are_seen():
    """The layer C.4 attends to all visits of a cell; values that read their times, into a coordinate that the layer
    drops, differ among them and change nothing else."""

    def change(layer):
        head = layer.self_attention
        weight = head.value.weight.copy()
        weight[LONGER.layout.stream["pos1"], LONGER.layout.stream["aux"].start] = 2 ** np.arange(4)
        return replace(layer, self_attention=replace(head, value=replace(head.value, weight=weight)))

    assert run_facts(LONGER, [(1, 2, 1)]).tie_spread == 0
    assert run_facts(with_layer("C.4", change, LONGER), [(1, 2, 1)]).tie_spread > 0


def test_fractional_keys_and_hopeless_scores_are_refused():
    def fractional(layer):
        head = layer.self_attention
        return replace(layer, self_attention=replace(head, null=(head.null_key / 2, head.null_value)))

    def loud(layer):
        head = layer.self_attention
        return replace(layer, self_attention=replace(head, null=(head.null_key * 10**9, head.null_value)))

    with pytest.raises(ValueError, match="integer queries and keys"):
        machine_margin_bound(with_layer("C.6", fractional))
    with pytest.raises(ValueError, match="keeps the scores apart"):
        machine_margin_bound(with_layer("C.6", loud))


def test_an_undecided_word_has_no_flip():
    with pytest.raises(ValueError, match="has not decided"):
        null_key_flip(TRANSFORMER, (1, 2, 1))
