"""Documents of certified groups: exact or enclosed, their decimals, and agreement with the solver of the game."""

from dataclasses import replace
from fractions import Fraction
from math import factorial

import pytest

from lemmata.certificates import kernel
from lemmata.certificates.characters.dixon import character_table
from lemmata.certificates.game.closed_form import solve_table
from lemmata.certificates.game.margin_game import MarginGame, solve
from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.groups.contents import solution_of
from lemmata.certificates.groups.document import certificate_document, document_of, kernel_refusal
from lemmata.certificates.groups.format import dumps
from lemmata.certificates.groups.scaled_pair import ScaledPair
from lemmata.numerics.groups.names import parse_group
from tests.certificates.documents import document_bytes, enclosing_document, margin_document
from tests.oracles.scaled_pairs import scaled_pair


@pytest.mark.parametrize("name", ["S3", "Z7", "A5", "M11", "SL(2,5)"])
def test_a_pair_that_is_not_optimal_encloses_the_margin(name):
    document = enclosing_document(name)
    kernel.check(dumps(document))
    assert document["grade"] == "enclosed"
    lower, upper = (Fraction(document["margin"][side]) for side in ("lower", "upper"))
    low, high = map(Fraction, certify_group(parse_group(name)).enclosure(60))
    assert lower <= low < high < upper
    assert abs(upper / lower - Fraction(100, 99)) < Fraction(1, 10**25)
    with pytest.raises(ValueError, match="holds no optimum"):
        solution_of(document)


def test_names_that_the_format_does_not_allow_are_rewritten(tmp_path):
    table = tmp_path / "größe.csv"
    table.write_text("0,1\n1,0\n")
    document = document_of(certify_group(parse_group(f"table:{table}")))
    kernel.check(dumps(document))
    assert document["group"]["name"].endswith("gr??e.csv")


@pytest.mark.parametrize("name", ["A4", "Q8", "SL(2,3)", "S5"])
def test_closed_form_and_vertices_give_the_same_document(name):
    """Where the optimum is unique, two routes to it end in the same bytes."""
    group = parse_group(name)
    table = character_table(group)
    document = certificate_document(group, table, scaled_pair(solve_table(table)))
    assert dumps(document) == document_bytes(name)


def test_masses_of_the_closed_form_are_degrees_over_the_order():
    rows = margin_document("SL(2,3)")["characters"]["rows"]
    assert [Fraction(row["scaled_mass"]) for row in rows[1:]] == [Fraction(row["values"][0], 24) for row in rows[1:]]


@pytest.mark.parametrize("digits", [1, 2, 15, 30, 500])
def test_decimals_have_the_requested_length(digits):
    document = margin_document("A5", 2, digits)
    lower, upper = document["margin"]["lower"], document["margin"]["upper"]
    assert len(lower[2:].lstrip("0")) == digits
    assert Fraction(upper) - Fraction(lower) == Fraction(1, 10 ** (len(lower) - 2))
    kernel.check(dumps(document))


def test_rational_margins_are_met_by_equal_decimals():
    """For Z_2 and k = 3 the margin is 3! (4 2)^(-2) 2 = 3/16: a terminating decimal needs no interval."""
    document = margin_document("Z2", 3)
    assert document["margin"]["exact"] == "1/(16/3)"
    assert Fraction(document["margin"]["lower"]) == Fraction(document["margin"]["upper"]) == Fraction(3, 16)
    kernel.check(dumps(document))


@pytest.mark.parametrize(("factors", "digits", "size"), [(14, 12, 0), (40, 30, 8), (40, 5, 8), (64, 3, 20)])
def test_margins_above_1_are_written_and_accepted(factors, digits, size):
    """For Z_2 the margin exceeds 1 from k = 14 on: k! (2k + 2)^(-(k+1)/2) 2, by the closed form."""
    document = margin_document("Z2", factors, digits)
    lower, upper = (Fraction(document["margin"][end]) for end in ("lower", "upper"))
    square = Fraction(4 * factorial(factors) ** 2, (2 * factors + 2) ** (factors + 1))
    assert 10**size < lower < 10 ** (size + 1)
    assert lower**2 <= square <= upper**2
    assert upper - lower == Fraction(10) ** (size + 1 - digits)
    assert kernel.check(dumps(document)).endswith("(exact)")


@pytest.mark.parametrize("name", ["S3", "Z7", "Q8"])
def test_documents_of_version_1_are_still_read(name):
    document = margin_document(name) | {"version": 1}
    assert kernel.check(dumps(document)) == kernel.check(dumps(margin_document(name)))


@pytest.mark.parametrize("factors", [14, 40])
def test_documents_of_version_1_hold_no_margin_of_1_or_more(factors):
    with pytest.raises(kernel.MalformedError, match=r"margin\.lower"):
        kernel.check(dumps(margin_document("Z2", factors, 12) | {"version": 1}))


def test_wrong_arguments_are_refused():
    group = parse_group("S3")
    table = character_table(group)
    pair = scaled_pair(solve(MarginGame(table)))
    with pytest.raises(ValueError, match="digit"):
        certificate_document(group, table, pair, digits=0)
    with pytest.raises(ValueError, match="3 scaled masses"):
        certificate_document(group, table, ScaledPair(pair.masses[1:], pair.weights))
    with pytest.raises(ValueError, match="classes of S4"):
        certificate_document(parse_group("S4"), table, pair)
    with pytest.raises(ValueError, match="positive sums"):
        certificate_document(group, table, ScaledPair((Fraction(0),) * 3, pair.weights))


@pytest.mark.parametrize(("length", "written"), [(200, "a" * 200), (201, "a" * 197 + "..."), (5000, "a" * 197 + "...")])
def test_long_names_are_cut(length, written):
    certificate = certify_group(replace(parse_group("Z2"), name="a" * length))
    assert document_of(certificate).get("group")["name"] == written


@pytest.mark.parametrize("count", [50, 51])
def test_as_many_generators_as_the_kernel_reads(count):
    group = parse_group("S3")
    refusal = kernel_refusal(replace(group, generators=group.generators * (count // 2) + group.generators[: count % 2]))
    assert refusal == (None if count == 50 else "the kernel reads up to 50 generators, not 51")
