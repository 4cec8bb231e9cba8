"""The command `lemmata path`: the least regularised loss of a group for one penalty or several."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.markup import escape

from lemmata.certificates.game.margin_game import MarginGame
from lemmata.certificates.game.regularised import penalty_limit, regularisation_path
from lemmata.certificates.groups.certify import certify_group
from lemmata.commands.console import err, out, refusals
from lemmata.commands.options import AsJson, Factors, Group, Limit
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.groups.permutations import DEFAULT_LIMIT
from lemmata.reports.groups import path_summary, print_path

__all__ = ["app"]

app = typer.Typer(add_completion=False)

DEFAULT_PENALTIES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)


@app.command(help="Show the least regularised loss of a group, proved from both sides, for one or more lambda.")
def path(
    group: Group,
    penalties: Annotated[
        list[str] | None, typer.Option("--lambda", metavar="X", help="penalty, such as 1e-4 or 1/3; may be repeated")
    ] = None,
    factors: Factors = 2,
    limit: Limit = DEFAULT_LIMIT,
    as_json: AsJson = False,
) -> None:
    """The regularisation path; exit 2 for a group or a penalty that is refused."""
    with refusals():
        with err.status(f"certifying {escape(group)}"):
            certificate = certify_group(parse_group(group, limit), factors)
            maximum = float(certificate.gamma)
        values = list(DEFAULT_PENALTIES) if penalties is None else [_penalty(text) for text in penalties]
        with err.status(f"minimising the loss of {escape(group)}"):
            optima = list(regularisation_path(certificate.table, values, factors))
        zero = float(penalty_limit(MarginGame(certificate.table, factors)))
    if as_json:
        typer.echo(json.dumps(path_summary(certificate.group.name, optima, maximum, zero), indent=2))
        return
    print_path(out, certificate.group.name, optima, maximum, factors + 1)
    out.print(
        f"maximum margin {maximum:.12g}; zero network optimal from lambda = {zero:.10g} on\n"
        "proved to: how much smaller than printed the least loss might be\n"
        "in use: representations that are proved to carry mass in the optimal network"
    )


def _penalty(text: str) -> float | str:
    """A penalty as regularisation_path takes it: a fraction exactly, anything else as a float."""
    if "/" in text:
        return text
    try:
        return float(text)
    except ValueError as error:
        raise ValueError(f"--lambda needs a positive number such as 1e-4 or 1/3, not {text!r}.") from error
