(** Which networks have the maximum margin of a product in a finite group.

    If a network attains the bound of Representations.v, nothing is lost in any
    of its steps: every neuron attains the bound for one neuron ([tight_neurons])
    and at every cell the outputs at all labels of positive weight are equally
    far from the right one ([tight_labels]).  A neuron of norm N attains it only
    if the parts x_s of its square satisfy x_s^2 N^2 <= x_s^3, so that one of
    them is N^2 and the others are 0; and then the parts of u, v and w, whose
    product is largest for a given sum, are equal ([one_representation]).

    [closed_form_maximisers]: where the closed form is the maximum margin, each
    neuron of a network that attains it has u, v and w of one nontrivial
    representation, and of one length; if the condition is strict, each
    nontrivial representation has such a neuron.  This is the structure in
    theorem 7.9.  [closed_form_masses]: then the sum of the cubes of the norms of
    the neurons of a representation is its share of that of all, because the
    outputs, paired with its character, are known ([sum_of_products]).
    [maximisers_of_every_group]: for every finite group each neuron of each
    network of maximum margin has one nontrivial irreducible representation. *)

From Coq Require Import Reals List Lra Lia Arith.
From Lemmata Require Import Statement Sums Convolution Groups EveryGroup Representations Schur Universal Maximum.
From Lemmata Require Import Spectral Commutants Decomposition.
Local Open Scope R_scope.

(** ** Where an inequality between sums is an equality *)

Lemma sum_tight : forall n f g, (forall i, (i < n)%nat -> f i <= g i) -> sum n g <= sum n f ->
  forall i, (i < n)%nat -> f i = g i.
Proof.
  intros n f g H L i Hi.
  assert (Z : sum n (fun i => g i - f i) = 0)
    by (rewrite sum_minus; pose proof (sum_le n f g H); lra).
  assert (P : forall k, (k < n)%nat -> 0 <= g k - f k) by (intros k Hk; pose proof (H k Hk); lra).
  pose proof (sum_zero_terms n (fun i => g i - f i) P Z i Hi) as E; simpl in E; lra.
Qed.

Lemma over_tight : forall net phi psi, (forall o, phi o <= psi o) -> over net psi <= over net phi ->
  forall o, In o net -> phi o = psi o.
Proof.
  induction net as [|p l IH]; intros phi psi H L o I; [contradiction|].
  unfold over in L; simpl in L; fold (over l phi) (over l psi) in L.
  pose proof (H p); pose proof (over_le l phi psi H).
  destruct I as [<-|I]; [lra|apply IH; [assumption|lra|assumption]].
Qed.

Lemma over_ext_in : forall net phi psi, (forall o, In o net -> phi o = psi o) -> over net phi = over net psi.
Proof.
  induction net as [|p l IH]; intros phi psi H; [reflexivity|].
  unfold over in *; simpl; rewrite (H p), (IH phi psi); [reflexivity| |left; reflexivity].
  intros o I; apply H; right; exact I.
Qed.

Lemma over_nonzero : forall net phi, over net phi <> 0 -> exists o, In o net /\ phi o <> 0.
Proof.
  induction net as [|p l IH]; intros phi N; [contradiction N; reflexivity|].
  destruct (Req_dec (phi p) 0) as [Z|Z]; [|exists p; split; [left; reflexivity|exact Z]].
  destruct (IH phi) as [o [I O]]; [|exists o; split; [right|]; assumption].
  intro E; apply N; unfold over in *; simpl; rewrite Z, E; ring.
Qed.

Lemma three_equal : forall a b c, 0 <= a -> 0 <= b -> 0 <= c ->
  (a + b + c) ^ 3 <= 27 * (a * b * c) -> a = b /\ b = c.
Proof.
  intros a b c Ha Hb Hc H.
  assert (E : (a + b + c) ^ 3 - 27 * (a * b * c)
    = / 2 * ((a + b + c) * ((a - b) ^ 2 + (b - c) ^ 2 + (c - a) ^ 2))
      + 3 * (a * (b - c) ^ 2 + b * (c - a) ^ 2 + c * (a - b) ^ 2)) by field.
  pose proof (pow2_ge_0 (a - b)) as P1; pose proof (pow2_ge_0 (b - c)) as P2; pose proof (pow2_ge_0 (c - a)) as P3.
  pose proof (Rmult_le_pos a ((b - c) ^ 2) Ha P2); pose proof (Rmult_le_pos b ((c - a) ^ 2) Hb P3).
  pose proof (Rmult_le_pos c ((a - b) ^ 2) Hc P1).
  destruct (Req_dec (a + b + c) 0) as [Z|N]; [lra|].
  assert (S : (a - b) ^ 2 + (b - c) ^ 2 + (c - a) ^ 2 <= 0).
  { apply Rmult_le_reg_l with (a + b + c); lra. }
  assert ((a - b) ^ 2 = 0 /\ (b - c) ^ 2 = 0) as [Q1 Q2] by lra.
  split; apply Rminus_diag_uniq; [destruct (Req_dec (a - b) 0) as [|M]|destruct (Req_dec (b - c) 0) as [|M]];
    try assumption; exfalso; apply (pow_nonzero _ 2 M); assumption.
Qed.

(** ** A network that attains the bound *)

Section Tight.
Variable G : group.
Hypothesis HG : is_group G.
Variable tau : nat -> R.
Hypothesis Htau : wrong_weights G tau.
Variable K : R.
Hypothesis Hneuron : forall o,
  triple G (u o) (v o) (contrast G tau (w o)) <= factor G K * norm (group_table G) o ^ 3.
Variable net : network.
Local Notation n := (order G).
Local Notation best := (constant G * K * norm3 (group_table G) net).
Hypothesis Hnet : margin_at_least (group_table G) best net.

Lemma tight_neurons : forall o, In o net ->
  triple G (u o) (v o) (contrast G tau (w o)) = factor G K * norm (group_table G) o ^ 3.
