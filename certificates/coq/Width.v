(** Addition modulo an odd n: a network of 4 (n-1) neurons has the maximum margin.

    [Attain.v] takes all nu^3 products of the entries of rho(a), rho(b) and
    rho(c).  For a rotation of the plane the corner of rho(a) rho(b) rho(c)^T
    is half its trace, so that the products with i = 0 are enough: 4 for each
    of the (n-1)/2 frequencies, of 2 neurons each.

    [addition_width]: for every width of at least 4 (n-1) there is a network of
    the maximum margin, as theorem 7.7 says. *)

From Coq Require Import Reals List Lra Lia Arith.
From Lemmata Require Import Statement Sums Convolution Groups EveryGroup Representations Attain Schur Universal Cyclic.
Import ListNotations.
Local Open Scope R_scope.

Lemma join_length n f c : (forall i, length (f i) = c) -> length (join n f) = (n * c)%nat.
Proof. intro H; induction n as [|n IH]; simpl; [reflexivity|]; rewrite app_length, IH, H; lia. Qed.

(** ** One row of each product *)

Definition row (r : representation) : network :=
  join (dim r) (fun j => join (dim r) (fun k => 
    pair (fun g => 1 * mat r g 0 j) (fun g => 1 * mat r g j k) (fun g => 1 * mat r g 0 k))).

Definition silent : neuron := Neuron (fun _ => 0) (fun _ => 0) (fun _ => 0).

Lemma over_silent m phi : phi silent = 0 -> over (repeat silent m) phi = 0.
Proof. intro H; induction m as [|m IH]; simpl; [reflexivity|]; unfold over in *; simpl; rewrite H, IH; ring. Qed.

Section Row.
Variable G : group.
Hypothesis HG : is_group G.
Variable r : representation.
Hypothesis Hr : is_representation G r.
Hypothesis Hdim : (1 <= dim r)%nat.
Local Notation d := (dim r).

Lemma row_output a b c : below G a -> below G b -> below G c ->
  over (row r) (fun o => activity o a b * w o c) = 4 * mat r (op G (op G a b) (inv G c)) 0 0.
Proof.
  intros Ha Hb Hc; pose proof (op_below G HG a b Ha Hb) as Hab; pose proof (inv_below G HG c Hc) as Hi.
  rewrite (mat_op G r Hr) by (assumption || lia); unfold times, row; rewrite over_join, <- sum_scal.
  transitivity (sum d (fun j => sum d (fun k => 4 * (mat r a 0 j * mat r b j k * mat r c 0 k)))).
  - apply sum_ext; intros j _; rewrite over_join; apply sum_ext; intros k _; rewrite output_pair; ring.
  - rewrite sum_swap; apply sum_ext; intros k Hk; rewrite sum_scal; f_equal.
    rewrite (mat_op G r Hr), (mat_inv G r Hr) by (assumption || lia); unfold times.
    rewrite <- sum_scal_r; reflexivity.
Qed.

Hypothesis Heven : even_entries G r.

Lemma row_norm : over (row r) (fun o => norm (group_table G) o ^ 3)
  = 2 * (3 * INR (order G) * sqrt (3 * INR (order G))) * sqrt (INR d).
Proof.
  assert (P : 0 < INR d) by (apply lt_0_INR; lia); pose proof (sqrt_lt_R0 _ P) as Q.
  set (v := 2 * (3 * INR (order G) * sqrt (3 * INR (order G)) / (INR d * sqrt (INR d)))).
  unfold row; rewrite over_join, (sum_ext d _ (fun _ => INR d * v)).
  - rewrite sum_const; unfold v; replace (sqrt (INR d)) with (INR d / sqrt (INR d)) at 2; [field; lra|].
    rewrite <- (square_sqrt (INR d)) at 1 by lra; field; lra.
  - intros j Hj; rewrite over_join, (sum_ext d _ (fun _ => v)); [apply sum_const|].
    intros k Hk; rewrite (pair_norm G HG r Hdim Heven 1 0 j k) by (lra || lia); unfold v, Rdiv; ring.
Qed.
End Row.

(** ** Addition modulo 2h + 1 *)

Section Odd.
Variable h : nat.
Hypothesis Hh : (1 <= h)%nat.
Local Notation n := (2 * h + 1)%nat.
Local Notation G := (cyclic n).

Definition narrow (m : nat) : network := join h (fun s => row (rotation n (S s))) ++ repeat silent (m - 8 * h).

Lemma rotation_here s : (s < h)%nat -> is_representation G (rotation n (S s)) /\ even_entries G (rotation n (S s)).
Proof.
  intro Hs; assert (is_group G) as HG by (apply cyclic_is_group; lia).
  split; [exact (odd_family_representations h Hh (S s) ltac:(lia))|intros i j Hi Hj].
  pose proof (entries_even G HG (S h) (odd_family h) (odd_family_representations h Hh) (odd_complete h Hh) (S s) i j
    ltac:(lia) Hi Hj) as E; unfold square in E; cbn [odd_family] in E; rewrite E; simpl dim; simpl (INR 2); field.
