"""Files of group certificates: JSON documents of the format ``lemmata/group-margin`` version 2 (see FORMAT.md).

A document states a group by generators, its classes and characters, and one feasible vector for each player of the
margin game; `lemmata.certificates.kernel` proves or refutes it without this toolkit. This module turns documents into
bytes and back; `lemmata.certificates.groups.document` makes them, `lemmata.certificates.groups.contents` reads what is
in them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lemmata.certificates import kernel
from lemmata.numerics.runs.files import write_atomically

__all__ = ["FORMAT", "VERSION", "Document", "dumps", "load", "write"]

FORMAT = "lemmata/group-margin"
VERSION = 2

Document = dict[str, Any]


def dumps(document: Document) -> bytes:
    """The bytes of a document: the same for equal documents, ASCII, one line."""
    return (json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n").encode("ascii")


def write(document: Document, path: str | Path) -> None:
    """The writing of a document to a file, as `lemmata.numerics.runs.files.write_atomically` does it."""
    write_atomically(dumps(document), path)


def load(path: str | Path) -> Document:
    """The document in a file, of the right form but not checked; run `lemmata.certificates.kernel` on it for that.

    Raises:
        ValueError: for anything that is no document of this format.
        OSError: for an unreadable file.
    """
    with Path(path).open("rb") as file:
        data = file.read(kernel.MAX_BYTES + 1)
    try:
        document = kernel.parse(data)
        kernel.Document(document)
    except kernel.MalformedError as error:
        raise ValueError(f"{path} is no certificate of the format {FORMAT} version {VERSION}: {error}.") from error
    return document
