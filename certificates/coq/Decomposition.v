(** Every finite group has a complete family of irreducible real representations.

    [splits]: an orthogonal representation that is not irreducible is the sum
    of two of smaller dimensions; their bases are eigenvectors of a symmetric
    matrix that commutes with it (Spectral.v).  So every representation is a
    sum of irreducible ones ([decomposed]), the regular one above all.  One
    representation is kept for each character that occurs, with the units of
    Commutants.v.  The character of the regular representation is orthogonal to
    all other functions in their span, which gives the multiplicities: it is
    the sum of (nu/m) chi ([complete_family_exists]).

    [value_of_every_group]: hence the theorem of Maximum.v for every finite
    group of order n >= 2, without hypothesis: the maximum margin is
    2 (3n)^(-3/2) times the value of the game. *)

From Coq Require Import Reals Lra Lia Arith.
From Lemmata Require Import Statement Sums Convolution Groups EveryGroup Representations Attain Universal Maximum.
From Lemmata Require Import Spectral Commutants.
Local Open Scope R_scope.

Lemma sum_join : forall p q f, sum (p + q) f = sum p f + sum q (fun i => f (p + i)%nat).
Proof.
  intros p q f; induction q as [|q IH]; [rewrite Nat.add_0_r; simpl; ring|].
  rewrite Nat.add_succ_r; cbn [sum]; rewrite IH; ring.
Qed.

(** A representation with the identity as its only unit. *)
Definition plain (d : nat) (M : nat -> nat -> nat -> R) : representation := Representation d M 1 (fun _ => delta).

(** Two families, one after the other. *)
Definition followed (k : nat) (f h : nat -> representation) (s : nat) : representation :=
  if Nat.ltb s k then f s else h (s - k)%nat.

Lemma followed_below : forall k f h s, (s < k)%nat -> followed k f h s = f s.
Proof. intros k f h s Hs; unfold followed; destruct (Nat.ltb_spec s k); [reflexivity|lia]. Qed.

Lemma followed_above : forall k f h s, followed k f h (k + s) = h s.
Proof. intros; unfold followed; destruct (Nat.ltb_spec (k + s) k); [lia|f_equal; lia]. Qed.

(** Either all numbers of a sequence are equal, or two neighbours differ. *)
Lemma all_equal_or_step : forall d (f : nat -> R),
  (forall i, (i < d)%nat -> f i = f 0%nat) \/ (exists p, (0 < p < d)%nat /\ f p <> f (p - 1)%nat).
Proof.
  induction d as [|d IH]; intro f; [left; intros; lia|].
  destruct (IH f) as [E|[p [Hp N]]]; [|right; exists p; split; [lia|exact N]].
  destruct d as [|d]; [left; intros i Hi; replace i with 0%nat by lia; reflexivity|].
  destruct (Req_dec (f (S d)) (f d)) as [A|A].
  - left; intros i Hi; destruct (Nat.eq_dec i (S d)) as [->|]; [rewrite A|]; apply E; lia.
  - right; exists (S d); split; [lia|]; replace (S d - 1)%nat with d by lia; exact A.
Qed.

Section Decomposition.
Variable G : group.
Hypothesis HG : is_group G.
Local Notation n := (order G).

Lemma plain_is_representation : forall d M,
  (forall i j, (i < d)%nat -> (j < d)%nat -> M (unit G) i j = delta i j) ->
  (forall a b i j, below G a -> below G b -> (i < d)%nat -> (j < d)%nat ->
    M (op G a b) i j = times d (M a) (M b) i j) ->
  (forall a i j, below G a -> (i < d)%nat -> (j < d)%nat -> M (inv G a) i j = M a j i) ->
  is_representation G (plain d M).
Proof.
  intros d M H1 H2 H3; split; cbn [plain dim mat many unit_matrix]; auto.
  - intros k l b c Hk Hl Hb Hc; replace k with 0%nat by lia; replace l with 0%nat by lia.
    rewrite (sum_ext d _ (fun a => delta a b * (2 * delta a c))) by (intros; ring).
    rewrite (sum_delta d (fun a => 2 * delta a c) b Hb), delta_same; ring.
  - intros a k _ _ i j Hi Hj; unfold times.
    rewrite (sum_ext d _ (fun k => delta k j * M a i k)) by (intros; ring).
    rewrite (sum_delta d (fun k => M a i k) j Hj).
    rewrite (sum_ext d _ (fun k => delta k i * M a k j)) by (intros; rewrite (delta_sym i); ring).
    rewrite (sum_delta d (fun k => M a k j) i Hi); reflexivity.
