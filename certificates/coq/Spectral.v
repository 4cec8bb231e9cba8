(** The spectral theorem for symmetric real matrices.

    [spectral]: a symmetric matrix A of dimension d has d orthonormal
    eigenvectors, with eigenvalues that do not increase.  Neither compactness
    nor an axiom of the excluded middle is used: the largest eigenvalue is the supremum mu
    of the quadratic form on unit vectors ([completeness] of the reals);
    mu - A is nonnegative, and elimination shows that a nonnegative form either
    vanishes at a vector that is not 0 or is at least c |x|^2 for some c > 0
    ([definite_or_null]); the latter would make mu - c a bound.  The next
    eigenvectors are those of A less a large multiple of the projection to the
    ones that are there already. *)

From Coq Require Import Reals Lra Lia Arith.
From Lemmata Require Import Statement Sums Convolution.
Local Open Scope R_scope.

Definition symmetric (d : nat) (A : nat -> nat -> R) : Prop :=
  forall i j, (i < d)%nat -> (j < d)%nat -> A i j = A j i.

Definition quadratic (d : nat) (A : nat -> nat -> R) (x : nat -> R) : R := inner d x (act d A x).

Definition orthonormal (d k : nat) (X : nat -> nat -> R) : Prop :=
  forall i j, (i < k)%nat -> (j < k)%nat -> inner d (X i) (X j) = delta i j.

(** ** Sums *)

Lemma inner_sym : forall d x y, inner d x y = inner d y x.
Proof. intros; unfold inner; apply sum_ext; intros; ring. Qed.

Lemma inner_self : forall d x, inner d x x = square d x.
Proof. intros; unfold inner, square; apply sum_ext; intros; ring. Qed.

Lemma inner_ext : forall d x y z, (forall i, (i < d)%nat -> y i = z i) -> inner d x y = inner d x z.
Proof. intros d x y z H; unfold inner; apply sum_ext; intros; rewrite H by assumption; reflexivity. Qed.

Lemma inner_plus : forall d x y z, inner d x (fun i => y i + z i) = inner d x y + inner d x z.
Proof. intros; unfold inner; rewrite <- sum_plus; apply sum_ext; intros; ring. Qed.

Lemma inner_scal : forall d c x y, inner d x (fun i => c * y i) = c * inner d x y.
Proof. intros; unfold inner; rewrite <- sum_scal; apply sum_ext; intros; ring. Qed.

Lemma inner_combination : forall d k x c Y,
  inner d x (fun a => sum k (fun i => c i * Y i a)) = sum k (fun i => c i * inner d x (Y i)).
Proof.
  intros d k x c Y; unfold inner.
  rewrite (sum_ext d _ (fun a => sum k (fun i => c i * (x a * Y i a))))
    by (intros; rewrite <- sum_scal; apply sum_ext; intros; ring).
  rewrite sum_swap; apply sum_ext; intros; rewrite sum_scal; reflexivity.
Qed.

Lemma inner_delta : forall d x a, (a < d)%nat -> inner d x (fun b => delta b a) = x a.
Proof.
  intros d x a Ha; rewrite inner_sym; exact (sum_delta d x a Ha).
Qed.

Lemma act_ext : forall d A x y i, (forall j, (j < d)%nat -> x j = y j) -> act d A x i = act d A y i.
Proof. intros; apply inner_ext; assumption. Qed.

Lemma act_scal : forall d A c x i, act d A (fun j => c * x j) i = c * act d A x i.
Proof. intros; apply inner_scal. Qed.

Lemma act_combination : forall d A k c Y a,
  act d A (fun b => sum k (fun i => c i * Y i b)) a = sum k (fun i => c i * act d A (Y i) a).
Proof. intros; apply inner_combination. Qed.

Lemma act_transpose : forall d M x y,
  inner d x (act d (fun i j => M j i) y) = inner d (act d M x) y.
Proof.
  intros d M x y; unfold inner, act.
  rewrite (sum_ext d _ (fun i => sum d (fun j => x i * (M j i * y j))))
    by (intros; rewrite <- sum_scal; reflexivity).
  rewrite sum_swap; apply sum_ext; intros j _; rewrite <- sum_scal_r; apply sum_ext; intros; ring.
Qed.

Lemma act_symmetric : forall d A x y, symmetric d A -> inner d x (act d A y) = inner d (act d A x) y.
Proof.
  intros d A x y HA; rewrite <- act_transpose; apply inner_ext; intros i Hi; unfold act.
  apply sum_ext; intros j Hj; rewrite (HA i j Hi Hj); reflexivity.
