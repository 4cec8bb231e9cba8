"""What a list of irreducible representations must be to make a network: of one group, and no two alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lemmata.numerics.groups.tables import FiniteGroup

__all__ = ["refuse_several_groups", "repeated_pair"]


class _OfGroup(Protocol):
    @property
    def group(self) -> FiniteGroup: ...


def refuse_several_groups(irreps: Iterable[_OfGroup]) -> None:
    """Refuse representations of different groups.

    Raises:
        ValueError: naming the groups, if there are several.
    """
    groups = [R.group for R in irreps]
    if any(group != groups[0] for group in groups):
        names = sorted({group.name for group in groups})
        raise ValueError(f"The representations must belong to one group, but there are {', '.join(names)}.")


def repeated_pair(characters: NDArray[Any]) -> tuple[int, int, str] | None:
    """The first two rows that are characters of "equivalent", or else of "conjugate", representations; None without.

    Inner products of irreducible characters are 0 or 1, which rounding recovers from errors below 1/2.

    Args:
        characters: irreducible characters, shape (m, n), in float64 or complex128.

    Returns:
        The two rows, and the word that says what they are.
    """
    n = characters.shape[1]
    for gram, word in ((characters.conj() @ characters.T, "equivalent"), (characters @ characters.T, "conjugate")):
        for row, column in np.argwhere(np.rint(np.abs(gram) / n) == 1):
            if row < column:
                return int(row), int(column), word
    return None
