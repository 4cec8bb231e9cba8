"""Layers as torch modules: the same weights, as parameters that can be trained; one dispatch over the types of layers.

`to_torch(layer)` gives the module of any layer of the vocabulary; other rooms register theirs. Modules print the shapes
of their weights, and the blocks that they read and write if the stream is given. Kept apart because torch is slow to
import; constructions import it where `to_torch` is called.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np
import torch

from constructions.networks.affine import Affine
from constructions.networks.attention import AttentionLayer
from constructions.networks.decoder import DecoderLayer
from constructions.networks.feed_forward import FeedForward
from constructions.networks.head import Head
from constructions.networks.layer_norm import LayerNorm
from constructions.networks.multiplication import Multiplication
from constructions.networks.projection import BallProjection, Clipping
from constructions.networks.recurrent import RecurrentCell, RecurrentLayer
from constructions.networks.residual import Residual
from constructions.networks.stored import StoredAttention, StoredFeedForward, StoredMultiplication
from constructions.networks.stream import ResidualStream
from constructions.networks.torch_attention import AttentionModule, HeadModule
from constructions.networks.torch_base import AffineModule, LayerModule, array, parameter
from numerics.exact.numbers import to_float

_LARGEST = 2**27  # float64 numbers in one stack of matrices, 1 GiB
ACTIVATIONS = {"relu": torch.relu, "gelu": torch.nn.functional.gelu, "identity": lambda z: z}


@singledispatch
def to_torch(layer: Any, *, dtype: torch.dtype | None = None, stream: ResidualStream | None = None) -> torch.nn.Module:
    """The torch module of a layer: a function of the same tensors, with the weights as parameters.

    Args:
        layer: of any type of the vocabulary, or a tuple of layers, one after the other; balls count with their
            midpoints.
        dtype: of the parameters, float64 by default.
        stream: if given, the module prints the names of the blocks that the layer reads and writes.

    Raises:
        TypeError: for something that is no layer with a torch module.
        ValueError: if a head has hard attention without a proven gap, for then rounding may make or break a tie.
    """
    raise TypeError(f"There is no torch module of a {type(layer).__name__}: give a layer of constructions.networks.")


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


class StackedAttentionModule(LayerModule):
    """ReLU heads side by side: ``query``, ``key`` of shape (H, d, m), padded by zeros, and ``value`` (H, d, d)."""

    def __init__(self, layer: StoredAttention, dtype: torch.dtype | None, stream: ResidualStream | None = None) -> None:
        super().__init__(layer, stream)
        heads = _dense(layer.map(to_float)).heads
        self.query, self.key, self.value = (
            _stacked([getattr(head, name).weight for head in heads], dtype) for name in ("query", "key", "value")
        )

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """The stream after the layer, shape (..., T, d)."""
        by_head = z.unsqueeze(-3)
        scores = (by_head @ self.query) @ (by_head @ self.key).transpose(-1, -2)
        return z + (torch.relu(scores) @ (by_head @ self.value)).sum(dim=-3) / z.shape[-2]


class BallProjectionModule(LayerModule):
    """r z / max(r, ||z||), with the buffer ``radius``."""

    radius: torch.Tensor

    def __init__(self, layer: BallProjection, dtype: torch.dtype | None, stream: ResidualStream | None = None) -> None:
        super().__init__(layer, stream)
        self.register_buffer("radius", parameter(layer.radius, dtype).detach())

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """Shape (..., width) for z of shape (..., width)."""
        norms = torch.linalg.vector_norm(z, dim=-1, keepdim=True)
        return z * (self.radius / norms.clamp(min=self.radius))


class ClippingModule(LayerModule):
    """Coordinates clipped between the buffers ``lower`` and ``upper``."""

    lower: torch.Tensor
    upper: torch.Tensor

    def __init__(self, layer: Clipping, dtype: torch.dtype | None, stream: ResidualStream | None = None) -> None:
        super().__init__(layer, stream)
        for name, bound in (("lower", layer.lower), ("upper", layer.upper)):
            self.register_buffer(name, parameter(bound, dtype).detach())

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """Shape (..., width) for z of shape (..., width)."""
        return z.clamp(min=self.lower, max=self.upper)


class PairAffineModule(LayerModule):
    """h W + z A + b on the pair (h, z), with the parameters ``state`` (W), ``token`` (A) and ``bias`` (or None).

    W alone is trained where the others have ``requires_grad_(False)``.
    """

    def __init__(self, layer: Affine, width: int, dtype: torch.dtype | None) -> None:
        super().__init__(layer, None)
        self.state, self.token = (parameter(part, dtype) for part in (layer.weight[:width], layer.weight[width:]))
        self.bias = parameter(layer.bias, dtype) if layer.bias.size else None

    def forward(self, pair: torch.Tensor) -> torch.Tensor:
        """Shape (..., e) for a pair of shape (..., m + d)."""
        width = len(self.state)
        result = pair[..., :width] @ self.state + pair[..., width:] @ self.token
        return result if self.bias is None else result + self.bias


class RecurrentCellModule(LayerModule):
    """One step, with the module ``transition`` and the parameter ``initial`` (None for the fixed initial state 0).

    Where the transition is a `FeedForward`, its first layer is a `PairAffineModule`.
    """

    def __init__(self, cell: RecurrentCell, dtype: torch.dtype | None, stream: ResidualStream | None = None) -> None:
        super().__init__(cell, None)
        self.transition = to_torch(cell.transition, dtype=dtype)
        if isinstance(cell.transition, FeedForward) and isinstance(self.transition, FeedForwardModule):
            self.transition.layers[0] = PairAffineModule(cell.transition.layers[0], cell.width, dtype)
        self.bound = None if cell.bound is None else to_torch(cell.bound, dtype=dtype)
        self.initial = parameter(cell.initial, dtype) if cell.initial.size else None
        self.residual, self.width = cell.residual, cell.width

    def forward(self, h: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        """The next state, shape (..., m), for h (..., m) and z (..., d)."""
        result = self.transition(torch.cat([h, z], dim=-1))
        if self.residual:
            result = h + result
        return result if self.bound is None else self.bound(result)

    def states(self, z: torch.Tensor) -> torch.Tensor:
        """The states before the first token and after each, shape (..., T + 1, m), for z (..., T, d)."""
        shape = (*z.shape[:-2], self.width)
        result = [z.new_zeros(shape) if self.initial is None else self.initial.expand(shape)]
        for place in range(z.shape[-2]):
            result.append(self(result[-1], z[..., place, :]))
        return torch.stack(result, dim=-2)


class RecurrentModule(LayerModule):
    """A recurrent layer, with the modules ``forward_cell``, ``backward_cell`` and ``readout``, or None."""

    def __init__(self, layer: RecurrentLayer, dtype: torch.dtype | None, stream: ResidualStream | None = None) -> None:
        super().__init__(layer, stream)
        self.forward_cell, self.backward_cell = (
            None if cell is None else RecurrentCellModule(cell, dtype) for cell in (layer.forward, layer.backward)
        )
        self.readout = None if layer.readout is None else to_torch(layer.readout, dtype=dtype)
        self.chosen = slice(1, None) if layer.moment == "after" else slice(None, -1)
        self.keep_token = layer.keep_token

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """The output at every token, shape (..., T, e), for z (..., T, d)."""
        parts = []
        if self.forward_cell is not None:
            parts.append(self.forward_cell.states(z)[..., self.chosen, :])
        if self.backward_cell is not None:
            parts.append(self.backward_cell.states(z.flip(-2))[..., self.chosen, :].flip(-2))
        collected = torch.cat([*parts, z] if self.keep_token else parts, dim=-1)
        return collected if self.readout is None else self.readout(collected)


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


@to_torch.register
def _(layers: tuple, *, dtype: torch.dtype | None = None, stream: ResidualStream | None = None) -> torch.nn.Sequential:
    return torch.nn.Sequential(*(to_torch(layer, dtype=dtype, stream=stream) for layer in layers))


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


def _stacked(matrices: list[np.ndarray], dtype: torch.dtype | None) -> torch.nn.Parameter:
    """Matrices (d, m) of any m as one parameter (H, d, largest m), with zeros behind the smaller ones."""
    largest = max(matrix.shape[1] for matrix in matrices)
    return parameter(np.stack([np.pad(matrix, ((0, 0), (0, largest - matrix.shape[1]))) for matrix in matrices]), dtype)


def _built_by(module: Callable[[Any, torch.dtype | None, ResidualStream | None], LayerModule]) -> Callable[..., Any]:
    def build(layer: Any, *, dtype: torch.dtype | None = None, stream: ResidualStream | None = None) -> LayerModule:
        return module(layer, dtype, stream)

    return build


for _layer, _module in (
    (Affine, AffineModule),
    (Head, HeadModule),
    (AttentionLayer, AttentionModule),
    (FeedForward, FeedForwardModule),
    (Multiplication, MultiplicationModule),
    (StoredAttention, StackedAttentionModule),
    (StoredFeedForward, lambda layer, dtype, stream: FeedForwardModule(_dense(layer), dtype, stream)),
    (StoredMultiplication, lambda layer, dtype, stream: MultiplicationModule(_dense(layer), dtype, stream)),
    (LayerNorm, LayerNormModule),
    (Residual, ResidualModule),
    (BallProjection, BallProjectionModule),
    (Clipping, ClippingModule),
    (RecurrentCell, RecurrentCellModule),
    (RecurrentLayer, RecurrentModule),
    (DecoderLayer, DecoderModule),
):
    to_torch.register(_layer, _built_by(_module))
