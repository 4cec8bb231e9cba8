(** The maximum margin of sparse parities.

    The inputs are the sign vectors x of length n, the label is the product of
    the x_i with i in a set S of k places, 1 <= k <= n.  A network is a list of
    neurons (u, w) with the output f(x)[c] = sum of (u.x)^k w_c for the classes
    c = true (label 1) and c = false (label -1); its norm is the sum of
    |(u, w)|^(k+1) ([Statement.v] has the same for tables).

    [sparse_parity]: for every width of at least 2^(k-1) the maximum margin is
    k! sqrt(2 / (k+1)^(k+1)); no network of any width has a larger one.
    [sparse_parity_neurons]: in a network that attains it, u is 0, or the
    support of u is S, w is (b, -b), all |u_j| with j in S are |w|, and the
    product of these u_j times w_true - w_false is not negative.

    How: differences of a polynomial of degree k in each place of S and means
    in all others leave k! times its leading coefficient times the product of
    the u_j ([differences_of_polynomial]), which is the mean margin of a neuron
    ([mean_margin]); the inequality of arithmetic and geometric means, with its
    case of equality ([geometric_mean], [geometric_mean_equal]); the network of
    all signs on S, up to one sign ([half_output]). *)

From Coq Require Import Reals List Lra Lia Arith Bool.
From Lemmata Require Import Statement Sums.
Import ListNotations.
Local Open Scope R_scope.

(** ** What is claimed *)

(** A set of places, how many of the first n are in it, and a product over these; a sum over a list. *)
Definition places := nat -> bool.
Fixpoint size_of (P : places) (n : nat) : nat :=
  match n with O => O | S m => if P m then S (size_of P m) else size_of P m end.
Fixpoint product_over (P : places) (n : nat) (f : nat -> R) : R :=
  match n with O => 1 | S m => if P m then product_over P m f * f m else product_over P m f end.

Fixpoint total_of {A} (phi : A -> R) (l : list A) : R :=
  match l with [] => 0 | o :: rest => phi o + total_of phi rest end.

Definition is_signs (n : nat) (x : nat -> R) : Prop := forall i, (i < n)%nat -> x i = 1 \/ x i = -1.
Definition sign_of (c : bool) : R := if c then 1 else -1.

Record parity_neuron := ParityNeuron { pu : nat -> R; pw : bool -> R }.
Definition response (n k : nat) (o : parity_neuron) (x : nat -> R) : R := sum n (fun i => pu o i * x i) ^ k.
Definition parity_output (n k : nat) (net : list parity_neuron) (x : nat -> R) (c : bool) : R :=
  total_of (fun o => response n k o x * pw o c) net.

Definition weight2 (o : parity_neuron) : R := pw o true ^ 2 + pw o false ^ 2.
Definition parity_norm (n : nat) (o : parity_neuron) : R := sqrt (sum n (fun i => pu o i ^ 2) + weight2 o).
Definition total_norm (n k : nat) (net : list parity_neuron) : R :=
  total_of (fun o => parity_norm n o ^ (k + 1)) net.

(** The margin divided by the norm is at least g. *)
Definition parity_margin_at_least (P : places) (n k : nat) (g : R) (net : list parity_neuron) : Prop :=
  0 < total_norm n k net /\
  forall x c, is_signs n x -> product_over P n x = sign_of c ->
    g * total_norm n k net <= parity_output n k net x c - parity_output n k net x (negb c).

Definition parity_value (k : nat) : R := INR (fact k) * sqrt (2 / INR (k + 1) ^ (k + 1)).

(** ** Polynomials *)

