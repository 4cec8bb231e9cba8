"""The theorems on groups compile, rest on no axioms but those of the real numbers, and their constants matter."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from lemmata.certificates.coq.compiler import AXIOMS, THEORY, find_coq, modules_of
from lemmata.theorems.plugin import Effort
from tests.certificates.coq.theory import kept, needs_coq

THEOREMS = (
    "EveryGroup.every_group",
    "Representations.upper_side",
    "Attain.lower_side",
    "Schur.schur",
    "Universal.universal",
    "Universal.game_value",
    "Universal.closed_form",
    "Universal.closed_form_width",
    "Minimax.minimax",
    "Maximum.group_value",
    "Spectral.spectral",
    "Commutants.no_invariant_subspace",
    "Commutants.same_or_orthogonal",
    "Commutants.units_exist",
    "Decomposition.complete_family_exists",
    "Decomposition.value_of_every_group",
    "Decomposition.closed_form_of_every_group",
    "Orthogonal.orthogonalised",
    "Generated.generated_value",
    "Symmetric.permutations_all",
    "Symmetric.four_things",
    "Symmetric.five_things",
    "Cyclic.addition",
    "Cyclic.even_addition",
    "Elementary.exclusive_or",
    "Dihedral.odd_polygon",
    "Dihedral.even_polygon",
    "Integral.check_sound",
    "Integral.quaternions",
    "Width.addition_width",
    "Maximisers.closed_form_maximisers",
    "Maximisers.closed_form_masses",
    "Maximisers.maximisers_of_every_group",
    "Frequencies.addition_maximisers",
    "Frequencies.addition_masses",
    "Factors.geometric_means",
    "Factors.polarisation",
    "Factors.weak_duality",
    "Factors.chain_bound",
    "Factors.one_factor_neuron",
    "Factors.factors_upper",
    "Factors.two_factors_maximum",
    "FactorGame.factor_game",
    "FactorGame.factors_of_every_group",
    "FactorGame.factor_every_group",
    "FactorGame.factor_closed_form",
    "FactorGame.summands",
    "FactorGame.summands_width",
    "FactorGame.two_summands",
    "FactorGame.even_summands",
    "FactorGame.exclusive_or_of_words",
    "FactorMaximisers.factor_maximisers_of_every_group",
    "FactorMaximisers.factor_closed_maximisers",
    "FactorMaximisers.summands_maximisers",
    "Parity.mean_margin",
    "Parity.neuron_bound",
    "Parity.sparse_parity",
    "Parity.sparse_parity_neurons",
    "Majority.majority_coefficient",
    "Majority.majority_even",
    "Majority.majority_ratio",
    "Majority.majority_gap",
)
CLAIMS = """
From Coq Require Import Reals List Arith Lia.
From Lemmata Require Import Majority.
From Lemmata Require Import Statement Sums Groups EveryGroup Representations Universal Commutants Decomposition.
From Lemmata Require Import Cyclic Elementary Dihedral Symmetric Parity Width Maximisers Frequencies Factors FactorGame.
From Lemmata Require Import FactorMaximisers.
Local Open Scope R_scope.

Goal forall n, (3 <= n)%nat -> Nat.odd n = true ->
  let table := group_table (Group n (fun a b => (a + b) mod n)%nat O (fun a => (n - a) mod n)%nat) in
  let value := sqrt (2 / 27) / (sqrt (INR n) * (INR n - 1)) in
  (exists net, 0 < norm3 table net /\\ margin_at_least table (value * norm3 table net) net) /\\
  (forall net g, normalized_margin_at_least table g net -> g <= value).
Proof. exact addition. Qed.

Goal forall n m, (3 <= n)%nat -> Nat.odd n = true -> (4 * (n - 1) <= m)%nat ->
  let table := group_table (Group n (fun a b => (a + b) mod n)%nat O (fun a => (n - a) mod n)%nat) in
  let value := sqrt (2 / 27) / (sqrt (INR n) * (INR n - 1)) in
  exists net, length net = m /\\ 0 < norm3 table net /\\ margin_at_least table (value * norm3 table net) net.
Proof. exact addition_width. Qed.

Goal forall n net, (3 <= n)%nat -> Nat.odd n = true ->
  let table := group_table (Group n (fun a b => (a + b) mod n)%nat O (fun a => (n - a) mod n)%nat) in
  let value := sqrt (2 / 27) / (sqrt (INR n) * (INR n - 1)) in
  let form (z : nat) (lambda s t : R) (o : neuron) := forall x, (x < n)%nat ->
    u o x = lambda * cos (s + 2 * PI * INR z * INR x / INR n) /\\
    v o x = lambda * cos (t + 2 * PI * INR z * INR x / INR n) /\\
    w o x = lambda * cos ((s + t) + 2 * PI * INR z * INR x / INR n) in
  0 < norm3 table net -> margin_at_least table (value * norm3 table net) net ->
  (forall o, In o net ->
    exists z lambda s t, (1 <= z <= (n - 1) / 2)%nat /\\ 0 <= lambda /\\ form z lambda s t o) /\\
  (forall z, (1 <= z <= (n - 1) / 2)%nat -> exists o lambda s t, In o net /\\ 0 < lambda /\\ form z lambda s t o).
Proof. intros n net Hn Ho table value form N M; exact (addition_maximisers n net Hn Ho (conj N M)). Qed.

Goal forall n net kind, (3 <= n)%nat -> Nat.odd n = true ->
  let table := group_table (Group n (fun a b => (a + b) mod n)%nat O (fun a => (n - a) mod n)%nat) in
  let form (z : nat) (lambda s t : R) (o : neuron) := forall x, (x < n)%nat ->
    u o x = lambda * cos (s + 2 * PI * INR z * INR x / INR n) /\\
    v o x = lambda * cos (t + 2 * PI * INR z * INR x / INR n) /\\
    w o x = lambda * cos ((s + t) + 2 * PI * INR z * INR x / INR n) in
  normalized_margin_at_least table (sqrt (2 / 27) / (sqrt (INR n) * (INR n - 1))) net ->
  (forall o, In o net -> (1 <= kind o <= (n - 1) / 2)%nat /\\ exists lambda s t, form (kind o) lambda s t o) ->
  forall z, (1 <= z <= (n - 1) / 2)%nat ->
  fold_right (fun o rest => (if Nat.eqb (kind o) z then 1 else 0) * norm table o ^ 3 + rest) 0 net
    = 2 / (INR n - 1) * norm3 table net.
Proof. intros n net kind Hn Ho table form M H; exact (addition_masses n net Hn Ho M kind H). Qed.

