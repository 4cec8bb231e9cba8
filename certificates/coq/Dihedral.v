(** Dihedral groups: rotations and reflections of a polygon with n corners.

    The elements 0, ..., n-1 are the rotations r^a, the elements n + a the
    reflections r^a f.  The family: the trivial representation, the sign of
    reflections, the planes for 0 < s < n/2 (of real type), and for even n two
    more signs.  The cosines of Cyclic.v give completeness and the condition
    of [closed_form]:

    [odd_polygon]: for odd n >= 3 the maximum margin is
    2 (6n)^(-3/2) 2n / S with S = 1 + 2 sqrt 2 (n-1); for n = 3 this is the
    symmetric group of three letters.
    [even_polygon]: for even n >= 2 the same with S = 3 + 2 sqrt 2 (n-2). *)

From Coq Require Import Reals List Lra Lia Arith ZArith Bool.
From Lemmata Require Import Statement Sums Convolution Groups EveryGroup Representations Universal Cyclic.
Local Open Scope R_scope.

Lemma equal_modulo : forall n x y z, (1 <= n)%nat ->
  (Z.of_nat x - Z.of_nat y = Z.of_nat n * z)%Z -> (x mod n = y mod n)%nat.
Proof.
  intros n x y z Hn E; apply Nat2Z.inj; rewrite !Nat2Z.inj_mod.
  replace (Z.of_nat x) with (Z.of_nat y + z * Z.of_nat n)%Z by lia; apply Z_mod_plus_full.
Qed.

(** ** The group *)

Section Polygon.
Variable n : nat.
Hypothesis Hn : (1 <= n)%nat.

Definition code (a : nat) (f : bool) : nat := if f then (n + a)%nat else a.
Definition flip (g : nat) : bool := Nat.leb n g.
Definition turns (g : nat) : nat := if flip g then (g - n)%nat else g.

(** The rotation part of what follows: a reflection turns it round. *)
Definition turned (f : bool) (b : nat) : nat := if f then (n - b)%nat else b.

Definition polygon : group := Group (2 * n)
  (fun g h => code ((turns g + turned (flip g) (turns h)) mod n)%nat (xorb (flip g) (flip h)))
  0
  (fun g => if flip g then g else ((n - g) mod n)%nat).

Lemma flip_code : forall a f, (a < n)%nat -> flip (code a f) = f.
Proof.
  intros a f Ha; unfold flip, code; destruct f; [apply Nat.leb_le|apply Nat.leb_gt]; lia.
Qed.

Lemma turns_code : forall a f, (a < n)%nat -> turns (code a f) = a.
Proof.
  intros a f Ha; unfold turns; rewrite flip_code by assumption; unfold code; destruct f; lia.
Qed.

Lemma coded : forall g, (g < 2 * n)%nat -> exists a f, (a < n)%nat /\ g = code a f.
Proof.
  intros g Hg; exists (turns g), (flip g); unfold turns, code, flip.
  destruct (Nat.leb_spec n g); lia.
Qed.

Lemma op_code : forall a b e f, (a < n)%nat -> (b < n)%nat ->
  op polygon (code a e) (code b f) = code ((a + turned e b) mod n) (xorb e f).
Proof.
  intros; cbn [op polygon]; rewrite !turns_code, !flip_code by assumption; reflexivity.
Qed.

Lemma modulo_below : forall x, (x mod n < n)%nat.
Proof. intro x; apply Nat.mod_upper_bound; lia. Qed.

Lemma code_below : forall a f, (a < n)%nat -> below polygon (code a f).
Proof. intros a f Ha; unfold below, code; cbn [order polygon]; destruct f; lia. Qed.

