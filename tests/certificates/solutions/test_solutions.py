"""Brackets of CVXPY problems: known optima, tampered solutions, liars, and problems without an optimum."""

import itertools
from dataclasses import replace
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from flint import fmpq, fmpq_mat

import lemmata as lm
from lemmata.certificates.solutions.bracket import CertifiedSolution, verify
from lemmata.certificates.solutions.programs import ConeProgram, dual, is_feasible, is_semidefinite

F = Fraction


def certified(problem: cp.Problem) -> CertifiedSolution:
    problem.solve(solver=cp.CLARABEL)
    return lm.certify_solution(problem)


def polygon() -> tuple[cp.Problem, cp.Variable]:
    """max 3 x + y with x + 3 y <= 1, 7 x - y <= 1: the corner (2/11, 3/11), of value 9/11."""
    x = cp.Variable(2, name="x")
    return cp.Problem(cp.Maximize(3 * x[0] + x[1]), [x >= 0, x[0] + 3 * x[1] <= 1, 7 * x[0] - x[1] <= 1]), x


def theta() -> tuple[cp.Problem, cp.Variable]:
    """The theta function of the pentagon, which is the root of 5 (Lovasz)."""
    X = cp.Variable((5, 5), symmetric=True, name="X")
    edges = [X[i, (i + 1) % 5] == 0 for i in range(5)]
    return cp.Problem(cp.Maximize(cp.sum(X)), [X >> 0, cp.trace(X) == 1, *edges]), X


def corner_value(c, A, b) -> Fraction:
    """The largest c.x over the corners of A x <= b in the plane, by their enumeration."""
    values = []
    for i, j in itertools.combinations(range(len(A)), 2):
        determinant = A[i][0] * A[j][1] - A[i][1] * A[j][0]
        if determinant:
            x = F(b[i] * A[j][1] - A[i][1] * b[j], determinant)
            y = F(A[i][0] * b[j] - b[i] * A[j][0], determinant)
            if all(row[0] * x + row[1] * y <= right for row, right in zip(A, b, strict=True)):
                values.append(c[0] * x + c[1] * y)
    return max(values)


def test_a_corner_is_found_exactly():
    problem, _ = polygon()
    found = certified(problem)
    assert found.status == "bracketed"
    assert found.lower == found.upper == F(9, 11)
    assert found.gap == 0
    assert found.point["x"].tolist() == [F(2, 11), F(3, 11)]
    assert found.slack < F(1, 10**6)
    assert found.moved < F(1, 10**6)


@pytest.mark.parametrize("seed", range(5))
def test_bounds_hold_the_best_corner_of_a_polygon(seed):
    rng = np.random.default_rng(seed)
    A = [*rng.integers(-9, 10, (5, 2)).tolist(), [1, 0], [-1, 0], [0, 1], [0, -1]]
    b = [*rng.integers(1, 20, 5).tolist(), 7, 7, 7, 7]
    c = rng.integers(1, 9, 2).tolist()
    x = cp.Variable(2)
    found = certified(cp.Problem(cp.Minimize(-np.array(c) @ x), [np.array(A) @ x <= b]))
    assert found.lower <= -corner_value(c, A, b) <= found.upper
    assert found.gap < F(1, 10**6)


def test_the_root_of_five_lies_between_the_bounds_of_the_pentagon():
    found = certified(theta()[0])
    assert 0 < found.lower**2 <= 5 <= found.upper**2
    assert 0 < found.gap < F(1, 10**6)  # it is irrational: no rational bounds meet


def test_a_set_without_an_inside():
    x = cp.Variable(3, nonneg=True)  # one point is feasible
    found = certified(cp.Problem(cp.Minimize(x[0] - x[2]), [cp.sum(x) == 1, x[0] >= 0.25, x[1] >= 0.5, x[2] >= 0.25]))
    assert found.upper == 0
    assert -F(1, 10**6) < found.lower <= 0


