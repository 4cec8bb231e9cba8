"""Token-wise maps: affine layers with an activation after each, with or without a residual connection.

Rows are tokens (row-vector convention, z W + b); `stream.matrix` of a `ResidualStream` gives a weight, `stream.rows(1,
...)[0]` a bias. One forward pass serves float64, exact numbers (integers, rationals, cyclotomic; no GeLU, which is not
rational) and rigorous balls, where the ReLU of a ball is an enclosure also if its sign is undecided.

Source: turing, definition-transformer (feed-forward layer FF) and definition-ffnet; hidden-progress, appendix B.4.1
    (GeLU).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.layer import Layer
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.functions.activations import gelu, relu

ActivationName = Literal["relu", "gelu", "identity"]


@dataclass(frozen=True, eq=False)
class FeedForward(Layer):
    """Affine layers with activations: a_2(a_1(z W_1 + b_1) W_2 + b_2) and so on, plus z if residual.

    Attributes:
        layers: the affine layers, first to last, at least one.
        residual: whether the input is added to the output.
        activations: after each layer, "relu", "gelu" or "identity"; the ReLU after every layer if none is given.

    Raises:
        ValueError: for no layer or another number of activations, widths that do not fit, or a residual between unequal
            widths.
    """

    kind: ClassVar[str] = "MLP"

    layers: tuple[Affine, ...]
    residual: bool = False
    activations: tuple[ActivationName, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", tuple(self.layers))
        if not self.layers:
            raise ValueError("A token-wise map has at least one layer.")
        activations = tuple(self.activations) or ("relu",) * len(self.layers)
        object.__setattr__(self, "activations", activations)
        if len(activations) != len(self.layers) or not set(activations) <= set(ACTIVATIONS):
            raise ValueError(
                f"A token-wise map has one activation of {', '.join(ACTIVATIONS)} for each of its {len(self.layers)} "
                f"layers, not {activations}."
            )
        for number, (before, after) in enumerate(pairwise(self.layers), start=1):
            outputs, inputs = before.outputs, after.inputs
            if outputs != inputs:
                raise ValueError(f"Layer {number} has {outputs} outputs, but layer {number + 1} has {inputs} inputs.")
        if self.residual and self.inputs != self.outputs:
            raise ValueError(f"A residual needs equal widths, not {self.inputs} inputs and {self.outputs} outputs.")

    @property
    def inputs(self) -> int:
        """The width of the input."""
        return self.layers[0].inputs

    @property
    def outputs(self) -> int:
        """The width of the output."""
        return self.layers[-1].outputs

    def hidden(self, z: Array) -> list[Array]:
        """The outputs of all layers, each of shape (..., width), for z of shape (..., d); no residual is added."""
        result: list[Array] = []
        for layer, name in zip(self.layers, self.activations, strict=True):
            result.append(ACTIVATIONS[name](layer(result[-1] if result else z)))
        return result

    def __call__(self, z: Array) -> Array:
        """The output, shape (..., e), for z of shape (..., d)."""
        output = self.hidden(z)[-1]
        return z + output if self.residual else output

    @property
    def operator_norms(self) -> tuple[float, ...]:
        """The largest singular value of each weight matrix."""
        return tuple(layer.operator_norm for layer in self.layers)

    @property
    def lipschitz_bound(self) -> float:
        """The product of the operator norms (plus 1 if residual), a Lipschitz constant in the 2-norm.

        It carries the rounding of the singular values. A GeLU counts with its largest slope, below 1.13.
        """
        slopes = math.prod(1.13 if name == "gelu" else 1.0 for name in self.activations)
        return math.prod(self.operator_norms) * slopes + float(self.residual)

    @property
    def unit_count(self) -> int:
        """The number of hidden units: the outputs of all layers but the last."""
        return sum(layer.outputs for layer in self.layers[:-1])

    @cached_property
    def paths(self) -> Array:
        """Whether weights that are not zero lead from an input to an output, shape (d, e), boolean; no residual."""
        result = np.eye(self.inputs, dtype=bool)
        for layer in self.layers:
            result = (result.astype(float) @ (layer.weight != 0).astype(float)) > 0
        return result

    @cached_property
    def constants(self) -> Array:
        """The outputs for z = 0, shape (e,)."""
        return self(np.zeros(self.inputs, dtype=np.int64))

    def drop_mask(self) -> Array:
        """The outputs that no input reaches and that are 0; none if there is a residual."""
        return ~self.paths.any(axis=0) & (self.constants == 0) & (not self.residual)

    def read_mask(self) -> Array:
        """The coordinates that the first layer reads."""
        return self.layers[0].read_mask()

    def write_mask(self) -> Array:
        """The coordinates that the last layer writes."""
        return self.layers[-1].write_mask()


ACTIVATIONS: dict[ActivationName, Callable[[Array], Array]] = {"relu": relu, "gelu": gelu, "identity": lambda z: z}
"""The activations of a token-wise map, by name."""