Qed.

Lemma quadratic_scal : forall d A c x, quadratic d A (fun i => c * x i) = c ^ 2 * quadratic d A x.
Proof.
  intros d A c x; unfold quadratic.
  rewrite (inner_ext d _ _ (fun i => c * act d A x i)) by (intros; apply act_scal).
  rewrite inner_scal, inner_sym, inner_scal, inner_sym; ring.
Qed.

Lemma square_scal : forall d c x, square d (fun i => c * x i) = c ^ 2 * square d x.
Proof. intros; unfold square; rewrite <- sum_scal; apply sum_ext; intros; ring. Qed.

Lemma square_null : forall d x, square d x = 0 -> forall i, (i < d)%nat -> x i = 0.
Proof.
  intros d x H i Hi.
  pose proof (sum_term_le d (fun i => x i ^ 2) i (fun i _ => pow2_ge_0 (x i)) Hi) as L; cbv beta in L.
  fold (square d x) in L; rewrite H in L; apply Rsqr_0_uniq.
  pose proof (pow2_ge_0 (x i)); unfold Rsqr; lra.
Qed.

Lemma square_unit : forall d a, (a < d)%nat -> square d (fun i => delta i a) = 1.
Proof. intros d a Ha; rewrite <- inner_self, inner_delta by assumption; apply delta_same. Qed.

(** A vector that is not 0 has a multiple of length 1. *)
Lemma normalise : forall d x, 0 < square d x ->
  exists c, c ^ 2 * square d x = 1 /\ square d (fun i => c * x i) = 1.
Proof.
  intros d x H; exists (/ sqrt (square d x)).
  assert (E : (/ sqrt (square d x)) ^ 2 * square d x = 1).
  { rewrite pow_inv, pow2_sqrt by lra; field; lra. }
  split; [exact E|rewrite square_scal; exact E].
Qed.

Lemma positive_term : forall n f, 0 < sum n f -> exists i, (i < n)%nat /\ 0 < f i.
Proof.
  induction n as [|n IH]; intros f H; simpl in H; [lra|].
  destruct (Rlt_dec 0 (f n)) as [L|L]; [exists n; split; [lia|exact L]|].
  destruct (IH f) as [i [Hi Pi]]; [lra|exists i; split; [lia|exact Pi]].
Qed.

(** ** Orthonormal vectors *)

Section Orthonormal.
Variables d k : nat.
Variable X : nat -> nat -> R.
Hypothesis HX : orthonormal d k X.

Definition residual (x : nat -> R) (a : nat) : R := x a - sum k (fun i => inner d (X i) x * X i a).

Lemma inner_residual : forall y x,
  inner d y (residual x) = inner d y x - sum k (fun i => inner d (X i) x * inner d y (X i)).
Proof.
  intros y x; rewrite <- inner_combination; unfold inner at 1 2 3; rewrite <- sum_minus.
  apply sum_ext; intros; unfold residual; ring.
Qed.

Lemma residual_orthogonal : forall x j, (j < k)%nat -> inner d (X j) (residual x) = 0.
Proof.
  intros x j Hj; rewrite inner_residual.
  rewrite (sum_ext k _ (fun i => delta i j * inner d (X i) x)).
  - rewrite (sum_delta k (fun i => inner d (X i) x) j Hj); ring.
  - intros i Hi; rewrite HX, (delta_sym j i) by assumption; ring.
Qed.

Lemma residual_square : forall x,
  square d (residual x) = square d x - sum k (fun i => inner d (X i) x ^ 2).
Proof.
  intro x.
  assert (E : inner d (residual x) (residual x) = inner d x (residual x)).
  { rewrite (inner_residual (residual x)), sum_zero.
    - rewrite inner_sym; ring.
    - intros i Hi; rewrite (inner_sym d (residual x) (X i)), residual_orthogonal by assumption; ring. }
  rewrite <- inner_self, E, inner_residual, inner_self; f_equal.
  apply sum_ext; intros; rewrite (inner_sym d x (X i)); ring.
Qed.

Lemma entry_residual : forall a, (a < d)%nat ->
  square d (residual (fun b => delta b a)) = 1 - sum k (fun i => X i a ^ 2).
Proof.
  intros a Ha; rewrite residual_square, square_unit by assumption; f_equal.
  apply sum_ext; intros i _; rewrite inner_delta by assumption; reflexivity.
Qed.

