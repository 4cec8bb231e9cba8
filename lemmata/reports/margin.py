"""The report of a trained network: its margin, its deficit against the certified maximum, its representations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from lemmata.certificates.saddle.measured import MeasuredMargin
from lemmata.reports.pictures import save_figure
from lemmata.reports.tables import plain_table

__all__ = ["MarginOfCheckpoint", "RepresentationLine", "checkpoint_summary", "draw_checkpoint", "print_checkpoint"]

LISTED = 12
"""How many elements of a numbering are printed."""
NARROW = 60
"""Columns below which the table of representations does not fit."""


@dataclass(frozen=True)
class RepresentationLine:
    """A real representation, its share of the network, and that of an optimal network."""

    name: str
    dimension: int
    share: float
    optimal: float


@dataclass(frozen=True)
class MarginOfCheckpoint:
    """Everything that the report says.

    Attributes:
        task: the group or the table.
        source: which weights were found.
        measured: the margin of the network.
        lower, upper: decimals of the certified bounds of the maximum.
        grade: of the certificate, "exact" or "enclosed".
        worst: names of the row, the column, the right and the wrong label of the smallest margin.
        representations: empty for tables.
        numbering: the elements that rows, columns and labels of the file stand for, where it numbers them otherwise.
        as_relu: the share of the cells on which the same weights are right with the activation ReLU, if it is larger.
    """

    task: str
    source: str
    measured: MeasuredMargin
    lower: str
    upper: str
    grade: str
    worst: tuple[str, str, str, str]
    representations: tuple[RepresentationLine, ...] = ()
    numbering: Mapping[str, tuple[str, ...]] | None = None
    as_relu: float | None = None

    @property
    def deficit(self) -> tuple[float, float]:
        """The bounds of 1 - margin/maximum."""
        return self.measured.deficit(float(self.lower), float(self.upper))

    @property
    def balanced_deficit(self) -> float:
        """1 - margin/maximum of the same function with balanced neurons, against the upper bound."""
        return 1 - self.measured.balanced / float(self.upper)


def checkpoint_summary(result: MarginOfCheckpoint) -> dict[str, Any]:
    """What ``lemmata margin --json`` prints; decimals that are proved are strings."""
    measured = result.measured
    row, column, right, wrong = result.worst
    return {
        "task": result.task,
        "weights": result.source,
        "activation": "square",
        "neurons": measured.width,
        "cells": int(np.isfinite(measured.cell_margins).sum()),
        "right": measured.right,
        "numbering": None
        if result.numbering is None
        else {name: list(all_) for name, all_ in result.numbering.items()},
        "right_with_relu": result.as_relu,
        "margin": measured.margin,
        "rounding": measured.rounding,
        "worst": {"row": row, "column": column, "label": right, "wrong_label": wrong},
        "maximum": {"lower": result.lower, "upper": result.upper, "grade": result.grade, "kernel": "valid"},
        "deficit": {"at_least": result.deficit[0], "at_most": result.deficit[1]},
        "balanced": {"margin": measured.balanced, "deficit": result.balanced_deficit},
        "representations": [
            {"name": line.name, "dimension": line.dimension, "share": line.share, "optimal": line.optimal}
            for line in result.representations
        ],
    }


def print_checkpoint(out: Console, result: MarginOfCheckpoint) -> None:
    """The report of ``lemmata margin``."""
    measured = result.measured
    cells = int(np.isfinite(measured.cell_margins).sum())
    lower, upper = float(result.lower), float(result.upper)
    low, high = result.deficit
    row, column, right, wrong = result.worst

    def line(text: str) -> None:
        out.print(escape(text), soft_wrap=True)

    out.print(
        f"[bold]{escape(result.task)}[/bold]: {measured.width} neurons, activation x^2 (assumed, no file says it)"
    )
    line(f"weights: {result.source}")
    line(f"right on {round(measured.right * cells)} of {cells} cells")
    if result.numbering is not None:
        line("  in a numbering of its own, which was found from its outputs, up to automorphisms:")
        for name, elements in result.numbering.items():
            line(f"  {name} 0, 1, ... are {', '.join(elements[:LISTED])}{', ...' if len(elements) > LISTED else ''}")
    if result.as_relu is not None:
        line(
            f"  with the activation ReLU these weights are right on {round(result.as_relu * cells)} of {cells} cells; "
            "of such networks no maximum is certified: train with the square"
        )
    line(f"normalised margin  {measured.margin:.12g}")
    line(f"  rounding error at most {measured.rounding:.1g}; smallest at ({row}, {column}): {right} against {wrong}")
    between = f"{lower:.12g}" if result.grade == "exact" else f"from {lower:.12g} to {upper:.12g}"
    line(f"maximum margin     {between}")
    line(f"  {result.grade}; the kernel has just accepted the certificate")
    line(f"deficit            {_percent((low + high) / 2)} of the maximum, within {(high - low) / 2:.1g}")
    line(f"  {_percent(result.balanced_deficit)} for the same function, neurons balanced: (u, v) times c, w times c^-2")
    if result.representations:
        _print_representations(out, result)
        line("share: of the mass of the network; optimal: of one network of maximum margin")


def _print_representations(out: Console, result: MarginOfCheckpoint) -> None:
    """The shares as a table; line by line where its numbers would be cut."""
    table = plain_table("representation", "dimension", "share", "optimal")
    for entry in result.representations:
        numbers = f"{entry.share:.6f}", f"{entry.optimal:.6f}"
        table.add_row(escape(entry.name), str(entry.dimension), *numbers)
        if out.width < NARROW:
            out.print(escape(f"{entry.name}: share {numbers[0]}, optimal {numbers[1]}"), soft_wrap=True)
    if out.width >= NARROW:
        out.print(table)


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.6g} %" if abs(fraction) >= 1e-9 else "0 %"


def draw_checkpoint(result: MarginOfCheckpoint, path: Path) -> None:
    """Draw the margins of all cells, and the shares of the representations, into a file.

    Raises:
        ValueError: as `save_figure`.
        OSError: if it cannot be written.
    """
    from matplotlib.figure import Figure

    panels = 2 if result.representations else 1
    figure = Figure(figsize=(5.2 * panels, 3.8), dpi=150, layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    _plot_cells(axes[0], result)
    if result.representations:
        _plot_representations(axes[1], result)
    save_figure(figure, path)


def _plot_cells(axes: Any, result: MarginOfCheckpoint) -> None:
    margins = np.sort(result.measured.cell_margins[np.isfinite(result.measured.cell_margins)]) / float(result.upper)
    axes.plot(np.arange(1, len(margins) + 1) / len(margins), margins, label="cells, by margin")
    axes.axhline(1, linestyle="--", color="black", linewidth=1, label="certified maximum")
    axes.axhline(0, color="grey", linewidth=0.6)
    axes.set(xlabel="share of cells", ylabel="normalised margin / maximum")
    axes.set_title(f"{result.task}: the smallest is {margins[0]:.6g}", size=9)
    axes.legend(fontsize=7)


def _plot_representations(axes: Any, result: MarginOfCheckpoint) -> None:
    places = np.arange(len(result.representations))
    axes.bar(places - 0.2, [entry.share for entry in result.representations], 0.4, label="this network")
    axes.bar(places + 0.2, [entry.optimal for entry in result.representations], 0.4, label="an optimal one")
    names = [entry.name.replace(" and ", "\n") for entry in result.representations]
    axes.set_xticks(places, names, fontsize=7, rotation=90 if len(names) > 8 else 0)
    axes.set(xlabel="real representation", ylabel="share of the mass")
    axes.legend(fontsize=7)
