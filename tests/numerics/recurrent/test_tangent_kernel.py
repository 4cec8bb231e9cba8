"""The tangent kernel of an Elman network: against gradients written out, regression against a solve, bad input."""

import numpy as np
import pytest

from lemmata.constructions.recurrent.elman import random_elman, trace, weighted_gradient
from lemmata.numerics.recurrent.tangent_kernel import kernel_regression, tangent_features, tangent_kernel


@pytest.mark.parametrize("place", [2, 3, 5])
def test_the_kernel_is_the_inner_product_of_gradients(place):
    rng = np.random.default_rng(place)
    network, x = random_elman(25, 3, 2, rng), rng.standard_normal((6, 5, 3))
    weights = np.zeros((5, 2))
    weights[place - 1, 1] = 1
    runs = [trace(network, tokens) for tokens in x]
    gradients = np.array([weighted_gradient(network, run, weights).ravel() for run in runs])
    features = tangent_features(network.state, network.token, network.readout[1], x, place)
    assert features.rows.shape == (place - 1, 6, 25)
    np.testing.assert_allclose(features.outputs, [run.outputs[place - 1, 1] for run in runs], atol=1e-12)
    few = tangent_features(network.state, network.token, network.readout[1], x[:2], place)
    np.testing.assert_allclose(tangent_kernel(features, few), gradients @ gradients[:2].T, rtol=1e-12, atol=1e-10)
    assert np.abs(gradients).max() > 0.1


def test_regression_takes_the_ridge_with_the_least_errors_left_out():
    rng = np.random.default_rng(0)
    z, other = rng.standard_normal((40, 5)), rng.standard_normal((7, 5))
    labels = z @ rng.standard_normal(5) + 0.5 * rng.standard_normal(40)
    K, unit = z @ z.T, np.trace(z @ z.T) / 40
    errors = {}
    for ridge in (1e-4, 1e-1, 10.0):
        left = []
        for n in range(40):
            rest = np.arange(40) != n
            coefficients = np.linalg.solve(K[np.ix_(rest, rest)] + ridge * unit * np.eye(39), labels[rest])
            left.append(abs(labels[n] - K[n, rest] @ coefficients))
        errors[ridge] = np.mean(left)
    best = min(errors, key=errors.__getitem__)
    expected = other @ z.T @ np.linalg.solve(K + best * unit * np.eye(40), labels)
    np.testing.assert_allclose(kernel_regression(K, labels, other @ z.T, tuple(errors)), expected, rtol=1e-9, atol=1e-9)
    assert max(errors.values()) > 1.01 * min(errors.values())


def test_bad_input():
    network = random_elman(5, 3, 1, np.random.default_rng(0))
    parts = (network.state, network.token, network.readout[0])
    with pytest.raises(ValueError, match="not on output 1"):
        tangent_features(*parts, np.zeros((2, 4, 3)), 1)
    with pytest.raises(ValueError, match="a row of B of shape"):
        tangent_features(network.state, network.token, network.readout, np.zeros((2, 4, 3)), 2)
    with pytest.raises(ValueError, match="For 3 labels"):
        kernel_regression(np.eye(2), np.zeros(3), np.zeros((1, 3)))
    with pytest.raises(ValueError, match="Ridges are positive"):
        kernel_regression(np.eye(3), np.zeros(3), np.zeros((1, 3)), (0.0,))
