"""The theorems on tables say what the README says, and rest on no axioms but those of the real numbers."""

import re
import subprocess
from pathlib import Path

import pytest

from lemmata.certificates.coq.compiler import AXIOMS, THEORY
from tests.certificates.coq.theory import compiled, needs_coq

CLAIMS = """
Definition constant (p : proof) : R := 2 / (3 * sqrt 3) * sqrt (Q2R (proof_t p) * Q2R (proof_t_prime p)).
Definition beyond (T : table) (g : R) (net : network) : Prop :=
  forall a b y c, In (a, b, y) (given T) -> (c < labels T)%nat -> c <> y -> g <= output net a b y - output net a b c.

Theorem claim_1 : forall T cert, check T cert = true ->
  forall net g, beyond T g net -> g <= constant (upper_proof cert) * norm3 T net.
Proof. exact upper_bound. Qed.

Theorem claim_2 : forall T cert, check T cert = true ->
  forall net g, 0 < norm3 T net -> beyond T (g * norm3 T net) net -> g <= constant (upper_proof cert).
Proof. intros T cert H net g N M. exact (normalized_upper_bound T cert H net g (conj N M)). Qed.

Theorem claim_3 : forall T a b y g c p, check_part T a b y g c p = true ->
  forall net m, beyond T m net ->
  m * (IZR (total (part_multipliers p)) / IZR (Zpos (part_denominator p))) - constant (part_proof p) * norm3 T net
    <= output net a b y - output net a b c.
Proof. exact unseen_inequality. Qed.

Theorem claim_4 : forall T a b y g parts, check_right T a b y g parts = true ->
  forall net, 0 < norm3 T net -> beyond T (Q2R g * norm3 T net) net ->
  forall c, (c < labels T)%nat -> c <> y -> output net a b c < output net a b y.
Proof. intros T a b y g parts H net N M. exact (always_right T a b y g parts H net (conj N M)). Qed.

Theorem claim_5 : forall T a b y g weights p, check_wrong T a b y g weights p = true ->
  forall net, 0 < norm3 T net -> beyond T (Q2R g * norm3 T net) net ->
  exists c, (c < labels T)%nat /\\ c <> y /\\ output net a b y < output net a b c.
Proof. intros T a b y g weights p H net N M. exact (always_wrong T a b y g weights p H net (conj N M)). Qed.

Theorem claim_6 : forall T a b y g c p symmetries, check_right_by_symmetry T a b y g c p symmetries = true ->
  forall net, normalized_margin_at_least T (Q2R g) net -> right_at T a b y net.
Proof. exact always_right_by_symmetry. Qed.

Theorem claim_7 : forall T cert near g upper, is_near T cert near g upper = true ->
  forall net m, normalized_margin_at_least T m net -> Q2R near * m <= Q2R g.
Proof. exact near_the_maximum. Qed.

Theorem the_output : forall o rest a b c,
  output (o :: rest) a b c = (u o a + v o b) ^ 2 * w o c + output rest a b c.
Proof. reflexivity. Qed.

Theorem the_norm : forall A B C cells o rest, norm3 (Table A B C cells) (o :: rest) =
  sqrt (sum A (fun a => u o a ^ 2) + sum B (fun b => v o b ^ 2) + sum C (fun c => w o c ^ 2)) ^ 3
  + norm3 (Table A B C cells) rest.
Proof. reflexivity. Qed.
"""
NAMES = (*(f"claim_{i}" for i in range(1, 8)), "the_output", "the_norm")


@needs_coq
def test_the_claims_are_those_of_the_theory(tmp_path_factory, tmp_path):
    theory: Path = compiled(tmp_path_factory.getbasetemp())
    text = (THEORY / "Symmetry.v").read_text() + CLAIMS
    (tmp_path / "claims.v").write_text(text + "".join(f"Print Assumptions {name}.\n" for name in NAMES))
    printed = subprocess.run(
        ["coqc", "-Q", str(theory), "Lemmata", "claims.v"], cwd=tmp_path, capture_output=True, text=True
    )
    assert printed.returncode == 0, printed.stderr
    found = re.findall(r"^([A-Z]\w+\.\w+)", printed.stdout, re.MULTILINE)
    assert set(found) == AXIOMS
    assert len(re.findall(r"^(?:Axioms:|Closed)", printed.stdout, re.MULTILINE)) == len(NAMES)


