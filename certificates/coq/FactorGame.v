(** Products of k factors: the maximum margin.

    For a representation rho of dimension nu the neurons with the functions
    s_j x rho_{i_(j-1) i_j} for the factors and s_1 ... s_k x rho_{i_0 i_k} for
    the labels, over all indices and over the signs s up to one, add up to
    2^(k-1) k! x^(k+1) times the character at a_1 ... a_k c^-1: the signs leave
    the product ([signs_leave_product]), the indices multiply the matrices
    ([paths]); where the diagonal entries are equal, one i_0 is enough.  With
    the upper side of Factors.v this gives, for k >= 1 factors and the payoffs
    M[rho, g] = (1 - chi(g)/nu) / nu^((k-1)/2):

    [factor_game]: masses of the representations give a network, weights of the
    wrong labels bound each neuron and the margin;
    [factors_of_every_group]: for every finite group the maximum margin is
    k! ((k+1) n)^(-(k+1)/2) v with v the value of the game;
    [factor_every_group]: v is at most n/(n-1), [exclusive_or_of_words]: which
    the exclusive or of k words attains;
    [factor_closed_form]: v is n/S with S the sum of nu^((k+3)/2)/m over the
    nontrivial rho, if the sum of nu^((k+1)/2)/m chi(g) is nowhere positive off
    the unit; [summands], [even_summands]: the sum of k numbers modulo n;
    [summands_width]: for odd n with every width of at least 4^(k-1) (n-1).
    This is the theorem of certificates/game/UNIVERSAL_MARGIN.md. *)

From Coq Require Import Reals List Lra Lia Arith.
From Lemmata Require Import Statement Sums Convolution Groups EveryGroup Representations Schur Universal.
From Lemmata Require Import Minimax Maximum Commutants Decomposition Cyclic Elementary Parity Factors.
Import ListNotations.
Local Open Scope R_scope.

(** ** Lists in blocks *)

Fixpoint gather {A} (n : nat) (f : nat -> list A) : list A :=
  match n with O => [] | S m => gather m f ++ f m end.
Fixpoint gathered {A} (n k : nat) (f : (nat -> nat) -> list A) : list A :=
  match k with
  | O => f (fun _ => O)
  | S m => gather n (fun x => gathered n m (fun a => f (extended a m x)))
  end.

Lemma total_gather {A} (phi : A -> R) n f : total_of phi (gather n f) = sum n (fun i => total_of phi (f i)).
Proof. induction n as [|n IH]; cbn [gather sum]; [reflexivity|]; rewrite total_app, IH; reflexivity. Qed.

Lemma total_gathered {A} (phi : A -> R) n k : forall f,
  total_of phi (gathered n k f) = tuples n k (fun a => total_of phi (f a)).
Proof.
  induction k as [|k IH]; intro f; cbn [gathered tuples]; [reflexivity|].
  rewrite total_gather; apply sum_ext; intros x _; apply IH.
Qed.

Lemma length_total {A} (l : list A) : INR (length l) = total_of (fun _ => 1) l.
Proof. rewrite (total_const _ 1) by reflexivity; ring. Qed.

(** ** Roots *)

Lemma root_exists m y : 0 <= y -> { x | 0 <= x /\ x ^ S m = y }.
Proof.
  intro Hy; set (f := fun x => x ^ S m - y).
  assert (Hf : continuity f).
  { apply derivable_continuous; unfold f; apply derivable_minus; [apply derivable_pow|apply derivable_const]. }
  destruct (IVT_cor f 0 (1 + y) Hf) as [x [[Hx _] Hz]].
  - lra.
  - assert (1 <= (1 + y) ^ m) by (apply pow_R1_Rle; lra).
    unfold f; rewrite pow_i by lia; change ((1 + y) ^ S m) with ((1 + y) * (1 + y) ^ m).
    assert (0 <= y * ((1 + y) * (1 + y) ^ m - y)); [|lra].
    apply Rmult_le_pos; [exact Hy|].
    assert (0 <= (1 + y) * ((1 + y) ^ m - 1)) by (apply Rmult_le_pos; lra); lra.
  - exists x; split; [exact Hx|]; unfold f in Hz; lra.
Qed.

Definition root (m : nat) (y : R) : R :=
  match Rle_dec 0 y with left H => proj1_sig (root_exists m y H) | right _ => 0 end.

Lemma root_power m y : 0 <= y -> 0 <= root m y /\ root m y ^ S m = y.
Proof.
  intro H; unfold root; destruct (Rle_dec 0 y) as [P|]; [exact (proj2_sig (root_exists m y P))|lra].
Qed.

Lemma sqrt_power x m : 0 <= x -> sqrt x ^ m = sqrt (x ^ m).
Proof.
  intro H; symmetry; apply sqrt_lem_1; [apply pow_le; exact H|apply pow_le, sqrt_pos|].
  rewrite <- Rpow_mult_distr, sqrt_sqrt by exact H; reflexivity.
Qed.

(** ** Signs *)

Definition every_factor : places := fun _ => true.

Lemma size_all k : size_of every_factor k = k.
Proof. induction k as [|k IH]; simpl; [reflexivity|rewrite IH; reflexivity]. Qed.

Lemma product_all k f : product_over every_factor k f = multiplied k f.
Proof. induction k as [|k IH]; simpl; [reflexivity|rewrite IH; reflexivity]. Qed.

(** The sum of (s_1 x_1 + ... + s_k x_k)^k s_1 ... s_k over the signs up to one. *)
Lemma signs_leave_product k x : (1 <= k)%nat ->
  total_of (fun s => sum k (fun j => s j * x j) ^ k * multiplied k s) (half every_factor k)
  = INR (2 ^ (k - 1)) * (INR (fact k) * multiplied k x).
Proof.
  intro Hk; rewrite (total_ext _ (signed every_factor k x (fun c => c ^ k)))
    by (intros; unfold signed; rewrite product_all; reflexivity).
  rewrite half_total; rewrite size_all; [|exact Hk|].
  - rewrite (differences_of_polynomial _ _ k 1) by (rewrite size_all; apply polynomial_power).
    rewrite size_all, product_all, Rmult_1_r; do 2 f_equal.
  - intro c; replace (- c) with (-1 * c) by ring; apply Rpow_mult_distr.
Qed.

Lemma signs_unsigned k s : In s (half every_factor k) -> sum k (fun j => s j ^ 2) = INR k /\ multiplied k s ^ 2 = 1.
Proof.
  intro I; destruct (half_unsigned every_factor k s I) as [U1 U2]; rewrite size_all in U1; rewrite product_all in U2.
  split; assumption.
Qed.

(** ** The network of a representation *)

Section Block.
Variable G : group.
Hypothesis HG : is_group G.
Local Notation n := (order G).
Variable k : nat.
Hypothesis Hk : (1 <= k)%nat.

Section One.
Variable r : representation.
Hypothesis Hr : is_representation G r.
Hypothesis Hdim : (1 <= dim r)%nat.
Hypothesis Heven : forall i j, (i < dim r)%nat -> (j < dim r)%nat ->
  INR (dim r) * square n (fun g => mat r g i j) = INR n.
Local Notation d := (dim r).

(** The path of indices that starts with i. *)
Definition starting (i : nat) (I : nat -> nat) (j : nat) : nat := match j with O => i | S m => I m end.

