"""Certificates of the maximum margin of operations of three arguments, as documents (TERNARY_FORMAT.md).

Activation x^3 and the norm L_{2,4}: what `lemmata.certificates.operations.certify` does for two arguments.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from lemmata.certificates import ternary_kernel
from lemmata.certificates.operations.document import Document, Enclosed, gap_decimal, line_of, root_decimals
from lemmata.certificates.operations.ternary_columns import TernaryNetwork, best_ternary_network
from lemmata.certificates.operations.ternary_program import TernaryBound, relaxed_ternary, rounded_ternary
from lemmata.numerics.operations.ternary import TernaryOperation

__all__ = ["TernaryCertificate", "certify_ternary", "ternary_document"]

AIM = 1e-6
"""The relative gap of degree 4 above which degree 6 is tried."""


@dataclass(frozen=True, eq=False)
class TernaryCertificate(Enclosed):
    """A document that the kernel accepts, and what it was made of.

    Attributes:
        table: the table.
        document: as JSON values.
        line: what the kernel says of it.
        network: below.
        bound: above.
    """

    table: TernaryOperation
    document: Document
    line: str
    network: TernaryNetwork
    bound: TernaryBound

    def __repr__(self) -> str:
        margin = self.document["margin"]
        return f"TernaryCertificate({self.table.name}, {margin['lower']}..{margin['upper']}, {self.grade})"


def certify_ternary(
    table: TernaryOperation, *, degree: int | None = None, seed: int = 0, digits: int = 12
) -> TernaryCertificate:
    """The certificate of the maximum margin of an operation of three arguments.

    Args:
        table: whole or partial.
        degree: of the proof, 4 or 6; by default 4, and 6 where that leaves a relative gap above `AIM`.
        seed: of the search for a network.
        digits: significant digits of the decimals.

    Raises:
        ValueError: for a degree other than these, a table beyond the limits, and a network without a positive margin.
        OperationProgramError: when the solver gives no bound.
    """
    best = _certified(table, degree or 4, seed, digits)
    if degree is None and best.gap > AIM:
        other = _certified(table, 6, seed, digits)
        return min(best, other, key=lambda one: one.gap)
    return best


def ternary_document(
    table: TernaryOperation, network: TernaryNetwork, bound: TernaryBound, *, digits: int = 12
) -> Document:
    """The document that claims the maximum margin between that of a network and a proved bound.

    It is exact where the two are equal.

    Raises:
        ValueError: for a network without a positive margin.
    """
    least, square = network.margin(table), bound.square
    if least <= 0:
        raise ValueError(f"The network has the margin {float(least):.3g}, which is not positive: it proves nothing.")
    lower, upper = root_decimals(least**2, square, digits)
    exact = least**2 == square
    return {
        "format": ternary_kernel.FORMAT,
        "version": ternary_kernel.VERSION,
        "table": table.document(),
        "network": {"neurons": [list(neuron) for neuron in network.neurons], "masses": list(network.masses)},
        "multipliers": list(bound.multipliers),
        "proof": {
            "kind": f"degree {bound.degree}",
            "t": str(bound.t),
            "t_prime": str(bound.t_prime),
            "denominator": bound.denominator,
            "matrix": [row[: i + 1] for i, row in enumerate(bound.matrix.tolist())],
        },
        "margin": {"exact": str(Fraction(least)) if exact else None, "lower": lower, "upper": upper},
        "gap": "0" if exact else gap_decimal(lower, upper),
        "grade": "exact" if exact else "enclosed",
    }


def _certified(table: TernaryOperation, degree: int, seed: int, digits: int) -> TernaryCertificate:
    relaxation = relaxed_ternary(table, degree)
    bound = rounded_ternary(table, relaxation)
    network = best_ternary_network(table, relaxation.q, seed=seed)
    document = ternary_document(table, network, bound, digits=digits)
    return TernaryCertificate(table, document, line_of(document, ternary_kernel.check), network, bound)
