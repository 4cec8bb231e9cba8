"""The command `lemmata explain`: a report of a certificate file, once the kernel accepts it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from certificates import kernel
from certificates.game.faces import optimal_faces
from certificates.groups.contents import solution_of
from certificates.groups.format import load
from certificates.groups.report import margin_report
from lemmata.commands.console import err, out, refusals
from lemmata.reports.groups import print_certificate

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(help="Explain a certificate file: what it proves, and how.")
def explain(file: Annotated[Path, typer.Argument(metavar="FILE", help="certificate file")]) -> None:
    """The report of a valid certificate; exit 1 when it is invalid, 2 when it is malformed."""
    with refusals():
        document = load(file)
        with err.status(f"checking {escape(str(file))}"):
            try:
                kernel.check(file.read_bytes())
            except kernel.ViolatedError as error:
                out.print(f"[red]invalid[/red]: {escape(str(error))}", soft_wrap=True)
                out.print("Nothing in this file can be relied on.")
                raise typer.Exit(1) from error
            reading = margin_report(document)
            faces = optimal_faces(solution_of(document)) if reading.grade == "exact" else None
    print_certificate(out, document, reading, faces, unchecked=None)
    order, generators = document["group"]["order"], len(document["group"]["generators"])
    degree = document["group"]["degree"]
    out.print(
        f"[green]valid[/green]: the kernel built the group of order {order} from {generators} permutations of "
        f"{degree} points and proved every line.",
        soft_wrap=True,
    )