(** Products along all paths from an index are the entries of a row of the product of the matrices. *)
Lemma paths i m : forall (a : nat -> nat) h, (i < d)%nat -> within n m a ->
  tuples d m (fun I => multiplied m (fun j => mat r (a j) (starting i I j) (starting i I (S j))) * h (starting i I m))
  = sum d (fun l => mat r (product_of G m a) i l * h l).
Proof.
  induction m as [|m IH]; intros a h Hi Ha.
  - cbn [tuples product_of multiplied starting].
    rewrite (sum_ext d _ (fun l => delta l i * h l))
      by (intros l Hl; rewrite (mat_unit G r Hr), delta_sym by assumption; reflexivity).
    rewrite (sum_delta d h i Hi); ring.
  - transitivity (sum d (fun l => sum d (fun q => mat r (product_of G m a) i q * (mat r (a m) q l * h l)))).
    + cbn [tuples]; apply sum_ext; intros l _.
      rewrite <- (IH a (fun q => mat r (a m) q l * h l) Hi) by (apply within_less; exact Ha).
      apply tuples_ext; intros I _; cbn [multiplied].
      rewrite (multiplied_ext m _ (fun j => mat r (a j) (starting i I j) (starting i I (S j)))).
      * replace (starting i (extended I m l) m) with (starting i I m)
          by (destruct m; cbn [starting]; [|rewrite extended_before by lia]; reflexivity).
        cbn [starting]; rewrite extended_last; ring.
      * intros [|j] Hj; cbn [starting]; rewrite !extended_before by lia; reflexivity.
    + apply sum_ext; intros l Hl; cbn [product_of].
      rewrite (mat_op G r Hr) by (try (apply product_below, within_less); try apply Ha; assumption || lia).
      unfold times; rewrite <- sum_scal_r; apply sum_ext; intros; ring.
Qed.

Definition path_neuron (x : R) (I : nat -> nat) (s : nat -> R) : factor_neuron :=
  FactorNeuron (fun j g => s j * (x * mat r g (I j) (I (S j))))
    (fun c => multiplied k s * (x * mat r c (I 0%nat) (I k))).
(** All paths from the first of the indices, as many as are used. *)
Definition factor_block (used : nat) (x : R) : list factor_neuron :=
  gather used (fun i => gathered d k (fun I => map (path_neuron x (starting i I)) (half every_factor k))).

Lemma factor_block_length used x : INR (length (factor_block used x)) = INR (2 ^ (k - 1)) * (INR used * INR d ^ k).
Proof.
  rewrite length_total; unfold factor_block; rewrite total_gather.
  rewrite (sum_ext used _ (fun _ => INR (2 ^ (k - 1)) * INR d ^ k)); [rewrite sum_const; ring|intros i _].
  rewrite total_gathered, (tuples_ext d k _ (fun _ => INR (2 ^ (k - 1)))); [rewrite tuples_const; ring|].
  intros I _; rewrite total_map, <- length_total, half_length, size_all by (rewrite size_all; exact Hk); reflexivity.
Qed.

Lemma factor_block_output used x a c : (used <= d)%nat -> within n k a -> below G c ->
  total_of (fun o => sum k (fun j => fu o j (a j)) ^ k * fw o c) (factor_block used x)
  = INR (2 ^ (k - 1)) * INR (fact k) * x ^ S k
    * sum used (fun i => mat r (op G (product_of G k a) (inv G c)) i i).
Proof.
  intros Hu Ha Hc; pose proof (product_below G HG k a Ha) as Hp; pose proof (inv_below G HG c Hc) as Hi.
  unfold factor_block; rewrite total_gather, <- sum_scal; apply sum_ext; intros i Hl.
  rewrite (mat_op G r Hr) by (assumption || lia); unfold times.
  rewrite (sum_ext d _ (fun l => mat r (product_of G k a) i l * mat r c i l))
    by (intros; rewrite (mat_inv G r Hr) by (assumption || lia); reflexivity).
  rewrite <- (paths i k a (fun l => mat r c i l)) by (assumption || lia).
  rewrite <- tuples_scal, total_gathered; apply tuples_ext; intros I _; rewrite total_map.
  rewrite (total_ext _ (fun s => (x * mat r c i (starting i I k))
    * (sum k (fun j => s j * (x * mat r (a j) (starting i I j) (starting i I (S j)))) ^ k * multiplied k s)))
    by (intros; unfold path_neuron; cbn [fu fw starting]; ring).
  rewrite total_scal, signs_leave_product, multiplied_scal by exact Hk; cbn [pow]; ring.
Qed.

Lemma dimension_above : 0 < INR d.
Proof. apply lt_0_INR; lia. Qed.

Lemma path_neuron_norm x I s : 0 <= x -> within d (S k) I -> In s (half every_factor k) ->
  factor_norm G k (path_neuron x I s) ^ (k + 1)
  = x ^ S k * sqrt ((INR (k + 1) * INR n) ^ (k + 1)) / sqrt (INR d ^ (k + 1)).
Proof.
  intros Hx HI Hs; destruct (signs_unsigned k s Hs) as [S1 S2]; pose proof dimension_above as P.
  pose proof (order_positive G HG) as Pn; pose proof (pos_INR (k + 1)).
  assert (E : forall y i j, (i < d)%nat -> (j < d)%nat ->
    square n (fun g => y * (x * mat r g i j)) = y ^ 2 * (x ^ 2 * (INR n / INR d))).
  { intros y i j Hi Hj; rewrite <- (Heven i j Hi Hj).
    replace (INR d * square n (fun g => mat r g i j) / INR d) with (square n (fun g => mat r g i j)) by (field; lra).
    unfold square; rewrite <- !sum_scal; apply sum_ext; intros; ring. }
  unfold factor_norm; cbn [path_neuron fu fw].
  rewrite (sum_ext k _ (fun j => s j ^ 2 * (x ^ 2 * (INR n / INR d)))) by (intros; apply E; apply HI; lia).
  rewrite sum_scal_r, S1, E, S2 by (apply HI; lia).
  replace (INR k * (x ^ 2 * (INR n / INR d)) + 1 * (x ^ 2 * (INR n / INR d)))
    with (x ^ 2 * (INR (k + 1) * INR n / INR d)) by (rewrite plus_INR; simpl (INR 1); field; lra).
  assert (0 <= INR (k + 1) * INR n) by (apply Rmult_le_pos; lra).
  rewrite sqrt_mult, sqrt_pow2, Rpow_mult_distr, sqrt_div_alt by
    (try assumption; try apply pow2_ge_0; try (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra])).
  pose proof (sqrt_lt_R0 _ P); unfold Rdiv; rewrite Rpow_mult_distr, pow_inv, !sqrt_power by lra.
  replace (k + 1)%nat with (S k) by lia; ring.
Qed.

Lemma factor_block_total used x : (used <= d)%nat -> 0 <= x ->
  factor_total G k (factor_block used x)
  = INR (2 ^ (k - 1)) * sqrt ((INR (k + 1) * INR n) ^ (k + 1))
    * (INR used * x ^ S k * sqrt (INR d ^ (k + 1)) / INR d).
