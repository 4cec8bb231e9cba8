"""The command `lemmata show`: the entries of the ledger whose id contains a text."""

from __future__ import annotations

from typing import Annotated

import typer

from lemmata.commands.console import out, refusals
from lemmata.reports.ledger import print_statement
from theorems.ledger import load_ledger

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(help="Show what the ledger says of a statement, for example feature-emergence:theorem-7.7.")
def show(statement: Annotated[str, typer.Argument(help="id of the statement, or a part of it")]) -> None:
    """The ledger entries whose id contains the given text; exit 2 when there is none."""
    found = [
        (chapter, entry) for chapter in load_ledger().chapters for entry in chapter.statements if statement in entry.id
    ]
    exact = [pair for pair in found if pair[1].id == statement]
    with refusals():
        if not found:
            raise ValueError(
                f"no statement of the ledger has an id that contains {statement!r}. "
                "Ids look like feature-emergence:theorem-7.7; a part such as theorem-7 lists all that contain it."
            )
    for chapter, entry in exact or found:
        print_statement(out, chapter, entry)
