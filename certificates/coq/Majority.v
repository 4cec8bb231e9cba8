(** The Fourier coefficients of majority, for every odd number of bits.

    The inputs are the sign vectors x of length n = 2M + 1, as in [Parity.v].
    [coefficient P n] is the mean of the sign of the sum of all x_i times the
    product of the x_i with i in P.

    [majority_coefficient]: its value at a set of 2j + 1 places, by binomial
    coefficients; [majority_even]: it is 0 at sets of an even number of places.
    [majority_ratio]: at k + 1 places it is -(k-1)/(n-k) times that at k - 1
    places, for even k < n, and its square is at most 4 k^2/n^2 times as large
    for n >= 2k.  [majority_gap]: for n >= 4k the coefficient at k - 1 places is
    larger, in size, than that at k + 1 places by (n-1)^(-(k-1)/2)/2 at least.

    How: the coefficient is a difference in each place of P and a mean in all
    others of the sign ([mean_differences]), so a difference of the function
    that is 1 at 0 only; multiplication by c has commutators with differences
    and means ([mixed_times]) and annihilates that function. *)

From Coq Require Import Reals List Lra Lia Arith Bool ZArith FunctionalExtensionality.
From Lemmata Require Import Statement Sums Parity.
Local Open Scope R_scope.

(** ** What is claimed *)

Definition sign_or_zero (t : R) : R := if Rlt_dec 0 t then 1 else if Rlt_dec t 0 then -1 else 0.
Definition fourier_coefficient (P : places) (n : nat) : R := mean n (fun x => sign_or_zero (sum n x) * product_over P n x).

(** ** Differences and means with the step 1 *)

Definition diff (p : R -> R) : R -> R := difference_of p 1.
Definition aver (p : R -> R) : R -> R := mean_of p 1.
Fixpoint means (b : nat) (p : R -> R) : R -> R := match b with O => p | S b => means b (aver p) end.
Fixpoint mixed (a b : nat) (p : R -> R) : R -> R := match a with O => means b p | S a => mixed a b (diff p) end.

Lemma diff_aver p : diff (aver p) = aver (diff p).
Proof.
  apply functional_extensionality; intro c; unfold diff, aver, difference_of, mean_of.
  replace (c + 1 - 1) with c by ring; replace (c - 1 + 1) with c by ring; field.
Qed.
Lemma mixed_aver a : forall b p, mixed a b (aver p) = mixed a (S b) p.
Proof. induction a as [|a IH]; intros b p; [reflexivity|]; simpl; rewrite diff_aver, IH; reflexivity. Qed.

Lemma mixed_linear a : forall b p q c, mixed a b (fun c => p c + q c) c = mixed a b p c + mixed a b q c.
Proof.
  assert (M : forall b p q c, means b (fun c => p c + q c) c = means b p c + means b q c).
  { induction b as [|b IH]; intros p q c; simpl; [reflexivity|]; rewrite <- IH; f_equal.
    apply functional_extensionality; intro t; unfold aver, mean_of; field. }
  induction a as [|a IH]; intros b p q c; simpl; [apply M|]; rewrite <- IH; f_equal.
  apply functional_extensionality; intro t; unfold diff, difference_of; field.
Qed.
Lemma mixed_zero a : forall b c, mixed a b (fun _ => 0) c = 0.
Proof.
  intros b c; pose proof (mixed_linear a b (fun _ => 0) (fun _ => 0) c) as H; cbv beta in H.
  replace (fun _ : R => 0 + 0) with (fun _ : R => 0) in H by (apply functional_extensionality; intro; ring); lra.
Qed.

(** Multiplication by c. *)
Definition times_argument (p : R -> R) : R -> R := fun c => c * p c.
Lemma aver_times p : aver (times_argument p) = fun c => times_argument (aver p) c + diff p c.
Proof. apply functional_extensionality; intro c; unfold aver, diff, times_argument, mean_of, difference_of; field. Qed.
Lemma diff_times p : diff (times_argument p) = fun c => times_argument (diff p) c + aver p c.
Proof. apply functional_extensionality; intro c; unfold aver, diff, times_argument, mean_of, difference_of; field. Qed.

