(** The cyclic group of odd order n: addition modulo n.

    The family is explicit: the trivial representation and, for 0 < s < n/2,
    the rotations of the plane by 2 pi s g / n, which commute with the rotation
    by a right angle.  Sums of cosines and sines telescope after multiplication
    by 2 sin(x/2) ([cosine_sum], [sine_sum]); that gives completeness, the
    means of equal weights and the squares of the entries.  Both sides of the
    general theorem agree:

    [addition]: for every odd n >= 3 the maximum margin of addition modulo n is
    sqrt(2/27) / (sqrt n (n-1)). *)

From Coq Require Import Reals List Lra Lia Arith.
From Lemmata Require Import Statement Sums Convolution Groups EveryGroup Representations Attain.
Open Scope R_scope.

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

Lemma sine_sum : forall m x,
  2 * sin (x / 2) * sum m (fun k => sin (INR k * x)) = cos (x / 2) - cos (INR m * x - x / 2).
Proof.
  induction m as [|m IH]; intro x.
  - simpl; replace (0 * x - x / 2) with (- (x / 2)) by field; rewrite cos_neg; ring.
  - change (sum (S m) (fun k => sin (INR k * x)))
      with (sum m (fun k => sin (INR k * x)) + sin (INR m * x)).
    rewrite Rmult_plus_distr_l, IH, S_INR.
    replace ((INR m + 1) * x - x / 2) with (INR m * x + x / 2) by field.
    rewrite cos_minus, cos_plus; ring.
Qed.

Lemma sum_first : forall n f, sum (S n) f = f O + sum n (fun i => f (S i)).
Proof.
  induction n as [|n IH]; intro f; [simpl; ring|].
  change (sum (S (S n)) f) with (sum (S n) f + f (S n)); rewrite IH; simpl; ring.
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

Lemma cosines_vanish : forall s, (0 < s < n)%nat -> sum n (fun g => cos (angle s g)) = 0.
Proof.
  intros s Hs; pose proof size_positive as P; pose proof (half_angle_sine s Hs) as Q.
  set (x := 2 * PI * INR s / INR n) in *.
  apply Rmult_eq_reg_l with (2 * sin (x / 2)); [|lra].
  rewrite (sum_ext n _ (fun k => cos (INR k * x)))
    by (intros; f_equal; unfold angle, x; field; lra).
  rewrite cosine_sum.
  replace (INR n * x - x / 2) with (- (x / 2) + 2 * INR s * PI) by (unfold x; field; lra).
  rewrite sin_period, sin_neg; ring.
Qed.

Lemma sines_vanish : forall s, (0 < s < n)%nat -> sum n (fun g => sin (angle s g)) = 0.
Proof.
  intros s Hs; pose proof size_positive as P; pose proof (half_angle_sine s Hs) as Q.
  set (x := 2 * PI * INR s / INR n) in *.
  apply Rmult_eq_reg_l with (2 * sin (x / 2)); [|lra].
  rewrite (sum_ext n _ (fun k => sin (INR k * x)))
    by (intros; f_equal; unfold angle, x; field; lra).
  rewrite sine_sum.
  replace (INR n * x - x / 2) with (- (x / 2) + 2 * INR s * PI) by (unfold x; field; lra).
  rewrite cos_period, cos_neg; ring.
Qed.

Lemma angle_double : forall s g, angle (2 * s) g = 2 * angle s g.
Proof.
  intros; unfold angle; rewrite mult_INR; simpl; pose proof size_positive; field; lra.
Qed.

Lemma cosine_squares : forall s, (0 < 2 * s < n)%nat ->
  2 * sum n (fun g => cos (angle s g) ^ 2) = INR n.
Proof.
  intros s Hs.
  replace (INR n) with (sum n (fun _ => 1) + sum n (fun g => cos (angle (2 * s) g)))
    by (rewrite cosines_vanish, sum_const by assumption; ring).
  rewrite <- sum_plus, <- sum_scal; apply sum_ext; intros g _.
  rewrite angle_double, cos_2a_cos; ring.
Qed.

Lemma sine_squares : forall s, (0 < 2 * s < n)%nat ->
  2 * sum n (fun g => sin (angle s g) ^ 2) = INR n.
Proof.
  intros s Hs.
  replace (INR n) with (sum n (fun _ => 1) - sum n (fun g => cos (angle (2 * s) g)))
    by (rewrite cosines_vanish, sum_const by assumption; ring).
  rewrite <- sum_minus, <- sum_scal; apply sum_ext; intros g _.
  rewrite angle_double, cos_2a_sin; ring.
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

