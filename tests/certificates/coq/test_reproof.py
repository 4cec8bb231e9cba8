"""Committed certificates, proved once more in Coq: several tables in a run, each with a theorem of its own."""

import hashlib
import json
from collections import Counter

import pytest

from lemmata.certificates.coq import reproof
from lemmata.certificates.coq.claims import Claim
from lemmata.certificates.coq.compiler import CoqRefusalError
from lemmata.certificates.coq.reproof import committed_tables, reproof_document, reproof_totals, reprove, reprove_cells
from lemmata.certificates.operations.survey import committed_operations
from lemmata.numerics.runs.items import FailedItemsError
from lemmata.theorems.plugin import Effort
from tests.certificates.coq.theory import compiled, compiled_with_symmetry, needs_coq


def test_what_is_proved_again():
    chosen, families = committed_tables(), committed_operations()["families"]
    assert {name: len(entries) for name, entries in chosen.items()} == {
        "classes:2x2": 6,
        "classes:2x3": 36,
        "classes:3x3": 441,
        "random:4x4:4:1:1000": 867,
        "operations:7": 47,
        "large": 5,
    }
    digests = {entry["digest"] for entries in chosen.values() for entry in entries}
    left = [entry for entries in families.values() for entry in entries if entry["digest"] not in digests]
    assert Counter((entry["shape"][0], entry["kind"]) for entry in left) == {
        (4, "degree 6"): 133,
        (7, "degree 6"): 1,
        (11, "degree 4"): 5,
        (13, "degree 4"): 5,
    }
    assert sum(map(len, families.values())) == 1402 + 133 + 11 == len(digests) + len(left)


def test_every_document_is_committed():
    for entries in committed_tables().values():
        for entry in entries:
            assert hashlib.sha256(reproof.committed_document(entry)).hexdigest() == entry["digest"]
    with pytest.raises(ValueError, match=r"has no document of .* with the digest of the survey"):
        reproof.committed_document(entry | {"digest": "0" * 64})


@pytest.fixture(scope="module")
def some():
    chosen = committed_tables()
    return [chosen["classes:2x2"][2], next(one for one in chosen["operations:7"] if one["name"] == "op:a+b:2")]


@pytest.fixture(scope="module")
def proved(some, tmp_path_factory):
    return reprove(some, compiled(tmp_path_factory.getbasetemp()))


@needs_coq
def test_theorems_are_about_the_committed_numbers(some, proved):
    first, second = proved
    assert first["values"] == some[0]["values"] == "00/12"
    assert some[0]["margin"] == ["0.240483231705", "0.240483231779"]
    assert first["theorem"] == "maximum_margin_between T (48096646341 / 200000000000) (240483231779 / 1000000000000)"
    assert first["table"] == "Table 2 2 3 [(0, 0, 0); (0, 1, 0); (1, 0, 1); (1, 1, 2)]"
    assert second["name"] == "op:a+b:2"
    assert second["theorem"] == "maximum_margin_between T ((1 / 9) * sqrt 6) ((1 / 9) * sqrt 6)"
    assert some[1]["exact"] == "1/9*sqrt(6)"
    assert (first["kind"], second["kind"]) == (some[0]["kind"], some[1]["kind"])
    assert 0 < first["coq"] < first["bytes"]


@pytest.mark.parametrize(
    ("lower", "upper", "accepted"),
    [
        ("(240483231705 / 1000000000000)", "(240483231779 / 1000000000000)", True),
        ("(240483231706 / 1000000000000)", "(240483231778 / 1000000000000)", True),
        ("(240483231704 / 1000000000000)", "(240483231779 / 1000000000000)", False),
        ("(240483231705 / 1000000000000)", "(240483231780 / 1000000000000)", False),
    ],
)
def test_the_interval_has_to_lie_within_the_committed_one(lower, upper, accepted, some):
    def asked(table: str) -> None:
        reproof._refuse_other_claims(
            some[0], Claim("maximum_margin", table, f"maximum_margin_between T {lower} {upper}")
        )

    table = "Table 2 2 3 [(0, 0, 0); (0, 1, 0); (1, 0, 1); (1, 1, 2)]"
    if accepted:
        asked(table)
        with pytest.raises(CoqRefusalError, match="What is proved for 00/12 is about another table"):
            asked(table.replace("(1, 1, 2)", "(1, 1, 1)"))
    else:
        with pytest.raises(CoqRefusalError, match="What is proved for 00/12 does not lie within"):
            asked(table)


@needs_coq
def test_kept_results_are_those_of_this_code(some, tmp_path, tmp_path_factory, monkeypatch):
    """A result is kept while the code is; of other code it is made again; one that claims something else is refused."""
    theory = compiled(tmp_path_factory.getbasetemp())
    asked = []
    monkeypatch.setattr(reproof, "coq_file", lambda document: asked.append(document))
    with pytest.raises(FailedItemsError):
        reprove(some[:1], theory, tmp_path)
    assert len(asked) == 1
    monkeypatch.undo()
    first = reprove(some[:1], theory, tmp_path)
    monkeypatch.setattr(reproof, "coq_file", lambda document: asked.append(document))
    assert reprove(some[:1], theory, tmp_path) == first
    assert len(asked) == 1
    monkeypatch.setattr(reproof, "fingerprint", lambda function, within: "other code")
    with pytest.raises(FailedItemsError):
        reprove(some[:1], theory, tmp_path)
    assert len(asked) == 2
    monkeypatch.undo()
    (kept,) = tmp_path.glob("*.json")
    kept.write_text(kept.read_text().replace("(48096646341 / 200000000000)", "(48096646341 / 200000000001)"))
    with pytest.raises(CoqRefusalError, match="does not lie within"):
        reprove(some[:1], theory, tmp_path)


def test_an_exact_margin_needs_no_root():
    table = "Table 2 2 2 [(0, 0, 0)]"
    root = "((1 / 9) * sqrt 6)"
    bounds = ("(1 / 2) (1 / 2)", "(1 / 2) (2 / 3)", f"{root} {root}", f"(1 / 9) {root}")
    parts = [{"table": table, "theorem": f"maximum_margin_between T {one}", "coq": 1, "bytes": 1} for one in bounds]
    assert [reproof_totals([one])["exact"] for one in parts] == [1, 0, 1, 0]


@needs_coq
def test_totals_and_the_file(proved):
    totals = reproof_totals(proved)
    assert (totals["tables"], totals["exact"]) == (2, 1)
    assert totals["bytes"] == proved[0]["bytes"] + proved[1]["bytes"] > totals["largest"]
    cells = [{"file": "Three.v", "coq": 1.5}]
    document = json.loads(reproof_document({"two": proved}, cells, {"command": "none"}))
    assert document == {"origin": {"command": "none"}, "families": {"two": proved}, "cells": cells}


@needs_coq
def test_the_files_of_cells(tmp_path_factory, effort: Effort):
    """At quick effort `test_cells.py` proves the smaller file by itself."""
    if effort.pick(quick=False, full=True):
        seven, three = reprove_cells(compiled_with_symmetry(tmp_path_factory.getbasetemp()))
        assert (seven["file"], three["file"]) == ("Seven.v", "Three.v")
        assert seven["theorem"].startswith("seven_without_a_cell : ")
        assert 0 < three["coq"] < seven["coq"]
