(** Products of k >= 2 factors: what networks of maximum margin consist of.

    A network that attains the bound of Factors.v loses nothing in any of its
    steps, so that each neuron attains the bound for one neuron.  Let x_s be the
    parts of the square N^2 of its norm.  Equality says
    x_s^2 N^(2k-2) <= x_s^(k+1) for every representation, so that one of them is
    N^2 and the others are 0, and the k + 1 parts of it, whose product is largest
    for their sum, are equal ([tight_factor_neuron]).  For k = 1, a linear
    network, the first is false.

    [factor_maximisers_of_every_group]: for every finite group each neuron of
    each network of maximum margin has u_1, ..., u_k and w of one length in the
    span of one nontrivial irreducible representation.
    [factor_closed_maximisers]: the same where the closed form is the maximum
    margin.  [summands_maximisers]: for the sum of k numbers modulo an odd n the
    neurons are waves of one frequency and one amplitude, and the phase of w is
    the sum of those of u_1, ..., u_k. *)

From Coq Require Import Reals List Lra Lia Arith.
From Lemmata Require Import Statement Sums Convolution Groups EveryGroup Representations Schur Universal Maximum.
From Lemmata Require Import Spectral Commutants Decomposition Cyclic Maximisers Frequencies Parity Factors FactorGame.
Local Open Scope R_scope.

(** A neuron of one representation, with u_1, ..., u_k and w of one length. *)
Definition factor_neuron_of (G : group) (k : nat) (r : representation) (o : factor_neuron) : Prop :=
  spanned G r (fw o) /\ forall j, (j < k)%nat ->
    spanned G r (fu o j) /\ square (order G) (fu o j) = square (order G) (fw o).

(** k + 1 numbers of which the product is the power of their mean. *)
Lemma equal_means k f x : (1 <= k)%nat -> (forall j, 0 <= f j) -> 0 <= x -> 0 < sum k f + x ->
  (sum k f + x) ^ S k <= INR (S k) ^ S k * (multiplied k f * x) ->
  x = (sum k f + x) / INR (S k) /\ forall j, (j < k)%nat -> f j = (sum k f + x) / INR (S k).
Proof.
  intros Hk Hf Hx HS H; assert (P : 0 < INR (S k)) by (apply lt_0_INR; lia).
  set (A := (sum k f + x) / INR (S k)) in *.
  assert (PA : 0 < A) by (apply Rdiv_lt_0_compat; assumption).
  assert (Pf : 0 <= multiplied k f) by (apply multiplied_nonneg; intros; apply Hf).
  destruct (next_mean k (multiplied k f) (sum k f) x Pf) as [M E];
    [apply sum_nonneg; intros; apply Hf|exact Hx|apply geometric_means; intros; apply Hf|fold A in M, E].
  assert (Q : A ^ S k <= multiplied k f * x).
  { apply Rmult_le_reg_l with (INR (S k) ^ S k); [apply pow_lt; exact P|].
    rewrite <- Rpow_mult_distr; replace (INR (S k) * A) with (sum k f + x) by (unfold A; field; lra); exact H. }
  pose proof (pow_lt A (S k) PA) as PQ.
  destruct (E ltac:(lra) ltac:(lra)) as [E1 [E2 [Z|E3]]]; [lia|]; split; [exact E2|].
  intros j Hj; rewrite <- E3.
  pose proof (geometric_mean_equal every_factor k f Hf) as GE.
  rewrite product_all, size_all in GE; apply GE; [|exact E1|exact Hj|reflexivity].
  destruct Pf as [Pf|Pf]; [exact Pf|rewrite <- Pf, Rmult_0_l in Q; lra].
Qed.

Section OneNeuron.
Variable G : group.
Hypothesis HG : is_group G.
Variable tau : nat -> R.
Hypothesis Htau : wrong_weights G tau.
Variable count : nat.
Variable family : nat -> representation.
Hypothesis Hfamily : forall s, (s < count)%nat -> is_representation G (family s).
Hypothesis Hcomplete : complete G count family.
Variable mu : nat -> R.
Hypothesis Hmu : forall s, (s < count)%nat -> scalar G tau (family s) (mu s).
Variable q : nat.
Local Notation p := (S q).
Local Notation k := (S p).
Variable K : R.
Hypothesis HK : 0 < K.
Hypothesis Hrow : forall s, (s < count)%nat -> (1 - mu s) ^ 2 <= K ^ 2 * INR (dim (family s)) ^ p.
Local Notation n := (order G).
Local Notation part s f := (part G family s f).
Local Notation x s o := (factor_mass G family p s o).
Local Notation N o := (factor_norm G k o).
Local Notation F := (neuron_factor G p K).

