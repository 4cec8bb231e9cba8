"""Margins from character tables: against the road through the elements, closed forms, and what is refused."""

import json
import re
from fractions import Fraction
from math import factorial

import numpy as np
import pytest
from flint import arb
from scipy.optimize import linprog

from lemmata.certificates import character_table_kernel, kernel
from lemmata.certificates.characters.families import symmetric_characters
from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.groups.character_table_certificate import certify_character_table, character_table_document
from lemmata.certificates.groups.character_table_files import (
    FORMAT,
    VERSION,
    group_file,
    read_character_table,
    table_of,
    value_text,
)
from lemmata.certificates.groups.character_table_game import CharacterTableGame, class_shares, mass_shares, solve_game
from lemmata.certificates.groups.document import document_of
from lemmata.certificates.groups.format import dumps
from lemmata.numerics.exact.balls import precision
from lemmata.numerics.groups.lists import named_groups
from lemmata.numerics.groups.names import parse_group
from tests.certificates.given_character_tables import FILES, NAMES, given_table

SMALL = named_groups(16).names


def file_of(**parts):
    """A table file with these parts."""
    return {"format": FORMAT, "version": VERSION, **parts}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("factors", [2, 5])
def test_a_table_and_the_elements_give_the_same_margin(name, factors):
    group = parse_group(name)
    by_elements = document_of(certify_group(group, factors))
    by_table = character_table_document(certify_character_table(group_file(group), factors))
    for part in ("value", "margin"):
        assert by_table[part] == by_elements[part]
    assert character_table_kernel.check(dumps(by_table))


@pytest.mark.parametrize("name", ["M11", "S6", "PSL(2,11)", "2-^(1+4)", "D4xS3", "Z2^4", "D15"])
def test_larger_tables_give_the_margin_of_the_elements(name):
    group = parse_group(name)
    by_elements = document_of(certify_group(group))
    assert character_table_document(certify_character_table(group_file(group)))["margin"] == by_elements["margin"]


def rational_file(table):
    """The file of a `CharacterTable` with integer values, with the map of squares."""
    return file_of(
        name=table.name,
        class_sizes=[str(size) for size in table.class_sizes],
        characters=[[str(value.to_fmpq()) for value in row] for row in table.values],
        powers={"2": list(table.squares)},
    )


