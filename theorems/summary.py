"""The table that closes a run of the theorems: verdicts and grades, chapter by chapter, for a terminal."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from theorems.evidence import GRADES
from theorems.ledger import VERDICTS
from theorems.verdicts import totals

WIDTH = 100
_HYPHENATED = {
    "repaired": "re-\npaired",
    "refuted": "re-\nfuted",
    "context": "con-\ntext",
    "symbolic": "sym-\nbolic",
    "enclosed": "en-\nclosed",
    "numeric": "nu-\nmeric",
    "sampled": "sam-\npled",
}
_STYLES = {"holds": "green", "repaired": "yellow", "refuted": "magenta"}


def summary_table(chapters: Sequence[Mapping[str, Any]], *, colour: bool) -> str:
    """Return the table for `chapters` (of `theorems.verdicts.record`) as text of at most `WIDTH` columns.

    One row a chapter: its statements by verdict, then its checks by grade and the number that failed. A last
    row has the totals when there are several chapters.
    """
    table = Table(box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    table.add_column("\nchapter", no_wrap=True)
    for name in ("all", *VERDICTS, "checks", *GRADES, "failed"):
        table.add_column(_HYPHENATED.get(name, f"\n{name}"), justify="right", no_wrap=True, style=_STYLES.get(name, ""))
    for chapter in chapters:
        table.add_row(chapter["name"], *_row(totals(chapter["statements"])))
    if len(chapters) > 1:
        table.add_section()
        everything = [statement for chapter in chapters for statement in chapter["statements"]]
        table.add_row("total", *_row(totals(everything)), style="bold")
    screen = io.StringIO()
    Console(file=screen, width=WIDTH, force_terminal=colour, no_color=not colour).print(table)
    return "\n".join(line.rstrip() for line in screen.getvalue().strip("\n").split("\n")) + "\n"


def _row(counts: Mapping[str, Any]) -> list[str | Text]:
    """Return the cells after the chapter's name."""
    failed = counts["outcomes"]["failed"]
    return [
        str(counts["statements"]),
        *(str(counts["verdicts"][verdict] or "·") for verdict in VERDICTS),
        str(counts["checks"]),
        *(str(counts["checks_by_grade"][grade] or "·") for grade in GRADES),
        Text(str(failed), style="bold red") if failed else "0",
    ]
