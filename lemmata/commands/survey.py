"""The command `lemmata survey`: margins of families of tables, in parallel and resumable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table as Grid

from lemmata import theorems
from lemmata.certificates.operations.survey import FAMILIES, operations_document, survey_operations, survey_totals
from lemmata.commands.console import err, out, refusals
from lemmata.commands.options import DEFAULT_JOBS, AsJson, Jobs, Where
from lemmata.commands.workers import progress_bar, workers
from lemmata.numerics.runs.files import write_atomically
from lemmata.numerics.runs.items import Done, FailedItemsError
from lemmata.reports.tables import print_table
from lemmata.theorems.origin import origin

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(
    name="survey",
    help="Certify families of tables of finite operations: one entry each, and operations.json. Families: "
    "classes:3x3 (all tables up to renaming and swap), random:4x4:4:SEED:COUNT, operations:7 (modulo 2, ..., 7), "
    "large.",
)
def survey(
    directory: Annotated[Path, typer.Option("--out", metavar="DIR", help="folder for the entries")],
    families: Annotated[
        list[str] | None, typer.Option("--family", metavar="FAMILY", help="only this one; may be repeated")
    ] = None,
    jobs: Jobs = DEFAULT_JOBS,
    where: Where = None,
    as_json: AsJson = False,
) -> None:
    """The margins of families of tables; finished entries are kept, so that a second run continues the first."""
    chosen = families or list(FAMILIES)
    with refusals():
        finished = 0

        def stopped() -> str:
            return f"stopped after {finished} tables; the same command continues"

        try:
            with workers(jobs, stopped, where) as executor, progress_bar() as bar:
                task = bar.add_task("certifying", total=None)

                def advance(_: Done) -> None:
                    nonlocal finished
                    finished += 1
                    bar.update(task, advance=1)

                def begin(total: int) -> None:
                    bar.update(task, total=total)

                entries = survey_operations(chosen, directory / "entries", executor, advance, begin)
        except FailedItemsError as failure:
            for key, error in failure.errors.items():
                err.print(f"[red]failed[/red]: {escape(f'{key}: {error}')}", soft_wrap=True)
            err.print(f"{len(failure.errors)} tables failed; the same command runs these again", soft_wrap=True)
            raise typer.Exit(1) from failure
        selection = " ".join(f"--family {name}" for name in families or ())
        made = {
            "command": f"lemmata survey --out DIR {selection}".rstrip(),
            **origin(Path(theorems.__file__).parent.parent),
        }
    totals = {name: survey_totals(some) for name, some in entries.items()}
    if as_json:
        typer.echo(json.dumps({"families": totals, "operations": str(directory / "operations.json")}, indent=2))
    else:
        _print_totals(totals)
        out.print(
            "closed: lower and upper bound within a millionth; left: not; widest: the largest relative gap; degree 4: "
            "tables of which degree 6 proves that degree 4 is too high, at most by the share in the last column. Every "
            f"entry was accepted by the kernel; in {escape(str(directory / 'operations.json'))}",
            soft_wrap=True,
        )
    with refusals():
        write_atomically(operations_document(entries, made), directory / "operations.json")


def _print_totals(totals: dict[str, dict[str, Any]]) -> None:
    """A line for each family; in a narrow terminal a sentence, in which no number is cut off."""
    words = ("tables", "exact", "closed", "left", "widest", "degree 4", "excess")
    shown = {
        name: [
            *(str(one[key]) for key in words[:4]),
            f"{one['widest']:.1e}",
            str(one["degree_4"]),
            f"{one['excess']:.1e}",
        ]
        for name, one in totals.items()
    }
    grid = Grid("family", *words)
    for name, numbers in shown.items():
        grid.add_row(escape(name), *numbers)
    print_table(out, grid)
