"""Gradient descent on an N-layer network, performed by the forward pass of an explicit transformer on its data.

The prompt holds n examples, a test input and the weights w of a network (`constructions.descent.layout`).
One block of 2N+4 layers (`constructions.descent.layers`) replaces w, in every token, by

    clip(w - eta gradbar, lower, upper),      gradbar = (1/2n) sum_i s_i(j) p_i(j-1)^T  for j = 1, ..., N,

back-propagation with the sums of ReLUs rbar, rbar', ubar in place of the activation, its derivative and the derivative
of the loss; all other coordinates return to what they were. If the three are exact (deep linear and affine networks;
ReLU networks whose arguments avoid a window (0, delta); the squared loss), this is projected gradient descent exactly.
L blocks make L steps, and N further forward layers with a copy write the trained network's answer for the test input.

    r, r_prime, u = identity(), constant(1), squared_loss_derivative()
    block = gradient_descent_block((2, 3, 1), 5, "1/10", r, r_prime, u, box=(-1, 1), input_bound=1, label_bound=1)
    print(block.table())
    z = block.prompt(inputs, labels, start)
    block.weights(block(z))

Weights are exact rationals; `to_float`, `to_balls` and `to_torch` convert. For long runs in float64 there is
`constructions.descent.fast`.

Source: deep-icgd, theorem-1, theorem-5, construction-block, construction-exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike

from constructions.descent.bounds import Box, box_arrays, largest_value, preactivation_bounds
from constructions.descent.layers import (
    answer_layer,
    derivative_layer,
    error_layer,
    forward_layer,
    loss_gradient_layer,
    projection_layer,
    update_layer,
)
from constructions.descent.layout import PromptLayout
from constructions.networks.relu_attention import ReluAttentionLayer
from constructions.networks.sparse_layers import MlpLayer, MultiplicationLayer
from numerics.exact.balls import as_balls
from numerics.exact.numbers import to_float
from numerics.exact.systems import Arithmetic, Array, number_system
from numerics.functions.relu_sums import ReluSum
from numerics.functions.smooth import rational

if TYPE_CHECKING:
    import torch

Layer = ReluAttentionLayer | MlpLayer | MultiplicationLayer


@dataclass(frozen=True)
class LayerSummary:
    """One line of the table of a block.

    Attributes:
        number: 1, ..., 2N+4.
        kind: "attention", "MLP" or "multiplication".
        purpose: what it writes, in words.
        reads: names of blocks of the stream.
        writes: names of blocks of the stream.
        heads: heads of an attention or multiplication layer, hidden units of an MLP.
        norm: its contribution to the norm (C.1), or (3.18) for multiplication.
        parameters: non-zero weights.
    """

    number: int
    kind: str
    purpose: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    heads: int
    norm: Any
    parameters: int


@dataclass(frozen=True, eq=False)
class DescentBlock:
    """The 2N+4 layers of one gradient step, with what they were built for; see `gradient_descent_block`.

    Attributes:
        layout: the coordinates of the prompt.
        layers: in order of application.
        examples: n.
        step_size: eta.
        activation: rbar.
        derivative: rbar'.
        loss_derivative: ubar, of the arguments (t, y).
        lower: lower end of the box, shape (D_N,).
        upper: upper end of the box, shape (D_N,).
        input_bound: bound of the inputs in size, coordinate by coordinate, the test input included.
        label_bound: bound of the labels in size.
        mask_bound: R_3, a bound of outputs, labels and 1, which silences the test token.
        preactivations: (rho_1, ..., rho_N), bounds of the arguments of the activation.
    """

    layout: PromptLayout
    layers: tuple[Layer, ...]
    examples: int
    step_size: fmpq
    activation: ReluSum
    derivative: ReluSum
    loss_derivative: ReluSum
    lower: Array
    upper: Array
    input_bound: fmpq
    label_bound: fmpq
    mask_bound: fmpq
    preactivations: tuple[fmpq, ...]
    arithmetic: Arithmetic = "exact"

    def prompt(self, inputs: ArrayLike, labels: ArrayLike, start: ArrayLike) -> Array:
        """The encoded prompt, shape (..., n'+1, width), checked against everything that the block relies on.

        Args:
            inputs: shape (..., n'+1, d_x), the test input last; n' may differ from n, see `effective_step_size`.
            labels: shape (..., n', d_y).
            start: the weights to begin with, shape (D_N,) or (..., D_N).

        Raises:
            ValueError: for shapes that do not fit, inputs or labels beyond their bounds, a start outside the box.
        """
        z = self.layout.encode(inputs, labels, start)
        self._check_system(z)
        stream = self.layout.stream
        self.check_prompt(z[..., stream["x"]], z[..., :-1, stream["y"]], self.weights(z))
        return as_balls(z) if self.arithmetic == "ball" else z

    def check_prompt(self, x: Array, y: Array, w: Array) -> None:
        """ValueError unless the block works for these inputs, labels and weights; see `prompt`."""
        self.layout.check_shapes(x, y, w)
        lower, upper, limits = self.lower, self.upper, np.array([self.input_bound, self.label_bound], dtype=object)
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

    def effective_step_size(self, examples: int) -> fmpq:
        """eta n' (n+1) / (n (n'+1)): the step size of this block on n' = ``examples`` examples.

        Raises:
            ValueError: if examples < 1.
        """
        n = self.examples
        return self.step_size * fmpq(_checked_count(examples, "examples") * (n + 1), n * (examples + 1))

    def stages(self, z: Array) -> Iterator[Array]:
        """The stream after each of the 2N+4 layers."""
        self._check_system(z)
        for layer in self.layers:
            z = layer(z)
            yield z

    def __call__(self, z: Array) -> Array:
        """The stream after the block, shape (..., T, width)."""
        *_, last = self.stages(z)
        return last

    def weights(self, z: Array) -> Array:
        """w as the first token holds it, shape (..., D_N); all tokens hold the same."""
        return self.layout.weights(z)[..., 0, :]

    def trajectory(self, z: Array, steps: int) -> list[Array]:
        """w before the first and after each of ``steps`` blocks.

        Raises:
            ValueError: if steps < 1.
        """
        result = [self.weights(z)]
        for _ in range(_checked_count(steps, "steps")):
            z = self(z)
            result.append(self.weights(z))
        return result

    def answer(self, z: Array) -> Array:
        """The trained network's output for the test input, shape (..., d_y): N+1 further layers, then y is read.

        The scratch must be 0, as it is in a prompt and after every block.
        """
        for layer in self.answer_layers():
            z = layer(z)
        return z[..., -1, self.layout.stream["y"]]

    def answer_layers(self) -> tuple[Layer, ...]:
        """The forward layers again, and the copy of p(N) into y at the test token."""
        copy = answer_layer(self.layout, self.mask_bound)
        return (*self.layers[: self.layout.depth], copy if self.arithmetic == "exact" else copy.map(self._converter))

    def summaries(self) -> list[LayerSummary]:
        """The table of the block, one entry per layer."""
        stream, N = self.layout.stream, self.layout.depth
        purposes = [f"output of layer {j}" for j in range(1, N + 1)] + ["derivatives of all layers", "loss gradient"]
        purposes += [f"error of layer {j}" for j in range(N, 0, -1)] + ["gradient step", "projection and clean-up"]
        kinds = {ReluAttentionLayer: "attention", MlpLayer: "MLP", MultiplicationLayer: "multiplication"}
        return [
            LayerSummary(
                number,
                kinds[type(layer)],
                purpose,
                layer.reads_from(stream),
                layer.writes_to(stream),
                layer.units if isinstance(layer, MlpLayer) else layer.heads,
                layer.norm(),
                layer.parameters(),
            )
            for number, (layer, purpose) in enumerate(zip(self.layers, purposes, strict=True), start=1)
        ]

    def table(self) -> str:
        """The table as text, with the width of the stream, the number of heads and of parameters."""
        rows = [("", "layer", "purpose", "reads", "writes", "heads", "norm", "weights")]
        summaries = self.summaries()
        for s in summaries:
            reads, writes = ", ".join(s.reads), ", ".join(s.writes)
            norm = f"{float(to_float([s.norm])[0]):.4g}"
            rows.append((str(s.number), s.kind, s.purpose, reads, writes, str(s.heads), norm, str(s.parameters)))
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        heads, weights = (sum(getattr(s, name) for s in summaries) for name in ("heads", "parameters"))
        lines.append(f"width {self.layout.stream.width}, {heads} heads and hidden units, {weights} non-zero weights")
        return "\n".join(lines)

    def to_float(self) -> DescentBlock:
        """The same block in float64."""
        return self._converted("float")

    def to_balls(self) -> DescentBlock:
        """The same block in ball arithmetic, enclosed at the working precision."""
        return self._converted("ball")

    def to_torch(self, dtype: torch.dtype | None = None) -> torch.nn.Module:
        """A torch module with every head as matrices, trainable; maps prompts (..., T, width) to the same shape.

        Raises:
            ValueError: if the matrices of a layer would have more than 2^27 entries.
        """
        from constructions.descent.torch import TorchBlock  # torch is slow to import

        return TorchBlock(self.to_float().layers, self.layout.stream.width, dtype)

    def _converter(self, array: Array) -> Array:
        return to_float(array) if self.arithmetic == "float" else as_balls(array)

    def _converted(self, arithmetic: Arithmetic) -> DescentBlock:
        target = replace(self, arithmetic=arithmetic)
        layers = [x if isinstance(x, MultiplicationLayer) else x.map(target._converter) for x in self.layers]
        return replace(target, layers=tuple(layers))

    def _check_system(self, z: Array) -> None:
        if not isinstance(z, np.ndarray) or z.ndim < 2 or z.shape[-1] != self.layout.stream.width:
            raise ValueError(
                f"The stream must be an array (..., T, {self.layout.stream.width}) as `prompt` makes it, but its shape "
                f"is {np.shape(z)}."
            )
        system = "float" if z.dtype == np.float64 else number_system([z])
        if system != self.arithmetic and (system, self.arithmetic) not in (("exact", "ball"), ("ball", "exact")):
            raise ValueError(
                f"The stream is in the number system {system!r}, but the block in {self.arithmetic!r}: convert the "
                "block by to_float() or to_balls(), or give exact numbers."
            )


def gradient_descent_block(
    widths: tuple[int, ...],
    examples: int,
    step_size: object,
    activation: ReluSum,
    derivative: ReluSum,
    loss_derivative: ReluSum,
    box: Box,
    input_bound: object,
    label_bound: object,
) -> DescentBlock:
    """The block of 2N+4 layers that performs one projected gradient step.

    Args:
        widths: (d_x, K_1, ..., K_(N-1), d_y), N >= 1; N = 1 is a single layer r(V x).
        examples: n >= 1.
        step_size: eta > 0. This and all numbers below are exact: int, Fraction, string such as "1/10", fmpq.
        activation: rbar, also on the output layer.
        derivative: rbar', meant for the derivative of the activation.
        loss_derivative: ubar(t, y) for one output coordinate, so the loss is a sum over coordinates.
        box: (lower, upper), numbers or arrays of shape (D_N,).
        input_bound: B_x; all inputs, the test input included, are at most this in size.
        label_bound: B_y, the same for labels.

    Raises:
        ValueError: for N < 1 or other bad widths, n < 1, eta <= 0, an empty box, sums of ReLUs of the wrong number of
            arguments, negative bounds, or arguments that may leave the interval on which a sum is certified.
    """
    layout, n = PromptLayout(widths), _checked_count(examples, "examples")
    eta, inputs, labels = (
        rational(value, name)
        for value, name in ((step_size, "step_size"), (input_bound, "input_bound"), (label_bound, "label_bound"))
    )
    if eta <= 0 or labels < 0:
        raise ValueError(f"step_size must be positive and label_bound >= 0, not {eta} and {labels}.")
    for name, sums in (("activation", activation), ("derivative", derivative), ("loss_derivative", loss_derivative)):
        if not isinstance(sums, ReluSum):
            raise ValueError(f"{name} must be a ReluSum (numerics.functions.relu_sums makes them), not {sums!r}.")
    arities = (activation.arity, derivative.arity, loss_derivative.arity)
    if arities != (1, 1, 2):
        raise ValueError(
            f"activation and derivative take 1 argument and loss_derivative 2, (t, y), but they take {arities}."
        )
    if not (activation.units and derivative.units and loss_derivative.units):
        raise ValueError("activation, derivative and loss_derivative need at least one unit each: none may be 0.")
    lower, upper = box_arrays(layout, box)
    arguments, outputs = preactivation_bounds(layout, box, inputs, largest_value(activation))
    for j, rho in enumerate(arguments, start=1):
        activation.require(rho, f"The argument of the activation in layer {j}")
        derivative.require(rho, f"The argument of the derivative in layer {j}")
    loss_derivative.require(max(outputs[-1], labels), "The output or label in the derivative of the loss")
    mask = _slightly_above(max(outputs[-1], labels, fmpq(1)))
    layers: list[Layer] = [forward_layer(layout, j, activation) for j in range(1, layout.depth + 1)]
    layers += [derivative_layer(layout, derivative), loss_gradient_layer(layout, loss_derivative, mask)]
    layers += [error_layer(layout, j) for j in range(layout.depth, 0, -1)]
    layers += [update_layer(layout, eta, n), projection_layer(layout, lower, upper)]
    return DescentBlock(
        layout,
        tuple(layers),
        n,
        eta,
        activation,
        derivative,
        loss_derivative,
        lower,
        upper,
        inputs,
        labels,
        mask,
        tuple(arguments),
    )


def _slightly_above(x: fmpq) -> fmpq:
    """A multiple of 2^-20 in (x, x + 2^-19]: short, and safe against rounding in float64."""
    return fmpq((x * 2**20).floor() + 2, 2**20)


def _checked_count(count: int, name: str) -> int:
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 1:
        raise ValueError(f"{name} must be an integer >= 1, not {count!r}.")
    return int(count)
