(** The maximum margin of a product in a finite group as a game.

    Data: a complete family of real orthogonal representations rho with their
    units; nothing else is assumed of it, since Schur's relations follow from
    completeness.  Let M[rho, g] = (1 - chi(g)/nu) / sqrt nu.  For two factors
    this is the theorem of certificates/game/UNIVERSAL_MARGIN.md:

    [universal]: masses eps of the representations give a network of margin at
    least 2 (3n)^(-3/2) min over g of (eps M)(g), and weights tau of the wrong
    labels, constant on classes and with tau(g^-1) = tau(g), bound all networks
    by 2 (3n)^(-3/2) max over rho of (M tau)(rho).  Where both numbers agree
    this is the maximum margin, [game_value].

    [closed_form]: if the sum of nu^(3/2)/m chi(g) over all nontrivial rho, m
    the number of units, is nowhere positive off the unit, the maximum margin
    is 2 (3n)^(-3/2) n / S with S the sum of nu^(5/2)/m.

    Maximum.v proves that the two sides meet.  That every finite group has a
    complete family is proved in Decomposition.v. *)

From Coq Require Import Reals List Lra Lia Arith.
From Lemmata Require Import Statement Sums Convolution Groups EveryGroup Representations Attain Schur.
Local Open Scope R_scope.

Record complete_family (G : group) (count : nat) (family : nat -> representation) : Prop := {
  family_representations : forall s, (s < count)%nat -> is_representation G (family s);
  family_dimensions : forall s, (s < count)%nat -> (1 <= dim (family s))%nat;
  family_complete : complete G count family
}.

Record symmetric_class_function (G : group) (f : nat -> R) : Prop := {
  on_classes : forall g h, below G g -> below G h -> f (op G h (op G g (inv G h))) = f g;
  on_inverses : forall g, below G g -> f (inv G g) = f g
}.

(** The matrix of the game. *)
Definition payoff (r : representation) (g : nat) : R :=
  (1 - character r g / INR (dim r)) / sqrt (INR (dim r)).

Section Universal.
Variable G : group.
Hypothesis HG : is_group G.
Local Notation n := (order G).
Variable count : nat.
Variable family : nat -> representation.
Hypothesis HF : complete_family G count family.

Local Notation d s := (dim (family s)).
Local Notation m s := (many (family s)).
Local Notation rho s := (mat (family s)).
Local Notation J s := (unit_matrix (family s)).
Local Notation chi s := (character (family s)).

Let Hfamily := family_representations G count family HF.
Let Hcomplete := family_complete G count family HF.

Lemma dimension_positive : forall s, (s < count)%nat -> 0 < INR (d s).
Proof.
  intros s Hs; apply lt_0_INR; pose proof (family_dimensions G count family HF s Hs); lia.
Qed.

Lemma units_number_positive : forall s, (s < count)%nat -> 0 < INR (m s).
Proof. exact (many_above_zero G count family Hfamily). Qed.

Lemma dimension_character : forall s, (s < count)%nat -> chi s (unit G) = INR (d s).
Proof.
  intros s Hs; unfold character; rewrite (sum_ext (d s) _ (fun _ => 1)).
  - rewrite sum_const; ring.
  - intros i Hi; rewrite (mat_unit G _ (Hfamily s Hs)) by assumption; apply delta_same.
Qed.

(** ** Characters *)

Lemma sum_conjugates : forall h f, below G h ->
  sum n (fun g => f (op G h (op G g (inv G h)))) = sum n f.
Proof.
  intros h f Hh; rewrite (sum_right G HG (inv G h) (fun x => f (op G h x)))
    by (apply inv_below; assumption).
  apply (sum_left G HG); assumption.
Qed.

Lemma sum_inverses : forall f, sum n (fun g => f (inv G g)) = sum n f.
Proof.
  intro f; apply sum_reindex with (q := inv G); intros;
    first [apply (inv_below G HG); assumption | apply (inv_involutive G HG); assumption].
Qed.

Lemma mat_conjugate : forall s g h i j, (s < count)%nat -> below G g -> below G h ->
  (i < d s)%nat -> (j < d s)%nat ->
  rho s (op G h (op G g (inv G h))) i j
  = sum (d s) (fun a => sum (d s) (fun b => rho s h i a * rho s h j b * rho s g a b)).
