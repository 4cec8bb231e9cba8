"""The command `lemmata sweep`: a certificate for every group up to an order, in parallel and resumable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lemmata.certificates.groups.sweep import Outcome, sweep, write_summary
from lemmata.commands.console import err, out, refusals
from lemmata.commands.options import DEFAULT_JOBS, AsJson, Factors, Jobs, Where
from lemmata.commands.workers import progress_bar, workers
from lemmata.numerics.groups.lists import group_list

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(name="sweep", help="Certify all groups up to an order: one file per group, and summary.csv.")
def sweep_command(
    max_order: Annotated[int, typer.Option(metavar="N", min=2, help="largest order")],
    directory: Annotated[Path, typer.Option("--out", metavar="DIR", help="folder for the certificates")],
    jobs: Jobs = DEFAULT_JOBS,
    where: Where = None,
    factors: Factors = 2,
    as_json: AsJson = False,
) -> None:
    """The certificates of groups, in parallel; finished files are kept, so that a second run continues the first."""
    with refusals():
        directory.mkdir(parents=True, exist_ok=True)
        with err.status("listing the groups"):
            groups = group_list(max_order)
        err.print(escape(groups.description))
        outcomes: list[Outcome] = []

        def stopped() -> str:
            return f"stopped after {len(outcomes)} of {len(groups.names)} groups; the same command continues"

        with workers(jobs, stopped, where) as executor, progress_bar() as bar:
            task = bar.add_task("certifying", total=len(groups.names))
            for outcome in sweep(groups.names, directory, executor, factors):
                outcomes.append(outcome)
                bar.update(task, advance=1, description=escape(outcome.name))
                if outcome.error is not None:
                    bar.console.print(f"[red]failed[/red]: {escape(outcome.name)}: {escape(outcome.error)}")
    done = [outcome for outcome in outcomes if outcome.error is None]
    totals = {
        "certified": len(done),
        "kept": sum(outcome.kept for outcome in done),
        "strict": sum(outcome.row["condition"] == "strict" for outcome in done),
        "exact": sum(outcome.row["grade"] == "exact" for outcome in done),
        "failed": {outcome.name: outcome.error for outcome in outcomes if outcome.error is not None},
        "summary": str(directory / "summary.csv"),
    }
    if as_json:
        typer.echo(json.dumps(totals, indent=2))
    else:
        out.print(
            f"{totals['certified']} groups certified and checked by the kernel, {totals['kept']} of them in earlier "
            f"files; {totals['strict']} satisfy the strict condition, {totals['exact']} are exact",
            soft_wrap=True,
        )
    with refusals():
        write_summary(groups.names, done, directory / "summary.csv")
    if not as_json:
        out.print(escape(f"summary in {totals['summary']}"), soft_wrap=True)
    if len(done) < len(outcomes):
        raise typer.Exit(1)
