"""Training for the experiments of this chapter: data, models in torch, and the loop.

What the document leaves open is chosen here, once for all experiments: all matrices start with independent normal
entries of standard deviation 1/(2 sqrt(rows)), tables of positions with standard deviation 0.02; AdamW without
weight decay; fresh sequences in every step; cross-entropy averaged over all positions; float32, one thread.

The transformer is (8.4)-(8.5). Its first layer sees nothing but symbols and distances, and is computed by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lemmata.constructions.induction.minimal_model import MinimalModel
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.layer import Layer
from lemmata.constructions.networks.transformer import Transformer
from lemmata.numerics.markov.chains import (
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
    """The torch module of a `Transformer` over the symbols 0, ..., k-1 with random weights and relative positions.

    Args:
        hidden: width of a ReLU layer with residual after the last attention layer; 0 for none.
        absolute: learned absolute positions, added to the embedding, in place of relative ones.
    """
    import torch

    generator = torch.Generator().manual_seed(seed)

    def weights(*shape: int, scale: float | None = None) -> FloatArray:
        deviation = shape[-2] ** -0.5 / 2 if scale is None else scale
        return (torch.randn(*shape, generator=generator) * deviation).numpy().astype(np.float64)

    embedding = weights(k, width, scale=width**-0.5 / 2)
    maps = [weights(layers, heads, width, width) for _ in range(3)]
    positions = weights(context, width, scale=0.02) if absolute else np.zeros((0, width))
    relative = np.zeros((layers, heads, 0, width)) if absolute else weights(layers, heads, context, width, scale=0.02)

    def head(l: int, h: int) -> Head:
        query, key, value = (Affine(part[l, h]) for part in maps)
        return Head(query, key, value, temperature_squared=width, relative_keys=relative[l, h])

    stack: list[Layer] = [AttentionLayer(tuple(head(l, h) for h in range(heads))) for l in range(layers)]
    if hidden:
        up, down = Affine(weights(width, hidden)), Affine(weights(hidden, width))
        stack.append(FeedForward((up, down), residual=True, activations=("relu", "identity")))
    source = Transformer(
        embedding, np.zeros((0, width)), tuple(stack), weights(width, k), positions, alphabet=tuple(range(k))
    )
    return source.to_torch(None if absolute else context, dtype=torch.float32, by_symbol=not absolute)


def as_construction(model: Any) -> Transformer:
    """The transformer with the present weights of the module, in float64, over the symbols 1, ..., k."""
    return replace(model.to_layer(), alphabet=())


def minimal_model(k: int, context: int) -> Any:
    """The torch module of the minimal model with v = (1/t, ..., 1/t) and W = 0."""
    import torch

    return MinimalModel(np.full(context, 1 / context), np.zeros((k, k))).to_torch(dtype=torch.float32)