Lemma all_residuals : sum d (fun a => 1 - sum k (fun i => X i a ^ 2)) = INR d - INR k.
Proof.
  rewrite sum_minus, sum_const, sum_swap, (sum_ext k _ (fun _ => 1)).
  - rewrite sum_const; ring.
  - intros i Hi; fold (square d (X i)); rewrite <- inner_self, HX, delta_same by assumption; reflexivity.
Qed.

(** Fewer than d of them leave room for another one. *)
Lemma another : (k < d)%nat -> exists z, square d z = 1 /\ forall i, (i < k)%nat -> inner d (X i) z = 0.
Proof.
  intro L; apply lt_INR in L.
  destruct (positive_term d (fun a => 1 - sum k (fun i => X i a ^ 2))) as [a [Ha P]].
  { rewrite all_residuals; lra. }
  rewrite <- entry_residual in P by assumption.
  destruct (normalise d _ P) as [c [_ E]].
  exists (fun b => c * residual (fun b => delta b a) b); split; [exact E|].
  intros i Hi; rewrite inner_scal, residual_orthogonal by assumption; ring.
Qed.

End Orthonormal.

(** d of them are a basis. *)
Lemma basis : forall d X, orthonormal d d X -> forall a b, (a < d)%nat -> (b < d)%nat ->
  sum d (fun i => X i a * X i b) = delta a b.
Proof.
  intros d X HX a b Ha Hb.
  pose proof (all_residuals d d X HX) as Z; rewrite Rminus_diag_eq in Z by reflexivity.
  set (r := fun a => residual d d X (fun b => delta b a)).
  assert (E : forall a, (a < d)%nat -> 1 - sum d (fun i => X i a ^ 2) = square d (r a)).
  { intros; unfold r; rewrite entry_residual by assumption; reflexivity. }
  rewrite (sum_ext d _ _ E) in Z.
  assert (Za : square d (r a) = 0).
  { pose proof (sum_term_le d (fun a => square d (r a)) a (fun a _ => square_nonneg d (r a)) Ha) as L.
    cbv beta in L; rewrite Z in L; pose proof (square_nonneg d (r a)); lra. }
  pose proof (square_null d _ Za b Hb) as Zb; unfold r, residual in Zb.
  rewrite (sum_ext d _ (fun i => X i a * X i b)) in Zb
    by (intros; rewrite inner_delta by assumption; reflexivity).
  rewrite delta_sym; lra.
Qed.

Lemma expand : forall d X x, orthonormal d d X -> forall a, (a < d)%nat ->
  x a = sum d (fun i => inner d (X i) x * X i a).
Proof.
  intros d X x HX a Ha; unfold inner.
  rewrite (sum_ext d _ (fun i => sum d (fun b => x b * (X i b * X i a))))
    by (intros; rewrite <- sum_scal_r; apply sum_ext; intros; ring).
  rewrite sum_swap, (sum_ext d _ (fun b => delta b a * x b)).
  - symmetry; apply (sum_delta d x a Ha).
  - intros b Hb; rewrite sum_scal, (basis d X HX) by assumption; ring.
Qed.

(** A matrix in another orthonormal basis. *)
Definition in_basis (d : nat) (X M : nat -> nat -> R) (i j : nat) : R := inner d (X i) (act d M (X j)).

Lemma in_basis_ext : forall d X M N i j,
  (forall a b, (a < d)%nat -> (b < d)%nat -> M a b = N a b) -> in_basis d X M i j = in_basis d X N i j.
Proof.
  intros d X M N i j H; apply inner_ext; intros a Ha; unfold act.
  apply sum_ext; intros; rewrite H by assumption; reflexivity.
Qed.

Lemma in_basis_identity : forall d X i j, orthonormal d d X -> (i < d)%nat -> (j < d)%nat ->
  in_basis d X delta i j = delta i j.
Proof.
  intros d X i j HX Hi Hj; rewrite <- HX by assumption; apply inner_ext; intros a Ha; unfold act.
  rewrite (sum_ext d _ (fun b => delta b a * X j b)) by (intros; rewrite delta_sym; reflexivity).
  apply sum_delta; exact Ha.
Qed.

Lemma in_basis_transpose : forall d X M i j, in_basis d X (fun a b => M b a) i j = in_basis d X M j i.
Proof. intros; unfold in_basis; rewrite act_transpose; apply inner_sym. Qed.

Lemma in_basis_times : forall d X M N i j, orthonormal d d X ->
  in_basis d X (times d M N) i j = times d (in_basis d X M) (in_basis d X N) i j.
