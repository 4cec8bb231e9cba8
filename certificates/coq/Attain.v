(** The maximum margin of a product in a finite group: the lower side by real
    orthogonal representations, for two factors.

    For a representation rho of dimension nu the neurons
    (x rho_ij, +-x rho_jk, +-x rho_ik), over all i, j, k and both signs, add up
    to 4 x^3 times the character at c^-1 a b: the signs leave the product, and
    the sum over j multiplies the matrices.  If the squares of every entry add
    up to n/nu over the group, all these neurons have one length.  [lower_side]:
    masses eps of representations attain 2 (3n)^(-3/2) K, K the least of
    sum eps nu^(-3/2) (nu - chi(g)) over g other than the unit, with 2 nu^3
    neurons for each; this is the lower bound of
    certificates/game/UNIVERSAL_MARGIN.md. *)

From Coq Require Import Reals List Lra Lia Arith.
From Lemmata Require Import Below.
From Lemmata Require Import Statement Sums Convolution Groups EveryGroup Representations.
Import ListNotations.
Local Open Scope R_scope.

(** ** Networks in blocks *)

(** The number of neurons. *)
Definition width (net : network) : R := INR (length net).

Lemma width_over : forall net, width net = over net (fun _ => 1).
Proof.
  unfold width; induction net as [|o l IH]; [reflexivity|].
  change (over (o :: l) (fun _ => 1)) with (1 + over l (fun _ => 1)).
  rewrite <- IH; change (length (o :: l)) with (S (length l)); rewrite S_INR; ring.
Qed.

Fixpoint join (n : nat) (f : nat -> network) : network :=
  match n with O => [] | S m => join m f ++ f m end.

Lemma over_app : forall k l phi, over (k ++ l) phi = over k phi + over l phi.
Proof.
  intros k l phi; induction k as [|o k IH]; simpl; [ring|].
  change (phi o + over (k ++ l) phi = phi o + over k phi + over l phi).
  rewrite IH; ring.
Qed.

Lemma over_join : forall n f phi, over (join n f) phi = sum n (fun i => over (f i) phi).
Proof.
  induction n as [|n IH]; intros f phi; simpl; [reflexivity|].
  rewrite over_app, IH; reflexivity.
Qed.

Definition pair (f g h : nat -> R) : network :=
  [Neuron f g h; Neuron f (fun b => - g b) (fun c => - h c)].

Lemma over_pair : forall f g h phi,
  over (pair f g h) phi
  = phi (Neuron f g h) + phi (Neuron f (fun b => - g b) (fun c => - h c)).
Proof. intros; simpl; ring. Qed.

Lemma output_pair : forall f g h a b c,
  over (pair f g h) (fun o => activity o a b * w o c) = 4 * (f a * g b * h c).
Proof. intros; unfold activity; simpl; ring. Qed.

Lemma cube_root_nonneg : forall y, 0 <= cube_root y.
Proof.
  intro y; unfold cube_root; destruct (Rle_dec 0 y) as [H|]; [|lra].
  exact (proj1 (proj2_sig (cube_root_exists y H))).
Qed.

Section Attain.
Variable G : group.
Hypothesis HG : is_group G.
Local Notation n := (order G).

(** The squares of an entry add up to n/nu. *)
Definition even_entries (r : representation) : Prop :=
  forall i j, (i < dim r)%nat -> (j < dim r)%nat ->
  INR (dim r) * sum n (fun g => mat r g i j ^ 2) = INR n.

Definition block (r : representation) (x : R) : network :=
  join (dim r) (fun i => join (dim r) (fun j => join (dim r) (fun k =>
    pair (fun g => x * mat r g i j) (fun g => x * mat r g j k) (fun g => x * mat r g i k)))).

Section One.
Variable r : representation.
Hypothesis Hr : is_representation G r.
Hypothesis Hdim : (1 <= dim r)%nat.
Hypothesis Heven : even_entries r.
Local Notation d := (dim r).

