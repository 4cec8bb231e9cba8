"""Exact linear programs: against all bases, a floating-point solver, cycling examples, scaling, and planted faults."""

from dataclasses import FrozenInstanceError, replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from lemmata.numerics.exact import linear_programs
from lemmata.numerics.exact.cyclotomic.numbers import cosine, sqrt_rational
from lemmata.numerics.exact.linear import solve_unique
from lemmata.numerics.exact.linear_programs import Infeasible, LinearProgram, Optimum, Unbounded, solve_program, verify


def program(matrix: Any, right: Any, costs: Any, radicands: tuple[int, ...] = (1,)) -> LinearProgram:
    return LinearProgram(*(np.array(part, dtype=object) for part in (matrix, right, costs)), radicands)


def best_vertex(task: LinearProgram) -> fmpq | None:
    """The smallest cost of a vertex, by solving the equations on every set of columns; None if there is no vertex."""
    equations, unknowns = task.matrix.shape
    costs = []
    for size in range(min(equations, unknowns) + 1):
        for columns in combinations(range(unknowns), size):
            try:
                x = solve_unique(task.matrix[:, columns], task.right)
            except ValueError:
                continue
            if all(entry >= 0 for entry in x):
                costs.append(sum((task.costs[0, j] * entry for j, entry in zip(columns, x, strict=True)), fmpq(0)))
    return min(costs, default=None)


@st.composite
def programs(draw: st.DrawFn) -> LinearProgram:
    equations, unknowns = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    small = st.integers(-3, 3)
    rows = draw(st.lists(st.lists(small, min_size=unknowns, max_size=unknowns), min_size=equations, max_size=equations))
    right = draw(st.lists(small, min_size=equations, max_size=equations))
    return program(rows, right, draw(st.lists(small, min_size=unknowns, max_size=unknowns)))


@given(programs(), st.lists(st.integers(0, 5), max_size=4))
@settings(max_examples=300, deadline=None)
def test_outcomes_agree_with_all_bases(task: LinearProgram, columns: list[int]) -> None:
    """Also with columns preferred at random, that are no good guess."""
    outcome = solve_program(task, [j for j in columns if j < task.matrix.shape[1]])
    best = best_vertex(task)
    assert isinstance(outcome, Infeasible) == (best is None)
    if isinstance(outcome, Optimum):
        assert (task.costs[0] * outcome.x).sum() == best
        positive = np.flatnonzero(outcome.x > 0)
        assert np.array_equal(solve_unique(task.matrix[:, positive], task.right), outcome.x[positive])  # a vertex


@pytest.mark.parametrize("seed", range(40))
def test_outcomes_agree_with_a_floating_point_solver(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(3, 9)), int(rng.integers(6, 15))
    matrix = rng.integers(-5, 6, (m, n))
    right = matrix @ rng.integers(0, 3, n) if seed % 4 else rng.integers(-5, 6, m)  # else hardly ever feasible
    costs = rng.integers(-1, 8, n)
    result = linprog(costs, A_eq=matrix, b_eq=right)
    outcome = solve_program(program(matrix / fmpq(7), right / fmpq(7), costs / fmpq(3)))
    kinds = {0: Optimum, 2: Infeasible, 3: Unbounded}
    assert isinstance(outcome, kinds[result.status])
    if isinstance(outcome, Optimum):
        assert float((costs * outcome.x).sum()) == pytest.approx(result.fun, abs=1e-6)


BEALE = (
    [
        [fmpq(1, 4), -8, -1, 9, 1, 0, 0],
        [fmpq(1, 2), -12, fmpq(-1, 2), 3, 0, 1, 0],
        [0, 0, 1, 0, 0, 0, 1],
    ],
    [0, 0, 1],
    [fmpq(-3, 4), 20, fmpq(-1, 2), 6, 0, 0, 0],
)
"""E. M. L. Beale, Cycling in the dual simplex algorithm (1955); the optimum is -5/4."""

