"""Scaled pairs: what cannot be written with square roots."""

from dataclasses import replace

import numpy as np
import pytest

from lemmata.certificates.characters.dixon import character_table
from lemmata.certificates.game.enclosure import bounds_of, enclose
from lemmata.certificates.game.margin_game import MarginGame, solve
from lemmata.certificates.game.rational import RationalGame
from lemmata.certificates.groups.scaled_pair import enclosed_pair, scaled_pair
from lemmata.numerics.exact.cyclotomic.numbers import cosine
from lemmata.numerics.groups.names import parse_group


def test_a_pair_without_square_roots_is_refused():
    table = character_table(parse_group("Z5"))
    solution = solve(MarginGame(table))
    with pytest.raises(ValueError, match="rational"):
        scaled_pair(replace(solution, eps=np.array([cosine(1, 5), 1 - cosine(1, 5)]) * cosine(1, 7)))


@pytest.mark.parametrize("factors", [2, 26, 40, 64])
def test_enclosed_pairs_are_nearly_optimal_for_any_number_of_factors(factors):
    """Q8: the masses are the exact ones, and the class weights are theirs to 100 bits."""
    table = character_table(parse_group("Q8"))
    exact, enclosed = (
        scaled_pair(solve(MarginGame(table, factors))),
        enclosed_pair(enclose(RationalGame(table, factors))),
    )
    assert enclosed.masses == exact.masses
    for u, v in zip(enclosed.weights, exact.weights, strict=True):
        assert set(u) == set(v) <= {1}
        assert all(abs(u[1] / v[1] - 1) < 2.0**-100 for _ in u)


def test_vacuous_masses_are_refused():
    game = RationalGame(character_table(parse_group("Q8")), 40)
    faithful = np.array([float(degree == 2) for degree in game.degrees])
    with pytest.raises(ValueError, match="leave a class of Q8 without a payoff"):
        enclosed_pair(bounds_of(game, 1 - faithful, np.ones(4)))  # no character of degree 1 sees the centre
