"""Orbits of the Galois group of the character values on the rows and on the columns of a character table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from lemmata.certificates.characters.integral_products import IntegralProducts

__all__ = ["first_members", "orbit_positions", "spread"]


def first_members(rows: IntegralProducts) -> list[int] | None:
    """The smallest member of the orbit of each row; None if the Galois group does not permute the rows."""
    permutations = rows.row_permutations
    if permutations is None:
        return None
    first = list(range(len(rows.ids)))
    for start in range(len(first)):
        reached = [start] if first[start] == start else []
        while reached:
            member = reached.pop()
            for permutation in permutations:
                if first[image := permutation[member]] > start:
                    first[image] = start
                    reached.append(image)
    return first


def orbit_positions(positions: Sequence[int], first: Sequence[int], folded: Sequence[int]) -> list[int]:
    """For each of these members the place of its orbit in ``folded``, a list of first members."""
    place = {member: index for index, member in enumerate(folded)}
    return [place[first[position]] for position in positions]


def spread(places: Sequence[int], totals: np.ndarray) -> np.ndarray:
    """The total of each orbit along the last axis, divided equally among the members at these places."""
    members = Counter(places)
    shares = {index: totals[..., index] / times for index, times in members.items()}
    entries = [shares[index] for index in places]
    return np.stack(entries, axis=-1) if totals.ndim > 1 else np.array(entries, dtype=object)
