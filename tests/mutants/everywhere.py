"""``python -m tests.mutants.everywhere``: faults drawn over all rooms at once, with a seed that is chosen afterwards.

    python -m tests.mutants.everywhere --seed 5 [--size 150] [--seconds 3000] [--folder build/everywhere] [--write]

`tests.mutants` draws so many from each room, and measures all tests first. Here every file of the library has a chance
that grows with its length, the site, the commands, the chapters' experiments and helpers among them. A fault meets the
files of tests that mirror its module, then those that import it, also through others (a command through the command
line): those that import it directly before others, those that name it before others, the nearest first, and deciding
checks before tests of the library. It meets all that import it directly, up to `MANY`, and at least `FEW`. They run
one, two, four and so on at a time, until one sees it or `ENOUGH` seconds of the processor are spent; the clock decides
nothing, so that other work on the machine changes no fate. One fault is done to its end before the next begins: where
time ends early, the fates are those of the first faults drawn.

A fault is *seen* if a test fails that passes without it, or the interpreter dies. Out of time is not seen, nor is what
only the test of fingerprints sees, to which every change of an experiment's code is one. Each draw is a file in
`draws`. `CRITERION` was committed before the first one. `met` in the file of a draw says what its faults met, which
differs in the first one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from lemmata.numerics.runs.confidence import proportion_interval
from lemmata.numerics.runs.files import write_atomically
from tests.mutants.choice import _distances, _mirrors, mirrors
from tests.mutants.results import as_text, load
from tests.mutants.sample import Mutant, mutants_at, places_of
from tests.mutants.trial import batches, planted
from tests.mutants.workers import LIBRARY, ROOT, Request, Worker, copy_of_the_tree, files_of_the_tree

CRITERION = 0.93
"""The share of the first fates that is to be seen."""
DRAWS = Path(__file__).with_name("draws")
RESULTS = "tests/theorems/test_results.py"
FINGERPRINTS = f"{RESULTS}::test_the_code_of_today_made_every_result_or_repeated_slices_of_it"
FEW, MANY = 12, 32
LIMIT, ENOUGH = 180.0, 240.0
"""Seconds of the processor: of one test, which may build the site; and after which a fault meets no further files."""
CLOCK = 3600.0
"""Seconds of the clock that a run may take; without the processor it may take `server.IDLE`."""
_LEFT_OUT = ("tests/benchmarks/", "tests/mutants/", "tests/constructions/networks/test_transformer_lens.py")
"""Tests that are not of the library, plant faults of their own, or need another environment."""

MET = f"up to {MANY} files of tests, for {ENOUGH:.0f} seconds of the processor"
"""What a fault meets, in words."""


def files_to_change(root: Path) -> list[str]:
    """The Python files of the library without its tests, in order."""
    kept = re.compile(rf"(?:{'|'.join(LIBRARY)})/(?!scaffold/template/).*(?<!__init__)\.py")
    return sorted(one for one in files_of_the_tree(root) if kept.fullmatch(one) and "/test_" not in one)


def drawn(seed: str, root: Path) -> Iterator[Mutant]:
    """Faults without end, each in a file that is drawn by its length and at a place of it that is drawn evenly."""
    draw, files = random.Random(seed), files_to_change(root)
    lengths = [(root / one).stat().st_size for one in files]
    found: set[tuple[str, int, int, str]] = set()
    while True:
        [file] = draw.choices(files, lengths)
        places = places_of(file, root)
        if not places:
            continue
        place = draw.choice(places)
        one = next(mutants_at(file.split("/")[0], place, root, draw), None)
        key = (file, place.line, place.column, place.family)
        if one is not None and key not in found:
            found.add(key)
            yield one


def files_met(file: str, tree: Path) -> list[str]:
    """Files of tests: what mirrors a module, deciding checks and others that import it; if few, the nearest others."""
    exact, folder = _mirrors(file)
    names = re.compile(rf"\b{re.escape(Path(file).stem)}\b")
    imported = {
        one: far
        for one, far in _distances(file, tree).items()
        if Path(one).name.startswith("test_") and not one.startswith(_LEFT_OUT)
    }

    def mirrored(one: str) -> bool:
        return one == exact or one.startswith(folder)

    def order(one: str) -> tuple[bool, bool, bool, int, bool, int]:
        text, far = (tree / one).read_text(encoding="utf-8"), imported.get(one, 99)
        unnamed, library = not names.search(text), not one.startswith("theorems/")
        return not mirrored(one), far > 1, unnamed, far, library, len(text)

    own = {exact} if (tree / exact).is_file() else set[str]()
    found = sorted({*mirrors(file, tree), *imported, *own}, key=order)
    near = sum(mirrored(one) or imported.get(one) == 1 for one in found)
    found = found[: min(MANY, max(FEW, near))]
    return [*found, RESULTS] if "/experiments/" in file and RESULTS not in found else found


class Judge:
    """Runs of tests in a copy of the tree, and which tests fail there without any fault."""

    def __init__(self, worker: Worker) -> None:
        self.worker, self.broken, self.sound = worker, {FINGERPRINTS}, set[str]()

    def fate(self, mutant: Mutant) -> dict[str, Any]:
        """The fate of a fault: killed, timeout or survived, by which test, among how many files."""
        spent = {"files": 0, "processor": 0}
        for files in batches(files_met(mutant.file, self.worker.tree)):
            if spent["processor"] > ENOUGH:
                break
            spent["files"] += len(files)
            while True:
                request = Request(files, CLOCK, without=sorted(self.broken), stop=True, slack=LIMIT)
                with planted(self.worker.tree, mutant):
                    answer = self.worker.run(request)
                if answer is None:
                    return {"status": "timeout", "by": "", **spent}
                spent["processor"] += round(answer["processor"])
                if not answer["failed"]:
                    break
                by = answer["failed"][0]
                if by.startswith("(") or self._passes(by):  # the interpreter died, or the imports took too long
                    status = "timeout" if answer["late"] else "killed"
                    return {"status": status, "by": by, "reason": answer["reason"][:160], **spent}
                self.broken.add(by)
            if answer["status"] not in (0, 1, 5):  # 1 is the ledger's word on checks not run, 5: there is no test
                return {"status": "killed", "by": "", "reason": "pytest itself ended", **spent}
        return {"status": "survived", "by": "", **spent}

    def _passes(self, test: str) -> bool:
        """Whether a test, or the import of a file of tests, passes without a fault."""
        if test not in self.sound and test not in self.broken:
            answer = self.worker.run(Request([test], CLOCK, slack=LIMIT))
            if answer is not None and not answer["failed"] and answer["status"] in (0, 1):
                self.sound.add(test)
        return test in self.sound


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants.everywhere", description="Faults of all rooms at once."
    )
    parser.add_argument("--seed", required=True, help="of the draw; the commit whose code is judged is a good one")
    parser.add_argument("--size", type=int, default=150, help="faults")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no fault is begun after so many")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "everywhere", help="fates so far")
    parser.add_argument("--write", action="store_true", help=f"put the fates into {DRAWS.name}/")
    asked = parser.parse_args(arguments)
    asked.folder.mkdir(parents=True, exist_ok=True)
    kept = asked.folder / f"{asked.seed}.json"
    fates: dict[str, dict[str, Any]] = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {}
    end = time.monotonic() + asked.seconds
    entries: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="lemmata-mutants-") as folder:
        tree = Path(folder) / "tree"
        copy_of_the_tree(tree)
        with Worker(tree) as worker:
            judge = Judge(worker)
            for number, one in enumerate(islice(drawn(asked.seed, ROOT), asked.size)):
                if str(number) not in fates:
                    if time.monotonic() > end:
                        break
                    fates[str(number)] = judge.fate(one)
                    write_atomically(json.dumps(fates).encode("utf-8"), kept)
                    print(number, one.file, one.line, fates[str(number)], file=sys.stderr, flush=True)
                entries.append(_entry(one, fates[str(number)]))
    seen = sum(one["first"]["status"] == "killed" for one in entries)
    print(f"{seen} of {len(entries)} seen: {proportion_interval(seen, len(entries))}; {CRITERION:.0%} were asked for")
    if asked.write:
        write_draw(DRAWS / f"{asked.seed[:8]}.json", asked.seed, asked.size, entries)
    return 0


def _entry(one: Mutant, fate: dict[str, Any]) -> dict[str, Any]:
    """A fault and its fate as they are committed."""
    names = ("file", "line", "column", "operator", "before", "after")
    return {name: getattr(one, name) for name in names} | {"first": fate}


def write_draw(path: Path, seed: str, size: int, entries: list[dict[str, Any]]) -> None:
    """The file of a draw; what it says of a fault already (`later`, `equivalent`, `gone`, `open`) stays."""
    told = load(path)["mutants"] if path.is_file() else []
    entries = [one | (told[place] if place < len(told) else {}) for place, one in enumerate(entries)]
    document = {"seed": seed, "drawn": size, "criterion": CRITERION, "met": MET, "mutants": entries}
    write_atomically(as_text(document).encode("utf-8"), path)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(main())