Goal forall G count family, is_group G -> (2 <= order G)%nat -> complete_family G count family ->
  (forall g, (g < order G)%nat -> sum (dim (family O)) (fun i => mat (family O) g i i) = 1) ->
  let sums g := sum count (fun s => share family s * sum (dim (family s)) (fun i => mat (family s) g i i)) in
  (forall g, (g < order G)%nat -> g <> unit G -> sums g <= 0) ->
  let value := 2 / (3 * INR (order G) * sqrt (3 * INR (order G)))
    * (INR (order G) / sum count (fun s => share family s * INR (dim (family s)))) in
  let spans s f := exists A, forall y, (y < order G)%nat ->
    f y = sum (dim (family s)) (fun i => sum (dim (family s)) (fun j => mat (family s) y i j * A i j)) in
  let squares f := sum (order G) (fun y => f y ^ 2) in
  let form s (o : neuron) := spans s (u o) /\\ spans s (v o) /\\ spans s (w o) /\\
    squares (u o) = squares (v o) /\\ squares (v o) = squares (w o) in
  forall net, normalized_margin_at_least (group_table G) value net ->
  (forall o, In o net -> exists s, (0 < s < count)%nat /\\ form s o) /\\
  ((forall g, (g < order G)%nat -> g <> unit G -> sums g < 0) -> forall s, (0 < s < count)%nat ->
    exists o, In o net /\\ 0 < norm (group_table G) o /\\ form s o).
Proof. intros; apply closed_form_maximisers; assumption. Qed.

Goal forall G, is_group G -> (2 <= order G)%nat ->
  exists count family game, complete_family G count family /\\
  (forall s, (s < count)%nat -> irreducible G (family s)) /\\
  (forall g, sum (dim (family O)) (fun i => mat (family O) g i i) = 1) /\\
  let value := 2 / (3 * INR (order G) * sqrt (3 * INR (order G))) * game in
  maximum_margin_between (group_table G) value value /\\
  forall net, normalized_margin_at_least (group_table G) value net -> forall o, In o net ->
  exists s, (0 < s < count)%nat /\\
  let spans f := exists A, forall y, (y < order G)%nat ->
    f y = sum (dim (family s)) (fun i => sum (dim (family s)) (fun j => mat (family s) y i j * A i j)) in
  let squares f := sum (order G) (fun y => f y ^ 2) in
  spans (u o) /\\ spans (v o) /\\ spans (w o) /\\ squares (u o) = squares (v o) /\\ squares (v o) = squares (w o).
Proof. exact maximisers_of_every_group. Qed.

Goal forall n, (2 <= n)%nat -> Nat.even n = true ->
  let table := group_table (Group n (fun a b => (a + b) mod n)%nat O (fun a => (n - a) mod n)%nat) in
  let value := 2 / (3 * INR n * sqrt (3 * INR n)) * (INR n / (sqrt 2 * (INR n - 2) + 1)) in
  maximum_margin_between table value value.
Proof. exact even_addition. Qed.

Goal forall k, (1 <= k)%nat -> let n := INR (2 ^ k) in
  let value := 2 / (3 * n * sqrt (3 * n)) * (n / (n - 1)) in
  maximum_margin_between (group_table (bits k)) value value.
Proof. exact exclusive_or. Qed.

Goal forall n, (3 <= n)%nat -> Nat.odd n = true -> let N := INR (2 * n) in
  let value := 2 / (3 * N * sqrt (3 * N)) * (N / (1 + 2 * sqrt 2 * (INR n - 1))) in
  maximum_margin_between (group_table (polygon n)) value value.
Proof. exact odd_polygon. Qed.

Goal forall n, (2 <= n)%nat -> Nat.even n = true -> let N := INR (2 * n) in
  let value := 2 / (3 * N * sqrt (3 * N)) * (N / (3 + 2 * sqrt 2 * (INR n - 2))) in
  maximum_margin_between (group_table (polygon n)) value value.
Proof. exact even_polygon. Qed.

Goal forall G, is_group G -> (2 <= order G)%nat ->
  forall net g, normalized_margin_at_least (group_table G) g net ->
  g <= 2 / (3 * INR (order G) * sqrt (3 * INR (order G))) * (INR (order G) / (INR (order G) - 1)).
Proof. exact every_group. Qed.

Goal forall G count family, is_group G -> (2 <= order G)%nat -> complete_family G count family ->
  (forall g, (g < order G)%nat -> sum (dim (family O)) (fun i => mat (family O) g i i) = 1) ->
  exists net, INR (length net) = 2 * sum (count - 1) (fun s => INR (dim (family (S s))) ^ 3) /\\
  normalized_margin_at_least (group_table G) (2 / (3 * INR (order G) * sqrt (3 * INR (order G)))
    * (INR (order G) / sum count (fun s => share family s * INR (dim (family s))))) net.
Proof. exact closed_form_width. Qed.

Goal forall G, is_group G -> (2 <= order G)%nat -> let n := order G in
  exists count family v, complete_family G count family /\\
  (forall s, (s < count)%nat -> irreducible G (family s)) /\\
  (exists eps tau, ((forall s, (s < count)%nat -> 0 <= eps s) /\\ sum count eps = 1) /\\ wrong_weights G tau /\\
    let pay s g := let nu := INR (dim (family s)) in
      (1 - sum (dim (family s)) (fun i => mat (family s) g i i) / nu) / sqrt nu in
    (forall g, (g < n)%nat -> g <> unit G -> v <= sum count (fun s => eps s * pay s g)) /\\
    (forall s, (s < count)%nat -> sum n (fun g => tau g * pay s g) <= v)) /\\
  let value := 2 / (3 * INR n * sqrt (3 * INR n)) * v in maximum_margin_between (group_table G) value value.
Proof. exact value_of_every_group. Qed.

Goal let value := 2 / (360 * sqrt 360) * (120 / (65 + 50 * sqrt 5 + 36 * sqrt 6)) in
  let list := permutations (seq 0 5) in let p a := nth a list nil in
  maximum_margin_between (group_table (Group 120 (fun a b => number (map (fun i => nth i (p a) O) (p b)) list)
    (number (seq 0 5) list) (fun a => number (undone 5 (p a)) list))) value value.
Proof. exact five_things. Qed.

Goal forall G count family tau mu k K, is_group G -> (1 <= k)%nat -> complete_family G count family ->
  let n := order G in
  (forall d, (d < n)%nat -> 0 <= tau d) -> tau (unit G) = 0 -> sum n tau = 1 ->
  (forall s i j, (s < count)%nat -> (i < dim (family s))%nat -> (j < dim (family s))%nat ->
    sum n (fun g => tau g * mat (family s) g i j) = mu s * (if Nat.eqb i j then 1 else 0)) ->
  0 <= K -> (forall s, (s < count)%nat -> Rabs (1 - mu s) <= K * sqrt (INR (dim (family s)) ^ (k - 1))) ->
  let product a := fold_left (op G) (map a (seq 0 k)) (unit G) in
  let output net a c := total_of (fun o => sum k (fun j => fu o j (a j)) ^ k * fw o c) net in
  let norm net := total_of (fun o =>
    sqrt (sum k (fun j => sum n (fun x => fu o j x ^ 2)) + sum n (fun c => fw o c ^ 2)) ^ (k + 1)) net in
  forall net g, 0 < norm net ->
  (forall a c, (forall j, (j < k)%nat -> (a j < n)%nat) -> (c < n)%nat -> c <> product a ->
    g * norm net <= output net a (product a) - output net a c) ->
  g <= INR (fact k) / sqrt ((INR (k + 1) * INR n) ^ (k + 1)) * K.
