"""The picture that opens the README, the home page and the atlas: maximum margins of groups against their orders.

It is a file, `static/margins.svg`, so that it is seen where nothing is built; ``python -m lemmata.site.margins`` writes
it again from the committed atlas.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from math import log10
from pathlib import Path
from typing import Any

from lemmata.certificates.atlas.committed import committed_atlas
from lemmata.numerics.runs.files import write_atomically

__all__ = ["PICTURE", "margin_picture"]

PICTURE = Path(__file__).parent / "static" / "margins.svg"
FAMILIES = {
    "cyclic": "#2563ab",
    "other abelian groups": "#58a4e0",
    "dihedral": "#1c7c3c",
    "other non-abelian groups": "#c2620c",
}
LEFT, TOP, WIDTH, HEIGHT = 70, 20, 600, 330
ORDERS, MARGINS = (2, 64), (1e-4, 0.3)


def margin_picture(rows: Sequence[Mapping[str, Any]]) -> str:
    """The margins of groups against their orders on logarithmic axes, coloured by family, as SVG on a white ground.

    Args:
        rows: of the section ``groups`` of the atlas; those without a margin are left out.
    """
    rows = [row for row in rows if row["margin"][0] is not None]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {TOP + HEIGHT + 50}" role="img" '
        f'font-family="sans-serif" font-size="13" aria-label="Maximum margins of {len(rows)} groups against their '
        'orders">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for order in (2, 4, 8, 16, 32, 64):
        x = _x(order)
        parts.append(f'<path d="M{x:.1f} {TOP}V{TOP + HEIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{order}</text>')
    for exponent in (-4, -3, -2, -1):
        y = _y(10.0**exponent)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{LEFT + WIDTH}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**exponent:g}</text>')
    for row in rows:
        margin, family = float(row["margin"][0]), _family(row)
        names = [row["name"], *row["aliases"][1:]]
        parts.append(
            f'<circle cx="{_x(row["order"]):.1f}" cy="{_y(margin):.1f}" r="3.2" fill="{FAMILIES[family]}" '
            f'fill-opacity=".75"><title>{escape(", ".join(names))}: {row["margin"][0]}</title></circle>'
        )
    for place, (family, colour) in enumerate(FAMILIES.items()):
        y = TOP + HEIGHT - 74 + 18 * place
        parts.append(f'<circle cx="{LEFT + 16}" cy="{y}" r="4" fill="{colour}"/>')
        parts.append(f'<text x="{LEFT + 28}" y="{y + 4}">{family}</text>')
    parts.append(f'<text x="{LEFT + WIDTH / 2}" y="{TOP + HEIGHT + 40}" text-anchor="middle">order of the group</text>')
    parts.append(
        f'<text transform="rotate(-90)" x="{-TOP - HEIGHT / 2}" y="16" text-anchor="middle">maximum margin</text></svg>'
    )
    return "\n".join(parts) + "\n"


def _family(row: Mapping[str, Any]) -> str:
    names = row["aliases"]
    if any(re.fullmatch(r"[ZC]\d+", name) for name in names):
        return "cyclic"
    if row["classes"] == row["order"]:
        return "other abelian groups"
    return (
        "dihedral"
        if any(re.fullmatch(r"D\d+", name) for name in names) or row["name"] == "S3"
        else ("other non-abelian groups")
    )


def _x(order: int) -> float:
    return LEFT + WIDTH * (log10(order) - log10(ORDERS[0])) / (log10(ORDERS[1]) - log10(ORDERS[0]))


def _y(margin: float) -> float:
    low, high = map(log10, MARGINS)
    return TOP + HEIGHT * (high - log10(margin)) / (high - low)


if __name__ == "__main__":
    write_atomically(margin_picture(committed_atlas()["sections"]["groups"]["rows"]).encode(), PICTURE)
