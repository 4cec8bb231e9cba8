"""Mutants of a kernel: what can be changed in its source, and which changes no document shows."""

import ast
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest
from types import ModuleType
from typing import Any

from lemmata.certificates import kernel

Entry = tuple[str, Any, dict[str, Any]]
"""A name, a document, and limits of the kernel that are to hold for it."""

COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
OPERATIONS = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Add,), ast.FloorDiv: (ast.Mult,), ast.Div: (ast.Mult,),
    ast.Pow: (ast.Mult,), ast.LShift: (ast.RShift,), ast.BitOr: (), ast.Mod: (),
}  # fmt: skip
NAMES = {"all": "any", "any": "all", "min": "max", "max": "min"}


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
    seen: Counter[str] = Counter()
    for part in tree.body:
        if isinstance(part, ast.FunctionDef | ast.ClassDef):
            for node in ast.walk(part):
                for child in ast.iter_child_nodes(node):
                    for label, change, undo in changes(child, ast.unparse(node).partition("\n")[0][:90]):
                        name = f"{part.name}: {label}"
                        seen[name] += 1
                        yield (f"{name}, number {seen[name]}" if seen[name] > 1 else name), change, undo


def changes(node: Any, around: str) -> Iterator[Mutant]:
    """What can be changed at a node: a name for it, the change, and what undoes it."""
    text = ast.unparse(node)[:90]

    def swap(owner: Any, field: str, new: Any, label: str) -> Mutant:
        old = getattr(owner, field)
        return label, lambda: setattr(owner, field, new), lambda: setattr(owner, field, old)

    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield swap(node, "value", ast.Constant(None), f"without {text}")
    if isinstance(node, ast.If):
        yield swap(node, "test", ast.Constant(False), f"never if {ast.unparse(node.test)[:60]}")
    if isinstance(node, ast.If | ast.IfExp):
        yield swap(node, "test", ast.Constant(True), f"always if {ast.unparse(node.test)[:60]}")
    if isinstance(node, ast.IfExp):
        yield swap(node, "test", ast.Constant(False), f"otherwise in {text}")
    if isinstance(node, ast.comprehension):
        yield from (swap(node, "ifs", [], f"all in {text}") for _ in node.ifs[:1])
    if isinstance(node, ast.Name) and node.id in NAMES:
        yield swap(node, "id", NAMES[node.id], f"{around} with {NAMES[node.id]}")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield swap(node, "op", ast.UAdd(), f"{text} without its sign in {around}")
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            for other in COMPARISONS.get(type(operator), ()):
                ops = [*node.ops[:i], other(), *node.ops[i + 1 :]]
                yield swap(node, "ops", ops, f"{text} with {other.__name__} at {i}")
    if isinstance(node, ast.BinOp):
        for other in OPERATIONS.get(type(node.op), ()):
            yield swap(node, "op", other(), f"{text} with {other.__name__}")
    if isinstance(node, ast.AugAssign):
        yield swap(node, "op", ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), f"{text} with the other sign")
    if isinstance(node, ast.BoolOp):
        yield swap(node, "op", ast.And() if isinstance(node.op, ast.Or) else ast.Or(), f"{text} with the other logic")
        for i in range(len(node.values)):
            rest = node.values[:i] + node.values[i + 1 :]
            yield swap(node, "values", rest * 2, f"{text} without part {i}")
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield swap(node, "value", node.value + 1, f"{text} + 1 in {around}")
        yield swap(node, "value", node.value - 1, f"{text} - 1 in {around}")


def compiled(tree: ast.Module) -> ModuleType:
    """The module of a tree."""
    module = ModuleType("mutant")
    module.__package__ = "lemmata.certificates"
    exec(compile(ast.fix_missing_locations(tree), "mutant", "exec"), vars(module))
    return module


def no_decisions(_: Any) -> Iterator[object]:
    """Nothing but documents is asked."""
    yield from ()


def survivors(
    module: ModuleType,
    source: str,
    equivalent: Mapping[str, str],
    entries: Iterable[Entry],
    *,
    least: int,
    sample: int | None,
    seed: int,
    decisions: Callable[[Any], Iterator[object]] = no_decisions,
) -> list[str]:
    """The mutants that say of every entry, and of all else that is asked, what the kernel says.

    Args:
        module, source: the kernel.
        equivalent: mutants that are left out, and why; each has to be one.
        entries: documents.
        least: how many mutants there are at least.
        sample: how many of them are tried, all for None.
        seed: of the sample.
        decisions: what a kernel says of other things.
    """
    tree = ast.parse(source)
    listed = list(mutants(tree))
    assert len(listed) >= least
    assert equivalent.keys() <= {label for label, _, _ in listed}
    listed = [one for one in listed if one[0] not in equivalent]
    pairs = [(entry, run(module, entry)) for entry in entries]
    decided = list(decisions(module))
    alive = []
    for label, change, undo in listed if sample is None else random.Random(seed).sample(listed, sample):
        change()
        try:
            mutant = compiled(tree)
        finally:
            undo()
        if any(one != other for one, other in zip_longest(decisions(mutant), decided)):
            continue
        told = next((i for i, (entry, verdict) in enumerate(pairs) if run(mutant, entry) != verdict), None)
        if told is None:
            alive.append(label)
        else:  # it is likely to tell the next one apart too
            pairs.insert(0, pairs.pop(told))
    return alive
