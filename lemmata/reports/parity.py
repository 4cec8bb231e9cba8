"""The report of a certificate of a sparse parity."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape

from lemmata.certificates.saddle.certificate import MarginCertificate
from lemmata.reports.numbers import exact_string
from lemmata.reports.tables import plain_table, print_table

__all__ = ["parity_summary", "print_parity"]


def parity_summary(certificate: MarginCertificate, n: int, k: int) -> dict[str, Any]:
    """What ``lemmata parity --json`` prints; numbers that are exact are strings."""
    verdict = certificate.verdict
    return {
        "bits": n,
        "relevant": k,
        "maximum_margin": {"exact": exact_string(certificate.gamma), "decimal": float(certificate.gamma)},
        "attained": float(verdict.primal),
        "bounded": float(verdict.dual),
        "rounding": verdict.rounding,
        "arithmetic": certificate.network.arithmetic,
        "neurons": certificate.network.width,
        "accepted": verdict.accepted,
        "violations": list(verdict.violations),
    }


def print_parity(out: Console, certificate: MarginCertificate, task: str) -> None:
    """The report of the certificate of a parity task, accepted or rejected."""
    verdict, network = certificate.verdict, certificate.network
    out.print(f"[bold]{escape(task)}[/bold]")
    out.print(
        f"networks f(x) = sum_i (u_i . x)^{network.degree} w_i of any width; "
        f"normalised margin = margin / ||theta||^{network.nu} in the norm L_{{2,{network.nu}}}\n"
    )
    numbers = plain_table("", "exact", "decimal")
    for name, value in (("maximum gamma*", certificate.gamma), ("gamma*^2", certificate.gamma_squared)):
        numbers.add_row(name, exact_string(value), f"{float(value):.12g}")
    print_table(out, numbers)
    arithmetic = "exact" if network.arithmetic == "exact" else "floating-point"
    proof = plain_table("", "margin", "evidence")
    proof.add_row(
        "attained",
        f"{float(verdict.primal):.15g}",
        f"network of {network.width} neurons, every input, {arithmetic}",
    )
    proof.add_row("bounded", f"{float(verdict.dual):.15g}", "weights of wrong labels, every network")
    gap = "0 exactly" if verdict.gap == 0 and not verdict.rounding else f"{float(verdict.gap):.2g}"
    proof.add_row("gap", gap, f"rounding error at most {verdict.rounding:.2g}" if verdict.rounding else "")
    print_table(out, proof, prose=["evidence"])
    for violation in verdict.violations:
        out.print(f"[red]rejected[/red]: {escape(violation)}")
    if verdict.accepted:
        out.print("[green]accepted[/green]: the network attains the bound, so both are optimal")