Proof.
  intros d X M N i j HX; unfold in_basis at 1.
  rewrite (inner_ext d (X i) _ (fun p => sum d (fun k => in_basis d X N k j * act d M (X k) p))).
  - rewrite inner_combination; apply sum_ext; intros; apply Rmult_comm.
  - intros p _; rewrite <- act_combination, <- act_times; apply act_ext; intros; apply expand; assumption.
Qed.

Lemma in_basis_trace : forall d X M, orthonormal d d X ->
  sum d (fun i => in_basis d X M i i) = sum d (fun i => M i i).
Proof.
  intros d X M HX; unfold in_basis, inner, act.
  rewrite (sum_ext d _ (fun i => sum d (fun a => sum d (fun b => M a b * (X i a * X i b))))).
  2: { intros i _; apply sum_ext; intros a _; rewrite <- sum_scal; apply sum_ext; intros; ring. }
  rewrite sum_swap; apply sum_ext; intros a Ha; rewrite sum_swap.
  rewrite (sum_ext d _ (fun b => delta b a * M a b)).
  - apply (sum_delta d (fun b => M a b) a Ha).
  - intros b Hb; rewrite sum_scal, (basis d X HX), (delta_sym a) by assumption; ring.
Qed.

(** ** Nonnegative forms *)

Lemma quadratic_step : forall d B x, symmetric (S d) B ->
  quadratic (S d) B x = quadratic d B x + 2 * x d * inner d (fun i => B i d) x + B d d * x d ^ 2.
Proof.
  intros d B x HB; unfold quadratic; unfold inner at 1, act at 1; cbn [sum].
  rewrite (sum_ext d _ (fun i => x i * act d B x i + x d * (B i d * x i))) by (intros; unfold act; ring).
  rewrite sum_plus, sum_scal.
  rewrite (sum_ext d (fun j => B d j * x j) (fun j => B j d * x j))
    by (intros; rewrite (HB d i) by lia; reflexivity).
  unfold inner; ring.
Qed.

Lemma quadratic_ext : forall d B x y, (forall i, (i < d)%nat -> x i = y i) -> quadratic d B x = quadratic d B y.
Proof.
  intros d B x y H; unfold quadratic, inner; apply sum_ext; intros i Hi.
  rewrite (H i Hi), (act_ext d B x y) by assumption; reflexivity.
Qed.

Lemma square_ext : forall d x y, (forall i, (i < d)%nat -> x i = y i) -> square d x = square d y.
Proof. intros d x y H; unfold square; apply sum_ext; intros; rewrite H by assumption; reflexivity. Qed.

(** Elimination of one coordinate. *)
Lemma quadratic_rest : forall d B x b, b <> 0 ->
  quadratic d (fun i j => B i j - B i d * B j d / b) x = quadratic d B x - inner d (fun i => B i d) x ^ 2 / b.
Proof.
  intros d B x b Hb; unfold quadratic.
  rewrite (inner_ext d x _ (fun i => act d B x i + (- (inner d (fun i => B i d) x / b)) * B i d)).
  - rewrite inner_plus, inner_scal, (inner_sym d x (fun i => B i d)); field; exact Hb.
  - intros i _; unfold act, inner.
    rewrite (sum_ext d _ (fun j => B i j * x j - B i d / b * (B j d * x j))) by (intros; field; exact Hb).
    rewrite sum_minus, sum_scal; field; exact Hb.
Qed.

(** A vector of one coordinate more. *)
Definition extend (d : nat) (x : nat -> R) (t : R) (i : nat) : R := if Nat.eqb i d then t else x i.

Lemma extend_last : forall d x t, extend d x t d = t.
Proof. intros; unfold extend; rewrite Nat.eqb_refl; reflexivity. Qed.

Lemma extend_below : forall d x t i, (i < d)%nat -> extend d x t i = x i.
Proof. intros d x t i Hi; unfold extend; destruct (Nat.eqb_spec i d); [lia|reflexivity]. Qed.

Lemma quadratic_extend : forall d B x t, symmetric (S d) B ->
  quadratic (S d) B (extend d x t) = quadratic d B x + 2 * t * inner d (fun i => B i d) x + B d d * t ^ 2.
Proof.
  intros d B x t HB; rewrite quadratic_step, extend_last by exact HB.
  rewrite (quadratic_ext d B _ x), (inner_ext d _ _ x) by (intros; apply extend_below; assumption); reflexivity.
Qed.

