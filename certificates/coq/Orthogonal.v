(** Matrices of a group that need not be orthogonal.

    [orthogonalised]: real matrices that multiply like the elements of a finite
    group have the character of a representation by orthogonal matrices.  The
    invariant form, the sum of |M(g) x|^2 over the group, has orthonormal
    eigenvectors X_i with eigenvalues lambda_i >= 1 (Spectral.v); X_i divided by
    sqrt lambda_i is an orthonormal basis for the form. *)

From Coq Require Import Reals Lra Lia Arith.
From Lemmata Require Import Statement Sums Convolution Groups EveryGroup Representations.
From Lemmata Require Import Spectral Decomposition.
Local Open Scope R_scope.

Section Orthogonal.
Variable G : group.
Hypothesis HG : is_group G.
Local Notation n := (order G).
Variable d : nat.
Variable M : nat -> nat -> nat -> R.
Hypothesis Hunit : forall i j, (i < d)%nat -> (j < d)%nat -> M (unit G) i j = delta i j.
Hypothesis Hop : forall a b i j, below G a -> below G b -> (i < d)%nat -> (j < d)%nat ->
  M (op G a b) i j = times d (M a) (M b) i j.

Definition invariant (i j : nat) : R := sum n (fun g => sum d (fun c => M g c i * M g c j)).

Lemma invariant_form : forall x y,
  inner d x (act d invariant y) = sum n (fun g => inner d (act d (M g) x) (act d (M g) y)).
Proof.
  intros x y; unfold inner, act, invariant.
  rewrite (sum_ext d _ (fun i => sum n (fun g => sum d (fun j => sum d (fun c =>
    M g c i * x i * (M g c j * y j)))))).
  - rewrite sum_swap; apply sum_ext; intros g _.
    rewrite (sum_ext d _ (fun i => sum d (fun c => sum d (fun j => M g c i * x i * (M g c j * y j)))))
      by (intros; apply sum_swap).
    rewrite sum_swap; apply sum_ext; intros c _; rewrite sum_mult; reflexivity.
  - intros i _; rewrite sum_swap, <- sum_scal; apply sum_ext; intros j _.
    rewrite <- sum_scal_r, <- sum_scal; apply sum_ext; intros g _.
    rewrite <- sum_scal_r, <- sum_scal; apply sum_ext; intros; ring.
Qed.

Lemma act_op : forall a b x i, below G a -> below G b -> (i < d)%nat ->
  act d (M (op G a b)) x i = act d (M a) (act d (M b) x) i.
Proof.
  intros a b x i Ha Hb Hi; rewrite act_times; unfold act; apply sum_ext; intros.
  rewrite Hop by assumption; reflexivity.
Qed.

Lemma act_unit : forall x i, (i < d)%nat -> act d (M (unit G)) x i = x i.
Proof.
  intros x i Hi; unfold act; rewrite (sum_ext d _ (fun j => delta j i * x j)).
  - apply sum_delta; exact Hi.
  - intros j Hj; rewrite Hunit, delta_sym by assumption; reflexivity.
Qed.

