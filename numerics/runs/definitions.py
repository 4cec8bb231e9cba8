"""What a function uses, read off the source, and a fingerprint of it.

`uses` follows the names in the body and the decorators of a top-level definition through the functions, classes and
constants of its module and of the modules from which these are imported. Annotations do not count. Being read off the
source, the answer is the same whatever is cached, and in every order of calls; names that are looked up at run time
(attributes of objects, strings) are not seen, but the class of an object is, where its name stands.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Uses", "belongs", "fingerprint", "fingerprint_of_file", "uses"]


@dataclass(frozen=True)
class Uses:
    """What a definition uses.

    Attributes:
        definitions: the nodes of the definitions that were followed, by file and name, the first one included.
        leaves: the dotted names of other packages at which following ends.
    """

    definitions: dict[tuple[Path, str], list[ast.AST]] = field(default_factory=dict)
    leaves: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _Module:
    """What a module defines, and where its other names come from: (module, name), the name "" for a module."""

    defined: dict[str, list[ast.AST]] = field(default_factory=dict)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)


def uses(path: Path, name: str, within: Sequence[str]) -> Uses:
    """All that a top-level name of a file uses.

    Args:
        path: a Python file.
        name: of a function, class or constant in it.
        within: the packages whose definitions are followed; names of all others are leaves.
    """
    result = Uses()
    _follow(path, name, tuple(within), result)
    return result


def fingerprint(function: Callable[..., Any], within: Sequence[str]) -> str:
    """16 hexadecimal digits that change with the code of a function or of anything that it uses within the packages.

    Comments, docstrings, annotations and the layout of the code do not change them, nor do the names of local variables
    and the modules of the packages in which the definitions stand.

    Raises:
        ValueError: for a function without a file, or that is not at the top level of its module.
    """
    file = inspect.getsourcefile(function)
    name = getattr(function, "__qualname__", "")
    if file is None or name not in _module(Path(file)).defined:
        raise ValueError(f"A fingerprint needs a function at the top level of a file, not {function!r}.")
    used = uses(Path(file), name, within)
    parts = sorted(f"{own} {text}" for path, own in used.definitions for text in _texts(path, own, tuple(within)))
    return _digest([*parts, *sorted(used.leaves)])


def fingerprint_of_file(path: Path) -> str:
    """16 hexadecimal digits that change with the code of a file, as `fingerprint` does with that of a function."""
    return _digest([_text(ast.parse(path.read_text(encoding="utf-8")), ())])


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def belongs(name: str, packages: Sequence[str]) -> bool:
    """Whether a dotted name is that of one of the packages, or of something in it."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def _follow(path: Path, name: str, within: tuple[str, ...], result: Uses) -> None:
    waiting = [(path, name)]
    while waiting:
        place = waiting.pop()
        if place not in result.definitions:
            result.definitions[place] = _module(place[0]).defined.get(place[1], [])
            used, leaves = _steps(*place, within)
            result.leaves.update(leaves)
            waiting += used


@functools.cache
def _steps(path: Path, name: str, within: tuple[str, ...]) -> tuple[list[tuple[Path, str]], list[str]]:
    """The definitions, and the names of other packages, that one definition uses itself: the same in every search."""
    module = _module(path)
    used: list[tuple[Path, str]] = []
    leaves: list[str] = []
    for node in module.defined.get(name, []):
        names, inner = _names(node)
        for one in names:
            if one in inner:
                _enter(*inner[one], within, used, leaves)
            elif one in module.defined:
                used.append((path, one))
            elif one in module.imported:
                _enter(*module.imported[one], within, used, leaves)
    if name in module.imported and name not in module.defined:
        _enter(*module.imported[name], within, used, leaves)
    return used, leaves


def _enter(module: str, name: str, within: tuple[str, ...], used: list[tuple[Path, str]], leaves: list[str]) -> None:
    """Note what an imported name stands for: definitions if it belongs to the packages, else a leaf."""
    dotted = f"{module}.{name}" if name else module
    if not belongs(module, within):
        leaves.append(dotted)
    elif (inner := _source(dotted)) is not None:  # a whole module: all that it defines may be used
        used += [(inner, one) for one in _module(inner).defined]
    elif (file := _source(module)) is not None:
        used.append((file, name))


