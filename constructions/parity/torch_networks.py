"""Networks for parities as torch modules; kept apart because torch is slow to import."""

from __future__ import annotations

import torch

from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.torch import WeightsModule, module_of
from lemmata.constructions.networks.torch_transformer import to_torch
from lemmata.constructions.parity.polynet import PolyNet
from lemmata.constructions.parity.quadratic import QuadraticNetwork
from lemmata.constructions.parity.transformer import ParityTransformer
from lemmata.constructions.parity.two_layer import TwoLayerNetwork

__all__ = ["PolyNetModule", "QuadraticModule", "TwoLayerModule", "to_torch"]


@module_of(TwoLayerNetwork)
class TwoLayerModule(WeightsModule):
    """activation(x @ hidden.T + bias) @ readout + output_bias, with the parameters of these names."""

    hidden: torch.Tensor
    bias: torch.Tensor
    readout: torch.Tensor
    output_bias: torch.Tensor

    def __init__(
        self, network: TwoLayerNetwork, dtype: torch.dtype | None, stream: ResidualStream | None = None
    ) -> None:
        super().__init__({name: getattr(network, name) for name in ("hidden", "bias", "readout", "output_bias")}, dtype)
        self.activation = network.activation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The outputs, shape (...), for x of shape (..., n)."""
        return self.activation(x @ self.hidden.T + self.bias) @ self.readout + self.output_bias


@module_of(PolyNet)
class PolyNetModule(WeightsModule):
    """The product of the entries of x @ weights.T + bias, with the parameters of these names."""

    weights: torch.Tensor
    bias: torch.Tensor

    def __init__(self, network: PolyNet, dtype: torch.dtype | None, stream: ResidualStream | None = None) -> None:
        super().__init__({"weights": network.weights, "bias": network.bias}, dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The outputs, shape (...), for x of shape (..., n)."""
        return (x @ self.weights.T + self.bias).prod(dim=-1)


@module_of(QuadraticNetwork)
class QuadraticModule(WeightsModule):
    """z_(L-1) @ readout + output_bias with z_i = (z_(i-1) @ W_i.T + b_i)^2; the parameters are called W_1, b_1, ..."""

    readout: torch.Tensor
    output_bias: torch.Tensor

    def __init__(
        self, network: QuadraticNetwork, dtype: torch.dtype | None, stream: ResidualStream | None = None
    ) -> None:
        depth = len(network.layers)
        layers = {f"{name}_{i + 1}": network.layers[i][part] for i in range(depth) for part, name in enumerate("Wb")}
        super().__init__({**layers, "readout": network.readout, "output_bias": network.output_bias}, dtype)
        self.depth = depth

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The outputs, shape (...), for x of shape (..., n)."""
        for i in range(1, self.depth + 1):
            x = (x @ getattr(self, f"W_{i}").T + getattr(self, f"b_{i}")) ** 2
        return x @ self.readout + self.output_bias


@module_of(ParityTransformer)
def _transformer(f: ParityTransformer, dtype: torch.dtype | None, stream: ResidualStream | None) -> torch.nn.Module:
    return to_torch(f.transformer, dtype=dtype, stream=stream)
