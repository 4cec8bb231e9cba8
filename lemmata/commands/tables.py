"""The command `lemmata tables`: margins of the tables of the character table library, in parallel and resumable."""

from __future__ import annotations

import os
import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from certificates import table_kernel
from certificates.groups.table_survey import survey, survey_document
from lemmata.commands.console import err, out, refusals
from lemmata.commands.options import Factors
from numerics.groups.character_library import library_names, library_versions
from numerics.runs.files import write_atomically
from numerics.runs.items import Done
from numerics.runs.processes import process_pool

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(name="tables", help="Certify the tables of the character table library: one entry each, and tables.json.")
def tables(
    directory: Annotated[Path, typer.Option("--out", metavar="DIR", help="folder for the entries")],
    max_classes: Annotated[
        int, typer.Option(metavar="N", min=2, max=table_kernel.MAX_CLASSES, help="largest number of classes")
    ] = table_kernel.MAX_CLASSES,
    name: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="only this table, or Symmetric(n); may be repeated")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="processes")] = os.cpu_count() or 1,
    factors: Factors = 2,
) -> None:
    """The margins of tables; finished entries are kept, so that a second run continues the first."""
    with refusals():
        versions = library_versions()
        names = tuple(name) if name else library_names(max_classes)
        executor = process_pool(jobs)
        columns = (TextColumn("certifying"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        try:
            with Progress(*columns, console=err) as bar:
                task = bar.add_task("certifying", total=len(names))

                def advance(_: Done) -> None:
                    bar.update(task, advance=1)

                entries = survey(names, directory / "entries", executor, factors, advance)
        finally:
            executor.shutdown(wait=True, cancel_futures=True)
        selection = " ".join(f"--name {one}" for one in name or []) or f"--max-classes {max_classes}"
        origin = {
            "command": f"lemmata tables --out DIR {selection} --factors {factors}",
            "lemmata": version("lemmata"),
            "python": platform.python_version(),
            **versions,
            "date": str(date.today()),
        }
        write_atomically(survey_document(entries, origin), directory / "tables.json")
    refused = [entry for entry in entries if "refused" in entry]
    for entry in refused:
        out.print(f"[yellow]refused[/yellow]: {escape(entry['name'])}: {escape(entry['refused'])}", soft_wrap=True)
    out.print(
        f"{len(entries) - len(refused)} of {len(entries)} tables certified, each on the condition that it is the "
        f"character table of a group, and checked by the kernel; in {escape(str(directory / 'tables.json'))}",
        soft_wrap=True,
    )
