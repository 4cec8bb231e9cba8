"""The matrix game on a character table whose value is the max margin of a product in a finite group.

The task is to predict a_1 a_2 ... a_k from (a_1, .., a_k); the network has activation x^k and its norm is L_{2,k+1}.
Group composition is k = 2. For a group of order n let

    M[rho, C] = nu^(-(k-1)/2) (1 - chi(C)/chi(e)),

rho the nontrivial irreducible real representations, nu and chi their dimension and character, C the nontrivial classes
up to inversion. For class weights t no unit neuron has an expected class-weighted margin above
k! ((k+1) n)^(-(k+1)/2) max_rho (M t)_rho; a network that gives rho the total mass eps_rho has, at wrong labels of class
C, the margin k! ((k+1) n)^(-(k+1)/2) (eps^T M)_C. So the two sides are the two players of the game M, and its value is
the max margin. UNIVERSAL_MARGIN.md beside this file proves it for every group and every k.

A table lists complex characters chi_R, of degree d_R. A row rho is one of real type (nu = d_R), one of quaternionic
type, taken twice, or a pair of conjugate ones (nu = 2 d_R). Then chi(C)/chi(e) = Re chi_R(C)/d_R, and

    M[R, C] = (d_R - Re chi_R(C)) / w_R,      w_R = d_R nu^((k-1)/2).

This is how the code and the files hold M.

`solve` plays the game as an exact linear program (`lemmata.certificates.game.programs`), whatever the sizes of its
weights, and verifies every inequality of the result. Whether the optimal pair is the only one is decided by
`lemmata.certificates.game.faces`. `lemmata.certificates.game.scaled` solves folded games without forming a field, which
serves where the square roots of the degrees share no cyclotomic field of supported order.

Source: feature-emergence, theorem D.9.2 with lemmas D.13, D.15, D.16 (k = 2), ext-E1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import factorial

import numpy as np
from flint import fmpq

from lemmata.certificates.characters.integral_products import IntegralProducts
from lemmata.certificates.characters.tables import CharacterTable
from lemmata.certificates.game.orbits import first_members, orbit_positions, spread
from lemmata.certificates.game.programs import PayoffRows, optimal_pair
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic, rational, sqrt_rational
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.root_sums import RootSums, square_root

__all__ = ["GameSolution", "MarginGame", "margin_scale", "solve", "verify"]


@dataclass(frozen=True, eq=False)
class MarginGame:
    """The payoff matrix M of a character table for a product of k = ``factors`` >= 2, held as ``defects / weights``.

    ``rows``: the nontrivial irreducible real representations, by a complex character R of each (the first of a
    conjugate pair). ``columns``: nontrivial classes, one of each pair {C, C^-1}. ``defects[R, C] = d_R - Re chi_R(C)``
    in the real character field, shape (rows, columns); ``weights[R] = d_R nu^((k-1)/2)``, the only place where radicals
    and the number of factors enter.

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
    def dimensions(self) -> np.ndarray:
        """The dimensions nu of the real representations as Python integers, shape (rows,)."""
        factors = [1 if self.table.indicators[R] == 1 else 2 for R in self.rows]
        return self.degrees * np.array(factors, dtype=object)

    @cached_property
    def defects(self) -> np.ndarray:
        """d_R - Re chi_R(C), exact, shape (rows, columns)."""
        numbers = self.table.rows
        real = [value.real for value in numbers.distinct]
        known: dict[tuple[int, int], Cyclotomic] = {}  # equal defects are one object
        result = np.empty((len(self.rows), len(self.columns)), dtype=object)
        for row, ids in enumerate(numbers.ids[np.ix_(self.rows, self.columns)].tolist()):
            d = self.table.degrees[self.rows[row]]
            for column, number in enumerate(ids):
                if (d, number) not in known:
                    known[d, number] = d - real[number]
                result[row, column] = known[d, number]
        return result

    @cached_property
    def squared_weights(self) -> tuple[int, ...]:
        """d_R^2 nu^(k-1), an integer for every row: the square of its weight."""
        sizes = zip(self.degrees, self.dimensions, strict=True)
        return tuple(d**2 * dimension ** (self.factors - 1) for d, dimension in sizes)

    @cached_property
    def weights(self) -> np.ndarray:
        """d_R nu^((k-1)/2), exact, shape (rows,)."""
        return np.array([sqrt_rational(square) for square in self.squared_weights], dtype=object)

    @cached_property
    def root_weights(self) -> RootSums:
        """The weights of the rows as multiples of square roots, in no field."""
        roots = [square_root(square) for square in self.squared_weights]
        radicands = tuple(sorted({m for _, m in roots}))
        coordinates = [[f if m == radicand else 0 for f, m in roots] for radicand in radicands]
        return RootSums(np.array(coordinates, dtype=object), radicands)

    @cached_property
    def irrational(self) -> bool:
        """Whether some defect is irrational."""
        return any(isinstance(x, Cyclotomic) and not x.is_rational() for x in self.defects.flat)

    @cached_property
    def payoff_rows(self) -> PayoffRows:
        """The game for `lemmata.certificates.game.programs`."""
        return PayoffRows(self.defects, RootSums(self.weights[None, :]) if self.irrational else self.root_weights)

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

    @property
    def solution(self) -> GameSolution:
        """This pair, in cyclotomic numbers already."""
        return self

    @property
    def rows_with_mass(self) -> tuple[int, ...]:
        """The positions with eps_R > 0."""
        return tuple(np.flatnonzero(self.eps != 0).tolist())

    @property
    def columns_with_weight(self) -> tuple[int, ...]:
        """The positions with t_C > 0."""
        return tuple(np.flatnonzero(self.t != 0).tolist())

    def with_masses(self, y: np.ndarray) -> GameSolution:
        """The pair with other optimal masses, given as y_R = eps_R / (v w_R); errors as `verify`."""
        return verify(self.game, self.value, y * self.game.weights * self.value, self.t)

    def with_class_weights(self, u: RootSums) -> GameSolution:
        """The pair with other optimal class weights, given as u_C = t_C / v; errors as `verify`."""
        return verify(self.game, self.value, self.eps, u.numbers() * self.value)

    @staticmethod
    def average(pairs: Sequence[GameSolution]) -> GameSolution:
        """The mean of optimal pairs of one game."""
        share = fmpq(1, len(pairs))
        eps, t = (sum(getattr(pair, name) * share for pair in pairs) for name in ("eps", "t"))
        return verify(pairs[0].game, pairs[0].value, np.asarray(eps), np.asarray(t))


