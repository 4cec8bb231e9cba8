"""Optimal pairs in rational numbers and square roots: what `verify_scaled` refuses, and their cyclotomic numbers."""

import numpy as np
import pytest
from flint import fmpq

import lemmata.certificates.game.scaled as scaled_module
from lemmata.certificates.characters.dixon import character_table
from lemmata.certificates.game.equalising import equalising_class_weights
from lemmata.certificates.game.faces import optimal_faces, unfolded_faces
from lemmata.certificates.game.margin_game import MarginGame, solve, verify
from lemmata.certificates.game.programs import optimal_pair
from lemmata.certificates.game.rational import RationalGame, unfold
from lemmata.certificates.game.scaled import solve_scaled, verify_scaled
from lemmata.certificates.groups.scaled_pair import folded_pair
from lemmata.numerics.exact.root_sums import RootSums
from lemmata.numerics.groups.names import parse_group
from tests.oracles.scaled_pairs import scaled_pair

NAMES = ["S3", "Z7", "Q8", "A5", "PSL(2,7)", "S6", "SL(2,3)", "Z2xS5"]


def scaled_solution(name, factors=2):
    return solve_scaled(RationalGame(character_table(parse_group(name)), factors))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("factors", [2, 5])
def test_numbers_faces_and_pairs_are_those_of_cyclotomic_arithmetic(name, factors):
    pair = scaled_solution(name, factors)
    numbers = pair.solution
    verify(numbers.game, numbers.value, numbers.eps, numbers.t)
    whole = unfold(numbers)
    assert whole.value == solve(MarginGame(numbers.game.table, factors)).value
    assert folded_pair(pair) == scaled_pair(whole)
    faces, expected = unfolded_faces(pair), optimal_faces(whole)
    assert (faces.rows, faces.columns, faces.active_rank) == (expected.rows, expected.columns, expected.active_rank)
    inner = faces.interior
    again = verify(inner.game, inner.value, inner.eps, inner.t)
    assert again.tight_rows == again.rows_with_mass == faces.rows
    assert again.tight_columns == again.columns_with_weight == faces.columns


def test_what_is_not_optimal_is_refused_with_the_first_violated_line():
    pair = scaled_solution("S4")
    game, y, u = pair.game, pair.masses, pair.class_weights

    def sums(change):
        return RootSums(change(u.coordinates), u.radicands)

    def swapped(column):
        result = u.coordinates.copy()
        result[:, column] = -result[:, column]
        return result

    tiny = fmpq(1, 10**40)
    with_mass, with_weight = pair.rows_with_mass[0], pair.columns_with_weight[0]
    negative = y.copy()
    negative[with_mass] = -negative[with_mass]
    for masses, weights, message in (
        (negative, u, "The mass of .* is negative"),
        (y, sums(lambda _: swapped(with_weight)), "The class weight of .* is negative"),
        (y * (1 - tiny), u, "less than the claimed value"),
        (y, sums(lambda c: c * (1 + tiny)), "more than the claimed value"),
        (y * (1 + tiny), u, "prove different values"),
        (y, sums(lambda c: c * (1 - tiny)), "prove different values"),
        (y, RootSums(np.vstack([u.coordinates, u.coordinates * 0]), (*u.radicands, 97)), "have the square roots of"),
    ):
        with pytest.raises(ValueError, match=message):
            verify_scaled(game, masses, weights)
    again = verify_scaled(game, y, u)
    assert (again.tight_rows, again.tight_columns) == (pair.tight_rows, pair.tight_columns)


def test_only_rational_and_folded_games_are_taken():
    table = character_table(parse_group("Z7"))
    with pytest.raises(ValueError, match="fold the game"):
        solve_scaled(MarginGame(table))
    whole = solve_scaled(MarginGame(character_table(parse_group("S3"))))
    for function in (unfolded_faces, folded_pair):
        with pytest.raises(ValueError, match="Only a solution of a RationalGame"):
            function(whole)


CLOSED_FORMS = {"S3": True, "Z7": True, "Z12": True, "Q8": True, "SL(2,3)": True, "A4": True, "Z4^2": True}
OTHERS = {"PSL(2,7)": False, "S6": False, "A5": False, "Z2xS5": False}


@pytest.mark.parametrize("name", [*CLOSED_FORMS, *OTHERS])
@pytest.mark.parametrize("factors", [2, 3, 20])
def test_the_closed_form_is_taken_where_it_is_the_only_optimum_and_agrees_with_the_program(name, factors):
    game = RationalGame(character_table(parse_group(name)), factors)
    found = scaled_module._closed_form(game)
    strict = all(weight > 0 for weight in equalising_class_weights(MarginGame(game.table, factors)))
    assert (found is not None) == strict
    if factors == 2:
        assert strict == (name in CLOSED_FORMS)
    masses, weights = optimal_pair(game.payoff_rows)
    pair = solve_scaled(game)
    assert list(pair.masses) == list(masses)
    assert pair.class_weights.sums() == weights.sums()


def test_a_wrong_closed_form_is_noticed(monkeypatch):
    right = scaled_module._closed_form

    def wrong(game):
        masses, weights = right(game)
        return masses * fmpq(10**30 - 1, 10**30), weights

    monkeypatch.setattr(scaled_module, "_closed_form", wrong)
    with pytest.raises(ValueError, match="less than the claimed value"):
        scaled_solution("S3")
