"""A trained head beside the constructed one, circuit by circuit: query-key, output-value, ablations, patches.

In the constructed head (`lemmata.constructions.induction.head.ngram_head`, n = 2) layer 1 attends to the previous
token, layer 2 to the tokens whose predecessor is the symbol of the query, and copies them. `compare_circuits` measures
how far a trained model does the same, on its tables (`tables`), in balls. `circuit_variants` are tables with one path
cut or replaced by that of the constructed head; each is a model again, whose loss `losses` encloses. Where a path is
cut, the mass m of layer 1 that it carries is set to 1/2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from flint import arb

from lemmata.certificates.induction.cells import BITS, Bounds, outwards
from lemmata.certificates.induction.losses import LossCertificate, enumerate_losses
from lemmata.certificates.induction.tables import CircuitTables, circuit_tables, tables_for
from lemmata.constructions.induction.head import CountingHead
from lemmata.constructions.networks.transformer import Transformer
from lemmata.numerics.exact.balls import as_balls, ball_max, ball_min
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.exact.systems import Array

__all__ = ["CircuitReport", "certify_variants", "circuit_variants", "compare_circuits", "constructed_report"]


@dataclass(frozen=True)
class CircuitReport:
    """What the circuits of a head do on sequences of t symbols; bounds are ends of rigorous enclosures.

    Attributes:
        t: the number of symbols.
        previous: the least attention of layer 1 on the previous token, over all sequences and positions 2, ..., t.
        match: the least and largest advantage of a token with the right predecessor in the logits of layer 2, other
            things equal, over both symbols of the query, of its predecessor and of the token (QK, K-composition).
        query: the largest change of that advantage with the query's own predecessor (Q-composition).
        distance: how much the logits of layer 2 vary with the distance alone, for one query.
        copied: the difference of logits that layer 2 adds for a copied symbol 2 and for a copied 1 (OV).
        carried: how much the copied difference of logits varies with the predecessor of the token (V-composition).
        direct: the same difference for the path around head 2, from the symbol and from its predecessor.
    """

    t: int
    previous: Bounds
    match: Bounds
    query: Bounds
    distance: Bounds
    copied: Bounds
    carried: Bounds
    direct: tuple[Bounds, Bounds]


def compare_circuits(model: Transformer | CircuitTables, t: int) -> CircuitReport:
    """The circuits of a trained model; arguments and errors as for `enumerate_losses`, but t >= 2 without limit.

    Raises:
        ValueError: for t < 2.
    """
    if t < 2:
        raise ValueError(f"Layer 1 has no previous token for t = {t}: give at least 2 symbols.")
    tables = tables_for(model, t)
    with precision(BITS):
        pairs = tables.pairs
        # the logit of a key with the predecessor p less that with the other one, for p the symbol of the query s
        advantage = np.array(
            [
                [[(2 * s - 1) * (pairs[s, other, 2] + m * pairs[s, other, 3]) for m in (0, 1)] for other in range(2)]
                for s in range(2)
            ],
            dtype=object,
        )
        steps = [tables.steps[s, 1:t, 0] + m * tables.steps[s, 1:t, 1] for s in range(2) for m in (0, 1)]
        spread = ball_max(ball_max(row) - ball_min(row) for row in steps) if t > 2 else arb(0)
        return CircuitReport(
            t=t,
            previous=_ends(_least_previous(tables, t)),
            match=(_ends(ball_min(advantage.ravel()))[0], _ends(ball_max(advantage.ravel()))[1]),
            query=_ends(ball_max(abs(advantage[..., 1] - advantage[..., 0]).ravel())),
            distance=_ends(spread),
            copied=_ends(tables.copied[1, 0] - tables.copied[0, 0]),
            carried=_ends(tables.copied[0, 1]),
            direct=(_ends(tables.direct[1, 0] - tables.direct[0, 0]), _ends(tables.direct[0, 1])),
        )


def constructed_report(head: CountingHead, t: int) -> CircuitReport:
    """The circuits of a constructed induction head with n = 2, read off its weights; `copied` in probability.

    Raises:
        ValueError: for another n, or t < 2.
    """
    if head.n != 2 or t < 2:
        raise ValueError(
            f"The circuits are those of an induction head, n = 2, on at least 2 symbols, not n = {head.n}."
        )
    with precision(BITS):
        first, match = _constructed_scores(head)
        rows = t - 1 + len(head.transformer.prefix)
        zero = (0.0, 0.0)
        return CircuitReport(
            t=t,
            previous=_ends(first.exp() / (first.exp() + rows)),
            match=_ends(match),
            query=zero,
            distance=zero,
            copied=(1.0, 1.0),
            carried=zero,
            direct=(zero, zero),
        )


def circuit_variants(model: Transformer, head: CountingHead, t: int) -> Mapping[str, CircuitTables]:
    """The tables of the model, of the model with a part removed, and with scores of the constructed head, by name.

    Args:
        model: as `circuit_tables` takes it.
        head: a constructed induction head, n = 2, whose scores replace those of the model.
        t: the number of symbols.
    """
    tables = circuit_tables(model, t)
    silent = replace(model, layers=(_without_values(model), model.layers[1]))
    with precision(BITS):
        first, match = _constructed_scores(head)
        patched_first, patched_second = _patch_first(tables, first), _patch_second(tables, match)
        found = {
            "as trained": tables,
            "head 1 removed": circuit_tables(silent, t),
            "head 1 attends evenly": replace(tables, first=_zeros(tables.first)),
            "head 2 removed": replace(tables, copied=_zeros(tables.copied)),
            "head 2 attends evenly": replace(tables, pairs=_zeros(tables.pairs), steps=_zeros(tables.steps)),
            "no Q-composition": replace(
                tables, pairs=_cut(_cut(tables.pairs, 0, 1), 2, 3), steps=_cut(tables.steps, 0, 1)
            ),
            "no K-composition": replace(tables, pairs=_cut(_cut(tables.pairs, 0, 2), 1, 3)),
            "no V-composition": replace(tables, copied=_cut(tables.copied, 0, 1)),
            "no path around head 2": replace(tables, direct=_zeros(tables.direct)),
            "no distances in head 2": replace(tables, steps=_zeros(tables.steps)),
            "QK of head 1 constructed": patched_first,
            "QK of head 2 constructed": patched_second,
            "QK of both constructed": _patch_second(patched_first, match),
            "all but the copied logits constructed": replace(
                _patch_second(patched_first, match),
                copied=_cut(tables.copied, 0, 1),
                direct=_zeros(tables.direct),
            ),
        }
    return MappingProxyType(found)


def certify_variants(model: Transformer, head: CountingHead, t: int) -> Mapping[str, LossCertificate]:
    """The enclosed loss of every one of the `circuit_variants`, on all sequences of t symbols, t <= 20."""
    return MappingProxyType(
        {name: enumerate_losses(tables, t) for name, tables in circuit_variants(model, head, t).items()}
    )


def _least_previous(tables: CircuitTables, t: int) -> arb:
    """The least attention on the previous token: every token before it has the symbol that draws most attention."""
    found: list[arb] = []
    for s in range(2):
        for previous in range(2):
            own = tables.first[s, previous, 1]
            others = [tables.first[s, s, 0], *(ball_max(tables.first[s, :, r]) for r in range(2, t))]
            found.append(1 / (1 + sum(((other - own).exp() for other in others), start=arb(0))))
    return ball_min(found)


def _constructed_scores(head: CountingHead) -> tuple[arb, arb]:
    """c1/sqrt(d) and c2^2/sqrt(d): the logit of the previous token in layer 1, of a match in layer 2."""
    first, second = as_balls([head.previous_scale, head.match_scale])
    root = arb(head.stream.width).sqrt()
    return first / root, second * second / root


def _patch_first(tables: CircuitTables, score: arb) -> CircuitTables:
    first = _zeros(tables.first)
    first[:, :, 1:2] = score
    return replace(tables, first=first)


def _patch_second(tables: CircuitTables, score: arb) -> CircuitTables:
    """The logit `score` times the mass of the token's layer 1 on the symbol of the query."""
    pairs = _zeros(tables.pairs)
    pairs[0, :, 0], pairs[0, :, 2], pairs[1, :, 2] = score, -score, score
    return replace(tables, pairs=pairs, steps=_zeros(tables.steps))


def _cut(table: Array, base: int, slope: int) -> Array:
    """The table with the mass in one of its terms set to 1/2."""
    result = table.copy()
    result[..., base] = table[..., base] + table[..., slope] / 2
    result[..., slope] = arb(0)
    return result


def _zeros(table: Array) -> Array:
    return np.full(table.shape, arb(0), dtype=object)


def _without_values(model: Transformer) -> object:
    """Layer 1 with a head that adds nothing."""
    layer = model.layers[0]
    head = layer.heads[0]
    value = replace(head.value, weight=0 * head.value.weight, bias=0 * head.value.bias)
    output = None if head.output is None else replace(head.output, bias=0 * head.output.bias)
    return replace(layer, heads=(replace(head, value=value, output=output),))


def _ends(ball: arb) -> Bounds:
    """Floats below and above a ball."""
    return outwards(ball, ball)
