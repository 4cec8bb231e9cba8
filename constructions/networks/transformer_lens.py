"""Attention-only transformers as a `HookedTransformer` of TransformerLens, for its caches, hooks and plots.

No position type of that class has relative keys, vectors v_(i-j) that are added to the keys and meet the query:
"standard" and "shortformer" add absolute embeddings, "rotary" turns queries and keys, "alibi" adds a fixed slope, and
buckets of scalar biases exist in its T5 classes only. So the *parameters* of a head with relative keys have no place
there. Its *function*, up to a longest context T, has one wherever the score <z_i W_Q, v_(i-j)> depends on the places i
and j alone, as in the heads of `constructions.induction.head`: with one-hot positions p_i in T further coordinates of
the stream, p_i B p_j^T with B_ij = <z_i W_Q, v_(i-j)> is that score, exactly. The export is the same function at these
weights; trained further it leaves the relative class, because B then holds T^2 free numbers: train `to_torch()`.

TransformerLens is an optional extra, version 3 (version 4 has removed `HookedTransformer`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from constructions.networks.legacy_attention import AttentionHead
from constructions.networks.transformer import AttentionTransformer, checked_tokens

if TYPE_CHECKING:
    import torch

__all__ = ["lens_tokens", "to_transformer_lens"]


def lens_tokens(transformer: AttentionTransformer, x: ArrayLike) -> torch.Tensor:
    """The token ids that the exported model reads: the prefix rows as k, ..., k+r-1, then x - 1; shape (batch, r + t).

    Args:
        transformer: the exported transformer, with r prefix rows.
        x: tokens 1, ..., k, shape (t,) or (batch, t).

    Raises:
        ValueError: as for a call of the transformer.
    """
    import torch

    tokens = np.atleast_2d(checked_tokens(x, transformer.symbols)) - 1
    front = transformer.symbols + np.arange(len(transformer.prefix))
    return torch.tensor(np.concatenate([np.broadcast_to(front, (len(tokens), len(front))), tokens], axis=1))


def to_transformer_lens(transformer: AttentionTransformer, context: int) -> Any:
    """A `transformer_lens.HookedTransformer` in float64 with the same outputs on `lens_tokens`, up to `context` tokens.

    Its vocabulary: the k symbols and one token for every prefix row. Its logits at the last t places are the outputs.
    The first d coordinates of its stream are those of the transformer, the others the position.

    Raises:
        ImportError: if TransformerLens is missing or has no `HookedTransformer`.
        ValueError: if context < 1, or the transformer has hard, non-causal or concatenated heads, or relative keys in a
            later layer, or ones whose scores depend on the token.
    """
    if context < 1:
        raise ValueError(f"The context must have at least one token, not {context}.")
    source = transformer.to_float()
    places = len(source.prefix) + context
    width = source.embedding.shape[1]
    scores = [[_position_scores(source, n, head, places) for head in layer.heads] for n, layer in _layers(source)]
    HookedTransformer, HookedTransformerConfig = _classes()
    import torch

    heads = max(len(layer.heads) for layer in source.layers)
    keys = max(array.shape[1] for layer in source.layers for head in layer.heads for array in (head.query, head.value))
    config = HookedTransformerConfig(
        n_layers=len(source.layers),
        d_model=width + places,
        n_ctx=places,
        d_head=keys + places,
        n_heads=heads,
        d_vocab=source.symbols + len(source.prefix),
        d_vocab_out=source.readout.shape[1],
        attn_only=True,
        normalization_type=None,
        positional_embedding_type="standard",
        use_attn_scale=False,
        default_prepend_bos=False,
        init_weights=False,
        dtype=torch.float64,
        device="cpu",
    )
    model = HookedTransformer(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        _fill(model.embed.W_E[:, :width], np.concatenate([source.embedding, source.prefix]))
        _fill(model.pos_embed.W_pos[:, width:], np.eye(places))
        _fill(model.unembed.W_U[:width], source.readout)
        for n, layer in enumerate(source.layers):
            attention = model.blocks[n].attn
            for h, head in enumerate(layer.heads):
                root, m, e = head.temperature_squared**0.5, head.query.shape[1], head.value.shape[1]
                _fill(attention.W_Q[h, :width, :m], head.query / root)
                _fill(attention.W_K[h, :width, :m], head.key)
                _fill(attention.W_Q[h, width:, keys:], scores[n][h] / root)
                _fill(attention.W_K[h, width:, keys:], np.eye(places))
                _fill(attention.W_V[h, :width, :e], head.value)
                _fill(attention.W_O[h, :e, :e], np.eye(e))
    return model


def _classes() -> tuple[Any, Any]:
    try:
        from transformer_lens import HookedTransformer, HookedTransformerConfig  # type: ignore[import-not-found]
    except ImportError as error:
        raise ImportError(
            "The export needs TransformerLens with its class HookedTransformer: pip install 'transformer-lens>=3,<4'."
        ) from error
    return HookedTransformer, HookedTransformerConfig


def _layers(source: AttentionTransformer) -> list[tuple[int, Any]]:
    """The numbered layers, if all can be exported."""
    for number, layer in enumerate(source.layers, start=1):
        if layer.combination != "residual":
            raise ValueError(f"Layer {number} concatenates its heads: only sums in a residual stream can be exported.")
        for head in layer.heads:
            if head.normalisation != "softmax" or not head.causal:
                raise ValueError(f"A head of layer {number} is hard or not causal: export causal softmax heads.")
    return list(enumerate(source.layers))


def _position_scores(source: AttentionTransformer, layer: int, head: AttentionHead, places: int) -> NDArray[np.float64]:
    """B, shape (places, places): the scores of the relative keys by place."""
    B = np.zeros((places, places))
    if not len(head.table):
        return B
    if layer > 0:
        raise ValueError("Relative keys after the first layer meet a stream that depends on the tokens: no export.")
    by_token = source.embedding @ head.query @ head.table.T
    if (by_token != by_token[0]).any():
        raise ValueError("The relative scores depend on the token, which absolute positions cannot express: no export.")
    by_row = np.concatenate([source.prefix @ head.query @ head.table.T, by_token[:1]])
    for i in range(places):
        row = by_row[min(i, len(source.prefix))][: i + 1]
        B[i, i - np.arange(len(row))] = row
    return B


def _fill(target: torch.Tensor, values: NDArray[np.float64]) -> None:
    import torch

    target.copy_(torch.tensor(values))
