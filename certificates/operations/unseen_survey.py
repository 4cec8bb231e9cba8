"""The committed verdicts on unseen cells: operations without one, two or three cells, one of each kind.

    python -m lemmata.certificates.operations.unseen_survey DIR [--only NAME]

writes one file per row to DIR/rows, its certificates to DIR/certificates, and the survey to DIR/unseen.json; a second
run continues the first. Two sets of missing cells are of one kind if a symmetry of the whole table takes one to the
other: then every verdict is carried over, and a survey has one row for them. A row keeps the fingerprint of the code
that made it; delete DIR to make all of them again. Every verdict but *open* was written
after `lemmata.certificates.operation_kernel` had accepted its certificate.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

from lemmata.certificates.groups.format import dumps, write
from lemmata.certificates.operations.unseen import UnseenCells, unseen_cells
from lemmata.certificates.operations.unseen_symmetry import cell_image
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import Cell, Operation
from lemmata.numerics.operations.symmetries import operation_symmetries
from lemmata.numerics.runs.definitions import fingerprint
from lemmata.numerics.runs.files import write_atomically
from lemmata.numerics.runs.rows import made_by, printed_rows, rows_document

__all__ = ["committed_verdicts", "kinds_of_missing", "rows", "shares", "survey_row", "verdict_row"]

FORMAT, VERSION = "lemmata/unseen-survey", 1
COMMITTED = Path(__file__).parent / "results" / "unseen.json"
PACKAGES = ("lemmata.numerics", "lemmata.certificates")
SEED = 0

ONE_MISSING = (
    *(f"op:add:{n}" for n in (2, 3, 4)),
    "Z2xZ2",
    "op:add:5",
    "S3",
    "op:mul:3",
    "op:mul:5",
    "op:add:6",
    "op:add:7",
    "op:mul:7",
    "Q8",
    "D4",
    "op:add:8",
)
TWO_MISSING = ("op:add:2", "op:add:3", "op:add:4", "Z2xZ2", "op:add:5", "op:add:6", "op:add:7")
THREE_MISSING = ("op:add:3", "Z2xZ2", "op:add:7")


def kinds_of_missing(table: Operation, count: int) -> dict[tuple[Cell, ...], int]:
    """Sets of so many given cells, the first one of each orbit of the symmetries, and the sizes of the orbits."""
    elements = operation_symmetries(table).elements()
    images = [{cell: cell_image(table, g, cell) for cell in table.cells} for g in elements]
    seen: set[tuple[Cell, ...]] = set()
    found = {}
    for cells in combinations(table.cells, count):
        if cells in seen:
            continue
        orbit = {tuple(sorted(image[cell] for cell in cells)) for image in images}
        found[cells] = len(orbit)
        seen |= orbit
    return found


def rows() -> dict[str, dict[str, Any]]:
    """The settings of every row of the survey by its key, the cheaper ones first."""
    settings = {}
    for count, names in ((1, ONE_MISSING), (2, TWO_MISSING), (3, THREE_MISSING)):
        for name in names:
            for number, cells in enumerate(kinds_of_missing(parse_operation(name), count)):
                key = f"{name.replace(':', '-')}-{count}-{number}"
                settings[key] = {"table": name, "missing": [list(cell) for cell in cells], "seed": SEED}
    return settings


def verdict_row(result: UnseenCells, name: str) -> dict[str, Any]:
    """What the survey keeps of a result."""
    return {
        "table": name,
        "missing": [list(cell.cell) for cell in result.cells],
        "lower": result.lower,
        "upper": result.upper,
        "epsilon": str(result.epsilon),
        "threshold": result.threshold,
        "cells": [
            {
                "cell": list(cell.cell),
                "label": cell.label,
                "verdict": cell.verdict,
                "margin": cell.margin,
                "epsilon": str(cell.epsilon),
                "threshold": cell.threshold,
                "seen": [None if x != x else x for x in cell.seen],
                "reason": cell.reason,
                "bytes": 0 if cell.document is None else len(dumps(cell.document)),
            }
            for cell in result.cells
        ],
    }


def survey_row(settings: dict[str, Any]) -> dict[str, Any]:
    """The verdicts on the missing cells of a table; with a folder in the settings, their certificates are kept."""
    table = parse_operation(settings["table"])
    begin = time.perf_counter()
    result = unseen_cells(table, table.without([tuple(cell) for cell in settings["missing"]]), seed=settings["seed"])
    row = verdict_row(result, settings["table"])
    row["seconds"] = round(time.perf_counter() - begin, 1)
    row["code"] = fingerprint(survey_row, PACKAGES)
    if folder := settings.get("folder"):
        for cell in result.cells:
            if cell.document is not None:
                places = "-".join(f"{a}.{b}" for a, b in (c.cell for c in result.cells))
                name = f"{settings['table'].replace(':', '-')}-{places}-at-{cell.cell[0]}.{cell.cell[1]}.json"
                write(cell.document, Path(folder) / name)
    return row


def shares(entries: Sequence[dict[str, Any]], name: str, count: int) -> dict[str, Fraction] | None:
    """Of all sets of ``count`` cells of a table and their cells, the share of each verdict; None if a row is missing.

    A point of the curve of cells that every network of nearly maximum margin gets right, by certificates alone.
    """
    sizes = kinds_of_missing(parse_operation(name), count)
    total = {"right": 0, "wrong": 0, "both": 0, "open": 0}
    found = {tuple(map(tuple, entry["missing"])): entry for entry in entries if entry["table"] == name}
    for cells, size in sizes.items():
        if cells not in found:
            return None
        for cell in found[cells]["cells"]:
            total[cell["verdict"]] += size
    return {verdict: Fraction(number, count * sum(sizes.values())) for verdict, number in total.items()}


@cache
def committed_verdicts() -> dict[str, Any]:
    """The survey that comes with this toolkit: ``origin``, how it was made, and ``rows``."""
    return json.loads(COMMITTED.read_text(encoding="ascii"))


def main(arguments: Sequence[str]) -> None:
    """The survey in a folder, as far as the rows whose name is asked for."""
    folder = Path(arguments[0])
    only = arguments[2:] if len(arguments) > 2 and arguments[1] == "--only" else ()
    (folder / "certificates").mkdir(parents=True, exist_ok=True)
    settings = {
        key: value | {"folder": str(folder / "certificates")}
        for key, value in rows().items()
        if not only or any(key.startswith(name) for name in only)
    }

    found = printed_rows(survey_row, settings, folder / "rows")
    origin = made_by("python -m lemmata.certificates.operations.unseen_survey DIR")
    write_atomically(rows_document(FORMAT, VERSION, origin, {"rows": found}), folder / "unseen.json")


if __name__ == "__main__":
    main(sys.argv[1:])
