"""The report of what all networks of nearly maximum margin say of cells that they never saw."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid
from rich.text import Text

from lemmata.certificates.operations.unseen import UnseenCell, UnseenCells, Verdict
from lemmata.numerics.operations.operation import MISSING, Cell, Operation
from lemmata.reports.pictures import save_figure
from lemmata.reports.tables import fits, print_table

__all__ = ["draw_unseen", "plot_unseen", "print_unseen", "unseen_summary"]

STYLES: dict[Verdict, tuple[str, str]] = {
    "right": ("green", "+"),
    "wrong": ("red", "!"),
    "both": ("yellow", "~"),
    "open": ("magenta", "?"),
}
"""Colour and mark of a verdict; a mark stands after the true label, so that a map without colours says the same."""

CLAIMS: dict[Verdict, str] = {
    "right": "right: every such network gives the true label",
    "wrong": "wrong: every such network prefers another label",
    "both": "both kinds of such networks are shown",
    "open": "open: not certified",
}


def unseen_summary(result: UnseenCells) -> dict[str, Any]:
    """What ``lemmata unseen --json`` prints; fractions and decimals that are exact are strings."""
    given = result.given
    return {
        "table": given.name,
        "rows": given.rows,
        "columns": given.columns,
        "labels": given.label_count,
        "given": len(given.cells),
        "margin": {"lower": result.lower, "upper": result.upper, "gap": result.gap},
        "epsilon": str(result.epsilon),
        "threshold": result.threshold,
        "cells": [
            {
                "cell": list(cell.cell),
                "row": given.row_names[cell.cell[0]],
                "column": given.column_names[cell.cell[1]],
                "label": given.label_names[cell.label],
                "verdict": cell.verdict,
                "margin": cell.margin,
                "epsilon": str(cell.epsilon),
                "threshold": cell.threshold,
                "seen": [None if x != x else x for x in cell.seen],
                "reason": cell.reason,
                "by_symmetry_from": None if cell.image_of is None else list(cell.image_of),
            }
            for cell in result.cells
        ],
    }


def print_unseen(console: Console, result: UnseenCells) -> None:
    """The report of ``lemmata unseen``: the claim, the map of the table, a line for each unseen cell."""
    given = result.given
    console.print(
        f"[bold]{escape(given.name)}[/bold]: {given.rows} rows, {given.columns} columns, {given.label_count} labels, "
        f"{len(given.cells)} cells given, {len(result.cells)} unseen",
        soft_wrap=True,
    )
    console.print(
        f"maximum margin on the given cells from {result.lower:.10g} to {result.upper:.10g}, relative gap "
        f"{result.gap:.1e}",
        soft_wrap=True,
    )
    if result.epsilon == 0:
        claim = (
            f"claims about every network of maximum margin, which is exactly {result.threshold}; they rest on a "
            "theorem with a written proof, not on certificates"
        )
    else:
        claim = (
            f"claims about every network of margin at least (1 - epsilon) times the maximum, epsilon = "
            f"{_fraction(result)}, above the gap; proved from the margin {result.threshold} on"
        )
    console.print(claim, soft_wrap=True)
    console.print()
    drawing = table_map(result, console.width)
    console.print(drawing if drawing is not None else f"(the map needs more than {console.width} columns)")
    for verdict, (colour, mark) in STYLES.items():
        if not result.count(verdict):
            continue
        console.print(f"[{colour}]{mark}[/{colour}] {CLAIMS[verdict]} ({result.count(verdict)})", soft_wrap=True)
    console.print()
    grid = Grid("cell", "label", "verdict", "margin there", "", box=None, pad_edge=False)
    for cell in result.cells:
        grid.add_row(*_columns(given, cell, result.epsilon))
    if fits(console, grid, prose=[""]):
        print_table(console, grid, prose=[""])
    else:
        for cell in result.cells:
            console.print(_line(given, cell, result.epsilon), soft_wrap=True)
    console.print(
        "margin there: true label against the best other one, in units of the threshold; for right and wrong a bound "
        "for all networks, for both that of a network that is wrong",
        soft_wrap=True,
    )
    if any(cell.epsilon < result.epsilon for cell in result.cells):
        console.print(
            "where a smaller epsilon is named, it is below the gap: the claim is about all networks from that margin "
            "on, which the network in the certificate has; how near that is to the maximum, the gap says",
            soft_wrap=True,
        )


def _fraction(result: UnseenCells) -> str:
    return f"{float(result.epsilon):.3g}"


def _columns(given: Operation, cell: UnseenCell, epsilon: Fraction) -> tuple[str, str, str, str, str]:
    a, b = cell.cell
    colour, mark = STYLES[cell.verdict]
    sign = {"right": ">= ", "wrong": "<= "}.get(cell.verdict, "")
    note = cell.reason or ("" if cell.image_of is None else f"by symmetry, as cell {cell.image_of}")
    if cell.epsilon < epsilon:
        note = f"epsilon {float(cell.epsilon):.0e}, from the margin {cell.threshold} on; {note}".rstrip("; ")
    return (
        escape(f"({given.row_names[a]}, {given.column_names[b]})"),
        escape(given.label_names[cell.label]),
        f"[{colour}]{mark} {cell.verdict}[/{colour}]",
        "" if cell.margin is None else f"{sign}{cell.margin:.4g}",
        escape(note),
    )


def _line(given: Operation, cell: UnseenCell, epsilon: Fraction) -> str:
    place, label, verdict, margin, note = _columns(given, cell, epsilon)
    return " ".join(part for part in (place, f"label {label}:", verdict, margin, note) if part)


def table_map(result: UnseenCells, width: int) -> Text | None:
    """The table as text of at most ``width`` columns: labels, by number where names are long; None if it has no room.

    Given cells are dim; an unseen cell is its true label and the mark of its verdict, in colour; cells without a known
    label are blank.
    """
    given, truth = result.given, result.truth
    verdicts: dict[Cell, Verdict] = {cell.cell: cell.verdict for cell in result.cells}
    short = max(map(len, given.label_names)) <= 3
    labels = given.label_names if short else tuple(str(k) for k in range(given.label_count))
    size = max(map(len, labels))
    if given.columns * (size + 2) > width:
        return None
    text = Text(no_wrap=True)
    for a in range(given.rows):
        for b in range(given.columns):
            label = truth.values[a][b]
            name = (labels[label] if label != MISSING else ".").rjust(size)
            if (verdict := verdicts.get((a, b))) is not None:
                colour, mark = STYLES[verdict]
                text.append(f"{name}{mark} ", style=f"bold {colour}")
            else:
                text.append(f"{name}  ", style="dim")
        text.append("\n")
    return text


def draw_unseen(result: UnseenCells, path: Path) -> None:
    """Draw the map of the table into a file.

    Raises:
        ValueError: as `save_figure`.
        OSError: if it cannot be written.
    """
    from matplotlib.figure import Figure

    side = max(result.given.rows, result.given.columns)
    figure = Figure(figsize=(1.6 + 0.62 * min(side, 20), 1.9 + 0.62 * min(side, 20)), dpi=150, layout="constrained")
    plot_unseen(figure.add_subplot(), result)
    save_figure(figure, path)


def plot_unseen(axes: Any, result: UnseenCells) -> None:
    """The same map in axes of matplotlib: colours of the certified margins, labels, marks of the verdicts."""
    from matplotlib import colormaps
    from matplotlib.colors import TwoSlopeNorm
    from matplotlib.patches import Rectangle

    given, truth = result.given, result.truth
    largest = max([abs(cell.margin) for cell in result.cells if cell.margin is not None], default=1.0) or 1.0
    norm = TwoSlopeNorm(0.0, -1.8 * largest, 1.8 * largest)  # so light that black letters can be read
    colours = colormaps["RdBu"]
    unseen = {cell.cell: cell for cell in result.cells}
    for a in range(given.rows):
        for b in range(given.columns):
            label = truth.values[a][b]
            cell = unseen.get((a, b))
            face = "#f2f2f2" if cell is None else "#d9c8ec" if cell.margin is None else colours(norm(cell.margin))
            axes.add_patch(Rectangle((b - 0.5, a - 0.5), 1, 1, facecolor=face, edgecolor="white", lw=1))
            if label != MISSING:
                shift, colour, weight = (0.0, "#8a8a8a", "normal") if cell is None else (0.16, "black", "bold")
                axes.text(b, a - shift, str(label), ha="center", va="center", fontsize=9, color=colour, weight=weight)
            if cell is not None:
                below = "?" if cell.margin is None else f"{cell.margin:.2g}"
                if cell.epsilon < result.epsilon:  # a claim about fewer networks than the title says
                    below += f"\nfrom 1 - {float(cell.epsilon):.0e}"
                axes.text(b, a + 0.2, f"{cell.verdict}\n{below}", ha="center", va="center", fontsize=6)
    axes.set(xlim=(-0.5, given.columns - 0.5), ylim=(given.rows - 0.5, -0.5), aspect="equal",
             xticks=range(given.columns), yticks=range(given.rows))  # fmt: skip
    long = max(map(len, (*given.row_names, *given.column_names))) > 3
    if not long:
        axes.set_xticklabels(given.column_names)
        axes.set_yticklabels(given.row_names)
    axes.tick_params(length=0, labelsize=7)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_title(
        f"{given.name}: what every network of margin\n>= (1 - {_fraction(result)}) of the maximum says of unseen cells",
        fontsize=8,
    )
