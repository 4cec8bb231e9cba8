(** * Networks, their norm, margins and tables: what the theorems of this folder are about.

    Nothing is proved here; every claim of the other files is made of these definitions, and they are those of
    ../operations/OPERATION_MARGIN.md ("Setting"). A table gives labels y to some cells (a, b). A neuron has
    real weights u_a (rows), v_b (columns) and w_c (labels); a network is a list of neurons, of any length. *)

From Coq Require Import Reals List.
Import ListNotations.
Local Open Scope R_scope.

(** f 0 + f 1 + ... + f (n - 1). *)
Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S m => sum m f + f m end.

(** Weights beyond the rows, columns and labels of a table are never looked at. *)
Record neuron := Neuron { u : nat -> R; v : nat -> R; w : nat -> R }.
Definition network := list neuron.

(** The output for label c at the cell (a, b) is the sum of (u_a + v_b)^2 w_c over the neurons. *)
Definition activity (o : neuron) (a b : nat) : R := (u o a + v o b) ^ 2.
Definition output (net : network) (a b c : nat) : R :=
  fold_right (fun o rest => activity o a b * w o c + rest) 0 net.

(** The given cells as (a, b, y): a < rows, b < columns, y < labels. *)
Record table := Table { rows : nat; columns : nat; labels : nat; given : list (nat * nat * nat) }.

(** |omega|, the Euclidean length of a neuron, and the sum of |omega|^3 over the neurons. *)
Definition inputs2 (T : table) (o : neuron) : R :=
  sum (rows T) (fun a => u o a ^ 2) + sum (columns T) (fun b => v o b ^ 2).
Definition outputs2 (T : table) (o : neuron) : R := sum (labels T) (fun c => w o c ^ 2).
Definition norm (T : table) (o : neuron) : R := sqrt (inputs2 T o + outputs2 T o).
Definition norm3 (T : table) (net : network) : R := fold_right (fun o rest => norm T o ^ 3 + rest) 0 net.

(** At every given cell the output of its label exceeds every other output by at least g. *)
Definition margin_at_least (T : table) (g : R) (net : network) : Prop :=
  forall a b y c, In (a, b, y) (given T) -> (c < labels T)%nat -> c <> y -> g <= output net a b y - output net a b c.

(** The margin divided by the norm is at least g: this is the margin that is maximised. *)
Definition normalized_margin_at_least (T : table) (g : R) (net : network) : Prop :=
  0 < norm3 T net /\ margin_at_least T (g * norm3 T net) net.

(** The maximum margin lies between two numbers: a network attains the lower one, none exceeds the upper one. *)
Definition maximum_margin_between (T : table) (lower upper : R) : Prop :=
  (exists net, normalized_margin_at_least T lower net) /\
  (forall net g, normalized_margin_at_least T g net -> g <= upper).

(** No label is given at the cell (a, b). *)
Definition not_given (T : table) (a b : nat) : Prop := forall y, ~ In (a, b, y) (given T).

(** The label y is the only largest output at a cell; some other output is larger. *)
Definition right_at (T : table) (a b y : nat) (net : network) : Prop :=
  forall c, (c < labels T)%nat -> c <> y -> output net a b c < output net a b y.
Definition wrong_at (T : table) (a b y : nat) (net : network) : Prop :=
  exists c, (c < labels T)%nat /\ c <> y /\ output net a b y < output net a b c.
