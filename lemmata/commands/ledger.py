"""The command `lemmata ledger`: the statements of the ledger with their verdicts."""

from __future__ import annotations

from typing import Annotated

import typer

from lemmata.commands.console import out, refusals
from lemmata.reports.ledger import print_ledger
from theorems.ledger import VERDICTS, load_ledger

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(help="List the statements of the ledger, with their verdicts.")
def ledger(
    chapter: Annotated[
        str | None, typer.Option(metavar="C", help="only this chapter, such as feature_emergence")
    ] = None,
    verdict: Annotated[str | None, typer.Option(metavar="V", help=f"only this verdict: {', '.join(VERDICTS)}")] = None,
) -> None:
    """The table of statements; exit 2 for an unknown chapter or verdict."""
    chapters = load_ledger().chapters
    names = [entry.name for entry in chapters]
    with refusals():
        wanted = None if chapter is None else chapter.replace("-", "_")
        if wanted is not None and wanted not in names:
            raise ValueError(f"There is no chapter {chapter!r}; the chapters are {', '.join(names)}.")
        if verdict is not None and verdict not in VERDICTS:
            raise ValueError(f"There is no verdict {verdict!r}; the verdicts are {', '.join(VERDICTS)}.")
    print_ledger(out, [entry for entry in chapters if wanted in (None, entry.name)], verdict)
