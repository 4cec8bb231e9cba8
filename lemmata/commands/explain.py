"""The command `lemmata explain`: a report of a certificate file, once the kernel accepts it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lemmata.certificates import (
    algebraic_kernel,
    character_table_kernel,
    kernel,
    operation_kernel,
    solution_kernel,
    ternary_kernel,
)
from lemmata.certificates.game.faces import optimal_faces
from lemmata.certificates.groups.contents import solution_of
from lemmata.certificates.groups.format import Document
from lemmata.certificates.groups.kernels import kernel_of
from lemmata.certificates.groups.report import margin_report
from lemmata.commands.console import err, out, refusals
from lemmata.commands.options import AsJson
from lemmata.reports.groups import print_certificate

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(help="Explain a certificate file: what it proves, and how.")
def explain(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="certificate file")], as_json: AsJson = False
) -> None:
    """The report of a valid certificate; exit 1 when it is invalid, 2 when it is malformed."""
    for other in (operation_kernel, algebraic_kernel, character_table_kernel, solution_kernel, ternary_kernel):
        if kernel_of(file) == other.__file__:
            with refusals():
                line, document = _checked(file, other.check)
            if as_json:
                _print_json(file, line, document)
                return
            if other is operation_kernel:
                from lemmata.reports.operations import print_operation_document  # which needs the extra `solvers`

                print_operation_document(out, document)
            out.print(f"[green]valid[/green]: {escape(line)}", soft_wrap=True)
            return
    with refusals():
        line, document = _checked(file, kernel.check)
        if as_json:
            _print_json(file, line, document)
            return
        with err.status("reading the certificate"):
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


def _print_json(file: Path, line: str, document: Document) -> None:
    """The claim of a document that a kernel has just accepted: all of it but the network and the proof."""
    claimed = {
        key: document[key]
        for key in ("format", "version", "factors", "margin", "gap", "grade", "status", "bounds")
        if key in document
    }
    typer.echo(json.dumps({"file": str(file), "valid": line, **claimed}, indent=2))


def _checked(file: Path, check: Callable[[bytes], str]) -> tuple[str, Document]:
    """The line of a kernel for a valid file, and the document in the very bytes that it has read.

    Otherwise the exit of the command, with the first violated line.
    """
    with err.status(f"checking {escape(str(file))}"):
        with file.open("rb") as opened:
            data = opened.read(kernel.MAX_BYTES + 1)
        try:
            return check(data), kernel.parse(data)
        except kernel.ViolatedError as error:
            out.print(f"[red]invalid[/red]: {escape(str(error))}", soft_wrap=True)
            out.print("Nothing in this file can be relied on.")
            raise typer.Exit(1) from error
        except kernel.MalformedError as error:
            raise ValueError(f"{file} is no certificate: {error}.") from error
