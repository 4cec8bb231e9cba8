"""Tables at which sums of squares of degree 4 do not reach the maximum margin, proved from both sides in integers.

Below: pseudo-moments (`lemmata.certificates.operations.pseudo_moments`), so that no multipliers have a bound of
degree 4 below a number r. Above: multipliers and a proof of degree 6 (`lemmata.certificates.operation_kernel`) that no
network has a margin above s < r. `KNOWN_GAPS` holds such documents of two tables. A document is a JSON object of

    table            name, labels, values, as in OPERATION_FORMAT.md
    pseudo_moments   the lower triangle of the matrix, by rows
    multipliers      one integer for each triple
    proof            of degree 6, as in OPERATION_FORMAT.md
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any

from lemmata.certificates import operation_kernel
from lemmata.certificates.operations.programs import relaxed_margin
from lemmata.certificates.operations.pseudo_moments import PseudoMomentError, PseudoMoments, rounded_pseudo_moments
from lemmata.certificates.operations.rounding import rounded_bound
from lemmata.numerics.operations.operation import Operation

__all__ = ["KNOWN_GAPS", "Gap", "checked_gap", "find_gap", "known_gaps"]

KNOWN_GAPS = Path(__file__).with_name("results") / "gaps.json"


@dataclass(frozen=True)
class Gap:
    """What a document proves.

    Attributes:
        table: the table.
        relaxed_square: every bound of degree 4 on its margin has at least this square.
        margin_square: the maximum margin has at most this square, which is smaller.
    """

    table: Operation
    relaxed_square: Fraction
    margin_square: Fraction

    @property
    def ratio(self) -> float:
        """By how much every bound of degree 4 is above the maximum margin, at least, relative to the latter."""
        return sqrt(self.relaxed_square / self.margin_square) - 1


def checked_gap(document: Mapping[str, Any]) -> Gap:
    """The gap that a document proves, after a check of everything in exact arithmetic.

    Raises:
        MalformedError, ViolatedError: of `lemmata.certificates.kernel`, for a proof of degree 6 with a fault.
        PseudoMomentError: for a matrix that is not one of pseudo-moments, and if what is proved is no gap.
    """
    described = operation_kernel.Operation(document["table"])
    table = Operation.of(described.values, labels=described.labels, name=described.name)
    triangle = document["pseudo_moments"]
    matrix = tuple(tuple(triangle[max(i, j)][min(i, j)] for j in range(len(triangle))) for i in range(len(triangle)))
    moments = PseudoMoments(table.rows, table.columns, table.label_count, matrix)
    proof = operation_kernel.Proof(document["proof"], "proof", described)
    multipliers = operation_kernel.multipliers(document["multipliers"], "multipliers", described)
    gap = Gap(table, moments.bound_square(table), operation_kernel.upper_square(described, proof, multipliers))
    if gap.relaxed_square <= gap.margin_square:
        raise PseudoMomentError(
            f"The pseudo-moments of {table.name} are not above the proof of degree 6, so there is no gap."
        )
    return gap


def find_gap(table: Operation) -> dict[str, Any]:
    """The document of a table with a gap. `checked_gap` says whether it proves one: most tables have none.

    Raises:
        OperationProgramError, PseudoMomentError: if a solver or its rounding fails.
    """
    moments = rounded_pseudo_moments(table, relaxed_margin(table, kind=4))
    bound = rounded_bound(table, relaxed_margin(table, kind=6))
    return {
        "table": {"name": table.name, "labels": table.label_count, "values": [list(row) for row in table.values]},
        "pseudo_moments": [list(row[: i + 1]) for i, row in enumerate(moments.matrix)],
        "multipliers": list(bound.multipliers),
        "proof": bound.proof.document(),
    }


def known_gaps() -> tuple[dict[str, Any], ...]:
    """The documents in `KNOWN_GAPS`."""
    return tuple(json.loads(KNOWN_GAPS.read_text(encoding="utf-8")))
