"""Layers as torch modules: the same weights, as parameters that can be trained; one dispatch over the types of layers.

`to_torch(layer)` gives the module of any layer of the vocabulary; other rooms register theirs. Modules print the shapes
of their weights, and the blocks that they read and write if the stream is given. Kept apart because torch is slow to
import; constructions import it where `to_torch` is called.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from constructions.networks.affine import Affine
from constructions.networks.attention import AttentionLayer
from constructions.networks.feed_forward import FeedForward
from constructions.networks.head import Head
from constructions.networks.layer import Layer
from constructions.networks.multiplication import Multiplication
from constructions.networks.projection import BallProjection, Clipping
from constructions.networks.recurrent import RecurrentCell, RecurrentLayer
from constructions.networks.stored import StoredAttention, StoredFeedForward, StoredMultiplication
from constructions.networks.stream import ResidualStream
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


def parameter(array: ArrayLike, dtype: torch.dtype | None) -> torch.nn.Parameter:
    """The array as a parameter, float64 by default."""
    number = torch.float64 if dtype is None else dtype
    return torch.nn.Parameter(torch.tensor(to_float(np.asarray(array)), dtype=number))


class LayerModule(torch.nn.Module):
    """The base of the modules of layers: it prints shapes, and names of blocks where the stream is known."""

    def __init__(self, layer: Layer, stream: ResidualStream | None) -> None:
        super().__init__()
        self.touched = "" if stream is None else _touched(layer, stream)

    def extra_repr(self) -> str:
        """The shapes of the module's own parameters, and what it reads and writes."""
        shapes = [f"{name} {tuple(part.shape)}" for name, part in self.named_parameters(recurse=False)]
        return ", ".join(shapes) + ("; " if shapes and self.touched else "") + self.touched


class AffineModule(LayerModule):
    """z W + b with the parameters ``weight`` and, if there is one, ``bias``; buffers where the map is fixed."""

    weight: torch.Tensor
    bias: torch.Tensor | None

    def __init__(self, layer: Affine, dtype: torch.dtype | None, stream: ResidualStream | None = None) -> None:
        super().__init__(layer, None)
        parts = {"weight": layer.weight, "bias": layer.bias if layer.bias.size else None}
        for name, array in parts.items():
            held = None if array is None else parameter(array, dtype)
            if layer.fixed:
                self.register_buffer(name, None if held is None else held.detach())
            else:
                self.register_parameter(name, held)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """Shape (..., e) for z of shape (..., d)."""
        return z @ self.weight if self.bias is None else z @ self.weight + self.bias


