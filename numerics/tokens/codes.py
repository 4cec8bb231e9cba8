"""Position codes for token regression: unit vectors whose correlations are read off an integer Gram matrix.

The codes omega_1, ..., omega_N are integer vectors v_i over the root of one integer s = |v_i|^2. Their correlations are
<v_i, v_j> / s, so that the integer matrix of the <v_i, v_j> proves the assumption of the positive results,

    |<omega_i, omega_j>| <= 1/2 for i != j        that is        2 |<v_i, v_j>| <= s,

or names the pairs that violate it. Positions count from 0.

Source: qstr, assumption-3 and lemma-11 (the codes of correlation 1/2, for which its bound is nearly attained).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.rationals import rational_root
from lemmata.numerics.exact.systems import Arithmetic, Array
from lemmata.numerics.groups.codes import near_orthogonal_codes, near_orthogonal_parameters

__all__ = [
    "Integers",
    "PositionCodes",
    "extremal_codes",
    "field_codes",
    "linear_codes",
    "orthonormal_codes",
    "random_sign_codes",
    "scaled_integers",
    "sign_code_dimension",
]

Integers = NDArray[np.int64]
_BLOCK = 1024


@dataclass(frozen=True, eq=False)
class PositionCodes:
    """N unit vectors of dimension d_e, each an integer vector over the root of one integer.

    Attributes:
        vectors: v, integers, shape (N, d_e).
        square: s, the squared length of every v_i.

    Raises:
        ValueError: for another shape, entries that are no integers, or a vector of another length, which is named.
    """

    vectors: Integers
    square: int

    def __post_init__(self) -> None:
        vectors = np.array(self.vectors)
        if vectors.ndim != 2 or not vectors.size or vectors.dtype.kind not in "iu":
            raise ValueError(
                f"Position codes are integer vectors of shape (N, d_e), not of shape {vectors.shape} and type "
                f"{vectors.dtype}."
            )
        vectors = vectors.astype(np.int64)
        checked_integer("The squared length of position codes", self.square, 1)
        if float(np.abs(vectors).max()) ** 2 * vectors.shape[1] >= 2.0**62:
            raise ValueError("The entries of the position codes are too large: their products must stay below 2^62.")
        squares = (vectors**2).sum(axis=1)
        if (squares != self.square).any():
            i = int(np.argmax(squares != self.square))
            raise ValueError(f"Position codes have the squared length {self.square}, but number {i} has {squares[i]}.")
        vectors.flags.writeable = False
        object.__setattr__(self, "vectors", vectors)

    @property
    def count(self) -> int:
        """N."""
        return len(self.vectors)

    @property
    def dimension(self) -> int:
        """d_e."""
        return self.vectors.shape[1]

    @cached_property
    def gram(self) -> Integers:
        """The integers <v_i, v_j> = s <omega_i, omega_j>, shape (N, N): the certificate of every correlation."""
        return self._products(0, self.count)

    @cached_property
    def coherence(self) -> fmpq:
        """The largest |<omega_i, omega_j>|, i != j, exact; 0 for a single code."""
        largest = 0
        for start in range(0, self.count, _BLOCK):  # the whole matrix would not fit in memory for 10^5 codes
            part = np.abs(self._products(start, start + _BLOCK))
            rows = np.arange(len(part))
            part[rows, start + rows] = 0
            largest = max(largest, int(part.max()))
        return fmpq(largest, self.square)

    def violations(self) -> list[tuple[int, int, fmpq]]:
        """The pairs i < j with |<omega_i, omega_j>| > 1/2, and that correlation, exact."""
        result = []
        for start in range(0, self.count, _BLOCK):
            part = self._products(start, start + _BLOCK)
            for row, j in np.argwhere(2 * np.abs(part) > self.square).tolist():
                if start + row < j:
                    result.append((start + row, j, fmpq(int(part[row, j]), self.square)))
        return result

    def require_near_orthogonal(self) -> None:
        """ValueError that names a violating pair unless all correlations of different codes are at most 1/2."""
        pairs = self.violations()
        if pairs:
            i, j, value = pairs[0]
            more = f"; so do {len(pairs) - 1} more pairs" if len(pairs) > 1 else ""
            raise ValueError(
                f"Position codes must have correlations between -1/2 and 1/2, but numbers {i} and {j} have {value}"
                f"{more}: take more dimensions, or codes over a finite field."
            )

    def _products(self, start: int, stop: int) -> Integers:
        """<v_i, v_j> for start <= i < stop and all j. By Cauchy and Schwarz no sum on the way exceeds s."""
        part = self.vectors[start:stop]
        if self.square < 2**52:  # then floats are exact, and much faster
            return (part.astype(np.float64) @ self.vectors.T.astype(np.float64)).astype(np.int64)
        return part @ self.vectors.T

    def rows(self, indices: ArrayLike, system: Arithmetic = "float", scale: fmpq | int = 1) -> Array:
        """sqrt(scale) omega_i for the indices, shape (..., d_e), in a number system.

        Args:
            indices: positions from 0, integers.
            system: "float", "ball", or "exact".
            scale: the square of a common factor, a positive rational, such as d/q.

        Raises:
            ValueError: for indices out of range, and for exact numbers if sqrt(scale / s) is not rational.
        """
        chosen = np.asarray(indices)
        if chosen.dtype.kind not in "iu" or (chosen.size and not (chosen.min() >= 0 and chosen.max() < self.count)):
            raise ValueError(f"The positions are the integers 0, ..., {self.count - 1}.")
        return scaled_integers(self.vectors[chosen], fmpq(scale) / self.square, system)


def scaled_integers(integers: ArrayLike, square: fmpq, system: Arithmetic) -> Array:
    """sqrt(square) times integers, in a number system.

    Raises:
        ValueError: if the square is not positive, and for exact numbers if its root is not rational.
    """
    if square <= 0:
        raise ValueError(f"The square of a factor must be positive, not {square}.")
    values = np.asarray(integers)
    if system == "float":
        return values * math.sqrt(int(square.p) / int(square.q))
    if system == "ball":
        return values.astype(object) * arb(square).sqrt()
    root = rational_root(square)
    if root is None:
        raise ValueError(f"The factor sqrt({square}) is irrational: use balls or floats, or choose it a rational.")
    return as_exact(values) * root


def orthonormal_codes(count: int) -> PositionCodes:
    """The N unit vectors of R^N: all correlations are 0."""
    return PositionCodes(np.eye(checked_integer("The number of positions", count, 1), dtype=np.int64), 1)


def field_codes(count: int, order: int | None = None, terms: int | None = None) -> PositionCodes:
    """Reed-Solomon words with Hadamard words in place of their letters: N sign vectors over Q, in Q^2 dimensions.

    Args:
        count: N, at most Q^k.
        order: Q = 2^a; the smallest that admits N codes of correlations at most 1/2 if None.
        terms: k; the fewest that do if None. The correlations lie in 0, 1/Q, ..., (k-1)/Q.

    Raises:
        ValueError: for other numbers, or too many codes.
    """
    if order is None or terms is None:
        if order is not None or terms is not None:
            raise ValueError("Give the order of the field and the number of terms together, or neither.")
        order, terms = near_orthogonal_parameters(count)
    return PositionCodes(near_orthogonal_codes(count, order, terms), order**2)


def linear_codes(bits: int, checks: Sequence[int] = ()) -> PositionCodes:
    """2^k sign vectors over their length: 1, the signs of the k bits of the position, lowest first, and parity checks.

    Coordinate c of code j is (-1)^(the number of bits that j and mask c share), with the masks 0, 1, 2, 4, ... and then
    the given ones. So correlations depend on the exclusive or of two positions alone.

    Args:
        bits: k.
        checks: masks between 0 and 2^k - 1.

    Raises:
        ValueError: for other masks.
    """
    k = checked_integer("The number of bits", bits, 1)
    masks = [0, *(2**bit for bit in range(k)), *(checked_integer("A mask", mask, 0) for mask in checks)]
    if max(masks) >= 2**k:
        raise ValueError(f"The masks of parity checks are at most {2**k - 1}, and not {max(masks)}.")
    shared = np.arange(2**k)[:, None] & np.array(masks)
    return PositionCodes(1 - 2 * (np.bitwise_count(shared).astype(np.int64) % 2), len(masks))


def random_sign_codes(count: int, dimension: int, seed: int) -> PositionCodes:
    """N uniform vectors of {-1, 1}^(d_e) over sqrt(d_e); nothing guarantees small correlations."""
    N = checked_integer("The number of positions", count, 1)
    dimension = checked_integer("The dimension of position codes", dimension, 1)
    signs = np.random.default_rng(seed).integers(0, 2, (N, dimension), dtype=np.int64)
    return PositionCodes(2 * signs - 1, dimension)


def sign_code_dimension(count: int, failure: float) -> int:
    """The least d_e >= 8 ln(N(N-1)/delta): random sign codes violate the assumption with a probability <= delta.

    By Hoeffding's inequality a pair does with a probability of at most 2 exp(-d_e/8), and there are N(N-1)/2 pairs.

    Args:
        count: N >= 2.
        failure: delta, between 0 and 1.

    Raises:
        ValueError: for other numbers.
    """
    N = checked_integer("The number of positions", count, 2)
    if not 0 < failure < 1:
        raise ValueError(f"The probability of failure lies between 0 and 1, and is not {failure}.")
    return math.ceil(8 * math.log(N * (N - 1) / failure))


def extremal_codes(count: int) -> PositionCodes:
    """N rational unit vectors with all correlations exactly 1/2, in 2 N + 2 dimensions: the worst that is allowed.

    omega_i = (e_0 + e_0' + e_i + e_i') / 2: every basis vector is doubled, so that no root is needed.
    """
    N = checked_integer("The number of positions", count, 1)
    shared = np.ones((N, 2), dtype=np.int64)
    return PositionCodes(np.concatenate([shared, np.repeat(np.eye(N, dtype=np.int64), 2, axis=1)], axis=1), 4)
