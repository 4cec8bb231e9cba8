"""Pictures of what rests on what, as SVG with links: of a statement with its neighbours, of a chapter, and of all.

Claim edges (an entry cites another) are blue, evidence edges (decided by the same function of the library) orange, and
statements are coloured by verdict. Style sheets of the page give the colours, so that both are readable in the dark.
Names and dots lead to pages; below the mouse `static/dependencies.js` brings out what one of them is joined to.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import cos, pi, sin

from lemmata.site.entries import Edges, Library
from lemmata.site.prose import statement_place
from lemmata.theorems.ledger import Chapter

__all__ = ["chapter_picture", "neighbour_picture", "whole_picture"]

ROW = 18  # the height of a line, in units of the picture
SIDE = 220  # the room for the arcs, on each side of the names
NAMES = 300
RADIUS = 420
RIM = 70
LETTER = 7.5  # the room for a letter
FAN = 44  # the room for the lines from a statement to its neighbours
ROOT = "../../"  # from the page of a statement


def neighbour_picture(name: str, library: Library, edges: Edges) -> str:
    """A statement in the middle, what its entry cites on the left, what cites it and what shares evidence on the right.

    Neighbours of the same chapter are named without it.

    Raises:
        ValueError: for a statement without neighbours.
    """
    cited, citing, sharing = edges.claims.get(name, ()), edges.citing(name), edges.sharing(name)
    if not (cited or citing or sharing):
        raise ValueError(f"{name} has no neighbours to be shown.")
    chapter, _, local = name.partition(":")
    middle = 16 + LETTER * len(local)
    right = [(one, "claim") for one in citing] + [(one, "evidence") for one in sharing]
    height = ROW * (max(len(cited), len(right), 1) + 1)
    shown = {one: one.removeprefix(f"{chapter}:") for one in (*cited, *citing, *sharing)}
    column = 10 + LETTER * max(map(len, shown.values()))
    inner, outer = column + FAN, column + FAN + middle
    parts = []
    for side, joined in ((-1, [(one, "claim") for one in cited]), (1, right)):
        for place, (other, kind) in enumerate(joined):
            y = height / 2 + ROW * (place - (len(joined) - 1) / 2)
            start, end = (inner, column) if side < 0 else (outer, outer + FAN)
            half = (start + end) / 2
            words = f"{name} cites {other}" if side < 0 else f"{other} cites {name}"
            title = words if kind == "claim" else f"{name} and {other}: {', '.join(sharing[other])}"
            path = f"M{start:g} {height / 2:g}C{half:g} {height / 2:g} {half:g} {y:g} {end:g} {y:g}"
            parts.append(_path(kind, path, title, (name, other)))
            parts.append(_label(other, shown[other], end + 6 * side, y, "end" if side < 0 else "start", library, ROOT))
    verdict = library.entries[name].statement.verdict
    parts.append(
        f'<text class="here {verdict}" x="{(inner + outer) / 2:g}" y="{height / 2 + 4:g}" text-anchor="middle">'
        f"{escape(local)}</text>"
    )
    label = f"{name} cites {len(cited)}, is cited by {len(citing)}, and shares evidence with {len(sharing)} statements"
    return _svg(2 * (column + FAN) + middle, height, label, parts)


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
    parts = [_path("claim", _arc(left, height[a], height[b], -1), f"{a} cites {b}", (a, b)) for a, b in claims]
    parts += [
        _path("evidence", _arc(right, height[a], height[b], 1), f"{a} and {b}: {', '.join(functions)}", (a, b))
        for (a, b), functions in shared.items()
    ]
    parts += [
        _label(name, name.partition(":")[2], (left + right) / 2, height[name], "middle", library, "../")
        for name in shown
    ]
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
        _path("evidence", _chord(angle[a], angle[b]), f"{a} and {b}: {', '.join(f)}", (a, b))
        for (a, b), f in edges.evidence.items()
    ]
    chords += [
        _path("claim", _chord(angle[a], angle[b]), f"{a} cites {b}", (a, b))
        for a in names
        for b in edges.claims.get(a, ())
    ]
    dots = [_dot(name, angle[name], library) for name in names]
    size = 2 * (RADIUS + RIM)
    label = f"{len(names)} statements on a circle, {len(chords)} edges"
    return _svg(size, size, label, [*chords, *dots, *parts])


def _svg(width: float, height: float, label: str, parts: Sequence[str]) -> str:
    return (
        f'<svg class="dependencies" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img" '
        f'aria-label="{escape(label)}" xmlns="http://www.w3.org/2000/svg">\n' + "\n".join(parts) + "\n</svg>"
    )


def _path(kind: str, path: str, title: str, ends: tuple[str, str]) -> str:
    """An edge, which knows the statements that it joins."""
    joined = escape(" ".join(ends))
    return f'<path class="{kind}" data-ends="{joined}" d="{path}"><title>{escape(title)}</title></path>'


def _arc(x: float, top: float, bottom: float, side: int) -> str:
    """Half an ellipse between two lines of the column; long ones reach further."""
    reach = min(SIDE - 10, 14 + abs(bottom - top) * 0.35)
    out = x + side * reach * 4 / 3
    return f"M{x:g} {top:g}C{out:.1f} {top:g} {out:.1f} {bottom:g} {x:g} {bottom:g}"


def _label(name: str, shown: str, x: float, y: float, anchor: str, library: Library, root: str) -> str:
    """A name, at a baseline below y, as a link to the page of its statement."""
    statement = library.entries[name].statement
    return (
        f'<a href="{root}{statement_place(name)}.html" data-name="{escape(name)}"><text class="{statement.verdict}" '
        f'x="{x:g}" y="{y + 4:g}" text-anchor="{anchor}">{escape(shown)}<title>{escape(statement.title)} '
        f"({statement.verdict})</title></text></a>"
    )


def _point(angle: float, radius: float) -> tuple[float, float]:
    centre = RADIUS + RIM
    return centre + radius * sin(angle), centre - radius * cos(angle)


def _chord(first: float, second: float) -> str:
    (x, y), (u, v) = _point(first, RADIUS - 6), _point(second, RADIUS - 6)
    centre = RADIUS + RIM
    pull = 0.25  # how far the chord keeps from the centre
    a, b = centre + pull * (x + u - 2 * centre), centre + pull * (y + v - 2 * centre)
    return f"M{x:.1f} {y:.1f}Q{a:.1f} {b:.1f} {u:.1f} {v:.1f}"


def _dot(name: str, angle: float, library: Library) -> str:
    x, y = _point(angle, RADIUS)
    statement = library.entries[name].statement
    return (
        f'<a href="{statement_place(name)}.html" data-name="{escape(name)}">'
        f'<circle class="{statement.verdict}" cx="{x:.1f}" cy="{y:.1f}" r="3.2">'
        f"<title>{escape(name)}: {escape(statement.title)} ({statement.verdict})</title></circle></a>"
    )


def _chapter_name(chapter: Chapter, angle: float) -> str:
    x, y = _point(angle, RADIUS + 22)
    turn = angle * 180 / pi
    turn = turn - 180 if 90 < turn < 270 else turn
    return (
        f'<a href="chapters/{chapter.name}-dependencies.html"><text class="chapter" text-anchor="middle" '
        f'x="{x:.1f}" y="{y:.1f}" transform="rotate({turn:.1f} {x:.1f} {y:.1f})">{escape(chapter.name)}</text></a>'
    )
