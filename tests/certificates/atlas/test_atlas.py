"""The committed atlas: nothing is left out, every digest is right, and rows made again are what the table says."""

import json
import random
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, pairwise
from math import sqrt

import pytest

from lemmata.certificates import kernel, operation_kernel
from lemmata.certificates.atlas import committed
from lemmata.certificates.atlas.archive import packed, unpacked
from lemmata.certificates.atlas.catalogue import (
    LATIN_SAMPLE,
    ORDERS,
    REDUCED,
    SECTIONS,
    SEVEN,
    SPORADIC,
    catalogue,
    works,
)
from lemmata.certificates.atlas.committed import atlas_document, atlas_rows, committed_atlas, digest
from lemmata.certificates.atlas.documents import KERNELS, computed, is_about, row_of
from lemmata.certificates.atlas.lookup import atlas_row
from lemmata.certificates.atlas.machines import machine_row
from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.groups.character_table_survey import committed_survey
from lemmata.certificates.groups.document import document_of
from lemmata.certificates.groups.format import dumps
from lemmata.certificates.operations.survey import committed_operations
from lemmata.certificates.operations.unseen_survey import committed_verdicts
from lemmata.numerics.groups.lists import isomorphic
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.groups.permutations import PermutationGroup
from lemmata.numerics.operations.classes import group_of_operation
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.squares import latin_square_classes

# fmt: off
KNOWN_COUNTS = [  # OEIS A000001, n = 1, ..., 63
    1, 1, 1, 2, 1, 2, 1, 5, 2, 2, 1, 5, 1, 2, 1, 14, 1, 5, 1, 5, 2, 2, 1, 15, 2, 2, 5, 4, 1, 4, 1, 51, 1, 2, 1, 14,
    1, 2, 2, 14, 1, 6, 1, 4, 2, 2, 1, 52, 2, 5, 1, 5, 1, 15, 2, 13, 2, 2, 1, 13, 1, 2, 4,
]
# fmt: on
ROWS = {row["key"]: row for row in atlas_rows()}
ITEMS = {item.key: item for item in catalogue()}
WITHOUT = {"small-1-1", *(item.key for item in ITEMS.values() if item.section == "machines")}


def group_of(row):
    generators = json.loads(atlas_document(row))["group"]["generators"]
    return PermutationGroup(tuple(map(tuple, generators)), row["name"])


def sample(section, count, largest=60_000):
    """Some rows of a section, always the same, with documents that are not large."""
    keys = [row["key"] for row in ROWS.values() if row["section"] == section and 0 < (row["bytes"] or 0) < largest]
    return random.Random(63).sample(keys, count)


def test_every_row_that_there_must_be_is_there_in_order():
    assert list(ROWS) == list(ITEMS)
    assert [(row["section"], row["name"]) for row in ROWS.values()] == [(i.section, i.name) for i in ITEMS.values()]
    assert list(committed_atlas()["sections"]) == list(SECTIONS)
    counts = Counter(row["section"] for row in ROWS.values())
    assert counts == {
        "groups": 319,
        "sporadic": 27,
        "operations": 63,
        "tables": 483,
        "latin": len(REDUCED[5]) + len(REDUCED[6]) + len(LATIN_SAMPLE),
        "latin7": 147,
        "exact": 52,
        "unseen": 108,
        "machines": 7,
    }


def test_latin_squares_are_one_of_each_class():
    assert {
        n: tuple(one.number for one in latin_square_classes(n) if one.number <= one.swapped) for n in REDUCED
    } == REDUCED
    assert [len(numbers) for numbers in REDUCED.values()] == [2, 17]
    first = {one.number: min(one.number, one.swapped) for one in latin_square_classes(6)}
    roles = {frozenset((first[one.number], first[one.turned])) for one in latin_square_classes(6)}
    pairs = [[atlas_row(f"latin:6:reduced:{k}")["margin"] for k in pair] for pair in roles if len(pair) == 2]
    apart = [float(one[1]) < float(other[0]) or float(other[1]) < float(one[0]) for one, other in pairs]
    assert sorted(apart) == [False, False, True, True, True]
    for name, group in (("5:reduced:15", "Z5"), ("6:reduced:1", "Z6"), ("6:reduced:34", "S3")):
        row = atlas_row(f"latin:{name}")
        found = group_of_operation(parse_operation(row["name"]))
        assert found is not None
        assert isomorphic(parse_group(group), PermutationGroup(tuple(map(tuple, found.table.tolist()))))
        low, high = map(Fraction, row["margin"])
        assert low < Fraction(atlas_row(group)["margin"][1])
        assert high > Fraction(atlas_row(group)["margin"][0])


