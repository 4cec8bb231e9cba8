"""The symmetries of a table: autotopisms, and with the swap of the two arguments where there is one.

A symmetry permutes the points of a table, the rows 0..A-1, the columns A..A+B-1 and the labels A+B..A+B+C-1, such that
every given cell with its label goes to a given cell with the image of the label; it takes rows to rows and columns to
columns, or all rows to columns and all columns to rows (the *swap*, for square tables). Labels that stand in no cell
may be permuted at will. A network whose neurons are renamed by a symmetry, u, v and w alike, has the same margin, so
that multipliers of triples may be averaged over their orbits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from lemmata.numerics.groups.stabilisers import StabiliserChain
from lemmata.numerics.operations.isotopy import (
    carries,
    class_to_split,
    extension,
    first_colours,
    isotopism,
    picked,
    refined,
)
from lemmata.numerics.operations.operation import Operation

__all__ = [
    "OperationSymmetries",
    "autotopism_generators",
    "is_symmetry",
    "operation_symmetries",
    "orbit_numbers",
    "transposed",
]

IntArray = NDArray[np.int64]
Permutation = tuple[int, ...]

NO_LIMIT = 10**10_000  # of orders, which are never listed


def transposed(table: Operation) -> Operation:
    """The table of (b, a) -> f(a, b)."""
    return Operation(
        tuple(zip(*table.values, strict=True)),
        table.label_names,
        table.column_names,
        table.row_names,
        table.name,
    )


def swaps(table: Operation, permutation: Sequence[int]) -> bool:
    """Whether a permutation of the points takes the first row to a column."""
    return table.rows <= permutation[0] < table.size


def is_symmetry(table: Operation, permutation: Sequence[int]) -> bool:
    """Whether a permutation of the A + B + C points, as the images of the points, is a symmetry: on every cell.

    Raises:
        ValueError: if it is no permutation of the points.
    """
    if not swaps(table, permutation):
        return carries(table, table, permutation)
    if table.rows != table.columns:
        return False
    points = np.asarray(permutation, np.int64)
    half, size = table.rows, table.size
    to_transpose = np.where(points < half, points + half, np.where(points < size, points - half, points))
    return carries(table, transposed(table), to_transpose)


@dataclass(frozen=True)
class OperationSymmetries:
    """A group of symmetries of a table.

    Attributes:
        table: the table.
        generators: permutations of the A + B + C points as tuples of images; none for the trivial group.

    Raises:
        ValueError: for a generator that is not a symmetry.
    """

    table: Operation
    generators: tuple[Permutation, ...]

    def __post_init__(self) -> None:
        for number, generator in enumerate(self.generators):
            if not is_symmetry(self.table, generator):
                raise ValueError(f"Generator {number} is not a symmetry of {self.table.name}: {generator}.")

    def __repr__(self) -> str:
        return f"OperationSymmetries({self.table.name}, order {self.order})"

    @property
    def degree(self) -> int:
        """A + B + C, the number of points."""
        return self.table.size + self.table.label_count

    @cached_property
    def _chain(self) -> StabiliserChain:
        return StabiliserChain.of(self.generators or (tuple(range(self.degree)),), NO_LIMIT)

    @property
    def order(self) -> int:
        """The number of symmetries."""
        return self._chain.order

    @cached_property
    def has_swap(self) -> bool:
        """Whether some symmetry takes rows to columns."""
        return any(swaps(self.table, generator) for generator in self.generators)

    def elements(self, limit: int = 100_000) -> IntArray:
        """All symmetries as images of the points, the identity first, shape (order, A + B + C).

        Raises:
            ValueError: for more than ``limit`` of them.
        """
        if self.order > limit:
            raise ValueError(
                f"{self.table.name} has {self.order} symmetries, more than the {limit} that are listed; use generators "
                f"and orbits, or raise the argument limit."
            )
        listed = self._chain.elements_by_code().astype(np.int64)
        return listed[np.lexsort(listed.T[::-1])]

    def listable(self, limit: int = 100_000, few: int = 2000) -> OperationSymmetries:
        """The group itself if its elements can be listed, else a subgroup: of some generators, of order up to ``few``.

        Labels that stand in no cell, or columns that are alike, may be permuted in too many ways.
        """
        if self.order <= limit:
            return self
        kept = OperationSymmetries(self.table, ())
        for generator in self.generators:
            larger = OperationSymmetries(self.table, (*kept.generators, generator))
            if larger.order <= few:
                kept = larger
        return kept

    def on_triples(self, permutation: Sequence[int]) -> IntArray:
        """The permutation of ``table.triples`` that a symmetry induces: the number of the image of every triple."""
        table = self.table
        points = np.asarray(permutation, np.int64)
        a, b, c = np.array(table.triples, np.int64).reshape(-1, 3).T
        first, second = points[a], points[b + table.rows]
        if swaps(table, permutation):
            first, second = second, first
        images = first, second - table.rows, points[c + table.size] - table.size
        return self._numbers[images]

    @cached_property
    def _numbers(self) -> IntArray:
        """The number of every triple at its place (a, b, c), shape (A, B, C); -1 where there is none."""
        table = self.table
        numbers = np.full((table.rows, table.columns, table.label_count), -1, np.int64)
        a, b, c = np.array(table.triples, np.int64).reshape(-1, 3).T
        numbers[a, b, c] = np.arange(len(a))
        return numbers

    def triple_orbits(self) -> IntArray:
        """The number of the orbit of every triple of ``table.triples``, in the order of first occurrence."""
        count = len(self.table.triples)
        return orbit_numbers(count, [self.on_triples(generator) for generator in self.generators])

    def point_orbits(self) -> IntArray:
        """The number of the orbit of every point, in the order of first occurrence, shape (A + B + C,)."""
        return orbit_numbers(self.degree, [np.array(generator) for generator in self.generators])


def orbit_numbers(count: int, moves: Sequence[IntArray]) -> IntArray:
    """The number of the orbit of 0..count-1 under permutations, in the order of first occurrence, shape (count,)."""
    start = np.tile(np.arange(count), len(moves))
    end = np.concatenate(moves) if moves else start
    graph = coo_array((np.ones(len(start), np.int8), (start, end)), shape=(count, count))
    _, component = connected_components(graph, directed=False)
    _, first, inverse = np.unique(component, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.int64)


def autotopism_generators(table: Operation) -> list[Permutation]:
    """Strong generators of the symmetries without swap, along a base that makes the colouring discrete.

    From the deepest stabiliser upwards: for every point of the class of the base point that the generators so far do
    not reach, an autotopism that takes the base point there and fixes the earlier ones is searched for.
    """
    colours, base = refined(table, first_colours(table)), []
    stages = []
    while (cell := class_to_split(colours)) is not None:
        stages.append((colours, cell))
        base.append(cell[0])
        colours = refined(table, picked(colours, cell[0]))
    generators: list[Permutation] = []
    for colours, cell in reversed(stages):
        fixed = refined(table, picked(colours, cell[0]))
        failed: set[int] = set()
        for image in cell[1:]:
            orbits = orbit_numbers(len(colours), [np.array(generator) for generator in generators])
            if orbits[image] == orbits[cell[0]] or any(orbits[image] == orbits[other] for other in failed):
                continue
            found = extension(table, table, fixed, refined(table, picked(colours, image)))
            if found is None:
                failed.add(image)
            else:
                generators.append(tuple(found.tolist()))
    return generators


def operation_symmetries(table: Operation) -> OperationSymmetries:
    """All symmetries of a table, missing cells included, by generators."""
    generators = autotopism_generators(table)
    if table.rows == table.columns and (found := isotopism(table, transposed(table))) is not None:
        half, size = table.rows, table.size
        swap = np.where(found < half, found + half, np.where(found < size, found - half, found))
        generators.append(tuple(swap.tolist()))
    return OperationSymmetries(table, tuple(generators))
