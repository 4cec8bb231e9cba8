"""Valid certificates of named groups, for the tests of the format and of the kernel."""

import json
from functools import cache
from typing import Any

from certificates.characters.dixon import character_table
from certificates.game.margin_game import MarginGame, solve
from certificates.groups.document import certificate_document
from certificates.groups.format import dumps
from certificates.groups.scaled_pair import scaled_pair
from numerics.groups.names import parse_group


@cache
def document_bytes(name: str, factors: int = 2, digits: int = 30) -> bytes:
    """The document of a group, made once for each group."""
    group = parse_group(name)
    table = character_table(group)
    pair = scaled_pair(solve(MarginGame(table, factors)))
    return dumps(certificate_document(group, table, pair, factors, digits))


def margin_document(name: str, factors: int = 2, digits: int = 30) -> dict[str, Any]:
    """The document of a group, a new object in each call."""
    return json.loads(document_bytes(name, factors, digits))
