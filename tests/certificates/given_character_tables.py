"""Character tables and certificates of small groups for the tests of the kernel for tables."""

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

from lemmata.certificates import character_table_kernel, kernel
from lemmata.certificates.groups.character_table_certificate import certify_character_table, character_table_document
from lemmata.certificates.groups.character_table_files import group_file, read_character_table, table_of
from lemmata.certificates.groups.format import dumps
from lemmata.numerics.groups.names import parse_group

FILES = Path(__file__).parent / "groups" / "given"
NAMES = sorted(path.stem for path in FILES.glob("*.json"))
"""The tables in files, which `lemmata.certificates.groups.character_table_files.group_file` made."""


@cache
def _table(name: str) -> str:
    file = read_character_table(FILES / f"{name}.json") if name in NAMES else group_file(parse_group(name))
    return json.dumps(table_of(file))


def given_table(name: str) -> dict[str, Any]:
    """The table of a file or of a named group as documents hold it, a new object in each call."""
    return json.loads(_table(name))


@cache
def document_bytes(name: str, factors: int = 2) -> bytes:
    """The certificate of a table, made once."""
    table = {"format": "lemmata/character-table", "version": 1, **given_table(name)}
    return dumps(character_table_document(certify_character_table(table, factors)))


def table_certificate(name: str, factors: int = 2) -> dict[str, Any]:
    """The certificate of a table, a new object in each call."""
    return json.loads(document_bytes(name, factors))


def relations(table: dict[str, Any]) -> str:
    """The first relation that a table violates; empty if none."""
    try:
        character_table_kernel.check_table(character_table_kernel.Table(copy.deepcopy(table)))
    except kernel.ViolatedError as error:
        return str(error)
    return ""


def verdict(document: Any) -> tuple[int, str]:
    """The exit status and the line of the kernel for a document."""
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    try:
        return 0, character_table_kernel.check(data)
    except kernel.ViolatedError as error:
        return 1, str(error)
    except kernel.MalformedError as error:
        return 2, str(error)
