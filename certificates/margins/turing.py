"""The all-layer margin of a compiled Turing machine: a certified lower bound, and an attack that gives an upper one.

Steps f of theorem D.6 are, for every layer and time, the two attentions and the first ReLU layer; the corrections are
the two ReLU layers of the rounding; all times share the weights of a layer, and no weight occurs twice within a step.
Attentions that are the identity count as heads with all weights zero, which may be perturbed as well.

Hypotheses on the unperturbed run: all tokens that a layer reads are bits with at most lambda^2 ones; scores that do not
tie differ by at least 1 (they are integers); tied values are equal. Every compiled machine satisfies them on every word
that its position codes allow (theorems/turing/test_theorem_4_1.py); `run_facts` measures them on given words, also for
other weights.

Let the tokens move by at most x <= sigma_h and the parameters of a step by t <= eta = sigma_theta, S^2 = (lambda +
sigma_h)^2 + 1, and let a head read a query token that moves by at most delta, of true norm at most n. Then

    dq = ||W_Q|| delta + eta sqrt((n + delta)^2 + 1)     query          dk = ||W_K|| sigma_h + eta S     keys
    ds = dq |k| + |q| dk + dq dk                         scores         d0 = dq |K_0| + |q| eta + dq eta    null score

and if max(2 ds, ds + d0) < 1, the maximisers stay among the true ones, so that the attended value, a mean of values
that agree without the perturbation, moves by at most ||W_V|| x + t S. Adding up over both heads the token after
attention moves by delta = a x + b t S with a = 1 + sum ||W_V||, b = 2, and the step by at most

    ||W_1|| a x + (||W_1|| b S + sqrt((n + delta)^2 + 1)) t     =:     mu x + kappa_theta lambda t,

which is the joint inequality that theorem D.6 needs. The encoder's weights E and the first token h_0 belong to no step
and pass through no correction: they move tokens, so their perturbations must be at most sigma_h and sigma_zeta/(2 mu).

Source: turing, theorem-4.1, theorem-D.6, definition-D.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from certificates.margins.all_layer import BITS, MarginBound, MarginConstants, margin_bound, operator_norm
from constructions.networks.affine import Affine
from constructions.networks.decoder import DecoderAttention, DecoderLayer
from constructions.turing.compiler import TuringTransformer
from constructions.turing.evaluators.exact import run_exact
from numerics.exact.balls import as_balls, ball_max, precision
from numerics.exact.numbers import as_exact, to_float
from numerics.exact.systems import Array

TIE_WIDTH = 1e-9
"""Scores this close tie in perturbed runs: far above rounding, far below what a perturbation does to a tie."""


@dataclass(frozen=True)
class _HeadNorms:
    """Operator norms of a head, and bounds of the norms of its queries, keys and values on bits."""

    query: arb
    key: arb
    value: arb
    largest_query: arb
    largest_key: arb
    largest_value: arb
    null_key: arb


@dataclass(frozen=True)
class _LayerNorms:
    heads: tuple[_HeadNorms | None, ...]
    functional: arb


@dataclass(frozen=True)
class RunFacts:
    """What the certificate assumes of unperturbed runs: see the module."""

    binary: bool
    most_ones: int
    smallest_gap: float
    tie_spread: float


def machine_margin_bound(transformer: TuringTransformer) -> MarginBound:
    """The best bound over a grid of radii sigma_h and sigma_theta, with lambda^2 = 4 P + 7.

    It holds for every word whose run satisfies the hypotheses (see `run_facts`) and whose output is 1 or -1.

    Raises:
        ValueError: if weights of an attention are no integers, or no radius is small enough.
    """
    with precision(BITS):
        norms = [_layer_norms(layer) for layer in transformer.layers]
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
    """Check the hypotheses on the runs on some words: the tokens come from the exact evaluator."""
    T = transformer.steps
    beta = np.array([transformer.beta(time) for time in range(T + 1)])
    own = np.tri(T + 1, T, -1, dtype=bool)  # at time i, the times 1, ..., i
    ones, gap, spread, binary = 0, np.inf, 0.0, True
    for word in words:
        hidden = run_exact(transformer, word, hidden=True).hidden
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


def _measured(head: DecoderAttention, z: Array, tokens: Array, seen: Array) -> tuple[Array, float, float]:
    """Return the output of a head on all times, its smallest gap, and the largest difference of tied values."""
    queries, keys, values = head.query(z), head.key(tokens), head.value(tokens)
    scores = np.column_stack([queries @ head.null_key, np.where(seen, queries @ keys.T, -np.inf)])
    values = np.vstack([head.null_value, values])
    top = scores.max(1, keepdims=True)
    tied = scores == top
    below = np.where(tied | np.isinf(scores), np.inf, top - scores)
    means = tied @ values / tied.sum(1, keepdims=True)
    spread = max(float(np.abs(values[row] - mean).max()) for row, mean in zip(tied, means, strict=True))
    return z + means, float(below.min()), spread


def _bound(
    transformer: TuringTransformer, norms: list[_LayerNorms], classifier: arb, sigma_h: Fraction, eta: Fraction
) -> MarginBound | None:
    """Return the bound for given radii, or None where they let scores meet."""
    lam = arb(4 * transformer.layout.bits + 7).sqrt()
    h, t = (as_balls([x])[0] for x in (sigma_h, eta))
    steps = [_step_constants(layer, lam, h, t) for layer in norms]
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


def _step_constants(norms: _LayerNorms, lam: arb, sigma_h: arb, eta: arb) -> tuple[arb, arb] | None:
    """Return kappa_theta lambda and mu of a step, or None if scores might meet."""
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
    return norms.functional * b + ((norm + delta) ** 2 + 1).sqrt(), norms.functional * a


def _layer_norms(layer: DecoderLayer) -> _LayerNorms:
    heads = tuple(None if h is None else _head_norms(h) for h in (layer.self_attention, layer.cross_attention))
    return _LayerNorms(heads, operator_norm(layer.feed_forward.layers[0].weight))


def _head_norms(head: DecoderAttention) -> _HeadNorms:
    for array in (*head.query.arrays(), *head.key.arrays(), head.null_key):
        if array.dtype.kind not in "iu":
            raise ValueError("The certificate needs integer queries and keys, so that scores that differ differ by 1.")
    sizes = [_largest_on_bits(part) for part in (head.query, head.key, head.value)]
    norms = [operator_norm(part.weight) for part in (head.query, head.key, head.value)]
    return _HeadNorms(norms[0], norms[1], norms[2], sizes[0], sizes[1], sizes[2], _vector_norm(head.null_key))


def _largest_on_bits(layer: Affine) -> arb:
    """A bound of ||z W + b|| over all bit vectors z, coordinate by coordinate."""
    high = np.maximum(layer.weight, 0).sum(axis=0) + layer.bias
    low = np.minimum(layer.weight, 0).sum(axis=0) + layer.bias
    return _vector_norm(np.maximum(np.abs(high), np.abs(low)))


def _vector_norm(vector: Array) -> arb:
    return as_balls([sum(x**2 for x in as_exact(vector).tolist())])[0].sqrt()
