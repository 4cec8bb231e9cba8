"""Codes of positions: one-hot, binary, and tables of relative keys, all of integers.

Near-orthogonal codes are in `lemmata.numerics.groups.codes`.
Positions count from 0. Absolute codes are the rows of an array, one for each position, which an embedding adds to its
tokens or puts beside them; a relative table is the `relative_keys` of a `Head`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.systems import Array

Integers = NDArray[np.int64]


def one_hot_codes(n: int) -> Integers:
    """The n unit vectors, shape (n, n)."""
    _require_positive("number of positions", n)
    return np.eye(n, dtype=np.int64)


def binary_digits(numbers: ArrayLike, bits: int) -> Integers:
    """The last ``bits`` binary digits of integers, most significant first: shape (..., bits), entries 0 and 1.

    Raises:
        ValueError: for numbers that are no integers, or no bits.
    """
    _require_positive("number of bits", bits)
    values = np.asarray(numbers)
    if values.dtype.kind not in "iu":
        raise ValueError(f"Binary digits are of integers, not of numbers of type {values.dtype}.")
    return (values[..., None] >> np.arange(bits - 1, -1, -1) & 1).astype(np.int64)


def binary_codes(n: int, bits: int | None = None) -> Integers:
    """The binary digits of 0, ..., n - 1, most significant first: shape (n, bits).

    Args:
        n: the number of positions.
        bits: as few as are enough if None.

    Raises:
        ValueError: if n < 1, or n > 2^bits.
    """
    _require_positive("number of positions", n)
    bits = max((n - 1).bit_length(), 1) if bits is None else bits
    if n > 2**bits:
        raise ValueError(f"There are only {2**bits} binary codes of {bits} bits, not {n}.")
    return binary_digits(np.arange(n), bits)


def relative_table(keys: Mapping[int, ArrayLike], key_dimension: int) -> Array:
    """The table of relative keys with the given vectors at the given distances, else 0: shape (largest + 1, m).

    Args:
        keys: vectors of shape (m,) by their distance i - j >= 0.
        key_dimension: m.

    Raises:
        ValueError: for no vector, a negative distance, or another shape.
    """
    if not keys or min(keys) < 0:
        raise ValueError(f"A table needs keys at distances >= 0, not at {sorted(keys)}.")
    vectors = {distance: np.asarray(key) for distance, key in keys.items()}
    result = np.zeros((max(keys) + 1, key_dimension), dtype=np.result_type(np.int64, *vectors.values()))
    for distance, key in vectors.items():
        if key.shape != (key_dimension,):
            raise ValueError(f"The key at distance {distance} has shape {key.shape}, not ({key_dimension},).")
        result[distance] = key
    return result


def _require_positive(what: str, number: int) -> None:
    if number < 1:
        raise ValueError(f"The {what} must be at least 1, not {number}.")
