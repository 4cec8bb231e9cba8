(** * The maximum margin of a table: the upper side of Sound.v and the lower side of Below.v together.

    [two_sided]: a network attains the lower number, and none exceeds the upper one. [exact_value]: where both are the
    same rational number times a square root, the maximum margin is that number.

    The other theorems say of a cell that is not given what networks of margin at least g have there, and that there
    are such networks: [right_and_possible] and [wrong_and_possible] with one of a larger margin h (g = (1 - eps) h, so
    that the claim is about all networks of at least 1 - eps times the maximum margin), [two_verdicts] with two that
    disagree, where no network has a margin above g / (1 - eps). *)

From Coq Require Import Reals ZArith QArith Qreals List Lia Lra Bool.
From Lemmata Require Import Statement Checker Sound Unseen Below.
Import ListNotations.
Local Open Scope R_scope.

Definition square_of_bound (cert : certificate) : Q :=
  ((4 # 27) * (proof_t (upper_proof cert) * proof_t_prime (upper_proof cert)))%Q.

(** The bound of the certificate is at most p / q; it is p / q times sqrt m. *)
Definition is_below (cert : certificate) (p : Z) (q : positive) : bool :=
  Z.leb 0 p && Qle_bool (square_of_bound cert) ((p # q) * (p # q)).
Definition is_root (cert : certificate) (m p : Z) (q : positive) : bool :=
  Z.leb 0 m && Z.leb 0 p && Qle_bool (square_of_bound cert) ((p # q) * (p # q) * inject_Z m).

Lemma bound_at_most cert x : 0 <= x -> Q2R (square_of_bound cert) <= x * x -> bound cert <= x.
Proof.
  intros Hx H. unfold square_of_bound in H. rewrite !Q2R_mult in H.
  replace (Q2R (4 # 27)) with (4 / 27) in H by (unfold Q2R; cbn; lra).
  unfold bound. set (tt := Q2R (proof_t (upper_proof cert)) * Q2R (proof_t_prime (upper_proof cert))) in *.
  assert (0 < sqrt 3) as H3 by (apply sqrt_lt_R0; lra).
  assert (0 < 2 / (3 * sqrt 3)) as Hc by (apply Rdiv_lt_0_compat; lra).
  destruct (Rle_dec 0 tt) as [Ht | Ht].
  - apply Rsqr_incr_0_var; [ | assumption ]. unfold Rsqr.
    replace (2 / (3 * sqrt 3) * sqrt tt * (2 / (3 * sqrt 3) * sqrt tt))
      with (4 / (9 * (sqrt 3 * sqrt 3)) * (sqrt tt * sqrt tt)) by (field; lra).
    rewrite !sqrt_sqrt by lra. replace (4 / (9 * 3)) with (4 / 27) by lra. lra.
  - apply Rnot_le_lt in Ht. rewrite (sqrt_neg_0 tt) by lra. rewrite Rmult_0_r. assumption.
Qed.

(** ** The certified two-sided value *)
Theorem two_sided T cert bits net p q p' q' :
  check T cert = true -> attains T bits net p q = true -> is_below cert p' q' = true ->
  maximum_margin_between T (IZR p / IZR q) (IZR p' / IZR (Zpos q')).
Proof.
  intros Hcheck Hattains Hbelow. split.
  - exists (realised T net). now apply (lower_normalized T bits).
  - intros other g Hg. apply (Rle_trans _ _ _ (normalized_upper_bound T cert Hcheck other g Hg)).
    unfold is_below in Hbelow. apply andb_true_iff in Hbelow. destruct Hbelow as [Hp Hsquare].
    apply Z.leb_le, IZR_le in Hp. apply Qle_bool_iff, Qle_Rle in Hsquare. rewrite Q2R_mult in Hsquare.
    apply bound_at_most; [ | exact Hsquare ].
    apply Rmult_le_pos; [ assumption | left; apply Rinv_0_lt_compat; now apply IZR_lt ].
Qed.

(** ** The exact value *)
Theorem exact_value T cert m common net p q :
  check T cert = true -> attains_root T m common net p (Zpos q) = true -> is_root cert m p q = true ->
  maximum_margin_between T (IZR p / IZR (Zpos q) * sqrt (IZR m)) (IZR p / IZR (Zpos q) * sqrt (IZR m)).
Proof.
  intros Hcheck Hattains Hroot. split.
  - exists (realised T net). now apply (lower_root_sound T m common).
  - intros other g Hg. apply (Rle_trans _ _ _ (normalized_upper_bound T cert Hcheck other g Hg)).
    unfold is_root in Hroot. rewrite !andb_true_iff in Hroot. destruct Hroot as [[Hm Hp] Hsquare].
    apply Z.leb_le, IZR_le in Hm, Hp. apply Qle_bool_iff, Qle_Rle in Hsquare. rewrite !Q2R_mult in Hsquare.
    assert (0 < IZR (Zpos q)) as Hq by now apply IZR_lt.
    apply bound_at_most.
    + apply Rmult_le_pos; [ | apply sqrt_pos ]. apply Rmult_le_pos; [ assumption | left; now apply Rinv_0_lt_compat ].
    + replace (Q2R (inject_Z m)) with (sqrt (IZR m) * sqrt (IZR m)) in Hsquare.
      * unfold Q2R in Hsquare at 2 3. cbn [Qnum Qden] in Hsquare. unfold Rdiv. lra.
      * rewrite sqrt_sqrt by assumption. unfold Q2R, inject_Z; cbn. field.
Qed.

(** ** Cells that are not given *)

Definition is_not_given (T : table) (a b : nat) : bool :=
  forallb (fun '(i, j, _) => negb (Nat.eqb i a && Nat.eqb j b)) (given T).

Lemma is_not_given_sound T a b : is_not_given T a b = true -> not_given T a b.
Proof.
  intros H y Hin. unfold is_not_given in H. rewrite forallb_forall in H. specialize (H _ Hin). cbv beta iota in H.
  now rewrite !Nat.eqb_refl in H.
Qed.

(** p / q <= p' / q': the network that is shown is one of those that the claim is about. *)
Definition is_enough (p : Z) (q : positive) (p' q' : Z) : bool := Z.leb (p * q') (p' * Zpos q).

Lemma is_enough_sound T bits net p q p' q' :
  is_enough p q p' q' = true -> attains T bits net p' q' = true -> IZR p / IZR (Zpos q) <= IZR p' / IZR q'.
Proof.
  unfold is_enough, attains, differ. intros H Hattains. repeat rewrite andb_true_iff in Hattains.
  destruct Hattains as [[[[Hq' _] _] _] _]. apply Z.ltb_lt, IZR_lt in Hq'. apply Z.leb_le, IZR_le in H.
  rewrite !mult_IZR in H. assert (0 < IZR (Zpos q)) as Hq by now apply IZR_lt.
  apply (Rmult_le_reg_r (IZR (Zpos q) * IZR q')); [ now apply Rmult_lt_0_compat | ].
  replace (IZR p / IZR (Zpos q) * (IZR (Zpos q) * IZR q')) with (IZR p * IZR q') by (field; lra).
  replace (IZR p' / IZR q' * (IZR (Zpos q) * IZR q')) with (IZR p' * IZR (Zpos q)) by (field; lra).
  exact H.
Qed.

Theorem right_and_possible T a b y p q parts bits net p' q' :
  is_not_given T a b = true -> check_right T a b y (p # q) parts = true -> attains T bits net p' q' = true ->
  is_enough p q p' q' = true ->
  not_given T a b /\
  IZR p / IZR (Zpos q) <= IZR p' / IZR q' /\
  (exists other, normalized_margin_at_least T (IZR p' / IZR q') other) /\
  (forall other, normalized_margin_at_least T (IZR p / IZR (Zpos q)) other -> right_at T a b y other).
Proof.
  intros Hcell Hcheck Hattains Henough. split; [ | split; [ | split ] ].
  - now apply is_not_given_sound.
  - exact (is_enough_sound _ _ _ _ _ _ _ Henough Hattains).
  - exists (realised T net). now apply (lower_normalized T bits).
  - exact (always_right T a b y (p # q) parts Hcheck).
Qed.

Theorem wrong_and_possible T a b y p q weights part bits net p' q' :
  is_not_given T a b = true -> check_wrong T a b y (p # q) weights part = true -> attains T bits net p' q' = true ->
  is_enough p q p' q' = true ->
  not_given T a b /\
  IZR p / IZR (Zpos q) <= IZR p' / IZR q' /\
  (exists other, normalized_margin_at_least T (IZR p' / IZR q') other) /\
  (forall other, normalized_margin_at_least T (IZR p / IZR (Zpos q)) other -> wrong_at T a b y other).
Proof.
  intros Hcell Hcheck Hattains Henough. split; [ | split; [ | split ] ].
  - now apply is_not_given_sound.
  - exact (is_enough_sound _ _ _ _ _ _ _ Henough Hattains).
  - exists (realised T net). now apply (lower_normalized T bits).
  - exact (always_wrong T a b y (p # q) weights part Hcheck).
Qed.

(** The first network is right at the cell by at least p1 / q1, in the second c is above y by at least p2 / q2. *)
Theorem two_verdicts T a b y c p q cert p' q' bits1 right_bits net1 p1 q1 bits2 wrong_bits net2 p2 q2 :
  is_not_given T a b = true -> check T cert = true -> is_below cert p' q' = true ->
  attains T bits1 net1 p q = true -> differ T right_bits net1 [(a, b, others T y)] p1 q1 = true ->
  attains T bits2 net2 p q = true -> differ T wrong_bits net2 [(a, b, [(c, y)])] p2 q2 = true ->
  (Nat.ltb c (labels T) && negb (Nat.eqb c y) && Z.ltb 0 p1 && Z.ltb 0 p2)%bool = true ->
  not_given T a b /\
  (forall net g, normalized_margin_at_least T g net -> g <= IZR p' / IZR (Zpos q')) /\
  (exists net, normalized_margin_at_least T (IZR p / IZR q) net /\ right_at T a b y net) /\
  (exists net, normalized_margin_at_least T (IZR p / IZR q) net /\ wrong_at T a b y net).
Proof.
  intros Hcell Hcheck Hbelow Hattains1 Hright Hattains2 Hwrong H.
  rewrite !andb_true_iff in H. destruct H as [[[Hc Hcy] Hp1] Hp2].
  apply Nat.ltb_lt in Hc. apply negb_true_iff, Nat.eqb_neq in Hcy. apply Z.ltb_lt in Hp1, Hp2.
  split; [ now apply is_not_given_sound | split; [ | split ] ].
  - exact (proj2 (two_sided T cert bits1 net1 p q p' q' Hcheck Hattains1 Hbelow)).
  - exists (realised T net1). split; [ now apply (lower_normalized T bits1) | ].
    now apply (right_sound T right_bits net1 a b y p1 q1).
  - exists (realised T net2). split; [ now apply (lower_normalized T bits2) | ].
    now apply (wrong_sound T wrong_bits net2 a b y c p2 q2).
Qed.
