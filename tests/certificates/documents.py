"""Valid certificates of named groups for the tests of the format and of the kernel, and the verdict of the kernel."""

import copy
import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

from lemmata.certificates import kernel
from lemmata.certificates.characters.dixon import character_table
from lemmata.certificates.game.margin_game import MarginGame, solve
from lemmata.certificates.game.rational import RationalGame
from lemmata.certificates.game.scaled import solve_scaled
from lemmata.certificates.groups.document import certificate_document
from lemmata.certificates.groups.format import dumps
from lemmata.certificates.groups.scaled_pair import folded_pair
from lemmata.numerics.groups.names import parse_group
from tests.oracles.scaled_pairs import scaled_pair

EDITED = ["Z2", "S3", "D4", "Q8", "Z5", "A4", "Z7"]
"""The groups whose documents are edited, at random or so that the claim stays true."""
SEED = 20240601
"""The seed of these edits."""


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


def enclosing_document(name: str) -> dict[str, Any]:
    """A document of the grade ``enclosed``: its class weights are one per cent too small, its upper bound too large."""
    group = parse_group(name)
    table = character_table(group)
    pair = folded_pair(solve_scaled(RationalGame(table)))
    weights = tuple({m: q * Fraction(99, 100) for m, q in weight.items()} for weight in pair.weights)
    return certificate_document(group, table, replace(pair, weights=weights))


def verdict(document: dict[str, Any]) -> int:
    """The exit status of the kernel for a document, in this process; anything but the two refusals is an error."""
    try:
        kernel.check(json.dumps(document).encode())
    except kernel.ViolatedError:
        return 1
    except kernel.MalformedError:
        return 2
    return 0


def reordered(document: dict[str, Any], rows: Sequence[int], columns: Sequence[int]) -> dict[str, Any]:
    """The document with its characters and its classes in another order; the claim is the same."""
    result = copy.deepcopy(document)
    position = {old: new for new, old in enumerate(columns)}
    result["classes"] = [copy.deepcopy(document["classes"][j]) for j in columns]
    for entry in result["classes"]:
        entry["inverse"], entry["square"] = position[entry["inverse"]], position[entry["square"]]
    result["characters"]["rows"] = [copy.deepcopy(document["characters"]["rows"][i]) for i in rows]
    for row in result["characters"]["rows"]:
        row["values"] = [row["values"][j] for j in columns]
    return result
