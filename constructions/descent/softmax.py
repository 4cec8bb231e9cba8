"""Gradient descent on an N-layer network by a transformer whose one attention layer per step is an ordinary softmax.

The universality argument of the document for softmax transformers is false (deep-icgd, lemma-16), so here is an
explicit network: 4N + 3 sublayers per step, all given as matrices. Everything token-wise is done by feed-forward layers
z + relu(z W_1) W_2 (the stream has a coordinate 1 for the biases), and only the average over the examples needs other
tokens. Products are differences of squares, x y ~ (S(x+y) - S(x-y)) / 4 with the piecewise-linear interpolant S of z^2
(`numerics.functions.interpolation.multiplication`): they are exactly 0 if a factor is.

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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike

from constructions.descent.bounds import Box, box_arrays, largest_value
from constructions.descent.layout import PromptLayout
from constructions.networks.legacy_attention import AttentionHead, AttentionLayer
from constructions.networks.sparse_layers import MlpLayer
from constructions.networks.stream import ResidualStream
from numerics.exact.balls import as_balls
from numerics.exact.numbers import as_exact, to_float
from numerics.exact.systems import Array
from numerics.functions.interpolation import multiplication
from numerics.functions.relu_sums import ReluSum
from numerics.functions.smooth import rational

Layer = MlpLayer | AttentionLayer


@dataclass(frozen=True)
class SoftmaxLayout:
    """The coordinates of a token: those of `PromptLayout`, and scratch for arguments, their errors and the gradient.

    Attributes:
        widths: (d_x, K_1, ..., K_(N-1), d_y).

    Raises:
        ValueError: as `PromptLayout`.
    """

    widths: tuple[int, ...]

    @property
    def prompt(self) -> PromptLayout:
        """The layout of the prompt itself."""
        return PromptLayout(self.widths)

    @property
    def stream(self) -> ResidualStream:
        """The named blocks: x, y, w1.., p1.., r'0.., g, s.., then z1.. (arguments), q1.. (V^T s), G1.. (gradient)."""
        base, k = self.prompt, self.widths
        sizes = dict(base.stream.sizes)
        one, t = sizes.pop("1"), sizes.pop("t")
        sizes |= {f"z{j}": k[j] for j in range(1, base.depth + 1)} | {f"q{j}": k[j] for j in range(1, base.depth)}
        sizes |= {f"G{j}": k[j] * k[j - 1] for j in range(1, base.depth + 1)}
        return ResidualStream(sizes | {"1": one, "t": t})

    def block(self, name: str) -> Array:
        """The coordinates of a block; "p0" is x."""
        return np.arange(self.stream.width)[self.stream["x" if name == "p0" else name]]

    def matrix(self, name: str, j: int) -> Array:
        """The coordinates of the weights w or of the gradient G of layer j, shape (K_j, K_(j-1))."""
        return self.block(f"{name}{j}").reshape(self.widths[j], self.widths[j - 1])

    def encode(self, inputs: ArrayLike, labels: ArrayLike, weights: ArrayLike) -> Array:
        """The prompt with all scratch 0, shape (..., n+1, width); arguments and errors as `PromptLayout.encode`."""
        base, stream = self.prompt.encode(inputs, labels, weights), self.stream
        z = np.full((*base.shape[:-1], stream.width), fmpq(0) if base.dtype == object else 0.0, dtype=base.dtype)
        for name in self.prompt.stream.sizes:
            z[..., stream[name]] = base[..., self.prompt.stream[name]]
        return z


