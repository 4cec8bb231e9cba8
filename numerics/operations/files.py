"""Tables from files: .csv, .json and .npy, and lists of cells with their labels.

CSV     one line for each row, labels separated by commas (by semicolons in a file without commas), an empty entry for
        a cell that is not given. A first line and a first column of names are read as such where the corner, their
        common entry, is * or has a backslash as in a\\b; any other corner is a cell.
JSON    a list of rows, null for a cell that is not given; or an object with "values" (the rows) and optionally
        "labels" (all of them, those without a cell included), "rows", "columns" (names) and "name".
NPY     an array of integers from 0 on; of floats with integral values, nan where a cell is not given; or of texts,
        blank where not given. An array of integers with negative ones is refused, since -1 could be a label, as it is
        in the other files, or a cell that is not given.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lemmata.numerics.operations.entries import Entry, entry_of, names_of, operation_of_entries
from lemmata.numerics.operations.operation import Operation

__all__ = ["operation_of_cells", "read_cells", "read_operation"]

MAX_SIDE = 5000  # rows, and columns: 25 million cells
MAX_BYTES = 2**28

Listed = tuple[Entry, Entry, Entry | None]
"""A row, a column, and the label there where it is given."""


def read_operation(path: Path) -> Operation:
    """The table in a file, by the end of its name.

    Raises:
        ValueError: for a file that cannot be read or holds no table, naming the first violation.
    """
    readers = {".csv": _from_csv, ".json": _from_json, ".npy": _from_npy}
    if path.suffix.lower() not in readers:
        raise ValueError(f"Tables are read from files that end in .csv, .json or .npy; got {path.name!r}.")
    _refuse_unreadable(path)
    try:
        return readers[path.suffix.lower()](path)
    except ValueError as error:
        raise ValueError(f"There is no table in {path.name!r}. {error}") from error


def _refuse_unreadable(path: Path) -> None:
    try:
        size = path.stat().st_size
        with path.open("rb"):
            pass
    except OSError as error:
        raise ValueError(f"The file {str(path)!r} cannot be read: {error.strerror}.") from error
    if size > MAX_BYTES:
        raise ValueError(f"The file {str(path)!r} has {size} bytes; at most {MAX_BYTES} are read.")


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    """The lines of a CSV file that are not blank, with their numbers."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            whole = file.read()
            separator = ";" if "," not in whole else ","
            reader = csv.reader(io.StringIO(whole, newline=""), strict=True, delimiter=separator)
            lines = [(reader.line_num, line) for line in reader if line]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"It is not a text of entries separated by commas: {error}.") from error
    if not lines:
        raise ValueError("It is empty; a table has at least one row and one column.")
    return lines


def _from_csv(path: Path) -> Operation:
    lines = _lines(path)
    first, width = lines[0][0], len(lines[0][1])
    for number, line in lines:
        if len(line) != width:
            raise ValueError(
                f"All rows of a table have the same length; line {number} has {len(line)} entries and line {first} "
                f"{width}."
            )
    corner = lines[0][1][0].strip()
    named = corner == "*" or "\\" in corner
    if max(len(lines), width) > MAX_SIDE + named:
        raise _too_large(len(lines) - named, width - named)
    entries = [[entry_of(text, f"Line {number}") for text in line[named:]] for number, line in lines[named:]]
    rows = _names([line[0] for _, line in lines[1:]], "rows") if named else None
    columns = _names(lines[0][1][1:], "columns") if named else None
    return operation_of_entries(entries, rows=rows, columns=columns, name=path.name)


def _too_large(rows: int, columns: int) -> ValueError:
    return ValueError(f"Tables have at most {MAX_SIDE} rows and columns; this one has {rows} and {columns}.")


def _loaded(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_of_pairs)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"It is not JSON: {error}.") from error


def _of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("It gives one key twice, so that one of the two values would be lost.")
    return fields


def _from_json(path: Path) -> Operation:
    content = _loaded(path)
    fields: dict[str, Any] = content if isinstance(content, dict) else {"values": content}
    known = ("values", "labels", "rows", "columns", "name")
    strange = [key for key in fields if key not in known]
    if strange or "values" not in fields:
        raise ValueError(
            f"A table in JSON is a list of rows, or an object with the key values and optionally {', '.join(known[1:])}"
            + (f", without {strange[0]!r}." if strange else ".")
        )
    values = fields["values"]
    if not isinstance(values, list) or not all(isinstance(row, list) for row in values):
        raise ValueError("The values of a table in JSON are a list of rows, each of them a list of labels or null.")
    if len(values) > MAX_SIDE or any(len(row) > MAX_SIDE for row in values):
        raise _too_large(len(values), max(map(len, values)))
    entries = [[entry_of(entry, f"Row {number}") for entry in row] for number, row in enumerate(values)]
    names = {key: _names(fields[key], key) for key in ("labels", "rows", "columns") if fields.get(key) is not None}
    name = fields.get("name", path.name)
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= 200:
        raise ValueError("The name of a table is a printable text of at most 200 characters.")
    return operation_of_entries(entries, name=name, **names)