Proof.
  intros s g h i j Hs Hg Hh Hi Hj; pose proof (inv_below G HG h Hh) as Hv.
  rewrite (mat_op G _ (Hfamily s Hs)) by (try apply op_below; assumption).
  unfold times; apply sum_ext; intros a Ha.
  rewrite (mat_op G _ (Hfamily s Hs)) by assumption; unfold times; rewrite <- sum_scal.
  apply sum_ext; intros b Hb; rewrite (mat_inv G _ (Hfamily s Hs)) by assumption; ring.
Qed.

Lemma character_class : forall s, (s < count)%nat -> symmetric_class_function G (chi s).
Proof.
  intros s Hs; split.
  - intros g h Hg Hh; unfold character.
    rewrite (sum_ext (d s) _ (fun i => sum (d s) (fun a => sum (d s) (fun b =>
      rho s h i a * rho s h i b * rho s g a b)))) by (intros; apply mat_conjugate; assumption).
    rewrite sum_swap; apply sum_ext; intros a Ha; rewrite sum_swap.
    rewrite (sum_ext (d s) _ (fun b => delta b a * rho s g a b)).
    + apply (sum_delta (d s) (fun b => rho s g a b)); assumption.
    + intros b Hb; rewrite sum_scal_r; f_equal; rewrite delta_sym.
      rewrite <- (mat_unit G _ (Hfamily s Hs) a b Ha Hb), <- (inv_left G HG h Hh).
      rewrite (mat_op G _ (Hfamily s Hs)) by (try apply inv_below; assumption).
      apply sum_ext; intros i Hi; rewrite (mat_inv G _ (Hfamily s Hs)) by assumption; reflexivity.
  - intros g Hg; unfold character; apply sum_ext; intros i Hi.
    apply (mat_inv G _ (Hfamily s Hs)); assumption.
Qed.

Lemma character_bound : forall s g, (s < count)%nat -> below G g -> chi s g <= INR (d s).
Proof.
  intros s g Hs Hg; rewrite <- (Rmult_1_r (INR (d s))), <- sum_const; unfold character.
  apply sum_le; intros i Hi.
  assert (Q : sum (d s) (fun k => rho s g k i ^ 2) = 1).
  { rewrite <- (delta_same i), <- (mat_unit G _ (Hfamily s Hs) i i Hi Hi), <- (inv_left G HG g Hg).
    rewrite (mat_op G _ (Hfamily s Hs)) by (try apply inv_below; assumption).
    apply sum_ext; intros k Hk; rewrite (mat_inv G _ (Hfamily s Hs)) by assumption; ring. }
  apply le_of_squares; [lra|]; replace (1 ^ 2) with 1 by ring; rewrite <- Q.
  apply (sum_term_le (d s) (fun k => rho s g k i ^ 2)); [intros; apply pow2_ge_0|exact Hi].
Qed.

Lemma characters_orthogonal : forall s t, (s < count)%nat -> (t < count)%nat ->
  sum n (fun g => chi t g * chi s g) = delta s t * (INR n * INR (m t)).
Proof.
  intros s t Hs Ht; pose proof (dimension_positive t Ht) as P; unfold character.
  transitivity (sum (d t) (fun k => sum (d s) (fun i =>
    delta s t * relation G family t k k i i))).
  - rewrite (sum_ext n _ (fun g => sum (d t) (fun k => sum (d s) (fun i => rho t g k k * rho s g i i))))
      by (intros; apply sum_mult).
    rewrite sum_swap; apply sum_ext; intros k Hk; rewrite sum_swap; apply sum_ext; intros i Hi.
    apply (schur G HG count family Hfamily Hcomplete); assumption.
  - destruct (Nat.eq_dec s t) as [->|N].
    + rewrite delta_same, Rmult_1_l.
      rewrite (sum_ext (d t) _ (fun k => INR n / INR (d t) * INR (m t))).
      * rewrite sum_const; field; lra.
      * intros k Hk; unfold relation.
        rewrite (sum_ext (d t) _ (fun i => INR n / INR (d t)
          * sum (m t) (fun q => J t q i k * J t q i k))) by (intros; ring).
        rewrite sum_scal, sum_swap, (sum_ext (m t) _ (fun _ => 1)).
        -- rewrite sum_const; ring.
        -- intros q Hq; rewrite (units_diagonal G count family Hfamily) by assumption.
           apply delta_same.
    + rewrite delta_other by assumption; rewrite Rmult_0_l.
      apply sum_zero; intros; apply sum_zero; intros; ring.
