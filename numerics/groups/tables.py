"""Finite groups as validated Cayley tables.

A group of order n is the integer matrix `table[a, b] = ab` on the elements 0..n-1. `FiniteGroup` refuses
every table that is not a group of order at least 2 and names the first violation. Associativity is decided
exactly by Light's test: the elements b with (ab)c = a(bc) for all a, c are closed under products (for b and
b' with the property, (a(bb'))c = ((ab)b')c = (ab)(b'c) = a(b(b'c)) = a((bb')c)), so generators are enough,
which costs O(n^2) per generator.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations, product
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
Family = tuple[Any, ...]

MAX_PERMUTED = 7  # 7! = 5040 elements: a table of 200 MB


def _identity_of(table: IntArray) -> int:
    """The two-sided identity of a table with entries in range.

    Raises:
        ValueError: naming the nearest candidate, if there is none.
    """
    everything = np.arange(len(table))
    wrong = (table != everything).sum(axis=1) + (table != everything[:, None]).sum(axis=0)
    nearest = int(np.argmin(wrong))
    if wrong[nearest] == 0:
        return nearest
    left = np.flatnonzero(table[nearest] != everything)
    if left.size:
        a = int(left[0])
        witness = f"{nearest}*{a} = {int(table[nearest, a])}"
    else:
        a = int(np.flatnonzero(table[:, nearest] != everything)[0])
        witness = f"{a}*{nearest} = {int(table[a, nearest])}"
    raise ValueError(
        f"The table has no identity: no element e satisfies e*a = a*e = a for all a; the nearest candidate "
        f"{nearest} fails with {witness} instead of {a}."
    )


def _inverses_of(table: IntArray, identity: int) -> IntArray:
    """The two-sided inverses.

    Raises:
        ValueError: naming the first element that has none.
    """
    is_inverse = (table == identity) & (table == identity).T
    lonely = np.flatnonzero(~is_inverse.any(axis=1))
    if lonely.size:
        a = int(lonely[0])
        raise ValueError(
            f"Element {a} has no inverse: no element b satisfies {a}*b = b*{a} = {identity} (the identity)."
        )
    return np.argmax(is_inverse, axis=1).astype(np.int64)


def _generators_of(table: IntArray) -> list[int]:
    """The greedy generators of a table seen as a magma: the smallest missing element is added, the rest closed."""
    n = len(table)
    reached = np.zeros(n, dtype=bool)
    generators: list[int] = []
    while not reached.all():
        new = int(np.argmin(reached))
        generators.append(new)
        frontier = np.array([new])
        reached[new] = True
        while frontier.size:
            old = np.flatnonzero(reached)
            found = np.zeros(n, dtype=bool)
            found[table[np.ix_(frontier, old)]] = True
            found[table[np.ix_(old, frontier)]] = True
            frontier = np.flatnonzero(found & ~reached)
            reached |= found
    return generators


def _check_associative(table: IntArray) -> None:
    """Apply Light's test.

    Raises:
        ValueError: naming a triple that does not associate.
    """
    for b in _generators_of(table):
        left = table[table[:, b]]  # [a, c] -> (ab)c
        right = table[:, table[b]]  # [a, c] -> a(bc)
        if not np.array_equal(left, right):
            a, c = (int(i) for i in np.argwhere(left != right)[0])
            raise ValueError(
                f"The table is not associative at (a, b, c) = ({a}, {b}, {c}): "
                f"(a*b)*c = {int(left[a, c])} but a*(b*c) = {int(right[a, c])}."
            )


def square_table(table: npt.ArrayLike) -> IntArray:
    """A read-only int64 copy of an (n, n) matrix with entries 0..n-1, n >= 2.

    Raises:
        ValueError: naming the first violation.
    """
    try:
        array = np.asarray(table)
    except ValueError as error:
        raise ValueError("The table must be a square matrix of integers; its rows have different lengths.") from error
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(f"The table must be a square matrix of integers; its shape is {array.shape}.")
    n = array.shape[0]
    if n < 2:
        raise ValueError(f"The table must have order at least 2 (a task needs a wrong label); it has order {n}.")
    if not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"The table must hold integers 0..{n - 1}; its dtype is {array.dtype}.")
    outside = np.argwhere((array < 0) | (array >= n))
    if outside.size:
        a, b = (int(i) for i in outside[0])
        raise ValueError(f"Entry ({a}, {b}) of the table is {int(array[a, b])}; entries must lie in 0..{n - 1}.")
    result = array.astype(np.int64, order="C", copy=True)
    result.setflags(write=False)
    return result


def _readonly(array: npt.NDArray[Any]) -> IntArray:
    result = np.ascontiguousarray(array, dtype=np.int64)
    result.setflags(write=False)
    return result


@dataclass(frozen=True, eq=False)
class FiniteGroup:
    """A finite group of order n >= 2.

    Two groups are equal when their tables are.

    Attributes:
        table: integer matrix (n, n), table[a, b] = ab; copied and made read-only.
        name: for messages and titles.
        elements: n distinct labels in the order of the table (default 0..n-1); permutations are tuples of images.
        family: how the group was built, as a nested tuple such as ("symmetric", 4); None for a bare table. It lets
            `lemmata.constructions.representations.orthogonal` find the irreducible representations.

    Raises:
        ValueError: naming the first violation: shape, integers, range, identity, inverses, associativity, labels.
    """

    table: IntArray
    name: str = "G"
    elements: tuple[Hashable, ...] = ()
    family: Family | None = field(default=None)

    def __post_init__(self) -> None:
        table = square_table(self.table)
        object.__setattr__(self, "table", table)
        _inverses_of(table, _identity_of(table))
        _check_associative(table)
        elements = tuple(self.elements) or tuple(range(len(table)))
        if len(elements) != len(table) or len(set(elements)) != len(elements):
            raise ValueError(
                f"A group of order {len(table)} needs {len(table)} distinct element labels; "
                f"got {len(elements)} labels, {len(set(elements))} of them distinct."
            )
        object.__setattr__(self, "elements", elements)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FiniteGroup):
            return NotImplemented
        return np.array_equal(self.table, other.table)

    def __hash__(self) -> int:
        return hash(self.table.tobytes())

    def __repr__(self) -> str:
        return f"FiniteGroup({self.name}, order {self.order})"

    @property
    def order(self) -> int:
        """The number n of elements."""
        return len(self.table)

    @cached_property
    def identity(self) -> int:
        """The index of the identity element."""
        return _identity_of(self.table)

    @cached_property
    def inverse(self) -> IntArray:
        """The map g -> g^-1, shape (n,)."""
        return _readonly(_inverses_of(self.table, self.identity))

    @cached_property
    def squaring(self) -> IntArray:
        """The map g -> g^2, shape (n,)."""
        return _readonly(np.diagonal(self.table))

    @cached_property
    def classes(self) -> tuple[IntArray, ...]:
        """The conjugacy classes, each sorted; {e} first, then by size, then by smallest element."""
        seen = np.zeros(self.order, dtype=bool)
        found: list[IntArray] = []
        for g in range(self.order):
            if not seen[g]:
                members = np.unique(self.table[self.table[:, g], self.inverse])
                seen[members] = True
                found.append(_readonly(members))
        return tuple(sorted(found, key=lambda c: (int(c[0]) != self.identity, len(c), int(c[0]))))

    @cached_property
    def class_of(self) -> IntArray:
        """The map from an element to the index of its conjugacy class, shape (n,)."""
        result = np.empty(self.order, dtype=np.int64)
        for index, members in enumerate(self.classes):
            result[members] = index
        return _readonly(result)

    @cached_property
    def class_sizes(self) -> IntArray:
        """The sizes of the conjugacy classes, in the order of `classes`."""
        return _readonly(np.array([len(members) for members in self.classes]))

    @cached_property
    def generators(self) -> tuple[int, ...]:
        """A generating set without the identity: greedily, the smallest element not yet generated."""
        return tuple(g for g in _generators_of(self.table) if g != self.identity)


def group_from_table(table: npt.ArrayLike, name: str = "G") -> FiniteGroup:
    """The group with Cayley table `table[a, b] = ab`.

    Raises:
        ValueError: naming the first violation of the axioms.
    """
    return FiniteGroup(square_table(table), name)


def _require(value: int, least: int, most: int | None, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ValueError(f"{what} must be an integer; got {value!r}.")
    if value < least or (most is not None and value > most):
        accepted = f"at least {least}" if most is None else f"between {least} and {most}"
        raise ValueError(f"{what} must be {accepted}; got {value}.")


def cyclic(n: int) -> FiniteGroup:
    """The cyclic group Z_n, n >= 2: element j is the residue j, table[a, b] = a + b mod n."""
    _require(n, 2, None, "The order of a cyclic group")
    residues = np.arange(n)
    return FiniteGroup((residues[:, None] + residues) % n, f"Z_{n}", family=("cyclic", int(n)))


def dihedral(n: int) -> FiniteGroup:
    """The dihedral group D_n, n >= 1, r^n = t^2 = 1, t r t = r^-1: index k + n s, label (k, s), is r^k t^s."""
    _require(n, 1, None, "The number n of the dihedral group of order 2n")
    s, k = np.divmod(np.arange(2 * n), n)
    rotation = (k[:, None] + np.where(s[:, None] == 1, -k, k)) % n  # r^k t^s r^l = r^(k + (-1)^s l) t^s
    labels = tuple((i % n, i // n) for i in range(2 * n))
    return FiniteGroup(rotation + n * (s[:, None] ^ s), f"D_{n}", labels, ("dihedral", int(n)))


def _permutation_group(members: Sequence[tuple[int, ...]], name: str, family: Family) -> FiniteGroup:
    """The group of the given permutations (sorted, closed under products) with (ab)(x) = a(b(x))."""
    images = np.array(members, dtype=np.int64)
    weights = len(members[0]) ** np.arange(len(members[0]))[::-1]
    keys = images @ weights  # increasing, because the members are in lexicographic order
    table = np.stack([np.searchsorted(keys, a[images] @ weights) for a in images])
    return FiniteGroup(table, name, tuple(members), family)


def is_even(permutation: Sequence[int]) -> bool:
    """Whether a permutation of 0..n-1, given by its images, has an even number of inversions."""
    size = len(permutation)
    return sum(permutation[i] > permutation[j] for i in range(size) for j in range(i + 1, size)) % 2 == 0


def symmetric(n: int) -> FiniteGroup:
    """The symmetric group S_n, 2 <= n <= 7: labels are tuples of images in lexicographic order, (ab)(x) = a(b(x))."""
    _require(n, 2, MAX_PERMUTED, "The number of permuted points of a symmetric group")
    return _permutation_group(list(permutations(range(n))), f"S_{n}", ("symmetric", int(n)))


def alternating(n: int) -> FiniteGroup:
    """The alternating group A_n, 3 <= n <= 7: the even permutations, labelled and multiplied as in `symmetric`."""
    _require(n, 3, MAX_PERMUTED, "The number of permuted points of an alternating group")
    even = [p for p in permutations(range(n)) if is_even(p)]
    return _permutation_group(even, f"A_{n}", ("alternating", int(n)))


def elementary_abelian(k: int) -> FiniteGroup:
    """The group Z_2^k, 1 <= k <= 12: indices multiply by exclusive or; label = bits, least significant first."""
    _require(k, 1, 12, "The rank of an elementary abelian 2-group")
    indices = np.arange(2**k)
    labels = tuple(bits[::-1] for bits in product((0, 1), repeat=k))
    return FiniteGroup(indices[:, None] ^ indices, f"Z_2^{k}", labels, ("elementary_abelian", int(k)))


def direct_product(G: FiniteGroup, H: FiniteGroup) -> FiniteGroup:
    """The direct product G x H: index g |H| + h is (g, h); labels are pairs of labels."""
    m = H.order
    g, h = np.divmod(np.arange(G.order * m), m)
    table = G.table[g[:, None], g] * m + H.table[h[:, None], h]
    family = None if G.family is None or H.family is None else ("product", G.family, H.family)
    labels = tuple((a, b) for a in G.elements for b in H.elements)
    return FiniteGroup(table, f"{G.name} x {H.name}", labels, family)


def relabel(G: FiniteGroup, permutation: npt.ArrayLike) -> FiniteGroup:
    """The same group with element g renamed permutation[g]; its label moves along, its family is forgotten.

    Raises:
        ValueError: if `permutation` is not a permutation of 0..n-1.
    """
    renamed = np.asarray(permutation)
    if renamed.shape != (G.order,) or not np.array_equal(np.sort(renamed), np.arange(G.order)):
        raise ValueError(f"The relabelling of {G.name} must be a permutation of 0..{G.order - 1}; got {permutation!r}.")
    old = np.argsort(renamed)
    table = renamed[G.table[old[:, None], old]]
    return FiniteGroup(table, G.name, tuple(G.elements[g] for g in old))
