"""The single-layer transformer of token regression: heads side by side without a residual, and a ReLU readout.

A head with the query-key matrix W_QK gives position i the vector sum_j softmax_j(<z_i, z_j'>) z_j, z_i' = z_i W_QK in
rows, so that the values are the embeddings themselves. The outputs of H heads are concatenated to a vector of H D_e
coordinates, and the prediction is a^T relu(W_2 h + b). There is no residual, no mask, and no scale on the scores.

Source: qstr, definition-transformer; construction-encoding for the blocks of the stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head, Weighing, merged_head
from lemmata.constructions.networks.layer import Weights
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.tokens.encoding import block_sizes
from lemmata.numerics.tokens.links import ReluLink
from lemmata.numerics.tokens.prompts import require_memory

if TYPE_CHECKING:
    import torch

__all__ = [
    "TokenTransformer",
    "network_link",
    "query_key_head",
    "readout_of",
    "shown_by_heads",
    "token_stream",
    "token_transformer",
]


@dataclass(frozen=True, eq=False)
class TokenTransformer(Weights):
    """One attention layer, concatenated without a residual, and a ReLU network on every position.

    Attributes:
        stream: the blocks of z: x, position, index_1, ..., index_q.
        attention: H heads on the stream.
        readout: from H D_e coordinates to one.

    Raises:
        ValueError: for widths that do not fit, or heads that are not concatenated.
    """

    stream: ResidualStream
    attention: AttentionLayer
    readout: FeedForward

    def __post_init__(self) -> None:
        if self.attention.combination != "concatenate" or self.attention.inputs != self.stream.width:
            raise ValueError(
                f"The heads read a stream of width {self.stream.width} and are concatenated, but they read width "
                f"{self.attention.inputs} and have the combination {self.attention.combination!r}."
            )
        if (self.readout.inputs, self.readout.outputs) != (self.attention.outputs, 1):
            raise ValueError(
                f"The readout takes the {self.attention.outputs} coordinates of the heads to one number, but it takes "
                f"{self.readout.inputs} to {self.readout.outputs}."
            )

    def __call__(self, z: Array) -> Array:
        """The predictions, shape (..., N), for encoded prompts z of shape (..., N, D_e).

        Raises:
            ValueError: for another width, or prompts whose scores do not fit in memory.
        """
        require_memory("The scores of a head", (*z.shape[:-1], z.shape[-2]))
        return self.readout(self.attention(z))[..., 0]

    def to_torch(self, *, dtype: torch.dtype | None = None, stream: ResidualStream | None = None) -> torch.nn.Module:
        """The torch module of both layers: (..., N, D_e) to (..., N, 1)."""
        from lemmata.constructions.networks.torch import to_torch  # slow to import

        return to_torch((self.attention, self.readout), dtype=dtype, stream=stream)


def token_stream(dimension: int, sparsity: int, code_dimension: int) -> ResidualStream:
    """The blocks of an encoded prompt: x of size d, then position and index_1, ..., index_q of size d_e each."""
    return ResidualStream(block_sizes(dimension, sparsity, code_dimension))


def query_key_head(
    stream: ResidualStream, blocks: Mapping[tuple[str, str], ArrayLike], weigh: Weighing = "softmax", gap: Any = None
) -> Head:
    """The head whose W_QK has blocks[query, key] in the rows of the query's block and the columns of the key's, else 0.

    Its values are the tokens themselves. A gap between different scores lets hard attention work in float64.
    """
    return merged_head(stream.matrix(blocks), weigh=weigh, causal=False, gap=gap)


def readout_of(link: ReluLink, stream: ResidualStream) -> FeedForward:
    """The readout that applies the link to the x-blocks of q concatenated heads, and reads nothing else of them.

    Raises:
        ValueError: if the stream has tokens of another dimension.
    """
    if stream.sizes["x"] != link.dimension:
        raise ValueError(f"The link takes tokens of dimension {link.dimension}, not {stream.sizes['x']}.")
    D = stream.width
    first = np.zeros((link.sparsity * D, link.width), dtype=object)
    for head in range(link.sparsity):
        part = stream["x"]
        first[head * D + part.start : head * D + part.stop] = link.weight[:, head].T
    layers = Affine(first, link.bias), Affine(link.output[:, None])
    return FeedForward(layers, activations=("relu", "identity"))


def shown_by_heads(stream: ResidualStream, outputs: Array) -> tuple[Array, Array]:
    """What d heads, one for each coordinate of the tokens, show: their positions, and each its own coordinate.

    Args:
        stream: the blocks of z, x of size d among them.
        outputs: those of the heads, concatenated, shape (..., d D_e).

    Returns:
        The position blocks, shape (..., d, d_e), and coordinate h of the x-block of head h, shape (..., d).

    Raises:
        ValueError: for outputs that do not divide into those of d heads.
    """
    d = stream.sizes["x"]
    if outputs.shape[-1] != d * stream.width:
        raise ValueError(
            f"The outputs of {d} heads of width {stream.width} have {d * stream.width} coordinates, "
            f"not {outputs.shape[-1]}."
        )
    parts = outputs.reshape(*outputs.shape[:-1], d, stream.width)
    place = np.arange(d)
    return parts[..., stream["position"]], parts[..., stream["x"]][..., place, place]


def token_transformer(
    stream: ResidualStream, matrices: ArrayLike, readout: FeedForward, weigh: Weighing = "softmax"
) -> TokenTransformer:
    """The transformer with given query-key matrices, shape (H, D_e, D_e), queries in the rows.

    Raises:
        ValueError: for another shape.
    """
    W = np.asarray(matrices)
    if W.ndim != 3 or W.shape[1:] != (stream.width, stream.width) or not len(W):
        raise ValueError(f"The matrices have the shape (H, {stream.width}, {stream.width}), not {W.shape}.")
    heads = tuple(merged_head(part, weigh=weigh, causal=False) for part in W)
    return TokenTransformer(stream, AttentionLayer(heads, combination="concatenate"), readout)


def network_link(network: FeedForward, sparsity: int) -> ReluLink:
    """The link of a network of one ReLU layer and a linear one, which reads q tokens one after the other.

    Raises:
        ValueError: for another network: more layers, other activations, a bias at the output, a width that q does not
            divide.
    """
    fits = network.activations == ("relu", "identity") and network.outputs == 1 and not network.residual
    if not fits or network.layers[1].bias.any():
        raise ValueError("A link is a network of one ReLU layer and one linear output without a bias.")
    if network.inputs % sparsity:
        raise ValueError(f"The {network.inputs} inputs of the network do not divide into {sparsity} tokens.")
    first, last = network.layers
    weight = first.weight.T.reshape(first.outputs, sparsity, -1)
    return ReluLink(last.weight[:, 0], weight, first.offset)
