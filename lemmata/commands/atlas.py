"""The command `lemmata atlas`: the table of certified margins, a document of it, and how all of it is made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from lemmata.certificates.atlas.committed import atlas_document, atlas_rows, committed_atlas
from lemmata.certificates.atlas.lookup import atlas_row
from lemmata.commands.console import STANDARD_OUTPUT, deliver, err, out, refusals
from lemmata.commands.options import DEFAULT_JOBS, AsJson, Jobs, Where
from lemmata.reports.atlas import print_atlas, print_row, print_rows

__all__ = ["app"]

app = typer.Typer(add_completion=False)

HELP = (
    "Show the atlas of certified margins, write the certificate of a row, or make all of it. To make it is to check "
    "every committed document and to compute what is missing."
)


@app.command(name="atlas", help=HELP)
def atlas(
    row: Annotated[
        str | None, typer.Option(metavar="NAME", help="a row: SmallGroup(32,5), Q8, M11, op:max:3, or its key")
    ] = None,
    section: Annotated[
        list[str] | None, typer.Option(metavar="SECTION", help="only this section; with --out it may be repeated")
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option("--out", metavar="PATH", help="with --row: file for its certificate; else: folder for the atlas"),
    ] = None,
    anew: Annotated[bool, typer.Option("--anew", help="compute all documents again (more than an hour)")] = False,
    jobs: Jobs = DEFAULT_JOBS,
    where: Where = None,
    as_json: AsJson = False,
) -> None:
    """The atlas, or a part of it; exit 1 when a row failed, 2 when the input is refused."""
    with refusals():
        if row is not None:
            if section or anew:
                raise ValueError("--row shows or writes one row: leave out --section and --anew.")
            _one_row(row, target, as_json)
        elif target is not None:
            _make(target, section, anew, jobs, where, as_json)
        elif anew:
            raise ValueError("--anew makes the atlas: name a folder with --out.")
        else:
            _show(section, as_json)


def _one_row(name: str, target: Path | None, as_json: bool) -> None:
    found = atlas_row(name)
    if target is None:
        if as_json:
            typer.echo(json.dumps(found, indent=2))
        else:
            print_row(out, found, committed_atlas()["sections"][found["section"]])
        return
    if target == STANDARD_OUTPUT and as_json:
        raise ValueError("With --out - the certificate goes to the standard output: leave out --json.")
    section = committed_atlas()["sections"][found["section"]]
    deliver(atlas_document(found), target, as_json, lambda: found, lambda console: print_row(console, found, section))


def _show(section: list[str] | None, as_json: bool) -> None:
    rows = [one for name in section or [None] for one in atlas_rows(name)]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
    elif section:
        print_rows(out, rows)
    else:
        print_atlas(out, committed_atlas())


def _make(target: Path, section: list[str] | None, anew: bool, jobs: int, where: str | None, as_json: bool) -> None:
    from lemmata.certificates.atlas.build import Settled, build_atlas, write_atlas  # the mathematics, and the solvers
    from lemmata.certificates.atlas.catalogue import SECTIONS
    from lemmata.commands.workers import progress_bar, workers
    from lemmata.theorems.ledger import THEOREMS
    from lemmata.theorems.origin import origin

    if target.is_file():
        raise ValueError(f"{target} is a file; name a folder for the atlas.")
    sections = tuple(dict.fromkeys(section or SECTIONS))
    count = {"rows": 0, "kept": 0}

    def stopped() -> str:
        return f"stopped after {count['rows']} rows; the same command continues"

    with workers(jobs, stopped, where) as executor, progress_bar() as bar:
        task = bar.add_task("documents", total=None)

        def advance(name: str, outcome: Settled) -> None:
            count["rows"] += len(outcome.rows)
            count["kept"] += outcome.kept
            bar.update(task, advance=len(outcome.rows), description=name)

        table, errors = build_atlas(
            target,
            executor,
            sections=sections,
            anew=anew,
            on_start=lambda total: bar.update(task, total=total),
            on_done=advance,
        )
    for key, error in errors.items():
        err.print(f"[red]failed[/red]: {escape(f'{key}: {type(error).__name__}: {error}')}", soft_wrap=True)
    if errors:
        err.print(f"{len(errors)} works failed, and no table was written; the same command runs these again")
        raise typer.Exit(1)
    selection = "".join(f" --section {name}" for name in section or ())
    command = f"lemmata atlas --out DIR{selection}{' --anew' if anew else ''}"
    with err.status("writing the table and the archives"):
        write_atlas(target, table, {"command": command, **origin(THEOREMS.parent)})
    _report(target, table, count["kept"], as_json)


def _report(target: Path, table: dict[str, list[dict[str, Any]]], kept: int, as_json: bool) -> None:
    rows = [row for some in table.values() for row in some]
    totals = {
        "rows": len(rows),
        "documents": sum(row["sha256"] is not None for row in rows),
        "kept": kept,
        "exact": sum(row["grade"] == "exact" for row in rows),
        "without": {row["name"]: row["reason"] for row in rows if row["sha256"] is None},
        "seconds": round(sum(row["seconds"] or 0 for row in rows if row["sha256"]), 1),
        "atlas": str(target / "atlas.json"),
    }
    if as_json:
        typer.echo(json.dumps(totals, indent=2))
        return
    out.print(
        f"{totals['rows']} rows, {totals['documents']} with a document that its kernel has accepted now, {kept} of "
        f"them found and {totals['documents'] - kept} computed; {totals['exact']} are exact; all checks together took "
        f"{totals['seconds']} s",
        soft_wrap=True,
    )
    for name, reason in totals["without"].items():
        out.print(f"without a document: {escape(f'{name}: {reason}')}", soft_wrap=True)
    out.print(f"table and archives in {escape(str(target))}", soft_wrap=True)
