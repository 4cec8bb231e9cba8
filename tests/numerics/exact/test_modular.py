"""Primes with roots of unity of a given order."""

import pytest

from lemmata.numerics.exact.modular import prime_with_roots, root_of_order


@pytest.mark.parametrize("order", [1, 2, 7, 60, 1320, 28365])
def test_primes_and_roots(order):
    for below in (2**31, 2**63):
        p = prime_with_roots(order, below)
        assert p % order == 1 % order
        assert p < below
        root = root_of_order(order, p)
        assert [k for k in range(1, order + 1) if order % k == 0 and pow(root, k, p) == 1] == [order]


def test_fields_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="No prime"):
        prime_with_roots(12, 13)
    with pytest.raises(ValueError, match="bounds from 3"):
        prime_with_roots(12, 2**64)
    with pytest.raises(ValueError, match="does not divide"):
        root_of_order(5, 7)