def test_variables_of_every_kind_and_parameters():
    x, X, Y = cp.Variable(3, nonneg=True), cp.Variable((2, 2), PSD=True), cp.Variable((2, 2), symmetric=True)
    p = cp.Parameter(value=2)
    value = cp.sum(x) - cp.norm1(x - 1) - cp.trace(X) - Y[0, 1]
    conditions = [x <= p, X >> np.eye(2), Y >> np.eye(2) / 8, cp.trace(Y) == 1]
    found = certified(cp.Problem(cp.Maximize(value), conditions))
    # x_i - |x_i - 1| <= 1, the trace is at least 2, and (Y_11 - 1/8)(Y_22 - 1/8) >= Y_12^2 gives -Y_12 <= 3/8
    assert found.lower == found.upper == F(11, 8)


@pytest.mark.parametrize("shape", [(6,), (2, 3), (3, 2), (2, 3, 2)])
@pytest.mark.filterwarnings("ignore:The problem has an expression with dimension greater than 2")
def test_entries_keep_their_places(shape):
    M = cp.Variable(shape, name="M")
    entries = np.arange(M.size).reshape(shape)
    found = certified(cp.Problem(cp.Minimize(cp.sum(M)), [entries <= M]))
    assert found.point["M"].tolist() == entries.tolist()
    assert found.moved < F(1, 10**6)
    assert found.lower == found.upper == entries.sum()


def test_a_largest_eigenvalue_is_bracketed():
    M = np.array([[2, 1, 0], [1, 2, 1], [0, 1, 2]])
    t = cp.Variable()
    found = certified(cp.Problem(cp.Minimize(t), [t * np.eye(3) - M >> 0]))
    assert (found.lower - 2) ** 2 <= 2 <= (found.upper - 2) ** 2  # 2 + sqrt(2)


def test_matrices_that_are_not_symmetric_count_by_their_symmetric_part():
    t = cp.Variable()
    found = certified(cp.Problem(cp.Minimize(t), [t * np.eye(2) + np.array([[0, 2], [0, 0]]) >> 0]))
    assert found.lower <= 1 <= found.upper
    assert found.gap < F(1, 10**6)


def test_a_suboptimal_solution_has_a_worse_bound():
    problem, x = polygon()
    problem.solve(solver=cp.CLARABEL)
    x.value = np.array([0.125, 0.125])  # feasible, of value 1/2
    found = lm.certify_solution(problem, polish=False)
    assert found.lower == F(1, 2)
    assert found.upper == F(9, 11)
    assert found.slack == 0
    better = lm.certify_solution(problem)
    assert better.lower == better.upper == F(9, 11)
    assert better.slack == 0
    assert better.moved > F(1, 20)


def test_a_rough_solution_is_polished():
    """SCS to three digits: what a better point proves is closer by orders of magnitude."""
    problem, _ = theta()
    problem.solve(solver=cp.SCS, eps=1e-3)
    rough, fine = lm.certify_solution(problem, polish=False), lm.certify_solution(problem)
    assert rough.gap > F(1, 10**7)
    assert fine.gap < F(1, 10**9)
    assert rough.lower <= fine.lower <= fine.upper <= rough.upper


def test_parameters_need_values():
    a, x = cp.Parameter(name="price"), cp.Variable()
    problem = cp.Problem(cp.Minimize(a * x), [x >= 1])
    a.value = 2.0
    problem.solve(solver=cp.CLARABEL)
    assert lm.certify_solution(problem).lower == 2
    a.value = None
    with pytest.raises(ValueError, match="Parameters without a value: price"):
        lm.certify_solution(problem)


