"""Token-wise maps: one to three affine layers with the ReLU after each, with or without a residual connection.

Rows are tokens (row-vector convention, z W + b), as in `constructions.networks.attention`, whose `ResidualStream` names
the coordinates: `stream.matrix` gives a weight, `stream.rows(1, ...)[0]` a bias. One forward pass serves float64, exact
numbers (integers, rationals, cyclotomic) and rigorous balls, where the ReLU of a ball is an enclosure also if its sign
is undecided.

Source: turing, def-transformer (feed-forward layer FF) and def-ffnet.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from flint import arb

from numerics.exact.numbers import sign_of, to_float
from numerics.exact.systems import Arithmetic, Array, number_system, product


@dataclass(frozen=True, eq=False)
class AffineLayer:
    """The map z -> z W + b, with d inputs and e outputs.

    Attributes:
        weight: W, shape (d, e).
        bias: b, shape (e,).

    Raises:
        ValueError: for shapes that do not fit.
    """

    weight: Array
    bias: Array

    def __post_init__(self) -> None:
        for name in ("weight", "bias"):
            object.__setattr__(self, name, np.asarray(getattr(self, name)))
        W, b = self.weight.shape, self.bias.shape
        if len(W) != 2 or b != W[1:]:
            raise ValueError(f"An affine layer has weight (d, e) and bias (e,), but the shapes are {W} and {b}.")

    def arrays(self) -> tuple[Array, Array]:
        """The weight and the bias."""
        return self.weight, self.bias

    def map(self, convert: Callable[[Array], Array]) -> AffineLayer:
        """The layer with both arrays converted."""
        return AffineLayer(convert(self.weight), convert(self.bias))

    def __call__(self, z: Array) -> Array:
        """z W + b, shape (..., e), for z of shape (..., d)."""
        return product(z, self.weight) + self.bias

    @property
    def one_norm(self) -> Any:
        """The sum of the absolute values of all weights and biases, in the layer's numbers."""
        return sum((abs(x) for array in self.arrays() for x in array.ravel().tolist()), start=0)

    @property
    def operator_norm(self) -> float:
        """The largest singular value of the weight W, without the bias, in float64 (relative error a few d eps)."""
        return float(np.linalg.norm(to_float(self.weight), 2)) if self.weight.size else 0.0


@dataclass(frozen=True, eq=False)
class FeedForward:
    """One to three affine layers, the ReLU after each: relu(... relu(z W_1 + b_1) ...), plus z if residual.

    Attributes:
        layers: the affine layers, first to last.
        residual: whether the input is added to the output.

    Raises:
        ValueError: for another number of layers, widths that do not fit, or a residual between unequal widths.
    """

    layers: tuple[AffineLayer, ...]
    residual: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", tuple(self.layers))
        if not 1 <= len(self.layers) <= 3:
            raise ValueError(f"A token-wise map has 1 to 3 layers, not {len(self.layers)}.")
        for number, (before, after) in enumerate(pairwise(self.layers), start=1):
            outputs, inputs = before.weight.shape[1], after.weight.shape[0]
            if outputs != inputs:
                raise ValueError(f"Layer {number} has {outputs} outputs, but layer {number + 1} has {inputs} inputs.")
        if self.residual and self.inputs != self.outputs:
            raise ValueError(f"A residual needs equal widths, not {self.inputs} inputs and {self.outputs} outputs.")

    @property
    def inputs(self) -> int:
        """The width of the input."""
        return self.layers[0].weight.shape[0]

    @property
    def outputs(self) -> int:
        """The width of the output."""
        return self.layers[-1].weight.shape[1]

    def arrays(self) -> tuple[Array, ...]:
        """All weights and biases, first layer first."""
        return tuple(array for layer in self.layers for array in layer.arrays())

    @property
    def arithmetic(self) -> Arithmetic:
        """The widest number system among the weights."""
        return number_system(self.arrays())

    def map(self, convert: Callable[[Array], Array]) -> FeedForward:
        """The map with every weight and bias converted, for instance by `as_exact`, `to_float` or `as_balls`."""
        return FeedForward(tuple(layer.map(convert) for layer in self.layers), self.residual)

    def hidden(self, z: Array) -> list[Array]:
        """The outputs of all layers, each of shape (..., width), for z of shape (..., d); no residual is added."""
        result: list[Array] = []
        for layer in self.layers:
            result.append(relu(layer(result[-1] if result else z)))
        return result

    def __call__(self, z: Array) -> Array:
        """The output, shape (..., e), for z of shape (..., d)."""
        output = self.hidden(z)[-1]
        return z + output if self.residual else output

    @property
    def one_norm(self) -> Any:
        """The sum of the absolute values of all weights and biases."""
        return sum((layer.one_norm for layer in self.layers), start=0)

    @property
    def operator_norms(self) -> tuple[float, ...]:
        """The largest singular value of each weight matrix."""
        return tuple(layer.operator_norm for layer in self.layers)

    @property
    def lipschitz_bound(self) -> float:
        """The product of the operator norms (plus 1 if residual), a Lipschitz constant in the 2-norm.

        It carries the rounding of the singular values.
        """
        return math.prod(self.operator_norms) + (1.0 if self.residual else 0.0)


def relu(z: Array) -> Array:
    """max(z, 0) element by element: correctly for floats and exact numbers, as an enclosure for balls.

    Raises:
        ValueError: if an element has no sign (a cyclotomic number that is not real).
    """
    if z.dtype != object:
        return np.maximum(z, 0)
    result = np.empty(z.shape, dtype=object)
    result.ravel()[:] = [_relu(x) for x in z.ravel().tolist()]
    return result


def _relu(x: Any) -> Any:
    if isinstance(x, arb):
        return x.max(arb(0))
    if isinstance(x, float):
        return max(x, 0.0)
    return x if sign_of(x) > 0 else 0 * x
