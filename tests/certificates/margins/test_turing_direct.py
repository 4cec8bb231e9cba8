"""The layer-by-layer certificate of compiled machines and the attack on their scores: refusals, and small facts.

Edits that change no verdict: the number of iterations that look for sigma_h, which the conditions check; the width of
the bisection; the numbers of tries, of steps and the growth factors of the attack, whose flips are checked exactly.
"""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq

from lemmata.certificates.margins import turing_facts
from lemmata.certificates.margins.turing import machine_margin_bound
from lemmata.certificates.margins.turing_direct import direct_margin_bound, loads
from lemmata.certificates.margins.turing_ones import BlockOnes, lemma_ones, measured_ones
from lemmata.certificates.margins.turing_scores import replay_score_flip, score_flip
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.turing.compiler import compile_turing_machine
from lemmata.constructions.turing.machine import machine_from_table, palindrome_machine

TRANSFORMER = compile_turing_machine(palindrome_machine(), 12)
WORD = (1, 2, 1)


def with_layer(name, change):
    layers = tuple(change(layer) if layer.name == name else layer for layer in TRANSFORMER.layers)
    return replace(TRANSFORMER, layers=layers)


def head_with(**changes):
    return lambda layer: replace(layer, self_attention=replace(layer.self_attention, **changes))


def null_times(factor):
    return lambda layer: head_with(null=(layer.self_attention.null_key * factor, layer.self_attention.null_value))(
        layer
    )


def test_the_bound_is_sharper_than_the_uniform_one_and_a_flip_bounds_both():
    uniform, direct = machine_margin_bound(TRANSFORMER).value, direct_margin_bound(TRANSFORMER)
    assert uniform * 10 < direct.value
    assert direct.binding == "C.6: token and null"
    assert all(load < 1 for load in direct.loads.values())
    assert loads(TRANSFORMER, direct.value, direct.sigma_h).keys() == direct.loads.keys()
    longer = loads(TRANSFORMER, direct.value * 2, direct.sigma_h)
    assert all(longer[name] > load for name, load in direct.loads.items())


def test_a_quarter_as_threshold_narrows_the_margin():
    quarter = compile_turing_machine(palindrome_machine(), 12, threshold=fmpq(1, 4))
    assert 0.5 < float(direct_margin_bound(quarter).value / direct_margin_bound(TRANSFORMER).value) < 2


def test_weights_that_the_certificate_does_not_know_are_refused():
    with pytest.raises(ValueError, match="needs integer weights before the rounding"):
        direct_margin_bound(with_layer("C.6", null_times(0.5)))
    with pytest.raises(ValueError, match="No radius down to 2\\^-40 meets the conditions"):
        direct_margin_bound(with_layer("C.6", null_times(10**14)))

    def unrounded(layer):
        first, expand, collapse = layer.feed_forward.layers
        weight = expand.weight.copy()
        weight[0, 0] = 2
        return replace(layer, feed_forward=FeedForward((first, Affine(weight, expand.bias), collapse)))

    with pytest.raises(ValueError, match=r"last two ReLU layers of C\.2b are no rounding with the threshold 1/3"):
        direct_margin_bound(with_layer("C.2b", unrounded))
    cross = next(layer.cross_attention for layer in TRANSFORMER.layers if layer.name == "C.7")
    with pytest.raises(ValueError, match=r"knows layers with one head, and C\.6 has two"):
        direct_margin_bound(with_layer("C.6", lambda layer: replace(layer, cross_attention=cross)))
    with pytest.raises(ValueError, match=r"No lemma says .* after the layer 'mine'"):
        direct_margin_bound(with_layer("C.6", lambda layer: replace(layer, name="mine")))


def test_ones_are_counted_on_bits_and_on_some_word():
    with pytest.raises(ValueError, match="on at least one word"):
        measured_ones(TRANSFORMER, [])

    def doubled(layer):
        first, *rounding = layer.feed_forward.layers
        return replace(layer, feed_forward=FeedForward((first, *rounding[:1], Affine(2 * rounding[1].weight))))

    with pytest.raises(ValueError, match="vectors of bits"):
        measured_ones(with_layer("C.8c", doubled), [WORD])
    assert measured_ones(TRANSFORMER, [WORD, ()]).encoded.blocks["sym1"] == 1
    assert BlockOnes.of({"st": 1, "pos1": 3}).total == 4
    assert lemma_ones(TRANSFORMER).read[0].blocks["pos1"] == TRANSFORMER.layout.bits


def test_the_largest_part_on_ones_is_that_of_enumeration():
    """All tokens with so many ones in each block of a small stream, against `_columns`."""
    stream = compile_turing_machine(palindrome_machine(), 2).layout.stream
    random = np.random.default_rng(3)
    g = np.zeros((stream.width, 4), dtype=np.int64)
    for name in ("sym1", "pos1"):
        g[stream[name]] = random.integers(0, 4, (stream.sizes[name], 4))
    ones = BlockOnes.of({"sym1": 2, "pos1": 1})
    places = [range(stream[name].start, stream[name].stop) for name in ("sym1", "pos1")]
    for column, found in zip(g.T, turing_facts._columns(stream, g, ones), strict=True):
        best = max(
            sum(int(column[i]) ** 2 for i in (*first, *second))
            for first in itertools.combinations(places[0], 2)
            for second in itertools.combinations(places[1], 1)
        )
        assert (found.on_ones, found.whole) == (best, int((column**2).sum()))


def test_a_flip_is_replayed_from_json_and_bad_documents_are_refused():
    flip = score_flip(TRANSFORMER, WORD, tries=1)
    assert flip is not None
    document = json.loads(json.dumps(flip.document()))
    assert replay_score_flip(TRANSFORMER, WORD, document) == flip
    assert math.isclose(flip.norm**2, float(flip.norm_squared))
    assert TRANSFORMER.layers[flip.layer].name == "C.6"
    zero = {"layer": flip.layer, "time": 1, "moves": {}}
    for wrong, message in [
        ({}, "A perturbation has a 'layer', a 'time' and 'moves'"),
        ({**zero, "moves": {"query.bias": [[0, "x"]]}}, "A perturbation has a 'layer'"),
        ({**zero, "layer": 0}, "Layer 0 has no scores"),
        ({**zero, "layer": 99}, "Layer 99 has no scores"),
        ({**zero, "moves": {"value.bias": [[0, "1"]]}}, "'value.bias' has a place that is no weight"),
        ({**zero, "moves": {"query.bias": [[0, 0, "1"]]}}, "'query.bias' has a place that is no weight"),
        ({**zero, "moves": {"query.bias": [[10**6, "1"]]}}, "'query.bias' has a place that is no weight"),
        (zero, "does not flip the prediction: F is 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            replay_score_flip(TRANSFORMER, WORD, wrong)


def test_a_word_that_is_not_decided_has_no_flip():
    with pytest.raises(ValueError, match="has not decided"):
        score_flip(compile_turing_machine(palindrome_machine(), 3), WORD)


def test_no_flip_is_reported_where_scores_do_not_matter():
    """A machine that accepts whatever it reads, in one step: no score that is pushed over changes the answer."""
    rules = {("s", a): ("yes", a, 1) for a in "_1"}
    transformer = compile_turing_machine(machine_from_table(rules, start="s", blank="_", accept=["yes"], reject=[]), 2)
    assert score_flip(transformer, (1,), tries=3, steps=4) is None
