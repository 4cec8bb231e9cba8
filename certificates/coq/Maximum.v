(** The value of the game of a group is its maximum margin.

    The two sides of Universal.v meet: by the minimax theorem there are masses
    of representations and weights of wrong labels with the same number v, and
    the weights may be averaged over conjugation and inversion, since the
    payoffs depend on classes alone.

    [group_value]: so every finite group of order n >= 2 with a complete family
    has the maximum margin 2 (3n)^(-3/2) v, and a network attains it. *)

From Coq Require Import Reals Lra Lia Arith.
From Lemmata Require Import Statement Sums Groups EveryGroup Representations Universal Minimax.
Local Open Scope R_scope.

Section Averages.
Variable G : group.
Hypothesis HG : is_group G.
Local Notation n := (order G).

Definition conjugate (h g : nat) : nat := op G h (op G g (inv G h)).

Lemma conjugate_below : forall h g, below G h -> below G g -> below G (conjugate h g).
Proof.
  intros h g Hh Hg; unfold conjugate.
  apply (op_below G HG); [assumption|apply (op_below G HG); [assumption|apply inv_below; assumption]].
Qed.

Lemma inv_unique : forall a b, below G a -> below G b -> op G a b = unit G -> b = inv G a.
Proof.
  intros a b Ha Hb E; rewrite <- (inv_cancel G HG a b Ha Hb), E.
  apply (unit_right G HG), inv_below; assumption.
Qed.

Lemma inv_op : forall a b, below G a -> below G b -> inv G (op G a b) = op G (inv G b) (inv G a).
Proof.
  intros a b Ha Hb; pose proof (inv_below G HG a Ha) as Ia; pose proof (inv_below G HG b Hb) as Ib.
  symmetry; apply inv_unique; [apply op_below; assumption|apply op_below; assumption|].
  rewrite (assoc G HG), (op_cancel_inv G HG) by (try assumption; apply op_below; assumption).
  apply inv_right; assumption.
Qed.

Lemma conjugate_conjugate : forall h k g, below G h -> below G k -> below G g ->
  conjugate h (conjugate k g) = conjugate (op G h k) g.
Proof.
  intros h k g Hh Hk Hg; unfold conjugate; rewrite inv_op by assumption.
  pose proof (inv_below G HG h Hh) as Ih; pose proof (inv_below G HG k Hk) as Ik.
  assert (A : below G (op G g (inv G k))) by (apply op_below; assumption).
  rewrite (assoc G HG g) by assumption.
  rewrite <- (assoc G HG h k) by (try assumption; apply op_below; assumption).
  rewrite <- (assoc G HG k) by assumption; reflexivity.
Qed.

Lemma conjugate_inverse : forall h g, below G h -> below G g ->
  conjugate h (inv G g) = inv G (conjugate h g).
Proof.
  intros h g Hh Hg; unfold conjugate.
  pose proof (inv_below G HG h Hh) as Ih; pose proof (inv_below G HG g Hg) as Ig.
  rewrite (inv_op h) by (try assumption; apply op_below; assumption).
  rewrite inv_op, (inv_involutive G HG) by assumption.
  apply (assoc G HG); assumption.
Qed.

Lemma conjugate_unit : forall h, below G h -> conjugate h (unit G) = unit G.
Proof.
  intros h Hh; unfold conjugate; rewrite (unit_left G HG) by (apply inv_below; assumption).
  apply inv_right; assumption.
Qed.

Lemma inverse_unit : inv G (unit G) = unit G.
Proof.
  pose proof (unit_below G HG) as U; symmetry; apply inv_unique; try assumption.
  apply unit_left; assumption.
Qed.

(** The mean over conjugation and inversion. *)
Definition averaged (f : nat -> R) (g : nat) : R :=
  sum n (fun h => f (conjugate h g) + f (inv G (conjugate h g))) / (2 * INR n).

Lemma averaged_class : forall f, symmetric_class_function G (averaged f).
Proof.
  intro f; split.
  - intros g k Hg Hk; unfold averaged; f_equal.
    change (op G k (op G g (inv G k))) with (conjugate k g).
    rewrite <- (sum_right G HG k (fun h => f (conjugate h g) + f (inv G (conjugate h g)))) by assumption.
    apply sum_ext; intros h Hh; rewrite conjugate_conjugate by assumption; reflexivity.
  - intros g Hg; unfold averaged; f_equal; apply sum_ext; intros h Hh.
    rewrite conjugate_inverse, (inv_involutive G HG) by (try assumption; apply conjugate_below; assumption).
    ring.
Qed.

Lemma averaged_sum : forall f F, symmetric_class_function G F ->
  sum n (fun g => averaged f g * F g) = sum n (fun g => f g * F g).