def test_a_violation_is_measured_and_never_believed():
    problem, x = polygon()
    problem.solve(solver=cp.CLARABEL)
    x.value = np.array([0.25, 0.25])  # 7 x - y = 3/2, by 1/2 too much
    found = lm.certify_solution(problem, polish=False)
    assert problem.status == "optimal"
    assert found.slack == F(1, 2)
    with pytest.raises(ValueError, match="violates a constraint by more than"):
        verify(replace(found, slack=F(49, 100)))
    assert found.lower < F(9, 11) - F(1, 20)  # it had to be moved far
    assert found.upper == F(9, 11)
    assert found.moved > F(1, 20)
    assert is_feasible(found.read.program, found.primal)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_violated_equation_is_measured_on_both_sides(sign):
    x = cp.Variable(name="x")
    problem = cp.Problem(cp.Minimize(x + 3), [x == 1])
    problem.solve(solver=cp.CLARABEL)
    x.value = 1 + sign * 0.5
    found = lm.certify_solution(problem)
    assert found.slack == found.moved == F(1, 2)
    with pytest.raises(ValueError, match="violates a constraint by more than"):
        verify(replace(found, slack=F(49, 100)))
    assert found.lower == found.upper == 4  # the constant counts on both sides


def test_a_violated_semidefinite_constraint_is_measured():
    problem, X = theta()
    problem.solve(solver=cp.CLARABEL)
    right = lm.certify_solution(problem)
    X.value = X.value - np.diag([0.5, -0.5, 0, 0, 0])
    least = -np.linalg.eigvalsh(X.value)[0]
    found = lm.certify_solution(problem, polish=False)
    assert least > 0.25
    assert abs(found.slack - F(least)) < F(1, 10**12)
    with pytest.raises(ValueError, match="violates a constraint by more than"):
        verify(replace(found, slack=found.slack * F(99, 100)))
    assert found.upper == right.upper
    assert found.lower < right.lower


def test_a_solver_that_lies_about_the_optimum_is_found_out():
    problem, x = polygon()
    problem.solve(solver=cp.CLARABEL)
    problem._value, problem._status = 1.5, "optimal"
    x.value = np.array([10.0, -3.0])
    found = lm.certify_solution(problem)
    assert found.upper == F(9, 11)
    assert found.lower is None or found.lower <= F(9, 11)
    assert found.slack == 72  # of 7 x - y <= 1
    assert found.claimed == 1.5
    assert found.remarks[-1] == "The value that the problem holds is above the upper by 0.68."
    x.value, problem._value = np.array([2 / 11, 3 / 11]), 0.5
    assert (
        lm.certify_solution(problem).remarks[-1] == "The value that the problem holds is below the lower bound by 0.32."
    )


def test_violations_are_those_of_the_constraints_that_the_user_wrote():
    x = cp.Variable(3, name="x")
    for objective in (cp.Maximize(1 - cp.norm1(x)), cp.Maximize(2 - cp.sum(x))):  # further variables in the first
        problem = cp.Problem(objective, [cp.sum(x) == 1, x >= 0])
        problem.solve(solver=cp.CLARABEL)
        x.value = np.array([0.5, 0.5, 0.5])
        found = lm.certify_solution(problem)
        assert found.slack == F(1, 2)
    # the sum of three absolute values exceeds 1 by 1/2, and each of the bounds on them by 1/6 only
    problem = cp.Problem(cp.Maximize(cp.sum(x)), [cp.norm1(x) <= 1])
    problem.solve(solver=cp.CLARABEL)
    x.value = np.array([0.5, 0.5, 0.5])
    found = lm.certify_solution(problem)
    assert found.slack is None
    assert found.remarks[0].startswith("How much the solution violates the constraints was not measured")
    assert found.moved >= F(1, 6)
    assert found.lower == found.upper == 1


def test_an_infeasible_and_an_unbounded_problem():
    x = cp.Variable(2)
    found = certified(cp.Problem(cp.Minimize(x[0]), [x[0] >= 1, x[0] + x[1] <= 0, x[1] >= 0]))
    assert (found.status, found.lower, found.upper) == ("infeasible", None, None)
    with pytest.raises(ValueError, match="the direction of the dual is not feasible"):
        verify(replace(found, multipliers=tuple(-v for v in found.multipliers)))
    found = certified(cp.Problem(cp.Minimize(x[0]), [x[0] + x[1] <= 0]))
    assert (found.status, found.lower, found.upper) == ("unbounded", None, None)
    with pytest.raises(ValueError, match="the direction is not feasible"):
        verify(replace(found, ray=tuple(v / 2 for v in found.ray)))
    X = cp.Variable((2, 2), PSD=True)
    found = certified(cp.Problem(cp.Minimize(X[0, 0]), [X[0, 0] == 1, X[1, 1] == 1, X[0, 1] == 2]))
    assert found.status == "infeasible"


