"""The zoo: every part is what it says, disguises show in no output, and keys lead back."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from flint import fmpq

import lemmata as lm
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.zoo.disguise import disguise, rotated, undo
from lemmata.constructions.zoo.models import load, names
from lemmata.numerics.exact.numbers import to_float

TRANSFORMERS = [name for name in names() if name != "Turing machine"]
KINDS = ("rational", "signed permutation", "float")


def outputs(model, x):
    with torch.no_grad():
        return model.to_torch()(torch.from_numpy(x)).numpy()


def tolerance(network):
    """A hundred roundings of outputs: scores are sums of d terms of size w^2, w the largest weight, in two layers."""
    largest = max(float(np.abs(to_float(array)).max(initial=0)) for array in network.arrays())
    return 2.0**-52 * 100 * network.width**2 * max(1.0, largest) ** 4


@pytest.mark.parametrize("name", names())
def test_every_network_has_names_sentences_and_a_module(name):
    model = load(name)
    assert model.name == name
    assert len(model.parts) >= 2
    assert model.stream is not None
    for part in model.parts:
        assert part.does.endswith(".")
        assert set(part.reads) | set(part.writes) <= set(model.stream.sizes)
        assert part.writes
    assert sum(1 for _ in model.to_torch().parameters()) > 1


COUNTED = [("induction head", 2, (0, 0, 0)), ("trigram head", 3, (0, 0)), ("bigram head with prior", 2, (1, 2, 0))]


@pytest.mark.parametrize(("name", "n", "prior"), COUNTED)
def test_heads_predict_the_counted_frequencies(name, n, prior):
    model = load(name)
    x = model.inputs(20)
    got = outputs(model, x)
    seen = 0
    for row, sequence in enumerate(x.tolist()):
        counts = list(prior)
        for j in range(n - 1, len(sequence)):
            if sequence[j - n + 1 : j] == sequence[len(sequence) - n + 1 :]:
                counts[sequence[j] - 1] += 1
        if sum(counts):
            seen += 1
            assert np.abs(got[row, -1] - np.array(counts) / sum(counts)).max() < 1e-3  # their proved error
    assert seen > 10


def test_the_parity_transformer_is_the_product_of_three_signs():
    x = np.array(list(itertools.product([-1, 1], repeat=5)))
    assert np.abs(outputs(load("parity transformer"), x) - x[:, [0, 2, 4]].prod(axis=1)).max() < 1e-2


def test_the_machine_runs_as_its_simulator():
    model = load("Turing machine")
    for word in model.inputs(4):
        run = lm.run_machine(model.network, word, "exact", hidden=True)
        assert run.states[0].tolist() == lm.reference_run(model.network, word).states
        assert lm.violations(model.network, word, run.hidden[0]) == []
    assert lm.run_machine(model.network, model.inputs(1)[0], "torch").states.shape == (1, 7)
    with pytest.raises(ValueError, match="run step by step"):
        model([0])
    assert [part.layer for part in model.parts] == list(range(len(model.network.layers)))


def test_previous_token_heads_attend_to_the_token_before():
    model = load("induction head")
    assert [(part.reads, part.writes) for part in model.parts] == [
        (("token",), ("back 1",)),
        (("token", "back 1"), ("answer",)),
    ]
    network = model.network.to_float()
    weights = network.layers[0].heads[0].attention(network.embed(model.inputs(1)[0]))
    assert np.diagonal(weights, -1)[1:].min() > 0.99  # the first row is a prefix, the second sees it alone


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_a_disguise_shows_in_no_output_and_the_key_leads_back(name, kind):
    model = load(name)
    hidden, key = disguise(model, 3, kind)
    x = model.inputs(16, seed=1)
    bound = tolerance(model.network)
    assert bound < 1e-3
    assert hidden.stream is None
    assert not hidden.parts
    assert np.abs(outputs(hidden, x) - outputs(model, x)).max() < bound
    moved = [
        np.abs(to_float(a) - to_float(b)).max(initial=0)
        for a, b in zip(hidden.network.arrays(), model.network.arrays(), strict=True)
    ]
    assert max(moved) > 0.5
    again = undo(hidden, key)
    assert (again.stream, again.parts) == (model.stream, model.parts)
    for a, b in zip(again.network.arrays(), model.network.arrays(), strict=True):
        if kind != "float" and model.network.arithmetic == "exact":
            assert np.array_equal(a, b)
        else:
            assert np.abs(to_float(a) - to_float(b)).max(initial=0) < bound


@pytest.mark.parametrize("kind", ["rational", "signed permutation"])
@pytest.mark.parametrize("name", ["induction head", "trigram head", "bigram head with prior"])
def test_exact_weights_give_exactly_the_same_outputs(name, kind):
    model = load(name)
    hidden, key = disguise(model, 5, kind)
    d = model.stream.width
    assert np.array_equal(key.matrix @ key.matrix.T, np.eye(d, dtype=int))
    x = model.inputs(2)
    assert hidden.network.arithmetic == "exact"
    assert np.array_equal(hidden.network.hard()(x), model.network.hard()(x))
    assert np.array_equal(hidden.network.stream(x[0], 0), model.network.stream(x[0], 0) @ key.matrix)


def test_biases_null_pairs_and_output_maps_are_turned():
    """A transformer of random weights with every part that a head and a layer may have."""
    model, rng = load("trigram head"), np.random.default_rng(9)
    d = model.network.width

    def affine(inputs, outputs):
        return Affine(rng.normal(size=(inputs, outputs)), rng.normal(size=outputs))

    def head(output):
        value = affine(d, 3 if output else d)
        null = rng.normal(size=4), rng.normal(size=value.outputs)
        return Head(affine(d, 4), affine(d, 4), value, null=null, output=affine(3, d) if output else None)

    layers = (
        AttentionLayer((head(False), head(True))),
        FeedForward((affine(d, 5), affine(5, d)), activations=("relu", "identity"), residual=True),
        AttentionLayer((head(True),)),
    )
    network = replace(model.network.to_float(), layers=layers)
    x = model.inputs(6)
    for kind in KINDS:
        turned = rotated(network, to_float(disguise(model, 2, kind)[1].matrix))
        assert np.abs(turned(x) - network(x)).max() < 1e-9 * np.abs(network(x)).max()


@pytest.mark.parametrize("kind", KINDS)
def test_bases_are_orthogonal_and_those_of_floats_uniform(kind):
    model = load("induction head")
    matrices = [to_float(disguise(model, seed, kind)[1].matrix) for seed in range(200)]
    assert max(np.abs(matrix @ matrix.T - np.eye(len(matrix))).max() for matrix in matrices) < 1e-12
    # an entry of uniform law is symmetric: its mean has the deviation 1/sqrt(200 d), d at least 9
    assert np.abs(np.mean(matrices, axis=0)).max() < 6 / np.sqrt(200 * len(matrices[0]))


def test_norms_of_weights_are_kept():
    model = load("trigram head")
    hidden, _ = disguise(model, 0)
    for a, b in zip(model.network.arrays(), hidden.network.arrays(), strict=True):
        assert sum(x**2 for x in a.ravel().tolist()) == sum(x**2 for x in b.ravel().tolist())
    assert any(len(set(array.ravel().tolist())) > 5 for array in hidden.network.arrays())  # it is dense


def test_the_key_knows_where_the_blocks_are():
    model = load("induction head")
    hidden, key = disguise(model, 11)
    x = model.inputs(1)[0]
    answer = hidden.network.hard().stream(x) @ key.directions("answer").T
    assert np.array_equal(answer, model.network.hard().stream(x)[:, model.stream["answer"]])
    assert not np.array_equal(answer, hidden.network.hard().stream(x)[:, model.stream["answer"]])
    with pytest.raises(ValueError, match="There is no block"):
        key.directions("nothing")


def test_a_seed_names_a_disguise():
    model = load("induction head")
    one, two, other = (disguise(model, seed)[1].matrix for seed in (1, 1, 2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_a_wrong_key_and_a_matrix_that_is_not_orthogonal_are_seen():
    model = load("trigram head")
    hidden, _ = disguise(model, 1)
    _, other = disguise(model, 2)
    x = model.inputs(1)
    true = model.network.hard()(x)
    wrong = undo(hidden, other).network
    assert not all(np.array_equal(a, b) for a, b in zip(wrong.arrays(), model.network.arrays(), strict=True))
    stretched = disguise(model, 1)[1].matrix * fmpq(51, 50)
    assert not np.array_equal(rotated(model.network, stretched).hard()(x), true)


def test_a_part_that_is_not_turned_is_seen():
    model = load("induction head")
    hidden, _ = disguise(model, 1)
    x = model.inputs(8)
    true = outputs(model, x)

    def spoiled(**maps):
        first, second = hidden.network.layers
        layers = first, AttentionLayer((replace(second.heads[0], **maps),))
        return np.abs(replace(hidden.network, layers=layers).to_float()(x) - true).max()

    [head] = model.network.layers[1].heads
    assert spoiled() < 1e-6
    for name in ("query", "key", "value"):
        assert spoiled(**{name: getattr(head, name)}) > 1e-2


def test_what_cannot_be_disguised_is_refused():
    model = load("induction head")
    hidden, key = disguise(model, 0)
    with pytest.raises(ValueError, match="privileges its basis"):
        disguise(load("Turing machine"), 0)
    with pytest.raises(ValueError, match="disguised already"):
        disguise(hidden, 0)
    with pytest.raises(ValueError, match="no disguise to undo"):
        undo(model, key)
    with pytest.raises(ValueError, match="not 'hadamard'"):
        disguise(model, 0, "hadamard")
    with pytest.raises(ValueError, match="must have the shape"):
        rotated(model.network, np.eye(3))
    with pytest.raises(ValueError, match="There is no 'lion' in the zoo; there are induction head"):
        load("lion")
    with pytest.raises(ValueError, match="At least one input"):
        model.inputs(0)
    summed = model.network.change(AttentionLayer, lambda layer: AttentionLayer(layer.heads, "sum"))
    with pytest.raises(ValueError, match="AttentionLayer acts on single coordinates of the stream, or does not add"):
        rotated(summed, key.matrix)