Proof.
  intros f F HF; pose proof (order_positive G HG) as P.
  transitivity (sum n (fun h => sum n (fun g => f (conjugate h g) * F g)
    + sum n (fun g => f (inv G (conjugate h g)) * F g)) / (2 * INR n)).
  - unfold averaged.
    rewrite (sum_ext n _ (fun g => / (2 * INR n) * sum n (fun h =>
      f (conjugate h g) * F g + f (inv G (conjugate h g)) * F g))).
    + rewrite sum_scal, sum_swap; unfold Rdiv; rewrite (Rmult_comm (/ (2 * INR n))); f_equal.
      apply sum_ext; intros h _; apply sum_plus.
    + intros g _; unfold Rdiv; rewrite Rmult_comm, <- Rmult_assoc, (Rmult_comm (F g)), <- sum_scal_r.
      rewrite Rmult_comm; f_equal; apply sum_ext; intros; ring.
  - rewrite (sum_ext n _ (fun _ => 2 * sum n (fun g => f g * F g))).
    + rewrite sum_const; field; lra.
    + intros h Hh.
      assert (A : sum n (fun g => f (conjugate h g) * F g) = sum n (fun g => f g * F g)).
      { rewrite <- (sum_conjugates G HG h (fun g => f g * F g) Hh); apply sum_ext; intros g Hg.
        fold (conjugate h g); f_equal; symmetry; apply (on_classes G F HF); assumption. }
      assert (B : sum n (fun g => f (inv G (conjugate h g)) * F g) = sum n (fun g => f g * F g)).
      { rewrite <- (sum_inverses G HG (fun g => f g * F g)).
        rewrite <- (sum_conjugates G HG h (fun g => f (inv G g) * F (inv G g)) Hh).
        apply sum_ext; intros g Hg; fold (conjugate h g); f_equal.
        rewrite (on_inverses G F HF) by (apply conjugate_below; assumption).
        symmetry; apply (on_classes G F HF); assumption. }
      rewrite A, B; ring.
Qed.

Lemma averaged_wrong : forall f, wrong_weights G f -> wrong_weights G (averaged f).
Proof.
  intros f Hf; pose proof (order_positive G HG) as P; split.
  - intros g Hg; unfold averaged; apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra].
    apply sum_nonneg; intros h Hh.
    pose proof (tau_nonneg G f Hf (conjugate h g) (conjugate_below h g Hh Hg)).
    pose proof (tau_nonneg G f Hf (inv G (conjugate h g))
      (inv_below G HG _ (conjugate_below h g Hh Hg))); lra.
  - unfold averaged; rewrite sum_zero; [field; lra|].
    intros h Hh; rewrite conjugate_unit, inverse_unit, (tau_unit G f Hf) by assumption; ring.
  - assert (H1 : symmetric_class_function G (fun _ => 1)) by (split; reflexivity).
    pose proof (averaged_sum f (fun _ => 1) H1) as A; cbv beta in A.
    rewrite (sum_ext n (fun g => averaged f g * 1) (averaged f)) in A by (intros; ring).
    rewrite (sum_ext n (fun g => f g * 1) f) in A by (intros; ring).
    rewrite A; apply (tau_sum G f Hf).
Qed.

End Averages.

Lemma payoff_class : forall G count family s, is_group G -> complete_family G count family -> (s < count)%nat ->
  symmetric_class_function G (payoff (family s)).
Proof.
  intros G count family s HG HF Hs; pose proof (character_class G HG count family HF s Hs) as C; split.
  - intros g h Hg Hh; unfold payoff; rewrite (on_classes G _ C) by assumption; reflexivity.
  - intros g Hg; unfold payoff; rewrite (on_inverses G _ C) by assumption; reflexivity.
Qed.

Lemma payoff_unit : forall G count family s, is_group G -> complete_family G count family -> (s < count)%nat ->
  payoff (family s) (unit G) = 0.
Proof.
  intros G count family s HG HF Hs; pose proof (dimension_positive G count family HF s Hs) as P.
  pose proof (sqrt_lt_R0 _ P); unfold payoff.
  rewrite (dimension_character G count family HF) by assumption; field; lra.
Qed.

(** Payoffs that depend on the class of a wrong label alone. *)
Section Value.
Variable G : group.
Hypothesis HG : is_group G.
Hypothesis Hn : (2 <= order G)%nat.
Local Notation n := (order G).
Variable count : nat.
Hypothesis Hcount : (0 < count)%nat.
Variable pay : nat -> nat -> R.
Hypothesis Hclass : forall s, (s < count)%nat -> symmetric_class_function G (pay s).
Hypothesis Hunit : forall s, (s < count)%nat -> pay s (unit G) = 0.

(** Some wrong label; the column of the unit is made equal to it. *)
Definition other : nat := if Nat.eqb (unit G) 0 then 1%nat else 0%nat.

Lemma other_below : below G other.
Proof. unfold below, other; destruct (Nat.eqb (unit G) 0); lia. Qed.

Lemma other_unit : other <> unit G.
Proof. unfold other; destruct (Nat.eqb_spec (unit G) 0); lia. Qed.