Qed.

Lemma narrow_length m : (8 * h <= m)%nat -> length (narrow m) = m.
Proof.
  intro Hm; unfold narrow; rewrite app_length, repeat_length, (join_length _ _ 8); [lia|]; reflexivity.
Qed.

Lemma narrow_norm m : norm3 (group_table G) (narrow m)
  = INR h * (2 * (3 * INR n * sqrt (3 * INR n)) * sqrt 2).
Proof.
  rewrite norm3_over; unfold narrow; rewrite over_app, over_join, (over_silent _ (fun o => norm (group_table G) o ^ 3)).
  - rewrite (sum_ext h _ (fun _ => 2 * (3 * INR n * sqrt (3 * INR n)) * sqrt 2)); [rewrite sum_const; ring|].
    intros s Hs; rewrite (row_norm G (cyclic_is_group n ltac:(lia))); [|simpl; lia|apply rotation_here; assumption].
    simpl dim; replace (INR 2) with 2 by (simpl; ring); reflexivity.
  - unfold norm, inputs2, outputs2; simpl u; simpl v; simpl w; rewrite !sum_zero by (intros; ring).
    replace (0 + 0 + 0) with 0 by ring; rewrite sqrt_0; ring.
Qed.

Lemma narrow_output m a b c : below G a -> below G b -> below G c ->
  output (narrow m) a b c = 4 * sum h (fun s => cos (angle n (S s) (op G (op G a b) (inv G c)))).
Proof.
  intros Ha Hb Hc; rewrite output_over; unfold narrow.
  rewrite over_app, over_join, (over_silent _ (fun o => activity o a b * w o c)) by (simpl; ring).
  rewrite Rplus_0_r, <- sum_scal; apply sum_ext; intros s Hs.
  rewrite (row_output G (cyclic_is_group n ltac:(lia))); [reflexivity|apply rotation_here; assumption|simpl; lia| | |];
    assumption.
Qed.

Lemma narrow_margin m : normalized_margin_at_least (group_table G) (addition_margin h) (narrow m).
Proof.
  assert (is_group G) as HG by (apply cyclic_is_group; lia).
  assert (0 < INR n) as Pn by (apply lt_0_INR; lia); assert (0 < INR h) as Ph by (apply lt_0_INR; lia).
  assert (0 < sqrt 2) as Q2 by (apply sqrt_lt_R0; lra).
  assert (0 < sqrt (3 * INR n)) as Q by (apply sqrt_lt_R0; lra).
  split; rewrite narrow_norm; [repeat apply Rmult_lt_0_compat; lra|].
  intros a b y c Hg Hc N; apply given_group_inv in Hg; destruct Hg as [Ha [Hb ->]]; simpl in Hc.
  assert (below G (op G a b)) as Hab by (apply op_below; assumption).
  assert (below G c) as Hc' by exact Hc; assert (below G (inv G c)) as Hi by (apply inv_below; assumption).
  rewrite !narrow_output by assumption.
  set (g := op G (op G a b) (inv G c)); assert (below G g) as Bg by (apply op_below; assumption).
  assert (g <> unit G) as U.
  { intro E; apply N; rewrite <- (unit_left G HG c Hc'), <- E; unfold g.
    rewrite <- (assoc G HG), (inv_left G HG), (unit_right G HG) by assumption; reflexivity. }
  assert (op G (op G a b) (inv G (op G a b)) = unit G) as -> by (apply inv_right; assumption).
  pose proof (odd_cosines h Hh g ltac:(unfold below in Bg; simpl in *; lia)) as C; rewrite sum_scal in C.
  rewrite (sum_ext h (fun s => cos (angle n (S s) (unit G))) (fun _ => 1)), sum_const.
  2:{ intros s _; replace (angle n (S s) (unit G)) with 0 by (unfold angle, Rdiv; simpl; ring); apply cos_0. }
  rewrite <- (odd_constant h Hh), (order_minus_one h); unfold constant; change (order G) with n.
  right; rewrite <- Rmult_minus_distr_l.
  replace (sum h (fun s => cos (angle n (S s) g))) with (- / 2) by lra.
  replace (INR h * 1 - - / 2) with (INR n / 2) by (rewrite plus_INR, mult_INR; simpl; field).
  field; repeat split; lra.
Qed.
End Odd.

Theorem addition_width : forall n m, (3 <= n)%nat -> Nat.odd n = true -> (4 * (n - 1) <= m)%nat ->
  exists net, length net = m /\
    normalized_margin_at_least (group_table (cyclic n)) (sqrt (2 / 27) / (sqrt (INR n) * (INR n - 1))) net.
Proof.
  intros n m Hn Ho Hm; apply Nat.odd_spec in Ho; destruct Ho as [h ->]; exists (narrow h m); split.
  - apply narrow_length; lia.
  - apply narrow_margin; lia.
Qed.
