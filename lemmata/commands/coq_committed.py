"""`lemmata coq --committed`: the theory, and the certificates of the survey of operations, proved once more in Coq."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table as Grid

from lemmata import theorems
from lemmata.certificates.coq.compiler import coq_version, find_coq
from lemmata.certificates.coq.reproof import (
    committed_tables,
    reproof_document,
    reproof_totals,
    reprove,
    reprove_cells,
    whole_theory,
)
from lemmata.commands.console import err, out
from lemmata.commands.workers import counted_items
from lemmata.numerics.runs.files import write_atomically
from lemmata.reports.tables import print_table
from lemmata.theorems.origin import origin

__all__ = ["prove_committed"]


def prove_committed(directory: Path, jobs: int, as_json: bool) -> None:
    """Print the totals of each family, and write reproved.json; what is done is kept, so that a second call continues.

    The theory is compiled anew by every call, into ``directory``.

    Raises:
        ValueError: where Coq is not installed.
        OSError: for a folder that cannot be written.
        CoqRefusalError: when Coq does not accept the theory, or a theorem on a cell.
        typer.Exit: with status 1 when Coq does not accept a certificate.
    """
    find_coq()
    with err.status("compiling the theory") as status:
        compiled = whole_theory(
            directory, lambda name, seconds: status.update(f"compiling the theory: {name} took {seconds:.1f} s")
        )
        status.update("proving the theorems on cells")
        cells = reprove_cells(compiled)
    families = committed_tables()
    everything = [entry for entries in families.values() for entry in entries]
    results = counted_items(
        jobs,
        "proving",
        "runs of Coq",
        lambda executor, begin, advance: reprove(everything, compiled, directory / "entries", executor, advance, begin),
    )
    parts = iter(results)
    proved = {name: [next(parts) for _ in entries] for name, entries in families.items()}
    made = {"command": "lemmata coq --committed DIR", "coq": coq_version()}
    made |= origin(Path(theorems.__file__).parent.parent)
    totals = {name: reproof_totals(some) for name, some in proved.items()}
    if as_json:
        shown = {"families": totals, "cells": cells, "reproved": str(directory / "reproved.json")}
        typer.echo(json.dumps(shown, indent=2))
    else:
        _print_reproof(len(results), totals, cells, directory)
    write_atomically(reproof_document(proved, cells, made), directory / "reproved.json")


def _print_reproof(count: int, totals: dict[str, dict[str, Any]], cells: list[dict[str, Any]], directory: Path) -> None:
    _print_totals(totals)
    for one in cells:
        out.print(escape(f"{one['file']}: {one['theorem']} ({one['coq']} s, {one['bytes']:,} bytes)"), soft_wrap=True)
    out.print(
        f"{count} certificates proved in Coq {coq_version()}, on the axioms of its real numbers alone, each "
        f"within its committed interval; all theorems are in {escape(str(directory / 'reproved.json'))}",
        soft_wrap=True,
    )


def _print_totals(totals: dict[str, dict[str, Any]]) -> None:
    """A line for each family: seconds are those of the processor, in Coq for the checks alone."""
    words = ("tables", "exact", "coq", "slowest", "bytes", "largest")
    grid = Grid("family", *words)
    for name, one in totals.items():
        grid.add_row(escape(name), *(f"{one[word]:,}" for word in words))
    print_table(out, grid)
