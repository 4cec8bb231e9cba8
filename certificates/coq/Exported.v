(** Blocks whose matrices are written number by number: what they mean, and the check that they are those of [block].

    Coordinates are numbered as the list [places] has them.  A matrix is the
    list of its entries (row, column, number); what is not listed is 0. *)

From Coq Require Import Reals QArith Qabs Qreals List Arith Bool Lia Lra.
From Lemmata Require Import Statement Sums Descent InContext Gradient.
Import ListNotations.
Local Open Scope R_scope.

Definition matrix := list (nat * nat * Q).
Record head_matrices := HeadMatrices { head_columns : nat; w_query : matrix; w_key : matrix; w_value : matrix }.
Inductive layer_matrices :=
  | AttentionMatrices (heads : list head_matrices)
  | MlpMatrices (hidden : nat) (w_1 w_2 : matrix)
  | MultiplyMatrices (heads : list head_matrices).

Definition entry (m : matrix) (i j : nat) : Q :=
  fold_right (fun e rest => if (fst (fst e) =? i)%nat && (snd (fst e) =? j)%nat then snd e else rest) 0%Q m.

Section Meaning.
Variable all : list place.

Fixpoint position (l : list place) (c : place) : nat :=
  match l with [] => O | a :: rest => if same a c then O else S (position rest c) end.
Let number := position all.

Definition head_of (h : head_matrices) : head :=
  Head (head_columns h) (fun m c => entry (w_query h) (number c) m) (fun m c => entry (w_key h) (number c) m)
    (fun from to => entry (w_value h) (number from) (number to)).
Definition layer_of (L : layer_matrices) : layer :=
  match L with
  | AttentionMatrices heads => Attention (map head_of heads)
  | MlpMatrices hidden w_1 w_2 =>
      Mlp (map (fun o => Unit (fun c => entry w_1 (number c) o) (fun c => entry w_2 o (number c))) (seq 0 hidden))
  | MultiplyMatrices heads => Multiply (map head_of heads)
  end.

(** ** The check *)

Definition same_vector (a b : vector) : bool := forallb (fun c => Qeq_bool (a c) (b c)) all.
Definition same_head (h g : head) : bool :=
  ((size h =? size g)%nat &&
   forallb (fun m => same_vector (query h m) (query g m) && same_vector (key h m) (key g m)) (seq 0 (size h))
   && forallb (fun from => same_vector (value h from) (value g from)) all)%bool.
Definition same_unit (o o' : unit_of) : bool :=
  (same_vector (reads o) (reads o') && same_vector (writes o) (writes o'))%bool.
Fixpoint same_lists {A} (same_one : A -> A -> bool) (l m : list A) : bool :=
  match l, m with
  | [], [] => true
  | a :: l, b :: m => (same_one a b && same_lists same_one l m)%bool
  | _, _ => false
  end.
Definition same_layer (L M : layer) : bool :=
  match L, M with
  | Attention l, Attention m | Multiply l, Multiply m => same_lists same_head l m
  | Mlp l, Mlp m => same_lists same_unit l m
  | _, _ => false
  end.

(** ** Layers that pass it do the same *)

Lemma same_vector_sound a b c : same_vector a b = true -> In c all -> Q2R (a c) = Q2R (b c).
Proof. intros H C; apply Qeq_eqR, Qeq_bool_iff; exact (proj1 (forallb_forall _ _) H c C). Qed.
Lemma dot_same a b z : same_vector a b = true -> dot all a z = dot all b z.
Proof. intro H; apply total_ext; intros c C; rewrite (same_vector_sound a b c H C); reflexivity. Qed.
Lemma head_same h g : same_head h g = true ->
  (forall z y, score all h z y = score all g z y) /\ (forall z c, In c all -> written all h z c = written all g z c).
Proof.
  unfold same_head; intro H; apply andb_prop in H; destruct H as [H V]; apply andb_prop in H; destruct H as [S H].
  apply Nat.eqb_eq in S; rewrite forallb_forall in H, V; split.
  - intros z y; unfold score; rewrite <- S; apply sum_ext; intros m M.
    destruct (andb_prop _ _ (H m (proj2 (in_seq _ _ _) (conj (Nat.le_0_l m) M)))) as [Q' K'].
    rewrite (dot_same _ _ z Q'), (dot_same _ _ y K'); reflexivity.
  - intros z c C; apply total_ext; intros from F; rewrite (same_vector_sound _ _ c (V from F) C); reflexivity.
Qed.
Lemma lists_same {A} same_one (phi psi : A -> R) l : forall m, same_lists same_one l m = true ->
  (forall a b, same_one a b = true -> phi a = psi b) -> total phi l = total psi m.
Proof.
  induction l as [|a l IH]; intros [|b m] H E; try discriminate H; [reflexivity|].
  apply andb_prop in H; destruct H as [H H']; unfold total; simpl; f_equal; [exact (E a b H)|exact (IH m H' E)].
