"""Grades are never rounded up: a test that compares within a tolerance is neither exact, nor symbolic, nor enclosed."""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

from lemmata.theorems.citations import citations
from lemmata.theorems.ledger import THEOREMS, load_ledger

SHARP = ("exact", "symbolic", "enclosed")
NEARLY = ("approx", "allclose", "isclose", "assert_allclose", "assert_almost_equal")
TOLERANCE = 1e-5
"""A float constant of at most this size in a comparison is a tolerance, but for that of the radius of a ball."""


def tolerances(test: ast.FunctionDef) -> Iterator[int]:
    """The lines of a test that compare within a tolerance."""
    for node in ast.walk(test):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in NEARLY:
            yield node.lineno
        elif isinstance(node, ast.Compare) and ".rad()" not in ast.unparse(node):
            yield from [node.lineno for one in constants(node) if isinstance(one, float) and 0 < abs(one) <= TOLERANCE]


def constants(node: ast.AST) -> Iterator[object]:
    """The constants of an expression, but for the arguments of calls."""
    if isinstance(node, ast.Constant):
        yield node.value
    if not isinstance(node, ast.Call):
        for inner in ast.iter_child_nodes(node):
            yield from constants(inner)


@functools.cache
def sharp_grades() -> dict[tuple[str, str], set[str]]:
    """The grades among `SHARP` that each test claims, by its file and name."""
    found: dict[tuple[str, str], set[str]] = {}
    for statement in load_ledger().statements():
        for one in citations(statement.id):
            if one.evidence.grade in SHARP:
                found.setdefault((one.file, one.test.rpartition("::")[2]), set()).add(one.evidence.grade)
    return found


def sharp_tests(path: Path) -> Iterator[tuple[ast.FunctionDef, set[str]]]:
    """The tests of a file that claim one of the grades `SHARP`, with these."""
    file = path.relative_to(THEOREMS.parent).as_posix()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and (file, node.name) in sharp_grades():
            yield node, sharp_grades()[file, node.name]


@pytest.mark.parametrize("chapter", sorted(path.name for path in THEOREMS.iterdir() if (path / "ledger.toml").exists()))
def test_sharp_grades_compare_without_tolerances(chapter: str) -> None:
    rounded = [
        f"{path.name}::{test.name} claims {', '.join(sorted(grades))}; line {lines[0]} compares within a tolerance"
        for path in sorted((THEOREMS / chapter).glob("test_*.py"))
        for test, grades in sharp_tests(path)
        if (lines := list(tolerances(test)))
    ]
    assert not rounded


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("assert x == 1", 0),
        ("assert abs(x - 1) < 1e-9", 1),
        ("assert x <= y * (1 + 1e-12)", 1),
        ("assert x == pytest.approx(y)", 1),
        ("np.testing.assert_allclose(x, y)", 1),
        ("assert x.rad() < 1e-20", 0),
        ("assert solve(x, 1e-9) == 1", 0),
        ("for eps in (1e-9, 0.5):\n        assert f(eps)", 0),
        ("assert x < 0.001", 0),
    ],
)
def test_tolerances_are_found(body: str, count: int) -> None:
    [function] = ast.parse(f"def test():\n    {body}\n").body
    assert isinstance(function, ast.FunctionDef)
    assert len(list(tolerances(function))) == count


def unseeded(tree: ast.AST) -> Iterator[int]:
    """The lines that make a generator of random numbers without a seed, whose draws nobody can repeat."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and not node.args and not node.keywords:
            name = ast.unparse(node.func).rpartition(".")[2]
            if name in ("default_rng", "Random"):
                yield node.lineno


def test_random_draws_of_the_chapters_have_seeds() -> None:
    assert list(unseeded(ast.parse("a = np.random.default_rng()\nb = Random(1)\nc = Random()\n"))) == [1, 3]
    paths = [path for folder in THEOREMS.iterdir() if (folder / "ledger.toml").exists() for path in folder.glob("*.py")]
    lines = {path: list(unseeded(ast.parse(path.read_text(encoding="utf-8")))) for path in paths}
    assert not {path: found for path, found in lines.items() if found}
