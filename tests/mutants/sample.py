"""Mutants of the library: all places where one can stand, and a random sample of them with a seed.

The mutants are made by the operators of Cosmic Ray (the extra `mutants`) and three of ours (`operators`). Its runner
is not used: it changes files in place and runs one fixed command for all, while here the tests are chosen mutant by
mutant, and run in a warm process.

A *place* is a token or an expression and a family of operators (a binary operator, a comparison, a number, ...). Places
are drawn, all of a room with the same chance, and then one of the mutants there: were mutants drawn, eleven of every
dozen would be about a plus or a minus. What changes no result by design is no place: annotations, imports for type
checkers, the decorators that compile or remember (`njit`, `cache`), `__main__`. Nor is what does not compile, or
differs only by `is` in place of `==`, which is a matter of the interpreter.
"""

from __future__ import annotations

import ast
import functools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.mutants.operators import OWN

ROOMS: dict[str, tuple[str, ...]] = {
    "certificates/kernel.py": ("certificates/kernel.py",),
    "certificates/operation_kernel.py": ("certificates/operation_kernel.py",),
    "certificates/algebraic_kernel.py": ("certificates/algebraic_kernel.py",),
    "certificates/character_table_kernel.py": ("certificates/character_table_kernel.py",),
    "certificates/solution_kernel.py": ("certificates/solution_kernel.py",),
    "certificates/ternary_kernel.py": ("certificates/ternary_kernel.py",),
    "numerics: exact, fourier, functions": ("numerics/exact", "numerics/fourier", "numerics/functions"),
    "numerics: groups": ("numerics/groups",),
    "numerics: descent, learning": ("numerics/descent", "numerics/learning"),
    "numerics: parity": ("numerics/parity",),
    "numerics: margins, markov": ("numerics/margins", "numerics/markov"),
    "numerics: recurrent, tables, tokens, turing": (
        "numerics/recurrent",
        "numerics/operations",
        "numerics/tokens",
        "numerics/turing",
    ),
    "numerics: runs": ("numerics/runs",),
    "constructions: networks, representations": ("constructions/networks", "constructions/representations"),
    "constructions: circuits, descent, turing": (
        "constructions/circuits",
        "constructions/descent",
        "constructions/turing",
    ),
    "constructions: all other rooms": (
        "constructions/groups",
        "constructions/induction",
        "constructions/parity",
        "constructions/recurrent",
        "constructions/registry",
        "constructions/sparse",
        "constructions/tokens",
        "constructions/zoo",
    ),
    "certificates: characters, groups": ("certificates/characters", "certificates/groups"),
    "certificates: duality, game, margins, saddle, solutions": (
        "certificates/duality",
        "certificates/game",
        "certificates/margins",
        "certificates/saddle",
        "certificates/solutions",
    ),
    "certificates: capacity, sparse, tables, tokens": (
        "certificates/capacity",
        "certificates/sparse",
        "certificates/operations",
        "certificates/tokens",
    ),
    "certificates: descent, induction": (
        "certificates/descent.py",
        "certificates/descent_trajectory.py",
        "certificates/induction",
    ),
    "certificates: atlas, coq": ("certificates/atlas", "certificates/coq"),
    "theorems: the framework": ("theorems/*.py",),
    "lemmata": ("lemmata",),
}
"""Rooms with the files and folders that they hold; small rooms of a floor are counted together."""
KERNELS = tuple(name for name in ROOMS if name.endswith(".py"))
_NOT_MUTATED = ("lemmata/site/", "lemmata/scaffold/template/")
_SPEED = frozenset({"njit", "jit", "vectorize", "guvectorize", "cache", "lru_cache", "cached_property", "overload"})
_OTHERS = frozenset(
    {"number", "keyword", "if_stmt", "while_stmt", "for_stmt", "assert_stmt", "test", "except_clause", "decorator"}
)
"""The nodes on which the other families act."""
_IDENTITY = frozenset({("Eq", "Is"), ("Is", "Eq"), ("NotEq", "IsNot"), ("IsNot", "NotEq")})


@dataclass(frozen=True, order=True)
class Place:
    """Where mutants stand: a file, a line from 1, a column from 0, and the family of the operators."""

    file: str
    line: int
    column: int
    family: str


@dataclass(frozen=True)
class Mutant:
    """One changed file: the operator of Cosmic Ray, the lines before and after, those of the statement, and the text.

    ``at_import`` is true outside of functions: then no test alone executes the statement.
    """

    room: str
    file: str
    line: int
    column: int
    operator: str
    before: str
    after: str
    statement: tuple[int, int]
    at_import: bool
    code: str


