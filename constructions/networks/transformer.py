"""Attention-only transformers: token embedding, fixed rows in front, attention layers, linear readout.

The rows in front of every sequence are such as a beginning-of-sequence token; the readout is applied at the tokens. The
weights live in one number system (see `constructions.networks.legacy_attention`); those that mix them are converted to
the widest: balls before floats before exact numbers.

Source: induction-heads, def-transformer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from constructions.networks.legacy_attention import AttentionLayer
from numerics.exact.balls import as_balls
from numerics.exact.numbers import to_float
from numerics.exact.systems import Arithmetic, Array, conversion, number_system, product

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, eq=False)
class AttentionTransformer:
    """An attention-only transformer over the tokens 1, ..., k, with prefix rows in front of every sequence.

    Attributes:
        embedding: shape (k, d).
        prefix: rows that precede the tokens, shape (r, d), r >= 0.
        layers: the attention layers, first to last.
        readout: P, shape (d', L), where d' is the width after the last layer.
        arithmetic: the number system, computed; all arrays are converted to it and read-only.

    Raises:
        ValueError: for widths that do not fit, or numbers that are not finite.
    """

    embedding: Array
    prefix: Array
    layers: tuple[AttentionLayer, ...]
    readout: Array
    arithmetic: Arithmetic = field(init=False)

    def __post_init__(self) -> None:
        for name in ("embedding", "prefix", "readout"):
            object.__setattr__(self, name, np.asarray(getattr(self, name)))
        object.__setattr__(self, "layers", tuple(self.layers))
        self._check_widths()
        system = number_system(self.arrays())
        object.__setattr__(self, "arithmetic", system)
        converted = self._map(conversion(system))
        for name, value in converted.items():
            object.__setattr__(self, name, value)

    @property
    def symbols(self) -> int:
        """The number k of tokens."""
        return self.embedding.shape[0]

    def arrays(self) -> list[Array]:
        """All weights."""
        heads = [array for layer in self.layers for head in layer.heads for array in head.arrays()]
        return [self.embedding, self.prefix, self.readout, *heads]

    def embed(self, x: ArrayLike) -> Array:
        """The stream before the first layer, shape (..., r + t, d), for tokens x of shape (..., t).

        Raises:
            ValueError: if x is empty, is not of integers, or has a token outside 1, ..., k.
        """
        tokens = checked_tokens(x, self.symbols)
        front = np.broadcast_to(self.prefix, (*tokens.shape[:-1], *self.prefix.shape))
        return np.concatenate([front, self.embedding[tokens - 1]], axis=-2)

    def stream(self, x: ArrayLike, layers: int | None = None) -> Array:
        """The stream after the first ``layers`` layers (all of them if None), prefix rows included."""
        z = self.embed(x)
        for layer in self.layers[:layers]:
            z = layer(z)
        return z

    def __call__(self, x: ArrayLike) -> Array:
        """The outputs at the tokens, shape (..., t, L), for tokens x of shape (..., t); see `embed` for errors."""
        return product(self.stream(x)[..., len(self.prefix) :, :], self.readout)

    def hard(self) -> AttentionTransformer:
        """The same weights with hard attention in every head."""
        layers = [
            replace(layer, heads=tuple(replace(head, normalisation="hardmax") for head in layer.heads))
            for layer in self.layers
        ]
        return replace(self, layers=tuple(layers))

    def to_float(self) -> AttentionTransformer:
        """The same transformer in float64 (midpoints of balls)."""
        return AttentionTransformer(**self._map(to_float))

    def to_balls(self) -> AttentionTransformer:
        """The same transformer in ball arithmetic, enclosed at the working precision."""
        return AttentionTransformer(**self._map(as_balls))

    def to_torch(self, context: int | None = None, dtype: torch.dtype | None = None) -> torch.nn.Module:
        """A torch module with the same weights as trainable parameters (float64 by default).

        Its forward pass takes integer tokens 1, ..., k of shape (..., t) to outputs of shape (..., t, L).

        Args:
            context: if given, every table of relative keys is padded by zeros to this many rows, so that all distances
                below it can be trained.
            dtype: of the parameters.

        Raises:
            ValueError: if a head has hard attention, which has no gradient.
        """
        from constructions.networks.legacy_torch import TorchTransformer  # torch is slow to import

        return TorchTransformer(self.to_float(), context, dtype)

    def _check_widths(self) -> None:
        if any(array.ndim != 2 for array in (self.embedding, self.prefix, self.readout)) or not self.embedding.size:
            raise ValueError("The shapes must be embedding (k, d), prefix (r, d), readout (d', L), with k, d >= 1.")
        width = self.embedding.shape[1]
        if self.prefix.shape[1] != width:
            raise ValueError(f"The prefix has width {self.prefix.shape[1]}, but the embedding has {width}.")
        for number, layer in enumerate(self.layers, start=1):
            outputs = [head.value.shape[1] for head in layer.heads]
            fits = layer.combination == "concatenate" or set(outputs) == {width}
            if any(head.query.shape[0] != width for head in layer.heads) or not fits:
                raise ValueError(f"The heads of layer {number} do not fit a stream of width {width}.")
            width = width if layer.combination == "residual" else sum(outputs)
        if self.readout.shape[0] != width:
            raise ValueError(f"The readout reads {self.readout.shape[0]} coordinates, but the stream has {width}.")

    def _map(self, convert: Callable[[Any], Array]) -> dict[str, Any]:
        """The constructor's arguments with every weight array converted and read-only."""

        def frozen(array: Array) -> Array:
            result = np.array(convert(array))  # a copy
            balls = result.ravel() if result.dtype == object else []
            finite = np.all(np.isfinite(result)) if result.dtype == np.float64 else True
            if not finite or any(isinstance(x, arb) and not x.is_finite() for x in balls):
                raise ValueError("The weights of a transformer must be finite.")
            result.flags.writeable = False
            return result

        layers = [
            replace(layer, heads=tuple(head.map(frozen) for head in layer.heads), combination=layer.combination)
            for layer in self.layers
        ]
        arrays = {name: frozen(getattr(self, name)) for name in ("embedding", "prefix", "readout")}
        return {**arrays, "layers": tuple(layers)}


def checked_tokens(x: ArrayLike, symbols: int) -> NDArray[np.int64]:
    """x as an integer array of shape (..., t), t >= 1.

    Raises:
        ValueError: if it is empty, is not of integers, or has a token outside 1, ..., symbols.
    """
    tokens = np.asarray(x)
    if tokens.ndim < 1 or tokens.size == 0:
        raise ValueError(f"A sequence must have at least one token, but the shape is {tokens.shape}.")
    if tokens.dtype.kind not in "iu":
        raise ValueError(f"Tokens must be integers 1, ..., {symbols}, not of type {tokens.dtype}.")
    foreign = sorted(set(tokens.ravel().tolist()) - set(range(1, symbols + 1)))
    if foreign:
        raise ValueError(f"Tokens must be integers 1, ..., {symbols}, but the sequence holds {foreign[:5]}.")
    return tokens.astype(np.int64)
