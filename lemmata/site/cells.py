"""Small pictures of numbers as SVG: a matrix as coloured cells, and the graph of a function of one variable.

Style sheets of the page give the colours of positive and negative numbers, so that both are readable in the dark. Every
cell has its number as a title.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import product

import numpy as np
from numpy.typing import NDArray

__all__ = ["Curve", "Matrix", "panel_picture"]

SIDE = 18
"""The side of a cell, in units of the picture."""
LETTER = 6.6
"""The width of a letter of the labels."""
CURVE = (300, 140)
"""The size of a graph."""


@dataclass(frozen=True)
class Matrix:
    """A matrix to be shown as cells.

    Attributes:
        title: what it is.
        values: shape (r, c), float64.
        rows, columns: the labels, as many as there are rows and columns.
        marked: cells with a frame, as pairs of a row and a column.
    """

    title: str
    values: NDArray[np.float64]
    rows: Sequence[str]
    columns: Sequence[str]
    marked: frozenset[tuple[int, int]] = frozenset()

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.rows), len(self.columns)) or not np.isfinite(self.values).all():
            raise ValueError(
                f"{self.title}: a matrix of the shape {self.values.shape} with finite entries needs a label for each "
                f"row and column, not {len(self.rows)} and {len(self.columns)}."
            )


@dataclass(frozen=True)
class Curve:
    """A function of one variable to be shown as a graph: its values at increasing points, both of shape (t,)."""

    title: str
    points: NDArray[np.float64]
    values: NDArray[np.float64]


def panel_picture(panel: Matrix | Curve) -> str:
    """The picture of a panel, its title above it, as SVG of a size of its own."""
    return _matrix(panel) if isinstance(panel, Matrix) else _curve(panel)


def _matrix(panel: Matrix) -> str:
    left = 8 + LETTER * max(len(label) for label in panel.rows)
    upright = any(len(label) > 2 for label in panel.columns)
    head = 22 + (8 + LETTER * max(len(label) for label in panel.columns) if upright else 16)
    largest = float(np.abs(panel.values).max()) or 1.0
    parts = []
    for (i, row), (j, column) in product(enumerate(panel.rows), enumerate(panel.columns)):
        value = float(panel.values[i, j])
        kind = "negative" if value < 0 else "positive"
        frame = " marked" if (i, j) in panel.marked else ""
        parts.append(
            f'<rect class="{kind}{frame}" x="{left + j * SIDE:g}" y="{head + i * SIDE:g}" width="{SIDE - 1}" '
            f'height="{SIDE - 1}" fill-opacity="{abs(value) / largest:.3f}"><title>{escape(row)}, '
            f"{escape(column)}: {value:.4g}</title></rect>"
        )
    for i, label in enumerate(panel.rows):
        y = head + (i + 0.7) * SIDE
        parts.append(f'<text x="{left - 5:g}" y="{y:g}" text-anchor="end">{escape(label)}</text>')
    for j, label in enumerate(panel.columns):
        x, y = left + (j + 0.5) * SIDE, head - 5
        turn = f' transform="rotate(-90 {x + 4:g} {y:g})" x="{x + 4:g}"' if upright else f' x="{x:g}"'
        anchor = "start" if upright else "middle"
        parts.append(f'<text{turn} y="{y:g}" text-anchor="{anchor}">{escape(label)}</text>')
    width = max(left + len(panel.columns) * SIDE, LETTER * len(panel.title)) + 6
    return _svg(panel.title, width, head + len(panel.rows) * SIDE + 4, parts)


def _curve(panel: Curve) -> str:
    (width, height), left, head = CURVE, 52, 26
    points, values = panel.points, panel.values
    low, high = float(values.min()), float(values.max())
    x = left + width * (points - points[0]) / (points[-1] - points[0])
    y = head + height * (high - values) / ((high - low) or 1.0)
    path = "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
    parts = [f'<path class="frame" d="M{left} {head}H{left + width}V{head + height}H{left}Z"/>']
    parts += [f'<path class="curve" d="M{path}"/>']
    parts += [f'<text x="{left - 5}" y="{head + 8}" text-anchor="end">{high:.3g}</text>']
    parts += [f'<text x="{left - 5}" y="{head + height}" text-anchor="end">{low:.3g}</text>']
    parts += [f'<text x="{left}" y="{head + height + 15}" text-anchor="middle">{points[0]:.3g}</text>']
    parts += [f'<text x="{left + width}" y="{head + height + 15}" text-anchor="middle">{points[-1]:.3g}</text>']
    return _svg(panel.title, max(left + width + 20, LETTER * len(panel.title) + 6), head + height + 22, parts)


def _svg(title: str, width: float, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg class="cells" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img" '
        f'aria-label="{escape(title)}" xmlns="http://www.w3.org/2000/svg">'
        f'<text class="title" x="2" y="13">{escape(title)}</text>{"".join(parts)}</svg>'
    )
