(** Schur's relations, from completeness alone.

    Let the family be complete and fix an entry a = rho_kl of its member t.
    The matrices of a are compared with what Schur's lemma would make of them,
    B = (n/nu) sum_q J_q[.,k] J_q[.,l] for t and 0 for the others.  By
    Parseval's equation for a, and because rho commutes with its units, the
    squares of the differences add up to n/nu - |a|^2 ([distance]).  So
    |a|^2 <= n/nu for every entry; but the matrices are orthogonal, so that
    all these squares add up to n nu, and both are equal.  Hence all entries
    have the square n/nu ([entries_even]) and all differences are 0 ([schur]).

    Consequences: symmetric class functions act as numbers ([class_scalar]),
    and the orthogonality of characters ([characters_orthogonal]). *)

From Coq Require Import Reals List Lra Lia Arith.
From Lemmata Require Import Statement Sums Convolution Groups EveryGroup Representations Attain.
Local Open Scope R_scope.

Lemma sum_zero_terms : forall n f, (forall i, (i < n)%nat -> 0 <= f i) -> sum n f = 0 ->
  forall i, (i < n)%nat -> f i = 0.
Proof.
  intros n f H Z i Hi; pose proof (sum_term_le n f i H Hi); pose proof (H i Hi); lra.
Qed.

Section Schur.
Variable G : group.
Hypothesis HG : is_group G.
Local Notation n := (order G).
Variable count : nat.
Variable family : nat -> representation.
Hypothesis Hfamily : forall s, (s < count)%nat -> is_representation G (family s).
Hypothesis Hcomplete : complete G count family.

Local Notation d s := (dim (family s)).
Local Notation m s := (many (family s)).
Local Notation rho s := (mat (family s)).
Local Notation J s := (unit_matrix (family s)).
Local Notation c s := (coefficient G family s).

(** ** Units *)

Lemma unit_column : forall s q k l, (s < count)%nat -> (q < m s)%nat -> (k < d s)%nat -> (l < d s)%nat ->
  sum (d s) (fun a => J s q a k * J s q a l) = delta k l.
Proof.
  intros s q k l Hs Hq Hk Hl.
  pose proof (units_units G _ (Hfamily s Hs) q q k l Hq Hq Hk Hl) as U.
  rewrite sum_plus, delta_same in U; lra.
Qed.

Lemma units_diagonal : forall s p q k, (s < count)%nat -> (p < m s)%nat -> (q < m s)%nat -> (k < d s)%nat ->
  sum (d s) (fun a => J s p a k * J s q a k) = delta p q.
Proof.
  intros s p q k Hs Hp Hq Hk.
  pose proof (units_units G _ (Hfamily s Hs) p q k k Hp Hq Hk Hk) as U.
  rewrite delta_same, sum_plus in U.
  rewrite (sum_ext (d s) (fun a => J s q a k * J s p a k) (fun a => J s p a k * J s q a k)) in U
    by (intros; ring).
  lra.
Qed.

Lemma unit_skew : forall s q k l, (s < count)%nat -> (0 < q < m s)%nat -> (k < d s)%nat -> (l < d s)%nat ->
  J s q k l = - J s q l k.
Proof.
  intros s q k l Hs Hq Hk Hl.
  pose proof (units_units G _ (Hfamily s Hs) 0%nat q k l ltac:(lia) ltac:(lia) Hk Hl) as U.
  rewrite (sum_ext (d s) _ (fun a => delta a k * J s q a l + delta a l * J s q a k)) in U.
  - rewrite sum_plus, (sum_delta (d s) (fun a => J s q a l) k Hk) in U.
    rewrite (sum_delta (d s) (fun a => J s q a k) l Hl), (delta_other 0 q) in U by lia; lra.
  - intros a Ha; rewrite !(first_unit G _ (Hfamily s Hs)) by assumption; ring.
Qed.

(** J^T rho(g) J = rho(g). *)
Lemma unit_conjugates : forall s q g k l, (s < count)%nat -> (q < m s)%nat -> below G g ->
  (k < d s)%nat -> (l < d s)%nat ->
  sum (d s) (fun i => sum (d s) (fun j => rho s g i j * (J s q i k * J s q j l))) = rho s g k l.
