"""The program of degree 4 on the table of a group: its exact value, and the pseudo-moments that hold it up.

On a group the program sees the margin game of `lemmata.certificates.game.margin_game` with other dimensions: a
representation of quaternionic type and degree d >= 4 counts as one of dimension d + 3 instead of 2d, all others as they
are (certificates/operations/OPERATION_MARGIN.md, theorem B). So it is exact for groups without such a representation;
the extraspecial groups 2-^(1+4) and 2-^(1+6) are the first of a family of groups where it is not.

Where d + 3 comes from: for U, V in M_m(H), d = 2m, as complex matrices of size d with Frobenius norms, the least s^2
such that s^2 (|U|^2 + |V|^2)^2/4 - |UV|^2 is a sum of squares is d/(d + 3). `quaternionic_gram` makes that sum of
squares and `quaternionic_moments` pseudo-moments that show that no smaller s will do, both in integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.game.margin_game import MarginGame
from lemmata.numerics.exact.integers import checked_integer

__all__ = ["QuaternionicMatrices", "RelaxedGame", "quaternionic_gram", "quaternionic_moments", "relaxed_dimension"]

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
class QuaternionicMatrices:
    """Pseudo-moments of (U, V) in M_m(H) x M_m(H), or a Gram matrix of a quartic form, invariant under Sp(m)^3.

    Coordinates: those of an entry of U or V along 1, i, j, k, entries by rows, D = 4 m^2 in all; as complex matrices of
    size 2m, |U|^2 is twice the sum of their squares. What is of odd degree in U is 0. All numbers are integers and
    stand for multiples of `unit`.

    Attributes:
        m: the size of the matrices.
        even: (2 D^2, 2 D^2), on the monomials u_i u_j, all ordered pairs, then v_i v_j.
        mixed: (D^2, D^2), on the monomials u_i v_j.
        unit: a positive number.
    """

    m: int
    even: Integers
    mixed: Integers
    unit: Fraction

    @property
    def dimension(self) -> int:
        """D = 4 m^2."""
        return 4 * self.m**2


def quaternionic_moments(m: int) -> QuaternionicMatrices:
    """The pseudo-moments with E(|U|^2 + |V|^2)^2 = 1 and 4 E|UV|^2 = 2m/(2m + 3), the largest value.

    E|U|^4 = E|V|^4 = (m + 2)/(2(2m + 3)), E tr((U*U)^2) = (2m^2 + 1)/(4m(2m + 3)), E|U|^2|V|^2 = (m + 1)/(2(2m + 3))
    and E|UV|^2 = m/(2(2m + 3)) determine them. Memory: 10 kB times m^8, and a few times that on the way.

    Raises:
        ValueError: for m < 2, where the program sees the true dimension, and for m > 4, where they need more than 3 GB.
    """
    products, outer = _basis_products(m)
    common = 2 * (2 * m + 3)
    delta = np.eye(len(products), dtype=np.int64)
    norms = 4 * np.einsum("ij,kl->ijkl", delta, delta)  # |U|^2 |V|^2, and |U|^4 once it is symmetric
    fourth = [_symmetrised(norms), _symmetrised(_traces("ijbc,klcb->ijkl", products, products))]
    second = [4 * norms, _paired(_traces("ijbc,klcb->ijkl", products, outer))]
    first = _dual(fourth, [24 * Fraction(m + 2, common), 24 * Fraction(2 * m * m + 1, 2 * m * common)])
    last = _dual(second, [4 * Fraction(m + 1, common), 4 * Fraction(m, common)])
    (same, cross), unit = _over_one_unit([list(zip(first, fourth, strict=True)), list(zip(last, second, strict=True))])
    return _matrices(m, (same, cross, same), cross.transpose(0, 2, 1, 3), unit)


def quaternionic_gram(m: int) -> QuaternionicMatrices:
    """A positive semidefinite Gram matrix of s^2 (|U|^2 + |V|^2)^2/4 - |UV|^2, s^2 = 2m/(2m + 3): a sum of squares.

    With the projections of U x U on the components 1 x Lambda and Lambda x Lambda (OPERATION_MARGIN.md, step 17) the
    part of degree 4 in U is gamma ((m + 2) P_1L + P_LL), likewise in V; between the two it is -gamma (m + 2) times the
    pairing of the components 1 x Lambda; and on the u_i v_j it is a (1 - Phi) - (kappa - a) |UV|^2, Phi the flip of the
    middle factors, kappa = 1 - gamma (m + 2)/m, a = kappa m/(m + 1), gamma = 2m^3/((2m + 3)(2m + 1)(m - 1)).

    Raises:
        ValueError: as `quaternionic_moments`.
    """
    products, outer = _basis_products(m)
    delta = np.eye(len(products), dtype=np.int64)
    gamma = Fraction(2 * m**3, (2 * m + 3) * (2 * m + 1) * (m - 1))
    kappa = 1 - gamma * Fraction(m + 2, m)
    a = kappa * Fraction(m, m + 1)
    # on symmetric pairs, in coordinates u with |U|^2 = 2 |u|^2
    trivial = np.einsum("ij,kl->ijkl", delta, delta)  # m^2 times the component 1 x 1
    left = _paired(_traces("ijbc,klbc->ijkl", products.conj(), products))  # 8m times 1 x (1 + Lambda)
    right = _paired(_traces("ijbc,klbc->ijkl", outer.conj(), outer))  # 8m times (1 + Lambda) x 1
    between = _paired(_traces("ijbc,klcb->ijkl", products, outer))  # 8m times the pairing for 1 x (1 + Lambda)
    whole = _paired(np.einsum("ik,jl->ijkl", delta, delta))
    antisymmetric = 4 * whole - _paired(_traces("ikbc,jlcb->ijkl", products, products))  # 8 times Lambda^2 x Lambda^2
    shared = [(gamma / 8, antisymmetric), (-gamma * Fraction(m + 1, m * m), trivial)]
    near, far = gamma * Fraction(m + 1, 8 * m), -gamma / (8 * m)
    crossed = gamma * (m + 2)
    flip = _traces("kibc,ljcb->ijkl", products, outer)
    contracted = np.einsum(
        "iab,jbc,kad,ldc->ijkl", _basis(m).conj(), _basis(m).conj(), _basis(m), _basis(m), optimize=True
    )
    blocks, unit = _over_one_unit(
        [
            [*shared, (near, left), (far, right)],
            [(-crossed / (8 * m), between), (crossed / (m * m), trivial)],
            [*shared, (near, right), (far, left)],
            [
                (4 * a, np.einsum("ik,jl->ijkl", delta, delta)),
                (-a, flip),
                (a - kappa, np.rint(contracted.real).astype(np.int64)),
            ],
        ]
    )
    return _matrices(m, (blocks[0], blocks[1], blocks[2]), blocks[3], unit)


def _basis(m: int) -> NDArray[np.complex128]:
    """1, i, j, k in each entry, as complex matrices, shape (4 m^2, 2m, 2m)."""
    basis = np.zeros((m, m, 4, m, 2, m, 2), complex)
    for i in range(m):
        for j in range(m):
            basis[i, j, :, i, :, j, :] = _UNITS
    return basis.reshape(4 * m * m, 2 * m, 2 * m)


def _basis_products(m: int) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """b_i* b_j and b_i b_j* of the elements of the basis, shapes (D, D, 2m, 2m).

    Raises:
        ValueError: as `quaternionic_moments`.
    """
    checked_integer("The size m of the quaternionic matrices", m, 2)
    if m > 4:
        raise ValueError(f"Matrices for m = {m} need {10 * m**8 / 1e6:.0f} GB; m = 2, 3 and 4 are accepted.")
    basis = _basis(m)
    return np.einsum("iab,jac->ijbc", basis.conj(), basis), np.einsum("iab,jcb->ijac", basis, basis.conj())


def _traces(indices: str, first: NDArray[np.complex128], second: NDArray[np.complex128]) -> Integers:
    """The real parts of traces of products of two, which are integers."""
    return np.rint(np.einsum(indices, first, second, optimize=True).real).astype(np.int64)


def _symmetrised(tensor: Integers) -> Integers:
    """24 times the symmetric part."""
    return np.sum([np.transpose(tensor, order) for order in permutations(range(4))], axis=0)


def _paired(tensor: Integers) -> Integers:
    """4 times the part that is symmetric in the first two and in the last two indices."""
    half = tensor + tensor.transpose(1, 0, 2, 3)
    return half + half.transpose(0, 1, 3, 2)


def _dual(tensors: list[Integers], values: list[Fraction]) -> tuple[Fraction, Fraction]:
    """The coefficients of the combination of two tensors that has these inner products with them."""
    (p, q), (r, s) = [[int((one * other).sum()) for other in tensors] for one in tensors]
    determinant = p * s - q * r
    return (values[0] * s - values[1] * q) / determinant, (values[1] * p - values[0] * r) / determinant


def _over_one_unit(blocks: list[list[tuple[Fraction, Integers]]]) -> tuple[list[Integers], Fraction]:
    """Combinations of integer tensors as integers over one common unit, as large as it can be."""
    denominator = lcm(*(factor.denominator for block in blocks for factor, _ in block))
    sums = [np.sum([int(factor * denominator) * tensor for factor, tensor in block], axis=0) for block in blocks]
    divisor = gcd(*(int(np.gcd.reduce(tensor, axis=None)) for tensor in sums))
    return [tensor // divisor for tensor in sums], Fraction(divisor, denominator)


def _matrices(
    m: int, even: tuple[Integers, Integers, Integers], mixed: Integers, unit: Fraction
) -> QuaternionicMatrices:
    """The tensors of u u u u, u u v v and v v v v, and of u v u v, as matrices."""
    pairs = (4 * m * m) ** 2
    first, cross, last = (tensor.reshape(pairs, pairs) for tensor in even)
    return QuaternionicMatrices(m, np.block([[first, cross], [cross.T, last]]), mixed.reshape(pairs, pairs), unit)