Proof.
  intros o I; apply Rmult_eq_reg_l with 2; [|lra].
  apply (over_tight net (fun o => 2 * triple G (u o) (v o) (contrast G tau (w o)))
    (fun o => 2 * (factor G K * norm (group_table G) o ^ 3))); [|rewrite factor_constant by exact HG|exact I].
  - intro p; pose proof (Hneuron p); lra.
  - apply (relaxation G HG tau Htau); assumption.
Qed.

Lemma tight_labels : forall a b d, below G a -> below G b -> below G d -> 0 < tau d ->
  difference_at G net a b d = best.
Proof.
  intros a b d Ha Hb Hd P.
  set (mean := fun a b => sum n (fun d => tau d * difference_at G net a b d)).
  assert (M : forall a b, below G a -> below G b -> best <= mean a b)
    by (intros; apply (margin_at_cell G HG tau Htau); assumption).
  assert (U : sum n (fun a => sum n (mean a)) <= sum n (fun _ => sum n (fun _ => best))).
  { unfold mean; rewrite (average_over_cells G HG tau Htau), !sum_const, <- Rmult_assoc.
    replace (INR n * INR n) with (INR n ^ 2) by ring; rewrite <- (factor_constant G HG).
    apply over_le; intro o; pose proof (Hneuron o); lra. }
  assert (E : best = mean a b).
  { apply (sum_tight n (fun _ => best) (mean a)); [intros; apply M; assumption| |exact Hb].
    right; symmetry; apply (sum_tight n (fun _ => sum n (fun _ => best)) (fun a => sum n (mean a)));
      [|exact U|exact Ha].
    intros c Hc; apply sum_le; intros; apply M; assumption. }
  apply Rmult_eq_reg_l with (tau d); [|lra]; symmetry.
  apply (sum_tight n (fun d => tau d * best) (fun d => tau d * difference_at G net a b d));
    [|right|exact Hd].
  - intros c Hc; apply (weighted_difference G HG tau Htau); assumption.
  - rewrite sum_scal_r, (tau_sum G tau Htau), Rmult_1_l; symmetry; exact E.
Qed.

End Tight.

(** ** One neuron *)

(** A function on the group is in the span of the entries of a representation. *)
Definition spanned (G : group) (r : representation) (f : nat -> R) : Prop :=
  exists A, forall y, below G y -> f y = frobenius_inner (dim r) (mat r y) A.

(** A neuron of one representation, with u, v and w of one length. *)
Definition neuron_of (G : group) (r : representation) (o : neuron) : Prop :=
  spanned G r (u o) /\ spanned G r (v o) /\ spanned G r (w o) /\
  square (order G) (u o) = square (order G) (v o) /\ square (order G) (v o) = square (order G) (w o).

Section OneNeuron.
Variable G : group.
Hypothesis HG : is_group G.
Variable count : nat.
Variable family : nat -> representation.
Hypothesis Hfamily : forall s, (s < count)%nat -> is_representation G (family s).
Hypothesis Hcomplete : complete G count family.
Variable tau : nat -> R.
Hypothesis Htau : wrong_weights G tau.
Variable mu : nat -> R.
Hypothesis Hmu : forall s, (s < count)%nat -> scalar G tau (family s) (mu s).
Variable K : R.
Hypothesis HK : 0 < K.
Hypothesis Hrow : forall s, (s < count)%nat -> (1 - mu s) ^ 2 <= K ^ 2 * INR (dim (family s)).
Local Notation n := (order G).
Local Notation d s := (dim (family s)).
Local Notation part s f := (part G family s f).
Local Notation x s o := (neuron_part G family s o).
Local Notation N o := (norm (group_table G) o).

Lemma hat_null : forall s f i j, (s < count)%nat -> (i < d s)%nat -> (j < d s)%nat -> part s f = 0 ->
  hat G (family s) f i j = 0.
Proof.
  intros s f i j Hs Hi Hj Z; unfold Representations.part in Z.
  assert (Pc : 0 < coefficient G family s).
  { pose proof (many_above_zero G count family Hfamily s Hs); pose proof (order_positive G HG).
    apply Rdiv_lt_0_compat; [apply lt_0_INR; lia|apply Rmult_lt_0_compat; assumption]. }
  assert (F : frobenius (d s) (hat G (family s) f) = 0) by (apply Rmult_integral in Z; lra).
  apply (square_null (d s)); [|exact Hj].
  apply (sum_zero_terms (d s) (fun i => square (d s) (hat G (family s) f i)));
    [intros; apply square_nonneg|exact F|exact Hi].
Qed.

(** What a neuron that attains the bound consists of. *)
Definition pure (s : nat) (o : neuron) : Prop :=
  part s (u o) = N o ^ 2 / 3 /\ part s (v o) = N o ^ 2 / 3 /\ part s (w o) = N o ^ 2 / 3 /\
  forall t, (t < count)%nat -> t <> s -> part t (u o) = 0 /\ part t (v o) = 0 /\ part t (w o) = 0.

Lemma pure_unique : forall s t o, (s < count)%nat -> 0 < N o -> pure s o -> pure t o -> s = t.
Proof.
  intros s t o Hs P [E _] [_ [_ [_ Q]]]; destruct (Nat.eq_dec s t) as [|D]; [assumption|exfalso].
  destruct (Q s Hs D) as [Z _]; pose proof (pow_lt _ 2 P); lra.
Qed.

Lemma tight_neuron : forall o, 0 < N o ->
  triple G (u o) (v o) (contrast G tau (w o)) = factor G K * N o ^ 3 ->
  exists s, (s < count)%nat /\ pure s o /\ (1 - mu s) ^ 2 = K ^ 2 * INR (d s) /\
    (1 - mu s) * product_part G family s (u o) (v o) (w o) = factor G K * N o ^ 3.
