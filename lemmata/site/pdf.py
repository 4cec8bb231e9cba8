"""The pages for the authors as PDF, to be sent or printed: Markdown and MathML in the markup of Typst, which sets them.

Only what these pages have is translated: headings, paragraphs, lists with bullets, tables of text, emphasis, code,
formulas, and the printed beside the corrected form. Links lead to pages of the site and are left out. Every text is a
string of Typst, so that no character of it is markup.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element, fromstring

import typst
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from lemmata.site.mathml import mathml

__all__ = ["formula_markup", "page_markup", "page_pdf"]

_HEAD = """#set page(paper: "a4", margin: (x: 2.4cm, y: 2.2cm), numbering: "1")
#set text(font: "New Computer Modern", size: 10pt, lang: "en")
#set par(justify: true, spacing: 0.9em)
#show heading: set block(above: 1.4em, below: 0.8em)
"""
_OPEN, _CLOSE = ("([{|‖⌊⌈⟨", ")]}|‖⌋⌉⟩")
_ACCENTS = {"^": "hat", "ˆ": "hat", "~": "tilde", "˜": "tilde", "¯": "overline", "‾": "overline", "―": "overline",
            "→": "arrow", "⃗": "arrow", "˙": "dot"}  # fmt: skip
_ROMAN = re.compile(r'upright\("(\w+)"\)')
_LIMITS = ("max", "min", "sup", "inf", "lim", "argmax", "argmin", "arg max", "arg min")


def page_pdf(markdown: str, title: str) -> bytes:
    """A page as a PDF.

    Raises:
        ValueError: for Markdown or a formula that these pages do not have.
    """
    head = f"#set document(title: {_string(title)}, date: none)\n"
    try:
        return typst.compile(f"{head}{_HEAD}{page_markup(markdown)}".encode())
    except typst.TypstError as error:
        raise ValueError(f"The page {title!r} cannot be set: {error}") from error


def page_markup(markdown: str) -> str:
    """A page in the markup of Typst; errors as `page_pdf`."""
    parser = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin)
    return "".join(_blocks(parser.parse(markdown)))


def formula_markup(source: str) -> str:
    """A formula of LaTeX in the mathematics of Typst.

    Raises:
        ValueError: if `lemmata.site.mathml.mathml` or this module does not understand it.
    """
    return _formula(fromstring(mathml(source)))


# --- Markdown -------------------------------------------------------------------------------------------------------

_BLOCKS = {
    "paragraph_open": "", "paragraph_close": "\n\n", "bullet_list_open": "", "bullet_list_close": "\n",
    "list_item_open": "#list[", "list_item_close": "]\n",
    "thead_open": "", "thead_close": "", "tbody_open": "", "tbody_close": "", "tr_open": "", "tr_close": "",
    "th_open": "[#strong[", "th_close": "]], ", "td_open": "[", "td_close": "], ", "heading_close": "]\n",
    "table_close": ")\n\n",
}  # fmt: skip
_INLINE = {"strong_open": "#strong[", "em_open": "#emph[", "strong_close": "]", "em_close": "]", "link_open": "",
           "link_close": "", "softbreak": " ", "hardbreak": "#linebreak();"}  # fmt: skip


def _blocks(tokens: list[Token]) -> Iterator[str]:
    for i, token in enumerate(tokens):
        if token.type == "inline":
            yield from _inline(token.children or [])
        elif token.type == "heading_open":
            yield f"#heading(level: {token.tag[1:]})["
        elif token.type == "table_open":
            columns = sum(one.type == "th_open" for one in tokens[i : i + _until(tokens[i:], "thead_close")])
            yield f"#table(columns: {columns}, stroke: 0.4pt + gray, "
        elif token.type == "math_block":
            yield f"$ {formula_markup(token.content.strip())} $\n\n"
        elif token.type == "fence" and token.info == "{raw} html":
            block = fromstring(token.content)
            yield _compared(block) if _tag(block) == "div" else ""  # the link to the PDF itself
        elif token.type in _BLOCKS:
            yield _BLOCKS[token.type]
        else:
            raise ValueError(f"Pages for the authors have no {token.type} ({token.info or token.content[:40]!r}).")


def _until(tokens: list[Token], kind: str) -> int:
    return next(i for i, token in enumerate(tokens) if token.type == kind)


def _inline(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "text":
            yield _text(token.content)
        elif token.type == "code_inline":
            yield f"#raw({_string(token.content)});"
        elif token.type == "math_inline":
            yield f"${formula_markup(token.content.strip())}$"
        elif token.type in _INLINE:
            yield _INLINE[token.type]
        else:
            raise ValueError(f"Pages for the authors have no {token.type} in a line ({token.content[:40]!r}).")


def _compared(block: Element) -> str:
    """The printed and the corrected form: two columns, or one below the other where the page has it so."""
    columns = "1fr" if "wide" in block.get("class", "") else "1fr, 1fr"
    cells = []
    for part in block:
        label, form = part
        head = f"#text(size: 8pt, fill: gray)[{_text(label.text or '')}] #linebreak()"
        cells.append(f"[#set par(justify: false)\n{head} {_mixed(form)}]")
    return f"#grid(columns: ({columns},), column-gutter: 1.5em, row-gutter: 0.8em, {', '.join(cells)})\n\n"


def _mixed(paragraph: Element) -> str:
    """Text with formulas."""
    parts = [_text(paragraph.text or "")]
    for formula in paragraph:
        parts += [f"${_formula(formula)}$", _text(formula.tail or "")]
    return "".join(parts)


def _text(text: str) -> str:
    return f"#{_string(text)};" if text else ""


def _string(text: str) -> str:
    """A string of Typst, in which only the backslash and the quotation mark are special."""
    return json.dumps(text, ensure_ascii=False)


# --- MathML ---------------------------------------------------------------------------------------------------------


def _tag(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _formula(element: Element) -> str:
    """An element of MathML; errors as `formula_markup`."""
    tag, parts = _tag(element), list(element)
    text = (element.text or "").strip()
    if tag in ("math", "mrow", "mstyle", "mpadded", "mtd"):
        return _row(parts)
    if tag == "mtext" and text:
        words = _string(text.replace("\N{NO-BREAK SPACE}", " "))
        return f"upright({words})" if text == element.text else words  # a part of a word, or words between spaces
    if tag in ("mi", "mn", "mo", "mtext"):
        return _leaf(tag, text, element.get("mathvariant"))
    if tag == "mspace":
        return "thin"
    if tag == "msqrt":
        return f"sqrt({_row([part for part in parts if part.get('height') is None])})"  # Typst needs no strut
    if tag == "mtable":
        rows = [", ".join(_formula(cell) or '""' for cell in row) for row in parts]
        return f"mat(delim: #none, {'; '.join(rows)})"
    arguments = [_formula(one) or '""' for one in parts]
    if tag == "mroot":
        return f"root({arguments[1]}, {arguments[0]})"
    if tag == "mfrac":
        if element.get("linethickness") == "0":
            return f"mat(delim: #none, {arguments[0]}; {arguments[1]})"
        return f"frac({arguments[0]}, {arguments[1]})"
    if tag == "mover" and (accent := _ACCENTS.get((parts[1].text or "").strip())):
        return f"{accent}({arguments[0]})"
    if tag in ("msub", "msup", "msubsup", "munder", "mover", "munderover"):
        return _scripts(tag, arguments)
    raise ValueError(f"Formulas of the pages for the authors have no {tag}.")


def _scripts(tag: str, arguments: list[str]) -> str:
    base, *scripts = arguments
    if tag.startswith(("munder", "mover")):
        base = f"limits({base})"
    names = {"msub": "b", "munder": "b", "msup": "t", "mover": "t"}.get(tag, "bt")
    return f"attach({base}, {', '.join(f'{name}: {one}' for name, one in zip(names, scripts, strict=True))})"


def _row(parts: list[Element]) -> str:
    """Elements side by side; a binomial coefficient is a fraction without a line between parentheses."""
    found: list[str] = []
    i = 0
    while i < len(parts):
        part = parts[i]
        bare = _tag(part) == "mfrac" and part.get("linethickness") == "0"
        if bare and found and found[-1] == r"\(":
            found[-1] = f"binom({', '.join(_formula(one) for one in part)})"
            i += 2  # with the closing parenthesis
            continue
        piece, roman = _formula(part), _ROMAN.fullmatch
        if found and (before := roman(found[-1])) and (after := roman(piece)):
            found[-1] = f'upright("{before[1]}{after[1]}")'  # one word
        else:
            found.append(piece)
        i += 1
    found = [one for one in found if one]
    if len(found) == 1:
        return found[0]
    # Typst has spaces around text that stands among other things, and none between an operator and a parenthesis
    return " ".join(_ROMAN.sub(r'op("\1")', one) if _ROMAN.fullmatch(one) else one for one in found)


def _leaf(tag: str, text: str, variant: str | None) -> str:
    if not text:
        return ""
    if text in ("|", "‖"):
        return f'class("normal", {text})'
    if tag == "mo" and len(text) == 1:
        return f"\\{text}" if text in "#$\\/_^&'\"()[]{},;:~*`|" else text
    if len(text) == 1 and text.isalpha() and tag == "mi":
        return f"upright({_string(text)})" if variant == "normal" else f"bold({text})" if variant == "bold" else text
    if tag == "mn":
        return _string(text)
    return f"op({_string(text)}{', limits: #true' if text in _LIMITS else ''})"