Proof.
  intros Hu Hx; pose proof dimension_above as P; pose proof (pow_lt _ (k + 1) P) as Pd; pose proof (sqrt_lt_R0 _ Pd).
  set (v := x ^ S k * sqrt ((INR (k + 1) * INR n) ^ (k + 1)) / sqrt (INR d ^ (k + 1))).
  unfold factor_total, factor_block; rewrite total_gather.
  rewrite (sum_ext used _ (fun _ => INR d ^ k * (INR (2 ^ (k - 1)) * v))).
  - rewrite sum_const; unfold v; replace (INR d ^ k) with (sqrt (INR d ^ (k + 1)) ^ 2 / INR d); [field; lra|].
    rewrite pow2_sqrt by lra; replace (k + 1)%nat with (S k) by lia; cbn [pow]; field; lra.
  - intros i Hl; rewrite total_gathered, (tuples_ext d k _ (fun _ => INR (2 ^ (k - 1)) * v)); [apply tuples_const|].
    intros I HI; rewrite total_map, (total_const _ v).
    + rewrite half_length, size_all by (rewrite size_all; exact Hk); reflexivity.
    + intros s Hs; apply path_neuron_norm; [exact Hx| |exact Hs].
      intros [|j] Hj; cbn [starting]; [lia|apply HI; lia].
Qed.

End One.

(** ** The lower side *)

Variable count : nat.
Variable family : nat -> representation.
Hypothesis HF : complete_family G count family.
Variable eps : nat -> R.
Hypothesis Heps : forall s, (s < count)%nat -> 0 <= eps s.
Hypothesis Hsum : sum count eps = 1.
Local Notation d s := (dim (family s)).
Local Notation chi s := (character (family s)).

(** How many of the indices are used as the first of a path: what is left of the trace must be in proportion. *)
Variable used : nat -> nat.
Hypothesis Hused : forall s, (s < count)%nat -> (used s <= d s)%nat /\ (used s = O -> eps s = 0) /\
  forall g, below G g -> INR (d s) * sum (used s) (fun i => mat (family s) g i i) = INR (used s) * chi s g.

Lemma even_squares s i j : (s < count)%nat -> (i < d s)%nat -> (j < d s)%nat ->
  INR (d s) * square n (fun g => mat (family s) g i j) = INR n.
Proof.
  intros Hs Hi Hj; destruct (family_even G HG count family HF s Hs) as [_ [_ E]]; exact (E i j Hi Hj).
Qed.

(** nu^((k+1)/2). *)
Definition half_power (s : nat) : R := sqrt (INR (d s) ^ (k + 1)).

Lemma half_power_positive s : (s < count)%nat -> 0 < half_power s.
Proof. intro Hs; apply sqrt_lt_R0, pow_lt, (dimension_positive G count family HF s Hs). Qed.

(** x^(k+1) = eps nu / (used nu^((k+1)/2)). *)
Definition factor_size (s : nat) : R := root k (eps s * INR (d s) / (INR (used s) * half_power s)).

Lemma factor_size_power s : (s < count)%nat ->
  0 <= factor_size s /\ INR (used s) * factor_size s ^ S k = eps s * INR (d s) / half_power s.
Proof.
  intro Hs; pose proof (half_power_positive s Hs) as P; destruct (Hused s Hs) as [_ [Z _]]; unfold factor_size.
  destruct (Nat.eq_dec (used s) 0) as [E|N].
  - rewrite E, (Z E); simpl INR; unfold Rdiv; rewrite !Rmult_0_l; split; [apply root_power|]; lra.
  - assert (0 < INR (used s)) as U by (apply lt_0_INR; lia).
    assert (0 < INR (used s) * half_power s) as Q by (apply Rmult_lt_0_compat; assumption).
    destruct (root_power k (eps s * INR (d s) / (INR (used s) * half_power s))) as [R1 R2].
    + apply Rmult_le_pos; [apply Rmult_le_pos; [apply Heps; exact Hs|apply pos_INR]|].
      left; apply Rinv_0_lt_compat; exact Q.
    + split; [exact R1|rewrite R2; field; lra].
Qed.

Definition factor_network : list factor_neuron :=
  gather count (fun s => factor_block (family s) (used s) (factor_size s)).

Lemma factor_network_length :
  INR (length factor_network) = INR (2 ^ (k - 1)) * sum count (fun s => INR (used s) * INR (d s) ^ k).
Proof.
  rewrite length_total; unfold factor_network; rewrite total_gather, <- sum_scal; apply sum_ext; intros s _.
  rewrite <- length_total; apply factor_block_length.
Qed.

Lemma factor_network_total :
  factor_total G k factor_network = INR (2 ^ (k - 1)) * sqrt ((INR (k + 1) * INR n) ^ (k + 1)).
Proof.
  unfold factor_total, factor_network; rewrite total_gather.
  rewrite (sum_ext count _ (fun s => INR (2 ^ (k - 1)) * sqrt ((INR (k + 1) * INR n) ^ (k + 1)) * eps s)).
  - rewrite sum_scal, Hsum; ring.
  - intros s Hs; destruct (factor_size_power s Hs) as [S1 S2]; pose proof (half_power_positive s Hs).
    destruct (Hused s Hs) as [U _]; pose proof (dimension_positive G count family HF s Hs).
    change (total_of ?f ?l) with (factor_total G k l).
    rewrite (factor_block_total (family s)
      (family_dimensions G count family HF s Hs) (fun i j => even_squares s i j Hs) _ _ U S1).
    fold (half_power s); rewrite S2; field; lra.
Qed.

Lemma factor_network_output a c : within n k a -> below G c ->
  factor_output k factor_network a c = INR (2 ^ (k - 1)) * INR (fact k)
    * sum count (fun s => eps s / half_power s * chi s (op G (product_of G k a) (inv G c))).
Proof.
  intros Ha Hc; unfold factor_output, factor_network; rewrite total_gather, <- sum_scal.
  apply sum_ext; intros s Hs; destruct (factor_size_power s Hs) as [_ S2]; destruct (Hused s Hs) as [U [_ E]].
  pose proof (half_power_positive s Hs); pose proof (dimension_positive G count family HF s Hs).
  rewrite (factor_block_output (family s) (family_representations G count family HF s Hs)
    (family_dimensions G count family HF s Hs)) by assumption.
  set (g := op G (product_of G k a) (inv G c)).
  assert (Bg : below G g) by (apply (op_below G HG); [apply product_below|apply inv_below]; assumption).
  replace (sum (used s) (fun i => mat (family s) g i i)) with (INR (used s) * chi s g / INR (d s))
    by (rewrite <- (E g Bg); field; lra).
  transitivity (INR (2 ^ (k - 1)) * INR (fact k) * (INR (used s) * factor_size s ^ S k) * chi s g / INR (d s)).
  - field; lra.
  - rewrite S2; field; lra.
Qed.

End Block.

(** The matrix of the game of k factors. *)
Definition factor_payoff (k : nat) (r : representation) (g : nat) : R :=
  (1 - character r g / INR (dim r)) / sqrt (INR (dim r) ^ (k - 1)).

Section Game.
Variable G : group.
Hypothesis HG : is_group G.
Local Notation n := (order G).
Variable k : nat.
Hypothesis Hk : (1 <= k)%nat.
Variable count : nat.
Variable family : nat -> representation.
Hypothesis HF : complete_family G count family.
Local Notation d s := (dim (family s)).
Local Notation chi s := (character (family s)).
Local Notation pay s := (factor_payoff k (family s)).