Qed.

(** ** The regular representation *)

Definition regular : representation := plain n (fun g i j => delta i (op G g j)).

Lemma regular_is_representation : is_representation G regular.
Proof.
  apply plain_is_representation.
  - intros i j _ Hj; rewrite (unit_left G HG) by assumption; reflexivity.
  - intros a b i j Ha Hb Hi Hj; unfold times.
    rewrite (sum_ext n _ (fun k => delta k (op G b j) * delta i (op G a k))) by (intros; ring).
    rewrite (sum_delta n (fun k => delta i (op G a k))) by (apply (op_below G HG); assumption).
    rewrite (assoc G HG) by assumption; reflexivity.
  - intros a i j Ha Hi Hj; unfold delta.
    destruct (Nat.eqb_spec i (op G (inv G a) j)) as [E|N], (Nat.eqb_spec j (op G a i)) as [E'|N'];
      try reflexivity; exfalso.
    + apply N'; rewrite E, (cancel_inv G HG) by assumption; reflexivity.
    + apply N; rewrite E', (inv_cancel G HG) by assumption; reflexivity.
Qed.

Lemma regular_character : forall g, below G g -> character regular g = INR n * delta g (unit G).
Proof.
  intros g Hg; unfold character, regular; cbn [plain dim mat]; rewrite <- sum_const.
  apply sum_ext; intros i Hi; unfold delta.
  destruct (Nat.eqb_spec i (op G g i)) as [E|N], (Nat.eqb_spec g (unit G)) as [E'|N'];
    try reflexivity; exfalso.
  - apply N'; rewrite <- (op_cancel_inv G HG g i), <- E by assumption; apply inv_right; assumption.
  - apply N; rewrite E', (unit_left G HG) by assumption; reflexivity.
Qed.

(** ** Splitting *)

(** Matrices of two blocks. *)
Lemma blocks : forall r p q, is_representation G r -> dim r = (p + q)%nat ->
  (forall g i j, below G g -> (i < p)%nat -> (j < q)%nat ->
    mat r g i (p + j) = 0 /\ mat r g (p + j) i = 0) ->
  is_representation G (plain p (mat r)) /\
  is_representation G (plain q (fun g i j => mat r g (p + i) (p + j))) /\
  forall g, character r g = character (plain p (mat r)) g
    + character (plain q (fun g i j => mat r g (p + i) (p + j))) g.
Proof.
  intros r p q Hr E Z; split; [|split].
  - apply plain_is_representation; intros.
    + apply (mat_unit G r Hr); lia.
    + rewrite (mat_op G r Hr) by (try assumption; lia); unfold times; rewrite E, sum_join.
      rewrite (sum_zero q); [ring|]; intros k Hk; destruct (Z a i k) as [-> _]; try assumption; ring.
    + apply (mat_inv G r Hr); try assumption; lia.
  - apply plain_is_representation; intros.
    + rewrite (mat_unit G r Hr) by lia; unfold delta.
      destruct (Nat.eqb_spec (p + i) (p + j)), (Nat.eqb_spec i j); try reflexivity; lia.
    + rewrite (mat_op G r Hr) by (try assumption; lia); unfold times; rewrite E, sum_join.
      rewrite (sum_zero p); [ring|]; intros k Hk; destruct (Z a k i) as [_ ->]; try assumption; ring.
    + apply (mat_inv G r Hr); try assumption; lia.
  - intro g; unfold character; rewrite E, sum_join; reflexivity.
Qed.

(** The matrices in another orthonormal basis. *)
Definition rotated (r : representation) (X : nat -> nat -> R) : representation :=
  plain (dim r) (fun g => in_basis (dim r) X (mat r g)).

Lemma rotated_is_representation : forall r X, is_representation G r -> orthonormal (dim r) (dim r) X ->
  is_representation G (rotated r X).
