"""The matrix game: exact values against a second solver, and `verify` against planted faults."""

from dataclasses import replace
from math import sqrt

import cvxpy as cp
import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from certificates.characters import CharacterTable, cyclic_characters, product_characters, symmetric_characters
from certificates.class_weights import closed_form_margin, condition_sums, equalising_class_weights, spectral_sum
from certificates.game import MarginGame, margin_scale, solve, verify
from certificates.groups import solve_table
from numerics.cyclotomic import rational, sqrt_rational


def quaternion_table() -> CharacterTable:
    """The table of Q_8; the values are those of D_4, the map of squares is not."""
    values = np.array(
        [[1, 1, 1, 1, 1], [1, 1, 1, -1, -1], [1, 1, -1, 1, -1], [1, 1, -1, -1, 1], [2, -2, 0, 0, 0]], dtype=object
    )
    names = ("e", "-1", "i", "j", "k")
    return CharacterTable(
        "Q8", values, (1, 1, 2, 2, 2), (0, 0, 1, 1, 1), (0, 1, 2, 3, 4), names, ("1", "i", "j", "k", "H")
    )


def second_opinion(game: MarginGame) -> float:
    """Return the value of the game as the dual program, by an interior-point solver."""
    payoff = game.payoff()
    t, bound = cp.Variable(payoff.shape[1], nonneg=True), cp.Variable()
    problem = cp.Problem(cp.Minimize(bound), [payoff @ t <= bound, cp.sum(t) == 1])
    return float(problem.solve(solver=cp.CLARABEL))


TABLES = {
    "Z2": lambda: cyclic_characters(2),
    "Z9": lambda: cyclic_characters(9),
    "Z12": lambda: cyclic_characters(12),
    "S5": lambda: symmetric_characters(5),
    "S6": lambda: symmetric_characters(6),
    "S7": lambda: symmetric_characters(7),
    "Q8": quaternion_table,
    "Z3xS3": lambda: product_characters(cyclic_characters(3), symmetric_characters(3)),
    "Q8xS3": lambda: product_characters(quaternion_table(), symmetric_characters(3)),
    "Z2xS5": lambda: product_characters(cyclic_characters(2), symmetric_characters(5)),
}


@pytest.mark.parametrize("name", TABLES)
def test_exact_value_agrees_with_an_interior_point_solver(name):
    game = MarginGame(TABLES[name]())
    solution = solve(game)
    # interior-point solvers stop at a duality gap of about 1e-8
    assert float(solution.value) == pytest.approx(second_opinion(game), rel=1e-6)


@pytest.mark.parametrize(
    ("name", "decimal"),
    [
        ("Z2", 2.7216552698e-01),
        ("Z9", 1.1340230291e-02),
        ("S5", 1.3259774900e-04),
        ("S6", 7.2663033860e-06),
        ("S7", 2.6889824030e-07),
        ("Q8", 1.2371160317e-02),
    ],
)
def test_reference_margins(name, decimal):
    assert float(solve_table(TABLES[name]()).gamma) == pytest.approx(decimal, rel=1e-9)


def test_exact_margins_in_closed_form():
    assert solve(MarginGame(quaternion_table())).gamma == fmpq(16, 11) / sqrt_rational(24) ** 3
    root2, root5 = sqrt_rational(2), sqrt_rational(5)
    assert solve(MarginGame(symmetric_characters(6))).value == 18 / (5 * root5 * (3 + root2))
    assert margin_scale(6) == 2 / sqrt_rational(18) ** 3


@pytest.mark.parametrize("name", ["Z9", "Z12", "S5", "Q8"])
def test_closed_form_equals_the_game_where_its_weights_are_weights(name):
    game = MarginGame(TABLES[name]())
    assert all(weight >= 0 for weight in equalising_class_weights(game))
    assert solve(game).gamma == closed_form_margin(game)


@pytest.mark.parametrize("name", ["S6", "S7", "Z2xS5"])
def test_closed_form_is_strictly_smaller_where_the_condition_fails(name):
    game = MarginGame(TABLES[name]())
    assert any(total > 0 for total in condition_sums(game))
    assert solve(game).gamma > closed_form_margin(game)


@pytest.mark.parametrize("name", TABLES)
def test_equalising_weights_sum_to_one_and_equalise(name):
    game = MarginGame(TABLES[name]())
    t = equalising_class_weights(game)
    assert sum(t) == 1
    assert all(kappa == rational(game.table.order) / spectral_sum(game) for kappa in game.kappas(t))


class TestVerifyRejects:
    """One fault at a time in the exact optimal pair of S_4."""

    def setup_method(self):
        self.solution = solve(MarginGame(symmetric_characters(4)))
        self.pair = (self.solution.game, self.solution.value, self.solution.eps, self.solution.t)

    def test_nothing_is_wrong_before_the_fault(self):
        again = verify(*self.pair)
        assert len(again.tight_rows) == len(again.eps)
        assert len(again.tight_columns) == len(again.t)

    def test_larger_value(self):
        game, value, eps, t = self.pair
        with pytest.raises(ValueError, match="below the claimed value"):
            verify(game, value + fmpq(1, 10**30), eps, t)

    def test_smaller_value(self):
        game, value, eps, t = self.pair
        with pytest.raises(ValueError, match="above the claimed value"):
            verify(game, value - fmpq(1, 10**30), eps, t)

    def test_mass_moved_between_representations(self):
        game, value, eps, t = self.pair
        moved = eps.copy()
        moved[0], moved[1] = moved[0] + fmpq(1, 10**9), moved[1] - fmpq(1, 10**9)
        with pytest.raises(ValueError, match="The masses give class"):
            verify(game, value, moved, t)

    def test_class_weight_moved(self):
        game, value, eps, t = self.pair
        moved = t.copy()
        moved[0], moved[1] = moved[0] + fmpq(1, 10**9), moved[1] - fmpq(1, 10**9)
        with pytest.raises(ValueError, match="The class weights leave"):
            verify(game, value, eps, moved)

    def test_negative_entries_and_wrong_sums(self):
        game, value, eps, t = self.pair
        negative = eps.copy()
        negative[0], negative[1] = -eps[0], eps[1] + 2 * eps[0]
        with pytest.raises(ValueError, match=r"mass eps of .* is negative"):
            verify(game, value, negative, t)
        with pytest.raises(ValueError, match="class weight t must add up to 1"):
            verify(game, value, eps, t * fmpq(1, 2))
        with pytest.raises(ValueError, match="needs 4 entries"):
            verify(game, value, eps[:3], t)


@given(st.permutations(range(1, 7)), st.permutations(range(1, 7)))
def test_value_does_not_depend_on_the_order_of_rows_and_columns(rows, columns):
    table = symmetric_characters(5)
    order, classes = [0, *rows], [0, *columns]
    position = {C: i for i, C in enumerate(classes)}
    shuffled = replace(
        table,
        values=table.values[np.ix_(order, classes)],
        class_sizes=tuple(table.class_sizes[C] for C in classes),
        squares=tuple(position[table.squares[C]] for C in classes),
        inverses=tuple(position[table.inverses[C]] for C in classes),
        class_names=tuple(table.class_names[C] for C in classes),
        irrep_names=tuple(table.irrep_names[R] for R in order),
    )
    assert solve(MarginGame(shuffled)).value == solve(MarginGame(table)).value


def test_payoff_in_floating_point():
    payoff = MarginGame(symmetric_characters(3)).payoff()
    np.testing.assert_allclose(payoff, [[2 / sqrt(8), 3 / sqrt(8)], [2, 0]], rtol=1e-15)
