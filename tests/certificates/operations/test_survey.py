"""The survey of families of tables: its entries come from certificates, and its totals from its entries."""

import hashlib
import json
from types import SimpleNamespace

import pytest

from lemmata.certificates.groups.format import dumps
from lemmata.certificates.operations import survey
from lemmata.certificates.operations.certify import AIM, certify_operation
from lemmata.certificates.operations.survey import (
    FAMILIES,
    LARGE,
    OPERATIONS,
    committed_operations,
    family,
    operations_document,
    survey_item,
    survey_operations,
    survey_totals,
    surveyed_certificate,
)
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import operation_symmetries


def test_families():
    assert len(family("classes:2x2")) == 6
    assert len(family("operations:4")) == 3 * len(OPERATIONS)
    assert [item["name"] for item in family("random:4x4:4:7:2").values()] == ["random:4x4:4:7", "random:4x4:4:8"]
    assert len(family("large")) == len(set(LARGE)) == len(LARGE)


@pytest.mark.parametrize("name", ["classes:3", "random:4x4:4", "operations:x", "small", ""])
def test_what_is_no_family(name):
    with pytest.raises(ValueError, match=r"There is no family .* accepted are classes:3x3"):
        family(name)


@pytest.mark.parametrize(
    "name", ["classes:1x1", "operations:1", "random:4x4:4:1:0", "random:4x4:4:1:99999999999", "operations:99999999"]
)
def test_families_without_tables_and_of_too_many(name):
    with pytest.raises(ValueError, match=rf"The family {name} has \d+ tables; from 1 to 1000000 are certified"):
        family(name)


def test_an_entry_of_degree_six():
    """The smallest table with a gap: the entry tells the bound of degree 6, and that degree 4 is above it."""
    entry = survey_item({"values": [[0, 0, 1], [0, 2, 3]]})
    lower, upper = map(float, entry["margin"])
    assert (entry["values"], entry["shape"], entry["symmetries"]) == ("001/023", [2, 3, 4], 1)
    assert entry["kind"] == "degree 6"
    assert 0 < 1 - lower / upper == pytest.approx(float(entry["gap"]), rel=0.2)
    assert float(entry["gap"]) <= 1e-6
    assert entry["degree_4"] / upper - 1 == pytest.approx(4.06e-5, rel=0.01)
    assert survey_totals([entry])["excess"] == pytest.approx(4.06e-5, rel=0.01)


def test_an_entry_is_what_the_certificate_says(tmp_path):
    told = []
    entries = survey_operations(["operations:2"], tmp_path, None, told.append, told.append)["operations:2"]
    assert told[0] == len(entries) == len(told) - 1
    [entry] = (entry for entry in entries if entry["name"] == "op:a*b:2")
    document = certify_operation(parse_operation("op:a*b:2")).document
    assert entry["margin"] == [document["margin"]["lower"], document["margin"]["upper"]]
    assert entry["digest"] == hashlib.sha256(dumps(document)).hexdigest()
    assert survey_operations(["operations:2"], tmp_path, None, told.append)["operations:2"] == entries
    assert all(done.kept for done in told[-len(entries) :])


def test_totals():
    entries = [
        {"gap": "2e-7", "exact": None, "margin": ["0.1", "0.1"], "degree_4": 0.102},
        {"gap": "0.00001", "exact": None, "margin": ["0.1", "0.1"]},
        {"gap": "0", "exact": "1/10", "margin": ["0.1", "0.1"], "degree_4": 0.1},
    ]
    totals = survey_totals(entries)
    assert totals.pop("excess") == pytest.approx(0.02)
    assert totals == {"tables": 3, "exact": 1, "closed": 2, "left": 1, "widest": 1e-5, "degree_4": 1}


def test_the_document_holds_every_entry():
    families = {"one": [{"name": "a"}, {"name": "b"}], "none": []}
    assert json.loads(operations_document(families, {"command": "c"}))["families"] == families


def test_the_committed_survey_is_that_of_all_families():
    committed = committed_operations()
    assert list(committed["families"]) == list(FAMILIES)
    for name, entries in committed["families"].items():
        expected = [item.get("name") for item in family(name).values()] if not name.startswith("classes") else None
        assert expected is None or [entry["name"] for entry in entries] == expected
    assert [len(committed["families"][f"classes:{shape}"]) for shape in ("2x2", "2x3", "3x3")] == [6, 36, 441]
    totals = {name: survey_totals(entries) for name, entries in committed["families"].items()}
    assert [some["left"] for some in totals.values()] == [0, 0, 0, 0, 0, 4]
    assert [some["degree_4"] for some in totals.values()] == [0, 1, 65, 133, 1, 0]


@pytest.mark.parametrize(("name", "number"), [("classes:2x3", 31), ("classes:3x3", 200), ("random:4x4:4:1:1000", 17)])
def test_a_committed_entry_repeated(name, number):
    entry = committed_operations()["families"][name][number]
    if "values" in entry:
        table = Operation.of([[int(label) for label in row] for row in entry["values"].split("/")])
    else:
        table = parse_operation(entry["name"])
    certificate = certify_operation(table)
    lower, upper = map(float, entry["margin"])
    assert float(certificate.lower) <= upper
    assert lower <= float(certificate.upper)
    assert certificate.gap <= 1e-6
    assert float(entry["gap"]) <= 1e-6


@pytest.mark.parametrize(
    ("first", "second", "room", "kept"),
    [
        (("degree 4", 2 * AIM), AIM / 2, 0, "degree 6"),
        (("degree 4", 2 * AIM), 3 * AIM, 0, "degree 4"),  # the smaller gap is kept, not the higher degree
        (("degree 4", AIM), None, 0, "degree 4"),
        (("degree 4", 2 * AIM), None, -1, "degree 4"),  # the matrix is too large by one row
        (("plane", 2 * AIM), None, 0, "plane"),
    ],
)
def test_degree_6_is_asked_where_degree_4_leaves_a_gap(monkeypatch, first, second, room, kept):
    """Two rows, three columns and four labels: N = 5, so 5 6 7/6 = 35 monomials of degree 3 and 5 4 products."""
    table = Operation.of([[0, 0, 1], [0, 2, 3]])
    asked = []

    def certify(given, *, kind=None, symmetries, apart=True):
        assert apart
        asked.append(kind)
        assert given is table
        return (
            SimpleNamespace(kind=first[0], gap=first[1])
            if kind is None
            else SimpleNamespace(kind=f"degree {kind}", gap=second)
        )

    monkeypatch.setattr(survey, "certify_operation", certify)
    monkeypatch.setattr(survey, "LARGEST_DEGREE_6", 35 + 20 + room)
    assert surveyed_certificate(table, operation_symmetries(table)).kind == kept
    assert asked == ([None] if second is None else [None, 6])