@dataclass(frozen=True, eq=False)
class SoftmaxDescentBlock:
    """The 4N+3 sublayers of one step; see `softmax_descent_block`.

    Attributes:
        layout: the coordinates.
        layers: in order of application: feed-forward layers and, last but one, the attention.
        purposes: what each of them computes, in words.
        examples: n.
        step_size: eta.
        lower: lower end of the box, shape (D_N,).
        upper: upper end of the box, shape (D_N,).
        input_bound: bound of the inputs, the test input included.
        label_bound: bound of the labels.
    """

    layout: SoftmaxLayout
    layers: tuple[Layer, ...]
    purposes: tuple[str, ...]
    examples: int
    step_size: fmpq
    lower: Array
    upper: Array
    input_bound: fmpq
    label_bound: fmpq

    def prompt(self, inputs: ArrayLike, labels: ArrayLike, start: ArrayLike) -> Array:
        """The encoded prompt, shape (..., n+1, width).

        Raises:
            ValueError: for shapes that do not fit, another number of examples, data beyond their bounds, or a start
                outside the box.
        """
        z = self.layout.encode(inputs, labels, start)
        stream, w = self.layout.stream, self.weights(z)
        if z.shape[-2] != self.examples + 1:
            raise ValueError(f"The block was built for {self.examples} examples, but the prompt has {z.shape[-2] - 1}.")
        is_float = z.dtype == np.float64
        limits = as_exact([self.input_bound, self.label_bound])
        lower, upper, limits = (to_float(a) if is_float else a for a in (self.lower, self.upper, limits))
        for name, bound in zip("xy", limits, strict=True):
            if not np.all(abs(z[..., stream[name]]) <= bound):
                raise ValueError(
                    f"The {'inputs' if name == 'x' else 'labels'} must be at most {bound} in size, test input included."
                )
        if not np.all((lower <= w) & (w <= upper)):
            raise ValueError("The start must lie in the box.")
        return z

    def stages(self, z: Array) -> Iterator[Array]:
        """The stream after each sublayer."""
        for layer in self.layers:
            z = layer(z)
            yield z

    def __call__(self, z: Array) -> Array:
        """The stream after the block."""
        *_, last = self.stages(z)
        return last

    def weights(self, z: Array) -> Array:
        """w as the first token holds it, shape (..., D_N)."""
        return z[..., 0, _weights(self.layout)]

    def trajectory(self, z: Array, steps: int) -> list[Array]:
        """w before the first and after each of ``steps`` blocks.

        Raises:
            ValueError: if steps < 1.
        """
        if steps < 1:
            raise ValueError(f"steps must be at least 1, not {steps}.")
        result = [self.weights(z)]
        for _ in range(steps):
            z = self(z)
            result.append(self.weights(z))
        return result

    def map(self, convert: Callable[[Array], Array]) -> SoftmaxDescentBlock:
        """The block with all weights converted."""
        layers = [
            AttentionLayer(tuple(head.map(convert) for head in layer.heads))
            if isinstance(layer, AttentionLayer)
            else layer.map(convert)
            for layer in self.layers
        ]
        return replace(self, layers=tuple(layers))

    def to_float(self) -> SoftmaxDescentBlock:
        """The block in float64."""
        return self.map(to_float)

    def to_balls(self) -> SoftmaxDescentBlock:
        """The block in ball arithmetic."""
        return self.map(as_balls)

    def table(self) -> str:
        """One line per sublayer: its purpose and its hidden units (heads for the attention); then the width."""
        lines = []
        for number, (layer, purpose) in enumerate(zip(self.layers, self.purposes, strict=True), start=1):
            size = f"{layer.units} units" if isinstance(layer, MlpLayer) else f"{len(layer.heads)} softmax head"
            lines.append(f"{number:3}  {purpose:<42}  {size}")
        return "\n".join([*lines, f"width {self.layout.stream.width}"])


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
        ValueError: for bad widths, n < 1, eta <= 0, product_pieces < 1, an empty box, negative bounds, or arguments
            that may leave the interval on which a sum of ReLUs is certified.
    """
    layout, eta = SoftmaxLayout(tuple(widths)), rational(step_size, "step_size")
    stream, N = layout.stream, layout.prompt.depth
    B_x, B_y = rational(input_bound, "input_bound"), rational(label_bound, "label_bound")
    if isinstance(examples, bool) or not isinstance(examples, int | np.integer) or examples < 1:
        raise ValueError(f"examples must be an integer >= 1, not {examples!r}.")
    if eta <= 0 or B_x < 0 or B_y < 0:
        raise ValueError(f"step_size must be positive and the bounds >= 0, not {eta}, {B_x}, {B_y}.")
    lower, upper = box_arrays(layout.prompt, box)
    b_w = max(abs(x) for x in [*lower.tolist(), *upper.tolist()])
    add = _Builder(layout, product_pieces)
    p, slopes = [B_x], []
    for j in range(1, N + 1):
        rows = [(k, b) for k in range(widths[j]) for b in range(widths[j - 1])]
        V, inputs, z = layout.matrix("w", j), layout.block(f"p{j - 1}"), layout.block(f"z{j}")
        rho = add.products(f"arguments of layer {j}", [(V[k, b], inputs[b], z[k]) for k, b in rows], b_w, p[-1])
        activation.require(rho, f"The argument of the activation in layer {j}")
        derivative.require(rho, f"The argument of the derivative in layer {j}")
        outputs, derivatives = layout.block(f"p{j}"), layout.block(f"r'{j - 1}")
        add.functions(f"outputs and derivatives of layer {j}", z, [(activation, outputs), (derivative, derivatives)])
        p.append(largest_value(activation)(rho))
        slopes.append(largest_value(derivative)(rho))
    loss_derivative.require(max(p[-1], B_y), "The output or label in the derivative of the loss")
    add.loss_gradient(loss_derivative, max(p[-1], B_y, fmpq(1)) + fmpq(1, 2**20))  # a margin for rounding
    size = _largest_gradient(loss_derivative, p[-1], B_y)
    for j in range(N, 0, -1):
        source, target = layout.block("g" if j == N else f"q{j}"), layout.block(f"s{j}")
        factors = zip(layout.block(f"r'{j - 1}"), source, target, strict=True)
        size = add.products(f"errors of layer {j}", list(factors), slopes[j - 1], size)
        add.sizes[j] = size
        if j > 1:
            V, q = layout.matrix("w", j), layout.block(f"q{j - 1}")
            rows = [(k, b) for b in range(widths[j - 1]) for k in range(widths[j])]
            back = [(V[k, b], target[k], q[b]) for k, b in rows]
            size = add.products(f"errors of layer {j} times its weights", back, b_w, size)
    triples = [
        (layout.block(f"s{j}")[k], layout.block(f"p{j - 1}")[b], layout.matrix("G", j)[k, b])
        for j in range(1, N + 1)
        for k in range(widths[j])
        for b in range(widths[j - 1])
    ]
    add.products("gradient of every example", triples, max(add.sizes.values()), max(p[:-1]))
    add.layer("mean over the examples, step", _mean_attention(layout, eta, int(examples)))
    add.layer("projection on the box, clean-up", _projection(layout, lower, upper))
    assert stream.width == add.width
    assert len(add.layers) == 4 * N + 3
    return SoftmaxDescentBlock(
        layout, tuple(add.layers), tuple(add.purposes), int(examples), eta, lower, upper, B_x, B_y
    )


class _Builder:
    """Collects the sublayers and what they are for."""

    def __init__(self, layout: SoftmaxLayout, product_pieces: int) -> None:
        self.layout, self.pieces, self.width = layout, product_pieces, layout.stream.width
        self.one, self.t = int(layout.block("1")[0]), int(layout.block("t")[0])
        self.layers: list[Layer] = []
        self.purposes: list[str] = []
        self.sizes: dict[int, fmpq] = {}

    def layer(self, purpose: str, layer: Layer) -> None:
        self.layers.append(layer)
        self.purposes.append(purpose)

    def products(self, purpose: str, triples: Sequence[tuple[int, int, int]], first: fmpq, second: fmpq) -> fmpq:
        """Adds target += x y for every (x, y, target); returns a bound of the sums, errors included."""
        gadget = multiplication(max(first, second, fmpq(1, 2**20)), self.pieces)
        x, y, target = np.array(triples).T
        self.layer(purpose, self._mlp([x, y], target, gadget))
        terms = int(np.bincount(target).max())
        return terms * (first * second + gadget.error)

    def functions(self, purpose: str, source: Array, targets: Sequence[tuple[ReluSum, Array]]) -> None:
        """Adds f(source) to the targets, for every (f, targets)."""
        parts = [self._mlp([source], target, function) for function, target in targets]
        self.layer(
            purpose,
            MlpLayer(
                *(np.concatenate([getattr(part, name) for part in parts]) for name in ("reads", "weights")),
                *(np.concatenate([getattr(part, name) for part in parts]) for name in ("targets", "coefficients")),
                width=self.width,
            ),
        )

    def loss_gradient(self, function: ReluSum, bound: fmpq) -> None:
        """Adds g = ubar(p(N), y) at examples, and 0 at the test token: arguments are lowered by bound * (1 - t)."""
        layout = self.layout
        outputs, g = layout.block(f"p{layout.prompt.depth}"), layout.block("g")
        part = self._mlp([outputs, layout.block("y")], g, function)
        mask = np.full((part.units, 1), bound, dtype=object)
        reads = np.concatenate([part.reads, np.full((part.units, 1), self.t)], axis=1)
        weights = np.concatenate([part.weights[:, :-1], part.weights[:, -1:] - mask, mask], axis=1)
        self.layer(
            "derivative of the loss, masked", MlpLayer(reads, weights, part.targets, part.coefficients, self.width)
        )

    def _mlp(self, sources: Sequence[Array], targets: Array, function: ReluSum) -> MlpLayer:
        """target_i += function(sources[0]_i, sources[1]_i, ...), all units of one i together."""
        count, M = len(targets), function.units
        columns = [np.repeat(source, M) for source in sources] + [np.full(count * M, self.one)]
        return MlpLayer(
            np.stack(columns, axis=1),
            np.tile(function.directions, (count, 1)),
            np.repeat(targets, M),
            np.tile(function.coefficients, count),
            self.width,
        )


def _weights(layout: SoftmaxLayout) -> slice:
    stream = layout.stream
    return slice(stream["w1"].start, stream[f"w{layout.prompt.depth}"].stop)


def _largest_gradient(function: ReluSum, output: fmpq, label: fmpq) -> fmpq:
    """A bound of |ubar(t, y)| for |t| <= output, |y| <= label, unit by unit."""
    total = {1: fmpq(0), -1: fmpq(0)}
    for c, (a, b, d) in zip(function.coefficients.tolist(), function.directions.tolist(), strict=True):
        total[1 if c > 0 else -1] += abs(c) * max(abs(a) * output + abs(b) * label + d, fmpq(0))
    return max(total.values())


def _mean_attention(layout: SoftmaxLayout, eta: fmpq, examples: int) -> AttentionLayer:
    """Uniform softmax attention that adds -eta (n+1)/(2n) times the mean of G to w."""
    stream, d = layout.stream, layout.stream.width
    share = -eta * fmpq(examples + 1, 2 * examples)
    sizes = [layout.widths[j] * layout.widths[j - 1] for j in range(1, layout.prompt.depth + 1)]
    blocks: dict[tuple[str, str], Any] = {
        (f"G{j}", f"w{j}"): np.array(
            [[share if a == b else fmpq(0) for a in range(size)] for b in range(size)], dtype=object
        )
        for j, size in enumerate(sizes, start=1)
    }
    zero = as_exact(np.zeros((d, 1), dtype=np.int64))
    return AttentionLayer((AttentionHead(zero, zero, as_exact(stream.matrix(blocks)), causal=False),))


def _projection(layout: SoftmaxLayout, lower: Array, upper: Array) -> MlpLayer:
    """w - relu(w - upper) + relu(lower - w), and z - relu(z) + relu(-z) = 0 for all scratch."""
    stream = layout.stream
    every = np.arange(stream.width)
    clipped = every[_weights(layout)]
    kept = np.concatenate([clipped, *(every[stream[name]] for name in ("x", "y", "1", "t"))])
    cleared = np.setdiff1d(every, kept)
    ones, zeros = (as_exact(np.full(len(cleared), value)) for value in (1, 0))
    clip = as_exact(np.ones(len(clipped), dtype=np.int64))
    rows = [(clip, -upper), (-clip, lower), (ones, zeros), (-ones, zeros)]
    coordinates = np.concatenate([clipped, clipped, cleared, cleared])
    return MlpLayer(
        np.stack([coordinates, np.full_like(coordinates, int(layout.block("1")[0]))], axis=1),
        np.concatenate([np.stack(pair, axis=1) for pair in rows]),
        coordinates,
        np.concatenate([-clip, clip, -ones, ones]),
        stream.width,
    )