Lemma mixed_times a : forall b p c, mixed a b (times_argument p) c
  = c * mixed a b p c + INR a * mixed (a - 1) (S b) p c + INR b * mixed (S a) (b - 1) p c.
Proof.
  induction a as [|a IH].
  - induction b as [|b IH]; intros p c; [simpl; unfold times_argument; ring|].
    change (mixed 0 (S b) (times_argument p)) with (mixed 0 b (aver (times_argument p))); rewrite aver_times, mixed_linear, IH.
    rewrite !mixed_aver, Nat.sub_succ, Nat.sub_0_r, (S_INR b); simpl (INR 0); destruct b as [|b]; [simpl; ring|].
    rewrite Nat.sub_succ, Nat.sub_0_r; change (mixed 0 (S b) (diff p) c) with (mixed 1 (S b) p c); ring.
  - intros b p c; change (mixed (S a) b (times_argument p)) with (mixed a b (diff (times_argument p))).
    rewrite diff_times, mixed_linear, IH, mixed_aver, Nat.sub_succ, Nat.sub_0_r, (S_INR a).
    change (mixed a b (diff p) c) with (mixed (S a) b p c).
    change (mixed (S a) (b - 1) (diff p) c) with (mixed (S (S a)) (b - 1) p c).
    destruct a as [|a]; [simpl (INR 0); ring|].
    rewrite Nat.sub_succ, Nat.sub_0_r; change (mixed a (S b) (diff p) c) with (mixed (S a) (S b) p c); ring.
Qed.

(** ** The function that is 1 at 0 only *)

Definition spike (c : R) : R := if Req_EM_T c 0 then 1 else 0.
Definition mixed_value (a b : nat) : R := mixed a b spike 0.

Lemma value_step a b : INR (S b) * mixed_value (S (S a)) b = - (INR (S a) * mixed_value a (S (S b))).
Proof.
  pose proof (mixed_times (S a) (S b) spike 0) as H; rewrite !Nat.sub_succ, !Nat.sub_0_r in H.
  replace (times_argument spike) with (fun _ : R => 0) in H.
  - rewrite mixed_zero in H; unfold mixed_value; lra.
  - apply functional_extensionality; intro c; unfold times_argument, spike; destruct (Req_EM_T c 0) as [E|E]; [rewrite E|]; ring.
Qed.

Lemma value_means b : mixed_value 0 (S (S b)) = INR (S b) / INR (S (S b)) * mixed_value 0 b.
Proof.
  assert (H : mixed_value 0 (S (S b)) = mixed_value 0 b + mixed_value 2 b).
  { unfold mixed_value; simpl; pose proof (mixed_linear 0 b spike (diff (diff spike)) 0) as L; simpl in L; rewrite <- L.
    f_equal; apply functional_extensionality; intro c; unfold aver, diff, mean_of, difference_of.
    replace (c + 1 - 1) with c by ring; replace (c - 1 + 1) with c by ring; field. }
  pose proof (value_step 0 b) as E; rewrite !S_INR in *; simpl (INR 0) in E; pose proof (pos_INR b).
  apply (Rmult_eq_reg_l (INR b + 1 + 1)); [|lra]; field_simplify; [|lra]; nra.
Qed.

(** ** Parity: what is never looked at *)

Definition agree_at (e : bool) (p q : R -> R) : Prop := forall z, Z.even z = e -> p (IZR z) = q (IZR z).

Lemma agree_step e p q : agree_at e p q -> agree_at (negb e) (diff p) (diff q) /\ agree_at (negb e) (aver p) (aver q).
Proof.
  intro H; assert (T : forall z, Z.even z = negb e -> p (IZR z + 1) = q (IZR z + 1) /\ p (IZR z - 1) = q (IZR z - 1)).
  { intros z Z; rewrite <- plus_IZR, <- minus_IZR; split; apply H.
    - rewrite Z.even_add, Z; destruct e; reflexivity.
    - rewrite Z.even_sub, Z; destruct e; reflexivity. }
  split; intros z Z; destruct (T z Z) as [A B]; unfold diff, aver, difference_of, mean_of; rewrite A, B; reflexivity.
