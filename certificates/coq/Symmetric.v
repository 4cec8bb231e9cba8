(** Permutations of k things.

    [symmetric_group] numbers the permutations as they are listed and multiplies
    them by composition; [check_permutations] decides whether that is a group of
    different lists ([permutation_group]); they are all permutations
    ([permutations_all]).  The matrices of the transpositions
    are those of Young's natural representations, which are not orthogonal.
    [four_things], [five_things]: the maximum margins for S_4 and S_5, which are
    the values of the dissertation's theorem 7.9. *)

From Coq Require Import Reals List Permutation ZArith Lra Lia Arith Bool.
From Lemmata Require Import Statement Sums Groups EveryGroup Integral Generated.
Import ListNotations.
Local Open Scope R_scope.

(** ** The group *)

(** All lists with x put in somewhere, and all orders of a list. *)
Fixpoint insertions (x : nat) (l : list nat) : list (list nat) :=
  match l with [] => [[x]] | y :: rest => (x :: y :: rest) :: map (cons y) (insertions x rest) end.
Fixpoint permutations (l : list nat) : list (list nat) :=
  match l with [] => [[]] | x :: rest => flat_map (insertions x) (permutations rest) end.

Lemma insertions_all : forall x l p, In p (insertions x l) <-> exists l1 l2, l = l1 ++ l2 /\ p = l1 ++ x :: l2.
Proof.
  intros x l; induction l as [|y l IH]; intro p; cbn [insertions In].
  - split; [intros [<-|[]]; exists [], []; auto|intros [l1 [l2 [E ->]]]].
    symmetry in E; apply app_eq_nil in E; destruct E as [-> ->]; left; reflexivity.
  - split.
    + intros [<-|H]; [exists [], (y :: l); auto|].
      apply in_map_iff in H; destruct H as [q [<- H]]; apply IH in H; destruct H as [l1 [l2 [-> ->]]].
      exists (y :: l1), l2; auto.
    + intros [[|z l1] [l2 [E ->]]]; [left; cbn in E; rewrite E; reflexivity|right].
      injection E as <- E; apply (in_map (cons y)), IH; exists l1, l2; auto.
Qed.

(** They are all orders. *)
Theorem permutations_all : forall l p, In p (permutations l) <-> Permutation l p.
Proof.
  induction l as [|x l IH]; intro p; cbn [permutations].
  - split; [intros [<-|[]]; constructor|intro H; left; apply Permutation_nil in H; symmetry; exact H].
  - rewrite in_flat_map; split.
    + intros [q [Hq H]]; apply insertions_all in H; destruct H as [l1 [l2 [-> ->]]].
      apply Permutation_cons_app, IH; exact Hq.
    + intro H; destruct (Permutation_vs_cons_inv (Permutation_sym H)) as [l1 [l2 ->]].
      exists (l1 ++ l2); split; [apply IH; exact (Permutation_cons_app_inv _ _ H)|].
      apply insertions_all; exists l1, l2; auto.
Qed.

(** p after q, both as lists of values, and the list of 0, ..., k-1 that undoes p. *)
Definition composed (p q : list nat) : list nat := map (fun i => nth i p 0%nat) q.
Fixpoint position (x : nat) (p : list nat) : nat :=
  match p with [] => 0 | y :: rest => if Nat.eqb x y then 0 else S (position x rest) end.
Definition undone (k : nat) (p : list nat) : list nat := map (fun i => position i p) (seq 0 k).

Fixpoint same_list (p q : list nat) : bool :=
  match p, q with
  | [], [] => true
  | x :: p, y :: q => (Nat.eqb x y && same_list p q)%bool
  | _, _ => false
  end.
Fixpoint number (p : list nat) (l : list (list nat)) : nat :=
  match l with [] => 0 | q :: rest => if same_list p q then 0 else S (number p rest) end.

Definition symmetric_group (k : nat) : group :=
  let all := permutations (seq 0 k) in let p := fun a => nth a all [] in
  Group (length all) (fun a b => number (composed (p a) (p b)) all)
    (number (seq 0 k) all) (fun a => number (undone k (p a)) all).

Definition permutation (k a : nat) : list nat := nth a (permutations (seq 0 k)) [].

Definition check_permutations (k : nat) : bool :=
  let G := symmetric_group k in let n := order G in
  let all_lists := permutations (seq 0 k) in let p := fun a => nth a all_lists [] in
  (all n (fun a => all n (fun b => Nat.ltb (op G a b) n && same_list (p (op G a b)) (composed (p a) (p b)))%bool)
   && all n (fun a => Nat.eqb (number (p a) all_lists) a
        && forallb (fun i => Nat.ltb i (length (p a))) (p a) && Nat.eqb (length (p a)) k
        && Nat.ltb (inv G a) n && Nat.eqb (op G (inv G a) a) (unit G) && Nat.eqb (op G (unit G) a) a)
   && Nat.ltb (unit G) n)%bool.

Lemma same_list_eq : forall p q, same_list p q = true -> p = q.
Proof.
  induction p as [|x p IH]; intros [|y q] H; try reflexivity; try discriminate H.
  cbn [same_list] in H; apply andb_prop in H; destruct H as [E H]; apply Nat.eqb_eq in E.
  rewrite E, (IH q H); reflexivity.
Qed.

Lemma composed_associative : forall p q r, Forall (fun i => (i < length q)%nat) r ->
  composed p (composed q r) = composed (composed p q) r.
Proof.
  intros p q r H; unfold composed; rewrite map_map; apply map_ext_in; intros i Hi.
  rewrite Forall_forall in H.
  rewrite (nth_indep (map (fun i => nth i p 0%nat) q) 0%nat (nth 0%nat p 0%nat))
    by (rewrite map_length; apply H; exact Hi).
  symmetry; apply (map_nth (fun i => nth i p 0%nat)).
Qed.

Theorem permutation_group : forall k, check_permutations k = true -> is_group (symmetric_group k).
Proof.
  intros k H; unfold check_permutations in H; cbv zeta in H; set (G := symmetric_group k) in *.
  apply andb_prop in H; destruct H as [H Unit]; apply andb_prop in H; destruct H as [Op Each].
  assert (E : forall a, below G a -> number (permutation k a) (permutations (seq 0 k)) = a /\
    Forall (fun i => (i < length (permutation k a))%nat) (permutation k a) /\ length (permutation k a) = k /\
    below G (inv G a) /\ op G (inv G a) a = unit G /\ op G (unit G) a = a).
  { intros a Ha; pose proof (all_below _ _ Each a Ha) as C; cbv beta in C; rewrite !andb_true_iff in C.
    destruct C as [[[[[C1 C2] C3] C4] C5] C6]; rewrite forallb_forall in C2.
    repeat split; try (apply Nat.eqb_eq; assumption); [|apply Nat.ltb_lt; exact C4].
    apply Forall_forall; intros i Hi; apply Nat.ltb_lt, C2; exact Hi. }
  assert (O : forall a b, below G a -> below G b -> below G (op G a b) /\
    permutation k (op G a b) = composed (permutation k a) (permutation k b)).
  { intros a b Ha Hb; pose proof (all_2 _ _ _ Op a b Ha Hb) as C; cbv beta in C.
    apply andb_prop in C; destruct C as [C1 C2].
    split; [apply Nat.ltb_lt; exact C1|apply same_list_eq; exact C2]. }
  split.
  - apply Nat.ltb_lt; exact Unit.
  - intros a b Ha Hb; apply O; assumption.
  - intros a Ha; apply E; exact Ha.
  - intros a b c Ha Hb Hc; destruct (O a b Ha Hb) as [Bab Pab], (O b c Hb Hc) as [Bbc Pbc].
    destruct (O a _ Ha Bbc) as [B1 P1], (O _ c Bab Hc) as [B2 P2].
    rewrite <- (proj1 (E _ B1)), <- (proj1 (E _ B2)), P1, P2, Pab, Pbc; f_equal.
    destruct (E b Hb) as [_ [_ [Lb _]]], (E c Hc) as [_ [Fc [Lc _]]].
    apply composed_associative; rewrite Lb; rewrite Lc in Fc; exact Fc.
  - intros a Ha; apply E; exact Ha.
  - intros a Ha; apply E; exact Ha.
Qed.

(** ** Words and matrices *)

(** The first descent of a list, and the list with these two neighbours exchanged. *)
Fixpoint descent (i : nat) (p : list nat) : option (nat * list nat) :=
  match p with
  | x :: (y :: rest) as tail => if Nat.ltb y x then Some (i, y :: x :: rest)
      else match descent (S i) tail with Some (j, q) => Some (j, x :: q) | None => None end
  | _ => None
  end.
Fixpoint sorting (steps : nat) (p : list nat) : list nat :=
  match steps with
  | O => []
  | S more => match descent 0 p with None => [] | Some (i, q) => sorting more q ++ [i] end
  end.

Definition word (k a : nat) : list nat := sorting (k * k) (permutation k a).

(** The transpositions of i and i+1. *)
Definition transpositions (k : nat) : list nat :=
  map (fun i => number (seq 0 i ++ [S i; i] ++ seq (i + 2) (k - i - 2)) (permutations (seq 0 k))) (seq 0 (k - 1)).

Definition negated (r : presented) : presented :=
  Presented (degree r) (map (map (map Z.opp)) (generator_matrices r)).

(** The representations of Young diagrams: one row of k boxes, and others by the lengths of their rows. *)
Definition trivial (k : nat) : presented := Presented 1 (repeat [[1%Z]] (k - 1)).

Definition shape_31 : presented := Presented 3 [
  [[1; 0; 0]; [0; 1; 0]; [-1; -1; -1]];
  [[1; 0; 0]; [0; 0; 1]; [0; 1; 0]];
  [[0; 1; 0]; [1; 0; 0]; [0; 0; 1]]]%Z.

Definition shape_22 : presented := Presented 2 [
  [[1; 0]; [-1; -1]];
  [[0; 1]; [1; 0]];
  [[1; 0]; [-1; -1]]]%Z.

Definition shape_41 : presented := Presented 4 [
  [[1; 0; 0; 0]; [0; 1; 0; 0]; [0; 0; 1; 0]; [-1; -1; -1; -1]];
  [[1; 0; 0; 0]; [0; 1; 0; 0]; [0; 0; 0; 1]; [0; 0; 1; 0]];
  [[1; 0; 0; 0]; [0; 0; 1; 0]; [0; 1; 0; 0]; [0; 0; 0; 1]];
  [[0; 1; 0; 0]; [1; 0; 0; 0]; [0; 0; 1; 0]; [0; 0; 0; 1]]]%Z.

Definition shape_32 : presented := Presented 5 [
  [[1; 0; 0; 0; 0]; [0; 1; 0; 0; 0]; [0; 0; 1; 0; 0]; [-1; -1; 0; -1; 0]; [1; 0; -1; 0; -1]];
  [[1; 0; 0; 0; 0]; [0; 0; 0; 1; 0]; [-1; 0; 0; 0; 1]; [0; 1; 0; 0; 0]; [1; 0; 1; 0; 0]];
  [[0; 1; 0; 0; 0]; [1; 0; 0; 0; 0]; [0; 0; 1; 0; 0]; [0; 0; 0; 1; 0]; [0; 0; -1; -1; -1]];
  [[1; 0; 0; 0; 0]; [0; 0; 1; 0; 0]; [0; 1; 0; 0; 0]; [-1; 0; 0; 0; 1]; [1; 0; 0; 1; 0]]]%Z.

Definition shape_311 : presented := Presented 6 [
  [[1; 0; 0; 0; 0; 0]; [0; 1; 0; 0; 0; 0]; [0; 0; 1; 0; 0; 0]; [-1; -1; 0; -1; 0; 0]; [1; 0; -1; 0; -1; 0];
   [0; 1; 1; 0; 0; -1]];
  [[1; 0; 0; 0; 0; 0]; [0; 0; 0; 1; 0; 0]; [0; 0; 0; 0; 1; 0]; [0; 1; 0; 0; 0; 0]; [0; 0; 1; 0; 0; 0];
   [0; 0; 0; 0; 0; -1]];
  [[0; 1; 0; 0; 0; 0]; [1; 0; 0; 0; 0; 0]; [0; 0; -1; 0; 0; 0]; [0; 0; 0; 1; 0; 0]; [0; 0; 0; 0; 0; 1];
   [0; 0; 0; 0; 1; 0]];
  [[-1; 0; 0; 0; 0; 0]; [0; 0; 1; 0; 0; 0]; [0; 1; 0; 0; 0; 0]; [0; 0; 0; 0; 1; 0]; [0; 0; 0; 1; 0; 0];
   [0; 0; 0; 0; 0; 1]]]%Z.


Definition four_family : list presented :=
  [trivial 4; negated (trivial 4); shape_22; shape_31; negated shape_31].
Definition five_family : list presented :=
  [trivial 5; negated (trivial 5); shape_41; negated shape_41; shape_32; negated shape_32; shape_311].

Definition check_symmetric (k : nat) (family : list presented) : bool :=
  (check_permutations k && check_generated (symmetric_group k) (transpositions k) (word k) family)%bool.

Lemma four_check : check_symmetric 4 four_family = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma five_check : check_symmetric 5 five_family = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma symmetric_value : forall k n family, check_symmetric k family = true ->
  order (symmetric_group k) = n ->
  let value := 2 / (3 * INR n * sqrt (3 * INR n)) * (INR n / presented_share family) in
  maximum_margin_between (group_table (symmetric_group k)) value value.
Proof.
  intros k n family H <-; apply andb_prop in H; destruct H as [HG H].
  exact (generated_value _ _ _ _ (permutation_group k HG) H).
Qed.

Theorem four_things : let value := 2 / (72 * sqrt 72) * (24 / (1 + 4 * sqrt 2 + 18 * sqrt 3)) in
  maximum_margin_between (group_table (symmetric_group 4)) value value.
Proof.
  pose proof (symmetric_value 4 24 four_family four_check ltac:(vm_compute; reflexivity)) as H.
  replace (presented_share four_family) with (1 + 4 * sqrt 2 + 18 * sqrt 3) in H.
  - replace (INR 24) with 24 in H by (simpl; ring); replace (3 * 24) with 72 in H by ring; exact H.
  - unfold presented_share; cbn [four_family length sum member nth negated degree trivial shape_22 shape_31].
    replace (INR 2) with 2 by (simpl; ring); replace (INR 3) with 3 by (simpl; ring).
    simpl (INR 1); rewrite sqrt_1; ring.
Qed.

Theorem five_things : let value := 2 / (360 * sqrt 360) * (120 / (65 + 50 * sqrt 5 + 36 * sqrt 6)) in
  maximum_margin_between (group_table (symmetric_group 5)) value value.
Proof.
  pose proof (symmetric_value 5 120 five_family five_check ltac:(vm_compute; reflexivity)) as H.
  replace (presented_share five_family) with (65 + 50 * sqrt 5 + 36 * sqrt 6) in H.
  - replace (INR 120) with 120 in H by (rewrite INR_IZR_INZ; reflexivity).
    replace (3 * 120) with 360 in H by ring; exact H.
  - unfold presented_share; cbn [five_family length sum member nth negated degree trivial shape_41 shape_32 shape_311].
    assert (S4 : sqrt 4 = 2) by (replace 4 with (2 * 2) by ring; apply sqrt_square; lra).
    replace (INR 4) with 4 by (simpl; ring); replace (INR 5) with 5 by (simpl; ring).
    replace (INR 6) with 6 by (simpl; ring).
    simpl (INR 1); rewrite sqrt_1, S4; ring.
Qed.
