(** The step of a block is a step of gradient descent.

    [derivative_of_risk]: back-propagation gives the derivative of the risk in
    every direction, for all differentiable r and losses (lemma 1 of the
    document); [partial_derivative]: for each weight.  [gradient_step]: so the
    block steps against the derivatives, where its sums of ReLUs are r, its
    derivative and that of the loss.  They are for [deep_linear] networks, for
    [deep_affine] ones, and for ReLU networks off a window
    ([relu_with_margin], [relu_by_convention]), all with the squared loss. *)

From Coq Require Import Reals QArith Qreals List Arith Bool Lia Lra FunctionalExtensionality.
From Lemmata Require Import Statement Sums Descent InContext.
Import ListNotations.
Local Open Scope R_scope.

(** ** The step goes along the derivative of the risk *)

Section Gradient.
Variable p : problem.
Let N := depth p.
Let K := width p.
Variables (r r' : R -> R).

Lemma sum_limit m (f : nat -> R -> R) g t : (forall i, (i < m)%nat -> derivable_pt_lim (f i) t (g i)) ->
  derivable_pt_lim (fun h => sum m (fun i => f i h)) t (sum m g).
Proof.
  induction m as [|m IH]; intro H; simpl; [apply derivable_pt_lim_const|].
  apply (derivable_pt_lim_plus (fun h => sum m (fun i => f i h)) (f m)); [apply IH; intros; apply H; lia|apply H; lia].
Qed.

Lemma line_limit a b : derivable_pt_lim (fun h => a + h * b) 0 b.
Proof.
  intros eps E; exists (mkposreal 1 Rlt_0_1); intros h H _.
  replace ((a + (0 + h) * b - (a + 0 * b)) / h - b) with 0 by (field; exact H); rewrite Rabs_R0; exact E.
Qed.
Lemma sum_of_totals {A} m (f : nat -> A -> R) l :
  sum m (fun i => total (f i) l) = total (fun a => sum m (fun i => f i a)) l.
Proof.
  induction l as [|a l IH]; unfold total in *; simpl; [apply sum_zero; reflexivity|rewrite sum_plus, IH; reflexivity].
Qed.

Section One_example.
Variables (x : nat -> R) (w v : nat -> nat -> nat -> R).

Fixpoint tangent (j : nat) : nat -> R :=
  match j with
  | O => fun _ => 0
  | S i => fun k => r' (argument p r w x (S i) k) *
      sum (K i) (fun l => v (S i) k l * outputs p r w x i l + w (S i) k l * tangent i l)
  end.

Hypothesis smooth : forall j k, (1 <= j <= N)%nat -> (k < K j)%nat ->
  derivable_pt_lim r (argument p r w x j k) (r' (argument p r w x j k)).

Lemma moved_by_zero j k : outputs p r (moved_by w v 0) x j k = outputs p r w x j k.
Proof.
  revert k; induction j as [|j IH]; intro k; simpl; [reflexivity|].
  f_equal; apply sum_ext; intros l _; rewrite IH; unfold moved_by; ring.
Qed.

Lemma outputs_limit j : (j <= N)%nat -> forall k, (k < K j)%nat ->
  derivable_pt_lim (fun h => outputs p r (moved_by w v h) x j k) 0 (tangent j k).
Proof.
  induction j as [|j IH]; intros J k L; simpl; [apply derivable_pt_lim_const|].
  apply (derivable_pt_lim_comp (fun h => sum (K j) (fun l => moved_by w v h (S j) k l *
    outputs p r (moved_by w v h) x j l)) r).
  - apply sum_limit; intros l A.
    replace (v (S j) k l * outputs p r w x j l + w (S j) k l * tangent j l)
      with (v (S j) k l * outputs p r (moved_by w v 0) x j l + moved_by w v 0 (S j) k l * tangent j l)
      by (rewrite moved_by_zero; unfold moved_by; ring).
    apply (derivable_pt_lim_mult (fun h => moved_by w v h (S j) k l) (fun h => outputs p r (moved_by w v h) x j l));
      [|apply IH; [lia|exact A]].
    apply line_limit.
  - replace (sum (K j) (fun l => moved_by w v 0 (S j) k l * outputs p r (moved_by w v 0) x j l))
      with (argument p r w x (S j) k).
    + apply smooth; [lia|exact L].
    + unfold argument; rewrite Nat.sub_succ, Nat.sub_0_r; apply sum_ext; intros l _; rewrite moved_by_zero;
      unfold moved_by; ring.
Qed.

Variable u : nat -> R.

(** What meets the outputs of layer N - m, and all that meets the weights of the m layers behind. *)
Definition meeting (m : nat) : nat -> R :=
  match m with O => u | S m' => fun k => sum (K (N - m')) (fun q => w (N - m')%nat q k * back p r r' u w x m' q) end.
Definition met (j : nat) : R :=
  sum (K j) (fun k => sum (K (j - 1)) (fun l => back p r r' u w x (N - j) k * outputs p r w x (j - 1) l * v j k l)).

Lemma back_meeting m k : back p r r' u w x m k = r' (argument p r w x (N - m) k) * meeting m k.
Proof. destruct m; simpl; [rewrite Nat.sub_0_r|]; reflexivity. Qed.

Lemma chain m : (m <= N)%nat ->
  sum (K N) (fun k => u k * tangent N k)
    = sum m (fun i => met (N - i)) + sum (K (N - m)) (fun k => meeting m k * tangent (N - m) k).
Proof.
  induction m as [|m IH]; intro M; [simpl; rewrite Nat.sub_0_r; ring|].
  rewrite (IH ltac:(lia)); simpl sum at 3; rewrite Rplus_assoc; f_equal.
  replace (N - m)%nat with (S (N - S m)) by lia; set (j := (N - S m)%nat).
  assert (E : (N - S j)%nat = m) by (unfold j; lia).
  unfold met; rewrite Nat.sub_succ, Nat.sub_0_r, E; simpl meeting; fold K.
  replace (N - m)%nat with (S j) by (unfold j; lia).
  rewrite (sum_ext (K j) _ (fun k => sum (K (S j)) (fun q => w (S j) q k * back p r r' u w x m q * tangent j k)))
    by (intros k _; rewrite sum_scal_r; reflexivity).
  rewrite (sum_swap (K j) (K (S j))), <- sum_plus; apply sum_ext; intros k _.
  rewrite back_meeting; replace (N - m)%nat with (S j) by (unfold j; lia).
  simpl tangent; rewrite <- sum_plus, <- !sum_scal; apply sum_ext; intros l _; ring.
Qed.

Lemma reverse : sum (K N) (fun k => u k * tangent N k) = total met (seq 1 N).
Proof.
  rewrite (chain N) by lia; rewrite Nat.sub_diag; simpl tangent.
  rewrite (sum_zero (K 0)) by (intros; ring); rewrite Rplus_0_r, <- total_seq, <- total_map, <- countdown.
  assert (T : forall l, total met (rev l) = total met l).
  { induction l as [|a l IH]; [reflexivity|]; simpl rev; rewrite total_app, IH; unfold total; simpl; ring. }
  apply T.
Qed.
End One_example.

Variables (loss u : R -> R -> R) (x y : nat -> nat -> R) (w : nat -> nat -> nat -> R).
Hypothesis smooth : forall i j k, (i < examples p)%nat -> (1 <= j <= N)%nat -> (k < K j)%nat ->
  derivable_pt_lim r (argument p r w (x i) j k) (r' (argument p r w (x i) j k)).
Hypothesis loss_smooth : forall i k, (i < examples p)%nat -> (k < K N)%nat ->
  derivable_pt_lim (fun t => loss t (y i k)) (outputs p r w (x i) N k) (u (outputs p r w (x i) N k) (y i k)).

Theorem derivative_of_risk v : derivable_pt_lim (fun h => risk p r loss x y (moved_by w v h)) 0
  (total (fun j => sum (K j) (fun k => sum (K (j - 1)) (fun l => slope_of p r r' u x y w j k l * v j k l))) (seq 1 N)).
Proof.
  unfold risk; set (m := INR (2 * examples p)).
  replace (total _ _) with (sum (examples p) (fun i => sum (K N) (fun k =>
    u (outputs p r w (x i) N k) (y i k) * tangent (x i) w v N k)) * / m + sum (examples p) (fun i => sum (K N) (fun k =>
    loss (outputs p r (moved_by w v 0) (x i) N k) (y i k))) * 0).
  - apply (derivable_pt_lim_mult (fun h => sum (examples p) (fun i => sum (K N) (fun k =>
      loss (outputs p r (moved_by w v h) (x i) N k) (y i k)))) (fun _ => / m)); [|apply derivable_pt_lim_const].
    apply sum_limit; intros i I; apply sum_limit; intros k L.
    apply (derivable_pt_lim_comp (fun h => outputs p r (moved_by w v h) (x i) N k) (fun t => loss t (y i k))).
    + apply outputs_limit; [intros j k' J L'; apply smooth; assumption|lia|exact L].
    + rewrite moved_by_zero; apply loss_smooth; assumption.
  - rewrite Rmult_0_r, Rplus_0_r, <- sum_scal_r.
    rewrite (sum_ext _ _ (fun i => total (fun j => sum (K j) (fun k => sum (K (j - 1)) (fun l =>
      back p r r' (fun q => u (outputs p r w (x i) N q) (y i q)) w (x i) (N - j) k * outputs p r w (x i) (j - 1) l
      * (v j k l * / m)))) (seq 1 N))).
    + rewrite sum_of_totals; apply total_ext; intros j _; rewrite (sum_swap (examples p)); apply sum_ext; intros k _.
      rewrite (sum_swap (examples p)); apply sum_ext; intros l _.
      unfold slope_of; fold N; fold m; rewrite sum_scal_r; unfold Rdiv; ring.
    + intros i _; rewrite (reverse (x i) w v (fun k => u (outputs p r w (x i) N k) (y i k))).
      rewrite Rmult_comm, <- total_scal; apply total_ext; intros j _; unfold met.
      rewrite <- sum_scal; apply sum_ext; intros k _; rewrite <- sum_scal; apply sum_ext; intros l _; ring.
Qed.

(** The same for one weight. *)
Theorem partial_derivative j k l : (1 <= j <= N)%nat -> (k < K j)%nat -> (l < K (j - 1))%nat ->
  derivable_pt_lim (fun h => risk p r loss x y (moved_by w (alone j k l) h)) 0 (slope_of p r r' u x y w j k l).
Proof.
  intros J L M; pose proof (derivative_of_risk (alone j k l)) as H.
  rewrite (total_pick _ _ j (seq_NoDup _ _)) in H; [|apply in_seq; lia|].
  - rewrite <- total_seq, (total_pick _ _ k (seq_NoDup _ _)) in H; [|apply in_seq; lia|].
    + rewrite <- total_seq, (total_pick _ _ l (seq_NoDup _ _)) in H; [|apply in_seq; lia|].
      * unfold alone in H at 2; rewrite !Nat.eqb_refl in H; simpl in H; rewrite Rmult_1_r in H; exact H.
      * intros l' _ D; unfold alone; apply Nat.eqb_neq in D; rewrite D, !andb_false_r; ring.
    + intros k' _ D; apply sum_zero; intros l' _; unfold alone; apply Nat.eqb_neq in D; rewrite D, andb_false_r;
      simpl; ring.
  - intros j' _ D; apply sum_zero; intros k' _; apply sum_zero; intros l' _.
    unfold alone; apply Nat.eqb_neq in D; rewrite D; simpl; ring.
Qed.
End Gradient.

(** ** The block makes a step of gradient descent *)

Theorem gradient_step p loss x y w : well_formed p -> silent_for p (x (examples p)) -> in_box p w ->
  let r := value1 (activation p) in
  (forall i j k, (i < examples p)%nat -> (1 <= j <= depth p)%nat -> (k < width p j)%nat ->
    let t := argument p r w (x i) j k in derivable_pt_lim r t (value1 (derivative p) t)) ->
  (forall i k, (i < examples p)%nat -> (k < width p (depth p))%nat ->
    let t := outputs p r w (x i) (depth p) k in
    derivable_pt_lim (fun s => loss s (y i k)) t (value2 (loss_derivative p) t (y i k))) ->
  exists G, is_gradient p r loss x y w G /\ makes p (block p) x y w (stepped p w G).
Proof.
  intros W Z B r S S'; exists (slope_of p r (value1 (derivative p)) (value2 (loss_derivative p)) x y w); split.
  - intros j k l J L M; apply partial_derivative; assumption.
  - exact (one_step p x y w W Z B).
Qed.

(** ** Sums of ReLUs that are exact *)

Definition identity_sum : list (Q * Q * Q) := [(1, 1, 0); (- (1), - (1), 0)]%Q.
Definition shifted_sum : list (Q * Q * Q) := [(1, 1, 0); (- (1), - (1), 0); (1, 0, 1)]%Q.
Definition one_sum : list (Q * Q * Q) := [(1, 0, 1)]%Q.
Definition relu_sum : list (Q * Q * Q) := [(1, 1, 0)]%Q.
Definition step_sum (d : Q) : list (Q * Q * Q) := [(/ d, 1, 0); (- ((1 + d) / d), / (1 + d), - (d / (1 + d)))]%Q.
Definition residual_sum : list (Q * Q * Q * Q) := [(2, 1 # 2, - (1 # 2), 0); (- (2), - (1 # 2), 1 # 2, 0)]%Q.

Definition squared (t y : R) : R := (t - y) ^ 2 / 2.

Ltac numbers := unfold value1, value2, total; cbn [fold_right];
  rewrite ?Q2R_opp, ?RMicromega.Q2R_1, ?RMicromega.Q2R_0; rewrite ?Rplus_0_r.

Lemma identity_exact : value1 identity_sum = fun t => t.
Proof.
  apply functional_extensionality; intro t; unfold identity_sum; numbers.
  rewrite <- (relu_odd t) at 3; replace (1 * t) with t by ring; replace (- (1) * t) with (- t) by ring; ring.
Qed.
Lemma relu_one : relu 1 = 1.
Proof. unfold relu; apply Rmax_left; lra. Qed.
Lemma shifted_exact : value1 shifted_sum = fun t => 1 + t.
Proof.
  apply functional_extensionality; intro t; unfold shifted_sum; numbers.
  replace (0 * t + 1) with 1 by ring; rewrite relu_one.
  rewrite <- (relu_odd t) at 3; replace (1 * t) with t by ring; replace (- (1) * t) with (- t) by ring; ring.
Qed.
Lemma one_exact : value1 one_sum = fun _ => 1.
Proof.
  apply functional_extensionality; intro t; unfold one_sum; numbers; replace (0 * t + 1) with 1 by ring;
    rewrite relu_one; ring.
Qed.
Lemma relu_exact : value1 relu_sum = relu.
Proof. apply functional_extensionality; intro t; unfold relu_sum; numbers; rewrite !Rmult_1_l; reflexivity. Qed.
Lemma residual_exact : value2 residual_sum = fun t y => t - y.
Proof.
  apply functional_extensionality; intro t; apply functional_extensionality; intro y; unfold residual_sum; numbers.
  replace (Q2R 2) with 2 by (unfold Q2R; simpl; lra); replace (Q2R (1 # 2)) with (/ 2) by (unfold Q2R; simpl; lra).
  replace (- / 2 * t + / 2 * y) with (- (/ 2 * t + - / 2 * y)) by ring.
  pose proof (relu_odd (/ 2 * t + - / 2 * y)) as H; lra.
Qed.
Lemma step_exact d t : (0 < d)%Q ->
  (t <= 0 -> value1 (step_sum d) t = 0) /\ (Q2R d <= t -> value1 (step_sum d) t = 1).
Proof.
  intro H; assert (D : 0 < Q2R d) by (rewrite <- RMicromega.Q2R_0; apply Qlt_Rlt, H).
  assert (N0 : ~ (d == 0)%Q) by (intro E; rewrite E in H; discriminate).
  assert (N1 : ~ (1 + d == 0)%Q).
  { intro E; apply Qeq_eqR in E; rewrite Q2R_plus, RMicromega.Q2R_1, RMicromega.Q2R_0 in E; lra. }
  unfold step_sum; numbers.
  rewrite !Q2R_div, !Q2R_inv, !Q2R_plus, RMicromega.Q2R_1 by assumption; set (s := Q2R d) in *.
  replace (/ (1 + s) * t + - (s / (1 + s))) with ((t - s) / (1 + s)) by (field; lra).
  assert (P : 0 < / (1 + s)) by (apply Rinv_0_lt_compat; lra).
  unfold Rdiv; split; intro T.
  - rewrite (relu_nonpos (1 * t)), relu_nonpos by nra; ring.
  - unfold relu; rewrite !Rmax_left by nra; field; lra.
Qed.

Lemma squared_smooth t y : derivable_pt_lim (fun s => squared s y) t (t - y).
Proof.
  unfold squared; intros eps E; exists (mkposreal eps E); intros h H L; simpl in L.
  replace (((t + h - y) ^ 2 / 2 - (t - y) ^ 2 / 2) / h - (t - y)) with (h / 2) by (field; exact H).
  unfold Rdiv; rewrite Rabs_mult, (Rabs_right (/ 2)) by lra; pose proof (Rabs_pos h); lra.
Qed.

Lemma shifted_smooth t : derivable_pt_lim (fun s => 1 + s) t 1.
Proof.
  intros eps E; exists (mkposreal 1 Rlt_0_1); intros h H _.
  replace ((1 + (t + h) - (1 + t)) / h - 1) with 0 by (field; exact H); rewrite Rabs_R0; exact E.
Qed.

(** Deep linear networks: every matrix, all data, any rate. *)
Theorem deep_linear p x y w : well_formed p -> silent_for p (x (examples p)) -> in_box p w ->
  activation p = identity_sum -> derivative p = one_sum -> loss_derivative p = residual_sum ->
  exists G, is_gradient p (fun t => t) squared x y w G /\ makes p (block p) x y w (stepped p w G).
Proof.
  intros W Z B A D L; rewrite <- identity_exact, <- A; apply gradient_step; try assumption.
  - intros; rewrite A, D, identity_exact, one_exact; apply derivable_pt_lim_id.
  - intros; rewrite L, residual_exact; apply squared_smooth.
Qed.

(** Networks of layers 1 + V p. *)
Theorem deep_affine p x y w : well_formed p -> silent_for p (x (examples p)) -> in_box p w ->
  activation p = shifted_sum -> derivative p = one_sum -> loss_derivative p = residual_sum ->
  exists G, is_gradient p (fun t => 1 + t) squared x y w G /\ makes p (block p) x y w (stepped p w G).
Proof.
  intros W Z B A D L; rewrite <- shifted_exact, <- A; apply gradient_step; try assumption.
  - intros; rewrite A, D, shifted_exact, one_exact; apply shifted_smooth.
  - intros; rewrite L, residual_exact; apply squared_smooth.
Qed.

(** ReLU networks at weights where no argument of an example is in [0, d). *)
Lemma relu_smooth t : t <> 0 -> derivable_pt_lim relu t (if Rlt_dec 0 t then 1 else 0).
Proof.
  intros T eps E; assert (D : 0 < Rabs t) by (apply Rabs_pos_lt, T); exists (mkposreal (Rabs t) D); intros h H L;
    simpl in L.
  unfold relu, Rmax; unfold Rabs in L; destruct (Rlt_dec 0 t);
    destruct (Rle_dec t 0), (Rle_dec (t + h) 0), (Rcase_abs h), (Rcase_abs t); try lra;
    match goal with |- Rabs ?a < _ => replace a with 0 by (field; exact H); rewrite Rabs_R0; exact E end.
Qed.

(** With r' (0) = 0 the argument 0 is allowed: a step by back-propagation. *)
Definition step_function (t : R) : R := if Rlt_dec 0 t then 1 else 0.

Lemma back_slopes p r r1 r2 u w x m : (m < depth p)%nat ->
  (forall j k, (1 <= j <= depth p)%nat -> (k < width p j)%nat ->
    r1 (argument p r w x j k) = r2 (argument p r w x j k)) ->
  forall k, (k < width p (depth p - m))%nat -> back p r r1 u w x m k = back p r r2 u w x m k.
Proof.
  intros M H; induction m as [|m IH]; intros k L; simpl.
  - rewrite H; [reflexivity|lia|rewrite Nat.sub_0_r in L; exact L].
  - rewrite H; [|lia|exact L]; f_equal; apply sum_ext; intros q Q; rewrite IH; [reflexivity|lia|exact Q].
Qed.

Theorem relu_by_convention p d x y w : well_formed p -> silent_for p (x (examples p)) -> in_box p w -> (0 < d)%Q ->
  activation p = relu_sum -> derivative p = step_sum d -> loss_derivative p = residual_sum ->
  (forall i j k, (i < examples p)%nat -> (1 <= j <= depth p)%nat -> (k < width p j)%nat ->
    let t := argument p relu w (x i) j k in t <= 0 \/ Q2R d <= t) ->
  makes p (block p) x y w (stepped p w (slope_of p relu step_function (fun t s => t - s) x y w)).
Proof.
  intros W Z B P A D L M i c I C; rewrite (one_step p x y w W Z B i c I C); unfold step_of.
  rewrite A, D, L, relu_exact, residual_exact.
  destruct c as [[|j] k|k|j k l|j k|k|j k| |]; try reflexivity; apply in_places in C; destruct C as [J [K0 L0]].
  unfold prompt, stepped, slope_of; do 5 f_equal; apply sum_ext; intros q Q; f_equal.
  apply back_slopes; [lia| |replace (depth p - (depth p - j))%nat with j by lia; exact K0].
  intros j' k' J' K'; pose proof (M q j' k' Q J' K') as T; cbv zeta in T; set (t := argument _ _ _ _ _ _) in *.
  assert (S0 : 0 < Q2R d) by (rewrite <- RMicromega.Q2R_0; apply Qlt_Rlt, P).
  destruct (step_exact d t P) as [S S']; unfold step_function.
  destruct (Rlt_dec 0 t), T; try lra; (apply S' || apply S); lra.
Qed.

Theorem relu_with_margin p d x y w : well_formed p -> silent_for p (x (examples p)) -> in_box p w -> (0 < d)%Q ->
  activation p = relu_sum -> derivative p = step_sum d -> loss_derivative p = residual_sum ->
  (forall i j k, (i < examples p)%nat -> (1 <= j <= depth p)%nat -> (k < width p j)%nat ->
    let t := argument p relu w (x i) j k in t < 0 \/ Q2R d <= t) ->
  exists G, is_gradient p relu squared x y w G /\ makes p (block p) x y w (stepped p w G).
Proof.
  intros W Z B P A D L M; rewrite <- relu_exact, <- A; apply gradient_step; try assumption.
  - intros i j k I J K t; assert (T : t < 0 \/ Q2R d <= t) by (unfold t; rewrite A, relu_exact; apply M; assumption).
    assert (Q : 0 < Q2R d) by (rewrite <- RMicromega.Q2R_0; apply Qlt_Rlt, P).
    rewrite A, D, relu_exact; destruct (step_exact d t P) as [S S'].
    replace (value1 (step_sum d) t) with (if Rlt_dec 0 t then 1 else 0); [apply relu_smooth; lra|].
    destruct (Rlt_dec 0 t), T; try lra; symmetry; (apply S' || apply S); lra.
  - intros; rewrite L, residual_exact; apply squared_smooth.
Qed.
