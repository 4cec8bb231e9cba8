"""From a solver's floats to a proof in integers that `lemmata.certificates.operation_kernel` accepts.

A relaxation gives multipliers, and a matrix P in floats that is nearly positive semidefinite and nearly satisfies the
identity of polynomials of its kind. The multipliers are rounded to integers first; they fix the identity. P is then
rounded to integers over the same denominator and moved onto the identity exactly: the defect of each coefficient is
spread over the entries that contribute to it, which is the orthogonal projection but for the rounding. What is left is
to choose t and t': adding s to both adds s W to P, with a diagonal matrix W >= 1 of the multinomial coefficients of
|x|^(4 + 2r) and of |x|^(2r)|z|^2, so the least s is an eigenvalue. It is taken a little larger, such that the integer
Cholesky factor of the kernel exists, and it is negative where the solver left room.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lemmata.certificates import operation_kernel
from lemmata.certificates.operations.forms import Kind, form_matrices, monomials, multinomials, plane_matrices, residual
from lemmata.certificates.operations.programs import Relaxation
from lemmata.numerics.operations.operation import MISSING, Cell, Operation

__all__ = [
    "KINDS",
    "GramIdentity",
    "RoundedBound",
    "RoundedProof",
    "UnseenPart",
    "expected_coefficients",
    "least_shift",
    "rounded_bound",
    "rounded_multipliers",
    "rounded_part",
    "rounded_proof",
]

Integers = NDArray[np.int64]

KINDS: dict[Kind, str] = {"plane": "plane", 4: "degree 4", 6: "degree 6"}
"""The names of the kinds of proofs in documents."""
BITS = 44
"""Of the common denominator of multipliers and matrices: their rounding costs about 10^-12 of the bound."""
ROOM = 2.0**-46
"""How far, relative to the largest entry of P and per row, the least eigenvalue is kept above zero: more than the
errors of its computation in floats."""


@dataclass(frozen=True, eq=False)
class RoundedProof:
    """A proof that phi^2 <= t t' for a tensor of rational numbers.

    Attributes:
        kind: ``"plane"``, ``"degree 4"`` or ``"degree 6"``.
        t, t_prime: t and t'.
        denominator: of the entries of P.
        matrix: P times the denominator, symmetric, shape (n, n).
        loss: by how much sqrt(t t') is above that of the floats, relative to it.
    """

    kind: str
    t: Fraction
    t_prime: Fraction
    denominator: int
    matrix: Integers
    loss: float

    @property
    def square(self) -> Fraction:
        """4/27 t t', the square of the bound on sum_k w_k x'M_k x over neurons of length 1."""
        return Fraction(4, 27) * self.t * self.t_prime

    @property
    def bound(self) -> float:
        """The root of `square`, in floats."""
        return sqrt(self.square)

    def document(self) -> dict[str, Any]:
        """The proof as it stands in documents (OPERATION_FORMAT.md)."""
        return {
            "kind": self.kind,
            "t": str(self.t),
            "t_prime": str(self.t_prime),
            "denominator": self.denominator,
            "matrix": [row[: i + 1] for i, row in enumerate(self.matrix.tolist())],
        }


@dataclass(frozen=True, eq=False)
class RoundedBound:
    """A proof that no network for a table has a margin above ``proof.bound``.

    Attributes:
        multipliers: nonnegative integers, one for each triple; q is their share in their sum.
        proof: for the tensor of q.
    """

    multipliers: tuple[int, ...]
    proof: RoundedProof


def rounded_bound(table: Operation, relaxation: Relaxation, *, bits: int = BITS) -> RoundedBound:
    """The proof in integers that a relaxation of the maximum margin leads to.

    Args:
        table: the table.
        relaxation: multipliers and a matrix that nearly prove a bound.
        bits: of the denominator, from 16 to 52.

    Raises:
        ValueError: for shapes that do not fit the table, numbers that are not finite, multipliers without a positive
            one, and bits out of range.
    """
    multipliers = rounded_multipliers(relaxation.q, bits)
    tensor = residual(table, np.array(multipliers, np.int64))
    proof = rounded_proof(
        tensor, sum(multipliers), relaxation.kind, relaxation.matrix, relaxation.t, relaxation.t_prime
    )
    return RoundedBound(multipliers, proof)


@dataclass(frozen=True, eq=False)
class UnseenPart:
    """A proof that -/+ G, a difference of outputs at an unseen cell, is positive in all networks of some margin.

    Attributes:
        multipliers: nonnegative integers, one for each triple of the table.
        denominator: of the multipliers.
        proof: for the tensor of sum_abc (multiplier/denominator) h_abc -/+ G.
    """

    multipliers: tuple[int, ...]
    denominator: int
    proof: RoundedProof

    def bound(self, threshold: float) -> float:
        """What every network of margin at least ``threshold`` has as +/- G at least, in floats."""
        return threshold * sum(self.multipliers) / self.denominator - self.proof.bound


def rounded_part(
    table: Operation,
    cell: Cell,
    label: int,
    weights: Sequence[int],
    sign: int,
    multipliers: ArrayLike,
    kind: Kind,
    matrix: NDArray[np.float64],
    t: float,
    t_prime: float,
    *,
    bits: int = 40,
) -> UnseenPart:
    """The proof in integers for the tensor of sum l_abc h_abc + sign G, from floats.

    Args:
        table: in which the cell is not given.
        cell: the unseen one.
        label: y, the true label there: G = f_y - sum_c p_c f_c.
        weights: C nonnegative integers, 0 at y; p is their share in their sum.
        sign: -1 for a lower bound of G, 1 for one of -G.
        multipliers: l, about nonnegative, one for each triple.
        kind, matrix, t, t_prime: of the relaxation, as in `rounded_proof`.
        bits: of the denominator of l; that of the proof is this power of two times the sum of the weights.

    Raises:
        ValueError: for a cell that is given, weights that do not fit, a sign other than 1 and -1, multipliers that are
            not finite or too large, and as `rounded_proof`.
    """
    a, b = cell
    if table.values[a][b] != MISSING:
        raise ValueError(f"Cell ({a}, {b}) is given in the table; only one that is missing is unseen.")
    total = sum(weights)
    if len(weights) != table.label_count or min(weights) < 0 or weights[label] or total == 0 or sign not in (1, -1):
        raise ValueError(
            f"The weights must be {table.label_count} nonnegative integers, 0 at the true label {label} and not all 0, "
            f"and the sign 1 or -1; these are {list(weights)} and {sign}."
        )
    values = np.maximum(np.asarray(multipliers, float), 0) * 2.0**bits
    if not np.isfinite(values).all() or max(float(values.sum()), 2.0**bits) * total > 2.0**61:
        raise ValueError(f"The multipliers must be finite, and not too large for {bits} bits.")
    whole = np.rint(values).astype(np.int64)
    unit = total << bits
    tensor = residual(table, whole) * total
    tensor[a, b, label] += sign * unit
    tensor[a, b] -= sign * (np.array(weights, np.int64) << bits)
    proof = rounded_proof(tensor, unit, kind, matrix, t, t_prime)
    return UnseenPart(tuple(int(x) for x in whole), 1 << bits, proof)


def rounded_multipliers(q: ArrayLike, bits: int = BITS) -> tuple[int, ...]:
    """The integers nearest to q / sum q * 2^bits, with zeros for negative entries of q.

    Raises:
        ValueError: for entries that are not finite, none that is positive, and bits out of range.
    """
    if not 16 <= bits <= 52:
        raise ValueError(f"Multipliers are rounded to 16 to 52 bits, not {bits}.")
    values = np.asarray(q, float)
    if not np.isfinite(values).all() or not (values > 0).any():
        raise ValueError("The multipliers must be finite numbers, one of them positive.")
    values = np.maximum(values, 0)
    return tuple(int(x) for x in np.rint(values / values.sum() * 2.0**bits))


def rounded_proof(
    tensor: Integers, unit: int, kind: Kind, matrix: NDArray[np.float64], t: float, t_prime: float
) -> RoundedProof:
    """The proof in integers for a tensor of rational numbers, from a matrix of floats.

    Args:
        tensor: R times ``unit``, integers, shape (|A|, |B|, C), of sum 0 over the last axis.
        unit: the denominator of the tensor, and of the proof; below 10^18.
        kind: ``"plane"``, 4 or 6.
        matrix: P in floats, or the matrix of order 2N of a plane.
        t, t_prime: in floats.

    Raises:
        ValueError: for an unknown kind, a matrix of the wrong shape or with numbers that are not finite, more than
            three labels for a plane, and a matrix so far from a proof that no t serves.
    """
    if kind not in KINDS:
        raise ValueError(f"A proof is of the kind plane, 4 or 6, not {kind!r}.")
    rows, columns, labels = tensor.shape
    order = proof_order(rows + columns, labels, kind)
    if matrix.shape != (order, order) or not np.isfinite(matrix).all():
        raise ValueError(f"The matrix of this proof must have order {order} and finite entries, not {matrix.shape}.")
    symmetric = (matrix + matrix.T) / 2
    build = _plane if kind == "plane" else _gram
    P, scales, weights = build(tensor, kind, symmetric * unit, round(t * unit), round(t_prime * unit))
    slack = least_shift(P, weights)
    P += np.diag(slack * weights)
    first = scales[0] + slack
    second = Fraction(first, 2) if kind == "plane" else Fraction(scales[1] + slack)
    if first <= 0 or second <= 0:
        raise ValueError("The matrix leads to no proof: t and t' must be positive.")
    rounded = RoundedProof(KINDS[kind], Fraction(first, unit), second / unit, unit, P, 0.0)
    before = 2 / sqrt(27) * (abs(t) / sqrt(2) if kind == "plane" else sqrt(abs(t * t_prime)))
    loss = rounded.bound / before - 1 if before else 0.0
    return RoundedProof(rounded.kind, rounded.t, rounded.t_prime, unit, P, loss)


def proof_order(size: int, labels: int, kind: Kind) -> int:
    """The order of the matrix of a proof, for N = ``size`` and C = ``labels``.

    Raises:
        ValueError: for a plane and more than three labels.
    """
    if kind == "plane":
        if labels > 3:
            raise ValueError(f"The program of a plane is for at most three labels, not {labels}.")
        return 2 * size
    if kind == 4:
        return size * (size + 1) // 2 + labels
    return size * (size + 1) * (size + 2) // 6 + size * labels


def least_shift(P: Integers, weights: Integers) -> int:
    """The least s, with some room, such that P + s diag(weights) is positive semidefinite; weights are positive."""
    roots = np.sqrt(weights.astype(float))
    scaled = P / np.outer(roots, roots)
    room = len(P) * (ROOM * float(np.abs(scaled).max()) + 2)
    return int(np.ceil(room - float(np.linalg.eigvalsh(scaled)[0])))


# ---- planes


def _plane(
    tensor: Integers, kind: Kind, matrix: NDArray[np.float64], t: int, t_prime: int
) -> tuple[Integers, tuple[int, int], Integers]:
    """The matrix of a plane with the skew part of the floats, t and t' of it, and what t multiplies in its diagonal."""
    A, B = plane_matrices(form_matrices(tensor))
    N = len(A)
    lower = np.tril(np.rint((matrix[N:, :N] - matrix[N:, :N].T) / 2).astype(np.int64), -1)
    skew = lower - lower.T
    one = t * np.eye(N, dtype=np.int64)
    P = np.block([[one + A, 3 * B - skew], [3 * B + skew, 3 * (one - A)]])
    return P, (t, t_prime), np.repeat(np.array([1, 3]), N)


# ---- Gram matrices


@dataclass(frozen=True, eq=False)
class GramIdentity:
    """Which entries of P contribute to which coefficient of m'P m; entries are those of the lower triangle, by rows.

    ``monomials``: the sorted tuples of variables; ``keys``: of each entry the number of its monomial; ``counts``: 1 on
    the diagonal, 2 beside it; ``totals``: the sums of the counts of each monomial; ``spare``: an entry of each
    monomial, on the diagonal where there is one.
    """

    monomials: tuple[tuple[int, ...], ...]
    keys: Integers
    counts: Integers
    totals: Integers
    spare: Integers

    @classmethod
    def of(cls, vector: Sequence[tuple[int, ...]]) -> GramIdentity:
        """That of the vector m, in which the squares have distinct coefficients."""
        number: dict[tuple[int, ...], int] = {}
        keys = [
            number.setdefault(tuple(sorted(m + vector[j])), len(number))
            for i, m in enumerate(vector)
            for j in range(i + 1)
        ]
        counts = np.full(len(keys), 2, np.int64)
        diagonal = np.array([i * (i + 3) // 2 for i in range(len(vector))])
        counts[diagonal] = 1
        totals, spare = np.zeros(len(number), np.int64), np.zeros(len(number), np.int64)
        np.add.at(totals, keys, counts)
        spare[keys] = np.arange(len(keys))
        spare[np.array(keys)[diagonal]] = diagonal
        return cls(tuple(number), np.array(keys), counts, totals, spare)

    def gram(self, expected: Mapping[tuple[int, ...], int], matrix: NDArray[np.float64]) -> Integers:
        """The integer P near a symmetric matrix for which m'P m has the expected coefficients."""
        required = np.array([expected.get(m, 0) for m in self.monomials])
        n = len(matrix)
        i, j = np.tril_indices(n)
        entries = np.rint(matrix[i, j]).astype(np.int64)
        found = np.zeros(len(required), np.int64)
        np.add.at(found, self.keys, self.counts * entries)
        share, rest = np.divmod(required - found, self.totals)
        entries += share[self.keys]
        entries[self.spare] += rest // self.counts[self.spare]
        P = np.zeros((n, n), np.int64)
        P[i, j] = P[j, i] = entries
        return P


@lru_cache(maxsize=32)
def _identity(size: int, labels: int, r: int) -> tuple[GramIdentity, Integers]:
    """The identity of degree 4 + 2r, and the diagonal W of the module."""
    squares = monomials(size, 2 + r)
    beside = [(*m, size + k) for m in monomials(size, r) for k in range(labels)]
    return GramIdentity.of([*squares, *beside]), np.array(multinomials(squares) + [1] * len(beside))


def _gram(
    tensor: Integers, kind: Kind, matrix: NDArray[np.float64], t: int, t_prime: int
) -> tuple[Integers, tuple[int, int], Integers]:
    """P on the identity for t and t', and the weights."""
    rows, columns, labels = tensor.shape
    identity, weights = _identity(rows + columns, labels, int(kind == 6))
    P = identity.gram(expected_coefficients(tensor, int(kind == 6), t, t_prime), matrix)
    return P, (t, t_prime), weights


def expected_coefficients(tensor: Integers, r: int, t: int, t_prime: int) -> dict[tuple[int, ...], int]:
    """The coefficients of |x|^(2r) (t|x|^4 - 2 sum_k z_k x'M_k x + t'|z|^2), all times the unit of the tensor."""
    rows, columns, labels = tensor.shape
    size = rows + columns
    bracket = {(i, i, j, j): t * (1 if i == j else 2) for i, j in monomials(size, 2)}
    bracket |= {(size + k, size + k): t_prime for k in range(labels)}
    for k, form in enumerate(operation_kernel.forms(tensor.tolist())):
        bracket |= {(i, j, size + k): -2 * coefficient for (i, j), coefficient in form.items()}
    expected: Counter[tuple[int, ...]] = Counter()
    for m, coefficient in bracket.items():
        for factor in [(i, i) for i in range(size)] if r else [()]:
            expected[tuple(sorted(m + factor))] += coefficient
    return expected
