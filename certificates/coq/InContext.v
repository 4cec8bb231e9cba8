(** The block of [Descent.v] makes a step by back-propagation, for all sizes.

    [one_step]: 2N+4 layers on the prompt with weights w give the prompt with
    the weights after a step, the same in every place of every token, for all
    depths, widths, numbers of examples, inputs, labels and weights in the box,
    and for all sums of ReLUs in place of r, r' and u.  [several_steps]: blocks
    in a row make as many steps.  [bounded]: when the test token is silent.

    How: [stage] t is the stream after t layers, written down; each layer leads
    from one stage to the next ([forward_stage], [derivatives_stage],
    [loss_stage], [errors_stage], [update_stage], [projection_stage]).  A head
    reads the weights from the tokens, where they are the same, so that its mean
    over the tokens is one number ([mean_same]); relu t - relu (-t) = t. *)

From Coq Require Import Reals QArith Qreals List Arith Bool Lia Lra FinFun.
From Lemmata Require Import Statement Sums Descent.
Import ListNotations.
Local Open Scope R_scope.

(** ** Sums over lists *)

Lemma total_ext {A} (phi psi : A -> R) l : (forall a, In a l -> phi a = psi a) -> total phi l = total psi l.
Proof.
  induction l as [|a l IH]; intro H; [reflexivity|]; unfold total in *; simpl.
  rewrite IH, H; [reflexivity|left; reflexivity|intros b B; apply H; right; exact B].
Qed.
Lemma total_app {A} (phi : A -> R) l m : total phi (l ++ m) = total phi l + total phi m.
Proof. induction l as [|a l IH]; unfold total in *; simpl; [ring|rewrite IH; ring]. Qed.
Lemma total_map {A B} (phi : B -> R) (f : A -> B) l : total phi (map f l) = total (fun a => phi (f a)) l.
Proof. induction l as [|a l IH]; unfold total in *; simpl; [reflexivity|rewrite IH; reflexivity]. Qed.
Lemma total_flat_map {A B} (phi : B -> R) (f : A -> list B) l :
  total phi (flat_map f l) = total (fun a => total phi (f a)) l.
Proof. induction l as [|a l IH]; [reflexivity|]; simpl; rewrite total_app, IH; reflexivity. Qed.
Lemma total_scal {A} (phi : A -> R) x l : total (fun a => x * phi a) l = x * total phi l.
Proof. induction l as [|a l IH]; unfold total in *; simpl; [ring|rewrite IH; ring]. Qed.
Lemma total_plus {A} (phi psi : A -> R) l : total (fun a => phi a + psi a) l = total phi l + total psi l.
Proof. induction l as [|a l IH]; unfold total in *; simpl; [ring|rewrite IH; ring]. Qed.
Lemma total_zero {A} (phi : A -> R) l : (forall a, In a l -> phi a = 0) -> total phi l = 0.
Proof.
  intro H; rewrite (total_ext phi (fun a => 0 * 0) l), total_scal; [ring|intros a L; rewrite H; [ring|exact L]].
Qed.
Lemma total_seq f m : total f (seq 0 m) = sum m f.
Proof.
  induction m as [|m IH]; [reflexivity|]; rewrite seq_S, total_app, IH; unfold total; simpl; ring.
Qed.

(** One term is left where all others are 0. *)
Lemma total_pick {A} (phi : A -> R) l a : NoDup l -> In a l -> (forall b, In b l -> b <> a -> phi b = 0) ->
  total phi l = phi a.
Proof.
  intro D; induction D as [|c l C D IH]; intros L H; [destruct L|].
  change (phi c + total phi l = phi a); destruct L as [E|L].
  - subst c; rewrite total_zero; [ring|intros b B; apply H; [right; exact B|intro E; subst b; contradiction]].
  - rewrite IH, (H c); [ring|left; reflexivity|intro E; subst c; contradiction|exact L|].
    intros b B E; apply H; [right; exact B|exact E].
Qed.

(** ** Places *)

Definition mark (a c : place) : R := if same a c then 1 else 0.

Lemma same_refl a : same a a = true.
Proof. unfold same; destruct (place_eq a a); [reflexivity|contradiction]. Qed.
Lemma same_other a c : a <> c -> same a c = false.
Proof. unfold same; destruct (place_eq a c); [contradiction|reflexivity]. Qed.
Lemma mark_refl a : mark a a = 1.
Proof. unfold mark; rewrite same_refl; reflexivity. Qed.
Lemma mark_other a c : a <> c -> mark a c = 0.
Proof. intro H; unfold mark; rewrite same_other; [reflexivity|exact H]. Qed.
Lemma only_mark a q c : Q2R (only a q c) = Q2R q * mark a c.
Proof. unfold only, mark; destruct (same a c); [ring|rewrite RMicromega.Q2R_0; ring]. Qed.

Lemma Q2R_nat m : Q2R (inject_Z (Z.of_nat m)) = INR m.
Proof. unfold Q2R, inject_Z; simpl; rewrite INR_IZR_INZ, Rinv_1; ring. Qed.
Lemma Q2R_one : Q2R 1 = 1.
Proof. exact RMicromega.Q2R_1. Qed.
Lemma Q2R_minus_one : Q2R (- (1)) = -1.
Proof. rewrite Q2R_opp, Q2R_one; ring. Qed.

Lemma NoDup_app {A} (l m : list A) : NoDup l -> NoDup m -> (forall a, In a l -> ~ In a m) -> NoDup (l ++ m).
Proof.
  intros L M; induction L as [|a l H L IH]; intro D; [exact M|]; simpl; constructor.
  - rewrite in_app_iff; intros [F|F]; [contradiction|exact (D a (or_introl eq_refl) F)].
  - apply IH; intros b B; apply D; right; exact B.
Qed.
Lemma NoDup_flat {A C} (f : A -> list C) l : NoDup l -> (forall a, In a l -> NoDup (f a)) ->
  (forall a a' b, In b (f a) -> In b (f a') -> a = a') -> NoDup (flat_map f l).