Qed.

(** ** Symmetric class functions act as numbers *)

Lemma symmetric_class_scalar : forall f s, symmetric_class_function G f -> (s < count)%nat ->
  scalar G f (family s) (sum n (fun g => f g * chi s g) / INR (d s)).
Proof.
  intros f s Hf Hs i j Hi Hj.
  pose proof (dimension_positive s Hs) as P; pose proof (order_positive G HG) as Pn.
  set (K := fun i j => sum n (fun g => f g * rho s g i j)); change (K i j =
    sum n (fun g => f g * chi s g) / INR (d s) * delta i j).
  assert (Sym : forall a b, (a < d s)%nat -> (b < d s)%nat -> K a b = K b a).
  { intros a b Ha Hb; unfold K; rewrite <- (sum_inverses (fun g => f g * rho s g a b)).
    apply sum_ext; intros g Hg; rewrite (on_inverses G f Hf) by assumption.
    rewrite (mat_inv G _ (Hfamily s Hs)) by assumption; reflexivity. }
  assert (Tr : sum n (fun g => f g * chi s g) = sum (d s) (fun a => K a a)).
  { unfold K; rewrite sum_swap; apply sum_ext; intros; unfold character; rewrite sum_scal; reflexivity. }
  assert (Mean : INR n * K i j = sum (d s) (fun a => sum (d s) (fun b =>
    K a b * relation G family s i a j b))).
  { transitivity (sum n (fun h => sum n (fun g => sum (d s) (fun a => sum (d s) (fun b =>
      f g * rho s g a b * (rho s h i a * rho s h j b)))))).
    - rewrite <- sum_const; apply sum_ext; intros h Hh; unfold K.
      rewrite <- (sum_conjugates h) by assumption; apply sum_ext; intros g Hg.
      rewrite (on_classes G f Hf), mat_conjugate by assumption.
      rewrite <- sum_scal; apply sum_ext; intros a _; rewrite <- sum_scal.
      apply sum_ext; intros; ring.
    - rewrite (sum_ext n _ (fun h => sum (d s) (fun a => sum (d s) (fun b =>
        K a b * (rho s h i a * rho s h j b))))).
      + rewrite sum_swap; apply sum_ext; intros a Ha; rewrite sum_swap; apply sum_ext; intros b Hb.
        rewrite sum_scal, (schur G HG count family Hfamily Hcomplete) by assumption.
        rewrite delta_same; ring.
      + intros h _; rewrite sum_swap; apply sum_ext; intros a _; rewrite sum_swap.
        apply sum_ext; intros b _; rewrite sum_scal_r; reflexivity. }
  assert (Units : sum (d s) (fun a => sum (d s) (fun b => K a b * relation G family s i a j b))
    = sum (m s) (fun q => INR n / INR (d s) * J s q j i
        * sum (d s) (fun a => sum (d s) (fun b => K a b * J s q b a)))).
  { unfold relation.
    transitivity (sum (d s) (fun a => sum (m s) (fun q => sum (d s) (fun b =>
      INR n / INR (d s) * J s q j i * (K a b * J s q b a))))).
    - apply sum_ext; intros a _; rewrite sum_swap; apply sum_ext; intros b _.
      rewrite <- !sum_scal; apply sum_ext; intros; ring.
    - rewrite sum_swap; apply sum_ext; intros q _; rewrite <- sum_scal; apply sum_ext; intros a _.
      rewrite sum_scal; reflexivity. }
  assert (Skew : forall q, (0 < q < m s)%nat ->
    sum (d s) (fun a => sum (d s) (fun b => K a b * J s q b a)) = 0).
  { intros q Hq.
    assert (E : sum (d s) (fun a => sum (d s) (fun b => K a b * J s q b a))
      = -1 * sum (d s) (fun a => sum (d s) (fun b => K a b * J s q b a))); [|lra].
    rewrite sum_swap at 1; rewrite <- sum_scal; apply sum_ext; intros a Ha.
    rewrite <- sum_scal; apply sum_ext; intros b Hb; rewrite (Sym b a Hb Ha).
    rewrite (unit_skew G count family Hfamily s q a b) by assumption; ring. }
  rewrite Units in Mean.
  rewrite (sum_ext (m s) _ (fun q => delta q 0 * (INR n / INR (d s) * delta j i
    * sum (d s) (fun a => K a a)))) in Mean.
  - rewrite (sum_delta (m s) (fun _ => INR n / INR (d s) * delta j i * sum (d s) (fun a => K a a))) in Mean
      by (pose proof (many_positive G _ (Hfamily s Hs)); lia).
    rewrite Tr; apply Rmult_eq_reg_l with (INR n); [|lra].
    rewrite Mean, (delta_sym j i); field; lra.
  - intros q Hq; destruct (Nat.eq_dec q 0) as [->|N].
    + rewrite delta_same, Rmult_1_l, (first_unit G _ (Hfamily s Hs)) by assumption; f_equal.
      apply sum_ext; intros a Ha.
      rewrite (sum_ext (d s) _ (fun b => delta b a * K a b)).
      * apply (sum_delta (d s) (fun b => K a b)); assumption.
      * intros b Hb; rewrite (first_unit G _ (Hfamily s Hs)) by assumption; ring.
    + rewrite Skew, (delta_other q 0) by lia; ring.
