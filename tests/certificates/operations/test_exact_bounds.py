"""Exact margins: proofs whose bound is the margin of an integer network."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.operations.certify import certify_operation
from lemmata.certificates.operations.exact_bounds import exact_bound
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.programs import relaxed_margin
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.operations.names import parse_operation
from tests.certificates.operation_documents import parity_document, verdict


@pytest.mark.parametrize(("name", "exact"), [("Z2", "1/9*sqrt(6)"), ("Z3", "1/18*sqrt(2)"), ("Z2^2", "1/27*sqrt(3)")])
def test_small_groups_have_the_universal_margin_exactly(name, exact):
    made = certify_operation(parse_operation(f"group:{name}"))
    assert (made.grade, made.exact, made.gap, made.advice) == ("exact", exact, 0, ())
    assert verdict(made.document)[0] == 0
    ((m, q),) = certify_group(parse_group(name)).radicals.items()  # the reciprocal is q sqrt(m)
    coefficient, _, root = exact.removesuffix(")").partition("*sqrt(")
    assert Fraction(coefficient) ** 2 * int(root) == 1 / (q * q * m)


def network(neurons, masses) -> OperationNetwork:
    rows = np.array(neurons, object)
    return OperationNetwork(rows[:, :2], rows[:, 2:4], rows[:, 4:], np.array([Fraction(p) for p in masses], object))


def test_only_the_margin_of_an_optimal_network_is_a_bound():
    table = parse_operation("op:add:2")
    relaxation = relaxed_margin(table, kind=4)
    best = network(parity_document()["network"]["neurons"], [1, 1])
    bound = exact_bound(table, best, relaxation)
    assert bound is not None
    assert bound.proof.square == Fraction(6, 81)
    worse = network([[1, -1, 1, -1, 1, -1], [1, -1, -1, 1, -1, 1]], [1, 2])
    assert exact_bound(table, worse, relaxation) is None
    two_roots = network([[1, -1, 1, -1, 1, -1], [1, -1, -1, 1, -2, 2]], [1, 1])
    assert exact_bound(table, two_roots, relaxation) is None
    assert exact_bound(table, best, relaxed_margin(table, kind="plane")) is None
    other = replace(relaxation, q=np.array([0.1, 0.2, 0.3, 0.4]))
    assert exact_bound(table, best, other) is None
