"""Condition reports and families: against a second solver, published tables, and planted faults."""

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.characters.families import (
    abelian_characters,
    cyclic_characters,
    dicyclic_characters,
    dihedral_characters,
    symmetric_characters,
)
from lemmata.certificates.characters.traces import characters_of
from lemmata.certificates.game.closed_form import abelian_margin, dicyclic_margin, dihedral_margin
from lemmata.certificates.game.closed_form_report import closed_form_report
from lemmata.certificates.game.equalising import equalising_class_weights
from lemmata.certificates.game.margin_game import MarginGame
from lemmata.constructions.representations.orthogonal import real_irreps
from lemmata.numerics.exact.cyclotomic.numbers import rational, sqrt_rational
from lemmata.numerics.groups.tables import dihedral
from tests.certificates.character_tables import interior_point_value, table_named

NAMES = ("S3", "S4", "S5", "S6", "A5", "Q8", "Z12", "D4xZ4", "D4xS3")
FAILING = {"S6", "A5", "D4xZ4", "D4xS3"}


@pytest.mark.parametrize("name", NAMES)
def test_report_against_a_linear_program(name):
    report = closed_form_report(table_named(name))
    assert report.holds == (name not in FAILING)
    game = report.solution.game
    scale = float(report.solution.gamma / report.solution.value)
    value = scale * interior_point_value(game)
    # the solver stops at a relative gap of 1e-8; the smallest excess in this list is 0.5 per cent
    assert float(report.gamma) == pytest.approx(value, rel=1e-6)
    assert report.is_closed_form == report.holds == (value < float(report.closed_form) * (1 + 1e-4))
    assert report.excess >= 1
    assert (report.violations == ()) == report.holds


def test_all_is_active_when_the_condition_is_strict():
    report = closed_form_report(symmetric_characters(5))
    assert report.strict
    assert report.unique
    assert report.used_irreps == report.margin_classes == tuple(range(6))
    assert "All condition sums are negative" in report.lines()[1]


@pytest.mark.parametrize("tied", [(2,), (0, 5), tuple(range(6))])
def test_sums_that_are_zero_tie_and_are_not_strict(tied):
    """No group of the lists above has such a sum, so that the sums of S_5 are overwritten."""
    report = closed_form_report(symmetric_characters(5))
    sums = report.sums.copy()
    sums[list(tied)] = rational(0)
    report = replace(report, sums=sums)
    assert (report.ties, report.violations, report.holds, report.strict) == (tied, (), True, False)
    names = ", ".join(report.table.class_names[report.solution.game.columns[C]] for C in tied)
    assert report.lines()[1] == f"No condition sum is positive, but {names} tie: the closed form holds."


def test_a_sum_that_is_positive_is_neither_strict_nor_a_tie():
    report = closed_form_report(symmetric_characters(5))
    sums = report.sums.copy()
    sums[3] = sqrt_rational(fmpq(1, 10**40))
    report = replace(report, sums=sums)
    assert (report.ties, report.violations, report.holds, report.strict) == ((), (3,), False, False)


def test_activity_when_the_condition_fails():
    report = closed_form_report(table_named("A5"))
    names = report.table.class_names
    assert [names[report.solution.game.columns[C]] for C in report.violations] == ["(2 3)(4 5)"]
    assert [report.table.irrep_names[report.solution.game.rows[R]] for R in report.used_irreps] == ["3", "3'", "4"]
    assert set(report.violations).isdisjoint(report.margin_classes)
    assert report.unique
    text = " ".join(report.lines())
    assert "fails at (2 3)(4 5): the max margin is 1.034221197 times" in text
    assert "can carry mass: 3, 3', 4." in text


def test_optimum_of_s6_is_not_unique():
    report = closed_form_report(symmetric_characters(6))
    assert not report.unique
    assert "Optimal masses: a polytope of dimension 3; class weights: unique." in report.lines()


def test_reports_for_more_factors():
    assert closed_form_report(symmetric_characters(3), factors=3).is_closed_form
    with pytest.raises(ValueError, match="factors"):
        closed_form_report(symmetric_characters(3), factors=1)