Lemma block_output : forall x a b c, below G a -> below G b -> below G c ->
  over (block r x) (fun o => activity o a b * w o c)
  = 4 * x ^ 3 * character r (op G (inv G c) (op G a b)).
Proof.
  intros x a b c Ha Hb Hc; unfold block; rewrite over_join.
  rewrite <- (overlap G HG r Hr) by (try apply op_below; assumption).
  unfold frobenius_inner, inner; rewrite <- sum_scal; apply sum_ext; intros i Hi.
  rewrite over_join, <- sum_scal.
  transitivity (sum d (fun j => sum d (fun k =>
    4 * x ^ 3 * (mat r c i k * (mat r a i j * mat r b j k))))).
  - apply sum_ext; intros j Hj; rewrite over_join; apply sum_ext; intros k Hk.
    rewrite output_pair; ring.
  - rewrite sum_swap; apply sum_ext; intros k Hk.
    rewrite !sum_scal, (mat_op G r Hr) by assumption; unfold times; ring.
Qed.

Lemma entry_square : forall x i j, (i < d)%nat -> (j < d)%nat ->
  sum n (fun g => (x * mat r g i j) ^ 2) = x ^ 2 * (INR n / INR d).
Proof.
  intros x i j Hi Hj; rewrite <- (Heven i j Hi Hj).
  assert (0 < INR d) by (apply lt_0_INR; lia).
  replace (INR d * sum n (fun g => mat r g i j ^ 2) / INR d)
    with (sum n (fun g => mat r g i j ^ 2)) by (field; lra).
  rewrite <- sum_scal; apply sum_ext; intros; ring.
Qed.

Lemma pair_norm : forall x i j k, 0 <= x -> (i < d)%nat -> (j < d)%nat -> (k < d)%nat ->
  over (pair (fun g => x * mat r g i j) (fun g => x * mat r g j k) (fun g => x * mat r g i k))
    (fun o => norm (group_table G) o ^ 3)
  = 2 * (x ^ 3 * (3 * INR n * sqrt (3 * INR n)) / (INR d * sqrt (INR d))).
Proof.
  intros x i j k Hx Hi Hj Hk.
  assert (P : 0 < INR d) by (apply lt_0_INR; lia).
  pose proof (order_positive G HG) as Pn.
  assert (N : forall o, square n (u o) + square n (v o) + square n (w o) = x ^ 2 * (3 * INR n / INR d) ->
    norm (group_table G) o ^ 3 = x ^ 3 * (3 * INR n * sqrt (3 * INR n)) / (INR d * sqrt (INR d))).
  { intros o E.
    assert (Q : norm (group_table G) o = x * (sqrt (3 * INR n) / sqrt (INR d))).
    { unfold norm.
      replace (inputs2 (group_table G) o + outputs2 (group_table G) o)
        with (x ^ 2 * (3 * INR n / INR d)) by (rewrite <- E; reflexivity).
      rewrite <- sqrt_div_alt by assumption; rewrite sqrt_mult_alt by apply pow2_ge_0.
      rewrite sqrt_pow2 by assumption; reflexivity. }
    rewrite Q; pose proof (sqrt_lt_R0 _ P) as Pd.
    replace ((x * (sqrt (3 * INR n) / sqrt (INR d))) ^ 3)
      with (x ^ 3 * (sqrt (3 * INR n) ^ 2 * sqrt (3 * INR n)) / (sqrt (INR d) ^ 2 * sqrt (INR d)))
      by (field; lra).
    rewrite !square_sqrt by lra; reflexivity. }
  rewrite over_pair; cbv beta.
  rewrite !N; [ring| |].
  - simpl u; simpl v; simpl w; unfold square.
    rewrite (sum_ext n (fun b => (- (x * mat r b j k)) ^ 2) (fun b => (x * mat r b j k) ^ 2))
      by (intros; ring).
    rewrite (sum_ext n (fun b => (- (x * mat r b i k)) ^ 2) (fun b => (x * mat r b i k) ^ 2))
      by (intros; ring).
    rewrite !entry_square by assumption; field; lra.
  - simpl u; simpl v; simpl w; unfold square; rewrite !entry_square by assumption; field; lra.
