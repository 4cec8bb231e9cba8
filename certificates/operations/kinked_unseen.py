"""What all networks of nearly maximum margin with kinked neurons say of one cell that they never saw.

The question and the verdicts are those of `lemmata.certificates.operations.unseen`, for the activations and bounds of
`lemmata.certificates.operations.kinked`. Every verdict but *open* is shown in integers: *right* by a bound of each
difference of outputs at the cell, *wrong* by a bound of the least of them, *both* by two networks.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.kinked import (
    Activation,
    Faces,
    KinkedMargin,
    KinkedNetwork,
    Leaning,
    kinked_margin,
    lean,
    proved_bound,
    triple_tensors,
)
from lemmata.certificates.operations.unseen import Verdict
from lemmata.numerics.operations.operation import Cell, Operation

__all__ = ["EPSILON", "KinkedVerdict", "kinked_verdict"]

EPSILON = Fraction(1, 10**6)
AIM = 1e-7
ENOUGH = 1e-5
"""A sign is certain from this share of the margin on."""


@dataclass(frozen=True, eq=False)
class KinkedVerdict:
    """What networks of margin at least (1 - `EPSILON`) times the maximum on the given cells say of one cell.

    Attributes:
        cell, label: the cell, and its true label.
        verdict: "right", "wrong", "both" or "open".
        share: least of f_label - f_c over c at the cell, in units of ``margin.lower``. *right*: at least this for
            every network; *wrong*: at most this; *both*: at most this for ``networks[1]``; *open*: None.
        networks: for *both* one that is right and one that is wrong, else none.
        margin: of the given cells.
    """

    cell: Cell
    label: int
    verdict: Verdict
    share: float | None
    networks: tuple[KinkedNetwork, ...]
    margin: KinkedMargin


def kinked_verdict(truth: Operation, cell: Cell, activation: Activation) -> KinkedVerdict:
    """The verdict on a cell of a table of which all other cells are given.

    Raises:
        ValueError, ArithmeticError: as `kinked_margin`.
    """
    given, label = truth.without([cell]), truth.values[cell[0]][cell[1]]
    question = _Question(given, kinked_margin(given, activation, aim=AIM))
    towards = np.zeros((truth.label_count, truth.rows, truth.columns, truth.label_count), np.int64)
    towards[:, cell[0], cell[1], label] = 1
    towards[np.arange(truth.label_count), cell[0], cell[1], np.arange(truth.label_count)] -= 1
    towards = np.delete(towards, label, axis=0)

    def found(verdict: Verdict, share: Fraction | None, *networks: KinkedNetwork) -> KinkedVerdict:
        scaled = None if share is None else float(share / question.margin.lower)
        return KinkedVerdict(cell, label, verdict, scaled, networks, question.margin)

    if question.margin.gap > EPSILON / 4:
        return found("open", None)
    highest, right = question.largest(towards)
    if highest < 0:
        return found("wrong", highest)
    bounds = []
    for one in towards:
        most, wrong = question.largest(-one[None])
        if most >= 0 and right is not None and wrong is not None:
            return found("both", -min(wrong.means(-one[None])), right, wrong)
        bounds.append(most)
    return found("right", -max(bounds)) if max(bounds) < 0 else found("open", None)


@dataclass(frozen=True, eq=False)
class _Question:
    """The given cells and their margin."""

    given: Operation
    margin: KinkedMargin

    def largest(self, differences: NDArray[np.int64]) -> tuple[Fraction, KinkedNetwork | None]:
        """A bound of the least difference, and a network for which it is positive; None if none was found.

        The bound is for all networks of margin at least (1 - `EPSILON`) lower; the network has (1 - `EPSILON`) upper.
        """
        known, tensors = self.margin, triple_tensors(self.given)
        faces = Faces.of(self.given.rows, self.given.columns, known.activation)
        threshold, floor = (1 - EPSILON) * known.lower, (1 - EPSILON / 2) * known.lower
        found = lean(
            faces,
            tensors,
            differences,
            floor=float(floor),
            threshold=float(threshold),
            start=(known.found.x, known.found.w),
            enough=ENOUGH * float(floor),
            aim=AIM,
        )
        return proved_bound(faces, tensors, differences, found.dual, threshold), self._shown(found, differences)

    def _shown(self, found: Leaning, differences: NDArray[np.int64]) -> KinkedNetwork | None:
        if found.value <= 0:
            return None
        network = KinkedNetwork.near(self.margin.activation, found.x, found.w, found.masses)
        near = network.margin(self.given) >= (1 - EPSILON) * self.margin.upper
        return network if near and min(network.means(differences)) > 0 else None
