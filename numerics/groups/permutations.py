"""Finite groups of permutations: all elements, fast look-up, conjugacy classes.

Points are 0..d-1, a permutation is the tuple of its images, and products apply the right factor first,
(ab)(x) = a(b(x)), as in ``lemmata.numerics.groups.tables``. Elements are sorted lexicographically, so the identity
comes first and the numbering depends on the group alone and not on its generators.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index

import numpy as np
import numpy.typing as npt

from lemmata.numerics.groups.conjugacy import ConjugacyClasses, conjugacy_classes
from lemmata.numerics.groups.stabilisers import MAX_DEGREE, OrderLimitError, StabiliserChain
from lemmata.numerics.groups.tables import FiniteGroup

__all__ = [
    "DEFAULT_LIMIT",
    "MAX_TABLE_ORDER",
    "PermutationGroup",
    "cycle_notation",
    "parse_cycles",
]

IntArray = npt.NDArray[np.signedinteger]

DEFAULT_LIMIT = 1_000_000
MAX_TABLE_ORDER = 2000  # a Cayley table of 32 MB

_CYCLE = re.compile(r"\(\s*(\d{1,9}(?:\s*,\s*\d{1,9})*)?\s*\)")


def cycle_notation(permutation: Sequence[int] | IntArray) -> str:
    """The permutation as disjoint cycles of the points 1..d, such as "(1,2,3)(4,5)"; "()" for the identity."""
    images = [int(image) for image in permutation]
    cycles = []
    seen = set()
    for start in range(len(images)):
        cycle = []
        point = start
        while point not in seen:
            seen.add(point)
            cycle.append(str(point + 1))
            point = images[point]
        if len(cycle) > 1:
            cycles.append(f"({','.join(cycle)})")
    return "".join(cycles) or "()"


def parse_cycles(text: str, degree: int | None = None) -> tuple[int, ...]:
    """The images of the permutation of 0..degree-1 written as disjoint cycles of 1..degree, such as "(1,2,3)(4,5)".

    The degree is at least the largest point that occurs (the default).

    Raises:
        ValueError: for text that is not a product of cycles, for a point 0, a repeated point, and a point above the
            degree.
    """
    if not text.strip() or _CYCLE.sub("", text).strip():
        raise ValueError(f"A permutation is written as disjoint cycles such as (1,2,3)(4,5) or (); got {text!r}.")
    cycles = [[int(point) for point in match.group(1).split(",")] for match in _CYCLE.finditer(text) if match.group(1)]
    occurrences = Counter(point for cycle in cycles for point in cycle)
    if 0 in occurrences:
        raise ValueError(f"The points of a cycle are numbered from 1; got 0 in {text!r}.")
    repeated = [point for point, times in occurrences.items() if times > 1]
    if repeated:
        raise ValueError(f"The cycles of {text!r} are not disjoint: the point {repeated[0]} occurs more than once.")
    largest = max(occurrences, default=1)
    if largest > MAX_DEGREE:
        raise ValueError(f"The point {largest} is too large; permutations act on at most {MAX_DEGREE} points.")
    if degree is not None and largest > degree:
        raise ValueError(f"The permutation {text!r} moves the point {largest}, beyond the {degree} points 1..{degree}.")
    images = list(range(degree or largest))
    for cycle in cycles:
        for point, image in zip(cycle, cycle[1:] + cycle[:1], strict=True):
            images[point - 1] = image - 1
    return tuple(images)


def _validated(generators: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """The generators as tuples of Python integers.

    Raises:
        ValueError: naming the first that is not a permutation.
    """
    try:
        result = tuple(tuple(index(image) for image in generator) for generator in generators)
    except TypeError as error:
        raise ValueError(
            "The generators of a permutation group must be sequences of integers, the images of the points 0..d-1."
        ) from error
    if not result:
        raise ValueError("A permutation group needs at least one generator.")
    degree = len(result[0])
    if not 1 <= degree <= MAX_DEGREE:
        raise ValueError(f"A permutation group acts on 1 to {MAX_DEGREE} points; generator 0 permutes {degree}.")
    for number, generator in enumerate(result):
        if len(generator) != degree:
            raise ValueError(
                f"Generator {number} permutes {len(generator)} points and generator 0 permutes {degree}; all must "
                f"permute the same points."
            )
        if sorted(generator) != list(range(degree)):
            raise ValueError(
                f"Generator {number} = {generator} is not a permutation of 0..{degree - 1}: each point must occur once."
            )
    return result


@dataclass(frozen=True)
class PermutationGroup:
    """The group of order n >= 2 that permutations of 0..d-1 generate.

    Attributes:
        generators: tuples of images, all of the same degree d.
        name: for messages and titles.
        limit: the largest order that is accepted. Orders above it are refused before the elements are listed.

    Raises:
        ValueError: naming the first violation: no generator, not permutations, different degrees, the trivial group
            (composition in it has no wrong label), an order above the limit, too large a degree.
    """

    generators: tuple[tuple[int, ...], ...]
    name: str = "G"
    limit: int = DEFAULT_LIMIT

    def __post_init__(self) -> None:
        object.__setattr__(self, "generators", _validated(self.generators))
        if self._chain.order == 1:
            raise ValueError(
                f"The generators of {self.name} are all the identity; a group must have order at least 2 here "
                f"(the task needs a wrong label)."
            )

    def __repr__(self) -> str:
        return f"PermutationGroup({self.name}, order {self.order}, degree {self.degree})"

    @cached_property
    def _chain(self) -> StabiliserChain:
        try:
            return StabiliserChain.of(self.generators, self.limit)
        except OrderLimitError as error:
            raise ValueError(
                f"The group {self.name} has order at least {error.at_least}, above the limit of {self.limit} elements; "
                f"raise it with the argument limit of PermutationGroup (on the command line --limit), at a cost in "
                f"memory and time that grows with the order."
            ) from error

    @property
    def degree(self) -> int:
        """The number d of points."""
        return len(self.generators[0])

    @property
    def order(self) -> int:
        """The number n of elements."""
        return self._chain.order

    @property
    def exponent(self) -> int:
        """The least m >= 1 with g^m = 1 for all g."""
        return self.classes.exponent

    @cached_property
    def _sorted(self) -> tuple[IntArray, npt.NDArray[np.int64]]:
        """The elements in lexicographic order, and the position of the element with each code of the chain."""
        elements = self._chain.elements_by_code()
        by_base_images = np.lexsort(elements[:, self._chain.base[::-1]].T)
        position = np.empty(len(elements), dtype=np.int64)
        position[by_base_images] = np.arange(len(elements))
        elements = elements[by_base_images]
        elements.setflags(write=False)
        return elements, position

    @property
    def elements(self) -> IntArray:
        """All elements in lexicographic order (the identity first), shape (n, d)."""
        return self._sorted[0]

    def _positions(self, base_images: IntArray) -> npt.NDArray[np.int64]:
        """The positions of elements from their images of the base points, (m, k) -> (m,)."""
        return self._sorted[1][self._chain.codes(base_images)]

    def index_of(self, permutations: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """The positions in ``elements`` of permutations, shape (m, d) -> (m,), or of one, shape (d,) -> ().

        Raises:
            ValueError: for a wrong shape and for a permutation that is not in the group.
        """
        given = np.asarray(permutations)
        rows = np.atleast_2d(given)
        if rows.ndim != 2 or rows.shape[1] != self.degree:
            raise ValueError(f"Permutations of {self.degree} points have shape (m, {self.degree}); got {given.shape}.")
        if ((rows < 0) | (rows >= self.degree)).any():
            raise ValueError(f"Permutations of {self.degree} points have images 0..{self.degree - 1}.")
        positions = self._positions(rows[:, self._chain.base])
        strangers = np.flatnonzero((self.elements[positions] != rows).any(axis=1))
        if strangers.size:
            raise ValueError(f"The permutation {tuple(rows[strangers[0]].tolist())} is not an element of {self.name}.")
        return positions.reshape(given.shape[:-1])

    @cached_property
    def classes(self) -> ConjugacyClasses:
        """The conjugacy classes, {e} first, then by element order, size and smallest element."""
        generators = np.array(self.generators, dtype=self.elements.dtype)
        return conjugacy_classes(self.elements, generators, self._chain.base, self._positions)

    @staticmethod
    def from_table(group: FiniteGroup, limit: int = DEFAULT_LIMIT) -> PermutationGroup:
        """The left regular representation x -> ax, on n points, generated by few elements.

        When the identity is element 0, the elements keep their numbers: ``elements[a]`` is x -> ax.
        """
        generators = tuple(tuple(int(x) for x in group.table[a]) for a in group.generators)
        return PermutationGroup(generators, group.name, limit)

    def to_finite_group(self) -> FiniteGroup:
        """The Cayley table in the order of ``elements``, labelled in cycle notation, for orders up to 2000.

        ``classes.in_finite_group(result)`` relates the two orders of the conjugacy classes.
        """
        if self.order > MAX_TABLE_ORDER:
            raise ValueError(
                f"The Cayley table of {self.name} has {self.order}^2 entries; tables are written for orders up to "
                f"{MAX_TABLE_ORDER}."
            )
        base_images = self.elements[:, self._chain.base]
        table = np.stack([self._positions(a[base_images]) for a in self.elements])
        return FiniteGroup(table, self.name, tuple(cycle_notation(a) for a in self.elements))