Qed.

Lemma block_norm : forall x, 0 <= x ->
  over (block r x) (fun o => norm (group_table G) o ^ 3)
  = 2 * (3 * INR n * sqrt (3 * INR n)) * (x ^ 3 * (INR d * sqrt (INR d))).
Proof.
  intros x Hx; assert (P : 0 < INR d) by (apply lt_0_INR; lia).
  pose proof (sqrt_lt_R0 _ P) as Pd; unfold block; rewrite over_join.
  rewrite (sum_ext d _ (fun i => sum d (fun j => sum d (fun k =>
    2 * (x ^ 3 * (3 * INR n * sqrt (3 * INR n)) / (INR d * sqrt (INR d))))))).
  - rewrite !sum_const.
    replace (x ^ 3 * (INR d * sqrt (INR d)))
      with (x ^ 3 * (INR d * sqrt (INR d) ^ 2 / sqrt (INR d))) by (field; lra).
    rewrite square_sqrt by lra; field; lra.
  - intros i Hi; rewrite over_join; apply sum_ext; intros j Hj.
    rewrite over_join; apply sum_ext; intros k Hk; apply pair_norm; assumption.
Qed.

End One.

Variable count : nat.
Variable family : nat -> representation.
Hypothesis Hfamily : forall s, (s < count)%nat ->
  is_representation G (family s) /\ (1 <= dim (family s))%nat /\ even_entries (family s).
Variable eps : nat -> R.
Hypothesis Heps : forall s, (s < count)%nat -> 0 <= eps s.
Hypothesis Hsum : sum count eps = 1.
Variable K : R.

(** nu^(3/2). *)
Definition three_halves (s : nat) : R := INR (dim (family s)) * sqrt (INR (dim (family s))).

Hypothesis Hcolumn : forall g, below G g -> g <> unit G ->
  K <= sum count (fun s => eps s / three_halves s * (INR (dim (family s)) - character (family s) g)).

Lemma three_halves_positive : forall s, (s < count)%nat -> 0 < three_halves s.
Proof.
  intros s Hs; destruct (Hfamily s Hs) as [_ [D _]].
  assert (P : 0 < INR (dim (family s))) by (apply lt_0_INR; lia).
  apply Rmult_lt_0_compat; [assumption|apply sqrt_lt_R0; assumption].
Qed.

Definition size (s : nat) : R := cube_root (eps s / three_halves s).

Lemma size_cube : forall s, (s < count)%nat -> size s ^ 3 = eps s / three_halves s.
Proof.
  intros s Hs; apply cube_root_cube; apply Rmult_le_pos; [auto|].
  left; apply Rinv_0_lt_compat, three_halves_positive; assumption.
Qed.

Definition attaining : network := join count (fun s => block (family s) (size s)).

Lemma attaining_width : width attaining = 2 * sum count (fun s => INR (dim (family s)) ^ 3).
Proof.
  rewrite width_over; unfold attaining; rewrite over_join, <- sum_scal.
  apply sum_ext; intros s _; unfold block; rewrite over_join.
  rewrite (sum_ext _ _ (fun _ => INR (dim (family s)) * (INR (dim (family s)) * 2))).
  - rewrite sum_const; ring.
  - intros i _; rewrite over_join, (sum_ext _ _ (fun _ => INR (dim (family s)) * 2)); [apply sum_const|].
    intros j _; rewrite over_join, <- sum_const; apply sum_ext; intros k _; rewrite over_pair; ring.
Qed.