def test_an_infimum_that_is_not_attained_is_not_rounded_up():
    X = cp.Variable((2, 2), symmetric=True)  # x y >= 1 with y free: the infimum 0 of x is no minimum
    found = certified(cp.Problem(cp.Minimize(X[0, 0]), [X >> 0, X[0, 1] == 1]))
    assert found.lower is None or found.lower <= 0
    assert found.upper is None or found.upper > 0


@pytest.mark.parametrize("part", ["primal", "multipliers"])
@pytest.mark.parametrize("make", [polygon, theta])
def test_what_is_altered_is_refused(make, part):
    found = certified(make()[0])
    verify(found)
    point = list(getattr(found, part))
    for place in range(len(point)):
        moved = tuple(v + fmpq(1, 1000) * (i == place) for i, v in enumerate(point))
        with pytest.raises(ValueError, match="Not proved"):
            verify(replace(found, **{part: moved}))
    with pytest.raises(ValueError, match="prove the bounds"):
        verify(replace(found, upper=found.upper - F(1, 10**30)))
    with pytest.raises(ValueError, match="prove the bounds"):
        verify(replace(found, lower=found.lower + F(1, 10**30)))
    for status in ("one bound", "nothing"):
        with pytest.raises(ValueError, match="prove 'bracketed'"):
            verify(replace(found, status=status))
    with pytest.raises(ValueError, match="violates a constraint by more than"):
        verify(replace(found, slack=found.slack * F(49, 50) - F(1, 10**15)))
    with pytest.raises(ValueError, match="was not moved by"):
        verify(replace(found, moved=found.moved * F(49, 50)))
    [(name, entries)] = found.point.items()
    for point in ({}, {name: entries + F(1, 10**9)}):
        with pytest.raises(ValueError, match="entries by name"):
            verify(replace(found, point=point))


def test_semidefinite_matrices_are_those_without_a_negative_principal_minor():
    rng = np.random.default_rng(3)
    seen = set()
    for _ in range(300):
        B = rng.integers(-1, 2, (4, rng.integers(1, 5)))
        M = B @ B.T - np.diag(rng.integers(0, 2, 4)) * rng.integers(0, 2)
        entries = [[fmpq(int(x), 3) for x in row] for row in M]
        minors = [
            fmpq_mat(len(s), len(s), [entries[i][j] for i in s for j in s]).det()
            for size in range(1, 5)
            for s in itertools.combinations(range(4), size)
        ]
        assert is_semidefinite(entries) == (min(minors) >= 0)
        seen.add((min(minors) >= 0, minors[-1] == 0))
    assert len(seen) == 4  # with and without a zero determinant, on both sides
    assert not is_semidefinite([[fmpq(1), fmpq(1)], [fmpq(0), fmpq(1)]])


def test_the_dual_of_the_dual_has_the_values_of_the_program():
    program = lm.certify_solution(solved(polygon()[0])).read.program
    twice = dual(dual(program))
    for point in ([fmpq(2, 11), fmpq(3, 11)], [fmpq(0), fmpq(0)], [fmpq(1, 8), fmpq(1, 16)]):
        assert is_feasible(program, point)
        again = [*(-x for x in point), *program.image(point)]  # the multipliers of its equations, and of its cone
        assert is_feasible(twice, again)
        assert twice.value(again) == program.value(point)
    assert not is_feasible(program, [fmpq(2, 11), fmpq(3, 11) + fmpq(1, 10**9)])


def solved(problem: cp.Problem) -> cp.Problem:
    problem.solve(solver=cp.CLARABEL)
    return problem


