"""The picture of how many random cells of an addition table can be missing until its maximum margin grows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lemmata.certificates.operations.triangle_threshold import ThresholdPoint
from lemmata.reports.pictures import save_figure

__all__ = ["draw_triangle_threshold", "plot_triangle_threshold"]


def plot_triangle_threshold(
    axes: Any, points: Sequence[ThresholdPoint], ascents: Sequence[dict[str, Any]] = ()
) -> None:
    """Shares of missing cells by n, in axes of matplotlib.

    The mean threshold with its interval, the necessary share as a line, and the ascents as circles at the shares that
    were missing, filled by the share of these cells that is right.

    Raises:
        ValueError: without points.
    """
    if not points:
        raise ValueError("There are no points to draw; triangle_threshold() has those that come with this toolkit.")
    sizes = [point.n for point in points]
    means = [point.last / point.n**2 for point in points]
    below = [(point.last - point.interval[0]) / point.n**2 for point in points]
    above = [(point.interval[1] - point.last) / point.n**2 for point in points]
    label = "the margin is unchanged up to here (mean, 95 %)"
    axes.errorbar(sizes, means, yerr=[below, above], marker="s", color="C0", capsize=3, label=label)
    necessary = [point.necessary / point.n**2 for point in points]
    axes.plot(sizes, necessary, "--", color="C1", label="necessary density, a count")
    if ascents:
        numbers = [int(row["table"].rpartition(":")[2]) for row in ascents]
        axes.scatter(
            numbers,
            [row["missing"] / n**2 for row, n in zip(ascents, numbers, strict=True)],
            c=[row["right"] for row in ascents],
            cmap="Greys",
            vmin=0,
            vmax=1,
            edgecolors="C2",
            label="ascents: the darker, the more missing cells are right",
        )
    axes.set(xlabel="n", ylabel="share of missing cells", ylim=(0, None), xticks=sizes)
    axes.set_title("addition modulo n without random cells: floats and ascents, nothing proved", size=8)
    axes.legend(fontsize=7)


def draw_triangle_threshold(
    points: Sequence[ThresholdPoint], path: Path, ascents: Sequence[dict[str, Any]] = ()
) -> None:
    """Draw the same picture into a file.

    Raises:
        ValueError: without points, and as `save_figure`.
        OSError: if it cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), dpi=150, layout="constrained")
    plot_triangle_threshold(figure.add_subplot(), points, ascents)
    save_figure(figure, path)
