"""Tables as every report prints them."""

from __future__ import annotations

from rich import box
from rich.table import Table

__all__ = ["plain_table"]


def plain_table(*headings: str) -> Table:
    """An empty table; columns of counts are aligned to the right, decimals are never broken."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        numeric = heading in ("degree", "dimension", "elements")
        table.add_column(heading, justify="right" if numeric else "left", no_wrap=heading in ("decimal", "example"))
    return table
