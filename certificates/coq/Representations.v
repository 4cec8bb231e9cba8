(** The maximum margin of a product in a finite group: the upper side by real
    orthogonal representations.

    A family of representations is complete if their characters, each times
    dimension over number of units, add up to n at the unit of the group and to
    0 elsewhere (for the irreducible real representations, with one, two or
    four units for real, complex and quaternionic type, this is the character
    of the regular representation).  From that single hypothesis follow the
    inversion formula and Parseval's equation; neither irreducibility nor
    Schur's lemma occurs.  Weights tau of wrong labels are given with the
    numbers mu for which the sum of tau(g) rho(g) is mu times the identity.

    [upper_side]: then no network has a margin above 2 (3n)^(-3/2) K if
    |1 - mu| <= K sqrt nu for every representation, nu its dimension.  These
    are steps 3 to 6 of certificates/game/UNIVERSAL_MARGIN.md for two factors,
    with the representations and tau as data that are checked.  That every
    finite group has a complete family is proved in Decomposition.v. *)

From Coq Require Import Reals List Lra Lia Arith.
From Lemmata Require Import Statement Sums Convolution Groups EveryGroup.
Local Open Scope R_scope.

(** Real matrices for the elements, and units that commute with them, the first of which is the identity. *)
Record representation := Representation {
  dim : nat;
  mat : nat -> nat -> nat -> R;
  many : nat;
  unit_matrix : nat -> nat -> nat -> R
}.

Record is_representation (G : group) (r : representation) : Prop := {
  mat_unit : forall i j, (i < dim r)%nat -> (j < dim r)%nat -> mat r (unit G) i j = delta i j;
  mat_op : forall a b i j, below G a -> below G b -> (i < dim r)%nat -> (j < dim r)%nat ->
    mat r (op G a b) i j = times (dim r) (mat r a) (mat r b) i j;
  mat_inv : forall a i j, below G a -> (i < dim r)%nat -> (j < dim r)%nat ->
    mat r (inv G a) i j = mat r a j i;
  many_positive : (1 <= many r)%nat;
  first_unit : forall i j, (i < dim r)%nat -> (j < dim r)%nat -> unit_matrix r 0 i j = delta i j;
  units_units : units (dim r) (many r) (unit_matrix r);
  units_commute : forall a k, below G a -> (k < many r)%nat ->
    commute (dim r) (mat r a) (unit_matrix r k)
}.

Definition character (r : representation) (g : nat) : R := sum (dim r) (fun i => mat r g i i).

Definition complete (G : group) (count : nat) (family : nat -> representation) : Prop :=
  forall g, below G g ->
  sum count (fun s => INR (dim (family s)) / INR (many (family s)) * character (family s) g)
  = INR (order G) * delta g (unit G).

(** The sum of tau(g) rho(g) is mu times the identity. *)
Definition scalar (G : group) (tau : nat -> R) (r : representation) (mu : R) : Prop :=
  forall i j, (i < dim r)%nat -> (j < dim r)%nat ->
  sum (order G) (fun g => tau g * mat r g i j) = mu * delta i j.

(** A real character of degree 1. *)
Definition one_dimensional (f : nat -> R) : representation :=
  Representation 1 (fun g _ _ => f g) 1 (fun _ _ _ => 1).

Lemma one_dimensional_is_representation : forall G f, f (unit G) = 1 ->
  (forall a b, below G a -> below G b -> f (op G a b) = f a * f b) ->
  (forall a, below G a -> f (inv G a) = f a) ->
  is_representation G (one_dimensional f).
Proof.
  intros G f H1 H2 H3; split; cbn [one_dimensional dim mat many unit_matrix].
  - intros i j Hi Hj; replace i with 0%nat by lia; replace j with 0%nat by lia.
    rewrite delta_same; exact H1.
  - intros a b i j Ha Hb _ _; unfold times; cbn [sum]; rewrite H2 by assumption; ring.
  - intros a i j Ha _ _; apply H3; assumption.
  - lia.
  - intros i j Hi Hj; replace i with 0%nat by lia; replace j with 0%nat by lia.
    rewrite delta_same; reflexivity.
  - intros k l b c Hk Hl Hb Hc.
    replace k with 0%nat by lia; replace l with 0%nat by lia.
    replace b with 0%nat by lia; replace c with 0%nat by lia; rewrite !delta_same; cbn [sum]; ring.
  - intros a k _ _ i j _ _; unfold times; cbn [sum]; ring.
