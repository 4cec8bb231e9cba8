"""Faults drawn for the statements of a chapter, and which checks see them: the committed `faults.json`.

For each decided statement, places are drawn among the lines of the library that its deciding checks execute, and the
code there is changed. The deciding checks of the statement meet the fault first, then the other checks of its chapter,
then tests of the library and other chapters. `tests/mutants` draws and runs them; this module reads what came of it.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lemmata.theorems.ledger import DECIDED, Chapter, Statement, chapter_folders, chapter_of

__all__ = ["FILE", "SEEN", "DrawnFault", "Faults", "Tally", "fault_errors", "faults_of", "load_faults", "tally"]

FILE = "faults.json"
"""The name of the file in the folder of a chapter."""
SEEN = ("own", "chapter", "suite", "nothing")
"""By what a fault was seen first: the deciding checks of its statement, its chapter, the other tests, or nothing."""
LEAST = 6
"""How many faults a statement needs."""
SHARE = 0.8
"""The share of the faults that change anything which its own deciding checks see, or a sentence says why not."""


@dataclass(frozen=True)
class DrawnFault:
    """A change of the library, drawn for a statement.

    Attributes:
        statement: its id.
        file, line: where it stands, in the version of the draw.
        operator: what was done, a word of `tests/mutants`.
        before, after: the changed lines.
        seen: one of `SEEN`, on the day of the draw.
        by: the first test that failed, with "(time)" after it if it did not end in time.
        later: one of `SEEN`, after tests were added; None if that was not asked.
        later_by: the test that failed then.
        equivalent: why no test can tell it from the original, where that is argued.
        open: what is missing for a fault that is seen by nothing, while it is an error of the ledger.
    """

    statement: str
    file: str
    line: int
    operator: str
    before: str
    after: str
    seen: str
    by: str = ""
    later: str | None = None
    later_by: str = ""
    equivalent: str | None = None
    open: str | None = None

    @property
    def now(self) -> str:
        """By what it is seen today."""
        return self.later or self.seen


@dataclass(frozen=True)
class Faults:
    """What is committed for a chapter.

    Attributes:
        version: of the code for which the faults were drawn.
        seed: of the draw.
        why: sentences by statement, why it has fewer faults than `LEAST`, or its own checks see less than `SHARE`.
        faults: all of them, in the order of the ledger.
    """

    version: str
    seed: int
    why: Mapping[str, str]
    faults: tuple[DrawnFault, ...]


@dataclass(frozen=True)
class Tally:
    """How many faults were drawn, are seen by the deciding checks, are seen at all, change nothing, and are open."""

    drawn: int
    own: int
    seen: int
    equivalent: int
    open: int

    def __str__(self) -> str:
        """A sentence for a reader."""
        if not self.drawn:
            return "no faults were drawn"
        parts = f"{self.own} of {self.drawn} drawn faults are seen by its own checks, {self.seen} by any test"
        parts += f"; {self.equivalent} change nothing" if self.equivalent else ""
        return parts + (f"; {self.open} are open" if self.open else "")


@functools.cache
def load_faults(folder: Path) -> Faults | None:
    """The drawn faults of the chapter in a folder; None if there are none."""
    path = folder / FILE
    if not path.is_file():
        return None
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return Faults(data["version"], data["seed"], data["why"], tuple(DrawnFault(**one) for one in data["faults"]))


def faults_of(statement: str) -> list[DrawnFault]:
    """The faults drawn for the statement of an id."""
    for folder in chapter_folders():
        if folder.name == chapter_of(statement) and (found := load_faults(folder)) is not None:
            return [one for one in found.faults if one.statement == statement]
    return []


def tally(faults: Iterable[DrawnFault]) -> Tally:
    """The counts for some faults."""
    faults = list(faults)
    counted = [one for one in faults if one.equivalent is None]
    own = sum(one.now == "own" for one in counted)
    seen = sum(one.now != "nothing" for one in counted)
    unsettled = sum(one.now == "nothing" and one.open is not None for one in counted)
    return Tally(len(faults), own, seen, len(faults) - len(counted), unsettled)


def fault_errors(chapter: Chapter) -> list[str]:
    """A sentence for each decided statement of a chapter whose drawn faults are too few, or seen too seldom.

    A chapter without a file of drawn faults, such as one of another package, has no errors.
    """
    found = None if chapter.folder is None else load_faults(chapter.folder)
    if found is None:
        return []
    by_statement: dict[str, list[DrawnFault]] = {}
    for one in found.faults:
        by_statement.setdefault(one.statement, []).append(one)
    decided = {one.id: one for one in chapter.statements if one.verdict in DECIDED}
    errors = [
        f"{name}: {len(faults)} faults are drawn for its deciding checks, and the ledger does not call it decided."
        for name, faults in by_statement.items()
        if name not in decided
    ]
    for name, one in decided.items():
        errors += _errors(one, by_statement.get(name, []), found.why.get(name))
    return errors


def _errors(statement: Statement, faults: list[DrawnFault], why: str | None) -> list[str]:
    counts = tally(faults)
    errors = [
        f"{statement.id}: a fault in {one.file} ({one.before!r} became {one.after!r}) is seen by no test, and no "
        "sentence says that it changes nothing."
        for one in faults
        if one.now == "nothing" and one.equivalent is None
    ]
    if counts.drawn < LEAST and why is None:
        errors.append(f"{statement.id}: {counts.drawn} faults are drawn for it, not {LEAST}, and no sentence says why.")
    elif counts.own < SHARE * (counts.drawn - counts.equivalent) and why is None:
        errors.append(
            f"{statement.id}: its own checks see {counts.own} of {counts.drawn} faults, and no sentence says why."
        )
    return errors
