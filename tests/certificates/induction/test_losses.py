"""Certified losses against torch on all sequences, with exact evidences; random and attacked weights."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
import torch
from flint import arb

from lemmata.certificates.induction.cells import Cells, judge, outwards
from lemmata.certificates.induction.kernels import sums_of_squares
from lemmata.certificates.induction.losses import bound_losses, class_cells, enumerate_losses, sequence_cells
from lemmata.certificates.induction.tables import circuit_tables
from lemmata.certificates.induction.trained import trained_head
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.transformer import Transformer
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.markov.enumeration import stationary_evidence, transitions
from lemmata.numerics.markov.losses import entropy_rate, reference_losses
from lemmata.numerics.markov.predictors import bigram

TRAINED = trained_head().model


def random_model(seed, width=5, scale=1.0):
    rng = np.random.default_rng(seed)

    def affine(bias):
        return Affine(rng.normal(size=(width, width)) * scale / 2, rng.normal(size=width * bias) * scale)

    def layer():
        table = rng.normal(size=(int(rng.integers(1, 12)), width)) * scale
        head = Head(
            affine(1), affine(0), affine(1), temperature_squared=3, relative_keys=table, output=affine(1), sharpness=0.7
        )
        return AttentionLayer((head,))

    embedding, readout = rng.normal(size=(2, width)) * scale, rng.normal(size=(width, 2)) * scale
    return Transformer(embedding, np.zeros((0, width)), (layer(), layer()), readout)


def logits(model, x):
    """Of the last token, in float64, by torch."""
    with torch.no_grad():
        return model.to_torch()(torch.from_numpy(np.asarray(x)))[:, -1]


def differences(model, x):
    found = logits(model, x).numpy()
    return found[:, 1] - found[:, 0]


def torch_loss(model, t):
    """The loss by torch and exact evidences."""
    x = list(product([1, 2], repeat=t))
    laws = torch.log_softmax(logits(model, x), -1).tolist()
    evidence = {}
    total = 0.0
    for row, law in zip(x, laws, strict=True):
        for y in (1, 2):
            longer = (*row, y)
            key = (row[0], *map(tuple, transitions(longer, 2)))
            if key not in evidence:
                evidence[key] = float(stationary_evidence(longer))
            total -= evidence[key] * law[y - 1]
    return total - float(entropy_rate())


def cell_numbers(cells, window, x):
    """The number of the cell of every sequence of a batch, by plain counting."""
    names = zip(cells.endings.tolist(), cells.first.tolist(), cells.stays.tolist(), cells.changes.tolist(), strict=True)
    place = {name: number for number, name in enumerate(names)}
    x = np.asarray(x)
    stays = ((x[:, 1:] == 1) & (x[:, :-1] == 1)).sum(axis=1).tolist()
    changes = (x[:, 1:] != x[:, :-1]).sum(axis=1).tolist()
    endings = ((x[:, -window:] - 1) @ 2 ** np.arange(window - 1, -1, -1)).tolist()
    return np.array([place[name] for name in zip(endings, x[:, 0].tolist(), stays, changes, strict=True)])


MODELS = {"trained": TRAINED, "random": random_model(3), "steep": random_model(5, 3, 1.2)}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("t", [1, 3, 8])
def test_the_loss_is_that_of_torch(name, t):
    found = enumerate_losses(MODELS[name], t).proved
    loss = torch_loss(MODELS[name], t)
    assert found.loss[0] - 1e-11 < loss < found.loss[1] + 1e-11
    assert found.loss[1] - found.loss[0] < 1e-10
    assert found.gap[0] - 1e-11 < loss - found.bayes[0] < found.gap[1] + 1e-11
    assert found.gap[1] - found.gap[0] < 1e-10


@pytest.mark.parametrize("name", MODELS)
def test_the_distances_are_those_of_torch(name):
    """The mean with exact evidences, and the largest, of the distance from counting with plus one."""
    t = 6
    x = list(product([1, 2], repeat=t))
    off = np.abs(1 / (1 + np.exp(-differences(MODELS[name], x))) - bigram(np.array(x), 2)[:, -1, 1])
    mean = sum(float(stationary_evidence(row)) * value for row, value in zip(x, off, strict=True))
    found = enumerate_losses(MODELS[name], t).proved
    for (low, high), value in ((found.mean_distance, mean), (found.largest_distance, off.max())):
        assert low - 1e-11 < value < high + 1e-11
        assert high - low < 1e-9


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("t", "window", "grid"), [(7, 2, 2), (8, 3, 9), (9, 5, 32)])
def test_every_sequence_lies_in_its_cell(name, t, window, grid):
    model = MODELS[name]
    x = np.array(list(product([1, 2], repeat=t)))
    D = differences(model, x)
    one, cells = sequence_cells(model, t), class_cells(model, t, window, grid)
    room = 1e-12 * (1 + np.abs(D))
    assert np.all(one.outputs[:, 0] - room <= D)
    assert np.all(one.outputs[:, 1] + room >= D)
    numbers = cell_numbers(cells, window, x)
    assert np.array_equal(np.bincount(numbers, minlength=len(cells.count)), cells.count)
    assert np.all(cells.outputs[numbers, 0] - room <= D)
    assert np.all(cells.outputs[numbers, 1] + room >= D)
    assert_means_of_cells(cells, numbers, D)
    exact, compact = enumerate_losses(model, t).proved, bound_losses(model, t, window, grid).proved
    for name in ("loss", "gap", "mean_distance", "largest_distance"):
        inner, outer = getattr(exact, name), getattr(compact, name)
        assert outer[0] <= inner[0]
        assert inner[1] <= outer[1]


def assert_means_of_cells(cells, numbers, D):
    """The mean of the outputs of every cell, and of their squared distance from the middle of its interval."""
    mean = np.bincount(numbers, D) / cells.count
    room = 1e-12 * (1 + np.abs(mean))
    assert np.all(cells.means[:, 0] - room <= mean)
    assert np.all(mean <= cells.means[:, 1] + room)
    off = D - cells.means.mean(axis=1)[numbers]
    assert np.all(np.bincount(numbers, off * off) / cells.count <= cells.squares + 1e-12 * (1 + mean * mean))


def test_means_are_known_better_than_outputs():
    """Where the window leaves little open, the mean is known to a tenth of what a worst case leaves."""
    t, window = 11, 6
    x = np.array(list(product([1, 2], repeat=t)))
    cells = class_cells(TRAINED, t, window, 9)
    assert_means_of_cells(cells, cell_numbers(cells, window, x), differences(TRAINED, x))
    several = cells.count > 3
    worst, mean = (np.ptp(ends[several], axis=1) for ends in (cells.outputs, cells.means))
    assert np.median(mean / worst) < 0.1


def test_the_mean_cost_of_a_cell():
    """Classes of the trained head as cells, with the mean output and the mean square that their sequences have.

    The loss and the mean distance have to lie within what these cells tell, by little: the upper bound of the loss is
    nearer to it than the lower one, which leaves the curvature out.
    """
    t = 8
    x = np.array(list(product([1, 2], repeat=t)))
    D, cells = differences(TRAINED, x), class_cells(TRAINED, t, 2)
    numbers = cell_numbers(cells, 2, x)
    mean = np.bincount(numbers, D) / cells.count
    square = np.bincount(numbers, (D - mean[numbers]) ** 2) / cells.count
    means = np.stack([mean - 1e-12, mean + 1e-12], axis=1)
    exact, proved = (
        enumerate_losses(TRAINED, t).proved,
        judge(replace(cells, means=means, squares=square + 1e-12)),
    )
    for name in ("gap", "mean_distance"):
        inner, outer = getattr(exact, name), getattr(proved, name)
        assert outer[0] <= inner[0] <= inner[1] <= outer[1]
    assert proved.gap[1] - proved.gap[0] < 0.05 * exact.gap[0]


@pytest.mark.parametrize("t", [5, 9])
def test_sums_over_classes_are_exact_but_for_rounding(t):
    """Against all sequences in fractions, for random terms of sizes from 2^-60 to 2^60."""
    rng = np.random.default_rng(t)
    known = 3
    terms = rng.random((t, 2**known, t, 3)) * 2.0 ** rng.integers(-60, 60, (t, 2**known, t, 3))
    expected = {}
    for x in product([0, 1], repeat=t):
        final = 4 * x[-3] + 2 * x[-2] + x[-1]
        stays = sum(a == b == 0 for a, b in pairwise(x))
        changes = sum(a != b for a, b in pairwise(x))
        codes = [int("".join(map(str, x[max(0, j - known + 1) : j + 1])), 2) for j in range(t)]
        ones = [sum(x[: max(0, j - known + 1)]) for j in range(t)]
        X = [sum(Fraction(terms[j, codes[j], ones[j], a]) for j in range(t)) for a in range(3)]
        row = expected.setdefault((final, stays, changes), [Fraction(0)] * 7)
        for place, value in enumerate((*X, *(one * one for one in X), X[0] * X[1])):
            row[place] += value
    found = [sums_of_squares(t, known, final, terms) for final in range(2**known)]
    for (final, *place), row in expected.items():
        for value, exact in zip(found[final][tuple(place)].tolist(), row, strict=True):
            assert abs(Fraction(value) - exact) <= exact / 2**44
    assert sum(np.count_nonzero(one.any(axis=-1)) for one in found) == len(expected)


@pytest.mark.parametrize("part", ["first", "pairs", "steps", "direct", "copied"])
def test_tables_that_are_known_to_within_a_twentieth_enclose_all_that_they_allow(part):
    """Corners of the balls of one table: every entry, or every one that a coin chooses, at its upper or lower end."""
    t, rng = 5, np.random.default_rng(6)
    tables = circuit_tables(MODELS["random"], t)
    entries = getattr(tables, part)
    wide = replace(tables, **{part: entries + np.full(entries.shape, arb(0, 0.05))})
    every, cells = sequence_cells(wide, t).outputs, class_cells(wide, t, 3)
    classes, numbers = cells.outputs, cell_numbers(cells, 3, list(product([1, 2], repeat=t)))
    for corner in range(20):
        ends = rng.choice([-1, 1], size=entries.shape) if corner > 1 else np.full(entries.shape, 2 * corner - 1)
        thin = sequence_cells(replace(tables, **{part: entries + ends * 0.05 * (1 - 1e-9)}), t).outputs
        for outer in (every, classes[numbers]):
            assert np.all(outer[:, 0] <= thin[:, 0])
            assert np.all(thin[:, 1] <= outer[:, 1])
        assert_means_of_cells(cells, numbers, thin.mean(axis=1))


def test_the_cells_are_almost_attained():
    """With a window as long as the sequence less one, intervals are wide for the grid and the first token alone."""
    x = np.array(list(product([1, 2], repeat=8)))
    D, cells = differences(TRAINED, x), class_cells(TRAINED, 8, 7, 64)
    numbers = cell_numbers(cells, 7, x)
    high, low = np.full(len(cells.count), -np.inf), np.full(len(cells.count), np.inf)
    np.maximum.at(high, numbers, D)
    np.minimum.at(low, numbers, D)
    assert np.max(cells.outputs[:, 1] - high) < 0.01
    assert np.max(low - cells.outputs[:, 0]) < 0.01
    assert np.min(high - low) >= 0


def test_a_searched_sequence_lies_in_its_cell():
    """Sequences of 40 symbols, moved within their class by exchanges of blocks towards the largest output."""
    t, window = 40, 3
    cells = class_cells(TRAINED, t, window)
    rng = np.random.default_rng(2)
    gained = 0.0
    for sign in (1, -1):
        x = (rng.random((20, t)) < rng.random((20, 1))).astype(np.int64) + 1
        numbers, D = cell_numbers(cells, window, x), differences(TRAINED, x)
        before = sign * D
        for _ in range(40):
            y = x.copy()
            for row in y:
                row[: t - window] = exchanged(row[: t - window], rng)
            same = cell_numbers(cells, window, y) == numbers
            moved = differences(TRAINED, y)
            better = same & (sign * moved > sign * D)
            x[better], D[better] = y[better], moved[better]
        gained = max(gained, (sign * D - before).max())
        assert np.all(cells.outputs[numbers, 0] <= D)
        assert np.all(cells.outputs[numbers, 1] >= D)
    assert gained > 0.05


def exchanged(row, rng):
    """The row with two neighbouring blocks exchanged that begin and end alike, if they do."""
    a, b, c = np.sort(rng.choice(np.arange(1, len(row)), size=3, replace=False))
    return np.concatenate([row[:a], row[b:c], row[a:b], row[c:]])


def attacked(part, factor):
    """The trained model with its largest weight of one matrix scaled."""
    layers = list(TRAINED.layers)
    if part in ("embedding", "readout"):
        return replace(TRAINED, **{part: scaled(getattr(TRAINED, part), factor)})
    number, name = part
    head = layers[number].heads[0]
    matrix = getattr(head, name)
    new = scaled(matrix, factor) if name == "relative_keys" else Affine(scaled(matrix.weight, factor))
    layers[number] = AttentionLayer((replace(head, **{name: new}),))
    return replace(TRAINED, layers=tuple(layers))


def scaled(matrix, factor):
    result = np.array(matrix)
    result.flat[np.argmax(np.abs(result))] *= factor
    return result


PARTS = ["embedding", "readout", *((n, name) for n in (0, 1) for name in ("query", "key", "value", "relative_keys"))]


@pytest.mark.parametrize("part", PARTS, ids=str)
@pytest.mark.parametrize("factor", [1.02, -1.0])
def test_attacked_weights_change_the_certificate_and_stay_enclosed(part, factor):
    t = 7
    model = attacked(part, factor)
    before, after = enumerate_losses(TRAINED, t).proved.loss, enumerate_losses(model, t).proved.loss
    loss = torch_loss(model, t)
    assert after[0] - 1e-11 < loss < after[1] + 1e-11
    assert after[1] < before[0] or before[1] < after[0]
    compact = bound_losses(model, t, 3).proved.loss
    assert compact[0] < loss < compact[1]


def test_the_compact_proof_of_the_trained_head():
    """The bounds that the documents quote, at lengths that nobody can enumerate."""
    proved = bound_losses(TRAINED, 32, 3).proved
    assert proved.bigram[0] < proved.loss[0]
    assert proved.loss[0] > 0.0346
    assert proved.loss[1] < 0.0384
    assert 0.2477 < proved.largest_distance[0] < proved.largest_distance[1] < 0.2493
    tighter = bound_losses(TRAINED, 32, 4).proved
    assert proved.loss[0] < tighter.loss[0] < tighter.loss[1] < proved.loss[1]


def test_the_strategies_are_those_of_the_reference():
    for t in (2, 9, 30):
        proved = (bound_losses(TRAINED, t, 2) if t > 2 else enumerate_losses(TRAINED, t)).proved
        reference = reference_losses(t)
        assert abs(proved.bayes[0] - reference.bayes) < 1e-13
        assert abs(proved.bigram[1] - reference.bigram) < 1e-13


def test_bounds_are_rounded_outwards():
    """Sevenths are no floats, and exact to 2^-120 in balls: the floats next to them lie on the wrong side of some."""
    with precision(128):
        for n in [n for n in range(-50, 50) if n % 7]:
            low, high = outwards(arb(n) / 7, arb(n) / 7)
            assert Fraction(low) < Fraction(n, 7) < Fraction(high)
            assert high - low < 1e-14
        assert outwards(arb(-1), arb(2), 0.0)[0] == 0


def test_a_perfect_counter_has_no_distance():
    """Cells whose outputs are those of counting with plus one: the loss is the bigram line, all distances vanish."""
    t = 6
    cells = sequence_cells(TRAINED, t)
    x = np.array(list(product([1, 2], repeat=t)))
    law = bigram(x, 2)[:, -1]
    D = np.log(law[:, 1]) - np.log(law[:, 0])
    parts = (cells.first, cells.endings, cells.stays, cells.changes, cells.count)
    proved = judge(Cells(t, *parts, np.stack([D - 1e-14, D + 1e-14], axis=1)))
    assert proved.largest_distance[0] <= 0 <= proved.largest_distance[1] < 1e-13
    assert proved.loss[0] <= proved.bigram[0] <= proved.bigram[1] <= proved.loss[1]
    assert proved.loss[1] - proved.loss[0] < 1e-12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: enumerate_losses(TRAINED, 21), "All sequences are run for t <= 20"),
        (lambda: enumerate_losses(TRAINED, 0), "number of symbols t"),
        (lambda: bound_losses(TRAINED, 3, 3), "window < t"),
        (lambda: bound_losses(TRAINED, 63, 3), "window < t"),
        (lambda: bound_losses(TRAINED, 8, 1), "window"),
        (lambda: bound_losses(TRAINED, 8, 3, 1), "grid"),
        (lambda: enumerate_losses(random_model(1, 4, 30.0), 3), "The scores of layer 2 may be as large as"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_cells_that_are_not_all_sequences_are_refused():
    cells = sequence_cells(TRAINED, 4)
    parts = (cells.first, cells.endings, cells.stays, cells.changes)
    with pytest.raises(ValueError, match=r"hold 32 sequences of 4 symbols, not 2\^4"):
        Cells(4, *parts, cells.count * 2, cells.outputs)
    with pytest.raises(ValueError, match="finite interval"):
        Cells(4, *parts, cells.count, cells.outputs[:, ::-1])
