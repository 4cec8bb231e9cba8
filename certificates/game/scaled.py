"""Optimal pairs of a rational margin game in rational numbers and square roots alone, in no cyclotomic field.

Let the defects D[R, C] of a game with value v > 0 be rational, as those of every `lemmata.certificates.game.rational.
RationalGame` are. Scaled by the value, masses y_R = eps_R/(v w_R) are rational and class weights u_C = t_C/v sums of
square roots (`lemmata.certificates.game.programs`). They are optimal exactly if

    y >= 0,  y D >= 1 in every column;    u >= 0,  D u <= w in every row;    sum_R w_R y_R = sum_C u_C  (= 1/v),

and all of this is decided by signs of sums of square roots (`lemmata.numerics.exact.root_sums`). So the pair is exact
whatever square roots the weights w of the rows have. The numbers v, eps and t themselves need a cyclotomic field that
holds all these roots; `ScaledSolution.solution` forms them where there is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmata.certificates.game.margin_game import GameSolution, MarginGame
from lemmata.certificates.game.programs import optimal_pair
from lemmata.certificates.game.rational import RationalGame
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul
from lemmata.numerics.exact.root_sums import (
    RootSums,
    root_sum_number,
    root_sum_product,
    root_sum_reciprocal,
    root_sum_sign,
    square_root,
)

__all__ = ["ScaledSolution", "solve_scaled", "verify_scaled"]

Array = NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class ScaledSolution:
    """An optimal pair of a game with rational defects, scaled by the value.

    ``masses`` (rows,): the rational y; ``class_weights``: u, one sum of square roots for each column. ``tight_rows``
    and ``tight_columns`` are the positions where the inequalities D u <= w and y D >= 1 are equations.
    """

    game: MarginGame
    masses: Array
    class_weights: RootSums
    tight_rows: tuple[int, ...]
    tight_columns: tuple[int, ...]

    @property
    def reciprocal_value(self) -> dict[int, fmpq]:
        """1/v as a sum of square roots {m: q}, q not 0."""
        totals = (sum(line, start=fmpq(0)) for line in self.class_weights.coordinates)
        return {m: q for m, q in zip(self.class_weights.radicands, totals, strict=True) if q != 0}

    @property
    def rows_with_mass(self) -> tuple[int, ...]:
        """The positions with y_R > 0."""
        return tuple(i for i, mass in enumerate(self.masses) if mass != 0)

    @property
    def columns_with_weight(self) -> tuple[int, ...]:
        """The positions with u_C > 0."""
        return tuple(i for i, entry in enumerate(self.class_weights.sums()) if entry)

    @property
    def solution(self) -> GameSolution:
        """The pair as cyclotomic numbers, of sum 1, with the value.

        Raises:
            FieldError: when the square roots share no cyclotomic field of supported order.
        """
        value = root_sum_reciprocal(self.reciprocal_value)
        roots = [square_root(square) for square in self.game.squared_weights]
        masses = ({m: f * y} if y != 0 else {} for y, (f, m) in zip(self.masses, roots, strict=True))
        eps, t = (
            np.array([root_sum_number(root_sum_product(entry, value)) for entry in entries], dtype=object)
            for entries in (masses, self.class_weights.sums())
        )
        return GameSolution(self.game, root_sum_number(value), eps, t, self.tight_rows, self.tight_columns)

    def with_masses(self, y: Array) -> ScaledSolution:
        """The pair with other optimal masses, given as y; errors as `verify_scaled`."""
        return verify_scaled(self.game, y, self.class_weights)

    def with_class_weights(self, u: RootSums) -> ScaledSolution:
        """The pair with other optimal class weights, given as u; errors as `verify_scaled`."""
        return verify_scaled(self.game, self.masses, u)

    @staticmethod
    def average(pairs: Sequence[ScaledSolution]) -> ScaledSolution:
        """The mean of optimal pairs of one game, with equal radicands."""
        share = fmpq(1, len(pairs))
        masses = np.asarray(sum(pair.masses for pair in pairs)) * share
        coordinates = np.asarray(sum(pair.class_weights.coordinates for pair in pairs)) * share
        return verify_scaled(pairs[0].game, masses, RootSums(coordinates, pairs[0].class_weights.radicands))


def solve_scaled(game: MarginGame) -> ScaledSolution:
    """The exact solution of a game with rational defects, `verify_scaled`: by the closed form, or a linear program.

    Where all class weights of the closed form are positive, it is the only optimum
    (`lemmata.certificates.game.closed_form_report`), so that the linear program would end there too.

    Raises:
        ValueError: when a defect is irrational or the value is not positive.
    """
    if game.irrational:
        raise ValueError("Only games with rational defects have optimal pairs in square roots: fold the game.")
    closed_form = _closed_form(game) if isinstance(game, RationalGame) else None
    return verify_scaled(game, *(closed_form or optimal_pair(game.payoff_rows)))


def _closed_form(game: RationalGame) -> tuple[Array, RootSums] | None:
    """The scaled pair of the closed form, for each orbit; None if a class weight is not positive.

    Scaled by v = n/S, the masses d_R w_R/S of a complex character and the equalising class weights of
    `lemmata.certificates.game.equalising` are y_R = d_R/n and u_C = -(|C|/n) sum_R w_R Re chi_R(C).
    """
    order = game.table.order
    members = Counter(game.row_orbits)
    sizes = Counter[int]()
    for C, first in enumerate(game.column_orbits):
        sizes[first] += game.table.class_sizes[C]
    counts = np.array([members[R] for R in game.rows], dtype=object)
    characters = game.degrees[:, None] - game.defects
    sums = exact_matmul(game.root_weights.coordinates * counts, characters)
    weights = sums * np.array([fmpq(-sizes[C], order) for C in game.columns], dtype=object)
    radicands = game.root_weights.radicands
    if any(root_sum_sign(entry.tolist(), radicands) <= 0 for entry in weights.T):
        return None
    return counts * game.degrees * fmpq(1, order), RootSums(weights, radicands)


def verify_scaled(game: MarginGame, masses: Array, class_weights: RootSums) -> ScaledSolution:
    """The solution that a scaled pair is, after an exact check that knows nothing of how it was found.

    Raises:
        ValueError: naming the first violated line, or for class weights with other square roots than the rows have.
    """
    payoffs = game.payoff_rows
    if class_weights.radicands != payoffs.weights.radicands:
        raise ValueError(
            f"The class weights have the square roots of {class_weights.radicands}, but the rows those of "
            f"{payoffs.weights.radicands}."
        )
    weights, radicands, names = payoffs.weights.coordinates, payoffs.weights.radicands, game.table
    margins = exact_matmul(masses[None, :], payoffs.defects)[0]
    slacks = weights - exact_matmul(class_weights.coordinates, payoffs.defects.T)
    for R, mass in zip(game.rows, masses, strict=True):
        if mass < 0:
            raise ValueError(f"The mass of {names.irrep_names[R]} is negative.")
    for C, margin, entry in zip(game.columns, margins, class_weights.coordinates.T, strict=True):
        if root_sum_sign(entry.tolist(), radicands) < 0:
            raise ValueError(f"The class weight of {names.class_names[C]} is negative.")
        if margin < 1:
            raise ValueError(f"The masses give class {names.class_names[C]} less than the claimed value.")
    for R, slack in zip(game.rows, slacks.T, strict=True):
        if root_sum_sign(slack.tolist(), radicands) < 0:
            raise ValueError(f"The class weights leave {names.irrep_names[R]} more than the claimed value.")
    totals = exact_matmul(weights, masses[:, None])[:, 0]
    if any(total != sum(line, start=fmpq(0)) for total, line in zip(totals, class_weights.coordinates, strict=True)):
        raise ValueError("The masses and the class weights prove different values.")
    return ScaledSolution(
        game,
        masses,
        class_weights,
        tuple(i for i, slack in enumerate(slacks.T) if all(q == 0 for q in slack)),
        tuple(i for i, margin in enumerate(margins) if margin == 1),
    )
