"""A finite binary operation f: A x B -> C, whole or partial: which label stands in which cell.

A network for a table is f(a, b) = sum_i (u_i(a) + v_i(b))^2 w_i with one output for each of the C labels, those that
stand in no given cell included. Its margin at a *triple* (a, b, c), a given cell with a label c other than its own y,
is the difference f_y - f_c of the outputs at (a, b).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["MISSING", "Cell", "Operation", "Triple"]

Cell = tuple[int, int]
"""A row and a column."""

Triple = tuple[int, int, int]
"""A given cell (a, b) and a label c that is not its own."""

MISSING = -1
"""The value of a cell that is not given."""


@dataclass(frozen=True)
class Operation:
    """A table of labels.

    Attributes:
        values: the labels 0, ..., C - 1 of the cells by rows, `MISSING` where a cell is not given.
        label_names: the C names of the labels.
        row_names, column_names: those of the elements of A and of B.
        name: of the operation, for the reader.

    Raises:
        ValueError: for no row or column, rows of different lengths, a value that is neither a label nor `MISSING`,
            names that are too few, too many or not distinct, fewer than two labels, and no given cell.
    """

    values: tuple[tuple[int, ...], ...]
    label_names: tuple[str, ...]
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    name: str = "table"

    def __post_init__(self) -> None:
        lengths = [len(row) for row in self.values]
        if not lengths or min(lengths) == 0:
            raise ValueError("A table has at least one row and one column; this one is empty.")
        if min(lengths) < max(lengths):
            short = lengths.index(min(lengths))
            raise ValueError(
                f"All rows of a table have the same length; row {short} has {min(lengths)} cells and another one "
                f"{max(lengths)}."
            )
        for names, count, what in (
            (self.row_names, len(lengths), "rows"),
            (self.column_names, lengths[0], "columns"),
            (self.label_names, len(self.label_names), "labels"),
        ):
            if len(names) != count or len(set(names)) != count:
                raise ValueError(f"The {count} {what} need as many different names, not {list(names)}.")
        if len(self.label_names) < 2:
            raise ValueError("A table needs at least two labels: with one there is nothing to tell apart.")
        for a, row in enumerate(self.values):
            for b, label in enumerate(row):
                if type(label) is not int or not MISSING <= label < len(self.label_names):
                    raise ValueError(
                        f"Cell ({a}, {b}) holds {label!r}; accepted are the numbers 0, ..., "
                        f"{len(self.label_names) - 1} of the labels, and {MISSING} where the cell is not given."
                    )
        if not self.cells:
            raise ValueError("A table needs at least one given cell.")

    @classmethod
    def of(cls, values: Sequence[Sequence[int]], *, labels: int | None = None, name: str = "table") -> Operation:
        """The table of rows of labels 0, ..., C - 1, `MISSING` where not given; by default C - 1 is the largest.

        Raises:
            ValueError: as the class.
        """
        rows = tuple(tuple(row) for row in values)
        count = labels if labels is not None else 1 + max((label for row in rows for label in row), default=MISSING)
        width = len(rows[0]) if rows else 0
        return cls(rows, _numbered(count), _numbered(len(rows)), _numbered(width), name)

    @property
    def rows(self) -> int:
        """|A|."""
        return len(self.values)

    @property
    def columns(self) -> int:
        """|B|."""
        return len(self.values[0])

    @property
    def label_count(self) -> int:
        """C, the number of outputs of a network."""
        return len(self.label_names)

    @property
    def size(self) -> int:
        """N = |A| + |B|, the number of coordinates of x = (u, v)."""
        return self.rows + self.columns

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The given cells, by rows."""
        return tuple((a, b) for a, row in enumerate(self.values) for b, label in enumerate(row) if label != MISSING)

    @cached_property
    def missing(self) -> tuple[Cell, ...]:
        """The cells that are not given, by rows."""
        return tuple((a, b) for a, row in enumerate(self.values) for b, label in enumerate(row) if label == MISSING)

    @cached_property
    def triples(self) -> tuple[Triple, ...]:
        """All (a, b, c) with a given cell (a, b) and c != y(a, b), in lexicographic order: C - 1 in each cell."""
        return tuple((a, b, c) for a, b in self.cells for c in range(self.label_count) if c != self.values[a][b])

    def array(self) -> NDArray[np.int64]:
        """The values, shape (|A|, |B|)."""
        return np.array(self.values, np.int64)

    def without(self, cells: Collection[Cell]) -> Operation:
        """The table in which these cells are not given; all labels and names stay.

        Raises:
            ValueError: for a cell outside of the table, and when no cell is left.
        """
        for a, b in cells:
            if not (0 <= a < self.rows and 0 <= b < self.columns):
                raise ValueError(
                    f"There is no cell ({a}, {b}) in a table of {self.rows} rows and {self.columns} columns."
                )
        gone = set(cells)
        values = tuple(
            tuple(MISSING if (a, b) in gone else label for b, label in enumerate(row))
            for a, row in enumerate(self.values)
        )
        return Operation(values, self.label_names, self.row_names, self.column_names, self.name)


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(count))
