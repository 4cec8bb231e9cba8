"""Functions on a grid as deep ReLU networks, and scores of noisy data cut off and put on such a grid.

On a uniform grid with distances h_i the hat of a node v is

    hat_v(z) = relu(1 - max(0, s_1, ..., s_k) - max(0, -s_1, ..., -s_k)),    s_i = (z_i - v_i) / h_i,

the piecewise linear function on Kuhn's triangulation (each cube of the grid cut along the orders of the fractional
parts) that is 1 at v and 0 at all other nodes. The maxima are built one variable after the other, max(m, s) = m +
relu(s - m) for m >= 0, shared by all nodes that agree so far; so k + 1 hidden layers make all hats, and a linear output
layer their sum with the values of a function at the nodes. Inside the grid that is the interpolant, with values between
those at the corners of a simplex; beyond one more cube it is 0, and in between it is not larger than the values.

The score of x_t = a_t x_0 + sigma_t Z is -E[Z | x_t] / sigma_t, whatever the law of x_0. Cut off at M, coordinate by
coordinate, and put on a grid of x and t it becomes a network for all times at once (`score_network`).

Source: deep-icgd, lemma-19.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import ActivationName, FeedForward
from lemmata.numerics.exact.systems import Array, conversion, number_system
from lemmata.numerics.functions.smooth import positive_rational, rational

Unit = tuple[Any, ...]
Form = dict[Unit, Any]  # what a unit reads: coefficients of units, and of () the constant 1


def grid_network(axes: Sequence[tuple[object, object]], values: Array) -> FeedForward:
    """The network of k + 1 hidden layers that interpolates the values on the grid, with a linear output layer.

    Args:
        axes: (lower, upper) for each of the k variables; the nodes of the grid are equally spaced from end to end.
        values: shape (n_1, ..., n_k, e) with n_i >= 2, exact or float64; the weights are in the same number system.

    Raises:
        ValueError: for no axis, an empty one, or values of another shape.
    """
    ends = [(rational(lower, "lower"), rational(upper, "upper")) for lower, upper in axes]
    sizes, k = values.shape[:-1], len(ends)
    if not k or len(sizes) != k or min(sizes) < 2 or any(lower >= upper for lower, upper in ends):
        raise ValueError(
            f"A grid needs axes (lower, upper) with lower < upper and values (n_1, ..., n_k, e) with two nodes or more "
            f"on each of {k} axes, not {list(axes)} and the shape {values.shape}."
        )
    steps = [(upper - lower) / (n - 1) for (lower, upper), n in zip(ends, sizes, strict=True)]
    convert = conversion(number_system([values]))
    inputs: list[Unit] = [("input", i) for i in range(k)]
    places = [{inputs[i]: 1 / steps[i], (): -ends[i][0] / steps[i]} for i in range(k)]  # node j of axis i is at place j
    maxima: dict[tuple[int, int, tuple[int, ...]], Form] = {(s, 0, ()): {} for s in (1, -1)}
    layers, before = [], inputs
    for level in range(1, k + 1):
        units: dict[Unit, Form] = {}
        after: dict[tuple[int, int, tuple[int, ...]], Form] = {}
        for (sign, _, prefix), m in maxima.items():
            kept: Unit = ("kept", sign, prefix)
            if prefix:
                units[kept] = m
            for node in range(sizes[level - 1]):
                unit: Unit = ("above", sign, (*prefix, node))
                offset = _sum((places[level - 1], sign), ({(): fmpq(1)}, -sign * node), (m, -1))
                units[unit] = offset
                after[sign, level, (*prefix, node)] = {unit: fmpq(1)} | ({kept: fmpq(1)} if prefix else {})
        for i in range(level, k):  # later variables pass as the difference of two units
            for sign in (1, -1):
                units["place", sign, i] = _sum((places[i], sign))
            places[i] = {("place", 1, i): fmpq(1), ("place", -1, i): fmpq(-1)}
        layers.append(_affine(before, units, convert))
        maxima, before = after, list(units)
    nodes = list(product(*(range(n) for n in sizes)))
    hats: dict[Unit, Form] = {
        ("hat", v): _sum(({(): fmpq(1)}, 1), (maxima[1, k, v], -1), (maxima[-1, k, v], -1)) for v in nodes
    }
    layers += [_affine(before, hats, convert), Affine(values.reshape(len(nodes), -1))]
    activations: list[ActivationName] = ["relu"] * (k + 1)
    return FeedForward(tuple(layers), activations=(*activations, "identity"))


def score_network(
    score: Callable[[NDArray[np.float64], float], NDArray[np.float64]],
    dimension: int,
    radius: object,
    times: tuple[object, object],
    cut: object,
    nodes: tuple[int, int],
) -> FeedForward:
    """The network for the score of all laws p_t, T_0 <= t <= T, from inputs (x, t), in float64.

    Args:
        score: points of shape (n, d) and a time to the values of grad log p_t, shape (n, d).
        dimension: d.
        radius: R > 0; the grid covers [-R, R]^d.
        times: (T_0, T) with 0 < T_0 < T.
        cut: M > 0; the entries of the score are cut off at -M and M.
        nodes: how many nodes for each entry of x, and for t; at least two.

    Raises:
        ValueError: for other numbers, or a score of another shape.
    """
    R, M = positive_rational(radius, "radius"), float(positive_rational(cut, "cut"))
    first, last = (positive_rational(t, "times") for t in times)
    if dimension < 1 or min(nodes) < 2 or first >= last:
        raise ValueError(
            f"A grid of scores needs d >= 1, two nodes or more and T_0 < T: {dimension}, {nodes}, {times}."
        )
    axis = np.linspace(-float(R), float(R), nodes[0])
    points = np.stack(np.meshgrid(*[axis] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
    columns = [np.asarray(score(points, float(t))) for t in np.linspace(float(first), float(last), nodes[1])]
    if any(column.shape != points.shape for column in columns):
        raise ValueError(f"The score must map points (n, {dimension}) to values of the same shape.")
    values = np.clip(np.stack(columns, axis=1), -M, M).reshape(*(nodes[0],) * dimension, nodes[1], dimension)
    return grid_network([(-R, R)] * dimension + [(first, last)], values)


def _sum(*parts: tuple[Form, Any]) -> Form:
    total: Form = {}
    for form, factor in parts:
        for unit, coefficient in form.items():
            total[unit] = total.get(unit, fmpq(0)) + factor * coefficient
    return total


def _affine(before: Sequence[Unit], units: dict[Unit, Form], convert: Callable[[Any], Array]) -> Affine:
    """The map from the units before to these."""
    place = {unit: i for i, unit in enumerate(before)}
    weight, bias = (
        convert(np.zeros((len(before), len(units)), dtype=np.int64)),
        convert(np.zeros(len(units), dtype=int)),
    )
    for column, form in enumerate(units.values()):
        for unit, coefficient in form.items():
            number = convert([coefficient])[0]
            if unit:
                weight[place[unit], column] = number
            else:
                bias[column] = number
    return Affine(weight, bias)
