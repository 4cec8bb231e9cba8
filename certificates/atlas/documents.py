"""The documents of the atlas: computed for a row, recognised as being about it, and summarised in the table."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from lemmata.certificates import algebraic_kernel, character_table_kernel, kernel, operation_kernel
from lemmata.certificates.atlas.catalogue import ORDERS, Item, Work
from lemmata.certificates.atlas.committed import Row, digest
from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.groups.character_table_certificate import certify_character_table, character_table_document
from lemmata.certificates.groups.character_table_files import FORMAT, VERSION
from lemmata.certificates.groups.character_table_survey import committed_survey
from lemmata.certificates.groups.document import document_of
from lemmata.certificates.groups.format import Document, dumps
from lemmata.certificates.operations.algebraic import algebraic_document
from lemmata.certificates.operations.balanced import balanced_document
from lemmata.certificates.operations.certify import certify_operation
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.radicals import margin_in_radicals
from lemmata.certificates.operations.survey import surveyed_certificate
from lemmata.certificates.operations.unseen import unseen_cells
from lemmata.numerics.groups.lists import isomorphic, named_groups
from lemmata.numerics.groups.names import gap_available, parse_group, small_group_structure
from lemmata.numerics.groups.permutations import PermutationGroup
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.reduced_squares import least_reduced, roles
from lemmata.numerics.operations.symmetries import operation_symmetries

__all__ = ["DIGITS", "KERNELS", "check_seconds", "computed", "is_about", "row_of"]

DIGITS = 12
"""Significant digits of the decimals in documents of groups; those of tables have as many."""

SEEDS = 3
"""Of networks from which an exact margin is looked for: one is not always close enough to the optimum."""

KERNELS = {
    "groups": kernel.check,
    "sporadic": character_table_kernel.check,
    "operations": operation_kernel.check,
    "tables": operation_kernel.check,
    "latin": operation_kernel.check,
    "latin7": operation_kernel.check,
    "exact": algebraic_kernel.check,
    "unseen": operation_kernel.check,
}
"""What checks the documents of a section."""


def computed(work: Work, known: Mapping[str, bytes]) -> dict[str, bytes]:
    """The documents of the rows of a work by key, computed anew, not yet checked.

    Args:
        work: the rows.
        known: documents that are about them; generators and character tables are taken from them where GAP is not
            there.

    Raises:
        ValueError: where a row has no document, with the reason.
    """
    first = work.items[0]
    settings = first.settings
    if first.section == "groups":
        if settings["order"] == 1:
            raise ValueError("The trivial group has one label, and no wrong one: there is no margin.")
        return {first.key: dumps(document_of(certify_group(_group(first, known)), DIGITS))}
    if first.section == "sporadic":
        return {
            first.key: dumps(character_table_document(certify_character_table(_character_table(first, known)), DIGITS))
        }
    if first.section in ("operations", "tables", "latin"):
        table = _table(settings)
        return {first.key: dumps(surveyed_certificate(table, operation_symmetries(table)).document)}
    if first.section == "latin7":
        return {first.key: dumps(balanced_document(_table(settings)))}
    if first.section == "exact":
        table = replace(_table(settings), name=first.name.removesuffix(" exactly"))
        symmetries = operation_symmetries(table)
        for seed in range(SEEDS):
            enclosure = certify_operation(table, symmetries=symmetries, seed=seed, apart=False, seconds=0)
            assert isinstance(enclosure.network, OperationNetwork)
            document = algebraic_document(table, enclosure.bound.multipliers, enclosure.network, symmetries=symmetries)
            if document is not None:
                return {first.key: dumps(document)}
        raise ValueError("The margin was not recognised as an algebraic number.")
    truth, given = _given(settings)
    found = {cell.cell: cell for cell in unseen_cells(truth, given).cells}
    documents = {}
    for item in work.items:
        cell = found[tuple(item.settings["cell"])]
        if cell.document is None:
            raise ValueError(f"The cell is open: {cell.reason}")
        documents[item.key] = dumps(cell.document)
    return documents


def is_about(item: Item, data: bytes, known: Mapping[str, bytes]) -> bool:
    """Whether a document that a kernel has accepted is about a row: a group by its generators, a table by its labels.

    A table of a sporadic group is recognised by order, classes and value, which the committed survey has.
    """
    document, settings = json.loads(data), item.settings
    if item.section == "groups":
        generators = [list(g) for g in _group(item, known).generators]
        return document["group"]["generators"] == generators and document["factors"] == 2
    if item.section == "sporadic":
        entry = next(one for one in committed_survey()["entries"] if one["name"] == settings["table"])
        found = (str(document["table"]["order"]), len(document["table"]["class_sizes"]), document["value"]["upper"])
        return found == (entry["order"], entry["classes"], entry["value"]) and document["factors"] == entry["factors"]
    if item.section in ("operations", "tables", "latin", "latin7", "exact"):
        return document["table"]["values"] == _values(_table(settings))
    truth, given = _given(settings)
    a, b = settings["cell"]
    same = document["table"]["values"] == _values(given) and document["cell"] == [a, b]
    return same and document["label"] == truth.values[a][b]


def check_seconds(section: str, data: bytes) -> float:
    """The processor time of a kernel on a document that it accepts.

    Raises:
        kernel.MalformedError, kernel.ViolatedError: for one that it does not.
    """
    begin = time.process_time()
    KERNELS[section](data)
    return time.process_time() - begin


def row_of(item: Item, data: bytes, seconds: float, earlier: Row | None = None) -> Row:
    """The row of the table for a document that a kernel has accepted, in so many seconds.

    Args:
        item: the row.
        data: its document.
        seconds: of the check.
        earlier: the row in the committed table, whose description of a group is taken where GAP is not there.
    """
    document = json.loads(data)
    describe = {
        "groups": _group_fields,
        "sporadic": _sporadic_fields,
        "latin7": _role_fields,
        "exact": _exact_fields,
        "unseen": _unseen_fields,
    }
    fields = describe.get(item.section, _table_fields)(item, document, earlier or {})
    return {
        "key": item.key,
        "name": item.name,
        **fields,
        "bytes": len(data),
        "sha256": digest(data),
        "seconds": round(seconds, 3),
        "reason": None,
    }


def _group_fields(item: Item, document: Document, earlier: Row) -> Row:
    order, number = item.settings["order"], item.settings["number"]
    if earlier.get("sha256") == digest(dumps(document)):
        called = {"structure": earlier["structure"], "aliases": earlier["aliases"]}
    else:
        group = PermutationGroup(tuple(map(tuple, document["group"]["generators"])))
        structure = small_group_structure(order, number) if gap_available() else earlier.get("structure", "")
        called = {"structure": structure, "aliases": [f"small:{order},{number}", *filter(None, [_name(group)])]}
    return {
        **called,
        "order": order,
        "classes": len(document["classes"]),
        **_exact_margin(document),
    }


def _sporadic_fields(item: Item, document: Document, earlier: Row) -> Row:
    table = item.settings["table"]
    return {
        "aliases": [f"ctbl:{table}", *([table] if table != item.name else [])],
        "order": str(document["table"]["order"]),
        "classes": len(document["table"]["class_sizes"]),
        **_exact_margin(document),
    }


def _exact_margin(document: Document) -> Row:
    margin = document["margin"]
    exact = document["grade"] == "exact"
    return {
        "margin": [margin["lower"], margin["upper"]],
        "exact": margin["exact"],
        "gap": "0" if exact else f"{1 - float(margin['lower']) / float(margin['upper']):.1e}",
        "grade": document["grade"],
    }


def _table_fields(item: Item, document: Document, earlier: Row) -> Row:
    values, margin = document["table"]["values"], document["margin"]
    return {
        "shape": [len(values), len(values[0]), document["table"]["labels"]],
        "proof": document["proof"]["kind"],
        "margin": [margin["lower"], margin["upper"]],
        "exact": margin["exact"],
        "gap": document["gap"],
        "grade": document["grade"],
    }


def _role_fields(item: Item, document: Document, earlier: Row) -> Row:
    """How many symmetries without swap a square has, and in how many classes it is in its six roles."""
    found = [least_reduced(square) for square in roles(np.array(document["table"]["values"]))]
    classes = len({square.tobytes() for square, _ in found})
    return {**_table_fields(item, document, earlier), "symmetries": found[0][1], "classes": classes}


def _exact_fields(item: Item, document: Document, earlier: Row) -> Row:
    margin = document["margin"]
    lower, upper = Fraction(margin["lower"]), Fraction(margin["upper"])
    exact = margin_in_radicals([int(c) for c in margin["exact"]], lower, upper)
    return {**_table_fields(item, document, earlier), "exact": exact}


def _unseen_fields(item: Item, document: Document, earlier: Row) -> Row:
    values = document["table"]["values"]
    bounds = [part["bound"] for part in document["parts"]]
    return {
        "shape": [len(values), len(values[0]), document["table"]["labels"]],
        "label": document["label"],
        "verdict": document["verdict"],
        "epsilon": document["epsilon"],
        "threshold": document["threshold"],
        "bound": min(bounds, key=float) if bounds else None,
        "proof": document["parts"][0]["proof"]["kind"] if bounds else document["upper"]["proof"]["kind"],
        "grade": "enclosed",
    }


def _group(item: Item, known: Mapping[str, bytes]) -> PermutationGroup:
    """The group of a row: from the small groups library, or by the generators of a document that is about it.

    Raises:
        ValueError: without both.
    """
    order, number = item.settings["order"], item.settings["number"]
    if gap_available():
        return parse_group(f"small:{order},{number}")
    if item.key not in known:
        raise ValueError(
            f"{item.name} is known by its number in a library of GAP, which is an optional extra: pip install "
            "'lemmata[gap]'."
        )
    generators = json.loads(known[item.key])["group"]["generators"]
    return PermutationGroup(tuple(map(tuple, generators)), f"small:{order},{number}")


def _character_table(item: Item, known: Mapping[str, bytes]) -> str | Document:
    """What the table of a row is read from: the character table library, or without GAP a document that is about it."""
    if item.key in known and not gap_available():
        return {"format": FORMAT, "version": VERSION, **json.loads(known[item.key])["table"]}
    return f"ctbl:{item.settings['table']}"


def _name(group: PermutationGroup) -> str | None:
    """The name in the families of `lemmata.numerics.groups.names` of a group of the atlas, or None."""
    found = (one.name for one in _named_groups().get(group.order, ()) if isomorphic(one, group))
    return next(found, None)


@cache
def _named_groups() -> dict[int, list[PermutationGroup]]:
    """The groups with a name, by order."""
    groups: dict[int, list[PermutationGroup]] = {}
    for name in named_groups(ORDERS[-1]).names:
        group = parse_group(name)
        groups.setdefault(group.order, []).append(group)
    return groups


def _table(settings: Mapping[str, Any]) -> Operation:
    return Operation.of(settings["values"]) if "values" in settings else parse_operation(settings["name"])


def _given(settings: Mapping[str, Any]) -> tuple[Operation, Operation]:
    """The whole table of a row on unseen cells, and the given part of it."""
    truth = parse_operation(settings["table"])
    return truth, truth.without([(a, b) for a, b in settings["missing"]])


def _values(table: Operation) -> list[list[int]]:
    return [list(row) for row in table.values]
