"""Reports of the margin of a group: the certificate, the explicit network, the regularisation path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lemmata.certificates.game.faces import OptimalFaces
from lemmata.certificates.game.regularised import RegularisedOptimum
from lemmata.certificates.groups.format import Document
from lemmata.certificates.groups.report import MarginReport
from lemmata.certificates.saddle.attainment import Attainment
from lemmata.reports.numbers import exact_string
from lemmata.reports.tables import fits, plain_table, print_fields, print_table

__all__ = ["path_summary", "print_certificate", "print_network", "print_path", "summary"]

LONG_TABLE = 12  # from this many rows on, equal neighbours share a line
LONG_CYCLES = 20
TYPES = {1: "real", 0: "complex", -1: "quaternionic"}


def print_certificate(
    out: Console,
    document: Document,
    reading: MarginReport,
    faces: OptimalFaces | None,
    unchecked: str | None,
) -> None:
    """The report of a document: the margin, the two proofs, and the condition of the closed form.

    ``unchecked`` says why the kernel has not checked the document; None means that it has, and accepts it.
    """
    k, n = reading.factors, reading.order
    product = "(a, b) -> ab" if k == 2 else f"(a_1, .., a_{k}) -> a_1 ... a_{k}"
    out.print(f"[bold]{escape(reading.name)}[/bold]: the product {product} in a group of order {n}")
    out.print(f"  {reading.class_count} conjugacy classes, {len(reading.irreps) + 1} irreducible real representations")
    out.print(f"  networks f(x) = sum_i (u_i . x)^{k} w_i of any width, x the one-hot factors")
    out.print(f"  normalised margin = smallest margin / ||theta||^{k + 1}, in the norm L_{{2,{k + 1}}}")
    out.print()
    margin = document["margin"]
    meaning = "proved, both sides are the same number" if reading.grade == "exact" else "proved from both sides"
    kernel = (
        "valid: certificates/kernel.py has checked every line" if unchecked is None else f"not checked: {unchecked}"
    )
    fields = [
        ("at least" if margin["exact"] else "maximum margin at least", margin["lower"]),
        ("at most", margin["upper"]),
        ("grade", f"{reading.grade} ({meaning})"),
        ("kernel", kernel),
    ]
    print_fields(out, [("maximum margin", margin["exact"]), *fields] if margin["exact"] is not None else fields)
    out.print()

    out.print("Attained: how an optimal network shares its mass among real representations")
    _print_irreps(out, reading)
    out.print("Bounded: how the wrong labels c are weighted, by the class of (product) c^-1")
    _print_classes(out, reading)
    out.print("  (margin: at these wrong labels, in units of the maximum; 1 is on the margin)\n")
    for sentence in _sentences(reading, faces):
        out.print(sentence)


def print_network(out: Console, attainment: Attainment, maximum: float) -> bool:
    """The report of what the evaluation of the explicit network gave; whether it attains the maximum."""
    shortfall = abs(maximum - attainment.margin)
    attained = shortfall <= attainment.rounding
    verdict = "[green]attained[/green]" if attained else "[red]not attained[/red]"
    out.print(
        f"Network attains: {attainment.margin:.15g}, from the weights of {attainment.width} explicit neurons\n"
        f"  on all {attainment.inputs} inputs; {shortfall / maximum:.1g} of the maximum away from it, rounding error\n"
        f"  at most {attainment.rounding / maximum:.1g} of it: {verdict}"
    )
    return attained


def print_path(out: Console, name: str, optima: Iterable[RegularisedOptimum], maximum: float, degree: int) -> None:
    """The table of a regularisation path, one line for each penalty."""
    table = plain_table("lambda", "least loss", "proved to", f"||theta||^{degree}", "margin / maximum", "in use")
    for optimum in optima:
        zero = not optimum.masses.any()
        rows = len(optimum.game.rows)
        table.add_row(
            f"{float(optimum.penalty):.6g}",
            f"{optimum.loss:.10g}",
            f"{optimum.gap:.1g}" if optimum.gap else "0",
            f"{optimum.norm:.6g}",
            "-" if zero else f"{optimum.normalised_margin / maximum:.8f}",
            f"{len(optimum.used)} of {rows}",
        )
    out.print(f"[bold]{escape(name)}[/bold]: mean cross-entropy + lambda ||theta||^{degree}, networks of any width")
    print_table(out, table)


def path_summary(name: str, optima: Iterable[RegularisedOptimum], maximum: float, zero: float) -> dict[str, Any]:
    """What ``lemmata path --json`` prints: the least losses, and the penalty from which on the zero network is best."""
    return {
        "group": name,
        "maximum_margin": maximum,
        "zero_network_from": zero,
        "optima": [
            {
                "lambda": float(optimum.penalty),
                "loss": optimum.loss,
                "proved_to": optimum.gap,
                "norm": optimum.norm,
                "normalised_margin": optimum.normalised_margin if optimum.masses.any() else None,
                "representations_in_use": len(optimum.used),
            }
            for optimum in optima
        ],
    }


def summary(
    document: Document,
    reading: MarginReport,
    faces: OptimalFaces | None,
    attainment: Attainment | None,
    unchecked: str | None,
) -> dict[str, Any]:
    """What ``lemmata certify --json`` prints; numbers that are exact are strings."""
    return {
        "group": {key: document["group"][key] for key in ("name", "order", "degree")}
        | {"classes": reading.class_count},
        "factors": reading.factors,
        "margin": document["margin"],
        "grade": document["grade"],
        "kernel": {"valid": unchecked is None, "not_checked": unchecked},
        "closed_form": {"holds": reading.closed_form, "condition": reading.condition, "excess": reading.excess},
        "unique": None
        if faces is None
        else {"masses": faces.unique_masses, "class_weights": faces.unique_class_weights},
        "irreps": [
            {
                "name": irrep.name,
                "dimension": irrep.dimension,
                "degree": irrep.degree,
                "indicator": irrep.indicator,
                "mass": exact_string(irrep.mass),
                "decimal": float(irrep.mass),
            }
            for irrep in reading.irreps
        ],
        "classes": [
            {
                "name": entry.name,
                "element": entry.element,
                "elements": entry.size,
                "weight": exact_string(entry.weight),
                "decimal": float(entry.weight),
                "margin": str(entry.margin),
            }
            for entry in reading.classes
        ],
        "network": None
        if attainment is None
        else {
            "neurons": attainment.width,
            "inputs": attainment.inputs,
            "margin": attainment.margin,
            "rounding": attainment.rounding,
        },
    }


def _print_irreps(out: Console, reading: MarginReport) -> None:
    full = plain_table("representation", "dimension", "type", "mass", "decimal")
    brief = plain_table("representation", "dimension", "type", "decimal")
    exact = []
    for name, _, irrep in _lines([(i.name, (i.degree, i.indicator, i.mass), i) for i in reading.irreps]):
        start = (escape(name), str(irrep.dimension), TYPES[irrep.indicator])
        exact.append((escape(name), exact_string(irrep.mass)))
        full.add_row(*start, exact[-1][1], f"{float(irrep.mass):.10g}")
        brief.add_row(*start, f"{float(irrep.mass):.10g}")
    _print_whole(out, full, brief, exact)


def _print_classes(out: Console, reading: MarginReport) -> None:
    full = plain_table("class", "example", "elements", "weight", "decimal", "margin")
    brief = plain_table("class", "example", "elements", "decimal", "margin")
    exact = []
    for name, alone, entry in _lines([(c.name, (c.size, c.weight, c.margin), c) for c in reading.classes]):
        example = entry.element if len(entry.element) <= LONG_CYCLES else entry.element[: LONG_CYCLES - 3] + "..."
        margin = str(entry.margin) if reading.grade == "exact" else f"{float(entry.margin):.6f}"
        start = (escape(name), example if alone else "", str(entry.size))
        exact.append((escape(name), exact_string(entry.weight)))
        full.add_row(*start, exact[-1][1], f"{float(entry.weight):.10g}", margin)
        brief.add_row(*start, f"{float(entry.weight):.10g}", margin)
    _print_whole(out, full, brief, exact)


def _print_whole(out: Console, full: Table, brief: Table, exact: list[tuple[str, str]]) -> None:
    """The table; where it does not fit the one without the exact numbers, and these in a list below it."""
    if fits(out, full):
        print_table(out, full)
        return
    print_table(out, brief)
    out.print("  exactly, but for zeros:")
    for name, number in exact:
        if number != "0":
            out.print(f"  {name} = {number}", soft_wrap=True)
    out.print()


def _lines(lines: list[tuple[str, tuple[Any, ...], Any]]) -> Iterator[tuple[str, bool, Any]]:
    """Name, whether it is one row, and entry; in long tables equal neighbours are one line that counts them."""
    long = len(lines) >= LONG_TABLE
    for _, same in groupby(enumerate(lines), key=lambda item: item[1][1] if long else item[0]):
        members = [line for _, line in same]
        name, _, entry = members[0]
        if len(members) > 1:
            first, last = name.split(" and ")[0], members[-1][0].split(" and ")[-1]
            name = f"{first}, .., {last} ({len(members)} rows, each)"
        yield name, len(members) == 1, entry


def _sentences(reading: MarginReport, faces: OptimalFaces | None) -> Iterator[str]:
    if reading.condition == "strict":
        yield "Closed form: holds, all condition sums are negative."
    elif reading.condition == "ties":
        ties = _listed(entry.name for entry in reading.classes if entry.condition == 0)
        yield f"Closed form: holds, but the condition sum vanishes at {escape(ties)}: no weight there."
    else:
        broken = _listed(entry.name for entry in reading.classes if entry.condition > 0)
        yield (
            f"Closed form: fails. The condition sum is positive at {escape(broken)}; the maximum is "
            f"{reading.excess:.10g} times the closed form."
        )
    if faces is None:
        why = "the margin is enclosed and not exact"
        if reading.grade == "exact":
            why = "the characters share no cyclotomic field of supported order"
        yield f"Uniqueness: undecided, because {why}."
        return
    game = faces.game
    yield (
        f"Optimal masses: {_dimension(faces.mass_dimension)}. "
        f"Optimal class weights: {_dimension(faces.class_weight_dimension)}."
    )
    used = [game.table.irrep_names[game.rows[position]] for position in faces.rows]
    on = [game.table.class_names[game.columns[position]] for position in faces.columns]
    every = "all" if len(used) == len(game.rows) else _listed(used)
    yield f"Representations that some optimal network uses: {escape(every)}."
    every = "all" if len(on) == len(game.columns) else _listed(on)
    yield f"Classes on the margin of every optimal network: {escape(every)}."


def _listed(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed if len(listed) <= 8 else [*listed[:6], "..", listed[-1]])


def _dimension(dimension: int) -> str:
    return "unique" if dimension == 0 else f"not unique, a polytope of dimension {dimension}"
