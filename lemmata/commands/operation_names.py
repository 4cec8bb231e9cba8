"""What stands after `lemmata certify`: a group, or an operation, which may be that of a group."""

from __future__ import annotations

from typing import Literal

from rich.markup import escape

from lemmata.commands.console import err
from lemmata.given import group_or_operation
from lemmata.numerics.groups.permutations import PermutationGroup
from lemmata.numerics.operations.operation import Operation

__all__ = ["DEGREES", "named_group_or_operation"]

DEGREES: dict[str, Literal["plane", 4, 6]] = {"plane": "plane", "4": 4, "6": 6}
"""What --degree accepts, and the kind of proof that it means."""


def named_group_or_operation(
    text: str, cells: str | None, degree: str | None, limit: int, factors: int = 2
) -> Operation | PermutationGroup:
    """`group_or_operation`, which says on the screen that an operation is a group; a degree asks for an operation.

    Raises:
        ValueError: as `group_or_operation`, and for a degree that is none.
    """
    if degree is not None and degree not in DEGREES:
        raise ValueError(f"--degree accepts {', '.join(DEGREES)}; got {degree!r}.")

    def note(sentence: str) -> None:
        err.print(f"[yellow]note[/yellow]: {escape(sentence)}", soft_wrap=True)

    return group_or_operation(text, limit, cells=cells, as_operation=degree is not None, factors=factors, note=note)
