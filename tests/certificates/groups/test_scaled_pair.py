"""Scaled pairs: what cannot be written with square roots."""

from dataclasses import replace

import numpy as np
import pytest

from certificates.characters.dixon import character_table
from certificates.game.margin_game import MarginGame, solve
from certificates.groups.scaled_pair import scaled_pair
from numerics.exact.cyclotomic.numbers import cosine
from numerics.groups.names import parse_group


def test_a_pair_without_square_roots_is_refused():
    table = character_table(parse_group("Z5"))
    solution = solve(MarginGame(table))
    with pytest.raises(ValueError, match="rational"):
        scaled_pair(replace(solution, eps=np.array([cosine(1, 5), 1 - cosine(1, 5)]) * cosine(1, 7)))
