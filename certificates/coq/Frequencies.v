(** Addition modulo an odd n: which networks have the maximum margin.

    Maximisers.v says that each neuron has one rotation of the plane, that is
    one frequency z, and that its u, v and w are equally long; so they are
    lambda cos(theta + 2 pi z x / n) with one lambda and three phases
    ([one_wave]).  The sum of u(a) v(b) w(a+b) is then a positive number times
    cos(theta_u + theta_v - theta_w), which has to be 1 ([aligned]).

    [addition_maximisers]: in every network of maximum margin each neuron has
    this form, with lambda >= 0 and theta_w = theta_u + theta_v, and each of
    the frequencies 1, ..., (n-1)/2 has a neuron with lambda > 0.  This is the
    structure in theorem 7.7, for every odd n and every number of neurons.
    [addition_masses]: all frequencies have the same mass. *)

From Coq Require Import Reals List Lra Lia Arith.
From Lemmata Require Import Statement Sums Convolution Groups EveryGroup Representations Universal Cyclic Maximisers.
Local Open Scope R_scope.

(** By the intermediate value theorem; the arcus cosine of the library uses an axiom more. *)
Lemma cosine_onto : forall c, -1 <= c <= 1 -> exists a, cos a = c.
Proof.
  intros c B; destruct (IVT_cor (cos - fct_cte c)%F 0 PI) as [a [_ E]].
  - apply continuity_minus; [exact continuity_cos|apply continuity_const; intros x y; reflexivity].
  - left; exact PI_RGT_0.
  - unfold minus_fct, fct_cte; rewrite cos_0, cos_PI.
    assert (0 <= (1 - c) * (1 + c)) by (apply Rmult_le_pos; lra); lra.
  - exists a; unfold minus_fct, fct_cte in E; lra.
Qed.

Lemma polar : forall p q, exists r a, 0 <= r /\ p = r * cos a /\ q = r * sin a.
Proof.
  intros p q; set (r := sqrt (p ^ 2 + q ^ 2)).
  pose proof (pow2_ge_0 p) as P; pose proof (pow2_ge_0 q) as Q.
  assert (R2 : r ^ 2 = p ^ 2 + q ^ 2) by (apply square_sqrt; lra).
  assert (P0 : 0 <= r) by apply sqrt_pos; destruct P0 as [Pr|Z].
  - assert (E : p / r * r = p) by (field; lra).
    assert (U : p <= r) by (apply le_of_squares; lra).
    assert (L : - p <= r) by (apply le_of_squares; [lra|]; replace ((- p) ^ 2) with (p ^ 2) by ring; lra).
    assert (B : -1 <= p / r <= 1) by (split; apply Rmult_le_reg_r with (1 := Pr); lra).
    destruct (cosine_onto (p / r) B) as [a A]; assert (C : p = r * cos a) by (rewrite A; lra).
    assert (S : (r * sin a - q) * (r * sin a + q) = 0).
    { pose proof (sin2_cos2 a) as T; unfold Rsqr in T.
      replace ((r * sin a - q) * (r * sin a + q))
        with (r ^ 2 * (sin a * sin a + cos a * cos a) - (r * cos a) ^ 2 - q ^ 2) by ring.
      rewrite T, <- C, R2; ring. }
    apply Rmult_integral in S; destruct S as [S|S]; [exists r, a|exists r, (- a)]; rewrite ?cos_neg, ?sin_neg;
      split; try lra; split; lra.
  - exists 0, 0; split; [lra|].
    assert (p ^ 2 = 0 /\ q ^ 2 = 0) as [Zp Zq] by (rewrite <- Z in R2; lra).
    split; rewrite Rmult_0_l.
    + destruct (Req_dec p 0) as [|N]; [assumption|exfalso; apply (pow_nonzero _ 2 N Zp)].
    + destruct (Req_dec q 0) as [|N]; [assumption|exfalso; apply (pow_nonzero _ 2 N Zq)].
Qed.

