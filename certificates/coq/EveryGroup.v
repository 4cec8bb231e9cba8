(** Every finite group: no network has a margin above 2 (3n)^(-3/2) n/(n-1).

    [margin_from_neurons] is step 6 of certificates/game/UNIVERSAL_MARGIN.md:
    a bound for one neuron bounds all networks.  [every_group]: with equal
    weights for all wrong labels the relaxation of Groups.v leaves the sum of
    u(a) v(b) w(ab) to bound, which Cauchy and Schwarz do twice.  No
    representation of the group occurs.  (The theorem of that page says that
    this bound is the maximum margin for the groups in which every square is
    the unit, and larger than it for all others; that is not proved here.) *)

From Coq Require Import Reals List Lra Lia Arith.
From Lemmata Require Import Statement Sums Groups.
Local Open Scope R_scope.

(** 2 (3n)^(-3/2). *)
Definition constant (G : group) : R := 2 / (3 * INR (order G) * sqrt (3 * INR (order G))).

(** ** From a bound for one neuron to all networks *)

Lemma three_means : forall a b c, 0 <= a -> 0 <= b -> 0 <= c -> 27 * (a * b * c) <= (a + b + c) ^ 3.
Proof.
  intros a b c Ha Hb Hc.
  assert (E : (a + b + c) ^ 3 - 27 * (a * b * c)
    = / 2 * ((a + b + c) * ((a - b) ^ 2 + (b - c) ^ 2 + (c - a) ^ 2))
      + 3 * (a * (b - c) ^ 2 + b * (c - a) ^ 2 + c * (a - b) ^ 2)) by field.
  pose proof (pow2_ge_0 (a - b)); pose proof (pow2_ge_0 (b - c)); pose proof (pow2_ge_0 (c - a)).
  assert (0 <= (a + b + c) * ((a - b) ^ 2 + (b - c) ^ 2 + (c - a) ^ 2))
    by (apply Rmult_le_pos; lra).
  assert (0 <= a * (b - c) ^ 2) by (apply Rmult_le_pos; assumption).
  assert (0 <= b * (c - a) ^ 2) by (apply Rmult_le_pos; assumption).
  assert (0 <= c * (a - b) ^ 2) by (apply Rmult_le_pos; assumption).
  lra.
Qed.

Lemma le_of_squares : forall x y, 0 <= y -> x ^ 2 <= y ^ 2 -> x <= y.
Proof.
  intros x y Hy H; destruct (Rle_or_lt x y) as [|L]; [assumption|exfalso].
  assert (y * y < x * x) by (apply Rmult_le_0_lt_compat; lra); lra.
Qed.

Lemma square_sqrt : forall x, 0 <= x -> sqrt x ^ 2 = x.
Proof. intros; apply pow2_sqrt; assumption. Qed.

Section Bound.
Variable G : group.
Hypothesis HG : is_group G.
Local Notation n := (order G).

Lemma order_positive : 0 < INR n.
Proof. apply lt_0_INR; pose proof (unit_below G HG); unfold below in *; lia. Qed.

Lemma constant_positive : 0 < constant G.
Proof.
  pose proof order_positive as P; unfold constant; apply Rdiv_lt_0_compat; [lra|].
  apply Rmult_lt_0_compat; [lra|apply sqrt_lt_R0; lra].
Qed.

Lemma norm_square : forall o,
  norm (group_table G) o ^ 2 = square n (u o) + square n (v o) + square n (w o).
Proof.
  intro o; apply square_sqrt.
  pose proof (square_nonneg n (u o)); pose proof (square_nonneg n (v o)).
  pose proof (square_nonneg n (w o)).
  unfold square in *; unfold inputs2, outputs2; simpl rows; simpl columns; simpl labels; lra.
Qed.

Lemma norm_nonneg : forall o, 0 <= norm (group_table G) o.
Proof. intro; apply sqrt_pos. Qed.

(** K sqrt n / (3 sqrt 3), the factor of |omega|^3. *)
Definition factor (K : R) : R := K * sqrt (INR n) / (3 * sqrt 3).

Lemma factor_square : forall K, factor K ^ 2 = K ^ 2 * INR n / 27.
Proof.
  intro K; unfold factor.
  assert (0 < sqrt 3) by (apply sqrt_lt_R0; lra).
  pose proof (square_sqrt 3); pose proof (square_sqrt (INR n) (pos_INR n)).
  replace ((K * sqrt (INR n) / (3 * sqrt 3)) ^ 2)
    with (K ^ 2 * sqrt (INR n) ^ 2 / (9 * sqrt 3 ^ 2)) by (field; lra).
  rewrite H0, H1 by lra; field.
Qed.

Lemma factor_nonneg : forall K, 0 <= K -> 0 <= factor K.
Proof.
  intros K HK; unfold factor.
  assert (0 < sqrt 3) by (apply sqrt_lt_R0; lra).
  apply Rmult_le_pos; [apply Rmult_le_pos; [assumption|apply sqrt_pos]|].
  left; apply Rinv_0_lt_compat; lra.