Qed.
Lemma mixed_agree a : forall b e p q, agree_at e p q -> agree_at (xorb e (Nat.odd (a + b))) (mixed a b p) (mixed a b q).
Proof.
  assert (X : forall e m, xorb (negb e) (Nat.odd m) = xorb e (Nat.odd (S m))).
  { intros e m; rewrite Nat.odd_succ, <- Nat.negb_odd; destruct e, (Nat.odd m); reflexivity. }
  assert (M : forall b e p q, agree_at e p q -> agree_at (xorb e (Nat.odd b)) (means b p) (means b q)).
  { induction b as [|b IH]; intros e p q H; [simpl; rewrite xorb_false_r; exact H|].
    rewrite <- X; apply IH, agree_step, H. }
  induction a as [|a IH]; intros b e p q H; [apply M, H|].
  rewrite Nat.add_succ_l, <- X; apply IH, agree_step, H.
Qed.

Lemma spike_of_sign : agree_at true (diff sign_or_zero) spike.
Proof.
  intros z E; unfold diff, difference_of, spike, sign_or_zero.
  destruct (Req_EM_T (IZR z) 0) as [Z|Z].
  - rewrite Z; destruct (Rlt_dec 0 (0 + 1)), (Rlt_dec 0 (0 - 1)), (Rlt_dec (0 - 1) 0); lra.
  - assert (L : IZR z <= -2 \/ 2 <= IZR z).
    { destruct (Z.eq_dec z 1) as [A|A]; [subst z; discriminate E|]; destruct (Z.eq_dec z (-1)) as [B|B]; [subst z;
      discriminate E|].
      destruct (Z.eq_dec z 0) as [C|C]; [subst z; contradiction|].
      destruct (Z.lt_total z 0) as [D|[D|D]]; [left|contradiction|right]; apply IZR_le; lia. }
    destruct (Rlt_dec 0 (IZR z + 1)), (Rlt_dec (IZR z + 1) 0), (Rlt_dec 0 (IZR z - 1)), (Rlt_dec (IZR z - 1) 0); lra.
Qed.

Lemma size_le P n : (size_of P n <= n)%nat.
Proof. induction n as [|n IH]; simpl; [lia|destruct (P n); lia]. Qed.

Lemma coefficient_mixed P n : fourier_coefficient P n = mixed (size_of P n) (n - size_of P n) sign_or_zero 0.
Proof.
  unfold fourier_coefficient; rewrite (mean_ext n _ (fun x => sign_or_zero (sum n (fun i => 1 * x i)) * product_over P n x)).
  2: { intro x; do 2 f_equal; apply sum_ext; intros; ring. }
  rewrite (mean_differences P (fun _ => 1)); generalize sign_or_zero; induction n as [|n IH]; intro p; [reflexivity|].
  pose proof (size_le P n) as L; cbn [differences size_of]; destruct (P n); rewrite IH.
  - rewrite Nat.sub_succ; reflexivity.
  - change (mean_of p 1) with (aver p); rewrite mixed_aver, Nat.sub_succ_l by exact L; reflexivity.
Qed.

Lemma coefficient_value P n k : Nat.odd n = true -> size_of P n = S k -> fourier_coefficient P n = mixed_value k (n - S k).
Proof.
  intros O H; rewrite coefficient_mixed, H; pose proof (size_le P n) as L; rewrite H in L.
  unfold mixed_value; change (mixed (S k) ?b sign_or_zero) with (mixed k b (diff sign_or_zero)).
  apply (mixed_agree k (n - S k) true _ _ spike_of_sign 0%Z); replace (k + (n - S k))%nat with (n - 1)%nat by lia.
  destruct n as [|n]; [lia|]; rewrite Nat.sub_succ, Nat.sub_0_r; rewrite Nat.odd_succ in O.
  rewrite <- Nat.negb_even, O; reflexivity.
Qed.