Qed.

(** ** The two sides *)

Lemma payoff_mean : forall tau s, (s < count)%nat -> wrong_weights G tau ->
  sum n (fun g => tau g * payoff (family s) g) * sqrt (INR (d s))
  = 1 - sum n (fun g => tau g * chi s g) / INR (d s).
Proof.
  intros tau s Hs Ht; pose proof (dimension_positive s Hs) as P; pose proof (sqrt_lt_R0 _ P) as Q.
  rewrite <- (tau_sum G tau Ht), <- sum_scal_r; unfold Rdiv; rewrite <- sum_scal_r, <- sum_minus.
  apply sum_ext; intros g _; unfold payoff; field; lra.
Qed.

Lemma payoff_nonneg : forall s g, (s < count)%nat -> below G g -> 0 <= payoff (family s) g.
Proof.
  intros s g Hs Hg; pose proof (dimension_positive s Hs) as P; pose proof (sqrt_lt_R0 _ P) as Q.
  pose proof (character_bound s g Hs Hg) as B; unfold payoff.
  replace (1 - chi s g / INR (d s)) with ((INR (d s) - chi s g) * / INR (d s)) by (field; lra).
  apply Rmult_le_pos; [apply Rmult_le_pos; [lra|]|]; left; apply Rinv_0_lt_compat; assumption.
Qed.

Lemma count_positive : (0 < count)%nat.
Proof.
  destruct (Nat.eq_dec count 0) as [E|]; [exfalso|lia].
  pose proof (Hcomplete (unit G) (unit_below G HG)) as C; rewrite E, delta_same in C; simpl in C.
  pose proof (order_positive G HG); lra.
Qed.

Lemma game_upper : forall tau K, wrong_weights G tau -> symmetric_class_function G tau ->
  (forall s, (s < count)%nat -> sum n (fun g => tau g * payoff (family s) g) <= K) ->
  forall net g, normalized_margin_at_least (group_table G) g net -> g <= constant G * K.
Proof.
  intros tau K Ht Hc HK.
  assert (Pos : forall s, (s < count)%nat -> 0 <= sum n (fun g => tau g * payoff (family s) g)).
  { intros s Hs; apply sum_nonneg; intros g Hg; apply Rmult_le_pos.
    - apply (tau_nonneg G tau Ht); assumption.
    - apply payoff_nonneg; assumption. }
  apply upper_side with (count := count) (family := family) (tau := tau)
    (mu := fun s => sum n (fun g => tau g * chi s g) / INR (d s)); try assumption.
  - intros s Hs; apply symmetric_class_scalar; assumption.
  - apply Rle_trans with (1 := Pos 0%nat count_positive); apply HK, count_positive.
  - intros s Hs; rewrite <- payoff_mean by assumption.
    rewrite Rabs_right by (apply Rle_ge, Rmult_le_pos; [apply Pos; assumption|apply sqrt_pos]).
    apply Rmult_le_compat_r; [apply sqrt_pos|apply HK; assumption].
