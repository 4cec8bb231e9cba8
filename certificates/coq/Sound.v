(** * Soundness: what the checker accepts bounds the margin of every network.

    [upper_bound] at the end is the theorem; its steps are those of ../operations/OPERATION_MARGIN.md. First, values
    of polynomials; then positive semidefinite matrices; then one neuron (steps 4, 6, 7, 9 and 10); then networks. *)

From Coq Require Import Reals ZArith QArith Qreals List Lia Lra Psatz Permutation.
From Lemmata Require Import Statement Checker.
Import ListNotations.
Local Open Scope R_scope.
Local Arguments Z.add : simpl never.
Local Arguments Z.sub : simpl never.
Local Arguments Z.mul : simpl never.
Local Arguments Z.opp : simpl never.
Local Arguments Z.eqb : simpl never.
Local Arguments IZR : simpl never.

(** ** Polynomials *)

Section Values.
Variable e : nat -> R.

Fixpoint monomial_value (m : monomial) : R :=
  match m with [] => 1 | i :: rest => e i * monomial_value rest end.
Fixpoint value (p : poly) : R :=
  match p with [] => 0 | (m, c) :: rest => IZR c * monomial_value m + value rest end.

Lemma monomial_value_app m n : monomial_value (m ++ n) = monomial_value m * monomial_value n.
Proof. induction m as [|i m IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma value_app p q : value (p ++ q) = value p + value q.
Proof. induction p as [|[m c] p IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma value_scaled k p : value (scaled k p) = IZR k * value p.
Proof. induction p as [|[m c] p IH]; simpl; [|rewrite IH, mult_IZR]; ring. Qed.

Lemma value_times p q : value (poly_product p q) = value p * value q.
Proof.
  induction p as [|[m c] p IH]; simpl; [ring|].
  unfold poly_product in *. simpl. rewrite value_app, IH. clear IH.
  assert (value (map (fun '(n, d) => (m ++ n, (c * d)%Z)) q) = IZR c * monomial_value m * value q) as ->; [|ring].
  induction q as [|[n d] q IH]; simpl; [ring|]. rewrite IH, monomial_value_app, mult_IZR. ring.
Qed.

Lemma value_flat_map {A} (f : A -> poly) (l : list A) :
  value (flat_map f l) = fold_right (fun x s => value (f x) + s) 0 l.
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. rewrite value_app, IH. reflexivity. Qed.

Lemma sorted_value m : monomial_value (sorted m) = monomial_value m.
Proof.
  assert (forall i n, monomial_value (insert i n) = e i * monomial_value n) as inserted.
  { intros i n. induction n as [|j n IH]; simpl; [ring|].
    destruct (Nat.leb i j); simpl; [ring|]. rewrite IH. ring. }
  induction m as [|i m IH]; simpl; [reflexivity|]. fold (sorted m). rewrite inserted, IH. reflexivity.
Qed.

Lemma value_permutation p q : Permutation p q -> value p = value q.
Proof.
  induction 1 as [|[m c] p q _ IH|[m c] [n d] p|p q r _ IH1 _ IH2]; simpl; try rewrite IH; try ring.
  now rewrite IH1.
Qed.

Lemma same_equal m : forall n, same m n = true -> m = n.
Proof.
  induction m as [|i m IH]; intros [|j n]; simpl; try easy.
  destruct (Nat.eqb_spec i j) as [->|]; [|easy]. intros H. now rewrite (IH n H).
Qed.

Lemma cancels_value p : forall m c, cancels m c p = true -> IZR c * monomial_value m + value p = 0.
Proof.
  induction p as [|[n d] p IH]; intros m c; simpl.
  - intros H. apply Z.eqb_eq in H. subst. ring.
  - destruct (same m n) eqn:E.
    + apply same_equal in E. subst n. intros H. apply IH in H. rewrite plus_IZR in H. lra.
    + destruct (Z.eqb_spec c 0) as [->|]; [|easy]. intros H. apply IH in H. lra.
Qed.

Lemma is_zero_value p : is_zero p = true -> value p = 0.
Proof.
  unfold is_zero. intros H. apply cancels_value in H.
  rewrite <- (value_permutation _ _ (Sort.Permuted_sort _)) in H.
  rewrite Rmult_0_l, Rplus_0_l in H. rewrite <- H. clear H.
  induction p as [|[m c] p IH]; simpl; [reflexivity|]. now rewrite sorted_value, IH.
Qed.

(** ** Quadratic forms *)

Fixpoint dot (row : list Z) (ys : list R) : R :=
  match row, ys with c :: row', y :: ys' => IZR c * y + dot row' ys' | _, _ => 0 end.
Fixpoint form_of (M : list (list Z)) (ys : list R) : R :=
  match M, ys with
  | (c :: row) :: M', y :: ys' => IZR c * y * y + 2 * y * dot row ys' + form_of M' ys'
  | [] :: M', _ :: ys' => form_of M' ys'
  | _, _ => 0
  end.

Lemma quadratic_value M : forall ms, value (quadratic_poly M ms) = form_of M (map monomial_value ms).
Proof.
  induction M as [|[|c row] M IH]; intros [|m ms]; simpl; auto.
  rewrite value_app, IH, monomial_value_app.
  assert (forall r ns, value (row_poly m r ns) = 2 * monomial_value m * dot r (map monomial_value ns)) as ->.
  { induction r as [|d r IHr]; intros [|n ns]; simpl; try ring.
    rewrite IHr, monomial_value_app, mult_IZR. ring. }
  ring.
Qed.
End Values.

Lemma dot_nil_r row : dot row [] = 0.
Proof. now destruct row. Qed.

Lemma form_of_nil_r M : form_of M [] = 0.
Proof. now destruct M as [|[|c row] M]. Qed.

(** The dot product with the numbers l_i, and the sum of |e_i| y_i^2. *)
Definition slack (ps : list (Z * Z)) (ys : list R) : R := dot (map snd ps) (map (fun y => y * y) ys).

Lemma minus_row_dot k ps : forall row ys, dot (minus_row k row ps) ys = dot row ys - IZR k * dot (map fst ps) ys.
Proof.
  induction ps as [|[l e] ps IH]; intros row ys; simpl.
  - ring.
  - destruct row as [|m row]; destruct ys as [|y ys]; simpl; try ring.
    + rewrite IH, opp_IZR, mult_IZR. simpl. ring.
    + rewrite IH, minus_IZR, mult_IZR. ring.
Qed.

Lemma minus_square_form ps : forall M ys,
  form_of (minus_square M ps) ys = form_of M ys - (dot (map fst ps) ys) ^ 2 - slack ps ys.
Proof.
  unfold slack. induction ps as [|[l e] ps IH]; intros M ys; simpl.
  - ring.
  - destruct ys as [|y ys]; [destruct M as [|[|m row] M]; simpl; ring|].
    destruct M as [|[|m row] M]; simpl; rewrite IH, minus_row_dot, !minus_IZR, mult_IZR; simpl; ring.
Qed.

Lemma fractions_form m M : forall ys, form_of (fractions m M) ys = IZR m * form_of M ys.
Proof.
  induction M as [|[|c row] M IH]; intros [|y ys]; simpl; try ring.
  - apply IH.
  - fold (fractions m M). rewrite IH, mult_IZR.
    assert (forall r zs, dot (map (Z.mul m) r) zs = IZR m * dot r zs) as ->; [|ring].
    induction r as [|d r IHr]; intros [|z zs]; simpl; try ring. rewrite IHr, mult_IZR. ring.
Qed.

Lemma all_zero_dot row ys : all_zero row = true -> dot row ys = 0.
Proof.
  revert ys. induction row as [|c row IH]; intros [|y ys]; simpl; auto.
  rewrite andb_true_iff. intros [H K]. apply Z.eqb_eq in H. subst c. rewrite (IH ys K). ring.
Qed.

(** One step of rounding: 2 y sum e_i y_i >= - sum |e_i| y^2 - sum |e_i| y_i^2. *)
Lemma remainders (l : Z) (f : Z -> Z) y : forall row ys,
  let ps := map (fun c => (f c, Z.abs (c - l * f c))) row in
  2 * y * dot row ys >= 2 * y * IZR l * dot (map fst ps) ys - IZR (total (map snd ps)) * (y * y) - slack ps ys.
Proof.
  unfold slack. induction row as [|c row IH]; intros ys; simpl; [lra|].
  destruct ys as [|z ys]; simpl.
  - assert (0 <= IZR (Z.abs (c - l * f c) + total (map snd (map (fun c => (f c, Z.abs (c - l * f c))) row)))).
    { apply IZR_le, Z.add_nonneg_nonneg; [lia|]. clear. induction row; simpl; lia. }
    nra.
  - specialize (IH ys). simpl in IH. rewrite plus_IZR.
    assert (IZR (Z.abs (c - l * f c)) = Rabs (IZR c - IZR l * IZR (f c))) as ->.
    { rewrite abs_IZR, minus_IZR, mult_IZR. reflexivity. }
    set (q := IZR (f c)) in *. set (x := IZR c - IZR l * q) in *.
    assert (2 * y * x * z >= - Rabs x * (y * y) - Rabs x * (z * z)).
    { destruct (Rle_dec 0 x) as [P|P].
      - rewrite (Rabs_right x) by lra.
        assert (0 <= x * ((y + z) * (y + z))) by (apply Rmult_le_pos; [lra | apply Rle_0_sqr]). lra.
      - rewrite (Rabs_left x) by lra.
        assert (0 <= - x * ((y - z) * (y - z))) by (apply Rmult_le_pos; [lra | apply Rle_0_sqr]). lra. }
    assert (IZR c = IZR l * q + x) as -> by (unfold x; ring). nra.
Qed.

Lemma factors_sound fuel : forall M, factors fuel M = true -> forall ys, 0 <= form_of M ys.
Proof.
  induction fuel as [|n IH]; intros [|[|m row] M] H ys; try (now simpl; lra); try easy.
  - destruct ys as [|y ys]; simpl; [lra|]. now apply IH.
  - simpl in H. destruct ys as [|y ys]; simpl; [lra|].
    destruct (Z.eqb_spec m 0) as [->|_].
    + destruct (all_zero row) eqn:Z; [|easy]. rewrite (all_zero_dot row ys Z). specialize (IH M H ys). lra.
    + set (l := Z.sqrt _) in H. destruct (Z.leb_spec l 0) as [|_]; [easy|].
      set (f := fun c => ((2 * c + l) / (2 * l))%Z) in H.
      change (map _ row) with (map (fun c => (f c, Z.abs (c - l * f c))) row) in H.
      set (ps := map _ row) in H. destruct (Z.leb_spec (total (map snd ps)) (m - l * l)) as [L|_]; [|easy].
      specialize (IH _ H ys). rewrite minus_square_form in IH.
      pose proof (remainders l f y row ys) as K. cbv zeta in K. fold ps in K.
      apply IZR_le in L. rewrite minus_IZR, mult_IZR in L.
      assert (0 <= (IZR l * y + dot (map fst ps) ys) ^ 2) by apply pow2_ge_0.
      assert (IZR (total (map snd ps)) * (y * y) <= (IZR m - IZR l * IZR l) * (y * y))
        by (apply Rmult_le_compat_r; [nra | exact L]).
      nra.
Qed.

Lemma exact_quotient last M :
  forallb (forallb (fun x => (x mod Zpos last =? 0)%Z)) M = true ->
  fractions (Zpos last) (map (map (fun x => (x / Zpos last)%Z)) M) = M.
Proof.
  unfold fractions. induction M as [|row M IH]; simpl; [easy|].
  rewrite andb_true_iff. intros [H K]. rewrite (IH K). f_equal. clear IH K M.
  induction row as [|x row IH]; simpl in *; [easy|].
  apply andb_true_iff in H as [H K]. rewrite (IH K). f_equal. apply Z.eqb_eq in H.
  symmetry. apply Z.div_exact; [discriminate | exact H].
Qed.

Lemma eliminates_sound fuel : forall last M, eliminates fuel last M = true -> forall ys, 0 <= form_of M ys.
Proof.
  induction fuel as [|n IH]; intros last [|[|[|m|m] row] M] H ys; try (now simpl; lra); try easy.
  - destruct ys as [|y ys]; simpl; [lra|]. now apply (IH last).
  - simpl in H. destruct ys as [|y ys]; simpl; [lra|].
    destruct (all_zero row) eqn:Z; [|easy]. rewrite (all_zero_dot row ys Z). specialize (IH last M H ys). lra.
  - cbn [eliminates] in H. destruct ys as [|y ys]; simpl; [lra|].
    set (rest := minus_square _ _) in H. destruct (forallb _ rest) eqn:D; [|easy].
    specialize (IH m _ H ys).
    pose proof (fractions_form (Zpos last) (map (map (fun x => (x / Zpos last)%Z)) rest) ys) as F.
    rewrite (exact_quotient last rest D) in F.
    unfold rest in F. rewrite minus_square_form, fractions_form in F.
    assert (slack (map (fun c => (c, 0%Z)) row) ys = 0) as S.
    { unfold slack. rewrite map_map. simpl. clear. revert ys.
      induction row as [|c row IHr]; intros [|z zs]; simpl; try ring. rewrite IHr. ring. }
    rewrite S, map_map, map_id in F. fold rest in F.
    assert (0 < IZR (Zpos m)) by (apply IZR_lt; reflexivity).
    assert (0 < IZR (Zpos last)) by (apply IZR_lt; reflexivity).
    assert (0 <= IZR (Zpos m) * form_of M ys - dot row ys ^ 2) as P by nra.
    apply (Rmult_le_reg_l (IZR (Zpos m))); [assumption|].
    assert (0 <= (IZR (Zpos m) * y + dot row ys) ^ 2) by apply pow2_ge_0. nra.
Qed.

Lemma semidefinite_sound p : semidefinite p = true -> forall ys, 0 <= form_of (upper_rows (matrix p)) ys.
Proof.
  unfold semidefinite. destruct (rounding p) as [|b]; intros H ys.
  - now apply (eliminates_sound _ _ _ H).
  - pose proof (factors_sound _ _ H ys) as K. rewrite fractions_form in K.
    assert (0 < IZR (4 ^ Zpos b)) by (apply IZR_lt, Z.pow_pos_nonneg; lia).
    nra.
Qed.

(** ** One neuron *)

(** The sum of k (u_a + v_b)^2 (w_y - w_c) over the terms, and the coefficient of w_j in it. *)
Definition form (l : terms) (o : neuron) : R :=
  fold_right (fun '(k, (a, b, y, c)) s => IZR k * activity o a b * (w o y - w o c) + s) 0 l.
Definition label_coefficient (l : terms) (o : neuron) (j : nat) : R :=
  fold_right (fun '(k, (a, b, y, c)) s => IZR k * activity o a b * IZR (indicator y j - indicator c j) + s) 0 l.

(** The variables of the checker: u, v, then s w, then alpha and beta. *)
Definition variables (T : table) (o : neuron) (s al be : R) (i : nat) : R :=
  if Nat.ltb i (rows T) then u o i
  else if Nat.ltb i (inputs T) then v o (i - rows T)
  else if Nat.ltb i (alpha T) then s * w o (i - inputs T)
  else if Nat.eqb i (alpha T) then al else be.

Lemma sum_extensional n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof. induction n as [|n IH]; simpl; intros H; [reflexivity|]. rewrite IH, (H n); auto. Qed.

Lemma sum_add n m f : sum (n + m) f = sum n f + sum m (fun i => f (n + i)%nat).
Proof.
  induction m as [|m IH]; simpl; [rewrite Nat.add_0_r; ring|].
  rewrite Nat.add_succ_r. simpl. rewrite IH. ring.
Qed.

Lemma sum_scaled n k f : sum n (fun i => k * f i) = k * sum n f.
Proof. induction n as [|n IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma sum_squares_nonnegative n f : 0 <= sum n (fun i => f i ^ 2).
Proof. induction n as [|n IH]; cbn [sum]; [lra|]. pose proof (pow2_ge_0 (f n)). lra. Qed.

Lemma squares_value e f n : value e (squares (map f (seq 0 n))) = sum n (fun i => e (f i) ^ 2).
Proof.
  induction n as [|n IH]; [reflexivity|].
  rewrite seq_S, map_app. unfold squares in *. rewrite map_app, value_app, IH. simpl. ring.
Qed.

Section Neuron.
Variables (T : table) (o : neuron).

Let X := inputs2 T o.
Let W := outputs2 T o.

Lemma X_nonnegative : 0 <= X.
Proof. unfold X, inputs2. apply Rplus_le_le_0_compat; apply sum_squares_nonnegative. Qed.
Lemma W_nonnegative : 0 <= W.
Proof. apply sum_squares_nonnegative. Qed.

Section Variables.
Variables s al be : R.
Let e := variables T o s al be.

Lemma variable_u a : (a < rows T)%nat -> e a = u o a.
Proof. intros H. unfold e, variables. apply Nat.ltb_lt in H. now rewrite H. Qed.
Lemma variable_v b : (b < columns T)%nat -> e (var_v T b) = v o b.
Proof.
  intros H. unfold e, variables, var_v, inputs.
  destruct (Nat.ltb_spec (rows T + b) (rows T)); [lia|].
  destruct (Nat.ltb_spec (rows T + b) (rows T + columns T)); [|lia]. f_equal. lia.
Qed.
Lemma variable_z k : (k < labels T)%nat -> e (var_z T k) = s * w o k.
Proof.
  intros H. unfold e, variables, var_z, alpha, inputs.
  destruct (Nat.ltb_spec (rows T + columns T + k) (rows T)); [lia|].
  destruct (Nat.ltb_spec (rows T + columns T + k) (rows T + columns T)); [lia|].
  destruct (Nat.ltb_spec (rows T + columns T + k) (rows T + columns T + labels T)); [|lia].
  do 2 f_equal. lia.
Qed.
Lemma variable_alpha : e (alpha T) = al.
Proof.
  unfold e, variables, alpha, inputs.
  destruct (Nat.ltb_spec (rows T + columns T + labels T) (rows T)); [lia|].
  destruct (Nat.ltb_spec (rows T + columns T + labels T) (rows T + columns T)); [lia|].
  rewrite Nat.ltb_irrefl, Nat.eqb_refl. reflexivity.
Qed.
Lemma variable_beta : e (beta T) = be.
Proof.
  unfold e, variables, beta, alpha, inputs.
  destruct (Nat.ltb_spec (S (rows T + columns T + labels T)) (rows T)); [lia|].
  destruct (Nat.ltb_spec (S (rows T + columns T + labels T)) (rows T + columns T)); [lia|].
  destruct (Nat.ltb_spec (S (rows T + columns T + labels T)) (rows T + columns T + labels T)); [lia|].
  destruct (Nat.eqb_spec (S (rows T + columns T + labels T)) (rows T + columns T + labels T)); [lia|]. reflexivity.
Qed.

Lemma x2_value : value e (x2 T) = X.
Proof.
  unfold x2, inputs. rewrite <- (map_id (seq 0 _)), squares_value, sum_add. unfold X, inputs2. f_equal.
  - apply sum_extensional. intros a H. now rewrite variable_u.
  - apply sum_extensional. intros b H. fold (var_v T b). now rewrite variable_v.
Qed.

Lemma z2_value : value e (z2 T) = s ^ 2 * W.
Proof.
  unfold z2. rewrite squares_value. unfold W, outputs2. rewrite <- sum_scaled.
  apply sum_extensional. intros k H. rewrite variable_z by assumption. ring.
Qed.

Lemma hidden_value a b : (a < rows T)%nat -> (b < columns T)%nat -> value e (hidden T a b) = activity o a b.
Proof.
  intros H K. unfold hidden, activity. rewrite value_times. cbn [value monomial_value].
  rewrite variable_u, variable_v by assumption. ring.
Qed.

Lemma form_value l : forallb (in_table T) (map snd l) = true -> value e (form_poly T l) = s * form l o.
Proof.
  induction l as [|[k [[[a b] y] c]] l IH]; intros H; [simpl; ring|].
  cbn [map snd forallb] in H. apply andb_true_iff in H as [H K]. unfold in_table in H.
  rewrite !andb_true_iff, !Nat.ltb_lt in H. destruct H as [[[Ha Hb] Hy] Hc].
  unfold form_poly in *. cbn [flat_map]. rewrite value_app, (IH K), value_times, hidden_value by assumption.
  unfold form. cbn [value monomial_value fold_right]. rewrite !variable_z, opp_IZR by assumption. ring.
Qed.

Lemma matrix_value l j : forallb (in_table T) (map snd l) = true -> value e (matrix_poly T l j) = label_coefficient l o j.
Proof.
  induction l as [|[k [[[a b] y] c]] l IH]; intros H; [reflexivity|].
  cbn [map snd forallb] in H. apply andb_true_iff in H as [H K]. unfold in_table in H.
  rewrite !andb_true_iff, !Nat.ltb_lt in H. destruct H as [[[Ha Hb] Hy] Hc].
  unfold matrix_poly in *. cbn [flat_map]. rewrite value_app, (IH K), value_scaled, hidden_value by assumption.
  unfold label_coefficient. cbn [fold_right]. rewrite mult_IZR. ring.
Qed.
End Variables.

(** If |x|^2 = 0 there is nothing to bound. *)
Lemma no_inputs l : X = 0 -> forallb (in_table T) (map snd l) = true -> form l o = 0.
Proof.
  intros Z. assert (forall n f i, sum n (fun i => f i ^ 2) = 0 -> (i < n)%nat -> f i = 0) as zero.
  { induction n as [|n IH]; cbn [sum]; intros f i S L; [lia|].
    pose proof (sum_squares_nonnegative n f) as P. pose proof (pow2_ge_0 (f n)) as P'.
    destruct (Nat.eq_dec i n) as [->|].
    - apply Rsqr_eq_0. unfold Rsqr. lra.
    - apply IH; [lra | lia]. }
  unfold X, inputs2 in Z.
  pose proof (sum_squares_nonnegative (rows T) (u o)). pose proof (sum_squares_nonnegative (columns T) (v o)).
  induction l as [|[k [[[a b] y] c]] l IH]; intros H1; [reflexivity|].
  cbn [map snd forallb] in H1. apply andb_true_iff in H1 as [H1 K]. unfold in_table in H1.
  rewrite !andb_true_iff, !Nat.ltb_lt in H1. destruct H1 as [[[Ha Hb] Hy] Hc].
  unfold form in *. cbn [fold_right]. rewrite (IH K). unfold activity.
  rewrite (zero (rows T) (u o) a), (zero (columns T) (v o) b) by (lra || assumption). ring.
Qed.

(** For at most three labels the form is the product of w with three numbers of sum zero. *)
Lemma three_labels l :
  (labels T <= 3)%nat -> forallb (in_table T) (map snd l) = true ->
  let m := label_coefficient l o in
  m 0%nat + m 1%nat + m 2%nat = 0 /\ form l o ^ 2 <= (m 0%nat ^ 2 + m 1%nat ^ 2 + m 2%nat ^ 2) * W.
Proof.
  intros L H m. set (z := fun j => if Nat.ltb j (labels T) then w o j else 0).
  assert (W = z 0%nat ^ 2 + z 1%nat ^ 2 + z 2%nat ^ 2) as ->.
  { unfold W, outputs2, z. destruct (labels T) as [|[|[|[|n]]]]; simpl; try ring. lia. }
  assert (m 0%nat + m 1%nat + m 2%nat = 0 /\ form l o = z 0%nat * m 0%nat + z 1%nat * m 1%nat + z 2%nat * m 2%nat)
    as [S ->].
  { unfold m. clear m. induction l as [|[k [[[a b] y] c]] l IH]; [simpl; split; ring|].
    cbn [map snd forallb] in H. apply andb_true_iff in H as [H K]. destruct (IH K) as [S F].
    unfold in_table in H. rewrite !andb_true_iff in H. destruct H as [[_ Hy] Hc].
    assert (forall y, Nat.ltb y (labels T) = true ->
      (w o y = z 0%nat * IZR (indicator y 0) + z 1%nat * IZR (indicator y 1) + z 2%nat * IZR (indicator y 2)) /\
      (IZR (indicator y 0) + IZR (indicator y 1) + IZR (indicator y 2) = 1)) as pick.
    { clear - L. intros y H. unfold z, indicator. pose proof H as B. apply Nat.ltb_lt in B.
      destruct y as [|[|[|y]]]; [..|lia]; rewrite ?H; simpl; split; ring. }
    destruct (pick y Hy) as [Wy Iy], (pick c Hc) as [Wc Ic].
    unfold form, label_coefficient in *. cbn [fold_right]. rewrite F, Wy, Wc, !minus_IZR. split; [|ring].
    transitivity (IZR k * activity o a b * ((IZR (indicator y 0) + IZR (indicator y 1) + IZR (indicator y 2))
                    - (IZR (indicator c 0) + IZR (indicator c 1) + IZR (indicator c 2)))); [|rewrite Iy, Ic; ring].
    lra. }
  split; [assumption|].
  pose proof (pow2_ge_0 (z 0%nat * m 1%nat - z 1%nat * m 0%nat)).
  pose proof (pow2_ge_0 (z 0%nat * m 2%nat - z 2%nat * m 0%nat)).
  pose proof (pow2_ge_0 (z 1%nat * m 2%nat - z 2%nat * m 1%nat)). lra.
Qed.

(** A quadratic polynomial that is not negative has no positive discriminant. *)
Lemma discriminant a h b : 0 <= a -> 0 <= b -> (forall s, 0 <= a - 2 * s * h + s ^ 2 * b) -> h ^ 2 <= a * b.
Proof.
  intros A B H. destruct (Rle_lt_or_eq_dec 0 b B) as [P|<-].
  - specialize (H (h / b)).
    replace (a - 2 * (h / b) * h + (h / b) ^ 2 * b) with ((a * b - h ^ 2) / b) in H by (field; lra).
    assert (0 <= (a * b - h ^ 2) / b * b) as K by (apply Rmult_le_pos; lra). field_simplify in K; lra.
  - destruct (Req_dec h 0) as [->|N]; [lra|].
    specialize (H ((a + 1) / (2 * h))).
    replace (a - 2 * ((a + 1) / (2 * h)) * h + ((a + 1) / (2 * h)) ^ 2 * 0) with (-1) in H
      by (field; lra). lra.
Qed.

(** Steps 6, 7 and 10: the square of the form is at most unit^2 t t' |x|^4 |w|^2. *)
Lemma form_bound l unit p :
  check_proof T l unit p = true ->
  form l o ^ 2 <= IZR (Zpos unit) ^ 2 * (Q2R (proof_t p) * Q2R (proof_t_prime p)) * (X ^ 2 * W).
Proof.
  unfold check_proof. intros H.
  destruct (forallb (in_table T) (map snd l)) eqn:L; [|easy].
  destruct (_ && _)%bool eqn:P in H; [|easy]. apply andb_true_iff in P as [P P'].
  destruct (match proof_kind p with Plane => _ | _ => _ end) eqn:K in H; [|easy].
  destruct (identity_holds T l unit p) eqn:I; [|easy].
  pose proof (semidefinite_sound p H) as S. clear H.
  rewrite Z.gtb_ltb, Z.ltb_lt in P, P'. apply IZR_lt in P, P'.
  unfold identity_holds in I. destruct (shaped _ _); [|easy].
  assert (forall s al be, 0 <= value (variables T o s al be) (expected T l unit p)) as N.
  { intros s al be. pose proof (is_zero_value (variables T o s al be) _ I) as V.
    rewrite value_app, !value_scaled, quadratic_value, !mult_IZR in V.
    set (F := form_of _ _) in V. assert (0 <= F) by apply S.
    assert (0 <= IZR (Zpos (Qden (proof_t p))) * IZR (Zpos (Qden (proof_t_prime p))) * IZR (Zpos unit) * F).
    { repeat apply Rmult_le_pos; try assumption; apply IZR_le; easy. }
    lra. }
  clear S I. pose proof X_nonnegative as X0. pose proof W_nonnegative as W0.
  unfold Q2R. unfold expected in N.
  assert (0 < IZR (Zpos (Qden (proof_t p)))) as D1 by (apply IZR_lt; reflexivity).
  assert (0 < IZR (Zpos (Qden (proof_t_prime p)))) as D2 by (apply IZR_lt; reflexivity).
  assert (0 < IZR (Zpos (denominator p))) as D by (apply IZR_lt; reflexivity).
  assert (0 < IZR (Zpos unit)) as U by (apply IZR_lt; reflexivity).
  set (d1 := IZR (Zpos (Qden (proof_t p)))) in *. set (d2 := IZR (Zpos (Qden (proof_t_prime p)))) in *.
  set (n1 := IZR (Qnum (proof_t p))) in *. set (n2 := IZR (Qnum (proof_t_prime p))) in *.
  set (d := IZR (Zpos (denominator p))) in *. set (q := IZR (Zpos unit)) in *.
  assert (0 < d1 * d2 * d) as F by (repeat apply Rmult_lt_0_compat; assumption).
  (* t |x|^4 - 2 s form + s^2 t' |w|^2 >= 0 for all s, all times the denominators *)
  assert (
    (forall s, 0 <= n1 * d2 * d * q * X ^ 2 - 2 * s * (d1 * d2 * d * form l o) + s ^ 2 * (n2 * d1 * d * q * W)) ->
    form l o ^ 2 <= q ^ 2 * (n1 * / d1 * (n2 * / d2)) * (X ^ 2 * W)) as finish.
  { intros Q. apply discriminant in Q.
    - apply (Rmult_le_reg_l ((d1 * d2 * d) ^ 2)); [apply pow_lt; assumption|].
      replace ((d1 * d2 * d) ^ 2 * (q ^ 2 * (n1 * / d1 * (n2 * / d2)) * (X ^ 2 * W)))
        with (n1 * d2 * d * q * X ^ 2 * (n2 * d1 * d * q * W)) by (field; lra).
      lra.
    - repeat apply Rmult_le_pos; try lra.
    - repeat apply Rmult_le_pos; try lra. }
  destruct (proof_kind p).
  - apply finish. intros s. specialize (N s 0 0).
    rewrite !value_app, !value_scaled, value_times, x2_value, z2_value, form_value, !mult_IZR in N by assumption.
    fold d1 d2 n1 n2 d q in N. lra.
  - destruct (Req_dec X 0) as [Z|Z].
    + rewrite (no_inputs l Z L), Z. lra.
    + apply finish. intros s. specialize (N s 0 0).
      rewrite value_times, !value_app, !value_scaled, value_times, x2_value, z2_value, form_value, !mult_IZR in N
        by assumption.
      fold d1 d2 n1 n2 d q in N. apply (Rmult_le_reg_l X); lra.
  - apply andb_true_iff in K as [K1 K2]. apply Nat.leb_le in K1. apply Qeq_bool_eq, Qeq_eqR in K2.
    destruct (three_labels l K1 L) as [Z B]. set (m := label_coefficient l o) in *.
    set (t1 := n1 * d2 * d * q) in *. set (f := d1 * d2 * d) in *.
    set (a := f * (m 0%nat - m 1%nat)). set (b := f * (m 0%nat + m 1%nat)).
    assert (forall al be, 0 <= al ^ 2 * (t1 * X + a) + 6 * al * be * b + 3 * be ^ 2 * (t1 * X - a)) as V.
    { intros al be. specialize (N 0 al be).
      rewrite !value_app, !value_times, !value_app, !value_scaled, !value_app, !value_scaled, x2_value, !matrix_value,
        !opp_IZR, !mult_IZR in N by assumption.
      cbn [value monomial_value] in N. rewrite variable_alpha, variable_beta in N.
      fold d1 d2 n1 n2 d q m f t1 in N. unfold a, b. lra. }
    assert ((3 * b) ^ 2 <= (t1 * X + a) * (3 * (t1 * X - a))) as R.
    { apply discriminant.
      - specialize (V 1 0). lra.
      - specialize (V 0 1). lra.
      - intros s. specialize (V 1 (- s)). lra. }
    assert (m 2%nat = - (m 0%nat + m 1%nat)) as Z2 by lra. rewrite Z2 in B.
    assert (f ^ 2 * (2 * (m 0%nat ^ 2 + m 1%nat ^ 2 + (- (m 0%nat + m 1%nat)) ^ 2)) <= t1 ^ 2 * X ^ 2) as M.
    { unfold a, b in R. lra. }
    assert (n2 * / d2 = n1 * / d1 / 2) as ->.
    { change (Q2R (proof_t_prime p) = Q2R (proof_t p) / 2). rewrite K2, Q2R_div by easy.
      replace (Q2R 2) with 2 by (unfold Q2R; simpl; lra). reflexivity. }
    apply (Rmult_le_reg_l (f ^ 2)); [apply pow_lt; assumption|].
    replace (f ^ 2 * (q ^ 2 * (n1 * / d1 * (n1 * / d1 / 2)) * (X ^ 2 * W))) with (t1 ^ 2 * X ^ 2 / 2 * W)
      by (unfold f, t1; field; lra).
    apply (Rle_trans _ (f ^ 2 * ((m 0%nat ^ 2 + m 1%nat ^ 2 + (- (m 0%nat + m 1%nat)) ^ 2) * W))).
    + apply Rmult_le_compat_l; [apply pow2_ge_0 | assumption].
    + rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [assumption | lra].
Qed.

(** Step 4: |x|^4 |w|^2 <= 4/27 (|x|^2 + |w|^2)^3. *)
Lemma form_at_most l unit p :
  check_proof T l unit p = true ->
  form l o <= IZR (Zpos unit) * (2 / (3 * sqrt 3) * sqrt (Q2R (proof_t p) * Q2R (proof_t_prime p))) * norm T o ^ 3.
Proof.
  intros H. pose proof (form_bound l unit p H) as B.
  assert (0 <= Q2R (proof_t p) * Q2R (proof_t_prime p)) as P.
  { unfold check_proof in H. destruct (forallb _ _); [|easy]. destruct (_ && _)%bool eqn:P in H; [|easy].
    apply andb_true_iff in P as [P P']. rewrite Z.gtb_ltb, Z.ltb_lt in P, P'. apply IZR_lt in P, P'. unfold Q2R.
    apply Rmult_le_pos; apply Rmult_le_pos; try lra; left; apply Rinv_0_lt_compat, IZR_lt; reflexivity. }
  set (tt := Q2R (proof_t p) * Q2R (proof_t_prime p)) in *.
  assert (0 < IZR (Zpos unit)) as U by (apply IZR_lt; reflexivity). set (q := IZR (Zpos unit)) in *.
  pose proof X_nonnegative as X0. pose proof W_nonnegative as W0.
  assert (0 < sqrt 3) as S3 by (apply sqrt_lt_R0; lra).
  assert (0 <= norm T o) as N0 by apply sqrt_pos.
  assert (norm T o ^ 2 = X + W) as N2 by (unfold norm; apply pow2_sqrt; fold X W; lra).
  assert (0 <= q * (2 / (3 * sqrt 3) * sqrt tt) * norm T o ^ 3) as R0.
  { repeat apply Rmult_le_pos; try lra; try apply sqrt_pos; try apply pow_le; try assumption.
    left. apply Rinv_0_lt_compat. lra. }
  assert (X ^ 2 * W <= 4 / 27 * (X + W) ^ 3) as A.
  { assert (0 <= (X - 2 * W) ^ 2 * (4 * X + W)) by (apply Rmult_le_pos; [apply pow2_ge_0 | lra]). lra. }
  assert (form l o ^ 2 <= (q * (2 / (3 * sqrt 3) * sqrt tt) * norm T o ^ 3) ^ 2) as S.
  { replace ((q * (2 / (3 * sqrt 3) * sqrt tt) * norm T o ^ 3) ^ 2)
      with (q ^ 2 * (4 / (9 * sqrt 3 ^ 2) * sqrt tt ^ 2) * (norm T o ^ 2) ^ 3) by (field; lra).
    rewrite N2, (pow2_sqrt 3), (pow2_sqrt tt) by lra.
    apply (Rle_trans _ _ _ B). replace (q ^ 2 * (4 / (9 * 3) * tt) * (X + W) ^ 3)
      with (q ^ 2 * tt * (4 / 27 * (X + W) ^ 3)) by field.
    apply Rmult_le_compat_l; [apply Rmult_le_pos; [apply pow2_ge_0 | assumption] | assumption]. }
  destruct (Rle_dec (form l o) (q * (2 / (3 * sqrt 3) * sqrt tt) * norm T o ^ 3)) as [|C]; [assumption|].
  apply Rnot_le_lt in C. exfalso. nra.
Qed.
End Neuron.

(** ** Networks *)

(** The sum over the terms of k (f_y - f_c). *)
Definition gains (l : terms) (net : network) : R :=
  fold_right (fun '(k, (a, b, y, c)) s => IZR k * (output net a b y - output net a b c) + s) 0 l.

Lemma gains_forms l net : gains l net = fold_right (fun o rest => form l o + rest) 0 net.
Proof.
  induction net as [|o net IH]; simpl.
  - induction l as [|[k [[[a b] y] c]] l IH]; simpl; [reflexivity|]. rewrite IH. ring.
  - rewrite <- IH. clear IH. induction l as [|[k [[[a b] y] c]] l IH]; simpl; [ring|]. rewrite IH. ring.
Qed.

Theorem proof_sound T l unit p :
  check_proof T l unit p = true ->
  forall net,
  gains l net <= IZR (Zpos unit) * (2 / (3 * sqrt 3) * sqrt (Q2R (proof_t p) * Q2R (proof_t_prime p))) * norm3 T net.
Proof.
  intros H net. rewrite gains_forms. induction net as [|o net IH]; simpl; [lra|].
  pose proof (form_at_most T o l unit p H) as B. simpl in B. lra.
Qed.

(** Terms that are given triples with multipliers k >= 0 gain at least g times the sum of all k. *)
Lemma triples_given T a b y c : In (a, b, y, c) (triples T) -> In (a, b, y) (given T) /\ (c < labels T)%nat /\ c <> y.
Proof.
  unfold triples. rewrite in_flat_map. intros [[[a' b'] y'] [H K]].
  apply in_map_iff in K as [c' [E K]]. inversion E; subst. apply filter_In in K as [K N].
  apply in_seq in K. destruct (Nat.eqb_spec c y); [easy|]. repeat split; [assumption | lia | assumption].
Qed.

Lemma gains_at_least T g net k l :
  (0 <= k)%Z -> margin_at_least T g net -> multipliers_fit T l = true ->
  IZR k * IZR (total l) * g <= gains (weighted T k l) net.
Proof.
  intros K M H. unfold multipliers_fit in H. rewrite !andb_true_iff in H. destruct H as [[L P] _].
  apply Nat.eqb_eq in L. unfold weighted.
  assert (forall q, In q (triples T) -> In q (triples T)) as I by auto.
  revert I L P. generalize (triples T) at 1 3 4 as qs. induction l as [|x l IH]; intros qs I L P.
  - simpl. lra.
  - destruct qs as [|[[[a b] y] c] qs]; [discriminate|].
    cbn [forallb] in P. apply andb_true_iff in P as [P0 P]. apply Z.leb_le, IZR_le in P0.
    apply IZR_le in K. injection L as L.
    specialize (IH qs (fun q h => I q (or_intror h)) L P).
    destruct (triples_given T a b y c (I _ (or_introl eq_refl))) as [G [C N]].
    pose proof (M a b y c G C N) as D.
    cbn [map combine gains fold_right total]. fold (total l). rewrite plus_IZR, mult_IZR.
    fold (gains (combine (map (Z.mul k) l) qs) net).
    assert (IZR k * IZR x * g <= IZR k * IZR x * (output net a b y - output net a b c))
      by (apply Rmult_le_compat_l; [apply Rmult_le_pos; assumption | assumption]).
    lra.
Qed.

(** ** The upper bound *)

Definition bound (cert : certificate) : R :=
  2 / (3 * sqrt 3) * sqrt (Q2R (proof_t (upper_proof cert)) * Q2R (proof_t_prime (upper_proof cert))).

Theorem upper_bound T cert :
  check T cert = true -> forall net g, margin_at_least T g net -> g <= bound cert * norm3 T net.
Proof.
  unfold check. intros H net g M. destruct (multipliers_fit T (multipliers cert)) eqn:F; [|easy].
  pose proof (gains_at_least T g net 1 _ ltac:(easy) M F) as L. pose proof (proof_sound _ _ _ _ H net) as U.
  unfold multipliers_fit in F. rewrite !andb_true_iff in F. destruct F as [_ P]. apply Z.ltb_lt in P.
  rewrite Z2Pos.id in U by assumption. apply IZR_lt in P. fold (bound cert) in U.
  apply (Rmult_le_reg_l (IZR (total (multipliers cert)))); [assumption | lra].
Qed.

Corollary normalized_upper_bound T cert :
  check T cert = true -> forall net g, normalized_margin_at_least T g net -> g <= bound cert.
Proof.
  intros H net g [N M]. pose proof (upper_bound T cert H net _ M) as U.
  apply (Rmult_le_reg_r (norm3 T net)); assumption.
Qed.

(** The same with a rational number in place of the roots. *)
Theorem rational_bound T cert (upper : Q) :
  check T cert = true -> (0 <= upper)%Q ->
  ((4 # 27) * (proof_t (upper_proof cert) * proof_t_prime (upper_proof cert)) <= upper * upper)%Q ->
  forall net g, normalized_margin_at_least T g net -> g <= Q2R upper.
Proof.
  intros H P S net g M. apply (Rle_trans _ _ _ (normalized_upper_bound T cert H net g M)).
  apply Qle_Rle in P, S. rewrite !Q2R_mult in S. replace (Q2R 0) with 0 in P by (unfold Q2R; simpl; lra).
  replace (Q2R (4 # 27)) with (4 / 27) in S by (unfold Q2R; simpl; lra).
  unfold bound. set (tt := Q2R (proof_t (upper_proof cert)) * Q2R (proof_t_prime (upper_proof cert))) in *.
  assert (0 < sqrt 3) as S3 by (apply sqrt_lt_R0; lra). assert (sqrt 3 ^ 2 = 3) as E by (apply pow2_sqrt; lra).
  destruct (Rle_dec 0 tt) as [T0|T0].
  - pose proof (sqrt_pos tt). assert (sqrt tt ^ 2 = tt) as F by (apply pow2_sqrt; assumption).
    assert (0 <= 2 / (3 * sqrt 3)) as C by (left; apply Rdiv_lt_0_compat; lra).
    assert ((2 / (3 * sqrt 3)) ^ 2 = 4 / 27) as D.
    { replace ((2 / (3 * sqrt 3)) ^ 2) with (4 / (9 * sqrt 3 ^ 2)) by (field; lra). rewrite E. lra. }
    destruct (Rle_dec (2 / (3 * sqrt 3) * sqrt tt) (Q2R upper)) as [|N]; [assumption|]. exfalso.
    apply Rnot_le_lt in N. assert ((2 / (3 * sqrt 3) * sqrt tt) ^ 2 <= Q2R upper ^ 2) as L.
    { rewrite Rpow_mult_distr, D, F. lra. }
    pose proof (Rmult_lt_0_compat (2 / (3 * sqrt 3) * sqrt tt - Q2R upper) (2 / (3 * sqrt 3) * sqrt tt + Q2R upper)
      ltac:(lra) ltac:(lra)). lra.
  - apply Rnot_le_lt in T0. rewrite (sqrt_neg_0 tt), Rmult_0_r by lra. assumption.
Qed.
