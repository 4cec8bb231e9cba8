"""Layers as torch modules: the same weights, as parameters that can be trained; one dispatch over the types of layers.

`to_torch(layer)` gives the module of any layer of the vocabulary; other rooms register theirs. Modules print the shapes
of their weights, and the blocks that they read and write if the stream is given. Kept apart because torch is slow to
import; constructions import it where `to_torch` is called.
"""

from __future__ import annotations

from typing import Any

import torch

from lemmata.constructions.networks.decoder import DecoderLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.layer_norm import LayerNorm
from lemmata.constructions.networks.multiplication import Multiplication
from lemmata.constructions.networks.residual import Residual
from lemmata.constructions.networks.stored import StoredAttention, StoredFeedForward, StoredMultiplication
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.torch_attention import AttentionModule, HeadModule
from lemmata.constructions.networks.torch_base import (
    AffineModule,
    LayerModule,
    ShownModule,
    WeightsModule,
    array,
    module_of,
    parameter,
    to_torch,
)
from lemmata.constructions.networks.torch_recurrent import (
    BallProjectionModule,
    ClippingModule,
    RecurrentCellModule,
    RecurrentModule,
)
from lemmata.numerics.exact.numbers import to_float

__all__ = [
    "AffineModule",
    "AttentionModule",
    "BallProjectionModule",
    "ClippingModule",
    "DecoderModule",
    "FeedForwardModule",
    "HeadModule",
    "HomogeneousModule",
    "LayerModule",
    "LayerNormModule",
    "MultiplicationModule",
    "RecurrentCellModule",
    "RecurrentModule",
    "ResidualModule",
    "ShownModule",
    "WeightsModule",
    "array",
    "module_of",
    "parameter",
    "to_torch",
]

_LARGEST = 2**27  # float64 numbers in one stack of matrices, 1 GiB
ACTIVATIONS = {"relu": torch.relu, "gelu": torch.nn.functional.gelu, "identity": lambda z: z}


@module_of(FeedForward)
class FeedForwardModule(LayerModule):
    """Affine layers, as ``layers``, with their activations."""

    def __init__(self, layer: FeedForward, dtype: torch.dtype | None, stream: ResidualStream | None = None) -> None:
        super().__init__(layer, stream)
        self.layers: Any = torch.nn.ModuleList(AffineModule(part, dtype) for part in layer.layers)
        self.activations, self.residual = layer.activations, layer.residual

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """Shape (..., e) for z of shape (..., d)."""
        result = z
        for affine, name in zip(self.layers, self.activations, strict=True):
            result = ACTIVATIONS[name](affine(result))
        return z + result if self.residual else result

    def to_layer(self) -> FeedForward:
        """The layer with the present weights, in float64."""
        return FeedForward(tuple(part.to_layer() for part in self.layers), self.residual, self.activations)


@module_of(LayerNorm)
class LayerNormModule(LayerModule):
    """A layer normalisation with the parameters ``gain`` and ``shift``."""

    def __init__(
        self, layer: LayerNorm, dtype: torch.dtype | None = None, stream: ResidualStream | None = None
    ) -> None:
        super().__init__(layer, stream)
        self.gain, self.shift = parameter(layer.gain, dtype), parameter(layer.shift, dtype)
        self.epsilon = float(layer.epsilon)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """Of the shape (..., d) of z."""
        return torch.nn.functional.layer_norm(z, self.gain.shape, self.gain, self.shift, self.epsilon)

    def to_layer(self) -> LayerNorm:
        """The layer with the present weights, in float64."""
        return LayerNorm(array(self.gain), array(self.shift), self.epsilon)


@module_of(Residual)
class ResidualModule(LayerModule):
    """Layers one after the other, as ``layers``, with a residual connection around them."""

    def __init__(self, layer: Residual, dtype: torch.dtype | None = None, stream: ResidualStream | None = None) -> None:
        super().__init__(layer, stream)
        self.layers: Any = torch.nn.ModuleList(to_torch(part, dtype=dtype) for part in layer.layers)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """Of the shape (..., T, d) of z."""
        result = z
        for layer in self.layers:
            result = layer(result)
        return z + result

    def to_layer(self) -> Residual:
        """The layers with the present weights, in float64."""
        return Residual(tuple(layer.to_layer() for layer in self.layers))


