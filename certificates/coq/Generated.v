(** Groups by generators: families of real type, checked by computation.

    A representation is given by integral matrices for some generators of a
    group; they need not be orthogonal (Orthogonal.v).  [check_generated]
    decides with integers whether these matrices multiply like the elements of
    the group, whether the squares of the dimensions and the characters add up
    as they have to, and whether the sums of the closed form are nowhere
    positive, with roots rounded in the worse direction.  [generated_value]: the
    maximum margin is then that of the closed form.  Irreducibility needs no
    check: completeness implies it. *)

From Coq Require Import Reals List ZArith Lra Lia Arith Bool.
From Lemmata Require Import Below.
From Lemmata Require Import Statement Sums Convolution Groups EveryGroup Representations Universal.
From Lemmata Require Import Integral Spectral Decomposition Orthogonal.
Import ListNotations.
Local Open Scope R_scope.

Definition zmatrix := list (list Z).
Definition matrix_entry (A : zmatrix) (i j : nat) : Z := nth j (nth i A []) 0%Z.
Definition tabulate (d : nat) (f : nat -> nat -> Z) : zmatrix := map (fun i => map (f i) (seq 0 d)) (seq 0 d).
Definition product (d : nat) (A B : zmatrix) : zmatrix := tabulate d (ztimes d (matrix_entry A) (matrix_entry B)).
Definition same_matrix (d : nat) (A B : zmatrix) : bool :=
  all d (fun i => all d (fun j => Z.eqb (matrix_entry A i j) (matrix_entry B i j))).
Definition trace (d : nat) (A : zmatrix) : Z := zsum d (fun i => matrix_entry A i i).

(** A dimension, and a matrix for each generator. *)
Record presented := Presented { degree : nat; generator_matrices : list zmatrix }.

Section Generated.
Variable G : group.
Local Notation n := (order G).

(** Some elements, and how each element is a product of them: numbers of generators, the first one outermost. *)
Variable generators : list nat.
Variable word : nat -> list nat.

Definition generator (s : nat) : nat := nth s generators 0%nat.
Definition word_element (w : list nat) : nat := fold_right (fun s a => op G (generator s) a) (unit G) w.
Definition word_matrix (r : presented) (w : list nat) : zmatrix :=
  fold_right (fun s A => product (degree r) (nth s (generator_matrices r) []) A) (tabulate (degree r) zdelta) w.
(** The matrices of all elements. *)
Definition matrices (r : presented) : list zmatrix := map (fun a => word_matrix r (word a)) (seq 0 n).

Definition check_words : bool :=
  (all n (fun a => Nat.eqb (word_element (word a)) a && forallb (fun s => Nat.ltb s (length generators)) (word a))
   && forallb (fun g => Nat.ltb g n) generators)%bool.

Definition check_presented (r : presented) : bool :=
  let T := matrices r in
  (Nat.leb 1 (degree r)
   && same_matrix (degree r) (nth (unit G) T []) (tabulate (degree r) zdelta)
   && all (length generators) (fun s => all n (fun a =>
        same_matrix (degree r) (nth (op G (generator s) a) T [])
          (product (degree r) (nth s (generator_matrices r) []) (nth a T [])))))%bool.

(** At least 1000 d sqrt d c. *)
Definition above (d : nat) (c : Z) : Z :=
  let root := Z.sqrt (Z.of_nat d * 1000000) in
  (c * Z.of_nat d * (if Z.leb 0 c then root + 1 else root))%Z.

Variable family : list presented.
Definition member (s : nat) : presented := nth s family (Presented 0 []).

Definition check_characters : bool :=
  let count := length family in
  let tables := map matrices family in
  let chi := fun s g => trace (degree (member s)) (nth g (nth s tables []) []) in
  (all n (fun g => Z.eqb (chi 0%nat g) 1)
   && all n (fun g => Z.eqb (zsum count (fun s => Z.of_nat (degree (member s)) * chi s g))
        (Z.of_nat n * zdelta g (unit G)))
   && all n (fun g => Nat.eqb g (unit G)
        || Z.leb (zsum count (fun s => match s with O => 0 | _ => above (degree (member s)) (chi s g) end)) 0))%Z%bool.

