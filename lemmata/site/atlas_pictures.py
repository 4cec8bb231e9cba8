"""Pictures that open the atlas beside that of the margins: how near the two bounds of a margin are, and unseen cells.

Style sheets of the page give the colours, so that both are readable in the dark; bars and cells have titles, and a sign
says beside the colour what is said of a cell.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from itertools import product
from math import floor, log10
from typing import Any

__all__ = ["gap_picture", "unseen_map"]

Row = Mapping[str, Any]
COLUMN, BAND, LEFT, TOP = 40, 58, 210, 12
"""The width of a decade, the height of a section, and the room for names and above, in units of the picture."""
CELL = 14
"""The side of a cell of a table."""
VERDICTS = {
    "right": ("+", "every network of nearly maximum margin is right"),
    "wrong": ("-", "every one is wrong"),
    "both": ("?", "two of them disagree"),
}
"""The sign that a cell has, and what its verdict means."""
_NAME = re.compile(r"(?P<table>\S+) without (?P<missing>.+), at (?P<at>\(\d+,\d+\))")
_CELL = re.compile(r"\((\d+),(\d+)\)")


def gap_picture(sections: Mapping[str, Mapping[str, Any]]) -> str:
    """How many rows of each section have a gap of which decade, 0 (an exact margin) apart, as SVG.

    Args:
        sections: of the atlas; those without any gap are left out.
    """
    counts = {
        section["title"]: Counter(_decade(row["gap"]) for row in section["rows"] if row.get("gap") is not None)
        for section in sections.values()
    }
    counts = {title: some for title, some in counts.items() if some}
    seen = sorted({decade for some in counts.values() for decade in some if decade is not None})
    columns = [None, *range(seen[0], seen[-1] + 1)] if seen else [None]
    width, height = LEFT + COLUMN * len(columns) + 6, TOP + BAND * len(counts)
    parts: list[str] = []
    for place, (title, some) in enumerate(counts.items()):
        base = TOP + BAND * (place + 1) - 8
        parts.append(f'<path d="M{LEFT} {base}H{width - 6}"/>')
        parts.append(f'<text x="{LEFT - 10}" y="{base - 4}" text-anchor="end">{escape(title)}</text>')
        for column, decade in enumerate(columns):
            if count := some[decade]:
                tall = max(1.0, (BAND - 26) * count / some.total())
                x, words = LEFT + COLUMN * column, f"{title}: {count} of {some.total()} {_words(decade)}"
                kind = "exact" if decade is None else "enclosed"
                parts.append(
                    f'<rect class="{kind}" x="{x + 5}" y="{base - tall:.1f}" width="{COLUMN - 10}" height="{tall:.1f}">'
                    f"<title>{escape(words)}</title></rect>"
                    f'<text x="{x + COLUMN / 2:g}" y="{base - tall - 3:.1f}" text-anchor="middle">{count}</text>'
                )
    for column, decade in enumerate(columns):
        name = "0" if decade is None else f"1e{decade}"
        x = LEFT + COLUMN * (column + 0.5)
        parts.append(f'<text x="{x:g}" y="{height + 10}" text-anchor="middle">{name}</text>')
    parts.append(f'<text x="{LEFT - 10}" y="{height + 10}" text-anchor="end">gap at least</text>')
    label = f"Gaps of {sum(some.total() for some in counts.values())} margins by section and decade"
    return (
        f'<svg class="gaps" viewBox="0 0 {width} {height + 18}" width="{width}" role="img" aria-label="{label}" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )


def unseen_map(rows: Sequence[Row]) -> str:
    """Every set of cells that were left out, table by table, with what is said of each of its cells, as HTML.

    Args:
        rows: of the section ``unseen`` of the atlas.

    Raises:
        ValueError: for a row whose name is not of the form ``TABLE without (a,b), ..., at (a,b)``.
    """
    tables: dict[str, dict[str, list[tuple[Row, str]]]] = {}
    for row in rows:
        name = _NAME.fullmatch(row["name"])
        if name is None or row["verdict"] not in VERDICTS:
            raise ValueError(f"{row['name']!r} with the verdict {row['verdict']!r} is no row of an unseen cell.")
        tables.setdefault(name["table"], {}).setdefault(name["missing"], []).append((row, name["at"]))
    lines = ['<div class="unseen">']
    for sign, (mark, meaning) in VERDICTS.items():
        lines.append(f'<span class="key"><b class="{sign}">{mark}</b> {meaning}</span>')
    for table, missing in tables.items():
        grids = "".join(_grid(table, cells, said) for cells, said in missing.items())
        lines.append(f'<div><code>{escape(table)}</code><div class="grids">{grids}</div></div>')
    return "\n".join([*lines, "</div>"])


def _grid(table: str, missing: str, said: Sequence[tuple[Row, str]]) -> str:
    """A table as cells, those that are not given with their verdicts."""
    height, width, _ = said[0][0]["shape"]
    verdicts = {_CELL.findall(at)[0]: row["verdict"] for row, at in said}
    left_out = {(int(a), int(b)) for a, b in _CELL.findall(missing)}
    words = f"{table} without {missing}: " + ", ".join(f"({a},{b}) {one}" for (a, b), one in verdicts.items())
    parts = [f"<title>{escape(words)}</title>"]
    for i, j in product(range(height), range(width)):
        verdict = verdicts.get((str(i), str(j)))
        kind = verdict or ("absent" if (i, j) in left_out else "given")
        x, y = 1 + j * CELL, 1 + i * CELL
        parts.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{CELL - 1}" height="{CELL - 1}"/>')
        if verdict:
            mark = VERDICTS[verdict][0]
            parts.append(f'<text x="{x + CELL / 2 - 0.5:g}" y="{y + CELL - 3.5:g}" text-anchor="middle">{mark}</text>')
    size = (2 + width * CELL, 2 + height * CELL)
    return (
        f'<svg viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}" height="{size[1]}" role="img" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )


def _decade(gap: str) -> int | None:
    """The power of ten below a gap; None for 0."""
    return floor(log10(float(gap))) if float(gap) else None


def _words(decade: int | None) -> str:
    return "exact" if decade is None else f"with a gap from 1e{decade} to 1e{decade + 1}"
