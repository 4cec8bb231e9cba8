"""Mutants of the kernel of operations: whatever is taken out of it or turned round in it shows on some document."""

import ast
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import Any

from lemmata.certificates import kernel, operation_kernel
from tests.certificates.operation_kernel.corpus import Entry, entries, matrices, networks

SOURCE = Path(operation_kernel.__file__).read_text()
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
    exec(compile(ast.fix_missing_locations(tree), "mutant", "exec"), vars(module))
    return module


def decisions(module: Any) -> Iterator[object]:
    """What a kernel says of some matrices, and of outputs in few bits."""
    bits = module.EXTRA_BITS, module.BITS
    try:
        for matrix in matrices():
            yield module.has_dominated_factor(matrix)
            yield module.eliminates(matrix, "x")
        module.EXTRA_BITS = 0
        for matrix in matrices():
            yield module.has_dominated_factor(matrix)
        for module.BITS in (3, 20):
            for table, network in networks(module):
                yield module.enclosures(table, network, table.triples)
    except Exception as error:  # a mutant may fail in any way
        yield type(error).__name__
    finally:
        module.EXTRA_BITS, module.BITS = bits


def survivors(tree: ast.Module, listed: list[Mutant]) -> list[str]:
    """The mutants that say of every entry, of every matrix and of every network what the kernel says."""
    corpus = list(entries())
    pairs = [(entry, run(operation_kernel, entry)) for entry in corpus]
    decided = list(decisions(operation_kernel))
    assert not any(isinstance(one, str) for one in decided), "the kernel itself fails on what it is asked"
    alive = []
    for label, change, undo in listed:
        change()
        try:
            module = compiled(tree)
        finally:
            undo()
        if any(one != other for one, other in zip_longest(decisions(module), decided)):
            continue
        told = next((i for i, (entry, verdict) in enumerate(pairs) if run(module, entry) != verdict), None)
        if told is None:
            alive.append(label)
        else:  # it is likely to tell the next one apart too
            pairs.insert(0, pairs.pop(told))
    return alive


SEED = 1122


BETWEEN = "units > 0 and ((units - 1) * step) ** 2 < square <= (units * step) ** 2"
EQUIVALENT = {
    "has_dominated_factor: 0 + 1 in max(0, *(row[-1] for row in matrix))": "without a positive entry both refuse",
    "eliminates: k + 1 with Sub": "rows k - 1 and k have no entry from column k + 1 on",
    "eliminates: 1 - 1 in k + 1": "the pivot itself, which is zero where the column is asked for",
    "eliminates: 1 - 1 in k + 1, number 3": "row k has no entry from column k + 1 on",
    "eliminates: (rest[i][j] * p - rest[i][k] * rest[j][k]) // last with Mult": "the same signs, in longer numbers",
    "forms: always if entry": "zeros are added",
    "forms: 0 - 1 in R[0][0]": "all cells have equally many labels",
    "forms: 0 - 1 in R[0]": "all rows have equally many cells",
    "check_identity: always if entry": "zeros are added",
    "enclosures: d < 0 with LtE at 0": "zeros are added",
    "enclosures: 0 + 1 in d < 0": "zeros are added",
    f"is_closest_above: {BETWEEN} without part 0": "the square is positive, and no decimal is negative",
    "is_closest_above: units > 0 with GtE at 0": "the square is positive",
    "is_closest_above: 0 - 1 in units > 0": "the square is positive",
    "check_margin: always if isinstance(network, Network)": "version 2 without an exact margin was refused before",
    "check_unseen: 0 - 1 in document.parts[0]": "there is one part",
    "check_threshold: 0 - 1 in document.networks[0]": "there is one network",
    "check_part: below >= 0 with Gt at 0": "the square is positive",
    "check_part: above < 0 with LtE at 0": "the square is positive",
    "check_both: 0 - 1 in document.proofs[0]": "there is one proof",
}
"""Mutants that decide every document as the kernel does, and why."""


def test_mutants_of_the_kernel_show(effort):
    """Quick: a sample; full: all but those that are equivalent."""
    tree = ast.parse(SOURCE)
    listed = list(mutants(tree))
    names = [label for label, _, _ in listed]
    assert len(listed) > 600
    assert set(EQUIVALENT) <= set(names)
    listed = [one for one in listed if one[0] not in EQUIVALENT]
    chosen = effort.pick(quick=random.Random(SEED).sample(listed, 20), full=listed)
    assert survivors(tree, chosen) == []
