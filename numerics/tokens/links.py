"""Links of token regression that a two-layer ReLU network is exactly, and the quadratic link of the lower bounds.

A link g takes the q tokens to which a position points, an array of shape (..., q, d), to numbers of shape (...). Any
such function serves. A `ReluLink` is a^T relu(W (x_1; ...; x_q) + b), so that the error of its approximation is 0.

Source: qstr, definition-2, assumption-2 and proposition-3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike

from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.systems import Array, conversion, number_system, product
from lemmata.numerics.functions.activations import relu

__all__ = ["Link", "ReluLink", "additive_link", "linear_link", "max_link", "mean_link", "squared_norm_link"]

Link = Callable[[Array], Array]
"""A function of the q tokens of a position: shape (...) for an array of shape (..., q, d)."""


@dataclass(frozen=True, eq=False)
class ReluLink:
    """g(x_1, ..., x_q) = a^T relu(W (x_1; ...; x_q) + b).

    Attributes:
        output: a, shape (m,).
        weight: W, shape (m, q, d), the block W[:, l] acts on token l.
        bias: b, shape (m,).

    Raises:
        ValueError: for shapes that do not fit.
    """

    output: Array
    weight: Array
    bias: Array

    def __post_init__(self) -> None:
        for name in ("output", "weight", "bias"):
            object.__setattr__(self, name, np.asarray(getattr(self, name)))
        a, W, b = self.output.shape, self.weight.shape, self.bias.shape
        if len(W) != 3 or 0 in W or a != W[:1] or b != W[:1]:
            raise ValueError(f"A link has a of shape (m,), W (m, q, d) and b (m,), but the shapes are {a}, {W}, {b}.")

    @property
    def width(self) -> int:
        """m."""
        return len(self.output)

    @property
    def sparsity(self) -> int:
        """q."""
        return self.weight.shape[1]

    @property
    def dimension(self) -> int:
        """d."""
        return self.weight.shape[2]

    def __call__(self, tokens: Array) -> Array:
        """g, shape (...), for tokens of shape (..., q, d).

        Raises:
            ValueError: for another q or d.
        """
        if tokens.shape[-2:] != self.weight.shape[1:]:
            raise ValueError(
                f"The link takes {self.sparsity} tokens of dimension {self.dimension}, not {tokens.shape}."
            )
        convert = conversion(number_system([tokens, self.output, self.weight, self.bias]))
        flat = convert(tokens.reshape(-1, self.sparsity * self.dimension))
        hidden = relu(product(flat, convert(self.weight.reshape(self.width, -1)).T) + convert(self.bias))
        return product(hidden, convert(self.output)[:, None])[:, 0].reshape(tokens.shape[:-2])

    @property
    def output_radius(self) -> float:
        """r_a = sqrt(m) |a|_2, so that |a|_2 = r_a / sqrt(m)."""
        return math.sqrt(self.width) * float(np.linalg.norm(to_float(self.output)))

    @property
    def weight_radius(self) -> float:
        """r_w = |(W, b)|_F / sqrt(m)."""
        squares = (np.sum(to_float(part) ** 2) for part in (self.weight, self.bias))
        return math.sqrt(sum(squares) / self.width)

    @property
    def lipschitz_bound(self) -> float:
        """r_a r_w, which bounds |a|_2 |W|_op and so the Lipschitz constant of the link."""
        return self.output_radius * self.weight_radius


def linear_link(weights: ArrayLike) -> ReluLink:
    """g = sum_l <u_l, x_l> = relu(s) - relu(-s), for u of shape (q, d)."""
    u = np.asarray(weights)
    if u.ndim != 2 or not u.size:
        raise ValueError(f"A linear link has weights of shape (q, d), not {u.shape}.")
    return ReluLink(np.array([1, -1]), np.stack([u, -u]), np.array([0, 0]))


def mean_link(sparsity: int, direction: ArrayLike) -> ReluLink:
    """g = (1/q) sum_l <u, x_l>: the mean of the tokens in the direction u of shape (d,), for exact or float u."""
    q = checked_integer("The number of tokens", sparsity, 1)
    u = np.asarray(direction)
    if u.ndim != 1 or not u.size:
        raise ValueError(f"The direction of a mean has shape (d,), not {u.shape}.")
    share = u / q if number_system([u]) == "float" else u * fmpq(1, q)
    return linear_link(np.tile(share, (q, 1)))


def max_link(first: ArrayLike, second: ArrayLike) -> ReluLink:
    """g = max(r, s) = relu(r - s) + relu(s) - relu(-s), for r, s = sum_l <u_l, x_l> with u of shape (q, d) each."""
    u, v = np.asarray(first), np.asarray(second)
    if u.ndim != 2 or not u.size or u.shape != v.shape:
        raise ValueError(f"A maximum has two weights of one shape (q, d), not {u.shape} and {v.shape}.")
    return ReluLink(np.array([1, 1, -1]), np.stack([u - v, v, -v]), np.array([0, 0, 0]))


def squared_norm_link(tokens: Array) -> Array:
    """sum_l (|x_l|^2 - d), the numerator of the label (qd)^(-1/2) sum_l (|x_l|^2 - E|x_l|^2) for standard Gaussians.

    The root of qd is left to the caller, since it is irrational in general.
    """
    return (tokens * tokens).sum(axis=(-2, -1)) - tokens.shape[-2] * tokens.shape[-1]


def additive_link(values: ArrayLike, projections: ArrayLike, radius: object) -> ReluLink:
    """g = sum_l f_l(<u_l, (x_1; ...; x_q)>) with piecewise linear f_l, summand by summand.

    Each f_l takes n + 1 neurons: relu(1) and relu((s - t)/R) for the knots t but the last.

    Args:
        values: f_l at n + 1 >= 2 equally spaced knots from -R to R, exact, shape (P, n + 1).
        projections: u_l, exact, shape (P, q, d).
        radius: R > 0, exact.

    Raises:
        ValueError: for shapes that do not fit, or a radius that is not positive.

    Source: qstr, remark-assumption-2-rates.
    """
    f, u, R = as_exact(values), as_exact(projections), as_exact([radius])[0]
    if f.ndim != 2 or f.shape[1] < 2 or u.ndim != 3 or len(u) != len(f) or not R > 0:
        raise ValueError(
            f"Summands have values (P, n + 1) and projections (P, q, d), n >= 1, and a radius R > 0, not {f.shape}, "
            f"{u.shape} and {radius}."
        )
    pieces = f.shape[1] - 1
    slopes = (f[:, 1:] - f[:, :-1]) * (fmpq(pieces) / (2 * R))
    bends = np.concatenate([slopes[:, :1], slopes[:, 1:] - slopes[:, :-1]], axis=1) * R
    output = np.concatenate([f[:, :1], bends], axis=1)
    weight = np.stack([u * fmpq(0), *[u / R] * pieces], axis=1)
    bias = np.array([fmpq(1), *(1 - fmpq(2 * k, pieces) for k in range(pieces))], dtype=object)
    return ReluLink(output.ravel(), weight.reshape(-1, *u.shape[1:]), np.tile(bias, len(u)))
