"""Reports of the margin of any table: what stands in a document that the kernel has accepted, and how it was found."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape

from lemmata.certificates import operation_kernel
from lemmata.certificates.operations.certify import OperationCertificate
from lemmata.certificates.operations.rounding import proof_order
from lemmata.numerics.operations.symmetries import OperationSymmetries
from lemmata.reports.tables import print_fields

__all__ = ["operation_summary", "print_operation_certificate", "print_operation_document"]

MEANING = {
    "exact": "proved, both sides are the same number",
    "enclosed": "proved from both sides",
}


def print_operation_certificate(
    out: Console, certificate: OperationCertificate, symmetries: OperationSymmetries
) -> None:
    """The report: the table, the margin from both sides, the two proofs, and what to turn where they do not meet."""
    table, document = certificate.table, certificate.document
    whole = "" if not table.missing else f", {len(table.cells)} of {table.rows * table.columns} cells given"
    out.print(
        f"[bold]{escape(table.name)}[/bold]: {table.rows} rows, {table.columns} columns, {table.label_count} labels"
        f"{whole}",
        soft_wrap=True,
    )
    out.print(f"  {_symmetries(symmetries)}")
    orbits = f"{count} orbits" if (count := _orbits(symmetries)) > 1 else "one orbit"
    out.print(f"  {len(table.triples)} triples of a given cell and a wrong label, in {orbits}")
    out.print("  networks f(a, b) = sum_i (u_i(a) + v_i(b))^2 w_i of any width")
    out.print("  normalised margin = smallest f_y - f_c / ||theta||^3, in the norm L_{2,3}")
    out.print()
    margin = document["margin"]
    fields = [
        ("at least" if margin["exact"] else "maximum margin at least", margin["lower"]),
        ("at most", margin["upper"]),
        ("relative gap", document["gap"]),
        ("grade", f"{document['grade']} ({MEANING[document['grade']]})"),
        ("kernel", f"valid: certificates/operation_kernel.py has checked every line, in {certificate.cost:.2g} s"),
    ]
    print_fields(out, [("maximum margin", margin["exact"]), *fields] if margin["exact"] is not None else fields)
    out.print()
    multipliers, proof = document["multipliers"], document["proof"]
    out.print(f"Attained: an explicit network of {_neurons(document)}")
    out.print(
        f"Bounded: weights on {sum(q > 0 for q in multipliers)} triples, and a sum of squares ({proof['kind']}),\n"
        f"  a matrix of order {_order(certificate)}; found with {escape(certificate.relaxation.solver)} in "
        f"{certificate.relaxation.seconds:.2g} s"
    )
    for sentence in certificate.advice:
        out.print(f"[yellow]gap above 1e-6[/yellow]: {escape(sentence)}", soft_wrap=True)
    if certificate.advice:
        out.print("  (--degree 6, --seconds N, --starts N, --seed N and --bits N turn these)")


def print_operation_document(out: Console, document: dict[str, Any]) -> None:
    """What a document that the kernel has accepted proves, and how: of a margin or of a cell that was never seen."""
    table = document["table"]
    given = sum(y >= 0 for row in table["values"] for y in row)
    out.print(
        f"[bold]{escape(table['name'])}[/bold]: {len(table['values'])} rows, {len(table['values'][0])} columns, "
        f"{table['labels']} labels, {given} cells given",
        soft_wrap=True,
    )
    lines = _margin_lines(document) if document["format"] == operation_kernel.MARGIN else _unseen_lines(document)
    for line in lines:
        out.print(f"  {line}", soft_wrap=True)


def _margin_lines(document: dict[str, Any]) -> list[str]:
    margin, proof = document["margin"], document["proof"]
    exact = f" = {margin['exact']}" if margin["exact"] else ""
    return [
        f"maximum margin{exact}: at least {margin['lower']}, at most {margin['upper']} ({document['grade']}, "
        f"{MEANING[document['grade']]})",
        f"at least: an explicit network of {_neurons(document)} has it",
        f"at most: weights on {sum(q > 0 for q in document['multipliers'])} triples of a given cell and a wrong label, "
        f"and {_square(proof)}",
    ]


def _neurons(document: dict[str, Any]) -> str:
    """How many neurons the network of a margin has, and of what numbers."""
    network = document["network"]
    root = network.get("root", 1)
    field = f"weights in the field of sqrt({root})" if root > 1 else "integer weights"
    return f"{len(network['neurons'])} neurons with {field}"


def _unseen_lines(document: dict[str, Any]) -> list[str]:
    (a, b), threshold = document["cell"], document["threshold"]
    of_label = f"cell ({a}, {b}), which is not given and has the true label {document['label']}"
    claim = {
        "right": "every network of that margin is right there",
        "wrong": "every network of that margin is wrong there",
        "both": "two networks of that margin differ: the first is right there, the second is wrong",
    }[document["verdict"]]
    about = f"networks of margin at least {threshold}: all of at least 1 - {document['epsilon']} of the maximum margin"
    if document["verdict"] == "both":
        about = f"networks of margin at least {threshold}: at least 1 - {document['epsilon']} of the maximum margin"
    lines = [of_label, about, claim]
    for i, part in enumerate(document["parts"]):
        lines.append(
            f"proof {i + 1}: the difference of the outputs there is at least {part['bound']}, by weights on "
            f"{sum(q > 0 for q in part['multipliers'])} triples and {_square(part['proof'])}"
        )
    if document["upper"] is not None:
        lines.append(f"the maximum margin is bounded by {_square(document['upper']['proof'])}")
    return lines


def _square(proof: dict[str, Any]) -> str:
    return f"a sum of squares ({proof['kind']}, a matrix of order {len(proof['matrix'])})"


def operation_summary(certificate: OperationCertificate, symmetries: OperationSymmetries) -> dict[str, Any]:
    """What ``lemmata certify --json`` prints for a table; decimals of the document are strings."""
    table, document = certificate.table, certificate.document
    return {
        "table": {
            "name": table.name,
            "rows": table.rows,
            "columns": table.columns,
            "labels": table.label_count,
            "given_cells": len(table.cells),
            "triples": len(table.triples),
        },
        "symmetries": {"order": str(symmetries.order), "swap": symmetries.has_swap, "orbits": _orbits(symmetries)},
        "margin": document["margin"],
        "relative_gap": document["gap"],
        "grade": document["grade"],
        "kernel": {"valid": True, "seconds": certificate.cost},
        "proof": {"kind": document["proof"]["kind"], "order": _order(certificate)},
        "network": {"neurons": len(document["network"]["neurons"])},
        "solver": {"name": certificate.relaxation.solver, "seconds": certificate.relaxation.seconds},
        "advice": list(certificate.advice),
    }


def _symmetries(symmetries: OperationSymmetries) -> str:
    if symmetries.order == 1:
        return "no symmetry but the identity"
    swap = ", some of which swap rows and columns" if symmetries.has_swap else ""
    return f"{symmetries.order} symmetries{swap}"


def _orbits(symmetries: OperationSymmetries) -> int:
    return int(symmetries.triple_orbits().max()) + 1


def _order(certificate: OperationCertificate) -> int:
    table, kind = certificate.table, certificate.document["proof"]["kind"]
    return proof_order(table.size, table.label_count, "plane" if kind == "plane" else 4 if kind == "degree 4" else 6)
