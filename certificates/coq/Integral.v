(** Small groups by their tables: families of integral matrices, checked by
    computation.

    [check_family] decides with natural numbers and integers whether an operation is
    that of a group and whether integral matrices with integral units are a
    complete family; [check_sound] says that it does.  Example, with one
    representation of quaternionic type: the quaternion group, whose maximum
    margin is 2/(3 sqrt 24) / 11 ([quaternions]). *)

From Coq Require Import Reals List ZArith Lra Lia Arith Bool.
From Lemmata Require Import Below.
From Lemmata Require Import Statement Sums Convolution Groups EveryGroup Representations Universal.
Import ListNotations.
Local Open Scope R_scope.

Record integral := Integral {
  idim : nat;
  imat : nat -> nat -> nat -> Z;
  imany : nat;
  iunit : nat -> nat -> nat -> Z
}.

Definition real (r : integral) : representation := Representation (idim r)
  (fun g i j => IZR (imat r g i j)) (imany r) (fun k i j => IZR (iunit r k i j)).

(** ** The checker *)

Definition all (n : nat) (p : nat -> bool) : bool := forallb p (seq 0 n).
Definition zdelta (i j : nat) : Z := if Nat.eqb i j then 1%Z else 0%Z.
Definition ztimes (d : nat) (M N : nat -> nat -> Z) (i j : nat) : Z := zsum d (fun k => M i k * N k j)%Z.

Definition check_group (G : group) : bool :=
  let n := order G in
  (Nat.ltb (unit G) n
   && all n (fun a => all n (fun b => Nat.ltb (op G a b) n))
   && all n (fun a => Nat.ltb (inv G a) n)
   && all n (fun a => all n (fun b => all n (fun c =>
        Nat.eqb (op G a (op G b c)) (op G (op G a b) c))))
   && all n (fun a => Nat.eqb (op G (unit G) a) a)
   && all n (fun a => Nat.eqb (op G (inv G a) a) (unit G)))%bool.

Definition check_representation (G : group) (r : integral) : bool :=
  let n := order G in let d := idim r in let m := imany r in
  (all d (fun i => all d (fun j => Z.eqb (imat r (unit G) i j) (zdelta i j)))
   && all n (fun a => all n (fun b => all d (fun i => all d (fun j =>
        Z.eqb (imat r (op G a b) i j) (ztimes d (imat r a) (imat r b) i j)))))
   && all n (fun a => all d (fun i => all d (fun j => Z.eqb (imat r (inv G a) i j) (imat r a j i))))
   && Nat.leb 1 m
   && all d (fun i => all d (fun j => Z.eqb (iunit r 0 i j) (zdelta i j)))
   && all m (fun k => all m (fun l => all d (fun b => all d (fun c =>
        Z.eqb (zsum d (fun a => iunit r k a b * iunit r l a c + iunit r l a b * iunit r k a c))
          (2 * (zdelta k l * zdelta b c))))))
   && all n (fun a => all m (fun k => all d (fun i => all d (fun j =>
        Z.eqb (ztimes d (imat r a) (iunit r k) i j) (ztimes d (iunit r k) (imat r a) i j))))))%Z%bool.

(** The number of units divides 4, so that dimension times 4 over it is an integer. *)
Definition check_complete (G : group) (count : nat) (family : nat -> integral) : bool :=
  (all count (fun s => (Nat.eqb (imany (family s) * (4 / imany (family s))) 4 && Nat.leb 1 (idim (family s)))%bool)
   && all (order G) (fun g => Z.eqb
        (zsum count (fun s => Z.of_nat (idim (family s) * (4 / imany (family s)))
          * zsum (idim (family s)) (fun i => imat (family s) g i i)))
        (4 * Z.of_nat (order G) * zdelta g (unit G))))%Z%bool.

Definition check_family (G : group) (count : nat) (family : nat -> integral) : bool :=
  (check_group G && all count (fun s => check_representation G (family s)) && check_complete G count family)%bool.

(** ** Its soundness *)

Lemma all_below : forall n p, all n p = true -> forall i, (i < n)%nat -> p i = true.
Proof.
  intros n p H i Hi; unfold all in H; rewrite forallb_forall in H; apply H, in_seq; lia.
Qed.

Lemma all_2 : forall n m (p : nat -> nat -> bool), all n (fun a => all m (fun b => p a b)) = true ->
  forall a b, (a < n)%nat -> (b < m)%nat -> p a b = true.
Proof. intros n m p H a b Ha Hb; exact (all_below m _ (all_below n _ H a Ha) b Hb). Qed.

Lemma all_3 : forall n m k (p : nat -> nat -> nat -> bool),
  all n (fun a => all m (fun b => all k (fun c => p a b c))) = true ->
  forall a b c, (a < n)%nat -> (b < m)%nat -> (c < k)%nat -> p a b c = true.
Proof. intros n m k p H a b c Ha Hb Hc; exact (all_below k _ (all_2 n m _ H a b Ha Hb) c Hc). Qed.

