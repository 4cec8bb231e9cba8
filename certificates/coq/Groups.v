(** The maximum margin of a product in a finite group: definitions, and the
    reduction of the margin to one sum.

    A group of order n is given by its numbered elements 0, ..., n-1 and its
    table.  [relaxation]: the margin is at most an average over wrong labels,
    in which of (u_a + v_b)^2 only the product 2 u_a v_b counts; these are
    steps 1 and 2 of certificates/game/UNIVERSAL_MARGIN.md for two factors. *)

From Coq Require Import Reals List Lra Lia Arith.
From Lemmata Require Import Statement Sums.
Local Open Scope R_scope.

Record group := Group {
  order : nat;
  op : nat -> nat -> nat;
  unit : nat;
  inv : nat -> nat
}.

Definition below (G : group) (a : nat) : Prop := (a < order G)%nat.

Record is_group (G : group) : Prop := {
  unit_below : below G (unit G);
  op_below : forall a b, below G a -> below G b -> below G (op G a b);
  inv_below : forall a, below G a -> below G (inv G a);
  assoc : forall a b c, below G a -> below G b -> below G c ->
    op G a (op G b c) = op G (op G a b) c;
  unit_left : forall a, below G a -> op G (unit G) a = a;
  inv_left : forall a, below G a -> op G (inv G a) a = unit G
}.

(** All cells are given, the label of the cell (a, b) is the product ab. *)
Definition group_table (G : group) : table :=
  Table (order G) (order G) (order G)
    (map (fun p => (fst p, snd p, op G (fst p) (snd p)))
      (list_prod (seq 0 (order G)) (seq 0 (order G)))).

Lemma given_group : forall G a b, below G a -> below G b ->
  In (a, b, op G a b) (given (group_table G)).
Proof.
  intros G a b Ha Hb; simpl.
  apply (in_map (fun p => (fst p, snd p, op G (fst p) (snd p))) _ (a, b)).
  apply in_prod; apply in_seq; unfold below in *; lia.
Qed.

Lemma given_group_inv : forall G a b y, In (a, b, y) (given (group_table G)) ->
  below G a /\ below G b /\ y = op G a b.
Proof.
  intros G a b y H; simpl in H; apply in_map_iff in H.
  destruct H as [[p q] [E H]]; simpl in E; injection E; intros; subst.
  apply in_prod_iff in H; destruct H as [Hp Hq].
  apply in_seq in Hp; apply in_seq in Hq; unfold below; repeat split; lia.
Qed.

Section Laws.
Variable G : group.
Hypothesis HG : is_group G.

Local Notation e := (unit G).

Lemma unit_idempotent : forall a, below G a -> op G a a = a -> a = e.
Proof.
  intros a Ha H; pose proof (inv_below G HG a Ha) as Hi.
  transitivity (op G (op G (inv G a) a) a).
  - rewrite (inv_left G HG a Ha), unit_left; auto.
  - rewrite <- (assoc G HG), H by assumption; apply inv_left; assumption.
Qed.

Lemma inv_right : forall a, below G a -> op G a (inv G a) = e.
Proof.
  intros a Ha; pose proof (inv_below G HG a Ha) as Hi.
  apply unit_idempotent; [apply op_below; assumption|].
  rewrite <- (assoc G HG) by (try assumption; apply op_below; assumption).
  rewrite (assoc G HG (inv G a) a (inv G a)), (inv_left G HG) by assumption.
  rewrite (unit_left G HG) by assumption; reflexivity.
Qed.

Lemma unit_right : forall a, below G a -> op G a e = a.
Proof.
  intros a Ha; pose proof (inv_below G HG a Ha) as Hi.
  transitivity (op G a (op G (inv G a) a)).
  - rewrite (inv_left G HG a Ha); reflexivity.
  - rewrite (assoc G HG), inv_right by assumption; apply unit_left; assumption.
Qed.

Lemma inv_cancel : forall a b, below G a -> below G b -> op G (inv G a) (op G a b) = b.
Proof.
  intros a b Ha Hb; rewrite (assoc G HG) by (try assumption; apply inv_below; assumption).
  rewrite (inv_left G HG) by assumption; apply unit_left; assumption.
Qed.

Lemma cancel_inv : forall a b, below G a -> below G b -> op G a (op G (inv G a) b) = b.
Proof.
  intros a b Ha Hb; rewrite (assoc G HG) by (try assumption; apply inv_below; assumption).
  rewrite inv_right by assumption; apply unit_left; assumption.
Qed.

Lemma inv_involutive : forall a, below G a -> inv G (inv G a) = a.
Proof.
  intros a Ha; pose proof (inv_below G HG a Ha) as Hi.
  pose proof (inv_below G HG _ Hi) as Hii.
  transitivity (op G (inv G (inv G a)) (op G (inv G a) a)).
  - rewrite (inv_left G HG a Ha), unit_right; auto.
  - apply inv_cancel; assumption.
Qed.

