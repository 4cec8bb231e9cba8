"""What the pages of the site are made from: every statement with its evidence, and what rests on what.

Two kinds of edges join statements, and none is written by hand. A *claim* edge leads from a statement to one that its
entry cites: under `depends`, under the claims of a summary, or in its texts. An *evidence* edge joins two statements
that are decided by running the same function of the library, one that decides at most `SHARED` statements in all (what
half of a chapter runs says nothing of two of them). A notebook belongs to a statement if it names its id, or calls by
its public name a function that decides the statement and at most `IN_NOTEBOOKS` in all.
"""

from __future__ import annotations

import ast
import functools
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import lemmata
from lemmata.reports.ledger import claimed_grade
from lemmata.site.prose import mentioned
from lemmata.theorems.citations import Citation, citations
from lemmata.theorems.ledger import THEOREMS, Chapter, Ledger, Statement, load_ledger
from lemmata.theorems.reached import reached

__all__ = ["SHARED", "Edges", "Entry", "Library", "edges_of", "load_library"]

SHARED = 4
"""A function of the library is evidence that joins statements if it decides at most so many."""

IN_NOTEBOOKS = 12
"""A notebook that calls a function of the library belongs to the statements that it decides, if they are so few."""


@dataclass(frozen=True)
class Entry:
    """A statement, its chapter, the tests that are evidence for it, its weakest deciding grade, and its notebooks."""

    chapter: Chapter
    statement: Statement
    evidence: tuple[Citation, ...]
    grade: str | None
    notebooks: tuple[str, ...]

    @property
    def deciding(self) -> tuple[Citation, ...]:
        """The tests that decide the statement."""
        return tuple(one for one in self.evidence if not one.evidence.supporting)


@dataclass(frozen=True)
class Edges:
    """What joins statements: by id, the ids that an entry cites, and the pairs that share evidence, with its names."""

    claims: Mapping[str, tuple[str, ...]]
    evidence: Mapping[tuple[str, str], tuple[str, ...]]

    def citing(self, name: str) -> tuple[str, ...]:
        """The statements whose entries cite this one."""
        return tuple(one for one, cited in self.claims.items() if name in cited)

    def sharing(self, name: str) -> dict[str, tuple[str, ...]]:
        """The statements that share evidence with this one, each with the functions of the library."""
        found = {}
        for (first, second), functions in self.evidence.items():
            if name in (first, second):
                found[second if name == first else first] = functions
        return found


@dataclass(frozen=True)
class Library:
    """All entries by id, in the order of the ledger."""

    ledger: Ledger
    entries: Mapping[str, Entry]

    @functools.cached_property
    def titles(self) -> dict[str, str]:
        """The titles of the statements by id."""
        return {name: entry.statement.title for name, entry in self.entries.items()}


def load_library(notebooks: Path) -> Library:
    """The ledger with all its evidence.

    Args:
        notebooks: the folder of the notebooks, which are searched for ids of statements.

    Raises:
        LedgerError: if the ledger contradicts its own rules.
        OSError: if the folder cannot be read.
    """
    cells = {path.stem: _cells(path) for path in sorted(notebooks.glob("*.ipynb"))}
    named = {name: set(mentioned("\n".join([*prose, *code]))) for name, (prose, code) in cells.items()}
    called = {name: frozenset().union(*map(_called, code)) for name, (_, code) in cells.items()}
    ledger = load_ledger()
    entries = {}
    for chapter in ledger.chapters:
        for statement in chapter.statements:
            evidence = tuple(citations(statement.id))
            entries[statement.id] = Entry(chapter, statement, evidence, claimed_grade(evidence), ())
    deciding = _deciding(entries)
    for name, entry in entries.items():
        own = {function for function, names in deciding.items() if name in names and len(names) <= IN_NOTEBOOKS}
        found = tuple(one for one in cells if name in named[one] or own & called[one])
        entries[name] = replace(entry, notebooks=found)
    return Library(ledger, entries)


def edges_of(library: Library) -> Edges:
    """The edges between all statements."""
    claims = {
        name: tuple(one for one in dict.fromkeys(_cited(entry.statement)) if one != name and one in library.entries)
        for name, entry in library.entries.items()
    }
    shared: dict[tuple[str, str], list[str]] = defaultdict(list)
    order = {name: place for place, name in enumerate(library.entries)}
    for function, names in sorted(_deciding(library.entries).items()):
        if 2 <= len(names) <= SHARED:
            for first, second in combinations(sorted(names, key=order.__getitem__), 2):
                shared[first, second].append(function)
    return Edges(claims, {pair: tuple(functions) for pair, functions in shared.items()})


def _cited(statement: Statement) -> Iterator[str]:
    yield from statement.depends
    for claim in statement.claims:
        yield from claim.rests_on
    for text in (statement.statement, statement.reason, statement.erratum, statement.corrected, statement.deviation):
        yield from mentioned(text or "")


@functools.cache
def _reached(file: str, test: str) -> frozenset[str]:
    return reached(THEOREMS.parent / file, test)


def _deciding(entries: Mapping[str, Entry]) -> dict[str, set[str]]:
    """The functions of the library, each with the statements whose deciding tests run it."""
    deciding: dict[str, set[str]] = defaultdict(set)
    for name, entry in entries.items():
        for one in entry.deciding:
            for function in _reached(one.file, one.test):
                deciding[function].add(name)
    return deciding


def _cells(path: Path) -> tuple[list[str], list[str]]:
    """The texts of a notebook and its code, cell by cell, without outputs."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    sources = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    return [text for kind, text in sources if kind != "code"], [text for kind, text in sources if kind == "code"]


def _called(code: str) -> frozenset[str]:
    """The functions and classes that a cell names by the front door, ``lm.x`` or ``lm.room.x``, by their full names."""
    tree = ast.parse("\n".join(line for line in code.splitlines() if not line.startswith("%")))
    found = set()
    for node in ast.walk(tree):
        names: list[str] = []
        inner: ast.AST = node
        while isinstance(inner, ast.Attribute):
            names.insert(0, inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and inner.id == "lm" and names:
            value: Any = lemmata
            for name in names:
                value = getattr(value, name, None) if isinstance(value, ModuleType) else value
            if hasattr(value, "__qualname__"):
                found.add(f"{value.__module__}.{value.__qualname__}")
    return frozenset(found)
