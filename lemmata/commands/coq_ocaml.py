"""`lemmata coq --ocaml`: documents decided by the checker that Coq extracts to OCaml."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table as Grid

from lemmata.certificates.coq.compiler import default_build
from lemmata.certificates.coq.extracted import Decision, decide, extracted_checker
from lemmata.certificates.coq.redecision import committed_keys, decision_totals, redecide
from lemmata.certificates.coq.source import coq_terms
from lemmata.certificates.operations.document import load
from lemmata.commands.console import err, out
from lemmata.commands.workers import counted_items
from lemmata.reports.tables import print_table

__all__ = ["decide_committed", "decide_file"]


def decide_file(file: Path, build: Path | None, time_limit: float | None, as_json: bool) -> None:
    """Print what the program says about a document, and the claim as it has read it; exit 1 when it refuses.

    Raises:
        ValueError: for a file that is no document, and where a program is not installed or runs out of time.
        CoqRefusalError: when Coq does not accept the theory, or OCaml the program.
        OSError: for what cannot be read or written.
    """
    document = load(file)
    folder = default_build() if build is None else build
    decision = decide(_compiled(folder / "ocaml", folder), coq_terms(document), time_limit)
    if as_json:
        typer.echo(json.dumps(_summary(decision), indent=2))
    else:
        said = "[green]accepted[/green]" if decision.accepted else "[red]refused[/red]"
        out.print(f"{said} by the checker of Coq, extracted to OCaml ({decision.processor_seconds:.2f} s)")
        out.print("what it has read, in the words of certificates/coq/Statement.v:")
        out.print(escape(f"T := {decision.table}"), soft_wrap=True)
        out.print(escape(decision.statement), soft_wrap=True)
    if not decision.accepted:
        raise typer.Exit(1)


def _summary(decision: Decision) -> dict[str, Any]:
    return {
        "accepted": decision.accepted,
        "table": decision.table,
        "statement": decision.statement,
        "processor_seconds": round(decision.processor_seconds, 3),
    }


def decide_committed(directory: Path, jobs: int, as_json: bool) -> None:
    """Print the totals of all committed documents; what is done is kept, so that a second call continues.

    Raises:
        ValueError: where a program is not installed.
        CoqRefusalError: when Coq does not accept the theory, or OCaml the program.
        OSError: for a folder that cannot be written.
        typer.Exit: with status 1 when a document is not accepted.
    """
    program = _compiled(directory / "ocaml", directory)
    results = counted_items(
        jobs,
        "deciding",
        "batches of documents",
        lambda executor, begin, advance: redecide(
            program, committed_keys(), directory / "decided", executor, advance, begin
        ),
    )
    totals = {name: decision_totals(some) for name, some in results.items()}
    if as_json:
        typer.echo(json.dumps(totals, indent=2))
        return
    words = ("documents", "ocaml", "python", "ratio", "slowest")
    grid = Grid("section", *words)
    for name, one in totals.items():
        grid.add_row(escape(name), *(f"{one[word]:,}" for word in words))
    print_table(out, grid)
    count = sum(map(len, results.values()))
    out.print(f"{count} documents accepted by the checker of Coq, extracted to OCaml, and by the kernel in Python")


def _compiled(folder: Path, build: Path) -> Path:
    with err.status("compiling the checker") as status:
        return extracted_checker(folder, build, lambda name, _: status.update(f"compiling the theory: {name} is done"))
