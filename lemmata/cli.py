"""The command line: ``lemmata certify``, ``lemmata parity``, ``lemmata show``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from certificates.certificate import MarginCertificate
from certificates.game import GameSolution
from certificates.names import ACCEPTED_NAMES, certify_named
from certificates.parity import certify_parity
from numerics.cyclotomic import Cyclotomic, as_radicals, radical_string
from theorems.ledger import load_ledger

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Theorems about neural sequence models and feature learning, made executable.",
)
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

LARGEST_ENUMERATION = 16  # parity networks are evaluated on all 2^N inputs
LARGEST_EXACT_PARITY = 9  # and up to this N in exact arithmetic
LONG_TABLE = 12  # from this many rows on, equal neighbours share a line

Line = tuple[str, int, Cyclotomic]


def _exact(value: Cyclotomic) -> str:
    """Return an exact real number as a sum of square roots, or a dash where it is none."""
    return "-" if as_radicals(value) is None else radical_string(value)


def _decimal(value: Cyclotomic) -> str:
    return f"{float(value):.12g}"


def _certified(find: Callable[[], MarginCertificate], what: str) -> MarginCertificate:
    """Return the certificate; on input that is refused print why and exit with code 2."""
    try:
        with err.status(f"certifying {escape(what)}"):
            return find()
    except ValueError as error:
        err.print(f"[red]error[/red]: {escape(str(error))}")
        raise typer.Exit(2) from error


def _print_certificate(certificate: MarginCertificate, task: str) -> None:
    """Print the certificate, and exit with code 1 when it is rejected."""
    verdict, network = certificate.verdict, certificate.network
    out.print(f"[bold]{task}[/bold]")
    out.print(
        f"networks f(x) = sum_i (u_i . x)^{network.degree} w_i of any width; "
        f"normalised margin = margin / ||theta||^{network.nu} in the norm L_{{2,{network.nu}}}\n"
    )
    numbers = _table("", "exact", "decimal")
    numbers.add_row("maximum gamma*", _exact(certificate.gamma), _decimal(certificate.gamma))
    numbers.add_row("gamma*^2", _exact(certificate.gamma_squared), _decimal(certificate.gamma_squared))
    out.print(numbers)

    arithmetic = "exact" if network.arithmetic == "exact" else "floating-point"
    rounding = f"rounding error at most {verdict.rounding:.2g}" if verdict.rounding else ""
    gap = "0 exactly" if verdict.gap == 0 and not verdict.rounding else f"{float(verdict.gap):.2g}"
    proof = _table("", "margin", "evidence")
    proof.add_row(
        "attained",
        f"{float(verdict.primal):.15g}",
        f"network of {network.width} neurons, every input, {arithmetic}",
    )
    proof.add_row("bounded", f"{float(verdict.dual):.15g}", "weights of wrong labels, every network")
    proof.add_row("gap", gap, rounding)
    out.print(proof)
    if certificate.game is not None:
        _print_game(certificate.game)
    if not verdict.accepted:
        for violation in verdict.violations:
            out.print(f"[red]rejected[/red]: {escape(violation)}")
        raise typer.Exit(1)
    out.print("[green]accepted[/green]: the network attains the bound, so both are optimal")


def _print_game(solution: GameSolution) -> None:
    """Print the masses of the explicit network and the weights that bound all networks."""
    table, rows, columns = solution.game.table, solution.game.rows, solution.game.columns

    def with_conjugate(R: int) -> str:
        real = all(value.is_real() for value in table.values[R])
        return table.irrep_names[R] + ("" if real else " and conjugate")

    def with_inverses(C: int) -> tuple[str, int]:
        both = sorted({C, table.inverses[C]})
        return " and ".join(table.class_names[D] for D in both), sum(table.class_sizes[D] for D in both)

    out.print("The network: how its mass is shared by the irreducible representations")
    masses = _table("representation", "degree", "mass", "decimal")
    _add_lines(masses, [(with_conjugate(R), table.degrees[R], e) for R, e in zip(rows, solution.eps, strict=True)])
    out.print(masses)
    out.print("The bound: how the wrong labels c of (a, b) are weighted, by the conjugacy class of a b c^-1")
    weights = _table("class of", "elements", "total weight", "decimal")
    _add_lines(weights, [(*with_inverses(C), t) for C, t in zip(columns, solution.t, strict=True)])
    out.print(weights)


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        numeric = heading in ("degree", "elements")
        table.add_column(heading, justify="right" if numeric else "left", no_wrap=heading == "decimal")
    return table


def _add_lines(table: Table, lines: Iterable[Line]) -> None:
    """Add a row per line; in long tables neighbours with equal numbers become one row that says how many they are."""
    lines = list(lines)
    long = len(lines) >= LONG_TABLE
    for _, same in groupby(enumerate(lines), key=lambda item: item[1][1:] if long else item[0]):
        names, sizes, values = zip(*(line for _, line in same), strict=True)
        name = names[0] if len(names) == 1 else f"{names[0]}, .., {names[-1]} ({len(names)} rows, each)"
        table.add_row(escape(name), str(sizes[0]), _exact(values[0]), _decimal(values[0]))


@app.command(help=f"Certify the maximum margin of group composition. Groups: {ACCEPTED_NAMES}.")
def certify(group: Annotated[str, typer.Argument(help="name of the group, for example Z7 or S4")]) -> None:
    """Print the certificate of a named group; exit 1 when it is rejected, 2 when the name is not accepted."""
    certificate = _certified(lambda: certify_named(group), group)
    order = certificate.weights.task.label_count
    _print_certificate(certificate, f"Composition (a, b) -> ab in the group {certificate.name} of {order} elements")


@app.command(help="Certify the maximum margin of the parity of K of N bits, with the activation x^K.")
def parity(
    n: Annotated[int, typer.Argument(metavar="N", help=f"number of bits, at most {LARGEST_ENUMERATION}")],
    k: Annotated[int, typer.Argument(metavar="K", help="number of relevant bits, 1 <= K <= N")],
) -> None:
    """Print the certificate of (n, k)-sparse parity; exit 1 when it is rejected, 2 for sizes out of range."""

    def find() -> MarginCertificate:
        if n > LARGEST_ENUMERATION:
            raise ValueError(f"The network is evaluated on all 2^N inputs; N = {n} exceeds {LARGEST_ENUMERATION}.")
        return certify_parity(n, k, exact=n <= LARGEST_EXACT_PARITY)

    certificate = _certified(find, f"parity of {k} of {n} bits")
    _print_certificate(certificate, f"Parity of the first {k} of {n} bits, x in {{-1, 1}}^{n}")


@app.command(help="Show what the ledger says of a statement, for example feature-emergence:theorem-7.7.")
def show(statement: Annotated[str, typer.Argument(help="id of the statement, or a part of it")]) -> None:
    """Print the ledger entries whose id contains the given text; exit 2 when there is none."""
    found = [
        (chapter, entry) for chapter in load_ledger().chapters for entry in chapter.statements if statement in entry.id
    ]
    exact = [pair for pair in found if pair[1].id == statement]
    if not found:
        err.print(
            f"[red]error[/red]: no statement of the ledger has an id that contains {escape(repr(statement))}. "
            "Ids look like feature-emergence:theorem-7.7; a part such as theorem-7 lists all that contain it."
        )
        raise typer.Exit(2)
    for chapter, entry in exact or found:
        out.print(f"[bold]{entry.id}[/bold]  {escape(entry.title)}")
        fields = (
            ("kind", entry.kind),
            ("document", chapter.document),
            ("text", entry.source),
            ("verdict", entry.verdict),
            ("reason", entry.reason),
            ("erratum", entry.erratum),
            ("printed", entry.printed),
            ("corrected", entry.corrected),
        )
        table = Table.grid(padding=(0, 2))
        for label, text in fields:
            if text:
                table.add_row(f"  {label}", escape(text))
        out.print(table)
        out.print()
