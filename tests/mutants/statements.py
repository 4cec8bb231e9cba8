"""Faults drawn for each statement: places where its deciding checks go, and which of these see a change there.

Of a statement that is decided, the tests that decide it are known, and which lines of the library each executes
(`tests.mutants.reach`); what Numba compiled no tracer sees, so that all compiled functions count whose names the tests
follow. A place there is drawn with a weight: one over the number of statements whose deciding checks go there too, so
that what a statement has of its own comes before what all use. Plain arithmetic and the running of long work are left
out (`lemmata.theorems.reached`), and so are the tests themselves and what runs at import.
"""

from __future__ import annotations

import ast
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lemmata.numerics.runs.definitions import uses
from tests.mutants.choice import Record
from tests.mutants.sample import Mutant, Place, mutants_at, places_of, statement_at

SIZE = 6
"""Places drawn for each statement."""
_LEFT_OUT = ("numerics/exact/", "numerics/runs/")


@dataclass(frozen=True)
class Own:
    """The deciding checks of a statement.

    Attributes:
        tests: the seconds of each, by its id.
        lines: what they execute of the library, by file.
    """

    tests: dict[str, float] = field(default_factory=dict)
    lines: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))


def own_checks(known: Iterable[Record], statements: Iterable[str], tree: Path) -> dict[str, Own]:
    """The deciding checks of the statements, by id; a test that fails by itself is none.

    Args:
        known: the records of the files of checks.
        statements: the ids.
        tree: the folder of the packages.
    """
    found = {name: Own() for name in statements}
    for record in known:
        compiled: dict[str, dict[str, set[int]]] = {}
        for test, decided in record.decides.items():
            if test in record.failed or test not in record.seconds:
                continue
            function = test.split("::", 1)[1].partition("[")[0]
            if function not in compiled:
                compiled[function] = _compiled_lines(tree / record.file, function, tree)
            for name in found.keys() & set(decided):
                found[name].tests[test] = record.seconds[test]
                for file, lines in _executed(record, test):
                    found[name].lines[file] |= lines
                for file, lines in compiled[function].items():
                    found[name].lines[file] |= lines
    return found


def draw(
    own: Mapping[str, Own], wanted: Iterable[str], tree: Path, seed: int, size: int = SIZE
) -> dict[str, list[Mutant]]:
    """Mutants of the wanted statements, at different places of each, and all with different changes.

    Args:
        own: the deciding checks of all statements.
        wanted: ids for which mutants are drawn; their `room` is the id.
        tree: the folder of the packages.
        seed: of the draw, together with the id.
        size: how many for each; fewer where there are fewer places.
    """
    shared: Counter[tuple[str, int]] = Counter()
    for one in own.values():
        shared.update((file, line) for file, lines in one.lines.items() for line in lines)
    found: dict[str, list[Mutant]] = {}
    for name in wanted:
        chance = random.Random(f"{seed}:{name}")
        keys: list[tuple[float, Place]] = []
        for file, lines in sorted(own[name].lines.items()):
            for place in places_of(file, tree):
                where, at_import = statement_at(tree / file, place.line)
                users = [shared[file, line] for line in range(where[0], where[1] + 1) if line in lines]
                if users and not at_import:
                    keys.append((chance.random() ** min(users), place))
        keys.sort(reverse=True)
        mutants: list[Mutant] = []
        for _, place in keys:
            if len(mutants) == size:
                break
            one = next(mutants_at(name, place, tree, chance), None)
            if one is not None and all(one.code != other.code for other in mutants):
                mutants.append(one)
        found[name] = mutants
    return found


def _executed(record: Record, test: str) -> Iterable[tuple[str, set[int]]]:
    """The lines of the library under a test, by file."""
    for file, tests in record.lines.items():
        if test in tests and _counts(file):
            yield file, set(tests[test])


def _counts(file: str) -> bool:
    """Whether a file holds what statements are about: not arithmetic, not tests, not the ledger's own code."""
    if file.startswith("theorems/"):
        return file.count("/") > 1 and not Path(file).name.startswith("test_")
    return not file.startswith(_LEFT_OUT) and file != "lemmata/pytest_plugin.py"


def _compiled_lines(path: Path, function: str, tree: Path) -> dict[str, set[int]]:
    """The lines in the bodies of compiled functions that the names in a test lead to."""
    found: dict[str, set[int]] = defaultdict(set)
    for (file, _), nodes in uses(path, function.split("::")[0], within=("lemmata",)).definitions.items():
        file = file.resolve()
        if not file.is_relative_to(tree):
            continue
        name = str(file.relative_to(tree))
        for node in nodes:
            if isinstance(node, ast.FunctionDef) and _counts(name) and any(map(_compiles, node.decorator_list)):
                found[name] |= set(range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1))
    return found


def _compiles(decorator: ast.expr) -> bool:
    return "njit" in {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(decorator)}