@functools.cache
def _source(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec is not None and spec.origin and spec.origin.endswith(".py") else None


@functools.cache
def _module(path: Path) -> _Module:
    result = _Module()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        _note(node, result)
    return result


def _note(node: ast.stmt, module: _Module) -> None:
    """Note what one top-level statement defines or imports."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        module.defined.setdefault(node.name, []).append(node)
    elif isinstance(node, ast.ImportFrom | ast.Import):
        module.imported.update(_imported(node))
    elif isinstance(node, ast.If | ast.Try | ast.With):
        for inner in node.body:
            _note(inner, module)
    else:
        for target in ast.walk(node):
            if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                module.defined.setdefault(target.id, []).append(node)


def _imported(node: ast.ImportFrom | ast.Import) -> dict[str, tuple[str, str]]:
    """The names that a statement imports, with their origins."""
    if isinstance(node, ast.ImportFrom):
        return {alias.asname or alias.name: (node.module, alias.name) for alias in node.names} if node.module else {}
    result: dict[str, tuple[str, str]] = {}
    for alias in node.names:
        known = alias.asname or alias.name.partition(".")[0]
        result[known] = (alias.name if alias.asname else known, "")
    return result


def _names(node: ast.AST) -> tuple[list[str], dict[str, tuple[str, str]]]:
    """The names that a definition uses: in bodies, decorators, defaults and as fixtures; annotations left out.

    Returns:
        The names, and the origins of those that it imports itself.
    """
    names: dict[str, None] = {}
    imported: dict[str, tuple[str, str]] = {}
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.Name):
            names[one.id] = None
        elif isinstance(one, ast.arg):
            names[one.arg] = None  # a fixture, if the module defines one of this name
        elif isinstance(one, ast.ImportFrom | ast.Import):
            imported |= _imported(one)
        else:
            parts = [value for name, value in ast.iter_fields(one) if name not in _SILENT]
            inner = (child for part in reversed(parts) for child in (part[::-1] if isinstance(part, list) else [part]))
            waiting += [child for child in inner if isinstance(child, ast.AST)]
    return list(names), imported


_SILENT = ("annotation", "returns", "ctx", "op", "ops")
"""Fields of a piece of code that name nothing that it uses."""


@functools.cache
def _texts(path: Path, name: str, within: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_text(node, within) for node in _module(path).defined.get(name, ()))


def _text(node: ast.AST, within: Sequence[str], local: Mapping[str, str] | None = None) -> str:
    """The tree of a piece of code as a text, without what says nothing of the computation.

    That is docstrings, annotations, places, the names of local variables, and the module of an import of the packages,
    whose definitions are followed; and what is empty, such as fields that later versions of Python have added.
    """
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and local is None:
        local = _local_names(node)
    parts = []
    value: Any
    for field_name, value in ast.iter_fields(node):
        if field_name in ("ctx", "kind", "type_comment", "returns") or (
            field_name == "annotation" and not isinstance(node, ast.AnnAssign)
        ):
            continue
        if field_name == "body" and isinstance(value, list) and isinstance(node, _DOCUMENTED):
            first = value[0] if value else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                value = value[1:]
        if field_name == "module" and isinstance(value, str) and belongs(value, within):
            continue
        if isinstance(node, ast.Name) and field_name == "id" and local is not None:
            value = local.get(node.id, node.id)
        inner = [_text(one, within, local) if isinstance(one, ast.AST) else repr(one)
                 for one in (value if isinstance(value, list) else [value]) if one is not None]  # fmt: skip
        if inner:
            parts.append(f"{field_name}={' '.join(inner)}")
    return f"{type(node).__name__}({', '.join(parts)})"


_DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)


def _local_names(function: ast.AST) -> dict[str, str]:
    """Names for the local variables of a function, by their order; what is declared, or also an argument, is kept."""
    found: dict[str, str] = {}
    kept: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            kept.add(node.arg)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            kept.update(node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.setdefault(node.id, "")
    names = [name for name in found if name not in kept]
    return {name: f"local {place}" for place, name in enumerate(names)}
