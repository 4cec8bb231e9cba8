(** * Symmetries: one proof for all labels that symmetries of the table take to each other.

    Step 3 of ../operations/OPERATION_MARGIN.md. Bijections of rows, columns and labels that take given cells to given
    cells with the label that goes with them take networks to networks of the same norm and of at least the same margin
    ([moved_norm3], [moved_margin]). So an inequality f_y > f_c at a cell that the bijections fix holds for the image of
    c as well: [always_right_by_symmetry] needs one part for each orbit of labels. *)

From Coq Require Import Reals ZArith QArith List Permutation Lia Lra Bool.
From Lemmata Require Import Statement Checker Sound Unseen.
Import ListNotations.
Local Open Scope R_scope.

(** Lists of images: row i goes to the entry i of [row_map]. *)
Record symmetry := Symmetry { row_map : list nat; column_map : list nat; label_map : list nat }.

Definition image (l : list nat) (i : nat) : nat := nth i l 0%nat.

Definition is_permutation (l : list nat) (n : nat) : bool :=
  Nat.eqb (length l) n && forallb (fun i => existsb (Nat.eqb i) l) (seq 0 n).

Definition same_cell (p q : nat * nat * nat) : bool :=
  let '(a, b, y) := p in let '(a', b', y') := q in Nat.eqb a a' && Nat.eqb b b' && Nat.eqb y y'.

(** Cells beyond the rows, columns and labels are refused, because the lists say nothing of them. *)
Definition is_symmetry (T : table) (s : symmetry) : bool :=
  is_permutation (row_map s) (rows T) && is_permutation (column_map s) (columns T) &&
  is_permutation (label_map s) (labels T) &&
  forallb (fun '(a, b, y) => Nat.ltb a (rows T) && Nat.ltb b (columns T) && Nat.ltb y (labels T) &&
    existsb (same_cell (image (row_map s) a, image (column_map s) b, image (label_map s) y)) (given T)) (given T).

(** It fixes the cell (a, b) and the label y, and takes the label c to d. *)
Definition takes (a b y c d : nat) (s : symmetry) : bool :=
  Nat.eqb (image (row_map s) a) a && Nat.eqb (image (column_map s) b) b && Nat.eqb (image (label_map s) y) y &&
  Nat.eqb (image (label_map s) c) d.

(** A part for one label c; every other label is the image of c under one of the symmetries. *)
Definition check_right_by_symmetry
    (T : table) (a b y : nat) (g : Q) (c : nat) (p : cell_part) (symmetries : list symmetry) : bool :=
  Nat.ltb y (labels T) && Nat.ltb c (labels T) && negb (Nat.eqb c y) && forallb (is_symmetry T) symmetries &&
  forallb (fun d => Nat.eqb d y || existsb (takes a b y c d) symmetries) (seq 0 (labels T)) &&
  check_part T a b y g c p.

(** ** Proofs *)

Lemma permutation_of l n : is_permutation l n = true -> Permutation l (seq 0 n).
Proof.
  unfold is_permutation. rewrite andb_true_iff. intros [L H]. apply Nat.eqb_eq in L. symmetry.
  apply NoDup_Permutation_bis; [apply seq_NoDup | rewrite seq_length; lia |].
  intros i I. rewrite forallb_forall in H. specialize (H i I). apply existsb_exists in H as [j [J E]].
  apply Nat.eqb_eq in E. now subst j.
Qed.

(** A sum over a permutation. *)
Lemma sum_list n f : sum n f = fold_right Rplus 0 (map f (seq 0 n)).
Proof.
  assert (forall l x, fold_right Rplus x l = fold_right Rplus 0 l + x) as start.
  { intros l x. induction l as [|r l IH]; cbn; [ring|]. rewrite IH. ring. }
  induction n as [|n IH]; [reflexivity|]. rewrite seq_S, map_app, fold_right_app, start, <- IH. cbn. ring.
Qed.

Lemma sum_permuted l n f : is_permutation l n = true -> sum n (fun i => f (image l i)) = sum n f.
Proof.
  intros H. pose proof (permutation_of l n H) as P. unfold is_permutation in H. apply andb_true_iff in H as [L _].
  apply Nat.eqb_eq in L. rewrite !sum_list.
  assert (map (fun i => f (image l i)) (seq 0 n) = map f l) as ->.
  { rewrite <- (map_map (image l) f). f_equal. subst n. clear. unfold image.
    induction l as [|x l IH]; [reflexivity|]. cbn [length seq map nth]. f_equal.
    rewrite <- seq_shift, map_map. apply IH. }
  assert (forall p q, Permutation p q -> fold_right Rplus 0 (map f p) = fold_right Rplus 0 (map f q)) as K.
  { induction 1; cbn; lra. }
  exact (K _ _ P).
Qed.

Lemma image_below l n i : is_permutation l n = true -> (i < n)%nat -> (image l i < n)%nat.
Proof.
  intros H I. pose proof (permutation_of l n H) as P. unfold is_permutation in H. apply andb_true_iff in H as [L _].
  apply Nat.eqb_eq in L. assert (In (image l i) (seq 0 n)) as K; [|apply in_seq in K; lia].
  apply (Permutation_in _ P), nth_In. lia.
Qed.

Lemma image_injective l n i j :
  is_permutation l n = true -> (i < n)%nat -> (j < n)%nat -> image l i = image l j -> i = j.
Proof.
  intros H I J E. pose proof (permutation_of l n H) as P. unfold is_permutation in H. apply andb_true_iff in H as [L _].
  apply Nat.eqb_eq in L. apply (proj1 (NoDup_nth l 0%nat)); [|lia|lia|exact E].
  apply (Permutation_NoDup (Permutation_sym P)), seq_NoDup.
Qed.

(** The network whose outputs at (a, b, c) are those at the images. *)
Definition moved (s : symmetry) (net : network) : network :=
  map (fun o => Neuron (fun a => u o (image (row_map s) a)) (fun b => v o (image (column_map s) b))
                       (fun c => w o (image (label_map s) c))) net.

Lemma moved_output s net a b c :
  output (moved s net) a b c = output net (image (row_map s) a) (image (column_map s) b) (image (label_map s) c).
Proof. unfold output, moved. induction net as [|o net IH]; [reflexivity|]. cbn [map fold_right]. now rewrite IH. Qed.

Section Symmetric.
Variables (T : table) (s : symmetry).
Hypothesis S : is_symmetry T s = true.

Lemma moved_norm3 net : norm3 T (moved s net) = norm3 T net.
Proof.
  pose proof S as H. unfold is_symmetry in H. rewrite !andb_true_iff in H. destruct H as [[[A B] C] _].
  induction net as [|o net IH]; [reflexivity|].
  unfold norm3, moved in *. cbn [map fold_right]. rewrite IH.
  do 2 f_equal. unfold norm, inputs2, outputs2. cbn [u v w].
  rewrite (sum_permuted (row_map s) (rows T) (fun a => u o a ^ 2) A),
    (sum_permuted (column_map s) (columns T) (fun b => v o b ^ 2) B),
    (sum_permuted (label_map s) (labels T) (fun c => w o c ^ 2) C). reflexivity.
Qed.

Lemma moved_margin net g : margin_at_least T g net -> margin_at_least T g (moved s net).
Proof.
  intros M a b y c G C N. rewrite !moved_output.
  pose proof S as H. unfold is_symmetry in H. rewrite !andb_true_iff in H. destruct H as [[_ P] K].
  rewrite forallb_forall in K. specialize (K _ G). cbn in K. rewrite !andb_true_iff in K. destruct K as [[_ Y] K].
  apply Nat.ltb_lt in Y. apply existsb_exists in K as [[[a' b'] y'] [I E]]. unfold same_cell in E.
  rewrite !andb_true_iff, !Nat.eqb_eq in E. destruct E as [[-> ->] E]. rewrite E.
  apply M; [assumption | now apply image_below |].
  rewrite <- E. intros Q. apply N. now apply (image_injective _ _ _ _ P).
Qed.

Lemma moved_normalized net g : normalized_margin_at_least T g net -> normalized_margin_at_least T g (moved s net).
Proof. intros [N M]. split; rewrite moved_norm3; [assumption | now apply moved_margin]. Qed.
End Symmetric.

Theorem always_right_by_symmetry T a b y g c p symmetries :
  check_right_by_symmetry T a b y g c p symmetries = true ->
  forall net, normalized_margin_at_least T (Q2R g) net -> right_at T a b y net.
Proof.
  unfold check_right_by_symmetry. rewrite !andb_true_iff. intros [[[_ A] B] P] net M d D Y.
  rewrite forallb_forall in A, B. assert (In d (seq 0 (labels T))) as I by (apply in_seq; lia).
  specialize (B d I). apply orb_true_iff in B as [B|B]; [apply Nat.eqb_eq in B; contradiction|].
  apply existsb_exists in B as [s [Is R]]. pose proof (moved_normalized T s (A s Is) net _ M) as [N' M'].
  unfold takes in R. rewrite !andb_true_iff, !Nat.eqb_eq in R. destruct R as [[[Ra Rb] Ry] Rc].
  pose proof (unseen_inequality T a b y g c p P (moved s net) _ M') as U.
  rewrite !moved_output, Ra, Rb, Ry, Rc in U.
  unfold check_part in P. destruct (_ && _)%bool eqn:F in P; [|easy]. apply andb_true_iff in F as [_ F].
  apply exceeds_sound in F. pose proof (Rmult_lt_compat_r _ _ _ N' F). lra.
Qed.