Lemma power_positive s : (s < count)%nat -> 0 < sqrt (INR (d s) ^ (k - 1)).
Proof. intro Hs; apply sqrt_lt_R0, pow_lt, (dimension_positive G count family HF s Hs). Qed.

Theorem factor_game_lower eps used low :
  (forall s, (s < count)%nat -> 0 <= eps s) -> sum count eps = 1 ->
  (forall s, (s < count)%nat -> (used s <= d s)%nat /\ (used s = O -> eps s = 0) /\
    forall g, below G g -> INR (d s) * sum (used s) (fun i => mat (family s) g i i) = INR (used s) * chi s g) ->
  (forall g, below G g -> g <> unit G -> low <= sum count (fun s => eps s * pay s g)) ->
  exists net, INR (length net) = INR (2 ^ (k - 1)) * sum count (fun s => INR (used s) * INR (d s) ^ k) /\
    factor_margin_at_least G k (products_constant G k * low) net.
Proof.
  intros Heps Hsum Hused Hlow; exists (factor_network k count family eps used).
  split; [apply factor_network_length; exact Hk|].
  pose proof (order_positive G HG) as P; assert (Pk : 0 < INR (k + 1)) by (apply lt_0_INR; lia).
  assert (Q : 0 < sqrt ((INR (k + 1) * INR n) ^ (k + 1))) by (apply sqrt_lt_R0, pow_lt, Rmult_lt_0_compat; assumption).
  assert (Q2 : 0 < INR (2 ^ (k - 1))) by (apply lt_0_INR, Nat.neq_0_lt_0, Nat.pow_nonzero; lia).
  unfold factor_margin_at_least; rewrite (factor_network_total G HG k Hk count family HF eps Heps Hsum used Hused).
  split; [apply Rmult_lt_0_compat; assumption|].
  intros a c Ha Hc N; pose proof (product_below G HG k a Ha) as Hp; pose proof (inv_below G HG c Hc) as Hi.
  rewrite !(factor_network_output G HG k Hk count family HF eps Heps used Hused) by assumption.
  rewrite (inv_right G HG) by exact Hp; set (g := op G (product_of G k a) (inv G c)).
  assert (U : g <> unit G).
  { intro E; apply N; rewrite <- (op_inv_cancel G HG (product_of G k a) c) by assumption.
    fold g; rewrite E; symmetry; apply unit_left; assumption. }
  assert (Bg : below G g) by (apply op_below; assumption).
  replace (products_constant G k * low * (INR (2 ^ (k - 1)) * sqrt ((INR (k + 1) * INR n) ^ (k + 1))))
    with (INR (2 ^ (k - 1)) * INR (fact k) * low) by (unfold products_constant; field; lra).
  rewrite <- Rmult_minus_distr_l, <- sum_minus.
  apply Rmult_le_compat_l; [apply Rmult_le_pos; apply pos_INR|].
  apply Rle_trans with (1 := Hlow g Bg U); right; apply sum_ext; intros s Hs.
  rewrite (dimension_character G count family HF) by exact Hs; unfold factor_payoff, half_power.
  pose proof (dimension_positive G count family HF s Hs) as Pd; pose proof (power_positive s Hs) as Pp.
  replace (sqrt (INR (d s) ^ (k + 1))) with (INR (d s) * sqrt (INR (d s) ^ (k - 1))); [field; lra|].
  replace (k + 1)%nat with (2 + (k - 1))%nat by lia; rewrite pow_add, sqrt_mult_alt by apply pow2_ge_0.
  rewrite sqrt_pow2 by lra; reflexivity.
Qed.

Lemma factor_payoff_mean tau s : (s < count)%nat -> wrong_weights G tau ->
  sum n (fun g => tau g * pay s g) * sqrt (INR (d s) ^ (k - 1)) = 1 - sum n (fun g => tau g * chi s g) / INR (d s).
Proof.
  intros Hs Ht; pose proof (dimension_positive G count family HF s Hs) as P; pose proof (power_positive s Hs) as Q.
  rewrite <- (tau_sum G tau Ht), <- sum_scal_r; unfold Rdiv; rewrite <- sum_scal_r, <- sum_minus.
  apply sum_ext; intros g _; unfold factor_payoff; field; lra.
Qed.

Lemma factor_payoff_nonneg s g : (s < count)%nat -> below G g -> 0 <= pay s g.
Proof.
  intros Hs Hg; pose proof (dimension_positive G count family HF s Hs) as P; pose proof (power_positive s Hs) as Q.
  pose proof (character_bound G HG count family HF s g Hs Hg) as B; unfold factor_payoff.
  replace (1 - chi s g / INR (d s)) with ((INR (d s) - chi s g) * / INR (d s)) by (field; lra).
  apply Rmult_le_pos; [apply Rmult_le_pos; [lra|]|]; left; apply Rinv_0_lt_compat; assumption.
Qed.

Section Weights.
Variable tau : nat -> R.
Variable high : R.
Hypothesis Ht : wrong_weights G tau.
Hypothesis Hc : symmetric_class_function G tau.
Hypothesis Hh : forall s, (s < count)%nat -> sum n (fun g => tau g * pay s g) <= high.
Local Notation mu := (fun s => sum n (fun g => tau g * chi s g) / INR (d s)).

Lemma mean_payoff_nonneg s : (s < count)%nat -> 0 <= sum n (fun g => tau g * pay s g).
Proof.
  intro Hs; apply sum_nonneg; intros g Hg; apply Rmult_le_pos.
  - apply (tau_nonneg G tau Ht); exact Hg.
  - apply factor_payoff_nonneg; assumption.
Qed.

Lemma high_nonneg : 0 <= high.
Proof.
  pose proof (count_positive G HG count family HF) as C.
  apply Rle_trans with (1 := mean_payoff_nonneg 0%nat C); apply Hh, C.
Qed.

Lemma game_row s : (s < count)%nat -> Rabs (1 - mu s) <= high * sqrt (INR (d s) ^ (k - 1)).
Proof.
  intro Hs; cbv beta; rewrite <- factor_payoff_mean by assumption.
  rewrite Rabs_right by (apply Rle_ge, Rmult_le_pos; [apply mean_payoff_nonneg; exact Hs|apply sqrt_pos]).
  apply Rmult_le_compat_r; [apply sqrt_pos|apply Hh; exact Hs].
Qed.

Lemma game_scalar s : (s < count)%nat -> scalar G tau (family s) (mu s).
Proof. intro Hs; apply (symmetric_class_scalar G HG count family HF); assumption. Qed.

Theorem factor_game_neuron o :
  tuples n k (fun a => sum k (fun j => fu o j (a j)) ^ k * contrast G tau (fw o) (product_of G k a))
  <= INR n ^ k * (products_constant G k * high * factor_norm G k o ^ (k + 1)).
Proof.
  exact (one_factor_neuron G count family tau mu k high HG Hk (family_representations G count family HF)
    (family_complete G count family HF) Ht game_scalar high_nonneg game_row o).
Qed.

Theorem factor_game_upper net g : factor_margin_at_least G k g net -> g <= products_constant G k * high.
Proof.
  exact (factors_upper G count family tau mu k high HG Hk (family_representations G count family HF)
    (family_complete G count family HF) Ht game_scalar high_nonneg game_row net g).
