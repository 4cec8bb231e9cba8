"""One mutant: its file is changed in a copy of the tree, the chosen tests run, and the file is put back."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.mutants.choice import Chosen, compiled, machine_code
from tests.mutants.sample import Mutant, compiled_function
from tests.mutants.workers import Request, Worker

FACTOR = 5.0
SLACK = 5.0
COMPILING = 60.0
LONGEST = 600.0
"""A test may take `FACTOR` times what it takes without a mutant, and `SLACK` seconds, or `COMPILING` with Numba, on the
processor; and a run of several files `LONGEST` seconds of the clock."""
NO_TESTS = 5  # of pytest: the mutant has changed the ids of all


def trial(worker: Worker, mutant: Mutant, tests: Chosen) -> dict[str, Any]:
    """What became of a mutant.

    Returns:
        `status`: killed, timeout (which is killed as well) or survived; `tests` and `seconds`: how many it met, and
        what they take without it; `executed`: whether one of them was seen to execute the statement; `by`, `reason`:
        the first test that failed.
    """
    summary = {"tests": len(tests.tests), "seconds": round(tests.seconds, 1), "executed": tests.executed}
    if not tests.tests:
        return {"status": "survived", **summary, "by": "", "reason": "no test reaches it"}
    slack = COMPILING if machine_code(mutant.file, worker.tree) else SLACK
    limits = {name: slack + FACTOR * cost for name, cost in tests.costs.items()}
    with planted(worker.tree, mutant):
        for files in batches(tests.files):
            answer = worker.run(
                Request(
                    files,
                    longest(tests, slack),
                    first=tests.tests,
                    only=True,
                    stop=True,
                    limits=limits,
                    slack=slack + FACTOR,
                )
            )
            if answer is None:
                reason = f"not done after {longest(tests, slack):.0f} s"
                return {"status": "timeout", **summary, "by": "", "reason": reason}
            # 1 without a failed test is the ledger's word on checks that were not run
            if answer["failed"] or answer["status"] not in (0, 1, NO_TESTS):
                by = answer["failed"][0] if answer["failed"] else ""
                status = "timeout" if answer.get("late") else "killed"
                return {"status": status, **summary, "by": by, "reason": answer["reason"] or _ending(answer["status"])}
    return {"status": "survived", **summary, "by": "", "reason": ""}


def trials(worker: Worker, mutants: Sequence[Mutant], tests: Chosen) -> list[dict[str, Any]]:
    """What became of several mutants under the same tests, as `trial` says it, at a fraction of its cost.

    The tests are collected once, and the changed functions exchanged in memory. That is not done for compiled ones;
    and what survives may have been remembered, or computed at import, so that it meets `trial` as well.
    """
    inside = [place for place, one in enumerate(mutants) if not compiled_function(one)]
    slack = SLACK
    limits = {name: slack + FACTOR * cost for name, cost in tests.costs.items()}
    answers: dict[int, dict[str, Any] | None] = {}
    if len(inside) > 1 and tests.tests:
        texts = [{"file": mutants[place].file, "code": mutants[place].code} for place in inside]
        request = Request(
            tests.files, LONGEST * len(inside), first=tests.tests, only=True, stop=True, limits=limits,
            slack=slack + FACTOR, mutants=texts, limit_each=longest(tests, slack),
        )  # fmt: skip
        answers = dict(zip(inside, worker.run_mutants(request), strict=True))
    found = []
    for place, one in enumerate(mutants):
        answer = answers.get(place)
        if answer is None or not answer["failed"]:
            found.append(trial(worker, one, tests))
        else:
            status = "timeout" if answer.get("late") else "killed"
            summary = {"tests": len(tests.tests), "seconds": round(tests.seconds, 1), "executed": tests.executed}
            found.append({"status": status, **summary, "by": answer["failed"][0], "reason": answer["reason"]})
    return found


def longest(tests: Chosen, slack: float) -> float:
    """Seconds of the clock for a run: what one call in C does not end in time is not asked for its time."""
    return min(LONGEST, COMPILING + slack + FACTOR * tests.seconds)


def _ending(status: int) -> str:
    return f"pytest itself ended with the status {status}"


def batches(files: Sequence[str]) -> list[tuple[str, ...]]:
    """Files of tests in the order of their choice: one, then two, then four, and so on, for each run.

    Most mutants die in the first run, and need not wait until all the files have been imported.
    """
    found, start, size = [], 0, 1
    while start < len(files):
        found.append(tuple(files[start : start + size]))
        start, size = start + size, 2 * size
    return found


@contextmanager
def planted(tree: Path, mutant: Mutant) -> Iterator[None]:
    """A block in which the file of a mutant is changed; afterwards it is as before, whatever happens.

    Python knows compiled code by the time of its source, which is new for every mutant, and afterwards the old one.
    Numba knows machine code by the text of the file of its function, but it may hold functions of other files: what is
    kept of all files whose machine code may hold that of the mutant is set aside, and put back afterwards.
    """
    path = tree / mutant.file
    original, before = path.read_bytes(), path.stat().st_mtime_ns
    kept = {one: one.read_bytes() for one in _machine_code(mutant, tree)}
    try:
        for one in kept:
            one.unlink()
        path.write_text(mutant.code, encoding="utf-8")
        now = time.time_ns()
        os.utime(path, ns=(now, now))
        yield
    finally:
        path.write_bytes(original)
        os.utime(path, ns=(before, before))
        for one in _machine_code(mutant, tree):
            one.unlink()
        for one, code in kept.items():
            one.write_bytes(code)


def _machine_code(mutant: Mutant, tree: Path) -> list[Path]:
    """The files in which Numba keeps the machine code that may hold that of the file of a mutant."""
    files = [tree / name for name in compiled(mutant.file, tree)]
    return [one for file in files for one in file.parent.glob(f"__pycache__/{file.stem}.*.nb[ci]")]
