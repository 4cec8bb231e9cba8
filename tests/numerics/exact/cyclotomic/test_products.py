"""Exact matrix products: against the plain product, at the edge of the digits, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.numerics.exact.cyclotomic.numbers import (
    Cyclotomic,
    exact_matmul,
    rational,
)
from tests.numerics.exact.cyclotomic.strategies import elements, fractions

quick = settings(max_examples=60, deadline=None)


def matrices(rows: int, columns: int) -> st.SearchStrategy[np.ndarray]:
    entry = elements([1, 3, 4, 8, 12]) | st.integers(-(10**12), 10**12) | fractions.map(lambda q: rational(q).to_fmpq())

    def build(values: list) -> np.ndarray:
        result = np.empty((rows, columns), dtype=object)
        for index, value in zip(np.ndindex(rows, columns), values, strict=True):
            result[index] = value
        return result

    return st.lists(entry, min_size=rows * columns, max_size=rows * columns).map(build)


@settings(max_examples=60, deadline=None)
@given(st.data(), *[st.integers(1, 4)] * 3)
def test_exact_matmul_is_the_matrix_product(data: st.DataObject, p: int, q: int, r: int) -> None:
    A, B = data.draw(matrices(p, q)), data.draw(matrices(q, r))
    assert (exact_matmul(A, B) == A @ B).all()


@pytest.mark.parametrize("filled", [0, 1, 5, 19, 20, 60, 400])
def test_products_with_few_entries_are_those_of_fractions(filled: int) -> None:
    """Where nearly all of the right side is 0, as in weights, and beyond; several entries in one column among them."""
    rng = np.random.default_rng(filled)
    A, B = rng.integers(-9, 10, size=(3, 20)), np.zeros(400, dtype=int)
    B[rng.permutation(400)[:filled]] = rng.integers(1, 10, size=filled)
    B = B.reshape(20, 20)
    B[:, 3] = np.where(np.arange(20) < filled, 7, B[:, 3])
    thirds = np.array([[fmpq(int(x), 3) for x in row] for row in A], dtype=object)
    found = [[Fraction(int(x.p), int(x.q)) for x in row] for row in exact_matmul(thirds, B).tolist()]
    assert found == [[Fraction(int(x), 3) for x in row] for row in A @ B]


@quick
@given(st.integers(0, 200), st.sampled_from([3, 5, 8, 12]), st.sampled_from([-1, 1]))
def test_exact_matmul_at_the_edge_of_its_digit_bound(bits: int, order: int, sign: int) -> None:
    # all coefficients equal to one extreme value: the digits of the packed product are as large as they can be
    top = sign * 2**bits - (1 if bits else 0)
    x = Cyclotomic(order, [top] * order) + Cyclotomic(order, [top] * (order - 2))
    A = np.array([[x, x, x]], dtype=object)
    B = np.array([[x], [x], [-x + 1]], dtype=object)
    assert exact_matmul(A, B)[0, 0] == x * (x + 1)


def test_exact_matmul_of_rationals_and_its_refusals() -> None:
    ints, halves = np.arange(6).reshape(2, 3), np.array([[fmpq(1, 2)], [fmpq(1, 3)], [1]], dtype=object)
    product = exact_matmul(ints, halves)
    assert product.tolist() == [[fmpq(7, 3)], [fmpq(47, 6)]]
    assert isinstance(product[0, 0], fmpq)
    empty = exact_matmul(np.empty((2, 0), dtype=object), np.empty((0, 3), dtype=object))
    assert empty.tolist() == [[0] * 3] * 2
    with pytest.raises(ValueError, match=r"Shapes \(2, 3\) and \(2, 3\) do not fit"):
        exact_matmul(ints, ints)
    with pytest.raises(ValueError, match=r"Entry \[0, 1\] of B is 0.5 of type float"):
        exact_matmul(ints, np.array([[1, 0.5]] * 3, dtype=object))
