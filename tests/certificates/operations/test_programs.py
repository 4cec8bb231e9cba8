"""The semidefinite programs of the upper side against a plain program, known numbers, ascent, and one another."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from lemmata.certificates.operations import programs, programs_interior
from lemmata.certificates.operations.forms import (
    NEURON_FACTOR,
    Kind,
    form_matrices,
    form_values,
    monomials,
    multinomials,
    plane_matrices,
    residual,
)
from lemmata.certificates.operations.programs import OperationProgramError, relaxed_family, relaxed_margin, relaxed_phi
from lemmata.certificates.operations.programs_cones import Solver
from lemmata.certificates.operations.programs_interior import solve_interior
from lemmata.numerics.operations.operation import Operation
from tests.certificates.plain_program import plain_margin


def table(f, n: int) -> Operation:
    return Operation.of([[f(a, b) for b in range(n)] for a in range(n)])


def drawn(seed: int, rows: int, columns: int, labels: int) -> Operation:
    return Operation.of(np.random.default_rng(seed).integers(0, labels, (rows, columns)).tolist(), labels=labels)


def product_symmetries(n: int, root: int) -> list[list[int]]:
    """Generators of symmetries of multiplication mod a prime: factors, the swap, inversion."""
    plain, scaled = list(range(n)), [root * x % n for x in range(n)]
    inverse = [pow(x, n - 2, n) for x in range(n)]
    points = [(scaled, plain, scaled), (plain, scaled, scaled), (inverse, inverse, inverse)]
    moved = [[*r, *(n + x for x in c), *(2 * n + x for x in k)] for r, c, k in points]
    return [*moved, [*range(n, 2 * n), *range(n), *range(2 * n, 3 * n)]]


Z3 = table(lambda a, b: (a + b) % 3, 3)
XOR = table(lambda a, b: a ^ b, 4)
MAX = table(max, 4)
SMALL = Operation.of([[0, 1], [1, 2]])
GAP = Operation.of([[0, 0, 1], [0, 2, 3]])
KNOWN = [
    (Z3, 0.0785674201),
    (XOR, 0.0641500299),
    (MAX, 0.0832434067),
    (table(lambda a, b: a * b % 4, 4), 0.0756359645),
    (table(lambda a, b: a * b % 5, 5), 0.0411276703),
    (table(lambda a, b: (a * a + b * b) % 5, 5), 0.0484953354),
]


@pytest.mark.parametrize(("known", "value"), KNOWN)
def test_the_bound_is_the_known_one(known: Operation, value: float) -> None:
    found = relaxed_margin(known)
    assert found.bound == pytest.approx(value, rel=1e-8, abs=1e-10)
    assert found.q.min() >= 0
    assert found.q.sum() == pytest.approx(1)


@pytest.mark.parametrize("given", [GAP, drawn(1, 3, 2, 3), Z3.without([(0, 1)]), drawn(2, 2, 3, 5)])
def test_a_plain_program_has_the_same_value(given: Operation) -> None:
    assert relaxed_margin(given, kind=4).bound == pytest.approx(plain_margin(given), rel=2e-6)


@pytest.mark.parametrize("solver", ["interior", "clarabel", "scs"])
@pytest.mark.parametrize("kind", ["plane", 4, 6])
def test_all_solvers_agree(solver: Solver, kind: Kind) -> None:
    found = relaxed_margin(SMALL, kind=kind, solver=solver)
    assert found.bound == pytest.approx(plain_margin(SMALL), rel=2e-6)
    assert found.bound >= found.dual - 1e-9
    assert solver in found.solver


@pytest.mark.parametrize("seed", range(4))
def test_the_plane_program_is_the_one_of_degree_four(seed: int) -> None:
    given = drawn(seed, 3, 4, 2 + seed % 2)
    assert relaxed_margin(given).kind == "plane"
    assert relaxed_margin(given).bound == pytest.approx(relaxed_margin(given, kind=4).bound, rel=1e-8)


def test_degree_six_is_lower_where_degree_four_has_a_gap() -> None:
    low, high = relaxed_margin(GAP, kind=6), relaxed_margin(GAP)
    assert low.bound == pytest.approx(0.1406793297, rel=3e-9)
    assert 3.0e-5 < high.dual / low.bound - 1 < high.bound / low.dual - 1 < 4.2e-5
    bigger = Operation.of([[0, 1, 2], [1, 2, 3], [2, 4, 5]])
    assert 2.0e-3 < relaxed_margin(bigger).dual / relaxed_margin(bigger, kind=6).bound - 1 < 2.2e-3


CYCLE = [1, 2, 0, 3, 4, 5, 7, 8, 6]
NEGATION = [0, 2, 1, 3, 5, 4, 6, 8, 7]
TWIST = [1, 2, 0, 5, 3, 4, 6, 7, 8]
BITS = [
    [*(a ^ 1 for a in range(4)), 4, 5, 6, 7, *(8 + (a ^ 1) for a in range(4))],
    [0, 2, 3, 1, 4, 6, 7, 5, 8, 10, 11, 9],  # of order 3 on the classes: a representation of complex type
    [4, 5, 6, 7, 0, 1, 2, 3, 8, 9, 10, 11],
]
SYMMETRIC = [
    (Z3, 4, [CYCLE, NEGATION]),
    (Z3, 6, [TWIST]),
    (Z3, "plane", [CYCLE, TWIST]),
    (XOR, 4, BITS),
    (XOR, 4, BITS[1:2]),
    (MAX, 4, [[4, 5, 6, 7, 0, 1, 2, 3, 8, 9, 10, 11]]),
    (table(lambda a, b: a * b % 5, 5), 4, product_symmetries(5, 2)),
    (table(lambda a, b: a * b % 5, 5), 4, product_symmetries(5, 2)[:1]),
]


@pytest.mark.parametrize(("given", "kind", "generators"), SYMMETRIC)
def test_symmetry_changes_nothing_but_the_size(given: Operation, kind: Kind, generators: list[list[int]]) -> None:
    found = relaxed_margin(given, kind=kind, symmetries=generators)
    assert found.bound == pytest.approx(relaxed_margin(given, kind=kind if kind == "plane" else 4).bound, rel=1e-8)
    _prove(given, found)
    value = dict(zip(given.triples, found.q, strict=True))
    n = given.rows
    for generator in generators:
        for (a, b, c), own in value.items():
            r, s = sorted((generator[a], generator[n + b]))
            assert value[r, s - n, generator[given.size + c] - given.size] == pytest.approx(own, abs=1e-12)


@pytest.mark.parametrize("kind", ["plane", 4, 6])
@pytest.mark.parametrize("given", [Z3, Z3.without([(1, 1), (2, 0)]), drawn(3, 2, 3, 3)])
def test_the_matrix_proves_the_bound(given: Operation, kind: Kind) -> None:
    _prove(given, relaxed_margin(given, kind=kind))


def _prove(given: Operation, found: programs.Relaxation) -> None:
    """The identity of polynomials at random points, the matrix positive, and the bound the one that follows."""
    matrices = form_matrices(residual(given, found.q))
    scale = np.linalg.eigvalsh(found.matrix)[-1]
    assert np.linalg.eigvalsh(found.matrix)[0] >= -1e-14 * len(found.matrix) * scale
    generator = np.random.default_rng(5)
    for _ in range(5):
        x, z = generator.standard_normal(given.size), generator.standard_normal(given.label_count)
        if found.kind == "plane":
            A, B = plane_matrices(matrices)
            y = z[:2]
            m = np.concatenate([y[0] * x, y[1] * x])
            target = found.t * (x @ x) * (y[0] ** 2 + 3 * y[1] ** 2)
            target += (y[0] ** 2 - 3 * y[1] ** 2) * (x @ A @ x) + 6 * y[0] * y[1] * (x @ B @ x)
            bound = found.t / np.sqrt(2)
        else:
            r = (found.kind - 4) // 2
            pure = [np.prod(x[list(term)]) for term in monomials(given.size, 2 + r)]
            mixed = [np.prod(x[list(term)]) * value for term in monomials(given.size, r) for value in z]
            m = np.array(pure + mixed)
            form = found.t * (x @ x) ** 2 - 2 * z @ form_values(matrices, x) + found.t_prime * (z @ z)
            target = (x @ x) ** r * form
            bound = np.sqrt(found.t * found.t_prime)
        assert m @ found.matrix @ m == pytest.approx(target, rel=1e-9)
        assert found.bound == pytest.approx(2 / (3 * np.sqrt(3)) * bound, rel=1e-12)


@pytest.mark.parametrize("given", [Z3, XOR, GAP, drawn(4, 3, 3, 2)])
def test_no_neuron_exceeds_the_bound_and_some_come_near(given: Operation) -> None:
    """Ascent by x -> top eigenvector of sum_k w_k M_k, from many starts."""
    found = relaxed_margin(given)
    matrices = form_matrices(residual(given, found.q))
    best, generator = 0.0, np.random.default_rng(0)
    for _ in range(40):
        x = generator.standard_normal(given.size)
        for _ in range(60):
            w = form_values(matrices, x)
            x = np.linalg.eigh(np.tensordot(w, matrices, 1))[1][:, -1]
        best = max(best, NEURON_FACTOR * float(np.linalg.norm(form_values(matrices, x))))
    assert 0.9999 * found.bound < best <= found.bound * (1 + 1e-12)


def test_the_moments_match_a_pseudo_network() -> None:
    """The dual side: a positive matrix of norm 1 under which every triple has at least the value of the program."""
    found = relaxed_margin(GAP, kind=4)
    squares = monomials(GAP.size, 2)
    index = {m: i for i, m in enumerate(squares)}
    d = len(squares)
    scale = np.sqrt(multinomials(squares) + [1] * GAP.label_count)
    L = found.pseudo_moments / np.outer(scale, scale)
    assert np.linalg.eigvalsh(L)[0] > -1e-9
    norm = sum(c * L[i, i] for i, c in enumerate(multinomials(squares)))
    assert norm + np.trace(L[d:, d:]) == pytest.approx(1, rel=1e-6)
    for a, b, c in GAP.triples:
        v = GAP.rows + b
        columns = L[:, d + GAP.values[a][b]] - L[:, d + c]
        margin = columns[index[a, a]] + columns[index[v, v]] + 2 * columns[index[a, v]]
        assert 2 * NEURON_FACTOR * margin >= found.bound * (1 - 1e-6)


def test_one_tensor_and_families() -> None:
    found = relaxed_margin(GAP)
    fixed = relaxed_phi(residual(GAP, found.q))
    assert fixed.value == pytest.approx(found.bound, rel=1e-7)
    assert fixed.value == pytest.approx(NEURON_FACTOR * fixed.phi)
    units = np.eye(len(GAP.triples))
    tensors = [residual(GAP, unit) for unit in units]
    joint = relaxed_family(tensors, groups=[range(len(units))])
    assert joint.value == pytest.approx(found.bound, rel=1e-8)


def test_an_unseen_cell_of_two_is_filled_in_rightly() -> None:
    """Z_2 without a cell: at every network of the maximum margin g0 on the others it is right, by at least g0 / 9."""
    part = Operation.of([[0, 1], [1, -1]])
    g0 = relaxed_margin(part).dual * (1 - 1e-6)
    tensors = [residual(part, unit) for unit in np.eye(len(part.triples))]
    whole = Operation.of([[0, 1], [1, 0]])
    cell = residual(whole, [float(triple[:2] == (1, 1)) for triple in whole.triples])
    right = relaxed_family(tensors, fixed=-cell, weights=np.full(len(tensors), -g0))
    wrong = relaxed_family(tensors, fixed=cell, weights=np.full(len(tensors), -g0))
    assert -right.value / g0 == pytest.approx(0.111, abs=2e-3)
    assert wrong.value / g0 == pytest.approx(0.111, abs=2e-3)
    assert -right.value <= wrong.value


def test_residual_tensors_are_exact_on_fractions() -> None:
    q = [Fraction(i + 1, 105) for i in range(len(GAP.triples))]
    tensor = residual(GAP, q)
    assert isinstance(tensor.ravel()[0], int | Fraction)
    matrices = form_matrices(tensor)
    u, v = [3, -2], [1, 5, -4]
    for k in range(4):
        own = sum(
            value * ((k == GAP.values[a][b]) - (k == c)) * (u[a] + v[b]) ** 2
            for value, (a, b, c) in zip(q, GAP.triples, strict=True)
        )
        assert form_values(matrices, np.array(u + v, object))[k] == own


def test_the_norm_in_the_plane_is_that_of_three_values() -> None:
    for m in product(range(-2, 3), repeat=2):
        three = np.array([[[m[0]]], [[m[1]]], [[-m[0] - m[1]]]])
        a, b = (int(part[0, 0]) for part in plane_matrices(three))
        assert 2 * (three**2).sum() == a**2 + 3 * b**2


def test_an_inaccurate_solver_costs_slack_and_not_validity(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = relaxed_margin(XOR).bound
    rough = relaxed_margin(XOR, solver="scs", accuracy=1e-3)
    assert exact < rough.bound < 1.01 * exact
    _prove(XOR, rough)

    def spoiled(*args, **options):
        point = solve_interior(*args, **options)
        for gram in point.grams:
            gram += 0.1 * np.outer(np.cos(np.arange(len(gram))), np.cos(np.arange(len(gram))))
        return point

    monkeypatch.setattr("lemmata.certificates.operations.programs_cones.solve_interior", spoiled)
    with pytest.raises(OperationProgramError, match="tried: interior"):
        relaxed_margin(XOR, solver="interior")


def test_a_whole_step_meets_every_linear_equation(monkeypatch: pytest.MonkeyPatch) -> None:
    """A direction of the interior point method solves the linearised equations, of which only the products bend."""
    given = []

    def kept(data, start, **options):
        given.append(data)
        return solve_interior(data, start, **options)

    monkeypatch.setattr("lemmata.certificates.operations.programs_cones.solve_interior", kept)
    relaxed_margin(GAP, solver="interior")
    method = programs_interior._Method(given[0])
    at = method.started(given[0].start)
    inverses = [np.linalg.inv(s).astype(np.float64) for s in at.S]
    step = method.direction(at, inverses, method.factored(at, inverses), at.gap() / method.degree, None)
    assert method.residual(at) > 0.01
    assert method.residual(at.moved(step, 1.0, 1.0)) < 1e-9


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="at most three labels"):
        relaxed_margin(XOR, kind="plane")
    with pytest.raises(ValueError, match='accepted are "plane", 4 and 6'):
        relaxed_margin(XOR, kind=8)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no solver"):
        relaxed_margin(XOR, solver="mosek")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="permutation of 9 points"):
        relaxed_margin(Z3, symmetries=[[0, 1, 2]])
    with pytest.raises(ValueError, match="no symmetry of the table"):
        relaxed_margin(Z3, symmetries=[[1, 0, 2, 3, 4, 5, 6, 7, 8]])
    with pytest.raises(ValueError, match="no symmetry of the table"):
        relaxed_margin(Z3, symmetries=[[6, 1, 2, 3, 4, 5, 0, 7, 8]])
    with pytest.raises(ValueError, match="no symmetry of the table"):
        relaxed_margin(Z3.without([(0, 0)]), symmetries=[CYCLE])
    with pytest.raises(ValueError, match="as many multipliers"):
        residual(Z3, [1.0])
    tensors = [residual(Z3, unit) for unit in np.eye(len(Z3.triples))[:2]]
    with pytest.raises(ValueError, match="Symmetry 0 changes a tensor"):
        relaxed_family(tensors, groups=[[0, 1]], symmetries=[CYCLE])
    with pytest.raises(ValueError, match="no multiplier is in two groups"):
        relaxed_family(tensors, groups=[[0, 1], [1]])
    with pytest.raises(ValueError, match="as many weights"):
        relaxed_family(tensors, groups=[[0, 1]], weights=[1.0])
    with pytest.raises(ValueError, match="sum 0 over the labels"):
        relaxed_phi(np.ones((2, 2, 2)))
    with pytest.raises(ValueError, match="one common shape"):
        relaxed_family([])
    with pytest.raises(OperationProgramError, match="unbounded"):
        relaxed_family(tensors, weights=[-1.0, -1.0])
