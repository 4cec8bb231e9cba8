"""``python -m tests.mutants.drawn``: faults drawn for the statements of a chapter, and which checks see them.

    python -m tests.mutants.drawn [--chapter NAME ...] [--seed 1] [--size 6] [--jobs 1] [--folder build/drawn]
                                  [--again [--statement ID ...] [--until own|chapter|suite]] [--write]

Everything happens in copies of the tracked files. What is known is kept in the folder, so that an interrupted run goes
on where it was. ``--write`` puts the results in ``theorems/<chapter>/faults.json``; ``--again`` draws nothing, but runs
those once more that are committed there, are not seen by the deciding checks and not argued to change nothing; of some
statements only, or with fewer tests, where that is said.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from lemmata.numerics.runs.files import write_atomically
from lemmata.theorems.faults import FILE, DrawnFault, Faults, load_faults, tally
from lemmata.theorems.ledger import DECIDED, Chapter, load_ledger
from lemmata.theorems.origin import origin
from tests.mutants.choice import Chosen, Record, mirrors, records
from tests.mutants.reach import measure, test_files
from tests.mutants.sample import Mutant, replanted
from tests.mutants.stages import STAGES, fates, other_tests, own_tests
from tests.mutants.statements import SIZE, Own, draw, own_checks
from tests.mutants.workers import ROOT, ServerError, Worker, copy_of_the_tree

SURVIVED = "survived"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit status, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants.drawn", description="Faults drawn for statements, and which checks see them."
    )
    parser.add_argument("--chapter", action="append", help="the name of a folder; all chapters unless given")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--size", type=int, default=SIZE, help="places for each statement")
    parser.add_argument("--jobs", type=int, default=1, help="test runs at a time, each in a copy of the tree")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "drawn", help="records and fates so far")
    parser.add_argument("--again", action="store_true", help="the committed faults that are not seen, once more")
    parser.add_argument("--statement", action="append", help="with --again: the id of a statement; all unless given")
    parser.add_argument("--until", choices=STAGES, default=STAGES[-1], help="the last tests that a fault meets")
    parser.add_argument("--write", action="store_true", help="put the results in the folders of the chapters")
    asked = parser.parse_args(arguments)
    chapters = [one for one in load_ledger().chapters if one.folder is not None and one.folder.is_relative_to(ROOT)]
    known = [one.name for one in chapters]
    if unknown := sorted(set(asked.chapter or ()) - set(known)):
        parser.error(f"there is no chapter {', '.join(unknown)}; the chapters are {', '.join(known)}")
    wanted = [one for one in chapters if not asked.chapter or one.name in asked.chapter]
    ids = {one.id for chapter in wanted for one in chapter.statements}
    if asked.statement and not asked.again:
        parser.error("--statement goes with --again")
    if unknown := sorted(set(asked.statement or ()) - ids):
        parser.error(f"there is no statement {', '.join(unknown)}")
    try:
        with tempfile.TemporaryDirectory(prefix="lemmata-drawn-") as folder, ExitStack() as stack:
            workers = []
            for number in range(asked.jobs):
                tree = Path(folder) / f"tree{number}"
                copy_of_the_tree(tree)
                workers.append(stack.enter_context(Worker(tree)))
            _work(asked, wanted, workers)
    except KeyboardInterrupt:
        print(f"interrupted; the same command goes on from {asked.folder}", file=sys.stderr)
        return 130
    except ServerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _work(asked: argparse.Namespace, wanted: Sequence[Chapter], workers: Sequence[Worker]) -> None:
    """The fates of all chapters that are wanted, their counts, and their files."""
    # The draw weighs a place by the statements of all chapters that go there; the same faults again need only theirs.
    places = tuple(f"theorems/{one.name}/" for one in wanted) if asked.again and asked.until != "suite" else "theorems/"
    checks = _measured(asked, workers, [name for name in test_files(ROOT) if name.startswith(places)])
    decided = [one.id for one in load_ledger().statements() if one.verdict in DECIDED]
    own = own_checks(checks, decided, ROOT)
    for chapter in wanted:
        assert chapter.folder is not None
        old = load_faults(ROOT / "theorems" / chapter.name)
        names = [one.id for one in chapter.statements if one.verdict in DECIDED]
        if asked.again and old is not None:
            some = {key: one for key, one in keyed(old.faults).items() if may_be_seen(one)}
            some = {key: one for key, one in some.items() if one.statement in (asked.statement or names)}
            mutants = _replanted(some)
        else:
            found = draw(own, names, ROOT, asked.seed, asked.size)
            mutants = {f"{name}#{place}": one for name in names for place, one in enumerate(found[name])}
        seen = _seen(asked, chapter.name, mutants, own, checks, workers)
        if asked.again and old is not None:
            new = Faults(old.version, old.seed, old.why, tuple(_later(old.faults, seen, asked)))
        else:
            version = str(origin(ROOT)["commit"] or "")
            new = Faults(version, asked.seed, {}, tuple(_fault(one, *seen[key]) for key, one in mutants.items()))
        print(f"{chapter.name}: {tally(new.faults)}")
        if asked.write:
            write_atomically(as_text(new).encode("utf-8"), ROOT / "theorems" / chapter.name / FILE)


def _measured(asked: argparse.Namespace, workers: Sequence[Worker], names: Iterable[str]) -> list[Record]:
    """The records of some files of tests, made where they are missing."""
    names = list(names)
    for name in names:
        if said := measure(workers[0], asked.folder / "reach", name):
            print(said, file=sys.stderr, flush=True)
    return records(asked.folder / "reach", names)


def _seen(
    asked: argparse.Namespace,
    chapter: str,
    mutants: Mapping[str, Mutant],
    own: Mapping[str, Own],
    checks: Sequence[Record],
    workers: Sequence[Worker],
) -> dict[str, tuple[str, str]]:
    """By what each mutant is seen first, and the test that failed."""
    by_file = {one.file: one for one in checks}
    of_chapter = [one for one in checks if one.file.startswith(f"theorems/{chapter}/")]
    of_others = [one for one in checks if one not in of_chapter]

    def suite(mutant: Mutant) -> Chosen:
        library = records(asked.folder / "reach", mirrors(mutant.file, ROOT))
        return other_tests(mutant, own[mutant.room], [*library, *of_others], ROOT)

    plans = {
        "own": lambda mutant: own_tests(own[mutant.room], by_file),
        "chapter": lambda mutant: other_tests(mutant, own[mutant.room], of_chapter, ROOT),
        "suite": suite,
    }
    found: dict[str, tuple[str, str]] = {}
    left = dict(mutants)
    for stage, plan in list(plans.items())[: STAGES.index(asked.until) + 1]:
        if stage == "suite":
            _measured(asked, workers, sorted({name for one in left.values() for name in mirrors(one.file, ROOT)}))
        log = asked.folder / f"{chapter}-{stage}{'-again' if asked.again else ''}.jsonl"
        done = fates(left, plan, workers, log, report=lambda line: print(line, file=sys.stderr, flush=True))
        found |= {key: (stage, _by(fate)) for key, fate in done.items() if fate["status"] != SURVIVED}
        left = {key: one for key, one in left.items() if key not in found}
    return found | dict.fromkeys(left, ("nothing", ""))


def may_be_seen(fault: DrawnFault) -> bool:
    """Whether a fault is not seen by the deciding checks, and not argued to change nothing."""
    return fault.now != "own" and fault.equivalent is None


def keyed(faults: Sequence[DrawnFault]) -> dict[str, DrawnFault]:
    """The faults by statement and number."""
    found: dict[str, DrawnFault] = {}
    for one in faults:
        place = sum(other.statement == one.statement for other in found.values())
        found[f"{one.statement}#{place}"] = one
    return found


def _replanted(faults: Mapping[str, DrawnFault]) -> dict[str, Mutant]:
    """The faults whose lines are still there, in the files as they are now."""
    found = {}
    for key, one in faults.items():
        try:
            found[key] = replanted(_entry(one), ROOT)
        except (ValueError, OSError) as error:
            print(f"{key} is passed over: {error}", file=sys.stderr)
    return found


def _entry(fault: DrawnFault) -> dict[str, Any]:
    """A fault in the words of `replanted`."""
    names = ("file", "line", "operator", "before", "after")
    return {"room": fault.statement, "column": 0} | {name: getattr(fault, name) for name in names}


def _fault(mutant: Mutant, seen: str, by: str) -> DrawnFault:
    return DrawnFault(mutant.room, mutant.file, mutant.line, mutant.operator, mutant.before, mutant.after, seen, by)


def _later(
    faults: Sequence[DrawnFault], seen: Mapping[str, tuple[str, str]], asked: argparse.Namespace
) -> Iterable[DrawnFault]:
    """The faults with what is known now; what was not asked of all tests keeps what was known."""
    for key, one in keyed(faults).items():
        if key not in seen:
            yield one
        else:
            later, by = seen[key]
            if later == "nothing" and asked.until != STAGES[-1]:
                later, by = one.later, one.later_by
            yield DrawnFault(**(vars(one) | {"later": later, "later_by": by}))


def _by(fate: Mapping[str, Any]) -> str:
    """The test that failed, without the values of its parameters, which may be long; or that it did not end."""
    test = fate["by"].partition("[")[0]
    return f"{test} (time)" if fate["status"] == "timeout" else test


def as_text(faults: Faults) -> str:
    """The text of a file: one sentence or fault per line; what has its default is left out."""
    head = json.dumps({"version": faults.version, "seed": faults.seed}, ensure_ascii=False)[:-1]
    why = ",\n".join(f"{json.dumps(name)}: {json.dumps(text, ensure_ascii=False)}" for name, text in faults.why.items())
    lines = ",\n".join(
        json.dumps({name: value for name, value in vars(one).items() if value not in ("", None)}, ensure_ascii=False)
        for one in faults.faults
    )
    return f'{head}, "why": {{\n{why}\n}}, "faults": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    sys.exit(main())
