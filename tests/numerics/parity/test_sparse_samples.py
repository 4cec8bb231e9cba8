"""Counts on samples: equal to NumPy sums on the same sample, unbiased, and refused for bad input."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from flint import fmpq

from lemmata.numerics.parity.sparse_neurons import (
    SparseNeuron,
    over_sparse_neuron,
    sparse_gradient,
    under_sparse_neuron,
)
from lemmata.numerics.parity.sparse_samples import sampled_counts, tabulated_counts, tracked_counts

NEURONS = [
    under_sparse_neuron(9, (0, 4), fmpq(1, 20), fmpq(-1, 40)),
    under_sparse_neuron(9, (1, 2), fmpq(1, 30)),
    over_sparse_neuron(9, range(5), fmpq(1, 3)),
    over_sparse_neuron(9, (0, 1)),  # its sum ties
]


def test_counts_are_sums_over_the_sample() -> None:
    """The same draws once more, summed with NumPy; exact fractions decide the activations."""
    support, samples = [0, 1, 3, 4], 2**14 + 700
    rng = np.random.default_rng(5)
    parts = [rng.integers(0, 2, size=(m, 9), dtype=np.int8) for m in (2**14, 700)]
    x = 2 * np.concatenate(parts).astype(np.int64) - 1
    label = x[:, support].prod(axis=1)
    for row, neuron in zip(sampled_counts(NEURONS, support, samples, np.random.default_rng(5)), NEURONS, strict=True):
        before = x @ np.array([int(60 * 20 * w) for w in neuron.weights]) + int(60 * 20 * neuron.bias)
        assert row.tolist() == ((before > 0) * label @ x).tolist()


@pytest.mark.parametrize(
    ("draw", "samples"), [(sampled_counts, 200_000), (tabulated_counts, 200_000), (tabulated_counts, 10**14)]
)
def test_estimates_are_close_to_the_population(draw: Callable[..., np.ndarray], samples: int) -> None:
    """Hoeffding: all 36 entries within tau of the gradient, but for one in a million of the seeds; and not the same."""
    tau = np.sqrt(2 * np.log(2 * 36 * 10**6) / samples)
    counts = draw(NEURONS, (0, 1, 2, 4), samples, np.random.default_rng(1))
    exact = np.stack([sparse_gradient(neuron, (0, 1, 2, 4)) for neuron in NEURONS]).astype(float)
    assert np.all(np.abs(counts / samples - exact) <= tau)
    assert np.abs(exact).max() > 3 * tau
    assert np.abs(counts / samples - exact).max() > tau / 30


def test_sixteen_inputs_can_be_listed() -> None:
    law = tracked_counts(over_sparse_neuron(40, range(9)), range(8), range(7, 16))
    assert np.isclose(law.probabilities.sum(), 0.5)


def test_tables_of_more_inputs_than_fit_in_a_chunk() -> None:
    """n = 15: the estimates at 10^14 samples, within tau of the closed form, as for smaller tables."""
    neuron = under_sparse_neuron(15, (3, 9), fmpq(1, 40), fmpq(1, 100))
    counts = tabulated_counts([neuron], (0, 3, 9, 14), 10**14, np.random.default_rng(0))
    assert np.all(np.abs(counts[0] / 10**14 - sparse_gradient(neuron, (0, 3, 9, 14)).astype(float)) <= 1e-6)


def test_tabulated_counts_of_one_input() -> None:
    """With one sample the counts of a neuron are a row of signs or 0, as its activation and label say."""
    neuron = over_sparse_neuron(3, (0, 1, 2))
    for seed in range(8):
        (row,) = tabulated_counts([neuron], (0, 1), 1, np.random.default_rng(seed)).tolist()
        assert row == [0, 0, 0] or sum(row) * row[0] * row[1] > 0


@pytest.mark.parametrize("neuron", NEURONS)
@pytest.mark.parametrize("support", [(0, 1, 2, 4), (0, 4, 7, 8)])
def test_the_law_of_tracked_counts(neuron: SparseNeuron, support: tuple[int, ...]) -> None:
    """Its mean is the gradient, its total probability that of activity, by sums over all inputs; draws follow it."""
    x = 1 - 2 * ((np.arange(2**9)[:, None] >> np.arange(9)) & 1)
    active = x @ np.array([int(600 * w) for w in neuron.weights]) + int(600 * neuron.bias) > 0
    law = tracked_counts(neuron, support, (0, 4, 5))
    assert np.isclose(law.probabilities.sum(), active.mean(), rtol=1e-12)
    gradient = sparse_gradient(neuron, support).astype(float)[[0, 4, 5]]
    assert np.allclose(law.probabilities @ law.summands, gradient, atol=1e-15)
    assert set(map(tuple, law.summands.tolist())) <= set(product((1, -1), repeat=3))
    samples = 10**12
    assert np.all(np.abs(law.draw(samples, np.random.default_rng(0)) / samples - gradient) < 6e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: sampled_counts([], (0,), 5, rng), "at least one neuron"),
        (lambda rng: sampled_counts([NEURONS[0], over_sparse_neuron(8, (0,))], (0,), 5, rng), r"not with \[8, 9\]"),
        (lambda rng: sampled_counts(NEURONS, (0,), 0, rng), "at least one sample"),
        (lambda rng: tabulated_counts([over_sparse_neuron(25, (0,))], (0,), 5, rng), "at most 24 signs"),
        (lambda rng: tracked_counts(over_sparse_neuron(40, range(9)), range(9), range(9, 17)), "at most 16 are listed"),
        (lambda rng: tracked_counts(NEURONS[0], (0,), (9,)), "different indices"),
        (lambda rng: tracked_counts(NEURONS[0], (0,), (1,)).draw(0, rng), "at least one sample"),
        (lambda rng: tabulated_counts(NEURONS, (0,), 2**62, rng), "at most 24 signs and 2"),
        (lambda rng: sampled_counts(NEURONS, (9,), 5, rng), "different indices"),
        (lambda rng: sampled_counts([over_sparse_neuron(4, (0,), fmpq(1, 2**70))], (0,), 5, rng), "too long"),
    ],
)
def test_bad_input_is_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(np.random.default_rng(0))
