(** A transformer that trains a network on its prompt: layers, weights, and what is claimed.

    The trained network has N layers of widths K 0, ..., K N without biases,
    p(0) = x and p(j) = r (V_j p(j-1)).  The prompt has n examples and a test
    input, one token each.  A token holds, at named places, its input and label,
    the weights V_1, ..., V_N (the same in every token), room for what is
    computed, the number 1, and 1 at examples, 0 at the test token.

    [layer] has the three kinds of layers (attention with ReLU, a hidden layer
    of ReLUs, multiplication within a token), [apply] what they do, [block] the
    matrices of all 2N+4 layers, rational numbers, for any sizes.  [InContext.v]
    proves that it makes a step of projected gradient descent, written as
    back-propagation ([slope_of]), and [Gradient.v] that this goes along the
    derivatives of the risk ([is_gradient]).  In [Blocks.v] the matrices of
    three blocks stand number by number, as the library in Python builds them,
    and it is proved that they are those of [block]. *)

From Coq Require Import Reals QArith Qreals List Arith Bool.
From Lemmata Require Import Statement.
Import ListNotations.
Local Open Scope R_scope.

(** A sum over a list. *)
Definition total {A} (phi : A -> R) (l : list A) : R := fold_right (fun o rest => phi o + rest) 0 l.
Definition relu (t : R) : R := Rmax t 0.

(** ** Places of a token and the layers *)

(** Of layer j: outputs p(j)[k], where p(0) is the input; weights V_j[k, i]; slopes, the derivatives of r at
    (V_j p(j-1))[k]; errors s(j)[k].  The gradient of the loss has the places [Loss k]. *)
Inductive place :=
  | Output (j k : nat) | Label (k : nat) | Weight (j k i : nat)
  | Slope (j k : nat) | Loss (k : nat) | Error (j k : nat) | One | Example.

Definition place_eq (a b : place) : {a = b} + {a <> b}.
Proof. decide equality; apply Nat.eq_dec. Defined.
Definition same (a b : place) : bool := if place_eq a b then true else false.

(** The numbers in the places of all tokens. *)
Definition stream := nat -> place -> R.

(** A row or column of a matrix: a number for each place. *)
Definition vector := place -> Q.

(** The columns of W_Q and W_K, and W_V: what is read from a place, and is added to which places. *)
Record head := Head { size : nat; query : nat -> vector; key : nat -> vector; value : place -> vector }.
(** A column of W_1 and a row of W_2. *)
Record unit_of := Unit { reads : vector; writes : vector }.
Inductive layer := Attention (heads : list head) | Mlp (units : list unit_of) | Multiply (heads : list head).

Section Tokens.
Variable all : list place.
Variable tokens : nat.

Definition dot (a : vector) (z : place -> R) : R := total (fun c => Q2R (a c) * z c) all.
(** <z W_Q, y W_K> and z W_V. *)
Definition score (h : head) (z y : place -> R) : R := sum (size h) (fun m => dot (query h m) z * dot (key h m) y).
Definition written (h : head) (z : place -> R) (c : place) : R := total (fun from => z from * Q2R (value h from c)) all.

Definition apply (L : layer) (z : stream) : stream := fun i c =>
  z i c + match L with
  | Attention heads =>
      total (fun h => sum tokens (fun q => relu (score h (z i) (z q)) * written h (z q) c) / INR tokens) heads
  | Mlp units => total (fun o => relu (dot (reads o) (z i)) * Q2R (writes o c)) units
  | Multiply heads => total (fun h => score h (z i) (z i) * written h (z i) c) heads
  end.
Definition run (layers : list layer) (z : stream) : stream := fold_left (fun z L => apply L z) layers z.
End Tokens.

(** ** The block *)

(** What a block is built for: r and r' are sums of c relu(a t + b), u(t, y) is a sum of c relu(a t + a' y + b), all
    numbers rational; the weights stay between [lower] and [upper]; [mask] silences the test token. *)
Record problem := Problem {
  depth : nat; width : nat -> nat; examples : nat; rate : Q;
  activation : list (Q * Q * Q); derivative : list (Q * Q * Q); loss_derivative : list (Q * Q * Q * Q);
  lower : nat -> nat -> nat -> Q; upper : nat -> nat -> nat -> Q; mask : Q }.

Section Block.
Variable p : problem.
Let N := depth p.
Let K := width p.

Definition row (f : nat -> place) (count : nat) : list place := map f (seq 0 count).
Definition weights : list place :=
  flat_map (fun j => flat_map (fun k => row (Weight j k) (K (j - 1))) (seq 0 (K j))) (seq 1 N).
Definition scratch : list place :=
  flat_map (fun j => row (Output j) (K j)) (seq 1 N) ++ flat_map (fun j => row (Slope j) (K j)) (seq 1 N) ++
  row Loss (K N) ++ flat_map (fun j => row (Error j) (K j)) (rev (seq 1 N)).