Definition check_generated : bool :=
  (Nat.leb 2 n && check_words && forallb check_presented family && check_characters)%bool.

(** ** Soundness *)

Lemma nth_map_seq : forall (A : Type) (f : nat -> A) k e i, (i < k)%nat -> nth i (map f (seq 0 k)) e = f i.
Proof.
  intros A f k e i Hi; rewrite nth_indep with (d' := f 0%nat) by (rewrite map_length, seq_length; exact Hi).
  rewrite map_nth, seq_nth by exact Hi; reflexivity.
Qed.

Lemma entry_tabulate : forall d f i j, (i < d)%nat -> (j < d)%nat -> matrix_entry (tabulate d f) i j = f i j.
Proof. intros d f i j Hi Hj; unfold matrix_entry, tabulate; rewrite !nth_map_seq by assumption; reflexivity. Qed.

Definition real_matrix (A : zmatrix) (i j : nat) : R := IZR (matrix_entry A i j).

Lemma real_product : forall d A B i j, (i < d)%nat -> (j < d)%nat ->
  real_matrix (product d A B) i j = times d (real_matrix A) (real_matrix B) i j.
Proof.
  intros d A B i j Hi Hj; unfold real_matrix at 1, product; rewrite entry_tabulate by assumption.
  symmetry; apply (times_integers d (matrix_entry A) (matrix_entry B)).
Qed.

Lemma real_identity : forall d i j, (i < d)%nat -> (j < d)%nat ->
  real_matrix (tabulate d zdelta) i j = delta i j.
Proof. intros; unfold real_matrix; rewrite entry_tabulate, delta_integer by assumption; reflexivity. Qed.

Lemma same_matrix_sound : forall d A B i j, same_matrix d A B = true -> (i < d)%nat -> (j < d)%nat ->
  real_matrix A i j = real_matrix B i j.
Proof.
  intros d A B i j H Hi Hj; unfold real_matrix; f_equal; apply Z.eqb_eq.
  exact (all_2 d d (fun i j => Z.eqb (matrix_entry A i j) (matrix_entry B i j)) H i j Hi Hj).
Qed.

Lemma times_associative : forall d A B C i j, times d (times d A B) C i j = times d A (times d B C) i j.
Proof. intros d A B C i j; symmetry; exact (act_times d A B (fun k => C k j) i). Qed.

Lemma times_ext : forall d A A' B B' i j, (forall k, (k < d)%nat -> A i k = A' i k) ->
  (forall k, (k < d)%nat -> B k j = B' k j) -> times d A B i j = times d A' B' i j.
Proof.
  intros d A A' B B' i j HA HB; unfold times; apply sum_ext; intros; rewrite HA, HB by assumption; reflexivity.
Qed.

Hypothesis HG : is_group G.
Hypothesis Hwords : check_words = true.

Lemma generator_below : forall s, (s < length generators)%nat -> below G (generator s).
Proof.
  intros s Hs; apply andb_prop in Hwords; destruct Hwords as [_ H].
  rewrite forallb_forall in H; apply Nat.ltb_lt, H, nth_In; exact Hs.
Qed.

Lemma word_valid : forall a, below G a ->
  word_element (word a) = a /\ Forall (fun s => (s < length generators)%nat) (word a).
Proof.
  intros a Ha; apply andb_prop in Hwords; destruct Hwords as [H _].
  pose proof (all_below n _ H a Ha) as E; apply andb_prop in E; destruct E as [E F].
  split; [apply Nat.eqb_eq; exact E|].
  apply Forall_forall; intros s Hs; rewrite forallb_forall in F; apply Nat.ltb_lt, F; exact Hs.
Qed.

Section Member.
Variable r : presented.
Hypothesis Hr : check_presented r = true.
Local Notation d := (degree r).
Local Notation M := (fun a => real_matrix (nth a (matrices r) [])).

Lemma presented_parts : (1 <= d)%nat /\
  (forall i j, (i < d)%nat -> (j < d)%nat -> M (unit G) i j = delta i j) /\
  (forall s a i j, (s < length generators)%nat -> below G a -> (i < d)%nat -> (j < d)%nat ->
    M (op G (generator s) a) i j = times d (real_matrix (nth s (generator_matrices r) [])) (M a) i j).
Proof.
  unfold check_presented in Hr; cbv zeta in Hr.
  apply andb_prop in Hr; destruct Hr as [H Step]; apply andb_prop in H; destruct H as [D Unit].
  split; [apply Nat.leb_le; exact D|split].
  - intros i j Hi Hj; rewrite (same_matrix_sound _ _ _ i j Unit) by assumption.
    apply real_identity; assumption.
  - intros s a i j Hs Ha Hi Hj; pose proof (all_2 _ _ _ Step s a Hs Ha) as E.
    rewrite (same_matrix_sound _ _ _ i j E) by assumption; apply real_product; assumption.
Qed.

Lemma word_matrix_op : forall w b i j, Forall (fun s => (s < length generators)%nat) w -> below G b ->
  (i < d)%nat -> (j < d)%nat ->
  below G (word_element w) /\
  M (op G (word_element w) b) i j = times d (real_matrix (word_matrix r w)) (M b) i j.
Proof.
  destruct presented_parts as [_ [_ Step]].
  induction w as [|s w IH]; intros b i j Hw Hb Hi Hj.
  - cbn [word_element word_matrix fold_right]; split; [apply (unit_below G HG)|].
    rewrite (unit_left G HG) by assumption; unfold times.
    rewrite (sum_ext d _ (fun k => delta k i * M b k j)).
    + symmetry; apply (sum_delta d (fun k => M b k j) i Hi).
    + intros k Hk; rewrite real_identity, delta_sym by assumption; reflexivity.
  - inversion Hw as [|s' w' Hs Hw' E]; subst.
    assert (Bw : below G (word_element w)) by (apply (IH b i j); assumption).
    change (word_element (s :: w)) with (op G (generator s) (word_element w)).
    change (word_matrix r (s :: w)) with (product d (nth s (generator_matrices r) []) (word_matrix r w)).
    pose proof (generator_below s Hs) as Bs.
    split; [apply (op_below G HG); assumption|].
    rewrite <- (assoc G HG), Step by (try assumption; apply (op_below G HG); assumption).
    rewrite (times_ext d _ (real_matrix (nth s (generator_matrices r) [])) _
      (times d (real_matrix (word_matrix r w)) (M b))) by (intros; try reflexivity; apply IH; assumption).
    rewrite <- times_associative; apply times_ext; [|reflexivity].
    intros k Hk; symmetry; apply real_product; assumption.
Qed.

Lemma presented_multiplies : forall a b i j, below G a -> below G b -> (i < d)%nat -> (j < d)%nat ->
  M (op G a b) i j = times d (M a) (M b) i j.
Proof.
  intros a b i j Ha Hb Hi Hj; destruct (word_valid a Ha) as [E F].
  destruct (word_matrix_op (word a) b i j F Hb Hi Hj) as [_ S]; rewrite E in S; rewrite S.
  unfold matrices at 2; rewrite nth_map_seq by exact Ha; reflexivity.
Qed.

Lemma presented_representation : exists rho, is_representation G rho /\ dim rho = d /\ many rho = 1%nat /\
  forall g, character rho g = IZR (trace d (nth g (matrices r) [])).
Proof.
  destruct presented_parts as [_ [Unit _]].
  destruct (orthogonalised G HG d M Unit presented_multiplies) as [rho [H1 [H2 [H3 H4]]]].
  exists rho; split; [exact H1|split; [exact H2|split; [exact H3|]]].
  intro g; rewrite H4; apply sum_integers.
Qed.

End Member.

Lemma above_sound : forall d c, 1000 * (INR d * sqrt (INR d) * IZR c) <= IZR (above d c).
Proof.
  intros d c; unfold above; set (root := Z.sqrt (Z.of_nat d * 1000000)).
  destruct (Z.sqrt_spec (Z.of_nat d * 1000000)) as [Lo Hi]; [lia|]; fold root in Lo, Hi.
  pose proof (Z.sqrt_nonneg (Z.of_nat d * 1000000)) as P; fold root in P; apply IZR_le in P.
  apply IZR_le in Lo; apply IZR_lt in Hi; unfold Z.succ in Hi.
  rewrite !mult_IZR, <- INR_IZR_INZ in Lo, Hi; rewrite plus_IZR in Hi.
  pose proof (sqrt_pos (INR d)) as Q; pose proof (sqrt_sqrt (INR d) (pos_INR d)) as S.
  assert (L : IZR root <= 1000 * sqrt (INR d)).
  { apply Rnot_lt_le; intro A; pose proof (Rmult_le_0_lt_compat (1000 * sqrt (INR d)) (IZR root)
      (1000 * sqrt (INR d)) (IZR root)); lra. }
  assert (U : 1000 * sqrt (INR d) <= IZR root + 1).
  { apply Rnot_lt_le; intro A; pose proof (Rmult_le_0_lt_compat (IZR root + 1) (1000 * sqrt (INR d))
      (IZR root + 1) (1000 * sqrt (INR d))); lra. }
  pose proof (pos_INR d) as D; rewrite !mult_IZR, <- INR_IZR_INZ.
  destruct (Z.leb_spec 0 c) as [C|C].
  - apply IZR_le in C; rewrite plus_IZR.
    pose proof (Rmult_le_compat_l (IZR c * INR d) _ _ (Rmult_le_pos _ _ C D) U); lra.
  - apply IZR_lt in C.
    assert (C' : 0 <= - IZR c * INR d) by (apply Rmult_le_pos; lra).
    pose proof (Rmult_le_compat_l (- IZR c * INR d) _ _ C' L); lra.
Qed.

(** Choice among finitely many. *)
Lemma choose : forall k (P : nat -> representation -> Prop), (forall s, (s < k)%nat -> exists r, P s r) ->
  exists f, forall s, (s < k)%nat -> P s (f s).
Proof.
  induction k as [|k IH]; intros P H; [exists (fun _ => plain 0 (fun _ _ _ => 0)); intros; lia|].
  destruct (IH P) as [f Hf]; [intros; apply H; lia|]; destruct (H k) as [r Hr]; [lia|].
  exists (fun s => if Nat.eqb s k then r else f s); intros s Hs.
  destruct (Nat.eqb_spec s k) as [->|]; [exact Hr|apply Hf; lia].
Qed.

End Generated.

(** The sum of nu^(5/2) over all members but the first one. *)
Definition presented_share (family : list presented) : R :=
  sum (length family) (fun s => match s with
    | O => 0
    | _ => INR (degree (member family s)) ^ 2 * sqrt (INR (degree (member family s))) end).

Theorem generated_value : forall G generators word family, is_group G ->
  check_generated G generators word family = true ->
  let value := constant G * (INR (order G) / presented_share family) in
  maximum_margin_between (group_table G) value value.
Proof.
  intros G generators word family HG H; unfold check_generated, check_characters in H.
  apply andb_prop in H; destruct H as [H Chars]; apply andb_prop in H; destruct H as [H Members].
  apply andb_prop in H; destruct H as [N Words]; cbv zeta in Chars.
  apply andb_prop in Chars; destruct Chars as [Chars Condition].
  apply andb_prop in Chars; destruct Chars as [Trivial Complete].
  apply Nat.leb_le in N; rewrite forallb_forall in Members.
  set (count := length family) in *; set (k := fun s => member family s).
  set (chi := fun s g => trace (degree (k s)) (nth g (nth s (map (matrices G word) family) []) [])).
  assert (Table : forall s, (s < count)%nat -> nth s (map (matrices G word) family) [] = matrices G word (k s)).
  { intros s Hs; rewrite nth_indep with (d' := matrices G word (Presented 0 [])) by (rewrite map_length; exact Hs).
    apply map_nth. }
  assert (Each : forall s, (s < count)%nat -> exists rho, is_representation G rho /\ dim rho = degree (k s) /\
    many rho = 1%nat /\ (1 <= degree (k s))%nat /\ forall g, character rho g = IZR (chi s g)).
  { intros s Hs; assert (C : check_presented G generators word (k s) = true) by (apply Members, nth_In; exact Hs).
    destruct (presented_representation G generators word HG Words (k s) C) as [rho [H1 [H2 [H3 H4]]]].
    exists rho; repeat split; try assumption; try apply H1.
    - apply (presented_parts G generators word (k s) C).
    - intro g; rewrite H4; unfold chi; rewrite Table by exact Hs; reflexivity. }
  destruct (choose count _ Each) as [rho Hrho].
  assert (Pc : (0 < count)%nat).
  { pose proof (all_below _ _ Complete (unit G) (unit_below G HG)) as E; apply Z.eqb_eq in E.
    unfold zdelta in E; rewrite Nat.eqb_refl in E; destruct count; [cbn [zsum] in E; lia|lia]. }
  assert (HF : complete_family G count rho).
  { split; [intros; apply Hrho; assumption|intros s Hs; destruct (Hrho s Hs) as [_ [-> [_ [D _]]]]; exact D|].
    intros g Hg; pose proof (all_below _ _ Complete g Hg) as E; cbv beta in E.
    apply Z.eqb_eq, (f_equal IZR) in E.
    rewrite mult_IZR, <- sum_integers, <- INR_IZR_INZ, <- delta_integer in E; rewrite <- E.
    apply sum_ext; intros s Hs; destruct (Hrho s Hs) as [_ [-> [-> [_ ->]]]].
    rewrite mult_IZR, <- INR_IZR_INZ; unfold chi; fold (k s); simpl (INR 1); field. }
  assert (Share : total_share count rho = presented_share family).
  { unfold total_share, presented_share; apply sum_ext; intros s Hs; unfold share.
    destruct (Hrho s Hs) as [_ [-> [-> _]]]; fold (k s); simpl (INR 1); destruct s; [ring|field]. }
  intro value; unfold value; rewrite <- Share; apply closed_form; try assumption.
  - intros g Hg; destruct (Hrho 0%nat Pc) as [_ [_ [_ [_ ->]]]].
    pose proof (all_below _ _ Trivial g Hg) as E; apply Z.eqb_eq in E; unfold chi, k; rewrite E; reflexivity.
  - intros g Hg Ng; pose proof (all_below _ _ Condition g Hg) as E; cbv beta in E.
    apply orb_prop in E; destruct E as [E|E]; [apply Nat.eqb_eq in E; contradiction|].
    apply Z.leb_le, IZR_le in E; rewrite <- sum_integers in E.
    apply Rmult_le_reg_l with 1000; [lra|]; rewrite Rmult_0_r, <- sum_scal.
    apply Rle_trans with (2 := E); apply sum_le; intros s Hs.
    destruct (Hrho s Hs) as [_ [Dd [Mm [_ C]]]]; unfold share; destruct s as [|s]; [lra|].
    rewrite Dd, Mm, C; fold (k (S s)); fold (chi (S s) g).
    pose proof (above_sound (degree (k (S s))) (chi (S s) g)); simpl (INR 1); unfold Rdiv; rewrite Rinv_1; lra.
Qed.