Proof.
  intros G count family tau mu k K HG Hk [H1 _ H2] n T1 T2 T3 Hmu HK Hrow product output norm net g N M.
  apply (factors_upper G count family tau mu k K HG Hk H1 H2 (Build_wrong_weights G tau T1 T2 T3)
    (fun s Hs i j => Hmu s i j Hs) HK Hrow net g).
  split; [exact N|]; intros a c; unfold product in M; rewrite product_of_list; apply M.
Qed.

Goal forall n k, (2 <= n)%nat -> (1 <= k)%nat ->
  let label a := (list_sum (map a (seq 0 k)) mod n)%nat in
  let output net a c := total_of (fun o => sum k (fun j => fu o j (a j)) ^ k * fw o c) net in
  let norm net := total_of (fun o =>
    sqrt (sum k (fun j => sum n (fun x => fu o j x ^ 2)) + sum n (fun c => fw o c ^ 2)) ^ (k + 1)) net in
  let attains g net := 0 < norm net /\\
    forall a c, (forall j, (j < k)%nat -> (a j < n)%nat) -> (c < n)%nat -> c <> label a ->
    g * norm net <= output net a (label a) - output net a c in
  let total := if Nat.odd n then sqrt (2 ^ (k - 1)) * (INR n - 1) else sqrt (2 ^ (k - 1)) * (INR n - 2) + 1 in
  let value := INR (fact k) / sqrt ((INR (k + 1) * INR n) ^ (k + 1)) * (INR n / total) in
  (exists net, attains value net) /\\ (forall net g, attains g net -> g <= value).
Proof.
  intros n k Hn Hk label output norm attains total value.
  assert (E : factor_maximum_is (cyclic n) k value).
  { unfold value, total; destruct (Nat.odd n) eqn:O.
    - apply summands; [|exact O|exact Hk]; destruct n as [|[|[|n]]]; [lia|lia|discriminate|lia].
    - apply even_summands; [exact Hn|rewrite <- Nat.negb_odd, O; reflexivity|exact Hk]. }
  assert (A : forall g net, attains g net <-> factor_margin_at_least (cyclic n) k g net).
  { intros g net; unfold attains, label; split; intros [N M]; (split; [exact N|intros a c Ha Hc D]).
    - rewrite cyclic_product in * by lia; apply M; assumption.
    - rewrite <- cyclic_product in * by lia; apply M; assumption. }
  destruct E as [[net M] U]; split; [exists net; apply A; exact M|intros other g H; apply (U other), A; exact H].
Qed.

Goal forall n k m, (3 <= n)%nat -> Nat.odd n = true -> (1 <= k)%nat -> (4 ^ (k - 1) * (n - 1) <= m)%nat ->
  exists net, length net = m /\\ factor_margin_at_least (cyclic n) k
    (INR (fact k) / sqrt ((INR (k + 1) * INR n) ^ (k + 1)) * (INR n / (sqrt (2 ^ (k - 1)) * (INR n - 1)))) net.
Proof. exact summands_width. Qed.

Goal forall n, (3 <= n)%nat -> Nat.odd n = true ->
  INR (fact 2) / sqrt ((INR (2 + 1) * INR n) ^ (2 + 1)) * (INR n / (sqrt (2 ^ (2 - 1)) * (INR n - 1)))
  = sqrt (2 / 27) / (sqrt (INR n) * (INR n - 1)).
Proof. exact two_summands_value. Qed.

Goal forall G k, is_group G -> (2 <= order G)%nat -> (1 <= k)%nat -> let n := order G in
  exists count family v, complete_family G count family /\\
  (forall s, (s < count)%nat -> irreducible G (family s)) /\\
  (exists eps tau, ((forall s, (s < count)%nat -> 0 <= eps s) /\\ sum count eps = 1) /\\ wrong_weights G tau /\\
    let pay s g := let nu := INR (dim (family s)) in
      (1 - sum (dim (family s)) (fun i => mat (family s) g i i) / nu) / sqrt (nu ^ (k - 1)) in
    (forall g, (g < n)%nat -> g <> unit G -> v <= sum count (fun s => eps s * pay s g)) /\\
    (forall s, (s < count)%nat -> sum n (fun g => tau g * pay s g) <= v)) /\\
  let value := INR (fact k) / sqrt ((INR (k + 1) * INR n) ^ (k + 1)) * v in
  let product a := fold_left (op G) (map a (seq 0 k)) (unit G) in
  let output net a c := total_of (fun o => sum k (fun j => fu o j (a j)) ^ k * fw o c) net in
  let norm net := total_of (fun o =>
    sqrt (sum k (fun j => sum n (fun x => fu o j x ^ 2)) + sum n (fun c => fw o c ^ 2)) ^ (k + 1)) net in
  let attains g net := 0 < norm net /\\
    forall a c, (forall j, (j < k)%nat -> (a j < n)%nat) -> (c < n)%nat -> c <> product a ->
    g * norm net <= output net a (product a) - output net a c in
  (exists net, attains value net) /\\ (forall net g, attains g net -> g <= value).
Proof.
  intros G k HG Hn Hk n; destruct (factors_of_every_group G k HG Hn Hk) as [count [family [v [H1 [H2 [H3 E]]]]]].
  exists count, family, v; split; [exact H1|split; [exact H2|split; [exact H3|]]].
  intros value product output norm attains.
  assert (A : forall g net, attains g net <-> factor_margin_at_least G k g net).
  { intros g net; unfold attains, product; split; intros [N M]; (split; [exact N|intros a c Ha Hc D]).
    - rewrite product_of_list in *; apply M; assumption.
    - rewrite <- product_of_list in *; apply M; assumption. }
  destruct E as [[net M] U]; split; [exists net; apply A; exact M|intros other g H; apply (U other), A; exact H].
Qed.

Goal forall n k net, (3 <= n)%nat -> Nat.odd n = true -> (2 <= k)%nat ->
  factor_margin_at_least (cyclic n) k
    (INR (fact k) / sqrt ((INR (k + 1) * INR n) ^ (k + 1)) * (INR n / (sqrt (2 ^ (k - 1)) * (INR n - 1)))) net ->
  forall o, In o net -> exists z lambda theta, (1 <= z <= (n - 1) / 2)%nat /\\ 0 <= lambda /\\
  forall x, (x < n)%nat ->
    (forall j, (j < k)%nat -> fu o j x = lambda * cos (theta j + 2 * PI * INR z * INR x / INR n)) /\\
    fw o x = lambda * cos (sum k theta + 2 * PI * INR z * INR x / INR n).
Proof. exact summands_maximisers. Qed.

Goal forall G k, is_group G -> (2 <= order G)%nat -> (2 <= k)%nat ->
  exists count family v, complete_family G count family /\\
  (forall s, (s < count)%nat -> irreducible G (family s)) /\\
  (forall g, sum (dim (family O)) (fun i => mat (family O) g i i) = 1) /\\
  let value := INR (fact k) / sqrt ((INR (k + 1) * INR (order G)) ^ (k + 1)) * v in
  ((exists net, factor_margin_at_least G k value net) /\\
    (forall net g, factor_margin_at_least G k g net -> g <= value)) /\\
  forall net, factor_margin_at_least G k value net -> forall o, In o net ->
  exists s, (0 < s < count)%nat /\\
  let spans f := exists A, forall y, (y < order G)%nat ->
    f y = sum (dim (family s)) (fun i => sum (dim (family s)) (fun j => mat (family s) y i j * A i j)) in
  let squares f := sum (order G) (fun y => f y ^ 2) in
  spans (fw o) /\\ forall j, (j < k)%nat -> spans (fu o j) /\\ squares (fu o j) = squares (fw o).
