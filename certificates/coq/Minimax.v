(** The minimax theorem for finite games, to any accuracy.

    The row player draws rows in proportion to the positive parts of their
    regrets, the column player answers best.  The mean of the regrets under
    these masses is 0, so that the sum of the squares of their positive parts
    grows by a bounded amount each round: after t rounds no regret exceeds
    B sqrt (m t), and the columns that were answered, together with the best of
    the masses that were used, are optimal up to B sqrt (m / t). *)

From Coq Require Import Reals Lra Lia Arith ZArith.
From Lemmata Require Import Statement Sums EveryGroup.
Open Scope R_scope.

(** A probability on the numbers below n. *)
Definition probability (n : nat) (p : nat -> R) : Prop :=
  (forall i, (i < n)%nat -> 0 <= p i) /\ sum n p = 1.

Lemma least_index : forall n (f : nat -> R), (1 <= n)%nat ->
  exists k, (k < n)%nat /\ forall i, (i < n)%nat -> f k <= f i.
Proof.
  induction n as [|n IH]; intros f Hn; [lia|].
  destruct (Nat.eq_dec n 0) as [->|N].
  - exists 0%nat; split; [lia|]; intros i Hi; replace i with 0%nat by lia; lra.
  - destruct (IH f ltac:(lia)) as [k [Hk L]].
    destruct (Rle_or_lt (f k) (f n)) as [A|A].
    + exists k; split; [lia|]; intros i Hi; destruct (Nat.eq_dec i n) as [->|]; [exact A|apply L; lia].
    + exists n; split; [lia|]; intros i Hi; destruct (Nat.eq_dec i n) as [->|]; [lra|].
      apply Rle_trans with (f k); [lra|apply L; lia].
Qed.

Section Game.
Variables m n : nat.
Hypothesis Hm : (1 <= m)%nat.
Hypothesis Hn : (1 <= n)%nat.
Variable M : nat -> nat -> R.
Variable B : R.
Hypothesis HB : forall s g, (s < m)%nat -> (g < n)%nat -> 0 <= M s g <= B.

Definition positive (x : R) : R := Rmax x 0.

Lemma positive_nonneg : forall x, 0 <= positive x.
Proof. intro x; apply Rmax_r. Qed.

Definition mean_payoff (p : nat -> R) (g : nat) : R := sum m (fun s => p s * M s g).

