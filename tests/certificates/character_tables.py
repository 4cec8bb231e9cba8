"""Character tables on which the tests of the margin game play it, and the value of a game by another solver."""

from functools import cache

import cvxpy as cp
import numpy as np

from lemmata.certificates.characters.families import cyclic_characters, dihedral_characters, symmetric_characters
from lemmata.certificates.characters.tables import CharacterTable, product_characters
from lemmata.certificates.characters.traces import characters_of
from lemmata.certificates.game.margin_game import MarginGame
from lemmata.constructions.representations.orthogonal import real_irreps
from lemmata.numerics.groups.tables import alternating


def quaternion_table() -> CharacterTable:
    """The table of Q_8; the values are those of D_4, the map of squares is not."""
    values = np.array(
        [[1, 1, 1, 1, 1], [1, 1, 1, -1, -1], [1, 1, -1, 1, -1], [1, 1, -1, -1, 1], [2, -2, 0, 0, 0]], dtype=object
    )
    names = ("e", "-1", "i", "j", "k")
    return CharacterTable(
        "Q8", values, (1, 1, 2, 2, 2), (0, 0, 1, 1, 1), (0, 1, 2, 3, 4), names, ("1", "i", "j", "k", "H")
    )


TABLES = {
    "Z2": lambda: cyclic_characters(2),
    "Z3": lambda: cyclic_characters(3),
    "Z4": lambda: cyclic_characters(4),
    "Z7": lambda: cyclic_characters(7),
    "Z9": lambda: cyclic_characters(9),
    "Z12": lambda: cyclic_characters(12),
    "S3": lambda: symmetric_characters(3),
    "S4": lambda: symmetric_characters(4),
    "S5": lambda: symmetric_characters(5),
    "S6": lambda: symmetric_characters(6),
    "S7": lambda: symmetric_characters(7),
    "A5": lambda: characters_of(alternating(5), real_irreps(alternating(5), exact=True)),
    "Q8": quaternion_table,
    "Z3xS3": lambda: product_characters(cyclic_characters(3), symmetric_characters(3)),
    "Q8xS3": lambda: product_characters(quaternion_table(), symmetric_characters(3)),
    "Z2xS5": lambda: product_characters(cyclic_characters(2), symmetric_characters(5)),
    "D4xZ4": lambda: product_characters(dihedral_characters(4), cyclic_characters(4)),
    "D4xS3": lambda: product_characters(dihedral_characters(4), symmetric_characters(3)),
}

PLAYED = ("Z2", "Z9", "Z12", "S5", "S6", "S7", "Q8", "Z3xS3", "Q8xS3", "Z2xS5")
"""The tables whose games are solved for every number of factors."""


@cache
def table_named(name: str) -> CharacterTable:
    """The table of this name, made once."""
    return TABLES[name]()


def interior_point_value(game: MarginGame) -> float:
    """The value of a game as the dual program, by an interior-point solver, which shares nothing with ours."""
    payoff = game.payoff()
    t, bound = cp.Variable(payoff.shape[1], nonneg=True), cp.Variable()
    problem = cp.Problem(cp.Minimize(bound), [payoff @ t <= bound, cp.sum(t) == 1])
    return float(problem.solve(solver=cp.CLARABEL))
