"""The margin game of a large character table, solved exactly on few rows and columns at a time.

The payoffs are those of `lemmata.certificates.game.margin_game`, averaged over the Galois group, so that the defects d
- chi(C) are rational (`lemmata.certificates.game.rational`) and only the weights w of the rows have square roots. An
optimal pair of a large table often lives on very few rows and columns: those of small degree. `solve_game` plays the
game on some of them exactly (`lemmata.certificates.game.programs`), asks which of the others would improve the strategy
of its player, adds these and plays again. Nothing depends on a tolerance: floating point proposes what is added, and
the end is an exact check of every row and column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, inf, isqrt, lcm, log

import numpy as np
from flint import fmpq

from lemmata.certificates import kernel
from lemmata.certificates.game.programs import PayoffRows, optimal_pair
from lemmata.numerics.exact.rationals import as_fraction
from lemmata.numerics.exact.root_sums import RootSums, root_sum_ball, root_sum_sign, square_root

__all__ = ["CharacterTableGame", "CharacterTableStrategies", "class_shares", "mass_shares", "solve_game"]

BITS = 256  # of the balls that give the decimals of shares
SLACK = 1e-12  # a rounding error: what it hides is found by the exact check


@dataclass(frozen=True, eq=False)
class CharacterTableGame:
    """The rational means of a table, one line for each Galois orbit, and the number k of factors.

    Attributes:
        degrees: of the characters, one for each row.
        indicators: Frobenius-Schur indicators, one for each row.
        means: mean of the conjugates of chi_R(C), shape (rows, columns), the class of the identity first.
        factors: k >= 2.
    """

    degrees: Sequence[int]
    indicators: Sequence[int]
    means: Sequence[Sequence[Fraction]]
    factors: int

    @cached_property
    def row_orbits(self) -> list[list[int]]:
        """The characters with equal means, but for the trivial one; see `kernel.check_game`."""
        return [orbit for orbit in _equal(self.means) if any(mean != 1 for mean in self.means[orbit[0]])]

    @cached_property
    def column_orbits(self) -> list[list[int]]:
        """The classes with equal means, but for the identity."""
        return [orbit for orbit in _equal(list(zip(*self.means, strict=True))) if orbit[0]]

    @cached_property
    def common(self) -> int:
        """A common denominator of all means."""
        return lcm(*{x.denominator for row in self.means for x in row})

    @cached_property
    def defects(self) -> list[list[int]]:
        """d - mean, times ``common``, for the first member of each orbit of rows and of columns."""
        rows = [(self.degrees[orbit[0]], self.means[orbit[0]]) for orbit in self.row_orbits]
        columns = [orbit[0] for orbit in self.column_orbits]
        return [[int((d - row[C]) * self.common) for C in columns] for d, row in rows]

    @cached_property
    def squared_weights(self) -> list[int]:
        """w^2 = d^2 nu^(k-1) for each orbit of rows, nu the real dimension."""
        firsts = [orbit[0] for orbit in self.row_orbits]
        real = [self.degrees[R] * (1 if self.indicators[R] == 1 else 2) for R in firsts]
        return [self.degrees[R] ** 2 * nu ** (self.factors - 1) for R, nu in zip(firsts, real, strict=True)]

    @cached_property
    def payoffs(self) -> np.ndarray:
        """defects / w in floating point, as multiples of the largest 1 / nu^((k-1)/2)."""
        degrees = [self.degrees[orbit[0]] for orbit in self.row_orbits]
        logs = np.array([log(w) / 2 - log(d) for w, d in zip(self.squared_weights, degrees, strict=True)])
        ratios = [[x / (d * self.common) for x in row] for d, row in zip(degrees, self.defects, strict=True)]
        return np.array(ratios) * np.exp(logs.min() - logs)[:, None]

    def subgame(self, rows: Sequence[int], columns: Sequence[int]) -> PayoffRows:
        """The game on some orbits of rows and of columns."""
        defects = [[fmpq(self.defects[R][C], self.common) for C in columns] for R in rows]
        roots = [square_root(self.squared_weights[R]) for R in rows]
        radicands = tuple(sorted({m for _, m in roots}))
        coordinates = [[f if m == radicand else 0 for f, m in roots] for radicand in radicands]
        return PayoffRows(np.array(defects, dtype=object), RootSums(np.array(coordinates, dtype=object), radicands))


@dataclass(frozen=True, eq=False)
class CharacterTableStrategies:
    """Scaled masses y, one for each character, and scaled class weights u, one for each class, optimal and exact.

    ``rounds`` counts the games that were played.
    """

    masses: tuple[Fraction, ...]
    weights: tuple[kernel.Radicals, ...]
    rounds: int


def solve_game(game: CharacterTableGame) -> CharacterTableStrategies:
    """The optimal strategies of the game, constant on Galois orbits.

    Raises:
        ValueError: when the value is not positive, which is not so for the table of a group.
    """
    payoffs = game.payoffs
    rows, columns = [int(payoffs.min(axis=1).argmax())], [int(payoffs[payoffs.min(axis=1).argmax()].argmin())]
    rounds = 0
    while True:
        rows += _supporting(payoffs, rows, columns)
        rounds += 1
        y, u = optimal_pair(game.subgame(rows, columns))
        more_rows, more_columns = _proposed(game, rows, columns, y, u)
        if not more_rows and not more_columns:
            more_rows, more_columns = _violated(game, rows, columns, y, u)
        if not more_rows and not more_columns:
            return _spread(game, rows, columns, y, u, rounds)
        rows, columns = rows + more_rows, columns + more_columns


def mass_shares(game: CharacterTableGame, strategies: CharacterTableStrategies) -> list[float]:
    """The share of each character in the mass of an optimal network, y_R w_R over the sum of all, in floating point."""
    weights = {R: square for orbit, square in zip(game.row_orbits, game.squared_weights, strict=True) for R in orbit}
    positive = {R: _log(mass) + log(weights[R]) / 2 for R, mass in enumerate(strategies.masses) if mass}
    largest = max(positive.values())
    shares = [exp(positive[R] - largest) if R in positive else 0.0 for R in range(len(strategies.masses))]
    return [share / sum(shares) for share in shares]


def class_shares(strategies: CharacterTableStrategies) -> list[float]:
    """The share of each class in the weight of wrong labels, u_C over the sum of all, in floating point."""
    radicands = tuple(sorted({m for u in strategies.weights for m in u}))
    coordinates = [
        [fmpq(x.numerator, x.denominator) for x in (u.get(m, Fraction(0)) for u in strategies.weights)]
        for m in radicands
    ]
    shares = _floats(RootSums(np.array(coordinates, dtype=object), radicands))
    return (shares / shares.sum()).tolist()


def _supporting(payoffs: np.ndarray, rows: list[int], columns: list[int]) -> list[int]:
    """For each column that no row of ``rows`` sees the row that sees it best."""
    unseen = [C for C in columns if not (payoffs[rows, C] > 0).any()]
    return sorted({int(payoffs[:, C].argmax()) for C in unseen})


def _proposed(
    game: CharacterTableGame, rows: list[int], columns: list[int], y: np.ndarray, u: RootSums
) -> tuple[list[int], list[int]]:
    """The row and the column that improve most on the pair, in floating point, if any does."""
    logs = [
        log(game.squared_weights[R]) / 2 + _log(as_fraction(x)) if x > 0 else -inf for x, R in zip(y, rows, strict=True)
    ]
    eps, t = np.exp(np.array(logs) - max(logs)), _floats(u)
    margins, gains = eps @ game.payoffs[rows], game.payoffs[:, columns] @ t
    low, high = margins[columns].min(), gains[rows].max()
    row, column = int(gains.argmax()), int(margins.argmin())
    more_rows = [row] if row not in rows and gains[row] > high * (1 + SLACK) else []
    more_columns = [column] if column not in columns and margins[column] < low * (1 - SLACK) else []
    return more_rows, more_columns


def _floats(u: RootSums) -> np.ndarray:
    """The entries of u in floating point, as multiples of a large one."""
    largest = max(abs(x) * (isqrt(m) + 1) for m, line in zip(u.radicands, u.coordinates, strict=True) for x in line)
    entries = [root_sum_ball((column / largest).tolist(), u.radicands, BITS) for column in u.coordinates.T]
    return np.array([float(entry.mid()) for entry in entries])


def _log(x: Fraction) -> float:
    return log(x.numerator) - log(x.denominator)


def _violated(
    game: CharacterTableGame, rows: list[int], columns: list[int], y: np.ndarray, u: RootSums
) -> tuple[list[int], list[int]]:
    """The first row and the first column that improve on the pair, exactly, if any does."""
    unit = game.common
    more_rows, more_columns = [], []
    for C in range(len(game.column_orbits)):
        if sum(mass * game.defects[R][C] for mass, R in zip(y, rows, strict=True)) < unit:
            more_columns.append(C)
            break
    for R, square in enumerate(game.squared_weights):
        payoff = u.coordinates @ np.array([fmpq(game.defects[R][C], unit) for C in columns], dtype=object)
        slack = {m: -x for m, x in zip(u.radicands, payoff, strict=True)}
        f, m = square_root(square)
        slack[m] = slack.get(m, fmpq(0)) + f
        if root_sum_sign(list(slack.values()), list(slack)) < 0:
            more_rows.append(R)
            break
    return more_rows, more_columns


def _spread(
    game: CharacterTableGame, rows: list[int], columns: list[int], y: np.ndarray, u: RootSums, rounds: int
) -> CharacterTableStrategies:
    """The strategies of the whole table: orbits share equally."""
    masses = [Fraction(0) for _ in game.degrees]
    for R, mass in zip(rows, y, strict=True):
        for member in game.row_orbits[R]:
            masses[member] = as_fraction(mass) / len(game.row_orbits[R])
    weights: list[kernel.Radicals] = [{} for _ in game.means[0]]
    for C, column in zip(columns, u.coordinates.T, strict=True):
        share = {m: as_fraction(x) for m, x in zip(u.radicands, column, strict=True) if x != 0}
        for member in game.column_orbits[C]:
            weights[member] = {m: x / len(game.column_orbits[C]) for m, x in share.items()}
    return CharacterTableStrategies(tuple(masses), tuple(weights), rounds)


def _equal(lines: Sequence[Sequence[Fraction]]) -> list[list[int]]:
    """The positions of equal lines, by first occurrence."""
    found: dict[tuple[Fraction, ...], list[int]] = {}
    for position, line in enumerate(lines):
        found.setdefault(tuple(line), []).append(position)
    return list(found.values())
