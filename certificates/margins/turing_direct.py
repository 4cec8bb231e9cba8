"""A certified lower bound of the all-layer margin of a compiled Turing machine, layer by layer, to first order sharp.

`machine_margin_bound` of `lemmata.certificates.margins.turing` is theorem D.6 with uniform constants. Here one total
norm rho of the perturbation of all weights is assumed, and every layer is shown to keep its attended tokens, its bits
and the
answer: each deviation is a sum over disjoint blocks of weights, of a coefficient times the norm of the block, and so at
most rho times the root of the sum of the squared coefficients. `loads` has these deviations in units of what is
allowed, `direct_margin_bound` the largest rho for which all are below 1. The derivation is section 6 of
TURING_MARGIN.md. Weights are integers, so that all squared norms are exact; the rest is ball arithmetic.

Source: turing, theorem-4.1, theorem-D.6.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from lemmata.certificates.margins.all_layer import BITS
from lemmata.certificates.margins.direct import (
    DirectBound,
    MovedRounding,
    Squares,
    ball,
    largest_radius,
    moved_rounding,
    token_radius,
)
from lemmata.certificates.margins.turing_facts import HeadFacts, LayerFacts, MachineFacts, machine_facts
from lemmata.certificates.margins.turing_ones import TokenOnes, lemma_ones
from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.numerics.exact.balls import ball_max, precision

__all__ = ["direct_margin_bound", "loads"]


def direct_margin_bound(transformer: TuringTransformer, ones: TokenOnes | None = None) -> DirectBound:
    """The largest rho, to one part in 500, that the conditions of `loads` certify.

    Args:
        transformer: a compiled machine.
        ones: bounds of the ones of tokens; by default those of the lemmas, with which the bound holds at every word
            whose output is 1 or -1, and with those of `measured_ones` at the words on which they were counted.

    Raises:
        ValueError: if weights are no integers, the last two ReLU layers of a layer are no rounding, or no rho down to
            2^-40 keeps the scores apart.
    """
    with precision(BITS):
        facts = machine_facts(transformer, lemma_ones(transformer) if ones is None else ones)

        def conditions(rho: Fraction) -> tuple[Fraction, dict[str, arb]]:
            sigma_h = token_radius(lambda sigma: _largest_norm(facts, ball(rho), sigma), rho)
            return sigma_h, _loads(facts, ball(rho), ball(sigma_h))

        return largest_radius(conditions)


def loads(
    transformer: TuringTransformer, rho: Fraction, sigma_h: Fraction, ones: TokenOnes | None = None
) -> dict[str, arb]:
    """All deviations that perturbations of norm rho can cause, in units of what is allowed (TURING_MARGIN.md, 6).

    If all are below 1, no perturbation of norm at most ``rho`` changes an answer.

    Args:
        transformer: a compiled machine.
        rho: the norm of the perturbation of all weights.
        sigma_h: a radius within which tokens are assumed to stay; that they do is one of the conditions.
        ones: as for `direct_margin_bound`.

    Raises:
        ValueError: as `direct_margin_bound`.
    """
    with precision(BITS):
        facts = machine_facts(transformer, lemma_ones(transformer) if ones is None else ones)
        return _loads(facts, ball(rho), ball(sigma_h))


# ---- the conditions


def _loads(facts: MachineFacts, rho: arb, sigma_h: arb) -> dict[str, arb]:
    roundings = [_rounding(facts, layer, rho, sigma_h) for layer in facts.layers]
    found: dict[str, arb] = {}
    for number, layer in enumerate(facts.layers):
        before = roundings[number - 1]
        found[f"{layer.name}: tokens"] = roundings[number].norm * rho / sigma_h
        for head in layer.heads:
            if head is not None:
                scores = _score_loads(layer, head, before, rho, sigma_h)
                found |= {f"{layer.name}: {name}": load for name, load in scores.items()}
        found[f"{layer.name}: bits"] = _bit_load(facts, layer, before, rho, sigma_h)
    last, final = facts.layers[-1], roundings[-1]
    answer = (final.along(facts.classifier) ** 2 + (last.written + sigma_h) ** 2).sqrt()
    found["classifier"] = answer * rho
    return found


def _rounding(facts: MachineFacts, layer: LayerFacts, rho: arb, sigma_h: arb) -> MovedRounding:
    """How far the rounding after a layer is off."""
    moved = _before_rounding(layer, rho, sigma_h)
    return moved_rounding(facts.threshold, 1 - facts.threshold, layer.written, moved, rho)


def _largest_norm(facts: MachineFacts, rho: arb, sigma_h: arb) -> arb:
    return ball_max([_rounding(facts, layer, rho, sigma_h).norm for layer in facts.layers])


def _before_rounding(layer: LayerFacts, rho: arb, sigma_h: arb) -> arb:
    """How far the first ReLU layer is off, in 2-norm."""
    moved, size = _attended(layer, rho, sigma_h)
    return layer.first_norm * moved + ((size + moved) ** 2 + 1).sqrt() * rho


def _attended(layer: LayerFacts, rho: arb, sigma_h: arb) -> tuple[arb, arb]:
    """How far the token is off after both heads, in 2-norm, and the norm of the true one."""
    moved, size = sigma_h, layer.read
    for cross, head in enumerate(layer.heads):
        moved = moved + _memory(layer, bool(cross), rho, sigma_h) * rho
        if head is not None:
            moved, size = moved + head.value_norm * (rho if cross else sigma_h), size + head.value
    return moved, size


def _memory(layer: LayerFacts, cross: bool, rho: arb, sigma_h: arb) -> arb:
    """|(token, 1)| of the tokens of a memory: perturbed roundings, or the encoder's."""
    return ((layer.remembered + rho if cross else layer.read + sigma_h) ** 2 + 1).sqrt()


