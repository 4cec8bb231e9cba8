"""Least set covers, certified on both sides: a cover, and weights or an exhausted search that no smaller one exists.

Elements are 0, ..., n - 1, a set is an integer whose bit i says whether it contains element i. The cover comes from a
mixed-integer program (HiGHS in SciPy) and is checked bit by bit. Weights y_i >= 0 of sum at most 1 on every set show
that every cover has at least the sum of all y_i sets; they come from the linear program's dual, are rounded to
rational numbers and scaled down until they meet their constraints exactly. Where the sum, rounded up, falls short of
the size of the cover, a search runs through all smaller covers: some element must be covered, so that it branches over
the sets that contain the element with the fewest. A search that grows too long is given up, and the gap is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

LARGEST_SEARCH = 200_000
"""Nodes after which a search for a smaller cover is given up."""
DENOMINATOR = 2520
"""Dual weights are rounded to the next rational number with at most this denominator."""


class CoverError(ValueError):
    """A cover, or a proof that none is smaller, is wrong."""


@dataclass(frozen=True)
class SetCover:
    """A cover and a lower bound on the size of every cover.

    Attributes:
        chosen: the sets of the cover, by their numbers, rising.
        lower: every cover has at least so many sets.
        weights: y_i, one for each element.
        searched: whether the lower bound comes from a search and not from the weights.
    """

    chosen: tuple[int, ...]
    lower: int
    weights: tuple[fmpq, ...]
    searched: bool

    @property
    def exact(self) -> bool:
        """Whether both sides meet."""
        return self.lower == len(self.chosen)


def least_set_cover(sets: Sequence[int], elements: int, largest_search: int = LARGEST_SEARCH) -> SetCover:
    """A least cover of 0, ..., n - 1 by the sets, or a cover and a smaller lower bound if the search is given up.

    Args:
        sets: integers with the members as bits.
        elements: n >= 1.
        largest_search: nodes after which the search is given up.

    Raises:
        ValueError: if n < 1, a set has members beyond n - 1, or some element is in no set.
    """
    matrix = _membership(sets, elements)
    chosen = _program_cover(sets, elements, matrix)
    weights = _dual_weights(matrix)
    lower, searched = _rounded_up(sum(weights, start=fmpq(0))), False
    while lower < len(chosen):
        smaller, finished = _search(sets, elements, len(chosen) - 1, largest_search)
        if smaller is not None:
            chosen = smaller
        elif finished:
            lower, searched = len(chosen), True
        else:
            break
    return SetCover(tuple(sorted(chosen)), lower, tuple(weights), searched)


def verify_set_cover(sets: Sequence[int], elements: int, cover: SetCover) -> None:
    """Check both sides of a cover from the start; the search is repeated where the lower bound rests on one.

    Raises:
        CoverError: if the cover misses an element, the weights break a constraint, or the lower bound does not follow.
    """
    covered = 0
    for k in cover.chosen:
        covered |= sets[k]
    if covered != 2**elements - 1 or len(set(cover.chosen)) != len(cover.chosen):
        raise CoverError(f"The sets {list(cover.chosen)} do not cover all {elements} elements, or one is named twice.")
    if len(cover.weights) != elements or any(y < 0 for y in cover.weights):
        raise CoverError(f"There must be {elements} weights >= 0, one for each element.")
    for k, members in enumerate(sets):
        total = sum((y for i, y in enumerate(cover.weights) if members >> i & 1), start=fmpq(0))
        if total > 1:
            raise CoverError(f"The weights of the elements of set {k} have the sum {total}, which is above 1.")
    if cover.searched:
        smaller, finished = _search(sets, elements, cover.lower - 1, LARGEST_SEARCH)
        if smaller is not None or not finished:
            raise CoverError(f"A search does not show that every cover has at least {cover.lower} sets.")
    elif cover.lower > _rounded_up(sum(cover.weights, start=fmpq(0))):
        raise CoverError(f"The weights do not show that every cover has at least {cover.lower} sets.")


def maximal_cliques(neighbours: Sequence[int], largest: int) -> list[int]:
    """All maximal sets of vertices that are pairwise adjacent, as integers with the vertices as bits.

    Bron and Kerbosch's recursion with a pivot.

    Args:
        neighbours: the vertices adjacent to each vertex, itself left out, as bits.
        largest: how many cliques there may be.

    Raises:
        ValueError: if there are more.
    """
    found: list[int] = []

    def extend(clique: int, candidates: int, excluded: int) -> None:
        if not candidates and not excluded:
            found.append(clique)
            if len(found) > largest:
                raise ValueError(f"The class has more than {largest:,} maximal groups of near functions.")
            return
        pivot = max(_members(candidates | excluded), key=lambda v: (candidates & neighbours[v]).bit_count())
        for v in _members(candidates & ~neighbours[pivot]):
            extend(clique | 1 << v, candidates & neighbours[v], excluded & neighbours[v])
            candidates &= ~(1 << v)
            excluded |= 1 << v

    extend(0, 2 ** len(neighbours) - 1, 0)
    return found


def _members(bits: int) -> list[int]:
    return [i for i in range(bits.bit_length()) if bits >> i & 1]


def _membership(sets: Sequence[int], elements: int) -> np.ndarray:
    """The matrix (elements, sets) of memberships, once it is known that they cover."""
    if elements < 1 or not sets or any(members < 0 or members >> elements for members in sets):
        raise ValueError(f"Sets are integers with members among the bits 0, ..., {elements - 1}, at least one element.")
    matrix = np.array([[members >> i & 1 for members in sets] for i in range(elements)])
    bare = np.flatnonzero(~matrix.any(axis=1))
    if bare.size:
        raise ValueError(f"Element {bare[0]} is in no set, so that there is no cover.")
    return matrix


def _program_cover(sets: Sequence[int], elements: int, matrix: np.ndarray) -> list[int]:
    """A cover by the mixed-integer program; if its answer covers not all, the sets with most new elements are added."""
    count = len(sets)
    answer = milp(
        np.ones(count), constraints=LinearConstraint(matrix, lb=1), integrality=np.ones(count), bounds=Bounds(0, 1)
    )
    chosen = [] if answer.x is None else [k for k in range(count) if answer.x[k] > 0.5]
    missing = 2**elements - 1
    for k in chosen:
        missing &= ~sets[k]
    while missing:
        best = max(range(count), key=lambda k: (sets[k] & missing).bit_count())
        chosen.append(best)
        missing &= ~sets[best]
    return chosen


def _dual_weights(matrix: np.ndarray) -> list[fmpq]:
    """Exact weights that meet all constraints, close to the best ones."""
    elements, _ = matrix.shape
    answer = linprog(-np.ones(elements), A_ub=matrix.T, b_ub=np.ones(matrix.shape[1]), bounds=(0, 1))
    rough = np.zeros(elements) if answer.x is None else np.clip(answer.x, 0, 1)
    weights = [fmpq(w.numerator, w.denominator) for w in (Fraction(y).limit_denominator(DENOMINATOR) for y in rough)]
    heaviest = max(
        sum((y for y, member in zip(weights, column, strict=True) if member), fmpq(0)) for column in matrix.T
    )
    return weights if heaviest <= 1 else [y / heaviest for y in weights]


def _rounded_up(q: fmpq) -> int:
    return int(q.ceil())


def _search(sets: Sequence[int], elements: int, budget: int, largest: int) -> tuple[list[int] | None, bool]:
    """A cover of at most `budget` sets or None, and whether the search came to its end."""
    widest = max(members.bit_count() for members in sets)
    holders = [[k for k, members in enumerate(sets) if members >> i & 1] for i in range(elements)]
    nodes = 0

    def cover(missing: int, left: int) -> list[int] | None:
        nonlocal nodes
        nodes += 1
        if not missing:
            return []
        if missing.bit_count() > left * widest or nodes > largest:
            return None
        rarest = min(_members(missing), key=lambda i: len(holders[i]))
        for k in holders[rarest]:
            rest = cover(missing & ~sets[k], left - 1)
            if rest is not None:
                return [k, *rest]
        return None

    found = cover(2**elements - 1, budget)
    return found, found is not None or nodes <= largest
