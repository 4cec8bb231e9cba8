"""What stands in a cell of a file: an integer, a name, or nothing; and how such entries become labels.

An entry that reads as an integer is that integer, so that 1 and +1 and 01 are the same label. A name is any printable
text that does not read as another number: 1.5, 1e3, nan and the like are refused, since hardly anybody means them as
labels. Labels that are all integers are sorted; where one is a name, all keep the order of their first occurrence by
rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lemmata.numerics.operations.operation import MISSING, Operation

__all__ = ["Entry", "entry_of", "names_of", "operation_of_entries"]

Entry = int | str
"""An integer, or the text of a name."""

MAX_NAME = 200
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


def entry_of(value: object, where: str) -> Entry | None:
    """The entry that a value of a file is: an integer, a name, or None for nothing (None, blank text).

    Args:
        value: text, an integer or None.
        where: the place, for the message, such as "Line 3".

    Raises:
        ValueError: for everything else, numbers that are no integers among it, and names that are too long or not
            printable.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"{where} holds {_shown(value)}; labels are integers or names.")
    if isinstance(value, int):
        if abs(value) >= 10**18:
            raise ValueError(f"{where} holds an integer of more than 18 digits; give it a name.")
        return value
    text = value.strip()
    if not text:
        return None
    if _INTEGER.fullmatch(text):
        return int(text)
    if len(text) > MAX_NAME or not text.isprintable():
        raise ValueError(f"{where} holds {_shown(text)}; a name has at most {MAX_NAME} printable characters.")
    try:
        float(text)
    except ValueError:
        return text
    raise ValueError(
        f"{where} holds {_shown(text)}, which is neither an integer nor a name; leave cells empty that are not given."
    )


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def names_of(entries: Iterable[Entry]) -> tuple[str, ...]:
    """The names of the different entries: integers sorted, or else all in the order of their first occurrence."""
    different = list(dict.fromkeys(entries))
    if all(isinstance(entry, int) for entry in different):
        different.sort()
    return tuple(str(entry) for entry in different)


def operation_of_entries(
    entries: Sequence[Sequence[Entry | None]],
    *,
    labels: Sequence[str] | None = None,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    name: str = "table",
) -> Operation:
    """The table of rows of entries, None where a cell is not given.

    Args:
        entries: the rows.
        labels: the names of all labels, those that stand in no cell included; by default those that occur.
        rows, columns: the names of rows and columns; by default their numbers.
        name: of the operation.

    Raises:
        ValueError: as `Operation`, and for an entry that is not among the labels.
    """
    names = tuple(labels) if labels is not None else names_of(e for row in entries for e in row if e is not None)
    number = {label: position for position, label in enumerate(names)}
    values = []
    for a, row in enumerate(entries):
        for b, entry in enumerate(row):
            if entry is not None and str(entry) not in number:
                raise ValueError(
                    f"Cell ({a}, {b}) holds {str(entry)!r}, which is not among the labels {', '.join(names[:20])}."
                )
        values.append(tuple(MISSING if entry is None else number[str(entry)] for entry in row))
    width = len(entries[0]) if entries else 0
    row_names = tuple(rows) if rows is not None else tuple(map(str, range(len(entries))))
    column_names = tuple(columns) if columns is not None else tuple(map(str, range(width)))
    return Operation(tuple(values), names, row_names, column_names, name)
