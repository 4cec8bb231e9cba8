"""The sharpest attack known on the all-layer margin of a compiled Turing machine: scores pushed past each other.

At every layer with attention and every time, the attended token or null pair leads by a gap. `score_flip` moves the
query, the keys and the null key of that layer and the weights of the rounding before it, from which the tokens come, so
that the gap closes: first in every place to first order, along the gradient of the gap, and then where that is cheapest
by sequential quadratic programming in float64. What it finds is rounded to rationals, and the whole run is repeated in
exact arithmetic, so that the norm of a flip bounds the margin from above whatever the search did. `replay_score_flip`
checks such a perturbation alone.

Source: turing, theorem-4.1, definition-all-layer-margin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.decoder import DecoderLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.evaluators.registry import EXACT
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.rationals import as_fraction
from lemmata.numerics.exact.systems import Array

if TYPE_CHECKING:
    import torch

__all__ = ["ScoreFlip", "replay_score_flip", "score_flip"]

DENOMINATOR = 2**40
"""The common denominator of the perturbations that the search returns."""
ROUNDING = ("expand.weight", "expand.bias", "collapse.weight", "collapse.bias")
"""The weights of the rounding before the layer."""
HEAD = ("query.weight", "query.bias", "key.weight", "key.bias", "null_key")
"""The weights of the layer's head that decide its scores."""
Moves = Mapping[str, Mapping[tuple[int, ...], Fraction]]


@dataclass(frozen=True)
class ScoreFlip:
    """A perturbation of a layer's scores at which the run on a word no longer gives its prediction.

    Attributes:
        layer: the number of the layer, from 0; the rounding that moves is that of the layer before.
        time: the time step at which the search closed the gap.
        moves: what is added to the weights: by name (`ROUNDING`, `HEAD`) and place.
        prediction: F after the perturbation, exact.
    """

    layer: int
    time: int
    moves: Moves
    prediction: Fraction

    @property
    def norm_squared(self) -> Fraction:
        """The exact squared 2-norm, at least rho^2."""
        return sum((x**2 for part in self.moves.values() for x in part.values()), start=Fraction(0))

    @property
    def norm(self) -> float:
        """The 2-norm, to float64."""
        return float(self.norm_squared) ** 0.5

    def document(self) -> dict[str, Any]:
        """The perturbation as plain data for JSON; see `replay_score_flip`."""
        moves = {
            name: [[*place, str(x)] for place, x in sorted(part.items())] for name, part in self.moves.items() if part
        }
        return {"layer": self.layer, "time": self.time, "moves": moves, "norm": self.norm}


@dataclass(frozen=True)
class _Gap:
    """The lead of one score over another one at a layer and time, on true tokens.

    Attributes:
        layer, time: where.
        token: what the rounding before the layer gets for the query's token, shape (d,).
        winner, loser: what it gets for an attended token or the encoder's token, None for the null pair.
    """

    layer: int
    time: int
    token: Array
    winner: Array | None
    loser: Array | None


def score_flip(
    transformer: TuringTransformer, word: Sequence[int], *, tries: int = 4, steps: int = 12
) -> ScoreFlip | None:
    """The shortest perturbation found that flips the prediction at a word, or None if none of the tries does.

    Args:
        transformer: a compiled machine.
        word: symbol indices.
        tries: how many gaps are closed, beginning with those that are cheapest to first order.
        steps: of sequential quadratic programming, for each of them.

    Raises:
        ValueError: if the word is not decided.
    """
    run = EXACT.run(transformer, [word], hidden=True)
    assert run.hidden is not None
    label = run.predictions[0]
    if label not in (1, -1):
        raise ValueError(f"The machine has not decided the word {tuple(word)} after {transformer.steps} steps.")
    priced = []
    for number, gap in enumerate(_gaps(transformer, word, to_float(run.hidden[0]))):
        value, gradient = _value_and_gradient(transformer, gap, None)
        length = sum(float((part**2).sum()) for part in gradient.values()) ** 0.5
        priced.append((value / max(length, 1e-300), number, gap))
    best: ScoreFlip | None = None
    for estimate, _, gap in sorted(priced, key=lambda entry: entry[:2])[:tries]:
        if best is None or estimate < best.norm:
            found = _closed(transformer, gap, word, label, steps)
            if found is not None and (best is None or found.norm_squared < best.norm_squared):
                best = found
    return best


