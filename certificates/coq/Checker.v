(** * The checker of certificates: integers, booleans and lists, no real numbers.

    A certificate of a table has the fields of certificates/OPERATION_FORMAT.md, with the same names. [check],
    [check_right] and [check_wrong] compute whether it proves what Sound.v and Unseen.v say: a polynomial identity is
    compared coefficient by coefficient, and a matrix is shown to be positive semidefinite, by a factor of integers
    whose remainder is taken from the diagonal, or by exact elimination. *)

From Coq Require Import ZArith QArith List Orders Mergesort.
From Lemmata Require Import Statement.
Import ListNotations.
Local Open Scope Z_scope.

(** ** Certificates *)

(** Which identity the matrix proves; the monomials are in the order of OPERATION_FORMAT.md. *)
Inductive kind := Degree4 | Degree6 | Plane.

Record proof := Proof {
  proof_kind : kind;
  proof_t : Q;                 (* t and t' of the claim phi^2 <= t t'; both positive *)
  proof_t_prime : Q;
  denominator : positive;      (* of the entries of the matrix *)
  matrix : list (list Z);      (* its lower triangle: rows of 1, 2, 3, .. integers *)
  rounding : N                 (* not part of the claim: a factor of the matrix times 4^rounding is rounded to integers;
                                  0 asks for elimination without rounding *)
}.

(** The upper bound of the margin of a table: one integer >= 0 for each triple, in the order of [triples]. *)
Record certificate := Certificate { multipliers : list Z; upper_proof : proof }.

(** One inequality at a cell that is not given: the multipliers are divided by [part_denominator]. *)
Record cell_part := Part { part_multipliers : list Z; part_denominator : positive; part_proof : proof }.

(** ** Triples and forms *)

Definition indices := (nat * nat * nat * nat)%type.

