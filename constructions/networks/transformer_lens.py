"""Attention-only transformers as a `HookedTransformer` of TransformerLens, for its caches, hooks and plots.

No position type of that class has relative keys, vectors v_(i-j) that are added to the keys and meet the query:
"standard" and "shortformer" add absolute embeddings, "rotary" turns queries and keys, "alibi" adds a fixed slope, and
buckets of scalar biases exist in its T5 classes only. So the *parameters* of a head with relative keys have no place
there. Its *function*, up to a longest context T, has one wherever the score <z_i W_Q, v_(i-j)> depends on the places i
and j alone, as in the heads of `constructions.induction.head`: with one-hot positions p_i in T further coordinates of
the stream, p_i B p_j^T with B_ij = <z_i W_Q, v_(i-j)> is that score, exactly. The export is the same function at these
weights; trained further it leaves the relative class, because B then holds T^2 free numbers: train `to_torch()`.

`lens_weights` computes the export with NumPy alone: the settings of a `HookedTransformerConfig`, and every parameter by
its name. `to_transformer_lens` hands them to TransformerLens, an optional extra, version 3 (version 4 has removed
`HookedTransformer`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from constructions.networks.affine import Affine
from constructions.networks.attention import AttentionLayer
from constructions.networks.head import Head
from constructions.networks.transformer import Transformer, token_numbers

if TYPE_CHECKING:
    import torch

__all__ = ["LensWeights", "lens_tokens", "lens_weights", "to_transformer_lens"]

FloatArray = NDArray[np.float64]


def lens_tokens(transformer: Transformer, x: ArrayLike) -> torch.Tensor:
    """The token ids that the exported model reads, shape (batch, r + t).

    The prefix rows have the ids k, ..., k+r-1, and the symbols 0, ..., k-1.

    Args:
        transformer: the exported transformer, with r prefix rows.
        x: symbols of its alphabet, shape (t,) or (batch, t).

    Raises:
        ValueError: as for a call of the transformer.
    """
    import torch

    tokens = np.atleast_2d(token_numbers(x, transformer.alphabet))
    front = transformer.symbols + np.arange(len(transformer.prefix))
    return torch.tensor(np.concatenate([np.broadcast_to(front, (len(tokens), len(front))), tokens], axis=1))


@dataclass(frozen=True, eq=False)
class LensWeights:
    """A transformer in the terms of TransformerLens.

    Attributes:
        settings: the arguments of `HookedTransformerConfig` that shape the model.
        parameters: all parameters, float64, by their names in the state dict.
    """

    settings: dict[str, Any]
    parameters: dict[str, FloatArray]


def lens_weights(transformer: Transformer, context: int) -> LensWeights:
    """The settings and parameters of the export, for up to `context` tokens; see `to_transformer_lens`.

    Raises:
        ValueError: as there.
    """
    if context < 1:
        raise ValueError(f"The context must have at least one token, not {context}.")
    source = transformer.to_float()
    embedding, readout = _tables(source)
    heads = [_heads(number, layer) for number, layer in enumerate(source.layers, start=1)]
    places, width = len(source.prefix) + context, source.width
    widest = max(max(head.key_dimension, head.value.outputs) for layer in heads for head in layer)
    settings = {
        "n_layers": len(heads),
        "d_model": width + places,
        "n_ctx": places,
        "d_head": widest + places,
        "n_heads": max(map(len, heads)),
        "d_vocab": len(embedding) + len(source.prefix),
        "d_vocab_out": readout.shape[1],
        "attn_only": True,
        "normalization_type": None,
        "positional_embedding_type": "standard",
        "use_attn_scale": False,
        "default_prepend_bos": False,
    }
    parameters = {
        "embed.W_E": np.pad(np.concatenate([embedding, source.prefix]), ((0, 0), (0, places))),
        "pos_embed.W_pos": np.pad(np.eye(places), ((0, 0), (width, 0))),
        "unembed.W_U": np.pad(readout, ((0, places), (0, 0))),
        "unembed.b_U": np.zeros(settings["d_vocab_out"]),
    }
    for n, layer in enumerate(heads):
        scores = [_position_scores(embedding, source.prefix, n, head, places) for head in layer]
        block = _attention(layer, scores, width, settings["n_heads"], widest)
        parameters |= {f"blocks.{n}.attn.{name}": array for name, array in block.items()}
    return LensWeights(settings, parameters)


def to_transformer_lens(transformer: Transformer, context: int) -> Any:
    """A `transformer_lens.HookedTransformer` in float64 with the same outputs on `lens_tokens`, up to `context` tokens.

    Its vocabulary: the k symbols and one token for every prefix row. Its logits at the last t places are the outputs.
    The first d coordinates of its stream are those of the transformer, the others the position.

    Raises:
        ImportError: if TransformerLens is missing or has no `HookedTransformer`.
        ValueError: if context < 1, or the transformer has other layers than causal softmax heads that are added to the
            stream, without biases, null pairs and output maps; absolute positions; relative keys in a later layer, or
            ones whose scores depend on the token.
    """
    weights = lens_weights(transformer, context)
    HookedTransformer, HookedTransformerConfig = _classes()
    import torch

    config = HookedTransformerConfig(**weights.settings, init_weights=False, dtype=torch.float64, device="cpu")
    model = HookedTransformer(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.tensor(weights.parameters[name]))
    return model


def _classes() -> tuple[Any, Any]:
    try:
        from transformer_lens import HookedTransformer, HookedTransformerConfig  # type: ignore[import-not-found]
    except ImportError as error:
        raise ImportError(
            "The export needs TransformerLens with its class HookedTransformer: pip install 'transformer-lens>=3,<4'."
        ) from error
    return HookedTransformer, HookedTransformerConfig


def _tables(source: Transformer) -> tuple[FloatArray, FloatArray]:
    """The embedding and the readout, if the transformer has no other parts than layers between them."""
    embedding, readout = source.embedding, source.readout
    if isinstance(embedding, Affine) or isinstance(readout, Affine) or readout.ndim != 2 or source.read != "tokens":
        raise ValueError("Export a transformer over symbols that is read at them by a matrix.")
    if len(source.positions):
        raise ValueError("Absolute positions are not exported: the export has places of its own.")
    return embedding, readout


def _heads(number: int, layer: Any) -> tuple[Head, ...]:
    """The heads of a layer, if they can be exported."""
    if not isinstance(layer, AttentionLayer) or layer.combination != "residual" or layer.attending != "all":
        raise ValueError(f"Layer {number} does not add heads to a residual stream: only such layers can be exported.")
    for head in layer.heads:
        if head.weigh != "softmax" or not head.causal:
            raise ValueError(f"A head of layer {number} is hard or not causal: export causal softmax heads.")
        biased = any(part.bias.any() for part in (head.query, head.key, head.value))
        if biased or head.null is not None or head.output is not None:
            raise ValueError(f"A head of layer {number} has biases, a null pair or an output map: no export.")
    return layer.heads


def _attention(
    layer: Sequence[Head], scores: list[FloatArray], width: int, heads: int, widest: int
) -> dict[str, FloatArray]:
    """The parameters of one block: the weights of the heads, and behind them the scores by place."""
    places = len(scores[0])
    stream, size = width + places, widest + places
    block = {f"W_{name}": np.zeros((heads, stream, size)) for name in "QKV"}
    block |= {f"b_{name}": np.zeros((heads, size)) for name in "QKV"}
    block |= {"W_O": np.zeros((heads, size, stream)), "b_O": np.zeros(stream)}
    for h, (head, by_place) in enumerate(zip(layer, scores, strict=True)):
        scale, m, e = head.scale, head.key_dimension, head.value.outputs
        block["W_Q"][h, :width, :m] = head.query.weight * scale
        block["W_K"][h, :width, :m] = head.key.weight
        block["W_Q"][h, width:, widest:] = by_place * scale
        block["W_K"][h, width:, widest:] = np.eye(places)
        block["W_V"][h, :width, :e] = head.value.weight
        block["W_O"][h, :e, :e] = np.eye(e)
    return block


def _position_scores(embedding: FloatArray, prefix: FloatArray, layer: int, head: Head, places: int) -> FloatArray:
    """B, shape (places, places): the scores of the relative keys by place."""
    B = np.zeros((places, places))
    if not len(head.relative_keys):
        return B
    if layer > 0:
        raise ValueError("Relative keys after the first layer meet a stream that depends on the tokens: no export.")
    by_token, by_row = (head.query(rows) @ head.relative_keys.T for rows in (embedding, prefix))
    if (by_token != by_token[0]).any():
        raise ValueError("The relative scores depend on the token, which absolute positions cannot express: no export.")
    by_row = np.concatenate([by_row, by_token[:1]])
    for i in range(places):
        row = by_row[min(i, len(prefix))][: i + 1]
        B[i, i - np.arange(len(row))] = row
    return B
