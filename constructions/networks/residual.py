"""Layers one after the other, with a residual connection around them: pre-norm blocks, and heads that are mixed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.layer import Layer
from lemmata.numerics.exact.systems import Array


@dataclass(frozen=True, eq=False)
class Residual(Layer):
    """The map z -> z + f_l(... f_1(z)) for layers f_1, ..., f_l, for instance a normalisation and a token-wise map.

    Raises:
        ValueError: if there is no layer, if widths do not fit, or if the first token alone attends in one of them.
    """

    layers: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", tuple(self.layers))
        if not self.layers:
            raise ValueError("A residual connection goes around at least one layer.")
        if any(isinstance(layer, AttentionLayer) and layer.attending == "first" for layer in self.layers):
            raise ValueError("Where the first token alone attends, the others have no sum: no residual goes around it.")
        widths = [(before.outputs, after.inputs) for before, after in pairwise(self.layers)]
        for before, after in [*widths, (self.outputs, self.inputs)]:
            if before != after:
                raise ValueError(
                    f"Within a residual connection, a layer of width {before} meets one of width {after}: widths must "
                    "fit, those of the input and of the output too."
                )

    @property
    def inputs(self) -> int:
        """The width of the stream."""
        return self.layers[0].inputs

    @property
    def outputs(self) -> int:
        """The width of the stream."""
        return self.layers[-1].outputs

    def __call__(self, z: Array) -> Array:
        """The sum, of the shape (..., T, d) of z."""
        result = z
        for layer in self.layers:
            result = layer(result)
        return z + result

    @property
    def head_count(self) -> int:
        """The number of heads in all layers."""
        return sum(layer.head_count for layer in self.layers)

    @property
    def unit_count(self) -> int:
        """The number of hidden units in all layers."""
        return sum(layer.unit_count for layer in self.layers)

    def read_mask(self) -> Array:
        """The coordinates that the first layer reads."""
        return self.layers[0].read_mask()

    def write_mask(self) -> Array:
        """The coordinates that the last layer writes."""
        return self.layers[-1].write_mask()
