"""The maximum margins of all operations of three arguments on two elements, and of two groups, from both sides.

`python -m lemmata.certificates.operations.ternary_survey DIR` makes the rows in about a minute; each was written after
`lemmata.certificates.ternary_kernel` had accepted the document that it summarises. Of the 185 tables 2 x 2 x 2 up to
names there is one row each, and one of the sum of three elements modulo 2 and modulo 3, which have proofs in closed
form (`lemmata.certificates.operations.ternary_groups`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lemmata.certificates import ternary_kernel
from lemmata.certificates.operations.document import line_of
from lemmata.certificates.operations.ternary import certify_ternary, ternary_document
from lemmata.certificates.operations.ternary_groups import cyclic_bound, cyclic_network
from lemmata.numerics.groups.tables import cyclic
from lemmata.numerics.operations.classes import ternary_classes
from lemmata.numerics.operations.ternary import TERNARY_PREFIX, parse_ternary, ternary_product
from lemmata.numerics.runs.files import write_atomically
from lemmata.numerics.runs.rows import made_by, printed_rows, rows_document

__all__ = ["committed_ternary", "cyclic_document", "ternary_row"]

FORMAT, VERSION = "lemmata/ternary-survey", 1
COMMITTED = Path(__file__).parent / "results" / "ternary.json"


def ternary_row(settings: dict[str, Any]) -> dict[str, Any]:
    """The row of a table by its labels, as in ``ternary:01101001``, or of a cyclic group by its order.

    Where the proof has degree 6, ``degree_4`` is the bound of degree 4, proved as well.
    """
    if "order" in settings:
        document = cyclic_document(settings["order"])
        line_of(document, ternary_kernel.check)
    else:
        document = certify_ternary(parse_ternary(TERNARY_PREFIX + settings["labels"])).document
    row = settings | {
        "degree": int(document["proof"]["kind"][-1]),
        "margin": [document["margin"]["lower"], document["margin"]["upper"]],
        "exact": document["margin"]["exact"],
        "gap": document["gap"],
        "neurons": len(document["network"]["neurons"]),
    }
    if row["degree"] == 6:
        lower_degree = certify_ternary(parse_ternary(TERNARY_PREFIX + settings["labels"]), degree=4)
        row["degree_4"] = lower_degree.document["margin"]["upper"]
    return row


def cyclic_document(n: int) -> dict[str, Any]:
    """The document of the exact margin of a + b + c modulo n, for n = 2 and 3.

    Raises:
        ValueError: for another n.
    """
    return ternary_document(ternary_product(cyclic(n)), cyclic_network(n), cyclic_bound(n))


def committed_ternary() -> list[dict[str, Any]]:
    """The rows that come with this toolkit, as of `ternary_row`."""
    return json.loads(COMMITTED.read_text(encoding="ascii"))["rows"]


def main(arguments: Sequence[str]) -> None:
    """All rows, in a folder."""
    folder = Path(arguments[0])
    settings: dict[str, Any] = {f"order-{n}": {"order": n} for n in (2, 3)}
    settings |= {table.name: {"labels": table.name} for table in ternary_classes()}
    rows = printed_rows(ternary_row, settings, folder / "rows")
    origin = made_by("python -m lemmata.certificates.operations.ternary_survey DIR")
    write_atomically(rows_document(FORMAT, VERSION, origin, {"rows": rows}), folder / "ternary.json")


if __name__ == "__main__":
    main(sys.argv[1:])