(** (a, b, y, c) for each given cell and each other label c, in the order of the given cells. *)
Definition triples (T : table) : list indices :=
  flat_map (fun '(a, b, y) => map (fun c => (a, b, y, c)) (filter (fun c => negb (Nat.eqb c y)) (seq 0 (labels T))))
    (given T).

(** The sum of k (u_a + v_b)^2 (w_y - w_c) over the terms (k, (a, b, y, c)). *)
Definition terms := list (Z * indices).

Definition total (l : list Z) : Z := fold_right Z.add 0 l.

Definition in_table (T : table) (q : indices) : bool :=
  let '(a, b, y, c) := q in
  (Nat.ltb a (rows T) && Nat.ltb b (columns T) && Nat.ltb y (labels T) && Nat.ltb c (labels T))%bool.

(** ** Polynomials: lists of monomials, each a list of variables, with coefficients *)

Definition monomial := list nat.
Definition poly := list (monomial * Z).

Definition scaled (k : Z) (p : poly) : poly := map (fun '(m, c) => (m, k * c)) p.
Definition poly_product (p q : poly) : poly := flat_map (fun '(m, c) => map (fun '(n, d) => (m ++ n, c * d)) q) p.

Fixpoint insert (i : nat) (m : monomial) : monomial :=
  match m with
  | [] => [i]
  | j :: rest => if Nat.leb i j then i :: m else j :: insert i rest
  end.
Definition sorted (m : monomial) : monomial := fold_right insert [] m.

Fixpoint less_or_equal (m n : monomial) : bool :=
  match m, n with
  | [], _ => true
  | _ :: _, [] => false
  | i :: m', j :: n' => match Nat.compare i j with Lt => true | Gt => false | Eq => less_or_equal m' n' end
  end.
Fixpoint same (m n : monomial) : bool :=
  match m, n with
  | [], [] => true
  | i :: m', j :: n' => if Nat.eqb i j then same m' n' else false
  | _, _ => false
  end.

Module ByMonomial <: TotalLeBool.
  Definition t := (monomial * Z)%type.
  Definition leb (p q : t) := less_or_equal (fst p) (fst q).
  Lemma less_or_equal_total m : forall n, less_or_equal m n = true \/ less_or_equal n m = true.
  Proof.
    induction m as [|i m IH]; intros [|j n]; simpl; auto.
    rewrite (Nat.compare_antisym i j). destruct (Nat.compare i j); simpl; auto.
  Qed.
  Theorem leb_total : forall p q, leb p q = true \/ leb q p = true.
  Proof. intros p q. apply less_or_equal_total. Qed.
End ByMonomial.
Module Sort := Mergesort.Sort ByMonomial.

(** Whether the coefficients of equal neighbours add up to zero; (m, c) is what has been read last. *)
Fixpoint cancels (m : monomial) (c : Z) (p : poly) : bool :=
  match p with
  | [] => c =? 0
  | (n, d) :: rest => if same m n then cancels m (c + d) rest else if c =? 0 then cancels n d rest else false
  end.
Definition is_zero (p : poly) : bool := cancels [] 0 (Sort.sort (map (fun '(m, c) => (sorted m, c)) p)).

(** ** The identity *)

(** The variables: u_0, u_1, .., then v_0, v_1, .., then z_0, z_1, .., then two for the plane. *)
Definition inputs (T : table) : nat := rows T + columns T.
Definition var_v (T : table) (b : nat) : nat := rows T + b.
Definition var_z (T : table) (k : nat) : nat := inputs T + k.
Definition alpha (T : table) : nat := inputs T + labels T.
Definition beta (T : table) : nat := S (alpha T).

Definition squares (variables : list nat) : poly := map (fun i => ([i; i], 1)) variables.
Definition x2 (T : table) : poly := squares (seq 0 (inputs T)).
Definition z2 (T : table) : poly := squares (map (var_z T) (seq 0 (labels T))).

Definition hidden (T : table) (a b : nat) : poly :=
  poly_product [([a], 1); ([var_v T b], 1)] [([a], 1); ([var_v T b], 1)].

(** The form of the terms with z in the place of w. *)
Definition form_poly (T : table) (l : terms) : poly :=
  flat_map (fun '(k, (a, b, y, c)) => poly_product (hidden T a b) [([var_z T y], k); ([var_z T c], -k)]) l.

(** The coefficient of w_k in it, x'M_k x. *)
Definition indicator (i j : nat) : Z := if Nat.eqb i j then 1 else 0.
Definition matrix_poly (T : table) (l : terms) (k : nat) : poly :=
  flat_map (fun '(q, (a, b, y, c)) => scaled (q * (indicator y k - indicator c k)) (hidden T a b)) l.

(** All x_i x_j, i <= j, and all x_i x_j x_l, i <= j <= l. *)
Definition pairs (n : nat) : list monomial := flat_map (fun i => map (fun j => [i; j]) (seq i (n - i))) (seq 0 n).
Definition threes (n : nat) : list monomial :=
  flat_map (fun i => flat_map (fun j => map (fun l => [i; j; l]) (seq j (n - j))) (seq i (n - i))) (seq 0 n).

Definition monomials (T : table) (k : kind) : list monomial :=
  let x := seq 0 (inputs T) in
  let z := map (var_z T) (seq 0 (labels T)) in
  match k with
  | Degree4 => pairs (inputs T) ++ map (fun i => [i]) z
  | Degree6 => threes (inputs T) ++ flat_map (fun i => map (fun j => [i; j]) z) x
  | Plane => map (fun i => [alpha T; i]) x ++ map (fun i => [beta T; i]) x
  end.

(** What the vector of monomials and the matrix have to give: D (t |x|^4 - 2/unit form + t' |z|^2), times |x|^2 for
    degree 6, and D (alpha^2 (t|x|^2 + a) + 6 alpha beta b + 3 beta^2 (t |x|^2 - a)) for the plane, with
    a = x'(M_0 - M_1)x/unit, b = x'(M_0 + M_1)x/unit; D, the product of all denominators, makes it integers. *)
Definition expected (T : table) (l : terms) (unit : positive) (p : proof) : poly :=
  let dt := Zpos (Qden (proof_t p)) in
  let dt' := Zpos (Qden (proof_t_prime p)) in
  let d := Zpos (denominator p) in
  let T1 := Qnum (proof_t p) * dt' * d * Zpos unit in
  let T2 := Qnum (proof_t_prime p) * dt * d * Zpos unit in
  let f := dt * dt' * d in
  let bracket :=
    scaled T1 (poly_product (x2 T) (x2 T)) ++ scaled (-2 * f) (form_poly T l) ++ scaled T2 (z2 T) in
  match proof_kind p with
  | Degree4 => bracket
  | Degree6 => poly_product (x2 T) bracket
  | Plane =>
      let a := scaled f (matrix_poly T l 0) ++ scaled (- f) (matrix_poly T l 1) in
      let b := scaled f (matrix_poly T l 0 ++ matrix_poly T l 1) in
      poly_product [([alpha T; alpha T], 1)] (scaled T1 (x2 T) ++ a) ++
      poly_product [([alpha T; beta T], 6)] b ++
      poly_product [([beta T; beta T], 3)] (scaled T1 (x2 T) ++ scaled (-1) a)
  end.

(** ** Quadratic forms: rows from the diagonal on, [[m_00; m_01; ..]; [m_11; ..]; ..]; what is missing is zero *)

Definition upper_rows (lower : list (list Z)) : list (list Z) := rev (map (@rev Z) lower).

Fixpoint row_poly (m : monomial) (row : list Z) (ms : list monomial) : poly :=
  match row, ms with
  | c :: row', n :: ms' => (m ++ n, 2 * c) :: row_poly m row' ms'
  | _, _ => []
  end.
Fixpoint quadratic_poly (M : list (list Z)) (ms : list monomial) : poly :=
  match M, ms with
  | (c :: row) :: M', m :: ms' => (m ++ m, c) :: row_poly m row ms' ++ quadratic_poly M' ms'
  | [] :: M', _ :: ms' => quadratic_poly M' ms'
  | _, _ => []
  end.

Definition shaped (lower : list (list Z)) (order : nat) : bool :=
  let fix go n rows :=
    match rows with [] => Nat.eqb n order | r :: rest => if Nat.eqb (length r) (S n) then go (S n) rest else false end
  in go O lower.

Definition identity_holds (T : table) (l : terms) (unit : positive) (p : proof) : bool :=
  let scale := Zpos (Qden (proof_t p)) * Zpos (Qden (proof_t_prime p)) * Zpos unit in
  let ms := monomials T (proof_kind p) in
  if shaped (matrix p) (length ms)
  then is_zero (scaled scale (quadratic_poly (upper_rows (matrix p)) (rev ms)) ++ scaled (-1) (expected T l unit p))
  else false.

(** ** Positive semidefinite matrices *)

(** Rounding: the first row is l (l, l_1, l_2, ..) plus remainders e, e_1, e_2, ..; the form is at least that of the
    other rows minus l_i l_j, minus |e_i| on the diagonal, if e >= |e_1| + |e_2| + ... A list of pairs (l_i, |e_i|). *)
Fixpoint minus_row (k : Z) (row : list Z) (ps : list (Z * Z)) : list Z :=
  match ps with
  | [] => row
  | (l, _) :: ps' =>
      match row with
      | [] => - (k * l) :: minus_row k [] ps'
      | m :: row' => m - k * l :: minus_row k row' ps'
      end
  end.
Fixpoint minus_square (M : list (list Z)) (ps : list (Z * Z)) : list (list Z) :=
  match ps with
  | [] => M
  | (l, e) :: ps' =>
      let '(row, M') := match M with [] => ([], []) | r :: rest => (r, rest) end in
      let '(m, row') := match row with [] => (0, []) | m :: r => (m, r) end in
      (m - l * l - e :: minus_row l row' ps') :: minus_square M' ps'
  end.
Definition all_zero (row : list Z) : bool := forallb (Z.eqb 0) row.

Fixpoint factors (fuel : nat) (M : list (list Z)) : bool :=
  match M, fuel with
  | [], _ => true
  | _, O => false
  | [] :: M', S n => factors n M'
  | (m :: row) :: M', S n =>
      if m =? 0 then if all_zero row then factors n M' else false
      else
        let count := Z.of_nat (length row) in
        let l := Z.sqrt (m - count * (Z.sqrt m / 2 + 1)) in
        if l <=? 0 then false
        else
          let ps := map (fun c => let q := (2 * c + l) / (2 * l) in (q, Z.abs (c - l * q))) row in
          if total (map snd ps) <=? m - l * l then factors n (minus_square M' ps) else false
  end.

(** Elimination without rounding: m times the other rows minus the square of the first; the last pivot divides it. *)
Definition fractions (m : Z) (M : list (list Z)) : list (list Z) := map (map (Z.mul m)) M.
Fixpoint eliminates (fuel : nat) (last : positive) (M : list (list Z)) : bool :=
  match M, fuel with
  | [], _ => true
  | _, O => false
  | [] :: M', S n => eliminates n last M'
  | (Z0 :: row) :: M', S n => if all_zero row then eliminates n last M' else false
  | (Zneg _ :: _) :: _, _ => false
  | (Zpos m :: row) :: M', S n =>
      let rest := minus_square (fractions (Zpos m) M') (map (fun c => (c, 0)) row) in
      if forallb (forallb (fun x => x mod Zpos last =? 0)) rest
      then eliminates n m (map (map (fun x => x / Zpos last)) rest)
      else false
  end.

Definition semidefinite (p : proof) : bool :=
  let M := upper_rows (matrix p) in
  match rounding p with
  | N0 => eliminates (length M) 1 M
  | Npos b => factors (length M) (fractions (4 ^ Zpos b) M)
  end.

(** ** What is checked *)

(** The proof shows that form <= unit 2/(3 sqrt 3) sqrt(t t') |omega|^3 for all neurons omega. *)
Definition check_proof (T : table) (l : terms) (unit : positive) (p : proof) : bool :=
  if forallb (in_table T) (map snd l)
  then if (Qnum (proof_t p) >? 0) && (Qnum (proof_t_prime p) >? 0)
    then if match proof_kind p with
            | Plane => Nat.leb (labels T) 3 && Qeq_bool (proof_t_prime p) (proof_t p / 2)
            | _ => true
            end
      then if identity_holds T l unit p then semidefinite p else false
      else false
    else false
  else false.

Definition weighted (T : table) (k : Z) (l : list Z) : terms := combine (map (Z.mul k) l) (triples T).

Definition multipliers_fit (T : table) (l : list Z) : bool :=
  Nat.eqb (length l) (length (triples T)) && forallb (Z.leb 0) l && (0 <? total l).

(** The margin of every network is at most 2/(3 sqrt 3) sqrt(t t'). *)
Definition check (T : table) (cert : certificate) : bool :=
  if multipliers_fit T (multipliers cert)
  then check_proof T (weighted T 1 (multipliers cert)) (Z.to_pos (total (multipliers cert))) (upper_proof cert)
  else false.

(** g sum l > 2/(3 sqrt 3) sqrt(t t'). *)
Definition exceeds (g : Q) (p : cell_part) : bool :=
  let gain := (g * (total (part_multipliers p) # part_denominator p))%Q in
  let proved := ((4 # 27) * (proof_t (part_proof p) * proof_t_prime (part_proof p)))%Q in
  negb (Qle_bool gain 0) && negb (Qle_bool (gain * gain) proved).

(** f_y > f_c at the cell (a, b), for networks of margin at least g. *)
Definition check_part (T : table) (a b y : nat) (g : Q) (c : nat) (p : cell_part) : bool :=
  if multipliers_fit T (part_multipliers p) && exceeds g p
  then check_proof T ((Zneg (part_denominator p), (a, b, y, c)) :: weighted T 1 (part_multipliers p))
         (part_denominator p) (part_proof p)
  else false.

(** One part for each other label, in order: they are all below. *)
Definition check_right (T : table) (a b y : nat) (g : Q) (parts : list cell_part) : bool :=
  let others := filter (fun c => negb (Nat.eqb c y)) (seq 0 (labels T)) in
  Nat.ltb y (labels T) && Nat.eqb (length parts) (length others) &&
  forallb (fun '(c, p) => check_part T a b y g c p) (combine others parts).

(** One part for a mean of the other labels, with these weights: some of them is above. *)
Definition check_wrong (T : table) (a b y : nat) (g : Q) (weights : list Z) (p : cell_part) : bool :=
  let d := Zpos (part_denominator p) in
  let at_cell := map (fun '(k, c) => (d * k, (a, b, y, c))) (combine weights (seq 0 (labels T))) in
  if Nat.ltb y (labels T) && Nat.eqb (length weights) (labels T) && forallb (Z.leb 0) weights && (0 <? total weights)
     && (nth y weights 0 =? 0) && multipliers_fit T (part_multipliers p) && exceeds g p
  then check_proof T (at_cell ++ weighted T (total weights) (part_multipliers p))
         (Z.to_pos (total weights) * part_denominator p) (part_proof p)
  else false.
