"""The networks found against what others say of the same tables: the universal theorem, and the relaxations."""

import numpy as np
import pytest

from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.operations.columns import best_network, integer_network
from lemmata.certificates.operations.programs import relaxed_margin
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.operations.families import named_operation
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import operation_symmetries

GROUPS = ("C2", "C3", "C4", "C2xC2", "C5", "C6", "S3", "C7", "C8", "C4xC2", "C2xC2xC2", "D4", "Q8")


@pytest.mark.parametrize("name", GROUPS)
def test_networks_of_groups_reach_the_universal_margin(name):
    table = parse_operation(f"group:{name}")
    found = best_network(table, symmetries=operation_symmetries(table))
    gamma = float(certify_group(parse_group(name)).gamma)
    assert found.margin == pytest.approx(gamma, rel=1e-8)
    assert integer_network(found).margin(table) == pytest.approx(gamma, rel=1e-8)


@pytest.mark.parametrize(
    ("formula", "n", "value"),
    [("a*b", 4, 0.0756359645), ("a*b", 5, 0.0411276703), ("a^2+b^2", 5, 0.0484953354), ("max", 4, 0.0832434065)],
)
def test_networks_of_operations_reach_known_values(formula, n, value):
    table = named_operation(formula, n)
    assert best_network(table, symmetries=operation_symmetries(table)).margin == pytest.approx(value, rel=3e-9)


@pytest.mark.parametrize("seed", range(4))
def test_networks_of_random_tables_stay_below_the_relaxation_and_come_near(seed):
    rng = np.random.default_rng(seed)
    table = Operation.of(rng.integers(0, 2 + seed % 3, (4, 4)).tolist(), labels=2 + seed % 3)
    relaxation = relaxed_margin(table)
    found = best_network(table, start_q=relaxation.q, seed=seed)
    assert (1 - 2e-6) * relaxation.bound <= found.margin <= relaxation.bound * (1 + 1e-9)


def test_networks_of_the_counterexamples_reach_degree_six_and_not_degree_four():
    table = Operation.of([[0, 0, 1], [0, 2, 3]])
    four, six = (relaxed_margin(table, kind=kind).bound for kind in (4, 6))
    found = best_network(table, symmetries=operation_symmetries(table))
    assert (1 - 1e-7) * six <= found.margin <= six * (1 + 1e-9)
    assert four / found.margin - 1 == pytest.approx(4.087e-5, rel=1e-2)
    larger = Operation.of([[0, 1, 2], [1, 2, 3], [2, 4, 5]])
    found = best_network(larger, symmetries=operation_symmetries(larger))
    assert found.margin == pytest.approx(0.0764956615, rel=2e-9)  # of degree 6, which takes 7 s
    assert relaxed_margin(larger, kind=4).bound / found.margin - 1 == pytest.approx(2.134e-3, rel=1e-2)