Lemma all_4 : forall n m k l (p : nat -> nat -> nat -> nat -> bool),
  all n (fun a => all m (fun b => all k (fun c => all l (fun d => p a b c d)))) = true ->
  forall a b c d, (a < n)%nat -> (b < m)%nat -> (c < k)%nat -> (d < l)%nat -> p a b c d = true.
Proof. intros n m k l p H a b c d Ha Hb Hc Hd; exact (all_below l _ (all_3 n m k _ H a b c Ha Hb Hc) d Hd). Qed.

Lemma sum_integers : forall n f, sum n (fun i => IZR (f i)) = IZR (zsum n f).
Proof.
  induction n as [|n IH]; intro f; [reflexivity|]; cbn [sum zsum]; rewrite IH, plus_IZR; reflexivity.
Qed.

Lemma delta_integer : forall i j, delta i j = IZR (zdelta i j).
Proof. intros; unfold delta, zdelta; destruct (Nat.eqb i j); reflexivity. Qed.

Lemma times_integers : forall d M N i j,
  times d (fun i j => IZR (M i j)) (fun i j => IZR (N i j)) i j = IZR (ztimes d M N i j).
Proof.
  intros; unfold times, ztimes; rewrite <- sum_integers; apply sum_ext; intros; rewrite mult_IZR; reflexivity.
Qed.


Lemma check_group_sound : forall G, check_group G = true -> is_group G.
Proof.
  intros G H; unfold check_group in H.
  repeat (apply andb_prop in H; destruct H as [H ?]).
  split; unfold below in *; intros.
  - apply Nat.ltb_lt; assumption.
  - apply Nat.ltb_lt; eapply all_2 with (p := fun a b => Nat.ltb (op G a b) (order G)); eassumption.
  - apply Nat.ltb_lt; eapply all_below with (p := fun a => Nat.ltb (inv G a) (order G)); eassumption.
  - apply Nat.eqb_eq; eapply all_3 with
      (p := fun a b c => Nat.eqb (op G a (op G b c)) (op G (op G a b) c)); eassumption.
  - apply Nat.eqb_eq; eapply all_below with (p := fun a => Nat.eqb (op G (unit G) a) a); eassumption.
  - apply Nat.eqb_eq; eapply all_below with (p := fun a => Nat.eqb (op G (inv G a) a) (unit G)); eassumption.
Qed.

Lemma check_representation_sound : forall G r, check_representation G r = true -> is_representation G (real r).
Proof.
  intros G r H; unfold check_representation in H.
  apply andb_prop in H; destruct H as [H Commute].
  apply andb_prop in H; destruct H as [H Units].
  apply andb_prop in H; destruct H as [H First].
  apply andb_prop in H; destruct H as [H Many].
  apply andb_prop in H; destruct H as [H Inverse].
  apply andb_prop in H; destruct H as [Unit Product].
  split; cbn [real dim mat many unit_matrix]; unfold below.
  - intros i j Hi Hj; pose proof (all_2 _ _ _ Unit i j Hi Hj) as E; apply Z.eqb_eq in E.
    rewrite E, delta_integer; reflexivity.
  - intros a b i j Ha Hb Hi Hj; pose proof (all_4 _ _ _ _ _ Product a b i j Ha Hb Hi Hj) as E.
    apply Z.eqb_eq in E; rewrite E, times_integers; reflexivity.
  - intros a i j Ha Hi Hj; pose proof (all_3 _ _ _ _ Inverse a i j Ha Hi Hj) as E.
    apply Z.eqb_eq in E; rewrite E; reflexivity.
  - apply Nat.leb_le; assumption.
  - intros i j Hi Hj; pose proof (all_2 _ _ _ First i j Hi Hj) as E; apply Z.eqb_eq in E.
    rewrite E, delta_integer; reflexivity.
  - intros k l b c Hk Hl Hb Hc; pose proof (all_4 _ _ _ _ _ Units k l b c Hk Hl Hb Hc) as E.
    apply Z.eqb_eq in E; rewrite !delta_integer, <- mult_IZR, <- mult_IZR, <- E, <- sum_integers.
    apply sum_ext; intros; rewrite plus_IZR, !mult_IZR; reflexivity.
  - intros a k Ha Hk i j Hi Hj; pose proof (all_4 _ _ _ _ _ Commute a k i j Ha Hk Hi Hj) as E.
    apply Z.eqb_eq in E; rewrite !times_integers, E; reflexivity.
Qed.

Theorem check_sound : forall G count family, check_family G count family = true ->
  is_group G /\ complete_family G count (fun s => real (family s)).