Definition game_matrix (s g : nat) : R := pay s g + delta g (unit G) * pay s other.

(** Optimal masses and weights. *)
Lemma optimal_pair : exists v eps tau, probability count eps /\
  wrong_weights G tau /\ symmetric_class_function G tau /\
  (forall g, below G g -> g <> unit G -> v <= sum count (fun s => eps s * pay s g)) /\
  (forall s, (s < count)%nat -> sum n (fun g => tau g * pay s g) <= v).
Proof.
  destruct (minimax count n game_matrix ltac:(lia) ltac:(lia)) as [v [eps [q [Pe [[Q1 Q2] [Lo Hi]]]]]].
  set (tau := fun g => (1 - delta g (unit G)) * q g + delta g other * q (unit G)).
  pose proof (unit_below G HG) as U; pose proof other_below as O; pose proof other_unit as OU.
  assert (S : forall F, sum n (fun g => tau g * F g)
    = sum n (fun g => q g * F g) - q (unit G) * F (unit G) + q (unit G) * F other).
  { intro F; unfold tau.
    rewrite (sum_ext n _ (fun g => q g * F g - delta g (unit G) * (q g * F g)
      + delta g other * (q (unit G) * F g))) by (intros; ring).
    rewrite sum_plus, sum_minus, (sum_delta n (fun g => q g * F g) (unit G) U).
    rewrite (sum_delta n (fun g => q (unit G) * F g) other O); reflexivity. }
  assert (W : wrong_weights G tau).
  { split.
    - intros g Hg; unfold tau; pose proof (Q1 g Hg); pose proof (Q1 _ U).
      unfold delta; destruct (Nat.eqb g (unit G)), (Nat.eqb g other); lra.
    - unfold tau; rewrite delta_same, delta_other by (intro E; apply OU; rewrite E; reflexivity); ring.
    - pose proof (S (fun _ => 1)) as A; cbv beta in A.
      rewrite (sum_ext n (fun g => tau g * 1) tau) in A by (intros; ring).
      rewrite (sum_ext n (fun g => q g * 1) q) in A by (intros; ring).
      rewrite A, Q2; ring. }
  exists v, eps, (averaged G tau); split; [exact Pe|split; [|split; [|split]]].
  - apply averaged_wrong; assumption.
  - apply averaged_class; exact HG.
  - intros g Hg N; apply Rle_trans with (1 := Lo g Hg); right; unfold game_matrix.
    apply sum_ext; intros s _; rewrite delta_other by assumption; ring.
  - intros s Hs; rewrite (averaged_sum G HG tau _ (Hclass s Hs)), S, (Hunit s Hs).
    pose proof (Hi s Hs) as A; unfold game_matrix in A.
    rewrite (sum_ext n _ (fun g => q g * pay s g + delta g (unit G) * (q g * pay s other))) in A
      by (intros; ring).
    rewrite sum_plus, (sum_delta n (fun g => q g * pay s other) (unit G) U) in A; lra.
Qed.

End Value.

(** Optimal masses and weights, with the payoffs of two factors. *)
Lemma optimal_payoffs : forall G count family, is_group G -> (2 <= order G)%nat -> complete_family G count family ->
  exists v eps tau, probability count eps /\ wrong_weights G tau /\ symmetric_class_function G tau /\
  (forall g, below G g -> g <> unit G -> v <= sum count (fun s => eps s * payoff (family s) g)) /\
  (forall s, (s < count)%nat -> sum (order G) (fun g => tau g * payoff (family s) g) <= v).
Proof.
  intros G count family HG Hn HF.
  apply (optimal_pair G HG Hn count (count_positive G HG count family HF) (fun s => payoff (family s)));
    intros; [apply payoff_class with (count := count)|apply payoff_unit with (count := count)]; assumption.
Qed.

(** Masses of representations and weights of wrong labels with the same number v. *)
Definition game_solution (G : group) (count : nat) (family : nat -> representation) (v : R) : Prop :=
  exists eps tau, probability count eps /\ wrong_weights G tau /\
  (forall g, below G g -> g <> unit G -> v <= sum count (fun s => eps s * payoff (family s) g)) /\
  (forall s, (s < count)%nat -> sum (order G) (fun g => tau g * payoff (family s) g) <= v).

Theorem group_value : forall G count family, is_group G -> (2 <= order G)%nat ->
  complete_family G count family ->
  exists v, game_solution G count family v /\
  maximum_margin_between (group_table G) (constant G * v) (constant G * v).
Proof.
  intros G count family HG Hn HF.
  destruct (optimal_payoffs G count family HG Hn HF) as [v [eps [tau [[E1 E2] [Wt [Ct [Lo Hi]]]]]]].
  exists v; split; [exists eps, tau; repeat split; try assumption; apply Wt|].
  exact (game_value G count family eps tau v HG HF E1 E2 Lo Wt Ct Hi).
Qed.
