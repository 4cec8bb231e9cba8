(** Products of k factors: definitions, and the upper side of the maximum margin.

    The inputs are a_1, ..., a_k in a group of order n, the label is their
    product.  A neuron has weights u_1, ..., u_k, one function on the group for
    each factor, and w; the output of a network at the label c is the sum of
    (u_1(a_1) + ... + u_k(a_k))^k w(c), its norm the sum of |(u, w)|^(k+1).
    [Statement.v] has the same for k = 2: [two_factors].

    [polarisation]: against a function of the product with sum 0 only the term
    k! u_1(a_1) ... u_k(a_k) of the power counts: the sum over a_k takes a
    difference, which lowers the degree by 1 and takes the factor u_k(a_k) out.
    [weak_duality]: so the margin is at most k! times sums over all inputs.
    [chain_bound], [one_product]: in matrices these sums are products, bounded by
    the inequality of Convolution.v, k - 1 times; [geometric_means].
    [factors_upper]: no network has a margin above k! ((k+1) n)^(-(k+1)/2) K if
    |1 - mu| <= K nu^((k-1)/2) for every representation, nu its dimension.  These
    are steps 1 to 6 of certificates/game/UNIVERSAL_MARGIN.md for every k >= 1. *)

From Coq Require Import Reals List Lra Lia Arith.
From Lemmata Require Import Statement Sums Convolution Groups EveryGroup Representations Parity.
Import ListNotations.
Local Open Scope R_scope.

(** ** What is claimed *)

(** a_1 ... a_k, the places numbered from 0. *)
Fixpoint product_of (G : group) (k : nat) (a : nat -> nat) : nat :=
  match k with O => unit G | S m => op G (product_of G m a) (a m) end.

Record factor_neuron := FactorNeuron { fu : nat -> nat -> R; fw : nat -> R }.

Definition factor_output (k : nat) (net : list factor_neuron) (a : nat -> nat) (c : nat) : R :=
  total_of (fun o => sum k (fun j => fu o j (a j)) ^ k * fw o c) net.

(** |(u, w)|, and the sum of its (k+1)th powers. *)
Definition factor_norm (G : group) (k : nat) (o : factor_neuron) : R :=
  sqrt (sum k (fun j => square (order G) (fu o j)) + square (order G) (fw o)).
Definition factor_total (G : group) (k : nat) (net : list factor_neuron) : R :=
  total_of (fun o => factor_norm G k o ^ (k + 1)) net.

(** Inputs in the group. *)
Definition within (n k : nat) (a : nat -> nat) : Prop := forall j, (j < k)%nat -> (a j < n)%nat.

(** The margin divided by the norm is at least g. *)
Definition factor_margin_at_least (G : group) (k : nat) (g : R) (net : list factor_neuron) : Prop :=
  0 < factor_total G k net /\
  forall a c, within (order G) k a -> (c < order G)%nat -> c <> product_of G k a ->
    g * factor_total G k net <= factor_output k net a (product_of G k a) - factor_output k net a c.

Definition factor_maximum_is (G : group) (k : nat) (g : R) : Prop :=
  (exists net, factor_margin_at_least G k g net) /\
  (forall net h, factor_margin_at_least G k h net -> h <= g).

(** k! ((k+1) n)^(-(k+1)/2). *)
Definition products_constant (G : group) (k : nat) : R :=
  INR (fact k) / sqrt ((INR (k + 1) * INR (order G)) ^ (k + 1)).

(** The product from left to right. *)
Lemma product_of_list G k a : product_of G k a = fold_left (op G) (map a (seq 0 k)) (unit G).
Proof.
  induction k as [|k IH]; [reflexivity|]; rewrite seq_S, map_app, fold_left_app; cbn [product_of map fold_left].
  rewrite IH; reflexivity.
Qed.

(** ** Sums over all inputs *)

Definition extended {A} (x : nat -> A) (k : nat) (v : A) : nat -> A := fun i => if Nat.eqb i k then v else x i.

Fixpoint tuples (n k : nat) (F : (nat -> nat) -> R) : R :=
  match k with
  | O => F (fun _ => O)
  | S m => sum n (fun x => tuples n m (fun a => F (extended a m x)))
  end.

Lemma extended_last {A} (x : nat -> A) k v : extended x k v k = v.
Proof. unfold extended; rewrite Nat.eqb_refl; reflexivity. Qed.

Lemma extended_before {A} (x : nat -> A) k v j : (j < k)%nat -> extended x k v j = x j.
Proof. intro H; unfold extended; destruct (Nat.eqb_spec j k); [lia|reflexivity]. Qed.

Lemma within_extended n k a x : within n k a -> (x < n)%nat -> within n (S k) (extended a k x).
Proof.
  intros H Hx j Hj; unfold extended; destruct (Nat.eqb_spec j k) as [_|N]; [exact Hx|apply H; lia].
Qed.

Lemma within_less n k a : within n (S k) a -> within n k a.
Proof. intros H j Hj; apply H; lia. Qed.

Lemma tuples_ext n k : forall F H, (forall a, within n k a -> F a = H a) -> tuples n k F = tuples n k H.
Proof.
  induction k as [|k IH]; intros F H E; cbn [tuples]; [apply E; intros j Hj; lia|].
  apply sum_ext; intros x Hx; apply IH; intros a Ha; apply E, within_extended; assumption.
Qed.

