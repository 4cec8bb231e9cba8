"""The tables of a two-layer attention-only model are the model; what they cannot be made of is refused."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from flint import arb

from lemmata.certificates.induction.kernels import affine, score
from lemmata.certificates.induction.losses import sequence_cells
from lemmata.certificates.induction.tables import circuit_tables
from lemmata.certificates.induction.trained import trained_head
from lemmata.constructions.induction.head import ngram_head
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.numerics.exact.numbers import to_float
from tests.certificates.induction.test_losses import random_model

TRAINED = trained_head().model


def by_tables(tables, x):
    """The difference of logits at the last token, by plain NumPy on the midpoints of the tables."""
    first, pairs, steps, direct, copied = (
        to_float(part) for part in (tables.first, tables.pairs, tables.steps, tables.direct, tables.copied)
    )
    x = np.array(x) - 1
    masses = []
    for j in range(len(x)):
        a = [first[x[j], x[i], j - i] for i in range(j + 1)]
        a = np.exp(np.array(a) - max(a))
        masses.append(a[x[: j + 1] == 1].sum() / a.sum())
    s, m = x[-1], masses[-1]
    e = np.exp(
        [pairs[s, x[j]] @ [1, m, masses[j], m * masses[j]] + steps[s, len(x) - 1 - j] @ [1, m] for j in range(len(x))]
    )
    return direct[s] @ [1, m] + e @ [copied[x[j]] @ [1, masses[j]] for j in range(len(x))] / e.sum()


@pytest.mark.parametrize("model", [TRAINED, random_model(1), random_model(2, 3, 0.6)], ids=["trained", "a", "b"])
def test_tables_are_the_model(model):
    tables = circuit_tables(model, 20)
    assert tables.numbers == 8 * 20 + 24
    rng = np.random.default_rng(0)
    for t in (1, 2, 7, 20):
        for x in rng.integers(1, 3, size=(4, t)):
            outputs = model(x)[-1]
            assert abs(by_tables(tables, x) - (outputs[1] - outputs[0])) < 1e-12 * (1 + abs(outputs).max())


@pytest.mark.parametrize("depth", [650.0, 690.0, 700.0, 740.0, 900.0])
def test_attention_that_underflows_stays_enclosed(depth):
    """Layer 1 with logits so far apart that their exponentials are near the least of float64, or below."""
    tables = circuit_tables(TRAINED, 5)
    first = tables.first.copy()
    first[:, :, 0] -= arb(depth)
    first[0, :, 1] -= arb(depth - 2)
    first[1, 1, 2:] -= arb(depth + 1)
    extreme = replace(tables, first=first)
    for t in (1, 2, 4, 5):
        cells = sequence_cells(extreme, t)
        for x, (low, high) in zip(product([1, 2], repeat=t), cells.outputs, strict=True):
            assert low - 1e-12 <= by_tables(extreme, x) <= high + 1e-12


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ngram_head(2, 2, 3.0, 2.0).transformer, "without prefix rows"),
        (random_model(1).hard(), "causal softmax heads"),
        (replace(TRAINED, layers=TRAINED.layers[:1]), "two residual attention layers"),
        (replace(TRAINED, layers=(AttentionLayer(TRAINED.layers[0].heads * 2), TRAINED.layers[1])), "one head each"),
        (replace(TRAINED, readout=TRAINED.readout[:, 0]), "two output logits"),
    ],
)
def test_other_architectures_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        circuit_tables(model, 5)


@pytest.mark.parametrize("context", [0, True, 2.0])
def test_other_lengths_are_refused(context):
    with pytest.raises(ValueError, match="integer of at least 1"):
        circuit_tables(TRAINED, context)


@pytest.mark.parametrize("lowest", [0.0, -1.0])
def test_scores_and_values_of_intervals_are_those_of_their_corners(lowest):
    """All ends of all entries and masses; with entries above 0 both ends of the result are attained, up to rounding."""
    rng = np.random.default_rng(8)
    pairs, steps, row = (np.sort(lowest + rng.random((n, 2)), axis=1) for n in (4, 2, 2))
    m, other = (0.2, 0.7), (0.4, 0.9)
    scores, values = [], []
    for ends in product((0, 1), repeat=8):
        p, q = pairs[range(4), ends[:4]], steps[range(2), ends[4:6]]
        x, y = m[ends[6]], other[ends[7]]
        scores.append(p[0] + q[0] + (p[1] + q[1]) * x + p[2] * y + p[3] * x * y)
        values.append(row[0, ends[0]] + row[1, ends[1]] * x)
    for found, corners in ((score(pairs, steps, m, other), scores), (affine(row, m), values)):
        assert found[0] <= min(corners)
        assert max(corners) <= found[1]
        if lowest == 0:
            assert min(corners) - found[0] < 1e-14
            assert found[1] - max(corners) < 1e-14
