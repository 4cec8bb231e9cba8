"""Proofs by classes for one and two layers, several heads, biases, positions and rows in front: against all sequences.

Outputs are those of the torch module; means under an attention are tried over all symbols that are not known.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from lemmata.certificates.induction.kernels import window_means
from lemmata.certificates.induction.layers import layers_for
from lemmata.certificates.induction.losses import bound_losses, class_cells
from lemmata.certificates.induction.measured import certified_loss
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.transformer import Transformer
from tests.certificates.induction.test_losses import assert_means_of_cells, cell_numbers, differences, torch_loss

WIDTH, KEY, LONGEST = 5, 3, 9


def model_of(seed, heads, *, positions=0.0, front=0, relative=0, sharpness=1.0, spread=1.0):
    """Random weights, with biases everywhere; so many heads in each layer."""
    rng = np.random.default_rng(seed)

    def affine(rows, columns):
        return Affine(rng.normal(size=(rows, columns)) * spread / 2, rng.normal(size=columns) * spread / 2)

    def head():
        table = rng.normal(size=(relative, KEY))
        parts = [affine(WIDTH, KEY) for _ in range(3)]
        return Head(*parts, temperature_squared=3, relative_keys=table, output=affine(KEY, WIDTH), sharpness=sharpness)

    return Transformer(
        rng.normal(size=(2, WIDTH)),
        rng.normal(size=(front, WIDTH)),
        tuple(AttentionLayer(tuple(head() for _ in range(number))) for number in heads),
        affine(WIDTH, 2),
        positions=positions * rng.normal(size=(LONGEST * bool(positions), WIDTH)),
    )


MODELS = {
    "one layer": model_of(1, (2,), positions=1.0),
    "one layer behind a token": model_of(2, (3,), front=1, relative=4),
    "two heads": model_of(3, (2, 2), relative=5),
    "three and one, positions": model_of(4, (3, 1), positions=0.5),
    "all at once": model_of(5, (2, 3), positions=0.7, front=2, relative=3),
    "ties": model_of(6, (1, 2), positions=0.6, sharpness=2.0**-40),
    "large scores": model_of(7, (2, 2), positions=0.5, sharpness=200.0),
    "no values": model_of(8, (2, 1), positions=1.0, spread=0.0),
}
CASES = [(name, 2, 2, 1) for name in MODELS] + [
    ("all at once", 3, 9, 3),
    ("two heads", 4, 5, 2),
    ("one layer", 5, 2, 2),
]


@pytest.mark.parametrize(("name", "window", "grid", "blocks"), CASES)
def test_every_sequence_lies_in_its_cell(name, window, grid, blocks):
    """Outputs by cell, their means and mean squares, and the loss of all sequences by exact evidences."""
    model, t = MODELS[name], 7
    x = np.array(list(product([1, 2], repeat=t)))
    D, cells = differences(model, x), class_cells(model, t, window, grid, blocks)
    numbers, room = cell_numbers(cells, window, x), 1e-10 * (1 + np.abs(D))
    assert np.array_equal(np.bincount(numbers, minlength=len(cells.count)), cells.count)
    assert np.all(cells.outputs[numbers, 0] <= D + room)
    assert np.all(cells.outputs[numbers, 1] >= D - room)
    assert_means_of_cells(cells, numbers, D)
    low, high = bound_losses(model, t, window, grid, blocks).proved.loss
    loss = torch_loss(model, t)
    assert low - 1e-9 < loss < high + 1e-9


@pytest.mark.parametrize("name", ["two heads", "all at once"])
def test_means_are_extreme(name):
    """By the last two symbols and the number of 2s before, tried over all earlier symbols."""
    t, known = 6, 2
    layers = layers_for(MODELS[name], t)
    weights, r = layers.mixtures[0].weights, len(layers.front)
    y = np.repeat(np.random.default_rng(0).normal(size=(2, r + t, 2, 1)), 2, axis=-1)
    found = window_means(t, known, weights, y)
    seen = np.zeros(found.shape[:-1], dtype=bool)
    for j in range(t):
        means = {}
        for x in product([0, 1], repeat=j + 1):
            rows, symbols = np.arange(r + j + 1), np.array([0] * r + list(x))
            e, values = weights[j, x[-1], rows, symbols].mean(axis=-1), y[x[-1], rows, symbols, 0]
            code, earlier = int("".join(map(str, x[-known:])), 2), x[:-known]
            means.setdefault((code, sum(earlier)), []).append(e @ values / e.sum())
        for (code, ones), tried in means.items():
            low, high = found[j, code, ones]
            seen[j, code, ones] = True
            assert low <= min(tried) + 1e-14
            assert high >= max(tried) - 1e-14
            assert max(min(tried) - low, high - max(tried)) < 0.02 * np.ptp(y)
    assert np.array_equal(seen, np.isfinite(found[..., 0]))


@pytest.mark.parametrize("name", ["one layer behind a token", "all at once"])
def test_a_uniform_first_symbol(name):
    """Against all sequences in balls, judged by posterior counts."""
    t = 6
    inner = certified_loss(MODELS[name], t, start="uniform")
    outer = bound_losses(MODELS[name], t, 3, 9, 2, "uniform")
    assert (inner.method, outer.method) == ("sequences", "classes")
    for part in ("loss", "gap", "bayes", "mean_distance", "largest_distance"):
        (low, high), (least, most) = getattr(outer.proved, part), getattr(inner.proved, part)
        assert low - 1e-13 <= least <= most <= high + 1e-13
    assert abs(outer.proved.bayes[0] - inner.proved.bayes[1]) < 1e-13
    assert certified_loss(MODELS["one layer behind a token"], 12, grid=2, start="uniform").method == "classes"


ONE = MODELS["one layer"]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (replace(ONE, layers=ONE.layers * 3), "one or two residual attention layers.*length of at most 10"),
        (replace(ONE, layers=(*ONE.layers, FeedForward((Affine(np.eye(WIDTH)),)))), "and nothing else"),
        (replace(ONE, layers=(replace(ONE.layers[0], combination="sum"),)), "residual"),
        (ONE.change(Head, lambda head: replace(head, causal=False)), "causal softmax heads"),
        (replace(ONE, readout=np.ones((WIDTH, 3))), "two output logits"),
        (replace(ONE, embedding=np.ones((3, WIDTH)), alphabet=(), readout=np.ones((WIDTH, 3))), r"over 3 as t\^6"),
    ],
)
def test_what_has_no_proof_by_classes_is_refused(model, message):
    with pytest.raises(ValueError, match=message):
        certified_loss(replace(model, positions=np.ones((20, WIDTH))), 16)


def test_more_tokens_than_positions_are_refused():
    with pytest.raises(ValueError, match="There are 9 positions, too few for 12 tokens"):
        certified_loss(ONE, 12)
