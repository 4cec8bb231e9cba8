"""Surveys: rows computed one by one, and their file, with a line for each row and how it was made."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lemmata.numerics.runs.items import Done, run

__all__ = ["made_by", "printed_rows", "rows_document"]


def printed_rows(work: Callable[[Any], Any], settings: Mapping[str, Any], folder: Path) -> list[Any]:
    """The result of every item, in the order of the settings; each is kept in the folder, and its fate printed.

    Raises:
        FailedItemsError: as `run`.
    """

    def report(done: Done) -> None:
        print(f"{done.key}: {'kept' if done.kept else done.error or 'done'}", flush=True)

    return list(run(work, settings, folder, None, report).values())


def made_by(command: str, **more: Any) -> dict[str, Any]:
    """The origin of a file: the command that makes it, what else matters, versions and date."""
    return {
        "command": command,
        **more,
        "lemmata": version("lemmata"),
        "python": platform.python_version(),
        "date": str(date.today()),
    }


def rows_document(
    format: str, version: int, origin: Mapping[str, Any], parts: Mapping[str, Iterable[Mapping[str, Any]]]
) -> bytes:
    """The file of a survey as JSON.

    Args:
        format, version: of the file.
        origin: how it was made.
        parts: lists of rows by their names, in this order.
    """
    head = json.dumps({"format": format, "version": version, "origin": origin}, indent=1)[:-2]
    texts = []
    for name, rows in parts.items():
        lines = ",\n".join("  " + json.dumps(row, separators=(",", ":")) for row in rows)
        texts.append(f" {json.dumps(name)}: [\n{lines}\n ]")
    body = ",\n".join(texts)
    return f"{head},\n{body}\n}}\n".encode("ascii")