(** What a neuron that attains the bound consists of. *)
Definition factor_pure (s : nat) (o : factor_neuron) : Prop :=
  part s (fw o) = N o ^ 2 / INR (k + 1) /\
  (forall j, (j < k)%nat -> part s (fu o j) = N o ^ 2 / INR (k + 1)) /\
  forall t, (t < count)%nat -> t <> s ->
    part t (fw o) = 0 /\ forall j, (j < k)%nat -> part t (fu o j) = 0.

Lemma neuron_factor_positive : 0 < F.
Proof.
  pose proof (order_positive G HG); unfold neuron_factor; apply Rdiv_lt_0_compat; [|apply root_positive; exact HG].
  apply Rmult_lt_0_compat; [exact HK|apply pow_lt; assumption].
Qed.

Lemma tight_factor_neuron o : 0 < N o ->
  multilinear G k (fu o) (contrast G tau (fw o)) = F * N o ^ (k + 1) ->
  exists s, (s < count)%nat /\ factor_pure s o /\
    (1 - mu s) * chain_part G family s k (fu o) (fw o) = F * N o ^ (k + 1).
Proof.
  intros PN E; assert (HK' : 0 <= K) by lra; pose proof neuron_factor_positive as PF.
  assert (PF2 : 0 < F ^ 2) by (apply pow_lt; exact PF).
  pose proof (fun s Hs f => part_nonneg G HG count family Hfamily s f Hs) as Pp.
  assert (Px : forall s, (s < count)%nat -> 0 <= x s o)
    by (intros; apply (mass_nonneg G HG count family Hfamily); assumption).
  assert (X : N o ^ 2 = sum count (fun s => x s o)) by (apply (factor_norm_parts G HG); assumption).
  assert (Power : N o ^ (k + 1) = N o ^ p * N o ^ 2) by (rewrite <- pow_add; f_equal; lia).
  assert (Terms : forall s, (s < count)%nat ->
    (1 - mu s) * chain_part G family s k (fu o) (fw o) = F * N o ^ p * x s o).
  { apply (sum_tight count (fun s => (1 - mu s) * chain_part G family s k (fu o) (fw o))).
    - intros s Hs; apply (factor_neuron_row G HG count family Hfamily Hcomplete mu p K HK' Hrow); exact Hs.
    - rewrite sum_scal, <- X, <- (multilinear_contrast G HG tau count family Hfamily Hcomplete mu Hmu), E, Power.
      right; ring. }
  destruct (positive_term count (fun s => x s o)) as [s [Hs Xs]]; [rewrite <- X; apply pow_lt; exact PN|].
  pose proof (neuron_masses G HG count family Hfamily mu p K Hrow s o Hs) as B.
  pose proof (masses_mean G HG count family Hfamily p s o Hs) as M.
  set (A := INR (S k) ^ S k * (multiplied k (fun j => part s (fu o j)) * part s (fw o))) in *.
  rewrite (Terms s Hs) in B.
  replace ((F * N o ^ p * x s o) ^ 2) with (F ^ 2 * ((N o ^ 2) ^ p * x s o ^ 2)) in B
    by (rewrite <- pow_mult, (Nat.mul_comm 2), pow_mult; ring).
  apply Rmult_le_reg_l in B; [|exact PF2].
  assert (Le : x s o <= N o ^ 2)
    by (rewrite X; apply (sum_term_le count (fun t => x t o)); [intros; apply Px; assumption|exact Hs]).
  assert (Split : x s o ^ S k = x s o ^ p * x s o ^ 2) by (rewrite <- pow_add; f_equal; lia).
  assert (All : x s o = N o ^ 2).
  { apply (power_injective q); [split; [lra|exact Le]|].
    apply Rle_antisym; [apply pow_incr; split; lra|].
    apply Rmult_le_reg_r with (x s o ^ 2); [apply pow_lt; exact Xs|]; rewrite <- Split; lra. }
  assert (Low : x s o ^ S k <= A) by (rewrite Split; rewrite All at 1; exact B).
  destruct (equal_means k (fun j => part s (fu o j)) (part s (fw o))) as [E1 E2];
    [lia|intros; apply Pp; exact Hs|apply Pp; exact Hs|exact Xs|exact Low|].
  change (sum k (fun j => part s (fu o j)) + part s (fw o)) with (x s o) in E1, E2.
  rewrite All in E1, E2; replace (S k) with (k + 1)%nat in E1, E2 by lia.
  exists s; split; [exact Hs|split].
  - split; [exact E1|split; [exact E2|]]; intros t Ht T.
    assert (Zt : x t o = 0).
    { assert (D : x t o - delta t s * x t o = 0).
      { apply (sum_zero_terms count (fun t => x t o - delta t s * x t o)); [| |exact Ht].
        - intros l Hl; destruct (Nat.eq_dec l s) as [->|L].
          + rewrite delta_same; lra.
          + rewrite delta_other by exact L; pose proof (Px l Hl); lra.
        - rewrite sum_minus, (sum_delta count (fun t => x t o) s Hs), <- X, All; ring. }
      rewrite delta_other in D by exact T; lra. }
    unfold factor_mass in Zt; pose proof (sum_nonneg k (fun j => part t (fu o j)) (fun j _ => Pp t Ht (fu o j))) as S0.
    pose proof (Pp t Ht (fw o)) as W0; split; [lra|].
    apply (sum_zero_terms k (fun j => part t (fu o j))); [intros; apply Pp; exact Ht|lra].
  - rewrite (Terms s Hs), All, Power; ring.
Qed.

Lemma factor_pure_neuron s o : (s < count)%nat -> factor_pure s o -> factor_neuron_of G k (family s) o.
Proof.
  intros Hs [Ew [Eu H]].
  assert (Hw : forall t, (t < count)%nat -> t <> s -> part t (fw o) = 0) by apply H.
  split; [apply (alone_spanned G HG count family Hfamily Hcomplete); assumption|]; intros j Hj.
  assert (Hu : forall t, (t < count)%nat -> t <> s -> part t (fu o j) = 0)
    by (intros t Ht T; apply (H t Ht T); exact Hj).
  split; [apply (alone_spanned G HG count family Hfamily Hcomplete); assumption|].
  rewrite (proj1 (part_alone G HG count family Hfamily Hcomplete s _ Hs Hu)).
  rewrite (proj1 (part_alone G HG count family Hfamily Hcomplete s _ Hs Hw)), Eu, Ew by exact Hj; reflexivity.
Qed.

(** ** All neurons of a network that attains the bound *)

Variable net : list factor_neuron.
Hypothesis Hnet : factor_margin_at_least G k (products_constant G k * K) net.
Hypothesis Htrivial : mu 0%nat = 1.

Lemma tight_network : forall o, In o net ->
  multilinear G k (fu o) (contrast G tau (fw o)) = F * N o ^ (k + 1).
Proof.
  intros o I; assert (HK' : 0 <= K) by lra; pose proof (weak_duality G HG tau Htau k _ net Hnet) as D.
  pose proof (root_positive G HG p) as P.
  set (phi := fun o => tuples n k (fun a =>
    sum k (fun j => fu o j (a j)) ^ k * contrast G tau (fw o) (product_of G k a))) in D.
  assert (T : phi o = INR n ^ k * (products_constant G k * K * N o ^ (k + 1))).
  { apply (total_equal phi (fun o => INR n ^ k * (products_constant G k * K * N o ^ (k + 1))) net); [| |exact I].
    - intro r; apply (neuron_sum G HG tau Htau count family Hfamily Hcomplete mu Hmu p K HK' Hrow).
    - rewrite !total_scal; exact D. }
  unfold phi in T; rewrite (polarisation G HG k 1 (fun s => s ^ k)) in T
    by (try apply polynomial_power; apply (contrast_sum G HG tau Htau)).
  assert (Pk : 0 < INR (fact k)) by (apply lt_0_INR, lt_O_fact).
  apply Rmult_eq_reg_l with (INR (fact k)); [|lra].
  rewrite Rmult_1_r in T; rewrite T; unfold neuron_factor, products_constant; field; lra.
Qed.

Theorem one_factor_representation o : In o net -> 0 < N o ->
  exists s, (0 < s < count)%nat /\ factor_pure s o /\
    (1 - mu s) * chain_part G family s k (fu o) (fw o) = F * N o ^ (k + 1).
Proof.
  intros I P; destruct (tight_factor_neuron o P (tight_network o I)) as [s [Hs [Q E]]].
  exists s; split; [split; [|exact Hs]|split; assumption].
  destruct s as [|s]; [exfalso|lia].
  rewrite Htrivial in E; pose proof neuron_factor_positive as PF.
  pose proof (Rmult_lt_0_compat _ _ PF (pow_lt _ (k + 1) P)); lra.
Qed.

End OneNeuron.

Lemma factor_silent G k o : factor_norm G k o = 0 ->
  (forall y, below G y -> fw o y = 0) /\ forall j y, (j < k)%nat -> below G y -> fu o j y = 0.
Proof.
  intro Z; unfold factor_norm in Z.
  assert (S0 : 0 <= sum k (fun j => square (order G) (fu o j))) by (apply sum_nonneg; intros; apply square_nonneg).
  pose proof (square_nonneg (order G) (fw o)) as W0; apply sqrt_eq_0 in Z; [|lra].
  split; [intros y Hy; apply (square_null (order G)); [lra|exact Hy]|intros j y Hj Hy].
  apply (square_null (order G)); [|exact Hy].
  apply (sum_zero_terms k (fun j => square (order G) (fu o j))); [intros; apply square_nonneg|lra|exact Hj].
Qed.

Lemma null_spanned G r f : (forall y, below G y -> f y = 0) -> spanned G r f /\ square (order G) f = 0.
Proof.
  intro Z; split.
  - exists (fun _ _ => 0); intros y Hy; rewrite Z by exact Hy; unfold frobenius_inner, inner; symmetry.
    apply sum_zero; intros; apply sum_zero; intros; ring.
  - apply sum_zero; intros; rewrite Z by assumption; ring.
Qed.

Lemma factor_silent_in_all G k r o : factor_norm G k o = 0 -> factor_neuron_of G k r o.
Proof.
  intro Z; destruct (factor_silent G k o Z) as [W U]; destruct (null_spanned G r _ W) as [W1 W2].
  split; [exact W1|]; intros j Hj; destruct (null_spanned G r (fu o j) (fun y => U j y Hj)) as [U1 U2].
  split; [exact U1|rewrite U2, W2; reflexivity].
Qed.

(** ** Optimal weights of the game *)

Section Game.
Variable G : group.
Hypothesis HG : is_group G.
Hypothesis Hn : (2 <= order G)%nat.
Variable count : nat.
Variable family : nat -> representation.
Hypothesis HF : complete_family G count family.
Hypothesis Htrivial : forall g, below G g -> character (family 0%nat) g = 1.
Variable tau : nat -> R.
Hypothesis Ht : wrong_weights G tau.
Hypothesis Hc : symmetric_class_function G tau.
Variable q : nat.
Local Notation k := (S (S q)).
Variable K : R.
Hypothesis HK : 0 < K.
Hypothesis Hp : forall s, (s < count)%nat ->
  sum (order G) (fun g => tau g * factor_payoff k (family s) g) <= K.
Variable net : list factor_neuron.
Hypothesis Hnet : factor_margin_at_least G k (products_constant G k * K) net.
Local Notation mu := (fun s => sum (order G) (fun g => tau g * character (family s) g) / INR (dim (family s))).

Lemma trivial_mean : mu 0%nat = 1.
Proof.
  destruct (trivial_dimension G HG count family HF Htrivial) as [D _]; cbv beta; rewrite D.
  rewrite (sum_ext (order G) _ tau) by (intros; rewrite Htrivial by assumption; ring).
  rewrite (tau_sum G tau Ht); simpl; field.
Qed.

Lemma squared_row s : (s < count)%nat -> (1 - mu s) ^ 2 <= K ^ 2 * INR (dim (family s)) ^ S q.
Proof.
  intro Hs; pose proof (game_row G HG k count family HF tau K Ht Hp s Hs) as R; cbv beta in *.
  rewrite <- (square_sqrt (INR (dim (family s)) ^ S q)) by apply pow_le, pos_INR.
  rewrite <- (pow2_abs (1 - _)), <- Rpow_mult_distr; apply pow_incr; split; [apply Rabs_pos|exact R].
Qed.

Lemma game_neuron o : In o net -> 0 < factor_norm G k o ->
  exists s, (0 < s < count)%nat /\ factor_pure G count family q s o /\
    (1 - mu s) * chain_part G family s k (fu o) (fw o) = neuron_factor G (S q) K * factor_norm G k o ^ (k + 1).
Proof.
  exact (one_factor_representation G HG tau Ht count family (family_representations G count family HF)
    (family_complete G count family HF) mu (game_scalar G HG count family HF tau Hc) q K HK squared_row net Hnet
    trivial_mean o).
Qed.

Lemma game_structure o : In o net -> exists s, (0 < s < count)%nat /\ factor_neuron_of G k (family s) o.
Proof.
  intro I; destruct (sqrt_pos (sum k (fun j => square (order G) (fu o j)) + square (order G) (fw o))) as [No|No];
    fold (factor_norm G k o) in No.
  - destruct (game_neuron o I No) as [s [Hs [Q _]]]; exists s; split; [exact Hs|].
    apply (factor_pure_neuron G HG count family (family_representations G count family HF)
      (family_complete G count family HF) q); [lia|exact Q].
  - exists 1%nat; split; [pose proof (nontrivial_member G count family HG Hn HF Htrivial); lia|].
    apply factor_silent_in_all; symmetry; exact No.
Qed.

End Game.

(** Every finite group: one nontrivial irreducible representation in each neuron of every network of maximum margin. *)
Theorem factor_maximisers_of_every_group : forall G k, is_group G -> (2 <= order G)%nat -> (2 <= k)%nat ->
  exists count family v, complete_family G count family /\
  (forall s, (s < count)%nat -> irreducible G (family s)) /\
  (forall g, character (family 0%nat) g = 1) /\
  factor_maximum_is G k (products_constant G k * v) /\
  forall net, factor_margin_at_least G k (products_constant G k * v) net ->
  forall o, In o net -> exists s, (0 < s < count)%nat /\ factor_neuron_of G k (family s) o.
Proof.
  intros G k HG Hn Hk; destruct (complete_family_exists G HG) as [count [family [HF [Irr HT]]]].
  assert (Hk' : (1 <= k)%nat) by lia.
  destruct (optimal_pair G HG Hn count (count_positive G HG count family HF) (fun s => factor_payoff k (family s)))
    as [v [eps [tau [[E1 E2] [Wt [Ct [Lo Hi]]]]]]].
  1: intros; apply factor_payoff_class with (count := count); assumption.
  1: intros; apply factor_payoff_unit with (count := count); assumption.
  destruct (factor_game G k count family HG Hk' HF) as [L U].
  assert (Max : factor_maximum_is G k (products_constant G k * v)).
  { split; [destruct (L eps v E1 E2 Lo) as [net [_ M]]; exists net; exact M|exact (proj2 (U tau v Wt Ct Hi))]. }
  exists count, family, v; split; [exact HF|split; [exact Irr|split; [exact HT|split; [exact Max|]]]].
  assert (Pv : 0 < v).
  { destruct (factor_closed_form G k count family HG Hn Hk' HF ltac:(auto)) as [[best [_ B]] _].
    pose proof (proj2 Max best _ B) as V; apply Rmult_le_reg_l in V.
    - apply Rlt_le_trans with (2 := V); apply Rdiv_lt_0_compat; [apply order_positive; exact HG|].
      apply (factor_total_share_positive G HG k Hk' count family HF Hn); auto.
    - apply Rdiv_lt_0_compat; [apply lt_0_INR, lt_O_fact|apply sqrt_lt_R0, pow_lt, Rmult_lt_0_compat];
        [apply lt_0_INR; lia|apply order_positive; exact HG]. }
  destruct k as [|[|q]]; [lia|lia|]; intros net M o I.
  exact (game_structure G HG Hn count family HF ltac:(auto) tau Wt Ct q v Pv Hi net M o I).
Qed.

(** The closed form: the structure of all networks that attain it. *)
Theorem factor_closed_maximisers : forall G k count family, is_group G -> (2 <= order G)%nat -> (2 <= k)%nat ->
  complete_family G count family ->
  (forall g, below G g -> character (family 0%nat) g = 1) ->
  (forall g, below G g -> g <> unit G ->
    sum count (fun s => factor_share k family s * character (family s) g) <= 0) ->
  forall net,
  factor_margin_at_least G k (products_constant G k * (INR (order G) / factor_total_share k count family)) net ->
  forall o, In o net -> exists s, (0 < s < count)%nat /\ factor_neuron_of G k (family s) o.
Proof.
  intros G k count family HG Hn Hk HF HT HC net M o I; destruct k as [|[|q]]; [lia|lia|].
  assert (Hk' : (1 <= S (S q))%nat) by lia.
  assert (PK : 0 < INR (order G) / factor_total_share (S (S q)) count family).
  { apply Rdiv_lt_0_compat; [apply order_positive; exact HG|].
    apply (factor_total_share_positive G HG _ Hk' count family HF Hn HT). }
  exact (game_structure G HG Hn count family HF HT (dual_weights G count family (factor_share (S (S q)) family))
    (factor_weights_wrong G HG _ Hk' count family HF Hn HT HC)
    (dual_weights_class G HG count family HF _) q _ PK
    (factor_closed_payoffs G HG _ Hk' count family HF Hn HT HC) net M o I).
Qed.

(** ** Sums of k numbers modulo an odd number *)

Lemma finite_choice {A} (P : nat -> A -> Prop) (d : A) k :
  (forall j, (j < k)%nat -> exists x, P j x) -> exists f, forall j, (j < k)%nat -> P j (f j).
Proof.
  induction k as [|k IH]; intro H; [exists (fun _ => d); intros; lia|].
  destruct IH as [f Hf]; [intros; apply H; lia|]; destruct (H k ltac:(lia)) as [x Hx].
  exists (extended f k x); intros j Hj; unfold extended.
  destruct (Nat.eqb_spec j k) as [->|N]; [exact Hx|apply Hf; lia].
Qed.

(** The form of a neuron, for the frequency z, the amplitude lambda and k phases. *)
Definition wave_neuron (n k z : nat) (lambda : R) (theta : nat -> R) (o : factor_neuron) : Prop :=
  forall x, (x < n)%nat ->
  (forall j, (j < k)%nat -> fu o j x = wave n z lambda (theta j) x) /\ fw o x = wave n z lambda (sum k theta) x.

Section Odd.
Variable h : nat.
Hypothesis Hh : (1 <= h)%nat.
Local Notation n := (2 * h + 1)%nat.
Local Notation G := (cyclic n).
Local Notation family := (odd_family h).

(** Rotations, each times r, multiply to the rotation by the sum of the angles. *)
Lemma rotation_chain z u r a k :
  (forall j, (j < k)%nat -> cosines h z (u j) = r * cos (a j) /\ sines h z (u j) = r * sin (a j)) ->
  forall i l, (i < 2)%nat -> (l < 2)%nat ->
  chain G (rotation n z) u k i l = r ^ k * rotation_matrix (cos (sum k a)) (sin (sum k a)) i l.
Proof.
  induction k as [|k IH]; intros H i l Hi Hl.
  - cbn [chain sum pow]; rewrite cos_0, sin_0; two Hi; two Hl; unfold delta; simpl; ring.
  - destruct (H k ltac:(lia)) as [Co Si]; cbn [chain]; unfold times; cbn [dim rotation sum pow].
    rewrite !IH, !(rotation_hat h) by (try (intros; apply H); lia); rewrite Co, Si, cos_plus, sin_plus.
    two Hi; two Hl; cbn [rotation_matrix]; ring.
Qed.

Lemma wave_neuron_of q K mu s o : 0 < K -> (s < h)%nat ->
  0 <= 1 - mu (S s) -> (1 - mu (S s)) ^ 2 <= K ^ 2 * INR 2 ^ S q ->
  0 < factor_norm G (S (S q)) o -> factor_pure G (S h) family q (S s) o ->
  (1 - mu (S s)) * chain_part G family (S s) (S (S q)) (fu o) (fw o)
    = neuron_factor G (S q) K * factor_norm G (S (S q)) o ^ (S (S q) + 1) ->
  exists lambda theta, 0 <= lambda /\ wave_neuron n (S (S q)) (S s) lambda theta o.
Proof.
  intros HK Hs M0 M2 PN [Ew [Eu H]] E; set (k := S (S q)) in *; set (N := factor_norm G k o) in *.
  assert (HG : is_group G) by (apply cyclic_is_group; lia); assert (Pn : 0 < INR n) by (apply lt_0_INR; lia).
  assert (Pk : 0 < INR (k + 1)) by (apply lt_0_INR; lia).
  destruct (one_wave h Hh s (fw o) Hs) as [r [c [Pr [Co [Si [Part W]]]]]]; [intros; apply H; assumption|].
  assert (R2 : 2 * r ^ 2 / INR n = N ^ 2 / INR (k + 1)) by (rewrite <- Part; exact Ew).
  destruct (finite_choice (fun j a => cosines h (S s) (fu o j) = r * cos a /\ sines h (S s) (fu o j) = r * sin a /\
    forall x, (x < n)%nat -> fu o j x = wave n (S s) (2 * r / INR n) (- a) x) 0 k) as [a Ha].
  { intros j Hj; destruct (one_wave h Hh s (fu o j) Hs) as [t [b [Pt [Cj [Sj [Pj Wj]]]]]].
    - intros i Hi T; apply (H i Hi T); exact Hj.
    - assert (T2 : t ^ 2 = r ^ 2).
      { apply Rmult_eq_reg_l with (2 / INR n); [|apply Rgt_not_eq, Rdiv_lt_0_compat; lra].
        transitivity (2 * t ^ 2 / INR n); [field; lra|]; rewrite <- Pj, (Eu j Hj), <- R2; field; lra. }
      assert (t = r) as -> by (apply Rle_antisym; apply le_of_squares; lra).
      exists b; split; [exact Cj|split; [exact Sj|exact Wj]]. }
  assert (Chain : chain_part G family (S s) k (fu o) (fw o) = 2 * r ^ (k + 1) / INR n * cos (sum k a - c)).
  { unfold chain_part; rewrite (rotation_coefficient h Hh); cbn [odd_family dim rotation].
    unfold frobenius_inner, inner; cbn [sum].
    rewrite !(rotation_chain (S s) (fu o) r a k) by (try (intros j Hj; destruct (Ha j Hj) as [A1 [A2 _]]; split); auto).
    rewrite !(rotation_hat h) by lia; cbn [rotation_matrix]; rewrite Co, Si, cos_minus, pow_add; field; lra. }
  set (e := cos (sum k a - c)) in *.
  assert (Er : 0 < r).
  { destruct Pr as [|Z]; [assumption|exfalso]; rewrite <- Z in R2.
    assert (0 < N ^ 2 / INR (k + 1)) by (apply Rdiv_lt_0_compat; [apply pow_lt|]; assumption).
    replace (2 * 0 ^ 2 / INR n) with 0 in R2 by (field; lra); lra. }
  pose proof (neuron_factor_positive G HG q K HK) as PF.
  assert (Pe : 0 < e).
  { destruct (Rle_or_lt e 0) as [L|]; [exfalso|assumption].
    assert (0 < neuron_factor G (S q) K * N ^ (k + 1)) by (apply Rmult_lt_0_compat; [exact PF|apply pow_lt; exact PN]).
    assert (0 < 2 * r ^ (k + 1) / INR n) by (apply Rdiv_lt_0_compat; [pose proof (pow_lt r (k + 1) Er)|]; lra).
    rewrite Chain in E.
    assert (0 <= (1 - mu (S s)) * (2 * r ^ (k + 1) / INR n * - e)); [|lra].
    apply Rmult_le_pos; [exact M0|apply Rmult_le_pos; lra]. }
  assert (One : 1 <= e).
  { apply le_of_squares; [lra|]; replace (1 ^ 2) with 1 by ring.
    assert (Sq : ((1 - mu (S s)) * (2 * r ^ (k + 1) / INR n * e)) ^ 2
      = neuron_factor G (S q) K ^ 2 * (N ^ 2) ^ (k + 1)).
    { rewrite <- Chain, E, Rpow_mult_distr; f_equal; rewrite <- !pow_mult; f_equal; lia. }
    replace (N ^ 2) with (INR (k + 1) * (2 * r ^ 2 / INR n)) in Sq by (rewrite R2; field; lra).
    assert (Fsq : neuron_factor G (S q) K ^ 2 * (INR (k + 1) * (2 * r ^ 2 / INR n)) ^ (k + 1)
      = K ^ 2 * INR n ^ S q * (2 * r ^ 2 / INR n) ^ (k + 1))
      by (rewrite Rpow_mult_distr, <- Rmult_assoc; f_equal; exact (neuron_factor_square G HG (S q) K)).
    rewrite Fsq in Sq; clear Fsq.
    set (R := (r ^ 2) ^ (k + 1)) in *; assert (PR : 0 < R) by (apply pow_lt, pow_lt; exact Er).
    assert (RR : R = (r ^ (k + 1)) ^ 2) by (unfold R; rewrite <- !pow_mult; f_equal; lia).
    assert (PB : 0 < K ^ 2 * 2 ^ S q * (4 / INR n ^ 2) * R).
    { apply Rmult_lt_0_compat; [|exact PR]; apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; apply pow_lt; lra|].
      apply Rdiv_lt_0_compat; [lra|apply pow_lt; exact Pn]. }
    apply Rmult_le_reg_l with (1 := PB).
    apply Rle_trans with (((1 - mu (S s)) * (2 * r ^ (k + 1) / INR n * e)) ^ 2).
    - right; rewrite Sq, Rmult_1_r; unfold R; unfold Rdiv; rewrite !Rpow_mult_distr, pow_inv.
      replace (k + 1)%nat with (S q + 2)%nat by lia; rewrite !(pow_add _ (S q) 2).
      pose proof (pow_lt _ (S q) Pn); field; lra.
    - replace (((1 - mu (S s)) * (2 * r ^ (k + 1) / INR n * e)) ^ 2)
        with ((1 - mu (S s)) ^ 2 * (4 / INR n ^ 2 * R * e ^ 2))
        by (rewrite RR; field; lra).
      replace (K ^ 2 * 2 ^ S q * (4 / INR n ^ 2) * R * e ^ 2)
        with (K ^ 2 * 2 ^ S q * (4 / INR n ^ 2 * R * e ^ 2)) by ring.
      apply Rmult_le_compat_r; [|simpl (INR 2) in M2; replace (1 + 1) with 2 in M2 by ring; exact M2].
      apply Rmult_le_pos; [apply Rmult_le_pos; [left; apply Rdiv_lt_0_compat; [lra|apply pow_lt; exact Pn]|lra]|].
      apply pow2_ge_0. }
  assert (Phase : cos (sum k a + 0 - c) = 1)
    by (rewrite Rplus_0_r; apply Rle_antisym; [apply COS_bound|exact One]).
  exists (2 * r / INR n), (fun j => - a j); split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; exact Pn]|].
  intros x Hx; split; [intros j Hj; apply (Ha j Hj); exact Hx|].
  rewrite (W x Hx); unfold wave; f_equal.
  rewrite (aligned (sum k a) 0 c _ Phase); f_equal.
  rewrite (sum_ext k (fun j => - a j) (fun j => -1 * a j)) by (intros; ring); rewrite sum_scal; ring.
Qed.

End Odd.

(** Each neuron of a network of maximum margin has one frequency, one amplitude, and the sum of the phases. *)
Theorem summands_maximisers : forall n k net, (3 <= n)%nat -> Nat.odd n = true -> (2 <= k)%nat ->
  factor_margin_at_least (cyclic n) k
    (products_constant (cyclic n) k * (INR n / (sqrt (2 ^ (k - 1)) * (INR n - 1)))) net ->
  forall o, In o net ->
  exists z lambda theta, (1 <= z <= (n - 1) / 2)%nat /\ 0 <= lambda /\ wave_neuron n k z lambda theta o.
Proof.
  intros n k net Hn Ho Hk M o I; apply Nat.odd_spec in Ho; destruct Ho as [h ->].
  assert (Hh : (1 <= h)%nat) by lia; rewrite <- odd_factor_total in M; destruct k as [|[|q]]; [lia|lia|].
  assert (Range : forall s, (s < h)%nat -> (1 <= S s <= (2 * h + 1 - 1) / 2)%nat).
  { intros s Hs; replace (2 * h + 1 - 1)%nat with (h * 2)%nat by lia; rewrite Nat.div_mul by lia; lia. }
  set (G := cyclic (2 * h + 1)) in *; pose proof (cyclic_is_group (2 * h + 1) ltac:(lia) : is_group G) as HG.
  pose proof (odd_family_complete h Hh : complete_family G (S h) (odd_family h)) as HF.
  pose proof (odd_family_trivial h) as HT; assert (Hk' : (1 <= S (S q))%nat) by lia.
  assert (Ho2 : (2 <= order G)%nat) by (simpl; lia).
  assert (HC : forall g, below G g -> g <> unit G ->
    sum (S h) (fun s => factor_share (S (S q)) (odd_family h) s * character (odd_family h s) g) <= 0).
  { intros g Hg N; rewrite (odd_factor_shares h Hh _ g Hg N); pose proof (sqrt_pos (2 ^ (S (S q) - 1))); lra. }
  pose proof (factor_weights_wrong _ HG _ Hk' (S h) (odd_family h) HF Ho2 HT HC) as W.
  pose proof (dual_weights_class _ HG (S h) (odd_family h) HF (factor_share (S (S q)) (odd_family h))) as C.
  pose proof (factor_closed_payoffs _ HG _ Hk' (S h) (odd_family h) HF Ho2 HT HC) as P.
  set (tau := dual_weights _ _ _ _) in *; set (K := INR (order G) / _) in *.
  assert (PK : 0 < K).
  { apply Rdiv_lt_0_compat; [apply order_positive; exact HG|].
    apply (factor_total_share_positive _ HG _ Hk' (S h) (odd_family h) HF Ho2 HT). }
  destruct (sqrt_pos (sum (S (S q)) (fun j => square (order G) (fu o j))
    + square (order G) (fw o))) as [No|No]; fold (factor_norm G (S (S q)) o) in No.
  - destruct (game_neuron _ HG (S h) (odd_family h) HF HT tau W C q K PK P net M o I No) as [[|s] [Hs [Q E]]]; [lia|].
    pose proof (squared_row _ HG (S h) (odd_family h) HF tau W q K P (S s) ltac:(lia)) as R2.
    pose proof (mean_payoff_nonneg _ HG (S (S q)) (S h) (odd_family h) HF tau W (S s) ltac:(lia)) as R0.
    pose proof (factor_payoff_mean G (S (S q)) (S h) (odd_family h) HF tau (S s) ltac:(lia) W) as R1.
    destruct (wave_neuron_of h Hh q K (fun s => sum (order G) (fun g => tau g * character (odd_family h s) g)
      / INR (dim (odd_family h s))) s o PK ltac:(lia)) as [lambda [theta [L F]]];
      [cbv beta; rewrite <- R1; apply Rmult_le_pos; [exact R0|apply sqrt_pos]|exact R2|exact No|exact Q|exact E|].
    exists (S s), lambda, theta; split; [apply Range; lia|split; [exact L|exact F]].
  - destruct (factor_silent _ _ o (eq_sym No)) as [Z1 Z2].
    exists 1%nat, 0, (fun _ => 0); split; [apply (Range 0%nat); lia|split; [lra|]]; intros x Hx; unfold wave.
    split; [intros j Hj; rewrite (Z2 j x Hj Hx); ring|rewrite (Z1 x Hx); ring].
Qed.