Qed.

End Weights.

Lemma factor_payoff_class s : (s < count)%nat -> symmetric_class_function G (pay s).
Proof.
  intro Hs; pose proof (character_class G HG count family HF s Hs) as C; split.
  - intros g h Hg Hh; unfold factor_payoff; rewrite (on_classes G _ C) by assumption; reflexivity.
  - intros g Hg; unfold factor_payoff; rewrite (on_inverses G _ C) by assumption; reflexivity.
Qed.

Lemma factor_payoff_unit s : (s < count)%nat -> pay s (unit G) = 0.
Proof.
  intro Hs; pose proof (dimension_positive G count family HF s Hs); pose proof (power_positive s Hs).
  unfold factor_payoff; rewrite (dimension_character G count family HF) by exact Hs; field; lra.
Qed.

(** ** The closed form *)

Hypothesis Hn : (2 <= n)%nat.
Hypothesis Htrivial : forall g, below G g -> chi 0 g = 1.

(** nu^((k+1)/2) / m, and 0 for the trivial representation. *)
Definition factor_share (s : nat) : R :=
  match s with O => 0 | _ => INR (d s) / INR (many (family s)) * sqrt (INR (d s) ^ (k - 1)) end.
Definition factor_total_share : R := sum count (fun s => factor_share s * INR (d s)).

Lemma factor_share_positive s : (0 < s < count)%nat -> 0 < factor_share s.
Proof.
  destruct s as [|s]; intros [H Hs]; [lia|].
  pose proof (dimension_positive G count family HF _ Hs); pose proof (units_number_positive G count family HF _ Hs).
  apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat|apply power_positive]; assumption.
Qed.

Lemma factor_total_share_positive : 0 < factor_total_share.
Proof. exact (weights_positive G HG count family HF Htrivial Hn factor_share eq_refl factor_share_positive). Qed.

Lemma factor_closed_lower used : used 0%nat = O ->
  (forall s, (0 < s < count)%nat -> (1 <= used s <= d s)%nat /\
    forall g, below G g -> INR (d s) * sum (used s) (fun i => mat (family s) g i i) = INR (used s) * chi s g) ->
  exists net, INR (length net) = INR (2 ^ (k - 1)) * sum count (fun s => INR (used s) * INR (d s) ^ k) /\
  factor_margin_at_least G k (products_constant G k * (INR n / factor_total_share)) net.
Proof.
  intros U0 Hused.
  pose proof factor_total_share_positive as P.
  destruct (trivial_dimension G HG count family HF Htrivial) as [D0 M0].
  apply (factor_game_lower (fun s => factor_share s * INR (d s) / factor_total_share) used).
  - intros s Hs; apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; exact P].
    apply Rmult_le_pos; [|apply pos_INR].
    destruct s as [|s]; [right; reflexivity|left; apply factor_share_positive; lia].
  - unfold Rdiv; rewrite sum_scal_r; fold factor_total_share; field; lra.
  - intros [|s] Hs; [split; [lia|split]|].
    + intros _; simpl factor_share; unfold Rdiv; ring.
    + intros; rewrite U0; simpl; ring.
    + destruct (Hused (S s) ltac:(lia)) as [U1 U2]; split; [lia|split; [lia|exact U2]].
  - intros g Hg N; right.
    pose proof (family_complete G count family HF g Hg) as C1.
    pose proof (family_complete G count family HF (unit G) (unit_below G HG)) as C2.
    rewrite delta_other in C1 by exact N; rewrite delta_same in C2.
    transitivity (/ factor_total_share * (sum count (fun s => INR (d s) / INR (many (family s)) * chi s (unit G))
      - sum count (fun s => INR (d s) / INR (many (family s)) * chi s g))).
    + rewrite C1, C2; field; lra.
    + rewrite <- sum_minus, <- sum_scal; apply sum_ext; intros s Hs.
      rewrite (dimension_character G count family HF) by exact Hs; unfold factor_payoff.
      pose proof (dimension_positive G count family HF s Hs); pose proof (units_number_positive G count family HF s Hs).
      pose proof (power_positive s Hs).
      destruct s as [|s].
      * rewrite Htrivial, D0, M0 by exact Hg; simpl; field; rewrite ?pow1, ?sqrt_1; lra.
      * unfold factor_share; field; lra.
Qed.

Hypothesis Hcondition : forall g, below G g -> g <> unit G ->
  sum count (fun s => factor_share s * chi s g) <= 0.

Local Notation tau := (dual_weights G count family factor_share).

Lemma factor_weights_wrong : wrong_weights G tau.
Proof.
  exact (dual_weights_wrong G HG count family HF Htrivial Hn factor_share eq_refl factor_share_positive Hcondition).
Qed.

Lemma factor_closed_payoffs s : (s < count)%nat -> sum n (fun g => tau g * pay s g) <= INR n / factor_total_share.
Proof.
  intro Hs; pose proof factor_total_share_positive as P.
  destruct (trivial_dimension G HG count family HF Htrivial) as [D0 M0].
  pose proof (power_positive s Hs) as Q; pose proof (dimension_positive G count family HF s Hs).
  pose proof (units_number_positive G count family HF s Hs); apply Rmult_le_reg_r with (1 := Q).
  rewrite factor_payoff_mean by (exact Hs || exact factor_weights_wrong).
  rewrite (dual_weights_characters G HG count family HF Htrivial Hn factor_share eq_refl factor_share_positive s Hs).
  fold factor_total_share; destruct s as [|s].
  - rewrite D0; simpl factor_share; simpl INR; rewrite pow1, sqrt_1.
    apply Rle_trans with 0; [right; field; lra|].
    rewrite Rmult_1_r; apply Rmult_le_pos; [apply pos_INR|left; apply Rinv_0_lt_compat; exact P].
  - right; unfold factor_share; field; lra.
Qed.

Lemma factor_closed_upper : forall net g, factor_margin_at_least G k g net ->
  g <= products_constant G k * (INR n / factor_total_share).
Proof.
  apply factor_game_upper with (tau := tau);
    [exact factor_weights_wrong|apply (dual_weights_class G HG count family HF)|exact factor_closed_payoffs].
Qed.

End Game.

(** ** The theorems *)

(** As many rows of each representation as it has dimensions. *)
Lemma all_rows : forall G count family eps, complete_family G count family -> forall s, (s < count)%nat ->
  (dim (family s) <= dim (family s))%nat /\ (dim (family s) = O -> eps s = 0) /\
  forall g, below G g -> INR (dim (family s)) * sum (dim (family s)) (fun i => mat (family s) g i i)
    = INR (dim (family s)) * character (family s) g.
Proof.
  intros G count family eps HF s Hs; pose proof (family_dimensions G count family HF s Hs).
  split; [lia|split; [lia|reflexivity]].
Qed.