Theorem definite_or_null : forall d B, symmetric d B -> (forall x, 0 <= quadratic d B x) ->
  (exists x, 0 < square d x /\ quadratic d B x = 0) \/
  (exists c, 0 < c /\ forall x, c * square d x <= quadratic d B x).
Proof.
  induction d as [|d IH]; intros B HB P.
  { right; exists 1; split; [lra|]; intro x; unfold square, quadratic, inner; simpl; lra. }
  set (b := B d d); set (v := fun i => B i d).
  assert (V : forall t, quadratic (S d) B (extend d (fun _ => 0) t) = b * t ^ 2).
  { intro t; rewrite quadratic_extend by exact HB; fold b v.
    unfold quadratic, inner; rewrite !sum_zero by (intros; ring); ring. }
  destruct (Rtotal_order b 0) as [N|[Z|Pb]].
  { exfalso; pose proof (P (extend d (fun _ => 0) 1)) as Q; rewrite V in Q; lra. }
  { left; exists (extend d (fun _ => 0) 1); rewrite V, Z; split; [|ring].
    unfold square; cbn [sum]; rewrite extend_last.
    pose proof (square_nonneg d (extend d (fun _ => 0) 1)); unfold square in *; lra. }
  set (C := fun i j => B i j - v i * v j / b).
  assert (Q : forall x, quadratic d C x = quadratic d B x - inner d v x ^ 2 / b) by (intro; apply quadratic_rest; lra).
  assert (W : forall x t, quadratic (S d) B (extend d x t) = quadratic d C x + b * (t + inner d v x / b) ^ 2).
  { intros x t; rewrite quadratic_extend, Q by exact HB; fold b v; field; lra. }
  destruct (IH C) as [[x [Px Zx]]|[c [Pc Hc]]].
  - intros i j Hi Hj; unfold C, v; rewrite (HB i j) by lia; unfold Rdiv; ring.
  - intro x; pose proof (P (extend d x (- (inner d v x / b)))) as E; rewrite W in E.
    replace (- (inner d v x / b) + inner d v x / b) with 0 in E by ring; lra.
  - left; exists (extend d x (- (inner d v x / b))); rewrite W, Zx; split; [|ring].
    unfold square; cbn [sum]; rewrite (sum_ext d _ (fun i => x i ^ 2)), extend_last
      by (intros; rewrite extend_below by assumption; reflexivity); fold (square d x).
    pose proof (pow2_ge_0 (- (inner d v x / b))); lra.
  - right; set (k := 1 + 2 * square d v / b ^ 2); set (e := 2 / b + k / c).
    assert (Pk : 0 < k).
    { pose proof (square_nonneg d v); unfold k.
      assert (0 <= 2 * square d v / b ^ 2); [|lra].
      apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat, pow_lt; exact Pb]. }
    assert (Pe : 0 < e).
    { unfold e; pose proof (Rdiv_lt_0_compat 2 b); pose proof (Rdiv_lt_0_compat k c); lra. }
    exists (/ e); split; [apply Rinv_0_lt_compat; exact Pe|]; intro x.
    apply Rmult_le_reg_l with e; [exact Pe|]; rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
    rewrite (quadratic_ext (S d) B x (extend d x (x d))), W.
    2: { intros i Hi; unfold extend; destruct (Nat.eqb_spec i d) as [->|]; reflexivity. }
    change (square (S d) x) with (square d x + x d ^ 2).
    set (s := inner d v x / b); set (t := x d + s).
    assert (S2 : s ^ 2 <= square d v / b ^ 2 * square d x).
    { pose proof (cauchy_schwarz d v x) as I; unfold s.
      replace ((inner d v x / b) ^ 2) with (inner d v x ^ 2 * / b ^ 2) by (field; lra).
      replace (square d v / b ^ 2 * square d x) with (square d v * square d x * / b ^ 2) by (field; lra).
      apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, pow_lt; exact Pb|exact I]. }
    assert (X2 : x d ^ 2 <= 2 * t ^ 2 + 2 * s ^ 2).
    { replace (x d) with (t - s) by (unfold t; ring).
      pose proof (pow2_ge_0 (t + s)); lra. }
    assert (L1 : k * square d x <= k / c * quadratic d C x).
    { replace (k * square d x) with (k / c * (c * square d x)) by (field; lra).
      apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; assumption|apply Hc]. }
    assert (L2 : 0 <= k / c * (b * t ^ 2)).
    { apply Rmult_le_pos; [left; apply Rdiv_lt_0_compat; assumption|].
      apply Rmult_le_pos; [lra|apply pow2_ge_0]. }
    assert (L3 : 0 <= 2 / b * quadratic d C x).
    { pose proof (Hc x); pose proof (square_nonneg d x).
      pose proof (Rmult_le_pos c (square d x)).
      apply Rmult_le_pos; [left; apply Rdiv_lt_0_compat|]; lra. }
    replace (e * (quadratic d C x + b * t ^ 2))
      with (2 / b * quadratic d C x + k / c * quadratic d C x + 2 * t ^ 2 + k / c * (b * t ^ 2))
      by (unfold e; field; lra).
    replace (k * square d x) with (square d x + 2 * (square d v / b ^ 2 * square d x)) in L1
      by (unfold k; field; lra).
    lra.
