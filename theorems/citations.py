"""Which tests are evidence for which statement, read off the sources, without running or importing them.

`citations` reads the decorators `check` and `counterexample` of all test files of a chapter. Their arguments are
constants, or are put together from constants of the module (``PREFIX + "lemma-1"``, f-strings); one that is neither is
an error, since a reader of the file could not tell it either.
"""

import ast
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lemmata.theorems.evidence import Evidence
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


def citations(statement: str) -> list[Citation]:
    """The tests that are evidence for a statement, in the order of files and lines.

    Raises:
        ValueError: if a decorator cannot be read.
    """
    chapter = chapter_of(statement)
    folder = next((one for one in chapter_folders() if one.name == chapter), None)
    return [] if folder is None else [one for one in _of_folder(folder) if one.evidence.statement == statement]


@functools.cache
def _of_folder(folder: Path) -> tuple[Citation, ...]:
    return tuple(one for path in sorted(folder.glob("test_*.py")) for one in _of_file(path))


def _of_file(path: Path) -> Iterator[Citation]:
    base = THEOREMS.parent if path.is_relative_to(THEOREMS) else path.parents[1]
    file = path.relative_to(base).as_posix()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = _constants(tree)
    for owner, node in _functions(tree, ""):
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) in ("check", "counterexample"):
                for one in _evidence(decorator, constants, f"{file}:{first}"):
                    yield Citation(file, first, f"{owner}{node.name}", one)


def _functions(tree: ast.Module | ast.ClassDef, owner: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield owner, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{owner}{node.name}::")


def _evidence(call: ast.Call, constants: Mapping[str, Any], place: str) -> list[Evidence]:
    try:
        given = {str(one.arg): _value(one.value, constants) for one in call.keywords}
        statements = _value(ast.Tuple(call.args), constants)
    except (KeyError, ValueError) as error:
        raise ValueError(f"{place}: the decorator {ast.unparse(call)} cannot be read ({error}).") from error
    kind = ast.unparse(call.func)
    if kind == "counterexample":
        given["target"] = "printed"
    return [Evidence(one, kind, **given) for one in statements]  # pyright: ignore[reportArgumentType]


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
