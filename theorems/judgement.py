"""The last judgement of every entry, frozen: `judged.txt` of a chapter, and ``python -m lemmata.theorems.judgement``.

A line holds an id, the date of its last judgement, verdict, reach and grade (a dash for none), and two digests: of all
that the ledger says in the entry, and of all tests that are evidence for it, deciding or supporting, with what they
claim to be. So a verdict, a reach, a grade, a number of a corrected form or the role of a test changes in two places or
not at all: where only one changed, a run of the chapter is in error. After a change that is meant,

    python -m lemmata.theorems.judgement turing --write

says what is new in each entry, and freezes it with the date of the day.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import functools
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lemmata.numerics.runs.files import write_atomically
from lemmata.theorems.citations import citations
from lemmata.theorems.evidence import GRADES
from lemmata.theorems.ledger import Chapter, Statement, load_ledger

__all__ = ["FILE", "Judgement", "judge", "judgement_errors", "load_judgements"]

FILE = "judged.txt"
"""The name of the file in the folder of a chapter."""
COMMAND = "python -m lemmata.theorems.judgement {} --write"


@dataclasses.dataclass(frozen=True)
class Judgement:
    """What is frozen of an entry.

    Attributes:
        date: of the judgement, such as 2026-11-28.
        verdict, reach, grade: as in the ledger; a dash where there is none.
        text: a digest of the entry.
        tests: a digest of its tests: file, name, kind, target, grade, whether they only support it, and cases.
    """

    date: str
    verdict: str
    reach: str
    grade: str
    text: str
    tests: str


def judge(statement: Statement, date: str) -> Judgement:
    """The judgement that an entry and its tests, as they are now, amount to.

    Raises:
        ValueError: if the decorators of the tests cannot be read.
    """
    cited = citations(statement.id)
    grade = max((one.evidence.grade for one in cited if not one.evidence.supporting), key=GRADES.index, default="-")
    tests = sorted([one.node, *map(str, dataclasses.astuple(one.evidence))] for one in cited)
    entry = {name: value for name, value in dataclasses.asdict(statement).items() if value}
    return Judgement(date, statement.verdict, statement.reach or "-", grade, _digest(entry), _digest(tests))


def _digest(data: Any) -> str:
    text = json.dumps(data, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]


@functools.cache
def load_judgements(folder: Path) -> Mapping[str, Judgement] | None:
    """The frozen judgements of the chapter in a folder by id; None if it has none.

    Raises:
        ValueError: if a line is no judgement.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        name, *words = line.split()
        if len(words) != len(dataclasses.fields(Judgement)) or name in found:
            raise ValueError(f"{folder.name}/{FILE}, line {number}: an id, once, and six words, not {line!r}.")
        found[name] = Judgement(*words)
    return found


def judgement_errors(chapter: Chapter) -> Iterator[str]:
    """A sentence for each entry of a chapter that is not as it was judged; none for a chapter without judgements."""
    frozen = None if chapter.folder is None else load_judgements(chapter.folder)
    if frozen is None:
        return
    for statement in chapter.statements:
        old = frozen.get(statement.id)
        if old is None:
            yield f"{statement.id} has no judgement in {FILE}: {COMMAND.format(chapter.name)} makes one."
        elif changes := changed(old, judge(statement, old.date)):
            yield (
                f"{statement.id} was judged on {old.date}, and since then {', '.join(changes)}: put that back, or, if "
                f"it is meant, freeze it ({COMMAND.format(chapter.name)})."
            )
    for name in frozen.keys() - {one.id for one in chapter.statements}:
        yield f"{FILE} of {chapter.name} judges {name}, which is no statement of its ledger."


def changed(old: Judgement, new: Judgement) -> list[str]:
    """What differs between two judgements, in words."""
    words = [
        f"its {name} changed from {getattr(old, name)} to {getattr(new, name)}"
        for name in ("verdict", "reach", "grade")
        if getattr(old, name) != getattr(new, name)
    ]
    words += ["a text of its entry changed"] if old.text != new.text else []
    return words + (["a test of it, deciding or supporting, changed its role"] if old.tests != new.tests else [])


def as_text(judgements: Mapping[str, Judgement]) -> str:
    """The text of the file: a line for each entry."""
    return "".join(f"{name} {' '.join(dataclasses.astuple(one))}\n" for name, one in judgements.items())


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit status is 1 if something differs and is not written."""
    parser = argparse.ArgumentParser(
        prog="python -m lemmata.theorems.judgement", description="Compare entries of the ledger with what was judged."
    )
    parser.add_argument("chapter", nargs="*", help="the name of a folder; all chapters of this toolkit unless given")
    parser.add_argument("--write", action="store_true", help="freeze what is there now, with the date of today")
    asked = parser.parse_args(arguments)
    chapters = {one.name: one for one in load_ledger().chapters if one.folder is not None}
    if unknown := sorted(set(asked.chapter) - set(chapters)):
        parser.error(f"there is no chapter {', '.join(unknown)}; the chapters are {', '.join(chapters)}")
    today, differs = datetime.date.today().isoformat(), False
    for name in asked.chapter or chapters:
        folder = chapters[name].folder
        assert folder is not None
        frozen = load_judgements(folder) or {}
        now = {}
        for statement in chapters[name].statements:
            old, new = frozen.get(statement.id), judge(statement, today)
            changes = ["it is new"] if old is None else changed(old, new)
            now[statement.id] = new if old is None or changes else old
            if changes:
                print(f"{statement.id}: {', '.join(changes)}")
        differs |= now != dict(frozen)
        if asked.write:
            write_atomically(as_text(now).encode("utf-8"), folder / FILE)
    return int(differs and not asked.write)


if __name__ == "__main__":
    sys.exit(main())
