(** Cyclic groups: addition modulo n.

    The family is explicit: the trivial representation, for 0 < s < n/2 the
    rotations of the plane by 2 pi s g / n, which commute with the rotation by
    a right angle, and for even n the signs (-1)^g = cos (pi g).  Sums of
    cosines telescope after multiplication by 2 sin(x/2) ([cosine_sum]), which
    gives completeness and the condition of [closed_form]:

    [addition]: for every odd n >= 3 the maximum margin of addition modulo n is
    sqrt(2/27) / (sqrt n (n-1));
    [even_addition]: for every even n it is
    2 (3n)^(-3/2) n / (sqrt 2 (n-2) + 1). *)

From Coq Require Import Reals List Lra Lia Arith.
From Lemmata Require Import Statement Sums Convolution Groups EveryGroup Representations Universal.
Local Open Scope R_scope.

(** ** Sums of cosines and sines *)

Lemma cosine_sum : forall m x,
  2 * sin (x / 2) * sum m (fun k => cos (INR k * x)) = sin (INR m * x - x / 2) + sin (x / 2).
Proof.
  induction m as [|m IH]; intro x.
  - simpl; replace (0 * x - x / 2) with (- (x / 2)) by field; rewrite sin_neg; ring.
  - change (sum (S m) (fun k => cos (INR k * x)))
      with (sum m (fun k => cos (INR k * x)) + cos (INR m * x)).
    rewrite Rmult_plus_distr_l, IH, S_INR.
    replace ((INR m + 1) * x - x / 2) with (INR m * x + x / 2) by field.
    rewrite sin_minus, sin_plus; ring.
Qed.

(** ** Angles *)

Section Angles.
Variable n : nat.
Hypothesis Hn : (1 <= n)%nat.

Definition angle (s g : nat) : R := 2 * PI * INR s * INR g / INR n.

Lemma size_positive : 0 < INR n.
Proof. apply lt_0_INR; lia. Qed.

Lemma turn : forall s m, exists k, angle s m = angle s (m mod n) + 2 * INR k * PI.
Proof.
  intros s m; exists (s * (m / n))%nat; pose proof size_positive as P.
  assert (E : INR m = INR n * INR (m / n) + INR (m mod n))
    by (rewrite <- mult_INR, <- plus_INR; f_equal; apply Nat.div_mod; lia).
  unfold angle; rewrite mult_INR, E; field; lra.
Qed.

Lemma cos_mod : forall s m, cos (angle s (m mod n)) = cos (angle s m).
Proof. intros s m; destruct (turn s m) as [k ->]; rewrite cos_period; reflexivity. Qed.

Lemma sin_mod : forall s m, sin (angle s (m mod n)) = sin (angle s m).
Proof. intros s m; destruct (turn s m) as [k ->]; rewrite sin_period; reflexivity. Qed.

Lemma angle_plus : forall s a b, angle s (a + b) = angle s a + angle s b.
Proof.
  intros; unfold angle; rewrite plus_INR; pose proof size_positive; field; lra.
Qed.

Lemma angle_opposite : forall s a, (a <= n)%nat ->
  angle s (n - a) = - angle s a + 2 * INR s * PI.
Proof.
  intros; unfold angle; rewrite minus_INR by assumption; pose proof size_positive; field; lra.
Qed.

Lemma half_angle_sine : forall s, (0 < s < n)%nat -> 0 < sin (2 * PI * INR s / INR n / 2).
Proof.
  intros s [H0 H1]; pose proof size_positive as P; pose proof PI_RGT_0 as Q.
  apply lt_INR in H0; apply lt_INR in H1; simpl in H0.
  replace (2 * PI * INR s / INR n / 2) with (PI * (INR s / INR n)) by (field; lra).
  assert (0 < INR s / INR n) by (apply Rdiv_lt_0_compat; assumption).
  assert (INR s / INR n < 1).
  { apply Rmult_lt_reg_r with (INR n); [assumption|].
    replace (INR s / INR n * INR n) with (INR s) by (field; lra); lra. }
  apply sin_gt_0; [apply Rmult_lt_0_compat; assumption|].
  rewrite <- (Rmult_1_r PI) at 2; apply Rmult_lt_compat_l; assumption.