KUHN = (
    [
        [-2, -9, 1, 9, 1, 0, 0],
        [fmpq(1, 3), 1, fmpq(-1, 3), -2, 0, 1, 0],
        [2, 3, -1, -12, 0, 0, 1],
    ],
    [0, 0, 2],
    [-2, -3, 1, 12, 0, 0, 0],
)
"""H. W. Kuhn's example, by M. L. Balinski and A. W. Tucker (1969); the optimum is -2."""


@pytest.mark.parametrize(("task", "optimum"), [(BEALE, fmpq(-5, 4)), (KUHN, fmpq(-2))])
def test_programs_that_cycle_by_the_rule_of_the_most_negative_cost(task: Any, optimum: fmpq) -> None:
    outcome = solve_program(program(*task), [4, 5, 6])
    assert isinstance(outcome, Optimum)
    assert (program(*task).costs[0] * outcome.x).sum() == optimum


def test_the_examples_do_cycle_by_that_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest fall per step instead of Bland's rule visits a basis twice: the test above is not vacuous."""
    task = program(*BEALE)
    matrix, basis, seen = task.matrix, [4, 5, 6], set()
    while frozenset(basis) not in seen:
        seen.add(frozenset(basis))
        position = linear_programs._Position(matrix, task.right, basis)
        reduced = task.costs[0] - (task.costs[0, basis] @ position.inverse) @ matrix
        entering = int(np.argmin(reduced))
        assert reduced[entering] < 0
        column = position.column(entering)
        leaving = min((position.values[i] / column[i], i) for i in range(3) if column[i] > 0)[1]
        basis[leaving] = entering
    assert len(seen) == 6


HUGE = fmpq(10) ** 400


@given(programs(), st.data())
@settings(max_examples=100, deadline=None)
def test_scales_do_not_matter(task: LinearProgram, data: st.DataObject) -> None:
    """Rows, columns and costs times 10^400, 1 or 10^-400, each by itself: the same bases, so scaled vectors."""
    sizes = st.sampled_from([HUGE, fmpq(1), 1 / HUGE])
    equations, unknowns = task.matrix.shape
    rows = np.array([data.draw(sizes) for _ in range(equations)], dtype=object)
    columns = np.array([data.draw(sizes) for _ in range(unknowns)], dtype=object)
    size = data.draw(sizes)
    scaled = replace(
        task,
        matrix=rows[:, None] * task.matrix * columns,
        right=rows * task.right,
        costs=size * task.costs * columns,
    )
    before, after = solve_program(task), solve_program(scaled)
    assert type(before) is type(after)
    if isinstance(before, Optimum) and isinstance(after, Optimum):
        assert np.array_equal(after.x * columns, before.x)
        assert np.array_equal(after.dual * rows, size * before.dual)


# ---- costs that are sums of square roots, and matrices over a real field