(** Masses in proportion to the positive parts of regrets. *)
Lemma masses_of_regrets : forall r : nat -> R, exists p, probability m p /\
  forall x, sum m (fun s => positive (r s) * (x s - sum m (fun s' => p s' * x s'))) = 0.
Proof.
  intro r; set (T := sum m (fun s => positive (r s))).
  assert (P : 0 <= T) by (apply sum_nonneg; intros; apply positive_nonneg).
  destruct (Req_dec T 0) as [Z|Z].
  - exists (fun s => delta s 0); split; [split|].
    + intros s _; unfold delta; destruct (Nat.eqb s 0); lra.
    + rewrite (sum_ext m _ (fun s => delta s 0 * 1)) by (intros; ring).
      apply (sum_delta m (fun _ => 1)); lia.
    + intro x; apply sum_zero; intros s Hs.
      pose proof (sum_term_le m (fun s => positive (r s)) s ltac:(intros; apply positive_nonneg) Hs) as L.
      cbv beta in L; fold T in L; pose proof (positive_nonneg (r s)).
      replace (positive (r s)) with 0 by lra; ring.
  - exists (fun s => positive (r s) / T); split; [split|].
    + intros s _; apply Rmult_le_pos; [apply positive_nonneg|left; apply Rinv_0_lt_compat; lra].
    + unfold Rdiv; rewrite sum_scal_r; fold T; field; exact Z.
    + intro x.
      assert (E : sum m (fun s' => positive (r s') / T * x s') = sum m (fun s => positive (r s) * x s) / T).
      { unfold Rdiv; rewrite <- sum_scal_r; apply sum_ext; intros; ring. }
      rewrite E; rewrite (sum_ext m _ (fun s => positive (r s) * x s
        - positive (r s) * (sum m (fun s => positive (r s) * x s) / T))) by (intros; ring).
      rewrite sum_minus, sum_scal_r; fold T; field; exact Z.
Qed.

Lemma positive_step : forall r x, positive (r + x) ^ 2 <= positive r ^ 2 + 2 * (positive r * x) + x ^ 2.
Proof.
  intros r x; replace (positive r ^ 2 + 2 * (positive r * x) + x ^ 2) with ((positive r + x) ^ 2) by ring.
  unfold positive; destruct (Rle_or_lt (r + x) 0) as [A|A].
  - rewrite Rmax_right by exact A; replace (0 ^ 2) with 0 by ring; apply pow2_ge_0.
  - rewrite Rmax_left by lra; apply pow_incr; split; [lra|].
    pose proof (Rmax_l r 0); lra.
Qed.

(** After t rounds: counts of columns, regrets, and masses that did at least as well as the mean. *)
Lemma rounds : forall t, exists (counts r p : nat -> R) (total : R),
  (forall g, (g < n)%nat -> 0 <= counts g) /\ sum n counts = INR t /\
  (forall s, (s < m)%nat -> sum n (fun g => counts g * M s g) = total + r s) /\
  sum m (fun s => positive (r s) ^ 2) <= INR t * (INR m * B ^ 2) /\
  probability m p /\
  (forall g, (g < n)%nat -> total <= INR t * mean_payoff p g).
Proof.
  induction t as [|t [counts [r [p [total [C1 [C2 [C3 [C4 [C5 C6]]]]]]]]]].
  - destruct (masses_of_regrets (fun _ => 0)) as [p [Pp _]].
    exists (fun _ => 0), (fun _ => 0), p, 0; repeat split; simpl; try (intros; lra).
    + apply sum_zero; reflexivity.
    + intros; rewrite sum_zero; [ring|intros; ring].
    + rewrite sum_zero; [lra|]; intros; unfold positive; rewrite Rmax_left by lra; ring.
    + apply Pp.
    + apply Pp.
  - destruct (masses_of_regrets r) as [q [Pq Z]].
    destruct (least_index n (mean_payoff q) Hn) as [k [Hk L]].
    set (v := mean_payoff q k) in *.
    assert (V : 0 <= v <= B).
    { destruct Pq as [Q1 Q2]; unfold v, mean_payoff; split.
      - apply sum_nonneg; intros s Hs; apply Rmult_le_pos; [auto|apply HB; assumption].
      - rewrite <- (Rmult_1_l B), <- Q2, <- sum_scal_r; apply sum_le; intros s Hs.
        apply Rmult_le_compat_l; [auto|apply HB; assumption]. }
    assert (Best : exists p', probability m p' /\
      forall g, (g < n)%nat -> total + v <= INR (S t) * mean_payoff p' g).
    { destruct (least_index n (mean_payoff p) Hn) as [l [Hl Ll]].
      pose proof (C6 l Hl) as C; rewrite S_INR; pose proof (pos_INR t).
      destruct (Rle_or_lt v (mean_payoff p l)) as [A|A].
      - exists p; split; [exact C5|]; intros g Hg.
        assert (mean_payoff p l <= mean_payoff p g) by (apply Ll; exact Hg).
        assert (INR t * mean_payoff p l <= INR t * mean_payoff p g) by (apply Rmult_le_compat_l; assumption).
        lra.
      - exists q; split; [exact Pq|]; intros g Hg; pose proof (L g Hg).
        assert (INR t * mean_payoff p l <= INR t * v) by (apply Rmult_le_compat_l; lra).
        assert (INR t * v <= INR t * mean_payoff q g) by (apply Rmult_le_compat_l; assumption).
        lra. }
    destruct Best as [p' [Pp' Best]].
    exists (fun g => counts g + delta g k), (fun s => r s + (M s k - v)), p', (total + v).
    split; [|split; [|split; [|split; [|split]]]].
    + intros g Hg; pose proof (C1 g Hg); unfold delta; destruct (Nat.eqb g k); lra.
    + rewrite sum_plus, C2, S_INR; f_equal.
      rewrite (sum_ext n _ (fun g => delta g k * 1)) by (intros; ring).
      apply (sum_delta n (fun _ => 1)); exact Hk.
    + intros s Hs.
      rewrite (sum_ext n _ (fun g => counts g * M s g + delta g k * M s g)) by (intros; ring).
      rewrite sum_plus, C3, (sum_delta n (M s) k Hk) by exact Hs; ring.
    + apply Rle_trans with (sum m (fun s => positive (r s) ^ 2
        + 2 * (positive (r s) * (M s k - v)) + (M s k - v) ^ 2)).
      * apply sum_le; intros; apply positive_step.
      * rewrite !sum_plus, sum_scal.
        replace (sum m (fun s => positive (r s) * (M s k - v))) with 0
          by (symmetry; exact (Z (fun s => M s k))).
        assert (D : sum m (fun s => (M s k - v) ^ 2) <= INR m * B ^ 2).
        { rewrite <- sum_const; apply sum_le; intros s Hs; pose proof (HB s k Hs Hk).
          rewrite <- (pow2_abs (M s k - v)); apply pow_incr; split; [apply Rabs_pos|].
          apply Rabs_le; lra. }
        rewrite S_INR; lra.
    + exact Pp'.
    + exact Best.
Qed.

Theorem minimax : forall gap, 0 < gap -> exists p q, probability m p /\ probability n q /\
  forall s g, (s < m)%nat -> (g < n)%nat ->
  sum n (fun g' => q g' * M s g') <= mean_payoff p g + gap.
Proof.
  intros gap Hgap.
  set (need := INR m * B ^ 2 / gap ^ 2).
  assert (H0 : exists t0, need <= INR t0).
  { exists (Z.to_nat (up need)); destruct (archimed need) as [A _].
    assert (N : 0 <= need).
    { unfold need; apply Rmult_le_pos; [apply Rmult_le_pos; [apply pos_INR|apply pow2_ge_0]|].
      left; apply Rinv_0_lt_compat, pow_lt; exact Hgap. }
    assert (0 <= up need)%Z by (apply le_IZR; lra).
    rewrite INR_IZR_INZ, Z2Nat.id by assumption; lra. }
  destruct H0 as [t0 H0].
  set (t := S t0); assert (Ht : need <= INR t) by (unfold t; rewrite S_INR; lra).
  assert (Pt : 0 < INR t) by (apply lt_0_INR; unfold t; lia).
  destruct (rounds t) as [counts [r [p [total [C1 [C2 [C3 [C4 [C5 C6]]]]]]]]].
  exists p, (fun g => counts g / INR t); split; [exact C5|split; [split|]].
  - intros g Hg; apply Rmult_le_pos; [apply C1; exact Hg|left; apply Rinv_0_lt_compat; exact Pt].
  - unfold Rdiv; rewrite sum_scal_r, C2; field; lra.
  - intros s g Hs Hg.
    assert (E : sum n (fun g' => counts g' / INR t * M s g') = (total + r s) / INR t).
    { rewrite <- (C3 s Hs); unfold Rdiv; rewrite <- sum_scal_r; apply sum_ext; intros; ring. }
    rewrite E; pose proof (C6 g Hg) as C.
    assert (R1 : r s <= INR t * gap).
    { apply Rle_trans with (positive (r s)); [apply Rmax_l|].
      apply le_of_squares; [apply Rmult_le_pos; lra|].
      apply Rle_trans with (sum m (fun s => positive (r s) ^ 2)).
      - apply (sum_term_le m (fun s => positive (r s) ^ 2)); [intros; apply pow2_ge_0|exact Hs].
      - apply Rle_trans with (1 := C4).
        replace ((INR t * gap) ^ 2) with (INR t * (INR t * gap ^ 2)) by ring.
        apply Rmult_le_compat_l; [lra|].
        assert (G2 : 0 < gap ^ 2) by (apply pow_lt; exact Hgap).
        apply Rmult_le_reg_r with (/ gap ^ 2); [apply Rinv_0_lt_compat; exact G2|].
        replace (INR t * gap ^ 2 * / gap ^ 2) with (INR t) by (field; lra).
        exact Ht. }
    apply Rmult_le_reg_r with (INR t); [exact Pt|].
    replace ((total + r s) / INR t * INR t) with (total + r s) by (field; lra); lra.
Qed.

End Game.
