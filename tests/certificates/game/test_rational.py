"""The game folded by the Galois group: its unfolded pairs are optimal in the whole game."""

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.characters.dixon import character_table
from lemmata.certificates.game.margin_game import MarginGame, solve, verify
from lemmata.certificates.game.rational import RationalGame, unfold
from lemmata.numerics.exact.cyclotomic.numbers import rational, root_of_unity
from lemmata.numerics.groups.names import parse_group


@pytest.mark.parametrize("name", ["Z7", "Z12", "A5", "PSL(2,7)", "C7:C3", "SL(2,3)", "Q8", "SL(2,5)", "Dic5", "Z3xS3"])
@pytest.mark.parametrize("factors", [2, 3])
def test_the_unfolded_pair_is_optimal_in_the_whole_game(name, factors):
    table = character_table(parse_group(name))
    folded = solve(RationalGame(table, factors))
    assert all(isinstance(value, fmpq) for value in folded.game.defects.flat)
    whole = unfold(folded)
    assert (whole.game.rows, whole.game.columns) == (MarginGame(table).rows, MarginGame(table).columns)
    again = verify(whole.game, whole.value, whole.eps, whole.t)
    assert (again.tight_rows, again.tight_columns) == (whole.tight_rows, whole.tight_columns)
    assert solve(MarginGame(table, factors)).value == whole.value


def test_only_folded_solutions_are_unfolded():
    with pytest.raises(ValueError, match="RationalGame"):
        unfold(solve(MarginGame(character_table(parse_group("S3")))))


@given(st.integers(1, 60), st.lists(st.integers(-3, 3), min_size=1, max_size=8))
def test_mean_conjugate_is_the_average_over_all_automorphisms(order, coefficients):
    number = sum((c * root_of_unity(e, order) for e, c in enumerate(coefficients)), start=rational(0))
    conjugates = [number.galois(a) for a in range(1, number.order + 1) if np.gcd(a, number.order) == 1]
    assert sum(conjugates) / len(conjugates) == number.mean_conjugate()
