"""A model against the n-gram predictors: exact sums, certificates and drawn rows as oracles, and what is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest

import lemmata.certificates.induction.measured as measured_module
from lemmata.certificates.induction.losses import enumerate_losses
from lemmata.certificates.induction.measured import certified_loss, measure_model
from lemmata.certificates.induction.trained import trained_head
from lemmata.constructions.induction.head import bayesian_ngram_head, ngram_head, scales_for, with_affine_readout
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.transformer import Transformer
from lemmata.numerics.markov.chains import dirichlet_chains, sample_sequences
from lemmata.numerics.markov.enumeration import all_sequences, independent_start_evidence, transitions
from lemmata.numerics.markov.losses import count_logit_loss, reference_losses
from lemmata.numerics.markov.predictors import kl_divergence

TRAINED = trained_head(1).model


def counting(k, context=48):
    scales = scales_for(2, k, context, 1e-6, (1,) * k)
    return bayesian_ngram_head(2, k, *map(float, scales)).transformer


@pytest.mark.parametrize("t", [4, 9])
def test_all_sequences_give_the_certified_loss(t):
    measured = measure_model(TRAINED, t)
    proved = enumerate_losses(TRAINED, t).proved
    assert (measured.sequences, measured.seed) == (2**t, None)
    assert proved.loss[0] - 1e-12 <= measured.loss.estimate <= proved.loss[1] + 1e-12
    assert proved.gap[0] - 1e-12 <= measured.excess.estimate <= proved.gap[1] + 1e-12
    assert proved.bigram[0] - 1e-12 <= measured.references["bigram"].estimate <= proved.bigram[1] + 1e-12
    assert certified_loss(TRAINED, t).proved.loss == proved.loss


def test_a_sample_has_an_interval_around_the_certified_loss():
    proved = enumerate_losses(TRAINED, 13).proved
    measured = [measure_model(TRAINED, 13, samples=500, seed=seed) for seed in range(3)]
    for one in measured:
        half = one.loss.high - one.loss.estimate
        assert abs(one.loss.estimate - proved.loss[0]) < 2.1 * half  # four standard deviations
        assert 0 < half < 0.05 * proved.loss[0]
    assert len({one.loss.estimate for one in measured}) == 3
    assert measured[0] == measure_model(TRAINED, 13, samples=500, seed=0)


def test_a_counting_head_is_the_bigram_predictor():
    measured = measure_model(counting(2), 48, samples=300, outputs="probabilities")
    known = reference_losses(48)
    assert measured.distances["bigram"].estimate < 1e-9
    assert measured.references["bigram"].estimate == known.bigram
    assert measured.references["Bayes"].estimate == known.bayes
    assert abs(measured.excess.estimate - known.excess) < measured.excess.high - measured.excess.low
    assert measured.sums_to_one
    first, second = measured.heads
    assert (first.layer, first.head, second.layer, second.head) == (1, 1, 2, 1)
    assert first.previous.low > 0.999
    assert second.induction is not None
    assert second.induction.estimate > 0.9  # two rows of the prior have the rest
    three = measure_model(counting(3), 6, outputs="probabilities")  # 729 sequences: bigrams are Bayes
    assert abs(three.excess.estimate) < 1e-12
    assert three.references["Bayes"] == three.references["bigram"]


def test_an_induction_head_without_a_prior_copies():
    head = ngram_head(2, 3, *map(float, scales_for(2, 3, 30, 1e-6)))
    measured = measure_model(with_affine_readout(head, 1.5, 0).transformer, 30, samples=200)
    induction = measured.heads[1].induction
    assert induction is not None
    assert induction.low > 1 - 1e-5
    assert measured.heads[0].previous.low > 1 - 1e-5
    assert measured.excess.estimate < 0.35 * (measured.references["uniform"].estimate)
    assert not measured.sums_to_one


def uniform_model(k):
    return Transformer(np.eye(k), np.zeros((0, k)), counting_layers(k), np.zeros((k, k)))


def counting_layers(k):
    layer = ngram_head(2, k, 9.0, 4.0).transformer.layers[0]
    head = layer.heads[0]
    zero = Affine(np.zeros((k, k)))
    return (replace(layer, heads=(replace(head, query=zero, key=zero, value=zero, relative_keys=np.zeros((0, 0))),)),)


def test_the_uniform_law_has_the_loss_that_one_step_gives():
    """Two symbols: x_2's row is fresh, or Dirichlet(2, 1, 1), and both have the entropy 5/6."""
    measured = measure_model(uniform_model(3), 2)
    assert abs(measured.loss.estimate - (math.log(3) - 5 / 6)) < 1e-14
    assert abs(measured.distances["uniform"].estimate) < 1e-15
    assert abs(measured.heads[0].previous.estimate - 1 / 2) < 1e-15
    induction = measured.heads[0].induction
    assert induction is not None
    assert measured.chance == (0.5, induction.estimate)
    behind = measure_model(replace(uniform_model(2), prefix=np.zeros((2, 2))), 5)
    [head] = behind.heads
    assert head.induction is not None
    assert behind.chance == pytest.approx((head.previous.estimate, head.induction.estimate), abs=1e-15)
    assert behind.chance[0] == pytest.approx(np.mean([1 / 4, 1 / 5, 1 / 6, 1 / 7]), abs=1e-15)
    two = measure_model(uniform_model(2), 10)
    assert abs(two.loss.estimate - reference_losses(10).uniform) < 1e-14


