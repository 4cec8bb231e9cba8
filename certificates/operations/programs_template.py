"""The monomials, moments and targets of a sum-of-squares program for one shape of tables and one kind.

A Gram matrix P in the monomials m proves m^T P m = target. Its dual is a moment matrix: a linear functional L on the
products of two monomials, its *moments*. All coordinates are scaled so that t times the identity is a Gram matrix of
the part of the target that belongs to t: raising t by delta adds delta times the identity, so that a Gram matrix that
is not quite positive semidefinite still proves a bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lemmata.certificates.operations.forms import Kind, monomials, multinomials

__all__ = ["Template", "template"]


@dataclass(frozen=True)
class Template:
    """A shape (|A|, |B|, C) and a kind. The variables are x_0, ..., x_{N-1}, then z_0, ..., z_{C-1}, or y_0, y_1."""

    rows: int
    columns: int
    labels: int
    kind: Kind

    @property
    def size(self) -> int:
        """N."""
        return self.rows + self.columns

    @cached_property
    def listed(self) -> tuple[tuple[int, ...], ...]:
        """The monomials of the Gram matrix, in the order of its rows."""
        N = self.size
        if self.kind == "plane":
            return tuple((i, N + j) for j in range(2) for i in range(N))
        r = (self.kind - 4) // 2
        return monomials(N, 2 + r) + tuple((*m, N + k) for m in monomials(N, r) for k in range(self.labels))

    @property
    def dimension(self) -> int:
        """The number of rows of the Gram matrix."""
        return len(self.listed)

    @cached_property
    def scale(self) -> NDArray[np.float64]:
        """The square roots of the coefficients of the squares of the monomials in the part of the target for t."""
        N = self.size
        if self.kind == "plane":
            return np.repeat([1.0, sqrt(3)], N)
        pure = [m for m in self.listed if m[-1] < N]
        return np.sqrt(np.array(multinomials(pure) + [1] * (self.dimension - len(pure)), float))

    @cached_property
    def _base(self) -> int:
        return self.size + max(self.labels, 2) + 1

    def _codes(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """A number for each row of indices of variables, the same for every order; the last index means none."""
        codes = np.zeros(len(indices), np.int64)
        for column in np.sort(indices, axis=1).T:
            codes = codes * self._base + column
        return codes

    @cached_property
    def _padded(self) -> NDArray[np.int64]:
        width = max(len(m) for m in self.listed)
        return np.array([m + (self._base - 1,) * (width - len(m)) for m in self.listed], np.int64)

    @cached_property
    def _moment_codes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        padded, d = self._padded, self.dimension
        pairs = np.concatenate([np.repeat(padded, d, axis=0), np.tile(padded, (d, 1))], axis=1)
        codes, inverse = np.unique(self._codes(pairs), return_inverse=True)
        return codes, inverse.reshape(d, d)

    @property
    def moment_of(self) -> NDArray[np.int64]:
        """Which moment the product of two monomials is, shape (dimension, dimension)."""
        return self._moment_codes[1]

    @property
    def moments(self) -> int:
        """The number of moments."""
        return len(self._moment_codes[0])

    @cached_property
    def norm(self) -> NDArray[np.float64]:
        """The coefficients, one for each moment, of the part of the target that belongs to t."""
        return np.bincount(np.diag(self.moment_of), weights=self.scale**2, minlength=self.moments).astype(float)

    @cached_property
    def gaussian(self) -> NDArray[np.float64]:
        """The moments of independent Gaussian variables, scaled so that their pairing with `norm` is 1.

        Those with z (or y) have the variance that makes both parts of the norm weigh the same; the moment matrix is
        positive definite.
        """
        digits, codes = [], self._moment_codes[0]
        for _ in range(2 * self._padded.shape[1]):
            digits.append(codes % self._base)
            codes = codes // self._base
        values = np.ones(self.moments)
        for variable in range(self._base - 1):
            power = sum((column == variable).astype(np.int64) for column in digits)
            values *= np.array([1.0, 0.0, 1.0, 0.0, 3.0, 0.0, 15.0])[power]
        if self.kind == "plane":
            values[sum((column == self.size + 1).astype(np.int64) for column in digits) == 2] /= 3
        else:
            mixed = sum(((column >= self.size) & (column < self._base - 1)).astype(np.int64) for column in digits) == 2
            values[mixed] *= (self.norm * values)[~mixed].sum() / (self.norm * values)[mixed].sum()
        return values / (self.norm @ values)

    @cached_property
    def target(self) -> sparse.csr_array:
        """The coefficients of the rest of the target in the entries of R, shape (moments, |A| |B| C)."""
        N, C, count = self.size, self.labels, self.rows * self.columns * self.labels
        a, b, k = np.unravel_index(np.arange(count), (self.rows, self.columns, C))
        a, b = a, b + self.rows
        squares = ((a, a, 1.0), (b, b, 1.0), (a, b, 2.0))
        factors: list[tuple[list[NDArray[np.int64]], NDArray[np.float64]]]
        if self.kind == "plane":
            first, second = np.full(count, N), np.full(count, N + 1)
            sign = np.array([1.0, -1.0, 0.0])[k]
            factors = [
                ([first, first], sign),
                ([second, second], -3 * sign),
                ([first, second], np.array([6.0, 6.0, 0.0])[k]),
            ]
        elif self.kind == 4:
            factors = [([N + k], np.full(count, -2.0))]
        else:
            factors = [([N + k, np.full(count, i), np.full(count, i)], np.full(count, -2.0)) for i in range(N)]
        width = 2 * self._padded.shape[1]
        none = np.full(count, self._base - 1)
        codes, values = [], []
        for left, right, coefficient in squares:
            for variables, weight in factors:
                used = [left, right, *variables]
                codes.append(self._codes(np.stack(used + [none] * (width - len(used)), axis=1)))
                values.append(coefficient * weight)
        index = np.searchsorted(self._moment_codes[0], np.concatenate(codes))
        entries = np.tile(np.arange(count), len(codes))
        return sparse.csr_array((np.concatenate(values), (index, entries)), shape=(self.moments, count))

    def image(self, permutation: NDArray[np.int64]) -> NDArray[np.int64]:
        """The permutation of the monomials that a permutation of the N + C points makes.

        Raises:
            ValueError: for the plane program, whose variables y_0, y_1 are no labels.
        """
        if self.kind == "plane":
            raise ValueError("The symmetries of labels do not permute the monomials of the plane program.")
        extended = np.arange(self._base)
        extended[: len(permutation)] = permutation
        codes = self._codes(self._padded)
        order = np.argsort(codes)
        return order[np.searchsorted(codes[order], self._codes(extended[self._padded]))]


@lru_cache(maxsize=16)
def template(rows: int, columns: int, labels: int, kind: Kind) -> Template:
    """The template of a shape and a kind, built once.

    Raises:
        ValueError: for another kind, and for "plane" with more than three labels.
    """
    if kind not in ("plane", 4, 6):
        raise ValueError(f'There is no program of kind {kind!r}; accepted are "plane", 4 and 6.')
    if kind == "plane" and labels > 3:
        raise ValueError(f"The plane program is for at most three labels, not for {labels}; take kind 4.")
    return Template(rows, columns, labels, kind)
