"""The minimal model as a torch module: the same weights, trainable, and read back by `to_layer`.

Kept apart because torch is slow to import; use `MinimalModel.to_torch`.
"""

from __future__ import annotations

from typing import Any

import torch

from constructions.induction.minimal_model import MinimalModel
from constructions.networks.torch import to_torch
from constructions.networks.torch_base import array, parameter


class MinimalModule(torch.nn.Module):
    """The minimal model with the parameters ``v`` and ``W``, for sequences of at most ``context`` symbols.

    f_{p,i} = sum_l W_{x_p,l} sum_{t'<=p} [x_t' = i] (M E)_{t',l} costs running sums of k^2 numbers for each token.
    """

    def __init__(self, model: MinimalModel, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self.v, self.W = parameter(model.v, dtype), parameter(model.W, dtype)
        self.context = model.context

    def forward(self, x: torch.Tensor, last: bool = False) -> torch.Tensor:
        """The logits of tokens (batch, p), shape (batch, p, k); with ``last``, at the last alone, (batch, 1, k)."""
        T = x.shape[1]
        E = torch.nn.functional.one_hot(x, len(self.W)).to(self.v.dtype)
        back = torch.arange(T, device=x.device)[:, None] - torch.arange(T, device=x.device)
        past = self.v[back.clamp(min=0)].tril() @ E
        sums = (E[..., :, None] * past[..., None, :]).cumsum(dim=1)
        logits = (sums @ self.W[x][..., None])[..., 0]
        return logits[:, -1:] if last else logits

    def to_layer(self) -> MinimalModel:
        """The model with the present weights, in float64."""
        return MinimalModel(array(self.v), array(self.W))


@to_torch.register
def _(layer: MinimalModel, *, dtype: torch.dtype | None = None, stream: Any = None) -> MinimalModule:
    return MinimalModule(layer, dtype)
