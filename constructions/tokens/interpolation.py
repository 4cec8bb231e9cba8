"""Short networks that interpolate: ReLUs on a line, along a direction, and as the read-out of a recurrent network.

For sorted z_1 < ... < z_n with gaps of at least eps <= 1 and slopes s_i = (y_i - y_(i-1))/(z_i - z_(i-1)),

    g(t) = y_1 relu(t - z_1 + 1) + (s_2 - y_1) relu(t - z_1) + sum_(i >= 3) (s_i - s_(i-1)) relu(t - z_(i-1))

has g(z_i) = y_i: the first neuron takes the place of an output bias. The squared norm of the read-out is at most
16 |y|^2/eps^2, that of slopes and biases together at most 3 (n + |z|^2). Multiplying the read-out by alpha and
dividing the first layer by alpha changes nothing, and with the best alpha the total is at most

    8 sqrt(3) |y| sqrt(n + |z|^2)/eps.

A unit vector v that keeps the points apart (`separating_direction`) brings points of R^d to a line. In a read-out of
depth L the output passes further layers as its positive and its negative part.

Where tokens carry near-orthogonal codes of the positions that they ask for, a neuron relu(c <omega, .> - c/2) answers
one of them and no other (`coded_readout`), and the squared norm of n layers grows like n and not like n^3.

Source: qstr, lemma-36, lemma-37, lemma-38, theorem-9 and ext-coded-interpolation (proofs/minimum-norm.md of that
chapter).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.layer import Weights
from lemmata.constructions.networks.recurrent import RecurrentCell, RecurrentLayer
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact, exact_midpoint
from lemmata.numerics.exact.systems import Array, exact_values
from lemmata.numerics.tokens.codes import PositionCodes

__all__ = [
    "SeparatingDirection",
    "coded_readout",
    "interpolating_network",
    "interpolating_readout",
    "interpolating_recurrence",
    "least_gap",
    "line_interpolant",
    "separating_direction",
    "squared_norm",
    "unit_direction",
]


@dataclass(frozen=True, eq=False)
class SeparatingDirection:
    """A rational unit vector with the points on its line.

    Attributes:
        vector: v, shape (d,).
        places: v . x_i, shape (n,), rational.
        gap: the least distance of two places; 1 for a single point.
    """

    vector: Array
    places: Array
    gap: fmpq

    @property
    def square(self) -> fmpq:
        """The sum of the squared places."""
        return (self.places**2).sum()

    @property
    def separates(self) -> bool:
        """Whether the gap is at least sqrt(pi)/(3 n^2), and the squared places sum to at most 3 n."""
        n = len(self.places)
        return bool(arb(self.gap) >= least_gap(n)) and self.square <= 3 * n


def least_gap(n: int) -> arb:
    """sqrt(pi)/(3 n^2), by which some direction separates n Gaussian points with probability at least 1/2.

    Raises:
        ValueError: if n < 1.
    """
    return arb.pi().sqrt() / (3 * checked_integer("The number of points", n, 1) ** 2)


def unit_direction(d: int, rng: np.random.Generator) -> Array:
    """A random rational unit vector of R^d, uniform up to sign and the rounding of its stereographic image to 2^-24.

    Raises:
        ValueError: if d < 1.
    """
    if checked_integer("The dimension", d, 1) == 1:
        return as_exact([1])
    point = rng.standard_normal(d)
    point /= np.linalg.norm(point) * (1 if point[-1] <= 0 else -1)
    image = as_exact(np.rint(point[:-1] / (1 - point[-1]) * 2**24).astype(np.int64)) / fmpq(2**24)
    square = (image**2).sum()
    return np.append(2 * image, square - 1) / (square + 1)


def separating_direction(
    points: ArrayLike | Sequence[Any], rng: np.random.Generator, attempts: int = 100
) -> SeparatingDirection:
    """A direction that separates the points, found by random draws and verified exactly.

    Args:
        points: shape (n, d), different from each other; floats count with their binary values.
        rng: of the draws.
        attempts: how many are made.

    Raises:
        ValueError: for another shape, numbers that are not finite, or if no draw separates the points.
    """
    X = _points(points)
    for _ in range(attempts):
        vector = unit_direction(X.shape[1], rng)
        places = X @ vector
        gaps = np.diff(np.sort(places))
        found = SeparatingDirection(vector, places, min(gaps) if len(gaps) else fmpq(1))
        if found.separates:
            return found
    raise ValueError(
        f"None of {attempts} directions keeps the {len(X)} points apart by sqrt(pi)/(3 n^2), with squares "
        "that sum to at most 3 n: points that nearly agree, or are large, have no such direction."
    )


def line_interpolant(places: ArrayLike | Sequence[Any], labels: ArrayLike | Sequence[Any]) -> FeedForward:
    """The network t -> sum_k a_k relu(w_k t + b_k) of n neurons through the points (z_i, y_i), balanced; rational.

    Args:
        places: z, shape (n,), all different.
        labels: y, shape (n,).

    Raises:
        ValueError: for places that agree, or shapes that do not fit.
    """
    a, b = _neurons(exact_values("the places", places), exact_values("the labels", labels))
    alpha = _balance(a, b, 1)
    weight = as_exact([[1] * len(a)]) / alpha if alpha else as_exact([[0] * len(a)])
    return _two_layers(weight, b / alpha if alpha else 0 * b, alpha * a[:, None])


def interpolating_network(
    points: ArrayLike | Sequence[Any],
    labels: ArrayLike | Sequence[Any],
    direction: ArrayLike | Sequence[Any],
    width: int | None = None,
) -> FeedForward:
    """The network x -> sum_k a_k relu(w_k . x + b_k) through the points, with all w_k along one direction.

    Args:
        points: shape (n, d).
        labels: shape (n,).
        direction: v, shape (d,), of any length, with different v . x_i.
        width: m >= n; further neurons are 0. n if it is not given.

    Raises:
        ValueError: as `line_interpolant`, or for m < n.
    """
    return interpolating_readout(points, labels, direction, 2, width)


def interpolating_readout(
    points: ArrayLike | Sequence[Any],
    labels: ArrayLike | Sequence[Any],
    direction: ArrayLike | Sequence[Any],
    depth: int,
    width: int | None = None,
) -> FeedForward:
    """The same with L layers of weights: from the third on two neurons carry the positive and the negative part.

    Args:
        points: shape (n, d).
        labels: shape (n,).
        direction: shape (d,).
        depth: L >= 2; for L = 2 the second layer is the read-out itself.
        width: m, of the first layer.

    Raises:
        ValueError: as `interpolating_network`, or if L < 2.
    """
    X, v = _points(points), exact_values("the direction", direction)
    n, d = X.shape
    L, m = checked_integer("The depth", depth, 2), n if width is None else checked_integer("The width", width, n)
    if v.shape != (d,):
        raise ValueError(f"A direction of points in R^{d} has the shape ({d},), not {v.shape}.")
    a, b = _neurons(X @ v, exact_values("the labels", labels))
    alpha = _balance(a, b, 1 if L == 2 else 2, v)
    zero = alpha == 0
    weight = _padded(0 * np.outer(v, a) if zero else np.outer(v, as_exact([1] * n)) / alpha, m)
    bias = _padded((0 * b if zero else b / alpha)[None], m)[0]
    outer = _padded((alpha * a)[None], m).T
    if L == 2:
        return _two_layers(weight, bias, outer)
    carry = as_exact(np.eye(2, dtype=np.int64))
    layers = [Affine(weight, bias), Affine(np.concatenate([outer, -outer], axis=1)), *[Affine(carry)] * (L - 3)]
    return FeedForward((*layers, Affine(as_exact([[1], [-1]]))), activations=("relu",) * (L - 1) + ("identity",))


def coded_readout(
    codes: PositionCodes, indices: ArrayLike, labels: ArrayLike | Sequence[Any], depth: int, dimension: int
) -> FeedForward:
    """The read-out with the label y_i wherever the token asks for t_i, and 0 where it asks for none of them; balanced.

    Its inputs are the tokens z = (x, omega_i, omega_t), x in R^d, of `lemmata.tokens.encode` for recurrent networks.
    The squared norm is L (5 2^(L - 2) S^2)^(1/L) for S = sum |y_i|, up to the rounding of roots to 30 bits.

    Args:
        codes: of correlation at most 1/2, with rational entries.
        indices: t, shape (n,), all different, from 0.
        labels: y, shape (n,), not 0.
        depth: L >= 2, the number of layers of weights.
        dimension: d.

    Raises:
        ValueError: for other shapes, indices or labels, codes that are closer, or if L < 2.
    """
    t, y = np.asarray(indices), exact_values("the labels", labels)
    L, d = checked_integer("The depth", depth, 2), checked_integer("The dimension", dimension, 1)
    if t.ndim != 1 or t.dtype.kind not in "iu" or y.shape != t.shape or len(set(t.tolist())) != len(t) or not len(t):
        raise ValueError("A table of answers has n different indices and n labels.")
    if not (y != 0).all():
        raise ValueError("A label is 0, which needs no neuron: leave it out.")
    codes.require_near_orthogonal()
    peaks = as_exact([_near((16 * arb(label) ** 2 / 5).root(4)) for label in y])
    silent = as_exact(np.zeros((d + codes.dimension, len(t)), dtype=np.int64))
    weight = np.concatenate([silent, codes.rows(t, "exact").T * peaks])
    answers = 2 * y / peaks
    first = Affine(weight, -peaks / 2)
    if L == 2:
        return FeedForward((first, Affine(answers[:, None])), activations=("relu", "identity"))
    halves = np.stack([np.where(y > 0, answers, 0 * y), np.where(y < 0, -answers, 0 * y)], axis=1)
    carry = as_exact(np.eye(2, dtype=np.int64))
    tables = [halves, *[carry] * (L - 3), as_exact([[1], [-1]])]
    squares = [(first.weight**2).sum() + (first.bias**2).sum(), *((table**2).sum() for table in tables)]
    size = arb(math.prod(squares, start=fmpq(1))).root(L)  # of every layer, where they are balanced
    scales = [_near((size / square).sqrt()) for square in squares[:-1]]
    scales.append(1 / math.prod(scales, start=fmpq(1)))
    layers = [Affine(table * scale) for table, scale in zip(tables, scales[1:], strict=True)]
    return FeedForward(
        (Affine(first.weight * scales[0], first.bias * scales[0]), *layers),
        activations=("relu",) * (L - 1) + ("identity",),
    )


def interpolating_recurrence(readout: FeedForward, states: int, encoding: int = 0) -> RecurrentLayer:
    """The recurrent network of two directions whose cells and U are 0, with this read-out of the token x_i.

    Its tokens are (x_i, encoding of (t_i, i)); the read-out gets (h_fw, h_bw, token) and ignores all but x_i.

    Args:
        readout: on tokens of R^d, for instance `interpolating_readout`.
        states: d_h >= 1, the width of the states.
        encoding: the width of the encoding.

    Raises:
        ValueError: if d_h < 1, or the width of the encoding is negative.
    """
    d_h, more = checked_integer("The width of the states", states, 1), checked_integer("The encoding", encoding, 0)
    first = readout.layers[0]
    d, m = first.inputs, first.outputs
    above, below = (as_exact(np.zeros((rows, m), dtype=np.int64)) for rows in (2 * d_h, more))
    whole = FeedForward(
        (Affine(np.concatenate([above, first.weight, below]), first.bias), *readout.layers[1:]),
        activations=readout.activations,
    )
    cell = RecurrentCell(Affine(as_exact(np.zeros((d_h + d + more, d_h), dtype=np.int64))))
    return RecurrentLayer(cell, cell, moment="before", keep_token=True, readout=whole)


def squared_norm(network: Weights) -> Any:
    """The sum of the squares of all weights and biases, in their numbers."""
    return sum((x * x for array in network.arrays() for x in array.ravel().tolist()), start=0)


def _points(points: ArrayLike | Sequence[Any]) -> Array:
    X = exact_values("the points", points)
    if X.ndim != 2 or not X.size:
        raise ValueError(f"Points stand in the rows of a table (n, d), not of the shape {X.shape}.")
    return X


def _neurons(z: Array, y: Array) -> tuple[Array, Array]:
    """The read-out and the biases of the neurons with slope 1, each of shape (n,)."""
    if z.ndim != 1 or not z.size or y.shape != z.shape:
        raise ValueError(f"Points on a line have places (n,) and labels (n,), not the shapes {z.shape} and {y.shape}.")
    order = np.argsort(z)
    z, y = z[order], y[order]
    gaps = np.diff(z)
    if any(gap == 0 for gap in gaps):
        i = next(i for i, gap in enumerate(gaps) if gap == 0)
        raise ValueError(f"Two points have the same place {z[i]} on the line: give points or a direction that differ.")
    slopes = np.diff(y) / gaps if len(z) > 1 else gaps
    readout = np.concatenate([y[:1], slopes[:1] - y[:1], np.diff(slopes)])
    biases = np.concatenate([1 - z[:1], -z[:-1]])
    return readout, biases


def _balance(a: Array, b: Array, copies: int, v: Array | None = None) -> fmpq:
    """A rational alpha near the least copies alpha^2 |a|^2 + (n |v|^2 + |b|^2)/alpha^2; 0 if a = 0."""
    outer = copies * (a**2).sum()
    inner = len(a) * (fmpq(1) if v is None else (v**2).sum()) + (b**2).sum()
    if outer == 0:
        return fmpq(0)
    return _near(arb(inner / outer).root(4))


def _near(target: arb) -> fmpq:
    """A rational number below a positive one, to 30 bits."""
    unit = fmpq(2) ** (math.floor(float(target.log() / arb(2).log())) - 30)
    return unit * fmpq(exact_midpoint(target / unit).floor())


def _padded(columns: Array, width: int) -> Array:
    """Columns of zeros behind those given, to a total of ``width``."""
    missing = as_exact(np.zeros((len(columns), width - columns.shape[1]), dtype=np.int64))
    return np.concatenate([columns, missing], axis=1)


def _two_layers(weight: Array, bias: Array, readout: Array) -> FeedForward:
    return FeedForward((Affine(weight, bias), Affine(readout)), activations=("relu", "identity"))
