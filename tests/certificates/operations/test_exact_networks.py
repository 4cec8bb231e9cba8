from fractions import Fraction
from math import isqrt

import pytest

from lemmata.certificates.operations.columns import best_network
from lemmata.certificates.operations.exact_networks import exact_network
from lemmata.numerics.operations.families import named_operation
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import operation_symmetries

XOR4 = Operation.of([[a ^ b for b in range(4)] for a in range(4)])


@pytest.mark.parametrize(
    ("table", "coefficient", "root"),
    [
        (named_operation("a+b", 2), Fraction(1, 9), 6),
        (named_operation("a+b", 3), Fraction(1, 18), 2),
        (XOR4, Fraction(1, 27), 3),
    ],
)
def test_nice_tables_have_exact_networks(table, coefficient, root):
    network = exact_network(best_network(table, symmetries=operation_symmetries(table)))
    assert network is not None
    values = set()
    for sums in network.exact_margins(table):
        total = Fraction(0)
        for square, factor in sums.items():
            assert isqrt(square * root) ** 2 == square * root  # sqrt(square) = sqrt(square root) / root sqrt(root)
            total += factor * Fraction(isqrt(square * root), root)
        values.add(total)
    assert min(values) == coefficient


def test_without_symmetries_the_network_is_as_good():
    table = named_operation("a+b", 2)
    network = exact_network(best_network(table))
    assert network is not None
    assert network.lower_margin(table) == pytest.approx(6**0.5 / 9, rel=1e-12)


@pytest.mark.parametrize("table", [named_operation("a+b", 5), named_operation("max", 3)])
def test_others_have_none(table):
    """Characters of order 5 are irrational, and so are the best neurons of max."""
    assert exact_network(best_network(table, symmetries=operation_symmetries(table))) is None


def test_a_network_that_is_not_optimal_is_not_taken_for_an_exact_one():
    """At other multipliers other integer vectors answer best, and these have a smaller margin."""
    table = named_operation("max", 3)
    assert exact_network(best_network(table, rounds=0)) is None
