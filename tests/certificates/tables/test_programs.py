"""The semidefinite programs of the upper side against numbers found by other programs, and against ascent."""

from __future__ import annotations

import numpy as np
import pytest

from certificates.tables.forms import NEURON_FACTOR, form_matrices, form_values, residual
from certificates.tables.programs import relaxed_margin
from numerics.tables.table import Table


def table(f, n: int) -> Table:
    return Table.of([[f(a, b) for b in range(n)] for a in range(n)])


KNOWN = [
    (table(lambda a, b: (a + b) % 3, 3), 0.0785674201),
    (table(lambda a, b: a ^ b, 4), 0.0641500299),
    (table(max, 4), 0.0832434067),
    (table(lambda a, b: a * b % 4, 4), 0.0756359645),
]


@pytest.mark.parametrize(("known", "value"), KNOWN)
def test_the_bound_is_the_known_one(known: Table, value: float) -> None:
    found = relaxed_margin(known)
    assert found.bound == pytest.approx(value, rel=1e-7)
    assert found.q.min() >= 0
    assert found.q.sum() == pytest.approx(1)


@pytest.mark.parametrize(("known", "value"), KNOWN[:2])
def test_no_neuron_exceeds_the_bound(known: Table, value: float) -> None:
    found = relaxed_margin(known, kind=4)
    matrices = form_matrices(residual(known, found.q))
    x = np.random.default_rng(0).standard_normal((20_000, known.size))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    reached = NEURON_FACTOR * np.linalg.norm(form_values(matrices, x), axis=1).max()
    assert 0.3 * found.bound < reached <= found.bound
