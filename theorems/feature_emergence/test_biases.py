"""A bias in the neurons (ext-T17; proofs/biases.md): weights of the library, payoffs and margins by definition."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from lemmata.certificates.operations.forms import residual
from lemmata.certificates.operations.pricing import climb, random_starts
from lemmata.certificates.operations.triangle_weights import exact_weights, triangle_conditions
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import Operation
from lemmata.theorems.evidence import check, proof_steps

T17 = "feature-emergence:ext-T17"
GROUPS = ("Z2", "Z3", "Z4", "Z2xZ2", "Z5", "Z6", "S3", "Z7", "Z8", "Z2xZ4", "Z2xZ2xZ2", "D4", "Q8")
COLUMN = Operation.of([[0], [1]], name="a column")
TRIANGLES = (((7,), ((0, 0),)), ((11,), ((0, 0), (2, 5))), ((3, 3), ((0, 0),)))


def invariant(table: Operation, seed: int) -> np.ndarray:
    """Random weights of the triples of a group's table that its translations keep."""
    values = np.array(table.values)
    [unit] = np.flatnonzero((values == np.arange(table.rows)).all(axis=1))
    inverse = np.argmax(values == unit, axis=1)
    drawn = np.random.default_rng(seed).integers(1, 99, table.rows)
    return np.array([drawn[values[values[inverse[a], k], inverse[b]]] for a, b, _, k in _triples(table)])


def _triples(table: Operation) -> list[tuple[int, int, int, int]]:
    return [
        (a, b, y, k)
        for a, row in enumerate(table.values)
        for b, y in enumerate(row)
        for k in range(table.label_count)
        if y >= 0 and k != y
    ]


def paid(table: Operation, weights: np.ndarray, neuron: tuple) -> fmpq:
    """The sum of the weights times the margins of a neuron with a bias, by definition."""
    u, v, c, w = neuron
    return sum(
        (
            int(x) * (u[a] + v[b] + c) ** 2 * (w[y] - w[k])
            for x, (a, b, y, k) in zip(weights, _triples(table), strict=True)
        ),
        fmpq(0),
    )


def drawn_neuron(table: Operation, rng: np.random.Generator) -> tuple:
    """Small fractions."""
    u, v, w = (
        [fmpq(int(x), 7) for x in rng.integers(-9, 10, size)] for size in (table.rows, table.columns, table.label_count)
    )
    return u, v, fmpq(int(rng.integers(1, 9)), 3), w


def triangle_table(orders: tuple[int, ...], missing: tuple) -> tuple[Operation, np.ndarray]:
    """Addition without some cells, and the weights of its triples by the library's triangles."""
    conditions = triangle_conditions(orders, missing)
    found = exact_weights(conditions)
    assert found is not None
    table = Operation.of(conditions.plus.tolist(), name="addition").without(list(missing))
    step = np.argsort(conditions.plus, axis=1)  # step[y, k] = d with y + d = k
    return table, np.array([found[a, b, step[y, k]] for a, b, y, k in _triples(table)], np.int64)


@check(T17, grade="exact", target="printed", cases="all groups of order 2 to 8, random weights that translations keep")
@proof_steps("biases.md: 1, 3")
@pytest.mark.parametrize("name", GROUPS)
def test_invariant_weights_pay_for_no_bias(name: str) -> None:
    """Sums over rows and over columns vanish, and the payoff of a neuron does not change with its bias."""
    table, rng, seen = parse_operation(name), np.random.default_rng(17), []
    for seed in range(3):
        weights = invariant(table, seed)
        tensor = residual(table, weights)
        assert not tensor.sum(axis=0).any()
        assert not tensor.sum(axis=1).any()
        u, v, c, w = drawn_neuron(table, rng)
        without = paid(table, weights, (u, v, fmpq(0), w))
        assert paid(table, weights, (u, v, c, w)) == without
        seen.append(without)
    assert any(seen)


@check(T17, grade="exact", target="printed", cases="one cell of Z_7 and Z_3^2, two cells of Z_11: committed kinds")
@proof_steps("biases.md: 1, 4")
@pytest.mark.parametrize(("orders", "missing"), TRIANGLES)
def test_triangles_pay_for_no_bias(orders: tuple[int, ...], missing: tuple) -> None:
    """The weights that force the whole margin on addition without some cells."""
    table, weights = triangle_table(orders, missing)
    assert weights.min() >= 0
    tensor = residual(table, weights)
    assert not tensor.sum(axis=0).any()
    assert not tensor.sum(axis=1).any()
    u, v, c, w = drawn_neuron(table, np.random.default_rng(len(missing)))
    assert paid(table, weights, (u, v, c, w)) == paid(table, weights, (u, v, fmpq(0), w)) != 0


@check(T17, grade="symbolic", target="printed", cases="one column of two labels")
@proof_steps("biases.md: 5")
def test_a_column_gains_by_a_bias() -> None:
    """The bound and the network that attains it, with a bias and without one."""
    for bias, square in ((1, 5), (0, 3)):
        x = sp.symbols("x:4")
        at = [x[row] + x[2] + bias * x[3] for row in (0, 1)]
        form = sp.hessian(at[0] ** 2 - at[1] ** 2, x) / 2
        assert set(form.eigenvals()) == {sp.sqrt(square), -sp.sqrt(square), 0}
        [vector] = (form - sp.sqrt(square) * sp.eye(4)).nullspace()
        vector *= sp.sqrt(sp.Rational(2, 3)) / sp.sqrt((vector.T * vector)[0])
        values, w = [one.subs(dict(zip(x, vector, strict=True))) for one in at], 1 / sp.sqrt(6)
        assert sp.simplify((vector.T * vector)[0] + 2 * w**2) == 1
        # half of the mass on it, half on its image under the exchange of rows and labels
        outputs = [[(values[row] ** 2 - values[1 - row] ** 2) / 2 * w * sign for sign in (1, -1)] for row in (0, 1)]
        margins = {sp.simplify(outputs[0][0] - outputs[0][1]), sp.simplify(outputs[1][1] - outputs[1][0])}
        assert margins == {sp.sqrt(2 * square) / (3 * sp.sqrt(3))}
    tensor = residual(COLUMN, np.array([1, 1]))
    assert tensor.sum(axis=0).any() or tensor.sum(axis=1).any()


@check(T17, grade="sampled", target="printed", cases="uniform weights, Z_5 and S_3, and the column; 200 starts each")
@proof_steps("biases.md: 2, 5")
@pytest.mark.parametrize(("name", "gain"), [("Z5", 1), ("S3", 1), ("column", 5 / 3)])
def test_best_neurons_have_no_bias_where_it_is_not_paid(name: str, gain: float) -> None:
    table = COLUMN if name == "column" else parse_operation(name)
    tensor = residual(table, np.ones(len(_triples(table)), np.int64)).astype(float)
    rows, size = table.rows, table.rows + table.columns
    values = []
    for bias in (0, 1):
        forms = np.zeros((table.label_count, size + 1, size + 1))
        for a, b in product(range(rows), range(table.columns)):
            cell = np.zeros(size + 1)
            cell[[a, rows + b, size]] = 1, 1, bias
            forms += tensor[a, b][:, None, None] * np.outer(cell, cell)
        x, reached = climb(forms, random_starts(forms, 200, np.random.default_rng(bias)))
        values.append(reached.max())
        best = x[reached > reached.max() * (1 - 1e-9)]
        assert (abs(best[:, -1]) < 1e-3).all() if gain == 1 else bias == 0 or (abs(best[:, -1]) > 0.1).all()
    assert values[1] / values[0] == pytest.approx(np.sqrt(gain), rel=1e-9)
