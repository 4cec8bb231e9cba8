"""Entries of the ledger, one in full or many in a table."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lemmata.reports.tables import plain_table
from theorems.ledger import Chapter, Statement

__all__ = ["print_ledger", "print_statement"]


def print_statement(out: Console, chapter: Chapter, entry: Statement) -> None:
    """The report of an entry of the ledger: all that it says."""
    out.print(f"[bold]{entry.id}[/bold]  {escape(entry.title)}")
    fields = (
        ("kind", entry.kind),
        ("document", chapter.document),
        ("text", entry.source),
        ("verdict", entry.verdict),
        ("reason", entry.reason),
        ("erratum", entry.erratum),
        ("printed", entry.printed),
        ("corrected", entry.corrected),
    )
    table = Table.grid(padding=(0, 2))
    for label, text in fields:
        if text:
            table.add_row(f"  {label}", escape(text))
    out.print(table)
    out.print()


def print_ledger(out: Console, chapters: Iterable[Chapter], verdict: str | None) -> None:
    """The table of the statements of some chapters, of one verdict or of all, and how many they are."""
    table = plain_table("statement", "verdict", "title")
    table.columns[0].no_wrap = True  # an id that is cut short cannot be looked up
    count = 0
    for chapter in chapters:
        for entry in chapter.statements:
            if verdict in (None, entry.verdict):
                table.add_row(entry.id, entry.verdict, escape(entry.title))
                count += 1
    out.print(table)
    out.print("1 statement" if count == 1 else f"{count} statements")