Definition places : list place := row (Output 0) (K 0) ++ row Label (K N) ++ weights ++ scratch ++ [One; Example].

Definition only (a : place) (q : Q) : vector := fun c => if same a c then q else 0%Q.
Definition both (a b : vector) : vector := fun c => (a c + b c)%Q.
Fixpoint moves (count : nat) (source target : nat -> place) (q : Q) (from to : place) : Q :=
  match count with
  | O => 0%Q
  | S m => (moves m source target q from to + if same (source m) from then only (target m) q to else 0)%Q
  end.

(** A head with the score slope <z[asks], y[asked]> + offset that adds factor y[source] to [target]. *)
Definition family (m : nat) (asks asked : nat -> place) (count : nat) (source target : nat -> place)
    (slope offset factor : Q) : head :=
  Head (S m) (fun l => if (l <? m)%nat then only (asks l) slope else only One offset)
    (fun l => if (l <? m)%nat then only (asked l) 1 else only One 1) (moves count source target factor).

(** Heads that write f((V_j p(j-1))[k]) to target k, for all k. *)
Definition applied (j : nat) (f : list (Q * Q * Q)) (target : nat -> place) : list head :=
  flat_map (fun k => map (fun u => match u with (c, a, b) =>
    family (K (j - 1)) (Output (j - 1)) (Weight j k) 1 (fun _ => One) (fun _ => target k) a b c end) f) (seq 0 (K j)).

Definition forward (j : nat) : layer := Attention (applied j (activation p) (Output j)).
Definition derivatives : layer :=
  Attention (flat_map (fun j => applied j (derivative p) (Slope j)) (seq 1 N)).