(** A polynomial of degree at most k, by Horner's rule, with the coefficient a of degree k. *)
Fixpoint polynomial (k : nat) (a : R) (p : R -> R) : Prop :=
  match k with
  | O => forall c, p c = a
  | S m => exists r q, polynomial m a q /\ forall c, p c = r + c * q c
  end.

Lemma polynomial_ext k : forall a p q, (forall c, p c = q c) -> polynomial k a p -> polynomial k a q.
Proof.
  destruct k as [|k]; intros a p q E H; simpl in *; [intro c; rewrite <- E; apply H|].
  destruct H as [r [s [H1 H2]]]; exists r, s; split; [exact H1|intro c; rewrite <- E; apply H2].
Qed.

Lemma polynomial_plus k : forall a b p q,
  polynomial k a p -> polynomial k b q -> polynomial k (a + b) (fun c => p c + q c).
Proof.
  induction k as [|k IH]; intros a b p q Hp Hq; simpl in *; [intro c; rewrite Hp, Hq; reflexivity|].
  destruct Hp as [r [p' [P1 P2]]], Hq as [s [q' [Q1 Q2]]]; exists (r + s), (fun c => p' c + q' c).
  split; [apply IH; assumption|intro c; rewrite P2, Q2; ring].
Qed.

Lemma polynomial_scal k : forall a x p, polynomial k a p -> polynomial k (x * a) (fun c => x * p c).
Proof.
  induction k as [|k IH]; intros a x p H; simpl in *; [intro c; rewrite H; reflexivity|].
  destruct H as [r [q [H1 H2]]]; exists (x * r), (fun c => x * q c).
  split; [apply IH; assumption|intro c; rewrite H2; ring].
Qed.

Lemma polynomial_raise k : forall a p, polynomial k a p -> polynomial (S k) 0 p.
Proof.
  induction k as [|k IH]; intros a p H.
  - exists a, (fun _ => 0); simpl in *; split; [reflexivity|intro c; rewrite H; ring].
  - destruct H as [r [q [H1 H2]]]; exists r, q; split; [exact (IH a q H1)|exact H2].
Qed.

Lemma polynomial_shift k : forall a p u, polynomial k a p -> polynomial k a (fun c => p (c + u)).
Proof.
  induction k as [|k IH]; intros a p u H; [simpl in *; intro c; apply H|].
  destruct H as [r [q [H1 H2]]]; pose proof (IH a q u H1) as Q.
  apply polynomial_ext with (fun c => (r + c * q (c + u)) + u * q (c + u)); [intro c; rewrite H2; ring|].
  replace a with (a + 0) by ring; apply polynomial_plus.
  - exists r, (fun c => q (c + u)); split; [exact Q|reflexivity].
  - apply polynomial_raise with (u * a); apply polynomial_scal; exact Q.
Qed.

Definition mean_of (p : R -> R) (u c : R) : R := (p (c + u) + p (c - u)) / 2.
Definition difference_of (p : R -> R) (u c : R) : R := (p (c + u) - p (c - u)) / 2.

Lemma polynomial_mean k a p u : polynomial k a p -> polynomial k a (mean_of p u).
Proof.
  intro H; apply polynomial_ext with (fun c => /2 * p (c + u) + /2 * p (c + - u)).
  - intro c; unfold mean_of, Rminus; field.
  - replace a with (/2 * a + /2 * a) by field.
    apply polynomial_plus; apply polynomial_scal, polynomial_shift; assumption.
Qed.

Lemma polynomial_difference k : forall a p u,
  polynomial (S k) a p -> polynomial k (INR (S k) * a * u) (difference_of p u).
Proof.
  induction k as [|k IH]; intros a p u [r [q [H1 H2]]].
  - simpl in *; intro c; unfold difference_of; rewrite !H2, !H1; field.
  - apply polynomial_ext with (fun c => c * difference_of q u c + u * mean_of q u c).
    + intro c; unfold difference_of, mean_of; rewrite !H2; field.
    + replace (INR (S (S k)) * a * u) with (INR (S k) * a * u + u * a) by (rewrite (S_INR (S k)); ring).
      apply polynomial_plus; [|apply polynomial_scal, polynomial_mean; exact H1].
      exists 0, (difference_of q u); split; [exact (IH a q u H1)|intro c; ring].
Qed.

Lemma polynomial_power k : polynomial k 1 (fun c => c ^ k).
Proof.
  induction k as [|k IH]; [simpl; intro; reflexivity|].
  exists 0, (fun c => c ^ k); split; [exact IH|intro c; simpl; ring].
Qed.

(** ** Differences in the places of a set, means in all others *)

Section Set_of_places.
Variable P : places.

Fixpoint differences (u : nat -> R) (n : nat) (p : R -> R) : R :=
  match n with
  | O => p 0
  | S m => differences u m (if P m then difference_of p (u m) else mean_of p (u m))
  end.

Lemma differences_of_polynomial u n : forall a p,
  polynomial (size_of P n) a p ->
  differences u n p = INR (fact (size_of P n)) * a * product_over P n u.
Proof.
  induction n as [|n IH]; intros a p H; [simpl in *; rewrite H; ring|].
  cbn [size_of differences product_over] in *; destruct (P n).
  - rewrite (IH _ _ (polynomial_difference _ _ _ (u n) H)).
    rewrite fact_simpl, mult_INR; ring.
  - apply IH, polynomial_mean; exact H.
Qed.

(** The mean over all sign vectors, the last coordinate first. *)
Definition put (x : nat -> R) (n : nat) (v : R) : nat -> R := fun i => if Nat.eqb i n then v else x i.
Fixpoint mean (n : nat) (F : (nat -> R) -> R) : R :=
  match n with
  | O => F (fun _ => 1)
  | S m => (mean m (fun x => F (put x m 1)) + mean m (fun x => F (put x m (-1)))) / 2
  end.

Lemma mean_ext n : forall F G, (forall x, F x = G x) -> mean n F = mean n G.
Proof. induction n as [|n IH]; intros F G E; simpl; [apply E|]; f_equal; f_equal; apply IH; intro; apply E. Qed.

Lemma mean_linear n : forall F G a b, mean n (fun x => a * F x + b * G x) = a * mean n F + b * mean n G.
Proof.
  induction n as [|n IH]; intros F G a b; simpl; [reflexivity|].
  rewrite !(IH (fun x => F (put x n _)) (fun x => G (put x n _))); field.
Qed.

Lemma put_signs n x v : is_signs n x -> v = 1 \/ v = -1 -> is_signs (S n) (put x n v).
Proof.
  intros H V i Hi; unfold put; destruct (Nat.eqb_spec i n) as [_|N]; [exact V|apply H; lia].
Qed.

Lemma mean_at_least n : forall F g, (forall x, is_signs n x -> g <= F x) -> g <= mean n F.
Proof.
  induction n as [|n IH]; intros F g H; simpl; [apply H; intros i Hi; lia|].
  assert (forall v, v = 1 \/ v = -1 -> g <= mean n (fun x => F (put x n v))) as A
    by (intros v V; apply IH; intros x Hx; apply H, put_signs; assumption).
  pose proof (A 1 (or_introl eq_refl)); pose proof (A (-1) (or_intror eq_refl)); lra.
Qed.

Lemma sum_put n u x v : sum (S n) (fun i => u i * put x n v i) = sum n (fun i => u i * x i) + u n * v.
Proof.
  cbn [sum]; unfold put; rewrite Nat.eqb_refl; f_equal; apply sum_ext; intros i Hi.
  destruct (Nat.eqb_spec i n); [lia|reflexivity].
Qed.

Lemma product_ext n : forall f g, (forall i, (i < n)%nat -> P i = true -> f i = g i) ->
  product_over P n f = product_over P n g.
Proof.
  induction n as [|n IH]; intros f g E; simpl; [reflexivity|].
  rewrite (IH f g) by (intros; apply E; [lia|assumption]); destruct (P n) eqn:H; [rewrite E by (lia || assumption)|];
    reflexivity.
Qed.

Lemma product_put n x v : product_over P (S n) (put x n v) = product_over P n x * (if P n then v else 1).
Proof.
  cbn [product_over]; rewrite (product_ext n (put x n v) x).
  - unfold put; rewrite Nat.eqb_refl; destruct (P n); ring.
  - intros i Hi _; unfold put; destruct (Nat.eqb_spec i n); [lia|reflexivity].
Qed.

Lemma mean_differences u n : forall p,
  mean n (fun x => p (sum n (fun i => u i * x i)) * product_over P n x) = differences u n p.
Proof.
  induction n as [|n IH]; intro p; [simpl; ring|].
  cbn [mean differences].
  rewrite (mean_ext n _ (fun x => 1 * (p (sum n (fun i => u i * x i) + u n) * product_over P n x) + 0 * 0)).
  2:{ intro x; rewrite sum_put, product_put, Rmult_1_r; destruct (P n); ring. }
  rewrite (mean_ext n (fun x => p (sum (S n) (fun i => u i * put x n (-1) i)) * product_over P (S n) (put x n (-1)))
    (fun x => (if P n then -1 else 1) * (p (sum n (fun i => u i * x i) - u n) * product_over P n x) + 0 * 0)).
  2:{ intro x; rewrite sum_put, product_put.
      replace (sum n (fun i => u i * x i) + u n * -1) with (sum n (fun i => u i * x i) - u n) by ring.
      destruct (P n); ring. }
  rewrite !(mean_linear n _ (fun _ => 0)), <- IH.
  set (A := mean n (fun x => p (sum n (fun i => u i * x i) + u n) * product_over P n x)).
  set (B := mean n (fun x => p (sum n (fun i => u i * x i) - u n) * product_over P n x)).
  rewrite (mean_ext n (fun x => (if P n then difference_of p (u n) else mean_of p (u n)) _ * _)
    (fun x => / 2 * (p (sum n (fun i => u i * x i) + u n) * product_over P n x)
      + (if P n then - / 2 else / 2) * (p (sum n (fun i => u i * x i) - u n) * product_over P n x))).
  - rewrite mean_linear; fold A B; destruct (P n); field.
  - intro x; unfold difference_of, mean_of; destruct (P n); field.
Qed.

(** The mean of (u.x)^k times the label is k! times the product of the u_i in the places. *)
Theorem mean_margin u n :
  mean n (fun x => sum n (fun i => u i * x i) ^ size_of P n * product_over P n x)
  = INR (fact (size_of P n)) * product_over P n u.
Proof.
  rewrite (mean_differences u n (fun c => c ^ size_of P n)).
  rewrite (differences_of_polynomial u n 1) by apply polynomial_power; ring.
Qed.

(** ** The inequality of the means *)

Lemma bernoulli m t : -1 <= t -> 1 + INR (S (S m)) * t + t ^ 2 <= (1 + t) ^ S (S m).
Proof.
  intro H; induction m as [|m IH]; [simpl; lra|].
  change ((1 + t) ^ S (S (S m))) with ((1 + t) * (1 + t) ^ S (S m)).
  apply Rle_trans with ((1 + t) * (1 + INR (S (S m)) * t + t ^ 2)); [|apply Rmult_le_compat_l; lra].
  rewrite (S_INR (S (S m))); pose proof (pos_INR (S m)) as Q; rewrite (S_INR (S m)).
  pose proof (pow2_ge_0 t).
  assert (0 <= t ^ 2 * (INR (S m) + 1 + t)) by (apply Rmult_le_pos; lra).
  replace ((1 + t) * (1 + (INR (S m) + 1) * t + t ^ 2))
    with (1 + (INR (S m) + 1 + 1) * t + t ^ 2 + t ^ 2 * (INR (S m) + 1 + t)) by ring; lra.
Qed.

(** m + 1 numbers of mean A, and one more, x. *)
Lemma one_more m A x : 0 < A -> 0 <= x ->
  A ^ S m * x + A ^ S (S m) * ((x - A) / (INR (S (S m)) * A)) ^ 2
  <= ((INR (S m) * A + x) / INR (S (S m))) ^ S (S m).
Proof.
  intros HA Hx; set (M := INR (S (S m))); assert (HM : INR (S m) = M - 1) by (unfold M; rewrite (S_INR (S m)); ring).
  assert (1 < M) by (unfold M; apply (lt_INR 1); lia).
  set (t := (x - A) / (M * A)).
  assert (0 < M * A) by (apply Rmult_lt_0_compat; lra).
  assert (T : M * A * t = x - A) by (unfold t; field; lra).
  assert (-1 <= t) by (apply Rmult_le_reg_l with (M * A); [assumption|]; rewrite T; nra).
  replace ((INR (S m) * A + x) / M) with (A * (1 + t)) by (rewrite HM; unfold t; field; lra).
  rewrite Rpow_mult_distr.
  apply Rle_trans with (A ^ S (S m) * (1 + M * t + t ^ 2)).
  - right; change (A ^ S (S m)) with (A * A ^ S m).
    replace (A * A ^ S m * (1 + M * t + t ^ 2))
      with (A ^ S m * (A + M * A * t) + A * A ^ S m * t ^ 2) by ring.
    rewrite T; ring.
  - apply Rmult_le_compat_l; [apply pow_le; lra|apply bernoulli; assumption].
Qed.

Lemma next_mean m Q s x : 0 <= Q -> 0 <= s -> 0 <= x -> Q <= (s / INR m) ^ m ->
  Q * x <= ((s + x) / INR (S m)) ^ S m /\
  (0 < Q * x -> Q * x = ((s + x) / INR (S m)) ^ S m ->
   Q = (s / INR m) ^ m /\ x = (s + x) / INR (S m) /\ (m = O \/ s / INR m = (s + x) / INR (S m))).
Proof.
  intros HQ Hs Hx H; destruct m as [|m].
  - simpl in *; split; [nra|]; intros P0 E; assert (s = 0) by nra; assert (0 < x) by nra.
    subst s; split; [nra|]; split; [field|left; reflexivity].
  - set (M := INR (S m)) in *; assert (0 < M) by (unfold M; apply lt_0_INR; lia).
    set (A := s / M) in *; assert (S : s = M * A) by (unfold A; field; lra).
    assert (HA : 0 <= A) by (unfold A; apply Rmult_le_pos; [assumption|left; apply Rinv_0_lt_compat; assumption]).
    destruct HA as [HA|HA].
    + pose proof (one_more m A x HA Hx) as O; fold M in O; rewrite <- S in O.
      set (B := ((s + x) / INR (Datatypes.S (Datatypes.S m))) ^ Datatypes.S (Datatypes.S m)) in *.
      set (t := (x - A) / (INR (Datatypes.S (Datatypes.S m)) * A)) in *.
      assert (0 < A ^ Datatypes.S (Datatypes.S m)) as PA by (apply pow_lt; assumption).
      pose proof (pow2_ge_0 t) as T; pose proof (Rmult_le_pos _ _ (Rlt_le _ _ PA) T) as T'.
      pose proof (Rmult_le_compat_r x _ _ Hx H) as QA.
      split; [lra|]; intros P0 E.
      assert (t ^ 2 = 0) as Z by (apply (Rmult_eq_reg_l (A ^ Datatypes.S (Datatypes.S m))); [rewrite Rmult_0_r; lra|lra]).
      assert (0 < x) by (destruct Hx as [Hx|Hx]; [assumption|subst x; lra]).
      assert (1 < INR (Datatypes.S (Datatypes.S m))) by (apply (lt_INR 1); lia).
      assert (x = A) as XA.
      { assert (t = 0) as Z' by (destruct (Req_dec t 0) as [|N]; [assumption|destruct (pow_nonzero t 2 N); assumption]).
        assert (INR (Datatypes.S (Datatypes.S m)) * A * t = x - A) by (unfold t; field; lra).
        rewrite Z', Rmult_0_r in *; lra. }
      assert ((s + x) / INR (Datatypes.S (Datatypes.S m)) = A) as MA.
      { rewrite S, XA; replace (INR (Datatypes.S (Datatypes.S m))) with (M + 1)
          by (unfold M; rewrite (S_INR (Datatypes.S m)); reflexivity); field; lra. }
      split; [apply (Rmult_eq_reg_r x); lra|]; rewrite MA; split; [assumption|right; reflexivity].
    + assert (Q = 0) as -> by (rewrite <- HA, pow_i in H by lia; lra).
      split; [rewrite Rmult_0_l; apply pow_le; apply Rmult_le_pos;
              [lra|left; apply Rinv_0_lt_compat, lt_0_INR; lia]|intros; lra].
Qed.

Definition sum_in (n : nat) (f : nat -> R) : R := sum n (fun i => if P i then f i else 0).

Lemma sum_in_nonneg n f : (forall i, 0 <= f i) -> 0 <= sum_in n f.
Proof. intro H; apply sum_nonneg; intros i _; destruct (P i); [apply H|lra]. Qed.

Lemma product_over_nonneg n f : (forall i, 0 <= f i) -> 0 <= product_over P n f.
Proof.
  intro H; induction n as [|n IH]; simpl; [lra|]; destruct (P n); [apply Rmult_le_pos; [assumption|apply H]|assumption].
Qed.

Lemma geometric_mean n f : (forall i, 0 <= f i) ->
  product_over P n f <= (sum_in n f / INR (size_of P n)) ^ size_of P n.
Proof.
  intro H; induction n as [|n IH]; [simpl; lra|].
  unfold sum_in in *; cbn [sum product_over size_of]; destruct (P n); [|rewrite Rplus_0_r; assumption].
  apply next_mean; [apply product_over_nonneg; assumption|apply (sum_in_nonneg n f H)|apply H|assumption].
Qed.

Lemma geometric_mean_equal n f : (forall i, 0 <= f i) -> 0 < product_over P n f ->
  product_over P n f = (sum_in n f / INR (size_of P n)) ^ size_of P n ->
  forall i, (i < n)%nat -> P i = true -> f i = sum_in n f / INR (size_of P n).
Proof.
  intro H; induction n as [|n IH]; [intros _ _ i Hi; lia|].
  pose proof (geometric_mean n f H) as G.
  unfold sum_in in *; cbn [sum product_over size_of]; destruct (P n) eqn:E.
  - intros P0 HE; destruct (next_mean (size_of P n) (product_over P n f) (sum n (fun i => if P i then f i else 0)) (f n))
      as [_ N]; [apply product_over_nonneg; assumption|apply (sum_in_nonneg n f H)|apply H|assumption|].
    destruct (N P0 HE) as [N1 [N2 N3]]; intros i Hi Pi.
    destruct (Nat.eq_dec i n) as [->|Ne]; [assumption|].
    assert (0 < product_over P n f) as Pn.
    { pose proof (product_over_nonneg n f H) as [L|L]; [assumption|rewrite <- L, Rmult_0_l in P0; lra]. }
    rewrite (IH Pn N1 i ltac:(lia) Pi); destruct N3 as [Z|N3]; [|assumption].
    exfalso; clear - Z Hi Pi Ne; assert (i < n)%nat as L by lia; clear Hi Ne; revert Z; induction n as [|n IH]; [lia|].
    simpl; destruct (Nat.eq_dec i n) as [->|]; [rewrite Pi; discriminate|].
    destruct (P n); [discriminate|apply IH; lia].
  - rewrite Rplus_0_r; intros P0 HE i Hi Pi.
    destruct (Nat.eq_dec i n) as [->|Ne]; [congruence|]; apply IH; [assumption|assumption|lia|assumption].
Qed.

(** ** One neuron *)

Lemma product_square n f : product_over P n (fun i => f i ^ 2) = product_over P n f ^ 2.
Proof. induction n as [|n IH]; [simpl; ring|]; cbn [product_over]; destruct (P n); rewrite IH; ring. Qed.

Lemma sum_in_le n f : (forall i, 0 <= f i) -> sum_in n f <= sum n f.
Proof. intro H; apply sum_le; intros i _; destruct (P i); [lra|apply H]. Qed.

Definition contrast_of (o : parity_neuron) : R := pw o true - pw o false.

(** The mean margin of a neuron, and what the theorem compares it with. *)
Definition neuron_gain (n : nat) (o : parity_neuron) : R :=
  INR (fact (size_of P n)) * product_over P n (pu o) * contrast_of o.
Definition neuron_cost (n : nat) (o : parity_neuron) : R :=
  parity_value (size_of P n) * parity_norm n o ^ (size_of P n + 1).

Lemma contrast_weight o : contrast_of o ^ 2 / 2 + (pw o true + pw o false) ^ 2 / 2 = weight2 o.
Proof. unfold contrast_of, weight2; field. Qed.

Lemma squares_nonneg n o : 0 <= sum n (fun i => pu o i ^ 2) + weight2 o.
Proof.
  apply Rplus_le_le_0_compat; [apply sum_nonneg; intros; apply pow2_ge_0|].
  unfold weight2; pose proof (pow2_ge_0 (pw o true)); pose proof (pow2_ge_0 (pw o false)); lra.
Qed.

Lemma cost_nonneg n o : 0 <= neuron_cost n o.
Proof.
  apply Rmult_le_pos; [apply Rmult_le_pos; [apply pos_INR|apply sqrt_pos]|apply pow_le, sqrt_pos].
Qed.

Lemma cost_square n o : let k := size_of P n in
  neuron_cost n o ^ 2
  = INR (fact k) ^ 2 * 2 * ((sum n (fun i => pu o i ^ 2) + weight2 o) / INR (S k)) ^ S k.
Proof.
  intro k; unfold neuron_cost, parity_value, parity_norm; fold k.
  set (N := sum n (fun i => pu o i ^ 2) + weight2 o); pose proof (squares_nonneg n o : 0 <= N) as HN.
  replace (k + 1)%nat with (S k) by lia; assert (0 < INR (S k)) by (apply lt_0_INR; lia).
  pose proof (pow_lt (INR (S k)) (S k) H).
  replace ((INR (fact k) * sqrt (2 / INR (S k) ^ S k) * sqrt N ^ S k) ^ 2)
    with (INR (fact k) ^ 2 * (sqrt (2 / INR (S k) ^ S k) ^ 2) * (sqrt N ^ 2) ^ S k)
    by (rewrite <- pow_mult, (Nat.mul_comm 2), pow_mult; ring).
  rewrite !pow2_sqrt; [|assumption|left; apply Rdiv_lt_0_compat; lra].
  unfold Rdiv at 2; rewrite Rpow_mult_distr, pow_inv; field; lra.
Qed.

Lemma neuron_means n o : let k := size_of P n in let x := contrast_of o ^ 2 / 2 in
  let s := sum_in n (fun i => pu o i ^ 2) in
  product_over P n (pu o) ^ 2 * x <= ((s + x) / INR (S k)) ^ S k /\
  0 <= (s + x) / INR (S k) <= (sum n (fun i => pu o i ^ 2) + weight2 o) / INR (S k).
Proof.
  intros k x s; pose proof (pow2_ge_0 (contrast_of o)) as X.
  assert (0 <= s) as Hs by (apply sum_in_nonneg; intro; apply pow2_ge_0).
  assert (0 < / INR (S k)) as I by (apply Rinv_0_lt_compat, lt_0_INR; lia).
  split; [|split].
  - rewrite <- product_square; apply next_mean; [apply product_over_nonneg; intro; apply pow2_ge_0|assumption|
      unfold x; lra|apply geometric_mean; intro; apply pow2_ge_0].
  - apply Rmult_le_pos; [unfold x; lra|lra].
  - apply Rmult_le_compat_r; [lra|]; pose proof (contrast_weight o); pose proof (pow2_ge_0 (pw o true + pw o false)).
    pose proof (sum_in_le n (fun i => pu o i ^ 2) (fun i => pow2_ge_0 _)); unfold s, x; lra.
Qed.

Lemma gain_square n o : let k := size_of P n in
  neuron_gain n o ^ 2 = INR (fact k) ^ 2 * 2 * (product_over P n (pu o) ^ 2 * (contrast_of o ^ 2 / 2)).
Proof. unfold neuron_gain; field. Qed.

Theorem neuron_bound n o : neuron_gain n o <= neuron_cost n o.
Proof.
  destruct (Rle_dec (neuron_gain n o) 0) as [L|L]; [pose proof (cost_nonneg n o); lra|apply Rnot_le_lt in L].
  apply Rsqr_incr_0_var; [|apply cost_nonneg]; unfold Rsqr.
  replace (neuron_gain n o * neuron_gain n o) with (neuron_gain n o ^ 2) by ring.
  replace (neuron_cost n o * neuron_cost n o) with (neuron_cost n o ^ 2) by ring.
  rewrite gain_square, cost_square; destruct (neuron_means n o) as [M1 [M2 M3]].
  apply Rmult_le_compat_l; [pose proof (pow2_ge_0 (INR (fact (size_of P n)))); lra|].
  apply Rle_trans with (1 := M1), pow_incr; split; assumption.
Qed.

Lemma power_injective m a b : 0 <= a <= b -> a ^ S m = b ^ S m -> a = b.
Proof.
  intros [Ha [L|E]] H; [|assumption]; exfalso.
  assert (a ^ S m < b ^ S m); [|lra]; clear H; induction m as [|m IH]; [simpl; lra|].
  change (a * a ^ S m < b * b ^ S m); pose proof (pow_le a (S m) Ha); nra.
Qed.

(** Which neurons have a gain equal to their cost. *)
Lemma neuron_equal n o : (1 <= size_of P n)%nat -> neuron_gain n o = neuron_cost n o ->
  (forall i, (i < n)%nat -> pu o i = 0) \/
  ((forall i, (i < n)%nat -> P i = false -> pu o i = 0) /\
   pw o true = - pw o false /\
   (forall i, (i < n)%nat -> P i = true -> Rabs (pu o i) = sqrt (weight2 o))).
Proof.
  intros K E; set (k := size_of P n) in *; set (N := sum n (fun i => pu o i ^ 2) + weight2 o).
  destruct (Rle_lt_or_eq_dec 0 _ (squares_nonneg n o)) as [HN|HN]; fold N in HN.
  2:{ left; intros i Hi; pose proof (sum_term_le n (fun i => pu o i ^ 2) i (fun j _ => pow2_ge_0 _) Hi) as T.
      pose proof (squares_nonneg 0 o) as W; simpl sum in W; pose proof (pow2_ge_0 (pu o i)); unfold N in HN.
      apply Rsqr_0_uniq; unfold Rsqr; cbv beta in T; lra. }
  right; destruct (neuron_means n o) as [M1 [M2 M3]]; fold k in M1, M2, M3; fold N in M3.
  set (x := contrast_of o ^ 2 / 2) in *; set (s := sum_in n (fun i => pu o i ^ 2)) in *.
  set (B := (s + x) / INR (S k)) in *; assert (0 < INR (S k)) as IK by (apply lt_0_INR; lia).
  assert (0 < INR (fact k)) as IF by (apply lt_0_INR, lt_O_fact).
  assert (product_over P n (pu o) ^ 2 * x = (N / INR (S k)) ^ S k) as Q.
  { apply (Rmult_eq_reg_l (INR (fact k) ^ 2 * 2)); [|pose proof (pow_lt _ 2 IF); lra].
    unfold x, k, N; rewrite <- gain_square, <- cost_square, E; reflexivity. }
  pose proof (pow_incr B (N / INR (S k)) (S k) (conj M2 M3)) as M4.
  assert (B = N / INR (S k)) as EB by (apply (power_injective k); [split; assumption|lra]).
  assert (0 < N / INR (S k)) as PN by (apply Rdiv_lt_0_compat; assumption).
  pose proof (pow_lt _ (S k) PN) as PN'.
  assert (0 <= s) as Hs by (apply sum_in_nonneg; intro; apply pow2_ge_0).
  assert (0 <= x) as Hx by (unfold x; pose proof (pow2_ge_0 (contrast_of o)); lra).
  rewrite <- product_square in Q.
  pose proof (product_over_nonneg n (fun i => pu o i ^ 2) (fun i => pow2_ge_0 _)) as HP.
  destruct (next_mean k (product_over P n (fun i => pu o i ^ 2)) s x HP Hs Hx
    (geometric_mean n _ (fun i => pow2_ge_0 _))) as [_ M]; fold B in M.
  destruct (M ltac:(lra) ltac:(rewrite EB; assumption)) as [E1 [E2 E3]].
  assert (s + x = N) as SN by (apply (Rmult_eq_reg_r (/ INR (S k))); [exact EB|pose proof (Rinv_0_lt_compat _ IK); lra]).
  pose proof (contrast_weight o) as W; fold x in W; pose proof (pow2_ge_0 (pw o true + pw o false)) as W0.
  pose proof (sum_in_le n (fun i => pu o i ^ 2) (fun i => pow2_ge_0 _)) as L; fold s in L; unfold N in SN.
  assert (weight2 o = x) as WX by lra.
  split; [|split].
  - intros i Hi Pi.
    pose proof (sum_term_le n (fun j => pu o j ^ 2 - (if P j then pu o j ^ 2 else 0)) i) as T.
    rewrite sum_minus in T; fold (sum_in n (fun i => pu o i ^ 2)) in T; fold s in T.
    cbv beta in T; rewrite Pi in T; pose proof (pow2_ge_0 (pu o i)).
    apply Rsqr_0_uniq; unfold Rsqr.
    enough (pu o i ^ 2 - 0 <= sum n (fun i => pu o i ^ 2) - s) by lra.
    apply T; [|assumption]; intros j _; destruct (P j); [lra|pose proof (pow2_ge_0 (pu o j)); lra].
  - assert (pw o true + pw o false = 0) by (apply Rsqr_0_uniq; unfold Rsqr; lra); lra.
  - intros i Hi Pi; rewrite WX, E2; destruct E3 as [Z|E3]; [lia|]; fold B in E3; rewrite <- E3.
    assert (0 < product_over P n (fun i => pu o i ^ 2)) as PP by (destruct HP as [|HP]; [assumption|rewrite <- HP in Q; lra]).
    pose proof (geometric_mean_equal n (fun i => pu o i ^ 2) (fun i => pow2_ge_0 _) PP E1 i Hi Pi) as GE.
    fold s k in GE; rewrite <- GE, <- (sqrt_Rsqr_abs (pu o i)); f_equal; unfold Rsqr; ring.
Qed.

(** ** Networks *)

Lemma total_app {A} (phi : A -> R) l m : total_of phi (l ++ m) = total_of phi l + total_of phi m.
Proof. induction l as [|o l IH]; simpl; [ring|]; rewrite IH; ring. Qed.

Lemma total_map {A B} (phi : B -> R) (f : A -> B) l : total_of phi (map f l) = total_of (fun o => phi (f o)) l.
Proof. induction l as [|o l IH]; simpl; [reflexivity|]; rewrite IH; reflexivity. Qed.

Lemma total_ext {A} (phi psi : A -> R) l : (forall o, In o l -> phi o = psi o) -> total_of phi l = total_of psi l.
Proof.
  induction l as [|o l IH]; simpl; intro E; [reflexivity|]; rewrite (E o (or_introl eq_refl)), IH; [reflexivity|].
  intros q Hq; apply E; right; assumption.
Qed.

Lemma total_scal {A} (phi : A -> R) a l : total_of (fun o => a * phi o) l = a * total_of phi l.
Proof. induction l as [|o l IH]; simpl; [ring|]; rewrite IH; ring. Qed.

Lemma total_le {A} (phi psi : A -> R) l : (forall o, phi o <= psi o) -> total_of phi l <= total_of psi l.
Proof. intro H; induction l as [|o l IH]; simpl; [lra|]; pose proof (H o); lra. Qed.

Lemma total_equal {A} (phi psi : A -> R) l : (forall o, phi o <= psi o) -> total_of psi l <= total_of phi l ->
  forall o, In o l -> phi o = psi o.
Proof.
  intro H; induction l as [|q l IH]; simpl; intros E o I; [contradiction|].
  pose proof (H q); pose proof (total_le phi psi l H); destruct I as [->|I]; [lra|apply IH; [lra|assumption]].
Qed.

Definition margin_at (n : nat) (net : list parity_neuron) (x : nat -> R) : R :=
  total_of (fun o => response n (size_of P n) o x * product_over P n x * contrast_of o) net.

Lemma margin_is n net x c : product_over P n x = sign_of c ->
  parity_output n (size_of P n) net x c - parity_output n (size_of P n) net x (negb c) = margin_at n net x.
Proof.
  intro E; unfold margin_at, contrast_of; rewrite E.
  unfold parity_output; induction net as [|o net IH]; simpl; [ring|]; rewrite <- IH; destruct c; simpl; ring.
Qed.

Lemma product_signs n x : is_signs n x -> product_over P n x = 1 \/ product_over P n x = -1.
Proof.
  intro H; induction n as [|n IH]; simpl; [left; reflexivity|].
  destruct (IH (fun i Hi => H i (Nat.lt_lt_succ_r _ _ Hi))) as [E|E], (P n); rewrite E; auto;
    destruct (H n (Nat.lt_succ_diag_r n)) as [F|F]; rewrite F; [left|right|right|left]; ring.
Qed.

Lemma mean_of_margins n net : mean n (margin_at n net) = total_of (neuron_gain n) net.
Proof.
  induction net as [|o net IH].
  - transitivity (mean n (fun _ => 0 * 0 + 0 * 0)); [apply mean_ext; intro; unfold margin_at; simpl; ring|].
    rewrite mean_linear; simpl; ring.
  - change (mean n (fun x => response n (size_of P n) o x * product_over P n x * contrast_of o + margin_at n net x)
      = neuron_gain n o + total_of (neuron_gain n) net).
    rewrite <- IH; unfold neuron_gain; rewrite <- mean_margin.
    rewrite (mean_ext n _ (fun x => contrast_of o *
      (sum n (fun i => pu o i * x i) ^ size_of P n * product_over P n x) + 1 * margin_at n net x))
      by (intro x; unfold response; ring).
    rewrite (mean_linear n (fun x => sum n (fun i => pu o i * x i) ^ size_of P n * product_over P n x)
      (margin_at n net)); ring.
Qed.

Lemma total_cost n net : total_of (neuron_cost n) net = parity_value (size_of P n) * total_norm n (size_of P n) net.
Proof. unfold neuron_cost; rewrite (total_scal (fun o => parity_norm n o ^ (size_of P n + 1))); reflexivity. Qed.

Lemma margin_below_gains n net g : parity_margin_at_least P n (size_of P n) g net ->
  g * total_norm n (size_of P n) net <= total_of (neuron_gain n) net.
Proof.
  intros [_ H]; rewrite <- mean_of_margins; apply mean_at_least; intros x Hx.
  destruct (product_signs n x Hx) as [E|E].
  - rewrite <- (margin_is n net x true E); apply H; assumption.
  - rewrite <- (margin_is n net x false E); apply H; assumption.
Qed.

Lemma parity_upper n net g : parity_margin_at_least P n (size_of P n) g net -> g <= parity_value (size_of P n).
Proof.
  intro H; pose proof (margin_below_gains n net g H) as L; destruct H as [T _].
  pose proof (total_le _ _ net (neuron_bound n)) as U; rewrite total_cost in U.
  apply Rmult_le_reg_r with (total_norm n (size_of P n) net); lra.
Qed.

(** ** The network of all signs *)

Lemma differences_ext u n : forall p q, (forall c, p c = q c) -> differences u n p = differences u n q.
Proof.
  induction n as [|n IH]; intros p q E; simpl; [apply E|]; apply IH; intro c; unfold difference_of, mean_of.
  destruct (P n); rewrite !E; reflexivity.
Qed.

Lemma differences_linear u n : forall p q a b,
  differences u n (fun c => a * p c + b * q c) = a * differences u n p + b * differences u n q.
Proof.
  induction n as [|n IH]; intros p q a b; [reflexivity|]; cbn [differences]; rewrite <- IH; apply differences_ext.
  intro c; unfold difference_of, mean_of; destruct (P n); field.
Qed.

(** A polynomial at - c instead of c: one sign for each place. *)
Lemma differences_opposite u n : forall p,
  differences u n (fun c => p (- c)) = (-1) ^ size_of P n * differences u n p.
Proof.
  induction n as [|n IH]; intro p; [simpl; rewrite Ropp_0; ring|]; cbn [differences size_of]; destruct (P n).
  - rewrite (differences_ext u n _ (fun c => -1 * difference_of p (u n) (- c) + 0 * 0)).
    + rewrite (differences_linear u n (fun c => difference_of p (u n) (- c)) (fun _ => 0)), IH; simpl; ring.
    + intro c; unfold difference_of.
      replace (- (c + u n)) with (- c - u n) by ring; replace (- (c - u n)) with (- c + u n) by ring; field.
  - rewrite <- IH; apply differences_ext; intro c; unfold mean_of.
    replace (- (c + u n)) with (- c - u n) by ring; replace (- (c - u n)) with (- c + u n) by ring; field.
Qed.

(** Signs in the places of the set, zeros elsewhere; and those with 1 in the last place of the set. *)
Fixpoint signings (n : nat) : list (nat -> R) :=
  match n with
  | O => [fun _ => 0]
  | S m => if P m then map (fun s => put s m 1) (signings m) ++ map (fun s => put s m (-1)) (signings m)
           else map (fun s => put s m 0) (signings m)
  end.
Fixpoint half (n : nat) : list (nat -> R) :=
  match n with
  | O => []
  | S m => if P m then map (fun s => put s m 1) (signings m) else map (fun s => put s m 0) (half m)
  end.

Lemma signings_length n : length (signings n) = (2 ^ size_of P n)%nat.
Proof.
  induction n as [|n IH]; [reflexivity|]; cbn [signings size_of]; destruct (P n);
    rewrite ?app_length, !map_length, IH; [simpl; lia|reflexivity].
Qed.

Lemma half_length n : (1 <= size_of P n)%nat -> length (half n) = (2 ^ (size_of P n - 1))%nat.
Proof.
  induction n as [|n IH]; [simpl; lia|]; cbn [half size_of]; destruct (P n); intro H; rewrite map_length.
  - rewrite signings_length; f_equal; lia.
  - apply IH; assumption.
Qed.

Definition unsigned (n : nat) (s : nat -> R) : Prop :=
  sum n (fun i => s i ^ 2) = INR (size_of P n) /\ product_over P n s ^ 2 = 1.

Lemma unsigned_put n s v : unsigned n s -> v ^ 2 = (if P n then 1 else 0) -> unsigned (S n) (put s n v).
Proof.
  intros [H1 H2] V; split.
  - cbn [sum size_of]; rewrite (sum_ext n _ (fun i => s i ^ 2)).
    + unfold put; rewrite Nat.eqb_refl, H1, V; destruct (P n); [rewrite S_INR; reflexivity|ring].
    + intros i Hi; unfold put; destruct (Nat.eqb_spec i n); [lia|reflexivity].
  - rewrite product_put, Rpow_mult_distr, H2; destruct (P n); [rewrite V|]; ring.
Qed.

Lemma signings_unsigned n : forall s, In s (signings n) -> unsigned n s.
Proof.
  induction n as [|n IH]; cbn [signings]; intros s I.
  - destruct I as [<-|[]]; split; simpl; ring.
  - destruct (P n) eqn:E.
    + apply in_app_or in I; destruct I as [I|I]; apply in_map_iff in I; destruct I as [q [<- I]];
        apply unsigned_put; try (apply IH; assumption); rewrite E; ring.
    + apply in_map_iff in I; destruct I as [q [<- I]]; apply unsigned_put; [apply IH; assumption|rewrite E; ring].
Qed.

Lemma half_unsigned n : forall s, In s (half n) -> unsigned n s.
Proof.
  induction n as [|n IH]; cbn [half]; intros s I; [contradiction|].
  destruct (P n) eqn:E; apply in_map_iff in I; destruct I as [q [<- I]]; apply unsigned_put;
    try (rewrite E; ring); [apply signings_unsigned; assumption|apply IH; assumption].
Qed.

(** The sum of p(s.x) times the signs of s. *)
Definition signed (n : nat) (x : nat -> R) (p : R -> R) (s : nat -> R) : R :=
  p (sum n (fun i => s i * x i)) * product_over P n s.

Lemma signed_put n x p s v :
  signed (S n) x p (put s n v) = signed n x (fun c => p (c + v * x n)) s * (if P n then v else 1).
Proof.
  unfold signed; rewrite product_put.
  rewrite (sum_ext (S n) _ (fun i => x i * put s n v i)) by (intros; ring); rewrite sum_put.
  rewrite (sum_ext n (fun i => x i * s i) (fun i => s i * x i)) by (intros; ring).
  replace (x n * v) with (v * x n) by ring; ring.
Qed.

Definition restricted (x : nat -> R) (i : nat) : R := if P i then x i else 0.

Lemma signings_total x n : forall p,
  total_of (signed n x p) (signings n) = INR (2 ^ size_of P n) * differences (restricted x) n p.
Proof.
  induction n as [|n IH]; intro p; [unfold signed; simpl; ring|].
  cbn [signings size_of differences]; destruct (P n) eqn:E.
  - rewrite total_app, !total_map.
    rewrite (total_ext _ (signed n x (fun c => p (c + 1 * x n)))) by (intros; rewrite signed_put, E; ring).
    rewrite (total_ext (fun s => signed (S n) x p (put s n (-1))) (fun s => -1 * signed n x (fun c => p (c + -1 * x n)) s))
      by (intros; rewrite signed_put, E; ring).
    rewrite total_scal, !IH, Nat.pow_succ_r', mult_INR.
    rewrite (differences_ext _ n (difference_of p (restricted x n))
      (fun c => / 2 * p (c + 1 * x n) + - / 2 * p (c + -1 * x n))).
    + rewrite differences_linear; simpl (INR 2); field.
    + intro c; unfold difference_of, restricted; rewrite E, Rmult_1_l; unfold Rminus.
      replace (-1 * x n) with (- x n) by ring; field.
  - rewrite total_map, <- IH; apply total_ext; intros s _; rewrite signed_put, E; unfold signed, mean_of, restricted.
    rewrite E, Rmult_0_l, Rplus_0_r, Rminus_0_r; field.
Qed.

Lemma half_total x n : forall p, (1 <= size_of P n)%nat ->
  (forall c, p (- c) = (-1) ^ size_of P n * p c) ->
  total_of (signed n x p) (half n) = INR (2 ^ (size_of P n - 1)) * differences (restricted x) n p.
Proof.
  induction n as [|n IH]; intros p K S; [simpl in K; lia|].
  cbn [half size_of differences] in *; destruct (P n) eqn:E.
  - rewrite total_map.
    rewrite (total_ext _ (signed n x (fun c => p (c + 1 * x n)))) by (intros; rewrite signed_put, E; ring).
    rewrite signings_total; replace (Datatypes.S (size_of P n) - 1)%nat with (size_of P n) by lia; f_equal.
    set (q := fun c => p (c + 1 * x n)); set (s := (-1) ^ size_of P n).
    assert (s * s = 1) as SS by (unfold s; rewrite <- Rpow_mult_distr; replace (-1 * -1) with 1 by ring; apply pow1).
    transitivity (/ 2 * differences (restricted x) n q + / 2 * s * (s * differences (restricted x) n q)).
    + replace (/ 2 * s * (s * differences (restricted x) n q)) with (/ 2 * (s * s) * differences (restricted x) n q)
        by ring; rewrite SS; field.
    + unfold s at 2; rewrite <- differences_opposite, <- differences_linear; apply differences_ext; intro c.
      unfold difference_of, restricted, q; rewrite E, Rmult_1_l.
      replace (- c + x n) with (- (c - x n)) by ring; rewrite S; simpl; fold s.
      replace (/ 2 * s * (-1 * s * p (c - x n))) with (- / 2 * (s * s) * p (c - x n)) by ring; rewrite SS; field.
  - rewrite total_map.
    rewrite (total_ext _ (signed n x p)).
    + rewrite (IH p K S); f_equal; apply differences_ext; intro c; unfold mean_of, restricted.
      rewrite E, Rplus_0_r, Rminus_0_r; field.
    + intros s _; rewrite signed_put, E; unfold signed; rewrite Rmult_0_l, Rplus_0_r; ring.
Qed.

Definition sign_neuron (n : nat) (s : nat -> R) : parity_neuron :=
  ParityNeuron s (fun c => sign_of c * (product_over P n s / sqrt 2)).
Definition silent_neuron : parity_neuron := ParityNeuron (fun _ => 0) (fun _ => 0).
Definition sign_network (n m : nat) : list parity_neuron :=
  map (sign_neuron n) (half n) ++ repeat silent_neuron (m - length (half n)).

Lemma total_repeat {A} (phi : A -> R) o m : phi o = 0 -> total_of phi (repeat o m) = 0.
Proof. intro H; induction m as [|m IH]; simpl; [reflexivity|rewrite H, IH; ring]. Qed.

Lemma total_const {A} (phi : A -> R) v l : (forall o, In o l -> phi o = v) -> total_of phi l = INR (length l) * v.
Proof.
  induction l as [|o l IH]; intro H; [simpl; ring|]; cbn [total_of length]; rewrite S_INR, IH, H; [ring|left; auto|].
  intros q Hq; apply H; right; assumption.
Qed.

Section Attained.
Variable n : nat.
Hypothesis K : (1 <= size_of P n)%nat.
Local Notation k := (size_of P n).

Lemma root_two : 0 < sqrt 2 /\ sqrt 2 ^ 2 = 2.
Proof. split; [apply sqrt_lt_R0; lra|apply pow2_sqrt; lra]. Qed.

Lemma sign_network_norm m :
  total_norm n k (sign_network n m) = INR (2 ^ (k - 1)) * sqrt (INR (S k)) ^ S k.
Proof.
  unfold total_norm, sign_network; rewrite total_app, total_map, (total_repeat _ silent_neuron).
  - rewrite <- (half_length n K), Rplus_0_r; apply total_const; intros s I.
    destruct (half_unsigned n s I) as [U1 U2], root_two as [R1 R2].
    replace (k + 1)%nat with (S k) by lia; f_equal; unfold parity_norm, weight2; f_equal; simpl pu; simpl pw.
    rewrite U1, S_INR; f_equal.
    replace ((1 * (product_over P n s / sqrt 2)) ^ 2 + (-1 * (product_over P n s / sqrt 2)) ^ 2)
      with (2 * product_over P n s ^ 2 / sqrt 2 ^ 2) by (field; lra); rewrite U2, R2; field.
  - unfold parity_norm, silent_neuron, weight2; simpl pu; simpl pw.
    rewrite (sum_zero n) by (intros; ring).
    replace (0 + (0 ^ 2 + 0 ^ 2)) with 0 by ring; rewrite sqrt_0, pow_i by lia; reflexivity.
Qed.

Lemma sign_network_margin m x : is_signs n x ->
  margin_at n (sign_network n m) x = INR (2 ^ (k - 1)) * (INR (fact k) * sqrt 2).
Proof.
  intro Hx; unfold margin_at, sign_network; rewrite total_app, total_map, (total_repeat _ silent_neuron).
  2:{ unfold contrast_of, silent_neuron; simpl; ring. }
  destruct root_two as [R1 R2].
  rewrite (total_ext _ (fun s => (product_over P n x * sqrt 2) * signed n x (fun c => c ^ k) s)).
  - rewrite total_scal, half_total; [|exact K|].
    + rewrite (differences_of_polynomial _ n 1) by apply polynomial_power.
      rewrite (product_ext n (restricted x) x) by (intros i Hi E; unfold restricted; rewrite E; reflexivity).
      destruct (product_signs n x Hx) as [-> | ->]; ring.
    + intro c; replace (- c) with (-1 * c) by ring; apply Rpow_mult_distr.
  - intros s _; unfold response, contrast_of, signed; simpl pu; simpl pw.
    replace (1 * (product_over P n s / sqrt 2) - -1 * (product_over P n s / sqrt 2))
      with (product_over P n s * sqrt 2 * (2 / sqrt 2 ^ 2)) by (field; lra); rewrite R2; field.
Qed.

Lemma parity_lower m : (2 ^ (k - 1) <= m)%nat ->
  length (sign_network n m) = m /\ parity_margin_at_least P n k (parity_value k) (sign_network n m).
Proof.
  intro Hm; split.
  - unfold sign_network; rewrite app_length, map_length, repeat_length, half_length by exact K; lia.
  - assert (0 < INR (S k)) as PK by (apply lt_0_INR; lia); pose proof (sqrt_lt_R0 _ PK) as PS.
    assert (0 < INR (2 ^ (k - 1))) as P2 by (apply lt_0_INR, Nat.neq_0_lt_0, Nat.pow_nonzero; lia).
    split; [rewrite sign_network_norm; apply Rmult_lt_0_compat; [assumption|apply pow_lt; assumption]|].
    intros x c Hx E; rewrite (margin_is n _ x c E), sign_network_margin, sign_network_norm by assumption.
    right; unfold parity_value; replace (k + 1)%nat with (S k) by lia.
    rewrite sqrt_div_alt by (apply pow_lt; assumption).
    replace (sqrt (INR (S k) ^ S k)) with (sqrt (INR (S k)) ^ S k).
    + field; apply pow_nonzero; lra.
    + symmetry; apply sqrt_lem_1; [apply pow_le; lra|apply pow_le; lra|].
      rewrite <- Rpow_mult_distr, sqrt_sqrt by lra; reflexivity.
Qed.

End Attained.
End Set_of_places.

(** ** The theorem *)

Theorem sparse_parity P n k m : size_of P n = k -> (1 <= k)%nat -> (2 ^ (k - 1) <= m)%nat ->
  (exists net, length net = m /\ parity_margin_at_least P n k (parity_value k) net) /\
  (forall net g, parity_margin_at_least P n k g net -> g <= parity_value k).
Proof.
  intros <- K M; split; [|apply parity_upper].
  exists (sign_network P n m); apply parity_lower; assumption.
Qed.

Theorem sparse_parity_neurons P n k net : size_of P n = k -> (1 <= k)%nat ->
  parity_margin_at_least P n k (parity_value k) net -> forall o, In o net ->
  ((exists i, (i < n)%nat /\ pu o i <> 0) ->
   (forall i, (i < n)%nat -> (pu o i <> 0 <-> P i = true)) /\
   pw o true = - pw o false /\
   (forall i, (i < n)%nat -> P i = true -> Rabs (pu o i) = sqrt (pw o true ^ 2 + pw o false ^ 2))) /\
  0 <= product_over P n (pu o) * (pw o true - pw o false).
Proof.
  intros <- K H o I; pose proof (margin_below_gains P n net _ H) as L.
  assert (neuron_gain P n o = neuron_cost P n o) as E.
  { apply (total_equal (neuron_gain P n) (neuron_cost P n) net (neuron_bound P n)); [rewrite total_cost|]; assumption. }
  split.
  - intros [i [Hi Ni]]; destruct (neuron_equal P n o K E) as [Z|[E1 [E2 E3]]]; [destruct Ni; apply Z; assumption|].
    split; [|split; assumption]; intros j Hj; split; intro Q.
    + destruct (P j) eqn:F; [reflexivity|]; destruct Q; apply E1; assumption.
    + intro Z; pose proof (E3 j Hj Q) as R0; rewrite Z, Rabs_R0 in R0.
      destruct (P i) eqn:F; [|destruct Ni; apply E1; assumption].
      destruct Ni; pose proof (E3 i Hi F) as Ri; rewrite <- R0 in Ri.
      destruct (Req_dec (pu o i) 0) as [|N]; [assumption|destruct (Rabs_no_R0 _ N); assumption].
  - pose proof (cost_nonneg P n o) as C; rewrite <- E in C; unfold neuron_gain, contrast_of in C.
    assert (0 < INR (fact (size_of P n))) as F by (apply lt_0_INR, lt_O_fact).
    apply (Rmult_le_reg_l _ _ _ F); lra.
Qed.
