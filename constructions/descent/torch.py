"""The block of in-context gradient descent as a torch module: every head as three matrices, trainable.

Kept apart because torch is slow to import; use `DescentBlock.to_torch`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from constructions.networks.relu_attention import ReluAttentionLayer
from constructions.networks.sparse_layers import MlpLayer, MultiplicationLayer

_LARGEST = 2**27  # float64 numbers in one stack of matrices, 1 GiB


class TorchReluAttention(torch.nn.Module):
    """A layer of ReLU attention; ``query`` and ``key`` of shape (H, d, m), ``value`` of shape (H, d, d)."""

    def __init__(self, layer: ReluAttentionLayer, dtype: torch.dtype) -> None:
        super().__init__()
        _check_size(layer.heads, layer.width)
        heads = [layer.head(number) for number in range(layer.heads)]
        m = max(head.query.shape[1] for head in heads)
        stacks = [
            np.stack([np.pad(getattr(head, name), ((0, 0), (0, m - head.query.shape[1]))) for head in heads])
            for name in ("query", "key")
        ]
        self.query, self.key, self.value = (
            torch.nn.Parameter(torch.tensor(stack, dtype=dtype))
            for stack in (*stacks, np.stack([head.value for head in heads]))
        )

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """The stream after the layer, shape (..., T, d)."""
        by_head = z.unsqueeze(-3)
        scores = (by_head @ self.query) @ (by_head @ self.key).transpose(-1, -2)
        return z + (torch.relu(scores) @ (by_head @ self.value)).sum(dim=-3) / z.shape[-2]


class TorchMlp(torch.nn.Module):
    """z + relu(z W_1) W_2 with the parameters ``first`` and ``second``."""

    def __init__(self, layer: MlpLayer, dtype: torch.dtype) -> None:
        super().__init__()
        self.first, self.second = (torch.nn.Parameter(torch.tensor(matrix, dtype=dtype)) for matrix in layer.matrices())

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """The stream after the layer, shape (..., T, d)."""
        return z + torch.relu(z @ self.first) @ self.second


class TorchMultiplication(torch.nn.Module):
    """A layer of element-wise multiplication; ``query``, ``key`` of shape (H, d, m), ``value`` of shape (H, d, d)."""

    def __init__(self, layer: MultiplicationLayer, dtype: torch.dtype) -> None:
        super().__init__()
        _check_size(layer.heads, layer.width)
        heads = [layer.head(number) for number in range(layer.heads)]
        self.query, self.key, self.value = (
            torch.nn.Parameter(torch.tensor(np.stack(matrices), dtype=dtype)) for matrices in zip(*heads, strict=True)
        )

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """The stream after the layer, shape (..., T, d)."""
        by_head = z.unsqueeze(-3)
        products = ((by_head @ self.query) * (by_head @ self.key)).sum(dim=-1, keepdim=True)
        return z + (products * (by_head @ self.value)).sum(dim=-3)


class TorchBlock(torch.nn.Module):
    """The 2N+4 layers in order, as ``layers``."""

    def __init__(
        self,
        layers: Sequence[ReluAttentionLayer | MlpLayer | MultiplicationLayer],
        width: int,
        dtype: torch.dtype | None,
    ) -> None:
        super().__init__()
        number = torch.float64 if dtype is None else dtype
        self.width = width
        self.layers = torch.nn.ModuleList(_module(layer, number) for layer in layers)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """The stream after the block, shape (..., T, width)."""
        for layer in self.layers:
            z = layer(z)
        return z


def _module(layer: ReluAttentionLayer | MlpLayer | MultiplicationLayer, dtype: torch.dtype) -> torch.nn.Module:
    if isinstance(layer, MlpLayer):
        return TorchMlp(layer, dtype)
    if isinstance(layer, MultiplicationLayer):
        return TorchMultiplication(layer, dtype)
    return TorchReluAttention(layer, dtype)


def _check_size(heads: int, width: int) -> None:
    if heads * width * width > _LARGEST:
        raise ValueError(
            f"A layer of {heads} heads of width {width} has {heads * width * width} entries as matrices, more than "
            f"{_LARGEST}: use the forward pass of the block, which stores what its heads share."
        )
