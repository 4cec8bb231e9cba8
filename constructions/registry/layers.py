"""The layers of the shared vocabulary in the registry, on streams of four tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.decoder import DecoderLayer, identity_attention
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head, merged_head
from lemmata.constructions.networks.layer_norm import LayerNorm
from lemmata.constructions.networks.multiplication import Multiplication
from lemmata.constructions.networks.projection import BallProjection, Clipping
from lemmata.constructions.networks.recurrent import RecurrentCell, RecurrentLayer, elman_cell
from lemmata.constructions.networks.residual import Residual
from lemmata.constructions.networks.stored import HeadFamily, StoredAttention, StoredFeedForward, StoredMultiplication
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.registry.entry import WITHOUT_EXACT, Registered, integers, weights
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.systems import Array

STREAM = ResidualStream({"a": 2, "b": 3, "1": 1})
EVERY = STREAM.directions()


def _affine(d: int, e: int, seed: int) -> Affine:
    return Affine(weights(d, e, seed=seed), weights(e, seed=seed))


def _head(**options: Any) -> Head:
    return Head(_affine(5, 3, 1), _affine(5, 3, 2), _affine(5, 5, 3), **options)


def _both_directions(bound: Any) -> RecurrentLayer:
    """Transitions of two layers with a residual and a bound, states before a token, a read-out of states and token."""
    transitions = [
        FeedForward((_affine(7, 3, seed), _affine(3, 2, seed + 1)), activations=("relu", "identity")) for seed in (1, 3)
    ]
    cells = [RecurrentCell(transition, residual=True, bound=bound) for transition in transitions]
    return RecurrentLayer(*cells, moment="before", keep_token=True, readout=_affine(9, 2, 5))


def _null() -> tuple[Array, Array]:
    return 4 * weights(3, seed=12), weights(5, seed=5)  # it wins for some tokens, and is near to it for others


def _families() -> tuple[HeadFamily, ...]:
    """Two of them, with one and with two coordinates in the scores, and values that overlap."""
    first = HeadFamily(EVERY[[0]], EVERY[[1]], EVERY[[5]], EVERY[[5, 2]], EVERY[[2, 3]], *weights(3, 3, seed=3))
    return first, HeadFamily(EVERY[[0, 2]], EVERY[[3, 1]], EVERY[[5]], EVERY[[4]], EVERY[[3]], *weights(3, 2, seed=4))


def _decoder() -> DecoderLayer:
    """Its two heads have null pairs; attention to the encoder adds nothing."""
    own = _head(weigh="hardmax", gap=1, null=_null(), causal=False)
    return DecoderLayer("decoder", own, identity_attention(5), FeedForward((_affine(5, 4, 1), _affine(4, 5, 2))))


def _decoded(layer: DecoderLayer, module: Any, z: Array) -> Array:
    """The outputs of the module of a decoder's layer, on memories as `LAYERS` gives them to the layer."""
    import torch  # slow to import

    tokens = torch.from_numpy(to_float(z))
    with torch.no_grad():
        history, encoded = ((part.key(tokens), part.value(tokens)) for part in (module.own, module.cross))
        return module(tokens, history, encoded).numpy()


def _dense(layer: Any) -> Any:
    return layer.dense()


def _layer(name: str, build: Callable[[], Any], width: int = 5, **options: Any) -> Registered:
    """A layer on streams of four tokens."""
    return Registered(f"layer: {name}", build, integers(2, 4, width), **options)


LAYERS: tuple[Registered, ...] = (
    _layer("affine", lambda: _affine(5, 3, 1)),
    _layer("head, softmax", lambda: _head(temperature_squared=3), systems=WITHOUT_EXACT),
    _layer("head, hard maximum", lambda: _head(weigh="hardmax", gap=1)),
    _layer("head, ReLU", lambda: _head(weigh="relu", causal=False)),
    _layer(
        "head, relative keys and sharpness",
        lambda: _head(relative_keys=weights(2, 3), sharpness=2),
        systems=WITHOUT_EXACT,
    ),
    _layer("head, null pair", lambda: _head(weigh="hardmax", gap=1, null=_null())),
    _layer("attention", lambda: AttentionLayer((_head(weigh="hardmax", gap=1), _head(weigh="relu")))),
    _layer("attention, concatenated", lambda: AttentionLayer((_head(weigh="relu"),) * 2, combination="concatenate")),
    _layer("attention, added", lambda: AttentionLayer((_head(weigh="relu"),) * 2, combination="sum")),
    _layer(
        "attention of a class token",
        lambda: AttentionLayer((_head(weigh="hardmax", gap=1, causal=False),), attending="first"),
    ),
    _layer("feed-forward, ReLU", lambda: FeedForward((_affine(5, 4, 1), _affine(4, 5, 2)), residual=True)),
    _layer(
        "feed-forward, GeLU",
        lambda: FeedForward((_affine(5, 4, 1), _affine(4, 5, 2)), activations=("gelu", "identity")),
        systems=WITHOUT_EXACT,
    ),
    _layer("layer norm", lambda: LayerNorm(weights(5, seed=6), weights(5)), systems=WITHOUT_EXACT),
    _layer("residual", lambda: Residual((AttentionLayer((_head(weigh="relu"),), "concatenate"), _affine(5, 5, 4)))),
    _layer(
        "multiplication", lambda: Multiplication(weights(2, 5, 3, seed=1), weights(2, 5, 3, seed=2), weights(2, 5, 5))
    ),
    _layer("decoder", _decoder, run=lambda layer, z: layer(z, z, z), run_torch=_decoded),
    _layer("stored attention", lambda: StoredAttention(_families()), width=6, dense=_dense),
    _layer(
        "stored feed-forward",
        lambda: StoredFeedForward(
            EVERY[[[0, 1], [2, 5], [2, 2]]], weights(3, 2, seed=1), EVERY[[0, 3, 3]], weights(3, seed=1)
        ),
        width=6,
        dense=_dense,
    ),
    _layer(
        "stored multiplication",
        lambda: StoredMultiplication(EVERY[[[0, 1], [2, 5]]], EVERY[[[2, 3], [4, 5]]], EVERY[[0, 1]], EVERY[[3, 3]]),
        width=6,
        dense=_dense,
    ),
    _layer("merged scores", lambda: merged_head(weights(5, 5), weigh="relu", causal=False)),
    _layer("clipping", lambda: Clipping(5, -1, 2)),
    _layer("projection on a ball", lambda: BallProjection(5, 2), systems=WITHOUT_EXACT),
    _layer("recurrent", lambda: RecurrentLayer(elman_cell(weights(3, 3), weights(5, 3)), readout=_affine(3, 2, 1))),
    _layer("recurrent, both directions, clipped", lambda: _both_directions(Clipping(2, -1, 2))),
    _layer(
        "recurrent, both directions, projected", lambda: _both_directions(BallProjection(2, 2)), systems=WITHOUT_EXACT
    ),
)
