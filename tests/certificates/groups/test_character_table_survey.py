"""The committed survey of the character table library: its arithmetic, known values, and a slice of it made again."""

import json
import re
from fractions import Fraction
from math import factorial

import pytest
from flint import arb, fmpq

from lemmata.certificates.groups.character_table_certificate import certify_character_table
from lemmata.certificates.groups.character_table_survey import (
    COMMITTED,
    committed_survey,
    entry_of,
    survey,
    survey_document,
    survey_item,
    survey_key,
)
from lemmata.numerics.exact.balls import precision
from lemmata.numerics.exact.root_sums import square_root
from lemmata.numerics.groups.character_library import library_names, library_versions
from lemmata.numerics.groups.names import gap_available
from tests.certificates.given_character_tables import FILES

SURVEY = committed_survey()
ENTRIES = {entry["name"]: entry for entry in SURVEY["entries"]}
DONE = {name: entry for name, entry in ENTRIES.items() if "refused" not in entry}
SPORADIC = [
    "M11",
    "M12",
    "M22",
    "M23",
    "M24",
    "J1",
    "J2",
    "J3",
    "J4",
    "HS",
    "McL",
    "He",
    "Ru",
    "Suz",
    "ON",
    "Co1",
    "Co2",
    "Co3",
    "Fi22",
    "Fi23",
    "F3+",
    "HN",
    "Ly",
    "Th",
    "B",
    "M",
    "2F4(2)'",
]


def added(terms):
    """The sum of the pairs (q, m), q sqrt(m), as {m: q} without zeros."""
    total = {}
    for q, m in terms:
        total[m] = total.get(m, Fraction(0)) + q
    return {m: q for m, q in total.items() if q}


def parsed(text):
    """{m: q} from text such as 1/(8/15 - 4/5*sqrt(3))."""
    terms = text[3:-1].replace(" - ", " + -").split(" + ")
    found = [re.fullmatch(r"(-?\d+(?:/\d+)?)(?:\*sqrt\((\d+)\))?", term) for term in terms]
    return {int(term[2] or 1): Fraction(term[1]) for term in found}


def check_arithmetic(entry):
    """Both proofs of the value from the entry alone, and the decimals of the margin."""
    k, n = entry["factors"], int(entry["order"])
    masses, weights = [], []
    for degree, indicator, count, mass in entry["rows"]:
        nu = degree if indicator == 1 else 2 * degree
        root, radicand = square_root(nu ** (k - 1))
        masses.append((count * Fraction(mass) * degree * root, radicand))
        assert Fraction(mass) > 0
    for _, count, _, weight in entry["columns"]:
        weights += [(count * Fraction(q), int(m)) for m, q in weight.items()]
    reciprocal = parsed(entry["value"])
    assert added(masses) == reciprocal
    assert added(weights) == reciprocal
    with precision(400):
        total = sum((arb(fmpq(q.numerator, q.denominator)) * arb(m).sqrt() for m, q in reciprocal.items()), arb(0))
        gamma = arb(factorial(k)) / arb((k + 1) * n).sqrt() ** (k + 1) / total
        low, high = (Fraction(end) for end in entry["margin"])
        assert arb(fmpq(low.numerator, low.denominator)) < gamma < arb(fmpq(high.numerator, high.denominator))
    assert (high - low) * 10**11 <= low  # twelve digits


def test_every_entry_adds_up():
    assert len(DONE) > 2300
    for entry in DONE.values():
        check_arithmetic(entry)


@pytest.mark.parametrize("part", ["value", "order", "margin", "rows", "columns", "factors"])
def test_a_changed_entry_does_not_add_up(part):
    entry = json.loads(json.dumps(ENTRIES["M11"]))
    if part == "value":
        entry["value"] = entry["value"].replace("5/9", "5/8")
    elif part == "order":
        entry["order"] = "7921"
    elif part == "margin":
        entry["margin"].reverse()
    elif part == "rows":
        entry["rows"][0][2] += 1
    elif part == "columns":
        entry["columns"].pop()
    else:
        entry["factors"] = 3
    with pytest.raises(AssertionError):
        check_arithmetic(entry)


