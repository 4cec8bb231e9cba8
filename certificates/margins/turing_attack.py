"""Attacks on the all-layer margin of a compiled Turing machine: perturbations of its weights that flip a prediction.

`null_key_flip` makes the null pair of one layer win by one column of weights, is checked in exact arithmetic, and so
bounds the margin from above; `lemmata.certificates.margins.turing_scores` has a sharper attack. `random_perturbations`
and `worst_prediction` look inside the ball of the certificate of `lemmata.certificates.margins.turing_direct`, in
float64, for a prediction that flips; there must be none.

Source: turing, theorem-4.1, definition-all-layer-margin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.decoder import DecoderLayer, identity_attention
from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.evaluators.registry import DENSE, EXACT
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.rationals import as_fraction
from lemmata.numerics.exact.systems import Array

__all__ = [
    "NullKeyFlip",
    "filled_layers",
    "null_key_flip",
    "parameter_count",
    "perturbed_layers",
    "predictions",
    "random_perturbations",
    "worst_prediction",
]

GAP = 2e-9
"""Scores within half of it tie in perturbed runs: far above rounding, far below what a perturbation does to a tie."""


def perturbed_layers(transformer: TuringTransformer, delta: Array) -> tuple[DecoderLayer, ...]:
    """The layers in float64 with a perturbation added; identity attentions count as heads of zero weights.

    Args:
        transformer: the compiled machine.
        delta: one number for each weight of the layers, in the order of `filled_layers`; shape (p,).
    """
    position = 0

    def moved(array: Array) -> Array:
        nonlocal position
        position += array.size
        return array.astype(np.float64) + delta[position - array.size : position].reshape(array.shape)

    return tuple(layer.map(moved) for layer in filled_layers(transformer))


def filled_layers(transformer: TuringTransformer) -> tuple[DecoderLayer, ...]:
    """The layers in float64, with heads of zero weights for identity attentions and ties decided to 10^-9."""
    zero = identity_attention(transformer.layout.width)
    layers = []
    for layer in transformer.layers:
        heads = [head or zero for head in (layer.self_attention, layer.cross_attention)]
        own, cross = (replace(head, gap=GAP) for head in heads)
        layers.append(replace(layer, self_attention=own, cross_attention=cross).map(to_float))
    return tuple(layers)


def parameter_count(layers: Sequence[DecoderLayer]) -> int:
    """The number of weights of the layers."""
    return sum(array.size for layer in layers for array in layer.arrays())


@dataclass(frozen=True)
class NullKeyFlip:
    """A perturbation of the query of layer C.6 at which the run on a word no longer gives its prediction.

    Attributes:
        bias: what is added to b_Q at the null coordinate.
        weights: what is added to W_Q there, by row.
        prediction: F after the perturbation, exact.
    """

    bias: Fraction
    weights: Mapping[int, Fraction]
    prediction: Fraction

    @property
    def norm_squared(self) -> Fraction:
        """The exact squared 2-norm."""
        return self.bias**2 + sum((x**2 for x in self.weights.values()), start=Fraction(0))


def null_key_flip(transformer: TuringTransformer, word: Sequence[int], *, weights: bool = True) -> NullKeyFlip:
    """A short perturbation that makes the null pair of layer C.6 win, and so flips the prediction at a word.

    The null pair's score is 1 below that of the last visit, and 2 P - 1 times the query's null coordinate. That
    coordinate moves along b_Q alone, with the threshold 1/(2 P - 1), or, with ``weights``, along (z, 1) for the bits z
    of the query at the time that has most ones, of those that flip. The least multiple is found by bisection; each
    trial is exact.

    Raises:
        ValueError: if the word is not decided, or no such perturbation flips its prediction.
    """
    number = next(i for i, layer in enumerate(transformer.layers) if layer.name == "C.6")
    run = EXACT.run(transformer, [word], hidden=True)
    assert run.hidden is not None
    label = run.predictions[0]
    if label not in (1, -1):
        raise ValueError(f"The machine has not decided the word {tuple(word)} after {transformer.steps} steps.")
    rows = [np.flatnonzero(z).tolist() for z in run.hidden[0, 1:, number - 1]] if weights else [[]]
    P = transformer.layout.bits

    def trial(places: list[int], scale: Fraction) -> NullKeyFlip | None:
        flip = NullKeyFlip(scale, dict.fromkeys(places, scale), Fraction(0))
        value = EXACT.run(_moved(transformer, number, flip), [word]).predictions[0]
        return None if label * value > 0 else replace(flip, prediction=as_fraction(value))

    for places in sorted(rows, key=len, reverse=True):
        threshold = Fraction(1, (2 * P - 1) * (1 + len(places)))
        high = Fraction(1001, 1000) * threshold
        found = trial(places, high)
        if found is not None:
            break
    else:
        raise ValueError(f"The word {tuple(word)} keeps its prediction although the null pair of layer C.6 wins.")
    low = Fraction(0)
    for _ in range(8):
        middle = (low + high) / 2
        flip = trial(places, middle)
        low, high, found = (middle, high, found) if flip is None else (low, middle, flip)
    return found


def _moved(transformer: TuringTransformer, number: int, flip: NullKeyFlip) -> TuringTransformer:
    """The transformer with the perturbation added to the query of a layer, exactly."""
    layer = transformer.layers[number]
    head = layer.self_attention
    assert head is not None
    weight, bias = (as_exact(array) for array in head.query.arrays())
    null = int(np.flatnonzero(head.null_key).item())
    bias[null] += as_exact([flip.bias])[0]
    for row, value in flip.weights.items():
        weight[row, null] += as_exact([value])[0]
    moved = replace(layer, self_attention=replace(head, query=Affine(weight, bias)))
    layers = (*transformer.layers[:number], moved, *transformer.layers[number + 1 :])
    return replace(transformer, layers=layers)


def random_perturbations(transformer: TuringTransformer, radius: float, count: int, seed: int) -> Iterator[Array]:
    """Perturbations of all weights of the layers, of norm ``radius``: dense, sparse, or within one layer, in turn."""
    random = np.random.default_rng(seed)
    layers = filled_layers(transformer)
    ends = np.cumsum([parameter_count([layer]) for layer in layers])
    for trial in range(count):
        delta = np.zeros(ends[-1])
        if trial % 3 == 0:
            delta = random.standard_normal(ends[-1])
        elif trial % 3 == 1:
            places = random.integers(0, ends[-1], 20)
            delta[places] = random.standard_normal(20)
        else:
            number = random.integers(len(ends))
            start = 0 if number == 0 else ends[number - 1]
            delta[start : ends[number]] = random.standard_normal(ends[number] - start)
        yield radius * delta / np.linalg.norm(delta)


def predictions(transformer: TuringTransformer, words: Sequence[Sequence[int]], delta: Array) -> Any:
    """F on some words with perturbed layers, in float64, shape (B,)."""
    return DENSE.run(replace(transformer, layers=perturbed_layers(transformer, delta)), words).predictions


def worst_prediction(
    transformer: TuringTransformer, word: Sequence[int], radius: float, steps: int, seed: int
) -> tuple[float, float]:
    """The smallest right sign times F that projected gradient steps find in a ball, all parameters moving.

    The gradient of a hard maximum is that of its values; scores move in the random start only.

    Returns:
        the margin found, and the norm of its perturbation, at most ``radius``.
    """
    import torch

    module = replace(transformer, layers=filled_layers(transformer)).to_torch()
    parameters = list(module.parameters())
    origin = torch.nn.utils.parameters_to_vector(parameters).detach().clone()
    with torch.no_grad():
        sign = float(torch.sign(module([word])[0][0, -1] @ module.classifier))
    generator = torch.Generator().manual_seed(seed)
    delta = torch.randn(len(origin), generator=generator, dtype=origin.dtype)
    best, norm = np.inf, 0.0
    for step in range(steps + 1):
        delta = delta * min(1.0, radius / float(delta.norm())) if step else delta * (radius / float(delta.norm()))
        with torch.no_grad():
            torch.nn.utils.vector_to_parameters(origin + delta, parameters)
        margin = sign * (module([word])[0][0, -1] @ module.classifier)
        if margin.item() < best:
            best, norm = margin.item(), float(delta.norm())
        gradients = torch.autograd.grad(margin, parameters, allow_unused=True)
        flat = [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, gradients, strict=True)]
        gradient = torch.nn.utils.parameters_to_vector(flat)
        delta = delta - radius * gradient / max(float(gradient.norm()), 1e-300)
    return best, norm
