"""Codes over finite fields: Reed-Solomon words, Hadamard words, and the near-orthogonal sign vectors of the two.

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

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.groups.finite_fields import MAX_FIELD_ORDER, finite_field, prime_power

Integers = NDArray[np.int64]


def reed_solomon_words(messages: ArrayLike, order: int) -> Integers:
    """The values of sum_i m_i x^i at the elements x = 0, ..., q - 1 of F_q: shape (..., q) for messages (..., k).

    Args:
        messages: elements of the field by their numbers; see `lemmata.numerics.groups.finite_fields`.
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
    if count < 1:
        raise ValueError(f"The number of positions must be at least 1, not {count}.")
    if not 0 <= coherence < 1:
        raise ValueError(f"The coherence of codes lies between 0 and 1, below 1, and is not {coherence}.")
    order = 2
    while order <= MAX_FIELD_ORDER:
        terms = next(k for k in range(1, count + 1) if order**k >= count)
        if terms - 1 <= coherence * order:
            return order, terms
        order *= 2
    raise ValueError(f"No field of at most {MAX_FIELD_ORDER} elements has {count} codes of coherence {coherence}.")