Qed.

Lemma family_even : forall s, (s < count)%nat ->
  is_representation G (family s) /\ (1 <= d s)%nat /\ even_entries G (family s).
Proof.
  intros s Hs; split; [apply Hfamily; exact Hs|split; [apply (family_dimensions G count family HF); exact Hs|]].
  intros i j Hi Hj; pose proof (dimension_positive s Hs).
  pose proof (entries_even G HG count family Hfamily Hcomplete s i j Hs Hi Hj) as E.
  unfold square in E; rewrite E; field; lra.
Qed.

Lemma game_lower : forall eps K,
  (forall s, (s < count)%nat -> 0 <= eps s) -> sum count eps = 1 ->
  (forall g, below G g -> g <> unit G -> K <= sum count (fun s => eps s * payoff (family s) g)) ->
  exists net, normalized_margin_at_least (group_table G) (constant G * K) net.
Proof.
  intros eps K Heps Hsum HK.
  destruct (lower_side G count family eps K HG family_even Heps Hsum) as [net [_ M]]; [|exists net; exact M].
  intros g Hg N; apply Rle_trans with (1 := HK g Hg N); right; apply sum_ext; intros s Hs.
  pose proof (dimension_positive s Hs) as P; pose proof (sqrt_lt_R0 _ P).
  unfold payoff; field; lra.
Qed.

(** ** A closed form *)

Hypothesis Htrivial : forall g, below G g -> chi 0 g = 1.
Hypothesis Hn : (2 <= n)%nat.

(** nu^(3/2) / m, and 0 for the trivial representation. *)
Definition share (s : nat) : R :=
  match s with O => 0 | _ => INR (d s) / INR (m s) * sqrt (INR (d s)) end.
Definition total_share : R := sum count (fun s => share s * INR (d s)).

Lemma trivial_dimension : d 0 = 1%nat /\ m 0 = 1%nat.
Proof.
  pose proof count_positive as C.
  assert (D : INR (d 0) = 1).
  { rewrite <- (dimension_character 0 C); apply Htrivial, unit_below; assumption. }
  split; apply INR_eq; simpl INR; [exact D|].
  pose proof (characters_orthogonal 0 0 C C) as O; rewrite delta_same in O.
  rewrite (sum_ext n _ (fun _ => 1)), sum_const in O
    by (intros; rewrite !Htrivial by assumption; ring).
  pose proof (order_positive G HG); apply Rmult_eq_reg_l with (INR n); lra.
Qed.

Lemma share_positive : forall s, (0 < s < count)%nat -> 0 < share s.
Proof.
  intros [|s] [H Hs]; [lia|].
  pose proof (dimension_positive _ Hs) as P; pose proof (units_number_positive _ Hs).
  apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat|apply sqrt_lt_R0]; assumption.
Qed.

(** Any weights of the nontrivial representations in place of nu^(3/2) / m. *)
Section Weights.
Variable weight : nat -> R.
Hypothesis Hzero : weight 0%nat = 0.
Hypothesis Hpositive : forall s, (0 < s < count)%nat -> 0 < weight s.
Local Notation total := (sum count (fun s => weight s * INR (d s))).

Lemma weight_nonneg : forall s, (s < count)%nat -> 0 <= weight s.
Proof. intros [|s] Hs; [rewrite Hzero; lra|left; apply Hpositive; lia]. Qed.

Lemma weights_positive : 0 < total.
Proof.
  destruct trivial_dimension as [D M].
  assert (C : (2 <= count)%nat).
  { pose proof count_positive; destruct (Nat.eq_dec count 1) as [E|]; [exfalso|lia].
    pose proof (Hcomplete (unit G) (unit_below G HG)) as C.
    rewrite E, delta_same in C; simpl sum in C; rewrite D, M, Htrivial in C by (apply unit_below; assumption).
    assert (1 < INR n) by (replace 1 with (INR 1) by reflexivity; apply lt_INR; lia).
    simpl in C; lra. }
  apply Rlt_le_trans with (weight 1 * INR (d 1)).
  - apply Rmult_lt_0_compat; [apply Hpositive; lia|apply dimension_positive; lia].
  - apply (sum_term_le count (fun s => weight s * INR (d s))); [|lia].
    intros s Hs; apply Rmult_le_pos; [apply weight_nonneg; assumption|apply pos_INR].
