"""Isotopisms of tables: renamings of rows, columns and labels that carry one table into another.

Points of a table are numbered through: the rows 0..A-1, the columns A..A+B-1, the labels A+B..A+B+C-1. An isotopism
is a bijection of the points of one table to those of another that takes rows to rows, columns to columns, labels to
labels, and every cell (a, b) with its label, or without one, to a cell with the image of that label.

The search is one by *individualisation and refinement*. A colouring of the points is refined until it is stable: the
colour of a row counts the triples (colour of the column, colour of the label, mark of the cell) over its cells, and so
on. The *mark* of a cell counts the cells that have its label and whose rectangle with it has one label at the two other
corners; without marks all points of a Latin square look alike. Colours are 64-bit hashes that depend on the table and
on the colours before alone, so that isotopisms respect them; a collision makes a colour class larger, and costs time,
never correctness: what a search returns is verified on every cell, and what it leaves out has another colour.

Source: B. McKay, A. Piperno, Practical graph isomorphism II, J. Symbolic Computation 60 (2014).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lemmata.numerics.operations.operation import MISSING, Operation

__all__ = ["carries", "isotopism", "refined"]

Colours = NDArray[np.uint64]

_ROW, _COLUMN, _LABEL, _PICKED, _EMPTY = (np.uint64(seed * 0x9E3779B97F4A7C15 % 2**64) for seed in range(1, 6))
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
MARKED_CELLS = 1600  # up to 40 x 40 cells their pairs are compared
_FAR, _NEAR = np.uint64(31), np.uint64(27)


def _mixed(values: Colours) -> Colours:
    """A hash of 64-bit numbers (the finaliser of SplitMix64)."""
    values = (values ^ (values >> _FAR)) * _FIRST
    values = (values ^ (values >> _NEAR)) * _SECOND
    return values ^ (values >> _FAR)


@lru_cache(maxsize=16)
def _marked(table: Operation) -> tuple[NDArray[np.int64], NDArray[np.bool_], Colours]:
    """The values, which of them are given (both flat), and the marks of the cells, shape (A, B).

    The mark of (a, b) counts the (a', b') with the label of (a, b) such that (a, b') and (a', b) have one label.
    """
    values = table.array()
    marks = np.zeros(values.shape, np.uint64)
    if values.size <= MARKED_CELLS:
        for a, row in enumerate(values):
            same = values[None, :, :] == row[:, None, None]  # [b, a', b']: (a', b') has the label of (a, b)
            crossed = values.T[:, :, None] == row[None, None, :]  # [b, a', b']: (a', b) has the label of (a, b')
            marks[a] = (same & crossed).sum(axis=(1, 2))
    return values.ravel(), values.ravel() != MISSING, _mixed(marks)


def first_colours(table: Operation) -> Colours:
    """The colouring that tells rows, columns and labels apart, and no more, shape (A + B + C,)."""
    kinds = np.array([_ROW, _COLUMN, _LABEL])
    return np.repeat(kinds, [table.rows, table.columns, table.label_count])


def picked(colours: Colours, point: int) -> Colours:
    """The colouring in which one point has a colour of its own, also among points that were picked before.

    All colours change, so that the one of a point that was picked from the same class earlier is not given again.
    """
    result = _mixed(colours)
    result[point] = _mixed(colours[point : point + 1] ^ _PICKED)[0]
    return result


def refined(table: Operation, colours: Colours) -> Colours:
    """The stable colouring that refines a given one, shape (A + B + C,)."""
    rows, size = table.rows, table.size
    where, used, marks = _marked(table)
    values = where.reshape(marks.shape)  # MISSING is -1, the last entry of what it is an index of
    classes = len(np.unique(colours))
    while True:
        labels = np.append(colours[size:], _EMPTY)
        cells = _mixed(labels)[values] + marks
        row, column = _mixed(colours[:rows] ^ _FIRST), _mixed(colours[rows:size] ^ _SECOND)
        sums = np.empty_like(colours)
        sums[:rows] = _mixed(cells + column).sum(axis=1)
        sums[rows:size] = _mixed(cells + row[:, None]).sum(axis=0)
        by_label = np.zeros(table.label_count, np.uint64)
        np.add.at(by_label, where[used], _mixed(row[:, None] + _mixed(column) + marks).ravel()[used])
        sums[size:] = by_label
        finer = _mixed(sums + _mixed(colours))
        count = len(np.unique(finer))
        if count == classes:
            return colours
        colours, classes = finer, count


def carries(first: Operation, second: Operation, points: Sequence[int] | NDArray[np.int64]) -> bool:
    """Whether a bijection of the points, as the images of 0, ..., A + B + C - 1, is an isotopism of two tables.

    Raises:
        ValueError: if it is no bijection of the points of two tables of one shape.
    """
    shape = (first.rows, first.columns, first.label_count)
    images = np.asarray(points, np.int64)
    if shape != (second.rows, second.columns, second.label_count) or sorted(images.tolist()) != list(range(sum(shape))):
        raise ValueError("An isotopism is a bijection of the points of two tables of the same shape.")
    rows, size = first.rows, first.size
    row, column, label = images[:rows], images[rows:size] - rows, images[size:] - size
    if row.max() >= rows or column.min() < 0 or column.max() >= first.columns or label.min() < 0:
        return False
    renamed = np.append(label, MISSING)[first.array()]
    return bool((second.array()[np.ix_(row, column)] == renamed).all())


def classes_of(colours: Colours) -> dict[int, list[int]]:
    """The points of every colour, ascending."""
    result: dict[int, list[int]] = {}
    for point, colour in enumerate(colours.tolist()):
        result.setdefault(colour, []).append(point)
    return result


def class_to_split(colours: Colours) -> list[int] | None:
    """The points of the largest class, that of the least colour among equals; None when every point is a class.

    The largest class brings rows, columns and labels in turn: a row and a column of a Latin square meet in a label,
    where a second row would leave all columns alike.
    """
    _, points = max(classes_of(colours).items(), key=lambda item: (len(item[1]), -item[0]))
    return points if len(points) > 1 else None


def _matches(first: Colours, second: Colours) -> bool:
    return np.array_equal(np.sort(first), np.sort(second))


def _leaves(first: Operation, second: Operation, one: Colours, other: Colours) -> Iterator[NDArray[np.int64]]:
    """The bijections that respect two stable colourings and all of their refinements."""
    cell = class_to_split(one)
    if cell is None:
        images = np.empty(len(one), np.int64)
        images[np.argsort(one)] = np.argsort(other)
        yield images
        return
    point = cell[0]
    finer = refined(first, picked(one, point))
    for image in np.flatnonzero(other == one[point]).tolist():
        candidate = refined(second, picked(other, image))
        if _matches(finer, candidate):
            yield from _leaves(first, second, finer, candidate)


def extension(first: Operation, second: Operation, one: Colours, other: Colours) -> NDArray[np.int64] | None:
    """An isotopism that takes each colour of a stable colouring of one table to itself in another; None without one."""
    if not _matches(one, other):
        return None
    return next((points for points in _leaves(first, second, one, other) if carries(first, second, points)), None)


def isotopism(first: Operation, second: Operation) -> NDArray[np.int64] | None:
    """An isotopism of one table to another as the images of the points, shape (A + B + C,); None where none is."""
    if (first.rows, first.columns, first.label_count) != (second.rows, second.columns, second.label_count):
        return None
    return extension(first, second, refined(first, first_colours(first)), refined(second, first_colours(second)))