Definition one_dimensional (f : nat -> R) : representation :=
  Representation 1 (fun g _ _ => f g) 1 (fun _ _ _ => 1).

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

Section Odd.
Variable h : nat.
Hypothesis Hh : (1 <= h)%nat.
Local Notation n := (2 * h + 1)%nat.
Local Notation G := (cyclic n).

Definition odd_family (s : nat) : representation :=
  match s with O => one_dimensional (fun _ => 1) | _ => rotation n s end.

Lemma trivial_is_representation : forall H, is_representation H (one_dimensional (fun _ => 1)).
Proof.
  intro H; split; simpl; intros; try lia.
  - replace i with 0%nat by lia; replace j with 0%nat by lia; rewrite delta_same; reflexivity.
  - unfold times; simpl; ring.
  - reflexivity.
  - replace i with 0%nat by lia; replace j with 0%nat by lia; rewrite delta_same; reflexivity.
  - intros k l b c Hk Hl Hb Hc; simpl in *.
    replace k with 0%nat by lia; replace l with 0%nat by lia.
    replace b with 0%nat by lia; replace c with 0%nat by lia; rewrite !delta_same; ring.
  - intros i j Hi Hj; unfold times; simpl; ring.
Qed.

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

Lemma odd_family_representations : forall s, (s < S h)%nat -> is_representation G (odd_family s).
Proof.
  intros [|s] Hs; simpl.
  - apply trivial_is_representation.
  - apply rotation_is_representation; lia.
Qed.

Lemma rotation_character : forall m s g, character (rotation m s) g = 2 * cos (angle m s g).
Proof. intros; unfold character; simpl; ring. Qed.

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

(** The mean of a nontrivial rotation over the wrong labels. *)
Definition odd_mean (s : nat) : R := match s with O => 1 | _ => - / (INR n - 1) end.

Lemma order_minus_one : INR n - 1 = 2 * INR h.
Proof. rewrite plus_INR, mult_INR; simpl; ring. Qed.

Lemma h_positive : 0 < INR h.
Proof. apply lt_0_INR; lia. Qed.

Lemma odd_scalar : forall s, (s < S h)%nat ->
  scalar G (equal_weights G) (odd_family s) (odd_mean s).
Proof.
  intros s Hs i j Hi Hj; pose proof order_minus_one as O; pose proof h_positive as P.
  assert (HG : is_group G) by (apply cyclic_is_group; lia).
  assert (H2 : (2 <= order G)%nat) by (simpl; lia).
  destruct s as [|s].
  - simpl in Hi, Hj; replace i with 0%nat by lia; replace j with 0%nat by lia.
    rewrite delta_same; simpl odd_mean; rewrite Rmult_1_r.
    rewrite <- (tau_sum G _ (equal_weights_wrong G HG H2)).
    apply sum_ext; intros; simpl; ring.
  - assert (M : sum n (fun g => mat (rotation n (S s)) g i j) = 0).
    { assert (V : (0 < S s < n)%nat) by lia; assert (W : (1 <= n)%nat) by lia.
      cbn [mat rotation]; simpl in Hi, Hj; two Hi; two Hj; cbn [rotation_matrix].
      - apply cosines_vanish; assumption.
      - rewrite (sum_ext n _ (fun g => -1 * sin (angle n (S s) g))) by (intros; ring).
        rewrite sum_scal, sines_vanish by assumption; ring.
      - apply sines_vanish; assumption.
      - apply cosines_vanish; assumption. }
    unfold odd_mean; unfold equal_weights; change (order G) with n; change (unit G) with 0%nat.
    rewrite O; unfold odd_family.
    rewrite (sum_ext n _ (fun g => / (2 * INR h) * (mat (rotation n (S s)) g i j
      - delta g 0 * mat (rotation n (S s)) g i j))) by (intros; field; lra).
    rewrite sum_scal, sum_minus, M, (sum_delta n (fun g => mat (rotation n (S s)) g i j)) by lia.
    rewrite (mat_unit G _ (rotation_is_representation n (S s) ltac:(lia)))
      by assumption.
    field; lra.
Qed.