Lemma tuples_le n k : forall F H, (forall a, within n k a -> F a <= H a) -> tuples n k F <= tuples n k H.
Proof.
  induction k as [|k IH]; intros F H E; cbn [tuples]; [apply E; intros j Hj; lia|].
  apply sum_le; intros x Hx; apply IH; intros a Ha; apply E, within_extended; assumption.
Qed.

Lemma tuples_plus n k : forall F H, tuples n k (fun a => F a + H a) = tuples n k F + tuples n k H.
Proof.
  induction k as [|k IH]; intros F H; cbn [tuples]; [reflexivity|].
  rewrite <- sum_plus; apply sum_ext; intros x _; apply (IH (fun a => F (extended a k x))).
Qed.

Lemma tuples_scal n k : forall c F, tuples n k (fun a => c * F a) = c * tuples n k F.
Proof.
  induction k as [|k IH]; intros c F; cbn [tuples]; [reflexivity|].
  rewrite <- sum_scal; apply sum_ext; intros x _; apply (IH c (fun a => F (extended a k x))).
Qed.

Lemma tuples_const n k c : tuples n k (fun _ => c) = INR n ^ k * c.
Proof.
  induction k as [|k IH]; cbn [tuples pow]; [ring|].
  rewrite IH, sum_const; ring.
Qed.

Lemma tuples_sum n k m : forall F,
  tuples n k (fun a => sum m (fun i => F i a)) = sum m (fun i => tuples n k (F i)).
Proof.
  intro F; induction m as [|m IH]; cbn [sum].
  - rewrite tuples_const; ring.
  - rewrite tuples_plus, IH; reflexivity.
Qed.

Lemma tuples_total {A} n k (l : list A) F :
  tuples n k (fun a => total_of (fun o => F o a) l) = total_of (fun o => tuples n k (F o)) l.
Proof.
  induction l as [|o l IH]; cbn [total_of].
  - rewrite tuples_const; ring.
  - rewrite tuples_plus, IH; reflexivity.
Qed.

Lemma sum_total {A} m (l : list A) F :
  sum m (fun i => total_of (F i) l) = total_of (fun o => sum m (fun i => F i o)) l.
Proof.
  induction l as [|o l IH]; cbn [total_of].
  - apply sum_zero; reflexivity.
  - rewrite sum_plus, IH; reflexivity.
Qed.

(** f 0 ... f (k - 1). *)
Fixpoint multiplied (k : nat) (f : nat -> R) : R :=
  match k with O => 1 | S m => multiplied m f * f m end.

Lemma multiplied_ext k : forall f g, (forall j, (j < k)%nat -> f j = g j) -> multiplied k f = multiplied k g.
Proof.
  induction k as [|k IH]; intros f g E; cbn [multiplied]; [reflexivity|].
  rewrite (IH f g), E by (try (intros; apply E); lia); reflexivity.
Qed.

Lemma multiplied_nonneg k f : (forall j, (j < k)%nat -> 0 <= f j) -> 0 <= multiplied k f.
Proof.
  induction k as [|k IH]; intro H; cbn [multiplied]; [lra|].
  apply Rmult_le_pos; [apply IH; intros; apply H; lia|apply H; lia].
Qed.

Lemma multiplied_scal k c f : multiplied k (fun j => c * f j) = c ^ k * multiplied k f.
Proof. induction k as [|k IH]; cbn [multiplied pow]; [ring|]; rewrite IH; ring. Qed.

(** The inequality of the means: at most the power of their mean. *)
Theorem geometric_means k f : (forall j, (j < k)%nat -> 0 <= f j) -> multiplied k f <= (sum k f / INR k) ^ k.
Proof.
  induction k as [|k IH]; intro H; [simpl; lra|]; cbn [multiplied sum].
  apply next_mean; [apply multiplied_nonneg|apply sum_nonneg| |apply IH];
    try (intros; apply H; lia); apply H; lia.
Qed.

Lemma means_and_one k f x : (forall j, (j < k)%nat -> 0 <= f j) -> 0 <= x ->
  multiplied k f * x <= ((sum k f + x) / INR (S k)) ^ S k.
Proof.
  intros H Hx; apply next_mean; [apply multiplied_nonneg|apply sum_nonneg|exact Hx|apply geometric_means]; exact H.
Qed.

(** ** Polarisation *)

Lemma polynomial_step k : forall a p u,
  polynomial (S k) a p -> polynomial k (INR (S k) * a * u) (fun c => p (c + u) - p c).
Proof.
  induction k as [|k IH]; intros a p u [r [q [H1 H2]]].
  - simpl in *; intro c; rewrite !H2, !H1; ring.
  - apply polynomial_ext with (fun c => c * (q (c + u) - q c) + u * q (c + u)); [intro c; rewrite !H2; ring|].
    replace (INR (S (S k)) * a * u) with (INR (S k) * a * u + u * a) by (rewrite (S_INR (S k)); ring).
    apply polynomial_plus; [|apply polynomial_scal, polynomial_shift; exact H1].
    exists 0, (fun c => q (c + u) - q c); split; [exact (IH a q u H1)|intro c; ring].
Qed.

Section Group.
Variable G : group.
Hypothesis HG : is_group G.
Local Notation n := (order G).

Lemma product_below k a : within n k a -> below G (product_of G k a).
Proof.
  induction k as [|k IH]; intro H; cbn [product_of]; [apply unit_below; exact HG|].
  apply (op_below G HG); [apply IH, within_less; exact H|apply H; lia].
