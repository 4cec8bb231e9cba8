"""Coq files of strangers: what their names mean does not matter; no commands but definitions and proofs are read."""

from pathlib import Path

import pytest

from lemmata.certificates.coq import compiler
from lemmata.certificates.coq.claims import Claim, claim_in, conclusion
from lemmata.certificates.coq.compiler import AXIOMS, CoqRefusalError, prove_claims
from lemmata.certificates.coq.received import sentences
from lemmata.certificates.coq.source import coq_file
from tests.certificates.coq.theory import compiled, needs_coq
from tests.certificates.operation_documents import parity_document, unseen_document

HEAD = """From Coq Require Import Reals ZArith QArith List.
From Lemmata Require Import Statement Checker Sound Unseen Below Value.
Import ListNotations.
Local Open Scope nat_scope.
"""
T = "Definition T : table := Table 2 2 2 [(0, 0, 0); (0, 1, 1); (1, 0, 1); (1, 1, 0)].\n"
FALSE = """Local Open Scope R_scope.
Theorem maximum_margin : maximum_margin_between T (7 / 9 * sqrt 6) (7 / 9 * sqrt 6).
"""
SHADOWS = {
    "the statement": "Definition maximum_margin_between (T : table) (l u : R) : Prop := exists x : R, (x = l)%R.\n",
    "division": "Definition Rdiv (x y : R) : R := 0%R.\nDefinition maximum_margin_between (T : table) (l u : R) : Prop "
    ":= exists x : R, x = Rdiv l u.\n",
}


@pytest.fixture(scope="module")
def theory(tmp_path_factory) -> Path:
    return compiled(tmp_path_factory.getbasetemp())


@pytest.mark.parametrize("document", [parity_document(), *map(unseen_document, ("right", "wrong", "both"))])
def test_the_claim_of_a_file_that_this_program_writes(document):
    made = coq_file(document)
    assert claim_in(sentences(made.text.encode())) == made.claim


@needs_coq
@pytest.mark.parametrize("shadow", SHADOWS)
def test_other_meanings_of_names_prove_nothing(shadow, theory):
    """Coq accepts the file, and a false theorem in it that reads like ours; the claim is not proved."""
    text = HEAD + T + SHADOWS[shadow] + FALSE + "Proof. exact (ex_intro _ _ eq_refl). Qed.\n"
    claim = claim_in(sentences(text.encode()))
    assert claim.statement == "maximum_margin_between T (7 / 9 * sqrt 6) (7 / 9 * sqrt 6)"
    with pytest.raises(CoqRefusalError, match=r"Coq does not accept conclusion\.v: The term .* has type"):
        prove_claims(text, [claim], theory)


@needs_coq
def test_another_table_under_the_name_of_ours_proves_nothing(theory):
    made = coq_file(parity_document())
    text = made.text.replace("; (1, 1, 0)]", "]", 1)
    with pytest.raises(CoqRefusalError, match=r"Coq does not accept certificate\.v"):
        prove_claims(text, [claim_in(sentences(text.encode()))], theory)
    with pytest.raises(CoqRefusalError, match=r"Coq does not accept conclusion\.v"):
        prove_claims(made.text, [claim_in(sentences(text.encode()))], theory)


@needs_coq
def test_assumptions_are_seen_through_the_claim(theory):
    """Were an axiom let through, the assumptions of the claim would show it."""
    claim = coq_file(parity_document()).claim
    text = HEAD + T + f"Axiom {claim.theorem} : {claim.statement.replace('sqrt 6', 'sqrt (IZR 6)')}.\n"
    with pytest.raises(CoqRefusalError, match=r"more than the axioms of Coq's real numbers: .*maximum_margin"):
        prove_claims(text.replace("Axiom", "Local Open Scope R_scope.\nAxiom"), [claim], theory)
    assert len(AXIOMS) == 3