Lemma op_inv_cancel : forall a b, below G a -> below G b -> op G (op G a (inv G b)) b = a.
Proof.
  intros a b Ha Hb; rewrite <- (assoc G HG) by (try assumption; apply inv_below; assumption).
  rewrite (inv_left G HG) by assumption; apply unit_right; assumption.
Qed.

Lemma op_cancel_inv : forall a b, below G a -> below G b -> op G (op G a b) (inv G b) = a.
Proof.
  intros a b Ha Hb; rewrite <- (assoc G HG) by (try assumption; apply inv_below; assumption).
  rewrite inv_right by assumption; apply unit_right; assumption.
Qed.

Lemma sum_left : forall a f, below G a ->
  sum (order G) (fun b => f (op G a b)) = sum (order G) f.
Proof.
  intros a f Ha; pose proof (inv_below G HG a Ha) as Hi.
  apply sum_reindex with (p := op G a) (q := op G (inv G a)); intros.
  - apply (op_below G HG); assumption.
  - apply (op_below G HG); assumption.
  - apply inv_cancel; assumption.
  - apply cancel_inv; assumption.
Qed.

Lemma sum_right : forall b f, below G b ->
  sum (order G) (fun a => f (op G a b)) = sum (order G) f.
Proof.
  intros b f Hb; pose proof (inv_below G HG b Hb) as Hi.
  apply sum_reindex with (p := fun a => op G a b) (q := fun a => op G a (inv G b)); intros.
  - apply (op_below G HG); assumption.
  - apply (op_below G HG); assumption.
  - apply op_cancel_inv; assumption.
  - apply op_inv_cancel; assumption.
Qed.

End Laws.

(** ** Sums over the neurons *)

Definition over (net : network) (phi : neuron -> R) : R :=
  fold_right (fun o rest => phi o + rest) 0 net.

Lemma over_ext : forall net phi psi, (forall o, phi o = psi o) -> over net phi = over net psi.
Proof. induction net as [|o l IH]; intros; simpl; [reflexivity|rewrite H, (IH phi psi H); reflexivity]. Qed.

Lemma over_le : forall net phi psi, (forall o, phi o <= psi o) -> over net phi <= over net psi.
Proof.
  induction net as [|o l IH]; intros phi psi H; simpl; [lra|].
  pose proof (H o); pose proof (IH phi psi H); lra.
Qed.

Lemma over_minus : forall net phi psi,
  over net (fun o => phi o - psi o) = over net phi - over net psi.
Proof. induction net as [|o l IH]; intros; simpl; [ring|rewrite IH; ring]. Qed.

Lemma over_scal : forall net k phi, over net (fun o => k * phi o) = k * over net phi.
Proof. induction net as [|o l IH]; intros; simpl; [ring|rewrite IH; ring]. Qed.

Lemma sum_over : forall n net phi,
  sum n (fun i => over net (phi i)) = over net (fun o => sum n (fun i => phi i o)).
Proof.
  intros n net phi; induction net as [|o l IH]; simpl.
  - apply sum_zero; reflexivity.
  - rewrite sum_plus, IH; reflexivity.
Qed.

Lemma output_over : forall net a b c,
  output net a b c = over net (fun o => activity o a b * w o c).
Proof. reflexivity. Qed.

Lemma norm3_over : forall T net, norm3 T net = over net (fun o => norm T o ^ 3).
Proof. reflexivity. Qed.

(** ** The relaxation *)

(** Weights of wrong labels: the label c with ab = d c has the weight tau d. *)
Record wrong_weights (G : group) (tau : nat -> R) : Prop := {
  tau_nonneg : forall d, below G d -> 0 <= tau d;
  tau_unit : tau (unit G) = 0;
  tau_sum : sum (order G) tau = 1
}.

(** w(y) less the weighted mean of w over the wrong labels: kappa * w. *)
Definition contrast (G : group) (tau : nat -> R) (f : nat -> R) (y : nat) : R :=
  f y - sum (order G) (fun d => tau d * f (op G (inv G d) y)).

(** The sum of f(a) g(b) h(ab) over all a and b. *)
Definition triple (G : group) (f g h : nat -> R) : R :=
  sum (order G) (fun a => sum (order G) (fun b => f a * g b * h (op G a b))).

Section Relaxation.
Variable G : group.
Hypothesis HG : is_group G.
Variable tau : nat -> R.
Hypothesis Htau : wrong_weights G tau.
Local Notation n := (order G).

Lemma contrast_sum : forall f, sum n (contrast G tau f) = 0.
Proof.
  intro f; unfold contrast; rewrite sum_minus, sum_swap.
  transitivity (sum n f - sum n (fun d => tau d * sum n f)).
  - f_equal; apply sum_ext; intros d Hd; rewrite sum_scal; f_equal.
    apply (sum_left G HG); apply inv_below; assumption.
  - rewrite sum_scal_r, (tau_sum G tau Htau); ring.
Qed.

Lemma activity_zero_sum : forall o z, sum n z = 0 ->
  sum n (fun a => sum n (fun b => activity o a b * z (op G a b))) = 2 * triple G (u o) (v o) z.
