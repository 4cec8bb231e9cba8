(** Groups in which every square is the unit: k bits with exclusive or.

    The characters are the signs (-1)^(number of common bits), of degree 1 and
    so many that they are complete.  [exclusive_or]: the maximum margin is
    2 (3n)^(-3/2) n/(n-1), n = 2^k, for every k >= 1: the bound of
    EveryGroup.v is attained for these groups. *)

From Coq Require Import Reals List Lra Lia Arith.
From Lemmata Require Import Statement Sums Groups EveryGroup Representations Universal.
Local Open Scope R_scope.

(** ** Bits *)

Lemma halves : forall r q, (r < 2)%nat -> ((r + 2 * q) mod 2 = r /\ (r + 2 * q) / 2 = q)%nat.
Proof.
  intros r q H; split.
  - symmetry; apply Nat.mod_unique with q; lia.
  - symmetry; apply Nat.div_unique with r; lia.
Qed.

Lemma two_halves : forall a, (a = a mod 2 + 2 * (a / 2))%nat.
Proof. intro a; pose proof (Nat.div_mod a 2 ltac:(lia)); lia. Qed.

Lemma bit_below : forall a, (a mod 2 < 2)%nat.
Proof. intro a; apply Nat.mod_upper_bound; lia. Qed.

Lemma half_below : forall a k, (a < 2 ^ S k)%nat -> (a / 2 < 2 ^ k)%nat.
Proof. intros a k H; apply Nat.div_lt_upper_bound; [lia|]; rewrite Nat.pow_succ_r' in H; lia. Qed.

Fixpoint xor (k a b : nat) : nat :=
  match k with
  | O => O
  | S m => ((a + b) mod 2 + 2 * xor m (a / 2) (b / 2))%nat
  end.

Lemma xor_bit : forall k a b, (xor (S k) a b mod 2 = (a + b) mod 2)%nat.
Proof. intros; apply halves, bit_below. Qed.

Lemma xor_half : forall k a b, (xor (S k) a b / 2 = xor k (a / 2) (b / 2))%nat.
Proof. intros; apply halves, bit_below. Qed.

Lemma xor_below : forall k a b, (xor k a b < 2 ^ k)%nat.
Proof.
  induction k as [|k IH]; intros a b; [simpl; lia|].
  rewrite Nat.pow_succ_r'; cbn [xor]; pose proof (bit_below (a + b)); pose proof (IH (a / 2)%nat (b / 2)%nat); lia.
Qed.

Lemma xor_assoc : forall k a b c, xor k a (xor k b c) = xor k (xor k a b) c.
Proof.
  induction k as [|k IH]; intros a b c; [reflexivity|].
  change (((a + xor (S k) b c) mod 2 + 2 * xor k (a / 2) (xor (S k) b c / 2)
    = (xor (S k) a b + c) mod 2 + 2 * xor k (xor (S k) a b / 2) (c / 2))%nat).
  rewrite !xor_half, IH; f_equal.
  rewrite <- Nat.add_mod_idemp_r, xor_bit, Nat.add_mod_idemp_r by lia.
  rewrite <- (Nat.add_mod_idemp_l (xor (S k) a b)), xor_bit, Nat.add_mod_idemp_l by lia.
  f_equal; lia.
Qed.

Lemma xor_zero : forall k a, (a < 2 ^ k)%nat -> xor k 0 a = a.
Proof.
  induction k as [|k IH]; intros a H; [simpl in *; lia|].
  cbn [xor]; change (0 / 2)%nat with 0%nat; rewrite IH by (apply half_below; assumption).
  symmetry; apply two_halves.
Qed.

Lemma xor_same : forall k a, xor k a a = 0%nat.
Proof.
  induction k as [|k IH]; intro a; [reflexivity|]; cbn [xor]; rewrite IH.
  replace (a + a)%nat with (a * 2)%nat by lia; rewrite Nat.mod_mul by lia; reflexivity.
