(** Schur's lemma for real orthogonal representations, and the units of an irreducible one.

    A representation is called irreducible here if symmetric matrices that
    commute with it are multiples of the identity ([irreducible]): it then has
    no proper invariant subspace, whose projection would be such a matrix, and
    the converse is Spectral.v.  Whether that is so can be decided, since the
    averages of finitely many matrices over the group span all that commute.

    [same_or_orthogonal]: the characters of two irreducible representations are
    equal or orthogonal.  [units_exist]: the matrices that commute with an
    irreducible one have an orthonormal basis that begins with the identity;
    its members satisfy J_k^T J_l + J_l^T J_k = 2 delta_kl, because the left
    side is symmetric and commutes, and their number is the square of the
    character.  That this number is one, two or four (Frobenius) is not used. *)

From Coq Require Import Reals Lra Lia Arith.
From Lemmata Require Import Statement Sums Convolution Groups EveryGroup Representations Spectral.
Local Open Scope R_scope.

(** ** Search among finitely many *)

Lemma search : forall n (P Q : nat -> Prop), (forall i, (i < n)%nat -> P i \/ Q i) ->
  (forall i, (i < n)%nat -> P i) \/ (exists i, (i < n)%nat /\ Q i).
Proof.
  induction n as [|n IH]; intros P Q H; [left; intros; lia|].
  destruct (IH P Q) as [A|[i [Hi E]]]; [intros; apply H; lia| |right; exists i; split; [lia|exact E]].
  destruct (H n) as [B|B]; [lia| |right; exists n; split; [lia|exact B]].
  left; intros i Hi; destruct (Nat.eq_dec i n) as [->|]; [exact B|apply A; lia].
Qed.

Lemma search_2 : forall n m (P Q : nat -> nat -> Prop),
  (forall i j, (i < n)%nat -> (j < m)%nat -> P i j \/ Q i j) ->
  (forall i j, (i < n)%nat -> (j < m)%nat -> P i j) \/
  (exists i j, (i < n)%nat /\ (j < m)%nat /\ Q i j).
Proof.
  intros n m P Q H.
  destruct (search n (fun i => forall j, (j < m)%nat -> P i j) (fun i => exists j, (j < m)%nat /\ Q i j))
    as [A|[i [Hi [j [Hj E]]]]].
  - intros i Hi; apply search; intros j Hj; apply H; assumption.
  - left; intros i j Hi Hj; apply A; assumption.
  - right; exists i, j; auto.
Qed.

(** Whether numbers of four indices, the first below n, ..., the last below q, are all zero. *)
Lemma all_zero_or_one_not : forall n m p q (F : nat -> nat -> nat -> nat -> R),
  (forall i j a b, (i < n)%nat -> (j < m)%nat -> (a < p)%nat -> (b < q)%nat -> F i j a b = 0) \/
  (exists i j a b, (i < n)%nat /\ (j < m)%nat /\ (a < p)%nat /\ (b < q)%nat /\ F i j a b <> 0).
Proof.
  intros n m p q F.
  destruct (search_2 n m (fun i j => forall a b, (a < p)%nat -> (b < q)%nat -> F i j a b = 0)
    (fun i j => exists a b, (a < p)%nat /\ (b < q)%nat /\ F i j a b <> 0)) as [A|[i [j [Hi [Hj [a [b E]]]]]]].
  - intros i j _ _; apply search_2; intros a b _ _; destruct (Req_dec (F i j a b) 0); auto.
  - left; intros; apply A; assumption.
  - right; exists i, j, a, b; tauto.
Qed.

Section Commutants.
Variable G : group.
Hypothesis HG : is_group G.
Local Notation n := (order G).

(** ** Orthogonality *)

Lemma orthogonal_rows : forall r g b c, is_representation G r -> below G g ->
  (b < dim r)%nat -> (c < dim r)%nat -> sum (dim r) (fun a => mat r g b a * mat r g c a) = delta b c.
Proof.
  intros r g b c Hr Hg Hb Hc.
  rewrite <- (mat_unit G r Hr b c Hb Hc), <- (inv_right G HG g Hg).
  rewrite (mat_op G r Hr) by (try apply inv_below; assumption).
  apply sum_ext; intros a Ha; rewrite (mat_inv G r Hr) by assumption; reflexivity.
Qed.

Lemma orthogonal_columns : forall r g b c, is_representation G r -> below G g ->
  (b < dim r)%nat -> (c < dim r)%nat -> sum (dim r) (fun a => mat r g a b * mat r g a c) = delta b c.
Proof.
  intros r g b c Hr Hg Hb Hc.
  rewrite <- (orthogonal_rows r (inv G g)) by (try apply inv_below; assumption).
  apply sum_ext; intros a Ha; rewrite !(mat_inv G r Hr) by assumption; reflexivity.
