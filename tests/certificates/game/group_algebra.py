"""The real group algebra of a small group: left convolutions, isotypic components, real irreducible representations.

(u * v)(x) = sum_g u(g) v(g^-1 x). The components are cut out with the character table; the dimension nu of the real
irreducible representation of a component and its matrices are found in the algebra itself, without the table: for a
generic u with u(g) = u(g^-1) in the component, every eigenspace of v -> u * v for a nonzero eigenvalue is irreducible
under right translations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from lemmata.certificates.characters.dixon import character_table
from lemmata.certificates.characters.tables import CharacterTable
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.groups.tables import FiniteGroup

EPS = float(np.finfo(float).eps)
GAP = 0.02
"""The least distance of different eigenvalues of a generic element, projected from one of norm 1."""


@dataclass(frozen=True, eq=False)
class RealComponent:
    """A component: its first character R in the table, dim over the reals, real character and idempotent, (n,) each.

    ``nu`` is what the table says: d for indicator 1 and 2 d for the others.
    """

    algebra: RealAlgebra
    row: int
    degree: int
    nu: int
    size: int
    character: np.ndarray
    idempotent: np.ndarray

    def project(self, u: np.ndarray) -> np.ndarray:
        """The projection of functions on the component, shape (.., n).

        For |u| = 1 the error is at most 7 n^(3/2) eps: entries of the idempotent are at most 1 in size, wrong by at
        most 6 eps, and sums of n terms follow.
        """
        return u @ self.algebra.left(self.idempotent).T

    @cached_property
    def spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and vectors of v -> u * v for a generic symmetric u in the component, zeros left out."""
        rng = np.random.default_rng(self.row)
        for _ in range(200):
            r = rng.normal(size=self.algebra.order)
            r += r[self.algebra.group.inverse]
            left = self.algebra.left(self.project(r / np.linalg.norm(r)))
            values, vectors = np.linalg.eigh((left + left.T) / 2)
            jumps = np.diff(values)
            if np.all((jumps < self.algebra.rounding) | (jumps > GAP)) and np.sum(np.abs(values) > GAP) == self.size:
                kept = np.abs(values) > GAP
                return values[kept], vectors[:, kept]
        raise AssertionError("No generic element was found.")

    @cached_property
    def multiplicities(self) -> list[int]:
        """The sizes of the eigenspaces of the generic element."""
        edges = np.flatnonzero(np.diff(self.spectrum[0]) > GAP) + 1
        return np.diff(np.r_[0, edges, self.size]).tolist()

    @cached_property
    def space(self) -> np.ndarray:
        """An orthonormal basis of one eigenspace, shape (n, nu); its angle to the true one is at most `angle`."""
        return self.spectrum[1][:, : self.multiplicities[0]]

    @cached_property
    def matrices(self) -> np.ndarray:
        """rho(t), orthogonal, shape (n, nu, nu): the right translations v -> v(. t) of `space`."""
        return np.stack([self.space.T @ self.space[self.algebra.group.table[:, t]] for t in range(self.algebra.order)])


@dataclass(frozen=True, eq=False)
class RealAlgebra:
    """The real group algebra of a group, by its Cayley table and character table."""

    group: FiniteGroup
    table: CharacterTable
    class_of: np.ndarray

    @property
    def order(self) -> int:
        """The order n."""
        return self.group.order

    @property
    def rounding(self) -> float:
        """A bound of the error of eigenvalues of left convolution with a projected function of norm 1: 8 n^2 eps.

        A function that is wrong by delta changes the convolution by at most sqrt n delta, which is 7 n^2 eps, and the
        eigenvalues are computed with an error of about n eps times the norm, which is at most sqrt n.
        """
        return 8 * self.order**2 * EPS

    @property
    def angle(self) -> float:
        """A bound of the sine of the angle of an eigenspace to the true one (Davis and Kahan)."""
        return self.rounding / GAP

    def left(self, u: np.ndarray) -> np.ndarray:
        """The matrix of v -> u * v, shape (n, n): entry (x, h) is u(x h^-1)."""
        return u[self.group.table[:, self.group.inverse]]

    @cached_property
    def components(self) -> list[RealComponent]:
        """All components but that of the constants, in the order of the rows of the margin game."""
        found = []
        for R, partner in enumerate(self.table.conjugates):
            if R == 0 or partner < R:
                continue
            degree, indicator = self.table.degrees[R], self.table.indicators[R]
            nu = degree if indicator == 1 else 2 * degree
            size = degree**2 * (1 if partner == R else 2)
            values = np.array([float(value.real) for value in self.table.values[R]])[self.class_of]
            character = values * (nu // degree)
            idempotent = size / (self.order * nu) * character
            found.append(RealComponent(self, R, degree, nu, size, character, idempotent))
        return found


@cache
def real_algebra(name: str) -> RealAlgebra:
    """The algebra of the group that `parse_group` knows by this name."""
    group = parse_group(name)
    return RealAlgebra(group.to_finite_group(), character_table(group), np.asarray(group.classes.class_of))
