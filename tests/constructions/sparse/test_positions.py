"""Families of positions, their inner products and coherence, and what is refused."""

from itertools import combinations

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.sparse.positions import (
    CodedPositions,
    PositionTable,
    coherence,
    gram_matrix,
    hadamard_positions,
    orthonormal_positions,
    position_table,
    random_sign_positions,
)
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.groups.codes import near_orthogonal_codes

FAMILIES = {
    "orthonormal": (orthonormal_positions(5), fmpq(0)),
    "Hadamard": (hadamard_positions(1), fmpq(1, 2)),
    "random signs": (random_sign_positions(6, 4, 0), None),
    "given": (position_table([["3/5", "4/5"], ["-4/5", "3/5"], [0, 1]]), fmpq(4, 5)),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_products_and_coherence(name):
    positions, expected = FAMILIES[name]
    rows = positions.rows(np.arange(positions.count))
    vector = as_exact(np.arange(positions.dimension)) / fmpq(3)
    products, unit = positions.products(vector)
    assert [int(n) * unit for n in products] == [sum(a * b for a, b in zip(row, vector, strict=True)) for row in rows]
    gram = gram_matrix(positions, np.arange(positions.count))
    assert all(gram[t, t] == 1 for t in range(positions.count))
    largest, pair = coherence(positions)
    assert largest == max(abs(gram[i, j]) for i, j in combinations(range(positions.count), 2)) == abs(gram[pair])
    assert expected in (None, largest)


def test_codes_that_are_not_stored_are_those_that_are():
    coded, stored = CodedPositions(60, 4, 3), near_orthogonal_codes(60, 4, 3)
    assert (coded.rows(np.arange(60)) == as_exact(stored) / fmpq(4)).all()
    vector = as_exact(np.arange(16)) / fmpq(7)
    products, unit = coded.products(vector)
    assert (as_exact(products) * unit == (as_exact(stored) / fmpq(4)) @ vector).all()
    assert coherence(PositionTable(stored, 4))[0] == coded.coherence_bound == fmpq(1, 2)


def test_a_million_inner_products():
    products, unit = CodedPositions(10**6, 16, 5).products(CodedPositions(10**6, 16, 5).rows([999_999])[0])
    assert products[999_999] * unit == 1
    others = np.delete(products, 999_999)
    assert int(others.max()) * unit <= fmpq(4, 16)


def test_large_numbers_do_not_overflow():
    table = PositionTable(np.full((2, 2), 2**40, dtype=np.int64), 1)
    products, unit = table.products([2**40, 2**40])
    assert products.tolist() == [2**81] * 2
    assert unit == 1
    products, unit = table.products(as_exact([2**70, "1/3"]))
    assert (products[0] * unit).numer() == 2**40 * (3 * 2**70 + 1)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: position_table([[1, 1]]), "number 0 has the squared length 2"),
        (lambda: position_table([0.6, 0.8]), "is not exact"),
        (lambda: position_table([1, 0]), r"vectors of shape \(T, d\)"),
        (lambda: CodedPositions(65, 4, 3), "64 codes of 3 terms .* too few for 65"),
        (lambda: CodedPositions(5, 3, 2), "power of two, not 3"),
        (lambda: random_sign_positions(0, 2, 0), "number of positions must be an integer >= 1"),
        (lambda: random_sign_positions(2, 0, 0), "root of d must be an integer >= 1"),
        (lambda: coherence(orthonormal_positions(1)), "two or more positions"),
    ],
)
def test_bad_positions_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()
