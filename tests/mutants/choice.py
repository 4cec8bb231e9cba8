"""Which tests meet a mutant: those that were seen to execute its statement, else those that import its module.

From the records of `tests.mutants.reach`: the files that mirror the module, until `MIRRORS` seconds are spent, then
those one of whose tests executes the statement, until `BUDGET` seconds are spent; each time the cheapest first, and in
a file the tests that execute the statement first. What no tracer sees (code that Numba compiled, or that runs at
import) is met by the files of tests that import the module, directly before indirectly; and what nothing imports by
name (commands, which are loaded when they are called) by the tests of its room.
"""

from __future__ import annotations

import ast
import functools
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.mutants.reach import place_of, test_files
from tests.mutants.sample import Mutant
from tests.mutants.workers import LIBRARY

BUDGET = 60.0
MIRRORS = 60.0
"""Seconds of tests for one mutant, and of those that mirror its module, measured without it and under the tracer."""


@dataclass(frozen=True)
class Record:
    """What is known of a file of tests: the seconds of its tests, those that fail, lines by test, what each decides."""

    file: str
    seconds: dict[str, float]
    failed: frozenset[str]
    overhead: float
    lines: dict[str, dict[str, list[int]]]
    decides: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Chosen:
    """The tests for a mutant, and what they take without it.

    Attributes:
        files: of the tests.
        costs: the seconds of each test, in the order in which they run.
        seconds: of the tests and of the imports of their files.
        executed: whether one of them was seen to execute the statement.
    """

    files: tuple[str, ...]
    costs: dict[str, float]
    seconds: float
    executed: bool

    @property
    def tests(self) -> list[str]:
        """The tests in the order in which they run."""
        return list(self.costs)


def records(folder: Path, names: Iterable[str]) -> list[Record]:
    """The records that there are, of files of tests that end in time and run at least one test."""
    found = []
    for name in names:
        path = place_of(folder, name)
        if not path.is_file():
            continue
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["ended"] and document["status"] in (0, 1) and document["seconds"]:
            seconds = document["seconds"]
            found.append(
                Record(
                    name,
                    seconds,
                    frozenset(document["failed"]),
                    max(0.0, document["wall"] - sum(seconds.values())),
                    document["lines"],
                    document["decides"],
                )
            )
    return found


def chosen(mutant: Mutant, known: list[Record], tree: Path, budget: float = BUDGET) -> Chosen:
    """The tests that a mutant meets; no files if there are none."""
    wanted = set(range(mutant.statement[0], mutant.statement[1] + 1))
    seeing: dict[str, set[str]] = {}
    for record in known:
        under = {} if mutant.at_import else record.lines.get(mutant.file, {})
        seeing[record.file] = {name for name, lines in under.items() if not wanted.isdisjoint(lines)}
    distance = _distances(mutant.file, tree)
    executed = any(seeing.values())
    mirror = _mirrors(mutant.file)

    def order(record: Record) -> tuple[bool, bool, int, float]:
        cost = record.overhead + sum(record.seconds.get(name, 0.0) for name in seeing[record.file])
        other = not _is_mirror(record.file, mirror)
        return other, not seeing[record.file], 0 if executed else distance.get(record.file, 0), cost

    met = [
        one
        for one in known
        if seeing[one.file] or _is_mirror(one.file, mirror) or (not executed and one.file in distance)
    ]
    met = met or [one for one in known if one.file.startswith(f"{Path(mirror[1]).parent}/")]
    files: list[str] = []
    tests: list[tuple[bool, bool, float, str]] = []
    spent = {True: 0.0, False: 0.0}
    most = {True: max(MIRRORS, budget), False: budget}
    for record in sorted(met, key=order):
        mirrors = _is_mirror(record.file, mirror)
        usable = [name for name in record.seconds if name not in record.failed]
        usable.sort(key=lambda name: (name not in seeing[record.file], record.seconds[name]))
        start = spent[mirrors] + record.overhead
        if not usable or (files and start + record.seconds[usable[0]] > most[mirrors]):
            continue
        files.append(record.file)
        spent[mirrors] = start
        for name in usable:
            if spent[mirrors] + record.seconds[name] <= most[mirrors] or not tests:
                spent[mirrors] += record.seconds[name]
                tests.append((name not in seeing[record.file], not mirrors, record.seconds[name], name))
    return Chosen(tuple(files), {name: cost for _, _, cost, name in sorted(tests)}, sum(spent.values()), executed)