(** Even functions, [true], and odd ones. *)
Definition even_or_odd (e : bool) (p : R -> R) : Prop := forall c, p (- c) = (if e then 1 else -1) * p c.
Lemma symmetric_mixed a : forall b e p, even_or_odd e p -> even_or_odd (xorb e (Nat.odd a)) (mixed a b p).
Proof.
  assert (D : forall e p, even_or_odd e p -> even_or_odd (negb e) (diff p) /\ even_or_odd e (aver p)).
  { intros e p H; split; intro c; unfold diff, aver, difference_of, mean_of;
      replace (- c + 1) with (- (c - 1)) by ring; replace (- c - 1) with (- (c + 1)) by ring; rewrite !H; destruct e;
        simpl; field. }
  assert (M : forall b e p, even_or_odd e p -> even_or_odd e (means b p)).
  { induction b as [|b IH]; intros e p H; [exact H|]; apply IH, D, H. }
  induction a as [|a IH]; intros b e p H; [simpl; rewrite xorb_false_r; apply M, H|].
  replace (xorb e (Nat.odd (S a))) with (xorb (negb e) (Nat.odd a)); [apply IH, D, H|].
  rewrite Nat.odd_succ, <- Nat.negb_odd; destruct e, (Nat.odd a); reflexivity.
Qed.

(** ** The theorems *)

Theorem majority_even P n : Nat.even (size_of P n) = true -> fourier_coefficient P n = 0.
Proof.
  intro E; rewrite coefficient_mixed.
  assert (S : even_or_odd false sign_or_zero).
  { intro c; unfold sign_or_zero; destruct (Rlt_dec 0 (- c)), (Rlt_dec (- c) 0), (Rlt_dec 0 c), (Rlt_dec c 0); lra. }
  pose proof (symmetric_mixed (size_of P n) (n - size_of P n) false sign_or_zero S 0) as H.
  rewrite <- Nat.negb_even, E, Ropp_0 in H; simpl in H; lra.
Qed.

Theorem majority_ratio P Q n k : Nat.odd n = true -> Nat.even k = true -> (1 <= k < n)%nat ->
  size_of P n = (k + 1)%nat -> size_of Q n = (k - 1)%nat ->
  fourier_coefficient P n = - (INR (k - 1) / INR (n - k)) * fourier_coefficient Q n /\
  ((2 * k <= n)%nat -> fourier_coefficient P n ^ 2 <= 4 * INR k ^ 2 / INR n ^ 2 * fourier_coefficient Q n ^ 2).
Proof.
  intros O E K HP HQ; destruct k as [|[|k]]; [lia|discriminate E|].
  assert (R : fourier_coefficient P n = - (INR (S (S k) - 1) / INR (n - S (S k))) * fourier_coefficient Q n).
  { rewrite (coefficient_value P n (S (S k)) O), (coefficient_value Q n k O) by lia.
    pose proof (value_step k (n - S (S (S k)))) as H; replace (S (n - S (S (S k)))) with (n - S (S k))%nat in H by lia.
    replace (S (n - S (S k))) with (n - S k)%nat in H by lia; simpl (S (S k) - 1)%nat.
    apply (Rmult_eq_reg_l (INR (n - S (S k)))); [|apply not_0_INR; lia].
    rewrite H; field; apply not_0_INR; lia. }
  split; [exact R|]; intro L; rewrite R, Rpow_mult_distr; apply Rmult_le_compat_r; [apply pow2_ge_0|].
  assert (A : 0 < INR (n - S (S k))) by (apply lt_0_INR; lia); assert (B : 0 < INR n) by (apply lt_0_INR; lia).
  replace ((- (INR (S (S k) - 1) / INR (n - S (S k)))) ^ 2) with ((INR (S (S k) - 1) / INR (n - S (S k))) ^ 2) by ring.
  replace (4 * INR (S (S k)) ^ 2 / INR n ^ 2) with ((INR (S (S k)) * 2 / INR n) ^ 2) by (field; lra).
  apply pow_incr; split; [apply Rmult_le_pos; [apply pos_INR|left; apply Rinv_0_lt_compat, A]|].
  apply (Rmult_le_reg_r (INR n * INR (n - S (S k)))); [apply Rmult_lt_0_compat; assumption|].
  replace (INR (S (S k) - 1) / INR (n - S (S k)) * (INR n * INR (n - S (S k)))) with (INR (S (S k) - 1) * INR n)
    by (field; lra).
  replace (INR (S (S k)) * 2 / INR n * (INR n * INR (n - S (S k)))) with (INR (S (S k)) * (2 * INR (n - S (S k))))
    by (field; lra).
  apply Rmult_le_compat; try apply pos_INR; [apply le_INR; lia|].
  replace 2 with (INR 2) by (simpl; ring); rewrite <- mult_INR; apply le_INR; lia.