Qed.

Lemma character_of_unit : forall r, is_representation G r -> character r (unit G) = INR (dim r).
Proof.
  intros r Hr; unfold character; rewrite (sum_ext (dim r) _ (fun _ => 1)).
  - rewrite sum_const; ring.
  - intros i Hi; rewrite (mat_unit G r Hr) by assumption; apply delta_same.
Qed.

(** ** Matrices between two representations *)

Definition intertwines (r s : representation) (A : nat -> nat -> R) : Prop :=
  forall g a b, below G g -> (a < dim r)%nat -> (b < dim s)%nat ->
  sum (dim r) (fun c => mat r g a c * A c b) = sum (dim s) (fun c => A a c * mat s g c b).

Lemma intertwines_identity : forall r, intertwines r r delta.
Proof.
  intros r g a b Hg Ha Hb.
  rewrite (sum_ext (dim r) _ (fun c => delta c b * mat r g a c)) by (intros; ring).
  rewrite (sum_ext (dim r) (fun c => delta a c * mat r g c b) (fun c => delta c a * mat r g c b))
    by (intros; rewrite (delta_sym a); ring).
  rewrite (sum_delta (dim r) (fun c => mat r g a c) b Hb).
  rewrite (sum_delta (dim r) (fun c => mat r g c b) a Ha); reflexivity.
Qed.

Lemma intertwines_plus : forall r s A B, intertwines r s A -> intertwines r s B ->
  intertwines r s (fun a b => A a b + B a b).
Proof.
  intros r s A B HA HB g a b Hg Ha Hb.
  rewrite (sum_ext (dim r) _ (fun c => mat r g a c * A c b + mat r g a c * B c b)) by (intros; ring).
  rewrite (sum_ext (dim s) _ (fun c => A a c * mat s g c b + B a c * mat s g c b)) by (intros; ring).
  rewrite !sum_plus, HA, HB by assumption; reflexivity.
Qed.

Lemma intertwines_scal : forall r s x A, intertwines r s A -> intertwines r s (fun a b => x * A a b).
Proof.
  intros r s x A HA g a b Hg Ha Hb.
  rewrite (sum_ext (dim r) _ (fun c => x * (mat r g a c * A c b))) by (intros; ring).
  rewrite (sum_ext (dim s) _ (fun c => x * (A a c * mat s g c b))) by (intros; ring).
  rewrite !sum_scal, HA by assumption; reflexivity.
Qed.

Lemma intertwines_sum : forall r s m x A, (forall k, (k < m)%nat -> intertwines r s (A k)) ->
  intertwines r s (fun a b => sum m (fun k => x k * A k a b)).
Proof.
  intros r s m x A HA; induction m as [|m IH].
  - intros g a b _ _ _; cbn [sum]; rewrite !sum_zero by (intros; ring); reflexivity.
  - cbn [sum]; apply (intertwines_plus r s (fun a b => sum m (fun k => x k * A k a b)) (fun a b => x m * A m a b)).
    + apply IH; intros; apply HA; lia.
    + apply intertwines_scal, HA; lia.
Qed.

Lemma intertwines_transpose : forall r s A, is_representation G r -> is_representation G s ->
  intertwines r s A -> intertwines s r (fun b a => A a b).
Proof.
  intros r s A Hr Hs HA g b a Hg Hb Ha; pose proof (inv_below G HG g Hg) as Ig.
  pose proof (HA _ a b Ig Ha Hb) as E.
  rewrite (sum_ext (dim r) _ (fun c => A c b * mat r g c a)) in E
    by (intros; rewrite (mat_inv G r Hr) by assumption; ring).
  rewrite E; apply sum_ext; intros; rewrite (mat_inv G s Hs) by assumption; ring.
Qed.

Lemma intertwines_product : forall r s t A B, intertwines r s A -> intertwines s t B ->
  intertwines r t (fun a b => sum (dim s) (fun c => A a c * B c b)).
Proof.
  intros r s t A B HA HB g a b Hg Ha Hb.
  transitivity (sum (dim s) (fun e => sum (dim s) (fun c => A a c * (mat s g c e * B e b)))).
  - rewrite (sum_ext (dim r) _ (fun c => sum (dim s) (fun e => mat r g a c * A c e * B e b)))
      by (intros; rewrite <- sum_scal; apply sum_ext; intros; ring).
    rewrite sum_swap; apply sum_ext; intros e He; rewrite sum_scal_r, HA by assumption.
    rewrite <- sum_scal_r; apply sum_ext; intros; ring.
  - rewrite sum_swap.
    rewrite (sum_ext (dim t) _ (fun e => sum (dim s) (fun c => A a c * (B c e * mat t g e b))))
      by (intros; rewrite <- sum_scal_r; apply sum_ext; intros; ring).
    rewrite (sum_swap (dim t)); apply sum_ext; intros c Hc.
    rewrite !sum_scal, HB by assumption; reflexivity.
