"""The error recursion and the step certificate: bad input, forged sums, a Lipschitz constant against differences."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from certificates.step_certificate import certify_step
from constructions.in_context_descent import DescentBlock, gradient_descent_block
from constructions.in_context_descent_bounds import approximate_activation
from numerics.error_recursion import LayerBounds, LossBounds, gradient_error, gradient_lipschitz, trajectory_error
from numerics.relu_sums import constant, identity, interpolant, multiplication, ridge, squared_loss_derivative
from numerics.smooth_functions import exponential, log_cosh, sigmoid, tanh
from numerics.smooth_functions import identity as linear

ONE = arb(1)
LAYER = LayerBounds(2, *(8 * [ONE]))
LOSS = LossBounds(ONE, ONE, ONE)
WIDTHS = (2, 3, 1)


def block_of(pieces: int = 16, box: Any = (-1, 1), label_bound: int = 1) -> DescentBlock:
    r, slope = approximate_activation(WIDTHS, tanh, box, 1, pieces=pieces)
    u = squared_loss_derivative()
    return gradient_descent_block(WIDTHS, 3, "1/10", r, slope, u, box, 1, label_bound)


def test_bad_bounds_are_refused() -> None:
    with pytest.raises(ValueError, match="layers must not be empty"):
        gradient_error([], LOSS, 1)
    with pytest.raises(ValueError, match="slope of layer 2 must be nonnegative"):
        gradient_error([LAYER, replace(LAYER, slope=arb(-1))], LOSS, 1)
    with pytest.raises(ValueError, match="inputs must be nonnegative"):
        gradient_lipschitz([LAYER], LOSS, -1)
    with pytest.raises(ValueError, match="eta must be nonnegative"):
        trajectory_error([1], "-1/2", 1)
    with pytest.raises(ValueError, match="step_errors must be nonnegative"):
        trajectory_error([1, -1], 1, 1)


def test_no_errors_no_bound() -> None:
    exact = replace(LAYER, error=arb(0), slope_error=arb(0))
    assert gradient_error([exact, exact], replace(LOSS, error=arb(0)), 1).gradient == 0
    assert trajectory_error([0, 0, 0], "1/10", 5) == [0, 0, 0, 0]


def test_exact_blocks_have_the_certificate_zero() -> None:
    u = squared_loss_derivative()
    block = gradient_descent_block(WIDTHS, 3, "1/10", identity(), constant(1), u, (-1, 1), 1, 1)
    certificate = certify_step(block, linear)
    assert (certificate.activation_error, certificate.derivative_error, certificate.loss_error) == (0, 0, 0)
    assert certificate.recursion.gradient == 0
    assert certificate.gradient_error < 1e-300


def test_forged_sums_are_refused() -> None:
    block, coarse = block_of(16), block_of(8)
    certify_step(block, tanh)
    for name in ("activation", "derivative"):
        forged = replace(getattr(coarse, name), error=getattr(block, name).error)
        with pytest.raises(ValueError, match=f"The {name} of the block claims"):
            certify_step(replace(block, **{name: forged}), tanh)
    with pytest.raises(ValueError, match="built for another function"):
        certify_step(block, sigmoid)
    with pytest.raises(ValueError, match="loss_derivative of the block claims"):
        certify_step(block, tanh, log_cosh.derivative())


def test_losses_are_functions_of_the_difference() -> None:
    block = block_of()
    with pytest.raises(ValueError, match="function of t - y"):
        certify_step(replace(block, loss_derivative=multiplication(2, 4)), tanh)
    narrow = ridge(interpolant(log_cosh.derivative(), 1, 8), (1, -1))
    with pytest.raises(ValueError, match="t - y may reach"):
        certify_step(replace(block, loss_derivative=narrow), tanh, log_cosh.derivative())


def test_weights_must_fit() -> None:
    block = block_of()
    with pytest.raises(ValueError, match="weights must have shape"):
        certify_step(block, tanh, weights=[fmpq(0)])
    with pytest.raises(ValueError, match="weights must lie in the box"):
        certify_step(block, tanh, weights=[fmpq(2)] * 9)
    with pytest.raises(ValueError, match="steps must be an integer, at least 1"):
        certify_step(block, tanh).trajectory_error(0)


def test_certificate_at_one_point_is_sharper_than_on_the_box() -> None:
    block = block_of()
    everywhere = certify_step(block, tanh)
    here = certify_step(block, tanh, weights=[fmpq(1, 5)] * 9)
    assert 0 < here.gradient_error < everywhere.gradient_error / 4


def test_report_shows_the_chain_and_the_measured_error() -> None:
    certificate = certify_step(block_of(), tanh)
    lines = certificate.report(measured=certificate.gradient_error / 10).splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("eps_r ")
    assert lines[-1].endswith("ratio 10")
    assert certificate.report().splitlines() == lines[:-1]
    assert "ratio" not in certificate.report(measured=0.0)


def test_certificate_of_a_smooth_loss() -> None:
    r, slope = approximate_activation(WIDTHS, tanh, (-1, 1), 1, pieces=32)
    u = ridge(interpolant(log_cosh.derivative(), 4, 32), (1, -1))
    block = gradient_descent_block(WIDTHS, 3, "1/10", r, slope, u, (-1, 1), 1, 1)
    certificate = certify_step(block, tanh, log_cosh.derivative())
    assert 0 < certificate.loss_error <= u.error
    assert certificate.gradient_error > 0


def test_sums_must_cover_the_true_network() -> None:
    """The sum reaches 1 at most, but the true activation, exp, leads further than the sum is certified."""
    block = block_of(label_bound=1)
    with pytest.raises(ValueError, match=r"claims|outside the interval"):
        certify_step(block, exponential)


@pytest.mark.parametrize("seed", range(5))
def test_lipschitz_constant_bounds_difference_quotients(seed: int) -> None:
    """|grad L_n(w) - grad L_n(w')| <= L_f |w - w'| for tanh networks and the squared loss, at random pairs."""
    rng = np.random.default_rng(seed)
    L = float(certify_step(block_of(), tanh).lipschitz)
    x, y = rng.uniform(-1, 1, (3, 2)), rng.uniform(-1, 1, (3, 1))
    largest = 0.0
    for _ in range(40):
        w, v = rng.uniform(-1, 1, (2, 9))
        if rng.random() < 0.5:
            v = np.clip(w + 1e-3 * v, -1, 1)
        quotient = np.linalg.norm(gradient(w, x, y) - gradient(v, x, y)) / np.linalg.norm(w - v)
        largest = max(largest, float(quotient))
    assert 0 < largest <= L


def gradient(w: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    V, W = w[:6].reshape(3, 2), w[6:].reshape(1, 3)
    p = np.tanh(x @ V.T)
    q = np.tanh(p @ W.T)
    s = (1 - q**2) * (q - y)
    t = (1 - p**2) * (s @ W)
    return np.concatenate([(t.T @ x).ravel(), (s.T @ p).ravel()]) / (2 * len(x))