Proof.
  intros o PN E; pose proof (order_positive G HG) as Pn.
  assert (HK' : 0 <= K) by lra; assert (PK : 0 < K ^ 2 * INR n) by (apply Rmult_lt_0_compat; [apply pow_lt|]; lra).
  assert (Px : forall s, (s < count)%nat -> 0 <= x s o)
    by (intros; apply (neuron_part_nonneg G HG count family Hfamily); assumption).
  assert (X : N o ^ 2 = sum count (fun s => x s o)) by (apply (neuron_parts G HG); assumption).
  assert (Terms : forall s, (s < count)%nat ->
    (1 - mu s) * product_part G family s (u o) (v o) (w o) = factor G K * N o * x s o).
  { apply (sum_tight count (fun s => (1 - mu s) * product_part G family s (u o) (v o) (w o))).
    - intros s Hs; apply (neuron_row G HG count family Hfamily Hcomplete mu K); assumption.
    - rewrite sum_scal, <- X, <- (triple_contrast G HG count family Hfamily Hcomplete tau mu Hmu), E.
      right; ring. }
  destruct (positive_term count (fun s => x s o)) as [s [Hs Xs]].
  { rewrite <- X; apply pow_lt; assumption. }
  assert (Pu : 0 <= part s (u o)) by (apply (part_nonneg G HG count family Hfamily); assumption).
  assert (Pv : 0 <= part s (v o)) by (apply (part_nonneg G HG count family Hfamily); assumption).
  assert (Pw : 0 <= part s (w o)) by (apply (part_nonneg G HG count family Hfamily); assumption).
  pose proof (three_means _ _ _ Pu Pv Pw) as M.
  pose proof (weighted_row G HG count family Hfamily mu K Hrow s (u o) (v o) (w o) Hs) as B.
  set (pqr := part s (u o) * part s (v o) * part s (w o)) in *.
  assert (Sq : (factor G K * N o * x s o) ^ 2 = K ^ 2 * INR n * (x s o ^ 2 * N o ^ 2 / 27)).
  { replace ((factor G K * N o * x s o) ^ 2) with (factor G K ^ 2 * (x s o ^ 2 * N o ^ 2)) by ring.
    rewrite factor_square; field. }
  rewrite (Terms s Hs), Sq in B; apply Rmult_le_reg_l in B; [|exact PK].
  fold (x s o) in M.
  assert (Le : x s o <= N o ^ 2)
    by (rewrite X; apply (sum_term_le count (fun t => x t o)); assumption).
  assert (All : x s o = N o ^ 2).
  { apply Rle_antisym; [exact Le|].
    apply Rmult_le_reg_l with (x s o ^ 2); [apply pow_lt; exact Xs|].
    replace (x s o ^ 2 * x s o) with (x s o ^ 3) by ring; lra. }
  assert (Cube : x s o ^ 3 <= 27 * pqr)
    by (replace (x s o ^ 3) with (x s o ^ 2 * N o ^ 2) by (rewrite <- All; ring); lra).
  destruct (three_equal _ _ _ Pu Pv Pw Cube) as [E1 E2].
  assert (Sum : part s (u o) + part s (v o) + part s (w o) = N o ^ 2) by exact All.
  exists s; split; [exact Hs|split; [|split]].
  - split; [lra|split; [lra|split; [lra|]]].
    intros t Ht T; assert (Zt : x t o = 0).
    { pose proof (sum_zero_terms count (fun t => x t o - delta t s * x t o)) as Z.
      assert (D : x t o - delta t s * x t o = 0).
      { apply Z; [| |exact Ht].
        - intros k Hk; destruct (Nat.eq_dec k s) as [->|L].
          + rewrite delta_same; lra.
          + rewrite delta_other by exact L; pose proof (Px k Hk); lra.
        - rewrite sum_minus, (sum_delta count (fun t => x t o) s Hs), <- X, All; ring. }
      rewrite delta_other in D by exact T; lra. }
    unfold neuron_part in Zt.
    pose proof (part_nonneg G HG count family Hfamily t (u o) Ht).
    pose proof (part_nonneg G HG count family Hfamily t (v o) Ht).
    pose proof (part_nonneg G HG count family Hfamily t (w o) Ht); lra.
  - apply Rle_antisym; [apply Hrow; exact Hs|].
    pose proof (one_row G HG count family Hfamily s (u o) (v o) (w o) Hs) as R; fold pqr in R.
    set (q := product_part G family s (u o) (v o) (w o)) in *.
    assert (V : ((1 - mu s) * q) ^ 2 = K ^ 2 * INR n * (x s o ^ 3 / 27)).
    { unfold q; rewrite (Terms s Hs), Sq, <- All; f_equal; field. }
    assert (Low : (1 - mu s) ^ 2 * (INR (d s) * q ^ 2) <= (1 - mu s) ^ 2 * (INR n * (x s o ^ 3 / 27))).
    { apply Rmult_le_compat_l; [apply pow2_ge_0|]; apply Rle_trans with (1 := R).
      apply Rmult_le_compat_l; lra. }
    apply Rmult_le_reg_r with (INR n * (x s o ^ 3 / 27)).
    + apply Rmult_lt_0_compat; [exact Pn|]; apply Rdiv_lt_0_compat; [apply pow_lt; exact Xs|lra].
    + replace (K ^ 2 * INR (d s) * (INR n * (x s o ^ 3 / 27)))
        with (INR (d s) * (K ^ 2 * INR n * (x s o ^ 3 / 27))) by ring.
      rewrite <- V; replace (INR (d s) * ((1 - mu s) * q) ^ 2) with ((1 - mu s) ^ 2 * (INR (d s) * q ^ 2)) by ring.
      exact Low.
  - rewrite (Terms s Hs), All; ring.
Qed.

(** The other parts are 0: the function is the sum over one representation. *)
Lemma part_alone : forall s f, (s < count)%nat ->
  (forall t, (t < count)%nat -> t <> s -> part t f = 0) ->
  square n f = part s f /\
  forall y, below G y -> f y = coefficient G family s * frobenius_inner (d s) (mat (family s) y) (hat G (family s) f).
Proof.
  intros s f Hs H; split.
  - rewrite (parseval G HG count family Hfamily Hcomplete), <- (sum_delta count (fun t => part t f) s Hs).
    apply sum_ext; intros t Ht; destruct (Nat.eq_dec t s) as [->|T].
    + rewrite delta_same; unfold Representations.part; ring.
    + rewrite delta_other by exact T; rewrite Rmult_0_l; exact (H t Ht T).
  - intros y Hy; rewrite (inversion G HG count family Hfamily Hcomplete f y Hy).
    rewrite <- (sum_delta count (fun t => coefficient G family t
      * frobenius_inner (d t) (mat (family t) y) (hat G (family t) f)) s Hs).
    apply sum_ext; intros t Ht; destruct (Nat.eq_dec t s) as [->|T]; [rewrite delta_same; ring|].
    rewrite delta_other by exact T; rewrite Rmult_0_l; unfold frobenius_inner, inner.
    rewrite sum_zero; [ring|]; intros i Hi; apply sum_zero; intros j Hj.
    rewrite (hat_null t f i j Ht Hi Hj (H t Ht T)); ring.
Qed.

Lemma alone_spanned : forall s f, (s < count)%nat ->
  (forall t, (t < count)%nat -> t <> s -> part t f = 0) -> spanned G (family s) f.
Proof.
  intros s f Hs H; exists (fun i j => coefficient G family s * hat G (family s) f i j); intros y Hy.
  rewrite (proj2 (part_alone s f Hs H) y Hy); unfold frobenius_inner, inner.
  rewrite <- sum_scal; apply sum_ext; intros i _; rewrite <- sum_scal; apply sum_ext; intros; ring.
Qed.

Lemma pure_neuron : forall s o, (s < count)%nat -> pure s o -> neuron_of G (family s) o.
Proof.
  intros s o Hs [Eu [Ev [Ew H]]].
  assert (Hu : forall t, (t < count)%nat -> t <> s -> part t (u o) = 0) by apply H.
  assert (Hv : forall t, (t < count)%nat -> t <> s -> part t (v o) = 0) by apply H.
  assert (Hw : forall t, (t < count)%nat -> t <> s -> part t (w o) = 0) by apply H.
  repeat split; try (apply alone_spanned; assumption).
  - rewrite (proj1 (part_alone s _ Hs Hu)), (proj1 (part_alone s _ Hs Hv)), Eu, Ev; reflexivity.
  - rewrite (proj1 (part_alone s _ Hs Hv)), (proj1 (part_alone s _ Hs Hw)), Ev, Ew; reflexivity.
Qed.

End OneNeuron.

Lemma silent_weights : forall G o, norm (group_table G) o = 0 -> forall x, below G x ->
  u o x = 0 /\ v o x = 0 /\ w o x = 0.
Proof.
  intros G o Z x Hx; pose proof (norm_square G o) as Q; rewrite Z in Q; set (n := order G) in *.
  pose proof (square_nonneg n (u o)); pose proof (square_nonneg n (v o)); pose proof (square_nonneg n (w o)).
  repeat split; apply (square_null n); (exact Hx || lra).
Qed.

(** ** Networks of maximum margin *)

Section Structure.
Variable G : group.
Hypothesis HG : is_group G.
Variable count : nat.
Variable family : nat -> representation.
Hypothesis HF : complete_family G count family.
Hypothesis Htrivial : forall g, below G g -> character (family 0%nat) g = 1.
Variable tau : nat -> R.
Hypothesis Htau : wrong_weights G tau.
Hypothesis Hclass : symmetric_class_function G tau.
Variable K : R.
Hypothesis HK : 0 < K.
Local Notation n := (order G).
Local Notation d s := (dim (family s)).
Local Notation chi s := (character (family s)).
Hypothesis Hpayoff : forall s, (s < count)%nat -> sum n (fun g => tau g * payoff (family s) g) <= K.
Variable net : network.
Hypothesis Hnet : normalized_margin_at_least (group_table G) (constant G * K) net.

Let Hfamily := family_representations G count family HF.
Let Hcomplete := family_complete G count family HF.

Definition mean_character (s : nat) : R := sum n (fun g => tau g * chi s g) / INR (d s).

Lemma mean_character_scalar : forall s, (s < count)%nat -> scalar G tau (family s) (mean_character s).
Proof. intros s Hs; apply (symmetric_class_scalar G HG count family HF); assumption. Qed.

Lemma mean_character_row : forall s, (s < count)%nat -> (1 - mean_character s) ^ 2 <= K ^ 2 * INR (d s).
Proof.
  intros s Hs; unfold mean_character; rewrite <- (payoff_mean G count family HF tau s Hs Htau).
  rewrite Rpow_mult_distr, (square_sqrt _ (pos_INR _)).
  apply Rmult_le_compat_r; [apply pos_INR|apply pow_incr; split; [|apply Hpayoff; exact Hs]].
  apply sum_nonneg; intros g Hg; apply Rmult_le_pos; [apply (tau_nonneg G tau Htau); exact Hg|].
  apply (payoff_nonneg G HG count family HF); assumption.
Qed.

Lemma every_neuron : forall o,
  triple G (u o) (v o) (contrast G tau (w o)) <= factor G K * norm (group_table G) o ^ 3.
Proof.
  apply (one_neuron G HG count family Hfamily Hcomplete tau mean_character mean_character_scalar K);
    [lra|exact mean_character_row].
Qed.

Lemma one_representation : forall o, In o net -> 0 < norm (group_table G) o ->
  exists s, (0 < s < count)%nat /\ pure G count family s o /\
    (1 - mean_character s) * product_part G family s (u o) (v o) (w o)
      = factor G K * norm (group_table G) o ^ 3.
Proof.
  intros o I P; destruct Hnet as [_ M].
  destruct (tight_neuron G HG count family Hfamily Hcomplete tau mean_character mean_character_scalar K HK
    mean_character_row o P) as [s [Hs [Q [E A]]]].
  { apply (tight_neurons G HG tau Htau K every_neuron net); assumption. }
  exists s; split; [split; [|exact Hs]|split; assumption].
  destruct s as [|s]; [exfalso|lia].
  destruct (trivial_dimension G HG count family HF Htrivial) as [D _]; rewrite D in E.
  assert (M0 : mean_character 0 = 1).
  { unfold mean_character; rewrite D, (sum_ext n _ tau) by (intros; rewrite Htrivial by assumption; ring).
    rewrite (tau_sum G tau Htau); simpl; field. }
  rewrite M0 in E; simpl INR in E; pose proof (pow_lt K 2 HK); lra.
Qed.

Local Notation best := (constant G * K * norm3 (group_table G) net).
Hypothesis Hpositive : forall g, below G g -> g <> unit G -> 0 < tau g.

(** If all weights are positive, all wrong labels are equally far from the right one. *)
Lemma equal_outputs : forall a b c, below G a -> below G b -> below G c ->
  output net a b c = output net a b (op G a b) - best + delta c (op G a b) * best.
Proof.
  intros a b c Ha Hb Hc; destruct Hnet as [_ M]; set (y := op G a b).
  assert (Hy : below G y) by (apply op_below; assumption).
  destruct (Nat.eq_dec c y) as [->|C]; [rewrite delta_same; ring|]; rewrite delta_other by exact C.
  pose proof (inv_below G HG c Hc) as Hi; set (g := op G y (inv G c)).
  assert (Hg : below G g) by (apply op_below; assumption).
  assert (Y : op G g c = y) by (apply (op_inv_cancel G HG); assumption).
  assert (N : g <> unit G) by (intro E; apply C; rewrite <- Y, E; symmetry; apply (unit_left G HG); exact Hc).
  pose proof (tight_labels G HG tau Htau K every_neuron net M a b g Ha Hb Hg (Hpositive g Hg N)) as T.
  unfold difference_at in T; fold y in T; rewrite <- Y in T at 2; rewrite (inv_cancel G HG) in T by assumption.
  rewrite <- T; ring.
Qed.

Variable s : nat.
Hypothesis Hs : (0 < s < count)%nat.

(** What an output weight has of the representation. *)
Definition component (f : nat -> R) (y : nat) : R :=
  frobenius_inner (d s) (mat (family s) y) (hat G (family s) f).

Lemma component_characters : forall f y, below G y ->
  component f y = sum n (fun c => f c * chi s (op G (inv G c) y)).
Proof.
  intros f y Hy; unfold component, frobenius_inner, inner, hat.
  transitivity (sum (d s) (fun i => sum (d s) (fun j => sum n (fun c =>
    f c * (mat (family s) c i j * mat (family s) y i j))))).
  - apply sum_ext; intros i _; apply sum_ext; intros j _; rewrite <- sum_scal; apply sum_ext; intros; ring.
  - rewrite (sum_ext (d s) _ (fun i => sum n (fun c => sum (d s) (fun j =>
      f c * (mat (family s) c i j * mat (family s) y i j))))) by (intros; apply sum_swap).
    rewrite sum_swap; apply sum_ext; intros c Hc.
    rewrite <- (overlap G HG (family s) (Hfamily s (proj2 Hs)) y c) by assumption.
    unfold frobenius_inner, inner; rewrite <- sum_scal; apply sum_ext; intros i _; apply sum_scal.
Qed.

Lemma character_sum : sum n (chi s) = 0.
Proof.
  pose proof (characters_orthogonal G HG count family HF s 0%nat ltac:(lia) ltac:(lia)) as O.
  rewrite delta_other, Rmult_0_l in O by lia; rewrite <- O.
  apply sum_ext; intros g Hg; rewrite Htrivial by exact Hg; ring.
Qed.

Lemma component_sum : forall f, sum n (component f) = 0.
Proof.
  intro f; rewrite (sum_ext n _ (fun y => sum n (fun c => f c * chi s (op G (inv G c) y))))
    by (intros; apply component_characters; assumption).
  rewrite sum_swap; apply sum_zero; intros c Hc; rewrite sum_scal.
  rewrite (sum_left G HG (inv G c) (chi s)) by (apply inv_below; assumption); rewrite character_sum; ring.
Qed.

Lemma component_triple : forall f g h,
  triple G f g (component h) = frobenius_inner (d s)
    (times (d s) (hat G (family s) f) (hat G (family s) g)) (hat G (family s) h).
Proof.
  intros f g h; unfold triple, component, frobenius_inner, inner.
  transitivity (sum (d s) (fun i => sum (d s) (fun j => sum n (fun a => sum n (fun b =>
    f a * g b * mat (family s) (op G a b) i j)) * hat G (family s) h i j))).
  - rewrite (sum_ext n _ (fun a => sum (d s) (fun i => sum n (fun b => sum (d s) (fun j =>
      f a * g b * mat (family s) (op G a b) i j * hat G (family s) h i j))))).
    + rewrite sum_swap; apply sum_ext; intros i _.
      rewrite (sum_ext n _ (fun a => sum (d s) (fun j => sum n (fun b =>
        f a * g b * mat (family s) (op G a b) i j * hat G (family s) h i j)))) by (intros; apply sum_swap).
      rewrite sum_swap; apply sum_ext; intros j _; rewrite <- sum_scal_r; apply sum_ext; intros; apply sum_scal_r.
    + intros a _; rewrite <- sum_swap; apply sum_ext; intros b _; rewrite <- sum_scal; apply sum_ext; intros i _.
      rewrite <- sum_scal; apply sum_ext; intros; ring.
  - apply sum_ext; intros i Hi; apply sum_ext; intros j Hj; f_equal.
    apply (hat_product G (family s) (Hfamily s (proj2 Hs))); assumption.
Qed.

Lemma component_at_cell : forall a b, below G a -> below G b ->
  over net (fun o => activity o a b * component (w o) (op G a b)) = best * INR (d s).
Proof.
  intros a b Ha Hb; set (y := op G a b); assert (Hy : below G y) by (apply op_below; assumption).
  transitivity (sum n (fun c => output net a b c * chi s (op G (inv G c) y))).
  - rewrite (sum_ext n _ (fun c => over net (fun o => activity o a b * (w o c * chi s (op G (inv G c) y))))).
    + rewrite sum_over; apply over_ext; intro o; rewrite sum_scal, <- component_characters by exact Hy; reflexivity.
    + intros c _; rewrite output_over, Rmult_comm, <- over_scal; apply over_ext; intros; ring.
  - rewrite (sum_ext n _ (fun c => (output net a b y - best) * chi s (op G (inv G c) y)
      + delta c y * (best * chi s (op G (inv G c) y))))
      by (intros c Hc; rewrite (equal_outputs a b c Ha Hb Hc); fold y; ring).
    rewrite sum_plus, sum_scal, (sum_delta n (fun c => best * chi s (op G (inv G c) y)) y Hy).
    rewrite (sum_inverses G HG (fun c => chi s (op G c y))), (sum_right G HG y (chi s) Hy), character_sum.
    rewrite (inv_left G HG) by exact Hy; rewrite (dimension_character G count family HF) by apply Hs; ring.
Qed.

(** The products of the parts in the representation have a sum that the margin determines. *)
Lemma sum_of_products :
  2 * over net (fun o => product_part G family s (u o) (v o) (w o))
  = coefficient G family s * (INR n ^ 2 * (best * INR (d s))).
Proof.
  transitivity (coefficient G family s * over net (fun o => 2 * triple G (u o) (v o) (component (w o)))).
  - rewrite <- !over_scal; apply over_ext; intro o; rewrite component_triple; unfold product_part; ring.
  - f_equal; transitivity (sum n (fun a => sum n (fun b => best * INR (d s)))); [|rewrite !sum_const; ring].
    rewrite (over_ext net _ (fun o => sum n (fun a => sum n (fun b => activity o a b * component (w o) (op G a b)))))
      by (intro o; symmetry; apply (activity_zero_sum G HG), component_sum).
    rewrite <- sum_over; apply sum_ext; intros a Ha; rewrite <- sum_over; apply sum_ext; intros b Hb.
    apply component_at_cell; assumption.
Qed.

Lemma product_elsewhere : forall o t, pure G count family t o -> s <> t ->
  product_part G family s (u o) (v o) (w o) = 0.
Proof.
  intros o t [_ [_ [_ Q]]] D; destruct (Q s (proj2 Hs) D) as [_ [_ Z]]; unfold product_part, frobenius_inner, inner.
  rewrite sum_zero; [ring|]; intros i Hi; apply sum_zero; intros j Hj.
  rewrite (hat_null G HG count family Hfamily s (w o) i j (proj2 Hs) Hi Hj Z); ring.
Qed.

Lemma silent_product : forall o, norm (group_table G) o = 0 -> product_part G family s (u o) (v o) (w o) = 0.
Proof.
  intros o Z; unfold product_part, frobenius_inner, inner.
  rewrite sum_zero; [ring|]; intros i Hi; apply sum_zero; intros j Hj; unfold hat at 3.
  rewrite (sum_zero n) by (intros x Hx; destruct (silent_weights G o Z x Hx) as [_ [_ ->]]; ring); ring.
Qed.

(** Every nontrivial representation is needed. *)
Lemma every_representation : exists o, In o net /\ 0 < norm (group_table G) o /\ pure G count family s o.
Proof.
  destruct (over_nonzero net (fun o => product_part G family s (u o) (v o) (w o))) as [o [I T]].
  { intro Z; pose proof sum_of_products as S; rewrite Z in S; destruct Hnet as [PN _].
    pose proof (dimension_positive G count family HF s (proj2 Hs)) as Pd; pose proof (order_positive G HG) as Pn.
    assert (0 < coefficient G family s * (INR n ^ 2 * (best * INR (d s)))); [|lra].
    apply Rmult_lt_0_compat.
    - apply Rdiv_lt_0_compat; [exact Pd|apply Rmult_lt_0_compat; [|exact Pn]].
      apply (units_number_positive G count family HF); apply Hs.
    - apply Rmult_lt_0_compat; [apply pow_lt; exact Pn|apply Rmult_lt_0_compat; [|exact Pd]].
      apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; [apply constant_positive|]|]; assumption. }
  destruct (norm_nonneg G o) as [No|No]; [|exfalso; apply T, silent_product; symmetry; exact No].
  destruct (one_representation o I No) as [t [Ht [Q _]]].
  destruct (Nat.eq_dec s t) as [E|D]; [|exfalso; apply T; exact (product_elsewhere o t Q D)].
  rewrite <- E in Q; exists o; split; [exact I|split; assumption].