@pytest.mark.parametrize(("n", "factors"), [(5, 3), (8, 2), (11, 2), (12, 2)])
def test_symmetric_groups_against_a_linear_program_in_floating_point(n, factors):
    characters = symmetric_characters(n)
    certificate = certify_character_table(rational_file(characters), factors)
    assert certificate.table.order == factorial(n)
    assert certificate.table.indicators == [1] * certificate.table.count
    values = np.array([[float(value.to_fmpq()) for value in row] for row in characters.values])
    degrees = values[1:, :1]
    payoffs = degrees ** (-(factors - 1) / 2) * (1 - values[1:, 1:] / degrees)
    rows, columns = payoffs.shape
    found = linprog(  # masses, then the value
        np.append(np.zeros(rows), -1),
        A_ub=np.hstack([-payoffs.T, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0)[None, :],
        b_eq=[1],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    value = 1 / sum(float(q) * m**0.5 for m, q in certificate.reciprocal_value.items())
    assert value == pytest.approx(found.x[-1], rel=1e-7)  # the tolerances of HiGHS are 1e-7
    assert character_table_kernel.check(dumps(character_table_document(certificate)))


def test_prime_cyclic_groups_have_the_margin_of_theorem_7_7():
    for p in (3, 5, 7, 11, 13):
        lower, upper = certify_character_table(group_file(parse_group(f"Z{p}"))).enclosure(25)
        with precision(200):
            exact = (arb(2) / 27).sqrt() / (arb(p).sqrt() * (p - 1))
            assert arb(lower) <= exact <= arb(upper)


def test_totally_orthogonal_groups_have_the_closed_form_of_theorem_7_9():
    # gamma = 2 / (3 sqrt(3 n) S), S the sum of d^(5/2) over nontrivial characters
    for name in ("S3", "S4", "A5xZ2", "D4"):
        certificate = certify_character_table(group_file(parse_group(name)))
        with precision(200):
            total = sum((arb(d) ** 2 * arb(d).sqrt() for d in certificate.table.degrees), arb(-1))
            closed = 2 / (3 * arb(3 * certificate.table.order).sqrt() * total)
            lower, upper = (arb(end) for end in certificate.enclosure(20))
            assert closed <= upper  # it is a lower bound of the maximum
            if name in ("S3", "D4"):
                assert lower <= closed


def test_shares_are_those_of_the_solved_game():
    solution = certify_group(parse_group("S3")).solution
    certificate = certify_character_table(group_file(parse_group("S3")))
    assert solution is not None
    masses, weights = mass_shares(certificate.game, certificate.strategies), class_shares(certificate.strategies)
    assert sorted(masses) == pytest.approx(sorted([0.0, *map(float, solution.eps)]), abs=1e-15)
    assert sorted(weights) == pytest.approx(sorted([0.0, *map(float, solution.t)]), abs=1e-15)


def test_the_game_is_played_on_few_rows_and_columns():
    certificate = certify_character_table(group_file(parse_group("M11")))
    assert certificate.strategies.rounds < 10
    assert 0 < sum(mass > 0 for mass in certificate.strategies.masses) < certificate.table.count


def test_violations_that_floating_point_does_not_see_are_found():
    # the second row is better by one part in 10^30 at the only column
    big = 10**15
    means = [[Fraction(1), Fraction(1)], [Fraction(1), Fraction(-1)], [Fraction(1), Fraction(-1) - Fraction(1, big**2)]]
    strategies = solve_game(CharacterTableGame([1, 1, 1], [1, 1, 1], means, 2))
    assert strategies.masses == (0, 0, 1 / (2 + Fraction(1, big**2)))
    mirrored = [[Fraction(1)] * 3, [Fraction(1), Fraction(-1), Fraction(-1) + Fraction(1, big**2)]]
    strategies = solve_game(CharacterTableGame([1, 1], [1, 1], mirrored, 2))
    assert strategies.masses == (0, 1 / (2 - Fraction(1, big**2)))
    assert strategies.weights[1] == {}


@pytest.mark.parametrize("name", NAMES)
def test_the_files_are_what_the_library_makes_of_the_groups(name):
    file = read_character_table(FILES / f"{name}.json")
    assert file == group_file(parse_group(file["name"]))
    assert table_of(file) == given_table(name)
    path = FILES / f"{name}.json"
    assert certify_character_table(path).gamma == certify_character_table(str(path)).gamma


@pytest.mark.parametrize("name", NAMES)
def test_what_is_optional_is_derived(name):
    full = read_character_table(FILES / f"{name}.json")
    bare = {key: value for key, value in full.items() if key not in ("order", "class_names", "indicators")}
    assert table_of(bare) == table_of(full)
    del bare["powers"], bare["name"]
    if full["order"] % 2:
        assert table_of(bare)["indicators"] == full["indicators"]
    else:
        with pytest.raises(
            ValueError, match="has no indicators, and they cannot be derived: for a group of even order"
        ):
            table_of(bare)
        bare["indicators"] = full["indicators"]
    assert certify_character_table(bare).gamma == certify_character_table(full).gamma
    assert certify_character_table(bare).data["class_names"] == [str(i + 1) for i in range(len(full["class_sizes"]))]


def test_values_are_written_in_the_smallest_field():
    assert value_text(6, {1: 1}) == "1+E(3)"
    assert value_text(12, {3: -1, 9: 0}) == "-E(4)"
    assert value_text(8, {0: 5, 4: 2}) == 3
    assert value_text(1, {}) == 0
    assert value_text(1, {0: -(10**20)}) == "-100000000000000000000"
    assert value_text(5, {0: 2, 1: -3, 2: 1}) == "2-3*E(5)+E(5)^2"
    file = file_of(class_sizes=[1, 1, 1], characters=[[1, 1, 1], [1, "E(6)^2", "E(6)^4"], [1, "E(12)^8", "-E(6)^5"]])
    assert certify_character_table(file).gamma == certify_character_table(group_file(parse_group("Z3"))).gamma


REFUSED = {
    "no object": (["a list"], "must be an object with the keys format, version, class_sizes, characters"),
    "another format": (file_of(class_sizes=[], characters=[]) | {"format": "x"}, "must have the format"),
    "another version": (file_of(class_sizes=[], characters=[]) | {"version": 2}, "must have the version 1, but has 2"),
    "true is no version": (file_of() | {"version": True}, "must have the version 1, but has True"),
    "no characters": (file_of(class_sizes=[1, 1]), "has no characters"),
    "nothing": (file_of(), "has no class_sizes and no characters"),
    "unknown": (file_of(class_sizes=[1], characters=[], x=1), "has the unknown key 'x'"),
    "one class": (file_of(class_sizes=[1], characters=[[1]]), "class_sizes must be a list of 2 to 1000 entries"),
    "no rows": (file_of(class_sizes=[1, 1], characters=3), "characters must be a list of 2 to 2 entries"),
    "short row": (file_of(class_sizes=[1, 1], characters=[[1], [1, -1]]), r"characters\[0\] must be a list of 2"),
    "a float": (
        file_of(class_sizes=[1, 1], characters=[[1, 1], [1, -1.0]]),
        r"characters\[1\]\[1\] must be an integer",
    ),
    "a word": (file_of(class_sizes=[1, 1], characters=[[1, 1], [1, "i"]]), r"characters\[1\]\[1\] must be a sum of"),
    "odd squares": (
        file_of(class_sizes=[1, 1], characters=[[1, 1], [1, -1]], powers={"2": [0, 1]}),
        r'is not the character table of a group: by powers\["2"\] the indicator of row 1 is 0|square',
    ),
    "no table": (file_of(class_sizes=[1, 1], characters=[[1, 1], [1, 1]], powers={"2": [0, 0]}), "a row occurs twice"),
    "contradictory powers": (
        file_of(
            class_sizes=[1, 1, 1],
            characters=read_character_table(FILES / "Z5.json")["characters"][:3],
            powers={"3": [0, 1, 2]},
        ),
        "must be a list of 3 to 3",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_table_is_refused_in_a_sentence(case):
    given, sentence = REFUSED[case]
    with pytest.raises(ValueError, match=sentence) as refusal:
        certify_character_table(given)
    assert str(refusal.value).startswith("The table ")
    assert str(refusal.value).endswith(".")


def test_contradictory_power_maps_are_named():
    file = read_character_table(FILES / "S4.json")
    file["powers"]["3"] = [0, 1, 2, 0, 2]
    with pytest.raises(ValueError, match=r"not the character table of a group: .*does not commute with the power map"):
        certify_character_table(file)


def test_fractional_indicators_are_named():
    file = read_character_table(FILES / "D4.json")
    del file["indicators"]
    file["powers"]["2"][1] = 2
    with pytest.raises(ValueError, match=r'by powers\["2"\] the indicator of row \d is -?\d/4, not 1, 0 or -1'):
        certify_character_table(file)


@pytest.mark.parametrize("factors", [1, 0, -3, 65, 2.0])
def test_factors_out_of_range_are_refused(factors):
    with pytest.raises((ValueError, TypeError), match="number of factors"):
        certify_character_table(FILES / "S4.json", factors)


@pytest.mark.parametrize(
    "text", ["", "{", "[1.5]", '{"a": 1, "a": 2}', '{"a": NaN}', '{"order": 123456789012345678901}']
)
def test_what_is_no_json_is_refused(tmp_path, text):
    path = tmp_path / "table.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"The table in {re.escape(str(path))} cannot be read: "):
        certify_character_table(path)
    with pytest.raises(FileNotFoundError):
        certify_character_table(tmp_path / "nothing.json")


def test_decimals_have_as_many_digits_as_asked_for():
    certificate = certify_character_table(FILES / "S3.json" if "S3" in NAMES else group_file(parse_group("S3")))
    assert certificate.enclosure(5) == ("0.023604", "0.023605")
    assert character_table_document(certificate, 5)["margin"]["lower"] == "0.023604"
    assert certificate.value == "1/(1/6 + 2/3*sqrt(2))"
    assert certificate.gamma == "1/(36 + 9/2*sqrt(2))"
    assert (
        repr(certificate) == "CharacterTableMarginCertificate(S3, factors 2, 0.0236049693104..0.0236049693105, exact)"
    )
    with pytest.raises(ValueError, match="digits"):
        character_table_document(certificate, 0)


def test_proposals_and_payoffs_of_huge_degrees_stay_finite():
    big = 10**27
    means = [[Fraction(1), Fraction(1)], [Fraction(big), Fraction(-1)], [Fraction(3), Fraction(0)]]
    game = CharacterTableGame([1, big, 3], [1, 1, 0], means, 64)
    assert np.isfinite(game.payoffs).all()
    assert solve_game(game).masses[2] == Fraction(1, 3)


def test_documents_keep_the_table():
    document = character_table_document(certify_character_table(FILES / "C7_C3.json"))
    assert json.loads(dumps(document))["table"] == given_table("C7_C3")
    assert kernel.parse(dumps(document)) == document


def test_values_are_integers_up_to_fifteen_digits_and_text_beyond():
    """Every reader of JSON has the first exactly, also one that knows floats alone."""
    for value in (0, 5, -5, 10**15 - 1, 1 - 10**15):
        for written in (value_text(1, {0: value}), value_text(3, {0: value + 1, 1: 1, 2: 1})):
            assert (written, type(written)) == (value, int)
    for value in (10**15, -(10**15), 10**40):
        assert value_text(1, {0: value}) == str(value)