Proof.
  intros r X Hr HX; apply plain_is_representation.
  - intros i j Hi Hj; rewrite <- (in_basis_identity (dim r) X i j) by assumption.
    apply in_basis_ext; apply (mat_unit G r Hr).
  - intros a b i j Ha Hb Hi Hj; rewrite <- in_basis_times by assumption.
    apply in_basis_ext; intros; apply (mat_op G r Hr); assumption.
  - intros a i j Ha Hi Hj; rewrite <- in_basis_transpose.
    apply in_basis_ext; intros; apply (mat_inv G r Hr); assumption.
Qed.

Lemma rotated_character : forall r X g, orthonormal (dim r) (dim r) X ->
  character (rotated r X) g = character r g.
Proof. intros r X g HX; exact (in_basis_trace (dim r) X (mat r g) HX). Qed.

(** A matrix that commutes with r and has different eigenvalues at X_i and X_j leaves the entry (i, j) zero. *)
Lemma rotated_zero : forall r X A lambda g i j, commutes_symmetrically G r A -> below G g ->
  (forall i a, (i < dim r)%nat -> (a < dim r)%nat -> act (dim r) A (X i) a = lambda i * X i a) ->
  (i < dim r)%nat -> (j < dim r)%nat -> lambda i <> lambda j -> mat (rotated r X) g i j = 0.
Proof.
  intros r X A lambda g i j [SA CA] Hg HL Hi Hj N; unfold rotated, in_basis; cbn [plain mat].
  set (z := inner (dim r) (X i) (act (dim r) (mat r g) (X j))).
  assert (E : lambda j * z = lambda i * z).
  { transitivity (inner (dim r) (X i) (act (dim r) (mat r g) (act (dim r) A (X j)))).
    - unfold z; rewrite <- inner_scal; apply inner_ext; intros a Ha; rewrite <- act_scal.
      apply act_ext; intros; rewrite HL by assumption; reflexivity.
    - transitivity (inner (dim r) (X i) (act (dim r) A (act (dim r) (mat r g) (X j)))).
      + apply inner_ext; intros a Ha; rewrite !act_times; unfold act; apply sum_ext; intros b Hb.
        f_equal; apply CA; assumption.
      + rewrite (act_symmetric _ A _ _ SA); unfold z; rewrite !(inner_sym _ _ (act _ (mat r g) _)).
        rewrite <- inner_scal; apply inner_ext; intros; apply HL; assumption. }
  assert (D : (lambda i - lambda j) * z = 0) by lra.
  apply Rmult_integral in D; destruct D as [D|D]; [exfalso; apply N; lra|exact D].
Qed.

Theorem splits : forall r, is_representation G r -> (1 <= dim r)%nat ->
  irreducible G r \/ exists r1 r2, is_representation G r1 /\ is_representation G r2 /\
    (dim r1 < dim r)%nat /\ (dim r2 < dim r)%nat /\
    forall g, character r g = character r1 g + character r2 g.
Proof.
  intros r Hr Hd.
  destruct (irreducible_or_not G HG r Hr Hd) as [I|[A [a [b [CA [Ha [Hb N]]]]]]]; [left; exact I|right].
  destruct (spectral (dim r) A (proj1 CA)) as [lambda [X [HX [HL Mono]]]].
  destruct (all_equal_or_step (dim r) lambda) as [E|[p [Hp Np]]].
  - exfalso.
    assert (Scalar : forall a b, (a < dim r)%nat -> (b < dim r)%nat -> A a b = lambda 0%nat * delta a b).
    { clear a b Ha Hb N; intros a b Ha Hb.
      transitivity (act (dim r) A (fun c => delta c b) a); [symmetry; apply inner_delta; exact Hb|].
      rewrite (act_ext _ A _ (fun c => sum (dim r) (fun i => inner (dim r) (X i) (fun c => delta c b) * X i c)))
        by (intros c Hc; exact (expand _ X (fun c => delta c b) HX c Hc)).
      rewrite act_combination, <- (basis _ X HX), <- sum_scal by assumption.
      apply sum_ext; intros i Hi; rewrite HL, E, inner_delta by assumption; ring. }
    apply N; rewrite !Scalar, delta_same by lia; ring.
  - destruct (blocks (rotated r X) p (dim r - p)) as [R1 [R2 C]].
    + apply rotated_is_representation; assumption.
    + cbn [rotated plain dim]; lia.
    + intros g i j Hg Hi Hj.
      assert (lambda (p + j)%nat < lambda i).
      { pose proof (Mono i (p - 1)%nat ltac:(lia) ltac:(lia)); pose proof (Mono p (p + j)%nat ltac:(lia) ltac:(lia)).
        pose proof (Mono (p - 1)%nat p ltac:(lia) ltac:(lia)); lra. }
      split; apply (rotated_zero r X A lambda); try assumption; try lia; lra.
    + eexists; eexists; split; [exact R1|split; [exact R2|split; [|split]]].
      * cbn [plain dim]; lia.
      * cbn [plain dim]; lia.
      * intro g; rewrite <- C; symmetry; apply rotated_character; exact HX.
