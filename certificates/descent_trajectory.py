"""A certificate of a run of gradient descent in context: how far the run that was is from projected gradient descent.

`lemmata.certificates.descent` bounds in advance what a block may do, for all weights of its box; over many steps such a
bound grows like (1 + eta L_f)^l and soon says nothing. Here the run is given, and nothing is assumed of what made it:
true projected gradient descent,

    w^0 = wbar^0,    w^(l+1) = clip(w^l - eta grad L_n(w^l), lower, upper),

with the true activation and the true loss, is computed from the same start in balls, with as many bits as it takes
until the balls are small, and compared with the given iterates wbar^l. The distances are enclosed from both sides, so
that the certificate is as sharp as it can be, and it can reject. Beside them stand the errors of single steps,

    |wbar^(l+1) - clip(wbar^l - eta grad L_n(wbar^l), lower, upper)|_2 / eta,

which problem 1 of the document asks to be at most eps. Forward pass and back-propagation are written here anew.

Source: deep-icgd, problem-1, theorem-1 and corollary-1.1, corrected.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike

from lemmata.constructions.descent.block import DescentBlock
from lemmata.constructions.descent.step import GradientStep
from lemmata.numerics.exact.balls import as_balls, precision
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.functions.smooth import SmoothFunction, identity

__all__ = ["TrajectoryCertificate", "certify_trajectory"]

_BITS = 128
_MOST_BITS = 2**14
_RADIUS = fmpq(1, 2**56)  # of the balls of the true iterates: below the rounding of float64 in a box of size 1


@dataclass(frozen=True)
class TrajectoryCertificate:
    """What `certify_trajectory` proved of iterates wbar^0, ..., wbar^L.

    Attributes:
        distances: upper bounds of |wbar^l - w^l|_2, l = 0, ..., L, rounded up.
        at_least: lower bounds of the same, rounded down.
        step_errors: upper bounds of the error of step l + 1 alone, divided by eta, l = 0, ..., L - 1.
        bits: the precision in which the true descent was enclosed.
    """

    distances: tuple[float, ...]
    at_least: tuple[float, ...]
    step_errors: tuple[float, ...]
    bits: int

    def report(self) -> str:
        """The largest and the last distance, and the largest error of a step, as text."""
        last = len(self.step_errors)
        return (
            f"{last} steps: certified distance from projected gradient descent {self.distances[-1]:.3g} at the end, "
            f"{max(self.distances):.3g} at most; error of a single step at most {max(self.step_errors):.3g} eta; "
            f"enclosed with {self.bits} bits"
        )


def certify_trajectory(
    block: GradientStep,
    activation: SmoothFunction,
    iterates: ArrayLike,
    inputs: ArrayLike,
    labels: ArrayLike,
    loss_derivative: SmoothFunction = identity,
) -> TrajectoryCertificate:
    """The certificate of a run against projected gradient descent with the true activation and loss.

    Args:
        block: says the widths, the box and the step size (for the number of examples that are given); its layers are
            not used.
        activation: r.
        iterates: wbar^0, ..., wbar^L, shape (L+1, D_N), L >= 1; float64 numbers count as what they are, exactly.
        inputs: x_1, ..., x_n without the test input, shape (n, d_x), exact or float64.
        labels: y_1, ..., y_n, shape (n, d_y), likewise.
        loss_derivative: phi', for the loss sum_k phi(t_k - y_k); the identity for half the squared distance.

    Raises:
        ValueError: if shapes do not fit, a number is not finite, the start lies outside the box, the activation is not
            finite where the descent leads, or 2^14 bits do not suffice.
    """
    numbers = [_exact(name, a) for name, a in (("iterates", iterates), ("inputs", inputs), ("labels", labels))]
    path, x, y = numbers
    _check_shapes(block, path, x, y)
    problem = _Descent(block, activation, loss_derivative, x, y)
    bits = _BITS
    while (true := problem.run(path[0], len(path) - 1, bits)) is None:
        bits *= 2
        if bits > _MOST_BITS:
            raise ValueError(f"The true descent cannot be enclosed with {_MOST_BITS} bits: give fewer steps.")
    with precision(bits):
        balls = as_balls(path)
        off = [_norm(a - b) for a, b in zip(balls, true, strict=True)]
        steps = [_norm(after - problem.step(w))[1] / arb(problem.step_size) for w, after in pairwise(list(balls))]
        return TrajectoryCertificate(
            tuple(_upper(high) for _, high in off),
            tuple(_lower(low) for low, _ in off),
            tuple(_upper(error) for error in steps),
            bits,
        )


class _Descent:
    """Projected gradient descent in balls, at the working precision."""

    def __init__(
        self, block: GradientStep, activation: SmoothFunction, loss_derivative: SmoothFunction, x: Array, y: Array
    ) -> None:
        self.layout, self.lower, self.upper = block.layout, block.lower, block.upper
        self.activation, self.loss_derivative, self.x, self.y = activation, loss_derivative, x, y
        own = isinstance(block, DescentBlock)
        self.step_size: fmpq = block.effective_step_size(len(x)) if own else block.step_size  # rounded where it is used

    def gradient(self, w: Array) -> Array:
        """The gradient of L_n, shape (D_N,), as balls that contain it for all weights of the balls w."""
        matrices, p, slopes = self.layout.matrices(w), [as_balls(self.x)], list[Array]()
        for V in matrices:
            jets = np.array([self.activation.jet(z, 1) for z in (p[-1] @ V.T).ravel().tolist()], dtype=object)
            value, slope = jets.reshape(len(self.x), len(V), 2).transpose(2, 0, 1)
            p.append(value)
            slopes.append(slope)
        off = (p[-1] - as_balls(self.y)).ravel().tolist()
        s = np.array([self.loss_derivative(d) for d in off], dtype=object).reshape(p[-1].shape)
        parts: list[Array] = []
        for V, before, slope in zip(matrices[::-1], p[-2::-1], slopes[::-1], strict=True):
            s = s * slope
            parts.insert(0, (s.T @ before).ravel())
            s = s @ V
        return np.concatenate(parts) / arb(2 * len(self.x))

    def step(self, w: Array) -> Array:
        """One step: the clipped w - eta grad L_n(w)."""
        moved = w - arb(self.step_size) * self.gradient(w)
        ends = zip(moved.tolist(), self.lower.tolist(), self.upper.tolist(), strict=True)
        return np.array([v.max(arb(a)).min(arb(b)) for v, a, b in ends], dtype=object)

    def run(self, start: Array, steps: int, bits: int) -> list[Array] | None:
        """w^0, ..., w^steps, or None if some ball is too wide with so many bits."""
        with precision(bits):
            path = [as_balls(start)]
            for _ in range(steps):
                path.append(self.step(path[-1]))
                if not all(v.rad() < arb(_RADIUS) for v in path[-1].tolist()):
                    return None
        return path


def _exact(name: str, array: ArrayLike) -> Array:
    """The numbers as fractions: those of float64 are dyadic.

    Raises:
        ValueError: for numbers that are not finite.
    """
    values = np.asarray(array)
    if values.dtype != object and np.issubdtype(values.dtype, np.floating):
        if not np.isfinite(values).all():
            raise ValueError(f"The {name} must be finite.")
        fractions = [fmpq(*float(v).as_integer_ratio()) for v in values.ravel()]
        result = np.empty(values.size, dtype=object)
        result[:] = fractions
        return result.reshape(values.shape)
    return as_exact(values)


def _check_shapes(block: GradientStep, path: Array, x: Array, y: Array) -> None:
    k, count = block.layout.widths, block.layout.weight_count
    if path.ndim != 2 or len(path) < 2 or path.shape[1] != count:
        raise ValueError(f"The iterates must have shape (L+1, {count}) with L >= 1, not {path.shape}.")
    if x.ndim != 2 or x.shape[1] != k[0] or len(x) < 1 or y.shape != (len(x), k[-1]):
        raise ValueError(
            f"The inputs must have shape (n, {k[0]}), n >= 1, without the test input, and the labels (n, {k[-1]}), "
            f"not {x.shape} and {y.shape}."
        )
    if not isinstance(block, DescentBlock) and len(x) != block.examples:
        raise ValueError(f"The block was built for {block.examples} examples, but there are {len(x)}.")
    if not np.all((block.lower <= path[0]) & (path[0] <= block.upper)):
        raise ValueError("The start, the first of the iterates, must lie in the box of the block.")


def _norm(v: Array) -> tuple[arb, arb]:
    """A lower and an upper bound of the 2-norm; balls around 0 have squares whose balls reach below 0."""
    low, high = (sum((x * x for x in sizes), arb(0)).sqrt() for sizes in zip(*map(_sizes, v.tolist()), strict=True))
    return low, high


def _sizes(x: arb) -> tuple[arb, arb]:
    return arb(x.abs_lower()), arb(x.abs_upper())


def _upper(x: arb) -> float:
    return float(np.nextafter(float(x.upper()), np.inf))


def _lower(x: arb) -> float:
    return max(float(np.nextafter(float(x.lower()), -np.inf)), 0.0)
