"""The report of a Boolean circuit that was compiled into a ReLU network."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lemmata.certificates.margins.attack import Flip
from lemmata.certificates.margins.direct import DirectBound
from lemmata.constructions.circuits.boolean import operation_counts
from lemmata.constructions.circuits.relu import CircuitNetwork
from lemmata.constructions.circuits.verification import Verification
from lemmata.reports.tables import print_table

__all__ = ["network_summary", "print_network"]


def network_summary(
    network: CircuitNetwork, verification: Verification, bound: DirectBound | None, word: str | None, flip: Flip | None
) -> dict[str, Any]:
    """What ``lemmata circuit --json`` prints; numbers that are exact are strings."""
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


def print_network(
    out: Console,
    network: CircuitNetwork,
    verification: Verification,
    bound: DirectBound | None,
    word: str | None,
    flip: Flip | None,
) -> None:
    """The report of the layers of a network, its margin, an attack on it, and whether it equals its circuit."""
    circuit = network.circuit
    out.print(
        f"Circuit of {circuit.inputs} inputs, depth {circuit.depth}, width {circuit.width}, size {circuit.size} "
        "(inputs and ID gates count)"
    )
    table = Table("layer", "gates", "1-norm", "operator norm", box=None, pad_edge=False)
    for row in _layers(network):
        gates = ", ".join(f"{count} {name}" for name, count in row["gates"].items())
        table.add_row(str(row["layer"]), gates, str(row["one_norm"]), f"{row['operator_norm']:.4g}")
    print_table(out, table)
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
            f"2-norm flips an answer (step by step; decided by {escape(bound.binding)})",
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
