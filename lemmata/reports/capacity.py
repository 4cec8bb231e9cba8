"""The report of the capacity of attention: constants and risks, as printed and as corrected, and which term leads."""

from __future__ import annotations

from flint import arb
from rich.console import Console

from lemmata.certificates.capacity.report import CapacityReport
from lemmata.certificates.capacity.trained import PeeledNorm
from lemmata.numerics.exact.numbers import exact_midpoint
from lemmata.numerics.exact.rationals import as_fraction
from lemmata.reports.bounds import rounded_up
from lemmata.reports.tables import plain_table, print_table

__all__ = ["print_capacity"]


def shown(ball: arb) -> str:
    """Four digits."""
    return f"{float(ball.mid()):.4g}"


def bound(ball: arb) -> str:
    """Four digits, rounded up."""
    return rounded_up(as_fraction(exact_midpoint(ball.upper())), 4)


def print_capacity(
    out: Console, report: CapacityReport, title: str, delta: str, notes: list[str], norms: list[PeeledNorm]
) -> None:
    """The tables of constants, of parts and of norms that training chose, and what they mean for the risk."""
    out.print(f"[bold]{title}[/bold]")
    out.print(
        "log N(eps) <= C/eps^2 for the covering numbers; the printed form has 1 for its open constant\n", soft_wrap=True
    )
    table = plain_table("", "printed", "corrected")
    for column in table.columns[1:]:
        column.justify = "right"
    table.add_row("C", shown(report.printed.constant), bound(report.corrected.constant))
    table.add_row("values, at most", "", bound(report.largest))
    table.add_row(
        f"|risk - empirical risk|, probability 1 - {delta}",
        "refused" if report.printed_risk is None else shown(report.printed_risk),
        bound(report.risk),
    )
    print_table(out, table)
    parts = plain_table("part", "printed", "corrected")
    for column in parts.columns[1:]:
        column.justify = "right"
    corrected, printed = report.corrected.shares(), report.printed.shares()
    leading = report.corrected.dominant()
    for name, share in corrected.items():
        other = printed.get(name)
        mark = " <- leads" if name == leading else ""
        parts.add_row(name + mark, "-" if other is None else _percent(other), _percent(share))
    print_table(out, parts)
    if norms:
        measured = plain_table("norm that training chose", "measured", "counted as", "share of the failure")
        for column in measured.columns[1:]:
            column.justify = "right"
        for one in norms:
            measured.add_row(one.name, shown(one.norm), f"{shown(one.counted)} = 2^({one.exponent}/4)", str(one.share))
        print_table(out, measured)
    lines = [*notes]
    if report.refusal:
        lines.append(f"printed bound refused: {report.refusal}")
    if report.vacuous:
        lines.append(f"the corrected bound says nothing for {report.samples:,} samples: it is not below the loss bound")
    for line in lines:
        out.print(line, soft_wrap=True, markup=False)


def _percent(share: arb) -> str:
    return f"{100 * float(share.mid()):.1f} %"
