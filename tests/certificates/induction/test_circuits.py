"""Circuits of a trained head beside the constructed one: against the networks themselves, and by surgery in torch."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from lemmata.certificates.induction.circuits import (
    certify_variants,
    circuit_variants,
    compare_circuits,
    constructed_report,
)
from lemmata.certificates.induction.losses import enumerate_losses, sequence_cells
from lemmata.certificates.induction.tables import circuit_tables
from lemmata.certificates.induction.trained import trained_head
from lemmata.constructions.induction.head import ngram_head
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from tests.certificates.induction.test_losses import differences, random_model, torch_loss

TRAINED = trained_head().model
HEAD = ngram_head(2, 2, 20, 4)
SEQUENCES = {t: np.array(list(product([1, 2], repeat=t))) for t in (5, 7)}


@pytest.mark.parametrize("model", [TRAINED, random_model(3)], ids=["trained", "random"])
def test_the_least_attention_on_the_previous_token_is_attained(model):
    t = 7
    first = model.layers[0].heads[0].attention(model.embed(SEQUENCES[t]))
    least = np.diagonal(first, offset=-1, axis1=1, axis2=2).min()
    low, high = compare_circuits(model, t).previous
    assert low - 1e-14 < least < high + 1e-14
    assert low < 1


def test_the_constructed_head_attends_as_it_is_said_to():
    report = constructed_report(HEAD, 7)
    model = HEAD.to_float().transformer
    z = model.embed(SEQUENCES[7])
    first = model.layers[0].heads[0].attention(z)
    least = np.diagonal(first, offset=-1, axis1=1, axis2=2)[:, 1:].min()  # the prefix row is no token
    assert report.previous[0] - 1e-14 < least < report.previous[1] + 1e-14
    assert report.match[0] == pytest.approx(16 / np.sqrt(6), rel=1e-14)
    with pytest.raises(ValueError, match="n = 2"):
        constructed_report(ngram_head(3, 2), 5)


def test_the_logits_of_layer_2_follow_the_predecessor():
    """The advantage of a match, from the scores of the model itself: layer 1 is made to look one back, exactly."""
    report = compare_circuits(TRAINED, 7)
    sharp = sharpened(TRAINED)
    z = sharp.stream(SEQUENCES[7], 1)
    head = sharp.layers[1].heads[0]
    scores = head.scores(z, head.key(z)) / np.sqrt(head.temperature_squared)
    found = {}
    for x, row in zip(SEQUENCES[7], scores[:, -1], strict=True):
        for j in range(1, 6):
            found.setdefault((x[-1], x[-2], x[j], 7 - j), {})[x[j - 1] == x[-1]] = row[j]
    advantages = np.array([pair[True] - pair[False] for pair in found.values()])
    assert report.match[0] == pytest.approx(advantages.min(), abs=1e-6)
    assert report.match[1] == pytest.approx(advantages.max(), abs=1e-6)
    assert report.match[0] > 1.9


def sharpened(model):
    """The model with a layer 1 that attends to the previous token with a weight of 1 - 1e-12 or so."""
    head = model.layers[0].heads[0]
    sharp = replace(head, sharpness=6.0)
    return replace(model, layers=(AttentionLayer((sharp,)), model.layers[1]))


def surgery(name, model):
    """The same ablation by hand, on the weights of the network; None where it has no such form."""
    one, two = model.layers
    zero = Affine(np.zeros((8, 8)))

    def layer(old, **changes):
        return AttentionLayer((replace(old.heads[0], **changes),))

    layers = {
        "as trained": (one, two),
        "head 1 removed": (layer(one, value=zero), two),
        "head 1 attends evenly": (layer(one, query=zero), two),
        "head 2 removed": (one, layer(two, value=zero)),
        "head 2 attends evenly": (one, layer(two, query=zero)),
        "no distances in head 2": (one, layer(two, relative_keys=np.zeros((48, 8)))),
    }
    return replace(model, layers=layers[name])


@pytest.mark.parametrize(
    "name",
    [
        "as trained",
        "head 1 removed",
        "head 1 attends evenly",
        "head 2 removed",
        "head 2 attends evenly",
        "no distances in head 2",
    ],
)
def test_ablations_of_the_tables_are_those_of_the_weights(name):
    t = 7
    low, high = enumerate_losses(circuit_variants(TRAINED, HEAD, t)[name], t).proved.loss
    loss = torch_loss(surgery(name, TRAINED), t)
    assert low - 1e-11 < loss < high + 1e-11


def with_masses(t, x, query=None, key=None, value=None, score=None, first=None):
    """The difference of logits by plain NumPy, with given masses in place of those of layer 1, part by part."""
    tables = circuit_tables(TRAINED, t)
    logits, pairs, steps, direct, copied = (
        np.vectorize(float, otypes=[float])(part)
        for part in (tables.first, tables.pairs, tables.steps, tables.direct, tables.copied)
    )
    x = np.array(x) - 1
    masses = []
    for j in range(t):
        a = np.exp([first(j - i) if first else logits[x[j], x[i], j - i] for i in range(j + 1)])
        masses.append(a[x[: j + 1] == 1].sum() / a.sum())
    s = x[-1]
    q, m = (masses[-1] if query is None else query), masses
    terms = []
    for j in range(t):
        k = m[j] if key is None else key
        own = pairs[s, x[j]] @ [1, q, k, q * k] + steps[s, t - 1 - j] @ [1, q]
        terms.append(own if score is None else score * (k if s == 1 else 1 - k))
    e = np.exp(terms)
    values = [copied[x[j]] @ [1, m[j] if value is None else value] for j in range(t)]
    return direct[s] @ [1, m[-1]] + e @ values / e.sum()


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("no Q-composition", {"query": 0.5}),
        ("no K-composition", {"key": 0.5}),
        ("no V-composition", {"value": 0.5}),
        ("QK of head 1 constructed", {"first": lambda r: 20 / np.sqrt(6) * (r == 1)}),
        ("QK of head 2 constructed", {"score": 16 / np.sqrt(6)}),
        ("QK of both constructed", {"score": 16 / np.sqrt(6), "first": lambda r: 20 / np.sqrt(6) * (r == 1)}),
    ],
)
def test_cut_and_patched_paths_are_what_they_say(name, changes):
    t = 5
    cells = sequence_cells(circuit_variants(TRAINED, HEAD, t)[name], t)
    plain = differences(TRAINED, SEQUENCES[t])
    moved = 0.0
    for x, (low, high), before in zip(SEQUENCES[t], cells.outputs, plain, strict=True):
        D = with_masses(t, x, **changes)
        assert low - 1e-12 < D < high + 1e-12
        moved = max(moved, abs(D - before))
    assert moved > 1e-4


def test_which_paths_the_trained_head_needs():
    """Enclosed losses on all sequences of 8 symbols: what the model needs, and what the circuit can replace."""
    found = {name: certificate.proved.loss for name, certificate in certify_variants(TRAINED, HEAD, 8).items()}
    trained = found["as trained"][1]
    for name in ("head 1 removed", "head 1 attends evenly", "head 2 removed", "head 2 attends evenly"):
        assert found[name][0] > 1.5 * trained
    assert found["no K-composition"][0] > 1.5 * trained
    assert found["no Q-composition"][1] < 1.1 * trained
    assert abs(found["QK of head 1 constructed"][0] / trained - 1) < 0.01
    assert trained < found["QK of both constructed"][0] < 1.2 * trained


def test_the_report_is_what_the_weights_say():
    """The matrices of the trained model multiplied out: head 2 on streams whose layer 1 attends to one symbol."""
    t = 9
    report = compare_circuits(TRAINED, t)
    one, two = (layer.heads[0] for layer in TRAINED.layers)
    E, ahead = TRAINED.embedding, TRAINED.readout @ [-1, 1]
    # stream[s, m]: a token s whose layer 1 attends to the symbol m alone
    stream = E[:, None] + (E @ one.value.weight)[None]
    copied = stream @ two.value.weight @ ahead
    queries, keys = stream @ two.query.weight / np.sqrt(8), stream @ two.key.weight
    scores = np.einsum("sme,one->smon", queries, keys)
    advantage = np.array([[scores[s, m, :, s] - scores[s, m, :, 1 - s] for m in (0, 1)] for s in (0, 1)])
    by_distance = np.einsum("sme,re->smr", queries, two.relative_keys[1:t])
    expected = {
        "copied": copied[1, 0] - copied[0, 0],
        "carried": copied[0, 1] - copied[0, 0],
        "query": np.abs(advantage[:, 1] - advantage[:, 0]).max(),
        "distance": np.ptp(by_distance, axis=2).max(),
    }
    for name, value in expected.items():
        low, high = getattr(report, name)
        assert low - 1e-12 < value < high + 1e-12, name
        assert abs(value) > 0.1
    assert report.match[0] - 1e-12 < advantage.min() <= advantage.max() < report.match[1] + 1e-12
    assert report.match == pytest.approx((advantage.min(), advantage.max()), abs=1e-12)
    direct = stream @ ahead
    for (low, high), value in zip(
        report.direct, (direct[1, 0] - direct[0, 0], direct[0, 1] - direct[0, 0]), strict=True
    ):
        assert low - 1e-12 < value < high + 1e-12


def test_too_short_sequences_are_refused():
    with pytest.raises(ValueError, match="no previous token"):
        compare_circuits(TRAINED, 1)


def test_tables_for_fewer_tokens_are_refused():
    tables = circuit_tables(TRAINED, 8)
    assert compare_circuits(tables, 8) == compare_circuits(TRAINED, 8)
    with pytest.raises(ValueError, match="The tables are for 8 tokens, too few for t = 9"):
        compare_circuits(tables, 9)