Qed.

(** ** The group and its representations *)

Definition cyclic : group :=
  Group n (fun a b => (a + b) mod n)%nat O (fun a => (n - a) mod n)%nat.

Lemma cyclic_is_group : is_group cyclic.
Proof.
  split; unfold below; simpl; intros.
  - lia.
  - apply Nat.mod_upper_bound; lia.
  - apply Nat.mod_upper_bound; lia.
  - rewrite Nat.add_mod_idemp_r, Nat.add_mod_idemp_l by lia; f_equal; lia.
  - apply Nat.mod_small; assumption.
  - rewrite Nat.add_mod_idemp_l by lia.
    replace (n - a + a)%nat with n by lia; apply Nat.mod_same; lia.
Qed.

Definition rotation_matrix (c s : R) (i j : nat) : R :=
  match i, j with
  | O, O => c
  | O, _ => - s
  | _, O => s
  | _, _ => c
  end.

(** Rotations of the plane, with 1 and the rotation by a right angle as units. *)
Definition rotation (s : nat) : representation :=
  Representation 2 (fun g => rotation_matrix (cos (angle s g)) (sin (angle s g))) 2
    (fun k => match k with O => rotation_matrix 1 0 | _ => rotation_matrix 0 1 end).

End Angles.

Lemma below_two : forall i, (i < 2)%nat -> i = 0%nat \/ i = 1%nat.
Proof. intros; lia. Qed.

Ltac two H := destruct (below_two _ H) as [-> | ->].

Lemma trivial_is_representation : forall H, is_representation H (one_dimensional (fun _ => 1)).
Proof. intro H; apply one_dimensional_is_representation; intros; ring. Qed.

Lemma rotation_is_representation : forall m s, (1 <= m)%nat ->
  is_representation (cyclic m) (rotation m s).
Proof.
  intros m s Hm; split; cbn [dim mat many unit_matrix rotation unit op inv cyclic].
  - intros i j Hi Hj; replace (angle m s 0) with 0 by (unfold angle, Rdiv; simpl; ring).
    rewrite cos_0, sin_0; two Hi; two Hj; unfold delta; simpl; ring.
  - intros a b i j _ _ Hi Hj; rewrite cos_mod, sin_mod, angle_plus by assumption.
    rewrite cos_plus, sin_plus; two Hi; two Hj; unfold times; simpl; ring.
  - intros a i j Ha Hi Hj; unfold below in Ha; simpl in Ha.
    rewrite cos_mod, sin_mod, angle_opposite by lia.
    rewrite cos_period, sin_period, cos_neg, sin_neg; two Hi; two Hj; simpl; ring.
  - lia.
  - intros i j Hi Hj; two Hi; two Hj; unfold delta; simpl; ring.
  - intros k l b c Hk Hl Hb Hc; two Hk; two Hl; two Hb; two Hc; unfold delta; simpl; ring.
  - intros a k _ Hk i j Hi Hj; two Hk; two Hi; two Hj; unfold times; simpl; ring.
Qed.

Lemma rotation_character : forall m s g, character (rotation m s) g = 2 * cos (angle m s g).
Proof. intros; unfold character; simpl; ring. Qed.

Section Odd.
Variable h : nat.
Hypothesis Hh : (1 <= h)%nat.
Local Notation n := (2 * h + 1)%nat.
Local Notation G := (cyclic n).

Definition odd_family (s : nat) : representation :=
  match s with O => one_dimensional (fun _ => 1) | _ => rotation n s end.

Lemma odd_family_representations : forall s, (s < S h)%nat -> is_representation G (odd_family s).
Proof.
  intros [|s] Hs; simpl.
  - apply trivial_is_representation.
  - apply rotation_is_representation; lia.
Qed.

(** 1 + 2 cos x + ... + 2 cos h x = 0 for x = 2 pi g / n, 0 < g < n. *)
Lemma odd_cosines : forall g, (0 < g < n)%nat ->
  1 + sum h (fun s => 2 * cos (angle n (S s) g)) = 0.
