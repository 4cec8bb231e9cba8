"""The models, data and measurements of the experiments on induction heads, against the constructions."""

import numpy as np
import pytest
import torch

from lemmata.constructions.induction.head import ngram_head
from lemmata.constructions.induction.minimal_model import MinimalModel
from lemmata.numerics.markov.chains import sample_sequences
from lemmata.numerics.markov.losses import reference_losses
from lemmata.numerics.markov.predictors import bigram, kl_divergence
from lemmata.theorems.induction_heads.experiments.measures import (
    TestSet as Sequences,
)
from lemmata.theorems.induction_heads.experiments.measures import (
    attention_to,
    closest,
    curves,
    first_below,
    phases,
    positional_weights,
    rounded,
)
from lemmata.theorems.induction_heads.experiments.training import (
    PRIORS,
    as_construction,
    minimal_model,
    sample_chains,
    training_steps,
    transformer,
)

SINGLE = 2.0**-23  # float32; the longest chain of sums has some hundred terms of modulus below 10


@pytest.mark.parametrize(("layers", "heads"), [(1, 1), (2, 1), (2, 3)])
def test_the_fast_first_layer_is_the_general_attention(layers, heads):
    model = transformer(3, 20, layers, heads, 8, seed=1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter *= 3  # attention far from uniform
    x = np.random.default_rng(0).integers(1, 4, (6, 20))
    expected = as_construction(model)(x)
    assert np.abs(expected).max() > 0.5
    with torch.no_grad():
        whole, last = (model(torch.from_numpy(x - 1), last=flag).numpy() for flag in (False, True))
    assert np.abs(whole - expected).max() < 1000 * SINGLE
    assert np.abs(last[:, 0] - expected[:, -1]).max() < 1000 * SINGLE
    shorter = model(torch.from_numpy(x[:, :7] - 1)).detach().numpy()
    assert np.abs(shorter - expected[:, :7]).max() < 1000 * SINGLE


def test_absolute_positions_and_an_mlp_change_the_output():
    x = torch.from_numpy(np.random.default_rng(0).integers(0, 2, (4, 10)))
    plain, mlp, absolute = (
        transformer(2, 10, 1, 1, 8, seed=1, **options)(x) for options in ({}, {"hidden": 5}, {"absolute": True})
    )
    assert mlp.shape == absolute.shape == plain.shape
    model = transformer(2, 10, 1, 1, 8, seed=1, hidden=5, absolute=True)
    whole, last = model(x), model(x, last=True)
    assert torch.allclose(whole[:, -1:], last, atol=100 * SINGLE)
    changed = x.clone()
    changed[:, 6:] = 1 - changed[:, 6:]
    assert torch.equal(model(changed)[:, :6], whole[:, :6])  # causal


def test_the_minimal_model_is_the_construction():
    model = minimal_model(3, 12)
    rng = np.random.default_rng(2)
    v, W = rng.normal(size=12), rng.normal(size=(3, 3))
    with torch.no_grad():
        model.v.copy_(torch.from_numpy(v))
        model.W.copy_(torch.from_numpy(W))
    x = rng.integers(0, 3, (4, 12))
    expected = np.array([MinimalModel(v, W)(row) for row in x])
    assert np.abs(model(torch.from_numpy(x)).detach().numpy() - expected).max() < 1000 * SINGLE * np.abs(expected).max()
    assert np.allclose(positional_weights(model, 5), v[:5], atol=10 * SINGLE)


def test_an_induction_head_is_recognised():
    """The weights of the construction in the module that is trained; and a head that looks at the token itself."""
    head = ngram_head(2, 2, 40.0, 8.0).transformer
    width = head.embedding.shape[1]

    def planted(offset):
        model = transformer(2, 30, 2, 1, width, seed=0)
        table = np.zeros((30, width))
        table[offset] = head.layers[0].heads[0].relative_keys[1]
        with torch.no_grad():
            model.embedding.copy_(torch.tensor(head.embedding))
            for layer, planted, relative in zip(model.layers, head.layers, (table, 0 * table), strict=True):
                (module,), (source,) = layer.heads, planted.heads
                for name in ("query", "key", "value"):
                    getattr(module, name).weight.copy_(torch.tensor(getattr(source, name).weight))
                module.relative_keys.copy_(torch.tensor(relative))
        return model

    x = sample_sequences(sample_chains("flat", 2, 2, 40, np.random.default_rng(0)), 30, np.random.default_rng(1))
    previous, matches = attention_to(planted(1), x)
    assert previous > 0.999
    # the first token has no predecessor and takes itself for it: that costs a match at most, of some fifteen
    assert matches > 0.85
    assert np.argmax(positional_weights(planted(1), 7)) == 1
    assert attention_to(planted(0), x)[0] < 0.001
    assert attention_to(planted(0), x)[1] < matches - 0.2


@pytest.mark.parametrize("prior", PRIORS)
def test_test_sets_hold_the_true_law(prior):
    test = Sequences.sample(prior, 3, 2, 15, 400, seed=5)
    again = Sequences.sample(prior, 3, 2, 15, 400, seed=5)
    assert np.array_equal(test.tokens, again.tokens)
    assert np.allclose(test.truth.sum(axis=1), 1)
    assert np.array_equal(test.predictions["bigram"], bigram(test.tokens, 3)[:, -1])
    losses = test.lines()
    assert losses["uniform"] == pytest.approx(kl_divergence(test.truth, np.full((400, 3), 1 / 3)).mean())
    if prior == "iid":
        assert losses["unigram"] < losses["bigram"]
    else:
        assert losses["bigram"] < losses["unigram"]


def test_the_lines_agree_with_the_losses_computed_without_sampling():
    size, exact = 20_000, reference_losses(40)
    test = Sequences.sample("flat", 2, 2, 40, size, seed=1)
    for name, loss in test.lines().items():
        error = kl_divergence(test.truth, test.predictions[name]).std() / size**0.5
        assert abs(loss - getattr(exact, name)) < 4 * error


def test_the_true_law_of_a_trigram_chain_belongs_to_the_last_two_symbols():
    test = Sequences.sample("flat", 2, 3, 400, 300, seed=3)
    lines = test.lines()
    assert list(lines) == ["uniform", "unigram", "bigram", "trigram"]
    assert lines["trigram"] < 0.02 < lines["bigram"]  # 0.005 at this length if the law is the right one


def test_training_lowers_the_loss_and_is_repeatable():
    def run():
        torch.set_num_threads(1)
        test = Sequences.sample("flat", 2, 2, 16, 200, seed=0)
        model = transformer(2, 16, 2, 1, 8, seed=0)
        optimiser = torch.optim.AdamW(model.parameters(), 1e-2, weight_decay=0.0)
        steps = training_steps(model, optimiser, {"flat": 8, "iid": 8}, 2, 2, seed=0)
        return curves(steps, 40, 10, lambda: test.measure(model))

    first = run()
    assert first == run()
    assert first["loss"][-1] < 0.8 * first["loss"][0]
    assert first["steps"][:3] == [0, 2, 4]
    assert first["steps"][-1] == 40


def test_phases_are_read_off_the_distances():
    result = {"steps": [0, 1, 2, 3], "uniform": [0, 1, 2, 2], "unigram": [1, 0, 1, 0], "bigram": [2, 2, 0, 1]}
    assert closest(result) == ["uniform", "unigram", "bigram", "unigram"]
    assert phases({**result, "unigram": [1, 0, 1, 2]}) == ["uniform", "unigram", "bigram"]
    assert first_below([0, 5, 10], [3.0, 2.0, 1.0], 2.5) == 5
    assert first_below([0, 5], [3.0, 2.0], 2.0) is None
    assert rounded([np.float64(0.123456), [1234567.0]]) == [0.1235, [1235000.0]]


def test_unknown_priors_are_refused():
    with pytest.raises(ValueError, match="There is no prior 'dirac'"):
        sample_chains("dirac", 2, 2, 5, np.random.default_rng(0))
