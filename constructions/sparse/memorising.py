"""The ReLU network that takes given values on cubes around given nodes, exactly.

With nodes x_1, ..., x_n in R^k, any two of which differ by 4 delta or more in a coordinate, and values f_1, ..., f_n,

    ramp   nu(u)  = (u + 1)_+ - (u)_+                             0 up to -1, 1 from 0 on,
    bump   psi(u) = (u + 2)_+ - (u + 1)_+ - (u - 1)_+ + (u - 2)_+   1 for |u| <= 1, 0 for |u| >= 2,
    S_i(x) = sum_j psi((x_j - x_ij)/delta)                          k on the cube of node i,
    f(x)   = sum_i f_i [(S_i - k + 1)_+ - (S_i - k)_+] = sum_i f_i nu(S_i - k).

On the cube |x_j - x_ij| <= delta of node i all its bumps are 1, so S_i = k and its ramp is 1. Another node i' has a
coordinate in which the nodes differ by 4 delta, so that |x_j - x_i'j| >= 3 delta there, that bump is 0, S_i' <= k - 1,
and the ramp of i' is 0. So f = f_i on the whole cube.

Where two nodes are told apart in a coordinate, the ramps between them do it. A ramp that begins or ends beyond the
largest node B or below -B has no node on its other side, and may be left out; the biases of all others, (2 delta -
x_ij)/delta and so on, are breakpoints inside [-B, B], over delta.

The printed form has slopes -1/delta in the units of (u - 1)_+ and (u - 2)_+, which makes a step from -1 to 1 of the
bump, and the ramp nu((S_i - k)/delta), which needs delta <= 1.

Source: variable-creation, lemma-A.25, construction-A.25nu and remark-A.25.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.functions.smooth import positive_rational

__all__ = [
    "bump_network",
    "bump_sum_network",
    "inner_memorising_perceptron",
    "memorising_perceptron",
    "printed_memorising_perceptron",
    "ramp_network",
]

SIGNS = (1, -1, -1, 1)
"""How the four units of a bump are added."""
SHIFTS = (2, 1, -1, -2)
"""The units of a bump are (u + 2)_+, (u + 1)_+, (u - 1)_+, (u - 2)_+."""


def ramp_network(radius: object) -> FeedForward:
    """The ramp nu_delta(x) = (x/delta + 1)_+ - (x/delta)_+, from one number to one: 0 up to -delta, 1 from 0 on.

    Args:
        radius: delta, an exact positive number.

    Raises:
        ValueError: for a radius that is not exact and positive.
    """
    delta = positive_rational(radius, "The width of the ramp")
    return _sum_of_units([1 / delta] * 2, [fmpq(1), fmpq(0)], [fmpq(1), fmpq(-1)])


def bump_network(radius: object, centre: Any = 0) -> FeedForward:
    """The bump psi((x - centre)/delta), from one number to one: 1 up to the distance delta, 0 from 2 delta on.

    Args:
        radius: delta, an exact positive number.
        centre: an exact number.

    Raises:
        ValueError: for numbers that are not exact, or a radius that is not positive.
    """
    return bump_sum_network([centre], [1], radius)


def bump_sum_network(nodes: ArrayLike, values: ArrayLike, radius: object) -> FeedForward:
    """The network sum_i f_i psi((x - x_i)/delta) for nodes on a line, from one number to one, with one hidden layer.

    On [x_i - delta, x_i + delta] it has the value f_i, if no two nodes are closer than 3 delta.

    Args:
        nodes: x, shape (n,), exact numbers.
        values: f, shape (n,), exact numbers.
        radius: delta > 0, exact.

    Raises:
        ValueError: for shapes or numbers that do not fit, and for two nodes that are too close, naming them.
    """
    x, f, delta = _checked(np.asarray(as_exact(nodes))[..., None], values, radius, 3)
    slopes = [1 / delta] * (4 * len(x))
    shifts = [shift - node / delta for node in x[:, 0] for shift in SHIFTS]
    return _sum_of_units(slopes, shifts, [value * sign for value in f for sign in SIGNS])


def memorising_perceptron(nodes: ArrayLike, values: ArrayLike, radius: object) -> FeedForward:
    """The network with the value f_i at all points within delta of node x_i in every coordinate; see the module.

    It has 4 n k units in the first and 2 n in the second hidden layer, exact weights of size at most max(1, B + 2
    delta)/delta, k and max |f_i|, for nodes of size at most B.

    Args:
        nodes: x, shape (n, k), exact numbers.
        values: f, shape (n,), exact numbers.
        radius: delta > 0, exact.

    Returns:
        The network from k numbers to one: two layers of ReLUs, and a linear one.

    Raises:
        ValueError: for shapes or numbers that do not fit, and for two nodes that are less than 4 delta apart, naming
            them.

    Source: variable-creation, lemma-A.25, with corrected bumps and a ramp of width 1.
    """
    x, f, delta = _checked(as_exact(nodes), values, radius, 4)
    k = x.shape[1]
    return _lookup(x, f, delta, slopes=(1, 1, 1, 1), shifts=SHIFTS, scale=fmpq(1), biases=(fmpq(1 - k), fmpq(-k)))


def inner_memorising_perceptron(nodes: ArrayLike, values: ArrayLike, radius: object) -> FeedForward:
    """`memorising_perceptron` without the ramps that reach beyond the nodes, so that its first weights are smaller.

    It has the same values on the cubes and the same numbers of units (those that are left out are 0), and weights of
    size at most max(1, B)/delta, k and max |f_i|. For delta <= 1 these are the printed norms.

    Arguments and errors as for `memorising_perceptron`.

    Source: variable-creation, lemma-A.25.
    """
    x, f, delta = _checked(as_exact(nodes), values, radius, 4)
    k = x.shape[1]
    B = max(abs(a) for a in x.ravel().tolist())
    kept = np.array([x - 2 * delta >= -B, x + 2 * delta <= B])  # the rising and the falling ramp, (2, n, k)
    shifted = fmpq(0) + (~kept[0].astype(bool)).sum(axis=1)  # a rising ramp that is left out is 1 everywhere
    whole = _lookup(x, f, delta, slopes=(1, 1, 1, 1), shifts=SHIFTS, scale=fmpq(1), biases=(fmpq(1 - k), fmpq(-k)))
    first, second, last = whole.layers
    units = np.repeat(kept.astype(int), 2, axis=0).ravel()  # in the order (unit of the bump, node, coordinate)
    layers = (
        Affine(first.weight * units, first.bias * units),
        Affine(second.weight, second.bias + np.concatenate([shifted, shifted])),
        last,
    )
    return FeedForward(layers, activations=whole.activations)


def printed_memorising_perceptron(nodes: ArrayLike, values: ArrayLike, radius: object) -> FeedForward:
    """The network as it is printed: half of the slopes of the bumps have the wrong sign, and the ramp is steep.

    Arguments and errors as for `memorising_perceptron`, whose values it does not take.

    Source: variable-creation, lemma-A.25.
    """
    x, f, delta = _checked(as_exact(nodes), values, radius, 4)
    biases = (1 - x.shape[1] / delta, -x.shape[1] / delta)
    return _lookup(x, f, delta, slopes=(1, 1, -1, -1), shifts=(2, 1, 2, 1), scale=1 / delta, biases=biases)


def _lookup(
    x: Array, f: Array, delta: fmpq, *, slopes: Sequence[int], shifts: Sequence[int], scale: fmpq, biases: Sequence[Any]
) -> FeedForward:
    """The three layers; units of the first in the order (unit of the bump, node, coordinate), then (ramp, node)."""
    n, k = x.shape
    first = np.zeros((k, 4, n, k), dtype=object)
    for b, slope in enumerate(slopes):
        first[:, b] = (np.eye(k, dtype=int)[:, None, :] * slope) * np.full((1, n, 1), 1 / delta, dtype=object)
    offsets = np.array([shift - slope * x / delta for shift, slope in zip(shifts, slopes, strict=True)], dtype=object)
    second = np.zeros((4, n, k, 2, n), dtype=object)
    for b, sign in enumerate(SIGNS):
        for i in range(n):
            second[b, i, :, :, i] = sign * scale
    layers = (
        Affine(first.reshape(k, 4 * n * k), offsets.ravel()),
        Affine(second.reshape(4 * n * k, 2 * n), np.repeat(np.array(biases, dtype=object), n)),
        Affine(np.concatenate([f, -f])[:, None]),
    )
    return FeedForward(layers, activations=("relu", "relu", "identity"))


def _sum_of_units(slopes: Sequence[fmpq], shifts: Sequence[fmpq], weights: Sequence[fmpq]) -> FeedForward:
    hidden = Affine(np.array(slopes, dtype=object)[None, :], np.array(shifts, dtype=object))
    return FeedForward((hidden, Affine(np.array(weights, dtype=object)[:, None])), activations=("relu", "identity"))


def _checked(nodes: ArrayLike, values: ArrayLike, radius: object, apart: int) -> tuple[Array, Array, fmpq]:
    x, f = np.asarray(nodes), np.atleast_1d(as_exact(values))
    delta = positive_rational(radius, "The radius of the cubes")
    if x.ndim != 2 or not x.size or f.shape != x.shape[:1]:
        raise ValueError(
            f"Nodes of shape (n, k) with n, k >= 1 need a value each, but the shapes are {x.shape} and {f.shape}."
        )
    for i, j in combinations(range(len(x)), 2):
        distance = max(abs(a - b) for a, b in zip(x[i], x[j], strict=True))
        if distance < apart * delta:
            raise ValueError(
                f"The nodes {i} and {j} differ by at most {distance} in every coordinate, which is less than "
                f"{apart} times the radius {delta}: their cubes are too close."
            )
    return x, f, delta
