"""Sizes that suffice for one under-sparse step: the formulas in floats, orders of growth, and bad input."""

import math

import pytest
from flint import fmpq

from lemmata.numerics.parity.sparse_neurons import under_sparse_values
from lemmata.numerics.parity.under_sparse_sizes import good_share, relevant_bound, under_sparse_sizes


@pytest.mark.parametrize(("n", "k", "s"), [(8, 4, 2), (9, 4, 2), (12, 6, 4), (18, 6, 2), (101, 4, 2)])
def test_sizes_are_the_formulas_in_floats(n: int, k: int, s: int) -> None:
    sizes = under_sparse_sizes(n, k, s, fmpq(1, 2), fmpq(1, 100))
    half = math.ceil(k * math.comb(n, s) / math.comb(k, s) * math.log(200 * k))
    xi = under_sparse_values(n, k, s).relevant
    tau = 0.5 * abs(int(xi.p) / int(xi.q)) / (4 * k * k * (k - s))
    assert sizes.width == 2 * half
    samples = 2 / tau**2 * math.log(2 * n * sizes.width * 100)
    assert -1e-9 * samples < sizes.samples - samples < 1 + 1e-9 * samples
    assert sizes.epsilon == fmpq(1, 8 * k**2 * (n - s))
    assert good_share(n, k, s) == fmpq(math.comb(k, s), math.comb(n, s))


def test_the_bound_of_the_relevant_gradient_is_below_it_and_of_its_order() -> None:
    for k, s in ((2, 0), (4, 2), (4, 0), (6, 4), (6, 2), (8, 2), (10, 4)):
        for n in (*range(k, 60), 1001, 1002):
            xi = under_sparse_values(n, k, s).relevant
            assert relevant_bound(n, k, s) <= xi**2
        assert 2 * relevant_bound(1001, k, s) > under_sparse_values(1001, k, s).relevant ** 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: under_sparse_sizes(9, 5, 2, 1, fmpq(1, 9)), "even k"),
        (lambda: under_sparse_sizes(7, 4, 2, 1, fmpq(1, 9)), "more than a quarter"),
        (lambda: under_sparse_sizes(9, 4, 2, 0, fmpq(1, 9)), "accuracy lies in"),
        (lambda: under_sparse_sizes(9, 4, 2, 0.5, fmpq(1, 9)), "accuracy lies in"),
        (lambda: under_sparse_sizes(9, 4, 2, 1, 1), "delta in"),
        (lambda: good_share(4, 6, 2), "k <= n"),
        (lambda: relevant_bound(9, 4, 4), "s < k"),
    ],
)
def test_bad_input_is_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
