"""Projected gradient descent on N-layer networks whose scalar functions are piecewise linear, as one compiled loop.

A piecewise-linear function of one argument is a table: with kinks c_1 < ... < c_m, piece i = 0, ..., m (left of c_1
first) is values[i] + slopes[i] (t - anchors[i]); a lookup is a bisection, however many ReLUs the sum has.

`descend` makes the steps w <- clip(w - rate grad, lower, upper), where grad = (1/2n) sum_i s_i(j) p_i(j-1)^T is
back-propagation with the given functions (not the gradient of a risk if r' is no derivative of r). It is the fast
equivalent of the transformer of `lemmata.constructions.descent.block`, and is tested against it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import fmpq
from numba import njit
from numpy.typing import NDArray

from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.functions.relu_sums import ReluSum

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PiecewiseTable:
    """A continuous piecewise-linear function on the line.

    Attributes:
        kinks: c_1 < ... < c_m, shape (m,).
        anchors: a point of each piece, shape (m+1,).
        values: the values there, shape (m+1,).
        slopes: shape (m+1,).
    """

    kinks: Floats
    anchors: Floats
    values: Floats
    slopes: Floats

    def __call__(self, t: Floats) -> Floats:
        """The values at points of any shape, in plain NumPy."""
        piece = np.searchsorted(self.kinks, t, side="right")
        return self.values[piece] + self.slopes[piece] * (t - self.anchors[piece])


def piecewise_table(function: ReluSum) -> PiecewiseTable:
    """The table of a sum of ReLUs of one argument, computed exactly and rounded; valid within the sum's radius.

    Raises:
        ValueError: if the function has several arguments.
    """
    kinks = function.breakpoints()
    points = [kinks[0] - 1, *kinks, kinks[-1] + 1] if kinks else [fmpq(0), fmpq(1)]
    values = function(np.array(points, dtype=object)).tolist()
    slopes = [(values[i + 1] - values[i]) / (points[i + 1] - points[i]) for i in range(len(points) - 1)]
    anchors, at_anchors = (
        ([points[1], *points[1:-1]], [values[1], *values[1:-1]]) if kinks else (points[:1], values[:1])
    )
    return PiecewiseTable(*(to_float(np.array(part, dtype=object)) for part in (kinks, anchors, at_anchors, slopes)))


@njit(cache=True)
def _evaluate(t, kinks, anchors, values, slopes, out):  # pragma: no cover
    """Fill out with f(t), for two-dimensional arrays."""
    for i in range(t.shape[0]):
        for k in range(t.shape[1]):
            x = t[i, k]
            low, high = 0, len(kinks)
            while low < high:
                middle = (low + high) // 2
                if kinks[middle] <= x:
                    low = middle + 1
                else:
                    high = middle
            out[i, k] = values[low] + slopes[low] * (x - anchors[low])


@njit(cache=True)
def _gradient(widths, w, x, y, r, dr, loss, p, d, s, gradient):  # pragma: no cover
    """Fill gradient with (1/n) sum_i s_i(j) p_i(j-1)^T, flattened; p, d, s: work space, n (K_0 + ... + K_N) numbers."""
    n, depth = x.shape[0], len(widths) - 1
    p[: n * widths[0]] = x.ravel()
    at, start = 0, 0
    for j in range(1, depth + 1):
        a, b = widths[j - 1], widths[j]
        before = p[at : at + n * a].reshape(n, a)
        after = at + n * a
        z = s[after : after + n * b].reshape(n, b)  # the arguments; s is written only later
        np.dot(before, w[start : start + a * b].reshape(b, a).T, z)
        _evaluate(z, r[0], r[1], r[2], r[3], p[after : after + n * b].reshape(n, b))
        _evaluate(z, dr[0], dr[1], dr[2], dr[3], d[after : after + n * b].reshape(n, b))
        at, start = after, start + a * b
    output = p[at : at + n * widths[depth]].reshape(n, widths[depth])
    error = s[at : at + n * widths[depth]].reshape(n, widths[depth])
    coefficients, directions = loss
    for i in range(n):
        for k in range(widths[depth]):
            total = 0.0
            for h in range(len(coefficients)):
                argument = directions[h, 0] * output[i, k] + directions[h, 1] * y[i, k] + directions[h, 2]
                total += coefficients[h] * max(argument, 0.0)
            error[i, k] = total
    for j in range(depth, 0, -1):
        a, b = widths[j - 1], widths[j]
        s[at : at + n * b] *= d[at : at + n * b]
        error = s[at : at + n * b].reshape(n, b)
        at, start = at - n * a, start - a * b
        np.dot(error.T, p[at : at + n * a].reshape(n, a), gradient[start : start + a * b].reshape(b, a))
        if j > 1:
            np.dot(error, w[start : start + a * b].reshape(b, a), s[at : at + n * a].reshape(n, a))
    gradient /= n


@njit(cache=True)
def _descend(widths, w, x, y, r, dr, loss, rate, lower, upper, steps, every, records):  # pragma: no cover
    """Overwrite w (B, D); records (steps // every, B, D) receives it after every ``every`` steps."""
    size = x.shape[1] * widths.sum()
    p, d, s, gradient = np.empty(size), np.empty(size), np.empty(size), np.empty(w.shape[1])
    for item in range(len(w)):
        for step in range(1, steps + 1):
            _gradient(widths, w[item], x[item], y[item], r, dr, loss, p, d, s, gradient)
            for c in range(len(gradient)):
                w[item, c] = min(max(w[item, c] - rate / 2 * gradient[c], lower[c]), upper[c])
            if step % every == 0:
                records[step // every - 1, item] = w[item]


def descend(
    widths: tuple[int, ...],
    start: Floats,
    inputs: Floats,
    labels: Floats,
    functions: tuple[PiecewiseTable, PiecewiseTable],
    loss_derivative: ReluSum,
    rate: float,
    box: tuple[Floats, Floats],
    steps: int,
    every: int = 1,
) -> Floats:
    """The weights after every ``every`` steps, shape (steps // every, B, D_N), for B problems side by side.

    Args:
        widths: (d_x, K_1, ..., K_(N-1), d_y).
        start: shape (B, D_N).
        inputs: examples alone, shape (B, n, d_x).
        labels: shape (B, n, d_y).
        functions: r and r'.
        loss_derivative: ubar(t, y).
        rate: the step size.
        box: lower and upper end, shape (D_N,) each.
        steps: at least 1.
        every: between 1 and steps.

    Raises:
        ValueError: if steps or every is no integer or out of range.
    """
    if not all(isinstance(count, int | np.integer) for count in (steps, every)) or not 1 <= every <= steps:
        raise ValueError(
            f"steps must be >= 1 and every between 1 and steps, both integers, not {steps!r} and {every!r}."
        )
    w = np.array(start, dtype=np.float64)
    records = np.empty((steps // every, *w.shape))
    r, dr = ((f.kinks, f.anchors, f.values, f.slopes) for f in functions)
    loss = (to_float(loss_derivative.coefficients), to_float(loss_derivative.directions))
    x, y = (np.ascontiguousarray(array, dtype=np.float64) for array in (inputs, labels))
    _descend(np.array(widths), w, x, y, r, dr, loss, float(rate), *box, steps, every, records)
    return records