KEYWORDS = "Theorem|Lemma|Corollary|Definition|Fixpoint|Record|Inductive|Module"


IN_CONTEXT = {"Descent", "InContext", "Gradient", "Exported", "Blocks"}
"""A theory of its own: it needs `Statement` and `Sums` alone, and no other file needs it."""


def test_the_theory_of_descent_stands_by_itself():
    for file in sorted(THEORY.glob("*.v")):
        lines = re.findall(r"^From Lemmata Require Import ([\w ]+)\.", file.read_text(), re.MULTILINE)
        needed = set(" ".join(lines).split())
        assert needed <= IN_CONTEXT | {"Statement", "Sums"} if file.stem in IN_CONTEXT else not needed & IN_CONTEXT


@pytest.mark.parametrize("theory", ["tables and groups", "descent"])
def test_no_name_is_defined_twice(theory: str):
    """In one theory a name means the same whatever has been imported; fields of records are names, too."""
    places: dict[str, set[str]] = {}
    for file in sorted(THEORY.glob("*.v")):
        if file.stem in (IN_CONTEXT if theory == "tables and groups" else ()):
            continue
        if theory == "descent" and file.stem not in IN_CONTEXT | {"Statement", "Sums"}:
            continue
        text = re.sub(r"\(\*.*?\*\)", "", file.read_text(), flags=re.DOTALL)
        for found in re.finditer(rf"^ *(?:{KEYWORDS}) (\w+)", text, re.MULTILINE):
            places.setdefault(found[1], set()).add(file.stem)
        for record in re.findall(r"^Record \w+ := \w* ?\{(.*?)\}\.", text, re.DOTALL | re.MULTILINE):
            for field in re.findall(r"(?:^|;)\s*(\w+) :", record):
                places.setdefault(field, set()).add(file.stem)
    known = {"descent": {"block", "total", "table"}}.get(theory, {"check", "attains", "mass", "matrix", "is_group"})
    assert known <= set(places)
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_no_scope_is_opened_for_others():
    for file in THEORY.rglob("*.v"):
        assert not re.search(r"^(?:Open|Close) Scope", file.read_text(), re.MULTILINE), file.name


def test_the_project_of_coq_lists_every_file():
    lines = (THEORY / "_CoqProject").read_text().split("\n")
    assert lines[0] == "-Q . Lemmata"
    listed = [line for line in lines[1:] if line]
    assert sorted(listed) == sorted(str(file.relative_to(THEORY)) for file in THEORY.rglob("*.v"))


def test_dune_and_opam_name_the_project_of_coq():
    stanza = "(include_subdirs qualified)\n(coq.theory\n (name Lemmata)\n (package coq-lemmata))\n"
    assert (THEORY / "dune").read_text() == stanza
    assert (THEORY / "_CoqProject").read_text().startswith("-Q . Lemmata\n")
    assert "(name coq-lemmata)\n" in (THEORY / "dune-project").read_text()
    assert '"logpath:Lemmata"' in (THEORY / "coq-lemmata.opam").read_text()


def test_nothing_is_admitted():
    files = sorted(THEORY.rglob("*.v"))
    assert {"Statement", "Checker", "Sound", "Unseen", "Symmetry", "Three", "Seven"} <= {file.stem for file in files}
    for file in files:
        text = re.sub(r"\(\*.*?\*\)", "", file.read_text(), flags=re.DOTALL)
        assert not re.findall(r"\b(?:Admitted|admit|Axiom|Axioms|Parameter|Conjecture|bypass_check)\b", text), file.name
