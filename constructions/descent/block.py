"""Gradient descent on an N-layer network, performed by the forward pass of an explicit transformer on its data.

The prompt holds n examples, a test input and the weights w of a network (`lemmata.constructions.descent.layout`).
One block of 2N+4 layers (`lemmata.constructions.descent.layers`) replaces w, in every token, by

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
`lemmata.constructions.descent.fast`.

Source: deep-icgd, theorem-1, theorem-5, construction-block, construction-exact.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from lemmata.constructions.descent.bounds import Box, largest_value, preactivation_bounds
from lemmata.constructions.descent.layers import (
    answer_layer,
    derivative_layer,
    error_layer,
    forward_layer,
    loss_gradient_layer,
    projection_layer,
    update_layer,
)
from lemmata.constructions.descent.layout import PromptLayout
from lemmata.constructions.descent.step import DescentProblem, GradientStep, StepLayer, checked_count, descent_problem
from lemmata.numerics.exact.systems import Array, conversion
from lemmata.numerics.functions.relu_sums import ReluSum


@dataclass(frozen=True, eq=False)
class DescentBlock(GradientStep):
    """The 2N+4 layers of one gradient step, with what they were built for; see `gradient_descent_block`.

    It runs on any number n' of examples, with the `effective_step_size`.

    Attributes:
        mask_bound: R_3, a bound of outputs, labels and 1, which silences the test token.
        preactivations: (rho_1, ..., rho_N), bounds of the arguments of the activation.
    """

    mask_bound: fmpq
    preactivations: tuple[fmpq, ...]

    def effective_step_size(self, examples: int) -> fmpq:
        """eta n' (n+1) / (n (n'+1)): the step size of this block on n' = ``examples`` examples.

        Raises:
            ValueError: if examples < 1.
        """
        n = self.examples
        return self.step_size * fmpq(checked_count(examples, "examples") * (n + 1), n * (examples + 1))

    def answer(self, z: Array) -> Array:
        """The trained network's output for the test input, shape (..., d_y): N+1 further layers, then y is read.

        The scratch must be 0, as it is in a prompt and after every block.
        """
        for layer in self.answer_layers():
            z = layer(z)
        return z[..., -1, self.layout.stream["y"]]

    def answer_layers(self) -> tuple[StepLayer, ...]:
        """The forward layers again, and the copy of p(N) into y at the test token."""
        copy = answer_layer(self.layout, self.mask_bound)
        return (*self.layers[: self.layout.depth], copy.map(conversion(self.arithmetic)))


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
    problem = descent_problem(
        PromptLayout(widths),
        examples,
        step_size,
        activation,
        derivative,
        loss_derivative,
        box,
        input_bound,
        label_bound,
    )
    largest, ends = largest_value(activation), (problem.lower, problem.upper)
    arguments, outputs = preactivation_bounds(problem.layout, ends, problem.input_bound, largest)
    for j, rho in enumerate(arguments, start=1):
        problem.require_argument(j, rho)
    mask = problem.checked_mask(outputs[-1])
    layers, purposes = zip(*_layers(problem, mask), strict=True)
    return DescentBlock(
        **vars(problem), layers=layers, purposes=purposes, mask_bound=mask, preactivations=tuple(arguments)
    )


def _layers(problem: DescentProblem, mask: fmpq) -> list[tuple[StepLayer, str]]:
    """The layers with their purposes, in order of application."""
    layout, N = problem.layout, problem.layout.depth
    result: list[tuple[StepLayer, str]] = [
        (forward_layer(layout, j, problem.activation), f"output of layer {j}") for j in range(1, N + 1)
    ]
    result.append((derivative_layer(layout, problem.derivative), "derivatives of all layers"))
    result.append((loss_gradient_layer(layout, problem.loss_derivative, mask), "loss gradient"))
    result += [(error_layer(layout, j), f"error of layer {j}") for j in range(N, 0, -1)]
    result.append((update_layer(layout, problem.step_size, problem.examples), "gradient step"))
    result.append((projection_layer(layout, problem.lower, problem.upper), "projection and clean-up"))
    return result
