"""Recurrent networks, projection on a ball, clipping as torch modules; use `lemmata.constructions.networks.torch`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.projection import BallProjection, Clipping
from lemmata.constructions.networks.recurrent import Moment, RecurrentCell, RecurrentLayer
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.torch_base import LayerModule, array, module_of, parameter, to_torch


@module_of(BallProjection)
class BallProjectionModule(LayerModule):
    """r z / max(r, ||z||), with the buffer ``radius``."""

    radius: torch.Tensor

    def __init__(self, layer: BallProjection, dtype: torch.dtype | None, stream: ResidualStream | None = None) -> None:
        super().__init__(layer, stream)
        self.source = layer
        self.register_buffer("radius", parameter(layer.radius, dtype).detach())

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """Shape (..., width) for z of shape (..., width)."""
        norms = torch.linalg.vector_norm(z, dim=-1, keepdim=True)
        return z * (self.radius / norms.clamp(min=self.radius))

    def to_layer(self) -> BallProjection:
        """The layer itself."""
        return self.source


@module_of(Clipping)
class ClippingModule(LayerModule):
    """Coordinates clipped between the buffers ``lower`` and ``upper``."""

    lower: torch.Tensor
    upper: torch.Tensor

    def __init__(self, layer: Clipping, dtype: torch.dtype | None, stream: ResidualStream | None = None) -> None:
        super().__init__(layer, stream)
        self.source = layer
        for name, bound in (("lower", layer.lower), ("upper", layer.upper)):
            self.register_buffer(name, parameter(bound, dtype).detach())

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """Shape (..., width) for z of shape (..., width)."""
        return z.clamp(min=self.lower, max=self.upper)

    def to_layer(self) -> Clipping:
        """The layer itself."""
        return self.source


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

    def to_layer(self) -> Affine:
        """The map of pairs with the present weights, in float64."""
        weight = np.concatenate([array(self.state), array(self.token)])
        return Affine(weight) if self.bias is None else Affine(weight, array(self.bias))


@module_of(RecurrentCell)
class RecurrentCellModule(LayerModule):
    """One step, with the module ``transition`` and the parameter ``initial`` (None for the fixed initial state 0).

    Where the transition is a `FeedForward`, its first layer is a `PairAffineModule`.
    """

    def __init__(self, cell: RecurrentCell, dtype: torch.dtype | None, stream: ResidualStream | None = None) -> None:
        super().__init__(cell, None)
        self.transition = to_torch(cell.transition, dtype=dtype)
        if isinstance(cell.transition, FeedForward):
            layers: Any = self.transition.layers
            layers[0] = PairAffineModule(cell.transition.layers[0], cell.width, dtype)
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

    def to_layer(self) -> RecurrentCell:
        """The cell with the present weights, in float64."""
        initial = np.zeros(0) if self.initial is None else array(self.initial)
        return RecurrentCell(_layer(self.transition), self.residual, _layer(self.bound), initial)


@module_of(RecurrentLayer)
class RecurrentModule(LayerModule):
    """A recurrent layer, with the modules ``forward_cell``, ``backward_cell`` and ``readout``, or None."""

    def __init__(self, layer: RecurrentLayer, dtype: torch.dtype | None, stream: ResidualStream | None = None) -> None:
        super().__init__(layer, stream)
        self.forward_cell, self.backward_cell = (
            None if cell is None else RecurrentCellModule(cell, dtype) for cell in (layer.forward, layer.backward)
        )
        self.readout = None if layer.readout is None else to_torch(layer.readout, dtype=dtype)
        self.moment: Moment = layer.moment
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

    def to_layer(self) -> RecurrentLayer:
        """The layer with the present weights, in float64."""
        cells = (_layer(self.forward_cell), _layer(self.backward_cell))
        return RecurrentLayer(*cells, self.moment, self.keep_token, _layer(self.readout))


def _layer(module: Any) -> Any:
    return None if module is None else module.to_layer()
