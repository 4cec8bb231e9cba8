"""The command `lemmata frontier`: the width and the samples with which one gradient step finds a sparse parity."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from flint import fmpq

from lemmata.commands.console import deliver_picture, err, out, refusals
from lemmata.numerics.exact.numbers import exact_number
from lemmata.numerics.exact.rationals import as_fmpq
from lemmata.reports.frontier import (
    FrontierRow,
    draw_frontier,
    frontier_rows,
    print_frontier,
    shown_sparsities,
    with_runs,
)
from lemmata.reports.pictures import check_picture

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(help="Show with which width and how many samples one gradient step finds the parity of K of N inputs.")
def frontier(
    n: Annotated[int, typer.Argument(metavar="N", help="number of inputs")],
    k: Annotated[int, typer.Argument(metavar="K", help="number of relevant inputs, below N")],
    sparsities: Annotated[
        list[int] | None, typer.Option("--sparsity", metavar="S", help="ones of a neuron; may be repeated")
    ] = None,
    width: Annotated[int | None, typer.Option(min=2, help="what this width is enough for")] = None,
    samples: Annotated[int | None, typer.Option(min=1, help="what so many samples are enough for")] = None,
    delta: Annotated[str, typer.Option(help="probability of failure")] = "0.01",
    epsilon: Annotated[str, typer.Option(help="error in the theorems, for the constants of their proofs")] = "0.1",
    copies: Annotated[int, typer.Option(min=1, help="good neurons at every bias")] = 1,
    runs: Annotated[
        int, typer.Option(min=0, max=1000, help="so many runs: the samples that were enough in all of them")
    ] = 0,
    picture: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="draw the frontier, e.g. a PNG")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON instead of a report")] = False,
) -> None:
    """The table of sparsities, and the picture; exit 2 for input that is refused."""
    with refusals():
        check_picture(picture)
        failure, accuracy = _number("--delta", delta), _number("--epsilon", epsilon)
        with err.status("counting neurons") as status:
            chosen = sorted(set(sparsities)) if sparsities else shown_sparsities(n, k)
            rows: list[FrontierRow] = frontier_rows(n, k, chosen, failure, accuracy, copies)
            if runs:
                rows = with_runs(rows, runs, lambda s: status.update(f"running s = {s}"))
    if as_json:
        typer.echo(json.dumps([{**row.as_dict(), **row.risks(copies, width, samples)} for row in rows], indent=2))
    else:
        print_frontier(out, n, k, rows, failure, accuracy, copies, width, samples, runs)
    deliver_picture(picture, lambda path: draw_frontier(n, k, rows, path), as_json)


def _number(name: str, text: str) -> fmpq:
    """A number between 0 and 1, exactly as it is written."""
    try:
        value = as_fmpq(exact_number(text))
    except ValueError:
        value = None
    if value is None or not 0 < value < 1:
        raise ValueError(f"{name} needs a number between 0 and 1, such as 0.01 or 1/3, not {text!r}.")
    return value
