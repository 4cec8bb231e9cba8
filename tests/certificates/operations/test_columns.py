import numpy as np
import pytest

from lemmata.certificates.operations.column_program import Columns, curvature
from lemmata.certificates.operations.column_search import Search
from lemmata.certificates.operations.columns import best_network, integer_network
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.plane_moments import label_plane, neurons_of_moments, plane_moments
from lemmata.certificates.operations.pricing import best_outputs, climb, polish, random_starts
from lemmata.numerics.operations.families import named_operation
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import operation_symmetries


def cyclic(n: int) -> Operation:
    return Operation.of([[(a + b) % n for b in range(n)] for a in range(n)], name=f"Z_{n}")


@pytest.mark.parametrize(
    ("table", "value"),
    [
        (cyclic(3), 0.0785674201),
        (Operation.of([[a ^ b for b in range(4)] for a in range(4)]), 0.0641500299),
        (Operation.of([[max(a, b) for b in range(4)] for a in range(4)]), 0.0832434065),
        (Operation.of([[0, 0, 1], [0, 2, 3]]), 0.1406793296),
    ],
)
def test_known_margins_are_reached(table, value):
    found = best_network(table)
    assert found.margin == pytest.approx(value, rel=2e-9)
    assert found.margin <= found.bound * (1 + 1e-12)
    assert found.gap < 2e-9


def test_a_seed_gives_one_network():
    table = Operation.of([[0, 0, 1], [0, 2, 3]])
    first, second = best_network(table, seed=5), best_network(table, seed=5)
    assert first.margin == second.margin
    assert np.array_equal(first.x, second.x)


def test_multipliers_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"18 nonnegative numbers"):
        best_network(cyclic(3), start_q=np.ones(3))


class Translations:
    """The symmetries (a, b, c) -> (a + s, b + t, c + s + t) of addition modulo n, and the swap: by hand."""

    def __init__(self, n: int) -> None:
        self.n = n

    def elements(self, limit: int = 10**6) -> np.ndarray:
        n, images = self.n, []
        for s, t in np.ndindex(n, n):
            first, second = (np.arange(n) + s) % n, (np.arange(n) + t) % n + n
            labels = (np.arange(n) + s + t) % n + 2 * n
            images += [np.concatenate([first, second, labels]), np.concatenate([second, first, labels])]
        return np.array(images)

    def triple_orbits(self) -> np.ndarray:
        """One for each difference of the wrong label and the right one."""
        return np.array([(c - a - b) % self.n - 1 for a, b, c in cyclic(self.n).triples])


def test_symmetries_make_few_orbits_and_the_network_is_spread_over_them():
    table = cyclic(5)
    found = best_network(table, symmetries=Translations(5))
    assert found.gap < 1e-9
    assert len(np.unique(np.round(found.q, 12))) <= 4
    assert found.margin == pytest.approx(best_network(table).margin, rel=1e-8)
    assert found.network.margin(table) == pytest.approx(found.margin, rel=1e-9)


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_there_are_as_many_rounds_as_may_be(monkeypatch, rounds):
    steps = []
    step = Search.step
    monkeypatch.setattr(Search, "step", lambda search: (steps.append(1), step(search)))
    best_network(cyclic(4), rounds=rounds, tolerance=-1.0)
    assert len(steps) == rounds


@pytest.mark.parametrize(("few", "most"), [(10**6, 500), (1, 101)])
def test_integer_networks_keep_the_margin(few, most):
    table = cyclic(5)
    found = best_network(table, symmetries=Translations(5))
    network = integer_network(found, few=few)
    assert network.is_exact
    assert len(found.masses) <= network.size <= most
    assert all(mass.denominator == 1 for mass in network.masses)
    assert max(abs(x) for part in (network.u, network.v, network.w) for x in part.flat) <= 2**36
    assert (1 - 1e-9) * found.margin <= float(network.lower_margin(table)) <= found.bound


def test_integers_of_more_bits_lose_less():
    table = Operation.of([[0, 0, 1], [0, 2, 3]])
    found = best_network(table)
    losses = [1 - float(integer_network(found, bits).lower_margin(table)) / found.margin for bits in (4, 12, 30)]
    assert 1e-3 < losses[0] < 0.3
    assert 1e-6 < losses[1] < 1e-3
    assert losses[2] < 1e-8
    with pytest.raises(ValueError, match=r"between 1 and 200 bits"):
        integer_network(found, 0)


@pytest.mark.parametrize("labels", [2, 3])
def test_moments_of_the_plane_are_a_network_of_few_neurons(labels):
    values = np.random.default_rng(labels).integers(0, labels, (4, 5))
    table = Operation.of(values.tolist(), labels=labels)
    columns = Columns(table, np.arange(len(table.triples)))
    Y, value, q = plane_moments(columns)
    x, theta, masses = neurons_of_moments(Y)
    assert len(x) <= 9
    assert masses.sum() == pytest.approx(1, abs=1e-8)
    # the neurons have the moments, by definition of these
    halves = np.concatenate([np.cos(theta / 2)[:, None] * x, np.sin(theta / 2)[:, None] * x], axis=1)
    assert np.allclose(halves.T @ (masses[:, None] * halves), Y, atol=1e-7)
    w = np.cos(theta)[:, None] * label_plane(labels)[0] + np.sin(theta)[:, None] * label_plane(labels)[1]
    margins = OperationNetwork(x[:, :4] * 2**0.5, x[:, 4:] * 2**0.5, w, masses).margins(table)
    assert margins.min() == pytest.approx(2 / 27**0.5 * value, rel=1e-7)
    # and no neuron does better against the multipliers: the value is the largest margin
    _, values_found = climb(columns.forms(q), random_starts(columns.forms(q), 200, np.random.default_rng(0)))
    assert values_found.max() <= value * (1 + 1e-6)


def test_the_curvature_is_the_second_derivative_of_a_local_maximum():
    """By central differences: rounding and the fourth derivative leave more than five of their digits."""
    table = Operation.of([[0, 0, 1], [0, 2, 3]])
    columns = Columns(table, np.arange(len(table.triples)))
    rng = np.random.default_rng(0)
    q, direction = rng.dirichlet(np.ones(len(table.triples))), rng.dirichlet(np.ones(len(table.triples)))
    M = columns.forms(q)
    x, values = polish(M, climb(M, random_starts(M, 20, rng))[0])
    best = int(np.argmax(values))
    w = best_outputs(M, x)[0]

    def value(s):
        moved = columns.forms(q + s * direction)
        return polish(moved, climb(moved, x[best : best + 1])[0])[1][0]

    h = 1e-3
    second = (value(h) - 2 * value(0.0) + value(-h)) / h**2
    assert second > 0.01
    found = direction @ curvature(columns, M, x[best], w[best], values[best]) @ direction
    assert found == pytest.approx(second, rel=1e-4)


def test_a_plane_needs_at_most_three_labels():
    with pytest.raises(ValueError, match="at most three labels"):
        label_plane(4)


def test_neurons_of_different_orbits_keep_their_masses():
    """Modulo 4 characters of order 2 and 4 have orbits of different sizes, which lost shares would show."""
    table = named_operation("a+b", 4)
    found = best_network(table, symmetries=operation_symmetries(table))
    assert len(found.masses) == 2
    assert found.network.margin(table) == pytest.approx(found.margin, rel=1e-9)
    assert integer_network(found).margin(table) == pytest.approx(0.0502687092, rel=2e-9)
