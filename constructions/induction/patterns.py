"""Where the heads of a transformer attend: at the token before, and at the tokens that followed the last symbol.

An induction head of two layers looks back a step in the first, and in the second from the last token to the tokens
whose predecessor equals it. Both are shares of attention, read off the weights for given sequences.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.transformer import Transformer

__all__ = ["HeadScores", "head_scores", "matches"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeadScores:
    """The attention of the H heads of one layer on B sequences of t tokens.

    Attributes:
        previous: the weight on the token before, averaged over the tokens 2, ..., t; shape (B, H), 0 if t = 1.
        matching: the weight of the last token on the tokens whose predecessor equals it, shape (B, H).
    """

    previous: FloatArray
    matching: FloatArray


def matches(tokens: ArrayLike) -> NDArray[np.bool_]:
    """Which tokens follow one that equals the last, shape (B, t) as the sequences."""
    x = np.atleast_2d(np.asarray(tokens))
    found = np.zeros(x.shape, dtype=bool)
    found[:, 1:] = x[:, :-1] == x[:, -1:]
    return found


def head_scores(model: Transformer, tokens: ArrayLike) -> tuple[HeadScores | None, ...]:
    """The scores of the heads of every layer in float64; None for layers that are no attention.

    Args:
        model: of causal layers; rows of its prefix are attended, and count in neither score.
        tokens: symbols, shape (B, t) or (t,).

    Raises:
        ValueError: as a call of the model; if the first row alone attends.
    """
    x = np.atleast_2d(np.asarray(tokens))
    followers, r = matches(x), len(model.prefix)
    z, found = model.embed(x), []
    for layer in model.layers:
        if not isinstance(layer, AttentionLayer):
            z = layer(z)
            found.append(None)
            continue
        if layer.attending != "all":
            raise ValueError("Where the first row alone attends, there is no token before, and no last one.")
        outputs, scores = [], []
        for head in layer.heads:
            weights = head.attention(z)
            outputs.append(head.combine(weights, head.value(z)))
            own = weights[:, r:, r + (head.null is not None) :].astype(np.float64)
            before = np.diagonal(own, offset=-1, axis1=1, axis2=2)
            previous = before.mean(axis=1) if before.shape[1] else np.zeros(len(x))
            scores.append((previous, (own[:, -1] * followers).sum(axis=1)))
        z = layer.join(z, outputs)
        previous, matching = (np.stack(columns, axis=1) for columns in zip(*scores, strict=True))
        found.append(HeadScores(previous, matching))
    return tuple(found)
