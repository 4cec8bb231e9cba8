"""The matrix game on a character table whose value is the max margin of a product in a finite group.

The task is to predict a_1 a_2 ... a_k from (a_1, .., a_k); the network has activation x^k and its norm is L_{2,k+1}.
Group composition is k = 2. For a group of order n let

    M[R, C] = s_R^(k-1) d_R^(-(k+1)/2) (d_R - Re chi_R(C)),

s_R = 1 for an irreducible representation of real type and 1/sqrt 2 otherwise. For class weights t on the nontrivial
classes no unit neuron has an expected class-weighted margin above k! ((k+1) n)^(-(k+1)/2) max_R (M t)_R; a network that
gives R the total mass eps_R has, at wrong labels of class C, the margin k! ((k+1) n)^(-(k+1)/2) (eps^T M)_C. So the two
sides are the two players of the game M, and its value is the max margin. UNIVERSAL_MARGIN.md beside this file proves it
for every group and every k.

`solve` guesses in floating point (linear programming) which rows and columns an optimal pair of vertices uses, solves
the two square systems of this sub-table (Shapley and Snow) exactly, and verifies every inequality exactly; what it
returns is proved, whatever the floating-point solver did. Whether the optimal pair is the only one is decided by
`certificates.game.faces`, and `certificates.game.enclosure` bounds the value from both sides where exact arithmetic is
out of reach.

Source: feature-emergence, theorem D.9.2 with lemmas D.13, D.15, D.16 (k = 2), ext-E1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import factorial

import numpy as np
from flint import fmpq

from certificates.characters.tables import CharacterTable
from numerics.exact.cyclotomic.numbers import Cyclotomic, rational, sqrt_rational
from numerics.exact.integers import checked_integer
from numerics.exact.linear import solve_unique

__all__ = [
    "GameSolution",
    "MarginGame",
    "class_weights_on",
    "margin_scale",
    "masses_on",
    "optimal_strategy",
    "solve",
    "verify",
]

ACTIVE = 1e-9
"""The default tolerance: a float below it counts as zero when the active set is guessed; the guess is then proved."""


@dataclass(frozen=True, eq=False)
class MarginGame:
    """The payoff matrix M of a character table for a product of k = ``factors`` >= 2, held as ``defects / weights``.

    ``rows``: nontrivial irreducible characters, one of each conjugate pair. ``columns``: nontrivial classes, one of
    each pair {C, C^-1}. ``defects[R, C] = d_R - Re chi_R(C)`` in the real character field, shape (rows, columns);
    ``weights[R] = d_R^((k+1)/2) / s_R^(k-1)``, the only place where radicals and the number of factors enter.

    Raises:
        ValueError: for fewer than two factors.
    """

    table: CharacterTable
    factors: int = 2

    def __post_init__(self) -> None:
        checked_integer("The number of factors", self.factors, 2)

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """Indices of the nontrivial characters, the first of each complex-conjugate pair."""
        return tuple(R for R, conjugate in enumerate(self.table.conjugates) if R and conjugate >= R)

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """Indices of the nontrivial classes, the first of each pair of mutually inverse classes."""
        return tuple(C for C in range(1, len(self.table.class_sizes)) if self.table.inverses[C] >= C)

    @cached_property
    def degrees(self) -> np.ndarray:
        """d_R as Python integers, shape (rows,)."""
        return np.array([self.table.degrees[R] for R in self.rows], dtype=object)

    @cached_property
    def defects(self) -> np.ndarray:
        """d_R - Re chi_R(C), exact, shape (rows, columns)."""
        chi = self.table.values[np.ix_(self.rows, self.columns)]
        degrees = self.table.values[list(self.rows), 0]
        result = np.empty(chi.shape, dtype=object)
        for index, value in np.ndenumerate(chi):
            result[index] = degrees[index[0]] - value.real
        return result

    @cached_property
    def weights(self) -> np.ndarray:
        """d_R^((k+1)/2) / s_R^(k-1), exact, shape (rows,)."""
        degrees, indicators, k = self.table.degrees, self.table.indicators, self.factors
        return np.array(
            [sqrt_rational(degrees[R] ** (k + 1) * (1 if indicators[R] == 1 else 2 ** (k - 1))) for R in self.rows],
            dtype=object,
        )

    def payoff(self) -> np.ndarray:
        """M in floating point, shape (rows, columns), each entry correct to a few units in the last place."""
        return np.array(self.defects, dtype=float) / np.array(self.weights, dtype=float)[:, None]

    def class_payoffs(self, eps: np.ndarray) -> np.ndarray:
        """eps^T M exactly: the margins by class, in units of `margin_scale`, of a network with masses eps."""
        return (eps / self.weights) @ self.defects

    def kappas(self, t: np.ndarray) -> np.ndarray:
        """M t exactly: the payoff kappa_R of every row, for class weights t (total per class) that sum to 1."""
        return (self.defects @ t) / self.weights


@dataclass(frozen=True, eq=False)
class GameSolution:
    """An exact optimal pair: masses ``eps`` (rows,), class weights ``t`` (columns,), both summing to 1.

    ``value`` is the game's value v; ``tight_rows`` and ``tight_columns`` are the positions where kappa_R = v and
    where the margin by class equals v.
    """

    game: MarginGame
    value: Cyclotomic
    eps: np.ndarray
    t: np.ndarray
    tight_rows: tuple[int, ...]
    tight_columns: tuple[int, ...]

    @property
    def gamma(self) -> Cyclotomic:
        """The L_{2,k+1} max margin k! ((k+1) n)^(-(k+1)/2) v as an exact real number."""
        return margin_scale(self.game.table.order, self.game.factors) * self.value


def margin_scale(order: int, factors: int = 2) -> Cyclotomic:
    """k! ((k+1) n)^(-(k+1)/2), k the number of factors: what turns the value of the game into the margin.

    For k = 2 it is 2 (3n)^(-3/2).

    Raises:
        ValueError: for fewer than two factors.
    """
    checked_integer("The number of factors", factors, 2)
    return sqrt_rational(fmpq(factorial(factors) ** 2, (factors + 1) ** (factors + 1) * order ** (factors + 1)))


def solve(game: MarginGame, tolerance: float = ACTIVE) -> GameSolution:
    """The exact solution of the game: active set by linear programming, then two exact systems, then `verify`.

    Args:
        game: the game; its folded form (`certificates.game.rational`) is smaller and has rational payoffs.
        tolerance: a float below it counts as zero when the active set is guessed.

    Raises:
        ValueError: when the linear program is not solved, or when the guessed active set does not determine a vertex or
            fails the exact check; the message says which side failed and what to turn.
    """
    payoff = game.payoff()
    eps_float, value = optimal_strategy(payoff)
    t_float, _ = optimal_strategy(-payoff.T)
    support, tight = np.flatnonzero(eps_float > tolerance), np.flatnonzero(eps_float @ payoff < value * (1 + tolerance))
    tied, weighted = np.flatnonzero(payoff @ t_float > value * (1 - tolerance)), np.flatnonzero(t_float > tolerance)
    try:
        exact_value, eps = masses_on(game, support, tight)
        return verify(game, exact_value, eps, class_weights_on(game, exact_value, tied, weighted))
    except ValueError as error:
        raise ValueError(
            f"{error} The active set was guessed with tolerance = {tolerance:g}: pass solve a larger one if noise of "
            "the linear program counted as active, a smaller one if small entries were cut off, or bound the value "
            "with certificates.game.enclosure.enclose, which guesses nothing."
        ) from error


def masses_on(game: MarginGame, support: np.ndarray, tight: np.ndarray) -> tuple[Cyclotomic, np.ndarray]:
    """The value and the masses (rows,) that are zero off ``support`` and tie the columns ``tight``, exactly.

    Nothing says that they are optimal: see `verify`.

    Raises:
        ValueError: when these positions do not determine them.
    """
    ones = np.array([rational(1)] * len(tight), dtype=object)
    try:
        # z_R = eps_R / (v weights_R) solves a system without radicals: sum_R z_R defects[R, C] = 1 on tight C
        z = solve_unique(game.defects[np.ix_(support, tight)].T, ones)
    except ValueError as error:
        raise ValueError(f"The masses of {game.table.name} could not be settled exactly: {error}") from error
    value = 1 / sum(z * game.weights[support], start=rational(0))
    eps = np.array([rational(0)] * len(game.rows), dtype=object)
    eps[support] = z * game.weights[support] * value
    return value, eps


def class_weights_on(game: MarginGame, value: Cyclotomic, tied: np.ndarray, support: np.ndarray) -> np.ndarray:
    """The exact class weights (columns,) that vanish off ``support`` and give the rows ``tied`` the payoff ``value``.

    Raises:
        ValueError: when these positions do not determine them.
    """
    try:
        weights = solve_unique(game.defects[np.ix_(tied, support)], game.weights[tied] * value)
    except ValueError as error:
        raise ValueError(f"The class weights of {game.table.name} could not be settled exactly: {error}") from error
    t = np.array([rational(0)] * len(game.columns), dtype=object)
    t[support] = weights
    return t


def verify(game: MarginGame, value: Cyclotomic, eps: np.ndarray, t: np.ndarray) -> GameSolution:
    """The solution that an optimal pair is, after an exact check that knows nothing of how the pair was found.

    Requires eps >= 0, t >= 0, both of sum 1, eps^T M >= value in every column and M t <= value in every row. Since
    eps^T M t lies between, the value is then the value of the game.

    Raises:
        ValueError: naming the first violated line.
    """
    _refuse_infeasible("mass eps", eps, [game.table.irrep_names[R] for R in game.rows])
    _refuse_infeasible("class weight t", t, [game.table.class_names[C] for C in game.columns])
    margins, kappas = game.class_payoffs(eps), game.kappas(t)
    for C, margin in zip(game.columns, margins, strict=True):
        if margin < value:
            raise ValueError(
                f"The masses give class {game.table.class_names[C]} only {float(margin):.12g}, "
                f"below the claimed value {float(value):.12g}."
            )
    for R, kappa in zip(game.rows, kappas, strict=True):
        if kappa > value:
            raise ValueError(
                f"The class weights leave irreducible representation {game.table.irrep_names[R]} the payoff "
                f"{float(kappa):.12g}, above the claimed value {float(value):.12g}."
            )
    return GameSolution(
        game,
        value,
        eps,
        t,
        tuple(i for i, kappa in enumerate(kappas) if kappa == value),
        tuple(i for i, margin in enumerate(margins) if margin == value),
    )


def _refuse_infeasible(label: str, vector: np.ndarray, names: list[str]) -> None:
    if vector.shape != (len(names),):
        raise ValueError(f"The {label} needs {len(names)} entries, but has shape {vector.shape}.")
    for name, entry in zip(names, vector, strict=True):
        if entry < 0:
            raise ValueError(f"The {label} of {name} is negative: {float(entry):.6g}.")
    if sum(vector) != 1:
        raise ValueError(f"The entries of {label} must add up to 1, but give {float(sum(vector)):.6g}.")


def optimal_strategy(payoff: np.ndarray) -> tuple[np.ndarray, float]:
    """A vertex of the row player's optimal strategies (maximise the smallest column) and its value, in floats.

    Raises:
        ValueError: when the linear program is not solved.
    """
    from scipy.optimize import linprog  # slow to import

    rows, columns = payoff.shape
    result = linprog(
        np.r_[np.zeros(rows), -1.0],
        A_ub=np.c_[-payoff.T, np.ones(columns)],
        b_ub=np.zeros(columns),
        A_eq=np.r_[np.ones(rows), 0.0][None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
        method="highs-ds",
    )
    if result.status != 0:
        raise ValueError(
            f"The linear program of the game, {rows} rows and {columns} columns, was not solved: {result.message} "
            "Fold the game (certificates.game.rational.RationalGame): the program gets smaller, its value stays."
        )
    return result.x[:-1], float(result.x[-1])