Qed.

Theorem decomposed : forall r, is_representation G r -> exists count family,
  (forall s, (s < count)%nat -> is_representation G (family s) /\ irreducible G (family s)) /\
  forall g, character r g = sum count (fun s => character (family s) g).
Proof.
  assert (H : forall d r, is_representation G r -> (dim r <= d)%nat -> exists count family,
    (forall s, (s < count)%nat -> is_representation G (family s) /\ irreducible G (family s)) /\
    forall g, character r g = sum count (fun s => character (family s) g)).
  { induction d as [|d IH]; intros r Hr L.
    { exists 0%nat, (fun _ => r); split; [intros; lia|]; intro g; unfold character.
      replace (dim r) with 0%nat by lia; reflexivity. }
    destruct (Nat.eq_dec (dim r) 0) as [Z|Z]; [apply IH; [exact Hr|lia]|].
    destruct (splits r Hr ltac:(lia)) as [I|[r1 [r2 [R1 [R2 [D1 [D2 C]]]]]]].
    - exists 1%nat, (fun _ => r); split; [auto|]; intro g; cbn [sum]; ring.
    - destruct (IH r1 R1 ltac:(lia)) as [k1 [f1 [P1 C1]]], (IH r2 R2 ltac:(lia)) as [k2 [f2 [P2 C2]]].
      exists (k1 + k2)%nat, (followed k1 f1 f2); split.
      + intros s Hs; destruct (Nat.lt_ge_cases s k1); [rewrite followed_below by assumption; auto|].
        replace s with (k1 + (s - k1))%nat by lia; rewrite followed_above; apply P2; lia.
      + intro g; rewrite C, C1, C2, sum_join; f_equal; apply sum_ext; intros.
        * rewrite followed_below by assumption; reflexivity.
        * rewrite followed_above; reflexivity. }
  intros r Hr; exact (H (dim r) r Hr (Nat.le_refl _)).
Qed.

(** ** One representation for each character *)

(** Irreducible, with all its units. *)
Record full (r : representation) : Prop := {
  full_representation : is_representation G r;
  full_irreducible : irreducible G r;
  full_units : sum n (fun g => character r g * character r g) = INR n * INR (many r)
}.

Lemma with_units : forall r, is_representation G r -> irreducible G r ->
  exists r', full r' /\ forall g, character r' g = character r g.
Proof.
  intros r Hr Ir; destruct (units_exist G HG r Hr Ir) as [m [J [HJ E]]].
  exists (Representation (dim r) (mat r) m J); split; [split|reflexivity].
  - split; cbn [dim mat many unit_matrix].
    + exact (mat_unit G r Hr).
    + exact (mat_op G r Hr).
    + exact (mat_inv G r Hr).
    + exact (begins_one G r m J HJ).
    + exact (begins_identity G r m J HJ).
    + exact (begins_units G HG r Hr Ir m J HJ).
    + intros a k Ha Hk i j Hi Hj; exact (begins_commute G r m J HJ k Hk a i j Ha Hi Hj).
  - exact Ir.
  - cbn [many]; rewrite E; apply sum_ext; intros; unfold character; cbn [dim mat]; ring.
Qed.

Theorem distinct : forall count family,
  (forall s, (s < count)%nat -> is_representation G (family s) /\ irreducible G (family s)) ->
  exists k f, (forall s, (s < k)%nat -> full (f s)) /\
    (forall s t, (s < k)%nat -> (t < k)%nat -> s <> t ->
      sum n (fun g => character (f s) g * character (f t) g) = 0) /\
    (forall s, (s < count)%nat -> exists t, (t < k)%nat /\
      forall g, below G g -> character (family s) g = character (f t) g) /\
    (k <= count)%nat /\
    ((0 < count)%nat -> (0 < k)%nat /\ forall g, character (f 0%nat) g = character (family 0%nat) g).
