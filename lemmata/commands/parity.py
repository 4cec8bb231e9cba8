"""The command `lemmata parity`: the maximum margin of a sparse parity."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from lemmata.certificates.saddle.parity import certify_parity
from lemmata.commands.console import out, refusals, working
from lemmata.commands.options import AsJson
from lemmata.reports.parity import parity_summary, print_parity

__all__ = ["LARGEST_ENUMERATION", "LARGEST_EXACT_PARITY", "app"]

app = typer.Typer(add_completion=False)

LARGEST_ENUMERATION = 16  # parity networks are evaluated on all 2^N inputs
LARGEST_EXACT_PARITY = 9  # and up to this N in exact arithmetic


@app.command(help="Certify the maximum margin of the parity of K of N bits, with the activation x^K.")
def parity(
    n: Annotated[int, typer.Argument(metavar="N", help=f"number of bits, at most {LARGEST_ENUMERATION}")],
    k: Annotated[int, typer.Argument(metavar="K", help="number of relevant bits, 1 <= K <= N")],
    as_json: AsJson = False,
) -> None:
    """The certificate of (n, k)-sparse parity; exit 1 when it is rejected, 2 for sizes out of range."""
    with refusals():
        if n > LARGEST_ENUMERATION:
            raise ValueError(f"The network is evaluated on all 2^N inputs; N = {n} exceeds {LARGEST_ENUMERATION}.")
        with working(f"evaluating the network of the parity of {k} of {n} bits on all inputs"):
            certificate = certify_parity(n, k, exact=n <= LARGEST_EXACT_PARITY)
    if as_json:
        typer.echo(json.dumps(parity_summary(certificate, n, k), indent=2))
    else:
        print_parity(out, certificate, f"Parity of the first {k} of {n} bits, x in {{-1, 1}}^{n}")
    if not certificate.accepted:
        raise typer.Exit(1)