Proof. exact factor_maximisers_of_every_group. Qed.

Goal forall G g, is_group G ->
  (factor_maximum_is G 2 g <-> maximum_margin_between (group_table G) g g) /\\
  products_constant G 2 = 2 / (3 * INR (order G) * sqrt (3 * INR (order G))).
Proof. intros G g HG; split; [exact (two_factors_maximum G g HG)|exact (two_factors_constant G HG)]. Qed.

Goal forall (P : places) (n k m : nat), size_of P n = k -> (1 <= k)%nat -> (2 ^ (k - 1) <= m)%nat ->
  let value := INR (fact k) * sqrt (2 / INR (k + 1) ^ (k + 1)) in
  let output (net : list parity_neuron) (x : nat -> R) (c : bool) :=
    total_of (fun o => sum n (fun i => pu o i * x i) ^ k * pw o c) net in
  let norm (net : list parity_neuron) := total_of (fun o =>
    sqrt (sum n (fun i => pu o i ^ 2) + (pw o true ^ 2 + pw o false ^ 2)) ^ (k + 1)) net in
  let attains (g : R) (net : list parity_neuron) := 0 < norm net /\\
    forall (x : nat -> R) (c : bool), (forall i, (i < n)%nat -> x i = 1 \\/ x i = -1) ->
    product_over P n x = (if c then 1 else -1) -> g * norm net <= output net x c - output net x (negb c) in
  (exists net, length net = m /\\ attains value net) /\\ (forall net g, attains g net -> g <= value).
Proof. exact sparse_parity. Qed.

Goal forall (P : places) (n : nat) (u : nat -> R) (w : bool -> R),
  let k := size_of P n in let product f := product_over P n f in
  mean n (fun x => sum n (fun i => u i * x i) ^ k * product x) = INR (fact k) * product u /\\
  INR (fact k) * product u * (w true - w false) <= INR (fact k) * sqrt (2 / INR (k + 1) ^ (k + 1)) *
    sqrt (sum n (fun i => u i ^ 2) + (w true ^ 2 + w false ^ 2)) ^ (k + 1).
Proof. intros; split; [exact (mean_margin P u n)|exact (neuron_bound P n (ParityNeuron u w))]. Qed.

Goal forall (P Q : places) (n : nat), let majority t := if Rlt_dec 0 t then 1 else if Rlt_dec t 0 then -1 else 0 in
  let coefficient S := mean n (fun x => majority (sum n x) * product_over S n x) in Nat.odd n = true ->
  (Nat.even (size_of P n) = true -> coefficient P = 0) /\\
  (forall M j, n = (2 * M + 1)%nat -> size_of P n = (2 * j + 1)%nat ->
    coefficient P = (-1) ^ j * (C M j / C (2 * M) (2 * j)) * (C (2 * M) M / 2 ^ (2 * M))) /\\
  forall k, Nat.even k = true -> (1 <= k < n)%nat -> size_of P n = (k + 1)%nat -> size_of Q n = (k - 1)%nat ->
    coefficient P = - (INR (k - 1) / INR (n - k)) * coefficient Q /\\
    ((2 * k <= n)%nat -> coefficient P ^ 2 <= 4 * INR k ^ 2 / INR n ^ 2 * coefficient Q ^ 2) /\\
    ((4 * k <= n)%nat -> 1 / 2 / sqrt ((INR n - 1) ^ (k - 1)) <= Rabs (coefficient Q) - Rabs (coefficient P)).
Proof.
  intros P Q n majority coefficient O; split; [exact (majority_even P n)|split].
  - intros M j E H; unfold coefficient; rewrite E in *; exact (majority_coefficient P M j H).
  - intros k E [K L] HP HQ; destruct (majority_ratio P Q n k O E (conj K L) HP HQ) as [R B].
    split; [exact R|split; [exact B|]]; intro G; exact (majority_gap P Q n k O E K G HP HQ).