@pytest.mark.parametrize(
    "sentence",
    [
        "Axiom evil : False.",
        "Parameter evil : False.",
        "Variable evil : False.",
        "Hypothesis evil : False.",
        "Context (evil : False).",
        "Conjecture evil : False.",
        "Notation T := U.",
        "Module Statement.",
        "Unset Guard Checking.",
        "Set Printing All.",
        "#[bypass_check(guard)] Fixpoint f (n : nat) : False := f n.",
        "Declare ML Module evil.",
        'Redirect "out" Check T.',
        "Redirect out Check T.",
        'Load "other".',
        "Cd x.",
        "Add LoadPath x as Coq.",
        "Require Import other.",
        "From Received Require other.",
        "From Coq Require Import Reals Extraction.",
        "Extraction T.",
        "Admitted.",
        "admit.",
        "Proof. lra. Qed.",
        "Definition x := ltac:(exact I).",
        "Definition x := ltac2:(exact I).",
        "Definition x := Statement.T.",
        "Definition é := 1.",
        "Definition T : table := U (* not closed.",
        "Definition x := 1",
    ],
)
def test_other_sentences_are_refused(sentence):
    text = coq_file(parity_document()).text
    assert sentences(text.encode())
    with pytest.raises(ValueError, match=r"has no sentence such as|quotation marks|ASCII|not closed|end with a dot"):
        sentences((text + sentence + "\n").encode())


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "Definition T : table",
            "Definition U : table",
            "defines one table T and ends with one theorem; this one has 0",
        ),
        ("Theorem maximum_margin :", "Lemma maximum_margin :", "this one has 1 and 0"),
        ("maximum_margin_between T", "maximum_margin_between U", "none that this program knows"),
        ("sqrt 6) ((", "sqrt 6) (1 + (", "none that this program knows"),
        ("Table 2 2 2 [", "Table 2 2 2 (rev [", "The table is not written as Table"),
    ],
)
def test_other_claims_are_refused(old, new, reason):
    text = coq_file(parity_document()).text
    assert old in text
    with pytest.raises(ValueError, match=reason):
        claim_in(sentences(text.replace(old, new, 1).encode()))


def test_a_claim_is_one_of_ours():
    table = "Table 2 2 2 [(0, 0, 0)]"
    for statement in ("True", "maximum_margin_between T (1 / 2) (1 / 2) -> True", "forall T, right_at T 0 0 0 net"):
        with pytest.raises(ValueError, match="none that this program knows"):
            Claim("maximum_margin", table, statement)
    with pytest.raises(ValueError, match="has a name in small letters"):
        Claim("x. Axiom evil", table, "maximum_margin_between T (1 / 2) (1 / 2)")


@pytest.mark.parametrize(
    ("table", "statement", "reason"),
    [
        ("2 2 2 [(0, 0, 0)]", "maximum_margin_between T (1000 / 0) (1 / 2)", "none that this program knows"),
        ("2 2 2 [(0, 0, 0); (2, 0, 1)]", "maximum_margin_between T (1 / 3) (1 / 2)", "outside of the table"),
        ("2 2 2 [(0, 0, 0); (0, 2, 1)]", "maximum_margin_between T (1 / 3) (1 / 2)", "outside of the table"),
        ("2 2 2 [(0, 0, 2)]", "maximum_margin_between T (1 / 3) (1 / 2)", "outside of the table"),
        ("2 2 2 [(0, 0, 0); (0, 0, 1)]", "maximum_margin_between T (0 / 1) (0 / 1)", "has a cell twice"),
        (
            "2 2 2 [(0, 0, 0)]",
            "not_given T 9 9 /\\ (forall net g, normalized_margin_at_least T g net -> g <= (1 / 2)) /\\ "
            "(exists net, normalized_margin_at_least T (1 / 2) net /\\ right_at T 9 9 0 net) /\\ "
            "(exists net, normalized_margin_at_least T (1 / 2) net /\\ wrong_at T 9 9 0 net)",
            "outside of the table",
        ),
    ],
)
def test_claims_that_say_less_than_they_seem_to(table, statement, reason):
    """In Coq 1000 / 0 is 0, and weights outside of the table are free: true theorems, which a reader takes for more."""
    with pytest.raises(ValueError, match=reason):
        Claim("maximum_margin", f"Table {table}", statement)


def test_the_limit_of_time_is_for_the_conclusion_too(monkeypatch, tmp_path):
    """Whether a received theorem is what is claimed may take longer to decide than its proof."""
    limits = []

    def coqc(path, compiled, time_limit=None):
        limits.append((path.name, time_limit))
        return "Closed under the global context"

    monkeypatch.setattr(compiler, "coqc", coqc)
    made = coq_file(parity_document())
    prove_claims(made.text, [made.claim], tmp_path, 5)
    assert limits == [("certificate.v", 5), ("conclusion.v", 5)]


def test_the_claim_stands_before_anything_that_was_received():
    text = conclusion([coq_file(parity_document()).claim], "certificate")
    before, _, after = text.partition("From Received Require certificate.")
    assert "Definition claim : Prop" in before
    assert "Received" not in before
    assert "Import" not in after