Qed.

Lemma factor_constant : forall K net,
  over net (fun o => 2 * (factor K * norm (group_table G) o ^ 3))
  = INR n ^ 2 * (constant G * K * norm3 (group_table G) net).
Proof.
  intros K net; pose proof order_positive as P.
  assert (S3 : 0 < sqrt 3) by (apply sqrt_lt_R0; lra).
  assert (Sn : 0 < sqrt (INR n)) by (apply sqrt_lt_R0; assumption).
  rewrite !over_scal, <- norm3_over; unfold constant, factor; rewrite sqrt_mult by lra.
  replace (INR n ^ 2) with (INR n * sqrt (INR n) ^ 2) by (rewrite square_sqrt by lra; ring).
  field; lra.
Qed.

Theorem margin_from_neurons : forall tau K, wrong_weights G tau ->
  (forall o, triple G (u o) (v o) (contrast G tau (w o))
    <= factor K * norm (group_table G) o ^ 3) ->
  forall g net, margin_at_least (group_table G) g net ->
  g <= constant G * K * norm3 (group_table G) net.
Proof.
  intros tau K Htau H g net M.
  pose proof (relaxation G HG tau Htau g net M) as B.
  apply Rmult_le_reg_l with (INR n ^ 2); [apply pow_lt, order_positive|].
  rewrite <- factor_constant; apply Rle_trans with (1 := B).
  apply over_le; intro o; pose proof (H o); lra.
Qed.

Lemma neuron_from_square : forall K o z, 0 <= K ->
  triple G (u o) (v o) z ^ 2
    <= K ^ 2 * INR n * (square n (u o) * square n (v o) * square n (w o)) ->
  triple G (u o) (v o) z <= factor K * norm (group_table G) o ^ 3.
Proof.
  intros K o z HK H; pose proof (norm_nonneg o) as N.
  apply le_of_squares.
  - apply Rmult_le_pos; [apply factor_nonneg; assumption|apply pow_le; assumption].
  - apply Rle_trans with (1 := H).
    replace ((factor K * norm (group_table G) o ^ 3) ^ 2)
      with (factor K ^ 2 * (norm (group_table G) o ^ 2) ^ 3) by ring.
    rewrite factor_square, norm_square.
    pose proof (three_means _ _ _ (square_nonneg n (u o)) (square_nonneg n (v o))
      (square_nonneg n (w o))).
    replace (K ^ 2 * INR n / 27 * (square n (u o) + square n (v o) + square n (w o)) ^ 3)
      with (K ^ 2 * INR n * ((square n (u o) + square n (v o) + square n (w o)) ^ 3 / 27))
      by field.
    apply Rmult_le_compat_l; [|lra].
    apply Rmult_le_pos; [apply pow2_ge_0|apply pos_INR].
Qed.

Corollary normalized_from_neurons : forall tau K, wrong_weights G tau ->
  (forall o, triple G (u o) (v o) (contrast G tau (w o))
    <= factor K * norm (group_table G) o ^ 3) ->
  forall net g, normalized_margin_at_least (group_table G) g net -> g <= constant G * K.
Proof.
  intros tau K Htau H net g [P M].
  apply Rmult_le_reg_r with (1 := P).
  exact (margin_from_neurons tau K Htau H _ net M).
Qed.

(** ** Equal weights *)

Definition equal_weights (d : nat) : R := (1 - delta d (unit G)) / (INR n - 1).

Hypothesis Hn : (2 <= n)%nat.

Lemma order_above_one : 1 < INR n.
Proof. replace 1 with (INR 1) by reflexivity; apply lt_INR; lia. Qed.

Lemma equal_weights_wrong : wrong_weights G equal_weights.
Proof.
  pose proof order_above_one as P; split; unfold equal_weights.
  - intros d _; apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra].
    unfold delta; destruct (Nat.eqb d (unit G)); lra.
  - rewrite delta_same; field; lra.
  - unfold Rdiv; rewrite sum_scal_r, sum_minus, sum_const.
    rewrite (sum_ext n (fun i => delta i (unit G)) (fun i => delta i (unit G) * 1)) by (intros; ring).
    rewrite (sum_delta n (fun _ => 1) (unit G) (unit_below G HG)); field; lra.
Qed.

Lemma equal_contrast : forall f y, below G y ->
  contrast G equal_weights f y = INR n / (INR n - 1) * (f y - sum n f / INR n).
