"""``python -m tests.machines``: the tests on processors that this machine is not, and one table of what failed where.

    python -m tests.machines [--machine NAME ...] [--paths theorems tests] [--folder build/machines]
    python -m tests.machines --find
    python -m tests.machines --touching [--minutes 4]

Each run of pytest has the variables of one processor (`processors.py`) and happens in a copy of the tracked files;
before it, a process with the same variables is asked what its libraries chose, and where that is not the processor the
row says "not emulated". Results are kept in the folder as they come, so that an interrupted command goes on where it
was.

``--find`` notes the values in all assertions as well, here and on the processor that differs most, and writes the tests
whose values differ, or that read committed results, to `touching.json`. ``--touching`` runs the files that have
changed since and a sample of these, another one for each version of the code, on two processors unlike this one, and
says so where the time was too short for all of the sample.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from lemmata.numerics.runs.definitions import fingerprint_of_file
from lemmata.numerics.runs.files import write_atomically
from lemmata.numerics.runs.items import Done, FailedItemsError, run
from tests.machines.processors import (
    MACHINES,
    ROOT,
    effective,
    emulated,
    environment,
    unlike,
    without_choice,
)
from tests.mutants.workers import copy_of_the_tree

RECORD = Path(__file__).with_name("touching.json")
FINDING = ("here", "nehalem")
"""The processors between which values are compared: this one, and that with the narrowest vectors and one thread."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; exit status 0 if nothing failed, 1 if something did, 2 for bad input, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m tests.machines", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--machine", action="append", metavar="NAME", help="only this processor; may be repeated")
    parser.add_argument("--paths", nargs="+", default=["theorems", "tests"], help="what pytest runs")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "machines", help="results so far")
    parser.add_argument("--touching", action="store_true", help="only what touches floating point, two processors")
    parser.add_argument("--find", action="store_true", help="find out what touches floating point")
    parser.add_argument("--minutes", type=float, default=4.0, help="limit of time with --touching")
    parser.add_argument("--files", type=int, default=40, help="how many files --touching draws")
    asked = parser.parse_args(arguments)
    names = [machine.name for machine in MACHINES]
    unknown = [name for name in asked.machine or () if name not in names]
    if unknown:
        print(f"error: there is no processor {unknown[0]!r}; there are {', '.join(names)}.", file=sys.stderr)
        return 2
    missing = [path for path in asked.paths if not (ROOT / path.partition("::")[0]).exists()]
    if missing:
        print(f"error: there is nothing to run at {missing[0]}.", file=sys.stderr)
        return 2
    if not (asked.files >= 1 and asked.minutes > 0):
        print("error: --files is at least 1, and --minutes more than 0.", file=sys.stderr)
        return 2
    if asked.touching and not RECORD.is_file():
        print("error: nobody has found yet what touches floating point: run --find first.", file=sys.stderr)
        return 2
    try:
        return _work(asked)
    except KeyboardInterrupt:
        print(f"interrupted; the same command goes on from {asked.folder}", file=sys.stderr)
        return 130


def _work(asked: argparse.Namespace) -> int:
    console = Console(stderr=True)
    dispatched = effective(without_choice())["dispatched"]
    chosen = [machine for machine in MACHINES if machine.name in (asked.machine or FINDING)]
    paths, seconds = list(asked.paths), None
    if asked.touching:
        record = json.loads(RECORD.read_text(encoding="utf-8"))
        paths, seconds = drawn(touching(record), asked.files, version()), 60 * asked.minutes / 2
        console.print(f"{len(record['tests'])} files touch floating point; {asked.files} are drawn", highlight=False)
        chosen = chosen if asked.machine else unlike(effective(os.environ), 2)
    elif not asked.find and not asked.machine:
        chosen = list(MACHINES)
    with tempfile.TemporaryDirectory(prefix="lemmata-machines-") as scratch:
        subprocess.run(["git", "clone", "--quiet", "--no-checkout", str(ROOT), scratch], check=True)
        copy_of_the_tree(Path(scratch))  # what is not committed yet, too
        settings = {
            machine.name: {"name": machine.name, "variables": environment(machine, dispatched), "paths": paths,
                           "dispatched": dispatched,
                           "values": asked.find, "seconds": seconds}
            for machine in chosen
        }  # fmt: skip
        console.print(f"{len(chosen)} processors: {', '.join(settings)}", highlight=False)
        folder = None if asked.touching else asked.folder
        try:
            results = run(
                partial(_on_processor, Path(scratch)), settings, folder, None, partial(_say, console), version()
            )
        except FailedItemsError as failed:
            print(f"error: {failed}", file=sys.stderr)
            return 1
    print_table(results)
    if asked.find:
        record = found(results)
        write_atomically((json.dumps(record, indent=1) + "\n").encode("utf-8"), RECORD)
        count = sum(len(tests) for tests in record["tests"].values())
        console.print(f"{count} test functions touch floating point: {RECORD.relative_to(ROOT)}", highlight=False)
    idle = [
        name for name, one in results.items()
        if "not emulated" not in one and not one["passed"] and not one["failed"]
    ]  # fmt: skip
    if idle:
        print(f"error: no test ended on {', '.join(idle)}: give more --minutes or fewer --files.", file=sys.stderr)
    return int(bool(idle) or any(one["failed"] for one in results.values()))


def _say(console: Console, done: Done) -> None:
    console.print(f"{done.key}: {'kept' if done.kept else 'failed' if done.error else 'done'}", highlight=False)


