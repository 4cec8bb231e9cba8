"""The command `lemmata sparse`: a sparse function as an attention layer and a perceptron, with its proof and norms."""

from __future__ import annotations

import json
from typing import Annotated, Any, cast

import typer

from lemmata._sparse import compile_sparse, near_orthogonal_positions
from lemmata.certificates.sparse.network import SparseNetworkError, certify_sparse
from lemmata.commands.console import err, out, refusals
from lemmata.reports.sparse import network_summary, print_network

__all__ = ["app"]

app = typer.Typer(add_completion=False)

HELP = (
    "Compile a function of a few of many symbols into an attention layer and a perceptron; prove it right. "
    "VALUES are its values at 0..00, 0..01, ..., as digits or with commas between them; of bits also by the number of "
    "ones."
)


@app.command(help=HELP)
def sparse(
    length: Annotated[int, typer.Argument(metavar="T", help="the length of the strings")],
    indices: Annotated[str, typer.Argument(metavar="POSITIONS", help="which are read, from 0, such as 2,5,7")],
    values: Annotated[str, typer.Argument(metavar="VALUES", help="such as 01101001, or 0,1/2,3")],
    inputs: Annotated[str, typer.Option("--map", help="deterministic, trainable or bag")] = "deterministic",
    symbols: Annotated[int, typer.Option(metavar="M", help="size of the alphabet 0, ..., M - 1")] = 2,
    coherence: Annotated[
        str, typer.Option(metavar="Q", help="largest inner product of the positions, such as 1/4; 0: orthonormal")
    ] = "0",
    gamma: Annotated[
        str | None, typer.Option(metavar="Q", help="how far apart the nodes are taken to be; as far as they are")
    ] = None,
    key: Annotated[str, typer.Option(help="dual, or printed for comparison")] = "dual",
    as_json: Annotated[bool, typer.Option("--json", help="print the result as JSON instead of a report")] = False,
) -> None:
    """The network and its proof; exit 1 when it is not proved to be the function, 2 when the input is refused."""
    with refusals():
        given = None if inputs == "trainable" else near_orthogonal_positions(length, coherence)
        network = compile_sparse(
            length,
            _integers(indices),
            values.split(",") if "," in values else values,
            alphabet=symbols,
            inputs=cast(Any, inputs),
            positions=given,
            gamma=gamma,
            key=cast(Any, key),
        )
        fault, certificate = None, None
        with err.status("proving the network right on all strings"):
            try:
                certificate = certify_sparse(network)
            except SparseNetworkError as error:
                fault = str(error)
    if as_json:
        typer.echo(json.dumps(network_summary(network, certificate, fault), indent=2))
    else:
        print_network(out, network, certificate, fault)
    if fault is not None:
        raise typer.Exit(1)


def _integers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"The positions are integers with commas between them, such as 2,5,7, not {text!r}.") from None
