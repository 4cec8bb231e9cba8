"""The matrix game: exact values against a second solver, and `verify` against planted faults."""

from dataclasses import replace
from math import factorial, sqrt

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.characters.families import symmetric_characters
from lemmata.certificates.game.closed_form import closed_form_margin, solve_table
from lemmata.certificates.game.equalising import condition_sums, equalising_class_weights, spectral_sum
from lemmata.certificates.game.faces import optimal_faces
from lemmata.certificates.game.margin_game import MarginGame, margin_scale, solve, verify
from lemmata.certificates.game.rational import RationalGame
from lemmata.numerics.exact.cyclotomic.numbers import rational, sqrt_rational
from tests.certificates.character_tables import PLAYED, interior_point_value, quaternion_table, table_named


@pytest.mark.parametrize("name", PLAYED)
def test_exact_value_agrees_with_an_interior_point_solver(name):
    game = MarginGame(table_named(name))
    solution = solve(game)
    # interior-point solvers stop at a duality gap of about 1e-8
    assert float(solution.value) == pytest.approx(interior_point_value(game), rel=1e-6)


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
    assert float(solve_table(table_named(name)).gamma) == pytest.approx(decimal, rel=1e-9)


def test_exact_margins_in_closed_form():
    assert solve(MarginGame(quaternion_table())).gamma == fmpq(16, 11) / sqrt_rational(24) ** 3
    root2, root5 = sqrt_rational(2), sqrt_rational(5)
    assert solve(MarginGame(symmetric_characters(6))).value == 18 / (5 * root5 * (3 + root2))
    assert margin_scale(6) == 2 / sqrt_rational(18) ** 3


@pytest.mark.parametrize("name", ["Z9", "Z12", "S5", "Q8"])
def test_closed_form_equals_the_game_where_its_weights_are_weights(name):
    game = MarginGame(table_named(name))
    assert all(weight >= 0 for weight in equalising_class_weights(game))
    assert solve(game).gamma == closed_form_margin(game)


@pytest.mark.parametrize("name", ["S6", "S7", "Z2xS5"])
def test_closed_form_is_strictly_smaller_where_the_condition_fails(name):
    game = MarginGame(table_named(name))
    assert any(total > 0 for total in condition_sums(game))
    assert solve(game).gamma > closed_form_margin(game)


@pytest.mark.parametrize("name", PLAYED)
def test_equalising_weights_sum_to_one_and_equalise(name):
    game = MarginGame(table_named(name))
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


class TestNothingIsTurned:
    """What used to need a tolerance, or another game, is decided as it stands."""

    def test_masses_that_nearly_vanish(self):
        """S_6: masses below 0.3, and columns that tie to the last digit."""
        game = MarginGame(symmetric_characters(6))
        solution = solve(game)
        assert min(float(entry) for entry in solution.eps if entry > 0) < 0.3
        assert len(solution.tight_columns) > 1

    def test_the_folded_game_has_the_same_value(self):
        folded = RationalGame(table_named("Z9"))
        assert (len(folded.rows), len(folded.columns)) == (2, 2)
        assert solve(folded).value == solve(MarginGame(table_named("Z9"))).value


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


class TestManyFactors:
    """The game for products of k elements."""

    @pytest.mark.parametrize("name", ["Z2", "Z9", "S5", "S6", "Q8", "Q8xS3"])
    @pytest.mark.parametrize("factors", [3, 4, 5])
    def test_exact_value_agrees_with_an_interior_point_solver(self, name, factors):
        game = MarginGame(table_named(name), factors)
        # interior-point solvers stop at a duality gap of about 1e-8
        assert float(solve(game).value) == pytest.approx(interior_point_value(game), rel=1e-6)

    @pytest.mark.parametrize("factors", [2, 3, 4, 7])
    def test_weights_and_scale_by_their_definition(self, factors):
        game = MarginGame(quaternion_table(), factors)
        expected = [1, 1, 1, sqrt(2) ** (factors + 1) * sqrt(2) ** (factors - 1)]
        np.testing.assert_allclose(np.array(game.weights, dtype=float), expected, rtol=1e-15)
        scale = margin_scale(8, factors)
        assert scale**2 == fmpq(factorial(factors)) ** 2 / fmpq((factors + 1) * 8) ** (factors + 1)
        assert scale > 0

    @pytest.mark.parametrize("name", PLAYED)
    @pytest.mark.parametrize("factors", [3, 4])
    def test_equalising_weights_equalise(self, name, factors):
        game = MarginGame(table_named(name), factors)
        t = equalising_class_weights(game)
        assert sum(t) == 1
        assert all(kappa == rational(game.table.order) / spectral_sum(game) for kappa in game.kappas(t))
        solution = solve_table(game.table, factors)
        assert solution.game.factors == factors
        assert (solution.gamma == closed_form_margin(game)) == all(weight >= 0 for weight in t)

    def test_large_groups_keep_few_representations(self):
        """S_7 with three factors: two of the 6-dimensional representations, and only 3-cycles are on the margin."""
        solution = solve(MarginGame(symmetric_characters(7), 3))
        faces = optimal_faces(solution)
        names = [solution.game.table.class_names[solution.game.columns[C]] for C in faces.columns]
        assert names == ["3^1 1^4"]
        assert [int(solution.game.table.degrees[solution.game.rows[R]]) for R in faces.rows] == [6, 6]
        assert solution.value == fmpq(6 - 3, 6**2)

    @pytest.mark.parametrize("factors", [1, 0, -3, 2.0, True])
    def test_fewer_than_two_factors_are_refused(self, factors):
        with pytest.raises(ValueError, match="number of factors must be an integer >= 2"):
            MarginGame(quaternion_table(), factors)
        with pytest.raises(ValueError, match="number of factors must be an integer >= 2"):
            margin_scale(8, factors)
