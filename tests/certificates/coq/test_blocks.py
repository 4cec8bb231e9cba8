"""Gradient descent in context: the theorems say what they should, and are about the matrices of the library."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lemmata.certificates.coq.blocks import FILE, blocks_file, layer_term
from lemmata.certificates.coq.compiler import AXIOMS, THEORY, coqc, find_coq, modules_of
from lemmata.constructions.descent.block import gradient_descent_block
from lemmata.constructions.networks.affine import Affine
from lemmata.numerics.functions.relu_sums import constant, identity, squared_loss_derivative
from lemmata.theorems.plugin import Effort
from tests.certificates.coq.theory import kept, needs_coq

THEOREMS = (
    "InContext.one_step",
    "InContext.several_steps",
    "Gradient.derivative_of_risk",
    "Gradient.partial_derivative",
    "Gradient.gradient_step",
    "Gradient.deep_linear",
    "Gradient.deep_affine",
    "Gradient.relu_with_margin",
    "Gradient.relu_by_convention",
    "Exported.block_of_matrices",
    "Blocks.linear_step",
    "Blocks.deep_step",
    "Blocks.rectified_step",
)
CLAIMS = """
From Coq Require Import Reals QArith Qreals List FunctionalExtensionality Lia Lra.
From Lemmata Require Import Statement Descent InContext Gradient Exported Blocks.
Import ListNotations.
Local Open Scope R_scope.

Fixpoint multiplied (K : nat -> nat) (V : nat -> nat -> nat -> R) (x : nat -> R) (j : nat) : nat -> R :=
  match j with O => x | S i => fun k => sum (K i) (fun l => V (S i) k l * multiplied K V x i l) end.
Lemma outputs_multiplied p : outputs p (fun t => t) = multiplied (width p).
Proof.
  apply functional_extensionality; intro V; apply functional_extensionality; intro x.
  apply functional_extensionality; intro j; induction j as [|j IH]; [reflexivity|]; simpl; rewrite IH; reflexivity.
Qed.

Goal forall p x y w, let N := depth p in let K := width p in let n := examples p in
  let weight j k l := (1 <= j <= N)%nat /\\ (k < K j)%nat /\\ (l < K (j - 1))%nat in
  let inside V := forall j k l, weight j k l -> Q2R (lower p j k l) <= V j k l <= Q2R (upper p j k l) in
  let risk V := sum n (fun i => sum (K N) (fun k => (multiplied K V (x i) N k - y i k) ^ 2 / 2)) / INR (2 * n) in
  activation p = [(1, 1, 0); (- (1), - (1), 0)]%Q -> derivative p = [(1, 0, 1)]%Q ->
  loss_derivative p = [(2, 1 # 2, - (1 # 2), 0); (- (2), - (1 # 2), 1 # 2, 0)]%Q ->
  (1 <= n)%nat -> 1 <= Q2R (mask p) -> inside w ->
  (forall V k, inside V -> (k < K N)%nat -> Rabs (multiplied K V (x n) N k) <= Q2R (mask p)) ->
  exists G : nat -> nat -> nat -> R,
  (forall j k l, weight j k l -> derivable_pt_lim (fun h => risk (fun j' k' l' =>
    w j' k' l' + h * if ((j' =? j) && (k' =? k) && (l' =? l))%nat%bool then 1 else 0)) 0 (G j k l)) /\\
  forall i c, (i <= n)%nat -> In c (places p) ->
  fold_left (fun z L => apply (places p) (n + 1) L z) (block p) (prompt p x y w) i c = prompt p x y (fun j k l =>
    Rmin (Rmax (w j k l - Q2R (rate p) * G j k l) (Q2R (lower p j k l))) (Q2R (upper p j k l))) i c.
Proof.
  intros p x y w N K n weight inside risk A D L some one B M.
  assert (U : loss_derivative p = residual_sum) by exact L.
  assert (S : silent_for p (x n)).
  { intros V k H; rewrite (A : activation p = identity_sum), identity_exact, outputs_multiplied; apply M.
    intros j k' l [J [K' L']]; exact (H j k' l J K' L'). }
  assert (W : well_formed p).
  { refine (conj some (conj one (conj _ _))).
    - intros j k l J K' L'; destruct (B j k l (conj J (conj K' L'))); eapply Rle_trans; eassumption.
    - rewrite L; intros c a a' b [E|[E|[]]]; injection E as _ <- <- <-; rewrite <- !Q2R_abs, <- !Q2R_plus;
        rewrite <- RMicromega.Q2R_1; apply Qle_Rle; discriminate. }
  destruct (deep_linear p x y w W S (fun j k l J K' L' => B j k l (conj J (conj K' L'))) A D U) as [G [H R]].
  exists G; split; [intros j k l [J [K' L']]|exact R].
  pose proof (H j k l J K' L') as T; unfold Descent.risk in T; rewrite outputs_multiplied in T; exact T.
Qed.

