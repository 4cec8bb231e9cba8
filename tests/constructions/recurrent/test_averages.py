"""Comparators on many inputs: against the same for one input, enclosed means, and bad input."""

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.recurrent.averages import (
    batch_back,
    batch_trace,
    conditional_means,
    fresh_changes,
    own_changes,
)
from lemmata.constructions.recurrent.comparator import Comparator, comparator, conditional_mean
from lemmata.constructions.recurrent.concepts import Part, TargetFunction, input_sequences, null_sequence
from lemmata.constructions.recurrent.elman import ElmanNetwork, back, random_elman, trace
from lemmata.constructions.recurrent.indicator import indicator_function
from lemmata.numerics.exact.numbers import as_exact

EPSILON, WINDOW = 0.3, 0.2
ONE = fmpq(1)


def _case() -> tuple[ElmanNetwork, Comparator, np.ndarray]:
    rng, axis = np.random.default_rng(0), np.array([0.6, 0.8, 0.0])
    parts = (Part(2, 4, 0, (0 * ONE, ONE), axis), Part(3, 5, 1, (0 * ONE, 0 * ONE, ONE), axis))
    network = random_elman(150, 4, 2, rng)
    z = rng.standard_normal((4, 3, 2))
    z *= 0.75**0.5 / np.linalg.norm(z, axis=-1, keepdims=True)
    x = np.concatenate([z, np.full((4, 3, 1), 0.5)], axis=-1)
    return network, comparator(network, TargetFunction(5, 2, parts), EPSILON, WINDOW), x


def test_many_inputs_are_one_by_one():
    network, found, x = _case()
    tokens = input_sequences(x, EPSILON)
    run = batch_trace(network, tokens)
    own = own_changes(found, network, run)
    for number, sequence in enumerate(tokens):
        single = trace(network, sequence)
        np.testing.assert_allclose(run.states[number], single.states, atol=1e-12)
        assert (run.active[number] == single.active).all()
        change = found.change(network, single)
        np.testing.assert_allclose(own[number], change, atol=1e-10 * np.abs(change).max())
        for end in (1, 3, 5):
            for start, matrix in enumerate(batch_back(network, run, 1, end), start=1):
                np.testing.assert_allclose(matrix[number], back(network, single, start, end), atol=1e-11)


@pytest.mark.parametrize("partner", ["linear", "sign"])
@pytest.mark.parametrize("coefficients", [[0, 1], [0, 0, 1], [0, 1, -2, 3, 1]], ids=str)
def test_means_lie_in_their_enclosures(coefficients, partner):
    network, _, x = _case()
    run, null = batch_trace(network, input_sequences(x, EPSILON)), trace(network, null_sequence(5, 3, EPSILON))
    for i, other in ((2, 2), (3, 3), (3, 2), (2, 4)):
        function, t = indicator_function(coefficients, 2 * (i - 2), partner), x[:, other - 2, 0]
        found = conditional_means(function, null.states[i - 1], run.states[:, other - 1], EPSILON, t, WINDOW)
        for value, h, alignment in zip(found, run.states[:, other - 1], t, strict=True):
            ball = conditional_mean(function, null.states[i - 1], h, EPSILON, float(alignment), WINDOW)
            assert abs(value - float(ball)) < 1e-11 + float(ball.rad())


def test_the_mean_over_fresh_rows_is_the_sum_over_parts_and_places():
    network, found, x = _case()
    mean = fresh_changes(network, found, x, EPSILON, WINDOW)
    run, null = trace(network, input_sequences(x, EPSILON)[1]), trace(network, null_sequence(5, 3, EPSILON))
    expected = np.zeros((5, 2))
    for weight in found.weights:
        part = weight.part
        hz, row = null.states[part.source - 1], back(network, null, part.source, part.target)[part.output]
        for i in range(2, 5):
            t = float(x[1, i - 2] @ part.direction)
            value = float(conditional_mean(weight.function, hz, run.states[i - 1], EPSILON, t, WINDOW))
            for j in range(i, 6):
                factor = back(network, run, i, j) @ row / (150 * weight.normaliser)
                expected[j - 1] += factor * float(run.states[i - 1] @ hz) * value
    np.testing.assert_allclose(mean[1], expected, atol=1e-10)
    assert np.abs(expected[3, 0]) > 0.05


def test_a_window_that_is_too_wide_loses_the_target():
    """The slope on target of the mean over fresh rows: near 1 for eps_c < eps_x, and below 0.3 for eps_c = 20 eps_x."""
    slopes = {}
    for window in (0.03, 2.0):
        rng = np.random.default_rng(1)
        parts = (Part(2, 3, 0, (0 * ONE, ONE), np.array([1.0, 0.0, 0.0])),)
        network, (_, _, x) = random_elman(400, 4, 1, rng), _case()
        found = comparator(network, TargetFunction(3, 1, parts), 0.1, window)
        mean = fresh_changes(network, found, x[:, :1], 0.1, window)
        slopes[window] = np.polyfit(x[:, 0, 0], mean[:, 2, 0], 1)[0]
    assert 0.85 < slopes[0.03] < 1.05
    assert abs(slopes[2.0]) < 0.3


def test_bad_input():
    network, found, x = _case()
    run = batch_trace(network, input_sequences(x, EPSILON))
    with pytest.raises(ValueError, match="Many sequences are traced in float64"):
        batch_trace(network, np.zeros((5, 4)))
    exact = ElmanNetwork(as_exact([[1]]), as_exact([[1]]), as_exact([[1]]))
    with pytest.raises(ValueError, match="Many sequences are traced in float64"):
        batch_trace(exact, np.zeros((1, 3, 1)))
    with pytest.raises(ValueError, match="not from 2 to 6"):
        batch_back(network, run, 2, 6)
    function = found.weights[0].function
    away = indicator_function([0, 1], 0, "sign", far=1)
    with pytest.raises(ValueError, match="degree 0"):
        conditional_means(away, run.states[0, 1], run.states[:, 1], EPSILON, x[:, 0, 0], WINDOW)
    with pytest.raises(ValueError, match="For 3 alignments"):
        conditional_means(function, run.states[0, 1], run.states[:, 1], EPSILON, x[:3, 0, 0], WINDOW)