Qed.

Section Fourier.
Variable G : group.
Hypothesis HG : is_group G.
Local Notation n := (order G).

(** The matrix of a function. *)
Definition hat (r : representation) (f : nat -> R) (i j : nat) : R :=
  sum n (fun g => f g * mat r g i j).

Section One.
Variable r : representation.
Hypothesis Hr : is_representation G r.
Local Notation d := (dim r).

Lemma overlap : forall x y, below G x -> below G y ->
  frobenius_inner d (mat r y) (mat r x) = character r (op G (inv G y) x).
Proof.
  intros x y Hx Hy; unfold frobenius_inner, inner, character.
  rewrite sum_swap; apply sum_ext; intros j Hj.
  rewrite (mat_op G r Hr) by (try apply inv_below; assumption).
  apply sum_ext; intros i Hi; rewrite (mat_inv G r Hr) by assumption; reflexivity.
Qed.

Lemma hat_product : forall f g i j, (i < d)%nat -> (j < d)%nat ->
  sum n (fun a => sum n (fun b => f a * g b * mat r (op G a b) i j))
  = times d (hat r f) (hat r g) i j.
Proof.
  intros f g i j Hi Hj; symmetry; unfold times, hat.
  rewrite (sum_ext d _ (fun k => sum n (fun a => sum n (fun b =>
    f a * g b * (mat r a i k * mat r b k j))))).
  - rewrite sum_swap; apply sum_ext; intros a Ha.
    rewrite sum_swap; apply sum_ext; intros b Hb.
    rewrite sum_scal; f_equal; symmetry; exact (mat_op G r Hr a b i j Ha Hb Hi Hj).
  - intros k Hk; rewrite sum_mult; apply sum_ext; intros; apply sum_ext; intros; ring.
Qed.

Lemma hat_commute : forall f k, (k < many r)%nat -> commute d (hat r f) (unit_matrix r k).
Proof.
  intros f k Hk i j Hi Hj; unfold times, hat.
  transitivity (sum n (fun g => f g * times d (mat r g) (unit_matrix r k) i j)).
  - rewrite (sum_ext d _ (fun l => sum n (fun g => f g * (mat r g i l * unit_matrix r k l j)))).
    + rewrite sum_swap; apply sum_ext; intros; rewrite sum_scal; reflexivity.
    + intros l _; rewrite <- sum_scal_r; apply sum_ext; intros; ring.
  - rewrite (sum_ext d _ (fun l => sum n (fun g => f g * (unit_matrix r k i l * mat r g l j)))).
    + rewrite sum_swap; apply sum_ext; intros g Hg; rewrite sum_scal; f_equal.
      apply (units_commute G r Hr); assumption.
    + intros l _; rewrite <- sum_scal; apply sum_ext; intros; ring.
Qed.

Lemma hat_contrast : forall tau mu f i j, scalar G tau r mu -> (i < d)%nat -> (j < d)%nat ->
  hat r (contrast G tau f) i j = (1 - mu) * hat r f i j.
Proof.
  intros tau mu f i j Hmu Hi Hj.
  assert (T : forall g, below G g ->
    sum n (fun y => f (op G (inv G g) y) * mat r y i j) = times d (mat r g) (hat r f) i j).
  { intros g Hg; rewrite <- (sum_left G HG g) by assumption.
    rewrite (sum_ext n _ (fun x => sum d (fun k => mat r g i k * (f x * mat r x k j)))).
    - rewrite sum_swap; apply sum_ext; intros; rewrite sum_scal; reflexivity.
    - intros x Hx; rewrite inv_cancel, (mat_op G r Hr) by assumption.
      unfold times; rewrite <- sum_scal; apply sum_ext; intros; ring. }
  unfold hat at 1, contrast.
  rewrite (sum_ext n _ (fun y => f y * mat r y i j
    - sum n (fun g => tau g * (f (op G (inv G g) y) * mat r y i j)))).
  2: { intros y _; rewrite Rmult_minus_distr_r, <- sum_scal_r; f_equal.
       apply sum_ext; intros; ring. }
  rewrite sum_minus; fold (hat r f i j); rewrite sum_swap.
  replace (sum n (fun g => sum n (fun y => tau g * (f (op G (inv G g) y) * mat r y i j))))
    with (mu * hat r f i j); [ring|].
  transitivity (sum n (fun g => tau g * times d (mat r g) (hat r f) i j)).
  - transitivity (sum d (fun k => sum n (fun g => tau g * mat r g i k) * hat r f k j)).
    + rewrite (sum_ext d _ (fun k => delta k i * (mu * hat r f k j))).
      * rewrite (sum_delta d (fun k => mu * hat r f k j) i Hi); reflexivity.
      * intros k Hk; rewrite (Hmu i k Hi Hk), (delta_sym i k); ring.
    + unfold times.
      rewrite (sum_ext d _ (fun k => sum n (fun g => tau g * (mat r g i k * hat r f k j)))).
      * rewrite sum_swap; apply sum_ext; intros; rewrite sum_scal; reflexivity.
      * intros k _; rewrite <- sum_scal_r; apply sum_ext; intros; ring.
  - apply sum_ext; intros g Hg; rewrite sum_scal, T by assumption; reflexivity.