Lemma attaining_norm : norm3 (group_table G) attaining = 2 * (3 * INR n * sqrt (3 * INR n)).
Proof.
  rewrite norm3_over; unfold attaining; rewrite over_join.
  rewrite (sum_ext count _ (fun s => 2 * (3 * INR n * sqrt (3 * INR n)) * eps s)).
  - rewrite sum_scal, Hsum; ring.
  - intros s Hs; destruct (Hfamily s Hs) as [R1 [R2 R3]].
    rewrite (block_norm (family s) R2 R3) by apply cube_root_nonneg.
    fold (three_halves s); rewrite size_cube by assumption.
    pose proof (three_halves_positive s Hs); field; lra.
Qed.

Lemma attaining_output : forall a b c, below G a -> below G b -> below G c ->
  output attaining a b c
  = 4 * sum count (fun s => eps s / three_halves s * character (family s) (op G (inv G c) (op G a b))).
Proof.
  intros a b c Ha Hb Hc; rewrite output_over; unfold attaining; rewrite over_join, <- sum_scal.
  apply sum_ext; intros s Hs; destruct (Hfamily s Hs) as [R1 _].
  rewrite (block_output (family s) R1) by assumption.
  rewrite size_cube by assumption; ring.
Qed.

Lemma character_unit : forall s, (s < count)%nat ->
  character (family s) (unit G) = INR (dim (family s)).
Proof.
  intros s Hs; destruct (Hfamily s Hs) as [R1 _]; unfold character.
  rewrite (sum_ext _ _ (fun _ => 1)); [rewrite sum_const; ring|].
  intros i Hi; rewrite (mat_unit G _ R1) by assumption; apply delta_same.
Qed.

Lemma attaining_margin : normalized_margin_at_least (group_table G) (constant G * K) attaining.
Proof.
  pose proof (order_positive G HG) as P.
  assert (Q : 0 < sqrt (3 * INR n)) by (apply sqrt_lt_R0; lra).
  split; rewrite attaining_norm.
  - apply Rmult_lt_0_compat; [lra|apply Rmult_lt_0_compat; lra].
  - intros a b y c Hg Hc N.
    apply given_group_inv in Hg; destruct Hg as [Ha [Hb ->]]; simpl in Hc.
    assert (Hab : below G (op G a b)) by (apply op_below; assumption).
    assert (Hi : below G (inv G c)) by (apply inv_below; assumption).
    rewrite !attaining_output by assumption.
    rewrite (inv_left G HG) by assumption.
    replace (constant G * K * (2 * (3 * INR n * sqrt (3 * INR n)))) with (4 * K)
      by (unfold constant; field; lra).
    set (g := op G (inv G c) (op G a b)).
    assert (U : g <> unit G).
    { intro E; apply N; rewrite <- (cancel_inv G HG c (op G a b)) by assumption.
      fold g; rewrite E; symmetry; apply unit_right; assumption. }
    assert (Bg : below G g) by (apply op_below; assumption).
    pose proof (Hcolumn g Bg U) as C.
    rewrite <- Rmult_minus_distr_l, <- sum_minus; apply Rmult_le_compat_l; [lra|].
    apply Rle_trans with (1 := C); right; apply sum_ext; intros s Hs.
    rewrite character_unit by assumption; ring.
Qed.

End Attain.

Theorem lower_side : forall G count family eps K,
  is_group G ->
  (forall s, (s < count)%nat ->
    is_representation G (family s) /\ (1 <= dim (family s))%nat /\ even_entries G (family s)) ->
  (forall s, (s < count)%nat -> 0 <= eps s) -> sum count eps = 1 ->
  (forall g, below G g -> g <> unit G ->
    K <= sum count (fun s => eps s / (INR (dim (family s)) * sqrt (INR (dim (family s))))
      * (INR (dim (family s)) - character (family s) g))) ->
  exists net, width net = 2 * sum count (fun s => INR (dim (family s)) ^ 3) /\
    normalized_margin_at_least (group_table G) (constant G * K) net.
Proof.
  intros G count family eps K HG Hfamily Heps Hsum Hcolumn.
  exists (attaining count family eps); split; [apply attaining_width|apply attaining_margin; assumption].
Qed.