def concerned(files: Iterable[str], names: Iterable[str], tree: Path) -> list[str]:
    """The files of tests that import one of the given files, directly or through others."""
    near = set().union(*(_distances(file, tree) for file in set(files)))
    return [name for name in names if name in near]


def _mirrors(file: str) -> tuple[str, str]:
    """The tests of a module by the rule of the house: a file, or a folder."""
    path = Path(file)
    above = Path("tests") / path.parent
    return str(above / f"test_{path.stem.lstrip('_')}.py"), f"{above / path.stem}/"


def _is_mirror(name: str, mirror: tuple[str, str]) -> bool:
    return name == mirror[0] or name.startswith(mirror[1])


def mirrors(file: str, tree: Path) -> list[str]:
    """The files of tests in the folder that mirrors that of a module, and in the folder that mirrors the module."""
    place, folder = _mirrors(file)
    found = {*(tree / place).parent.glob("test_*.py"), *(tree / folder).rglob("test_*.py")}
    return [name for name in test_files(tree) if tree / name in found]


def _module(file: str) -> str:
    """The name under which a file is imported: the packages of the library belong to `lemmata`."""
    inside = "lemmata." if file.startswith(tuple(f"{name}/" for name in LIBRARY if name != "lemmata")) else ""
    return inside + file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@functools.cache
def _importers(tree: Path) -> dict[str, frozenset[str]]:
    """By file: the files that import it, tests and what they share among them.

    Names that a package passes on are followed by the distance alone.
    """
    files = [
        str(path.relative_to(tree)) for name in (*LIBRARY, "tests") for path in sorted((tree / name).rglob("*.py"))
    ]
    modules = {_module(name): name for name in files}
    found: dict[str, set[str]] = {name: set() for name in files}
    for name in files:
        for imported in _imports((tree / name).read_text(encoding="utf-8")):
            if imported in modules:
                found[modules[imported]].add(name)
            elif imported.endswith("."):
                for module, file in modules.items():
                    if module.rpartition(".")[0] == imported[:-1]:
                        found[file].add(name)
    return {name: frozenset(importers) for name, importers in found.items()}


def _imports(text: str) -> Iterator[str]:
    """The dotted names that a file may import; of ``from a import b``, both a and a.b.

    Of a module that is loaded by its name, as in ``import_module(f"a.{name}")``, what stands before the name: "a.".
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)
        elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0] if node.values else None, ast.Constant):
            start = str(ast.literal_eval(node.values[0]))
            if re.fullmatch(r"lemmata(\.\w+)+\.", start):
                yield start


def _distances(file: str, tree: Path) -> dict[str, int]:
    """The files that import a file, directly (1) or through others."""
    found = {file: 0}
    queue = [file]
    for name in queue:
        for importer in sorted(_importers(tree)[name]):
            if importer not in found:
                found[importer] = found[name] + 1
                queue.append(importer)
    return found


def compiled(file: str, tree: Path) -> list[str]:
    """The files of the library whose machine code may hold that of a file: it, and its importers that use Numba."""
    return [name for name in _distances(file, tree) if name == file or _uses_numba(name, tree)]


def machine_code(file: str, tree: Path) -> bool:
    """Whether a change of a file lets Numba compile anew."""
    return any(_uses_numba(name, tree) for name in compiled(file, tree))


@functools.cache
def _uses_numba(name: str, tree: Path) -> bool:
    return name.startswith(LIBRARY) and "numba" in _imports((tree / name).read_text(encoding="utf-8"))