Qed.

End One.

Variable count : nat.
Variable family : nat -> representation.
Hypothesis Hfamily : forall s, (s < count)%nat -> is_representation G (family s).
Hypothesis Hcomplete : complete G count family.

Definition coefficient (s : nat) : R := INR (dim (family s)) / (INR (many (family s)) * INR n).

Lemma many_above_zero : forall s, (s < count)%nat -> 0 < INR (many (family s)).
Proof.
  intros s Hs; pose proof (many_positive G _ (Hfamily s Hs)); apply lt_0_INR; lia.
Qed.

Lemma coefficient_nonneg : forall s, (s < count)%nat -> 0 <= coefficient s.
Proof.
  intros s Hs; unfold coefficient.
  pose proof (many_above_zero s Hs); pose proof (order_positive G HG).
  apply Rmult_le_pos; [apply pos_INR|left; apply Rinv_0_lt_compat].
  apply Rmult_lt_0_compat; assumption.
Qed.

Lemma coefficients_complete : forall x y, below G x -> below G y ->
  sum count (fun s => coefficient s
    * frobenius_inner (dim (family s)) (mat (family s) y) (mat (family s) x))
  = delta x y.
Proof.
  intros x y Hx Hy; pose proof (order_positive G HG) as P.
  set (g := op G (inv G y) x).
  assert (Hg : below G g) by (apply op_below; [|apply inv_below|]; assumption).
  rewrite (sum_ext count _ (fun s => / INR n * (INR (dim (family s)) / INR (many (family s))
    * character (family s) g))).
  - rewrite sum_scal, (Hcomplete g Hg).
    replace (delta x y) with (delta g (unit G)); [field; lra|].
    unfold delta, g; destruct (Nat.eqb_spec x y) as [->|N].
    + rewrite (inv_left G HG) by assumption; rewrite Nat.eqb_refl; reflexivity.
    + destruct (Nat.eqb_spec (op G (inv G y) x) (unit G)) as [E|]; [|reflexivity].
      exfalso; apply N; rewrite <- (cancel_inv G HG y x), E by assumption.
      apply unit_right; assumption.
  - intros s Hs; unfold coefficient, g.
    rewrite (overlap (family s) (Hfamily s Hs)) by assumption.
    pose proof (many_above_zero s Hs); field; lra.
Qed.

(** Inversion, paired with any function. *)
Lemma inversion : forall f y, below G y ->
  f y = sum count (fun s => coefficient s
    * frobenius_inner (dim (family s)) (mat (family s) y) (hat (family s) f)).
