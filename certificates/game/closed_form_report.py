"""The report on the closed form of a group: whether it is the max margin, by how much it falls short, what is active.

The closed form (`lemmata.certificates.game.closed_form`) is a lower bound for every finite group, because the masses
proportional to d w exist. It is the max margin exactly when no *condition sum* sum_{R != 1} w_R Re chi_R(C) is
positive:

- If none is, the equalising class weights -|C|/S times the sums are a distribution, and prove it.
- If the closed form is the margin, its masses are optimal and all positive, so by complementary slackness optimal class
  weights t make all rows tie. Only the equalising weights do, so these are t >= 0, and the sums are not positive.

When all sums are negative, every class lies on the margin of every optimal network and every irreducible representation
carries exactly its mass of the closed form: the payoff matrix M is invertible, because a class function f with
sum_g f(g) = 0 and sum_g f(g) Re chi_R(g) = 0 for all R vanishes on average over each class and its inverse. Otherwise
uniqueness and activity are decided by `lemmata.certificates.game.faces`.

Source: feature-emergence, ext-E2 (for real type: lemma D.14, theorem 7.9); it goes beyond the dissertation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lemmata.certificates.characters.tables import CharacterTable
from lemmata.certificates.game.closed_form import closed_form_margin, solve_table
from lemmata.certificates.game.equalising import condition_sums
from lemmata.certificates.game.faces import OptimalFaces, optimal_faces
from lemmata.certificates.game.margin_game import GameSolution, MarginGame
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic

__all__ = ["ClosedFormReport", "closed_form_report"]


@dataclass(frozen=True, eq=False)
class ClosedFormReport:
    """What `closed_form_report` found; all numbers are exact, positions refer to the rows and columns of the game.

    ``sums`` (columns,): the condition sums; ``closed_form``: 2/(3 sqrt(3n) S); ``solution``: an optimal pair with the
    max margin ``solution.gamma``.
    """

    solution: GameSolution
    sums: np.ndarray
    closed_form: Cyclotomic

    @property
    def table(self) -> CharacterTable:
        """The character table."""
        return self.solution.game.table

    @property
    def gamma(self) -> Cyclotomic:
        """The max margin: the value of the game, scaled."""
        return self.solution.gamma

    @property
    def violations(self) -> tuple[int, ...]:
        """The columns whose condition sum is positive."""
        return tuple(C for C, value in enumerate(self.sums) if value > 0)

    @property
    def ties(self) -> tuple[int, ...]:
        """The columns whose condition sum is 0: they get no class weight in the closed form."""
        return tuple(C for C, value in enumerate(self.sums) if value == 0)

    @property
    def holds(self) -> bool:
        """Whether no condition sum is positive."""
        return not self.violations

    @property
    def strict(self) -> bool:
        """Whether all condition sums are negative; then the optimal masses and class weights are unique."""
        return self.holds and not self.ties

    @property
    def is_closed_form(self) -> bool:
        """Whether the max margin equals the closed form, by exact comparison of the two numbers."""
        return self.gamma == self.closed_form

    @property
    def excess(self) -> float:
        """The max margin divided by the closed form, at least 1."""
        return float(self.gamma / self.closed_form)

    @cached_property
    def faces(self) -> OptimalFaces:
        """The polytopes of all optimal masses and class weights (`lemmata.certificates.game.faces`)."""
        return optimal_faces(self.solution)

    @property
    def unique(self) -> bool:
        """Whether the optimal masses and the optimal class weights are unique."""
        return self.faces.unique_masses and self.faces.unique_class_weights

    @property
    def used_irreps(self) -> tuple[int, ...]:
        """The rows that carry mass in some max-margin network; in all of them, when the optimum is unique."""
        return self.faces.rows

    @property
    def margin_classes(self) -> tuple[int, ...]:
        """The columns whose wrong labels lie on the margin of every max-margin network."""
        return self.faces.columns

    def lines(self) -> list[str]:
        """The report as short sentences."""
        game, table = self.solution.game, self.table
        classes = [table.class_names[C] for C in game.columns]
        irreps = [table.irrep_names[R] for R in game.rows]
        if self.strict:
            verdict = "All condition sums are negative: the closed form is the max margin."
        elif self.holds:
            verdict = f"No condition sum is positive, but {_listed(classes, self.ties)} tie: the closed form holds."
        else:
            verdict = (
                f"The condition fails at {_listed(classes, self.violations)}: "
                f"the max margin is {self.excess:.10g} times the closed form."
            )
        sums = ", ".join(f"{name}: {float(value):.6g}" for name, value in zip(classes, self.sums, strict=True))
        faces = self.faces
        return [
            f"Condition sums by class: {sums}.",
            verdict,
            f"Max margin {float(self.gamma):.12g}, closed form {float(self.closed_form):.12g}.",
            f"Optimal masses: {_dimension(faces.mass_dimension)}; class weights: "
            f"{_dimension(faces.class_weight_dimension)}.",
            f"Irreducible representations that can carry mass: {_listed(irreps, self.used_irreps)}.",
            f"Classes on the margin of every optimal network: {_listed(classes, self.margin_classes)}.",
        ]


def closed_form_report(table: CharacterTable, factors: int = 2) -> ClosedFormReport:
    """The exact solution of the margin game of a table, for ``factors`` factors, compared with the closed form.

    Raises:
        ValueError: when the game cannot be solved exactly (see `lemmata.certificates.game.margin_game.solve`).
    """
    game = MarginGame(table, factors)
    return ClosedFormReport(solve_table(table, factors), condition_sums(game), closed_form_margin(game))


def _dimension(dimension: int) -> str:
    return "unique" if dimension == 0 else f"a polytope of dimension {dimension}"


def _listed(names: list[str], positions: tuple[int, ...]) -> str:
    return ", ".join(names[i] for i in positions)