Qed.

Lemma product_same k a b : (forall j, (j < k)%nat -> a j = b j) -> product_of G k a = product_of G k b.
Proof.
  induction k as [|k IH]; intro E; cbn [product_of]; [reflexivity|].
  rewrite IH, E by (try (intros; apply E); lia); reflexivity.
Qed.

Lemma product_extended k a x : product_of G (S k) (extended a k x) = op G (product_of G k a) x.
Proof.
  cbn [product_of]; rewrite extended_last; f_equal.
  apply product_same; intros; apply extended_before; assumption.
Qed.

Lemma sum_extended k (u : nat -> nat -> R) a x :
  sum (S k) (fun j => u j (extended a k x j)) = sum k (fun j => u j (a j)) + u k x.
Proof.
  cbn [sum]; rewrite extended_last; f_equal.
  apply sum_ext; intros j Hj; rewrite extended_before by assumption; reflexivity.
Qed.

Lemma multiplied_extended k (u : nat -> nat -> R) a x :
  multiplied (S k) (fun j => u j (extended a k x j)) = multiplied k (fun j => u j (a j)) * u k x.
Proof.
  cbn [multiplied]; rewrite extended_last; f_equal.
  apply multiplied_ext; intros j Hj; rewrite extended_before by assumption; reflexivity.
Qed.

(** u_1(a_1) ... u_k(a_k) z(a_1 ... a_k), summed over all inputs. *)
Definition multilinear (k : nat) (u : nat -> nat -> R) (z : nat -> R) : R :=
  tuples n k (fun a => multiplied k (fun j => u j (a j)) * z (product_of G k a)).

Lemma multilinear_last k u z :
  multilinear (S k) u z = sum n (fun x => u k x * multilinear k u (fun y => z (op G y x))).
Proof.
  unfold multilinear; cbn [tuples]; apply sum_ext; intros x _; rewrite <- tuples_scal.
  apply tuples_ext; intros a _; rewrite multiplied_extended, product_extended; ring.
Qed.

(** A polynomial of degree at most k with the coefficient c of degree k. *)
Theorem polarisation k : forall c p u z, polynomial k c p -> sum n z = 0 ->
  tuples n k (fun a => p (sum k (fun j => u j (a j))) * z (product_of G k a))
  = INR (fact k) * c * multilinear k u z.
Proof.
  induction k as [|k IH]; intros c p u z Hp Hz.
  - unfold multilinear; simpl in *; rewrite Hp; ring.
  - rewrite multilinear_last, <- sum_scal; cbn [tuples].
    transitivity (sum n (fun x => tuples n k (fun a =>
      (p (sum k (fun j => u j (a j)) + u k x) - p (sum k (fun j => u j (a j)))) * z (op G (product_of G k a) x)))).
    + assert (Z : sum n (fun x => tuples n k (fun a =>
        p (sum k (fun j => u j (a j))) * z (op G (product_of G k a) x))) = 0).
      { rewrite <- tuples_sum; transitivity (tuples n k (fun _ => 0)); [|rewrite tuples_const; ring].
        apply tuples_ext; intros a Ha; rewrite sum_scal.
        rewrite (sum_left G HG _ z (product_below k a Ha)), Hz; ring. }
      rewrite <- Rplus_0_r, <- Z, <- sum_plus; apply sum_ext; intros x _.
      rewrite <- tuples_plus; apply tuples_ext; intros a _; rewrite sum_extended, product_extended; ring.
    + apply sum_ext; intros x Hx.
      rewrite (IH (INR (S k) * c * u k x) (fun s => p (s + u k x) - p s) u (fun y => z (op G y x))).
      * rewrite fact_simpl, mult_INR; ring.
      * apply polynomial_step; exact Hp.
      * rewrite (sum_right G HG x z Hx); exact Hz.
Qed.

(** ** Weak duality *)

Variable tau : nat -> R.
Hypothesis Htau : wrong_weights G tau.

Lemma wrong_label d y : below G d -> below G y -> d <> unit G -> op G (inv G d) y <> y.
Proof.
  intros Hd Hy N E; apply N.
  rewrite <- (op_cancel_inv G HG d y), <- (inv_right G HG y) by assumption.
  f_equal; rewrite <- E at 1; apply cancel_inv; assumption.
Qed.

Lemma weighted_labels (f : nat -> R) h y : below G y ->
  (forall c, below G c -> c <> y -> h <= f y - f c) -> h <= contrast G tau f y.
Proof.
  intros Hy H; unfold contrast.
  replace h with (sum n (fun d => tau d * h)) by (rewrite sum_scal_r, (tau_sum G tau Htau); ring).
  replace (f y) with (sum n (fun d => tau d * f y)) by (rewrite sum_scal_r, (tau_sum G tau Htau); ring).
  rewrite <- sum_minus; apply sum_le; intros d Hd; rewrite <- Rmult_minus_distr_l.
  destruct (Nat.eq_dec d (unit G)) as [->|N]; [rewrite (tau_unit G tau Htau); lra|].
  apply Rmult_le_compat_l; [apply (tau_nonneg G tau Htau); assumption|apply H].
  - apply (op_below G HG); [apply inv_below|]; assumption.
  - apply wrong_label; assumption.
Qed.

