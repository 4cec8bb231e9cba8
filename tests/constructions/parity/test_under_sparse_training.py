"""The steps that train an under-sparse network end to end."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.activations import Ramp
from lemmata.constructions.parity.two_layer import TwoLayerNetwork
from lemmata.constructions.parity.under_sparse import draw_under_sparse, under_sparse_step
from lemmata.constructions.parity.under_sparse_training import (
    FirstLayerStep,
    batch_gradients,
    pattern_features,
    train_first_layer,
    training_schedule,
    truncated_step,
)
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.parity.under_sparse_sizes import slope_gradient, training_sizes


def small_network(seed: int) -> TwoLayerNetwork:
    """Five neurons on four inputs, two of them equal, with small outputs."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(-5, 6, (5, 4))
    hidden[4] = hidden[0]
    bias = rng.integers(-3, 4, 5)
    bias[4] = bias[0]
    scale = fmpq(1, 700)
    readout = as_exact(rng.integers(-2, 3, 5))
    return TwoLayerNetwork(as_exact(hidden) * scale, as_exact(bias) * scale, readout, Ramp(), fmpq(1, 7))


@pytest.mark.parametrize("seed", range(5))
def test_gradients_are_those_of_a_loop_over_the_samples(seed: int) -> None:
    network, x = small_network(seed), sign_inputs(4)
    counts = np.random.default_rng(seed).integers(0, 9, len(x))
    found = batch_gradients(network, x, counts, [0, 2])
    for row, bias, entries in zip(network.hidden.tolist(), network.bias.tolist(), found.tolist(), strict=True):
        totals = [Fraction(0)] * 4
        for signs, often in zip(x.tolist(), counts.tolist(), strict=True):
            if sum((w * sign for w, sign in zip(row, signs, strict=True)), bias) > 0:
                totals = [t + signs[0] * signs[2] * sign * often for t, sign in zip(totals, signs, strict=True)]
        assert [Fraction(int(e.p), int(e.q)) for e in entries] == [t / int(counts.sum()) for t in totals]


def test_a_margin_of_one_is_refused_where_the_sample_has_it() -> None:
    network, x = replace(small_network(1), output_bias=fmpq(1)), sign_inputs(4)
    margins = network(x) * x[:, [0, 2]].prod(axis=1)
    counts = np.array([0 if margin >= 1 else 1 for margin in margins])
    assert 0 < counts.sum() < 16
    batch_gradients(network, x, counts, [0, 2])
    with pytest.raises(ValueError, match="1 or more at an input of the sample"):
        batch_gradients(network, x, np.ones(16), [0, 2])
    with pytest.raises(ValueError, match="exact networks"):
        batch_gradients(TwoLayerNetwork(np.ones((1, 4)), np.ones(1), np.ones(1), Ramp(), 0.0), x, np.ones(16), [0, 2])


def test_the_first_step_is_that_of_one_step() -> None:
    """As `under_sparse_step` makes it, by another route."""
    n, k, s = 11, 4, 2
    epsilon, S = fmpq(1, 200000), [0, 3, 4, 9]
    start = draw_under_sparse(n, k, s, epsilon, 60, np.random.default_rng(2))
    step = under_sparse_step(start, start.population_gradient(S))
    x = sign_inputs(n)
    [found] = train_first_layer(start.network(), x, np.ones(len(x)), S, training_schedule(n, k, s, epsilon)[:1])
    assert (found.hidden == step.network.hidden).all()
    assert (found.bias == step.network.bias).all()


def test_a_step_decays_and_truncates() -> None:
    network = TwoLayerNetwork(as_exact([[1, 2], [3, 4]]), as_exact([0, 1]), as_exact([1, -1]), Ramp(), fmpq(0))
    gradient = as_exact(["1/2", "1/4", "-1/4", "-1"]).reshape(2, 2)
    found = truncated_step(network, gradient, FirstLayerStep(fmpq(1, 4), fmpq(2), fmpq(1, 2)))
    assert found.hidden.tolist() == [[fmpq(3, 2), fmpq(1)], [fmpq(3, 2), fmpq(4)]]
    assert (found.readout == network.readout).all()
    with pytest.raises(ValueError, match=r"shape \(2, 2\)"):
        truncated_step(network, gradient[:1], FirstLayerStep(fmpq(1, 4), fmpq(2), fmpq(1, 2)))


def test_features_at_the_patterns_of_the_support() -> None:
    hidden = as_exact([[0, 2, 0, -4], [0, 0, 0, 0]])
    network = TwoLayerNetwork(hidden, as_exact([-2, 6]), as_exact([1, 1]), Ramp(), fmpq(0))
    features = pattern_features(network, [1, 3], fmpq(2))
    assert features.tolist() == [[0, 3, 1], [2, 3, 1], [0, 3, 1], [0, 3, 1]]
    with pytest.raises(ValueError, match="outside of the support"):
        pattern_features(network, [1, 2], fmpq(2))


def test_sizes_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match=r"lie in \(0, 1\)"):
        training_sizes(12, 4, 2, 1, fmpq(1, 9))
    with pytest.raises(ValueError, match=r"lie in \(0, 1\)"):
        training_sizes(12, 4, 2, fmpq(1, 2), 0.5)
    with pytest.raises(ValueError, match="more than a quarter"):
        training_sizes(14, 6, 2, fmpq(1, 2), fmpq(1, 9))
    for k, theta in [(3, 1), (4, 2), (4, 5), (0, 1)]:
        with pytest.raises(ValueError, match="The kinks are odd"):
            slope_gradient(k, theta)
