"""The command line: ``lemmata certify``, ``lemmata parity``, ``lemmata show``."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from certificates.certificate import MarginCertificate
from certificates.names import ACCEPTED_NAMES, certify_named
from certificates.parity import certify_parity
from numerics.cyclotomic import Cyclotomic, radical_string
from theorems.ledger import load_ledger

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Theorems about neural sequence models and feature learning, made executable.",
)
out = Console()
err = Console(stderr=True)


def _number(value: Cyclotomic) -> str:
    """Return an exact real number as a sum of radicals where it is one, and its decimal value."""
    digits = f"{float(value):.12g}"
    radicals = radical_string(value)
    return digits if radicals is None or radicals == digits else f"{radicals} = {digits}"


def _print_certificate(certificate: MarginCertificate) -> None:
    verdict = certificate.verdict
    out.print(f"[bold]{certificate.name}[/bold]: maximum margin in the norm L_{{2,{certificate.network.nu}}}")
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_row("gamma*", _number(certificate.gamma))
    table.add_row("gamma*^2", _number(certificate.gamma_squared))
    table.add_row("network", f"{certificate.network.width} neurons, {certificate.network.arithmetic} arithmetic")
    table.add_row("smallest margin of the network", f"{float(verdict.primal):.15g}")
    table.add_row("bound on every network", f"{float(verdict.dual):.15g}")
    gap = "0 exactly" if verdict.rounding == 0 and verdict.gap == 0 else f"{float(verdict.gap):.2g}"
    if verdict.rounding:
        gap += f" (rounding error at most {verdict.rounding:.2g})"
    table.add_row("gap", gap)
    out.print(table)
    if certificate.game is not None:
        _print_game(certificate)
    if verdict.accepted:
        out.print("[green]accepted[/green]: the network and the class weights certify each other")
    for violation in verdict.violations:
        out.print(f"[red]rejected[/red]: {violation}")


def _print_game(certificate: MarginCertificate) -> None:
    assert certificate.game is not None
    game = certificate.game.game
    masses = Table(title="masses of the irreducible representations", title_justify="left")
    for heading in ("representation", "degree", "mass"):
        masses.add_column(heading)
    for R, mass in zip(game.rows, certificate.game.eps, strict=True):
        masses.add_row(game.table.irrep_names[R], str(game.table.degrees[R]), _number(mass))
    weights = Table(title="weights of the classes of wrong labels", title_justify="left")
    for heading in ("class", "size", "total weight"):
        weights.add_column(heading)
    for C, weight in zip(game.columns, certificate.game.t, strict=True):
        weights.add_row(game.table.class_names[C], str(game.table.class_sizes[C]), _number(weight))
    out.print(masses, weights)


@app.command(help=f"Certify the maximum margin of group composition. Groups: {ACCEPTED_NAMES}.")
def certify(group: Annotated[str, typer.Argument(help="name of the group, for example Z7 or S4")]) -> None:
    """Print the certificate of a named group; exit 1 when it is rejected, 2 when the name is not accepted."""
    try:
        certificate = certify_named(group)
    except ValueError as error:
        err.print(f"[red]error[/red]: {error}")
        raise typer.Exit(2) from error
    _print_certificate(certificate)
    if not certificate.accepted:
        raise typer.Exit(1)


@app.command(help="Certify the maximum margin of the parity of K of N bits, with the activation x^K.")
def parity(
    n: Annotated[int, typer.Argument(metavar="N", help="number of bits")],
    k: Annotated[int, typer.Argument(metavar="K", help="number of relevant bits, 1 <= K <= N")],
) -> None:
    """Print the certificate of (n, k)-sparse parity; exit 1 when it is rejected, 2 for sizes out of range."""
    try:
        if n > 16:
            raise ValueError(f"The network is evaluated on all 2^N inputs; N = {n} exceeds 16.")
        certificate = certify_parity(n, k, exact=n <= 9)
    except ValueError as error:
        err.print(f"[red]error[/red]: {error}")
        raise typer.Exit(2) from error
    _print_certificate(certificate)
    if not certificate.accepted:
        raise typer.Exit(1)


@app.command(help="Show what the ledger says of a statement, for example feature-emergence:theorem-7.7.")
def show(statement: Annotated[str, typer.Argument(help="id of the statement, or a part of it")]) -> None:
    """Print the ledger entries whose id contains the given text; exit 2 when there is none."""
    found = [
        (chapter, entry) for chapter in load_ledger().chapters for entry in chapter.statements if statement in entry.id
    ]
    exact = [pair for pair in found if pair[1].id == statement]
    if not found:
        err.print(f"[red]error[/red]: no statement of the ledger has an id that contains {statement!r}.")
        raise typer.Exit(2)
    for chapter, entry in exact or found:
        out.print(f"[bold]{entry.id}[/bold]  {entry.title}")
        out.print(f"  {entry.kind}, {entry.source} of: {chapter.document}", highlight=False)
        out.print(f"  verdict: [bold]{entry.verdict}[/bold]" + (f" ({entry.reason})" if entry.reason else ""))
        for label, text in (
            ("erratum", entry.erratum),
            ("printed", entry.printed),
            ("corrected", entry.corrected),
        ):
            if text:
                out.print(f"  {label}: {text}", highlight=False, markup=False)