Qed.

Lemma intertwines_gram : forall r s A B, is_representation G r -> is_representation G s ->
  intertwines r s A -> intertwines r s B -> intertwines s s (fun b c => sum (dim r) (fun a => A a b * B a c)).
Proof.
  intros r s A B Hr Hs HA HB.
  exact (intertwines_product s r s _ _ (intertwines_transpose r s A Hr Hs HA) HB).
Qed.

Lemma conjugated : forall r A g i j, is_representation G r -> intertwines r r A -> below G g ->
  (i < dim r)%nat -> (j < dim r)%nat ->
  sum (dim r) (fun a => sum (dim r) (fun b => mat r g a i * mat r g b j * A a b)) = A i j.
Proof.
  intros r A g i j Hr HA Hg Hi Hj.
  transitivity (sum (dim r) (fun a => sum (dim r) (fun c => mat r g a i * mat r g a c * A c j))).
  - apply sum_ext; intros a Ha.
    transitivity (mat r g a i * sum (dim r) (fun b => A a b * mat r g b j)).
    + rewrite <- sum_scal; apply sum_ext; intros; ring.
    + rewrite <- HA, <- sum_scal by assumption; apply sum_ext; intros; ring.
  - rewrite sum_swap, (sum_ext (dim r) _ (fun c => delta c i * A c j)).
    + exact (sum_delta (dim r) (fun c => A c j) i Hi).
    + intros c Hc; rewrite sum_scal_r, orthogonal_columns, delta_sym by assumption; reflexivity.
Qed.

(** The sum over the group of rho(g) E sigma(g)^T, where the matrix E has the entry (i, j) alone. *)
Definition spread (r s : representation) (i j a b : nat) : R := sum n (fun g => mat r g a i * mat s g b j).

Lemma spread_intertwines : forall r s i j, is_representation G r -> is_representation G s ->
  (i < dim r)%nat -> (j < dim s)%nat -> intertwines r s (spread r s i j).
Proof.
  intros r s i j Hr Hs Hi Hj h a b Hh Ha Hb; pose proof (inv_below G HG h Hh) as Ih; unfold spread.
  transitivity (sum n (fun g => mat r (op G h g) a i * mat s g b j)).
  - rewrite (sum_ext (dim r) _ (fun c => sum n (fun g => mat r h a c * mat r g c i * mat s g b j)))
      by (intros; rewrite <- sum_scal; apply sum_ext; intros; ring).
    rewrite sum_swap; apply sum_ext; intros g Hg.
    rewrite sum_scal_r, (mat_op G r Hr) by assumption; reflexivity.
  - rewrite (sum_ext (dim s) _ (fun c => sum n (fun g => mat r g a i * (mat s (inv G h) b c * mat s g c j)))).
    + rewrite sum_swap.
      transitivity (sum n (fun g => mat r g a i * mat s (op G (inv G h) g) b j)).
      * rewrite <- (sum_left G HG h (fun g => mat r g a i * mat s (op G (inv G h) g) b j)) by assumption.
        apply sum_ext; intros g Hg; rewrite (inv_cancel G HG) by assumption; reflexivity.
      * apply sum_ext; intros g Hg; rewrite sum_scal, (mat_op G s Hs) by assumption; reflexivity.
    + intros c Hc; rewrite <- sum_scal_r; apply sum_ext; intros g Hg.
      rewrite (mat_inv G s Hs) by assumption; ring.
Qed.

Lemma spread_inner : forall r A i j, is_representation G r -> intertwines r r A ->
  (i < dim r)%nat -> (j < dim r)%nat -> frobenius_inner (dim r) (spread r r i j) A = INR n * A i j.
Proof.
  intros r A i j Hr HA Hi Hj; unfold frobenius_inner, inner, spread; rewrite <- sum_const.
  transitivity (sum (dim r) (fun a => sum n (fun g => sum (dim r) (fun b => mat r g a i * mat r g b j * A a b)))).
  - apply sum_ext; intros a _; rewrite sum_swap; apply sum_ext; intros; rewrite sum_scal_r; reflexivity.
  - rewrite sum_swap; apply sum_ext; intros; apply conjugated; assumption.
Qed.

(** ** Irreducible representations *)

Definition commutes_symmetrically (r : representation) (A : nat -> nat -> R) : Prop :=
  symmetric (dim r) A /\ intertwines r r A.

