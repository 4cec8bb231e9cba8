"""The command `lemmata circuit`: compile a Boolean circuit into a ReLU network, verify it, and bound its margin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from certificates.margins.all_layer import MarginBound, circuit_margin_bound
from certificates.margins.attack import Flip, circuit_target, smallest_flip
from constructions.circuits.boolean import BooleanCircuit, from_truth_table, layered, operation_counts
from constructions.circuits.relu import QUARTERS, THIRDS, CircuitNetwork, Verification, circuit_network, verify
from constructions.circuits.text import parse_circuit
from lemmata.commands.console import err, out, refusals

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
            bound = circuit_margin_bound(network) if corrected else None
        with err.status("searching for a flip"):
            flip = None if word is None else smallest_flip(circuit_target(network, word))
    if as_json:
        typer.echo(json.dumps(_document(network, verification, bound, attack, flip), indent=2))
    else:
        _print(network, verification, bound, attack, flip)
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


def _document(
    network: CircuitNetwork, verification: Verification, bound: MarginBound | None, word: str | None, flip: Flip | None
) -> dict[str, Any]:
    return {
        "circuit": {
            "inputs": network.circuit.inputs,
            "depth": network.circuit.depth,
            "width": network.circuit.width,
            "size": network.circuit.size,
        },
        "network": {
            "corrections": network.corrections,
            "relu_layers": network.depth,
            "width": network.width,
            "parameters": sum(a.size for layer in network.affine_layers() for a in layer.arrays()),
            "one_norm": str(network.one_norm),
        },
        "layers": _layers(network),
        "margin": None
        if bound is None
        else {"certified": float(bound.value), "exact": str(bound.value), "binding": bound.binding},
        "verification": {
            "inputs": verification.inputs,
            "all_inputs": verification.exhaustive,
            "layers": verification.layers,
            "fault": verification.fault,
        },
        "attack": None if word is None else {"input": word, "flip": None if flip is None else flip.document()},
    }


def _layers(network: CircuitNetwork) -> list[dict[str, Any]]:
    """For each layer of the circuit: its gates, and the 1-norm and largest operator norm of its steps."""
    each = len(network.steps) // len(network.circuit.layers)
    rows = []
    for number, gates in enumerate(network.circuit.layers):
        steps = network.steps[each * number : each * (number + 1)]
        norms = [norm for step in steps for norm in step.operator_norms]
        rows.append(
            {
                "layer": number + 1,
                "gates": {name: count for name, count in operation_counts([gates]).items() if count},
                "one_norm": int(sum(step.one_norm for step in steps)),
                "operator_norm": max(norms),
            }
        )
    return rows


def _print(
    network: CircuitNetwork, verification: Verification, bound: MarginBound | None, word: str | None, flip: Flip | None
) -> None:
    circuit = network.circuit
    out.print(
        f"Circuit of {circuit.inputs} inputs, depth {circuit.depth}, width {circuit.width}, size {circuit.size} "
        "(inputs and ID gates count)"
    )
    table = Table("layer", "gates", "1-norm", "operator norm", box=None, pad_edge=False)
    for row in _layers(network):
        gates = ", ".join(f"{count} {name}" for name, count in row["gates"].items())
        table.add_row(str(row["layer"]), gates, str(row["one_norm"]), f"{row['operator_norm']:.4g}")
    out.print(table)
    low, high = network.thresholds
    kind = "naive" if bound is None else f"rounded at {low} and {high} after every ReLU layer"
    out.print(
        f"Network: {kind}; {network.depth} ReLU layers of up to {network.width} coordinates, 1-norm {network.one_norm}",
        soft_wrap=True,
    )
    if bound is None:
        out.print(
            "Margin: nothing certified for the naive network; --corrected certifies a bound that no depth enters.",
            soft_wrap=True,
        )
    else:
        out.print(
            f"Margin: at least {float(bound.value):.6g} on every input: no change of all weights together of smaller "
            f"2-norm flips an answer (theorem D.6; smallest term: {escape(bound.binding)})",
            soft_wrap=True,
        )
    if word is not None:
        found = "no change of the weights that flips the answer was found"
        if flip is not None:
            found = f"at most {flip.norm:.6g}: a change of the weights of this 2-norm flips the answer, checked exactly"
        out.print(f"Margin at {word}: {found}", soft_wrap=True)
    which = f"all {verification.inputs}" if verification.exhaustive else f"{verification.inputs} random"
    if verification.fault is None:
        text = (
            f"the output is 1 or -1 where the circuit gives 1 or 0, and {verification.layers - 1} hidden layers hold "
            f"its gates, on {which} inputs"
        )
        out.print(f"[green]verified[/green]: {text}", soft_wrap=True)
    else:
        out.print(f"[red]not verified[/red]: {escape(verification.fault)}", soft_wrap=True)