Qed.

End Structure.

(** A silent neuron is one of every representation. *)
Lemma silent_in_all : forall G r o, norm (group_table G) o = 0 -> neuron_of G r o.
Proof.
  intros G r o Z; pose proof (silent_weights G o Z) as W.
  assert (S : forall f, (forall x, below G x -> f x = 0) -> spanned G r f).
  { intros f F; exists (fun _ _ => 0); intros y Hy; rewrite F by exact Hy; unfold frobenius_inner, inner.
    rewrite (sum_zero (dim r)) by (intros; apply sum_zero; intros; ring); reflexivity. }
  assert (Q : forall f, (forall x, below G x -> f x = 0) -> square (order G) f = 0).
  { intros f F; apply sum_zero; intros x Hx; rewrite F by exact Hx; ring. }
  repeat split; try (apply S; intros; apply W; assumption); rewrite !Q; try reflexivity; intros; apply W; assumption.
Qed.

Lemma nontrivial_member : forall G count family, is_group G -> (2 <= order G)%nat ->
  complete_family G count family -> (forall g, below G g -> character (family 0%nat) g = 1) -> (1 < count)%nat.
Proof.
  intros G count family HG Hn HF T; destruct (le_lt_dec count 1) as [L|]; [exfalso|assumption].
  pose proof (count_positive G HG count family HF); replace count with 1%nat in * by lia.
  pose proof (family_complete G 1 family HF (unit G) (unit_below G HG)) as C.
  destruct (trivial_dimension G HG 1 family HF T) as [D M].
  cbn [sum] in C; rewrite T, D, M, delta_same in C by (apply (unit_below G HG)); simpl INR in C.
  apply le_INR in Hn; simpl INR in Hn; lra.