Qed.

(** The central binomial coefficient over 4^M. *)
Lemma value_central M : mixed_value 0 (2 * M) = C (2 * M) M / 2 ^ (2 * M).
Proof.
  induction M as [|M IH].
  - unfold mixed_value, spike, C; simpl; destruct (Req_EM_T 0 0) as [E|E]; [field|contradiction].
  - replace (2 * S M)%nat with (S (S (2 * M))) by lia; rewrite value_means, IH; unfold C.
    replace (S (S (2 * M)) - S M)%nat with (S M) by lia; replace (2 * M - M)%nat with M by lia.
    rewrite !fact_simpl, !mult_INR; simpl pow; rewrite !S_INR, mult_INR; simpl (INR 2).
    pose proof (pos_INR M); assert (F : INR (fact M) <> 0) by apply INR_fact_neq_0.
    assert (2 ^ (M + (M + 0)) <> 0) by (apply pow_nonzero; lra).
    field; repeat split; try assumption; lra.
Qed.

Theorem majority_coefficient P M j : size_of P (2 * M + 1) = (2 * j + 1)%nat ->
  fourier_coefficient P (2 * M + 1) = (-1) ^ j * (C M j / C (2 * M) (2 * j)) * (C (2 * M) M / 2 ^ (2 * M)).
Proof.
  intro H; pose proof (size_le P (2 * M + 1)) as L; rewrite H in L.
  rewrite (coefficient_value P _ (2 * j)); [|rewrite Nat.add_1_r, Nat.odd_succ, Nat.even_mul; reflexivity|lia].
  replace (2 * M + 1 - S (2 * j))%nat with (2 * (M - j))%nat by lia; assert (J : (j <= M)%nat) by lia; clear H L.
  induction j as [|j IH].
  - change (2 * 0)%nat with O; rewrite Nat.sub_0_r, value_central; unfold C; rewrite !Nat.sub_0_r; simpl (fact 0).
    simpl ((-1) ^ 0); simpl (INR 1).
    assert (N : forall m, INR (fact m) <> 0) by apply INR_fact_neq_0.
    assert (2 ^ (2 * M) <> 0) by (apply pow_nonzero; lra); field; repeat split; try apply N; assumption.
  - specialize (IH ltac:(lia)); replace (2 * S j)%nat with (S (S (2 * j))) by lia.
    pose proof (value_step (2 * j) (2 * (M - S j))) as S'.
    replace (S (S (2 * (M - S j)))) with (2 * (M - j))%nat in S' by lia; rewrite IH in S'.
    apply (Rmult_eq_reg_l (INR (S (2 * (M - S j))))); [|apply not_0_INR; lia]; rewrite S'; clear S' IH.
    generalize (C (2 * M) M / 2 ^ (2 * M)); intro central.
    unfold C; set (d := (M - S j)%nat); replace M with (S j + d)%nat by (unfold d; lia).
    replace (S j + d - j)%nat with (S d) by lia; replace (S j + d - S j)%nat with d by lia.
    replace (2 * (S j + d) - 2 * j)%nat with (S (S (2 * d))) by lia.
    replace (2 * (S j + d) - S (S (2 * j)))%nat with (2 * d)%nat by lia.
    assert (N : forall m, INR (fact m) <> 0) by apply INR_fact_neq_0.
    pose proof (N (S j + d)%nat); pose proof (N (2 * (S j + d))%nat); generalize dependent (fact (S j + d)).
    generalize dependent (fact (2 * (S j + d))); intros f F g G.
    rewrite (fact_simpl (S (2 * d))), (fact_simpl (2 * d)), (fact_simpl d), (fact_simpl (S (2 *
      j))), (fact_simpl (2 * j)).
    rewrite (fact_simpl j), !mult_INR, !S_INR, !mult_INR; simpl pow; simpl (INR 2).
    pose proof (pos_INR j); pose proof (pos_INR d).
    field; repeat split; try apply N; lra.
Qed.

(** ** The gap *)

Lemma central_positive M : 0 < mixed_value 0 (2 * M).
Proof.
  induction M as [|M IH]; [unfold mixed_value, spike; simpl; destruct (Req_EM_T 0 0); lra|].
  replace (2 * S M)%nat with (S (S (2 * M))) by lia; rewrite value_means; apply Rmult_lt_0_compat; [|exact IH].
  apply Rdiv_lt_0_compat; apply lt_0_INR; lia.
