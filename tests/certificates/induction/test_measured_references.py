"""Measured models against plain sums: the trigram predictor, and where sequences begin to be drawn."""

from dataclasses import replace
from math import log

import numpy as np
import pytest
from scipy.integrate import quad

from lemmata.certificates.induction.measured import certified_loss, measure_model
from lemmata.certificates.induction.trained import trained_head
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.transformer import Transformer
from lemmata.numerics.markov.chains import dirichlet_chains, stationary_law
from lemmata.numerics.markov.enumeration import all_sequences, independent_start_evidence, transitions


def indifferent(k):
    """A model of one head that attends to everything alike, and whose law is uniform."""
    zero = Affine(np.zeros((k, k)))
    head = Head(zero, zero, zero)
    return Transformer(np.eye(k), np.zeros((0, k)), (AttentionLayer((head,)),), np.zeros((k, k)))


def test_the_trigram_predictor_counts_what_followed_the_last_two():
    k, t = 3, 6
    loss = distance = 0.0
    for x in all_sequences(k, t):
        chance = independent_start_evidence(x, (1,) * k) / k
        row = transitions(x, k)[x[-1] - 1]
        bayes = [(count + 1) / (sum(row) + k) for count in row]
        followers = [x[i] for i in range(2, t) if x[i - 2 : i] == x[-2:]]
        trigram = [(followers.count(j) + 1) / (len(followers) + k) for j in range(1, k + 1)]
        share = int(chance.p) / int(chance.q)
        loss += share * sum(b * log(b / q) for b, q in zip(bayes, trigram, strict=True))
        distance += share * sum(log(1 / (k * q)) / k for q in trigram)
    measured = measure_model(indifferent(k), t)
    above = measured.references["trigram"].estimate - measured.references["Bayes"].estimate
    assert abs(above - loss) < 1e-14
    assert abs(measured.distances["trigram"].estimate - distance) < 1e-14
    assert loss > 0.01


@pytest.mark.parametrize(("t", "sequences", "seed"), [(12, 4096, None), (13, 50, 3)])
def test_all_of_up_to_4096_sequences_are_run(t, sequences, seed):
    measured = measure_model(trained_head(1).model, t, samples=50, seed=3)
    assert (measured.sequences, measured.seed) == (sequences, seed)
    assert (measured.loss.level == 1) == (seed is None)


def test_a_score_that_one_drawn_sequence_has_is_no_mean():
    few = [measure_model(indifferent(64), 3, samples=8, seed=seed) for seed in range(20)]
    scores = [one.heads[0].induction for one in few]
    assert None in scores
    assert all(score is None or abs(score.estimate - 1 / 3) < 0.4 for score in scores)


@pytest.mark.parametrize(("total", "accepted"), [(1 + 1e-7, True), (1 + 2e-6, False), (0.999, False)])
def test_probabilities_may_be_off_by_rounding_alone(total, accepted):
    model = replace(indifferent(2), readout=np.full((2, 2), total / 2))
    assert measure_model(model, 3).sums_to_one == accepted
    if accepted:
        measured = measure_model(model, 3, outputs="probabilities")
        assert abs(measured.distances["uniform"].estimate) < 1e-14
        assert abs(measured.loss.estimate - measured.references["uniform"].estimate) < 1e-14
    else:
        with pytest.raises(ValueError, match="The outputs are no probabilities"):
            measure_model(model, 3, outputs="probabilities")


def test_sequences_are_proved_one_by_one_up_to_twelve_symbols():
    model = trained_head(1).model
    assert certified_loss(model, 12).method == "sequences"
    assert certified_loss(model, 13).method == "classes"


def test_two_symbols_with_a_uniform_first_one():
    """Against quadrature over the row of the last symbol, and the proof on all sequences."""
    model, t = trained_head(1).model, 4
    loss = 0.0
    for x in all_sequences(2, t):
        one, two = (count + 1 for count in transitions(x, 2)[x[-1] - 1])
        chance = independent_start_evidence(x, (1, 1)) / 2
        logits = model(np.array(x))[-1]
        q = np.exp(logits) / np.exp(logits).sum()

        def integrand(p, one=one, two=two, q=q):
            density = p ** (one - 1) * (1 - p) ** (two - 1)
            return density, density * (p * log(p / q[0]) + (1 - p) * log((1 - p) / q[1]))

        whole, above = (quad(lambda p, part=part: integrand(p)[part], 0, 1)[0] for part in (0, 1))
        loss += int(chance.p) / int(chance.q) * above / whole
    measured = measure_model(model, t, start="uniform")
    assert abs(measured.loss.estimate - loss) < 1e-7
    assert measured.references["Bayes"] == measured.references["bigram"]
    low, high = certified_loss(model, t, start="uniform").proved.loss
    assert low - 1e-12 <= measured.loss.estimate <= high + 1e-12
    assert abs(measure_model(model, t).loss.estimate - loss) > 1e-3


def test_three_symbols_with_a_stationary_first_one():
    """Bayes is not known; the loss of the uniform law is that of a chain in equilibrium, at every length."""
    chains = dirichlet_chains(3, 20000, np.random.default_rng(5))
    law = stationary_law(chains)
    expected = np.mean(np.sum(law[..., None] * chains * np.log(3 * chains), axis=(1, 2)))
    for t in (2, 5):
        measured = measure_model(indifferent(3), t, samples=4000, start="stationary")
        assert abs(measured.loss.estimate - expected) < 3 * (measured.loss.high - measured.loss.low)
        assert abs(measured.loss.estimate - measured.references["uniform"].estimate) < 1e-14
        assert (measured.start, measured.excess, measured.seed) == ("stationary", None, 0)
        assert "Bayes" not in measured.references
    other = measure_model(indifferent(3), 2)
    assert (other.start, other.seed) == ("uniform", None)
    assert other.loss.estimate < expected - 0.01


def test_starts_that_are_refused():
    with pytest.raises(ValueError, match="The start is stationary or uniform, not 'fixed'"):
        measure_model(indifferent(3), 2, start="fixed")
    with pytest.raises(ValueError, match="With a stationary start losses are proved over two symbols, not 3"):
        certified_loss(indifferent(3), 2, start="stationary")
