"""The command `lemmata show`: the entries of the ledger whose id contains a text."""

from __future__ import annotations

from typing import Annotated

import typer

from lemmata._ledger import find_statements
from lemmata._ledger import show as show_statements
from lemmata.commands.console import echo_json, out, refusals

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(help="Show what the ledger says of a statement, for example feature-emergence:theorem-7.7.")
def show(
    statement: Annotated[str, typer.Argument(help="id of the statement, or a part of it")],
    as_json: Annotated[bool, typer.Option("--json", help="the same for programs")] = False,
) -> None:
    """The ledger entries whose id contains the given text; exit 2 when there is none."""
    with refusals():
        if not as_json:
            show_statements(statement, console=out)
            return
        from lemmata.reports.ledger import statement_data

        found = [statement_data(chapter, entry) for chapter, entry in find_statements(statement)]
        echo_json(found)