@given(programs(), st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_costs_by_coordinates_are_those_in_the_field(task: LinearProgram, seed: int) -> None:
    """sum q_m sqrt(m) over m = 1, 2, 3, 6: by coordinates, and as cyclotomic numbers."""
    coordinates = np.random.default_rng(seed).integers(-4, 5, (4, task.matrix.shape[1])).astype(object)
    roots = np.array([sqrt_rational(m) for m in (1, 2, 3, 6)], dtype=object)
    by_coordinates = solve_program(replace(task, costs=coordinates, radicands=(1, 2, 3, 6)))
    in_field = solve_program(replace(task, costs=roots @ coordinates))
    assert type(by_coordinates) is type(in_field)
    if isinstance(by_coordinates, Optimum) and isinstance(in_field, Optimum):
        assert np.array_equal(by_coordinates.x, in_field.x)
        assert np.array_equal(roots @ by_coordinates.dual, in_field.dual[0])


@pytest.mark.parametrize("digits", [20, 100, 1000])
def test_costs_that_differ_by_any_little(digits: int) -> None:
    """x + y = 1 with the costs sqrt(2) and a decimal next to it, below or above."""
    near = fmpq(int(str(_root_of_two(digits))), 10**digits)
    for decimal, cheaper in ((near, 1), (near + fmpq(1, 10**digits), 0)):
        costs = np.array([[0, decimal], [1, 0]], dtype=object)
        outcome = solve_program(program([[1, 1]], [1], costs, (1, 2)))
        assert isinstance(outcome, Optimum)
        assert outcome.x.tolist() == [1 - cheaper, cheaper]


def _root_of_two(digits: int) -> int:
    """floor(10^digits sqrt(2)) by Newton's method on integers."""
    square, root = 2 * 10 ** (2 * digits), 2 * 10**digits
    while (better := (root + square // root) // 2) < root:
        root = better
    return root


def test_a_matrix_over_a_real_field() -> None:
    """Maximise x + y over x + phi y <= 1, y <= phi x: an optimum in Q(sqrt 5)."""
    phi = 2 * cosine(1, 5)  # (sqrt 5 - 1)/2
    outcome = solve_program(program([[1, phi, 1, 0], [-phi, 1, 0, 1]], [1, 0], [-1, -1, 0, 0]))
    assert isinstance(outcome, Optimum)
    x, y = outcome.x[:2]
    assert y == phi * x
    assert x == 1 / (1 + phi**2)


# ---- degenerate shapes, refusals


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        (([[0, 0]], [0], [1, 2]), Optimum),
        (([[0, 0]], [1], [1, 2]), Infeasible),
        (([[0, 0]], [0], [1, -2]), Unbounded),
        (([[1, 1], [2, 2]], [1, 2], [1, 2]), Optimum),
        (([[1, 1], [2, 2]], [1, 3], [1, 2]), Infeasible),
        (([[1, 1], [2, 2], [1, -1]], [-1, -2, 0], [1, 2]), Infeasible),
        (([[1, -1]], [0], [-1, 0]), Unbounded),
        (([[1], [1]], [0, 0], [-1]), Optimum),
    ],
)
def test_dependent_equations_and_zeros(task: Any, kind: type) -> None:
    assert isinstance(solve_program(program(*task)), kind)


def test_what_is_no_program_is_refused() -> None:
    for wrong in (([[1, 1]], [1, 1], [1, 1]), ([[1, 1]], [1], [1]), ([1, 1], [1, 1], [1, 1])):
        with pytest.raises(ValueError, match="A linear program needs a matrix"):
            program(*wrong)
    with pytest.raises(ValueError, match="rows of costs"):
        program([[1, 1]], [1], [1, 1], (1, 2))
    with pytest.raises(ValueError, match="not exact"):
        program([[0.5, 1]], [1], [1, 1])
    with pytest.raises(ValueError, match="rational numbers only"):
        program([[sqrt_rational(5), 1]], [1], [[1, 1], [1, 1]], (1, 2))


def test_a_program_is_itself_and_stays_what_it_is() -> None:
    first, second = (program([[1, 1]], [1], [1, 2]) for _ in range(2))
    assert first == first
    assert first != second
    assert len({first, second, first}) == 2
    with pytest.raises(FrozenInstanceError):
        first.right = second.right  # pyright: ignore[reportAttributeAccessIssue]


# ---- planted faults


TASK = program([[1, 1, 1, 0], [1, 3, 0, 1]], [4, 6], [-1, -2, 0, 0])


def _changed(vector: Any, place: int, by: Any) -> Any:
    moved = vector.copy()
    moved.flat[place] = moved.flat[place] + by
    return moved


def test_edited_outcomes_are_rejected() -> None:
    tiny = 1 / HUGE
    good = solve_program(TASK)
    assert isinstance(good, Optimum)
    assert good.x.tolist() == [3, 1, 0, 0]
    verify(TASK, good)
    for place in range(4):
        with pytest.raises(ValueError, match="violates an equation"):
            verify(TASK, replace(good, x=_changed(good.x, place, tiny)))
    with pytest.raises(ValueError, match="negative entry: number 0"):
        verify(TASK, replace(good, x=-good.x))
    for place in range(2):
        with pytest.raises(ValueError, match="worth more than it costs"):
            verify(TASK, replace(good, dual=_changed(good.dual, place, tiny)))
        with pytest.raises(ValueError, match="value of the dual vector differ"):
            verify(TASK, replace(good, dual=good.dual * 2))

    unsolvable = replace(TASK, right=np.array([-1, 6], dtype=object))
    proof = solve_program(unsolvable)
    assert isinstance(proof, Infeasible)
    with pytest.raises(ValueError, match="every coefficient at most 0"):
        verify(unsolvable, Infeasible(-proof.multipliers))
    with pytest.raises(ValueError, match="right-hand side positive"):
        verify(unsolvable, Infeasible(proof.multipliers * 0))

    endless = program([[1, -1]], [0], [-1, 0])
    falling = solve_program(endless)
    assert isinstance(falling, Unbounded)
    with pytest.raises(ValueError, match="do not fall"):
        verify(endless, replace(falling, ray=falling.ray * 0))
    with pytest.raises(ValueError, match="The ray violates an equation"):
        verify(endless, replace(falling, ray=_changed(falling.ray, 0, 1)))


class TestPlantedFaults:
    """A fault in the simplex method is noticed before anything is returned."""

    def test_a_basis_that_was_edited(self, monkeypatch: pytest.MonkeyPatch) -> None:
        exchange = linear_programs._Position.exchange

        def edited(position: Any, place: int, j: int, column: Any) -> None:
            exchange(position, place, j, column)
            position.basis.reverse()

        monkeypatch.setattr(linear_programs._Position, "exchange", edited)
        with pytest.raises(ValueError, match=r"violates an equation|worth more|negative entry|differ"):
            solve_program(TASK, [2, 3])

    def test_a_reduced_cost_of_the_wrong_sign(self, monkeypatch: pytest.MonkeyPatch) -> None:
        improve = linear_programs._improve

        def flipped(position: Any, task: LinearProgram) -> Any:
            return improve(position, replace(task, costs=-task.costs))

        monkeypatch.setattr(linear_programs, "_improve", flipped)
        with pytest.raises(ValueError, match="worth more than it costs"):
            solve_program(TASK, [2, 3])

    def test_a_tolerance_in_a_comparison(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """An unknown that is worth 10^-12 more than it costs enters the basis, and nothing may call it zero."""
        close = program([[1, 1]], [1], [fmpq(1), 1 - fmpq(1, 10**12)])
        exact = solve_program(close, [0])
        assert isinstance(exact, Optimum)
        assert exact.x.tolist() == [0, 1]
        decide = linear_programs.sign_of
        answers = {"solving": lambda x: 0 if abs(float(x)) < 1e-9 else decide(x), "checking": decide}
        improve = linear_programs._improve

        def loose(position: Any, task: LinearProgram) -> Any:
            with monkeypatch.context() as patch:
                patch.setattr(linear_programs, "sign_of", answers["solving"])
                return improve(position, task)

        monkeypatch.setattr(linear_programs, "_improve", loose)
        with pytest.raises(ValueError, match="unknown 1 worth more than it costs"):
            solve_program(close, [0])

    def test_a_ratio_test_that_takes_the_largest(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(linear_programs, "min", max, raising=False)
        with pytest.raises(ValueError, match=r"negative entry|differ|violates"):
            solve_program(TASK, [2, 3])

    def test_a_wrong_update_of_the_reduced_costs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Rows of the tableau of the wrong sign: the same bases come back, which is noticed instead of endless."""
        multiplier = linear_programs._multiplier

        def turned(matrix: Any) -> Any:
            times = multiplier(matrix)
            return lambda rows: -times(rows)

        monkeypatch.setattr(linear_programs, "_multiplier", turned)
        with pytest.raises(ArithmeticError, match="met a basis twice"):
            solve_program(TASK, [2, 3])
