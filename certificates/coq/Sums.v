(** Finite sums of real numbers.

    [sum n f] is f 0 + ... + f (n-1).  Besides linearity this file has what
    the theorems on groups use: exchange of two sums, sums against an
    indicator, reindexing by a permutation, and the inequality of Cauchy and
    Schwarz, which follows from Lagrange's identity. *)

From Coq Require Import Reals Lra Lia Arith.
From Lemmata Require Import Statement.
Local Open Scope R_scope.

Lemma sum_ext : forall n f g,
  (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof.
  induction n as [|n IH]; intros f g H; simpl; [reflexivity|].
  rewrite (IH f g), (H n); [reflexivity | lia | intros; apply H; lia].
Qed.

Lemma sum_plus : forall n f g,
  sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n as [|n IH]; intros f g; simpl; [ring|rewrite IH; ring]. Qed.

Lemma sum_minus : forall n f g,
  sum n (fun i => f i - g i) = sum n f - sum n g.
Proof. induction n as [|n IH]; intros f g; simpl; [ring|rewrite IH; ring]. Qed.

Lemma sum_scal : forall n c f, sum n (fun i => c * f i) = c * sum n f.
Proof. induction n as [|n IH]; intros c f; simpl; [ring|rewrite IH; ring]. Qed.

Lemma sum_scal_r : forall n c f, sum n (fun i => f i * c) = sum n f * c.
Proof. induction n as [|n IH]; intros c f; simpl; [ring|rewrite IH; ring]. Qed.

Lemma sum_const : forall n c, sum n (fun _ => c) = INR n * c.
Proof.
  induction n as [|n IH]; intros c; [simpl; ring|].
  rewrite S_INR; simpl; rewrite IH; ring.
Qed.

Lemma sum_zero : forall n f, (forall i, (i < n)%nat -> f i = 0) -> sum n f = 0.
Proof.
  intros n f H; rewrite (sum_ext n f (fun _ => 0) H), sum_const; ring.
Qed.

Lemma sum_nonneg : forall n f,
  (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= sum n f.
Proof.
  induction n as [|n IH]; intros f H; simpl; [lra|].
  assert (0 <= sum n f) by (apply IH; intros; apply H; lia).
  assert (0 <= f n) by (apply H; lia); lra.
Qed.

Lemma sum_le : forall n f g,
  (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n as [|n IH]; intros f g H; simpl; [lra|].
  assert (sum n f <= sum n g) by (apply IH; intros; apply H; lia).
  assert (f n <= g n) by (apply H; lia); lra.
Qed.

Lemma sum_term_le : forall n f k,
  (forall i, (i < n)%nat -> 0 <= f i) -> (k < n)%nat -> f k <= sum n f.
Proof.
  induction n as [|n IH]; intros f k H Hk; [lia|]; simpl.
  assert (0 <= sum n f) by (apply sum_nonneg; intros; apply H; lia).
  assert (0 <= f n) by (apply H; lia).
  destruct (Nat.eq_dec k n) as [->|]; [lra|].
  assert (f k <= sum n f) by (apply IH; [intros; apply H|]; lia); lra.
Qed.

Lemma sum_swap : forall n m f,
  sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n as [|n IH]; intros m f; simpl.
  - symmetry; apply sum_zero; reflexivity.
  - rewrite IH, sum_plus; reflexivity.
Qed.

Lemma sum_mult : forall n m f g,
  sum n f * sum m g = sum n (fun i => sum m (fun j => f i * g j)).
Proof.
  intros n m f g; rewrite <- sum_scal_r; apply sum_ext; intros i _.
  rewrite sum_scal; reflexivity.
Qed.

Lemma sum_first : forall n f, sum (S n) f = f O + sum n (fun i => f (S i)).
Proof.
  induction n as [|n IH]; intro f; [simpl; ring|].
  change (sum (S (S n)) f) with (sum (S n) f + f (S n)); rewrite IH; simpl; ring.
Qed.

(** ** Indicators and permutations *)

Definition delta (i j : nat) : R := if Nat.eqb i j then 1 else 0.

Lemma delta_same : forall i, delta i i = 1.
Proof. intro i; unfold delta; rewrite Nat.eqb_refl; reflexivity. Qed.

Lemma delta_other : forall i j, i <> j -> delta i j = 0.
Proof.
  intros i j H; unfold delta; destruct (Nat.eqb_spec i j); [contradiction|reflexivity].
Qed.

Lemma delta_sym : forall i j, delta i j = delta j i.
Proof. intros i j; unfold delta; rewrite Nat.eqb_sym; reflexivity. Qed.

Lemma sum_delta : forall n f k, (k < n)%nat -> sum n (fun i => delta i k * f i) = f k.
Proof.
  induction n as [|n IH]; intros f k H; [lia|]; simpl.
  destruct (Nat.eq_dec k n) as [->|N].
  - rewrite sum_zero, delta_same; [ring|].
    intros i Hi; rewrite delta_other by lia; ring.
  - rewrite IH, (delta_other n k) by lia; ring.
Qed.

(** p permutes the numbers below n, with inverse q. *)
Lemma sum_reindex : forall n p q f,
  (forall i, (i < n)%nat -> (p i < n)%nat) ->
  (forall j, (j < n)%nat -> (q j < n)%nat) ->
  (forall i, (i < n)%nat -> q (p i) = i) ->
  (forall j, (j < n)%nat -> p (q j) = j) ->
  sum n (fun i => f (p i)) = sum n f.
Proof.
  intros n p q f Hp Hq Hqp Hpq.
  transitivity (sum n (fun i => sum n (fun j => delta j (p i) * f j))).
  { apply sum_ext; intros i Hi; rewrite sum_delta; auto. }
  rewrite sum_swap; apply sum_ext; intros j Hj.
  transitivity (sum n (fun i => delta i (q j) * f j)).
  - apply sum_ext; intros i Hi; f_equal; unfold delta.
    destruct (Nat.eqb_spec j (p i)) as [A|A], (Nat.eqb_spec i (q j)) as [B|B];
      try reflexivity; exfalso.
    + apply B; rewrite A, Hqp; auto.
    + apply A; rewrite B, Hpq; auto.
  - exact (sum_delta n (fun _ => f j) (q j) (Hq j Hj)).
Qed.

(** ** The inequality of Cauchy and Schwarz *)

Definition inner (n : nat) (f g : nat -> R) : R := sum n (fun i => f i * g i).
Definition square (n : nat) (f : nat -> R) : R := sum n (fun i => f i ^ 2).

Lemma square_nonneg : forall n f, 0 <= square n f.
Proof. intros n f; apply sum_nonneg; intros; apply pow2_ge_0. Qed.

Lemma lagrange : forall n f g,
  sum n (fun i => sum n (fun j => (f i * g j - f j * g i) ^ 2))
  = 2 * (square n f * square n g - inner n f g ^ 2).
Proof.
  intros n f g.
  replace (2 * (square n f * square n g - inner n f g ^ 2)) with
    (square n f * square n g - 2 * (inner n f g * inner n f g)
     + square n g * square n f) by ring.
  unfold square, inner; rewrite !sum_mult, <- sum_scal, <- sum_minus, <- sum_plus.
  apply sum_ext; intros i _.
  rewrite <- sum_scal, <- sum_minus, <- sum_plus; apply sum_ext; intros j _; ring.
Qed.

Lemma cauchy_schwarz : forall n f g, inner n f g ^ 2 <= square n f * square n g.
Proof.
  intros n f g.
  assert (0 <= sum n (fun i => sum n (fun j => (f i * g j - f j * g i) ^ 2))).
  { apply sum_nonneg; intros; apply sum_nonneg; intros; apply pow2_ge_0. }
  rewrite lagrange in H; lra.
Qed.

(** The same for sums of terms that are bounded in that way themselves. *)
Lemma cauchy_schwarz_sums : forall n b p q,
  (forall i, (i < n)%nat -> 0 <= p i) -> (forall i, (i < n)%nat -> 0 <= q i) ->
  (forall i, (i < n)%nat -> b i ^ 2 <= p i * q i) ->
  sum n b ^ 2 <= sum n p * sum n q.
Proof.
  intros n b p q Hp Hq Hb.
  set (f := fun i => sqrt (p i)); set (g := fun i => sqrt (q i)).
  assert (B : forall i, (i < n)%nat -> Rabs (b i) <= f i * g i).
  { intros i Hi; unfold f, g; rewrite <- sqrt_mult by auto.
    rewrite <- sqrt_Rsqr_abs; apply sqrt_le_1_alt; unfold Rsqr.
    pose proof (Hb i Hi); lra. }
  assert (A : Rabs (sum n b) <= inner n f g).
  { unfold inner; apply Rabs_le; split.
    - replace (- sum n (fun i => f i * g i)) with (sum n (fun i => -1 * (f i * g i)))
        by (rewrite sum_scal; ring).
      apply sum_le; intros i Hi; pose proof (B i Hi).
      pose proof (Rle_abs (- b i)); rewrite Rabs_Ropp in *; lra.
    - apply sum_le; intros i Hi; pose proof (B i Hi); pose proof (Rle_abs (b i)); lra. }
  assert (P : square n f = sum n p).
  { apply sum_ext; intros; apply pow2_sqrt; auto. }
  assert (Q : square n g = sum n q).
  { apply sum_ext; intros; apply pow2_sqrt; auto. }
  rewrite <- P, <- Q; pose proof (cauchy_schwarz n f g).
  assert (sum n b ^ 2 <= inner n f g ^ 2); [|lra].
  rewrite <- (pow2_abs (sum n b)); apply pow_incr; split; [apply Rabs_pos|exact A].
Qed.

(** Bessel's inequality for vectors y_0, ..., y_(m-1) of dimension d that are
    pairwise orthogonal and all of the same length sqrt s. *)
Lemma bessel : forall d m (u : nat -> R) (y : nat -> nat -> R) s,
  0 <= s ->
  (forall k l, (k < m)%nat -> (l < m)%nat -> inner d (y k) (y l) = s * delta k l) ->
  sum m (fun k => inner d u (y k) ^ 2) <= square d u * s.
Proof.
  intros d m u y s Hs Hy.
  set (t := fun k => inner d u (y k)).
  set (z := fun a => sum m (fun k => t k * y k a)).
  change (square m t <= square d u * s).
  assert (Huz : inner d u z = square m t).
  { unfold inner, z, square.
    transitivity (sum d (fun a => sum m (fun k => t k * (u a * y k a)))).
    { apply sum_ext; intros a _; rewrite <- sum_scal; apply sum_ext; intros; ring. }
    rewrite sum_swap; apply sum_ext; intros k _.
    rewrite sum_scal; unfold t, inner; ring. }
  assert (Hzz : square d z = s * square m t).
  { unfold square at 1, z.
    transitivity (sum d (fun a => sum m (fun k => sum m (fun l =>
      (t k * t l) * (y k a * y l a))))).
    { apply sum_ext; intros a _.
      replace (sum m (fun k => t k * y k a) ^ 2)
        with (sum m (fun k => t k * y k a) * sum m (fun k => t k * y k a)) by ring.
      rewrite sum_mult; apply sum_ext; intros; apply sum_ext; intros; ring. }
    rewrite sum_swap; unfold square; rewrite <- sum_scal; apply sum_ext; intros k Hk.
    rewrite sum_swap.
    transitivity (sum m (fun l => delta l k * (s * (t k * t l)))).
    { apply sum_ext; intros l Hl; rewrite sum_scal.
      change (sum d (fun a => y k a * y l a)) with (inner d (y k) (y l)).
      rewrite Hy, (delta_sym k l) by assumption; ring. }
    rewrite (sum_delta m (fun l => s * (t k * t l)) k Hk); ring. }
  pose proof (cauchy_schwarz d u z) as C; rewrite Huz, Hzz in C.
  pose proof (square_nonneg m t) as [P|P]; [|rewrite <- P; apply Rmult_le_pos].
  - apply Rmult_le_reg_r with (square m t); [exact P|]; lra.
  - apply square_nonneg.
  - exact Hs.
Qed.