Proof.
  intros o z Z.
  transitivity (sum n (fun a => u o a ^ 2 * sum n (fun b => z (op G a b)))
    + sum n (fun b => v o b ^ 2 * sum n (fun a => z (op G a b)))
    + 2 * triple G (u o) (v o) z).
  - replace (sum n (fun b => v o b ^ 2 * sum n (fun a => z (op G a b))))
      with (sum n (fun a => sum n (fun b => v o b ^ 2 * z (op G a b)))).
    + unfold triple; rewrite <- sum_scal, <- !sum_plus.
      apply sum_ext; intros a _; rewrite <- !sum_scal, <- !sum_plus.
      apply sum_ext; intros b _; unfold activity; ring.
    + rewrite sum_swap; apply sum_ext; intros b _; rewrite sum_scal; reflexivity.
  - rewrite !sum_zero; [ring| |].
    + intros b Hb; rewrite (sum_right G HG b z Hb); rewrite Z; ring.
    + intros a Ha; rewrite (sum_left G HG a z Ha); rewrite Z; ring.
Qed.

Lemma activity_contrast : forall o,
  sum n (fun a => sum n (fun b => activity o a b * contrast G tau (w o) (op G a b)))
  = 2 * triple G (u o) (v o) (contrast G tau (w o)).
Proof. intro o; apply activity_zero_sum, contrast_sum. Qed.

(** The difference of the output at the right label and at the wrong one that belongs to d. *)
Definition difference_at (net : network) (a b d : nat) : R :=
  output net a b (op G a b) - output net a b (op G (inv G d) (op G a b)).

Lemma weighted_difference : forall g net a b d, below G a -> below G b -> below G d ->
  margin_at_least (group_table G) g net -> tau d * g <= tau d * difference_at net a b d.
Proof.
  intros g net a b d Ha Hb Hd H; unfold difference_at.
  assert (Hab : below G (op G a b)) by (apply op_below; assumption).
  set (y := op G a b) in *.
  destruct (Nat.eq_dec d (unit G)) as [->|N]; [rewrite (tau_unit G tau Htau); lra|].
  apply Rmult_le_compat_l; [apply (tau_nonneg G tau Htau); assumption|].
  apply H; [apply given_group; assumption| |].
  - apply (op_below G HG); [apply inv_below|]; assumption.
  - intro E; apply N.
    rewrite <- (op_cancel_inv G HG d y), <- (inv_right G HG y) by assumption.
    f_equal; rewrite <- E at 1; apply cancel_inv; assumption.
Qed.

Lemma average_at_cell : forall net a b,
  sum n (fun d => tau d * difference_at net a b d)
  = over net (fun o => activity o a b * contrast G tau (w o) (op G a b)).
Proof.
  intros net a b; unfold contrast, difference_at; set (y := op G a b).
  rewrite (sum_ext n _ (fun d => tau d * output net a b y
    - over net (fun o => tau d * (activity o a b * w o (op G (inv G d) y))))).
  - rewrite sum_minus, sum_scal_r, sum_over; rewrite (tau_sum G tau Htau), Rmult_1_l.
    rewrite output_over, <- over_minus; apply over_ext; intro o.
    rewrite Rmult_minus_distr_l, <- sum_scal; f_equal.
    apply sum_ext; intros; ring.
  - intros d _; rewrite over_scal, <- output_over; ring.
Qed.

Lemma margin_at_cell : forall g net a b, below G a -> below G b ->
  margin_at_least (group_table G) g net -> g <= sum n (fun d => tau d * difference_at net a b d).
Proof.
  intros g net a b Ha Hb H.
  replace g with (sum n (fun d => tau d * g))
    by (rewrite sum_scal_r; rewrite (tau_sum G tau Htau); ring).
  apply sum_le; intros d Hd; apply weighted_difference; assumption.
Qed.

Lemma average_over_cells : forall net,
  sum n (fun a => sum n (fun b => sum n (fun d => tau d * difference_at net a b d)))
  = over net (fun o => 2 * triple G (u o) (v o) (contrast G tau (w o))).
Proof.
  intro net; rewrite (over_ext net _ (fun o => sum n (fun a => sum n (fun b =>
    activity o a b * contrast G tau (w o) (op G a b)))))
    by (intro; symmetry; apply activity_contrast).
  rewrite <- sum_over; apply sum_ext; intros a _.
  rewrite <- sum_over; apply sum_ext; intros b _; apply average_at_cell.
Qed.

Theorem relaxation : forall g net, margin_at_least (group_table G) g net ->
  INR n ^ 2 * g <= over net (fun o => 2 * triple G (u o) (v o) (contrast G tau (w o))).
Proof.
  intros g net H; rewrite <- average_over_cells.
  replace (INR n ^ 2 * g) with (sum n (fun a => sum n (fun b => g)))
    by (rewrite !sum_const; ring).
  apply sum_le; intros a Ha; apply sum_le; intros b Hb; apply margin_at_cell; assumption.
Qed.

End Relaxation.
