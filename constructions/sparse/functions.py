"""Sparse functions of strings: the positions that they read, and their values.

A function f of strings of length T over 0, ..., M - 1 is I-sparse if it reads the positions of I alone; symmetric if
M = 2 and it depends on the number r of ones at I alone; gamma-strictly monotone if f(r + 1) >= f(r) + gamma. A vector
valued function is gamma-injective if values differ by gamma or more in a coordinate whenever the strings differ on I.

Source: variable-creation, definition-A.bool.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike

from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array

__all__ = ["SparseFunction", "checked_indices", "is_strictly_monotone", "separation", "sparse_function"]


@dataclass(frozen=True, eq=False)
class SparseFunction:
    """A function of strings of length T that reads the positions I alone; `sparse_function` builds it.

    Attributes:
        length: T.
        indices: I, s different positions 0, ..., T - 1, in the order in which the table of values reads them.
        alphabet: M, the number of symbols 0, ..., M - 1.
        values: exact numbers, M^s of them, at 0..00, 0..01, ..., the first position of I most significant; or s + 1,
            by the number of ones, if `symmetric`.
        symmetric: whether the values go by the number of ones.
    """

    length: int
    indices: tuple[int, ...]
    alphabet: int
    values: Array
    symmetric: bool

    @property
    def sparsity(self) -> int:
        """s, the number of positions that are read."""
        return len(self.indices)

    def at(self, symbols: ArrayLike) -> Array:
        """The values at strings of symbols at I alone, in the order of `indices`: shape (...) for (..., s)."""
        read = np.asarray(symbols)
        places = self.alphabet ** np.arange(self.sparsity)[::-1]
        return self.values[read.sum(axis=-1) if self.symmetric else read @ places]

    def __call__(self, strings: ArrayLike) -> Array:
        """The values at whole strings: shape (...) for symbols of shape (..., T).

        Raises:
            ValueError: for strings of another length, or other symbols.
        """
        symbols = np.asarray(strings)
        if symbols.shape[-1:] != (self.length,) or not np.isin(symbols, range(self.alphabet)).all():
            raise ValueError(
                f"The strings must have {self.length} symbols 0, ..., {self.alphabet - 1}, not the shape "
                f"{symbols.shape} or other symbols."
            )
        return self.at(symbols[..., list(self.indices)])

    def words(self) -> Array:
        """All strings of symbols at I, shape (M^s, s), in the order of a table of values."""
        return np.array(list(product(range(self.alphabet), repeat=self.sparsity)), dtype=np.int64)


def sparse_function(
    length: int,
    indices: Iterable[int],
    values: str | ArrayLike | Sequence[Any] | Callable[..., Any],
    *,
    alphabet: int = 2,
) -> SparseFunction:
    """The function of strings of length T with the given values on the positions I.

    Args:
        length: T.
        indices: I, different positions, counted from 0.
        values: M^s exact numbers, at 0..00, 0..01, ..., also as a string of digits; or, of bits, s + 1 numbers, by the
            number of ones at I; or a Python function of the s symbols.
        alphabet: M >= 2.

    Raises:
        ValueError: for indices that are out of range or repeated, no index, a wrong number of values, and values that
            are not exact.
    """
    T = checked_integer("The length of the strings", length, 1)
    M = checked_integer("The number of symbols", alphabet, 2)
    read = checked_indices(T, indices)
    s = len(read)
    if callable(values):
        values = [values(*word) for word in product(range(M), repeat=s)]
    table = as_exact(list(values) if isinstance(values, str) else np.asarray(values, dtype=object))
    symmetric = M == 2 and len(table) == s + 1
    if table.ndim != 1 or not (symmetric or len(table) == M**s):
        by_count = f", or {s + 1} by the number of ones," if M == 2 else ""
        raise ValueError(
            f"A function of {s} symbols out of {M} has {M**s} values{by_count} but {table.size} are given."
        )
    return SparseFunction(T, read, M, table, symmetric)


def checked_indices(length: int, indices: Iterable[int]) -> tuple[int, ...]:
    """The indices as a tuple.

    Raises:
        ValueError: if there is none, one leaves 0..T-1, or one occurs twice.
    """
    read = tuple(operator.index(i) for i in indices)
    outside = [i for i in read if not 0 <= i < length]
    if not read or outside:
        what = f"but {outside} lie outside" if outside else "but there is none"
        raise ValueError(f"The function must read one or more of the positions 0..{length - 1}, {what}.")
    repeated = sorted({i for i in read if read.count(i) > 1})
    if repeated:
        raise ValueError(f"The positions that the function reads must be different, but it repeats {repeated}.")
    return read


def separation(values: ArrayLike) -> fmpq:
    """The least distance of two rows in the largest coordinate, exactly: the gamma for which a table is injective.

    Args:
        values: exact numbers, shape (n, k), n >= 2.

    Raises:
        ValueError: for fewer than two rows.
    """
    rows = as_exact(values)
    if rows.ndim != 2 or len(rows) < 2:
        raise ValueError(f"A separation is of two or more rows (n, k), not of the shape {rows.shape}.")
    return min(max(abs(a - b) for a, b in zip(x, y, strict=True)) for x, y in combinations(rows.tolist(), 2))


def is_strictly_monotone(by_count: ArrayLike | Sequence[Any], gamma: object) -> bool:
    """Whether values by the number of ones grow by gamma or more in every step."""
    values, (step,) = as_exact(by_count), as_exact([gamma])
    return all(b - a >= step for a, b in pairwise(values.tolist()))
