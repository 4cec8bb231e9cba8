"""The command `lemmata circuit`: compile a Boolean circuit into a ReLU network, verify it, and bound its margin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from lemmata.certificates.margins.attack import circuit_target, smallest_flip
from lemmata.certificates.margins.circuit_direct import direct_circuit_bound
from lemmata.commands.console import err, out, refusals
from lemmata.constructions.circuits.boolean import BooleanCircuit, from_truth_table, layered
from lemmata.constructions.circuits.relu import QUARTERS, THIRDS, circuit_network
from lemmata.constructions.circuits.text import parse_circuit
from lemmata.constructions.circuits.verification import verify
from lemmata.reports.circuits import network_summary, print_network

__all__ = ["app"]

app = typer.Typer(add_completion=False)

HELP = (
    "Compile a Boolean circuit into a ReLU network; verify every layer, and bound the all-layer margin. FILE has lines "
    "'inputs x1, x2', 'g = AND(x1, NOT(x2))', 'output g'."
)


@app.command(help=HELP)
def circuit(
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="text of the circuit")] = None,
    truth_table: Annotated[
        str | None, typer.Option(metavar="BITS", help="instead of FILE: 2^m values, at x = 0..00, 0..01, 0..10, ...")
    ] = None,
    corrected: Annotated[
        bool, typer.Option("--corrected/--naive", help="with rounding after every step, or not")
    ] = True,
    quarters: Annotated[bool, typer.Option("--quarters", help="round at 1/4 and 3/4 instead of 1/3 and 2/3")] = False,
    attack: Annotated[
        str | None, typer.Option(metavar="WORD", help="search for a small flip at this input, such as 011")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the result as JSON instead of a report")] = False,
) -> None:
    """The network of a circuit; exit 1 when it differs from the circuit, 2 when the input is refused."""
    with refusals():
        compiled = layered(_read(file, truth_table))
        thresholds = QUARTERS if quarters else THIRDS
        network = circuit_network(compiled, "steps" if corrected else "none", thresholds)
        word = None if attack is None else _word(attack, compiled.inputs)
        with err.status("comparing the network with the circuit"):
            verification = verify(network)
        with err.status("bounding the margin"):
            bound = direct_circuit_bound(network) if corrected else None
        with err.status("searching for a flip"):
            flip = None if word is None else smallest_flip(circuit_target(network, word))
    if as_json:
        typer.echo(json.dumps(network_summary(network, verification, bound, attack, flip), indent=2))
    else:
        print_network(out, network, verification, bound, attack, flip)
    if verification.fault is not None:
        raise typer.Exit(1)


def _read(file: Path | None, table: str | None) -> BooleanCircuit:
    if (file is None) == (table is None):
        raise ValueError("Give either a FILE with a circuit or --truth-table BITS.")
    if table is not None:
        return from_truth_table(table)
    assert file is not None
    try:
        return parse_circuit(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise ValueError(f"{file} is no text file in UTF-8.") from None


def _word(word: str, inputs: int) -> np.ndarray:
    if len(word) != inputs or set(word) - {"0", "1"}:
        raise ValueError(f"--attack takes a word of {inputs} bits, one for each input, not {word!r}.")
    return np.array([int(bit) for bit in word])