Lemma polygon_is_group : is_group polygon.
Proof.
  split.
  - unfold below; cbn [order unit polygon]; lia.
  - intros g h Hg Hh; apply code_below, modulo_below.
  - intros g Hg; cbn [inv polygon]; destruct (flip g); [exact Hg|].
    apply (code_below _ false), modulo_below.
  - intros g h k Hg Hh Hk.
    destruct (coded g Hg) as [a [e [Ha ->]]], (coded h Hh) as [b [f [Hb ->]]], (coded k Hk) as [c [t [Hc ->]]].
    rewrite (op_code b c f t), (op_code a b e f) by assumption.
    rewrite !op_code by (try apply modulo_below; assumption).
    rewrite xorb_assoc; f_equal.
    pose proof (Nat.div_mod (b + turned f c) n ltac:(lia)) as D1.
    pose proof (Nat.div_mod (a + turned e b) n ltac:(lia)) as D2.
    pose proof (modulo_below (b + turned f c)) as B1; pose proof (modulo_below (a + turned e b)) as B2.
    set (q1 := ((b + turned f c) / n)%nat) in *; set (q2 := ((a + turned e b) / n)%nat) in *.
    apply equal_modulo with (z := if e then (Z.of_nat q1 + Z.of_nat q2 - 1)%Z
      else (Z.of_nat q2 - Z.of_nat q1)%Z); [exact Hn|].
    apply (f_equal Z.of_nat) in D1; apply (f_equal Z.of_nat) in D2.
    rewrite !Nat2Z.inj_add, !Nat2Z.inj_mul in D1, D2.
    destruct e, f; cbn [turned xorb] in *; rewrite ?Nat2Z.inj_add, ?Nat2Z.inj_sub in * by lia; lia.
  - intros g Hg; destruct (coded g Hg) as [a [e [Ha ->]]].
    change (op polygon (code 0 false) (code a e) = code a e); rewrite op_code by lia.
    cbn [turned xorb]; rewrite Nat.mod_small by lia; destruct e; reflexivity.
  - intros g Hg; destruct (coded g Hg) as [a [e [Ha ->]]]; cbn [inv polygon].
    rewrite flip_code by assumption; destruct e.
    + rewrite op_code by assumption; cbn [turned xorb code unit polygon].
      replace (a + (n - a))%nat with n by lia; apply Nat.mod_same; lia.
    + change ((n - code a false) mod n)%nat with (code ((n - a) mod n) false).
      rewrite op_code by (try apply modulo_below; assumption).
      cbn [turned xorb code unit polygon]; rewrite Nat.add_mod_idemp_l by lia.
      replace (n - a + a)%nat with n by lia; apply Nat.mod_same; lia.
Qed.

(** ** Representations *)

Definition reflected (f : bool) (j : nat) : R := if f then match j with O => 1 | _ => -1 end else 1.

Definition plane (s : nat) : representation := Representation 2
  (fun g i j => rotation_matrix (cos (angle n s (turns g))) (sin (angle n s (turns g))) i j
    * reflected (flip g) j) 1 (fun _ => rotation_matrix 1 0).

Lemma cos_turned : forall s a e b, (b <= n)%nat ->
  cos (angle n s ((a + turned e b) mod n)) = cos (angle n s a + (if e then - angle n s b else angle n s b)).
Proof.
  intros s a e b Hb; rewrite cos_mod, angle_plus by assumption; destruct e; [|reflexivity]; cbn [turned].
  rewrite angle_opposite by assumption.
  rewrite <- Rplus_assoc; apply cos_period.
Qed.

Lemma sin_turned : forall s a e b, (b <= n)%nat ->
  sin (angle n s ((a + turned e b) mod n)) = sin (angle n s a + (if e then - angle n s b else angle n s b)).
Proof.
  intros s a e b Hb; rewrite sin_mod, angle_plus by assumption; destruct e; [|reflexivity]; cbn [turned].
  rewrite angle_opposite by assumption.
  rewrite <- Rplus_assoc; apply sin_period.
Qed.