def _names(values: Any, key: str) -> list[str]:
    if not isinstance(values, list):
        raise ValueError(f"The {key} of a table are a list of names.")
    entries = [entry_of(value, f"The list of {key}") for value in values]
    if any(entry is None for entry in entries):
        raise ValueError(f"The {key} of a table need names that are not blank.")
    return [str(entry) for entry in entries]


def _array(path: Path) -> np.ndarray[Any, Any]:
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError("It is no array of numbers or texts in the format of NumPy.") from error
    if not isinstance(array, np.ndarray) or array.ndim != 2:
        raise ValueError("A table is an array of two dimensions.")
    if max(array.shape) > MAX_SIDE:
        raise _too_large(*array.shape)
    return array


def _from_npy(path: Path) -> Operation:
    array = _array(path)
    entries: list[list[Entry | None]]
    if array.dtype.kind in "iu":
        if (array < 0).any():
            raise ValueError(
                f"An array of integers has labels from 0 on; this one holds {int(array.min())}. For cells that are not "
                f"given write an array of floats with nan, for negative labels one of floats or texts."
            )
        entries = array.tolist()
    elif array.dtype.kind == "f":
        given = array[~np.isnan(array)]
        if given.size and (np.isinf(given).any() or (given != np.rint(given)).any() or (abs(given) >= 2**53).any()):
            raise ValueError("It holds numbers that are no integers; labels are integers or names.")
        entries = [[None if value != value else int(value) for value in row] for row in array.tolist()]
    elif array.dtype.kind == "U":
        entries = [[entry_of(text, f"Row {a}") for text in row] for a, row in enumerate(array.tolist())]
    else:
        raise ValueError(f"An array of {array.dtype} holds no labels; labels are integers or texts.")
    return operation_of_entries(entries, name=path.name)


def read_cells(path: Path, shape: tuple[int, int]) -> list[Listed]:
    """The cells that a file lists: row, column, and the label or None.

    Args:
        path: .csv with lines row,column or row,column,label, or .json with a list of such lists (rows and columns by
            their names, which are numbers where the table gives none); .npy with an array of truth values.
        shape: the numbers of rows and columns, for the array.

    Raises:
        ValueError: for a file that cannot be read or is no such list.
    """
    _refuse_unreadable(path)
    if path.suffix.lower() == ".npy":
        array = _array(path)
        if array.dtype != bool or array.shape != shape:
            raise ValueError(
                f"The cells in {path.name!r} are to be an array of truth values of shape {shape}; they are one of "
                f"{array.dtype} of shape {array.shape}."
            )
        return [(int(a), int(b), None) for a, b in np.argwhere(array)]
    if path.suffix.lower() == ".csv":
        lines = [(f"Line {number}", line) for number, line in _lines(path)]
        lines = lines[[text.strip() for text in lines[0][1]] in (["row", "column"], ["row", "column", "label"]) :]
    elif path.suffix.lower() == ".json":
        content = _loaded(path)
        if not isinstance(content, list) or not all(isinstance(line, list) for line in content):
            raise ValueError(f"The cells in {path.name!r} are to be a list of [row, column] or [row, column, label].")
        lines = [(f"Entry {number}", line) for number, line in enumerate(content)]
    else:
        raise ValueError(f"Cells are read from files that end in .csv, .json or .npy; got {path.name!r}.")
    return [_listed(line, f"{place} of {path.name!r}") for place, line in lines]


def _listed(line: Sequence[object], place: str) -> Listed:
    if len(line) not in (2, 3):
        raise ValueError(f"{place} has {len(line)} entries; a cell is row,column or row,column,label.")
    entries = [entry_of(value, place) for value in line]
    row, column, label = entries if len(entries) == 3 else (*entries, None)
    if row is None or column is None:
        raise ValueError(f"{place} names no row or no column; a cell is row,column or row,column,label.")
    return row, column, label


def operation_of_cells(cells: Sequence[Listed], name: str = "table") -> Operation:
    """The table of given cells with their labels; rows and columns are those that occur.

    Raises:
        ValueError: for a cell without label, and for one that is given twice with different labels.
    """
    labels: dict[tuple[Entry, Entry], Entry] = {}
    for row, column, label in cells:
        if label is None:
            raise ValueError(f"The cell ({row}, {column}) has no label; a line is row,column,label.")
        if labels.setdefault((row, column), label) != label:
            raise ValueError(
                f"The cell ({row}, {column}) is given twice, with the labels {labels[row, column]} and {label}, which "
                f"contradict each other."
            )
    rows, columns = names_of(row for row, _ in labels), names_of(column for _, column in labels)
    if max(len(rows), len(columns), 0) > MAX_SIDE:
        raise _too_large(len(rows), len(columns))
    entries: list[list[Entry | None]] = [[None] * len(columns) for _ in rows]
    row_number, column_number = ({n: i for i, n in enumerate(names)} for names in (rows, columns))
    for (row, column), label in labels.items():
        entries[row_number[str(row)]][column_number[str(column)]] = label
    return operation_of_entries(entries, rows=rows, columns=columns, name=name)
