"""Matrices with a symmetric block are sums of products, and those give networks for at most three labels."""

from __future__ import annotations

import numpy as np
import pytest

from lemmata.certificates.operations.plane_networks import plane_network, product_decomposition
from lemmata.certificates.operations.programs import relaxed_margin
from lemmata.numerics.operations.operation import Operation


def _product_sum(seed: int, size: int, terms: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    e, x = rng.standard_normal((terms, 2)), rng.standard_normal((terms, size))
    return np.einsum("ra,rb,ri,rj->aibj", e, e, x, x).reshape(2 * size, 2 * size)


@pytest.mark.parametrize(("size", "terms"), [(1, 1), (3, 1), (3, 3), (3, 5), (4, 8), (5, 30)])
def test_sums_of_products_are_decomposed_into_at_most_2n_others(size: int, terms: int) -> None:
    Y = _product_sum(size + terms, size, terms)
    e, x = product_decomposition(Y)
    assert len(e) == len(x) == min(terms, 2 * size)
    again = np.einsum("ra,rb,ri,rj->aibj", e, e, x, x).reshape(2 * size, 2 * size)
    np.testing.assert_allclose(again, Y, atol=1e-7 * np.abs(Y).max())


def test_matrices_of_another_form_are_refused() -> None:
    with pytest.raises(ValueError, match="2N rows"):
        product_decomposition(np.eye(3))
    turned = np.array([[1.0, 0, 0, 0.5], [0, 1, -0.5, 0], [0, -0.5, 1, 0], [0.5, 0, 0, 1]])
    with pytest.raises(ValueError, match="must be symmetric"):
        product_decomposition(turned)


def test_partial_tables_have_networks_too() -> None:
    table = Operation.of([[0, -1, 2], [1, 2, -1], [-1, 0, 1]])
    relaxation = relaxed_margin(table)
    network = plane_network(table, relaxation)
    assert network.size <= 2 * table.size
    assert relaxation.bound * (1 - 1e-6) < network.margin(table) < relaxation.bound * (1 + 1e-9)


def test_other_programs_give_no_such_network() -> None:
    table = Operation.of([[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="not the one of degree 4"):
        plane_network(table, relaxed_margin(table, kind=4))