def replay_score_flip(transformer: TuringTransformer, word: Sequence[int], document: Mapping[str, Any]) -> ScoreFlip:
    """The flip that plain data describe, after a run in exact arithmetic that shows that the prediction flips.

    Raises:
        ValueError: if the data are malformed, a place is no weight, or the prediction does not flip.
    """
    try:
        number, time = int(document["layer"]), int(document["time"])
        moves = {
            str(name): {tuple(int(i) for i in entry[:-1]): Fraction(entry[-1]) for entry in part}
            for name, part in document["moves"].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise ValueError("A perturbation has a 'layer', a 'time' and 'moves': name, then [place, value].") from None
    if not 0 < number < len(transformer.layers) or not transformer.layers[number].attentions():
        raise ValueError(f"Layer {number} has no scores that a rounding before it could move.")
    arrays = _arrays(transformer, number)
    for name, part in moves.items():
        inside = name in arrays and all(
            len(place) == arrays[name].ndim and all(0 <= i < n for i, n in zip(place, arrays[name].shape, strict=True))
            for place in part
        )
        if not inside:
            raise ValueError(f"{name!r} has a place that is no weight; names are {', '.join(arrays)}.")
    label, value = (
        EXACT.run(one, [word]).predictions[0] for one in (transformer, moved_scores(transformer, number, moves))
    )
    if label * value > 0:
        raise ValueError(f"The perturbation does not flip the prediction: F is {value}, and was {label}.")
    return ScoreFlip(number, time, moves, as_fraction(value))


def moved_scores(transformer: TuringTransformer, number: int, moves: Moves) -> TuringTransformer:
    """The transformer with a perturbation of the scores of a layer added, exactly."""
    arrays = {name: as_exact(array) for name, array in _arrays(transformer, number).items()}
    for name, part in moves.items():
        for place, x in part.items():
            arrays[name][place] += as_exact([x])[0]
    layers = list(transformer.layers)
    before, layer = layers[number - 1], layers[number]
    expand, collapse = (Affine(arrays[f"{part}.weight"], arrays[f"{part}.bias"]) for part in ("expand", "collapse"))
    head = replace(
        _head(layer),
        query=Affine(arrays["query.weight"], arrays["query.bias"]),
        key=Affine(arrays["key.weight"], arrays["key.bias"]),
        null=(arrays["null_key"], _head(layer).null_value),
    )
    side = "self_attention" if layer.self_attention is not None else "cross_attention"
    layers[number - 1] = replace(before, feed_forward=FeedForward((before.feed_forward.layers[0], expand, collapse)))
    layers[number] = replace(layer, **{side: head})
    return replace(transformer, layers=tuple(layers))


def _head(layer: DecoderLayer) -> Head:
    (head,) = layer.attentions()
    return head


def _arrays(transformer: TuringTransformer, number: int) -> dict[str, Array]:
    """The weights that move, by name."""
    _, expand, collapse = transformer.layers[number - 1].feed_forward.layers
    head = _head(transformer.layers[number])
    found = (*expand.arrays(), *collapse.arrays(), *head.query.arrays(), *head.key.arrays(), head.null_key)
    return dict(zip((*ROUNDING, *HEAD), found, strict=True))


def _gaps(transformer: TuringTransformer, word: Sequence[int], outputs: Array) -> Iterator[_Gap]:
    """At every layer with attention and every time: the leading score against those just below it.

    Against the null pair, and against the best of the tokens that do not lead.
    """
    encoded = transformer.encode(word).astype(float)
    for number, layer in enumerate(transformer.layers):
        for head in layer.attentions():
            for time in range(1, transformer.steps + 1):
                token = outputs[time, number - 1]
                own = layer.self_attention is not None
                memory = outputs[1 : time + 1, number - 1] if own else encoded
                if not len(memory):
                    continue
                null, *scores = head.scores(token[None], head.key(memory))[0].tolist()
                order = sorted(range(len(scores)), key=lambda j: -scores[j])
                lead = scores[order[0]]
                below = [memory[j] for j in order if scores[j] < lead][:1]
                if null > lead:
                    yield _Gap(number, time, token, None, memory[order[0]])
                else:
                    yield from (_Gap(number, time, token, memory[order[0]], loser) for loser in (None, *below))


def _value_and_gradient(
    transformer: TuringTransformer, gap: _Gap, delta: Mapping[str, Array] | None
) -> tuple[float, dict[str, Array]]:
    """The lead of the winner at moved weights, and its gradient."""
    import torch

    weights = {}
    for name, array in _arrays(transformer, gap.layer).items():
        moved = to_float(array) if delta is None else to_float(array) + delta[name]
        weights[name] = torch.from_numpy(np.ascontiguousarray(moved)).requires_grad_(True)
    lead = _lead(weights, gap, rounded=transformer.layers[gap.layer].self_attention is not None)
    gradients = torch.autograd.grad(lead, list(weights.values()), allow_unused=True)
    found = {
        name: np.zeros(tuple(weights[name].shape)) if part is None else part.numpy()
        for name, part in zip(weights, gradients, strict=True)
    }
    return float(lead.detach()), found


def _lead(w: Mapping[str, torch.Tensor], gap: _Gap, *, rounded: bool) -> torch.Tensor:
    """The winner's score less the loser's; the encoder's tokens pass through no rounding."""
    import torch

    def rounding(token: Array) -> torch.Tensor:
        hidden = torch.relu(torch.from_numpy(token) @ w["expand.weight"] + w["expand.bias"])
        return torch.relu(hidden @ w["collapse.weight"] + w["collapse.bias"])

    def key(token: Array | None) -> torch.Tensor:
        if token is None:
            return w["null_key"]
        return (rounding(token) if rounded else torch.from_numpy(token)) @ w["key.weight"] + w["key.bias"]

    query = rounding(gap.token) @ w["query.weight"] + w["query.bias"]
    return query @ (key(gap.winner) - key(gap.loser))


def _closed(transformer: TuringTransformer, gap: _Gap, word: Sequence[int], label: Any, steps: int) -> ScoreFlip | None:
    """The shortest perturbation found that closes a gap, if it flips the prediction in exact arithmetic.

    delta becomes the shortest vector at which the linearised lead vanishes; a fixed point satisfies the first-order
    conditions of the closest point of the surface where the two scores tie.
    """
    value, gradient = _value_and_gradient(transformer, gap, None)
    delta = {name: np.zeros_like(part) for name, part in gradient.items()}
    for _ in range(steps):
        squared = sum(float((part**2).sum()) for part in gradient.values())
        along = sum(float((part * delta[name]).sum()) for name, part in gradient.items())
        if squared == 0:
            return None
        delta = {name: (along - value) / squared * part for name, part in gradient.items()}
        value, gradient = _value_and_gradient(transformer, gap, delta)
    for growth in (1e-6, 1e-4, 1e-2):
        moves: dict[str, dict[tuple[int, ...], Fraction]] = {}
        for name, part in delta.items():
            integers = np.rint(part * (1 + growth) * DENOMINATOR).astype(np.int64)
            places = map(tuple, np.argwhere(integers).tolist())
            moves[name] = {place: Fraction(int(integers[place]), DENOMINATOR) for place in places}
        found = EXACT.run(moved_scores(transformer, gap.layer, moves), [word]).predictions[0]
        if label * found <= 0:
            return ScoreFlip(gap.layer, gap.time, moves, as_fraction(found))
    return None
