"""What stands after `lemmata certify`: a group, or the table of an operation, which may be that of a group."""

from __future__ import annotations

from typing import Literal

from rich.markup import escape

from lemmata.commands.console import err
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.groups.permutations import PermutationGroup
from lemmata.numerics.tables.names import TABLE_PREFIXES, parse_table
from lemmata.numerics.tables.table import Table

__all__ = ["DEGREES", "table_or_group"]

DEGREES: dict[str, Literal["plane", 4, 6]] = {"plane": "plane", "4": 4, "6": 6}
"""What --degree accepts, and the kind of proof that it means."""


def table_or_group(
    text: str, cells: str | None, degree: str | None, limit: int, factors: int = 2
) -> Table | PermutationGroup:
    """The table that a text describes, or the group whose Cayley table it is after renaming rows, columns and labels.

    A whole table of a group is a group, and a name of a group is one, unless a degree asks for the proof that serves
    any table.

    Raises:
        ValueError: for what is neither, a degree that is none, cells that contradict the table, and sizes too large.
    """
    if degree is not None and degree not in DEGREES:
        raise ValueError(f"--degree accepts {', '.join(DEGREES)}; got {degree!r}.")
    prefix, colon, rest = text.strip().partition(":")
    is_table = bool(colon) and prefix in TABLE_PREFIXES
    if cells is None and degree is None:
        if not is_table or prefix == "group":
            return parse_group(rest if is_table else text, limit)
        if prefix == "table" and (group := _group_of_file(text, limit)) is not None:
            return group
    if factors != 2:
        raise ValueError(f"{text} is an operation, which has two factors: leave out --factors.")
    if cells is not None or degree is not None:
        return parse_table(text, cells)
    from lemmata.numerics.tables.classes import group_of_table  # SciPy's graphs, which names of groups can do without

    table = parse_table(text)
    group = group_of_table(table)
    if group is None:
        return table
    err.print(
        f"[yellow]note[/yellow]: {escape(table.name)} is the table of a group of order {group.order} under some names "
        f"of its rows, columns and labels, which change no margin; it is certified as that group.",
        soft_wrap=True,
    )
    return PermutationGroup.from_table(group, limit)


def _group_of_file(text: str, limit: int) -> PermutationGroup | None:
    """The group whose Cayley table of the numbers 0..n-1 a file holds, also beyond the sizes of other tables."""
    if not text.strip().lower().endswith(".csv"):
        return None
    try:
        return parse_group(text, limit)
    except ValueError:
        return None  # parse_table says what is wrong, if anything is