Qed.

(** Where a nonnegative quadratic vanishes the matrix does. *)
Lemma null_vector : forall d B x, symmetric d B -> (forall y, 0 <= quadratic d B y) -> quadratic d B x = 0 ->
  forall i, (i < d)%nat -> act d B x i = 0.
Proof.
  intros d B x HB P Z; apply square_null.
  set (y := act d B x); set (q := square d y).
  assert (E : forall t, quadratic d B (fun i => x i + t * y i) = 2 * t * q + t ^ 2 * quadratic d B y).
  { intro t; unfold quadratic.
    rewrite (inner_ext d _ _ (fun i => act d B x i + t * act d B y i)).
    2: { intros i _; unfold act; rewrite <- sum_scal, <- sum_plus; apply sum_ext; intros; ring. }
    rewrite inner_plus, inner_scal, !(inner_sym d (fun i => x i + t * y i)), !inner_plus, !inner_scal.
    fold y; rewrite inner_self, (inner_sym d y x); fold q; fold (quadratic d B y).
    replace (inner d x y) with (quadratic d B x) by reflexivity.
    rewrite (inner_sym d (act d B y) x), (act_symmetric d B x y HB); fold y; rewrite inner_self.
    rewrite (inner_sym d (act d B y) y); fold (quadratic d B y); fold q; rewrite Z; ring. }
  pose proof (square_nonneg d y) as Pq; fold q in Pq; pose proof (P y) as [F|F].
  - pose proof (P (fun i => x i + - (q / quadratic d B y) * y i)) as L; rewrite E in L.
    replace (2 * - (q / quadratic d B y) * q + (- (q / quadratic d B y)) ^ 2 * quadratic d B y)
      with (- (q * q * / quadratic d B y)) in L by (field; lra).
    destruct Pq as [Pq|Pq]; [exfalso|symmetry; exact Pq].
    assert (0 < q * q * / quadratic d B y); [|lra].
    apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|apply Rinv_0_lt_compat]; assumption.
  - pose proof (P (fun i => x i + - 1 * y i)) as L; rewrite E, <- F in L; lra.
Qed.

(** ** Eigenvectors *)

Lemma quadratic_bound : forall d A x, square d x = 1 ->
  - (1 + frobenius d A) <= quadratic d A x <= 1 + frobenius d A.
Proof.
  intros d A x Hx.
  assert (L : quadratic d A x ^ 2 <= frobenius d A).
  { apply Rle_trans with (1 := cauchy_schwarz d x (act d A x)); rewrite Hx, Rmult_1_l.
    apply sum_le; intros i _; rewrite <- (Rmult_1_r (square d (A i))), <- Hx; apply cauchy_schwarz. }
  pose proof (frobenius_nonneg d A); pose proof (pow2_ge_0 (quadratic d A x - 1)).
  pose proof (pow2_ge_0 (quadratic d A x + 1)); split; lra.
Qed.

(** The largest eigenvalue. *)
Lemma top_eigenvector : forall d A, (1 <= d)%nat -> symmetric d A ->
  exists mu y, square d y = 1 /\ (forall i, (i < d)%nat -> act d A y i = mu * y i) /\
  (forall x, quadratic d A x <= mu * square d x).
