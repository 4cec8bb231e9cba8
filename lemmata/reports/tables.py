"""Tables as every report prints them: whole where they fit, and otherwise a sentence for each row."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

__all__ = ["fits", "plain_table", "print_fields", "print_table"]

PROSE = 15
"""Columns of a terminal that a column of words has at least."""


def plain_table(*headings: str) -> Table:
    """An empty table; columns of counts are aligned to the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in ("degree", "dimension", "elements") else "left")
    return table


def fits(out: Console, table: Table, *, prose: Iterable[str] = ()) -> bool:
    """Whether a table can be printed with nothing broken, but between words in the columns of these headings."""
    needed = Measurement.get(out, out.options.update(max_width=10_000), table).maximum
    texts = [[str(column.header), *_plain(column.cells)] for column in table.columns if str(column.header) in prose]
    least = max([PROSE, *(1 + _longest_word(text) for column in texts for text in column)])  # 1 for uneven shares
    return needed - sum(max(0, max(map(len, column)) - least) for column in texts) <= out.width


def print_table(out: Console, table: Table, *, prose: Iterable[str] = ()) -> None:
    """A table; in a terminal that is too narrow for it a sentence for each row, in which nothing is cut either.

    Args:
        out: the console.
        table: its cells are markup. In the sentences an empty first cell stands for the one above.
        prose: headings of the columns of words, which may be broken between words.
    """
    prose = tuple(prose)
    if fits(out, table, prose=prose):
        for column in table.columns:
            column.no_wrap = str(column.header) not in prose
        out.print(table)
        return
    first = ""
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        name, *others = (", ".join(str(cell).split("\n")) for cell in cells)
        first = name or first
        headings = (str(column.header) for column in table.columns[1:])
        parts = [f"{heading} {cell}".strip() for heading, cell in zip(headings, others, strict=True) if cell]
        out.print(f"{first}: {', '.join(parts)}", soft_wrap=True)


def print_fields(out: Console, fields: Iterable[tuple[str, str]], *, indent: str = "") -> None:
    """Names and their texts, in two columns; a text with a word that is too long for its column has lines of its own.

    Args:
        out: the console.
        fields: the pairs; the texts are markup.
        indent: stands before every name.
    """
    fields = tuple(fields)
    width = max(len(indent + name) for name, _ in fields)
    for name, text in fields:
        if _longest_word(*_plain([text])) + width + 2 <= out.width:
            grid = Table.grid(padding=(0, 2), pad_edge=False)
            grid.add_column(no_wrap=True, width=width)
            grid.add_column()
            grid.add_row(indent + name, text)
            out.print(grid)
        else:
            lines = text.replace("\n", f"\n{indent}  ")
            out.print(f"{indent}{name}: {lines}", soft_wrap=True)


def _plain(cells: Iterable[object]) -> list[str]:
    return [Text.from_markup(str(cell)).plain for cell in cells]


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)
