"""The picture of how many missing cells networks of nearly maximum margin get right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lemmata.certificates.operations.unseen_curve import CurvePoint
from lemmata.reports.pictures import save_figure

__all__ = ["draw_unseen_curve", "plot_unseen_curve"]


def plot_unseen_curve(axes: Any, points: Sequence[CurvePoint]) -> None:
    """The share of right cells against the number of missing cells, in axes of matplotlib.

    A line for each table joins its points by ascent; certified points are filled squares with a black edge, and the
    bar above one is the share whose verdict is open.

    Raises:
        ValueError: without points.
    """
    if not points:
        raise ValueError("There are no points to draw; unseen_curve() has those that come with this toolkit.")
    names = list(dict.fromkeys(point.table for point in sorted(points, key=lambda p: p.table)))
    for number, name in enumerate(names):
        colour = f"C{number}"
        own = sorted((point for point in points if point.table == name), key=lambda point: point.missing)
        ascended = [point for point in own if not point.certified]
        certified = [point for point in own if point.certified]
        axes.plot(
            [point.missing for point in ascended],
            [float(point.right) for point in ascended],
            linestyle="--",
            marker="o",
            markersize=4,
            markerfacecolor="white",
            color=colour,
            label=name,
        )
        axes.errorbar(
            [point.missing for point in certified],
            [float(point.right) for point in certified],
            yerr=[[0.0] * len(certified), [float(point.open) for point in certified]],
            linestyle="",
            marker="s",
            markersize=7,
            markeredgecolor="black",
            color=colour,
        )
    axes.set(xlabel="missing cells", ylabel="share of missing cells that are got right", ylim=(-0.05, 1.05))
    axes.set_title("squares: every network near the maximum, certified\ncircles: a few networks by ascent", size=8)
    axes.legend(fontsize=7)


def draw_unseen_curve(points: Sequence[CurvePoint], path: Path) -> None:
    """Draw the same picture into a file.

    Raises:
        ValueError: without points, and as `save_figure`.
        OSError: if it cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), dpi=150, layout="constrained")
    plot_unseen_curve(figure.add_subplot(), points)
    save_figure(figure, path)