Definition loss_gradient : layer :=
  Mlp (flat_map (fun k => map (fun u => match u with (c, a, a', b) =>
    Unit (both (both (only (Output N k) a) (only (Label k) a')) (both (only One (b - mask p)) (only Example (mask p))))
      (only (Loss k) c) end) (loss_derivative p)) (seq 0 (K N))).
Definition errors (j : nat) : layer :=
  let multiplied m asks asked k :=
    Head m (fun l => only (asks l) 1) (fun l => only (asked l) 1)
      (moves 1 (fun _ => Slope j k) (fun _ => Error j k) 1) in
  Multiply (map (fun k => if (j =? N)%nat then multiplied 1%nat (fun _ => Loss k) (fun _ => One) k
    else multiplied (K (S j)) (fun l => Weight (S j) l k) (Error (S j)) k) (seq 0 (K j))).
Definition share : Q := rate p * (inject_Z (Z.of_nat (examples p + 1)) / inject_Z (Z.of_nat (2 * examples p))).
Definition update : layer :=
  Attention (flat_map (fun j => flat_map (fun k =>
    let moved slope factor :=
      family 1 (fun _ => One) (fun _ => Error j k) (K (j - 1)) (Output (j - 1)) (Weight j k) slope 0 factor in
    [moved 1 (- share); moved (- (1)) share]%Q) (seq 0 (K j))) (seq 1 N)).
Definition bound (f : nat -> nat -> nat -> Q) (c : place) : Q :=
  match c with Weight j k i => f j k i | _ => 0%Q end.
Definition projection : layer :=
  let unit_at a q b c' := Unit (both (only a q) (only One b)) (only a c') in
  Mlp (map (fun a => unit_at a 1 (- bound (upper p) a) (- (1)))%Q weights ++
       map (fun a => unit_at a (- (1)) (bound (lower p) a) 1)%Q weights ++
       flat_map (fun a => [unit_at a 1 0 (- (1)); unit_at a (- (1)) 0 1]%Q) scratch).

Definition block : list layer :=
  map forward (seq 1 N) ++ [derivatives; loss_gradient] ++ map errors (rev (seq 1 N)) ++ [update; projection].

(** ** What it computes *)

(** The prompt: inputs x of the tokens 0, ..., n, the last one the test input; labels y;
    weights w, w j k i = V_j[k, i]. *)
Definition prompt (x y : nat -> nat -> R) (w : nat -> nat -> nat -> R) : stream := fun i c =>
  match c with
  | Output 0 k => x i k
  | Label k => if (i <? examples p)%nat then y i k else 0
  | Weight j k l => w j k l
  | One => 1
  | Example => if (i <? examples p)%nat then 1 else 0
  | _ => 0
  end.

(** The network with the activation r: V_j p(j-1) and p(j), for an input. *)
Fixpoint outputs (r : R -> R) (w : nat -> nat -> nat -> R) (x : nat -> R) (j : nat) : nat -> R :=
  match j with
  | O => x
  | S i => fun k => r (sum (K i) (fun l => w (S i) k l * outputs r w x i l))
  end.
Definition argument (r : R -> R) (w : nat -> nat -> nat -> R) (x : nat -> R) (j k : nat) : R :=
  sum (K (j - 1)) (fun l => w j k l * outputs r w x (j - 1) l).

(** Back-propagation: the error of layer N - m is r' times the loss gradient, or the errors behind it through V. *)
Fixpoint back (r r' : R -> R) (u : nat -> R) (w : nat -> nat -> nat -> R) (x : nat -> R) (m : nat) : nat -> R :=
  match m with
  | O => fun k => r' (argument r w x N k) * u k
  | S m' => fun k => r' (argument r w x (N - m) k) *
      sum (K (N - m')) (fun q => w (N - m')%nat q k * back r r' u w x m' q)
  end.

(** Entry V_j[k, l] of the gradient of the risk by back-propagation. *)
Definition slope_of (r r' : R -> R) (u : R -> R -> R) (x y : nat -> nat -> R) (w : nat -> nat -> nat -> R)
    (j k l : nat) : R :=
  sum (examples p) (fun i => back r r' (fun q => u (outputs r w (x i) N q) (y i q)) w (x i) (N - j) k *
    outputs r w (x i) (j - 1) l) / INR (2 * examples p).

(** A step against G, and then the nearest point of the box. *)
Definition stepped (w G : nat -> nat -> nat -> R) : nat -> nat -> nat -> R := fun j k l =>
  Rmin (Rmax (w j k l - Q2R (rate p) * G j k l) (Q2R (lower p j k l))) (Q2R (upper p j k l)).

(** The risk, 1/(2n) times the sum of the losses of all outputs at all examples. *)
Definition risk (r : R -> R) (loss : R -> R -> R) (x y : nat -> nat -> R) (w : nat -> nat -> nat -> R) : R :=
  sum (examples p) (fun i => sum (K N) (fun k => loss (outputs r w (x i) N k) (y i k))) / INR (2 * examples p).

(** The weights w + h v; the v that is 1 at one weight, 0 at all others. *)
Definition moved_by (w v : nat -> nat -> nat -> R) (h : R) : nat -> nat -> nat -> R :=
  fun j k l => w j k l + h * v j k l.
Definition alone (j k l : nat) : nat -> nat -> nat -> R := fun j' k' l' =>
  if (Nat.eqb j' j && Nat.eqb k' k && Nat.eqb l' l)%bool then 1 else 0.

Definition is_gradient (r : R -> R) (loss : R -> R -> R) (x y : nat -> nat -> R) (w G : nat -> nat -> nat -> R) :
    Prop :=
  forall j k l, (1 <= j <= N)%nat -> (k < K j)%nat -> (l < K (j - 1))%nat ->
  derivable_pt_lim (fun h => risk r loss x y (moved_by w (alone j k l) h)) 0 (G j k l).

(** The layers turn the prompt with weights w into the prompt with weights w', in all places of all tokens. *)
Definition makes (layers : list layer) (x y : nat -> nat -> R) (w w' : nat -> nat -> nat -> R) : Prop :=
  forall i c, (i <= examples p)%nat -> In c places ->
  run places (examples p + 1) layers (prompt x y w) i c = prompt x y w' i c.

(** The sums of ReLUs as functions. *)
Definition value1 (f : list (Q * Q * Q)) (t : R) : R :=
  total (fun u => match u with (c, a, b) => Q2R c * relu (Q2R a * t + Q2R b) end) f.
Definition value2 (f : list (Q * Q * Q * Q)) (t y : R) : R :=
  total (fun u => match u with (c, a, a', b) => Q2R c * relu (Q2R a * t + Q2R a' * y + Q2R b) end) f.

(** ** What is asked of a block and of its data *)

Definition well_formed : Prop :=
  (1 <= examples p)%nat /\ 1 <= Q2R (mask p) /\
  (forall j k l, (1 <= j <= N)%nat -> (k < K j)%nat -> (l < K (j - 1))%nat ->
    Q2R (lower p j k l) <= Q2R (upper p j k l)) /\
  forall c a a' b, In (c, a, a', b) (loss_derivative p) -> Rabs (Q2R a) + Rabs (Q2R a') + Rabs (Q2R b) <= 1.

Definition in_box (w : nat -> nat -> nat -> R) : Prop :=
  forall j k l, (1 <= j <= N)%nat -> (k < K j)%nat -> (l < K (j - 1))%nat ->
  Q2R (lower p j k l) <= w j k l <= Q2R (upper p j k l).

(** The outputs for the test input are at most [mask] in size, whatever the weights in the box are. *)
Definition silent_for (x : nat -> R) : Prop :=
  forall w k, in_box w -> (k < K N)%nat -> Rabs (outputs (value1 (activation p)) w x N k) <= Q2R (mask p).
End Block.