def test_all_sporadic_groups_and_the_symmetric_and_alternating_ones_are_there():
    assert set(SPORADIC) <= DONE.keys()
    for n in range(5, 19):
        assert DONE[f"Symmetric({n})"]["order"] == str(factorial(n))
        assert DONE[f"Alternating({n})"]["order"] == str(factorial(n) // 2)


# a degree d, and the largest value of that character off the identity: published facts (ATLAS). It is the smallest
# degree but for Co1, where the character of degree 276 is 78 at 3A.
ONE_ROW_ONE_CLASS = {
    "M": (196883, 4371, "2A"),
    "B": (4371, 275, "2B"),
    "Co1": (299, 65, "3A"),
    "M24": (23, 7, "2A"),
    "M22": (21, 5, "2A"),
}


@pytest.mark.parametrize("name", ONE_ROW_ONE_CLASS)
def test_some_large_groups_use_one_representation_and_one_class(name):
    degree, largest, class_name = ONE_ROW_ONE_CLASS[name]
    entry = DONE[name]
    assert [row[0] for row in entry["rows"]] == [degree]
    assert [column[0] for column in entry["columns"]] == [class_name]
    # value (d - chi)/d^(3/2): 1/value = d/(d - chi) sqrt(d)
    root, radicand = square_root(degree)
    assert parsed(entry["value"]) == {radicand: Fraction(degree * root, degree - largest)}


def test_the_monster():
    order = 2**46 * 3**20 * 5**9 * 7**6 * 11**2 * 13**3 * 17 * 19 * 23 * 29 * 31 * 41 * 47 * 59 * 71
    assert DONE["M"]["order"] == str(order)
    with precision(400):
        value = arb(196883 - 4371) / arb(196883) ** fmpq(3, 2)
        gamma = 2 / arb(3 * order) ** fmpq(3, 2) * value
        low, high = (Fraction(end) for end in DONE["M"]["margin"])
        assert arb(fmpq(low.numerator, low.denominator)) < gamma < arb(fmpq(high.numerator, high.denominator))


def test_refused_tables_are_those_beyond_the_limits():
    refused = {name: entry["refused"] for name, entry in ENTRIES.items() if "refused" in entry}
    assert "class_sizes must be a list of 2 to 1000 entries" in refused.pop("Alt(2)")
    assert refused
    assert all("is beyond the limits" in reason for reason in refused.values())


def test_the_survey_says_how_it_was_made():
    assert set(SURVEY["origin"]) >= {"command", "lemmata", "python", "gap", "ctbllib", "date", "tables"}
    assert SURVEY["origin"]["command"].startswith("lemmata tables --out DIR")
    assert survey_document(SURVEY["entries"], SURVEY["origin"]) == COMMITTED.read_bytes()


def test_entries_are_those_of_certificates():
    entry = entry_of(certify_character_table(FILES / "A5.json"))
    check_arithmetic(entry)
    assert entry["value"] == ENTRIES["A5"]["value"]
    assert entry["margin"] == ENTRIES["A5"]["margin"]


def test_keys_of_wild_names_are_different_file_names():
    names = ["2^(1+24).Co1", "2^1+24.Co1", "(2x3).A", "A", "a", "..", "2F4(2)'"]
    keys = [survey_key(name) for name in names]
    assert len({key.lower() for key in keys}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", key) for key in keys)


@pytest.mark.skipif(gap_available(), reason="the extra gap is installed")
def test_without_gap_a_survey_is_refused():
    with pytest.raises(ValueError, match="Tables of the character table library need GAP"):
        survey(["M11"])


@pytest.mark.skipif(not gap_available(), reason="the extra gap is not installed")
def test_a_slice_is_as_committed(tmp_path):
    versions = library_versions()
    if any(SURVEY["origin"][key] != versions[key] for key in versions):
        pytest.skip("another version of the library")
    names = ["M11", "Ly", "7:3", "2.A5", "Symmetric(7)", "Alternating(8)", "L2(31)", "Alt(2)", "J4"]
    names += sorted(DONE, key=survey_key)[::400]
    assert survey(names, tmp_path) == [ENTRIES[name] for name in names]
    assert survey(names[:1], tmp_path) == [ENTRIES["M11"]]  # kept
    assert set(names[:4]) <= set(library_names())
    assert survey_item({"name": "no such table", "factors": 2})["refused"].startswith("The character table library has")
