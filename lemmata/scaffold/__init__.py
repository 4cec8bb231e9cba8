"""A new chapter: a package with a ledger, a worked statement of either kind, a construction, its faults and a notebook.

The files lie in `template/`, with the ending ``.txt`` and three words to be filled in: the name of the package
(``NAME``), the beginning of its ids (``IDS``) and its title (``TITLE``). Source: `lemmata new-chapter`.
"""

from __future__ import annotations

import keyword
import re
import sys
import tempfile
from pathlib import Path

from lemmata.theorems.ledger import chapter_folders

__all__ = ["create_chapter"]

TEMPLATE = Path(__file__).parent / "template"
_NAME = re.compile(r"[a-z][a-z]*(_[a-z]+)*")


def create_chapter(name: str, parent: Path) -> Path:
    """The folder of a new chapter, which appears at one stroke.

    Args:
        name: of the package: lower-case words joined by underscores, such as ``knots`` or ``tropical_networks``.
        parent: the folder in which a folder of that name is made.

    Raises:
        ValueError: for a name that is none, that Python or a chapter of the ledger has already.
        FileExistsError: if there is something of that name.
        OSError: if the folder cannot be written.
    """
    if keyword.iskeyword(name):
        raise ValueError(f"{name} is a word of Python's own and cannot be the name of a package: choose another.")
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"A chapter is called by lower-case words joined by underscores, such as tropical_networks, not {name!r}."
        )
    if name in {folder.name for folder in chapter_folders()}:
        raise ValueError(f"There is a chapter {name} already.")
    if name in sys.stdlib_module_names or name == "lemmata":
        raise ValueError(f"{name} is the name of a package that is there already: choose another.")
    target = parent / name
    if target.exists() or target.is_symlink():
        raise FileExistsError(f"{target} exists: choose another name, or another folder with --in.")
    words = {"NAME": name, "IDS": name.replace("_", "-"), "TITLE": name.replace("_", " ").capitalize()}
    with tempfile.TemporaryDirectory(dir=parent, prefix=f".{name}-") as folder:
        made = Path(folder) / name
        for source in sorted(path for path in TEMPLATE.rglob("*.txt") if path.is_file()):
            place = made / _filled(source.relative_to(TEMPLATE).as_posix().removesuffix(".txt"), words)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(_filled(source.read_text(encoding="utf-8"), words), encoding="utf-8")
        made.rename(target)
    return target


def _filled(text: str, words: dict[str, str]) -> str:
    for word, value in words.items():
        text = re.sub(rf"(?<![A-Z]){word}(?![A-Z])", value, text)
    return text