(** Both sides of the game, for every complete family, and one neuron. *)
Theorem factor_game : forall G k count family, is_group G -> (1 <= k)%nat -> complete_family G count family ->
  (forall eps low,
    (forall s, (s < count)%nat -> 0 <= eps s) -> sum count eps = 1 ->
    (forall g, below G g -> g <> unit G -> low <= sum count (fun s => eps s * factor_payoff k (family s) g)) ->
    exists net, INR (length net) = INR (2 ^ (k - 1)) * sum count (fun s => INR (dim (family s)) ^ (k + 1)) /\
      factor_margin_at_least G k (products_constant G k * low) net) /\
  (forall tau high, wrong_weights G tau -> symmetric_class_function G tau ->
    (forall s, (s < count)%nat -> sum (order G) (fun g => tau g * factor_payoff k (family s) g) <= high) ->
    (forall o, tuples (order G) k (fun a =>
        sum k (fun j => fu o j (a j)) ^ k * contrast G tau (fw o) (product_of G k a))
      <= INR (order G) ^ k * (products_constant G k * high * factor_norm G k o ^ (k + 1))) /\
    (forall net g, factor_margin_at_least G k g net -> g <= products_constant G k * high)).
Proof.
  intros G k count family HG Hk HF; split.
  - intros eps low E1 E2 E3.
    destruct (factor_game_lower G HG k Hk count family HF eps (fun s => dim (family s)) low E1 E2
      (all_rows G count family eps HF) E3) as [net [L M]]; exists net; split; [rewrite L; f_equal|exact M].
    apply sum_ext; intros s _; rewrite Nat.add_1_r; reflexivity.
  - intros tau high Ht Hc Hh; split.
    + intro o; apply factor_game_neuron with (count := count) (family := family); assumption.
    + intros net g; apply factor_game_upper with (count := count) (family := family) (tau := tau); assumption.
Qed.

(** Masses of representations and weights of wrong labels with the same number v. *)
Definition factor_solution (G : group) (k count : nat) (family : nat -> representation) (v : R) : Prop :=
  exists eps tau, probability count eps /\ wrong_weights G tau /\
  (forall g, below G g -> g <> unit G -> v <= sum count (fun s => eps s * factor_payoff k (family s) g)) /\
  (forall s, (s < count)%nat -> sum (order G) (fun g => tau g * factor_payoff k (family s) g) <= v).

(** The maximum margin, for every finite group and every number of factors. *)
Theorem factors_of_every_group : forall G k, is_group G -> (2 <= order G)%nat -> (1 <= k)%nat ->
  exists count family v, complete_family G count family /\
  (forall s, (s < count)%nat -> irreducible G (family s)) /\
  factor_solution G k count family v /\
  factor_maximum_is G k (products_constant G k * v).
Proof.
  intros G k HG Hn Hk; destruct (complete_family_exists G HG) as [count [family [HF [Irr _]]]].
  destruct (optimal_pair G HG Hn count (count_positive G HG count family HF) (fun s => factor_payoff k (family s)))
    as [v [eps [tau [[E1 E2] [Wt [Ct [Lo Hi]]]]]]].
  - intros; apply factor_payoff_class with (count := count); assumption.
  - intros; apply factor_payoff_unit with (count := count); assumption.
  - destruct (factor_game G k count family HG Hk HF) as [L U].
    exists count, family, v; split; [exact HF|split; [exact Irr|split]].
    + exists eps, tau; repeat split; try assumption; apply Wt.
    + split; [destruct (L eps v E1 E2 Lo) as [net [_ M]]; exists net; exact M|exact (proj2 (U tau v Wt Ct Hi))].
Qed.

(** The closed form; the member 0 of the family is the trivial representation. The network has 2^(k-1) nu^(k+1)
    neurons for each of the others. *)
Theorem factor_closed_form : forall G k count family, is_group G -> (2 <= order G)%nat -> (1 <= k)%nat ->
  complete_family G count family ->
  (forall g, below G g -> character (family 0%nat) g = 1) ->
  let value := products_constant G k * (INR (order G) / factor_total_share k count family) in
  (exists net,
    INR (length net) = INR (2 ^ (k - 1)) * sum (count - 1) (fun s => INR (dim (family (S s))) ^ (k + 1)) /\
    factor_margin_at_least G k value net) /\
  ((forall g, below G g -> g <> unit G ->
    sum count (fun s => factor_share k family s * character (family s) g) <= 0) ->
    factor_maximum_is G k value).
Proof.
  intros G k count family HG Hn Hk HF HT value; pose proof (count_positive G HG count family HF) as C.
  destruct (factor_closed_lower G HG k Hk count family HF Hn HT
    (fun s => match s with O => O | _ => dim (family s) end) eq_refl) as [net [L M]].
  - intros [|s] Hs; [lia|]; pose proof (family_dimensions G count family HF (S s) ltac:(lia)).
    split; [lia|reflexivity].
  - split; [exists net; split; [|exact M]|intro HC; split; [exists net; exact M|]].
    + rewrite L; f_equal; replace count with (S (count - 1)) at 1 by lia; rewrite sum_first; simpl (INR 0).
      rewrite Rmult_0_l, Rplus_0_l; apply sum_ext; intros s _; rewrite Nat.add_1_r; reflexivity.
    + intros other g; apply (factor_closed_upper G HG k Hk count family HF Hn HT HC).
Qed.

(** ** Sums of k numbers modulo n *)

Lemma cyclic_product n k a : (1 <= n)%nat -> product_of (cyclic n) k a = (list_sum (map a (seq 0 k)) mod n)%nat.
Proof.
  intro Hn; induction k as [|k IH].
  - cbn [product_of seq map list_sum fold_right]; rewrite Nat.mod_0_l by lia; reflexivity.
  - rewrite seq_S, map_app, list_sum_app; cbn [product_of]; rewrite IH; cbn.
    rewrite Nat.add_mod_idemp_l, Nat.add_0_r by lia; reflexivity.
Qed.

Section Odd.
Variable h : nat.
Hypothesis Hh : (1 <= h)%nat.
Variable k : nat.
Local Notation n := (2 * h + 1)%nat.
Local Notation root2 := (sqrt (2 ^ (k - 1))).

Lemma odd_factor_share s : factor_share k (odd_family h) (S s) = root2.
Proof. unfold factor_share; simpl dim; simpl many; replace (INR 2) with 2 by (simpl; ring); field. Qed.

Lemma odd_factor_shares g : below (cyclic n) g -> g <> unit (cyclic n) ->
  sum (S h) (fun s => factor_share k (odd_family h) s * character (odd_family h s) g) = - root2.
Proof.
  intros Hg N; change (unit (cyclic n)) with 0%nat in N; unfold below in Hg; simpl in Hg.
  rewrite sum_first; simpl factor_share at 1.
  rewrite (sum_ext h _ (fun s => root2 * (2 * cos (angle n (S s) g)))).
  - rewrite sum_scal; pose proof (odd_cosines h Hh g ltac:(lia)).
    replace (sum h (fun s => 2 * cos (angle n (S s) g))) with (-1) by lra; ring.
  - intros s _; rewrite odd_factor_share; f_equal; apply rotation_character.
Qed.

Lemma odd_factor_total : factor_total_share k (S h) (odd_family h) = root2 * (INR n - 1).
Proof.
  unfold factor_total_share; rewrite sum_first, order_minus_one; simpl factor_share at 1.
  rewrite (sum_ext h _ (fun _ => root2 * 2)) by (intros; rewrite odd_factor_share; simpl; ring).
  rewrite sum_const; ring.
Qed.

End Odd.

Theorem summands : forall n k, (3 <= n)%nat -> Nat.odd n = true -> (1 <= k)%nat ->
  factor_maximum_is (cyclic n) k
    (products_constant (cyclic n) k * (INR n / (sqrt (2 ^ (k - 1)) * (INR n - 1)))).
