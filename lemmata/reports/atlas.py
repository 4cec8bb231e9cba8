"""Reports of the atlas: its sections, the rows of one, and one row with how to check it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from lemmata.reports.tables import print_fields, print_table

__all__ = ["margin_text", "print_atlas", "print_row", "print_rows", "section_totals"]

Row = Mapping[str, Any]


def section_totals(rows: Sequence[Row]) -> dict[str, int]:
    """Of a section: its rows, those with a document, the exact ones, and the bytes of all documents."""
    return {
        "rows": len(rows),
        "documents": sum(row["sha256"] is not None for row in rows),
        "exact": sum(row["grade"] == "exact" for row in rows),
        "bytes": sum(row["bytes"] or 0 for row in rows),
    }


def margin_text(row: Row) -> str:
    """What is proved of the margin of a row: a number, two bounds, one bound, a verdict on a cell, or nothing."""
    if "verdict" in row:
        return f"{row['verdict']}, from the margin {row['threshold']} on"
    lower, upper = row["margin"]
    if row["exact"]:
        return str(row["exact"])
    if lower is None:
        return "none"
    return f"at least {lower}" if upper is None else f"{lower} to {upper}"


def print_atlas(out: Console, atlas: Mapping[str, Any]) -> None:
    """A line for each section, and how to go on."""
    grid = Grid("section", "what", "rows", "documents", "exact", "bytes")
    for name, section in atlas["sections"].items():
        totals = section_totals(section["rows"])
        grid.add_row(name, escape(section["title"]), *map(str, totals.values()))
    print_table(out, grid, prose=("what",))
    out.print(
        "lemmata atlas --section NAME lists rows, lemmata atlas --row NAME --out FILE writes the certificate of one, "
        "and lemmata check FILE checks it.",
        soft_wrap=True,
    )


def print_rows(out: Console, rows: Sequence[Row]) -> None:
    """The rows of a section, in a table or in sentences."""
    grid = Grid("row", "margin", "grade", "gap")
    for row in rows:
        structure = f" {row['structure']}" if row.get("structure") else ""
        cells = (f"{row['name']}{structure}", margin_text(row), row["grade"] or "", row.get("gap") or "")
        grid.add_row(*map(escape, cells))
    print_table(out, grid)


def print_row(out: Console, row: Row, section: Mapping[str, Any]) -> None:
    """A row with what it says, its document, and how that is checked."""
    fields = [("row", row["name"]), ("section", section["title"])]
    if row.get("structure"):
        fields.append(("structure", row["structure"]))
    fields.append(("margin" if "verdict" not in row else "verdict", margin_text(row)))
    if row.get("exact"):
        fields.append(("decimals", " to ".join(row["margin"])))
    fields += [(name, str(row[name])) for name in ("gap", "grade", "proof", "symmetries", "command") if row.get(name)]
    if row["sha256"] is None:
        fields.append(("document", f"none: {row['reason']}"))
    else:
        fields += [
            ("document", f"{section['format']}, {row['bytes']} bytes, checked in {row['seconds']} s"),
            ("sha256", row["sha256"]),
        ]
    if section["statements"]:
        fields.append(("statements", ", ".join(section["statements"])))
    print_fields(out, [(name, escape(text)) for name, text in fields])