def margin_scale(order: int, factors: int = 2) -> Cyclotomic:
    """k! ((k+1) n)^(-(k+1)/2), k the number of factors: what turns the value of the game into the margin.

    For k = 2 it is 2 (3n)^(-3/2).

    Raises:
        ValueError: for fewer than two factors.
    """
    checked_integer("The number of factors", factors, 2)
    return sqrt_rational(fmpq(factorial(factors) ** 2, (factors + 1) ** (factors + 1) * order ** (factors + 1)))


def solve(game: MarginGame) -> GameSolution:
    """The exact solution of the game: the pair of the linear program in one field, then `verify`.

    Of a game with irrational defects the solution is constant on Galois orbits, if the Galois group permutes rows and
    columns, and found in rational numbers.

    Raises:
        ValueError: when the value is not positive, or the square roots of the weights share no cyclotomic field of
            supported order.
    """
    masses, class_weights = _pair_by_orbits(game) or optimal_pair(game.payoff_rows)
    value = 1 / sum(masses * game.weights, start=rational(0))
    return verify(game, value, masses * game.weights * value, class_weights.numbers() * value)


def _pair_by_orbits(game: MarginGame) -> tuple[np.ndarray, RootSums] | None:
    """The scaled pair of an irrational game from one row and one column for each orbit; None where this is no way.

    `lemmata.certificates.game.rational` says why the averages of the defects over conjugates suffice.
    """
    if not game.irrational:
        return None
    first_rows, first_columns = first_members(game.table.rows), first_members(IntegralProducts(game.table.values.T))
    if first_rows is None or first_columns is None:
        return None
    rows = [i for i, R in enumerate(game.rows) if first_rows[R] == R]
    columns = [i for i, C in enumerate(game.columns) if first_columns[C] == C]
    means = [[x.mean_conjugate() if isinstance(x, Cyclotomic) else x for x in game.defects[i, columns]] for i in rows]
    weights = RootSums(game.root_weights.coordinates[:, rows], game.root_weights.radicands)
    masses, class_weights = optimal_pair(PayoffRows(np.array(means, dtype=object), weights))
    of_row = orbit_positions(game.rows, first_rows, [game.rows[i] for i in rows])
    of_column = orbit_positions(game.columns, first_columns, [game.columns[i] for i in columns])
    shares = spread(of_column, class_weights.coordinates)
    return spread(of_row, masses), RootSums(shares, class_weights.radicands)


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
