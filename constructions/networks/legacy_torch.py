"""Attention-only transformers as torch modules: the same weights, trainable.

Kept apart because torch is slow to import; use `AttentionTransformer.to_torch`.
"""

from __future__ import annotations

import math

import torch

from constructions.networks.legacy_attention import AttentionHead
from constructions.networks.transformer import AttentionTransformer


class TorchHead(torch.nn.Module):
    """One softmax head with the parameters ``query``, ``key``, ``value`` and ``relative_keys``."""

    def __init__(self, head: AttentionHead, context: int | None, dtype: torch.dtype) -> None:
        super().__init__()
        if head.normalisation != "softmax":
            raise ValueError("Hard attention has no gradient: only softmax heads can be exported to torch.")
        self.query, self.key, self.value, table = (
            torch.nn.Parameter(torch.tensor(array, dtype=dtype)) for array in head.arrays()
        )
        rows = max(len(table), context or 0)
        padded = torch.zeros(rows, table.shape[1], dtype=dtype)
        padded[: len(table)] = table.detach()
        self.relative_keys = torch.nn.Parameter(padded)
        self.root = math.sqrt(head.temperature_squared)
        self.causal = head.causal

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """The output of the head, shape (..., T, e), for z of shape (..., T, d)."""
        T = z.shape[-2]
        queries = z @ self.query
        scores = queries @ (z @ self.key).transpose(-1, -2)
        distance = torch.arange(T)[:, None] - torch.arange(T)
        if len(self.relative_keys):
            known = (distance >= 0) & (distance < len(self.relative_keys))
            index = torch.where(known, distance, 0).expand(scores.shape)
            by_distance = (queries @ self.relative_keys.T).gather(-1, index)
            scores = scores + torch.where(known, by_distance, 0.0)
        logits = scores / self.root
        if self.causal:
            logits = logits.masked_fill(distance < 0, -math.inf)
        return torch.softmax(logits, dim=-1) @ (z @ self.value)


class TorchTransformer(torch.nn.Module):
    """An attention-only transformer; ``embedding``, ``prefix``, ``readout`` and all heads are parameters."""

    def __init__(self, transformer: AttentionTransformer, context: int | None, dtype: torch.dtype | None) -> None:
        super().__init__()
        if context is not None and context < 1:
            raise ValueError(f"The context must have at least one token, not {context}.")
        number = torch.float64 if dtype is None else dtype
        self.embedding, self.prefix, self.readout = (
            torch.nn.Parameter(torch.tensor(array, dtype=number))
            for array in (transformer.embedding, transformer.prefix, transformer.readout)
        )
        self.residual = [layer.combination == "residual" for layer in transformer.layers]
        self.layers = torch.nn.ModuleList(
            torch.nn.ModuleList(TorchHead(head, context, number) for head in layer.heads)
            for layer in transformer.layers
        )

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Outputs of shape (..., t, L) for integer tokens 1, ..., k of shape (..., t).

        Raises:
            ValueError: if a token is outside 1, ..., k (0 would silently read the last row of the embedding).
        """
        if tokens.numel() == 0 or int(tokens.min()) < 1 or int(tokens.max()) > len(self.embedding):
            raise ValueError(f"The module takes at least one token, and tokens 1, ..., {len(self.embedding)} only.")
        front = self.prefix.expand(*tokens.shape[:-1], *self.prefix.shape)
        z = torch.cat([front, self.embedding[tokens - 1]], dim=-2)
        for residual, heads in zip(self.residual, self.layers, strict=True):
            outputs = [head(z) for head in heads]  # type: ignore[attr-defined]
            z = z + torch.stack(outputs).sum(dim=0) if residual else torch.cat(outputs, dim=-1)
        return z[..., len(self.prefix) :, :] @ self.readout
