"""Prose with LaTeX mathematics in dollars as HTML with MathML, which browsers show without a script or a network."""

import functools
import re
from collections.abc import Iterator
from html import escape

from latex2mathml.converter import convert
from latex2mathml.exceptions import DenominatorNotFoundError, ExtraLeftOrMissingRightError, NumeratorNotFoundError

_MATHEMATICS = re.compile(r"(?<!\\)\$\$(?P<display>.+?)\$\$|(?<!\\)\$(?P<inline>.+?)(?<!\\)\$", re.DOTALL)
_SIZES = re.compile(r"\\(?:big|Big|bigg|Bigg)[lrm]?(?![A-Za-z])")  # sizes of delimiters, which MathML chooses itself
_FAULTS = (DenominatorNotFoundError, ExtraLeftOrMissingRightError, NumeratorNotFoundError, IndexError, ValueError)


@functools.cache
def html_of(prose: str) -> str:
    """The prose as HTML: text escaped, ``$...$`` as inline and ``$$...$$`` as display mathematics.

    Mathematics that the converter does not understand is shown as its source, so that nothing is lost.
    """
    return "".join(
        _text(text) + (formula_html(source, inline) if source else "")
        for text, source, inline in split_mathematics(prose)
    )


def split_mathematics(prose: str) -> Iterator[tuple[str, str, bool]]:
    """The prose in pieces: a text, the source of the formula that follows it, and whether that is inline.

    The last piece has no formula: its source is empty.
    """
    end = 0
    for match in _MATHEMATICS.finditer(prose):
        inline = match["display"] is None
        yield prose[end : match.start()], match["inline"] if inline else match["display"], inline
        end = match.end()
    yield prose[end:], "", True


def formulas(prose: str) -> list[str]:
    """The LaTeX sources of all formulas in the prose."""
    return [source for _, source, _ in split_mathematics(prose) if source]


def mathml(source: str, inline: bool = True) -> str:
    """One formula as MathML.

    Raises:
        ValueError: if the converter does not understand the source.
    """
    plain = (
        _SIZES.sub("", source)
        .replace(r"\arg\min", r"\operatorname{arg min}")
        .replace(r"\arg\max", r"\operatorname{arg max}")
    )
    try:
        result = convert(plain, display="inline" if inline else "block")
    except _FAULTS as error:
        raise ValueError(f"The formula {source!r} cannot be converted: {type(error).__name__} {error}.") from error
    if command := re.search(r"\\[A-Za-z]+", result):
        raise ValueError(f"The formula {source!r} cannot be converted: {command[0]} is not understood.")
    return result


def formula_html(source: str, inline: bool) -> str:
    """A formula as MathML, or its source as code where the converter does not understand it."""
    try:
        return mathml(source, inline)
    except ValueError:
        return f"<code>{escape(source)}</code>"


def _text(prose: str) -> str:
    return escape(prose.replace(r"\$", "$"))
