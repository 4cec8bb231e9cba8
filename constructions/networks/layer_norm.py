"""Layer normalisation: every token is shifted and scaled to mean 0 and variance 1, then scaled and shifted again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb

from lemmata.constructions.networks.layer import Layer
from lemmata.numerics.exact.systems import Array, number_system


@dataclass(frozen=True, eq=False)
class LayerNorm(Layer):
    """The map z -> (z - mean(z)) / sqrt(var(z) + epsilon) * gain + shift, mean and variance over the d coordinates.

    Equals `torch.nn.LayerNorm(d)`. The variance is the mean of the squared deviations.

    Attributes:
        gain: shape (d,).
        shift: shape (d,).
        epsilon: a positive number.

    Raises:
        ValueError: for other shapes, or an epsilon that is not positive.
    """

    gain: Array
    shift: Array
    epsilon: Any = 1e-5

    def __post_init__(self) -> None:
        for name in ("gain", "shift"):
            object.__setattr__(self, name, np.asarray(getattr(self, name)))
        if self.gain.ndim != 1 or not self.gain.size or self.shift.shape != self.gain.shape:
            shapes = f"{self.gain.shape} and {self.shift.shape}"
            raise ValueError(f"A layer normalisation has gain (d,) and shift (d,), but the shapes are {shapes}.")
        if not self.epsilon > 0:
            raise ValueError(f"The epsilon of a layer normalisation must be positive, not {self.epsilon!r}.")

    @property
    def inputs(self) -> int:
        """The width d."""
        return len(self.gain)

    @property
    def outputs(self) -> int:
        """The width d."""
        return len(self.gain)

    def __call__(self, z: Array) -> Array:
        """The normalised tokens, of the shape (..., d) of z.

        Raises:
            ValueError: for exact numbers, whose roots are not rational.
        """
        system = number_system([z, *self.arrays()])
        if system == "exact":
            raise ValueError("The root of a variance is not rational: use balls or float64.")
        centred = z - z.sum(axis=-1, keepdims=True) / self.inputs
        variance = (centred * centred).sum(axis=-1, keepdims=True) / self.inputs
        epsilon = arb(self.epsilon) if system == "ball" else float(self.epsilon)
        return centred / np.sqrt(variance + epsilon) * self.gain + self.shift

    def read_mask(self) -> Array:
        """All coordinates, which the mean and the variance read."""
        return np.ones(self.inputs, dtype=bool)

    def write_mask(self) -> Array:
        """The coordinates with a gain or a shift that is not zero."""
        return (self.gain != 0) | (self.shift != 0)

    def drop_mask(self) -> Array:
        """The coordinates with neither gain nor shift."""
        return ~self.write_mask()
