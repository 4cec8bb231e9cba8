"""Attention-only transformers as a `TransformerBridge` of TransformerLens, for its caches, hooks and plots.

Its native model (`TransformerBridge.boot_native`) has no relative keys, vectors v_(i-j) that are added to the keys and
meet the query: "standard" positions are absolute embeddings, and "rotary" ones turn queries and keys. So the
*parameters* of a head with relative keys have no place there. Its *function*, up to a longest context T, has one
wherever the score <z_i W_Q, v_(i-j)> depends on the places i and j alone, as in the heads of
`lemmata.constructions.induction.head`: with one-hot positions p_i in T further coordinates of the stream, p_i B p_j^T
with B_ij = <z_i W_Q, v_(i-j)> is that score, exactly. The export is the same function at these weights; trained further
it leaves the relative class, because B then holds T^2 free numbers: train `to_torch()`.

The native model divides all scores by the root of d_head (`use_attn_scale=False` is ignored there): the exported W_Q is
multiplied by it.

`lens_weights` computes the export with NumPy alone: the settings of a `TransformerBridgeConfig`, and every entry of the
state dict by its name. `to_transformer_lens` hands them to TransformerLens, an optional extra, version 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.transformer import Transformer, token_numbers

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
        settings: the arguments of `TransformerBridgeConfig` that shape the model.
        parameters: all entries of the state dict, float64, by name; as in torch, a map has the shape (out, in), and its
            rows run over the heads, and over the d_head coordinates of each.
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
        "default_prepend_bos": False,
    }
    parameters = {
        "embed.weight": np.pad(np.concatenate([embedding, source.prefix]), ((0, 0), (0, places))),
        "pos_embed.weight": np.pad(np.eye(places), ((0, 0), (width, 0))),
        "unembed.weight": np.pad(readout, ((0, places), (0, 0))).T,
        "unembed.bias": np.zeros(readout.shape[1]),
    }
    for n, layer in enumerate(heads):
        scores = [_position_scores(embedding, source.prefix, n, head, places) for head in layer]
        block = _attention(layer, scores, width, settings["n_heads"], widest)
        parameters |= {f"blocks.{n}.attn.{name}": array for name, array in block.items()}
    return LensWeights(settings, parameters)


def to_transformer_lens(transformer: Transformer, context: int) -> Any:
    """A `TransformerBridge` in float64 with the same outputs on `lens_tokens`, for up to `context` tokens.

    Its vocabulary: the k symbols and one token for every prefix row. Its logits at the last t places are the outputs.
    The first d coordinates of its stream are those of the transformer, the others the position.

    Raises:
        ImportError: if TransformerLens is missing or has no `TransformerBridge.boot_native`.
        ValueError: if context < 1, or the transformer has other layers than causal softmax heads that are added to the
            stream, without biases, null pairs and output maps; absolute positions; relative keys in a later layer, or
            ones whose scores depend on the token.
    """
    weights = lens_weights(transformer, context)
    TransformerBridge, TransformerBridgeConfig = _classes()
    import torch

    config = TransformerBridgeConfig(**weights.settings, init_weights=False, dtype=torch.float64, device="cpu")
    model = TransformerBridge.boot_native(config, dtype=torch.float64)
    model.load_state_dict({name: torch.tensor(array) for name, array in weights.parameters.items()})
    return model


def _classes() -> tuple[Any, Any]:
    try:
        from transformer_lens.config import TransformerBridgeConfig  # type: ignore[import-not-found]
        from transformer_lens.model_bridge import TransformerBridge  # type: ignore[import-not-found]

        TransformerBridge.boot_native  # noqa: B018, early versions lack it
    except (ImportError, AttributeError) as error:
        raise ImportError(
            "The export needs TransformerLens with TransformerBridge.boot_native: pip install 'transformer-lens>=4,<5'."
        ) from error
    return TransformerBridge, TransformerBridgeConfig


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
    Q, K, V, O = (np.zeros((heads, stream, size)) for _ in range(4))
    for h, (head, by_place) in enumerate(zip(layer, scores, strict=True)):
        scale, m, e = head.scale * np.sqrt(size), head.key_dimension, head.value.outputs
        Q[h, :width, :m] = head.query.weight * scale
        K[h, :width, :m] = head.key.weight
        Q[h, width:, widest:] = by_place * scale
        K[h, width:, widest:] = np.eye(places)
        V[h, :width, :e] = head.value.weight
        O[h, :e, :e] = np.eye(e)
    maps = {
        name: part.transpose(0, 2, 1).reshape(heads * size, stream) for name, part in zip("qkv", (Q, K, V), strict=True)
    }
    maps["o"] = O.transpose(1, 0, 2).reshape(stream, heads * size)
    block = {f"{name}.weight": weight for name, weight in maps.items()}
    return block | {f"{name}.bias": np.zeros(len(weight)) for name, weight in maps.items()}


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