Lemma plane_is_representation : forall s, is_representation polygon (plane s).
Proof.
  intro s; split; cbn [dim mat many unit_matrix plane].
  - intros i j Hi Hj; change (unit polygon) with (code 0 false).
    rewrite turns_code, flip_code by lia.
    replace (angle n s 0) with 0 by (unfold angle, Rdiv; simpl; ring).
    rewrite cos_0, sin_0; two Hi; two Hj; unfold delta; simpl; ring.
  - intros g h i j Hg Hh Hi Hj.
    destruct (coded g Hg) as [a [e [Ha ->]]], (coded h Hh) as [b [f [Hb ->]]].
    rewrite op_code, !turns_code, !flip_code by (try apply modulo_below; assumption).
    rewrite cos_turned, sin_turned by lia; unfold times; cbn [sum].
    rewrite ?turns_code, ?flip_code by assumption.
    rewrite cos_plus, sin_plus; two Hi; two Hj; destruct e, f; simpl; rewrite ?cos_neg, ?sin_neg; ring.
  - intros g i j Hg Hi Hj; destruct (coded g Hg) as [a [e [Ha ->]]]; cbn [inv polygon].
    rewrite flip_code by assumption; destruct e.
    + rewrite turns_code, flip_code by assumption; two Hi; two Hj; simpl; ring.
    + change ((n - code a false) mod n)%nat with (code ((n - a) mod n) false).
      rewrite !turns_code, !flip_code by (try apply modulo_below; assumption).
      rewrite cos_mod, sin_mod, angle_opposite by lia.
      rewrite cos_period, sin_period, cos_neg, sin_neg; two Hi; two Hj; simpl; ring.
  - lia.
  - intros i j Hi Hj; two Hi; two Hj; unfold delta; simpl; ring.
  - intros k l b c Hk Hl Hb Hc; replace k with 0%nat by lia; replace l with 0%nat by lia.
    two Hb; two Hc; unfold delta; simpl; ring.
  - intros g k _ Hk i j Hi Hj; two Hi; two Hj; unfold times; cbn [sum]; simpl; ring.
Qed.

Lemma plane_character : forall s a f, (a < n)%nat ->
  character (plane s) (code a f) = if f then 0 else 2 * cos (angle n s a).
Proof.
  intros s a f Ha; unfold character; cbn [dim mat plane sum].
  rewrite turns_code, flip_code by assumption; destruct f; simpl; ring.
Qed.

(** A sign of rotations, times that of reflections to a power. *)
Definition polygon_sign (f : nat -> R) (power : bool) (g : nat) : R :=
  f (turns g) * (if power then (if flip g then -1 else 1) else 1).

Lemma polygon_sign_is_representation : forall f power, f 0%nat = 1 ->
  (forall x, f (x mod n) = f x) -> (forall a b, f (a + b)%nat = f a * f b) ->
  (forall a, (a <= n)%nat -> f (n - a)%nat = f a) ->
  is_representation polygon (one_dimensional (polygon_sign f power)).
Proof.
  intros f power F0 Fm Fp Fi; apply one_dimensional_is_representation; unfold polygon_sign.
  - change (unit polygon) with (code 0 false); rewrite turns_code, flip_code, F0 by lia.
    destruct power; ring.
  - intros g h Hg Hh; destruct (coded g Hg) as [a [e [Ha ->]]], (coded h Hh) as [b [t [Hb ->]]].
    rewrite op_code, !turns_code, !flip_code by (try apply modulo_below; assumption).
    rewrite Fm, Fp; replace (f (turned e b)) with (f b)
      by (destruct e; cbn [turned]; [symmetry; apply Fi; lia|reflexivity]).
    destruct power, e, t; simpl; ring.
  - intros g Hg; destruct (coded g Hg) as [a [e [Ha ->]]]; cbn [inv polygon].
    rewrite (flip_code a e) by assumption; destruct e; [rewrite flip_code by assumption; reflexivity|].
    change ((n - code a false) mod n)%nat with (code ((n - a) mod n) false).
    rewrite !turns_code, !flip_code, Fm, Fi by (try apply modulo_below; lia); reflexivity.
Qed.

Lemma polygon_sign_character : forall f power a t, (a < n)%nat ->
  character (one_dimensional (polygon_sign f power)) (code a t)
  = f a * (if power then (if t then -1 else 1) else 1).
Proof.
  intros f power a t Ha; unfold character; cbn [one_dimensional dim mat sum]; unfold polygon_sign.
  rewrite turns_code, flip_code by assumption; ring.
Qed.

Lemma plane_share : INR (dim (plane 0)) / INR (many (plane 0)) * sqrt (INR (dim (plane 0))) = 2 * sqrt 2.
Proof. simpl dim; simpl many; replace (INR 2) with 2 by (simpl; ring); simpl (INR 1); field. Qed.

Definition one (a : nat) : R := 1.

Lemma one_sign_is_representation : forall power,
  is_representation polygon (one_dimensional (polygon_sign one power)).
Proof. intro power; apply polygon_sign_is_representation; intros; unfold one; ring. Qed.

