"""The parity transformer as a torch module: the same weights, trainable.

Kept apart because torch is slow to import; use `ParityTransformer.to_torch`.
"""

from __future__ import annotations

import torch

from constructions.networks.legacy_torch import TorchHead
from constructions.parity.transformer import ParityTransformer


class TorchParityTransformer(torch.nn.Module):
    """Maps signs of shape (..., n) to outputs of shape (...)."""

    def __init__(self, transformer: ParityTransformer) -> None:
        super().__init__()
        dtype = torch.float64
        self.tokens, self.positions, self.readout = (
            torch.nn.Parameter(torch.tensor(array, dtype=dtype))
            for array in (transformer.tokens, transformer.positions, transformer.readout)
        )
        self.heads = torch.nn.ModuleList(TorchHead(head, None, dtype) for head in transformer.heads)
        self.outputs = torch.nn.ParameterList(torch.tensor(w, dtype=dtype) for w in transformer.outputs)
        self.hidden_weight, self.hidden_bias = (
            torch.nn.Parameter(torch.tensor(array, dtype=dtype)) for array in transformer.hidden.arrays()
        )
        self.second_weight, self.second_bias = (
            torch.nn.Parameter(torch.tensor(array, dtype=dtype)) for array in transformer.second.arrays()
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The outputs of signs (..., n)."""
        rows = self.tokens[(x > 0).long()] + self.positions
        stream = torch.cat([self.tokens[2].expand(*x.shape[:-1], 1, -1), rows], dim=-2)
        z = stream[..., 0, :]
        for head, output in zip(self.heads, self.outputs, strict=True):
            z = z + head(stream)[..., 0, :] @ output
        hidden = torch.nn.functional.gelu(z @ self.hidden_weight + self.hidden_bias)
        return (z + hidden @ self.second_weight + self.second_bias) @ self.readout
