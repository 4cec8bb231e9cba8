(** The one inequality behind the bound for groups.

    A matrix U that commutes with m orthogonal matrices J_0, ..., J_(m-1),
    any two of which satisfy J_k^T J_l + J_l^T J_k = 2 delta_kl, has
    m |U V|^2 <= |U|^2 |V|^2 for every V (Frobenius norms): for a vector x the
    vectors J_k x are orthogonal and of the length of x, and U takes all of
    them to vectors of one length; Bessel's inequality, row by row, is the
    claim.  One matrix (the identity), two (1 and i) or four (1, i, j, k) are
    there for representations of real, complex and quaternionic type.  It is
    step 4 of certificates/game/UNIVERSAL_MARGIN.md without eigenvalues. *)

From Coq Require Import Reals Lra Lia.
From Lemmata Require Import Statement Sums.
Local Open Scope R_scope.

Definition act (d : nat) (M : nat -> nat -> R) (x : nat -> R) (i : nat) : R :=
  sum d (fun j => M i j * x j).
Definition times (d : nat) (M N : nat -> nat -> R) (i j : nat) : R :=
  sum d (fun k => M i k * N k j).
Definition frobenius (d : nat) (M : nat -> nat -> R) : R :=
  sum d (fun i => square d (M i)).
Definition frobenius_inner (d : nat) (M N : nat -> nat -> R) : R :=
  sum d (fun i => inner d (M i) (N i)).

Lemma frobenius_nonneg : forall d M, 0 <= frobenius d M.
Proof. intros; apply sum_nonneg; intros; apply square_nonneg. Qed.

(** m matrices of dimension d like the units of R, C or H. *)
Definition units (d m : nat) (J : nat -> nat -> nat -> R) : Prop :=
  forall k l b c, (k < m)%nat -> (l < m)%nat -> (b < d)%nat -> (c < d)%nat ->
  sum d (fun a => J k a b * J l a c + J l a b * J k a c) = 2 * (delta k l * delta b c).

Definition commute (d : nat) (M N : nat -> nat -> R) : Prop :=
  forall i j, (i < d)%nat -> (j < d)%nat -> times d M N i j = times d N M i j.

Lemma act_times : forall d M N x i,
  act d M (act d N x) i = act d (times d M N) x i.
Proof.
  intros d M N x i; unfold act, times.
  transitivity (sum d (fun j => sum d (fun k => M i j * N j k * x k))).
  - apply sum_ext; intros j _; rewrite <- sum_scal; apply sum_ext; intros; ring.
  - rewrite sum_swap; apply sum_ext; intros k _; rewrite <- sum_scal_r.
    apply sum_ext; intros; ring.
Qed.

Lemma units_orthogonal : forall d m J x, units d m J ->
  forall k l, (k < m)%nat -> (l < m)%nat ->
  inner d (act d (J k) x) (act d (J l) x) = square d x * delta k l.
Proof.
  intros d m J x H k l Hk Hl.
  assert (E : forall p q, inner d (act d (J p) x) (act d (J q) x)
    = sum d (fun b => sum d (fun c => sum d (fun a => J p a b * J q a c) * (x b * x c)))).
  { intros p q; unfold inner, act.
    transitivity (sum d (fun a => sum d (fun b => sum d (fun c =>
      J p a b * J q a c * (x b * x c))))).
    - apply sum_ext; intros a _; rewrite sum_mult; apply sum_ext; intros b _.
      apply sum_ext; intros; ring.
    - rewrite sum_swap; apply sum_ext; intros b _; rewrite sum_swap.
      apply sum_ext; intros c _; rewrite <- sum_scal_r; reflexivity. }
  assert (S : inner d (act d (J k) x) (act d (J l) x)
    + inner d (act d (J l) x) (act d (J k) x) = 2 * (square d x * delta k l)).
  { rewrite !E, <- sum_plus.
    transitivity (sum d (fun b => 2 * delta k l * x b ^ 2)).
    - apply sum_ext; intros b Hb; rewrite <- sum_plus.
      transitivity (sum d (fun c => delta c b * (2 * delta k l * (x b * x c)))).
      + apply sum_ext; intros c Hc; rewrite <- Rmult_plus_distr_r, <- sum_plus.
        rewrite (H k l b c) by assumption; rewrite (delta_sym b c); ring.
      + rewrite (sum_delta d (fun c => 2 * delta k l * (x b * x c)) b Hb); ring.
    - rewrite sum_scal; fold (square d x); ring. }
  assert (C : inner d (act d (J l) x) (act d (J k) x)
    = inner d (act d (J k) x) (act d (J l) x)).
  { unfold inner; apply sum_ext; intros; ring. }
  lra.
Qed.

Lemma units_on_vector : forall d m J U x, units d m J ->
  (forall k, (k < m)%nat -> commute d U (J k)) ->
  INR m * square d (act d U x) <= frobenius d U * square d x.
Proof.
  intros d m J U x HJ HU.
  assert (L : forall k, (k < m)%nat ->
    sum d (fun i => inner d (U i) (act d (J k) x) ^ 2) = square d (act d U x)).
  { intros k Hk.
    transitivity (square d (act d (J k) (act d U x))).
    - apply sum_ext; intros i Hi; f_equal.
      change (inner d (U i) (act d (J k) x)) with (act d U (act d (J k) x) i).
      rewrite !act_times; unfold act; apply sum_ext; intros j Hj.
      rewrite (HU k Hk i j Hi Hj); reflexivity.
    - pose proof (units_orthogonal d m J (act d U x) HJ k k Hk Hk) as O.
      rewrite delta_same, Rmult_1_r in O; rewrite <- O.
      unfold inner, square; apply sum_ext; intros; ring. }
  rewrite <- sum_const.
  rewrite (sum_ext m (fun _ => square d (act d U x))
    (fun k => sum d (fun i => inner d (U i) (act d (J k) x) ^ 2)))
    by (intros; symmetry; auto).
  rewrite sum_swap; unfold frobenius; rewrite <- sum_scal_r.
  apply sum_le; intros i Hi.
  apply bessel with (y := fun k => act d (J k) x); [apply square_nonneg|].
  apply units_orthogonal; assumption.
Qed.

Theorem units_product : forall d m J U V, units d m J ->
  (forall k, (k < m)%nat -> commute d U (J k)) ->
  INR m * frobenius d (times d U V) <= frobenius d U * frobenius d V.
Proof.
  intros d m J U V HJ HU; unfold frobenius at 1 3, square.
  rewrite (sum_swap d d (fun i j => times d U V i j ^ 2)), (sum_swap d d (fun i j => V i j ^ 2)).
  rewrite <- !sum_scal; apply sum_le; intros j _.
  exact (units_on_vector d m J U (fun k => V k j) HJ HU).
Qed.

Lemma frobenius_cauchy_schwarz : forall d M N,
  frobenius_inner d M N ^ 2 <= frobenius d M * frobenius d N.
Proof.
  intros d M N; apply cauchy_schwarz_sums; intros i _.
  - apply square_nonneg.
  - apply square_nonneg.
  - apply cauchy_schwarz.
Qed.