Qed.

Lemma closed_weights_positive : forall G count family g, 0 < total_share count family -> g <> unit G ->
  sum count (fun s => share family s * character (family s) g) < 0 -> 0 < closed_weights G count family g.
Proof.
  intros G count family g P N L; unfold closed_weights; rewrite delta_other by exact N.
  pose proof (Rmult_lt_0_compat _ _ (Rinv_0_lt_compat _ P) (Ropp_0_gt_lt_contravar _ L)); lra.
Qed.

(** The closed form: the structure of all networks of maximum margin. *)
Theorem closed_form_maximisers : forall G count family, is_group G -> (2 <= order G)%nat ->
  complete_family G count family ->
  (forall g, below G g -> character (family 0%nat) g = 1) ->
  (forall g, below G g -> g <> unit G ->
    sum count (fun s => share family s * character (family s) g) <= 0) ->
  forall net, normalized_margin_at_least (group_table G)
    (constant G * (INR (order G) / total_share count family)) net ->
  (forall o, In o net -> exists s, (0 < s < count)%nat /\ neuron_of G (family s) o) /\
  ((forall g, below G g -> g <> unit G ->
      sum count (fun s => share family s * character (family s) g) < 0) ->
    forall s, (0 < s < count)%nat ->
    exists o, In o net /\ 0 < norm (group_table G) o /\ neuron_of G (family s) o).
