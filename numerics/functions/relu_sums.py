"""Sums of ReLUs: scalar functions as f(z) = sum_h c_h relu(a_h . [z; 1]), exactly or with a certified error.

A `ReluSum` carries the data (eps, R, M, C) that a network built from it needs: the sup-error eps on the cube [-R, R]^k,
the number M of units, and C = sum |c_h|; its directions satisfy ||a_h||_1 <= 1. Exact cases: affine functions, |t|, the
ReLU, its derivative away from a window (0, delta), every piecewise-linear function, ridge functions of these (the
derivative of the squared loss). `lemmata.numerics.functions.interpolation` makes sums for smooth functions.

Source: deep-icgd, definition-4, construction-1d.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.functions.activations import relu as positive_part
from lemmata.numerics.functions.smooth import rational


@dataclass(frozen=True, eq=False)
class ReluSum:
    """f(z) = sum_h c_h relu(a_h . [z; 1]), with the certificate that belongs to it.

    Attributes:
        coefficients: c, shape (M,), fmpq.
        directions: a, shape (M, k+1), fmpq; the last column multiplies the constant 1; ||a_h||_1 <= 1.
        radius: R; the error holds on [-R, R]^k. None: everywhere.
        error: eps, an upper bound of sup |g - f| for the function g that f stands for; 0 if f = g.
        excluded: for k = 1, an open interval on which nothing is claimed, or None.

    Raises:
        ValueError: for shapes that do not fit, a direction with ||a_h||_1 > 1, or a negative error or radius.
    """

    coefficients: Array
    directions: Array
    radius: fmpq | None = None
    error: fmpq = field(default_factory=fmpq)
    excluded: tuple[fmpq, fmpq] | None = None

    def __post_init__(self) -> None:
        c, a = self.coefficients, self.directions
        if c.ndim != 1 or a.ndim != 2 or len(a) != len(c) or a.shape[1] < 2:
            raise ValueError(
                f"A sum of ReLUs has coefficients (M,) and directions (M, k+1), k >= 1, but the shapes are {c.shape}, "
                f"{a.shape}."
            )
        for h, row in enumerate(a.tolist()):
            if sum(map(abs, row)) > 1:
                raise ValueError(f"Direction {h} has 1-norm {sum(map(abs, row))}: scale it to at most 1.")
        if self.error < 0 or (self.radius is not None and self.radius <= 0):
            raise ValueError(f"error must be >= 0 and radius > 0, not {self.error}, {self.radius}.")

    @property
    def units(self) -> int:
        """The number M of ReLUs."""
        return len(self.coefficients)

    @property
    def arity(self) -> int:
        """The number k of arguments."""
        return self.directions.shape[1] - 1

    @property
    def weight(self) -> fmpq:
        """The sum C of the |c_h|."""
        return sum(map(abs, self.coefficients.tolist()), fmpq(0))

    @cached_property
    def _float(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return to_float(self.coefficients), to_float(self.directions)

    def __call__(self, *arguments: Any) -> Array:
        """The values of f at k arrays of arguments that broadcast; float64, exact (fmpq) or balls (arb).

        Inputs are not compared with the radius (the sum continues linearly): see `require`.

        Raises:
            ValueError: for another number of arguments.
        """
        if len(arguments) != self.arity:
            raise ValueError(f"This sum of ReLUs takes {self.arity} arguments, not {len(arguments)}.")
        z = np.broadcast_arrays(*(np.asarray(x) for x in arguments))
        if all(x.dtype != object for x in z):
            c, a = self._float
            before = sum(x[..., None] * a[:, i] for i, x in enumerate(z)) + a[:, -1]
            return np.maximum(before, 0.0) @ c
        result = np.full(z[0].shape, fmpq(0), dtype=object)
        for c, row in zip(self.coefficients.tolist(), self.directions.tolist(), strict=True):
            before = sum((x.astype(object) * w for x, w in zip(z, row[:-1], strict=True)), np.asarray(row[-1]))
            result = result + c * positive_part(np.asarray(before))
        return result

    def require(self, bound: fmpq, what: str) -> None:
        """Check that arguments of size up to `bound` are covered by the certificate.

        Raises:
            ValueError: if bound exceeds the radius; the message names `what`.
        """
        if self.radius is not None and bound > self.radius:
            raise ValueError(
                f"{what} may reach {float(bound):.6g} in size, outside the interval of radius "
                f"{float(self.radius):.6g} on which the sum of ReLUs is certified: certify it on a larger radius."
            )

    def on(self, radius: object) -> ReluSum:
        """The same sum, with the claim restricted to a smaller radius.

        Raises:
            ValueError: if the radius is larger than the certified one, or not positive.
        """
        R = rational(radius, "radius")
        self.require(R, "radius")
        return replace(self, radius=R)

    def breakpoints(self) -> list[fmpq]:
        """The points inside (-R, R), for k = 1, where the slope may change, sorted.

        Raises:
            ValueError: if k != 1.
        """
        if self.arity != 1:
            raise ValueError(f"Breakpoints belong to functions of one argument, not {self.arity}.")
        kinks = {-b / a for a, b in self.directions.tolist() if a != 0}
        return sorted(t for t in kinks if self.radius is None or abs(t) < self.radius)


# ---- exact cases


def _sum(units: Sequence[tuple[object, Sequence[object]]], arity: int = 1) -> tuple[Array, Array]:
    """The arrays (c, a) of pairs (coefficient, direction of any 1-norm), normalised; zero coefficients are dropped."""
    kept = []
    for coefficient, direction in units:
        c, row = rational(coefficient, "coefficient"), [rational(x, "direction") for x in direction]
        norm = sum(map(abs, row), fmpq(0))
        if c != 0 and norm != 0:
            scale = norm if norm > 1 else fmpq(1)
            kept.append((c * scale, [x / scale for x in row]))
    coefficients, directions = np.empty(len(kept), dtype=object), np.empty((len(kept), arity + 1), dtype=object)
    for h, (c, row) in enumerate(kept):
        coefficients[h], directions[h] = c, row
    return coefficients, directions


def affine(slope: object, intercept: object = 0) -> ReluSum:
    """The function slope * t + intercept = slope (relu(t) - relu(-t)) + intercept relu(1), exact everywhere."""
    s = rational(slope, "slope")
    return ReluSum(*_sum([(s, (1, 0)), (-s, (-1, 0)), (intercept, (0, 1))]))


def identity() -> ReluSum:
    """The identity t = relu(t) - relu(-t), exact everywhere."""
    return affine(1)


def constant(value: object) -> ReluSum:
    """The constant, exact everywhere (one unit)."""
    return affine(0, value)


def absolute_value() -> ReluSum:
    """The absolute value |t| = relu(t) + relu(-t), exact everywhere."""
    return leaky_relu(-1)


def relu() -> ReluSum:
    """The ReLU max(t, 0), one unit, exact everywhere."""
    return leaky_relu(0)


def leaky_relu(slope: object) -> ReluSum:
    """The function with t for t >= 0 and slope * t for t < 0, exact everywhere."""
    return ReluSum(*_sum([(1, (1, 0)), (-rational(slope, "slope"), (-1, 0))]))


def relu_derivative(delta: object) -> ReluSum:
    """The derivative of the ReLU (0 at 0): (relu(t) - relu(t - delta)) / delta, exact off the window (0, delta).

    C = (2 + delta) / delta. No continuous function is closer than 1/2 to the step on an interval around 0, so that
    nothing is claimed inside the window.

    Raises:
        ValueError: if delta <= 0.
    """
    d = rational(delta, "delta")
    if d <= 0:
        raise ValueError(f"delta, the width of the window at the kink, must be positive, not {d}.")
    c, a = _sum([(1 / d, (1, 0)), (-1 / d, (1, -d))])
    return ReluSum(c, a, excluded=(fmpq(0), d))


def piecewise_linear(knots: Sequence[object], values: Sequence[object]) -> ReluSum:
    """The function with these values at these knots, linear between them, continued linearly outside; exact.

    Units: one for the value at 0, and per side of 0 one for the first slope and one for every knot where the slope
    changes; so that f(0) is one unit, and 0 units if f(0) = 0.

    Raises:
        ValueError: for fewer than two knots, knots that do not increase strictly, or another number of values.
    """
    t = [rational(x, "knots") for x in knots]
    v = [rational(x, "values") for x in values]
    if len(t) < 2 or len(v) != len(t) or any(a >= b for a, b in pairwise(t)):
        raise ValueError("knots must be at least two strictly increasing numbers, with one value each.")
    slopes = [(v[i + 1] - v[i]) / (t[i + 1] - t[i]) for i in range(len(t) - 1)]
    kinks = list(zip(t[1:-1], slopes, slopes[1:], strict=False))  # knot, slope before, slope after
    piece = sum(knot <= 0 for knot, _, _ in kinks)  # the piece to the right of 0
    at_zero = v[piece] - slopes[piece] * t[piece]
    left = slopes[piece] if not any(knot == 0 for knot, _, _ in kinks) else slopes[piece - 1]
    units: list[tuple[object, Sequence[object]]] = [
        (at_zero, (0, 1)),
        (slopes[piece], (1, 0)),
        (-left, (-1, 0)),
    ]
    units += [(after - before, (1, -knot)) for knot, before, after in kinks if knot > 0]
    units += [(after - before, (-1, knot)) for knot, before, after in kinks if knot < 0]
    return ReluSum(*_sum(units))


def ridge(profile: ReluSum, weights: Sequence[object], radius: object | None = None) -> ReluSum:
    """The function (z_1, ..., z_k) -> profile(weights . z), certified on [-R, R]^k with R = radius.

    A separable loss sum_k phi(t_k - y_k) has the gradient phi'(t_k - y_k): `ridge` of phi' with the weights (1, -1).

    Args:
        profile: a sum of one argument.
        weights: k exact numbers.
        radius: R; by default the largest that the profile allows.

    Raises:
        ValueError: if the profile has several arguments or an excluded window, all weights are 0, or R is too large.
    """
    w = [rational(x, "weights") for x in weights]
    size = sum(map(abs, w), fmpq(0))
    if profile.arity != 1 or profile.excluded is not None or size == 0:
        raise ValueError("A ridge function needs a profile of one argument without a window, and weights not all 0.")
    largest = None if profile.radius is None else profile.radius / size
    R = largest if radius is None else rational(radius, "radius")
    if R is not None:
        profile.require(R * size, "weights . z")
    units = [
        (c, [a * x for x in w] + [b])
        for c, (a, b) in zip(profile.coefficients.tolist(), profile.directions.tolist(), strict=True)
    ]
    c, a = _sum(units, len(w))
    return ReluSum(c, a, radius=R, error=profile.error)


def squared_loss_derivative() -> ReluSum:
    """The function u(t, y) = t - y, the derivative of (t - y)^2 / 2 in t: two units, C = 4, exact everywhere."""
    return ridge(identity(), (1, -1))
