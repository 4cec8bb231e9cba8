"""The pages of the public names: the front door and its rooms, from their docstrings and signatures.

Docstrings of this project are prose, examples with an indentation, and sections (Args, Returns, Raises, Attributes) of
entries; they become Markdown here, in which every character of the prose means itself.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from textwrap import dedent

import lemmata
from lemmata.site.prose import escaped, fenced

__all__ = ["docstring_markdown", "reference_pages"]

_HEADING = re.compile(r"^(?=\S)(.+)\n((?:    .*\n?)+)", re.MULTILINE)
_SECTION = re.compile(r"(Args|Attributes|Returns|Yields|Raises|Note|Source|Sources):(.*)", re.DOTALL)
_ENTRY = re.compile(r"([\w*., ]+):\s+(.*)", re.DOTALL)
_CODE = re.compile(r"``([^`]+)``|`([^`]+)`")


def reference_pages() -> dict[str, str]:
    """The pages ``reference/...`` by place: the flat namespace by subject, and a page for each room."""
    rooms = [name for name in lemmata.__all__ if inspect.ismodule(getattr(lemmata, name))]
    lines = [f"- [lm.{name}]({name}.md): {_first_line(import_module(f'lemmata.{name}'))}" for name in rooms]
    index = (
        "# Reference\n\nEverything public is in `import lemmata as lm`: [names of its own](lemmata.md), and rooms for "
        "work on one subject:\n\n" + "\n".join(lines) + "\n"
    )
    return {
        "reference/index.md": index,
        "reference/lemmata.md": _front_door(rooms),
        **{f"reference/{name}.md": _room(name) for name in rooms},
    }


def docstring_markdown(text: str) -> str:
    """A docstring, without the indentation of its source, as Markdown."""
    return "\n\n".join(_blocks(inspect.cleandoc(text)))


def _blocks(text: str) -> Iterator[str]:
    for block in re.split(r"\n\s*\n", text):
        if section := _SECTION.fullmatch(block):
            yield f"**{section[1]}**" + (
                f" {_prose(section[2])}" if section[2].strip() and "\n" not in section[2] else ""
            )
            yield from _entries(dedent(section[2].strip("\n")) if "\n" in section[2] else "")
        elif all(line.startswith("    ") for line in block.splitlines()):
            yield fenced(dedent(block), "python")
        else:
            yield _prose(block)


def _entries(body: str) -> Iterator[str]:
    """The entries of a section as a list; lines that continue an entry are indented."""
    if not body.strip():
        return
    items = []
    for item in re.split(r"\n(?=\S)", body.strip()):
        plain = " ".join(line.strip() for line in item.splitlines())
        entry = _ENTRY.fullmatch(plain)
        items.append(f"- `{entry[1]}`: {_prose(entry[2])}" if entry else f"- {_prose(plain)}")
    yield "\n".join(items)


def _prose(text: str) -> str:
    """Words in which only `...` and ``...`` are markup."""
    parts, end = [], 0
    for found in _CODE.finditer(text):
        parts += [escaped(text[end : found.start()]), f"`{found[1] or found[2]}`"]
        end = found.end()
    return "".join([*parts, escaped(text[end:])])


def _front_door(rooms: list[str]) -> str:
    """The names of the flat namespace under the headings of its docstring."""
    left = [name for name in lemmata.__all__ if name not in rooms]
    parts = ["# import lemmata as lm"]
    for heading, body in _HEADING.findall(inspect.getdoc(lemmata) or ""):
        own = [name for name in left if re.search(rf"(?<![\w.]){name}(?!\w)", body)]
        if own and "lm." not in body:
            left = [name for name in left if name not in own]
            parts += [f"## {heading.strip()}", *(_object(f"lm.{name}", getattr(lemmata, name), 3) for name in own)]
    parts += ["## Others"] if left else []
    parts += [_object(f"lm.{name}", getattr(lemmata, name), 3) for name in left]
    return "\n\n".join(parts) + "\n"


def _room(name: str) -> str:
    module = import_module(f"lemmata.{name}")
    parts = [f"# lm.{name}", docstring_markdown(inspect.getdoc(module) or "")]
    parts += [_object(f"lm.{name}.{one}", getattr(module, one), 2) for one in module.__all__]
    return "\n\n".join(parts) + "\n"


def _first_line(value: object) -> str:
    return _prose((inspect.getdoc(value) or "").partition("\n")[0])


def _object(path: str, value: object, level: int) -> str:
    """The signature and the docstring of one name under a heading, and those of the public methods of a class."""
    text = inspect.getdoc(value) if callable(value) or inspect.ismodule(value) else None
    parts = [f"{'#' * level} {path}"]
    if callable(value):
        parts.append(fenced(path.rpartition(".")[2] + _signature(value), "python"))
    else:
        parts.append(f"A constant of the type `{type(value).__name__}`.")
    parts.append(docstring_markdown(text or ""))
    if inspect.isclass(value):
        parts += [_member(name, member) for name, member in vars(value).items() if not name.startswith("_")]
    return "\n\n".join(part for part in parts if part)


def _member(name: str, member: object) -> str:
    target = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
    if not (inspect.isfunction(target) and target.__doc__):
        return ""
    shown = name if isinstance(member, property) else f"{name}{_signature(target)}"
    first = docstring_markdown(target.__doc__).partition("\n\n")[0]
    return f"`{shown.replace('`', '')}`\n: {first}"


def _signature(value: object) -> str:
    """The signature as it is written, without the quotes of annotations."""
    try:
        text = str(inspect.signature(value))  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        return "(...)"
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", re.sub(r"<class '([\w.]+)'>", r"\1", text))
