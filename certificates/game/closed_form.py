"""Closed forms of the maximum margin: of any table, as a lower bound, and of whole families of groups.

The closed form is k! ((k+1) n)^(-(k+1)/2) n/S with S = sum of q nu^((k-1)/2) over the nontrivial irreducible real
representations: nu is the dimension, and q that of the component of the real group algebra. By complex characters of
degree d it is the sum of d^2 nu^((k-1)/2), nu = d for real type and 2 d otherwise, over all of them: q is 2 d^2 for a
conjugate pair and d^2 for the others. For two factors the closed form is 2/(3 sqrt(3n) S), S = sum of d^2 sqrt(nu).
It is the margin when the condition sums of `lemmata.certificates.game.equalising` are not positive. In these families
they are negative for every size, because sums of roots of unity vanish (r counts the real characters of an abelian
group):

    abelian, r real characters   S = r - 1 + sqrt 2 (n - r)
    dihedral, order 2n           S = 1 + (n - 1) 2^(3/2) for odd n, 3 + (n - 2) 2^(3/2) for even n
    dicyclic, order 4m           S = l + 8 floor(m/2) + 2^(5/2) floor((m - 1)/2), l = 3 (m even) or 1 + 2 sqrt 2 (m odd)

The margins of the families use these expressions alone, no table and no game.

Source: feature-emergence, theorem 7.9 (real type), theorem 7.7 (cyclic groups of odd order), ext-E2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lemmata.certificates.characters.families import check_cyclic_orders
from lemmata.certificates.characters.tables import CharacterTable
from lemmata.certificates.game.equalising import equalising_class_weights, equalising_masses, spectral_sum
from lemmata.certificates.game.margin_game import GameSolution, MarginGame, margin_scale, solve, verify
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic, rational, sqrt_rational
from lemmata.numerics.exact.integers import checked_integer

__all__ = ["abelian_margin", "closed_form_margin", "dicyclic_margin", "dihedral_margin", "solve_table"]


def closed_form_margin(game: MarginGame) -> Cyclotomic:
    """k! ((k+1) n)^(-(k+1)/2) n/S: the max margin when all condition sums are <= 0, and a lower bound always.

    For two factors it is 2/(3 sqrt(3n) S).
    """
    order = game.table.order
    return margin_scale(order, game.factors) * order / spectral_sum(game)


def solve_table(table: CharacterTable, factors: int = 2) -> GameSolution:
    """The exact solution of the margin game of a table: by the closed form where it holds, else by `solve`.

    Raises:
        ValueError: as `lemmata.certificates.game.margin_game.solve`.
    """
    game = MarginGame(table, factors)
    t = equalising_class_weights(game)
    if all(weight >= 0 for weight in t):
        return verify(game, rational(table.order) / spectral_sum(game), equalising_masses(game), t)
    return solve(game)


def abelian_margin(factors: Sequence[int]) -> Cyclotomic:
    """The max margin of Z_f1 x Z_f2 x .. for the given orders f >= 2 of the cyclic factors, exactly.

    The number of real characters is 2^(number of even factors). For a cyclic group of odd order n this is theorem
    7.7's sqrt(2/27)/(sqrt(n) (n - 1)), for Z_2^k it is 2/(3 sqrt(3n) (n - 1)).
    """
    check_cyclic_orders(factors)
    order, real = int(np.prod(factors)), 2 ** sum(f % 2 == 0 for f in factors)
    return _margin(order, real - 1 + (order - real) * sqrt_rational(2))


def dihedral_margin(n: int) -> Cyclotomic:
    """The max margin of the dihedral group of order 2n, n >= 3, exactly."""
    checked_integer("n of the dihedral group of order 2n", n, 3)
    linear = 1 if n % 2 else 3
    return _margin(2 * n, linear + (n - 1 if n % 2 else n - 2) * 2 * sqrt_rational(2))


def dicyclic_margin(m: int) -> Cyclotomic:
    """The max margin of the dicyclic group of order 4m, m >= 2, exactly; m = 2 is the quaternion group."""
    checked_integer("m of the dicyclic group of order 4m", m, 2)
    linear = 1 + 2 * sqrt_rational(2) if m % 2 else rational(3)
    return _margin(4 * m, linear + 8 * (m // 2) + (m - 1) // 2 * 4 * sqrt_rational(2))


def _margin(order: int, spectral: Cyclotomic) -> Cyclotomic:
    """2/(3 sqrt(3n) S)."""
    return 2 / (3 * sqrt_rational(3 * order) * spectral)
