"""Reports of certificates that are conditional on a character table."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape

from lemmata.certificates.characters.dixon import atlas_names
from lemmata.certificates.groups.character_table_certificate import CharacterTableMarginCertificate
from lemmata.certificates.groups.character_table_game import class_shares, mass_shares
from lemmata.certificates.groups.format import Document
from lemmata.reports.tables import plain_table, print_fields, print_table

__all__ = ["character_table_summary", "print_character_table_certificate"]

TYPES = {1: "real", 0: "complex", -1: "quaternionic"}


def print_character_table_certificate(
    out: Console, certificate: CharacterTableMarginCertificate, document: Document
) -> None:
    """The report: the condition, the margin, who attains it and where it is attained."""
    table, k, margin = certificate.table, certificate.factors, document["margin"]
    product = "(a, b) -> ab" if k == 2 else f"(a_1, .., a_{k}) -> a_1 ... a_{k}"
    out.print(f"[bold]{escape(table.name)}[/bold]: the product {product}, by a character table alone", soft_wrap=True)
    out.print(f"  {table.count} conjugacy classes; networks and margins as for groups (lemmata certify S3)")
    out.print()
    fields = (
        ("condition", escape(certificate.condition)),
        ("maximum margin", margin["exact"]),
        ("at least", margin["lower"]),
        ("at most", margin["upper"]),
        ("value of the game", certificate.value),
        ("grade", f"{certificate.grade} (proved under the condition, both sides are the same number)"),
        ("kernel", "valid: certificates/character_table_kernel.py has checked every line, and what a table can show"),
    )
    print_fields(out, fields)
    out.print()
    rows, columns = _rows(certificate), _columns(certificate)
    out.print("Attained: how an optimal network shares its mass among real representations")
    listed = plain_table("complex characters", "degree", "nu", "type", "scaled mass y", "share")
    for row in rows:
        nu = row["degree"] * (1 if row["indicator"] == 1 else 2)
        kind, share = TYPES[row["indicator"]], f"{row['share']:.10f}"
        listed.add_row(" and ".join(row["names"]), str(row["degree"]), str(nu), kind, row["scaled_mass"], share)
    print_table(out, listed)
    out.print("Bounded: how wrong labels are weighted, by the class of (product) c^-1")
    listed = plain_table("classes", "elements", "share")
    for column in columns:
        listed.add_row(" and ".join(column["names"]), str(column["elements"]), f"{column['share']:.10f}")
    print_table(out, listed)
    others = len(certificate.data["class_names"]) - 1 - sum(len(column["names"]) for column in columns)
    out.print(f"  (the other {others} nontrivial classes have no weight: their margins are not smaller)\n")


def character_table_summary(certificate: CharacterTableMarginCertificate, document: Document) -> dict[str, Any]:
    """What ``lemmata certify --json`` prints for a table; exact numbers are strings."""
    return {
        "table": {"name": certificate.table.name, "order": str(certificate.table.order)}
        | {"classes": certificate.table.count},
        "condition": certificate.condition,
        "factors": certificate.factors,
        "value": certificate.value,
        "margin": document["margin"],
        "grade": certificate.grade,
        "kernel": {"valid": True},
        "irreps": _rows(certificate),
        "classes": _columns(certificate),
    }


def _rows(certificate: CharacterTableMarginCertificate) -> list[dict[str, Any]]:
    """The Galois orbits of characters with mass."""
    table, masses = certificate.table, certificate.strategies.masses
    names, shares = atlas_names(table.degrees, "a"), mass_shares(certificate.game, certificate.strategies)
    return [
        {
            "names": [names[R] for R in orbit],
            "degree": table.degrees[orbit[0]],
            "indicator": table.indicators[orbit[0]],
            "scaled_mass": str(masses[orbit[0]]),
            "share": sum(shares[R] for R in orbit),
        }
        for orbit in certificate.game.row_orbits
        if masses[orbit[0]]
    ]


def _columns(certificate: CharacterTableMarginCertificate) -> list[dict[str, Any]]:
    """The Galois orbits of classes with weight."""
    table, weights = certificate.table, certificate.strategies.weights
    names, shares = certificate.data["class_names"], class_shares(certificate.strategies)
    return [
        {
            "names": [names[C] for C in orbit],
            "elements": str(sum(table.sizes[C] for C in orbit)),
            "share": sum(shares[C] for C in orbit),
        }
        for orbit in certificate.game.column_orbits
        if weights[orbit[0]]
    ]