Lemma contrast_output k net a y :
  contrast G tau (factor_output k net a) y
  = total_of (fun o => sum k (fun j => fu o j (a j)) ^ k * contrast G tau (fw o) y) net.
Proof.
  unfold contrast, factor_output.
  rewrite (sum_ext n _ (fun d => total_of (fun o => tau d
    * (sum k (fun j => fu o j (a j)) ^ k * fw o (op G (inv G d) y))) net))
    by (intros; rewrite total_scal; reflexivity).
  rewrite sum_total; induction net as [|o net IH]; cbn [total_of]; [ring|].
  rewrite <- IH, Rmult_minus_distr_l, <- (sum_scal n (_ ^ k)).
  rewrite (sum_ext n (fun i => _ * (tau i * _)) (fun d => tau d
    * (sum k (fun j => fu o j (a j)) ^ k * fw o (op G (inv G d) y)))) by (intros; ring); ring.
Qed.

Theorem weak_duality k g net : factor_margin_at_least G k g net ->
  INR n ^ k * (g * factor_total G k net)
  <= total_of (fun o =>
    tuples n k (fun a => sum k (fun j => fu o j (a j)) ^ k * contrast G tau (fw o) (product_of G k a))) net.
Proof.
  intros [_ H]; rewrite <- tuples_const, <- tuples_total; apply tuples_le; intros a Ha.
  rewrite <- contrast_output; apply weighted_labels; [apply product_below; exact Ha|].
  intros c Hc N; apply H; assumption.
Qed.

(** ** Products of matrices *)

Section One.
Variable r : representation.
Hypothesis Hr : is_representation G r.
Variable u : nat -> nat -> R.
Local Notation d := (dim r).

Fixpoint chain (k : nat) : nat -> nat -> R :=
  match k with O => delta | S m => times d (chain m) (hat G r (u m)) end.

Lemma chain_sum k : forall i j, (i < d)%nat -> (j < d)%nat ->
  multilinear k u (fun y => mat r y i j) = chain k i j.
Proof.
  induction k as [|k IH]; intros i j Hi Hj.
  - unfold multilinear; simpl; rewrite (mat_unit G r Hr) by assumption; ring.
  - cbn [chain]; unfold times, hat; rewrite multilinear_last.
    transitivity (sum n (fun x => sum d (fun l => chain k i l * (u k x * mat r x l j)))).
    + apply sum_ext; intros x Hx.
      transitivity (u k x * sum d (fun l => mat r x l j * multilinear k u (fun y => mat r y i l))).
      * f_equal; unfold multilinear.
        rewrite (sum_ext d _ (fun l => tuples n k (fun a => mat r x l j
          * (multiplied k (fun j => u j (a j)) * mat r (product_of G k a) i l))))
          by (intros; rewrite tuples_scal; reflexivity).
        rewrite <- tuples_sum; apply tuples_ext; intros a Ha.
        rewrite (mat_op G r Hr) by (try apply product_below; assumption); unfold times.
        rewrite <- sum_scal; apply sum_ext; intros; ring.
      * rewrite <- sum_scal; apply sum_ext; intros l Hl; rewrite IH by assumption; ring.
    + rewrite sum_swap; apply sum_ext; intros l _; rewrite sum_scal; reflexivity.
Qed.

Lemma chain_commute k q : (q < many r)%nat -> commute d (chain k) (unit_matrix r q).
Proof.
  intro Hq; set (J := unit_matrix r q); induction k as [|k IH]; intros i j Hi Hj; unfold times.
  - rewrite (sum_ext d (fun l => chain 0 i l * J l j) (fun l => delta l i * J l j))
      by (intros; cbn [chain]; rewrite delta_sym; reflexivity).
    rewrite (sum_ext d (fun l => J i l * chain 0 l j) (fun l => delta l j * J i l))
      by (intros; cbn [chain]; ring).
    rewrite (sum_delta d (fun l => J l j)), (sum_delta d (fun l => J i l)) by assumption; reflexivity.
  - cbn [chain]; unfold times.
    transitivity (sum d (fun l => chain k i l * times d (hat G r (u k)) J l j)).
    + unfold times; rewrite (sum_ext d _ (fun l => sum d (fun b => chain k i b * (hat G r (u k) b l * J l j))))
        by (intros; rewrite <- sum_scal_r; apply sum_ext; intros; ring).
      rewrite sum_swap; apply sum_ext; intros b _; rewrite sum_scal; reflexivity.
    + transitivity (sum d (fun b => times d (chain k) J i b * hat G r (u k) b j)).
      * rewrite (sum_ext d _ (fun l => sum d (fun b => chain k i l * (J l b * hat G r (u k) b j)))).
        2: { intros l Hl; pose proof (hat_commute G r Hr (u k) q Hq l j Hl Hj) as E; fold J in E.
             rewrite E; unfold times; rewrite <- sum_scal; reflexivity. }
        rewrite sum_swap; apply sum_ext; intros b _; unfold times; rewrite <- sum_scal_r.
        apply sum_ext; intros; ring.
      * rewrite (sum_ext d _ (fun b => sum d (fun l => J i l * (chain k l b * hat G r (u k) b j)))).
        2: { intros b Hb; rewrite (IH i b Hi Hb); unfold times; rewrite <- sum_scal_r.
             apply sum_ext; intros; ring. }
        rewrite sum_swap; apply sum_ext; intros l _; rewrite sum_scal; reflexivity.
Qed.

