"""Chains: stationary laws, priors, sampling, refusals."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from lemmata.numerics.markov.chains import (
    as_chains,
    dirichlet_chains,
    doubly_stochastic_chains,
    sample_sequences,
    shared_row_chains,
    stationary_law,
)
from tests.numerics.markov.bands import EPS, binomial_band


def test_stationary_laws_are_fixed() -> None:
    rng = np.random.default_rng(2)
    for k in (2, 3, 8):
        P = dirichlet_chains(k, 50, rng)
        pi = stationary_law(P)
        # a residual: the solver is backward stable
        np.testing.assert_allclose(np.einsum("bi,bij->bj", pi, P), pi, rtol=0, atol=64 * k * EPS)
        assert np.all(pi > 0)
    np.testing.assert_allclose(stationary_law(doubly_stochastic_chains(3, 20, rng)), 1 / 3, rtol=1e-9)
    for k, n in ((2, 3), (3, 3), (2, 4)):
        P = dirichlet_chains(k, 5, rng, n=n)
        pi = stationary_law(P).reshape((5,) + (k,) * (n - 1))
        joint = pi[..., None] * P.reshape((5,) + (k,) * n)  # law of n symbols: both windows have the same law
        np.testing.assert_allclose(joint.sum(axis=1), joint.sum(axis=-1), rtol=0, atol=64 * k * EPS)


def test_doubly_stochastic_matrices() -> None:
    rng = np.random.default_rng(3)
    for k, size in ((2, 4000), (3, 4000), (4, 40)):
        P = doubly_stochastic_chains(k, size, rng)
        assert P.shape == (size, k, k)
        assert np.all(P >= 0)
        np.testing.assert_allclose(P.sum(axis=1), 1, rtol=0, atol=4 * k * EPS)
        np.testing.assert_allclose(P.sum(axis=2), 1, rtol=0, atol=4 * k * EPS)
        band = 6 * P.std(axis=0) / sqrt(size)
        assert np.all(np.abs(P.mean(axis=0) - 1 / k) < band)  # the uniform law is invariant under permutations
    symmetric = doubly_stochastic_chains(2, 10, rng)
    np.testing.assert_allclose(symmetric, np.swapaxes(symmetric, 1, 2), rtol=0, atol=4 * EPS)


def test_rows_of_the_priors() -> None:
    rng = np.random.default_rng(4)
    P = shared_row_chains(3, 5, rng)
    assert np.ptp(P, axis=1).max() == 0
    assert len(np.unique(P[:, 0, 0])) == 5
    P, prior = dirichlet_chains(3, 20000, rng, prior=(1, 2, 3)), np.array([1, 2, 3])
    mean = prior / 6
    assert np.all(np.abs(P.mean(axis=0) - mean) < 6 * np.sqrt(mean * (1 - mean) / 7 / 20000))


@pytest.mark.parametrize(("k", "n"), [(2, 2), (3, 2), (2, 3), (3, 3)])
def test_sampled_frequencies(k: int, n: int) -> None:
    """60000 sequences of one chain: the law of n consecutive symbols at the start and at the end (stationarity)."""
    rng = np.random.default_rng(10 * k + n)
    chain = dirichlet_chains(k, 1, rng, n=n)
    size = 60000
    x = sample_sequences(np.repeat(chain, size, axis=0), n + 5, rng)
    law = (stationary_law(chain)[0][:, None] * chain[0]).ravel()
    for window in (x[:, :n], x[:, -n:]):
        frequency = np.bincount((window - 1) @ k ** np.arange(n - 1, -1, -1), minlength=k**n) / size
        assert np.all(np.abs(frequency - law) < binomial_band(size, law))


def test_starts() -> None:
    rng = np.random.default_rng(6)
    P = np.repeat(np.array([[[0.9, 0.1], [0.5, 0.5]]]), 20000, axis=0)
    for start, law in (("uniform", 0.5), ("stationary", 5 / 6), ([0.2, 0.8], 0.2)):
        x = sample_sequences(P, 1, rng, start)
        assert abs(np.mean(x == 1) - law) < binomial_band(20000, np.array(law))
    assert sample_sequences(P[:3], 4, rng, [[1, 0], [0, 1], [1, 0]])[:, 0].tolist() == [1, 2, 1]
    both = np.array([[[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]])  # each sequence follows its own chain
    assert sample_sequences(both, 5, rng, [1, 0]).tolist() == [[1, 2, 1, 2, 1], [1, 1, 1, 1, 1]]


def test_the_last_symbol_takes_what_rounding_leaves() -> None:
    """Rows whose floats add up to less than the largest uniform number below 1: it draws the last symbol."""

    class Largest(np.random.Generator):
        def random(self, size: tuple[int, int]) -> np.ndarray:  # type: ignore[override]
            return np.full(size, 1 - 2.0**-53)

    P = np.full((1, 3, 3), [0.5, 0.25, 0.25 - 2.0**-52])
    assert sample_sequences(P, 6, Largest(np.random.PCG64(0)), [0.5, 0.25, 0.25 - 2.0**-52]).tolist() == [[3] * 6]


def test_each_symbol_belongs_to_a_uniform_number() -> None:
    """Independent symbols by inversion; what the committed runs of a seed are rests on which number decides which."""
    law, length = [0.2, 0.3, 0.5], 7
    numbers = np.random.default_rng(9).random((4, length + 1))
    expected = 1 + np.digitize(numbers[:, [0, *range(2, length + 1)]], [0.2, 0.5])
    np.testing.assert_array_equal(
        sample_sequences(np.full((4, 3, 3), law), length, np.random.default_rng(9), law), expected
    )


def test_sampling_is_reproducible() -> None:
    P = dirichlet_chains(3, 10, np.random.default_rng(7))
    first, second = (sample_sequences(P, 20, np.random.default_rng(8)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("chains", "message"),
    [
        ([[0.5, 0.5], [0.5, 0.4]], r"Row \[1\] of the chains sums to 0.9: every row must sum to one"),
        ([[1.5, -0.5], [0.5, 0.5]], r"Entry \[0, 1\] of the chains is -0.5"),
        ([[np.nan, 1], [0.5, 0.5]], "nan"),
        ([[0.5, 0.5]] * 3, "no batch of Markov chains"),
        ([0.5, 0.5], "no batch of Markov chains"),
    ],
)
def test_bad_chains(chains: object, message: str) -> None:
    for call in (as_chains, stationary_law, lambda P: sample_sequences(P, 3, np.random.default_rng(0))):
        with pytest.raises(ValueError, match=message):
            call(chains)