Proof.
  intros n k Hn Ho Hk; apply Nat.odd_spec in Ho; destruct Ho as [h ->].
  assert (Hh : (1 <= h)%nat) by lia; rewrite <- odd_factor_total.
  apply (factor_closed_form (cyclic (2 * h + 1)) k (S h) (odd_family h)).
  - apply cyclic_is_group; lia.
  - simpl; lia.
  - exact Hk.
  - exact (odd_family_complete h Hh).
  - exact (odd_family_trivial h).
  - intros g Hg N; rewrite (odd_factor_shares h Hh k g Hg N); pose proof (sqrt_pos (2 ^ (k - 1))); lra.
Qed.

(** Neurons of weight 0. *)
Lemma padded G k g net m : factor_margin_at_least G k g net -> (length net <= m)%nat ->
  exists other, length other = m /\ factor_margin_at_least G k g other.
Proof.
  intros [T H] Hm; set (silent := FactorNeuron (fun _ _ => 0) (fun _ => 0)).
  exists (net ++ repeat silent (m - length net)); split; [rewrite app_length, repeat_length; lia|].
  assert (E1 : factor_total G k (net ++ repeat silent (m - length net)) = factor_total G k net).
  { unfold factor_total; rewrite total_app, (total_repeat _ silent); [ring|].
    unfold factor_norm; cbn [silent fu fw].
    rewrite (sum_zero k) by (intros; apply sum_zero; intros; ring).
    unfold square; rewrite sum_zero, Rplus_0_r, sqrt_0, pow_i by (intros; (ring || lia)); reflexivity. }
  assert (E2 : forall a c, factor_output k (net ++ repeat silent (m - length net)) a c = factor_output k net a c).
  { intros a c; unfold factor_output; rewrite total_app, (total_repeat _ silent); [ring|cbn [silent fw]; ring]. }
  unfold factor_margin_at_least; rewrite E1; split; [exact T|].
  intros a c Ha Hc N; rewrite !E2; apply H; assumption.
Qed.

(** 4^(k-1) (n-1) neurons are enough: a corner of a rotation is half of its trace, so that one row is. *)
Theorem summands_width : forall n k m, (3 <= n)%nat -> Nat.odd n = true -> (1 <= k)%nat ->
  (4 ^ (k - 1) * (n - 1) <= m)%nat ->
  exists net, length net = m /\ factor_margin_at_least (cyclic n) k
    (products_constant (cyclic n) k * (INR n / (sqrt (2 ^ (k - 1)) * (INR n - 1)))) net.
Proof.
  intros n k m Hn Ho Hk Hm; apply Nat.odd_spec in Ho; destruct Ho as [h ->].
  assert (Hh : (1 <= h)%nat) by lia; rewrite <- odd_factor_total.
  destruct (factor_closed_lower (cyclic (2 * h + 1)) (cyclic_is_group (2 * h + 1) ltac:(lia)) k Hk (S h) (odd_family h)
    (odd_family_complete h Hh) ltac:(simpl; lia) (odd_family_trivial h)
    (fun s => match s with O => O | _ => 1%nat end) eq_refl) as [net [L M]].
  - intros [|s] Hs; [lia|]; split; [simpl dim; lia|].
    intros g _; cbn [odd_family]; rewrite rotation_character; simpl; ring.
  - apply (padded _ k _ net m M); apply INR_le; apply le_INR in Hm; apply Rle_trans with (2 := Hm); right.
    rewrite L, sum_first; simpl (INR 0); rewrite Rmult_0_l, Rplus_0_l.
    rewrite (sum_ext h _ (fun _ => 2 ^ k))
      by (intros; simpl (INR 1); simpl dim; replace (INR 2) with 2 by (simpl; ring); ring).
    rewrite sum_const, mult_INR, !pow_INR, minus_INR, plus_INR, mult_INR by lia; simpl (INR 1).
    replace (INR 2) with 2 by (simpl; ring); replace (INR 4) with (2 * 2) by (simpl; ring).
    destruct k as [|p]; [lia|]; replace (S p - 1)%nat with p by lia; rewrite Rpow_mult_distr; cbn [pow]; ring.
Qed.

(** For two summands this is [addition] of Cyclic.v. *)
Corollary two_summands : forall n, (3 <= n)%nat -> Nat.odd n = true ->
  factor_maximum_is (cyclic n) 2 (sqrt (2 / 27) / (sqrt (INR n) * (INR n - 1))) /\
  maximum_margin_between (group_table (cyclic n))
    (products_constant (cyclic n) 2 * (INR n / (sqrt (2 ^ (2 - 1)) * (INR n - 1))))
    (products_constant (cyclic n) 2 * (INR n / (sqrt (2 ^ (2 - 1)) * (INR n - 1)))).
Proof.
  intros n Hn Ho; pose proof (cyclic_is_group n ltac:(lia)) as HG; split.
  - apply (two_factors_maximum (cyclic n) _ HG), addition; assumption.
  - apply (two_factors_maximum (cyclic n) _ HG), summands; [exact Hn|exact Ho|lia].
Qed.

Lemma two_summands_value : forall n, (3 <= n)%nat -> Nat.odd n = true ->
  products_constant (cyclic n) 2 * (INR n / (sqrt (2 ^ (2 - 1)) * (INR n - 1)))
  = sqrt (2 / 27) / (sqrt (INR n) * (INR n - 1)).
Proof.
  intros n Hn Ho; apply Nat.odd_spec in Ho; destruct Ho as [h ->].
  rewrite two_factors_constant by (apply cyclic_is_group; lia).
  replace (2 ^ (2 - 1)) with 2 by (simpl; ring); apply odd_constant; lia.
Qed.

Section Even.
Variables h k : nat.
Local Notation n := (2 * S h)%nat.
Local Notation root2 := (sqrt (2 ^ (k - 1))).

Definition factor_share_of (r : representation) : R :=
  INR (dim r) / INR (many r) * sqrt (INR (dim r) ^ (k - 1)).

Lemma rotation_factor_share s : factor_share_of (rotation n s) = root2.
Proof. unfold factor_share_of; simpl dim; simpl many; replace (INR 2) with 2 by (simpl; ring); field. Qed.

Lemma line_factor_share f : factor_share_of (one_dimensional f) = 1.
Proof.
  unfold factor_share_of; simpl dim; simpl many; replace (INR 1) with 1 by reflexivity; rewrite pow1, sqrt_1; field.
Qed.

Lemma even_factor_shares : forall f : representation -> R,
  sum (S (S h)) (fun s => factor_share k (even_family h) s * f (even_family h s))
  = root2 * sum h (fun s => f (rotation n (S s))) + f (one_dimensional (sign h)).
Proof.
  intro f.
  transitivity (sum (S (S h)) (fun s => factor_share_of (even_family h s) * f (even_family h s))
    - f (one_dimensional (fun _ => 1))).
  - rewrite !(sum_first (S h)); simpl factor_share at 1.
    change (even_family h 0) with (one_dimensional (fun _ => 1)); rewrite line_factor_share.
    ring_simplify; reflexivity.
  - rewrite (even_sum h (fun r => factor_share_of r * f r)), !line_factor_share.
    rewrite (sum_ext h _ (fun s => root2 * f (rotation n (S s)))) by (intros; rewrite rotation_factor_share; ring).
    rewrite sum_scal; ring.
