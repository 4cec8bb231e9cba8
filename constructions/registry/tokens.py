"""The networks of sparse token regression, each as a small instance with encoded prompts as inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.torch import to_torch
from lemmata.constructions.registry.entry import WITHOUT_EXACT, Draw, Registered, integers, tensors, weights
from lemmata.constructions.tokens.attention import (
    averaging_attention,
    counting_attention,
    retrieval_attention,
    retrieval_transformer,
)
from lemmata.constructions.tokens.moments import BlockMoments, block_moments
from lemmata.constructions.tokens.separating import SeparatingAttention, separating_attention
from lemmata.constructions.tokens.transformer import token_stream, token_transformer
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.tokens.codes import PositionCodes, extremal_codes, field_codes, linear_codes, orthonormal_codes
from lemmata.numerics.tokens.encoding import encode
from lemmata.numerics.tokens.links import max_link
from lemmata.numerics.tokens.prompts import draw_prompts

if TYPE_CHECKING:
    import torch

_READOUT = FeedForward((Affine(weights(12, 3)), Affine(weights(3, 1))), activations=("relu", "identity"))
_LINK = max_link([[1, 2], [-1, 0]], [[0, 1], [3, -2]])


def _encoded(length: int, dimension: int, sparsity: int, codes: PositionCodes, distinct: bool = False) -> Draw:
    """Two prompts of rational tokens with their codes, exact, shape (2, N, D_e)."""

    def draw(_: object, rng: np.random.Generator) -> Array:
        seed = int(rng.integers(2**31))
        prompts = draw_prompts(2, length, dimension, sparsity, law="rational", distinct=distinct, seed=seed)
        return encode(prompts, codes)

    return draw


def _decoded(instance: SeparatingAttention, module: torch.nn.Module, z: Array) -> Array:
    counts, tokens = instance.to_float().decode(tensors(module, z))
    return (counts[..., None] * tokens).sum(axis=-2)


def _moments(instance: BlockMoments, module: torch.nn.Module, z: Array) -> Array:
    return instance.to_float().decode(tensors(module, z)).sum(axis=-1)


TOKENS: tuple[Registered, ...] = (
    Registered(
        "tokens: retrieval",
        lambda: retrieval_transformer(_LINK, field_codes(5), radius=3, error="1/100"),
        _encoded(5, 2, 2, field_codes(5)),
        WITHOUT_EXACT,
        run_torch=lambda _, module, z: tensors(module, z)[..., 0],
    ),
    Registered(
        "tokens: hard retrieval",
        lambda: retrieval_attention(2, 2, extremal_codes(5), 3, weigh="hardmax"),
        _encoded(5, 2, 2, extremal_codes(5)),
        module=to_torch,
    ),
    Registered(
        "tokens: averaging",
        lambda: averaging_attention(1, 4, orthonormal_codes(6), 20),
        _encoded(6, 1, 4, orthonormal_codes(6), distinct=True),
        WITHOUT_EXACT,
        module=to_torch,
    ),
    Registered(
        "tokens: averaging with repetitions",
        lambda: counting_attention(2, 3),
        integers(4, 8),
        WITHOUT_EXACT,
        module=to_torch,
    ),
    Registered(
        "tokens: d heads for q > d tokens",
        lambda: separating_attention(1, 4, orthonormal_codes(5), sharpness=64),
        _encoded(5, 1, 4, orthonormal_codes(5)),
        WITHOUT_EXACT,
        run_torch=_decoded,
    ),
    Registered(
        "tokens: d heads for a block of tokens",
        lambda: block_moments(2, 1, 3, linear_codes(3), gain=2, slope=1),
        _encoded(8, 2, 2, linear_codes(3)),
        WITHOUT_EXACT,
        run_torch=_moments,
    ),
    Registered(
        "tokens: given query-key matrices",
        lambda: token_transformer(token_stream(2, 1, 2), weights(2, 6, 6), _READOUT),
        integers(4, 6, low=-1, high=2),
        WITHOUT_EXACT,
        run_torch=lambda _, module, z: tensors(module, z)[..., 0],
    ),
)
"""Transformers on encoded prompts."""