Qed.

Definition dual_weights (g : nat) : R :=
  delta g (unit G) - / total * sum count (fun s => weight s * chi s g).

Lemma weights_at_unit : sum count (fun s => weight s * chi s (unit G)) = total.
Proof.
  apply sum_ext; intros s Hs; rewrite dimension_character by assumption; reflexivity.
Qed.

Lemma dual_weights_characters : forall s, (s < count)%nat ->
  sum n (fun g => dual_weights g * chi s g)
  = INR (d s) - weight s * (INR n * INR (m s)) / total.
Proof.
  intros s Hs; pose proof weights_positive as P; unfold dual_weights.
  transitivity (sum n (fun g => delta g (unit G) * chi s g)
    - / total * sum n (fun g => sum count (fun t => weight t * (chi t g * chi s g)))).
  - rewrite <- sum_scal, <- sum_minus; apply sum_ext; intros g _.
    rewrite Rmult_minus_distr_r, Rmult_assoc, <- sum_scal_r; do 2 f_equal.
    apply sum_ext; intros; ring.
  - rewrite (sum_delta n (chi s) (unit G) (unit_below G HG)), dimension_character by assumption.
    rewrite (sum_swap n), (sum_ext count (fun t => sum n _) (fun t => delta t s * (weight t * (INR n * INR (m t))))).
    + rewrite (sum_delta count (fun t => weight t * (INR n * INR (m t))) s Hs); field; lra.
    + intros t Ht; rewrite sum_scal, characters_orthogonal, (delta_sym s t) by assumption; ring.
Qed.