Qed.
"""
FAULTS = (
    ("Parity", "sqrt (2 / INR (k + 1) ^ (k + 1)).", "sqrt (2 / INR (k + 2) ^ (k + 1))."),
    ("Convolution", "INR m * frobenius d (times d U V) <=", "INR (S m) * frobenius d (times d U V) <="),
    ("Integral", "[1; 4; 3; 6]", "[1; 4; 3; 2]"),
    ("Attain", "width attaining = 2 * sum", "width attaining = 3 * sum"),
    ("Attain", "= 4 * x ^ 3 * character r", "= 5 * x ^ 3 * character r"),
    ("Minimax", "high < w /\\ forall i", "high < w - 1 /\\ forall i"),
    (
        "Schur",
        "  INR n / INR (d t) * sum (m t) (fun q => J t q i k",
        "  INR n / INR (m t) * sum (m t) (fun q => J t q i k",
    ),
    ("EveryGroup", "constant (G : group) : R := 2 /", "constant (G : group) : R := 49/25 /"),
    (
        "EveryGroup",
        "g <= constant G * (INR (order G) / (INR (order G) - 1)).",
        "g <= constant G * (INR (order G) / (INR (order G) - 49/50)) * (49/50).",
    ),
    ("Groups", "= 2 * triple G (u o) (v o) (contrast", "= triple G (u o) (v o) (contrast"),
    (
        "Representations",
        "Rabs (1 - mu s) <= K * sqrt (INR (dim (family s)))) ->",
        "Rabs (1 - mu s) <= K * INR (dim (family s))) ->",
    ),
    ("Representations", "/ INR (many (family s)) * character (family s) g)\n", "* character (family s) g)\n"),
    (
        "Schur",
        "square n (fun g => rho t g k l) = INR n / INR (d t).",
        "square n (fun g => rho t g k l) = INR n / INR (m t).",
    ),
    (
        "Universal",
        "(1 - character r g / INR (dim r)) / sqrt (INR (dim r)).",
        "(1 - character r g / INR (dim r)) / INR (dim r).",
    ),
    ("Universal", "| _ => INR (d s) / INR (m s) * sqrt (INR (d s)) end.", "| _ => INR (d s) * sqrt (INR (d s)) end."),
    ("Maximum", "(2 * INR n).\n\nLemma averaged_class", "(INR n).\n\nLemma averaged_class"),
    (
        "Cyclic",
        "sqrt (2 / 27) / (sqrt (INR n) * (INR n - 1)).\n\nLemma",
        "sqrt (2 / 27) / (sqrt (INR n) * INR n).\n\nLemma",
    ),
    ("Cyclic", "(sqrt 2 * (INR n - 2) + 1)))\n    (2", "(sqrt 2 * (INR n - 2) + 2)))\n    (2"),
    ("Dihedral", "  | S r => plane n r\n", "  | S r => plane n (S r)\n"),
    (
        "Elementary",
        "(constant (bits k) * (INR (2 ^ k) / (INR (2 ^ k) - 1)))\n    (constant",
        "(constant (bits k) * (INR (2 ^ k) / (INR (2 ^ k) - 49/50)))\n    (constant",
    ),
    ("Spectral", "set (M := 2 * (1 + frobenius d A) + 1).", "set (M := (1 + frobenius d A) + 1)."),
    ("Spectral", "set (k := 1 + 2 * square d v / b ^ 2)", "set (k := 1 + square d v / b ^ 2)"),
    ("Spectral", "Lemma another : (k < d)%nat", "Lemma another : (k <= d)%nat"),
    ("Commutants", "symmetric (dim r) A /\\ intertwines r r A.", "symmetric (dim r) A."),
    ("Commutants", "exists (/ (2 * INR n) * sum", "exists (/ INR n * sum"),
    ("Commutants", "character r g = character s g) \\/\n", "character r g = 2 * character s g) \\/\n"),
    ("Commutants", "= INR d * delta k l\n}", "= delta k l\n}"),
    ("Decomposition", "plain n (fun g i j => delta i (op G g j)).", "plain n (fun g i j => delta i (op G j g))."),
    ("Decomposition", "INR (dim (f s)) / INR (many (f s))).", "INR (dim (f s)))."),
    ("Maximum", "(constant G * v) (constant G * v).", "(constant G * v) (49/50 * constant G * v)."),
    ("Orthogonal", "set (s := fun i => sqrt (lambda i)) in *.", "set (s := fun i => lambda i) in *."),
    ("Orthogonal", "dim r = d /\\ many r = 1%nat", "dim r = d /\\ many r = 2%nat"),
    ("Generated", "if Z.leb 0 c then root + 1 else root", "if Z.leb 0 c then root else root"),
    ("Generated", "(fun s => Z.of_nat (degree (member s)) * chi s g))", "(fun s => chi s g))"),
    ("Symmetric", "[[0; 1]; [1; 0]];\n  [[1; 0]; [-1; -1]]]%Z", "[[0; 1]; [1; 0]];\n  [[1; 0]; [-1; 1]]]%Z"),
    ("Symmetric", "shape_32; negated shape_32;", "shape_32; shape_32;"),
    ("Symmetric", "(65 + 50 * sqrt 5 + 36 * sqrt 6)) in", "(65 + 50 * sqrt 5 + 35 * sqrt 6)) in"),
    ("Width", "repeat silent (m - 8 * h).", "repeat silent (m - 7 * h)."),
    ("Width", "(4 * (n - 1) <= m)%nat ->\n", "(4 * (n - 2) <= m)%nat ->\n"),
    ("Width", "* sqrt (3 * INR n)) * sqrt 2).", "* sqrt (3 * INR n)) * 2)."),
    ("Width", "= 4 * sum h (fun s => cos", "= 8 * sum h (fun s => cos"),
    ("Width", "= 4 * mat r (op G (op G a b) (inv G c)) 0 0.", "= 4 * mat r (op G (op G a b) c) 0 0."),
    ("Width", "pair (fun g => 1 * mat r g 0 j)", "pair (fun g => 2 * mat r g 0 j)"),
    ("Maximisers", "(a + b + c) ^ 3 <= 27 * (a * b * c) ->", "(a + b + c) ^ 3 <= 28 * (a * b * c) ->"),
    ("Maximisers", "net psi <= over net phi ->\n", "net psi <= 1 + over net phi ->\n"),
    (
        "Maximisers",
        "(order G).\nLocal Notation best := (constant",
        "(order G).\nLocal Notation best := (49/50 * constant",
    ),
    ("Maximisers", "difference_at G net a b d = best.", "difference_at G net a b d = 2 * best."),
    ("Maximisers", "(v o) = square (order G) (w o).", "(v o) = 2 * square (order G) (w o)."),
    ("Maximisers", "part s (u o) = N o ^ 2 / 3 /\\", "part s (u o) = N o ^ 2 / 2 /\\"),
    ("Maximisers", "t <> s -> part t (u o) = 0 /\\", "part t (u o) = 0 /\\"),
    ("Maximisers", "(1 - mu s) ^ 2 = K ^ 2 * INR (d s) /\\", "(1 - mu s) ^ 2 = K * INR (d s) /\\"),
    ("Maximisers", "= factor G K * N o ^ 3.\nProof.", "= factor G K * N o ^ 2.\nProof."),
    ("Maximisers", "square n f = part s f /\\", "square n f = 2 * part s f /\\"),
    ("Maximisers", "o = 0 -> forall x, below G x ->\n", "o <= 1 -> forall x, below G x ->\n"),
    ("Maximisers", "tau g * chi s g) / INR (d s).", "tau g * chi s g)."),
    ("Maximisers", "(0 < s < count)%nat /\\ pure G count", "(1 < s < count)%nat /\\ pure G count"),
    ("Maximisers", "0 < closed_weights G count family g.", "1 < closed_weights G count family g."),
    (
        "Maximisers",
        "total_share count family)) net ->\n  (forall o",
        "total_share count family) * (49/50)) net ->\n  (forall o",
    ),
    (
        "Maximisers",
        "(0 < s < count)%nat /\\ neuron_of G (family s) o) /\\",
        "(1 < s < count)%nat /\\ neuron_of G (family s) o) /\\",
    ),
    ("Maximisers", " < 0) ->\n    forall s,", " <= 0) ->\n    forall s,"),
    ("Maximisers", "< 0) ->\n    forall s, (0 < s < count)", "< 0) ->\n    forall s, (s < count)"),
    ("Maximisers", "(constant G * v) net ->\n", "(49/50 * constant G * v) net ->\n"),
    (
        "Maximisers",
        "(0 < s < count)%nat /\\ neuron_of G (family s) o.\n",
        "(1 < s < count)%nat /\\ neuron_of G (family s) o.\n",
    ),
    ("Maximisers", "- best + delta c (op G a b)", "- 2 * best + delta c (op G a b)"),
    ("Maximisers", "sum n (chi s) = 0.", "sum n (chi s) = 1."),
    ("Maximisers", "= best * INR (d s).\nProof.", "= best.\nProof."),
    ("Maximisers", "(INR n ^ 2 * (best * INR (d s))).\nProof.", "(INR n * (best * INR (d s))).\nProof."),
    ("Maximisers", "/ total_share count family * norm3", "/ INR count * norm3"),
    ("Maximisers", "s <> t -> spanned G (family t) f ->", "spanned G (family t) f ->"),
    ("Frequencies", "= 2 / (INR n - 1) * norm3 (group_table G)", "= 2 / INR n * norm3 (group_table G)"),
    ("Frequencies", "= 2 / (INR n - 1) * norm3 (group_table (", "= 1 / (INR n - 1) * norm3 (group_table ("),
    ("Frequencies", "-1 <= c <= 1 -> exists", "-2 <= c <= 1 -> exists"),
    ("Frequencies", "(cos - fct_cte c)%F 0 PI)", "(cos - fct_cte c)%F 0 (PI / 2))"),
    ("Frequencies", "lambda * cos (theta + 2 * PI", "lambda * cos (theta + PI"),
    ("Frequencies", "wave n z lambda theta_v x /\\", "wave n z (2 * lambda) theta_v x /\\"),
    ("Frequencies", "(theta_u + theta_v) x.", "(theta_u - theta_v) x."),
    ("Frequencies", "sin (angle n s x)).\n\n", "sin (angle n (S s) x)).\n\n"),
    ("Frequencies", "(cosines s f) (sines s f) i j.", "(sines s f) (cosines s f) i j."),
    ("Frequencies", "coefficient G family (S s) = / INR n.", "coefficient G family (S s) = 2 / INR n."),
    ("Frequencies", "part G family (S s) f = 2 * r", "part G family (S s) f = r"),
    ("Frequencies", "wave n (S s) (2 * r / INR n) (- a) x.", "wave n (S s) (r / INR n) (- a) x."),
    ("Frequencies", "cos (a + b - c) = 1 -> ", "cos (a + b - c) = -1 -> "),
    ("Frequencies", "= sqrt 2 * (INR n / total_share", "= 2 * (INR n / total_share"),
    ("Frequencies", "N ^ 2 = 6 * r ^ 2 / INR n)", "N ^ 2 = 3 * r ^ 2 / INR n)"),
    ("Frequencies", "2 * r ^ 3 / INR n * cos (a + b - c)).\n  {", "2 * r ^ 3 / INR n * cos (a + b + c)).\n  {"),
    (
        "Frequencies",
        "cosine_neuron n (S s) lambda theta_u theta_v o.\n",
        "cosine_neuron n s lambda theta_u theta_v o.\n",
    ),
    ("Frequencies", "maximisers : forall n net, (3 <= n)", "maximisers : forall n net, (1 <= n)"),
    ("Frequencies", "(INR n - 1))) net ->\n  (forall o", "(INR n - 1/2))) net ->\n  (forall o"),
    ("Frequencies", "(1 <= z <= (n - 1) / 2)%nat /\\ 0 <=", "(1 <= z <= (n - 3) / 2)%nat /\\ 0 <="),
    ("Frequencies", "(n - 1) / 2)%nat /\\ 0 <= lambda", "(n - 1) / 2)%nat /\\ 0 < lambda"),
    ("Frequencies", "(1 <= z <= (n - 1) / 2)%nat -> exists", "(0 <= z <= (n - 1) / 2)%nat -> exists"),
    ("Factors", "INR (fact k) / sqrt ((INR (k + 1)", "INR (fact k) / sqrt ((INR (k + 2)"),
    ("Factors", "factor_norm G k o ^ (k + 1)) net.\n\n(** Inputs", "factor_norm G k o ^ k) net.\n\n(** Inputs"),
    ("Factors", "(fu o j)) + square (order G) (fw o)).\nDef", "(fu o j)) + 2 * square (order G) (fw o)).\nDef"),
    ("Factors", "(a j)) ^ k * fw o c) net.", "(a j)) ^ (k + 1) * fw o c) net."),
    ("Factors", "op G (product_of G m a) (a m) end.", "op G (a m) (product_of G m a) end."),
    ("Factors", "multiplied k f <= (sum k f / INR k) ^ k.", "multiplied k f <= (sum k f / INR (S k)) ^ k."),
    ("Factors", "((sum k f + x) / INR (S k)) ^ S k.\nProof", "((sum k f + x) / INR (S k)) ^ k.\nProof"),
    (
        "Factors",
        "(INR (S k) * a * u) (fun c => p (c + u) - p c).\nProof",
        "(INR k * a * u) (fun c => p (c + u) - p c).\nProof",
    ),
    ("Factors", "= INR (fact k) * c * multilinear k u z.", "= c * multilinear k u z."),
    ("Factors", "sum n z = 0 ->\n  tuples", "sum n z = 1 ->\n  tuples"),
    (
        "Factors",
        "INR n ^ k * (g * factor_total G k net)\n  <= total",
        "INR n ^ S k * (g * factor_total G k net)\n  <= total",
    ),
    ("Factors", "INR (many r) ^ k * frobenius d (chain (S k)) <=", "INR (many r) ^ S k * frobenius d (chain (S k)) <="),
    ("Factors", "INR (dim (family s)) ^ k * chain_part", "INR (dim (family s)) ^ S k * chain_part"),
    ("Factors", "<= INR n ^ k * (multiplied (S k) (fun", "<= INR n ^ (k - 1) * (multiplied (S k) (fun"),
    ("Factors", "R := K * INR n ^ k / sqrt", "R := K * INR n ^ p / sqrt"),
    ("Factors", "neuron_factor ^ 2 * INR (k + 1) ^ (k + 1) =", "neuron_factor ^ 2 * INR (k + 1) ^ k ="),
    ("Factors", "<= K ^ 2 * INR (dim (family s)) ^ p.", "<= K ^ 2 * INR (dim (family s)) ^ k."),
    ("Factors", "<= K * sqrt (INR (dim (family s)) ^ (k - 1)).", "<= K * sqrt (INR (dim (family s)) ^ k)."),
    ("Factors", "(a 0%nat) (a 1%nat) c.\nProof", "(a 1%nat) (a 0%nat) c.\nProof"),
    ("Factors", "products_constant G 2 = constant G.", "products_constant G 2 = 2 * constant G."),
    ("Factors", "(factor_maximum_is G 2 g <->", "(factor_maximum_is G 2 (2 * g) <->"),
    ("FactorGame", "* (INR (fact k) * multiplied k x).\nProof", "* (INR k * multiplied k x).\nProof"),
    ("FactorGame", "= INR (2 ^ (k - 1)) * (INR (fact k) * mult", "= INR (2 ^ k) * (INR (fact k) * mult"),
    ("FactorGame", "sum k (fun j => s j ^ 2) = INR k /\\", "sum k (fun j => s j ^ 2) = 1 /\\"),
    ("FactorGame", "(starting i I j) (starting i I (S j))) * h (", "(starting i I (S j)) (starting i I j)) * h ("),
    ("FactorGame", "(fun c => multiplied k s * (x * mat", "(fun c => (x * mat"),
    ("FactorGame", "= INR (2 ^ (k - 1)) * (INR used * INR d ^ k).", "= INR (2 ^ (k - 1)) * (INR used * INR d ^ S k)."),
    ("FactorGame", "mat r (op G (product_of G k a) (inv G c)) i i)", "mat r (op G (product_of G k a) c) i i)"),
    ("FactorGame", "(k + 1)) / sqrt (INR d ^ (k + 1)).\nProof", "(k + 1)) / sqrt (INR d ^ k).\nProof"),
    (
        "FactorGame",
        "(INR used * x ^ S k * sqrt (INR d ^ (k + 1)) / INR d)",
        "(INR used * x ^ S k * sqrt (INR d ^ (k + 1)))",
    ),
    ("FactorGame", ":= sqrt (INR (d s) ^ (k + 1)).", ":= sqrt (INR (d s) ^ k)."),
    ("FactorGame", "INR (dim r)) / sqrt (INR (dim r) ^ (k - 1)).", "INR (dim r)) / sqrt (INR (dim r) ^ k)."),
    (
        "FactorGame",
        "| _ => INR (d s) / INR (many (family s)) * sqrt (INR (d s) ^ (k - 1)) end.",
        "| _ => INR (d s) * sqrt (INR (d s) ^ (k - 1)) end.",
    ),
    (
        "FactorGame",
        "factor_share s * INR (d s) / factor_total_share) used",
        "factor_share s / factor_total_share) used",
    ),
    ("FactorGame", "factor_share k (odd_family h) (S s) = root2.", "factor_share k (odd_family h) (S s) = 2."),
    ("FactorGame", "(S h) (odd_family h) = root2 * (INR n - 1).", "(S h) (odd_family h) = root2 * INR n."),
    ("FactorGame", "(products_constant G k * v).\nProof", "(49/50 * products_constant G k * v).\nProof"),
    (
        "FactorGame",
        "(INR n / (sqrt (2 ^ (k - 1)) * (INR n - 1)))).\nProof",
        "(INR n / (sqrt (2 ^ k) * (INR n - 1)))).\nProof",
    ),
    ("FactorGame", "(4 ^ (k - 1) * (n - 1) <= m)%nat ->\n", "(0 * (4 ^ (k - 1) * (n - 1)) <= m)%nat ->\n"),
    ("FactorGame", "summands : forall n k, (3 <= n)", "summands : forall n k, (1 <= n)"),
    ("FactorGame", "(INR n - 2) + 1))).\nProof", "(INR n - 2) + 2))).\nProof"),
    ("FactorGame", "(INR (order G) / (INR (order G) - 1)).\nProof", "(INR (order G) / INR (order G)).\nProof"),
    ("FactorGame", "(INR (2 ^ b) / (INR (2 ^ b) - 1))).\nProof", "(INR (2 ^ b) / INR (2 ^ b))).\nProof"),
    ("FactorGame", "2 (sqrt (2 / 27) / (sqrt (INR n) *", "2 (sqrt (2 / 26) / (sqrt (INR n) *"),
    ("FactorGame", "(length net <= m)%nat ->\n", "(m <= length net)%nat ->\n"),
    ("FactorGame", "(used s = O -> eps s = 0) /\\\n  forall g", "(used s = O -> eps s = 1) /\\\n  forall g"),
    ("Universal", "weight s * (INR n * INR (m s)) / total.", "weight s * INR n / total."),
    (
        "FactorMaximisers",
        "(sum k f + x) ^ S k <= INR (S k) ^ S k * (mult",
        "(sum k f + x) ^ S k <= INR (S (S k)) ^ S k * (mult",
    ),
    ("FactorMaximisers", "x = (sum k f + x) / INR (S k) /\\", "x = (sum k f + x) / INR k /\\"),
    ("FactorMaximisers", "forall j, (j < k)%nat -> f j = (sum", "forall j, (j <= k)%nat -> f j = (sum"),
    ("FactorMaximisers", "Local Notation p := (S q).", "Local Notation p := q."),
    ("FactorMaximisers", "Hypothesis HK : 0 < K.\nHypothesis Hrow", "Hypothesis HK : 0 <= K.\nHypothesis Hrow"),
    ("FactorMaximisers", "part s (fw o) = N o ^ 2 / INR (k + 1) /\\", "part s (fw o) = N o ^ 2 / INR k /\\"),
    ("FactorMaximisers", "part s (fu o j) = N o ^ 2 / INR (k + 1)) /\\", "part s (fu o j) = N o ^ 2 / INR k) /\\"),
    ("FactorMaximisers", "forall t, (t < count)%nat -> t <> s ->\n    part", "forall t, (t < count)%nat ->\n    part"),
    (
        "FactorMaximisers",
        "(fw o) = F * N o ^ (k + 1).\nProof.\n  intros PN",
        "(fw o) = F * N o ^ k.\nProof.\n  intros PN",
    ),
    (
        "FactorMaximisers",
        "square (order G) (fu o j) = square (order G) (fw o).",
        "square (order G) (fu o j) = 2 * square (order G) (fw o).",
    ),
    ("FactorMaximisers", "Hypothesis Htrivial : mu 0%nat = 1.", "Hypothesis Htrivial : mu 0%nat = 0."),
    (
        "FactorMaximisers",
        "(products_constant G k * K) net.\nHypothesis Htrivial",
        "(49/50 * products_constant G k * K) net.\nHypothesis Htrivial",
    ),
    (
        "FactorMaximisers",
        "(2 <= order G)%nat -> (2 <= k)%nat ->\n  exists count",
        "(2 <= order G)%nat -> (1 <= k)%nat ->\n  exists count",
    ),
    (
        "FactorMaximisers",
        "(0 < s < count)%nat /\\ factor_neuron_of G k (family s) o.\nProof.\n  intros G k HG",
        "(1 < s < count)%nat /\\ factor_neuron_of G k (family s) o.\nProof.\n  intros G k HG",
    ),
    ("FactorMaximisers", "r ^ k * rotation_matrix", "r ^ S k * rotation_matrix"),
    ("FactorMaximisers", "(cos (sum k a)) (sin (sum k a)) i l.", "(cos (sum k a)) (- sin (sum k a)) i l."),
    ("FactorMaximisers", "fw o x = wave n z lambda (sum k theta) x.", "fw o x = wave n z lambda (- sum k theta) x."),
    (
        "FactorMaximisers",
        "(1 - mu (S s)) ^ 2 <= K ^ 2 * INR 2 ^ S q ->",
        "(1 - mu (S s)) ^ 2 <= K ^ 2 * INR 2 ^ S (S q) ->",
    ),
    (
        "FactorMaximisers",
        "= 2 * r ^ (k + 1) / INR n * cos (sum k a - c)).",
        "= 2 * r ^ (k + 1) / INR n * cos (sum k a + c)).",
    ),
    (
        "FactorMaximisers",
        "maximisers : forall n k net, (3 <= n)%nat -> Nat.odd n = true -> (2 <= k)",
        "maximisers : forall n k net, (3 <= n)%nat -> Nat.odd n = true -> (1 <= k)",
    ),
    ("FactorMaximisers", "(1 <= z <= (n - 1) / 2)%nat /\\ 0 <=", "(1 <= z <= (n - 3) / 2)%nat /\\ 0 <="),
    ("FactorMaximisers", "(n - 1) / 2)%nat /\\ 0 <= lambda", "(n - 1) / 2)%nat /\\ 0 < lambda"),
    ("Parity", "(INR (S k) * a * u) (difference_of", "(INR k * a * u) (difference_of"),
    ("Parity", "* product_over P n x)\n  = INR (fact (size_of P n)) * prod", "* product_over P n x)\n  = 1 * prod"),
    ("Parity", "length (half n) = (2 ^ (size_of P n - 1))", "length (half n) = (2 ^ size_of P n)"),
    ("Parity", "total_of (fun o => parity_norm n o ^ (k + 1)) net.", "total_of (fun o => parity_norm n o ^ k) net."),
    ("Parity", "pu o i ^ 2) + weight2 o).\nDefinition", "pu o i ^ 2) + 2 * weight2 o).\nDefinition"),
    ("Parity", "INR (S (S m)) * t + t ^ 2 <= (1", "INR (S (S m)) * t + 2 * t ^ 2 <= (1"),
    ("Parity", "(2 ^ (k - 1) <= m)%nat ->\n  length", "(2 ^ (k - 2) <= m)%nat ->\n  length"),
    ("Parity", "(2 ^ (k - 1) <= m)%nat ->\n  (exists", "(2 ^ (k - 2) <= m)%nat ->\n  (exists"),
    (
        "Parity",
        "pw o true = - pw o false /\\\n   (forall i, (i < n)%nat -> P i = true -> Rabs (pu o i) = sqrt (pw",
        "pw o true = pw o false /\\\n   (forall i, (i < n)%nat -> P i = true -> Rabs (pu o i) = sqrt (pw",
    ),
    ("Parity", "Rabs (pu o i) = sqrt (weight2 o))).", "Rabs (pu o i) = sqrt (2 * weight2 o)))."),
    (
        "Parity",
        "0 <= product_over P n (pu o) * (pw o true - pw o false).",
        "0 <= product_over P n (pu o) * pw o false.",
    ),
    ("Parity", "= (-1) ^ size_of P n * differences u n p.", "= differences u n p."),
    ("Parity", "INR (2 ^ (k - 1)) * (INR (fact k) * sqrt 2).", "INR (2 ^ (k - 1)) * (INR (fact k) * 2)."),
    ("Parity", "sum n (fun i => s i ^ 2) = INR (size_of P n) /\\", "sum n (fun i => s i ^ 2) = INR n /\\"),
    ("Parity", "sign_of c * (product_over P n s / sqrt 2)", "sign_of c * (product_over P n s / 2)"),
    ("Parity", "sign_of (c : bool) : R := if c then 1 else -1.", "sign_of (c : bool) : R := if c then 1 else 0."),
    ("Parity", "pu o i * x i) ^ k.", "pu o i * x i) ^ (k + 1)."),
    ("Parity", "(1 <= k)%nat -> (2 ^ (k - 1) <= m)", "(0 <= k)%nat -> (2 ^ (k - 1) <= m)"),
    ("Parity", ": R := pw o true ^ 2 + pw o false ^ 2.", ": R := pw o true ^ 2."),
    ("Majority", "then -1 else 0.\nDefinition", "then 1 else 0.\nDefinition"),
    ("Majority", "sign_or_zero (sum n x) * product_over P n x).", "sign_or_zero (sum n x + 1) * product_over P n x)."),
    ("Majority", "(-1) ^ j * (C M j", "(-1) ^ S j * (C M j"),
    ("Majority", "(C M j / C (2 * M) (2 * j)) * (C (2 * M) M / 2", "(C M j / C (2 * M) j) * (C (2 * M) M / 2"),
    ("Majority", "* (C (2 * M) M / 2 ^ (2 * M)).", "* (C (2 * M) M / 2 ^ (2 * M + 1))."),
    ("Majority", "= - (INR (k - 1) / INR (n - k)) * fo", "= (INR (k - 1) / INR (n - k)) * fo"),
    ("Majority", "- (INR (k - 1) / INR (n - k)) * fo", "- (INR k / INR (n - k)) * fo"),
    ("Majority", "4 * INR k ^ 2 / INR n ^ 2 * fo", "1 * INR k ^ 2 / INR n ^ 2 * fo"),
    ("Majority", "((2 * k <= n)%nat -> fo", "((k <= n)%nat -> fo"),
    ("Majority", "Nat.even (size_of P n) = true -> fo", "Nat.odd (size_of P n) = true -> fo"),
    ("Majority", "(4 * k <= n)%nat ->", "(2 * k <= n)%nat ->"),
    ("Majority", "1 / 2 / sqrt ((INR n - 1) ^ (k - 1)) <=", "2 / sqrt ((INR n - 1) ^ (k - 1)) <="),
    ("Majority", "/ sqrt ((INR n - 1) ^ (k - 1)) <=", "/ sqrt ((INR n - 1) ^ (k - 2)) <="),
    ("Majority", "9 / 16 <= 2 * INR M", "10 / 16 <= 2 * INR M"),
    ("Majority", "(2 <= M)%nat -> 9 / 16", "(1 <= M)%nat -> 9 / 16"),
    ("Majority", "= - (INR (S a) * mixed_value a (S (S b))).", "= INR (S a) * mixed_value a (S (S b))."),
    ("Majority", "= INR (S b) / INR (S (S b)) * mixed_value 0 b.", "= INR b / INR (S b) * mixed_value 0 b."),
    ("Majority", "+ INR a * mixed (a - 1) (S b) p c", "- INR a * mixed (a - 1) (S b) p c"),
    ("Majority", "(xorb e (Nat.odd (a + b))) (mixed", "(xorb e (Nat.odd a)) (mixed"),
    ("Majority", "Req_EM_T c 0 then 1 else 0.", "Req_EM_T c 0 then 2 else 0."),
    ("Majority", "mixed_value 0 (2 * M) / (2 * INR M) ^ j.\nProof", "mixed_value 0 (2 * M) / INR M ^ j.\nProof"),
    ("Integral", "2 / (3 * sqrt 24) / 11 in", "2 / (3 * sqrt 24) / 10 in"),
    ("Integral", "(-1) 1\n  | 3%nat => quaternion_sign (-1) (-1)", "(-1) 1\n  | 3%nat => quaternion_sign (-1) 1"),
)
QUESTIONS = (
    f"From Lemmata Require {' '.join(dict.fromkeys(theorem.split('.')[0] for theorem in THEOREMS))}.\n"
    f"Definition all := ({', '.join(f'@{theorem}' for theorem in THEOREMS)}).\nPrint Assumptions all.\n"
)
"""What all theorems together assume is what any of them assumes; Coq walks through their common proofs once."""
FILES = modules_of(QUESTIONS)

pytestmark = needs_coq


def said(theory: Path, path: Path, text: str) -> subprocess.CompletedProcess[str]:
    """What coqc says about a text, which is written to a path."""
    path.write_text(text)
    command = [find_coq(), "-q", "-Q", str(theory), "Lemmata", path.name]
    return subprocess.run(command, cwd=path.parent, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def theory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kept(FILES, request, tmp_path_factory)


def test_nothing_is_admitted():
    assert {"Groups", "Universal", "Cyclic", "Statement"} <= set(FILES)
    for name in FILES:
        words = re.findall(r"\w+", (THEORY / f"{name}.v").read_text())
        assert not {"Admitted", "admit", "Axiom", "Parameter", "Conjecture"} & set(words), name


def test_the_theorems_say_so_on_the_axioms_of_the_reals_alone(theory: Path, tmp_path: Path):
    """The statements in full, with the constants that the theorems abbreviate; then the assumptions of all."""
    result = said(theory, tmp_path / "Claims.v", CLAIMS + QUESTIONS)
    assert result.returncode == 0, result.stderr
    _, mark, answer = result.stdout.partition("Axioms:\n")
    assert mark
    assert set(re.findall(r"^([^\s:]+)", answer, re.M)) == AXIOMS


def test_another_constant_is_not_proved(theory: Path, tmp_path: Path, effort: Effort):
    """A theorem guards itself: a few wrong numbers at quick effort, all of them at full effort."""
    for name, right, wrong in FAULTS[: effort.pick(quick=4, full=len(FAULTS))]:
        text = (THEORY / f"{name}.v").read_text()
        assert text.count(right) == 1, right
        result = said(theory, tmp_path / f"{name}.v", text.replace(right, wrong))
        assert result.returncode == 1, right
        assert "Error" in result.stderr, right