Qed.
Lemma layer_same L M tokens z i c : same_layer L M = true -> In c all ->
  apply all tokens L z i c = apply all tokens M z i c.
Proof.
  intros H C; unfold apply; f_equal; destruct L as [l|l|l], M as [m|m|m]; try discriminate H.
  - apply (lists_same same_head); [exact H|]; intros h g E; destruct (head_same h g E) as [S V].
    unfold Rdiv; f_equal; apply sum_ext; intros q _; rewrite S, (V _ c C); reflexivity.
  - apply (lists_same same_unit); [exact H|]; intros o o' E; apply andb_prop in E; destruct E as [E E'].
    rewrite (dot_same _ _ _ E), (same_vector_sound _ _ c E' C); reflexivity.
  - apply (lists_same same_head); [exact H|]; intros h g E; destruct (head_same h g E) as [S V].
    rewrite S, (V _ c C); reflexivity.
Qed.
End Meaning.

(** Matrices that are those of [block]. *)
Definition is_block (p : problem) (matrices : list layer_matrices) : bool :=
  same_lists (same_layer (places p)) (block p) (map (layer_of (places p)) matrices).

Theorem block_of_matrices p matrices x y w w' : is_block p matrices = true ->
  makes p (block p) x y w w' -> makes p (map (layer_of (places p)) matrices) x y w w'.
Proof.
  intro H; unfold is_block in H; generalize dependent (map (layer_of (places p)) matrices); intros m H B i c I C.
  rewrite <- (B i c I C); symmetry; revert i c I C.
  assert (T : forall l m z z', same_lists (same_layer (places p)) l m = true -> agree p z z' ->
    agree p (run (places p) (examples p + 1) l z) (run (places p) (examples p + 1) m z')).
  { induction l as [|L l IH]; intros [|M k] z z' E A; try discriminate E; [exact A|].
    apply andb_prop in E; destruct E as [E E']; apply (IH k); [exact E'|].
    intros i c I C; rewrite (layer_same _ L M _ z i c E C); apply (apply_agree p z z' M A i c I C). }
  apply T; [exact H|intros i c _ _; reflexivity].
Qed.

(** What is asked of a block, by computation.  The numbers b bound the outputs of each layer, for an activation of size
    at most slack + |t|. *)
Definition largest (p : problem) (j k l : nat) : Q :=
  let a := Qabs (lower p j k l) in let b := Qabs (upper p j k l) in if Qle_bool a b then b else a.
Fixpoint total_q (l : list Q) : Q := match l with [] => 0%Q | a :: rest => (a + total_q rest)%Q end.
Definition fits (p : problem) (slack : Q) (b : list Q) : bool :=
  ((1 <=? examples p)%nat && Qle_bool 1 (mask p) &&
   forallb (fun c => Qle_bool (bound (lower p) c) (bound (upper p) c)) (weights p) &&
   forallb (fun u => match u with (c, a, a', b) => Qle_bool (Qabs a + Qabs a' + Qabs b) 1 end) (loss_derivative p) &&
   forallb (fun j => forallb (fun k =>
     Qle_bool (slack + total_q (map (fun l => largest p j k l *
       nth (j - 1) b 0)%Q (seq 0 (width p (j - 1))))) (nth j b 0%Q))
     (seq 0 (width p j))) (seq 1 (depth p)) && Qle_bool (nth (depth p) b 0%Q) (mask p))%bool.

Lemma Q2R_abs a : Q2R (Qabs a) = Rabs (Q2R a).
Proof.
  apply Qabs_case; intro H; apply Qle_Rle in H; rewrite RMicromega.Q2R_0 in H.
  - rewrite Rabs_right; [reflexivity|lra].
  - rewrite Q2R_opp, Rabs_left1; [reflexivity|exact H].
Qed.
Lemma Q2R_largest p j k l : Q2R (largest p j k l) = Rmax (Rabs (Q2R (lower p j k l))) (Rabs (Q2R (upper p j k l))).
Proof.
  rewrite <- !Q2R_abs; unfold largest; destruct (Qle_bool _ _) eqn:E.
  - apply Qle_bool_iff, Qle_Rle in E; rewrite Rmax_right; [reflexivity|exact E].
  - rewrite Rmax_left; [reflexivity|]; apply Qle_Rle;
      destruct (Qlt_le_dec (Qabs (upper p j k l)) (Qabs (lower p j k l))) as [L|L];
      [apply Qlt_le_weak, L|apply Qle_bool_iff in L; congruence].
Qed.
Lemma Q2R_total {A} (f : A -> Q) l : Q2R (total_q (map f l)) = total (fun a => Q2R (f a)) l.
Proof.
  induction l as [|a l IH]; unfold total in *; simpl; [apply RMicromega.Q2R_0|rewrite Q2R_plus, IH; reflexivity].
Qed.

Theorem fits_sound p slack b : fits p slack b = true ->
  (forall t, Rabs (value1 (activation p) t) <= Q2R slack + Rabs t) ->
  well_formed p /\ forall x, (forall l, (l < width p 0)%nat -> Rabs (x l) <= Q2R (nth 0 b 0%Q)) -> silent_for p x.
Proof.
  unfold fits; intros H A; repeat (apply andb_prop in H; destruct H as [H ?]).
  rename H into some, H0 into top, H1 into layers, H2 into units, H3 into box, H4 into one.
  apply Nat.leb_le in some; rewrite Qle_bool_iff in one, top; apply Qle_Rle in one, top;
    rewrite RMicromega.Q2R_1 in one.
  rewrite forallb_forall in layers, units, box; split; [refine (conj some (conj one (conj _ _)))|].
  - intros j k l J L M; apply Qle_Rle, Qle_bool_iff; apply (box (Weight j k l)); apply (proj2 (in_weights p _));
    exists j, k, l; auto.
  - intros c a a' d I; pose proof (units _ I) as E; cbn in E; apply Qle_bool_iff, Qle_Rle in E.
    rewrite !Q2R_plus, !Q2R_abs, RMicromega.Q2R_1 in E; exact E.
  - intros x X; apply (bounded p x (fun j => Q2R (nth j b 0%Q))); [exact X| |exact top].
    intros j k t J L T; assert (E : In j (seq 1 (depth p))) by (apply in_seq; lia).
    apply layers in E; rewrite forallb_forall in E; specialize (E k (proj2 (in_seq _ _ _) (conj (Nat.le_0_l k) L)));
      apply Qle_bool_iff, Qle_Rle in E.
    rewrite Q2R_plus, Q2R_total, total_seq in E; eapply Rle_trans; [apply A|].
    eapply Rle_trans; [|exact E]; apply Rplus_le_compat_l; eapply Rle_trans; [exact T|]; apply Req_le, sum_ext.
    intros l _; rewrite Q2R_mult, Q2R_largest; reflexivity.
Qed.

(** A box, from its ends: the list of layers, of lists of rows, of lists of numbers. *)
Definition weights_of_table (l : list (list (list Q))) (j k i : nat) : Q := nth i (nth k (nth (j - 1) l []) []) 0%Q.

(** ** Steps of gradient descent by matrices of numbers *)

Section Steps.
Variables (p : problem) (matrices : list layer_matrices) (b : list Q).
Hypothesis same_block : is_block p matrices = true.
Hypothesis squares : loss_derivative p = residual_sum.
Variables (x y : nat -> nat -> R) (w : nat -> nat -> nat -> R).
Hypothesis small : forall l, (l < width p 0)%nat -> Rabs (x (examples p) l) <= Q2R (nth 0 b 0%Q).
Hypothesis start : in_box p w.

Definition descends (r : R -> R) : Prop :=
  exists G, is_gradient p r squared x y w G /\ makes p (map (layer_of (places p)) matrices) x y w (stepped p w G).

Lemma by_block r : (exists G, is_gradient p r squared x y w G /\ makes p (block p) x y w (stepped p w G)) -> descends r.
Proof.
  intros [G [D M]]; exists G; split; [exact D|]; exact (block_of_matrices p matrices x y w _ same_block M).
Qed.

Theorem linear_descends : activation p = identity_sum -> derivative p = one_sum -> fits p 0 b = true ->
  descends (fun t => t).
Proof.
  intros A D F; destruct (fits_sound p 0 b F) as [W Z].
  - intro t; rewrite A, identity_exact, RMicromega.Q2R_0; lra.
  - apply by_block, deep_linear; auto.
Qed.
Theorem affine_descends : activation p = shifted_sum -> derivative p = one_sum -> fits p 1 b = true ->
  descends (fun t => 1 + t).
Proof.
  intros A D F; destruct (fits_sound p 1 b F) as [W Z].
  - intro t; rewrite A, shifted_exact, RMicromega.Q2R_1; pose proof (Rabs_triang 1 t) as T; rewrite Rabs_R1 in T;
    exact T.
  - apply by_block, deep_affine; auto.
Qed.
Theorem relu_descends d : (0 < d)%Q -> activation p = relu_sum -> derivative p = step_sum d -> fits p 0 b = true ->
  (forall i j k, (i < examples p)%nat -> (1 <= j <= depth p)%nat -> (k < width p j)%nat ->
    let t := argument p relu w (x i) j k in t < 0 \/ Q2R d <= t) ->
  descends relu.
Proof.
  intros P A D F M; destruct (fits_sound p 0 b F) as [W Z].
  - intro t; rewrite A, relu_exact, RMicromega.Q2R_0, Rplus_0_l; unfold relu, Rmax.
    destruct (Rle_dec t 0); [rewrite Rabs_R0; apply Rabs_pos|apply Rle_refl].
  - apply by_block, (relu_with_margin p d); auto.
Qed.
End Steps.