Lemma dual_weights_class : symmetric_class_function G dual_weights.
Proof.
  split.
  - intros g h Hg Hh; unfold dual_weights; f_equal.
    + unfold delta; destruct (Nat.eqb_spec g (unit G)) as [->|N].
      * rewrite (unit_left G HG) by (apply inv_below; assumption).
        rewrite (inv_right G HG), Nat.eqb_refl by assumption; reflexivity.
      * destruct (Nat.eqb_spec (op G h (op G g (inv G h))) (unit G)) as [E|]; [|reflexivity].
        exfalso; apply N.
        assert (B : below G (op G g (inv G h)))
          by (apply (op_below G HG); [|apply inv_below]; assumption).
        assert (E' : op G g (inv G h) = inv G h).
        { rewrite <- (inv_cancel G HG h (op G g (inv G h))), E by assumption.
          apply (unit_right G HG); apply inv_below; assumption. }
        rewrite <- (op_inv_cancel G HG g h), E' by assumption; apply (inv_left G HG); assumption.
    + f_equal; apply sum_ext; intros s Hs; f_equal.
      apply (on_classes G _ (character_class s Hs)); assumption.
  - intros g Hg; unfold dual_weights; f_equal.
    + unfold delta; destruct (Nat.eqb_spec g (unit G)) as [->|N].
      * rewrite <- (unit_right G HG (inv G (unit G))), (inv_left G HG), Nat.eqb_refl
          by (try apply inv_below; try apply unit_below; assumption); reflexivity.
      * destruct (Nat.eqb_spec (inv G g) (unit G)) as [E|]; [|reflexivity].
        exfalso; apply N; rewrite <- (inv_left G HG g), E by assumption.
        symmetry; apply unit_left; assumption.
    + f_equal; apply sum_ext; intros s Hs; f_equal.
      apply (on_inverses G _ (character_class s Hs)); assumption.
Qed.

Lemma dual_weights_wrong :
  (forall g, below G g -> g <> unit G -> sum count (fun s => weight s * chi s g) <= 0) ->
  wrong_weights G dual_weights.
Proof.
  intro Hcondition; pose proof weights_positive as P; split.
  - intros g Hg; unfold dual_weights; destruct (Nat.eq_dec g (unit G)) as [->|N].
    + rewrite delta_same, weights_at_unit; right; field; lra.
    + rewrite delta_other by assumption; pose proof (Hcondition g Hg N) as C.
      assert (0 <= / total * - sum count (fun s => weight s * chi s g)); [|lra].
      apply Rmult_le_pos; [left; apply Rinv_0_lt_compat; assumption|lra].
  - unfold dual_weights; rewrite delta_same, weights_at_unit; field; lra.
  - pose proof (dual_weights_characters 0 count_positive) as C.
    rewrite (sum_ext n _ dual_weights) in C by (intros; rewrite Htrivial by assumption; ring).
    destruct trivial_dimension as [D _]; rewrite C, D, Hzero; simpl; field; lra.
Qed.

End Weights.

Lemma total_share_positive : 0 < total_share.
Proof. exact (weights_positive share eq_refl share_positive). Qed.

Hypothesis Hcondition : forall g, below G g -> g <> unit G ->
  sum count (fun s => share s * chi s g) <= 0.

Definition closed_weights (g : nat) : R :=
  delta g (unit G) - / total_share * sum count (fun s => share s * chi s g).

Lemma closed_weights_characters : forall s, (s < count)%nat ->
  sum n (fun g => closed_weights g * chi s g)
  = INR (d s) - share s * (INR n * INR (m s)) / total_share.
Proof. exact (dual_weights_characters share eq_refl share_positive). Qed.

Lemma closed_weights_wrong : wrong_weights G closed_weights.
Proof. exact (dual_weights_wrong share eq_refl share_positive Hcondition). Qed.

Lemma closed_weights_class : symmetric_class_function G closed_weights.
Proof. exact (dual_weights_class share). Qed.

Lemma closed_form_network :
  exists net, width net = 2 * sum (count - 1) (fun s => INR (d (S s)) ^ 3) /\
    normalized_margin_at_least (group_table G) (constant G * (INR n / total_share)) net.
Proof.
  pose proof total_share_positive as P; destruct trivial_dimension as [D0 M0]; pose proof count_positive as C.
  set (eps := fun s => share s * INR (d s) / total_share).
  assert (First : forall F, sum count (fun s => eps s * F s) = sum (count - 1) (fun s => eps (S s) * F (S s))).
  { intro F; replace count with (S (count - 1)) at 1 by lia; rewrite sum_first; unfold eps at 1; simpl share.
    unfold Rdiv; ring. }
  apply (lower_side G (count - 1) (fun s => family (S s)) (fun s => eps (S s)) (INR n / total_share) HG).
  - intros s Hs; apply family_even; lia.
  - intros s Hs; apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; assumption].
    apply Rmult_le_pos; [apply (weight_nonneg share eq_refl share_positive); lia|apply pos_INR].
  - pose proof (First (fun _ => 1)) as F.
    rewrite (sum_ext count _ eps), (sum_ext (count - 1) _ (fun s => eps (S s))) in F by (intros; ring).
    rewrite <- F; unfold eps, Rdiv; rewrite sum_scal_r; fold total_share; field; lra.
  - intros g Hg N; right.
    pose proof (Hcomplete g Hg) as C1; pose proof (Hcomplete (unit G) (unit_below G HG)) as C2.
    rewrite delta_other in C1 by assumption; rewrite delta_same in C2.
    transitivity (sum count (fun s => eps s * payoff (family s) g)).
    + transitivity (/ total_share * (sum count (fun s => INR (d s) / INR (m s) * chi s (unit G))
        - sum count (fun s => INR (d s) / INR (m s) * chi s g))).
      * rewrite C1, C2; field; lra.
      * rewrite <- sum_minus, <- sum_scal; apply sum_ext; intros s Hs.
        rewrite dimension_character by assumption; unfold payoff, eps.
        pose proof (dimension_positive s Hs) as Pd; pose proof (units_number_positive s Hs).
        pose proof (sqrt_lt_R0 _ Pd).
        destruct s as [|s].
        -- rewrite Htrivial, D0 by assumption; simpl; field; rewrite sqrt_1; lra.
        -- unfold share; field; lra.
    + rewrite First; apply sum_ext; intros s Hs; pose proof (dimension_positive (S s) ltac:(lia)) as Pd.
      pose proof (sqrt_lt_R0 _ Pd); unfold payoff; field; lra.