(** m^(k-1) |U_1 ... U_k|^2 <= |U_1|^2 ... |U_k|^2. *)
Theorem chain_bound k :
  INR (many r) ^ k * frobenius d (chain (S k)) <= multiplied (S k) (fun j => frobenius d (hat G r (u j))).
Proof.
  induction k as [|k IH].
  - right; cbn [chain pow multiplied]; rewrite !Rmult_1_l; unfold frobenius; apply sum_ext; intros i Hi.
    unfold square; apply sum_ext; intros j Hj; f_equal; unfold times.
    rewrite (sum_ext d _ (fun l => delta l i * hat G r (u 0%nat) l j)) by (intros; rewrite delta_sym; reflexivity).
    apply (sum_delta d (fun l => hat G r (u 0%nat) l j)); exact Hi.
  - change (multiplied (S (S k)) (fun j => frobenius d (hat G r (u j))))
      with (multiplied (S k) (fun j => frobenius d (hat G r (u j))) * frobenius d (hat G r (u (S k)))).
    apply Rle_trans with (INR (many r) ^ k * frobenius d (chain (S k)) * frobenius d (hat G r (u (S k)))).
    + cbn [pow]; rewrite (Rmult_comm (INR (many r))), !Rmult_assoc.
      apply Rmult_le_compat_l; [apply pow_le, pos_INR|].
      apply units_product with (J := unit_matrix r); [exact (units_units G r Hr)|].
      intros q Hq; apply (chain_commute (S k)); exact Hq.
    + apply Rmult_le_compat_r; [apply frobenius_nonneg|exact IH].
Qed.

End One.

(** ** The bound *)

Variable count : nat.
Variable family : nat -> representation.
Hypothesis Hfamily : forall s, (s < count)%nat -> is_representation G (family s).
Hypothesis Hcomplete : complete G count family.
Variable mu : nat -> R.
Hypothesis Hmu : forall s, (s < count)%nat -> scalar G tau (family s) (mu s).

(** The part of a representation in the sum over all inputs. *)
Definition chain_part (s k : nat) (u : nat -> nat -> R) (z : nat -> R) : R :=
  coefficient G family s * frobenius_inner (dim (family s)) (chain (family s) u k) (hat G (family s) z).

Lemma multilinear_parts k u z : multilinear k u z = sum count (fun s => chain_part s k u z).
Proof.
  unfold multilinear.
  rewrite (tuples_ext n k _ (fun a => sum count (fun s => coefficient G family s * (multiplied k (fun j => u j (a j))
    * frobenius_inner (dim (family s)) (mat (family s) (product_of G k a)) (hat G (family s) z))))).
  2: { intros a Ha; rewrite (inversion G HG count family Hfamily Hcomplete z _ (product_below k a Ha)), <- sum_scal.
       apply sum_ext; intros; ring. }
  rewrite tuples_sum; apply sum_ext; intros s Hs; rewrite tuples_scal; unfold chain_part; f_equal.
  unfold frobenius_inner, inner.
  rewrite (tuples_ext n k _ (fun a => sum (dim (family s)) (fun i => sum (dim (family s)) (fun j =>
    hat G (family s) z i j * (multiplied k (fun j => u j (a j)) * mat (family s) (product_of G k a) i j))))).
  2: { intros a _; rewrite <- sum_scal; apply sum_ext; intros; rewrite <- sum_scal; apply sum_ext; intros; ring. }
  rewrite tuples_sum; apply sum_ext; intros i Hi; rewrite tuples_sum; apply sum_ext; intros j Hj.
  rewrite tuples_scal, <- (chain_sum (family s) (Hfamily s Hs)) by assumption; unfold multilinear; ring.
Qed.

Lemma multilinear_contrast k u w :
  multilinear k u (contrast G tau w) = sum count (fun s => (1 - mu s) * chain_part s k u w).
Proof.
  rewrite multilinear_parts; apply sum_ext; intros s Hs; unfold chain_part.
  rewrite <- Rmult_assoc, (Rmult_comm (1 - mu s)), Rmult_assoc; f_equal.
  unfold frobenius_inner, inner; rewrite <- sum_scal; apply sum_ext; intros i Hi.
  rewrite <- sum_scal; apply sum_ext; intros j Hj.
  rewrite (hat_contrast G HG (family s) (Hfamily s Hs) tau (mu s)) by (try apply Hmu; assumption); ring.
Qed.

(** k + 1 factors. *)
Theorem one_product s k u w : (s < count)%nat ->
  INR (dim (family s)) ^ k * chain_part s (S k) u w ^ 2
  <= INR n ^ k * (multiplied (S k) (fun j => part G family s (u j)) * part G family s w).
