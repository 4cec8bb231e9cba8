"""The program of degree 4 on the table of a group: its exact value, and the pseudo-moments that hold it up.

On a group the program sees the margin game of `certificates.game.margin_game` with other dimensions: a representation
of quaternionic type and degree d >= 4 counts as one of dimension d + 3 instead of 2d, all others as they are
(certificates/tables/TABLE_MARGIN.md, theorem B). So it is exact for groups that have no such representation; the
extraspecial groups 2-^(1+4) and 2-^(1+6) are the first of a family of groups where it is not.

Where d + 3 comes from: for U, V in M_m(H), d = 2m, as complex matrices of size d with Frobenius norms, the least s^2
such that s^2 (|U|^2 + |V|^2)^2/4 - |UV|^2 is a sum of squares is d/(d + 3). `quaternionic_moments` makes pseudo-moments
in integers that show that no smaller s will do.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from certificates.game.margin_game import MarginGame
from numerics.exact.integers import checked_integer

__all__ = ["QuaternionicMoments", "RelaxedGame", "quaternionic_moments", "relaxed_dimension"]

Integers = NDArray[np.int64]

_UNITS = np.array([[[1, 0], [0, 1]], [[1j, 0], [0, -1j]], [[0, 1], [-1, 0]], [[0, 1j], [1j, 0]]])
"""1, i, j, k as complex matrices."""


def relaxed_dimension(degree: int, indicator: int) -> int:
    """The dimension of a real representation as the program of degree 4 sees it, from a complex constituent of it.

    Args:
        degree: d of the complex representation.
        indicator: of Frobenius and Schur: 1 (real), 0 (complex) or -1 (quaternionic type).
    """
    if indicator == -1 and degree >= 4:
        return degree + 3
    return degree if indicator == 1 else 2 * degree


class RelaxedGame(MarginGame):
    """The game whose value times 2 (3n)^(-3/2) is the least bound of degree 4 on the margin of a group of order n.

    Products of two factors only.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.factors != 2:
            raise ValueError(f"Tables of operations have two factors, not {self.factors}.")

    @cached_property
    def dimensions(self) -> np.ndarray:
        """The dimensions that the program sees, as Python integers, shape (rows,)."""
        table = self.table
        return np.array([relaxed_dimension(table.degrees[R], table.indicators[R]) for R in self.rows], dtype=object)


@dataclass(frozen=True, eq=False)
class QuaternionicMoments:
    """Pseudo-moments of degree 4 of (U, V) in M_m(H) x M_m(H), invariant under Sp(m)^3.

    Coordinates: those of an entry of U or V along 1, i, j, k, entries by rows, D = 4 m^2 in all. Moments of odd degree
    in U are 0. All numbers are integers and stand for multiples of `unit`.

    Attributes:
        m: the size of the matrices.
        even: (2 D^2, 2 D^2), of the monomials u_i u_j, all ordered pairs, then v_i v_j.
        mixed: (D^2, D^2), of the monomials u_i v_j.
        unit: normalises E(|U|^2 + |V|^2)^2 to 1, in Frobenius norms of complex matrices: twice the squares of the
            coordinates.
    """

    m: int
    even: Integers
    mixed: Integers
    unit: Fraction

    @property
    def dimension(self) -> int:
        """D = 4 m^2."""
        return 4 * self.m**2


def quaternionic_moments(m: int) -> QuaternionicMoments:
    """The pseudo-moments with E(|U|^2 + |V|^2)^2 = 1 and 4 E|UV|^2 = 2m/(2m + 3), the largest value.

    E|U|^4 = E|V|^4 = (m + 2)/(2(2m + 3)), E tr((U*U)^2) = (2m^2 + 1)/(4m(2m + 3)), E|U|^2|V|^2 = (m + 1)/(2(2m + 3))
    and E|UV|^2 = m/(2(2m + 3)) determine them. Memory: 10 kB times m^8, and a few times that on the way.

    Raises:
        ValueError: for m < 2, where the program sees the true dimension, and for m > 4, where they need more than 3 GB.
    """
    checked_integer("The size m of the quaternionic matrices", m, 2)
    if m > 4:
        raise ValueError(f"Pseudo-moments for m = {m} need {10 * m**8 / 1e6:.0f} GB; m = 2, 3 and 4 are accepted.")
    common = 2 * (2 * m + 3)
    basis = np.zeros((m, m, 4, m, 2, m, 2), complex)
    for i in range(m):
        for j in range(m):
            basis[i, j, :, i, :, j, :] = _UNITS
    basis = basis.reshape(4 * m * m, 2 * m, 2 * m)
    products = np.einsum("iab,jac->ijbc", basis.conj(), basis)  # b_i* b_j
    outer = np.einsum("iab,jcb->ijac", basis, basis.conj())  # b_i b_j*
    delta = np.eye(len(basis), dtype=np.int64)
    squares = 4 * np.einsum("ij,kl->ijkl", delta, delta)
    even = _combined(
        [_symmetrised(squares), _symmetrised(_traces(products, products))],
        [Fraction(m + 2, common), Fraction(2 * m * m + 1, 2 * m * common)],
        24,
    )
    mixed = _combined(
        [4 * squares, _paired(_traces(products, outer))], [Fraction(m + 1, common), Fraction(m, common)], 4
    )
    return _moments(m, even, mixed)


def _traces(first: NDArray[np.complex128], second: NDArray[np.complex128]) -> Integers:
    """tr(first_ij second_kl), which are integers once they are made symmetric: here their real parts."""
    return np.rint(np.einsum("ijbc,klcb->ijkl", first, second).real).astype(np.int64)


def _symmetrised(tensor: Integers) -> Integers:
    """24 times the symmetric part."""
    return np.sum([np.transpose(tensor, order) for order in permutations(range(4))], axis=0)


def _paired(tensor: Integers) -> Integers:
    """4 times the part that is symmetric in the first two and in the last two indices."""
    half = tensor + tensor.transpose(1, 0, 2, 3)
    return half + half.transpose(0, 1, 3, 2)


def _combined(tensors: list[Integers], values: list[Fraction], factor: int) -> tuple[Integers, Fraction]:
    """The combination E of two tensors with <E, tensor> = factor times value for both, and its unit."""
    (p, q), (r, s) = [[int((one * other).sum()) for other in tensors] for one in tensors]
    determinant = p * s - q * r
    first = factor * (values[0] * s - values[1] * q) / determinant
    second = factor * (values[1] * p - values[0] * r) / determinant
    denominator = lcm(first.denominator, second.denominator)
    whole = int(first * denominator) * tensors[0] + int(second * denominator) * tensors[1]
    divisor = int(np.gcd.reduce(whole, axis=None))
    return whole // divisor, Fraction(divisor, denominator)


def _moments(m: int, even: tuple[Integers, Fraction], mixed: tuple[Integers, Fraction]) -> QuaternionicMoments:
    """The two tensors over one unit, as matrices."""
    units = (even[1], mixed[1])
    denominator = lcm(units[0].denominator, units[1].denominator)
    steps = [int(unit * denominator) for unit in units]
    shared = gcd(*steps)
    fourth, cross = even[0] * (steps[0] // shared), mixed[0] * (steps[1] // shared)
    pairs = len(fourth) ** 2
    same, other = fourth.reshape(pairs, pairs), cross.reshape(pairs, pairs)
    block = np.block([[same, other], [other.T, same]])
    return QuaternionicMoments(
        m, block, cross.transpose(0, 2, 1, 3).reshape(pairs, pairs), Fraction(shared, denominator)
    )
