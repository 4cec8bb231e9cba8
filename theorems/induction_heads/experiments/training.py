"""Training for the experiments of this chapter: data, models in torch, and the loop.

What the document leaves open is chosen here, once for all experiments: all matrices start with independent normal
entries of standard deviation 1/(2 sqrt(rows)), tables of positions with standard deviation 0.02; AdamW without
weight decay; fresh sequences in every step; cross-entropy averaged over all positions; float32, one thread.

The transformer is (8.4)-(8.5). Its first layer sees nothing but symbols and distances, so the attention of a head is a
product exp(a[x_i, x_j]) exp(b[x_i, i-j]), and its averages are k products with Toeplitz matrices: exact, and much
faster than the general form, which later layers need.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from constructions.networks.legacy_attention import AttentionHead, AttentionLayer
from constructions.networks.transformer import AttentionTransformer
from numerics.markov.chains import (
    dirichlet_chains,
    doubly_stochastic_chains,
    sample_sequences,
    shared_row_chains,
)

if TYPE_CHECKING:
    import torch

__all__ = ["PRIORS", "as_construction", "minimal_model", "sample_chains", "training_steps", "transformer"]

FloatArray = NDArray[np.float64]

PRIORS = ("flat", "iid", "doubly stochastic")
"""Independent uniform rows; equal rows (independent tokens); uniform doubly stochastic matrices."""


def sample_chains(prior: str, k: int, n: int, size: int, rng: np.random.Generator) -> FloatArray:
    """Transition matrices of a prior, (size, k^(n-1), k); n > 2 for the prior "flat" only.

    Raises:
        ValueError: for an unknown prior.
    """
    if prior == "flat":
        return dirichlet_chains(k, size, rng, n=n)
    if prior == "iid":
        return shared_row_chains(k, size, rng)
    if prior == "doubly stochastic":
        return doubly_stochastic_chains(k, size, rng)
    raise ValueError(f"There is no prior {prior!r}: the priors are {', '.join(PRIORS)}.")


def training_steps(
    model: Any, optimiser: torch.optim.Optimizer, batch: Mapping[str, int], k: int, n: int, seed: int
) -> Iterator[int]:
    """Train without end; yield the number of steps done, beginning with 0, before each step.

    Args:
        batch: how many sequences of which prior make a batch.
        k, n: number of states, and of symbols in an n-gram.
        seed: of the data.
    """
    import torch

    rng = np.random.default_rng([seed, 1])
    length = model.context + 1
    step = 0
    while True:
        yield step
        x = np.concatenate(
            [sample_sequences(sample_chains(prior, k, n, size, rng), length, rng) - 1 for prior, size in batch.items()]
        )
        tokens = torch.from_numpy(x)
        logits = model(tokens[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.reshape(-1, k), tokens[:, 1:].reshape(-1))
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        step += 1


def transformer(
    k: int, context: int, layers: int, heads: int, width: int, seed: int, hidden: int = 0, absolute: bool = False
) -> Any:
    """A torch module, an attention-only transformer with relative positions.

    It takes tokens 0, ..., k-1 of shape (B, t) to logits (B, t, k); with ``last=True``, to those of the last position
    alone, (B, 1, k).

    Args:
        hidden: width of a ReLU layer with residual after the last attention layer; 0 for none.
        absolute: learned absolute positions, added to the embedding, in place of relative ones.
    """
    import torch
    from torch.nn.functional import one_hot, pad

    generator = torch.Generator().manual_seed(seed)

    def weights(*shape: int, scale: float | None = None) -> torch.nn.Parameter:
        deviation = shape[-2] ** -0.5 / 2 if scale is None else scale
        return torch.nn.Parameter(torch.randn(*shape, generator=generator) * deviation)

    def skewed(scores: torch.Tensor) -> torch.Tensor:
        """Entries by distance, column T-1-r for distance r, to entries by position, right for j <= i."""
        B, R, T = scores.shape
        return pad(scores, (1, 0)).reshape(B, R + 1, T)[:, 1:] if R == T else scores

    class Transformer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.context = context
            self.embedding = weights(k, width, scale=width**-0.5 / 2)
            self.query, self.key, self.value = (weights(layers, heads, width, width) for _ in range(3))
            self.positions = weights(context, width, scale=0.02) if absolute else None
            self.relative: Any = None if absolute else weights(layers, heads, context, width, scale=0.02)
            self.up = weights(width, hidden) if hidden else None
            self.down = weights(hidden, width) if hidden else None
            self.readout = weights(width, k)
            distance = torch.arange(context)[:, None] - torch.arange(context)
            self.distance = distance.clamp(min=0)
            self.mask = torch.zeros(context, context).masked_fill(distance < 0, -math.inf)

        def forward(self, x: torch.Tensor, last: bool = False) -> torch.Tensor:
            T = x.shape[1]
            z = self.embedding[x]
            if self.positions is not None:
                z = z + self.positions[:T]
            for layer in range(layers):
                only_last = last and layer == layers - 1
                if layer == 0 and not absolute:
                    z = z + sum(self._first(x, head) for head in range(heads))
                    z = z[:, -1:] if only_last else z
                    continue
                queried = z[:, -1:] if only_last else z
                z = queried + sum(self._general(queried, z, layer, head) for head in range(heads))
            if self.up is not None and self.down is not None:
                z = z + torch.relu(z @ self.up) @ self.down
            return z @ self.readout

        def _first(self, x: torch.Tensor, head: int) -> torch.Tensor:
            """A head of the first layer by symbols and distances, (B, t, width)."""
            T = x.shape[1]
            queries = self.embedding @ self.query[0, head] / math.sqrt(width)
            by_symbol = queries @ (self.embedding @ self.key[0, head]).T
            by_distance = queries @ self.relative[0, head, :T].T
            symbol = (by_symbol - by_symbol.amax(1, keepdim=True)).exp()
            distance = (by_distance - by_distance.amax(1, keepdim=True)).exp()
            toeplitz = distance[:, self.distance[:T, :T]].tril()  # (k, t, t)
            E = one_hot(x, k).to(torch.float32)  # (B, t, k)
            masses = torch.einsum("mij,bjl->bmil", toeplitz, E) * symbol[:, None]
            own = torch.einsum("bmil,bim->bil", masses, E)
            return own / own.sum(-1, keepdim=True) @ (self.embedding @ self.value[0, head])

        def _general(self, queried: torch.Tensor, z: torch.Tensor, layer: int, head: int) -> torch.Tensor:
            T, R = z.shape[1], queried.shape[1]
            queries = queried @ (self.query[layer, head] / math.sqrt(width))
            base = self.mask[T - R : T, :T].expand(len(z), R, T)
            if self.relative is not None:
                base = base + skewed(queries @ self.relative[layer, head, :T].flip(0).T)
            scores = torch.baddbmm(base, queries, (z @ self.key[layer, head]).transpose(1, 2))
            return torch.softmax(scores, -1) @ (z @ self.value[layer, head])

    return Transformer()


def as_construction(model: Any) -> AttentionTransformer:
    """The same transformer, with relative positions and without MLP, as a construction over the tokens 1, ..., k."""

    def array(tensor: torch.Tensor) -> FloatArray:
        return tensor.detach().numpy().astype(np.float64)

    query, key, value, relative = (array(getattr(model, name)) for name in ("query", "key", "value", "relative"))
    layers = tuple(
        AttentionLayer(
            tuple(
                AttentionHead(query[l, h], key[l, h], value[l, h], relative[l, h], query.shape[-1])
                for h in range(query.shape[1])
            )
        )
        for l in range(len(query))
    )
    embedding = array(model.embedding)
    return AttentionTransformer(embedding, np.zeros((0, embedding.shape[1])), layers, array(model.readout))


def minimal_model(k: int, context: int) -> Any:
    """A torch module, the minimal model with v = (1/t, ..., 1/t) and W = 0, called as `transformer`.

    f_{p,i} = sum_l W_{x_p,l} sum_{t'<=p} [x_t' = i] (M E)_{t',l} costs running sums only.
    """
    import torch
    from torch.nn.functional import one_hot

    class Minimal(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.context = context
            self.v = torch.nn.Parameter(torch.full((context,), 1 / context))
            self.W = torch.nn.Parameter(torch.zeros(k, k))
            self.distance = (torch.arange(context)[:, None] - torch.arange(context)).clamp(min=0)

        def forward(self, x: torch.Tensor, last: bool = False) -> torch.Tensor:
            T = x.shape[1]
            E = one_hot(x, k).to(torch.float32)
            past = self.v[self.distance[:T, :T]].tril() @ E
            sums = (E[..., :, None] * past[..., None, :]).cumsum(1)  # (B, p, i, l)
            logits = (sums @ self.W[x][..., None])[..., 0]
            return logits[:, -1:] if last else logits

    return Minimal()
