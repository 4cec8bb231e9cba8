"""What every network of at least a margin says of one unseen cell, bounded by sums of squares.

Let E be the mean over the neurons of a network of norm 1 with margins E h_abc >= g0, and G a difference of outputs at a
cell that is not given. For multipliers lambda >= 0

    E G = E (sum lambda h) - E (sum lambda h - G) >= g0 sum lambda - 2/(3 sqrt 3) phi(sum lambda h - G),

because a neuron of norm 1 reaches at most 2/(3 sqrt 3) phi. The right side is maximised over lambda with phi replaced
by its bound of a kind (`lemmata.certificates.operations.forms`). Two questions are asked in this way:

- *right against c*: G = f_y - f_c, for the true label y; every network with that margin prefers y to c if the bound is
  positive, and it is right if this holds for every c != y;
- *wrong*: G = sum_c p_c f_c - f_y with probabilities p_c on the labels c != y, which are found at the same time: if the
  bound is positive, every network prefers some c to y, not always the same one.

Averaging over the symmetries of the given cells that fix the cell and the labels y (and c) changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.forms import Kind, residual
from lemmata.certificates.operations.programs import FamilyRelaxation, relaxed_family
from lemmata.certificates.operations.programs_effort import Effort
from lemmata.numerics.operations.operation import Cell, Operation
from lemmata.numerics.operations.symmetries import OperationSymmetries

__all__ = ["UnseenRelaxation", "difference", "relaxed_unseen"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class UnseenRelaxation:
    """A lower bound of a difference of outputs at an unseen cell, over all networks of at least a margin.

    Attributes:
        cell, label: the cell and its true label y.
        wrong: the label c of *right against c*, or None for *wrong*.
        multipliers: lambda >= 0, one per triple of the given cells.
        weights: p_c, shape (C,), 0 at y, of sum 1.
        bound: of E G, for every network whose margin is at least the floor.
        relaxation: what proves it, up to rounding.
    """

    cell: Cell
    label: int
    wrong: int | None
    multipliers: Floats
    weights: Floats
    bound: float
    relaxation: FamilyRelaxation


def difference(table: Operation, cell: Cell, label: int, weights: Floats) -> Floats:
    """The tensor of f_label - sum_c weights_c f_c at a cell, shape (A, B, C)."""
    tensor = np.zeros((table.rows, table.columns, table.label_count))
    tensor[*cell] -= weights
    tensor[*cell, label] += 1.0
    return tensor


def relaxed_unseen(
    given: Operation,
    cell: Cell,
    label: int,
    wrong: int | None,
    floor: float,
    symmetries: OperationSymmetries,
    *,
    kind: Kind | None = None,
    effort: Effort | None = None,
) -> UnseenRelaxation:
    """The best bound of one question about an unseen cell that a sum of squares of a kind proves.

    Args:
        given: the table of the given cells.
        cell, label: a cell that is not given, and its true label y.
        wrong: c for *right against c*, None for *wrong*.
        floor: g0 > 0, the least margin of the networks in question.
        symmetries: of the given cells, that fix the cell, y, and c if there is one.
        kind: of the program; "plane" for at most three labels, else 4.
        effort: the limits of work and time; by default none.

    Raises:
        ValueError: for a given cell, equal labels or labels that the table lacks, a floor that is not positive, and
            symmetries that move the question.
        lemmata.certificates.operations.programs.OperationProgramError: when no solver gives a bound.
        TooMuchWorkError: for a program beyond the effort.
    """
    labels = given.label_count
    if cell not in given.missing:
        raise ValueError(f"Cell {cell} is given, or outside of the table; questions are about unseen cells.")
    if not 0 <= label < labels or wrong == label or (wrong is not None and not 0 <= wrong < labels):
        raise ValueError(f"The labels {label} and {wrong} must be different ones of the {labels} labels of the table.")
    if not floor > 0:
        raise ValueError(f"The least margin must be positive, not {floor}: at 0 every network is meant.")
    orbits = symmetries.triple_orbits()
    tensors = [residual(given, (orbits == number).astype(float)) for number in range(orbits.max() + 1)]
    rates = [-floor * float(np.sum(orbits == number)) for number in range(len(tensors))]
    others = [c for c in range(labels) if c != label]
    if wrong is not None:
        weights = np.eye(labels)[wrong]
        found = relaxed_family(
            tensors,
            fixed=-difference(given, cell, label, weights),
            weights=rates,
            kind=kind,
            symmetries=symmetries,
            effort=effort,
        )
    else:
        of_label = symmetries.point_orbits()[given.size :]
        classes = [
            (of_label == number) / np.sum(of_label == number) for number in dict.fromkeys(of_label[others].tolist())
        ]
        group = range(len(tensors), len(tensors) + len(classes))
        found = relaxed_family(
            tensors + [difference(given, cell, label, part) for part in classes],
            weights=rates + [0.0] * len(classes),
            groups=[group],
            kind=kind,
            symmetries=symmetries,
            effort=effort,
        )
        weights = found.multipliers[len(tensors) :] @ np.array(classes)
    return UnseenRelaxation(cell, label, wrong, found.multipliers[: len(tensors)][orbits], weights, -found.value, found)
