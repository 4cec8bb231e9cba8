(** The minimax theorem for finite games.

    [elimination]: variables are eliminated from a list of linear inequalities
    one by one (Fourier, Motzkin); either they have a solution, or nonnegative
    multiples of them add up to 0 >= b for some b > 0.  For the inequalities of
    a game, either masses of rows guarantee w, or masses of columns keep all
    rows below it ([guaranteed_or_not]).  The value of the game is the supremum
    of what can be guaranteed; both players attain it ([minimax]). *)

From Coq Require Import Reals List Lra Lia Arith.
From Lemmata Require Import Statement Sums Spectral.
Import ListNotations.
Local Open Scope R_scope.

(** A probability on the numbers below n. *)
Definition probability (n : nat) (p : nat -> R) : Prop :=
  (forall i, (i < n)%nat -> 0 <= p i) /\ sum n p = 1.

(** ** Linear inequalities *)

(** a_0 x_0 + ... + a_(k-1) x_(k-1) >= b. *)
Definition inequality := ((nat -> R) * R)%type.
Definition left_side (k : nat) (x : nat -> R) (r : inequality) : R := sum k (fun j => fst r j * x j).
Definition holds (k : nat) (x : nat -> R) (r : inequality) : Prop := snd r <= left_side k x r.

(** What is true of nonnegative combinations. *)
Definition combines (Q : (nat -> R) -> R -> Prop) : Prop := forall a b a' b' x y,
  Q a b -> Q a' b' -> 0 <= x -> 0 <= y -> Q (fun j => x * a j + y * a' j) (x * b + y * b').

Lemma between : forall low high, (forall x y, In x low -> In y high -> x <= y) ->
  exists t, (forall x, In x low -> x <= t) /\ (forall y, In y high -> t <= y).
Proof.
  induction low as [|x low IH]; intros high H.
  - clear H; induction high as [|y high [t [_ Ht]]]; [exists 0; split; intros ? []|].
    exists (Rmin y t); split; [intros ? []|]; intros z [<-|Hz]; [apply Rmin_l|].
    apply Rle_trans with (1 := Rmin_r y t), Ht; exact Hz.
  - destruct (IH high) as [t [L U]]; [intros; apply H; [right|]; assumption|].
    exists (Rmax x t); split.
    + intros z [<-|Hz]; [apply Rmax_l|apply Rle_trans with (2 := Rmax_r x t), L; exact Hz].
    + intros y Hy; apply Rmax_lub; [apply H; [left; reflexivity|exact Hy]|apply U; exact Hy].
Qed.