Qed.

Definition bits (k : nat) : group := Group (2 ^ k) (xor k) 0 (fun a => a).

Lemma bits_is_group : forall k, is_group (bits k).
Proof.
  intro k; split; unfold below; cbn [bits order op unit inv]; intros.
  - pose proof (Nat.pow_nonzero 2 k); lia.
  - apply xor_below.
  - assumption.
  - apply xor_assoc.
  - apply xor_zero; assumption.
  - apply xor_same.
Qed.

(** ** Signs *)

(** -1 if both numbers are odd. *)
Definition bit_sign (a b : nat) : R := 1 - 2 * (INR (a mod 2) * INR (b mod 2)).

Fixpoint walsh (k s g : nat) : R :=
  match k with
  | O => 1
  | S m => bit_sign s g * walsh m (s / 2) (g / 2)
  end.

Lemma bit_cases : forall a, (a mod 2 = 0 \/ a mod 2 = 1)%nat.
Proof. intro a; pose proof (bit_below a); lia. Qed.

Lemma bit_sign_plus : forall s a b, bit_sign s (a + b) = bit_sign s a * bit_sign s b.
Proof.
  intros s a b; unfold bit_sign; rewrite (Nat.add_mod a b) by lia.
  destruct (bit_cases s) as [-> | ->], (bit_cases a) as [-> | ->], (bit_cases b) as [-> | ->];
    simpl; ring.
Qed.

Lemma walsh_xor : forall k s a b, walsh k s (xor k a b) = walsh k s a * walsh k s b.
Proof.
  induction k as [|k IH]; intros s a b; [simpl; ring|].
  change (bit_sign s (xor (S k) a b) * walsh k (s / 2) (xor (S k) a b / 2)
    = bit_sign s a * walsh k (s / 2) (a / 2) * (bit_sign s b * walsh k (s / 2) (b / 2))).
  rewrite xor_half, IH.
  replace (bit_sign s (xor (S k) a b)) with (bit_sign s (a + b))
    by (unfold bit_sign; rewrite xor_bit; reflexivity).
  rewrite bit_sign_plus; ring.
Qed.

Lemma walsh_zero : forall k s, walsh k s 0 = 1.
Proof.
  induction k as [|k IH]; intro s; [reflexivity|]; cbn [walsh].
  change (0 / 2)%nat with 0%nat; rewrite IH; unfold bit_sign; simpl (0 mod 2); simpl (INR 0); ring.
Qed.

Lemma walsh_trivial : forall k g, walsh k 0 g = 1.
Proof.
  induction k as [|k IH]; intro g; [reflexivity|]; cbn [walsh].
  change (0 / 2)%nat with 0%nat; rewrite IH; unfold bit_sign; simpl (0 mod 2); simpl (INR 0); ring.
Qed.

Lemma sum_pairs : forall m f,
  sum (2 * m) f = sum m (fun i => f (0 + 2 * i)%nat + f (1 + 2 * i)%nat).
Proof.
  induction m as [|m IH]; intro f; [reflexivity|].
  replace (2 * S m)%nat with (S (S (2 * m))) by lia.
  cbn [sum]; rewrite IH; replace (0 + 2 * m)%nat with (2 * m)%nat by lia.
  replace (1 + 2 * m)%nat with (S (2 * m)) by lia; ring.
Qed.

Lemma walsh_sum : forall k g, (g < 2 ^ k)%nat ->
  sum (2 ^ k) (fun s => walsh k s g) = INR (2 ^ k) * delta g 0.
