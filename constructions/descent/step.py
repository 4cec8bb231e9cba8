"""One step of gradient descent as layers on a prompt: what all such constructions share.

A `DescentProblem` says what the step is for: the trained network, its activation, the step size, the box of its
weights and the bounds of the data. A `GradientStep` is a problem together with the layers that solve it, in order of
application, and the ways to use them. `lemmata.constructions.descent.block` builds the layers with ReLU attention,
`lemmata.constructions.descent.softmax` with softmax attention.

Source: deep-icgd, problem-1 and theorem-5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self, cast

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike

from lemmata.constructions.descent.bounds import Box, box_arrays
from lemmata.constructions.descent.layout import PromptLayout, TokenLayout
from lemmata.constructions.descent.norms import column_norm
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.export import Translated
from lemmata.constructions.networks.stored import Stored, StoredAttention, StoredFeedForward, StoredMultiplication
from lemmata.constructions.networks.table import LayerTable, layer_table
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.systems import Arithmetic, Array, number_system
from lemmata.numerics.functions.relu_sums import ReluSum
from lemmata.numerics.functions.smooth import rational

StepLayer = AttentionLayer | StoredAttention | StoredFeedForward | StoredMultiplication


@dataclass(frozen=True, eq=False)
class DescentProblem:
    """What a step is for; `descent_problem` checks it.

    Attributes:
        layout: the coordinates of the prompt.
        examples: n.
        step_size: eta.
        activation: rbar.
        derivative: rbar'.
        loss_derivative: ubar, of the arguments (t, y).
        lower: lower end of the box, shape (D_N,).
        upper: upper end of the box, shape (D_N,).
        input_bound: bound of the inputs in size, coordinate by coordinate, the test input included.
        label_bound: bound of the labels in size.
    """

    layout: PromptLayout
    examples: int
    step_size: fmpq
    activation: ReluSum
    derivative: ReluSum
    loss_derivative: ReluSum
    lower: Array
    upper: Array
    input_bound: fmpq
    label_bound: fmpq

    def require_argument(self, j: int, rho: fmpq) -> None:
        """ValueError unless activation and derivative are certified for arguments of layer j up to rho in size."""
        self.activation.require(rho, f"The argument of the activation in layer {j}")
        self.derivative.require(rho, f"The argument of the derivative in layer {j}")

    def checked_mask(self, largest_output: fmpq) -> fmpq:
        """R_3, slightly more than all outputs, labels and 1 in size, to silence the test token (`loss_gradient_layer`).

        Raises:
            ValueError: if the derivative of the loss is not certified for such outputs and labels.
        """
        largest = max(largest_output, self.label_bound)
        self.loss_derivative.require(largest, "The output or label in the derivative of the loss")
        return fmpq((max(largest, fmpq(1)) * 2**20).floor() + 2, 2**20)  # short, and safe against rounding in float64


def descent_problem(
    layout: PromptLayout,
    examples: int,
    step_size: object,
    activation: ReluSum,
    derivative: ReluSum,
    loss_derivative: ReluSum,
    box: Box,
    input_bound: object,
    label_bound: object,
) -> DescentProblem:
    """The problem with its numbers made exact; arguments as for `gradient_descent_block`.

    Raises:
        ValueError: for n < 1, eta <= 0, an empty box, sums of ReLUs of the wrong number of arguments, negative bounds.
    """
    count = checked_count(examples, "examples")
    eta, inputs, labels = (
        rational(value, name)
        for value, name in ((step_size, "step_size"), (input_bound, "input_bound"), (label_bound, "label_bound"))
    )
    if eta <= 0 or inputs < 0 or labels < 0:
        raise ValueError(
            "step_size must be positive and the bounds >= 0 (input_bound >= 0, label_bound >= 0), not "
            f"{eta}, {inputs}, {labels}."
        )
    for name, sums in (("activation", activation), ("derivative", derivative), ("loss_derivative", loss_derivative)):
        if not isinstance(sums, ReluSum):
            raise ValueError(
                f"{name} must be a ReluSum (lemmata.numerics.functions.relu_sums makes them), not {sums!r}."
            )
    arities = (activation.arity, derivative.arity, loss_derivative.arity)
    if arities != (1, 1, 2):
        raise ValueError(
            f"activation and derivative take 1 argument and loss_derivative 2, (t, y), but they take {arities}."
        )
    if not (activation.units and derivative.units and loss_derivative.units):
        raise ValueError("activation, derivative and loss_derivative need at least one unit each: none may be 0.")
    lower, upper = box_arrays(layout, box)
    return DescentProblem(layout, count, eta, activation, derivative, loss_derivative, lower, upper, inputs, labels)


class LayeredStep(Translated):
    """The layers of a step with what they are for, in order of application, and the ways to use them.

    Attributes:
        layout: the coordinates of the prompt.
        layers: in order of application.
        purposes: what each of them computes, in words.
    """

    translator: ClassVar[str] = "descent.torch"

    layout: TokenLayout
    layers: tuple[StepLayer, ...]
    purposes: tuple[str, ...]

    @cached_property
    def arithmetic(self) -> Arithmetic:
        """The number system of the weights."""
        return number_system(array for layer in self.layers for array in layer.arrays())

    def stages(self, z: Array) -> Iterator[Array]:
        """The stream after each of the layers."""
        self._check_system(z)
        for layer in self.layers:
            z = layer(z)
            yield z

    def __call__(self, z: Array) -> Array:
        """The stream after the step, shape (..., T, width)."""
        *_, last = self.stages(z)
        return last

    def weights(self, z: Array) -> Array:
        """w as the first token holds it, shape (..., number of weights); all tokens hold the same."""
        return self.layout.weights(z)[..., 0, :]

    def map(self, convert: Callable[[Array], Array]) -> Self:
        """The step with the weights of all layers converted."""
        layers = tuple(layer.map(convert) for layer in self.layers)
        return replace(cast(Any, self), layers=layers)

    def to_float(self) -> Self:
        """The same step in float64."""
        return self.map(to_float)

    def to_balls(self) -> Self:
        """The same step in ball arithmetic, enclosed at the working precision."""
        return self.map(as_balls)

    def dense(self) -> Self:
        """The same step with the matrices of every layer for which a stored form stands."""
        layers = tuple(layer.dense() if isinstance(layer, Stored) else layer for layer in self.layers)
        return replace(cast(Any, self), layers=layers)

    def table(self) -> LayerTable:
        """What each layer reads and writes, its size and its norm (C.1), or (3.18) for multiplication."""
        return layer_table(self.layout.stream, self.layers, self.purposes, norm=column_norm)

    def check_data(self, x: Array, y: Array, w: Array, bounds: tuple[fmpq, fmpq], box: tuple[Array, Array]) -> None:
        """ValueError unless shapes fit, inputs and labels are within their bounds and the weights in the box."""
        self.layout.check_shapes(x, y, w)
        (lower, upper), limits = box, np.array(bounds, dtype=object)
        if x.dtype == np.float64:  # a float64 is compared with the bound rounded to float64
            lower, upper, limits = to_float(lower), to_float(upper), to_float(limits)
        for what, array, bound in (("inputs", x, limits[0]), ("labels", y, limits[1])):
            if not np.all(abs(array) <= bound):
                raise ValueError(
                    f"The {what} must be at most {what[:-1]}_bound = {bound} in size, the test input included."
                )
        outside = np.argwhere(~((lower <= w) & (w <= upper)).astype(bool))
        if len(outside):
            raise ValueError(f"The start must lie in the box, but weight {outside[0][-1]} does not.")

    def _check_system(self, z: Array) -> None:
        if not isinstance(z, np.ndarray) or z.ndim < 2 or z.shape[-1] != self.layout.stream.width:
            raise ValueError(
                f"The stream must be an array (..., T, {self.layout.stream.width}) as `prompt` makes it, but its shape "
                f"is {np.shape(z)}."
            )
        system = number_system([z])
        if system != self.arithmetic and (system, self.arithmetic) not in (("exact", "ball"), ("ball", "exact")):
            raise ValueError(
                f"The stream is in the number system {system!r}, but the block in {self.arithmetic!r}: convert the "
                "block by to_float() or to_balls(), or give exact numbers."
            )


@dataclass(frozen=True, eq=False)
class GradientStep(DescentProblem, LayeredStep):  # pyright: ignore[reportIncompatibleVariableOverride]
    """The layers of one projected gradient step, with the problem that they solve.

    Attributes:
        layers: in order of application.
        purposes: what each of them computes, in words.
    """

    layers: tuple[StepLayer, ...]
    purposes: tuple[str, ...]

    def prompt(self, inputs: ArrayLike, labels: ArrayLike, start: ArrayLike) -> Array:
        """The encoded prompt, shape (..., n'+1, width), checked against everything that the step relies on.

        Args:
            inputs: shape (..., n'+1, d_x), the test input last.
            labels: shape (..., n', d_y).
            start: the weights to begin with, shape (D_N,) or (..., D_N).

        Raises:
            ValueError: for shapes that do not fit, a number n' of examples that `check_prompt` refuses, inputs or
                labels beyond their bounds, a start outside the box, an argument of the activation in an excluded window
                (`check_windows`).
        """
        z = self.layout.encode(inputs, labels, start)
        self._check_system(z)
        stream = self.layout.stream
        self.check_prompt(z[..., stream["x"]], z[..., :-1, stream["y"]], self.weights(z))
        return as_balls(z) if self.arithmetic == "ball" else z

    def check_prompt(self, x: Array, y: Array, w: Array) -> None:
        """ValueError unless the step works for these inputs, labels and weights; see `prompt`."""
        self.check_data(x, y, w, (self.input_bound, self.label_bound), (self.lower, self.upper))
        self.check_windows(x, w)

    def check_windows(self, x: Array, w: Array) -> None:
        """ValueError if an argument of the activation lies in a window that rbar or rbar' excludes.

        In such a window (`ReluSum.excluded`) the sum claims nothing, so that the step would silently be another one.
        Only examples count: the test token takes no part in the step. Balls must be decided to lie outside.

        Args:
            x: the inputs, shape (..., n'+1, d_x).
            w: the weights, shape (..., D_N).
        """
        windows = [
            (name, f.excluded)
            for name, f in (("activation", self.activation), ("derivative", self.derivative))
            if f.excluded is not None
        ]
        for j, arguments in enumerate(self._arguments(x[..., :-1, :], w) if windows else (), start=1):
            for name, (lower, upper) in windows:
                ends = (float(lower), float(upper)) if arguments.dtype == np.float64 else (lower, upper)
                if not np.all((arguments <= ends[0]) | (arguments >= ends[1])):
                    raise ValueError(
                        f"The argument of the {name} in layer {j} lies in the window ({lower}, {upper}) on which the "
                        "sum of ReLUs claims nothing: choose other data or weights, or a narrower window."
                    )

    def _arguments(self, x: Array, w: Array) -> Iterator[Array]:
        """V_j p(j-1) for j = 1, ..., N, as the step computes them, shape (..., n', K_j)."""
        p = x
        for V in self.layout.matrices(w):
            arguments = np.matmul(p, np.swapaxes(V, -1, -2))
            yield arguments
            p = self.activation(arguments)

    def trajectory(self, z: Array, steps: int) -> list[Array]:
        """w before the first and after each of ``steps`` steps.

        Raises:
            ValueError: if steps < 1; if the weights come where an argument lies in an excluded window
                (`check_windows`), where the next step would be wrong.
        """
        result = [self.weights(z)]
        for _ in range(checked_count(steps, "steps")):
            self.check_windows(z[..., self.layout.stream["x"]], result[-1])
            z = self(z)
            result.append(self.weights(z))
        return result


def checked_count(count: int, name: str) -> int:
    """The count as an int.

    Raises:
        ValueError: unless it is an integer >= 1; the message names it.
    """
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 1:
        raise ValueError(f"{name} must be an integer >= 1, not {count!r}.")
    return int(count)
