"""The committed margins of small tables with kinked neurons, and how their verdicts on unseen cells differ.

    python -m lemmata.certificates.operations.kinked_survey DIR

has a row for one table of every class of shapes 2 x 2, 2 x 3 and 3 x 3: the maximum margin with |t| and with max(t, 0)
in place of the square, proved from both sides. Tables of at most `LABELS` labels, for which the bounds of squares are
exact, have their cells as well, one of each kind: the verdicts of squares (`unseen`, the kernel has accepted a
certificate), of |t| and of max(t, 0) (`kinked_unseen`) when that cell alone is not given. A second run in the same
folder continues the first; delete it to make all rows again.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from functools import cache
from math import ceil, floor
from pathlib import Path
from typing import Any

from lemmata.certificates.operations.kinked import Activation, kinked_margin
from lemmata.certificates.operations.kinked_unseen import EPSILON, kinked_verdict
from lemmata.certificates.operations.unseen import unseen_cells
from lemmata.certificates.operations.unseen_survey import kinds_of_missing
from lemmata.numerics.operations.classes import isotopy_classes
from lemmata.numerics.operations.operation import Cell, Operation
from lemmata.numerics.runs.definitions import fingerprint
from lemmata.numerics.runs.files import write_atomically
from lemmata.numerics.runs.rows import made_by, printed_rows, rows_document

__all__ = ["committed_kinked", "settings", "survey_row", "verdict_counts"]

FORMAT, VERSION = "lemmata/kinked-survey", 1
COMMITTED = Path(__file__).parent / "results" / "kinked.json"
PACKAGES = ("lemmata.numerics", "lemmata.certificates")
SHAPES = ((2, 2), (2, 3), (3, 3))
LABELS = 3
ACTIVATIONS: tuple[Activation, ...] = ("abs", "relu")
PLACES = 10
"""Of the decimals of margins."""


def settings() -> dict[str, dict[str, Any]]:
    """The settings of every row by its key: the values of one table of each class."""
    return {
        f"{rows}x{columns}-{number}": {"values": [list(row) for row in table.values]}
        for rows, columns in SHAPES
        for number, table in enumerate(isotopy_classes(rows, columns))
    }


def survey_row(settings: dict[str, Any]) -> dict[str, Any]:
    """The margins of one table, by activation, and the verdicts on its cells if it has at most `LABELS` labels."""
    table = Operation.of(settings["values"])
    row: dict[str, Any] = {"values": "/".join("".join(map(str, values)) for values in table.values)}
    for activation in ACTIVATIONS:
        found = kinked_margin(table, activation)
        below, above = floor(found.lower * 10**PLACES), ceil(found.upper * 10**PLACES)
        row[activation] = [f"0.{number:0{PLACES}d}" for number in (below, above)]
    if table.label_count <= LABELS:
        row["cells"] = [_verdicts(table, cell) for (cell,) in kinds_of_missing(table, 1)]
    return row


def _verdicts(table: Operation, cell: Cell) -> dict[str, Any]:
    (squares,) = unseen_cells(table, table.without([cell]), seconds=0).cells
    found: dict[str, Any] = {"cell": list(cell), "square": [squares.verdict, squares.margin]}
    for activation in ACTIVATIONS:
        kinked = kinked_verdict(table, cell, activation)
        found[activation] = [kinked.verdict, kinked.share]
    return found


def verdict_counts(rows: Sequence[dict[str, Any]]) -> dict[tuple[str, str], Counter[tuple[str, str]]]:
    """Of every two of square, abs and relu, how many cells of the rows have each pair of verdicts."""
    cells = [cell for row in rows for cell in row.get("cells", [])]
    pairs = (("square", "abs"), ("square", "relu"), ("abs", "relu"))
    return {(one, other): Counter((cell[one][0], cell[other][0]) for cell in cells) for one, other in pairs}


@cache
def committed_kinked() -> dict[str, Any]:
    """The survey that comes with this toolkit: ``origin``, how it was made, and ``rows``."""
    return json.loads(COMMITTED.read_text(encoding="ascii"))


def main(arguments: Sequence[str]) -> None:
    """All rows in a folder; a second run continues the first."""
    folder = Path(arguments[0])
    rows = printed_rows(survey_row, settings(), folder / "rows")
    command = "python -m lemmata.certificates.operations.kinked_survey DIR"
    origin = made_by(command, epsilon=str(EPSILON), code=fingerprint(survey_row, PACKAGES))
    write_atomically(rows_document(FORMAT, VERSION, origin, {"rows": rows}), folder / "kinked.json")


if __name__ == "__main__":
    main(sys.argv[1:])