Proof.
  intros L H I; induction L as [|a l N L IH]; [constructor|]; simpl; apply NoDup_app.
  - apply H; left; reflexivity.
  - apply IH; intros b B; apply H; right; exact B.
  - intros b B F; apply in_flat_map in F; destruct F as [a' [A' F]].
    rewrite (I a a' b B F) in N; contradiction.
Qed.
Lemma NoDup_row f m : (forall i j, f i = f j -> i = j) -> NoDup (row f m).
Proof. intro H; apply FinFun.Injective_map_NoDup; [exact H|apply seq_NoDup]. Qed.
Lemma in_row f m c : In c (row f m) <-> exists k, c = f k /\ (k < m)%nat.
Proof.
  unfold row; rewrite in_map_iff; split; intros [k [E H]]; exists k; rewrite in_seq in *.
  - split; [symmetry; exact E|lia].
  - split; [symmetry; exact E|lia].
Qed.

Section Block.
Variable p : problem.
Let N := depth p.
Let K := width p.
Let n := examples p.
Lemma in_rows (f : nat -> nat -> place) (size : nat -> nat) (l : list nat) c :
  In c (flat_map (fun j => row (f j) (size j)) l) <-> exists j k, c = f j k /\ In j l /\ (k < size j)%nat.
Proof.
  rewrite in_flat_map; split.
  - intros [j [L H]]; apply in_row in H; destruct H as [k [E H]]; exists j, k; auto.
  - intros [j [k [E [L H]]]]; exists j; split; [exact L|apply in_row; exists k; auto].
Qed.

Lemma in_weights c : In c (weights p) <->
  exists j k i, c = Weight j k i /\ (1 <= j <= N)%nat /\ (k < K j)%nat /\ (i < K (j - 1))%nat.
Proof.
  unfold weights; rewrite in_flat_map; split.
  - intros [j [L H]]; apply (in_rows (Weight j)) in H; destruct H as [k [i [E [H I]]]].
    exists j, k, i; rewrite in_seq in *; repeat split; auto; fold N in L; fold K in H, I; lia.
  - intros [j [k [i [E [J [H I]]]]]]; exists j; split; [apply in_seq; fold N; lia|].
    apply (in_rows (Weight j)); exists k, i; repeat split; [exact E|apply in_seq; fold K; lia|exact I].
Qed.

Lemma in_scratch c : In c (scratch p) <-> match c with
  | Output j k | Slope j k | Error j k => (1 <= j <= N)%nat /\ (k < K j)%nat
  | Loss k => (k < K N)%nat
  | _ => False
  end.
Proof.
  unfold scratch; rewrite !in_app_iff, !in_rows, in_row; split.
  - intros [[j [k [E [L H]]]]|[[j [k [E [L H]]]]|[[k [E H]]|[j [k [E [L H]]]]]]]; subst c;
      [..|exact H|rewrite <- in_rev in L]; try (apply in_seq in L; fold N in L; fold K in H; lia).
  - destruct c; intro H; try contradiction;
      [left; exists j, k|right; left; exists j, k|right; right; left; exists k|right; right; right; exists j, k];
      (split; [reflexivity|]); try exact H; rewrite <- ?in_rev, in_seq; fold N; fold K; split; lia.
Qed.

Lemma in_places c : In c (places p) <-> match c with
  | Output 0 k => (k < K 0)%nat
  | Label k => (k < K N)%nat
  | Weight j k i => (1 <= j <= N)%nat /\ (k < K j)%nat /\ (i < K (j - 1))%nat
  | One | Example => True
  | _ => In c (scratch p)
  end.
Proof.
  unfold places; rewrite !in_app_iff, !in_row, in_weights; simpl; split.
  - intros [[k [E H]]|[[k [E H]]|[[j [k [i [E H]]]]|[H|[E|[E|[]]]]]]]; try (subst c; auto; fail).
    destruct c as [[|j] k| | | | | | |]; auto; apply in_scratch in H; simpl in H; try contradiction; lia.
  - destruct c as [[|j] k|k|j k i|j k|k|j k| |]; intro H; auto 7.
    + left; exists k; auto.
    + right; left; exists k; auto.
    + right; right; left; exists j, k, i; auto.
Qed.

Lemma places_distinct : NoDup (places p).
Proof.
  assert (rows : forall (f : nat -> nat -> place) (size : nat -> nat) l, NoDup l ->
    (forall j k j' k', f j k = f j' k' -> j = j' /\ k = k') ->
      NoDup (flat_map (fun j => row (f j) (size j)) l)).
  { intros f size l L I; apply NoDup_flat; [exact L| |].
    - intros j _; apply NoDup_row; intros k k' E; apply (I j k j k'), E.
    - intros j j' c H H'; apply in_row in H, H'; destruct H as [k [E _]], H' as [k' [E' _]].
      rewrite E in E'; apply (I j k j' k'), E'. }
  assert (D : NoDup (scratch p)).
  { unfold scratch; repeat apply NoDup_app.
    - apply rows; [apply seq_NoDup|intros; split; congruence].
    - apply rows; [apply seq_NoDup|intros; split; congruence].
    - apply NoDup_row; congruence.
    - apply rows; [apply NoDup_rev, seq_NoDup|intros; split; congruence].
    - intros c H F; apply in_row in H; destruct H as [k [E _]].
      apply in_rows in F; destruct F as [j [k' [E' _]]]; congruence.
    - intros c H F; apply in_rows in H; destruct H as [j [k [E _]]]; subst c.
      rewrite in_app_iff, in_row, in_rows in F.
      destruct F as [[k' [E' _]]|[j' [k' [E' _]]]]; congruence.
    - intros c H F; apply in_rows in H; destruct H as [j [k [E _]]]; subst c.
      rewrite !in_app_iff, in_row, !in_rows in F.
      destruct F as [[j' [k' [E' _]]]|[[k' [E' _]]|[j' [k' [E' _]]]]]; congruence. }
  assert (D' : NoDup (weights p)).
  { unfold weights; apply NoDup_flat; [apply seq_NoDup| |].
    - intros j _; apply rows; [apply seq_NoDup|intros; split; congruence].
    - intros j j' c H H'; apply in_rows in H, H'; destruct H as [k [i [E _]]], H' as [k' [i' [E' _]]]; congruence. }
  pose proof in_scratch as S; pose proof in_weights as W; unfold places.
  generalize dependent (scratch p); intros l L S; generalize dependent (weights p); intros m M W.
  repeat apply NoDup_app; try assumption.
  - apply NoDup_row; congruence.
  - apply NoDup_row; congruence.
  - constructor; [intros [E|[]]; congruence|constructor; [intros []|constructor]].
  - intros c H F; apply S in H; destruct F as [E|[E|[]]]; subst c; exact H.
  - intros c H F; apply W in H; destruct H as [j [k [i [E _]]]]; subst c.
    rewrite in_app_iff, S in F; destruct F as [[]|[E|[E|[]]]]; congruence.
  - intros c H F; apply in_row in H; destruct H as [k [E _]]; subst c.
    rewrite !in_app_iff, W, S in F; destruct F as [[j [k' [i [E _]]]]|[[]|[E|[E|[]]]]]; congruence.
  - intros c H F; apply in_row in H; destruct H as [k [E H]]; subst c.
    rewrite !in_app_iff, in_row, W, S in F.
    destruct F as [[k' [E _]]|[[j [k' [i [E _]]]]|[[J _]|[E|[E|[]]]]]]; try congruence; lia.
Qed.

(** ** One head, one unit *)

Notation all := (places p).

Lemma dot_only a q z : In a all -> dot all (only a q) z = Q2R q * z a.
Proof.
  intro H; unfold dot; rewrite (total_pick _ _ a places_distinct H).
  - rewrite only_mark, mark_refl; ring.
  - intros b _ E; rewrite only_mark, mark_other; [ring|intro F; apply E; symmetry; exact F].
Qed.
Lemma dot_both a b z : dot all (both a b) z = dot all a z + dot all b z.
Proof.
  unfold dot; rewrite <- total_plus; apply total_ext; intros c _; unfold both; rewrite Q2R_plus; ring.
Qed.

Lemma written_moves count source target q h z c : value h = moves count source target q ->
  (forall i, (i < count)%nat -> In (source i) all) ->
  written all h z c = sum count (fun i => z (source i) * (Q2R q * mark (target i) c)).
Proof.
  intros E; unfold written; rewrite E; clear E; induction count as [|m IH]; intro H.
  - simpl; apply total_zero; intros; rewrite RMicromega.Q2R_0; ring.
  - change (sum (S m) ?f) with (sum m f + f m); rewrite <- IH; [|intros; apply H; lia].
    rewrite <- (only_mark (target m) q c).
    replace (z (source m) * Q2R (only (target m) q c))
      with (total (fun from => mark (source m) from * (z from * Q2R (only (target m) q c))) all).
    + rewrite <- total_plus; apply total_ext; intros from _; simpl moves; rewrite Q2R_plus; unfold mark.
      destruct (same (source m) from); [ring|rewrite RMicromega.Q2R_0; ring].
    + rewrite (total_pick _ _ (source m) places_distinct); [rewrite mark_refl; ring|apply H; lia|].
      intros b _ F; rewrite mark_other; [ring|intro G; apply F; symmetry; exact G].
Qed.

Lemma in_one : In One all.
Proof. apply in_places; exact I. Qed.
Lemma in_example : In Example all.
Proof. apply in_places; exact I. Qed.

Lemma score_family m asks asked count source target a b f z y :
  (forall l, (l < m)%nat -> In (asks l) all /\ In (asked l) all) -> z One = 1 -> y One = 1 ->
  score all (family m asks asked count source target a b f) z y
    = Q2R a * sum m (fun l => y (asked l) * z (asks l)) + Q2R b.
Proof.
  intros H Z Y; unfold score, family; cbn [size query key sum];
    rewrite Nat.ltb_irrefl, !dot_only, Z, Y, Q2R_one by exact in_one.
  rewrite <- sum_scal, (sum_ext m _ (fun l => Q2R a * (y (asked l) * z (asks l)))); [ring|].
  intros l L; destruct (H l L) as [H1 H2]; rewrite (proj2 (Nat.ltb_lt l m) L), !dot_only, Q2R_one by assumption; ring.
Qed.

(** ** Between the layers *)

Variables (x y : nat -> nat -> R) (w : nat -> nat -> nat -> R).
Notation r := (value1 (activation p)).
Notation r' := (value1 (derivative p)).
Notation u := (value2 (loss_derivative p)).

Definition loss_at (i k : nat) : R := if (i <? n)%nat then u (outputs p r w (x i) N k) (y i k) else 0.
Definition error_at (i j : nat) : nat -> R := back p r r' (loss_at i) w (x i) (N - j).

(** What the places hold when all has been computed, and after which layer each does. *)
Definition contents (i : nat) (c : place) : R :=
  match c with
  | Output j k => outputs p r w (x i) j k
  | Label k => if (i <? n)%nat then y i k else 0
  | Weight j k l => w j k l
  | Slope j k => r' (argument p r w (x i) j k)
  | Loss k => loss_at i k
  | Error j k => error_at i j k
  | One => 1
  | Example => if (i <? n)%nat then 1 else 0
  end.
Definition level (c : place) : nat :=
  match c with
  | Output j _ => j
  | Slope _ _ => S N
  | Loss _ => S (S N)
  | Error j _ => 2 * N + 3 - j
  | _ => 0
  end.
Definition stage (t : nat) : stream := fun i c => if (level c <=? t)%nat then contents i c else 0.

(** Streams with the same numbers in all tokens and places, which layers do not tell apart. *)
Definition agree (z z' : stream) : Prop := forall i c, (i <= n)%nat -> In c all -> z i c = z' i c.

Lemma dot_agree z z' a i : agree z z' -> (i <= n)%nat -> dot all a (z i) = dot all a (z' i).
Proof. intros H L; apply total_ext; intros c C; rewrite (H i c L C); reflexivity. Qed.
Lemma score_agree z z' h i q : agree z z' -> (i <= n)%nat -> (q <= n)%nat ->
  score all h (z i) (z q) = score all h (z' i) (z' q).
Proof.
  intros H L Q; apply sum_ext; intros m _; rewrite (dot_agree z z' _ i H L), (dot_agree z z' _ q H Q); reflexivity.
Qed.
Lemma written_agree z z' h i c : agree z z' -> (i <= n)%nat -> written all h (z i) c = written all h (z' i) c.
Proof. intros H L; apply total_ext; intros b B; rewrite (H i b L B); reflexivity. Qed.

Lemma apply_agree z z' L : agree z z' -> agree (apply all (n + 1) L z) (apply all (n + 1) L z').
Proof.
  intros H i c I C; unfold apply; rewrite (H i c I C); f_equal; destruct L as [heads|units|heads]; apply total_ext.
  - intros h _; unfold Rdiv; f_equal; apply sum_ext; intros q Q.
    rewrite (score_agree z z' h i q H I), (written_agree z z' h q c H) by lia; reflexivity.
  - intros o _; rewrite (dot_agree z z' _ i H I); reflexivity.
  - intros h _; rewrite (score_agree z z' h i i H I I), (written_agree z z' h i c H I); reflexivity.
Qed.
Lemma run_agree layers : forall z z', agree z z' -> agree (run all (n + 1) layers z) (run all (n + 1) layers z').
Proof.
  induction layers as [|L layers IH]; intros z z' H; [exact H|].
  exact (IH _ _ (apply_agree z z' L H)).
Qed.
Lemma agree_trans z1 z2 z3 : agree z1 z2 -> agree z2 z3 -> agree z1 z3.
Proof. intros H H' i c I C; rewrite (H i c I C); apply H'; assumption. Qed.

(** A layer that adds what belongs to the next level leads to the next stage. *)
Lemma next_stage t L :
  (forall i c, (i <= n)%nat -> In c all ->
    apply all (n + 1) L (stage t) i c = stage t i c + if (level c =? S t)%nat then contents i c else 0) ->
  agree (apply all (n + 1) L (stage t)) (stage (S t)).
Proof.
  intros H i c I C; rewrite (H i c I C); unfold stage.
  destruct (Nat.leb_spec (level c) t), (Nat.eqb_spec (level c) (S t)), (Nat.leb_spec (level c) (S t)); try lia; ring.
Qed.

Lemma stage_one t i : stage t i One = 1.
Proof. reflexivity. Qed.
Lemma stage_weight t i j k l : stage t i (Weight j k l) = w j k l.
Proof. reflexivity. Qed.
Lemma stage_output t i j k : (j <= t)%nat -> stage t i (Output j k) = outputs p r w (x i) j k.
Proof. intro H; unfold stage; simpl; rewrite (proj2 (Nat.leb_le j t) H); reflexivity. Qed.
Lemma in_output j k : (j <= N)%nat -> (k < K j)%nat -> In (Output j k) all.
Proof.
  intros J H; apply in_places; destruct j as [|j]; [exact H|apply in_scratch; simpl; split; [lia|exact H]].
Qed.

Hypothesis some : (1 <= n)%nat.

(** A mean over the tokens of the same number. *)
Lemma mean_same a : sum (n + 1) (fun _ => a) / INR (n + 1) = a.
Proof. rewrite sum_const; field; apply not_0_INR; lia. Qed.

Lemma applied_heads t j f target i c : (1 <= j <= N)%nat -> (j - 1 <= t)%nat -> (i <= n)%nat ->
  total (fun h => sum (n + 1) (fun q => relu (score all h (stage t i) (stage t q)) * written all h (stage t q) c)
    / INR (n + 1)) (applied p j f target)
  = sum (K j) (fun k => value1 f (argument p r w (x i) j k) * mark (target k) c).
Proof.
  intros J T I; unfold applied; rewrite total_flat_map, total_seq; fold K; apply sum_ext; intros k L.
  rewrite total_map; unfold value1 at 1; rewrite (Rmult_comm (total _ f)), <- total_scal; apply total_ext;
    intros [[a b] d] _.
  rewrite (sum_ext (n + 1) _ (fun _ => relu (Q2R b * argument p r w (x i) j k + Q2R d) * (1 * (Q2R a *
    mark (target k) c)))).
  - rewrite mean_same; ring.
  - intros q _; rewrite score_family.
    + rewrite (written_moves 1 (fun _ => One) (fun _ => target k) a) by (try reflexivity; intros; exact in_one).
      simpl sum; rewrite stage_one; f_equal; [|ring]; f_equal; f_equal; f_equal; unfold argument; apply sum_ext.
      intros l _; rewrite stage_weight, stage_output by exact T; reflexivity.
    + intros l M; split; [apply in_output; [lia|exact M]|apply in_places; repeat split; try lia; exact M].
    + apply stage_one.
    + apply stage_one.
Qed.

(** Of marks in a row one is left. *)
Lemma marked m (f : nat -> R) g c : (forall k k', g k = g k' -> k = k') ->
  (forall k, c = g k -> (k < m)%nat -> sum m (fun k => f k * mark (g k) c) = f k) /\
  ((forall k, (k < m)%nat -> c <> g k) -> sum m (fun k => f k * mark (g k) c) = 0).
Proof.
  intro G; split.
  - intros k E L; rewrite <- total_seq, (total_pick _ _ k (seq_NoDup m 0)); [subst c; rewrite mark_refl; ring| |].
    + apply in_seq; lia.
    + intros k' _ D; rewrite mark_other; [ring|intro F; apply D, G; rewrite F, E; reflexivity].
  - intro H; apply sum_zero; intros k L; rewrite mark_other; [ring|intro E; exact (H k L (eq_sym E))].
Qed.

Lemma forward_stage t : (t < N)%nat -> agree (apply all (n + 1) (forward p (S t)) (stage t)) (stage (S t)).
Proof.
  intro T; apply next_stage; intros i c I C; unfold apply, forward; f_equal.
  rewrite applied_heads by lia.
  destruct (marked (K (S t)) (fun k => r (argument p r w (x i) (S t) k)) (Output (S t)) c) as [H H'].
  { intros; congruence. }
  destruct (Nat.eqb_spec (level c) (S t)) as [E|E].
  - assert (A : exists k, c = Output (S t) k /\ (k < K (S t))%nat).
    { apply in_places in C; destruct c as [[|j] k| | | | |j k| |]; try apply in_scratch in C; simpl in E, C; try lia.
      exists k; split; [congruence|replace (S t) with (S j) by lia; apply C]. }
    destruct A as [k [A L]]; rewrite (H k A L), A; unfold contents, argument; simpl outputs;
      rewrite Nat.sub_succ, Nat.sub_0_r.
    reflexivity.
  - apply H'; intros k _ F; apply E; rewrite F; reflexivity.
Qed.

Lemma derivatives_stage : agree (apply all (n + 1) (derivatives p) (stage N)) (stage (S N)).
Proof.
  apply next_stage; intros i c I C; unfold apply, derivatives; f_equal.
  rewrite total_flat_map; fold N.
  rewrite (total_ext _ (fun j => sum (K j) (fun k => r' (argument p r w (x i) j k) * mark (Slope j k) c))).
  2: { intros j J; apply in_seq in J; apply applied_heads; lia. }
  assert (O : forall j, (forall k, c <> Slope j k) -> sum (K j) (fun k => r' (argument p r w (x i) j k) *
    mark (Slope j k) c) = 0).
  { intros j H; apply (marked (K j) _ (Slope j) c); [intros; congruence|intros k _; apply H]. }
  destruct (Nat.eqb_spec (level c) (S N)) as [E|E].
  - assert (A : exists j k, c = Slope j k /\ (1 <= j <= N)%nat /\ (k < K j)%nat).
    { apply in_places in C; destruct c as [[|j] k| | |j k| |j k| |]; try apply in_scratch in C; simpl in E, C; try lia.
      exists j, k; auto. }
    destruct A as [j [k [A [J L]]]]; rewrite (total_pick _ _ j (seq_NoDup _ _)).
    + rewrite (proj1 (marked (K j) (fun k => r' (argument p r w (x i) j k)) (Slope j) c ltac:(intros;
      congruence)) k A L).
      subst c; reflexivity.
    + apply in_seq; lia.
    + intros j' _ D; apply O; intros k' F; congruence.
  - apply total_zero; intros j _; apply O; intros k F; apply E; rewrite F; reflexivity.
Qed.

(** The test token is silent in the layer of the loss gradient. *)
Hypothesis small_units : forall c a a' b, In (c, a, a', b) (loss_derivative p) ->
  Rabs (Q2R a) + Rabs (Q2R a') + Rabs (Q2R b) <= 1.
Hypothesis mask_one : 1 <= Q2R (mask p).
Hypothesis masked : forall k, (k < K N)%nat -> Rabs (outputs p r w (x n) N k) <= Q2R (mask p).

Lemma relu_nonpos t : t <= 0 -> relu t = 0.
Proof. intro H; unfold relu; apply Rmax_right; exact H. Qed.

Lemma silent a a' b k : Rabs a + Rabs a' + Rabs b <= 1 -> (k < K N)%nat ->
  a * outputs p r w (x n) N k + a' * 0 + b - Q2R (mask p) <= 0.
Proof.
  intros H L; pose proof (masked k L) as M; pose proof (Rle_abs (a * outputs p r w (x n) N k)) as A;
    rewrite Rabs_mult in A.
  pose proof (Rle_abs b) as B; pose proof (Rabs_pos a) as P; pose proof (Rabs_pos a') as P';
    pose proof (Rabs_pos b) as Q.
  pose proof (Rmult_le_compat_l (Rabs a) _ _ P M); nra.
Qed.

Lemma loss_stage : agree (apply all (n + 1) (loss_gradient p) (stage (S N))) (stage (S (S N))).
Proof.
  apply next_stage; intros i c I C; unfold apply, loss_gradient; f_equal.
  rewrite total_flat_map, total_seq; fold N; fold K.
  rewrite (sum_ext (K N) _ (fun k => loss_at i k * mark (Loss k) c)).
  - destruct (marked (K N) (loss_at i) Loss c) as [H H']; [intros; congruence|].
    destruct (Nat.eqb_spec (level c) (S (S N))) as [E|E].
    + assert (A : exists k, c = Loss k /\ (k < K N)%nat).
      { apply in_places in C; destruct c as [[|j] k| | |j k|k|j k| |]; try apply in_scratch in C; fold N in C;
        simpl in E, C; try lia.
        exists k; auto. }
      destruct A as [k [A L]]; rewrite (H k A L), A; reflexivity.
    + apply H'; intros k _ F; apply E; rewrite F; reflexivity.
  - intros k L; rewrite total_map; unfold loss_at.
    assert (L' : In (Loss k) all) by (apply in_places, in_scratch; exact L).
    assert (Y : In (Label k) all) by (apply in_places; exact L).
    pose proof in_example as X.
    rewrite (total_ext _ (fun o => mark (Loss k) c * match o with (d, a, a', b) => Q2R d * relu (
      Q2R a * outputs p r w (x i) N k + Q2R a' * (if (i <? n)%nat then y i k else 0) + Q2R b
      - Q2R (mask p) * (if (i <? n)%nat then 0 else 1)) end)).
    + rewrite total_scal, Rmult_comm; f_equal; destruct (Nat.ltb_spec i n) as [T|T].
      * unfold value2; apply total_ext; intros [[[d a] a'] b] _; do 2 f_equal; ring.
      * replace i with n by lia; apply total_zero; intros [[[d a] a'] b] O.
        rewrite relu_nonpos; [ring|rewrite Rmult_1_r; apply silent; [exact (small_units d a a' b O)|exact L]].
    + intros [[[d a] a'] b] _; cbn [reads writes].
      rewrite !dot_both, !dot_only, only_mark by (exact in_one || assumption || (apply in_output; [lia|exact L])).
      rewrite stage_output by lia; unfold stage; cbn [level contents Nat.leb]; rewrite Q2R_minus.
      destruct (i <? n)%nat; match goal with |- relu ?s * _ = _ * (_ * relu ?t) => replace t with s by ring end; ring.
Qed.

Lemma errors_stage j : (1 <= j <= N)%nat ->
  agree (apply all (n + 1) (errors p j) (stage (2 * N + 2 - j))) (stage (S (2 * N + 2 - j))).
Proof.
  intro J; apply next_stage; intros i c I C; unfold apply, errors; f_equal.
  rewrite total_map, total_seq; fold N; fold K.
  rewrite (sum_ext (K j) _ (fun k => error_at i j k * mark (Error j k) c)).
  - destruct (marked (K j) (error_at i j) (Error j) c) as [H H']; [intros; congruence|].
    destruct (Nat.eqb_spec (level c) (S (2 * N + 2 - j))) as [E|E].
    + assert (A : exists k, c = Error j k /\ (k < K j)%nat).
      { apply in_places in C; destruct c as [[|j'] k| | |j' k|k|j' k| |]; try apply in_scratch in C; fold N in C;
        simpl in E, C; try lia.
        exists k; replace j with j' by lia; split; [reflexivity|apply C]. }
      destruct A as [k [A L]]; rewrite (H k A L), A; reflexivity.
    + apply H'; intros k _ F; apply E; rewrite F; simpl; lia.
  - intros k L.
    assert (S' : In (Slope j k) all) by (apply in_places, in_scratch; simpl; auto).
    assert (D : stage (2 * N + 2 - j) i (Slope j k) = r' (argument p r w (x i) j k)).
    { unfold stage; cbn [level]; rewrite (proj2 (Nat.leb_le _ _)) by lia; reflexivity. }
    unfold error_at; destruct (Nat.eqb_spec j N) as [E|E].
    + assert (L' : In (Loss k) all) by (apply in_places, in_scratch; rewrite <- E; exact L).
      rewrite (written_moves 1 (fun _ => Slope j k) (fun _ => Error j k) 1) by (try reflexivity; intros; exact S').
      unfold score; cbn [size query key sum]; rewrite !dot_only, D, Q2R_one by (exact in_one || assumption).
      unfold stage; cbn [level contents]; rewrite (proj2 (Nat.leb_le _ _)) by lia.
      rewrite E, Nat.sub_diag; simpl back; fold N; rewrite (proj2 (Nat.leb_le 0 _)) by lia; ring.
    + rewrite (written_moves 1 (fun _ => Slope j k) (fun _ => Error j k) 1) by (try reflexivity; intros; exact S').
      replace (N - j)%nat with (S (N - S j)) by lia; simpl back; fold N.
      replace (N - S (N - S j))%nat with j by lia; replace (N - (N - S j))%nat with (S j) by lia.
      unfold score; cbn [size query key sum]; rewrite D, Q2R_one.
      rewrite (sum_ext (K (S j)) _ (fun q => w (S j) q k * back p r r' (loss_at i) w (x i) (N - S j) q)); [fold K;
        ring|].
      intros q Q; rewrite !dot_only.
      * rewrite stage_weight, Q2R_one; unfold stage; cbn [level contents]; rewrite (proj2 (Nat.leb_le _ _)) by lia.
        unfold error_at; ring.
      * apply in_places, in_scratch; simpl; fold N; split; [lia|exact Q].
      * apply in_places; fold N; fold K; rewrite Nat.sub_succ, Nat.sub_0_r; repeat split; try lia; assumption.
Qed.

(** ** The update *)

Lemma back_ext f g m : (forall k, (k < K N)%nat -> f k = g k) -> forall i k, (m <= N)%nat -> (k < K (N - m))%nat ->
  back p r r' f w (x i) m k = back p r r' g w (x i) m k.
Proof.
  intros H i; induction m as [|m IH]; intros k M L; simpl; fold N.
  - rewrite H; [reflexivity|rewrite Nat.sub_0_r in L; exact L].
  - f_equal; apply sum_ext; intros q Q; rewrite IH; [reflexivity|lia|exact Q].
Qed.
Lemma back_zero f m i : (forall k, (k < K N)%nat -> f k = 0) -> forall k, (m <= N)%nat -> (k < K (N - m))%nat ->
  back p r r' f w (x i) m k = 0.
Proof.
  intro H; induction m as [|m IH]; intros k M L; simpl; fold N.
  - rewrite H; [ring|rewrite Nat.sub_0_r in L; exact L].
  - rewrite sum_zero; [ring|intros q Q; rewrite IH; [ring|lia|exact Q]].
Qed.

Definition moved (j k l : nat) : R := w j k l - Q2R (rate p) * slope_of p r r' u x y w j k l.
Definition updated : stream := fun i c => match c with Weight j k l => moved j k l | _ => contents i c end.

Lemma stage_last i c : In c all -> stage (2 * N + 2) i c = contents i c.
Proof.
  intro C; unfold stage; rewrite (proj2 (Nat.leb_le _ _)); [reflexivity|].
  apply in_places in C; destruct c as [[|j] k| | |j k|k|j k| |]; try apply in_scratch in C; fold N in C; simpl in *;
    lia.
Qed.

Lemma relu_odd t : relu t - relu (- t) = t.
Proof. unfold relu, Rmax; destruct (Rle_dec t 0), (Rle_dec (- t) 0); lra. Qed.

Lemma share_value : Q2R (share p) / INR (n + 1) = Q2R (rate p) / INR (2 * n).
Proof.
  unfold share; fold n; rewrite Q2R_mult, Q2R_div, !Q2R_nat.
  - field; split; apply not_0_INR; lia.
  - unfold Qeq; simpl; lia.
Qed.

(** The sum over the tokens: the test token adds nothing. *)
Lemma summed j k l : (1 <= j <= N)%nat -> (k < K j)%nat ->
  sum (n + 1) (fun q => error_at q j k * outputs p r w (x q) (j - 1) l) = slope_of p r r' u x y w j k l * INR (2 * n).
Proof.
  intros J L; rewrite Nat.add_1_r; simpl sum.
  unfold error_at at 2; rewrite (back_zero (loss_at n)).
  - unfold slope_of; fold n; fold N; rewrite Rmult_0_l, Rplus_0_r; unfold Rdiv.
    rewrite Rmult_assoc, Rinv_l, Rmult_1_r by (apply not_0_INR; lia); apply sum_ext; intros q Q.
    unfold error_at; rewrite (back_ext (loss_at q) (fun k => u (outputs p r w (x q) N k) (y q k)));
      [reflexivity| |lia|].
    + intros k' _; unfold loss_at; rewrite (proj2 (Nat.ltb_lt q n) Q); reflexivity.
    + replace (N - (N - j))%nat with j by lia; exact L.
  - intros k' _; unfold loss_at; rewrite Nat.ltb_irrefl; reflexivity.
  - lia.
  - replace (N - (N - j))%nat with j by lia; exact L.
Qed.

Lemma update_stage : agree (apply all (n + 1) (update p) (stage (2 * N + 2))) updated.
Proof.
  intros i c I C; unfold apply, update; rewrite (stage_last i c C), total_flat_map; fold N.
  rewrite (total_ext _ (fun j => sum (K j) (fun k => - (Q2R (rate p) / INR (2 * n)) *
    sum (n + 1) (fun q => error_at q j k *
    sum (K (j - 1)) (fun l => outputs p r w (x q) (j - 1) l * mark (Weight j k l) c))))).
  - assert (O : forall j k, (forall l, (l < K (j - 1))%nat -> c <> Weight j k l) ->
    - (Q2R (rate p) / INR (2 * n)) * sum (n + 1) (fun q =>
      error_at q j k * sum (K (j - 1)) (fun l => outputs p r w (x q) (j - 1) l * mark (Weight j k l) c)) = 0).
    { intros j k H; rewrite sum_zero; [ring|intros q _].
      destruct (marked (K (j - 1)) (fun l => outputs p r w (x q) (j - 1) l) (Weight j k) c) as [_ Z]; [intros;
        congruence|].
      rewrite Z; [ring|exact H]. }
    destruct c as [j k|k|j k l|j k|k|j k| |];
      try (rewrite total_zero; [unfold updated; ring|intros; apply sum_zero; intros; apply O; intros; congruence];
        fail).
    apply in_places in C; fold N in C; fold K in C; destruct C as [J [L M]].
    rewrite (total_pick _ _ j (seq_NoDup _ _)); [|apply in_seq; lia|].
    + rewrite <- total_seq, (total_pick _ _ k (seq_NoDup _ _)); [|apply in_seq; lia|].
      * rewrite (sum_ext (n + 1) _ (fun q => error_at q j k * outputs p r w (x q) (j - 1) l)).
        -- rewrite (summed j k l J L); unfold updated, moved; simpl contents; field; apply not_0_INR; lia.
        -- intros q _; f_equal.
           apply (marked (K (j - 1)) (fun l => outputs p r w (x q) (j - 1) l) (Weight j k) (Weight j k l)); auto;
             congruence.
      * intros k' _ D; apply O; intros; congruence.
    + intros j' _ D; apply sum_zero; intros k' _; apply O; intros; congruence.
  - intros j J; apply in_seq in J; rewrite total_flat_map, total_seq; fold K; apply sum_ext; intros k L.
    assert (E : In (Error j k) all) by (apply in_places, in_scratch; simpl; fold N; split; [lia|exact L]).
    assert (W : forall s f q, (q <= n)%nat ->
      written all (family 1 (fun _ => One) (fun _ => Error j k) (K (j - 1)) (Output (j - 1)) (Weight j k) s 0 f)
        (stage (2 * N + 2) q) c
      = Q2R f * sum (K (j - 1)) (fun l => outputs p r w (x q) (j - 1) l * mark (Weight j k l) c)).
    { intros s f q Q; rewrite (written_moves (K (j - 1)) (Output (j - 1)) (Weight j k) f).
      - rewrite <- sum_scal; apply sum_ext; intros l M; rewrite stage_output by lia; ring.
      - reflexivity.
      - intros l M; apply in_output; [lia|exact M]. }
    assert (S' : forall s f q, (q <= n)%nat ->
      score all (family 1 (fun _ => One) (fun _ => Error j k) (K (j - 1)) (Output (j - 1)) (Weight j k) s 0 f)
        (stage (2 * N + 2) i) (stage (2 * N + 2) q) = Q2R s * error_at q j k).
    { intros s f q Q; rewrite score_family; [|intros; split; [exact in_one|exact E]|reflexivity..].
      cbn [sum]; rewrite (stage_last q _ E), stage_one, RMicromega.Q2R_0; cbn [contents]; ring. }
    unfold total; cbn [fold_right]; rewrite Rplus_0_r.
    rewrite <- sum_scal; unfold Rdiv; rewrite <- !sum_scal_r, <- sum_plus; apply sum_ext; intros q Q.
    rewrite !S', !W, Q2R_one, Q2R_opp, Q2R_minus_one by lia.
    set (m := sum (K (j - 1)) _); pose proof share_value as V; unfold Rdiv in V; rewrite <- V.
    rewrite <- (relu_odd (error_at q j k)) at 3.
    replace (1 * error_at q j k) with (error_at q j k) by ring;
      replace (-1 * error_at q j k) with (- error_at q j k) by ring.
    ring.
Qed.

(** ** Projection *)

Hypothesis box : forall j k l, (1 <= j <= N)%nat -> (k < K j)%nat -> (l < K (j - 1))%nat ->
  Q2R (lower p j k l) <= Q2R (upper p j k l).

Lemma clipped t a b : a <= b -> t - relu (t - b) + relu (a - t) = Rmin (Rmax t a) b.
Proof.
  intro H; unfold relu, Rmin, Rmax; destruct (Rle_dec (t - b) 0), (Rle_dec (a - t) 0), (Rle_dec t a);
    match goal with |- context [Rle_dec ?s b] => destruct (Rle_dec s b) end; lra.
Qed.

Lemma total_marked f l c : NoDup l ->
  (In c l -> total (fun a => f a * mark a c) l = f c) /\ (~ In c l -> total (fun a => f a * mark a c) l = 0).
Proof.
  intro D; split; intro H.
  - rewrite (total_pick _ _ c D H), mark_refl; [ring|intros a _ E; rewrite (mark_other a c E); ring].
  - apply total_zero; intros a A; rewrite mark_other; [ring|intro E; subst a; contradiction].
Qed.

Lemma unit_value a q b d z c : In a all -> z One = 1 ->
  relu (dot all (both (only a q) (only One b)) z) * Q2R (only a d c) = relu (Q2R q * z a + Q2R b) * Q2R d * mark a c.
Proof. intros A O; rewrite dot_both, !dot_only, only_mark, O by (exact in_one || exact A); rewrite Rmult_1_r; ring. Qed.

Lemma NoDup_app_l {A} (l m : list A) : NoDup (l ++ m) -> NoDup l /\ NoDup m /\ (forall a, In a l -> ~ In a m).
Proof.
  induction l as [|a l IH]; simpl; intro H; [repeat split; [constructor|exact H|intros a []]|].
  inversion H as [|? ? N' D]; subst; destruct (IH D) as [L [M F]]; rewrite in_app_iff in N'.
  repeat split; [constructor; tauto|exact M|intros b [E|B] C; [subst b; tauto|exact (F b B C)]].
Qed.

Lemma projection_stage :
  agree (apply all (n + 1) (projection p) updated) (prompt p x y (stepped p w (slope_of p r r' u x y w))).
Proof.
  intros i c I C.
  assert (D : NoDup (weights p) /\ NoDup (scratch p) /\ forall a, In a (weights p) -> ~ In a (scratch p)).
  { pose proof places_distinct as D; unfold places in D.
    apply NoDup_app_l in D; destruct D as [_ [D _]]; apply NoDup_app_l in D; destruct D as [_ [D _]].
    apply NoDup_app_l in D; destruct D as [W [D F]]; apply NoDup_app_l in D; destruct D as [S [_ _]].
    repeat split; [exact W|exact S|intros a A B; apply (F a A), in_app_iff; left; exact B]. }
  destruct D as [DW [DS DF]].
  assert (PW : forall a, In a (weights p) -> In a all) by (intros a A; unfold places; rewrite !in_app_iff; auto).
  assert (PS : forall a, In a (scratch p) -> In a all) by (intros a A; unfold places; rewrite !in_app_iff; auto 6).
  unfold apply, projection; cbv zeta; rewrite !total_app, !total_map, total_flat_map; cbn [reads writes].
  rewrite (total_ext _ (fun a => - relu (updated i a - Q2R (bound (upper p) a)) * mark a c) (weights p)).
  2: { intros a A; rewrite unit_value by (reflexivity || apply PW, A); rewrite Q2R_one, Q2R_opp, Q2R_minus_one.
       replace (1 * updated i a + - Q2R (bound (upper p) a)) with (updated i a - Q2R (bound (upper p) a)) by ring;
         ring. }
  rewrite (total_ext (fun a => relu (dot all (both (only a (- (1))) (only One (bound (lower p) a))) (updated i))
      * Q2R (only a 1 c)) (fun a => relu (Q2R (bound (lower p) a) - updated i a) * mark a c) (weights p)).
  2: { intros a A; rewrite unit_value by (reflexivity || apply PW, A); rewrite Q2R_one, Q2R_minus_one.
       replace (-1 * updated i a + Q2R (bound (lower p) a)) with (Q2R (bound (lower p) a) - updated i a) by ring;
         ring. }
  rewrite (total_ext _ (fun a => - updated i a * mark a c) (scratch p)).
  2: { intros a A; unfold total; cbn [fold_right reads writes].
       rewrite !unit_value by (reflexivity || apply PS, A); rewrite Q2R_one, Q2R_minus_one, RMicromega.Q2R_0.
       replace (1 * updated i a + 0) with (updated i a) by ring;
         replace (-1 * updated i a + 0) with (- updated i a) by ring.
       rewrite <- (relu_odd (updated i a)) at 3; ring. }
  destruct (total_marked (fun a => - relu (updated i a - Q2R (bound (upper p) a))) (weights p) c DW) as [U U'].
  destruct (total_marked (fun a => relu (Q2R (bound (lower p) a) - updated i a)) (weights p) c DW) as [V V'].
  destruct (total_marked (fun a => - updated i a) (scratch p) c DS) as [S S'].
  apply in_places in C; destruct c as [[|j] k|k|j k l|j k|k|j k| |].
  4: { assert (W : In (Weight j k l) (weights p)) by (apply in_weights; exists j, k, l; auto).
       rewrite U, V, S' by (try apply DF; exact W); cbn [bound updated prompt]; unfold stepped; fold (moved j k l).
       rewrite <- clipped by (apply box; apply C); unfold updated; ring. }
  all: rewrite U', V' by (rewrite in_weights; intros [? [? [? [F _]]]]; congruence).
  2, 4, 5, 6: rewrite S by exact C; unfold prompt; ring.
  all: rewrite S' by (rewrite in_scratch; cbn; lia); unfold updated, contents, prompt; cbn [outputs]; fold n; ring.
Qed.

(** ** The whole block *)

Lemma start : agree (prompt p x y w) (stage 0).
Proof.
  intros i c I C; unfold stage; apply in_places in C.
  destruct c as [[|j] k|k|j k l|j k|k|j k| |]; try reflexivity.
  apply in_scratch in C; fold N in C; cbn [prompt level]; rewrite (proj2 (Nat.leb_gt _ _)) by lia; reflexivity.
Qed.

Lemma run_app l m z : run all (n + 1) (l ++ m) z = run all (n + 1) m (run all (n + 1) l z).
Proof. apply fold_left_app. Qed.

Lemma all_forward m : (m <= N)%nat -> agree (run all (n + 1) (map (forward p) (seq 1 m)) (stage 0)) (stage m).
Proof.
  induction m as [|m IH]; intro M; [intros i c _ _; reflexivity|].
  rewrite seq_S, map_app, run_app; apply agree_trans with (apply all (n + 1) (forward p (S m)) (stage m)).
  - apply (apply_agree _ _ (forward p (S m))), IH; lia.
  - apply forward_stage; lia.
Qed.

Lemma countdown m : rev (seq 1 m) = map (fun i => (m - i)%nat) (seq 0 m).
Proof.
  induction m as [|m IH]; [reflexivity|].
  rewrite seq_S, rev_app_distr, IH; simpl; rewrite <- seq_shift, map_map; reflexivity.
Qed.

Lemma all_errors m : (m <= N)%nat ->
  agree (run all (n + 1) (map (fun i => errors p (N - i)) (seq 0 m)) (stage (S (S N)))) (stage (N + 2 + m)).
Proof.
  induction m as [|m IH]; intro M.
  - replace (N + 2 + 0)%nat with (S (S N)) by lia; intros i c _ _; reflexivity.
  - rewrite seq_S, map_app, run_app; apply agree_trans with (apply all (n + 1) (errors p (N - m)) (stage (N + 2 + m))).
    + apply (apply_agree _ _ (errors p (N - m))), IH; lia.
    + pose proof (errors_stage (N - m) ltac:(lia)) as H; replace (2 *
      N + 2 - (N - m))%nat with (N + 2 + m)%nat in H by lia.
      replace (N + 2 + S m)%nat with (S (N + 2 + m)) by lia; exact H.
Qed.

Lemma block_agrees :
  agree (run all (n + 1) (block p) (prompt p x y w)) (prompt p x y (stepped p w (slope_of p r r' u x y w))).
Proof.
  unfold block; fold N; rewrite !run_app, countdown, map_map.
  apply agree_trans with (run all (n + 1) [update p; projection p] (stage (2 * N + 2))).
  - apply run_agree; replace (2 * N + 2)%nat with (N + 2 + N)%nat by lia.
    eapply agree_trans; [apply run_agree|apply all_errors; lia].
    eapply agree_trans; [apply run_agree; eapply agree_trans; [apply run_agree, start|apply all_forward; lia]|].
    unfold run; cbn [fold_left].
    eapply agree_trans; [apply apply_agree, derivatives_stage|apply loss_stage].
  - unfold run; cbn [fold_left]; eapply agree_trans; [apply apply_agree, update_stage|apply projection_stage].
Qed.
End Block.

(** ** Several steps *)

(** A step by back-propagation with the sums of ReLUs of the block. *)
Definition step_of (p : problem) (x y : nat -> nat -> R) (w : nat -> nat -> nat -> R) : nat -> nat -> nat -> R :=
  stepped p w (slope_of p (value1 (activation p)) (value1 (derivative p)) (value2 (loss_derivative p)) x y w).

Theorem one_step p x y w : well_formed p -> silent_for p (x (examples p)) -> in_box p w ->
  makes p (block p) x y w (step_of p x y w).
Proof.
  intros [some [one [box small]]] Z B i c I C.
  apply (block_agrees p x y w some small one (fun k => Z w k B) box i c I C).
Qed.

Lemma stepped_in_box p w G : well_formed p -> in_box p (stepped p w G).
Proof.
  intros [_ [_ [box _]]] j k l J L M; pose proof (box j k l J L M) as H; unfold stepped.
  set (t := w j k l - _); split; [apply Rmin_glb; [apply Rmax_r|exact H]|apply Rmin_r].
Qed.

Fixpoint steps (p : problem) (x y : nat -> nat -> R) (w : nat -> nat -> nat -> R) (count : nat) :
    nat -> nat -> nat -> R :=
  match count with O => w | S m => step_of p x y (steps p x y w m) end.

Theorem several_steps p x y w count : well_formed p -> silent_for p (x (examples p)) -> in_box p w ->
  makes p (concat (repeat (block p) count)) x y w (steps p x y w count).
Proof.
  intros W Z B; assert (H : in_box p (steps p x y w count) /\
    makes p (concat (repeat (block p) count)) x y w (steps p x y w count)); [|apply H].
  induction count as [|m [IB IH]]; [split; [exact B|intros i c _ _; reflexivity]|].
  split; [apply stepped_in_box; exact W|].
  unfold makes; replace (S m) with (m + 1)%nat by lia; rewrite repeat_app, concat_app; simpl concat; rewrite app_nil_r.
  intros i c I C; rewrite run_app; replace (m + 1)%nat with (S m) by lia.
  rewrite (run_agree p (block p) _ _ IH i c I C); apply one_step; assumption.
Qed.

(** Bounds b 0, ..., b N of the outputs, from the box and what the activation makes of the arguments. *)
Lemma bounded p x b : let big j k l := Rmax (Rabs (Q2R (lower p j k l))) (Rabs (Q2R (upper p j k l))) in
  (forall l, (l < width p 0)%nat -> Rabs (x l) <= b O) ->
  (forall j k t, (1 <= j <= depth p)%nat -> (k < width p j)%nat ->
    Rabs t <= sum (width p (j - 1)) (fun l => big j k l * b (j - 1)%nat) -> Rabs (value1 (activation p) t) <= b j) ->
  b (depth p) <= Q2R (mask p) -> silent_for p x.
Proof.
  intros big X H M w k B L; apply Rle_trans with (b (depth p)); [|exact M].
  assert (P : forall j, (j <= depth p)%nat -> forall k, (k < width p j)%nat ->
    Rabs (outputs p (value1 (activation p)) w x j k) <= b j).
  { induction j as [|j IH]; intros J k' L'; [apply X, L'|]; simpl outputs.
    apply (H (S j) k'); [lia|exact L'|]; rewrite Nat.sub_succ, Nat.sub_0_r.
    assert (T : forall m f g, (forall l, (l < m)%nat -> Rabs (f l) <= g l) -> Rabs (sum m f) <= sum m g).
    { induction m as [|m IHm]; intros f g F; simpl; [rewrite Rabs_R0; lra|].
      eapply Rle_trans; [apply Rabs_triang|]; apply Rplus_le_compat; [apply IHm; intros; apply F; lia|apply F; lia]. }
    apply T; intros l A; rewrite Rabs_mult; apply Rmult_le_compat; try apply Rabs_pos.
    - pose proof (B (S j) k' l ltac:(lia) L') as E; rewrite Nat.sub_succ, Nat.sub_0_r in E; specialize (E A).
      unfold big, Rmax, Rabs; repeat match goal with |- context [Rcase_abs ?t] => destruct (Rcase_abs t) end;
        match goal with |- context [Rle_dec ?s ?t] => destruct (Rle_dec s t) end; lra.
    - apply IH; [lia|exact A]. }
  apply P; [lia|exact L].
Qed.