Qed.

Lemma closed_payoffs : forall s, (s < count)%nat ->
  sum n (fun g => closed_weights g * payoff (family s) g) <= INR n / total_share.
Proof.
  intros s Hs; pose proof total_share_positive as P; destruct trivial_dimension as [D0 M0].
  pose proof (dimension_positive s Hs) as Pd; pose proof (sqrt_lt_R0 _ Pd) as Q.
  pose proof (units_number_positive s Hs); apply Rmult_le_reg_r with (1 := Q).
  rewrite payoff_mean, closed_weights_characters by (try apply closed_weights_wrong; assumption).
  destruct s as [|s].
  - rewrite D0; simpl share; simpl INR; rewrite sqrt_1.
    apply Rle_trans with 0; [right; field; lra|].
    rewrite Rmult_1_r; apply Rmult_le_pos; [apply pos_INR|left; apply Rinv_0_lt_compat; assumption].
  - right; unfold share; field; lra.
Qed.

Lemma closed_form_here : maximum_margin_between (group_table G)
  (constant G * (INR n / total_share)) (constant G * (INR n / total_share)).
Proof.
  split.
  - destruct closed_form_network as [net [_ M]]; exists net; exact M.
  - apply game_upper with (tau := closed_weights);
      [apply closed_weights_wrong|apply closed_weights_class|exact closed_payoffs].
Qed.

End Universal.

(** Both sides of the game, for every complete family. *)
Theorem universal : forall G count family, is_group G -> complete_family G count family ->
  (forall eps low,
    (forall s, (s < count)%nat -> 0 <= eps s) -> sum count eps = 1 ->
    (forall g, below G g -> g <> unit G -> low <= sum count (fun s => eps s * payoff (family s) g)) ->
    exists net, normalized_margin_at_least (group_table G) (constant G * low) net) /\
  (forall tau high, wrong_weights G tau -> symmetric_class_function G tau ->
    (forall s, (s < count)%nat -> sum (order G) (fun g => tau g * payoff (family s) g) <= high) ->
    forall net g, normalized_margin_at_least (group_table G) g net -> g <= constant G * high).
Proof.
  intros G count family HG HF; split.
  - intros eps low; apply game_lower; assumption.
  - intros tau high; apply game_upper with (count := count) (family := family); assumption.
Qed.

Corollary game_value : forall G count family eps tau K, is_group G -> complete_family G count family ->
  (forall s, (s < count)%nat -> 0 <= eps s) -> sum count eps = 1 ->
  (forall g, below G g -> g <> unit G -> K <= sum count (fun s => eps s * payoff (family s) g)) ->
  wrong_weights G tau -> symmetric_class_function G tau ->
  (forall s, (s < count)%nat -> sum (order G) (fun g => tau g * payoff (family s) g) <= K) ->
  maximum_margin_between (group_table G) (constant G * K) (constant G * K).
Proof.
  intros G count family eps tau K HG HF; intros.
  destruct (universal G count family HG HF) as [L U]; split; [apply (L eps)|apply (U tau)]; assumption.
Qed.

(** The closed form; the member 0 of the family is the trivial representation. *)
Theorem closed_form : forall G count family, is_group G -> (2 <= order G)%nat ->
  complete_family G count family ->
  (forall g, below G g -> character (family 0%nat) g = 1) ->
  (forall g, below G g -> g <> unit G ->
    sum count (fun s => share family s * character (family s) g) <= 0) ->
  maximum_margin_between (group_table G)
    (constant G * (INR (order G) / total_share count family))
    (constant G * (INR (order G) / total_share count family)).
Proof. intros; apply closed_form_here; assumption. Qed.

(** 2 nu^3 neurons for each nontrivial representation attain it, whether or not no network has a larger margin. *)
Theorem closed_form_width : forall G count family, is_group G -> (2 <= order G)%nat ->
  complete_family G count family ->
  (forall g, below G g -> character (family 0%nat) g = 1) ->
  exists net, width net = 2 * sum (count - 1) (fun s => INR (dim (family (S s))) ^ 3) /\
    normalized_margin_at_least (group_table G) (constant G * (INR (order G) / total_share count family)) net.
Proof. intros; apply closed_form_network; assumption. Qed.