Proof.
  intros d A Hd HA.
  destruct (completeness (fun m => exists x, square d x = 1 /\ m = quadratic d A x)) as [mu [Up Least]].
  - exists (1 + frobenius d A); intros m [x [Hx ->]]; apply (quadratic_bound d A x Hx).
  - exists (quadratic d A (fun i => delta i 0)), (fun i => delta i 0%nat).
    split; [apply square_unit; lia|reflexivity].
  - assert (Top : forall x, quadratic d A x <= mu * square d x).
    { intro x; destruct (square_nonneg d x) as [P|Z].
      - destruct (normalise d x P) as [c [E1 E2]].
        assert (L : quadratic d A (fun i => c * x i) <= mu) by (apply Up; eexists; split; [exact E2|reflexivity]).
        rewrite quadratic_scal in L.
        apply Rmult_le_reg_l with (c ^ 2).
        + destruct (pow2_ge_0 c) as [Q|Q]; [exact Q|rewrite <- Q in E1; lra].
        + replace (c ^ 2 * (mu * square d x)) with (mu * (c ^ 2 * square d x)) by ring.
          rewrite E1, Rmult_1_r; exact L.
      - rewrite <- Z, Rmult_0_r; right; unfold quadratic, inner; apply sum_zero.
        intros i Hi; rewrite (square_null d x) by (try symmetry; assumption); ring. }
    set (B := fun i j => mu * delta i j - A i j).
    assert (HB : symmetric d B) by (intros i j Hi Hj; unfold B; rewrite (HA i j Hi Hj), delta_sym; reflexivity).
    assert (EB : forall x i, (i < d)%nat -> act d B x i = mu * x i - act d A x i).
    { intros x i Hi; unfold act, B.
      rewrite (sum_ext d _ (fun j => delta j i * (mu * x j) - A i j * x j))
        by (intros; rewrite (delta_sym i); ring).
      rewrite sum_minus, (sum_delta d (fun j => mu * x j) i Hi); reflexivity. }
    assert (FB : forall x, quadratic d B x = mu * square d x - quadratic d A x).
    { intro x; unfold quadratic; rewrite (inner_ext d x _ (fun i => mu * x i + -1 * act d A x i))
        by (intros; rewrite EB by assumption; ring).
      rewrite inner_plus, !inner_scal, inner_self; ring. }
    assert (PB : forall x, 0 <= quadratic d B x) by (intro x; rewrite FB; pose proof (Top x); lra).
    destruct (definite_or_null d B HB PB) as [[y [Py Zy]]|[c [Pc Hc]]].
    + destruct (normalise d y Py) as [k [_ E]].
      exists mu, (fun i => k * y i); split; [exact E|split; [|exact Top]].
      intros i Hi; rewrite act_scal; pose proof (null_vector d B y HB PB Zy i Hi) as N.
      rewrite EB in N by assumption; replace (act d A y i) with (mu * y i) by lra; ring.
    + exfalso; assert (mu <= mu - c); [|lra].
      apply Least; intros m [x [Hx ->]]; pose proof (Hc x) as L; rewrite FB, Hx in L; lra.
Qed.

Lemma spectral_partial : forall d A k, symmetric d A -> (k <= d)%nat -> exists lambda X,
  orthonormal d k X /\
  (forall i a, (i < k)%nat -> (a < d)%nat -> act d A (X i) a = lambda i * X i a) /\
  (forall i x, (i < k)%nat -> (forall j, (j < i)%nat -> inner d (X j) x = 0) ->
    quadratic d A x <= lambda i * square d x).