Proof.
  intros G count family HG Hn HF HT HC net M; set (tau := closed_weights G count family).
  assert (Wt : wrong_weights G tau) by (apply closed_weights_wrong; assumption).
  assert (Ct : symmetric_class_function G tau) by (apply closed_weights_class; assumption).
  pose proof (total_share_positive G HG count family HF HT Hn) as P; pose proof (order_positive G HG) as Pn.
  assert (PK : 0 < INR (order G) / total_share count family) by (apply Rdiv_lt_0_compat; assumption).
  assert (Hp : forall s, (s < count)%nat -> sum (order G) (fun g => tau g * payoff (family s) g)
    <= INR (order G) / total_share count family) by (intros; apply closed_payoffs; assumption).
  assert (One : forall s o, (s < count)%nat -> pure G count family s o -> neuron_of G (family s) o).
  { intros s o; apply (pure_neuron G HG count family); apply HF. }
  split.
  - intros o I; destruct (norm_nonneg G o) as [No|No].
    + destruct (one_representation G HG count family HF HT tau Wt Ct _ PK Hp net M o I No) as [s [Hs [Q _]]].
      exists s; split; [exact Hs|apply One; [lia|exact Q]].
    + exists 1%nat; split; [pose proof (nontrivial_member G count family HG Hn HF HT); lia|].
      apply silent_in_all; symmetry; exact No.
  - intros Strict s Hs.
    destruct (every_representation G HG count family HF HT tau Wt Ct _ PK Hp net M
      ltac:(intros; apply closed_weights_positive; auto) s Hs) as [o [I [No Q]]].
    exists o; split; [exact I|split; [exact No|apply One; [lia|exact Q]]].
