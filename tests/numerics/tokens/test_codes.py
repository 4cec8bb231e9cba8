"""Position codes against inner products of their rational rows, and what they refuse."""

import itertools
import math

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.numerics.tokens.codes import (
    PositionCodes,
    extremal_codes,
    field_codes,
    linear_codes,
    orthonormal_codes,
    random_sign_codes,
    scaled_integers,
    sign_code_dimension,
)


def correlations(codes):
    rows = codes.rows(np.arange(codes.count), "exact").tolist()
    return {
        (i, j): sum((a * b for a, b in zip(rows[i], rows[j], strict=True)), fmpq(0))
        for i, j in itertools.combinations_with_replacement(range(codes.count), 2)
    }


@pytest.mark.parametrize(
    ("codes", "values"),
    [
        (orthonormal_codes(5), {fmpq(0)}),
        (extremal_codes(6), {fmpq(1, 2)}),
        (field_codes(16, 4, 2), {fmpq(0), fmpq(1, 4)}),
        (field_codes(20, 4, 3), {fmpq(0), fmpq(1, 4), fmpq(1, 2)}),
    ],
    ids=["orthonormal", "extremal", "field", "field with three terms"],
)
def test_correlations_of_the_families(codes, values):
    found = correlations(codes)
    assert {found.pop((i, i)) for i in range(codes.count)} == {fmpq(1)}
    assert set(found.values()) == values
    assert codes.coherence == max(values)
    assert {(i, j): fmpq(int(codes.gram[i, j]), codes.square) for i, j in found} == found
    assert codes.violations() == []
    codes.require_near_orthogonal()


def test_violating_pairs_are_listed():
    codes = random_sign_codes(12, 9, seed=1)  # of squared length 9, so that its rows are rational
    found = correlations(codes)
    expected = [(i, j, value) for (i, j), value in found.items() if i < j and abs(value) > fmpq(1, 2)]
    assert expected
    assert codes.violations() == expected
    i, j, value = expected[0]
    with pytest.raises(ValueError, match=f"numbers {i} and {j} have {value}; so do {len(expected) - 1} more pairs"):
        codes.require_near_orthogonal()
    assert codes.coherence == max(abs(value) for (i, j), value in found.items() if i < j)


def test_antipodes_violate_the_assumption_and_one_half_does_not():
    assert PositionCodes(np.array([[1, 1], [-1, -1]]), 2).violations() == [(0, 1, fmpq(-1))]
    assert PositionCodes(np.array([[1, 1, 1, 1], [1, 1, 1, -1]]), 4).violations() == []


def test_blocks_see_pairs_across_their_borders():
    vectors = np.eye(1100, dtype=np.int64)
    vectors[1099] = vectors[3]
    assert PositionCodes(vectors, 1).violations() == [(3, 1099, fmpq(1))]
    assert PositionCodes(vectors, 1).coherence == 1


def test_the_smallest_field_is_taken():
    assert field_codes(64).dimension == 16
    assert field_codes(65).dimension == 64
    assert field_codes(1000).coherence <= fmpq(1, 2)


def test_the_factor_is_in_the_number_system():
    codes = random_sign_codes(3, 8, seed=0)
    assert np.allclose(codes.rows([0, 2], "float", fmpq(1, 3)), codes.vectors[[0, 2]] / math.sqrt(24), rtol=1e-15)
    assert (codes.rows([1], "exact", 2) == codes.vectors[[1]] * fmpq(1, 2)).all()
    [ball] = codes.rows([1], "ball", 3)[0][:1]
    assert abs(ball) * abs(ball) - arb(fmpq(3, 8)) < 1e-14
    with pytest.raises(ValueError, match=r"sqrt\(1/8\) is irrational"):
        codes.rows([1], "exact")
    with pytest.raises(ValueError, match="must be positive"):
        scaled_integers([1], fmpq(0), "float")


def test_the_dimension_by_hoeffding():
    for N, failure in [(2, 0.5), (100, 0.01), (1000, 0.01)]:
        dimension = sign_code_dimension(N, failure)
        assert N * (N - 1) * math.exp(-dimension / 8) <= failure < N * (N - 1) * math.exp(-(dimension - 1) / 8)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PositionCodes(np.array([[1, 1], [1, 0]]), 2), "squared length 2, but number 1 has 1"),
        (lambda: PositionCodes(np.array([[1.0]]), 1), "integer vectors of shape"),
        (lambda: PositionCodes(np.array([2**40, 1])[None], 1), "too large"),
        (lambda: orthonormal_codes(0), "number of positions must be an integer >= 1"),
        (lambda: orthonormal_codes(3).rows([3]), r"integers 0, \.\.\., 2"),
        (lambda: field_codes(5, order=4), "together, or neither"),
        (lambda: random_sign_codes(0, 4, 0), "number of positions must be an integer >= 1"),
        (lambda: sign_code_dimension(1, 0.1), "must be an integer >= 2"),
        (lambda: sign_code_dimension(5, 1.0), "between 0 and 1"),
    ],
)
def test_bad_codes_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_linear_codes_are_characters():
    """Each coordinate is the sign of a parity, and correlations depend on the exclusive or."""
    codes = linear_codes(3, [5, 7])
    assert codes.dimension == codes.square == 6
    for j in range(8):
        bits = [j >> bit & 1 for bit in range(3)]
        parities = [0, *bits, (bits[0] + bits[2]) % 2, sum(bits) % 2]
        assert codes.vectors[j].tolist() == [1 - 2 * x for x in parities]
        assert all(codes.gram[i, j] == codes.gram[0, i ^ j] for i in range(8))
    with pytest.raises(ValueError, match="at most 7, and not 8"):
        linear_codes(3, [8])
