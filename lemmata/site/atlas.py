"""The pages of the atlas: a page for each section, with a line for every row, and what stands on the first one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lemmata.certificates.atlas.archive import SUFFIX
from lemmata.certificates.atlas.committed import committed_atlas
from lemmata.reports.atlas import margin_text, section_totals
from lemmata.site.prose import escaped, statement_place

__all__ = ["atlas_contents", "atlas_pages"]

Row = Mapping[str, Any]
SHOWN_DIGITS = 12
"""Hexadecimal digits of a digest that a page shows."""


def atlas_contents() -> str:
    """The table of the sections, with links to their pages, and who made the atlas."""
    atlas = committed_atlas()
    lines = ["| section | rows | with a document | exact | size |", "| --- | --- | --- | --- | --- |"]
    for name, section in atlas["sections"].items():
        totals = section_totals(section["rows"])
        size = f"{totals['bytes'] / 1e6:.1f} MB" if totals["bytes"] else "none"
        link = f"[{escaped(section['title'])}](atlas/{name}.md)"
        lines.append(f"| {link} | {totals['rows']} | {totals['documents']} | {totals['exact']} | {size} |")
    pages = "\n".join(f"atlas/{name}" for name in atlas["sections"])
    return "\n".join([*lines, "", f"```{{toctree}}\n:hidden:\n\n{pages}\n```"])


def atlas_pages(titles: Mapping[str, str]) -> dict[str, str]:
    """The pages of the sections by their places.

    Args:
        titles: the titles of the statements by id; ids among these become links.
    """
    sections = committed_atlas()["sections"]
    return {f"atlas/{name}.md": _page(name, section, titles) for name, section in sections.items()}


def _page(name: str, section: Mapping[str, Any], titles: Mapping[str, str]) -> str:
    rows = section["rows"]
    parts = [f"# {escaped(section['title'])}", escaped(section["what"])]
    links = [
        f"[{escaped(titles[one])}](../{statement_place(one)}.md) ({one})"
        for one in section["statements"]
        if one in titles
    ]
    if links:
        parts.append(f"Statements: {'; '.join(links)}.")
    if section["theory"]:
        files = [one.rpartition("/")[2] for one in section["theory"]]
        links = ", ".join(f"[{one}](../formats/{one}.md)" for one in files)
        parts.append(f"What a document holds, and why it proves what it says: {links}.")
    if section["format"]:
        seconds = sum(row["seconds"] or 0 for row in rows)
        largest = max((row for row in rows if row["sha256"]), key=lambda row: row["seconds"])
        parts.append(
            f"All documents have the format `{section['format']}`, and are in "
            f"`certificates/atlas/results/{name}{SUFFIX}`. Their checks took {seconds:.1f} s on one core together, the "
            f"longest one {largest['seconds']:.1f} s ({escaped(largest['name'])}). Digests are the first digits of the "
            "SHA-256."
        )
    for reason in dict.fromkeys(row["reason"] for row in rows if row["reason"]):
        names = "; ".join(row["name"] for row in rows if row["reason"] == reason)
        parts.append(f"Without a document: {escaped(names)}. {escaped(reason)}")
    columns = _columns(rows)
    lines = ["```{rst-class} atlas\n```\n"]
    lines += [f"| {' | '.join(columns)} |", f"| {' | '.join('---' for _ in columns)} |"]
    lines += [f"| {' | '.join(_CELLS[heading](row) for heading in columns)} |" for row in rows]
    return "\n\n".join([*parts, "\n".join(lines)]) + "\n"


def _columns(rows: list[Row]) -> list[str]:
    """The headings of a section: those of which some row has something to say."""
    return [heading for heading in _CELLS if any(_CELLS[heading](row) for row in rows)]


def _name(row: Row) -> str:
    return escaped(row["name"])


def _called(row: Row) -> str:
    """The usual name of a group, or else the structure that GAP describes."""
    others = row.get("aliases", ())[1:]
    return escaped(", ".join(others) or row.get("structure", ""))


def _size(row: Row) -> str:
    """The order of a group, rows x columns x labels of a table, states x symbols of a machine."""
    if "order" in row:
        return str(row["order"])
    return " x ".join(map(str, row["shape"] if "shape" in row else row.get("machine", ())[:2]))


def _decimals(row: Row) -> str:
    """The two decimals of an exact margin."""
    return " to ".join(row["margin"]) if row.get("exact") else ""


_CELLS = {
    "row": _name,
    "also": _called,
    "size": _size,
    "margin": lambda row: f"`{margin_text(row)}`",
    "decimals": _decimals,
    "by at least": lambda row: row.get("bound") or "",
    "grade": lambda row: row["grade"] or "",
    "gap": lambda row: row.get("gap") or "",
    "proof": lambda row: row.get("proof") or "",
    "symmetries": lambda row: str(row.get("symmetries", "")),
    "command": lambda row: f"`{row['command']}`" if row.get("command") else "",
    "bytes": lambda row: str(row["bytes"] or ""),
    "seconds": lambda row: f"{row['seconds']:.2f}" if row["seconds"] is not None else "",
    "digest": lambda row: f"`{row['sha256'][:SHOWN_DIGITS]}`" if row["sha256"] else "",
}
"""The headings of the tables, and what stands below them."""