Definition irreducible (r : representation) : Prop := (1 <= dim r)%nat /\
  forall A, commutes_symmetrically r A ->
  exists x, forall i j, (i < dim r)%nat -> (j < dim r)%nat -> A i j = x * delta i j.

Theorem irreducible_or_not : forall r, is_representation G r -> (1 <= dim r)%nat ->
  irreducible r \/ exists A a b, commutes_symmetrically r A /\
    (a < dim r)%nat /\ (b < dim r)%nat /\ A a b <> A 0%nat 0%nat * delta a b.
Proof.
  intros r Hr Hd; set (T := fun i j a b => spread r r i j a b + spread r r j i a b).
  destruct (all_zero_or_one_not (dim r) (dim r) (dim r) (dim r)
    (fun i j a b => T i j a b - T i j 0%nat 0%nat * delta a b)) as [Z|[i [j [a [b [Hi [Hj [Ha [Hb N]]]]]]]]].
  - left; split; [exact Hd|]; intros A [SA CA]; pose proof (order_positive G HG) as P.
    exists (/ (2 * INR n) * sum (dim r) (fun i => sum (dim r) (fun j => A i j * T i j 0%nat 0%nat))).
    intros a b Ha Hb.
    assert (E : forall a b, (a < dim r)%nat -> (b < dim r)%nat ->
      sum (dim r) (fun i => sum (dim r) (fun j => A i j * T i j a b)) = 2 * INR n * A a b).
    { clear a b Ha Hb; intros a b Ha Hb.
      assert (H : sum (dim r) (fun i => sum (dim r) (fun j => A i j * spread r r i j a b)) = INR n * A a b).
      { unfold spread; rewrite <- sum_const.
        transitivity (sum (dim r) (fun i => sum n (fun g => sum (dim r) (fun j => mat r g a i * mat r g b j * A i j)))).
        - apply sum_ext; intros i _; rewrite sum_swap; apply sum_ext; intros j _; rewrite <- sum_scal.
          apply sum_ext; intros; ring.
        - rewrite sum_swap; apply sum_ext; intros g Hg; pose proof (inv_below G HG g Hg).
          rewrite <- (conjugated r A (inv G g) a b) by assumption.
          apply sum_ext; intros i Hi; apply sum_ext; intros j Hj.
          rewrite !(mat_inv G r Hr) by assumption; reflexivity. }
      unfold T; transitivity (2 * sum (dim r) (fun i => sum (dim r) (fun j => A i j * spread r r i j a b)));
        [|rewrite H; ring].
      rewrite (sum_ext (dim r) _ (fun i => sum (dim r) (fun j => A i j * spread r r i j a b)
        + sum (dim r) (fun j => A j i * spread r r j i a b))).
      - rewrite sum_plus, (sum_swap (dim r) (dim r) (fun i j => A j i * spread r r j i a b)); ring.
      - intros i Hi; rewrite <- sum_plus; apply sum_ext; intros j Hj; rewrite (SA j i Hj Hi); ring. }
    transitivity (/ (2 * INR n) * sum (dim r) (fun i => sum (dim r) (fun j => A i j * T i j a b))).
    { rewrite E by assumption; field; lra. }
    rewrite Rmult_assoc; f_equal; rewrite <- sum_scal_r; apply sum_ext; intros i Hi.
    rewrite <- sum_scal_r; apply sum_ext; intros j Hj.
    pose proof (Z i j a b Hi Hj Ha Hb) as Q; cbv beta in Q.
    replace (T i j a b) with (T i j 0%nat 0%nat * delta a b) by lra; ring.
  - right; exists (T i j), a, b; repeat split; try assumption; [| |lra].
    + intros p q _ _; unfold T, spread; rewrite <- !sum_plus; apply sum_ext; intros; ring.
    + apply intertwines_plus; apply spread_intertwines; assumption.
Qed.

(** Orthonormal vectors whose span is invariant are none or a basis. *)
Theorem no_invariant_subspace : forall r k X, is_representation G r -> irreducible r ->
  orthonormal (dim r) k X ->
  (forall g i a, below G g -> (i < k)%nat -> (a < dim r)%nat -> act (dim r) (mat r g) (X i) a
    = sum k (fun j => inner (dim r) (X j) (act (dim r) (mat r g) (X i)) * X j a)) ->
  k = 0%nat \/ k = dim r.
