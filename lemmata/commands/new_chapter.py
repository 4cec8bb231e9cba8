"""The command `lemmata new-chapter`: the skeleton of a chapter, with a worked example that passes its tests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lemmata.commands.console import out, refusals
from lemmata.scaffold import create_chapter

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(name="new-chapter", help="Write the skeleton of a chapter of your own, with a worked example.")
def new_chapter(
    name: Annotated[str, typer.Argument(metavar="NAME", help="lower-case words joined by underscores, such as knots")],
    parent: Annotated[Path, typer.Option("--in", metavar="DIR", help="the folder in which NAME is made")] = Path(),
) -> None:
    """The folder NAME; exit 2 for a name that is refused, or if it exists."""
    with refusals():
        folder = create_chapter(name, parent)
    out.print(escape(f"{folder}: a package with two lemmas as an example; its tests pass as they are:"), soft_wrap=True)
    out.print(escape(f"  pip install --editable {folder}\n  pytest --pyargs {name}\n  pytest {folder / 'tests'}"))
