"""The command `lemmata characters`: margins of a whole library, in parallel and resumable."""

from __future__ import annotations

import json
import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lemmata.certificates import character_table_kernel
from lemmata.certificates.groups.character_table_survey import survey, survey_document
from lemmata.commands.console import out, refusals
from lemmata.commands.options import DEFAULT_JOBS, AsJson, Factors, Jobs, Where
from lemmata.commands.workers import progress_bar, workers
from lemmata.numerics.groups.character_library import library_names, library_versions
from lemmata.numerics.runs.files import write_atomically
from lemmata.numerics.runs.items import Done

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(
    name="characters", help="Certify the tables of the character table library: one entry each, and tables.json."
)
def characters(
    directory: Annotated[Path, typer.Option("--out", metavar="DIR", help="folder for the entries")],
    max_classes: Annotated[
        int, typer.Option(metavar="N", min=2, max=character_table_kernel.MAX_CLASSES, help="largest number of classes")
    ] = character_table_kernel.MAX_CLASSES,
    name: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="only this table, or Symmetric(n); may be repeated")
    ] = None,
    jobs: Jobs = DEFAULT_JOBS,
    where: Where = None,
    factors: Factors = 2,
    as_json: AsJson = False,
) -> None:
    """The margins of tables; finished entries are kept, so that a second run continues the first."""
    with refusals():
        versions = library_versions()
        names = tuple(name) if name else library_names(max_classes)
        finished = 0

        def stopped() -> str:
            return f"stopped after {finished} of {len(names)} tables; the same command continues"

        with workers(jobs, stopped, where) as executor, progress_bar() as bar:
            task = bar.add_task("certifying", total=len(names))

            def advance(_: Done) -> None:
                nonlocal finished
                finished += 1
                bar.update(task, advance=1)

            entries = survey(names, directory / "entries", executor, factors, advance)
        selection = " ".join(f"--name {one}" for one in name or []) or f"--max-classes {max_classes}"
        origin = {
            "command": f"lemmata characters --out DIR {selection} --factors {factors}",
            "lemmata": version("lemmata"),
            "python": platform.python_version(),
            **versions,
            "date": str(date.today()),
        }
    refused = [entry for entry in entries if "refused" in entry]
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "certified": len(entries) - len(refused),
                    "refused": {entry["name"]: entry["refused"] for entry in refused},
                    "tables": str(directory / "tables.json"),
                },
                indent=2,
            )
        )
    else:
        for entry in refused:
            out.print(f"[yellow]refused[/yellow]: {escape(entry['name'])}: {escape(entry['refused'])}", soft_wrap=True)
        out.print(
            f"{len(entries) - len(refused)} of {len(entries)} tables certified, each on the condition that it is the "
            f"character table of a group, and checked by the kernel; in {escape(str(directory / 'tables.json'))}",
            soft_wrap=True,
        )
    with refusals():
        write_atomically(survey_document(entries, origin), directory / "tables.json")
