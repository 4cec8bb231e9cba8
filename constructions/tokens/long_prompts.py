"""What the heads of a layer show of the tokens, for prompts too long for a matrix of all scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.systems import require_finite
from lemmata.numerics.tokens.attention import blocked_attention

__all__ = ["shown_tokens"]


def shown_tokens(
    layer: AttentionLayer, stream: ResidualStream, z: ArrayLike, positions: ArrayLike | None = None
) -> NDArray[np.float64]:
    """The x-blocks of the heads' outputs, shape (M, H, d), in float64, with memory of order N.

    Args:
        layer: merged heads with softmax weights whose values are the tokens, such as `retrieval_attention` builds.
        stream: its blocks, with the token in the block x.
        z: one encoded prompt, shape (N, D_e).
        positions: M of them, from 0; all if None.

    Raises:
        ValueError: for heads of another kind, another shape of z, positions that are none of the prompt, or numbers
            that are not finite.
    """
    tokens = np.asarray(z, dtype=np.float64)
    if tokens.ndim != 2 or tokens.shape[1] != stream.width:
        raise ValueError(f"A prompt has the shape (N, {stream.width}), not {tokens.shape}.")
    require_finite("z", tokens)
    chosen = np.arange(len(tokens)) if positions is None else np.asarray(positions)
    if chosen.dtype.kind not in "iu" or (chosen.size and not (chosen.min() >= 0 and chosen.max() < len(tokens))):
        raise ValueError(f"The positions are the integers 0, ..., {len(tokens) - 1}.")
    result = []
    for number, head in enumerate(layer.heads, start=1):
        plain = head.weigh == "softmax" and not head.causal and head.null is None and head.output is None
        same = all(
            (part.weight == np.eye(stream.width)).all() and not part.bias.any() for part in (head.key, head.value)
        )
        if not plain or not same or len(head.relative_keys):
            raise ValueError(f"Head {number} must be merged, with softmax weights and the tokens themselves as values.")
        W = to_float(head.query.weight) * head.scale
        used = np.flatnonzero(W.any(axis=0))  # the other coordinates of the keys add nothing to the scores
        queries = tokens[chosen] @ W[:, used] + (to_float(head.query.offset) * head.scale)[used]
        if not used.size:
            used, queries = np.array([0]), np.zeros((len(chosen), 1))
        result.append(blocked_attention(queries, tokens[:, used], tokens[:, stream["x"]]))
    return np.stack(result, axis=1)
