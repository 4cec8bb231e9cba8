"""``python -m tests.mutants``: the share of random mutants that quick tests kill, room by room.

    python -m tests.mutants [--size 12] [--kernel-size 40] [--seed 1] [--room TEXT ...] [--jobs 1]
                            [--folder build/mutants] [--write] [--again]

Everything happens in copies of the tracked files. Every record and every mutant is kept in the folder as it is done,
so that an interrupted run goes on where it was. ``--write`` puts the results of all rooms in the committed file;
``--again`` runs those that survived there once more, after tests were added.
"""

from __future__ import annotations

import argparse
import hashlib
import queue
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lemmata.numerics.runs.files import write_atomically
from lemmata.numerics.runs.items import Done, run
from lemmata.site.mutants import rows, summary
from tests.mutants import results
from tests.mutants.choice import Chosen, chosen, concerned, records
from tests.mutants.reach import measure, test_files, version_of
from tests.mutants.sample import KERNELS, ROOMS, Mutant, replanted, sample
from tests.mutants.trial import trial
from tests.mutants.workers import ROOT, ServerError, Worker, copy_of_the_tree


def main(arguments: Sequence[str] | None = None, root: Path = ROOT, preloaded: Sequence[str] = ()) -> int:
    """The command for the checkout at ``root``; its exit status, 130 after Ctrl-C."""
    asked = _parser().parse_args(arguments)
    try:
        with _workers(asked.jobs, root, preloaded) as workers:
            _work(asked, workers)
    except KeyboardInterrupt:
        print(f"interrupted; the same command goes on from {asked.folder}", file=sys.stderr)
        return 130
    except ServerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description="The share of random mutants that quick tests kill, room by room."
    )
    parser.add_argument("--size", type=int, default=12, help="mutants of each room")
    parser.add_argument("--kernel-size", type=int, default=40, help="mutants of each of the three checkers")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--room", action="append", help="only rooms whose names hold this text")
    parser.add_argument("--jobs", type=int, default=1, help="test runs at a time, each in a copy of the tree")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants", help="records and results so far")
    parser.add_argument("--results", type=Path, default=results.RESULTS, help="the committed results")
    parser.add_argument("--write", action="store_true", help="put the results there")
    parser.add_argument("--again", action="store_true", help="survivors of the committed results, once more")
    return parser


def _work(asked: argparse.Namespace, workers: list[Worker]) -> None:
    """The run that is asked for, its table, and its file."""
    rooms = [name for name in ROOMS if not asked.room or any(text in name for text in asked.room)]
    document = results.load(asked.results) if asked.again else _new(asked, rooms, workers[0].tree)
    keys = _keys(document["mutants"])
    mutants = {
        key: replanted(one, workers[0].tree)
        for key, one in zip(keys, document["mutants"], strict=True)
        if one["room"] in rooms and (not asked.again or results.may_be_killed(one))
    }
    fates = _fates(mutants, workers, asked.folder)
    for key, one in zip(keys, document["mutants"], strict=True):
        if key in fates:
            one["later" if asked.again else "first"] = fates[key]
    for row in rows(document):
        print(f"{row.room}: {summary(row)}")
    if asked.write:
        write_atomically(results.as_text(document).encode("utf-8"), asked.results)


def _new(asked: argparse.Namespace, rooms: list[str], tree: Path) -> dict[str, Any]:
    """The results of a new draw, still without any fate."""
    document: dict[str, Any] = {"seed": asked.seed, "places": {}, "mutants": []}
    for room in rooms:
        size = asked.kernel_size if room in KERNELS else asked.size
        found, document["places"][room] = sample(room, size, asked.seed, tree)
        document["mutants"] += [_entry(one) for one in found]
        _say(f"{room}: {len(found)} mutants, at places drawn from {document['places'][room]}")
    return document


def _entry(mutant: Mutant) -> dict[str, Any]:
    """What the results say of a mutant itself."""
    return {name: getattr(mutant, name) for name in ("room", "file", "line", "column", "operator", "before", "after")}


def _keys(mutants: Sequence[dict[str, Any]]) -> list[str]:
    """Names of files for the results of mutants, the same in every run."""
    return [
        f"{one['file'].replace('/', '.').removesuffix('.py')}-{one['line']}-{one['column']}-{one['operator']}".replace(
            "__", ""
        ).lstrip(".")[:190]
        for one in mutants
    ]


def _fates(mutants: dict[str, Mutant], workers: list[Worker], folder: Path) -> dict[str, dict[str, Any]]:
    """Tests of the library first; what survives them meets the checks of the chapters."""
    fates: dict[str, dict[str, Any]] = {}
    for stage in ("tests", "theorems"):
        tree = workers[0].tree
        left = {key: one for key, one in mutants.items() if fates.get(key, {}).get("status", "survived") == "survived"}
        names = [name for name in test_files(tree) if name.startswith(f"{stage}/")]
        names = concerned((one.file for one in left.values()), names, tree)
        if names:
            fates |= _stage(left, workers, folder, names, stage)
    return fates


def _stage(
    mutants: dict[str, Mutant], workers: list[Worker], folder: Path, names: list[str], stage: str
) -> dict[str, dict[str, Any]]:
    """What became of mutants that meet some of the given files of tests."""
    tree = workers[0].tree
    free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
    for worker in workers:
        free.put(worker)

    def with_worker(work: Callable[[Worker], Any]) -> Any:
        worker = free.get()
        try:
            return work(worker)
        finally:
            free.put(worker)

    executor = ThreadPoolExecutor(len(workers))
    try:
        for said in executor.map(lambda name: with_worker(lambda one: measure(one, folder / "reach", name)), names):
            if said:
                _say(said)
        known = records(folder / "reach", names)
        plans = {key: chosen(one, known, tree) for key, one in mutants.items()}
        started, count = time.monotonic(), 0

        def report(done: Done) -> None:
            nonlocal count
            count += 1
            if not done.kept:
                _say(f"[{count}/{len(mutants)}, {time.monotonic() - started:.0f} s] {done.key} {done.error or ''}")

        return run(
            lambda settings: with_worker(lambda one: trial(one, mutants[settings["key"]], plans[settings["key"]])),
            {key: _settings(key, mutants[key], plan, tree) for key, plan in plans.items()},
            folder / stage,
            executor,
            report,
        )
    except BaseException:
        for worker in workers:  # so that what is under way ends at once
            worker.end()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def _settings(key: str, mutant: Mutant, plan: Chosen, tree: Path) -> dict[str, Any]:
    """What a fate depends on: it is kept while the changed file, the tests and their choice are the same."""
    code = hashlib.sha256(mutant.code.encode()).hexdigest()[:16]
    return {"key": key, "code": code, "files": version_of(tree, plan.files), "tests": list(plan.tests)}


@contextmanager
def _workers(jobs: int, root: Path, preloaded: Sequence[str]) -> Iterator[list[Worker]]:
    """Copies of the tree, each with its server of test runs; removed at the end."""
    with tempfile.TemporaryDirectory(prefix="lemmata-mutants-") as folder:
        workers: list[Worker] = []
        try:
            for number in range(jobs):
                tree = Path(folder) / f"tree{number}"
                copy_of_the_tree(tree, root)
                workers.append(Worker(tree, preloaded))
            yield workers
        finally:
            for worker in workers:
                worker.end()


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