Proof.
  intro Hs; unfold chain_part, part; rewrite multiplied_scal.
  set (d := dim (family s)); set (m := INR (many (family s))); set (c := coefficient G family s).
  set (U := multiplied (S k) (fun j => frobenius d (hat G (family s) (u j)))).
  set (W := frobenius d (hat G (family s) w)); set (I := frobenius_inner d _ _).
  pose proof (many_above_zero G count family Hfamily s Hs) as Pm; fold m in Pm.
  pose proof (order_positive G HG) as Pn; pose proof (coefficient_nonneg G HG count family Hfamily s Hs) as Pc.
  fold c in Pc; assert (Ec : INR d = c * m * INR n) by (unfold c, coefficient; fold d m; field; lra).
  assert (D : m ^ k * I ^ 2 <= U * W).
  { apply Rle_trans with (m ^ k * (frobenius d (chain (family s) u (S k)) * W)).
    - apply Rmult_le_compat_l; [apply pow_le; lra|apply frobenius_cauchy_schwarz].
    - rewrite <- Rmult_assoc; apply Rmult_le_compat_r; [apply frobenius_nonneg|].
      apply chain_bound, Hfamily; exact Hs. }
  rewrite Ec, !Rpow_mult_distr.
  apply Rle_trans with (INR n ^ k * c ^ (k + 2) * (m ^ k * I ^ 2)).
  - right; rewrite pow_add; ring.
  - apply Rle_trans with (INR n ^ k * c ^ (k + 2) * (U * W)); [|right; rewrite pow_add; cbn [pow]; ring].
    apply Rmult_le_compat_l; [|exact D].
    apply Rmult_le_pos; apply pow_le; lra.
Qed.

Lemma factor_norm_parts k o :
  factor_norm G k o ^ 2
  = sum count (fun s => sum k (fun j => part G family s (fu o j)) + part G family s (fw o)).
Proof.
  unfold factor_norm; rewrite pow2_sqrt.
  2: { apply Rplus_le_le_0_compat; [apply sum_nonneg; intros|]; apply square_nonneg. }
  rewrite sum_plus, sum_swap; f_equal.
  - apply sum_ext; intros j _; apply (parseval G HG count family Hfamily Hcomplete).
  - apply (parseval G HG count family Hfamily Hcomplete).
Qed.

Variable p : nat.
Local Notation k := (S p).
Variable K : R.
Hypothesis HK : 0 <= K.
Hypothesis Hrow : forall s, (s < count)%nat -> (1 - mu s) ^ 2 <= K ^ 2 * INR (dim (family s)) ^ p.

(** K n^k ((k+1) n)^(-(k+1)/2), the factor of |(u, w)|^(k+1). *)
Definition neuron_factor : R := K * INR n ^ k / sqrt ((INR (k + 1) * INR n) ^ (k + 1)).

Lemma root_positive : 0 < sqrt ((INR (k + 1) * INR n) ^ (k + 1)).
Proof.
  pose proof (order_positive G HG); apply sqrt_lt_R0, pow_lt, Rmult_lt_0_compat; [apply lt_0_INR; lia|assumption].
Qed.

Lemma neuron_factor_nonneg : 0 <= neuron_factor.
Proof.
  pose proof root_positive; unfold neuron_factor; apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; assumption].
  apply Rmult_le_pos; [exact HK|apply pow_le, pos_INR].
Qed.

Lemma neuron_factor_square : neuron_factor ^ 2 * INR (k + 1) ^ (k + 1) = K ^ 2 * INR n ^ p.
Proof.
  pose proof root_positive as P; pose proof (order_positive G HG) as Pn; unfold neuron_factor.
  assert (Pk : 0 < INR (k + 1)) by (apply lt_0_INR; lia).
  pose proof (pow_lt _ (k + 1) Pk); pose proof (pow_lt _ (k + 1) Pn).
  replace ((K * INR n ^ k / sqrt ((INR (k + 1) * INR n) ^ (k + 1))) ^ 2)
    with (K ^ 2 * (INR n ^ k * INR n ^ k) / sqrt ((INR (k + 1) * INR n) ^ (k + 1)) ^ 2) by (field; lra).
  rewrite pow2_sqrt, Rpow_mult_distr by (apply pow_le, Rmult_le_pos; lra).
  replace (INR n ^ k * INR n ^ k) with (INR n ^ p * INR n ^ (k + 1))
    by (rewrite <- !pow_add; f_equal; lia).
  field; lra.
Qed.

Definition factor_mass (s : nat) (o : factor_neuron) : R :=
  sum k (fun j => part G family s (fu o j)) + part G family s (fw o).

Lemma mass_nonneg s o : (s < count)%nat -> 0 <= factor_mass s o.
Proof.
  intro Hs; pose proof (part_nonneg G HG count family Hfamily s) as P.
  apply Rplus_le_le_0_compat; [apply sum_nonneg; intros|]; apply P; exact Hs.
Qed.

Lemma neuron_masses s o : (s < count)%nat ->
  ((1 - mu s) * chain_part s k (fu o) (fw o)) ^ 2
  <= neuron_factor ^ 2 *
    (INR (S k) ^ S k * (multiplied k (fun j => part G family s (fu o j)) * part G family s (fw o))).
Proof.
  intro Hs; rewrite <- (Rmult_assoc (neuron_factor ^ 2)).
  replace (INR (S k) ^ S k) with (INR (k + 1) ^ (k + 1)) by (rewrite Nat.add_1_r; reflexivity).
  rewrite neuron_factor_square.
  apply Rle_trans with (K ^ 2 * (INR (dim (family s)) ^ p * chain_part s k (fu o) (fw o) ^ 2)).
  - rewrite Rpow_mult_distr, <- Rmult_assoc.
    apply Rmult_le_compat_r; [apply pow2_ge_0|exact (Hrow s Hs)].
  - rewrite Rmult_assoc; apply Rmult_le_compat_l; [apply pow2_ge_0|exact (one_product s p _ _ Hs)].
Qed.

