"""Two-sided rational bounds of the value of a margin game, from any two vectors, exact optima or not.

Any masses bound the value from below and any class weights bound it from above. Rational z_R >= 0 stand for the masses
eps_R = z_R w_R / Z, Z = sum_R z_R w_R, with w_R = d_R nu^((k-1)/2), and rational t_C >= 0 of sum 1 are class
weights; then

    min_C sum_R z_R D[R, C] / Z  <=  val(M)  <=  max_R sum_C D[R, C] t_C / w_R,       D[R, C] = d_R - Re chi_R(C).

Radicals enter only through Z and w_R. `enclose` takes z from the exact optimal pair
(`lemmata.certificates.game.programs`) and t from it up to rounding; `bounds_of` takes any floats. Ball arithmetic
encloses the two sides, and their outer ends are returned as rationals: a bad proposal gives wide bounds, never wrong
ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np
from flint import arb, fmpq

from lemmata.certificates.game.margin_game import MarginGame
from lemmata.certificates.game.programs import optimal_pair
from lemmata.numerics.exact.balls import as_balls, ball_max, ball_min, precision
from lemmata.numerics.exact.numbers import exact_midpoint

__all__ = ["GameEnclosure", "bounds_of", "enclose"]


@dataclass(frozen=True, eq=False)
class GameEnclosure:
    """Rational bounds ``lower <= val(M) <= upper``, with the vectors that prove them.

    ``z`` (rows,) are rational masses divided by the weights w_R, ``t`` (columns,) rational class weights of sum 1.
    ``margin_lower <= gamma* <= margin_upper`` are rational as well.
    """

    game: MarginGame
    z: np.ndarray
    t: np.ndarray
    lower: fmpq
    upper: fmpq
    margin_lower: fmpq
    margin_upper: fmpq


def enclose(game: MarginGame, bits: int = 128) -> GameEnclosure:
    """Rigorous bounds of the value of the game from both sides, about ``bits`` bits apart.

    Args:
        game: a game with rational defects, such as `lemmata.certificates.game.rational.RationalGame`, or any other.
        bits: precision of the balls.
    """
    z, class_weights = optimal_pair(game.payoff_rows)
    middles = [exact_midpoint(ball) for ball in class_weights.balls(bits)]
    t = np.array([middle if middle > 0 else fmpq(0) for middle in middles], dtype=object)
    return _bounds(game, z, t / sum(t), bits)


def bounds_of(game: MarginGame, z: np.ndarray, t: np.ndarray, bits: int = 128) -> GameEnclosure:
    """The bounds that any floats z (rows,) and t (columns,) prove; negative entries count as zero.

    Raises:
        ValueError: unless both have the right length, are finite, and have a positive entry.
    """
    rational_z = _nonnegative("z", z, len(game.rows))
    rational_t = _nonnegative("t", t, len(game.columns))
    return _bounds(game, rational_z, rational_t / sum(rational_t), bits)


def _bounds(game: MarginGame, z: np.ndarray, t: np.ndarray, bits: int) -> GameEnclosure:
    """The bounds that rational z and t prove, t of sum 1."""
    with precision(bits):
        # the balls of the weights and of `margin_scale`, whose square roots may lie in no supported cyclotomic field
        weights = np.array([arb(square).sqrt() for square in game.squared_weights], dtype=object)
        scale = arb(factorial(game.factors)) / arb((game.factors + 1) * game.table.order).sqrt() ** (game.factors + 1)
        defects, proposed, class_weights = as_balls(game.defects), as_balls(z), as_balls(t)
        below = ball_min((proposed @ defects) / (proposed @ weights))
        above = ball_max((defects @ class_weights) / weights)
        ends = (below.lower(), above.upper(), (scale * below).lower(), (scale * above).upper())
    return GameEnclosure(game, z, t, *map(exact_midpoint, ends))


def _nonnegative(name: str, vector: np.ndarray, length: int) -> np.ndarray:
    """The entries as exact rationals, negative ones replaced by zero."""
    if vector.shape != (length,) or not np.all(np.isfinite(vector)) or not np.any(vector > 0):
        raise ValueError(f"{name} must hold {length} finite numbers, one of them positive, but is {vector}.")
    return np.array([fmpq(*float(max(entry, 0.0)).as_integer_ratio()) for entry in vector], dtype=object)
