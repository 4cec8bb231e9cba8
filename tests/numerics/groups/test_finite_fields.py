"""Finite fields: the axioms by exhaustion, and refusals."""

from itertools import product

import numpy as np
import pytest

from lemmata.numerics.groups.finite_fields import MAX_FIELD_ORDER, FiniteField, finite_field, prime_power


@pytest.mark.parametrize("q", [2, 3, 4, 5, 7, 8, 9, 16, 25, 27])
def test_field_axioms(q: int) -> None:
    field = finite_field(q)
    add, mul, everything = field.add, field.mul, np.arange(q)
    for table, neutral in ((add, 0), (mul, 1)):
        assert np.array_equal(table, table.T)
        assert np.array_equal(table[table], table[:, table])  # [a, b, c]: (ab)c = a(bc)
        assert np.array_equal(table[neutral], everything)
    for a, b, c in product(range(q), repeat=3) if q <= 9 else [(2, q - 1, 3)]:
        assert mul[a, add[b, c]] == add[mul[a, b], mul[a, c]]
    assert (add[everything, field.negative] == 0).all()
    assert (mul[everything[1:], field.inverse[1:]] == 1).all()
    assert (mul[0] == 0).all()


@pytest.mark.parametrize("q", [2, 3, 4, 9, 49, 64, 125])
def test_generator_and_powers(q: int) -> None:
    field = FiniteField(q)
    powers = [1]
    while len(powers) < q:
        powers.append(int(field.mul[powers[-1], field.generator]))
    assert sorted(powers[:-1]) == list(range(1, q))
    assert powers[-1] == 1
    everything = np.arange(q)
    assert np.array_equal(field.power(everything, q), everything)
    assert np.array_equal(field.power(everything, 3), field.mul[everything, field.mul[everything, everything]])
    frobenius = field.power(everything, field.p)
    assert np.array_equal(frobenius[field.add], field.add[frobenius[:, None], frobenius])


def test_prime_fields_are_residues() -> None:
    field = finite_field(11)
    a = np.arange(11)
    assert np.array_equal(field.add, (a[:, None] + a) % 11)
    assert np.array_equal(field.mul, (a[:, None] * a) % 11)


def test_apply_is_the_matrix_product() -> None:
    field = finite_field(7)
    random = np.random.default_rng(1)
    matrix, vectors = random.integers(0, 7, (3, 3)), random.integers(0, 7, (20, 3))
    assert np.array_equal(field.apply(matrix, vectors), vectors @ matrix.T % 7)


def test_prime_powers() -> None:
    expected = {p**k: (p, k) for p in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31) for k in range(1, 6) if p**k <= 32}
    assert {q: prime_power(q) for q in range(-2, 33)} == {q: expected.get(q) for q in range(-2, 33)}
    assert prime_power(999_999_937) == (999_999_937, 1)


@pytest.mark.parametrize("q", [0, 1, 6, 12, MAX_FIELD_ORDER * 2])
def test_bad_orders(q: int) -> None:
    with pytest.raises(ValueError, match=f"got q = {q}"):
        FiniteField(q)