def _on_processor(tree: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """The outcomes of the tests of a tree in a process with the variables of a processor."""
    machine = next(one for one in MACHINES if one.name == settings["name"])
    variables = without_choice() | settings["variables"]
    chosen, reason = emulated(machine, settings["dispatched"])
    if reason is not None:
        return {"chosen": chosen, "not emulated": reason, "failed": [], "passed": 0, "seconds": 0, "whole": False}
    with tempfile.TemporaryDirectory() as folder:
        notes, arguments = Path(folder) / "notes.json", Path(folder) / "arguments.txt"
        arguments.write_text("\n".join(settings["paths"]), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", "-p", "no:cacheprovider",
                   "-p", "tests.machines.values", f"@{arguments}"]  # fmt: skip
        if settings["values"]:
            command += ["-o", "enable_assertion_pass_hook=true"]
            variables["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "bytecode")  # assertions are compiled in another way
        variables["LEMMATA_MACHINE_NOTES"] = str(notes)
        if settings["seconds"] is not None:
            variables["LEMMATA_MACHINE_SECONDS"] = str(settings["seconds"])
        start = time.monotonic()
        done = subprocess.run(command, cwd=tree, env=variables, capture_output=True, text=True)
        seconds = time.monotonic() - start
        if done.returncode not in (0, 1, 2) or not notes.is_file():
            raise RuntimeError(f"pytest ended with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-1000:]}")
        outcomes = json.loads(notes.read_text(encoding="utf-8"))
    errors = [line for line in done.stdout.splitlines() if re.match(r"LEDGER ERROR |ERROR (theorems|tests)/", line)]
    failed = sorted(node for node, one in outcomes.items() if one["outcome"] == "failed")
    return {
        "chosen": chosen,
        "failed": failed + [error for error in errors if not any(node in error for node in failed)],
        "passed": sum(one["outcome"] == "passed" for one in outcomes.values()),
        "seconds": round(seconds),
        "whole": done.returncode != 2,
        **({"outcomes": outcomes} if settings["values"] else {}),
    }


def version() -> str:
    """A fingerprint of all tracked files, as they are."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0")
    digest = hashlib.sha256()
    for name in sorted(name for name in names if name):
        path = ROOT / name.decode()
        if path.is_file() and path != RECORD:
            digest.update(name + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _digest(file: str) -> str | None:
    path = ROOT / file
    return fingerprint_of_file(path) if path.is_file() else None


def found(results: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What touches floating point, from the values on two processors.

    Args:
        results: of a run with values, by processor.

    Returns:
        ``files``: the fingerprint of the code of every file of tests that was run; ``tests``: the functions of each
        file whose values differ, or that read committed results.
    """
    first, second = (results[name]["outcomes"] for name in FINDING)
    files: dict[str, str] = {}
    tests: dict[str, set[str]] = {}
    for node in sorted(first.keys() | second.keys()):
        file, _, name = node.partition("::")
        files.setdefault(file, _digest(file) or "")
        here, there = first.get(node), second.get(node)
        if here is None or there is None or here["seen"] != there["seen"] or here["reads"]:
            tests.setdefault(file, set()).add(name.partition("[")[0])
    return {"processors": list(FINDING), "files": files,
            "tests": {file: sorted(names) for file, names in sorted(tests.items())}}  # fmt: skip


def touching(record: Mapping[str, Any]) -> list[str]:
    """The tests that touch floating point, as arguments of pytest, and all files that the record does not know as such.

    Args:
        record: made by `found`.
    """
    known = {file for file, digest in record["files"].items() if digest == _digest(file)}
    chosen = [f"{file}::{name}" for file, names in record["tests"].items() if file in known for name in names]
    files = [
        path.relative_to(ROOT).as_posix()
        for folder in ("theorems", "tests")
        for path in (ROOT / folder).rglob("test_*.py")
    ]
    return chosen + sorted(file for file in files if file not in known)


def drawn(paths: Sequence[str], count: int, seed: str) -> list[str]:
    """Some files of what `touching` found, in random order: all that the record does not know, then others.

    Args:
        paths: files, and tests of files.
        count: of files in all.
        seed: the same text draws the same files.
    """
    files = sorted({path.partition("::")[0] for path in paths})
    random.Random(seed).shuffle(files)
    chosen = sorted(files, key=lambda file: file not in paths)[:count]
    return [path for file in chosen for path in paths if path.partition("::")[0] == file]


def print_table(results: Mapping[str, Mapping[str, Any]]) -> None:
    """What each processor is and how many tests failed on it, then which."""
    table = Table("processor", "OpenBLAS", "NumPy without", "torch", "MKL", "Numba", "threads", "passed", "failed", "s")
    for name, one in results.items():
        chosen = one["chosen"]
        if "not emulated" in one:
            table.add_row(name, f"not emulated: {one['not emulated']}")
            continue
        table.add_row(
            name, chosen["blas"], " ".join(chosen["disabled"]) or "-", chosen["torch"], chosen["mkl"] or "-",
            chosen["numba"], str(chosen["threads"]), f"{one['passed']}{'' if one['whole'] else ', stopped'}",
            str(len(one["failed"])), str(one["seconds"]),
        )  # fmt: skip
    Console(width=150).print(table)
    where: dict[str, list[str]] = {}
    for name, one in results.items():
        for test in one["failed"]:
            where.setdefault(test, []).append(name)
    for test, names in sorted(where.items()):
        print(f"failed on {', '.join(names)}: {test}")
    print(f"{sum(one['passed'] for one in results.values())} passed, {sum(map(len, where.values()))} failed")


if __name__ == "__main__":
    raise SystemExit(main())
