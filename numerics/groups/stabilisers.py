"""Stabiliser chains of permutation groups, vectorised (the deterministic Schreier-Sims algorithm).

A permutation of the points 0..d-1 is an array of images; products apply the right factor first, (ab)(x) = a(b(x)).
For base points b_1 < ... < b_k, level i of the chain is the stabiliser G_i of b_1, ..., b_{i-1}: it keeps the orbit of
b_i under G_i and a transversal, that is for each orbit point p an element that sends b_i to p. Every element of the
group is then exactly one product t_1 t_2 ... t_k of transversal elements, so that

- the order of the group is the product of the orbit lengths, known before any element is listed;
- the positions of the t_i in their orbits, read as one mixed-radix number, are a perfect hash of the group.

The base points are the smallest points that the stabilisers move. Two elements g and h first differ at a point x which
g^-1 h is the first to move, so x is a base point: sorting by the images of the base points is sorting the permutations.

Source: C. C. Sims; see D. Holt, B. Eick, E. O'Brien, Handbook of Computational Group Theory, section 4.4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["MAX_CELLS", "MAX_DEGREE", "OrderLimitError", "StabiliserChain", "inverse_permutations"]

IntArray = npt.NDArray[np.signedinteger]

MAX_DEGREE = 2**15  # the points fit in 16 bits
MAX_CELLS = 50_000_000  # numbers in one array of permutations: 100 MB
_BLOCK_CELLS = 2_000_000  # Schreier generators are examined in blocks of this many numbers


class OrderLimitError(ValueError):
    """The group has more elements than the caller allows; ``at_least`` is a proven lower bound of its order."""

    def __init__(self, at_least: int) -> None:
        self.at_least = at_least
        super().__init__(f"The permutations generate a group of order at least {at_least}.")


def inverse_permutations(permutations: IntArray) -> IntArray:
    """The inverses of permutations given as rows, shape (m, d)."""
    inverses = np.empty_like(permutations)
    points = np.arange(permutations.shape[1], dtype=permutations.dtype)
    np.put_along_axis(inverses, permutations.astype(np.int64), np.broadcast_to(points, permutations.shape), axis=1)
    return inverses


@dataclass(frozen=True)
class _Level:
    """The orbit of a base point: ``position[p]`` is the row of p in ``transversal`` (-1 outside the orbit)."""

    base: int
    generators: tuple[IntArray, ...]
    transversal: IntArray  # (length, d), transversal[i][base] = i-th orbit point, ascending
    inverses: IntArray  # (length, d)
    position: npt.NDArray[np.int64]  # (d,)

    @property
    def length(self) -> int:
        return len(self.transversal)


def _level(base: int, generators: Sequence[IntArray]) -> _Level:
    """The orbit and a transversal of ``base`` by breadth-first search.

    Raises:
        ValueError: if they need too much memory.
    """
    degree = len(generators[0])
    reached = np.zeros(degree, dtype=bool)
    reached[base] = True
    block = np.arange(degree, dtype=generators[0].dtype)[None, :]
    blocks = [block]
    size = 1
    while len(block):
        fresh = []
        for s in generators:
            images = s[block[:, base]]  # distinct, because those of the block are
            new = ~reached[images]
            reached[images[new]] = True
            size += int(new.sum())
            if size * degree > MAX_CELLS:
                raise ValueError(
                    f"A permutation group on {degree} points with an orbit of at least {size} points needs a table of "
                    f"more than {MAX_CELLS} numbers; act on fewer points."
                )
            fresh.append(s[block[new]])
        block = np.concatenate(fresh)
        blocks.append(block)
    transversal = np.concatenate(blocks)
    transversal = transversal[np.argsort(transversal[:, base])]
    position = np.full(degree, -1, dtype=np.int64)
    position[transversal[:, base]] = np.arange(len(transversal))
    return _Level(base, tuple(generators), transversal, inverse_permutations(transversal), position)


def _first_moved(permutation: IntArray) -> int:
    return int(np.argmax(permutation != np.arange(len(permutation))))


def _residue(permutations: IntArray, levels: Sequence[_Level]) -> IntArray | None:
    """A row that does not end as the identity when it is divided by transversal elements, level by level; or None."""
    for level in levels:
        positions = level.position[permutations[:, level.base]]
        outside = np.flatnonzero(positions < 0)
        if outside.size:
            return permutations[outside[0]]
        permutations = np.take_along_axis(level.inverses[positions], permutations.astype(np.int64), axis=1)
    moved = np.flatnonzero((permutations != np.arange(permutations.shape[1])).any(axis=1))
    return permutations[moved[0]] if moved.size else None


def _failing_schreier_generator(level: _Level, deeper: Sequence[_Level]) -> IntArray | None:
    """A generator of the stabiliser of the level's base point which the deeper levels do not contain yet."""
    rows = max(1, _BLOCK_CELLS // level.transversal.shape[1])
    for s in level.generators:
        for start in range(0, level.length, rows):
            residue = _residue(s[level.transversal[start : start + rows]], (level, *deeper))
            if residue is not None:
                return residue
    return None


@dataclass(frozen=True, eq=False)
class StabiliserChain:
    """The chain of a group of permutations of 0..degree-1."""

    levels: tuple[_Level, ...]
    degree: int

    @staticmethod
    def of(generators: npt.ArrayLike, limit: int) -> StabiliserChain:
        """The chain of the group that permutations, shape (g, d) with d <= ``MAX_DEGREE``, generate.

        Schreier-Sims: add what the levels miss until every Schreier generator sifts to the identity.

        Raises:
            OrderLimitError: as soon as the orbits prove an order above ``limit``, so that huge groups are refused at
                once.
            ValueError: if an orbit needs more memory than ``MAX_CELLS`` numbers.
        """
        given = np.asarray(generators)
        degree = given.shape[1]
        strong = [s for s in given.astype(np.int16) if (s != np.arange(degree)).any()]
        levels = {
            base: _level(base, [s for s in strong if _first_moved(s) >= base]) for base in map(_first_moved, strong)
        }
        bases = sorted(levels)
        current = len(bases) - 1
        while current >= 0:
            at_least = math.prod(level.length for level in levels.values())
            if at_least > limit:
                raise OrderLimitError(at_least)
            residue = _failing_schreier_generator(levels[bases[current]], [levels[b] for b in bases[current + 1 :]])
            if residue is None:
                current -= 1
                continue
            strong.append(residue)
            deepest, above = _first_moved(residue), bases[current]
            bases = sorted({*bases, deepest})
            for base in bases:
                if above < base <= deepest:
                    levels[base] = _level(base, [s for s in strong if _first_moved(s) >= base])
            current = bases.index(deepest)
        return StabiliserChain(tuple(levels[base] for base in bases), degree)

    @property
    def base(self) -> npt.NDArray[np.int64]:
        """The base points, ascending, shape (k,)."""
        return np.array([level.base for level in self.levels], dtype=np.int64)

    @property
    def order(self) -> int:
        """The order of the group."""
        return math.prod(level.length for level in self.levels)

    def codes(self, base_images: IntArray) -> npt.NDArray[np.int64]:
        """The mixed-radix number of each element, from its images of the base points, shape (m, k) -> (m,).

        A row whose images leave an orbit belongs to no element and gets -1.
        """
        images = base_images.astype(np.int64)  # a copy: the columns are divided in place
        codes = np.zeros(len(images), dtype=np.int64)
        missing = np.zeros(len(images), dtype=bool)
        for i, level in enumerate(self.levels):
            positions = level.position[images[:, i]]
            missing |= positions < 0
            codes = codes * level.length + positions
            images[:, i + 1 :] = level.inverses[positions[:, None], images[:, i + 1 :]]
        codes[missing] = -1
        return codes

    def elements_by_code(self) -> IntArray:
        """All elements, the one with code c in row c, shape (order, d).

        Raises:
            ValueError: if they need too much memory.
        """
        if self.order * self.degree > MAX_CELLS:
            raise ValueError(
                f"Listing {self.order} permutations of {self.degree} points needs a table of more than {MAX_CELLS} "
                f"numbers; act on fewer points."
            )
        elements = np.arange(self.degree, dtype=np.int16)[None, :]
        for level in reversed(self.levels):
            elements = level.transversal[:, elements].reshape(-1, self.degree)
        return elements