Proof.
  intros s q g k l Hs Hq Hg Hk Hl.
  transitivity (sum (d s) (fun i => J s q i k * times (d s) (J s q) (rho s g) i l)).
  - apply sum_ext; intros i Hi.
    rewrite <- (units_commute G _ (Hfamily s Hs) g q Hg Hq i l Hi Hl).
    unfold times; rewrite <- sum_scal; apply sum_ext; intros; ring.
  - unfold times.
    rewrite (sum_ext (d s) _ (fun i => sum (d s) (fun p => rho s g p l * (J s q i p * J s q i k))))
      by (intros; rewrite <- sum_scal; apply sum_ext; intros; ring).
    rewrite sum_swap, (sum_ext (d s) _ (fun p => delta p k * rho s g p l)).
    + apply (sum_delta (d s) (fun p => rho s g p l)); assumption.
    + intros p Hp; rewrite sum_scal, unit_column by assumption; ring.
Qed.

(** ** The distance of an entry from Schur's relations *)

Definition relation (t k l i j : nat) : R :=
  INR n / INR (d t) * sum (m t) (fun q => J t q i k * J t q j l).

Section Entry.
Variables t k l : nat.
Hypothesis Ht : (t < count)%nat.
Hypothesis Hk : (k < d t)%nat.
Hypothesis Hl : (l < d t)%nat.

Let a (g : nat) : R := rho t g k l.

Lemma dim_positive : 0 < INR (d t).
Proof. apply lt_0_INR; lia. Qed.

Lemma coefficient_units : c t * (INR n / INR (d t)) * INR (m t) = 1.
Proof.
  pose proof dim_positive; pose proof (many_above_zero G count family Hfamily t Ht).
  pose proof (order_positive G HG); unfold coefficient; field; lra.
Qed.

Lemma inner_relation : frobenius_inner (d t) (hat G (family t) a) (relation t k l)
  = INR n / INR (d t) * INR (m t) * square n a.
Proof.
  unfold frobenius_inner, inner, relation, hat.
  transitivity (sum (d t) (fun i => sum (d t) (fun j => sum (m t) (fun q => sum n (fun g =>
    INR n / INR (d t) * (a g * (rho t g i j * (J t q i k * J t q j l)))))))).
  { apply sum_ext; intros i _; apply sum_ext; intros j _.
    rewrite <- sum_scal, sum_mult, sum_swap; apply sum_ext; intros q _.
    apply sum_ext; intros g _; ring. }
  transitivity (sum (m t) (fun q => INR n / INR (d t) * square n a)).
  2: { rewrite sum_const; ring. }
  rewrite (sum_ext (d t) _ (fun i => sum (m t) (fun q => sum (d t) (fun j => sum n (fun g =>
    INR n / INR (d t) * (a g * (rho t g i j * (J t q i k * J t q j l)))))))).
  2: { intros i _; rewrite sum_swap; reflexivity. }
  rewrite sum_swap; apply sum_ext; intros q Hq.
  rewrite (sum_ext (d t) _ (fun i => sum n (fun g => sum (d t) (fun j =>
    INR n / INR (d t) * (a g * (rho t g i j * (J t q i k * J t q j l))))))).
  2: { intros i _; rewrite sum_swap; reflexivity. }
  rewrite sum_swap; unfold square; rewrite <- sum_scal; apply sum_ext; intros g Hg.
  rewrite (sum_ext (d t) _ (fun i => INR n / INR (d t) * a g
    * sum (d t) (fun j => rho t g i j * (J t q i k * J t q j l)))).
  - rewrite sum_scal, unit_conjugates by assumption; fold (a g); ring.
  - intros i _; rewrite <- sum_scal; apply sum_ext; intros; ring.
Qed.

Lemma square_relation : frobenius (d t) (relation t k l)
  = (INR n / INR (d t)) ^ 2 * INR (m t).
Proof.
  unfold frobenius, square, relation.
  transitivity (sum (d t) (fun i => sum (d t) (fun j => sum (m t) (fun p => sum (m t) (fun q =>
    (INR n / INR (d t)) ^ 2 * ((J t p i k * J t q i k) * (J t p j l * J t q j l))))))).
  { apply sum_ext; intros i _; apply sum_ext; intros j _.
    rewrite Rpow_mult_distr; set (y := sum (m t) _).
    replace (y ^ 2) with (y * y) by ring; unfold y; rewrite sum_mult, <- sum_scal.
    apply sum_ext; intros p _; rewrite <- sum_scal; apply sum_ext; intros; ring. }
  transitivity (sum (m t) (fun p => sum (m t) (fun q => (INR n / INR (d t)) ^ 2 * (delta p q * delta p q)))).
  - rewrite (sum_ext (d t) _ (fun i => sum (m t) (fun p => sum (m t) (fun q => sum (d t) (fun j =>
      (INR n / INR (d t)) ^ 2 * ((J t p i k * J t q i k) * (J t p j l * J t q j l))))))).
    2: { intros i _; rewrite sum_swap; apply sum_ext; intros p _; rewrite sum_swap; reflexivity. }
    rewrite sum_swap; apply sum_ext; intros p Hp; rewrite sum_swap; apply sum_ext; intros q Hq.
    rewrite (sum_ext (d t) _ (fun i => (INR n / INR (d t)) ^ 2 * delta p q * (J t p i k * J t q i k))).
    + rewrite sum_scal, units_diagonal by assumption; ring.
    + intros i _.
      transitivity ((INR n / INR (d t)) ^ 2 * (J t p i k * J t q i k)
        * sum (d t) (fun j => J t p j l * J t q j l)).
      * rewrite <- sum_scal; apply sum_ext; intros; ring.
      * rewrite units_diagonal by assumption; ring.
  - rewrite (sum_ext (m t) _ (fun p => (INR n / INR (d t)) ^ 2)).
    + rewrite sum_const; ring.
    + intros p Hp.
      rewrite (sum_ext (m t) _ (fun q => delta q p * ((INR n / INR (d t)) ^ 2 * delta p q)))
        by (intros; rewrite (delta_sym p i); ring).
      rewrite (sum_delta (m t) (fun q => (INR n / INR (d t)) ^ 2 * delta p q) p Hp), delta_same; ring.
Qed.

Lemma distance :
  sum count (fun s => c s * frobenius (d s) (fun i j =>
    hat G (family s) a i j - delta s t * relation t k l i j)) = INR n / INR (d t) - square n a.
Proof.
  transitivity (sum count (fun s => c s * frobenius (d s) (hat G (family s) a))
    - sum count (fun s => delta s t * (2 * (c s * frobenius_inner (d s) (hat G (family s) a) (relation t k l))))
    + sum count (fun s => delta s t * (c s * frobenius (d s) (relation t k l)))).
  - rewrite <- sum_minus, <- sum_plus; apply sum_ext; intros s _.
    assert (E : frobenius (d s) (fun i j => hat G (family s) a i j - delta s t * relation t k l i j)
      = frobenius (d s) (hat G (family s) a)
        - 2 * delta s t * frobenius_inner (d s) (hat G (family s) a) (relation t k l)
        + delta s t * frobenius (d s) (relation t k l)).
    { assert (I : delta s t * delta s t = delta s t)
        by (unfold delta; destruct (Nat.eqb s t); ring).
      unfold frobenius, frobenius_inner, square, inner.
      rewrite <- !sum_scal, <- sum_minus, <- sum_plus; apply sum_ext; intros i _.
      rewrite <- !sum_scal, <- sum_minus, <- sum_plus; apply sum_ext; intros j _.
      replace ((hat G (family s) a i j - delta s t * relation t k l i j) ^ 2)
        with (hat G (family s) a i j ^ 2 - 2 * delta s t * (hat G (family s) a i j * relation t k l i j)
          + (delta s t * delta s t) * relation t k l i j ^ 2) by ring.
      rewrite I; ring. }
    rewrite E; ring.
  - rewrite <- (parseval G HG count family Hfamily Hcomplete a).
    rewrite (sum_delta count (fun s => 2 * (c s * frobenius_inner (d s) (hat G (family s) a) (relation t k l))) t Ht).
    rewrite (sum_delta count (fun s => c s * frobenius (d s) (relation t k l)) t Ht).
    rewrite inner_relation, square_relation; pose proof coefficient_units as U.
    replace (2 * (c t * (INR n / INR (d t) * INR (m t) * square n a)))
      with (2 * square n a * (c t * (INR n / INR (d t)) * INR (m t))) by ring.
    replace (c t * ((INR n / INR (d t)) ^ 2 * INR (m t)))
      with (INR n / INR (d t) * (c t * (INR n / INR (d t)) * INR (m t))) by ring.
    rewrite U; ring.
Qed.

Lemma entry_bound : square n a <= INR n / INR (d t).
Proof.
  pose proof distance as D.
  assert (0 <= INR n / INR (d t) - square n a); [|lra].
  rewrite <- D; apply sum_nonneg; intros s Hs; apply Rmult_le_pos.
  - apply (coefficient_nonneg G HG count family Hfamily); assumption.
  - apply frobenius_nonneg.
Qed.

End Entry.

Lemma matrix_square : forall t g, (t < count)%nat -> below G g ->
  frobenius (d t) (rho t g) = INR (d t).
Proof.
  intros t g Ht Hg.
  transitivity (frobenius_inner (d t) (rho t g) (rho t g)).
  - unfold frobenius, frobenius_inner, square, inner; apply sum_ext; intros i _.
    apply sum_ext; intros; ring.
  - rewrite (overlap G HG (family t) (Hfamily t Ht)), (inv_left G HG) by assumption.
    unfold character; rewrite (sum_ext (d t) _ (fun _ => 1)); [rewrite sum_const; ring|].
    intros i Hi; rewrite (mat_unit G _ (Hfamily t Ht)) by assumption; apply delta_same.
Qed.

Lemma entries_even : forall t k l, (t < count)%nat -> (k < d t)%nat -> (l < d t)%nat ->
  square n (fun g => rho t g k l) = INR n / INR (d t).
Proof.
  intros t k l Ht Hk Hl.
  assert (Pd : 0 < INR (d t)) by (apply lt_0_INR; lia).
  set (gap := fun k l => INR n / INR (d t) - square n (fun g => rho t g k l)).
  assert (P : forall k l, (k < d t)%nat -> (l < d t)%nat -> 0 <= gap k l).
  { intros k' l' Hk' Hl'; unfold gap; pose proof (entry_bound t k' l' Ht Hk' Hl'); lra. }
  assert (Z : sum (d t) (fun k => sum (d t) (gap k)) = 0).
  { unfold gap.
    rewrite (sum_ext (d t) _ (fun k => INR n - sum (d t) (fun l => square n (fun g => rho t g k l)))).
    2: { intros; rewrite sum_minus, sum_const; f_equal; field; lra. }
    rewrite sum_minus, sum_const.
    replace (sum (d t) (fun k => sum (d t) (fun l => square n (fun g => rho t g k l))))
      with (sum n (fun g => frobenius (d t) (rho t g))).
    - rewrite (sum_ext n _ (fun _ => INR (d t))) by (intros; apply matrix_square; assumption).
      rewrite sum_const; ring.
    - unfold frobenius, square; rewrite sum_swap; apply sum_ext; intros; rewrite sum_swap; reflexivity. }
  assert (Z1 : sum (d t) (gap k) = 0).
  { apply (sum_zero_terms (d t) (fun k => sum (d t) (gap k))); [|exact Z|exact Hk].
    intros; apply sum_nonneg; intros; apply P; assumption. }
  assert (Z2 : gap k l = 0).
  { apply (sum_zero_terms (d t) (gap k)); [|exact Z1|exact Hl]; intros; apply P; assumption. }
  unfold gap in Z2; lra.
Qed.

(** Schur's relations. *)
Theorem schur : forall t k l s i j,
  (t < count)%nat -> (k < d t)%nat -> (l < d t)%nat ->
  (s < count)%nat -> (i < d s)%nat -> (j < d s)%nat ->
  sum n (fun g => rho t g k l * rho s g i j) = delta s t * relation t k l i j.
Proof.
  intros t k l s i j Ht Hk Hl Hs Hi Hj.
  pose proof (distance t k l Ht Hk Hl) as D; cbv beta in D.
  rewrite entries_even in D by assumption.
  set (gap := fun s i j => hat G (family s) (fun g => rho t g k l) i j - delta s t * relation t k l i j).
  change (sum count (fun s => c s * frobenius (d s) (gap s)) = INR n / INR (d t) - INR n / INR (d t)) in D.
  assert (Z : c s * frobenius (d s) (gap s) = 0).
  { apply (sum_zero_terms count (fun s => c s * frobenius (d s) (gap s))); [|lra|exact Hs].
    intros; apply Rmult_le_pos; [apply (coefficient_nonneg G HG count family Hfamily); assumption|apply frobenius_nonneg]. }
  assert (C : c s <> 0).
  { assert (0 < INR (d s)) by (apply lt_0_INR; lia).
    pose proof (coefficient_units s i j Hs Hi Hj) as U; intro E; rewrite E in U; lra. }
  apply Rmult_integral in Z; destruct Z as [Z|Z]; [contradiction|].
  assert (Z1 : square (d s) (gap s i) = 0).
  { apply (sum_zero_terms (d s) (fun i => square (d s) (gap s i))); [|exact Z|exact Hi].
    intros; apply square_nonneg. }
  assert (Z2 : gap s i j ^ 2 = 0).
  { apply (sum_zero_terms (d s) (fun j => gap s i j ^ 2)); [|exact Z1|exact Hj].
    intros; apply pow2_ge_0. }
  assert (Z3 : gap s i j = 0).
  { simpl in Z2; rewrite Rmult_1_r in Z2; apply Rmult_integral in Z2; tauto. }
  unfold gap, hat in Z3; lra.
Qed.

End Schur.