@pytest.mark.parametrize("n", [3, 4, 5, 6, 9, 12])
def test_dihedral_table_is_that_of_the_matrices(n):
    """Rows and columns in another order: compare the sorted pairs of (size, square, column)."""
    written = dihedral_characters(n)
    computed = characters_of(dihedral(n), real_irreps(dihedral(n), exact=True))

    def columns(table):
        values = np.round(table.values.astype(float), 9) + 0.0
        rows = sorted(range(len(values)), key=lambda R: (values[R, 0], sorted(values[R]), table.irrep_names[R]))
        return sorted(
            (table.class_sizes[C], table.class_sizes[table.squares[C]], *sorted(values[rows, C]))
            for C in range(len(values))
        )

    assert columns(written) == columns(computed)
    assert sorted(written.degrees) == sorted(computed.degrees)
    assert closed_form_report(written).gamma == closed_form_report(computed).gamma


def test_dicyclic_tables_have_the_right_indicators():
    for m in range(2, 12):
        table = dicyclic_characters(m)
        degrees_two = table.indicators[4:]
        assert degrees_two == tuple(-1 if j % 2 else 1 for j in range(1, m))
        assert table.indicators[2:4] == ((0, 0) if m % 2 else (1, 1))
        # the number of elements of order at most 2 is sum indicator * degree: here e and a^m only
        assert sum(i * d for i, d in zip(table.indicators, table.degrees, strict=True)) == 2


def test_closed_margins_of_named_groups():
    root = sqrt_rational(2)
    assert dicyclic_margin(2) == 16 / (11 * 24 * sqrt_rational(24))
    assert dihedral_margin(3) == closed_form_report(symmetric_characters(3)).gamma
    assert abelian_margin([2, 2]) == 2 / (3 * sqrt_rational(12) * 3)
    assert abelian_margin([9]) == abelian_margin([3, 3]) == root / (9 * sqrt_rational(3) * 8)
    assert abelian_margin([2]) != abelian_margin([3])
    assert abelian_margin([6]) == abelian_margin([2, 3]) == closed_form_report(cyclic_characters(6)).gamma
    for value, decimal in (
        (abelian_margin([8]), 1.4346729224e-2),
        (abelian_margin([4, 2]), 1.5719655150e-2),
        (dihedral_margin(4), 1.5719655150e-2),
        (dihedral_margin(5), 9.8846033183e-3),
        (dicyclic_margin(3), 6.3545509353e-3),
    ):
        assert float(value) == pytest.approx(decimal, rel=1e-10)


@given(st.lists(st.integers(2, 6), min_size=1, max_size=3).filter(lambda f: np.prod(f) <= 40))
def test_abelian_margin_does_not_depend_on_the_decomposition(factors):
    report = closed_form_report(abelian_characters(factors))
    assert report.strict
    assert report.gamma == abelian_margin(factors) == abelian_margin(factors[::-1])


def test_wrong_formulas_are_noticed():
    """Negative control: the dihedral formulas of the other parity, and the real formula for Dic_m."""
    for n in (5, 6):
        other = 2 / (3 * sqrt_rational(6 * n) * (1 + (n % 2 == 1) * 2 + (n - 1 - n % 2) * 2 * sqrt_rational(2)))
        assert closed_form_report(dihedral_characters(n)).gamma != other
    assert dicyclic_margin(4) != dihedral_margin(8)
    assert sum(equalising_class_weights(MarginGame(dihedral_characters(5)))) == fmpq(1)


@pytest.mark.parametrize("wrong", [[], [1], [2, 0], ["3"], [True]])
def test_refused_factors(wrong):
    with pytest.raises(ValueError, match="integers >= 2"):
        abelian_characters(wrong)
    with pytest.raises(ValueError, match="integers >= 2"):
        abelian_margin(wrong)


@pytest.mark.parametrize("wrong", [2, -1, 2.0, True])
def test_refused_sizes(wrong):
    for function in (dihedral_characters, dihedral_margin):
        with pytest.raises(ValueError, match="n of the dihedral group of order 2n must be an integer >= 3"):
            function(wrong)
    for function in (dicyclic_characters, dicyclic_margin):
        with pytest.raises(ValueError, match="m of the dicyclic group of order 4m must be an integer >= 2"):
            function(1 if wrong == 2 else wrong)