Proof.
  intros d A k HA; induction k as [|k IH]; intro Hk.
  { exists (fun _ => 0), (fun _ _ => 0); split; [|split]; intros i; intros; lia. }
  destruct IH as [lambda [X [HX [HL HT]]]]; [lia|].
  set (M := 2 * (1 + frobenius d A) + 1).
  set (B := fun a b => A a b - M * sum k (fun i => X i a * X i b)).
  assert (HB : symmetric d B).
  { intros a b Ha Hb; unfold B; rewrite (HA a b Ha Hb); f_equal; f_equal.
    apply sum_ext; intros; ring. }
  assert (EB : forall x a, act d B x a = act d A x a - M * sum k (fun i => inner d (X i) x * X i a)).
  { intros x a; unfold act, B.
    rewrite (sum_ext d _ (fun b => A a b * x b - M * sum k (fun i => X i a * (X i b * x b)))).
    - rewrite sum_minus, sum_scal, sum_swap; f_equal; f_equal.
      apply sum_ext; intros; rewrite sum_scal; unfold inner; ring.
    - intros b _; rewrite Rmult_minus_distr_r, Rmult_assoc, <- sum_scal_r; f_equal; f_equal.
      apply sum_ext; intros; ring. }
  assert (Off : forall x, (forall i, (i < k)%nat -> inner d (X i) x = 0) -> forall a, act d B x a = act d A x a).
  { intros x O a; rewrite EB, sum_zero by (intros; rewrite O by assumption; ring); ring. }
  assert (On : forall i a, (i < k)%nat -> (a < d)%nat -> act d B (X i) a = (lambda i - M) * X i a).
  { intros i a Hi Ha; rewrite EB, HL by assumption.
    rewrite (sum_ext k _ (fun j => delta j i * X j a)) by (intros; rewrite HX by assumption; reflexivity).
    rewrite (sum_delta k (fun j => X j a) i Hi); ring. }
  destruct (top_eigenvector d B ltac:(lia) HB) as [mu [y [Hy [Ey Ty]]]].
  assert (Form : forall x, (forall i, (i < k)%nat -> inner d (X i) x = 0) -> quadratic d B x = quadratic d A x).
  { intros x O; unfold quadratic; apply inner_ext; intros; apply Off; exact O. }
  assert (Oy : forall i, (i < k)%nat -> inner d (X i) y = 0).
  { intros i Hi.
    assert (E : mu * inner d (X i) y = (lambda i - M) * inner d (X i) y).
    { rewrite <- inner_scal, <- (inner_ext d (X i) (act d B y)) by exact Ey.
      rewrite (act_symmetric d B _ _ HB), inner_sym, (inner_ext d y _ (fun a => (lambda i - M) * X i a))
        by (intros; apply On; assumption).
      rewrite inner_scal, (inner_sym d y); reflexivity. }
    destruct (another d k X HX ltac:(lia)) as [z [Hz Oz]].
    pose proof (Ty z) as L; rewrite (Form z Oz), Hz in L; pose proof (quadratic_bound d A z Hz).
    assert (lambda i = quadratic d A (X i)) as Ei.
    { unfold quadratic; rewrite (inner_ext d _ _ (fun a => lambda i * X i a)) by (intros; apply HL; assumption).
      rewrite inner_scal, HX, delta_same by assumption; ring. }
    assert (square d (X i) = 1) as Si by (rewrite <- inner_self, HX, delta_same by assumption; reflexivity).
    pose proof (quadratic_bound d A (X i) Si); rewrite <- Ei in *.
    assert (D : (mu - (lambda i - M)) * inner d (X i) y = 0) by lra.
    apply Rmult_integral in D; destruct D as [D|D]; [exfalso; unfold M in D; lra|exact D]. }
  exists (fun i => if Nat.eqb i k then mu else lambda i), (fun i => if Nat.eqb i k then y else X i).
  split; [|split].
  - intros i j Hi Hj; destruct (Nat.eqb_spec i k) as [->|Ni], (Nat.eqb_spec j k) as [->|Nj].
    + rewrite inner_self, delta_same; exact Hy.
    + rewrite inner_sym, Oy, delta_other by lia; reflexivity.
    + rewrite Oy, delta_other by lia; reflexivity.
    + apply HX; lia.
  - intros i a Hi Ha; destruct (Nat.eqb_spec i k) as [->|Ni]; [|apply HL; lia].
    rewrite <- (Off y Oy); apply Ey; exact Ha.
  - intros i x Hi O; destruct (Nat.eqb_spec i k) as [->|Ni].
    + rewrite <- Form; [apply Ty|]; intros j Hj; pose proof (O j Hj) as Oj; cbv beta in Oj.
      destruct (Nat.eqb_spec j k); [lia|exact Oj].
    + apply HT; [lia|]; intros j Hj; pose proof (O j Hj) as Oj; cbv beta in Oj.
      destruct (Nat.eqb_spec j k); [lia|exact Oj].
Qed.

Theorem spectral : forall d A, symmetric d A -> exists lambda X,
  orthonormal d d X /\
  (forall i a, (i < d)%nat -> (a < d)%nat -> act d A (X i) a = lambda i * X i a) /\
  (forall i j, (i <= j)%nat -> (j < d)%nat -> lambda j <= lambda i).
Proof.
  intros d A HA; destruct (spectral_partial d A d HA (Nat.le_refl d)) as [lambda [X [HX [HL HT]]]].
  exists lambda, X; split; [exact HX|split; [exact HL|]]; intros i j Hij Hj.
  assert (E : square d (X j) = 1) by (rewrite <- inner_self, HX, delta_same by assumption; reflexivity).
  pose proof (HT i (X j) ltac:(lia)) as L; rewrite E in L.
  unfold quadratic in L; rewrite (inner_ext d _ _ (fun a => lambda j * X j a)) in L
    by (intros; apply HL; assumption).
  rewrite inner_scal, inner_self, E in L.
  assert (lambda j * 1 <= lambda i * 1); [|lra].
  apply L; intros k Hk; rewrite HX, delta_other by lia; reflexivity.
Qed.
