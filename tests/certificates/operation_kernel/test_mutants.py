"""Mutants of the kernel of operations: whatever is taken out of it or turned round in it shows on some document."""

import ast
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from certificates import kernel, operation_kernel
from tests.certificates.operation_kernel.corpus import Entry, entries, matrices

SOURCE = Path(operation_kernel.__file__).read_text()
COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
OPERATIONS = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Add,), ast.FloorDiv: (ast.Mult,), ast.Div: (ast.Mult,),
    ast.Pow: (ast.Mult,), ast.LShift: (ast.RShift,), ast.BitOr: (), ast.Mod: (),
}  # fmt: skip


def run(module: ModuleType | Any, entry: Entry) -> tuple[int, str]:
    """The verdict of a kernel, with the limits of the entry."""
    _, document, limits = entry
    before = {name: getattr(module, name) for name in limits}
    vars(module).update(limits)
    try:
        return 0, module.check(json.dumps(document).encode())
    except kernel.ViolatedError as error:
        return 1, str(error)
    except kernel.MalformedError as error:
        return 2, str(error)
    except Exception as error:  # a mutant may fail in any way
        return 3, type(error).__name__
    finally:
        vars(module).update(before)


Mutant = tuple[str, Callable[[], None], Callable[[], None]]
"""A name, the change of the tree, and what undoes it."""


def mutants(tree: ast.Module) -> Iterator[Mutant]:
    """All changes: a check left out, a comparison, an operation, a constant or a logic turned round."""
    for part in tree.body:
        if isinstance(part, ast.FunctionDef | ast.ClassDef):
            for node in ast.walk(part):
                for label, change, undo in changes(node):
                    yield f"line {getattr(node, 'lineno', 0)}: {label}", change, undo


def changes(node: Any) -> Iterator[Mutant]:
    """What can be changed at a node: a name for it, the change, and what undoes it."""
    text = ast.unparse(node)[:70]

    def swap(owner: Any, field: str, new: Any, label: str) -> Mutant:
        old = getattr(owner, field)
        return label, lambda: setattr(owner, field, new), lambda: setattr(owner, field, old)

    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield swap(node, "value", ast.Constant(None), f"without {text}")
    if isinstance(node, ast.If):
        yield swap(node, "test", ast.Constant(False), f"never if {ast.unparse(node.test)[:60]}")
        yield swap(node, "test", ast.Constant(True), f"always if {ast.unparse(node.test)[:60]}")
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            for other in COMPARISONS.get(type(operator), ()):
                ops = [*node.ops[:i], other(), *node.ops[i + 1 :]]
                yield swap(node, "ops", ops, f"{text} with {other.__name__} at {i}")
    if isinstance(node, ast.BinOp):
        for other in OPERATIONS.get(type(node.op), ()):
            yield swap(node, "op", other(), f"{text} with {other.__name__}")
    if isinstance(node, ast.BoolOp):
        yield swap(node, "op", ast.And() if isinstance(node.op, ast.Or) else ast.Or(), f"{text} with the other logic")
        for i in range(len(node.values)):
            rest = node.values[:i] + node.values[i + 1 :]
            yield swap(node, "values", rest * 2, f"{text} without part {i}")
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield swap(node, "value", node.value + 1, f"{text} + 1")


def compiled(tree: ast.Module) -> ModuleType:
    """The module of a tree."""
    module = ModuleType("mutant")
    exec(compile(ast.fix_missing_locations(tree), "mutant", "exec"), vars(module))
    return module


def decisions(module: ModuleType | Any) -> list[object]:
    """What a kernel says of some matrices."""
    try:
        return [
            decide
            for matrix in matrices()
            for decide in (module.has_dominated_factor(matrix), module.eliminates(matrix, "x"))
        ]
    except Exception as error:  # a mutant may fail in any way
        return [type(error).__name__]


def survivors(tree: ast.Module, listed: list[Mutant]) -> list[str]:
    """The mutants that say of every entry and of every matrix what the kernel says."""
    corpus = list(entries())
    expected = [run(operation_kernel, entry) for entry in corpus]
    decided = decisions(operation_kernel)
    alive = []
    for label, change, undo in listed:
        change()
        try:
            module = compiled(tree)
        finally:
            undo()
        pairs = zip(corpus, expected, strict=True)
        if decisions(module) == decided and all(run(module, entry) == verdict for entry, verdict in pairs):
            alive.append(label)
    return alive


CHECKS = (": without ", ": never if ")
SEED = 1122


def test_what_is_left_out_of_the_kernel_shows(effort):
    """Quick: a sample of the mutants that lack a check; full: all that lack a check."""
    tree = ast.parse(SOURCE)
    listed = [one for one in mutants(tree) if any(check in one[0] for check in CHECKS)]
    assert len(listed) > 50
    chosen = effort.pick(quick=random.Random(SEED).sample(listed, 10), full=listed)
    assert survivors(tree, chosen) == []
