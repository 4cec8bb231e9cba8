"""Ascent on the normalised margin of a one-hidden-layer homogeneous network: how large a margin training can find.

The model is f(x) = sum_i (u_i . x)^k w_i with the norm ||theta||^(k+1) = sum_i ||(u_i, w_i)||_2^(k+1), and what climbs
is the smallest of the normalised margins g = (f(x)[y] - f(x)[c]) / ||theta||^(k+1) over all points x and wrong labels
c. It is not differentiable; its smooth lower bound -log(sum exp(-beta g)) / beta is, and lies at most log(number)/beta
below. So beta rises in stages, each climbed by L-BFGS. The result is a network and nothing else: it can be evaluated by
anyone, and says nothing about margins that were not found. Gradients are written out; the tests compare them with
automatic differentiation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lemmata.numerics.functions.powers import integer_power
from lemmata.numerics.margins.quasi_newton import minimise

__all__ = ["Ascent", "ascend", "ascend_from_random", "normalised_margin", "smooth_margin_and_gradient"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SHARPNESS = (10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 3e4)


@dataclass(frozen=True, eq=False)
class Ascent:
    """The best of the starts made: weights ``hidden`` (m, D), ``readout`` (m, L), its ``margin``; ``margins`` of all.

    ``margin`` is the normalised margin of exactly these weights, as `normalised_margin` evaluates it.
    """

    hidden: Floats
    readout: Floats
    margin: float
    margins: tuple[float, ...]


def ascend_from_random(
    inputs: NDArray[np.number],
    labels: Integers,
    outputs: int,
    degree: int,
    width: int,
    *,
    starts: int = 4,
    enough: float = math.inf,
    seed: int = 0,
    sharpness: Sequence[float] = SHARPNESS,
    iterations: int = 300,
) -> Ascent:
    """The network of ``width`` neurons with the largest normalised margin found from Gaussian starts.

    Args:
        inputs: (N, D).
        labels: (N,) in range(outputs).
        outputs: L >= 2.
        degree: k >= 1.
        width: m >= 1.
        starts: so many starts at most.
        enough: no further start once a margin reaches this.
        seed: of the starts.
        sharpness: as in `ascend`.
        iterations: as in `ascend`.

    Wide networks have fewer bad local maxima: twice to four times the width of an optimal network is a good choice.

    Raises:
        ValueError: for sizes that do not fit.
    """
    points = np.asarray(inputs, dtype=np.float64)
    if points.ndim != 2 or np.shape(labels) != points.shape[:1]:
        raise ValueError(f"Inputs and labels need shapes (N, D), (N,); they have {points.shape}, {np.shape(labels)}.")
    if outputs < 2 or np.min(labels) < 0 or np.max(labels) >= outputs:
        raise ValueError(f"There must be at least 2 labels, and all labels must lie in 0..{outputs - 1}.")
    for name, value in (("degree", degree), ("width", width), ("starts", starts)):
        if value < 1:
            raise ValueError(f"The {name} must be at least 1, not {value}.")
    rng = np.random.default_rng(seed)
    found: list[tuple[Floats, Floats]] = []
    margins: list[float] = []
    while len(margins) < starts and max(margins, default=-math.inf) < enough:
        start = rng.normal(size=(width, points.shape[1])), rng.normal(size=(width, outputs))
        found.append(ascend(points, labels, *start, degree, sharpness=sharpness, iterations=iterations))
        margins.append(normalised_margin(points, labels, *found[-1], degree))
    best = int(np.argmax(margins))
    return Ascent(*found[best], margins[best], tuple(margins))


def ascend(
    inputs: Floats,
    labels: Integers,
    hidden: Floats,
    readout: Floats,
    degree: int,
    *,
    unit: float | None = None,
    sharpness: Sequence[float] = SHARPNESS,
    iterations: int = 300,
) -> tuple[Floats, Floats]:
    """The weights of norm 1, ``hidden`` (m, D) and ``readout`` (m, L), climbed from the given ones.

    Args:
        inputs: (N, D).
        labels: (N,) in range(L).
        hidden: (m, D).
        readout: (m, L).
        degree: k.
        unit: the size of margin that counts as 1 (a bound or a guess), in which the sharpness is measured; by default
            the mean size of a margin at the beginning of a stage.
        sharpness: the values of beta.
        iterations: of L-BFGS, for each value of beta.

    Raises:
        ValueError: if the unit is not positive or the shapes do not fit.
    """
    m, D, L = len(hidden), inputs.shape[1], readout.shape[1]
    fits = hidden.shape == (m, D) and readout.shape == (m, L) and labels.shape == (len(inputs),)
    if not fits or (unit is not None and not unit > 0):
        raise ValueError(
            f"The ascent needs a positive unit, hidden (m, {D}), readout (m, L) and labels ({len(inputs)},), not "
            f"{unit}, {hidden.shape}, {readout.shape} and {labels.shape}."
        )
    theta = np.concatenate([hidden, readout], axis=1)
    for beta in sharpness:
        theta = theta / _norm_power(theta, degree) ** (1 / (degree + 1))
        size = unit or float(np.abs(_margins(inputs, labels, theta[:, :D], theta[:, D:], degree)).mean())
        theta = _stage(inputs, labels, theta, degree, beta, size, iterations)
    theta = theta / _norm_power(theta, degree) ** (1 / (degree + 1))
    return theta[:, :D], theta[:, D:]


def _stage(
    inputs: Floats, labels: Integers, theta: Floats, degree: int, beta: float, unit: float, iterations: int
) -> Floats:
    """The weights after climbing the smooth lower bound of one beta, in the given unit, from theta (m, D + L)."""
    D = inputs.shape[1]

    def descent(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(theta.shape)
        value, gradient = smooth_margin_and_gradient(
            inputs, labels, weights[:, :D], weights[:, D:], degree, beta / unit
        )
        return -value / unit, -gradient.ravel() / unit

    return minimise(descent, theta.ravel(), iterations=iterations).reshape(theta.shape)


def normalised_margin(inputs: Floats, labels: Integers, hidden: Floats, readout: Floats, degree: int) -> float:
    """The smallest normalised margin over all points and wrong labels; arguments as in `ascend`."""
    margins = _margins(np.asarray(inputs, dtype=np.float64), labels, hidden, readout, degree)
    margins[np.arange(len(labels)), labels] = np.inf
    return float(margins.min()) / _norm_power(np.concatenate([hidden, readout], axis=1), degree)


def smooth_margin_and_gradient(
    inputs: Floats, labels: Integers, hidden: Floats, readout: Floats, degree: int, beta: float
) -> tuple[float, Floats]:
    """-log(sum exp(-beta g)) / beta and its gradient with respect to (hidden, readout), shape (m, D + L)."""
    points = np.arange(len(labels))
    pre = inputs @ hidden.T
    lower = integer_power(pre, degree - 1)
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


def _margins(inputs: Floats, labels: Integers, hidden: Floats, readout: Floats, degree: int) -> Floats:
    """The margins f(x)[y] - f(x)[c] for all points and labels, shape (N, L); 0 at the right label."""
    logits = integer_power(inputs @ hidden.T, degree) @ readout
    return logits[np.arange(len(labels)), labels][:, None] - logits


def _norm_power(theta: Floats, degree: int) -> float:
    """The power ||theta||_{2,k+1}^(k+1) of the norm of the neurons in the rows."""
    return float(np.sum(np.sum(theta**2, axis=1) ** ((degree + 1) / 2)))
