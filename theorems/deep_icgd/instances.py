"""Random rational instances of gradient descent in context, with a reference step that knows nothing of the block.

The reference is `lemmata.numerics.descent.backpropagation` with the scalar functions written out here as plain Python,
and a clip.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq

from lemmata.constructions.descent.block import DescentBlock, gradient_descent_block
from lemmata.numerics.descent.backpropagation import Matrix, projected_step, risk_gradient
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.functions.relu_sums import (
    ReluSum,
    affine,
    constant,
    identity,
    piecewise_linear,
    ridge,
    squared_loss_derivative,
)

Scalar = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Scalars:
    """Activation, derivative and loss derivative, as sums of ReLUs and as plain functions of numbers."""

    sums: tuple[ReluSum, ReluSum, ReluSum]
    plain: tuple[Scalar, Scalar, Callable[[Any, Any], Any]]


@dataclass(frozen=True, eq=False)
class Instance:
    """A block with a prompt for it."""

    block: DescentBlock
    scalars: Scalars
    inputs: Array
    labels: Array
    start: Array

    @property
    def prompt(self) -> Array:
        """The encoded prompt."""
        return self.block.prompt(self.inputs, self.labels, self.start)


def interpolate(knots: list[fmpq], values: list[fmpq]) -> Scalar:
    """Linear between the knots and continued linearly, by the two-point formula."""

    def function(t: Any) -> Any:
        i = min(max(bisect_right(knots, t) - 1, 0), len(knots) - 2)
        share = (t - knots[i]) / (knots[i + 1] - knots[i])
        return (1 - share) * values[i] + share * values[i + 1]

    return function


def clamp(low: fmpq, high: fmpq) -> Scalar:
    """t -> min(max(t, low), high)."""
    return lambda t: min(max(t, low), high)


def random_scalars(kind: str, rng: np.random.Generator) -> Scalars:
    """One of the kinds "linear", "affine", "huber" (a smoothed ReLU, interpolated), "piecewise" (random functions)."""
    half, squared = fmpq(1, 2), (squared_loss_derivative(), lambda t, y: t - y)
    if kind == "linear":
        return Scalars((identity(), constant(1), squared[0]), (lambda t: t, lambda t: fmpq(1), squared[1]))
    if kind == "affine":
        a, b = fmpq(int(rng.integers(1, 4)), 2), fmpq(int(rng.integers(1, 4)), 2)
        return Scalars((affine(a, b), constant(a), squared[0]), (lambda t: a * t + b, lambda t: a, squared[1]))
    knots = [fmpq(i, 4) for i in range(-4, 5)]
    if kind == "huber":
        values = [min(max(t, fmpq(0)), fmpq(1)) ** 2 / 2 for t in knots]
        slope = clamp(fmpq(0), fmpq(1))
        sums = piecewise_linear(knots, values), piecewise_linear([-1, 0, 1, 2], [0, 0, 1, 1])
    elif kind == "piecewise":
        values, slopes = ([fmpq(int(v), 4) for v in rng.integers(-6, 7, size=9)] for _ in range(2))
        slope, sums = interpolate(knots, slopes), (piecewise_linear(knots, values), piecewise_linear(knots, slopes))
    else:
        raise ValueError(f"The kinds are linear, affine, huber and piecewise, not {kind!r}.")
    residual = clamp(-half, half)
    loss = ridge(piecewise_linear([-1, -half, half, 1], [-half, -half, half, half]), (1, -1))
    return Scalars((*sums, loss), (interpolate(knots, values), slope, lambda t, y: residual(t - y)))


def rationals(rng: np.random.Generator, *shape: int, denominator: int = 8) -> Array:
    """Multiples of 1/denominator in [-1, 1]."""
    return as_exact(rng.integers(-denominator, denominator + 1, size=shape)) / fmpq(denominator)


def gradient(instance: Instance, w: Array) -> list[Matrix]:
    """The gradient at w over the examples of the instance, by the reference."""
    matrices = [V.tolist() for V in instance.block.layout.matrices(w)]
    return risk_gradient(matrices, instance.inputs[:-1].tolist(), instance.labels.tolist(), *instance.scalars.plain)


def reference_step(instance: Instance, w: Array, step_size: fmpq | None = None) -> tuple[Array, list[bool], int]:
    """The weights after a projected step; for each layer, whether its gradient is not 0; how many weights are clipped.

    The step size is that of the block by default.
    """
    layout, block = instance.block.layout, instance.block
    lower, upper = (layout.matrices(end) for end in (block.lower, block.upper))
    slopes = gradient(instance, w)
    eta = block.step_size if step_size is None else step_size
    matrices = [V.tolist() for V in layout.matrices(w)]
    moved = projected_step(matrices, slopes, eta, lambda j, k, b: (lower[j][k, b], upper[j][k, b]))
    after = layout.flatten([np.array(V, dtype=object) for V in moved])
    free = w - eta * layout.flatten([np.array(V, dtype=object) for V in slopes])
    nonzero = [any(entry != 0 for row in V for entry in row) for V in slopes]
    return after, nonzero, int(np.count_nonzero((free != after).astype(bool)))


def random_instance(
    rng: np.random.Generator, kind: str, depth: int, most: int = 3, clip: bool = True, smallest_examples: int = 1
) -> Instance:
    """An instance with d_x != d_y whose gradient is not 0 in any layer; with ``clip``, the first step leaves the box.

    Candidates without these properties are rejected, so that no check is passed by standing still.
    """
    while True:
        widths = tuple(int(k) for k in rng.integers(1, most + 1, size=depth + 1))
        if widths[0] == widths[-1]:
            continue
        n, scalars = int(rng.integers(smallest_examples, 5)), random_scalars(kind, rng)
        block = gradient_descent_block(widths, n, fmpq(1, 3), *scalars.sums, (-1, 1), 1, 1)
        while True:
            inputs, labels = rationals(rng, n + 1, widths[0]), rationals(rng, n, widths[-1])
            start = rationals(rng, block.layout.weight_count) * fmpq(7, 8)
            instance = Instance(block, scalars, inputs, labels, start)
            slopes = gradient(instance, start)
            if all(any(entry != 0 for row in V for entry in row) for V in slopes):
                break
        if not clip:
            return instance
        largest = max(abs(entry) for V in slopes for row in V for entry in row)
        step = fmpq((2 / largest).ceil())  # more than the width of the box for the steepest weight
        block = gradient_descent_block(widths, n, step, *scalars.sums, (-1, 1), 1, 1)
        return Instance(block, scalars, inputs, labels, start)


def digits(array: Array) -> int:
    """The most decimal digits of a numerator or denominator."""
    bits = max(max(int(q.p).bit_length(), int(q.q).bit_length()) for q in array.ravel().tolist())
    return round(bits * 0.30103) + 1