End Polygon.

Lemma sign_share : forall f, INR (dim (one_dimensional f)) / INR (many (one_dimensional f))
  * sqrt (INR (dim (one_dimensional f))) = 1.
Proof. intro f; simpl dim; simpl many; simpl (INR 1); rewrite sqrt_1; field. Qed.

(** ** Odd polygons *)

Section OddPolygon.
Variable h : nat.
Hypothesis Hh : (1 <= h)%nat.
Local Notation n := (2 * h + 1)%nat.
Local Notation G := (polygon n).

Definition odd_polygon_family (s : nat) : representation :=
  match s with
  | O => one_dimensional (polygon_sign n one false)
  | 1%nat => one_dimensional (polygon_sign n one true)
  | S r => plane n r
  end.

Lemma odd_polygon_complete : complete_family G (S (S h)) odd_polygon_family.
Proof.
  assert (Hn : (1 <= n)%nat) by lia; split.
  - intros [|[|s]] _; unfold odd_polygon_family;
      first [apply one_sign_is_representation | apply plane_is_representation]; exact Hn.
  - intros [|[|s]] _; simpl; lia.
  - intros g Hg; destruct (coded n Hn g Hg) as [a [t [Ha ->]]].
    rewrite !sum_first; unfold odd_polygon_family.
    rewrite !polygon_sign_character by assumption.
    rewrite (sum_ext h _ (fun s => 2 * (if t then 0 else 2 * cos (angle n (S s) a)))).
    2: { intros s _; rewrite plane_character by assumption; cbn [plane dim many].
         replace (INR 2) with 2 by (simpl; ring); simpl (INR 1); destruct t; field. }
    rewrite sum_scal; cbn [one_dimensional dim many]; simpl (INR 1); unfold one.
    change (order G) with (2 * n)%nat; rewrite mult_INR; replace (INR 2) with 2 by (simpl; ring).
    change (unit G) with 0%nat; destruct t.
    + rewrite sum_zero, delta_other by (try (cbn [code]; lia); reflexivity); field.
    + cbn [code]; destruct (Nat.eq_dec a 0) as [->|N].
      * rewrite delta_same, (sum_ext h _ (fun _ => 2)).
        -- rewrite sum_const, plus_INR, mult_INR; replace (INR 2) with 2 by (simpl; ring).
           simpl (INR 1); field.
        -- intros; replace (angle n (S i) 0) with 0 by (unfold angle, Rdiv; simpl; ring).
           rewrite cos_0; ring.
      * rewrite delta_other by assumption; pose proof (odd_cosines h Hh a ltac:(lia)); lra.
Qed.

Lemma odd_polygon_shares : forall f : representation -> R,
  sum (S (S h)) (fun s => share odd_polygon_family s * f (odd_polygon_family s))
  = f (one_dimensional (polygon_sign n one true)) + 2 * sqrt 2 * sum h (fun s => f (plane n (S s))).
Proof.
  intro f; rewrite !sum_first; cbn [share odd_polygon_family].
  rewrite sign_share, Rmult_0_l, Rplus_0_l, Rmult_1_l, <- sum_scal; f_equal.
  apply sum_ext; intros s _; f_equal; exact (plane_share n).
Qed.

Theorem odd_polygon_maximum : maximum_margin_between (group_table G)
  (constant G * (INR (2 * n) / (1 + 2 * sqrt 2 * (INR n - 1))))
  (constant G * (INR (2 * n) / (1 + 2 * sqrt 2 * (INR n - 1)))).
