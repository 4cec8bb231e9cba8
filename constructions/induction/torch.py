"""Counting heads and the minimal model as torch modules: the same weights, trainable, and read back by `to_layer`.

Kept apart because torch is slow to import; use `CountingHead.to_torch` and `MinimalModel.to_torch`.
"""

from __future__ import annotations

import torch

from lemmata.constructions.induction.head import CountingHead
from lemmata.constructions.induction.minimal_model import MinimalModel
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.torch import ShownModule, array, module_of, parameter
from lemmata.constructions.networks.torch_transformer import to_torch

__all__ = ["MinimalModule", "to_torch"]


@module_of(MinimalModel)
class MinimalModule(ShownModule):
    """The minimal model with the parameters ``v`` and ``W``, for sequences of at most ``context`` symbols.

    f_{p,i} = sum_l W_{x_p,l} sum_{t'<=p} [x_t' = i] (M E)_{t',l} costs running sums of k^2 numbers for each token.
    """

    def __init__(self, model: MinimalModel, dtype: torch.dtype | None, stream: ResidualStream | None = None) -> None:
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


@module_of(CountingHead)
def _counting(head: CountingHead, dtype: torch.dtype | None, stream: ResidualStream | None) -> torch.nn.Module:
    return to_torch(head.transformer, dtype=dtype, stream=head.stream if stream is None else stream)