class HeadModule(LayerModule):
    """A head; the hard maximum (ties within gap/2 averaged) is differentiable in the values alone.

    Its parts are the modules ``query``, ``key``, ``value`` and ``output``, its parameters ``relative_keys``,
    ``null_key`` and ``null_value``; those that the head lacks are None.
    """

    def __init__(
        self, head: Head, dtype: torch.dtype | None, stream: ResidualStream | None = None, context: int | None = None
    ) -> None:
        super().__init__(head, stream)
        if head.weigh == "hardmax" and head.gap is None:
            raise ValueError("Hard attention as a torch module needs a proven gap: give the head one, or use softmax.")
        self.query, self.key, self.value = (AffineModule(part, dtype) for part in (head.query, head.key, head.value))
        self.output = None if head.output is None else AffineModule(head.output, dtype)
        self.relative_keys = _padded(head.relative_keys, context, dtype)
        null = (None, None) if head.null is None else head.null
        self.null_key, self.null_value = (None if part is None else parameter(part, dtype) for part in null)
        self.weigh, self.causal = head.weigh, head.causal
        self.scale = float(to_float([head.sharpness])[0]) / math.sqrt(head.temperature_squared)
        self.tie_width = None if head.gap is None else float(to_float([head.gap])[0]) / 2

    def forward(
        self, z: torch.Tensor, memory: torch.Tensor | None = None, visible: torch.Tensor | None = None
    ) -> torch.Tensor:
        """The output of the head, shape (..., T, e), for z (..., T, d); memory and visible as for `Head`."""
        attended = z if memory is None else memory
        if memory is None and self.causal:
            past = torch.ones(z.shape[-2], z.shape[-2], dtype=torch.bool, device=z.device).tril()
            visible = past if visible is None else past & visible
        return self.attend(z, self.key(attended), self.value(attended), visible)

    def attend(
        self, z: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, visible: torch.Tensor | None = None
    ) -> torch.Tensor:
        """The output for projected keys (..., n, m) and values (..., n, e'); a decoder keeps those of earlier steps."""
        p = self.weights(z, keys, visible)
        result = p @ values if self.null_value is None else p[..., :1] * self.null_value + p[..., 1:] @ values
        return result if self.output is None else self.output(result)

    def weights(self, z: torch.Tensor, keys: torch.Tensor, visible: torch.Tensor | None = None) -> torch.Tensor:
        """The attention weights, shape (..., T, n), the null pair's in front if there is one."""
        scores = self._scores(z, keys)
        if visible is not None and self.null_key is not None:
            visible = torch.nn.functional.pad(visible, (1, 0), value=True)
        if self.weigh == "relu":
            kept = torch.relu(scores * self.scale)
            if visible is None:
                return kept / scores.shape[-1]
            return torch.where(visible, kept, 0.0) / visible.sum(dim=-1, keepdim=True)
        if visible is not None:
            scores = scores.masked_fill(~visible, -math.inf)
        if self.tie_width is not None and self.weigh == "hardmax":
            tied = scores >= scores.max(dim=-1, keepdim=True).values - self.tie_width
            return tied.to(z.dtype) / tied.sum(dim=-1, keepdim=True)
        return torch.softmax(scores * self.scale, dim=-1)

    def _scores(self, z: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        queries = self.query(z)
        scores = queries @ keys.transpose(-1, -2)
        if self.relative_keys is not None:
            n = keys.shape[-2]
            places = torch.arange(n, device=z.device)
            distance = places[n - z.shape[-2] :, None] - places
            known = (distance >= 0) & (distance < len(self.relative_keys))
            index = torch.where(known, distance, 0).expand(scores.shape)
            by_distance = (queries @ self.relative_keys.T).gather(-1, index)
            scores = scores + torch.where(known, by_distance, 0.0)
        if self.null_key is not None:
            scores = torch.cat([(queries @ self.null_key)[..., None], scores], dim=-1)
        return scores


class AttentionModule(LayerModule):
    """A layer of heads, as ``heads``."""

    def __init__(
        self,
        layer: AttentionLayer,
        dtype: torch.dtype | None,
        stream: ResidualStream | None = None,
        context: int | None = None,
    ) -> None:
        super().__init__(layer, stream)
        self.heads = torch.nn.ModuleList(HeadModule(head, dtype, stream, context) for head in layer.heads)
        self.residual, self.first = layer.combination == "residual", layer.attending == "first"

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """The stream after the layer, shape (..., T, d')."""
        own = z[..., :1, :] if self.first else z
        outputs = [head(own, z) if self.first else head(z) for head in self.heads]
        return own + torch.stack(outputs).sum(dim=0) if self.residual else torch.cat(outputs, dim=-1)


class FeedForwardModule(LayerModule):
    """Affine layers, as ``layers``, with their activations."""

    def __init__(self, layer: FeedForward, dtype: torch.dtype | None, stream: ResidualStream | None = None) -> None:
        super().__init__(layer, stream)
        self.layers = torch.nn.ModuleList(AffineModule(part, dtype) for part in layer.layers)
        self.activations, self.residual = layer.activations, layer.residual

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """Shape (..., e) for z of shape (..., d)."""
        result = z
        for affine, name in zip(self.layers, self.activations, strict=True):
            result = ACTIVATIONS[name](affine(result))
        return z + result if self.residual else result


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


def _padded(table: np.ndarray, context: int | None, dtype: torch.dtype | None) -> torch.nn.Parameter | None:
    """The table of relative keys with zero rows up to the context; None without rows."""
    rows = max(len(table), context or 0)
    if not rows:
        return None
    padded = np.zeros((rows, table.shape[1]))
    padded[: len(table)] = to_float(table)
    return parameter(padded, dtype)


def _touched(layer: Layer, stream: ResidualStream) -> str:
    parts = (("reads", layer.reads(stream)), ("writes", layer.writes(stream)))
    return "; ".join(f"{verb} {', '.join(names)}" for verb, names in parts if names)


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
    (BallProjection, BallProjectionModule),
    (Clipping, ClippingModule),
    (RecurrentCell, RecurrentCellModule),
    (RecurrentLayer, RecurrentModule),
):
    to_torch.register(_layer, _built_by(_module))