def test_exact_evidences_give_the_same_means():
    """Three symbols, length 4: every sequence with its exact probability, the model's law by its own call."""
    model, t = with_affine_readout(ngram_head(2, 3, 3.0, 2.0), 2.0, 0.25).transformer, 4
    measured = measure_model(model, t)
    excess = distance = induction = total = 0.0
    for x in all_sequences(3, t):
        chance = independent_start_evidence(x, (1, 1, 1)) / 3
        share = int(chance.p) / int(chance.q)
        masses = np.exp(model(np.array(x))[-1])
        law = masses / masses.sum()
        row = transitions(x, 3)[x[-1] - 1]
        bayes = [(count + 1) / (sum(row) + 3) for count in row]
        excess += share * sum(b * math.log(b / q) for b, q in zip(bayes, law, strict=True))
        used = [(x.count(j) + 1) / (t + 3) for j in (1, 2, 3)]
        distance += share * sum(q * math.log(q / u) for q, u in zip(law, used, strict=True))
        found = [j for j in range(1, t) if x[j - 1] == x[-1]]
        if found:
            z = model.stream(np.array([x]), 1)
            induction += share * model.layers[1].heads[0].attention(z)[0, -1, [1 + j for j in found]].sum()
            total += share
    assert abs(measured.excess.estimate - excess) < 1e-14
    assert abs(measured.distances["unigram"].estimate - distance) < 1e-14
    found = measured.heads[1].induction
    assert found is not None
    assert abs(found.estimate - induction / total) < 1e-14


def test_losses_are_those_of_drawn_rows():
    """The mean of KL(true row || model) itself, for three symbols: 10,000 chains of their own."""
    model, t = with_affine_readout(ngram_head(2, 3, 9.0, 4.0), 1.5, 0).transformer, 12
    measured = measure_model(model, t, samples=4000)
    rng = np.random.default_rng(77)
    chains = dirichlet_chains(3, 10_000, rng)
    x = sample_sequences(chains, t, rng, start="uniform")
    logits = model(x)[:, -1]
    law = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    values = kl_divergence(chains[np.arange(len(x)), x[:, -1] - 1], law)
    error = values.std() / math.sqrt(len(x)) + (measured.loss.high - measured.loss.low) / 4
    assert abs(values.mean() - measured.loss.estimate) < 4 * error
    assert error < 0.01 * measured.loss.estimate + 0.005


def test_first_symbols_have_the_law_for_which_the_bayes_predictor_is_best(monkeypatch):
    """Stationary for two symbols; for more uniform, as the bigram predictor needs it."""
    starts = []

    def watched(chains, length, rng, start):
        starts.append(start)
        return sample_sequences(chains, length, rng, start=start)

    monkeypatch.setattr(measured_module, "sample_sequences", watched)
    for k in (2, 3):
        measure_model(uniform_model(k), 13, samples=20)
    assert starts == ["stationary", "uniform"]


def test_a_steeper_readout_moves_the_loss_from_that_of_the_uniform_law():
    head = ngram_head(2, 2, 60.0, 8.0)
    losses = [measure_model(with_affine_readout(head, slope, 0).transformer, 8).loss.estimate for slope in (0.0, 1.0)]
    assert abs(losses[0] - reference_losses(8).uniform) < 1e-12
    assert losses[1] < losses[0]
    assert count_logit_loss(8, 0.0)[0] == pytest.approx(losses[0], abs=1e-12)


def test_zeros_give_an_infinite_loss():
    measured = measure_model(one_hot_model(), 4, outputs="probabilities")
    assert measured.loss.estimate == measured.excess.estimate == math.inf
    assert math.isfinite(measured.distances["bigram"].estimate)


def one_hot_model():
    return replace(uniform_model(2), readout=np.eye(2))


@pytest.mark.parametrize(
    ("model", "options", "said"),
    [
        (TRAINED, {"length": 1}, "The length"),
        (TRAINED, {"length": 401}, "up to 400 symbols, not 401"),
        (TRAINED, {"length": 8, "samples": 1}, "The number of samples"),
        (TRAINED, {"length": 8, "seed": -1}, "The seed"),
        (TRAINED, {"length": 8, "outputs": "numbers"}, "Outputs are logits or probabilities, not 'numbers'"),
        (TRAINED, {"length": 8, "outputs": "probabilities"}, "The outputs are no probabilities: they are from -"),
        (
            replace(TRAINED, readout=np.ones((8, 3))),
            {"length": 4},
            "over 2 symbols needs as many outputs, not the shape",
        ),
        (uniform_model(65), {"length": 2}, "over 2 to 64 symbols, not 65"),
        (replace(TRAINED, positions=np.zeros((5, 8))), {"length": 6}, "There are 5 positions, too few for 6 tokens"),
        (replace(one_hot_model(), embedding=1e10 * np.eye(2), readout=1e300 * np.eye(2)), {"length": 4}, "not finite"),
    ],
)
def test_other_arguments_are_refused(model, options, said):
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(ValueError, match=said):
        measure_model(model, **options)


def test_losses_are_proved_for_lengths_that_can_be_run():
    assert certified_loss(counting(2), 4).method == "sequences"
    assert certified_loss(counting(2), 11, window=2, grid=2).method == "classes"
    with pytest.raises(ValueError, match=r"for two symbols, not 3.* ask for a length of at most 6\."):
        certified_loss(counting(3), 7)
    with pytest.raises(ValueError, match="up to 62 symbols, not 63"):
        certified_loss(TRAINED, 63)
