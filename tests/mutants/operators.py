"""Three operators beside those of Cosmic Ray: a value times 51/50, a term dropped, an index moved.

They have the form of Cosmic Ray's operators, as far as `tests.mutants.sample` uses it: `mutation_positions` of a node
of parso, and `mutate`, which returns the node that takes its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Position = tuple[tuple[int, int], tuple[int, int]]


class TimesFactor:
    """A sum, a product, a power or what a function returns becomes 51/50 of itself; not what is an index."""

    NODES = ("arith_expr", "term", "power", "atom_expr")

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        """One position if the node is such a value."""
        computed = node.type in ("arith_expr", "term") or (node.type == "power" and "**" in _signs(node))
        returned = node.type == "atom_expr" and node.parent.type == "return_stmt"
        if (computed or returned) and not _inside(node, ("subscript", "fstring")):
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """The value in brackets, times 51/50."""
        return _leaf(f"(({node.get_code(include_prefix=False)}) * 51 / 50)", node)


class DropTerm:
    """A sum loses one of its terms."""

    NODES = ("arith_expr",)

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        """One position for each term."""
        if node.type == "arith_expr":
            for term in node.children[::2]:
                yield term.start_pos, term.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """The sum without that term; a minus in front of the second one stays."""
        parts = [child.get_code() for child in node.children]
        left = parts[2:] if index == 0 else parts[: 2 * index - 1] + parts[2 * index + 1 :]
        sign = "-" if index == 0 and parts[1].strip() == "-" else ""
        return _leaf(f"({sign}{''.join(left).strip()})", node)


class MoveIndex:
    """One index of an entry is less by 1, so that the first entry becomes the last one."""

    NODES = ("trailer",)

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        """One position for each index that is a number, a name or a sum; keys that are texts and slices are none."""
        if node.type == "trailer" and node.children[0].value == "[":
            for one in _indices(node):
                yield one.start_pos, one.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """The same brackets with another index."""
        moved = _indices(node)[index]
        start = node.start_pos
        code, offset = node.get_code(include_prefix=False), 0
        if moved.start_pos[0] == start[0]:
            offset = moved.start_pos[1] - start[1]
        else:  # the index stands on a later line
            lines = code.split("\n")
            offset = sum(len(line) + 1 for line in lines[: moved.start_pos[0] - start[0]]) + moved.start_pos[1]
        text = moved.get_code(include_prefix=False)
        return _leaf(f"{code[:offset]}{text} - 1{code[offset + len(text) :]}", node)


OWN: dict[str, Any] = {"TimesFactor": TimesFactor, "DropTerm": DropTerm, "MoveIndex": MoveIndex}


def _indices(trailer: Any) -> list[Any]:
    inner = trailer.children[1]
    parts = inner.children[::2] if inner.type == "subscriptlist" else [inner]
    return [one for one in parts if one.type in ("number", "name", "arith_expr")]


def _signs(node: Any) -> list[str]:
    return [child.value for child in node.children if child.type == "operator"]


def _inside(node: Any, kinds: tuple[str, ...]) -> bool:
    """Whether a node stands within an index or a formatted text."""
    while (parent := node.parent) is not None and parent.type not in ("simple_stmt", "suite", "file_input"):
        index = parent.type == "trailer" and parent.children[0].value == "["
        if parent.type in kinds or index:
            return True
        node = parent
    return False


def _leaf(code: str, node: Any) -> Any:
    from parso.python.tree import Name

    leaf = Name(code, node.start_pos, prefix=node.get_first_leaf().prefix)
    leaf.parent = node.parent
    return leaf