Proof.
  intros f y Hy.
  transitivity (sum n (fun x => sum count (fun s => coefficient s
    * frobenius_inner (dim (family s)) (mat (family s) y) (mat (family s) x)) * f x)).
  - rewrite (sum_ext n _ (fun x => delta x y * f x)).
    + rewrite (sum_delta n f y Hy); reflexivity.
    + intros x Hx; rewrite coefficients_complete by assumption; reflexivity.
  - rewrite (sum_ext n _ (fun x => sum count (fun s => coefficient s * (f x
      * frobenius_inner (dim (family s)) (mat (family s) y) (mat (family s) x))))).
    2: { intros x _; rewrite <- sum_scal_r; apply sum_ext; intros; ring. }
    rewrite sum_swap; apply sum_ext; intros s _; rewrite sum_scal; f_equal.
    unfold frobenius_inner, inner, hat.
    rewrite (sum_ext n _ (fun x => sum (dim (family s)) (fun i => sum (dim (family s)) (fun j =>
      mat (family s) y i j * (f x * mat (family s) x i j))))).
    2: { intros x _; rewrite <- sum_scal; apply sum_ext; intros i _; rewrite <- sum_scal.
         apply sum_ext; intros; ring. }
    rewrite sum_swap; apply sum_ext; intros i _.
    rewrite sum_swap; apply sum_ext; intros j _; rewrite sum_scal; reflexivity.
Qed.

(** What a sum against a function is in matrices. *)
Lemma pairing : forall m (f : nat -> R) (p : nat -> nat) h,
  (forall k, (k < m)%nat -> below G (p k)) ->
  sum m (fun k => f k * h (p k)) = sum count (fun s => coefficient s
    * frobenius_inner (dim (family s))
        (fun i j => sum m (fun k => f k * mat (family s) (p k) i j)) (hat (family s) h)).
Proof.
  intros m f p h Hp.
  rewrite (sum_ext m _ (fun k => sum count (fun s => coefficient s * (f k
    * frobenius_inner (dim (family s)) (mat (family s) (p k)) (hat (family s) h))))).
  2: { intros k Hk; rewrite (inversion h (p k) (Hp k Hk)), <- sum_scal.
       apply sum_ext; intros; ring. }
  rewrite sum_swap; apply sum_ext; intros s _; rewrite sum_scal; f_equal.
  unfold frobenius_inner, inner.
  rewrite (sum_ext m _ (fun k => sum (dim (family s)) (fun i => sum (dim (family s)) (fun j =>
    f k * mat (family s) (p k) i j * hat (family s) h i j)))).
  2: { intros k _; rewrite <- sum_scal; apply sum_ext; intros i _; rewrite <- sum_scal.
       apply sum_ext; intros; ring. }
  rewrite sum_swap; apply sum_ext; intros i _.
  rewrite sum_swap; apply sum_ext; intros j _; rewrite sum_scal_r; reflexivity.
Qed.

Lemma parseval : forall f,
  square n f = sum count (fun s => coefficient s * frobenius (dim (family s)) (hat (family s) f)).
Proof.
  intro f; transitivity (sum n (fun k => f k * f k)).
  { apply sum_ext; intros; ring. }
  rewrite (pairing n f (fun k => k) f) by auto.
  apply sum_ext; intros s _; f_equal; unfold frobenius_inner, frobenius, inner, square.
  apply sum_ext; intros i _; apply sum_ext; intros j _; fold (hat (family s) f i j); ring.
Qed.

Lemma triple_matrices : forall f g h,
  triple G f g h = sum count (fun s => coefficient s * frobenius_inner (dim (family s))
    (times (dim (family s)) (hat (family s) f) (hat (family s) g)) (hat (family s) h)).
Proof.
  intros f g h; unfold triple.
  transitivity (sum n (fun a => sum count (fun s => coefficient s * frobenius_inner (dim (family s))
    (fun i j => sum n (fun b => f a * g b * mat (family s) (op G a b) i j)) (hat (family s) h)))).
  { apply sum_ext; intros a Ha.
    apply (pairing n (fun b => f a * g b) (op G a) h); intros; apply op_below; assumption. }
  rewrite sum_swap; apply sum_ext; intros s Hs; rewrite sum_scal; f_equal.
  unfold frobenius_inner; rewrite sum_swap; apply sum_ext; intros i Hi.
  unfold inner; rewrite sum_swap; apply sum_ext; intros j Hj.
  rewrite sum_scal_r; f_equal; apply (hat_product (family s) (Hfamily s Hs)); assumption.
Qed.

(** ** The bound *)

Variable tau : nat -> R.
Hypothesis Htau : wrong_weights G tau.
Variable mu : nat -> R.
Hypothesis Hmu : forall s, (s < count)%nat -> scalar G tau (family s) (mu s).
Variable K : R.
Hypothesis HK : 0 <= K.
Hypothesis Hrow : forall s, (s < count)%nat ->
  (1 - mu s) ^ 2 <= K ^ 2 * INR (dim (family s)).

