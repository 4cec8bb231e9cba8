"""What a user gave: a group, an operation or a character table; and the form that a wrong guess should have had."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from lemmata.certificates import kernel
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.groups.permutations import DEFAULT_LIMIT, PermutationGroup
from lemmata.numerics.operations.names import TABLE_PREFIXES, parse_operation
from lemmata.numerics.operations.operation import Operation

__all__ = ["LIBRARY_PREFIX", "group_or_operation", "is_character_table", "operation_or_its_group", "refuse_other_kinds"]

LIBRARY_PREFIX = "ctbl:"
"""Before a name of the character table library."""
Found = TypeVar("Found")
_CHARACTER_TABLES = "lemmata/character-table"
_PREFIXES = (*TABLE_PREFIXES, "perm", "small")
_OPERATION = re.compile(r"[\w+*^() -]+:\s*\d{1,4}\s*")


def is_character_table(given: str | Path) -> bool:
    """Whether a text or path means a character table: ctbl:NAME, or a JSON file of that format."""
    if isinstance(given, str) and given.strip().startswith(LIBRARY_PREFIX):
        return True
    path = Path(given)
    if path.suffix.lower() != ".json" or not path.is_file() or path.stat().st_size > kernel.MAX_BYTES:
        return False
    try:
        held = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    return isinstance(held, dict) and held.get("format") == _CHARACTER_TABLES


def refuse_other_kinds(text: str) -> None:
    """Say of a text that names a group, an operation or no known file that it is no character table.

    Raises:
        ValueError: for these; not for ctbl:NAME, and not for a file that there is.
    """
    name = text.strip()
    if name.startswith(LIBRARY_PREFIX) or Path(name).is_file():
        return
    prefix, colon, _ = name.partition(":")
    if colon and prefix in TABLE_PREFIXES:
        raise ValueError(f"{name} is an operation, not a character table: give it in place of the group.")
    meant = _right_form(name)
    if meant is not None and LIBRARY_PREFIX in meant:
        raise ValueError(meant)
    try:
        parse_group(name)
    except ValueError:
        return
    raise ValueError(f"{name} is a group, not a character table: give it in place of the table.")


def group_or_operation(
    text: str,
    limit: int = DEFAULT_LIMIT,
    *,
    cells: str | None = None,
    as_operation: bool = False,
    factors: int = 2,
    note: Callable[[str], None] = lambda sentence: None,
) -> Operation | PermutationGroup:
    """The operation that a text describes, or the group whose Cayley table it is under some names.

    The table of a group, all of whose cells are given, is the group, and a name of a group is one.

    Args:
        text: in one of the forms of `ACCEPTED_NAMES` or `ACCEPTED_TABLES`.
        limit: the largest order of a group.
        cells: the cells of the operation that are given, in one of the forms of `ACCEPTED_CELLS`; by default all.
        as_operation: whether a group is to be an operation as well.
        factors: of the product; an operation has two.
        note: is told when an operation turns out to be a group.

    Raises:
        ValueError: for what is neither, with the form that was meant if it can be told; for cells that contradict the
            operation, sizes too large, and an operation with other than two factors.
    """
    prefix, colon, rest = text.strip().partition(":")
    is_operation = bool(colon) and prefix in TABLE_PREFIXES
    as_operation = as_operation or cells is not None
    if not as_operation and (not is_operation or prefix == "group"):
        return _named(rest if is_operation else text, lambda name: parse_group(name, limit))
    if not as_operation and prefix == "table" and (group := _group_of_file(text, limit)) is not None:
        return group
    table = _named(text, lambda name: parse_operation(name, cells))
    if as_operation and factors != 2:
        raise ValueError(f"{text} is an operation, which has two factors, not {factors}.")
    return table if as_operation else operation_or_its_group(table, limit, note, factors)


def operation_or_its_group(
    table: Operation, limit: int, note: Callable[[str], None], factors: int = 2
) -> Operation | PermutationGroup:
    """The group whose Cayley table an operation is under some names of rows, columns and labels; else the operation.

    Products of more factors are those of the group only where rows, columns and labels have the same names.

    Raises:
        ValueError: for a group whose order is above the limit, and for other than two factors of anything but the
            Cayley table of a group under one list of names.
    """
    from lemmata.numerics.operations.classes import (
        group_of_operation,
    )  # SciPy's graphs, which names of groups can do without

    group = group_of_operation(table)
    if factors != 2 and not (group is not None and _is_associative(table)):
        raise ValueError(f"{table.name} is an operation, which has two factors, not {factors}.")
    if group is None:
        return table
    note(
        f"{table.name} is the table of a group of order {group.order} under some names of its rows, columns and "
        f"labels, which change no margin; it is certified as that group."
    )
    return PermutationGroup.from_table(group, limit)


def _is_associative(table: Operation) -> bool:
    """Whether rows, columns and labels have the same names, and (a b) c = a (b c) for all of them."""
    values = table.array()
    return table.row_names == table.column_names == table.label_names and bool(
        (values[values] == values[:, values]).all()
    )


def _right_form(text: str) -> str | None:
    """A sentence on what a text seems to mean that names nothing as it stands; None if nothing is known of it."""
    from lemmata.certificates.atlas.catalogue import SPORADIC

    name = text.strip()
    path = Path(name)
    if name.partition(":")[0] in _PREFIXES and ":" in name:
        return None  # the error knows better
    if path.suffix.lower() in (".csv", ".json", ".npy"):
        if is_character_table(name):
            return f"{name} holds a character table: give it with --characters {name}, in Python as a Path."
        exists = "" if path.is_file() else ", which does not exist"
        return (
            f"{name} is the name of a file{exists}: table:{name} is the operation in it, or the group if it is a "
            f"Cayley table; cells:{name} has lines row,column,label; a character table is given with --characters."
        )
    if path.suffix.lower() == ".npz" or path.suffix.lower() in (".pt", ".safetensors"):
        return f"{name} is the name of a file of weights: lemmata margin {name} takes it, with the group or operation."
    known = {spelled.lower(): library for library, usual in SPORADIC.items() for spelled in (library, *_names(usual))}
    if name.lower() in known:
        return (
            f"{name} is a sporadic group, which is certified by its character table, without its elements: "
            f"{LIBRARY_PREFIX}{known[name.lower()]}."
        )
    if _OPERATION.fullmatch(name):
        return f"An operation is written with its prefix: op:{name}."
    return None


def _names(usual: str) -> list[str]:
    """The names in a text such as "M (Monster)"."""
    return [part.strip(" )") for part in usual.removesuffix(" group)").split(" (")]


def _named(text: str, parse: Callable[[str], Found]) -> Found:
    """What a text names, its error with the form that was meant."""
    try:
        return parse(text)
    except ValueError as error:
        raise error if (meant := _right_form(text)) is None else ValueError(meant) from error


def _group_of_file(text: str, limit: int) -> PermutationGroup | None:
    """The group whose Cayley table of the numbers 0..n-1 a file holds, also beyond the sizes of other operations."""
    if not text.strip().lower().endswith(".csv"):
        return None
    try:
        return parse_group(text, limit)
    except ValueError:
        return None  # parse_operation says what is wrong, if anything is
