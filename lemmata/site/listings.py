"""Listings of at most 85 columns, which is what fits on a page: long lines go on in the next one, as a reader would.

A comment at the end of a line goes on below itself, or stands above a long line; a line of Python is broken between
brackets, a command before a word and behind a backslash, other lines before a word. What has no such place stays.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

__all__ = ["COLUMNS", "narrowed"]

COLUMNS = 85
_FENCE = re.compile(r"^( *)(`{3,})([\w{}-]*)[^\n]*\n(.*?)^\1\2$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r" +# ")
_COMMENTS_ASIDE = 62  # a comment that begins later has too little room beside the code
_COMMANDS = ("console", "bash", "sh")
_PYTHON = ("python", "py", "ipython3")
_LEFT_ALONE = ("diff",)  # quotations with a mark in front of every line


def narrowed(markdown: str) -> str:
    """Markdown whose listings have at most `COLUMNS` columns where their lines can be broken; the rest as it is."""

    def narrow(found: re.Match[str]) -> str:
        language, body = found[3], found[4]
        if language.startswith("{") or language in _LEFT_ALONE:
            return found[0]
        lines = "\n".join(one for line in body.split("\n") for one in _lines(line, language))
        return found[0][: found.start(4) - found.start()] + lines + found[0][found.end(4) - found.start() :]

    return _FENCE.sub(narrow, markdown)


def _lines(line: str, language: str) -> Iterator[str]:
    """A line of a listing, or those that it becomes."""
    if len(line) <= COLUMNS:
        yield line
        return
    before = line[: len(line) - len(line.lstrip())]
    if language in (*_COMMANDS, *_PYTHON) and line.startswith(f"{before}# "):
        yield from _above(line.lstrip(" #"), before)
        return
    if language in (*_COMMANDS, *_PYTHON) and (found := _comment(line)):
        code, column, comment = line[: found.start()], found.end() - 2, line[found.end() :]
        if column <= _COMMENTS_ASIDE:
            first, *rest = textwrap.wrap(comment, COLUMNS - column - 2)
            yield f"{line[:column]}# {first}"
            yield from (f"{' ' * column}# {one}" for one in rest)
            return
        yield from _above(comment, before)
        line = code
    indent = before + ("    " if language in _PYTHON else "  ")
    end = " \\" if language in _COMMANDS else ""
    opened = 0  # brackets of the lines before
    while len(line) > COLUMNS:
        room = range(len(indent) + 1, COLUMNS - len(end) + 1)
        places = [(-depth, line[at - 1] == ",", at) for at, depth in _places(line, language, opened) if at >= room[0]]
        if not places:
            break
        fit = [one for one in places if one[-1] in room] or places[:1]  # or behind a word that is too long
        depth, _, place = max(fit)  # in the fewest brackets, behind a comma, the last one
        opened = -depth
        yield line[:place] + end
        line = indent + line[place + 1 :]
    yield line


def _above(comment: str, before: str) -> list[str]:
    """A comment on lines of its own."""
    return textwrap.wrap(comment, COLUMNS, initial_indent=f"{before}# ", subsequent_indent=f"{before}# ")


def _comment(line: str) -> re.Match[str] | None:
    """Where the comment at the end of a line begins, behind code in which every string is closed."""
    for found in _COMMENT.finditer(line):
        code = line[: found.start()]
        if code.strip() and all(code.count(mark) % 2 == 0 for mark in "\"'"):
            return found
    return None


def _places(line: str, language: str, opened: int) -> Iterator[tuple[int, int]]:
    """The blanks at which a line can be broken, each with the number of brackets around it; none in strings."""
    depth, quote = opened, ""
    for place, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and language in (*_PYTHON, "json", "toml"):
            quote = character
        else:
            depth += (character in "([{") - (character in ")]}")
            returned = line[place:].startswith(" -> ") or (line[:place].endswith(" |") and " -> " in line[:place])
            signature = returned and not line.endswith(":")  # which is no statement of Python
            if line[place:] == " \\":
                return  # the end of a line that goes on already
            if character == " " and (depth > 0 or language not in _PYTHON or signature):
                yield place, depth if language in (*_PYTHON, "json", "toml") else 0