Proof.
  assert (Hn : (1 <= n)%nat) by lia.
  assert (E : total_share (S (S h)) odd_polygon_family = 1 + 2 * sqrt 2 * (INR n - 1)).
  { unfold total_share; rewrite (odd_polygon_shares (fun r => INR (dim r))), order_minus_one.
    cbn [plane one_dimensional dim]; rewrite sum_const; replace (INR 2) with 2 by (simpl; ring).
    simpl (INR 1); ring. }
  rewrite <- E; change (INR (2 * n)) with (INR (order G)); apply closed_form.
  - apply polygon_is_group; exact Hn.
  - cbn [order polygon]; lia.
  - exact odd_polygon_complete.
  - intros g Hg; destruct (coded n Hn g Hg) as [a [t [Ha ->]]]; cbn [odd_polygon_family].
    rewrite polygon_sign_character by assumption; unfold one; ring.
  - intros g Hg N; destruct (coded n Hn g Hg) as [a [t [Ha ->]]].
    rewrite (odd_polygon_shares (fun r => character r (code n a t))).
    rewrite polygon_sign_character by assumption.
    rewrite (sum_ext h _ (fun s => if t then 0 else 2 * cos (angle n (S s) a)))
      by (intros; apply plane_character; assumption).
    assert (Q : 1 <= sqrt 2) by (rewrite <- sqrt_1; apply sqrt_le_1_alt; lra).
    unfold one; destruct t.
    + rewrite sum_zero by reflexivity; lra.
    + assert (A : (0 < a < n)%nat) by (cbn [code] in N; change (unit G) with 0%nat in N; lia).
      replace (sum h (fun s => 2 * cos (angle n (S s) a))) with (-1)
        by (pose proof (odd_cosines h Hh a A); lra).
      lra.
Qed.

End OddPolygon.

(** The dihedral group of an odd polygon. *)
Theorem odd_polygon : forall n, (3 <= n)%nat -> Nat.odd n = true ->
  maximum_margin_between (group_table (polygon n))
    (constant (polygon n) * (INR (2 * n) / (1 + 2 * sqrt 2 * (INR n - 1))))
    (constant (polygon n) * (INR (2 * n) / (1 + 2 * sqrt 2 * (INR n - 1)))).
Proof.
  intros n Hn Ho; apply Nat.odd_spec in Ho; destruct Ho as [h ->].
  apply odd_polygon_maximum; lia.
Qed.

(** ** Even polygons *)

Section EvenPolygon.
Variable h : nat.
Local Notation n := (2 * S h)%nat.
Local Notation G := (polygon n).

Definition even_polygon_family (s : nat) : representation :=
  match s with
  | O => one_dimensional (polygon_sign n one false)
  | 1%nat => one_dimensional (polygon_sign n one true)
  | 2%nat => one_dimensional (polygon_sign n (sign h) false)
  | 3%nat => one_dimensional (polygon_sign n (sign h) true)
  | S (S (S r)) => plane n r
  end.

Lemma alternating_is_representation : forall power,
  is_representation G (one_dimensional (polygon_sign n (sign h) power)).
Proof.
  intro power; apply polygon_sign_is_representation; unfold sign.
  - lia.
  - replace (angle n (S h) 0) with 0 by (unfold angle, Rdiv; simpl; ring); exact cos_0.
  - intro x; apply cos_mod; lia.
  - intros a b; rewrite angle_plus, cos_plus, !half_turns_sine by lia; ring.
  - intros a Ha; rewrite angle_opposite, cos_period, cos_neg by lia; reflexivity.
Qed.

Lemma even_polygon_complete : complete_family G (S (S (S (S h)))) even_polygon_family.
Proof.
  assert (Hn : (1 <= n)%nat) by lia; split.
  - intros [|[|[|[|s]]]] _; unfold even_polygon_family;
      first [exact (alternating_is_representation _)
        | apply one_sign_is_representation; exact Hn | apply plane_is_representation; exact Hn].
  - intros [|[|[|[|s]]]] _; simpl; lia.
  - intros g Hg; destruct (coded n Hn g Hg) as [a [t [Ha ->]]].
    rewrite !sum_first; unfold even_polygon_family.
    rewrite !polygon_sign_character by assumption.
    rewrite (sum_ext h _ (fun s => 2 * (if t then 0 else 2 * cos (angle n (S s) a)))).
    2: { intros s _; rewrite plane_character by assumption; cbn [plane dim many].
         replace (INR 2) with 2 by (simpl; ring); simpl (INR 1); destruct t; field. }
    rewrite sum_scal; cbn [one_dimensional dim many]; simpl (INR 1); unfold one.
    change (order G) with (2 * n)%nat; rewrite (mult_INR 2 n), even_order.
    replace (INR 2) with 2 by (simpl; ring); change (unit G) with 0%nat; destruct t.
    + rewrite sum_zero, delta_other by (try (cbn [code]; lia); reflexivity); field.
    + cbn [code]; destruct (Nat.eq_dec a 0) as [->|N].
      * rewrite delta_same, (sum_ext h _ (fun _ => 2)).
        -- unfold sign; replace (angle n (S h) 0) with 0 by (unfold angle, Rdiv; simpl; ring).
           rewrite cos_0, sum_const; field.
        -- intros; replace (angle n (S i) 0) with 0 by (unfold angle, Rdiv; simpl; ring).
           rewrite cos_0; ring.
      * rewrite delta_other by assumption; pose proof (even_cosines h a ltac:(lia)); lra.
