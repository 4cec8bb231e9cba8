"""The maximum margin of any table, from both sides: a network, a proof, and a document that the kernel has accepted.

Above: the relaxation of the cheapest kind (`lemmata.certificates.operations.programs`), rounded to integers. Below: a
network by column generation that starts from the multipliers of the relaxation, rounded to integers too. Where a gap is
left and the relaxation is not known to be exact, degree 6 is tried if its work is small enough; then more starts. The
margin is exact where both sides are the same square root of a rational number, and enclosed otherwise. That is tried in
degree 4 where the enclosure holds the square root of a fraction with a small denominator.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates import operation_kernel
from lemmata.certificates.operations.apart import ApartNetwork
from lemmata.certificates.operations.columns import best_network, integer_network
from lemmata.certificates.operations.document import (
    Document,
    Enclosed,
    exact_root,
    line_of,
    lower_margin,
    margin_document,
)
from lemmata.certificates.operations.exact_apart import apart_solution
from lemmata.certificates.operations.exact_bounds import LARGEST_ORDER, bound_at, exact_bound
from lemmata.certificates.operations.exact_networks import exact_network
from lemmata.certificates.operations.forms import Kind, kind_for
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.programs import OperationProgramError, Relaxation, relaxed_margin
from lemmata.certificates.operations.programs_effort import Effort, TooMuchWorkError, least_work
from lemmata.certificates.operations.rounding import BITS, KINDS, RoundedBound, proof_order, rounded_bound
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import OperationSymmetries, operation_symmetries

__all__ = ["OperationCertificate", "certify_operation"]

AIM = 1e-6
"""A relative gap above this is reported with advice, and makes `certify_operation` try harder."""
STARTS = (64, 256)
"""Of pricing: the second number is tried where a gap is left."""
NEURON_BITS = 36
MEETING, CHANCE = 1e-7, 0.05
"""An exact margin is looked for where the gap is below the first, and the square of the margin so close to a fraction
that one of its denominator or less is that close to a random number with about the second probability."""


@dataclass(frozen=True, eq=False)
class OperationCertificate(Enclosed):
    """What was proved about the maximum margin of a table; the kernel has accepted `document`.

    Attributes:
        table: the table.
        document: the certificate (OPERATION_FORMAT.md).
        line: what the kernel printed.
        cost: seconds that the kernel took in this process.
        network: the exact network of the lower bound; an `ApartNetwork` in a document of version 2.
        bound: multipliers and proof of the upper bound.
        relaxation: the floats that the proof was rounded from.
    """

    table: Operation
    document: Document
    line: str
    cost: float
    network: OperationNetwork | ApartNetwork
    bound: RoundedBound
    relaxation: Relaxation

    def __repr__(self) -> str:
        margin = self.document["margin"]
        return f"OperationCertificate({self.table.name}, {margin['lower']}..{margin['upper']}, {self.grade})"

    @property
    def kind(self) -> str:
        """Of the proof: ``"plane"``, ``"degree 4"`` or ``"degree 6"``."""
        return self.bound.proof.kind

    @property
    def advice(self) -> tuple[str, ...]:
        """What to turn where the gap is above 10^-6, likeliest first; empty otherwise."""
        if self.gap <= AIM:
            return ()
        found, proved = float(self.lower), self.bound.proof.bound
        advice = []
        if self.relaxation.bound - self.relaxation.dual > AIM / 4 * proved or self.bound.proof.loss > AIM / 4:
            advice.append("the proof loses to the solver: take another solver, a smaller accuracy or more bits")
        if self.kind == "degree 4" and self.table.label_count > 3:
            advice.append(
                "from four labels on degree 4 can be above the margin: take degree 6, or give it more seconds"
            )
        if self.relaxation.dual - found > AIM / 4 * proved:
            advice.append("the network may not be the best: take more starts or another seed")
        return tuple(advice)


def certify_operation(
    table: Operation,
    *,
    kind: Kind | None = None,
    symmetries: OperationSymmetries | None = None,
    seed: int = 0,
    starts: int | None = None,
    bits: int = BITS,
    digits: int = 12,
    apart: bool = True,
    seconds: float | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> OperationCertificate:
    """The certificate of the maximum margin of a table, whole or partial.

    Args:
        table: the table.
        kind: of the proof: "plane" (at most three labels), 4 or 6. By default the plane or degree 4, and degree 6 where
            degree 4 leaves a relative gap above 10^-6 and its work is at most `USUAL_WORK`, or fits into ``seconds``.
        symmetries: of the table, by default all; they make everything faster and change no bound.
        seed: of the random starts of pricing.
        starts: of pricing in a round; by default 64, then 256 where a gap is left.
        bits: of the multipliers and of the matrix of the proof.
        digits: significant digits of the decimals.
        apart: whether the network of an exact margin may have x and w normalised apart, in a document of version 2.
        seconds: for degree 6, in place of the limit of its work: a solver stops then, and what it has reached is
            rounded; 0 does without degree 6. With ``kind`` 6 the time is limited by this alone.
        progress: is told what is being done.

    Raises:
        ValueError: for an unknown kind, a plane and more than three labels, bits or digits out of range, a negative
            time, a network without a positive margin, and a document beyond the limits of the kernel.
        TooMuchWorkError: for the kind 6 in a time of 0, or beyond the memory that a limited time allows.
        OperationProgramError: when no solver gives a bound.
    """
    chosen = kind_for(table.label_count) if kind is None else kind
    if chosen not in KINDS:
        raise ValueError(f"A proof is of the kind plane, 4 or 6, not {chosen!r}.")
    symmetries = (operation_symmetries(table) if symmetries is None else symmetries).listable()
    effort = Effort.of(seconds, lambda what: progress(f"degree 6: {what}"))
    progress(f"a proof of the kind {KINDS[chosen]}")
    asked = effort if chosen == 6 and effort.limited else None
    relaxation = relaxed_margin(table, kind=chosen, symmetries=symmetries, effort=asked)
    bound = rounded_bound(table, relaxation, bits=bits)
    progress("a network")
    network = _network(table, relaxation.q, symmetries, seed, starts or STARTS[0])
    if kind is None and chosen == 4 and table.label_count > 3 and _gap(table, network, bound) > AIM:
        better = _degree_6(table, bound, symmetries, bits, effort)
        if better is not None:
            relaxation, bound = better
            progress("a network")
            network = _larger(table, network, _network(table, relaxation.q, symmetries, seed, starts or STARTS[0]))
    if starts is None and _gap(table, network, bound) > AIM:
        progress(f"a network from {STARTS[1]} starts")
        network = _larger(table, network, _network(table, relaxation.q, symmetries, seed + 1, STARTS[1]))
    document = margin_document(table, network, bound, digits=digits)
    square = _simple_square(table, network, bound) if kind in (None, 4) else None
    if square is not None:
        progress("an exact margin")
        made = _exact(table, relaxation, symmetries, square, digits, apart)
        network, bound, document = made or (network, bound, document)
    start = time.perf_counter()
    line = line_of(document)
    cost = time.perf_counter() - start
    return OperationCertificate(table, document, line, cost, network, bound, relaxation)


def _exact(
    table: Operation,
    relaxation: Relaxation,
    symmetries: OperationSymmetries,
    square: Fraction,
    digits: int,
    apart: bool,
) -> tuple[OperationNetwork | ApartNetwork, RoundedBound, Document] | None:
    """Network, bound and document of the exact margin with that square, where both sides are found."""
    if proof_order(table.size, table.label_count, 4) > LARGEST_ORDER:
        return None
    found = best_network(table, start_q=relaxation.q, symmetries=symmetries)
    quartic = relaxation if relaxation.kind == 4 else relaxed_margin(table, kind=4, symmetries=symmetries)
    whole = exact_network(found)
    proved = None if whole is None else exact_bound(table, whole, quartic)
    if whole is not None and proved is not None and (made := _accepted(table, whole, proved, digits)) is not None:
        return whole, proved, made
    solution = apart_solution(found, square) if apart else None
    if solution is None:
        return None
    network, q = solution
    proved = bound_at(table, q, square, network.x, quartic, points_root=network.x_root, root=network.root)
    made = None if proved is None else _accepted(table, network, proved, digits)
    return None if proved is None or made is None else (network, proved, made)


def _accepted(
    table: Operation, network: OperationNetwork | ApartNetwork, bound: RoundedBound, digits: int
) -> Document | None:
    """The document of an exact margin, if both sides meet and the kernel accepts it."""
    root = exact_root(table, network, bound)
    if root is None:
        return None
    made = margin_document(table, network, bound, digits=digits, root=root)
    try:
        line_of(made)
    except ValueError:  # the matrix is not positive semidefinite, or the elimination is too long
        return None
    return made


def _simple_square(table: Operation, network: OperationNetwork, bound: RoundedBound) -> Fraction | None:
    """The fraction of small denominator that the square of the margin is, as far as both sides tell; else None."""
    lower, upper = lower_margin(table, network) ** 2, bound.proof.square
    if upper - lower > 2 * MEETING * upper:
        return None
    width = max(upper - lower, upper / 10**12)
    near = ((lower + upper) / 2).limit_denominator(max(isqrt(int(Fraction(CHANCE) / width)), 1))
    return near if abs(near - (lower + upper) / 2) <= width else None


def _network(
    table: Operation, q: NDArray[np.float64], symmetries: OperationSymmetries, seed: int, starts: int
) -> OperationNetwork:
    """The best network found, in integers."""
    found = best_network(table, start_q=q, symmetries=symmetries, seed=seed, starts=starts)
    return integer_network(found, bits=NEURON_BITS)


def _larger(table: Operation, first: OperationNetwork, second: OperationNetwork) -> OperationNetwork:
    """The network of larger margin."""
    return max(first, second, key=lambda network: lower_margin(table, network))


def _gap(table: Operation, network: OperationNetwork, bound: RoundedBound) -> float:
    """The relative gap, in floats."""
    return 1 - float(lower_margin(table, network)) / bound.proof.bound


def _degree_6(
    table: Operation, bound: RoundedBound, symmetries: OperationSymmetries, bits: int, effort: Effort
) -> tuple[Relaxation, RoundedBound] | None:
    """The relaxation of degree 6 and its rounded bound, if it is within the effort and better than this bound."""
    if proof_order(table.size, table.label_count, 6) ** 3 > operation_kernel.MAX_ORDER_CUBED:
        return None
    try:
        effort.refuse(least_work(table.size, table.label_count, symmetries.order))
        relaxation = relaxed_margin(table, kind=6, symmetries=symmetries, effort=effort)
        rounded = rounded_bound(table, relaxation, bits=bits)
    except (TooMuchWorkError, OperationProgramError, ValueError):  # the last where the solver was stopped far too early
        return None
    return (relaxation, rounded) if rounded.proof.bound < bound.proof.bound else None