Goal forall (x y : nat -> nat -> R) (w : nat -> nat -> nat -> R), (forall l, (l < 2)%nat -> Rabs (x 5%nat l) <= 1) ->
  (forall j k l, -1 <= w j k l <= 1) ->
  let risk (V : nat -> nat -> nat -> R) := sum 5 (fun i => sum 1 (fun k =>
    (sum 3 (fun q => V 2%nat k q * sum 2 (fun l => V 1%nat q l * x i l)) - y i k) ^ 2 / 2)) / INR 10 in
  exists G : nat -> nat -> nat -> R,
  (forall k l, (k < 3)%nat -> (l < 2)%nat ->
    derivable_pt_lim (fun h => risk (moved_by w (alone 1 k l) h)) 0 (G 1%nat k l)) /\\
  (forall l, (l < 3)%nat -> derivable_pt_lim (fun h => risk (moved_by w (alone 2 0 l) h)) 0 (G 2%nat O l)) /\\
  forall i c, (i <= 5)%nat -> In c linear_places ->
  run linear_places 6 (map (layer_of linear_places) linear_matrices) (prompt linear x y w) i c
    = prompt linear x y (stepped linear w G) i c.
Proof.
  intros x y w X B risk; destruct (linear_step x y w) as [G [D M]].
  - intros l L; rewrite RMicromega.Q2R_1; exact (X l L).
  - intros j k l J K L; assert (E : lower linear j k l = (-1 # 1)%Q /\\ upper linear j k l = (1 # 1)%Q).
    { destruct j as [|[|[|j]]], k as [|[|[|k]]], l as [|[|[|l]]]; cbn in J, K, L; lia || (split; reflexivity). }
    destruct E as [E E']; rewrite E, E', RMicromega.Q2R_1; replace (Q2R (-1 # 1)) with (-1) by (unfold Q2R; simpl; lra).
    apply B.
  - exists G; split; [intros k l K L; apply (D 1%nat k l); cbn; lia|split; [|exact M]].
    intros l L; apply (D 2%nat O l); cbn; lia.
Qed.
"""
QUESTIONS = (
    f"From Lemmata Require {' '.join(dict.fromkeys(theorem.split('.')[0] for theorem in THEOREMS))}.\n"
    f"Definition all := ({', '.join(f'@{theorem}' for theorem in THEOREMS)}).\nPrint Assumptions all.\n"
)
FILES = modules_of(QUESTIONS)
FAULTS = (
    ("Blocks", "(12, 0, (-1 # 1)); (13, 1, (-1 # 1)); (14, 2,", "(12, 0, (-1 # 1)); (13, 1, (1 # 1)); (14, 2,"),
    ("Blocks", "(26, 0, (3145729 # 524288))", "(26, 0, (3145728 # 524288))"),
    ("Blocks", "[(0, 3, (-3 # 50)); (1, 4,", "[(0, 3, (-3 # 50)); (1, 5,"),
    ("Blocks", "O) 2 (3 # 7)", "O) 3 (3 # 7)"),
    ("Blocks", "Q2R (1 # 4) <= t) ->", "Q2R (1 # 5) <= t) ->"),
    ("Blocks", "Output 0 0; Output 0 1; Label 0; Weight 1 0 0", "Output 0 1; Output 0 0; Label 0; Weight 1 0 0"),
    ("Exported", "if same a c then O else S (position", "if same a c then S O else S (position"),
    ("Exported", "forallb (fun c => Qeq_bool (a c) (b c)) all", "forallb (fun c => Qeq_bool (b c) (b c)) all"),
    ("Exported", "Qle_bool (Qabs a + Qabs a' + Qabs b) 1", "Qle_bool (Qabs a + Qabs a' + Qabs b) 2"),
    ("Exported", "if Qle_bool a b then b else a.", "if Qle_bool a b then a else b."),
    ("Gradient", "[(2, 1 # 2, - (1 # 2), 0);", "[(1, 1 # 2, - (1 # 2), 0);"),
    ("Gradient", "- (d / (1 + d)))]", "- d)]"),
    ("Gradient", "(t - y) ^ 2 / 2.", "(t - y) ^ 2."),
    ("Descent", "Rmax t 0.", "Rmax t 1."),
    ("Descent", "/ INR tokens) heads", "/ INR (tokens + 1)) heads"),
    ("Descent", "relu (score h (z i) (z q))", "relu (score h (z q) (z i))"),
    ("Descent", "only One (b - mask p)", "only One b"),
    ("Descent", "Z.of_nat (examples p + 1)", "Z.of_nat (examples p)"),
    ("Descent", "Z.of_nat (2 * examples p)", "Z.of_nat (examples p)"),
    ("Descent", "[moved 1 (- share);", "[moved 1 share;"),
    ("Descent", "Weight (S j) l k)", "Weight (S j) k l)"),
    ("Descent", "(fun _ => Loss k) (fun _ => One)", "(fun _ => Label k) (fun _ => One)"),
    ("Descent", "map errors (rev (seq 1 N))", "map errors (seq 1 N)"),
    ("Descent", "(- bound (upper p) a) (- (1))", "(- bound (upper p) a) 1"),
    ("Descent", "unit_at a (- (1)) 0 1]", "unit_at a (- (1)) 0 (- (1))]"),
    ("Descent", "row Loss (K N) ++ flat_map", "row Loss 1 ++ flat_map"),
    ("Descent", "slope 0 factor in", "slope 1 factor in"),
    ("Descent", "(K (j - 1)) (Output (j - 1)) (Weight j k) slope", "(K (j - 1)) (Output j) (Weight j k) slope"),
    ("Descent", "a b c end) f)", "b a c end) f)"),
    ("Descent", "applied j (derivative p)", "applied j (activation p)"),
    ("Descent", "written h (z i) c) heads\n  end", "written h (z O) c) heads\n  end"),
    ("Descent", "++ [One; Example]", "++ [Example; One]"),
    ("Descent", "w (N - m')%nat q k *", "w (N - m')%nat k q *"),
    ("Descent", "/ INR (2 * examples p).\n\n(** A step", "/ INR (examples p).\n\n(** A step"),
    ("Descent", "w j k l - Q2R (rate p)", "w j k l + Q2R (rate p)"),
    ("Descent", "(y i k))) / INR (2 *", "(y i k))) / INR (1 *"),
    ("Descent", "then 1 else 0.\n\nDefinition is_grad", "then 2 else 0.\n\nDefinition is_grad"),
    ("Descent", "| Example => if (i <? examples p)%nat then 1 else 0", "| Example => 1"),
    ("Descent", "Rabs (Q2R b) <= 1.", "Rabs (Q2R b) <= 2."),
    ("Descent", "(1 <= examples p)%nat /\\ 1 <= Q2R", "(1 <= examples p)%nat /\\ 0 <= Q2R"),
    ("Descent", "w x N k) <= Q2R (mask p).", "w x N k) <= 2 * Q2R (mask p)."),
)
CHAIN = ("Descent", "InContext", "Gradient", "Exported", "Blocks")

LINEAR = gradient_descent_block((1, 1), 1, 1, identity(), constant(1), squared_loss_derivative(), (-1, 1), 1, 1).dense()


def test_the_file_is_what_the_library_builds():
    assert FILE.read_text(encoding="ascii") == blocks_file()


@pytest.mark.parametrize("change", [{"causal": True}, {"weigh": "hardmax"}, {"sharpness": 2}])
def test_heads_of_other_kinds_are_refused(change):
    head = LINEAR.layers[0].heads[0]
    assert layer_term(LINEAR.layers[0]).startswith("AttentionMatrices")
    with pytest.raises(ValueError, match="no layer of this kind"):
        layer_term(replace(LINEAR.layers[0], heads=(replace(head, **change),)))


def test_biases_are_refused():
    layer = LINEAR.layers[-1]
    first = Affine(layer.layers[0].weight, np.ones(layer.layers[0].outputs, dtype=int))
    with pytest.raises(ValueError, match="no layer of this kind"):
        layer_term(replace(layer, layers=(first, layer.layers[1])))


@pytest.fixture(scope="module")
def theory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kept(FILES, request, tmp_path_factory)


def test_nothing_is_admitted():
    assert set(CHAIN) < set(FILES)
    for name in FILES:
        words = re.findall(r"\w+", (THEORY / f"{name}.v").read_text())
        assert not {"Admitted", "admit", "Axiom", "Parameter", "Conjecture"} & set(words), name


@needs_coq
def test_the_theorems_say_so_on_axioms_of_the_reals(theory: Path, tmp_path: Path):
    """What all assume; then two statements with their definitions written out."""
    (tmp_path / "Claims.v").write_text(QUESTIONS + CLAIMS)
    _, mark, answer = coqc(tmp_path / "Claims.v", theory).partition("Axioms:\n")
    assert mark
    assert set(re.findall(r"^([^\s:]+)", answer, re.M)) < AXIOMS


@needs_coq
def test_wrong_numbers_are_not_proved(theory: Path, tmp_path: Path, effort: Effort):
    """A wrong definition or number leaves some file of the chain without a proof: all of them at full effort."""
    for number, (name, right, wrong) in enumerate(FAULTS[: effort.pick(quick=1, full=len(FAULTS))]):
        text = (THEORY / f"{name}.v").read_text()
        assert text.count(right) == 1, right
        folder = tmp_path / str(number)
        shutil.copytree(theory, folder)
        (folder / f"{name}.v").write_text(text.replace(right, wrong))
        assert _first_refused(folder, CHAIN[CHAIN.index(name) :]) is not None, right


def _first_refused(folder: Path, names: tuple[str, ...]) -> str | None:
    for name in names:
        command = [find_coq(), "-q", "-Q", ".", "Lemmata", f"{name}.v"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            assert "Error" in done.stderr, name
            return name
    return None
