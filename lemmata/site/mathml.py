"""LaTeX mathematics between dollars as MathML, which browsers show without a script or a network."""

import re
from collections.abc import Iterator
from html import escape, unescape
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import convert_to_element
from latex2mathml.exceptions import DenominatorNotFoundError, ExtraLeftOrMissingRightError, NumeratorNotFoundError

_MATHEMATICS = re.compile(r"(?<!\\)\$\$(?P<display>.+?)\$\$|(?<!\\)\$(?P<inline>.+?)(?<!\\)\$", re.DOTALL)
_ONE_LETTER = re.compile(r"\\(math(?:bb|cal|scr))\s+([A-Za-z])")  # only in braces it becomes a character of its own
_SIZES = re.compile(r"\\(?:big|Big|bigg|Bigg)[lrm]?(?![A-Za-z])")  # sizes of delimiters, which MathML chooses itself
_NORMS = re.compile(r"\\[lr]Vert(?![A-Za-z])")  # whose bars grow one by one, so that those of a norm differ
_ROWS = frozenset(("math", "mrow", "msqrt", "mtd"))  # their children stand side by side
_SCRIPTS = frozenset(("msub", "msup", "msubsup", "munder", "mover", "munderover"))
_BARS = ("|", "‖")
_TIGHT = (*_BARS, "/")
_SIGNS = ("−", "+", "±", "∓")
_CLOSING = tuple(")]}⟩⌉⌋")
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
        _ONE_LETTER.sub(r"\\\1{\2}", _NORMS.sub(r"\\|", _SIZES.sub("", source)))
        .replace(r"\setminus", "∖")  # no reverse solidus, which fonts do not have as an operator
        .replace(r"\arg\min", r"\operatorname{arg min}")
        .replace(r"\arg\max", r"\operatorname{arg max}")
    )
    try:
        tree = convert_to_element(plain, display="inline" if inline else "block")
    except _FAULTS as error:
        raise ValueError(f"The formula {source!r} cannot be converted: {type(error).__name__} {error}.") from error
    _set_spaces(tree)
    for root in list(tree.iter("msqrt")):
        root.append(Element("mspace", height="0.68em", depth="0.12em"))  # or else a root of a low letter hangs down
    result = tostring(tree, encoding="unicode").replace("&amp;", "&")
    if command := re.search(r"\\[A-Za-z]+", result):
        raise ValueError(f"The formula {source!r} cannot be converted: {command[0]} is not understood.")
    return result


def formula_html(source: str, inline: bool) -> str:
    """A formula as MathML, or its source as code where the converter does not understand it."""
    try:
        return mathml(source, inline)
    except ValueError:
        return f"<code>{escape(source)}</code>"


def _set_spaces(tree: Element) -> None:
    """Spaces as in TeX, in place: thin ones beside names of functions, none around bars, slashes and signs.

    Browsers take a bar, a name and a minus between two elements for operators like a plus, with wide spaces.
    """
    for one in tree.iter("mo"):
        if _text(one) in _TIGHT or _is_name(one):
            one.attrib |= {"lspace": "0", "rspace": "0"}
    for row in list(tree.iter()):
        parts = list(row) if row.tag in _ROWS else []
        closed = False  # of a bar: whether it is the second of its pair
        for index, right in enumerate(parts):
            bar = _text(right) in _BARS
            if index and _is_apart(parts[index - 1], right, closed):
                row.insert(list(row).index(right), Element("mspace", width="0.167em"))
            if index and _text(right) in _SIGNS and _opens(parts[index - 1]):
                right.set("form", "prefix")
            closed = not closed if bar else closed


def _is_apart(left: Element, right: Element, inside: bool) -> bool:
    """Whether a thin space belongs between two neighbours, where ``inside`` says that the last bar is open."""
    if _is_name(left):
        if _text(right) in _BARS:
            return not inside
        return _is_name(right) or _base(right).tag not in ("mo", "mspace")
    if _is_name(right):
        if _text(left) in _BARS:
            return not inside
        return _text(left) in _CLOSING or _base(left).tag not in ("mo", "mspace")
    return False


def _opens(one: Element) -> bool:
    """Whether a sign after an element is that of a number: after a relation, a comma or an opening bracket."""
    return one.tag == "mo" and not _is_name(one) and _text(one) not in (*_CLOSING, *_BARS, "!")


def _is_name(one: Element) -> bool:
    """Whether an element is the name of a function, such as log, with or without scripts."""
    text = _text(one)
    return _base(one).tag in ("mi", "mo") and len(text) > 1 and text.isalpha() and text != "mod"


def _base(one: Element) -> Element:
    """An element without its scripts."""
    return _base(one[0]) if one.tag in _SCRIPTS and len(one) else one


def _text(one: Element) -> str:
    return unescape(_base(one).text or "")
