"""The commands `lemmata experiment list`, `run`, `show` and `again`: experiments of the documents, repeated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from lemmata._ledger import results
from lemmata.commands.console import err, out, refusals
from lemmata.commands.options import DEFAULT_JOBS, AsJson, Jobs, Where
from lemmata.commands.workers import progress_bar, workers
from lemmata.numerics.runs.items import Done, FailedItemsError
from lemmata.reports.tables import print_table
from lemmata.theorems.experiments import (
    SCALES,
    Experiment,
    Summary,
    committed,
    find_experiment,
    is_current,
    load_experiments,
    place_of,
    repeat,
    run_experiment,
    write_summary,
)
from lemmata.theorems.manifests import write_manifest

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Repeat experiments of the documents, and show what they gave."
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="name of the experiment; lemmata experiment list has them")]
COLOURS = {"reproduced": "green", "partly": "yellow", "not reproduced": "red"}


@app.command(name="list", help="List the experiments, with the verdicts of their committed results.")
def list_command(as_json: AsJson = False) -> None:
    """The table of the experiments."""
    rows = []
    for name, (chapter, experiment) in load_experiments().items():
        summary = committed(name)
        verdicts = dict.fromkeys(experiment.statements, "not run yet")
        verdicts.update({} if summary is None else summary["verdicts"])
        rows.append({"name": name, "chapter": chapter, "title": experiment.title, "verdicts": verdicts})
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    table = Table("experiment", "about", "result", box=None, pad_edge=False)
    for row in rows:
        for position, (statement, verdict) in enumerate(row["verdicts"].items()):
            table.add_row("" if position else row["name"], statement, _coloured(verdict))
    print_table(out, table)


@app.command(name="run", help="Run an experiment. With --out it keeps what is done, and a second run continues.")
def run_command(
    name: Name,
    scale: Annotated[str, typer.Option(metavar="|".join(SCALES), help="seconds, or minutes")] = "quick",
    directory: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="folder for the items and for NAME.json, the summary")
    ] = None,
    jobs: Jobs = DEFAULT_JOBS,
    where: Where = None,
    as_json: AsJson = False,
) -> None:
    """The summary of a run of all items; exit 1 when an item failed, 2 when the input is refused."""
    with refusals():
        _, experiment = find_experiment(name)
        if scale not in SCALES:
            raise ValueError(f"There is no scale {scale!r}: the scales are {' and '.join(SCALES)}.")
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
        summary = _run(experiment, scale, directory, jobs, where)
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
    else:
        _print(summary)
    if directory is not None:
        with refusals():
            write_summary(summary, directory / f"{name}.json")
            write_manifest(summary, directory / f"{name}.json")
        if not as_json:
            out.print(escape(f"summary in {directory / f'{name}.json'}"), soft_wrap=True)


def _run(experiment: Experiment, scale: str, directory: Path | None, jobs: int, where: str | None = None) -> Summary:
    total = len(experiment.scales[scale])
    folder = None if directory is None else directory / f"{experiment.name}-{scale}"
    finished = 0

    def stopped() -> str:
        again = "; the same command continues" if folder is not None else ""
        return f"stopped after {finished} of {total} items{again}"

    try:
        with workers(min(jobs, total), stopped, where) as executor, progress_bar() as bar:
            task = bar.add_task(experiment.name, total=total)

            def report(done: Done) -> None:
                nonlocal finished
                finished += 1
                bar.update(task, advance=1, description=escape(done.key))
                if done.error is not None:
                    bar.console.print(f"[red]failed[/red]: {escape(f'{done.key}: {done.error}')}", soft_wrap=True)

            return run_experiment(experiment, scale, folder, executor, report)
    except FailedItemsError as failure:
        err.print(f"{len(failure.errors)} of {total} items failed; the same command runs these again", soft_wrap=True)
        raise typer.Exit(1) from failure


@app.command(help="Show the committed results of an experiment.")
def show(name: Name, as_json: AsJson = False) -> None:
    """The committed summary; exit 2 when there is no such experiment, or no results of it yet."""
    with refusals():
        summary = results(name)
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
    else:
        _print(summary)


@app.command(help="Repeat slices of committed results with the code of today, and write into these that they came out.")
def again(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="experiments; all without one")] = None,
    stale: Annotated[bool, typer.Option("--stale", help="only those whose code has changed since")] = False,
) -> None:
    """A record in the origin of every summary whose slices come out; exit 1 when those of another do not, 2 when there
    is no such experiment, no results of it, or its code is not committed."""
    missed = []
    with refusals():
        summaries = [results(name) for name in names or load_experiments()]
        for summary in summaries:
            name = summary["experiment"]
            if stale and is_current(summary):
                continue
            try:
                write_summary(repeat(summary), place_of(name))
                out.print(f"{escape(name)}: as committed", soft_wrap=True)
            except AssertionError as difference:
                missed.append(name)
                out.print(f"[red]{escape(name)}[/red]: {escape(str(difference))}", soft_wrap=True)
    if missed:
        err.print(escape(f"slices of {', '.join(missed)} do not come out as committed"), soft_wrap=True)
        raise typer.Exit(1)


def _print(summary: Summary) -> None:
    out.print(escape(f"{summary['title']} ({len(summary['items'])} items, scale {summary['scale']})"), soft_wrap=True)
    for statement, verdict in summary["verdicts"].items():
        out.print(f"{escape(statement)}: {_coloured(verdict)}", soft_wrap=True)
        for criterion in summary["criteria"]:
            if criterion["statement"] == statement:
                mark = "[green]met[/green]    " if criterion["met"] else "[red]not met[/red]"
                out.print(f"  {mark} {escape(criterion['text'])}", soft_wrap=True)
    for name, value in summary["numbers"].items():
        out.print(f"  {escape(name)}: {escape(_number(value))}", soft_wrap=True)
    out.print(f"  command: {escape(summary['command'])}", soft_wrap=True)
    out.print(f"  made by {escape(_made(summary))}", soft_wrap=True)
    if summary["scale"] == "quick":
        out.print(
            "The quick scale tries the experiment out; the thresholds are meant for --scale full.", soft_wrap=True
        )


def _made(summary: Summary) -> str:
    """Version, commit and date of the code that made a summary, and what is known of the code of today."""
    made = summary["origin"]
    again = made.get("again")
    now = "has changed since"
    if is_current({**summary, "origin": {"code": made["code"]}}):
        now = "is that of today"
    elif again is not None:
        now += f"; slices of it came out again on {again['date']}, commit {again['commit'][:12]}"
        now += ", with the code of today" if is_current(summary) else ", but the code of today is another"
    if not is_current(summary):
        now += f"; to repeat slices of it: lemmata experiment again {summary['experiment']}"
    commit = "no commit" if made["commit"] is None else f"commit {made['commit'][:12]}"
    return f"version {made['lemmata']}, {commit}, {made['date']}; its code (fingerprint {made['code']}) {now}"


def _number(value: object) -> str:
    """A number, an interval, or whatever else a summary holds, in one line."""
    if isinstance(value, dict) and value.keys() == {"estimate", "low", "high", "level"}:
        return f"{value['estimate']:.4g} [{value['low']:.4g}, {value['high']:.4g}] at {value['level']:.0%}"
    return f"{value:.4g}" if isinstance(value, float) else json.dumps(value)


def _coloured(verdict: str) -> str:
    colour = COLOURS.get(verdict)
    return verdict if colour is None else f"[{colour}]{verdict}[/{colour}]"