Lemma odd_even_entries : forall s, (s < S h)%nat -> even_entries G (odd_family s).
Proof.
  intros [|s] Hs i j Hi Hj; change (order G) with n.
  - unfold odd_family, one_dimensional; simpl dim; simpl mat.
    rewrite (sum_ext n _ (fun _ => 1)) by (intros; ring); rewrite sum_const; simpl; ring.
  - assert (V : (0 < 2 * S s < n)%nat) by lia; assert (W : (1 <= n)%nat) by lia.
    unfold odd_family, rotation in *; cbn [dim mat] in *.
    replace (INR 2) with 2 by (simpl; ring).
    two Hi; two Hj; cbn [rotation_matrix].
    + apply cosine_squares; assumption.
    + rewrite <- (sine_squares n W (S s) V); f_equal; apply sum_ext; intros; ring.
    + apply sine_squares; assumption.
    + apply cosine_squares; assumption.
Qed.

Definition odd_value : R := INR n / ((INR n - 1) * sqrt 2).

Lemma odd_row : forall s, (s < S h)%nat ->
  Rabs (1 - odd_mean s) <= odd_value * sqrt (INR (dim (odd_family s))).
Proof.
  intros s Hs; pose proof order_minus_one as O; pose proof h_positive as P.
  assert (Q : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (N : 0 < INR n) by (apply lt_0_INR; lia).
  assert (V : 0 < odd_value).
  { apply Rdiv_lt_0_compat; [assumption|]; rewrite O; apply Rmult_lt_0_compat; lra. }
  destruct s as [|s].
  - simpl; replace (1 - 1) with 0 by ring; rewrite Rabs_R0, sqrt_1; lra.
  - unfold odd_mean; simpl dim; replace (INR 2) with 2 by (simpl; ring).
    assert (E : 1 - - / (INR n - 1) = odd_value * sqrt 2) by (unfold odd_value; field; lra).
    rewrite E, Rabs_right; [lra|].
    left; apply Rmult_lt_0_compat; assumption.
Qed.

(** Equal masses of all rotations. *)
Definition odd_masses (s : nat) : R := match s with O => 0 | _ => / INR h end.

Lemma odd_column : forall g, below G g -> g <> unit G ->
  odd_value <= sum (S h) (fun s => odd_masses s
    / (INR (dim (odd_family s)) * sqrt (INR (dim (odd_family s))))
    * (INR (dim (odd_family s)) - character (odd_family s) g)).
Proof.
  intros g Hg N; change (unit G) with 0%nat in N; unfold below in Hg; simpl in Hg.
  pose proof order_minus_one as O; pose proof h_positive as P.
  assert (Q : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (C : sum h (fun s => 2 * cos (angle n (S s) g)) = -1)
    by (pose proof (odd_cosines g ltac:(lia)); lra).
  rewrite sum_first.
  rewrite (sum_ext h _ (fun s => / (2 * INR h * sqrt 2) * (2 - 2 * cos (angle n (S s) g)))).
  2: { intros s _; unfold odd_masses, odd_family; rewrite rotation_character; simpl dim.
       replace (INR 2) with 2 by (simpl; ring); field; lra. }
  simpl odd_masses; rewrite sum_scal, sum_minus, sum_const.
  rewrite C; unfold odd_value; rewrite O.
  replace (INR n) with (2 * INR h + 1) by lra.
  right; unfold Rdiv; rewrite !Rmult_0_l; field; lra.
Qed.

Definition addition_margin : R := sqrt (2 / 27) / (sqrt (INR n) * (INR n - 1)).

Lemma odd_constant : constant G * odd_value = addition_margin.
Proof.
  unfold constant, odd_value, addition_margin; change (order G) with n.
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

Theorem odd_maximum : maximum_margin_between (group_table G) addition_margin addition_margin.
Proof.
  assert (HG : is_group G) by (apply cyclic_is_group; lia).
  pose proof h_positive as P; pose proof order_minus_one as O.
  rewrite <- odd_constant; split.
  - apply lower_side with (count := S h) (family := odd_family) (eps := odd_masses).
    + exact HG.
    + intros s Hs; split; [apply odd_family_representations; assumption|].
      split; [destruct s; simpl; lia|apply odd_even_entries; assumption].
    + intros [|s] Hs; simpl; [lra|left; apply Rinv_0_lt_compat; assumption].
    + rewrite sum_first; simpl odd_masses; rewrite sum_const; field; lra.
    + exact odd_column.
  - apply upper_side with (count := S h) (family := odd_family) (tau := equal_weights G) (mu := odd_mean).
    + exact HG.
    + exact odd_family_representations.
    + exact odd_complete.
    + apply equal_weights_wrong; [exact HG|simpl; lia].
    + exact odd_scalar.
    + apply Rmult_le_pos; [apply pos_INR|left; apply Rinv_0_lt_compat; apply Rmult_lt_0_compat].
      * lra.
      * apply sqrt_lt_R0; lra.
    + exact odd_row.
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
