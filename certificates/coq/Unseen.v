(** * Cells that were not given: what every network of nearly maximum margin says there.

    Steps 22 and 23 of ../operations/OPERATION_MARGIN.md. With multipliers l >= 0 on the triples and a proof of t t'
    for the tensor of sum l h - G, where G = f_y - f_c at the cell, every network of norm 1 and margin at least g has

        f_y - f_c >= g sum l - 2/(3 sqrt 3) sqrt(t t')        ([unseen_inequality], for networks of any norm).

    [always_right]: one such proof for each c, all with positive right sides. [always_wrong]: one for - G and a mean of
    the other labels. Neither says that a network of margin at least g exists: that is the lower side (Below.v). *)

From Coq Require Import Reals ZArith QArith Qreals List Lia Lra.
From Lemmata Require Import Statement Checker Sound.
Import ListNotations.
Local Open Scope R_scope.
Local Arguments Z.add : simpl never.
Local Arguments Z.mul : simpl never.
Local Arguments IZR : simpl never.

(** 2/(3 sqrt 3) sqrt(t t') and sum l of a part. *)
Definition part_bound (p : cell_part) : R :=
  2 / (3 * sqrt 3) * sqrt (Q2R (proof_t (part_proof p)) * Q2R (proof_t_prime (part_proof p))).
Definition part_total (p : cell_part) : R := IZR (total (part_multipliers p)) / IZR (Zpos (part_denominator p)).

Lemma positive_number n : 0 < IZR (Zpos n).
Proof. apply IZR_lt. reflexivity. Qed.

Lemma exceeds_sound g p : exceeds g p = true -> part_bound p < Q2R g * part_total p.
Proof.
  unfold exceeds. intros H. apply andb_true_iff in H as [P S]. apply negb_true_iff in P, S.
  set (gain := (g * (total (part_multipliers p) # part_denominator p))%Q) in *.
  assert (0 < Q2R gain) as P'.
  { replace 0 with (Q2R 0) by (unfold Q2R; simpl; lra). apply Qlt_Rlt. apply Qnot_le_lt. intros L.
    apply Qle_bool_iff in L. congruence. }
  assert (Q2R ((4 # 27) * (proof_t (part_proof p) * proof_t_prime (part_proof p)))%Q < Q2R (gain * gain)) as S'.
  { apply Qlt_Rlt, Qnot_le_lt. intros L. apply Qle_bool_iff in L. congruence. }
  rewrite !Q2R_mult in S'. replace (Q2R (4 # 27)) with (4 / 27) in S' by (unfold Q2R; simpl; lra).
  assert (Q2R g * part_total p = Q2R gain) as ->.
  { unfold gain, part_total. rewrite Q2R_mult. reflexivity. }
  unfold part_bound. set (tt := Q2R (proof_t (part_proof p)) * Q2R (proof_t_prime (part_proof p))) in *.
  assert (0 < sqrt 3) as S3 by (apply sqrt_lt_R0; lra). assert (sqrt 3 ^ 2 = 3) as E by (apply pow2_sqrt; lra).
  destruct (Rlt_dec (2 / (3 * sqrt 3) * sqrt tt) (Q2R gain)) as [|N]; [assumption|]. exfalso. apply Rnot_lt_le in N.
  assert (0 < tt) as T0.
  { apply Rnot_le_lt. intros L. rewrite (sqrt_neg_0 tt L), Rmult_0_r in N. lra. }
  assert (sqrt tt ^ 2 = tt) as F by (apply pow2_sqrt; lra).
  assert ((2 / (3 * sqrt 3) * sqrt tt) ^ 2 = 4 / 27 * tt) as D.
  { replace ((2 / (3 * sqrt 3) * sqrt tt) ^ 2) with (4 / (9 * sqrt 3 ^ 2) * sqrt tt ^ 2) by (field; lra).
    rewrite E, F. lra. }
  pose proof (Rmult_le_compat (Q2R gain) (2 / (3 * sqrt 3) * sqrt tt) (Q2R gain) (2 / (3 * sqrt 3) * sqrt tt)
    ltac:(lra) ltac:(lra) N N). lra.
Qed.

Lemma gains_app l m net : gains (l ++ m) net = gains l net + gains m net.
Proof.
  induction l as [|[k [[[a b] y] c]] l IH]; simpl; [ring|]. fold (gains (l ++ m) net). fold (gains l net).
  rewrite IH. ring.
Qed.

(** Step 22. *)
Theorem unseen_inequality T a b y g c p :
  check_part T a b y g c p = true -> forall net m, margin_at_least T m net ->
  m * part_total p - part_bound p * norm3 T net <= output net a b y - output net a b c.
Proof.
  unfold check_part. intros H net m M. destruct (_ && _)%bool eqn:F in H; [|easy]. apply andb_true_iff in F as [F _].
  pose proof (gains_at_least T m net 1 _ ltac:(easy) M F) as L. pose proof (proof_sound _ _ _ _ H net) as U.
  simpl in U. fold (gains (weighted T 1 (part_multipliers p)) net) in U. fold (part_bound p) in U.
  change (Zneg (part_denominator p)) with (- Zpos (part_denominator p))%Z in U. rewrite opp_IZR in U.
  pose proof (positive_number (part_denominator p)) as D. unfold part_total.
  set (d := IZR (Zpos (part_denominator p))) in *.
  apply (Rmult_le_reg_l d); [assumption|].
  replace (d * (m * (IZR (total (part_multipliers p)) / d) - part_bound p * norm3 T net))
    with (m * IZR (total (part_multipliers p)) - d * part_bound p * norm3 T net) by (field; lra).
  lra.
Qed.

(** Step 23: the label y is the only largest output. *)
Theorem always_right T a b y g parts :
  check_right T a b y g parts = true ->
  forall net, normalized_margin_at_least T (Q2R g) net -> right_at T a b y net.
Proof.
  unfold check_right. rewrite !andb_true_iff. intros [[_ L] H] net [N M] c C Y. apply Nat.eqb_eq in L.
  set (others := filter _ _) in *.
  assert (In c others) as I.
  { apply filter_In. split; [apply in_seq; lia|]. apply negb_true_iff, Nat.eqb_neq. assumption. }
  assert (exists p, check_part T a b y g c p = true) as [p P].
  { clearbody others. revert parts L H. induction others as [|d others IH]; intros parts L H; [contradiction|].
    destruct parts as [|p parts]; [discriminate|]. cbn [combine forallb] in H. apply andb_true_iff in H as [H K].
    destruct I as [->|I]; [now exists p|]. injection L as L. exact (IH I parts L K). }
  pose proof (unseen_inequality T a b y g c p P net _ M) as U.
  unfold check_part in P. destruct (_ && _)%bool eqn:F in P; [|easy]. apply andb_true_iff in F as [_ F].
  apply exceeds_sound in F. pose proof (Rmult_lt_compat_r _ _ _ N F). lra.
Qed.

(** Step 23 with - G: some other label has a larger output. *)
Theorem always_wrong T a b y g weights p :
  check_wrong T a b y g weights p = true ->
  forall net, normalized_margin_at_least T (Q2R g) net -> wrong_at T a b y net.
Proof.
  unfold check_wrong. intros H net [N M]. destruct (_ && _)%bool eqn:F in H; [|easy]. rewrite !andb_true_iff in F.
  destruct F as [[[[[[_ L] P] Q] Z] F] E]. apply Z.ltb_lt in Q. apply Nat.eqb_eq in L. apply Z.eqb_eq in Z.
  pose proof (gains_at_least T _ net (total weights) _ ltac:(lia) M F) as B.
  pose proof (proof_sound _ _ _ _ H net) as U.
  rewrite gains_app, Pos2Z.inj_mul, Z2Pos.id, mult_IZR in U by assumption. fold (part_bound p) in U.
  apply exceeds_sound in E. unfold part_total in E.
  pose proof (positive_number (part_denominator p)) as D. apply IZR_lt in Q.
  set (d := IZR (Zpos (part_denominator p))) in *. set (n := norm3 T net) in *.
  set (s := IZR (total (part_multipliers p))) in *. set (W := IZR (total weights)) in *.
  set (at_cell := map _ _) in U.
  assert (gains at_cell net < 0) as G.
  { assert (part_bound p * (W * d * n) < Q2R g * (s / d) * (W * d * n)) as K.
    { apply Rmult_lt_compat_r; [repeat apply Rmult_lt_0_compat; assumption | assumption]. }
    replace (Q2R g * (s / d) * (W * d * n)) with (W * s * (Q2R g * n)) in K by (field; lra). lra. }
  (* if no other output were larger, no term of the sum would be negative *)
  assert (forall ws cs,
    forallb (Z.leb 0) ws = true ->
    (forall c, In c cs -> (c < labels T)%nat) ->
    (forall k, In (k, y) (combine ws cs) -> k = 0%Z) ->
    gains (map (fun '(k, c) => ((Zpos (part_denominator p) * k)%Z, (a, b, y, c))) (combine ws cs)) net < 0 ->
    wrong_at T a b y net) as search.
  { clear - D. induction ws as [|k ws IH]; intros cs P C Y G; [simpl in G; lra|].
    destruct cs as [|c cs]; [simpl in G; lra|].
    cbn [forallb] in P. apply andb_true_iff in P as [P0 P]. apply Z.leb_le, IZR_le in P0.
    specialize (IH cs P (fun q i => C q (or_intror i)) (fun q i => Y q (or_intror i))).
    cbn [combine map] in G. set (rest := map _ _) in G, IH. unfold gains in G. cbn [fold_right] in G.
    fold (gains rest net) in G. rewrite mult_IZR in G. fold d in G.
    destruct (Nat.eq_dec c y) as [->|E]; [apply IH; lra|].
    destruct (Rlt_dec (output net a b y) (output net a b c)) as [K|K].
    - exists c. split; [apply C; now left | split; assumption].
    - apply IH. apply Rnot_lt_le in K.
      assert (0 <= d * IZR k * (output net a b y - output net a b c)) by (repeat apply Rmult_le_pos; lra). lra. }
  apply (search weights (seq 0 (labels T)) P); [..|exact G].
  - intros c I. apply in_seq in I. lia.
  - intros k I. apply (In_nth _ _ (0%Z, 0%nat)) in I as [i [I J]].
    rewrite combine_length, seq_length, L, Nat.min_id in I.
    rewrite combine_nth in J by (now rewrite seq_length). injection J as J1 J2.
    rewrite seq_nth in J2 by assumption. simpl in J2. subst i. rewrite <- J1, Z. reflexivity.
Qed.

(** g is at least the share [near] of every margin: near upper <= g, where no margin exceeds the rational number upper. *)
Definition is_near (T : table) (cert : certificate) (near g upper : Q) : bool :=
  if Qle_bool 0 near && Qle_bool 0 upper && Qle_bool (near * upper) g &&
     Qle_bool ((4 # 27) * (proof_t (upper_proof cert) * proof_t_prime (upper_proof cert))) (upper * upper)
  then check T cert else false.

Theorem near_the_maximum T cert near g upper :
  is_near T cert near g upper = true ->
  forall net m, normalized_margin_at_least T m net -> Q2R near * m <= Q2R g.
Proof.
  unfold is_near. intros H net m M. destruct (_ && _)%bool eqn:F in H; [|easy]. rewrite !andb_true_iff in F.
  destruct F as [[[N P] G] S]. apply Qle_bool_iff in N, P, G, S.
  pose proof (rational_bound T cert upper H P S net m M) as U. apply Qle_Rle in N, G. rewrite Q2R_mult in G.
  replace (Q2R 0) with 0 in N by (unfold Q2R; simpl; lra).
  apply (Rle_trans _ (Q2R near * Q2R upper)); [now apply Rmult_le_compat_l | assumption].
Qed.