Qed.
Lemma central_bound M : (2 <= M)%nat -> 9 / 16 <= 2 * INR M * mixed_value 0 (2 * M) ^ 2.
Proof.
  intro H; induction H as [|M H IH].
  - change (2 * 2)%nat with 4%nat; rewrite !value_means; unfold mixed_value, spike; simpl; destruct (Req_EM_T 0 0); lra.
  - replace (2 * S M)%nat with (S (S (2 * M))) by lia; rewrite value_means.
    rewrite !S_INR, mult_INR; simpl (INR 2); pose proof (le_INR 2 M H) as L; simpl (INR 2) in L.
    set (m := INR M) in *; set (v := mixed_value 0 (2 * M)) in *.
    apply Rle_trans with (2 * m * v ^ 2); [exact IH|].
    replace (2 * (m + 1) * (((1 + 1) * m + 1) / ((1 + 1) * m + 1 + 1) * v) ^ 2)
      with ((2 * m + 1) ^ 2 / (2 * m + 2) * v ^ 2) by (field; lra).
    apply Rmult_le_compat_r; [apply pow2_ge_0|]; apply (Rmult_le_reg_r (2 * m + 2)); [lra|].
    replace ((2 * m + 1) ^ 2 / (2 * m + 2) * (2 * m + 2)) with ((2 * m + 1) ^ 2) by (field; lra); nra.
Qed.

Lemma value_size M j : (j < M)%nat -> Rabs (mixed_value (2 * j) (2 * (M - j))) >= mixed_value 0 (2 * M) / (2 * INR M) ^ j.
Proof.
  intro J; induction j as [|j IH]; [rewrite Nat.sub_0_r; simpl; rewrite Rabs_right; [lra|left;
    apply central_positive]|].
  specialize (IH ltac:(lia)); pose proof (value_step (2 * j) (2 * (M - S j))) as S'.
  replace (S (S (2 * (M - S j)))) with (2 * (M - j))%nat in S' by lia;
    replace (2 * S j)%nat with (S (S (2 * j))) by lia.
  apply (f_equal Rabs) in S'; rewrite Rabs_Ropp, !Rabs_mult, !(Rabs_right (INR _)) in S' by (apply Rle_ge, pos_INR).
  set (a := Rabs (mixed_value (S (S (2 * j))) _)) in *; set (b := Rabs (mixed_value (2 * j) _)) in *.
  assert (P : 0 < 2 * INR M) by (apply Rmult_lt_0_compat; [lra|apply lt_0_INR; lia]).
  assert (D : 0 < INR (S (2 * (M - S j)))) by (apply lt_0_INR; lia).
  assert (DM : INR (S (2 * (M - S j))) <= 2 * INR M).
  { replace 2 with (INR 2) by (simpl; ring); rewrite <- mult_INR; apply le_INR; lia. }
  assert (O : 1 <= INR (S (2 * j))) by (rewrite S_INR; pose proof (pos_INR (2 * j)); lra).
  assert (A : 0 <= a) by apply Rabs_pos; assert (B : 0 <= b) by apply Rabs_pos.
  assert (E : mixed_value 0 (2 * M) / (2 * INR M) ^ S j = mixed_value 0 (2 * M) / (2 * INR M) ^ j / (2 * INR M)).
  { simpl pow; field; split; [apply pow_nonzero|]; lra. }
  rewrite E; apply Rle_ge, (Rmult_le_reg_r (2 * INR M)); [exact P|].
  replace (mixed_value 0 (2 * M) / (2 * INR M) ^ j / (2 * INR M) * (2 * INR M)) with (mixed_value 0 (2 * M) / (2 * INR M) ^ j)
    by (field; split; [apply pow_nonzero|]; lra).
  apply Rle_trans with b; [lra|]; nra.
Qed.

Theorem majority_gap P Q n k : Nat.odd n = true -> Nat.even k = true -> (1 <= k)%nat -> (4 * k <= n)%nat ->
  size_of P n = (k + 1)%nat -> size_of Q n = (k - 1)%nat ->
  1 / 2 / sqrt ((INR n - 1) ^ (k - 1)) <= Rabs (fourier_coefficient Q n) - Rabs (fourier_coefficient P n).
