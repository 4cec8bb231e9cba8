"""Gradient descent on a general risk by four layers per step: two token-wise layers, a softmax attention, a projection.

For L_n(w) = (1/n) sum_i l(w, x_i, y_i) and sums of ReLUs gbar[k] of the variables (w, x, y) for the entries of the
gradient of l in w, the layers of a step are

    FF         G[k]  = -eta (n+1)/n gbar[k](w, x_i, y_i) at the examples, 0 at the test token      one hidden layer,
    attention  w    += mean of G over the n+1 tokens                           one head, all scores 0, values copied,
    FF         G     = 0,
    MLP        w     = clip(w, lower, upper)                                   the projection on the box.

Why they are right. The argument of a unit of the first layer is a . [w; x; y; 1] - M (1 - t) with ||a||_1 <= 1, and M
bounds 1 and every entry of w, x and y: so it is the argument of the sum at the examples, t = 1, and <= 0 at the test
token, t = 0. The softmax of equal scores is 1/(n+1) exactly, so that all tokens add the same -(eta/n) sum_i gbar_i to
the same w. The tokens come out as a prompt with the new w, and the next step may begin. With |gbar[k] - d l/d w_k| <=
eps_k the step is that of projected gradient descent with an error of the gradient of at most (sum_k eps_k^2)^(1/2).

Source: deep-icgd, theorem-6; the layers stand where the document has FF, Attn, FF and MLP.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike

from lemmata.constructions.descent.bounds import Box, box_arrays
from lemmata.constructions.descent.layers import clearing_layer, clipping_layer
from lemmata.constructions.descent.layout import RiskLayout
from lemmata.constructions.descent.softmax import mean_attention
from lemmata.constructions.descent.step import LayeredStep, StepLayer, checked_count
from lemmata.constructions.networks.stored import StoredFeedForward
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.functions.relu_sums import ReluSum
from lemmata.numerics.functions.smooth import rational

_PURPOSES = (
    "gradient of every example",
    "mean over the examples, step",
    "clean-up",
    "projection on the box",
)


@dataclass(frozen=True, eq=False)
class RiskDescentBlock(LayeredStep):
    """The four layers of a step; see `risk_descent_block`. It runs on the number of examples that it was built for.

    Attributes:
        layout: the coordinates of the prompt.
        examples: n.
        step_size: eta.
        gradient: gbar, one sum of the variables (w, x, y) for each weight.
        lower: lower end of the box, shape (D_w,).
        upper: upper end of the box, shape (D_w,).
        input_bound: bound of the inputs in size, coordinate by coordinate, the test input included.
        label_bound: bound of the labels in size.
        mask: M, a bound of all weights, inputs, labels and 1 in size.
        layers: in order of application.
        purposes: what each of them computes, in words.
    """

    layout: RiskLayout  # pyright: ignore[reportIncompatibleVariableOverride]
    examples: int
    step_size: fmpq
    gradient: tuple[ReluSum, ...]
    lower: Array
    upper: Array
    input_bound: fmpq
    label_bound: fmpq
    mask: fmpq
    layers: tuple[StepLayer, ...]
    purposes: tuple[str, ...] = _PURPOSES

    @property
    def gradient_error(self) -> arb:
        """eps = (sum_k eps_k^2)^(1/2), a ball: a bound of the distance from the gradient of the risk in the 2-norm."""
        return arb(sum((sums.error**2 for sums in self.gradient), fmpq(0))).sqrt()

    def trajectory_error(self, steps: int, lipschitz: object) -> arb:
        """eps ((1 + eta L)^steps - 1) / L, which bounds the distance from projected gradient descent after the steps.

        Args:
            steps: at least 1.
            lipschitz: L >= 0, a Lipschitz constant in the 2-norm of the gradient of the risk on the box.

        Raises:
            ValueError: for a number of steps below 1 or a negative constant.
        """
        count, L = checked_count(steps, "steps"), rational(lipschitz, "lipschitz")
        if L < 0:
            raise ValueError(f"A Lipschitz constant is not negative, but lipschitz = {L}.")
        growth = sum(((1 + self.step_size * L) ** power for power in range(count)), fmpq(0))
        return self.gradient_error * self.step_size * growth

    def prompt(self, inputs: ArrayLike, labels: ArrayLike, start: ArrayLike) -> Array:
        """The encoded prompt, shape (..., n+1, width), checked against everything that the step relies on.

        Args:
            inputs: shape (..., n+1, d_x), the test input last.
            labels: shape (..., n, d_y).
            start: the weights to begin with, shape (D_w,) or (..., D_w).

        Raises:
            ValueError: for shapes that do not fit, another number of examples, inputs or labels beyond their bounds, or
                a start outside the box.
        """
        z = self.layout.encode(inputs, labels, start)
        self._check_system(z)
        stream = self.layout.stream
        x, y, w = z[..., stream["x"]], z[..., :-1, stream["y"]], self.weights(z)
        if x.shape[-2] != self.examples + 1:
            raise ValueError(f"The block was built for {self.examples} examples, but the prompt has {x.shape[-2] - 1}.")
        self.check_data(x, y, w, (self.input_bound, self.label_bound), (self.lower, self.upper))
        return as_balls(z) if self.arithmetic == "ball" else z

    def trajectory(self, z: Array, steps: int) -> list[Array]:
        """w before the first and after each of ``steps`` steps.

        Raises:
            ValueError: if steps < 1.
        """
        result = [self.weights(z)]
        for _ in range(checked_count(steps, "steps")):
            z = self(z)
            result.append(self.weights(z))
        return result


def risk_descent_block(
    sizes: tuple[int, int],
    examples: int,
    step_size: object,
    gradient: Sequence[ReluSum],
    box: Box,
    input_bound: object,
    label_bound: object,
) -> RiskDescentBlock:
    """The four layers of a step of projected gradient descent on (1/n) sum_i l(w, x_i, y_i).

    Args:
        sizes: (d_x, d_y).
        examples: n.
        step_size: eta > 0.
        gradient: for every weight a sum of ReLUs of the D_w + d_x + d_y variables w, x, y, in this order, with its
            error; `WaveSum.relu_sum` in `lemmata.numerics.functions.waves` makes them.
        box: (lower, upper), numbers or one number for each weight.
        input_bound: bound of all |x_i|, coordinate by coordinate, the test input included.
        label_bound: bound of all |y_i|.

    Raises:
        ValueError: for sizes or n < 1, eta <= 0, an empty box, negative bounds; if there is no sum, one takes another
            number of variables, has no unit, or is not certified for all weights and data within the bounds.
    """
    sums, (d_x, d_y) = tuple(gradient), sizes
    layout, count = RiskLayout(d_x, d_y, len(sums)), checked_count(examples, "examples")
    eta, inputs, labels = (
        rational(value, name)
        for value, name in ((step_size, "step_size"), (input_bound, "input_bound"), (label_bound, "label_bound"))
    )
    if eta <= 0 or inputs < 0 or labels < 0:
        raise ValueError(f"step_size must be positive and the bounds >= 0, not {eta}, {inputs}, {labels}.")
    lower, upper = box_arrays(layout, box)
    largest = max(inputs, labels, *(abs(end) for end in [*lower.tolist(), *upper.tolist()]))
    arity = len(sums) + d_x + d_y
    for k, one in enumerate(sums):
        if not isinstance(one, ReluSum) or one.arity != arity or not one.units:
            raise ValueError(f"Entry {k} of the gradient must be a ReluSum of {arity} variables (w, x, y) with units.")
        one.require(largest, f"A weight, input or label in entry {k} of the gradient")
    mask = fmpq((max(largest, fmpq(1)) * 2**20).floor() + 2, 2**20)  # short, and safe against rounding in float64
    layers = (
        gradient_layer(layout, sums, -eta * fmpq(count + 1, count), mask),
        mean_attention(layout.stream, layout.scratch, layout.all_weights, fmpq(1)),
        clearing_layer(layout),
        clipping_layer(layout, lower, upper),
    )
    return RiskDescentBlock(layout, count, eta, sums, lower, upper, inputs, labels, mask, layers)


def gradient_layer(layout: RiskLayout, gradient: Sequence[ReluSum], factor: fmpq, mask: fmpq) -> StoredFeedForward:
    """The layer that adds factor gbar[k](w, x, y) to G[k] at examples, 0 at the test token, if M bounds all entries."""
    variables, scratch = layout.block("w", "x", "y", "1", "t"), layout.scratch
    units: list[StoredFeedForward] = []
    for k, sums in enumerate(gradient):
        a, M = sums.directions, np.full((sums.units, 1), mask, dtype=object)
        weights = np.concatenate([a[:, :-1], a[:, -1:] - M, M], axis=1)
        source, target = variables.broadcast(sums.units, len(variables)), scratch[[k] * sums.units]
        units.append(StoredFeedForward(source, weights, target, factor * sums.coefficients))
    result = units[0]
    for more in units[1:]:
        result = result.beside(more)
    return result