def _score_loads(layer: LayerFacts, head: HeadFacts, before: MovedRounding, rho: arb, sigma_h: arb) -> dict[str, arb]:
    """The change of the difference of two scores: of a token and the null pair, and of two tokens."""
    passed = _memory(layer, False, rho, sigma_h) if head.cross else arb(0)  # the value of the zero head before
    moved = sigma_h + passed * rho
    size = ((layer.read + moved) ** 2 + 1).sqrt()
    token = layer.remembered + rho if head.cross else layer.read + sigma_h
    drift = head.query_norm * moved + size * rho  # of the query
    query = arb(head.query).sqrt() + drift
    null = _hypotenuse(
        *_token_errors(head, before, head.to_null, 1, drift),
        passed * arb(head.to_null.whole).sqrt(),
        size * arb(head.null_keys).sqrt(),
        query * (token**2 + 2).sqrt(),
    )
    pair = _hypotenuse(
        *_token_errors(head, before, head.to_token, 2, drift),
        passed * arb(head.to_token.whole).sqrt(),
        size * arb(head.keys).sqrt(),
        query * 2 * token,
    )
    return {"token and null": null * rho, "two tokens": pair * rho / head.spacing}


def _token_errors(head: HeadFacts, before: MovedRounding, query: Squares, keys: int, drift: arb) -> tuple[arb, ...]:
    """The coefficients of the errors of the query's token and of one or two attended ones."""
    mine = before.along(query)
    if head.cross:
        return mine, keys * (arb(head.by_key.whole).sqrt() + head.key_norm * drift)
    theirs = keys * (before.along(head.by_key) + before.norm * head.key_norm * drift)
    return (mine, theirs) if head.disjoint else (mine + theirs,)


def _bit_load(facts: MachineFacts, layer: LayerFacts, before: MovedRounding, rho: arb, sigma_h: arb) -> arb:
    """The largest change of a unit of the first ReLU layer and of the rounding's first layer, over the threshold."""
    moved, size = _attended(layer, rho, sigma_h)
    own = (size + moved) ** 2 + 1
    first = (layer.written + _before_rounding(layer, rho, sigma_h)) ** 2 + 1
    memories = sum((_memory(layer, cross, rho, sigma_h) ** 2 for cross in (False, True)), start=arb(0))
    cross = layer.heads[1] is not None
    found = []
    for column, value in layer.columns:
        errors = before.along(column)
        errors = (errors**2 + value.whole).sqrt() if cross else errors + before.along(value)
        found.append((errors**2 + memories * column.whole + own + first).sqrt())
    return ball_max(found) * rho / ball(facts.threshold)


def _hypotenuse(*parts: arb) -> arb:
    return sum((part**2 for part in parts), start=arb(0)).sqrt()
