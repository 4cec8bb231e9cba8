"""Unitary irreducible representations of any finite group, computed from its Cayley table in float64.

The left regular representation L(g) e_x = e_(gx) on C^n commutes with the matrices H[x, y] = h(x^-1 y), and with
nothing else. If h is random with h(g^-1) = conj h(g), then H is Hermitian and its eigenspaces are, almost surely, the
irreducible subspaces (UNITARY.md, section 1). An orthonormal basis V of an eigenspace gives R(g) = V* L(g) V up to the
error of V, which each step of the average

    R'(g) = (1/n) sum_x R(gx) R(x)*

squares (section 2). The Frobenius-Schur indicator (1/n) sum_g chi(g^2) tells the type and with it the basis: real
orthogonal matrices, blocks of quaternions, or one of a conjugate pair (section 3).

Nothing rests on the random numbers: the constructor of `UnitaryIrrep` checks each result, and the list is complete
when the squares of the degrees add up to n.

Source: feature-emergence, ext-E1 (irreducible representations of any group); definitions D.1 to D.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lemmata.numerics.groups.tables import FiniteGroup

__all__ = ["Kind", "UnitaryIrrep", "unitary_irreps"]

Kind = Literal["real", "complex", "quaternionic"]
Complexes = NDArray[np.complex128]

KINDS: dict[int, Kind] = {1: "real", 0: "complex", -1: "quaternionic"}
EPS = float(np.finfo(np.float64).eps)
SEEDS = 8  # random splittings that are tried before giving up; the first one has been enough for every group tested
BLOCK_ENTRIES = 2**20  # complex numbers that the average gathers at a time


@dataclass(frozen=True, eq=False)
class UnitaryIrrep:
    """An irreducible unitary representation of a group of order n, in the form that belongs to its type.

    Attributes:
        group: the group.
        matrices: R(g) in the order of its elements, shape (n, d, d); float64 for real type, else complex128, in 2 x 2
            blocks [[a, b], [-conj b, conj a]] for quaternionic type.
        name: for masses and messages.

    Raises:
        ValueError: naming what is violated: the shape, R(gh) = R(g) R(h) or R(g) R(g)* = 1 by more than `tolerance`,
            irreducibility, or the form of the type.
    """

    group: FiniteGroup
    matrices: NDArray[Any]
    name: str

    def __post_init__(self) -> None:
        array, n = np.array(self.matrices), self.group.order
        if array.ndim != 3 or len(array) != n or array.shape[1] != array.shape[2] or array.shape[1] == 0:
            raise ValueError(
                f"A representation of {self.group.name} needs matrices of shape ({n}, d, d), d >= 1; those of "
                f"{self.name} have shape {array.shape}."
            )
        if array.dtype.kind not in "iufc" or not np.all(np.isfinite(array)):
            raise ValueError(f"The matrices of {self.name} must hold finite real or complex numbers.")
        array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
        array.setflags(write=False)
        object.__setattr__(self, "matrices", array)
        if self.defect > self.tolerance:
            raise ValueError(
                f"{self.name} is not a unitary representation of {self.group.name}: R(gh) = R(g) R(h) and "
                f"R(g) R(g)* = 1 are violated by up to {self.defect:.3g}, beyond rounding ({self.tolerance:.3g})."
            )
        norm = np.vdot(self.character, self.character).real / n
        if round(norm) != 1:  # an integer, recovered from errors below 1/2
            raise ValueError(f"{self.name} is reducible: its character has squared norm {round(norm)} instead of 1.")
        if (self.kind == "real") != (array.dtype.kind == "f"):
            raise ValueError(
                f"{self.name} is of {self.kind} type; its matrices must be "
                f"{'real' if self.kind == 'real' else 'complex'}, but have dtype {array.dtype}."
            )
        if self.kind == "quaternionic" and not np.array_equal(array, _in_blocks(array)):
            raise ValueError(
                f"{self.name} is of quaternionic type; its 2 x 2 blocks must have the form [[a, b], [-conj b, conj a]]."
            )

    def __repr__(self) -> str:
        return f"UnitaryIrrep({self.name} of {self.group.name}, degree {self.degree}, {self.kind} type)"

    @property
    def degree(self) -> int:
        """The degree d."""
        return self.matrices.shape[1]

    @cached_property
    def character(self) -> NDArray[Any]:
        """The character g -> tr R(g), shape (n,); real for real type."""
        return np.trace(self.matrices, axis1=1, axis2=2)

    @cached_property
    def indicator(self) -> int:
        """The Frobenius-Schur indicator: 1 real, 0 complex, -1 quaternionic type."""
        return round(float(np.mean(self.character[self.group.squaring]).real))

    @property
    def kind(self) -> Kind:
        """The type."""
        return KINDS[self.indicator]

    @property
    def tolerance(self) -> float:
        """The allowed error of an entry of an equation between R(gh), R(g), R(h), 1.

        Every stored entry comes from sums of n d products divided by n and is good to n d eps at worst (rounding of
        sums); a product of two unitary matrices multiplies this by 2 d and the comparison adds one such matrix.
        """
        return 4 * self.group.order * self.degree**2 * EPS

    @cached_property
    def defect(self) -> float:
        """The largest violation of R(gs) = R(g) R(s), for all g and generators s, and of R(g) R(g)* = 1."""
        R = self.matrices
        products = [np.abs(R @ R[s] - R[self.group.table[:, s]]).max() for s in self.group.generators]
        unitarity = np.abs(R @ R.conj().transpose(0, 2, 1) - np.eye(self.degree)).max()
        return float(max([unitarity, *products]))

    def quaternions(self) -> NDArray[np.float64]:
        """The matrix over the quaternions, shape (n, e, e, 4) with d = 2e, in the basis 1, i, j, k.

        Raises:
            ValueError: unless the type is quaternionic.
        """
        if self.kind != "quaternionic":
            raise ValueError(f"{self.name} is of {self.kind} type and has no matrix over the quaternions.")
        a, b = self.matrices[:, ::2, ::2], self.matrices[:, ::2, 1::2]  # a + b j = Re a + i Im a + j Re b + k Im b
        return np.stack([np.real(a), np.imag(a), np.real(b), np.imag(b)], axis=-1)


def unitary_irreps(group: FiniteGroup, seed: int = 0) -> tuple[UnitaryIrrep, ...]:
    """All irreducible representations of a group, one of each complex-conjugate pair, the trivial one first.

    They are ordered by degree, type (real, complex, quaternionic) and character on the classes, and named after type
    and degree: R1.1, R1.2, C3.1, H2.1; the trivial one is R1.1. Of a conjugate pair the one is kept whose first
    non-real value on the classes has a positive imaginary part. The order and the names depend on the group alone; the
    bases depend on the seed.

    n^3 + n^2 sum d^3 operations: a second for order 200, half a minute for order 720.

    Raises:
        ValueError: if no seed splits the regular representation.
    """
    for attempt in range(seed, seed + SEEDS):
        found = _split(group, np.random.default_rng(attempt))
        kinds = [_indicator(group, R) for R in found]
        if sum(R.shape[1] ** 2 * (1 if kind else 2) for R, kind in zip(found, kinds, strict=True)) == group.order:
            break
    else:
        raise ValueError(f"The regular representation of {group.name} could not be split with {SEEDS} random matrices.")
    heads = [int(members[0]) for members in group.classes]

    def order(item: tuple[Complexes, int]) -> tuple[Any, ...]:
        # Distinct characters differ by far more than 1e-6 on some class: they are orthogonal of norm 1.
        values = np.round(np.trace(item[0][heads], axis1=1, axis2=2), 6) + 0.0
        return (item[0].shape[1], -item[1], *((-z.real, -z.imag) for z in values))

    counts: dict[str, int] = {}
    result = []
    for R, indicator in sorted(zip(found, kinds, strict=True), key=order):
        label = f"{'CRH'[indicator]}{R.shape[1]}"
        counts[label] = counts.get(label, 0) + 1
        result.append(UnitaryIrrep(group, _adapted(group, R, indicator), f"{label}.{counts[label]}"))
    return tuple(result)


def _split(group: FiniteGroup, rng: np.random.Generator) -> list[Complexes]:
    """The inequivalent irreducible representations in the eigenspaces of a random H; one of each conjugate pair."""
    n, inverse = group.order, group.inverse
    h = rng.normal(size=n) + 1j * rng.normal(size=n)
    h = (h + h[inverse].conj()) / 2
    values, vectors = np.linalg.eigh(h[group.table[inverse]])
    # The n eigenvalues are good to about n eps |H|. Gaps below sqrt(eps) |H| are not trusted to separate subspaces;
    # subspaces that are not separated are reducible, and recognised as such.
    cuts = np.flatnonzero(np.diff(values) > np.sqrt(EPS) * np.abs(values).max()) + 1
    heads = [int(members[0]) for members in group.classes]
    found: list[Complexes] = []
    characters: list[NDArray[Any]] = []
    for V in np.split(vectors, cuts, axis=1):
        # chi(g) = sum over x of <V[x], V[g^-1 x]>, for one g of each class
        character = np.array([np.vdot(V, V[group.table[inverse[g]]]) for g in heads])[group.class_of]
        if round(np.vdot(character, character).real / n) != 1:
            continue
        known = np.array([*characters, *(c.conj() for c in characters)]).reshape(-1, n)
        if np.any(np.rint(np.abs(known.conj() @ character) / n) == 1):
            continue
        first = next((z.imag for z in character[heads] if abs(z.imag) > np.sqrt(EPS)), 0.0)
        basis = V.conj() if first < 0 else V  # H commutes with the real matrices L(g); conj V spans conj R
        R = np.array([basis.conj().T @ basis[group.table[x]] for x in inverse])
        found.append(_polished(group, R))
        characters.append(character)
    return found


def _indicator(group: FiniteGroup, R: Complexes) -> int:
    return round(float(np.mean(np.trace(R, axis1=1, axis2=2)[group.squaring]).real))


def _polished(group: FiniteGroup, R: NDArray[Any]) -> NDArray[Any]:
    """R'(g) = (1/n) sum_x R(gx) R(x)*, then one Newton step towards the nearest unitary matrix; any dtype is kept."""
    n, d = R.shape[:2]
    adjoint = R.conj().transpose(0, 2, 1)
    stacked = adjoint.reshape(n * d, d)
    block = max(1, BLOCK_ENTRIES // (n * d * d))
    averaged = np.empty_like(R)
    for start in range(0, n, block):
        rows = R[group.table[start : start + block]].transpose(0, 2, 1, 3)  # [g, i, x, k] = R(gx)[i, k]
        averaged[start : start + block] = (rows.reshape(-1, n * d) @ stacked).reshape(-1, d, d) / n
    gram = averaged.conj().transpose(0, 2, 1) @ averaged
    return averaged @ (3 * np.eye(d) - gram) / 2


def _adapted(group: FiniteGroup, R: Complexes, indicator: int) -> NDArray[Any]:
    """An equivalent representation in the form of its type."""
    if indicator == 0:
        return _polished(group, R)
    S = _intertwiner(R)
    if indicator == 1:
        Q = _fixed_basis(S)
        return _polished(group, np.ascontiguousarray(np.real(Q.conj().T @ R @ Q)))
    Q = _quaternionic_basis(S)
    return _in_blocks(_polished(group, _in_blocks(Q.conj().T @ R @ Q)))


def _intertwiner(R: Complexes) -> Complexes:
    """The unitary S, unique up to a phase, with R(g) S = S conj R(g), that is R(g) S R(g)^T = S; UNITARY.md, section 3.

    The average of R(g) (x) R(g) is the projection vec(S) vec(S)* / d; its longest column is a multiple of vec(S).
    """
    n, d = R.shape[:2]
    flat = R.reshape(n, d * d)
    projection = (flat.T @ flat / n).reshape(d, d, d, d).transpose(0, 2, 1, 3).reshape(d * d, d * d)
    column = projection[:, np.argmax(np.real(np.diagonal(projection)))]
    return (column * np.sqrt(d) / np.linalg.norm(column)).reshape(d, d)


def _fixed_basis(S: Complexes) -> Complexes:
    """A unitary Q with S conj(Q) = Q, so that S = Q Q^T, for symmetric unitary S.

    On (Re v, Im v) the map v -> S conj(v) is the real symmetric matrix [[Re S, Im S], [Im S, -Re S]] with eigenvalues
    1 and -1, d of each. Inner products of fixed vectors are real, so real orthonormal means orthonormal.
    """
    d = len(S)
    _, vectors = np.linalg.eigh(np.block([[S.real, S.imag], [S.imag, -S.real]]))
    fixed = vectors[:, d:]
    return fixed[:d] + 1j * fixed[d:]


def _quaternionic_basis(S: Complexes) -> Complexes:
    """A unitary matrix with columns v_1, -J v_1, v_2, -J v_2, .. for antisymmetric unitary S and J v = S conj(v).

    v and J v are orthogonal, and so are J v and J w if v and w are. Each v is the unit vector that is farthest from the
    span of the columns before it, made orthogonal twice (once leaves an error that cancellation has enlarged).
    """
    d = len(S)
    Q = np.zeros((d, 0), dtype=np.complex128)
    while Q.shape[1] < d:
        v = np.eye(d)[:, np.argmin(np.sum(np.abs(Q) ** 2, axis=1))].astype(np.complex128)
        for _ in range(2):
            v -= Q @ (Q.conj().T @ v)
            v /= np.linalg.norm(v)
        Q = np.column_stack([Q, v, -S @ v.conj()])
    return Q


def _in_blocks(R: NDArray[Any]) -> NDArray[Any]:
    """The nearest matrices whose 2 x 2 blocks have the form [[a, b], [-conj b, conj a]]."""
    a = (R[:, ::2, ::2] + R[:, 1::2, 1::2].conj()) / 2
    b = (R[:, ::2, 1::2] - R[:, 1::2, ::2].conj()) / 2
    result = np.empty_like(R)
    result[:, ::2, ::2], result[:, 1::2, 1::2] = a, a.conj()
    result[:, ::2, 1::2], result[:, 1::2, ::2] = b, -b.conj()
    return result
