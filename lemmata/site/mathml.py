"""LaTeX mathematics between dollars as MathML, which browsers show without a script or a network."""

import re
from collections.abc import Iterator
from html import escape

from latex2mathml.converter import convert
from latex2mathml.exceptions import DenominatorNotFoundError, ExtraLeftOrMissingRightError, NumeratorNotFoundError

_MATHEMATICS = re.compile(r"(?<!\\)\$\$(?P<display>.+?)\$\$|(?<!\\)\$(?P<inline>.+?)(?<!\\)\$", re.DOTALL)
_SIZES = re.compile(r"\\(?:big|Big|bigg|Bigg)[lrm]?(?![A-Za-z])")  # sizes of delimiters, which MathML chooses itself
_FAULTS = (DenominatorNotFoundError, ExtraLeftOrMissingRightError, NumeratorNotFoundError, IndexError, ValueError)


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