Lemma masses_mean s o : (s < count)%nat ->
  INR (S k) ^ S k * (multiplied k (fun j => part G family s (fu o j)) * part G family s (fw o)) <= factor_mass s o ^ S k.
Proof.
  intro Hs; pose proof (part_nonneg G HG count family Hfamily s) as P.
  apply Rle_trans with (INR (S k) ^ S k * (factor_mass s o / INR (S k)) ^ S k).
  - apply Rmult_le_compat_l; [apply pow_le, pos_INR|].
    apply means_and_one; [intros; apply P|apply P]; exact Hs.
  - right; rewrite <- Rpow_mult_distr; f_equal; field; apply not_0_INR; lia.
Qed.

Lemma neuron_product s o : (s < count)%nat ->
  ((1 - mu s) * chain_part s k (fu o) (fw o)) ^ 2 <= neuron_factor ^ 2 * factor_mass s o ^ (k + 1).
Proof.
  intro Hs; apply Rle_trans with (1 := neuron_masses s o Hs); rewrite Nat.add_1_r.
  apply Rmult_le_compat_l; [apply pow2_ge_0|exact (masses_mean s o Hs)].
Qed.

Lemma factor_neuron_row s o : (s < count)%nat ->
  (1 - mu s) * chain_part s k (fu o) (fw o) <= neuron_factor * factor_norm G k o ^ p * factor_mass s o.
Proof.
  intro Hs; pose proof neuron_factor_nonneg as PK; pose proof (mass_nonneg s o Hs) as Px.
  assert (PN : 0 <= factor_norm G k o) by apply sqrt_pos.
  apply le_of_squares; [apply Rmult_le_pos; [apply Rmult_le_pos; [|apply pow_le]|]; assumption|].
  apply Rle_trans with (1 := neuron_product s o Hs).
  replace ((neuron_factor * factor_norm G k o ^ p * factor_mass s o) ^ 2)
    with (neuron_factor ^ 2 * ((factor_norm G k o ^ 2) ^ p * factor_mass s o ^ 2))
    by (rewrite <- pow_mult, (Nat.mul_comm 2), pow_mult; ring).
  apply Rmult_le_compat_l; [apply pow2_ge_0|].
  replace (k + 1)%nat with (p + 2)%nat by lia; rewrite pow_add.
  apply Rmult_le_compat_r; [apply pow2_ge_0|]; apply pow_incr; split; [exact Px|].
  rewrite factor_norm_parts; apply (sum_term_le count (fun t => factor_mass t o)); [|exact Hs].
  intros; apply mass_nonneg; assumption.
Qed.

Theorem factor_neuron_bound o :
  multilinear k (fu o) (contrast G tau (fw o)) <= neuron_factor * factor_norm G k o ^ (k + 1).
Proof.
  rewrite multilinear_contrast.
  replace (factor_norm G k o ^ (k + 1)) with (factor_norm G k o ^ p * factor_norm G k o ^ 2)
    by (rewrite <- pow_add; f_equal; lia).
  rewrite factor_norm_parts, <- Rmult_assoc, <- sum_scal.
  apply sum_le; intros s Hs; apply factor_neuron_row; exact Hs.
Qed.

(** The sum over all inputs of what a neuron adds to the weighted difference of the outputs. *)
Theorem neuron_sum o :
  tuples n k (fun a => sum k (fun j => fu o j (a j)) ^ k * contrast G tau (fw o) (product_of G k a))
  <= INR n ^ k * (products_constant G k * K * factor_norm G k o ^ (k + 1)).
Proof.
  pose proof root_positive as P.
  rewrite (polarisation k 1 (fun s => s ^ k)) by (try apply polynomial_power; apply (contrast_sum G HG tau Htau)).
  apply Rle_trans with (INR (fact k) * (neuron_factor * factor_norm G k o ^ (k + 1))).
  - rewrite Rmult_1_r; apply Rmult_le_compat_l; [apply pos_INR|apply factor_neuron_bound].
  - right; unfold neuron_factor, products_constant; field; lra.
Qed.

Lemma margin_from_factor_neurons g net : factor_margin_at_least G k g net -> g <= products_constant G k * K.
Proof.
  intro H; pose proof (weak_duality k g net H) as D; destruct H as [T _].
  assert (B : INR n ^ k * (g * factor_total G k net) <= INR n ^ k * (products_constant G k * K * factor_total G k net)).
  { apply Rle_trans with (1 := D).
    unfold factor_total at 1; rewrite <- (total_scal (fun o => factor_norm G k o ^ (k + 1))), <- total_scal.
    apply total_le; exact neuron_sum. }
  apply Rmult_le_reg_l in B; [|apply pow_lt, (order_positive G HG)].
  apply Rmult_le_reg_r with (1 := T); exact B.
Qed.

End Group.

(** One neuron, and the upper side, for every group with a complete family and every number of factors. *)
Section Rows.
Variable G : group.
Variable count : nat.
Variable family : nat -> representation.
Variables tau mu : nat -> R.
Variable k : nat.
Variable K : R.
Hypothesis HG : is_group G.
Hypothesis Hk : (1 <= k)%nat.
Hypothesis Hfamily : forall s, (s < count)%nat -> is_representation G (family s).
Hypothesis Hcomplete : complete G count family.
Hypothesis Htau : wrong_weights G tau.
Hypothesis Hmu : forall s, (s < count)%nat -> scalar G tau (family s) (mu s).
Hypothesis HK : 0 <= K.
Hypothesis Hrow : forall s, (s < count)%nat -> Rabs (1 - mu s) <= K * sqrt (INR (dim (family s)) ^ (k - 1)).