(** The form of a neuron, for the frequency z, the amplitude lambda and two phases. *)
Definition wave (n z : nat) (lambda theta : R) (x : nat) : R := lambda * cos (theta + 2 * PI * INR z * INR x / INR n).
Definition cosine_neuron (n z : nat) (lambda theta_u theta_v : R) (o : neuron) : Prop :=
  forall x, (x < n)%nat ->
  u o x = wave n z lambda theta_u x /\ v o x = wave n z lambda theta_v x /\
  w o x = wave n z lambda (theta_u + theta_v) x.

Section Odd.
Variable h : nat.
Hypothesis Hh : (1 <= h)%nat.
Local Notation n := (2 * h + 1)%nat.
Local Notation G := (cyclic n).
Local Notation family := (odd_family h).

Definition cosines (s : nat) (f : nat -> R) : R := sum n (fun x => f x * cos (angle n s x)).
Definition sines (s : nat) (f : nat -> R) : R := sum n (fun x => f x * sin (angle n s x)).

Lemma rotation_hat : forall s f i j, (i < 2)%nat -> (j < 2)%nat ->
  hat G (rotation n s) f i j = rotation_matrix (cosines s f) (sines s f) i j.
Proof.
  intros s f i j Hi Hj; unfold hat, cosines, sines; cbn [mat rotation]; change (order G) with n.
  two Hi; two Hj; cbn [rotation_matrix]; try reflexivity.
  rewrite (sum_ext n _ (fun x => -1 * (f x * sin (angle n s x)))) by (intros; ring); rewrite sum_scal; ring.
Qed.

Lemma rotation_coefficient : forall s, coefficient G family (S s) = / INR n.
Proof.
  intro s; unfold coefficient; simpl dim; simpl many; change (order G) with n.
  assert (0 < INR n) by (apply lt_0_INR; lia); simpl (INR 2); field; lra.
Qed.

Lemma one_wave : forall s f, (s < h)%nat ->
  (forall t, (t < S h)%nat -> t <> S s -> part G family t f = 0) ->
  exists r a, 0 <= r /\ cosines (S s) f = r * cos a /\ sines (S s) f = r * sin a /\
  part G family (S s) f = 2 * r ^ 2 / INR n /\
  forall x, (x < n)%nat -> f x = wave n (S s) (2 * r / INR n) (- a) x.
Proof.
  intros s f Hs H; destruct (polar (cosines (S s) f) (sines (S s) f)) as [r [a [Pr [Co Si]]]].
  assert (Pn : 0 < INR n) by (apply lt_0_INR; lia); pose proof (sin2_cos2 a) as U; unfold Rsqr in U.
  exists r, a; split; [exact Pr|split; [exact Co|split; [exact Si|split]]].
  - unfold part; rewrite rotation_coefficient; cbn [odd_family dim rotation]; unfold frobenius, square; cbn [sum].
    rewrite !rotation_hat by lia; cbn [rotation_matrix]; rewrite Co, Si.
    replace (2 * r ^ 2 / INR n) with (2 * r ^ 2 * (sin a * sin a + cos a * cos a) / INR n) by (rewrite U; field; lra).
    field; lra.
  - intros x Hx; assert (HG : is_group G) by (apply cyclic_is_group; lia).
    rewrite (proj2 (part_alone G HG (S h) family (odd_family_representations h Hh) (odd_complete h Hh)
      (S s) f ltac:(lia) H) x Hx).
    rewrite rotation_coefficient; cbn [odd_family dim rotation mat]; unfold frobenius_inner, inner; cbn [sum].
    rewrite !rotation_hat by lia; cbn [rotation_matrix]; rewrite Co, Si.
    unfold wave; fold (angle n (S s) x); rewrite cos_plus, cos_neg, sin_neg; field; lra.
Qed.

