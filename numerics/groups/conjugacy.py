"""Conjugacy classes of a permutation group, with power maps and inverses.

The classes are the connected components of the graph that joins g with s g s^-1 for the generators s of the group.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from lemmata.numerics.groups.tables import FiniteGroup

__all__ = ["ConjugacyClasses", "conjugacy_classes", "orders_of"]

IntArray = npt.NDArray[np.signedinteger]
Lookup = Callable[[IntArray], npt.NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class ConjugacyClasses:
    """The K classes: {e} first, then by element order, by size, and by representative (lexicographically).

    Attributes:
        representatives: (K, d), the smallest permutation of each class.
        representative_indices: (K,), their positions among the elements of the group.
        sizes: (K,), the numbers of elements.
        element_orders: (K,), the orders of the elements.
        class_of: (n,), the class of each element.
        base: the base points of the group.
        lookup: the position of an element from its images of the base points.
    """

    representatives: IntArray
    representative_indices: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    element_orders: npt.NDArray[np.int64]
    class_of: npt.NDArray[np.int64]
    base: npt.NDArray[np.int64]
    lookup: Lookup

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def exponent(self) -> int:
        """The least common multiple of the element orders."""
        return math.lcm(*(int(order) for order in self.element_orders))

    @cached_property
    def power_table(self) -> npt.NDArray[np.int32]:
        """The class of g^k for g in class c at [k, c], for 0 <= k < the largest element order."""
        table = np.zeros((int(self.element_orders.max()), len(self)), dtype=np.int32)
        images = np.broadcast_to(self.base, (len(self), len(self.base)))
        for k in range(1, len(table)):
            images = np.take_along_axis(self.representatives, images, axis=1).astype(np.int64)
            table[k] = self.class_of[self.lookup(images)]
        table.setflags(write=False)
        return table

    def power_map(self, k: int) -> npt.NDArray[np.int64]:
        """The class of g^k for each class of g, shape (K,); k is any integer."""
        return self.power_table[k % self.element_orders, np.arange(len(self))].astype(np.int64)

    @cached_property
    def inverses(self) -> npt.NDArray[np.int64]:
        """The class of g^-1 for each class of g, shape (K,)."""
        return self.power_map(-1)

    @cached_property
    def squares(self) -> npt.NDArray[np.int64]:
        """The class of g^2 for each class of g, shape (K,)."""
        return self.power_map(2)

    def in_finite_group(self, group: FiniteGroup) -> npt.NDArray[np.int64]:
        """The index of each class in ``group.classes``, where ``group`` numbers its elements as this group does.

        ``FiniteGroup`` sorts its classes by size and smallest element.

        Raises:
            ValueError: if the classes of the two groups are not the same sets of elements.
        """
        index = group.class_of[self.representative_indices] if group.order == len(self.class_of) else None
        if index is None or not np.array_equal(index[self.class_of], group.class_of):
            raise ValueError(
                f"{group.name} has other conjugacy classes; pass the FiniteGroup whose elements are numbered as these "
                f"permutations are, such as the result of to_finite_group()."
            )
        return index


def orders_of(permutations: IntArray, base: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The orders of permutations (m, d) of a group with the given base: the lcm of the cycle lengths of base points."""
    start = np.broadcast_to(base, (len(permutations), len(base)))
    lengths = np.zeros(start.shape, dtype=np.int64)
    points = start
    for step in range(1, permutations.shape[1] + 1):
        points = np.take_along_axis(permutations, points, axis=1).astype(np.int64)
        lengths[(points == start) & (lengths == 0)] = step
        if lengths.all():
            break
    return np.lcm.reduce(lengths, axis=1)


def _orbit_minima(permutations: list[npt.NDArray[np.int64]], n: int) -> npt.NDArray[np.int64]:
    """The smallest member of the orbit of each of 0, ..., n-1 under the group that permutations of them generate.

    Minima run along the cycles, and labels of labels halve the distance that is left in each round. (As the labels of
    ``scipy.sparse.csgraph.connected_components``, in the same time, without the import.)
    """
    least, before = np.arange(n), None
    while before is None or not np.array_equal(least, before):
        before = least
        for permutation in permutations:
            least = np.minimum(least, least[permutation])
        least = least[least]
    return least


def conjugacy_classes(
    elements: IntArray, generators: IntArray, base: npt.NDArray[np.int64], lookup: Lookup
) -> ConjugacyClasses:
    """The classes of the group with these elements (n, d), sorted, the identity first.

    generators: (g, d). lookup: the positions of elements, given by their images of the base points, (m, k) -> (m,).
    """
    n = len(elements)
    targets = [
        lookup(s[elements[:, np.argsort(s)[base]]]) for s in generators
    ]  # s g s^-1 sends a base point b to s(g(s^-1(b)))
    smallest, label, sizes = np.unique(_orbit_minima(targets, n), return_inverse=True, return_counts=True)
    orders = orders_of(elements[smallest], base)
    sequence = np.lexsort((smallest, sizes, orders))
    rank = np.empty(len(sequence), dtype=np.int64)
    rank[sequence] = np.arange(len(sequence))
    result = ConjugacyClasses(
        representatives=elements[smallest[sequence]],
        representative_indices=smallest[sequence].astype(np.int64),
        sizes=sizes[sequence].astype(np.int64),
        element_orders=orders[sequence],
        class_of=rank[label],
        base=base,
        lookup=lookup,
    )
    for array in (result.representatives, result.representative_indices, result.sizes, result.element_orders):
        array.setflags(write=False)
    result.class_of.setflags(write=False)
    return result