def test_latin_squares_of_order_7_are_one_of_each_class_up_to_roles():
    classes = {one.number: one for one in latin_square_classes(7)}
    assert [number for number in classes if number == min(in_other_roles(classes, number))] == list(SEVEN)
    for number in SEVEN:
        row = atlas_row(f"latin:7:reduced:{number}")
        assert (row["classes"], row["symmetries"]) == (
            len(in_other_roles(classes, number)),
            7 * 5040 // classes[number].reduced,
        )
    enclosed = {name: [Fraction(x) for x in atlas_row(name)["margin"]] for name in ("Z7", "latin:7:steiner")}
    for number, name in ((3_097_895, "Z7"), (52, "latin:7:steiner")):
        low, high = map(Fraction, atlas_row(f"latin:7:reduced:{number}")["margin"])
        assert low < enclosed[name][0] <= enclosed[name][1] < high < 1.0005 * low
    bounds = sorted((tuple(map(Fraction, row["margin"][::-1])), row["name"]) for row in atlas_rows("latin7"))
    names = [name.removeprefix("latin:7:reduced:") for _, name in bounds[-3:]]
    assert names == ["20", "3097895", "52"]
    assert all(upper < lower for ((upper, _), _), ((_, lower), _) in pairwise(bounds[-4:]))


def in_other_roles(classes, number):
    """The numbers of the classes of a square in its six roles."""
    turns = (number, classes[number].turned, classes[classes[number].turned].turned)
    return {*turns, *(classes[turn].swapped for turn in turns)}


def test_what_has_no_document_says_why_and_nothing_else_does():
    assert {key for key, row in ROWS.items() if row["sha256"] is None} == WITHOUT
    for key, row in ROWS.items():
        assert (row["reason"] is None) == (key not in WITHOUT)
    assert "one label" in ROWS["small-1-1"]["reason"]


def test_there_are_as_many_groups_of_every_order_as_there_should_be():
    counts = Counter(int(row["key"].split("-")[1]) for row in ROWS.values() if row["section"] == "groups")
    assert [counts[order] for order in ORDERS] == KNOWN_COUNTS
    assert sum(KNOWN_COUNTS) == 319


def orders_and_sizes(group):
    """What isomorphic groups share: how many classes there are of every size and order of elements."""
    return tuple(sorted(zip(group.classes.element_orders.tolist(), group.classes.sizes.tolist(), strict=True)))


def test_no_two_groups_of_an_order_are_isomorphic():
    for order in ORDERS[1:]:
        alike = defaultdict(list)
        for group in (group_of(row) for row in ROWS.values() if row.get("order") == order):
            assert group.order == order
            alike[orders_and_sizes(group)].append(group)
        for groups in alike.values():
            assert not any(isomorphic(*pair) for pair in combinations(groups, 2)), order


def test_two_forms_of_a_group_are_isomorphic():  # so that the last test can fail
    for name in ("Q8", "D6", "Z2xDic3", "S4"):
        assert isomorphic(parse_group(name), group_of(atlas_row(name)))
    assert not isomorphic(parse_group("D4"), group_of(atlas_row("Q8")))


def test_every_row_says_what_its_document_says_and_every_digest_is_right():
    for section in SECTIONS:
        documents = unpacked(committed.RESULTS / f"{section}.tar.xz")
        rows = {key: row for key, row in ROWS.items() if row["section"] == section and row["sha256"]}
        assert list(documents) == list(rows)
        for key, data in documents.items():
            assert (digest(data), len(data)) == (rows[key]["sha256"], rows[key]["bytes"]), key
            assert f'"format":"{SECTIONS[section].format}"'.encode() in data
            assert {"section": section, **row_of(ITEMS[key], data, rows[key]["seconds"], rows[key])} == rows[key]