Proof.
  intros f y Hy; pose proof order_above_one as P; unfold contrast, equal_weights.
  assert (E : sum n (fun d => f (op G (inv G d) y)) = sum n f).
  { apply sum_reindex with (p := fun d => op G (inv G d) y) (q := fun c => op G y (inv G c)).
    - intros; apply (op_below G HG); [apply inv_below|]; assumption.
    - intros; apply (op_below G HG); [|apply inv_below]; assumption.
    - intros d Hd; transitivity (op G (op G d (op G (inv G d) y)) (inv G (op G (inv G d) y))).
      + f_equal; symmetry; apply cancel_inv; assumption.
      + apply (op_cancel_inv G HG); [assumption|].
        apply (op_below G HG); [apply inv_below|]; assumption.
    - intros c Hc.
      assert (below G (inv G c)) by (apply inv_below; assumption).
      assert (below G (op G y (inv G c))) by (apply op_below; assumption).
      transitivity (op G (inv G (op G y (inv G c))) (op G (op G y (inv G c)) c)).
      + f_equal; symmetry; apply op_inv_cancel; assumption.
      + apply inv_cancel; assumption. }
  rewrite (sum_ext n _ (fun d => / (INR n - 1) * (f (op G (inv G d) y)
    - delta d (unit G) * f (op G (inv G d) y)))) by (intros; field; lra).
  rewrite sum_scal, sum_minus, E.
  rewrite (sum_delta n (fun d => f (op G (inv G d) y)) (unit G) (unit_below G HG)).
  assert (U : op G (inv G (unit G)) y = y).
  { rewrite <- (unit_right G HG (inv G (unit G))), (inv_left G HG)
      by (try apply inv_below; try apply unit_below; assumption).
    apply unit_left; assumption. }
  rewrite U; field; lra.
Qed.

Lemma equal_contrast_square : forall f,
  square n (contrast G equal_weights f) <= (INR n / (INR n - 1)) ^ 2 * square n f.
Proof.
  intro f; pose proof order_above_one as P; set (m := sum n f / INR n).
  apply Rle_trans with ((INR n / (INR n - 1)) ^ 2 * sum n (fun y => f y ^ 2 - 2 * m * f y + m ^ 2)).
  - unfold square; rewrite <- sum_scal; right; apply sum_ext; intros y Hy.
    rewrite equal_contrast by assumption; fold m; ring.
  - apply Rmult_le_compat_l; [apply pow2_ge_0|].
    rewrite sum_plus, sum_minus, sum_scal, sum_const; fold (square n f).
    replace (square n f - 2 * m * sum n f + INR n * m ^ 2)
      with (square n f - INR n * m ^ 2) by (unfold m; field; lra).
    pose proof (Rmult_le_pos (INR n) (m ^ 2) (pos_INR n) (pow2_ge_0 m)); lra.
Qed.

Lemma triple_square : forall f g h,
  triple G f g h ^ 2 <= INR n * (square n f * square n g * square n h).
Proof.
  intros f g h.
  set (r := fun a => sum n (fun b => g b * h (op G a b))).
  replace (triple G f g h) with (inner n f r).
  2: { unfold inner, triple, r; apply sum_ext; intros a _; rewrite <- sum_scal.
       apply sum_ext; intros; ring. }
  apply Rle_trans with (1 := cauchy_schwarz n f r).
  replace (INR n * (square n f * square n g * square n h))
    with (square n f * (INR n * (square n g * square n h))) by ring.
  apply Rmult_le_compat_l; [apply square_nonneg|].
  unfold square at 1; rewrite <- sum_const; apply sum_le; intros a Ha.
  apply Rle_trans with (1 := cauchy_schwarz n g (fun b => h (op G a b))).
  right; f_equal; exact (sum_left G HG a (fun x => h x ^ 2) Ha).
Qed.

Lemma equal_weights_neuron : forall o,
  triple G (u o) (v o) (contrast G equal_weights (w o))
    <= factor (INR n / (INR n - 1)) * norm (group_table G) o ^ 3.
Proof.
  intro o; pose proof order_above_one as P; set (K := INR n / (INR n - 1)).
  assert (HK : 0 <= K) by (apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat]; lra).
  apply neuron_from_square; [exact HK|].
  apply Rle_trans with (1 := triple_square _ _ _).
  replace (K ^ 2 * INR n * (square n (u o) * square n (v o) * square n (w o)))
    with (INR n * (square n (u o) * square n (v o) * (K ^ 2 * square n (w o)))) by ring.
  apply Rmult_le_compat_l; [lra|].
  apply Rmult_le_compat_l; [|apply equal_contrast_square].
  apply Rmult_le_pos; apply square_nonneg.
Qed.

End Bound.

(** The bound for all finite groups. *)
Theorem every_group : forall G, is_group G -> (2 <= order G)%nat ->
  forall net g, normalized_margin_at_least (group_table G) g net ->
  g <= constant G * (INR (order G) / (INR (order G) - 1)).
Proof.
  intros G HG Hn; apply normalized_from_neurons with (tau := equal_weights G).
  - exact HG.
  - exact (equal_weights_wrong G HG Hn).
  - exact (equal_weights_neuron G HG Hn).
Qed.
