"""What becomes of the faults drawn for statements: three stages, each for those that the stage before has not seen.

First the deciding checks of the statement, then the other checks of its chapter, then the tests of the library and the
other chapters; the last two by `tests.mutants.choice`, within its seconds. Every fate is a line of a file as soon as it
is known, so that an interrupted run goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.mutants.choice import Chosen, Record, chosen
from tests.mutants.reach import version_of
from tests.mutants.sample import Mutant
from tests.mutants.statements import Own
from tests.mutants.trial import trials
from tests.mutants.workers import Worker

STAGES = ("own", "chapter", "suite")
BUDGET = 30.0
"""Seconds of tests for one mutant in the second and in the third stage."""


def own_tests(one: Own, known: Mapping[str, Record]) -> Chosen:
    """The deciding checks of a statement, the cheapest first."""
    costs = dict(sorted(one.tests.items(), key=lambda pair: pair[1]))
    files = tuple(dict.fromkeys(name.split("::")[0] for name in costs))
    return Chosen(files, costs, sum(costs.values()) + sum(known[name].overhead for name in files), True)


def other_tests(mutant: Mutant, own: Own, known: Sequence[Record], tree: Path) -> Chosen:
    """The tests of some files that may see a mutant, without the deciding checks of its statement."""
    plan = chosen(mutant, list(known), tree, budget=BUDGET)
    costs = {name: cost for name, cost in plan.costs.items() if name not in own.tests}
    files = tuple(dict.fromkeys(name.split("::")[0] for name in costs))
    return Chosen(files, costs, plan.seconds, plan.executed)


def fates(
    mutants: Mapping[str, Mutant],
    plan: Callable[[Mutant], Chosen],
    workers: Sequence[Worker],
    log: Path,
    *,
    seconds: float = float("inf"),
    report: Callable[[str], None] = print,
) -> dict[str, dict[str, Any]]:
    """The fates of mutants under the tests that ``plan`` chooses, by key.

    What the log holds is not done again while the mutant and its tests are the same.

    Args:
        mutants: by key.
        plan: the tests of a mutant.
        workers: as many trials run at a time.
        log: a file of one JSON object per line; it is made, or added to.
        seconds: after which no further trial starts; the others are missing in the result.
        report: is given a line of progress.
    """
    known: dict[str, dict[str, Any]] = {}
    plans = {key: plan(one) for key, one in mutants.items()}
    marks = {key: _mark(one, plans[key], workers[0].tree) for key, one in mutants.items()}
    if log.is_file():
        for line in log.read_text(encoding="utf-8").splitlines():
            known |= json.loads(line)
    log.parent.mkdir(parents=True, exist_ok=True)
    free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
    for worker in workers:
        free.put(worker)
    lock, started = threading.Lock(), time.monotonic()

    def work(keys: list[str]) -> None:
        worker = free.get()
        try:
            if time.monotonic() - started > seconds:
                return
            done = trials(worker, [mutants[key] for key in keys], plans[keys[0]])
        finally:
            free.put(worker)
        with lock, log.open("a", encoding="utf-8") as file:
            for key, fate in zip(keys, done, strict=True):
                known[key] = fate | {"mark": marks[key]}
                file.write(json.dumps({key: known[key]}) + "\n")
                report(f"[{len(known)}, {time.monotonic() - started:.0f} s] {key} {fate['status']} {fate['by']}")

    together: dict[tuple[str, ...], list[str]] = {}
    for key in mutants:
        if known.get(key, {}).get("mark") != marks[key]:
            together.setdefault(tuple(plans[key].tests), []).append(key)

    executor = ThreadPoolExecutor(len(workers))
    try:
        list(executor.map(work, together.values()))
    except BaseException:
        for worker in workers:
            worker.end()
        raise
    finally:
        executor.shutdown(cancel_futures=True)
    return {key: known[key] for key in mutants if known.get(key, {}).get("mark") == marks[key]}


def _mark(mutant: Mutant, plan: Chosen, tree: Path) -> str:
    """What a fate depends on: the changed file, and the tests that the mutant meets."""
    text = "\0".join((mutant.code, version_of(tree, plan.files), *plan.tests))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