(** The two phases of the inputs determine that of the output. *)
Lemma aligned : forall a b c x, cos (a + b - c) = 1 -> cos (- c + x) = cos (- a + - b + x).
Proof.
  intros a b c x E.
  assert (S : sin (a + b - c) = 0).
  { pose proof (sin2_cos2 (a + b - c)) as U; unfold Rsqr in U; rewrite E in U.
    destruct (Req_dec (sin (a + b - c)) 0) as [|N]; [assumption|exfalso].
    apply (pow_nonzero _ 2 N); simpl; lra. }
  replace (- c + x) with (- a + - b + x + (a + b - c)) by ring; rewrite cos_plus, E, S; ring.
Qed.

Local Notation tau := (closed_weights G (S h) family).

Lemma odd_condition : forall g, below G g -> g <> unit G ->
  sum (S h) (fun s => share family s * character (family s) g) <= 0.
Proof. intros g Hg N; rewrite (odd_shares h Hh g Hg N); pose proof (sqrt_pos 2); lra. Qed.

Lemma odd_weights_positive : forall g, below G g -> g <> unit G -> 0 < tau g.
Proof.
  intros g Hg N; apply closed_weights_positive; [|exact N|rewrite (odd_shares h Hh g Hg N)].
  - apply (total_share_positive G (cyclic_is_group n ltac:(lia)) (S h) family (odd_family_complete h Hh)
      (odd_family_trivial h)); simpl; lia.
  - pose proof (sqrt_lt_R0 2 ltac:(lra)); lra.
Qed.

Lemma rotation_mean : forall s, (s < h)%nat ->
  1 - mean_character G family tau (S s) = sqrt 2 * (INR n / total_share (S h) family).
Proof.
  intros s Hs; rewrite (closed_mean G (S h) family (S s) (cyclic_is_group n ltac:(lia)) ltac:(simpl; lia)
    (odd_family_complete h Hh) (odd_family_trivial h) ltac:(lia)).
  cbn [odd_family dim rotation]; change (order G) with n; replace (INR 2) with 2 by (simpl; ring); ring.
Qed.

Lemma pure_is_cosine : forall s o, (s < h)%nat -> 0 < norm (group_table G) o -> pure G (S h) family (S s) o ->
  (1 - mean_character G family tau (S s)) * product_part G family (S s) (u o) (v o) (w o)
    = factor G (INR n / total_share (S h) family) * norm (group_table G) o ^ 3 ->
  exists lambda theta_u theta_v, 0 < lambda /\ cosine_neuron n (S s) lambda theta_u theta_v o.
