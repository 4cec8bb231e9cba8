"""The exact range of a ReLU network on boxes, where every unit of its first layer reads one coordinate.

Before the second activation such a network is a sum over the coordinates c of piecewise linear functions of one number,

    g_c(x_c) = sum over the units of c of w relu(a x_c + b),

whose extremes on an interval lie at its ends or at a breakpoint -b/a. The coordinates of a box are independent, so that
the extremes of the sum are the sums of the extremes: nothing is lost. Further layers are taken by interval arithmetic,
exactly where the units before them are constant on the box. All numbers are rational.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import ACTIVATIONS, FeedForward
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array, number_system
from lemmata.numerics.functions.activations import relu

__all__ = ["output_range"]

Range = tuple[Array, Array]


def output_range(network: FeedForward, low: ArrayLike, high: ArrayLike) -> Range:
    """The least and the largest value of every output on boxes low <= x <= high: two rational arrays (..., e).

    With two layers they are attained. With more they enclose the values, and are attained where the units of the second
    layer are constant on the box.

    Args:
        network: with rational weights, at least two layers that are ReLU or linear, the first ReLU, no residual, and
            units of the first layer that read at most one coordinate each.
        low, high: the boxes, shape (..., d), exact numbers.

    Raises:
        ValueError: for another network, or a box whose low exceeds its high.
    """
    lows, highs = as_exact(low), as_exact(high)
    _require_supported(network)
    if lows.shape != highs.shape or lows.shape[-1:] != (network.inputs,) or (lows > highs).any():
        raise ValueError(
            f"A box needs low <= high in {network.inputs} coordinates, but the shapes are {lows.shape} and "
            f"{highs.shape}, or a low exceeds its high."
        )
    sums = _SumsOfUnits(network.layers[0], network.layers[1])
    results = np.empty((2, *lows.shape[:-1], network.outputs), dtype=object)
    for index in np.ndindex(lows.shape[:-1]):
        ends = sums(lows[index], highs[index])
        for layer, name in zip((None, *network.layers[2:]), network.activations[1:], strict=True):
            ends = ends if layer is None else _affine_range(layer, ends)
            ends = ACTIVATIONS[name](ends[0]), ACTIVATIONS[name](ends[1])
        results[(0, *index)], results[(1, *index)] = ends
    return results[0], results[1]


class _SumsOfUnits:
    """The range of the second layer before its activation; intervals that boxes share are computed once."""

    def __init__(self, first: Affine, second: Affine) -> None:
        self.slopes, self.offsets = as_exact(first.weight), as_exact(first.offset)
        self.weights, self.bias = as_exact(second.weight), as_exact(second.offset)
        self.known: dict[tuple[int, fmpq, fmpq], Range] = {}
        idle = np.flatnonzero((self.slopes == 0).all(axis=0))
        if len(idle):
            self.bias = self.bias + exact_matmul(relu(self.offsets[idle])[None, :], self.weights[idle])[0]

    def __call__(self, low: Array, high: Array) -> Range:
        parts = [self._along(c, low[c], high[c]) for c in range(len(low))]
        return sum((part[0] for part in parts), start=self.bias), sum((part[1] for part in parts), start=self.bias)

    def _along(self, c: int, low: fmpq, high: fmpq) -> Range:
        if (c, low, high) not in self.known:
            units = np.flatnonzero(self.slopes[c] != 0)
            slopes, offsets = self.slopes[c, units], self.offsets[units]
            points = {low, high} | {x for x in (-offsets / slopes).tolist() if low < x < high} if len(units) else {low}
            values = relu(np.array(sorted(points), dtype=object)[:, None] * slopes + offsets)
            sums = exact_matmul(values, self.weights[units]) if len(units) else 0 * self.bias[None, :]
            self.known[c, low, high] = _extreme(sums, min), _extreme(sums, max)
        return self.known[c, low, high]


def _extreme(rows: Array, choose: Callable[[list[fmpq]], fmpq]) -> Array:
    """The least or the largest entry of every column."""
    return np.array([choose(column) for column in rows.T.tolist()], dtype=object)


def _affine_range(layer: Affine, ends: Range) -> Range:
    """The range of an affine map on a box."""
    weight = as_exact(layer.weight)
    up, down = relu(weight), -relu(-weight)
    return tuple(
        exact_matmul(a[None, :], up)[0] + exact_matmul(b[None, :], down)[0] + as_exact(layer.offset)
        for a, b in (ends, ends[::-1])
    )  # type: ignore[return-value]


def _require_supported(network: FeedForward) -> None:
    known = set(network.activations) <= {"relu", "identity"} and network.activations[0] == "relu"
    if network.residual or len(network.layers) < 2 or not known:
        raise ValueError("Ranges are known for two or more ReLU or linear layers, the first ReLU, without a residual.")
    if number_system(network.arrays()) != "exact":
        raise ValueError("Ranges are exact, so the weights of the network must be rational.")
    readers = (network.layers[0].weight != 0).sum(axis=0)
    if (readers > 1).any():
        unit = int(np.flatnonzero(readers > 1)[0])
        raise ValueError(f"Unit {unit} of the first layer reads {readers[unit]} coordinates; at most one is allowed.")
