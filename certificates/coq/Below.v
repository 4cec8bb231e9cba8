(** * The lower side: a network of integers has norm 1 and at least the margin that integers say.

    A certificate lists integer neurons omega_i with masses p_i > 0. They stand for the network that has the neuron
    omega_i / |omega_i| with the share p_i / sum p, in the words of a list of neurons: omega_i times the number whose
    cube is p_i / (sum p |omega_i|^3). So the sum of the cubes of the norms is 1, and by homogeneity

        f_y - f_c = sum_i p_i (u_a + v_b)^2 (w_y - w_c) / |omega_i|^3 / sum p        ([scaled_difference]).

    The checker encloses p/|omega|^3 by s / scale and (s + 1) / scale, which are inequalities between integers:
    s^2 |omega|^6 <= (p scale)^2 < (s + 1)^2 |omega|^6. A term of the sum is rounded down by s where it is not negative and by s + 1
    where it is ([rounded]). Where all |omega_i|^2 are m times squares nothing is rounded ([attains_root]): the margin is
    a rational number times sqrt m.

    Steps: [cube_root_cube] the numbers exist; [scaled_norm3], [realised_norm3] the norm is 1; [root_bounds] the
    enclosure; [realised_least] the sums; [lower_sound], [lower_root_sound] the two theorems. *)

From Coq Require Import Reals List ZArith Lra Lia Bool.
From Lemmata Require Import Statement.
Import ListNotations.
Local Open Scope Z_scope.

(** ** Integer networks, and what the checker computes *)

(** A neuron omega = (u, v, w) in integers, with its mass p. *)
Record zneuron := { mass : Z; zu : list Z; zv : list Z; zw : list Z }.

Definition entry (l : list Z) (i : nat) : Z := nth i l 0.
Fixpoint zsum (n : nat) (f : nat -> Z) : Z := match n with O => 0 | S k => zsum k f + f k end.
Definition square_sum (n : nat) (l : list Z) : Z := zsum n (fun i => entry l i * entry l i).
Definition zlength (T : table) (n : zneuron) : Z :=
  square_sum (rows T) (zu n) + square_sum (columns T) (zv n) + square_sum (labels T) (zw n).

Definition total_mass (net : list zneuron) : Z := fold_right (fun n acc => mass n + acc) 0 net.

(** A neuron with an integer s such that s <= p scale / |omega|^3 < s + 1. *)
Definition with_root (T : table) (scale : Z) (n : zneuron) : zneuron * Z :=
  let l := zlength T n in let m := mass n * scale in (n, Z.sqrt (m * m / (l * l * l))).
Definition root_ok (T : table) (scale : Z) (ns : zneuron * Z) : bool :=
  let (n, s) := ns in
  let l := zlength T n in
  let cube := l * l * l in
  let m := mass n * scale in
  (0 <? mass n) && (0 <? l) && (0 <=? s) && (s * s * cube <=? m * m) && (m * m <? (s + 1) * (s + 1) * cube).

(** The neurons with (u_a + v_b)^2, which is computed once for a cell. *)
Definition square_at (n : zneuron) (a b : nat) : Z := let x := entry (zu n) a + entry (zv n) b in x * x.
Definition at_cell {A} (net : list (zneuron * A)) (a b : nat) : list (Z * (zneuron * A)) :=
  map (fun ns => (square_at (fst ns) a b, ns)) net.

