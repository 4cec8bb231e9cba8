"""The certificate of compiled machines: what it refuses, and that its parts see faults.

Edits that change no verdict: a `break` that becomes `continue` in `machine_margin_bound` (smaller radii are tried in
vain), and in `turing_attack` which of the three kinds of random perturbation comes when.
"""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lemmata.certificates.margins import turing
from lemmata.certificates.margins.turing import machine_margin_bound, run_facts
from lemmata.certificates.margins.turing_attack import filled_layers, null_key_flip, parameter_count, perturbed_layers
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.turing.compiler import compile_turing_machine
from lemmata.constructions.turing.machine import palindrome_machine
from lemmata.numerics.exact.balls import precision

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


def test_scores_that_do_not_tie_differ_by_a_whole_number():
    """Ties and hidden tokens are no gaps."""
    facts = run_facts(TRANSFORMER, [(1, 2)])
    assert 1 <= facts.smallest_gap < math.inf


def test_the_largest_values_on_bits_are_those_of_enumeration():
    """Of one output coordinate the bound is attained by some bits; of several it is their root sum of squares."""
    random = np.random.default_rng(5)
    bits = np.array(list(itertools.product((0, 1), repeat=5)))
    for _ in range(20):
        layer = Affine(random.integers(-3, 4, (5, 2)), random.integers(-2, 3, 2))
        largest = np.abs(bits @ layer.weight + layer.offset).max(axis=0)
        assert float(turing._largest_on_bits(layer)) == pytest.approx(math.hypot(*largest), rel=1e-12)


@pytest.mark.parametrize("transformer", [TRANSFORMER, LONGER], ids=["4 steps", "10 steps"])
def test_no_radius_of_the_grid_gives_a_better_bound(transformer):
    """All pairs of radii are tried here; the search leaves out what cannot be better."""
    with precision(turing.BITS):
        norms = [turing.layer_norms(layer) for layer in transformer.layers]
        classifier = turing._vector_norm(transformer.classifier)
        bounds = [
            turing._bound(transformer, norms, classifier, Fraction(m, 2**j), Fraction(n, 2**k))
            for j, m in itertools.product(range(6, 14), (4, 6))
            for k, n in itertools.product(range(10, 22), (4, 5, 6, 7))
        ]
    assert machine_margin_bound(transformer).value == max(bound.value for bound in bounds if bound is not None) > 0


def test_a_time_sees_itself_and_the_times_before(monkeypatch):
    seen, measured = [], turing._measured

    def noted(head, z, tokens, visible):
        seen.append([np.flatnonzero(row).tolist() for row in visible])
        return measured(head, z, tokens, visible)

    monkeypatch.setattr(turing, "_measured", noted)
    run_facts(TRANSFORMER, [(1, 2)])
    assert [[], [0], [0, 1], [0, 1, 2], [0, 1, 2, 3]] in seen  # row i is time i, column j time j + 1
    assert all(rows in ([list(range(i)) for i in range(5)], [list(range(len(rows[0])))] * 5) for rows in seen)