Proof.
  intros s o Hs No [Eu [Ev [Ew H]]] A.
  assert (Pn : 0 < INR n) by (apply lt_0_INR; lia).
  destruct (one_wave s (u o) Hs) as [r [a [Pr [Cu [Su [Pu Fu]]]]]]; [intros; apply H; assumption|].
  destruct (one_wave s (v o) Hs) as [r' [b [Pr' [Cv [Sv [Pv Fv]]]]]]; [intros; apply H; assumption|].
  destruct (one_wave s (w o) Hs) as [r'' [c [Pr'' [Cw [Sw [Pw Fw]]]]]]; [intros; apply H; assumption|].
  assert (Q : forall x y, 0 <= x -> 0 <= y -> 2 * x ^ 2 / INR n = 2 * y ^ 2 / INR n -> x = y).
  { intros x y Px Py E; assert (x ^ 2 = y ^ 2).
    { apply Rmult_eq_reg_l with (2 / INR n); [|apply Rgt_not_eq, Rdiv_lt_0_compat; lra].
      unfold Rdiv in *; rewrite !(Rmult_assoc 2), !(Rmult_comm (/ INR n)), <- !Rmult_assoc; exact E. }
    apply Rle_antisym; apply le_of_squares; lra. }
  assert (r' = r) by (apply Q; try assumption; rewrite <- Pu, <- Pv, Eu, Ev; reflexivity); subst r'.
  assert (r'' = r) by (apply Q; try assumption; rewrite <- Pu, <- Pw, Eu, Ew; reflexivity); subst r''.
  set (N := norm (group_table G) o) in *; set (t := total_share (S h) family) in *.
  assert (N2 : N ^ 2 = 6 * r ^ 2 / INR n) by (rewrite Eu in Pu; lra).
  assert (R : 0 < r).
  { destruct Pr as [|Z]; [assumption|exfalso; rewrite <- Z in N2].
    pose proof (pow_lt N 2 No); unfold Rdiv in N2; lra. }
  assert (HG : is_group G) by (apply cyclic_is_group; lia).
  assert (Pt : 0 < t)
    by (apply (total_share_positive G HG (S h) family (odd_family_complete h Hh) (odd_family_trivial h)); simpl; lia).
  assert (E : product_part G family (S s) (u o) (v o) (w o) = 2 * r ^ 3 / INR n * cos (a + b - c)).
  { unfold product_part; rewrite rotation_coefficient; cbn [odd_family dim rotation].
    unfold frobenius_inner, inner, times; cbn [sum].
    rewrite !rotation_hat by lia; cbn [rotation_matrix]; rewrite Cu, Su, Cv, Sv, Cw, Sw.
    unfold Rminus; rewrite !cos_plus, !sin_plus, cos_neg, sin_neg; field; lra. }
  assert (L : cos (a + b - c) = 1).
  { pose proof (f_equal (fun x => x ^ 2) A) as B; cbv beta in B; rewrite rotation_mean, E in A, B by exact Hs.
    fold t in A, B; set (K := INR n / t) in *; assert (PK : 0 < K) by (apply Rdiv_lt_0_compat; assumption).
    assert (Q2 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
    replace ((factor G K * N ^ 3) ^ 2) with (factor G K ^ 2 * (N ^ 2) ^ 3) in B by ring.
    rewrite factor_square, N2 in B; change (order G) with n in B.
    assert (X : cos (a + b - c) ^ 2 = 1).
    { assert (P : 0 < 8 * K ^ 2 * r ^ 6 / INR n ^ 2).
      { apply Rdiv_lt_0_compat; [|apply pow_lt; exact Pn].
        apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; [lra|]|]; apply pow_lt; assumption. }
      apply Rmult_eq_reg_l with (8 * K ^ 2 * r ^ 6 / INR n ^ 2); [|lra].
      transitivity ((sqrt 2 * K * (2 * r ^ 3 / INR n * cos (a + b - c))) ^ 2).
      - replace ((sqrt 2 * K * (2 * r ^ 3 / INR n * cos (a + b - c))) ^ 2)
          with (sqrt 2 ^ 2 * (K * (2 * r ^ 3 / INR n * cos (a + b - c))) ^ 2) by ring.
        rewrite square_sqrt by lra; field; lra.
      - rewrite B; field; lra. }
    assert (Pos : 0 < cos (a + b - c)).
    { assert (0 < factor G K) by (unfold factor; change (order G) with n; apply Rdiv_lt_0_compat;
        [apply Rmult_lt_0_compat; [exact PK|apply sqrt_lt_R0; exact Pn]|
         apply Rmult_lt_0_compat; [lra|apply sqrt_lt_R0; lra]]).
      assert (W : 0 < factor G K * N ^ 3) by (apply Rmult_lt_0_compat; [|apply pow_lt]; assumption).
      rewrite <- A in W.
      assert (V : 0 < sqrt 2 * K * (2 * r ^ 3 / INR n)).
      { apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; assumption|apply Rdiv_lt_0_compat; [|exact Pn]].
        apply Rmult_lt_0_compat; [lra|apply pow_lt; exact R]. }
      apply Rmult_lt_reg_l with (1 := V); lra. }
    apply Rle_antisym; apply le_of_squares; lra. }
  exists (2 * r / INR n), (- a), (- b); split.
  - apply Rdiv_lt_0_compat; lra.
  - intros x Hx; rewrite (Fu x Hx), (Fv x Hx), (Fw x Hx); split; [reflexivity|split; [reflexivity|]].
    unfold wave; rewrite (aligned a b c _ L); reflexivity.
