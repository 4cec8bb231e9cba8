"""Gradient descent on an N-layer network by a transformer whose one attention layer per step is an ordinary softmax.

The universality argument of the document for softmax transformers is false (deep-icgd, lemma-16), so here is an
explicit network: 4N + 3 sublayers per step, all given as matrices. Everything token-wise is done by feed-forward layers
z + relu(z W_1) W_2 (the stream has a coordinate 1 for the biases), and only the average over the examples needs other
tokens. Products are differences of squares, x y ~ (S(x+y) - S(x-y)) / 4 with the piecewise-linear interpolant S of z^2
(`lemmata.numerics.functions.interpolation.multiplication`): they are exactly 0 if a factor is.

    for j = 1, ..., N   FF  z(j)[k] = sum_b v_jk[b] p(j-1)[b]             FF  p(j) = rbar(z(j)), r'(j) = rbar'(z(j))
    then                FF  g = ubar(p(N), y), 0 at the test token        FF  s(N) = r'(N) g
    for j = N-1, ..., 1 FF  q(j)[b] = sum_k V_(j+1)[k, b] s(j+1)[k]       FF  s(j) = r'(j) q(j)
    then                FF  G(j) = s(j) p(j-1)^T for all j                attention  w -= eta (n+1)/(2n) mean_s G_s
                        FF  w clipped to the box, all scratch set to 0

The attention has Q = K = 0, so that the softmax weights are exactly 1/(n+1); the test token has g = 0, hence G = 0; so
the mean is sum_{s <= n} G_s / (n+1).

Source: deep-icgd, construction-softmax-explicit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from flint import fmpq

from lemmata.constructions.descent.bounds import Box, largest_value
from lemmata.constructions.descent.layers import applied_units, loss_gradient_layer, projection_layer
from lemmata.constructions.descent.layout import SoftmaxLayout
from lemmata.constructions.descent.step import DescentProblem, GradientStep, StepLayer, descent_problem
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.stream import Directions, ResidualStream
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.functions.interpolation import multiplication
from lemmata.numerics.functions.relu_sums import ReluSum

Factors = tuple[Directions, Directions, Directions]


class SoftmaxDescentBlock(GradientStep):
    """The 4N+3 sublayers of one step, all feed-forward but the attention, last but one; see `softmax_descent_block`.

    It runs on the number of examples that it was built for alone.
    """

    def check_prompt(self, x: Array, y: Array, w: Array) -> None:
        """ValueError unless the step works for these inputs, labels and weights; see `prompt`."""
        if x.shape[-2] != self.examples + 1:
            raise ValueError(f"The block was built for {self.examples} examples, but the prompt has {x.shape[-2] - 1}.")
        super().check_prompt(x, y, w)

    def _arguments(self, x: Array, w: Array) -> Iterator[Array]:
        """The blocks z(j), which hold the products of squares and not V_j p(j-1) itself, shape (..., n, K_j)."""
        layout = self.layout
        inputs = np.concatenate([x, x[..., :1, :]], axis=-2)
        z = layout.encode(inputs, 0 * x[..., :1].repeat(layout.widths[-1], axis=-1), w)
        z = as_balls(z) if self.arithmetic == "ball" else z
        *_, last = islice(self.stages(z), 2 * layout.depth)
        for j in range(1, layout.depth + 1):
            yield last[..., :-1, layout.stream[f"z{j}"]]


def softmax_descent_block(
    widths: tuple[int, ...],
    examples: int,
    step_size: object,
    activation: ReluSum,
    derivative: ReluSum,
    loss_derivative: ReluSum,
    box: Box,
    input_bound: object,
    label_bound: object,
    product_pieces: int,
) -> SoftmaxDescentBlock:
    """The block of 4N+3 sublayers; the arguments are those of `gradient_descent_block`, and:

    Args:
        product_pieces: m, the pieces per side of the interpolant of z^2; a product then has 4 m units and the error
            (2 R / m)^2 / 16, where R bounds its factors.

    Raises:
        ValueError: as `gradient_descent_block`; for product_pieces < 1.
    """
    problem = descent_problem(
        SoftmaxLayout(widths),
        examples,
        step_size,
        activation,
        derivative,
        loss_derivative,
        box,
        input_bound,
        label_bound,
    )
    layers, purposes = zip(*_Sublayers(problem, product_pieces).build(), strict=True)
    return SoftmaxDescentBlock(**vars(problem), layers=layers, purposes=purposes)


class _Sublayers:
    """Collects the sublayers with their purposes, and bounds of all that they multiply, errors included.

    The bounds are `weight` of w, `outputs` of p(0), p(1), ..., `slopes` of r'(0), r'(1), ..., and `errors` of s(N),
    s(N-1), ....
    """

    def __init__(self, problem: DescentProblem, product_pieces: int) -> None:
        assert isinstance(problem.layout, SoftmaxLayout)
        self.problem, self.layout, self.pieces = problem, problem.layout, product_pieces
        self.sublayers: list[tuple[StepLayer, str]] = []
        self.weight = max(abs(x) for x in [*problem.lower.tolist(), *problem.upper.tolist()])
        self.outputs, self.slopes, self.errors = [problem.input_bound], list[fmpq](), list[fmpq]()

    def build(self) -> list[tuple[StepLayer, str]]:
        """The 4N+3 sublayers, in order of application."""
        problem, layout, N = self.problem, self.layout, self.layout.depth
        for j in range(1, N + 1):
            self.forward(j)
        gradient = self.loss_gradient()
        for j in range(N, 0, -1):
            gradient = self.backward(j, gradient)
        self.outer_products()
        share = -problem.step_size * fmpq(problem.examples + 1, 2 * problem.examples)
        step = mean_attention(layout.stream, layout.gradient, layout.all_weights, share)
        self.sublayers.append((step, "mean over the examples, step"))
        clip = projection_layer(layout, problem.lower, problem.upper)
        self.sublayers.append((clip, "projection on the box, clean-up"))
        return self.sublayers

    def forward(self, j: int) -> None:
        """Two sublayers: z(j) = V_j p(j-1), then p(j) and r'(j-1)."""
        layout, r, slope, z = self.layout, self.problem.activation, self.problem.derivative, self.layout.block(f"z{j}")
        factors = layout.weight_rows(j), layout.output(j - 1), z.reshape(-1, 1)
        rho = self.products(f"arguments of layer {j}", [factors], self.weight, self.outputs[-1])
        self.problem.require_argument(j, rho)
        outputs, derivatives = (
            applied_units(f.coefficients, f.directions, [z, layout.one], target)
            for f, target in ((r, layout.output(j)), (slope, layout.block(f"r'{j - 1}")))
        )
        self.sublayers.append((outputs.beside(derivatives), f"outputs and derivatives of layer {j}"))
        self.outputs.append(largest_value(r)(rho))
        self.slopes.append(largest_value(slope)(rho))

    def loss_gradient(self) -> fmpq:
        """One sublayer: g = ubar(p(N), y), 0 at the test token; a bound of g."""
        u, mask = self.problem.loss_derivative, self.problem.checked_mask(self.outputs[-1])
        self.sublayers.append((loss_gradient_layer(self.layout, u, mask), "derivative of the loss, masked"))
        return _largest_gradient(u, self.outputs[-1], self.problem.label_bound)

    def backward(self, j: int, size: fmpq) -> fmpq:
        """s(j) = r'(j-1) q(j), q(N) = g, and for j > 1 one more sublayer: q(j-1) = V_j^T s(j); a bound of the last."""
        layout, s = self.layout, self.layout.block(f"s{j}")
        factors = layout.block(f"r'{j - 1}"), layout.block("g" if j == layout.depth else f"q{j}"), s
        size = self.products(f"errors of layer {j}", [factors], self.slopes[j - 1], size)
        self.errors.append(size)
        if j == 1:
            return size
        factors = layout.weight_rows(j).T, s, layout.block(f"q{j - 1}").reshape(-1, 1)
        return self.products(f"errors of layer {j} times its weights", [factors], self.weight, size)

    def outer_products(self) -> None:
        """One sublayer: G(j) = s(j) p(j-1)^T for all j."""
        layout = self.layout
        factors = [
            (layout.block(f"s{j}").reshape(-1, 1), layout.output(j - 1), layout.gradient_rows(j))
            for j in range(1, layout.depth + 1)
        ]
        self.products("gradient of every example", factors, max(self.errors), max(self.outputs[:-1]))

    def products(self, purpose: str, factors: Sequence[Factors], first: fmpq, second: fmpq) -> fmpq:
        """One sublayer that adds x y to the target for all (x, y, target), each triple of shapes that broadcast.

        The result is a bound of the sums that a target receives, for |x| <= first and |y| <= second.
        """
        gadget = multiplication(max(first, second, fmpq(1, 2**20)), self.pieces)
        triples = [Directions.stack(triple, axis=-1).reshape(-1, 3) for triple in factors]
        x, y, target = sum(triples[1:], start=triples[0]).T
        layer = applied_units(gadget.coefficients, gadget.directions, [x, y, self.layout.one], target)
        self.sublayers.append((layer, purpose))
        return int(np.bincount(target.coordinates).max()) * (first * second + gadget.error)


def _largest_gradient(function: ReluSum, output: fmpq, label: fmpq) -> fmpq:
    """A bound of |ubar(t, y)| for |t| <= output, |y| <= label, unit by unit."""
    total = {1: fmpq(0), -1: fmpq(0)}
    for c, (a, b, d) in zip(function.coefficients.tolist(), function.directions.tolist(), strict=True):
        total[1 if c > 0 else -1] += abs(c) * max(abs(a) * output + abs(b) * label + d, fmpq(0))
    return max(total.values())


def mean_attention(stream: ResidualStream, source: Directions, target: Directions, factor: fmpq) -> AttentionLayer:
    """Softmax attention, all scores 0, that adds factor times the mean of the source over the tokens to the target."""
    value = stream.matrix({(source, target): factor * np.eye(len(source), dtype=object)})
    zero = as_exact(np.zeros((stream.width, 1), dtype=np.int64))
    return AttentionLayer((Head(Affine(zero), Affine(zero), Affine(as_exact(value)), causal=False),))
