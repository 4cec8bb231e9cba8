"""Beyond theorem 7.9: the range of its closed form over all finite groups, and three families inside it.

For any finite group of order n let s_R = 1 for real type and 1/sqrt 2 for complex or quaternionic type. Then

    gamma* >= 2/(3 sqrt(3n) S'),  S' = sum_{R != 1} d^(5/2)/s     (over complex R: a conjugate pair counts twice),

with equality exactly if no condition sum  sum_{R != 1} (d^(3/2)/s) Re chi_R(C),  C != e, is positive. gamma* is
2 (3n)^(-3/2) times the value of the game on the character table. The proof has three steps, checked exactly below:

1. The masses eps_R = d^(5/2)/(s S') tie all classes, (eps^T M)_C = n/S': a network, so a lower bound.
2. The class weights t_C = -(|C|/S') (condition sum) tie all rows, (M t)_R = n/S', and add up to 1; they are the only
   ones that tie all rows, because M is invertible. If they are not negative, they prove the bound from above.
3. If the closed form is the value, the masses of step 1 are optimal and positive. By complementary slackness optimal
   class weights tie all rows, so they are those of step 2, which are then not negative.

The condition holds in all abelian, dihedral and dicyclic groups: their sums reduce to sums of roots of unity.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from lemmata.certificates.characters.dixon import character_table
from lemmata.certificates.characters.families import (
    abelian_characters,
    cyclic_characters,
    dicyclic_characters,
    dihedral_characters,
)
from lemmata.certificates.characters.tables import CharacterTable
from lemmata.certificates.game.closed_form import abelian_margin, closed_form_margin, dicyclic_margin, dihedral_margin
from lemmata.certificates.game.closed_form_report import closed_form_report
from lemmata.certificates.game.equalising import condition_sums, equalising_class_weights, equalising_masses
from lemmata.certificates.game.margin_game import MarginGame, margin_scale, solve, verify
from lemmata.constructions.groups.cyclic import frequency_shares
from lemmata.constructions.representations import young
from lemmata.numerics.exact.cyclotomic.numbers import rational, sqrt_rational
from lemmata.numerics.exact.linear import rank
from lemmata.numerics.groups.names import parse_group
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.plugin import Effort

INSIDE = (
    *("Z2", "Z3", "Z4", "Z2^3", "Z12", "S3", "D4", "D5", "Q8", "Dic3", "A4", "SD16", "Q16", "Z3xS3", "C7:C3", "Q8xZ3"),
    *("SL(2,3)", "S4", "He3", "GL(2,3)", "S5"),
)
OUTSIDE = ("Z4xD4", "D4xS3", "A5", "SL(2,5)", "PSL(2,7)", "A6", "S6")
ROOT = sqrt_rational(2)

named = pytest.mark.parametrize("name", INSIDE + OUTSIDE)


@cache
def _table(name: str) -> CharacterTable:
    return character_table(parse_group(name))


# ---- the closed form and its range


@check(
    "feature-emergence:ext-E2",
    grade="exact",
    target="printed",
    cases="28 groups of the three types, 21 inside the condition and 7 outside, of orders 2 to 720",
)
@proof_steps("all-types.md: 11")
@named
def test_the_closed_form_is_the_margin_exactly_where_no_condition_sum_is_positive(name: str) -> None:
    """Types R, C, H and mixtures; the game is solved by linear programming and verified, not by the closed form."""
    game = MarginGame(_table(name))
    gamma, closed = solve(game).gamma, closed_form_margin(game)
    holds = all(value <= 0 for value in condition_sums(game))
    assert holds == (name in INSIDE)
    assert gamma == closed if holds else gamma > closed > 0


@check(
    "feature-emergence:ext-E2",
    grade="exact",
    target="printed",
    cases="28 groups of the three types, 21 inside the condition and 7 outside, of orders 2 to 720",
)
@proof_steps("all-types.md: 10, 11")
@named
def test_the_closed_masses_tie_all_classes_and_only_the_closed_class_weights_tie_all_rows(name: str) -> None:
    """Steps 1 and 2; M is square because real characters separate the pairs {C, C^-1}."""
    game = MarginGame(_table(name))
    eps, t = equalising_masses(game), equalising_class_weights(game)
    value = closed_form_margin(game) / margin_scale(game.table.order)
    assert sum(eps) == sum(t) == 1
    assert all(mass > 0 for mass in eps)
    assert all(margin == value for margin in game.class_payoffs(eps))
    assert all(kappa == value for kappa in game.kappas(t))
    assert game.defects.shape == (len(game.rows), len(game.rows))
    assert rank(game.defects) == len(game.rows)


@check("feature-emergence:ext-E2", grade="exact", target="printed", supporting=True)
@proof_steps("all-types.md: 12")
@named
def test_the_optimum_is_unique_and_uses_everything_where_the_sums_are_negative(name: str) -> None:
    report = closed_form_report(_table(name))
    everything = tuple(range(len(report.sums)))
    if report.strict:
        assert report.unique
        assert report.used_irreps == report.margin_classes == everything
    else:
        assert report.margin_classes != everything
        assert set(report.violations).isdisjoint(report.margin_classes)
    assert report.faces.unique_masses == (name not in {"S6", "SL(2,5)"})


@check("feature-emergence:ext-E2", grade="exact", target="printed", supporting=True)
def test_without_the_type_factor_the_closed_form_is_wrong() -> None:
    """Negative control: s = 1 for all R, as in theorem 7.9, on Z_3, Z_4 and Q_8."""
    for name in ("Z3", "Z4", "Q8"):
        table = _table(name)
        plain = sum((d * d * sqrt_rational(d) for d in table.degrees[1:]), start=rational(0))
        wrong = 2 / (3 * sqrt_rational(3 * table.order) * plain)
        assert wrong > solve(MarginGame(table)).gamma


@check("feature-emergence:ext-E2", grade="exact", target="printed", supporting=True)
def test_class_weights_of_the_closed_form_are_refused_where_the_condition_fails() -> None:
    """Negative control: `verify` finds the negative class weight in every group outside the range."""
    for name in OUTSIDE:
        game = MarginGame(_table(name))
        value = closed_form_margin(game) / margin_scale(game.table.order)
        with pytest.raises(ValueError, match=r"class weight t of .* is negative"):
            verify(game, value, equalising_masses(game), equalising_class_weights(game))


# ---- the families


def _abelian_groups(order: int) -> Iterator[list[int]]:
    """The abelian groups of an order, each as the orders of cyclic factors of prime power order."""
    choices = [
        [[p**part for part in shape] for shape in young.partitions(exponent)]
        for p, exponent in sp.factorint(order).items()
    ]
    for choice in product(*choices):
        yield [factor for factors in choice for factor in factors]


@check("feature-emergence:ext-E3", grade="symbolic", target="printed", supporting=True)
@proof_steps("all-types.md: 13")
def test_sums_of_roots_of_unity() -> None:
    """(z - 1) (1 + z + .. + z^(n-1)) = z^n - 1, so that nontrivial n-th roots of unity z have sum_{j=1..n-1} z^j = -1.

    This is what all condition sums of the families reduce to; every n at once by induction.
    """
    z, n = sp.symbols("z n", positive=True)
    total = (z**n - z) / (z - 1)
    # induction on n: empty for n = 1, and one more term z^n
    assert total.subs(n, 1) == 0
    assert sp.simplify(total.subs(n, n + 1) - total - z**n) == 0
    assert sp.simplify(total.subs(z**n, 1) + 1) == 0


@check("feature-emergence:ext-E3", grade="symbolic", target="printed", supporting=True)
@proof_steps("all-types.md: 14, 15, 16")
def test_condition_sums_of_the_families() -> None:
    """From the values of the character sums to the condition sums; A, B are sums over all of a set of characters.

    Abelian: with A = sum over all characters (0 at c != e) and B over the real ones (r if c is a square, else 0), the
    sum over the nontrivial ones is sqrt2 (A - B) + B - 1. Dihedral, rotation r^k: linear characters 1 (n odd) or
    1 + 2 (-1)^k, and 2 sqrt 2 times sum_j 2 cos(2 pi jk/n) = -1 (n odd) or -1 - (-1)^k. Dicyclic, a^k with k != m: the
    even j give the dihedral sum of m, the odd ones 0 (m even) or -(-1)^k (m odd: j = m is left out), with weight 4; at
    a^m they give m - 2 or m - 1, and -m or 1 - m. Reflections, and x a^k: the linear characters alone, -1.
    """
    r, m = sp.symbols("r m", positive=True)
    root = sp.sqrt(2)

    def abelian(real: sp.Expr) -> sp.Expr:
        return root * (0 - real) + real - 1

    assert sp.expand(abelian(r) - (-root - (root - 1) * (r - 1))) == 0
    assert abelian(sp.Integer(0)) == -1
    assert sp.expand(1 + 2 * root * -1 - (1 - 2 * root)) == 0
    for parity, expected in ((1, 3 - 4 * root), (-1, -1)):
        assert (
            sp.expand(1 + 2 * parity + 2 * root * (-1 - parity) - expected) == 0
        )  # dihedral, even n; dicyclic, even m
    for parity, expected in ((1, sp.Integer(-3)), (-1, 5 - 4 * root)):
        assert sp.expand(1 + 2 * root * parity + 2 * root * -1 + 4 * -parity - expected) == 0  # dicyclic, odd m
    even, odd = 3 + 2 * root * (m - 2) - 4 * m, 1 - 2 * root + 2 * root * (m - 1) + 4 * (1 - m)
    assert sp.expand(even - (3 - 4 * root - (4 - 2 * root) * m)) == 0
    assert sp.expand(odd - (1 - 2 * root - (4 - 2 * root) * (m - 1))) == 0
    # all negative: for r >= 1, m >= 2
    negative = [3 - 4 * root, 5 - 4 * root, 1 - 2 * root, 2 * root - 4, -root, 1 - root]
    assert all(value.is_negative for value in negative)


@check(
    "feature-emergence:ext-E3",
    grade="exact",
    target="printed",
    cases="all abelian groups of order 2, ..., 32 and of orders 36, 48, 60, 61",
)
@proof_steps("all-types.md: 14")
def test_abelian_groups(effort: Effort) -> None:
    """Margin and both condition values, exactly in Q(sqrt 2), in all abelian groups of order <= 32 and of four more
    orders; at full effort in all 105 of order <= 63."""
    count = 0
    for order in (*range(2, 33), *effort.pick(quick=(36, 48, 60, 61), full=range(33, 64))):
        for factors in _abelian_groups(order):
            table = abelian_characters(factors)
            report = closed_form_report(table)
            assert report.strict
            assert report.gamma == abelian_margin(factors)
            real = table.indicators.count(1)
            squares = set(table.squares)
            for C, value in zip(report.solution.game.columns, report.sums, strict=True):
                assert value == (-ROOT - (ROOT - 1) * (real - 1) if C in squares else -1)
            assert real == order // len(squares) == 2 ** sum(f % 2 == 0 for f in factors)
            count += 1
    assert count == effort.pick(quick=66, full=105)


@check("feature-emergence:ext-E3", grade="exact", target="printed", cases="D_n, n = 3, ..., 32")
@proof_steps("all-types.md: 15")
def test_dihedral_groups() -> None:
    for n in range(3, 33):
        report = closed_form_report(dihedral_characters(n))
        assert report.strict
        assert report.gamma == dihedral_margin(n)
        rotations = (
            [1 - 2 * ROOT] * (n // 2) if n % 2 else [3 - 4 * ROOT if k % 2 == 0 else -1 for k in range(1, n // 2 + 1)]
        )
        assert list(report.sums) == [*rotations, *[-1] * (1 if n % 2 else 2)]


@check("feature-emergence:ext-E3", grade="exact", target="printed", cases="Dic_m, m = 2, ..., 16")
@proof_steps("all-types.md: 16")
def test_dicyclic_groups() -> None:
    """Orders 8 to 64."""
    for m in range(2, 17):
        report = closed_form_report(dicyclic_characters(m))
        assert report.strict
        assert report.gamma == dicyclic_margin(m)
        at_even, at_odd = (-3, 5 - 4 * ROOT) if m % 2 else (3 - 4 * ROOT, -1)
        at_m = 1 - 2 * ROOT - (4 - 2 * ROOT) * (m - 1) if m % 2 else 3 - 4 * ROOT - (4 - 2 * ROOT) * m
        powers = [at_even if k % 2 == 0 else at_odd for k in range(1, m)]
        assert list(report.sums) == [*powers, at_m, *([-1] if m % 2 else [-1, -1])]


@check(
    "feature-emergence:ext-E3", grade="exact", target="printed", cases="Z_n, n = 3, 5, ..., 63; Z_2^k, k = 1, ..., 6"
)
def test_formulas_of_theorem_7_7_and_of_elementary_abelian_groups() -> None:
    for n in range(3, 64, 2):
        assert abelian_margin([n]) ** 2 == fmpq(2, 27 * n * (n - 1) ** 2)
    for k in range(1, 7):
        n = 2**k
        assert abelian_margin([2] * k) == 2 / (3 * sqrt_rational(3 * n) * (n - 1))


@check("feature-emergence:ext-E3", grade="exact", target="printed", supporting=True)
def test_masses_of_even_cyclic_groups_are_those_of_the_network() -> None:
    """Frequency n/2 has the share 1/(1 + sqrt2 (n - 2)): the masses of the game and those of the construction."""
    for n in (2, 4, 6, 8, 12, 20):
        solution = solve(MarginGame(cyclic_characters(n)))
        assert list(solution.eps) == frequency_shares(n, exact=True)
        assert solution.eps[-1] == 1 / (1 + ROOT * (n - 2))


@check("feature-emergence:ext-E3", grade="exact", target="printed", supporting=True)
def test_written_tables_and_computed_tables_agree() -> None:
    """The tables of the formulas against Dixon's algorithm on permutations: same margin, same multiset of sums."""
    for written, name in (
        (dihedral_characters(7), "D7"),
        (dihedral_characters(8), "D8"),
        (dicyclic_characters(5), "Dic5"),
        (dicyclic_characters(6), "Dic6"),
        (abelian_characters([4, 6]), "Z4xZ6"),
    ):
        first, second = closed_form_report(written), closed_form_report(_table(name))
        assert first.gamma == second.gamma
        assert sorted(first.sums) == sorted(second.sums)


@check("feature-emergence:ext-E3", grade="exact", target="printed", supporting=True)
def test_wrong_formulas_are_noticed() -> None:
    """Negative controls: the other parity, all characters counted as real, all dicyclic E_j counted as real."""
    for n in (7, 8):
        linear = 3 if n % 2 else 1
        wrong = linear + (2 * n + 2 - linear - 3) * ROOT
        assert dihedral_margin(n) != 2 / (3 * sqrt_rational(6 * n) * wrong)
    assert abelian_margin([6]) < 2 / (3 * sqrt_rational(18) * 5)
    assert dicyclic_margin(4) < dihedral_margin(8)
    assert not closed_form_report(_table("Z4xD4")).holds  # closed under neither products nor mixtures
    assert np.prod([report.holds for report in map(closed_form_report, (_table("Z4"), _table("D4")))])
