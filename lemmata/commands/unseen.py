"""The command `lemmata unseen`: what all networks of nearly maximum margin say of cells that they never saw."""

from __future__ import annotations

import json
import os
import re
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lemmata.certificates.groups.format import write
from lemmata.certificates.operations.forced import forced
from lemmata.certificates.operations.forms import Kind
from lemmata.certificates.operations.programs import OperationProgramError
from lemmata.certificates.operations.programs_effort import TooMuchWorkError
from lemmata.certificates.operations.unseen import UnseenCells, unseen_cells
from lemmata.commands.console import deliver_picture, out, refusals, working
from lemmata.commands.options import Seconds
from lemmata.numerics.operations.names import ACCEPTED_CELLS, ACCEPTED_TABLES, parse_operation
from lemmata.reports.pictures import check_picture
from lemmata.reports.unseen import draw_unseen, print_unseen, unseen_summary

__all__ = ["app"]

app = typer.Typer(add_completion=False)

KINDS: dict[str, Kind] = {"plane": "plane", "4": 4, "6": 6}


@app.command(
    help="Certify what all networks of nearly maximum margin say of cells that they never saw. TABLE is the truth: "
    f"{ACCEPTED_TABLES}. The given cells: {ACCEPTED_CELLS}."
)
def unseen(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="the whole table, for example op:add:5")],
    cells: Annotated[str, typer.Option("--cells", metavar="CELLS", help="given cells, such as without:(0,0)")],
    epsilon: Annotated[
        str | None,
        typer.Option(
            "--eps", metavar="E", help="how far below the maximum margin networks may be, relative; three gaps"
        ),
    ] = None,
    degree: Annotated[str | None, typer.Option(metavar="4|6|plane", help="kind of the proofs; by the table")] = None,
    directory: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="write a certificate for each cell, for lemmata check")
    ] = None,
    picture: Annotated[Path | None, typer.Option(metavar="FILE.png", help="draw the map of the table")] = None,
    seed: Annotated[int, typer.Option(min=0, help="of the searches for networks")] = 0,
    seconds: Seconds = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the result as JSON instead of a report")] = False,
) -> None:
    """The verdicts; exit 0 also for open ones, 2 when the input is refused or no solver gives a bound."""
    with refusals():
        if degree is not None and degree not in KINDS:
            raise ValueError(f"--degree is one of {', '.join(KINDS)}, not {degree!r}.")
        check_picture(picture)
        if directory is not None and (directory.exists() and not directory.is_dir()):
            raise ValueError(f"{directory} is a file; name a directory for --out.")
        chosen = None if epsilon is None else _fraction(epsilon)
        truth, given = parse_operation(table), parse_operation(table, cells)
        # a theorem is better than proofs for one epsilon, but has no documents
        known = forced(truth, given) if chosen is None and degree is None and directory is None else None
        with working("the margin of the given cells") as status:
            try:
                result = (
                    known.unseen()
                    if known is not None
                    else unseen_cells(
                        truth,
                        given,
                        epsilon=chosen,
                        kind=None if degree is None else KINDS[degree],
                        seed=seed,
                        seconds=seconds,
                        progress=lambda what: status.update(escape(what)),
                    )
                )
            except (OperationProgramError, TooMuchWorkError) as error:
                raise ValueError(str(error)) from error
    if as_json:
        typer.echo(json.dumps(unseen_summary(result), indent=2))
    else:
        print_unseen(out, result)
    with refusals():
        files = [] if directory is None else _written(result, directory)
    if files and not as_json:
        out.print(escape(f"{len(files)} certificates in {directory}; check them with: lemmata check "
                         f"{os.path.join(str(directory), 'unseen-*.json')}"), soft_wrap=True)  # fmt: skip  # noqa: PTH118
    deliver_picture(picture, lambda path: draw_unseen(result, path), as_json)


def _written(result: UnseenCells, directory: Path) -> list[Path]:
    """The files of the certificates: none for open cells."""
    directory.mkdir(parents=True, exist_ok=True)
    files = []
    for cell in result.cells:
        if cell.document is not None:
            files.append(directory / f"unseen-{cell.cell[0]}-{cell.cell[1]}.json")
            write(cell.document, files[-1])
    return files


def _fraction(text: str) -> Fraction:
    """A positive number below one, exactly as it is written; exponents of more than two digits are never expanded."""
    try:
        value = None if len(text) > 40 or re.search(r"[eE][+-]?[0-9_]{3}", text) else Fraction(text)
    except (ValueError, ZeroDivisionError):
        value = None
    if value is None or not 0 < value < 1:
        raise ValueError(f"--eps needs a number between 0 and 1, such as 1e-5 or 1/1000, not {text!r}.")
    return value
