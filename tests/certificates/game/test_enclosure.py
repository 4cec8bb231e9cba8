"""Rational bounds of the game: they contain the exact value, they are tight, and bad proposals widen them only."""

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.game.enclosure import bounds_of, enclose
from lemmata.certificates.game.margin_game import MarginGame, solve
from tests.certificates.character_tables import PLAYED, table_named


@pytest.mark.parametrize("name", PLAYED)
@pytest.mark.parametrize("factors", [2, 3, 4])
def test_the_exact_value_lies_inside(name, factors):
    game = MarginGame(table_named(name), factors)
    solution, enclosure = solve(game), enclose(game)
    assert isinstance(enclosure.lower, fmpq)
    assert enclosure.lower <= solution.value <= enclosure.upper
    assert enclosure.margin_lower <= solution.gamma <= enclosure.margin_upper
    # vectors that are right to a few units in the last place lose that much, times their number of entries
    assert float((enclosure.upper - enclosure.lower) / enclosure.upper) < 1e-13
    assert sum(enclosure.t) == 1
    assert all(entry >= 0 for entry in (*enclosure.t, *enclosure.z))


@given(st.integers(0, 2**32 - 1))
def test_any_proposal_gives_valid_bounds(seed):
    game = MarginGame(table_named("S5"))
    rng = np.random.default_rng(seed)
    z, t = rng.normal(size=len(game.rows)), rng.normal(size=len(game.columns))
    z[0], t[0] = abs(z[0]), abs(t[0])
    enclosure = bounds_of(game, z, t)
    value = solve(game).value
    assert enclosure.lower <= value <= enclosure.upper
    assert enclosure.lower < enclosure.upper


def test_the_vectors_prove_the_bounds_exactly():
    """Without balls: the sums of the module's docstring in exact arithmetic."""
    game = MarginGame(table_named("S6"))
    enclosure = enclose(game)
    norm = sum(enclosure.z * game.weights)
    assert all(margin >= enclosure.lower * norm for margin in enclosure.z @ game.defects)
    assert all(payoff <= enclosure.upper for payoff in game.kappas(enclosure.t))
    # and not a hundredth better
    assert any(margin < enclosure.lower * norm * fmpq(101, 100) for margin in enclosure.z @ game.defects)
    assert any(payoff > enclosure.upper * fmpq(99, 100) for payoff in game.kappas(enclosure.t))


def test_refusals():
    game = MarginGame(table_named("Q8"))
    good = np.ones(4)
    for bad in (np.ones(3), np.zeros(4), -good, np.array([1.0, np.nan, 1, 1]), np.array([np.inf, 1, 1, 1])):
        with pytest.raises(ValueError, match="z must hold 4 finite numbers"):
            bounds_of(game, bad, good)
        with pytest.raises(ValueError, match="t must hold 4 finite numbers"):
            bounds_of(game, good, bad)