Lemma row_square : forall s, (s < count)%nat -> (1 - mu s) ^ 2 <= K ^ 2 * INR (dim (family s)) ^ (k - 1).
Proof.
  intros s Hs; rewrite <- (pow2_abs (1 - mu s)), <- (square_sqrt (INR (dim (family s)) ^ (k - 1)))
    by apply pow_le, pos_INR.
  rewrite <- Rpow_mult_distr; apply pow_incr; split; [apply Rabs_pos|exact (Hrow s Hs)].
Qed.

Theorem one_factor_neuron : forall o,
  tuples (order G) k (fun a => sum k (fun j => fu o j (a j)) ^ k * contrast G tau (fw o) (product_of G k a))
  <= INR (order G) ^ k * (products_constant G k * K * factor_norm G k o ^ (k + 1)).
Proof.
  pose proof row_square as Q; destruct k as [|p]; [lia|]; replace (S p - 1)%nat with p in Q by lia.
  exact (neuron_sum G HG tau Htau count family Hfamily Hcomplete mu Hmu p K HK Q).
Qed.

Theorem factors_upper : forall net g, factor_margin_at_least G k g net -> g <= products_constant G k * K.
Proof.
  pose proof row_square as Q; destruct k as [|p]; [lia|]; replace (S p - 1)%nat with p in Q by lia.
  intros net g; exact (margin_from_factor_neurons G HG tau Htau count family Hfamily Hcomplete mu Hmu p K HK Q g net).
Qed.

End Rows.

(** ** Two factors: the networks, norms and margins of Statement.v *)

Definition two_factor (o : neuron) : factor_neuron :=
  FactorNeuron (fun j => match j with O => u o | _ => v o end) (w o).
Definition of_two (o : factor_neuron) : neuron := Neuron (fu o 0%nat) (fu o 1%nat) (fw o).

Lemma of_two_factor net : map of_two (map two_factor net) = net.
Proof. induction net as [|[U V W] net IH]; simpl; [reflexivity|rewrite IH; reflexivity]. Qed.

Lemma two_factors_output net a c :
  factor_output 2 net a c = output (map of_two net) (a 0%nat) (a 1%nat) c.
Proof.
  unfold factor_output, output, activity; induction net as [|o net IH]; cbn [total_of map fold_right]; [reflexivity|].
  rewrite IH; simpl; ring.
Qed.

Lemma two_factors_norm G net : factor_total G 2 net = norm3 (group_table G) (map of_two net).
Proof.
  unfold factor_total, norm3; induction net as [|o net IH]; cbn [total_of map fold_right]; [reflexivity|].
  rewrite IH; f_equal; change (2 + 1)%nat with 3%nat; f_equal; unfold factor_norm, norm, square; f_equal.
  unfold inputs2, outputs2; simpl; ring.
Qed.

Theorem two_factors G g net : is_group G ->
  (factor_margin_at_least G 2 g net <-> normalized_margin_at_least (group_table G) g (map of_two net)).
Proof.
  intro HG; unfold factor_margin_at_least, normalized_margin_at_least; rewrite two_factors_norm.
  assert (P : forall a, (a 0%nat < order G)%nat -> product_of G 2 a = op G (a 0%nat) (a 1%nat))
    by (intros a H; cbn [product_of]; rewrite (unit_left G HG) by exact H; reflexivity).
  split; intros [T H]; (split; [exact T|]).
  - intros a b y c I Hc N; apply given_group_inv in I; destruct I as [Ha [Hb ->]].
    specialize (H (fun j => match j with O => a | _ => b end) c).
    rewrite !two_factors_output, P in H by exact Ha; apply H; [|exact Hc|exact N].
    intros [|j] _; assumption.
  - intros a c W Hc N; rewrite !two_factors_output.
    pose proof (P a (W 0%nat ltac:(lia))) as E; rewrite E; rewrite E in N.
    apply H; [apply given_group; apply W; lia|exact Hc|exact N].
Qed.

Corollary two_factors_maximum G g : is_group G ->
  (factor_maximum_is G 2 g <-> maximum_margin_between (group_table G) g g).
Proof.
  intro HG; split; intros [[net M] U]; split.
  - exists (map of_two net); apply two_factors; assumption.
  - intros other h H; apply (U (map two_factor other)), (two_factors G h _ HG); rewrite of_two_factor; exact H.
  - exists (map two_factor net); apply (two_factors G g _ HG); rewrite of_two_factor; exact M.
  - intros other h H; apply (U (map of_two other)), two_factors; assumption.
Qed.

(** The same number for two factors. *)
Lemma two_factors_constant G : is_group G -> products_constant G 2 = constant G.
Proof.
  intro HG; unfold products_constant, constant; replace (INR (2 + 1)) with 3 by (simpl; ring).
  replace (INR (fact 2)) with 2 by (simpl; ring); pose proof (order_positive G HG) as P; f_equal.
  change (2 + 1)%nat with 3%nat; set (x := 3 * INR (order G)); assert (0 < x) by (unfold x; lra).
  replace (x ^ 3) with (x ^ 2 * x) by ring.
  rewrite sqrt_mult, sqrt_pow2 by (try apply pow2_ge_0; lra); reflexivity.
Qed.
