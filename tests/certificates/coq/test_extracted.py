"""The checker that Coq extracts to OCaml: what it accepts, what it says of it, and that its integers have no end."""

import copy
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from lemmata.certificates.coq.compiler import CoqRefusalError
from lemmata.certificates.coq.extracted import decide, document_words, extracted_checker, find_ocaml
from lemmata.certificates.coq.redecision import committed_keys, decision_totals, redecide
from lemmata.certificates.coq.source import coq_terms
from lemmata.numerics.runs.items import FailedItemsError
from tests.certificates.coq.theory import extracted, needs_ocaml
from tests.certificates.operation_documents import at, parity_document, unseen_document

WRAP = 2**63
"""What the machine's integers of OCaml are taken modulo."""


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    return extracted(tmp_path_factory.getbasetemp())


@needs_ocaml
def test_an_exact_margin_a_cell_and_forged_ones(program):
    exact, cell = parity_document(), unseen_document("wrong")
    for document in (exact, cell):
        terms = coq_terms(document)
        decision = decide(program, terms)
        assert decision.accepted
        assert (decision.table, decision.statement) == (terms.claim.table, terms.claim.statement)
    assert decide(program, coq_terms(exact)).statement == (
        "maximum_margin_between T ((1 / 9) * sqrt 6) ((1 / 9) * sqrt 6)"
    )
    larger = copy.deepcopy(exact)
    larger["margin"]["exact"] = "1/8*sqrt(6)"
    other = copy.deepcopy(cell)
    other["weights"] = [1, 0, 0]
    for forged in (larger, other):
        decision = decide(program, coq_terms(forged))
        assert not decision.accepted
        assert decision.statement == coq_terms(forged).claim.statement


@needs_ocaml
@pytest.mark.parametrize("path", [("multipliers", 0), ("network", "masses", 0), ("proof", "matrix", 0, 0)])
def test_no_integer_wraps_around(program, path):
    """What a program with the machine's integers would take for the document is refused."""
    forged = parity_document()
    at(forged, path[:-1])[path[-1]] += WRAP
    assert not decide(program, coq_terms(forged)).accepted


@needs_ocaml
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("", "The document ends too early."),
        ("Between 1 1", "The document ends too early."),
        ("Nothing 0 0 0 0", "No document: Nothing"),
        ("Exactly 1 1 -1 0", "An index or a length is no number."),
        ("Exactly 1 1 1 0 1 3x", "No number: 3x"),
        ("Exactly 1 1 1 0 0 Degree4 1 0", "A number is not positive."),
        ("Exactly 1 1 1 0 0 Degree5", "No kind of proof: Degree5"),
    ],
)
def test_other_words_are_no_document(program, tmp_path, words, reason):
    path = tmp_path / "words"
    path.write_text(words)
    done = subprocess.run([program, path], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (2, "", reason)


def test_words():
    words = document_words(("Both", Fraction(-1, 3), [(1, 2), (3, 4)], [], [[5]]))
    assert " ".join(words) == "Both -1 3 2 1 2 3 4 0 1 1 5"


@needs_ocaml
def test_another_claim_than_that_of_the_document_is_an_error(program):
    terms, other = coq_terms(parity_document()), coq_terms(unseen_document("wrong"))
    object.__setattr__(terms, "decided", other.decided)
    with pytest.raises(CoqRefusalError, match="has read another claim"):
        decide(program, terms)


@needs_ocaml
def test_committed_documents(program, tmp_path):
    """Two of the 1,521, one with more columns than rows; a program that refuses everything makes it fail."""
    keys = committed_keys()
    assert {name: len(some) for name, some in keys.items()} == {
        "tables": 483,
        "operations": 63,
        "unseen": 108,
        "random:4x4:4:1:1000": 867,
    }
    some = {"tables": ["classes-2x3-3"], "random:4x4:4:1:1000": keys["random:4x4:4:1:1000"][:1]}
    results = redecide(program, some, tmp_path)
    assert [len(one) for one in results.values()] == [1, 1]
    totals = decision_totals(results["random:4x4:4:1:1000"])
    assert totals["documents"] == 1
    refusing = tmp_path / "refusing"
    refusing.write_text("#!/bin/sh\necho refused; echo; echo; exit 1\n")
    refusing.chmod(0o755)
    with pytest.raises(FailedItemsError, match="another claim"):
        redecide(refusing, some)


def test_without_ocaml(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ValueError, match="There is no program ocamlopt here"):
        find_ocaml()
    with pytest.raises(ValueError, match="There is no program ocamlopt here"):
        extracted_checker(tmp_path)