(** The part of a representation in the square of a function. *)
Definition part (s : nat) (f : nat -> R) : R :=
  coefficient s * frobenius (dim (family s)) (hat (family s) f).

Lemma part_nonneg : forall s f, (s < count)%nat -> 0 <= part s f.
Proof.
  intros s f Hs; apply Rmult_le_pos; [apply coefficient_nonneg; assumption|apply frobenius_nonneg].
Qed.

Definition product_part (s : nat) (f g h : nat -> R) : R :=
  coefficient s * frobenius_inner (dim (family s))
    (times (dim (family s)) (hat (family s) f) (hat (family s) g)) (hat (family s) h).

Lemma triple_contrast : forall f g h,
  triple G f g (contrast G tau h) = sum count (fun s => (1 - mu s) * product_part s f g h).
Proof.
  intros f g h; rewrite triple_matrices; apply sum_ext; intros s Hs; unfold product_part.
  rewrite <- Rmult_assoc, (Rmult_comm (1 - mu s)), Rmult_assoc; f_equal.
  unfold frobenius_inner, inner; rewrite <- sum_scal; apply sum_ext; intros i Hi.
  rewrite <- sum_scal; apply sum_ext; intros j Hj.
  rewrite (hat_contrast (family s) (Hfamily s Hs) tau (mu s)) by (try apply Hmu; assumption); ring.
Qed.

(** Step 5: one representation. *)
Lemma one_row : forall s f g h, (s < count)%nat ->
  INR (dim (family s)) * product_part s f g h ^ 2 <= INR n * (part s f * part s g * part s h).
Proof.
  intros s f g h Hs; unfold product_part, part.
  set (d := dim (family s)); set (m := INR (many (family s))); set (c := coefficient s).
  set (F := hat (family s) f); set (V := hat (family s) g); set (W := hat (family s) h).
  pose proof (many_above_zero s Hs) as Pm; fold m in Pm.
  pose proof (order_positive G HG) as Pn; pose proof (coefficient_nonneg s Hs) as Pc; fold c in Pc.
  assert (Ec : INR d = c * m * INR n) by (unfold c, coefficient; fold d m; field; lra).
  assert (D : m * frobenius_inner d (times d F V) W ^ 2
    <= frobenius d F * frobenius d V * frobenius d W).
  { pose proof (frobenius_cauchy_schwarz d (times d F V) W) as C.
    pose proof (units_product d (many (family s)) (unit_matrix (family s)) F V
      (units_units G _ (Hfamily s Hs)) (hat_commute (family s) (Hfamily s Hs) f)) as B.
    apply Rle_trans with (m * frobenius d (times d F V) * frobenius d W).
    - rewrite Rmult_assoc; apply Rmult_le_compat_l; lra.
    - apply Rmult_le_compat_r; [apply frobenius_nonneg|exact B]. }
  rewrite Ec; apply Rle_trans with (INR n * c ^ 3 * (m * frobenius_inner d (times d F V) W ^ 2)).
  - right; ring.
  - apply Rle_trans with (INR n * c ^ 3 * (frobenius d F * frobenius d V * frobenius d W)); [|right; ring].
    apply Rmult_le_compat_l; [|exact D].
    apply Rmult_le_pos; [lra|apply pow_le; assumption].
Qed.

Lemma weighted_row : forall s f g h, (s < count)%nat ->
  ((1 - mu s) * product_part s f g h) ^ 2 <= K ^ 2 * INR n * (part s f * part s g * part s h).
Proof.
  intros s f g h Hs.
  apply Rle_trans with (K ^ 2 * (INR (dim (family s)) * product_part s f g h ^ 2)).
  - rewrite Rpow_mult_distr, <- Rmult_assoc.
    apply Rmult_le_compat_r; [apply pow2_ge_0|exact (Hrow s Hs)].
  - rewrite Rmult_assoc; apply Rmult_le_compat_l; [apply pow2_ge_0|exact (one_row s f g h Hs)].
Qed.

(** Step 6: one neuron, of which every representation has a part. *)
Definition neuron_part (s : nat) (o : neuron) : R := part s (u o) + part s (v o) + part s (w o).

