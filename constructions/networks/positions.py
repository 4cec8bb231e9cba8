"""Codes of positions: one-hot, binary, near-orthogonal, and tables of relative keys; all of integers.

Positions count from 0. Absolute codes are the rows of an array, one for each position, which an embedding adds to its
tokens or puts beside them; a relative table is the `relative_keys` of a `Head`.

Near-orthogonal codes are sign vectors: Q^k of them in Q^2 dimensions, for Q = 2^a. The code of the message (m_0, ...,
m_(k-1)) over the field F_Q is its Reed-Solomon word, the values at all Q elements x of the polynomial sum_i m_i x^i,
with every value s replaced by its Hadamard word, the Q signs (-1)^<s, t> over all t, with <s, t> the number of common
bits of s and t. The inner product of two codes is

    <u, v> = Q * (number of x where the two polynomials agree),

because Hadamard words of different values are orthogonal (s and s' differ in a bit, and flipping that bit of t changes
the sign of the product), those of equal values have the product Q, and the words stand side by side. Two different
polynomials of degree below k agree in at most k - 1 places. So the unit vectors u / Q have inner products in
{0, 1/Q, ..., (k-1)/Q}, at most 1/2 as soon as 2 (k - 1) <= Q; and if k <= Q the bound is attained.

Source: qstr, assumption-3 (b).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.exact.systems import Array
from numerics.groups.finite_fields import MAX_FIELD_ORDER, finite_field, prime_power

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


def reed_solomon_words(messages: ArrayLike, order: int) -> Integers:
    """The values of sum_i m_i x^i at the elements x = 0, ..., q - 1 of F_q: shape (..., q) for messages (..., k).

    Args:
        messages: elements of the field by their numbers; see `numerics.groups.finite_fields`.
        order: q, a prime power.

    Raises:
        ValueError: for entries that are no elements, or no field of that order.
    """
    field = finite_field(order)
    coefficients = np.asarray(messages)
    if coefficients.ndim < 1 or coefficients.dtype.kind not in "iu" or not np.isin(coefficients, range(order)).all():
        raise ValueError(f"A message holds elements 0, ..., {order - 1} of the field.")
    elements = np.arange(order)
    words = np.zeros((*coefficients.shape[:-1], order), dtype=np.int64)
    for place in reversed(range(coefficients.shape[-1])):  # Horner
        words = field.add[field.mul[words, elements], coefficients[..., place, None]]
    return words


def hadamard_words(symbols: ArrayLike, order: int) -> Integers:
    """The rows of Sylvester's matrix: signs (-1)^(common bits of s and t) for t = 0, ..., q - 1, shape (..., q).

    Args:
        symbols: integers 0, ..., q - 1.
        order: q, a power of two.

    Raises:
        ValueError: for another order, or symbols out of range.
    """
    rows = np.asarray(symbols)
    if order < 1 or order & (order - 1):
        raise ValueError(f"Hadamard words have a power of two as their length, not {order}.")
    if rows.dtype.kind not in "iu" or not ((rows >= 0) & (rows < order)).all():
        raise ValueError(f"Hadamard words belong to the symbols 0, ..., {order - 1}.")
    return 1 - 2 * (np.bitwise_count(rows[..., None] & np.arange(order)).astype(np.int64) & 1)


def near_orthogonal_codes(count: int, order: int, terms: int) -> Integers:
    """Sign vectors with inner products in {0, Q, ..., (k - 1) Q}, of squared length Q^2: shape (count, Q^2).

    The code of position i belongs to the polynomial whose coefficients are the digits of i in base Q, the lowest first;
    the proof stands at the head of this module.

    Args:
        count: the number of positions, at most Q^k.
        order: Q, a power of two, at least 2.
        terms: k, the number of coefficients, at most Q.

    Raises:
        ValueError: for other numbers.
    """
    decomposition = prime_power(order)
    if decomposition is None or decomposition[0] != 2:
        raise ValueError(f"Near-orthogonal codes need a field whose order is a power of two, not {order}.")
    if not 1 <= terms <= order:
        raise ValueError(f"The polynomials over a field of {order} elements have 1 to {order} terms, not {terms}.")
    if not 1 <= count <= order**terms:
        raise ValueError(f"There are {order**terms} polynomials of {terms} terms; {count} codes were asked for.")
    messages = np.arange(count)[:, None] // order ** np.arange(terms, dtype=object) % order
    return hadamard_words(reed_solomon_words(messages.astype(np.int64), order), order).reshape(count, order**2)


def near_orthogonal_parameters(count: int, coherence: Fraction = Fraction(1, 2)) -> tuple[int, int]:
    """The smallest order Q, and the fewest terms k for it, of `count` codes with (k - 1)/Q <= coherence.

    Raises:
        ValueError: if the coherence is not between 0 and 1, or no field is large enough.
    """
    _require_positive("number of positions", count)
    if not 0 <= coherence < 1:
        raise ValueError(f"The coherence of codes lies between 0 and 1, below 1, and is not {coherence}.")
    order = 2
    while order <= MAX_FIELD_ORDER:
        terms = next(k for k in range(1, count + 1) if order**k >= count)
        if terms - 1 <= coherence * order:
            return order, terms
        order *= 2
    raise ValueError(f"No field of at most {MAX_FIELD_ORDER} elements has {count} codes of coherence {coherence}.")


def _require_positive(what: str, number: int) -> None:
    if number < 1:
        raise ValueError(f"The {what} must be at least 1, not {number}.")
