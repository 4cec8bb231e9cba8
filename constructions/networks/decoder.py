"""A layer of a decoder: attention to its own past inputs, attention to the encoder's outputs, a token-wise map.

With the inputs of this layer at the times 1, ..., i as ``history`` and the encoder's outputs as ``encoded``, the token
z_i, shape (d,), becomes

    F(z''),     z'' = z' + cross(z', encoded),     z' = z_i + own(z_i, history),

where own and cross are heads with a null pair, so that an empty memory is allowed: at time 0 there is nothing but the
null pair. An attention that is left out is the identity, like the head of which all weights are zero
(`identity_attention`): its scores all tie at 0 and its values are 0.

Source: turing, definition-transformer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.layer import Layer
from lemmata.numerics.exact.systems import Array


@dataclass(frozen=True, eq=False)
class DecoderLayer(Layer):
    """One layer of a decoder; see the docstring of this module.

    Attributes:
        name: what the layer is called in tables.
        self_attention: own, or None for the identity.
        cross_attention: cross, or None for the identity.
        feed_forward: F, without a residual.

    Raises:
        ValueError: for widths that do not fit, a residual, or a head without a null pair, with relative keys or with an
            output map.
    """

    kind: ClassVar[str] = "decoder"

    name: str
    self_attention: Head | None
    cross_attention: Head | None
    feed_forward: FeedForward

    def __post_init__(self) -> None:
        if self.feed_forward.residual:
            raise ValueError("The token-wise map of a decoder's layer comes without a residual.")
        width = self.feed_forward.inputs
        for head in self.attentions():
            if head.null is None or len(head.relative_keys) or head.output is not None:
                raise ValueError("A head of a decoder has a null pair, no relative keys and no output map.")
            if (head.inputs, head.outputs) != (width, width):
                raise ValueError(
                    f"A head maps {head.inputs} to {head.outputs} coordinates in a layer of width {width}."
                )

    def attentions(self) -> tuple[Head, ...]:
        """The heads that are not the identity."""
        return tuple(head for head in (self.self_attention, self.cross_attention) if head is not None)

    def __call__(
        self, z: Array, history: Array, encoded: Array, *, past: Array | None = None, given: Array | None = None
    ) -> Array:
        """The outputs for tokens z, shape (..., T, d).

        Args:
            z: shape (..., T, d).
            history: the memory of self-attention, shape (..., n, d).
            encoded: the memory of the attention to the encoder, shape (..., m, d).
            past: which of the history each token sees, shape broadcastable to (..., T, n); all of it if None.
            given: which of the encoder's outputs exist, shape broadcastable to (..., T, m); all if None.

        Raises:
            ValueError: as `Head`.
        """
        parts = ((self.self_attention, history, past), (self.cross_attention, encoded, given))
        for head, memory, visible in parts:
            if head is not None:
                z = z + head(z, memory, visible)
        return self.feed_forward(z)

    @property
    def attends_to(self) -> str:
        """ "self", "encoder", "self and encoder", or "-"."""
        parts = (("self", self.self_attention), ("encoder", self.cross_attention))
        return " and ".join(name for name, head in parts if head is not None) or "-"

    @property
    def head_count(self) -> int:
        """The number of heads that are not the identity."""
        return len(self.attentions())

    @property
    def unit_count(self) -> int:
        """The number of hidden units of the token-wise map."""
        return self.feed_forward.unit_count

    def read_mask(self) -> Array:
        """What the heads read, and what the token-wise map carries from a coordinate to another one."""
        read = [head.read_mask() for head in self.attentions()]
        return np.any([*read, self._mixed().any(axis=1)], axis=0)

    def write_mask(self) -> Array:
        """What the heads write, and where the token-wise map puts other coordinates or a constant."""
        written = [head.write_mask() for head in self.attentions()]
        return np.any([*written, self._mixed().any(axis=0), self.feed_forward.constants != 0], axis=0)

    def drop_mask(self) -> Array:
        """What the token-wise map leaves out."""
        return self.feed_forward.drop_mask()

    def _mixed(self) -> Array:
        """The paths through the token-wise map from a coordinate to another one; the others stand for a residual."""
        return self.feed_forward.paths & ~np.eye(self.feed_forward.inputs, dtype=bool)


def identity_attention(width: int, keys: int = 1) -> Head:
    """The head with all weights zero: it adds nothing to its query.

    Args:
        width: d.
        keys: the key dimension.
    """

    def zero(outputs: int) -> Affine:
        return Affine(np.zeros((width, outputs), dtype=np.int64), np.zeros(outputs, dtype=np.int64))

    null = zero(keys).bias, zero(width).bias
    return Head(zero(keys), zero(keys), zero(width), weigh="hardmax", null=null, gap=1)
