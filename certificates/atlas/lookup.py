"""Rows of the atlas by any of their names; groups up to isomorphism."""

from __future__ import annotations

import json

from lemmata.certificates.atlas.committed import Row, atlas_document, atlas_rows, close_names, rows_called
from lemmata.numerics.groups.lists import isomorphic
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.groups.permutations import PermutationGroup

__all__ = ["atlas_row"]


def atlas_row(name: str) -> Row:
    """The row of a key or a name, such as ``small-32-5``, ``SmallGroup(32,5)``, ``small:32,5``, ``M11``, ``op:max:3``.

    Capital letters and blanks do not matter. Anything else that `lemmata.numerics.groups.names.parse_group` takes for a
    group of the atlas finds the row of that group up to isomorphism. A structure that leaves several is refused.

    Raises:
        ValueError: for a name of no row, with the names that are close to it, and for one of several rows.
    """
    found = rows_called(name) or _isomorphic_rows(name)
    if not found:
        near = close_names(name)
        hint = f"; close to it are {', '.join(near)}" if near else ""
        raise ValueError(f"The atlas has no row {name!r}{hint}. lemmata atlas --section NAME lists the rows.")
    if len(found) > 1:
        raise ValueError(f"{len(found)} rows are called {name!r}: {', '.join(row['key'] for row in found)}.")
    return found[0]


def _isomorphic_rows(name: str) -> list[Row]:
    """The row of the group that a text describes, alone; none for a text that describes no group of the atlas."""
    rows = [row for row in atlas_rows("groups") if row["sha256"]]
    try:
        group = parse_group(name, max(row["order"] for row in rows))
    except (ValueError, OSError):
        return []
    return [row for row in rows if row["order"] == group.order and isomorphic(_group(row), group)]


def _group(row: Row) -> PermutationGroup:
    """The group of a row, by the generators in its document."""
    generators = json.loads(atlas_document(row))["group"]["generators"]
    return PermutationGroup(tuple(map(tuple, generators)), row["name"])
