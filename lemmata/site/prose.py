"""Texts of the ledger as Markdown: mathematics stays, everything else means itself, ids of statements become links."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from lemmata.site.mathml import formula_html, formulas, split_mathematics

__all__ = ["compared", "escaped", "fenced", "markdown_of", "mentioned", "statement_place", "with_links"]

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~{}$&])")
_LINE_START = re.compile(r"^(\s*)([-+>]|\d+[.)])(?=\s)", re.MULTILINE)
_HALF = 50  # characters of LaTeX that fit into half of a page
_ID = re.compile(r"(?<![\w/:-])[a-z]+(?:-[a-z]+)*:[A-Za-z0-9](?:[A-Za-z0-9.\-]*[A-Za-z0-9])?")


def statement_place(name: str) -> str:
    """The page of a statement, from the root of the site and without an ending: ``statements/turing/theorem-4.1``."""
    chapter, _, local = name.partition(":")
    return f"statements/{chapter.replace('-', '_')}/{local}"


def markdown_of(prose: str, *, titles: Mapping[str, str], root: str) -> str:
    """Prose of the ledger as Markdown in which only formulas and links are markup.

    Args:
        prose: text with LaTeX in dollars.
        titles: the titles of the statements by id; a mention of one of these ids becomes a link.
        root: the way from the page to the root of the site, such as ``../../``.
    """
    parts = []
    for text, source, inline in split_mathematics(prose):
        parts.append(with_links(escaped(text.replace(r"\$", "$")), titles=titles, root=root))
        if source:
            parts.append(f"${source.strip()}$" if inline else f"\n\n$$\n{source.strip()}\n$$\n\n")
    return "".join(parts).strip()


def mentioned(text: str) -> list[str]:
    """What looks like the id of a statement in a text, such as ``turing:theorem-4.1``, in the order of the text."""
    return _ID.findall(text)


def with_links(text: str, *, titles: Mapping[str, str], root: str) -> str:
    """Markdown in which every id of a statement is a link to its page; ids that nobody knows stay as they are."""

    def link(found: re.Match[str]) -> str:
        name = found[0]
        return f"[{name}]({root}{statement_place(name)}.md)" if name in titles else name

    return _ID.sub(link, text)


def escaped(text: str) -> str:
    """Text in which no character is markup."""
    plain = _SPECIAL.sub(r"\\\1", text)
    return _LINE_START.sub(lambda found: found[1] + found[2][:-1] + "\\" + found[2][-1], plain)


def fenced(text: str, language: str = "text") -> str:
    """A block of text as it stands, behind a fence longer than any in it."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`{3,}", text))])
    return f"{fence}{language}\n{text.strip(chr(10))}\n{fence}"


def compared(printed: str | None, corrected: str | None) -> str:
    """The printed and the corrected form, or what there is of the two, as raw HTML: side by side if there is room."""
    parts = [
        f'<div><p class="which">{label}</p><p>{_html(text)}</p></div>'
        for label, text in (("As printed", printed), ("Corrected", corrected))
        if text
    ]
    wide = any(len(one) > _HALF for text in (printed, corrected) if text for one in formulas(text))
    name = "compared wide" if wide else "compared"
    return fenced(f'<div class="{name}">{"".join(parts)}</div>', "{raw} html") if parts else ""


def _html(prose: str) -> str:
    """Prose with LaTeX in dollars as HTML."""
    return "".join(
        escape(text.replace(r"\$", "$")) + (formula_html(source.strip(), inline) if source else "")
        for text, source, inline in split_mathematics(prose.strip())
    )