Proof.
  intros r k X Hr [_ Ir] HX Inv; destruct k as [|k]; [left; reflexivity|right].
  set (A := fun a b => sum (S k) (fun i => X i a * X i b)).
  destruct (Ir A) as [x Hx].
  - split; [intros a b _ _; apply sum_ext; intros; ring|]; intros g a b Hg Ha Hb.
    pose proof (inv_below G HG g Hg) as Ig; unfold A.
    transitivity (sum (S k) (fun i => act (dim r) (mat r g) (X i) a * X i b)).
    { unfold act; rewrite (sum_ext (dim r) _ (fun c => sum (S k) (fun i => mat r g a c * X i c * X i b)))
        by (intros; rewrite <- sum_scal; apply sum_ext; intros; ring).
      rewrite sum_swap; apply sum_ext; intros; rewrite sum_scal_r; reflexivity. }
    transitivity (sum (S k) (fun j => X j a * act (dim r) (mat r (inv G g)) (X j) b)).
    2: { unfold act; rewrite (sum_ext (dim r) _ (fun c => sum (S k) (fun j => X j a * (mat r (inv G g) b c * X j c)))).
         - rewrite sum_swap; apply sum_ext; intros; rewrite sum_scal; reflexivity.
         - intros c Hc; rewrite <- sum_scal_r; apply sum_ext; intros; rewrite (mat_inv G r Hr) by assumption; ring. }
    rewrite (sum_ext (S k) _ (fun i => sum (S k) (fun j =>
      X j a * (inner (dim r) (X j) (act (dim r) (mat r g) (X i)) * X i b)))).
    2: { intros i Hi; rewrite Inv, <- sum_scal_r by assumption; apply sum_ext; intros; ring. }
    rewrite sum_swap; apply sum_ext; intros j Hj; rewrite sum_scal; f_equal.
    rewrite (Inv (inv G g)) by assumption; apply sum_ext; intros i Hi; f_equal.
    rewrite (inner_sym _ (X j)), <- act_transpose; apply inner_ext; intros c Hc; unfold act.
    apply sum_ext; intros e He; rewrite (mat_inv G r Hr) by assumption; reflexivity.
  - assert (X1 : x = 1).
    { pose proof (HX 0%nat 0%nat ltac:(lia) ltac:(lia)) as One; rewrite delta_same in One.
      rewrite <- (Rmult_1_r x), <- One, <- inner_scal.
      apply inner_ext; intros a Ha; transitivity (act (dim r) A (X 0%nat) a).
      - unfold act; rewrite (sum_ext (dim r) _ (fun b => delta b a * (x * X 0%nat b))).
        + symmetry; exact (sum_delta (dim r) (fun b => x * X 0%nat b) a Ha).
        + intros b Hb; rewrite Hx, (delta_sym a) by assumption; ring.
      - unfold act, A; rewrite (sum_ext (dim r) _ (fun b => sum (S k) (fun i => X i a * (X i b * X 0%nat b))))
          by (intros; rewrite <- sum_scal_r; apply sum_ext; intros; ring).
        rewrite sum_swap, (sum_ext (S k) _ (fun i => delta i 0 * X i a)).
        + apply (sum_delta (S k) (fun i => X i a)); lia.
        + intros i Hi; rewrite sum_scal, <- HX by lia; unfold inner; ring. }
    apply INR_eq; rewrite <- (Rmult_1_r (INR (S k))), <- (Rmult_1_r (INR (dim r))), <- !sum_const.
    transitivity (sum (dim r) (fun a => A a a)).
    + unfold A; rewrite sum_swap; apply sum_ext; intros i Hi.
      transitivity (inner (dim r) (X i) (X i)); [rewrite HX, delta_same by assumption; reflexivity|reflexivity].
    + apply sum_ext; intros a Ha; rewrite Hx, delta_same, X1 by assumption; ring.
Qed.

