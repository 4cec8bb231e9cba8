"""Tables from what a user types: operations, groups, conjugation."""

from __future__ import annotations

from numerics.groups.names import parse_group
from numerics.groups.tables import FiniteGroup
from numerics.tables.operations import conjugation_table, group_table, operation_table
from numerics.tables.table import Table

__all__ = ["parse_table"]

MAX_GROUP_ORDER = 2000


def parse_table(text: str, cells: str | None = None) -> Table:
    """The table that a text describes; with ``cells``, only a part of its cells is given.

    Raises:
        ValueError: for a text that describes no table.
    """
    kind, _, rest = text.strip().partition(":")
    if kind == "op":
        operation, _, number = rest.rpartition(":")
        if not operation or not number.strip().isdecimal():
            raise ValueError(f"An operation is written op:FORMULA:N, such as op:a^2+b^2:5 or op:max:4; got {text!r}.")
        table = operation_table(operation, int(number))
    elif kind == "conj":
        table = conjugation_table(_group(rest))
    else:
        table = group_table(_group(rest if kind == "group" else text))
    if cells is None:
        return table
    if not cells.startswith("without:"):
        raise ValueError(f"Cells are written without:(0,1),(2,2); got {cells!r}.")
    pairs = cells.removeprefix("without:").strip("() ").split("),(")
    return table.without([(int(a), int(b)) for a, b in (pair.split(",") for pair in pairs)])


def _group(text: str) -> FiniteGroup:
    return parse_group(text, MAX_GROUP_ORDER).to_finite_group()
