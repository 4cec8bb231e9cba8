"""Attention layers: heads side by side, summed into the residual stream, or summed or concatenated without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.layer import Layer
from lemmata.numerics.exact.systems import Array

Combination = Literal["residual", "sum", "concatenate"]
Attending = Literal["all", "first"]


@dataclass(frozen=True, eq=False)
class AttentionLayer(Layer):
    """Heads that read one stream.

    Attributes:
        heads: at least one.
        combination: "residual" adds all outputs to the stream, "sum" adds them without it, "concatenate" puts them side
            by side, without it.
        attending: "all" tokens, or the "first" alone (a class token), so that one token is left.

    Raises:
        ValueError: if there is no head, an unknown combination or choice of tokens, widths that do not fit, or a causal
            head where the first token alone attends, which would see nothing but itself.
    """

    kind: ClassVar[str] = "attention"

    heads: tuple[Head, ...]
    combination: Combination = "residual"
    attending: Attending = "all"

    def __post_init__(self) -> None:
        object.__setattr__(self, "heads", tuple(self.heads))
        if not self.heads or self.combination not in get_args(Combination) or self.attending not in get_args(Attending):
            raise ValueError(
                "A layer needs at least one head, the combination residual, sum or concatenate, and all or the first "
                f"of the tokens attending, not {len(self.heads)} heads, {self.combination!r} and {self.attending!r}."
            )
        widths = {head.inputs for head in self.heads} | {head.value.inputs for head in self.heads}
        if len(widths) > 1:
            raise ValueError(f"The heads of a layer read one stream, but read tokens of widths {sorted(widths)}.")
        outputs = {head.outputs for head in self.heads}
        if self.combination == "residual" and outputs != widths:
            raise ValueError(f"Heads on a stream of width {self.inputs} add vectors of widths {sorted(outputs)} to it.")
        if self.combination == "sum" and len(outputs) > 1:
            raise ValueError(f"Heads that are added have outputs of one width, not of the widths {sorted(outputs)}.")
        if self.attending == "first" and any(head.causal or len(head.relative_keys) for head in self.heads):
            raise ValueError("Where the first token alone attends, heads are not causal and have no relative keys.")

    @property
    def inputs(self) -> int:
        """The width of the stream before the layer."""
        return self.heads[0].inputs

    @property
    def outputs(self) -> int:
        """The width of the stream after the layer."""
        widths = [head.outputs for head in self.heads]
        return sum(widths) if self.combination == "concatenate" else widths[0]

    def __call__(self, z: Array) -> Array:
        """The stream after the layer, shape (..., T, d') for z of shape (..., T, d); T is 1 if the first attends."""
        if self.attending == "first":
            first = z[..., :1, :]
            outputs = [head(first, memory=z) for head in self.heads]
        else:
            first = z
            outputs = [head(z) for head in self.heads]
        return self.join(first, outputs)

    def join(self, z: Array, outputs: Sequence[Array]) -> Array:
        """The stream after the layer, from the attending tokens z and the outputs of the heads."""
        if self.combination == "concatenate":
            return np.concatenate(outputs, axis=-1)
        return sum(outputs[1:], start=outputs[0]) if self.combination == "sum" else sum(outputs, start=z)

    @property
    def head_count(self) -> int:
        """The number of heads."""
        return len(self.heads)

    def read_mask(self) -> Array:
        """The coordinates that some head reads."""
        return np.any([head.read_mask() for head in self.heads], axis=0)

    def write_mask(self) -> Array:
        """The coordinates that some head writes; head by head if they are concatenated."""
        masks = [head.write_mask() for head in self.heads]
        return np.concatenate(masks) if self.combination == "concatenate" else np.any(masks, axis=0)