Proof.
  intros G count family H; unfold check_family, check_complete in H.
  apply andb_prop in H; destruct H as [H Complete]; apply andb_prop in H; destruct H as [HG Family].
  apply andb_prop in Complete; destruct Complete as [Numbers Complete].
  assert (Number : forall s, (s < count)%nat ->
    (imany (family s) * (4 / imany (family s)))%nat = 4%nat /\ (1 <= idim (family s))%nat).
  { intros s Hs; pose proof (all_below _ _ Numbers s Hs) as E; apply andb_prop in E; destruct E as [E1 E2].
    split; [apply Nat.eqb_eq|apply Nat.leb_le]; assumption. }
  split; [apply check_group_sound; assumption|split].
  - intros s Hs; apply check_representation_sound; exact (all_below _ _ Family s Hs).
  - intros s Hs; apply Number; assumption.
  - intros g Hg; pose proof (all_below _ _ Complete g Hg) as E.
    apply Z.eqb_eq, (f_equal IZR) in E.
    rewrite !mult_IZR, <- sum_integers, <- INR_IZR_INZ, <- delta_integer in E.
    apply Rmult_eq_reg_l with 4; [|lra]; rewrite <- Rmult_assoc, <- E, <- sum_scal.
    apply sum_ext; intros s Hs; cbn [real dim many]; unfold character; cbn [real dim mat].
    rewrite mult_IZR, <- INR_IZR_INZ, <- sum_integers, mult_INR.
    destruct (Number s Hs) as [F _]; apply (f_equal INR) in F; rewrite mult_INR in F.
    assert (F4 : INR 4 = 4) by (simpl; ring); rewrite F4 in F.
    assert (INR (imany (family s)) <> 0) by (intro Z; rewrite Z in F; lra).
    rewrite <- F; field; assumption.
Qed.

(** ** The quaternion group *)

(** The elements 0, ..., 7 are 1, i, j, k, -1, -i, -j, -k. *)
Definition quaternion_product (a b : nat) : nat :=
  nth b (nth a [[0; 1; 2; 3]; [1; 4; 3; 6]; [2; 7; 4; 1]; [3; 2; 5; 4]] [])%nat 0%nat.

Definition quaternion_group : group := Group 8
  (fun g h => (quaternion_product (g mod 4) (h mod 4) + 4 * (g / 4) + 4 * (h / 4)) mod 8)%nat
  0
  (fun g => if Nat.eqb (g mod 4) 0 then g else (g + 4) mod 8)%nat.

(** The coordinate 0, ..., 3 of an element g = +-1, +-i, +-j, +-k. *)
Definition coordinate (g i : nat) : Z :=
  if Nat.eqb (g mod 4) i then (if Nat.ltb g 4 then 1%Z else (-1)%Z) else 0%Z.

Definition quaternion_sign (x y : Z) : integral := Integral 1
  (fun g _ _ => match (g mod 4)%nat with 0%nat => 1 | 1%nat => x | 2%nat => y | _ => x * y end)%Z 1
  (fun _ _ _ => 1%Z).

(** Four signs, and the multiplications from the left, which commute with those from the right. *)
Definition quaternion_family (s : nat) : integral :=
  match s with
  | 0%nat => quaternion_sign 1 1
  | 1%nat => quaternion_sign 1 (-1)
  | 2%nat => quaternion_sign (-1) 1
  | 3%nat => quaternion_sign (-1) (-1)
  | _ => Integral 4 (fun g i j => coordinate (op quaternion_group g j) i) 4
      (fun k i j => coordinate (op quaternion_group j k) i)
  end.

Lemma quaternion_check : check_family quaternion_group 5 quaternion_family = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Theorem quaternions : let value := 2 / (3 * sqrt 24) / 11 in
  maximum_margin_between (group_table quaternion_group) value value.
Proof.
  destruct (check_sound _ _ _ quaternion_check) as [HG HF].
  set (family := fun s => real (quaternion_family s)) in HF.
  assert (S1 : sqrt (INR 1) = 1) by (simpl (INR 1); apply sqrt_1).
  assert (S4 : sqrt (INR 4) = 2).
  { replace (INR 4) with (2 ^ 2) by (simpl; ring); apply sqrt_pow2; lra. }
  assert (E : total_share 5 family = 11).
  { unfold total_share; cbn [sum share family real quaternion_family quaternion_sign idim imany dim many].
    rewrite S1, S4; simpl; field. }
  assert (C : constant quaternion_group * (INR (order quaternion_group) / total_share 5 family)
    = 2 / (3 * sqrt 24) / 11).
  { unfold constant; cbn [order quaternion_group]; rewrite E.
    replace (INR 8) with 8 by (simpl; ring); replace (3 * 8) with 24 by ring.
    assert (0 < sqrt 24) by (apply sqrt_lt_R0; lra); field; lra. }
  intro value; unfold value; rewrite <- C; apply closed_form.
  - exact HG.
  - simpl; lia.
  - exact HF.
  - intros g Hg; unfold below in Hg; cbn [order quaternion_group] in Hg.
    do 8 (destruct g as [|g]; [unfold character; simpl; ring|]); lia.
  - intros g Hg N; unfold below in Hg; cbn [order quaternion_group] in Hg.
    cbn [sum share family real quaternion_family quaternion_sign idim imany dim many].
    unfold character; cbn [sum dim mat real idim imat]; rewrite S1, S4.
    destruct g as [|[|[|[|[|[|[|[|g]]]]]]]]; [exfalso; apply N; reflexivity| | | | | | | |lia];
      simpl; unfold coordinate; simpl; lra.
Qed.