Proof.
  induction k as [|k IH]; intros g Hg.
  - simpl in *; replace g with 0%nat by lia; rewrite delta_same; ring.
  - rewrite Nat.pow_succ_r', sum_pairs.
    rewrite (sum_ext (2 ^ k) _ (fun s => (2 - 2 * INR (g mod 2)) * walsh k s (g / 2))).
    + rewrite sum_scal, IH, mult_INR by (apply half_below; assumption); simpl (INR 2).
      destruct (bit_cases g) as [E|E]; rewrite E; simpl INR at 1.
      * replace (delta g 0) with (delta (g / 2) 0); [ring|].
        pose proof (two_halves g) as T; rewrite E in T; unfold delta.
        destruct (Nat.eqb_spec (g / 2) 0) as [A|A], (Nat.eqb_spec g 0) as [B|B]; try reflexivity; lia.
      * rewrite (delta_other g 0) by (intro B; rewrite B in E; discriminate E); ring.
    + intros s _; cbn [walsh]; unfold bit_sign.
      destruct (halves 0 s ltac:(lia)) as [-> ->]; destruct (halves 1 s ltac:(lia)) as [-> ->].
      simpl (INR 0); simpl (INR 1); ring.
Qed.

(** ** The value *)

Section Bits.
Variable k : nat.
Hypothesis Hk : (1 <= k)%nat.
Local Notation n := (2 ^ k)%nat.
Local Notation G := (bits k).

Definition signs (s : nat) : representation := one_dimensional (walsh k s).

Lemma sign_character : forall s g, character (signs s) g = walsh k s g.
Proof. intros; unfold character; simpl; ring. Qed.

Lemma at_least_two : (2 <= n)%nat.
Proof. replace 2%nat with (2 ^ 1)%nat at 1 by reflexivity; apply Nat.pow_le_mono_r; lia. Qed.

Lemma signs_complete : complete_family G n signs.
Proof.
  split.
  - intros s _; apply one_dimensional_is_representation; cbn [bits op unit inv].
    + apply walsh_zero.
    + intros; apply walsh_xor.
    + reflexivity.
  - intros s _; simpl; lia.
  - intros g Hg; change (order G) with n; change (unit G) with 0%nat.
    rewrite <- walsh_sum by exact Hg; apply sum_ext; intros s _.
    rewrite sign_character; simpl; field.
Qed.

Lemma signs_share : forall f, sum n (fun s => share signs s * f s) = sum n f - f 0%nat.
Proof.
  intro f; pose proof at_least_two as T.
  rewrite <- (sum_delta n f 0%nat) by lia; rewrite <- sum_minus; apply sum_ext; intros s _.
  destruct s as [|s]; [rewrite delta_same; simpl; ring|].
  rewrite delta_other by lia; unfold share; simpl dim; simpl many.
  replace (INR 1) with 1 by reflexivity; rewrite sqrt_1; field.
Qed.

Theorem bits_maximum : maximum_margin_between (group_table G)
  (constant G * (INR n / (INR n - 1))) (constant G * (INR n / (INR n - 1))).
Proof.
  assert (E : total_share n signs = INR n - 1).
  { unfold total_share; rewrite (signs_share (fun s => INR (dim (signs s)))).
    simpl dim; rewrite sum_const; simpl (INR 1); ring. }
  rewrite <- E; change (INR n) with (INR (order G)); apply closed_form.
  - apply bits_is_group.
  - exact at_least_two.
  - exact signs_complete.
  - intros g _; rewrite sign_character; apply walsh_trivial.
  - intros g Hg N; rewrite (signs_share (fun s => character (signs s) g)).
    rewrite (sum_ext n _ (fun s => walsh k s g)) by (intros; apply sign_character).
    rewrite walsh_sum, sign_character, walsh_trivial, delta_other by assumption; lra.
Qed.

End Bits.

(** Exclusive or of k bits. *)
Theorem exclusive_or : forall k, (1 <= k)%nat ->
  maximum_margin_between (group_table (bits k))
    (constant (bits k) * (INR (2 ^ k) / (INR (2 ^ k) - 1)))
    (constant (bits k) * (INR (2 ^ k) / (INR (2 ^ k) - 1))).
Proof. exact bits_maximum. Qed.
