"""The document of a certified group, whether its margin is exact or enclosed."""

from __future__ import annotations

import re
from fractions import Fraction
from math import isqrt

from certificates import kernel
from certificates.game.enclosure import GameEnclosure
from certificates.groups.certify import GroupMarginCertificate
from certificates.groups.format import Document, ScaledPair, certificate_document, galois_orbits, scaled_pair

__all__ = ["document_of", "enclosed_pair"]

ROOT_BITS = 128  # the precision of a square root that scales enclosed class weights


def document_of(certificate: GroupMarginCertificate, digits: int = 30) -> Document:
    """Return the document that claims what a certificate proved, with decimals of ``digits`` significant digits.

    Characters of the name that the format does not allow become question marks.
    """
    if certificate.solution is not None:
        pair = scaled_pair(certificate.solution)
    else:
        assert certificate.bounds is not None
        pair = enclosed_pair(certificate.bounds)
    group = certificate.group
    name = re.sub(r"[^ -~]", "?", group.name)
    name = name if len(name) <= 200 else name[:197] + "..."
    document = certificate_document(group, certificate.table, pair, certificate.factors, digits)
    document["group"]["name"] = name
    return document


def enclosed_pair(bounds: GameEnclosure) -> ScaledPair:
    """Return rational masses and class weights that prove two bounds of a game, averaged over the Galois group.

    Averaging brings the bounds closer, if anything: the payoffs are linear and the game is invariant.
    """
    game = bounds.game
    table, count = game.table, len(game.table.class_sizes)
    y, u = [Fraction(0)] * count, [Fraction(0)] * count
    for R, z in zip(game.rows, bounds.z, strict=True):  # the row stands for others of its orbit
        y[R] = Fraction(int(z.p), int(z.q))
    for C, t in zip(game.columns, bounds.t, strict=True):
        u[C] = Fraction(int(t.p), int(t.q))
    row_orbits, column_orbits = galois_orbits(table)
    y, u = _averages(y, row_orbits), _averages(u, column_orbits)

    degrees, indices = table.degrees, range(count)
    least = min(sum(y[R] * (degrees[R] - row_orbits[R][C]) for R in indices) for C in indices[1:])
    scale = None
    for R in indices[1:]:
        payoff = sum(u[C] * (degrees[R] - row_orbits[R][C]) for C in indices)
        if payoff > 0:
            [(m, q)] = kernel.payoff_scale(degrees[R], table.indicators[R], game.factors).items()
            reach = q * Fraction(isqrt(m << 2 * ROOT_BITS), 1 << ROOT_BITS) / payoff  # at most w / payoff
            scale = reach if scale is None else min(scale, reach)
    assert scale is not None
    return ScaledPair(tuple(mass / least for mass in y), tuple({1: w * scale} if w else {} for w in u))


def _averages(entries: list[Fraction], orbits: list[tuple[Fraction, ...]]) -> list[Fraction]:
    members: dict[tuple[Fraction, ...], list[Fraction]] = {}
    for entry, orbit in zip(entries, orbits, strict=True):
        members.setdefault(orbit, []).append(entry)
    return [sum(members[orbit], Fraction(0)) / len(members[orbit]) for orbit in orbits]
