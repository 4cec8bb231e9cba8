"""Which lines of the library each test executes, and how long it takes: one traced run of every test file.

Each file runs alone in a new process, so that nothing is cached by another. What takes longer than `LONGEST` is not
used for mutants, nor is a test that fails without any mutant (say, for want of git).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from lemmata.numerics.runs.files import write_atomically
from tests.mutants.workers import LIBRARY, Request, Worker

LONGEST = 180.0
"""Seconds under the tracer, after which a file of tests is given up."""
_LEFT_OUT = (
    "tests/benchmarks/",
    "tests/mutants/",
    "tests/lemmata/site/",
    "tests/lemmata/scaffold/",
    "tests/theorems/test_faults",
    "tests/theorems/test_installed.py",
    "tests/constructions/networks/test_transformer_lens.py",
)
"""Tests that plant faults of their own, build a site or a package, or need another environment."""


def test_files(tree: Path) -> list[str]:
    """The files of tests that may decide on a mutant: those of the library first, then the checks of the chapters."""
    found = [
        str(path.relative_to(tree))
        for folder in ("tests", "theorems")
        for path in sorted((tree / folder).rglob("test_*.py"))
    ]
    return [name for name in found if not name.startswith(_LEFT_OUT)]


def place_of(folder: Path, name: str) -> Path:
    """The record of a file of tests."""
    return folder / f"{name.removesuffix('.py').replace('/', '.')}.json"


def measure(worker: Worker, folder: Path, name: str) -> str:
    """The record of a file of tests, made unless it is there; a line of progress, empty if nothing was to be done.

    A record is kept while the file and all files of the library that it imports are the same.

    Args:
        worker: where the tests run.
        folder: of the records, one per file of tests.
        name: of the file of tests.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = place_of(folder, name)
    if path.is_file():
        old = json.loads(path.read_text(encoding="utf-8"))
        if old["version"] == version_of(worker.tree, [name, *old.get("lines", {})]):
            return ""
    answer = worker.run(Request([name], LONGEST, cover=LIBRARY))
    version = version_of(worker.tree, [name, *(answer or {}).get("lines", {})])
    record = {"version": version, "file": name, "ended": answer is not None, **(answer or {})}
    write_atomically(json.dumps(record, separators=(",", ":")).encode(), path)
    return name if answer is not None else f"{name}: not used, it takes more than {LONGEST:.0f} s"


def version_of(tree: Path, names: Iterable[str]) -> str:
    """16 hexadecimal digits that change with any of the files."""
    digest = hashlib.sha256()
    for name in sorted(set(names)):
        path = tree / name
        digest.update(name.encode() + b"\0" + (path.read_bytes() if path.is_file() else b"") + b"\0")
    return digest.hexdigest()[:16]
