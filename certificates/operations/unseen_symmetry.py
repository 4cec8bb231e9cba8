"""Symmetries of a partial table that respect its unseen cells: which questions are one question.

A symmetry of the given cells takes networks of a margin to networks of the same margin. If it also takes one unseen
cell with its true label to another one with its own, what all such networks say of the first they say of the second;
and multipliers for a cell may be averaged over the symmetries that fix the cell and the labels in question.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from lemmata.numerics.operations.operation import MISSING, Cell, Operation
from lemmata.numerics.operations.symmetries import OperationSymmetries, operation_symmetries, swaps

__all__ = ["cell_image", "fixing", "respectful", "true_labels"]

IntArray = NDArray[np.int64]

LISTED = 20_000
"""Groups with more elements are not searched: then nothing is averaged, which only costs time."""


def true_labels(truth: Operation, given: Operation) -> dict[Cell, int]:
    """The true label of every unseen cell: not given, and known in ``truth``.

    Raises:
        ValueError: for tables of different shapes or labels, given cells that contradict the truth, and when no cell
            with a known label is unseen.
    """
    if (truth.rows, truth.columns, truth.label_count) != (given.rows, given.columns, given.label_count):
        raise ValueError("The given cells and the truth have different shapes or numbers of labels.")
    for a, b in given.cells:
        if truth.values[a][b] != given.values[a][b]:
            raise ValueError(f"Cell ({a}, {b}) is given with a label that is not the one of the whole table.")
    unseen = {(a, b): truth.values[a][b] for a, b in given.missing if truth.values[a][b] != MISSING}
    if not unseen:
        raise ValueError("Every cell whose label is known is given: there is no unseen cell to ask about.")
    return unseen


def cell_image(table: Operation, permutation: Sequence[int], cell: Cell) -> Cell:
    """The cell to which a permutation of the points takes a cell."""
    first, second = int(permutation[cell[0]]), int(permutation[table.rows + cell[1]])
    if swaps(table, permutation):
        first, second = second, first
    return first, second - table.rows


def respectful(truth: Operation, given: Operation) -> IntArray:
    """The symmetries of the given cells that take every unseen cell and its true label to another one and its own.

    Shape (number, A + B + C), the identity first; the identity alone when there are more symmetries than `LISTED`.
    """
    unseen = true_labels(truth, given)
    group = operation_symmetries(given)
    identity = np.arange(group.degree)[None]
    if group.order > LISTED:
        return identity

    def keeps(permutation: IntArray) -> bool:
        for cell, label in unseen.items():
            image = unseen.get(cell_image(given, permutation, cell))  # type: ignore[arg-type]
            if image is None or permutation[given.size + label] - given.size != image:
                return False
        return True

    return np.array([element for element in group.elements(LISTED) if keeps(element)])


def fixing(given: Operation, elements: IntArray, cell: Cell, labels: Collection[int]) -> OperationSymmetries:
    """The subgroup of the elements that fix a cell and some labels."""
    points = [given.size + label for label in labels]
    fixed = [
        g
        for g in elements
        if cell_image(given, g, cell) == cell and all(g[point] == point for point in points)  # type: ignore[arg-type]
    ]
    return OperationSymmetries(given, _generators(fixed))


def _generators(elements: Sequence[IntArray]) -> tuple[tuple[int, ...], ...]:
    """A few of the elements of a group that generate it: each one at least doubles what the ones before generate."""
    known: set[tuple[int, ...]] = {tuple(range(len(elements[0])))}
    generators: list[tuple[int, ...]] = []
    for element in elements:
        if (new := tuple(int(x) for x in element)) in known:
            continue
        generators.append(new)
        frontier = list(known)
        while frontier:
            products = {tuple(g[x] for x in p) for p in frontier for g in generators} - known
            known |= products
            frontier = list(products)
    return tuple(generators)
