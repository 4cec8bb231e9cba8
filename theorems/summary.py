"""The table that closes a run of the theorems: verdicts, reach and grades, chapter by chapter, for a terminal."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lemmata.theorems.evidence import GRADES
from lemmata.theorems.ledger import REACHES
from lemmata.theorems.verdicts import FAILED, SHOWN, UNDECIDED, totals

WIDTH = 100
_STYLES = {"holds": "green", "repaired": "yellow", "refuted": "magenta", UNDECIDED: "red", FAILED: "bold red"}


def summary_table(chapters: Sequence[Mapping[str, Any]], *, colour: bool) -> str:
    """Two tables for `chapters` (of `lemmata.theorems.verdicts.record`) as text of at most `WIDTH` columns.

    The first counts the statements of every chapter by verdict and, of the decided ones, by reach; the second their
    checks by grade, and those that failed. A last row has the totals when there are several chapters.
    """
    rows = [(str(chapter["name"]), totals(chapter["statements"])) for chapter in chapters]
    if len(chapters) > 1:
        rows.append(("total", totals([one for chapter in chapters for one in chapter["statements"]])))
    tables = (
        _table("statements", (*SHOWN, *REACHES), [(name, _statements(counts)) for name, counts in rows]),
        _table("checks", (*GRADES, "failed"), [(name, _checks(counts)) for name, counts in rows]),
    )
    screen = io.StringIO()
    console = Console(file=screen, width=WIDTH, force_terminal=colour, no_color=not colour)
    for table in tables:
        console.print(table)
    return "\n".join(line.rstrip() for line in screen.getvalue().strip("\n").split("\n")) + "\n"


def _table(title: str, columns: Sequence[str], rows: Sequence[tuple[str, Sequence[str | Text]]]) -> Table:
    # Thirteen columns fit into the width with one blank between them.
    table = Table(box=box.SIMPLE_HEAD, padding=(0, int(len(columns) < 10), 0, 0), show_edge=False)
    table.add_column(title, no_wrap=True, min_width=17)
    for name in ("", *columns):
        table.add_column(name, justify="right", no_wrap=True, style=_STYLES.get(name, ""))
    for name, cells in rows:
        if name == "total":
            table.add_section()
        table.add_row(name, *cells, style="bold" if name == "total" else "")
    return table


def _statements(counts: Mapping[str, Any]) -> list[str | Text]:
    """The cells of the table of statements after the chapter's name."""
    return [
        str(counts["statements"]),
        *(str(counts["verdicts"][verdict] or "·") for verdict in SHOWN),
        *(str(counts["reaches"][reach] or "·") for reach in REACHES),
    ]


def _checks(counts: Mapping[str, Any]) -> list[str | Text]:
    """The cells of the table of checks after the chapter's name."""
    failed = counts["outcomes"]["failed"]
    return [
        str(counts["checks"]),
        *(str(counts["checks_by_grade"][grade] or "·") for grade in GRADES),
        Text(str(failed), style="bold red") if failed else "0",
    ]
