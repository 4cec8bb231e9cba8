"""The atlas that comes with this toolkit: its rows, and their documents, each compared with the digest of its row.

Nothing but the standard library is needed to read it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from lemmata.certificates.atlas.archive import SUFFIX, unpacked

__all__ = ["atlas_document", "atlas_rows", "close_names", "committed_atlas", "digest", "rows_called"]

FORMAT, VERSION = "lemmata/atlas", 1
RESULTS = Path(__file__).parent / "results"
TABLE = "atlas.json"

Row = dict[str, Any]


def digest(data: bytes) -> str:
    """The SHA-256 of a document, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


@cache
def committed_atlas() -> dict[str, Any]:
    """The committed table: ``origin``, how it was made, and ``sections`` with their ``rows``."""
    return json.loads((RESULTS / TABLE).read_text(encoding="ascii"))


def atlas_rows(section: str | None = None) -> Iterator[Row]:
    """The rows of the atlas, or of one section; ``section`` of each row names its section.

    Raises:
        ValueError: for a section that there is not.
    """
    sections = committed_atlas()["sections"]
    if section is not None and section not in sections:
        raise ValueError(f"There is no section {section!r}: the atlas has {', '.join(sections)}.")
    for name in sections if section is None else (section,):
        for row in sections[name]["rows"]:
            yield {"section": name, **row}


def rows_called(name: str) -> list[Row]:
    """The rows with that key or name; several where it is a structure that does not determine the group.

    Capital letters, blanks and underscores do not matter.
    """
    return _by_name().get(_folded(name), [])


def close_names(name: str) -> list[str]:
    """Names of rows that are close to a text, at most three."""
    by_name = _by_name()
    return [_called(by_name[one][0], one) for one in get_close_matches(_folded(name), by_name, n=3)]


def atlas_document(row: Row) -> bytes:
    """The bytes of the document of a row, as `lemmata check` reads them.

    Raises:
        ValueError: for a row without a document, with the reason; and if what is in the archive is not the document of
            the row, because its SHA-256 is another one.
    """
    if row["sha256"] is None:
        raise ValueError(f"{row['name']} has no document: {row['reason']}")
    data = _archive(row["section"]).get(row["key"])
    if data is None:
        raise ValueError(f"The archive of the section {row['section']} holds no document of {row['name']}.")
    if (found := digest(data)) != row["sha256"]:
        raise ValueError(
            f"The document of {row['name']} was changed: its SHA-256 is {found}, and the table says {row['sha256']}."
        )
    return data


@cache
def _archive(section: str) -> dict[str, bytes]:
    return unpacked(RESULTS / f"{section}{SUFFIX}")


@cache
def _by_name() -> dict[str, list[Row]]:
    """The rows by everything that they are called: keys and names first, then structures where nothing else is."""
    names: dict[str, list[Row]] = {}
    rows = list(atlas_rows())
    for row in rows:
        for name in {_folded(label) for label in _labels(row)}:
            names.setdefault(name, []).append(row)
    structures: dict[str, list[Row]] = {}
    for row in rows:
        if "structure" in row:
            structures.setdefault(_folded(row["structure"]), []).append(row)
    return structures | names


def _labels(row: Row) -> tuple[str, ...]:
    """What a row is called, as it is written, but for the structure of a group."""
    return row["key"], row["name"], *row.get("aliases", ())


def _called(row: Row, folded: str) -> str:
    """The label of a row that has a folded form."""
    return next(label for label in (*_labels(row), row.get("structure", "")) if _folded(label) == folded)


def _folded(name: str) -> str:
    return re.sub(r"[\s_]", "", name).lower()
