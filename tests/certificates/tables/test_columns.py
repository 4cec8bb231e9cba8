import numpy as np
import pytest

from certificates.tables.columns import best_network
from numerics.tables.table import Table


def cyclic(n: int) -> Table:
    return Table.of([[(a + b) % n for b in range(n)] for a in range(n)], name=f"Z_{n}")


@pytest.mark.parametrize(
    ("table", "value"),
    [
        (cyclic(3), 0.0785674201),
        (Table.of([[a ^ b for b in range(4)] for a in range(4)]), 0.0641500299),
        (Table.of([[max(a, b) for b in range(4)] for a in range(4)]), 0.0832434065),
        (Table.of([[0, 0, 1], [0, 2, 3]]), 0.1406793296),
    ],
)
def test_known_margins_are_reached(table, value):
    found = best_network(table)
    assert found.margin == pytest.approx(value, rel=2e-9)
    assert found.margin <= found.bound * (1 + 1e-12)
    assert found.gap < 2e-9


def test_a_seed_gives_one_network():
    table = Table.of([[0, 0, 1], [0, 2, 3]])
    first, second = best_network(table, seed=5), best_network(table, seed=5)
    assert first.margin == second.margin
    assert np.array_equal(first.x, second.x)


def test_multipliers_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"18 nonnegative numbers"):
        best_network(cyclic(3), start_q=np.ones(3))