def files_of(room: str, tree: Path) -> list[str]:
    """The files of a room, sorted."""
    found: set[str] = set()
    for part in ROOMS[room]:
        paths = (
            tree.glob(part) if "*" in part else [tree / part] if part.endswith(".py") else (tree / part).rglob("*.py")
        )
        found |= {str(path.relative_to(tree)) for path in paths}
    return sorted(name for name in found if not name.startswith(_NOT_MUTATED))


def sample(room: str, size: int, seed: int, tree: Path) -> tuple[list[Mutant], int]:
    """Mutants at different random places of a room, and how many places there are.

    Args:
        room: a key of `ROOMS`.
        size: how many mutants; fewer if the room has fewer places.
        seed: of the draw, together with the name of the room.
        tree: the folder of the packages.
    """
    places = [place for file in files_of(room, tree) for place in places_of(file, tree)]
    draw = random.Random(f"{seed}:{room}")
    draw.shuffle(places)
    found: list[Mutant] = []
    for place in places:
        if len(found) == size:
            break
        one = next(mutants_at(room, place, tree, draw), None)
        if one is not None:
            found.append(one)
    return found, len(places)


@functools.cache
def places_of(file: str, tree: Path) -> list[Place]:
    """All places of a file, in order."""
    return sorted({place for place, _, _, _ in _positions(_parsed(tree / file), file)})


def mutants_at(room: str, place: Place, tree: Path, draw: random.Random) -> Iterator[Mutant]:
    """The mutants of a place that compile to another program, in random order."""
    text = (tree / place.file).read_text(encoding="utf-8")
    original = ast.dump(ast.parse(text))
    count = len(_at(_parsed(tree / place.file), place))
    for index in draw.sample(range(count), count):
        parsed = _parsed(tree / place.file)  # a mutation changes the tree
        _, name, node, nth = _at(parsed, place)[index]
        try:
            code = _mutated(parsed, name, node, nth)
            changed = ast.dump(ast.parse(code)) != original
        except (SyntaxError, ValueError, AttributeError):  # the last one: exceptions with a dot in their names
            continue
        if changed:
            before, after = _difference(text.split("\n"), code.split("\n"))
            where = statement_at(tree / place.file, place.line)
            yield Mutant(room, place.file, place.line, place.column, name, before, after, *where, code)


def _at(parsed: Any, place: Place) -> list[tuple[Place, str, Any, int]]:
    return [found for found in _positions(parsed, place.file, place) if found[0] == place]


def _parsed(path: Path) -> Any:
    import parso

    return parso.parse(path.read_text(encoding="utf-8"))


def _mutated(parsed: Any, name: str, node: Any, nth: int) -> str:
    """The text after one mutation of a node, by way of its parent, as Cosmic Ray's own visitor has it."""
    new = _operators()[name]().mutate(node, nth)
    parent = node.parent
    if new is None:
        parent.children = [child for child in parent.children if child is not node]
    elif new is not node:
        parent.children = [new if child is node else child for child in parent.children]
    return parsed.get_code()


@functools.cache
def _operators() -> dict[str, Any]:
    """The operators of Cosmic Ray that ask for no arguments, but those of identity, and our own, by name."""
    from cosmic_ray.operators.provider import OperatorProvider

    provider = OperatorProvider()
    names = [name for name in provider if name not in ("VariableReplacer", "VariableInserter", "NoOp")]
    return {name: provider[name] for name in names if tuple(name.split("_")[-2:]) not in _IDENTITY} | OWN


@functools.cache
def _by_family() -> dict[str, list[str]]:
    families: dict[str, list[str]] = {}
    for name in _operators():
        families.setdefault(name.split("_")[0], []).append(name)
    return families


def _positions(parsed: Any, file: str, only: Place | None = None) -> Iterator[tuple[Place, str, Any, int]]:
    """Places with the operator, the node of the tree, and which of the operator's mutations of that node it is.

    With ``only``, nodes and families that have nothing to do with that place are passed over.
    """
    from cosmic_ray.ast import ast_nodes

    refused = _refused(parsed.get_code())
    for node in ast_nodes(parsed):
        if only is not None and not node.start_pos <= (only.line, only.column) <= node.end_pos:
            continue
        for family, names in _by_family().items():
            if not _concerns(family, node) or (only is not None and family != only.family):
                continue
            for name in names:
                for nth, (start, _) in enumerate(_operators()[name]().mutation_positions(node)):
                    if not any(low <= start < high for low, high in refused):
                        yield Place(file, start[0], start[1], family), name, node, nth


