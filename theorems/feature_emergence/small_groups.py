"""Explicit irreducible representations of small groups in exact arithmetic, and what can be asked of them.

The groups of real type have the real orthogonal matrices of `lemmata.constructions.representations.orthogonal`; Z_3,
Z_5, A_4 and Q_8, not all of whose complex irreducible representations are real, are written down here. Irreducibility
is decided by Burnside's criterion (the matrices span all d x d matrices) and inequivalence by the absence of
intertwiners; neither uses characters, so that the theorems about characters are not checked against themselves.
"""

from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import cast

import numpy as np
from flint import fmpq

from lemmata.constructions.groups.products import TypedIrrep
from lemmata.constructions.representations.orthogonal import real_irreps
from lemmata.constructions.representations.unitary import KINDS
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul, rational, root_of_unity
from lemmata.numerics.exact.linear import rank
from lemmata.numerics.groups.tables import (
    FiniteGroup,
    alternating,
    dihedral,
    elementary_abelian,
    group_from_table,
    symmetric,
)

REAL_TYPE = {
    "Z_2": lambda: elementary_abelian(1),
    "Z_2^3": lambda: elementary_abelian(3),
    "S_3": lambda: symmetric(3),
    "S_4": lambda: symmetric(4),
    "S_5": lambda: symmetric(5),
    "A_5": lambda: alternating(5),
    "D_4": lambda: dihedral(4),
    "D_5": lambda: dihedral(5),
}
COMPLEX = ("Z_3", "Z_5", "A_4", "Q_8")
ALL = (*REAL_TYPE, *COMPLEX)


@dataclass(frozen=True)
class Irreps:
    """A group and matrices R(g) of all its irreducible complex representations, each (n, d, d) of Cyclotomic."""

    group: FiniteGroup
    matrices: list[np.ndarray]


@cache
def irreps(name: str) -> Irreps:
    """The named group with unitary matrices (real ones for the groups of real type), the trivial one first."""
    if name in REAL_TYPE:
        group = REAL_TYPE[name]()
        return Irreps(group, [R.matrices for R in real_irreps(group, exact=True)])
    if name == "Q_8":
        group = unit_quaternions()
        return Irreps(group, [*quaternion_signs(), quaternion_plane()])
    if name == "A_4":
        group = alternating(4)
        return Irreps(group, [tetrahedral_character(group, j) for j in range(3)] + [tetrahedron(group)])
    n = int(name.removeprefix("Z_"))
    residues = np.arange(n)
    group = group_from_table((residues[:, None] + residues) % n, name)
    roots = [numbers([root_of_unity(j * a, n) for a in range(n)]) for j in range(n)]
    return Irreps(group, [values.reshape(n, 1, 1) for values in roots])


def numbers(values) -> np.ndarray:
    """A nested list or an array of integers and exact numbers as an object array of Cyclotomic."""
    array = np.array(values, dtype=object)
    return np.array([x + rational(0) for x in array.flat], dtype=object).reshape(array.shape)


# ---- the quaternion group, from Hamilton's product

UNITS = [tuple(int(sign) * int(i == j) for j in range(4)) for sign in (1, -1) for i in range(4)]


def hamilton(p, q):
    """(a + b i + c j + d k)(a' + b' i + c' j + d' k)."""
    a, b, c, d = p
    x, y, z, w = q
    return (
        a * x - b * y - c * z - d * w,
        a * y + b * x + c * w - d * z,
        a * z - b * w + c * x + d * y,
        a * w + b * z - c * y + d * x,
    )


@cache
def unit_quaternions() -> FiniteGroup:
    """The units 1, i, j, k, -1, -i, -j, -k under Hamilton's product."""
    return group_from_table([[UNITS.index(hamilton(p, q)) for q in UNITS] for p in UNITS], "Q_8")


def quaternion_signs() -> list[np.ndarray]:
    """The four characters of Q_8/{1, -1}: i -> s, j -> t, k -> s t."""
    values = [
        [abs(a) + s * abs(b) + t * abs(c) + s * t * abs(d) for a, b, c, d in UNITS]
        for s, t in product((1, -1), repeat=2)
    ]
    return [numbers(row).reshape(8, 1, 1) for row in values]


def quaternion_plane() -> np.ndarray:
    """Q_8 as unitary 2 x 2 matrices: a + b i + c j + d k -> [[a + b I, c + d I], [-c + d I, a - b I]]."""
    unit = root_of_unity(1, 4)
    return numbers([[[a + b * unit, c + d * unit], [-c + d * unit, a - b * unit]] for a, b, c, d in UNITS])


def quaternion_space() -> np.ndarray:
    """Q_8 on R^4 = H by multiplication from the left: column j of R(q) is q times the j-th unit."""
    return numbers([np.array([hamilton(q, unit) for unit in UNITS[:4]]).T for q in UNITS])


# ---- the tetrahedral group


