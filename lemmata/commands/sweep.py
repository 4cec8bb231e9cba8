"""The command `lemmata sweep`: a certificate for every group up to an order, in parallel and resumable."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from certificates.groups.sweep import Outcome, sweep, write_summary
from lemmata.commands.console import err, out, refusals
from lemmata.commands.options import Factors
from numerics.groups.lists import group_list
from numerics.runs.processes import process_pool

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(name="sweep", help="Certify all groups up to an order: one file per group, and summary.csv.")
def sweep_command(
    max_order: Annotated[int, typer.Option(metavar="N", min=2, help="largest order")],
    directory: Annotated[Path, typer.Option("--out", metavar="DIR", help="folder for the certificates")],
    jobs: Annotated[int, typer.Option(min=1, help="processes")] = os.cpu_count() or 1,
    factors: Factors = 2,
) -> None:
    """The certificates of groups, in parallel; finished files are kept, so that a second run continues the first."""
    with refusals():
        directory.mkdir(parents=True, exist_ok=True)
        with err.status("listing the groups"):
            groups = group_list(max_order)
        err.print(escape(groups.description))
        executor = process_pool(jobs)
        outcomes: list[Outcome] = []
        try:
            with _progress() as bar:
                task = bar.add_task("certifying", total=len(groups.names))
                for outcome in sweep(groups.names, directory, executor, factors):
                    outcomes.append(outcome)
                    bar.update(task, advance=1, description=escape(outcome.name))
                    if outcome.error is not None:
                        bar.console.print(f"[red]failed[/red]: {escape(outcome.name)}: {escape(outcome.error)}")
        except KeyboardInterrupt as interrupt:
            err.print(f"stopped after {len(outcomes)} of {len(groups.names)} groups; the same command continues")
            raise typer.Exit(130) from interrupt
        finally:
            executor.shutdown(wait=True, cancel_futures=True)
        done = [outcome for outcome in outcomes if outcome.error is None]
        write_summary(groups.names, done, directory / "summary.csv")
    kept = sum(outcome.kept for outcome in done)
    out.print(
        f"{len(done)} groups certified and checked by the kernel, {kept} of them in earlier files; "
        f"{sum(outcome.row['condition'] == 'strict' for outcome in done)} satisfy the strict condition, "
        f"{sum(outcome.row['grade'] == 'exact' for outcome in done)} are exact",
        soft_wrap=True,
    )
    out.print(escape(f"summary in {directory / 'summary.csv'}"), soft_wrap=True)
    if len(done) < len(outcomes):
        raise typer.Exit(1)


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description:>14}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=err
    )