@pytest.mark.parametrize("section", KERNELS)
def test_kernels_accept_documents_and_these_are_about_their_rows(section):
    for key in sample(section, 5 if section == "sporadic" else 8):
        data = atlas_document(ROWS[key])
        KERNELS[section](data)
        assert is_about(ITEMS[key], data, {key: data})
        if "margin" in ROWS[key]:
            margin = json.loads(data)["margin"]
            assert ROWS[key]["margin"] == [margin["lower"], margin["upper"]]
            if section == "exact":
                assert_is_between(ROWS[key]["exact"], *map(Fraction, ROWS[key]["margin"]))
            else:
                assert ROWS[key]["exact"] == margin["exact"]


def assert_is_between(text, lower, upper):
    """A margin in radicals, evaluated as it stands, or a polynomial that changes its sign between two decimals."""
    expression = text.removeprefix("root of ").replace("^", "**")
    if text.startswith("root of "):
        below, above = (eval(expression, {"g": g}) for g in (lower, upper))
        assert below * above < 0
    else:
        assert eval(expression, {"sqrt": sqrt}) == pytest.approx(float(lower), rel=1e-9)


def test_a_document_is_not_about_another_row():
    for section in KERNELS:
        first, second = sample(section, 2)
        known = {first: atlas_document(ROWS[first])}
        assert not is_about(ITEMS[first], atlas_document(ROWS[second]), known)


@pytest.mark.parametrize("section", ["groups", "sporadic"])
def test_exact_documents_are_made_again_byte_for_byte(section):
    by_key = {work.key: work for work in works()}
    for key in sample(section, 5, largest=4_000):
        data = atlas_document(ROWS[key])
        assert computed(by_key[key], {key: data}) == {key: data}


@pytest.mark.parametrize("section", ["operations", "tables", "latin", "latin7", "unseen"])
def test_enclosed_documents_made_again_say_the_same(section):  # floating-point searches: not byte for byte everywhere
    by_key = {item.key: work for work in works() for item in work.items}
    chosen = {"latin": ["latin-5-reduced-15"], "latin7": ["latin-7-reduced-2227", "latin-7-reduced-587"]}
    few = chosen.get(section) or sample(section, 1 + (section != "unseen"), largest=3_300)
    for key in few:
        row, again = ROWS[key], computed(by_key[key], {})
        document = json.loads(again[key])
        operation_kernel.check(again[key])
        if section == "unseen":
            assert (document["verdict"], document["label"]) == (row["verdict"], row["label"])
            assert float(document["threshold"]) == pytest.approx(float(row["threshold"]), rel=1e-6)
        else:
            assert float(document["margin"]["lower"]) <= float(row["margin"][1])
            assert float(row["margin"][0]) <= float(document["margin"]["upper"])
            assert float(document["gap"]) <= (1e-6 if section != "latin7" else 2 * float(row["gap"]))


def test_degree_6_is_proved_again_where_degree_4_leaves_a_gap():
    row = min((row for row in atlas_rows("tables") if row["proof"] == "degree 6"), key=lambda row: row["bytes"])
    [work] = [work for work in works() if work.key == row["key"]]
    document = json.loads(computed(work, {})[row["key"]])
    assert document["proof"]["kind"] == "degree 6"
    assert float(document["gap"]) <= 1e-6


@pytest.mark.parametrize("name", ["Z7", "Q8", "S4", "Z3xD7", "A5"])
def test_a_group_under_another_form_has_the_same_margin(name):
    row = atlas_row(name)
    assert document_of(certify_group(parse_group(name)), 12)["margin"] == {
        "exact": row["exact"],
        "lower": row["margin"][0],
        "upper": row["margin"][1],
    }