Qed.

Lemma odd_maximisers : forall net, normalized_margin_at_least (group_table G) (addition_margin h) net ->
  (forall o, In o net -> exists z lambda theta_u theta_v,
    (1 <= z <= h)%nat /\ 0 <= lambda /\ cosine_neuron n z lambda theta_u theta_v o) /\
  (forall z, (1 <= z <= h)%nat -> exists o lambda theta_u theta_v,
    In o net /\ 0 < lambda /\ cosine_neuron n z lambda theta_u theta_v o).
Proof.
  intros net M; rewrite <- odd_constant, <- odd_total in M by exact Hh.
  assert (HG : is_group G) by (apply cyclic_is_group; lia).
  pose proof (odd_family_complete h Hh) as HF; pose proof (odd_family_trivial h) as HT.
  assert (Hn : (2 <= order G)%nat) by (simpl; lia).
  pose proof (total_share_positive G HG (S h) family HF HT Hn) as Pt.
  assert (PK : 0 < INR (order G) / total_share (S h) family)
    by (apply Rdiv_lt_0_compat; [apply order_positive; exact HG|exact Pt]).
  assert (Wt : wrong_weights G tau) by (apply closed_weights_wrong; try assumption; exact odd_condition).
  assert (Ct : symmetric_class_function G tau) by (apply closed_weights_class; assumption).
  assert (Hp : forall s, (s < S h)%nat -> sum (order G) (fun g => tau g * payoff (family s) g)
    <= INR (order G) / total_share (S h) family)
    by (intros; apply closed_payoffs; try assumption; exact odd_condition).
  assert (One : forall o, In o net -> 0 < norm (group_table G) o -> exists s lambda theta_u theta_v,
    (s < h)%nat /\ pure G (S h) family (S s) o /\ 0 < lambda /\ cosine_neuron n (S s) lambda theta_u theta_v o).
  { intros o I No.
    destruct (one_representation G HG (S h) family HF HT tau Wt Ct _ PK Hp net M o I No) as [[|s] [Hs [Q A]]]; [lia|].
    destruct (pure_is_cosine s o ltac:(lia) No Q A) as [lambda [tu [tv [P C]]]].
    exists s, lambda, tu, tv; split; [lia|split; [exact Q|split; assumption]]. }
  split.
  - intros o I; destruct (norm_nonneg G o) as [No|No].
    + destruct (One o I No) as [s [lambda [tu [tv [Hs [_ [P C]]]]]]].
      exists (S s), lambda, tu, tv; split; [lia|split; [lra|exact C]].
    + exists 1%nat, 0, 0, 0; split; [lia|split; [lra|]]; intros x Hx.
      destruct (silent_weights G o (eq_sym No) x Hx) as [-> [-> ->]]; unfold wave; split; [|split]; ring.
  - intros [|s] Hs; [lia|].
    destruct (every_representation G HG (S h) family HF HT tau Wt Ct _ PK Hp net M odd_weights_positive (S s)
      ltac:(lia)) as [o [I [No Q]]].
    destruct (One o I No) as [t [lambda [tu [tv [Ht [Qt [P C]]]]]]].
    assert (E : S s = S t) by (apply (pure_unique G (S h) family (S s) (S t) o); assumption || lia).
    rewrite E; exists o, lambda, tu, tv; split; [exact I|split; assumption].
Qed.

Lemma wave_spanned : forall z lambda theta f, (1 <= z)%nat ->
  (forall x, (x < n)%nat -> f x = wave n z lambda theta x) -> spanned G (family z) f.
Proof.
  intros [|z] lambda theta f Hz H; [lia|].
  exists (fun i j => match i, j with O, O => lambda * cos theta | S _, O => - (lambda * sin theta) | _, _ => 0 end).
  intros y Hy; rewrite H by exact Hy; unfold frobenius_inner, inner; cbn [odd_family dim rotation mat sum rotation_matrix].
  unfold wave; fold (angle n (S z) y); rewrite cos_plus; ring.
