"""Affine maps z W + b of row vectors, with or without a bias."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from lemmata.constructions.networks.layer import Layer
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.systems import Array, product


@dataclass(frozen=True, eq=False)
class Affine(Layer):
    """The map z -> z W + b, with d inputs and e outputs.

    Attributes:
        weight: W, shape (d, e).
        bias: b, shape (e,); none if it is not given, and then of shape (0,).
        fixed: whether the map belongs to the architecture, so that its entries are no weights: they are not counted,
            normed or trained.

    Raises:
        ValueError: for shapes that do not fit.
    """

    kind: ClassVar[str] = "affine"

    weight: Array
    bias: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    fixed: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("weight", "bias"):
            object.__setattr__(self, name, np.asarray(getattr(self, name)))
        W, b = self.weight.shape, self.bias.shape
        if len(W) != 2 or b not in ((0,), W[1:]):
            raise ValueError(f"An affine layer has weight (d, e) and bias (e,), but the shapes are {W} and {b}.")

    @staticmethod
    def of(part: Affine | ArrayLike) -> Affine:
        """The map itself, or that of a matrix W, without a bias."""
        return part if isinstance(part, Affine) else Affine(np.asarray(part))

    @staticmethod
    def identity(width: int) -> Affine:
        """The fixed map z -> z."""
        return Affine(np.eye(width, dtype=np.int64), fixed=True)

    def arrays(self) -> tuple[Array, ...]:
        """The weight and the bias; none of a fixed map."""
        return () if self.fixed else super().arrays()

    @property
    def inputs(self) -> int:
        """The width d of the input."""
        return self.weight.shape[0]

    @property
    def outputs(self) -> int:
        """The width e of the output."""
        return self.weight.shape[1]

    @property
    def offset(self) -> Array:
        """b, shape (e,), of zeros if the map has no bias."""
        return self.bias if self.bias.size else np.zeros(self.outputs, dtype=np.int64)

    def __call__(self, z: Array) -> Array:
        """z W + b, shape (..., e), for z of shape (..., d).

        Raises:
            ValueError: if z has another width.
        """
        if z.shape[-1] != self.inputs:
            raise ValueError(f"The vectors have {z.shape[-1]} coordinates, but the map reads {self.inputs}.")
        result = product(z, self.weight)
        return result + self.bias if self.bias.size else result

    @property
    def operator_norm(self) -> float:
        """The largest singular value of the weight W, without the bias, in float64 (relative error a few d eps)."""
        return float(np.linalg.norm(to_float(self.weight), 2)) if self.weight.size else 0.0

    def read_mask(self) -> Array:
        """The coordinates with a weight that is not zero, shape (d,)."""
        return (self.weight != 0).any(axis=1)

    def write_mask(self) -> Array:
        """The outputs with a weight or a bias that is not zero, shape (e,)."""
        written = (self.weight != 0).any(axis=0)
        return written | (self.bias != 0) if self.bias.size else written
