"""Tables from what a user types: files, operations, groups, Latin squares, random tables; and parts of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.groups.permutations import MAX_TABLE_ORDER
from lemmata.numerics.groups.tables import FiniteGroup
from lemmata.numerics.operations.families import conjugation_operation, group_operation, named_operation
from lemmata.numerics.operations.files import operation_of_cells, read_cells, read_operation
from lemmata.numerics.operations.operation import MISSING, Cell, Operation
from lemmata.numerics.operations.squares import random_latin_square, reduced_latin_square, steiner_square

__all__ = ["ACCEPTED_CELLS", "ACCEPTED_TABLES", "TABLE_PREFIXES", "parse_operation", "restricted"]

ACCEPTED_TABLES = (
    "table:FILE.csv, .json or .npy (cells that are not given are empty); cells:FILE.csv (lines row,column,label); "
    "op:FORMULA:N modulo N such as op:mul:7, op:a^2+ab+b^2:5 or op:a*b^-1:7; op:max:N, op:min:N, op:gcd:N, op:lcm:N; "
    "conj:GROUP (a b a^-1); latin:N:SEED (a random Latin square), latin:N:reduced:NUMBER, latin:N:steiner; "
    "random:ROWSxCOLUMNS:LABELS:SEED; group:GROUP, or the name of a group such as S3"
)
ACCEPTED_CELLS = (
    "fraction:SHARE:SEED such as fraction:0.8:1; without:(0,1),(2,2) or only:(0,0),(0,1), by the numbers of rows and "
    "columns from 0; or a FILE, .csv or .json, of row,column or row,column,label by name, or .npy of truth values"
)

MAX_MEMORY = 4 * 2**30  # bytes, of the triples of a table
TRIPLE_BYTES = 200  # a tuple of three numbers, its multiplier, its row of a program

_PAIR = r"\(\s*\d{1,6}\s*,\s*\d{1,6}\s*\)"


def parse_operation(text: str, cells: str | None = None) -> Operation:
    """The table that a text describes, in one of the forms of `ACCEPTED_TABLES`.

    Args:
        text: such as "op:mul:7", "table:operation.csv" or "S3".
        cells: the cells that are given, in one of the forms of `ACCEPTED_CELLS`; by default all.

    Raises:
        ValueError: for a text that describes no table, files that hold none, cells that contradict the table, a table
            of fewer than two given cells, and one that needs more memory than `MAX_MEMORY`.
    """
    prefix, colon, rest = text.strip().partition(":")
    table = TABLE_PREFIXES[prefix](rest.strip()) if colon and prefix in TABLE_PREFIXES else _named(text.strip())
    if cells is not None:
        table = restricted(table, cells)
    if len(table.cells) < 2:
        raise ValueError(
            f"The table {table.name} has one given cell; give at least two, so that there is something to tell apart."
        )
    _refuse_beyond_memory(table.name, len(table.cells), table.label_count)
    return table


def _refuse_beyond_memory(name: str, cells: int, labels: int) -> None:
    triples = cells * (labels - 1)
    if triples * TRIPLE_BYTES > MAX_MEMORY:
        raise ValueError(
            f"The table {name} has {triples} triples of a cell and a wrong label, which need "
            f"{triples * TRIPLE_BYTES / 2**30:.1f} GB of memory; up to {MAX_MEMORY / 2**30:.0f} GB are accepted. "
            f"Give a smaller table, or one with fewer labels."
        )


def _operation(rest: str) -> Operation:
    operation, _, number = rest.rpartition(":")
    if not operation.strip() or not re.fullmatch(r"\s*[0-9]{1,9}\s*", number):
        raise ValueError(f"An operation is written op:FORMULA:N, such as op:a^2+b^2:5 or op:max:4; got 'op:{rest}'.")
    _refuse_beyond_memory(f"op:{rest}", int(number) ** 2, int(number))
    return named_operation(operation.strip(), int(number))


def _latin(rest: str) -> Operation:
    if match := re.fullmatch(r"(\d{1,4}):(\d{1,18})", rest):
        return random_latin_square(int(match[1]), int(match[2]))
    if match := re.fullmatch(r"(\d{1,4}):reduced:(\d{1,18})", rest):
        return reduced_latin_square(int(match[1]), int(match[2]))
    if match := re.fullmatch(r"(\d{1,4}):steiner", rest):
        return steiner_square(int(match[1]))
    raise ValueError(
        f"A Latin square is written latin:N:SEED, latin:N:reduced:NUMBER or latin:N:steiner; got 'latin:{rest}'."
    )


def _random(rest: str) -> Operation:
    match = re.fullmatch(r"(\d{1,4})x(\d{1,4}):(\d{1,4}):(\d{1,18})", rest)
    if match is None:
        raise ValueError(f"A random table is written random:ROWSxCOLUMNS:LABELS:SEED; got 'random:{rest}'.")
    rows, columns, labels, seed = map(int, match.groups())
    _refuse_beyond_memory(f"random:{rest}", rows * columns, labels)
    random = Random(seed)
    values = [[random.randrange(max(labels, 1)) for _ in range(columns)] for _ in range(rows)]
    return Operation.of(values, labels=labels, name=f"random:{rest}")


def _cells(rest: str) -> Operation:
    path = Path(rest)
    return operation_of_cells(read_cells(path, (0, 0)), path.name)


def _conjugation(rest: str) -> Operation:
    return replace(conjugation_operation(_group(rest)), name=f"conj:{rest}")


def _named(text: str) -> Operation:
    try:
        return _group_table(text)
    except ValueError as error:
        raise ValueError(f"{error} Tables look like op:mul:7, op:max:3, latin:5:1 or table:FILE.csv.") from error


def _group_table(rest: str) -> Operation:
    return replace(group_operation(_group(rest)), name=rest)


def _group(text: str) -> FiniteGroup:
    group = parse_group(text, MAX_TABLE_ORDER)
    _refuse_beyond_memory(text, group.order**2, group.order)
    return group.to_finite_group()


TABLE_PREFIXES: dict[str, Callable[[str], Operation]] = {
    "table": lambda rest: read_operation(Path(rest)),
    "cells": _cells,
    "op": _operation,
    "conj": _conjugation,
    "group": _group_table,
    "latin": _latin,
    "random": _random,
}
"""What stands before the colon of a table, and how the rest is read; everything else is the name of a group."""


def restricted(table: Operation, cells: str) -> Operation:
    """The table with only those of its cells given that a text describes, in one of the forms of `ACCEPTED_CELLS`.

    Raises:
        ValueError: for a text of another form, cells that the table has not, or gives another label, and none left.
    """
    text = cells.strip()
    kind, colon, rest = text.partition(":")
    if colon and kind == "fraction":
        given = _share(table, rest)
    elif colon and kind in ("without", "only"):
        listed = _pairs(rest)
        table.without(listed - set(table.cells))  # refuses those outside of the table
        given = set(table.cells) - listed if kind == "without" else set(table.cells) & listed
    else:
        given = _listed_cells(table, Path(text))
    if not given:
        raise ValueError(f"Of the table {table.name} no cell is left; give at least two.")
    name = f"{table.name} ({len(given)} of {table.rows * table.columns} cells)"
    return replace(table.without([cell for cell in table.cells if cell not in given]), name=name)


def _share(table: Operation, rest: str) -> set[Cell]:
    match = re.fullmatch(r"(0?\.\d{1,9}|1|1\.0{1,9}|0):(\d{1,18})", rest)
    if match is None:
        raise ValueError(
            f"A share of the cells is written fraction:SHARE:SEED with a share of at most 1, such as fraction:0.8:1; "
            f"got 'fraction:{rest}'."
        )
    count = round(float(match[1]) * len(table.cells))
    return set(Random(int(match[2])).sample(table.cells, count))


def _pairs(rest: str) -> set[Cell]:
    if not re.fullmatch(rf"\s*{_PAIR}(\s*[,;]?\s*{_PAIR})*\s*", rest):
        raise ValueError(f"Cells are listed as (0,1),(2,2), by the numbers of rows and columns from 0; got {rest!r}.")
    return {tuple(map(int, re.findall(r"\d+", pair))) for pair in re.findall(_PAIR, rest)}  # pyright: ignore


def _listed_cells(table: Operation, path: Path) -> set[Cell]:
    """The cells that a file lists; their labels, where it gives them, are compared with those of the table."""
    if not path.is_file():
        raise ValueError(f"The cells {str(path)!r} are no file. Accepted: {ACCEPTED_CELLS}.")
    shape = (table.rows, table.columns)
    rows, columns = table.row_names, table.column_names
    if path.suffix.lower() == ".npy":  # an array knows no names
        rows, columns = (tuple(map(str, range(size))) for size in shape)
    given = set()
    for row, column, label in read_cells(path, shape):
        if str(row) not in rows or str(column) not in columns:
            raise ValueError(f"The table {table.name} has no cell ({row}, {column}), which {path.name!r} lists.")
        a, b = rows.index(str(row)), columns.index(str(column))
        if table.values[a][b] == MISSING:
            raise ValueError(f"The table {table.name} gives no label to the cell ({row}, {column}) of {path.name!r}.")
        own = table.label_names[table.values[a][b]]
        if label is not None and str(label) != own:
            raise ValueError(
                f"The cell ({row}, {column}) has the label {own} in the table {table.name} and {label} in "
                f"{path.name!r}: they contradict each other."
            )
        given.add((a, b))
    return given
