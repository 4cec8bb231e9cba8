"""Markov chains in context: predictors, samplers, the exact Bayes predictor and the losses, against their oracles."""

from itertools import product
from math import comb, log, sqrt

import numpy as np
import pytest
import scipy.integrate
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.numerics.exact.log_two import LogTwo
from lemmata.numerics.markov.bayes import (
    evidence_layer,
    predictions_of,
    sequence_numbers,
    shorter_evidence,
    stationary_bayes,
)
from lemmata.numerics.markov.chains import (
    dirichlet_chains,
    doubly_stochastic_chains,
    sample_sequences,
    shared_row_chains,
    stationary_law,
)
from lemmata.numerics.markov.enumeration import (
    all_sequences,
    dirichlet_moment,
    independent_start_evidence,
    stationary_evidence,
    transitions,
)
from lemmata.numerics.markov.losses import count_logit_floor, count_logit_loss, reference_losses
from lemmata.numerics.markov.predictors import bigram, kl_divergence, ngram, ngram_counts, uniform, unigram
from tests.numerics.markov.bands import EPS
from tests.oracles.markov_chains import numpy_kl, numpy_ngram, numpy_uniform, numpy_unigram, unit_integral

quick = settings(max_examples=40, deadline=None)


def quotient(a: fmpq, b: fmpq) -> float:
    return int((a / b).numer()) / int((a / b).denom())


# ---- predictors


@quick
@given(st.integers(1, 5), st.integers(1, 30), st.integers(1, 4), st.integers(0, 2**32))
def test_predictors_equal_their_numpy_twins(k: int, t: int, n: int, seed: int) -> None:
    """With integer parameters both divide the same exact integers."""
    rng = np.random.default_rng(seed)
    x, prior = rng.integers(1, k + 1, size=(3, t)), rng.integers(1, 5, size=k)
    np.testing.assert_array_equal(unigram(x, k, prior), numpy_unigram(x, k, prior))
    np.testing.assert_array_equal(uniform(x, k), numpy_uniform(x, k))
    if n > 1:
        np.testing.assert_array_equal(ngram(x, k, n, prior), numpy_ngram(x, k, n, prior))
    np.testing.assert_array_equal(ngram(x, k, 1, prior), unigram(x, k, prior))
    np.testing.assert_array_equal(ngram(x[0], k, n), ngram(x, k, n)[0])
    np.testing.assert_array_equal(bigram(x, k), ngram(x, k, 2))


@pytest.mark.parametrize(("k", "t", "prior"), [(2, 7, (1, 1)), (3, 5, (1, 2, 3)), (2, 5, (fmpq(1, 2), fmpq(3, 2)))])
def test_bigram_is_the_quotient_of_evidences(k: int, t: int, prior: tuple[int | fmpq, ...]) -> None:
    x = all_sequences(k, t)
    found = bigram(np.array(x), k, [float(fmpq(a)) for a in prior])
    for row, sequence in zip(found, x, strict=True):
        before = independent_start_evidence(sequence, prior)
        exact = [quotient(independent_start_evidence((*sequence, j), prior), before) for j in range(1, k + 1)]
        np.testing.assert_array_equal(row[-1], exact)  # all parameters are floats: one correctly rounded division


def test_moments_are_those_of_the_beta_law() -> None:
    for i, j in product(range(6), repeat=2):
        assert dirichlet_moment((i, j), (1, 1)) == unit_integral(i, j) == fmpq(1, (i + j + 1) * comb(i + j, i))


def test_counts() -> None:
    x = (1, 2, 2, 1, 2, 3)
    assert ngram_counts(x, 3).tolist() == transitions(x, 3) == [[0, 2, 0], [1, 1, 1], [0, 0, 0]]
    assert ngram_counts(x, 3, 1).tolist() == [[2, 3, 1]]
    three = ngram_counts([x, x], 3, 3)
    assert three.shape == (2, 9, 3)
    assert three[1, 1].tolist() == [0, 1, 1]  # after (1, 2): context number 0 * 3 + 1
    assert three.sum() == 8


def test_current_symbol_counts_for_the_unigram_and_not_for_its_own_row() -> None:
    """A predictor whose counts are shifted by one position is another one."""
    x = np.array([1, 1, 2, 1])
    assert unigram(x, 2)[0].tolist() == [2 / 3, 1 / 3]
    assert bigram(x, 2)[0].tolist() == [1 / 2, 1 / 2]
    assert bigram(x, 2)[3].tolist() == [1 / 2, 1 / 2]  # from 1: one step to 1, one to 2
    assert bigram(x, 2)[1].tolist() == [2 / 3, 1 / 3]


# ---- the Bayes predictor with stationary start


def test_bayes_equals_the_exact_quotients() -> None:
    """All sequences up to t = 8; the error of look-ups is that of some t additions and divisions."""
    for t in range(1, 9):
        for x in all_sequences(2, t):
            before = stationary_evidence(x).ball(200)
            exact = [float(stationary_evidence((*x, j)).ball(200) / before) for j in (1, 2)]
            np.testing.assert_allclose(stationary_bayes(x)[-1], exact, rtol=4 * (t + 8) * EPS)


