"""Ascent on the normalised margin of a one-hidden-layer homogeneous network: how large a margin training can find.

The model is f(x) = sum_i (u_i . x)^k w_i with the norm ||theta||^(k+1) = sum_i ||(u_i, w_i)||_2^(k+1), and what climbs is
the smallest of the normalised margins g = (f(x)[y] - f(x)[c]) / ||theta||^(k+1) over all points x and wrong labels c. It
is not differentiable; its smooth lower bound -log(sum exp(-beta g)) / beta is, and lies at most log(number)/beta below.
So beta rises in stages, each climbed by L-BFGS. The result is a network and nothing else: it can be evaluated by anyone,
and says nothing about margins that were not found. Gradients are written out; the tests compare them with automatic
differentiation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

__all__ = ["ascend", "smooth_margin_and_gradient"]

Floats = NDArray[np.float64]


def ascend(
    inputs: Floats,
    labels: NDArray[np.int64],
    hidden: Floats,
    readout: Floats,
    degree: int,
    *,
    unit: float,
    sharpness: Sequence[float] = (10.0, 100.0, 1e3, 1e4),
    iterations: int = 300,
) -> tuple[Floats, Floats]:
    """Return weights of norm 1, ``hidden`` (m, D) and ``readout`` (m, L), climbed from the given ones.

    ``inputs`` (N, D), ``labels`` (N,) in range(L); ``unit`` is the size of margin that counts as 1 (a bound or a
    guess), in which ``sharpness``, the values of beta, is measured; ``iterations`` of L-BFGS for each of them.

    Raises ``ValueError`` when the unit is not positive or the shapes do not fit.
    """
    m, D, L = len(hidden), inputs.shape[1], readout.shape[1]
    if not unit > 0 or hidden.shape != (m, D) or readout.shape != (m, L) or labels.shape != (len(inputs),):
        raise ValueError(
            f"The ascent needs a positive unit, hidden (m, {D}), readout (m, L) and labels ({len(inputs)},), not {unit}, "
            f"{hidden.shape}, {readout.shape} and {labels.shape}."
        )
    theta = np.concatenate([hidden, readout], axis=1)
    for beta in sharpness:
        theta = theta / np.sum(np.sum(theta**2, axis=1) ** ((degree + 1) / 2)) ** (1 / (degree + 1))

        def descent(flat: Floats, beta: float = beta) -> tuple[float, Floats]:
            weights = flat.reshape(m, D + L)
            value, gradient = smooth_margin_and_gradient(
                inputs, labels, weights[:, :D], weights[:, D:], degree, beta / unit
            )
            return -value / unit, -gradient.ravel() / unit

        found = minimize(
            descent, theta.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": iterations, "maxcor": 20}
        )
        theta = found.x.reshape(m, D + L)
    theta = theta / np.sum(np.sum(theta**2, axis=1) ** ((degree + 1) / 2)) ** (1 / (degree + 1))
    return theta[:, :D], theta[:, D:]


def smooth_margin_and_gradient(
    inputs: Floats, labels: NDArray[np.int64], hidden: Floats, readout: Floats, degree: int, beta: float
) -> tuple[float, Floats]:
    """Return -log(sum exp(-beta g)) / beta and its gradient with respect to (hidden, readout), shape (m, D + L)."""
    points = np.arange(len(labels))
    pre = inputs @ hidden.T
    lower = np.ones_like(pre)
    for _ in range(degree - 1):  # NumPy's power with an integer exponent above 2 is a hundred times slower
        lower *= pre
    power = lower * pre
    logits = power @ readout
    squares = np.einsum("ij,ij->i", hidden, hidden) + np.einsum("ij,ij->i", readout, readout)
    total = float(np.sum(squares ** ((degree + 1) / 2)))
    margins = (logits[points, labels][:, None] - logits) / total
    margins[points, labels] = np.inf  # the right label is no competitor
    smallest = margins.min()
    shares = np.exp(-beta * (margins - smallest))
    mass = shares.sum()
    shares /= mass
    margins[points, labels] = 0.0
    slope = -shares / total
    slope[points, labels] = shares.sum(axis=1) / total
    shrink = float(np.sum(shares * margins)) / total * (degree + 1) * squares[:, None] ** ((degree - 1) / 2)
    grad_readout = power.T @ slope - shrink * readout
    grad_hidden = (slope @ readout.T * (degree * lower)).T @ inputs - shrink * hidden
    return float(smallest - np.log(mass) / beta), np.concatenate([grad_hidden, grad_readout], axis=1)
