"""The run of a decoder: a stack of layers that computes one token after the other and is fed its own outputs.

Attention is over the past; every layer keeps the projected keys and values of the tokens that it has seen, so that a
step costs what one token costs, and the outputs are those of the stack on the whole sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.recurrent import RecurrentCell, RecurrentLayer
from lemmata.numerics.exact.systems import Array

TokenWise = Callable[[Array], Array]


def decode(
    layers: Sequence[AttentionLayer | TokenWise],
    start: Array,
    steps: int,
    feed_back: Callable[[Array, int], Array] | None = None,
) -> Array:
    """The outputs of `steps` time steps, shape (..., steps, e).

    The first output is that at the last token of the start; the next token is made of it, appended, and so on.

    Args:
        layers: attention layers, causal with all tokens attending, and maps of single tokens: token-wise layers, or
            for instance ``lambda z: layer(z, encoded)`` of a head that attends to the outputs of an encoder.
        start: the first tokens, shape (..., T, d), T >= 1.
        steps: how many outputs.
        feed_back: the next token from an output of shape (..., 1, e) and the number 0, 1, ... of its step; the output
            itself if None.

    Raises:
        ValueError: for no step or no token, a layer that looks ahead, or heads whose hard maximum needs a proven gap.
        TypeError: for a single head or a recurrent layer, which are no maps of single tokens.
    """
    if steps < 1 or start.ndim < 2 or not start.shape[-2]:
        raise ValueError(
            f"A decoder runs for at least one step from at least one token, not {steps} from {start.shape}."
        )
    stack = [_Kept(layer) if isinstance(layer, AttentionLayer) else _token_wise(layer) for layer in layers]
    outputs, z = [], start
    for step in range(steps):
        for layer in stack:
            z = layer(z)
        outputs.append(z[..., -1:, :])
        z = outputs[-1] if feed_back is None else feed_back(outputs[-1], step)
    return np.concatenate(outputs, axis=-2)


class _Kept:
    """An attention layer with the projected keys and values of all tokens so far."""

    def __init__(self, layer: AttentionLayer) -> None:
        if layer.attending != "all" or not all(head.causal for head in layer.heads):
            raise ValueError("A decoder's attention is causal, and all tokens attend: this layer looks ahead.")
        self.layer = layer
        self.pairs: list[tuple[Array, Array]] = []

    def __call__(self, z: Array) -> Array:
        """The outputs at new tokens z of shape (..., T, d)."""
        new = [(head.key(z), head.value(z)) for head in self.layer.heads]
        if self.pairs:
            new = [
                (np.concatenate([keys, key], axis=-2), np.concatenate([values, value], axis=-2))
                for (keys, values), (key, value) in zip(self.pairs, new, strict=True)
            ]
        self.pairs = new
        T, n = z.shape[-2], new[0][0].shape[-2]
        visible = np.tril(np.ones((T, n), dtype=bool), n - T)
        return self.layer.join(
            z,
            [
                head.combine(head.weights(head.scores(z, keys), visible), values)
                for head, (keys, values) in zip(self.layer.heads, new, strict=True)
            ],
        )


def _token_wise(layer: Any) -> TokenWise:
    if isinstance(layer, Head | RecurrentCell | RecurrentLayer):
        raise TypeError(
            f"A {type(layer).__name__} is no map of single tokens: put a head into an AttentionLayer; recurrent layers "
            "are not decoded."
        )
    return layer