Qed.

Lemma spanned_elsewhere : forall G count family s t f, is_group G -> complete_family G count family ->
  (s < count)%nat -> (t < count)%nat -> s <> t -> spanned G (family t) f -> part G family s f = 0.
Proof.
  intros G count family s t f HG HF Hs Ht D [A E]; unfold part, frobenius, square.
  rewrite sum_zero; [ring|]; intros i Hi; apply sum_zero; intros j Hj.
  assert (hat G (family s) f i j = 0) as ->; [|ring]; unfold hat.
  rewrite (sum_ext (order G) _ (fun y => sum (dim (family t)) (fun k => sum (dim (family t)) (fun l =>
    A k l * (mat (family t) y k l * mat (family s) y i j))))).
  - rewrite sum_swap; apply sum_zero; intros k Hk; rewrite sum_swap; apply sum_zero; intros l Hl; rewrite sum_scal.
    rewrite (schur G HG count family (family_representations G count family HF) (family_complete G count family HF)
      t k l s i j) by assumption; rewrite delta_other by exact D; ring.
  - intros y Hy; rewrite E by exact Hy; unfold frobenius_inner, inner; rewrite <- sum_scal_r.
    apply sum_ext; intros k _; rewrite <- sum_scal_r; apply sum_ext; intros; ring.
Qed.

Lemma closed_mean : forall G count family s, is_group G -> (2 <= order G)%nat -> complete_family G count family ->
  (forall g, below G g -> character (family 0%nat) g = 1) -> (0 < s < count)%nat ->
  1 - mean_character G family (closed_weights G count family) s
    = INR (order G) / total_share count family * sqrt (INR (dim (family s))).
Proof.
  intros G count family [|s] HG Hn HF HT [S0 Hs]; [lia|]; unfold mean_character.
  rewrite (closed_weights_characters G HG count family HF HT Hn) by exact Hs.
  pose proof (total_share_positive G HG count family HF HT Hn).
  pose proof (dimension_positive G count family HF _ Hs); pose proof (units_number_positive G count family HF _ Hs).
  unfold share; field; lra.
Qed.

(** The masses: the neurons of a representation have its share of the cubes of the norms, however the neurons are
    assigned to representations that span their u. *)
Theorem closed_form_masses : forall G count family, is_group G -> (2 <= order G)%nat ->
  complete_family G count family ->
  (forall g, below G g -> character (family 0%nat) g = 1) ->
  (forall g, below G g -> g <> unit G ->
    sum count (fun s => share family s * character (family s) g) < 0) ->
  forall net, normalized_margin_at_least (group_table G)
    (constant G * (INR (order G) / total_share count family)) net ->
  forall kind, (forall o, In o net -> (kind o < count)%nat /\ spanned G (family (kind o)) (u o)) ->
  forall s, (0 < s < count)%nat ->
  over net (fun o => delta (kind o) s * norm (group_table G) o ^ 3)
    = share family s * INR (dim (family s)) / total_share count family * norm3 (group_table G) net.
