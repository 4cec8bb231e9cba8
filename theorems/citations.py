"""Which tests are evidence for which statement, read off the sources, without running or importing them.

`citations` reads the decorators `check` and `counterexample` of all test files of a chapter, `step_checks` reads
`proof_steps`, by which a test says which steps of written proofs it checks. Their arguments are
constants, or are put together from constants of the module (``PREFIX + "lemma-1"``, f-strings); one that is neither is
an error, since a reader of the file could not tell it either.
"""

import ast
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lemmata.theorems.evidence import Evidence, read_places
from lemmata.theorems.ledger import THEOREMS, chapter_folders, chapter_of


@dataclass(frozen=True)
class Citation:
    """A test function in its role as evidence: its file, first line and name, as pytest is given them."""

    file: str
    line: int
    test: str
    evidence: Evidence

    @property
    def node(self) -> str:
        """The test as pytest takes it, `file::test`."""
        return f"{self.file}::{self.test}"


@dataclass(frozen=True)
class StepCheck:
    """A test, as pytest takes it (`file::test`), that checks a step of the file `proof` in the folder `proofs`;
    `evidence` says whether it is evidence for a statement, as it has to be."""

    node: str
    proof: str
    step: int
    evidence: bool


def citations(statement: str) -> list[Citation]:
    """The tests that are evidence for a statement, in the order of files and lines.

    Raises:
        ValueError: if a decorator cannot be read.
    """
    chapter = chapter_of(statement)
    folder = next((one for one in chapter_folders() if one.name == chapter), None)
    return [] if folder is None else [one for one in _of_folder(folder) if one.evidence.statement == statement]


def step_checks(folder: Path) -> list[StepCheck]:
    """Which tests of the chapter in a folder check which steps of its written proofs, in the order of files and lines.

    Raises:
        ValueError: if a decorator cannot be read.
    """
    evidence = {one.node for one in _of_folder(folder)}
    return [
        StepCheck(node := f"{one.file}::{one.test}", proof, step, node in evidence)
        for one in _decorators(folder)
        if ast.unparse(one.call.func) == "proof_steps"
        for proof, step in _steps(one)
    ]


@functools.cache
def _of_folder(folder: Path) -> tuple[Citation, ...]:
    return tuple(
        Citation(one.file, one.line, one.test, evidence)
        for one in _decorators(folder)
        if ast.unparse(one.call.func) in ("check", "counterexample")
        for evidence in _evidence(one)
    )


@dataclass(frozen=True)
class _Decorator:
    """A decorator with arguments: the file, first line and name of its test, and the constants of the module."""

    file: str
    line: int
    test: str
    call: ast.Call
    constants: Mapping[str, Any]

    def unreadable(self, error: Exception) -> ValueError:
        return ValueError(f"{self.file}:{self.line}: the decorator {ast.unparse(self.call)} cannot be read ({error}).")


@functools.cache
def _decorators(folder: Path) -> tuple[_Decorator, ...]:
    return tuple(one for path in sorted(folder.glob("test_*.py")) for one in _of_file(path))


def _of_file(path: Path) -> Iterator[_Decorator]:
    base = THEOREMS.parent if path.is_relative_to(THEOREMS) else path.parents[1]
    file = path.relative_to(base).as_posix()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = _constants(tree)
    for owner, node in _functions(tree, ""):
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call):
                yield _Decorator(file, first, f"{owner}{node.name}", decorator, constants)


def _functions(tree: ast.Module | ast.ClassDef, owner: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield owner, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{owner}{node.name}::")


def _evidence(decorator: _Decorator) -> list[Evidence]:
    call, constants = decorator.call, decorator.constants
    try:
        given = {str(one.arg): _value(one.value, constants) for one in call.keywords}
        statements = _value(ast.Tuple(call.args), constants)
    except (KeyError, ValueError) as error:
        raise decorator.unreadable(error) from error
    kind = ast.unparse(call.func)
    if kind == "counterexample":
        given["target"] = "printed"
    return [Evidence(one, kind, **given) for one in statements]  # pyright: ignore[reportArgumentType]


def _steps(decorator: _Decorator) -> list[tuple[str, int]]:
    try:
        return read_places(_value(ast.Tuple(decorator.call.args), decorator.constants))
    except (KeyError, ValueError) as error:
        raise decorator.unreadable(error) from error


def _constants(tree: ast.Module) -> dict[str, Any]:
    """The module's names for values that can be read off."""
    found: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = _value(node.value, found)
            except (KeyError, ValueError):
                continue
    return found


def _value(node: ast.expr, constants: Mapping[str, Any]) -> Any:
    """The value of a constant expression: literals, names of constants, sums, f-strings and tuples of them."""
    if isinstance(node, ast.Name):
        return constants[node.id]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _value(node.left, constants) + _value(node.right, constants)
    if isinstance(node, ast.Tuple):
        values: list[Any] = []
        for one in node.elts:
            values += _value(one.value, constants) if isinstance(one, ast.Starred) else [_value(one, constants)]
        return tuple(values)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(_value(part, constants)) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return _value(node.value, constants)
    return ast.literal_eval(node)