def test_rows_agree_with_the_committed_surveys():
    operations = [entry for entries in committed_operations()["families"].values() for entry in entries]
    digests = {entry.get("name", entry.get("values")): entry["digest"] for entry in operations}
    for row in ROWS.values():
        if row["section"] in ("operations", "tables"):
            assert row["sha256"] == digests[row["name"]]
    entries = {entry["name"]: entry for entry in committed_survey()["entries"]}
    for table, name in SPORADIC.items():
        row = next(row for row in atlas_rows("sporadic") if row["name"] == name)
        assert (row["order"], row["classes"]) == (entries[table]["order"], entries[table]["classes"])
        assert row["margin"] == entries[table]["margin"]
    unseen = (cell for row in committed_verdicts()["rows"] for cell in row["cells"])
    for row, cell in zip(atlas_rows("unseen"), unseen, strict=True):
        assert (row["verdict"], row["label"], row["bytes"]) == (cell["verdict"], cell["label"], cell["bytes"])


def test_a_machine_made_again():
    row = {name: value for name, value in ROWS["turing-bb3-21-blank"].items() if name != "section"}
    again = machine_row(ITEMS["turing-bb3-21-blank"])
    assert again["margin"][0] == row["margin"][0]  # exact; the flip is found in floating point
    assert float(again["margin"][1]) == pytest.approx(float(row["margin"][1]), rel=1e-3)
    assert set(again) == set(row)
    assert "never accepts" in machine_row(ITEMS["turing-counter-16"])["reason"]


def test_an_edited_document_is_refused(monkeypatch):
    row = atlas_row("Q8")
    data = atlas_document(row)
    edited = data.replace(b'"scaled_mass":"1/', b'"scaled_mass":"2/', 1)
    assert edited != data
    with pytest.raises((kernel.ViolatedError, kernel.MalformedError)):
        kernel.check(edited)
    monkeypatch.setattr(committed, "_archive", lambda _: {row["key"]: edited})
    with pytest.raises(ValueError, match=r"was changed: its SHA-256 is [0-9a-f]{64}, and the table says [0-9a-f]{64}"):
        atlas_document(row)
    monkeypatch.setattr(committed, "_archive", lambda _: {})
    with pytest.raises(ValueError, match="holds no document of"):
        atlas_document(row)


def test_rows_are_found_by_what_they_are_called():
    same = ("small-8-4", "SmallGroup(8,4)", "small:8, 4", "q8", "Q_8")
    assert {atlas_row(name)["key"] for name in same} == {"small-8-4"}
    assert atlas_row("ctbl:M")["name"] == "M (Monster)"
    assert atlas_row("op:max:3")["section"] == "operations"
    assert {atlas_row(name)["key"] for name in ("D6", "Z2xS3", "perm:(1,2,3);(1,2);(4,5)")} == {"small-12-4"}
    with pytest.raises(ValueError, match=r"The atlas has no row 'SmallGroup\(8,6\)'; close to it are SmallGroup\("):
        atlas_row("SmallGroup(8,6)")
    with pytest.raises(ValueError, match=r"no row .Z64.; close to it are .*\. lemmata atlas --section NAME"):
        atlas_row("Z64")
    with pytest.raises(ValueError, match=r"rows are called '\(Z4 x Z4\) : Z2': small-32-"):
        atlas_row("(Z4 x Z4) : Z2")
    with pytest.raises(ValueError, match="There is no section 'rings': the atlas has groups, sporadic"):
        list(atlas_rows("rings"))


def test_archives_depend_on_documents_alone_and_damage_is_seen(tmp_path):
    documents = {"b": dumps({"x": 1}), "a": dumps({"y": [2] * 100})}
    data = packed(documents)
    assert packed(dict(documents)) == data
    (tmp_path / "some.tar.xz").write_bytes(data)
    assert list(unpacked(tmp_path / "some.tar.xz").items()) == list(documents.items())
    assert unpacked(tmp_path / "none.tar.xz") == {}
    (tmp_path / "some.tar.xz").write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match="is no archive of documents, or damaged"):
        unpacked(tmp_path / "some.tar.xz")