Proof.
  intros G count family HG Hn HF HT HC net M kind Hkind s Hs; set (tau := closed_weights G count family).
  assert (HC' : forall g, below G g -> g <> unit G -> sum count (fun s => share family s * character (family s) g) <= 0)
    by (intros; apply Rlt_le; auto).
  assert (Wt : wrong_weights G tau) by (apply closed_weights_wrong; assumption).
  assert (Ct : symmetric_class_function G tau) by (apply closed_weights_class; assumption).
  pose proof (total_share_positive G HG count family HF HT Hn) as P; pose proof (order_positive G HG) as Pn.
  set (K := INR (order G) / total_share count family) in *.
  assert (PK : 0 < K) by (apply Rdiv_lt_0_compat; assumption).
  assert (Hp : forall s, (s < count)%nat -> sum (order G) (fun g => tau g * payoff (family s) g) <= K)
    by (intros; apply closed_payoffs; assumption).
  pose proof (dimension_positive G count family HF s (proj2 Hs)) as Pd; pose proof (sqrt_lt_R0 _ Pd) as Qd.
  pose proof (units_number_positive G count family HF s (proj2 Hs)) as Pm.
  assert (S3 : 0 < sqrt 3) by (apply sqrt_lt_R0; lra); assert (Sn : 0 < sqrt (INR (order G))) by (apply sqrt_lt_R0; lra).
  pose proof (sum_of_products G HG count family HF HT tau Wt Ct K PK Hp net M
    ltac:(intros; apply closed_weights_positive; auto) s Hs) as B.
  assert (E : forall o, In o net -> product_part G family s (u o) (v o) (w o)
    = factor G K / (K * sqrt (INR (dim (family s)))) * (delta (kind o) s * norm (group_table G) o ^ 3)).
  { intros o I; destruct (norm_nonneg G o) as [No|No].
    - destruct (one_representation G HG count family HF HT tau Wt Ct K PK Hp net M o I No) as [t [Ht [Q A]]].
      assert (T : t = kind o).
      { destruct (Nat.eq_dec t (kind o)) as [|D]; [assumption|exfalso]; destruct (Hkind o I) as [Hk Sp].
        pose proof (spanned_elsewhere G count family t (kind o) (u o) HG HF (proj2 Ht) Hk D Sp) as Z.
        rewrite (proj1 Q) in Z; pose proof (pow_lt _ 2 No); lra. }
      rewrite <- T; destruct (Nat.eq_dec s t) as [F|F].
      + rewrite <- F in *; rewrite delta_same, Rmult_1_l.
        unfold tau in A; rewrite closed_mean in A by assumption; fold K in A.
        apply Rmult_eq_reg_l with (K * sqrt (INR (dim (family s)))); [rewrite A; field; lra|].
        apply Rgt_not_eq, Rmult_lt_0_compat; assumption.
      + rewrite delta_other, (product_elsewhere G HG count family HF s Hs o t Q F) by auto; ring.
    - rewrite (silent_product G family s o) by (symmetry; exact No); rewrite <- No; ring. }
  rewrite (over_ext_in net _ _ E), over_scal in B.
  apply Rmult_eq_reg_l with (2 * (factor G K / (K * sqrt (INR (dim (family s)))))).
  - rewrite Rmult_assoc, B; unfold coefficient, constant, factor, K.
    destruct s as [|s']; [lia|]; unfold share; set (D := dim (family (S s'))) in *.
    rewrite sqrt_mult by lra; replace (INR (order G) ^ 2) with (INR (order G) * sqrt (INR (order G)) ^ 2)
      by (rewrite square_sqrt by lra; ring).
    replace (INR D / INR (many (family (S s'))) * sqrt (INR D) * INR D) with (INR D ^ 2 / INR (many (family (S s'))) * sqrt (INR D))
      by (field; lra).
    field; repeat split; lra.
  - apply Rgt_not_eq, Rmult_lt_0_compat; [lra|]; unfold factor.
    apply Rdiv_lt_0_compat; [apply Rdiv_lt_0_compat|]; apply Rmult_lt_0_compat; lra.
Qed.

(** Every finite group: one nontrivial irreducible representation in each neuron of every network of maximum margin. *)
Theorem maximisers_of_every_group : forall G, is_group G -> (2 <= order G)%nat ->
  exists count family v, complete_family G count family /\
  (forall s, (s < count)%nat -> irreducible G (family s)) /\
  (forall g, character (family 0%nat) g = 1) /\
  maximum_margin_between (group_table G) (constant G * v) (constant G * v) /\
  forall net, normalized_margin_at_least (group_table G) (constant G * v) net ->
  forall o, In o net -> exists s, (0 < s < count)%nat /\ neuron_of G (family s) o.
Proof.
  intros G HG Hn; destruct (complete_family_exists G HG) as [count [family [HF [Irr HT]]]].
  destruct (optimal_payoffs G count family HG Hn HF) as [v [eps [tau [[E1 E2] [Wt [Ct [Lo Hi]]]]]]].
  pose proof (game_value G count family eps tau v HG HF E1 E2 Lo Wt Ct Hi) as Max.
  exists count, family, v; split; [exact HF|split; [exact Irr|split; [exact HT|split; [exact Max|]]]].
  assert (Pv : 0 < v).
  { destruct (closed_form_width G count family HG Hn HF ltac:(auto)) as [best [_ B]].
    pose proof (proj2 Max best _ B) as L; apply Rmult_le_reg_l in L; [|apply constant_positive; exact HG].
    apply Rlt_le_trans with (2 := L); apply Rdiv_lt_0_compat; [apply order_positive; exact HG|].
    apply (total_share_positive G HG); auto. }
  intros net M o I; destruct (norm_nonneg G o) as [No|No].
  - destruct (one_representation G HG count family HF ltac:(auto) tau Wt Ct v Pv Hi net M o I No) as [s [Hs [Q _]]].
    exists s; split; [exact Hs|apply (pure_neuron G HG count family); try apply HF; [lia|exact Q]].
  - exists 1%nat; split; [pose proof (nontrivial_member G count family HG Hn HF ltac:(auto)); lia|].
    apply silent_in_all; symmetry; exact No.
Qed.