Lemma inner_ext_2 : forall x x' y y', (forall i, (i < d)%nat -> x i = x' i) ->
  (forall i, (i < d)%nat -> y i = y' i) -> inner d x y = inner d x' y'.
Proof. intros x x' y y' H H'; unfold inner; apply sum_ext; intros; rewrite H, H' by assumption; reflexivity. Qed.

Lemma invariant_moves : forall h x y, below G h ->
  inner d (act d (M h) x) (act d invariant y) = inner d x (act d invariant (act d (M (inv G h)) y)).
Proof.
  intros h x y Hh; pose proof (inv_below G HG h Hh) as Ih; rewrite !invariant_form.
  rewrite <- (sum_right G HG h (fun g => inner d (act d (M g) x) (act d (M g) (act d (M (inv G h)) y)))) by assumption.
  apply sum_ext; intros g Hg; apply inner_ext_2; intros i Hi.
  - rewrite act_op by assumption; reflexivity.
  - rewrite <- act_op, (op_cancel_inv G HG) by (try apply op_below; assumption); reflexivity.
Qed.

Theorem orthogonalised : exists r, is_representation G r /\ dim r = d /\ many r = 1%nat /\
  forall g, character r g = sum d (fun i => M g i i).
Proof.
  assert (Sym : symmetric d invariant).
  { intros i j _ _; unfold invariant; apply sum_ext; intros; apply sum_ext; intros; ring. }
  destruct (spectral d invariant Sym) as [lambda [X [HX [HL _]]]].
  assert (E : forall i y, (i < d)%nat -> lambda i * inner d y (X i) = inner d y (act d invariant (X i))).
  { intros i y Hi; rewrite <- inner_scal; apply inner_ext; intros; symmetry; apply HL; assumption. }
  assert (P : forall i, (i < d)%nat -> 0 < sqrt (lambda i) /\ sqrt (lambda i) * sqrt (lambda i) = lambda i).
  { intros i Hi; assert (1 <= lambda i).
    { pose proof (E i (X i) Hi) as L; rewrite (HX i i Hi Hi), delta_same, Rmult_1_r, invariant_form in L.
      rewrite L, <- (delta_same i), <- (HX i i Hi Hi).
      rewrite <- (inner_ext_2 _ _ _ _ (act_unit (X i)) (act_unit (X i))).
      apply (sum_term_le n (fun g => inner d (act d (M g) (X i)) (act d (M g) (X i)))).
      - intros; rewrite inner_self; apply square_nonneg.
      - apply (unit_below G HG). }
    split; [apply sqrt_lt_R0; lra|apply sqrt_sqrt; lra]. }
  set (s := fun i => sqrt (lambda i)) in *.
  exists (plain d (fun g i j => s i * in_basis d X (M g) i j / s j)).
  split; [apply plain_is_representation|split; [reflexivity|split; [reflexivity|]]].
  - intros i j Hi Hj; rewrite (in_basis_ext d X _ delta), in_basis_identity by assumption.
    destruct (Nat.eq_dec i j) as [->|N]; [|rewrite delta_other by assumption; unfold Rdiv; ring].
    destruct (P j Hj) as [Pj _]; rewrite delta_same; field; unfold s; lra.
  - intros a b i j Ha Hb Hi Hj.
    rewrite (in_basis_ext d X _ (times d (M a) (M b))), in_basis_times by (intros; auto).
    unfold times; rewrite <- sum_scal; unfold Rdiv; rewrite <- sum_scal_r; apply sum_ext; intros k Hk.
    destruct (P j Hj) as [Pj _]; destruct (P k Hk) as [Pk _]; field; unfold s; lra.
  - intros a i j Ha Hi Hj; destruct (P i Hi) as [Pi Si]; destruct (P j Hj) as [Pj Sj].
    assert (Q : lambda i * in_basis d X (M (inv G a)) i j = lambda j * in_basis d X (M a) j i).
    { unfold in_basis; rewrite (inner_sym d (X i)), (inner_sym d (X j)), !E by assumption.
      rewrite invariant_moves, (inv_involutive G HG) by (try apply inv_below; assumption).
      rewrite (act_symmetric d invariant _ _ Sym); apply inner_sym. }
    rewrite <- Si, <- Sj in Q; fold (s i) (s j) in *.
    apply Rmult_eq_reg_l with (s i * s j); [|apply Rmult_integral_contrapositive; lra].
    replace (s i * s j * (s i * in_basis d X (M (inv G a)) i j / s j))
      with (s i * s i * in_basis d X (M (inv G a)) i j) by (field; lra).
    rewrite Q; field; lra.
  - intro g; rewrite <- (in_basis_trace d X (M g) HX); apply sum_ext; intros i Hi.
    destruct (P i Hi) as [Pi _]; cbn [plain mat]; field; unfold s; lra.
Qed.

End Orthogonal.