Qed.

Lemma even_polygon_shares : forall f : representation -> R,
  sum (S (S (S (S h)))) (fun s => share even_polygon_family s * f (even_polygon_family s))
  = f (one_dimensional (polygon_sign n one true)) + (f (one_dimensional (polygon_sign n (sign h) false))
    + (f (one_dimensional (polygon_sign n (sign h) true)) + 2 * sqrt 2 * sum h (fun s => f (plane n (S s))))).
Proof.
  intro f; rewrite !sum_first; cbn [share even_polygon_family].
  rewrite !sign_share, Rmult_0_l, Rplus_0_l, !Rmult_1_l, <- sum_scal; do 3 f_equal.
  apply sum_ext; intros s _; f_equal; exact (plane_share n).
Qed.

Theorem even_polygon_maximum : maximum_margin_between (group_table G)
  (constant G * (INR (2 * n) / (3 + 2 * sqrt 2 * (INR n - 2))))
  (constant G * (INR (2 * n) / (3 + 2 * sqrt 2 * (INR n - 2)))).
Proof.
  assert (Hn : (1 <= n)%nat) by lia.
  assert (E : total_share (S (S (S (S h)))) even_polygon_family = 3 + 2 * sqrt 2 * (INR n - 2)).
  { unfold total_share; rewrite (even_polygon_shares (fun r => INR (dim r))), even_order.
    cbn [plane one_dimensional dim]; rewrite sum_const; replace (INR 2) with 2 by (simpl; ring).
    simpl (INR 1); ring. }
  rewrite <- E; change (INR (2 * n)) with (INR (order G)); apply closed_form.
  - apply polygon_is_group; exact Hn.
  - cbn [order polygon]; lia.
  - exact even_polygon_complete.
  - intros g Hg; destruct (coded n Hn g Hg) as [a [t [Ha ->]]]; cbn [even_polygon_family].
    rewrite polygon_sign_character by assumption; unfold one; ring.
  - intros g Hg N; destruct (coded n Hn g Hg) as [a [t [Ha ->]]].
    rewrite (even_polygon_shares (fun r => character r (code n a t))).
    rewrite !polygon_sign_character by assumption.
    rewrite (sum_ext h _ (fun s => if t then 0 else 2 * cos (angle n (S s) a)))
      by (intros; apply plane_character; assumption).
    assert (Q : 1 <= sqrt 2) by (rewrite <- sqrt_1; apply sqrt_le_1_alt; lra).
    unfold one; destruct t.
    + rewrite sum_zero by reflexivity; lra.
    + assert (A : (0 < a < n)%nat) by (cbn [code] in N; change (unit G) with 0%nat in N; lia).
      replace (sum h (fun s => 2 * cos (angle n (S s) a))) with (-1 - sign h a)
        by (pose proof (even_cosines h a A); lra).
      pose proof (COS_bound (angle n (S h) a)) as [L _]; fold (sign h a) in L.
      assert (0 <= (sqrt 2 - 1) * (sign h a + 1)) by (apply Rmult_le_pos; lra); lra.
Qed.

End EvenPolygon.

(** The dihedral group of an even polygon; for n = 2 it is the group of Klein. *)
Theorem even_polygon : forall n, (2 <= n)%nat -> Nat.even n = true ->
  maximum_margin_between (group_table (polygon n))
    (constant (polygon n) * (INR (2 * n) / (3 + 2 * sqrt 2 * (INR n - 2))))
    (constant (polygon n) * (INR (2 * n) / (3 + 2 * sqrt 2 * (INR n - 2)))).
Proof.
  intros n Hn He; apply Nat.even_spec in He; destruct He as [[|h] ->]; [lia|].
  exact (even_polygon_maximum h).
Qed.
