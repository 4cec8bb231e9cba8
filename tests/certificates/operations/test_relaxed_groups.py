"""The margin game as the program of degree 4 sees it, and the pseudo-moments of quaternionic matrices."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from lemmata.certificates.characters.families import dicyclic_characters
from lemmata.certificates.game.margin_game import MarginGame
from lemmata.certificates.operations.relaxed_groups import RelaxedGame, quaternionic_moments, relaxed_dimension


def test_only_quaternionic_types_of_degree_four_and_more_are_seen_smaller() -> None:
    assert [relaxed_dimension(d, 1) for d in (1, 2, 3)] == [1, 2, 3]
    assert [relaxed_dimension(d, 0) for d in (1, 2, 3)] == [2, 4, 6]
    assert [relaxed_dimension(d, -1) for d in (2, 4, 6, 8)] == [4, 7, 9, 11]


def test_groups_without_such_types_keep_their_game() -> None:
    table = dicyclic_characters(5)
    assert -1 in table.indicators
    np.testing.assert_array_equal(RelaxedGame(table).dimensions, MarginGame(table).dimensions)


def test_only_two_factors_are_accepted() -> None:
    with pytest.raises(ValueError, match="two factors, not 3"):
        RelaxedGame(dicyclic_characters(3), 3)


@pytest.mark.parametrize("m", [1, 5])
def test_sizes_out_of_range_are_refused(m: int) -> None:
    with pytest.raises(ValueError, match="m"):
        quaternionic_moments(m)


def test_moments_are_those_of_one_functional() -> None:
    """Symmetric in all four factors where all are u or v, and the block of u u by v v is that of u v rearranged."""
    found = quaternionic_moments(2)
    D = found.dimension
    even = found.even.reshape(2, D, D, 2, D, D)
    for kind in (0, 1):
        fourth = even[kind, :, :, kind]
        assert all(np.array_equal(fourth, fourth.transpose(order)) for order in permutations(range(4)))
    mixed = found.mixed.reshape(D, D, D, D)
    np.testing.assert_array_equal(even[0, :, :, 1], mixed.transpose(0, 2, 1, 3))
    np.testing.assert_array_equal(even[1, :, :, 0], mixed.transpose(1, 3, 0, 2))