Proof.
  intros O E K L HP HQ; destruct (majority_ratio P Q n k O E ltac:(lia) HP HQ) as [R _].
  apply Nat.odd_spec in O; destruct O as [M O]; apply Nat.even_spec in E; destruct E as [[|j] E]; [lia|].
  assert (V : fourier_coefficient Q n = mixed_value (2 * j) (2 * (M - j))).
  { rewrite (coefficient_value Q n (2 * j)); [f_equal; lia|apply Nat.odd_spec; exists M; exact O|lia]. }
  pose proof (value_size M j ltac:(lia)) as S; rewrite <- V in S.
  pose proof (central_bound M ltac:(lia)) as B; pose proof (central_positive M) as C0.
  assert (Y : 0 < 2 * INR M) by (apply Rmult_lt_0_compat; [lra|apply lt_0_INR; lia]).
  assert (T : sqrt ((INR n - 1) ^ (k - 1)) = (2 * INR M) ^ j * sqrt (2 * INR M)).
  { replace (INR n - 1) with (2 * INR M) by (rewrite O, plus_INR, mult_INR; simpl; ring).
    replace (k - 1)%nat with (j + j + 1)%nat by lia; rewrite !pow_add, pow_1, sqrt_mult, sqrt_square; try lra.
    - apply pow_le; lra.
    - apply Rmult_le_pos; apply pow_le; lra. }
  assert (Z : 3 / 4 <= mixed_value 0 (2 * M) * sqrt (2 * INR M)).
  { apply Rsqr_incr_0; [|lra|apply Rmult_le_pos; [lra|apply sqrt_pos]].
    unfold Rsqr; replace (mixed_value 0 (2 * M) * sqrt (2 * INR M) * (mixed_value 0 (2 * M) * sqrt (2 * INR M)))
      with (mixed_value 0 (2 * M) ^ 2 * (sqrt (2 * INR M) * sqrt (2 * INR M))) by ring; rewrite sqrt_sqrt by lra; lra. }
  assert (X : 0 < (2 * INR M) ^ j) by (apply pow_lt; exact Y);
    assert (W : 0 < sqrt (2 * INR M)) by (apply sqrt_lt_R0, Y).
  assert (D : 0 < INR (n - k)) by (apply lt_0_INR; lia).
  assert (F : 3 * INR (k - 1) <= INR (n - k)).
  { replace 3 with (INR 3) by (simpl; ring); rewrite <- mult_INR; apply le_INR; lia. }
  rewrite R, Rabs_mult, Rabs_Ropp; set (c := Rabs (fourier_coefficient Q n)) in *.
  rewrite (Rabs_right (_ / _)) by (apply Rle_ge, Rmult_le_pos; [apply pos_INR|left; apply Rinv_0_lt_compat, D]).
  assert (G : INR (k - 1) / INR (n - k) <= / 3).
  { apply (Rmult_le_reg_r (INR (n - k))); [exact D|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra. }
  assert (C1 : 3 / 4 / ((2 * INR M) ^ j * sqrt (2 * INR M)) <= c).
  { apply Rle_trans with (mixed_value 0 (2 * M) / (2 * INR M) ^ j); [|lra].
    apply (Rmult_le_reg_r ((2 * INR M) ^ j * sqrt (2 * INR M))); [apply Rmult_lt_0_compat; assumption|].
    replace (3 / 4 / ((2 * INR M) ^ j * sqrt (2 * INR M)) * ((2 * INR M) ^ j * sqrt (2 * INR M))) with (3 / 4)
      by (field; lra).
    replace (mixed_value 0 (2 * M) / (2 * INR M) ^ j * ((2 * INR M) ^ j * sqrt (2 * INR M)))
      with (mixed_value 0 (2 * M) * sqrt (2 * INR M)) by (field; lra); exact Z. }
  rewrite T; assert (C2 : 0 <= c) by apply Rabs_pos; set (t := (2 * INR M) ^ j * sqrt (2 * INR M)) in *.
  unfold Rdiv in C1 |- *; pose proof (Rmult_le_compat_r c _ _ C2 G); unfold Rdiv in *; lra.
Qed.
