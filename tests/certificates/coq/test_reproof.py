"""Committed certificates, proved once more in Coq: several tables in a run, each with a theorem of its own."""

import json
from fractions import Fraction

import pytest

from lemmata.certificates.coq import reproof
from lemmata.certificates.coq.compiler import CoqRefusalError
from lemmata.certificates.coq.reproof import committed_tables, reproof_document, reproof_totals, reprove, reprove_cells
from lemmata.certificates.operations.certify import AIM
from lemmata.certificates.operations.survey import committed_operations
from lemmata.theorems.plugin import Effort
from tests.certificates.coq.theory import build, needs_coq


def test_all_tables_up_to_six_rows_and_columns():
    chosen = committed_tables()
    assert {name: len(entries) for name, entries in chosen.items()} == {
        "classes:2x2": 6,
        "classes:2x3": 36,
        "classes:3x3": 441,
        "operations:7": 40,
        "large": 2,
    }
    left = [entry for entry in committed_operations()["families"]["operations:7"] if entry["shape"][0] > 6]
    assert sorted(entry["name"] for entry in left + chosen["operations:7"]) == sorted(
        entry["name"] for entry in committed_operations()["families"]["operations:7"]
    )
    assert len(left) == 8


@pytest.fixture(scope="module")
def some():
    chosen = committed_tables()
    return [chosen["classes:2x2"][2], next(one for one in chosen["operations:7"] if one["name"] == "op:a+b:2")]


@pytest.fixture(scope="module")
def proved(some, tmp_path_factory):
    return reprove(some, build=build(tmp_path_factory.getbasetemp()))


@needs_coq
def test_theorems_are_about_the_committed_numbers(some, proved):
    first, second = proved
    assert first["values"] == some[0]["values"]
    assert second["name"] == "op:a+b:2"
    assert second["theorem"] == "maximum_margin : maximum_margin_between T (1 / 9 * sqrt 6) (1 / 9 * sqrt 6)"
    assert some[1]["exact"] == "1/9*sqrt(6)"
    assert (first["kind"], second["kind"]) == (some[0]["kind"], some[1]["kind"])
    low, high = map(Fraction, some[0]["margin"])
    p, q, r, s = (int(word) for word in first["theorem"].replace("(", " ").replace(")", " ").split() if word.isdigit())
    # both intervals are proved to hold the same maximum: they meet, whatever decimals a solver finds on a processor
    assert max(Fraction(p, q), low) <= min(Fraction(r, s), high)
    assert Fraction(r, s) - Fraction(p, q) <= Fraction(AIM) * Fraction(r, s)
    assert 0 < first["coq"] < first["bytes"]


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
        seven, three = reprove_cells(build(tmp_path_factory.getbasetemp()))
        assert (seven["file"], three["file"]) == ("Seven.v", "Three.v")
        assert seven["theorem"].startswith("seven_without_a_cell : ")
        assert 0 < three["coq"] < seven["coq"]


AXIOMS = """Axioms:
ClassicalDedekindReals.sig_forall_dec
  : forall P : nat -> Prop, {n : nat | ~ P n} + {forall n : nat, P n}
FunctionalExtensionality.functional_extensionality_dep
  : forall (A : Type) (B : A -> Type) (f g : forall x : A, B x),
    (forall x : A, f x = g x) -> f = g
"""
TIMES = "Finished transaction in 0.9 secs (0.25u,0.s) (successful)\n" * 3


def test_blocks_of_what_coq_prints():
    text = "".join(f"{TIMES}maximum_margin\n     : maximum_margin_between T {i} {i}\n{AXIOMS}" for i in (1, 2))
    assert reproof._blocks(text) == [(f"maximum_margin : maximum_margin_between T {i} {i}", 0.75) for i in (1, 2)]


def test_other_axioms_are_refused():
    text = (
        f"{TIMES}maximum_margin\n     : maximum_margin_between T 1 1\nAxioms:\nClassical_Prop.classic : forall P, P\n"
    )
    with pytest.raises(CoqRefusalError, match=r"more than the axioms of Coq's real numbers: Classical_Prop\.classic\."):
        reproof._blocks(text)
    with pytest.raises(CoqRefusalError, match="did not print the assumptions"):
        reproof._blocks(f"{TIMES}maximum_margin\n")