Proof.
  intros g Hg; assert (Hn : (1 <= n)%nat) by lia; pose proof (size_positive n Hn) as P.
  pose proof (half_angle_sine n Hn g Hg) as Q; set (x := 2 * PI * INR g / INR n) in *.
  assert (E : 2 * sin (x / 2) * sum (S h) (fun k => cos (INR k * x)) = sin (x / 2)).
  { rewrite cosine_sum.
    replace (INR (S h) * x - x / 2) with (INR g * PI)
      by (unfold x; rewrite S_INR, plus_INR, mult_INR; simpl; field;
          pose proof (pos_INR h); lra).
    replace (sin (INR g * PI)) with 0; [ring|].
    symmetry; apply sin_eq_0_1; exists (Z.of_nat g); rewrite <- INR_IZR_INZ; reflexivity. }
  rewrite sum_first in E; simpl INR in E at 1; rewrite Rmult_0_l, cos_0 in E.
  rewrite (sum_ext h _ (fun s => 2 * cos (INR (S s) * x)))
    by (intros; do 2 f_equal; unfold angle, x; field; lra).
  rewrite sum_scal.
  apply Rmult_eq_reg_l with (sin (x / 2)); [|lra].
  replace (sin (x / 2) * (1 + 2 * sum h (fun i => cos (INR (S i) * x))))
    with (2 * sin (x / 2) * (1 + sum h (fun i => cos (INR (S i) * x))) - sin (x / 2)) by ring.
  rewrite E; ring.
Qed.

Lemma odd_complete : complete G (S h) odd_family.
Proof.
  intros g Hg; unfold below in Hg; simpl in Hg; rewrite sum_first.
  rewrite (sum_ext h _ (fun s => 2 * cos (angle n (S s) g))).
  2: { intros s _; unfold odd_family; rewrite rotation_character; simpl; field. }
  change (unit G) with 0%nat; change (order G) with n.
  unfold odd_family at 1 2 3, character; simpl dim; simpl many; simpl mat.
  replace (INR 1 / INR 1 * sum 1 (fun _ => 1)) with 1 by (simpl; field).
  destruct (Nat.eq_dec g 0) as [->|N].
  - rewrite delta_same, (sum_ext h _ (fun _ => 2)).
    + rewrite sum_const, plus_INR, mult_INR; simpl; ring.
    + intros; replace (angle n (S i) 0) with 0 by (unfold angle, Rdiv; simpl; ring).
      rewrite cos_0; ring.
  - rewrite odd_cosines, delta_other by lia; ring.
Qed.

Lemma order_minus_one : INR n - 1 = 2 * INR h.
Proof. rewrite plus_INR, mult_INR; simpl; ring. Qed.

Lemma h_positive : 0 < INR h.
Proof. apply lt_0_INR; lia. Qed.

Lemma odd_shares : forall g, below G g -> g <> unit G ->
  sum (S h) (fun s => share odd_family s * character (odd_family s) g) = - sqrt 2.
Proof.
  intros g Hg N; change (unit G) with 0%nat in N; unfold below in Hg; simpl in Hg.
  rewrite sum_first; simpl share at 1.
  rewrite (sum_ext h _ (fun s => sqrt 2 * (2 * cos (angle n (S s) g)))).
  - rewrite sum_scal; pose proof (odd_cosines g ltac:(lia)).
    replace (sum h (fun s => 2 * cos (angle n (S s) g))) with (-1) by lra; ring.
  - intros s _; unfold share, odd_family; rewrite rotation_character; simpl dim; simpl many.
    replace (INR 2) with 2 by (simpl; ring); field.
Qed.

Lemma odd_total : total_share (S h) odd_family = sqrt 2 * (INR n - 1).
Proof.
  unfold total_share; rewrite sum_first, order_minus_one; simpl share at 1.
  rewrite (sum_ext h _ (fun _ => sqrt 2 * 2)).
  - rewrite sum_const; ring.
  - intros s _; unfold share, odd_family; simpl dim; simpl many.
    replace (INR 2) with 2 by (simpl; ring); field.
Qed.

Definition addition_margin : R := sqrt (2 / 27) / (sqrt (INR n) * (INR n - 1)).