def _concerns(family: str, node: Any) -> bool:
    """Whether operators of a family may act on a node, so that a hundred of them are not asked in vain."""
    if family == "ReplaceBinaryOperator":
        return node.type == "operator"
    if family == "ReplaceComparisonOperator":
        return node.type == "comparison"
    if family == "ReplaceUnaryOperator":
        return node.type in ("factor", "not_test")
    if family in OWN:
        return node.type in OWN[family].NODES
    return node.type in _OTHERS


@functools.lru_cache(maxsize=64)
def _refused(text: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The stretches of a file that are no places (see the head of this module), as pairs of (line, column)."""
    found: list[ast.AST] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found += [one for one in node.decorator_list if _SPEED & set(_names(one))]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            found.append(node.returns)
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            found.append(node.annotation)
        if isinstance(node, ast.If) and {"TYPE_CHECKING", "__name__"} & set(_names(node.test)):
            found.append(node)
    spans = [_span(text, node) for node in found]
    # the sign @ of a decorator stands before it
    return [
        ((low[0], 0) if text.split("\n")[low[0] - 1][: low[1]].strip() == "@" else low, high) for low, high in spans
    ]


def _names(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            yield one.id
        elif isinstance(one, ast.Attribute):
            yield one.attr


def _span(text: str, node: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    """From where to where a node stands, in characters; `ast` counts bytes."""
    lines = text.split("\n")

    def column(line: int, offset: int) -> int:
        return len(lines[line - 1].encode()[:offset].decode())

    return (node.lineno, column(node.lineno, node.col_offset)), (
        node.end_lineno,
        column(node.end_lineno, node.end_col_offset),
    )


def replanted(entry: dict[str, Any], tree: Path) -> Mutant:
    """A mutant of the results in the files as they are now: its lines are looked for near their old place.

    Raises:
        ValueError: if the lines are no longer there.
    """
    text = (tree / entry["file"]).read_text(encoding="utf-8")
    starts = [found.start() for found in re.finditer(re.escape(entry["before"]), text)]
    if not starts:
        raise ValueError(f"{entry['file']} no longer holds {entry['before']!r}; draw a new sample.")
    start = min(starts, key=lambda one: abs(text.count("\n", 0, one) + 1 - entry["line"]))
    code = text[:start] + entry["after"] + text[start + len(entry["before"]) :]
    line = text.count("\n", 0, start) + 1
    names = {name: entry[name] for name in ("room", "file", "column", "operator", "before", "after")}
    statement, at_import = statement_at(tree / entry["file"], line)
    return Mutant(**names, line=line, statement=statement, at_import=at_import, code=code)


def statement_at(path: Path, line: int) -> tuple[tuple[int, int], bool]:
    """The lines of the innermost statement at a line (of a compound one, of its head); whether it runs at import."""
    return _statements(path.read_text(encoding="utf-8")).get(line, ((line, line), True))


@functools.lru_cache(maxsize=512)
def _statements(text: str) -> dict[int, tuple[tuple[int, int], bool]]:
    """`statement_at` for every line of a text that holds a statement."""
    heads: dict[int, tuple[int, int]] = {}
    inner: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.stmt):
            continue
        body = getattr(node, "body", None)
        end = last = node.end_lineno or node.lineno
        if isinstance(body, list) and body:
            last = max(node.lineno, body[0].lineno - 1)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inner.update(range(last + 1, end + 1))
        for one in range(node.lineno, last + 1):
            if one not in heads or last - node.lineno < heads[one][1] - heads[one][0]:
                heads[one] = node.lineno, last
    lines = range(1, text.count("\n") + 2)
    return {one: (heads.get(one, (one, one)), one not in inner) for one in lines}


def compiled_function(mutant: Mutant) -> bool:
    """Whether a mutant stands in a function that Numba compiles, or in a function with such a function in it."""
    line = mutant.statement[0]
    return any(
        isinstance(node, ast.FunctionDef)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
        and any("njit" in _names(one) for inner in ast.walk(node) for one in getattr(inner, "decorator_list", []))
        for node in ast.walk(ast.parse(mutant.code))
    )


def _difference(old: list[str], new: list[str]) -> tuple[str, str]:
    """The lines that differ, before and after."""
    start = next((place for place, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), len(new))
    back = 0
    while back < min(len(old), len(new)) - start and old[-1 - back] == new[-1 - back]:
        back += 1
    return "\n".join(old[start : len(old) - back]).strip(), "\n".join(new[start : len(new) - back]).strip()
