"""The report of a sparse function that was compiled into an attention layer and a perceptron."""

from __future__ import annotations

from math import sqrt
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lemmata.certificates.sparse.network import SparseCertificate
from lemmata.constructions.sparse.compiler import SparseNetwork
from lemmata.reports.tables import print_table

__all__ = ["network_summary", "print_network"]


def network_summary(network: SparseNetwork, certificate: SparseCertificate | None, fault: str | None) -> dict[str, Any]:
    """What ``lemmata sparse --json`` prints; numbers that are exact are strings."""
    function, mapping = network.function, network.inputs
    return {
        "function": {
            "length": function.length,
            "positions": list(function.indices),
            "symbols": function.alphabet,
            "symmetric": function.symmetric,
        },
        "network": {
            "map": mapping.name,
            "width": mapping.stream.width,
            "heads": len(network.attention.heads),
            "units": [layer.outputs for layer in network.perceptron.layers[:-1]],
            "gamma": str(network.gamma),
            "sharpness": str(network.sharpness),
        },
        "norms": {name: sqrt(float(square)) for name, square in network.squared_norms().items()},
        "proof": None
        if certificate is None
        else {
            "strings": f"{function.alphabet}^{function.length}",
            "words": len(certificate.words),
            "error": float(certificate.error),
            "radius": str(certificate.radius),
            "attention_elsewhere": float(certificate.off_mass),
        },
        "fault": fault,
    }


def print_network(
    console: Console, network: SparseNetwork, certificate: SparseCertificate | None, fault: str | None
) -> None:
    """The report of ``lemmata sparse``."""
    summary = network_summary(network, certificate, fault)
    function, built = summary["function"], summary["network"]
    kind = "Symmetric function" if function["symmetric"] else "Function"
    places = ", ".join(map(str, function["positions"]))
    console.print(f"{kind} of the positions {places} of strings of {function['length']} symbols")
    heads = f"{built['heads']} head{'s' if built['heads'] > 1 else ''}"
    console.print(
        f"{heads}, {built['map']} map of width {built['width']}; "
        f"perceptron with {built['units'][0]} and {built['units'][1]} units"
    )
    table = Table("weights", "Frobenius norm", box=None)
    for name, norm in summary["norms"].items():
        table.add_row(name, f"{norm:.6g}")
    print_table(console, table)
    proof = summary["proof"]
    if proof is None:
        console.print(f"[red]not proved[/red]: {escape(fault or '')}", soft_wrap=True)
        return
    console.print(
        f"[green]proved[/green]: equal to the function on all {proof['strings']} strings; the heads are within "
        f"{proof['error']:.4g} of the nodes, of {proof['radius']} allowed, and attend elsewhere by at most "
        f"{proof['attention_elsewhere']:.4g}",
        soft_wrap=True,
    )
