"""Prose with LaTeX mathematics in dollars as HTML with MathML, which browsers show without a script or a network."""

import functools
import re
from html import escape

from latex2mathml.converter import convert
from latex2mathml.exceptions import DenominatorNotFoundError, ExtraLeftOrMissingRightError, NumeratorNotFoundError

_MATHEMATICS = re.compile(r"\$\$(?P<display>.+?)\$\$|\$(?P<inline>.+?)(?<!\\)\$", re.DOTALL)
_SIZES = re.compile(r"\\(?:big|Big|bigg|Bigg)[lrm]?(?![A-Za-z])")  # sizes of delimiters, which MathML chooses itself
_FAULTS = (DenominatorNotFoundError, ExtraLeftOrMissingRightError, NumeratorNotFoundError, IndexError, ValueError)


@functools.cache
def html_of(prose: str) -> str:
    """The prose as HTML: text escaped, ``$...$`` as inline and ``$$...$$`` as display mathematics.

    Mathematics that the converter does not understand is shown as its source, so that nothing is lost.
    """
    parts, end = [], 0
    for match in _MATHEMATICS.finditer(prose):
        parts.append(_text(prose[end : match.start()]))
        inline = match["display"] is None
        parts.append(_formula(match["inline"] if inline else match["display"], inline))
        end = match.end()
    return "".join([*parts, _text(prose[end:])])


def formulas(prose: str) -> list[str]:
    """The LaTeX sources of all formulas in the prose."""
    return [match["inline"] or match["display"] for match in _MATHEMATICS.finditer(prose)]


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


def _text(prose: str) -> str:
    return escape(prose.replace(r"\$", "$"))


def _formula(source: str, inline: bool) -> str:
    try:
        return mathml(source, inline)
    except ValueError:
        return f"<code>{escape(source)}</code>"