(** A combination of two inequalities without the variable k, which has opposite signs in them. *)
Definition without (k : nat) (r r' : inequality) : inequality :=
  (fun j => - fst r' k * fst r j + fst r k * fst r' j, - fst r' k * snd r + fst r k * snd r').

Theorem elimination : forall k (L : list inequality) Q, combines Q ->
  (forall r, In r L -> Q (fst r) (snd r)) ->
  (exists x, forall r, In r L -> holds k x r) \/
  (exists a b, (forall j, (j < k)%nat -> a j = 0) /\ 0 < b /\ Q a b).
Proof.
  induction k as [|k IH]; intros L Q CQ HQ.
  - assert (D : (forall r, In r L -> snd r <= 0) \/ (exists r, In r L /\ 0 < snd r)).
    { clear HQ; induction L as [|r L [D|[r' [Hr' D]]]]; [left; intros ? []| |].
      - destruct (Rle_or_lt (snd r) 0) as [E|E]; [left|right; exists r; split; [left; reflexivity|exact E]].
        intros r' [<-|Hr']; [exact E|apply D; exact Hr'].
      - right; exists r'; split; [right|]; assumption. }
    destruct D as [D|[r [Hr D]]]; [left; exists (fun _ => 0); exact D|].
    right; exists (fst r), (snd r); split; [intros; lia|split; [exact D|apply HQ; exact Hr]].
  - set (c := fun r : inequality => fst r k).
    set (up := filter (fun r => if Rlt_dec 0 (c r) then true else false) L).
    set (down := filter (fun r => if Rlt_dec (c r) 0 then true else false) L).
    set (free := filter (fun r => if Req_EM_T (c r) 0 then true else false) L).
    assert (Up : forall r, In r up <-> In r L /\ 0 < c r).
    { intro r; unfold up; rewrite filter_In; destruct (Rlt_dec 0 (c r)); intuition discriminate. }
    assert (Down : forall r, In r down <-> In r L /\ c r < 0).
    { intro r; unfold down; rewrite filter_In; destruct (Rlt_dec (c r) 0); intuition discriminate. }
    assert (Free : forall r, In r free <-> In r L /\ c r = 0).
    { intro r; unfold free; rewrite filter_In; destruct (Req_EM_T (c r) 0); intuition discriminate. }
    destruct (IH (free ++ flat_map (fun r => map (without k r) down) up) (fun a b => Q a b /\ a k = 0))
      as [[x Hx]|[a [b [Ha [Hb [Qab Zk]]]]]].
    + intros a b a' b' x y [Q1 Z1] [Q2 Z2] Px Py; split; [apply CQ; assumption|rewrite Z1, Z2; ring].
    + intros r Hr; apply in_app_or in Hr; destruct Hr as [Hr|Hr].
      * apply Free in Hr; split; [apply HQ|]; apply Hr.
      * apply in_flat_map in Hr; destruct Hr as [r1 [H1 Hr]]; apply in_map_iff in Hr; destruct Hr as [r2 [<- H2]].
        apply Up in H1; apply Down in H2; unfold c in H1, H2; unfold without; cbn [fst snd].
        split; [apply CQ; try lra; apply HQ; tauto|ring].
    + left; set (bound := fun r => (snd r - left_side k x r) / c r).
      destruct (between (map bound up) (map bound down)) as [t [Lo Hi]].
      { intros y z Hy Hz; apply in_map_iff in Hy; apply in_map_iff in Hz.
        destruct Hy as [r1 [<- H1]], Hz as [r2 [<- H2]].
        assert (E : holds k x (without k r1 r2)).
        { apply Hx, in_or_app; right; apply in_flat_map; exists r1; split; [exact H1|apply in_map; exact H2]. }
        apply Up in H1; apply Down in H2; unfold holds, left_side, without in E; cbn [fst snd] in E.
        rewrite (sum_ext k _ (fun j => - fst r2 k * (fst r1 j * x j) + fst r1 k * (fst r2 j * x j))) in E
          by (intros; ring).
        rewrite sum_plus, !sum_scal in E; fold (left_side k x r1) (left_side k x r2) (c r1) (c r2) in E.
        apply Rmult_le_reg_r with (c r1 * - c r2); [apply Rmult_lt_0_compat; lra|]; unfold bound.
        replace ((snd r1 - left_side k x r1) / c r1 * (c r1 * - c r2))
          with ((snd r1 - left_side k x r1) * - c r2) by (field; lra).
        replace ((snd r2 - left_side k x r2) / c r2 * (c r1 * - c r2))
          with ((snd r2 - left_side k x r2) * - c r1) by (field; lra).
        lra. }
      exists (extend k x t); intros r Hr; unfold holds, left_side; cbn [sum]; rewrite extend_last.
      rewrite (sum_ext k _ (fun j => fst r j * x j)) by (intros; rewrite extend_below by assumption; reflexivity).
      fold (left_side k x r); fold (c r).
      destruct (Rtotal_order (c r) 0) as [N|[Z|P]].
      * pose proof (Hi (bound r) (in_map bound down r (proj2 (Down r) (conj Hr N)))) as B; unfold bound in B.
        assert (c r * ((snd r - left_side k x r) / c r) <= c r * t).
        { apply Ropp_le_cancel; rewrite <- !Ropp_mult_distr_l_reverse; apply Rmult_le_compat_l; lra. }
        replace (c r * ((snd r - left_side k x r) / c r)) with (snd r - left_side k x r) in H by (field; lra); lra.
      * assert (E : holds k x r) by (apply Hx, in_or_app; left; apply Free; split; assumption).
        unfold holds in E; rewrite Z; lra.
      * pose proof (Lo (bound r) (in_map bound up r (proj2 (Up r) (conj Hr P)))) as B; unfold bound in B.
        apply (Rmult_le_compat_l (c r)) in B; [|lra].
        replace (c r * ((snd r - left_side k x r) / c r)) with (snd r - left_side k x r) in B by (field; lra); lra.
    + right; exists a, b; split; [|split; assumption]; intros j Hj.
      destruct (Nat.eq_dec j k) as [->|]; [exact Zk|apply Ha; lia].
Qed.

(** ** Games *)

Lemma guaranteed_or_not : forall k m (A : nat -> nat -> R) w, (1 <= k)%nat ->
  (exists p, probability k p /\ forall j, (j < m)%nat -> w <= sum k (fun i => p i * A i j)) \/
  (exists q high, probability m q /\ high < w /\ forall i, (i < k)%nat -> sum m (fun j => q j * A i j) <= high).
Proof.
  intros k m A w Hk.
  set (positive := map (fun i => (fun i' => delta i' i, 0) : inequality) (seq 0 k)).
  set (enough := map (fun j => (fun i => A i j, w) : inequality) (seq 0 m)).
  set (Q := fun (a : nat -> R) (b : R) => exists q c, (forall j, (j < m)%nat -> 0 <= q j) /\
    (forall i, (i < k)%nat -> sum m (fun j => q j * A i j) - c <= a i) /\ b <= w * sum m q - c).
  destruct (elimination k ((fun _ => 1, 1) :: (fun _ => -1, -1) :: positive ++ enough) Q)
    as [[p Hp]|[a [b [Ha [Hb [q [c [Pq [Le Lt]]]]]]]]].
  - intros a b a' b' x y [q [c [P [U V]]]] [q' [c' [P' [U' V']]]] Px Py.
    exists (fun j => x * q j + y * q' j), (x * c + y * c'); split; [|split].
    + intros j Hj; pose proof (Rmult_le_pos _ _ Px (P j Hj)); pose proof (Rmult_le_pos _ _ Py (P' j Hj)); lra.
    + intros i Hi.
      rewrite (sum_ext m _ (fun j => x * (q j * A i j) + y * (q' j * A i j))) by (intros; ring).
      rewrite sum_plus, !sum_scal.
      pose proof (Rmult_le_compat_l x _ _ Px (U i Hi)); pose proof (Rmult_le_compat_l y _ _ Py (U' i Hi)); lra.
    + rewrite sum_plus, !sum_scal.
      pose proof (Rmult_le_compat_l x _ _ Px V); pose proof (Rmult_le_compat_l y _ _ Py V'); lra.
  - assert (Zero : forall F, sum m (fun j => 0 * F j) = 0) by (intro; apply sum_zero; intros; ring).
    assert (None : sum m (fun _ => 0) = 0) by (apply sum_zero; reflexivity).
    intros r [<-|[<-|Hr]]; [| |apply in_app_or in Hr; destruct Hr as [Hr|Hr]]; cbn [fst snd].
    + exists (fun _ => 0), (-1); split; [intros; lra|split; [intros; rewrite Zero; lra|rewrite None; lra]].
    + exists (fun _ => 0), 1; split; [intros; lra|split; [intros; rewrite Zero; lra|rewrite None; lra]].
    + apply in_map_iff in Hr; destruct Hr as [i [<- Hi]]; exists (fun _ => 0), 0; cbn [fst snd].
      split; [intros; lra|split; [|rewrite None; lra]].
      intros i' _; rewrite Zero; unfold delta; destruct (Nat.eqb i' i); lra.
    + apply in_map_iff in Hr; destruct Hr as [j [<- Hj]]; apply in_seq in Hj.
      exists (fun j' => delta j' j), 0; cbn [fst snd]; split; [|split].
      * intros j' _; unfold delta; destruct (Nat.eqb j' j); lra.
      * intros i _; rewrite (sum_delta m (fun j => A i j)) by lia; lra.
      * rewrite (sum_ext m _ (fun j' => delta j' j * 1)) by (intros; ring).
        rewrite (sum_delta m (fun _ => 1)) by lia; lra.
  - left; exists p; split; [split|].
    + intros i Hi; assert (H : holds k p (fun i' => delta i' i, 0)).
      { apply Hp; right; right; apply in_or_app; left; unfold positive.
        apply (in_map (fun i => (fun i' => delta i' i, 0) : inequality)), in_seq; lia. }
      unfold holds, left_side in H; cbn [fst snd] in H; rewrite (sum_delta k p i Hi) in H; exact H.
    + pose proof (Hp _ (or_introl eq_refl)) as H1; pose proof (Hp _ (or_intror (or_introl eq_refl))) as H2.
      unfold holds, left_side in H1, H2; cbn [fst snd] in H1, H2; rewrite sum_scal in H1, H2.
      change (fun i => p i) with p in H1, H2; lra.
    + intros j Hj; assert (H : holds k p (fun i => A i j, w)).
      { apply Hp; right; right; apply in_or_app; right; unfold enough.
        apply (in_map (fun j => (fun i => A i j, w) : inequality)), in_seq; lia. }
      unfold holds, left_side in H; cbn [fst snd] in H.
      rewrite (sum_ext k _ (fun i => p i * A i j)) in H by (intros; ring); exact H.
  - right; set (T := sum m q) in *.
    assert (PT : 0 < T).
    { destruct (sum_nonneg m q Pq) as [P|Z]; [exact P|exfalso]; fold T in Z.
      pose proof (Le 0%nat ltac:(lia)) as L; rewrite Ha in L by lia.
      rewrite sum_zero in L; [rewrite <- Z in Lt; lra|].
      intros j Hj; pose proof (sum_term_le m q j Pq Hj); pose proof (Pq j Hj); fold T in H.
      replace (q j) with 0 by lra; ring. }
    exists (fun j => / T * q j), (c / T); split; [split|split].
    + intros j Hj; apply Rmult_le_pos; [left; apply Rinv_0_lt_compat; exact PT|apply Pq; exact Hj].
    + rewrite sum_scal; change (fun j => q j) with q; fold T; field; lra.
    + apply Rmult_lt_reg_r with T; [exact PT|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra.
    + intros i Hi; rewrite (sum_ext m _ (fun j => / T * (q j * A i j))) by (intros; ring).
      rewrite sum_scal; pose proof (Le i Hi) as L; rewrite Ha in L by exact Hi.
      unfold Rdiv; rewrite Rmult_comm; apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; exact PT|lra].
Qed.

Theorem minimax : forall k m (A : nat -> nat -> R), (1 <= k)%nat -> (1 <= m)%nat ->
  exists v p q, probability k p /\ probability m q /\
  (forall j, (j < m)%nat -> v <= sum k (fun i => p i * A i j)) /\
  (forall i, (i < k)%nat -> sum m (fun j => q j * A i j) <= v).
Proof.
  intros k m A Hk Hm.
  set (E := fun w => exists p, probability k p /\ forall j, (j < m)%nat -> w <= sum k (fun i => p i * A i j)).
  assert (Weak : forall q high, probability m q -> (forall i, (i < k)%nat -> sum m (fun j => q j * A i j) <= high) ->
    forall w, E w -> w <= high).
  { intros q high [Q1 Q2] H w [p [[P1 P2] Hp]].
    replace w with (sum m (fun j => q j * w)) by (rewrite sum_scal_r, Q2; ring).
    replace high with (sum k (fun i => p i * high)) by (rewrite sum_scal_r, P2; ring).
    apply Rle_trans with (sum m (fun j => q j * sum k (fun i => p i * A i j))).
    - apply sum_le; intros j Hj; apply Rmult_le_compat_l; auto.
    - rewrite (sum_ext m _ (fun j => sum k (fun i => p i * (q j * A i j))))
        by (intros; rewrite <- sum_scal; apply sum_ext; intros; ring).
      rewrite sum_swap; apply sum_le; intros i Hi; rewrite sum_scal; apply Rmult_le_compat_l; auto. }
  assert (Point : forall n, (1 <= n)%nat -> probability n (fun i => delta i 0)).
  { intros n Hn; split; [intros i _; unfold delta; destruct (Nat.eqb i 0); lra|].
    rewrite (sum_ext n _ (fun i => delta i 0 * 1)) by (intros; ring); apply (sum_delta n (fun _ => 1)); lia. }
  destruct (completeness E) as [v [Up Least]].
  - exists (sum k (fun i => Rabs (A i 0%nat))).
    intros w Hw; refine (Weak (fun j => delta j 0) _ (Point m Hm) _ w Hw); intros i Hi.
    rewrite (sum_delta m (fun j => A i j)) by lia; apply Rle_trans with (1 := Rle_abs _).
    apply (sum_term_le k (fun i => Rabs (A i 0%nat))); [intros; apply Rabs_pos|exact Hi].
  - exists (- sum m (fun j => Rabs (A 0%nat j))), (fun i => delta i 0); split; [apply Point; exact Hk|].
    intros j Hj; rewrite (sum_delta k (fun i => A i j)) by lia.
    pose proof (sum_term_le m (fun j => Rabs (A 0%nat j)) j ltac:(intros; apply Rabs_pos) Hj) as L; cbv beta in L.
    pose proof (Rle_abs (- A 0%nat j)) as N; rewrite Rabs_Ropp in N; lra.
  - destruct (guaranteed_or_not k m A v Hk) as [[p [Pp Hp]]|[q [high [Pq [L Hq]]]]].
    + destruct (guaranteed_or_not m k (fun j i => - A i j) (- v) Hm) as [[q [Pq Hq]]|[p' [high [Pp' [L Hp']]]]].
      * exists v, p, q; split; [exact Pp|split; [exact Pq|split; [exact Hp|]]]; intros i Hi.
        pose proof (Hq i Hi) as H; rewrite (sum_ext m _ (fun j => -1 * (q j * A i j))), sum_scal in H by (intros; ring).
        lra.
      * exfalso; assert (- high <= v); [|lra]; apply Up; exists p'; split; [exact Pp'|]; intros j Hj.
        pose proof (Hp' j Hj) as H.
        rewrite (sum_ext k _ (fun i => -1 * (p' i * A i j))), sum_scal in H by (intros; ring); lra.
    + exfalso; assert (v <= high); [|lra]; apply Least; intros w Hw; exact (Weak q high Pq Hq w Hw).
Qed.
