"""Optimal pairs of the margin game without cyclotomic numbers: scaled by the value, averaged over the Galois group.

The vectors of a document are scaled by the value v of the game and averaged over the Galois group, because then they
need no algebraic numbers but square roots:

    y_R = eps_R / (v w_R), w_R = d_R nu^((k-1)/2):  a rational number for each character,
    u_C = t_C / v:                                  a rational combination of square roots for each class.

A Galois automorphism permutes the rows of the table, and the columns; both leave the game as it is, so the averages are
optimal again. They are invariant, so they solve a game whose payoffs d_R - Re chi_R(C) are averaged and thus rational.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from lemmata.certificates import kernel
from lemmata.certificates.characters.tables import CharacterTable
from lemmata.certificates.game.rational import RationalGame
from lemmata.certificates.game.scaled import ScaledSolution
from lemmata.numerics.exact.rationals import as_fraction

__all__ = ["ScaledPair", "character_terms", "folded_pair"]


@dataclass(frozen=True)
class ScaledPair:
    """Scaled masses y_R, one for each of the K characters, and scaled class weights u_C, one for each of the K classes.

    Both are constant on Galois orbits, and zero (an empty sum) for the trivial character and the identity. Here a pair
    of conjugate characters has two equal masses, which `lemmata.certificates.game.margin_game` adds; likewise a pair of
    inverse classes.
    """

    masses: tuple[Fraction, ...]
    weights: tuple[kernel.Radicals, ...]


def folded_pair(scaled: ScaledSolution) -> ScaledPair:
    """The scaled form of a solved game that is folded by the Galois group: every orbit shares its total equally.

    Raises:
        ValueError: for a solution of a game that is not folded.
    """
    game = scaled.game
    if not isinstance(game, RationalGame):
        raise ValueError(f"Only a solution of a RationalGame is one for each orbit, not of a {type(game).__name__}.")
    masses = {R: as_fraction(mass) for R, mass in zip(game.rows, scaled.masses, strict=True)}
    weights = {
        C: {m: as_fraction(q) for m, q in entry.items()}
        for C, entry in zip(game.columns, scaled.class_weights.sums(), strict=True)
    }
    members, partners = Counter(game.row_orbits), Counter(game.column_orbits)
    each_mass = {R: mass / members[R] for R, mass in masses.items()}
    each_weight = {C: {m: q / partners[C] for m, q in weight.items()} for C, weight in weights.items()}
    return ScaledPair(
        tuple(each_mass.get(R, Fraction(0)) for R in game.row_orbits),
        tuple(each_weight.get(C, {}) for C in game.column_orbits),
    )


def character_terms(table: CharacterTable) -> tuple[int, list[list[kernel.Terms]]]:
    """N and the table as integers {e: c}, the coordinates of sum c zeta^e in the power basis of Q(zeta_N).

    Raises:
        ValueError: for a value that is no algebraic integer.
    """
    distinct = table.rows.distinct
    order = lcm(*(value.minimal_order for value in distinct))
    terms = []
    for value in distinct:
        polynomial = value.minimal().lifted(order)
        if polynomial.denom() != 1:
            raise ValueError(f"A character of {table.name} has a value that is no algebraic integer.")
        terms.append({e: int(c) for e, c in enumerate(polynomial.numer().coeffs()) if c != 0})
    return order, [[terms[number] for number in row] for row in table.rows.ids.tolist()]
