"""Tables up to isotopy: a canonical form, all classes of small shapes, and the group that a table is.

Two tables are in the same class if one becomes the other when rows, columns and labels are renamed and, for square
tables, the two arguments are swapped. The largest margin is the same for all tables of a class.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from lemmata.numerics.groups.stabilisers import StabiliserChain
from lemmata.numerics.groups.tables import FiniteGroup, group_from_table
from lemmata.numerics.operations.isotopy import Colours, class_to_split, first_colours, isotopism, picked, refined
from lemmata.numerics.operations.operation import MISSING, Operation
from lemmata.numerics.operations.symmetries import NO_LIMIT, autotopism_generators, orbit_numbers, transposed
from lemmata.numerics.operations.ternary import TernaryOperation

__all__ = ["canonical_form", "group_of_operation", "isotopy_classes", "ternary_classes"]

IntArray = NDArray[np.signedinteger]
Values = tuple[tuple[int, ...], ...]

MAX_CELLS = 32  # with two labels alone there are 2^31 labellings
MAX_WORK = 400_000_000  # labellings of a shape, times renamings of its rows and columns


def canonical_form(table: Operation) -> Operation:
    """The table that is the same for all tables of a class, with labels in the order of their first occurrence.

    Numbers take the place of names. Every leaf of the tree of individualisations is an order of rows and columns; of
    children that a symmetry takes to each other one is followed. The least table of all leaves is the form.
    """
    forms = [_least_leaf(table)]
    if table.rows == table.columns and isotopism(table, other := transposed(table)) is None:
        forms.append(_least_leaf(other))
    return Operation.of(min(forms), labels=table.label_count, name=table.name)


def _least_leaf(table: Operation) -> Values:
    generators = [np.array(g) for g in autotopism_generators(table)]
    root = refined(table, first_colours(table))
    return min(_ordered(table, colours) for colours in _leaves(table, root, generators))


def _leaves(table: Operation, colours: Colours, generators: list[IntArray]) -> Iterator[Colours]:
    """Discrete colourings, at least one of every orbit of them.

    Args:
        table: the table.
        colours: a stable colouring.
        generators: of the symmetries that fix all points that were chosen before.
    """
    cell = class_to_split(colours)
    if cell is None:
        yield colours
        return
    orbits = orbit_numbers(len(colours), generators)
    _, first = np.unique(orbits[cell], return_index=True)
    for point in (cell[i] for i in first):
        finer = refined(table, picked(colours, point))
        yield from _leaves(table, finer, _fixing(generators, point) if class_to_split(finer) else [])


def _fixing(generators: list[IntArray], point: int) -> list[IntArray]:
    """Generators of the stabiliser of a point: those of a chain in which it is numbered first."""
    if all(g[point] == point for g in generators):
        return generators
    order = np.arange(len(generators[0]))
    order[[0, point]] = [point, 0]  # its own inverse
    chain = StabiliserChain.of(np.array([order[g[order]] for g in generators]), NO_LIMIT)
    return [order[np.asarray(s, np.int64)[order]] for s in chain.levels[1].generators] if len(chain.levels) > 1 else []


def _ordered(table: Operation, colours: Colours) -> Values:
    """The values with rows and columns in the order of their colours, and labels by first occurrence."""
    rows, columns = np.argsort(colours[: table.rows]), np.argsort(colours[table.rows : table.size])
    number: dict[int, int] = {MISSING: MISSING}
    return tuple(
        tuple(number.setdefault(label, len(number) - 1) for label in row)
        for row in table.array()[np.ix_(rows, columns)].tolist()
    )


def isotopy_classes(rows: int, columns: int, labels: int | None = None) -> list[Operation]:
    """One table of every class of whole tables of a shape, each the least of its class, in lexicographic order.

    Args:
        rows, columns: the shape.
        labels: how many different labels occur; by default any number from two on.

    Raises:
        ValueError: for a shape without cells, fewer than two labels, and shapes with too many labellings.
    """
    cells = rows * columns
    if rows < 1 or columns < 1 or (labels is not None and labels < 2):
        raise ValueError(
            f"Classes are listed of tables with rows, columns and at least two labels; got {rows} rows, {columns} "
            f"columns and {labels} labels."
        )
    if cells > MAX_CELLS:
        raise ValueError(f"Classes are listed of shapes of at most {MAX_CELLS} cells; {rows} x {columns} are {cells}.")
    most = cells if labels is None else labels
    renamings = math.factorial(rows) * math.factorial(columns) * (1 + (rows == columns))
    count = _partition_count(cells, most)
    if count * renamings > MAX_WORK:
        raise ValueError(
            f"There are {count} labellings of {rows} x {columns} cells and {renamings} renamings of rows and columns, "
            f"more than can be tried; give fewer labels, or a smaller shape."
        )
    strings = _partitions(cells, most)
    wanted = strings.max(axis=1) + 1
    strings = strings[wanted == labels if labels is not None else wanted >= 2]
    least = strings.copy()
    place = np.arange(cells).reshape(rows, columns)
    for r, c in product(permutations(range(rows)), permutations(range(columns))):
        moved = place[np.ix_(r, c)]
        for order in (moved, moved.T) if rows == columns else (moved,):
            _keep_less(least, _by_first_occurrence(strings[:, order.ravel()]))
    representatives = strings[(least == strings).all(axis=1)]
    return [Operation.of(string.reshape(rows, columns).tolist()) for string in representatives]


def ternary_classes() -> list[TernaryOperation]:
    """One table of every class of whole tables 2 x 2 x 2 with at least two labels, as `isotopy_classes` has them.

    The three arguments may be permuted, and the elements of each renamed. There are 185 classes; the name of a table is
    the string of its labels.
    """
    strings = _partitions(8, 8)
    least = strings.copy()
    place = np.arange(8).reshape(2, 2, 2)
    for arguments, steps in product(permutations(range(3)), product((1, -1), repeat=3)):
        moved = place.transpose(arguments)[:: steps[0], :: steps[1], :: steps[2]]
        _keep_less(least, _by_first_occurrence(strings[:, moved.ravel()]))
    representatives = strings[(least == strings).all(axis=1) & (strings.max(axis=1) > 0)].astype(np.int64)
    return [TernaryOperation.of(s.reshape(2, 2, 2), name="".join(map(str, s))) for s in representatives]


def _partition_count(cells: int, most: int) -> int:
    """The number of ways to share cells among at most so many labels that have no names."""
    row = [1]  # row[k]: into k parts
    for _ in range(cells):
        row = [(row[k - 1] if k else 0) + (k * row[k] if k < len(row) else 0) for k in range(len(row) + 1)]
    return sum(row[: most + 1])


def _partitions(cells: int, most: int) -> IntArray:
    """The labellings of cells with labels in the order of first occurrence, lexicographic, shape (count, cells)."""
    strings = np.zeros((1, 1), np.int8)
    for _ in range(cells - 1):
        choices = np.minimum(strings.max(axis=1).astype(np.int64) + 2, most)
        repeated = np.repeat(strings, choices, axis=0)
        starts = np.repeat(np.cumsum(choices) - choices, choices)
        strings = np.column_stack([repeated, (np.arange(len(repeated)) - starts).astype(np.int8)])
    return strings


def _by_first_occurrence(strings: IntArray) -> IntArray:
    """The strings with labels renamed in the order of their first occurrence."""
    count, cells = strings.shape
    names = np.full((count, cells), -1, np.int8)
    used = np.zeros(count, np.int8)
    result = np.empty_like(strings)
    everything = np.arange(count)
    for cell in range(cells):
        label = strings[:, cell]
        new = names[everything, label] < 0
        names[everything[new], label[new]] = used[new]
        used += new
        result[:, cell] = names[everything, label]
    return result


def _keep_less(least: IntArray, strings: IntArray) -> None:
    """The lexicographic minimum of two arrays of strings, row by row, into the first."""
    different = least != strings
    first = np.argmax(different, axis=1)
    everything = np.arange(len(least))
    less = strings[everything, first] < least[everything, first]
    least[less] = strings[less]


def group_of_operation(table: Operation) -> FiniteGroup | None:
    """The group whose Cayley table a table is, after renaming rows, columns and labels; None where there is none.

    The label x y is that of the row with x in the first column and the column with y in the first row: a loop, which
    is a group if the table is isotopic to one (Albert), and then that group up to isomorphism. Element x is the label
    x.
    """
    n = table.label_count
    if (table.rows, table.columns) != (n, n) or table.missing:
        return None
    values = table.array()
    if any((np.sort(lines, axis=1) != np.arange(n)).any() for lines in (values, values.T)):
        return None  # no Latin square
    row, column = np.argsort(values[:, 0]), np.argsort(values[0])
    try:
        return group_from_table(values[np.ix_(row, column)], table.name)
    except ValueError:
        return None
