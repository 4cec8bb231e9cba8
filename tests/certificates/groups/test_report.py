"""Reports of certificates against the report on the closed form, which knows no document."""

from fractions import Fraction

import numpy as np
import pytest

from lemmata.certificates.game.closed_form_report import closed_form_report
from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.groups.document import document_of
from lemmata.certificates.groups.report import margin_report
from lemmata.numerics.groups.names import parse_group


@pytest.mark.parametrize("name", ["Z6", "Q8", "A5", "SL(2,3)", "PSL(2,7)", "S6"])
def test_a_reading_agrees_with_the_condition_report(name):
    certificate = certify_group(parse_group(name))
    report, reading = closed_form_report(certificate.table), margin_report(document_of(certificate))
    game = report.solution.game
    assert reading.gamma == report.gamma
    assert reading.condition == ("strict" if report.strict else "ties" if report.holds else "fails")
    assert reading.closed_form == report.is_closed_form
    assert reading.excess == pytest.approx(report.excess, rel=1e-12)
    assert [entry.condition for entry in reading.classes] == [(value > 0) - (value < 0) for value in report.sums]
    assert [entry.name.split(" and ")[0] for entry in reading.classes] == [
        game.table.class_names[C] for C in game.columns
    ]
    assert sum(irrep.mass for irrep in reading.irreps) == 1
    assert sum(entry.weight for entry in reading.classes) == 1
    assert sum(entry.size for entry in reading.classes) == reading.order - 1
    eps = np.array([irrep.mass for irrep in reading.irreps], dtype=object)
    margins = game.class_payoffs(eps) / report.solution.value
    assert [entry.margin for entry in reading.classes] == [
        Fraction(int(q.p), int(q.q)) for q in (margin.to_fmpq() for margin in margins)
    ]


@pytest.mark.parametrize("name", ["Z2", "Z6", "Q8", "C7:C3", "SL(2,3)", "PSL(2,7)", "Dic5"])
def test_rows_are_irreducible_real_representations(name):
    """Their number is that of the classes up to inversion, and the spaces V of their entries fill the group algebra."""
    group = parse_group(name)
    reading = margin_report(document_of(certify_group(group)))
    assert len(reading.irreps) == len(reading.classes)
    spaces = {1: 1, 0: Fraction(1, 2), -1: Fraction(1, 4)}  # dim V = nu^2 / dim of the commuting algebra
    assert 1 + sum(irrep.dimension**2 * spaces[irrep.indicator] for irrep in reading.irreps) == group.order


@pytest.mark.parametrize("name", ["Z9", "Z17"])
def test_conjugate_characters_are_one_row_named_by_both_in_their_order(name):
    group = parse_group(name)
    reading = margin_report(document_of(certify_group(group)))
    pairs = [irrep.name.split(" and ") for irrep in reading.irreps]
    assert all(first < second for first, second in pairs)
    assert sorted(character for pair in pairs for character in pair) == [
        f"1{'bcdefghijklmnopq'[i]}" for i in range(group.order - 1)
    ]