def test_bayes_at_every_position_and_length_agrees() -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(1, 3, size=(50, 60))
    whole = stationary_bayes(x)
    for p in (1, 2, 17, 59):
        np.testing.assert_allclose(whole[:, p - 1], stationary_bayes(x[:, :p])[:, -1], rtol=400 * EPS)
    np.testing.assert_allclose(stationary_bayes(3 - x), whole[..., ::-1], rtol=400 * EPS)


def test_bayes_agrees_with_adaptive_quadrature() -> None:
    """Long contexts: two-dimensional quadrature of SciPy, to its requested precision of 1e-9."""
    x = np.array([1] * 20 + [2] * 50 + [1, 2] * 10 + [1])
    c = ngram_counts(x, 2)

    def density(extra: int) -> float:
        def integrand(V: float, U: float) -> float:
            a = c[0, 0] * log(1 - U) + c[0, 1] * log(U) + c[1, 0] * log(V) + c[1, 1] * log(1 - V)
            return float(np.exp(a + 80)) * V / (U + V) * (1 - U) ** extra

        return scipy.integrate.dblquad(integrand, 1e-12, 1 - 1e-12, 1e-12, 1 - 1e-12, epsrel=1e-9, epsabs=0)[0]

    assert stationary_bayes(x)[-1, 0] == pytest.approx(density(1) / density(0), rel=1e-8)


def test_evidences_add_up_and_are_consistent() -> None:
    """Independent quadratures at 40 and 12 steps, joined by 28 additions; probabilities add up to 1."""
    Z = evidence_layer(40)
    for steps in range(39, -1, -1):
        Z = shorter_evidence(Z)
        assert 2 * np.sum(Z * sequence_numbers(steps)) == pytest.approx(1, rel=400 * EPS)
        if steps == 12:
            np.testing.assert_allclose(Z, evidence_layer(12), rtol=400 * EPS)


def test_numbers_of_sequences() -> None:
    found: dict[tuple[int, int], int] = {}
    for tail in all_sequences(2, 8):
        x = (1, *tail)
        (n11, n12), (n21, _) = transitions(x, 2)
        found[n11, n12 + n21] = found.get((n11, n12 + n21), 0) + 1
    numbers = sequence_numbers(8)
    assert {(int(i), int(j)): numbers[i, j] for i, j in np.argwhere(numbers)} == found


def test_predictions_are_probabilities() -> None:
    inside = predictions_of(evidence_layer(30))
    assert inside.shape == (30, 30)
    reached = inside[sequence_numbers(29) > 0]
    assert len(reached) > 400
    assert np.all((reached > 0) & (reached < 1))


# ---- losses


@pytest.mark.parametrize("t", [1, 2, 5, 7])
def test_losses_against_enumeration(t: int) -> None:
    losses, mass = reference_losses(t), LogTwo(0)
    crossed, excess = np.zeros(4), 0.0
    for x in all_sequences(2, t):
        mass += stationary_evidence(x)
        joint = np.array([float(stationary_evidence((*x, j))) for j in (1, 2)])
        laws = [numpy_uniform([x], 2), numpy_unigram([x], 2), numpy_ngram([x], 2, 2), [[joint / joint.sum()]]]
        crossed -= [joint @ np.log(np.asarray(law)[0, -1]) for law in laws]
        excess += joint.sum() * numpy_kl(joint / joint.sum(), numpy_ngram([x], 2, 2)[0, -1])
    assert mass == LogTwo(1)
    differences = crossed - np.array([losses.uniform, losses.unigram, losses.bigram, losses.bayes])
    # all four differ from the cross entropies by the entropy rate; 2^t terms of size at most 1
    np.testing.assert_allclose(differences, log(2) - losses.uniform, rtol=0, atol=2**t * 8 * EPS)
    assert losses.excess == pytest.approx(excess, abs=2**t * 8 * EPS)
    assert losses.excess > 0


def test_losses_against_sampling() -> None:
    """t = 100, seed 100, 40000 chains: each mean within 5 standard errors (confidence 0.999998 for the four)."""
    rng, losses, size = np.random.default_rng(100), reference_losses(100), 40000
    P = dirichlet_chains(2, size, rng)
    x = sample_sequences(P, 100, rng)
    truth = P[np.arange(size), x[:, -1] - 1]
    for name, law in {
        "uniform": uniform(x, 2),
        "unigram": unigram(x, 2),
        "bigram": bigram(x, 2),
        "bayes": stationary_bayes(x),
    }.items():
        sample = kl_divergence(truth, law[:, -1])
        assert abs(sample.mean() - getattr(losses, name)) < 5 * sample.std() / sqrt(size), name


