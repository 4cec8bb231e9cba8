"""Speed of the predictors of Markov chains in context, in tokens per second of one core, beside plain NumPy and torch.

A token is one position of one sequence, with the law of its successor written out. The first call of a kernel and the
table of the Bayes predictor are made before the clock starts; the table has a benchmark of its own.
"""

from collections.abc import Callable
from time import perf_counter

import numpy as np
import pytest
import torch
from pytest_benchmark.fixture import BenchmarkFixture

from lemmata.constructions.induction.head import bayesian_ngram_head, scales_for
from lemmata.numerics.markov.bayes import evidence_layer, predictions_of, shorter_evidence, stationary_bayes
from lemmata.numerics.markov.chains import dirichlet_chains, sample_sequences
from lemmata.numerics.markov.predictors import bigram, ngram, ngram_counts, uniform, unigram
from tests.oracles.markov_chains import numpy_ngram, numpy_uniform, numpy_unigram

LENGTH = 100
Predictor = Callable[[np.ndarray], np.ndarray]


class NumpyBayes:
    """The exact Bayes predictor by cumulative sums of one-hot transitions and a gather from a full cube."""

    def __init__(self, t: int) -> None:
        self.cube = np.zeros((t, t, t))
        Z = evidence_layer(t)
        for m in range(t, 0, -1):
            self.cube[m - 1, :m, :m] = predictions_of(Z)
            Z = shorter_evidence(Z)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """(B, t) to (B, t, 2)."""
        start = np.zeros((len(x), 1), dtype=np.int64)
        stays = (x[:, 1:] == x[:, :-1]) & (x[:, 1:] == x[:, :1])
        n11 = np.hstack([start, np.cumsum(stays, axis=1)])
        changes = np.hstack([start, np.cumsum(x[:, 1:] != x[:, :-1], axis=1)])
        repeat = self.cube[np.arange(x.shape[1]), n11, changes]
        return np.where(x[..., None] == np.array([1, 2]), repeat[..., None], 1 - repeat[..., None])


CASES: dict[str, tuple[int, Predictor, Callable[[int], Predictor]]] = {
    "uniform, k = 2": (2, lambda x: uniform(x, 2), lambda t: lambda x: numpy_uniform(x, 2)),
    "unigram, k = 2": (2, lambda x: unigram(x, 2), lambda t: lambda x: numpy_unigram(x, 2)),
    "bigram, k = 2": (2, lambda x: bigram(x, 2), lambda t: lambda x: numpy_ngram(x, 2, 2)),
    "trigram, k = 2": (2, lambda x: ngram(x, 2, 3), lambda t: lambda x: numpy_ngram(x, 2, 3)),
    "exact Bayes, k = 2": (2, stationary_bayes, NumpyBayes),
    "unigram, k = 4": (4, lambda x: unigram(x, 4), lambda t: lambda x: numpy_unigram(x, 4)),
    "bigram, k = 4": (4, lambda x: bigram(x, 4), lambda t: lambda x: numpy_ngram(x, 4, 2)),
    "bigram, k = 8": (8, lambda x: bigram(x, 8), lambda t: lambda x: numpy_ngram(x, 8, 2)),
    "trigram, k = 3": (3, lambda x: ngram(x, 3, 3), lambda t: lambda x: numpy_ngram(x, 3, 3)),
}


def rate(predictor: Predictor, x: np.ndarray, rounds: int) -> float:
    """The best number of tokens per second: the rest is other load of the machine."""
    seconds = []
    for _ in range(rounds):
        start = perf_counter()
        predictor(x)
        seconds.append(perf_counter() - start)
    return x.size / min(seconds)


@pytest.mark.parametrize("name", list(CASES))
def test_predictor_beside_numpy(name: str, benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    """10^6 tokens for the kernel, 10^5 for NumPy, whose arrays of one-hot transitions are k^n times as large."""
    k, kernel, make_plain = CASES[name]
    rng = np.random.default_rng(k)
    x = sample_sequences(dirichlet_chains(k, 10**6 // LENGTH, rng), LENGTH, rng)
    few = x[: len(x) // 10]
    plain = make_plain(LENGTH)
    np.testing.assert_allclose(kernel(few), plain(few), rtol=1e-12)
    ours, theirs = rate(kernel, x, 7), rate(plain, few, 3)
    with capsys.disabled():
        print(f"\n{name}: {ours / 1e6:.0f} million tokens/s, NumPy {theirs / 1e6:.2f}, ratio {ours / theirs:.0f}")
    benchmark(kernel, x)


@pytest.mark.parametrize(("n", "k"), [(2, 2), (2, 4), (3, 3)])
def test_predictor_beside_the_torch_transformer(
    n: int, k: int, benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same predictions by the kernel and by a batched forward of the induction head on one thread of torch."""
    prior, tolerance = (1,) * k, 1e-6
    head = bayesian_ngram_head(n, k, *scales_for(n, k, LENGTH, tolerance, prior), prior)
    module = head.transformer.to_torch(context=LENGTH)
    rng = np.random.default_rng(k)
    x = sample_sequences(dirichlet_chains(k, 200, rng, n=n), LENGTH, rng)

    def forward(y: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return module(torch.from_numpy(y)).numpy()

    # the head bounds the distance in total variation, rounding of float64 apart
    np.testing.assert_allclose(forward(x), ngram(x, k, n), rtol=0, atol=2 * tolerance)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        theirs = rate(forward, x, 3)
    finally:
        torch.set_num_threads(threads)
    ours = rate(lambda y: ngram(y, k, n), x, 7)
    with capsys.disabled():
        print(
            f"\n{n}-grams, k = {k}: {ours / 1e6:.0f} million tokens/s, torch {theirs / 1e6:.3f}, "
            f"ratio {ours / theirs:.0f}"
        )
    benchmark(ngram, x, k, n)


@pytest.mark.parametrize("t", [100, 200, 400])
def test_table_of_the_bayes_predictor(t: int, benchmark: BenchmarkFixture) -> None:
    """The last layer of evidences by quadrature: nearly all of the time for a table."""
    Z = benchmark.pedantic(evidence_layer, args=(t,), rounds=2, warmup_rounds=1)
    assert Z[0, 0] > 0


def test_samplers_and_counts(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    """Sequences of k = 3 states and their transition counts."""
    rng = np.random.default_rng(3)
    chains = dirichlet_chains(3, 10**4, rng)
    x = sample_sequences(chains, LENGTH, rng)
    ngram_counts(x, 3)
    sampling = rate(lambda y: sample_sequences(chains, y.shape[1], rng), x, 5)
    counting = rate(lambda y: ngram_counts(y, 3), x, 5)
    with capsys.disabled():
        print(f"\nk = 3: sampling {sampling / 1e6:.0f} million tokens/s, counting {counting / 1e6:.0f}")
    benchmark(sample_sequences, chains, LENGTH, rng)