def test_every_multiplier_proves_its_bound_on_every_point():
    """Weak duality, on feasible points of both programs that are drawn at random."""
    rng = np.random.default_rng(5)
    found = certified(theta()[0])
    program, proof = found.read.program, dual(found.read.program)
    for where, point in ((program, found.primal), (proof, found.multipliers)):
        assert is_feasible(where, point)
        assert not is_feasible(where, [x + fmpq(1, 10**12) * (i == 0) for i, x in enumerate(point)])  # of equations
    for _ in range(20):
        part = fmpq(int(rng.integers(0, 17)), 16)
        uniform = [fmpq(int(i == j), 5) for i in range(5) for j in range(i, 5)]
        point = [part * a + (1 - part) * b for a, b in zip(uniform, found.primal, strict=True)]
        assert is_feasible(program, point)
        assert program.value(point) >= -proof.value(found.multipliers)


@pytest.mark.filterwarnings("ignore:The problem has an expression with dimension greater than 2")
def test_what_is_no_linear_or_semidefinite_problem_is_refused():
    x, n = cp.Variable(2), cp.Variable(integer=True)
    for problem, said in (
        (cp.Problem(cp.Minimize(cp.norm(x, 2)), [x >= 1]), "needs the cone SOC"),
        (cp.Problem(cp.Minimize(n), [n >= 1]), "is integer"),
        (cp.Problem(cp.Minimize(cp.Variable(2, boolean=True)[0])), "is boolean"),
    ):
        x.value, n.value = [1, 1], 1
        with pytest.raises(ValueError, match=said):
            lm.certify_solution(problem)
    x.value = [1, 1]
    with pytest.raises(ValueError, match="needs the cone FiniteSet"):
        lm.certify_solution(cp.Problem(cp.Minimize(x[0]), [cp.FiniteSet(x[0], [1, 2])]))
    with pytest.raises(ValueError, match=r"CVXPY cannot write the problem as a real cone program: NotImplementedError"):
        lm.certify_solution(cp.Problem(cp.Minimize(cp.real((1 + 2j) * x[0])), [x >= 1]))
    with pytest.raises(ValueError, match="not convex by the rules"):
        lm.certify_solution(cp.Problem(cp.Maximize(cp.sum_squares(x)), [x >= 0]))
    with pytest.raises(ValueError, match="was not solved"):
        lm.certify_solution(polygon()[0])
    for attributes, said in (({"PSD": True}, "a stack of symmetric"), ({}, "on one matrix, not on a stack")):
        S = cp.Variable((2, 3, 3), **attributes)
        S.save_value(np.array([np.eye(3)] * 2))
        with pytest.raises(ValueError, match=said):
            lm.certify_solution(cp.Problem(cp.Minimize(cp.sum(S)), [S >> 0]))
    for value, most, said in (
        (np.inf, 1, "The values of the variables"),
        (0, np.inf, "The constants of the problem"),
    ):
        problem = cp.Problem(cp.Minimize(-x[0]), [x >= 0, x <= most])
        x.value = [value, 0]
        with pytest.raises(ValueError, match=f"{said} must be finite numbers"):
            lm.certify_solution(problem)
    for kind in ("complex", "imag", "hermitian", "diag"):
        Z = cp.Variable((2, 2), **{kind: True})
        with pytest.raises(ValueError, match=f"is {kind}: only real, full variables"):
            lm.certify_solution(cp.Problem(cp.Minimize(0), [Z == 0]))
    with pytest.raises(ValueError, match="is sparsity: only real, full variables"):
        lm.certify_solution(cp.Problem(cp.Minimize(0), [cp.Variable((2, 2), sparsity=([0], [1])) == 0]))
    with pytest.raises(ValueError, match="same name: every one needs its own, not z, z"):
        lm.certify_solution(cp.Problem(cp.Minimize(cp.Variable(name="z") - cp.Variable(name="z"))))
    with pytest.raises(TypeError, match="not a float"):
        lm.certify_solution(1.5)
    with pytest.raises(ValueError, match="has equations"):
        ConeProgram((fmpq(1),), fmpq(0), fmpq_mat(0, 2), (), fmpq_mat(0, 1), (), 0)
