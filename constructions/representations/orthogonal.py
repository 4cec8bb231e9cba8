"""Orthogonal irreducible representations of finite groups of real type, in float64 or exact.

`real_irreps(group)` returns the complete list for Z_2^k, the dihedral groups, the symmetric groups, A_5 and
direct products of these. All of them are absolutely irreducible, so the list has one entry for each conjugacy
class and the squares of the degrees add up to the order.

Source: feature-emergence, definitions D.1 to D.6.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq

from lemmata.constructions.representations.icosahedral import icosahedral_generators, presentation_of_icosahedral
from lemmata.constructions.representations.young import Partition, partitions, young_orthogonal_form
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic, cosine, exact_matmul, rational, sine
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.groups.tables import (
    Family,
    FiniteGroup,
    alternating,
    dihedral,
    direct_product,
    elementary_abelian,
    symmetric,
)

SUPPORTED = "elementary_abelian(k), cyclic(2), dihedral(n), symmetric(n), alternating(5) and direct products of these"


def _is_exact_real(x: object) -> bool:
    return x.is_real() if isinstance(x, Cyclotomic) else isinstance(x, int | fmpq)


@dataclass(frozen=True, eq=False)
class Representation:
    """A matrix representation of a group of order n by real matrices.

    Whether the matrices form an orthogonal or an irreducible representation is asked with the methods. In float64 these
    allow an error of 4 n (d + 2) eps in an entry: every element is a word of fewer than n generators, a product with an
    orthogonal matrix adds at most (d + 2) eps to the error of a row, and an equation has at most three such matrices
    and one product.

    Attributes:
        group: the group.
        matrices: R(g) in the order of its elements, shape (n, d, d), d >= 1, float64 or an object array of int, fmpq
            and Cyclotomic.
        name: for messages and titles.

    Raises:
        ValueError: for another shape or other kinds of numbers.
    """

    group: FiniteGroup
    matrices: Array
    name: str = "R"

    def __post_init__(self) -> None:
        array = np.array(self.matrices)
        n = self.group.order
        if array.ndim != 3 or array.shape[0] != n or array.shape[1] != array.shape[2] or array.shape[1] == 0:
            raise ValueError(
                f"A representation of {self.group.name} needs matrices of shape ({n}, d, d), d >= 1; "
                f"those of {self.name} have shape {array.shape}."
            )
        if array.dtype == object:
            foreign = [x for x in array.flat if not _is_exact_real(x)]
            if foreign:
                raise ValueError(
                    f"Exact matrices must hold int, fmpq or real Cyclotomic; {self.name} has {foreign[0]!r}."
                )
        elif array.dtype.kind not in "iuf" or not np.all(np.isfinite(array)):
            raise ValueError(f"The matrices of {self.name} must hold finite real numbers or exact ones.")
        else:
            array = array.astype(np.float64)
        array.setflags(write=False)
        object.__setattr__(self, "matrices", array)

    def __repr__(self) -> str:
        kind = "exact" if self.exact else "float64"
        return f"Representation({self.name} of {self.group.name}, degree {self.degree}, {kind})"

    @property
    def degree(self) -> int:
        """The degree d."""
        return self.matrices.shape[1]

    @property
    def exact(self) -> bool:
        """Whether the entries are exact numbers."""
        return self.matrices.dtype == object

    @cached_property
    def character(self) -> Array:
        """The character g -> tr R(g), shape (n,), in the numbers of the matrices."""
        traces = np.trace(self.matrices, axis1=1, axis2=2)
        traces.setflags(write=False)
        return traces

    @property
    def tolerance(self) -> float:
        """The error that float64 methods allow in an entry."""
        return 4 * self.group.order * (self.degree + 2) * float(np.finfo(np.float64).eps)

    def to_float(self) -> "Representation":
        """The same representation in float64."""
        return Representation(self.group, to_float(self.matrices), self.name)

    def is_homomorphism(self) -> bool:
        """Whether R(e) = 1 and R(gs) = R(g) R(s) for all g and generators s, so that R(ab) = R(a) R(b)."""
        n, d = len(self.matrices), self.degree
        if not self._agree(self.matrices[self.group.identity], self._one()):
            return False
        stacked = self.matrices.reshape(n * d, d)
        return all(
            self._agree(
                self._product(stacked, self.matrices[s]).reshape(n, d, d),
                self.matrices[self.group.table[:, s]],
            )
            for s in self.group.generators
        )

    def is_orthogonal(self) -> bool:
        """Whether R(g) R(g)^T = 1 for all g."""
        return all(self._agree(self._product(M, M.T), self._one()) for M in self.matrices)

    def is_absolutely_irreducible(self) -> bool:
        """Whether <chi, chi> = 1, for a homomorphism: irreducible over the complex numbers.

        <chi, chi> = (1/n) sum chi(g) chi(g^-1) is a positive integer then; it is 2 or 4 for real
        representations that are irreducible over the reals only.
        """
        norm = (self.character * self.character[self.group.inverse]).sum()
        n = self.group.order
        return bool(norm == n) if self.exact else abs(float(norm) - n) < n / 2

    def frobenius_schur(self) -> int:
        """The indicator (1/n) sum chi(g^2): for irreducible R, 1, 0, -1 for real, complex, quaternionic type.

        Raises:
            ValueError: if it is not an integer, which no homomorphism can cause.
        """
        n = self.group.order
        total = self.character[self.group.squaring].sum()
        mean = float(to_float(np.array(total, dtype=object))) / n if self.exact else float(total) / n
        nearest = round(mean)
        if not (total == nearest * n if self.exact else abs(mean - nearest) <= self.degree * self.tolerance):
            raise ValueError(f"The indicator of {self.name} is {mean}, not an integer: it is no representation.")
        return nearest

    def _one(self) -> Array:
        return np.eye(self.degree, dtype=int).astype(object) if self.exact else np.eye(self.degree)

    def _product(self, A: Array, B: Array) -> Array:
        return exact_matmul(A, B) if self.exact else A @ B

    def _agree(self, A: Array, B: Array) -> bool:
        return bool(np.all(A == B)) if self.exact else bool(np.all(np.abs(A - B) <= self.tolerance))


def matrices_from_generators(group: FiniteGroup, generators: Mapping[int, Array]) -> Array:
    """All matrices R(g), shape (n, d, d), from those of generators, by breadth-first search.

    The result is a representation if and only if the matrices satisfy the relations of the group.

    Raises:
        ValueError: if the elements do not generate the group.
    """
    first = next(iter(generators.values()))
    exact = first.dtype == object
    one = np.full(first.shape, rational(0) if exact else 0.0)
    np.fill_diagonal(one, rational(1) if exact else 1.0)
    found: dict[int, Array] = {group.identity: one}
    queue = [group.identity]
    for g in queue:  # grows while it is read
        for s, matrix in generators.items():
            h = int(group.table[s, g])
            if h not in found:
                found[h] = _left_multiply(matrix, found[g])
                queue.append(h)
    if len(found) != group.order:
        raise ValueError(
            f"The elements {sorted(generators)} generate only {len(found)} of the {group.order} elements "
            f"of {group.name}."
        )
    return np.stack([found[g] for g in range(group.order)])


def _left_multiply(A: Array, B: Array) -> Array:
    """A B for an invertible A; exact products skip the zeros of A, of which generators have many."""
    if A.dtype != object:
        return A @ B
    rows = []
    for row in A:
        terms = [entry * B[k] for k, entry in enumerate(row) if entry != 0]
        rows.append(sum(terms[1:], start=terms[0]))
    return np.stack(rows)


def _numbers(values: Array, exact: bool) -> Array:
    """The matrices of these integers in float64 or in Cyclotomic."""
    if not exact:
        return values.astype(np.float64)
    return np.array([rational(int(x)) for x in values.flat], dtype=object).reshape(values.shape)


def elementary_abelian_irreps(k: int, exact: bool = False) -> list[Representation]:
    """The 2^k characters x -> (-1)^(s . x) of Z_2^k, s in index order, named by the bits of s from bit 0."""
    group = elementary_abelian(k)
    bits = np.array(group.elements)
    signs = 1 - 2 * (bits @ bits.T % 2)
    return [
        Representation(group, _numbers(row[:, None, None], exact), "chi_" + "".join(map(str, s)))
        for row, s in zip(signs, bits, strict=True)
    ]


def dihedral_irreps(n: int, exact: bool = False) -> list[Representation]:
    """The irreps of D_n: A1 (trivial), A2, for even n also B1, B2, then E1, E2, .. of degree 2.

    A and B send r to +1 and -1, the indices 1 and 2 mean that t goes to +1 and -1; Ej sends r to the rotation
    by 2 pi j/n and t to diag(1, -1).
    """
    group = dihedral(n)
    s, k = np.divmod(np.arange(2 * n), n)
    signs = [("A1", np.ones_like(k)), ("A2", 1 - 2 * s)]
    if n % 2 == 0:
        signs += [("B1", 1 - 2 * (k % 2)), ("B2", 1 - 2 * ((k + s) % 2))]
    irreps = [Representation(group, _numbers(values[:, None, None], exact), name) for name, values in signs]
    for j in range(1, (n + 1) // 2):
        turns = j * k % n
        if exact:
            cosines = np.array([cosine(int(a), n) for a in turns], dtype=object)
            sines = np.array([sine(int(a), n) for a in turns], dtype=object)
        else:
            cosines, sines = np.cos(2 * np.pi * turns / n), np.sin(2 * np.pi * turns / n)
        flip = _numbers(1 - 2 * s, exact)  # r^k t = rotation times diag(1, -1)
        matrices = np.stack([cosines, -sines * flip, sines, cosines * flip], axis=1).reshape(2 * n, 2, 2)
        irreps.append(Representation(group, matrices, f"E{j}"))
    return irreps


def specht(shape: Partition, exact: bool = False) -> Representation:
    """The irrep of S_n that belongs to a partition of n, in Young's orthogonal form; named like [3, 1].

    [n] is trivial, [1, .., 1] the sign, [n - 1, 1] the standard representation (fixed points minus 1).
    """
    transpositions = young_orthogonal_form(shape, exact)
    n = len(transpositions) + 1
    group = symmetric(n)
    index = {element: g for g, element in enumerate(group.elements)}
    points = tuple(range(n))
    generators = {index[*points[:i], i + 1, i, *points[i + 2 :]]: matrix for i, matrix in enumerate(transpositions)}
    return Representation(group, matrices_from_generators(group, generators), str(list(shape)))


def symmetric_irreps(n: int, exact: bool = False) -> list[Representation]:
    """The irreps of S_n in the decreasing lexicographic order of partitions: trivial first, sign last."""
    return [specht(shape, exact) for shape in partitions(n)]


def icosahedral_irreps(exact: bool = False) -> list[Representation]:
    """The irreps of A_5, named 1, 3, 3', 4, 5 by their degrees.

    3 and 3' turn an icosahedron. 4 and 5 restrict [4, 1] and [3, 2] of S_5, which stay irreducible because
    these partitions are not self-conjugate.
    """
    group = alternating(5)
    x, y = presentation_of_icosahedral(group)
    irreps = [Representation(group, _numbers(np.ones((60, 1, 1)), exact), "1")]
    for name, conjugate in (("3", False), ("3'", True)):
        X, Y = icosahedral_generators(conjugate, exact)
        irreps.append(Representation(group, matrices_from_generators(group, {x: X, y: Y}), name))
    for name, shape in (("4", (4, 1)), ("5", (3, 2))):
        whole = specht(shape, exact)
        index = {element: g for g, element in enumerate(whole.group.elements)}
        irreps.append(Representation(group, whole.matrices[[index[g] for g in group.elements]], name))
    return irreps


def outer_product(R: Representation, S: Representation) -> Representation:
    """The representation (g, h) -> R(g) (x) S(h) of the direct product; irreducible over C iff R and S are.

    Raises:
        ValueError: if only one of R and S is exact.
    """
    if R.exact != S.exact:
        raise ValueError(f"Both factors must be exact or both float64; got {R} and {S}.")
    group = direct_product(R.group, S.group)
    blocks = R.matrices[:, None, :, None, :, None] * S.matrices[None, :, None, :, None, :]
    degree = R.degree * S.degree
    return Representation(group, blocks.reshape(group.order, degree, degree), f"{R.name} x {S.name}")


def _irreps(family: Family, exact: bool) -> list[Representation] | None:
    """The irreps of a family of groups; None if it is not supported."""
    match family:
        case ("elementary_abelian", int(k)):
            return elementary_abelian_irreps(k, exact)
        case ("cyclic", 2):  # the table is that of Z_2^1
            return elementary_abelian_irreps(1, exact)
        case ("dihedral", int(n)):
            return dihedral_irreps(n, exact)
        case ("symmetric", int(n)):
            return symmetric_irreps(n, exact)
        case ("alternating", 5):
            return icosahedral_irreps(exact)
        case ("product", left, right):
            first, second = _irreps(left, exact), _irreps(right, exact)
            if first is None or second is None:
                return None
            return [outer_product(R, S) for R in first for S in second]
    return None


def real_irreps(group: FiniteGroup, exact: bool = False) -> list[Representation]:
    """All irreducible representations of a group of real type, orthogonal, the trivial one first.

    `exact` gives Cyclotomic entries instead of float64. Groups are recognised by `FiniteGroup.family`.

    Raises:
        ValueError: for a group that is not in a supported family, or whose table does not match its family.
    """
    irreps = None if group.family is None else _irreps(group.family, exact)
    if irreps is None:
        raise ValueError(
            f"The irreducible representations of {group.name} (family {group.family}) are not available; "
            f"supported are {SUPPORTED}."
        )
    if irreps[0].group != group:
        raise ValueError(f"The table of {group.name} is not that of its family {group.family}.")
    return [Representation(group, R.matrices, R.name) for R in irreps]
