(** * One decision for every document: what the program extracted to OCaml computes, and what it means.

    A document has the certificate of one of the five claims of Value.v. [accepted] computes all checks of it, [claimed]
    is the claim; [accepted_sound] says that the one proves the other. extracted.py makes [accepted] a program. *)

From Coq Require Import Reals ZArith QArith List Bool.
From Lemmata Require Import Statement Checker Sound Unseen Below Value.
Import ListNotations.

Inductive document :=
  | Between (T : table) (cert : certificate) (bits : Z) (net : list zneuron) (p q p' : Z) (q' : positive)
  | Exactly (T : table) (cert : certificate) (m common : Z) (net : list zneuron) (p : Z) (q : positive)
  | Right (T : table) (a b y : nat) (p : Z) (q : positive) (parts : list cell_part)
      (bits : Z) (net : list zneuron) (p' q' : Z)
  | Wrong (T : table) (a b y : nat) (p : Z) (q : positive) (weights : list Z) (part : cell_part)
      (bits : Z) (net : list zneuron) (p' q' : Z)
  | Both (T : table) (a b y c : nat) (cert : certificate) (p' : Z) (q' : positive) (p q : Z)
      (bits1 right_bits : Z) (net1 : list zneuron) (p1 q1 : Z)
      (bits2 wrong_bits : Z) (net2 : list zneuron) (p2 q2 : Z).

(** One check after the other, as long as they hold. *)
Definition accepted (d : document) : bool :=
  match d with
  | Between T cert bits net p q p' q' =>
      if check T cert then if attains T bits net p q then is_below cert p' q' else false else false
  | Exactly T cert m common net p q =>
      if check T cert then if attains_root T m common net p (Zpos q) then is_root cert m p q else false else false
  | Right T a b y p q parts bits net p' q' =>
      if is_not_given T a b then
        if check_right T a b y (p # q) parts then if attains T bits net p' q' then is_enough p q p' q' else false
        else false
      else false
  | Wrong T a b y p q weights part bits net p' q' =>
      if is_not_given T a b then
        if check_wrong T a b y (p # q) weights part then if attains T bits net p' q' then is_enough p q p' q' else false
        else false
      else false
  | Both T a b y c cert p' q' p q bits1 right_bits net1 p1 q1 bits2 wrong_bits net2 p2 q2 =>
      if is_not_given T a b && Nat.ltb c (labels T) && negb (Nat.eqb c y) && Z.ltb 0 p1 && Z.ltb 0 p2 then
        if check T cert then
          if is_below cert p' q' then
            if attains T bits1 net1 p q && differ T right_bits net1 [(a, b, others T y)] p1 q1 then
              attains T bits2 net2 p q && differ T wrong_bits net2 [(a, b, [(c, y)])] p2 q2
            else false
          else false
        else false
      else false
  end.

Local Open Scope R_scope.

(** The claim of a document, in the words of Statement.v; main.ml prints it. *)
Definition claimed (d : document) : Prop :=
  match d with
  | Between T _ _ _ p q p' q' => maximum_margin_between T (IZR p / IZR q) (IZR p' / IZR (Zpos q'))
  | Exactly T _ m _ _ p q =>
      maximum_margin_between T (IZR p / IZR (Zpos q) * sqrt (IZR m)) (IZR p / IZR (Zpos q) * sqrt (IZR m))
  | Right T a b y p q _ _ _ p' q' =>
      not_given T a b /\ IZR p / IZR (Zpos q) <= IZR p' / IZR q' /\
      (exists net, normalized_margin_at_least T (IZR p' / IZR q') net) /\
      (forall net, normalized_margin_at_least T (IZR p / IZR (Zpos q)) net -> right_at T a b y net)
  | Wrong T a b y p q _ _ _ _ p' q' =>
      not_given T a b /\ IZR p / IZR (Zpos q) <= IZR p' / IZR q' /\
      (exists net, normalized_margin_at_least T (IZR p' / IZR q') net) /\
      (forall net, normalized_margin_at_least T (IZR p / IZR (Zpos q)) net -> wrong_at T a b y net)
  | Both T a b y _ _ p' q' p q _ _ _ _ _ _ _ _ _ _ =>
      not_given T a b /\
      (forall net g, normalized_margin_at_least T g net -> g <= IZR p' / IZR (Zpos q')) /\
      (exists net, normalized_margin_at_least T (IZR p / IZR q) net /\ right_at T a b y net) /\
      (exists net, normalized_margin_at_least T (IZR p / IZR q) net /\ wrong_at T a b y net)
  end.

Lemma both_true (a b : bool) : (if a then b else false) = true -> a = true /\ b = true.
Proof. destruct a; [now split | discriminate]. Qed.

Theorem accepted_sound d : accepted d = true -> claimed d.
Proof.
  destruct d; cbn [accepted claimed]; intros H;
    repeat match type of H with (if _ then _ else false) = true => apply both_true in H as [? H] end.
  - now apply (two_sided T cert bits net).
  - now apply (exact_value T cert m common net).
  - now apply (right_and_possible T a b y p q parts bits net).
  - now apply (wrong_and_possible T a b y p q weights part bits net).
  - rewrite !andb_true_iff in *.
    apply (two_verdicts T a b y c p q cert p' q' bits1 right_bits net1 p1 q1 bits2 wrong_bits net2 p2 q2);
      rewrite ?andb_true_iff; tauto.
Qed.
