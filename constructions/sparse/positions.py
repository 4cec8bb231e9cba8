"""Vectors for positions: given, orthonormal, Hadamard, random signs, or codes for a million tokens that are not stored.

Positions are unit vectors v_0, ..., v_(T-1) with rational coordinates, held as integers over one denominator, so that
inner products are exact and quick. Their coherence is the largest |<v_i, v_j>|, i != j. A random family with entries
+-1/Q in d = Q^2 dimensions has a coherence of at most Delta as soon as d > 4 log(T)/Delta^2, with positive probability.

Source: variable-creation, setup-A.2.1b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.constructions.networks.positions import one_hot_codes
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.rationals import common_denominator
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.groups.codes import hadamard_words, near_orthogonal_codes, reed_solomon_words

__all__ = [
    "CodedPositions",
    "PositionTable",
    "Positions",
    "coherence",
    "gram_matrix",
    "hadamard_positions",
    "integral",
    "orthonormal_positions",
    "position_table",
    "random_sign_positions",
]

MOST_ORTHONORMAL = 4096
_LARGEST = 2**62
_BLOCK = 2**16


@dataclass(frozen=True, eq=False)
class PositionTable:
    """Position vectors that are stored; `position_table` builds them.

    Attributes:
        numerators: integers, shape (T, d).
        denominator: the vectors are numerators / denominator.
    """

    numerators: Array
    denominator: int

    @property
    def count(self) -> int:
        """T."""
        return len(self.numerators)

    @property
    def dimension(self) -> int:
        """d."""
        return self.numerators.shape[1]

    @property
    def rows_denominator(self) -> int:
        """A number that makes all vectors integral."""
        return self.denominator

    def rows(self, indices: ArrayLike) -> Array:
        """The vectors of the indices, exact, shape (..., d)."""
        return as_exact(self.numerators[np.asarray(indices)]) / fmpq(self.denominator)

    def products(self, vector: ArrayLike) -> tuple[Array, fmpq]:
        """Integers n_t, shape (T,), and the unit q > 0 with <v_t, vector> = n_t q, for an exact vector (d,)."""
        integers, scale = integral(vector)
        return _integer_product(self.numerators, integers), fmpq(1, self.denominator * scale)


@dataclass(frozen=True)
class CodedPositions:
    """The near-orthogonal codes u_t / Q of up to Q^k positions in Q^2 dimensions, computed when they are needed.

    Their inner products lie in 0, 1/Q, ..., (k - 1)/Q; see `lemmata.numerics.groups.codes.near_orthogonal_codes`.

    Attributes:
        count: T, at most Q^k.
        order: Q, a power of two, at least 2.
        terms: k, at most Q.

    Raises:
        ValueError: for other numbers.
    """

    count: int
    order: int
    terms: int

    def __post_init__(self) -> None:
        near_orthogonal_codes(1, self.order, self.terms)  # refuses a field or terms that do not exist
        if not 1 <= checked_integer("The number of positions", self.count, 1) <= self.order**self.terms:
            raise ValueError(
                f"There are {self.order**self.terms} codes of {self.terms} terms over a field of {self.order} "
                f"elements, too few for {self.count} positions."
            )

    @property
    def rows_denominator(self) -> int:
        """A number that makes all vectors integral."""
        return self.order

    @property
    def dimension(self) -> int:
        """d = Q^2."""
        return self.order**2

    def rows(self, indices: ArrayLike) -> Array:
        """The vectors of the indices, exact, shape (..., d)."""
        signs = hadamard_words(self._words(np.asarray(indices)), self.order)
        return as_exact(signs.reshape(*signs.shape[:-2], -1)) / fmpq(self.order)

    def products(self, vector: ArrayLike) -> tuple[Array, fmpq]:
        """Integers n_t, shape (T,), and the unit q > 0 with <v_t, vector> = n_t q, for an exact vector (d,)."""
        integers, scale = integral(vector)
        Q = self.order
        words = hadamard_words(np.arange(Q), Q)
        table = np.array([_integer_product(words, part) for part in integers.reshape(Q, Q)])  # [place, symbol]
        result = np.empty(self.count, dtype=table.dtype)
        for start in range(0, self.count, _BLOCK):
            indices = np.arange(start, min(start + _BLOCK, self.count))
            result[indices] = table[np.arange(Q), self._words(indices)].sum(axis=-1)
        return result, fmpq(1, Q * scale)

    @property
    def coherence_bound(self) -> fmpq:
        """(k - 1)/Q, which no inner product exceeds."""
        return fmpq(self.terms - 1, self.order)

    def _words(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        digits = indices[..., None] // self.order ** np.arange(self.terms) % self.order
        return reed_solomon_words(digits, self.order)


Positions = PositionTable | CodedPositions


def gram_matrix(positions: Positions, indices: ArrayLike) -> Array:
    """<v_i, v_j> of the chosen positions, exact, shape (s, s)."""
    rows = positions.rows(indices)
    return exact_matmul(rows, rows.T)


def position_table(vectors: ArrayLike) -> PositionTable:
    """The position vectors, shape (T, d), exact numbers.

    Raises:
        ValueError: for another shape, numbers that are not exact, or a vector whose length is not 1.
    """
    rows = as_exact(vectors)
    if rows.ndim != 2 or not rows.size:
        raise ValueError(f"Positions are vectors of shape (T, d), not of the shape {rows.shape}.")
    numerators, denominator = integral(rows)
    squares = (numerators.astype(object) ** 2).sum(axis=1)
    for t, square in enumerate(squares.tolist()):
        if square != denominator**2:
            length = fmpq(square, denominator**2)
            raise ValueError(f"Positions are unit vectors, but number {t} has the squared length {length}.")
    return PositionTable(numerators, denominator)


def orthonormal_positions(count: int) -> PositionTable:
    """The T unit vectors of R^T: coherence 0.

    Raises:
        ValueError: for more than `MOST_ORTHONORMAL`, whose T^2 coordinates are stored.
    """
    if count > MOST_ORTHONORMAL:
        raise ValueError(
            f"{count} orthonormal positions have {count}^2 coordinates: at most {MOST_ORTHONORMAL} are built. "
            "Nearly orthogonal positions have fewer: give a coherence such as 1/4 (--coherence 1/4)."
        )
    return PositionTable(one_hot_codes(count), 1)


def hadamard_positions(exponent: int) -> PositionTable:
    """The 2 d unit vectors of R^d and of a Hadamard basis, for d = 4^exponent: coherence exactly 1/sqrt(d)."""
    root = 2 ** checked_integer("The exponent", exponent, 1)
    size = root**2
    return PositionTable(np.concatenate([root * one_hot_codes(size), hadamard_words(np.arange(size), size)]), root)


def random_sign_positions(count: int, root: int, seed: int) -> PositionTable:
    """T random sign vectors +-1/Q in d = Q^2 dimensions."""
    T, Q = checked_integer("The number of positions", count, 1), checked_integer("The root of d", root, 1)
    signs = np.random.default_rng(seed).integers(0, 2, (T, Q * Q), dtype=np.int64)
    return PositionTable(2 * signs - 1, Q)


def coherence(positions: PositionTable, among: int | None = None) -> tuple[fmpq, tuple[int, int]]:
    """The largest |<v_i, v_t>|, i != t, i below ``among`` (all if None), and a pair (i, t) that attains it.

    Raises:
        ValueError: for a single position.
    """
    if positions.count < 2:
        raise ValueError("The coherence is of two or more positions.")
    last = positions.count if among is None else among
    numerators = positions.numerators
    best, pair = -1, (0, 1)
    for i in range(last):
        products = abs(_integer_product(numerators, numerators[i]))
        products[i] = -1
        t = int(np.argmax(products))
        if products[t] > best:
            best, pair = int(products[t]), (i, t)
    return fmpq(best, positions.denominator**2), pair


def integral(numbers: ArrayLike) -> tuple[Array, int]:
    """Integers of the same shape, and the denominator q > 0 with numbers = integers / q; int64 if they fit."""
    exact = as_exact(numbers)
    scale = common_denominator(exact.ravel().tolist())
    values = np.array([int((x * scale).p) for x in exact.ravel().tolist()], dtype=object).reshape(exact.shape)
    return (values.astype(np.int64) if all(abs(x) < _LARGEST for x in values.flat) else values), scale


def _integer_product(matrix: Array, vector: Array) -> Array:
    """matrix @ vector exactly, in int64 where nothing can overflow."""
    largest = int(abs(matrix).max(initial=0)) * int(sum(abs(x) for x in vector.tolist()))
    if matrix.dtype == vector.dtype == np.int64 and largest < _LARGEST:
        return matrix @ vector
    return matrix.astype(object) @ vector.astype(object)