@module_of(Multiplication)
class MultiplicationModule(LayerModule):
    """A layer of element-wise multiplication; ``query``, ``key`` of shape (H, d, m), ``value`` of shape (H, d, d)."""

    def __init__(self, layer: Multiplication, dtype: torch.dtype | None, stream: ResidualStream | None = None) -> None:
        super().__init__(layer, stream)
        self.query, self.key, self.value = (parameter(part, dtype) for part in layer.arrays())

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """The stream after the layer, shape (..., T, d)."""
        by_head = z.unsqueeze(-3)
        products = ((by_head @ self.query) * (by_head @ self.key)).sum(dim=-1, keepdim=True)
        return z + (products * (by_head @ self.value)).sum(dim=-3)


@module_of(DecoderLayer)
class DecoderModule(LayerModule):
    """A layer of a decoder, with the modules ``own`` and ``cross`` (None for the identity) and ``feed_forward``."""

    def __init__(self, layer: DecoderLayer, dtype: torch.dtype | None, stream: ResidualStream | None = None) -> None:
        super().__init__(layer, stream)
        heads = (layer.self_attention, layer.cross_attention)
        self.own, self.cross = (None if head is None else HeadModule(head, dtype) for head in heads)
        self.feed_forward = FeedForwardModule(layer.feed_forward, dtype)

    def forward(
        self,
        z: torch.Tensor,
        history: tuple[torch.Tensor, torch.Tensor] | None,
        encoded: tuple[torch.Tensor, torch.Tensor] | None,
        given: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Shape (..., T, d), for z (..., T, d) and the projected keys and values of both memories.

        A memory is None where there is no such attention; ``given`` says which of the encoder's outputs exist, shape
        broadcastable to (..., T, m).

        Raises:
            ValueError: for a head without a memory.
        """
        for head, memory, visible in ((self.own, history, None), (self.cross, encoded, given)):
            if head is None:
                continue
            if memory is None:
                raise ValueError("Every attention of a decoder needs the keys and values of its memory.")
            z = z + head.attend(z, *memory, visible)
        return self.feed_forward(z)


@module_of(StoredAttention)
def _attention(layer: Any, dtype: torch.dtype | None, stream: ResidualStream | None) -> torch.nn.Module:
    return AttentionModule(_dense(layer.map(to_float)), dtype, stream)  # floats take less than exact matrices


@module_of(StoredFeedForward)
def _feed_forward(layer: Any, dtype: torch.dtype | None, stream: ResidualStream | None) -> torch.nn.Module:
    return FeedForwardModule(_dense(layer), dtype, stream)


@module_of(StoredMultiplication)
def _multiplication(layer: Any, dtype: torch.dtype | None, stream: ResidualStream | None) -> torch.nn.Module:
    return MultiplicationModule(_dense(layer), dtype, stream)


@module_of(tuple)
def _one_after_the_other(layers: Any, dtype: torch.dtype | None, stream: ResidualStream | None) -> torch.nn.Module:
    return torch.nn.Sequential(*(to_torch(layer, dtype=dtype, stream=stream) for layer in layers))


@module_of(HomogeneousNetwork)
class HomogeneousModule(WeightsModule):
    """((x @ hidden.T)^k) @ readout; the parameters ``hidden`` (m, D) and ``readout`` (m, L) are the actual weights."""

    hidden: torch.Tensor
    readout: torch.Tensor

    def __init__(
        self, network: HomogeneousNetwork, dtype: torch.dtype | None = None, stream: ResidualStream | None = None
    ) -> None:
        super().__init__(dict(zip(("hidden", "readout"), network.weights(), strict=True)), dtype)
        self.degree = network.degree

    def extra_repr(self) -> str:
        """The shapes, and the function of them."""
        return f"{super().extra_repr()}; (x @ hidden.T)^{self.degree} @ readout"

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Shape (..., L) for x of shape (..., D)."""
        return ((x @ self.hidden.T) ** self.degree) @ self.readout


def _dense(layer: Any) -> Any:
    """The layer for which a stored form stands; ValueError if its matrices would not fit."""
    parts, width = max(layer.head_count, layer.unit_count), layer.stream.width
    entries = parts * width ** (2 if layer.head_count else 1)
    if entries > _LARGEST:
        raise ValueError(
            f"A layer of {parts} heads or units of width {width} has {entries} entries as matrices, more than "
            f"{_LARGEST}: use the forward pass of the layer, which stores what they share."
        )
    return layer.dense()
