"""A finite operation of three arguments, whole or partial.

A network for such a table is f(a, b, c) = sum_i (u_i(a) + v_i(b) + s_i(c))^3 w_i with one output for each of the C
labels, as `lemmata.numerics.operations.operation` has it for two arguments and the square.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.numerics.groups.tables import FiniteGroup
from lemmata.numerics.operations.operation import MISSING

__all__ = ["TERNARY_PREFIX", "TernaryOperation", "parse_ternary", "ternary_product"]

Integers = NDArray[np.int64]

TERNARY_PREFIX = "ternary:"
"""Before the eight labels, or the file, of an operation of three arguments."""


@dataclass(frozen=True, eq=False)
class TernaryOperation:
    """A table of labels with three arguments.

    Attributes:
        values: the labels 0, ..., C - 1 of the cells, `MISSING` where a cell is not given, shape (|A|, |B|, |D|).
        labels: C.
        name: of the operation, for the reader.

    Raises:
        ValueError: for values that are no integers or not in three dimensions, an empty side, fewer than two labels,
            a value that is neither a label nor `MISSING`, and no given cell.
    """

    values: Integers
    labels: int
    name: str = "table"

    def __post_init__(self) -> None:
        if self.values.ndim != 3 or self.values.size == 0 or self.values.dtype.kind != "i":
            raise ValueError(
                f"An operation of three arguments is an array of integers with three sides, none of them empty, not "
                f"one of shape {self.values.shape} and type {self.values.dtype}."
            )
        if self.labels < 2:
            raise ValueError("A table needs at least two labels: with one there is nothing to tell apart.")
        wrong = self.values[(self.values < MISSING) | (self.values >= self.labels)]
        if wrong.size:
            raise ValueError(
                f"A cell holds {wrong[0]}; accepted are the numbers 0, ..., {self.labels - 1} of the labels, and "
                f"{MISSING} where the cell is not given."
            )
        if (self.values == MISSING).all():
            raise ValueError("A table needs at least one given cell.")

    @classmethod
    def of(cls, values: Sequence[Sequence[Sequence[int]]] | Integers, *, name: str = "table") -> TernaryOperation:
        """The table of nested rows of labels 0, ..., C - 1, where C - 1 is the largest that occurs.

        Raises:
            ValueError: as the class.
        """
        try:
            array = np.array(values)
        except ValueError as error:
            raise ValueError("All rows of a table of three arguments have the same length.") from error
        if array.dtype.kind != "i":
            raise ValueError(f"The cells of a table hold integers; these are of the type {array.dtype}.")
        array = array.astype(np.int64)
        return cls(array, int(array.max(initial=0)) + 1, name)

    @property
    def size(self) -> int:
        """N = |A| + |B| + |D|, the number of coordinates of x = (u, v, s)."""
        return sum(self.values.shape)

    @cached_property
    def tests(self) -> tuple[Integers, Integers, Integers]:
        """What a network has to tell apart: given cells with a label k that is not their own, y.

        Returns:
            The coordinates of x that a cell adds up, shape (T, 3), the labels y (T,) and the labels k (T,), sorted by
            cells and then by k.
        """
        cells = np.argwhere(self.values != MISSING)
        own = self.values[tuple(cells.T)]
        which, k = np.nonzero(np.arange(self.labels) != own[:, None])
        first = np.cumsum((0, *self.values.shape[:2]))
        return cells[which] + first, own[which], k.astype(np.int64)

    def document(self) -> dict[str, Any]:
        """The table as it stands in documents (TERNARY_FORMAT.md)."""
        name = "".join(c if " " <= c <= "~" else "?" for c in self.name)
        return {"name": name, "labels": self.labels, "values": self.values.tolist()}


def ternary_product(group: FiniteGroup) -> TernaryOperation:
    """The product a b c of three elements of a group, labels in the order of the elements."""
    table = np.asarray(group.table, np.int64)
    return TernaryOperation.of(table[table], name=f"a b c in {group.name}")


def parse_ternary(text: str) -> TernaryOperation:
    """The operation of three arguments that a text describes.

    Args:
        text: ``ternary:01101001``, the labels of a table 2 x 2 x 2 in the order of its cells, or ``ternary:FILE``: a
            .json file of nested lists of integers, or a .npy file of an array of them.

    Raises:
        ValueError: for another form, a file that cannot be read, and what is no such table.
    """
    given = text.strip().removeprefix(TERNARY_PREFIX)
    if re.fullmatch(r"[0-7]{8}", given):
        return TernaryOperation.of(np.array([int(label) for label in given]).reshape(2, 2, 2), name=given)
    path = Path(given)
    if path.suffix not in (".json", ".npy"):
        raise ValueError(
            f"An operation of three arguments is {TERNARY_PREFIX}01101001 (the labels 0 to 7 of 2 x 2 x 2 cells), or "
            f" {TERNARY_PREFIX}FILE with a file that ends in .json or .npy; got {text!r}."
        )
    try:
        values = json.loads(path.read_bytes()) if path.suffix == ".json" else np.load(path, allow_pickle=False)
    except OSError as error:
        raise ValueError(f"The file {given!r} cannot be read: {error.strerror}.") from error
    except (ValueError, EOFError, RecursionError) as error:
        raise ValueError(f"The file {given!r} holds no table: {error}") from error
    return TernaryOperation.of(values, name=path.stem)
