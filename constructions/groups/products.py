"""Explicit max-margin networks for the product of k elements of any finite group, with the activation x^k.

The input (a_1, .., a_k) is one-hot, the label is a_1 a_2 ... a_k, and a neuron (u_1, .., u_k, w) outputs
(u_1(a_1) + .. + u_k(a_k))^k w(c). For an irreducible unitary representation R of degree d the neurons are, up to the
factor that gives every block u_j and w the squared norm n,

    real type          e_j R_{i_{j-1} i_j},                      w = (e_1 ... e_k) R_{i_0 i_k}      2^(k-1)   d^(k+1)
    complex type       Re x^{a_j} R_{i_{j-1} i_j},               w = Re x^b R_{i_0 i_k}             2 3^(k-1) d^(k+1)
    quaternionic type  e_j Re conj(q_{j-1}) R_{i_{j-1} i_j} q_j, w = (e_1 ... e_k) Re R_{i_0 i_k} q_k   4^(k-1) d^(k+1)

with their numbers on the right: over all indices i_0, .., i_k; all signs e_2, .., e_k, e_1 = 1; all N-th roots of unity
x, N = 2 3^(k-1); and q_1, .., q_k in {1, i, j, k}, q_0 = 1, where R is a matrix of e x e quaternions, d = 2 e. The
neurons of one R, of equal mass, add up to a multiple of the character of the real representation rho that R belongs to
(R itself; R and its conjugate; R twice), of dimension nu = d for real type and 2d otherwise: with total mass eps_rho,

    raw(a_1, .., a_k)[c] = k! sum_rho eps_rho nu_rho^(-(k+1)/2) chi_rho(a_1 ... a_k c^-1).

For k = 2 these are the networks of `lemmata.constructions.groups.any_type`.

PRODUCTS.md proves this in numbered sections.

Masses that solve the game on the character table make the network optimal; they are arguments here, and
`certificates` computes them.

Source: beyond the dissertation, which has k = 2 and real type (lemmas D.15, D.16) and Z_2 with signs (theorem 7.8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmata.constructions.groups.lists import repeated_pair
from lemmata.constructions.groups.masses import Masses, mass_shares
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.representations.unitary import KINDS, Kind, UnitaryIrrep
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul, root_of_unity, sqrt_rational
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.groups.quaternions import CONJUGATION, PRODUCT_INDEX, PRODUCT_SIGN
from lemmata.numerics.groups.tables import FiniteGroup

__all__ = [
    "TypedIrrep",
    "factor_neurons",
    "neuron_count",
    "phase_exponents",
    "product_inputs",
    "product_labels",
    "product_of_factors_network",
]

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class TypedIrrep:
    """An irreducible unitary representation of a group of order n, with entries in the numbers of its type.

    In floats an equation may be off by 4 n d^2 eps: entries are sums of n d products, and a product of unitary matrices
    multiplies their error by at most 2 d.

    Attributes:
        group: the group.
        kind: the type.
        entries: real numbers (n, d, d) for real type, complex ones (n, d, d) for complex type, quaternions (n, e, e, 4)
            with d = 2e in the basis 1, i, j, k for quaternionic type; floats, or exact numbers in object arrays.
        name: for masses and messages.

    Raises:
        ValueError: if the shape does not fit, the matrices are not a representation, not irreducible, or of another
            type.
    """

    group: FiniteGroup
    kind: Kind
    entries: Array
    name: str

    def __post_init__(self) -> None:
        n, shape = self.group.order, self.entries.shape
        expected = 4 if self.kind == "quaternionic" else 3
        if (
            len(shape) != expected
            or shape[0] != n
            or shape[1] != shape[2]
            or not shape[1]
            or shape[3:] not in ((), (4,))
        ):
            wanted = f"({n}, e, e, 4)" if self.kind == "quaternionic" else f"({n}, d, d)"
            raise ValueError(f"{self.name} of {self.kind} type needs entries of shape {wanted}, not {shape}.")
        matrices = self._matrices
        stacked = matrices.reshape(-1, matrices.shape[2])
        tolerance = 0.0 if self.exact else 4 * n * self.degree**2 * EPS
        multiply = exact_matmul if self.exact else np.matmul
        for s in self.group.generators:
            defect = multiply(stacked, matrices[s]).reshape(matrices.shape) - matrices[self.group.table[:, s]]
            if not (np.all(defect == 0) if self.exact else np.abs(defect).max() <= tolerance):
                raise ValueError(f"{self.name} is not a representation of {self.group.name}: R(gs) is not R(g) R(s).")
        # The two means are integers, recovered from errors far below 1/2.
        norm, indicator = np.mean(np.abs(self.character) ** 2), np.mean(self.character[self.group.squaring]).real
        if round(norm) != 1 or KINDS[round(indicator)] != self.kind:
            raise ValueError(
                f"{self.name} is not irreducible of {self.kind} type: its character has squared norm {round(norm)} "
                f"and Frobenius-Schur indicator {round(indicator)}."
            )

    @staticmethod
    def of(irrep: UnitaryIrrep) -> TypedIrrep:
        """The float form of a computed irreducible representation."""
        entries = irrep.quaternions() if irrep.kind == "quaternionic" else irrep.matrices
        return TypedIrrep(irrep.group, irrep.kind, entries, irrep.name)

    def to_float(self) -> TypedIrrep:
        """The same representation in floats: complex128 for complex type, else float64."""
        if not self.exact:
            return self
        if self.kind == "complex":
            entries = np.array([complex(x) for x in self.entries.flat]).reshape(self.entries.shape)
        else:
            entries = to_float(self.entries)
        return TypedIrrep(self.group, self.kind, entries, self.name)

    @property
    def exact(self) -> bool:
        """Whether the entries are exact numbers."""
        return self.entries.dtype == object

    @property
    def degree(self) -> int:
        """The complex degree d."""
        return self.entries.shape[1] * (2 if self.kind == "quaternionic" else 1)

    @cached_property
    def character(self) -> NDArray[np.complex128]:
        """The complex character g -> chi(g) in floats, shape (n,)."""
        if self.kind == "quaternionic":
            return 2 * to_float(np.trace(self.entries[..., 0], axis1=1, axis2=2)).astype(complex)
        traces = np.trace(self.entries, axis1=1, axis2=2)
        return np.array([complex(value) for value in traces]) if self.exact else traces.astype(complex)

    @property
    def _matrices(self) -> Array:
        """The entries as matrices; quaternions act on R^(4e) from the left: z -> (the matrix of unit -> z unit)."""
        if self.kind != "quaternionic":
            return self.entries
        n, e = self.entries.shape[:2]
        acting = np.zeros((n, e, 4, e, 4), dtype=self.entries.dtype)
        for p, unit in product(range(4), repeat=2):
            acting[:, :, PRODUCT_INDEX[p, unit], :, unit] = int(PRODUCT_SIGN[p, unit]) * self.entries[..., p]
        return acting.reshape(n, 4 * e, 4 * e)


def product_of_factors_network(irreps: Sequence[TypedIrrep], masses: Masses, factors: int) -> HomogeneousNetwork:
    """The network of total mass 1 for the product of k = ``factors`` >= 2 elements.

    Args:
        irreps: inequivalent nontrivial irreducible representations of one group, one of each conjugate pair; all with
            exact entries (then the network is exact) or all in floats.
        masses: total mass eps_rho of each real representation: a mapping from the names of ``irreps`` (names left out
            have mass 0), or a sequence in the order of ``irreps``. Exact for exact irreps.
        factors: the number k.

    Returns:
        A network with D = k n, L = n, degree k, r = (k + 1) n.

    Raises:
        ValueError: if k < 2, the groups or the kinds of numbers differ, an irrep is trivial, two are equivalent or
            conjugate, or the masses are negative, do not sum to 1, or do not fit the irreps.
    """
    _refuse_wrong_lists(irreps)
    n, exact = irreps[0].group.order, irreps[0].exact
    shares = mass_shares([R.name for R in irreps], masses, exact)
    blocks = [(factor_neurons(R, factors), share) for R, share in zip(irreps, shares, strict=True) if share != 0]
    directions = np.concatenate([neurons for neurons, _ in blocks])
    neuron_masses = [share / len(neurons) for neurons, share in blocks for _ in neurons]
    return HomogeneousNetwork(
        directions[:, : factors * n],
        directions[:, factors * n :],
        np.array(neuron_masses, dtype=directions.dtype),
        factors,
        fmpq((factors + 1) * n) if exact else float((factors + 1) * n),
    )


def factor_neurons(irrep: TypedIrrep, factors: int) -> Array:
    """The directions (u_1, .., u_k, w) of one irrep, shape (`neuron_count`, (k+1) n), of squared norm (k+1) n."""
    checked_integer("The number of factors", factors, 2)
    d = irrep.degree
    if irrep.kind == "real":
        return _scaled(_signed([irrep.entries] * (factors + 1), factors), d, irrep.exact)
    if irrep.kind == "complex":
        exponents, N = phase_exponents(factors)
        turned = [_real_part(irrep.entries, t, N) for t in range(N)]
        powers = (*exponents, sum(exponents))
        rows = [_paths([turned[a * t % N] for a in powers]) for t in range(N)]
        return _scaled(np.concatenate(rows), 2 * d, irrep.exact)
    rows = []
    for units in product(range(4), repeat=factors):
        before = (0, *units[:-1])
        parts = [_coordinate(irrep.entries, p, q) for p, q in zip(before, units, strict=True)]
        rows.append(_signed([*parts, _coordinate(irrep.entries, 0, units[-1])], factors))
    return _scaled(np.concatenate(rows), 2 * d, irrep.exact)


def neuron_count(kind: Kind, degree: int, factors: int) -> int:
    """The number of neurons of one irrep: 2^(k-1), 2 3^(k-1) or 4^(k-1) times d^(k+1)."""
    per_path = {"real": 2 ** (factors - 1), "complex": 2 * 3 ** (factors - 1), "quaternionic": 4 ** (factors - 1)}
    return per_path[kind] * degree ** (factors + 1)


def phase_exponents(factors: int) -> tuple[tuple[int, ...], int]:
    """The exponents (a_1, .., a_k) = (1, 3, .., 3^(k-2), 4 3^(k-2)) and N = 2 3^(k-1): (1, 4) and 6 for k = 2.

    With b = a_1 + .. + a_k, the average over all N-th roots of unity x of (sum_j Re x^{a_j} z_j)^k Re x^b z is
    k! 2^-k Re(z_1 ... z_k conj z): no monomial survives but the intended one and its conjugate (PRODUCTS.md, 3).

    Raises:
        ValueError: for fewer than 2 factors.
    """
    checked_integer("The number of factors", factors, 2)
    return (*(3**j for j in range(factors - 1)), 4 * 3 ** (factors - 2)), 2 * 3 ** (factors - 1)


def product_inputs(n: int, factors: int) -> NDArray[np.int64]:
    """All inputs (onehot(a_1), .., onehot(a_k)): shape (n^k, k n), in lexicographic order of (a_1, .., a_k)."""
    tuples = np.indices((n,) * factors).reshape(factors, -1)
    return np.concatenate(np.eye(n, dtype=np.int64)[tuples], axis=1)


def product_labels(group: FiniteGroup, factors: int) -> NDArray[np.int64]:
    """The products a_1 a_2 ... a_k in the order of `product_inputs`, shape (n^k,)."""
    labels = np.arange(group.order)
    for _ in range(factors - 1):
        labels = group.table[labels].reshape(-1)
    return labels


def _paths(parts: Sequence[Array]) -> Array:
    """The rows (P_1[i_0 i_1], .., P_k[i_{k-1} i_k], P_{k+1}[i_0 i_k]) over all indices; each part is (n, d, d)."""
    d, k = parts[0].shape[1], len(parts) - 1
    i = np.array(list(product(range(d), repeat=k + 1))).T
    pairs = [*((i[j], i[j + 1]) for j in range(k)), (i[0], i[k])]
    return np.concatenate([part[:, row, column].T for part, (row, column) in zip(parts, pairs, strict=True)], axis=1)


def _signed(parts: Sequence[Array], factors: int) -> Array:
    """The rows of `_paths` with all signs e_2, .., e_k on u_2, .., u_k and their product on w."""
    signs = [(1, *rest, prod(rest)) for rest in product((1, -1), repeat=factors - 1)]
    return np.concatenate([_paths([e * part for e, part in zip(row, parts, strict=True)]) for row in signs])


def _real_part(entries: Array, t: int, N: int) -> Array:
    """The real part of x R for x = e^(2 pi i t / N)."""
    if entries.dtype != object:
        return np.real(np.exp(2j * np.pi * t / N) * entries)
    root, values = root_of_unity(t, N), np.empty(entries.shape, dtype=object)
    for index, value in np.ndenumerate(entries):
        values[index] = (root * value).real
    return values


def _coordinate(quaternions: Array, p: int, q: int) -> Array:
    """The real part of conj(p) z q, that is of z q conj(p), for units p, q: up to sign one coordinate of z."""
    unit = int(PRODUCT_INDEX[q, p])
    return int(CONJUGATION[p] * PRODUCT_SIGN[q, p] * PRODUCT_SIGN[unit, unit]) * quaternions[..., unit]


def _scaled(neurons: Array, square: int, exact: bool) -> Array:
    """The neurons times the root of ``square``."""
    return neurons * sqrt_rational(square) if exact else neurons * np.sqrt(square)


def _refuse_wrong_lists(irreps: Sequence[TypedIrrep]) -> None:
    """Refuse mixed groups or arithmetics, trivial irreps, and two that are equivalent or conjugate."""
    if not irreps:
        raise ValueError("There must be at least one nontrivial irreducible representation.")
    if any(R.group != irreps[0].group or R.exact != irreps[0].exact for R in irreps):
        raise ValueError("The representations must belong to one group, and be all exact or all in floats.")
    for R in irreps:
        if R.degree == 1 and abs(np.mean(R.character)) > 0.5:  # the mean is 1 for the trivial one and else 0
            raise ValueError(f"{R.name} is trivial; it has no place in the network.")
    if repeated := repeated_pair(np.array([R.character for R in irreps])):
        row, column, _ = repeated
        raise ValueError(
            f"{irreps[row].name} and {irreps[column].name} are equivalent or conjugate; only one may be given."
        )
