"""The arithmetic of the kernel of operations, against matrices, polynomials and square roots computed in other ways."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from flint import arb, fmpz_mat

from lemmata.certificates import operation_kernel
from lemmata.certificates.kernel import MalformedError
from lemmata.certificates.operation_kernel import eliminates, enclosures, forms, has_dominated_factor, tensor


def triangle(matrix):
    return [[int(x) for x in row[: i + 1]] for i, row in enumerate(matrix)]


def is_semidefinite(matrix):
    """All principal minors, an independent criterion."""
    n = len(matrix)
    return all(
        int(fmpz_mat([[int(matrix[i][j]) for j in chosen] for i in chosen]).det()) >= 0
        for size in range(1, n + 1)
        for chosen in combinations(range(n), size)
    )


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_semidefinite_matrices_of_every_rank(rank):
    source = np.random.default_rng(rank)
    for _ in range(20):
        factor = source.integers(-4, 5, (5, rank))
        gram = factor @ factor.T
        assert eliminates(triangle(gram), "x")
        assert has_dominated_factor(triangle(gram)) == (np.linalg.matrix_rank(gram) == 5)
        for i, j in product(range(5), repeat=2):
            other = gram.copy()
            other[i, j] -= 1
            other[j, i] = other[i, j]
            expected = is_semidefinite(other)
            assert eliminates(triangle(other), "x") == expected
            assert not has_dominated_factor(triangle(other)) or expected


def test_a_matrix_of_determinant_minus_one_is_refused_and_of_plus_one_is_not():
    """Consecutive Fibonacci numbers: eigenvalues near zero. The term that is subtracted from the pivots sees to it."""
    a, b, c = (61305790721611591, 99194853094755497, 160500643816367088)
    assert a * c - b * b == -1
    assert not has_dominated_factor([[a], [b, c]])
    assert not eliminates([[a], [b, c]], "x")
    a, b, c = (139583862445, 225851433717, 365435296162)
    assert a * c - b * b == 1
    assert has_dominated_factor([[a], [b, c]])
    assert eliminates([[a], [b, c]], "x")


@pytest.mark.parametrize("matrix", [[[0]], [[0], [0, 0]], [[0], [0, 3]], [[3], [0, 0]], [[1], [1, 1], [0, 0, 0]]])
def test_zero_pivots_with_zero_columns_are_fine(matrix):
    assert eliminates(matrix, "x")


@pytest.mark.parametrize("matrix", [[[-1]], [[0], [1, 0]], [[0], [1, 5]], [[1], [1, 1], [0, 1, 0]], [[2], [0, -1]]])
def test_negative_pivots_and_zero_pivots_with_others_below_are_not(matrix):
    assert not eliminates(matrix, "x")
    assert not has_dominated_factor(matrix)


def test_elimination_is_limited(monkeypatch):
    monkeypatch.setattr(operation_kernel, "MAX_EXACT", 2**5 * 3**2)
    assert eliminates([[4], [4, 7]], "x")
    assert not eliminates([[4], [4, 8]], "x")


class Given:
    """A table as the kernel reads it."""

    def __new__(cls, values, labels):
        return operation_kernel.Operation({"name": "given", "labels": labels, "values": values})


def test_forms_are_the_sums_of_squares():
    source = np.random.default_rng(3)
    table = Given([[0, 2, -1], [1, 1, 3]], 4)
    weights = [int(x) for x in source.integers(0, 9, len(table.triples))]
    R = tensor(table, weights)
    x, w = [int(e) for e in source.integers(-9, 9, 5)], [int(e) for e in source.integers(-9, 9, 4)]
    direct = sum(
        q * (x[a] + x[2 + b]) ** 2 * (w[y] - w[c]) for (a, b, y, c), q in zip(table.triples, weights, strict=True)
    )
    values = [sum(e * x[i] * x[j] for (i, j), e in form.items()) for form in forms(R)]
    assert sum(a * b for a, b in zip(values, w, strict=True)) == direct
    assert sum(values) == 0
    assert [(a, b, y, c) for a, b, y, c in table.triples if a == 0] == [
        (0, 0, 0, 1), (0, 0, 0, 2), (0, 0, 0, 3), (0, 1, 2, 0), (0, 1, 2, 1), (0, 1, 2, 3),
    ]  # fmt: skip


def test_margins_are_enclosed_to_400_bits():
    source = np.random.default_rng(4)
    table = Given([[0, 1], [2, -1]], 3)
    neurons = [[int(e) for e in row] for row in source.integers(-(10**9), 10**9, (6, 7))]
    masses = [int(e) for e in source.integers(1, 10**9, 6)]
    network = operation_kernel.Network({"neurons": neurons, "masses": masses}, "network", table)
    for (a, b, y, c), (low, high) in zip(table.triples, enclosures(table, network, table.triples), strict=True):
        assert 0 < high - low < Fraction(1, 2**250)
        total = arb(0)
        for x, mass in zip(neurons, masses, strict=True):
            cube = arb(sum(e * e for e in x)) ** arb("1.5")
            total += mass * (x[a] + x[2 + b]) ** 2 * (x[4 + y] - x[4 + c]) / cube
        assert abs(float(low) - float(total / sum(masses))) < 1e-15 * abs(float(low))


@pytest.mark.parametrize(
    ("values", "labels"),
    [([], 2), ([[]], 2), ([[0, 1], [0]], 2), ([[2]], 2), ([[-2]], 2), ([[-1]], 2), ([[0]], 1), ([[True]], 2)],
)
def test_tables_that_are_none_are_refused(values, labels):
    with pytest.raises(MalformedError):
        Given(values, labels)