Qed.

Lemma root2_above : 1 <= root2.
Proof. rewrite <- sqrt_1; apply sqrt_le_1_alt, pow_R1_Rle; lra. Qed.

Lemma even_factor_condition : forall g, below (cyclic n) g -> g <> unit (cyclic n) ->
  sum (S (S h)) (fun s => factor_share k (even_family h) s * character (even_family h s) g) <= 0.
Proof.
  intros g Hg N; change (unit (cyclic n)) with 0%nat in N; unfold below in Hg; simpl order in Hg.
  rewrite (even_factor_shares (fun r => character r g)).
  rewrite (sum_ext h _ (fun s => 2 * cos (angle n (S s) g))) by (intros; apply rotation_character).
  replace (sum h (fun s => 2 * cos (angle n (S s) g))) with (- 1 - sign h g)
    by (pose proof (even_cosines h g ltac:(lia)); lra).
  unfold character; cbn [one_dimensional dim mat sum].
  pose proof root2_above; pose proof (COS_bound (angle n (S h) g)) as [L _]; fold (sign h g) in L.
  assert (0 <= (root2 - 1) * (sign h g + 1)) by (apply Rmult_le_pos; lra); lra.
Qed.

Lemma even_factor_total : factor_total_share k (S (S h)) (even_family h) = root2 * (INR n - 2) + 1.
Proof.
  unfold factor_total_share; rewrite (even_factor_shares (fun r => INR (dim r))).
  cbn [rotation one_dimensional dim]; rewrite sum_const, even_order; simpl (INR 1); simpl (INR 2); ring.
Qed.

End Even.

Theorem even_summands : forall n k, (2 <= n)%nat -> Nat.even n = true -> (1 <= k)%nat ->
  factor_maximum_is (cyclic n) k
    (products_constant (cyclic n) k * (INR n / (sqrt (2 ^ (k - 1)) * (INR n - 2) + 1))).
Proof.
  intros n k Hn He Hk; apply Nat.even_spec in He; destruct He as [[|h] ->]; [lia|].
  rewrite <- even_factor_total.
  apply (factor_closed_form (cyclic (2 * S h)) k (S (S h)) (even_family h)).
  - apply cyclic_is_group; lia.
  - simpl; lia.
  - exact Hk.
  - split; [exact (even_family_representations h)| |exact (even_complete h)].
    intros [|s] _; unfold even_family; [simpl; lia|].
    destruct (Nat.ltb (S s) (S h)); simpl; lia.
  - intros; unfold character; simpl; ring.
  - exact (even_factor_condition h k).
Qed.

(** ** The bound of every group, and the exclusive or *)

Theorem factor_every_group : forall G k, is_group G -> (2 <= order G)%nat -> (1 <= k)%nat ->
  forall net g, factor_margin_at_least G k g net ->
  g <= products_constant G k * (INR (order G) / (INR (order G) - 1)).
Proof.
  intros G k HG Hn Hk; destruct (complete_family_exists G HG) as [count [family [HF [_ HT]]]].
  pose proof (order_above_one G Hn) as P; pose proof (unit_below G HG) as U.
  intros net g; apply (factor_game_upper G HG k Hk count family HF (averaged G (equal_weights G))); clear net g.
  - apply averaged_wrong; [exact HG|apply equal_weights_wrong; assumption].
  - apply averaged_class; exact HG.
  - intros s Hs; rewrite (averaged_sum G HG) by (apply factor_payoff_class with (count := count); assumption).
    pose proof (dimension_positive G count family HF s Hs) as Pd.
    pose proof (power_positive G k count family HF s Hs) as Pp.
    assert (E : sum (order G) (fun g => equal_weights G g * factor_payoff k (family s) g)
      = (INR (order G) - sum (order G) (character (family s)) / INR (dim (family s)))
        / sqrt (INR (dim (family s)) ^ (k - 1)) / (INR (order G) - 1)).
    { transitivity (sum (order G) (factor_payoff k (family s)) / (INR (order G) - 1)).
      - unfold Rdiv; rewrite <- sum_scal_r; apply sum_ext; intros g Hg; unfold equal_weights, delta.
        destruct (Nat.eqb_spec g (unit G)) as [->|_]; [|field; lra].
        rewrite (factor_payoff_unit G k count family HF) by exact Hs; ring.
      - f_equal; unfold factor_payoff, Rdiv; rewrite sum_scal_r, sum_minus, sum_const, sum_scal_r; ring. }
    rewrite E; pose proof (count_positive G HG count family HF) as C0.
    pose proof (characters_orthogonal G HG count family HF s 0 Hs C0) as O.
    rewrite (sum_ext (order G) _ (character (family s))) in O by (intros; rewrite HT; ring).
    assert (0 <= sum (order G) (character (family s)) / INR (dim (family s))) as Q.
    { apply Rmult_le_pos; [rewrite O|left; apply Rinv_0_lt_compat; exact Pd].
      apply Rmult_le_pos; [unfold delta; destruct (Nat.eqb s 0); lra|apply Rmult_le_pos; apply pos_INR]. }
    assert (1 <= sqrt (INR (dim (family s)) ^ (k - 1))) as R1.
    { rewrite <- sqrt_1; apply sqrt_le_1_alt, pow_R1_Rle, (le_INR 1).
      apply (family_dimensions G count family HF s Hs). }
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
    apply Rmult_le_reg_r with (1 := Pp); unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    apply Rle_trans with (INR (order G) * 1); [unfold Rdiv in Q; lra|apply Rmult_le_compat_l; lra].
Qed.

(** The exclusive or of k words of b bits attains it. *)
Theorem exclusive_or_of_words : forall b k, (1 <= b)%nat -> (1 <= k)%nat ->
  factor_maximum_is (bits b) k (products_constant (bits b) k * (INR (2 ^ b) / (INR (2 ^ b) - 1))).
Proof.
  intros b k Hb Hk.
  assert (S : forall f, sum (2 ^ b) (fun s => factor_share k (signs b) s * f s) = sum (2 ^ b) f - f 0%nat).
  { intro f; rewrite <- (signs_share b Hb f); apply sum_ext; intros [|s] _; [reflexivity|].
    unfold factor_share, share; simpl dim; replace (INR 1) with 1 by reflexivity; rewrite pow1; reflexivity. }
  assert (E : factor_total_share k (2 ^ b) (signs b) = INR (2 ^ b) - 1).
  { unfold factor_total_share; rewrite (S (fun s => INR (dim (signs b s)))).
    simpl dim; rewrite sum_const; simpl (INR 1); ring. }
  rewrite <- E; apply (factor_closed_form (bits b) k (2 ^ b) (signs b)).
  - apply bits_is_group.
  - exact (at_least_two b Hb).
  - exact Hk.
  - exact (signs_complete b Hb).
  - intros g _; rewrite sign_character; apply walsh_trivial.
  - intros g Hg N; rewrite (S (fun s => character (signs b s) g)).
    rewrite (sum_ext (2 ^ b) _ (fun s => walsh b s g)) by (intros; apply sign_character).
    rewrite walsh_sum, sign_character, walsh_trivial, delta_other by assumption; lra.
Qed.