Lemma odd_constant : constant G * (INR n / (sqrt 2 * (INR n - 1))) = addition_margin.
Proof.
  unfold constant, addition_margin; change (order G) with n.
  pose proof order_minus_one as O; pose proof h_positive as P.
  assert (N : 0 < INR n) by (apply lt_0_INR; lia).
  assert (Q2 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (Q3 : 0 < sqrt 3) by (apply sqrt_lt_R0; lra).
  assert (Qn : 0 < sqrt (INR n)) by (apply sqrt_lt_R0; lra).
  replace (sqrt (2 / 27)) with (sqrt 2 / (3 * sqrt 3)).
  - rewrite sqrt_mult by lra; rewrite <- (square_sqrt 2) at 1 by lra; field; lra.
  - rewrite sqrt_div_alt by lra; f_equal.
    replace 27 with (3 ^ 2 * 3) by ring; rewrite sqrt_mult by lra.
    rewrite sqrt_pow2 by lra; reflexivity.
Qed.

Lemma odd_family_complete : complete_family G (S h) odd_family.
Proof.
  split; [exact odd_family_representations| |exact odd_complete].
  intros [|s] _; simpl; lia.
Qed.

Lemma odd_family_trivial : forall g, below G g -> character (odd_family 0) g = 1.
Proof. intros; unfold character; simpl; ring. Qed.

Theorem odd_maximum : maximum_margin_between (group_table G) addition_margin addition_margin.
Proof.
  rewrite <- odd_constant, <- odd_total; change (INR n) with (INR (order G)).
  apply closed_form.
  - apply cyclic_is_group; lia.
  - simpl; lia.
  - exact odd_family_complete.
  - exact odd_family_trivial.
  - intros g Hg N; rewrite (odd_shares g Hg N); pose proof (sqrt_pos 2); lra.
Qed.

End Odd.

(** The maximum margin of addition modulo an odd number. *)
Theorem addition : forall n, (3 <= n)%nat -> Nat.odd n = true ->
  maximum_margin_between (group_table (cyclic n))
    (sqrt (2 / 27) / (sqrt (INR n) * (INR n - 1))) (sqrt (2 / 27) / (sqrt (INR n) * (INR n - 1))).
Proof.
  intros n Hn Ho; apply Nat.odd_spec in Ho; destruct Ho as [h ->].
  apply odd_maximum; lia.
Qed.

(** ** Even order *)

Section Even.
Variable h : nat.
Local Notation n := (2 * S h)%nat.
Local Notation G := (cyclic n).

(** (-1)^g. *)
Definition sign (g : nat) : R := cos (angle n (S h) g).

Definition even_family (s : nat) : representation :=
  match s with
  | O => one_dimensional (fun _ => 1)
  | _ => if Nat.ltb s (S h) then rotation n s else one_dimensional sign
  end.

Lemma even_order : INR n = 2 * (INR h + 1).
Proof. rewrite mult_INR, (S_INR h); simpl (INR 2); ring. Qed.

Lemma half_turns : forall g, angle n (S h) g = INR g * PI.
Proof.
  intro g; unfold angle; rewrite mult_INR; pose proof (lt_0_INR (S h) ltac:(lia)).
  simpl (INR 2); field; lra.
Qed.

Lemma half_turns_sine : forall g, sin (angle n (S h) g) = 0.
Proof.
  intro g; rewrite half_turns; apply sin_eq_0_1; exists (Z.of_nat g).
  rewrite <- INR_IZR_INZ; reflexivity.
Qed.

Lemma sign_is_representation : is_representation G (one_dimensional sign).
Proof.
  apply one_dimensional_is_representation; cbn [unit op inv cyclic]; unfold sign.
  - replace (angle n (S h) 0) with 0 by (unfold angle, Rdiv; simpl; ring); exact cos_0.
  - intros a b _ _; rewrite cos_mod, angle_plus, cos_plus, !half_turns_sine by lia; ring.
  - intros a Ha; unfold below in Ha; simpl order in Ha.
    rewrite cos_mod, angle_opposite, cos_period, cos_neg by lia; reflexivity.
Qed.

Lemma even_family_representations : forall s, (s < S (S h))%nat -> is_representation G (even_family s).
Proof.
  intros [|s] Hs; unfold even_family.
  - apply trivial_is_representation.
  - destruct (Nat.ltb (S s) (S h)); [apply rotation_is_representation; lia|exact sign_is_representation].
Qed.

(** 1 + 2 cos x + ... + 2 cos (h x) + cos ((h+1) x) = 0 for x = 2 pi g / n, 0 < g < n. *)
Lemma even_cosines : forall g, (0 < g < n)%nat ->
  1 + sum h (fun s => 2 * cos (angle n (S s) g)) + sign g = 0.
Proof.
  intros g Hg; assert (Hn : (1 <= n)%nat) by lia; pose proof (size_positive n Hn) as P.
  pose proof (half_angle_sine n Hn g Hg) as Q; set (x := 2 * PI * INR g / INR n) in *.
  assert (E : 2 * sin (x / 2) * sum (S h) (fun k => cos (INR k * x)) = sin (x / 2) * (1 - sign g)).
  { rewrite cosine_sum.
    replace (INR (S h) * x) with (angle n (S h) g) by (unfold angle, x; field; lra).
    rewrite sin_minus, half_turns_sine; fold (sign g); ring. }
  rewrite sum_first in E; simpl INR in E at 1; rewrite Rmult_0_l, cos_0 in E.
  rewrite (sum_ext h _ (fun s => 2 * cos (INR (S s) * x)))
    by (intros; do 2 f_equal; unfold angle, x; field; lra).
  rewrite sum_scal.
  apply Rmult_eq_reg_l with (sin (x / 2)); [|lra].
  replace (sin (x / 2) * (1 + 2 * sum h (fun i => cos (INR (S i) * x)) + sign g))
    with (2 * sin (x / 2) * (1 + sum h (fun i => cos (INR (S i) * x))) - sin (x / 2) * (1 - sign g)) by ring.
  rewrite E; ring.
Qed.

(** A sum over the family, by its three kinds. *)
Lemma even_sum : forall (f : representation -> R),
  sum (S (S h)) (fun s => f (even_family s))
  = f (one_dimensional (fun _ => 1)) + sum h (fun s => f (rotation n (S s))) + f (one_dimensional sign).
Proof.
  intro f; rewrite sum_first.
  change (sum (S h) (fun s => f (even_family (S s))))
    with (sum h (fun s => f (even_family (S s))) + f (even_family (S h))).
  assert (L : even_family (S h) = one_dimensional sign)
    by (unfold even_family; rewrite Nat.ltb_irrefl; reflexivity).
  rewrite L, (sum_ext h _ (fun s => f (rotation n (S s)))); [simpl; ring|].
  intros s Hs; unfold even_family.
  destruct (Nat.ltb_spec (S s) (S h)); [reflexivity|lia].
Qed.

Lemma even_complete : complete G (S (S h)) even_family.
Proof.
  intros g Hg; unfold below in Hg; simpl order in Hg.
  rewrite (even_sum (fun r => INR (dim r) / INR (many r) * character r g)).
  rewrite (sum_ext h _ (fun s => 2 * cos (angle n (S s) g))).
  2: { intros s _; rewrite rotation_character; simpl; field. }
  change (unit G) with 0%nat; change (order G) with n.
  unfold character at 1 2; cbn [one_dimensional dim mat many sum].
  replace (INR 1) with 1 by reflexivity.
  destruct (Nat.eq_dec g 0) as [->|N].
  - rewrite delta_same, (sum_ext h _ (fun _ => 2)).
    + unfold sign; replace (angle n (S h) 0) with 0 by (unfold angle, Rdiv; simpl; ring).
      rewrite cos_0, sum_const, even_order; simpl (INR 1); field.
    + intros; replace (angle n (S i) 0) with 0 by (unfold angle, Rdiv; simpl; ring).
      rewrite cos_0; ring.
  - rewrite delta_other by assumption; pose proof (even_cosines g ltac:(lia)); lra.
Qed.

Definition share_of (r : representation) : R := INR (dim r) / INR (many r) * sqrt (INR (dim r)).

Lemma rotation_share : forall s, share_of (rotation n s) = sqrt 2.
Proof.
  intro s; unfold share_of; simpl dim; simpl many; replace (INR 2) with 2 by (simpl; ring); field.
Qed.

Lemma line_share : forall f, share_of (one_dimensional f) = 1.
Proof.
  intro f; unfold share_of; simpl dim; simpl many; replace (INR 1) with 1 by reflexivity.
  rewrite sqrt_1; field.
Qed.

(** The shares, with that of the trivial representation, which counts 0, taken away. *)
Lemma even_shares : forall f : representation -> R,
  sum (S (S h)) (fun s => share even_family s * f (even_family s))
  = sqrt 2 * sum h (fun s => f (rotation n (S s))) + f (one_dimensional sign).
Proof.
  intro f.
  transitivity (sum (S (S h)) (fun s => share_of (even_family s) * f (even_family s))
    - f (one_dimensional (fun _ => 1))).
  - rewrite !(sum_first (S h)); simpl share at 1.
    change (even_family 0) with (one_dimensional (fun _ => 1)); rewrite line_share.
    ring_simplify; reflexivity.
  - rewrite (even_sum (fun r => share_of r * f r)), !line_share.
    rewrite (sum_ext h _ (fun s => sqrt 2 * f (rotation n (S s)))) by (intros; rewrite rotation_share; ring).
    rewrite sum_scal; ring.
Qed.

Lemma even_condition : forall g, below G g -> g <> unit G ->
  sum (S (S h)) (fun s => share even_family s * character (even_family s) g) <= 0.
Proof.
  intros g Hg N; change (unit G) with 0%nat in N; unfold below in Hg; simpl order in Hg.
  rewrite (even_shares (fun r => character r g)).
  rewrite (sum_ext h _ (fun s => 2 * cos (angle n (S s) g))) by (intros; apply rotation_character).
  replace (sum h (fun s => 2 * cos (angle n (S s) g))) with (- 1 - sign g)
    by (pose proof (even_cosines g ltac:(lia)); lra).
  unfold character; cbn [one_dimensional dim mat sum].
  assert (Q : 1 <= sqrt 2) by (rewrite <- sqrt_1; apply sqrt_le_1_alt; lra).
  pose proof (COS_bound (angle n (S h) g)) as [L _]; fold (sign g) in L.
  assert (0 <= (sqrt 2 - 1) * (sign g + 1)) by (apply Rmult_le_pos; lra); lra.
Qed.

Lemma even_total : total_share (S (S h)) even_family = sqrt 2 * (INR n - 2) + 1.
Proof.
  unfold total_share; rewrite (even_shares (fun r => INR (dim r))).
  cbn [rotation one_dimensional dim]; rewrite sum_const, even_order; simpl (INR 1); simpl (INR 2); ring.
Qed.

Theorem even_maximum : maximum_margin_between (group_table G)
  (constant G * (INR n / (sqrt 2 * (INR n - 2) + 1))) (constant G * (INR n / (sqrt 2 * (INR n - 2) + 1))).
Proof.
  rewrite <- even_total; change (INR n) with (INR (order G)).
  apply closed_form.
  - apply cyclic_is_group; lia.
  - simpl; lia.
  - split; [exact even_family_representations| |exact even_complete].
    intros [|s] _; unfold even_family; [simpl; lia|].
    destruct (Nat.ltb (S s) (S h)); simpl; lia.
  - intros; unfold character; simpl; ring.
  - exact even_condition.
Qed.

End Even.

(** The maximum margin of addition modulo an even number. *)
Theorem even_addition : forall n, (2 <= n)%nat -> Nat.even n = true ->
  maximum_margin_between (group_table (cyclic n))
    (2 / (3 * INR n * sqrt (3 * INR n)) * (INR n / (sqrt 2 * (INR n - 2) + 1)))
    (2 / (3 * INR n * sqrt (3 * INR n)) * (INR n / (sqrt 2 * (INR n - 2) + 1))).
Proof.
  intros n Hn He; apply Nat.even_spec in He; destruct He as [[|h] ->]; [lia|].
  exact (even_maximum h).
Qed.