Lemma neuron_part_nonneg : forall s o, (s < count)%nat -> 0 <= neuron_part s o.
Proof.
  intros s o Hs; unfold neuron_part; pose proof (part_nonneg s (u o) Hs).
  pose proof (part_nonneg s (v o) Hs); pose proof (part_nonneg s (w o) Hs); lra.
Qed.

Lemma neuron_parts : forall o, norm (group_table G) o ^ 2 = sum count (fun s => neuron_part s o).
Proof.
  intro o; rewrite norm_square, !parseval; unfold neuron_part, part; rewrite !sum_plus; reflexivity.
Qed.

Lemma neuron_row : forall s o, (s < count)%nat ->
  (1 - mu s) * product_part s (u o) (v o) (w o) <= factor G K * norm (group_table G) o * neuron_part s o.
Proof.
  intros s o Hs; pose proof (factor_nonneg G K HK) as PK; pose proof (norm_nonneg G o) as PN.
  pose proof (neuron_part_nonneg s o Hs) as Px.
  apply le_of_squares; [apply Rmult_le_pos; [apply Rmult_le_pos|]; assumption|].
  apply Rle_trans with (1 := weighted_row s (u o) (v o) (w o) Hs).
  replace ((factor G K * norm (group_table G) o * neuron_part s o) ^ 2)
    with (factor G K ^ 2 * (neuron_part s o ^ 2 * norm (group_table G) o ^ 2)) by ring.
  rewrite factor_square, neuron_parts.
  pose proof (three_means _ _ _ (part_nonneg s (u o) Hs) (part_nonneg s (v o) Hs)
    (part_nonneg s (w o) Hs)) as M; fold (neuron_part s o) in M.
  replace (K ^ 2 * INR n / 27 * (neuron_part s o ^ 2 * sum count (fun t => neuron_part t o)))
    with (K ^ 2 * INR n * (neuron_part s o ^ 2 * sum count (fun t => neuron_part t o) / 27)) by field.
  apply Rmult_le_compat_l; [apply Rmult_le_pos; [apply pow2_ge_0|apply pos_INR]|].
  assert (neuron_part s o ^ 3 <= neuron_part s o ^ 2 * sum count (fun t => neuron_part t o)); [|lra].
  replace (neuron_part s o ^ 3) with (neuron_part s o ^ 2 * neuron_part s o) by ring.
  apply Rmult_le_compat_l; [apply pow2_ge_0|].
  apply (sum_term_le count (fun t => neuron_part t o)); [intros; apply neuron_part_nonneg|]; assumption.
Qed.

Lemma one_neuron : forall o,
  triple G (u o) (v o) (contrast G tau (w o)) <= factor G K * norm (group_table G) o ^ 3.
Proof.
  intro o; rewrite triple_contrast.
  replace (factor G K * norm (group_table G) o ^ 3)
    with (sum count (fun s => factor G K * norm (group_table G) o * neuron_part s o))
    by (rewrite sum_scal, <- neuron_parts; ring).
  apply sum_le; intros s Hs; apply neuron_row; assumption.
Qed.

End Fourier.

(** The upper side for every group with a complete family. *)
Theorem upper_side : forall G count family tau mu K,
  is_group G ->
  (forall s, (s < count)%nat -> is_representation G (family s)) ->
  complete G count family ->
  wrong_weights G tau ->
  (forall s, (s < count)%nat -> scalar G tau (family s) (mu s)) ->
  0 <= K -> (forall s, (s < count)%nat -> Rabs (1 - mu s) <= K * sqrt (INR (dim (family s)))) ->
  forall net g, normalized_margin_at_least (group_table G) g net -> g <= constant G * K.
Proof.
  intros G count family tau mu K HG Hfamily Hcomplete Htau Hmu HK Hrow.
  apply normalized_from_neurons with (tau := tau); [exact HG|exact Htau|].
  intro o; apply one_neuron with (count := count) (family := family) (mu := mu); try assumption.
  intros s Hs; rewrite <- (pow2_abs (1 - mu s)).
  rewrite <- (square_sqrt (INR (dim (family s))) (pos_INR _)).
  replace (K ^ 2 * sqrt (INR (dim (family s))) ^ 2) with ((K * sqrt (INR (dim (family s)))) ^ 2) by ring.
  apply pow_incr; split; [apply Rabs_pos|apply Hrow; assumption].
Qed.