Proof.
  induction count as [|count IH]; intros family H.
  { exists 0%nat, family; repeat split; intros; lia. }
  destruct (IH family) as [k [f [F [O [C [L First]]]]]]; [intros; apply H; lia|].
  destruct (H count ltac:(lia)) as [Hr Ir]; destruct (with_units _ Hr Ir) as [r [Fr Cr]].
  destruct (search k (fun t => sum n (fun g => character r g * character (f t) g) = 0)
    (fun t => forall g, below G g -> character r g = character (f t) g)) as [A|[t [Ht A]]].
  - intros t Ht; pose proof (F t Ht) as Ft.
    destruct (same_or_orthogonal G HG r (f t)); auto using full_representation, full_irreducible.
  - exists (S k), (followed k f (fun _ => r)); split; [|split; [|split; [|split]]].
    + intros s Hs; unfold followed; destruct (Nat.ltb_spec s k); auto.
    + intros s t Hs Ht N; unfold followed; destruct (Nat.ltb_spec s k), (Nat.ltb_spec t k); try lia; auto.
      rewrite <- (A s) by assumption; apply sum_ext; intros; ring.
    + intros s Hs; destruct (Nat.eq_dec s count) as [->|].
      * exists k; split; [lia|]; intros g _; unfold followed; rewrite Nat.ltb_irrefl, Cr; reflexivity.
      * destruct (C s) as [t [Ht E]]; [lia|]; exists t; split; [lia|]; rewrite followed_below; assumption.
    + lia.
    + intros _; split; [lia|]; intro g; destruct count as [|count].
      * replace k with 0%nat by lia; apply Cr.
      * destruct First as [Pk E]; [lia|]; rewrite followed_below by exact Pk; apply E.
  - exists k, f; split; [exact F|split; [exact O|split; [|split]]].
    + intros s Hs; destruct (Nat.eq_dec s count) as [->|]; [|apply C; lia].
      exists t; split; [exact Ht|]; intros g Hg; rewrite <- Cr; apply A; exact Hg.
    + lia.
    + intros _; apply First; lia.
Qed.

Lemma trivial_representation : let r := one_dimensional (fun _ => 1) in
  is_representation G r /\ irreducible G r /\ forall g, character r g = 1.
Proof.
  split; [|split; [split|]].
  - apply one_dimensional_is_representation; intros; ring.
  - exact (Nat.le_refl 1).
  - intros A _; exists (A 0%nat 0%nat); intros i j Hi Hj; cbn [one_dimensional dim] in Hi, Hj.
    replace i with 0%nat by lia; replace j with 0%nat by lia; rewrite delta_same; ring.
  - intro g; unfold character; simpl; ring.
Qed.

(** Its member 0 is the trivial one. *)
Theorem complete_family_exists : exists count family, complete_family G count family /\
  (forall s, (s < count)%nat -> irreducible G (family s)) /\
  forall g, character (family 0%nat) g = 1.
