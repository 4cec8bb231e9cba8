"""Groups with their exactly solved games, and ascent on the margin of their networks; shared by theorem modules."""

from __future__ import annotations

from functools import cache

import numpy as np

from lemmata.certificates.characters.dixon import character_table
from lemmata.certificates.game.closed_form import solve_table
from lemmata.certificates.game.margin_game import GameSolution
from lemmata.constructions.networks.inputs import group_inputs
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.groups.permutations import PermutationGroup
from lemmata.numerics.margins.ascent import Ascent, ascend_from_random

EPS = float(np.finfo(float).eps)


@cache
def solved(name: str) -> tuple[PermutationGroup, GameSolution]:
    """The named group and its margin game, solved exactly."""
    group = parse_group(name)
    return group, solve_table(character_table(group))


def ascent(name: str, width: int, starts: int, enough: float) -> tuple[Ascent, float]:
    """Ascent from random starts (seed 1) until a margin is ``enough`` times the value; and the value."""
    group, solution = solved(name)
    gamma, table = float(solution.gamma), group.to_finite_group().table
    n = len(table)
    result = ascend_from_random(
        group_inputs(n), table.reshape(-1), n, 2, width, starts=starts, enough=enough * gamma, seed=1
    )
    return result, gamma


def rounding(width: int) -> float:
    """The rounding error of the margin of a network of norm 1 with ``width`` neurons for a binary product.

    The outputs of the neurons add up to at most 2 in size, since |(u(a) + v(b))^2 w(c)| <= 2 |omega|^3. A margin is the
    difference of two such sums of m terms, each with a few roundings, over a norm with as many.
    """
    return 4 * (2 * width + 20) * EPS
