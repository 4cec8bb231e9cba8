"""``python -m tests.mutants.everywhere``: faults drawn over all rooms at once, with a seed that is chosen afterwards.

    python -m tests.mutants.everywhere --seed 5 [--size 150] [--seconds 3000] [--folder build/everywhere] [--write]

`tests.mutants` draws so many from each room, and measures all tests first. Here every file of the library has a chance
that grows with its length, the site, the commands, the chapters' experiments and helpers among them, and a fault meets
the tests that mirror its module, then those that import it, deciding checks before others, up to `FEW` files; what
survives them meets `MANY`. The fates stand in `everywhere.json`, in the order of the draw: where time ends early, they
are those of its first faults. A fault is *seen* if a test fails that passes without it; one that no test decides in its
time is not, nor one that only the test of fingerprints sees, to which every change of an experiment's code is one.
`CRITERION` was committed before the first draw.
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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lemmata.numerics.runs.confidence import proportion_interval
from lemmata.numerics.runs.files import write_atomically
from tests.mutants.choice import _distances, _mirrors, mirrors
from tests.mutants.results import as_text
from tests.mutants.sample import Mutant, mutants_at, places_of
from tests.mutants.trial import planted
from tests.mutants.workers import LIBRARY, ROOT, Request, Worker, copy_of_the_tree, files_of_the_tree

CRITERION = 0.93
"""The share of the first fates that is to be seen."""
FATES = Path(__file__).with_name("everywhere.json")
RESULTS = "tests/theorems/test_results.py"
FINGERPRINTS = f"{RESULTS}::test_the_code_of_today_made_every_result_or_repeated_slices_of_it"
FEW, MANY = 4, 16
LIMITS = {FEW: 120.0, MANY: 300.0}
"""Seconds of the clock for a fault, by how many files of tests it meets."""


def files_to_change(root: Path) -> list[str]:
    """The Python files of the library without its tests, in order."""
    kept = re.compile(rf"(?:{'|'.join(LIBRARY)})/(?!scaffold/template/).*(?<!__init__)\.py")
    return sorted(one for one in files_of_the_tree(root) if kept.fullmatch(one) and "/test_" not in one)


def drawn(seed: str, size: int, root: Path) -> list[Mutant]:
    """So many faults, each in a file that is drawn by its length and at a place of it that is drawn evenly."""
    draw, files = random.Random(seed), files_to_change(root)
    lengths = [(root / one).stat().st_size for one in files]
    found: dict[tuple[str, int, int, str], Mutant] = {}
    while len(found) < size:
        [file] = draw.choices(files, lengths)
        places = places_of(file, root)
        if not places:
            continue
        place = draw.choice(places)
        one = next(mutants_at(file.split("/")[0], place, root, draw), None)
        if one is not None:
            found.setdefault((file, place.line, place.column, place.family), one)
    return list(found.values())


def files_met(file: str, tree: Path, most: int) -> list[str]:
    """Files of tests: what mirrors a module, deciding checks and others that import it, its folder, the nearest."""
    exact, folder = _mirrors(file)
    near = _distances(file, tree)
    imported = {one: far for one, far in near.items() if Path(one).name.startswith("test_")}

    def order(one: str) -> tuple[bool, int, bool, int]:
        mirrored = one == exact or one.startswith(folder)
        return not mirrored, imported.get(one, 99), not one.startswith("theorems/"), (tree / one).stat().st_size

    found = sorted({*mirrors(file, tree), *imported}, key=order)[:most]
    return [*found, RESULTS] if "/experiments/" in file and RESULTS not in found else found


class Judge:
    """Runs of tests in a copy of the tree, and which tests fail there without any fault."""

    def __init__(self, worker: Worker) -> None:
        self.worker, self.broken, self.sound = worker, {FINGERPRINTS}, set[str]()

    def fate(self, mutant: Mutant, most: int) -> dict[str, Any]:
        """The fate of a fault: killed, timeout or survived, by which test, among how many files."""
        files, started = files_met(mutant.file, self.worker.tree, most), time.monotonic()
        while True:
            left = LIMITS[most] - (time.monotonic() - started)
            with planted(self.worker.tree, mutant):
                request = Request(files, max(left, 1.0), without=sorted(self.broken), stop=True, slack=LIMITS[most])
                answer = self.worker.run(request) if files else {"failed": [], "status": 0}
            spent = {"files": len(files), "seconds": round(time.monotonic() - started)}
            if answer is None:
                return {"status": "timeout", "by": "", **spent}
            if not answer["failed"]:
                return {"status": "survived" if answer["status"] in (0, 1, 5) else "killed", "by": "", **spent}
            by = answer["failed"][0]
            if self._passes(by):
                status = "timeout" if answer.get("late") else "killed"
                return {"status": status, "by": by, "reason": answer["reason"][:160], **spent}
            self.broken.add(by)

    def _passes(self, test: str) -> bool:
        """Whether a test, or the import of a file of tests, passes without a fault."""
        if test not in self.sound and test not in self.broken:
            answer = self.worker.run(Request([test], 300.0, slack=300.0))
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
    parser.add_argument("--write", action="store_true", help=f"put the fates into {FATES.name}")
    asked = parser.parse_args(arguments)
    asked.folder.mkdir(parents=True, exist_ok=True)
    kept = asked.folder / f"{asked.seed}.json"
    fates: dict[str, dict[str, Any]] = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {}
    end = time.monotonic() + asked.seconds
    with tempfile.TemporaryDirectory(prefix="lemmata-mutants-") as folder:
        tree = Path(folder) / "tree"
        copy_of_the_tree(tree)
        mutants = drawn(asked.seed, asked.size, ROOT)
        with Worker(tree) as worker:
            judge = Judge(worker)
            for most in (FEW, MANY):
                for number, one in enumerate(mutants):
                    before = fates.get(str(number))
                    if time.monotonic() > end or (before is not None and (most == FEW or before["by"])):
                        continue
                    if before is None and most == MANY:
                        continue
                    fates[str(number)] = judge.fate(one, most)
                    write_atomically(json.dumps(fates).encode("utf-8"), kept)
                    print(number, one.file, one.line, fates[str(number)], file=sys.stderr, flush=True)
    names = ("file", "line", "column", "operator", "before", "after")
    entries = [
        {name: getattr(one, name) for name in names} | {"first": fates[str(number)]}
        for number, one in enumerate(mutants)
        if str(number) in fates
    ]
    seen = sum(one["first"]["status"] == "killed" for one in entries)
    print(f"{seen} of {len(entries)} seen: {proportion_interval(seen, len(entries))}; {CRITERION:.0%} were asked for")
    if asked.write:
        document = {"seed": asked.seed, "drawn": len(mutants), "criterion": CRITERION, "mutants": entries}
        write_atomically(as_text(document).encode("utf-8"), FATES)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(main())
