"""Pictures of what rests on what, as SVG with links: one for a chapter, and one for all chapters.

Claim edges (an entry cites another) are blue, evidence edges (decided by the same function of the library) orange, and
statements are coloured by verdict. Style sheets of the page give the colours, so that both are readable in the dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import cos, pi, sin

from lemmata.site.entries import Edges, Library
from lemmata.site.prose import statement_place
from lemmata.theorems.ledger import Chapter

__all__ = ["chapter_picture", "whole_picture"]

ROW = 18  # the height of a line, in units of the picture
SIDE = 220  # the room for the arcs, on each side of the names
NAMES = 300
RADIUS = 420
RIM = 70


def chapter_picture(chapter: Chapter, library: Library, edges: Edges) -> str:
    """The statements of a chapter in a column, with arcs to the left (claims) and to the right (evidence)."""
    own = [one.id for one in chapter.statements]
    claims = [(name, one) for name in own for one in edges.claims.get(name, ()) if one in own]
    shared = {pair: functions for pair, functions in edges.evidence.items() if pair[0] in own and pair[1] in own}
    seen = {name for pair in [*claims, *shared] for name in pair}
    shown = [name for name in own if name in seen]
    if not shown:
        return "<p>No two statements of this chapter are joined.</p>"
    height = {name: (place + 1) * ROW for place, name in enumerate(shown)}
    left, right = SIDE, SIDE + NAMES
    parts = [_arc(left, height[a], height[b], -1, "claim", f"{a} cites {b}") for a, b in claims]
    parts += [
        _arc(right, height[a], height[b], 1, "evidence", f"{a} and {b}: {', '.join(functions)}")
        for (a, b), functions in shared.items()
    ]
    parts += [_name(name, (left + right) / 2, height[name], library) for name in shown]
    width = 2 * SIDE + NAMES
    label = f"{len(shown)} statements, {len(claims)} joined by citation, {len(shared)} by evidence"
    return _svg(width, (len(shown) + 1) * ROW, label, parts)


def whole_picture(library: Library, edges: Edges) -> str:
    """All statements on a circle, chapter by chapter, with chords for the edges."""
    names = list(library.entries)
    gap = 6  # empty places between two chapters
    total = len(names) + gap * len(library.ledger.chapters)
    angle: dict[str, float] = {}
    place = 0
    parts: list[str] = []
    for chapter in library.ledger.chapters:
        middle = place + len(chapter.statements) / 2
        for one in chapter.statements:
            angle[one.id] = 2 * pi * place / total
            place += 1
        place += gap
        parts.append(_chapter_name(chapter, 2 * pi * middle / total))
    chords = [
        _chord(angle[a], angle[b], "evidence", f"{a} and {b}: {', '.join(f)}") for (a, b), f in edges.evidence.items()
    ]
    chords += [_chord(angle[a], angle[b], "claim", f"{a} cites {b}") for a in names for b in edges.claims.get(a, ())]
    dots = [_dot(name, angle[name], library) for name in names]
    size = 2 * (RADIUS + RIM)
    label = f"{len(names)} statements on a circle, {len(chords)} edges"
    return _svg(size, size, label, [*chords, *dots, *parts])


def _svg(width: float, height: float, label: str, parts: Sequence[str]) -> str:
    return (
        f'<svg class="dependencies" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img" '
        f'aria-label="{escape(label)}" xmlns="http://www.w3.org/2000/svg">\n' + "\n".join(parts) + "\n</svg>"
    )


def _arc(x: float, top: float, bottom: float, side: int, kind: str, title: str) -> str:
    """Half an ellipse between two lines of the column; long ones reach further."""
    reach = min(SIDE - 10, 14 + abs(bottom - top) * 0.35)
    out = x + side * reach * 4 / 3
    path = f"M{x:g} {top:g}C{out:.1f} {top:g} {out:.1f} {bottom:g} {x:g} {bottom:g}"
    return f'<path class="{kind}" d="{path}"><title>{escape(title)}</title></path>'


def _name(name: str, x: float, y: float, library: Library) -> str:
    statement = library.entries[name].statement
    local = name.partition(":")[2]
    return (
        f'<a href="../{statement_place(name)}.html"><text class="{statement.verdict}" x="{x:g}" y="{y + 4:g}" '
        f'text-anchor="middle">{escape(local)}<title>{escape(statement.title)} ({statement.verdict})</title></text></a>'
    )


def _point(angle: float, radius: float) -> tuple[float, float]:
    centre = RADIUS + RIM
    return centre + radius * sin(angle), centre - radius * cos(angle)


def _chord(first: float, second: float, kind: str, title: str) -> str:
    (x, y), (u, v) = _point(first, RADIUS - 6), _point(second, RADIUS - 6)
    centre = RADIUS + RIM
    pull = 0.25  # how far the chord keeps from the centre
    a, b = centre + pull * (x + u - 2 * centre), centre + pull * (y + v - 2 * centre)
    path = f"M{x:.1f} {y:.1f}Q{a:.1f} {b:.1f} {u:.1f} {v:.1f}"
    return f'<path class="{kind}" d="{path}"><title>{escape(title)}</title></path>'


def _dot(name: str, angle: float, library: Library) -> str:
    x, y = _point(angle, RADIUS)
    statement = library.entries[name].statement
    return (
        f'<a href="{statement_place(name)}.html"><circle class="{statement.verdict}" cx="{x:.1f}" cy="{y:.1f}" r="3.2">'
        f"<title>{escape(name)}: {escape(statement.title)} ({statement.verdict})</title></circle></a>"
    )


def _chapter_name(chapter: Chapter, angle: float) -> str:
    x, y = _point(angle, RADIUS + 22)
    turn = angle * 180 / pi
    turn = turn - 180 if 90 < turn < 270 else turn
    return (
        f'<a href="chapters/{chapter.name}.html"><text class="chapter" text-anchor="middle" x="{x:.1f}" y="{y:.1f}" '
        f'transform="rotate({turn:.1f} {x:.1f} {y:.1f})">{escape(chapter.name)}</text></a>'
    )