def test_divergence_of_edge_cases() -> None:
    assert kl_divergence([0.5, 0.5], [0.5, 0.5]) == 0
    assert kl_divergence([1.0, 0.0], [0.5, 0.5]) == log(2)
    assert kl_divergence([0.5, 0.5], [1.0, 0.0]) == np.inf
    p = np.random.default_rng(1).dirichlet(np.ones(4), size=(2, 30))
    np.testing.assert_allclose(kl_divergence(p[0], p[1]), numpy_kl(p[0], p[1]), rtol=0, atol=100 * EPS)


# ---- chains and sequences


# ---- bad input


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([[1, 2], [3, 1]], r"\[1, 0\] is 3: symbols are 1, \.\.\., 2"),
        ([0, 1], r"\[0\] is 0"),
        ([], "no symbol"),
        (np.ones((3, 0), int), "no symbol"),
        ([1.0, 2.0], "float64"),
        ([[[1]]], "no batch"),
    ],
)
def test_bad_sequences(x: object, message: str) -> None:
    for predictor in (uniform, unigram, bigram, ngram_counts, lambda y, k: ngram(y, k, 3)):
        with pytest.raises(ValueError, match=message):
            predictor(x, 2)
    with pytest.raises(ValueError, match=message):
        stationary_bayes(x)  # type: ignore[arg-type]


@pytest.mark.parametrize("prior", [0, -1, (1, 0), (1, -2), np.nan, np.inf])
def test_bad_priors(prior: object) -> None:
    rng = np.random.default_rng(0)
    for call in (
        lambda: unigram([1, 2], 2, prior),
        lambda: bigram([1, 2], 2, prior),
        lambda: dirichlet_chains(2, 1, rng, prior),
        lambda: shared_row_chains(2, 1, rng, prior),
    ):
        with pytest.raises(ValueError, match="must be positive and finite"):
            call()
    with pytest.raises(ValueError, match="one for each of the 2 symbols"):
        bigram([1, 2], 2, (1, 1, 1))


def test_bad_sizes() -> None:
    rng = np.random.default_rng(0)
    P = dirichlet_chains(2, 3, rng)
    cases = {
        "length of a sequence must be an integer >= 1, not 0": lambda: sample_sequences(P, 0, rng),
        "length of a sequence must be an integer >= 1, not 2.5": lambda: sample_sequences(P, 2.5, rng),
        "Unknown start 'first'": lambda: sample_sequences(P, 3, rng, "first"),
        "no law over the contexts": lambda: sample_sequences(P, 3, rng, [0.5, 0.6]),
        r"\(2,\) or \(3, 2\)": lambda: sample_sequences(P, 3, rng, [1, 0, 0]),
        r"batch of shape \(B": lambda: sample_sequences(P[0], 3, rng),
        "an n-gram must be an integer >= 2, not 1": lambda: dirichlet_chains(2, 1, rng, n=1),
        "number of chains must be an integer >= 1, not 0": lambda: dirichlet_chains(2, 0, rng),
        "number of states k must be an integer >= 1, not 2.5": lambda: dirichlet_chains(2.5, 3, rng),
        "GiB of memory": lambda: dirichlet_chains(10, 1, rng, n=14),
        "k = 2, 3 and 4 only": lambda: doubly_stochastic_chains(5, 1, rng),
        r"Chain \[1\] has more than one stationary law": lambda: stationary_law([np.full((2, 2), 0.5), np.eye(2)]),
        "more than one": lambda: stationary_law(np.eye(3)),
        "an n-gram must be an integer >= 1, not 0": lambda: ngram([1], 2, 0),
        "an n-gram must be an integer >= 1, not 2.0": lambda: ngram([1], 2, 2.0),
        "an n-gram must be an integer >= 1, not -1": lambda: ngram_counts([1], 2, -1),
        r"3\^40 different 40-grams": lambda: ngram([1], 3, 40),
        "at most 16777216": lambda: ngram_counts([1], 2, 25),
        "number of states k must be an integer >= 1, not 0": lambda: bigram([1], 0),
        "number of states k must be an integer >= 1, not True": lambda: bigram([1], True),
        "at most 400, not 401": lambda: stationary_bayes(np.ones(401, int)),
        "before the prediction must be an integer >= 1, not 0": lambda: reference_losses(0),
        "before the prediction must be an integer >= 1, not 2.5": lambda: reference_losses(2.5),
        "at most 400": lambda: reference_losses(401),
        "no transitions to count.* >= 2, not 1": lambda: count_logit_floor(1),
        "prediction must be an integer >= 1, not -1": lambda: count_logit_loss(-1, 1.0),
        "not finite": lambda: count_logit_loss(4, np.inf),
        "first argument": lambda: kl_divergence([0.5, 0.6], [0.5, 0.5]),
        "second argument": lambda: kl_divergence([0.5, 0.5], [1.5, -0.5]),
    }
    for message, call in cases.items():
        with pytest.raises(ValueError, match=message):
            call()