(** (u_a + v_b)^2 (w_y - w_c), and the sum of these times p scale / |omega|^3, rounded down. *)
Definition difference (n : zneuron) (x2 : Z) (y c : nat) : Z := x2 * (entry (zw n) y - entry (zw n) c).
Definition rounded (d s : Z) : Z := if d <? 0 then d * (s + 1) else d * s.
Definition least (net : list (Z * (zneuron * Z))) (y c : nat) : Z :=
  fold_right (fun '(x2, (n, s)) acc => rounded (difference n x2 y c) s + acc) 0 net.

(** Pairs (y, c) of labels at a cell; those of the margin of a table are its labels y with all c <> y. *)
Definition comparisons := list (nat * nat * list (nat * nat)).
Definition others (T : table) (y : nat) : list (nat * nat) :=
  map (fun c => (y, c)) (filter (fun c => negb (Nat.eqb c y)) (seq 0 (labels T))).
Definition rivals (T : table) : comparisons :=
  map (fun cell : nat * nat * nat => let '(a, b, y) := cell in (a, b, others T y)) (given T).

(** Is f_y - f_c at least p / q in all these? *)
Definition differ (T : table) (bits : Z) (net : list zneuron) (all : comparisons) (p q : Z) : bool :=
  let scale := 2 ^ bits in
  let rooted := map (with_root T scale) net in
  let claim := p * total_mass net * scale in
  (0 <? q) && (0 <? scale) && negb (Nat.eqb (length net) 0) && forallb (root_ok T scale) rooted
  && forallb (fun '(a, b, pairs) =>
       let active := at_cell rooted a b in forallb (fun '(y, c) => claim <=? q * least active y c) pairs) all.
Definition attains (T : table) (bits : Z) (net : list zneuron) (p q : Z) : bool := differ T bits net (rivals T) p q.

(** A neuron with the integer e such that 1 / |omega|^3 = e sqrt m / common: |omega|^2 = m k^2, e m^2 k^3 = common. *)
Definition with_quotient (T : table) (m common : Z) (n : zneuron) : zneuron * (Z * Z) :=
  let k := Z.sqrt (zlength T n / m) in (n, (k, common / (m * m * (k * k * k)))).
Definition quotient_ok (T : table) (m common : Z) (nke : zneuron * (Z * Z)) : bool :=
  let '(n, (k, e)) := nke in
  (0 <? mass n) && (0 <? k) && (zlength T n =? m * (k * k)) && (e * (m * m * (k * k * k)) =? common).
Definition exactly (net : list (Z * (zneuron * (Z * Z)))) (y c : nat) : Z :=
  fold_right (fun '(x2, (n, (k, e))) acc => mass n * difference n x2 y c * e + acc) 0 net.

(** Is the margin of the network at least p / q sqrt m, without any rounding? *)
Definition attains_root (T : table) (m common : Z) (net : list zneuron) (p q : Z) : bool :=
  let all := map (with_quotient T m common) net in
  let claim := p * total_mass net * common in
  (0 <? q) && (0 <? m) && (0 <? common) && negb (Nat.eqb (length net) 0) && forallb (quotient_ok T m common) all
  && forallb (fun '(a, b, pairs) =>
       let active := at_cell all a b in forallb (fun '(y, c) => claim <=? q * exactly active y c) pairs) (rivals T).

(** ** The network that is meant *)
Local Open Scope R_scope.

(** The cube root of r >= 0 lies between 0 and 1 + r (intermediate values). *)
Lemma cube_root_exists r : 0 <= r -> { x | 0 <= x /\ x ^ 3 = r }.
Proof.
  intro Hr. set (f := fun x => x ^ 3 - r).
  assert (Hf : continuity f).
  { apply derivable_continuous. unfold f. apply derivable_minus; [ apply derivable_pow | apply derivable_const ]. }
  destruct (IVT_cor f 0 (1 + r) Hf) as [x [[Hx _] Hz]].
  - lra.
  - unfold f. assert (r <= (1 + r) ^ 3).
    { replace ((1 + r) ^ 3) with (1 + r + (r * (2 + 3 * r) + r * r * r)) by ring.
      assert (0 <= r * (2 + 3 * r)) by (apply Rmult_le_pos; lra).
      assert (0 <= r * r * r) by (repeat apply Rmult_le_pos; lra). lra. }
    replace (0 ^ 3 - r) with (- r) by ring.
    assert (0 <= r * ((1 + r) ^ 3 - r)) by (apply Rmult_le_pos; lra). lra.
  - exists x. split; [ assumption | ]. unfold f in Hz. lra.
Qed.
Definition cube_root (r : R) : R :=
  match Rle_dec 0 r with left H => proj1_sig (cube_root_exists r H) | right _ => 0 end.

(** omega / |omega| with mass p / sum p: the neuron times a number whose cube is p / (sum p |omega|^3). *)
Definition scaled_neuron (T : table) (P : R) (n : zneuron) : neuron :=
  let k := cube_root (IZR (mass n) / (P * sqrt (IZR (zlength T n)) ^ 3)) in
  {| u := fun a => k * IZR (entry (zu n) a);
     v := fun b => k * IZR (entry (zv n) b);
     w := fun c => k * IZR (entry (zw n) c) |}.
Definition realised (T : table) (net : list zneuron) : network := map (scaled_neuron T (IZR (total_mass net))) net.

(** ** Proofs *)

Lemma cube_root_cube r : 0 <= r -> cube_root r ^ 3 = r.
Proof.
  intro H. unfold cube_root. destruct (Rle_dec 0 r) as [Hr | Hr]; [ | lra ].
  exact (proj2 (proj2_sig (cube_root_exists r Hr))).
Qed.

Lemma cube_root_pos r : 0 < r -> 0 < cube_root r.
Proof.
  intro H. assert (Hx : 0 <= cube_root r).
  { unfold cube_root. destruct (Rle_dec 0 r) as [Hr | Hr]; [ | lra ].
    exact (proj1 (proj2_sig (cube_root_exists r Hr))). }
  destruct Hx as [Hx | Hx]; [ assumption | ].
  pose proof (cube_root_cube r (Rlt_le _ _ H)) as Hc. rewrite <- Hx in Hc. lra.
Qed.

Lemma square_sum_R n l k : sum n (fun i => (k * IZR (entry l i)) ^ 2) = k ^ 2 * IZR (square_sum n l).
Proof.
  unfold square_sum. induction n as [ | n IH ]; cbn [sum zsum].
  - change (IZR 0) with 0. ring.
  - rewrite IH, plus_IZR, mult_IZR. ring.
Qed.

Section Lower.
Variable T : table.

Lemma scaled_inputs_outputs P n : inputs2 T (scaled_neuron T P n) + outputs2 T (scaled_neuron T P n) =
  cube_root (IZR (mass n) / (P * sqrt (IZR (zlength T n)) ^ 3)) ^ 2 * IZR (zlength T n).
Proof.
  unfold inputs2, outputs2, scaled_neuron; cbn [u v w].
  rewrite !square_sum_R. unfold zlength at 5. rewrite !plus_IZR. ring.
Qed.

Lemma scaled_norm3 P n : 0 < P -> (0 < mass n)%Z -> (0 < zlength T n)%Z ->
  norm T (scaled_neuron T P n) ^ 3 = IZR (mass n) / P.
Proof.
  intros HP Hm Hl. unfold norm. rewrite scaled_inputs_outputs.
  assert (Hl' : 0 < IZR (zlength T n)) by now apply IZR_lt.
  assert (Hm' : 0 < IZR (mass n)) by now apply IZR_lt.
  assert (Hs : 0 < sqrt (IZR (zlength T n))) by now apply sqrt_lt_R0.
  assert (Hs3 : 0 < sqrt (IZR (zlength T n)) ^ 3) by now apply pow_lt.
  assert (Hr : 0 < IZR (mass n) / (P * sqrt (IZR (zlength T n)) ^ 3)).
  { apply Rdiv_lt_0_compat; [ lra | now apply Rmult_lt_0_compat ]. }
  pose proof (cube_root_pos _ Hr) as Hk. pose proof (cube_root_cube _ (Rlt_le _ _ Hr)) as Hk3.
  set (k := cube_root _) in *.
  rewrite sqrt_mult by (try apply pow2_ge_0; lra). rewrite sqrt_pow2 by lra.
  rewrite Rpow_mult_distr, Hk3. field. lra.
Qed.

Lemma positive_total_mass net : net <> [] -> Forall (fun n => (0 < mass n)%Z) net -> (0 < total_mass net)%Z.
Proof.
  intros Hne H. destruct net as [ | n net ]; [ congruence | ].
  inversion H; subst. unfold total_mass; simpl.
  assert (0 <= fold_right (fun m acc => mass m + acc) 0 net)%Z; [ | lia ].
  clear - H3. induction H3; simpl; lia.
Qed.

Definition good (n : zneuron) : Prop := (0 < mass n)%Z /\ (0 < zlength T n)%Z.

Lemma realised_norm3 P net : 0 < P -> Forall good net ->
  norm3 T (map (scaled_neuron T P) net) = IZR (total_mass net) / P.
Proof.
  intros HP H. induction H as [ | n net [Hm Hl] _ IH ].
  - unfold total_mass, norm3; simpl. field. lra.
  - unfold norm3, total_mass in *; cbn [map fold_right] in *. rewrite IH, scaled_norm3 by assumption.
    rewrite plus_IZR. field. lra.
Qed.

(** The bounds of p / |omega|^3. *)
Lemma root_bounds scale n s : (0 < scale)%Z -> root_ok T scale (n, s) = true ->
  good n /\ IZR s / IZR scale <= IZR (mass n) / sqrt (IZR (zlength T n)) ^ 3 <= IZR (s + 1) / IZR scale.
Proof.
  unfold root_ok. intros Hscale H.
  repeat rewrite andb_true_iff in H. destruct H as [[[[Hm Hl] Hs] Hlow] Hhigh].
  apply Z.ltb_lt in Hm, Hl, Hhigh. apply Z.leb_le in Hs, Hlow.
  split; [ split; assumption | ].
  set (l := zlength T n) in *. set (m := mass n) in *.
  assert (Hl' : 0 < IZR l) by now apply IZR_lt.
  assert (Hm' : 0 < IZR m) by now apply IZR_lt.
  assert (Hr : 0 < sqrt (IZR l)) by now apply sqrt_lt_R0.
  set (r := sqrt (IZR l) ^ 3).
  assert (Hr3 : 0 < r) by now apply pow_lt.
  assert (Hsq : r * r = IZR (l * l * l)).
  { unfold r. rewrite !mult_IZR. rewrite <- (sqrt_sqrt (IZR l)) at 3 4 5 by lra. ring. }
  assert (HS : 0 < IZR scale) by now apply IZR_lt.
  assert (Hs' : 0 <= IZR s) by now apply IZR_le.
  apply IZR_le in Hlow. apply IZR_lt in Hhigh.
  rewrite !mult_IZR in Hlow. rewrite !mult_IZR in Hhigh. rewrite !mult_IZR in Hsq.
  assert (HmS : 0 < IZR m * IZR scale) by now apply Rmult_lt_0_compat.
  assert (H1 : IZR s * r <= IZR m * IZR scale).
  { apply Rsqr_incr_0_var; [ unfold Rsqr | lra ].
    replace (IZR s * r * (IZR s * r)) with (IZR s * IZR s * (r * r)) by ring. rewrite Hsq. lra. }
  assert (H2 : IZR m * IZR scale <= IZR (s + 1) * r).
  { assert (0 <= IZR (s + 1)) by (rewrite plus_IZR; lra).
    apply Rsqr_incr_0_var; [ unfold Rsqr | apply Rmult_le_pos; lra ].
    replace (IZR (s + 1) * r * (IZR (s + 1) * r)) with (IZR (s + 1) * IZR (s + 1) * (r * r)) by ring.
    rewrite Hsq. lra. }
  split.
  - apply Rmult_le_reg_r with (IZR scale * r); [ now apply Rmult_lt_0_compat | ].
    replace (IZR s / IZR scale * (IZR scale * r)) with (IZR s * r) by (field; lra).
    replace (IZR m / r * (IZR scale * r)) with (IZR m * IZR scale) by (field; lra). assumption.
  - apply Rmult_le_reg_r with (IZR scale * r); [ now apply Rmult_lt_0_compat | ].
    replace (IZR (s + 1) / IZR scale * (IZR scale * r)) with (IZR (s + 1) * r) by (field; lra).
    replace (IZR m / r * (IZR scale * r)) with (IZR m * IZR scale) by (field; lra). assumption.
Qed.

Lemma below_bound d s scale x : (0 < scale)%Z ->
  IZR s / IZR scale <= x <= IZR (s + 1) / IZR scale -> IZR (rounded d s) <= IZR d * x * IZR scale.
Proof.
  intros Hscale [Hlow Hhigh]. assert (HS : 0 < IZR scale) by now apply IZR_lt.
  assert (IZR s <= x * IZR scale).
  { replace (IZR s) with (IZR s / IZR scale * IZR scale) by (field; lra). apply Rmult_le_compat_r; lra. }
  assert (x * IZR scale <= IZR (s + 1)).
  { replace (IZR (s + 1)) with (IZR (s + 1) / IZR scale * IZR scale) by (field; lra).
    apply Rmult_le_compat_r; lra. }
  unfold rounded. rewrite Rmult_assoc. destruct (Z.ltb_spec d 0) as [Hd | Hd]; rewrite mult_IZR.
  - apply IZR_lt in Hd. apply Rmult_le_compat_neg_l; lra.
  - apply IZR_le in Hd. apply Rmult_le_compat_l; lra.
Qed.

(** The difference of outputs of the scaled_neuron neuron. *)
Lemma scaled_difference P n a b y c : 0 < P -> good n ->
  activity (scaled_neuron T P n) a b * w (scaled_neuron T P n) y
  - activity (scaled_neuron T P n) a b * w (scaled_neuron T P n) c
  = IZR (difference n (square_at n a b) y c) * (IZR (mass n) / sqrt (IZR (zlength T n)) ^ 3) / P.
Proof.
  intros HP [Hm Hl]. unfold activity, scaled_neuron, difference, square_at; cbn [u v w].
  assert (Hl' : 0 < IZR (zlength T n)) by now apply IZR_lt.
  assert (Hm' : 0 < IZR (mass n)) by now apply IZR_lt.
  assert (Hs : 0 < sqrt (IZR (zlength T n))) by now apply sqrt_lt_R0.
  assert (Hs3 : 0 < sqrt (IZR (zlength T n)) ^ 3) by now apply pow_lt.
  set (q := sqrt (IZR (zlength T n)) ^ 3) in *.
  assert (Hq : 0 < IZR (mass n) / (P * q)).
  { apply Rdiv_lt_0_compat; [ lra | now apply Rmult_lt_0_compat ]. }
  pose proof (cube_root_cube _ (Rlt_le _ _ Hq)) as Hk.
  set (k := cube_root (IZR (mass n) / (P * q))) in *.
  rewrite !mult_IZR, minus_IZR, plus_IZR.
  set (x := IZR (entry (zu n) a)). set (x' := IZR (entry (zv n) b)).
  set (z := IZR (entry (zw n) y)). set (z' := IZR (entry (zw n) c)).
  transitivity (k ^ 3 * ((x + x') * (x + x') * (z - z'))); [ ring | ].
  rewrite Hk. field. lra.
Qed.

Lemma realised_least P scale net a b y c : 0 < P -> (0 < scale)%Z ->
  forallb (root_ok T scale) net = true ->
  IZR (least (at_cell net a b) y c) / (P * IZR scale)
  <= output (map (scaled_neuron T P) (map fst net)) a b y - output (map (scaled_neuron T P) (map fst net)) a b c.
Proof.
  intros HP Hscale. assert (HS : 0 < IZR scale) by now apply IZR_lt.
  assert (HPS : 0 < P * IZR scale) by now apply Rmult_lt_0_compat.
  induction net as [ | [n s] net IH ]; intro H.
  - unfold least; simpl. unfold Rdiv. lra.
  - cbn [forallb] in H. apply andb_true_iff in H. destruct H as [H1 H2]. specialize (IH H2).
    destruct (root_bounds _ _ _ Hscale H1) as [Hgood Hb].
    pose proof (scaled_difference P n a b y c HP Hgood) as Hd.
    pose proof (below_bound (difference n (square_at n a b) y c) s scale _ Hscale Hb) as Hbelow.
    unfold least, output, at_cell in *; cbn [fold_right map fst] in *.
    set (d := difference n (square_at n a b) y c) in *.
    set (x := IZR (mass n) / sqrt (IZR (zlength T n)) ^ 3) in *.
    rewrite plus_IZR. unfold Rdiv in *. rewrite Rmult_plus_distr_r.
    assert (IZR (rounded d s) * / (P * IZR scale) <= IZR d * x * / P).
    { replace (IZR d * x * / P) with (IZR d * x * IZR scale * / (P * IZR scale)) by (field; lra).
      apply Rmult_le_compat_r; [ | assumption ]. left. now apply Rinv_0_lt_compat. }
    lra.
Qed.

Lemma in_others y c : (c < labels T)%nat -> c <> y -> In (y, c) (others T y).
Proof.
  intros Hc Hcy. unfold others. apply in_map_iff. exists c. split; [ reflexivity | ].
  apply filter_In. split; [ apply in_seq; lia | now apply negb_true_iff, Nat.eqb_neq ].
Qed.

Lemma in_rivals a b y : In (a, b, y) (given T) -> In (a, b, others T y) (rivals T).
Proof. intro H. unfold rivals. apply in_map_iff. now exists (a, b, y). Qed.

Lemma good_total net : length net <> 0%nat -> Forall good net -> 0 < IZR (total_mass net).
Proof.
  intros Hne H. apply IZR_lt, positive_total_mass.
  - now destruct net.
  - eapply Forall_impl; [ | exact H ]. now intros n [].
Qed.

(** The differences of outputs of the network, which has norm 1. *)
Theorem differ_sound bits net all p q : differ T bits net all p q = true ->
  norm3 T (realised T net) = 1 /\
  forall a b pairs y c, In (a, b, pairs) all -> In (y, c) pairs ->
    IZR p / IZR q <= output (realised T net) a b y - output (realised T net) a b c.
Proof.
  unfold differ. set (scale := (2 ^ bits)%Z). intro H.
  repeat rewrite andb_true_iff in H. destruct H as [[[[Hq Hscale] Hne] Hroots] Hall].
  apply Z.ltb_lt in Hq, Hscale. apply negb_true_iff, Nat.eqb_neq in Hne.
  assert (Hfst : map fst (map (with_root T scale) net) = net) by (rewrite map_map; apply map_id).
  assert (Hgood : Forall good net).
  { rewrite <- Hfst. rewrite forallb_forall in Hroots. apply Forall_forall. intros n Hn.
    apply in_map_iff in Hn. destruct Hn as [[m s] [Hm Hin]]; cbn in Hm; subst m.
    apply (root_bounds scale n s Hscale). now apply Hroots. }
  pose proof (good_total net Hne Hgood) as HP.
  split.
  - unfold realised. rewrite realised_norm3 by assumption. field. lra.
  - intros a b pairs y c Hin Hpair. rewrite forallb_forall in Hall. specialize (Hall _ Hin). cbv beta iota in Hall.
    rewrite forallb_forall in Hall. specialize (Hall _ Hpair). cbv beta iota in Hall.
    apply Z.leb_le, IZR_le in Hall. rewrite !mult_IZR in Hall.
    pose proof (realised_least (IZR (total_mass net)) scale _ a b y c HP Hscale Hroots) as Hleast.
    rewrite Hfst in Hleast. eapply Rle_trans; [ | exact Hleast ].
    assert (HS : 0 < IZR scale) by now apply IZR_lt. apply IZR_lt in Hq.
    assert (HPS : 0 < IZR (total_mass net) * IZR scale) by now apply Rmult_lt_0_compat.
    set (found := least _ y c) in *.
    apply Rmult_le_reg_r with (IZR q * (IZR (total_mass net) * IZR scale)); [ now apply Rmult_lt_0_compat | ].
    replace (IZR p / IZR q * (IZR q * (IZR (total_mass net) * IZR scale)))
      with (IZR p * IZR (total_mass net) * IZR scale) by (field; lra).
    replace (IZR found / (IZR (total_mass net) * IZR scale) * (IZR q * (IZR (total_mass net) * IZR scale)))
      with (IZR q * IZR found) by (field; lra).
    assumption.
Qed.

(** ** The lower side: the integer network has norm 1 and the margin that the checker found. *)
Theorem lower_sound bits net p q : attains T bits net p q = true ->
  norm3 T (realised T net) = 1 /\ margin_at_least T (IZR p / IZR q) (realised T net).
Proof.
  intro H. destruct (differ_sound _ _ _ _ _ H) as [Hnorm Hdiffer]. split; [ exact Hnorm | ].
  intros a b y c Hin Hc Hcy.
  exact (Hdiffer a b (others T y) y c (in_rivals a b y Hin) (in_others y c Hc Hcy)).
Qed.

Corollary lower_normalized bits net p q : attains T bits net p q = true ->
  normalized_margin_at_least T (IZR p / IZR q) (realised T net).
Proof.
  intro H. destruct (lower_sound _ _ _ _ H) as [Hnorm Hmargin]. unfold normalized_margin_at_least.
  rewrite Hnorm, Rmult_1_r. split; [ lra | exact Hmargin ].
Qed.

(** Where a network of margin p / q is shown, the maximum margin M, or any M that no margin exceeds, is at least that: a
    network of margin at least a share of M has at least the margin g <= share p / q. *)
Theorem nearly_maximum bits net p q g share : attains T bits net p q = true -> 0 <= share ->
  g <= share * (IZR p / IZR q) ->
  forall M, (forall other m, normalized_margin_at_least T m other -> m <= M) ->
  forall other, normalized_margin_at_least T (share * M) other -> normalized_margin_at_least T g other.
Proof.
  intros H Hshare Hg M HM other [N Hmargin]. split; [ exact N | ].
  intros a b y c Hin Hc Hcy. apply Rle_trans with (share * M * norm3 T other); [ | now apply Hmargin ].
  apply Rmult_le_compat_r; [ lra | ]. apply Rle_trans with (1 := Hg).
  apply Rmult_le_compat_l; [ exact Hshare | ]. exact (HM _ _ (lower_normalized _ _ _ _ H)).
Qed.

(** A network is right at a cell, or wrong there, by at least p / q > 0. *)
Lemma positive_quotient bits net all p q : (0 < p)%Z -> differ T bits net all p q = true -> 0 < IZR p / IZR q.
Proof.
  intros Hp H. unfold differ in H. repeat rewrite andb_true_iff in H. destruct H as [[[[Hq _] _] _] _].
  apply Z.ltb_lt in Hq. apply Rdiv_lt_0_compat; now apply IZR_lt.
Qed.

Theorem right_sound bits net a b y p q : (0 < p)%Z -> differ T bits net [(a, b, others T y)] p q = true ->
  right_at T a b y (realised T net).
Proof.
  intros Hp H c Hc Hcy. pose proof (positive_quotient _ _ _ _ _ Hp H).
  destruct (differ_sound _ _ _ _ _ H) as [_ Hdiffer].
  pose proof (Hdiffer a b _ y c (or_introl eq_refl) (in_others y c Hc Hcy)). lra.
Qed.

Theorem wrong_sound bits net a b y c p q : (0 < p)%Z -> (c < labels T)%nat -> c <> y ->
  differ T bits net [(a, b, [(c, y)])] p q = true -> wrong_at T a b y (realised T net).
Proof.
  intros Hp Hc Hcy H. exists c. split; [ exact Hc | split; [ exact Hcy | ] ].
  pose proof (positive_quotient _ _ _ _ _ Hp H).
  destruct (differ_sound _ _ _ _ _ H) as [_ Hdiffer].
  pose proof (Hdiffer a b _ c y (or_introl eq_refl) (or_introl eq_refl)). lra.
Qed.

(** ** Margins that are a rational number times a square root *)

Lemma quotient_sound m common n k e : (0 < m)%Z -> (0 < common)%Z -> quotient_ok T m common (n, (k, e)) = true ->
  good n /\ / sqrt (IZR (zlength T n)) ^ 3 = IZR e * (sqrt (IZR m) / IZR common).
Proof.
  unfold quotient_ok. intros Hm Hcommon H.
  repeat rewrite andb_true_iff in H. destruct H as [[[Hmass Hk] Hl] He].
  apply Z.ltb_lt in Hmass, Hk. apply Z.eqb_eq in Hl, He.
  split; [ split; [ assumption | rewrite Hl; nia ] | ].
  rewrite Hl, <- He. rewrite !mult_IZR.
  assert (He' : (0 < e)%Z).
  { assert (0 < m * m * (k * k * k))%Z by (repeat apply Z.mul_pos_pos; lia). nia. }
  apply IZR_lt in Hm, Hk, He'.
  assert (Hr : 0 < sqrt (IZR m)) by now apply sqrt_lt_R0.
  rewrite sqrt_mult by nra. rewrite sqrt_square by lra.
  set (r := sqrt (IZR m)) in *. assert (Hrr : IZR m = r * r) by (unfold r; rewrite sqrt_sqrt; lra).
  rewrite Hrr. field. lra.
Qed.

Lemma realised_exactly P m common net a b y c : 0 < P -> (0 < m)%Z -> (0 < common)%Z ->
  forallb (quotient_ok T m common) net = true ->
  output (map (scaled_neuron T P) (map fst net)) a b y - output (map (scaled_neuron T P) (map fst net)) a b c
  = IZR (exactly (at_cell net a b) y c) * (sqrt (IZR m) / IZR common) / P.
Proof.
  intros HP Hm Hcommon.
  induction net as [ | [n [k e]] net IH ]; intro H.
  - unfold exactly; cbn. field. split; [ apply Rgt_not_eq; now apply IZR_lt | lra ].
  - cbn [forallb] in H. apply andb_true_iff in H. destruct H as [H1 H2]. specialize (IH H2).
    destruct (quotient_sound _ _ _ _ _ Hm Hcommon H1) as [Hgood Hinverse].
    pose proof (scaled_difference P n a b y c HP Hgood) as Hd. unfold Rdiv in Hd. rewrite Hinverse in Hd.
    unfold exactly, output, at_cell in *; cbn [fold_right map fst] in *.
    set (x := sqrt (IZR m) / IZR common) in *.
    rewrite plus_IZR, !mult_IZR. unfold Rdiv in *. rewrite !Rmult_plus_distr_r. rewrite <- IH. lra.
Qed.

(** The margin of the integer network is at least a rational number times a square root, which is often its maximum. *)
Theorem lower_root_sound m common net p q : attains_root T m common net p q = true ->
  normalized_margin_at_least T (IZR p / IZR q * sqrt (IZR m)) (realised T net).
Proof.
  unfold attains_root. intro H.
  repeat rewrite andb_true_iff in H. destruct H as [[[[[Hq Hm] Hcommon] Hne] Hquotients] Hcells].
  apply Z.ltb_lt in Hq, Hm, Hcommon. apply negb_true_iff, Nat.eqb_neq in Hne.
  assert (Hfst : map fst (map (with_quotient T m common) net) = net) by (rewrite map_map; apply map_id).
  assert (Hgood : Forall good net).
  { rewrite <- Hfst. rewrite forallb_forall in Hquotients. apply Forall_forall. intros n Hn.
    apply in_map_iff in Hn. destruct Hn as [[o [k e]] [Ho Hin]]; cbn in Ho; subst o.
    apply (quotient_sound m common n k e Hm Hcommon). now apply Hquotients. }
  pose proof (good_total net Hne Hgood) as HP.
  unfold normalized_margin_at_least. unfold realised. rewrite realised_norm3 by assumption.
  replace (IZR (total_mass net) / IZR (total_mass net)) with 1 by (field; lra). split; [ lra | ]. rewrite Rmult_1_r.
  intros a b y c Hin Hc Hcy. rewrite forallb_forall in Hcells.
  specialize (Hcells _ (in_rivals a b y Hin)). cbv beta iota in Hcells.
  rewrite forallb_forall in Hcells. specialize (Hcells _ (in_others y c Hc Hcy)). cbv beta iota in Hcells.
  apply Z.leb_le, IZR_le in Hcells. rewrite !mult_IZR in Hcells.
  pose proof (realised_exactly (IZR (total_mass net)) m common _ a b y c HP Hm Hcommon Hquotients) as Hexact.
  rewrite Hfst in Hexact. rewrite Hexact.
  set (found := exactly _ y c) in *.
  apply IZR_lt in Hq, Hcommon, Hm. assert (Hr : 0 < sqrt (IZR m)) by now apply sqrt_lt_R0.
  set (r := sqrt (IZR m)) in *.
  apply Rmult_le_reg_r with (IZR q * (IZR (total_mass net) * IZR common) / r).
  { apply Rdiv_lt_0_compat; [ | lra ]. apply Rmult_lt_0_compat; [ lra | now apply Rmult_lt_0_compat ]. }
  replace (IZR p / IZR q * r * (IZR q * (IZR (total_mass net) * IZR common) / r))
    with (IZR p * IZR (total_mass net) * IZR common) by (field; lra).
  replace (IZR found * (r / IZR common) / IZR (total_mass net) * (IZR q * (IZR (total_mass net) * IZR common) / r))
    with (IZR q * IZR found) by (field; lra).
  assumption.
Qed.
End Lower.