Qed.

Lemma odd_masses : forall net, normalized_margin_at_least (group_table G) (addition_margin h) net ->
  forall kind, (forall o, In o net -> (1 <= kind o <= h)%nat /\
    exists lambda theta_u theta_v, cosine_neuron n (kind o) lambda theta_u theta_v o) ->
  forall z, (1 <= z <= h)%nat ->
  over net (fun o => delta (kind o) z * norm (group_table G) o ^ 3) = 2 / (INR n - 1) * norm3 (group_table G) net.
Proof.
  intros net M kind Hkind z Hz; rewrite <- odd_constant, <- odd_total in M by exact Hh.
  rewrite (closed_form_masses G (S h) family (cyclic_is_group n ltac:(lia)) ltac:(simpl; lia)
    (odd_family_complete h Hh) (odd_family_trivial h)) with (kind := kind).
  - rewrite odd_total, order_minus_one; destruct z as [|z]; [lia|]; unfold share; cbn [odd_family dim many rotation].
    pose proof (h_positive h Hh); pose proof (sqrt_lt_R0 2 ltac:(lra)).
    replace (INR 2) with 2 by (simpl; ring); field; lra.
  - intros g Hg N; rewrite (odd_shares h Hh g Hg N); pose proof (sqrt_lt_R0 2 ltac:(lra)); lra.
  - exact M.
  - intros o I; destruct (Hkind o I) as [Hk [lambda [tu [tv C]]]]; split; [lia|].
    apply wave_spanned with (lambda := lambda) (theta := tu); [lia|intros x Hx; apply C; exact Hx].
  - lia.
Qed.

End Odd.

(** The structure of all networks of maximum margin, of any number of neurons. *)
Theorem addition_maximisers : forall n net, (3 <= n)%nat -> Nat.odd n = true ->
  normalized_margin_at_least (group_table (cyclic n)) (sqrt (2 / 27) / (sqrt (INR n) * (INR n - 1))) net ->
  (forall o, In o net -> exists z lambda theta_u theta_v,
    (1 <= z <= (n - 1) / 2)%nat /\ 0 <= lambda /\ cosine_neuron n z lambda theta_u theta_v o) /\
  (forall z, (1 <= z <= (n - 1) / 2)%nat -> exists o lambda theta_u theta_v,
    In o net /\ 0 < lambda /\ cosine_neuron n z lambda theta_u theta_v o).
Proof.
  intros n net Hn Ho M; apply Nat.odd_spec in Ho; destruct Ho as [h ->].
  replace ((2 * h + 1 - 1) / 2)%nat with h
    by (replace (2 * h + 1 - 1)%nat with (h * 2)%nat by lia; symmetry; apply Nat.div_mul; lia).
  apply odd_maximisers; [lia|exact M].
Qed.

(** The masses: each frequency has 2/(n-1) of the cubes of the norms, so that all have as much. *)
Theorem addition_masses : forall n net, (3 <= n)%nat -> Nat.odd n = true ->
  normalized_margin_at_least (group_table (cyclic n)) (sqrt (2 / 27) / (sqrt (INR n) * (INR n - 1))) net ->
  forall kind, (forall o, In o net -> (1 <= kind o <= (n - 1) / 2)%nat /\
    exists lambda theta_u theta_v, cosine_neuron n (kind o) lambda theta_u theta_v o) ->
  forall z, (1 <= z <= (n - 1) / 2)%nat ->
  over net (fun o => delta (kind o) z * norm (group_table (cyclic n)) o ^ 3)
    = 2 / (INR n - 1) * norm3 (group_table (cyclic n)) net.
Proof.
  intros n net Hn Ho M; apply Nat.odd_spec in Ho; destruct Ho as [h ->].
  replace ((2 * h + 1 - 1) / 2)%nat with h
    by (replace (2 * h + 1 - 1)%nat with (h * 2)%nat by lia; symmetry; apply Nat.div_mul; lia).
  apply odd_masses; [lia|exact M].
Qed.
