"""A certified lower bound of the all-layer margin of a compiled Turing machine.

Steps f of theorem D.6 (`lemmata.certificates.margins.all_layer`) are, for every layer and time, the two attentions and
the first ReLU layer; the corrections are the two ReLU layers of the rounding. Hard attention satisfies the joint
inequality of the theorem while scores that differ stay apart, with constants mu and kappa_theta that `step_constants`
computes from the operator norms of a layer; `machine_margin_bound` chooses the best radii. The derivation is in
TURING_MARGIN.md beside this file. It rests on hypotheses on the unperturbed run, that every compiled machine satisfies
(theorems/turing/test_theorem_4_1.py); `run_facts` measures them on given words, also for other weights.

Attacks, which bound the margin from above, are in `lemmata.certificates.margins.turing_attack`.

Source: turing, theorem-4.1, theorem-D.6, definition-D.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from lemmata.certificates.margins.all_layer import BITS, MarginBound, MarginConstants, margin_bound, operator_norm
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.decoder import DecoderLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.evaluators.registry import EXACT
from lemmata.numerics.exact.balls import as_balls, ball_max, precision
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.systems import Array

__all__ = [
    "HeadNorms",
    "LayerNorms",
    "RunFacts",
    "layer_norms",
    "machine_margin_bound",
    "run_facts",
    "step_constants",
]


@dataclass(frozen=True)
class HeadNorms:
    """Operator norms of a head, and bounds of the norms of its queries, keys and values on bits."""

    query: arb
    key: arb
    value: arb
    largest_query: arb
    largest_key: arb
    largest_value: arb
    null_key: arb


@dataclass(frozen=True)
class LayerNorms:
    """The heads of a layer, None for an identity attention, and the operator norm of its first ReLU layer."""

    heads: tuple[HeadNorms | None, ...]
    first_map: arb


@dataclass(frozen=True)
class RunFacts:
    """What the certificate assumes of unperturbed runs (TURING_MARGIN.md, section 2), measured.

    Attributes:
        binary: whether all tokens are bits.
        most_ones: the largest number of ones of a token, to be at most lambda^2.
        smallest_gap: the smallest difference of scores that do not tie, to be at least 1.
        tie_spread: the largest difference of tied values from their mean, to be 0.
    """

    binary: bool
    most_ones: int
    smallest_gap: float
    tie_spread: float


def machine_margin_bound(transformer: TuringTransformer) -> MarginBound:
    """The best bound over a grid of radii sigma_h and sigma_theta, with lambda^2 = max(4 P + 3, 3 P + 6).

    It holds for every word whose run satisfies the hypotheses (see `run_facts`) and whose output is 1 or -1.

    Raises:
        ValueError: if weights of an attention are no integers, or no radius is small enough.
    """
    with precision(BITS):
        norms = [layer_norms(layer) for layer in transformer.layers]
        classifier = _vector_norm(transformer.classifier)
        best: MarginBound | None = None
        for sigma_h in (Fraction(n, 2**k) for k in range(6, 14) for n in (4, 6)):
            for eta in (Fraction(n, 2**k) for k in range(10, 22) for n in (7, 6, 5, 4)):
                bound = _bound(transformer, norms, classifier, sigma_h, eta)
                if bound is not None and (best is None or bound.value > best.value):
                    best = bound
                if bound is not None and bound.binding == "sigma_theta":
                    break  # smaller radii bind all the more
    if best is None:
        raise ValueError("No radius down to 2^-19 keeps the scores apart: the bound does not apply to this network.")
    return best


def run_facts(transformer: TuringTransformer, words: Sequence[Sequence[int]]) -> RunFacts:
    """The hypotheses on the runs on some words, measured; the tokens come from the exact evaluator."""
    T = transformer.steps
    beta = np.array([transformer.beta(time) for time in range(T + 1)])
    own = np.tri(T + 1, T, -1, dtype=bool)  # at time i, the times 1, ..., i
    ones, gap, spread, binary = 0, np.inf, 0.0, True
    for word in words:
        hidden = EXACT.run(transformer, [word], hidden=True).hidden
        assert hidden is not None
        outputs = to_float(hidden[0])
        memory = transformer.encode(word).astype(float)
        z = np.vstack([transformer.start, outputs[:-1, -1]]) + beta
        for number, layer in enumerate(transformer.layers):
            for rows in (z, memory):
                binary &= bool(np.isin(rows, (0.0, 1.0)).all())
                ones = max(ones, int(rows.sum(1).max(initial=0)))
            everything = np.ones((T + 1, len(memory)), dtype=bool)
            for head, tokens, seen in (
                (layer.self_attention, z[1:], own),
                (layer.cross_attention, memory, everything),
            ):
                if head is not None:
                    z, head_gap, head_spread = _measured(head, z, tokens, seen)
                    gap, spread = min(gap, head_gap), max(spread, head_spread)
            z = outputs[:, number]
    return RunFacts(binary, ones, float(gap), float(spread))


def layer_norms(layer: DecoderLayer) -> LayerNorms:
    """Upper bounds of the norms that `step_constants` needs.

    Raises:
        ValueError: if queries, keys or the null key of a head are no integers.
    """
    heads = tuple(None if h is None else _head_norms(h) for h in (layer.self_attention, layer.cross_attention))
    return LayerNorms(heads, operator_norm(layer.feed_forward.layers[0].weight))


def step_constants(norms: LayerNorms, lam: arb, sigma_h: arb, eta: arb) -> tuple[arb, arb] | None:
    """kappa_theta lambda and mu of a step, or None if scores might meet (TURING_MARGIN.md, sections 3 and 4).

    Args:
        norms: of the layer.
        lam: lambda, a bound of the norms of the true tokens.
        sigma_h: how far tokens may move.
        eta: how far the parameters of the step may move.
    """
    S = ((lam + sigma_h) ** 2 + 1).sqrt()
    a, b, norm = arb(1), arb(0), lam
    for head in norms.heads:
        if head is not None:
            delta = a * sigma_h + b * eta
            dq = head.query * delta + eta * ((norm + delta) ** 2 + 1).sqrt()
            dk = head.key * sigma_h + eta * S
            ds = dq * head.largest_key + head.largest_query * dk + dq * dk
            d0 = dq * head.null_key + head.largest_query * eta + dq * eta
            if not ball_max([2 * ds, ds + d0]) < 1:
                return None
            a, norm = a + head.value, norm + head.largest_value
        b = b + S
    delta = a * sigma_h + b * eta
    return norms.first_map * b + ((norm + delta) ** 2 + 1).sqrt(), norms.first_map * a


def _measured(head: Head, z: Array, tokens: Array, seen: Array) -> tuple[Array, float, float]:
    """The output of a head on all times, its smallest gap, and the largest difference of tied values."""
    scores = head.scores(z, head.key(tokens))
    scores[:, 1:][~seen] = -np.inf
    values = np.vstack([head.null_value, head.value(tokens)])
    top = scores.max(1, keepdims=True)
    tied = scores == top
    below = np.where(tied | np.isinf(scores), np.inf, top - scores)
    means = tied @ values / tied.sum(1, keepdims=True)
    spread = max(float(np.abs(values[row] - mean).max()) for row, mean in zip(tied, means, strict=True))
    return z + means, float(below.min()), spread


def _bound(
    transformer: TuringTransformer, norms: list[LayerNorms], classifier: arb, sigma_h: Fraction, eta: Fraction
) -> MarginBound | None:
    """The bound for given radii, or None where they let scores meet."""
    P = transformer.layout.bits
    lam = arb(max(4 * P + 3, 3 * P + 6)).sqrt()
    h, t = (as_balls([x])[0] for x in (sigma_h, eta))
    steps = [step_constants(layer, lam, h, t) for layer in norms]
    if any(step is None for step in steps):
        return None
    kappa = ball_max([lam + h, *(step[0] for step in steps if step is not None)])
    mu = ball_max([classifier, *(step[1] for step in steps if step is not None)])
    threshold = -Fraction(str(transformer.layers[0].feed_forward.layers[1].bias[0]))
    slope = as_balls([1 / (1 - 2 * threshold)])[0]
    kappa_xi = (4 * slope**2 + 2 * (1 + t) ** 2 + 1).sqrt()
    # every step has a predecessor (the first tokens count as values that move, see extra), so no f_0 adds a constant
    constants = MarginConstants(2 * kappa, mu, kappa / lam, kappa_xi, lam, eta, eta, threshold, sigma_h)
    extra = {"sigma_h": sigma_h, "sigma_zeta/(2 mu)": as_balls([threshold])[0] / (2 * mu)}
    return margin_bound(constants, extra)


def _head_norms(head: Head) -> HeadNorms:
    for array in (*head.query.arrays(), *head.key.arrays(), head.null_key):
        if array.dtype.kind not in "iu":
            raise ValueError("The certificate needs integer queries and keys, so that scores that differ differ by 1.")
    sizes = [_largest_on_bits(part) for part in (head.query, head.key, head.value)]
    norms = [operator_norm(part.weight) for part in (head.query, head.key, head.value)]
    return HeadNorms(norms[0], norms[1], norms[2], sizes[0], sizes[1], sizes[2], _vector_norm(head.null_key))


def _largest_on_bits(layer: Affine) -> arb:
    """A bound of ||z W + b|| over all bit vectors z, coordinate by coordinate."""
    high = np.maximum(layer.weight, 0).sum(axis=0) + layer.offset
    low = np.minimum(layer.weight, 0).sum(axis=0) + layer.offset
    return _vector_norm(np.maximum(np.abs(high), np.abs(low)))


def _vector_norm(vector: Array) -> arb:
    return as_balls([sum(x**2 for x in as_exact(vector).tolist())])[0].sqrt()