Proof.
  destruct (decomposed regular regular_is_representation) as [c [r [Hr Er]]].
  destruct trivial_representation as [T1 [T2 T3]].
  destruct (distinct (1 + c) (followed 1 (fun _ => one_dimensional (fun _ => 1)) r)) as [k [f [F [O [C [_ First]]]]]].
  { intros [|s] Hs; [split; assumption|]; change (S s) with (1 + s)%nat; rewrite followed_above; apply Hr; lia. }
  destruct First as [_ First]; [lia|].
  exists k, f; split; [|split; [intros; apply full_irreducible, F; assumption|intro g; rewrite First; apply T3]].
  split; [intros; apply full_representation, F; assumption
    |intros s Hs; apply (proj1 (full_irreducible _ (F s Hs)))|].
  set (share := fun s => INR (dim (f s)) / INR (many (f s))).
  set (rest := fun g => character regular g - sum k (fun s => share s * character (f s) g)).
  assert (At : forall x, sum n (fun g => character regular g * x g) = INR n * x (unit G)).
  { intro x; rewrite (sum_ext n _ (fun g => delta g (unit G) * (INR n * x g))).
    - apply (sum_delta n (fun g => INR n * x g)), (unit_below G HG).
    - intros g Hg; rewrite regular_character by assumption; ring. }
  assert (Orthogonal : forall t, (t < k)%nat -> sum n (fun g => rest g * character (f t) g) = 0).
  { intros t Ht; pose proof (F t Ht) as Ft; unfold rest.
    rewrite (sum_ext n _ (fun g => character regular g * character (f t) g
      - sum k (fun s => share s * (character (f s) g * character (f t) g)))).
    2: { intros g _; rewrite Rmult_minus_distr_r, <- sum_scal_r; f_equal; apply sum_ext; intros; ring. }
    rewrite sum_minus, At, sum_swap, (sum_ext k _ (fun s => delta s t * (share s * (INR n * INR (many (f s)))))).
    - rewrite (sum_delta k (fun s => share s * (INR n * INR (many (f s)))) t Ht).
      rewrite (character_of_unit G) by (apply full_representation; exact Ft); unfold share.
      pose proof (many_positive G _ (full_representation _ Ft)) as M; field; apply not_0_INR; lia.
    - intros s Hs; rewrite sum_scal; destruct (Nat.eq_dec s t) as [->|N].
      + rewrite delta_same, (full_units _ Ft); ring.
      + rewrite O, delta_other by assumption; ring. }
  assert (Zero : square n rest = 0).
  { rewrite <- inner_self; unfold inner.
    rewrite (sum_ext n _ (fun g => sum c (fun s => rest g * character (r s) g)
      - sum k (fun s => share s * (rest g * character (f s) g)))).
    - rewrite sum_minus, !(sum_swap n), !sum_zero; [ring| |].
      + intros s Hs; rewrite sum_scal, Orthogonal by assumption; ring.
      + intros s Hs; destruct (C (1 + s)%nat ltac:(lia)) as [t [Ht E]]; rewrite <- (Orthogonal t Ht).
        apply sum_ext; intros; rewrite <- E, followed_above by assumption; reflexivity.
    - intros g _; rewrite sum_scal, <- Er; unfold rest at 2.
      rewrite (sum_ext k (fun s => share s * (rest g * _)) (fun s => rest g * (share s * character (f s) g)))
        by (intros; ring).
      rewrite sum_scal; ring. }
  intros g Hg; pose proof (square_null n rest Zero g Hg) as Z; unfold rest in Z.
  rewrite regular_character in Z by assumption; unfold share in Z; lra.
Qed.

End Decomposition.

(** ** The theorems for every finite group *)
Theorem value_of_every_group : forall G, is_group G -> (2 <= order G)%nat ->
  exists count family v, complete_family G count family /\
  (forall s, (s < count)%nat -> irreducible G (family s)) /\
  game_solution G count family v /\
  maximum_margin_between (group_table G) (constant G * v) (constant G * v).
Proof.
  intros G HG Hn; destruct (complete_family_exists G HG) as [count [family [HF [Irr _]]]].
  destruct (group_value G count family HG Hn HF) as [v [S M]].
  exists count, family, v; auto.
Qed.

(** The closed form, and the network that attains it; member 0 of the family is the trivial one.  The upper side needs
    the condition, the network does not. *)
Theorem closed_form_of_every_group : forall G, is_group G -> (2 <= order G)%nat ->
  exists count family, complete_family G count family /\
  (forall s, (s < count)%nat -> irreducible G (family s)) /\
  (forall g, character (family 0%nat) g = 1) /\
  let value := constant G * (INR (order G) / total_share count family) in
  (exists net, width net = 2 * sum (count - 1) (fun s => INR (dim (family (S s))) ^ 3) /\
    normalized_margin_at_least (group_table G) value net) /\
  ((forall g, below G g -> g <> unit G -> sum count (fun s => share family s * character (family s) g) <= 0) ->
    maximum_margin_between (group_table G) value value).
Proof.
  intros G HG Hn; destruct (complete_family_exists G HG) as [count [family [HF [Irr T]]]].
  exists count, family; split; [exact HF|split; [exact Irr|split; [exact T|split]]].
  - apply (closed_form_width G count family HG Hn HF); auto.
  - intro C; apply (closed_form G count family HG Hn HF); auto.
Qed.
