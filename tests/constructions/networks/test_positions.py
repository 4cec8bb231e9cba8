"""Codes of positions: round trips, and all inner products of the near-orthogonal codes of small fields in integers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.networks.positions import binary_codes, binary_digits, one_hot_codes, relative_table
from lemmata.numerics.groups.codes import (
    hadamard_words,
    near_orthogonal_codes,
    near_orthogonal_parameters,
    reed_solomon_words,
)


def field_product(a: int, b: int, order: int) -> int:
    """The product in F_q, q = 2, 4, 8: polynomials over F_2 multiplied and reduced by hand."""
    product = 0
    for bit in range(order.bit_length()):
        product ^= (a << bit) if b >> bit & 1 else 0
    modulus = {2: 0b10, 4: 0b111, 8: 0b1101}[order]
    while order > 2 and product >= order:
        product ^= modulus << (product.bit_length() - modulus.bit_length())
    return product


def test_one_hot_and_binary_codes() -> None:
    assert (one_hot_codes(4) == np.eye(4)).all()
    assert binary_codes(5).tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0]]
    assert binary_codes(1).tolist() == [[0]]
    for bits in range(1, 9):
        codes = binary_codes(2**bits, bits)
        assert ["".join(map(str, code)) for code in codes.tolist()] == [f"{i:0{bits}b}" for i in range(2**bits)]
        assert (binary_codes(2**bits) == codes).all()
    assert binary_digits(6, 2).tolist() == [1, 0]  # the last two digits of 110
    assert binary_digits([[5], [8]], 4).tolist() == [[[0, 1, 0, 1]], [[1, 0, 0, 0]]]
    assert binary_digits(-1, 3).tolist() == [1, 1, 1]


def test_relative_tables() -> None:
    table = relative_table({0: [1, 2], 3: [0, -1]}, 2)
    assert table.tolist() == [[1, 2], [0, 0], [0, 0], [0, -1]]
    assert table.dtype == np.int64
    assert relative_table({1: [0.5]}, 1).dtype == np.float64
    exact = relative_table({1: np.array([fmpq(1, 2)], dtype=object)}, 1)
    assert exact.tolist() == [[0], [fmpq(1, 2)]]


@pytest.mark.parametrize("order", [2, 4, 8])
def test_reed_solomon_words_are_values_of_polynomials(order: int) -> None:
    messages = np.array([[m // order**i % order for i in range(3)] for m in range(order**3)])
    for message, word in zip(messages.tolist(), reed_solomon_words(messages, order).tolist(), strict=True):
        for x, value in enumerate(word):
            square = field_product(x, x, order)
            assert value == message[0] ^ field_product(message[1], x, order) ^ field_product(message[2], square, order)


def test_reed_solomon_words_over_an_odd_field() -> None:
    words = reed_solomon_words([[2, 3, 4]], 5)
    assert words.tolist() == [[(2 + 3 * x + 4 * x * x) % 5 for x in range(5)]]


def test_hadamard_words_are_sylvesters_matrix() -> None:
    matrix = np.ones((1, 1), dtype=np.int64)
    for order in (2, 4, 8, 16):
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
        assert (hadamard_words(np.arange(order), order) == matrix).all()


@pytest.mark.parametrize(("order", "terms"), [(2, 1), (2, 2), (4, 1), (4, 2), (4, 3), (4, 4), (8, 1), (8, 2), (8, 3)])
def test_all_inner_products_of_small_codes(order: int, terms: int) -> None:
    """Exhaustive over all pairs of all Q^k codes, in integers; agreements are counted with the field by hand."""
    codes = near_orthogonal_codes(order**terms, order, terms)
    assert codes.shape == (order**terms, order**2)
    assert set(np.unique(codes)) == {-1, 1}
    gram = codes @ codes.T
    assert (np.diag(gram) == order**2).all()
    off = gram[~np.eye(len(codes), dtype=bool)]
    assert set(np.unique(off).tolist()) == {order * agreements for agreements in range(terms)}
    powers = np.ones((order, terms), dtype=np.int64)
    for k in range(1, terms):
        powers[:, k] = [field_product(int(powers[x, k - 1]), x, order) for x in range(order)]
    table = np.array([[field_product(a, b, order) for b in range(order)] for a in range(order)])
    digits = np.arange(order**terms)[:, None] // order ** np.arange(terms) % order
    values = np.bitwise_xor.reduce(table[digits[:, None, :], powers[None]], axis=-1)
    agreements = (values[:, None] == values[None]).sum(axis=-1)
    assert (gram == order * agreements).all()


def test_the_codes_of_the_source() -> None:
    """Q = 4, k = 3: 64 codes in 16 dimensions, and Q = 8, k = 5: 32768 in 64, both of coherence 1/2 exactly.

    The second set is too large for all pairs. Differences of polynomials are polynomials, and the code of a sum is the
    product of codes, so that the inner products with the code of 0 are all that occur.
    """
    small = near_orthogonal_codes(64, 4, 3)
    assert np.abs(small @ small.T - 16 * np.eye(64, dtype=int)).max() == 8
    large = near_orthogonal_codes(8**5, 8, 5)
    assert large.shape == (32768, 64)
    assert sorted(set(large[1:].sum(axis=1).tolist())) == [0, 8, 16, 24, 32]
    a, b = np.random.default_rng(0).integers(0, 8**5, size=(2, 500))
    assert (large[a] * large[b] == large[a ^ b]).all()  # base 8 digits add without a carry, bit by bit


@pytest.mark.parametrize("coherence", [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)])
def test_the_smallest_parameters(coherence: Fraction) -> None:
    for count in (1, 2, 3, 4, 5, 16, 17, 64, 65):
        order, terms = near_orthogonal_parameters(count, coherence)
        assert order**terms >= count
        assert Fraction(terms - 1, order) <= coherence
        smaller = [2**a for a in range(1, 12) if 2**a < order]
        assert not any(Q**k >= count and Fraction(k - 1, Q) <= coherence for Q in smaller for k in range(1, Q + 1))
        assert not any(order**k >= count for k in range(1, terms))
        codes = near_orthogonal_codes(count, order, terms)
        gram = codes @ codes.T - order**2 * np.eye(count, dtype=int)
        assert Fraction(int(np.abs(gram).max()), order**2) <= coherence
    assert near_orthogonal_parameters(300, Fraction(0)) == (512, 1)
    assert near_orthogonal_parameters(64) == (4, 3)
    assert near_orthogonal_parameters(32768) == (8, 5)


def test_too_many_terms_exceed_the_coherence() -> None:
    gram = near_orthogonal_codes(256, 4, 4) @ near_orthogonal_codes(256, 4, 4).T
    assert np.abs(gram - 16 * np.eye(256, dtype=int)).max() == 12  # 3/4 of 16


def test_bad_codes_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1, not 0"):
        one_hot_codes(0)
    with pytest.raises(ValueError, match="at least 1, not 0"):
        binary_digits(3, 0)
    with pytest.raises(ValueError, match="of integers, not"):
        binary_digits(1.5, 3)
    with pytest.raises(ValueError, match="only 4 binary codes of 2 bits, not 5"):
        binary_codes(5, 2)
    with pytest.raises(ValueError, match=r"not at \[-1\]"):
        relative_table({-1: [1]}, 1)
    with pytest.raises(ValueError, match="not at"):
        relative_table({}, 1)
    with pytest.raises(ValueError, match=r"distance 2 has shape \(2,\), not \(1,\)"):
        relative_table({2: [1, 1]}, 1)
    with pytest.raises(ValueError, match=r"elements 0, \.\.\., 3"):
        reed_solomon_words([[4]], 4)
    with pytest.raises(ValueError, match="prime power"):
        reed_solomon_words([[1]], 6)
    with pytest.raises(ValueError, match="power of two as their length, not 6"):
        hadamard_words([1], 6)
    with pytest.raises(ValueError, match="symbols 0"):
        hadamard_words([-1], 4)
    with pytest.raises(ValueError, match="power of two, not 9"):
        near_orthogonal_codes(3, 9, 1)
    with pytest.raises(ValueError, match="1 to 4 terms, not 5"):
        near_orthogonal_codes(3, 4, 5)
    with pytest.raises(ValueError, match="16 polynomials of 2 terms; 17"):
        near_orthogonal_codes(17, 4, 2)
    with pytest.raises(ValueError, match="below 1"):
        near_orthogonal_parameters(3, Fraction(1))
    with pytest.raises(ValueError, match="at least 1, not 0"):
        near_orthogonal_parameters(0)
    with pytest.raises(ValueError, match="No field"):
        near_orthogonal_parameters(5000, Fraction(0))