(** Schur's lemma, for characters. *)
Theorem same_or_orthogonal : forall r s, is_representation G r -> is_representation G s ->
  irreducible r -> irreducible s ->
  (forall g, below G g -> character r g = character s g) \/
  sum n (fun g => character r g * character s g) = 0.
Proof.
  intros r s Hr Hs [_ Ir] [_ Is].
  destruct (all_zero_or_one_not (dim r) (dim s) (dim r) (dim s) (spread r s))
    as [Z|[i [j [a [b [Hi [Hj [Ha [Hb N]]]]]]]]].
  { right; unfold character.
    rewrite (sum_ext n _ (fun g => sum (dim r) (fun a => sum (dim s) (fun b => mat r g a a * mat s g b b))))
      by (intros; apply sum_mult).
    rewrite sum_swap; apply sum_zero; intros a Ha; rewrite sum_swap; apply sum_zero; intros b Hb.
    exact (Z a b a b Ha Hb Ha Hb). }
  left; set (T := spread r s i j) in N.
  pose proof (spread_intertwines r s i j Hr Hs Hi Hj) as HT; fold T in HT.
  pose proof (intertwines_transpose r s T Hr Hs HT) as HT'.
  destruct (Ir (fun p q => sum (dim s) (fun c => T p c * T q c))) as [x Hx].
  { split; [intros p q _ _; apply sum_ext; intros; ring|].
    exact (intertwines_gram s r _ _ Hs Hr HT' HT'). }
  destruct (Is (fun p q => sum (dim r) (fun c => T c p * T c q))) as [y Hy].
  { split; [intros p q _ _; apply sum_ext; intros; ring|].
    exact (intertwines_gram r s _ _ Hr Hs HT HT). }
  assert (Exy : x = y).
  { apply Rmult_eq_reg_r with (T a b); [|exact N].
    transitivity (sum (dim r) (fun q => sum (dim s) (fun c => T a c * T q c * T q b))).
    - rewrite (sum_ext (dim r) _ (fun q => delta q a * (x * T q b))).
      + symmetry; exact (sum_delta (dim r) (fun q => x * T q b) a Ha).
      + intros q Hq; rewrite sum_scal_r, Hx, (delta_sym a) by assumption; ring.
    - rewrite sum_swap, (sum_ext (dim s) _ (fun c => delta c b * (y * T a c))).
      + exact (sum_delta (dim s) (fun c => y * T a c) b Hb).
      + intros c Hc; rewrite <- (Rmult_assoc (delta c b)), (Rmult_comm (delta c b) y), <- Hy by assumption.
        rewrite <- sum_scal_r; apply sum_ext; intros; ring. }
  assert (Px : x <> 0).
  { pose proof (Hx a a Ha Ha) as E; rewrite delta_same, Rmult_1_r in E.
    pose proof (sum_term_le (dim s) (fun c => T a c * T a c) b (fun c _ => Rle_0_sqr (T a c)) Hb) as L.
    cbv beta in L; rewrite E in L; pose proof (Rsqr_pos_lt _ N); unfold Rsqr in *; lra. }
  intros g Hg; apply Rmult_eq_reg_l with x; [|exact Px].
  transitivity (sum (dim r) (fun p => sum (dim s) (fun c => sum (dim s) (fun e => mat s g e c * (T p e * T p c))))).
  - unfold character; rewrite <- sum_scal; apply sum_ext; intros p Hp.
    transitivity (sum (dim s) (fun c => sum (dim r) (fun q => mat r g p q * T q c) * T p c)).
    + rewrite (sum_ext (dim s) _ (fun c => sum (dim r) (fun q => mat r g p q * (T q c * T p c))))
        by (intros; rewrite <- sum_scal_r; apply sum_ext; intros; ring).
      rewrite sum_swap, (sum_ext (dim r) _ (fun q => delta q p * (x * mat r g p q))).
      * symmetry; exact (sum_delta (dim r) (fun q => x * mat r g p q) p Hp).
      * intros q Hq; rewrite sum_scal, Hx by assumption; ring.
    + apply sum_ext; intros c Hc; rewrite HT, <- sum_scal_r by assumption.
      apply sum_ext; intros; ring.
  - rewrite sum_swap; unfold character; rewrite <- sum_scal; apply sum_ext; intros c Hc.
    rewrite sum_swap, (sum_ext (dim s) _ (fun e => delta e c * (y * mat s g e c))).
    + rewrite (sum_delta (dim s) (fun e => y * mat s g e c) c Hc), Exy; reflexivity.
    + intros e He; rewrite sum_scal, Hy by assumption; ring.
Qed.

(** ** Units *)

Section Units.
Variable r : representation.
Hypothesis Hr : is_representation G r.
Hypothesis Ir : irreducible r.
Local Notation d := (dim r).

(** Some orthonormal matrices that commute with r, the first of them the identity. *)
Record begins (m : nat) (J : nat -> nat -> nat -> R) : Prop := {
  begins_one : (1 <= m)%nat;
  begins_identity : forall i j, (i < d)%nat -> (j < d)%nat -> J 0%nat i j = delta i j;
  begins_commute : forall k, (k < m)%nat -> intertwines r r (J k);
  begins_orthonormal : forall k l, (k < m)%nat -> (l < m)%nat ->
    frobenius_inner d (J k) (J l) = INR d * delta k l
}.

Lemma dimension_above_zero : 0 < INR d.
Proof. destruct Ir; apply lt_0_INR; lia. Qed.

Lemma begins_units : forall m J, begins m J -> units d m J.
Proof.
  intros m J HJ k l b c Hk Hl Hb Hc; pose proof dimension_above_zero as P.
  set (A := fun b c => sum d (fun a => J k a b * J l a c) + sum d (fun a => J l a b * J k a c)).
  destruct (proj2 Ir A) as [x Hx].
  - split.
    + intros i j _ _; unfold A; rewrite <- !sum_plus; apply sum_ext; intros; ring.
    + apply intertwines_plus; apply intertwines_gram; try exact Hr; apply (begins_commute m J HJ); assumption.
  - assert (T : sum d (fun i => A i i) = 2 * (INR d * delta k l)).
    { unfold A; rewrite sum_plus.
      assert (E : forall p q, sum d (fun i => sum d (fun a => J p a i * J q a i)) = frobenius_inner d (J p) (J q)).
      { intros; unfold frobenius_inner, inner; apply sum_swap. }
      rewrite !E, !(begins_orthonormal m J HJ), (delta_sym l k) by assumption; ring. }
    rewrite (sum_ext d _ (fun _ => x)) in T.
    2: { intros i Hi; rewrite (Hx i i Hi Hi), delta_same; ring. }
    rewrite sum_const in T.
    assert (X : x = 2 * delta k l) by (apply (Rmult_eq_reg_l (INR d)); lra).
    transitivity (A b c); [unfold A; rewrite <- sum_plus; reflexivity|].
    rewrite (Hx b c Hb Hc), X; ring.
Qed.

Lemma begins_at_most : forall m J, begins m J -> (m <= d)%nat.
Proof.
  intros m J HJ; pose proof (begins_units m J HJ) as U; destruct Ir as [Hd _].
  set (y := fun k => act d (J k) (fun i => delta i 0)).
  assert (Hy : forall k l, (k < m)%nat -> (l < m)%nat -> inner d (y k) (y l) = 1 * delta k l).
  { intros k l Hk Hl; unfold y; rewrite (units_orthogonal d m J _ U) by assumption.
    rewrite square_unit by lia; reflexivity. }
  apply INR_le; rewrite <- (Rmult_1_r (INR m)), <- (Rmult_1_r (INR d)), <- !sum_const.
  apply Rle_trans with (sum d (fun a => sum m (fun k => inner d (fun i => delta i a) (y k) ^ 2))).
  - rewrite sum_swap; right; apply sum_ext; intros k Hk.
    transitivity (inner d (y k) (y k)); [rewrite Hy, delta_same by assumption; ring|].
    rewrite inner_self; apply sum_ext; intros a Ha.
    rewrite inner_sym, inner_delta by assumption; reflexivity.
  - apply sum_le; intros a Ha.
    pose proof (bessel d m (fun i => delta i a) y 1 Rle_0_1 Hy) as B.
    rewrite square_unit in B by assumption; lra.
Qed.

Lemma squared_character : sum n (fun g => character r g ^ 2)
  = sum d (fun i => sum d (fun j => spread r r i j i j)).
Proof.
  unfold spread, character.
  rewrite (sum_ext n _ (fun g => sum d (fun i => sum d (fun j => mat r g i i * mat r g j j)))).
  - rewrite sum_swap; apply sum_ext; intros; apply sum_swap.
  - intros g _; rewrite <- sum_mult; ring.
Qed.

(** They are all, or there is another one. *)
Lemma begins_step : forall m J, begins m J ->
  INR n * INR m = sum n (fun g => character r g ^ 2) \/ exists J', begins (S m) J'.
Proof.
  intros m J HJ; pose proof dimension_above_zero as P.
  set (rest := fun i j a b => spread r r i j a b + sum m (fun k => - (INR n / INR d) * J k i j * J k a b)).
  destruct (all_zero_or_one_not d d d d rest) as [Z|[i [j [a [b [Hi [Hj [Ha [Hb N]]]]]]]]].
  - left; rewrite squared_character.
    transitivity (sum d (fun i => sum d (fun j => INR n / INR d * sum m (fun k => J k i j * J k i j)))).
    + transitivity (INR n / INR d * sum m (fun k => frobenius_inner d (J k) (J k))).
      * rewrite (sum_ext m _ (fun _ => INR d)).
        -- rewrite sum_const; field; lra.
        -- intros k Hk; rewrite (begins_orthonormal m J HJ), delta_same by assumption; ring.
      * unfold frobenius_inner, inner; rewrite sum_swap, <- sum_scal; apply sum_ext; intros i _.
        rewrite sum_swap, <- sum_scal; reflexivity.
    + apply sum_ext; intros i Hi; apply sum_ext; intros j Hj.
      pose proof (Z i j i j Hi Hj Hi Hj) as E; unfold rest in E.
      rewrite (sum_ext m _ (fun k => - (INR n / INR d) * (J k i j * J k i j))), sum_scal in E by (intros; ring); lra.
  - right; set (A := rest i j) in *.
    assert (CA : intertwines r r A).
    { apply intertwines_plus; [apply spread_intertwines; assumption|].
      apply (intertwines_sum r r m (fun k => - (INR n / INR d) * J k i j)); apply (begins_commute m J HJ). }
    assert (OA : forall l, (l < m)%nat -> frobenius_inner d A (J l) = 0).
    { intros l Hl.
      transitivity (frobenius_inner d (spread r r i j) (J l)
        + sum m (fun k => - (INR n / INR d) * J k i j * frobenius_inner d (J k) (J l))).
      - unfold A, rest, frobenius_inner, inner.
        rewrite (sum_ext m _ (fun k => sum d (fun p => sum d (fun q =>
          - (INR n / INR d) * J k i j * J k p q * J l p q)))).
        2: { intros k _; rewrite <- sum_scal; apply sum_ext; intros p _; rewrite <- sum_scal.
             apply sum_ext; intros; ring. }
        rewrite (sum_swap m d), <- sum_plus; apply sum_ext; intros p _.
        rewrite (sum_swap m d), <- sum_plus; apply sum_ext; intros q _; rewrite sum_scal_r; ring.
      - rewrite spread_inner by (try apply (begins_commute m J HJ); assumption).
        rewrite (sum_ext m _ (fun k => delta k l * (- INR n * J k i j))).
        + rewrite (sum_delta m (fun k => - INR n * J k i j) l Hl); ring.
        + intros k Hk; rewrite (begins_orthonormal m J HJ) by assumption; field; lra. }
    assert (PA : 0 < frobenius_inner d A A).
    { apply Rlt_le_trans with (A a b * A a b); [pose proof (Rsqr_pos_lt _ N); unfold Rsqr in *; lra|].
      apply Rle_trans with (inner d (A a) (A a)).
      - apply (sum_term_le d (fun q => A a q * A a q) b); [intros; apply Rle_0_sqr|exact Hb].
      - apply (sum_term_le d (fun p => inner d (A p) (A p)) a); [|exact Ha].
        intros; rewrite inner_self; apply square_nonneg. }
    set (x := sqrt (INR d / frobenius_inner d A A)).
    assert (X : x * x * frobenius_inner d A A = INR d).
    { unfold x; rewrite sqrt_sqrt; [field; lra|left; apply Rdiv_lt_0_compat; assumption]. }
    assert (Scal : forall c M N, frobenius_inner d (fun p q => c * M p q) N = c * frobenius_inner d M N).
    { intros; unfold frobenius_inner, inner; rewrite <- sum_scal; apply sum_ext; intros p _.
      rewrite <- sum_scal; apply sum_ext; intros; ring. }
    assert (Sym : forall M N, frobenius_inner d M N = frobenius_inner d N M).
    { intros; apply sum_ext; intros; apply inner_sym. }
    pose proof (begins_one m J HJ) as One.
    exists (fun k => if Nat.eqb k m then (fun p q => x * A p q) else J k); split.
    + lia.
    + destruct (Nat.eqb_spec 0 m); [lia|]; exact (begins_identity m J HJ).
    + intros k Hk; destruct (Nat.eqb_spec k m); [apply intertwines_scal; exact CA|].
      apply (begins_commute m J HJ); lia.
    + intros k l Hk Hl; destruct (Nat.eqb_spec k m) as [->|Nk], (Nat.eqb_spec l m) as [->|Nl].
      * rewrite Scal, Sym, Scal, <- Rmult_assoc, X, delta_same; ring.
      * rewrite Scal, OA, delta_other by lia; ring.
      * rewrite Sym, Scal, OA, delta_other by lia; ring.
      * apply (begins_orthonormal m J HJ); lia.
Qed.

Theorem units_exist : exists m J, begins m J /\ INR n * INR m = sum n (fun g => character r g ^ 2).
Proof.
  assert (H : forall fuel m J, begins m J -> (d < m + fuel)%nat ->
    exists m J, begins m J /\ INR n * INR m = sum n (fun g => character r g ^ 2)).
  { induction fuel as [|fuel IH]; intros m J HJ L.
    - pose proof (begins_at_most m J HJ); lia.
    - destruct (begins_step m J HJ) as [E|[J' HJ']]; [exists m, J; split; assumption|].
      apply (IH (S m) J' HJ'); lia. }
  apply (H d 1%nat (fun _ => delta)); [|lia]; split; [lia|reflexivity| |].
  - intros; apply intertwines_identity.
  - intros k l Hk Hl; replace k with 0%nat by lia; replace l with 0%nat by lia; rewrite delta_same, Rmult_1_r.
    unfold frobenius_inner; rewrite (sum_ext d _ (fun _ => 1)); [rewrite sum_const; ring|].
    intros i Hi; unfold inner; rewrite (sum_ext d _ (fun j => delta j i * 1)).
    + exact (sum_delta d (fun _ => 1) i Hi).
    + intros j _; rewrite (delta_sym i); unfold delta; destruct (Nat.eqb j i); ring.
Qed.

End Units.

End Commutants.