def tetrahedron(group: FiniteGroup) -> np.ndarray:
    """A_4 permutes four points; in the orthonormal rows of a Hadamard matrix the complement of (1, 1, 1, 1) is R^3."""
    rows = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]])
    return numbers([rows @ permutation_matrix(g) @ rows.T // 4 for g in permuted_points(group)])


def tetrahedral_character(group: FiniteGroup, j: int) -> np.ndarray:
    """A_4/V_4 = Z_3 turns the three pairings {0 x} {..} of the points; the turn by s goes to exp(2 pi i j s/3)."""
    values = []
    for g in permuted_points(group):
        image = {g[0], g[1]}  # of the block {0 1} of the first pairing
        with_zero = image if 0 in image else {0, 1, 2, 3} - image
        values.append(root_of_unity(j * (max(with_zero) - 1), 3))
    return numbers(values).reshape(-1, 1, 1)


def permuted_points(group: FiniteGroup) -> list[tuple[int, ...]]:
    """The elements of a permutation group as tuples of images."""
    return cast(list[tuple[int, ...]], list(group.elements))


def permutation_matrix(g) -> np.ndarray:
    """The matrix with e_x -> e_g(x)."""
    return np.array([[int(g[x] == y) for x in range(len(g))] for y in range(len(g))])


def rotations_of_Z_3() -> np.ndarray:
    """The irreducible real representation of Z_3 by rotations of the plane."""
    plane = real_irreps(dihedral(3), exact=True)[-1]
    return plane.matrices[:3]  # the elements 1, r, r^2 of D_3


# ---- tools


def adjoint(matrices: np.ndarray) -> np.ndarray:
    """The conjugate transpose of each matrix."""
    return np.conjugate(np.swapaxes(matrices, -1, -2))


def equal(left: np.ndarray, right) -> bool:
    """Whether all entries are exactly equal."""
    return bool(np.all(left == right))


def is_homomorphism_into_GL(group: FiniteGroup, R: np.ndarray) -> bool:
    """R(e) = 1 and R(g) R(s) = R(gs) for generators s; by induction on words R(a) R(b) = R(ab), so R(a) R(a^-1) = 1."""
    n, d, _ = R.shape
    stacked = R.reshape(n * d, d)
    return equal(R[group.identity], np.eye(d, dtype=int)) and all(
        equal(exact_matmul(stacked, R[s]).reshape(n, d, d), R[group.table[:, s]]) for s in group.generators
    )


def spans_all_matrices(R: np.ndarray) -> bool:
    """Burnside: R is irreducible over the complex numbers exactly when its matrices span all d x d matrices."""
    n, d, _ = R.shape
    return rank(R.reshape(n, d * d)) == d * d


@cache
def irreps_are_homomorphisms_into_GL(name: str) -> bool:
    """Whether all matrices of `irreps` pass `is_homomorphism_into_GL`."""
    return all(is_homomorphism_into_GL(irreps(name).group, R) for R in irreps(name).matrices)


@cache
def irreps_span_all_matrices(name: str) -> bool:
    """Whether all matrices of `irreps` pass `spans_all_matrices`."""
    return all(spans_all_matrices(R) for R in irreps(name).matrices)


def character(R: np.ndarray) -> np.ndarray:
    """g -> tr R(g), shape (n,)."""
    return np.trace(R, axis1=1, axis2=2)


def inner(f: np.ndarray, g: np.ndarray):
    """<f, g> = (1/n) sum_a f(a) conj(g(a))."""
    return (f * np.conjugate(g)).sum() / len(f)


def indicator(group: FiniteGroup, R: np.ndarray):
    """The Frobenius-Schur indicator (1/n) sum_g tr R(g^2), from the matrices and the table of the group."""
    return character(R)[group.squaring].sum() / group.order


def intertwiners(group: FiniteGroup, R: np.ndarray, S: np.ndarray) -> int:
    """The dimension of {T : S(s) T = T R(s) for the generators s}, over the field of the entries."""
    d, e = R.shape[1], S.shape[1]
    one_d, one_e = np.eye(d, dtype=int), np.eye(e, dtype=int)
    rows = np.concatenate([np.kron(S[s], one_d) - np.kron(one_e, R[s].T) for s in group.generators])
    return d * e - rank(rows)


def entry_vectors(matrices: list[np.ndarray]) -> np.ndarray:
    """All vectors (R(g)_ij)_g of all R, R-major and then in the order of (i, j), shape (sum d^2, n)."""
    return np.concatenate([R.reshape(len(R), -1).T for R in matrices])


def gram(vectors: np.ndarray) -> np.ndarray:
    """All inner products (1/n) sum_a f(a) conj(g(a)) of the rows."""
    return exact_matmul(vectors, adjoint(vectors)) / fmpq(vectors.shape[1])


def regular_representation(group: FiniteGroup) -> np.ndarray:
    """V(g) e_a = e_ga, shape (n, n, n)."""
    identity = np.eye(group.order, dtype=int)
    return numbers(identity[:, group.table].transpose(1, 0, 2))


def action_on_subsets(group: FiniteGroup, size: int) -> np.ndarray:
    """The permutation matrices of a permutation group on the subsets of the given size."""
    elements = permuted_points(group)
    subsets = [frozenset(s) for s in combinations(range(len(elements[0])), size)]
    images = [[subsets.index(frozenset(g[x] for x in s)) for s in subsets] for g in elements]
    return numbers([permutation_matrix(g) for g in images])


@cache
def typed_irreps(name: str) -> list[TypedIrrep]:
    """The nontrivial irreducible representations of `irreps`, one of each conjugate pair, in the numbers of their type.

    For Q_8 the matrix of quaternions replaces `quaternion_plane`.
    """
    group, kept = irreps(name).group, []
    for position, R in enumerate(irreps(name).matrices[1:], 1):
        values = character(R)
        kind = KINDS[int(indicator(group, R).to_fmpq().p)]
        if kind == "complex" and any(equal(np.conjugate(values), character(other.entries)) for other in kept):
            continue
        entries = numbers(np.array(UNITS)).reshape(8, 1, 1, 4) if kind == "quaternionic" else R
        kept.append(TypedIrrep(group, kind, entries, f"{kind} {position}"))
    return kept
